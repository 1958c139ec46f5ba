// The indices of an array for which a condition holds, as loops.
#include "ir/internal.h"
#include "lower/internal.h"

static void replace_var(Ir *m, Region *r, Node **c, int nc, Var *v, Node *by) {
    for (int k = 0; k < r->n; k++) r->idx[k] = ir_subst1(m, r->idx[k], ir_var(v), by);
    for (int i = 0; i < nc; i++) c[i] = ir_subst1(m, c[i], ir_var(v), by);
}

// The variable of the loop over v[k]; *by: v[k] in terms of it. The conjuncts that speak of v[k], but of no later loop,
// are used up.
static Var *narrowed(Ir *m, Var *const *v, int n, const bool *fixed, int k, Node **c, int nc, Node **by) {
    Node *mine = ir_bool(m, true), *lo, *rest;
    for (int i = 0; i < nc; i++) {
        bool now = node_has_var(c[i], v[k]) && !c[i]->partial;
        for (int q = k + 1; q < n; q++) now &= fixed[q] || !node_has_var(c[i], v[q]);
        if (now) mine = ir_and(m, mine, c[i]), c[i] = ir_bool(m, true);
    }
    Node *one = ir_real(m, KIND_DOUBLE, 1); // only the condition matters
    Var *w = ir_narrow(m, v[k], ir_bracket_plain(m, mine, one), &lo, &rest);
    if (w) {
        *by = ir_add(m, ir_var(w), lo);
        c[nc] = rest == one ? ir_bool(m, true) : rest->op == OP_bracket ? rest->args[0] : ir_bool(m, false);
        if (!poly_nonneg(m, poly_of(m, w->extent))) {
            Var *x = ir_index_like(m, w, ir_trips(m, w->extent));
            *by = ir_subst1(m, *by, ir_var(w), ir_var(x)), c[nc] = ir_subst1(m, c[nc], ir_var(w), ir_var(x)), w = x;
        }
        return w;
    }
    w = ir_index_like(m, v[k], v[k]->extent);
    *by = ir_var(w);
    c[nc] = ir_subst1(m, mine, ir_var(v[k]), *by);
    return w;
}

// Each condition goes inside of the loops that it speaks of, one that may fail and that others precede inside of all, in order:
// it is not evaluated where one of them is false.
static void place_guards(Ir *m, Region *r, Node *const *c, int nc) {
    for (int i = 0; i < nc; i++) {
        int k = r->nloops;
        while (k > 0 && !(c[i]->partial && i > 0) && !node_has_var(c[i], r->loop[k - 1])) k--;
        r->guard[k] = ir_and(m, r->guard[k], c[i]);
    }
}

void lower_region(Ir *m, Var *const *v, int n, Node *pred, Region *r) {
    enum { MAX = 64 };
    Node *c[MAX + RANK_MAX];
    int nc = 0;
    if (!ir_conjuncts(pred, c, &nc, MAX)) c[0] = pred, nc = 1;
    bool fixed[RANK_MAX] = {false};
    *r = (Region){.n = n};
    for (int k = 0; k < n; k++) r->idx[k] = ir_var(v[k]);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < nc && !fixed[k]; i++) {
            Node *a = ir_solve(m, c[i], v[k]);
            if (!a) continue;
            int first = i; // what speaks of v[k] may fail unless it is in range
            for (int j = i; j-- > 0;)
                if (node_has_var(c[j], v[k])) first = j;
            if (first < i && a->partial) continue; // a is not evaluated unless that holds
            for (int j = i; j > first; j--) c[j] = c[j - 1];
            c[first] = ir_and(m, ir_le(m, ir_int(m, 0), a), ir_lt(m, a, v[k]->extent));
            replace_var(m, r, c, nc, v[k], a);
            fixed[k] = true;
        }
    for (int k = 0; k < n; k++) {
        if (fixed[k]) continue;
        Node *by;
        r->loop[r->nloops++] = narrowed(m, v, n, fixed, k, c, nc, &by);
        replace_var(m, r, c, ++nc, v[k], by);
    }
    for (int k = 0; k <= r->nloops; k++) r->guard[k] = ir_bool(m, true);
    for (int k = 0; k < n && pred->partial; k++) // an empty array evaluates nothing
        r->guard[0] = ir_and(m, r->guard[0], ir_lt(m, ir_int(m, 0), v[k]->extent));
    place_guards(m, r, c, nc);
}

Node *lower_region_value(Ir *m, Var *const *v, const Region *r, Node *e) {
    Node *from[RANK_MAX], *to[RANK_MAX];
    for (int k = 0; k < r->n; k++) from[k] = ir_var(v[k]), to[k] = r->idx[k];
    return ir_subst(m, e, r->n, from, to);
}

void lower_region_task(Lower *l, const Region *r, Task *t) {
    Stmt *loop[RANK_MAX];
    Temp test[RANK_MAX + 1];
    for (int k = 0; k <= r->nloops; k++) {
        Node *g = r->guard[k];
        test[k] = g->op == OP_lit && g->u.num ? -1 : lower_value(l, g);
        if (test[k] >= 0) lower_begin_if(l, g);
        if (k < r->nloops) loop[k] = lower_begin_for(l, r->loop[k]);
    }
    lower_tasks(l, 1, t);
    for (int k = r->nloops; k >= 0; k--) {
        if (k < r->nloops) lower_end_for(l, loop[k]);
        if (test[k] >= 0) lower_end_if(l, test[k]);
    }
}
