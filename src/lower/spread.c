// Makes nests of loops for the threads of a GPU, which are many: what a processor does well in one loop around others leaves most
// of them without work.
//
//  - A loop that adds to each element of an array in each of its iterations becomes a loop over the elements around it: each
//    thread adds up its own. The order of additions to an element stays.
//
//        for j < n { for k < m { a[k] += e } }   becomes   for k < m { if 0 < n { s = a[k]; for j < n { s += e }; a[k] = s } }
//
//  - A loop whose length an index around it gives has the largest length, and a condition inside: then both are one grid.
//
//        for j < n { for k < j { … } }   becomes   for j < n { for k < n { if k < j { … } } }
//
//  - A loop with several things in its body that need nothing of each other is several, if one of them is a loop that can be one
//    grid with it, and if it has too few iterations for blocks to do them, which is asked when sizes are known.
//
//        for i < n { s = sum over j; y[i] = s; for j < m { z[i, j] = e } }
//        becomes   if n < BLOCKS && (n * m >= WORK || m < LEAST) {
//                      for i < n { s = sum over j; y[i] = s }; for i < n { for j < m { z[i, j] = e } } } else { as before }
//  - A loop that looks for the first of the least or greatest elements becomes two whose iterations are joined: that over the
//    elements, and that over their indices.
//
//        for i < n { if x < best { best = x; at = i } }   becomes   for i < n { m = min(m, x) }; for i < n { at = min(at, x = m ? i : …) }
#include "lower/build.h"
#include "lower/effects.h"
#include "lower/grid.h"
#include "lower/independent.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"
#include "lower/product.h"

#include <math.h>

// What each thread of a grid may compute again; the least number of iterations, if it is known, that are worth a grid; how many
// loops are changed at most; so many iterations are enough for the blocks of a large device; so many keep more
// of them busy than a launch takes; FEW: for tests.
enum { AGAIN = 16, LEAST = 16, MOST = 200, DEEPEST = 4, BLOCKS = 512, WORK = 1 << 14, FEW = 4 };

typedef struct Spreader {
    Arena *arena;
    Tree *tree;
    bool precise, always;
    Stmt **def; // by temp
    Iterations it;
    VEC(Stmt *) around; // loops around the block that is looked at
    Map whole;          // loops that stay as they are where they have many iterations
} Spreader;

static void begin(Spreader *z) {
    z->def = ARENA_ARRAY(z->arena, Stmt *, z->tree->temps.len + 1);
    tree_definitions(z->tree->body, z->def);
    iter_init(&z->it, z->arena, z->tree, z->precise);
    z->it.places = true;
}

static Builder builder(Spreader *z, const Stmt *s) { return (Builder){z->arena, z->tree, s->span}; }

static bool is_plain_loop(const Stmt *s) { return nest_is_plain(s) && !s->outer && !s->recurrence && !s->few; }

static bool is_long(const Spreader *z, Temp n) {
    const Stmt *s = z->def[n];
    return !s || s->kind != ST_LIT || s->u.num >= LEAST;
}

static bool is_independent(Spreader *z, Stmt *loop) {
    bool apart = iter_look(&z->it, loop, false);
    iter_forget(&z->it);
    return apart;
}

// Of the loops around, the number of the outermost that may be a grid; how many there are if none may.
static int grid_around(Spreader *z) {
    int k = 0;
    while (k < z->around.len && !(is_plain_loop(z->around.data[k]) && is_independent(z, z->around.data[k]))) k++;
    return k;
}

// The largest number of iterations that a loop in the body of `around` has, in any iteration of that, if there are some: new
// statements in the block, before place `at`, which is then another; -1 if it is not known.
static Temp largest(Spreader *z, const Stmt *around, Temp n, Block *to, int *at) {
    if (n != around->dst && !block_makes(around->body, n)) return n;
    int64_t more = 0;
    if (n != around->dst) {
        const Stmt *s = z->def[n];
        int k = s && s->kind == ST_OP && s->op == OP_add && s->args[0] != around->dst;
        if (!s || s->kind != ST_OP || s->op != OP_add || s->args[k] != around->dst) return -1;
        const Stmt *c = z->def[s->args[!k]];
        if (!c || c->kind != ST_LIT || c->u.num < -LEAST || c->u.num > 1) return -1; // as many as around at most
        more = c->u.num;
    }
    if (more == 1) return around->args[0];
    Block b = {0};
    Builder build = builder(z, around);
    Temp most = build_int(&build, &b, OP_add, around->args[0], build_literal(&build, &b, KIND_INT, more - 1));
    for (int i = 0; i < b.stmts.len; i++) block_insert(to, (*at)++, b.stmts.data[i]);
    vec_free(&b.stmts);
    return most;
}

// ---- loops that add to all elements

// All that the block does is this statement, the last; the others are values, which read nothing that `changed` is.
static Stmt *last_effect(const Block *b, const Buf *changed) {
    Stmt *last = b->stmts.len ? vec_last(&b->stmts) : NULL;
    for (int i = 0; i + 1 < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (!stmt_is_plain(s) || s->kind == ST_GET || (changed && s->buf == changed)) return NULL;
    }
    return last;
}

// Do iterations of the grid add to the same elements? Then there are many that do, and blocks add up what each has.
static bool adds_with_others(Spreader *z, Stmt *grid, const Buf *b) {
    bool shared = !iter_look(&z->it, grid, false) || iter_shares(&z->it, b);
    iter_forget(&z->it);
    return shared;
}

static bool sets_own_cells(const Effects *e) {
    for (int i = 0; i < e->sets.len; i++) {
        bool own = false;
        for (int k = 0; k < e->cells.len; k++) own |= e->cells.data[k] == e->sets.data[i];
        if (!own) return false;
    }
    return true;
}

// The addition that is the last statement of the block, the others of which compute what is added, in cells of their own, and from
// other arrays.
static Stmt *last_addition(const Block *b) {
    Stmt *last = b->stmts.len ? vec_last(&b->stmts) : NULL;
    if (!last || last->kind != ST_ADDTO) return NULL;
    Effects of = {0};
    for (int i = 0; i + 1 < b->stmts.len; i++) effects_add(&of, b->stmts.data[i]);
    bool own = !of.stops && sets_own_cells(&of);
    for (int i = 0; i < of.access.len; i++) own = own && !of.access.data[i].write && of.access.data[i].buf != last->buf;
    effects_free(&of);
    return own ? last : NULL;
}

// A loop before the one that adds, which stores what these elements are at first, becomes a part of it.
static void join_first_values(Block *b, int at, const Stmt *add, const Temp *index) {
    Stmt *loop = b->stmts.data[at--];
    while (at >= 0 && stmt_is_pure(b->stmts.data[at])) at--;
    Stmt *before = at >= 0 ? b->stmts.data[at] : NULL;
    if (!before || !is_plain_loop(before) || before->args[0] != loop->args[0]) return;
    Stmt *store = last_effect(before->body, add->buf);
    if (!store || store->kind != ST_STORE || store->buf != add->buf) return;
    for (int k = 1; k < store->nargs; k++)
        if (store->args[k] != (index[k - 1] == loop->dst ? before->dst : index[k - 1])) return;
    block_rename(before->body, before->dst, loop->dst);
    for (int i = 0; i < before->body->stmts.len; i++) block_insert(loop->body, i, before->body->stmts.data[i]);
    block_remove(b, before);
}

static bool turn(Spreader *z, Block *b, int at) {
    Stmt *loop = b->stmts.data[at];
    if (!is_plain_loop(loop) || !is_long(z, loop->args[0])) return false;
    Stmt *inner = last_effect(loop->body, NULL);
    if (!inner || !is_plain_loop(inner) || !is_long(z, inner->args[0])) return false;
    Stmt *add = last_addition(inner->body);
    if (!add || last_effect(loop->body, add->buf) != inner) return false;
    int own = 0;
    for (int k = 1; k < add->nargs; k++) {
        Temp t = add->args[k];
        if (t == inner->dst) own++;
        else if (t == loop->dst || block_makes(loop->body, t) || block_makes(inner->body, t)) return false;
    }
    if (own != 1 || add->args[0] == loop->dst || add->args[0] == inner->dst) return false;
    int grid = grid_around(z);
    if (grid == z->around.len || adds_with_others(z, z->around.data[grid], add->buf)) return false;
    Temp bound = inner->args[0], most = largest(z, loop, bound, b, &at);
    if (most < 0) return false;
    Builder build = builder(z, loop);
    Block to = {0};
    Stmt *outside = build_loop(&build, &to, inner->dst, most);
    Temp e = add->args[0], index[RANK_MAX];
    for (int k = 1; k < add->nargs; k++) index[k - 1] = add->args[k] == inner->dst ? outside->dst : add->args[k];
    Temp any = build_op(&build, outside->body, KIND_BOOL, OP_lt, build_literal(&build, outside->body, KIND_INT, 0), loop->args[0]);
    Block *own_body = build_if(&build, outside->body, any, false)->body; // or what is there may be nowhere
    Temp cell = build_temp(&build, (TempInfo){.kind = add->buf->kind, .cell = true});
    Temp before = build_load(&build, own_body, add->buf, index);
    build_stmt(&build, own_body, ST_CELL, cell, 1, &before);
    vec_push(&own_body->stmts, loop);
    (void)vec_pop(&loop->body->stmts);
    block_rename(inner->body, inner->dst, outside->dst);
    Block *body = loop->body;
    if (most != bound) body = build_if(&build, body, build_op(&build, body, KIND_BOOL, OP_lt, outside->dst, bound), false)->body;
    for (int i = 0; i + 1 < inner->body->stmts.len; i++) vec_push(&body->stmts, inner->body->stmts.data[i]);
    Temp sum = build_temp(&build, (TempInfo){.kind = add->buf->kind});
    build_stmt(&build, body, ST_GET, sum, 1, &cell);
    sum = build_op(&build, body, add->buf->kind, OP_add, sum, e);
    build_stmt(&build, body, ST_SET, cell, 1, &sum);
    Temp after = build_temp(&build, (TempInfo){.kind = add->buf->kind});
    build_stmt(&build, own_body, ST_GET, after, 1, &cell);
    build_store(&build, own_body, ST_STORE, add->buf, after, index);
    b->stmts.data[at] = outside;
    vec_free(&to.stmts);
    join_first_values(b, at, add, index);
    return true;
}

// ---- loops as long as an index

// The loop that is all that the body does; what comes before it are values that are no loads.
static Stmt *loop_inside(const Stmt *loop) {
    Stmt *inner = last_effect(loop->body, NULL);
    if (!inner || inner->kind != ST_FOR) return NULL;
    for (int i = 0; i + 1 < loop->body->stmts.len; i++)
        if (!stmt_is_pure(loop->body->stmts.data[i])) return NULL;
    return inner;
}

static bool lengthen(Spreader *z, Block *b, int at) {
    Stmt *loop = b->stmts.data[at];
    if (!is_plain_loop(loop)) return false;
    Stmt *inner = last_effect(loop->body, NULL);
    if (!inner || !is_plain_loop(inner)) return false;
    Temp bound = inner->args[0];
    if ((bound != loop->dst && !block_makes(loop->body, bound)) || !is_independent(z, loop) || !is_independent(z, inner))
        return false;
    for (int k = grid_around(z); k < z->around.len; k++) // all are one grid
        if (last_effect(z->around.data[k]->body, NULL) != (k + 1 < z->around.len ? z->around.data[k + 1] : loop)) return false;
    Temp most = largest(z, loop, bound, b, &at);
    if (most < 0) return false;
    Stmt *deep = inner;
    for (Stmt *next; (next = loop_inside(deep)) && is_plain_loop(next);) deep = next;
    Builder build = builder(z, inner);
    Block *was = deep->body, *body = ARENA_NEW(z->arena, Block);
    deep->body = body;
    Stmt *branch = build_if(&build, body, build_op(&build, body, KIND_BOOL, OP_lt, inner->dst, bound), false);
    for (int i = 0; i < z->tree->bufs.len; i++)
        if (z->tree->bufs.data[i]->home == was) z->tree->bufs.data[i]->home = branch->body;
    *branch->body = *was;
    *was = (Block){0};
    inner->args = arena_copy(z->arena, &most, sizeof most);
    return true;
}

// ---- several things

typedef struct Pieces {
    Spreader *z;
    Stmt *loop;
    int n;       // statements of its body
    bool *again; // by statement: others may compute it again
    int *piece;  // by statement that they may not: the first of those that stay together
} Pieces;

static void join(Pieces *p, int a, int b) {
    a = p->piece[a], b = p->piece[b];
    for (int i = 0; i < p->n; i++)
        if (p->piece[i] == a || p->piece[i] == b) p->piece[i] = a < b ? a : b;
}

static int maker(const Pieces *p, Temp t) {
    for (int i = 0; i < p->n; i++)
        if (p->loop->body->stmts.data[i]->dst == t) return i;
    return -1;
}

static void find_pieces(Pieces *p, const Effects *of) {
    Stmt **s = p->loop->body->stmts.data;
    for (int i = 0; i < p->n; i++) {
        p->piece[i] = i;
        p->again[i] = stmt_is_plain(s[i]) && s[i]->kind != ST_GET;
        for (int k = 0; s[i]->kind == ST_LOAD && k < p->n; k++)
            for (int a = 0; a < of[k].access.len; a++)
                if (of[k].access.data[a].write && of[k].access.data[a].buf == s[i]->buf) p->again[i] = false;
        for (int k = 0; k < of[i].uses.len; k++) {
            int m = maker(p, of[i].uses.data[k]);
            if (m >= 0 && m < i && !p->again[m]) p->again[i] = false;
        }
    }
    for (int i = 0; i < p->n; i++)
        for (int j = i + 1; j < p->n; j++)
            if (!p->again[i] && !p->again[j] && effects_conflict(s[i], &of[i], s[j], &of[j])) join(p, i, j);
}

// What the piece needs of what may be computed again: how many statements.
static int note_needed(const Pieces *p, const Effects *of, int i, bool *needed) {
    int n = 0;
    for (int k = 0; k < of[i].uses.len; k++) {
        int m = maker(p, of[i].uses.data[k]);
        if (m < 0 || m >= i || !p->again[m] || needed[m]) continue;
        needed[m] = true;
        n += 1 + note_needed(p, of, m, needed);
    }
    return n;
}

// Is the statement a piece of its own, a loop that may be one grid with that around it?
static bool is_nest(const Pieces *p, const Effects *of, int i) {
    const Stmt *s = p->loop->body->stmts.data[i];
    if (!is_plain_loop(s) || !is_long(p->z, s->args[0]) || s->args[0] == p->loop->dst || block_makes(p->loop->body, s->args[0]))
        return false;
    for (int j = 0; j < p->n; j++)
        if (j != i && !p->again[j] && p->piece[j] == p->piece[i]) return false;
    if (!sets_own_cells(&of[i])) return false; // a sum of the iterations of both
    bool *needed = ARENA_ARRAY(p->z->arena, bool, p->n + 1);
    return note_needed(p, of, i, needed) <= AGAIN && is_independent(p->z, (Stmt *)s);
}

// The loop around one of its pieces, with copies of what that needs.
static Stmt *take_out(Pieces *p, const Effects *of, int i) {
    Spreader *z = p->z;
    Stmt *s = p->loop->body->stmts.data[i];
    bool *needed = ARENA_ARRAY(z->arena, bool, p->n + 1);
    note_needed(p, of, i, needed);
    Builder build = builder(z, p->loop);
    Block to = {0};
    Stmt *loop = build_loop(&build, &to, p->loop->dst, p->loop->args[0]);
    Map temps = {0}, bufs = {0};
    map_put(&temps, (void *)((intptr_t)p->loop->dst + 1), (void *)((intptr_t)loop->dst + 1));
    for (int k = 0; k < i; k++)
        if (needed[k])
            vec_push(&loop->body->stmts, tree_clone_with(z->arena, z->tree, p->loop->body->stmts.data[k], &temps, &bufs));
    vec_push(&loop->body->stmts, s);
    for (int k = 0; k < i; k++) {
        Temp t = p->loop->body->stmts.data[k]->dst;
        if (needed[k]) block_rename(loop->body, t, (Temp)((intptr_t)map_get(&temps, (void *)((intptr_t)t + 1)) - 1));
    }
    block_rename(loop->body, p->loop->dst, loop->dst);
    for (int k = 0; k < z->tree->bufs.len; k++) {
        Buf *b = z->tree->bufs.data[k];
        if (b->home == p->loop->body && stmt_accesses(s, b)) b->home = loop->body;
    }
    map_free(&temps), map_free(&bufs);
    vec_free(&to.stmts);
    return loop;
}

// The iterations of the loop and of the nest in it, as far as their lengths are known outside: not counted beyond what fits.
static Temp put_work(Builder *build, Block *b, const Stmt *loop, const Stmt *nest) {
    Temp most = build_literal(build, b, KIND_INT, 1 << 20), work = loop->args[0];
    const Stmt *around[DEEPEST] = {loop};
    for (int depth = 1; depth < DEEPEST && nest && nest->kind == ST_FOR; depth++) {
        for (int k = 0; k < depth; k++)
            if (nest->args[0] == around[k]->dst || block_makes(around[k]->body, nest->args[0])) return work;
        Temp n = build_int(build, b, OP_min, nest->args[0], most);
        work = build_int(build, b, OP_min, build_int(build, b, OP_mul, build_int(build, b, OP_min, work, most), n), most);
        around[depth] = nest, nest = last_effect(nest->body, NULL);
    }
    return work;
}

// The block of the loop where it has few iterations, but enough with those of the nest, in which it is the first; otherwise there
// is a copy of it.
static Block *put_choice(Spreader *z, Block *b, int at, const Stmt *nest) {
    Stmt *loop = b->stmts.data[at];
    Builder build = builder(z, loop);
    Block condition = {0};
    Temp few = build_op(&build, &condition, KIND_BOOL, OP_lt, loop->args[0],
                        build_literal(&build, &condition, KIND_INT, z->always ? FEW : BLOCKS));
    Temp work = put_work(&build, &condition, loop, nest), least = build_literal(&build, &condition, KIND_INT, z->always ? 1 : WORK);
    Temp large = build_op(&build, &condition, KIND_BOOL, OP_le, least, work);
    Temp is_short =
        build_op(&build, &condition, KIND_BOOL, OP_lt, nest->args[0], build_literal(&build, &condition, KIND_INT, LEAST));
    few = build_op(&build, &condition, KIND_BOOL, OP_and, few, build_op(&build, &condition, KIND_BOOL, OP_or, large, is_short));
    Stmt *branch = build_if(&build, &condition, few, true);
    Stmt *copy = tree_clone_apart(z->arena, z->tree, loop, branch->other);
    vec_push(&branch->other->stmts, copy);
    map_put(&z->whole, copy, copy);
    vec_push(&branch->body->stmts, loop);
    b->stmts.data[at] = branch;
    for (int i = 0; i + 1 < condition.stmts.len; i++) block_insert(b, at + i, condition.stmts.data[i]);
    vec_free(&condition.stmts);
    return branch->body;
}

static bool divide(Spreader *z, Block *b, int at) {
    Stmt *loop = b->stmts.data[at];
    if (map_get(&z->whole, loop) || !is_plain_loop(loop) || !block_has_for(loop->body) || block_may_fail(loop->body)) return false;
    Pieces p = {.z = z, .loop = loop, .n = loop->body->stmts.len};
    p.again = ARENA_ARRAY(z->arena, bool, p.n + 1), p.piece = ARENA_ARRAY(z->arena, int, p.n + 1);
    Effects *of = ARENA_ARRAY(z->arena, Effects, p.n + 1);
    bool *nest = ARENA_ARRAY(z->arena, bool, p.n + 1);
    for (int i = 0; i < p.n; i++) effects_add(&of[i], loop->body->stmts.data[i]);
    find_pieces(&p, of);
    int nests = 0, others = 0;
    bool stops = false;
    for (int i = 0; i < p.n; i++) stops |= of[i].stops;
    for (int i = 0; i < p.n && !stops; i++) {
        nest[i] = !p.again[i] && is_nest(&p, of, i);
        nests += nest[i], others += !nest[i] && !p.again[i];
    }
    bool pays = nests > 0 && nests + (others > 0) > 1 && is_independent(z, loop);
    int to = at + 1, left = 0;
    const Stmt *known = z->def[loop->args[0]];
    if (known && known->kind == ST_LIT && known->u.num >= BLOCKS) pays = false;
    const Stmt *first = NULL;
    for (int i = 0; i < p.n && pays && !first; i++) first = nest[i] ? loop->body->stmts.data[i] : NULL;
    if (pays && grid_around(z) == z->around.len) b = put_choice(z, b, at, first), to = 1;
    for (int i = 0; i < p.n && pays; i++)
        if (nest[i]) block_insert(b, to++, take_out(&p, of, i));
    for (int i = 0; i < p.n && pays; i++)
        if (!nest[i]) loop->body->stmts.data[left++] = loop->body->stmts.data[i];
    if (pays) loop->body->stmts.len = left;
    if (pays && !others) block_remove(b, loop);
    for (int i = 0; i < p.n; i++) effects_free(&of[i]);
    return pays;
}

// ---- the first of the least or greatest

typedef struct First {
    Temp best, at, value; // cells; the value of an iteration
    bool greatest;
} First;

static const Stmt *op_of(const Spreader *z, Temp t, Op op) {
    const Stmt *s = z->def[t];
    return s && s->kind == ST_OP && s->op == op ? s : NULL;
}

static bool is_get(const Spreader *z, Temp t, Temp cell) {
    return z->def[t] && z->def[t]->kind == ST_GET && z->def[t]->args[0] == cell;
}

static bool is_number(const Spreader *z, Temp t, int64_t n) {
    return z->def[t] && z->def[t]->kind == ST_LIT && z->def[t]->u.num == n;
}

// Is it what lower/extreme.c makes: it is the first, strictly better, or the first NaN?
static bool is_better(const Spreader *z, Temp t, First *f) {
    const Temp x = f->value;
    if (kind_is_float(z->tree->temps.data[x].kind)) {
        const Stmt *both = op_of(z, t, OP_or), *nan = both ? op_of(z, both->args[1], OP_and) : NULL;
        const Stmt *is = nan ? op_of(z, nan->args[0], OP_ne) : NULL, *was_not = nan ? op_of(z, nan->args[1], OP_eq) : NULL;
        if (!is || !was_not || is->args[0] != x || is->args[1] != x) return false;
        if (!is_get(z, was_not->args[0], f->best) || !is_get(z, was_not->args[1], f->best)) return false;
        t = both->args[0];
    }
    const Stmt *either = op_of(z, t, OP_or), *none = either ? op_of(z, either->args[0], OP_lt) : NULL,
               *better = either ? op_of(z, either->args[1], OP_lt) : NULL;
    if (!none || !better || !is_get(z, none->args[0], f->at) || !is_number(z, none->args[1], 0)) return false;
    f->greatest = better->args[1] == x;
    return better->args[f->greatest] == x && is_get(z, better->args[!f->greatest], f->best);
}

// How many statements of the kind are about the cell.
static int count_of(const Block *b, StmtKind kind, Temp cell) {
    int n = 0;
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        n += s->kind == kind && (kind == ST_GET ? s->args[0] : s->dst) == cell;
        n += count_of(s->body, kind, cell) + count_of(s->other, kind, cell);
    }
    return n;
}

// All that the block does is this statement, the last; the others are values, also of cells.
static const Stmt *last_plain_effect(const Block *b) {
    const Stmt *last = block_only_effect(b);
    return last && last == vec_last(&b->stmts) ? last : NULL;
}

static bool find_first(const Spreader *z, const Stmt *loop, First *f) {
    const Stmt *last = last_plain_effect(loop->body);
    if (!last || last->kind != ST_IF || (last->other && last->other->stmts.len) || last->body->stmts.len != 2) return false;
    const Stmt *best = last->body->stmts.data[0], *at = last->body->stmts.data[1];
    if (best->kind != ST_SET || at->kind != ST_SET || at->args[0] != loop->dst) return false;
    *f = (First){.best = best->dst, .at = at->dst, .value = best->args[0]};
    const Kind kind = z->tree->temps.data[f->value].kind;
    const Stmt *none = z->def[f->at];
    if ((kind != KIND_INT && !kind_is_float(kind)) || !none || none->kind != ST_CELL || !is_number(z, none->args[0], -1))
        return false;
    return is_better(z, last->args[0], f) && count_of(z->tree->body, ST_SET, f->best) == 1 &&
           count_of(z->tree->body, ST_GET, f->best) == count_of(loop->body, ST_GET, f->best);
}

// Notes what t needs of the block, by its statements; how many there are, or more than AGAIN if some are dear, or no values.
static int note_value(const Block *b, Temp t, bool *needed) {
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->dst != t || needed[i]) continue;
        if ((!stmt_is_pure(s) && s->kind != ST_LOAD) || (s->kind == ST_OP && op_info[s->op].cost >= op_info[OP_exp].cost))
            return AGAIN + 1;
        int n = s->kind != ST_LIT;
        needed[i] = true;
        for (int k = 0; k < s->nargs && n <= AGAIN; k++) n += note_value(b, s->args[k], needed);
        return n;
    }
    return 0;
}

// The value of an iteration, in another loop.
static Temp put_value(Spreader *z, const Stmt *loop, Stmt *to, Temp value, const bool *needed) {
    Map temps = {0}, bufs = {0};
    map_put(&temps, (void *)((intptr_t)loop->dst + 1), (void *)((intptr_t)to->dst + 1));
    for (int i = 0; i < loop->body->stmts.len; i++)
        if (needed[i]) vec_push(&to->body->stmts, tree_clone_with(z->arena, z->tree, loop->body->stmts.data[i], &temps, &bufs));
    intptr_t is = (intptr_t)map_get(&temps, (void *)((intptr_t)value + 1));
    map_free(&temps), map_free(&bufs);
    return is ? (Temp)(is - 1) : value;
}

// A loop that takes the extreme of what `value` is given; where it is in the end.
static Temp put_extreme(Builder *build, Block *b, Stmt *loop, Op by, Temp cell, Temp value) {
    const Kind kind = build->tree->temps.data[cell].kind;
    Temp before = build_temp(build, (TempInfo){.kind = kind}), after = build_temp(build, (TempInfo){.kind = kind});
    build_stmt(build, loop->body, ST_GET, before, 1, &cell);
    Temp better = build_op(build, loop->body, kind, by, before, value);
    build_stmt(build, loop->body, ST_SET, cell, 1, &better);
    build_stmt(build, b, ST_GET, after, 1, &cell);
    return after;
}

static bool join_first(Spreader *z, Block *b, int at) {
    Stmt *loop = b->stmts.data[at];
    First f;
    if (!is_plain_loop(loop) || !is_long(z, loop->args[0]) || !find_first(z, loop, &f)) return false;
    bool *needed = ARENA_ARRAY(z->arena, bool, loop->body->stmts.len + 1);
    if (note_value(loop->body, f.value, needed) > AGAIN) return false;
    const Kind kind = z->tree->temps.data[f.value].kind;
    Builder build = builder(z, loop);
    Block to = {0};
    Temp worst = build_literal(&build, &to, kind, f.greatest ? INT64_MIN : INT64_MAX);
    if (kind_is_float(kind)) vec_last(&to.stmts)->u.real = f.greatest ? -INFINITY : INFINITY;
    Temp most = build_literal(&build, &to, KIND_INT, INT64_MAX), none = build_literal(&build, &to, KIND_INT, -1);
    Temp value = build_temp(&build, (TempInfo){.kind = kind, .cell = true}),
         index = build_temp(&build, (TempInfo){.kind = KIND_INT, .cell = true});
    build_stmt(&build, &to, ST_CELL, value, 1, &worst);
    build_stmt(&build, &to, ST_CELL, index, 1, &most);
    Stmt *values = build_loop(&build, &to, loop->dst, loop->args[0]);
    Temp best = put_extreme(&build, &to, values, f.greatest ? OP_max : OP_min, value, put_value(z, loop, values, f.value, needed));
    Stmt *places = build_loop(&build, &to, loop->dst, loop->args[0]);
    Block *body = places->body;
    Temp x = put_value(z, loop, places, f.value, needed), is = build_op(&build, body, KIND_BOOL, OP_eq, x, best);
    if (kind_is_float(kind)) {
        Temp nan = build_op(&build, body, KIND_BOOL, OP_ne, x, x), other = build_op(&build, body, KIND_BOOL, OP_ne, best, best);
        is = build_op(&build, body, KIND_BOOL, OP_or, is, build_op(&build, body, KIND_BOOL, OP_and, nan, other));
    }
    Temp place = build_temp(&build, (TempInfo){.kind = KIND_INT});
    build_stmt(&build, body, ST_SELECT, place, 3, (Temp[]){is, places->dst, most});
    Temp first = put_extreme(&build, &to, places, OP_min, index, place);
    Temp there = build_op(&build, &to, KIND_BOOL, OP_lt, first, most), result = build_temp(&build, (TempInfo){.kind = KIND_INT});
    build_stmt(&build, &to, ST_SELECT, result, 3, (Temp[]){there, first, none});
    build_stmt(&build, &to, ST_SET, f.at, 1, &result);
    b->stmts.data[at] = to.stmts.data[0];
    for (int i = 1; i < to.stmts.len; i++) block_insert(b, at + i, to.stmts.data[i]);
    vec_free(&to.stmts);
    stmt_drop(z->def[f.best]); // nothing reads it any more
    return true;
}

// ---- all loops

typedef bool Rewrite(Spreader *z, Block *b, int at);

// One, the innermost first; nothing is known any more of what has been changed.
static bool rewrite_one(Spreader *z, Block *b, Rewrite *rewrite) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        Product p;
        if (s->kind == ST_FOR && product_find(z->def, s, &p) && p.sum.of) continue; // one call does it
        if (s->kind == ST_FOR) vec_push(&z->around, s);
        bool any = rewrite_one(z, s->body, rewrite) || rewrite_one(z, s->other, rewrite);
        if (s->kind == ST_FOR) (void)vec_pop(&z->around);
        if (any || (s->kind == ST_FOR && tree_step(z->tree, s) && rewrite(z, b, i))) return true;
    }
    return false;
}

void loops_spread(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Spreader z = {.arena = arena, .tree = tree, .precise = opt->precise, .always = opt->always};
    Rewrite *const all[] = {join_first, turn, lengthen, divide};
    for (int k = 0; k < 4; k++)
        for (int count = 0, any = 1; any && count < MOST; count++) {
            begin(&z);
            any = rewrite_one(&z, tree->body, all[k]);
            z.around.len = 0;
            iter_free(&z.it);
        }
    vec_free(&z.around), map_free(&z.whole);
    lower_remove_dead(arena, tree);
}
