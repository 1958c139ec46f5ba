// Index sets split where conditions change. Between the iterations for which all conditions of a loop on its index hold, and
// all minima and maxima are what does not depend on it, and those at its ends, a loop is cut in three:
//
//     for i < n { if i < 1 … }   becomes   for i < lo {…}; for i = lo < hi {… with nothing to decide}; for i = hi < n {…}
//
// as in windows at the borders of an array. Lanes then agree in the middle, and windows have one length there.
#include "lower/internal.h"

enum { LARGEST_BODY = 60, LARGEST_TREE = 20000, LINEAR_DEPTH = 8 };

typedef struct Known { // in the middle
    Stmt *s;   // makes a condition that holds, or a minimum or maximum …
    Temp same; // … that is this temp; -1: a condition
} Known;

typedef struct Peeler {
    Arena *arena;
    Tree *tree;
    Stmt **def; // by temp
    int temps;  // so many have one
    // Of the loop that is looked at:
    Stmt *loop;
    Map made;     // Temp + 1: in an iteration
    Map blocks;   // inside
    Block before; // what has to be computed before it
    VEC(Temp) least, most; // the middle is where the index is at least these, and below those
    VEC(Known) known;
} Peeler;

static bool is_made(const Peeler *z, Temp t) { return map_get(&z->made, (void *)((intptr_t)t + 1)); }
static bool is_int(const Peeler *z, Temp t) { return z->tree->temps.data[t].kind == KIND_INT; }

static Temp emit(Peeler *z, StmtKind kind, int n, const Temp *args) {
    vec_push(&z->tree->temps, ((TempInfo){.kind = KIND_INT}));
    Temp t = z->tree->temps.len - 1;
    vec_push(&z->before.stmts, tree_stmt(z->arena, kind, t, n, args, z->loop->span));
    return t;
}

static Temp emit_literal(Peeler *z, int64_t value) {
    Temp t = emit(z, ST_LIT, 0, NULL);
    vec_last(&z->before.stmts)->u.num = value;
    return t;
}

static bool is_literal(const Peeler *z, Temp t, int64_t *value) {
    const Stmt *s = t < z->temps ? z->def[t] : NULL;
    for (int i = 0; t >= z->temps && i < z->before.stmts.len; i++)
        if (z->before.stmts.data[i]->dst == t) s = z->before.stmts.data[i];
    if (!s || s->kind != ST_LIT) return false;
    *value = s->u.num;
    return true;
}

static Temp emit_op(Peeler *z, Op op, Temp a, Temp b) {
    int64_t x, y;
    bool first = is_literal(z, a, &x), second = is_literal(z, b, &y);
    if (second && !y && (op == OP_add || op == OP_sub)) return a;
    if (first && !x && op == OP_add) return b;
    if (first && second && (op == OP_add || op == OP_sub)) return emit_literal(z, op == OP_add ? x + y : x - y);
    Temp args[] = {a, b}, t = emit(z, ST_OP, 2, args);
    vec_last(&z->before.stmts)->op = op;
    return t;
}

// If t is factor * index + rest, with a factor of -1, 0 or 1: emits the rest before the loop; else -1.
static Temp rest_of(Peeler *z, Temp t, int *factor, int depth) {
    *factor = t == z->loop->dst;
    if (t == z->loop->dst) return emit_literal(z, 0);
    if (!is_made(z, t)) return t;
    const Stmt *s = z->def[t];
    if (s->kind == ST_LIT) return emit_literal(z, s->u.num);
    if (s->kind != ST_OP || depth == LINEAR_DEPTH) return -1;
    bool sum = s->op == OP_add || s->op == OP_sub;
    if (!sum && s->op != OP_mul && s->op != OP_min && s->op != OP_max) return -1;
    int f, g;
    Temp a = rest_of(z, s->args[0], &f, depth + 1), b = a < 0 ? -1 : rest_of(z, s->args[1], &g, depth + 1);
    if (b < 0 || (!sum && (f || g))) return -1;
    *factor = s->op == OP_sub ? f - g : f + g;
    return *factor >= -1 && *factor <= 1 ? emit_op(z, s->op, a, b) : -1;
}

// factor * index <= limit in the middle, where factor is 1 or -1; with `below`, < limit.
static void bound(Peeler *z, int factor, Temp limit, bool below) {
    if (factor > 0) {
        vec_push(&z->most, below ? limit : emit_op(z, OP_add, limit, emit_literal(z, 1)));
    } else {
        Temp least = emit_op(z, OP_sub, emit_literal(z, below), limit);
        vec_push(&z->least, least);
    }
}

// Notes where a condition holds; false if that is not one interval.
static bool holds(Peeler *z, Temp t) {
    const Stmt *s = is_made(z, t) ? z->def[t] : NULL;
    if (!s || s->kind != ST_OP) return false;
    if (s->op == OP_and) return holds(z, s->args[0]) && holds(z, s->args[1]);
    if ((s->op != OP_lt && s->op != OP_le) || !is_int(z, s->args[0])) return false;
    int f, g;
    Temp a = rest_of(z, s->args[0], &f, 0), b = a < 0 ? -1 : rest_of(z, s->args[1], &g, 0);
    if (b < 0 || (f - g != 1 && f - g != -1)) return false;
    bound(z, f - g, emit_op(z, OP_sub, b, a), s->op == OP_lt);
    return true;
}

// Notes where a minimum or maximum is the one of its operands that does not depend on the index.
static void bound_extreme(Peeler *z, Stmt *s) {
    int f, g;
    Temp a = rest_of(z, s->args[0], &f, 0), b = a < 0 ? -1 : rest_of(z, s->args[1], &g, 0);
    if (b < 0 || (f == 0) == (g == 0)) return;
    Temp same = f ? b : a, other = f ? a : b;
    int factor = f ? f : g; // min: same <= factor * index + other
    if (s->op == OP_max) bound(z, factor, emit_op(z, OP_sub, same, other), false);
    else bound(z, -factor, emit_op(z, OP_sub, other, same), false);
    vec_push(&z->known, ((Known){s, same}));
}

static void find(Peeler *z, const Block *block) {
    for (int i = 0; i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_OP && (s->op == OP_min || s->op == OP_max) && is_int(z, s->dst)) bound_extreme(z, s);
        if (s->kind != ST_IF) continue;
        int least = z->least.len, most = z->most.len;
        if (holds(z, s->args[0])) vec_push(&z->known, ((Known){z->def[s->args[0]], -1}));
        else z->least.len = least, z->most.len = most;
        find(z, s->body);
    }
}

static void note_blocks(Peeler *z, const Block *block) {
    if (!block) return;
    map_put(&z->blocks, block, (void *)block);
    for (int i = 0; i < block->stmts.len; i++) {
        note_blocks(z, block->stmts.data[i]->body);
        note_blocks(z, block->stmts.data[i]->other);
    }
}

// Is the buffer new in each run of a block inside of the loop?
static bool is_new(const Peeler *z, const Buf *b) { return b && b->home && map_get(&z->blocks, b->home); }

// How many statements there are; a large number where a buffer's life depends on a block inside.
static int survey(Peeler *z, const Block *block, int depth) {
    int n = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) map_put(&z->made, (void *)((intptr_t)s->dst + 1), (void *)s);
        bool inside = is_new(z, s->buf) || is_new(z, s->src) || s->kind == ST_NEW || s->kind == ST_LOOP;
        bool deep = depth > 0 && s->kind == ST_FOR;
        n += inside || deep ? LARGEST_BODY : 1;
        n += survey(z, s->body, depth + (s->kind == ST_FOR)) + survey(z, s->other, depth);
    }
    return n;
}

static Temp limit(Peeler *z, Op op, Temp t, int n, const Temp *by) {
    for (int i = 0; i < n; i++) t = emit_op(z, op, t, by[i]);
    return t;
}

static bool is_true(const Peeler *z, const Stmt *s) {
    for (int i = 0; s->kind == ST_IF && i < z->known.len; i++)
        if (z->known.data[i].same < 0 && z->known.data[i].s->dst == s->args[0]) return true;
    return false;
}

// Puts the branches that are taken in the place of what decides.
static void take_branches(const Peeler *z, Block *block) {
    for (int i = 0; i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (!is_true(z, s)) continue;
        take_branches(z, s->body);
        if (!s->body->stmts.len) continue;
        block->stmts.data[i] = s->body->stmts.data[0];
        for (int k = 1; k < s->body->stmts.len; k++) block_insert(block, i + k, s->body->stmts.data[k]);
        i += s->body->stmts.len - 1;
        vec_free(&s->body->stmts);
        block_free(s->other);
    }
}

// The loop, which becomes the middle, with what comes before and after it, if that may be something.
static void split(Peeler *z, Block *block, int at) {
    Stmt *loop = z->loop, *begin = z->least.len ? tree_clone(z->arena, z->tree, loop) : NULL;
    Stmt *end = z->most.len ? tree_clone(z->arena, z->tree, loop) : NULL;
    Temp n = loop->args[0], lo = limit(z, OP_max, emit_literal(z, 0), z->least.len, z->least.data), hi = n;
    if (begin) lo = emit_op(z, OP_min, lo, n), begin->args = arena_copy(z->arena, &lo, sizeof lo);
    if (end) hi = emit_op(z, OP_max, limit(z, OP_min, n, z->most.len, z->most.data), lo);
    Temp middle[] = {hi, lo}, last[] = {n, hi};
    if (end) end->args = arena_copy(z->arena, last, sizeof last), end->nargs = 2;
    loop->args = arena_copy(z->arena, middle, sizeof middle), loop->nargs = 2;
    Temp zero = emit_literal(z, 0);
    for (int i = 0; i < z->known.len; i++) {
        Stmt *s = z->known.data[i].s;
        Temp same[] = {z->known.data[i].same, zero};
        if (same[0] < 0) s->kind = ST_LIT, s->nargs = 0, s->u.num = 1;
        else s->op = OP_add, s->args = arena_copy(z->arena, same, sizeof same);
    }
    take_branches(z, loop->body);
    if (end) block_insert(block, at + 1, end);
    if (begin) block_insert(block, at, begin);
    for (int i = 0; i < z->before.stmts.len; i++) block_insert(block, at + i, z->before.stmts.data[i]);
}

static bool try_split(Peeler *z, Block *block, int at) {
    z->loop = block->stmts.data[at];
    z->before.stmts.len = z->least.len = z->most.len = z->known.len = 0;
    map_free(&z->made), map_free(&z->blocks);
    z->made = z->blocks = (Map){0};
    note_blocks(z, z->loop->body);
    if (z->loop->nargs != 1 || survey(z, z->loop->body, 0) > LARGEST_BODY) return false;
    find(z, z->loop->body);
    if (!z->known.len) return false;
    split(z, block, at);
    return true;
}

static void peel(Peeler *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        int before = block->stmts.len;
        if (s->kind == ST_FOR && try_split(z, block, i)) {
            i += block->stmts.len - before;
            continue;
        }
        peel(z, s->body);
        peel(z, s->other);
    }
}

void lanes_peel(Arena *arena, Tree *tree) {
    if (tree->temps.len > LARGEST_TREE) return;
    Peeler z = {.arena = arena, .tree = tree, .def = ARENA_ARRAY(arena, Stmt *, tree->temps.len + 1)};
    tree_definitions(tree->body, z.def);
    z.temps = tree->temps.len;
    peel(&z, tree->body);
    map_free(&z.made), map_free(&z.blocks);
    vec_free(&z.before.stmts);
    vec_free(&z.least);
    vec_free(&z.most);
    vec_free(&z.known);
}
