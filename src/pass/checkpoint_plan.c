// How a loop runs again: how long blocks are, and for how many checkpoints there is room. See checkpoint.h.
#include "pass/checkpoint.h"

enum { COUNTERS = 24 }; // bytes of what is kept of a checkpoint besides the states

void checkpoint_close(Job *j) {
    ir_join_close(&j->u);
    vec_free(&j->trace);
    vec_free(&j->out);
    vec_free(&j->state);
    vec_free(&j->reader);
    vec_free(&j->by);
}

static bool shares_reader(const Job *j, const Trace *t) {
    for (int i = 0; i < t->reader.len; i++)
        if (trace_has_reader(j->reader.data, j->reader.len, t->reader.data[i])) return true;
    return false;
}

static void add_trace(Job *j, const Trace *t) {
    const JoinedMember *mb = NULL;
    for (int i = 0; i < j->u.members.len; i++)
        if (j->u.members.data[i].loop == t->e->args[0]) mb = &j->u.members.data[i];
    vec_push(&j->trace, t->e);
    vec_push(&j->out, ir_join_term(&j->u, mb, loop_output(mb->loop, (int)t->e->u.num)));
    vec_push(&j->state, trace_state(t->e) < 0 ? -1 : mb->at[trace_state(t->e)]);
    for (int i = 0; i < t->reader.len; i++)
        if (!trace_has_reader(j->reader.data, j->reader.len, t->reader.data[i])) vec_push(&j->reader, t->reader.data[i]);
}

static bool has_trace(const Job *j, const Node *e) {
    for (int i = 0; i < j->trace.len; i++)
        if (j->trace.data[i] == e) return true;
    return false;
}

static void mark_needed(Job *j, const Node *e) {
    for (int k = 0; k < j->u.state.len; k++) {
        if (j->need[k] || !node_has_var(e, j->u.state.data[k])) continue;
        j->need[k] = true;
        mark_needed(j, j->u.step.data[k]);
    }
}

Node *checkpoint_bounded(Ir *m, Node *e) { return e->bounded_above ? e : ir_min(m, e, ir_int(m, INT64_C(1) << 48)); }

static bool is_asked(const Job *j) {
    const Loop *l = ir_loop(j->u.loop);
    return l->levels || l->limit || j->m->tape_limit;
}

// Are all reverses by the index t there for one set of variables, which these are among?
static bool is_there_for(const Scan *s, const Var *t, const VarSet *vars) {
    const VarSet *scope = traces_scope(s, t, 0);
    return scope && varset_union(s->m, scope, vars) == scope && !traces_scope(s, t, 1);
}

// May the trace belong to the job? If it is there for other variables, only if one reverse reads both, and all that
// read either are there for all of these: what the loop keeps is then made for each of their values. That is done only
// where it is asked for.
static bool belongs(const Job *j, const Scan *s, const Trace *t) {
    const VarSet *vars = t->e->args[0]->fv;
    bool same = true;
    for (int i = 0; i < j->u.members.len; i++) same &= j->u.members.data[i].loop->fv == t->e->args[0]->fv;
    if (same) return true;
    if (!is_asked(j) || !shares_reader(j, t)) return false;
    for (int i = 0; i < j->u.members.len; i++) vars = varset_union(s->m, vars, j->u.members.data[i].loop->fv);
    for (int i = 0; i < t->reader.len; i++)
        if (!is_there_for(s, t->reader.data[i], vars)) return false;
    for (int i = 0; i < j->reader.len; i++)
        if (!is_there_for(s, j->reader.data[i], vars)) return false;
    return true;
}

static bool reads_traces(const Job *j, const Scan *s, const Var *t, const VarSet *scope) {
    for (int i = 0; i < s->finals.len; i++) {
        Node *loop = s->finals.data[i]->args[0];
        if (loop->op != OP_fold || ir_loop(loop)->index != t || loop->fv != scope) continue;
        if (ir_reaches_any(loop, j->trace.len, j->trace.data)) return true;
    }
    return false;
}

static void add_readers(Job *j, const Scan *s, const Var *t) {
    const VarSet *scope;
    int before = j->by.len;
    for (int k = 0; (scope = traces_scope(s, t, k)); k++)
        if (reads_traces(j, s, t, scope)) vec_push(&j->by, ((Reader){t, scope}));
    if (j->by.len == before) vec_push(&j->by, ((Reader){t, NULL}));
}

void checkpoint_open(Job *j, const Scan *s, const Trace *t) {
    *j = (Job){.m = s->m, .trip = trace_count(s->m, t->e->args[0])};
    ir_join_open(&j->u, s->m, NULL, t->e->args[0]);
    add_trace(j, t);
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < s->traces.len; i++) {
            const Trace *o = &s->traces.data[i];
            if (o->whole || has_trace(j, o->e) || !belongs(j, s, o)) continue;
            if (!ir_join(&j->u, o->e->args[0], !shares_reader(j, o))) continue;
            add_trace(j, o);
            again = true;
        }
    }
    const VarSet *scope = j->u.loop->fv;
    for (int i = 0; i < j->u.members.len; i++) scope = varset_union(s->m, scope, j->u.members.data[i].loop->fv);
    for (int i = 0; i < s->finals.len; i++) {
        Node *loop = s->finals.data[i]->args[0];
        if (loop->fv == scope) ir_join(&j->u, loop, true);
    }
    for (int i = 0; i < j->reader.len; i++) add_readers(j, s, j->reader.data[i]);
    j->need = ARENA_ARRAY(s->m->arena, bool, j->u.state.len);
    for (int i = 0; i < j->out.len; i++) mark_needed(j, j->out.data[i]);
    j->n = checkpoint_bounded(s->m, ir_max(s->m, ir_int(s->m, 0), j->trip));
}

// ---- plans

// Of a row of the traces, and of a checkpoint.
static Node *row_bytes(const Job *j) {
    Node *n = ir_int(j->m, 0);
    for (int i = 0; i < j->out.len; i++) n = ir_add(j->m, n, trace_bytes(j->m, j->out.data[i]));
    return n;
}

static Node *checkpoint_bytes(const Job *j) {
    Node *n = ir_int(j->m, COUNTERS);
    for (int k = 0; k < j->u.state.len; k++)
        if (j->need[k]) n = ir_add(j->m, n, trace_bytes(j->m, ir_var(j->u.state.data[k])));
    return n;
}

// a / b, rounded up, of b >= 1.
static Node *quotient_up(Ir *m, Node *a, Node *b) { return ir_idiv(m, ir_add(m, a, ir_sub(m, b, ir_int(m, 1))), b); }

static Node *root(Ir *m, Node *x) { return ir_conv(m, KIND_INT, ir_op(m, OP_ceil, ir_op(m, OP_sqrt, x, NULL), NULL)); }

// The largest c >= 0 below 2^48 such that every smaller one satisfies `below`, by bisection.
static Node *bisect(Ir *m, Node *(*below)(Ir *m, Node *c, const void *data), const void *data) {
    Var *v[] = {ir_state(m, "c", KIND_INT, 0, NULL), ir_state(m, "bit", KIND_INT, 0, NULL)};
    Node *c = ir_var(v[0]), *bit = ir_var(v[1]), *more = ir_add(m, c, bit);
    Node *init[] = {ir_int(m, 0), ir_int(m, INT64_C(1) << 47)}, *two = ir_int(m, 2);
    Node *step[] = {ir_select(m, below(m, ir_sub(m, more, ir_int(m, 1)), data), more, c), ir_idiv(m, bit, two)};
    return ir_final(m, ir_fold(m, ir_index(m, "i", ir_int(m, 48)), 2, v, init, step), 0);
}

// C(c + t, t), by t factors.
static Node *reach_of(Ir *m, Node *c, Node *t) {
    Var *i = ir_index(m, "i", ir_min(m, c, t)), *b = ir_state(m, "reach", KIND_DOUBLE, 0, NULL);
    Node *next = real(m, ir_add(m, ir_var(i), ir_int(m, 1))), *init = ir_real(m, KIND_DOUBLE, 1);
    Node *step = ir_mul(m, ir_var(b), ir_add(m, real(m, ir_max(m, c, t)), next));
    step = ir_op(m, OP_round, ir_div(m, step, next), NULL);
    return ir_final(m, ir_fold(m, i, 1, &b, &init, &step), 0);
}

// Its logarithm, at once.
static Node *log_reach(Ir *m, Node *c, Node *t) {
    Node *one = ir_int(m, 1), *sum = real(m, ir_add(m, ir_add(m, c, t), one));
    Node *both = ir_sub(m, ir_op(m, OP_lgamma, sum, NULL), ir_op(m, OP_lgamma, real(m, ir_add(m, c, one)), NULL));
    return ir_sub(m, both, ir_op(m, OP_lgamma, real(m, ir_add(m, t, one)), NULL));
}

// What a plan is made of, and for.
typedef struct Sizes {
    Node *n, *row, *state; // iterations; bytes of a row of the traces, and of a checkpoint
    Node *limit;
    int levels;
} Sizes;

// With `levels`, blocks are run `levels` - 1 times before they are taped. The bytes are least if a block's trace and the
// checkpoints take about as many. Do c + 1 checkpoints take fewer?
static Node *rows_with(Ir *m, const Sizes *z, Node *c) {
    Node *reach = ir_real(m, KIND_DOUBLE, 1);
    for (int i = 1; i < z->levels; i++)
        reach = ir_mul(m, reach, ir_div(m, real(m, ir_add(m, c, ir_int(m, i))), ir_real(m, KIND_DOUBLE, i)));
    return ir_op(m, OP_ceil, ir_div(m, real(m, z->n), reach), NULL);
}

static Node *few_checkpoints(Ir *m, Node *c, const void *data) {
    const Sizes *z = data;
    c = ir_add(m, c, ir_int(m, 1));
    return ir_lt(m, ir_mul(m, real(m, c), real(m, z->state)), ir_mul(m, rows_with(m, z, c), real(m, z->row)));
}

// Within a limit, a block's trace takes 1 / (t + 1) of it if blocks are run t times, which lets the most iterations be
// reversed; twice, since the last block's is there as long as the others'.
static Node *rows_within(Ir *m, const Sizes *z, Node *t) {
    Node *one = ir_int(m, 1), *two = ir_mul(m, ir_int(m, 2), ir_max(m, one, z->row));
    Node *part = ir_idiv(m, z->limit, ir_mul(m, ir_add(m, ir_max(m, ir_int(m, 0), checkpoint_bounded(m, t)), one), two));
    return ir_max(m, one, ir_min(m, part, ir_idiv(m, ir_sub(m, z->limit, z->state), two)));
}

static Node *slots_within(Ir *m, const Sizes *z, Node *rows) {
    Node *rest = ir_sub(m, z->limit, ir_mul(m, ir_mul(m, ir_int(m, 2), rows), z->row));
    return ir_max(m, ir_int(m, 1), ir_idiv(m, rest, z->state));
}

// Can not all of the loop be reversed if blocks are run t + 1 times?
static Node *few_repeats(Ir *m, Node *t, const void *data) {
    const Sizes *z = data;
    t = ir_add(m, t, ir_int(m, 1));
    Node *rows = rows_within(m, z, t), *blocks = real(m, quotient_up(m, z->n, rows));
    Node *most = ir_add(m, log_reach(m, slots_within(m, z, rows), t), ir_real(m, KIND_DOUBLE, 1e-9));
    return ir_lt(m, most, ir_op(m, OP_log, ir_max(m, ir_real(m, KIND_DOUBLE, 1), blocks), NULL));
}

// The plan of blocks of `rows` iterations, at most `slots` checkpoints, and `repeats`; of one block if `whole`.
static void set_plan(Job *j, Node *whole, Node *rows, Node *slots, Node *repeats) {
    Ir *m = j->m;
    Node *one = ir_int(m, 1);
    j->rows = ir_max(m, one, ir_select(m, whole, j->n, checkpoint_bounded(m, rows)));
    j->blocks = quotient_up(m, j->n, j->rows);
    j->slots = ir_max(m, one, ir_min(m, slots, ir_sub(m, j->blocks, one)));
    j->repeats = repeats;
    j->reach = reach_of(m, j->slots, repeats);
}

static const char *size_text(Ir *m, Node *e) {
    Str s = {0};
    ir_print_size(&s, e);
    const char *text = arena_strdup(m->arena, str_text(&s));
    str_free(&s);
    return text;
}

// What a plan costs: `first` is what is tried before, `bytes` what is kept else.
static void explain_plan(const Job *j, const Sizes *z, const char *first, const char *bytes, const char *times) {
    Ir *m = j->m;
    if (!explain_wants(m->explain, EXPLAIN_LOOPS)) return;
    const char *row = size_text(m, z->row), *state = size_text(m, z->state), *n = size_text(m, j->trip);
    explain(m->explain, EXPLAIN_LOOPS, j->u.loop->span,
            "checkpoint: %s, n = %s iterations: %sblocks of it run again to be reversed, with rows of r = %s bytes from "
            "checkpoints of c = %s: %s bytes, and an iteration runs %s",
            ir_quote(m, j->u.loop), n, first, row, state, bytes, times);
}

static void explain_whole(const Job *j, const Sizes *z, const char *why) {
    Ir *m = j->m;
    if (!explain_wants(m->explain, EXPLAIN_LOOPS)) return;
    explain(m->explain, EXPLAIN_LOOPS, j->u.loop->span, "checkpoint: %s: its trace is kept as a whole, %s bytes: %s",
            ir_quote(m, j->u.loop), size_text(m, ir_mul(m, j->trip, z->row)), why);
}

static void plan_levels(Job *j, const Sizes *z) {
    Ir *m = j->m;
    Node *slots = checkpoint_bounded(m, ir_add(m, bisect(m, few_checkpoints, z), ir_int(m, 1)));
    Node *rows = ir_conv(m, KIND_INT, rows_with(m, z, slots));
    set_plan(j, ir_bool(m, false), rows, slots, ir_int(m, z->levels - 1));
    static const char *const twice[] = {"about 3*(n*r*c)^(1/2)", "at most twice"};
    const char *bytes = z->levels == 2 ? twice[0] : arena_printf(m->arena, "about n^(1/%d) times r and c", z->levels);
    explain_plan(j, z, "", bytes, z->levels == 2 ? twice[1] : arena_printf(m->arena, "at most %d times", z->levels));
}

static void plan_limit(Job *j, const Sizes *z) {
    Ir *m = j->m;
    Node *whole = ir_le(m, ir_add(m, ir_mul(m, z->n, z->row), z->state), z->limit);
    Node *least = ir_add(m, ir_mul(m, ir_int(m, 2), z->row), z->state), *values[] = {least, z->limit};
    Node *repeats = ir_add(m, bisect(m, few_repeats, z), ir_int(m, 1)), *rows = rows_within(m, z, repeats);
    set_plan(j, whole, rows, slots_within(m, z, rows), ir_select(m, whole, ir_int(m, 1), repeats));
    j->possible = ir_or(m, ir_le(m, least, z->limit), whole);
    j->values = arena_copy(m->arena, values, sizeof values);
    explain_plan(j, z, "unless n*r + c is within its limit, ", arena_printf(m->arena, "at most %s", size_text(m, z->limit)),
                 "as often as that requires");
}

// In two levels of blocks of K iterations, n/K checkpoints are kept and the trace of one block: their bytes are least if
// both take as many, and then less than the n*r of the trace if a checkpoint takes less than a ninth of that:
// 3*(n*r*c)^(1/2) < n*r. False if the trace is to be kept as a whole, for certain.
static bool plan_auto(Job *j, const Sizes *z) {
    Ir *m = j->m;
    Node *most = ir_max(m, ir_int(m, m->tape_whole), ir_mul(m, ir_int(m, 9), z->state));
    Node *whole = ir_le(m, ir_mul(m, z->n, z->row), most);
    if (whole->op == OP_lit && whole->u.num) {
        explain_whole(j, z, "it is small");
        return false;
    }
    if (j->trace.data[0]->fv->n) {
        explain_whole(j, z, "it is a loop inside of a loop");
        return false;
    }
    Node *square = ir_div(m, ir_mul(m, real(m, z->n), real(m, z->state)), real(m, ir_max(m, ir_int(m, 1), z->row)));
    set_plan(j, whole, root(m, square), j->n, ir_int(m, 1));
    explain_plan(j, z, arena_printf(m->arena, "unless n*r is at most %s, ", size_text(m, most)), "about 3*(n*r*c)^(1/2)",
                 "at most twice");
    return true;
}

bool checkpoint_plan(Job *j) {
    const Loop *l = ir_loop(j->trace.data[0]->args[0]);
    Sizes z = {.n = j->n, .row = row_bytes(j), .state = checkpoint_bytes(j), .levels = l->levels};
    int64_t limit = l->limit ? l->limit : j->m->tape_limit;
    j->possible = ir_bool(j->m, true);
    if (l->levels == 1) {
        explain_whole(j, &z, "the attribute says so");
        return false;
    }
    if (l->levels && !l->limit) {
        plan_levels(j, &z);
        return true;
    }
    if (!limit) return plan_auto(j, &z);
    z.limit = ir_int(j->m, limit);
    plan_limit(j, &z);
    return true;
}
