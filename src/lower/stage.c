// Rows for lanes. Where lanes access the elements x[i, j] of neighbouring rows i, these do not lie together, and every
// access takes as many moves as there are lanes. If inner loops run over a row, an iteration of the loop with lanes begins
// with a copy of it, which the lanes keep side by side; if it changes the row, it ends with a copy back. Copies move blocks of
// elements and turn them over in registers (cpu/rows.c). Single elements of a row that an iteration stores, at fixed places,
// are kept like that, too (lower/runs.c).
#include "lower/effects.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"

#include <string.h>

typedef struct Row { // of an array whose dimension `at` has the loop's index
    const Buf *of;
    int at;
    const Temp *index;    // of an access to it: that of the loop, those of loops inside, and what is the same for all iterations
    int n, own[RANK_MAX]; // the dimensions that the row has
    Buf *copy;
    bool certain; // some access is made in any case: else what is the same for all iterations may be out of range
} Row;

typedef struct Stager {
    Arena *arena;
    Tree *tree;
    Block *block;       // with the loop in it
    Stmt *loop;         // with lanes
    Stmt *const *def;   // by temp: what makes it
    VEC(Stmt *) around; // loops inside it around the statement
    int conditions;     // around the statement, and loops whose index has no place in what it accesses
    VEC(Stmt *) moves;  // what accesses rows that pay
    Map certain;        // those that are made in any case
    VEC(Stmt *) all;    // loads, stores and additions of arrays from outside
    VEC(Row) rows;
    VEC(const Buf *) again; // whose rows pay, since loops come back to them or take long for each element
    VEC(const Buf *) once;  // whose rows are gone over once
    int64_t long_row;       // up to so many elements such a row is worth a copy; longer ones make vectors by themselves
    int64_t streams;        // iterations from which on results go past the caches; 0: they never do
} Stager;

static bool mentions(const Stmt *move, Temp index) {
    for (int d = 0; d < move->buf->rank; d++)
        if (stmt_index(move)[d] == index) return true;
    return false;
}

static bool makes(const Block *block, Temp t) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->dst == t || makes(s->body, t) || makes(s->other, t)) return true;
    }
    return false;
}

// Is the index the same for all iterations, and known before them?
static bool is_fixed(const Stmt *loop, Temp index) { return index != loop->dst && !makes(loop->body, index); }

// The dimensions with indices of loops inside run over whole extents, so that every element of a row may be read, whatever the
// conditions are; but what is the same for all iterations may be an index under some of them only (begin_with_copy).
int lanes_row(const Stmt *loop, int n, Stmt *const *around, const Stmt *move, bool *again) {
    const Temp *index = stmt_index(move);
    int at = -1;
    for (int d = 0; d < move->buf->rank; d++) {
        bool whole = index[d] == loop->dst && at < 0 && loop->args[0] == move->buf->extent[d];
        if (whole) at = d;
        for (int i = 0; i < n; i++) whole |= around[i]->dst == index[d] && around[i]->args[0] == move->buf->extent[d];
        if (!whole && (n == 0 || d == move->buf->rank - 1 || move->kind != ST_LOAD || !is_fixed(loop, index[d]))) return -1;
    }
    *again = false; // by a loop inside whose index it does not mention
    for (int i = 0; i < n; i++) *again |= !mentions(move, around[i]->dst);
    return at < move->buf->rank - 1 ? at : -1; // in the last dimension lanes lie together
}

static bool changes(const Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (stmt_writes(s, b) || changes(s->body, b) || changes(s->other, b)) return true;
    }
    return false;
}

// Is the access made for each element of its row? Loops over what is no dimension of it may have no iterations.
static bool is_certain(const Stager *z, const Stmt *move) {
    bool certain = !z->conditions;
    for (int i = 0; i < z->around.len; i++) certain &= mentions(move, z->around.data[i]->dst);
    return certain;
}

static void find(Stager *z, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->rows) continue;
        bool again, move = (s->kind == ST_LOAD || s->kind == ST_STORE || s->kind == ST_ADDTO) && !s->buf->lanes;
        if (move) vec_push(&z->all, s);
        if (move && lanes_row(z->loop, z->around.len, z->around.data, s, &again) >= 0) {
            vec_push(&z->moves, s);
            if (is_certain(z, s)) map_put(&z->certain, s, s);
            again |= !z->around.len || block_has_for(vec_last(&z->around)->body);
            if (again) vec_push(&z->again, s->buf);
            else vec_push(&z->once, s->buf);
        }
        const bool in = s->kind == ST_FOR;
        if (in) vec_push(&z->around, s);
        z->conditions += !in;
        find(z, s->body);
        find(z, s->other);
        z->conditions -= !in;
        if (in) z->around.len--;
    }
}

static int row_dimension(const Stager *z, const Stmt *move) {
    int at = 0;
    while (stmt_index(move)[at] != z->loop->dst) at++;
    return at;
}

// Does the loop access b in the iteration's own row only?
static bool in_row(const Stager *z, const Buf *b, int at) {
    for (int i = 0; i < z->all.len; i++)
        if (z->all.data[i]->buf == b && stmt_index(z->all.data[i])[at] != z->loop->dst) return false;
    return true;
}

static bool touches(const Stmt *s, const Buf *b);

static bool touched(const Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++)
        if (touches(block->stmts.data[i], b)) return true;
    return false;
}

static bool touches(const Stmt *s, const Buf *b) {
    return s->buf == b || s->src == b || touched(s->body, b) || touched(s->other, b);
}

// Does s store to every element of the row?
static bool overwrites(const Stager *z, const Stmt *s, const Buf *b, int at) {
    const Stmt *around[16];
    int n = 0, seen = 0;
    for (; s->kind == ST_FOR && s->nargs == 1 && n < 16; n++) {
        const Stmt *only = NULL;
        for (int i = 0; i < s->body->stmts.len; i++) {
            if (s->body->stmts.data[i]->kind == ST_LIT) continue;
            if (only) return false;
            only = s->body->stmts.data[i];
        }
        around[n] = s;
        if (!(s = only)) return false;
    }
    if (s->kind != ST_STORE || s->buf != b || n != b->rank - 1) return false;
    for (int d = 0; d < b->rank; d++)
        for (int i = 0; d != at && i < n; i++) seen += around[i]->dst == s->args[1 + d] && around[i]->args[0] == b->extent[d];
    return seen == n && s->args[1 + at] == z->loop->dst;
}

static bool is_overwritten(const Stager *z, const Buf *b, int at) {
    for (int i = 0; i < z->loop->body->stmts.len; i++) {
        const Stmt *s = z->loop->body->stmts.data[i];
        if (touches(s, b)) return overwrites(z, s, b, at);
    }
    return false;
}

static bool varies(const Stager *z, Temp t) { return z->tree->temps.data[t].varies; }

// Is the access, in loop `copy`, of elements that lie one after the other in each lane's own row of memory?
static bool goes_along_row(const Stager *z, const Stmt *copy, const Stmt *move) {
    const Temp *index = stmt_index(move);
    int last = move->buf->rank - 1;
    bool own = false;
    for (int d = 0; d < last; d++) {
        if (index[d] == copy->dst || makes(copy->body, index[d])) return false;
        own |= varies(z, index[d]);
    }
    if (!own || move->buf->lanes || index[last] == copy->dst) return own && !move->buf->lanes;
    for (int i = 0; i < copy->body->stmts.len; i++) {
        const Stmt *s = copy->body->stmts.data[i];
        if (s->dst != index[last] || s->kind != ST_OP || s->op != OP_add) continue;
        Temp root = s->args[s->args[0] == copy->dst];
        return s->args[s->args[0] != copy->dst] == copy->dst && !varies(z, root) && !makes(copy->body, root);
    }
    return false;
}

static bool is_element(const Stmt *copy, const Stmt *move) {
    return move->buf->lanes && move->buf->rank == 1 && stmt_index(move)[0] == copy->dst;
}

// for j < …: x[i, offset + j] = row[j], or back, where the lanes have row of their own and nothing else accesses x: moved like rows
// that are staged.
static void mark_copy(const Stager *z, Stmt *copy) {
    if (copy->kind != ST_FOR || copy->nargs != 1 || copy->rows || copy->lanes || copy->body->stmts.len < 2) return;
    Block *body = copy->body;
    int n = body->stmts.len, load = -1;
    const Stmt *store = body->stmts.data[n - 1];
    for (int i = 0; i + 1 < n; i++) {
        const Stmt *s = body->stmts.data[i];
        if (s->kind == ST_LOAD && load < 0) load = i;
        else if (!stmt_is_pure(s)) return;
    }
    if (load < 0 || store->kind != ST_STORE || store->args[0] != body->stmts.data[load]->dst) return;
    Stmt *from = body->stmts.data[load];
    if (from->buf->kind != store->buf->kind) return;
    bool out = is_element(copy, from) && goes_along_row(z, copy, store),
         in = is_element(copy, store) && goes_along_row(z, copy, from);
    if (!out && !in) return;
    for (int i = 0; i < z->loop->body->stmts.len; i++) {
        const Stmt *s = z->loop->body->stmts.data[i];
        if (s != copy && touches(s, out ? store->buf : from->buf)) return;
    }
    for (int i = load; i + 2 < n; i++) body->stmts.data[i] = body->stmts.data[i + 1];
    body->stmts.data[n - 2] = from;
    copy->rows = true;
}

static void mark_copies(const Stager *z) {
    for (int i = 0; i < z->loop->body->stmts.len; i++) mark_copy(z, z->loop->body->stmts.data[i]);
}

static void unmark_copies(Block *block) {
    for (int i = 0; i < block->stmts.len; i++) block->stmts.data[i]->rows = false;
}

static Stmt *statement(Stager *z, StmtKind kind, Temp dst, int n, const Temp *args) {
    return tree_stmt(z->arena, kind, dst, n, args, z->loop->span);
}

static Temp new_temp(Stager *z, Kind kind, bool varies) {
    vec_push(&z->tree->temps, ((TempInfo){.kind = kind, .varies = varies, .step = STEP_ANY, .name = "j"}));
    return z->tree->temps.len - 1;
}

static Row describe(const Stager *z, const Stmt *move, int at) {
    Row row = {.of = move->buf, .at = at};
    row.index = arena_copy(z->arena, stmt_index(move), sizeof(Temp) * (size_t)move->buf->rank);
    for (int d = 0; d < move->buf->rank; d++)
        if (d != at && !is_fixed(z->loop, row.index[d])) row.own[row.n++] = d;
    return row;
}

static bool is_own(const Row *r, int d) {
    for (int k = 0; k < r->n; k++)
        if (r->own[k] == d) return true;
    return false;
}

// for j < …: row[j] = x[i, j]; or back.
static Stmt *copy_row(Stager *z, const Row *row, Buf *of, bool back) {
    Temp all[RANK_MAX], own[RANK_MAX];
    int n = row->n;
    memcpy(all, row->index, sizeof *all * (size_t)of->rank);
    for (int k = 0; k < n; k++) own[k] = all[row->own[k]] = new_temp(z, KIND_INT, false);
    Temp value = new_temp(z, of->kind, true), args[17] = {value};
    Stmt *read = statement(z, ST_LOAD, value, back ? n : of->rank, back ? own : all);
    memcpy(args + 1, back ? all : own, sizeof *args * (size_t)(back ? of->rank : n));
    Stmt *write = statement(z, ST_STORE, -1, (back ? of->rank : n) + 1, args);
    read->buf = back ? row->copy : of, write->buf = back ? of : row->copy;
    Block *body = ARENA_NEW(z->arena, Block);
    vec_push(&body->stmts, read);
    vec_push(&body->stmts, write);
    Stmt *loop = NULL;
    for (int d = n; d-- > 0;) {
        loop = statement(z, ST_FOR, own[d], 1, &row->copy->extent[d]);
        loop->body = body;
        loop->rows = d == n - 1;
        body = ARENA_NEW(z->arena, Block);
        vec_push(&body->stmts, loop);
    }
    vec_free(&body->stmts);
    return loop;
}

static Temp emit_op(Stager *z, Block *to, Kind kind, Op op, Temp a, Temp b) {
    Temp t = new_temp(z, kind, false), args[] = {a, b};
    vec_push(&to->stmts, statement(z, ST_OP, t, 2, args));
    vec_last(&to->stmts)->op = op;
    return t;
}

// Is t the index of a loop over all of the extent?
static bool goes_over(const Stager *z, Temp t, Temp extent) {
    const Stmt *s = z->def[t];
    return s && s->kind == ST_FOR && s->nargs == 1 && s->args[0] == extent;
}

// A copy of a row at the beginning of an iteration, under the condition that it is there where that is not certain:
//
//     if c { … x[k, i, j] … }   begins with   if 0 <= k && k < n { for j { row[j] = x[k, i, j] } }
static void begin_with_copy(Stager *z, const Row *r, Buf *of) {
    Block to = {0};
    Stmt *copy = copy_row(z, r, of, false);
    Temp there = -1;
    for (int d = 0; d < of->rank && !r->certain; d++) {
        if (d == r->at || is_own(r, d) || goes_over(z, r->index[d], of->extent[d])) continue;
        Temp zero = new_temp(z, KIND_INT, false);
        vec_push(&to.stmts, statement(z, ST_LIT, zero, 0, NULL));
        Temp low = emit_op(z, &to, KIND_BOOL, OP_le, zero, r->index[d]);
        Temp high = emit_op(z, &to, KIND_BOOL, OP_lt, r->index[d], of->extent[d]);
        Temp in = emit_op(z, &to, KIND_BOOL, OP_and, low, high);
        there = there < 0 ? in : emit_op(z, &to, KIND_BOOL, OP_and, there, in);
    }
    if (there >= 0) {
        Stmt *branch = statement(z, ST_IF, -1, 1, &there);
        branch->body = ARENA_NEW(z->arena, Block), branch->other = ARENA_NEW(z->arena, Block);
        vec_push(&branch->body->stmts, copy);
        copy = branch;
    }
    vec_push(&to.stmts, copy);
    for (int i = to.stmts.len; i-- > 0;) block_insert(z->loop->body, 0, to.stmts.data[i]);
    vec_free(&to.stmts);
}

// The buffer for a row, made before the loop, and copied where it has to be.
static void make_row(Stager *z, Row *r, Buf *of, bool changed) {
    Temp extent[RANK_MAX];
    int n = r->n;
    for (int k = 0; k < n; k++) extent[k] = of->extent[r->own[k]];
    Buf *row = ARENA_NEW(z->arena, Buf);
    *row = (Buf){.id = z->tree->bufs.len, .where = BUF_TEMP, .kind = of->kind, .rank = n};
    row->home = z->loop->body, row->lanes = z->loop->lanes;
    row->extent = arena_copy(z->arena, extent, sizeof *extent * (size_t)n);
    vec_push(&z->tree->bufs, row);
    Stmt *make = statement(z, ST_NEW, -1, 0, NULL);
    make->buf = r->copy = row;
    int place = 0;
    while (z->block->stmts.data[place] != z->loop) place++;
    block_insert(z->block, place, make);
    if (!is_overwritten(z, of, r->at)) begin_with_copy(z, r, of);
    if (changed) vec_push(&z->loop->body->stmts, copy_row(z, r, of, true));
}

static bool same_row(const Row *a, const Row *b) {
    if (a->of != b->of || a->at != b->at) return false;
    for (int d = 0; d < a->of->rank; d++)
        if (is_own(a, d) != is_own(b, d) || (!is_own(a, d) && a->index[d] != b->index[d])) return false;
    return true;
}

// The row that a statement accesses, made when it is first asked for.
static const Row *row_of(Stager *z, const Stmt *move, bool changed) {
    Row row = describe(z, move, row_dimension(z, move));
    for (int i = 0; i < z->rows.len; i++)
        if (same_row(&z->rows.data[i], &row)) return &z->rows.data[i];
    for (int i = 0; i < z->moves.len; i++) {
        const Stmt *s = z->moves.data[i];
        if (s->buf != row.of || !map_get(&z->certain, s)) continue;
        const Row o = describe(z, s, row_dimension(z, s));
        row.certain |= same_row(&o, &row);
    }
    make_row(z, &row, move->buf, changed);
    vec_push(&z->rows, row);
    return &vec_last(&z->rows);
}

// Lets a statement access the row instead.
static void redirect(Stmt *move, const Row *row) {
    int first = move->kind == ST_LOAD ? 0 : 1;
    for (int k = 0; k < row->n; k++) move->args[first + k] = move->args[first + row->own[k]];
    move->nargs = first + row->n, move->buf = row->copy;
}

// Loads of single elements of rows that there are, too.
static void redirect_others(Stager *z) {
    for (int i = 0; i < z->all.len; i++) {
        Stmt *s = z->all.data[i];
        for (int k = 0; s->kind == ST_LOAD && k < z->rows.len && !s->buf->lanes; k++) {
            const Row *r = &z->rows.data[k];
            if (r->of == s->buf && r->n == s->buf->rank - 1 && stmt_index(s)[r->at] == z->loop->dst) redirect(s, r);
        }
    }
}

// Does the loop access b in the iteration's own rows only, whole ones?
static bool in_whole_row(const Stager *z, const Stmt *move) {
    int at = row_dimension(z, move);
    return describe(z, move, at).n == move->buf->rank - 1 && in_row(z, move->buf, at);
}

// The length of rows of b, if it may be that these should not be copied; else -1.
static Temp doubtful_length(const Stager *z, const Buf *b) {
    for (int i = 0; i < z->again.len; i++)
        if (z->again.data[i] == b) return -1;
    Temp length = b->extent[b->rank - 1];
    const Stmt *def = z->def[length];
    return def && def->kind == ST_LIT && def->u.num <= z->long_row ? -1 : length;
}

// Are all rows that are gone over once short? Emits that; -1 if there are none.
static Temp emit_all_short(Stager *z, Block *to) {
    Temp limit = new_temp(z, KIND_INT, false), all = -1;
    vec_push(&to->stmts, statement(z, ST_LIT, limit, 0, NULL));
    vec_last(&to->stmts)->u.num = z->long_row;
    for (int i = 0; i < z->once.len; i++) {
        Temp length = doubtful_length(z, z->once.data[i]);
        bool seen = length < 0;
        for (int k = 0; k < i; k++) seen |= doubtful_length(z, z->once.data[k]) == length;
        if (seen) continue;
        Temp is_short = emit_op(z, to, KIND_BOOL, OP_le, length, limit);
        all = all < 0 ? is_short : emit_op(z, to, KIND_BOOL, OP_and, all, is_short);
    }
    return all;
}

// Where rows may be long that are gone over once: the loop with lanes if they are short, otherwise as it was. The place of
// the loop becomes that of the branch; z->block is then the branch with lanes.
static void choose_by_length(Stager *z) {
    Block before = {0};
    Temp all = emit_all_short(z, &before);
    if (all >= 0) {
        Stmt *branch = statement(z, ST_IF, -1, 1, &all);
        branch->body = ARENA_NEW(z->arena, Block), branch->other = ARENA_NEW(z->arena, Block);
        vec_push(&branch->other->stmts, tree_clone(z->arena, z->tree, z->loop));
        vec_last(&branch->other->stmts)->lanes = 0;
        unmark_copies(vec_last(&branch->other->stmts)->body);
        vec_push(&branch->body->stmts, z->loop);
        int place = 0;
        while (z->block->stmts.data[place] != z->loop) place++;
        z->block->stmts.data[place] = branch;
        for (int i = 0; i < before.stmts.len; i++) block_insert(z->block, place + i, before.stmts.data[i]);
        z->block = branch->body;
    }
    vec_free(&before.stmts);
}

// ---- runs

static void before_loop(Stager *z, Stmt *s) {
    int place = 0;
    while (z->block->stmts.data[place] != z->loop) place++;
    block_insert(z->block, place, s);
}

static Temp literal_before(Stager *z, int64_t value) {
    Temp t = new_temp(z, KIND_INT, false);
    Stmt *s = statement(z, ST_LIT, t, 0, NULL);
    s->u.num = value;
    before_loop(z, s);
    return t;
}

static Temp add_to(Stager *z, Block *to, Temp a, Temp b) {
    Temp t = emit_op(z, to, KIND_INT, OP_add, a, b);
    TempInfo *sum = &z->tree->temps.data[t];
    const TempInfo *of = &z->tree->temps.data[a]; // b is the same in all lanes
    sum->varies = of->varies, sum->step = of->step;
    return t;
}

// for j < length: out[…, root + offset + j] = row[j]
static Stmt *copy_run(Stager *z, const Run *run, Buf *row) {
    const Stmt *store = run->move;
    Temp j = new_temp(z, KIND_INT, false), value = new_temp(z, row->kind, true), *args;
    Stmt *loop = statement(z, ST_FOR, j, 1, row->extent);
    loop->rows = true, loop->body = ARENA_NEW(z->arena, Block);
    Temp at = run->offset ? add_to(z, loop->body, j, literal_before(z, run->offset)) : j;
    if (run->root >= 0) at = add_to(z, loop->body, run->root, at);
    args = arena_copy(z->arena, store->args, sizeof *args * (size_t)store->nargs);
    args[0] = value, args[store->nargs - 1] = at;
    vec_push(&loop->body->stmts, statement(z, ST_LOAD, value, 1, &j));
    vec_last(&loop->body->stmts)->buf = row;
    vec_push(&loop->body->stmts, statement(z, ST_STORE, -1, store->nargs, args));
    vec_last(&loop->body->stmts)->buf = store->buf, vec_last(&loop->body->stmts)->once = store->once;
    return loop;
}

// The elements of a run that is these, once or several times: both rows of a point in a sparse Jacobian have the same columns.
// Few elements are not worth it.
static int period(const Run *run) {
    enum { LEAST = 4 };
    int n = run->length;
    for (int k = LEAST; 2 * k <= n; k++) {
        bool same = n % k == 0;
        for (int i = k; same && i < n; i++) same = run[i].move->args[0] == run[i - k].move->args[0];
        if (same) return k;
    }
    return n;
}

// A buffer of the lanes' own for n elements.
static Buf *run_buffer(Stager *z, const Run *run, int n) {
    Temp length = literal_before(z, n);
    Buf *row = ARENA_NEW(z->arena, Buf);
    *row = (Buf){.id = z->tree->bufs.len, .where = BUF_TEMP, .kind = run->move->buf->kind, .rank = 1};
    row->home = z->loop->body, row->lanes = z->loop->lanes;
    row->extent = arena_copy(z->arena, &length, sizeof length);
    vec_push(&z->tree->bufs, row);
    Stmt *make = statement(z, ST_NEW, -1, 0, NULL);
    make->buf = row;
    before_loop(z, make);
    return row;
}

static int64_t bytes_of(const Run *run) { return run->length * (int64_t)kind_size(run->move->buf->kind); }

// Results go through the caches once: those whose rows are long are worth a thought.
static bool is_long_result(const Run *run) { return run->move->buf->where == BUF_OUTPUT && bytes_of(run) > CACHE_LINE; }

static void stage_run(Stager *z, const Run *run) {
    int n = period(run), all = run->length;
    Buf *row = run_buffer(z, run, n), *wait = NULL;
    // Rows begin there where they do within a line in memory: there is room for a line more, of at least so many lanes.
    if (z->streams && is_long_result(run)) wait = run_buffer(z, run, all + CACHE_LINE / LANES_MASKED / (int)kind_size(row->kind));
    for (int k = 0; k < all; k += n) {
        Stmt *copy = copy_run(z, run + k, row);
        if (is_long_result(run)) copy->whole = all, copy->from = k;
        if (wait) copy->src = wait, copy->streams = z->streams * all;
        vec_push(&z->loop->body->stmts, copy);
    }
    for (int k = 0; k < all; k++) {
        Stmt *s = run[k].move;
        Temp args[] = {s->args[0], k < n ? literal_before(z, k) : -1};
        s->args = arena_copy(z->arena, args, sizeof args), s->nargs = 2, s->buf = row, s->once = false;
        if (k >= n) block_remove(z->loop->body, s);
    }
}

// stream: of machine.def; 0: nothing goes past the caches.
static void stage_runs(Stager *z, int known, double stream) {
    Run *run;
    int n = lanes_runs(z->arena, z->tree, z->loop, z->def, known, &run);
    int64_t bytes = 0;
    for (int i = 0; i < n; i += run[i].length) bytes += is_long_result(run + i) ? bytes_of(run + i) : 0;
    if (stream > 0 && bytes > 0) z->streams = (int64_t)(stream / (double)bytes) + 1;
    for (int i = 0; i < n; i += run[i].length)
        if (run[i].length > 1) stage_run(z, run + i);
}

// for j < length: row[j] = x[…, offset + j], before the first of the loads, which read row[…] then.
static void stage_load(Stager *z, int n, const Run *load) {
    const Stmt *any = load->move;
    Buf *row = run_buffer(z, load, load->length), *of = any->buf;
    Temp j = new_temp(z, KIND_INT, false), value = new_temp(z, of->kind, true), *index;
    Stmt *loop = statement(z, ST_FOR, j, 1, row->extent);
    loop->rows = true, loop->body = ARENA_NEW(z->arena, Block);
    index = arena_copy(z->arena, any->args, sizeof *index * (size_t)any->nargs);
    int64_t first = load->offset - load->at;
    index[any->nargs - 1] = first ? add_to(z, loop->body, j, literal_before(z, first)) : j;
    vec_push(&loop->body->stmts, statement(z, ST_LOAD, value, any->nargs, index));
    vec_last(&loop->body->stmts)->buf = of;
    Temp args[] = {value, j};
    vec_push(&loop->body->stmts, statement(z, ST_STORE, -1, 2, args));
    vec_last(&loop->body->stmts)->buf = row;
    int place = 0;
    for (bool found = false; !found; place += !found)
        for (int i = 0; i < n; i++) found |= load[i].move == z->loop->body->stmts.data[place];
    block_insert(z->loop->body, place, loop);
    for (int i = 0; i < n; i++) {
        Temp at = literal_before(z, load[i].at);
        load[i].move->args = arena_copy(z->arena, &at, sizeof at), load[i].move->nargs = 1, load[i].move->buf = row;
    }
}

static void stage_loads(Stager *z, int known) {
    Run *load;
    int n = lanes_row_loads(z->arena, z->tree, z->loop, z->def, known, &load), end;
    for (int i = 0; i < n; i = end) {
        for (end = i + 1; end < n && load[end].root == load[i].root;) end++;
        stage_load(z, end - i, load + i);
    }
}

void loops_stage(Arena *arena, Tree *tree, const LoopOptions *opt, const LaneLoop *at) {
    Stmt *loop = at->loop;
    Stager z = {.arena = arena, .tree = tree, .def = at->def, .block = at->block, .loop = loop};
    z.long_row = (int64_t)opt->machine->long_row;
    mark_copies(&z);
    find(&z, loop->body);
    if (!stmt_wish(loop, WISH_lane) && !loop->short_rows) choose_by_length(&z);
    stage_runs(&z, at->known, opt->width >= LANES_MASKED ? opt->machine->stream : 0);
    stage_loads(&z, at->known);
    for (int i = 0; i < z.moves.len; i++) {
        Stmt *move = z.moves.data[i];
        if (move->buf->lanes) continue; // it has been redirected
        bool changed = changes(loop->body, move->buf);
        if (!changed) redirect(move, row_of(&z, move, false));
        else if (in_whole_row(&z, move)) {
            const Buf *of = move->buf;
            Row row = *row_of(&z, move, true);
            for (int k = 0; k < z.all.len; k++)
                if (z.all.data[k]->buf == of) redirect(z.all.data[k], &row);
        }
    }
    redirect_others(&z);
    vec_free(&z.around);
    vec_free(&z.moves);
    map_free(&z.certain);
    vec_free(&z.all);
    vec_free(&z.rows);
    vec_free(&z.again);
    vec_free(&z.once);
}
