// Folds with closed forms ([FS] Fig. 8 e) and the pruning of states that a result does not need ([FS] Fig. 8 g).
#include "ir/internal.h"

#include <string.h>

static bool reads(const Node *e, const Var *s) { return node_has_var(e, s); }

// fold s = z in (if i = a then e else s): one step, taken if a is in range. e may read s, which is z there.
static Node *single_access(Ir *m, Var *index, Var *s, Node *z, Node *step) {
    Node *i = ir_var(index), *self = ir_var(s), *c = step->args[0];
    if (step->op != OP_select || step->args[2] != self || c->op != OP_eq || c->args[0]->kind != KIND_INT) return NULL;
    Node *a = c->args[0] == i ? c->args[1] : c->args[1] == i ? c->args[0] : NULL;
    if (!a || reads(a, index) || reads(a, s)) return NULL;
    Node *from[] = {i, self}, *to[] = {a, z};
    Node *hit = ir_subst(m, step->args[1], 2, from, to);
    Node *some = a->partial ? ir_lt(m, ir_int(m, 0), index->extent) : ir_bool(m, true); // else a is not evaluated
    Node *inside = ir_and(m, ir_le(m, ir_int(m, 0), a), ir_lt(m, a, index->extent));
    return ir_select(m, ir_and(m, some, inside), hit, z);
}

// fold s = z in max(s, e): the first of the largest, z counting as the first of all.
static Node *extreme(Ir *m, Var *index, Var *s, Node *z, Node *step) {
    if (step->op != OP_max && step->op != OP_min) return NULL;
    Node *self = ir_var(s);
    if (step->args[0] != self || reads(step->args[1], s)) return NULL;
    Node *e = step->args[1];
    Node *k = step->op == OP_max ? ir_argmax(m, index, e) : ir_argmin(m, index, e);
    Node *best = ir_subst1(m, e, ir_var(index), k);
    return ir_select(m, ir_lt(m, ir_int(m, 0), index->extent), ir_op(m, step->op, z, best), z);
}

// The state after a fold that steps only this state by `step`; NULL if it has no closed form here.
Node *rule_fold(Ir *m, Var *index, Var *s, Node *z, Node *step) {
    Node *self = ir_var(s), *e = NULL;
    if (step == self) return z;
    if (z->rank) return NULL;
    if (step->op == OP_add && step->args[0] == self) e = step->args[1];
    else if (step->op == OP_add && step->args[1] == self) e = step->args[0];
    if (e && !reads(e, s)) return ir_add(m, z, ir_sum(m, index, e));
    if (step->op == OP_sub && step->args[0] == self && !reads(step->args[1], s))
        return ir_sub(m, z, ir_sum(m, index, step->args[1]));
    if (step->kind == KIND_INT) { // Int steps are polynomials: s + e in any order
        Poly rest;
        int64_t c;
        if (poly_linear(m, poly_of(m, step), self, &c, &rest) && c == 1)
            return ir_add(m, z, ir_sum(m, index, poly_node(m, rest)));
    }
    Node *r = single_access(m, index, s, z, step);
    return r ? r : extreme(m, index, s, z, step);
}

// Marks in need[] the states that state k depends on, itself included; returns how many.
static int closure(const Node *loop, int k, bool *need) {
    int n = ir_loop(loop)->n, count = 0;
    memset(need, 0, sizeof *need * (size_t)n);
    need[k] = true;
    if (loop->op == OP_while) // the condition decides for all
        for (int j = 0; j < n; j++) need[j] |= reads(loop_cond(loop), ir_loop(loop)->state[j]);
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < n; i++)
            for (int j = 0; need[i] && j < n; j++)
                if (!need[j] && reads(loop_step(loop, i), ir_loop(loop)->state[j])) need[j] = grown = true;
    }
    for (int j = 0; j < n; j++) count += need[j];
    return count;
}

Node *rule_final(Ir *m, Node *loop, int k) {
    Loop *l = ir_loop(loop);
    bool *need = ARENA_ARRAY(m->arena, bool, l->n);
    int count = closure(loop, k, need);
    if (loop->op == OP_fold && count == 1) {
        Node *e = rule_fold(m, l->index, l->state[k], loop_init(loop, k), loop_step(loop, k));
        if (e) return e;
    }
    if (count == l->n || m->raw) return NULL;
    Var **state = ARENA_ARRAY(m->arena, Var *, count);
    Node **init = ARENA_ARRAY(m->arena, Node *, count), **step = ARENA_ARRAY(m->arena, Node *, count);
    int n = 0, at = 0;
    for (int j = 0; j < l->n; j++) {
        if (!need[j]) continue;
        if (j == k) at = n;
        state[n] = l->state[j], init[n] = loop_init(loop, j), step[n++] = loop_step(loop, j);
    }
    Node *small = loop->op == OP_fold ? ir_fold(m, l->index, n, state, init, step)
                                      : ir_while(m, n, state, init, loop_cond(loop), step);
    return ir_final(m, small, at);
}
