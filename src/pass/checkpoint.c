// Checkpointing by redundant execution ([NP] section 4; Griewank and Walther's Revolve). The reverse R of a loop L reads
// what L's iterations had from the last to the first. L's n iterations are taken as blocks of K:
//
//   sweep:   L runs up to its last block; on the way states at the beginnings of blocks are kept (*checkpoints*)
//   tape:    the last block runs with the trace that R reads, and is reversed
//   unwind:  until all is reversed: from the last checkpoint L runs to the last block that is left, perhaps keeping more
//            checkpoints on the way; this block runs with its trace, and is reversed
//
// K, and for how many checkpoints there is room, are values, so the choice can be made by the size. If K is n there is one
// block, and nothing runs twice. Everything is ordinary loops.
#include "ir/join.h"
#include "pass/pass.h"

#include <string.h>

enum { COUNTERS = 24 }; // bytes of what is kept of a checkpoint besides the states

// ---- traces and who reads them

typedef struct Trace {
    Node *e;
    bool whole;        // something else than a reverse reads it
    VEC(Var *) reader; // the indices of the reverses
} Trace;

typedef struct Scan {
    Ir *m;
    VEC(Trace) traces;
    VEC(Node *) finals;
    Map folds, binders, traced; // index variables: of folds, of binders, of folds with traces
} Scan;

static Node *before_last(Ir *m, Node *n, Node *i) { return ir_sub(m, ir_sub(m, n, ir_int(m, 1)), i); }

// The loop's number of iterations as its reverse knows it.
static Node *trip(Ir *m, Node *loop) { return loop->op == OP_fold ? ir_loop(loop)->index->extent : ir_count(m, loop); }

// Which row of a trace a reverse reads in its iteration t: that of the loop's iteration n - 1 - t, or the next one, which
// is what this iteration leaves, if the trace is of a state.
enum { ROW_OWN, ROW_NEXT, ROWS };

static Node *row_read(Ir *m, Node *n, Var *t, int which) {
    return ir_add(m, before_last(m, n, ir_var(t)), ir_int(m, which));
}

// The state of which the trace is, or -1.
static int state_of(const Node *trace) {
    const Node *out = loop_output(trace->args[0], (int)trace->u.num);
    int k = ir_loop(trace->args[0])->n - 1;
    while (k >= 0 && (out->op != OP_var || ir_loop(trace->args[0])->state[k] != out->u.var)) k--;
    return k;
}

// The index t of a loop that reads one of these rows of the trace by e.
static Var *backwards(Ir *m, const Node *trace, const Node *e) {
    Node *n = trip(m, trace->args[0]);
    for (int i = 0; i < e->fv->n; i++) {
        Var *t = e->fv->v[i];
        if (t->is_state || t->extent != n) continue;
        if (row_read(m, n, t, ROW_OWN) == e || (row_read(m, n, t, ROW_NEXT) == e && state_of(trace) >= 0)) return t;
    }
    return NULL;
}

static Trace *trace_of(Scan *s, Node *e) {
    for (int i = 0; i < s->traces.len; i++)
        if (s->traces.data[i].e == e) return &s->traces.data[i];
    vec_push(&s->traces, ((Trace){.e = e}));
    return &vec_last(&s->traces);
}

static bool has_var(Var *const *v, int n, const Var *w) {
    for (int i = 0; i < n; i++)
        if (v[i] == w) return true;
    return false;
}

static void look_at(Node *e, void *data) {
    Scan *s = data;
    if (e->op == OP_final) vec_push(&s->finals, e);
    if (e->op == OP_fold) map_put(&s->folds, ir_loop(e)->index, e);
    if (e->op == OP_trace && e->args[0]->op == OP_fold) map_put(&s->traced, ir_loop(e->args[0])->index, e);
    if (ir_is_binder(e)) map_put(&s->binders, e->u.var, e);
    for (int i = 0; i < e->nargs; i++) {
        if (e->args[i]->op != OP_trace) continue;
        Trace *t = trace_of(s, e->args[i]);
        Var *v = e->op == OP_at && i == 0 ? backwards(s->m, t->e, e->args[1]) : NULL;
        if (!v) t->whole = true;
        else if (!has_var(t->reader.data, t->reader.len, v)) vec_push(&t->reader, v);
    }
}

static void scan(Scan *s, const Func *f) {
    *s = (Scan){.m = f->ir};
    ir_walk(func_roots(f), f->outputs, look_at, s);
    for (int i = 0; i < func_roots(f); i++)
        if (f->outputs[i]->op == OP_trace) trace_of(s, f->outputs[i])->whole = true;
    for (int i = 0; i < s->traces.len; i++) {
        Trace *t = &s->traces.data[i];
        t->whole |= ir_loop(t->e->args[0])->block; // made here
        for (int k = 0; k < t->reader.len; k++) {
            const Var *v = t->reader.data[k];
            t->whole |= !map_get(&s->folds, v) || map_get(&s->binders, v);
        }
    }
}

static void scan_close(Scan *s) {
    for (int i = 0; i < s->traces.len; i++) vec_free(&s->traces.data[i].reader);
    vec_free(&s->traces);
    vec_free(&s->finals);
    map_free(&s->folds);
    map_free(&s->binders);
    map_free(&s->traced);
}

// The loops whose index is t, as one; false if they cannot be.
static bool join_readers(JoinedLoop *u, const Scan *s, const Var *t) {
    *u = (JoinedLoop){0};
    if (map_get(&s->traced, t)) return false;
    for (int i = 0; i < s->finals.len; i++) {
        Node *loop = s->finals.data[i]->args[0];
        if (loop->op != OP_fold || ir_loop(loop)->index != t) continue;
        if (!u->loop) ir_join_open(u, s->m, NULL, loop);
        else if (!ir_join(u, loop, false)) return false;
    }
    return u->loop != NULL;
}

// Is the loop to run again from checkpoints, as an attribute or a limit says?
static bool is_asked(const Ir *m, const Node *loop) {
    const Loop *l = ir_loop(loop);
    return !l->block && l->levels != 1 && (l->levels || l->limit || m->tape_limit);
}

// Does a loop, or a sum, read the trace backwards? Then it is not, or not only, an array of the program.
static bool is_tape(const Scan *s, const Trace *t) {
    for (int i = 0; i < t->reader.len; i++) {
        const Node *binder = map_get(&s->binders, t->reader.data[i]);
        if (map_get(&s->folds, t->reader.data[i]) || (binder && binder->op == OP_sum)) return true;
    }
    return false;
}

// ---- a loop and its reverses

typedef struct Job {
    Ir *m;
    JoinedLoop u;      // the loop
    VEC(Node *) trace; // its traces
    VEC(Node *) out;   // what they are of, in terms of u
    VEC(int) state;    // which of its states that is, or -1
    VEC(Var *) reader;
    bool *need;     // states on which the traces depend
    Node *trip, *n; // as in the loops; never negative
    // The plan: the iterations of a block, how many blocks there are, for how many checkpoints there is room (at least
    // one), how often a block is run before it is taped, and C(slots + repeats, repeats).
    Node *rows, *blocks, *slots, *repeats, *reach;
    Node *possible, **values; // whether the limit permits any; the values of the error's text
} Job;

static void job_close(Job *j) {
    ir_join_close(&j->u);
    vec_free(&j->trace);
    vec_free(&j->out);
    vec_free(&j->state);
    vec_free(&j->reader);
}

static bool shares_reader(const Job *j, const Trace *t) {
    for (int i = 0; i < t->reader.len; i++)
        if (has_var(j->reader.data, j->reader.len, t->reader.data[i])) return true;
    return false;
}

static void add_trace(Job *j, const Trace *t) {
    const JoinedMember *mb = NULL;
    for (int i = 0; i < j->u.members.len; i++)
        if (j->u.members.data[i].loop == t->e->args[0]) mb = &j->u.members.data[i];
    vec_push(&j->trace, t->e);
    vec_push(&j->out, ir_join_term(&j->u, mb, loop_output(mb->loop, (int)t->e->u.num)));
    vec_push(&j->state, state_of(t->e) < 0 ? -1 : mb->at[state_of(t->e)]);
    for (int i = 0; i < t->reader.len; i++)
        if (!has_var(j->reader.data, j->reader.len, t->reader.data[i])) vec_push(&j->reader, t->reader.data[i]);
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

// e, of which time does not permit more than a certain number: so proofs need not fear overflow.
static Node *bounded(Ir *m, Node *e) { return e->bounded_above ? e : ir_min(m, e, ir_int(m, INT64_C(1) << 48)); }

// The loop of trace t with all traces and results that belong to it.
static void job_open(Job *j, const Scan *s, const Trace *t) {
    *j = (Job){.m = s->m, .trip = trip(s->m, t->e->args[0])};
    ir_join_open(&j->u, s->m, NULL, t->e->args[0]);
    add_trace(j, t);
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < s->traces.len; i++) {
            const Trace *o = &s->traces.data[i];
            if (o->whole || has_trace(j, o->e) || !ir_join(&j->u, o->e->args[0], !shares_reader(j, o))) continue;
            add_trace(j, o);
            again = true;
        }
    }
    for (int i = 0; i < s->finals.len; i++) ir_join(&j->u, s->finals.data[i]->args[0], true);
    j->need = ARENA_ARRAY(s->m->arena, bool, j->u.state.len);
    for (int i = 0; i < j->out.len; i++) mark_needed(j, j->out.data[i]);
    j->n = bounded(s->m, ir_max(s->m, ir_int(s->m, 0), j->trip));
}

// ---- plans

static Node *bytes_of(Ir *m, const Node *e) {
    Node *n = ir_int(m, (int64_t)kind_size(e->kind));
    for (int d = 0; d < e->rank; d++) n = ir_mul(m, n, e->shape[d]);
    return n;
}

// Of a row of the traces, and of a checkpoint.
static Node *row_bytes(const Job *j) {
    Node *n = ir_int(j->m, 0);
    for (int i = 0; i < j->out.len; i++) n = ir_add(j->m, n, bytes_of(j->m, j->out.data[i]));
    return n;
}

static Node *checkpoint_bytes(const Job *j) {
    Node *n = ir_int(j->m, COUNTERS);
    for (int k = 0; k < j->u.state.len; k++)
        if (j->need[k]) n = ir_add(j->m, n, bytes_of(j->m, ir_var(j->u.state.data[k])));
    return n;
}

// a / b, rounded up, of b >= 1.
static Node *quotient_up(Ir *m, Node *a, Node *b) { return ir_idiv(m, ir_add(m, a, ir_sub(m, b, ir_int(m, 1))), b); }

static Node *real(Ir *m, Node *e) { return ir_conv(m, KIND_DOUBLE, e); }

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
    Node *part = ir_idiv(m, z->limit, ir_mul(m, ir_add(m, ir_max(m, ir_int(m, 0), bounded(m, t)), one), two));
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
    j->rows = ir_max(m, one, ir_select(m, whole, j->n, bounded(m, rows)));
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
    Node *slots = bounded(m, ir_add(m, bisect(m, few_checkpoints, z), ir_int(m, 1)));
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
// both take as many, and less than those of the trace if a checkpoint takes less than a quarter of that. False if the trace
// is to be kept as a whole, for certain.
static bool plan_auto(Job *j, const Sizes *z) {
    Ir *m = j->m;
    Node *most = ir_max(m, ir_int(m, m->tape_whole), ir_mul(m, ir_int(m, 4), z->state));
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

static bool plan(Job *j) {
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

// ---- pieces of the loop

static Var *rows_state(Ir *m, const char *name, Node *rows, const Node *row) {
    Node **shape = ARENA_ARRAY(m->arena, Node *, row->rank + 1);
    shape[0] = rows;
    for (int d = 0; d < row->rank; d++) shape[d + 1] = row->shape[d];
    return ir_state(m, name, row->kind, row->rank + 1, shape);
}

// `rows` with `value` in place of row i where cond holds.
static Node *with_row(Ir *m, Node *rows, Node *cond, Node *i, Node *value) {
    Var *k = ir_index(m, "k", rows->shape[0]);
    Node *at = ir_var(k);
    return ir_gen(m, k, ir_select(m, ir_and(m, cond, ir_eq(m, at, i)), value, ir_at1(m, rows, at)));
}

// Where a run of blocks starts, and how many iterations it has: they lie in the loop, and a proof sees that.
typedef struct Run {
    Node *start, *count;
} Run;

static Run run_of(const Job *j, Node *block, Node *nblocks) {
    Ir *m = j->m;
    Node *zero = ir_int(m, 0);
    Run r = {.start = ir_max(m, zero, ir_min(m, ir_mul(m, block, j->rows), j->n))};
    r.count = ir_max(m, zero, ir_min(m, ir_mul(m, nblocks, j->rows), ir_sub(m, j->n, r.start)));
    return r;
}

// The loop's iterations of run r, from the states x on; what is NULL in x is not computed. tape, if not NULL, gets the
// traces.
static void run(const Job *j, Run r, Node **x, Node **out, Node **tape) {
    Ir *m = j->m;
    int n = j->u.state.len, nvars = 0;
    const Loop *like = ir_loop(j->u.loop);
    Loop l = {.index = ir_index_like(m, like->index, r.count), .nout = tape ? j->out.len : 0, .block = true};
    l.state = ARENA_ARRAY(m->arena, Var *, n + 1);
    Node **init = ARENA_ARRAY(m->arena, Node *, n), **step = ARENA_ARRAY(m->arena, Node *, n);
    Node **from = ARENA_ARRAY(m->arena, Node *, n + 1), **to = ARENA_ARRAY(m->arena, Node *, n + 1);
    Node **rows = ARENA_ARRAY(m->arena, Node *, j->out.len);
    for (int k = 0; k < n; k++) {
        Var *s = j->u.state.data[k];
        if (!x[k]) continue;
        l.state[l.n] = ir_state(m, s->name, s->kind, s->rank, s->shape), init[l.n] = x[k];
        from[nvars] = ir_var(s), to[nvars++] = ir_var(l.state[l.n++]);
    }
    from[nvars] = ir_var(like->index), to[nvars++] = ir_add(m, r.start, ir_var(l.index));
    for (int k = 0, at = 0; k < n; k++)
        if (x[k]) step[at++] = ir_subst(m, j->u.step.data[k], nvars, from, to);
    for (int q = 0; q < l.nout; q++) rows[q] = ir_subst(m, j->out.data[q], nvars, from, to);
    Node *loop = ir_fold_out(m, &l, init, step, rows);
    for (int k = 0, at = 0; k < n; k++) out[k] = x[k] ? ir_final(m, loop, at++) : NULL;
    for (int q = 0; q < l.nout; q++) tape[q] = ir_trace(m, loop, q);
}

// ---- the schedule ([Revolve])
//
// A *segment* is the blocks from a checkpoint to the last that is not reversed yet. With room for g checkpoints, its own
// included, C(g + t, t) blocks can be reversed while none is run more than t times before it is taped. So a segment knows g,
// t and reach = C(g + t, t), at least its length. It is divided such that the left part can do with t - 1, and the right
// part with g - 1. If the reach is inexact that costs time only.

typedef struct Division {
    Node *left, *left_repeats, *left_reach; // the left part: its blocks, of `len`; its t and its reach
    Node *right_reach;
} Division;

static Node *share(Ir *m, Node *reach, Node *part, Node *whole) {
    whole = ir_max(m, ir_int(m, 1), whole);
    return ir_op(m, OP_round, ir_div(m, ir_mul(m, reach, real(m, part)), real(m, whole)), NULL);
}

// The least left part is run least often. All but one block are left if there is no room for a checkpoint, none if there
// is one block.
static Division divide(Ir *m, Node *len, Node *room, Node *repeats, Node *reach) {
    Node *one = ir_int(m, 1), *zero = ir_int(m, 0), *both = ir_add(m, room, repeats), *rest = ir_sub(m, len, one);
    Division d = {.left_repeats = ir_sub(m, repeats, one), .right_reach = share(m, reach, room, both)};
    d.left_reach = share(m, reach, repeats, both);
    Node *least = share(m, d.left_reach, d.left_repeats, ir_sub(m, both, one)); // C(g + t - 2, t - 2)
    Node *over = ir_sub(m, real(m, len), d.right_reach);
    Node *left = ir_conv(m, KIND_INT, ir_max(m, ir_real(m, KIND_DOUBLE, 1), ir_max(m, least, over)));
    d.left = ir_max(m, zero, ir_select(m, ir_lt(m, one, room), ir_min(m, left, rest), rest));
    return d;
}

// ---- checkpoints

// A stack of them: arrays of each needed state, of the blocks that they are the beginnings of, and of what the segments
// that begin there know.
typedef struct Stack {
    int n, blocks; // arrays; those of states come before `blocks`, which is followed by that of t and of the reach
    Var **state;
    Node **now, **step;
} Stack;

static Stack stack_new(const Job *j) {
    Ir *m = j->m;
    int n = j->u.state.len;
    Stack s = {.state = ARENA_ARRAY(m->arena, Var *, n + 3)};
    s.now = ARENA_ARRAY(m->arena, Node *, n + 3), s.step = ARENA_ARRAY(m->arena, Node *, n + 3);
    for (int k = 0; k < n; k++)
        if (j->need[k]) s.state[s.n++] = rows_state(m, "kept", j->slots, ir_var(j->u.state.data[k]));
    s.blocks = s.n;
    s.state[s.n++] = rows_state(m, "blocks", j->slots, ir_int(m, 0));
    s.state[s.n++] = rows_state(m, "repeats", j->slots, ir_int(m, 0));
    s.state[s.n++] = rows_state(m, "reach", j->slots, ir_zero(m, KIND_DOUBLE));
    for (int i = 0; i < s.n; i++) s.now[i] = s.step[i] = ir_var(s.state[i]);
    return s;
}

static void put(Ir *m, Stack *s, int k, Node *cond, Node *i, Node *value) { s->step[k] = with_row(m, s->now[k], cond, i, value); }

// What a segment knows.
typedef struct Segment {
    Node *block, *repeats, *reach;
} Segment;

// Keeps x in place i where cond holds.
static void push_states(const Job *j, Stack *s, Node *cond, Node *i, Node *const *x) {
    for (int k = 0, at = 0; k < j->u.state.len; k++)
        if (j->need[k]) put(j->m, s, at++, cond, i, x[k]);
}

static void push_segment(const Job *j, Stack *s, Node *cond, Node *i, Segment g) {
    put(j->m, s, s->blocks, cond, i, g.block);
    put(j->m, s, s->blocks + 1, cond, i, g.repeats);
    put(j->m, s, s->blocks + 2, cond, i, g.reach);
}

// A place on the stack, for certain.
static Node *place(const Job *j, Node *i) {
    return ir_max(j->m, ir_int(j->m, 0), ir_min(j->m, i, ir_sub(j->m, j->slots, ir_int(j->m, 1))));
}

static Segment segment_at(const Job *j, Node *const *stack, Node *i) {
    i = place(j, i);
    return (Segment){ir_at1(j->m, stack[0], i), ir_at1(j->m, stack[1], i), ir_at1(j->m, stack[2], i)};
}

static Segment choose(Ir *m, Node *cond, Segment a, Segment b) {
    return (Segment){ir_select(m, cond, a.block, b.block), ir_select(m, cond, a.repeats, b.repeats),
                     ir_select(m, cond, a.reach, b.reach)};
}

typedef struct Actions { // a loop over actions
    Var *index;
    int n;
    Var **state;
    Node **init, **step;
} Actions;

static Actions actions_new(const Job *j, int n, Node *count) {
    Actions b = {.index = ir_index(j->m, "action", count), .state = ARENA_ARRAY(j->m->arena, Var *, n)};
    b.init = ARENA_ARRAY(j->m->arena, Node *, n), b.step = ARENA_ARRAY(j->m->arena, Node *, n);
    return b;
}

static void add_state(Actions *b, Var *s, Node *init, Node *step) {
    b->state[b->n] = s, b->init[b->n] = init, b->step[b->n++] = step;
}

static Node *add_like(Ir *m, Actions *b, const Var *s, Node *init) {
    add_state(b, ir_state(m, s->name, s->kind, s->rank, s->shape), init, NULL);
    return ir_var(b->state[b->n - 1]);
}

static Node *add_counter(Ir *m, Actions *b, const char *name, Node *init) {
    add_state(b, ir_state(m, name, init->kind, 0, NULL), init, NULL);
    return ir_var(b->state[b->n - 1]);
}

// What the forward sweep leaves.
typedef struct Swept {
    Node **x;    // the states before the last block
    Node *used;  // how many checkpoints are kept
    Segment top; // what the last of them begins
    Node **stack;
} Swept;

// Each action keeps a checkpoint, so there are at most as many as there is room for.
static Swept sweep(const Job *j) {
    Ir *m = j->m;
    int n = j->u.state.len;
    Node *one = ir_int(m, 1), *zero = ir_int(m, 0);
    Stack s = stack_new(j);
    Actions b = actions_new(j, n + s.n + 6, j->slots);
    Node **x = ARENA_ARRAY(m->arena, Node *, n), **init = ARENA_ARRAY(m->arena, Node *, s.n);
    for (int k = 0; k < n; k++) x[k] = add_like(m, &b, j->u.state.data[k], j->u.init.data[k]);
    Node *block = add_counter(m, &b, "block", zero), *used = add_counter(m, &b, "used", zero);
    Node *reach = add_counter(m, &b, "reach", j->reach);
    Segment top = {add_counter(m, &b, "block", zero), add_counter(m, &b, "repeats", zero),
                   add_counter(m, &b, "reach", ir_zero(m, KIND_DOUBLE))};
    Node *len = ir_sub(m, j->blocks, block), *more = ir_lt(m, one, len);
    Division d = divide(m, len, ir_sub(m, j->slots, used), j->repeats, reach);
    Segment left = {block, d.left_repeats, d.left_reach};
    push_states(j, &s, more, used, x);
    push_segment(j, &s, more, used, left);
    top = choose(m, more, left, top);
    run(j, run_of(j, block, d.left), x, b.step, NULL);
    b.step[n] = ir_add(m, block, d.left);
    b.step[n + 1] = ir_add(m, used, ir_bracket(m, more, one));
    b.step[n + 2] = d.right_reach;
    b.step[n + 3] = top.block, b.step[n + 4] = top.repeats, b.step[n + 5] = top.reach;
    for (int i = 0; i < s.n; i++) {
        const Var *v = s.state[i];
        Node *e = v->kind == KIND_BOOL ? ir_bool(m, false) : ir_zero(m, v->kind);
        for (int k = v->rank; k-- > 0;) e = ir_gen(m, ir_index(m, "k", v->shape[k]), e);
        add_state(&b, s.state[i], e, s.step[i]);
    }
    Node *loop = ir_fold(m, b.index, b.n, b.state, b.init, b.step);
    for (int k = 0; k < n; k++) x[k] = ir_final(m, loop, k);
    for (int i = 0; i < s.n; i++) init[i] = ir_final(m, loop, n + 6 + i);
    top = (Segment){ir_final(m, loop, n + 3), ir_final(m, loop, n + 4), ir_final(m, loop, n + 5)};
    return (Swept){.x = x, .used = ir_final(m, loop, n + 1), .top = top, .stack = init};
}

// ---- reverses

// What a run with traces leaves: these, and the states after it.
typedef struct Taped {
    Node **tape, **after;
} Taped;

typedef struct Reverse {
    const Job *j;
    JoinedLoop u;
    Node **row[ROWS]; // stand for the rows of the traces in its iteration
    Node **step;      // in terms of them
    Map memo;
} Reverse;

// Which row of its traces a reverse reads by e, or -1.
static int which_row(const Reverse *r, const Node *e) {
    int which = 0;
    while (which < ROWS && row_read(r->j->m, r->j->trip, ir_loop(r->u.loop)->index, which) != e) which++;
    return which < ROWS ? which : -1;
}

// e with the rows of traces that it reads replaced by what stands for them.
static Node *put_rows(Node *e, void *data) {
    Reverse *r = data;
    const Job *j = r->j;
    if (e->nargs == 0) return e;
    Node *known = map_get(&r->memo, e);
    if (known) return known;
    Node *out = ir_map(j->m, e, put_rows, r);
    for (int q = 0; e->op == OP_at && q < j->trace.len; q++) {
        int which = e->args[0] == j->trace.data[q] ? which_row(r, e->args[1]) : -1;
        if (which >= 0) out = ir_at(j->m, r->row[which][q], out->nargs - 2, out->args + 2);
    }
    map_put(&r->memo, e, out);
    return out;
}

static bool reverse_open(Reverse *r, const Job *j, const Scan *s, const Var *t) {
    *r = (Reverse){.j = j};
    if (!join_readers(&r->u, s, t)) return false;
    r->step = ARENA_ARRAY(j->m->arena, Node *, r->u.state.len);
    for (int which = 0; which < ROWS; which++) {
        r->row[which] = ARENA_ARRAY(j->m->arena, Node *, j->out.len);
        for (int q = 0; q < j->out.len; q++) {
            const Node *o = j->out.data[q];
            r->row[which][q] = ir_param(j->m, o->kind, o->rank, o->shape);
        }
    }
    for (int k = 0; k < r->u.state.len; k++) r->step[k] = put_rows(r->u.step.data[k], r);
    map_free(&r->memo);
    return true;
}

// Of trace q, the given row of a run of `count` iterations, or the one after it.
static Node *row_of(const Job *j, int q, int which, Node *count, Node *row, const Taped *t) {
    Ir *m = j->m;
    if (which == ROW_OWN) return ir_at1(m, t->tape[q], row);
    Node *next = ir_add(m, row, ir_int(m, 1));
    return ir_select(m, ir_lt(m, next, count), ir_at1(m, t->tape[q], next), t->after[j->state.data[q]]);
}

// The states of the reverse after those of its iterations that belong to run r of the loop.
static void reverse_run(const Reverse *v, Run r, const Taped *taped, Node *const *in, Node **out) {
    const Job *j = v->j;
    Ir *m = j->m;
    int n = v->u.state.len, count = n + 1 + ROWS * j->out.len;
    Var *index = ir_index(m, "t", r.count), **state = ARENA_ARRAY(m->arena, Var *, n);
    Node **from = ARENA_ARRAY(m->arena, Node *, count), **to = ARENA_ARRAY(m->arena, Node *, count);
    Node **step = ARENA_ARRAY(m->arena, Node *, n), **init = ARENA_ARRAY(m->arena, Node *, n);
    for (int k = 0; k < n; k++) {
        Var *s = v->u.state.data[k];
        state[k] = ir_state(m, s->name, s->kind, s->rank, s->shape), init[k] = in[k];
        from[k] = ir_var(s), to[k] = ir_var(state[k]);
    }
    Node *row = before_last(m, r.count, ir_var(index));
    from[n] = ir_var(ir_loop(v->u.loop)->index), to[n] = before_last(m, j->trip, ir_add(m, r.start, row));
    count = n + 1;
    for (int q = 0; q < j->out.len; q++)
        for (int which = 0; which < (j->state.data[q] < 0 ? ROW_NEXT : ROWS); which++)
            from[count] = v->row[which][q], to[count++] = row_of(j, q, which, r.count, row, taped);
    for (int k = 0; k < n; k++) step[k] = ir_subst(m, v->step[k], count, from, to);
    Node *loop = ir_fold(m, index, n, state, init, step);
    for (int k = 0; k < n; k++) out[k] = ir_final(m, loop, k);
}

// The reverse of all blocks but the last, which has left `in`: a loop whose first states are those of the reverse. A
// checkpoint goes when its block has been taped, and each block is taped once, so there are at most two actions for each
// block: one that tapes it, and one that keeps its beginning.
static Node *unwind(const Reverse *v, const Swept *swept, Node *const *in) {
    const Job *j = v->j;
    Ir *m = j->m;
    int n = v->u.state.len, nx = j->u.state.len, at = 0;
    Node *one = ir_int(m, 1), *zero = ir_int(m, 0), *before = ir_sub(m, j->blocks, one);
    Node *each = ir_select(m, ir_lt(m, j->slots, before), ir_int(m, 2), one);
    Stack s = stack_new(j);
    Node *count = ir_max(m, zero, ir_mul(m, each, before));
    Actions b = actions_new(j, n + s.n + 5, ir_assert_values(m, j->possible, ir_tape_text, count, 2, j->values));
    Node **r = ARENA_ARRAY(m->arena, Node *, n), **x = ARENA_ARRAY(m->arena, Node *, nx),
         **ahead = ARENA_ARRAY(m->arena, Node *, nx);
    Node **done = ARENA_ARRAY(m->arena, Node *, nx), **tape = ARENA_ARRAY(m->arena, Node *, j->out.len);
    Segment first = swept->top, g;
    for (int k = 0; k < n; k++) r[k] = add_like(m, &b, v->u.state.data[k], in[k]);
    Node *left = add_counter(m, &b, "left", before), *used = add_counter(m, &b, "used", swept->used);
    g.block = add_counter(m, &b, "block", first.block), g.repeats = add_counter(m, &b, "repeats", first.repeats);
    g.reach = add_counter(m, &b, "reach", first.reach);
    Node *top = place(j, ir_sub(m, used, one)), *len = ir_sub(m, left, g.block), *more = ir_lt(m, zero, left);
    for (int k = 0; k < nx; k++) x[k] = j->need[k] ? ir_at1(m, s.now[at++], top) : NULL;
    Division d = divide(m, len, ir_sub(m, j->slots, top), g.repeats, g.reach);
    Node *here = ir_add(m, g.block, d.left), *taped = ir_and(m, more, ir_eq(m, ir_sub(m, left, here), one));
    Node *kept = ir_and(m, more, ir_not(m, taped)), *gone = ir_and(m, taped, ir_eq(m, d.left, zero));
    run(j, run_of(j, g.block, ir_bracket(m, more, d.left)), x, ahead, NULL);
    Run run_taped = run_of(j, here, ir_bracket(m, taped, one));
    run(j, run_taped, ahead, done, tape);
    reverse_run(v, run_taped, &(Taped){tape, done}, r, b.step);
    Segment part = {g.block, d.left_repeats, d.left_reach}, fresh = {here, g.repeats, d.right_reach};
    push_states(j, &s, kept, used, ahead);
    push_segment(j, &s, kept, top, part);
    g = choose(m, kept, fresh, choose(m, gone, segment_at(j, s.now + s.blocks, ir_sub(m, used, ir_int(m, 2))), part));
    b.step[n] = ir_select(m, taped, here, left);
    b.step[n + 1] = ir_sub(m, ir_add(m, used, ir_bracket(m, kept, one)), ir_bracket(m, gone, one));
    b.step[n + 2] = g.block, b.step[n + 3] = g.repeats, b.step[n + 4] = g.reach;
    for (int i = 0; i < s.n; i++) add_state(&b, s.state[i], swept->stack[i], s.step[i]);
    return ir_fold(m, b.index, b.n, b.state, b.init, b.step);
}

// ---- the pass

static void replace(Func *f, Node *from, Node *to) { ir_replace_in(f->ir, func_roots(f), f->outputs, from, to); }

// The results of loops that are members of u are those of one loop with its states, `to`.
static void put_results(Func *f, const Scan *s, const JoinedLoop *u, Node *const *to) {
    for (int i = 0; i < s->finals.len; i++) {
        Node *e = s->finals.data[i];
        for (int k = 0; k < u->members.len; k++)
            if (u->members.data[k].loop == e->args[0]) replace(f, e, to[u->members.data[k].at[e->u.num]]);
    }
}

static void reverse(Func *f, const Job *j, const Swept *swept, Run last, const Taped *taped, const Var *t) {
    Ir *m = j->m;
    Scan s;
    Reverse v;
    scan(&s, f);
    if (!reverse_open(&v, j, &s, t)) fatal_bug("the reverses of a loop cannot be joined any more");
    int n = v.u.state.len;
    Node **in = ARENA_ARRAY(m->arena, Node *, n);
    reverse_run(&v, last, taped, v.u.init.data, in);
    Node *loop = unwind(&v, swept, in);
    for (int k = 0; k < n; k++) in[k] = ir_final(m, loop, k);
    put_results(f, &s, &v.u, in);
    ir_join_close(&v.u);
    scan_close(&s);
}

static void apply(Func *f, const Scan *s, Job *j) {
    Ir *m = j->m;
    Node *one = ir_int(m, 1), **x = ARENA_ARRAY(m->arena, Node *, j->u.state.len);
    Node **tape = ARENA_ARRAY(m->arena, Node *, j->out.len);
    Swept swept = sweep(j);
    Run last = run_of(j, ir_sub(m, j->blocks, one), one);
    run(j, last, swept.x, x, tape);
    put_results(f, s, &j->u, x);
    for (int i = 0; i < j->reader.len; i++) reverse(f, j, &swept, last, &(Taped){tape, x}, j->reader.data[i]);
}

// The innermost trace that is only read backwards, by loops that can be joined, and that is not to be kept; Job j is its.
static bool next_job(const Scan *s, Job *j) {
    uint32_t before = UINT32_MAX;
    for (;;) {
        const Trace *best = NULL;
        for (int i = 0; i < s->traces.len; i++) {
            const Trace *t = &s->traces.data[i];
            if (!t->whole && t->e->args[0]->op == OP_fold && t->e->id < before && (!best || t->e->id > best->e->id)) best = t;
        }
        if (!best) return false;
        before = best->e->id;
        job_open(j, s, best);
        bool ok = true;
        for (int i = 0; i < j->reader.len && ok; i++) {
            JoinedLoop u;
            ok = join_readers(&u, s, j->reader.data[i]);
            ir_join_close(&u);
        }
        if (ok && plan(j)) return true;
        job_close(j);
    }
}

// ---- what reverses leave of each iteration
//
// Such as the elements of a gradient: arrays that a reverse fills if the loop before it is to run again, so that the
// reverse can go block by block.

// Is the trace one that a reverse of such a loop leaves, and that is no tape itself?
static bool is_left(const Scan *s, const Trace *t) {
    if (t->e->args[0]->op != OP_fold || ir_loop(t->e->args[0])->block || is_tape(s, t)) return false;
    for (int i = 0; i < s->traces.len; i++) {
        const Trace *o = &s->traces.data[i];
        if (o->whole || !is_asked(s->m, o->e->args[0])) continue;
        if (has_var(o->reader.data, o->reader.len, ir_loop(t->e->args[0])->index)) return true;
    }
    return false;
}

static bool fill_one(Func *f) {
    Scan s;
    Node *left = NULL;
    bool filled = false;
    scan(&s, f);
    for (int i = 0; i < s.traces.len && !left; i++)
        if (is_left(&s, &s.traces.data[i])) left = s.traces.data[i].e;
    scan_close(&s);
    for (int i = 0; left && i < func_roots(f); i++) {
        Node *before = f->outputs[i];
        f->outputs[i] = ir_stored(f->ir, before, left);
        filled |= f->outputs[i] != before;
    }
    return filled;
}

// ---- plans and limits that are not kept to

// Is what is left of the tape of trace t's loop within its limit, for certain?
static bool is_within(const Scan *s, const Trace *t) {
    Ir *m = s->m;
    Node *loop = t->e->args[0], *bytes = ir_int(m, 0);
    int64_t limit = ir_loop(loop)->limit ? ir_loop(loop)->limit : ir_loop(loop)->levels ? 0 : m->tape_limit;
    for (int i = 0; i < s->traces.len; i++) {
        const Trace *o = &s->traces.data[i];
        if (is_tape(s, o) && o->e->args[0]->span.begin == loop->span.begin) bytes = ir_add(m, bytes, bytes_of(m, o->e));
    }
    return ir_is_lit(ir_le(m, bytes, ir_int(m, limit)), 1);
}

static void note_whole(const Scan *s) {
    Ir *m = s->m;
    for (int i = 0; i < s->traces.len; i++) {
        const Trace *t = &s->traces.data[i];
        const Node *loop = t->e->args[0];
        if (!is_asked(m, loop) || !is_tape(s, t) || is_within(s, t)) continue;
        WholeTrace **w = &m->whole;
        while (*w && ((*w)->span.src != loop->span.src || (*w)->span.begin != loop->span.begin)) w = &(*w)->next;
        if (*w) continue;
        *w = ARENA_NEW(m->arena, WholeTrace);
        **w = (WholeTrace){.span = loop->span};
    }
}

void pass_checkpoint(Func *f) {
    f->ir->stored = true; // what is filled stays so
    while (fill_one(f)) continue;
    for (bool more = true; more;) {
        Scan s;
        Job j;
        scan(&s, f);
        more = next_job(&s, &j);
        if (more) {
            apply(f, &s, &j);
            job_close(&j);
        } else {
            note_whole(&s);
        }
        scan_close(&s);
    }
}
