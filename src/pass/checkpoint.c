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
#include "pass/checkpoint.h"

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
    while (which < ROWS && trace_row_read(r->j->m, r->j->trip, ir_loop(r->u.loop)->index, which) != e) which++;
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

static bool reverse_open(Reverse *r, const Job *j, const Scan *s, const Var *t, const VarSet *scope) {
    *r = (Reverse){.j = j};
    if (!traces_join_readers(&r->u, s, t, scope)) return false;
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
    Node *row = trace_before_last(m, r.count, ir_var(index));
    from[n] = ir_var(ir_loop(v->u.loop)->index), to[n] = trace_before_last(m, j->trip, ir_add(m, r.start, row));
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

// The results of loops that are members of u are those of one loop with its states, `to`. Of members that are there for
// fewer variables than all together they stay: they may be needed where the others have no values.
static void put_results(Func *f, const Scan *s, const JoinedLoop *u, Node *const *to) {
    const VarSet *scope = varset_empty;
    for (int k = 0; k < u->members.len; k++) scope = varset_union(f->ir, scope, u->members.data[k].loop->fv);
    for (int i = 0; i < s->finals.len; i++) {
        Node *e = s->finals.data[i];
        for (int k = 0; k < u->members.len; k++) {
            const JoinedMember *mb = &u->members.data[k];
            if (mb->loop == e->args[0] && mb->loop->fv == scope) replace(f, e, to[mb->at[e->u.num]]);
        }
    }
}

static void reverse(Func *f, const Job *j, const Swept *swept, Run last, const Taped *taped, const Reader *by) {
    Ir *m = j->m;
    Scan s;
    Reverse v;
    traces_scan(&s, f);
    if (!reverse_open(&v, j, &s, by->index, by->scope)) fatal_bug("the reverses of a loop cannot be joined any more");
    int n = v.u.state.len;
    Node **in = ARENA_ARRAY(m->arena, Node *, n);
    reverse_run(&v, last, taped, v.u.init.data, in);
    Node *loop = unwind(&v, swept, in);
    for (int k = 0; k < n; k++) in[k] = ir_final(m, loop, k);
    put_results(f, &s, &v.u, in);
    ir_join_close(&v.u);
    traces_close(&s);
}

static void apply(Func *f, const Scan *s, Job *j) {
    Ir *m = j->m;
    Span before = ir_from(m, j->u.loop);
    Node *one = ir_int(m, 1), **x = ARENA_ARRAY(m->arena, Node *, j->u.state.len);
    Node **tape = ARENA_ARRAY(m->arena, Node *, j->out.len);
    Swept swept = sweep(j);
    Run last = run_of(j, ir_sub(m, j->blocks, one), one);
    run(j, last, swept.x, x, tape);
    put_results(f, s, &j->u, x);
    for (int i = 0; i < j->by.len; i++) reverse(f, j, &swept, last, &(Taped){tape, x}, &j->by.data[i]);
    m->span = before;
}

static bool is_of(const Reader *r, const Node *loop) {
    return loop->op == OP_fold && ir_loop(loop)->index == r->index && loop->fv == r->scope;
}

// Does a loop of one reverse need a result of one of the other?
static bool needs(const Scan *s, const Reader *a, const Reader *b) {
    Node **loop = ARENA_ARRAY(s->m->arena, Node *, s->finals.len + 1);
    int n = 0;
    bool any = false;
    for (int i = 0; i < s->finals.len; i++)
        if (is_of(b, s->finals.data[i]->args[0])) loop[n++] = s->finals.data[i]->args[0];
    for (int i = 0; i < s->finals.len && n && !any; i++)
        any = is_of(a, s->finals.data[i]->args[0]) && ir_reaches_any(s->finals.data[i]->args[0], n, loop);
    return any;
}

// Can the loops of each reverse be one, and then be done one after the other? Not if each of two reverses has a loop
// that needs one of the other.
static bool can_join_readers(const Scan *s, const Job *j) {
    int n = j->by.len;
    bool *after = ARENA_ARRAY(s->m->arena, bool, n * n + 1), ok = true;
    for (int i = 0; i < n && ok; i++) {
        JoinedLoop u;
        ok = traces_join_readers(&u, s, j->by.data[i].index, j->by.data[i].scope);
        ir_join_close(&u);
    }
    for (int i = 0; i < n && ok; i++)
        for (int k = 0; k < n; k++) after[i * n + k] = i != k && needs(s, &j->by.data[i], &j->by.data[k]);
    for (int by = 0; by < n && ok; by++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) after[i * n + k] |= after[i * n + by] && after[by * n + k];
    for (int i = 0; i < n && ok; i++) ok = !after[i * n + i];
    return ok;
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
        checkpoint_open(j, s, best);
        if (can_join_readers(s, j) && checkpoint_plan(j)) return true;
        checkpoint_close(j);
    }
}

// What reverses leave of each iteration, such as the elements of a gradient, is an array that a reverse fills if the loop
// before it is to run again, so that the reverse can go block by block.
static bool fill_one(Func *f) {
    Scan s;
    bool filled = false;
    traces_scan(&s, f);
    Node *left = traces_left(&s);
    traces_close(&s);
    for (int i = 0; left && i < func_roots(f); i++) {
        Node *before = f->outputs[i];
        f->outputs[i] = ir_stored(f->ir, before, left);
        filled |= f->outputs[i] != before;
    }
    return filled;
}

void pass_checkpoint(Func *f) {
    f->ir->stored = true; // what is filled stays so
    while (fill_one(f)) continue;
    for (bool more = true; more;) {
        Scan s;
        Job j;
        traces_scan(&s, f);
        more = next_job(&s, &j);
        if (more) {
            apply(f, &s, &j);
            checkpoint_close(&j);
        } else {
            traces_note_whole(&s);
        }
        traces_close(&s);
    }
}
