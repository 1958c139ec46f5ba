#include "pass/occurs.h"

static void visit(Node *e, void *data) {
    Nodes *n = data;
    vec_push(&n->all, e);
    if (ir_is_binder(e)) vec_push(&n->binders, e);
}

void nodes_of(int n, Node *const *roots, Nodes *out) {
    *out = (Nodes){0};
    ir_walk(n, roots, visit, out);
}

void nodes_collect(const Func *f, Nodes *out) { nodes_of(f->noutputs, f->outputs, out); }

void nodes_free(Nodes *n) {
    vec_free(&n->all);
    vec_free(&n->binders);
}

bool nodes_have(const Nodes *n, Op op) {
    for (int i = 0; i < n->all.len; i++)
        if (n->all.data[i]->op == op) return true;
    return false;
}

// Looks for e among the parts of x that mention v.
static bool reached(Node *x, Node *e, const Var *v, Map *seen) {
    if (x == e) return true;
    if (x->id < e->id || !node_has_var(x, v) || map_get(seen, x)) return false;
    map_put(seen, x, x);
    for (int i = 0; i < x->nargs; i++)
        if (reached(x->args[i], e, v, seen)) return true;
    return false;
}

bool binder_repeats(Node *b, Node *e) {
    Map seen = {0};
    bool r = reached(b->args[0], e, b->u.var, &seen);
    map_free(&seen);
    return r;
}
