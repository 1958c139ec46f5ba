// Sequential loops. Scalar states are cells; array states are buffers, updated in place where the step permits: where
// it changes one computed element (or row), adds to the old value, or reads the old array only at its own index.
// Otherwise the new array is made beside the old one and copied back.
#include "ir/internal.h"
#include "lower/internal.h"

typedef enum Update { UPDATE_NONE, UPDATE_PUT, UPDATE_ADD, UPDATE_MAP, UPDATE_COPY } Update;

typedef struct Own {
    const Node *state;
    Var *const *v;
    int n;
    bool foreign; // the state is read elsewhere than at its own index
} Own;

static bool own_read(const Node *e, const Own *o) {
    if (e->op != OP_at || e->args[0] != o->state) return false;
    for (int k = 0; k < o->n; k++)
        if (e->args[k + 1] != ir_var(o->v[k])) return false;
    return true;
}

static void find_foreign(Node *e, Own *o, Map *seen) {
    if (o->foreign || map_get(seen, e) || !node_has_var(e, o->state->u.var)) return;
    map_put(seen, e, e);
    if (e == o->state) o->foreign = true;
    for (int k = 0; k < o->n && ir_is_binder(e); k++)
        if (e->u.var == o->v[k]) o->foreign = true; // inside, that is another index
    if (own_read(e, o)) return;
    for (int i = 0; i < e->nargs; i++) find_foreign(e->args[i], o, seen);
}

static bool reads_elsewhere(Node *e, Var *const *v, int n, const Node *state) {
    Own o = {state, v, n, false};
    Map seen = {0};
    find_foreign(e, &o, &seen);
    map_free(&seen);
    return o.foreign;
}

static bool all_fixed(Node *const *fixed, int n) {
    for (int k = 0; k < n; k++)
        if (!fixed[k]) return false;
    return true;
}

typedef struct Plan {
    Update how;
    Var *v[16];
    int n;
    Node *e; // what to put, add, or store
    Node *fixed[16];
    Buf *next; // UPDATE_COPY
} Plan;

// How an array state is updated in place; `lone`: no other array step reads it.
static void plan_update(Ir *m, Node *state, Node *step, bool lone, Plan *p) {
    p->how = UPDATE_COPY, p->n = 0, p->e = step;
    if (step == state) {
        p->how = UPDATE_NONE;
        return;
    }
    Node *body = step;
    for (; body->op == OP_gen && p->n < 16; body = body->args[0]) p->v[p->n++] = body->u.var;
    if (!lone || body->rank || p->n == 0) return;
    Own own = {state, p->v, p->n, false};
    if (body->op == OP_select && own_read(body->args[2], &own)) {
        Node *put = ir_bracket_plain(m, body->args[0], body->args[1]);
        if (ir_scatters(m, put, p->v, p->n, p->fixed) &&
            (all_fixed(p->fixed, p->n) || !reads_elsewhere(put, p->v, p->n, state))) {
            p->how = UPDATE_PUT, p->e = put;
            return;
        }
    }
    for (int side = 0; body->op == OP_add && side < 2; side++) {
        Node *rest = body->args[1 - side];
        if (!own_read(body->args[side], &own)) continue;
        bool one = rest->op == OP_bracket && ir_scatters(m, rest, p->v, p->n, p->fixed) && all_fixed(p->fixed, p->n);
        if (one || !node_has_var(rest, state->u.var)) {
            p->how = UPDATE_ADD, p->e = rest;
            return;
        }
    }
    if (!reads_elsewhere(body, p->v, p->n, state)) p->how = UPDATE_MAP;
}

static void apply_update(Lower *l, Plan *p, Buf *buf) {
    Task t = {.kind = TASK_STORE, .buf = buf, .e = p->e};
    if (p->how == UPDATE_PUT) {
        t.kind = TASK_PUT;
        lower_scatter_term(l, &t, p->e, false, p->v, p->n, p->fixed);
        return;
    }
    if (p->how == UPDATE_ADD) {
        t.kind = TASK_ADD;
        for (int k = p->n; k-- > 0;) t.e = ir_binder_plain(l->ir, OP_gen, p->v[k], t.e);
    }
    lower_tasks(l, 1, &t);
}

static void steps(Lower *l, Node *loop, const Temp *cell, Buf *const *buf, Plan *plan) {
    int n = ir_loop(loop)->n;
    Temp *next = ARENA_ARRAY(l->arena, Temp, n);
    for (int k = 0; k < n; k++) lower_demand(l, loop_step(loop, k));
    for (int k = 0; k < n; k++)
        if (!buf[k]) next[k] = lower_value(l, loop_step(loop, k));
    for (int k = 0; k < n; k++) {
        if (!buf[k] || plan[k].how != UPDATE_COPY) continue;
        Task t = {.kind = TASK_STORE, .buf = plan[k].next, .e = loop_step(loop, k)};
        lower_tasks(l, 1, &t);
    }
    for (int k = 0; k < n; k++)
        if (buf[k] && plan[k].how != UPDATE_COPY && plan[k].how != UPDATE_NONE) apply_update(l, &plan[k], buf[k]);
    for (int k = 0; k < n; k++) {
        if (!buf[k]) {
            lower_set(l, cell[k], next[k]);
        } else if (plan[k].how == UPDATE_COPY) {
            Stmt *s = lower_stmt(l, ST_COPY, -1, 0, NULL);
            s->buf = buf[k], s->src = plan[k].next;
        }
    }
}

static void bind_states(Lower *l, Loop *p, const Temp *cell, Buf *const *buf) {
    for (int k = 0; k < p->n; k++) {
        scope_bind(l, l->scope, p->state[k]);
        Node *s = ir_var(p->state[k]);
        if (buf[k]) map_put(&l->scope->arrays, s, buf[k]);
        else map_put(&l->scope->values, s, (void *)(intptr_t)(lower_get(l, cell[k]) + 1));
    }
}

static void plan_all(Lower *l, Node *loop, Buf *const *buf, Plan *plan) {
    Loop *p = ir_loop(loop);
    for (int k = 0; k < p->n; k++) {
        if (!buf[k]) continue;
        bool lone = true;
        for (int j = 0; j < p->n; j++)
            lone &= j == k || !buf[j] || !node_has_var(loop_step(loop, j), p->state[k]);
        plan_update(l->ir, ir_var(p->state[k]), loop_step(loop, k), lone, &plan[k]);
        if (plan[k].how == UPDATE_COPY) plan[k].next = lower_buf(l, BUF_TEMP, buf[k]->kind, buf[k]->rank, buf[k]->extent, NULL);
    }
}

static void emit_fold(Lower *l, Node *loop, const Temp *cell, Buf *const *buf, Plan *plan) {
    Stmt *s = lower_begin_for(l, ir_loop(loop)->index);
    bind_states(l, ir_loop(loop), cell, buf);
    steps(l, loop, cell, buf, plan);
    lower_end_for(l, s);
}

static void emit_while(Lower *l, Node *loop, const Temp *cell, Buf *const *buf, Plan *plan) {
    Stmt *s = ARENA_NEW(l->arena, Stmt);
    *s = (Stmt){.kind = ST_LOOP, .dst = -1};
    s->body = scope_open(l)->block;
    l->scope->loop = l->scope->maybe_empty = true;
    bind_states(l, ir_loop(loop), cell, buf);
    lower_demand(l, loop_cond(loop));
    Temp more = lower_value(l, loop_cond(loop));
    lower_stmt(l, ST_BREAK, -1, 1, &more);
    steps(l, loop, cell, buf, plan);
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
    Plan *plan = ARENA_ARRAY(l->arena, Plan, p->n);
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
    plan_all(l, loop, r->buf, plan);
    if (loop->op == OP_fold) emit_fold(l, loop, cell, r->buf, plan);
    else emit_while(l, loop, cell, r->buf, plan);
    for (int k = 0; k < p->n; k++)
        if (!r->buf[k]) r->value[k] = lower_get(l, cell[k]);
    map_put(&l->scope->arrays, loop, r);
    return r;
}
