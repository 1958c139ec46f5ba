// Polynomials over Int atoms: the normal form of index and size arithmetic. Equal sizes become equal nodes, and bounds
// are decided by eliminating index variables at the ends of their ranges.
#include "ir/internal.h"

#include <stdlib.h>
#include <string.h>

static int atoms_cmp(const Term *a, const Term *b) {
    if (a->n != b->n) return b->n - a->n; // higher degrees first, the constant last
    for (int i = 0; i < a->n; i++)
        if (a->atom[i] != b->atom[i]) return a->atom[i]->id < b->atom[i]->id ? -1 : 1;
    return 0;
}

static int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

Poly poly_add(Ir *m, Poly a, Poly b) {
    Poly r = {0, ARENA_ARRAY(m->polys, Term, a.n + b.n)};
    for (int i = 0, j = 0; i < a.n || j < b.n;) {
        int c = i == a.n ? 1 : j == b.n ? -1 : atoms_cmp(&a.term[i], &b.term[j]);
        Term t = c <= 0 ? a.term[i++] : b.term[j++];
        if (c == 0) t.coeff = wrap_add(t.coeff, b.term[j++].coeff);
        if (t.coeff) r.term[r.n++] = t;
    }
    return r;
}

Poly poly_scale(Ir *m, Poly a, int64_t k) {
    Poly r = {0, ARENA_ARRAY(m->polys, Term, a.n)};
    for (int i = 0; i < a.n; i++) {
        Term t = a.term[i];
        t.coeff = wrap_mul(t.coeff, k);
        if (t.coeff) r.term[r.n++] = t;
    }
    return r;
}

static Term term_mul(Ir *m, Term a, Term b) {
    Term t = {wrap_mul(a.coeff, b.coeff), 0, ARENA_ARRAY(m->polys, Node *, a.n + b.n)};
    for (int i = 0, j = 0; i < a.n || j < b.n;)
        t.atom[t.n++] = j == b.n || (i < a.n && a.atom[i]->id <= b.atom[j]->id) ? a.atom[i++] : b.atom[j++];
    return t;
}

Poly poly_mul(Ir *m, Poly a, Poly b) {
    Poly r = {0, NULL};
    for (int i = 0; i < a.n; i++) {
        Poly row = {0, NULL};
        for (int j = 0; j < b.n; j++) { // products of one term need not come out sorted
            Term t = term_mul(m, a.term[i], b.term[j]);
            row = poly_add(m, row, (Poly){t.coeff != 0, arena_copy(m->polys, &t, sizeof t)});
        }
        r = poly_add(m, r, row);
    }
    return r;
}

static Poly poly_lit(Ir *m, int64_t k) {
    Term t = {k, 0, NULL};
    return (Poly){k != 0, arena_copy(m->polys, &t, sizeof t)};
}

Poly poly_of(Ir *m, Node *e) {
    switch (e->op) {
    case OP_lit: return poly_lit(m, e->u.num);
    case OP_add: return poly_add(m, poly_of(m, e->args[0]), poly_of(m, e->args[1]));
    case OP_sub: return poly_add(m, poly_of(m, e->args[0]), poly_scale(m, poly_of(m, e->args[1]), -1));
    case OP_neg: return poly_scale(m, poly_of(m, e->args[0]), -1);
    case OP_mul:
        if (!e->opaque) return poly_mul(m, poly_of(m, e->args[0]), poly_of(m, e->args[1]));
        // fall through
    default: {
        Term t = {1, 1, arena_copy(m->polys, &e, sizeof e)};
        return (Poly){1, arena_copy(m->polys, &t, sizeof t)};
    }
    }
}

bool poly_const(Poly p, int64_t *value) {
    if (p.n > 1 || (p.n == 1 && p.term[0].n)) return false;
    *value = p.n ? p.term[0].coeff : 0;
    return true;
}

bool poly_huge(Poly p) {
    const int64_t limit = INT64_C(1) << 32;
    for (int i = 0; i < p.n; i++)
        if (p.term[i].coeff > limit || p.term[i].coeff < -limit) return true;
    return false;
}

// ---- overflow: a proof in the integers says nothing about a value that wraps around. Index variables and sizes are as
// small as memory and time are; an Int from outside, or an element of an array of them, may be anything. What is
// unbounded in a polynomial is one unknown to a proof, which knows about it what a condition compares (see `sides` in
// rules.c: with all that is bounded on the other side).

static bool is_bounded(const Node *e, bool above) { return above ? e->bounded_above : e->bounded_below; }

// The least and the greatest element of an array literal of Ints.
static bool table_range(const Node *table, int64_t *least, int64_t *most) {
    enum { MAX_ELEMENTS = 1024 };
    if (table->op != OP_pack || table->kind != KIND_INT || table->nargs == 0 || table->nargs > MAX_ELEMENTS) return false;
    *least = INT64_MAX, *most = INT64_MIN;
    for (int i = 0; i < table->nargs; i++) {
        int64_t x;
        if (!ir_is_int_lit(table->args[i], &x)) return false;
        if (x < *least) *least = x;
        if (x > *most) *most = x;
    }
    return true;
}

// What the elements of an array of Ints are, in terms of the variables of its dimensions; NULL: it is no such array.
static const Node *element_of(const Node *array) {
    const Node *e = array;
    for (; e->op == OP_gen; e = e->args[0]) continue;
    return e != array && e->rank == 0 && e->kind == KIND_INT ? e : NULL;
}

bool ir_nonneg_elements(const Node *a) {
    int64_t least, most;
    const Node *e = element_of(a);
    return e ? e->nonneg && ir_bounded(e) : table_range(a, &least, &most) && least >= 0;
}

static bool bounded_from(const Node *e, bool above) {
    int64_t least, most;
    const Node *a = e->nargs > 0 ? e->args[0] : NULL, *b = e->nargs > 1 ? e->args[1] : NULL;
    switch (e->op) {
    case OP_lit:
    case OP_argmin:
    case OP_argmax: return true;
    case OP_var: return !e->u.var->is_state;
    case OP_input: return e->nonneg;
    case OP_param: return true; // an auxiliary unknown
    case OP_conv: return a->kind == KIND_BOOL || a->kind == KIND_INT32;
    case OP_add: return is_bounded(a, above) && is_bounded(b, above);
    case OP_sub: return is_bounded(a, above) && is_bounded(b, !above);
    case OP_neg: return is_bounded(a, !above);
    case OP_mul: return ir_bounded(a) && ir_bounded(b);
    case OP_idiv:
    case OP_abs: return ir_bounded(a) && (!b || ir_bounded(b));
    case OP_irem: return ir_bounded(a) || ir_bounded(b);
    case OP_min: return above ? is_bounded(a, true) || is_bounded(b, true) : is_bounded(a, false) && is_bounded(b, false);
    case OP_max: return above ? is_bounded(a, true) && is_bounded(b, true) : is_bounded(a, false) || is_bounded(b, false);
    case OP_select: return is_bounded(b, above) && is_bounded(e->args[2], above);
    case OP_bracket: return is_bounded(b, above);
    case OP_at:
        if (element_of(a)) return is_bounded(element_of(a), above);
        return table_range(a, &least, &most) && least >= -INT32_MAX && most <= INT32_MAX;
    default: return false;
    }
}

void ir_set_bounded(Node *e) {
    e->bounded_above = bounded_from(e, true);
    e->bounded_below = bounded_from(e, false);
}

bool ir_bounded(const Node *e) { return e->bounded_above && (e->nonneg || e->bounded_below); }

void poly_unbounded(Ir *m, Poly p, Poly *bounded, Poly *rest) {
    *bounded = (Poly){0, ARENA_ARRAY(m->polys, Term, p.n)}, *rest = (Poly){0, ARENA_ARRAY(m->polys, Term, p.n)};
    for (int i = 0; i < p.n; i++) {
        bool small = true;
        for (int k = 0; k < p.term[i].n; k++) small &= ir_bounded(p.term[i].atom[k]);
        Poly *to = small ? bounded : rest;
        to->term[to->n++] = p.term[i];
    }
}

// p with what is unbounded in it as one atom.
static Poly opaque(Ir *m, Poly p) {
    Poly bounded, rest;
    poly_unbounded(m, p, &bounded, &rest);
    if (rest.n == 0 || (rest.n == 1 && rest.term[0].n == 1 && rest.term[0].coeff * rest.term[0].coeff == 1)) return p;
    int64_t sign = rest.term[0].coeff < 0 ? -1 : 1;
    Node *e = poly_node(m, poly_scale(m, rest, sign));
    Term t = {sign, 1, arena_copy(m->polys, &e, sizeof e)};
    return poly_add(m, bounded, (Poly){1, arena_copy(m->polys, &t, sizeof t)});
}

// Could p wrap around although its operands have not?
static bool may_wrap(Ir *m, Poly p) {
    Poly bounded, rest;
    poly_unbounded(m, p, &bounded, &rest);
    return rest.n > 0 && (bounded.n > 0 || rest.n > 1 || rest.term[0].n != 1 || rest.term[0].coeff != 1);
}

// Is p at most an unbounded atom of it? Then it does not wrap around either, if it is not negative.
static bool below_atom(Ir *m, Poly p) {
    Poly bounded, rest;
    poly_unbounded(m, p, &bounded, &rest);
    if (rest.n != 1 || rest.term[0].n != 1 || rest.term[0].coeff != 1) return false;
    return poly_nonneg(m, poly_scale(m, bounded, -1));
}

// |coeff| * atoms
static Node *term_node(Ir *m, Term t) {
    uint64_t c = t.coeff < 0 ? 0 - (uint64_t)t.coeff : (uint64_t)t.coeff;
    Node *e = t.n == 0 || c != 1 ? ir_int(m, (int64_t)c) : NULL;
    for (int i = 0; i < t.n; i++) e = e ? ir_op_plain(m, OP_mul, KIND_INT, e, t.atom[i]) : t.atom[i];
    return e;
}

Node *poly_node(Ir *m, Poly p) {
    Node *e = NULL;
    for (int i = 0; i < p.n; i++)
        if (p.term[i].coeff > 0) {
            Node *t = term_node(m, p.term[i]);
            e = e ? ir_op_plain(m, OP_add, KIND_INT, e, t) : t;
        }
    for (int i = 0; i < p.n; i++)
        if (p.term[i].coeff < 0) {
            Node *t = term_node(m, p.term[i]);
            if (e) e = ir_op_plain(m, OP_sub, KIND_INT, e, t);
            else if (p.term[i].n == 0) e = ir_int(m, p.term[i].coeff);
            else e = ir_op_plain(m, OP_neg, KIND_INT, t, NULL);
        }
    if (!e) return ir_int(m, 0);
    if (!e->nonneg && (!may_wrap(m, p) || below_atom(m, p)) && poly_nonneg(m, p)) e->nonneg = true;
    return e;
}

static bool mentions(const Node *e, const Node *v) { return e == v || (v->op == OP_var ? node_has_var(e, v->u.var) : false); }

bool poly_linear(Ir *m, Poly p, const Node *v, int64_t *c, Poly *rest) {
    *c = 0;
    *rest = (Poly){0, ARENA_ARRAY(m->polys, Term, p.n)};
    for (int i = 0; i < p.n; i++) {
        Term t = p.term[i];
        if (t.n == 1 && t.atom[0] == v) {
            *c = t.coeff;
            continue;
        }
        for (int k = 0; k < t.n; k++)
            if (mentions(t.atom[k], v)) return false;
        rest->term[rest->n++] = t;
    }
    return true;
}

// The index variable created last among the atoms: its extent mentions only earlier ones.
static Node *last_index(Poly p) {
    Node *v = NULL;
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.term[i].n; k++) {
            Node *a = p.term[i].atom[k];
            if (a->op == OP_var && !a->u.var->is_state && (!v || a->u.var->id > v->u.var->id)) v = a;
        }
    return v;
}

// p = a*v + b with polynomials a, b free of v at the top level; false if v has a higher power.
static bool split(Ir *m, Poly p, const Node *v, Poly *a, Poly *b) {
    *a = *b = (Poly){0, NULL};
    for (int i = 0; i < p.n; i++) {
        Term t = p.term[i], u = {t.coeff, 0, ARENA_ARRAY(m->polys, Node *, t.n)};
        int power = 0;
        for (int k = 0; k < t.n; k++)
            if (t.atom[k] == v) power++;
            else u.atom[u.n++] = t.atom[k];
        if (power > 1) return false;
        Poly one = {1, arena_copy(m->polys, &u, sizeof u)};
        if (power) *a = poly_add(m, *a, one);
        else *b = poly_add(m, *b, one);
    }
    return true;
}

static bool nonneg_terms(Poly p) {
    int64_t constant = 0;
    for (int i = 0; i < p.n; i++) {
        if (p.term[i].n == 0) {
            constant = p.term[i].coeff;
            continue;
        }
        if (p.term[i].coeff < 0) return false;
        for (int k = 0; k < p.term[i].n; k++)
            if (!p.term[i].atom[k]->nonneg) return false;
    }
    return constant >= 0;
}

// The greatest value of an index variable: that of `max(0, e)`, which has a value, is less than e.
static Poly greatest(Ir *m, const Var *v) {
    Node *e = v->extent;
    int64_t low;
    for (int k = 0; e->op == OP_max && k < 2; k++)
        if (ir_is_int_lit(e->args[k], &low) && low <= 0) e = e->args[1 - k], k = -1;
    Poly p = poly_of(m, e);
    return poly_add(m, e == v->extent ? p : opaque(m, p), poly_lit(m, -1));
}

static bool nonneg_rec(Ir *m, Poly p, int fuel);
static Poly with_greatest(Ir *m, Poly p);
static Poly without_quotients(Ir *m, Poly p, int64_t *scale);

static bool is_choice(const Node *e) {
    return e->op == OP_min || e->op == OP_max || e->op == OP_abs || e->op == OP_select;
}

// The extreme or select created last among the terms: it may mention others. NULL if there is none.
static const Term *last_choice(Poly p) {
    const Term *found = NULL;
    for (int i = 0; i < p.n; i++) {
        const Node *e = p.term[i].n == 1 ? p.term[i].atom[0] : NULL;
        if (!e || !is_choice(e)) continue;
        if (!found || e->id > found->atom[0]->id) found = &p.term[i];
    }
    return found;
}

static bool chosen_by(Poly p, const Node *v) {
    const Term *t = last_choice(p);
    return t && node_has_var(t->atom[0], v->u.var);
}

// What a choice may be. abs x is max(x, -x), as it wraps around.
static Poly operand(Ir *m, const Node *e, int k) {
    if (e->op != OP_abs) return poly_of(m, e->args[(e->op == OP_select) + k]);
    return poly_scale(m, poly_of(m, e->args[0]), k ? -1 : 1);
}

// p with one of its operands instead of its last choice, t.
static Poly with_operand(Ir *m, Poly p, const Term *t, int k) {
    const Node *e = t->atom[0];
    Poly one = {1, arena_copy(m->polys, t, sizeof *t)}, rest = poly_add(m, p, poly_scale(m, one, -1));
    Poly by = opaque(m, operand(m, e, k));
    return poly_add(m, rest, poly_scale(m, by, t->coeff));
}

// Is p at least what it is with either operand of the extreme t? A minimum is one of its operands, and at most either.
static bool at_least_either(const Term *t) {
    const Node *e = t->atom[0];
    return e->op != OP_select && (e->op != OP_min) == (t->coeff > 0);
}

static bool nonneg_choice(Ir *m, Poly p, int fuel) {
    const Term *t = last_choice(p);
    if (!t) return false;
    bool either = at_least_either(t), ok = false;
    for (int k = 0; k < 2 && (k == 0 || ok != either); k++) ok = nonneg_rec(m, with_operand(m, p, t, k), fuel - 1);
    return ok;
}

// What has no index variable any more may have quotients: those that are extents of loops over tiles.
static bool nonneg_quotient(Ir *m, Poly p, int fuel) {
    int64_t scale;
    Poly most = with_greatest(m, p), bound = without_quotients(m, p, &scale);
    if (most.term != p.term && nonneg_terms(most)) return true;
    return scale > 1 && nonneg_rec(m, poly_add(m, bound, poly_lit(m, scale - 1)), fuel - 1); // above -1: not negative
}

// That an index variable with an extent x / c has a value says that x is not negative. (Ir.given: such x.)
static bool note_dividend(Ir *m, const Var *v) {
    const Node *e = v->extent;
    int64_t c;
    if (e->op != OP_idiv || !ir_is_int_lit(e->args[1], &c) || c < 1 || m->ngiven == (int)(sizeof m->given / sizeof *m->given))
        return false;
    m->given[m->ngiven++] = e->args[0];
    return true;
}

static bool is_nonneg(const Ir *m, const Node *x) {
    for (int i = 0; i < m->ngiven; i++)
        if (m->given[i] == x) return true;
    return x->nonneg;
}

static bool nonneg_at_ends(Ir *m, Poly p, const Node *v, int fuel);

static bool nonneg_rec(Ir *m, Poly p, int fuel) {
    if (nonneg_terms(p)) return true;
    Node *v = last_index(p);
    if (fuel == 0 || poly_huge(p)) return false;
    if (!v) return nonneg_choice(m, p, fuel) || nonneg_quotient(m, p, fuel);
    if (chosen_by(p, v) && nonneg_choice(m, p, fuel)) return true;
    bool noted = note_dividend(m, v->u.var), ok = nonneg_at_ends(m, p, v, fuel);
    m->ngiven -= noted;
    return ok;
}

// For the least and the greatest value of an index variable.
static bool nonneg_at_ends(Ir *m, Poly p, const Node *v, int fuel) {
    Poly a, b;
    if (!split(m, p, v, &a, &b)) return false;
    if (nonneg_rec(m, a, fuel - 1)) return nonneg_rec(m, b, fuel - 1); // least at v = 0
    Poly neg = poly_scale(m, a, -1);
    if (!nonneg_rec(m, neg, fuel - 1)) return false;
    return nonneg_rec(m, poly_add(m, poly_mul(m, a, greatest(m, v->u.var)), b), fuel - 1); // least at the greatest v
}

// ---- proofs by substitution: each constraint x + rest >= 0 makes x := s - rest with a new s >= 0

// The term without one of its factors y; no terms: it has none.
static Poly without_atom(Ir *m, const Term *t, const Node *y) {
    Term rest = {t->coeff, 0, ARENA_ARRAY(m->polys, Node *, t->n + 1)};
    bool found = false;
    for (int k = 0; k < t->n; k++) {
        if (t->atom[k] != y || found) rest.atom[rest.n++] = t->atom[k];
        else found = true;
    }
    return found ? (Poly){1, arena_copy(m->polys, &rest, sizeof rest)} : (Poly){0, NULL};
}

void poly_divide(Ir *m, Poly x, Node *y, Poly *q, Poly *r) {
    int64_t by;
    bool literal = ir_is_int_lit(y, &by) && by >= 1;
    *q = *r = (Poly){0, NULL};
    for (int i = 0; i < x.n; i++) {
        Term *t = &x.term[i];
        Poly part = literal ? poly_scale(m, (Poly){1, t}, 1) : without_atom(m, t, y);
        if (literal && t->n == 0) { // of a number, the rest is natural
            int64_t rest = (t->coeff % by + by) % by;
            *q = poly_add(m, *q, poly_lit(m, (t->coeff - rest) / by)), *r = poly_add(m, *r, poly_lit(m, rest));
        } else if (literal && t->coeff % by == 0) {
            part.term[0].coeff = t->coeff / by;
            *q = poly_add(m, *q, part);
        } else if (!literal && part.n) {
            *q = poly_add(m, *q, part);
        } else {
            *r = poly_add(m, *r, (Poly){1, t});
        }
    }
}

static Poly replace_atom(Ir *m, Poly p, const Node *x, Poly by) {
    Poly out = {0, NULL};
    for (int i = 0; i < p.n; i++) {
        Term t = p.term[i], rest = {t.coeff, 0, ARENA_ARRAY(m->polys, Node *, t.n)};
        int power = 0;
        for (int k = 0; k < t.n; k++)
            if (t.atom[k] == x) power++;
            else rest.atom[rest.n++] = t.atom[k];
        Poly one = {1, arena_copy(m->polys, &rest, sizeof rest)};
        while (power-- > 0) one = poly_mul(m, one, by);
        out = poly_add(m, out, one);
    }
    return out;
}

static Node *slack(Ir *m, int k) {
    if (!m->slack[k]) {
        m->slack[k] = ir_param(m, KIND_INT, 0, NULL);
        m->slack[k]->nonneg = true;
    }
    return m->slack[k];
}

enum { MAX_CONSTRAINTS = 32 };

typedef struct Constraints {
    int n, nseen;
    Poly p[MAX_CONSTRAINTS];
    Node *seen[MAX_CONSTRAINTS]; // atoms whose range is among them
} Constraints;

static void constrain(Constraints *c, Poly p) {
    if (c->n < MAX_CONSTRAINTS) c->p[c->n++] = p;
}

static bool first_time(Constraints *c, Node *a) {
    for (int i = 0; i < c->nseen; i++)
        if (c->seen[i] == a) return false;
    if (c->nseen < MAX_CONSTRAINTS) c->seen[c->nseen++] = a;
    return true;
}

// Is e, by choices, the index of the loop or its state s?
static bool is_index_or_state(const Node *e, const Loop *l, const Var *s, int depth) {
    if (e->op == OP_var) return e->u.var == l->index || e->u.var == s;
    return e->op == OP_select && depth > 0 && is_index_or_state(e->args[1], l, s, depth - 1) &&
           is_index_or_state(e->args[2], l, s, depth - 1);
}

// The index of which a is the last value that a loop has chosen, or -1 (ir_last_replaced); NULL if it is not.
static const Var *chosen_index(const Node *a) {
    enum { MAX_CHOICES = 4 };
    if (a->op != OP_final || a->kind != KIND_INT || a->rank || a->args[0]->op != OP_fold) return NULL;
    const Loop *l = a->args[0]->u.loop;
    const Node *init = loop_init(a->args[0], (int)a->u.num), *step = loop_step(a->args[0], (int)a->u.num);
    bool none = init->op == OP_lit && init->u.num == -1;
    return none && is_index_or_state(step, l, l->state[a->u.num], MAX_CHOICES) ? l->index : NULL;
}

// The variable of the argmin or argmax that a is, or an element of an array of such, all over the same range; NULL:
// none.
static const Var *extreme_index(const Node *a) {
    const Node *e = a->op == OP_at ? element_of(a->args[0]) : a;
    if (!e || (e->op != OP_argmin && e->op != OP_argmax)) return NULL;
    for (const Node *g = e == a ? e : a->args[0]; g != e; g = g->args[0])
        if (node_has_var(e->u.var->extent, g->u.var)) return NULL;
    return e->u.var;
}

// The ranges of p's index variables and, transitively, of those in their extents.
static void constrain_atoms(Ir *m, Constraints *c, Poly p, int depth) {
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.term[i].n; k++) {
            Node *a = p.term[i].atom[k];
            bool index = a->op == OP_var && !a->u.var->is_state;
            const Var *v = index ? a->u.var : extreme_index(a);
            if (!v) v = chosen_index(a);
            bool rest = a->op == OP_irem && a->args[1]->nonneg; // it has a value: the divisor is at least 1
            if (v && !index && !v->extent->nonneg) v = NULL;    // -1 for an empty range
            if ((!v && !rest) || !first_time(c, a)) continue;
            Poly room = index ? greatest(m, v) : poly_add(m, poly_of(m, rest ? a->args[1] : v->extent), poly_lit(m, -1));
            constrain(c, poly_add(m, room, poly_scale(m, poly_of(m, a), -1)));
            if (depth > 0) constrain_atoms(m, c, room, depth - 1);
        }
}

int64_t ir_least_size(const Ir *m, int number) { return !m->positive ? 0 : m->least ? m->least[number] : 1; }

static bool has_atom(Poly p, const Node *a) {
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.term[i].n; k++)
            if (p.term[i].atom[k] == a) return true;
    return false;
}

static bool share_atoms(Poly p, Poly q) {
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.term[i].n; k++)
            if (has_atom(q, p.term[i].atom[k])) return true;
    return false;
}

// What is assumed of the sizes in p.
static void constrain_sizes(Ir *m, Constraints *c, Poly p) {
    for (int i = 0; m->positive && i < p.n; i++)
        for (int k = 0; k < p.term[i].n; k++) {
            Node *a = p.term[i].atom[k];
            if (a->op != OP_input || a->rank || a->kind != KIND_INT || !first_time(c, a)) continue;
            for (int j = 0; j < m->nassumed; j++) {
                Poly form = poly_of(m, m->assumed[j]);
                if (has_atom(form, a)) constrain(c, form);
            }
            if (a->nonneg) constrain(c, poly_add(m, poly_of(m, a), poly_lit(m, -ir_least_size(m, (int)a->u.num))));
        }
}

static bool is_unknown(const Node *a) { return a->nonneg && (a->op == OP_var || a->op == OP_input); }

// Solves constraint c for an unknown that stands in it alone: x = s - rest.
static Node *solve_for(Poly c, Node *const *done, int ndone) {
    for (int i = 0; i < c.n; i++) {
        Term t = c.term[i];
        if (t.n != 1 || t.coeff != 1 || !is_unknown(t.atom[0])) continue;
        bool used = false;
        for (int k = 0; k < ndone; k++) used |= done[k] == t.atom[0];
        for (int j = 0; j < c.n; j++)
            for (int k = 0; j != i && k < c.term[j].n; k++) used |= c.term[j].atom[k] == t.atom[0];
        if (!used) return t.atom[0];
    }
    return NULL;
}

// Solves the constraints in order, those from `first` on rotated so that `start` comes first among them.
static bool nonneg_in_order(Ir *m, Poly p, Constraints c, int first, int start) {
    Node *done[12];
    int n = 0, rest_count = c.n - first;
    for (int k = 0; k < c.n && n < 12; k++) {
        int i = k < first ? k : first + (k - first + start) % rest_count;
        Node *x = solve_for(c.p[i], done, n);
        if (!x) continue;
        Poly rest = poly_add(m, c.p[i], poly_scale(m, poly_of(m, x), -1));
        Poly by = poly_add(m, poly_of(m, slack(m, n)), poly_scale(m, rest, -1));
        done[n++] = x;
        p = replace_atom(m, p, x, by);
        for (int j = 0; j < c.n; j++) c.p[j] = replace_atom(m, c.p[j], x, by);
        if (nonneg_terms(p)) return true;
    }
    return false;
}

static bool nonneg_by_slack(Ir *m, Poly p, int nfacts, const Poly *facts) {
    Constraints c = {0};
    for (int i = 0; i < nfacts; i++)
        if (!poly_huge(facts[i])) constrain(&c, facts[i]);
    const int first = c.n;
    constrain_atoms(m, &c, p, 3);
    for (int i = 0; i < nfacts; i++) constrain_atoms(m, &c, facts[i], 1);
    constrain_sizes(m, &c, p);                                     // last: a range of an index variable says more
    for (int start = 0; start < c.n - first && start < 6; start++) // which range bounds a size best is not known
        if (nonneg_in_order(m, p, c, first, start)) return true;
    if (c.n == first) return c.n > 0 && nonneg_in_order(m, p, c, first, 0);
    if (!first) return false;
    c.n -= first; // that x >= 1, solved for x, hides that x >= 4
    memmove(c.p, c.p + first, (size_t)c.n * sizeof *c.p);
    return nonneg_in_order(m, p, c, 0, 0);
}

// ---- quotients by literals

// Is x always a multiple of two? Modulo 2, powers are the variable itself.
static bool even(Poly x) {
    for (int i = 0; i < x.n; i++) {
        if (x.term[i].coeff % 2 == 0) continue;
        int same = 0; // odd terms with the same set of atoms must pair up
        for (int j = 0; j < x.n; j++) {
            if (x.term[j].coeff % 2 == 0) continue;
            bool equal = true;
            for (int k = 0; k < x.term[i].n; k++) {
                bool in = false;
                for (int q = 0; q < x.term[j].n; q++) in |= x.term[j].atom[q] == x.term[i].atom[k];
                equal &= in;
            }
            for (int k = 0; k < x.term[j].n; k++) {
                bool in = false;
                for (int q = 0; q < x.term[i].n; q++) in |= x.term[i].atom[q] == x.term[j].atom[k];
                equal &= in;
            }
            same += equal;
        }
        if (same % 2) return false;
    }
    return true;
}

// A lower bound of scale * p without quotients by literals; *scale gets the factor, which is not so large that coefficients wrap.
enum { GREATEST_DIVISOR = 4096, GREATEST_SCALE = 1 << 24 };
static Poly without_quotients(Ir *m, Poly p, int64_t *scale) {
    *scale = 1;
    for (int i = 0; i < p.n; i++) {
        Term t = p.term[i];
        int64_t by;
        if (t.n != 1 || t.atom[0]->op != OP_idiv || !ir_is_int_lit(t.atom[0]->args[1], &by) || by < 1 || by > GREATEST_DIVISOR)
            continue;
        if (*scale * by > GREATEST_SCALE) return p;
        Poly x = poly_of(m, t.atom[0]->args[0]);
        if (may_wrap(m, x)) continue;
        bool exact = by == 2 && even(x);
        int64_t loss = exact ? 0 : t.coeff > 0 ? -(by - 1) : is_nonneg(m, t.atom[0]->args[0]) ? 0 : by - 1;
        Poly q = poly_scale(m, poly_add(m, x, poly_lit(m, loss)), t.coeff);
        Poly one = {1, &p.term[i]};
        p = poly_add(m, poly_scale(m, poly_add(m, p, poly_scale(m, one, -1)), by), q);
        *scale *= by;
        i = -1;
    }
    return p;
}

// The quotient of which the term is a multiple, or a multiple times its divisor; NULL: it is none, what is divided may
// be negative, or the divisor 0: a comparison that is decided would lose that error.
static const Node *quotient_of(const Term *t) {
    for (int k = 0; k < t->n && t->n <= 2; k++) {
        const Node *q = t->atom[k];
        if (q->op != OP_idiv || q->partial || !q->args[0]->nonneg || !q->args[1]->nonneg) continue;
        if (t->n == 1 || t->atom[1 - k] == q->args[1]) return q;
    }
    return NULL;
}

// Are the other atoms of the term not negative?
static bool others_nonneg(const Ir *m, const Term *t, int k) {
    for (int j = 0; j < t->n; j++)
        if (j != k && !is_nonneg(m, t->atom[j])) return false;
    return true;
}

Poly poly_with_bounds(Ir *m, Poly p, PolyBound *bound, void *data) {
    Poly out = p;
    for (int i = 0; i < p.n; i++) {
        Term *t = &p.term[i];
        for (int k = 0; k < t->n; k++) {
            Node *by = others_nonneg(m, t, k) ? bound(m, t->atom[k], t->coeff < 0, data) : NULL;
            if (!by) continue;
            Poly one = {1, t}, with = replace_atom(m, one, t->atom[k], poly_of(m, by));
            out = poly_add(m, out, poly_add(m, with, poly_scale(m, one, -1)));
            break;
        }
    }
    return out;
}

static Node *measured_bound(Ir *m, Node *atom, bool greatest, void *data) {
    (void)data;
    return ir_measured_bound(m, atom, greatest);
}

// A lower bound of p: where they count against it, remainders, quotients, and elements of tables are as great as they
// can be; elements of arguments as great or as small. Elements that would make it huge stay.
static Poly with_greatest(Ir *m, Poly p) {
    Poly out = p;
    for (int i = 0; i < p.n; i++) {
        Term *t = &p.term[i];
        int64_t least, most;
        const Node *a = t->n ? t->atom[0] : NULL, *quotient = m->no_quotients ? NULL : quotient_of(t);
        if (!a || t->coeff > 0) continue;
        Poly by = {0, NULL};
        if (quotient) { // x / y and (x / y) * y are at most x
            by = poly_scale(m, poly_of(m, quotient->args[0]), t->coeff);
        } else if (t->n == 1 && a->op == OP_irem && a->args[1]->op != OP_lit && a->args[1]->nonneg && !a->partial) {
            by = poly_scale(m, poly_add(m, poly_of(m, a->args[1]), poly_lit(m, -1)), t->coeff);
        } else {
            bool rest = a->op == OP_irem && ir_is_int_lit(a->args[1], &most) && most-- > 0;
            bool table = a->op == OP_at && table_range(a->args[0], &least, &most);
            if (t->n != 1 || (!rest && !table) || most > INT32_MAX || most < -INT32_MAX) continue;
            by = poly_lit(m, t->coeff * most);
        }
        out = poly_add(m, out, poly_add(m, poly_scale(m, (Poly){1, t}, -1), by));
    }
    return m->nmeasured ? poly_with_bounds(m, out, measured_bound, NULL) : out;
}

static bool nonneg_beyond(Ir *m, Poly p, Poly fact) {
    return nonneg_rec(m, poly_add(m, p, poly_scale(m, fact, -1)), 8);
}

static bool nonneg_with(Ir *m, Poly p, int nfacts, const Poly *facts, int fuel) {
    if (nonneg_rec(m, p, 8)) return true;
    for (int i = 0; i < nfacts; i++)
        if (!poly_huge(facts[i]) && nonneg_beyond(m, p, facts[i])) return true;
    for (int i = 0; m->positive && i < m->nassumed; i++)
        if (share_atoms(p, poly_of(m, m->assumed[i])) && nonneg_beyond(m, p, poly_of(m, m->assumed[i]))) return true;
    if (nonneg_by_slack(m, p, nfacts, facts)) return true;
    const Term *t = nfacts && fuel > 0 ? last_choice(p) : NULL; // for each operand another fact may be of use
    return t && !at_least_either(t) && nonneg_with(m, with_operand(m, p, t, 0), nfacts, facts, fuel - 1) &&
           nonneg_with(m, with_operand(m, p, t, 1), nfacts, facts, fuel - 1);
}

// rest - x / y >= 0 if (rest + 1) * y > x: an index `k / y` of what has a * y elements is less than a. And rest + x / y
// >= 0 if rest * y + x >= 0.
static bool nonneg_by_divisor(Ir *m, Poly p, int nfacts, const Poly *facts) {
    for (int i = 0; i < p.n && !m->no_quotients; i++) {
        const Term *t = &p.term[i];
        const Node *q = t->n == 1 && (t->coeff == 1 || t->coeff == -1) ? quotient_of(t) : NULL;
        if (!q || q->args[1]->op == OP_lit) continue;
        Poly x = poly_of(m, q->args[0]), y = poly_of(m, q->args[1]), less = poly_lit(m, t->coeff < 0 ? -1 : 0);
        Poly rest = poly_add(m, poly_add(m, p, poly_scale(m, (Poly){1, (Term *)t}, -1)), poly_scale(m, less, -1));
        Poly room = poly_add(m, poly_add(m, poly_mul(m, rest, y), poly_scale(m, x, t->coeff)), less);
        if (poly_huge(room)) return false;
        return nonneg_terms(room) || nonneg_with(m, room, nfacts, facts, 2) ||
               (m->nmeasured && nonneg_with(m, poly_with_bounds(m, room, measured_bound, NULL), nfacts, facts, 2));
    }
    return false;
}

static bool nonneg_given(Ir *m, Poly p, int nfacts, const Poly *facts) {
    int64_t scale, c;
    if (poly_const(p, &c)) return c >= 0;
    if (poly_huge(p)) return false;
    if (nonneg_terms(p)) return true;
    if (nonneg_with(m, p, nfacts, facts, 2)) return true;
    if (nonneg_by_divisor(m, p, nfacts, facts)) return true;
    Poly bound = with_greatest(m, p);
    if (bound.term != p.term && nonneg_with(m, bound, nfacts, facts, 2)) return true;
    Poly q = without_quotients(m, p, &scale);
    if (scale == 1) return false;
    return nonneg_with(m, poly_add(m, q, poly_lit(m, scale - 1)), nfacts, facts, 2); // above -1: not negative
}

bool poly_nonneg_given(Ir *m, Poly p, int nfacts, const Poly *facts) {
    ArenaMark mark = arena_mark(m->polys);
    Poly *known = ARENA_ARRAY(m->polys, Poly, nfacts + 1);
    for (int i = 0; i < nfacts; i++) known[i] = opaque(m, facts[i]);
    bool ok = nonneg_given(m, opaque(m, p), nfacts, known);
    arena_release(m->polys, mark);
    return ok;
}

bool poly_nonneg(Ir *m, Poly p) { return poly_nonneg_given(m, p, 0, NULL); }

// ---- what conditions say

int poly_facts(Ir *m, Node *p, Poly *out, int max) {
    if (p->op == OP_and) {
        int n = poly_facts(m, p->args[0], out, max);
        return n + poly_facts(m, p->args[1], out + n, max - n);
    }
    if (p->nargs != 2 || p->kind != KIND_BOOL || p->args[0]->kind != KIND_INT || max < 2) return 0;
    Poly d = poly_add(m, poly_of(m, p->args[1]), poly_scale(m, poly_of(m, p->args[0]), -1));
    switch (p->op) {
    case OP_lt: out[0] = poly_add(m, d, poly_lit(m, -1)); return 1;
    case OP_le: out[0] = d; return 1;
    case OP_eq: out[0] = d, out[1] = poly_scale(m, d, -1); return 2;
    default: return 0;
    }
}

enum { MAX_CHOICES = 4 };

static bool index_safe(Ir *m, Node *i, Node *n, int nfacts, const Poly *facts);

// Either of what is chosen from, by choices.
static bool choices_safe(Ir *m, Node *i, Node *n, int nfacts, const Poly *facts, int depth) {
    if (i->op != OP_select) return index_safe(m, i, n, nfacts, facts);
    return depth > 0 && choices_safe(m, i->args[1], n, nfacts, facts, depth - 1) &&
           choices_safe(m, i->args[2], n, nfacts, facts, depth - 1);
}

Node *ir_computed(Ir *m, Node *e) {
    enum { MOST_RANK = 16 };
    Node *from[MOST_RANK], *g = e->nargs ? e->args[0] : NULL;
    if (e->op != OP_at || e->nargs > MOST_RANK + 1) return NULL;
    for (int k = 0; k + 1 < e->nargs; k++, g = g->args[0]) {
        if (g->op != OP_gen) return NULL;
        from[k] = ir_var(g->u.var);
    }
    return ir_subst(m, g, e->nargs - 1, from, e->args + 1);
}

static bool index_safe(Ir *m, Node *i, Node *n, int nfacts, const Poly *facts) {
    for (int k = 0; n->op == OP_max && k < 2; k++) // it is compared with either: their difference may wrap around
        if (index_safe(m, i, n->args[k], nfacts, facts)) return true;
    Poly p = poly_of(m, i), room = poly_add(m, poly_of(m, n), poly_add(m, poly_scale(m, p, -1), poly_lit(m, -1)));
    if (poly_nonneg_given(m, p, nfacts, facts) && poly_nonneg_given(m, room, nfacts, facts)) return true;
    if (i->op == OP_select) return choices_safe(m, i, n, nfacts, facts, MAX_CHOICES);
    Node *e = ir_computed(m, i); // of an array of quotients, say
    return e && index_safe(m, e, n, nfacts, facts);
}

// Do facts speak of another variable that only has the same name as the one bound by e? (Ir.planning)
static bool facts_have(int nfacts, const Poly *facts, const Var *v) {
    for (int i = 0; i < nfacts; i++)
        for (int k = 0; k < facts[i].n; k++)
            for (int a = 0; a < facts[i].term[k].n; a++)
                if (node_has_var(facts[i].term[k].atom[a], v)) return true;
    return false;
}

static bool safe_rec(Ir *m, Node *e, int nfacts, const Poly *facts, int *fuel) {
    if (!e->partial) return true;
    if (--*fuel < 0 || (m->debug_nan && ir_makes_nan(e))) return false;
    switch (e->op) {
    case OP_at:
        for (int k = 1; k < e->nargs; k++)
            if (!index_safe(m, e->args[k], e->args[0]->shape[k - 1], nfacts, facts)) return false;
        break;
    case OP_bracket:
    case OP_select:
    case OP_evaluated: break;
    case OP_sum:
    case OP_argmin:
    case OP_argmax:
        if (facts_have(nfacts, facts, e->u.var)) return false;
        break;
    case OP_conv:
        if (e->kind == KIND_INT32) return false; // a check of the value, not of an index
        break;
    default:
        if (!op_is_elementwise(e->op) || e->op == OP_idiv || e->op == OP_irem) return false;
    }
    for (int i = 0; i < e->nargs; i++)
        if (!safe_rec(m, e->args[i], nfacts, facts, fuel)) return false;
    return true;
}

bool ir_safe_given(Ir *m, Node *e, int nfacts, const Poly *facts) {
    int fuel = 200;
    return safe_rec(m, e, nfacts, facts, &fuel);
}

bool ir_in_range(Ir *m, Node *i, Node *n) { return index_safe(m, i, n, 0, NULL); }

int ir_range_facts(Ir *m, const Node *e, Poly *out, int max) {
    int n = 0;
    for (int j = 0; j < e->fv->n && n < max; j++) {
        const Var *v = e->fv->v[j];
        if (!v->is_state) out[n++] = greatest(m, v);
    }
    return n;
}

static bool index_in_range(Ir *m, int count, Node *const *idx, int k, Node *n) {
    enum { MAX_FACTS = 8 };
    Poly fact[MAX_FACTS];
    int nfacts = 0;
    if (ir_in_range(m, idx[k], n)) return true;
    // Variables of any index have values, those of this one among them: max (i - 1) 0 < n for i < n, since then 0 < n.
    for (int i = 0; i < count; i++) nfacts += ir_range_facts(m, idx[i], fact + nfacts, MAX_FACTS - nfacts);
    return nfacts && index_safe(m, idx[k], n, nfacts, fact);
}

bool ir_index_in_range(Ir *m, int count, Node *const *idx, int k, Node *n) {
    ArenaMark mark = arena_mark(m->polys);
    bool ok = index_in_range(m, count, idx, k, n);
    arena_release(m->polys, mark);
    return ok;
}
