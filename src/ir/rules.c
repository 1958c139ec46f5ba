// The algebraic rules applied when a term is built ([FS] Fig. 8 b, c, d; [TL] section 5.4), by their names in
// rules.def. Every rule keeps kind and rank, does not raise the cost of [TL] Fig. 6, and its result is smaller or in
// normal form, so that rewriting ends, whichever of the others are left out. `rule` is asked last, of what would be
// rewritten. `0 * e = 0`, `e - e = 0` and the like assume finite e; Ir.strict turns them off. What may fail is not
// dropped, but it may come under the bracket of another factor, where it is not needed.
#include "ir/internal.h"
#include "ir/scalar.h"

#include <math.h>
#include <stdlib.h>

static Node *lit(Ir *m, const Node *like, double x) { return ir_real(m, like->kind, x); }
static bool is_bracket(const Node *e) { return e->op == OP_bracket; }
static Node *pred(const Node *e) { return e->args[0]; }
static Node *inner(const Node *e) { return e->args[1]; }

// ---- constants

static Scalar scalar_of(const Node *e) {
    return e && kind_is_float(e->kind) ? (Scalar){.d = e->u.real} : (Scalar){.i = e ? e->u.num : 0};
}

static Node *constant(Ir *m, Op op, Node *a, Node *b) {
    if (a->op != OP_lit || (b && b->op != OP_lit)) return NULL;
    if ((op == OP_idiv || op == OP_irem) && b->u.num == 0) return NULL;
    if (!rule(m, RULE_fold_literals)) return NULL;
    Kind kind = op_info[op].type == T_PSI ? b->kind : a->kind;
    Scalar r = scalar_op(op, kind, scalar_of(a), scalar_of(b));
    if (op_info[op].type == T_CMP || op_info[op].type == T_LOGIC) return ir_bool(m, r.i != 0);
    return kind_is_float(kind) ? ir_real(m, kind, r.d) : ir_int(m, r.i);
}

// ---- the ring of floating-point numbers ([FS] Fig. 8 b)

// The literal factor of e, whose other factor is *rest: 1 and e itself if it has none.
static double coefficient(Node *e, Node **rest) {
    bool literal = e->op == OP_mul && e->args[0]->op == OP_lit;
    *rest = literal ? e->args[1] : e;
    return literal ? e->args[0]->u.real : 1;
}

// c * e + sign * d * e. Literals alone are folded, and equal terms have rules of their own.
static Node *like_terms(Ir *m, Node *a, Node *b, double sign) {
    Node *x, *y;
    double c = coefficient(a, &x), d = coefficient(b, &y);
    if (x != y || a == b || m->strict || x->op == OP_lit || !rule(m, RULE_like_terms)) return NULL;
    return ir_mul(m, lit(m, a, c + sign * d), x);
}

static const Node *squared(const Node *e) { return e->op == OP_mul && e->args[0] == e->args[1] ? e->args[0] : NULL; }

static Node *sin_cos(Ir *m, const Node *a, const Node *b) {
    const Node *s = squared(a), *c = squared(b);
    if (!m->fast || !s || !c || !((s->op == OP_sin && c->op == OP_cos) || (s->op == OP_cos && c->op == OP_sin))) return NULL;
    bool same = s->args[0] == c->args[0] && !s->args[0]->partial;
    return same && rule(m, RULE_sin_cos) ? lit(m, a, 1) : NULL;
}

static Node *rule_add(Ir *m, Node *a, Node *b) {
    if (ir_is_zero(a) && rule(m, RULE_add_zero)) return b;
    if (ir_is_zero(b) && rule(m, RULE_add_zero)) return a;
    if (b->op == OP_neg && rule(m, RULE_add_neg)) return ir_sub(m, a, b->args[0]);
    if (a->op == OP_neg && rule(m, RULE_add_neg)) return ir_sub(m, b, a->args[0]);
    if (is_bracket(a) && is_bracket(b)) {
        if (pred(a) == pred(b) && rule(m, RULE_bracket_add)) return ir_bracket(m, pred(a), ir_add(m, inner(a), inner(b)));
        if (pred(a) == ir_not(m, pred(b)) && rule(m, RULE_bracket_either)) return ir_select(m, pred(a), inner(a), inner(b));
    }
    if (a == b && rule(m, RULE_add_self)) return ir_mul(m, lit(m, a, 2), a);
    Node *e = like_terms(m, a, b, 1);
    return e ? e : sin_cos(m, a, b);
}

static Node *rule_sub(Ir *m, Node *a, Node *b) {
    if (ir_is_zero(b) && rule(m, RULE_sub_zero)) return a;
    if (ir_is_zero(a) && rule(m, RULE_zero_sub)) return ir_neg(m, b);
    if (a == b && !m->strict && !a->partial && rule(m, RULE_sub_self)) return lit(m, a, 0);
    if (b->op == OP_neg && rule(m, RULE_sub_neg)) return ir_add(m, a, b->args[0]);
    if (is_bracket(a) && is_bracket(b) && pred(a) == pred(b) && rule(m, RULE_bracket_add))
        return ir_bracket(m, pred(a), ir_sub(m, inner(a), inner(b)));
    bool rest = is_bracket(b) && inner(b) == a && (a->op == OP_lit || (!m->strict && !a->partial));
    if (rest && rule(m, RULE_bracket_rest)) return ir_bracket(m, ir_not(m, pred(b)), a);
    return like_terms(m, a, b, -1);
}

// A factor that is a literal is the first of a product.
static Node *rule_literals(Ir *m, Node *a, Node *b) {
    bool first = a->op == OP_mul && a->args[0]->op == OP_lit, second = b->op == OP_mul && b->args[0]->op == OP_lit;
    if (a->op == OP_lit && second && rule(m, RULE_mul_literals))
        return ir_mul(m, lit(m, a, a->u.real * b->args[0]->u.real), b->args[1]);
    if (a->op == OP_lit) return NULL;
    if (second && rule(m, RULE_literal_first)) return ir_mul(m, b->args[0], ir_mul(m, a, b->args[1]));
    if (first && rule(m, RULE_literal_first)) return ir_mul(m, a->args[0], ir_mul(m, a->args[1], b));
    return NULL;
}

static Node *rule_mul(Ir *m, Node *a, Node *b) {
    if (b->op == OP_lit) {
        Node *t = a;
        a = b, b = t;
    }
    if (ir_is_lit(a, 1) && rule(m, RULE_mul_one)) return b;
    if (ir_is_lit(a, -1) && rule(m, RULE_mul_minus_one)) return ir_neg(m, b);
    bool zero = (ir_is_zero(a) || ir_is_zero(b)) && !m->strict && !a->partial && !b->partial;
    if (zero && rule(m, RULE_mul_zero)) return lit(m, a, 0);
    if (is_bracket(a) && rule(m, RULE_bracket_mul)) return ir_bracket(m, pred(a), ir_mul(m, inner(a), b));
    if (is_bracket(b) && rule(m, RULE_bracket_mul)) return ir_bracket(m, pred(b), ir_mul(m, a, inner(b)));
    if (a->op == OP_neg && rule(m, RULE_mul_neg)) return ir_neg(m, ir_mul(m, a->args[0], b));
    if (b->op == OP_neg && rule(m, RULE_mul_neg)) return ir_neg(m, ir_mul(m, a, b->args[0]));
    if (m->strict) return NULL; // what follows changes the order of operations
    return rule_literals(m, a, b);
}

static Node *rule_div(Ir *m, Node *a, Node *b) {
    if (ir_is_lit(b, 1) && rule(m, RULE_div_one)) return a;
    if (!m->strict && ir_is_zero(a) && !b->partial && rule(m, RULE_zero_div)) return a;
    if (is_bracket(a) && rule(m, RULE_bracket_div)) return ir_bracket(m, pred(a), ir_div(m, inner(a), b));
    if (a->op == OP_neg && rule(m, RULE_div_neg)) return ir_neg(m, ir_div(m, a->args[0], b));
    if (b->op == OP_neg && rule(m, RULE_div_neg)) return ir_neg(m, ir_div(m, a, b->args[0]));
    int exponent, limit = a->kind == KIND_FLOAT ? 120 : 1000;
    bool power = b->op == OP_lit && fabs(frexp(b->u.real, &exponent)) == 0.5 && exponent > -limit && exponent < limit;
    return power && rule(m, RULE_div_power_of_two) ? ir_mul(m, lit(m, a, 1 / b->u.real), a) : NULL;
}

// Does a sign in front of it vanish in a literal? In `precise`, the one in (-2 * x) * y would not.
static bool begins_negative(const Node *a) {
    if (a->op == OP_div) return begins_negative(a->args[0]);
    if (a->op == OP_mul) a = a->args[0];
    return a->op == OP_lit && a->u.real < 0;
}

// -a by the sign of the literal in it.
static Node *with_sign(Ir *m, Node *a) {
    if (a->op == OP_lit) return lit(m, a, -a->u.real);
    if (a->op == OP_mul) return ir_mul(m, lit(m, a, -a->args[0]->u.real), a->args[1]);
    return ir_div(m, with_sign(m, a->args[0]), a->args[1]);
}

static Node *rule_neg(Ir *m, Node *a) {
    if (a->op == OP_neg && rule(m, RULE_neg_neg)) return a->args[0];
    if (a->op == OP_sub && rule(m, RULE_neg_sub)) return ir_sub(m, a->args[1], a->args[0]);
    if (is_bracket(a) && rule(m, RULE_bracket_neg)) return ir_bracket(m, pred(a), ir_neg(m, inner(a)));
    bool literal = (a->op == OP_mul && a->args[0]->op == OP_lit) || (a->op == OP_div && begins_negative(a->args[0]));
    return literal && rule(m, RULE_neg_literal) ? with_sign(m, a) : NULL;
}

static Node *rule_powi(Ir *m, Node *a, Node *n) {
    int64_t k;
    if (!ir_is_int_lit(n, &k)) return NULL;
    if (k == 0 && !a->partial && rule(m, RULE_pow_zero)) return lit(m, a, 1);
    if (k == 1 && rule(m, RULE_pow_one)) return a;
    if (k == 2 && rule(m, RULE_pow_two)) return ir_mul(m, a, a);
    if (k == -1 && rule(m, RULE_pow_minus_one)) return ir_div(m, lit(m, a, 1), a);
    bool even = k % 2 == 0 && (a->op == OP_neg || a->op == OP_abs);
    if (even && rule(m, RULE_pow_even)) return ir_powi(m, a->args[0], n);
    int64_t j;
    bool powers = a->op == OP_powi && ir_is_int_lit(a->args[1], &j) && llabs(j) <= 1024 && llabs(k) <= 1024 && !m->strict;
    return powers && rule(m, RULE_pow_pow) ? ir_powi(m, a->args[0], ir_int(m, j * k)) : NULL;
}

static Node *rule_even(Ir *m, Op op, Node *a) {
    bool sign = a->op == OP_neg || a->op == OP_abs;
    return sign && kind_is_float(a->kind) && rule(m, RULE_even_function) ? ir_op(m, op, a->args[0], NULL) : NULL;
}

static Node *rule_exp(Ir *m, Node *a) { return m->fast && a->op == OP_log && rule(m, RULE_exp_log) ? a->args[0] : NULL; }

static Node *rule_log(Ir *m, Node *a) {
    if (!m->fast) return NULL;
    if (a->op == OP_exp && rule(m, RULE_log_exp)) return a->args[0];
    bool first = a->op == OP_add && ir_is_lit(a->args[0], 1), second = a->op == OP_add && ir_is_lit(a->args[1], 1);
    return (first || second) && rule(m, RULE_log_one_plus) ? ir_log1p(m, a->args[first]) : NULL;
}

static Node *rule_sqrt(Ir *m, Node *a) {
    bool square = m->fast && squared(a);
    return square && rule(m, RULE_sqrt_of_square) ? ir_abs(m, a->args[0]) : NULL;
}

static Node *rule_pow(Ir *m, Node *a, Node *y) {
    // they differ at -0 and minus infinity
    bool half = !m->strict && !m->debug_nan; // which names the operation that makes a NaN
    if (ir_is_lit(y, 0.5) && half && rule(m, RULE_pow_half)) return ir_sqrt(m, a);
    if (ir_is_lit(y, -0.5) && half && rule(m, RULE_pow_half)) return ir_div(m, lit(m, a, 1), ir_sqrt(m, a));
    bool whole = y->op == OP_lit && y->u.real == floor(y->u.real) && fabs(y->u.real) <= 1024;
    return whole && rule(m, RULE_pow_integer) ? ir_powi(m, a, ir_int(m, (int64_t)y->u.real)) : NULL;
}

// ---- comparisons and truth values

// Int comparisons as statements about a polynomial; terms with negative coefficients move to the other side.
// What is unbounded stands alone on its side, so that the comparison is exact.
static Node *sides(Ir *m, Op op, Poly d) { // 0 op d
    Poly bounded, rest;
    poly_unbounded(m, d, &bounded, &rest);
    if (rest.n > 0 && !poly_huge(bounded)) {
        bool right = rest.term[0].coeff > 0;
        Node *u = poly_node(m, right ? rest : poly_scale(m, rest, -1)),
             *b = poly_node(m, right ? poly_scale(m, bounded, -1) : bounded);
        Node *l = right ? b : u, *r = right ? u : b;
        return op == OP_eq && l->id > r->id ? ir_op_plain(m, op, KIND_BOOL, r, l) : ir_op_plain(m, op, KIND_BOOL, l, r);
    }
    Poly left = {0, ARENA_ARRAY(m->polys, Term, d.n)}, right = {0, ARENA_ARRAY(m->polys, Term, d.n)};
    for (int i = 0; i < d.n; i++)
        if (d.term[i].coeff < 0) left.term[left.n++] = d.term[i];
        else right.term[right.n++] = d.term[i];
    Node *l = poly_node(m, poly_scale(m, left, -1)), *r = poly_node(m, right);
    if (op == OP_eq && l->id > r->id) return ir_op_plain(m, op, KIND_BOOL, r, l);
    return ir_op_plain(m, op, KIND_BOOL, l, r);
}

static Poly poly_int(Ir *m, int64_t k) { return poly_of(m, ir_int(m, k)); }

static Node *int_less(Ir *m, Poly d);

// 0 < rest + min(a, b) and 0 < rest - max(a, b) are conjunctions; NULL if d has no such term. What may raise an error
// comes first: it is not evaluated if the other one is false.
static Node *split_extreme(Ir *m, Poly d) {
    for (int i = 0; i < d.n; i++) {
        Term t = d.term[i];
        if (t.n != 1 || t.atom[0]->op != (t.coeff > 0 ? OP_min : OP_max) || (t.coeff != 1 && t.coeff != -1)) continue;
        Node *const *of = t.atom[0]->args;
        const bool turned = !of[0]->partial && of[1]->partial;
        if (!rule(m, RULE_compare_extreme)) return NULL;
        Poly rest = poly_add(m, d, poly_scale(m, poly_of(m, t.atom[0]), -t.coeff));
        Poly a = poly_scale(m, poly_of(m, of[turned]), t.coeff), b = poly_scale(m, poly_of(m, of[!turned]), t.coeff);
        return ir_and(m, int_less(m, poly_add(m, rest, a)), int_less(m, poly_add(m, rest, b)));
    }
    return NULL;
}

static Node *known(Ir *m, bool truth) { return rule(m, RULE_compare_known) ? ir_bool(m, truth) : NULL; }

static Node *less_known(Ir *m, Poly d) { // 0 < d
    int64_t k;
    if (poly_const(d, &k)) return known(m, k > 0);
    if (poly_nonneg(m, poly_add(m, d, poly_int(m, -1)))) return known(m, true);
    if (poly_nonneg(m, poly_scale(m, d, -1))) return known(m, false);
    return NULL;
}

static Node *int_less(Ir *m, Poly d) { // 0 < d
    Node *e = less_known(m, d);
    if (!e) e = split_extreme(m, d);
    return e ? e : sides(m, OP_lt, d);
}

static bool mentions_index(Poly p) {
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.term[i].n; k++) {
            const Node *a = p.term[i].atom[k];
            if ((a->op == OP_var && !a->u.var->is_state) || (a->op == OP_input && a->nonneg)) return true;
        }
    return false;
}

// What a count of truth values says: k + c * [p] = 0, and [p] + 2 * [q] = 0, are conditions on p and q. d is no
// constant. NULL if d is no such count, or if a condition would hide the error of another.
static Node *count_is_zero(Ir *m, Poly d) {
    Node *any = ir_bool(m, false);
    int64_t constant = 0, value = 0;
    int terms = 0;
    for (int i = 0; i < d.n; i++) {
        const Term *t = &d.term[i];
        int64_t one;
        if (t->n == 0) {
            constant = t->coeff;
            continue;
        }
        const Node *e = t->atom[0];
        if (t->n != 1 || e->op != OP_bracket || !ir_is_int_lit(inner(e), &one) || __builtin_mul_overflow(one, t->coeff, &one))
            return NULL;
        if (terms && (pred(e)->partial || any->partial || (value > 0) != (one > 0))) return NULL;
        any = ir_or(m, any, pred(e)), value = one;
        terms++;
    }
    if (terms == 1 && constant == -value) return any;
    if (constant && terms > 1) return NULL;
    return constant ? any->partial ? NULL : ir_bool(m, false) : ir_not(m, any);
}

// e, a comparison of a and b with its terms in order, unless it is as it was.
static Node *ordered(Ir *m, Node *a, Node *b, Node *e) {
    bool same = e->nargs == 2 && e->args[0] == a && e->args[1] == b;
    return !same && rule(m, RULE_compare_sides) ? e : NULL;
}

// A sum of ones where counts are not 0: of these counts, which is 0 where that is. NULL if d is none.
//
//     sum i ([sum j ([k = min i j] 1) <> 0] 1) = 0   is   sum i (sum j ([k = min i j] 1)) = 0
static Node *count_of_counts(Ir *m, Poly d) {
    enum { MOST = 16 };
    Node *sum = d.n == 1 && d.term[0].n == 1 ? d.term[0].atom[0] : NULL;
    Node *c[MOST], *rest = ir_bool(m, true), *count = NULL;
    int n = 0;
    if (!sum || sum->op != OP_sum || !is_bracket(sum->args[0]) || !ir_is_lit(inner(sum->args[0]), 1)) return NULL;
    if (!ir_conjuncts(pred(sum->args[0]), c, &n, MOST)) return NULL;
    for (int i = 0; i < n; i++) {
        const Node *equal = c[i]->op == OP_not && !count ? c[i]->args[0] : NULL;
        bool zero = equal && equal->op == OP_eq && ir_is_lit(equal->args[0], 0);
        if (zero && equal->args[1]->op == OP_sum && equal->args[1]->nonneg) count = equal->args[1];
        else rest = ir_and(m, rest, c[i]);
    }
    if (!count || (count->partial && rest->partial) || !rule(m, RULE_compare_counts)) return NULL;
    return ir_eq(m, ir_int(m, 0), ir_sum(m, sum->u.var, ir_bracket(m, rest, count)));
}

static Node *int_equal(Ir *m, Node *a, Node *b, Poly d) {
    int64_t k;
    bool constant = poly_const(d, &k);
    if (constant || poly_nonneg(m, poly_add(m, d, poly_int(m, -1))) ||
        poly_nonneg(m, poly_add(m, poly_scale(m, d, -1), poly_int(m, -1))))
        return known(m, constant && k == 0);
    if (d.term[0].coeff < 0) d = poly_scale(m, d, -1);
    Node *e = count_of_counts(m, d);
    if (e) return e;
    e = count_is_zero(m, d);
    return e && rule(m, RULE_compare_count) ? e : ordered(m, a, b, sides(m, OP_eq, d));
}

// Is e, as a number without bounds, not what it is computed as, where it wraps around?
static bool may_wrap(Ir *m, const Node *e) {
    Poly bounded, rest;
    poly_unbounded(m, poly_of(m, (Node *)e), &bounded, &rest);
    return rest.n > 0 && bounded.n > 0;
}

static Node *int_compare(Ir *m, Op op, Node *a, Node *b) {
    if (a->op == OP_lit && b->op == OP_lit) return constant(m, op, a, b);
    if (op == OP_ne) return rule(m, RULE_compare_ne) ? ir_not(m, ir_eq(m, a, b)) : NULL;
    if (poly_huge(poly_of(m, a)) || poly_huge(poly_of(m, b))) return NULL;
    Poly d = poly_add(m, poly_of(m, b), poly_scale(m, poly_of(m, a), -1));
    if (op == OP_eq) return int_equal(m, a, b, d);
    // a < b + 1, unless b may be the largest Int: it is not where an index or a size is compared. Or a - 1 < b for a
    // number a: so both bounds of the index k - 1, 0 <= k - 1 and k - 1 < n, are compared with k.
    bool le = op == OP_le;
    if (le) d = poly_add(m, d, poly_int(m, 1));
    Node *e = less_known(m, d);
    if (e || (le && !mentions_index(d) && !(a->op == OP_lit && may_wrap(m, b)))) return e;
    if (le) return rule(m, RULE_compare_le) ? int_less(m, d) : NULL;
    e = split_extreme(m, d);
    return e ? e : ordered(m, a, b, sides(m, OP_lt, d));
}

// min and max of two polynomials one of which is never less than the other, or in one order for both ways of writing
// them. Those that only a bound of a quotient decides stay: they say it where it would have to be proved again.
static Node *int_extreme(Ir *m, Op op, Node *a, Node *b) {
    if (poly_huge(poly_of(m, a)) || poly_huge(poly_of(m, b))) return NULL;
    Poly d = poly_add(m, poly_of(m, b), poly_scale(m, poly_of(m, a), -1));
    m->no_quotients = true;
    bool above = poly_nonneg(m, d), below = !above && poly_nonneg(m, poly_scale(m, d, -1)); // b against a
    m->no_quotients = false;
    if (above || below) return rule(m, RULE_extreme_known) ? ((op == OP_max) == above ? b : a) : NULL;
    if ((b->op != OP_lit && a->id <= b->id) || a->op == OP_lit || !rule(m, RULE_extreme_order)) return NULL;
    return ir_op_plain(m, op, KIND_INT, b, a);
}

static bool is_int_cmp(const Node *e) { return (e->op == OP_lt || e->op == OP_eq) && e->args[0]->kind == KIND_INT; }

static Poly difference(Ir *m, const Node *e) { // of an Int comparison: right - left
    return poly_add(m, poly_of(m, e->args[1]), poly_scale(m, poly_of(m, e->args[0]), -1));
}

// Is b one of the conjuncts or alternatives (op) of a? They share parts, so that there may be many ways to one: it is
// looked for only so far.
static bool has_part(Op op, const Node *a, const Node *b, int *fuel) {
    if (a == b) return true;
    if (a->op != op || a->id < b->id || --*fuel < 0) return false;
    return has_part(op, a->args[0], b, fuel) || has_part(op, a->args[1], b, fuel);
}

enum { MAX_PARTS = 64 };
static bool has_alternative(const Node *a, const Node *b) { return has_part(OP_or, a, b, &(int){MAX_PARTS}); }
static bool has_conjunct(const Node *a, const Node *b) { return has_part(OP_and, a, b, &(int){MAX_PARTS}); }

// The same for comparisons of floating numbers of which p is `<`: then none is a NaN.
static int less_implies(const Node *p, const Node *q) {
    if (p->op != OP_lt || op_info[q->op].type != T_CMP) return 0;
    bool same = p->args[0] == q->args[0] && p->args[1] == q->args[1], turned = p->args[0] == q->args[1] && p->args[1] == q->args[0];
    if (q->op == OP_ne) return same || turned;
    if (q->op == OP_eq) return same || turned ? -1 : 0;
    return same ? 1 : turned ? -1 : 0;
}

// Does p imply q (1), contradict it (-1), or neither (0)? Both are conjuncts. Looks at one pair only.
static int implies(Ir *m, Node *p, Node *q) {
    if (p == q || (!q->partial && has_alternative(q, p))) return 1;
    if ((p->op == OP_not && p->args[0] == q) || (q->op == OP_not && q->args[0] == p)) return -1;
    if (!is_int_cmp(p) || !is_int_cmp(q)) {
        int r = less_implies(p, q);
        return r >= 0 ? (r ? r : less_implies(q, p) < 0 ? -1 : 0) : r;
    }
    Poly dp = difference(m, p), dq = difference(m, q);
    int64_t k;
    if (poly_huge(dp) || poly_huge(dq)) return 0;
    bool same = poly_const(poly_add(m, dq, poly_scale(m, dp, -1)), &k); // dq = dp + k
    if (same) {
        if (p->op == OP_lt && q->op == OP_lt && k >= 0) return 1;
        if (p->op == OP_eq) return q->op == OP_eq ? (k == 0 ? 1 : -1) : k > 0 ? 1 : -1;
        if (q->op == OP_eq && k >= 0) return -1; // dp > 0, dq = dp + k = 0 needs dp = -k
    }
    same = poly_const(poly_add(m, dq, dp), &k); // dq = k - dp
    if (same) {
        if (p->op == OP_lt && q->op == OP_lt && k <= 1) return -1;
        if (p->op == OP_eq) return q->op == OP_eq ? (k == 0 ? 1 : -1) : k > 0 ? 1 : -1;
        if (q->op == OP_eq && k <= 0) return -1; // dp > 0, dq = k - dp = 0 needs dp = k
    }
    return 0;
}

// Is conjunct p, which mentions no variable, true because e has a value? [0 < n && i = a] * e is [i = a] * e for i < n.
static bool holds_beside(Ir *m, Node *p, const Node *e) {
    enum { MAX_FACTS = 8 };
    Poly fact[MAX_FACTS];
    if (p->op != OP_lt || p->args[0]->kind != KIND_INT || p->fv->n || p->partial || !e->fv->n) return false;
    int n = ir_range_facts(m, e, fact, MAX_FACTS);
    return n && poly_nonneg_given(m, poly_add(m, difference(m, p), poly_int(m, -1)), n, fact);
}

enum { MAX_CONJUNCTS = 64 };

// Does something that may fail stand between conjunct j and the later i, which says as much? It may need j.
static bool guards(Node *const *c, int j, int i) {
    for (int k = j + 1; k <= i; k++)
        if (c[k] && c[k]->partial) return true;
    return false;
}

static Node *and_literal(Ir *m, Node *a, Node *b) { // a is one; nothing is lost without b
    return rule(m, a->u.num ? RULE_and_true : RULE_and_false) ? (a->u.num ? b : a) : NULL;
}

// Is conjunct j left out because of conjunct i?
static bool drops(Ir *m, Node *const *c, int i, int j, int r) {
    bool implied = r > 0 && (c[i] != c[j] || i < j), beside = !implied && r <= 0 && holds_beside(m, c[j], c[i]);
    if ((!implied && !beside) || guards(c, j, i)) return false;
    return rule(m, implied ? RULE_and_implied : RULE_and_in_range);
}

static Node *rule_and(Ir *m, Node *a, Node *b) {
    if (a->op == OP_lit) return and_literal(m, a, b);
    if (b->op == OP_lit && (b->u.num || !a->partial)) return and_literal(m, b, a);
    if (a == b && rule(m, RULE_and_same)) return a;
    Node *c[MAX_CONJUNCTS];
    int n = 0;
    if (!ir_conjuncts(a, c, &n, MAX_CONJUNCTS)) return NULL;
    int first = n; // of b; those of one operand have met when that was made
    if (!ir_conjuncts(b, c, &n, MAX_CONJUNCTS)) return NULL;
    bool dropped = false;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if ((i < first) == (j < first) || !c[i] || !c[j]) continue;
            int r = implies(m, c[i], c[j]);
            // a partial conjunct may only be dropped if its error is not needed: it stands to the right of its cause
            if (r < 0 && !c[i]->partial && !c[j]->partial && rule(m, RULE_and_contradiction)) return ir_bool(m, false);
            if (drops(m, c, i, j, r)) c[j] = NULL, dropped = true;
        }
    if (!dropped) return NULL;
    Node *e = NULL;
    for (int i = 0; i < n; i++)
        if (c[i]) e = e ? ir_and(m, e, c[i]) : c[i];
    return e;
}

static Node *or_literal(Ir *m, Node *a, Node *b) {
    return rule(m, a->u.num ? RULE_or_true : RULE_or_false) ? (a->u.num ? a : b) : NULL;
}

// a < b || a = b is a <= b.
static Node *less_or_equal(Ir *m, const Node *a, const Node *b) {
    const Node *less = a->op == OP_lt ? a : b, *equal = less == a ? b : a;
    if (!is_int_cmp(a) || !is_int_cmp(b) || less->op != OP_lt || equal->op != OP_eq || a->partial || b->partial) return NULL;
    Poly d = difference(m, less), e = difference(m, equal);
    int64_t k;
    if (poly_huge(d) || poly_huge(e)) return NULL;
    bool same = (poly_const(poly_add(m, d, e), &k) && k == 0) || (poly_const(poly_add(m, d, poly_scale(m, e, -1)), &k) && k == 0);
    return same && rule(m, RULE_or_equal) ? ir_le(m, less->args[0], less->args[1]) : NULL;
}

enum { MAX_ALTERNATIVES = 16 };

// The alternatives of p, each a conjunction of Int comparisons `<`; false if there is another one, or too many.
static bool alternatives(Node *p, Node **out, int *n) {
    if (p->op == OP_or) return alternatives(p->args[0], out, n) && alternatives(p->args[1], out, n);
    Node *c[MAX_ALTERNATIVES];
    int count = 0;
    if (*n == MAX_ALTERNATIVES || !ir_conjuncts(p, c, &count, MAX_ALTERNATIVES)) return false;
    for (int i = 0; i < count; i++)
        if (c[i]->op != OP_lt || !is_int_cmp(c[i])) return false;
    out[(*n)++] = p;
    return true;
}

// Is one of the alternatives always true? Suppose that none is: of one whose conjuncts but one hold, that one does not,
// which is known from then on, and no alternative has only such that hold.
static bool covers(Ir *m, Node *a, Node *b) {
    Node *p[MAX_ALTERNATIVES], *known[MAX_ALTERNATIVES], *c[MAX_ALTERNATIVES];
    int n = 0, nknown = 0;
    if (a->partial || b->partial || !alternatives(b, p, &n) || !alternatives(a, p, &n)) return false;
    for (int i = 0; i < n; i++) {
        Node *left = NULL;
        int count = 0, open = 0;
        if (!p[i] || !ir_conjuncts(p[i], c, &count, MAX_ALTERNATIVES)) continue;
        for (int k = 0; k < count; k++) {
            bool holds = false;
            for (int j = 0; j < nknown && !holds; j++) holds = implies(m, known[j], c[k]) > 0;
            if (!holds) left = c[k], open++;
        }
        if (!open) return true;
        if (open > 1) continue;
        known[nknown++] = ir_not(m, left), p[i] = NULL;
        i = -1; // what is known may show more
    }
    return false;
}

// Notes which values of one index, by bits, alternatives of p say that it has; those that say something else do not
// count.
static void note_values(const Node *p, const Var **v, uint32_t *values, int *fuel) {
    if (--*fuel < 0) return; // alternatives may be shared, and be many for that reason
    if (p->op == OP_or) note_values(p->args[0], v, values, fuel), note_values(p->args[1], v, values, fuel);
    for (int k = 0; p->op == OP_eq && k < 2; k++) {
        int64_t x;
        const Node *i = p->args[1 - k];
        if (!ir_is_int_lit(p->args[k], &x) || x < 0 || x >= MAX_ALTERNATIVES) continue;
        if (i->op != OP_var || i->u.var->is_state) continue;
        if (!*v) *v = i->u.var;
        if (i->u.var == *v) *values |= (uint32_t)1 << x;
    }
}

// Is each value that an index of a few can have one of the alternatives: k = 0 || k = 1 || k = 2, for k < 3?
static bool covers_values(Node *a, Node *b) {
    const Var *v = NULL;
    uint32_t values = 0;
    int64_t n;
    int fuel = 4 * MAX_ALTERNATIVES;
    if (a->partial || b->partial) return false;
    note_values(b, &v, &values, &fuel), note_values(a, &v, &values, &fuel);
    return v && ir_is_int_lit(v->extent, &n) && n > 0 && n <= MAX_ALTERNATIVES && values == ((uint32_t)1 << n) - 1;
}

static Node *rule_or(Ir *m, Node *a, Node *b) {
    if (a->op == OP_lit) return or_literal(m, a, b);
    if (b->op == OP_lit && (!b->u.num || !a->partial)) return or_literal(m, b, a);
    if ((has_alternative(a, b) || (!b->partial && has_conjunct(b, a))) && rule(m, RULE_or_absorb)) return a;
    if (!a->partial && has_conjunct(a, b) && rule(m, RULE_or_absorb)) return b;
    if (a == ir_not(m, b) && !a->partial && rule(m, RULE_or_complement)) return ir_bool(m, true);
    if (b->op == OP_and && b->args[0] == ir_not(m, a) && !a->partial && rule(m, RULE_or_rest)) return ir_or(m, a, b->args[1]);
    if ((covers(m, a, b) || covers_values(a, b)) && rule(m, RULE_or_covers)) return ir_bool(m, true);
    return less_or_equal(m, a, b);
}

static bool only_indices(Poly p) {
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.term[i].n; k++) {
            const Node *a = p.term[i].atom[k];
            if ((a->op != OP_var || a->u.var->is_state) && (a->op != OP_input || !a->nonneg)) return false;
        }
    return true;
}

// What differs and is not less is more. (That a count is not zero is said as it stands: see ad/needs.c.)
static Node *int_differ(Ir *m, const Node *eq) {
    Poly d = difference(m, eq);
    if (poly_huge(d) || !only_indices(d)) return NULL;
    bool less = poly_nonneg(m, d);
    if ((!less && !poly_nonneg(m, poly_scale(m, d, -1))) || !rule(m, RULE_not_least)) return NULL;
    return less ? ir_lt(m, eq->args[0], eq->args[1]) : ir_lt(m, eq->args[1], eq->args[0]);
}

static Node *rule_not(Ir *m, Node *a) {
    bool ints = a->nargs && a->args[0]->kind == KIND_INT;
    if (a->op == OP_not && rule(m, RULE_not_not)) return a->args[0];
    if (a->op == OP_lt && ints && rule(m, RULE_not_less)) return ir_le(m, a->args[1], a->args[0]);
    if (a->op == OP_le && ints && rule(m, RULE_not_less)) return ir_lt(m, a->args[1], a->args[0]);
    if (a->op == OP_eq && kind_is_float(a->args[0]->kind) && rule(m, RULE_not_equal)) return ir_ne(m, a->args[0], a->args[1]);
    if (a->op == OP_ne && rule(m, RULE_not_different)) return ir_eq(m, a->args[0], a->args[1]);
    if (a->op == OP_eq && ints) return int_differ(m, a);
    return NULL;
}

static bool literal_arms(const Node *e) { return e->op == OP_select && e->args[1]->op == OP_lit && e->args[2]->op == OP_lit; }

// An operation on a choice between literals is a choice between its values, which are literals.
static Node *on_literals(Ir *m, Op op, Node *a, Node *b) {
    bool first = literal_arms(a) && (!b || b->op == OP_lit), second = b && literal_arms(b) && a->op == OP_lit;
    if ((!first && !second) || !kind_is_float((first ? a : b)->kind) || !rule(m, RULE_select_literals)) return NULL;
    Node *choice = first ? a : b, *arm[2];
    for (int k = 0; k < 2; k++) arm[k] = first ? ir_op(m, op, choice->args[k + 1], b) : ir_op(m, op, a, choice->args[k + 1]);
    return ir_select(m, choice->args[0], arm[0], arm[1]);
}

// x = q * y + r, for 0 <= r < y and a natural x: x / y is q, and x % y is r.
static Node *int_parts(Ir *m, Op op, Node *x, Node *y) {
    Poly q, r;
    if (x->partial || y->partial || !x->nonneg || !ir_bounded(x) || !ir_bounded(y)) return NULL;
    ArenaMark mark = arena_mark(m->polys);
    poly_divide(m, poly_of(m, x), y, &q, &r);
    Poly room = poly_add(m, poly_add(m, poly_of(m, y), poly_of(m, ir_int(m, -1))), poly_scale(m, r, -1));
    bool known = poly_nonneg(m, r) && poly_nonneg(m, room) && rule(m, RULE_div_int_parts);
    Node *e = known ? poly_node(m, op == OP_idiv ? q : r) : NULL;
    arena_release(m->polys, mark);
    return e;
}

Node *rule_op(Ir *m, Op op, Node *a, Node *b) {
    if (op_info[op].type == T_CMP && a->kind == KIND_INT) return int_compare(m, op, a, b); // NULL: it stands
    Node *c = constant(m, op, a, b);
    if (!c && op_info[op].type == T_CMP && a->kind == KIND_DOUBLE) c = rule_compare(m, op, a, b);
    if (!c) c = on_literals(m, op, a, b);
    if (c) return c;
    switch (op) {
    case OP_add: return rule_add(m, a, b);
    case OP_sub: return rule_sub(m, a, b);
    case OP_mul: {
        Node *e = rule_mul(m, a, b);
        if (!e) e = rule_quotient(m, op, a, b);
        if (e || (b->op != OP_lit && a->id <= b->id) || a->op == OP_lit || !rule(m, RULE_mul_order)) return e;
        return ir_op_plain(m, OP_mul, a->kind, b, a); // one order for both ways of writing a product
    }
    case OP_div: {
        Node *e = rule_div(m, a, b);
        return e ? e : rule_quotient(m, op, a, b);
    }
    case OP_neg: return rule_neg(m, a);
    case OP_powi: return rule_powi(m, a, b);
    case OP_pow: return rule_pow(m, a, b);
    case OP_cos:
    case OP_cosh:
    case OP_abs: return rule_even(m, op, a);
    case OP_exp: return rule_exp(m, a);
    case OP_log: return rule_log(m, a);
    case OP_sqrt: return rule_sqrt(m, a);
    case OP_evenmin:
    case OP_evenmax:
    case OP_min:
    case OP_max:
        if (a == b && rule(m, RULE_extreme_same)) return a;
        return a != b && a->kind == KIND_INT ? int_extreme(m, op, a, b) : NULL;
    case OP_idiv: return ir_is_lit(b, 1) && rule(m, RULE_div_int_one) ? a : int_parts(m, op, a, b);
    case OP_irem: return int_parts(m, op, a, b);
    case OP_and: return rule_and(m, a, b);
    case OP_or: return rule_or(m, a, b);
    case OP_not: return rule_not(m, a);
    default: return NULL;
    }
}

// ---- selects and brackets ([FS] Fig. 8 d, [TL] Fig. 10)

static Node *select_truth(Ir *m, Node *c, Node *a, Node *b) {
    bool both = a->op == OP_lit && b->op == OP_lit;
    if (both && a != b && rule(m, RULE_select_truth)) return a->u.num ? c : ir_not(m, c);
    if (both) return NULL; // c may fail
    if (b->op == OP_lit && !b->u.num && rule(m, RULE_select_truth)) return ir_and(m, c, a);
    if (a->op == OP_lit && a->u.num && rule(m, RULE_select_truth)) return ir_or(m, c, b);
    return NULL;
}

static Node *select_zero(Ir *m, Node *c, Node *a, Node *b) {
    if ((!ir_is_zero(a) && !ir_is_zero(b)) || !rule(m, RULE_select_zero)) return NULL;
    return ir_is_zero(b) ? ir_bracket(m, c, a) : ir_bracket(m, ir_not(m, c), b);
}

Node *rule_select(Ir *m, Node *c, Node *a, Node *b) {
    if (c->op == OP_lit && rule(m, RULE_select_literal)) return c->u.num ? a : b;
    if (a == b && !c->partial && rule(m, RULE_select_same)) return a;
    if (c->op == OP_not && rule(m, RULE_select_not)) return ir_select(m, c->args[0], b, a);
    if (holds_beside(m, c, a) && rule(m, RULE_select_in_range)) return a;
    if (a->kind == KIND_BOOL) return select_truth(m, c, a, b);
    Node *e = select_zero(m, c, a, b);
    if (e) return e;
    if (a->op == OP_select && a->args[0] == c && rule(m, RULE_select_nested)) return ir_select(m, c, a->args[1], b);
    if (b->op == OP_select && b->args[0] == c && rule(m, RULE_select_nested)) return ir_select(m, c, a, b->args[2]);
    if (is_bracket(a) && pred(a) == c && rule(m, RULE_select_bracket)) return ir_select(m, c, inner(a), b);
    bool both = is_bracket(a) && is_bracket(b) && pred(a) == pred(b) && !c->partial;
    return both && rule(m, RULE_select_brackets) ? ir_bracket(m, pred(a), ir_select(m, c, inner(a), inner(b))) : NULL;
}

Node *rule_bracket(Ir *m, Node *p, Node *e) {
    if (p->op == OP_lit && rule(m, RULE_bracket_literal)) return p->u.num ? e : ir_zero(m, e->kind);
    if (ir_is_zero(e) && !p->partial && rule(m, RULE_bracket_zero)) return e;
    if (is_bracket(e) && rule(m, RULE_bracket_nested)) return ir_bracket(m, ir_and(m, p, pred(e)), inner(e));
    if (holds_beside(m, p, e) && rule(m, RULE_bracket_in_range)) return e;
    bool decides = e->op == OP_select && e->args[0] == p;
    return decides && rule(m, RULE_bracket_select) ? ir_bracket(m, p, e->args[1]) : NULL;
}

// ---- arrays ([FS] Fig. 8 c)

// Is every index an affine function of index variables, so that reading through it can be inverted?
static bool affine(Ir *m, Node *i) {
    Poly p = poly_of(m, i);
    for (int t = 0; t < p.n; t++) {
        int vars = 0;
        for (int k = 0; k < p.term[t].n; k++) {
            Node *a = p.term[t].atom[k];
            if (a->op == OP_var) vars++;
            else if (a->fv->n) return false;
        }
        if (vars > 1) return false;
    }
    return true;
}

// Is e an element of a computed array which is another one for other values of what the condition c depends on?
static bool is_of_computed(const Node *e, const Node *c) {
    while (e->op == OP_bracket || e->op == OP_conv || e->op == OP_stop) e = e->args[e->nargs - 1];
    if (e->op == OP_select) return is_of_computed(e->args[1], c) && is_of_computed(e->args[2], c);
    if (e->op != OP_at || e->args[0]->op != OP_gen) return false;
    for (int i = 0; i < c->fv->n; i++)
        if (!node_has_var(e->args[0], c->fv->v[i])) return false;
    return true;
}

// Is it an element of one of two computed arrays, as a condition that is the same for all elements says? Such a choice
// is an array itself, which takes the place of both. Else each reader would choose between them: `let y = if c then map
// f x else map g x`, `let z = if y[0] > 0 then map f y else map g y` and so on would be two arrays for each name, each
// of which reads two. Making it takes no longer than the array that is chosen does; so not if it is chosen more often
// than made.
static bool chooses_array(const Node *e, int n, Node *const *index) {
    if (e->op != OP_select) return false;
    for (int k = 0; k < n; k++)
        if (node_has_var(e->args[0], index[k]->u.var)) return false;
    return is_of_computed(e->args[1], e->args[0]) && is_of_computed(e->args[2], e->args[0]);
}

// Does reading through e cost nothing by [TL] Fig. 6 and lose nothing in reverse? Then a gen of it is never stored.
static bool costs_nothing(Ir *m, Node *e, int *budget) {
    if (--*budget < 0) return false;
    if (e->fv->n == 0 && e->op != OP_gen && e->rank == 0 && (e->op == OP_lit || e->op == OP_input || e->op == OP_param))
        return true;
    switch (e->op) {
    case OP_var: return e->rank == 0;
    case OP_lit:
    case OP_input:
    case OP_param: return e->rank == 0;
    case OP_at:
        for (int k = 1; k < e->nargs; k++)
            if (!affine(m, e->args[k])) return false;
        return true;
    case OP_select:
    case OP_bracket:
    case OP_conv:
    case OP_stop: break;
    default:
        if (!op_is_elementwise(e->op) || kind_is_float(e->kind)) return false;
        if (m->planning && e->op == OP_idiv && e->args[1]->op != OP_lit) return false; // dear (pass/share.c)
    }
    for (int i = 0; i < e->nargs; i++)
        if (!costs_nothing(m, e->args[i], budget)) return false;
    return true;
}

// Does reading an element of a gen over v read another array of the same extent at v? Then that read checks the index.
static bool checks_index(const Node *body, const Var *v) {
    while (body->op == OP_gen) body = body->args[0];
    if (body->op == OP_not) return checks_index(body->args[0], v);
    if (op_info[body->op].type == T_CMP && op_is_elementwise(body->op))
        return checks_index(body->args[0], v) || checks_index(body->args[1], v);
    if (body->op != OP_at) return false;
    for (int k = 1; k < body->nargs; k++)
        if (body->args[k] == ir_var(v) && body->args[0]->shape[k - 1] == v->extent) return true;
    return false;
}

// (gen v e)[k, …] is e[…] if e does not depend on v, and e[v := 0][…] if v has one value: the array that is read then
// has as many elements as are different, so that none is computed more often.
static Node *drop_dimension(Ir *m, Node *a, int n, Node **idx) {
    Var *v = a->u.var;
    Node *body = a->args[0];
    if (node_has_var(body, v) && !ir_is_lit(v->extent, 1)) return NULL;
    if (!ir_index_in_range(m, n, idx, 0, v->extent) || !rule(m, RULE_element_of_constant)) return NULL;
    return ir_at(m, ir_subst1(m, body, ir_var(v), ir_int(m, 0)), n - 1, idx + 1);
}

static bool mentions_any(const Node *e, int n, Node *const *index) {
    for (int k = 0; k < n; k++)
        if (node_has_var(e, index[k]->u.var)) return true;
    return false;
}

// Is a condition on indices no more than comparisons of them with what is the same for all?
static bool compares(Ir *m, Node *p, int n, Node *const *index) {
    int budget = 24;
    if (!mentions_any(p, n, index)) return true;
    if (p->op == OP_and || p->op == OP_not)
        return compares(m, p->args[0], n, index) && (p->op == OP_not || compares(m, p->args[1], n, index));
    if (op_info[p->op].type != T_CMP) return costs_nothing(m, p, &budget);
    for (int k = 0; k < 2; k++)
        if (mentions_any(p->args[k], n, index) && !costs_nothing(m, p->args[k], &budget)) return false;
    return true;
}

// [i = a] v with a v that is the same for all i, as a is: the comparison is all that an element costs.
static bool is_one_hot(Ir *m, Node *body, int n, Node *const *index) {
    Node *fixed[16];
    Var *v[16];
    if (body->op != OP_bracket || mentions_any(body->args[1], n, index)) return false;
    if (!compares(m, body->args[0], n, index)) return false;
    for (int k = 0; k < n; k++) v[k] = index[k]->u.var;
    return ir_scatters(m, body, v, n, fixed);
}

Node *rule_at(Ir *m, Node *a, int n, Node **idx) {
    if (a->op == OP_pack) {
        int64_t flat = 0, k;
        for (int d = 0; d < n; d++) {
            if (!ir_is_int_lit(idx[d], &k) || k < 0 || k >= a->shape[d]->u.num) return NULL;
            flat = flat * a->shape[d]->u.num + k;
        }
        return rule(m, RULE_element_of_literal) ? a->args[flat] : NULL;
    }
    if (a->op != OP_gen || a->u.var->wishes.of[WISH_materialise]) return NULL;
    Node *body = a, *from[16];
    for (int d = 0; d < n; d++) {
        if (body->op != OP_gen) return drop_dimension(m, a, n, idx); // a gen of packs or inputs
        // the index itself must be checked
        if (!ir_index_in_range(m, n, idx, d, body->shape[0]) && !checks_index(body, body->u.var)) return NULL;
        from[d] = ir_var(body->u.var);
        body = body->args[0];
    }
    int budget = 24;
    if (chooses_array(body, n, from)) return NULL;
    if (!costs_nothing(m, body, &budget) && !is_one_hot(m, body, n, from)) return drop_dimension(m, a, n, idx);
    return rule(m, RULE_element_of_array) ? ir_subst(m, body, n, from, idx) : NULL;
}

Node *ir_free_element(Ir *m, Node *e) {
    Node *body = e->args[0], *from[16];
    int n = e->nargs - 1, budget = 24;
    if (body->op == OP_gen && body->u.var->wishes.of[WISH_materialise]) return NULL;
    for (int d = 0; d < n; d++, body = body->args[0]) {
        if (body->op != OP_gen) return NULL;
        from[d] = ir_var(body->u.var);
    }
    return costs_nothing(m, body, &budget) ? ir_subst(m, body, n, from, e->args + 1) : NULL;
}

// gen i (gen j A[i, j]) is A if the extents agree.
Node *rule_gen(Ir *m, Var *v, Node *body) {
    Var *vars[16];
    int n = 0;
    vars[n++] = v;
    for (; body->op == OP_gen && n < 16; body = body->args[0]) vars[n++] = body->u.var;
    if (body->op != OP_at || body->nargs - 1 != n) return NULL;
    Node *a = body->args[0];
    for (int k = 0; k < n; k++) {
        if (body->args[k + 1] != ir_var(vars[k]) || a->shape[k] != vars[k]->extent) return NULL;
        if (node_has_var(a, vars[k])) return NULL;
    }
    if (!rule(m, RULE_array_of_elements)) return NULL;
    if (a->op == OP_gen && wishes_any(&v->wishes) && !m->planning) wishes_join(&a->u.var->wishes, &v->wishes);
    else if (v->wishes.of[WISH_materialise]) wish_follow(v->wishes.of[WISH_materialise]); // it is in memory
    return a;
}
