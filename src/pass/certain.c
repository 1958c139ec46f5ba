// What is evaluated whenever the function returns: an error in it can be raised earlier, and it can be computed outside of
// loops. Not so: what a guard's condition decides, what only some elements of an array need, steps of loops that may make no
// iteration.
#include "pass/pass.h"

#include "support/vec.h"

typedef struct Certain {
    Ir *m;
    Map *found;            // what is evaluated for all values of its variables
    Map wholes, partly;    // what has been seen with all elements, and under `some`
    VEC(const Var *) some; // variables of arrays of which not all elements are read, outermost first
} Certain;

static void visit(Certain *c, Node *e, bool whole);

static bool runs(const Certain *c, Node *n) {
    int64_t count;
    if (ir_is_int_lit(n, &count)) return count > 0;
    if (n->op == OP_min) return runs(c, n->args[0]) && runs(c, n->args[1]);
    if (n->op == OP_max) return runs(c, n->args[0]) || runs(c, n->args[1]);
    return poly_nonneg(c->m, poly_add(c->m, poly_of(c->m, n), poly_of(c->m, ir_int(c->m, -1))));
}

static void visit_array(Certain *c, Node *e, bool whole) {
    visit(c, e->u.var->extent, false);
    if (!runs(c, e->u.var->extent)) return;
    if (!whole) vec_push(&c->some, e->u.var);
    visit(c, e->args[0], whole);
    if (!whole) c->some.len--;
}

static void visit_loop(Certain *c, Node *e) {
    Loop *l = ir_loop(e);
    int first = e->op == OP_fold ? loop_steps(e) : l->n;
    if (e->op == OP_fold) visit(c, l->index->extent, false);
    for (int i = 0; i < first; i++) visit(c, e->args[i], false);
    if (e->op == OP_while || !runs(c, l->index->extent)) return;
    for (int i = first; i < e->nargs; i++) visit(c, e->args[i], false);
}

// whole: all elements of e are needed.
static void visit(Certain *c, Node *e, bool whole) {
    bool partly = false;
    for (int i = 0; i < c->some.len; i++) partly |= node_has_var(e, c->some.data[i]);
    Map *seen = partly ? &c->partly : e->rank && whole ? &c->wholes : c->found;
    if (map_get(seen, e)) return;
    map_put(seen, e, e);
    if (!partly) map_put(c->found, e, e);
    switch (e->op) {
    case OP_select:
    case OP_bracket:
    case OP_and:
    case OP_or: visit(c, e->args[0], false); return;
    case OP_gen: visit_array(c, e, whole); return;
    case OP_sum: visit_array(c, e, true); return;
    case OP_argmin:
    case OP_argmax: visit_array(c, e, true); return;
    case OP_fold:
    case OP_while: visit_loop(c, e); return;
    case OP_pack:
        for (int i = 0; i < e->nargs && whole; i++) visit(c, e->args[i], true);
        return;
    case OP_evaluated:
        for (int i = 0; i < e->nargs; i++) visit(c, e->args[i], true);
        return;
    default:
        for (int i = 0; i < e->nargs; i++) visit(c, e->args[i], false);
    }
}

void pass_certain(const Func *f, Map *found) {
    Certain c = {.m = f->ir, .found = found};
    for (int i = 0; i < func_roots(f); i++) visit(&c, f->outputs[i], true);
    map_free(&c.wholes), map_free(&c.partly);
    vec_free(&c.some);
}
