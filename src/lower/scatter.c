// Scatter: an array one of whose terms is a sum of brackets [k = f(i)] that no rule could solve is filled by running
// over i and adding at f(i) (histograms, gradients of gathers, one-hot arrays).
#include "lower/internal.h"

#include <string.h>

static Task at_index(Lower *l, const Task *t, Var *const *v, int n, Node **fixed) {
    Task u = *t;
    u.kind = t->kind == TASK_PUT ? TASK_PUT : TASK_ADD;
    u.idx = ARENA_ARRAY(l->arena, Node *, t->nidx + n);
    if (t->nidx) memcpy(u.idx, t->idx, sizeof *u.idx * (size_t)t->nidx);
    for (int k = 0; k < n; k++) u.idx[u.nidx++] = fixed[k] ? fixed[k] : ir_var(v[k]);
    u.scatters = false;
    return u;
}

// The condition of a term at its place: an equation that fixes an index says there that the index is in range.
static Node *condition(Ir *m, Node *p, Var *const *v, int n, Node **fixed, int count, Node **from, Node **to) {
    Node *c[64], *all = ir_bool(m, true);
    int nc = 0;
    bool checked[16] = {false};
    ir_conjuncts(p, c, &nc, 64);
    for (int k = 0; k < n && p->partial; k++) // an empty array evaluates nothing
        if (fixed[k]) all = ir_and(m, all, ir_lt(m, ir_int(m, 0), v[k]->extent));
    for (int j = 0; j < nc; j++) {
        for (int k = 0; k < n; k++) {
            if (!fixed[k] || checked[k] || !node_has_var(c[j], v[k])) continue;
            checked[k] = true;
            all = ir_and(m, all, ir_and(m, ir_le(m, ir_int(m, 0), fixed[k]), ir_lt(m, fixed[k], v[k]->extent)));
        }
        all = ir_and(m, all, ir_subst(m, c[j], count, from, to));
    }
    return all;
}

// Adds or stores u.e in loops over rows, where the condition of the bracket `guard` holds.
static void place_rows(Lower *l, Task *u, Node *guard, Var *const *rows, int n) {
    Stmt *loops[16];
    Node *outer = n ? lower_split_guard(l, guard, rows, n, &guard) : NULL;
    Temp cond = outer ? lower_value(l, outer) : -1;
    if (outer) lower_begin_if(l, outer);
    for (int k = 0; k < n; k++) loops[k] = lower_begin_for(l, rows[k]);
    Node *inner = guard->op == OP_bracket ? guard->args[0] : NULL;
    Temp holds = inner ? lower_value(l, inner) : -1;
    if (inner) lower_begin_if(l, inner);
    if (u->kind == TASK_PUT) u->kind = TASK_STORE;
    lower_tasks(l, 1, u);
    if (inner) lower_end_if(l, holds);
    while (n > 0) lower_end_for(l, loops[--n]);
    if (outer) lower_end_if(l, cond);
}

void lower_scatter_term(Lower *l, const Task *t, Node *e, bool negative, Var *const *v, int n, Node **fixed) {
    Ir *m = l->ir;
    if (e->op == OP_neg) {
        lower_scatter_term(l, t, e->args[0], !negative, v, n, fixed);
        return;
    }
    if (e->op == OP_sum) {
        Node *body = e->args[0];
        Var *w = lower_loop_var(l, e->u.var, &body);
        Stmt *loop = lower_begin_for(l, w);
        if (w == e->u.var || ir_scatters(m, body, v, n, fixed)) // the places speak of w now
            lower_scatter_term(l, t, body, negative, v, n, fixed);
        lower_end_for(l, loop);
        return;
    }
    Node *from[16], *to[16];
    Var *loop[16], *rows[16];
    int count = 0, count_rows = 0;
    for (int k = 0; k < n; k++) {
        loop[k] = fixed[k] ? v[k] : lower_loop_var(l, v[k], NULL);
        if (!fixed[k]) rows[count_rows++] = loop[k];
        if (fixed[k] || loop[k] != v[k]) from[count] = ir_var(v[k]), to[count++] = fixed[k] ? fixed[k] : ir_var(loop[k]);
    }
    Task u = at_index(l, t, loop, n, fixed);
    u.e = ir_subst(m, negative ? ir_neg(m, e->args[1]) : e->args[1], count, from, to);
    if (u.kind != TASK_PUT && ir_is_zero(u.e)) return;
    Node *guard = ir_bracket(m, condition(m, e->args[0], v, n, fixed, count, from, to), ir_int(m, 1));
    if (ir_is_zero(guard)) return;
    place_rows(l, &u, guard, rows, count_rows);
}

void lower_scatter(Lower *l, Task *t) {
    Ir *m = l->ir;
    Var *v[16];
    Node **term, *fixed[16];
    int n, terms = ir_terms(m, t->e, v, &n, &term);
    Node *dense = ir_zero(m, t->e->kind);
    for (int i = 0; i < terms; i++)
        if (!ir_scatters(l->ir, term[i], v, n, fixed)) dense = ir_add(m, dense, term[i]), term[i] = NULL;
    if (ir_is_zero(dense)) {
        if (t->kind == TASK_STORE) lower_zero(l, t);
    } else {
        Task rest = *t;
        rest.e = dense, rest.scatters = false;
        for (int k = n; k-- > 0;) rest.e = ir_binder_plain(m, OP_gen, v[k], rest.e);
        lower_task(l, &rest);
    }
    for (int i = 0; i < terms; i++)
        if (term[i] && ir_scatters(l->ir, term[i], v, n, fixed)) lower_scatter_term(l, t, term[i], false, v, n, fixed);
}
