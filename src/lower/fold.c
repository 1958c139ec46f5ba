// Sequential loops. Scalar states are cells; array states are buffers, updated in place where the step permits
// (update.c). Otherwise the new array is made beside the old one and copied back.
#include "lower/internal.h"

// An array state whose old value no other state's step is yet to read, or -1: its turn to be updated.
static int next_state(Node *loop, const bool *waiting) {
    Loop *p = ir_loop(loop);
    for (int k = 0; k < p->n; k++) {
        bool read = false;
        for (int j = 0; j < p->n; j++) read |= j != k && waiting[j] && node_has_var(loop_step(loop, j), p->state[k]);
        if (waiting[k] && !read) return k;
    }
    return -1;
}

// The array states in the order in which they are updated. Those that read each other are copied.
static int plan_order(Lower *l, Node *loop, Buf *const *buf, int *order, Update **plan) {
    Loop *p = ir_loop(loop);
    int count = 0;
    bool *waiting = ARENA_ARRAY(l->arena, bool, p->n);
    for (int k = 0; k < p->n; k++) waiting[k] = buf[k];
    for (;;) {
        int k = next_state(loop, waiting);
        bool in_place = k >= 0;
        for (int j = 0; k < 0 && j < p->n; j++)
            if (waiting[j]) k = j;
        if (k < 0) return count;
        waiting[k] = false;
        plan[k] = lower_plan_update(l, ir_var(p->state[k]), loop_step(loop, k), in_place);
        order[count++] = k;
        if (plan[k]->how != UPDATE_COPY) continue;
        plan[k]->next = lower_buf(l, BUF_TEMP, buf[k]->kind, buf[k]->rank, buf[k]->extent, NULL);
    }
}

static void steps(Lower *l, Node *loop, const Temp *cell, Buf *const *buf) {
    int n = ir_loop(loop)->n, *order = ARENA_ARRAY(l->arena, int, n);
    Temp *next = ARENA_ARRAY(l->arena, Temp, n);
    Update **plan = ARENA_ARRAY(l->arena, Update *, n);
    for (int k = 0; k < n; k++) lower_demand(l, loop_step(loop, k));
    for (int k = 0; k < n; k++)
        if (!buf[k]) next[k] = lower_value(l, loop_step(loop, k));
    int arrays = plan_order(l, loop, buf, order, plan);
    for (int i = 0; i < arrays; i++) {
        Update *u = plan[order[i]];
        Task t = {.kind = TASK_STORE, .buf = u->next, .e = u->step};
        if (u->how == UPDATE_COPY) lower_tasks(l, 1, &t);
    }
    for (int i = 0; i < arrays; i++) lower_update(l, plan[order[i]], buf[order[i]]);
    for (int i = 0; i < arrays; i++) {
        if (plan[order[i]]->how != UPDATE_COPY) continue;
        Stmt *s = lower_stmt(l, ST_COPY, -1, 0, NULL);
        s->buf = buf[order[i]], s->src = plan[order[i]]->next;
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

static void emit_fold(Lower *l, Node *loop, const Temp *cell, Buf *const *buf) {
    Stmt *s = lower_begin_for(l, ir_loop(loop)->index);
    bind_states(l, ir_loop(loop), cell, buf);
    steps(l, loop, cell, buf);
    lower_end_for(l, s);
}

static void emit_while(Lower *l, Node *loop, const Temp *cell, Buf *const *buf) {
    Stmt *s = ARENA_NEW(l->arena, Stmt);
    *s = (Stmt){.kind = ST_LOOP, .dst = -1};
    s->body = scope_open(l)->block;
    l->scope->loop = l->scope->maybe_empty = true;
    bind_states(l, ir_loop(loop), cell, buf);
    lower_demand(l, loop_cond(loop));
    Temp more = lower_value(l, loop_cond(loop));
    lower_stmt(l, ST_BREAK, -1, 1, &more);
    steps(l, loop, cell, buf);
    scope_close(l);
    vec_push(&l->scope->block->stmts, s);
}

LoopResult *lower_loop(Lower *l, Node *loop) {
    for (Scope *s = l->scope; s; s = s->outer) {
        LoopResult *known = map_get(&s->arrays, loop);
        if (known) return known;
    }
    Loop *p = ir_loop(loop);
    Temp *cell = ARENA_ARRAY(l->arena, Temp, p->n);
    LoopResult *r = ARENA_NEW(l->arena, LoopResult);
    r->value = ARENA_ARRAY(l->arena, Temp, p->n);
    r->buf = ARENA_ARRAY(l->arena, Buf *, p->n);
    for (int k = 0; k < p->n; k++) {
        Node *init = loop_init(loop, k);
        if (init->rank == 0) {
            cell[k] = lower_cell(l, init->kind, lower_value(l, init));
            continue;
        }
        r->buf[k] = lower_new_array(l, init);
        Task t = {.kind = TASK_STORE, .buf = r->buf[k], .e = init, .scatters = ir_has_scatter(l->ir, init)};
        lower_task(l, &t);
    }
    if (loop->op == OP_fold) emit_fold(l, loop, cell, r->buf);
    else emit_while(l, loop, cell, r->buf);
    for (int k = 0; k < p->n; k++)
        if (!r->buf[k]) r->value[k] = lower_get(l, cell[k]);
    map_put(&l->scope->arrays, loop, r);
    return r;
}
