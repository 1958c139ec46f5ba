// Threads: loops that are cut into chunks of iterations, each of which may run in a thread of its own.
//
//     if n * work < … { for i < n { … } }              as it was
//     else {
//       size = chunk(n, work, …)
//       threads for c < (n + size - 1) / size {
//         var sum_c = 0                                what the loop adds up, of this chunk
//         for i = c * size < min(c * size + size, n) { … }
//         sums[c] = sum_c
//       }
//       for c < … { sum = sum + sums[c] }              in the order of the chunks
//     }
//
// Sizes of chunks depend on extents alone, so that results do not depend on the number of threads. Of nested loops the
// outermost is cut whose iterations are independent (independent.c). If it has few, as one over the elements of a small array,
// each of them a sum over data, and those inside have much to do, it runs as it was but for these, which are cut; if it has lanes,
// chunks of the loop inside come to stand outside of it, and leave sums for all of its iterations. Each chunk has its own copy of
// an array that all of them add to, and of what is new in each iteration; what chunks cost is in the estimate from which `chunk`
// finds the size.
#include "lower/independent.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"

#include "fsmc/runtime_internal.h"

#include <math.h>
#include <string.h>

// What the estimate assumes besides machine.def: what LLVM's own vectors leave of the time, which is more of a loop that only moves
// elements, since memory limits it; and how many times dearer a copy is if each lane has one, too. A loop of less than LEAST_TRIPS
// iterations is not worth cutting; one of less than FEW_TRIPS need not share them out evenly. Chunks are SMALL iterations where
// all loops are cut.
enum { LEAST_TRIPS = 8, FEW_TRIPS = 32, SMALL = 2, COPIES = 3, BLOCK = 8, DEEP = 32, LARGEST_TREE = 100000 };
static const double BY_ITSELF = 0.25, MOVES = 0.75, MOST_INSIDE = 0.8;

typedef struct Sum { // a cell from outside
    Temp cell;
    Op by; // OP_add, OP_min or OP_max
    Temp own;
    Buf *all; // of the chunks
} Sum;

typedef struct Copy { // an array from outside
    Buf *of, *own, *all;
} Copy;

typedef struct Cut {
    Block *block; // with the loop in it
    Stmt *loop;   // or, of an array that is filled or copied, one that does so
    Stmt *was;    // what is in the block
    VEC(Sum) sums;
    VEC(Copy) copies;
    VEC(struct Cut *) inside; // of loops in it, where it has few iterations
    bool inner;               // it is one of those
    struct Cut *turned;       // of a loop with lanes: the only loop in it, which adds up numbers; it may come to stand outside
} Cut;

typedef struct Threads {
    Arena *arena;
    Tree *tree;
    const Machine *machine;
    bool always; // loops are cut whether or not that pays
    Iterations it;
    int known; // temps that it knows of
    VEC(Cut *) cuts;
    // While a loop is cut:
    Map inside;  // a temp's number + 1 -> what makes it in the loop
    Map temp;    // the same -> what takes its place in the chunks, likewise
    Map buf;     // a buffer -> what takes its place
    Map value;   // a temp's number + 1 -> Cost: what the estimate takes it for
    Block *into; // where statements go
    Span span;
} Threads;

static void *key_of(Temp t) { return (void *)((intptr_t)t + 1); }

// ---- which loops

static Cut *new_cut(Threads *z, Block *block, Stmt *loop, Stmt *was) {
    Cut *c = ARENA_NEW(z->arena, Cut);
    *c = (Cut){.block = block, .loop = loop, .was = was};
    return c;
}

// With what has been found of its iterations.
static Cut *cut_of(Threads *z, Block *block, Stmt *loop) {
    Iterations *it = &z->it;
    Cut *c = new_cut(z, block, loop, loop);
    for (int i = 0; i < it->sums.len; i++) vec_push(&c->sums, ((Sum){.cell = it->sums.data[i], .by = it->joins[it->sums.data[i]]}));
    Buf **shared;
    for (int i = 0, n = iter_shared(it, &shared); i < n; i++) vec_push(&c->copies, ((Copy){.of = shared[i]}));
    return c;
}

// What is added to in another order is not what it was.
static bool keeps_order(const Threads *z, const Cut *c) {
    for (int i = 0; z->it.precise && i < c->copies.len; i++)
        if (kind_is_float(c->copies.data[i].of->kind)) return false;
    return true;
}

static void forget_cut(Cut *c) {
    vec_free(&c->sums);
    vec_free(&c->copies);
    vec_free(&c->inside);
    if (c->turned) forget_cut(c->turned);
}

static Cut *find_cut(Threads *z, Block *block, Stmt *s) {
    int64_t n;
    if (s->parts) {
        vec_push(&z->cuts, new_cut(z, block, s, s));
        return z->cuts.data[z->cuts.len - 1];
    }
    if (s->few && !z->always) return NULL;
    if (iter_literal(&z->it, s->args[0], &n) && n < (z->always ? 2 : LEAST_TRIPS)) return NULL;
    bool apart = iter_look(&z->it, s, false);
    Cut *c = apart ? cut_of(z, block, s) : NULL;
    iter_forget(&z->it);
    if (c && keeps_order(z, c)) vec_push(&z->cuts, c);
    else if (c) forget_cut(c), c = NULL;
    return c;
}

// Has it, as far as is known, few iterations? Lanes run over more, or do not pay.
static bool may_be_short(const Threads *z, const Stmt *loop) {
    int64_t n;
    return !loop->lanes && !(iter_literal(&z->it, loop->args[0], &n) && n >= FEW_TRIPS);
}

static void note_blocks(Map *blocks, const Block *b) {
    if (!b) return;
    map_put(blocks, b, (void *)b);
    for (int i = 0; i < b->stmts.len; i++) {
        note_blocks(blocks, b->stmts.data[i]->body);
        note_blocks(blocks, b->stmts.data[i]->other);
    }
}

static bool is_simple(const Stmt *s) {
    return s->kind == ST_LIT || s->kind == ST_OP || s->kind == ST_CONV || s->kind == ST_SELECT || s->kind == ST_CELL ||
           s->kind == ST_GET || s->kind == ST_LOAD;
}

static bool has_own_buffers(const Threads *z, const Stmt *loop) {
    Map blocks = {0};
    bool has = false;
    note_blocks(&blocks, loop->body);
    for (int i = 0; i < z->tree->bufs.len; i++) has |= z->tree->bufs.data[i]->home && map_get(&blocks, z->tree->bufs.data[i]->home);
    map_free(&blocks);
    return has;
}

// The first statement of the block's first n that makes t, or NULL.
static const Stmt *made_by(const Block *block, int n, Temp t) {
    for (int i = 0; i < n; i++)
        if (block->stmts.data[i]->dst == t) return block->stmts.data[i];
    return NULL;
}

// The only loop of one with lanes, if it does nothing but add up numbers in cells of the lanes, over a range that they share.
static Cut *find_turned(Threads *z, Stmt *lanes) {
    Block *body = lanes->body;
    int at = 0, loops = 0;
    while (at < body->stmts.len && is_simple(body->stmts.data[at])) at++;
    for (int i = 0; i < body->stmts.len; i++) loops += body->stmts.data[i]->body != NULL;
    Stmt *s = at < body->stmts.len ? body->stmts.data[at] : NULL;
    if (!s || s->kind != ST_FOR || loops != 1 || s->shifted || s->rows || block_may_fail(s->body) || has_own_buffers(z, lanes))
        return NULL;
    for (int k = 0; k < s->nargs; k++)
        if (s->args[k] == lanes->dst || made_by(body, at, s->args[k])) return NULL;
    bool good = iter_look(&z->it, s, false);
    Cut *c = good ? cut_of(z, body, s) : NULL;
    for (int i = 0; c && i < z->it.outside.len; i++) good &= z->it.outside.data[i]->kind == ST_LOAD;
    for (int i = 0; c && i < c->sums.len; i++) good &= made_by(body, at, c->sums.data[i].cell) != NULL;
    iter_forget(&z->it);
    if (c && good && c->sums.len && !c->copies.len) return c;
    if (c) forget_cut(c);
    return NULL;
}

// around: the cut of a loop around the block, or NULL.
static void find(Threads *z, Block *block, bool in_loop, Cut *around) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        Cut *c = s->kind == ST_FOR && !stmt_wish(s, WISH_sequential) ? find_cut(z, block, s) : NULL;
        if (c && around) vec_push(&around->inside, c), c->inner = true;
        if (c && s->lanes) c->turned = find_turned(z, s);
        if (c && (s->parts || !may_be_short(z, s))) continue;
        if (!in_loop && (s->kind == ST_FILL || s->kind == ST_COPY) && s->buf->rank) vec_push(&z->cuts, new_cut(z, block, NULL, s));
        bool inside = in_loop || s->kind == ST_FOR || s->kind == ST_LOOP;
        if (s->lanes) continue; // what is inside runs in lanes
        find(z, s->body, inside, c ? c : around);
        find(z, s->other, inside, c ? c : around);
    }
}

// All of them; what varies between lanes stays as it was.
static void find_all(Threads *z) {
    const TempInfo *before = arena_copy(z->arena, z->tree->temps.data, sizeof *before * (size_t)z->known);
    find(z, z->tree->body, false, NULL);
    for (int i = 0; i < z->known; i++) z->tree->temps.data[i] = before[i];
}

// ---- statements

static Stmt *put(Threads *z, StmtKind kind, Temp dst, int n, const Temp *args) {
    Stmt *s = ARENA_NEW(z->arena, Stmt);
    *s =
        (Stmt){.kind = kind, .dst = dst, .nargs = n, .args = arena_copy(z->arena, args, sizeof *args * (size_t)n), .span = z->span};
    vec_push(&z->into->stmts, s);
    return s;
}

static Temp new_temp(Threads *z, Kind kind, const char *name) {
    vec_push(&z->tree->temps, ((TempInfo){.kind = kind, .name = name}));
    return z->tree->temps.len - 1;
}

static Temp int_of(Threads *z, int64_t value) {
    Temp t = new_temp(z, KIND_INT, NULL);
    put(z, ST_LIT, t, 0, NULL)->u.num = value;
    return t;
}

static Temp real_of(Threads *z, Kind kind, double value) {
    Temp t = new_temp(z, kind, NULL);
    put(z, ST_LIT, t, 0, NULL)->u.real = value;
    return t;
}

static Temp op(Threads *z, Op o, Temp a, Temp b) {
    Temp t = new_temp(z, z->tree->temps.data[a].kind, NULL), args[] = {a, b};
    put(z, ST_OP, t, 2, args)->op = o;
    return t;
}

static Temp get(Threads *z, Temp cell) {
    Temp t = new_temp(z, z->tree->temps.data[cell].kind, NULL);
    put(z, ST_GET, t, 1, &cell);
    return t;
}

// A loop; statements go into it until the block that was open, which it returns, is put back.
static Block *begin_for(Threads *z, Temp index, int nargs, const Temp *args, Stmt **loop) {
    Block *outer = z->into;
    Stmt *s = put(z, ST_FOR, index, nargs, args);
    z->into = s->body = ARENA_NEW(z->arena, Block);
    if (loop) *loop = s;
    return outer;
}

static Temp load(Threads *z, Buf *b, int n, const Temp *index) {
    Temp t = new_temp(z, b->kind, NULL);
    put(z, ST_LOAD, t, n, index)->buf = b;
    return t;
}

static void store(Threads *z, StmtKind kind, Buf *b, Temp value, int n, const Temp *index) {
    Temp args[RANK_MAX + 2] = {value};
    memcpy(args + 1, index, sizeof *index * (size_t)n);
    put(z, kind, -1, n + 1, args)->buf = b;
}

// A buffer with the extents of `like` (NULL: none) after `first`, if that is one.
static Buf *new_buf(Threads *z, Kind kind, Temp first, const Buf *like) {
    Temp extent[RANK_MAX + 1];
    int n = 0;
    if (first >= 0) extent[n++] = first;
    for (int k = 0; like && k < like->rank; k++) extent[n++] = like->extent[k];
    Buf *b = ARENA_NEW(z->arena, Buf);
    *b = (Buf){.id = z->tree->bufs.len, .where = BUF_TEMP, .kind = kind, .rank = n, .home = z->into};
    b->extent = arena_copy(z->arena, extent, sizeof *extent * (size_t)n);
    vec_push(&z->tree->bufs, b);
    put(z, ST_NEW, -1, 0, NULL)->buf = b;
    return b;
}

// ---- the estimate: lit + t, in additions

typedef struct Cost {
    double lit;
    Temp t;      // a Double; -1: nothing
    double most; // it is not more than this, which may be INFINITY
} Cost;

static Cost cost_of(double lit) { return (Cost){lit, -1, lit}; }
static Cost cost_in(Temp t, double most) { return (Cost){0, t, most}; }

static Cost plus(Threads *z, Cost a, Cost b) {
    if (a.t >= 0 && b.t >= 0) a.t = op(z, OP_add, a.t, b.t);
    else if (b.t >= 0) a.t = b.t;
    a.lit += b.lit, a.most += b.most;
    return a;
}

static Temp temp_of(Threads *z, Cost a) {
    if (a.t < 0) return real_of(z, KIND_DOUBLE, a.lit);
    return a.lit ? op(z, OP_add, a.t, real_of(z, KIND_DOUBLE, a.lit)) : a.t;
}

static Cost times(Threads *z, Cost a, Cost b) {
    if (b.t < 0 && a.t >= 0) return times(z, b, a);
    if (b.t < 0) return (Cost){a.lit * b.lit, -1, a.most * b.most};
    if (a.t < 0 && !a.lit) return cost_of(0);
    if (a.t < 0 && a.lit == 1) return b;
    return cost_in(op(z, OP_mul, temp_of(z, a), temp_of(z, b)), a.most * b.most);
}

// How many iterations it has of which nothing else is known.
static Cost likely(const Threads *z) { return (Cost){z->machine->short_trips, -1, INFINITY}; }

// What an Int, the extent of a tile for example, is at most.
static double most_of(const Threads *z, Temp t, int depth) {
    const Stmt *s = t < z->known && depth < DEEP ? z->it.def[t] : NULL;
    if (!s || (s->kind != ST_OP && s->kind != ST_LIT && s->kind != ST_FOR)) return INFINITY;
    if (s->kind == ST_LIT) return (double)s->u.num;
    double a = most_of(z, s->args[0], depth + 1);
    if (s->kind == ST_FOR) return a;
    int64_t by;
    switch (s->op) {
    case OP_min: return fmin(a, most_of(z, s->args[1], depth + 1));
    case OP_max: return fmax(a, most_of(z, s->args[1], depth + 1));
    case OP_add: return a + most_of(z, s->args[1], depth + 1);
    case OP_idiv: return iter_literal(&z->it, s->args[1], &by) && by > 0 ? a / (double)by : INFINITY;
    default: return INFINITY;
    }
}

static Cost floor_of(Threads *z, Cost a) {
    if (a.t < 0) return cost_of(floor(a.lit));
    Temp t = new_temp(z, KIND_DOUBLE, NULL), arg = temp_of(z, a);
    put(z, ST_OP, t, 1, &arg)->op = OP_floor;
    return cost_in(t, a.most);
}

static Cost value_of(Threads *z, Temp t, int depth);

static Cost new_value_of(Threads *z, Temp t, int depth) {
    const Stmt *s = map_get(&z->inside, key_of(t));
    int64_t value;
    if (s && s->kind == ST_LIT) return cost_of((double)s->u.num);
    if (!s && t < z->known && iter_literal(&z->it, t, &value)) return cost_of((double)value);
    if (!s) {
        Temp real = new_temp(z, KIND_DOUBLE, NULL);
        put(z, ST_CONV, real, 1, &t);
        return cost_in(real, INFINITY);
    }
    if (depth == DEEP) return likely(z);
    if (s->kind == ST_FOR) return times(z, cost_of(0.5), plus(z, value_of(z, s->args[0], depth + 1), cost_of(-1)));
    if (s->kind != ST_OP || s->nargs != 2) return likely(z);
    bool known = s->op == OP_add || s->op == OP_sub || s->op == OP_mul || s->op == OP_min || s->op == OP_max || s->op == OP_idiv;
    if (!known) return likely(z);
    Cost a = value_of(z, s->args[0], depth + 1), b = value_of(z, s->args[1], depth + 1);
    if (s->op == OP_idiv) return b.t < 0 && b.lit > 0 ? floor_of(z, times(z, cost_of(1 / b.lit), a)) : likely(z);
    if (s->op == OP_add) return plus(z, a, b);
    if (s->op == OP_sub) return plus(z, a, times(z, cost_of(-1), b));
    if (s->op == OP_mul) return times(z, a, b);
    return cost_in(op(z, s->op, temp_of(z, a), temp_of(z, b)), INFINITY);
}

// An Int: its value, or if it is made in the loop, what it is in the middle of all iterations.
static Cost value_of(Threads *z, Temp t, int depth) {
    const Cost *known = map_get(&z->value, key_of(t));
    if (known) return *known;
    Cost c = new_value_of(z, t, depth);
    map_put(&z->value, key_of(t), arena_copy(z->arena, &c, sizeof c));
    return c;
}

static Cost number(Threads *z, Temp t) {
    Cost n = value_of(z, t, 0);
    n.most = most_of(z, t, 0);
    return n;
}

static Cost elements(Threads *z, const Buf *b) {
    Cost n = cost_of(1);
    for (int k = 0; k < b->rank; k++) n = times(z, n, number(z, b->extent[k]));
    return n;
}

// What vectors leave of the time of an iteration; inside of a loop with lanes, that has been counted.
static double by_vectors(const Threads *z, const Stmt *loop, bool in_lanes) {
    if (loop->lanes || in_lanes) return in_lanes ? 1 : 1 / z->machine->lanes;
    bool computes = false;
    for (int i = 0; i < loop->body->stmts.len; i++) {
        const Stmt *s = loop->body->stmts.data[i];
        if (s->body || s->kind == ST_CHECK || (s->kind == ST_OP && op_info[s->op].cost >= op_info[OP_exp].cost)) return 1;
        computes |= s->kind != ST_LIT && s->kind != ST_LOAD && s->kind != ST_STORE;
    }
    return computes ? BY_ITSELF : MOVES;
}

static Cost work(Threads *z, const Block *block, bool in_lanes) {
    Cost sum = cost_of(0);
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        switch (s->kind) {
        case ST_LIT: break;
        case ST_OP: sum.lit += machine_op(z->machine, s->op); break;
        case ST_ADDTO: sum.lit += 2; break;
        case ST_FILL:
        case ST_COPY: sum = plus(z, sum, elements(z, s->buf)); break;
        case ST_MOVE: sum = plus(z, sum, elements(z, s->src)); break;
        case ST_FOR: {
            Cost each = times(z, cost_of(by_vectors(z, s, in_lanes)),
                              plus(z, cost_of(z->machine->trip), work(z, s->body, in_lanes || s->lanes)));
            sum = plus(z, sum, times(z, each, number(z, s->args[0])));
            break;
        }
        case ST_LOOP: sum = plus(z, sum, times(z, likely(z), work(z, s->body, in_lanes))); break;
        case ST_IF:
            sum =
                plus(z, sum,
                     times(z, (Cost){z->machine->taken, -1, 1}, plus(z, work(z, s->body, in_lanes), work(z, s->other, in_lanes))));
            break;
        default: sum.lit += 1; break;
        }
    }
    return sum;
}

static int64_t block_of(const Cut *c) { return c->loop->lanes ? BLOCK * c->loop->lanes : 1; }

static Cost iteration(Threads *z, const Cut *c) {
    return times(z, cost_of(by_vectors(z, c->loop, false)),
                 plus(z, cost_of(z->machine->trip), work(z, c->loop->body, c->loop->lanes)));
}

// What a chunk copies, weighted.
static Cost copies(Threads *z, const Cut *c) {
    const Stmt *loop = c->loop;
    Cost sum = cost_of((double)c->sums.len);
    for (int i = 0; i < c->copies.len; i++) {
        double factor = z->machine->copy;
        for (int k = 0; k < loop->nin; k++)
            if (loop->in[k] == c->copies.data[i].of) factor = COPIES * z->machine->copy;
        sum = plus(z, sum, times(z, cost_of(factor), elements(z, c->copies.data[i].of)));
    }
    return sum;
}

// ---- cutting

static void mark_inside(Threads *z, const Stmt *s) {
    if (s->dst >= 0 && s->kind != ST_SET) map_put(&z->inside, key_of(s->dst), (void *)s);
    const Block *blocks[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; blocks[k] && i < blocks[k]->stmts.len; i++) mark_inside(z, blocks[k]->stmts.data[i]);
}

// ---- the copy of the loop that chunks run

static Temp temp_in(const Threads *z, Temp t) {
    intptr_t other = t >= 0 ? (intptr_t)map_get(&z->temp, key_of(t)) : 0;
    return other ? (Temp)(other - 1) : t;
}

static Buf *buf_in(const Threads *z, Buf *b) {
    Buf *other = b ? map_get(&z->buf, b) : NULL;
    return other ? other : b;
}

static void copy_buf(Threads *z, Buf *b) {
    Buf *own = ARENA_NEW(z->arena, Buf);
    *own = *b;
    own->id = z->tree->bufs.len, own->home = z->into;
    own->extent = ARENA_ARRAY(z->arena, Temp, b->rank);
    for (int k = 0; k < b->rank; k++) own->extent[k] = temp_in(z, b->extent[k]);
    vec_push(&z->tree->bufs, own);
    map_put(&z->buf, b, own);
}

static bool is_used_in(const Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->buf == b || s->src == b || is_used_in(s->body, b) || is_used_in(s->other, b)) return true;
    }
    return false;
}

// What is new in each iteration, but comes into being outside of the loop: each chunk has its own.
static void own_buffers(Threads *z, const Stmt *loop) {
    Map blocks = {0};
    note_blocks(&blocks, loop->body);
    for (int i = 0, n = z->tree->bufs.len; i < n; i++) {
        Buf *b = z->tree->bufs.data[i];
        if (!b->home || !map_get(&blocks, b->home) || block_find_new(loop->body, b) || !is_used_in(loop->body, b)) continue;
        copy_buf(z, b);
        put(z, ST_NEW, -1, 0, NULL)->buf = buf_in(z, b);
    }
    map_free(&blocks);
}

static Temp neutral(Threads *z, const Sum *s) {
    Kind kind = z->tree->temps.data[s->cell].kind;
    if (s->by != OP_add) return get(z, s->cell);
    return kind_is_float(kind) ? real_of(z, kind, 0) : int_of(z, 0);
}

static void begin_chunk(Threads *z, Cut *c) {
    for (int i = 0; i < c->sums.len; i++) {
        Sum *s = &c->sums.data[i];
        Temp zero = neutral(z, s);
        s->own = new_temp(z, z->tree->temps.data[s->cell].kind, NULL);
        z->tree->temps.data[s->own].cell = true;
        map_put(&z->temp, key_of(s->cell), key_of(s->own));
        put(z, ST_CELL, s->own, 1, &zero);
    }
    for (int i = 0; i < c->copies.len; i++) {
        Copy *p = &c->copies.data[i];
        p->own = new_buf(z, p->of->kind, -1, p->of);
        map_put(&z->buf, p->of, p->own);
        Temp zero = kind_is_float(p->of->kind) ? real_of(z, p->of->kind, 0) : int_of(z, 0);
        put(z, ST_FILL, -1, 1, &zero)->buf = p->own;
    }
}

// For every element: to[first, i…] = from[i…], or (ST_ADDTO) to[i…] += from[first, i…].
static void all_elements(Threads *z, StmtKind kind, Buf *to, Buf *from, Temp first) {
    const Buf *like = kind == ST_STORE ? from : to;
    Block *outer = z->into;
    Temp index[RANK_MAX + 1] = {first};
    for (int k = 0; k < like->rank; k++) {
        index[k + 1] = new_temp(z, KIND_INT, "i");
        begin_for(z, index[k + 1], 1, &like->extent[k], NULL);
    }
    bool from_chunk = kind == ST_STORE;
    Temp v = load(z, from, from->rank, from_chunk ? index + 1 : index);
    store(z, kind, to, v, to->rank, from_chunk ? index : index + 1);
    z->into = outer;
}

static void end_chunk(Threads *z, const Cut *c, Temp chunk) {
    for (int i = 0; i < c->sums.len; i++) store(z, ST_STORE, c->sums.data[i].all, get(z, c->sums.data[i].own), 1, &chunk);
    for (int i = 0; i < c->copies.len; i++) all_elements(z, ST_STORE, c->copies.data[i].all, c->copies.data[i].own, chunk);
}

static void add_up(Threads *z, const Cut *c, Temp chunks) {
    if (!c->sums.len && !c->copies.len) return;
    Temp chunk = new_temp(z, KIND_INT, "c");
    Block *outer = begin_for(z, chunk, 1, &chunks, NULL);
    for (int i = 0; i < c->sums.len; i++) {
        const Sum *s = &c->sums.data[i];
        Temp sum = op(z, s->by, get(z, s->cell), load(z, s->all, 1, &chunk));
        put(z, ST_SET, s->cell, 1, &sum);
    }
    for (int i = 0; i < c->copies.len; i++) all_elements(z, ST_ADDTO, c->copies.data[i].of, c->copies.data[i].all, chunk);
    z->into = outer;
}

// How many iterations it has, and number k of them, counted from 0.
static Temp trips(Threads *z, const Stmt *loop) {
    return loop->nargs > 1 ? op(z, OP_sub, loop->args[0], loop->args[1]) : loop->args[0];
}

static Temp iteration_at(Threads *z, const Stmt *loop, Temp k) { return loop->nargs > 1 ? op(z, OP_add, loop->args[1], k) : k; }

// Of so many iterations each there are that many.
static Temp chunks_of(Threads *z, Temp n, Temp size) {
    return op(z, OP_idiv, op(z, OP_sub, op(z, OP_add, n, size), int_of(z, 1)), size);
}

// n: how many iterations there are.
static void put_chunks(Threads *z, Cut *c, Temp n, Temp size) {
    Stmt *threads;
    Temp chunks = chunks_of(z, n, size), chunk = new_temp(z, KIND_INT, "c");
    for (int i = 0; i < c->sums.len; i++)
        c->sums.data[i].all = new_buf(z, z->tree->temps.data[c->sums.data[i].cell].kind, chunks, NULL);
    for (int i = 0; i < c->copies.len; i++)
        c->copies.data[i].all = new_buf(z, c->copies.data[i].of->kind, chunks, c->copies.data[i].of);
    Block *outer = begin_for(z, chunk, 1, &chunks, &threads);
    threads->threads = true;
    begin_chunk(z, c);
    own_buffers(z, c->loop);
    Temp first = op(z, OP_mul, chunk, size), end = op(z, OP_min, op(z, OP_add, first, size), n);
    Temp args[] = {iteration_at(z, c->loop, end), iteration_at(z, c->loop, first)};
    Stmt *loop = tree_clone_with(z->arena, z->tree, c->loop, &z->temp, &z->buf);
    loop->args = arena_copy(z->arena, args, sizeof args);
    loop->nargs = 2, loop->shifted = false;
    vec_push(&z->into->stmts, loop);
    end_chunk(z, c, chunk);
    z->into = outer;
    add_up(z, c, chunks);
}

static Temp compare(Threads *z, Op o, Temp a, Temp b) {
    Temp t = new_temp(z, KIND_BOOL, NULL), args[] = {a, b};
    put(z, ST_OP, t, 2, args)->op = o;
    return t;
}

// Would there be one chunk?
static Temp is_little(Threads *z, const Cut *c, Cost all, Cost copied) {
    Temp least = real_of(z, KIND_DOUBLE, 2 * z->machine->chunk);
    if (copied.t >= 0 || copied.lit > z->machine->chunk / FSM_COPY_WORK)
        least = op(z, OP_max, least, temp_of(z, times(z, cost_of(2.0 * FSM_COPY_WORK), copied)));
    Temp little = compare(z, OP_lt, temp_of(z, all), least);
    if (block_of(c) == 1) return little;
    return compare(z, OP_or, little, compare(z, OP_le, c->loop->args[0], int_of(z, block_of(c))));
}

// Has the loop few iterations, and do those inside, which take most of the time, have so much to do that it is better to cut these?
// -1: no.
static Temp is_for_those_inside(Threads *z, const Cut *c, Temp trips, Cost one) {
    Cost inner = cost_of(0);
    int count = 0;
    for (int i = 0; i < c->inside.len; i++) {
        const Cut *in = c->inside.data[i];
        Cost all = times(z, number(z, in->loop->args[0]), iteration(z, in));
        if (all.most < 2 * z->machine->chunk) continue;
        inner = plus(z, inner, all), count++;
    }
    if (!count) return -1;
    Cost n = number(z, trips);
    Temp few = compare(z, OP_lt, temp_of(z, n), real_of(z, KIND_DOUBLE, FEW_TRIPS));
    Temp long_enough = compare(z, OP_le, temp_of(z, times(z, cost_of(count * z->machine->chunk), n)), temp_of(z, inner));
    Temp most = compare(z, OP_le, temp_of(z, times(z, cost_of(MOST_INSIDE), one)), temp_of(z, inner));
    return compare(z, OP_and, few, compare(z, OP_and, long_enough, most));
}

// ---- loops with lanes over a few elements
//
//     threads for c < … { lanes for k < n { …; sum = 0; for i = c * size < … { … }; sums[c, k] = sum } }
//     lanes for k < n { …; for c < … { sum = sum + sums[c, k] }; … }

static Temp in_lanes(Threads *z, Temp t) {
    z->tree->temps.data[t].varies = true, z->tree->temps.data[t].step = STEP_ANY;
    return t;
}

// The loop with lanes, with what is in the block instead of its body, copied to where statements go.
static void put_lanes(Threads *z, const Stmt *lanes, Block *body) {
    Stmt loop = *lanes;
    loop.body = body;
    map_free(&z->temp), map_free(&z->buf);
    z->temp = z->buf = (Map){0};
    vec_push(&z->into->stmts, tree_clone_with(z->arena, z->tree, &loop, &z->temp, &z->buf));
}

// What is in it before or after the loop that adds up.
static void put_rest(Threads *z, const Cut *c, bool after) {
    const Block *body = c->loop->body;
    int at = 0;
    while (body->stmts.data[at] != c->turned->loop) at++;
    for (int i = after ? at + 1 : 0; i < (after ? body->stmts.len : at); i++) vec_push(&z->into->stmts, body->stmts.data[i]);
}

static void put_turned(Threads *z, const Cut *c, Temp n, Temp size) {
    Cut *in = c->turned;
    Stmt *threads, loop = *in->loop, lanes = *c->loop;
    Temp chunks = chunks_of(z, n, size), chunk = new_temp(z, KIND_INT, "c");
    const Buf row = {.rank = 1, .extent = (Temp[]){op(z, OP_max, c->loop->args[0], int_of(z, 0))}};
    for (int i = 0; i < in->sums.len; i++)
        in->sums.data[i].all = new_buf(z, z->tree->temps.data[in->sums.data[i].cell].kind, chunks, &row);
    Block *outer = begin_for(z, chunk, 1, &chunks, &threads), *each = z->into;
    threads->threads = true;
    Temp first = op(z, OP_mul, chunk, size), end = op(z, OP_min, op(z, OP_add, first, size), n);
    Temp args[] = {iteration_at(z, in->loop, end), iteration_at(z, in->loop, first)};
    Temp index[] = {chunk, c->loop->dst};
    z->into = ARENA_NEW(z->arena, Block);
    put_rest(z, c, false);
    for (int i = 0; i < in->sums.len; i++) {
        const Sum *s = &in->sums.data[i];
        Temp zero = s->by == OP_add ? neutral(z, s) : -1;
        if (zero >= 0) put(z, ST_SET, s->cell, 1, &zero);
    }
    loop.args = args, loop.nargs = 2;
    vec_push(&z->into->stmts, &loop);
    for (int i = 0; i < in->sums.len; i++)
        store(z, ST_STORE, in->sums.data[i].all, in_lanes(z, get(z, in->sums.data[i].cell)), 2, index);
    lanes.nin = 0, lanes.streams = 0;
    Block *body = z->into;
    z->into = each;
    put_lanes(z, &lanes, body);
    vec_free(&body->stmts);
    z->into = ARENA_NEW(z->arena, Block);
    put_rest(z, c, false);
    index[0] = new_temp(z, KIND_INT, "c");
    Block *around = begin_for(z, index[0], 1, &chunks, NULL);
    for (int i = 0; i < in->sums.len; i++) {
        const Sum *s = &in->sums.data[i];
        Temp sum = in_lanes(z, op(z, s->by, in_lanes(z, get(z, s->cell)), in_lanes(z, load(z, s->all, 2, index))));
        put(z, ST_SET, s->cell, 1, &sum);
    }
    Block *adding = z->into;
    z->into = around;
    put_rest(z, c, true);
    body = z->into, z->into = outer;
    put_lanes(z, c->loop, body);
    vec_free(&body->stmts), vec_free(&adding->stmts);
}

// Has the loop with lanes few iterations, which do little but add up numbers, and are they much to do? Sets the work of an
// iteration of the loop that adds them up, for all of its own.
static Temp is_turned(Threads *z, const Cut *c, Temp trips, Cost one, Cost *each) {
    if (!c->turned) return -1;
    const Stmt *in = c->turned->loop;
    for (int i = 0; i < c->turned->sums.len; i++)
        if (!z->tree->temps.data[c->turned->sums.data[i].cell].varies) return -1;
    Cost n = number(z, trips), length = number(z, in->args[0]);
    Cost element = times(z, cost_of(1 / z->machine->lanes), plus(z, cost_of(z->machine->trip), work(z, in->body, true)));
    Cost sum = times(z, length, element), all = times(z, n, sum);
    *each = times(z, n, element);
    if (all.most < 2 * z->machine->chunk || (n.t < 0 && n.lit >= FEW_TRIPS * c->loop->lanes)) return -1;
    Temp few = compare(z, OP_lt, temp_of(z, n), real_of(z, KIND_DOUBLE, FEW_TRIPS * c->loop->lanes));
    Temp enough = compare(z, OP_le, real_of(z, KIND_DOUBLE, 2 * z->machine->chunk), temp_of(z, all));
    Temp most = compare(z, OP_le, temp_of(z, times(z, cost_of(MOST_INSIDE), one)), temp_of(z, sum));
    return compare(z, OP_and, few, compare(z, OP_and, enough, most));
}

// if cond: what is put from now on, else: what is put after the block that is returned is that for statements.
static Block *begin_either(Threads *z, Temp cond) {
    Stmt *either = put(z, ST_IF, -1, 1, &cond);
    z->into = either->body = ARENA_NEW(z->arena, Block);
    return either->other = ARENA_NEW(z->arena, Block);
}

// if cond: the loop as it is, else: what is put from now on, until the block that was open, which it returns, is put back.
static Block *begin_other(Threads *z, const Cut *c, Temp cond) {
    Block *outer = z->into;
    Stmt *either = put(z, ST_IF, -1, 1, &cond);
    either->body = ARENA_NEW(z->arena, Block);
    vec_push(&either->body->stmts, c->was);
    z->into = either->other = ARENA_NEW(z->arena, Block);
    return outer;
}

// if n * work < …: the loop as it is, else: its chunks. Both are put at the end of z->into. False, and nothing is put, if it is
// known that there is too little work.
static bool put_either(Threads *z, Cut *c) {
    Temp n = trips(z, c->loop), size = new_temp(z, KIND_INT, "size");
    Cost one = iteration(z, c), all = times(z, number(z, c->loop->args[0]), one), copy = copies(z, c);
    if (all.most < 2 * z->machine->chunk) return false;
    Cost scale = cost_of(FSM_CHUNK_WORK / z->machine->chunk); // for fsm_chunk, which knows one measure of work
    Temp each = temp_of(z, times(z, scale, one)), copied = temp_of(z, times(z, scale, copy)), little = is_little(z, c, all, copy);
    Temp inside = is_for_those_inside(z, c, n, one);
    Block *outer = z->into;
    Cost element;
    Temp turned = is_turned(z, c, n, one, &element);
    if (turned >= 0) {
        Temp length = trips(z, c->turned->loop), chunk = new_temp(z, KIND_INT, "size");
        Temp about[] = {length, temp_of(z, times(z, scale, element)),
                        temp_of(z, times(z, scale, times(z, cost_of((double)c->turned->sums.len), number(z, n))))};
        Block *other = begin_either(z, turned);
        put(z, ST_CHUNK, chunk, 3, about)->u.num = 1;
        put_turned(z, c, length, chunk);
        z->into = other;
    }
    begin_other(z, c, inside < 0 ? little : compare(z, OP_or, little, inside));
    Temp args[] = {n, each, copied};
    put(z, ST_CHUNK, size, 3, args)->u.num = block_of(c);
    put_chunks(z, c, n, size);
    z->into = outer;
    return true;
}

// Whether or not that pays. Of a loop that is one chunk those inside are cut.
static void put_always(Threads *z, Cut *c) {
    Temp n = op(z, OP_max, trips(z, c->loop), int_of(z, 0)), size = int_of(z, SMALL);
    Block *outer = z->into;
    bool turns = c->turned;
    for (int i = 0; turns && i < c->turned->sums.len; i++) turns = z->tree->temps.data[c->turned->sums.data[i].cell].varies;
    if (turns) {
        Temp length = op(z, OP_max, trips(z, c->turned->loop), int_of(z, 0));
        Block *other = begin_either(z, compare(z, OP_le, n, size));
        put_turned(z, c, length, size);
        z->into = other;
    }
    if (c->inside.len) begin_other(z, c, compare(z, OP_le, n, size));
    put_chunks(z, c, n, size);
    z->into = outer;
}

// What a cut needs to be worth it, and what an iteration is estimated to take, if that is known.
static void explain_cut(Threads *z, const Cut *c, bool done) {
    Explain *x = z->tree->func->ir->explain;
    const Stmt *loop = c->loop;
    const char *name = z->tree->temps.data[loop->dst].name;
    if (!explain_wants(x, EXPLAIN_SCHEDULE)) return;
    Block *outer = z->into, scratch = {0};
    z->into = &scratch; // of an estimate that is not known, its statements
    int known = z->tree->temps.len;
    Cost each = iteration(z, c);
    z->into = outer, z->tree->temps.len = known;
    vec_free(&scratch.stmts);
    explain(x, EXPLAIN_SCHEDULE, loop->span, "loop over `%s`: %s: %s, from about %.3g on", name ? name : "i",
            done ? "cut into chunks for threads where they have enough to do" : "not cut into chunks: there is too little to do",
            each.t < 0 ? arena_printf(z->arena, "an iteration takes about %.3g", each.lit)
                       : "what an iteration takes depends on sizes",
            2 * z->machine->chunk);
}

// A loop that does what a fill or a copy does.
static Stmt *as_loop(Threads *z, const Stmt *s) {
    Block *outer = z->into, *around = ARENA_NEW(z->arena, Block);
    Temp index[RANK_MAX];
    z->into = around;
    for (int k = 0; k < s->buf->rank; k++) {
        index[k] = new_temp(z, KIND_INT, "i");
        begin_for(z, index[k], 1, &s->buf->extent[k], NULL);
    }
    Temp v = s->kind == ST_FILL ? s->args[0] : load(z, s->src, s->src->rank, index);
    store(z, ST_STORE, s->buf, v, s->buf->rank, index);
    z->into = outer;
    Stmt *loop = around->stmts.data[0];
    vec_free(&around->stmts);
    return loop;
}

static void forget_loop(Threads *z) {
    map_free(&z->inside), map_free(&z->temp), map_free(&z->buf), map_free(&z->value);
    z->inside = z->temp = z->buf = z->value = (Map){0};
}

static void cut(Threads *z, Cut *c) {
    Block *block = c->block, *with = ARENA_NEW(z->arena, Block), old = *block;
    z->span = c->was->span;
    if (!c->loop) c->loop = as_loop(z, c->was);
    forget_loop(z);
    z->into = with;
    mark_inside(z, c->loop);
    if (c->loop->parts) put_chunks(z, c, trips(z, c->loop), int_of(z, 1));
    else if (z->always) put_always(z, c);
    else if (!put_either(z, c)) {
        vec_free(&with->stmts);
        if (c->loop != c->was) block_free(c->loop->body);
        else if (!c->inner) explain_cut(z, c, false);
        return;
    }
    if (c->was == c->loop) explain_cut(z, c, true);
    *block = (Block){0};
    for (int i = 0; i < old.stmts.len; i++) {
        if (old.stmts.data[i] != c->was) vec_push(&block->stmts, old.stmts.data[i]);
        else
            for (int k = 0; k < with->stmts.len; k++) vec_push(&block->stmts, with->stmts.data[k]);
    }
    vec_free(&old.stmts);
    vec_free(&with->stmts);
    if (c->loop != c->was || c->loop->parts || (z->always && !c->inside.len))
        block_free(c->loop->body); // only copies of it are in the tree
}

void loops_threads(Arena *arena, Tree *tree, const LoopOptions *opt) {
    if (tree->temps.len > LARGEST_TREE || !tree->temps.len) return;
    Threads *z = ARENA_NEW(arena, Threads);
    *z = (Threads){.arena = arena, .tree = tree, .always = opt->threads_always, .machine = opt->machine, .known = tree->temps.len};
    iter_init(&z->it, arena, tree, opt->precise);
    find_all(z);
    for (int i = 0; i < z->cuts.len; i++) {
        if (tree_step(tree, z->cuts.data[i]->was)) cut(z, z->cuts.data[i]);
        forget_cut(z->cuts.data[i]);
    }
    forget_loop(z);
    vec_free(&z->cuts);
    iter_free(&z->it);
}
