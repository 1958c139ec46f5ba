// Lowering: functions become loop trees. Here are scalar values, with the checks of what may fail in them, and functions
// as a whole; loops and arrays are in loops.c, and where values stand is decided in place.c.
#include "lower/internal.h"

#include "fsmc/runtime.h"
#include "pass/pass.h"

#include <string.h>

// ---- facts

static bool proven(Lower *l, Poly p) {
    enum { MAX_FACTS = 32 };
    Poly facts[MAX_FACTS];
    int n = 0;
    for (Scope *s = l->scope; s && n < MAX_FACTS; s = s->outer)
        if (s->fact) n += poly_facts(l->ir, s->fact, facts + n, MAX_FACTS - n);
    return poly_nonneg_given(l->ir, p, n, facts);
}

static void check_index(Lower *l, Node *e, Node *i, Node *extent) {
    Ir *m = l->ir;
    bool all = m->bounds == BOUNDS_ALWAYS, raw = m->raw;
    bool low = !all && proven(l, poly_of(m, i)), high = !all && proven(l, lower_difference(m, extent, i, -1));
    if (low && high) return;
    m->raw |= all; // the rules know what is in range
    Node *cond = ir_and(m, low ? ir_bool(m, true) : ir_le(m, ir_int(m, 0), i), high ? ir_bool(m, true) : ir_lt(m, i, extent));
    m->raw = raw;
    int n;
    const char *text = ir_bounds_text(i, &n);
    Temp values[] = {lower_value(l, i), lower_value(l, extent)};
    lower_check(l, lower_value(l, cond), FSM_ERROR_BOUNDS, text, e->span, n, values);
}

static void check_divisor(Lower *l, Node *e, Node *by) {
    Node *ok = lower_nonzero(l, by);
    if (!lower_is_true(ok)) lower_check(l, lower_value(l, ok), FSM_ERROR_DIVIDE, "division by zero", e->span, 0, NULL);
}

Node *lower_met(Lower *l, Node *e) {
    for (; ir_is_demand(e); e = e->args[1]) lower_value(l, e->args[0]);
    return e;
}

static void check_assert(Lower *l, Node *e, Node *cond) {
    if (ir_is_demand(e)) {
        lower_value(l, e->args[0]);
        return;
    }
    int n = e->nargs - 2;
    Temp *values = ARENA_ARRAY(l->arena, Temp, n + 1);
    lower_values(l, n, e->args + 2, values);
    lower_check(l, lower_value(l, cond), ir_assert_code(e), e->u.text, e->span, n, values);
}

void lower_check_self(Lower *l, Node *e, int dim) {
    if (dim < 0) {
        if (e->rank) lower_array(l, e);
        else lower_value(l, e);
        return;
    }
    Span before = lower_at(l, e);
    if (e->op == OP_at) check_index(l, e, lower_total(l, e->args[dim]), e->args[0]->shape[dim - 1]);
    if (e->op == OP_idiv || e->op == OP_irem) check_divisor(l, e, lower_total(l, e->args[1]));
    if (e->op == OP_assert) check_assert(l, e, lower_total(l, e->args[0]));
    l->span = before;
}

// ---- scalar values

static Temp emit_lit(Lower *l, Kind kind, double real, int64_t num) {
    Temp t = lower_temp(l, kind, NULL);
    Stmt *s = lower_stmt(l, ST_LIT, t, 0, NULL);
    if (kind_is_float(kind)) s->u.real = real;
    else s->u.num = num;
    return t;
}

// Is it 0 <= a && 0 < n - a? Sets n.
static bool is_in_range(Lower *l, const Node *e, Node **n) {
    const Node *low = e->args[0], *high = e->nargs > 1 ? e->args[1] : NULL;
    if (e->op != OP_and || low->op != OP_le || high->op != OP_lt || !ir_is_lit(low->args[0], 0) || !ir_is_lit(high->args[0], 0))
        return false;
    if (low->args[1]->kind != KIND_INT || high->args[1]->kind != KIND_INT || lower_known_value(l, e->args[1]) >= 0) return false;
    Poly rest = poly_of(l->ir, high->args[1]), sum = poly_add(l->ir, rest, poly_of(l->ir, low->args[1]));
    if (sum.n >= rest.n) return false;
    *n = poly_node(l->ir, sum);
    return true;
}

// Where a is not negative, 0 < n - a if a < n, in which nothing wraps around. LLVM makes one comparison of that and 0 <= a.
static void put_range(Lower *l, const Node *e, Node *n, Temp *args) {
    Node *sides[2] = {e->args[0]->args[1], n};
    Temp t[2];
    args[0] = lower_value(l, e->args[0]);
    lower_values(l, 2, sides, t);
    args[1] = lower_temp(l, KIND_BOOL, NULL);
    lower_stmt(l, ST_OP, args[1], 2, t)->op = OP_lt;
}

static Temp emit_op(Lower *l, Node *e) {
    Temp args[2];
    Node *n;
    if (is_in_range(l, e, &n)) put_range(l, e, n, args);
    else lower_values(l, e->nargs, e->args, args);
    if ((e->op == OP_idiv || e->op == OP_irem) && e->partial) check_divisor(l, e, e->args[1]);
    Temp t = lower_temp(l, e->kind, NULL);
    lower_stmt(l, ST_OP, t, e->nargs, args)->op = e->op;
    if (l->ir->debug_nan && ir_makes_nan(e)) {
        int nvalues;
        const char *text = ir_nan_text(l->ir, e, &nvalues);
        lower_check_nan(l, text, nvalues, t, e->nargs, args);
    }
    return t;
}

static Block *arm(Lower *l, Node *fact, Temp cell, Node *e) {
    lower_begin_if(l, fact);
    lower_demand(l, e);
    lower_announce(l, 1, &e);
    lower_set(l, cell, lower_value(l, e));
    return scope_close(l);
}

// if c then a else b with the arms evaluated by need
static Temp emit_branch(Lower *l, Node *c, Node *a, Node *b) {
    Temp cond = lower_value(l, c);
    Temp cell = lower_cell(l, a->kind, lower_value(l, ir_zero(l->ir, a->kind)));
    Block *then = arm(l, c, cell, a);
    Block *other = ir_is_zero(b) ? NULL : arm(l, ir_not(l->ir, c), cell, b);
    Stmt *s = lower_stmt(l, ST_IF, -1, 1, &cond);
    s->body = then, s->other = other;
    return lower_get(l, cell);
}

static bool simple(Lower *l, Node *e) {
    if (lower_known_value(l, e) >= 0 || map_get(&l->scope->demanded, e) || lower_shared_by_arms(l, l->scope, e)) return true;
    return !lower_dear(l, e) && !lower_fails(l, l->scope, e, NULL);
}

static Temp emit_select(Lower *l, Node *c, Node *a, Node *b) {
    if (!simple(l, a) || !simple(l, b)) return emit_branch(l, c, a, b);
    Node *three[] = {c, a, b};
    Temp args[3], t;
    lower_values(l, 3, three, args);
    t = lower_temp(l, a->kind, NULL);
    lower_stmt(l, ST_SELECT, t, 3, args);
    return t;
}

static Temp emit_at(Lower *l, Node *e) {
    Node *a = e->args[0];
    int n = e->nargs - 1;
    if (l->ir->bounds == BOUNDS_ALWAYS || (e->partial && l->ir->bounds != BOUNDS_NEVER))
        for (int k = 0; k < n; k++) check_index(l, e, e->args[k + 1], a->shape[k]);
    Node *element = lower_known_array(l, a) ? NULL : ir_free_element(l->ir, e);
    if (element) return lower_value(l, element); // the rules do not, where the index must be checked
    Buf *buf = lower_array(l, a);
    Temp *idx = ARENA_ARRAY(l->arena, Temp, n);
    lower_values(l, n, e->args + 1, idx);
    Temp t = lower_temp(l, e->kind, NULL);
    lower_stmt(l, ST_LOAD, t, n, idx)->buf = buf;
    return t;
}

static Temp emit_final(Lower *l, Node *e) { return lower_loop(l, e->args[0])->value[e->u.num]; }

static Temp emit_leaf(Lower *l, Node *e) {
    if (e->op == OP_lit) return emit_lit(l, e->kind, e->u.real, e->u.num);
    if (e->op != OP_input) fatal_bug("lowering met a %s that nothing binds", op_info[e->op].name);
    Temp t = lower_temp(l, e->kind, e->name);
    lower_stmt(l, ST_ARG, t, 0, NULL)->u.num = e->u.num;
    return t;
}

// That the operand of a conversion to Int32 fits.
static void check_int32(Lower *l, Node *e) {
    Temp value = lower_value(l, e->args[0]);
    Temp low = lower_op2(l, OP_le, lower_int(l, INT32_MIN), value), high = lower_op2(l, OP_le, value, lower_int(l, INT32_MAX));
    lower_check(l, lower_op2(l, OP_and, low, high), FSM_ERROR_RANGE, ir_int32_text, e->span, 1, &value);
}

static Temp emit_node(Lower *l, Node *e) {
    Temp t;
    Node *arg = map_get(&l->extremes, e);
    if (arg) return lower_extreme(l, arg);
    switch (e->op) {
    case OP_lit:
    case OP_input:
    case OP_param:
    case OP_var: return emit_leaf(l, e);
    case OP_conv: {
        Temp a = lower_value(l, e->args[0]);
        if (e->kind == KIND_INT32 && e->partial) check_int32(l, e);
        t = lower_temp(l, e->kind, NULL);
        lower_stmt(l, ST_CONV, t, 1, &a);
        return t;
    }
    case OP_stop: return lower_value(l, e->args[0]);
    case OP_select: return emit_select(l, e->args[0], e->args[1], e->args[2]);
    case OP_bracket: return emit_select(l, e->args[0], e->args[1], ir_zero(l->ir, e->kind));
    case OP_assert: check_assert(l, e, e->args[0]); return lower_value(l, e->args[1]);
    case OP_evaluated: l->demands = true, lower_total_checks(l, e); return emit_lit(l, KIND_BOOL, 0, true);
    case OP_at: return emit_at(l, e);
    case OP_sum: return lower_added_up(l, e) ? lower_known_value(l, e) : lower_reduction(l, e);
    case OP_argmin:
    case OP_argmax: return lower_reduction(l, e);
    case OP_final: return emit_final(l, e);
    case OP_extern: return lower_extern(l, e);
    case OP_and:
        if (e->args[1]->partial) return emit_branch(l, e->args[0], e->args[1], ir_bool(l->ir, false));
        return emit_op(l, e);
    case OP_or:
        if (e->args[1]->partial) return emit_branch(l, e->args[0], ir_bool(l->ir, true), e->args[1]);
        return emit_op(l, e);
    default: return emit_op(l, e);
    }
}

// The instructions for e at the end of the current scope.
Temp lower_emit(Lower *l, Node *e) {
    Span before = lower_at(l, e);
    Temp t = emit_node(l, e);
    l->span = before;
    return t;
}

// ---- arrays

bool lower_knows_shape(Lower *l, Scope *s, Node *e) {
    Scope *here = l->scope;
    bool knows = true;
    l->scope = s;
    for (int k = 0; k < e->rank; k++) knows &= simple(l, e->shape[k]) || lower_known_value(l, e->shape[k]) >= 0;
    l->scope = here;
    return knows;
}

// Where e, which is needed at `at`, can be kept for all passes of the loops between, or of some of them; NULL: nowhere.
static Scope *array_keeper(Lower *l, Node *e, Scope *at, Scope *home) {
    Scope *keeper = NULL;
    if ((scope_crosses_loop(at, home) || lower_is_copied(l, e)) && lower_knows_shape(l, home, e)) return home;
    for (Scope *s = at; s != home; s = s->outer)
        if (s->loop && lower_knows_shape(l, s->outer, e)) keeper = s->outer;
    return keeper;
}

Buf *lower_array(Lower *l, Node *e) {
    e = lower_met(l, e);
    Buf *b = lower_known_array(l, e);
    if (!b) b = lower_left_array(l, e);
    if (b) return b;
    Scope *here = l->scope, *home, *at = lower_place(l, e, &home);
    l->scope = at;
    Scope *keeper = array_keeper(l, e, at, home);
    l->scope = at;
    if (!keeper && at != home) lower_count_copy(l, e);
    b = keeper ? lower_array_by_need(l, e, at, keeper) : lower_fill(l, e);
    l->scope = here;
    map_put(&at->arrays, e, b);
    return b;
}

// ---- functions

static void lower_inputs(Lower *l, const Func *f) {
    l->inputs = ARENA_ARRAY(l->arena, Buf *, f->ninputs);
    for (int i = 0; i < f->ninputs; i++) {
        Node *in = f->inputs[i];
        if (in->rank == 0) continue;
        Temp *extent = ARENA_ARRAY(l->arena, Temp, in->rank);
        lower_values(l, in->rank, in->shape, extent);
        Buf *b = lower_buf(l, BUF_INPUT, in->kind, in->rank, extent, in->name);
        b->number = i;
        l->inputs[i] = b;
        map_put(&l->root->arrays, in, b);
    }
}

// The rules take it for granted that a size is not negative; here it is made so.
static void check_sizes(Lower *l, const Func *f) {
    for (int i = 0; i < f->nsizes; i++) {
        Temp ok = lower_temp(l, KIND_BOOL, NULL), n = lower_value(l, f->inputs[i]), args[] = {lower_int(l, 0), n};
        lower_stmt(l, ST_OP, ok, 2, args)->op = OP_le;
        const char *text = arena_printf(l->arena, "the size `%s` is %%d: it cannot be negative", f->inputs[i]->name);
        lower_check(l, ok, FSM_ERROR_NEGATIVE, text, f->span, 1, &n);
    }
}

static void note_array(Node *e, void *reads) { *(bool *)reads |= e->rank > 0; }

static bool reads_array(const Check *c) {
    bool reads = false;
    Node *cond = c->cond;
    ir_walk(1, &cond, note_array, &reads);
    return reads;
}

// The checks that read array elements, or those that do not: these come first, and tell how long the arrays must be.
static void lower_func_checks(Lower *l, const Func *f, bool reading) {
    for (int i = 0; i < f->nchecks; i++) {
        const Check *c = &f->checks[i];
        if (reads_array(c) != reading || ir_is_lit(c->cond, 1)) continue; // holds in this version
        Temp *values = ARENA_ARRAY(l->arena, Temp, c->nvalues);
        lower_values(l, c->nvalues, c->values, values);
        lower_check(l, lower_value(l, c->cond), c->code, c->text, c->span, c->nvalues, values);
    }
}

static void make_outputs(Lower *l, const Func *f) {
    l->outputs = ARENA_ARRAY(l->arena, Buf *, f->noutputs);
    for (int i = 0; i < f->noutputs; i++) {
        Node *e = f->outputs[i];
        Temp *extent = ARENA_ARRAY(l->arena, Temp, e->rank);
        lower_values(l, e->rank, e->shape, extent);
        Buf *b = lower_buf(l, BUF_OUTPUT, e->kind, e->rank, extent, f->output_names ? f->output_names[i] : NULL);
        b->number = i;
        l->outputs[i] = b;
    }
}

// Do other results read elements of result i? (The first of equal ones is meant.)
static bool is_read(Lower *l, const Func *f, int i) {
    Node *e = f->outputs[i];
    bool is = false;
    for (int k = 0; k < i; k++)
        if (f->outputs[k] == e) return false;
    for (int k = 0; k < f->noutputs && e->op == OP_gen && !is; k++)
        is = f->outputs[k] != e && reach(l->reach, f->outputs[k], e);
    return is;
}

// An array that is a result, and that others read, is made as that and then read there.
static void lower_outputs(Lower *l, const Func *f) {
    Task *tasks = ARENA_ARRAY(l->arena, Task, f->noutputs);
    int n = 0;
    l->func = f;
    l->read = ARENA_ARRAY(l->arena, bool, f->noutputs + 1);
    for (int i = 0; i < f->noutputs; i++) l->read[i] = is_read(l, f, i);
    for (int i = 0; i < f->noutputs; i++)
        if (l->read[i]) lower_array(l, f->outputs[i]);
    for (int i = 0; i < f->noutputs; i++)
        if (!l->read[i] || lower_known_array(l, f->outputs[i]) != l->outputs[i])
            tasks[n++] = (Task){.kind = TASK_STORE, .buf = l->outputs[i], .e = f->outputs[i]};
    lower_tasks(l, n, tasks);
    for (int i = f->noutputs; i < func_roots(f); i++) lower_value(l, f->outputs[i]); // what the results need is known now
}

static bool is_partial(const Func *f) {
    for (int i = 0; i < func_roots(f); i++)
        if (f->outputs[i]->partial) return true;
    return false;
}

// cold: it seldom runs.
static Tree *lower_version(Arena *arena, const Func *func, bool cold) {
    Func *f = arena_copy(arena, func, sizeof *func);
    const int roots = func_roots(f);
    f->outputs = ARENA_ARRAY(arena, Node *, roots + 1);
    if (roots) memcpy(f->outputs, func->outputs, sizeof(Node *) * (size_t)roots);
    pass_store(f);
    Lower *l = ARENA_NEW(arena, Lower);
    Tree *t = ARENA_NEW(arena, Tree);
    *l = (Lower){.arena = arena, .ir = f->ir, .tree = t, .last_busy = -1, .reach = reach_new(roots, f->outputs)};
    l->demanded = demands_new(f);
    t->func = func;
    l->span = f->span;
    l->root = scope_open(l);
    t->body = l->root->block;
    check_sizes(l, f);
    lower_func_checks(l, f, false);
    t->prologue = t->body->stmts.len;
    lower_inputs(l, f);
    lower_func_checks(l, f, true);
    make_outputs(l, f);
    lower_find_uses(l, f);
    lower_find_extremes(l, f);
    lower_outputs(l, f);
    scope_close(l);
    lower_finish_procs(l, cold);
    if (l->demands) lower_remove_dead(arena, t); // of what is evaluated for its errors only the checks are left
    vec_free(&l->bound), vec_free(&l->busy), vec_free(&l->covered);
    reach_free(l->reach);
    demands_delete(l->demanded);
    vec_free(&l->temp_depth);
    map_free(&l->cost);
    map_free(&l->total), map_free(&l->not_total), map_free(&l->checks);
    map_free(&l->copies), map_free(&l->loops), map_free(&l->results), map_free(&l->started), map_free(&l->extremes);
    vec_free(&l->uses);
    vec_free(&l->whiles);
    return t;
}

Func *lower_size_query(Arena *arena, const Func *f) {
    Func *g = ARENA_NEW(arena, Func);
    int n = 0;
    *g = *f;
    for (int i = 0; i < f->noutputs; i++) n += f->outputs[i]->rank;
    g->name = arena_printf(arena, "%s_sizes", f->name);
    g->doc = NULL;
    g->result = NULL;
    g->outputs = ARENA_ARRAY(arena, Node *, n + 1);
    g->output_names = ARENA_ARRAY(arena, const char *, n + 1);
    g->noutputs = g->ndemands = 0;
    for (int i = 0; i < f->noutputs; i++) {
        const char *name = f->output_names ? f->output_names[i] : NULL;
        if (!name || !*name) name = arena_printf(arena, "out%d", i);
        for (int k = 0; k < f->outputs[i]->rank; k++) {
            g->output_names[g->noutputs] = arena_printf(arena, "%s_dim%d", name, k);
            g->outputs[g->noutputs++] = f->outputs[i]->shape[k];
        }
    }
    return n ? g : NULL;
}

Tree *lower_sizes(Arena *arena, const Func *f) {
    Func *query = lower_size_query(arena, f);
    return query ? lower_version(arena, query, true) : NULL;
}

Tree *lower_func(Arena *arena, const Func *f, const Func *positive) {
    bool two = positive && (is_partial(f) || ir_assumes_more(positive));
    Tree *t = lower_version(arena, two ? positive : f, false);
    if (two) t->otherwise = lower_version(arena, f, true);
    t->sizes = lower_sizes(arena, f);
    return t;
}
