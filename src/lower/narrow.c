// Loops over directions that skip zeros. In each direction of a Jacobian, most of what a program computes in between
// may not change at all: how a bone lies depends on the angles of its finger alone. Which directions it depends on is
// known before the loop over them: it is a hull of those of what is looked up, which are kept beside the rows of
// arrays, and of single ones, those of the arguments.
//
//     for i < n { p = at[i]; for k < 20 { y[k, i] = a[p, k] * x } }      becomes
//
//     for i < n { p = at[i]; low, high = what is kept for row p of a
//                 if there are few of these { y[…, i] = 0; for k = low < high { y[k, i] = a[p, k] * x } }
//                 else for k < 20 { … } }
//
// They are counted in vectors. Of what is not finite, 0 * x is taken for 0: so this is for --fp=fast.
//
// First, where each value of an iteration may not be zero is found (Support), as a set of atoms: an equality with the
// loop's index, a row that is looked up, and what becomes of these under conditions and in loops inside. What cells and
// arrays hold grows until nothing changes. Then narrow_build.c puts what computes the hull before the loop.
#include "lower/loop_passes.h"
#include "lower/narrow.h"

#include "lower/effects.h"

#include <string.h>

enum { LEAST = 8, MOST = 64, WORTH = 24 };

// ---- sets of directions

static const Support none = {0}, everywhere = {.all = true};

static bool has_atom(const Support *s, int atom) {
    for (int k = 0; k < s->n; k++)
        if (s->atom[k] == atom) return true;
    return false;
}

static Support with_atom(Support s, int atom) {
    if (s.all || has_atom(&s, atom)) return s;
    if (s.n == NARROW_ATOMS) return everywhere;
    s.atom[s.n++] = atom;
    return s;
}

static Support join(Support a, const Support *b) {
    if (b->all) return everywhere;
    for (int k = 0; k < b->n; k++) a = with_atom(a, b->atom[k]);
    return a;
}

// Of a product.
static Support meet(const Support *a, const Support *b) { return a->all || (!b->all && b->n < a->n) ? *b : *a; }

static bool is_part(const Support *a, const Support *of) {
    for (int k = 0; k < a->n; k++)
        if (!has_atom(of, a->atom[k])) return false;
    return !a->all || of->all;
}

Wide *narrow_wide(const Narrower *z, const Buf *b) {
    for (int i = 0; i < z->wide.len; i++)
        if (z->wide.data[i]->buf == b) return z->wide.data[i];
    return NULL;
}

// Is it the index of a loop inside of that over directions?
static bool is_inner(const Narrower *z, const Sweep *w, Temp t) {
    const Stmt *by = z->it.def[t];
    bool inner = by && by->kind == ST_FOR && by != w->loop;
    for (int i = 0; i < w->around.len; i++) inner &= w->around.data[i] != by;
    return inner;
}

static bool says_row(const Narrower *z, const Sweep *w, const Stmt *s, int k) {
    int64_t c;
    Temp t = stmt_index(s)[k];
    return t != w->loop->dst && !is_inner(z, w, t) && !iter_literal(&z->it, t, &c);
}

bool narrow_is_row(const Narrower *z, const Wide *w, int k) { return says_row(z, w->by, w->store, k); }

static bool same_row(const Narrower *z, const Stmt *a, const Stmt *b) {
    const Wide *w = narrow_wide(z, a->buf);
    for (int k = 0; k < a->buf->rank; k++)
        if (narrow_is_row(z, w, k) && stmt_index(a)[k] != stmt_index(b)[k]) return false;
    return true;
}

static bool same_direction(const Narrower *z, const Stmt *a, const Stmt *b) {
    const Wide *w = narrow_wide(z, a->buf);
    return stmt_index(a)[w->at] == stmt_index(b)[w->at];
}

static bool same_atom(const Narrower *z, const Atom *a, const Atom *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case AT_ROW: return a->load->buf == b->load->buf && a->depth == b->depth && same_row(z, a->load, b->load);
    case AT_POINT: return !memcmp(&a->is, &b->is, sizeof a->is);
    case AT_WHERE: return a->cond == b->cond && a->unless == b->unless && is_part(&a->of, &b->of) && is_part(&b->of, &a->of);
    default: return a->in == b->in && a->unless == b->unless;
    }
}

// What was there grows only.
static void grow(Narrower *z, Support *to, const Support *by) {
    if (is_part(by, to) || to->all) return;
    *to = join(*to, by);
    z->changed = true;
}

static Support atom(Narrower *z, const Atom *a) {
    for (int i = 0; i < z->atoms.len; i++) {
        if (!same_atom(z, &z->atoms.data[i], a)) continue;
        if (a->kind == AT_BLOCK) grow(z, &z->atoms.data[i].of, &a->of);
        return z->atoms.data[i].of.all ? everywhere : with_atom(none, i);
    }
    vec_push(&z->atoms, *a);
    return with_atom(none, z->atoms.len - 1);
}

// What a block has come to so far stays as it is: it may be part of itself.
static Support where(Narrower *z, Temp cond, bool unless, const Support *of, int depth) {
    Atom a = {.kind = AT_WHERE, .cond = cond, .unless = unless, .depth = depth};
    Support out = none;
    if (of->all) return everywhere;
    for (int k = 0; k < of->n; k++) {
        const Atom *o = &z->atoms.data[of->atom[k]];
        if (o->kind == AT_BLOCK) out = with_atom(out, of->atom[k]);
        else a.of = with_atom(a.of, of->atom[k]);
        if (o->depth > a.depth) a.depth = o->depth;
    }
    if (!a.of.n) return out;
    Support some = atom(z, &a);
    return join(out, &some);
}

// ---- what is zero where

static bool varies(const Narrower *z, Temp t) { return iter_varies(&z->it, t); }

// Is it there, or can it be computed, before the loop?
static bool is_known(const Narrower *z, Temp t) { return !z->inside[t] || (!varies(z, t) && !z->lost[t]); }

// And by a statement of its body itself?
static bool is_first(const Narrower *z, Temp t) { return is_known(z, t) && (!z->inside[t] || !z->level[t]); }

static bool all_known(const Narrower *z, const Stmt *s) {
    for (int k = 0; k < s->nargs; k++)
        if (!is_known(z, s->args[k])) return false;
    return true;
}

// Is it the same in all directions, and known before, how often the statement runs?
static bool in_step(const Narrower *z) {
    for (int e = 0; e < z->depth; e++)
        if (!all_known(z, z->path[e].s)) return false;
    return true;
}

// Is it 0, or made of products with 0, as derivatives of what is constant are?
static bool is_zero(const Narrower *z, Temp t, int depth) {
    enum { DEEP = 4 };
    const Stmt *s = z->it.def[t];
    if (!s || !kind_is_float(z->b.tree->temps.data[t].kind) || depth > DEEP) return false;
    if (s->kind == ST_LIT) return s->u.real == 0.0;
    if (s->kind != ST_OP || (s->op != OP_mul && s->op != OP_add && s->op != OP_sub)) return false;
    bool a = is_zero(z, s->args[0], depth + 1), b = is_zero(z, s->args[1], depth + 1);
    return s->op == OP_mul ? a || b : a && b;
}

static Support of_temp(const Narrower *z, Temp t) {
    if (z->inside[t]) return z->of[t];
    return is_zero(z, t, 0) ? none : everywhere;
}

bool narrow_stores_to(const Sweep *w, const Buf *b) {
    for (int i = 0; i < w->stores.len; i++)
        if (w->stores.data[i]->buf == b) return true;
    return false;
}

static void lose(Narrower *z, Temp t) {
    z->loses |= !z->lost[t];
    z->lost[t] = true;
}

static Support *held(Narrower *z, const Buf *b) {
    Support *s = map_get(&z->held, b);
    if (s) return s;
    s = ARENA_NEW(z->b.arena, Support);
    map_put(&z->held, b, s);
    return s;
}

// The depth of the block in whose runs the array is new.
static int level_of(const Narrower *z, const Buf *b) {
    for (int e = z->depth; e-- > 0;)
        if ((z->path[e].unless ? z->path[e].s->other : z->path[e].s->body) == b->home) return e + 1;
    return 0;
}

// What leaves the blocks around the statement, as far as one of this depth.
static Support leaving(Narrower *z, Support s, int level) {
    for (int e = z->depth; e-- > level;) {
        const Entry *by = &z->path[e];
        Support far = none, near = none;
        if (by->s->kind == ST_IF && varies(z, by->s->args[0])) {
            Support holds = of_temp(z, by->s->args[0]);
            if (!by->unless) s = meet(&s, &holds);
        }
        if (s.all) continue;
        for (int k = 0; k < s.n; k++)
            if (z->atoms.data[s.atom[k]].depth > e) near = with_atom(near, s.atom[k]);
            else far = with_atom(far, s.atom[k]);
        if (by->s->kind == ST_IF && is_known(z, by->s->args[0])) far = where(z, by->s->args[0], by->unless, &far, e);
        if (near.n)
            near = in_step(z) ? atom(z, &(Atom){.kind = AT_BLOCK, .in = by->s, .unless = by->unless, .of = near}) : everywhere;
        s = join(far, &near);
    }
    return s;
}

// Of an equality of Ints: the direction in which it holds.
static Support of_equality(Narrower *z, const Stmt *s) {
    Atom a = {.kind = AT_POINT};
    int at = -1;
    linear_add(z->it.known, z->it.def, s->args[0], 1, &a.is);
    linear_add(z->it.known, z->it.def, s->args[1], -1, &a.is);
    for (int k = 0; k < a.is.n; k++)
        if (a.is.t[k] == z->now->loop->dst) at = k;
        else if (!is_known(z, a.is.t[k])) return everywhere;
        else if (z->inside[a.is.t[k]]) a.depth = z->depth;
    if (a.is.fails || at < 0 || (a.is.by[at] != 1 && a.is.by[at] != -1)) return everywhere;
    return atom(z, &a);
}

static Support of_op(Narrower *z, const Stmt *s) {
    Support a = of_temp(z, s->args[0]), b = s->nargs > 1 ? of_temp(z, s->args[1]) : none;
    switch (s->op) {
    case OP_add:
    case OP_sub:
    case OP_min:
    case OP_max:
    case OP_or: return join(a, &b);
    case OP_mul:
    case OP_and: return meet(&a, &b);
    case OP_div: return b.all ? a : everywhere;
    case OP_neg:
    case OP_abs: return a;
    case OP_eq: return z->b.tree->temps.data[s->args[0]].kind == KIND_INT ? of_equality(z, s) : everywhere;
    default: return everywhere;
    }
}

static Support of_select(Narrower *z, const Stmt *s) {
    Support a = of_temp(z, s->args[1]), b = of_temp(z, s->args[2]), holds = of_temp(z, s->args[0]);
    if (varies(z, s->args[0])) {
        a = meet(&a, &holds);
    } else if (is_known(z, s->args[0])) {
        a = where(z, s->args[0], false, &a, z->depth);
        b = where(z, s->args[0], true, &b, z->depth);
    }
    return join(a, &b);
}

static Support of_load(Narrower *z, const Stmt *s) {
    if (iter_is_own(&z->it, s->buf)) return *held(z, s->buf);
    const Wide *w = narrow_wide(z, s->buf);
    if (!w || w->fails || w->by->count != z->now->count || s->args[w->at] != z->now->loop->dst) return everywhere;
    for (int k = 0; k < s->buf->rank; k++)
        if (k != w->at && !is_known(z, s->args[k])) return everywhere;
    return atom(z, &(Atom){.kind = AT_ROW, .load = s, .depth = z->depth});
}

static Support of_stmt(Narrower *z, const Stmt *s) {
    switch (s->kind) {
    case ST_LIT:
        if (kind_is_float(z->b.tree->temps.data[s->dst].kind)) return is_zero(z, s->dst, 0) ? none : everywhere;
        return s->u.num ? everywhere : none;
    case ST_OP: return of_op(z, s);
    case ST_CONV: return of_temp(z, s->args[0]);
    case ST_SELECT: return of_select(z, s);
    case ST_GET: return of_temp(z, s->args[0]);
    case ST_LOAD: return of_load(z, s);
    default: return everywhere;
    }
}

// Is the value that it makes, or the cell that it sets, to be had before the loop?
static bool may_come_before(const Narrower *z, const Stmt *s) {
    if (s->kind == ST_LOAD && (iter_is_own(&z->it, s->buf) || narrow_stores_to(z->now, s->buf))) return false;
    return all_known(z, s) && (s->kind != ST_GET || !z->lost[s->args[0]]);
}

static void look_at(Narrower *z, const Block *block);

static void look_inside(Narrower *z, Stmt *s, const Block *block, bool unless) {
    if (!block) return;
    if (z->depth == NARROW_DEPTH) {
        z->now->fails = true;
        return;
    }
    z->path[z->depth++] = (Entry){s, unless};
    look_at(z, block);
    z->depth--;
}

static void look_at_stmt(Narrower *z, Stmt *s) {
    Support v = s->kind == ST_STORE || s->kind == ST_ADDTO || s->kind == ST_FILL || s->kind == ST_CELL || s->kind == ST_SET
                    ? of_temp(z, s->args[0])
                    : none;
    switch (s->kind) {
    case ST_CELL:
    case ST_SET:
        if (!z->inside[s->dst]) z->now->fails = true;
        if (!all_known(z, s) || !in_step(z)) lose(z, s->dst);
        v = leaving(z, v, z->level[s->dst]);
        grow(z, &z->of[s->dst], &v);
        break;
    case ST_STORE:
    case ST_ADDTO:
    case ST_FILL:
        if (iter_is_own(&z->it, s->buf)) {
            v = leaving(z, v, level_of(z, s->buf));
            grow(z, held(z, s->buf), &v);
            break;
        }
        v = leaving(z, v, 0);
        grow(z, &z->now->hull, &v);
        for (int k = 0; k < s->buf->rank; k++) z->now->fails |= says_row(z, z->now, s, k) && !is_first(z, stmt_index(s)[k]);
        break;
    case ST_NEW: break;
    case ST_CHECK: z->now->fails |= !all_known(z, s) || !in_step(z); break;
    case ST_FOR:
        z->of[s->dst] = everywhere;
        if (!all_known(z, s)) lose(z, s->dst);
        look_inside(z, s, s->body, false);
        break;
    case ST_IF:
        look_inside(z, s, s->body, false);
        look_inside(z, s, s->other, true);
        break;
    default:
        if (s->dst < 0) break;
        v = of_stmt(z, s);
        grow(z, &z->of[s->dst], &v);
        if (!may_come_before(z, s)) lose(z, s->dst);
        break;
    }
}

static void look_at(Narrower *z, const Block *block) {
    for (int i = 0; block && i < block->stmts.len && !z->now->fails; i++) look_at_stmt(z, block->stmts.data[i]);
}

// Forgets where values may not be zero, of all that is made in a block of an iteration; inside: but not what is lost.
static void note(Narrower *z, const Block *block, bool inside, int depth) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        note(z, s->body, inside, depth + 1);
        note(z, s->other, inside, depth + 1);
        if (s->dst < 0 || s->kind == ST_SET) continue;
        z->inside[s->dst] = inside, z->lost[s->dst] &= inside;
        z->level[s->dst] = s->kind == ST_FOR ? depth + 1 : depth;
        z->of[s->dst] = none;
    }
}

// What is part of the rest of the hull anyway.
static void absorb(const Narrower *z, Support *s) {
    for (int k = 0; k < s->n; k++) {
        const Atom *a = &z->atoms.data[s->atom[k]];
        Support rest = *s;
        rest.atom[k] = rest.atom[--rest.n];
        if (a->kind == AT_WHERE && is_part(&a->of, &rest)) *s = rest, k = -1;
    }
}

static void begin(Narrower *z, Sweep *w, bool inside) {
    note(z, &(Block){{&w->loop, 1, 1}}, inside, -1);
    map_free(&z->held);
    z->held = (Map){0};
    w->hull = none;
}

// Finds out where what the loop stores may not be zero: again, while more is found that is not to be had before it.
static void find_hull(Narrower *z, Sweep *w) {
    const int atoms = z->atoms.len;
    Support hull;
    z->now = w, z->depth = 0;
    w->fails |= !iter_look(&z->it, w->loop, true) || z->it.sums.len || z->it.scans.len || z->it.added.len;
    do {
        begin(z, w, true);
        z->atoms.len = atoms, z->loses = false;
        z->of[w->loop->dst] = everywhere;
        do {
            z->changed = false;
            look_at(z, w->loop->body);
        } while (z->changed && !w->fails);
    } while (z->loses && !w->fails);
    hull = w->hull;
    w->fails |= hull.all;
    absorb(z, &hull);
    iter_forget(&z->it);
    begin(z, w, false);
    w->hull = hull;
}

// ---- which loops and arrays

int narrow_dimension(const Stmt *s, Temp index) {
    int at = -1;
    for (int k = 0; k < s->buf->rank; k++) {
        if (stmt_index(s)[k] != index) continue;
        if (at >= 0) return -1;
        at = k;
    }
    return at;
}

// Is there nothing in the block but scalar work, loops, and arrays? What it stores outside is always stored, at the
// loop's index.
static bool is_simple(Narrower *z, Sweep *w, const Block *block, bool always) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        int64_t count = 0;
        switch (s->kind) {
        case ST_EXTERN:
        case ST_CALL:
        case ST_COPY:
        case ST_MOVE:
        case ST_FETCH:
        case ST_OUT:
        case ST_CHUNK:
        case ST_THREADS:
        case ST_LOOP:
        case ST_BREAK: return false;
        case ST_FOR:
            if (!nest_is_plain(s) || s->shifted) return false;
            if (!iter_literal(&z->it, s->args[0], &count)) count = 0;
            break;
        case ST_FILL:
        case ST_ADDTO:
            if (!iter_is_own(&z->it, s->buf)) return false;
            break;
        case ST_STORE:
            if (iter_is_own(&z->it, s->buf)) break;
            if (!always || !kind_is_float(s->buf->kind) || narrow_dimension(s, w->loop->dst) < 0) return false;
            vec_push(&w->stores, s);
            break;
        default: break;
        }
        if (!is_simple(z, w, s->body, always && count > 0) || !is_simple(z, w, s->other, false)) return false;
    }
    return true;
}

// Does an iteration read of what others store nothing but elements at its own index?
static bool reads_own(const Sweep *w, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        for (int k = 0; s->kind == ST_LOAD && k < w->stores.len; k++) {
            const Stmt *o = w->stores.data[k];
            if (o->buf == s->buf && narrow_dimension(s, w->loop->dst) != narrow_dimension(o, w->loop->dst)) return false;
        }
        if (!reads_own(w, s->body) || !reads_own(w, s->other)) return false;
    }
    return true;
}

// What an iteration does, as far as that is known, or at least so much.
static int work(const Narrower *z, const Block *block, int enough) {
    int n = 0;
    for (int i = 0; block && i < block->stmts.len && n < enough; i++) {
        const Stmt *s = block->stmts.data[i];
        int64_t count = 1;
        n += s->kind == ST_OP || s->kind == ST_LOAD || s->kind == ST_STORE;
        if (s->kind == ST_FOR && !iter_literal(&z->it, s->args[0], &count)) return enough;
        n += (int)(count < enough ? count : enough) * work(z, s->body, enough) + work(z, s->other, enough);
    }
    return n;
}

// A loop over directions, inside of another loop.
static bool is_candidate(Narrower *z, Sweep *w) {
    int64_t n;
    if (!nest_is_plain(w->loop) || w->loop->few || w->loop->outer || !z->around.len || !iter_literal(&z->it, w->loop->args[0], &n))
        return false;
    w->count = n, w->blocks = (n + w->lanes - 1) / w->lanes;
    if (n < LEAST || n > MOST || w->blocks < 2) return false;
    w->worth = work(z, w->loop->body, WORTH) >= WORTH;
    bool apart = iter_look(&z->it, w->loop, true);
    bool may = apart && is_simple(z, w, w->loop->body, true) && w->stores.len && reads_own(w, w->loop->body);
    iter_forget(&z->it);
    return may;
}

static void find_loops(Narrower *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        bool loop = s->kind == ST_FOR || s->kind == ST_LOOP;
        Sweep *w = loop ? ARENA_NEW(z->b.arena, Sweep) : NULL;
        if (w) {
            *w = (Sweep){.block = block, .loop = s, .lanes = z->opt->width, .outermost = z->outermost};
            for (int k = 0; k < z->around.len; k++) vec_push(&w->around, z->around.data[k]);
        }
        if (w && s->kind == ST_FOR && is_candidate(z, w)) {
            vec_push(&z->loops, w);
            continue;
        }
        if (w) vec_free(&w->around), vec_free(&w->stores);
        if (s->lanes || s->threads) continue;
        if (loop && !z->around.len) z->outermost = block;
        if (loop) vec_push(&z->around, s);
        find_loops(z, s->body);
        find_loops(z, s->other);
        if (loop) z->around.len--;
    }
}

static void add_wide(Narrower *z, Sweep *w, const Stmt *s) {
    Wide *a = narrow_wide(z, s->buf);
    if (!a) {
        a = ARENA_NEW(z->b.arena, Wide);
        *a =
            (Wide){.buf = s->buf, .at = narrow_dimension(s, w->loop->dst), .by = w, .store = s, .fails = s->buf->where != BUF_TEMP};
        vec_push(&z->wide, a);
    }
    if (is_zero(z, s->args[0], 0) && a->by != w) return;
    bool zero = is_zero(z, a->store->args[0], 0) && a->by != w;
    if (zero) a->by = w, a->store = s, a->at = narrow_dimension(s, w->loop->dst);
    a->fails |= a->by != w || a->at != narrow_dimension(s, w->loop->dst) || !same_row(z, a->store, s);
    for (int k = 0; k < s->buf->rank; k++) a->fails |= says_row(z, w, s, k) != narrow_is_row(z, a, k);
}

static bool is_stored_by(const Sweep *w, const Stmt *s) {
    for (int i = 0; i < w->stores.len; i++)
        if (w->stores.data[i] == s) return true;
    return false;
}

// Arrays that something else than such a loop changes, but for zeros, are not followed.
static void drop_others(Narrower *z, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        Wide *w = s->buf ? narrow_wide(z, s->buf) : NULL, *from = s->src ? narrow_wide(z, s->src) : NULL;
        bool set = s->kind == ST_STORE || s->kind == ST_FILL;
        if (w && set) w->fails |= !is_zero(z, s->args[0], 0) && !is_stored_by(w->by, s);
        else if (w && s->kind != ST_LOAD && s->kind != ST_NEW) w->fails = true;
        if (from) from->fails = true;
        for (int k = 0; k < s->nin; k++)
            if (s->in[k] && narrow_wide(z, s->in[k])) narrow_wide(z, s->in[k])->fails = true;
        drop_others(z, s->body);
        drop_others(z, s->other);
    }
}

static bool is_narrow(const Sweep *w) { return !w->fails && w->hull.n; }

// Whether there is a loop to be narrowed.
static bool find(Narrower *z) {
    find_loops(z, z->b.tree->body);
    for (int i = 0; i < z->loops.len; i++)
        for (int k = 0; k < z->loops.data[i]->stores.len; k++) add_wide(z, z->loops.data[i], z->loops.data[i]->stores.data[k]);
    drop_others(z, z->b.tree->body);
    int n = z->b.tree->temps.len + 1;
    z->of = ARENA_ARRAY(z->b.arena, Support, n), z->level = ARENA_ARRAY(z->b.arena, int, n);
    z->inside = ARENA_ARRAY(z->b.arena, bool, n), z->lost = ARENA_ARRAY(z->b.arena, bool, n);
    bool any = false;
    for (bool changed = true; changed;) {
        changed = any = false;
        z->atoms.len = 0;
        for (int i = 0; i < z->loops.len; i++)
            find_hull(z, z->loops.data[i]), any |= is_narrow(z->loops.data[i]) && z->loops.data[i]->worth;
        for (int i = 0; i < z->wide.len; i++) {
            Wide *a = z->wide.data[i];
            if (!a->fails && !is_narrow(a->by)) a->fails = changed = true;
        }
    }
    return any;
}

int narrow_loads(const Block *block, const Buf *b) {
    int n = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        n += (s->kind == ST_LOAD && s->buf == b) + narrow_loads(s->body, b) + narrow_loads(s->other, b);
    }
    return n;
}

// How many loads of an array, in the block, are at the same row and direction as one.
static int count_same(const Narrower *z, const Block *block, const Stmt *load) {
    int n = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        n += s->kind == ST_LOAD && s->buf == load->buf && same_row(z, s, load) && same_direction(z, s, load);
        n += count_same(z, s->body, load) + count_same(z, s->other, load);
    }
    return n;
}

// Is nothing read of the array's rows but the directions that are kept for them?
static bool is_exact(const Narrower *z, const Wide *a) {
    int n = 0;
    for (int i = 0; i < z->loops.len; i++) {
        const Sweep *w = z->loops.data[i];
        const Atom *only = is_narrow(w) && w->worth && w->hull.n == 1 ? &z->atoms.data[w->hull.atom[0]] : NULL;
        if (only && only->kind == AT_ROW && only->load->buf == a->buf) n += count_same(z, w->loop->body, only->load);
    }
    return n == narrow_loads(z->b.tree->body, a->buf);
}

static void ask(Narrower *z, Sweep *w);

// Marks the rows of arrays that say where this is.
static void ask_of(Narrower *z, const Support *s) {
    for (int k = 0; k < s->n; k++) {
        const Atom *a = &z->atoms.data[s->atom[k]];
        Wide *wide = a->kind == AT_ROW ? narrow_wide(z, a->load->buf) : NULL;
        if (wide && !wide->asked) wide->asked = true, ask(z, wide->by);
        ask_of(z, &a->of);
    }
}

static void ask(Narrower *z, Sweep *w) {
    if (w->asked) return;
    w->asked = true;
    ask_of(z, &w->hull);
}

void loops_narrow(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Narrower z = {.b = {.arena = arena, .tree = tree}, .opt = opt};
    iter_init(&z.it, arena, tree, opt->precise);
    if (find(&z)) {
        for (int i = 0; i < z.loops.len; i++)
            if (is_narrow(z.loops.data[i]) && z.loops.data[i]->worth) ask(&z, z.loops.data[i]);
        for (int i = 0; i < z.wide.len; i++) z.wide.data[i]->exact = is_exact(&z, z.wide.data[i]);
        narrow_keep(&z, tree->body);
        for (int i = 0; i < z.loops.len; i++)
            if (z.loops.data[i]->asked) narrow_loop(&z, z.loops.data[i]);
        lower_remove_dead(arena, tree);
    }
    for (int i = 0; i < z.loops.len; i++) vec_free(&z.loops.data[i]->around), vec_free(&z.loops.data[i]->stores);
    vec_free(&z.loops), vec_free(&z.wide), vec_free(&z.atoms), vec_free(&z.around);
    iter_free(&z.it);
}
