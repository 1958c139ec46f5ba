// Copies of statements, with temps and buffers of their own for what is made inside.
#include "lower/internal.h"

typedef struct Cloner {
    Arena *arena;
    Tree *tree;
    Map *temps, *bufs, blocks; // original -> copy; a temp is its number + 1
} Cloner;

static Temp clone_temp(const Cloner *z, Temp t) {
    intptr_t copy = (intptr_t)map_get(z->temps, (void *)((intptr_t)t + 1));
    return copy ? (Temp)(copy - 1) : t;
}

static Temp *clone_temps(Cloner *z, int n, const Temp *t) {
    Temp *copy = ARENA_ARRAY(z->arena, Temp, n + 1);
    for (int k = 0; k < n; k++) copy[k] = clone_temp(z, t[k]);
    return copy;
}

static Temp define(Cloner *z, Temp t) {
    TempInfo like = z->tree->temps.data[t];
    vec_push(&z->tree->temps, like);
    Temp copy = z->tree->temps.len - 1;
    map_put(z->temps, (void *)((intptr_t)t + 1), (void *)((intptr_t)copy + 1));
    return copy;
}

static Buf *clone_buf(const Cloner *z, Buf *b) {
    Buf *copy = b ? map_get(z->bufs, b) : NULL;
    return copy ? copy : b;
}

static void make_buf(Cloner *z, const Buf *b) {
    Buf *copy = arena_copy(z->arena, b, sizeof *b);
    copy->id = z->tree->bufs.len;
    copy->extent = clone_temps(z, b->rank, b->extent);
    vec_push(&z->tree->bufs, copy);
    map_put(z->bufs, b, copy);
}

static Block *clone_block(Cloner *z, const Block *block);

static Stmt *clone_stmt(Cloner *z, const Stmt *s) {
    Stmt *copy = arena_copy(z->arena, s, sizeof *s);
    copy->args = clone_temps(z, s->nargs, s->args), copy->opened = NULL;
    if (s->kind == ST_NEW) make_buf(z, s->buf);
    copy->buf = clone_buf(z, s->buf), copy->src = clone_buf(z, s->src);
    if (s->in) {
        copy->in = ARENA_ARRAY(z->arena, Buf *, s->nin + 1);
        for (int k = 0; k < s->nin; k++) copy->in[k] = clone_buf(z, s->in[k]);
    }
    if (s->dst >= 0) copy->dst = s->kind == ST_SET ? clone_temp(z, s->dst) : define(z, s->dst);
    copy->body = clone_block(z, s->body);
    copy->other = clone_block(z, s->other);
    return copy;
}

static Block *clone_block(Cloner *z, const Block *block) {
    if (!block) return NULL;
    Block *copy = ARENA_NEW(z->arena, Block);
    map_put(&z->blocks, block, copy);
    for (int i = 0; i < block->stmts.len; i++) vec_push(&copy->stmts, clone_stmt(z, block->stmts.data[i]));
    return copy;
}

Stmt *tree_clone_with(Arena *arena, Tree *tree, const Stmt *s, Map *temps, Map *bufs) {
    Cloner z = {.arena = arena, .tree = tree, .temps = temps, .bufs = bufs};
    const int first = tree->bufs.len;
    Stmt *copy = clone_stmt(&z, s);
    for (int i = first; i < tree->bufs.len; i++) { // an array may come into being before its home
        Buf *b = tree->bufs.data[i];
        Block *home = b->home ? map_get(&z.blocks, b->home) : NULL;
        if (home) b->home = home;
    }
    map_free(&z.blocks);
    return copy;
}

Stmt *tree_clone(Arena *arena, Tree *tree, const Stmt *s) {
    Map temps = {0}, bufs = {0};
    Stmt *copy = tree_clone_with(arena, tree, s, &temps, &bufs);
    map_free(&temps);
    map_free(&bufs);
    return copy;
}

// ---- copies that have nothing in common with the original

// The arrays of a block in `all` that come into being before that: others for the copy. They may have been moved out of the block,
// too, but not out of `all`.
static void note_homes(Cloner *z, Block *to, const Block *all, const Block *block, const Block *copy) {
    for (int i = 0, n = z->tree->bufs.len; i < n; i++) {
        const Buf *b = z->tree->bufs.data[i];
        if (b->home != block || block_find_new(all, b)) continue;
        Buf *other = arena_copy(z->arena, b, sizeof *b);
        other->id = z->tree->bufs.len, other->home = copy;
        vec_push(&z->tree->bufs, other);
        vec_push(&to->stmts, tree_stmt(z->arena, ST_NEW, -1, 0, NULL, (Span){NULL, 0, 0}));
        vec_last(&to->stmts)->buf = other;
        map_put(z->bufs, b, other);
    }
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i], *c = copy->stmts.data[i];
        if (s->body) note_homes(z, to, all, s->body, c->body);
        if (s->other) note_homes(z, to, all, s->other, c->other);
    }
}

static void use_others(Block *block, const Map *bufs) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        Buf *buf = s->buf ? map_get(bufs, s->buf) : NULL, *src = s->src ? map_get(bufs, s->src) : NULL;
        if (buf) s->buf = buf;
        if (src) s->src = src;
        use_others(s->body, bufs);
        use_others(s->other, bufs);
    }
}

Stmt *tree_clone_apart(Arena *arena, Tree *tree, const Stmt *loop, Block *to) {
    Map bufs = {0};
    Cloner z = {.arena = arena, .tree = tree, .bufs = &bufs};
    Stmt *copy = tree_clone(arena, tree, loop);
    note_homes(&z, to, loop->body, loop->body, copy->body);
    use_others(copy->body, &bufs);
    map_free(&bufs);
    return copy;
}
