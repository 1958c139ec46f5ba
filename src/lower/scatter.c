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
    Node *from[16], *to[16], *inrange = ir_bool(m, true);
    Var *loop[16];
    int count = 0;
    for (int k = 0; k < n; k++) {
        loop[k] = v[k];
        if (!fixed[k]) loop[k] = lower_loop_var(l, v[k], NULL);
        if (loop[k] != v[k]) from[count] = ir_var(v[k]), to[count++] = ir_var(loop[k]);
        if (!fixed[k]) continue;
        from[count] = ir_var(v[k]), to[count++] = fixed[k];
        inrange = ir_and(m, inrange, ir_and(m, ir_le(m, ir_int(m, 0), fixed[k]), ir_lt(m, fixed[k], v[k]->extent)));
    }
    Task u = at_index(l, t, loop, n, fixed);
    u.e = ir_subst(m, negative ? ir_neg(m, e) : e, count, from, to);
    u.e = ir_bracket(m, inrange, u.e);
    Var *rows[16];
    Stmt *loops[16];
    int count_rows = 0, open = 0;
    for (int k = 0; k < n; k++)
        if (!fixed[k]) rows[count_rows++] = loop[k];
    Node *outer = count_rows ? lower_split_guard(l, u.e, rows, count_rows, &u.e) : NULL;
    Temp cond = outer ? lower_value(l, outer) : -1;
    if (outer) lower_begin_if(l, outer);
    for (int k = 0; k < count_rows; k++) loops[open++] = lower_begin_for(l, rows[k]);
    lower_tasks(l, 1, &u);
    while (open > 0) lower_end_for(l, loops[--open]);
    if (outer) lower_end_if(l, cond);
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
