// Joining loops that have states in common.
#include "ir/join.h"

#include <string.h>

// A term of `loop` with the variables of u, as far as its states are known to be there.
static Node *renamed(const JoinedLoop *u, Node *loop, const int *at, Node *e) {
    Loop *p = ir_loop(loop);
    Node **from = ARENA_ARRAY(u->ir->arena, Node *, p->n + 1), **to = ARENA_ARRAY(u->ir->arena, Node *, p->n + 1);
    int n = 0;
    if (p->index) from[n] = ir_var(p->index), to[n++] = ir_var(ir_loop(u->loop)->index);
    for (int k = 0; k < p->n; k++)
        if (at[k] >= 0) from[n] = ir_var(p->state[k]), to[n++] = ir_var(u->state.data[at[k]]);
    return ir_subst(u->ir, e, n, from, to);
}

Node *ir_join_term(const JoinedLoop *u, const JoinedMember *mb, Node *e) { return renamed(u, mb->loop, mb->at, e); }

// Is e, a term of `loop`, the term `same` of u? Not if it mentions a state that is not known to be there: loops may have
// the same variables for states that differ.
static bool is_same(const JoinedLoop *u, Node *loop, const int *at, Node *e, const Node *same) {
    for (int k = 0; k < ir_loop(loop)->n; k++)
        if (at[k] < 0 && node_has_var(e, ir_loop(loop)->state[k])) return false;
    return renamed(u, loop, at, e) == same;
}

// A state of u that starts like state k of `loop` and is not taken; one of the same name, if possible.
static int like(const JoinedLoop *u, Node *loop, int k, const int *at) {
    int found = -1;
    const Var *s = ir_loop(loop)->state[k];
    for (int j = 0; j < u->state.len; j++) {
        bool taken = u->init.data[j] != loop_init(loop, k);
        for (int i = 0; i < k; i++) taken |= at[i] == j;
        if (!taken && (found < 0 || !strcmp(u->state.data[j]->name, s->name))) found = j;
    }
    return found;
}

// Which states of `loop` are states of u? Those for which that assumption is borne out by the steps. Returns how many.
static int match(const JoinedLoop *u, Node *loop, int *at) {
    int n = ir_loop(loop)->n, common = 0;
    for (int k = 0; k < n; k++) at[k] = like(u, loop, k, at);
    for (bool again = true; again;) {
        again = false;
        for (int k = 0; k < n; k++) {
            if (at[k] < 0 || is_same(u, loop, at, loop_step(loop, k), u->step.data[at[k]])) continue;
            at[k] = -1, again = true;
        }
    }
    for (int k = 0; k < n; k++) common += at[k] >= 0;
    return common;
}

static void add_member(JoinedLoop *u, Node *loop, int *at) {
    Loop *p = ir_loop(loop);
    int first = u->state.len;
    for (int k = 0; k < p->n; k++) {
        if (at[k] >= 0) continue;
        at[k] = u->state.len;
        Var *s = p->state[k];
        if (loop != u->loop) s = ir_state(u->ir, s->name, s->kind, s->rank, s->shape);
        vec_push(&u->state, s);
        vec_push(&u->init, loop_init(loop, k));
        vec_push(&u->step, NULL);
    }
    for (int k = 0; k < p->n; k++)
        if (at[k] >= first) u->step.data[at[k]] = renamed(u, loop, at, loop_step(loop, k));
    vec_push(&u->members, ((JoinedMember){loop, at}));
}

void ir_join_open(JoinedLoop *u, Ir *m, Reach *r, Node *loop) {
    *u = (JoinedLoop){.ir = m, .reach = r, .loop = loop};
    int *at = ARENA_ARRAY(m->arena, int, ir_loop(loop)->n);
    for (int k = 0; k < ir_loop(loop)->n; k++) at[k] = -1;
    add_member(u, loop, at);
}

bool ir_join_alike(const JoinedLoop *u, Node *loop) {
    for (int k = 0; k < ir_loop(loop)->n; k++)
        for (int j = 0; j < u->init.len; j++)
            if (u->init.data[j] == loop_init(loop, k)) return true;
    return false;
}

bool ir_join(JoinedLoop *u, Node *loop, bool alike) {
    Loop *p = ir_loop(loop), *q = ir_loop(u->loop);
    if (loop->op != u->loop->op || (p->index && p->index->extent != q->index->extent)) return false;
    if (alike && !ir_join_alike(u, loop)) return false;
    for (int i = 0; i < u->members.len; i++) {
        Node *o = u->members.data[i].loop;
        if (reach(u->reach, loop, o) || reach(u->reach, o, loop)) return loop == o; // one needs the other's result
    }
    int *at = ARENA_ARRAY(u->ir->arena, int, p->n);
    if (!match(u, loop, at) && alike) return false;
    if (loop->op == OP_while && !is_same(u, loop, at, loop_cond(loop), loop_cond(u->loop))) return false;
    add_member(u, loop, at);
    return true;
}

bool ir_join_part(JoinedLoop *u, Node *loop) {
    Loop *p = ir_loop(loop);
    if (loop->op != u->loop->op || p->index != ir_loop(u->loop)->index || p->n > u->state.len) return false;
    int *at = ARENA_ARRAY(u->ir->arena, int, p->n);
    if (match(u, loop, at) < p->n) return false;
    if (loop->op == OP_while && !is_same(u, loop, at, loop_cond(loop), loop_cond(u->loop))) return false;
    add_member(u, loop, at);
    return true;
}

Node *ir_joined(const JoinedLoop *u) {
    Node *first = u->loop;
    int n = u->state.len;
    if (n == ir_loop(first)->n && !ir_loop(first)->nout) return first;
    if (first->op == OP_while)
        return ir_while(u->ir, n, u->state.data, u->init.data, loop_cond(first), u->step.data);
    return ir_fold(u->ir, ir_loop(first)->index, n, u->state.data, u->init.data, u->step.data);
}

void ir_join_close(JoinedLoop *u) {
    vec_free(&u->state);
    vec_free(&u->init);
    vec_free(&u->step);
    vec_free(&u->members);
}
