// Loops: stores, reductions and additions as tasks of a scope. Tasks that loop over equal extents and do not need each
// other share one loop, and so do the sums and arrays that the scope's tasks need anyway. An array that is a sum of
// gens (made by the interchange pass) is added up in place, its summation variable outermost.
#include "lower/internal.h"
#include "pass/pass.h"

#include "fsmc/runtime.h"
#include "ir/internal.h"
#include "ir/tensor.h"

#include <string.h>

// ---- candidates for sharing

static bool is_reduction(const Node *e) { return e->op == OP_sum || e->op == OP_argmin || e->op == OP_argmax; }

static bool held(Lower *l, Node *e) { return e->rank ? lower_known_array(l, e) != NULL : lower_known_value(l, e) >= 0; }

// Where the search for loops is.
typedef struct LoopSearch {
    bool inside;       // of something that needs the value as such
    bool step;         // of a sequential loop's steps
    bool branch;       // of an arm that may not be evaluated
    const Node *guard; // the condition of the innermost such arm, if it is a guard
} LoopSearch;

static bool says(const Node *p, const Node *q) {
    return p == q || (p->op == OP_and && (says(p->args[0], q) || says(p->args[1], q)));
}

static bool implies(const Node *p, const Node *q) {
    return q->op == OP_and ? implies(p, q->args[0]) && implies(p, q->args[1]) : says(p, q);
}

// Does sum e evaluate nothing where the guard is false? The guard of a derivative often says just that the condition of
// some of its summands holds: it counts them.
static bool nothing_unless(const Node *e, const Node *guard) {
    if (guard->op == OP_and) return nothing_unless(e, guard->args[0]) || nothing_unless(e, guard->args[1]);
    const Node *none = guard->op == OP_not ? guard->args[0] : NULL;
    if (e->op != OP_sum || !none || none->op != OP_eq || !ir_is_zero(none->args[0])) return false;
    const Node *count = none->args[1], *one = count->op == OP_sum && count->u.var == e->u.var ? count->args[0] : NULL;
    return one && one->op == OP_bracket && e->args[0]->op == OP_bracket && implies(e->args[0]->args[0], one->args[0]);
}

// Collects the loops that the current scope's tasks need, whatever they loop over, and that live in this scope. Of what
// stands in branches, and may not be needed, just what will be computed before them (`inside`), or costs nothing if it is
// not needed. Of what only the steps of a sequential loop need, just such loops: the reverse of a loop needs the trace of one
// whose result may be needed, too, and traces of all that it reads, which are one loop, as of the blocks between checkpoints. (Not
// where that is done for each element of an array: second derivatives of loops get dearer by it.)
static void find_loops(Lower *l, Node *e, LoopSearch in, Map *seen) {
    const void *before = map_get(seen, e);
    if (e->nargs == 0 || before == e || (before && in.branch) || lower_is_outside(l, e)) return;
    map_put(seen, e, in.branch ? l : (void *)e);
    Scope *s = l->scope;
    bool loops = e->op == OP_sum || e->op == OP_gen, here = (loops || ir_is_loop(e)) && lower_stays(l, e);
    bool sure = !in.branch || lower_in_arms(l, s, e) || (in.guard && nothing_unless(e, in.guard));
    bool safe = map_get(&s->demanded, e) || (!e->partial && sure);
    if (loops && in.inside && !in.step && here && safe) {
        if (ir_has_scatter(l->ir, e)) vec_push(&s->scatters, e);
        else vec_push(&s->loops, ((Candidate){.e = e}));
    }
    if (ir_is_loop(e) && here && safe) vec_push(&s->folds, e);
    if (ir_is_binder(e) && lower_active(l, e->u.var)) return; // its body speaks of another variable
    int guards = (e->op == OP_bracket || e->op == OP_select) && !lower_likely(l, e->args[0], s) ? 1 : e->nargs;
    int init = ir_is_loop(e) ? e->u.loop->n : e->nargs;
    for (int i = 0; i < (s == l->root || s->steps ? e->nargs : init); i++) {
        Node *a = e->args[i];
        // an array is a loop of its own only where something indexes it
        bool read = (e->op == OP_at && i == 0) || e->op == OP_extern;
        const Node *guard = i >= guards ? e->op == OP_bracket ? e->args[0] : NULL : in.guard;
        find_loops(l, a, (LoopSearch){a->op == OP_sum || read, in.step || i >= init, in.branch || i >= guards, guard}, seen);
    }
}

// ---- for loops

Var *lower_loop_var(Lower *l, Var *v, Node **e) {
    if (!lower_active(l, v)) return v;
    Var *w = ir_index_like(l->ir, v, v->extent);
    if (e) *e = ir_subst1(l->ir, *e, ir_var(v), ir_var(w));
    return w;
}

// A loop does the work of another, too.
static void join_wishes(Lower *l, Stmt *s, const Var *v) {
    if (!wishes_any(&v->wishes) || s->wishes == &v->wishes) return;
    if (!s->wishes) {
        s->wishes = &v->wishes;
        return;
    }
    Wishes *both = arena_copy(l->arena, s->wishes, sizeof *both);
    wishes_join(both, &v->wishes);
    s->wishes = both;
}

Stmt *lower_begin_for(Lower *l, Var *v) {
    Temp n = lower_value(l, v->extent), i = lower_temp(l, KIND_INT, v->name);
    Stmt *s = ARENA_NEW(l->arena, Stmt);
    *s = (Stmt){.kind = ST_FOR, .dst = i, .nargs = 1, .args = arena_copy(l->arena, &n, sizeof n), .span = l->span};
    bool maybe_empty = lower_maybe_empty(l, v);
    join_wishes(l, s, v);
    scope_open(l);
    l->temp_depth.data[i] = l->scope->depth; // it has no value outside
    l->scope->loop = true;
    l->scope->maybe_empty = maybe_empty;
    l->scope->extent = v->extent;
    s->body = l->scope->block;
    scope_bind(l, l->scope, v);
    map_put(&l->scope->values, ir_var(v), (void *)(intptr_t)(i + 1));
    return s;
}

void lower_end_for(Lower *l, Stmt *s) {
    scope_close(l);
    vec_push(&l->scope->block->stmts, s);
}

// ---- tasks

static Temp zero(Lower *l, Kind k) { return lower_value(l, ir_zero(l->ir, k)); }

static void fill(Lower *l, Buf *b) {
    Temp z = zero(l, b->kind);
    lower_stmt(l, ST_FILL, -1, 1, &z)->buf = b;
}

static Task with_index(Lower *l, const Task *t, Node *i, Node *e) {
    Task u = *t;
    u.idx = ARENA_ARRAY(l->arena, Node *, t->nidx + 1);
    if (t->nidx) memcpy(u.idx, t->idx, sizeof *u.idx * (size_t)t->nidx);
    u.idx[u.nidx++] = i;
    u.e = e, u.shift = NULL;
    return u;
}

// The variable over which a task loops first, or NULL if it is a scalar to be computed.
static Var *loop_var(const Task *t) {
    if (t->guard || t->region) return NULL;
    if (t->e->op == OP_gen) return t->e->u.var;
    return t->e->op == OP_sum && (t->kind == TASK_ACC || t->kind == TASK_SCATTER || t->e->rank) ? t->e->u.var : NULL;
}

// The task inside its first loop.
static Task inside(Lower *l, const Task *t) {
    if (t->e->op == OP_gen) {
        Node *i = ir_var(t->e->u.var);
        return with_index(l, t, t->shift ? ir_add(l->ir, i, t->shift) : i, t->e->args[0]);
    }
    Task u = t->place ? with_index(l, t, t->place, t->e) : *t;
    if (t->place) u.kind = TASK_STORE, u.place = NULL;
    if (t->kind == TASK_SCATTER && u.nsums++ < 2) u.sum[u.nsums - 1] = t->e->u.var;
    u.e = t->e->args[0];
    return u;
}

static void emit_scalar_task(Lower *l, Task *t) {
    Temp *args = ARENA_ARRAY(l->arena, Temp, t->nidx + 1);
    args[0] = lower_value(l, t->e);
    if (t->kind == TASK_ACC) {
        Temp sum = lower_temp(l, t->e->kind, NULL), both[] = {lower_get(l, t->cell), args[0]};
        lower_stmt(l, ST_OP, sum, 2, both)->op = OP_add;
        if (l->ir->debug_nan && kind_is_float(t->e->kind)) lower_check_nan(l, ir_nan_sum, 0, sum, 2, both);
        lower_set(l, t->cell, sum);
        return;
    }
    lower_values(l, t->nidx, t->idx, args + 1);
    if (t->buf->where == BUF_OUTPUT && t->buf->rank == 0) {
        if (t->kind == TASK_ADD) fatal_bug("an addition to a scalar output");
        lower_stmt(l, ST_OUT, -1, 1, args)->u.num = t->buf->number;
        return;
    }
    Stmt *s = lower_stmt(l, t->kind == TASK_ADD ? ST_ADDTO : ST_STORE, -1, t->nidx + 1, args);
    s->buf = t->buf, s->once = t->once;
    if (!t->apart || t->kind != TASK_ADD) return;
    Temp *own = ARENA_ARRAY(l->arena, Temp, t->nsums + 1);
    for (int k = 0; k < t->nsums; k++) own[k] = lower_value(l, ir_var((Var *)t->sum[k]));
    s->own = own, s->nown = t->nsums;
}

// Are all elements of e the same literal?
static bool is_filled(const Node *e) {
    while (e->op == OP_gen) e = e->args[0];
    return e->op == OP_lit;
}

// A whole array that is in memory already.
static bool copies(Lower *l, Task *t) {
    Node *e = t->e;
    if (t->kind != TASK_STORE || e->rank == 0) return false;
    bool made = e->op == OP_gen || e->op == OP_sum;
    if (made && (t->nidx || is_filled(e) || !lower_known_array(l, e))) return false;
    if (t->nidx == 0 && e->op != OP_pack) {
        Buf *src = lower_array(l, e);
        if (src == t->buf) return true; // a loop's state lives there
        Stmt *s = lower_stmt(l, ST_COPY, -1, 0, NULL);
        s->buf = t->buf, s->src = src;
        return true;
    }
    return false;
}

// An array that is no gen, element by element.
static Node *as_gen(Ir *m, Node *e) {
    Var *v[16];
    Node *idx[16];
    for (int k = 0; k < e->rank; k++) v[k] = ir_index(m, "k", e->shape[k]), idx[k] = ir_var(v[k]);
    Node **args = ARENA_ARRAY(m->arena, Node *, e->rank + 1);
    args[0] = e;
    memcpy(args + 1, idx, sizeof *idx * (size_t)e->rank);
    bool raw = m->raw;
    m->raw = true; // the rules would turn it back into the array
    Node *r = ir_at(m, e, e->rank, idx);
    for (int k = e->rank; k-- > 0;) r = ir_gen(m, v[k], r);
    m->raw = raw;
    return r;
}

static void store_pack(Lower *l, Task *t) {
    Node *e = t->e;
    for (int i = 0; i < e->nargs; i++) {
        Task u = *t;
        int64_t rest = i;
        u.idx = ARENA_ARRAY(l->arena, Node *, t->nidx + e->rank);
        if (t->nidx) memcpy(u.idx, t->idx, sizeof *u.idx * (size_t)t->nidx);
        for (int k = e->rank; k-- > 0;) {
            u.idx[t->nidx + k] = ir_int(l->ir, rest % e->shape[k]->u.num);
            rest /= e->shape[k]->u.num;
        }
        u.nidx += e->rank, u.e = e->args[i];
        if (u.kind == TASK_ADD) lower_tasks(l, 1, &u);
        else emit_scalar_task(l, &u);
    }
}

// ---- shared loops

// Who takes part in a loop: tasks of the scope, and sums and arrays that become known after it.
typedef struct Member {
    Task task;   // to be done inside the loop
    Node *value; // scalar sum or array that the loop produces, or NULL
    Temp cell;
    Buf *buf;
} Member;

typedef VEC(Member) Members;

static bool is_whole(const Task *t) {
    return t->kind == TASK_STORE && !t->nidx && !t->guard && !t->region && !t->shift && !t->first && !t->after;
}

// Is what the task stores an array that the scope also reads?
static bool is_read(const Lower *l, const Task *t) {
    for (int i = 0; i < l->scope->loops.len && is_whole(t); i++)
        if (l->scope->loops.data[i].e == t->e) return true;
    return false;
}

// Does a member of the group read the array that the task stores, or the task one that a member stores?
static bool reads_stored(Lower *l, const Task *t, const Members *group) {
    bool read = is_read(l, t);
    for (int i = 0; i < group->len; i++) {
        const Task *u = &group->data[i].task;
        if (read && reach(l->reach, u->e, t->e)) return true;
        if (is_read(l, u) && reach(l->reach, t->e, u->e)) return true;
    }
    return false;
}

static bool needs_group(Lower *l, Node *e, Members *group) {
    for (int i = 0; i < group->len; i++) {
        const Task *u = &group->data[i].task;
        Node *o = group->data[i].value;
        if (o && reach(l->reach, e, o)) return true;
        if (e != u->e && is_read(l, u) && reach(l->reach, e, u->e)) return true;
    }
    return false;
}

static bool needed_by(Lower *l, Node *e, Members *group) {
    for (int i = 0; i < group->len; i++)
        if (reach(l->reach, group->data[i].task.e, e)) return true;
    return false;
}

// Is a dear part of e also one of `other`, but of no member of the group?
static bool shares(Lower *l, Node *e, Node *other, const Members *group, int *fuel) {
    bool dear = e->rank == 0 && (e->op == OP_sum || op_info[e->op].cost > PASS_COST_DEAR), in_group = false;
    if (e->nargs == 0 || --*fuel < 0 || lower_is_outside(l, e)) return false;
    for (int i = 0; dear && i < group->len && !in_group; i++) in_group = reach(l->reach, group->data[i].task.e, e);
    if (dear && reach(l->reach, other, e)) return !in_group;
    for (int i = e->op == OP_at ? 1 : 0; i < e->nargs && !in_group; i++)
        if (shares(l, e->args[i], other, group, fuel)) return true;
    return false;
}

enum { SHARES_FUEL = 100 };

// Had it better wait for the step of a state that cannot be in this loop, but computes what it does?
static bool waits_for_step(Lower *l, Node *e, Members *group) {
    const Scope *s = l->scope;
    int fuel = SHARES_FUEL;
    for (int k = 0; k < s->nsteps && e->op == OP_gen; k++) {
        Node *step = s->steps[k];
        if (step->op != OP_gen || step->u.var->extent != e->u.var->extent || lower_known_array(l, step)) continue;
        if (needs_group(l, step, group) && !reach(l->reach, step, e) && shares(l, e, step, group, &fuel)) return true;
    }
    return false;
}

// Had it better wait for an array that it needs, since that computes what a member of the group does, and can be in this loop?
static bool waits_for_array(Lower *l, Node *e, Members *group) {
    static const Members none;
    const Scope *s = l->scope;
    int fuel = SHARES_FUEL;
    for (int k = 0; k < s->loops.len; k++) {
        Node *a = s->loops.data[k].e;
        if (a == e || a->op != OP_gen || s->loops.data[k].done || held(l, a) || !reach(l->reach, e, a)) continue;
        if (a->u.var->extent != group->data[0].task.e->u.var->extent || needs_group(l, a, group) || needed_by(l, a, group))
            continue;
        for (int i = 0; i < group->len; i++)
            if (shares(l, a, group->data[i].task.e, &none, &fuel)) return true;
    }
    return false;
}

Temp lower_extent(Lower *l, Node *e, int k) {
    Node *n = e->shape[k], *ok = ir_le(l->ir, ir_int(l->ir, 0), n);
    Temp t = lower_value(l, n);
    if (!n->nonneg && !(ok->op == OP_lit && ok->u.num))
        lower_check(l, lower_value(l, ok), FSM_ERROR_NEGATIVE, "an array cannot have %d elements", e->span, 1, &t);
    return t;
}

static Poly elements(Ir *m, const Node *e) {
    Node *n = ir_int(m, 1);
    for (int k = 0; k < e->rank; k++) n = ir_mul(m, n, e->shape[k]);
    return poly_of(m, n);
}

// Is it not certain that the array has at most so many times the elements of all arguments and results together, but for a few?
static bool is_huge(Lower *l, Node *e) {
    enum { TIMES = 16, FEW = 4096 };
    const Func *f = l->tree->func;
    Poly all = poly_of(l->ir, ir_int(l->ir, FEW));
    for (int i = 0; i < f->ninputs + f->noutputs; i++)
        all = poly_add(l->ir, all,
                       poly_scale(l->ir, elements(l->ir, i < f->ninputs ? f->inputs[i] : f->outputs[i - f->ninputs]), TIMES));
    bool positive = l->ir->positive, small;
    l->ir->positive = true; // elsewhere arrays are empty
    small = poly_nonneg(l->ir, poly_add(l->ir, all, poly_scale(l->ir, elements(l->ir, e), -1)));
    l->ir->positive = positive;
    return !small;
}

static void explain_array(Lower *l, Node *e) {
    if (!explain_wants(l->ir->explain, EXPLAIN_MEMORY)) return;
    Str s = {0};
    for (int k = 0; k < e->rank; k++) {
        str_putc(&s, '[');
        ir_print_size(&s, e->shape[k]);
        str_putc(&s, ']');
    }
    explain(l->ir->explain, EXPLAIN_MEMORY, e->span, "%s: an array of %s elements of %d bytes%s", ir_quote(l->ir, e), str_text(&s),
            (int)kind_size(e->kind), is_huge(l, e) ? ", maybe many times as many as arguments and results have" : "");
    str_free(&s);
}

Buf *lower_new_array(Lower *l, Node *e) {
    Temp *extent = ARENA_ARRAY(l->arena, Temp, e->rank);
    for (int k = 0; k < e->rank; k++) {
        extent[k] = lower_extent(l, e, k);
        // the buffer may come into being outside of the loops, before the check
        if (!e->shape[k]->nonneg) extent[k] = lower_value(l, ir_max(l->ir, ir_int(l->ir, 0), e->shape[k]));
    }
    explain_array(l, e);
    return lower_buf(l, BUF_TEMP, e->kind, e->rank, extent, NULL);
}

// Where e is to be made and read: the result that it is, if other results read it, or a new array.
static Buf *array_for(Lower *l, Node *e) {
    for (int k = 0; l->read && l->scope == l->root && k < l->func->noutputs; k++)
        if (l->read[k] && l->func->outputs[k] == e) return l->outputs[k];
    return lower_new_array(l, e);
}

// A sum of arrays is zero first, and then added up in place.
static void add_up(Lower *l, Task *t) {
    if (t->kind != TASK_STORE || t->e->op != OP_sum || t->e->rank == 0) return;
    lower_zero(l, t);
    t->kind = TASK_ADD;
}

// The task of the scope that stores e as a whole, and may be done now; NULL if there is none.
static Task *storing(Lower *l, const Node *e) {
    for (int i = 0; i < l->scope->tasks.len; i++) {
        Task *t = &l->scope->tasks.data[i];
        if (is_whole(t) && !t->done && t->e == e) return t;
    }
    return NULL;
}

// What is to be done in a loop over e's variable to produce e. If it is to be stored anyway, it is read from there.
static Member member_for(Lower *l, Node *e) {
    Member mb = {.value = e};
    Task *t = e->rank ? storing(l, e) : NULL;
    if (t) {
        t->done = true;
        mb.buf = t->buf, mb.task = *t;
        add_up(l, &mb.task);
        return mb;
    }
    if (e->rank == 0) {
        mb.cell = lower_cell(l, e->kind, zero(l, e->kind));
        mb.task = (Task){.kind = TASK_ACC, .cell = mb.cell, .e = e};
    } else {
        mb.buf = array_for(l, e);
        if (e->op == OP_sum) fill(l, mb.buf);
        mb.task = (Task){.kind = e->op == OP_sum ? TASK_ADD : TASK_STORE, .buf = mb.buf, .e = e};
    }
    return mb;
}

// Has the task been done that must come first?
static bool may_start(const Lower *l, const Task *t) { return !t->after || l->scope->tasks.data[t->after - 1].stored; }

static void gather(Lower *l, Var *v, Members *group) {
    Scope *s = l->scope;
    for (int i = 0; i < s->tasks.len; i++) {
        Task *t = &s->tasks.data[i];
        Var *w = t->done || !may_start(l, t) ? NULL : loop_var(t);
        if (!w || w->extent != v->extent || lower_needs_busy(l, t->e) || needs_group(l, t->e, group)) continue;
        if (reads_stored(l, t, group)) continue;
        t->done = true;
        Task u = *t;
        add_up(l, &u);
        vec_push(group, ((Member){.task = u}));
    }
    for (int i = 0; i < s->loops.len; i++) {
        Candidate *c = &s->loops.data[i];
        Node *e = c->e;
        if (c->done || e->u.var->extent != v->extent || lower_must_wait(l, c)) continue;
        c->done = held(l, e);
        if (c->done || needed_by(l, e, group) || needs_group(l, e, group)) continue;
        if (!waits_for_step(l, e, group) && !waits_for_array(l, e, group)) vec_push(group, member_for(l, e));
    }
}

// One loop over v for all members.
static void emit_group(Lower *l, Var *v, Members *group) {
    Scope *s = l->scope;
    v = lower_loop_var(l, v, NULL);
    int busy = l->busy.len;
    for (int i = 0; i < group->len; i++) lower_push_busy(l, group->data[i].task.e);
    Stmt *loop = lower_begin_for(l, v);
    Task *tasks = ARENA_ARRAY(l->arena, Task, group->len);
    for (int i = 0; i < group->len; i++) {
        Task *t = &group->data[i].task;
        Var *w = loop_var(t);
        Node *to = ir_var(v);
        tasks[i] = inside(l, t);
        Node **last = tasks[i].nidx > t->nidx ? &tasks[i].idx[t->nidx] : NULL; // earlier ones speak of outer loops
        if (last) *last = ir_subst1(l->ir, *last, ir_var(t->place ? t->over : w), to);
        if (tasks[i].nsums > t->nsums && t->nsums < 2) tasks[i].sum[t->nsums] = v;
        if (w == v) continue;
        join_wishes(l, loop, w);
        Node *e = ir_subst1(l->ir, tasks[i].e, ir_var(w), to);
        if (e != tasks[i].e) lower_note_uses(l, e);
        tasks[i].e = e;
    }
    lower_tasks(l, group->len, tasks);
    lower_end_for(l, loop);
    lower_pop_busy(l, busy);
    for (int i = 0; i < group->len; i++) {
        Member *mb = &group->data[i];
        if (!mb->value && is_read(l, &mb->task)) map_put(&s->arrays, mb->task.e, mb->task.buf);
        if (!mb->value) continue;
        if (mb->buf) map_put(&s->arrays, mb->value, mb->buf);
        else map_put(&s->values, mb->value, (void *)(intptr_t)(lower_get(l, mb->cell) + 1));
    }
}

static void emit_loop_task(Lower *l, Task *t) {
    Members group = {0};
    Var *v = loop_var(t);
    t->done = true;
    vec_push(&group, ((Member){.task = *t}));
    gather(l, v, &group);
    emit_group(l, v, &group);
    vec_free(&group);
}

// ---- the tasks of a scope

Node *lower_split_guard(Lower *l, Node *e, Var *const *v, int n, Node **inner) {
    Node *c[64], *outer = NULL, *rest = ir_bool(l->ir, true);
    int count = 0;
    if (e->op != OP_bracket || !ir_conjuncts(e->args[0], c, &count, 64)) return NULL;
    for (int i = 0; i < count; i++) {
        bool varies = lower_is_of_indices(c[i]) || c[i]->partial;
        for (int k = 0; k < n; k++) varies |= node_has_var(c[i], v[k]);
        if (varies) rest = ir_and(l->ir, rest, c[i]);
        else outer = outer ? ir_and(l->ir, outer, c[i]) : c[i];
    }
    *inner = ir_bracket(l->ir, rest, e->args[1]);
    return outer;
}

// Adding an array under a condition that is the same for all its elements: the condition is tested once.
static bool emit_guarded(Lower *l, Task *t) {
    Var *v[16];
    int n = 0;
    Node *body = t->e, *inner;
    if (t->kind == TASK_STORE) return false;
    for (; body->op == OP_gen && n < 16; body = body->args[0]) v[n++] = body->u.var;
    Node *outer = n ? lower_split_guard(l, body, v, n, &inner) : NULL;
    if (!outer) return false;
    Task u = *t;
    u.e = inner;
    for (int k = n; k-- > 0;) u.e = ir_binder_plain(l->ir, OP_gen, v[k], u.e);
    Temp c = lower_value(l, outer);
    lower_begin_if(l, outer);
    lower_tasks(l, 1, &u);
    lower_end_if(l, c);
    return true;
}

// A task that only adds need not visit the indices at which a bracket is false.
static void narrow(Lower *l, Task *t) {
    if (t->kind == TASK_STORE || t->e->op != OP_gen || t->shift) return;
    Node *lo, *rest;
    Var *w = ir_narrow_all(l->ir, t->e->u.var, t->e->args[0], &lo, &rest);
    if (!w) return;
    t->e = ir_binder_plain(l->ir, OP_gen, w, rest);
    t->shift = ir_is_zero(lo) ? NULL : lo;
}

void lower_zero(Lower *l, Task *t) {
    if (t->nidx == 0) {
        fill(l, t->buf);
        return;
    }
    Task z = *t;
    z.e = ir_zeros_like(l->ir, t->e);
    emit_loop_task(l, &z);
}

static bool all_zero(const Node *e) {
    while (e->op == OP_gen) e = e->args[0];
    return ir_is_zero(e);
}

static void emit_task(Lower *l, Task *t) {
    if (t->first && !t->shift && all_zero(t->e)) {
        lower_zero(l, t);
        return;
    }
    if (copies(l, t)) return;
    if (t->e->rank && t->e->op == OP_pack) {
        store_pack(l, t);
        return;
    }
    add_up(l, t);
    if (t->region) lower_region_shared(l, t);
    else if (emit_guarded(l, t)) return;
    else if (loop_var(t)) emit_loop_task(l, t);
    else emit_scalar_task(l, t);
}

void lower_task(Lower *l, Task *t) {
    Span before = lower_at(l, t->e);
    emit_task(l, t);
    l->span = before;
}

// The form in which a task waits for its turn; false if there is nothing to do.
static bool prepare(Lower *l, Task *t) {
    if (t->kind == TASK_SCATTER && !t->place && !lower_open_scatter(l, t)) return false;
    if (t->kind == TASK_SCATTER || t->region) return true;
    if (t->e->rank && t->e->op != OP_gen && t->e->op != OP_sum && t->e->op != OP_pack && (t->nidx || t->kind == TASK_ADD))
        t->e = as_gen(l->ir, t->e); // only a whole array can be copied
    narrow(l, t);
    if (t->kind != TASK_STORE && !t->guard && t->e->rank == 0 && t->e->op == OP_bracket) // nothing to do where it does not hold
        t->guard = t->e->args[0], t->e = t->e->args[1];
    return true;
}

// Makes it, or the parts into which it splits, tasks of the scope.
static void add_task(Lower *l, const Task *task) {
    Scope *s = l->scope;
    Task one = *task, *part = &one;
    one.e = lower_met(l, one.e);
    int n = one.kind == TASK_SCATTER || one.region ? 0 : lower_split_scatter(l, &one, &part), first = s->tasks.len + 1;
    for (int i = 0; i < (n ? n : 1); i++) {
        Task t = part[i];
        t.e = lower_met(l, t.e);
        t.done = t.stored = false;
        t.after = n && i && !t.place && part[0].kind != TASK_SCATTER ? first : 0;
        t.first = n > 1 && !i && t.kind != TASK_SCATTER;
        if (prepare(l, &t)) vec_push(&s->tasks, t);
    }
}

// There may be no index in the region at which its value is needed.
static bool needed_perhaps(const Task *t) { return t->region && t->e->partial; }

// Nor may there be an element that is added to.
static bool adds_perhaps(Lower *l, const Task *t) {
    bool empty = false;
    for (int k = 0; t->kind == TASK_SCATTER && k < t->nv; k++) empty |= lower_maybe_empty(l, t->v[k]);
    return empty;
}

static void demand_task(Lower *l, const Task *t) {
    bool adds = adds_perhaps(l, t), perhaps = needed_perhaps(t) || (adds && t->e->partial);
    if (t->guard && perhaps && !(adds && t->guard->partial)) lower_demand(l, t->guard);
    if (perhaps) lower_note_arm(l, t->e);
    else if (t->guard) lower_demand_where(l, t->guard, t->e);
    else lower_demand(l, t->e);
    for (int k = 0; k < t->nidx && !t->guard && !t->region; k++) lower_demand(l, t->idx[k]);
}

static void find_loops_of(Lower *l, const Task *t, Map *seen) {
    if (t->guard) find_loops(l, t->guard, (LoopSearch){.inside = t->guard->op == OP_sum}, seen);
    bool value = t->e->op == OP_sum && t->e->rank == 0 && t->kind != TASK_ACC && t->kind != TASK_SCATTER;
    bool branch = needed_perhaps(t) || (t->guard && !lower_likely(l, t->guard, l->scope));
    find_loops(l, t->e, (LoopSearch){.inside = value, .branch = branch, .guard = t->guard}, seen);
}

// The tasks from number i to before the end that are done where the same holds as for i.
static void emit_under_guard(Lower *l, int i, int end) {
    Task *all = l->scope->tasks.data, *same = ARENA_ARRAY(l->arena, Task, end - i);
    Node *guard = all[i].guard;
    int n = 0;
    for (int k = i; k < end; k++) {
        if (all[k].done || all[k].guard != guard || !may_start(l, &all[k])) continue;
        all[k].done = true;
        same[n] = all[k];
        same[n].guard = NULL, same[n++].after = 0;
    }
    if (lower_is_checked(l, guard)) {
        lower_tasks(l, n, same);
        return;
    }
    Temp c = lower_value(l, guard);
    lower_begin_if(l, guard);
    lower_tasks(l, n, same);
    lower_end_if(l, c);
}

// An element of the result that is dear where a condition holds, and else zero.
static bool is_guarded_result(Lower *l, const Task *t) {
    return t->kind == TASK_STORE && t->buf->where == BUF_OUTPUT && !t->once && !t->done && !t->guard && !t->region &&
           t->e->rank == 0 && t->e->op == OP_bracket && lower_dear(l, t->e->args[1]);
}

// Such elements under the same condition, or that of another task, are zero first: what is done under one condition shares
// loops.
static void join_guarded(Lower *l, int first) {
    Scope *s = l->scope;
    for (int i = first; i < s->tasks.len; i++) {
        Task t = s->tasks.data[i];
        bool joins = false;
        if (!is_guarded_result(l, &t)) continue;
        for (int k = first; k < s->tasks.len && !joins; k++) {
            const Task *u = &s->tasks.data[k];
            joins = k != i && !u->done && (u->guard ? u->guard : is_guarded_result(l, u) ? u->e->args[0] : NULL) == t.e->args[0];
        }
        if (!joins) continue;
        Task z = t;
        z.e = ir_zero(l->ir, t.e->kind);
        emit_scalar_task(l, &z);
        s->tasks.data[i].guard = t.e->args[0], s->tasks.data[i].e = t.e->args[1];
    }
}

// What the conditions of tasks check is checked first, since they are all evaluated: a task whose condition is then known to hold
// is done in any case, and the others find what it needs.
static void check_guards(Lower *l, int first, int end) {
    Scope *s = l->scope; // the values of conditions may add tasks of their own to it
    for (int i = first; i < end; i++) {
        Node *sure = s->tasks.data[i].guard;
        while (sure && !lower_total(l, sure)) sure = sure->op == OP_and ? sure->args[0] : NULL;
        if (sure) lower_total_checks(l, sure);
    }
    for (int i = first; i < end; i++) {
        Task *t = &s->tasks.data[i];
        Node *total = t->guard ? lower_total(l, t->guard) : NULL;
        if (total && lower_is_checked(l, total)) t->guard = NULL;
    }
}

// Zeros for which others wait come first; what is done under a condition last, when much of what it needs may be known.
enum { TURN_ZEROS, TURN_ALWAYS, TURN_GUARDED, TURNS };

static int turn(const Task *t) {
    return t->first && !t->shift && all_zero(t->e) ? TURN_ZEROS : t->guard ? TURN_GUARDED : TURN_ALWAYS;
}

void lower_tasks(Lower *l, int n, Task *tasks) {
    Scope *s = l->scope;
    int first = s->tasks.len;
    Map seen = {0};
    for (int i = 0; i < n; i++) add_task(l, &tasks[i]);
    join_guarded(l, first);
    int end = s->tasks.len;
    check_guards(l, first, end);
    for (int i = first; i < end; i++) demand_task(l, &s->tasks.data[i]);
    for (int i = first; i < end; i++) find_loops_of(l, &s->tasks.data[i], &seen);
    map_free(&seen);
    for (int now = 0; now < TURNS; now++)
        for (int i = first; i < end; i++) {
            for (int k = first; k < end; k++) s->tasks.data[k].stored = s->tasks.data[k].done;
            Task t = s->tasks.data[i];
            if (t.done || turn(&t) != now) continue;
            if (!may_start(l, &t)) fatal_bug("a task comes before the one that it waits for");
            s->tasks.data[i].done = !t.guard;
            if (t.guard) emit_under_guard(l, i, end);
            else lower_task(l, &t);
        }
}

void lower_announce(Lower *l, int n, Node *const *e) {
    Map seen = {0};
    for (int i = 0; i < n; i++) find_loops(l, e[i], (LoopSearch){.inside = e[i]->op == OP_sum && e[i]->rank == 0}, &seen);
    map_free(&seen);
}

void lower_now(Lower *l, int n, Node *const *e) {
    Map seen = {0};
    for (int i = 0; i < n; i++) find_loops(l, e[i], (LoopSearch){.inside = true}, &seen);
    map_free(&seen);
    for (int i = 0; i < n; i++)
        if (e[i]->rank) lower_array(l, e[i]);
        else lower_value(l, e[i]);
}

// ---- reductions and arrays by demand

static void emit_shared(Lower *l, Node *e) {
    Members group = {0};
    vec_push(&group, member_for(l, e));
    gather(l, e->u.var, &group);
    emit_group(l, e->u.var, &group);
    vec_free(&group);
}

Temp lower_reduction(Lower *l, Node *e) {
    if (!is_reduction(e)) fatal_bug("%s is no reduction", op_info[e->op].name);
    if (e->op != OP_sum) return lower_arg(l, e);
    emit_shared(l, e);
    return (Temp)((intptr_t)map_get(&l->scope->values, e) - 1);
}

// Arrays that sums over the same extent add to are filled in one loop: e, and others that are needed; NULL if there are none.
static Buf *fill_together(Lower *l, Node *e) {
    enum { MOST = 16 };
    Scope *s = l->scope;
    Node *extent = e->op == OP_sum ? e->u.var->extent : lower_scatter_extent(l, e), *with[MOST] = {e};
    int n = 1, busy = l->busy.len;
    for (int i = 0; i < s->scatters.len && extent && n < MOST && !storing(l, e); i++) {
        Node *o = s->scatters.data[i];
        bool apart = !held(l, o) && !storing(l, o) && !lower_needs_busy(l, o) && lower_scatter_extent(l, o) == extent;
        for (int k = 0; k < n && apart; k++) apart = !reach(l->reach, o, with[k]) && !reach(l->reach, with[k], o);
        if (apart) with[n++] = o;
    }
    if (n == 1) return NULL;
    Task tasks[MOST];
    for (int k = 0; k < n; k++) tasks[k] = (Task){.kind = TASK_STORE, .buf = array_for(l, with[k]), .e = with[k]};
    for (int k = 0; k < n; k++) lower_push_busy(l, with[k]);
    lower_tasks(l, n, tasks);
    lower_pop_busy(l, busy);
    for (int k = 0; k < n; k++) map_put(&s->arrays, with[k], tasks[k].buf);
    return tasks[0].buf;
}

static Buf *fill_new(Lower *l, Node *e) {
    if (e->op == OP_final) return lower_loop(l, e->args[0])->buf[e->u.num];
    if (e->op == OP_extern) return lower_extern_array(l, e);
    bool scatters = ir_has_scatter(l->ir, e);
    Buf *b = scatters || e->op == OP_sum ? fill_together(l, e) : NULL;
    if (b) return b;
    if ((e->op == OP_gen && !scatters) || e->op == OP_sum) {
        emit_shared(l, e);
        return map_get(&l->scope->arrays, e);
    }
    Task t = {.kind = TASK_STORE, .buf = array_for(l, e), .e = e};
    lower_tasks(l, 1, &t);
    return t.buf;
}

Buf *lower_fill(Lower *l, Node *e) {
    Span before = lower_at(l, e);
    Buf *b = fill_new(l, e);
    l->span = before;
    return b;
}
