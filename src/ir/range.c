// Between which numbers a floating value lies if it is a number, by interval arithmetic: rounding keeps order. So a divisor
// such as 0.65 - 0.4 * cos x * cos x is known not to be 0, and 1 + exp x not to be negative.
#include "ir/internal.h"
#include "ir/rule.h"

#include <math.h>

static const Range everything = {-INFINITY, INFINITY};
static const double slack = 1e-9; // what functions of the library may be off

static double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

static Range product(Range a, Range b) {
    double p[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)};
    Range r = {p[0], p[0]};
    for (int i = 1; i < 4; i++) r.low = fmin(r.low, p[i]), r.high = fmax(r.high, p[i]);
    return r;
}

static Range magnitude(Range a) {
    double most = fmax(fabs(a.low), fabs(a.high));
    if (a.low <= 0 && a.high >= 0) return (Range){0, most};
    return (Range){fmin(fabs(a.low), fabs(a.high)), most};
}

static Range hull(Range a, Range b) { return (Range){fmin(a.low, b.low), fmax(a.high, b.high)}; }

static Range range(const Node *e, int *fuel);

static Range of_two(const Node *e, int *fuel) {
    Range a = range(e->args[0], fuel), b = range(e->args[1], fuel);
    switch (e->op) {
    case OP_add: return (Range){a.low + b.low, a.high + b.high};
    case OP_sub: return (Range){a.low - b.high, a.high - b.low};
    case OP_mul: return e->args[0] == e->args[1] ? product(magnitude(a), magnitude(a)) : product(a, b);
    case OP_evenmin:
    case OP_latermin:
    case OP_min: return (Range){fmin(a.low, b.low), fmin(a.high, b.high)};
    case OP_evenmax:
    case OP_latermax:
    case OP_max: return (Range){fmax(a.low, b.low), fmax(a.high, b.high)};
    case OP_hypot: return (Range){(1 - slack) * fmax(magnitude(a).low, magnitude(b).low), INFINITY};
    case OP_div:
        if (b.low <= 0 && b.high >= 0) return everything;
        return product(a, (Range){1 / b.high, 1 / b.low});
    default: return everything;
    }
}

static Range of_one(const Node *e, int *fuel) {
    Range a;
    switch (e->op) {
    case OP_sin:
    case OP_cos:
    case OP_tanh:
    case OP_erf: return (Range){-1 - slack, 1 + slack};
    case OP_softplus:
    case OP_exp:
    case OP_exp2: return (Range){0, INFINITY};
    case OP_sigmoid: return (Range){0, 1 + slack};
    case OP_cosh: return (Range){1 - slack, INFINITY};
    case OP_neg: a = range(e->args[0], fuel); return (Range){-a.high, -a.low};
    case OP_abs: return magnitude(range(e->args[0], fuel));
    case OP_sqrt: a = range(e->args[0], fuel); return (Range){sqrt(fmax(a.low, 0)), INFINITY};
    case OP_stop: return range(e->args[0], fuel);
    default: return everything;
    }
}

static Range range(const Node *e, int *fuel) {
    if (e->kind != KIND_DOUBLE || e->rank || --*fuel < 0) return everything;
    int64_t k;
    switch (e->op) {
    case OP_lit: return isnan(e->u.real) ? everything : (Range){e->u.real, e->u.real};
    case OP_conv: return e->args[0]->kind == KIND_INT && e->args[0]->nonneg ? (Range){0, INFINITY} : everything;
    case OP_bracket: return hull((Range){0, 0}, range(e->args[1], fuel));
    case OP_select: return hull(range(e->args[1], fuel), range(e->args[2], fuel));
    case OP_powi: return ir_is_int_lit(e->args[1], &k) && k > 0 && k % 2 == 0 ? (Range){0, INFINITY} : everything;
    default: break;
    }
    Range r = e->nargs == 2 ? of_two(e, fuel) : e->nargs == 1 ? of_one(e, fuel) : everything;
    return isnan(r.low) || isnan(r.high) ? everything : r;
}

enum { MAX_PARTS = 64 };

Range ir_range(const Node *e) {
    int fuel = MAX_PARTS;
    return range(e, &fuel);
}

// Comparisons of floating numbers; NULL if ranges do not decide them. What holds of numbers need not hold of NaN.
Node *rule_compare(Ir *m, Op op, Node *a, Node *b) {
    Range x = ir_range(a), y = ir_range(b);
    bool apart = x.high < y.low || y.high < x.low;
    if (!(op == OP_eq || op == OP_ne ? apart : op == OP_lt ? x.low >= y.high : op == OP_le && x.low > y.high)) return NULL;
    if (a->partial || b->partial || !rule(m, RULE_compare_range)) return NULL;
    return ir_bool(m, op == OP_ne);
}
