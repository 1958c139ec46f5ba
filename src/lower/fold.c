// Sequential loops. Scalar states are cells; array states are buffers, updated in place where the step permits
// (update.c). Otherwise the new array is made beside the old one, and copied back or, if it is cheap, left there: then the next
// iteration goes the other way.
#include "ir/join.h"
#include "lower/internal.h"

#include <string.h>

// Does the step of state j read state k? Not if both are steps of one loop inside that only starts its own state from k.
static bool reads_state(Node *loop, int j, int k) {
    Node *a = loop_step(loop, j), *b = loop_step(loop, k);
    const Var *v = ir_loop(loop)->state[k];
    if (!node_has_var(a, v)) return false;
    if (a->op != OP_final || b->op != OP_final || a->args[0] != b->args[0]) return true;
    const Node *inside = a->args[0];
    for (int i = 0; i < inside->nargs; i++)
        if (i != b->u.num && node_has_var(inside->args[i], v)) return true;
    return inside->op == OP_fold && node_has_var(ir_loop(inside)->index->extent, v);
}

// An array state whose old value no other state's step is yet to read, or -1: its turn to be updated.
static int next_state(Node *loop, const bool *waiting) {
    Loop *p = ir_loop(loop);
    for (int k = 0; k < p->n; k++) {
        bool read = false;
        for (int j = 0; j < p->n; j++) read |= j != k && waiting[j] && reads_state(loop, j, k);
        if (waiting[k] && !read) return k;
    }
    return -1;
}

static void explain_update(Lower *l, Node *loop, int k, const Update *u) {
    static const char *const how[] = {
        [UPDATE_NONE] = "not changed",       [UPDATE_ADD] = "added to in place",
        [UPDATE_PARTS] = "updated in place", [UPDATE_LOOP] = "updated in place by a loop inside",
        [UPDATE_IF] = "updated in place",    [UPDATE_COPY] = "made anew in every iteration, and copied"};
    const char *name = ir_loop(loop)->state[k]->name;
    explain(l->ir->explain, EXPLAIN_MEMORY, loop->span, "%s: the state `%s` is %s", ir_quote(l->ir, loop), name ? name : "s",
            u->turns ? "made anew in every iteration, in two buffers by turns" : how[u->how]);
}

// Of two states that wait for each other: is the first made anew rather than the second? It is if it is smaller, or if what it
// becomes is needed to update others, which then find it.
static bool copied_rather(Lower *l, Node *loop, const bool *waiting, Buf *const *buf, int j, int k) {
    bool needed[2] = {false};
    if (buf[j]->rank != buf[k]->rank) return buf[j]->rank < buf[k]->rank;
    for (int i = 0; i < ir_loop(loop)->n; i++) {
        needed[0] |= waiting[i] && i != j && reach(l->reach, loop_step(loop, i), loop_step(loop, j));
        needed[1] |= waiting[i] && i != k && reach(l->reach, loop_step(loop, i), loop_step(loop, k));
    }
    return needed[0] >= needed[1];
}

static Stmt *copy(Lower *l, Buf *to, Buf *from) {
    Stmt *s = tree_stmt(l->arena, ST_COPY, -1, 0, NULL, l->span);
    s->buf = to, s->src = from;
    return s;
}

// The second of two buffers for a state, outside of its loop, whose body is the current scope.
static Buf *other_buf(Lower *l, const Update *u, Buf *buf) {
    Scope *here = l->scope;
    l->scope = here->outer;
    Buf *other = lower_buf(l, BUF_TEMP, buf->kind, buf->rank, buf->extent, NULL);
    if (u->how == UPDATE_PARTS) vec_push(&l->scope->block->stmts, copy(l, other, buf));
    l->scope = here;
    return other;
}

// The array states in the order in which they are updated, but those with a plan. Of those that read each other one is made
// anew and copied.
static int plan_order(Lower *l, Node *loop, Buf *const *buf, int *order, Update **plan) {
    Loop *p = ir_loop(loop);
    int count = 0;
    bool *waiting = ARENA_ARRAY(l->arena, bool, p->n);
    for (int k = 0; k < p->n; k++) waiting[k] = buf[k] && !plan[k];
    for (;;) {
        int k = next_state(loop, waiting);
        bool in_place = k >= 0;
        for (int j = 0; !in_place && j < p->n; j++)
            if (waiting[j] && (k < 0 || copied_rather(l, loop, waiting, buf, j, k))) k = j;
        if (k < 0) return count;
        waiting[k] = false;
        plan[k] = lower_plan_update(l, ir_var(p->state[k]), lower_met(l, loop_step(loop, k)), in_place);
        order[count++] = k;
        plan[k]->turns = lower_may_turn(l, loop, plan[k]);
        explain_update(l, loop, k, plan[k]);
        if (plan[k]->turns) plan[k]->next = other_buf(l, plan[k], buf[k]);
        else if (plan[k]->how == UPDATE_COPY)
            plan[k]->next = lower_buf(l, BUF_TEMP, buf[k]->kind, buf[k]->rank, buf[k]->extent, NULL);
    }
}

// A state that a loop inside steps, and that nothing else reads, is stepped first: what else that loop gives is known then.
static void run_inner(Lower *l, Node *loop, Buf *const *buf, Update **plan) {
    int n = ir_loop(loop)->n;
    lower_announce(l, n, loop->args + loop_steps(loop));
    for (int k = 0; k < n; k++) {
        bool read = !buf[k] || loop_step(loop, k)->op != OP_final;
        for (int j = 0; j < n && !read; j++) read = j != k && reads_state(loop, j, k);
        if (read) continue;
        Update *u = lower_plan_update(l, ir_var(ir_loop(loop)->state[k]), loop_step(loop, k), true);
        if (u->how != UPDATE_LOOP) continue;
        plan[k] = u;
        explain_update(l, loop, k, u);
        lower_update(l, u, buf[k]);
    }
}

// other[k]: where state k is after that, if that is not its buffer.
static void steps(Lower *l, Node *loop, const Temp *cell, Buf *const *buf, Buf **other) {
    int n = ir_loop(loop)->n, *order = ARENA_ARRAY(l->arena, int, n);
    Temp *next = ARENA_ARRAY(l->arena, Temp, n);
    Update **plan = ARENA_ARRAY(l->arena, Update *, n);
    l->scope->steps = loop->args + loop_steps(loop), l->scope->nsteps = n;
    for (int k = 0; k < n; k++) lower_demand(l, loop_step(loop, k));
    run_inner(l, loop, buf, plan);
    for (int k = 0; k < n; k++)
        if (!buf[k]) next[k] = lower_value(l, loop_step(loop, k));
    int arrays = plan_order(l, loop, buf, order, plan);
    for (int i = 0; i < arrays; i++) {
        Update *u = plan[order[i]];
        Task t = {.kind = TASK_STORE, .buf = u->next, .e = u->step};
        if (u->turns) other[order[i]] = u->next;
        if (u->how == UPDATE_COPY) lower_tasks(l, 1, &t);
        else if (u->turns) lower_update(l, u, u->next);
        else continue;
        if (!lower_known_array(l, u->step)) map_put(&l->scope->arrays, u->step, u->next);
    }
    for (int i = 0; i < arrays; i++)
        if (!plan[order[i]]->turns) lower_update(l, plan[order[i]], buf[order[i]]);
    for (int i = 0; i < arrays; i++) {
        const Update *u = plan[order[i]];
        if (u->how == UPDATE_COPY && !u->turns) vec_push(&l->scope->block->stmts, copy(l, buf[order[i]], u->next));
    }
    for (int k = 0; k < n; k++)
        if (!buf[k]) lower_set(l, cell[k], next[k]);
}

static void bind_states(Lower *l, Loop *p, const Temp *cell, Buf *const *buf) {
    for (int k = 0; k < p->n; k++) {
        scope_bind(l, l->scope, p->state[k]);
        Node *s = ir_var(p->state[k]);
        if (buf[k]) map_put(&l->scope->arrays, s, buf[k]);
        else map_put(&l->scope->values, s, (void *)(intptr_t)(lower_get(l, cell[k]) + 1));
    }
}

static Block *copies(Lower *l, int n, Buf *const *buf, Buf *const *other) {
    Block *b = ARENA_NEW(l->arena, Block);
    for (int k = 0; k < n; k++)
        if (other[k]) vec_push(&b->stmts, copy(l, buf[k], other[k]));
    return b;
}

static Stmt *op_stmt(Lower *l, Op op, Temp dst, Temp a, Temp b) {
    Stmt *s = tree_stmt(l->arena, ST_OP, dst, 2, (Temp[]){a, b}, l->span);
    s->op = op;
    return s;
}

// The statements with number `next` for the index, and the states' buffers exchanged.
static Block *other_way(Lower *l, const Block *body, Temp index, Temp next, int n, Buf *const *buf, Buf *const *other) {
    Block *b = ARENA_NEW(l->arena, Block);
    Map temps = {0}, bufs = {0};
    map_put(&temps, (void *)((intptr_t)index + 1), (void *)((intptr_t)next + 1));
    for (int k = 0; k < n; k++)
        if (other[k]) map_put(&bufs, buf[k], other[k]), map_put(&bufs, other[k], buf[k]);
    for (int i = 0; i < body->stmts.len; i++)
        vec_push(&b->stmts, tree_clone_with(l->arena, l->tree, body->stmts.data[i], &temps, &bufs));
    while (l->temp_depth.len < l->tree->temps.len) vec_push(&l->temp_depth, l->scope->depth + 1); // they have no values outside
    map_free(&temps);
    map_free(&bufs);
    return b;
}

enum { MAX_TWICE = 150 };

// Makes two iterations one, the second of which goes from the other buffers to the states', or copies if it is one too many. A
// long body is not written twice: there, copying is little; nor is one that calls procedures.
static void take_turns(Lower *l, Node *loop, Stmt *s, Buf *const *buf, Buf *const *other) {
    Ir *m = l->ir;
    Node *extent = ir_loop(loop)->index->extent;
    Block *body = s->body, *rest = copies(l, ir_loop(loop)->n, buf, other);
    if (!rest->stmts.len) return;
    if (block_size(body) > MAX_TWICE || lower_calls(body)) {
        for (int i = 0; i < rest->stmts.len; i++) vec_push(&body->stmts, rest->stmts.data[i]);
        return;
    }
    l->scope->block->stmts.len--;
    Temp half = lower_value(l, ir_op(m, OP_idiv, ir_add(m, extent, ir_int(m, 1)), ir_int(m, 2)));
    Temp one = lower_int(l, 1), two = lower_int(l, 2), all = s->args[0], index = s->dst;
    Temp next = lower_temp(l, KIND_INT, l->tree->temps.data[index].name), more = lower_temp(l, KIND_BOOL, NULL);
    Stmt *test = tree_stmt(l->arena, ST_IF, -1, 1, &more, l->span);
    test->body = other_way(l, body, index, next, ir_loop(loop)->n, buf, other);
    test->other = rest;
    s->dst = lower_temp(l, KIND_INT, l->tree->temps.data[index].name), s->args[0] = half;
    block_insert(body, 0, op_stmt(l, OP_mul, index, two, s->dst));
    vec_push(&body->stmts, op_stmt(l, OP_add, next, index, one));
    vec_push(&body->stmts, op_stmt(l, OP_lt, more, next, all));
    vec_push(&body->stmts, test);
    vec_push(&l->scope->block->stmts, s);
}

static void emit_fold(Lower *l, Node *loop, const Temp *cell, Buf *const *buf) {
    Buf **other = ARENA_ARRAY(l->arena, Buf *, ir_loop(loop)->n);
    Stmt *s = lower_begin_for(l, ir_loop(loop)->index);
    bind_states(l, ir_loop(loop), cell, buf);
    steps(l, loop, cell, buf, other);
    lower_end_for(l, s);
    take_turns(l, loop, s, buf, other);
}

static void emit_while(Lower *l, Node *loop, const Temp *cell, Buf *const *buf) {
    Stmt *s = ARENA_NEW(l->arena, Stmt);
    *s = (Stmt){.kind = ST_LOOP, .dst = -1, .span = l->span};
    s->body = scope_open(l)->block;
    l->scope->loop = l->scope->maybe_empty = true;
    bind_states(l, ir_loop(loop), cell, buf);
    lower_demand(l, loop_cond(loop));
    Temp more = lower_value(l, loop_cond(loop));
    lower_stmt(l, ST_BREAK, -1, 1, &more);
    steps(l, loop, cell, buf, NULL);
    scope_close(l);
    vec_push(&l->scope->block->stmts, s);
}

static LoopResult *result_new(Lower *l, int n) {
    LoopResult *r = ARENA_NEW(l->arena, LoopResult);
    r->value = ARENA_ARRAY(l->arena, Temp, n);
    r->buf = ARENA_ARRAY(l->arena, Buf *, n);
    return r;
}

// ---- loops that are one (ir/join.c): several results are several loops with states in common

static LoopResult *known_loop(Lower *l, Node *loop) {
    for (Scope *s = l->scope; s; s = s->outer) {
        LoopResult *known = map_get(&s->arrays, loop);
        if (known) return known;
    }
    return NULL;
}

Buf *lower_left_array(Lower *l, Node *e) {
    const LoopResult *known = e->op == OP_final ? known_loop(l, e->args[0]) : NULL;
    return known ? known->buf[e->u.num] : NULL;
}

static bool has_arrays(const Loop *p) {
    for (int k = 0; k < p->n; k++)
        if (p->state[k]->rank) return true;
    return false;
}

static void note_uses(Node *e, void *data) {
    Lower *l = data;
    for (int i = 0; i < e->nargs; i++)
        if (e->args[i]->op == OP_final && e->args[i]->rank) vec_push(&l->uses, ((ResultUse){e->args[i], e}));
}

static void find_uses(Node *e, void *data) {
    Lower *l = data;
    if (ir_is_loop(e)) map_put(&l->loops, e, e);
    if (e->op == OP_while && !has_arrays(ir_loop(e))) vec_push(&l->whiles, e);
    if (e->op == OP_final) {
        LoopResults *r = ARENA_NEW(l->arena, LoopResults);
        *r = (LoopResults){e, map_get(&l->results, e->args[0])};
        map_put(&l->results, e->args[0], r);
    }
    note_uses(e, l);
}

void lower_find_uses(Lower *l, const Func *f) {
    ir_walk(func_roots(f), f->outputs, find_uses, l);
    for (int i = 0; i < f->noutputs; i++)
        if (f->outputs[i]->op == OP_final) vec_push(&l->uses, ((ResultUse){f->outputs[i], NULL}));
}

void lower_note_uses(Lower *l, Node *e) { ir_walk(1, &e, note_uses, l); }

// Does nothing use result `e` but the members of u, as the initial value of state k?
static bool only_starts(const Lower *l, const JoinedLoop *u, int k, const Node *e) {
    for (int i = 0; i < l->uses.len; i++) {
        const Node *user = l->uses.data[i].user;
        const JoinedMember *mb = NULL;
        if (l->uses.data[i].result != e) continue;
        for (int j = 0; j < u->members.len; j++)
            if (u->members.data[j].loop == user) mb = &u->members.data[j];
        for (int j = 0; mb && j < user->nargs; j++)
            if (user->args[j] == e && (j >= ir_loop(user)->n || mb->at[j] != k)) mb = NULL;
        if (!mb) return false;
    }
    return true;
}

// The buffer of an array that a loop in this scope has left and that nothing needs but state k, which starts from it. A
// branch that is not finished yet, and comes later, may start the same loop from it.
static Buf *left_over(Lower *l, const JoinedLoop *u, int k) {
    Node *init = u->init.data[k];
    if (init->op != OP_final) return NULL;
    Buf *b = lower_array(l, init);
    LoopResult *r = map_get(&l->scope->arrays, init->args[0]);
    if (!r || r->buf[init->u.num] != b || b->where != BUF_TEMP || map_get(&l->started, b)) return NULL;
    for (int i = 0; i < r->nloops; i++) {
        LoopResult *part = map_get(&l->scope->arrays, r->loop[i]);
        if (!part || !map_get(&l->loops, r->loop[i])) return NULL; // made while lowering: its uses are not known
        for (int j = 0; j < l->uses.len; j++) {
            const Node *e = l->uses.data[j].result;
            if (e->args[0] == r->loop[i] && part->buf[e->u.num] == b && !only_starts(l, u, k, e)) return NULL;
        }
    }
    for (int i = 0; i < u->members.len; i++)
        if (!map_get(&l->loops, u->members.data[i].loop)) return NULL;
    for (int j = 0; j < u->init.len; j++)
        if (j != k && u->init.data[j] == init) return NULL;
    return b;
}

// The buffer for state k: that of a task which stores the state as a whole, if there is one.
static Buf *state_buf(Lower *l, const JoinedLoop *u, int k) {
    for (int i = 0; i < l->scope->tasks.len; i++) {
        const Task *t = &l->scope->tasks.data[i];
        if (t->kind != TASK_STORE || t->nidx || t->e->op != OP_final) continue;
        for (int j = 0; j < u->members.len; j++)
            if (u->members.data[j].loop == t->e->args[0] && u->members.data[j].at[t->e->u.num] == k) return t->buf;
    }
    Buf *b = left_over(l, u, k);
    return b ? b : lower_new_array(l, u->init.data[k]);
}

static void store_init(Lower *l, Buf *buf, Node *init) {
    Node *e = init = lower_met(l, init);
    if (lower_known_array(l, init) == buf) return;
    while (e->op == OP_gen) e = e->args[0];
    if (e->op == OP_lit) {
        Temp value = lower_value(l, e);
        lower_stmt(l, ST_FILL, -1, 1, &value)->buf = buf;
        return;
    }
    void *before = map_get(&l->scope->arrays, init);
    Task t = {.kind = TASK_STORE, .buf = buf, .e = init};
    if (ir_has_scatter(l->ir, init)) lower_tasks(l, 1, &t);
    else lower_task(l, &t);
    map_put(&l->scope->arrays, init, before); // who else reads it does not find it where the loop changes it
    Buf *from = lower_known_array(l, init);
    if (!from) from = lower_left_array(l, init);
    if (from) map_put(&l->started, from, from);
}

static LoopResult *emit_loop(Lower *l, const JoinedLoop *u, Node *loop) {
    Loop *p = ir_loop(loop);
    Temp *cell = ARENA_ARRAY(l->arena, Temp, p->n);
    LoopResult *r = result_new(l, p->n);
    for (int k = 0; k < p->n; k++) {
        Node *init = loop_init(loop, k);
        if (init->rank == 0) {
            cell[k] = lower_cell(l, init->kind, lower_value(l, init));
            continue;
        }
        r->buf[k] = state_buf(l, u, k);
        if (!lower_overwrites(l, loop, k)) store_init(l, r->buf[k], init);
    }
    if (loop->op == OP_fold) emit_fold(l, loop, cell, r->buf);
    else emit_while(l, loop, cell, r->buf);
    for (int k = 0; k < p->n; k++)
        if (!r->buf[k]) r->value[k] = lower_get(l, cell[k]);
    return r;
}

static void emit_union(Lower *l, JoinedLoop *u) {
    LoopResult *r = emit_loop(l, u, ir_joined(u));
    Node **loop = ARENA_ARRAY(l->arena, Node *, u->members.len);
    for (int i = 0; i < u->members.len; i++) loop[i] = u->members.data[i].loop;
    for (int i = 0; i < u->members.len; i++) {
        const JoinedMember *mb = &u->members.data[i];
        int n = ir_loop(mb->loop)->n;
        LoopResult *part = result_new(l, n);
        for (int k = 0; k < n; k++) part->value[k] = r->value[mb->at[k]], part->buf[k] = r->buf[mb->at[k]];
        part->nloops = u->members.len, part->loop = loop;
        map_put(&l->scope->arrays, mb->loop, part);
    }
}

static bool is_member(const JoinedLoop *u, const Node *loop) {
    for (int i = 0; i < u->members.len; i++)
        if (u->members.data[i].loop == loop) return true;
    return false;
}

// The sum as a loop that adds it up, the first operand of the additions being the state or the summand.
static Node *as_loop(Ir *m, Node *sum, bool state_first) {
    bool raw = m->raw;
    Node *init = ir_zero(m, sum->kind), *step;
    Var *s = ir_state(m, "sum", sum->kind, 0, NULL);
    m->raw = true; // the rules would turn it back into the sum
    step = state_first ? ir_add(m, ir_var(s), sum->args[0]) : ir_add(m, sum->args[0], ir_var(s));
    Node *loop = ir_fold(m, sum->u.var, 1, &s, &init, &step);
    m->raw = raw;
    return loop;
}

typedef VEC(Node *) Sums; // a sum, and the loop that it is

// Could s be t with another variable for v? What does not mention v is the same, and operands may have changed places.
static bool may_be(const Node *s, const Node *t, const Var *v, int depth) {
    if (!node_has_var(t, v)) return s == t;
    if (s->op != t->op || s->nargs != t->nargs) return false;
    if (!depth || !op_is_elementwise(t->op)) return true;
    bool same = true, swapped = t->nargs == 2;
    for (int k = 0; k < t->nargs; k++) {
        same &= may_be(s->args[k], t->args[k], v, depth - 1);
        swapped = swapped && may_be(s->args[k], t->args[1 - k], v, depth - 1);
    }
    return same || swapped;
}

// Does a state of u perhaps add up the sum, or (NULL) any? Else no loop for the sum need be made to find out that it is another.
static bool adds_up(const JoinedLoop *u, const Node *sum) {
    for (int k = 0; k < u->state.len; k++) {
        const Node *step = u->step.data[k], *self = ir_var(u->state.data[k]);
        bool adds =
            (step->op == OP_add && step->args[1] == self) || ((step->op == OP_add || step->op == OP_sub) && step->args[0] == self);
        if (!adds || !ir_is_zero(u->init.data[k])) continue;
        if (!sum || step->op == OP_sub || may_be(step->args[step->args[0] == self], sum->args[0], sum->u.var, 3)) return true;
    }
    return false;
}

// Sums that a state of the loop adds up anyway: a state that others need, while a result that needs no other was made a sum.
static void join_sums(Lower *l, JoinedLoop *u, Sums *sums) {
    for (int i = 0; i < l->scope->loops.len && u->loop->op == OP_fold && adds_up(u, NULL); i++) {
        Candidate *c = &l->scope->loops.data[i];
        Node *e = c->e;
        bool fits = e->op == OP_sum && e->rank == 0 && e->u.var->extent == ir_loop(u->loop)->index->extent;
        if (!fits || c->done || !adds_up(u, e) || lower_known_value(l, e) >= 0 || lower_must_wait(l, c)) continue;
        for (int first = 0; first < 2; first++) {
            Node *loop = as_loop(l->ir, e, first);
            if (!ir_join(u, loop, true)) continue;
            vec_push(sums, e);
            vec_push(sums, loop);
            break;
        }
    }
}

bool lower_added_up(Lower *l, Node *sum) {
    for (int i = 0; i < l->scope->folds.len; i++) {
        Node *o = l->scope->folds.data[i];
        if (o->op != OP_fold || ir_loop(o)->index->extent != sum->u.var->extent) continue;
        if (known_loop(l, o) || lower_needs_busy(l, o)) continue;
        JoinedLoop u;
        ir_join_open(&u, l->ir, l->reach, o);
        const bool adds = adds_up(&u, sum);
        ir_join_close(&u);
        if (!adds) continue;
        lower_loop(l, o);
        if (lower_known_value(l, sum) >= 0) return true;
    }
    return false;
}

LoopResult *lower_loop(Lower *l, Node *loop) {
    LoopResult *known = known_loop(l, loop);
    if (known) return known;
    JoinedLoop u;
    ir_join_open(&u, l->ir, l->reach, loop);
    for (int i = 0; i < l->scope->folds.len; i++) {
        Node *o = l->scope->folds.data[i];
        if (o != loop && ir_join_alike(&u, o) && !known_loop(l, o) && !lower_needs_busy(l, o)) ir_join(&u, o, true);
    }
    // A while loop may fail, so that branches make theirs themselves: not if it is one that runs anyway.
    for (int i = 0; i < l->whiles.len && loop->op == OP_while; i++) {
        Node *o = l->whiles.data[i];
        if (!is_member(&u, o) && !known_loop(l, o)) ir_join_part(&u, o);
    }
    Sums sums = {0};
    join_sums(l, &u, &sums);
    Span before = lower_at(l, loop);
    int busy = l->busy.len;
    for (int i = 0; i < u.members.len; i++) lower_push_busy(l, u.members.data[i].loop);
    emit_union(l, &u);
    lower_pop_busy(l, busy);
    l->span = before;
    ir_join_close(&u);
    for (int i = 0; i < sums.len; i += 2) {
        const LoopResult *r = map_get(&l->scope->arrays, sums.data[i + 1]);
        map_put(&l->scope->values, sums.data[i], (void *)(intptr_t)(r->value[0] + 1));
    }
    vec_free(&sums);
    return map_get(&l->scope->arrays, loop);
}
