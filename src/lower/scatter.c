// Scatter: an array one of whose terms is a sum of brackets [k = f(i)] that no rule could solve is filled by running
// over i and adding at f(i) (histograms, gradients of gathers, one-hot arrays). Each such term is a task of its own, which
// shares the loop over i with whatever else runs over it.
#include "lower/internal.h"

#include <string.h>

// ---- the order of loops

typedef struct Order {
    Lower *l;
    const Var *v; // an array's first index, which is free
    Map seen;
    int along, across; // reads whose index it is before those of the sums, and after them
    bool wasted;       // something dear does not depend on it
} Order;

static bool has_sum_variable(const Node *e, const VarSet *sums) {
    for (int i = 0; i < sums->n; i++)
        if (node_has_var(e, sums->v[i])) return true;
    return false;
}

static void look_at_order(Order *o, Node *e, const VarSet *sums) {
    if (e->nargs == 0 || map_get(&o->seen, e)) return;
    map_put(&o->seen, e, e);
    if (!has_sum_variable(e, sums)) return;
    if (!node_has_var(e, o->v)) {
        o->wasted |= lower_dear(o->l, e);
        return;
    }
    int first = 0, last = 0;
    for (int k = 1; k < e->nargs && e->op == OP_at; k++) {
        if (!first && node_has_var(e->args[k], o->v)) first = k;
        if (has_sum_variable(e->args[k], sums)) last = k;
    }
    o->along += first && last > first, o->across += first && last && last < first;
    for (int i = e->op == OP_at; i < e->nargs; i++) look_at_order(o, e->args[i], sums);
}

// Had the loop over v, an index that the term leaves free, better be around its sums? If memory is read in order that way, and
// nothing dear is computed again.
static bool goes_around(Lower *l, Node *e, const Var *v) {
    Order o = {.l = l, .v = v};
    const VarSet *sums = varset_empty;
    for (; e->op == OP_sum || e->op == OP_neg || (e->op == OP_bracket && e->args[1]->op == OP_sum);) {
        if (e->op == OP_sum) sums = varset_union(l->ir, sums, ir_var(e->u.var)->fv);
        if (e->op == OP_bracket) look_at_order(&o, e->args[0], sums);
        e = e->args[e->op == OP_bracket];
    }
    look_at_order(&o, e, sums);
    map_free(&o.seen);
    return !o.wasted && o.along > 0 && !o.across;
}

int lower_split_scatter(Lower *l, const Task *t, Task **out) {
    Ir *m = l->ir;
    Var *v[16], **w; // a term waits in terms of w: another task's loop may run over v
    Node **term, *fixed[16], *from[16], *to[16];
    int n, count = 0, terms = ir_terms(m, t->e, v, &n, &term);
    Node *dense = ir_zero(m, t->e->kind);
    Task *parts = ARENA_ARRAY(l->arena, Task, terms + 1);
    w = ARENA_ARRAY(l->arena, Var *, n);
    for (int k = 0; k < n && terms; k++) {
        w[k] = ir_index_like(m, v[k], v[k]->extent);
        from[k] = ir_var(v[k]), to[k] = ir_var(w[k]);
    }
    int around = 0, scattered = 0;
    for (int i = 0; i < terms && n > 1; i++) {
        if (!ir_scatters(m, term[i], v, n, fixed)) continue;
        scattered++, around += !fixed[0] && goes_around(l, term[i], v[0]);
    }
    if (scattered && around == scattered) return 0; // inside of a loop over the first index they are what they are here
    for (int i = 0; i < terms; i++) {
        bool scatters = ir_scatters(m, term[i], v, n, fixed);
        Node *e = scatters ? ir_subst(m, term[i], n, from, to) : term[i];
        if (!scatters || !ir_scatters(m, e, w, n, fixed)) { // rules may have narrowed its sums to some elements
            dense = ir_add(m, dense, scatters ? ir_subst(m, e, n, to, from) : e);
            continue;
        }
        Task *u = &parts[++count];
        *u = *t;
        u->kind = TASK_SCATTER;
        u->e = e, u->v = w, u->nv = n;
    }
    if (!count) return 0;
    if (n == 1 && t->kind == TASK_STORE && !t->nidx && !t->shift) {
        int covering = lower_cover(l, t, w[0], ir_subst1(m, dense, from[0], to[0]), count, parts + 1, out);
        if (covering) return covering;
    }
    parts[0] = *t;
    parts[0].e = dense;
    for (int k = n; k-- > 0;) parts[0].e = ir_binder_plain(m, OP_gen, v[k], parts[0].e);
    bool adds = t->kind == TASK_ADD && ir_is_zero(dense); // there is no rest
    *out = parts + adds;
    return count + !adds;
}

Node *lower_scatter_extent(Lower *l, Node *e) {
    Var *v[16];
    Node **term, *fixed[16];
    int n, terms = ir_terms(l->ir, e, v, &n, &term);
    for (int i = 0; i < terms; i++) {
        if (!ir_scatters(l->ir, term[i], v, n, fixed)) continue;
        const Node *t = term[i];
        while (t->op == OP_neg) t = t->args[0];
        return t->op == OP_sum ? t->u.var->extent : NULL;
    }
    return NULL;
}

// The sums, with the condition on what they add up.
static Node *given(Ir *m, Node *sums, Node *cond) {
    if (sums->op == OP_neg) return ir_neg(m, given(m, sums->args[0], cond));
    if (sums->op != OP_sum) return ir_bracket(m, ir_and(m, cond, sums->args[0]), sums->args[1]);
    Var *w = ir_index_like(m, sums->u.var, sums->u.var->extent); // the condition may speak of another of that name
    return ir_binder_plain(m, OP_sum, w, given(m, ir_subst1(m, sums->args[0], ir_var(sums->u.var), ir_var(w)), cond));
}

// Does the region leave some indices free, each in all of its range?
static bool leaves_whole(const Task *t, const Region *r) {
    int next = 0;
    for (int k = 0; k < t->nv; k++) {
        if (next < r->nloops && r->idx[k] == ir_var(r->loop[next])) {
            if (r->loop[next++]->extent != t->v[k]->extent) return false;
        } else {
            for (int q = 0; q < r->nloops; q++)
                if (node_has_var(r->idx[k], r->loop[q])) return false;
        }
    }
    for (int k = 1; k <= r->nloops; k++)
        if (!ir_is_lit(r->guard[k], 1)) return false;
    return next == r->nloops && next > 0;
}

// A term that fixes some of the indices around sums that fix others, [k = f(i)] * sum j < … [n = g(j)] * e: the sums are next.
static bool opens_sums(Ir *m, Task *t, const Region *r) {
    Node *inner = t->e->args[1], *fixed[16];
    if (inner->op == OP_bracket || !leaves_whole(t, r) || !ir_scatters(m, inner, t->v, t->nv, fixed)) return false;
    t->e = given(m, inner, t->e->args[0]);
    if (!ir_is_lit(r->guard[0], 1)) t->guard = r->guard[0];
    return true;
}

// ---- terms that do not meet

static Node *at(Ir *m, Node *e, Var *x, Node *a, Var *y, Node *b) {
    Node *from[] = {ir_var(x), ir_var(y)}, *to[] = {a, b};
    return ir_subst(m, e, 2, from, to);
}

// Is a less than b, whatever indices and sizes are?
static bool below(Ir *m, Node *a, Node *b) {
    Poly d = poly_add(m, poly_of(m, b), poly_scale(m, poly_of(m, a), -1));
    return !poly_huge(d) && poly_nonneg(m, poly_add(m, d, poly_of(m, ir_int(m, -1))));
}

static Node *plus(Ir *m, Node *a, int64_t k) { return ir_add(m, a, ir_int(m, k)); }

// Does e grow with x < n, and y < its extent, in which there may be x, so that any two pairs give different values? It does if it
// grows from one element of a row to the next, and from the last of a row to the first of the next. Rows are those of one x, or, if
// the extent of y is x + c, columns, of one y.
static bool grows(Ir *m, Node *e, Var *x, Var *y) {
    Node *i = ir_var(x), *j = ir_var(y), *n = x->extent, *length = y->extent, *zero = ir_int(m, 0);
    if (node_has_var(n, y)) return false;
    bool by_y = below(m, e, at(m, e, x, i, y, plus(m, j, 1))), by_x = below(m, e, at(m, e, x, plus(m, i, 1), y, j));
    if (by_y && below(m, at(m, e, x, i, y, plus(m, length, -1)), at(m, e, x, plus(m, i, 1), y, zero))) return true;
    if (!by_x) return false;
    int64_t c = 0;
    if (!node_has_var(length, x)) return below(m, at(m, e, x, plus(m, n, -1), y, j), at(m, e, x, zero, y, plus(m, j, 1)));
    if (!poly_const(poly_add(m, poly_of(m, length), poly_scale(m, poly_of(m, i), -1)), &c)) return false;
    if (c > 1) return false; // else the first of column j is in row j - c + 1
    return below(m, at(m, e, x, plus(m, n, -1), y, j), at(m, e, x, plus(m, j, 2 - c), y, plus(m, j, 1)));
}

// Do the terms of the sums around, and of the region's loops, go to elements of their own?
static bool goes_apart(Ir *m, const Task *t, const Region *r) {
    bool apart = false;
    if (t->nsums < 1 || t->nsums > 2) return false;
    for (int k = 0; k < t->nv && !apart; k++) {
        Node *e = r->idx[k];
        bool free = e->kind == KIND_INT && !e->partial;
        for (int q = 0; q < r->nloops; q++) free &= !node_has_var(e, r->loop[q]);
        if (!free) continue;
        Var *x = (Var *)t->sum[0];
        if (t->nsums == 1) apart = below(m, e, ir_subst1(m, e, ir_var(x), plus(m, ir_var(x), 1)));
        else apart = grows(m, e, x, (Var *)t->sum[1]);
    }
    for (int q = 0; q < r->nloops; q++) {
        bool is_index = false;
        for (int k = 0; k < t->nv; k++) is_index |= r->idx[k] == ir_var(r->loop[q]);
        apart &= is_index;
    }
    return apart;
}

bool lower_open_scatter(Lower *l, Task *t) {
    Ir *m = l->ir;
    for (; t->e->op == OP_neg; t->e = t->e->args[0]) t->negative = !t->negative;
    if (t->e->op == OP_sum) return true;
    Node *e = t->e;
    bool bracket = e->op == OP_bracket;
    if (ir_guards_sums(e, t->v, t->nv)) {
        t->guard = t->guard ? ir_and(m, t->guard, e->args[0]) : e->args[0];
        t->e = e->args[1];
        return true;
    }
    Region *r = ARENA_NEW(l->arena, Region);
    lower_region(m, t->v, t->nv, bracket ? e->args[0] : ir_bool(m, true), r);
    if (bracket && opens_sums(m, t, r)) return true;
    Node *value = lower_region_value(m, t->v, r, bracket ? e->args[1] : e), **idx = ARENA_ARRAY(l->arena, Node *, t->nidx + t->nv);
    if (ir_is_zero(value)) return false;
    if (t->nidx) memcpy(idx, t->idx, sizeof *idx * (size_t)t->nidx);
    memcpy(idx + t->nidx, r->idx, sizeof *idx * (size_t)t->nv);
    t->apart = goes_apart(m, t, r);
    t->kind = TASK_ADD, t->idx = idx, t->nidx += t->nv;
    t->e = t->negative ? ir_neg(m, value) : value;
    t->negative = false;
    if (!ir_is_lit(r->guard[0], 1)) t->guard = r->guard[0], r->guard[0] = ir_bool(m, true);
    if (r->nloops) t->region = r;
    return true;
}
