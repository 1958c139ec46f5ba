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

typedef VEC(Node *) Extents;

static void find_extent(Node *e, void *data) {
    Extents *x = data;
    Node *extent = ir_is_binder(e) ? e->u.var->extent : e->op == OP_fold ? e->u.loop->index->extent : NULL;
    for (int i = 0; extent && i < x->len; i++)
        if (x->data[i] == extent) return;
    if (extent && extent->bound) vec_push(x, extent);
}

// The first extent with loops inside that changes; inner ones come first.
static bool change_extent(Unify *u, Func *f) {
    Extents x = {0};
    bool changed = false;
    ir_walk(func_roots(f), f->outputs, find_extent, &x);
    for (int i = 0; i < x.len && !changed; i++) {
        Node *by = unify(x.data[i], u);
        changed = by != x.data[i];
        for (int k = 0; changed && k < func_roots(f); k++)
            f->outputs[k] = ir_replace(u->m, f->outputs[k], x.data[i], by);
    }
    vec_free(&x);
    return changed;
}

void pass_unify(Func *f) {
    enum { MAX_EXTENTS = 32 };
    Unify u = {.m = f->ir};
    f->ir->planning = true;
    for (int k = 0; k < MAX_EXTENTS && change_extent(&u, f); k++) {}
    f->ir->unifying = f->ir->next_node; // what is made from here on has the variables handed out
    for (int i = 0; i < func_roots(f); i++) f->outputs[i] = unify(f->outputs[i], &u);
    f->ir->unifying = 0;
    map_free(&u.memo);
    vec_free(&u.vars);
}
