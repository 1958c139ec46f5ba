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

static Node *unify(Unify *u, Node *e);

static Node *unify_binder(Unify *u, Node *e) {
    Var *v = e->u.var, *w = canonical(u, v, e);
    Node *body = e->args[0];
    if (w != v) body = ir_subst1(u->m, body, ir_var(v), ir_var(w));
    return ir_binder_plain(u->m, e->op, w, unify(u, body));
}

static Node *unify(Unify *u, Node *e) {
    if (e->nargs == 0) return e;
    Node *known = map_get(&u->memo, e);
    if (known) return known;
    Node *out;
    if (ir_is_binder(e)) {
        out = unify_binder(u, e);
    } else {
        Node *few[8], **args = e->nargs <= 8 ? few : ARENA_ARRAY(u->m->arena, Node *, e->nargs);
        bool same = true;
        for (int i = 0; i < e->nargs; i++) {
            args[i] = unify(u, e->args[i]);
            same &= args[i] == e->args[i];
        }
        out = same ? e : ir_rebuild(u->m, e, args);
    }
    map_put(&u->memo, e, out);
    return out;
}

void pass_unify(Func *f) {
    Unify u = {.m = f->ir};
    f->ir->planning = true;
    for (int i = 0; i < f->noutputs; i++) f->outputs[i] = unify(&u, f->outputs[i]);
    map_free(&u.memo);
    vec_free(&u.vars);
}
