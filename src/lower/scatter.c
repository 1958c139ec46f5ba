// Scatter: an array one of whose terms is a sum of brackets [k = f(i)] that no rule could solve is filled by running
// over i and adding at f(i) (histograms, gradients of gathers, one-hot arrays).
#include "lower/internal.h"

#include <string.h>

static void scatter_term(Lower *l, const Task *t, Node *e, bool negative, Var *const *v, int n) {
    Ir *m = l->ir;
    if (e->op == OP_neg) {
        scatter_term(l, t, e->args[0], !negative, v, n);
        return;
    }
    if (e->op == OP_sum) {
        Node *body = e->args[0];
        Stmt *loop = lower_begin_for(l, lower_loop_var(l, e->u.var, &body));
        scatter_term(l, t, body, negative, v, n);
        lower_end_for(l, loop);
        return;
    }
    Region r;
    bool bracket = e->op == OP_bracket;
    lower_region(m, v, n, bracket ? e->args[0] : ir_bool(m, true), &r);
    Node *value = lower_region_value(m, v, &r, bracket ? e->args[1] : e);
    if (ir_is_zero(value)) return;
    Task u = *t;
    u.kind = TASK_ADD;
    u.idx = ARENA_ARRAY(l->arena, Node *, t->nidx + n);
    if (t->nidx) memcpy(u.idx, t->idx, sizeof *u.idx * (size_t)t->nidx);
    memcpy(u.idx + t->nidx, r.idx, sizeof *u.idx * (size_t)n);
    u.nidx += n;
    u.e = negative ? ir_neg(m, value) : value;
    u.scatters = false;
    lower_region_task(l, &r, &u);
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
        if (term[i] && ir_scatters(l->ir, term[i], v, n, fixed)) scatter_term(l, t, term[i], false, v, n);
}
