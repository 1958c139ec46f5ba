// Results that are numbers of another kind. An array of which nothing is needed but a copy of another kind, such as Ints that a
// result of Int32s holds, is made as that:
//
//     loop { a[i] = e; … }; for k { check a[k]; b[k] = i32(a[k]) }     becomes     loop { b[i] = i32(e); …; check e }
//
// where iterations of the loop are independent, so that nothing is written that is not the element in the end. What is checked,
// whether an Int fits into 32 bits, is checked at the end of the block; of Ints that differ by constants, of the least and the
// greatest.
#include "lower/effects.h"
#include "lower/independent.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"

// A nest that does nothing but convert all of an array.
typedef struct Conversion {
    Stmt *nest;
    const Block *body; // of its innermost loop
    const Stmt *load, *conv, *store;
} Conversion;

typedef struct Site { // a place that stores an element
    Block *block;
    Stmt *store;
} Site;

typedef struct Converter {
    Arena *arena;
    Tree *tree;
    Iterations it;
    VEC(Site) sites;
} Converter;

static Stmt *def_of(const Converter *z, Temp t) { return t >= 0 && t < z->it.known ? z->it.def[t] : NULL; }

static bool literal(const Converter *z, Temp t, int64_t *value) {
    const Stmt *s = def_of(z, t);
    if (!s || s->kind != ST_LIT || z->tree->temps.data[t].kind != KIND_INT) return false;
    *value = s->u.num;
    return true;
}

static bool same(const Converter *z, Temp a, Temp b) {
    int64_t x, y;
    return a == b || (literal(z, a, &x) && literal(z, b, &y) && x == y);
}

// ---- the conversion

// Is all that the statement needs made in the block, or known?
static bool needs_no_more(const Converter *z, const Block *block, int until) {
    const Stmt *s = block->stmts.data[until];
    for (int k = 0; k < s->nargs; k++) {
        const Stmt *by = def_of(z, s->args[k]);
        bool found = by && by->kind == ST_LIT;
        for (int i = 0; i < until && !found; i++) found = block->stmts.data[i] == by;
        if (!found) return false;
    }
    return true;
}

// A load, what is computed and checked of it alone, its conversion, and a store.
static bool converts(const Converter *z, Conversion *c) {
    const Block *b = c->body;
    int last = b->stmts.len - 1;
    if (last < 2 || b->stmts.data[last]->kind != ST_STORE) return false;
    c->load = NULL, c->store = b->stmts.data[last], c->conv = def_of(z, c->store->args[0]);
    if (!c->conv || c->conv->kind != ST_CONV) return false;
    for (int i = 0; i < last; i++) {
        const Stmt *s = b->stmts.data[i];
        bool plain = s->kind == ST_LIT || s->kind == ST_OP || s->kind == ST_CHECK || s == c->conv;
        if (s->kind == ST_LOAD && !c->load) c->load = s;
        else if (!plain || !needs_no_more(z, b, i)) return false;
    }
    return c->load && c->conv->args[0] == c->load->dst && c->load->buf->where == BUF_TEMP && c->store->buf->where == BUF_OUTPUT;
}

static bool is_conversion(const Converter *z, Stmt *s, Conversion *c) {
    const Stmt *loop[RANK_MAX];
    int n = 0;
    *c = (Conversion){.nest = s};
    for (; nest_is_plain(s) && n < RANK_MAX; s = s->body->stmts.data[0]) {
        loop[n++] = s, c->body = s->body;
        if (s->body->stmts.len != 1) break;
    }
    if (!n || !converts(z, c) || c->load->buf->rank != n || c->store->buf->rank != n) return false;
    for (int k = 0; k < n; k++) {
        bool here = stmt_index(c->load)[k] == loop[k]->dst && stmt_index(c->store)[k] == loop[k]->dst;
        if (!here || !same(z, loop[k]->args[0], c->load->buf->extent[k])) return false;
    }
    return block_accesses(z->tree->body, c->store->buf) == 1;
}

// ---- the places where elements are made

// Adds the stores to an array that are in the block; false if iterations around one need each other.
static bool find_sites(Converter *z, Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_STORE && s->buf == b) vec_push(&z->sites, ((Site){block, s}));
        if (!s->body || !stmt_accesses(s, b)) continue;
        bool apart = s->kind == ST_IF || (s->kind == ST_FOR && iter_look(&z->it, s, false));
        iter_forget(&z->it);
        if (!apart || !find_sites(z, s->body, b) || !find_sites(z, s->other, b)) return false;
    }
    return true;
}

// Is what is checked of the site's value checked of another one in the block, too?
static bool is_between(const Converter *z, int site) {
    const Site *s = &z->sites.data[site];
    bool less = false, more = false;
    for (int i = 0; i < z->sites.len; i++) {
        const Site *other = &z->sites.data[i];
        Linear apart = {0};
        if (i == site || other->block != s->block) continue;
        linear_add(z->it.known, z->it.def, other->store->args[0], 1, &apart);
        linear_add(z->it.known, z->it.def, s->store->args[0], -1, &apart);
        if (!linear_is_number(&apart)) continue;
        if (apart.plus == 0 && i < site) return true;
        less |= apart.plus<0, more |= apart.plus> 0;
    }
    return less && more;
}

static int place_of(const Block *block, const Stmt *s) {
    int i = 0;
    while (block->stmts.data[i] != s) i++;
    return i;
}

static int last_place(const Converter *z, const Block *block) {
    int last = -1;
    for (int i = 0; i < z->sites.len; i++) {
        int at = z->sites.data[i].block == block ? place_of(block, z->sites.data[i].store) : -1;
        if (at > last) last = at;
    }
    return last;
}

// ---- making it there

// What is computed of the element, and its conversion (or what is checked of it) for another value; returns the conversion.
static Temp emit(Converter *z, const Conversion *c, Block *to, int at, Temp value, bool checks) {
    Map temps = {0}, bufs = {0};
    Temp made = -1;
    map_put(&temps, (void *)((intptr_t)c->load->dst + 1), (void *)((intptr_t)value + 1));
    for (int i = 0; i < c->body->stmts.len - 1; i++) {
        const Stmt *s = c->body->stmts.data[i];
        if (s == c->load || (checks ? s == c->conv : s != c->conv)) continue;
        for (int k = 0; k < s->nargs; k++) { // numbers may stand elsewhere
            const Stmt *by = def_of(z, s->args[k]);
            if (by && by->kind == ST_LIT && !map_get(&temps, (void *)((intptr_t)by->dst + 1)))
                block_insert(to, at++, tree_clone_with(z->arena, z->tree, by, &temps, &bufs));
        }
        if (s->kind == ST_LIT) continue;
        Stmt *copy = tree_clone_with(z->arena, z->tree, s, &temps, &bufs);
        block_insert(to, at++, copy);
        if (s == c->conv) made = copy->dst;
    }
    map_free(&temps), map_free(&bufs);
    return made;
}

static void make_there(Converter *z, const Conversion *c) {
    for (int i = 0; i < z->sites.len; i++) {
        Site *s = &z->sites.data[i];
        if (z->tree->temps.data[c->conv->dst].kind == KIND_INT32 && is_between(z, i)) continue;
        emit(z, c, s->block, last_place(z, s->block) + 1, s->store->args[0], true);
    }
    for (int i = 0; i < z->sites.len; i++) {
        Site *s = &z->sites.data[i];
        Temp made = emit(z, c, s->block, place_of(s->block, s->store), s->store->args[0], false);
        s->store->args[0] = made, s->store->buf = c->store->buf;
    }
    stmt_drop(c->nest);
}

void loops_convert(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Converter z = {.arena = arena, .tree = tree};
    iter_init(&z.it, arena, tree, opt->precise);
    bool any = false;
    for (int i = 0; i < tree->body->stmts.len; i++) {
        Conversion c;
        z.sites.len = 0;
        if (!is_conversion(&z, tree->body->stmts.data[i], &c) || !find_sites(&z, tree->body, c.load->buf)) continue;
        if (block_accesses(tree->body, c.load->buf) != z.sites.len + 1 || !tree_step(tree, c.nest)) continue;
        make_there(&z, &c);
        any = true;
    }
    if (any) block_sweep(tree->body);
    vec_free(&z.sites);
    iter_free(&z.it);
}
