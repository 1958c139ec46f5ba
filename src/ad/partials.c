// Derivatives of elementwise operations, from the columns dx and dy of ir/ops.def.
#include "ad/graph.h"

#define ZERO NULL
#define NONE NULL
#define LIT(c) ir_real(m, r->kind, c)
#define IREF(c) ir_int(m, c)
#define CONV(a) ir_conv(m, r->kind, a)
#define SEL(c, a, b) ir_select(m, c, a, b)
#define STRICT(a, b) (m->strict_nan ? (a) : (b))
#define KINK(c, e) STRICT(e, SEL(c, LIT(0.0), e))
#define ADD(a, b) ir_add(m, a, b)
#define SUB(a, b) ir_sub(m, a, b)
#define MUL(a, b) ir_mul(m, a, b)
#define DIV(a, b) ir_div(m, a, b)
#define NEG(a) ir_neg(m, a)
#define ROUND(a) ir_round(m, a)
#define HYPOT(a, b) ir_hypot(m, a, b)
#define SQRT(a) ir_sqrt(m, a)
#define EXP(a) ir_exp(m, a)
#define LOG(a) ir_log(m, a)
#define SIN(a) ir_sin(m, a)
#define COS(a) ir_cos(m, a)
#define SINH(a) ir_sinh(m, a)
#define COSH(a) ir_cosh(m, a)
#define DIGAMMA(a) ir_digamma(m, a)
#define POLYGAMMA(a, b) ir_polygamma(m, a, b)
#define POW(a, b) ir_pow(m, a, b)
#define POWI(a, b) ir_powi(m, a, b)
#define LT(a, b) ir_lt(m, a, b)
#define LE(a, b) ir_le(m, a, b)
#define EQ(a, b) ir_eq(m, a, b)
#define AND(a, b) ir_and(m, a, b)

Node *ad_partial(Ir *m, Node *r, int k) {
    if (!kind_is_float(r->kind) || !op_is_elementwise(r->op) || !kind_is_float(r->args[k]->kind)) {
        return NULL;
    }
    Node *x = r->args[0], *y = r->nargs > 1 ? r->args[1] : NULL;
    switch (r->op) {
#define OP(name, arity, type, dx, dy, ...)                                                                             \
    case OP_##name:                                                                                                    \
        return k == 0 ? (dx) : (dy);
#include "ir/ops.def"
    default:
        return NULL;
    }
}

Node *ad_and(Ir *m, Node *a, Node *b) {
    if (!a || !b) {
        return a ? a : b;
    }
    return ir_and(m, a, b);
}

// Takes the condition out of a value that is zero unless it holds.
static bool strip_guard(Ir *m, AdFactor *f) {
    Node *d = f->value, *cond;
    if (d->op == OP_bracket) {
        cond = d->args[0];
        f->value = d->args[1];
    } else if (d->op == OP_select && ir_is_zero(d->args[2])) {
        cond = d->args[0];
        f->value = d->args[1];
    } else if (d->op == OP_select && ir_is_zero(d->args[1])) {
        cond = ir_not(m, d->args[0]);
        f->value = d->args[2];
    } else {
        return false;
    }
    f->guard = ad_and(m, f->guard, cond);
    return true;
}

AdFactor ad_factor(Ir *m, Node *e, int k) {
    AdFactor f = {NULL, NULL};
    bool square = e->nargs == 2 && e->args[0] == e->args[1];
    if (square && k == 1) {
        return f;
    }
    f.value = ad_partial(m, e, k);
    if (square) {
        Node *other = ad_partial(m, e, 1);
        f.value = f.value && other ? ir_add(m, f.value, other) : f.value ? f.value : other;
    }
    if (!f.value || ir_is_zero(f.value)) {
        return (AdFactor){NULL, NULL};
    }
    while (strip_guard(m, &f)) {
    }
    return f;
}

Node *ad_times(Ir *m, Node *v, Node *d) {
    if (v->op == OP_bracket && v->rank == 0) { // where it is false nothing is added, whatever d is there
        return ir_bracket(m, v->args[0], ad_times(m, v->args[1], d));
    }
    if (ir_is_lit(d, 1.0)) {
        return v;
    }
    if (ir_is_lit(d, -1.0)) {
        return ir_neg(m, v);
    }
    if (ir_is_lit(v, 1.0)) {
        return d;
    }
    if (d->op == OP_div && ir_is_lit(d->args[0], 1.0)) {
        return ir_div(m, v, d->args[1]);
    }
    return ir_mul(m, v, d);
}
