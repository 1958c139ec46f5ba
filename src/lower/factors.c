// Arrays that one nest of loops stores, and that products (lower/product.h) alone read, are not made where an element is cheap: the
// products compute it from what it is made of,
//
//     for i, k { d[i,k] = x[i,k] - m[k] }; for i, j { c = 0; for k { c += d[i,k] * w[j,k] }; z[i,j] = c }
//
// becomes for i, j { c = 0; for k { c += (x[i,k] - m[k]) * w[j,k] }; z[i,j] = c }. On a device, an array costs the time of memory
// twice, and a product has arithmetic to spare (include/fsmc/cuda/factors.h).
#include "lower/effects.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"
#include "lower/product.h"

enum { COST = 8, DEAR = 4 }; // of an element, in additions, none of which is dear

typedef struct Taker {
    Arena *arena;
    Tree *tree;
    Block *const *scope; // what holds all accesses to arrays
    int nscope;
} Taker;

typedef struct Writer {
    Stmt *store, *loop[RANK_MAX];
    int n;
} Writer;

// ---- what may be computed again

// for i0 { for i1 { …; a[i0, i1, …] = value } } of Doubles, without other effects.
static bool is_writer(Stmt *s, Writer *w) {
    for (w->n = 0; s && s->kind == ST_FOR && s->nargs == 1 && !s->outer && w->n < RANK_MAX; s = block_only_effect(s->body))
        w->loop[w->n++] = s;
    if (!s || s->kind != ST_STORE || !w->n || s->buf->kind != KIND_DOUBLE || s->buf->rank != w->n) return false;
    for (int k = 0; k < w->n; k++)
        if (s->args[k + 1] != w->loop[k]->dst) return false;
    w->store = s;
    return true;
}

static const Stmt *made_by(const Writer *w, Temp t) {
    for (int k = 0; k < w->n; k++)
        for (int i = 0; i < w->loop[k]->body->stmts.len; i++)
            if (w->loop[k]->body->stmts.data[i]->dst == t) return w->loop[k]->body->stmts.data[i];
    return NULL;
}

// May t be computed in another place, at little cost? It reads arrays of which `later`, what comes after the nest, changes none.
static bool is_cheap(const Writer *w, Temp t, const Effects *later, int *cost) {
    const Stmt *s = made_by(w, t);
    if (!s || s->kind == ST_FOR) return true; // an index is
    if (s->kind == ST_OP) {
        *cost += op_info[s->op].cost;
        if (op_info[s->op].cost >= DEAR) return false;
    } else if (s->kind == ST_LOAD) {
        for (int k = 0; k < later->access.len; k++)
            if (later->access.data[k].write && later->access.data[k].buf == s->buf) return false;
    } else if (s->kind != ST_LIT && s->kind != ST_SELECT) {
        return false;
    }
    for (int k = 0; k < s->nargs && *cost <= COST; k++)
        if (!is_cheap(w, s->args[k], later, cost)) return false;
    return *cost <= COST;
}

// ---- where it is read

// t, for the element with these indices.
static Temp again(Taker *z, Block *to, const Writer *w, const Temp *index, Temp t) {
    for (int k = 0; k < w->n; k++)
        if (w->loop[k]->dst == t) return index[k];
    const Stmt *s = made_by(w, t);
    if (!s) return t;
    Stmt *copy = arena_copy(z->arena, s, sizeof *s);
    copy->args = ARENA_ARRAY(z->arena, Temp, s->nargs + 1);
    for (int k = 0; k < s->nargs; k++) copy->args[k] = again(z, to, w, index, s->args[k]);
    vec_push(&z->tree->temps, z->tree->temps.data[t]);
    copy->dst = z->tree->temps.len - 1;
    vec_push(&to->stmts, copy);
    return copy->dst;
}

// In the place of loads, in b. What is around needs them, too.
static void compute_there(Taker *z, Block *b, const Writer *w) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        compute_there(z, s->body, w), compute_there(z, s->other, w);
        if (s->kind != ST_LOAD || s->buf != w->store->buf) continue;
        Block own = {0};
        Temp is = again(z, &own, w, s->args, w->store->args[0]);
        block_remove(b, s);
        for (int k = 0; k < own.stmts.len; k++) block_insert(b, i + k, own.stmts.data[k]);
        i += own.stmts.len - 1;
        vec_free(&own.stmts);
        block_rename(b, s->dst, is);
    }
}

static bool is_only_loaded(const Block *b, const Buf *a, bool under_if, bool inside) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        const bool in = inside || s->kind == ST_IF;
        bool is = s->buf == a || s->src == a;
        for (int k = 0; k < s->nin; k++) is |= s->in[k] == a;
        if ((is && (s->kind != ST_LOAD || (under_if && !inside))) || !is_only_loaded(s->body, a, under_if, in) ||
            !is_only_loaded(s->other, a, under_if, in))
            return false;
    }
    return true;
}

// Does what is in the block read only what the nest has stored? Where its loops are shorter than the array, so are those of the
// indices.
static bool is_stored(const Block *b, const Writer *w, Stmt *const *def) {
    const Buf *a = w->store->buf;
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        for (int k = 0; k < w->n && s->kind == ST_LOAD && s->buf == a; k++) {
            const Temp length = w->loop[k]->args[0];
            const Stmt *loop = def[s->args[k]];
            if (length != a->extent[k] && (!loop || loop->kind != ST_FOR || loop->nargs > 1 || loop->args[0] != length))
                return false;
        }
        if (!is_stored(s->body, w, def) || !is_stored(s->other, w, def)) return false;
    }
    return true;
}

static Stmt **definitions(const Taker *z, Stmt *nest) { return product_definitions(z->arena, z->tree, z->scope, z->nscope, nest); }

static bool is_product(const Taker *z, Stmt *nest) {
    Product p;
    return nest->kind == ST_FOR && product_find(definitions(z, nest), nest, &p);
}

// May the statement do without the array? What it does under a condition alone, as sums that are NaN, counts little.
static bool may_do_without(const Taker *z, Stmt *s, const Writer *w, bool *product) {
    const Block one = {.stmts = {.data = &s, .len = 1}};
    const Buf *a = w->store->buf;
    if (s->kind != ST_FOR || !is_only_loaded(&one, a, false, false)) return false;
    Product p;
    Stmt *const *def = definitions(z, s);
    const bool is = product_find(def, s, &p);
    *product |= is;
    return (is || is_only_loaded(&one, a, true, false)) && is_stored(s->body, w, def);
}

// Takes the array that statement `at` of the block makes out of what comes after it there, if nothing else accesses it.
static bool take(Taker *z, Block *b, int at) {
    Writer w;
    Effects later = {0};
    int accesses = 1, all = 0, last = at, cost = 0, n = b->stmts.len;
    if (!is_writer(b->stmts.data[at], &w) || w.store->buf->where != BUF_TEMP) return false;
    const Buf *a = w.store->buf;
    for (int k = 0; k < z->nscope; k++) all += block_accesses(z->scope[k], a);
    for (int i = at + 1; i < n; i++) {
        const int of = stmt_accesses(b->stmts.data[i], a);
        accesses += of;
        if (of) last = i;
    }
    for (int i = at + 1; i <= last; i++) effects_add(&later, b->stmts.data[i]);
    bool good = accesses == all && last > at && is_cheap(&w, w.store->args[0], &later, &cost), product = false;
    effects_free(&later);
    for (int i = at + 1; i <= last && good; i++)
        good = !stmt_accesses(b->stmts.data[i], a) || may_do_without(z, b->stmts.data[i], &w, &product);
    Stmt **copy = ARENA_ARRAY(z->arena, Stmt *, n); // of products: they must be some without it, too
    for (int i = at + 1; i <= last && good && product; i++) {
        Stmt *s = b->stmts.data[i];
        if (!stmt_accesses(s, a) || !is_product(z, s)) continue;
        copy[i] = tree_clone(z->arena, z->tree, s);
        compute_there(z, copy[i]->body, &w);
        good = is_product(z, copy[i]);
    }
    if (!good || !product || !tree_step(z->tree, b->stmts.data[at])) return false;
    for (int i = at + 1; i <= last; i++)
        if (copy[i]) b->stmts.data[i] = copy[i];
        else compute_there(z, b->stmts.data[i]->body, &w);
    block_remove(b, b->stmts.data[at]);
    for (int k = 0; k < z->nscope && !block_take_new(z->scope[k], a); k++) {}
    return true;
}

void products_take_factors(Arena *arena, Tree *tree, Block *b, Block *const *scope, int nscope) {
    Taker z = {arena, tree, scope, nscope};
    // From the last one on: an array may be made of one that then products alone read.
    for (int i = b ? b->stmts.len : 0; i-- > 0;) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_FOR && take(&z, b, i)) continue;
        products_take_factors(arena, tree, s->body, scope, nscope), products_take_factors(arena, tree, s->other, scope, nscope);
    }
}

void loops_factors(Arena *arena, Tree *tree, const LoopOptions *opt) {
    (void)opt;
    products_take_factors(arena, tree, tree->body, &tree->body, 1);
}
