// Folds whose step is affine in the state, with coefficients that do not change, have closed forms ([CO] Fig. 5, C6):
//
//   fold s = z in a * s           is   z * a^n
//   fold s = z in a * s + b       is   z * a^n + b * (1 + a + … + a^(n-1))
//
// Powers round differently, and terms of different signs can cancel: so this is for Ir.fast.
#include "ir/internal.h"
#include "ir/rule.h"

typedef struct Affine {
    Node *a, *b; // a * s + b; NULL: zero
} Affine;

static bool affine_of(Ir *m, Node *e, const Var *s, Affine *out);

static Node *either(Ir *m, Op op, Node *a, Node *b) { return a && b ? ir_op(m, op, a, b) : a; }

// A sum of affine functions; an empty sum is 0 whatever its factors are.
static bool affine_sum(Ir *m, Node *e, const Var *s, Affine *out) {
    Affine f;
    if (!affine_of(m, e->args[0], s, &f)) return false;
    *out = (Affine){f.a ? ir_sum(m, e->u.var, f.a) : NULL, f.b ? ir_sum(m, e->u.var, f.b) : NULL};
    return true;
}

// e as an affine function of s; false if it is none.
static bool affine_of(Ir *m, Node *e, const Var *s, Affine *out) {
    Affine l, r;
    if (!node_has_var(e, s)) return *out = (Affine){NULL, e}, true;
    if (e == ir_var(s)) return *out = (Affine){ir_real(m, e->kind, 1), NULL}, true;
    if (e->op == OP_sum) return affine_sum(m, e, s, out);
    if (e->op != OP_add && e->op != OP_sub && e->op != OP_mul && e->op != OP_div && e->op != OP_neg) return false;
    Node *b = e->nargs > 1 ? e->args[1] : ir_real(m, e->kind, -1);
    if (!affine_of(m, e->args[0], s, &l) || !affine_of(m, b, s, &r)) return false;
    if (e->op == OP_add || e->op == OP_sub) {
        Node *none = ir_zero(m, e->kind);
        out->a = either(m, e->op, l.a || !r.a ? l.a : none, r.a);
        out->b = either(m, e->op, l.b || !r.b ? l.b : none, r.b);
        return true;
    }
    if (l.a && r.a) return false;
    if (r.a && e->op == OP_div) return false;
    Affine f = r.a ? r : l; // times the other
    Node *by = r.a ? l.b : r.b;
    Op op = e->op == OP_div ? OP_div : OP_mul;
    *out = (Affine){ir_op(m, op, f.a, by), f.b ? ir_op(m, op, f.b, by) : NULL};
    return true;
}

// The sum of a^i for i < n. Where a is near to 1, the difference of the quotient loses digits, and that of its derivative more.
static Node *geometric(Ir *m, Node *a, Node *n, Node *power) {
    Node *one = ir_real(m, a->kind, 1), *d = ir_sub(m, power, one), *size = ir_abs(m, d);
    Node *far = ir_and(m, ir_lt(m, ir_real(m, a->kind, 0.125), size), ir_lt(m, size, ir_real(m, a->kind, 1e30)));
    Var *i = ir_index(m, "i", n);
    return ir_select(m, far, ir_div(m, d, ir_sub(m, a, one)), ir_sum(m, i, ir_powi(m, a, ir_var(i))));
}

enum { FEW = 8 };

Node *rule_affine(Ir *m, Node *loop, int k) {
    const Loop *l = ir_loop(loop);
    Node *z = loop_init(loop, k), *n = ir_count(m, loop);
    Affine f;
    int64_t count;
    if (!m->fast || m->raw || z->rank || !kind_is_float(z->kind) || (ir_is_int_lit(n, &count) && count <= FEW)) return NULL;
    if (!affine_of(m, loop_step(loop, k), l->state[k], &f) || !f.a || f.a->partial || node_has_var(f.a, l->index)) return NULL;
    if (f.b && (f.b->partial || node_has_var(f.b, l->index) || ir_is_lit(f.a, 1))) return NULL;
    if (!rule(m, RULE_fold_affine)) return NULL;
    Node *power = ir_powi(m, f.a, n), *grown = ir_mul(m, z, power);
    return f.b ? ir_add(m, grown, ir_mul(m, f.b, geometric(m, f.a, n, power))) : grown;
}
