// What is smooth, though it is written by parts that have kinks or overflow, has a form without them before it is
// differentiated: the rules' derivatives would be wrong at the kink, and no number where a part is infinite.
// So at x = 0
//     max x 0 + log1p (exp (-abs x))   is softplus x, whose slope is 1/2 and whose second derivative is 1/4
//     sqrt x * sqrt x                  is x, of slope 1
//     cos (abs x)                      is cos x, whose second derivative is -1
// What is computed is said by HELD rows of ir/ops.def. All engines do this, also with terms as they are written, in
// which nothing is simplified; so forms are looked for up to the order of terms and factors, and up to signs. Each is a
// rule (ir/rules.def): those of derivatives always apply, since a derivative at a kink would be another without them;
// those of values alone may be left out.
#include "ad/graph.h"
#include "ir/rule.h"

#include <math.h>

enum {
    MOST = 16, // terms of a sum, or factors of a product, that are looked at
    ALL = -1
};

// A term or factor: c * e, or e.
typedef struct Part {
    double c;
    Node *e;
} Part;

typedef struct Parts {
    int n;
    Part part[MOST];
} Parts;

static bool is_max(const Node *e) { return e->op == OP_max || e->op == OP_evenmax; }
static bool is_min(const Node *e) { return e->op == OP_min || e->op == OP_evenmin; }

// Is a = -b?
static bool opposite(const Node *a, const Node *b) {
    if (a->op == OP_neg && a->args[0] == b) return true;
    if (b->op == OP_neg && b->args[0] == a) return true;
    return a->op == OP_sub && b->op == OP_sub && a->args[0] == b->args[1] && a->args[1] == b->args[0];
}

static bool same_size(const Node *a, const Node *b) { return a == b || opposite(a, b); }

// e = c * the result, for a literal c.
static Node *coefficient(Node *e, double *c) {
    for (;;) {
        if (e->op == OP_neg) *c = -*c, e = e->args[0];
        else if (e->op == OP_mul && e->args[0]->op == OP_lit) *c *= e->args[0]->u.real, e = e->args[1];
        else if (e->op == OP_mul && e->args[1]->op == OP_lit) *c *= e->args[1]->u.real, e = e->args[0];
        else if (e->op == OP_div && e->args[1]->op == OP_lit && e->args[1]->u.real != 0)
            *c /= e->args[1]->u.real, e = e->args[0];
        else return e;
    }
}

// ---- products, powers and roots

static bool add_factors(Node *e, Parts *p) {
    if (e->op == OP_mul) return add_factors(e->args[0], p) && add_factors(e->args[1], p);
    if (p->n == MOST) return false;
    p->part[p->n++] = (Part){1, e};
    return true;
}

// Is e a sum of squares, or known not to be negative otherwise?
static bool not_negative(const Node *e, int fuel) {
    if (e->op == OP_sum) return not_negative(e->args[0], fuel);
    if (e->op == OP_add) return fuel > 0 && not_negative(e->args[0], fuel / 2) && not_negative(e->args[1], fuel / 2);
    return (e->op == OP_mul && e->args[0] == e->args[1]) || ir_range(e).low >= 0;
}

// The square of a root, a size, or the length of a vector in the plane; NULL for what has no kink.
static Node *square_of(Ir *m, const Node *e) {
    Node *x = e->nargs ? e->args[0] : NULL;
    if (e->op == OP_sqrt) return not_negative(x, MOST) ? x : ir_squaredroot(m, x);
    if (e->op == OP_abs) return ir_mul(m, x, x);
    return e->op == OP_hypot ? ir_add(m, ir_mul(m, x, x), ir_mul(m, e->args[1], e->args[1])) : NULL;
}

// The factors of a product that have a square without a kink, and how often each is there.
typedef struct Kinks {
    Ir *m;
    int n, looked_at, nsums;
    const Var *sum[MOST]; // around the factor that is looked at, of which no factor depends on their variables
    struct {
        Node *e;
        int times, left; // it occurs; of an even number of these, so many are not replaced yet (ALL: none stays)
    } at[MOST];
} Kinks;

// Where the factor is that rules may bring to the others, `|u|` in any of these: -|u|, |u| / d, [c] * |u|,
// if c then |u| else 0, sum i (|u| * x[i]).
static int factor_of(const Node *e) {
    switch (e->op) {
    case OP_neg:
    case OP_div:
    case OP_sum: return 0;
    case OP_bracket: return 1;
    case OP_select: return ir_is_zero(e->args[2]) ? 1 : ir_is_zero(e->args[1]) ? 2 : -1;
    default: return -1;
    }
}

static bool same_kink(const Node *a, const Node *b) {
    return a == b || (a->op == OP_abs && b->op == OP_abs && opposite(a->args[0], b->args[0]));
}

static bool is_like_terms(Node *e, int fuel);

// What e is a multiple of.
static Node *core_of(Node *e, int fuel) {
    double c = 1;
    e = coefficient(e, &c);
    return is_like_terms(e, fuel) ? core_of(e->args[0], fuel) : e;
}

// Is e a sum of like terms, |u| + 2 * |u|, which rules make one of?
static bool is_like_terms(Node *e, int fuel) {
    if (fuel == 0 || (e->op != OP_add && e->op != OP_sub)) return false;
    return same_kink(core_of(e->args[0], fuel / 2), core_of(e->args[1], fuel / 2));
}

static Node *element(Ir *m, Node *e, void *data) {
    (void)data;
    Node *of = e->op == OP_at && !e->fails ? ir_free_element(m, e) : NULL;
    return of ? of : e;
}

// The factor e as it is outside of the sums around it; NULL: it depends on what these add up. As written, it may be an
// element of an array all elements of which are alike.
static Node *outside(const Kinks *k, Node *e) {
    for (int i = 0; i < k->nsums; i++) {
        if (node_has_var(e, k->sum[i])) e = ir_change(k->m, e, element, NULL);
        if (node_has_var(e, k->sum[i])) return NULL;
    }
    return e;
}

static bool find_kinks(Kinks *k, Node *e) {
    if (k->looked_at++ >= 2 * MOST) return false;
    if (e->op == OP_mul) return find_kinks(k, e->args[0]) && find_kinks(k, e->args[1]);
    if (is_like_terms(e, MOST)) return find_kinks(k, e->args[0]);
    int at = factor_of(e);
    if (at >= 0) {
        if (e->op == OP_sum && k->nsums == MOST) return false;
        if (e->op == OP_sum) k->sum[k->nsums++] = e->u.var;
        bool all = find_kinks(k, e->args[at]);
        if (e->op == OP_sum) k->nsums--;
        return all;
    }
    if (e->op != OP_sqrt && e->op != OP_abs && e->op != OP_hypot) return true;
    e = outside(k, e);
    if (!e) return true;
    int i = 0;
    while (i < k->n && !same_kink(k->at[i].e, e)) i++;
    if (i == MOST) return false;
    if (i == k->n) k->n++, k->at[i].e = e, k->at[i].times = 0;
    k->at[i].left = ++k->at[i].times & ~1;
    return true;
}

// e with factors replaced; NULL for 1. Two of |u| become u and u where they are, so that nothing overflows that did
// not; of two of another, one is the square.
static Node *without_kinks(Kinks *k, Node *e) {
    Ir *m = k->m;
    if (e->op == OP_mul) {
        Node *a = without_kinks(k, e->args[0]), *b = without_kinks(k, e->args[1]);
        return a && b ? ir_mul(m, a, b) : a ? a : b;
    }
    if (is_like_terms(e, MOST)) {
        Kinks before = *k;
        Node *one = ir_real(m, e->kind, 1), *a = without_kinks(k, e->args[0]), *b = without_kinks(&before, e->args[1]);
        Node *args[] = {a ? a : one, b ? b : one};
        return args[0] == e->args[0] && args[1] == e->args[1] ? e : ir_rebuild(m, e, args);
    }
    int at = factor_of(e);
    if (at >= 0) {
        if (e->op == OP_sum) k->sum[k->nsums++] = e->u.var;
        Node *inner = without_kinks(k, e->args[at]);
        if (e->op == OP_sum) k->nsums--;
        if (inner == e->args[at]) return e;
        Node *args[MOST];
        for (int i = 0; i < e->nargs; i++) args[i] = e->args[i];
        args[at] = inner ? inner : ir_real(m, e->kind, 1);
        return ir_rebuild(m, e, args);
    }
    const Node *plain = e->op == OP_sqrt || e->op == OP_abs || e->op == OP_hypot ? outside(k, e) : NULL;
    for (int i = 0; plain && i < k->n; i++)
        if (same_kink(k->at[i].e, plain) && k->at[i].left) {
            if (k->at[i].left == ALL) return NULL;
            bool second = --k->at[i].left % 2 == 0;
            return e->op == OP_abs ? k->at[i].e->args[0] : second ? NULL : square_of(m, k->at[i].e);
        }
    return e;
}

static Node *of_product(Ir *m, Node *e) {
    Kinks k = {.m = m};
    bool found = false;
    if (!find_kinks(&k, e)) return e;
    for (int i = 0; i < k.n; i++) found |= k.at[i].left > 0;
    Node *product = found ? without_kinks(&k, e) : e;
    return product ? product : ir_real(m, e->kind, 1);
}

// e ** k
static Node *power(Ir *m, Node *e, int64_t k) { return k == 1 ? e : ir_powi(m, e, ir_int(m, k)); }

// The even power of a product, each |u| in it replaced by u, other factors by their squares' half as high powers.
static Node *of_even_power(Ir *m, Node *e, int64_t power_of) {
    Kinks k = {.m = m};
    if (!find_kinks(&k, e->args[0]) || !k.n) return e;
    for (int i = 0; i < k.n; i++) k.at[i].left = k.at[i].e->op == OP_abs ? 2 * k.at[i].times : ALL;
    Node *rest = without_kinks(&k, e->args[0]);
    Node *product = rest ? power(m, rest, power_of) : NULL;
    for (int i = 0; i < k.n; i++) {
        if (k.at[i].left != ALL) continue;
        Node *factor = power(m, square_of(m, k.at[i].e), k.at[i].times * power_of / 2);
        product = product ? ir_mul(m, product, factor) : factor;
    }
    return product;
}

static Node *of_power(Ir *m, Node *e) {
    const Node *x = e->args[0], *y = e->args[1];
    double k = y->op != OP_lit ? 0 : y->kind == KIND_INT ? (double)y->u.num : y->u.real;
    if (k < 2 || k > 64 || k != (double)(int64_t)k) return e;
    if (x->op == OP_cbrt && (int64_t)k % 3 == 0) return power(m, x->args[0], (int64_t)k / 3);
    return (int64_t)k % 2 == 0 ? of_even_power(m, e, (int64_t)k) : e;
}

// x if e is x * x; c * y * y is one, too, as the rules write it, and so are the squares of products.
static Node *root_of_square(Ir *m, Node *e) {
    double c = 1;
    Parts p = {0};
    Node *r = NULL, *core = coefficient(e, &c);
    if (c <= 0 || !add_factors(core, &p)) return NULL;
    for (int i = 0; i < p.n; i++) {
        Node *x = p.part[i].e;
        int64_t power_of = 0;
        int k = i + 1;
        if (x->op == OP_powi && ir_is_int_lit(x->args[1], &power_of) && power_of > 0 && power_of % 2 == 0)
            x = power(m, x->args[0], power_of / 2);
        else {
            while (k < p.n && p.part[k].e != x) k++;
            if (k == p.n) return NULL;
            p.part[k] = p.part[--p.n];
        }
        r = r ? ir_mul(m, r, x) : x;
    }
    return c == 1 ? r : ir_mul(m, ir_real(m, e->kind, sqrt(c)), r);
}

// The length of a vector in the plane, whose square may overflow, or be 0, where it does not.
static Node *of_length(Ir *m, Node *e) {
    const Node *sum = e->args[0];
    Node *a = sum->op == OP_add ? root_of_square(m, sum->args[0]) : NULL;
    Node *b = a ? root_of_square(m, sum->args[1]) : NULL;
    return b ? ir_op(m, OP_hypot, a, b) : e;
}

// sqrt (x * x) is abs x, and of a fourth power there is no kink.
static Node *of_root(Ir *m, Node *e) {
    const Node *x = e->args[0];
    int64_t k;
    if (x->op == OP_mul && x->args[0] == x->args[1]) return ir_abs(m, x->args[0]);
    if (x->op != OP_powi || !ir_is_int_lit(x->args[1], &k) || k < 2 || k % 2 || k > 64) {
        Node *r = root_of_square(m, e->args[0]);
        return r ? ir_abs(m, r) : e;
    }
    return k % 4 == 0 ? power(m, x->args[0], k / 2) : power(m, ir_abs(m, x->args[0]), k / 2);
}

static Node *of_even(Ir *m, Node *e) {
    return e->args[0]->op == OP_abs ? ir_op(m, e->op, e->args[0]->args[0], NULL) : e;
}

// ---- exponentials

// x if e is exp x
static Node *exponent(const Node *e) { return e->op == OP_exp ? e->args[0] : NULL; }

// x if e is 1 + exp x
static Node *one_plus_exp(const Node *e) {
    if (e->op != OP_add) return NULL;
    for (int k = 0; k < 2; k++)
        if (ir_is_lit(e->args[k], 1) && exponent(e->args[1 - k])) return exponent(e->args[1 - k]);
    return NULL;
}

// Is e exp *x + exp *y, or the difference?
static bool two_exponentials(const Node *e, Op op, Node **x, Node **y) {
    if (e->op != op || !exponent(e->args[0]) || !exponent(e->args[1])) return false;
    *x = exponent(e->args[0]), *y = exponent(e->args[1]);
    return true;
}

// x if e is 1 / (1 + exp (-x)), or 1 less that of -x
static Node *sigmoid_of(Ir *m, const Node *e) {
    if (e->op == OP_sigmoid) return e->args[0];
    bool of_one = (e->op == OP_div || e->op == OP_sub) && ir_is_lit(e->args[0], 1);
    Node *x = !of_one ? NULL : e->op == OP_div ? one_plus_exp(e->args[1]) : sigmoid_of(m, e->args[1]);
    return x ? ir_neg(m, x) : NULL;
}

static Node *of_quotient(Ir *m, Node *e, bool value) {
    Node *a = e->args[0], *b = e->args[1], *x = one_plus_exp(b), *y, *z, *w;
    if (x && exponent(a) == x) return ir_sigmoid(m, x);
    if (x && value) return e;
    if (x) return ir_is_lit(a, 1) ? ir_sigmoid(m, ir_neg(m, x)) : ir_mul(m, a, ir_sigmoid(m, ir_neg(m, x)));
    if (!two_exponentials(b, OP_add, &x, &y)) return ad_shifted_quotient(m, e);
    if (exponent(a) == x) return ir_sigmoid(m, ir_sub(m, x, y));
    if (exponent(a) == y) return ir_sigmoid(m, ir_sub(m, y, x));
    if (!two_exponentials(a, OP_sub, &z, &w) || !((z == x && w == y) || (z == y && w == x)))
        return ad_shifted_quotient(m, e);
    return ir_tanh(m, ir_mul(m, ir_real(m, e->kind, 0.5), ir_sub(m, z, w)));
}

static Node *of_log(Ir *m, Node *e) {
    double c = 1;
    Node *a = e->args[0], *core = coefficient(a, &c), *x = one_plus_exp(a), *y;
    if (x) return ir_softplus(m, x);
    Node *s = sigmoid_of(m, a);
    if (s) return ir_neg(m, ir_softplus(m, ir_neg(m, s)));
    if (a->op == OP_sub && ir_is_lit(a->args[0], 1) && exponent(a->args[1]))
        return ir_log1mexp(m, exponent(a->args[1]));
    if (c <= 0 || !two_exponentials(core, OP_add, &x, &y)) return ad_shifted_log(m, e);
    Node *sum = ir_logaddexp(m, x, y);
    return c == 1 ? sum : ir_add(m, ir_log(m, ir_real(m, e->kind, c)), sum);
}

static Node *of_log1p(Ir *m, Node *e) {
    Node *a = e->args[0], *x = exponent(a);
    if (x) return ir_softplus(m, x);
    return a->op == OP_neg && exponent(a->args[0]) ? ir_log1mexp(m, exponent(a->args[0])) : e;
}

// if x = y then 0 else x - y
static Node *of_choice(Ir *m, Node *e) {
    bool select = e->op == OP_select;
    const Node *c = e->args[0], *d = e->args[select ? 2 : 1];
    if (c->op != (select ? OP_eq : OP_ne) || (select && !ir_is_zero(e->args[1])) || d->op != OP_sub) return e;
    bool same = c->args[0] == d->args[0] && c->args[1] == d->args[1];
    bool turned = c->args[0] == d->args[1] && c->args[1] == d->args[0];
    return same || turned ? ir_difference(m, d->args[0], d->args[1]) : e;
}

// ---- sums

// Does c say that x is positive, or that it is negative? What it says of 0 is all the same.
static bool is_sign(const Node *c, const Node *x, bool positive) {
    if (c->op == OP_not) return is_sign(c->args[0], x, !positive);
    return (c->op == OP_lt || c->op == OP_le) && ir_is_zero(c->args[!positive]) && c->args[positive] == x;
}

// x if e is max x 0, written in any way; `c` times -max x 0 is min (-x) 0.
static Node *ramp(Ir *m, Node *e, double *c) {
    if (is_max(e) || is_min(e)) {
        int k = ir_is_zero(e->args[0]) ? 1 : ir_is_zero(e->args[1]) ? 0 : -1;
        if (k < 0) return NULL;
        if (is_max(e)) return e->args[k];
        *c = -*c;
        return ir_neg(m, e->args[k]);
    }
    if (e->op == OP_add) { // x + abs x is twice that
        for (int k = 0; k < 2; k++)
            if (e->args[k]->op == OP_abs && same_size(e->args[k]->args[0], e->args[1 - k]))
                return *c *= 2, e->args[1 - k];
        return NULL;
    }
    if (e->op == OP_bracket) return is_sign(e->args[0], e->args[1], true) ? e->args[1] : NULL;
    if (e->op != OP_select) return NULL;
    if (ir_is_zero(e->args[2]) && is_sign(e->args[0], e->args[1], true)) return e->args[1];
    return ir_is_zero(e->args[1]) && is_sign(e->args[0], e->args[2], false) ? e->args[2] : NULL;
}

static bool add_terms(Ir *m, Node *e, double c, Parts *p) {
    e = coefficient(e, &c);
    bool sum = e->op == OP_add || e->op == OP_sub;
    if (sum && !ramp(m, e, &(double){0}))
        return add_terms(m, e->args[0], c, p) && add_terms(m, e->args[1], e->op == OP_sub ? -c : c, p);
    if (p->n == MOST) return false;
    p->part[p->n++] = (Part){c, e};
    return true;
}

static Node *times(Ir *m, double c, Node *e) {
    return c == 1 ? e : c == -1 ? ir_neg(m, e) : ir_mul(m, ir_real(m, e->kind, c), e);
}

static Node *sum_of(Ir *m, const Parts *p) {
    Node *e = NULL;
    for (int i = 0; i < p->n; i++) {
        double c = p->part[i].c;
        if (e && c < 0) e = ir_sub(m, e, times(m, -c, p->part[i].e));
        else e = e ? ir_add(m, e, times(m, c, p->part[i].e)) : times(m, c, p->part[i].e);
    }
    return e;
}

// What t.e is together with log (1 + exp (-abs z)): softplus or logaddexp, or NULL. Its coefficient is then t->c.
static Node *joined(Ir *m, Part *t, const Node *z) {
    Node *x = ramp(m, t->e, &t->c);
    if (x) return same_size(x, z) ? ir_softplus(m, x) : NULL;
    if (!is_max(t->e) || z->op != OP_sub) return NULL;
    Node *a = t->e->args[0], *b = t->e->args[1];
    bool differ = (z->args[0] == a && z->args[1] == b) || (z->args[0] == b && z->args[1] == a);
    return differ ? ir_logaddexp(m, a, b) : NULL;
}

// The half of z and that of its size are a ramp, too: then those terms are one.
static void join_halves(Ir *m, Parts *p, const Node *z) {
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->n; k++) {
            const Node *a = p->part[k].e;
            if (i == k || p->part[i].c != p->part[k].c || a->op != OP_abs || !same_size(a->args[0], p->part[i].e))
                continue;
            if (!same_size(p->part[i].e, z)) continue;
            p->part[i] = (Part){2 * p->part[i].c, ir_evenmax(m, p->part[i].e, ir_zero(m, a->kind))};
            p->part[k] = p->part[--p->n];
            return;
        }
}

// z if e is log (1 + exp (-abs z)), which is softplus by now.
static Node *decay(const Node *e) {
    double sign = 1;
    const Node *abs = e->op == OP_softplus ? coefficient(e->args[0], &sign) : NULL;
    return abs && sign == -1 && abs->op == OP_abs ? abs->args[0] : NULL;
}

// Joins a ramp to as much as it needs of a decay. False if there is none.
static bool join(Ir *m, Parts *p) {
    for (int i = 0; i < p->n; i++) {
        const Node *s = p->part[i].e, *z = decay(s);
        if (!z) continue;
        join_halves(m, p, z);
        for (i = 0; p->part[i].e != s;) i++;
        for (int k = 0; k < p->n; k++) {
            Part t = p->part[k];
            Node *one = k != i ? joined(m, &t, z) : NULL;
            double rest = one ? p->part[i].c - t.c : 0;
            if (!one || rest * t.c < 0) continue; // it needs more
            p->part[k] = (Part){t.c, one};
            p->part[i].c = rest;
            if (rest == 0) p->part[i] = p->part[--p->n];
            return true;
        }
    }
    return false;
}

static Node *of_sum(Ir *m, Node *e) {
    Parts p = {0};
    bool found = false;
    if (!add_terms(m, e, 1, &p)) return e;
    while (join(m, &p)) found = true;
    Node *x = found ? NULL : sigmoid_of(m, e);
    return found ? sum_of(m, &p) : x ? ir_sigmoid(m, x) : e;
}

// ---- all of them

// What stands for e, and the rule that says so; e itself where there is nothing.
typedef struct Form {
    Node *e;
    Rule rule;
} Form;

static Form form_of_value(Ir *m, Node *e) {
    switch (e->op) {
    case OP_div: return (Form){of_quotient(m, e, true), RULE_stable_quotient};
    case OP_log: return (Form){of_log(m, e), RULE_stable_log};
    case OP_log1p: return (Form){of_log1p(m, e), RULE_stable_log};
    case OP_sqrt: return (Form){e->args[0]->op == OP_add ? of_length(m, e) : of_root(m, e), RULE_stable_length};
    default: return (Form){.e = e};
    }
}

static Form form_of(Ir *m, Node *e) {
    switch (e->op) {
    case OP_div: return (Form){of_quotient(m, e, false), RULE_smooth_quotient};
    case OP_log: return (Form){of_log(m, e), RULE_smooth_log};
    case OP_log1p: return (Form){of_log1p(m, e), RULE_smooth_log};
    case OP_select:
    case OP_bracket: return (Form){of_choice(m, e), RULE_smooth_difference};
    case OP_add:
    case OP_sub: return (Form){of_sum(m, e), RULE_smooth_sum};
    case OP_mul: return (Form){of_product(m, e), RULE_smooth_product};
    case OP_pow:
    case OP_powi: return (Form){of_power(m, e), RULE_smooth_power};
    case OP_sqrt:
        if (e->args[0]->op == OP_add) return (Form){of_length(m, e), RULE_smooth_length};
        return (Form){of_root(m, e), RULE_smooth_size};
    case OP_cos:
    case OP_cosh: return (Form){of_even(m, e), RULE_smooth_size};
    case OP_abs: return (Form){not_negative(e->args[0], MOST) ? e->args[0] : e, RULE_smooth_size};
    default: return (Form){.e = e};
    }
}

static Node *smooth(Ir *m, Node *e, void *data) {
    const bool *value = data;
    if (!kind_is_float(e->kind) || e->rank) return e;
    Form f = *value ? form_of_value(m, e) : form_of(m, e);
    return f.e != e && rule(m, f.rule) ? f.e : e;
}

static void find_parts(Node *e, void *data) {
    bool *any = data;
    switch (e->op) {
    case OP_exp:
    case OP_log:
    case OP_log1p:
    case OP_abs:
    case OP_sqrt:
    case OP_cbrt:
    case OP_hypot: *any = true; return;
    case OP_eq:
    case OP_ne: *any |= kind_is_float(e->args[0]->kind); return;
    default: return;
    }
}

static Node *changed(Ir *m, Node *e, bool value) {
    bool any = false;
    ir_walk(1, &e, find_parts, &any);
    return any ? ir_change(m, e, smooth, &value) : e;
}

Node *ad_smooth(Ir *m, Node *e) { return changed(m, e, false); }

Node *ad_stable(Ir *m, Node *e) { return changed(m, e, true); }

static Node *undemanded(Ir *m, Node *e, void *data) {
    (void)m, (void)data;
    return ir_is_demand(e) ? e->args[1] : e;
}

Node *ad_undemanded(Ir *m, Node *e) { return e->partial ? ir_change(m, e, undemanded, NULL) : e; }

Node **ad_smooth_all(Ir *m, int n, Node *const *y) {
    Node **out = ARENA_ARRAY(m->arena, Node *, n + 1);
    bool any = false, value = false;
    Rewriting *w = ir_changing(m, NULL, undemanded, NULL); // one for all: they share most of what they are made of
    for (int i = 0; i < n; i++) out[i] = y[i]->partial ? ir_rewrite(w, y[i]) : y[i];
    ir_rewriting_end(w);
    ir_walk(n, out, find_parts, &any);
    if (!any) return out;
    w = ir_changing(m, NULL, smooth, &value);
    for (int i = 0; i < n; i++) out[i] = ir_rewrite(w, out[i]);
    ir_rewriting_end(w);
    return out;
}
