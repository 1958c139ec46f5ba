// Which loops are grids (lower/grid.h).
//
// The outermost loop of a nest whose iterations are independent is one. If it has few iterations, as far as is known, the loops
// in it are looked at instead. If all that its body does besides computing scalars is one loop that is independent as well, both
// are one grid, so that there are iterations enough even where the outer loop is short.
// Loops inside of a grid are looked at in the same way: blocks can do iterations of the grid, and their threads those of such
// loops.
#include "lower/grid.h"

#include "lower/independent.h"
#include "lower/loop_passes.h"

// A loop of fewer iterations than FEW is left to one thread; a nest deeper than DEEPEST is cut.
enum { FEW = 32, DEEPEST = 4 };

typedef struct Chooser {
    Arena *arena;
    Tree *tree;
    bool atomics;
    Iterations it;
} Chooser;

// Does it only compute a scalar from what is there?
static bool is_plain(const Stmt *s) {
    switch (s->kind) {
    case ST_LIT:
    case ST_ARG:
    case ST_OP:
    case ST_CONV:
    case ST_SELECT:
    case ST_LOAD:
    case ST_CHECK: return true;
    default: return false;
    }
}

// The loop that is all that the body does.
static Stmt *only_loop(const Stmt *loop) {
    Stmt *inner = NULL;
    for (int i = 0; i < loop->body->stmts.len; i++) {
        Stmt *s = loop->body->stmts.data[i];
        if (is_plain(s) && !inner) continue;
        if (s->kind != ST_FOR || inner) return NULL;
        inner = s;
    }
    return inner;
}

Stmt *grid_loop(Stmt *loop, int k) {
    while (k-- > 0) loop = only_loop(loop);
    return loop;
}

static bool is_few(const Chooser *z, Stmt *loop, int depth) {
    int64_t n, all = 1;
    for (int k = 0; k < depth && all < FEW; k++) {
        if (!iter_literal(&z->it, grid_loop(loop, k)->args[0], &n)) return false;
        all *= n;
    }
    return all < FEW;
}

static bool writes(const Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->buf == b && s->kind != ST_LOAD && s->kind != ST_NEW) return true;
        if (writes(s->body, b) || writes(s->other, b)) return true;
    }
    return false;
}

// What is read before the loop inside, each of its iterations will read: it must not write there.
static bool keeps_reads(const Stmt *outer, const Stmt *inner) {
    for (int i = 0; outer->body->stmts.data[i] != inner; i++) {
        const Stmt *s = outer->body->stmts.data[i];
        if (s->kind == ST_LOAD && writes(inner->body, s->buf)) return false;
    }
    return true;
}

static bool is_among(int n, Buf *const *bufs, const Buf *b) {
    for (int i = 0; i < n; i++)
        if (bufs[i] == b) return true;
    return false;
}

// May the loop inside be joined to those around it, from `loop` on? Where these share arrays that they add to, it must do so as
// well: one whose iterations add to elements of their own is for the threads of a block, with one copy for all.
static bool may_join(Chooser *z, const Grid *g, const Stmt *loop, Stmt *inner) {
    for (const Stmt *s = loop; s != inner; s = only_loop(s))
        for (int k = 0; k < inner->nargs; k++)
            if (s->dst == inner->args[k] || block_makes(s->body, inner->args[k]) || !keeps_reads(s, only_loop(s))) return false;
    bool apart = iter_look(&z->it, inner, false);
    Buf **shared, **all = z->atomics ? g->atomic : g->copy;
    int n = apart ? iter_shared(&z->it, &shared) : 0, around = z->atomics ? g->natomics : g->ncopies;
    bool joins = apart && (n > 0) == (around > 0);
    for (int i = 0; i < n; i++) joins &= is_among(around, all, shared[i]);
    iter_forget(&z->it);
    return joins;
}

static Grid *grid_of(Chooser *z) {
    const Iterations *it = &z->it;
    Grid *g = ARENA_NEW(z->arena, Grid);
    *g = (Grid){.depth = 1, .nsums = it->sums.len};
    g->cell = arena_copy(z->arena, it->sums.data, sizeof *g->cell * (size_t)g->nsums);
    g->by = ARENA_ARRAY(z->arena, Op, g->nsums + 1);
    for (int i = 0; i < g->nsums; i++) g->by[i] = it->joins[g->cell[i]];
    if (z->atomics) g->natomics = iter_shared(it, &g->atomic);
    else g->ncopies = iter_shared(it, &g->copy);
    return g;
}

static bool keeps_order(const Chooser *z, const Grid *g) {
    for (int i = 0; i < g->ncopies && z->it.precise; i++)
        if (kind_is_float(g->copy[i]->kind)) return false;
    for (int i = 0; i < g->natomics && z->it.precise; i++)
        if (kind_is_float(g->atomic[i]->kind)) return false;
    return true;
}

static bool make_grid(Chooser *z, Stmt *loop) {
    bool apart = iter_look(&z->it, loop, false);
    Grid *g = apart ? grid_of(z) : NULL;
    iter_forget(&z->it);
    if (!g || !keeps_order(z, g)) return false;
    Stmt *last = loop, *inner;
    while (g->depth < DEEPEST && (inner = only_loop(last)) && may_join(z, g, loop, inner)) g->depth++, last = inner;
    if (is_few(z, loop, g->depth)) return false;
    loop->grid = g;
    return true;
}

// Loops inside of a grid that are one themselves, with nothing to add up but cells.
static void choose_inner(Chooser *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_FOR && !stmt_wish(s, WISH_sequential) && make_grid(z, s) && !s->grid->ncopies) {
            s->grid->inner = true;
            continue;
        }
        s->grid = NULL;
        choose_inner(z, s->body);
        choose_inner(z, s->other);
    }
}

static void choose(Chooser *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->recurrence) continue;
        if (s->kind == ST_FOR && !s->outer && !stmt_wish(s, WISH_sequential) && make_grid(z, s)) {
            choose_inner(z, grid_loop(s, s->grid->depth - 1)->body);
            continue;
        }
        choose(z, s->body);
        choose(z, s->other);
    }
}

void loops_grids(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Chooser z = {.arena = arena, .tree = tree, .atomics = opt->atomics};
    iter_init(&z.it, arena, tree, opt->precise);
    z.it.places = true;
    choose(&z, tree->body);
    iter_free(&z.it);
}

bool grid_is_large(Stmt *const *def, const Buf *b) {
    int64_t n = 1;
    for (int k = 0; k < b->rank; k++) {
        const Stmt *s = def[b->extent[k]];
        if (!s || s->kind != ST_LIT || s->u.num >= FEW) return true;
        n *= s->u.num;
    }
    return n >= FEW;
}

bool grid_has_inner(const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->grid || grid_has_inner(s->body) || grid_has_inner(s->other)) return true;
    }
    return false;
}

bool grid_inside(const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->grid || grid_inside(s->body) || grid_inside(s->other)) return true;
    }
    return false;
}
