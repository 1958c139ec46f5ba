// Rules that save an operation only if what they take apart is used nowhere else: common factors of two terms ([FS] Fig. 8 b),
// common divisors, products of powers and of exponentials, exp (y * log x), reciprocals, and exp x - 1. The builders do not know
// what is used how often, so they come in a pass.
#include "pass/pass.h"

#include "ir/rule.h"

#include <stdint.h>

enum { MAX_ROUNDS = 8, MAX_LOOPS = 64, MAX_EXPONENT = 1024 };

// How often values are used. Loops that have not been joined yet (unify.c) compute the same under other variables: values
// that are alike but for these are counted as one, so that what is one later is changed alike everywhere.
typedef struct Uses {
    Map likeness; // of a value
    Map number;   // of an index variable + 1: how many of the same extent are around it
    Map count;    // by likeness
    Map seen;
} Uses;

static uintptr_t mix(uintptr_t h, uintptr_t x) { return (h ^ x) * (uintptr_t)0x9e3779b97f4a7c15 + (h >> 29); }

static void number_variable(Node *e, void *data) {
    Uses *u = data;
    intptr_t n = 1;
    for (int i = 0; ir_is_binder(e) && i < e->fv->n; i++) n += !e->fv->v[i]->is_state && e->fv->v[i]->extent == e->u.var->extent;
    if (ir_is_binder(e)) map_put(&u->number, e->u.var, (void *)n);
}

static uintptr_t likeness(Uses *u, const Node *e) {
    const void *known = map_get(&u->likeness, e);
    if (known) return (uintptr_t)known;
    const Var *v = e->op == OP_var || ir_is_binder(e) ? e->u.var : NULL;
    intptr_t number = v && !v->is_state ? (intptr_t)map_get(&u->number, v) : 0;
    bool own = !e->fv->n || ir_is_loop(e) || (v && !number);
    uintptr_t h = mix((uintptr_t)e->op, own ? (uintptr_t)e : (uintptr_t)e->kind);
    if (!own) h = v ? mix(mix(h, (uintptr_t)number), likeness(u, v->extent)) : mix(h, (uintptr_t)e->u.num);
    for (int k = 0; !own && k < e->nargs; k++) h = mix(h, likeness(u, e->args[k]));
    map_put(&u->likeness, e, (void *)(h | 1));
    return h | 1;
}

static void note_use(Uses *u, const Node *e) {
    void *key = (void *)likeness(u, e);
    map_put(&u->count, key, (void *)((intptr_t)map_get(&u->count, key) + 1));
}

static void count_uses(Node *e, void *data) {
    Uses *u = data;
    void *key = (void *)likeness(u, e);
    if (map_get(&u->seen, key)) return;
    map_put(&u->seen, key, e);
    for (int k = 0; k < e->nargs; k++) note_use(u, e->args[k]);
}

static void find_uses(const Func *f, Uses *u) {
    ir_walk(func_roots(f), f->outputs, number_variable, u);
    ir_walk(func_roots(f), f->outputs, count_uses, u);
    for (int i = 0; i < func_roots(f); i++) note_use(u, f->outputs[i]);
}

static void uses_free(Uses *u) { map_free(&u->likeness), map_free(&u->number), map_free(&u->count), map_free(&u->seen); }

// Is e, of this operation, used once? What has been rewritten in this round is not known.
static bool once(const Uses *u, const Node *e, Op op) {
    return e->op == op && (intptr_t)map_get(&u->count, map_get(&u->likeness, e)) == 1;
}

// If p is a product with the factor x, or one with a product in it that is used nowhere else and has it: the other factors.
static Node *without_factor(Ir *m, const Uses *uses, const Node *p, const Node *x) {
    for (int i = 0; i < 2; i++)
        if (p->args[i] == x) return p->args[!i];
    for (int i = 0; i < 2; i++) {
        const Node *inner = p->args[i];
        for (int k = 0; once(uses, inner, OP_mul) && k < 2; k++)
            if (inner->args[k] == x) return ir_mul(m, p->args[!i], inner->args[!k]);
    }
    return NULL;
}

// a * x + b * x as x * (a + b), or both with -; NULL if they have no factor in common. x is an operand of one of the products.
static Node *common_factor(Ir *m, const Uses *uses, const Node *p, const Node *q, Op op) {
    for (int i = 0; i < 4; i++) {
        Node *x = i < 2 ? p->args[i] : q->args[i - 2];
        Node *a = without_factor(m, uses, p, x), *b = a ? without_factor(m, uses, q, x) : NULL;
        if (b && rule(m, RULE_factor)) return ir_mul(m, x, ir_op(m, op, a, b));
    }
    return NULL;
}

// Does a depend on an index that neither b nor c depends on? Then what is made of these is made once for all of its values.
static bool varies_alone(const Node *a, const Node *b, const Node *c) {
    for (int i = 0; i < a->fv->n; i++) {
        const Var *v = a->fv->v[i];
        if (!v->is_state && !node_has_var(b, v) && !node_has_var(c, v)) return true;
    }
    return false;
}

// a / b + c / b as (a + c) / b, and a / b + a * c as a * (1 / b + c), or both with -.
static Node *common_quotient(Ir *m, const Node *p, const Node *q, Op op) {
    Node *a = p->args[0], *b = q->args[0];
    if (p->op == OP_div && q->op == OP_div)
        return p->args[1] == q->args[1] && rule(m, RULE_factor_quotient) ? ir_div(m, ir_op(m, op, a, b), p->args[1]) : NULL;
    const Node *quotient = p->op == OP_div ? p : q, *product = p->op == OP_div ? q : p;
    for (int i = 0; i < 2; i++) {
        Node *x = quotient->args[0], *y = quotient->args[1], *c = product->args[!i];
        if (product->args[i] != x || !varies_alone(x, y, c) || !rule(m, RULE_factor_quotient)) continue;
        Node *one = ir_div(m, ir_real(m, y->kind, 1), y);
        return ir_mul(m, x, p == quotient ? ir_op(m, op, one, c) : ir_op(m, op, c, one));
    }
    return NULL;
}

static Node *common(Ir *m, const Uses *uses, const Node *p, const Node *q, Op op) {
    return p->op == OP_mul && q->op == OP_mul ? common_factor(m, uses, p, q, op) : common_quotient(m, p, q, op);
}

// Sums and differences: of two products or quotients, or of (e + a * x) and one.
static Node *factored(Ir *m, const Uses *uses, const Node *e) {
    Node *a = e->args[0], *b = e->args[1];
    if (m->strict || (!once(uses, b, OP_mul) && !once(uses, b, OP_div))) return NULL;
    if (once(uses, a, OP_mul) || once(uses, a, OP_div)) return common(m, uses, a, b, e->op);
    bool chain = once(uses, a, OP_add) || once(uses, a, OP_sub);
    if (!chain || (!once(uses, a->args[1], OP_mul) && !once(uses, a->args[1], OP_div))) return NULL;
    Node *both = common(m, uses, a->args[1], b, a->op == e->op ? OP_add : OP_sub);
    return both ? ir_op(m, a->op, a->args[0], both) : NULL;
}

static bool exponent(const Node *e, int64_t *k) {
    return e->op == OP_powi && ir_is_int_lit(e->args[1], k) && *k > 0 && *k <= MAX_EXPONENT;
}

static bool varies_with_all_of(const Node *e, const Node *a) {
    bool all = true;
    for (int i = 0; i < a->fv->n; i++) all &= node_has_var(e, a->fv->v[i]);
    return all;
}

// a * (1 / b), the reciprocal being used here only, unless it is made once for all values of a variable that a depends on.
static Node *by_reciprocal(Ir *m, const Uses *uses, Node *a, const Node *b) {
    if (m->strict || !once(uses, b, OP_div) || !ir_is_lit(b->args[0], 1) || !varies_with_all_of(b, a)) return NULL;
    return rule(m, RULE_mul_reciprocal) ? ir_div(m, a, b->args[1]) : NULL;
}

static Node *product(Ir *m, const Uses *uses, const Node *e) {
    Node *a = e->args[0], *b = e->args[1];
    int64_t j, k;
    Node *quotient = by_reciprocal(m, uses, a, b);
    if (!quotient) quotient = by_reciprocal(m, uses, b, a);
    if (quotient) return quotient;
    if (a == b || !once(uses, b, b->op) || m->strict) return NULL;
    bool exps = m->fast && once(uses, a, OP_exp) && b->op == OP_exp;
    if (exps && rule(m, RULE_exp_product)) return ir_exp(m, ir_add(m, a->args[0], b->args[0]));
    if (exponent(b, &k) && a == b->args[0] && rule(m, RULE_power_product)) return ir_powi(m, a, ir_int(m, k + 1));
    bool powers = once(uses, a, OP_powi) && exponent(a, &j) && exponent(b, &k) && a->args[0] == b->args[0];
    return powers && rule(m, RULE_power_product) ? ir_powi(m, a->args[0], ir_int(m, j + k)) : NULL;
}

// exp (y * log x): derivatives of it are cheaper than those of x ** y, and need log x, too.
static Node *power(Ir *m, const Uses *uses, const Node *e) {
    const Node *a = e->args[0];
    if (!m->fast || !once(uses, a, OP_mul)) return NULL;
    bool first = once(uses, a->args[0], OP_log), either = first || once(uses, a->args[1], OP_log);
    return either && rule(m, RULE_exp_power) ? ir_pow(m, a->args[!first]->args[0], a->args[first]) : NULL;
}

static Node *change(Ir *m, Node *e, void *uses) {
    if (e->rank || !kind_is_float(e->kind)) return e;
    Node *by = NULL;
    if (e->op == OP_add || e->op == OP_sub) by = factored(m, uses, e);
    if (e->op == OP_mul) by = product(m, uses, e);
    if (e->op == OP_exp) by = power(m, uses, e);
    bool less = e->op == OP_sub && ir_is_lit(e->args[1], 1) && m->fast && once(uses, e->args[0], OP_exp);
    if (less && rule(m, RULE_exp_less_one)) by = ir_expm1(m, e->args[0]->args[0]);
    return by ? by : e;
}

static void count_plainly(Node *e, void *data) {
    for (int k = 0; k < e->nargs; k++) map_put(data, e->args[k], (void *)((intptr_t)map_get(data, e->args[k]) + 1));
}

static bool affine_steps(Func *f) {
    Map uses = {0};
    if (!f->ir->fast) return false;
    ir_walk(func_roots(f), f->outputs, count_plainly, &uses);
    for (int i = 0; i < func_roots(f); i++)
        map_put(&uses, f->outputs[i], (void *)((intptr_t)map_get(&uses, f->outputs[i]) + 1));
    bool changed = pass_affine_steps(f, &uses);
    map_free(&uses);
    return changed;
}

static bool factor(Func *f) {
    Uses uses = {0};
    bool changed = false;
    find_uses(f, &uses);
    for (int i = 0; i < func_roots(f); i++) {
        Node *e = ir_change(f->ir, f->outputs[i], change, &uses);
        changed |= e != f->outputs[i];
        f->outputs[i] = e;
    }
    uses_free(&uses);
    return changed;
}

void pass_factor(Func *f) {
    if (f->ir->debug_nan) return; // inf * 0 - inf * 1 is NaN, inf * (0 - 1) is not
    for (int round = 0; round < MAX_ROUNDS && factor(f); round++) continue;
    for (int round = 0; round < MAX_LOOPS && affine_steps(f); round++) continue;
}
