// How a step of a loop updates an array state in its buffer. A step is taken apart into the old array and *parts*:
// regions of indices with new values. Only the regions are visited. A value that reads what has been overwritten by
// then is computed beforehand (*staged*), as large as its region; if that is the whole array, it is copied back.
#include "ir/internal.h"
#include "lower/internal.h"
#include "pass/pass.h"

// ---- taking a step apart

static bool is_own(const Node *e, const Update *u) {
    if (e->op != OP_at || e->args[0] != u->base) return false;
    for (int k = 0; k < u->n; k++)
        if (e->args[k + 1] != ir_var(u->v[k])) return false;
    return true;
}

// If e is the old element plus something: that, else NULL. Only --fp=precise keeps the order of sums.
static Node *added(Ir *m, Node *e, const Update *u) {
    if (e->op != OP_add && e->op != OP_sub) return NULL;
    Node *a = e->args[0], *b = e->args[1];
    bool any = !m->strict || e->kind == KIND_INT;
    Node *rest = is_own(a, u) ? ir_zero(m, e->kind) : any ? added(m, a, u) : NULL;
    if (rest) return ir_op(m, e->op, rest, b);
    if (e->op == OP_sub) return NULL;
    rest = is_own(b, u) ? ir_zero(m, e->kind) : any ? added(m, b, u) : NULL;
    return rest ? ir_add(m, a, rest) : NULL;
}

enum { MAX_SUM = 16 };

// A sum in which one term keeps the old element somewhere and the others are brackets.
typedef struct Sum {
    Ir *m;
    Node *keeper;
    Node *cond[MAX_SUM]; // of the others
    int n;
} Sum;

static bool keeps_own(Ir *m, Node *e, const Update *u);

// [p] x + [q] x, for the old element x, is [p || q] x where not both hold: what an update under a condition leaves, and
// what is left where it does not happen.
static bool join_keepers(Sum *s, Node *e, const Update *u) {
    Node *a = s->keeper;
    if (!a || a->op != OP_bracket || e->op != OP_bracket) return false;
    if (!is_own(a->args[1], u) || e->args[1] != a->args[1]) return false;
    if (!ir_is_lit(ir_and(s->m, a->args[0], e->args[0]), 0)) return false;
    s->keeper = ir_bracket(s->m, ir_or(s->m, a->args[0], e->args[0]), a->args[1]);
    return true;
}

static bool is_of_brackets(const Node *e, int *most) {
    if (--*most < 0) return false;
    if (e->op == OP_add || e->op == OP_sub) return is_of_brackets(e->args[0], most) && is_of_brackets(e->args[1], most);
    return e->op == OP_bracket || (e->op == OP_neg && is_of_brackets(e->args[0], most));
}

// Where the brackets that e adds up are not 0, all of them being under a condition (NULL: none): of [p] ([a] x + [b]
// y), where p && a and where p && b.
static bool add_conditions(Sum *s, Node *e, Node *under) {
    bool sum = e->op == OP_add || e->op == OP_sub;
    if (sum || e->op == OP_neg)
        return add_conditions(s, e->args[0], under) && (!sum || add_conditions(s, e->args[1], under));
    if (e->op != OP_bracket) return false;
    Node *cond = under ? ir_and(s->m, under, e->args[0]) : e->args[0];
    if (e->args[1]->op != OP_bracket && is_of_brackets(e->args[1], &(int){4 * MAX_SUM}))
        return add_conditions(s, e->args[1], cond);
    if (s->n == MAX_SUM) return false;
    s->cond[s->n++] = cond;
    return true;
}

static bool add_terms(Sum *s, Node *e, bool negative, const Update *u) {
    switch (e->op) {
    case OP_add: return add_terms(s, e->args[0], negative, u) && add_terms(s, e->args[1], negative, u);
    case OP_sub: return add_terms(s, e->args[0], negative, u) && add_terms(s, e->args[1], !negative, u);
    case OP_neg: return add_terms(s, e->args[0], !negative, u);
    default: break;
    }
    if (!negative && !s->keeper && keeps_own(s->m, e, u)) {
        s->keeper = e;
        return true;
    }
    if (!negative && join_keepers(s, e, u)) return true;
    return add_conditions(s, e, NULL);
}

static bool sum_keeps(Ir *m, Sum *s, Node *e, const Update *u) {
    *s = (Sum){.m = m};
    return (e->op == OP_add || e->op == OP_sub) && add_terms(s, e, false, u) && s->keeper;
}

static bool keeps_own(Ir *m, Node *e, const Update *u) {
    Sum s;
    if (is_own(e, u)) return true;
    if (e->op == OP_select) return keeps_own(m, e->args[1], u) || keeps_own(m, e->args[2], u);
    return (e->op == OP_bracket && keeps_own(m, e->args[1], u)) || sum_keeps(m, &s, e, u);
}

static bool add_part(Ir *m, Update *u, Node *pred, Node *value) {
    if (u->nparts == PARTS_MAX) return false;
    if (pred->op == OP_lit && !pred->u.num) return true;
    Part *p = &u->part[u->nparts++];
    *p = (Part){.pred = pred, .value = value};
    lower_region(m, u->v, u->n, pred, &p->region);
    p->value = lower_region_value(m, u->v, &p->region, value);
    return true;
}

// Conditions, all of which hold.
typedef struct Conds {
    Node *first;
    const struct Conds *rest;
} Conds;

// Parts for `value` where pred and the conditions hold. A region can be no disjunction: there is a part for each case.
// After so many steps, what is left of the conditions stays as it is.
static bool add_cases(Ir *m, Update *u, Node *pred, const Conds *c, int *steps, Node *value) {
    if (pred->op == OP_lit && !pred->u.num) return true;
    if (!c) return add_part(m, u, pred, value);
    bool no = c->first->op == OP_not;
    Node *e = no ? c->first->args[0] : c->first;
    if ((e->op != OP_and && e->op != OP_or) || *steps == 0)
        return add_cases(m, u, ir_and(m, pred, c->first), c->rest, steps, value);
    --*steps;
    Node *a = no ? ir_not(m, e->args[0]) : e->args[0], *b = no ? ir_not(m, e->args[1]) : e->args[1];
    bool both = (e->op == OP_and) != no;
    Conds second = {b, c->rest}, first = {a, both ? &second : c->rest}, other = {ir_not(m, a), &second};
    return add_cases(m, u, pred, &first, steps, value) && (both || add_cases(m, u, pred, &other, steps, value));
}

static bool add_where(Ir *m, Update *u, Node *pred, Node *cond, Node *value) {
    enum { MAX_STEPS = 6 };
    int steps = MAX_STEPS;
    return add_cases(m, u, pred, &(Conds){cond, NULL}, &steps, value);
}

static bool collect(Ir *m, Update *u, Node *pred, Node *e);

static bool collect_where(Ir *m, Update *u, Node *pred, Node *cond, Node *e) {
    if (keeps_own(m, e, u)) return collect(m, u, ir_and(m, pred, cond), e);
    return add_where(m, u, pred, cond, e);
}

// The parts of e, the new value of an element where pred holds.
static bool collect(Ir *m, Update *u, Node *pred, Node *e) {
    Sum s;
    if (is_own(e, u)) return true;
    if (!keeps_own(m, e, u)) return add_part(m, u, pred, e);
    if (e->op == OP_select)
        return collect_where(m, u, pred, e->args[0], e->args[1]) && collect_where(m, u, pred, ir_not(m, e->args[0]), e->args[2]);
    if (e->op == OP_bracket)
        return collect_where(m, u, pred, e->args[0], e->args[1]) &&
               add_where(m, u, pred, ir_not(m, e->args[0]), ir_zero(m, e->kind));
    if (!sum_keeps(m, &s, e, u)) fatal_bug("an update that keeps nothing");
    for (int i = 0; i < s.n; i++) {
        if (!add_where(m, u, pred, s.cond[i], e)) return false;
        pred = ir_and(m, pred, ir_not(m, s.cond[i]));
    }
    return collect(m, u, pred, s.keeper);
}

// ---- what is read

enum { MAX_FACTS = 32, MAX_CONJUNCTS = 64 };

// A walk over a term that is evaluated for the elements of a part.
typedef struct Reads {
    Lower *l;
    Update *u;
    const Part *part;
    int upto;                   // the parts before it are written already
    VEC(Var *) inner;           // variables of the region's loops, and those bound around the walk
    Node *given[MAX_CONJUNCTS]; // what holds in the region
    int ngiven;
    Poly fact[MAX_FACTS]; // the same
    int nfacts;
    Map seen;
    bool clash; // the term reads what has been written
} Reads;

static bool not_negative(Reads *r, Poly p) { return poly_nonneg_given(r->l->ir, p, r->nfacts, r->fact); }

static bool implied(Reads *r, Node *c) {
    if (c->op == OP_lit) return c->u.num;
    for (int i = 0; i < r->ngiven; i++)
        if (r->given[i] == c) return true;
    Poly f[4];
    int n = poly_facts(r->l->ir, c, f, 4), held = 0;
    while (held < n && not_negative(r, f[held])) held++;
    return n > 0 && held == n;
}

static bool refuted(Reads *r, Node *c) {
    Ir *m = r->l->ir;
    if (c->op == OP_lit) return !c->u.num;
    if (c->op == OP_not) {
        Node *q[MAX_CONJUNCTS];
        int n = 0, held = 0;
        if (!ir_conjuncts(c->args[0], q, &n, MAX_CONJUNCTS)) return false;
        while (held < n && implied(r, q[held])) held++;
        return held == n;
    }
    Poly f[4];
    int n = poly_facts(m, c, f, 4);
    for (int i = 0; i < n; i++) // f >= 0 does not hold if -1 - f >= 0
        if (not_negative(r, poly_add(m, poly_scale(m, f[i], -1), poly_of(m, ir_int(m, -1))))) return true;
    return false;
}

// Are the indices idx outside of the region of part p?
static bool outside(Reads *r, const Part *p, Node **idx) {
    Ir *m = r->l->ir;
    Node *c[MAX_CONJUNCTS], *from[RANK_MAX];
    int n = 0;
    for (int k = 0; k < r->u->n; k++) from[k] = ir_var(r->u->v[k]);
    if (!ir_conjuncts(ir_subst(m, p->pred, r->u->n, from, idx), c, &n, MAX_CONJUNCTS)) return false;
    for (int i = 0; i < n; i++)
        if (refuted(r, c[i])) return true;
    return false;
}

static bool read_allowed(Reads *r, Node **idx) {
    const Region *own = &r->part->region;
    bool same = true;
    for (int k = 0; k < r->u->n; k++) same &= idx[k] == own->idx[k];
    if (!same && own->nloops > 0 && !outside(r, r->part, idx)) return false;
    for (int i = 0; i < r->upto; i++)
        if (!outside(r, &r->u->part[i], idx)) return false;
    return true;
}

// Is e evaluated whenever `whole` is?
static bool is_operand(const Node *whole, const Node *e, int *fuel) {
    if (whole == e) return true;
    if (!op_is_elementwise(whole->op) || --*fuel < 0) return false;
    int n = whole->op == OP_and || whole->op == OP_or ? 1 : whole->nargs; // the second one by need
    for (int i = 0; i < n; i++)
        if (is_operand(whole->args[i], e, fuel)) return true;
    return false;
}

// Can e be computed once, before anything is written? Not what is dear and may turn out not to be needed.
static bool beforehand(Reads *r, Node *e) {
    Update *u = r->u;
    if (u->nbefore == BEFORE_MAX) return false;
    for (int i = 0; i < r->inner.len; i++)
        if (node_has_var(e, r->inner.data[i])) return false;
    bool needed = map_get(&r->l->scope->demanded, e);
    for (int i = 0; i < u->nbefore && !needed; i++) {
        if (u->before[i] == e) return true; // for another part
        needed = is_operand(u->before[i], e, &(int){64});
    }
    const Node *guard = r->part->region.guard[0]; // itself it is always evaluated
    if (!needed &&
        (lower_fails(r->l, r->l->scope, e, NULL) || (e != guard && lower_dear(r->l, e) && !lower_likely(r->l, guard, r->l->scope))))
        return false;
    u->before[u->nbefore++] = e;
    return true;
}

static void read(Reads *r, Node *e) {
    Ir *m = r->l->ir;
    if (r->clash || !node_has_var(e, r->u->state) || map_get(&r->seen, e)) return;
    map_put(&r->seen, e, e);
    if (e == r->u->base) {
        r->clash = true;
        return;
    }
    if (e->op == OP_fold || e->op == OP_while) { // no value; its steps are in terms of variables of its own
        r->clash = true;
        return;
    }
    if (beforehand(r, e)) return;
    int first = 0;
    if (e->op == OP_at && e->args[0] == r->u->base) {
        r->clash |= !read_allowed(r, e->args + 1);
        first = 1;
    }
    if (ir_is_binder(e)) {
        Var *w = ir_index_like(m, e->u.var, e->u.var->extent);
        vec_push(&r->inner, w);
        read(r, ir_subst1(m, e->args[0], ir_var(e->u.var), ir_var(w)));
        r->inner.len--;
        return;
    }
    for (int i = first; i < e->nargs; i++) read(r, e->args[i]);
}

// May `e`, evaluated for the elements of part k, stand as it is when the parts before it have been written?
static bool in_order(Lower *l, Update *u, int k, Node *e) {
    const Part *p = &u->part[k];
    Reads r = {.l = l, .u = u, .part = p, .upto = k};
    for (int i = 0; i < p->region.nloops; i++) vec_push(&r.inner, p->region.loop[i]);
    Node *holds = lower_region_value(l->ir, u->v, &p->region, p->pred);
    ArenaMark mark = arena_mark(l->ir->polys);
    r.nfacts = poly_facts(l->ir, holds, r.fact, MAX_FACTS);
    if (!ir_conjuncts(holds, r.given, &r.ngiven, MAX_CONJUNCTS)) r.ngiven = 0;
    int keep = u->nbefore;
    read(&r, e);
    map_free(&r.seen);
    vec_free(&r.inner);
    arena_release(l->ir->polys, mark);
    if (r.clash) u->nbefore = keep;
    return !r.clash;
}

// ---- planning

// Does the region leave out elements by its loops?
static bool is_smaller(const Update *u, const Region *r) {
    if (r->nloops < u->n) return true;
    for (int k = 0; k < r->nloops; k++)
        if (r->loop[k]->extent != u->v[k]->extent) return true;
    return false;
}

static bool is_rectangular(const Region *r) {
    for (int k = 0; k < r->nloops; k++)
        for (int i = 0; i < k; i++)
            if (node_has_var(r->loop[k]->extent, r->loop[i])) return false;
    return true;
}

static bool plan_parts(Lower *l, Update *u, Node *body) {
    Ir *m = l->ir;
    u->nparts = 0;
    if (!collect(m, u, ir_bool(m, true), body)) return false;
    bool narrow = false;
    for (int k = 0; k < u->nparts; k++) {
        Part *p = &u->part[k];
        for (int i = 0; i <= p->region.nloops; i++)
            if (!in_order(l, u, k, p->region.guard[i])) return false;
        for (int i = 0; i < p->region.nloops; i++)
            if (!in_order(l, u, k, p->region.loop[i]->extent)) return false;
        for (int i = 0; i < u->n; i++)
            if (!in_order(l, u, k, p->region.idx[i])) return false;
        p->staged = !in_order(l, u, k, p->value);
        if (p->staged && (!is_smaller(u, &p->region) || !is_rectangular(&p->region))) return false;
        narrow |= is_smaller(u, &p->region);
    }
    return narrow;
}

// The whole array in one part.
static bool plan_map(Lower *l, Update *u, Node *body) {
    u->nparts = 0;
    return add_part(l->ir, u, ir_bool(l->ir, true), body) && in_order(l, u, 0, u->part[0].value);
}

// ---- what is added to computed places, and reads the old array only through what is computed before
//
//     s' = gen k ([k <> t] s[k] + sum i ([max 0 (i - 1) = k] d[i])), where d = gen i (f s[i])
//
// With d stored, element t becomes 0, and then the sum is added to where it goes. Element by element, each would look
// at all i.

typedef struct Stored {
    Lower *l;
    Update *u;
    Map seen;         // inside of these binders: elsewhere the same value may speak of other variables of these names
    VEC(Var *) bound; // around the walk
} Stored;

static bool is_outside(const Stored *s, const Node *e) {
    for (int k = 0; k < s->u->n; k++)
        if (node_has_var(e, s->u->v[k])) return false;
    for (int k = 0; k < s->bound.len; k++)
        if (node_has_var(e, s->bound.data[k])) return false;
    return true;
}

static bool note_before(Update *u, Node *e) {
    for (int k = 0; k < u->nbefore; k++)
        if (u->before[k] == e) return true;
    if (u->nbefore == BEFORE_MAX) return false;
    u->before[u->nbefore++] = e;
    return true;
}

// Is e a number that is the same for all elements, and may be computed whether or not it is needed?
static bool is_number_before(const Stored *s, Node *e) {
    return e->rank == 0 && is_outside(s, e) && !lower_dear(s->l, e) && !lower_fails(s->l, s->l->scope, e, NULL);
}

static bool reads_stored(Stored *s, Node *e) {
    if (!node_has_var(e, s->u->state) || map_get(&s->seen, e)) return true;
    if (e->op == OP_var || ir_is_loop(e)) return false;
    map_put(&s->seen, e, e);
    if (is_number_before(s, e)) return note_before(s->u, e);
    bool whole = e->op == OP_at && e->args[0]->op == OP_gen && !e->args[0]->partial && is_outside(s, e->args[0]);
    if (whole && !note_before(s->u, e->args[0])) return false;
    Map outside = s->seen;
    bool ok = true;
    if (ir_is_binder(e) && !reads_stored(s, e->u.var->extent)) return false;
    if (ir_is_binder(e)) vec_push(&s->bound, e->u.var), s->seen = (Map){0};
    for (int i = whole; i < e->nargs && ok; i++) ok = reads_stored(s, e->args[i]);
    if (!ir_is_binder(e)) return ok;
    map_free(&s->seen);
    s->seen = outside;
    s->bound.len--;
    return ok;
}

static bool is_scatter(Ir *m, Node *e, const Update *u) {
    Node *fixed[RANK_MAX];
    return e->op == OP_sum && ir_scatters(m, e, u->v, u->n, fixed);
}

// The terms of a step that are added to computed places, and the others; NULL: there are none.
typedef struct Terms {
    Ir *m;
    const Update *u;
    Node *scattered, *others;
    int left; // nodes that may still be looked at: sums may be shared, and have many terms for that reason
} Terms;

static void split_terms(Terms *t, Node *e, bool negative) {
    if (--t->left < 0) return;
    if (e->op == OP_add || e->op == OP_sub) {
        split_terms(t, e->args[0], negative);
        split_terms(t, e->args[1], negative != (e->op == OP_sub));
    } else if (e->op == OP_neg) {
        split_terms(t, e->args[0], !negative);
    } else {
        Node **to = is_scatter(t->m, e, t->u) ? &t->scattered : &t->others;
        if (!*to) *to = negative ? ir_neg(t->m, e) : e;
        else *to = negative ? ir_sub(t->m, *to, e) : ir_add(t->m, *to, e);
    }
}

static Terms terms_of(Ir *m, Node *e, const Update *u) {
    enum { MOST_NODES = 256 };
    Terms t = {.m = m, .u = u, .left = MOST_NODES};
    split_terms(&t, e, false);
    if (t.left < 0) t.scattered = NULL;
    return t;
}

static bool has_scatter(Ir *m, Node *e, const Update *u) {
    return terms_of(m, e, u).scattered != NULL;
}

static bool is_computed_before(Lower *l, Update *u, Node *rest) {
    Stored s = {.l = l, .u = u};
    bool ok = reads_stored(&s, rest);
    map_free(&s.seen);
    vec_free(&s.bound);
    if (!ok) u->nbefore = 0;
    return ok;
}

static bool plan_add(Lower *l, Update *u, Node *rest) {
    return has_scatter(l->ir, rest, u) && is_computed_before(l, u, rest);
}

static Update *plan(Lower *l, const Var *state, Node *base, Node *step);

// The step without what is scattered, and then that.
static bool plan_scatter(Lower *l, Update *u, Node *body) {
    Ir *m = l->ir;
    if ((body->op != OP_add && body->op != OP_sub) || (m->strict && body->kind != KIND_INT)) return false;
    Terms t = terms_of(m, body, u);
    if (!t.scattered || !t.others || !keeps_own(m, t.others, u) || !is_computed_before(l, u, t.scattered)) return false;
    for (int k = u->n; k-- > 0;) t.others = ir_gen(m, u->v[k], t.others);
    Update *first = plan(l, u->state, u->base, t.others);
    if (first->how == UPDATE_COPY) return false;
    if (first->how != UPDATE_NONE) u->first = first;
    u->base = t.others, u->how = UPDATE_ADD, u->rest = t.scattered;
    return true;
}

// An array from which the step makes the new one, reading the old one in no other way: it takes the old one's place.
static Node *link(Node *e, const Update *u) {
    if (e->op == OP_at) {
        Node *b = e->args[0];
        if (b == u->base || (b->op != OP_gen && b->op != OP_final) || b->kind != u->base->kind || b->rank != u->n) return NULL;
        if (!node_has_var(b, u->state)) return NULL;
        for (int k = 0; k < u->n; k++)
            if (e->args[k + 1] != ir_var(u->v[k]) || b->shape[k] != u->base->shape[k]) return NULL;
        return b;
    }
    Node *b = NULL;
    if (e->op == OP_select || e->op == OP_bracket || e->op == OP_add || e->op == OP_sub)
        for (int i = e->op == OP_select || e->op == OP_bracket; i < e->nargs && !b; i++) b = link(e->args[i], u);
    return b;
}

static bool only_through(Node *e, const Node *b, const Node *base, Map *seen) {
    if (e == base) return false;
    if (e == b || map_get(seen, e)) return true;
    map_put(seen, e, e);
    for (int i = 0; i < e->nargs; i++)
        if (!only_through(e->args[i], b, base, seen)) return false;
    return true;
}

static bool plan_chain(Lower *l, Update *u, Node *step, Node *body) {
    Node *b = link(body, u);
    if (!b) return false;
    Map seen = {0};
    bool ok = only_through(body, b, u->base, &seen);
    map_free(&seen);
    if (!ok) return false;
    Update *first = plan(l, u->state, u->base, b);
    if (first->how == UPDATE_COPY) return false;
    Update *second = plan(l, u->state, b, step);
    if (second->how == UPDATE_COPY) return false;
    Update *head = second;
    while (head->first) head = head->first;
    head->first = first;
    *u = *second;
    return true;
}

// The state of a loop inside that starts from the array, which that loop reads in no other way.
static bool plan_loop(Lower *l, Update *u, Node *step) {
    Node *loop = step->args[0], *init = loop_init(loop, (int)step->u.num);
    for (int i = 0; i < loop->nargs; i++)
        if (i != step->u.num && node_has_var(loop->args[i], u->state)) return false;
    if (loop->op == OP_fold && node_has_var(ir_loop(loop)->index->extent, u->state)) return false;
    Update *first = plan(l, u->state, u->base, init);
    if (first->how == UPDATE_COPY) return false;
    if (first->how != UPDATE_NONE) u->first = first;
    u->base = init;
    u->how = UPDATE_LOOP;
    return true;
}

// A condition that is the same for all elements.
static bool plan_if(Lower *l, Update *u, Node *body) {
    Ir *m = l->ir;
    if (body->op != OP_select) return false;
    Node *arm[] = {body->args[1], body->args[2]};
    Update *plans[2];
    for (int k = 0; k < u->n; k++)
        if (node_has_var(body->args[0], u->v[k])) return false;
    for (int i = 0; i < 2; i++) {
        for (int k = u->n; k-- > 0;) arm[i] = ir_gen(m, u->v[k], arm[i]);
        plans[i] = plan(l, u->state, u->base, arm[i]);
        if (plans[i]->how == UPDATE_COPY) return false;
    }
    u->how = UPDATE_IF, u->cond = body->args[0], u->then = plans[0], u->other = plans[1];
    return true;
}

// How the buffer that holds `base` is made to hold `step`.
static Update *plan(Lower *l, const Var *state, Node *base, Node *step) {
    Update *u = ARENA_NEW(l->arena, Update);
    *u = (Update){.how = UPDATE_COPY, .state = state, .base = base, .step = step};
    u->part = ARENA_ARRAY(l->arena, Part, PARTS_MAX);
    if (step == base) {
        u->how = UPDATE_NONE;
        return u;
    }
    if (step->op == OP_final) {
        plan_loop(l, u, step);
        return u;
    }
    Node *body = step;
    for (; body->op == OP_gen && u->n < RANK_MAX; body = body->args[0]) u->v[u->n++] = body->u.var;
    if (body->rank || u->n != base->rank) return u;
    Node *rest = added(l->ir, body, u);
    if (rest && (!node_has_var(rest, state) || plan_add(l, u, rest))) {
        u->how = UPDATE_ADD, u->rest = rest;
        return u;
    }
    if (plan_chain(l, u, step, body)) return u;
    if (plan_parts(l, u, body)) {
        u->how = UPDATE_PARTS;
        return u;
    }
    u->nbefore = 0;
    if (plan_scatter(l, u, body)) return u;
    u->nbefore = 0;
    if (plan_if(l, u, body)) return u;
    if (has_scatter(l->ir, body, u)) return u; // to another buffer, so that it is not a sum for each element
    if (plan_map(l, u, body)) u->how = UPDATE_PARTS;
    return u;
}

Update *lower_plan_update(Lower *l, Node *state, Node *step, bool in_place) {
    if (in_place || step == state) return plan(l, state->u.var, state, step);
    Update *u = ARENA_NEW(l->arena, Update);
    *u = (Update){.how = UPDATE_COPY, .state = state->u.var, .base = state, .step = step};
    return u;
}

// ---- two buffers

// An element that costs more takes so long that copying it does not matter, and code for it is not written twice.
enum { MAX_TURN_COST = 64 };

static bool is_cheap(Lower *l, Node *e) { return pass_cost_memo(e, &l->cost) <= MAX_TURN_COST; }

static bool varies(Node *loop, const Node *e) {
    Loop *p = ir_loop(loop);
    bool v = node_has_var(e, p->index);
    for (int k = 0; k < p->n; k++) v |= node_has_var(e, p->state[k]);
    return v;
}

// Does e read other elements of the state than its own? Else the loop that copies becomes one with that which makes (merge.c).
static bool reads_others(Node *e, const Update *u, Map *seen) {
    if (e->op == OP_var && e->u.var == u->state) return true;
    if (!node_has_var(e, u->state) || is_own(e, u) || map_get(seen, e)) return false;
    map_put(seen, e, e);
    for (int i = 0; i < e->nargs; i++)
        if (reads_others(e->args[i], u, seen)) return true;
    return false;
}

bool lower_may_turn(Lower *l, Node *loop, const Update *u) {
    Update whole = {.base = u->base, .state = u->state};
    Node *e = u->step;
    for (; e->op == OP_gen && whole.n < RANK_MAX; e = e->args[0]) whole.v[whole.n++] = e->u.var;
    if (loop->op != OP_fold || u->first || e->rank) return false;
    Map seen = {0};
    bool others = reads_others(e, &whole, &seen), all = false; // is a part that has all dimensions computed before?
    map_free(&seen);
    if (u->how == UPDATE_COPY) return others && is_cheap(l, e);
    for (int k = 0; k < u->nparts && u->how == UPDATE_PARTS; k++) {
        const Part *p = &u->part[k];
        if (varies(loop, p->pred) || !is_cheap(l, p->value)) return false;
        all |= p->staged && p->region.nloops == u->n;
    }
    return others && all;
}

// ---- initial values

bool lower_overwrites(Lower *l, Node *loop, int k) {
    Loop *p = ir_loop(loop);
    Node *state = ir_var(p->state[k]), *body = loop_step(loop, k);
    if (loop->op != OP_fold || loop_init(loop, k)->partial) return false;
    for (int j = 0; j < p->n; j++)
        if (j != k && node_has_var(loop_step(loop, j), p->state[k])) return false;
    Update u = {.base = state, .state = p->state[k]};
    for (; body->op == OP_gen && u.n < RANK_MAX; body = body->args[0]) u.v[u.n++] = body->u.var;
    if (body->op != OP_select || !is_own(body->args[2], &u) || node_has_var(body->args[1], u.state)) return false;
    Region r;
    lower_region(l->ir, u.v, u.n, body->args[0], &r);
    Node *i = ir_var(p->index), *last = ir_sub(l->ir, ir_sub(l->ir, p->index->extent, i), ir_int(l->ir, 1));
    if (r.nloops != u.n - 1) return false;
    for (int j = 0; j <= r.nloops; j++)
        if (r.guard[j]->op != OP_lit || !r.guard[j]->u.num) return false;
    for (int j = 0, q = 0; j < u.n; j++) { // one index runs with the loop, the others over everything
        if (q < r.nloops && r.idx[j] == ir_var(r.loop[q])) {
            if (r.loop[q++]->extent != u.v[j]->extent) return false;
        } else if ((r.idx[j] != i && r.idx[j] != last) || u.v[j]->extent != p->index->extent) {
            return false;
        }
    }
    return true;
}

// ---- doing it

// The values of a part as an array over its region, in memory.
static Node *stage(Lower *l, Part *p) {
    Ir *m = l->ir;
    Region *r = &p->region;
    Node *e = p->value, *idx[RANK_MAX];
    for (int k = r->nloops; k >= 0; k--) e = ir_bracket(m, r->guard[k], e);
    if (r->nloops == 0) {
        lower_value(l, e);
        return e;
    }
    for (int k = r->nloops; k-- > 0;) e = ir_binder_plain(m, OP_gen, r->loop[k], e), idx[k] = ir_var(r->loop[k]);
    lower_array(l, e);
    bool raw = m->raw;
    m->raw = true; // the rules would turn it back into the value
    Node *at = ir_at(m, e, r->nloops, idx);
    m->raw = raw;
    return at;
}

static void apply_parts(Lower *l, Update *u, Buf *buf) {
    lower_now(l, u->nbefore, u->before);
    for (int k = 0; k < u->nparts && !u->turns; k++)
        if (u->part[k].staged) u->part[k].value = stage(l, &u->part[k]);
    for (int k = 0; k < u->nparts; k++) {
        Part *p = &u->part[k];
        Task t = {.kind = TASK_STORE, .buf = buf, .e = p->value, .nidx = u->n, .idx = p->region.idx};
        lower_region_tasks(l, &p->region, 1, &t);
    }
}

static void apply_add(Lower *l, Update *u, Buf *buf) {
    Ir *m = l->ir;
    Node *e = u->rest;
    bool negative = e->op == OP_neg;
    if (negative) e = e->args[0];
    Task t = {.kind = TASK_ADD, .buf = buf, .e = u->rest};
    for (int k = u->n; k-- > 0;) t.e = ir_binder_plain(m, OP_gen, u->v[k], t.e);
    const Node *inner = e->op == OP_bracket ? e->args[1] : e;
    bool terms = inner->op == OP_sum || inner->op == OP_neg || inner->op == OP_add || inner->op == OP_sub;
    if (e->op == OP_bracket && !(terms && ir_has_scatter(m, t.e))) { // a condition on the indices, not on what scatters
        Region r;
        lower_region(m, u->v, u->n, e->args[0], &r);
        Node *value = lower_region_value(m, u->v, &r, negative ? ir_neg(m, e->args[1]) : e->args[1]);
        Task part = {.kind = TASK_ADD, .buf = buf, .e = value, .nidx = u->n, .idx = r.idx};
        lower_region_tasks(l, &r, 1, &part);
        return;
    }
    lower_tasks(l, 1, &t);
}

static void apply_arm(Lower *l, Update *u, Node *cond, Buf *buf) {
    if (u->how == UPDATE_NONE) return;
    Temp c = lower_value(l, cond);
    lower_begin_if(l, cond);
    lower_demand(l, u->step);
    lower_update(l, u, buf);
    lower_end_if(l, c);
}

static void apply_if(Lower *l, Update *u, Buf *buf) {
    Node *no = ir_not(l->ir, u->cond);
    lower_value(l, u->cond); // before anything is written
    lower_value(l, no);
    apply_arm(l, u->then, u->cond, buf);
    apply_arm(l, u->other, no, buf);
}

void lower_update(Lower *l, Update *u, Buf *buf) {
    if (u->how == UPDATE_ADD) lower_now(l, u->nbefore, u->before);
    if (u->first) {
        lower_update(l, u->first, buf);
        map_put(&l->scope->arrays, u->base, buf);
    }
    if (u->how == UPDATE_LOOP) {
        map_put(&l->scope->arrays, u->base, buf);
        Task t = {.kind = TASK_STORE, .buf = buf, .e = u->step};
        lower_tasks(l, 1, &t); // the loop's state takes the buffer of the task
    }
    if (u->how == UPDATE_IF) apply_if(l, u, buf);
    if (u->how == UPDATE_ADD) apply_add(l, u, buf);
    else if (u->how == UPDATE_PARTS) apply_parts(l, u, buf);
}
