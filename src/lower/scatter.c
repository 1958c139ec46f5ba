// Scatter: an array one of whose terms is a sum of brackets [k = f(i)] that no rule could solve is filled by running
// over i and adding at f(i) (histograms, gradients of gathers, one-hot arrays).
#include "lower/internal.h"

#include <string.h>

// A term of an array's elements: sums around a bracket with equalities that fix some of the array's indices.
bool lower_scatters(Ir *m, Node *e, Var *const *v, int n, Node **fixed) {
    Node *c[64];
    int nc = 0;
    while (e->op == OP_sum || e->op == OP_neg) e = e->args[0];
    if (e->op != OP_bracket || !ir_conjuncts(e->args[0], c, &nc, 64)) return false;
    bool any = false;
    for (int k = 0; k < n; k++) {
        fixed[k] = NULL;
        for (int j = 0; j < nc && !fixed[k]; j++) {
            Node *a = ir_solve(m, c[j], v[k]);
            for (int q = 0; a && q < n; q++)
                if (node_has_var(a, v[q])) a = NULL;
            fixed[k] = a;
        }
        any |= fixed[k] != NULL;
    }
    return any;
}

static int addends(Ir *m, Node *e, bool negative, Node **out, int max) {
    if ((e->op == OP_add || e->op == OP_sub) && max > 1) {
        int n = addends(m, e->args[0], negative, out, max - 1);
        return n + addends(m, e->args[1], negative != (e->op == OP_sub), out + n, max - n);
    }
    if (e->op == OP_neg) return addends(m, e->args[0], !negative, out, max);
    out[0] = negative ? ir_neg(m, e) : e;
    return 1;
}

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
        if (w == e->u.var || lower_scatters(m, body, v, n, fixed)) // the places speak of w now
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
    Stmt *loops[16];
    int open = 0;
    for (int k = 0; k < n; k++)
        if (!fixed[k]) loops[open++] = lower_begin_for(l, loop[k]);
    lower_tasks(l, 1, &u);
    while (open > 0) lower_end_for(l, loops[--open]);
}

enum { MAX_TERMS = 256, MAX_RANK = 16 };

// The indices of a nest of gens and the terms of its scalar body; 0 terms if it cannot scatter.
static int terms_of(Lower *l, Node *e, Var **v, int *n, Node **term) {
    *n = 0;
    for (; e->op == OP_gen && *n < MAX_RANK; e = e->args[0]) v[(*n)++] = e->u.var;
    if (*n == 0 || e->rank || !kind_is_float(e->kind)) return 0;
    return addends(l->ir, e, false, term, MAX_TERMS);
}

bool lower_has_scatter(Lower *l, Node *e) {
    Var *v[MAX_RANK];
    Node *term[MAX_TERMS], *fixed[MAX_RANK];
    int n, terms = terms_of(l, e, v, &n, term);
    for (int i = 0; i < terms; i++)
        if (lower_scatters(l->ir, term[i], v, n, fixed)) return true;
    return false;
}

void lower_scatter(Lower *l, Task *t) {
    Ir *m = l->ir;
    Var *v[MAX_RANK];
    Node **term = ARENA_ARRAY(l->arena, Node *, MAX_TERMS), *fixed[MAX_RANK];
    int n, terms = terms_of(l, t->e, v, &n, term);
    Node *dense = ir_zero(m, t->e->kind);
    for (int i = 0; i < terms; i++)
        if (!lower_scatters(l->ir, term[i], v, n, fixed)) dense = ir_add(m, dense, term[i]), term[i] = NULL;
    if (ir_is_zero(dense)) {
        if (t->kind == TASK_STORE) lower_zero(l, t);
    } else {
        Task rest = *t;
        rest.e = dense, rest.scatters = false;
        for (int k = n; k-- > 0;) rest.e = ir_binder_plain(m, OP_gen, v[k], rest.e);
        lower_task(l, &rest);
    }
    for (int i = 0; i < terms; i++)
        if (term[i] && lower_scatters(l->ir, term[i], v, n, fixed)) lower_scatter_term(l, t, term[i], false, v, n, fixed);
}
