// Joining loops that have states in common.
#include "ir/join.h"
#include "support/map.h"

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
    return ir_equal(renamed(u, loop, at, e), same); // to rename a state may be to rename what is bound inside, too
}

// The search for states of u that are states of `loop`: from one on, by going along the steps of both.
typedef struct Pairing {
    const JoinedLoop *u;
    Node *loop;
    int *at;
    Map same; // terms, and variables bound in them, that are taken to be one
    int fuel;
} Pairing;

// May state k of the loop be state j of u?
static bool pair(const Pairing *x, int k, int j) {
    if (x->at[k] >= 0) return x->at[k] == j;
    for (int i = 0; i < ir_loop(x->loop)->n; i++)
        if (x->at[i] == j) return false;
    if (loop_init(x->loop, k) != x->u->init.data[j]) return false;
    x->at[k] = j;
    return true;
}

static bool pair_variables(Pairing *x, const Node *e, const Node *f) {
    const Loop *p = ir_loop(x->loop);
    if (p->index == e->u.var) return ir_loop(x->u->loop)->index == f->u.var;
    for (int k = 0; k < p->n; k++)
        for (int j = 0; j < x->u->state.len && p->state[k] == e->u.var; j++)
            if (x->u->state.data[j] == f->u.var) return pair(x, k, j);
    return e == f;
}

static bool varies(const Pairing *x, const Node *e) {
    const Loop *p = ir_loop(x->loop);
    bool any = p->index && node_has_var(e, p->index);
    for (int k = 0; k < p->n; k++) any |= node_has_var(e, p->state[k]);
    return any;
}

static bool alike(Pairing *x, Node *e, Node *f);

// What e binds, an index or the variables of a loop inside, is what f binds, if their extents may be one.
static bool bind(Pairing *x, const Node *e, const Node *f) {
    const Loop *p = ir_is_loop(e) ? ir_loop(e) : NULL, *q = p ? ir_loop(f) : NULL;
    Var *i = p ? p->index : ir_is_binder(e) ? e->u.var : NULL, *j = q ? q->index : i ? f->u.var : NULL;
    if (p && (p->n != q->n || p->nout != q->nout)) return false;
    if (i && !alike(x, i->extent, j->extent)) return false;
    if (i) map_put(&x->same, ir_var(i), ir_var(j));
    for (int k = 0; p && k < p->n; k++) map_put(&x->same, ir_var(p->state[k]), ir_var(q->state[k]));
    return true;
}

// May e, a term of the loop, be f, one of u? Then what their variables have to be is noted.
static bool alike(Pairing *x, Node *e, Node *f) {
    if (map_get(&x->same, e) == f) return true;
    if (e->op != f->op || e->kind != f->kind || e->nargs != f->nargs || --x->fuel < 0) return false;
    if (e->op == OP_var) return pair_variables(x, e, f);
    if (e == f && !varies(x, e)) return true;
    if (e->nargs == 0 || ((e->op == OP_final || e->op == OP_trace) && e->u.num != f->u.num)) return false;
    if (!bind(x, e, f)) return false;
    bool swapped = e->op == OP_mul && e->args[0]->op != f->args[0]->op; // their order is that of their making
    for (int i = 0; i < e->nargs; i++)
        if (!alike(x, e->args[i], f->args[swapped ? 1 - i : i])) return false;
    map_put(&x->same, e, f);
    return true;
}

// Are state k and state j one, with all that this takes?
static bool follow(Pairing *x, int k, int j) {
    int n = ir_loop(x->loop)->n;
    bool *before = ARENA_ARRAY(x->u->ir->arena, bool, n), *done = ARENA_ARRAY(x->u->ir->arena, bool, n), ok = true;
    for (int i = 0; i < n; i++) before[i] = done[i] = x->at[i] >= 0;
    ok = pair(x, k, j);
    for (int i = 0; i < n && ok; i++) {
        if (done[i] || x->at[i] < 0) continue;
        done[i] = true;
        ok = alike(x, loop_step(x->loop, i), x->u->step.data[x->at[i]]);
        i = -1;
    }
    for (int i = 0; i < n && ok; i++)
        ok = before[i] || x->at[i] < 0 || is_same(x->u, x->loop, x->at, loop_step(x->loop, i), x->u->step.data[x->at[i]]);
    for (int i = 0; i < n && !ok; i++)
        if (!before[i]) x->at[i] = -1;
    return ok;
}

// Which states of `loop` are states of u? Returns how many.
static int match(const JoinedLoop *u, Node *loop, int *at) {
    enum { MAX_WALK = 20000 };
    int n = ir_loop(loop)->n, common = 0;
    Pairing x = {.u = u, .loop = loop, .at = at, .fuel = MAX_WALK};
    for (int k = 0; k < n; k++) at[k] = -1;
    for (int k = 0; k < n; k++) {
        for (int j = 0; j < u->state.len && at[k] < 0; j++) {
            follow(&x, k, j);
            map_free(&x.same);
            x.same = (Map){0};
        }
        common += at[k] >= 0;
    }
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
    if (first->op == OP_while) return ir_while(u->ir, n, u->state.data, u->init.data, loop_cond(first), u->step.data);
    return ir_fold(u->ir, ir_loop(first)->index, n, u->state.data, u->init.data, u->step.data);
}

void ir_join_close(JoinedLoop *u) {
    vec_free(&u->state);
    vec_free(&u->init);
    vec_free(&u->step);
    vec_free(&u->members);
}
