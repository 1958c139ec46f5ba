// Index sets split where conditions change. Between the iterations for which all conditions of a loop on its index are decided,
// and all minima and maxima are what does not depend on it, and those at its ends, a loop is cut in three:
//
//     for i < n { if 0 < i … }   becomes   for i < lo {…}; for i = lo < hi {… with nothing to decide}; for i = hi < n {…}
//
// as in windows at the borders of an array. Lanes then agree in the middle, and windows have one length there. Which way
// conditions are decided there is a guess of what most iterations do. Where they also depend on what does not change in the
// loop, as that of a row, this is asked once, before it:
//
//     for j < m { if 0 < i && 0 < j … }   becomes   if 0 < i {…; for j = lo < hi {…}; …} else { for j < m … as it was }
#include "lower/internal.h"
#include "lower/loop_passes.h"

enum { LARGEST_BODY = 120, OF_LOOP = 60, LARGEST_TREE = 20000, LINEAR_DEPTH = 8, FEW = 4, FAR = 1 << 20 };

typedef struct Known {
    Temp cond; // in the middle this holds, or does not: `truth`; -1: …
    bool truth;
    Temp extreme, same; // … this minimum or maximum is that temp
} Known;

typedef struct Once { // asked before the loop
    Temp cond;
    bool truth;
} Once;

typedef struct Peeler {
    Arena *arena;
    Tree *tree;
    bool precise;
    VEC(Stmt *) def; // by temp
    Map likely;      // Temp + 1: 1, or 2 if it holds in most iterations, since conditions share what they are made of
    bool any;        // has a loop been cut?
    // Of the loop that is looked at:
    Stmt *loop;
    Map made;                 // Temp + 1: in an iteration
    Map blocks;               // inside
    Block before;             // what has to be computed before it
    VEC(Temp) least, most;    // the middle is where the index is at least these, and below those
    bool few_least, few_most; // outside of these there are only a few iterations
    VEC(Once) once;
    VEC(Known) known;
} Peeler;

static bool is_made(const Peeler *z, Temp t) { return map_get(&z->made, (void *)((intptr_t)t + 1)); }
static bool is_int(const Peeler *z, Temp t) { return z->tree->temps.data[t].kind == KIND_INT; }

static const Stmt *def_of(const Peeler *z, Temp t) { return t < z->def.len ? z->def.data[t] : NULL; }

static Stmt *new_stmt(Peeler *z, StmtKind kind, Kind of, int n, const Temp *args) {
    vec_push(&z->tree->temps, ((TempInfo){.kind = of}));
    Stmt *s = tree_stmt(z->arena, kind, z->tree->temps.len - 1, n, args, z->loop->span);
    while (z->def.len < s->dst) vec_push(&z->def, NULL);
    vec_push(&z->def, s);
    return s;
}

static Temp emit_as(Peeler *z, StmtKind kind, Kind of, int n, const Temp *args) {
    vec_push(&z->before.stmts, new_stmt(z, kind, of, n, args));
    return vec_last(&z->before.stmts)->dst;
}

static Temp emit_literal(Peeler *z, int64_t value) {
    Temp t = emit_as(z, ST_LIT, KIND_INT, 0, NULL);
    vec_last(&z->before.stmts)->u.num = value;
    return t;
}

static bool is_literal(const Peeler *z, Temp t, int64_t *value) {
    const Stmt *s = def_of(z, t);
    if (!s || s->kind != ST_LIT) return false;
    *value = s->u.num;
    return true;
}

static Temp emit_op(Peeler *z, Op op, Temp a, Temp b) {
    int64_t x = 0, y = 0;
    bool first = is_literal(z, a, &x), second = is_literal(z, b, &y), sum = op == OP_add || op == OP_sub;
    if (second && !y && sum) return a;
    if (first && !x && op == OP_add) return b;
    if (first && second && sum) return emit_literal(z, op == OP_add ? x + y : x - y);
    if (first && second && (op == OP_min || op == OP_max)) return (x < y) == (op == OP_min) ? a : b;
    Temp args[] = {a, b}, t = emit_as(z, ST_OP, KIND_INT, 2, args);
    vec_last(&z->before.stmts)->op = op;
    return t;
}

// ---- what conditions say

// How many iterations a loop has, if that is not negative: max(0, n) or max(n, 0) is n.
static Temp extent_of(const Peeler *z, const Stmt *loop) {
    const Stmt *s = def_of(z, loop->args[0]);
    int64_t least;
    for (int k = 0; k < 2 && s && s->kind == ST_OP && s->op == OP_max; k++)
        if (is_literal(z, s->args[k], &least) && !least) return s->args[1 - k];
    return loop->args[0];
}

// Of a < b, or a <= b, which depends on the index of one loop: in how many iterations it holds, and in how many not; -1: not known.
typedef struct Often {
    int64_t holds, fails;
} Often;

static void add(const Peeler *z, Temp t, int64_t by, Linear *out) { linear_add(z->def.len, z->def.data, t, by, out); }

static Often often(const Peeler *z, Temp a, Temp b, bool below) {
    Linear d = {.plus = below ? -1 : 0}, e = {0}; // it holds where d >= 0
    int at = -1;
    add(z, b, 1, &d), add(z, a, -1, &d);
    for (int k = 0; k < d.n; k++) {
        const Stmt *s = def_of(z, d.t[k]);
        if (!d.by[k] || !s || s->kind != ST_FOR) continue;
        if (at >= 0 || s->nargs > 1) return (Often){-1, -1};
        at = k;
    }
    if (d.fails || at < 0 || (d.by[at] != 1 && d.by[at] != -1)) return (Often){-1, -1};
    bool first = d.by[at] < 0; // it holds for the first iterations
    add(z, extent_of(z, def_of(z, d.t[at])), 1, &e);
    d.by[at] = 0;
    d.plus = first ? d.plus + 1 : -d.plus;
    int64_t head = !linear_is_number(&d) ? -1 : d.plus > 0 ? d.plus : 0, tail = -1; // so many do, and do not, or the reverse
    e.plus -= d.plus;
    for (int k = 0; k < d.n; k++) add(z, d.t[k], first ? -d.by[k] : d.by[k], &e);
    if (linear_is_number(&e)) tail = e.plus > 0 ? e.plus : 0;
    return first ? (Often){head, tail} : (Often){tail, head};
}

static const Stmt *op_of(const Peeler *z, Temp t) {
    const Stmt *s = def_of(z, t);
    return s && s->kind == ST_OP ? s : NULL;
}

static bool is_order(const Peeler *z, const Stmt *s) { return s && (s->op == OP_lt || s->op == OP_le) && is_int(z, s->args[0]); }

static bool is_equality(const Peeler *z, const Stmt *s) { return s && (s->op == OP_eq || s->op == OP_ne) && is_int(z, s->args[0]); }
static bool is_few(int64_t n) { return n >= 0 && n <= FEW; }

static bool is_likely(Peeler *z, Temp t);

static bool find_likely(Peeler *z, const Stmt *s) {
    if (s->op == OP_and) return is_likely(z, s->args[0]) && is_likely(z, s->args[1]);
    if (s->op == OP_or) return is_likely(z, s->args[0]) || is_likely(z, s->args[1]);
    if (s->op == OP_not) return !is_likely(z, s->args[0]);
    if (is_equality(z, s)) return s->op == OP_ne;
    if (!is_order(z, s)) return true;
    Often o = often(z, s->args[0], s->args[1], s->op == OP_lt);
    return o.holds < 0 || (o.fails >= 0 && o.fails <= o.holds);
}

// Does it hold in most iterations, as far as can be seen?
static bool is_likely(Peeler *z, Temp t) {
    const Stmt *s = op_of(z, t);
    if (!s) return true;
    void *key = (void *)((intptr_t)t + 1);
    intptr_t known = (intptr_t)map_get(&z->likely, key);
    if (!known) map_put(&z->likely, key, (void *)(known = 1 + find_likely(z, s)));
    return known == 2;
}

// Is it made of indices of loops and sizes alone?
static bool is_of_indices(const Peeler *z, Temp t, int depth) {
    const Stmt *s = def_of(z, t);
    if (!s || depth > LINEAR_DEPTH) return false;
    if (s->kind == ST_LIT || s->kind == ST_ARG || s->kind == ST_FOR) return true;
    bool logic = z->tree->temps.data[t].kind == KIND_BOOL, sum = s->op == OP_add || s->op == OP_sub || s->op == OP_mul;
    if (s->kind != ST_OP || !(logic || sum || s->op == OP_min || s->op == OP_max)) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!is_of_indices(z, s->args[k], depth + 1)) return false;
    return true;
}

// If t is factor * index + rest, with a factor of -1, 0 or 1: emits the rest before the loop; else -1.
static Temp rest_of(Peeler *z, Temp t, int *factor, int depth) {
    *factor = t == z->loop->dst;
    if (t == z->loop->dst) return emit_literal(z, 0);
    if (!is_made(z, t)) return t;
    const Stmt *s = def_of(z, t);
    if (s->kind == ST_LIT) return emit_literal(z, s->u.num);
    if (s->kind != ST_OP || depth == LINEAR_DEPTH) return -1;
    bool sum = s->op == OP_add || s->op == OP_sub;
    if (!sum && s->op != OP_mul && s->op != OP_min && s->op != OP_max) return -1;
    int f, g;
    Temp a = rest_of(z, s->args[0], &f, depth + 1), b = a < 0 ? -1 : rest_of(z, s->args[1], &g, depth + 1);
    if (b < 0 || (!sum && (f || g))) return -1;
    *factor = s->op == OP_sub ? f - g : f + g;
    return *factor >= -1 && *factor <= 1 ? emit_op(z, s->op, a, b) : -1;
}

// factor * index <= limit in the middle, where factor is 1 or -1; with `below`, < limit. It fails in so many iterations.
static void bound(Peeler *z, int factor, Temp limit, bool below, int64_t fails) {
    bool few = is_few(fails);
    if (factor > 0) {
        vec_push(&z->most, below ? limit : emit_op(z, OP_add, limit, emit_literal(z, 1)));
        z->few_most &= few;
    } else {
        Temp least = emit_op(z, OP_sub, emit_literal(z, below), limit);
        vec_push(&z->least, least);
        z->few_least &= few;
    }
}

// Notes where a < b, or a <= b, has that truth; false if that is not one interval.
static bool compare(Peeler *z, Temp a, Temp b, bool below, bool truth) {
    if (!truth) return compare(z, b, a, !below, true);
    int f, g;
    Temp x = rest_of(z, a, &f, 0), y = x < 0 ? -1 : rest_of(z, b, &g, 0);
    if (y < 0 || (f - g != 1 && f - g != -1)) return false;
    bound(z, f - g, emit_op(z, OP_sub, y, x), below, often(z, a, b, below).fails);
    return true;
}

// Notes where a and b differ, if they are equal in one of the first or last iterations.
static bool differ(Peeler *z, Temp a, Temp b) {
    bool first = is_few(often(z, a, b, true).fails);
    return (first || is_few(often(z, b, a, true).fails)) && (first ? compare(z, a, b, true, true) : compare(z, b, a, true, true));
}

// Notes where a condition holds, or where it does not; false if that cannot be said.
static bool settle(Peeler *z, Temp t, bool truth) {
    const Stmt *s = op_of(z, t);
    if (!s) return false;
    if (!is_made(z, t)) {
        if (!is_of_indices(z, t, 0)) return false;
        vec_push(&z->once, ((Once){t, truth}));
        return true;
    }
    if (s->op == OP_not) return settle(z, s->args[0], !truth);
    if (s->op == (truth ? OP_and : OP_or)) return settle(z, s->args[0], truth) && settle(z, s->args[1], truth);
    if (s->op == (truth ? OP_or : OP_and)) return settle(z, s->args[is_likely(z, s->args[0]) != truth], truth);
    if (is_equality(z, s)) return truth == (s->op == OP_ne) && differ(z, s->args[0], s->args[1]);
    return is_order(z, s) && compare(z, s->args[0], s->args[1], s->op == OP_lt, truth);
}

// Notes where a minimum or maximum is the one of its operands that does not depend on the index.
static void bound_extreme(Peeler *z, Stmt *s) {
    int f, g;
    Temp a = rest_of(z, s->args[0], &f, 0), b = a < 0 ? -1 : rest_of(z, s->args[1], &g, 0);
    if (b < 0 || (f == 0) == (g == 0)) return;
    Temp same = s->args[f != 0], other = s->args[f == 0];
    if (s->op == OP_min ? compare(z, same, other, false, true) : compare(z, other, same, false, true))
        vec_push(&z->known, ((Known){-1, false, s->dst, f ? b : a}));
}

// Notes where a condition is decided; `few`: if only a few iterations are left, as is asked for selects and for what is in an
// `else`.
static void note(Peeler *z, Temp cond, bool few) {
    int least = z->least.len, most = z->most.len, once = z->once.len;
    bool few_least = z->few_least, few_most = z->few_most, truth = is_likely(z, cond);
    for (int i = 0; i < z->known.len; i++)
        if (z->known.data[i].cond == cond) return;
    z->few_least = z->few_most = true;
    if (settle(z, cond, truth) && (!few || (z->few_least && z->few_most))) {
        vec_push(&z->known, ((Known){cond, truth, -1, -1}));
        z->few_least &= few_least, z->few_most &= few_most;
    } else {
        z->least.len = least, z->most.len = most, z->once.len = once;
        z->few_least = few_least, z->few_most = few_most;
    }
}

static void find(Peeler *z, const Block *block, bool few) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_OP && (s->op == OP_min || s->op == OP_max) && is_int(z, s->dst)) bound_extreme(z, s);
        bool select = s->kind == ST_SELECT && is_made(z, s->args[0]);
        if (select || s->kind == ST_IF) note(z, s->args[0], few || select);
        if (s->kind != ST_IF) continue;
        find(z, s->body, few);
        find(z, s->other, true);
    }
}

// ---- cuts

static void note_blocks(Peeler *z, const Block *block) {
    if (!block) return;
    map_put(&z->blocks, block, (void *)block);
    for (int i = 0; i < block->stmts.len; i++) {
        note_blocks(z, block->stmts.data[i]->body);
        note_blocks(z, block->stmts.data[i]->other);
    }
}

// Is the buffer new in each run of a block inside of the loop?
static bool is_new(const Peeler *z, const Buf *b) { return b && b->home && map_get(&z->blocks, b->home); }

// How many statements there are; a large number where a buffer's life depends on a block inside.
static int survey(Peeler *z, const Block *block, int depth) {
    int n = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) map_put(&z->made, (void *)((intptr_t)s->dst + 1), (void *)s);
        bool inside = is_new(z, s->buf) || is_new(z, s->src) || s->kind == ST_NEW || s->kind == ST_LOOP;
        bool deep = depth > 0 && s->kind == ST_FOR;
        n += inside || deep ? LARGEST_BODY : s->kind == ST_FOR ? OF_LOOP : s->kind != ST_LIT;
        n += survey(z, s->body, depth + (s->kind == ST_FOR)) + survey(z, s->other, depth);
    }
    return n;
}

static Temp limit(Peeler *z, Op op, Temp t, int n, const Temp *by) {
    for (int i = 0; i < n; i++) t = emit_op(z, op, t, by[i]);
    return t;
}

// Is what was asked before the loop so?
static Temp emit_once(Peeler *z) {
    Temp all = -1;
    for (int i = 0; i < z->once.len; i++) {
        Temp t = z->once.data[i].cond;
        bool again = false;
        for (int k = 0; k < i; k++) again |= z->once.data[k].cond == t && z->once.data[k].truth == z->once.data[i].truth;
        if (again) continue;
        if (!z->once.data[i].truth) t = emit_as(z, ST_OP, KIND_BOOL, 1, &t), vec_last(&z->before.stmts)->op = OP_not;
        if (all >= 0) all = emit_as(z, ST_OP, KIND_BOOL, 2, (Temp[]){all, t}), vec_last(&z->before.stmts)->op = OP_and;
        else all = t;
    }
    return all;
}

// In the body of a copy of the loop: conditions have the values that they have in the middle, or, `reversed`, the others. map: what
// of the copy stands for temps of the loop; NULL: they do.
static void decide(Peeler *z, Block *body, const Map *map, bool reversed) {
    for (int i = 0; i < z->known.len; i++) {
        const Known *k = &z->known.data[i];
        if (k->cond < 0) {
            block_rename(body, k->extreme, k->same);
            continue;
        }
        Temp cond = k->cond, copy = map ? (Temp)(intptr_t)map_get(map, (void *)((intptr_t)cond + 1)) - 1 : -1;
        Stmt *s = new_stmt(z, ST_LIT, KIND_BOOL, 0, NULL);
        s->u.num = k->truth != reversed;
        block_rename(body, copy >= 0 ? copy : cond, s->dst);
        block_insert(body, 0, s);
    }
    lower_decide(z->tree, z->def.len, z->def.data, z->precise, body);
}

// A copy of the loop as it was; if one condition alone has cut it, that is decided in the copy, too.
static Stmt *copy_loop(Peeler *z) {
    Map temps = {0}, bufs = {0};
    Stmt *copy = tree_clone_with(z->arena, z->tree, z->loop, &temps, &bufs);
    const Stmt *only = z->known.len == 1 && z->known.data[0].cond >= 0 ? op_of(z, z->known.data[0].cond) : NULL;
    if (is_order(z, only)) decide(z, copy->body, &temps, true);
    map_free(&temps), map_free(&bufs);
    return copy;
}

// Puts the loop, which becomes the middle, with what comes before and after it, if that may be something, in the place of the
// statement.
static void replace(Peeler *z, Block *block, int at) {
    Stmt *loop = z->loop, *begin = z->least.len ? copy_loop(z) : NULL, *end = z->most.len ? copy_loop(z) : NULL;
    Stmt *branch = NULL;
    Temp once = emit_once(z);
    if (once >= 0) {
        branch = tree_stmt(z->arena, ST_IF, -1, 1, &once, loop->span);
        branch->body = ARENA_NEW(z->arena, Block), branch->other = ARENA_NEW(z->arena, Block);
        vec_push(&branch->other->stmts, copy_loop(z));
        block->stmts.data[at] = branch;
        vec_push(&branch->body->stmts, loop);
    }
    if (begin || end) {
        Temp n = loop->args[0], lo = limit(z, OP_max, emit_literal(z, 0), z->least.len, z->least.data), hi = n;
        if (begin) lo = emit_op(z, OP_min, lo, n), begin->args = arena_copy(z->arena, &lo, sizeof lo), begin->few = z->few_least;
        if (end) hi = emit_op(z, OP_max, limit(z, OP_min, n, z->most.len, z->most.data), lo);
        Temp middle[] = {hi, lo}, last[] = {n, hi};
        if (end) end->args = arena_copy(z->arena, last, sizeof last), end->nargs = 2, end->few = z->few_most;
        loop->args = arena_copy(z->arena, middle, sizeof middle), loop->nargs = 2;
    }
    decide(z, loop->body, NULL, false);
    Block *to = branch ? branch->body : block;
    int place = branch ? 0 : at;
    if (end) block_insert(to, place + 1, end);
    if (begin) block_insert(to, place, begin);
    for (int i = 0; i < z->before.stmts.len; i++) block_insert(block, at + i, z->before.stmts.data[i]);
}

static bool try_cut(Peeler *z, Block *block, int at) {
    z->loop = block->stmts.data[at];
    z->before.stmts.len = z->least.len = z->most.len = z->once.len = z->known.len = 0;
    z->few_least = z->few_most = true;
    map_free(&z->made), map_free(&z->blocks);
    z->made = z->blocks = (Map){0};
    note_blocks(z, z->loop->body);
    if (z->loop->nargs != 1 || z->tree->temps.len > LARGEST_TREE || survey(z, z->loop->body, 0) > LARGEST_BODY) return false;
    find(z, z->loop->body, false);
    if (!z->known.len || !tree_step(z->tree, z->loop)) return false;
    replace(z, block, at);
    return true;
}

// The greatest (factor 1) that an Int can be, or minus the least (-1), as far as literals and bounds say; FAR: not known.
static int64_t most_of(const Peeler *z, Temp t, int factor, int depth) {
    const Stmt *s = op_of(z, t);
    int64_t x, y, c;
    if (is_literal(z, t, &c)) return c > -FAR && c < FAR ? factor * c : FAR;
    if (!s || depth == LINEAR_DEPTH || s->nargs != 2) return FAR;
    x = most_of(z, s->args[0], factor, depth + 1), y = most_of(z, s->args[1], s->op == OP_sub ? -factor : factor, depth + 1);
    switch (s->op) {
    case OP_add:
    case OP_sub: return x == FAR || y == FAR || x + y > FAR ? FAR : x + y;
    case OP_min:
    case OP_max: return (s->op == OP_min) == (factor > 0) ? (x < y ? x : y) : (x > y ? x : y);
    default: return FAR;
    }
}

static void peel(Peeler *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        int before = block->stmts.len;
        int64_t n;
        if (s->kind == ST_FOR && !is_literal(z, s->args[0], &n) && most_of(z, s->args[0], 1, 0) <= FEW) s->few = true;
        if (s->kind == ST_FOR && try_cut(z, block, i)) {
            i += block->stmts.len - before;
            z->any = true;
            peel(z, s->body); // the middle
            continue;
        }
        peel(z, s->body);
        peel(z, s->other);
    }
}

void loops_peel(Arena *arena, Tree *tree, const LoopOptions *opt) {
    if (tree->temps.len > LARGEST_TREE) return;
    Peeler z = {.arena = arena, .tree = tree, .precise = opt->precise};
    for (int i = 0; i < tree->temps.len; i++) vec_push(&z.def, NULL);
    tree_definitions(tree->body, z.def.data);
    peel(&z, tree->body);
    if (z.any) lower_remove_dead(arena, tree);
    map_free(&z.made), map_free(&z.blocks), map_free(&z.likely);
    vec_free(&z.def), vec_free(&z.before.stmts);
    vec_free(&z.least), vec_free(&z.most);
    vec_free(&z.once), vec_free(&z.known);
}
