// Sums of exponentials, however they are nested, with their greatest exponent taken out: where exp overflows, or where all
// of them are 0, a logarithm or a quotient of the sums need not.
//
//     log (sum n (fun i -> exp v[i]))  is  m + log (sum n (fun i -> exp (v[i] - m)))   with m = stopGradient (maximum v)
//
// m is only a shift, and carries no derivative. A program that shifts for itself keeps its own shift: what is subtracted in
// an exponent is the same for all terms, and made as a maximum. Infinities that are the same differ by 0, as in the prelude's logSumExp.
#include "ad/graph.h"

#include <math.h>

enum { DEPTH = 8 }; // of sums, terms and factors that are looked through

// What e is but for its sign, literal factors and a choice against 0: the rules write differences of infinities so.
static Node *core_of(Node *e) {
    for (;;) {
        if (e->op == OP_neg) e = e->args[0];
        else if (e->op == OP_bracket) e = e->args[1];
        else if (e->op == OP_mul && (e->args[0]->op == OP_lit || e->args[1]->op == OP_lit)) e = e->args[e->args[0]->op == OP_lit];
        else if (e->op == OP_select && (ir_is_zero(e->args[1]) || ir_is_zero(e->args[2]))) e = e->args[ir_is_zero(e->args[1]) ? 2 : 1];
        else return e;
    }
}

static bool mentions(const Node *e, int n, Var *const *v) {
    for (int i = 0; i < n; i++)
        if (node_has_var(e, v[i])) return true;
    return false;
}

static void find_choice(Node *e, void *data) {
    bool *found = data;
    switch (e->op) {
    case OP_argmax:
    case OP_argmin:
    case OP_max:
    case OP_evenmax:
    case OP_latermax:
    case OP_stop:
    case OP_final: *found = true; return;
    default: return;
    }
}

// May e be the greatest of something?
static bool is_greatest(Node *e) {
    bool found = false;
    ir_walk(1, &e, find_choice, &found);
    return found;
}

// Has the exponent of a term in the sums over the n variables a term that is the same for all, and a maximum?
static bool is_shifted(Node *exponent, int n, Var *const *v, int fuel) {
    Node *u = core_of(exponent);
    if (u->op == OP_lit || fuel == 0) return false;
    if (!mentions(u, n, v)) return is_greatest(u);
    if (u->op != OP_add && u->op != OP_sub && u->op != OP_difference) return false;
    return is_shifted(u->args[0], n, v, fuel - 1) || is_shifted(u->args[1], n, v, fuel - 1);
}

static bool is_positive(const Node *e) { return e->op == OP_lit && e->u.real > 0; }

static Node *largest(Ir *m, Var *v, Node *u) {
    Node *at = ir_subst1(m, u, ir_var(v), ir_argmax(m, v, u));
    return ir_select(m, ir_lt(m, ir_int(m, 0), v->extent), at, ir_real(m, u->kind, -INFINITY));
}

// The greatest exponent of e, a sum of exponentials in the sums over the n variables, which has no terms that are not
// positive; NULL if e is no such sum, or has been shifted.
static Node *greatest(Ir *m, Node *e, int n, Var **v) {
    Node *a, *b;
    if (n == DEPTH) return NULL;
    switch (e->op) {
    case OP_exp: return n > 0 && is_shifted(e->args[0], n, v, DEPTH) ? NULL : e->args[0];
    case OP_sum:
        v[n] = e->u.var;
        a = greatest(m, e->args[0], n + 1, v);
        return a ? largest(m, e->u.var, a) : NULL;
    case OP_lit: return is_positive(e) ? ir_real(m, e->kind, log(e->u.real)) : NULL;
    case OP_add:
        a = greatest(m, e->args[0], n, v), b = a ? greatest(m, e->args[1], n, v) : NULL;
        return b ? ir_max(m, a, b) : NULL;
    case OP_mul:
        if (is_positive(e->args[0])) return greatest(m, e->args[1], n, v);
        return is_positive(e->args[1]) ? greatest(m, e->args[0], n, v) : NULL;
    case OP_div: return is_positive(e->args[1]) ? greatest(m, e->args[0], n, v) : NULL;
    case OP_bracket:
        a = greatest(m, e->args[1], n, v);
        return a ? ir_select(m, e->args[0], a, ir_real(m, e->kind, -INFINITY)) : NULL;
    default: return NULL;
    }
}

// e / exp s, where each term of e has an exponential as a factor; NULL if one has not.
static Node *divided(Ir *m, Node *e, Node *s, int fuel) {
    Node *a = NULL, *b = NULL;
    if (fuel == 0) return NULL;
    switch (e->op) {
    case OP_exp: return ir_exp(m, ir_difference(m, e->args[0], s));
    case OP_lit: return ir_mul(m, e, ir_exp(m, ir_neg(m, s)));
    case OP_sum:
        a = divided(m, e->args[0], s, fuel - 1);
        return a ? ir_sum(m, e->u.var, a) : NULL;
    case OP_neg:
        a = divided(m, e->args[0], s, fuel - 1);
        return a ? ir_neg(m, a) : NULL;
    case OP_add:
    case OP_sub:
        a = divided(m, e->args[0], s, fuel - 1), b = a ? divided(m, e->args[1], s, fuel - 1) : NULL;
        return b ? ir_op(m, e->op, a, b) : NULL;
    case OP_mul:
        for (int k = 0; k < 2 && !a; k++) {
            bool factor = e->args[k]->op != OP_lit;
            if (factor && (a = divided(m, e->args[k], s, fuel - 1))) return ir_mul(m, a, e->args[1 - k]);
        }
        return NULL;
    case OP_div:
        a = divided(m, e->args[0], s, fuel - 1);
        return a ? ir_div(m, a, e->args[1]) : NULL;
    case OP_bracket:
        a = divided(m, e->args[1], s, fuel - 1);
        return a ? ir_bracket(m, e->args[0], a) : NULL;
    default: return NULL;
    }
}

// Is e c times a sum of several terms?
static bool is_sum(const Node *e) {
    while (e->op == OP_mul || e->op == OP_div) e = e->args[e->op == OP_mul && e->args[0]->op == OP_lit ? 1 : 0];
    return e->op == OP_sum || e->op == OP_add;
}

// What e, a sum of exponentials, is to be shifted by; NULL if it is none, is one exponential, or needs none.
static Node *shift_of(Ir *m, Node *e) {
    Var *v[DEPTH];
    Node *s = is_sum(e) ? greatest(m, e, 0, v) : NULL;
    return s ? ir_stop(m, s) : NULL;
}

Node *ad_shifted_log(Ir *m, Node *e) {
    Node *s = shift_of(m, e->args[0]), *rest = s ? divided(m, e->args[0], s, DEPTH) : NULL;
    return rest ? ir_add(m, s, ir_log(m, rest)) : e;
}

Node *ad_shifted_quotient(Ir *m, Node *e) {
    Node *s = shift_of(m, e->args[1]), *a = s ? divided(m, e->args[0], s, DEPTH) : NULL;
    Node *b = a ? divided(m, e->args[1], s, DEPTH) : NULL;
    return b ? ir_div(m, a, b) : e;
}
