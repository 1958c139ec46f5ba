// Strips: many columns of a result that a loop over points writes to. Where they are larger than a cache, each point writes
// to as many places far apart, as in the Jacobian of a function of many points by a few numbers, and for each of them a
// processor first loads what is there. So the loop goes over strips of points: what these store is in a small array, and
// goes from there to the columns, piece by piece, past the caches. How many points there are is asked at run time.
//
//     for i < n { x = a[i]; for k < 20 { out[k, i] = x * b[k] } }      becomes
//
//     if limit < n {
//         for strip < (n + 63) / 64 {
//             first = strip * 64; here = min(64, n - first); new part[20, 64]
//             for j < here { i = first + j; x = a[i]; for k < 20 { part[k, j] = x * b[k] } }
//             move here of part to out from first }
//     } else { for i < n … }
//
// All of a result is written, so that a loop outside of others, which alone writes to it, and in each iteration at its own index,
// writes to all columns in each.
#include "lower/build.h"
#include "lower/cost.h"
#include "lower/effects.h"
#include "lower/loop_passes.h"

// Columns; points of a strip; how many caches columns fill at least, and which part of one a strip takes, or, if it is short, at
// most; statements of a loop.
enum { LEAST = 8, MOST = 64, LEAST_STRIP = 16, MOST_STRIP = 256, CACHES = 2, PART = 32, LARGEST_PART = 4, LARGEST = 600 };

typedef struct Columns {
    Buf *of, *part;
    int at; // the dimension for the points
} Columns;

typedef struct Strips {
    Block *block; // with the loop in it
    Stmt *loop;
    VEC(Columns) columns;
    int64_t bytes;  // that an iteration stores in them
    int64_t length; // of a strip
    int64_t limit;  // more iterations than these are worth strips
} Strips;

typedef struct Stripper {
    Builder b;
    Model m;
    VEC(Strips *) found;
} Stripper;

// ---- which loops

// Counts the stores to the array in the block; are they all at the loop's index, in the same dimension?
static bool stores_at(const Block *block, const Stmt *loop, Columns *c, int *n) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->buf == c->of) {
            int at = -1;
            if (s->kind != ST_STORE) return false;
            for (int k = 0; k < c->of->rank; k++)
                if (stmt_index(s)[k] == loop->dst) at = at < 0 ? k : c->of->rank;
            if (at < 1 || at == c->of->rank || (*n && at != c->at)) return false;
            c->at = at, ++*n;
        }
        if (!stores_at(s->body, loop, c, n) || !stores_at(s->other, loop, c, n)) return false;
    }
    return true;
}

// Are there many columns, and is it known how many, and how long what a point has in them?
static bool are_many(const Stripper *z, const Columns *c, int64_t *bytes) {
    enum { LARGE = 1 << 20 };
    int64_t columns = 1, n;
    *bytes = (int64_t)kind_size(c->of->kind);
    for (int k = 0; k < c->of->rank; k++) {
        if (k == c->at) continue;
        if (!iter_literal(&z->m.it, c->of->extent[k], &n) || n < 1 || n > LARGE) return false;
        if (k < c->at) columns *= n;
        *bytes *= n;
        if (columns > MOST || *bytes > LARGE) return false;
    }
    return columns >= LEAST;
}

static int count_statements(const Block *block) {
    int n = block ? block->stmts.len : 0;
    for (int i = 0; block && i < block->stmts.len; i++)
        n += count_statements(block->stmts.data[i]->body) + count_statements(block->stmts.data[i]->other);
    return n;
}

// Are its extents known before the loop?
static bool is_known(const Stripper *z, const Stmt *loop, const Buf *b) {
    Stmt **def = ARENA_ARRAY(z->b.arena, Stmt *, z->b.tree->temps.len + 1);
    tree_definitions(loop->body, def);
    for (int k = 0; k < b->rank; k++)
        if (def[b->extent[k]]) return false;
    return true;
}

static void find_columns(Stripper *z, Strips *t) {
    for (int i = 0; i < z->b.tree->bufs.len; i++) {
        Columns c = {.of = z->b.tree->bufs.data[i]};
        int n = 0;
        int64_t bytes;
        if (c.of->where != BUF_OUTPUT || c.of->rank < 2 || !stores_at(t->loop->body, t->loop, &c, &n) || !n) continue;
        if (n != block_accesses(z->b.tree->body, c.of) || !are_many(z, &c, &bytes) || !is_known(z, t->loop, c.of)) continue;
        vec_push(&t->columns, c);
        t->bytes += bytes;
    }
}

static void find_length(const Stripper *z, Strips *t) {
    int64_t cache = (int64_t)z->m.machine->cache;
    for (t->length = MOST_STRIP; t->length > LEAST_STRIP && t->length * t->bytes > cache / PART;) t->length /= 2;
    t->limit = t->length * t->bytes <= cache / LARGEST_PART ? CACHES * cache / t->bytes : INT64_MAX;
}

// A loop that has lanes writes to neighbours in a column, and the columns of few points are in the cache.
static bool is_candidate(Stripper *z, Strips *t) {
    int64_t n;
    bool lanes;
    if (!nest_is_plain(t->loop) || t->loop->few || t->loop->outer || t->loop->shifted) return false;
    find_columns(z, t);
    if (!t->columns.len || count_statements(t->loop->body) > LARGEST) return false;
    find_length(z, t);
    if (t->limit == INT64_MAX || (iter_literal(&z->m.it, t->loop->args[0], &n) && n <= t->limit)) return false;
    z->m.silent = true;
    model_best(&z->m, t->loop, &lanes);
    return !lanes;
}

// What is in no loop runs once.
static void find(Stripper *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_IF) find(z, s->body), find(z, s->other);
        if (s->kind != ST_FOR) continue;
        Strips *t = ARENA_NEW(z->b.arena, Strips);
        *t = (Strips){.block = block, .loop = s};
        if (is_candidate(z, t)) vec_push(&z->found, t);
        else vec_free(&t->columns);
    }
}

// ---- what they become

static Temp number(Stripper *z, Block *to, int64_t n) { return build_literal(&z->b, to, KIND_INT, n); }

static void make_part(Stripper *z, Block *to, const Strips *t, Columns *c) {
    Temp extent[RANK_MAX];
    for (int k = 0; k < c->of->rank; k++) extent[k] = k == c->at ? number(z, to, t->length) : c->of->extent[k];
    c->part = build_buf(&z->b, to, to, c->of->kind, c->of->rank, extent);
}

static void store_to_part(const Block *block, const Columns *c, Temp j) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->buf == c->of) s->buf = c->part, s->args[1 + c->at] = j;
        store_to_part(s->body, c, j);
        store_to_part(s->other, c, j);
    }
}

static void put_strips(Stripper *z, Block *to, const Strips *t, Stmt *loop) {
    Temp n = loop->args[0], up = build_int(&z->b, to, OP_add, n, number(z, to, t->length - 1));
    Temp count = build_int(&z->b, to, OP_idiv, up, number(z, to, t->length));
    Stmt *strips = build_loop_named(&z->b, to, "strip", count);
    Block *body = strips->body;
    Temp length = number(z, body, t->length), first = build_int(&z->b, body, OP_mul, strips->dst, length);
    Temp here = build_int(&z->b, body, OP_min, length, build_int(&z->b, body, OP_sub, n, first));
    for (int i = 0; i < t->columns.len; i++) make_part(z, body, t, &t->columns.data[i]);
    Stmt *points = build_loop(&z->b, body, loop->dst, here);
    for (int i = 0; i < t->columns.len; i++) store_to_part(loop->body, &t->columns.data[i], points->dst);
    block_rename(loop->body, loop->dst, build_int(&z->b, points->body, OP_add, first, points->dst));
    block_insert(loop->body, 0, points->body->stmts.data[0]);
    vec_free(&points->body->stmts);
    points->body = loop->body; // the home of arrays that are new in each iteration
    for (int i = 0; i < t->columns.len; i++) {
        const Columns *c = &t->columns.data[i];
        Stmt *move = build_stmt(&z->b, body, ST_MOVE, -1, 2, (Temp[]){first, here});
        move->buf = c->of, move->src = c->part, move->u.num = c->at;
    }
}

static void explain_strips(const Stripper *z, const Strips *t) {
    const char *name = z->b.tree->temps.data[t->loop->dst].name;
    explain(z->b.tree->func->ir->explain, EXPLAIN_SCHEDULE, t->loop->span,
            "loop over `%s`: in strips of %lld, from %lld iterations on: it writes to many columns, which get pieces of a strip",
            name ? name : "i", (long long)t->length, (long long)t->limit + 1);
}

static void strip(Stripper *z, Strips *t) {
    Block out = {0}, news = {0};
    int64_t n;
    int at = 0;
    z->b.span = t->loop->span;
    explain_strips(z, t);
    if (iter_literal(&z->m.it, t->loop->args[0], &n)) {
        put_strips(z, &out, t, t->loop);
    } else {
        Temp limit = number(z, &out, t->limit);
        Stmt *large = build_if(&z->b, &out, build_op(&z->b, &out, KIND_BOOL, OP_lt, limit, t->loop->args[0]), true);
        Stmt *copy = tree_clone_apart(z->b.arena, z->b.tree, t->loop, &news);
        for (int i = 0; i < news.stmts.len; i++) vec_push(&large->body->stmts, news.stmts.data[i]);
        vec_free(&news.stmts);
        put_strips(z, large->body, t, copy);
        vec_push(&large->other->stmts, t->loop);
    }
    while (t->block->stmts.data[at] != t->loop) at++;
    block_delete(t->block, at);
    for (int i = 0; i < out.stmts.len; i++) block_insert(t->block, at + i, out.stmts.data[i]);
    vec_free(&out.stmts);
}

void loops_strip(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Stripper z = {.b = {.arena = arena, .tree = tree},
                  .m = {.machine = opt->machine,
                        .always = opt->always,
                        .roots = opt->roots,
                        .shared = opt->shared,
                        .masks = opt->width >= LANES_MASKED}};
    iter_init(&z.m.it, arena, tree, opt->precise);
    z.m.it.fast = opt->fast;
    model_find_windows(&z.m);
    find(&z, tree->body);
    for (int i = 0; i < z.found.len; i++) {
        if (tree_step(tree, z.found.data[i]->loop)) strip(&z, z.found.data[i]);
        vec_free(&z.found.data[i]->columns);
    }
    vec_free(&z.found);
    map_free(&z.m.windows), map_free(&z.m.rests);
    vec_free(&z.m.inner), vec_free(&z.m.taken);
    iter_free(&z.m.it);
}
