// Loops over equal extents that follow each other become one where an iteration of the second needs no more than the same
// iteration of the first has made, or nothing of it. What the first stores, the second then need not load; an array that
// nothing loads any more is not stored. (The lowering merges loops that need nothing of each other: loops.c.)
//
//     for i < n { a[i] = e }; for j < n { b[j] = f(a[j]) }   becomes   for i < n { a[i] = e; b[i] = f(e) }
//
// Merged are nests of loops with scalar work inside that may have lanes, if they have an array in common. Where they are grids of a
// GPU, each is a launch, and what it leaves for the next goes through memory: then all such nests are merged, also fills and
// copies.
#include "lower/effects.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"

enum { NEAR = 40, LARGEST_LOOP = 150, LARGEST_BLOCK = 1000, DEEPEST = 6, KNOWN = 64, FEW = 8, LARGEST_GRID = 400 };

typedef struct Merger {
    Arena *arena;
    Tree *tree;
    Stmt **def;  // by temp
    int temps;   // so many have one
    bool strict; // sums keep their order
    bool grids;  // the loops are those of a GPU
    // Of the block that is looked at:
    Block *block;
    VEC(Effects) of; // its statements
} Merger;

static bool is_literal(const Merger *z, Temp t, int64_t *value) {
    const Stmt *s = t < z->temps ? z->def[t] : NULL;
    if (!s || s->kind != ST_LIT || z->tree->temps.data[t].kind != KIND_INT) return false;
    *value = s->u.num;
    return true;
}

static bool same(const Merger *z, Temp a, Temp b) {
    int64_t x, y;
    return a == b || (is_literal(z, a, &x) && is_literal(z, b, &y) && x == y);
}

static bool differ(const Merger *z, Temp a, Temp b) {
    int64_t x, y;
    return is_literal(z, a, &x) && is_literal(z, b, &y) && x != y;
}

// ---- what is stored and loaded in an iteration

typedef struct Known { // buf[index…] = value
    Buf *buf;
    const Temp *index;
    Temp value;
    Stmt *store; // what stored it, if nothing has loaded it since
} Known;

typedef struct Forward {
    Merger *z;
    Block *loop; // the whole body
    Known known[KNOWN];
    int n;
} Forward;

static bool same_element(const Merger *z, const Buf *buf, const Temp *a, const Temp *b) {
    for (int k = 0; k < buf->rank; k++)
        if (!same(z, a[k], b[k])) return false;
    return true;
}

static bool other_element(const Merger *z, const Buf *buf, const Temp *a, const Temp *b) {
    for (int k = 0; k < buf->rank; k++)
        if (differ(z, a[k], b[k])) return true;
    return false;
}

static Known *find_known(Forward *f, const Buf *buf, const Temp *index) {
    for (int i = 0; i < f->n; i++)
        if (f->known[i].buf == buf && same_element(f->z, buf, f->known[i].index, index)) return &f->known[i];
    return NULL;
}

static void loaded(Forward *f, const Buf *buf, const Temp *index) {
    for (int i = 0; i < f->n; i++)
        if (f->known[i].buf == buf && !other_element(f->z, buf, f->known[i].index, index)) f->known[i].store = NULL;
}

// Forgets what a write to the element may change.
static void written(Forward *f, const Buf *buf, const Temp *index) {
    for (int i = 0; i < f->n; i++)
        if (f->known[i].buf == buf && !other_element(f->z, buf, f->known[i].index, index)) f->known[i--] = f->known[--f->n];
}

static void written_inside(Forward *f, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_STORE || s->kind == ST_ADDTO) written(f, s->buf, s->args + 1);
        written_inside(f, s->body);
        written_inside(f, s->other);
    }
}

// What is added to a known element is stored.
static void add_known(Forward *f, Block *block, int at, const Known *k) {
    Merger *z = f->z;
    Stmt *s = block->stmts.data[at];
    const Stmt *was = k->value < z->temps ? z->def[k->value] : NULL;
    bool zero = was && was->kind == ST_LIT && kind_is_float(s->buf->kind) && was->u.real == 0.0 && !z->strict;
    s->kind = ST_STORE;
    if (zero) return;
    vec_push(&z->tree->temps, ((TempInfo){.kind = s->buf->kind}));
    Temp sum = z->tree->temps.len - 1, both[] = {k->value, s->args[0]};
    Stmt *add = tree_stmt(z->arena, ST_OP, sum, 2, both, s->span);
    add->op = OP_add;
    block_insert(block, at, add);
    s->args = arena_copy(z->arena, s->args, sizeof(Temp) * (size_t)s->nargs);
    s->args[0] = sum;
}

static void forward(Forward *f, Block *block, bool top);

static void forward_arm(Forward *f, Block *arm) {
    if (!arm) return;
    Forward inside = *f;
    for (int i = 0; i < inside.n; i++) inside.known[i].store = NULL;
    forward(&inside, arm, false);
}

static void forward_store(Forward *f, Stmt *s, bool top) {
    Known *k = find_known(f, s->buf, s->args + 1);
    if (k && k->store && top) stmt_drop(k->store);
    written(f, s->buf, s->args + 1);
    if (f->n < KNOWN) f->known[f->n++] = (Known){s->buf, s->args + 1, s->args[0], top ? s : NULL};
}

static void forward(Forward *f, Block *block, bool top) {
    for (int i = 0; i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        Known *k = s->kind == ST_LOAD    ? find_known(f, s->buf, s->args)
                   : s->kind == ST_ADDTO ? find_known(f, s->buf, s->args + 1)
                                         : NULL;
        if (s->kind == ST_LOAD && k) {
            block_rename(f->loop, s->dst, k->value);
            stmt_drop(s);
        } else if (s->kind == ST_LOAD || s->kind == ST_FETCH) {
            loaded(f, s->buf, stmt_index(s));
        } else if (s->kind == ST_ADDTO && k) {
            int before = block->stmts.len;
            add_known(f, block, i, k);
            i += block->stmts.len - before;
            forward_store(f, s, top);
        } else if (s->kind == ST_ADDTO) {
            written(f, s->buf, s->args + 1);
        } else if (s->kind == ST_STORE) {
            forward_store(f, s, top);
        } else if (s->kind == ST_IF) {
            forward_arm(f, s->body);
            forward_arm(f, s->other);
            for (int n = 0; n < f->n; n++) f->known[n].store = NULL;
            written_inside(f, s->body);
            written_inside(f, s->other);
        }
    }
}

static void forward_in(Merger *z, Block *body) {
    Forward f = {.z = z, .loop = body};
    forward(&f, body, true);
    block_sweep(body);
}

// ---- one loop from two

// Nests of the same depth and extents with scalar work inside?
static bool alike(const Merger *z, const Stmt *a, const Stmt *b) {
    for (int depth = 0; a && b && depth < DEEPEST; depth++) {
        if (!nest_is_plain(a) || !nest_is_plain(b) || !same(z, a->args[0], b->args[0])) return false;
        bool flat = nest_is_flat(a->body);
        if (flat != nest_is_flat(b->body)) return false;
        if (flat) return true;
        a = nest_inner(a), b = nest_inner(b);
    }
    return false;
}

static bool have_common(const Effects *a, const Effects *b) {
    for (int i = 0; i < a->access.len; i++)
        for (int k = 0; k < b->access.len; k++)
            if (a->access.data[i].buf == b->access.data[k].buf) return true;
    return false;
}

// Do both write to an array, but not to the same elements?
static bool write_beside(const Merger *z, Temp i, const Effects *a, Temp j, const Effects *b) {
    bool both = false;
    for (int x = 0; x < a->access.len; x++)
        for (int y = 0; y < b->access.len; y++) {
            const Access *p = &a->access.data[x], *q = &b->access.data[y];
            if (p->buf != q->buf || !p->write || !q->write) continue;
            bool equal = true;
            for (int k = 0; k < p->buf->rank && p->index && q->index; k++)
                equal &= (p->index[k] == i && q->index[k] == j) || !differ(z, p->index[k], q->index[k]);
            if (equal) return false;
            both = true;
        }
    return both;
}

// Loops that arithmetic limits gain nothing by being one, and lose: of fewer vectors the values are in registers at the same
// time. Nor do nests that write to different rows of an array: they leave one row after the other.
static bool pays(const Merger *z, const Stmt *a, const Effects *ea, const Stmt *b, const Effects *eb) {
    bool dear_a = nest_is_dear(a->body), dear_b = nest_is_dear(b->body);
    if (dear_a || dear_b) return !(dear_a && dear_b) && (dear_a ? eb : ea)->size <= FEW;
    return nest_is_flat(a->body) || !write_beside(z, a->dst, ea, b->dst, eb);
}

static bool writes(const Effects *e, const Buf *b) {
    for (int i = 0; i < e->access.len; i++)
        if (e->access.data[i].buf == b && e->access.data[i].write) return true;
    return false;
}

// Does a nest do nothing but store what it loads of an array that others with effects e make?
static bool only_moves(const Stmt *s, const Effects *e) {
    const Stmt *load = NULL;
    if (!nest_is_plain(s)) return false;
    if (nest_inner(s)) return only_moves(nest_inner(s), e);
    for (int i = 0; i < s->body->stmts.len; i++) {
        const Stmt *t = s->body->stmts.data[i];
        if (t->kind == ST_STORE) return load && t->args[0] == load->dst && i + 1 == s->body->stmts.len;
        if (t->kind == ST_LOAD && !load && writes(e, t->buf)) load = t;
        else if (!stmt_is_pure(t)) return false;
    }
    return false;
}

static bool mergeable(const Merger *z, int first, int second) {
    const Stmt *a = z->block->stmts.data[first], *b = z->block->stmts.data[second];
    const Effects *ea = &z->of.data[first], *eb = &z->of.data[second];
    if (ea->size + eb->size > (z->grids ? LARGEST_GRID : LARGEST_LOOP) || ea->stops || !have_common(ea, eb)) return false;
    if (effects_share_cells(ea, eb) || !effects_apart(ea, a->dst, eb, b->dst)) return false;
    // what an iteration of any kind has made is still near when it is moved elsewhere
    bool alike_outside = same(z, a->args[0], b->args[0]) && nest_is_flat(a->body) == nest_is_flat(b->body);
    if (!z->grids && alike_outside && !nest_inner(a) && only_moves(b, ea)) return true;
    if (!alike(z, a, b) || (!z->grids && !pays(z, a, ea, b, eb))) return false;
    return nest_is_parallel(a, ea, z->def, z->strict) && nest_is_parallel(b, eb, z->def, z->strict);
}

// May loops inside of a and b be one, where a's comes after what b's needs?
static bool inner_too(const Stmt *a, const Stmt *b) {
    Stmt *in_a = nest_inner(a), *in_b = nest_inner(b);
    if (!in_a || !in_b) return false;
    Effects ea = {0}, eb = {0};
    effects_add(&ea, in_a), effects_add(&eb, in_b);
    bool ok = effects_apart(&ea, in_a->dst, &eb, in_b->dst);
    for (int i = 0; i + 1 < b->body->stmts.len && ok; i++) {
        Effects e = {0};
        effects_add(&e, b->body->stmts.data[i]);
        ok = !effects_conflict(in_a, &ea, b->body->stmts.data[i], &e);
        effects_free(&e);
    }
    effects_free(&ea), effects_free(&eb);
    return ok;
}

// a does what b did, too.
static void join(Merger *z, Stmt *a, Stmt *b) {
    bool inner = inner_too(a, b);
    a->opened = NULL;
    Stmt *in_a = nest_inner(a), *in_b = nest_inner(b);
    block_rename(b->body, b->dst, a->dst);
    int at = a->body->stmts.len - inner, n = b->body->stmts.len - inner;
    for (int i = 0; i < n; i++) block_insert(a->body, at + i, b->body->stmts.data[i]);
    if (inner) join(z, in_a, in_b);
    else if (nest_is_flat(a->body)) forward_in(z, a->body);
    vec_free(&b->body->stmts);
}

// Marks the statements between a and b that must come before b, and so before a: false if one must not.
static bool must_precede(const Merger *z, int a, int b, bool *first) {
    Stmt *const *s = z->block->stmts.data;
    const Effects *of = z->of.data;
    for (int i = b - 1; i > a; i--) {
        first[i - a] = effects_conflict(s[i], &of[i], s[b], &of[b]);
        for (int k = i + 1; k < b && !first[i - a]; k++)
            first[i - a] = first[k - a] && effects_conflict(s[i], &of[i], s[k], &of[k]);
        if (first[i - a] && effects_conflict(s[a], &of[a], s[i], &of[i])) return false;
    }
    return true;
}

static void move_up(Merger *z, int from, int to) {
    Stmt *s = z->block->stmts.data[from];
    Effects e = z->of.data[from];
    for (int i = from; i > to; i--) z->block->stmts.data[i] = z->block->stmts.data[i - 1], z->of.data[i] = z->of.data[i - 1];
    z->block->stmts.data[to] = s, z->of.data[to] = e;
}

static void remove_at(Merger *z, int at) {
    effects_free(&z->of.data[at]);
    for (int i = at; i + 1 < z->block->stmts.len; i++)
        z->block->stmts.data[i] = z->block->stmts.data[i + 1], z->of.data[i] = z->of.data[i + 1];
    z->block->stmts.len--, z->of.len--;
}

// Merges the loop at b into the one at a; returns where that is then.
static int merge_two(Merger *z, int a, int b, const bool *first) {
    for (int i = a + 1, was = a; i < b; i++)
        if (first[i - was]) move_up(z, i, a++);
    join(z, z->block->stmts.data[a], z->block->stmts.data[b]);
    remove_at(z, b);
    effects_free(&z->of.data[a]);
    z->of.data[a] = (Effects){0};
    effects_add(&z->of.data[a], z->block->stmts.data[a]);
    return a;
}

// Merges loops that follow the statement at a into it, if it is one; returns where to go on: what had to be moved before it may
// merge with it.
static int merge_at(Merger *z, int a) {
    Stmt *const *s = z->block->stmts.data;
    bool first[NEAR + 1];
    for (int b = a + 1; nest_is_plain(s[a]) && b < z->block->stmts.len && b - a <= NEAR;) {
        if (!nest_is_plain(s[b]) || !mergeable(z, a, b) || !must_precede(z, a, b, first) || !tree_step(z->tree, s[b])) {
            b++;
            continue;
        }
        if (merge_two(z, a, b, first) > a) return a;
    }
    return a + 1;
}

static void merge_block(Merger *z, Block *block) {
    if (!block) return;
    if (block->stmts.len <= LARGEST_BLOCK) {
        z->block = block;
        for (int i = 0; i < block->stmts.len; i++) {
            vec_push(&z->of, ((Effects){0}));
            effects_add(&vec_last(&z->of), block->stmts.data[i]);
        }
        for (int a = 0; a < block->stmts.len;) a = merge_at(z, a);
        for (int i = 0; i < z->of.len; i++) effects_free(&z->of.data[i]);
        z->of.len = 0;
    }
    for (int i = 0; i < block->stmts.len; i++) {
        merge_block(z, block->stmts.data[i]->body);
        merge_block(z, block->stmts.data[i]->other);
    }
}

// ---- fills and copies

// The fill or copy as a nest of loops, which it is noted for.
static Stmt *as_nest(Merger *z, Stmt *s) {
    Buf *b = s->buf;
    Temp *index = ARENA_ARRAY(z->arena, Temp, b->rank + 1), *args = ARENA_ARRAY(z->arena, Temp, b->rank + 1);
    Stmt *outermost = NULL, *loop = NULL;
    for (int k = 0; k < b->rank; k++) {
        vec_push(&z->tree->temps, ((TempInfo){.kind = KIND_INT, .name = "i"}));
        index[k] = z->tree->temps.len - 1;
        Stmt *inner = tree_stmt(z->arena, ST_FOR, index[k], 1, &b->extent[k], s->span);
        inner->body = ARENA_NEW(z->arena, Block);
        if (loop) vec_push(&loop->body->stmts, inner);
        else outermost = inner;
        loop = inner;
    }
    args[0] = s->kind == ST_FILL ? s->args[0] : -1;
    if (s->kind == ST_COPY) {
        vec_push(&z->tree->temps, ((TempInfo){.kind = b->kind}));
        Stmt *load = tree_stmt(z->arena, ST_LOAD, args[0] = z->tree->temps.len - 1, b->rank, index, s->span);
        load->buf = s->src;
        vec_push(&loop->body->stmts, load);
    }
    memcpy(args + 1, index, sizeof *args * (size_t)b->rank);
    Stmt *store = tree_stmt(z->arena, ST_STORE, -1, b->rank + 1, args, s->span);
    store->buf = b;
    vec_push(&loop->body->stmts, store);
    outermost->opened = s;
    return outermost;
}

static bool has_extents(const Merger *z, const Buf *a, const Buf *b) {
    if (a->rank != b->rank) return false;
    for (int k = 0; k < a->rank; k++)
        if (!same(z, a->extent[k], b->extent[k])) return false;
    return true;
}

static void open_copies(Merger *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        open_copies(z, s->body), open_copies(z, s->other);
        bool can = s->kind == ST_FILL || (s->kind == ST_COPY && has_extents(z, s->buf, s->src));
        if (can && s->buf->rank > 0 && s->buf->rank <= DEEPEST) block->stmts.data[i] = as_nest(z, s);
    }
}

// Fills and copies that have stayed loops of their own are such again.
static void close_copies(Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i], *was = s->opened;
        close_copies(s->body);
        close_copies(s->other);
        if (!was) continue;
        block_free(s->body);
        block->stmts.data[i] = was;
    }
}

static void merge(Merger *z) {
    z->temps = z->tree->temps.len;
    z->def = ARENA_ARRAY(z->arena, Stmt *, z->temps + 1);
    tree_definitions(z->tree->body, z->def);
    merge_block(z, z->tree->body);
    close_copies(z->tree->body);
    vec_free(&z->of);
    lower_remove_dead(z->arena, z->tree);
}

void loops_merge(Arena *arena, Tree *tree, const LoopOptions *opt) {
    merge(&(Merger){.arena = arena, .tree = tree, .strict = opt->precise});
}

void loops_nests(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Merger z = {.arena = arena, .tree = tree, .strict = opt->precise, .grids = true, .temps = tree->temps.len};
    z.def = ARENA_ARRAY(arena, Stmt *, z.temps + 1);
    tree_definitions(tree->body, z.def);
    open_copies(&z, tree->body);
    merge(&z);
}
