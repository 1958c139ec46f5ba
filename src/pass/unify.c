// One variable per extent and depth: a binder over extent n takes the first variable of that extent that is not free in
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
        if (v->extent == like->extent && !node_has_var(binder, v)) return v;
    }
    Var *v = ir_index(u->m, like->name, like->extent);
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
    u->m->span = keep;
    map_put(&u->memo, e, out);
    return out;
}

void pass_unify(Func *f) {
    Unify u = {.m = f->ir};
    f->ir->planning = true;
    for (int i = 0; i < f->noutputs; i++) f->outputs[i] = unify(f->outputs[i], &u);
    map_free(&u.memo);
    vec_free(&u.vars);
}
