// Short loops around loops are written out, where that decides conditions on their index or lets what is inside become one
// loop (merge.c); fills and copies beside loops over the same extent become such loops.
//
//     for k < 2 { p = k = 0; for i < n { if p … else … } }   becomes   for i < n { … }; for i < n { … }
#include "lower/effects.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"

enum { MOST_PASSES = 8, MOST_COPIES = 4, LARGEST = 160, LARGEST_OUTSIDE = 1200, LARGEST_COPY = 6, LARGEST_TREE = 50000, MOST_ROWS = 8, NEAR = 40 };

typedef struct Unfolder {
    Arena *arena;
    Tree *tree;
    VEC(Stmt *) def; // by temp
    bool strict;
} Unfolder;

static void define(Unfolder *z, Stmt *s) {
    while (z->def.len <= s->dst) vec_push(&z->def, NULL);
    z->def.data[s->dst] = s;
}

static void define_all(Unfolder *z, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) define(z, s);
        define_all(z, s->body);
        define_all(z, s->other);
    }
}

static bool literal(const Unfolder *z, Temp t, int64_t *value) {
    const Stmt *s = t < z->def.len ? z->def.data[t] : NULL;
    Kind k = z->tree->temps.data[t].kind;
    if (!s || s->kind != ST_LIT || (k != KIND_INT && k != KIND_BOOL)) return false;
    *value = s->u.num;
    return true;
}

static Stmt *new_literal(Unfolder *z, int64_t value, Span span) {
    vec_push(&z->tree->temps, ((TempInfo){.kind = KIND_INT}));
    Stmt *s = tree_stmt(z->arena, ST_LIT, z->tree->temps.len - 1, 0, NULL, span);
    s->u.num = value;
    define(z, s);
    return s;
}

// ---- which loops

// Is t a comparison of the index, or what it is together with others?
static bool is_decided(const Unfolder *z, Temp t, Temp index, int depth) {
    const Stmt *s = t < z->def.len ? z->def.data[t] : NULL;
    int64_t value;
    if (t == index || literal(z, t, &value)) return true;
    if (!s || s->kind != ST_OP || depth == 0 || z->tree->temps.data[t].kind != KIND_BOOL) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!is_decided(z, s->args[k], index, depth - 1)) return false;
    return true;
}

// inner: in a loop inside of the one over the index, where a choice is made again and again.
static bool decides(const Unfolder *z, const Block *block, Temp index, bool inner) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        bool chooses = s->kind == ST_IF || (inner && s->kind == ST_SELECT), in = inner || s->kind == ST_FOR;
        if (chooses && is_decided(z, s->args[0], index, 4)) return true;
        if (decides(z, s->body, index, in) || decides(z, s->other, index, in)) return true;
    }
    return false;
}

// Does the loop hold nothing but short nests with little scalar work?
static bool copies(const Unfolder *z, const Stmt *loop) {
    for (int i = 0; i < loop->body->stmts.len; i++) {
        const Stmt *s = loop->body->stmts.data[i];
        Effects e = {0};
        effects_add(&e, s);
        bool value = s->kind == ST_LIT || s->kind == ST_OP;
        bool fits = value || (s->kind == ST_FOR && nest_is_plain(s) && nest_is_flat(s->body) && e.size <= LARGEST_COPY &&
                              nest_is_parallel(s, &e, z->def.data, z->strict));
        effects_free(&e);
        if (!fits) return false;
    }
    return true;
}

static bool is_short(const Unfolder *z, const Stmt *s, bool outside, int64_t *n) {
    if (!nest_is_plain(s) || !literal(z, s->args[0], n) || *n < 1 || *n > MOST_PASSES || !block_has_for(s->body)) return false;
    Effects e = {0};
    effects_add(&e, s);
    bool small = e.size * *n <= (outside ? LARGEST_OUTSIDE : LARGEST);
    effects_free(&e);
    return small && (decides(z, s->body, s->dst, false) || (*n <= MOST_COPIES && copies(z, s)));
}

// Puts the passes of the loop, which is number `at`, in its place; returns how many statements they are.
static int write_out(Unfolder *z, Block *block, int at, int64_t n) {
    Stmt *loop = block->stmts.data[at];
    int place = at;
    for (int64_t i = 0; i < n; i++) {
        Map temps = {0}, bufs = {0};
        Stmt *index = new_literal(z, i, loop->span);
        map_put(&temps, (void *)((intptr_t)loop->dst + 1), (void *)((intptr_t)index->dst + 1));
        block_insert(block, place++, index);
        for (int k = 0; k < loop->body->stmts.len; k++) {
            Stmt *copy = tree_clone_with(z->arena, z->tree, loop->body->stmts.data[k], &temps, &bufs);
            block_insert(block, place++, copy);
        }
        map_free(&temps), map_free(&bufs);
    }
    block_delete(block, place);
    block_free(loop->body);
    return place - at;
}

static bool makes_arrays(const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_NEW || makes_arrays(s->body) || makes_arrays(s->other)) return true;
    }
    return false;
}

static void unfold(Unfolder *z, Block *block, bool outside) {
    bool any = false;
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        int64_t n;
        unfold(z, s->body, outside && s->kind == ST_IF);
        unfold(z, s->other, outside && s->kind == ST_IF);
        if (s->kind != ST_FOR || z->tree->temps.len > LARGEST_TREE || !is_short(z, s, outside, &n) || makes_arrays(s->body) ||
            !tree_step(z->tree, s))
            continue;
        int count = write_out(z, block, i, n);
        Block part = {{block->stmts.data + i, count, count}};
        define_all(z, &part);
        i += count - 1;
        any = true;
    }
    if (any) lower_decide(z->tree, z->def.len, z->def.data, z->strict, block);
}

// ---- fills and copies

// The rows of an array, each as long as its last extent: how many, 0 if that is not known or many.
static int64_t rows_of(const Unfolder *z, const Buf *b) {
    int64_t rows = b->rank > 0, n;
    for (int d = 0; d + 1 < b->rank; d++) {
        if (!literal(z, b->extent[d], &n) || n < 1 || n > MOST_ROWS || rows * n > MOST_ROWS) return 0;
        rows *= n;
    }
    return rows;
}

// Is there a plain loop with scalar work near the statement, over the array's last extent, that accesses it?
static bool has_neighbour(const Block *block, int at, const Buf *b) {
    for (int i = at > NEAR ? at - NEAR : 0; i < block->stmts.len && i < at + NEAR; i++) {
        const Stmt *s = block->stmts.data[i];
        if (!nest_is_plain(s) || s->args[0] != b->extent[b->rank - 1] || !nest_is_flat(s->body)) continue;
        Effects e = {0};
        bool found = false;
        effects_add(&e, s);
        for (int k = 0; k < e.access.len; k++) found |= e.access.data[k].buf == b;
        effects_free(&e);
        if (found) return true;
    }
    return false;
}

static Temp *row_index(Unfolder *z, const Buf *b, int64_t row, Temp i, Block *into, Span span) {
    Temp *index = ARENA_ARRAY(z->arena, Temp, b->rank + 1);
    index[b->rank - 1] = i;
    for (int d = b->rank - 2; d >= 0; d--) {
        int64_t n = 1;
        literal(z, b->extent[d], &n);
        Stmt *s = new_literal(z, row % n, span);
        vec_push(&into->stmts, s);
        index[d] = s->dst, row /= n;
    }
    return index;
}

// The fill or copy as a loop over the last dimension.
static Stmt *as_loop(Unfolder *z, const Stmt *s, int64_t rows) {
    Buf *b = s->buf;
    vec_push(&z->tree->temps, ((TempInfo){.kind = KIND_INT, .name = "i"}));
    Stmt *loop = tree_stmt(z->arena, ST_FOR, z->tree->temps.len - 1, 1, &b->extent[b->rank - 1], s->span);
    loop->body = ARENA_NEW(z->arena, Block);
    for (int64_t row = 0; row < rows; row++) {
        Temp *index = row_index(z, b, row, loop->dst, loop->body, s->span), *args = ARENA_ARRAY(z->arena, Temp, b->rank + 1);
        if (s->kind == ST_COPY) {
            vec_push(&z->tree->temps, ((TempInfo){.kind = b->kind}));
            Stmt *load = tree_stmt(z->arena, ST_LOAD, z->tree->temps.len - 1, b->rank, index, s->span);
            load->buf = s->src;
            vec_push(&loop->body->stmts, load);
            define(z, load);
            args[0] = load->dst;
        } else {
            args[0] = s->args[0];
        }
        memcpy(args + 1, index, sizeof *args * (size_t)b->rank);
        Stmt *store = tree_stmt(z->arena, ST_STORE, -1, b->rank + 1, args, s->span);
        store->buf = b;
        vec_push(&loop->body->stmts, store);
    }
    define(z, loop);
    return loop;
}

static void open_copies(Unfolder *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        open_copies(z, s->body);
        open_copies(z, s->other);
        if (s->kind != ST_FILL && s->kind != ST_COPY) continue;
        int64_t rows = rows_of(z, s->buf);
        bool src = s->kind == ST_COPY && s->src->rank == s->buf->rank;
        if (!rows || (s->kind == ST_COPY && !src)) continue;
        bool alike = src && s->src->extent[s->src->rank - 1] == s->buf->extent[s->buf->rank - 1];
        if (!has_neighbour(block, i, s->buf) && !(alike && has_neighbour(block, i, s->src))) continue;
        if (!tree_step(z->tree, s)) continue;
        block->stmts.data[i] = as_loop(z, s, rows);
        block->stmts.data[i]->opened = s;
    }
}

void loops_unfold(Arena *arena, Tree *tree, const LoopOptions *opt) {
    if (tree->temps.len > LARGEST_TREE) return;
    Unfolder z = {.arena = arena, .tree = tree, .strict = opt->precise};
    define_all(&z, tree->body);
    unfold(&z, tree->body, true);
    open_copies(&z, tree->body);
    vec_free(&z.def);
}
