// Sums of brackets ([TL] sections 2.1 and 5.4): an equality that determines the summation variable removes the sum, an
// inequality narrows its range, and what does not mention the variable moves out. Only affine equalities with
// coefficients +1 and -1 are solved here; what is left is for lowering to scatter.
#include "ir/internal.h"
#include "support/map.h"

#include <math.h>

static Poly lit(Ir *m, int64_t k) { return poly_of(m, ir_int(m, k)); }
static Poly sub(Ir *m, Poly a, Poly b) { return poly_add(m, a, poly_scale(m, b, -1)); }

enum { MAX_CONJUNCTS = 64 };

typedef struct Conj {
    int n;
    Node *p[MAX_CONJUNCTS];
} Conj;

bool ir_conjuncts(Node *p, Node **out, int *n, int max) {
    if (p->op == OP_and) return ir_conjuncts(p->args[0], out, n, max) && ir_conjuncts(p->args[1], out, n, max);
    if (*n == max) return false;
    out[(*n)++] = p;
    return true;
}

static bool collect(Node *p, Conj *c) { return ir_conjuncts(p, c->p, &c->n, MAX_CONJUNCTS); }

static Node *conjunction(Ir *m, const Conj *c, int skip) {
    Node *e = NULL;
    for (int i = 0; i < c->n; i++)
        if (i != skip) e = e ? ir_and(m, e, c->p[i]) : c->p[i];
    return e ? e : ir_bool(m, true);
}

// The number of passes of a loop over v as a value of `kind`.
static Node *trip_count(Ir *m, const Var *v, Kind kind) { return ir_conv(m, kind, ir_trips(m, v->extent)); }

// Does every term of p hold at most one index variable, with coefficient +1 or -1, and nothing else that varies?
static bool unit_affine(Poly p) {
    for (int i = 0; i < p.n; i++) {
        int vars = 0;
        for (int k = 0; k < p.term[i].n; k++)
            if (p.term[i].atom[k]->fv->n) vars++;
        if (vars == 0) continue;
        Node *a = p.term[i].atom[0];
        bool unit = p.term[i].coeff == 1 || p.term[i].coeff == -1;
        if (p.term[i].n != 1 || a->op != OP_var || a->u.var->is_state || !unit) return false;
    }
    return true;
}

// Does p hold an index variable of its own, once (not inside an atom)? Then an enclosing array could scatter through
// it.
static bool has_index(Poly p) {
    for (int i = 0; i < p.n; i++) {
        const Term *t = &p.term[i];
        bool unit = t->n == 1 && (t->coeff == 1 || t->coeff == -1);
        if (unit && t->atom[0]->op == OP_var && !t->atom[0]->u.var->is_state) return true;
    }
    return false;
}

static bool isolate(Ir *m, Node *p, const Var *v, Poly *a) {
    if (p->op != OP_eq || p->args[0]->kind != KIND_INT || !node_has_var(p, v)) return false;
    Poly d = sub(m, poly_of(m, p->args[0]), poly_of(m, p->args[1])), rest;
    int64_t c;
    if (!poly_linear(m, d, ir_var(v), &c, &rest) || (c != 1 && c != -1)) return false;
    *a = poly_scale(m, rest, -c);
    return true;
}

Node *ir_solve(Ir *m, Node *p, const Var *v) {
    Poly a;
    return isolate(m, p, v, &a) ? poly_node(m, a) : NULL;
}

// If conjunct `which` says v = a: *a. Equalities through data or of higher degree are solved only if nothing could
// scatter through them instead, which costs no more than the terms there are. An `a` that may fail must not be needed
// before a conjunct that mentions v: where that never holds, a is not computed.
static bool solves(Ir *m, const Conj *c, int which, const Var *v, Node **a) {
    Poly value;
    if (!isolate(m, c->p[which], v, &value)) return false;
    if (!unit_affine(value) && has_index(value)) return false;
    *a = poly_node(m, value);
    for (int i = 0; i < which; i++)
        if ((*a)->partial && node_has_var(c->p[i], v)) return false;
    return true;
}

// The loop over the one index that a mentions does what that over v did. (When loops are planned, others have that
// variable, too.)
static void pass_on(const Ir *m, const Var *v, const Node *a) {
    Var *only = NULL;
    if (m->planning || !wishes_any(&v->wishes)) return;
    for (int i = 0; i < a->fv->n; i++) {
        if (only) return;
        only = a->fv->v[i];
    }
    if (only && !only->is_state) wishes_pass_on(&only->wishes, &v->wishes);
}

// v = a determines the only term: [0 <= a < n] * (the rest at v = a). Conditions keep their order, since one may guard
// the next: that a is in range is said before the first that mentions v.
static Node *eliminate(Ir *m, Var *v, const Conj *c, int which, Node *a, Node *e) {
    Node *p = ir_bool(m, true); // of an empty sum nothing is evaluated
    for (int i = 0; i < c->n; i++)
        if (c->p[i]->partial) p = ir_lt(m, ir_int(m, 0), v->extent);
    Node *inside = ir_and(m, ir_le(m, ir_int(m, 0), a), ir_lt(m, a, v->extent));
    for (int i = 0, done = 0; i < c->n; i++) {
        if (!done && node_has_var(c->p[i], v)) p = ir_and(m, p, inside), done = 1;
        if (i != which) p = ir_and(m, p, ir_subst1(m, c->p[i], ir_var(v), a));
    }
    return ir_bracket(m, p, ir_subst1(m, e, ir_var(v), a));
}

// If p says 0 < d and d = by * v + rest: by, else 0.
static int64_t multiple_bound(Ir *m, const Node *p, const Var *v, Poly *rest) {
    int64_t by;
    if (p->op != OP_lt || p->args[0]->kind != KIND_INT || p->partial) return 0;
    Poly d = sub(m, poly_of(m, p->args[1]), poly_of(m, p->args[0]));
    return poly_linear(m, d, ir_var(v), &by, rest) && by > INT32_MIN && by < INT32_MAX ? by : 0;
}

// If p says 0 < d and d = v + rest or rest - v: the sign of v, else 0.
static int64_t linear_bound(Ir *m, const Node *p, const Var *v, Poly *rest) {
    int64_t by = multiple_bound(m, p, v, rest);
    return by == 1 || by == -1 ? by : 0;
}

// The least of hi and p.
static Node *at_most(Ir *m, Node *hi, Poly p) {
    return poly_nonneg(m, sub(m, poly_of(m, hi), p)) ? poly_node(m, p) : ir_min(m, hi, poly_node(m, p));
}

// 0 < rest + by * v, for by of at least 2 or at most -2: v is not less than (1 - rest) / by, or not more than
// (rest - 1) / -by. Where what is divided is negative, quotients are nearer to 0, and the range is larger than it need
// be.
static void bound_multiple(Ir *m, int64_t by, Poly rest, Node **lo, Node **hi) {
    Poly less = sub(m, rest, lit(m, 1));
    Node *most = poly_node(m, by < 0 ? less : poly_scale(m, less, -1)), *k = ir_int(m, by < 0 ? -by : by);
    Node *q = ir_op(m, OP_idiv, most, k);
    if (by > 0) *lo = ir_max(m, *lo, q);
    else *hi = ir_min(m, *hi, ir_add(m, q, ir_int(m, 1)));
}

// Conjuncts that bound v linearly: *lo <= v < *hi gather them; returns the conjunction of all others.
static Node *bounds(Ir *m, const Var *v, const Conj *c, Node **lo, Node **hi) {
    Node *others = ir_bool(m, true);
    for (int i = 0; i < c->n; i++) {
        Node *p = c->p[i];
        Poly rest;
        int64_t k = linear_bound(m, p, v, &rest);
        if (k == -1) // 0 < rest - v
            *hi = at_most(m, *hi, rest);
        else if (k == 1) // 0 < rest + v: v >= 1 - rest
            *lo = ir_max(m, *lo, poly_node(m, sub(m, lit(m, 1), rest)));
        else others = ir_and(m, others, p);
    }
    return others;
}

// hi - lo, where min (lo + 8) n - lo is min 8 (n - lo), as loops over blocks say it.
static Node *length(Ir *m, Node *hi, Node *lo) {
    if (hi->op != OP_min) return ir_sub(m, hi, lo);
    Node *a = length(m, hi->args[0], lo), *b = length(m, hi->args[1], lo);
    return a->op == OP_lit || b->op == OP_lit ? ir_min(m, a, b) : ir_sub(m, hi, lo);
}

static Var *narrow(Ir *m, Var *v, Node *body, bool multiples, Node **lo, Node **rest) {
    Conj c = {0};
    Poly r;
    if (body->op != OP_bracket || !collect(body->args[0], &c)) return NULL;
    Node *hi = v->extent;
    *lo = ir_int(m, 0);
    Node *others = bounds(m, v, &c, lo, &hi);
    for (int i = 0; i < c.n && multiples; i++) {
        int64_t by = multiple_bound(m, c.p[i], v, &r);
        if (by < -1 || by > 1) bound_multiple(m, by, r, lo, &hi);
    }
    if (ir_is_zero(*lo) && hi == v->extent) return NULL;
    Var *w = ir_index_like(m, v, length(m, hi, *lo));
    Node *at = ir_add(m, ir_var(w), *lo);
    *rest = ir_subst1(m, ir_bracket(m, others, body->args[1]), ir_var(v), at);
    return w;
}

Var *ir_narrow(Ir *m, Var *v, Node *body, Node **lo, Node **rest) { return narrow(m, v, body, false, lo, rest); }
Var *ir_narrow_all(Ir *m, Var *v, Node *body, Node **lo, Node **rest) { return narrow(m, v, body, true, lo, rest); }

enum { DEAR = 16 };

static bool dear(const Node *e, const Var *v, Map *seen) {
    if (!node_has_var(e, v) || map_get(seen, e)) return false;
    map_put(seen, e, (void *)e);
    if (ir_is_binder(e) || e->op == OP_final || e->op == OP_result || op_info[e->op].cost >= DEAR) return true;
    for (int i = 0; i < e->nargs; i++)
        if (dear(e->args[i], v, seen)) return true;
    return false;
}

// Has e a dear part that mentions v and no variable of lo? With v shifted by lo it would depend on these too, and could
// not be shared by their loops any more.
static bool entangles(const Node *e, const Var *v, const Node *lo, Map *seen) {
    if (!node_has_var(e, v) || map_get(seen, e)) return false;
    map_put(seen, e, (void *)e);
    if (!varset_meets(e->fv, lo->fv)) {
        Map inside = {0};
        bool r = dear(e, v, &inside);
        map_free(&inside);
        return r;
    }
    for (int i = 0; i < e->nargs; i++)
        if (entangles(e->args[i], v, lo, seen)) return true;
    return false;
}

// The bracket stays a bracket if narrowing the range would cost more than it saves.
static bool keeps_range(const Node *body, const Var *v, const Node *lo) {
    Map seen = {0};
    bool r = lo->fv->n && (entangles(body->args[0], v, lo, &seen) || entangles(body->args[1], v, lo, &seen));
    map_free(&seen);
    return r;
}

static bool varies(Poly p) {
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.term[i].n; k++)
            if (p.term[i].atom[k]->fv->n) return true;
    return false;
}

// How many sizes it takes to say p: terms that are not constant.
static int sizes_in(Poly p) {
    int n = 0;
    for (int i = 0; i < p.n; i++) n += p.term[i].n > 0;
    return n;
}

// The conditions that e is in a range which is simpler to say than that of v, where e is v or -v plus something else: e
// + 1 without v, and the sign of v in it. Returns the length of the range, or NULL.
static Node *simpler_range(Ir *m, const Var *v, const Conj *c, Poly *e, int64_t *sign) {
    Poly extent = poly_of(m, v->extent), a, b, best = {0, NULL};
    int least = varies(extent) ? 0 : sizes_in(extent);
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < c->n; j++) {
            int64_t k = linear_bound(m, c->p[i], v, &a);
            if (!k || linear_bound(m, c->p[j], v, &b) != -k) continue;
            Poly n = poly_add(m, poly_add(m, a, b), lit(m, -1));
            bool same = best.term && sizes_in(n) == least && a.n < e->n;
            if (varies(n) || (sizes_in(n) >= least && !same)) continue;
            least = sizes_in(n), best = n, *e = a, *sign = k;
        }
    return best.term ? poly_node(m, best) : NULL;
}

// The sum over that range.
static Node *anchored(Ir *m, const Var *v, const Conj *c, Node *body) {
    Poly e;
    int64_t sign;
    for (int i = 0; i < c->n; i++)
        if (c->p[i]->partial) return NULL;
    Node *n = simpler_range(m, v, c, &e, &sign);
    if (!n) return NULL;
    Node *rest = poly_node(m, sub(m, e, lit(m, 1)));
    if (keeps_range(body, v, rest) || !rule(m, RULE_sum_anchor)) return NULL;
    Var *w = ir_index_like(m, v, n);
    Node *at = sign > 0 ? ir_sub(m, ir_var(w), rest) : ir_sub(m, rest, ir_var(w));
    Node *inside = ir_and(m, ir_le(m, ir_int(m, 0), at), ir_lt(m, at, v->extent));
    return ir_sum(m, w, ir_bracket(m, inside, ir_subst1(m, body, ir_var(v), at)));
}

// Does another condition say what the remainder is of the division of which q is the quotient?
static bool says_remainder(const Conj *c, const Node *q) {
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < 2 && c->p[i]->op == OP_eq; k++) {
            const Node *r = c->p[i]->args[k];
            if (r->op == OP_irem && r->args[0] == q->args[0] && r->args[1] == q->args[1]) return true;
        }
    return false;
}

// If conjunct p says c = (rest + v) / b or (rest - v) / b, for b >= 1 and natural dividends: that these are in a
// range. Where c is an index, lowering can scatter through the quotient instead; so it does unless nothing is left of
// the sum then but a number that is 0 outside of a range of what else the dividend mentions.
static Node *in_part(Ir *m, const Conj *all, const Node *p, const Var *v, const Node *e) {
    if (p->op != OP_eq || p->args[0]->kind != KIND_INT || p->partial) return NULL;
    for (int k = 0; k < 2; k++) {
        const Node *q = p->args[k];
        Node *c = p->args[1 - k], *x = q->nargs ? q->args[0] : NULL, *b = x && q->nargs > 1 ? q->args[1] : NULL;
        Poly rest;
        int64_t by;
        if (q->op != OP_idiv || node_has_var(c, v) || node_has_var(b, v) || !x->nonneg) continue;
        if (c->op == OP_var && !says_remainder(all, q) && (all->n > 1 || node_has_var(e, v))) continue;
        if (!ir_bounded(x) || !ir_bounded(b) || !ir_bounded(c)) continue;
        if (!poly_nonneg(m, sub(m, poly_of(m, b), lit(m, 1)))) continue;
        if (!poly_linear(m, poly_of(m, x), ir_var(v), &by, &rest) || (by != 1 && by != -1)) continue;
        if (c->op == OP_var && !says_remainder(all, q) && (b->fv->n || !unit_affine(rest))) continue;
        Node *from = ir_mul(m, b, c);
        return ir_and(m, ir_le(m, from, x), ir_lt(m, x, ir_add(m, from, b)));
    }
    return NULL;
}

// The sum over that range, if it may be narrowed to it.
static Node *sum_of_part(Ir *m, Var *v, const Conj *c, Node *e) {
    for (int i = 0; i < c->n; i++) {
        Node *range = in_part(m, c, c->p[i], v, e), *all = ir_bool(m, true), *lo, *rest;
        if (!range) continue;
        for (int k = 0; k < c->n; k++) all = ir_and(m, all, k == i ? range : c->p[k]);
        Node *body = ir_bracket(m, all, e);
        Var *w = ir_narrow(m, v, body, &lo, &rest);
        if (w && !keeps_range(body, v, lo) && rule(m, RULE_sum_quotient)) return ir_sum(m, w, rest);
    }
    return NULL;
}

// The sum over the values of v of which a conjunct says the remainder: of v = b * w + r, for v % b = r. Where r is an
// index, lowering can scatter through the remainder instead.
static Node *sum_of_remainder(Ir *m, Var *v, const Conj *c, Node *body) {
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < 2 && c->p[i]->op == OP_eq && !c->p[i]->partial; k++) {
            Node *x = c->p[i]->args[k], *r = c->p[i]->args[1 - k], *rest = ir_bool(m, true);
            int64_t b;
            if (x->op != OP_irem || x->args[0] != ir_var(v) || !ir_is_int_lit(x->args[1], &b) || b < 2) continue;
            Node *last = ir_sub(m, ir_int(m, b - 1), r);
            if (node_has_var(r, v) || r->op == OP_var || r->partial || !v->extent->nonneg) continue;
            if (!poly_nonneg(m, poly_of(m, r)) || !poly_nonneg(m, poly_of(m, last))) continue;
            if (keeps_range(body, v, r) || !rule(m, RULE_sum_remainder)) continue;
            Var *w = ir_index_like(m, v, ir_op(m, OP_idiv, ir_add(m, v->extent, last), ir_int(m, b)));
            for (int q = 0; q < c->n; q++)
                if (q != i) rest = ir_and(m, rest, c->p[q]);
            Node *at = ir_add(m, ir_mul(m, ir_int(m, b), ir_var(w)), r);
            return ir_sum(m, w, ir_subst1(m, ir_bracket(m, rest, body->args[1]), ir_var(v), at));
        }
    return NULL;
}

// sum j ([p j] * sum i ([j = a i] * e i j)), or without p, which no condition on j alone solves: the sum over j is inside,
// for the j that i says. NULL if it is not of that form, or if e does not mention j: then it is an array by j.
//
//     sum j ([k = j % 4] * sum i ([j = min (n - 1) (2 * i)] * cos (x[j] * w[i])))
static Node *sum_through(Ir *m, Var *v, Node *body) {
    Conj c = {0};
    const bool bracket = body->op == OP_bracket;
    Node *sum = bracket ? body->args[1] : body, *a, *given = bracket ? body->args[0] : ir_bool(m, true);
    bool minus = sum->op == OP_neg;
    if (minus) sum = sum->args[0];
    if (m->strict || body->partial || sum->op != OP_sum || sum->rank || node_has_var(sum->u.var->extent, v)) return NULL;
    Var *w = ir_index_like(m, sum->u.var, sum->u.var->extent);
    Node *e = ir_subst1(m, sum->args[0], ir_var(sum->u.var), ir_var(w));
    if (e->op != OP_bracket || !node_has_var(e->args[1], v) || !collect(e->args[0], &c)) return NULL;
    bool solved = false;
    for (int i = 0; i < c.n && !solved; i++) solved = solves(m, &c, i, v, &a);
    if (!solved || !rule(m, RULE_sum_through)) return NULL;
    Node *inside = ir_sum(m, v, ir_bracket(m, ir_and(m, given, e->args[0]), e->args[1]));
    Node *out = ir_sum(m, w, inside);
    return minus ? ir_neg(m, out) : out;
}

static Node *sum_of_bracket(Ir *m, Var *v, Node *body) {
    Conj all = {0}, inner = {0};
    if (!collect(body->args[0], &all)) return NULL;
    Node *outer = ir_bool(m, true), *e = body->args[1], *a;
    for (int i = 0; i < all.n; i++)
        if (node_has_var(all.p[i], v) || all.p[i]->partial) inner.p[inner.n++] = all.p[i];
        else outer = ir_and(m, outer, all.p[i]);
    if (inner.n < all.n && rule(m, RULE_sum_bracket))
        return ir_bracket(m, outer, ir_sum(m, v, ir_bracket(m, conjunction(m, &inner, -1), e)));
    for (int i = 0; i < all.n; i++)
        if (solves(m, &all, i, v, &a) && rule(m, RULE_sum_solve)) {
            pass_on(m, v, a);
            return eliminate(m, v, &all, i, a, e);
        }
    Node *lo, *rest, *sum = sum_through(m, v, body);
    if (!sum) sum = sum_of_part(m, v, &all, e);
    if (!sum) sum = sum_of_remainder(m, v, &all, body);
    if (!sum) sum = anchored(m, v, &all, body);
    if (sum) return sum;
    Var *w = ir_narrow(m, v, body, &lo, &rest);
    return w && !keeps_range(body, v, lo) && rule(m, RULE_sum_narrow) ? ir_sum(m, w, rest) : NULL;
}

// Would the sum of e over v vanish by an equality?
static bool solvable(Ir *m, const Var *v, Node *e) {
    Conj c = {0};
    Node *a;
    if (e->op == OP_neg) return solvable(m, v, e->args[0]);
    if (e->op != OP_bracket || !collect(e->args[0], &c)) return false;
    for (int i = 0; i < c.n; i++)
        if (solves(m, &c, i, v, &a)) return true;
    return false;
}

// May e be infinite or NaN although the arguments and states that it mentions are finite and not large?
static bool may_be_infinite(const Node *e, int *fuel) {
    if (e->op == OP_lit) return kind_is_float(e->kind) && !isfinite(e->u.real);
    if (!kind_is_float(e->kind) || e->op == OP_input || e->op == OP_param || e->op == OP_var) return false;
    if (--*fuel < 0 || e->op == OP_fold || e->op == OP_while || e->op == OP_extern || ir_has_pole(e)) return true;
    for (int i = 0; i < e->nargs; i++)
        if (may_be_infinite(e->args[i], fuel)) return true;
    return false;
}

bool ir_may_be_infinite(const Node *e) {
    int fuel = 32;
    return may_be_infinite(e, &fuel);
}

// A sum over v whose terms have a factor in common, as a product: an empty sum is 0 even if the factor is not finite.
static Node *unless_empty(Ir *m, const Var *v, bool infinite, Node *product) {
    return infinite ? ir_bracket(m, ir_lt(m, ir_int(m, 0), v->extent), product) : product;
}

// Of one factor of a product. A sum that is empty in some iterations of loops would have to ask for that each time.
static Node *hoist_divisor(Ir *m, Var *v, Node *a, Node *b) {
    for (int k = 0; k < 2 && m->fast; k++) {
        Node *q = k ? a : b, *other = k ? b : a, *d = q->op == OP_div ? q->args[1] : NULL;
        if (!d || d->partial || node_has_var(d, v) || (ir_has_pole(q) && v->extent->fv->n)) continue;
        if (!rule(m, RULE_sum_divisor)) continue;
        return unless_empty(m, v, ir_has_pole(q), ir_div(m, ir_sum(m, v, ir_mul(m, other, q->args[0])), d));
    }
    return NULL;
}

// e less the mean of all e?
static bool is_deviation(Ir *m, Var *v, const Node *body) {
    const Node *mean = body->args[1];
    if (body->op != OP_sub || mean->op != OP_div || mean->args[0]->op != OP_sum || node_has_var(mean, v)) return false;
    const Node *n = mean->args[1], *sum = mean->args[0];
    return n->op == OP_conv && n->args[0] == v->extent && sum->u.var->extent == v->extent && ir_sum(m, v, body->args[0]) == sum;
}

// Factors that do not mention v move out; they must not raise an error that an empty sum would not.
static Node *hoist(Ir *m, Var *v, Node *body) {
    Node *a = body->args[0], *b = body->args[1];
    bool fa = !node_has_var(a, v), fb = !node_has_var(b, v), product = body->op == OP_mul;
    if (product && !fa && !fb) return hoist_divisor(m, v, a, b);
    if ((!product && !fb) || !rule(m, RULE_sum_factor)) return NULL;
    if (product && fa) return unless_empty(m, v, a->partial || ir_may_be_infinite(a), ir_mul(m, a, ir_sum(m, v, b)));
    if (product) return unless_empty(m, v, b->partial || ir_may_be_infinite(b), ir_mul(m, ir_sum(m, v, a), b));
    return unless_empty(m, v, b->partial || ir_has_pole(body), ir_div(m, ir_sum(m, v, a), b));
}

// The sum of all elements of an array with one element that is not zero is that element. It is evaluated as often as
// the array, whose variables it mentions, and once then.
static Node *sum_of_elements(Ir *m, Var *v, Node *body) {
    Node *g = body->args[0];
    if (body->nargs != 2 || body->args[1] != ir_var(v) || g->op != OP_gen || node_has_var(g, v)) return NULL;
    Var *w = g->u.var;
    if (w->extent != v->extent || !solvable(m, w, g->args[0]) || !rule(m, RULE_sum_element)) return NULL;
    return ir_sum(m, w, g->args[0]);
}

// b < a, of extremes: of each of their operands.
static Node *is_above(Ir *m, Node *a, Node *b) {
    if (a->op == OP_min) return ir_and(m, is_above(m, a->args[0], b), is_above(m, a->args[1], b));
    if (b->op == OP_max) return ir_and(m, is_above(m, a, b->args[0]), is_above(m, a, b->args[1]));
    if (a->op == OP_sub) return is_above(m, a->args[0], ir_add(m, a->args[1], b));
    return ir_lt(m, b, a);
}

// The sum of what does not mention v. What is counted of the values of other variables is 0 for most of them, and the
// condition says for which: sums over these are narrow.
//
//     sum i < n (sum j < max 0 (min 4 (2 k + 2 - i) - max 0 (2 k - i)) 1)
//         = sum i < n ([i < 2 k + 2 && 2 k - i < 4] (min 4 (2 k + 2 - i) - max 0 (2 k - i)))
static Node *sum_of_constant(Ir *m, Var *v, Node *body) {
    Node *trips = ir_trips(m, v->extent), *n = trips;
    bool guarded = body->partial || ir_may_be_infinite(body);
    for (int k = 0; k < 2 && trips->op == OP_max && trips->fv->n && !trips->partial; k++)
        if (ir_is_lit(trips->args[k], 0)) n = trips->args[1 - k];
    if (n == trips) return unless_empty(m, v, guarded, ir_mul(m, trip_count(m, v, body->kind), body));
    return ir_bracket(m, is_above(m, n, ir_int(m, 0)), ir_mul(m, ir_conv(m, body->kind, n), body));
}

// Is w still in a sum over v of e when each of its terms has factors without v outside?
static bool stays_inside(const Node *e, Var *v, Var *w, int *fuel) {
    if (!node_has_var(e, w) || !node_has_var(e, v)) return false;
    if (--*fuel < 0) return true;
    switch (e->op) {
    case OP_neg: return stays_inside(e->args[0], v, w, fuel);
    case OP_add: return stays_inside(e->args[0], v, w, fuel) || stays_inside(e->args[1], v, w, fuel);
    case OP_mul:
        if (!node_has_var(e->args[0], v)) return stays_inside(e->args[1], v, w, fuel);
        return node_has_var(e->args[1], v) || stays_inside(e->args[0], v, w, fuel);
    case OP_div: return node_has_var(e->args[1], v) || stays_inside(e->args[0], v, w, fuel);
    default: return true;
    }
}

// Do the sums of the terms not depend on a variable that the sum of all does, as the tangent of a product of sums:
// sum j (x[i] * y[j] + y[i] * x[j])? Then they are sums outside of that variable's loop. What is subtracted stays with
// what it is subtracted from, since it may cancel it.
static bool terms_are_apart(const Ir *m, Var *v, const Node *body) {
    enum { MOST_TERMS = 64 };
    if (m->strict || m->debug_nan || body->op == OP_sub) return false;
    for (int i = 0; i < body->fv->n; i++) {
        int fuel = MOST_TERMS;
        if (body->fv->v[i] != v && !stays_inside(body, v, body->fv->v[i], &fuel)) return true;
    }
    return false;
}

Node *rule_sum(Ir *m, Var *v, Node *body) {
    int64_t n;
    if (ir_is_int_lit(v->extent, &n)) {
        if (n <= 0 && rule(m, RULE_sum_empty)) return ir_zero(m, body->kind);
        if (n == 1 && rule(m, RULE_sum_single)) return ir_subst1(m, body, ir_var(v), ir_int(m, 0));
    }
    if (ir_is_zero(body) && rule(m, RULE_sum_zero)) return body;
    if (!node_has_var(body, v)) {
        if ((m->strict && kind_is_float(body->kind)) || !rule(m, RULE_sum_constant)) return NULL;
        return sum_of_constant(m, v, body);
    }
    bool real = kind_is_float(body->kind);
    switch (body->op) {
    case OP_bracket: return sum_of_bracket(m, v, body);
    case OP_sum: return sum_through(m, v, body);
    case OP_at: return sum_of_elements(m, v, body);
    case OP_neg: return !rule(m, RULE_sum_neg) ? NULL : ir_neg(m, ir_sum(m, v, body->args[0]));
    case OP_mul:
    case OP_div: return real && !m->strict ? hoist(m, v, body) : NULL;
    case OP_add:
    case OP_sub:
        if (m->fast && real && is_deviation(m, v, body) && rule(m, RULE_sum_deviation)) return ir_zero(m, body->kind);
        if (!solvable(m, v, body->args[0]) && !solvable(m, v, body->args[1]) &&
            !(real && terms_are_apart(m, v, body)))
            return NULL;
        if (!rule(m, RULE_sum_split)) return NULL;
        return ir_op(m, body->op, ir_sum(m, v, body->args[0]), ir_sum(m, v, body->args[1]));
    default: return NULL;
    }
}

// ---- arrays that are zero except at computed indices

bool ir_guards_sums(const Node *e, Var *const *v, int n) {
    if (e->op != OP_bracket || (e->args[1]->op != OP_sum && e->args[1]->op != OP_neg)) return false;
    for (int k = 0; k < n; k++)
        if (node_has_var(e->args[0], v[k])) return false;
    return true;
}

bool ir_scatters(Ir *m, Node *e, Var *const *v, int n, Node **fixed) {
    Conj c = {0};
    for (bool guard; (guard = ir_guards_sums(e, v, n)) || e->op == OP_sum || e->op == OP_neg; e = e->args[guard])
        for (int k = 0; k < n; k++)
            if (e->op == OP_sum && (e->u.var == v[k] || node_has_var(e->u.var->extent, v[k])))
                return false; // what is inside speaks of another v[k], or what runs over it depends on this one
    if (e->op != OP_bracket || !collect(e->args[0], &c)) return false;
    bool any = false;
    for (int k = 0; k < n; k++) {
        fixed[k] = NULL;
        for (int j = 0; j < c.n && !fixed[k]; j++) {
            Node *a = ir_solve(m, c.p[j], v[k]);
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

// Not more than max.
static int count_addends(const Node *e, int max) {
    if (e->op == OP_neg) return count_addends(e->args[0], max);
    if ((e->op != OP_add && e->op != OP_sub) || max < 2) return 1;
    int n = count_addends(e->args[0], max - 1);
    return n + count_addends(e->args[1], max - n);
}

enum { MAX_TERMS = 10000, MAX_RANK = 16, MAX_PARTS = 64 };

// A term as a sum of parts, each of them under all conditions that decide whether it counts.
typedef struct Parts {
    Ir *m;
    Var *const *v;
    int rank;
    Node **part;
    int n; // -1: too many
} Parts;

static void add_parts(Parts *p, Node *e, Node *guard, bool negative) {
    Ir *m = p->m;
    Node *fixed[MAX_RANK];
    if (p->n < 0 || ir_is_zero(e)) return;
    switch (e->op) {
    case OP_add:
    case OP_sub:
        add_parts(p, e->args[0], guard, negative);
        add_parts(p, e->args[1], guard, negative != (e->op == OP_sub));
        return;
    case OP_neg: add_parts(p, e->args[0], guard, !negative); return;
    case OP_select:
        add_parts(p, e->args[1], ir_and(m, guard, e->args[0]), negative);
        add_parts(p, e->args[2], ir_and(m, guard, ir_not(m, e->args[0])), negative);
        return;
    case OP_bracket:
        if (ir_scatters(m, e, p->v, p->rank, fixed)) break;
        add_parts(p, e->args[1], ir_and(m, guard, e->args[0]), negative);
        return;
    default: break;
    }
    if (p->n == MAX_PARTS) p->n = -1;
    else p->part[p->n++] = negative ? ir_neg(m, ir_bracket(m, guard, e)) : ir_bracket(m, guard, e);
}

// The parts of a term if all of them scatter, else the term itself. A sum of several addends is several sums, and so is
// a choice between them,
//
//     sum i (if c then [p = k] a else [q = k] b) = sum i ([c && p = k] a) + sum i ([!c && q = k] b)
static int scattered_parts(Ir *m, Node *e, Var *const *v, int rank, Node **part) {
    Node *body = e, *over[MAX_RANK], *fixed[MAX_RANK];
    int depth = 0, all = 0;
    for (; body->op == OP_sum && depth < MAX_RANK; body = body->args[0]) over[depth++] = body;
    Parts p = {m, v, rank, part, 0};
    add_parts(&p, body, ir_bool(m, true), false);
    for (int i = 0; i < p.n; i++)
        for (int k = depth; k-- > 0;) part[i] = ir_binder_plain(m, OP_sum, over[k]->u.var, part[i]);
    while (all < p.n && ir_scatters(m, part[all], v, rank, fixed)) all++;
    if (all > 1 && all == p.n) return all;
    part[0] = e;
    return 1;
}

static int split_sums(Ir *m, int n, Node ***term, Var *const *v, int rank) {
    Node *part[MAX_PARTS], **out;
    int total = 0;
    for (int i = 0; i < n; i++) total += scattered_parts(m, (*term)[i], v, rank, part);
    if (total == n) return n;
    out = ARENA_ARRAY(m->arena, Node *, total);
    for (int i = 0, k = 0; i < n; i++) {
        int count = scattered_parts(m, (*term)[i], v, rank, part);
        for (int j = 0; j < count; j++) out[k++] = part[j];
    }
    *term = out;
    return total;
}

// The terms of [c] (a + b), where c says nothing of the indices, if one of [c] a and [c] b scatters. Returns their
// number, or 0.
static int guarded_terms(Ir *m, Node *e, Var *const *v, int rank, Node ***term) {
    Node *fixed[MAX_RANK], *body = e->op == OP_bracket ? e->args[1] : e;
    bool any = false;
    if (e == body || (body->op != OP_add && body->op != OP_sub)) return 0;
    for (int k = 0; k < rank; k++)
        if (node_has_var(e->args[0], v[k])) return 0;
    int count = count_addends(body, MAX_TERMS);
    *term = ARENA_ARRAY(m->arena, Node *, count);
    count = split_sums(m, addends(m, body, false, *term, count), term, v, rank);
    for (int i = 0; i < count; i++) {
        (*term)[i] = ir_bracket(m, e->args[0], (*term)[i]);
        any |= ir_scatters(m, (*term)[i], v, rank, fixed);
    }
    return any ? count : 0;
}

int ir_terms(Ir *m, Node *e, Var **v, int *n, Node ***term) {
    *n = 0;
    for (; e->op == OP_gen && *n < MAX_RANK; e = e->args[0]) v[(*n)++] = e->u.var;
    if (*n == 0 || e->rank || e->kind == KIND_BOOL || e->kind == KIND_INT32) return 0;
    int count = guarded_terms(m, e, v, *n, term);
    if (count) return count;
    count = count_addends(e, MAX_TERMS);
    *term = ARENA_ARRAY(m->arena, Node *, count);
    return split_sums(m, addends(m, e, false, *term, count), term, v, *n);
}

bool ir_has_scatter(Ir *m, Node *e) {
    Var *v[MAX_RANK];
    Node **term, *fixed[MAX_RANK];
    int n, terms = ir_terms(m, e, v, &n, &term);
    for (int i = 0; i < terms; i++)
        if (ir_scatters(m, term[i], v, n, fixed)) return true;
    return false;
}
