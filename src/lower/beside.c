// Sums of what a product has at hand: of the rows of its left factor, as the gradient of a bias beside that of weights, or of its
// results, as the squares of their rows. A nest of loops that follows the product, and makes them, becomes a part of the product's,
//
//     for i, j { c = 0; for k { c += a[i,k] * b[j,k] }; z[i,j] = c }; for i { s = 0; for j { s += z[i,j]^2 }; t[i] = s }
//
// becomes for i { for j { …; z[i,j] = c }; s = 0; for j { s += z[i,j]^2 }; t[i] = s }, if factors are made of several elements:
// then it is done by tensor cores (include/fsmc/cuda/factors.h), which can add up what they have; another product may be cuBLAS's.
#include "lower/effects.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"
#include "lower/product.h"

typedef struct Joiner {
    Arena *arena;
    Tree *tree;
    Stmt **def; // by temp, of the tree as it is
} Joiner;

static Stmt **definitions(const Joiner *z, Stmt *nest) { return product_definitions(z->arena, z->tree, NULL, 0, nest); }

static bool find(Stmt *const *def, Stmt *nest, Product *p) {
    return nest->kind == ST_FOR && product_find(def, nest, p) && !p->left;
}

static bool is_plain_loop(const Stmt *s) {
    return s && s->kind == ST_FOR && s->nargs == 1 && !s->outer && !s->wishes && !s->recurrence;
}

// The product with the nest in it, whose loops over rows, and those of a batch, are of the same lengths in this order, or the
// other; NULL if that is none.
static Stmt *joined(const Joiner *z, Stmt *product, Stmt *nest, bool turned) {
    Stmt *all = tree_clone(z->arena, z->tree, product), *s = tree_clone(z->arena, z->tree, nest);
    Product p, with;
    if (!find(definitions(z, all), all, &p)) return NULL;
    Stmt *loop[] = {p.batch, p.loop[0]};
    for (int k = !p.batch; k < 2; k++) {
        const Stmt *like = loop[turned && p.batch ? 1 - k : k];
        if (!is_plain_loop(s) || s->args[0] != like->args[0]) return NULL;
        block_rename(s->body, s->dst, like->dst);
        Stmt *inside = k ? NULL : block_only_effect(s->body);
        for (int i = 0; i < s->body->stmts.len; i++)
            if (s->body->stmts.data[i] != inside) vec_push(&p.loop[0]->body->stmts, s->body->stmts.data[i]);
        s = inside;
    }
    return find(definitions(z, all), all, &with) && with.sum.of ? all : NULL;
}

// Takes the nest that follows the product into it.
static bool take_next(Joiner *z, Block *b, int at) {
    Product p;
    if (!find(z->def, b->stmts.data[at], &p) || p.sum.of) return false;
    int next = at + 1;
    for (; next < b->stmts.len && (b->stmts.data[next]->kind == ST_NEW || stmt_is_pure(b->stmts.data[next])); next++) {}
    if (next == b->stmts.len || b->stmts.data[next]->kind != ST_FOR) return false;
    for (int turned = 0; turned < 2; turned++) {
        Stmt *all = joined(z, b->stmts.data[at], b->stmts.data[next], turned);
        if (!all || !tree_step(z->tree, b->stmts.data[next])) continue;
        block_remove(b, b->stmts.data[next]);
        block_remove(b, b->stmts.data[at]);
        block_insert(b, next - 1, all); // after what the sums need, which needs nothing of the product
        z->def = definitions(z, NULL);
        return true;
    }
    return false;
}

static void take_all(Joiner *z, Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        if (b->stmts.data[i]->kind == ST_FOR && take_next(z, b, i)) continue;
        take_all(z, b->stmts.data[i]->body), take_all(z, b->stmts.data[i]->other);
    }
}

void loops_beside(Arena *arena, Tree *tree, const LoopOptions *opt) {
    (void)opt;
    Joiner z = {.arena = arena, .tree = tree};
    z.def = definitions(&z, NULL);
    take_all(&z, tree->body);
}
