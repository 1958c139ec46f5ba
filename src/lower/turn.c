// Turns loops inside out. A loop over a few independent things, as the directions of a Jacobian, that goes over data in each of its
// iterations looks up the same places and asks the same questions every time. It becomes several: the loops over data come first,
// and it goes inside of them, where it has the lanes. What it made before them waits for all of its iterations, side by side.
//
//     for k < 26 { a = f(k)               becomes   for k < 26 { a[k] = f(k) }
//                  for i < n {                      for i < n { p = at[i]; x = rest[p]
//                      p = at[i]; x = rest[p]                   for k < 26 { y[k, i] = a[p, k] * x } }
//                      y[k, i] = a[p] * x } }
#include "lower/cost.h"
#include "lower/effects.h"
#include "lower/loop_passes.h"

enum { LEAST = 8, MOST = 32, LEAST_SHARED = 3, BEFORE = -1 };

typedef struct Turner {
    Arena *arena;
    Tree *tree;
    Iterations it;
    Block *around; // with the loop in it
    Stmt *loop;
    Map done;    // loops that have been turned
    Map written; // arrays that it writes to
    int n;       // statements of its body
    Stmt *was;   // by statement: as it was
    int *part;   // by statement: BEFORE the loop; an odd number for each loop that is turned; an even one for what is between them
    Effects *of; // by statement
    VEC(Buf *) wide; // new in an iteration, and used by several parts, or in a loop that is turned: they get a dimension
} Turner;

static bool varies(const Turner *z, Temp t) { return iter_varies(&z->it, t); }

static bool any_varies(const Turner *z, const Stmt *s) {
    for (int k = 0; k < s->nargs; k++)
        if (varies(z, s->args[k])) return true;
    return s->dst >= 0 && varies(z, s->dst);
}

// ---- what may be done

// Whether all checks are the same for all iterations; notes what is written.
static bool survey(Turner *z, const Block *block, bool differ) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        bool own = differ || any_varies(z, s),
             write = s->kind == ST_STORE || s->kind == ST_ADDTO || s->kind == ST_FILL || s->kind == ST_COPY;
        if ((s->kind == ST_CHECK && own) || stmt_calls(s) || s->kind == ST_LOOP || s->lanes || s->threads) return false;
        if (write) map_put(&z->written, s->buf, s->buf);
        bool branch = (s->kind == ST_IF || s->kind == ST_FOR) && own;
        if (!survey(z, s->body, branch) || !survey(z, s->other, branch)) return false;
    }
    return true;
}

static bool is_uniform(const Turner *z, const Buf *b) { return map_get(&z->it.uniform, b); }

static bool is_same(const Turner *z, const Stmt *s);

static bool all_same(const Turner *z, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++)
        if (!is_same(z, block->stmts.data[i])) return false;
    return true;
}

// Does it compute, of what the loop does not change, the same in all iterations?
static bool is_same(const Turner *z, const Stmt *s) {
    switch (s->kind) {
    case ST_LIT:
    case ST_OP:
    case ST_CONV:
    case ST_SELECT:
    case ST_CHECK:
    case ST_CELL:
    case ST_SET:
    case ST_GET: break;
    case ST_IF:
    case ST_FOR: return !any_varies(z, s) && all_same(z, s->body) && all_same(z, s->other);
    case ST_LOAD:
        if (!is_uniform(z, s->buf) && (iter_is_own(&z->it, s->buf) || map_get(&z->written, s->buf))) return false;
        break;
    case ST_NEW:
    case ST_FILL:
    case ST_STORE:
    case ST_ADDTO:
        if (!is_uniform(z, s->buf)) return false;
        break;
    default: return false;
    }
    return !any_varies(z, s);
}

static bool uses(const Effects *e, Temp t) {
    for (int k = 0; k < e->uses.len; k++)
        if (e->uses.data[k] == t) return true;
    return false;
}

// Does an array stand in the way of s, which is the same in all iterations, coming before t, which is not?
static bool arrays_conflict(const Effects *s, const Effects *t) {
    for (int i = 0; i < s->access.len; i++)
        for (int k = 0; k < t->access.len; k++)
            if (s->access.data[i].buf == t->access.data[k].buf && (s->access.data[i].write || t->access.data[k].write)) return true;
    return false;
}

// Which statements of the block are the same in all iterations, and need nothing that the others make or set.
static void find_same(const Turner *z, const Block *block, const Effects *of, bool *same) {
    Stmt *const *s = block->stmts.data;
    for (int i = 0; i < block->stmts.len; i++) same[i] = is_same(z, s[i]);
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < block->stmts.len; i++)
            for (int j = 0; same[i] && j < block->stmts.len; j++) {
                bool needs = effects_share_cells(&of[i], &of[j]) || (s[j]->dst >= 0 && uses(&of[i], s[j]->dst));
                if (same[j] || !(needs || (j < i && arrays_conflict(&of[i], &of[j])))) continue;
                same[i] = false, changed = true;
            }
    }
}

static Effects *effects_of(const Turner *z, const Block *block) {
    Effects *of = ARENA_ARRAY(z->arena, Effects, block->stmts.len + 1);
    for (int i = 0; i < block->stmts.len; i++) effects_add(&of[i], block->stmts.data[i]);
    return of;
}

static void free_effects(Effects *of, int n) {
    for (int i = 0; i < n; i++) effects_free(&of[i]);
}

// Is it computed from what was loaded, or chosen?
static bool is_looked_up(const Turner *z, Temp t, int depth) {
    enum { DEEPEST = 6 };
    const Stmt *s = z->it.def[t];
    if (!s || depth > DEEPEST) return false;
    if (s->kind == ST_LOAD || s->kind == ST_SELECT || s->kind == ST_GET) return true;
    for (int k = 0; k < s->nargs && (s->kind == ST_OP || s->kind == ST_CONV); k++)
        if (is_looked_up(z, s->args[k], depth + 1)) return true;
    return false;
}

// Does it access arrays at places that are looked up?
static bool looks_up(const Turner *z, const Stmt *s) {
    bool access = s->kind == ST_LOAD || s->kind == ST_STORE || s->kind == ST_ADDTO;
    for (int k = 0; access && k < s->buf->rank; k++)
        if (is_looked_up(z, stmt_index(s)[k], 0)) return true;
    for (int i = 0; s->body && i < s->body->stmts.len; i++)
        if (looks_up(z, s->body->stmts.data[i])) return true;
    for (int i = 0; s->other && i < s->other->stmts.len; i++)
        if (looks_up(z, s->other->stmts.data[i])) return true;
    return false;
}

// Is what of the statements writes to an array that is the same in all iterations the same, too?
static bool writes_same(const Effects *of, const bool *same, int n, const Buf *b) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < of[i].access.len && !same[i]; k++)
            if (of[i].access.data[k].buf == b && of[i].access.data[k].write) return false;
    return true;
}

static bool made_inside(const Effects *e, Temp cell) {
    for (int k = 0; k < e->cells.len; k++)
        if (e->cells.data[k] == cell) return true;
    return false;
}

// Is it a loop over data in each iteration of which the loop around it computes the same? All cells that it uses are its own.
// *looks: and looks it up, at places that are known then.
static bool should_turn(const Turner *z, const Stmt *s, const Effects *e, bool *looks) {
    int shared = 0;
    if (!nest_is_plain(s) || s->few || s->shifted || varies(z, s->args[0])) return false;
    for (int k = 0; k < e->gets.len; k++)
        if (!made_inside(e, e->gets.data[k])) return false;
    for (int k = 0; k < e->sets.len; k++)
        if (!made_inside(e, e->sets.data[k])) return false;
    Effects *of = effects_of(z, s->body);
    bool *same = ARENA_ARRAY(z->arena, bool, s->body->stmts.len + 1);
    find_same(z, s->body, of, same);
    for (int i = 0; i < s->body->stmts.len; i++) {
        shared += same[i] && s->body->stmts.data[i]->kind != ST_LIT;
        *looks |= !same[i] && looks_up(z, s->body->stmts.data[i]);
    }
    free_effects(of, s->body->stmts.len);
    return shared >= LEAST_SHARED;
}

// Whether the array is written once, before the loop or in the loops that are turned.
static bool is_settled(const Turner *z, const Buf *b) {
    for (int i = 0; i < z->n; i++) {
        Stmt *s = z->loop->body->stmts.data[i];
        if (z->part[i] == BEFORE || writes_same(&z->of[i], (bool[]){false}, 1, b)) continue;
        if (z->part[i] % 2 == 0) return false;
        Effects *of = effects_of(z, s->body);
        bool *same = ARENA_ARRAY(z->arena, bool, s->body->stmts.len + 1);
        find_same(z, s->body, of, same);
        bool all = writes_same(of, same, s->body->stmts.len, b);
        free_effects(of, s->body->stmts.len);
        if (!all) return false;
    }
    return true;
}

// Whether there is a loop to be turned, one of which looks something up.
static bool find_parts(Turner *z) {
    const Block *body = z->loop->body;
    bool *same = ARENA_ARRAY(z->arena, bool, z->n + 1), any = false;
    int now = 0;
    find_same(z, body, z->of, same);
    for (int i = 0; i < z->n; i++) {
        bool looks = false, turned = !same[i] && should_turn(z, body->stmts.data[i], &z->of[i], &looks);
        if (!same[i]) now += now % 2 ? 1 + turned : turned;
        z->part[i] = same[i] ? BEFORE : now;
        any |= turned && looks;
    }
    return any;
}

static int maker(const Turner *z, Temp t) {
    for (int i = 0; i < z->n; i++)
        if (z->loop->body->stmts.data[i]->dst == t && z->loop->body->stmts.data[i]->kind != ST_SET) return i;
    return -1;
}

// Is it known before the loop, or simple, so that each part makes it again?
static bool is_at_hand(const Turner *z, Temp t) {
    int i = maker(z, t);
    if (i < 0 || z->part[i] == BEFORE) return true;
    const Stmt *s = z->loop->body->stmts.data[i];
    if (s->kind != ST_LIT && s->kind != ST_CONV && s->kind != ST_SELECT && (s->kind != ST_OP || op_info[s->op].cost > 1))
        return false;
    for (int k = 0; k < s->nargs; k++)
        if (!is_at_hand(z, s->args[k])) return false;
    return true;
}

static bool parts_are_apart(const Turner *z) {
    for (int i = 0; i < z->n; i++) {
        for (int k = 0; k < z->of[i].uses.len; k++) {
            int j = maker(z, z->of[i].uses.data[k]);
            if (j >= 0 && z->part[j] != z->part[i] && !is_at_hand(z, z->of[i].uses.data[k])) return false;
        }
        for (int j = 0; j < i; j++)
            if (z->part[j] != z->part[i] && effects_share_cells(&z->of[j], &z->of[i])) return false;
    }
    return true;
}

// ---- arrays

static bool touches(const Effects *e, const Buf *b) {
    for (int k = 0; k < e->access.len; k++)
        if (e->access.data[k].buf == b) return true;
    return false;
}

// Does statement i give all elements of the array the same value before anything else does something to it?
static bool is_first_fill(const Turner *z, int i, const Buf *b) {
    const Stmt *s = z->loop->body->stmts.data[i];
    if (s->kind != ST_FILL || s->buf != b || varies(z, s->args[0])) return false;
    int by = maker(z, s->args[0]);
    for (int j = 0; j < i; j++)
        if (z->loop->body->stmts.data[j]->kind != ST_NEW && touches(&z->of[j], b)) return false;
    return by < 0 || z->part[by] == BEFORE;
}

// The part, between loops that are turned, that uses the array alone; -1: there is none. *whole: something accesses all of it at
// once.
static int part_of(const Turner *z, const Buf *b, bool *whole) {
    int part = -2;
    for (int i = 0; i < z->n; i++)
        for (int k = 0; k < z->of[i].access.len; k++) {
            const Access *a = &z->of[i].access.data[k];
            if (a->buf != b || z->loop->body->stmts.data[i]->kind == ST_NEW) continue;
            *whole |= !a->index && !is_first_fill(z, i, b);
            part = (part == -2 || part == z->part[i]) && z->part[i] % 2 == 0 ? z->part[i] : -1;
        }
    return part == -2 ? 0 : part;
}

// Finds the arrays that wait; false if one cannot.
static bool settle_arrays(Turner *z) {
    for (int i = 0; i < z->tree->bufs.len; i++) {
        Buf *b = z->tree->bufs.data[i];
        bool whole = false;
        if (b->home != z->loop->body) continue;
        for (int k = 0; k < b->rank; k++) {
            int j = maker(z, b->extent[k]);
            if (varies(z, b->extent[k]) || (j >= 0 && z->part[j] != BEFORE)) return false;
        }
        if (is_uniform(z, b) || part_of(z, b, &whole) >= 0) continue;
        if (whole || b->rank == RANK_MAX) return false;
        vec_push(&z->wide, b);
    }
    return true;
}

static void put_index(Turner *z, Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->buf == b && s->kind != ST_FILL) {
            Temp *args = ARENA_ARRAY(z->arena, Temp, s->nargs + 1);
            for (int k = 0; k < s->nargs; k++) args[k] = s->args[k];
            args[s->nargs++] = z->loop->dst;
            s->args = args;
        }
        put_index(z, s->body, b);
        put_index(z, s->other, b);
    }
}

// The array holds what all iterations make.
static void widen(Turner *z, Block *out, Buf *b) {
    Stmt *make = block_take_new(z->tree->body, b);
    put_index(z, z->loop->body, b);
    Temp *extent = ARENA_ARRAY(z->arena, Temp, b->rank + 1);
    for (int k = 0; k < b->rank; k++) extent[k] = b->extent[k];
    extent[b->rank++] = z->loop->args[0];
    b->extent = extent, b->home = z->around;
    vec_push(&out->stmts, make);
}

// ---- the loops

static Temp fresh(Turner *z, Temp like) {
    TempInfo info = z->tree->temps.data[like];
    info.varies = false, info.step = 0;
    vec_push(&z->tree->temps, info);
    return z->tree->temps.len - 1;
}

static bool is_used(const Block *block, Temp t) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        for (int k = 0; k < s->nargs; k++)
            if (s->args[k] == t) return true;
        if (is_used(s->body, t) || is_used(s->other, t)) return true;
    }
    return false;
}

// The loop with this body, which makes again what it needs of other parts.
static Stmt *finish_loop(Turner *z, int part, Block *body) {
    Stmt *s = tree_stmt(z->arena, ST_FOR, fresh(z, z->loop->dst), 1, z->loop->args, z->loop->span);
    for (int i = z->n; i-- > 0;) {
        if (z->was[i].dst < 0 || z->part[i] == BEFORE || z->part[i] == part || !is_used(body, z->was[i].dst)) continue;
        Stmt *copy = arena_copy(z->arena, &z->was[i], sizeof *copy);
        copy->args = arena_copy(z->arena, copy->args, sizeof *copy->args * (size_t)copy->nargs);
        copy->dst = fresh(z, copy->dst);
        block_rename(body, z->was[i].dst, copy->dst);
        block_insert(body, 0, copy);
    }
    block_rename(body, z->loop->dst, s->dst);
    s->body = body;
    map_put(&z->done, s, s);
    return s;
}

static void change_home(const Turner *z, const Block *from, const Block *to, bool uniform) {
    for (int i = 0; i < z->tree->bufs.len; i++) {
        Buf *b = z->tree->bufs.data[i];
        if (b->home == from && (uniform || !is_uniform(z, b))) b->home = to;
    }
}

// What differs between iterations goes into a loop inside of s.
static void turn(Turner *z, int part, Stmt *s) {
    Block *inner = ARENA_NEW(z->arena, Block), before = {0};
    int n = s->body->stmts.len;
    Effects *of = effects_of(z, s->body);
    bool *same = ARENA_ARRAY(z->arena, bool, n + 1);
    find_same(z, s->body, of, same);
    for (int i = 0; i < n; i++)
        if (same[i]) vec_push(&before.stmts, s->body->stmts.data[i]);
        else vec_push(&inner->stmts, s->body->stmts.data[i]);
    free_effects(of, n);
    vec_free(&s->body->stmts);
    s->body->stmts.len = 0;
    for (int i = 0; i < before.stmts.len; i++) vec_push(&s->body->stmts, before.stmts.data[i]);
    vec_free(&before.stmts);
    change_home(z, s->body, inner, false);
    vec_push(&s->body->stmts, finish_loop(z, part, inner));
}

static bool is_wide(const Turner *z, const Buf *b) {
    for (int i = 0; i < z->wide.len; i++)
        if (z->wide.data[i] == b) return true;
    return false;
}

// Where arrays that one part alone uses come into being.
static void place_news(Turner *z) {
    for (int i = 0; i < z->n; i++) {
        const Stmt *s = z->loop->body->stmts.data[i];
        bool whole = false;
        if (s->kind == ST_NEW)
            z->part[i] = s->buf->home == z->loop->body && !is_wide(z, s->buf) && !is_uniform(z, s->buf) ? part_of(z, s->buf, &whole)
                                                                                                        : BEFORE;
    }
}

static void build(Turner *z, Block *out) {
    Block *old = z->loop->body;
    int n = z->n, last = 0;
    Stmt **all = arena_copy(z->arena, old->stmts.data, sizeof *all * (size_t)(n + 1));
    z->was = ARENA_ARRAY(z->arena, Stmt, n + 1);
    for (int i = 0; i < n; i++) {
        z->was[i] = *all[i];
        z->was[i].args = arena_copy(z->arena, all[i]->args, sizeof *all[i]->args * (size_t)all[i]->nargs);
        if (all[i]->kind == ST_FILL && is_wide(z, all[i]->buf)) z->part[i] = BEFORE; // all of it at once
        else if (z->part[i] == BEFORE && !(all[i]->kind == ST_NEW && is_wide(z, all[i]->buf))) vec_push(&out->stmts, all[i]);
        if (z->part[i] > last) last = z->part[i];
    }
    int *part_of_buf = ARENA_ARRAY(z->arena, int, z->tree->bufs.len + 1);
    for (int i = 0; i < z->tree->bufs.len; i++) {
        bool whole = false;
        part_of_buf[i] = -1;
        if (z->tree->bufs.data[i]->home == old && !is_uniform(z, z->tree->bufs.data[i]))
            part_of_buf[i] = part_of(z, z->tree->bufs.data[i], &whole);
    }
    for (int i = 0; i < z->wide.len; i++) widen(z, out, z->wide.data[i]);
    for (int i = 0; i < n; i++)
        if (all[i]->kind == ST_FILL && is_wide(z, all[i]->buf)) vec_push(&out->stmts, all[i]);
    for (int part = 0; part <= last; part++) {
        Block *body = ARENA_NEW(z->arena, Block);
        for (int i = 0; i < n; i++)
            if (z->part[i] == part && part % 2) turn(z, part, all[i]), vec_push(&out->stmts, all[i]);
            else if (z->part[i] == part) vec_push(&body->stmts, all[i]);
        for (int i = 0; i < z->tree->bufs.len; i++)
            if (z->tree->bufs.data[i]->home == old && part_of_buf[i] == part && part % 2 == 0) z->tree->bufs.data[i]->home = body;
        if (body->stmts.len) vec_push(&out->stmts, finish_loop(z, part, body));
    }
    change_home(z, old, z->around, true);
}

static void replace(Block *block, const Stmt *loop, Block *by) {
    int at = 0;
    while (block->stmts.data[at] != loop) at++;
    block->stmts.data[at] = by->stmts.data[0];
    for (int i = 1; i < by->stmts.len; i++) block_insert(block, at + i, by->stmts.data[i]);
    vec_free(&by->stmts);
}

// Takes what differs between iterations out of the arrays that are the same in all; whether there was any.
static bool drop(Turner *z, const Block *block, bool differ) {
    bool any = false;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        bool own = differ || any_varies(z, s);
        bool write = s->kind == ST_STORE || s->kind == ST_ADDTO || s->kind == ST_FILL || s->kind == ST_COPY;
        if (write && (own || s->kind == ST_COPY) && is_uniform(z, s->buf)) map_put(&z->it.uniform, s->buf, NULL), any = true;
        any |= drop(z, s->body, own) | drop(z, s->other, own);
    }
    return any;
}

// Finds which of those arrays that are new in an iteration are the same in all.
static bool find_uniform(Turner *z) {
    do
        if (!iter_look(&z->it, z->loop, true)) return false;
    while (drop(z, z->loop->body, false));
    return true;
}

// Whether iterations are independent.
static bool is_apart(Turner *z) {
    map_free(&z->it.uniform);
    z->it.uniform = (Map){0};
    if (!iter_look(&z->it, z->loop, true)) return false;
    for (int i = 0; i < z->tree->bufs.len; i++)
        if (iter_is_own(&z->it, z->tree->bufs.data[i])) map_put(&z->it.uniform, z->tree->bufs.data[i], z);
    return find_uniform(z) && !z->it.added.len && !z->it.sums.len && !z->it.scans.len && survey(z, z->loop->body, false);
}

// The same of the parts and the arrays: an array that is written again and again is one that differs.
static bool divide(Turner *z) {
    for (bool settled = false; !settled;) {
        if (!find_uniform(z) || !find_parts(z)) return false;
        settled = true;
        for (int i = 0; i < z->tree->bufs.len; i++) {
            Buf *b = z->tree->bufs.data[i];
            if (b->home != z->loop->body || !is_uniform(z, b) || is_settled(z, b)) continue;
            map_put(&z->it.uniform, b, NULL), settled = false;
        }
    }
    return parts_are_apart(z) && settle_arrays(z);
}

// Branches that are always taken are none.
static void splice(Turner *z) {
    Block *body = z->loop->body;
    for (int i = 0; i < body->stmts.len; i++) {
        Stmt *s = body->stmts.data[i];
        int64_t taken;
        if (s->kind != ST_IF || (s->other && s->other->stmts.len) || !iter_literal(&z->it, s->args[0], &taken) || !taken ||
            !s->body->stmts.len)
            continue;
        change_home(z, s->body, body, true);
        body->stmts.data[i] = s->body->stmts.data[0];
        for (int k = 1; k < s->body->stmts.len; k++) block_insert(body, i + k, s->body->stmts.data[k]);
        vec_free(&s->body->stmts);
        i--;
    }
}

// Turns the loop, which is in the block, if that is worth it.
static bool try_turn(Turner *z, Block *block, int at) {
    int64_t count;
    z->around = block, z->loop = block->stmts.data[at], z->wide.len = 0;
    if (!nest_is_plain(z->loop) || !iter_literal(&z->it, z->loop->args[0], &count) || count < LEAST || count > MOST) return false;
    splice(z);
    z->n = z->loop->body->stmts.len;
    Block out = {0};
    z->written = (Map){0};
    z->part = ARENA_ARRAY(z->arena, int, z->n + 1);
    z->of = effects_of(z, z->loop->body);
    bool may = is_apart(z) && divide(z) && tree_step(z->tree, z->loop);
    if (may) {
        const char *name = z->tree->temps.data[z->loop->dst].name;
        explain(z->tree->func->ir->explain, EXPLAIN_SCHEDULE, z->loop->span,
                "loop over `%s`: it goes inside of loops over data, iterations of which look up the same for all of its own",
                name ? name : "i");
        place_news(z);
        build(z, &out);
    }
    free_effects(z->of, z->n);
    map_free(&z->written);
    iter_forget(&z->it);
    if (may) replace(block, z->loop, &out);
    return may;
}

static bool find(Turner *z, Block *block) {
    bool any = false;
    for (int i = 0; block && i < block->stmts.len && !any; i++) {
        Stmt *s = block->stmts.data[i];
        if (map_get(&z->done, s)) continue;
        if (s->kind == ST_FOR) any = try_turn(z, block, i);
        any = any || find(z, s->body) || find(z, s->other);
    }
    return any;
}

void loops_turn(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Turner z = {.arena = arena, .tree = tree};
    for (bool any = true; any;) {
        iter_init(&z.it, arena, tree, opt->precise);
        any = find(&z, tree->body);
        iter_free(&z.it);
    }
    vec_free(&z.wide);
    map_free(&z.done);
}
