// Sums over data that a loop computes again and again, with other scalars each time, become polynomials in these scalars
// ([CO] section 4.4, Fig. 6): their coefficients, the moments, are computed once, outside of the loop.
//
//   fold s in … sum i (x[i] * (y[i] - x[i] * s)) …
//   is  fold s in … (a - b * s) …  where a = sum i (x[i] * y[i]), b = sum i (x[i] * x[i])
//
// n records and m iterations cost n + m instead of n * m. Terms that nearly cancel lose digits, so this is for Ir.fast, and for
// sums of which an attribute says so.
#include "pass/pass.h"

#include "ir/rule.h"

#include <string.h>

enum { MAX_DEGREE = 8, MAX_TERMS = 24, MAX_MOMENTS = 8, MAX_POWER = 4, ENOUGH = 1000000 };

// c * the product of s * the product of d: only s changes with the loops that the sum is to leave (`left`), and only d with
// the sum's variable. Both are sorted by id.
typedef struct Monomial {
    double c;
    int ns, nd;
    Node *s[MAX_DEGREE], *d[MAX_DEGREE];
} Monomial;

typedef struct Expansion {
    int n;
    Monomial term[MAX_TERMS];
} Expansion;

typedef struct Moments {
    Ir *m;
    Map loop_of;         // state -> the loop that binds it
    Map common;          // extent -> the variable that moments over it have
    const Var *v;        // the sum's variable
    const VarSet *stays; // variables with which moments would change
    bool partial;        // a scalar may fail
} Moments;

static bool varies(const Moments *x, const Node *e) { return node_has_var(e, x->v); }

// Does e change with a loop that the sum is to leave?
static bool leaves(const Moments *x, const Node *e) {
    for (int k = 0; k < e->fv->n; k++)
        if (!varset_has(x->stays, e->fv->v[k])) return true;
    return false;
}

static bool small_power(const Node *e, int64_t *k) {
    return e->op == OP_powi && ir_is_int_lit(e->args[1], k) && *k >= 2 && *k <= MAX_POWER;
}

// The variables of what is not a polynomial in the rest of e. What does not vary is a scalar, whatever it is.
static const VarSet *rigid(Moments *x, Node *e) {
    Ir *m = x->m;
    int64_t k;
    if (!varies(x, e)) return varset_empty;
    switch (e->op) {
    case OP_neg: return rigid(x, e->args[0]);
    case OP_add:
    case OP_sub:
    case OP_mul: return varset_union(m, rigid(x, e->args[0]), rigid(x, e->args[1]));
    case OP_div: return varset_union(m, rigid(x, e->args[0]), varies(x, e->args[1]) ? e->args[1]->fv : varset_empty);
    case OP_bracket: return varset_union(m, e->args[0]->fv, rigid(x, e->args[1]));
    default: return small_power(e, &k) ? rigid(x, e->args[0]) : e->fv;
    }
}

static bool insert(Node **set, int *n, Node *e) {
    if (*n == MAX_DEGREE) return false;
    int k = (*n)++;
    for (; k > 0 && set[k - 1]->id > e->id; k--) set[k] = set[k - 1];
    set[k] = e;
    return true;
}

static bool same(int n, Node *const *a, int k, Node *const *b) { return n == k && !memcmp(a, b, sizeof *a * (size_t)n); }

static bool add_term(Expansion *out, const Monomial *t) {
    for (int i = 0; i < out->n; i++) {
        Monomial *o = &out->term[i];
        if (!same(o->ns, o->s, t->ns, t->s) || !same(o->nd, o->d, t->nd, t->d)) continue;
        o->c += t->c;
        return true;
    }
    if (out->n == MAX_TERMS) return false;
    out->term[out->n++] = *t;
    return true;
}

static bool multiply(const Expansion *a, const Expansion *b, Expansion *out) {
    out->n = 0;
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++) {
            Monomial t = a->term[i];
            const Monomial *u = &b->term[j];
            t.c *= u->c;
            for (int k = 0; k < u->ns; k++)
                if (!insert(t.s, &t.ns, u->s[k])) return false;
            for (int k = 0; k < u->nd; k++)
                if (!insert(t.d, &t.nd, u->d[k])) return false;
            if (!add_term(out, &t)) return false;
        }
    return true;
}

static bool expand(Moments *x, Node *e, Expansion *out);

static bool expand_product(Moments *x, Node *a, Node *b, Expansion *out) {
    Expansion l, r;
    return expand(x, a, &l) && expand(x, b, &r) && multiply(&l, &r, out);
}

static bool expand_sum(Moments *x, Node *a, Node *b, double sign, Expansion *out) {
    Expansion r;
    if (!expand(x, a, out) || !expand(x, b, &r)) return false;
    for (int i = 0; i < r.n; i++) {
        r.term[i].c *= sign;
        if (!add_term(out, &r.term[i])) return false;
    }
    return true;
}

// e as a factor of one monomial.
static bool factor(Moments *x, Node *e, Expansion *out) {
    Monomial *t = &out->term[0];
    *t = (Monomial){.c = 1};
    out->n = 1;
    if (e->op == OP_lit) t->c = e->u.real;
    else if (leaves(x, e)) t->s[t->ns++] = e, x->partial |= e->partial || ir_may_be_infinite(e);
    else t->d[t->nd++] = e;
    return true;
}

static bool expand(Moments *x, Node *e, Expansion *out) {
    bool mixed = varies(x, e) && leaves(x, e);
    Node *one = ir_real(x->m, e->kind, 1);
    int64_t k;
    if (e->op == OP_mul) return expand_product(x, e->args[0], e->args[1], out);
    if (e->op == OP_neg) return expand_product(x, ir_real(x->m, e->kind, -1), e->args[0], out);
    if (!mixed) return factor(x, e, out);
    switch (e->op) {
    case OP_add: return expand_sum(x, e->args[0], e->args[1], 1, out);
    case OP_sub: return expand_sum(x, e->args[0], e->args[1], -1, out);
    case OP_div: return expand_product(x, e->args[0], ir_div(x->m, one, e->args[1]), out);
    case OP_bracket: return expand_product(x, ir_bracket(x->m, e->args[0], one), e->args[1], out);
    default: break;
    }
    if (!small_power(e, &k) || !expand(x, e->args[0], out)) return false;
    Expansion base = *out, power;
    for (; k > 1; k--) {
        if (!multiply(out, &base, &power)) return false;
        *out = power;
    }
    return true;
}

static Node *product(Ir *m, Kind kind, double c, int n, Node *const *e) {
    Node *p = NULL;
    for (int i = 0; i < n; i++) p = p ? ir_mul(m, p, e[i]) : e[i];
    return p ? c == 1 ? p : ir_mul(m, ir_real(m, kind, c), p) : ir_real(m, kind, c);
}

// The sum of e over v. Factors are in the order of their making: with one variable for all, equal moments are one value.
static Node *moment(Moments *x, Var *v, Node *e) {
    Var *w = map_get(&x->common, v->extent);
    if (!w) map_put(&x->common, v->extent, w = v);
    if (w == v || node_has_var(e, w) || ir_binds(e, w)) return ir_sum(x->m, v, e);
    return ir_sum(x->m, w, ir_subst1(x->m, e, ir_var(v), ir_var(w)));
}

// The sum of the terms: those with the same data have one moment. *count gets how many moments there are.
static Node *collected(Moments *x, Node *sum, const Expansion *p, int *count) {
    Ir *m = x->m;
    Node *total = ir_zero(m, sum->kind);
    bool done[MAX_TERMS] = {0};
    *count = 0;
    for (int i = 0; i < p->n; i++) {
        const Monomial *t = &p->term[i];
        Node *scalars = ir_zero(m, sum->kind);
        for (int j = i; j < p->n; j++) {
            const Monomial *u = &p->term[j];
            if (done[j] || !same(t->nd, t->d, u->nd, u->d)) continue;
            done[j] = true;
            scalars = ir_add(m, scalars, product(m, sum->kind, u->c, u->ns, u->s));
        }
        if (ir_is_zero(scalars)) continue;
        Node *data = product(m, sum->kind, 1, t->nd, t->d), *coefficient = moment(x, sum->u.var, data);
        *count += varies(x, data);
        total = ir_add(m, total, ir_mul(m, scalars, coefficient));
    }
    if (x->partial) total = ir_bracket(m, ir_lt(m, ir_int(m, 0), sum->u.var->extent), total);
    return total;
}

// How often the loops over the variables that the sum leaves compute it, at least; ENOUGH if that is not known.
static int64_t repetitions(const Moments *x, const Node *sum) {
    int64_t total = 1;
    for (int i = 0; i < sum->fv->n; i++) {
        const Var *u = sum->fv->v[i];
        if (varset_has(x->stays, u)) continue;
        const Node *loop = u->is_state ? map_get(&x->loop_of, ir_var(u)) : NULL;
        const Node *n = !u->is_state ? u->extent : loop && loop->op == OP_fold ? ir_loop(loop)->index->extent : NULL;
        int64_t k;
        if (!n || !ir_is_int_lit(n, &k) || k > ENOUGH) return ENOUGH;
        if (!u->is_state) total *= k;
        else if (k > total) total = k; // the states of one loop change together
        if (total > ENOUGH) return ENOUGH;
    }
    return total;
}

// Is it cheaper to compute the moments once and a polynomial of `terms` terms each time?
static bool pays(const Moments *x, const Node *sum, int terms, int moments) {
    int64_t n;
    if (moments > MAX_MOMENTS || repetitions(x, sum) < 2 * moments) return false;
    return !ir_is_int_lit(sum->u.var->extent, &n) || n > 2 * terms;
}

// Is it an element of an array to whose elements numbered so the terms are added? That costs as much as there are terms, and
// moments would be one for each element, of which there may be any number.
static bool is_scattered(Ir *m, Node *sum) {
    Node *fixed;
    for (int i = 0; i < sum->fv->n; i++)
        if (!sum->fv->v[i]->is_state && ir_scatters(m, sum, &sum->fv->v[i], 1, &fixed)) return true;
    return false;
}

// The sum by its moments; NULL if it has none, or they do not pay.
static Node *by_moments(Ir *m, Moments *x, Node *sum) {
    Expansion p;
    int count;
    if (sum->rank || !kind_is_float(sum->kind) || sum->fv->n == 0 || is_scattered(m, sum)) return NULL;
    x->v = sum->u.var, x->partial = false;
    x->stays = varset_union(m, varset_union(m, sum->u.var->extent->fv, ir_var(x->v)->fv), rigid(x, sum->args[0]));
    if (!leaves(x, sum) || !expand(x, sum->args[0], &p)) return NULL;
    Node *by = collected(x, sum, &p, &count);
    if (!pays(x, sum, p.n, count) || !rule(m, RULE_moments)) return NULL;
    explain(m->explain, EXPLAIN_LOOPS, sum->span, "moments: %s: %d %s computed once, outside of the loop that repeats it",
            ir_quote(m, sum), count, count == 1 ? "sum is" : "sums are");
    return by;
}

static Node *change(Ir *m, Node *e, void *data) {
    Wish *wish = e->op == OP_sum ? e->u.var->wishes.of[WISH_reassociate] : NULL;
    Node *by = e->op == OP_sum && (m->fast || wish) ? by_moments(m, data, e) : NULL;
    if (by && wish) wish_follow(wish);
    return by ? by : e;
}

static void note_states(Node *e, void *data) {
    if (!ir_is_loop(e)) return;
    for (int k = 0; k < ir_loop(e)->n; k++) map_put(data, ir_var(ir_loop(e)->state[k]), e);
}

void pass_moments(Func *f) {
    if (!f->ir->fast && !f->ir->wishes) return;
    Moments x = {.m = f->ir};
    ir_walk(func_roots(f), f->outputs, note_states, &x.loop_of);
    for (int i = 0; i < func_roots(f); i++) f->outputs[i] = ir_change(f->ir, f->outputs[i], change, &x);
    map_free(&x.loop_of);
    map_free(&x.common);
}
