// Derivatives of elementwise operations, from the columns dx and dy of ir/ops.def.
#include "ad/graph.h"
#include "ir/formula.h"

Node *ad_partial(Ir *m, Node *r, int k) {
    if (!kind_is_float(r->kind) || !op_is_elementwise(r->op) || !kind_is_float(r->args[k]->kind)) {
        return NULL;
    }
    Node *x = r->args[0], *y = r->nargs > 1 ? r->args[1] : NULL;
    switch (r->op) {
#define OP(name, arity, type, dx, dy, ...)                                                                             \
    case OP_##name:                                                                                                    \
        return k == 0 ? (dx) : (dy);
#define HELD(name, arity, dx, dy, ...) OP(name, arity, T_FLT, dx, dy, )
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
