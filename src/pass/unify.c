// One variable per extent, depth and wishes: a binder over extent n takes the first variable of that extent that is not free in
// it. Loops that can be shared thus have the same variable, and what they both
// compute is one node.
#include "pass/pass.h"
#include "support/map.h"
#include "support/vec.h"

typedef struct Unify {
    Ir *m;
    Map memo;
    VEC(Var *) vars; // handed out so far
} Unify;

static Var *canonical(Unify *u, const Var *like, Node *binder) {
    for (int i = 0; i < u->vars.len; i++) {
        Var *v = u->vars.data[i];
        if (v->extent != like->extent || !wishes_agree(&v->wishes, &like->wishes) || node_has_var(binder, v)) continue;
        wishes_join(&v->wishes, &like->wishes);
        return v;
    }
    Var *v = ir_index_like(u->m, like, like->extent);
    vec_push(&u->vars, v);
    return v;
}

static Node *unify(Node *e, void *data) {
    Unify *u = data;
    if (e->nargs == 0) return e;
    Node *known = map_get(&u->memo, e);
    if (known) return known;
    Node *out;
    Span keep = ir_from(u->m, e);
    if (ir_is_binder(e)) {
        Var *v = e->u.var, *w = canonical(u, v, e);
        Node *body = w == v ? e->args[0] : ir_subst1(u->m, e->args[0], ir_var(v), ir_var(w));
        out = ir_binder_plain(u->m, e->op, w, unify(body, u));
    } else {
        out = ir_map(u->m, e, unify, u);
    }
    if (e->nonneg) out->nonneg = true; // what is not seen of the value itself: a count
    u->m->span = keep;
    map_put(&u->memo, e, out);
    return out;
}

typedef struct Extents {
    VEC(Node *) of;
    int visited; // nodes
} Extents;

static void find_extent(Node *e, void *data) {
    Extents *x = data;
    x->visited++;
    Node *extent = ir_is_binder(e) ? e->u.var->extent : e->op == OP_fold ? e->u.loop->index->extent : NULL;
    for (int i = 0; extent && i < x->of.len; i++)
        if (x->of.data[i] == extent) return;
    if (extent && extent->bound) vec_push(&x->of, extent);
}

// Extents with loops inside, inner ones first; those around them are looked at with these in their place. Adds to *work how
// many nodes were visited. Has any changed?
static bool change_extents(Unify *u, Func *f, int *work) {
    Extents x = {0};
    bool changed = false;
    ir_walk(func_roots(f), f->outputs, find_extent, &x);
    Rewriting *w = ir_replacing(u->m, 0, NULL, NULL);
    for (int i = 0; i < x.of.len; i++) {
        Node *from = x.of.data[i], *by = unify(changed ? ir_rewrite(w, from) : from, u);
        if (by == from) continue;
        ir_replacing_too(w, from, by);
        changed = true;
    }
    for (int i = 0; i < func_roots(f) && changed; i++) f->outputs[i] = ir_rewrite(w, f->outputs[i]);
    ir_rewriting_end(w);
    *work += x.visited;
    vec_free(&x.of);
    return changed;
}

void pass_unify(Func *f) {
    enum { MOST_WORK = 1 << 23 }; // about two seconds; loops whose extents are left may stand several times
    Unify u = {.m = f->ir};
    int work = 0;
    f->ir->planning = true;
    while (work < MOST_WORK && change_extents(&u, f, &work)) {}
    f->ir->unifying = f->ir->next_node; // what is made from here on has the variables handed out
    for (int i = 0; i < func_roots(f); i++) f->outputs[i] = unify(f->outputs[i], &u);
    f->ir->unifying = 0;
    map_free(&u.memo);
    vec_free(&u.vars);
}
