// Rules for quotients and roots that round differently, or lose infinities and zeros (Ir.fast). Constants and denominators
// come together, so that those of a derivative and of its chain's other factors meet, and cancel.
#include "ir/internal.h"
#include "ir/rule.h"

static bool is_constant(const Node *e) { return e->op == OP_lit; }
static bool has_constant(const Node *e) { return e->op == OP_mul && is_constant(e->args[0]); }

enum { MAX_FACTORS = 16 }; // of a product are looked at

static Node *without_factor(Ir *m, Node *a, const Node *b, int *fuel) {
    if (a == b) return ir_real(m, a->kind, 1);
    if (a->op != OP_mul || --*fuel < 0) return NULL;
    Node *l = without_factor(m, a->args[0], b, fuel);
    if (l) return ir_mul(m, l, a->args[1]);
    Node *r = without_factor(m, a->args[1], b, fuel);
    return r ? ir_mul(m, a->args[0], r) : NULL;
}

// a without its factor b; NULL if that is none. What may fail stays.
static Node *without(Ir *m, Node *a, const Node *b) {
    int fuel = MAX_FACTORS;
    return b->partial ? NULL : without_factor(m, a, b, &fuel);
}

// a / b without the factors that both have; NULL if there are none.
static Node *reduced(Ir *m, Node *a, Node *b, int *fuel) {
    if (b->op == OP_mul && --*fuel >= 0) {
        Node *e = reduced(m, a, b->args[0], fuel);
        if (e) return ir_div(m, e, b->args[1]);
        e = reduced(m, a, b->args[1], fuel);
        return e ? ir_div(m, e, b->args[0]) : NULL;
    }
    return is_constant(b) ? NULL : without(m, a, b);
}

static Node *product(Ir *m, Node *a, Node *b) {
    if (a == b && a->op == OP_sqrt && rule(m, RULE_root_squared)) return a->args[0];
    if (a->op == OP_div && b->op == OP_div && rule(m, RULE_mul_quotients))
        return ir_div(m, ir_mul(m, a->args[0], b->args[0]), ir_mul(m, a->args[1], b->args[1]));
    if (a->op == OP_div && b->op != OP_div) return product(m, b, a);
    if (b->op != OP_div) return NULL;
    Node *left = without(m, b->args[1], a);
    if (left && rule(m, RULE_cancel)) return ir_div(m, b->args[0], left);
    left = without(m, a, b->args[1]);
    if (left && rule(m, RULE_cancel)) return ir_mul(m, left, b->args[0]);
    if (!is_constant(b->args[0]) || !rule(m, RULE_literal_numerator)) return NULL;
    Node *c = is_constant(a) ? ir_real(m, a->kind, a->u.real * b->args[0]->u.real) : NULL; // folded, or it would go on
    return c ? ir_div(m, c, b->args[1]) : ir_mul(m, b->args[0], ir_div(m, a, b->args[1]));
}

static Node *quotient(Ir *m, Node *a, Node *b) {
    if (a->op == OP_div && rule(m, RULE_div_quotient)) return ir_div(m, a->args[0], ir_mul(m, a->args[1], b));
    if (b->op == OP_div && rule(m, RULE_div_by_quotient)) return ir_div(m, ir_mul(m, a, b->args[1]), b->args[0]);
    if (has_constant(a) && !is_constant(b) && rule(m, RULE_literal_numerator))
        return ir_mul(m, a->args[0], ir_div(m, a->args[1], b));
    if (has_constant(b) && rule(m, RULE_literal_denominator))
        return ir_mul(m, ir_real(m, b->kind, 1 / b->args[0]->u.real), ir_div(m, a, b->args[1]));
    if (is_constant(b)) return NULL;
    int fuel = MAX_FACTORS;
    Node *e = reduced(m, a, b, &fuel);
    if (e && rule(m, RULE_cancel)) return e;
    if (b->op == OP_sqrt && a == b->args[0] && rule(m, RULE_root_quotient)) return b;
    if (a->op == OP_sqrt && b == a->args[0] && rule(m, RULE_root_quotient)) return ir_div(m, ir_real(m, a->kind, 1), a);
    return NULL;
}

Node *rule_quotient(Ir *m, Op op, Node *a, Node *b) {
    if (!m->fast || !kind_is_float(a->kind)) return NULL;
    return op == OP_mul ? product(m, a, b) : quotient(m, a, b);
}
