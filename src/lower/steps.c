// Steps at once. What a loop computes in each iteration, but not from what iterations before it have made, is computed for many of
// them before the loop; and what it adds up of arrays that are new in each iteration, for nothing that it reads, after it:
//
//     for t { P = x[t] W; Q = y V; y = f(P + Q); D = g(y); U += D' x[t] }
//
// becomes
//
//     for strip { for p { P[p] = x[t] W }
//                 for t { Q = y V; y = f(P[p] + Q); D[p] = g(y) }
//                 U += sum over p of D[p]' x[t] }
//
// where a strip is as many iterations as there is room for: all, if that is enough. On a GPU each nest is a launch, and a product
// of so many rows is one of the fast ones. If indices go backwards with t, p does, so that what is kept lies in the order of what
// it is multiplied with. (For CPUs, whose caches want strips, see pass/ahead.c and lower/postpone.c.)

#include "lower/build.h"
#include "lower/effects.h"
#include "lower/independent.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"
#include "lower/lower.h"
#include "lower/product.h"
#include "support/explain.h"

enum { BUDGET = 64, DEEPEST = 8 };

typedef enum Place { UNKNOWN, ASKED, STAYS, MAY_MOVE, AHEAD, AFTER } Place; // of a statement of the loop's body

typedef struct Own { // an array that is new in each iteration
    Buf *buf, *all;
    int last_write, first_read; // statements of the body; one that does both writes
    bool whole;                 // it is copied
} Own;

typedef struct Stepper {
    Builder b;
    Iterations it;
    Map seen, apart; // loops that have been looked at, and those whose iterations are independent
    Stmt **def;
    // Of the loop that is looked at:
    Stmt *loop;
    Map made, written; // temps, by number + 1; arrays from outside
    VEC(Own) own;
    VEC(Place) place;
    bool backwards;
    Temp first, count; // of a strip
} Stepper;

static void *key(Temp t) { return (void *)((intptr_t)t + 1); }
static bool is_made(const Stepper *z, Temp t) { return map_get(&z->made, key(t)); }

static Stmt *statement(const Stepper *z, int i) { return z->loop->body->stmts.data[i]; }

static Own *own_of(const Stepper *z, const Buf *b) {
    for (int i = 0; i < z->own.len; i++)
        if (z->own.data[i].buf == b) return &z->own.data[i];
    return NULL;
}

// ---- what there is in the loop

static void note_own(Stepper *z) {
    for (int i = 0; i < z->b.tree->bufs.len; i++) {
        Buf *b = z->b.tree->bufs.data[i];
        bool fits = b->where == BUF_TEMP && b->home == z->loop->body && b->rank < RANK_MAX;
        for (int k = 0; fits && k < b->rank; k++) fits = !is_made(z, b->extent[k]);
        if (fits) vec_push(&z->own, ((Own){.buf = b, .last_write = -1, .first_read = z->loop->body->stmts.len}));
    }
}

static void note_made(Stepper *z, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) map_put(&z->made, key(s->dst), (void *)s);
        if (s->buf && s->kind != ST_LOAD && s->kind != ST_FETCH) map_put(&z->written, s->buf, s->buf);
        note_made(z, s->body), note_made(z, s->other);
    }
}

static bool writes(const Stmt *s, const Buf *b) {
    if (s->buf == b && s->kind != ST_LOAD && s->kind != ST_FETCH && s->kind != ST_NEW) return true;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++)
            if (writes(in[k]->stmts.data[i], b)) return true;
    return false;
}

static bool has_whole(const Block *b, const Buf *buf) { // copying; filling, but in the body itself
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        const Block *in[] = {s->body, s->other};
        if ((s->kind == ST_COPY || s->kind == ST_MOVE) && (s->buf == buf || s->src == buf)) return true;
        for (int k = 0; k < 2; k++)
            for (int n = 0; in[k] && n < in[k]->stmts.len; n++)
                if (in[k]->stmts.data[n]->kind == ST_FILL && in[k]->stmts.data[n]->buf == buf) return true;
        if (has_whole(s->body, buf) || has_whole(s->other, buf)) return true;
    }
    return false;
}

static void note_accesses(Stepper *z) {
    for (int k = 0; k < z->own.len; k++) {
        Own *o = &z->own.data[k];
        o->whole = has_whole(z->loop->body, o->buf);
        for (int i = 0; i < z->loop->body->stmts.len; i++)
            if (writes(statement(z, i), o->buf)) o->last_write = i;
            else if (stmt_accesses(statement(z, i), o->buf) && i < o->first_read) o->first_read = i;
    }
}

// Has it all its values before it is read, so that an array for all iterations may take its place?
static bool may_be_kept(const Own *o) { return !o->whole && o->last_write >= 0 && o->last_write < o->first_read; }

// ---- what may move

// Is t known without what iterations before have made?
static bool is_known(const Stepper *z, Temp t, int *budget) {
    if (!is_made(z, t) || t == z->loop->dst) return true;
    const Stmt *s = z->def[t];
    if (!s || --*budget < 0 || (!stmt_is_pure(s) && (s->kind != ST_LOAD || map_get(&z->written, s->buf)))) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!is_known(z, s->args[k], budget)) return false;
    return true;
}

// Does s, and what is inside, need no temps from outside but such? inside: temps that it makes.
static bool needs_known(const Stepper *z, const Stmt *s, Map *inside) {
    if (s->kind == ST_LOOP || s->kind == ST_BREAK || s->kind == ST_OUT || s->kind == ST_CHUNK || s->kind == ST_THREADS || s->wishes)
        return false;
    for (int k = 0; k < s->nargs; k++) {
        bool cell = z->b.tree->temps.data[s->args[k]].cell;
        if (!map_get(inside, key(s->args[k])) && (cell || !is_known(z, s->args[k], &(int){BUDGET}))) return false;
    }
    if (s->kind == ST_SET && !map_get(inside, key(s->dst))) return false;
    if (s->dst >= 0) map_put(inside, key(s->dst), (void *)1);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++)
            if (!needs_known(z, in[k]->stmts.data[i], inside)) return false;
    return true;
}

static bool stands_alone(const Stepper *z, const Stmt *s) {
    Map inside = {0};
    bool is = needs_known(z, s, &inside);
    map_free(&inside);
    return is;
}

static bool comes_into_being(const Stmt *s, const Buf *b) { // inside of s
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) {
            const Stmt *t = in[k]->stmts.data[i];
            if ((t->kind == ST_NEW && t->buf == b) || comes_into_being(t, b)) return true;
        }
    return false;
}

static bool may_move(Stepper *z, int i);

// Of an access in statement i, which is to run ahead: of an array that all iterations find the same, or that is made ahead, too.
static bool may_access(Stepper *z, int i, const Stmt *s) {
    const Own *o = own_of(z, s->buf);
    bool write = s->kind != ST_LOAD;
    if (comes_into_being(statement(z, i), s->buf)) return true;
    if (!o) return !write && !map_get(&z->written, s->buf);
    if (!may_be_kept(o) || (o->last_write >= i && !writes(statement(z, i), s->buf))) return false;
    for (int k = 0; k <= o->last_write; k++)
        if (k != i && writes(statement(z, k), s->buf) && !may_move(z, k)) return false;
    return true;
}

static bool may_access_all(Stepper *z, int i, const Stmt *s) {
    if (s->src || (s->buf && !may_access(z, i, s))) return false;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int n = 0; in[k] && n < in[k]->stmts.len; n++)
            if (!may_access_all(z, i, in[k]->stmts.data[n])) return false;
    return true;
}

static bool may_move(Stepper *z, int i) {
    Place *p = &z->place.data[i];
    const Stmt *s = statement(z, i);
    if (*p != UNKNOWN) return *p != STAYS;
    *p = ASKED; // which those that write to the same array may take for granted: they move together, or not
    bool may = (s->kind == ST_FOR || s->kind == ST_FILL) && stands_alone(z, s) && may_access_all(z, i, s);
    *p = may ? MAY_MOVE : STAYS;
    return may;
}

static bool sums_up(const Stmt *s) {
    if (s->kind == ST_SET) return true;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++)
            if (sums_up(in[k]->stmts.data[i])) return true;
    return false;
}

// What moves takes along what makes, or else changes, the arrays that it accesses.
static void move_ahead(Stepper *z, int i) {
    if (z->place.data[i] == AHEAD) return;
    z->place.data[i] = AHEAD;
    for (int k = 0; k < z->own.len; k++) {
        const Own *o = &z->own.data[k];
        for (int n = 0; n <= o->last_write && stmt_accesses(statement(z, i), o->buf); n++)
            if (writes(statement(z, n), o->buf)) move_ahead(z, n);
    }
}

// Is it worth it? A nest that adds something up is; what each element costs little would be no better if it were kept.
static void find_ahead(Stepper *z) {
    for (int i = 0; i < z->place.len; i++)
        if (statement(z, i)->kind == ST_FOR && sums_up(statement(z, i)) && may_move(z, i)) move_ahead(z, i);
}

// ---- what may come later

static bool is_outside(const Stepper *z, const Buf *b) { return !own_of(z, b) && b->home != z->loop->body; }

// The nest does nothing but add to elements of arrays: *adds, one statement inside it, in loops with the indices `at`.
static bool only_adds(const Stmt *s, Stmt **adds, Temp *at, int *n) {
    const Block *b = s->body;
    if (!nest_is_plain(s) || *n == DEEPEST) return false;
    at[(*n)++] = s->dst;
    for (int i = 0; i < b->stmts.len; i++) {
        Stmt *t = b->stmts.data[i];
        if (stmt_is_plain(t) || t->kind == ST_CELL) continue;
        bool sum = t->kind == ST_FOR && sums_up(t) && !block_has_for(t->body);
        for (int k = 0; sum && k < t->body->stmts.len; k++)
            sum = stmt_is_plain(t->body->stmts.data[k]) || t->body->stmts.data[k]->kind == ST_SET;
        if (sum) continue;
        if (*adds) return false;
        if (t->kind == ST_ADDTO) *adds = t;
        else if (t->kind != ST_FOR || !only_adds(t, adds, at, n)) return false;
    }
    return *adds;
}

// Does it add several terms to one element?
static bool adds_up(const Stmt *nest, const Stmt *adds, const Temp *at, int n) {
    if (sums_up(nest)) return true;
    for (int k = 0; k < n; k++) {
        bool any = false;
        for (int d = 0; d < adds->buf->rank; d++) any |= stmt_index(adds)[d] == at[k];
        if (!any) return true;
    }
    return false;
}

// Are all arrays that it reads the same in all iterations, or kept?
static bool reads_kept(const Stepper *z, int i, const Stmt *s) {
    if (s->kind == ST_LOAD && map_get(&z->written, s->buf)) {
        const Own *o = own_of(z, s->buf);
        if (!o || !may_be_kept(o) || o->last_write >= i) return false;
    }
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int n = 0; in[k] && n < in[k]->stmts.len; n++)
            if (!reads_kept(z, i, in[k]->stmts.data[n])) return false;
    return true;
}

static Stmt *may_wait(const Stepper *z, int i) {
    Temp at[DEEPEST];
    Stmt *adds = NULL;
    int n = 0;
    if (statement(z, i)->kind != ST_FOR || z->place.data[i] == AHEAD || !only_adds(statement(z, i), &adds, at, &n)) return NULL;
    bool may = is_outside(z, adds->buf) && kind_is_float(adds->buf->kind) && adds_up(statement(z, i), adds, at, n);
    return may && stands_alone(z, statement(z, i)) && reads_kept(z, i, statement(z, i)) ? adds : NULL;
}

static void find_after(Stepper *z) {
    Stmt **adds = ARENA_ARRAY(z->b.arena, Stmt *, z->place.len + 1);
    for (int i = 0; i < z->place.len; i++) adds[i] = may_wait(z, i);
    for (int i = 0; i < z->place.len; i++) {
        int others = 0;
        for (int k = 0; adds[i] && k < z->place.len; k++) others += adds[k] && adds[k]->buf == adds[i]->buf;
        if (adds[i] && block_accesses(z->loop->body, adds[i]->buf) == others) z->place.data[i] = AFTER;
    }
}

// ---- additions of what is kept anyway
//
//     for i { for j { D[i,j] = v; c[j] += v } }      becomes      for i { for j { D[i,j] = v } } for i { for j { c[j] += D[i,j] } }

static Stmt *stored_too(const Stepper *z, const Block *b, const Stmt *adds) {
    for (int i = 0; i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        const Own *o = s->kind == ST_STORE && s->args[0] == adds->args[0] ? own_of(z, s->buf) : NULL;
        if (o && may_be_kept(o)) return s;
    }
    return NULL;
}

static bool is_one_of(const Temp *at, int n, Temp t) {
    for (int k = 0; k < n; k++)
        if (at[k] == t) return true;
    return false;
}

// Of the block, in loops of statement i with the indices `at`.
static bool split_adds(Stepper *z, int i, Block *block, Stmt **loops, int n) {
    Temp at[DEEPEST];
    for (int k = 0; k < n; k++) at[k] = loops[k]->dst;
    for (int x = 0; x < block->stmts.len; x++) {
        Stmt *adds = block->stmts.data[x], *store = NULL;
        if (adds->kind == ST_ADDTO && is_outside(z, adds->buf) && kind_is_float(adds->buf->kind) &&
            block_accesses(z->loop->body, adds->buf) == 1 && adds_up(adds, adds, at, n))
            store = stored_too(z, block, adds);
        bool fits = store;
        for (int d = 0; fits && d < adds->buf->rank; d++)
            fits = is_one_of(at, n, stmt_index(adds)[d]) || !is_made(z, stmt_index(adds)[d]);
        for (int d = 0; fits && d < store->buf->rank; d++)
            fits = is_one_of(at, n, stmt_index(store)[d]) || !is_made(z, stmt_index(store)[d]);
        for (int k = 0; fits && k < n; k++) fits = is_one_of(stmt_index(store), store->buf->rank, at[k]);
        if (!fits) continue;
        Block to = {0};
        Temp index[2][RANK_MAX];
        Stmt *outer = NULL, *inner = NULL;
        for (int d = 0; d < adds->buf->rank; d++) index[0][d] = stmt_index(adds)[d];
        for (int d = 0; d < store->buf->rank; d++) index[1][d] = stmt_index(store)[d];
        for (int k = 0; k < n; k++) {
            inner = build_loop(&z->b, inner ? inner->body : &to, at[k], loops[k]->args[0]);
            if (!outer) outer = inner;
            for (int d = 0; d < RANK_MAX; d++)
                for (int w = 0; w < 2; w++)
                    if (d < (w ? store : adds)->buf->rank && index[w][d] == at[k]) index[w][d] = inner->dst;
        }
        Temp value = build_load(&z->b, inner->body, store->buf, index[1]);
        build_store(&z->b, inner->body, ST_ADDTO, adds->buf, value, index[0]);
        stmt_drop(adds);
        block_insert(z->loop->body, i + 1, outer);
        vec_free(&to.stmts);
        return true;
    }
    for (int x = 0; x < block->stmts.len && n < DEEPEST; x++) {
        Stmt *s = block->stmts.data[x];
        if (s->kind != ST_FOR || !nest_is_plain(s) || is_made(z, s->args[0])) continue;
        loops[n] = s;
        if (split_adds(z, i, s->body, loops, n + 1)) return true;
    }
    return false;
}

// ---- how indices go on

enum { ANY = 2 };

// By how much t grows from iteration to iteration: 1, -1, 0, or ANY.
static int slope(const Stepper *z, Temp t) {
    const Stmt *s = z->def[t];
    if (t == z->loop->dst) return 1;
    if (!is_made(z, t) || !s || s->kind == ST_LIT || s->kind == ST_FOR) return 0;
    if (s->kind != ST_OP || (s->op != OP_add && s->op != OP_sub) || s->nargs != 2) return ANY;
    int x = slope(z, s->args[0]), y = slope(z, s->args[1]), r = s->op == OP_add ? x + y : x - y;
    return x == ANY || y == ANY || r > 1 || r < -1 ? ANY : r;
}

static void count_slopes(const Stepper *z, const Stmt *s, int *up, int *down) {
    for (int d = 0; s->kind == ST_LOAD && !own_of(z, s->buf) && d < s->nargs; d++) {
        int of = slope(z, s->args[d]);
        *up += of == 1, *down += of == -1;
    }
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) count_slopes(z, in[k]->stmts.data[i], up, down);
}

// ---- strips

// What t is in a loop that has left the one where it was made; there: temps by number + 1 of what is known in it.
static Temp known_there(Stepper *z, Block *to, Map *there, Temp t) {
    if (!is_made(z, t)) return t;
    intptr_t is = (intptr_t)map_get(there, key(t));
    if (is) return (Temp)(is - 1);
    const Stmt *s = z->def[t];
    Temp args[RANK_MAX + 2];
    for (int k = 0; k < s->nargs; k++) args[k] = known_there(z, to, there, s->args[k]);
    Stmt *copy = build_stmt(&z->b, to, s->kind, build_temp(&z->b, z->b.tree->temps.data[t]), s->nargs, args);
    copy->op = s->op, copy->u = s->u, copy->buf = s->buf;
    map_put(there, key(t), key(copy->dst));
    return copy->dst;
}

static void note_inside(Map *inside, const Stmt *s) {
    if (s->dst >= 0 && s->kind != ST_SET) map_put(inside, key(s->dst), (void *)1);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) note_inside(inside, in[k]->stmts.data[i]);
}

static void need_there(Stepper *z, Block *to, Map *there, const Map *inside, Stmt *s) {
    for (int k = 0; k < s->nargs; k++)
        if (!map_get(inside, key(s->args[k]))) s->args[k] = known_there(z, to, there, s->args[k]);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) need_there(z, to, there, inside, in[k]->stmts.data[i]);
}

// The iteration that is number s of the strip counted from its other end.
static Temp turned(Stepper *z, Block *to, Temp s) {
    if (!z->backwards) return s;
    Temp last = build_int(&z->b, to, OP_sub, z->count, build_literal(&z->b, to, KIND_INT, 1));
    return build_int(&z->b, to, OP_sub, last, s);
}

static void access_all(Stepper *z, Stmt *s, Temp p) {
    Own *o = s->buf && s->kind != ST_NEW ? own_of(z, s->buf) : NULL;
    if (o && o->all) {
        int values = s->kind == ST_LOAD ? 0 : 1;
        Temp *args = ARENA_ARRAY(z->b.arena, Temp, s->nargs + 1);
        for (int k = 0; k < s->nargs; k++) args[k + (k >= values)] = s->args[k];
        args[values] = p;
        s->args = args, s->nargs++, s->buf = o->all;
    }
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) access_all(z, in[k]->stmts.data[i], p);
}

// The statement, of a nest, for all iterations of the strip, in a loop in `to`.
static void put_loop(Stepper *z, Block *to, Stmt *s, const Stmt *nest) {
    Stmt *loop = build_loop(&z->b, to, z->loop->dst, z->count);
    Map there = {0}, inside = {0};
    Temp t = build_int(&z->b, loop->body, OP_add, z->first, turned(z, loop->body, loop->dst));
    map_put(&there, key(z->loop->dst), key(t));
    note_inside(&inside, nest);
    need_there(z, loop->body, &there, &inside, s);
    vec_push(&loop->body->stmts, s);
    access_all(z, s, loop->dst);
    map_free(&there), map_free(&inside);
}

// Is what the block computes outside of the loop `sum` the same in all iterations?
static bool is_same_but_for(const Stepper *z, const Block *b, const Stmt *sum) {
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s == sum) continue;
        if (s->kind == ST_LOAD && own_of(z, s->buf)) return false;
        for (int k = s->kind == ST_ADDTO; k < s->nargs && s->kind != ST_GET; k++)
            if (slope(z, s->args[k])) return false;
        if (s->kind == ST_FOR && !is_same_but_for(z, s->body, sum)) return false;
    }
    return true;
}

// A product whose sums go over the iterations of the strip, too; else the nest for each of them.
static void put_after(Stepper *z, Block *to, Stmt *nest) {
    Product p;
    if (!product_find(z->def, nest, &p) || p.batch || p.over || !is_same_but_for(z, nest->body, p.loop[2])) {
        put_loop(z, to, nest, nest);
        return;
    }
    Block *b = p.loop[1]->body, all = {0};
    int at = 0;
    while (b->stmts.data[at] != p.loop[2]) at++;
    put_loop(z, &all, b->stmts.data[at], nest);
    b->stmts.data[at] = all.stmts.data[0];
    vec_free(&all.stmts);
    Map there = {0}, inside = {0};
    note_inside(&inside, nest);
    need_there(z, to, &there, &inside, nest);
    map_free(&there), map_free(&inside);
    vec_push(&to->stmts, nest);
}

// Filling one as part of an array for all iterations.
static Stmt *fill_by_loops(Stepper *z, const Stmt *fill) {
    Block all = {0};
    Temp index[RANK_MAX];
    Block *to = &all;
    for (int k = 0; k < fill->buf->rank; k++) {
        Stmt *loop = build_loop_named(&z->b, to, "k", fill->buf->extent[k]);
        index[k] = loop->dst, to = loop->body;
    }
    build_store(&z->b, to, ST_STORE, fill->buf, fill->args[0], index);
    Stmt *outer = all.stmts.data[0];
    vec_free(&all.stmts);
    return outer;
}

static void take_new(Block *b, const Buf *buf) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (s->kind == ST_NEW && s->buf == buf) stmt_drop(s);
        take_new(s->body, buf), take_new(s->other, buf);
    }
}

// The arrays that are kept: those that are made or read by what moves.
static void find_kept(const Stepper *z, bool *kept) {
    for (int k = 0; k < z->own.len; k++)
        for (int i = 0; i < z->place.len; i++)
            if (z->place.data[i] == AHEAD || z->place.data[i] == AFTER)
                kept[k] |= stmt_accesses(statement(z, i), z->own.data[k].buf) > 0;
}

static Temp bytes_of(Stepper *z, Block *to, const Buf *b) {
    Temp n = build_literal(&z->b, to, KIND_INT, (int64_t)kind_size(b->kind));
    for (int k = 0; k < b->rank; k++) n = build_int(&z->b, to, OP_mul, n, b->extent[k]);
    return n;
}

// How many iterations a strip has, as there is room for what they keep.
static Temp put_most(Stepper *z, Block *to, const bool *kept, int64_t room) {
    Builder *b = &z->b;
    Temp one = build_literal(b, to, KIND_INT, 1), bytes = one;
    for (int k = 0; k < z->own.len; k++)
        if (kept[k]) bytes = build_int(b, to, OP_add, bytes, bytes_of(z, to, z->own.data[k].buf));
    bytes = build_int(b, to, OP_max, one, bytes);
    Temp most = build_int(b, to, OP_idiv, build_literal(b, to, KIND_INT, room), bytes);
    return build_int(b, to, OP_max, one, build_int(b, to, OP_min, most, z->loop->args[0]));
}

static void put_strips(Stepper *z, Block *block, int at, int64_t room) {
    Builder *b = &z->b;
    Stmt *loop = z->loop;
    Block before = {0}, old = *loop->body;
    bool *kept = ARENA_ARRAY(b->arena, bool, z->own.len + 1);
    int up = 0, down = 0;
    b->span = loop->span;
    find_kept(z, kept);
    for (int i = 0; i < z->place.len; i++)
        if (z->place.data[i] == AHEAD || z->place.data[i] == AFTER) count_slopes(z, statement(z, i), &up, &down);
    z->backwards = down && !up;
    Temp n = loop->args[0], most = put_most(z, &before, kept, room),
         last = build_int(b, &before, OP_sub, build_int(b, &before, OP_add, n, most), build_literal(b, &before, KIND_INT, 1)),
         strips = build_int(b, &before, OP_idiv, last, most);
    Stmt *strip = tree_stmt(b->arena, ST_FOR, build_temp(b, (TempInfo){.kind = KIND_INT, .name = "strip"}), 1, &strips, b->span);
    strip->body = ARENA_NEW(b->arena, Block);
    z->first = build_int(b, strip->body, OP_mul, strip->dst, most);
    z->count = build_int(b, strip->body, OP_min, build_int(b, strip->body, OP_sub, n, z->first), most);
    for (int k = 0; k < z->own.len; k++) {
        Own *o = &z->own.data[k];
        Temp extent[RANK_MAX] = {most};
        if (!kept[k]) continue;
        for (int d = 0; d < o->buf->rank; d++) extent[d + 1] = o->buf->extent[d];
        o->all = build_buf(b, &before, strip->body, o->buf->kind, o->buf->rank + 1, extent);
        take_new(b->tree->body, o->buf);
    }
    for (int i = 0; i < old.stmts.len; i++) {
        Stmt *s = old.stmts.data[i];
        const Own *o = s->kind == ST_FILL ? own_of(z, s->buf) : NULL;
        if (o && o->all) s = old.stmts.data[i] = fill_by_loops(z, s);
        if (z->place.data[i] == AHEAD) put_loop(z, strip->body, s, s);
    }
    Stmt *rest = build_loop(b, strip->body, loop->dst, z->count);
    rest->body = loop->body; // the home of what is not kept
    *rest->body = (Block){0};
    Temp p = turned(z, rest->body, rest->dst);
    Stmt *t = build_stmt(b, rest->body, ST_OP, loop->dst, 2, (Temp[]){z->first, rest->dst});
    t->op = OP_add;
    for (int i = 0; i < old.stmts.len; i++) {
        Stmt *s = old.stmts.data[i];
        if (z->place.data[i] == AHEAD || z->place.data[i] == AFTER) continue;
        access_all(z, s, p);
        vec_push(&rest->body->stmts, s);
    }
    for (int i = 0; i < old.stmts.len; i++)
        if (z->place.data[i] == AFTER) put_after(z, strip->body, old.stmts.data[i]);
    vec_free(&old.stmts);
    vec_push(&before.stmts, strip);
    block->stmts.data[at] = before.stmts.data[0];
    for (int i = 1; i < before.stmts.len; i++) block_insert(block, at + i, before.stmts.data[i]);
    vec_free(&before.stmts);
    map_put(&z->seen, rest, rest), map_put(&z->seen, strip, strip);
}

// ---- loops

static bool has_few(const Stepper *z, const Stmt *loop) {
    int64_t n;
    return iter_literal(&z->it, loop->args[0], &n) && n < 2;
}

static void look(Stepper *z) {
    map_free(&z->made), map_free(&z->written);
    z->made = z->written = (Map){0}, z->own.len = z->place.len = 0;
    map_put(&z->made, key(z->loop->dst), z->loop);
    note_made(z, z->loop->body);
    note_own(z), note_accesses(z);
}

static void define(Stepper *z) {
    z->def = ARENA_ARRAY(z->b.arena, Stmt *, z->b.tree->temps.len + 1);
    tree_definitions(z->b.tree->body, z->def);
}

static bool in_strips(Stepper *z, Block *block, int at, int64_t room) {
    Stmt *loop = block->stmts.data[at], *loops[DEEPEST];
    if (map_get(&z->seen, loop) || !nest_is_plain(loop) || has_few(z, loop) || block_may_fail(loop->body)) return false;
    map_put(&z->seen, loop, loop);
    z->loop = loop, z->b.span = loop->span;
    look(z);
    for (int i = 0; i < loop->body->stmts.len; i++) {
        Stmt *s = loop->body->stmts.data[i];
        if (s->kind != ST_FOR || !nest_is_plain(s) || is_made(z, s->args[0])) continue;
        loops[0] = s;
        while (split_adds(z, i, s->body, loops, 1)) define(z), look(z);
    }
    for (int i = 0; i < loop->body->stmts.len; i++) vec_push(&z->place, UNKNOWN);
    find_ahead(z), find_after(z);
    int ahead = 0, after = 0;
    for (int i = 0; i < z->place.len; i++) ahead += z->place.data[i] == AHEAD, after += z->place.data[i] == AFTER;
    if ((!ahead && !after) || !tree_step(z->b.tree, loop)) return false;
    const char *name = z->b.tree->temps.data[loop->dst].name;
    explain(z->b.tree->func->ir->explain, EXPLAIN_SCHEDULE, loop->span,
            "loop over `%s`: %d nests are done for many iterations at once, before these, and %d after them", name ? name : "i",
            ahead, after);
    put_strips(z, block, at, room);
    return true;
}

// Of the loops whose iterations wait for each other.
static bool some_in_strips(Stepper *z, Block *block, int64_t room) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (map_get(&z->apart, s)) continue;
        if (s->kind == ST_FOR && !map_get(&z->seen, s)) {
            bool apart = iter_look(&z->it, s, false);
            iter_forget(&z->it);
            if (apart) {
                map_put(&z->apart, s, s);
                continue;
            }
            if (in_strips(z, block, i, room)) return true;
        }
        if (some_in_strips(z, s->body, room) || some_in_strips(z, s->other, room)) return true;
    }
    return false;
}

void loops_steps(Arena *arena, Tree *tree, const LoopOptions *opt) {
    const int64_t room = (int64_t)opt->machine->device_steps;
    Stepper z = {.b = {.arena = arena, .tree = tree}};
    bool any = false;
    for (bool more = true; more;) {
        iter_init(&z.it, arena, tree, false);
        define(&z);
        more = some_in_strips(&z, tree->body, room);
        any |= more;
        iter_free(&z.it);
    }
    map_free(&z.seen), map_free(&z.apart), map_free(&z.made), map_free(&z.written);
    vec_free(&z.own), vec_free(&z.place);
    if (any) block_sweep(tree->body), lower_remove_dead(arena, tree);
}
