// A trace becomes an array state that the loop fills, a row in each iteration; the number of iterations of a while loop a
// state that counts. What is left is loops, which lowering knows how to run in place.
#include "ir/ir.h"
#include "support/map.h"

#include <string.h>

// The loop with one more state; for a while loop an index, too. Its last state is the new one.
typedef struct Longer {
    Loop l;
    Node **init, **step, *cond;
} Longer;

static void add_state(Longer *g, Var *s, Node *init, Node *step) {
    g->l.state[g->l.n] = s, g->init[g->l.n] = init, g->step[g->l.n++] = step;
}

// With room for so many more states, and two.
static Longer longer(Ir *m, Node *loop, int more) {
    const Loop *l = ir_loop(loop);
    int n = l->n + more + 2;
    Longer g = {.l = {.index = l->index, .n = l->n}, .cond = loop->op == OP_while ? loop_cond(loop) : NULL};
    g.l.state = ARENA_ARRAY(m->arena, Var *, n);
    g.init = ARENA_ARRAY(m->arena, Node *, n), g.step = ARENA_ARRAY(m->arena, Node *, n);
    memcpy(g.l.state, l->state, sizeof(Var *) * (size_t)l->n);
    memcpy(g.init, loop->args, sizeof(Node *) * (size_t)l->n);
    memcpy(g.step, loop->args + loop_steps(loop), sizeof(Node *) * (size_t)l->n);
    return g;
}

static Node *whole(Ir *m, Longer *g) {
    return g->cond ? ir_while(m, g->l.n, g->l.state, g->init, g->cond, g->step)
                   : ir_fold(m, g->l.index, g->l.n, g->l.state, g->init, g->step);
}

static Node *add_counter(Ir *m, Longer *g) {
    Var *s = ir_state(m, "t", KIND_INT, 0, NULL);
    add_state(g, s, ir_int(m, 0), ir_add(m, ir_var(s), ir_int(m, 1)));
    return ir_var(s);
}

Node *ir_loop_counted(Ir *m, Node *loop) {
    Longer g = longer(m, loop, 0);
    add_counter(m, &g);
    return whole(m, &g);
}

Node *ir_count_of(Ir *m, Node *counted) {
    Node *count = ir_final(m, counted, ir_loop(counted)->n - 1);
    count->nonneg = true;
    return count;
}

// The number of its iterations, by a loop that has no more states than it depends on.
static Node *counted(Ir *m, Node *loop) {
    const Loop *l = ir_loop(loop);
    bool *none = ARENA_ARRAY(m->arena, bool, l->n + l->nout + 1);
    int *at = ARENA_ARRAY(m->arena, int, l->n + l->nout + 1);
    return ir_count_of(m, ir_loop_counted(m, ir_loop_part(m, loop, none, none, at, at)));
}

static void note(Ir *m, const Node *e, Node *loop, const Node *out) {
    if (!explain_wants(m->explain, EXPLAIN_LOOPS) || ir_loop(loop)->block) return;
    Node *bytes = ir_int(m, (int64_t)kind_size(e->kind));
    for (int d = 0; d < e->rank; d++) bytes = ir_mul(m, bytes, e->shape[d]);
    Str size = {0};
    ir_print_size(&size, bytes);
    const char *what = out->op == OP_var ? arena_printf(m->arena, "the state `%s`", out->u.var->name) : ir_quote(m, out);
    explain(m->explain, EXPLAIN_LOOPS, loop->span, "store: %s: the values of %s in all iterations take %s bytes", ir_quote(m, loop),
            what, size.data);
    str_free(&size);
}

// One more state, the rows of output q. Iteration i sets row `at`, or row i if that is NULL.
static void add_rows(Ir *m, Longer *g, Node *loop, int q, Node *count, Node *at) {
    Node *out = loop_output(loop, q), *i = g->l.index ? ir_var(g->l.index) : at;
    Node **shape = ARENA_ARRAY(m->arena, Node *, out->rank + 1);
    Node *zero = out->kind == KIND_BOOL ? ir_bool(m, false) : ir_zero(m, out->kind);
    shape[0] = count;
    if (out->rank) memcpy(shape + 1, out->shape, sizeof(Node *) * out->rank);
    Var *s = ir_state(m, "trace", out->kind, out->rank + 1, shape);
    Var *row = ir_index(m, "k", shape[0]);
    Node *k = ir_var(row), *old = ir_at(m, ir_var(s), 1, &k), *init = zero;
    for (int d = out->rank + 1; d-- > 0;) init = ir_gen(m, ir_index(m, "k", shape[d]), init);
    add_state(g, s, init, ir_gen(m, row, ir_select(m, ir_eq(m, k, at ? at : i), out, old)));
}

static Node *rows_of(Ir *m, Node *loop) { return loop->op == OP_while ? counted(m, loop) : ir_count(m, loop); }

static Node *stored(Ir *m, Node *e, Node *loop, Node *at) {
    Longer g = longer(m, loop, 1);
    note(m, e, loop, loop_output(loop, (int)e->u.num));
    Node *i = g.l.index ? at : add_counter(m, &g);
    add_rows(m, &g, loop, (int)e->u.num, rows_of(m, loop), i);
    return ir_final(m, whole(m, &g), g.l.n - 1);
}

Node *ir_loop_filled(Ir *m, Node *loop) {
    const int nout = ir_loop(loop)->nout;
    Longer g = longer(m, loop, nout);
    Node *rows = rows_of(m, loop);
    Var *s = loop->op == OP_while ? ir_state(m, "t", KIND_INT, 0, NULL) : NULL;
    for (int q = 0; q < nout; q++) {
        note(m, ir_trace(m, loop, q), loop, loop_output(loop, q));
        add_rows(m, &g, loop, q, rows, s ? ir_var(s) : NULL);
    }
    if (s) add_state(&g, s, ir_int(m, 0), ir_add(m, ir_var(s), ir_int(m, 1)));
    return whole(m, &g);
}

// data: the one trace that is to be stored, or NULL: all, and counts.
static Node *store(Ir *m, Node *e, void *data) {
    if (data && e != data) return e;
    return e->op == OP_trace ? stored(m, e, e->args[0], NULL) : e->op == OP_count ? counted(m, e->args[0]) : e;
}

// If e is the rows of a fold's trace in another order: the array, filled in that order.
static Node *reordered(Ir *m, Node *e, const Node *only) {
    Var *v[16];
    int rank = 0;
    Node *at = e;
    for (; at->op == OP_gen && rank < 16; at = at->args[0]) v[rank++] = at->u.var;
    Node *trace = at->op == OP_at ? at->args[0] : NULL;
    if (!trace || trace->op != OP_trace || trace->rank != rank || trace->args[0]->op != OP_fold) return NULL;
    if (only && trace != only) return NULL;
    for (int d = 0; d < rank; d++) {
        if (trace->shape[d] != v[d]->extent || node_has_var(trace, v[d])) return NULL;
        if (d && (at->args[d + 1] != ir_var(v[d]) || node_has_var(at->args[1], v[d]))) return NULL;
    }
    Var *i = ir_loop(trace->args[0])->index;
    Node *row = at->partial ? NULL : ir_solve(m, ir_eq(m, ir_var(i), at->args[1]), v[0]);
    return row && ir_in_range(m, row, v[0]->extent) ? stored(m, trace, trace->args[0], row) : NULL;
}

typedef struct Reorder {
    Ir *m;
    const Node *only;
    Map seen;
} Reorder;

static Node *reorder(Node *e, void *data) {
    Reorder *r = data;
    if (e->nargs == 0) return e;
    Node *out = map_get(&r->seen, e);
    if (out) return out;
    out = e->op == OP_gen ? reordered(r->m, e, r->only) : NULL;
    if (!out) out = ir_map(r->m, e, reorder, r);
    map_put(&r->seen, e, out);
    return out;
}

Node *ir_reordered(Ir *m, Node *e) {
    Reorder r = {.m = m};
    bool before = m->stored;
    m->stored = true;
    Node *out = reorder(e, &r);
    m->stored = before;
    map_free(&r.seen);
    return out;
}

Node *ir_stored(Ir *m, Node *e, Node *only) {
    Reorder r = {.m = m, .only = only};
    bool before = m->stored;
    m->stored = true;
    Node *out = ir_change(m, reorder(e, &r), store, only);
    m->stored = before;
    map_free(&r.seen);
    return out;
}
