// Folds whose step is affine in the state, with coefficients that do not change, have closed forms ([CO] Fig. 5, C6):
//
//   fold s = z in a * s           is   z * a^n
//   fold s = z in a * s + b       is   z * a^n + b * (1 + a + … + a^(n-1))
//
// So have while loops, in terms of the number of their iterations ([CO] Fig. 6): for differentiation, which takes that as it
// is. All but the last iteration know that the loop goes on.
//
// Powers round differently, and terms of different signs can cancel: so this is for Ir.fast, and for loops of which an attribute
// says so. Coefficients that may fail are not evaluated where there is no iteration.
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

static bool affine_bracket(Ir *m, Node *e, const Var *s, Affine *out) {
    Affine f;
    if (node_has_var(e->args[0], s) || !affine_of(m, e->args[1], s, &f)) return false;
    *out = (Affine){f.a ? ir_bracket(m, e->args[0], f.a) : NULL, f.b ? ir_bracket(m, e->args[0], f.b) : NULL};
    return true;
}

// e as an affine function of s; false if it is none.
static bool affine_of(Ir *m, Node *e, const Var *s, Affine *out) {
    Affine l, r;
    if (!node_has_var(e, s)) return *out = (Affine){NULL, e}, true;
    if (e == ir_var(s)) return *out = (Affine){ir_real(m, e->kind, 1), NULL}, true;
    if (e->op == OP_sum) return affine_sum(m, e, s, out);
    if (e->op == OP_bracket) return affine_bracket(m, e, s, out);
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

bool ir_affine(Ir *m, Node *e, const Var *s, Node **a, Node **b) {
    Affine f;
    if (!affine_of(m, e, s, &f)) return false;
    *a = f.a, *b = f.b;
    return true;
}

// The sum of a^i for i < n. Where a is near to 1, the difference of the quotient loses digits, and that of its derivative more.
static Node *geometric(Ir *m, Node *a, Node *n, Node *power) {
    Node *one = ir_real(m, a->kind, 1);
    Node *more = a->op == OP_add && a->args[0] == one ? a->args[1] : ir_sub(m, a, one);
    Node *d = ir_sub(m, power, one), *size = ir_abs(m, d);
    Node *far = ir_and(m, ir_lt(m, ir_real(m, a->kind, 0.125), size), ir_lt(m, size, ir_real(m, a->kind, 1e30)));
    Var *i = ir_index(m, "i", n);
    return ir_select(m, far, ir_div(m, d, more), ir_sum(m, i, ir_powi(m, a, ir_var(i))));
}

// What n steps of f make of z.
static Node *repeated(Ir *m, const Affine *f, Node *z, Node *n) {
    Node *power = ir_powi(m, f->a, n), *grown = ir_is_zero(z) ? NULL : ir_mul(m, z, power);
    Node *added = f->b ? ir_mul(m, f->b, geometric(m, f->a, n, power)) : NULL;
    return grown && added ? ir_add(m, grown, added) : grown ? grown : added ? added : z;
}

static bool is_fixed(const Node *e, const Loop *l) {
    bool reads = l->index && node_has_var(e, l->index);
    for (int k = 0; k < l->n; k++) reads |= node_has_var(e, l->state[k]);
    return !reads;
}

// Does evaluating a coefficient?
static bool may_fail(const Affine *f) { return f->a->partial || (f->b && f->b->partial); }

// Is step an affine function of state k, with coefficients that no iteration changes?
static bool is_affine(Ir *m, Node *step, const Loop *l, int k, Affine *f) {
    if (!affine_of(m, step, l->state[k], f) || !f->a || !is_fixed(f->a, l)) return false;
    return !f->b || (is_fixed(f->b, l) && !ir_is_lit(f->a, 1));
}

// wish: that of the loop, or NULL.
static bool applies(const Ir *m, const Node *z, const Wish *wish) {
    return (m->fast || wish) && !m->raw && !z->rank && kind_is_float(z->kind);
}

enum { FEW = 8 };

Node *rule_affine(Ir *m, Node *loop, int k) {
    Node *z = loop_init(loop, k), *n = ir_count(m, loop);
    Affine f;
    int64_t count;
    Wish *wish = ir_loop(loop)->index ? ir_loop(loop)->index->wishes.of[WISH_reassociate] : NULL;
    if (!applies(m, z, wish) || (ir_is_int_lit(n, &count) && count <= FEW)) return NULL;
    if (!is_affine(m, loop_step(loop, k), ir_loop(loop), k, &f)) return NULL;
    bool fails = may_fail(&f), lost = !f.b && ir_is_zero(z); // of 0 * a^n nothing is left
    if ((fails && lost) || !rule(m, RULE_fold_affine)) return NULL;
    if (wish) wish_follow(wish);
    Node *closed = repeated(m, &f, z, n);
    return fails ? ir_select(m, ir_lt(m, ir_int(m, 0), n), closed, z) : closed;
}

// ---- while loops

enum { MAX_PARTS = 8 };

// The step of a state in an iteration after which the loop goes on, and in the last one, in which what decides that has the
// values of the states that are there after the loop.
typedef struct Steps {
    Node *going, *last;
} Steps;

static bool steps_of(Ir *m, Node *loop, int k, Steps *s) {
    Loop *l = ir_loop(loop);
    Node **from = ARENA_ARRAY(m->arena, Node *, l->n), *part[MAX_PARTS];
    for (int j = 0; j < l->n; j++) from[j] = ir_var(l->state[j]);
    Node **steps = loop->args + loop_steps(loop);
    int n = 0;
    *s = (Steps){loop_step(loop, k), loop_step(loop, k)};
    if (!ir_conjuncts(ir_subst(m, loop_cond(loop), l->n, from, steps), part, &n, MAX_PARTS)) return false;
    for (int i = 0; i < n; i++) {
        bool holds = part[i]->op != OP_not;
        Node *p = holds ? part[i] : part[i]->args[0];
        s->going = ir_replace(m, s->going, p, ir_bool(m, holds));
        for (int j = 0; j < l->n; j++)
            if (steps[j] == p) s->last = ir_replace(m, s->last, p, ir_final(m, loop, j));
    }
    return true;
}

Node *ir_while_going(Ir *m, Node *loop, int k) {
    Steps s;
    return steps_of(m, loop, k, &s) ? s.going : loop_step(loop, k);
}

// e where the state s has the value z.
static Node *put(Ir *m, Node *e, Var *s, Node *z) {
    Affine f;
    if (e->op == OP_select && !node_has_var(e->args[0], s))
        return ir_select(m, e->args[0], put(m, e->args[1], s, z), put(m, e->args[2], s, z));
    if (!affine_of(m, e, s, &f)) return ir_subst1(m, e, ir_var(s), z);
    Node *scaled = f.a ? ir_mul(m, z, f.a) : NULL;
    return scaled && f.b ? ir_add(m, scaled, f.b) : scaled ? scaled : f.b;
}

Node *ir_while_closed(Ir *m, Node *loop, int k) {
    Loop *l = ir_loop(loop);
    Node *z = loop_init(loop, k);
    Steps s;
    Affine f;
    if (!applies(m, z, NULL) || !steps_of(m, loop, k, &s)) return NULL;
    if (!is_affine(m, s.going, l, k, &f) || may_fail(&f)) return NULL;
    for (int j = 0; j < l->n; j++)
        if (j != k && node_has_var(s.last, l->state[j])) return NULL;
    if (!rule(m, RULE_while_affine)) return NULL;
    Node *n = ir_count(m, loop);
    if (s.last == s.going) return repeated(m, &f, z, n);
    Node *before = repeated(m, &f, z, ir_sub(m, n, ir_int(m, 1)));
    return ir_select(m, ir_lt(m, ir_int(m, 0), n), put(m, s.last, l->state[k], before), z);
}
