// Register blocking. In a block of lanes, a loop around an innermost loop takes a few iterations at a time, and these share
// one innermost loop (*unroll and jam*): what they all read there is loaded once, and what they all add to the same element
// is added once. A product of matrices then waits for arithmetic and not for memory.
//
//     for r < n { c = 0; for k < m { c += x[k] * y[r, k] }; z[r] = c }
//
// becomes, two at a time, for s < n / 2 { c = d = 0; for k < m { c += x[k] * y[2 s, k]; d += x[k] * y[2 s + 1, k] }; … }.
//
// Then innermost loops that add to neighbouring elements what is a sum over the lanes take a few iterations at a time, too:
// the sums over the lanes of several vectors at once are cheaper than one after the other (cpu/sums.c). Small arrays, of which
// each lane may have a copy, are left alone.
#include "lower/internal.h"
#include "lower/loop_passes.h"

#include <stdlib.h>

enum { MOST = 4, MOST_WISHED = 16, MOST_STATEMENTS = 60, UNKNOWN = 1000, SUMS = 8, SHORT_ROW = 32, LARGEST = 1 << 30 };
// Iterations whose inner loops differ in length: how many at a time where registers are few, and of those that are left.
enum { UNEQUAL = 2, OF_REST = 2 };
// Of sums that LLVM makes of vectors: how many of them share a loop, statements around it, and iterations that are worth it.
enum { SUMS_SHARE = 4, MOST_AROUND = 16, LEAST_SUM = 16, FEW_VECTORS = 2 };

// Of the inner loop: moves of vectors that iterations share, vectors that each of them keeps in registers, whether it loads
// what is the same in all lanes, and the time of what they do not share.
typedef struct Gain {
    int shared, kept;
    bool same;
    double other;
} Gain;

typedef struct Jammer {
    Arena *arena;
    Tree *tree;
    const Machine *machine;
    bool precise;     // additions keep their order
    int vectors;      // registers for vectors, in units of a block of lanes; 0: only attributes count, and sums that LLVM makes of
                      // vectors
    int unequal;      // of iterations whose inner loops differ in length, so many at most
    int laned;        // in so many loops with lanes
    const char *why;  // an attribute cannot be followed
    Stmt *const *def; // by temp, of the first `known`: what makes it
    int known;
    // Of the loop that is looked at:
    Stmt *loop, *inner;       // inner: NULL if there is none
    Map made;                 // Temp + 1 -> what is made in an iteration
    VEC(const Buf *) changed; // in an iteration
    Gain gain;
    int copies; // taken at a time
    int rest;   // of a loop over iterations that are left over: so many at most; 0: it is none
    int grows;  // by how much the inner loop is longer from one to the next
    Map number; // a temp's number + 1 -> which of those made it is, from 1 on; the loop's index is 0
    int nmade;
    Temp *map[MOST_WISHED]; // by that number: its copy
} Jammer;

static TempInfo *info(const Jammer *z, Temp t) { return &z->tree->temps.data[t]; }
static bool is_made(const Jammer *z, Temp t) { return map_get(&z->made, (void *)((intptr_t)t + 1)); }

static bool has_buf(int n, const Buf *const *bufs, const Buf *b) {
    for (int i = 0; i < n; i++)
        if (bufs[i] == b) return true;
    return false;
}

static bool is_changed(const Jammer *z, const Buf *b) { return has_buf(z->changed.len, z->changed.data, b); }

// ---- whether iterations may share their inner loop

// The one loop of the body, if that has just one, and it is innermost.
static Stmt *only_loop(const Block *block) {
    Stmt *found = NULL;
    for (int i = 0; i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind != ST_FOR && (s->body || s->other)) return NULL;
        if (s->kind != ST_FOR) continue;
        if (found || block_has_for(s->body)) return NULL;
        found = s;
    }
    return found;
}

static bool is_known(StmtKind kind) {
    return kind == ST_LIT || kind == ST_OP || kind == ST_CONV || kind == ST_SELECT || kind == ST_CELL || kind == ST_GET ||
           kind == ST_SET || kind == ST_LOAD || kind == ST_STORE || kind == ST_ADDTO || kind == ST_FOR;
}

// Notes what a block makes and changes; false if it has statements that are not understood.
static bool survey(Jammer *z, const Block *block) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (!is_known(s->kind) || s->together || (s->kind == ST_FOR && s->nargs != 1)) return false;
        if (s->dst >= 0 && s->kind != ST_SET) {
            map_put(&z->made, (void *)((intptr_t)s->dst + 1), (void *)s);
            map_put(&z->number, (void *)((intptr_t)s->dst + 1), (void *)(intptr_t)++z->nmade);
        }
        if (s->kind == ST_STORE || s->kind == ST_ADDTO) vec_push(&z->changed, s->buf);
        if (s->body && !survey(z, s->body)) return false;
    }
    return true;
}

static bool adds_to(const Block *block, const Buf *b) {
    for (int i = 0; i < block->stmts.len; i++)
        if (block->stmts.data[i]->kind == ST_ADDTO && block->stmts.data[i]->buf == b) return true;
    return false;
}

// May the statements up to and in the inner loop, all of which the iterations do before what follows, be done so? They
// read nothing that the loop changes, and store to places of their own iteration only, in arrays that the inner loop does not add
// to.
static bool may_share(const Jammer *z, const Block *block, bool after) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_LOAD && is_changed(z, s->buf)) return false;
        if (s->kind == ST_STORE && z->inner && adds_to(z->inner->body, s->buf)) return false;
        if (!after) {
            if (s->kind == ST_STORE && !stmt_has_index(s, z->loop->dst)) return false;
            if (s->kind == ST_ADDTO && z->precise && !stmt_has_index(s, z->loop->dst)) return false;
            if (s->kind == ST_SET && !is_made(z, s->dst)) return false;
            if (s->kind == ST_GET && !is_made(z, s->args[0])) return false;
        }
        if (s->body && !may_share(z, s->body, false)) return false;
        after |= s == z->inner;
    }
    return true;
}

// ---- whether it pays

// Does t depend on which iteration it is?
static bool depends(const Jammer *z, Temp t) {
    const Stmt *s = map_get(&z->made, (void *)((intptr_t)t + 1));
    if (t == z->loop->dst) return true;
    if (!s || (z->inner && t == z->inner->dst)) return false;
    if (s->kind == ST_GET || s->kind == ST_CELL) return true;
    for (int k = 0; k < s->nargs; k++)
        if (depends(z, s->args[k])) return true;
    return false;
}

static bool any_depends(const Jammer *z, int n, const Temp *t) {
    for (int k = 0; k < n; k++)
        if (depends(z, t[k])) return true;
    return false;
}

static bool is_inside(const Jammer *z, const Stmt *made) {
    for (int i = 0; i < z->inner->body->stmts.len; i++)
        if (z->inner->body->stmts.data[i] == made) return true;
    return false;
}

static void count_kept(const Jammer *z, const Stmt *s, Map *seen, Gain *g) {
    for (int k = 0; k < s->nargs; k++) {
        Temp t = s->args[k];
        const Stmt *made = map_get(&z->made, (void *)((intptr_t)t + 1));
        if (!made || is_inside(z, made) || t == z->inner->dst || !info(z, t)->varies || !depends(z, t)) continue;
        if (map_get(seen, (void *)((intptr_t)t + 1))) continue;
        map_put(seen, (void *)((intptr_t)t + 1), (void *)s);
        g->kept++;
    }
}

static double time_of_block(const Jammer *z, const Block *b) {
    double sum = 0;
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        bool free = s->kind == ST_LIT || s->kind == ST_GET || s->kind == ST_SET; // cells are in registers
        sum += s->kind == ST_OP ? machine_op(z->machine, s->op) : s->kind == ST_ADDTO ? 2 : !free;
    }
    return sum;
}

static Gain gain_of(const Jammer *z) {
    const Block *b = z->inner->body;
    Gain g = {0};
    Map seen = {0};
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_LOAD && info(z, s->dst)->varies && !any_depends(z, s->nargs, s->args)) g.shared++;
        if (s->kind == ST_ADDTO && info(z, s->args[0])->varies && !any_depends(z, s->nargs - 1, s->args + 1)) g.shared += 2;
        g.same |= s->kind == ST_LOAD && !info(z, s->dst)->varies;
        if (s->kind == ST_SET) g.kept++; // a cell: a sum
        else if (s->kind != ST_GET) count_kept(z, s, &seen, &g);
    }
    map_free(&seen);
    g.other = time_of_block(z, b) - g.shared;
    return g;
}

// The value of a literal, or -1.
static int64_t trips(const Jammer *z, Temp t) {
    const Stmt *s = t < z->known ? z->def[t] : NULL;
    return s && s->kind == ST_LIT ? s->u.num : -1;
}

// By how much t grows from iteration to iteration of the inner loop, or UNKNOWN.
static int along(const Jammer *z, Temp t) {
    const Stmt *s = map_get(&z->made, (void *)((intptr_t)t + 1));
    if (t == z->inner->dst) return 1;
    if (!s || !is_inside(z, s) || s->kind == ST_LIT) return 0;
    if (s->kind != ST_OP || s->nargs != 2) return UNKNOWN;
    int a = along(z, s->args[0]), b = along(z, s->args[1]);
    if (a == UNKNOWN || b == UNKNOWN || (s->op != OP_add && s->op != OP_sub)) return a || b ? UNKNOWN : 0;
    return s->op == OP_add ? a + b : a - b;
}

// Is a cell set to itself plus something?
static bool is_sum(const Jammer *z, const Stmt *set) {
    const Stmt *s = map_get(&z->made, (void *)((intptr_t)set->args[0] + 1));
    for (int k = 0; s && s->kind == ST_OP && s->op == OP_add && k < 2; k++) {
        const Stmt *get = map_get(&z->made, (void *)((intptr_t)s->args[k] + 1));
        if (get && get->kind == ST_GET && get->args[0] == set->dst) return true;
    }
    return false;
}

// Is the inner loop nothing but sums along rows, one of which iterations share? LLVM makes vectors of them, but loads all rows for
// each. Or has it lanes, of few vectors? Then several sums are under way at once, and added up over the lanes at once.
static bool sums_rows(Jammer *z) {
    const Block *b = z->inner->body;
    Gain g = {.other = time_of_block(z, b)};
    if (z->precise || z->laned || z->loop->few || z->inner->few || z->inner->wishes || z->inner->lanes > FEW_VECTORS) return false;
    if (z->loop->body->stmts.len > MOST_AROUND || (trips(z, z->inner->args[0]) >= 0 && trips(z, z->inner->args[0]) < LEAST_SUM))
        return false;
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        int last = s->kind == ST_LOAD && s->buf->rank ? along(z, s->args[s->buf->rank - 1]) : 0;
        switch (s->kind) {
        case ST_LIT:
        case ST_GET: break;
        case ST_OP:
            if (op_info[s->op].cost > op_info[OP_div].cost) return false;
            break;
        case ST_SET:
            if (!is_sum(z, s) || !kind_is_float(info(z, s->dst)->kind)) return false;
            g.kept++;
            break;
        case ST_LOAD:
            for (int k = 0; k + 1 < s->buf->rank; k++)
                if (along(z, s->args[k])) return false;
            if (last != 0 && last != 1) return false;
            g.shared += last && !any_depends(z, s->nargs, s->args);
            break;
        default: return false;
        }
    }
    g.other -= g.shared;
    z->gain = g;
    return g.kept && (g.shared || z->inner->lanes);
}

// By how much t grows from iteration to iteration, or UNKNOWN.
static int growth(const Jammer *z, Temp t) {
    const Stmt *s = map_get(&z->made, (void *)((intptr_t)t + 1));
    if (t == z->loop->dst) return 1;
    if (!depends(z, t)) return 0;
    if (s->kind != ST_OP || (s->op != OP_add && s->op != OP_sub)) return UNKNOWN;
    int a = growth(z, s->args[0]), b = growth(z, s->args[1]);
    if (a == UNKNOWN || b == UNKNOWN) return UNKNOWN;
    return s->op == OP_add ? a + b : a - b;
}

// Besides what is kept there is what is shared, and what is the same in all lanes.
static bool has_room(const Jammer *z, int n) { return n * z->gain.kept + z->gain.same < z->vectors; }

// Of an iteration of the inner loop, which n of the loop share: what they share is moved once.
static double time_of(const Jammer *z, int n) { return z->gain.other + (double)z->gain.shared / n; }

// How many iterations to take at a time; 0 or 1: that does not pay.
static int copies(Jammer *z, int64_t trips) {
    const Gain g = z->gain = gain_of(z);
    const Wish *wish = stmt_wish(z->loop, WISH_block);
    z->grows = growth(z, z->inner->args[0]);
    if (z->grows < -1 || z->grows > 1) return 0;
    if (wish) return wish->number > MOST_WISHED ? MOST_WISHED : (int)wish->number;
    if (!z->vectors && !wish) {
        int n = !z->grows && sums_rows(z) ? SUMS_SHARE / z->gain.kept : 0;
        return trips >= 0 && trips < n ? (int)trips : n;
    }
    if (!g.shared) return 0;
    int best = 1, most = z->rest ? z->rest : z->grows ? z->unequal : MOST;
    for (int n = 2; n <= most && (trips < 0 || n <= trips); n++)
        if (has_room(z, n) && time_of(z, n) < time_of(z, best)) best = n;
    return best;
}

// ---- the copies

static Stmt *emit(Jammer *z, Block *to, const Stmt *like, StmtKind kind, Temp dst, int n, const Temp *args) {
    Stmt *s = tree_stmt(z->arena, kind, dst, n, args, like->span);
    vec_push(&to->stmts, s);
    return s;
}

static Temp fresh(Jammer *z, TempInfo like) {
    vec_push(&z->tree->temps, like);
    return z->tree->temps.len - 1;
}

static Temp emit_literal(Jammer *z, Block *to, int64_t value) {
    Temp t = fresh(z, (TempInfo){.kind = KIND_INT});
    emit(z, to, z->loop, ST_LIT, t, 0, NULL)->u.num = value;
    return t;
}

static Temp emit_op(Jammer *z, Block *to, Op op, Temp a, Temp b, TempInfo like) {
    Temp t = fresh(z, like), args[] = {a, b};
    emit(z, to, z->loop, ST_OP, t, 2, args)->op = op;
    return t;
}

static Temp emit_int_op(Jammer *z, Block *to, Op op, Temp a, Temp b) {
    return emit_op(z, to, op, a, b, (TempInfo){.kind = KIND_INT});
}

// Where the copy of t is noted that one of the iterations has.
static Temp *place(const Jammer *z, int copy, Temp t) {
    return &z->map[copy][(intptr_t)map_get(&z->number, (void *)((intptr_t)t + 1))];
}

static Temp mapped(const Jammer *z, int copy, Temp t) { return is_made(z, t) || t == z->loop->dst ? *place(z, copy, t) : t; }

// Has the first copy of s the same operands, and the same value?
static bool is_same(const Jammer *z, int copy, const Stmt *s) {
    if (s->kind != ST_LIT && s->kind != ST_OP && s->kind != ST_CONV && s->kind != ST_SELECT && s->kind != ST_LOAD) return false;
    for (int k = 0; k < s->nargs; k++)
        if (mapped(z, copy, s->args[k]) != mapped(z, 0, s->args[k])) return false;
    return true;
}

static void copy_stmt(Jammer *z, Block *to, int copy, const Stmt *s) {
    if (copy > 0 && is_same(z, copy, s)) {
        *place(z, copy, s->dst) = *place(z, 0, s->dst);
        return;
    }
    Stmt *c = arena_copy(z->arena, s, sizeof *s);
    c->args = ARENA_ARRAY(z->arena, Temp, s->nargs + 1);
    for (int k = 0; k < s->nargs; k++) c->args[k] = mapped(z, copy, s->args[k]);
    if (s->kind == ST_SET) c->dst = mapped(z, copy, s->dst);
    else if (s->dst >= 0) c->dst = *place(z, copy, s->dst) = fresh(z, *info(z, s->dst));
    vec_push(&to->stmts, c);
}

// All copies of what is added to one element, in one addition; false if the elements may differ.
static bool copy_addition(Jammer *z, Block *to, const Stmt *s) {
    if (z->precise || s->kind != ST_ADDTO) return false;
    for (int copy = 1; copy < z->copies; copy++)
        for (int k = 1; k < s->nargs; k++)
            if (mapped(z, copy, s->args[k]) != mapped(z, 0, s->args[k])) return false;
    TempInfo like = *info(z, s->args[0]);
    like.step = STEP_ANY, like.cell = false, like.name = NULL;
    Temp sum = mapped(z, 0, s->args[0]);
    for (int copy = 1; copy < z->copies; copy++) sum = emit_op(z, to, OP_add, sum, mapped(z, copy, s->args[0]), like);
    Stmt *c = arena_copy(z->arena, s, sizeof *s);
    c->args = ARENA_ARRAY(z->arena, Temp, s->nargs);
    c->args[0] = sum;
    for (int k = 1; k < s->nargs; k++) c->args[k] = mapped(z, 0, s->args[k]);
    vec_push(&to->stmts, c);
    return true;
}

static void copy_all(Jammer *z, Block *to, const Stmt *s) {
    if (copy_addition(z, to, s)) return;
    for (int copy = 0; copy < z->copies; copy++) copy_stmt(z, to, copy, s);
}

static Stmt *emit_for(Jammer *z, Block *to, const Stmt *like, Temp extent) {
    Stmt *s = emit(z, to, like, ST_FOR, fresh(z, *info(z, like->dst)), 1, &extent);
    s->body = ARENA_NEW(z->arena, Block);
    return s;
}

// An iteration of the inner loop of one copy.
static void copy_one(Jammer *z, Block *to, int copy, Temp index) {
    Temp *first = z->map[0];
    *place(z, copy, z->inner->dst) = index;
    z->map[0] = z->map[copy]; // nothing is shared with another
    for (int i = 0; i < z->inner->body->stmts.len; i++) copy_stmt(z, to, 0, z->inner->body->stmts.data[i]);
    z->map[0] = first;
}

// ---- rows that come next

// The number of elements of an array; *known: if it is known, else -1.
static Temp emit_count(Jammer *z, Block *to, const Buf *b, int64_t *known) {
    Temp count = -1;
    *known = 1;
    for (int k = 0; k < b->rank; k++) {
        int64_t n = trips(z, b->extent[k]);
        *known = *known < 0 || n < 0 ? -1 : n > LARGEST / (*known + 1) ? LARGEST : *known * n;
        count = count < 0 ? b->extent[k] : emit_int_op(z, to, OP_mul, count, b->extent[k]);
    }
    return count;
}

// Does the inner loop go along row after row of an array from outside?
static bool goes_along(const Jammer *z, const Stmt *s) {
    if ((s->kind != ST_LOAD && s->kind != ST_ADDTO) || s->buf->lanes || s->buf->rank < 2) return false;
    const Temp *index = stmt_index(s);
    int last = s->buf->rank - 1;
    bool rows = index[last] == z->inner->dst, next = false;
    for (int k = 0; k < last; k++) {
        next |= index[k] == z->loop->dst;
        rows &= !info(z, index[k])->varies && (index[k] == z->loop->dst || !is_made(z, index[k]));
    }
    return rows && next;
}

// Of rows of a large array the inner loop takes a part that grows or shrinks. Processors fetch what follows in memory, and not
// what is needed next: the rows of the next group are asked for. Each iteration asks for one line, of the rows in turn, since
// many lines at once would wait for each other.
static void emit_fetch(Jammer *z, Block *to, const Stmt *s, Temp at) {
    Temp copies = emit_literal(z, to, z->copies), next = emit_int_op(z, to, OP_add, mapped(z, 0, z->loop->dst), copies),
         row = emit_int_op(z, to, OP_add, next, emit_int_op(z, to, OP_irem, at, copies)), args[17] = {emit_literal(z, to, 1)};
    for (int k = 0; k < s->buf->rank; k++) {
        Temp index = stmt_index(s)[k];
        args[k + 1] = k == s->buf->rank - 1 ? at : index == z->loop->dst ? row : index;
    }
    emit(z, to, s, ST_FETCH, -1, s->buf->rank + 1, args)->buf = s->buf;
}

// An access of the inner loop whose rows may have to be asked for, or NULL; *large: whether they have to, or -1 if so.
static const Stmt *far_rows(Jammer *z, Block *to, Temp *large) {
    for (int i = 0; i < z->inner->body->stmts.len; i++) {
        const Stmt *s = z->inner->body->stmts.data[i];
        if (!goes_along(z, s)) continue;
        int64_t known, most = (int64_t)(z->machine->cache / (double)kind_size(s->buf->kind));
        Temp count = emit_count(z, to, s->buf, &known);
        if (known >= 0 && known <= most) continue;
        *large = known >= 0 ? -1 : emit_op(z, to, OP_lt, emit_literal(z, to, most), count, (TempInfo){.kind = KIND_BOOL});
        return s;
    }
    return NULL;
}

static void copy_shared(Jammer *z, Block *to, Temp length, const Stmt *far) {
    Stmt *shared = emit_for(z, to, z->inner, length);
    shared->lanes = z->inner->lanes, shared->nin = z->inner->nin, shared->in = z->inner->in;
    for (int copy = 0; copy < z->copies; copy++) *place(z, copy, z->inner->dst) = shared->dst;
    if (far) emit_fetch(z, shared->body, far, shared->dst);
    for (int i = 0; i < z->inner->body->stmts.len; i++) copy_all(z, shared->body, z->inner->body->stmts.data[i]);
}

// Copies whose inner loops are longer than the shortest do the last iterations alone, each as many as it has more.
static void copy_loop(Jammer *z, Block *to) {
    int shortest = z->grows < 0 ? z->copies - 1 : 0;
    Temp least = mapped(z, shortest, z->inner->args[0]), large = -1;
    const Stmt *far = z->grows ? far_rows(z, to, &large) : NULL;
    if (far && large >= 0) {
        Stmt *branch = emit(z, to, z->inner, ST_IF, -1, 1, &large);
        branch->body = ARENA_NEW(z->arena, Block), branch->other = ARENA_NEW(z->arena, Block);
        copy_shared(z, branch->body, least, far);
        copy_shared(z, branch->other, least, NULL);
    } else copy_shared(z, to, least, far);
    for (int copy = 0; z->grows && copy < z->copies; copy++)
        for (int k = 0; k < abs(copy - shortest); k++)
            copy_one(z, to, copy, emit_int_op(z, to, OP_add, least, emit_literal(z, to, k)));
}

// Iteration after iteration, so that few vectors are needed at a time, but for what is added up: that stands together.
static void copy_sums(Jammer *z, Block *to) {
    const Block *body = z->loop->body;
    for (int copy = 0; copy < z->copies; copy++)
        for (int i = 0; i < body->stmts.len; i++)
            if (body->stmts.data[i]->kind != ST_ADDTO) copy_stmt(z, to, copy, body->stmts.data[i]);
    for (int i = 0; i < body->stmts.len; i++)
        if (body->stmts.data[i]->kind == ST_ADDTO) copy_all(z, to, body->stmts.data[i]);
}

// Several iterations: what comes before the inner loop, that loop, and what follows, iteration after iteration.
static void copy_body(Jammer *z, Block *to, Temp first) {
    const Block *body = z->loop->body;
    *place(z, 0, z->loop->dst) = first;
    for (int copy = 1; copy < z->copies; copy++)
        *place(z, copy, z->loop->dst) = emit_int_op(z, to, OP_add, first, emit_literal(z, to, copy));
    int at = 0;
    if (z->inner) {
        for (; body->stmts.data[at] != z->inner; at++) copy_all(z, to, body->stmts.data[at]);
        copy_loop(z, to);
    } else {
        copy_sums(z, to);
        at = body->stmts.len;
    }
    for (int copy = 0; copy < z->copies; copy++)
        for (int i = at + 1; i < body->stmts.len; i++) copy_stmt(z, to, copy, body->stmts.data[i]);
}

// What t is in the iteration `index`, computed before the loop.
static Temp emit_at(Jammer *z, Block *to, Temp t, Temp index) {
    const Stmt *s = map_get(&z->made, (void *)((intptr_t)t + 1));
    if (t == z->loop->dst) return index;
    if (!s) return t;
    Stmt *c = arena_copy(z->arena, s, sizeof *s);
    c->args = ARENA_ARRAY(z->arena, Temp, s->nargs + 1);
    for (int k = 0; k < s->nargs; k++) c->args[k] = emit_at(z, to, s->args[k], index);
    c->dst = fresh(z, *info(z, s->dst));
    vec_push(&to->stmts, c);
    return c->dst;
}

// Into how many groups the iterations go: none if some inner loop has less than no iterations.
static Temp emit_groups(Jammer *z, Block *to, Temp many) {
    Temp n = z->loop->args[0], groups = emit_int_op(z, to, OP_idiv, n, many), none = emit_literal(z, to, 0);
    if (!z->grows) return groups;
    Temp last = emit_int_op(z, to, OP_sub, n, emit_literal(z, to, 1));
    Temp least = emit_at(z, to, z->inner->args[0], z->grows > 0 ? none : last);
    Temp fine = emit_op(z, to, OP_le, none, least, (TempInfo){.kind = KIND_BOOL}), args[] = {fine, groups, none};
    Temp some = fresh(z, (TempInfo){.kind = KIND_INT});
    emit(z, to, z->loop, ST_SELECT, some, 3, args);
    return some;
}

// Replaces the loop in its block by one over groups of iterations and one over those that are left.
static void replace(Jammer *z, Block *block, int at) {
    Block out = {0};
    Stmt *loop = z->loop;
    for (int copy = 0; copy < z->copies; copy++) z->map[copy] = ARENA_ARRAY(z->arena, Temp, z->nmade + 1);
    Temp many = emit_literal(z, &out, z->copies), groups = emit_groups(z, &out, many);
    Stmt *by = emit_for(z, &out, loop, groups);
    copy_body(z, by->body, emit_int_op(z, by->body, OP_mul, by->dst, many));
    Temp done = emit_int_op(z, &out, OP_mul, groups, many), left = emit_int_op(z, &out, OP_sub, loop->args[0], done);
    Temp again = fresh(z, *info(z, loop->dst)), index[] = {done, again};
    Stmt *shift = tree_stmt(z->arena, ST_OP, loop->dst, 2, index, loop->span);
    shift->op = OP_add;
    block_insert(loop->body, 0, shift);
    loop->dst = again, loop->args = arena_copy(z->arena, &left, sizeof left), loop->shifted = false;
    loop->wishes = NULL; // they have been heard
    for (int i = 0; i < out.stmts.len; i++) block_insert(block, at + i, out.stmts.data[i]);
    vec_free(&out.stmts);
}

static void look_at(Jammer *z, Stmt *loop, Stmt *inner) {
    z->loop = loop, z->inner = inner;
    z->gain = (Gain){0};
    z->changed.len = 0;
    map_free(&z->made), map_free(&z->number);
    z->made = z->number = (Map){0};
    z->nmade = 0;
}

static bool fits(Jammer *z, Stmt *loop) {
    look_at(z, loop, only_loop(loop->body));
    z->why = "there is not just one innermost loop in it, which iterations could share";
    if (!z->inner || loop->together || loop->nargs != 1) return false;
    z->why = "there is too much in it";
    if (loop->body->stmts.len + z->inner->body->stmts.len > MOST_STATEMENTS) return false;
    z->why = "its iterations cannot share their inner loop";
    if (info(z, loop->args[0])->varies || info(z, z->inner->args[0])->varies) return false;
    if (!survey(z, loop->body) || !may_share(z, loop->body, false)) return false;
    z->copies = copies(z, trips(z, loop->args[0]));
    return z->copies > 1;
}

static void explain_jam(const Jammer *z, const Wish *wish) {
    Explain *x = z->tree->func->ir->explain;
    const char *name = info(z, z->loop->dst)->name;
    if (!explain_wants(x, EXPLAIN_SCHEDULE)) return;
    Str s = {0};
    for (int n = 1; n <= MOST && z->gain.shared; n++)
        str_printf(&s, "%s%.3g with %d%s", n > 1 ? ", " : ": an iteration of it takes about ", time_of(z, n), n,
                   n == 1 || !z->vectors || has_room(z, n) ? "" : " (no room)");
    explain(x, EXPLAIN_SCHEDULE, z->loop->span, "loop over `%s`: %d iterations%s share an inner loop%s%s", name ? name : "i",
            z->copies, z->rest ? " of those that are left" : "", wish ? ": `#[block]` says so" : "", str_text(&s));
    str_free(&s);
}

// Are iterations of the loop to be taken several at a time?
static bool try(Jammer *z, Stmt *loop) {
    Wish *wish = stmt_wish(loop, WISH_block);
    if (loop->lanes || stmt_wish(loop, WISH_sequential)) return false;
    bool fit = fits(z, loop);
    if (wish && fit) wish_follow(wish);
    else if (wish && wish->number > 1) wish_refuse(wish, z->why);
    if (fit) explain_jam(z, wish);
    return fit;
}

// ---- loops that do too much for that

typedef struct Half {
    const Block *inner;
    bool sums;        // it is what the inner loop adds to arrays; else it is all the rest
    Map made, needed; // Temp + 1: in an iteration; by what it does
} Half;

static bool is_needed(const Half *h, Temp t) { return t >= 0 && map_get(&h->needed, (void *)((intptr_t)t + 1)); }

// Cells of outside are set by the rest.
static bool belongs(const Half *h, const Block *block, const Stmt *s) {
    const bool sets = s->kind == ST_SET && !map_get(&h->made, (void *)((intptr_t)s->dst + 1));
    const bool acts = sets || s->kind == ST_ADDTO || s->kind == ST_STORE, adds = s->kind == ST_ADDTO && block == h->inner;
    return s->kind == ST_FOR || (acts && adds == h->sums) || is_needed(h, s->dst);
}

// Notes what the block's statements need that are needed themselves; returns whether that is news.
static bool note_needs(Half *h, const Block *block) {
    bool news = false;
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        for (int k = 0; k < s->nargs && belongs(h, block, s); k++)
            if (!is_needed(h, s->args[k])) map_put(&h->needed, (void *)((intptr_t)s->args[k] + 1), (void *)s), news = true;
        if (s->body) news |= note_needs(h, s->body);
    }
    return news;
}

// Returns how many statements of the inner loop are left.
static int drop_others(const Half *h, Block *block) {
    int n = 0, left = 0;
    for (int i = 0; i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (belongs(h, block, s)) block->stmts.data[n++] = s;
        if (s->body) left = drop_others(h, s->body);
    }
    block->stmts.len = n;
    return block == h->inner ? n : left;
}

// Leaves of a loop what its inner loop adds to arrays, or all else; false if its iterations cannot share what is left.
static bool leave(Jammer *z, Stmt *loop, bool sums) {
    Half h = {.inner = only_loop(loop->body)->body, .sums = sums};
    block_note_made(&h.made, loop->body);
    while (note_needs(&h, loop->body)) continue;
    const int left = drop_others(&h, loop->body);
    map_free(&h.made), map_free(&h.needed);
    return left && fits(z, loop);
}

// A loop whose iterations would share what their inner loops read, had they but room for it, and whose inner loop adds up a
// number and adds to an array, too: two loops, one for each. (A product's adjoints are such a loop.)
static void divide(Jammer *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        divide(z, s->body);
        divide(z, s->other);
        if (s->kind != ST_FOR || s->lanes || s->wishes || fits(z, s) || !z->gain.shared || has_room(z, 2)) continue;
        Stmt *rest = tree_clone(z->arena, z->tree, s), *sums = tree_clone(z->arena, z->tree, s);
        if (!leave(z, rest, false) || !leave(z, sums, true)) continue;
        block->stmts.data[i] = rest;
        block_insert(block, ++i, sums);
    }
}

// Puts copies in the place of the outermost loops that are to have them.
static void each_loop(Jammer *z, Block *block, bool (*takes)(Jammer *z, Stmt *loop)) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_FOR && takes(z, s) && tree_step(z->tree, s)) {
            const bool again = z->inner && z->grows && z->copies > OF_REST;
            int before = block->stmts.len;
            replace(z, block, i);
            i += block->stmts.len - before;
            z->rest = again ? OF_REST : 0;
            i -= again; // of rows of triangles, which are short, also two of those that are left
        } else {
            z->rest = 0;
            z->laned += s->lanes != 0;
            each_loop(z, s->body, takes);
            each_loop(z, s->other, takes);
            z->laned -= s->lanes != 0;
        }
    }
}

// ---- sums over the lanes

// How many sums over the lanes an iteration adds to elements that follow one another in iterations.
static int neighbours(const Jammer *z) {
    int n = 0;
    for (int i = 0; i < z->loop->body->stmts.len; i++) {
        const Stmt *s = z->loop->body->stmts.data[i];
        bool sum = s->kind == ST_ADDTO && !s->buf->lanes && info(z, s->args[0])->varies && kind_is_float(s->buf->kind);
        for (int k = 1; sum && k < s->nargs; k++)
            sum = !info(z, s->args[k])->varies && growth(z, s->args[k]) == (k == s->nargs - 1);
        n += sum;
    }
    return n;
}

static bool adds_up(Jammer *z, Stmt *loop) {
    look_at(z, loop, NULL);
    if (loop->together || loop->nargs != 1 || loop->rows || loop->lanes || loop->wishes || info(z, loop->args[0])->varies)
        return false;
    for (int i = 0; i < loop->body->stmts.len; i++) // additions are done last
        if (loop->body->stmts.data[i]->body || loop->body->stmts.data[i]->kind == ST_STORE) return false;
    if (!survey(z, loop->body) || !may_share(z, loop->body, false)) return false;
    int64_t n = trips(z, loop->args[0]);
    int sums = neighbours(z);
    z->copies = sums ? SUMS / sums : 0, z->grows = 0;
    if (n >= 0 && z->copies > n) z->copies = (int)n;
    return z->copies > 1 && z->copies * loop->body->stmts.len <= 2 * MOST_STATEMENTS;
}

static bool has_sums(Jammer *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if ((s->kind == ST_FOR && adds_up(z, s)) || has_sums(z, s->body) || has_sums(z, s->other)) return true;
    }
    return false;
}

// Is one of the arrays that all lanes add to so large that the lanes have no copies of it, and are its
// rows so long that little is left over of what is added to at once? -1: there is none.
static Temp emit_large(Jammer *z, Block *to, const Stmt *lanes, int width) {
    Temp any = -1;
    for (int i = 0; i < lanes->nin; i++) {
        const Buf *b = lanes->in[i];
        int64_t known, most = lanes_copied(z->machine->cache, b->kind, width);
        Temp count = emit_count(z, to, b, &known), row = count < 0 ? -1 : b->extent[b->rank - 1];
        int64_t length = row < 0 ? -1 : trips(z, row);
        if (count < 0 || (known >= 0 && known <= most) || (length >= 0 && length < SHORT_ROW)) continue;
        Temp large = emit_op(z, to, OP_lt, emit_literal(z, to, most), count, (TempInfo){.kind = KIND_BOOL});
        Temp is_long = emit_op(z, to, OP_lt, emit_literal(z, to, SHORT_ROW - 1), row, (TempInfo){.kind = KIND_BOOL});
        large = emit_op(z, to, OP_and, large, is_long, (TempInfo){.kind = KIND_BOOL});
        any = any < 0 ? large : emit_op(z, to, OP_or, any, large, (TempInfo){.kind = KIND_BOOL});
    }
    return any;
}

// Loops in the loop with lanes that add up several sums at a time, or not, if the arrays are small.
static void sums_of(Jammer *z, Stmt *lanes, int width) {
    Block *body = lanes->body, before = {0};
    z->loop = lanes;
    if (!lanes->nin) each_loop(z, body, adds_up); // the lanes have no copies
    Temp large = emit_large(z, &before, lanes, width);
    for (int i = 0; large >= 0 && i < body->stmts.len; i++) {
        Stmt *s = body->stmts.data[i];
        Block one = {{&s, 1, 1}};
        if (s->kind != ST_FOR || !has_sums(z, &one)) continue;
        Stmt *branch = tree_stmt(z->arena, ST_IF, -1, 1, &large, s->span);
        branch->body = ARENA_NEW(z->arena, Block), branch->other = ARENA_NEW(z->arena, Block);
        vec_push(&branch->other->stmts, tree_clone(z->arena, z->tree, s));
        vec_push(&branch->body->stmts, s);
        each_loop(z, branch->body, adds_up);
        body->stmts.data[i] = branch;
    }
    for (int i = 0; i < before.stmts.len; i++) block_insert(body, i, before.stmts.data[i]);
    vec_free(&before.stmts);
}

// In the block of a loop with blocks of so many vectors as far as the registers reach, else (0) where attributes say so, or
// iterations share a row that LLVM adds up. def: what makes each of the first `known` temps.
static void jam(Arena *arena, Tree *tree, const LoopOptions *opt, int known, Stmt *const *def, Block *block, int vectors) {
    int registers = opt->machine->registers ? (int)opt->machine->registers : opt->registers;
    Jammer z = {.arena = arena,
                .tree = tree,
                .machine = opt->machine,
                .precise = opt->precise,
                .vectors = vectors ? registers / vectors : 0,
                .unequal = registers < MANY_REGISTERS ? UNEQUAL : MOST};
    z.def = def, z.known = known;
    if (z.vectors) divide(&z, block);
    each_loop(&z, block, try);
    map_free(&z.made), map_free(&z.number);
    vec_free(&z.changed);
}

void loops_jam(Arena *arena, Tree *tree, const LoopOptions *opt, const LaneLoop *at) {
    if (at->loop->lanes > 1) jam(arena, tree, opt, at->known, at->def, at->loop->body, at->loop->lanes);
}

void loops_jam_rows(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Stmt **def = ARENA_ARRAY(arena, Stmt *, tree->temps.len + 1);
    tree_definitions(tree->body, def);
    jam(arena, tree, opt, tree->temps.len, def, tree->body, 0);
}

void loops_group(Arena *arena, Tree *tree, const LoopOptions *opt, const LaneLoop *at) {
    if (at->loop->lanes <= 1 || opt->width <= 2) return;
    Jammer z = {.arena = arena, .tree = tree, .machine = opt->machine, .def = at->def, .known = at->known};
    sums_of(&z, at->loop, opt->width);
    map_free(&z.made), map_free(&z.number);
    vec_free(&z.changed);
}
