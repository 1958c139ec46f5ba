// A trace becomes an array state that the loop fills, a row in each iteration; the number of iterations of a while loop a
// state that counts. What is left is loops, which lowering knows how to run in place.
#include "ir/ir.h"

#include <string.h>

// The loop with one more state; for a while loop an index, too. Its last state is the new one.
typedef struct Longer {
    Loop l;
    Node **init, **step, *cond;
} Longer;

static void add_state(Longer *g, Var *s, Node *init, Node *step) {
    g->l.state[g->l.n] = s, g->init[g->l.n] = init, g->step[g->l.n++] = step;
}

static Longer longer(Ir *m, Node *loop) {
    const Loop *l = ir_loop(loop);
    size_t n = (size_t)l->n + 2;
    Longer g = {.l = {.index = l->index, .n = l->n}, .cond = loop->op == OP_while ? loop_cond(loop) : NULL};
    g.l.state = ARENA_ARRAY(m->arena, Var *, n);
    g.init = ARENA_ARRAY(m->arena, Node *, n), g.step = ARENA_ARRAY(m->arena, Node *, n);
    memcpy(g.l.state, l->state, sizeof(Var *) * (size_t)l->n);
    memcpy(g.init, loop->args, sizeof(Node *) * (size_t)l->n);
    memcpy(g.step, loop->args + loop_steps(loop), sizeof(Node *) * (size_t)l->n);
    return g;
}

static Node *last(Ir *m, Longer *g) {
    Node *loop = g->cond ? ir_while(m, g->l.n, g->l.state, g->init, g->cond, g->step)
                         : ir_fold(m, g->l.index, g->l.n, g->l.state, g->init, g->step);
    return ir_final(m, loop, g->l.n - 1);
}

static Node *add_counter(Ir *m, Longer *g) {
    Var *s = ir_state(m, "t", KIND_INT, 0, NULL);
    add_state(g, s, ir_int(m, 0), ir_add(m, ir_var(s), ir_int(m, 1)));
    return ir_var(s);
}

static Node *counted(Ir *m, Node *loop) {
    Longer g = longer(m, loop);
    add_counter(m, &g);
    return last(m, &g);
}

static Node *stored(Ir *m, Node *e, Node *loop) {
    Longer g = longer(m, loop);
    Node *out = loop_output(loop, (int)e->u.num), *i = g.l.index ? ir_var(g.l.index) : add_counter(m, &g);
    Node **shape = ARENA_ARRAY(m->arena, Node *, e->rank);
    Node *zero = e->kind == KIND_BOOL ? ir_bool(m, false) : ir_zero(m, e->kind);
    shape[0] = loop->op == OP_while ? counted(m, loop) : ir_count(m, loop);
    memcpy(shape + 1, out->shape, sizeof(Node *) * out->rank);
    Var *s = ir_state(m, "trace", e->kind, e->rank, shape);
    Var *row = ir_index(m, "k", shape[0]);
    Node *k = ir_var(row), *old = ir_at(m, ir_var(s), 1, &k), *init = zero;
    for (int d = e->rank; d-- > 0;) init = ir_gen(m, ir_index(m, "k", shape[d]), init);
    add_state(&g, s, init, ir_gen(m, row, ir_select(m, ir_eq(m, k, i), out, old)));
    return last(m, &g);
}

static Node *store(Ir *m, Node *e) {
    return e->op == OP_trace ? stored(m, e, e->args[0]) : e->op == OP_count ? counted(m, e->args[0]) : e;
}

Node *ir_stored(Ir *m, Node *e) { return ir_change(m, e, store); }
