// The indices of an array for which a condition holds, as loops.
#include "ir/internal.h"
#include "lower/internal.h"
#include "pass/pass.h"

#include <string.h>

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
    Var *w = ir_narrow_all(m, v[k], ir_bracket_plain(m, mine, one), &lo, &rest);
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

// The same loops under the same conditions? Then what stands in b's loops may stand in a's.
static bool same_region(Ir *m, const Region *a, const Region *b) {
    Node *from[RANK_MAX], *to[RANK_MAX];
    bool same = a->nloops == b->nloops;
    for (int k = 0; k < a->nloops && same; k++) {
        from[k] = ir_var(b->loop[k]), to[k] = ir_var(a->loop[k]);
        same = ir_subst(m, b->loop[k]->extent, k, from, to) == a->loop[k]->extent;
    }
    for (int k = 0; k <= a->nloops && same; k++) same = ir_subst(m, b->guard[k], k, from, to) == a->guard[k];
    return same;
}

static Task in_region(Lower *l, const Region *r, const Task *t) {
    Node *from[RANK_MAX], *to[RANK_MAX];
    Task u = {.kind = t->kind, .buf = t->buf, .nidx = t->nidx, .nsums = t->nsums, .apart = t->apart};
    memcpy(u.sum, t->sum, sizeof u.sum);
    u.idx = ARENA_ARRAY(l->arena, Node *, t->nidx);
    for (int k = 0; k < r->nloops; k++) from[k] = ir_var(t->region->loop[k]), to[k] = ir_var(r->loop[k]);
    for (int k = 0; k < t->nidx; k++) u.idx[k] = ir_subst(l->ir, t->idx[k], r->nloops, from, to);
    u.e = ir_subst(l->ir, t->e, r->nloops, from, to);
    if (u.e != t->e) lower_note_uses(l, u.e);
    return u;
}

void lower_region_tasks(Lower *l, const Region *r, int n, Task *tasks) {
    Stmt *loop[RANK_MAX];
    Temp test[RANK_MAX + 1];
    for (int k = 0; k <= r->nloops; k++) {
        Node *g = r->guard[k];
        test[k] = g->op == OP_lit && g->u.num ? -1 : lower_value(l, g);
        if (test[k] >= 0) lower_begin_if(l, g);
        if (k < r->nloops) loop[k] = lower_begin_for(l, r->loop[k]);
    }
    lower_tasks(l, n, tasks);
    for (int k = r->nloops; k >= 0; k--) {
        if (k < r->nloops) lower_end_for(l, loop[k]);
        if (test[k] >= 0) lower_end_if(l, test[k]);
    }
}

// What is computed of elements of arrays, whether these are known yet or not, up to a bound.
static int element_cost(const Node *e, int bound) {
    int cost = op_info[e->op].cost;
    for (int i = 0; i < e->nargs && e->op != OP_at && cost <= bound; i++) cost += element_cost(e->args[i], bound - cost);
    return cost;
}

// Tasks that do little gain nothing by sharing loops, and may fit into others later (merge.c).
static bool is_dear(const Task *t) { return element_cost(t->e, PASS_COST_DEAR) > PASS_COST_DEAR; }

void lower_region_shared(Lower *l, const Task *t) {
    VEC(Task) all = {0};
    bool dear = is_dear(t);
    vec_push(&all, in_region(l, t->region, t));
    for (int i = 0; i < l->scope->tasks.len && dear; i++) {
        Task *u = &l->scope->tasks.data[i];
        if (u->done || u->guard || u->after || !u->region || !is_dear(u) || !same_region(l->ir, t->region, u->region)) continue;
        u->done = true;
        vec_push(&all, in_region(l, t->region, u));
    }
    lower_region_tasks(l, t->region, all.len, all.data);
    vec_free(&all);
}
