// Copies of whole arrays, and zeros, that need not be made. An array that is copied to another one, or to a row of it, and is not
// needed beside that is made there:
//
//     loop { a[i] = e; …; for k { b[t, k] = a[k] } }                   becomes   loop { b[t, i] = e; … }
//
// and a copy of a row that is only read, while the row is what it was, is the row:
//
//     loop { for k { a[k] = b[t, k] }; f(a[i]) }                       becomes   loop { f(b[t, i]) }
//
// and a step that works on a copy of a state, which then becomes the state, works on the state, where what needs the old one can
// come before:
//
//     loop { w = s; w[i] = e; for k { b[t, k] = s[k] }; s = w }        becomes   loop { for k { b[t, k] = s[k] }; s[i] = e }
//
// and rows that are then added to those of another array, in the same order or backwards, are added to these at once:
//
//     loop i { for j { a[i, j] = e }; … }; for k { b[n - 1 - k] += a[k] }   becomes   loop i { for j { b[n - 1 - i, j] += e }; … }
//
// These are for sequential loops, and outside of loops. Where iterations are independent, an array of their own is better than a
// row of one that all have: lanes have theirs side by side, in registers if it is small. Where each element of an array of zeros is
// added to once before anything else happens to it, zeros are not needed:
//
//     a = 0; for i { a[0, i] += e }; for i { a[1, i] += f }     becomes     for i { a[0, i] = e }; for i { a[1, i] = f }
//
// if a has two rows.
#include "lower/build.h"
#include "lower/effects.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"

#include <string.h>

enum { LARGEST_BLOCK = 1000 };

typedef struct Place {  // of a block
    const Block *outer; // NULL: it is the whole tree's
    const Stmt *by;     // whose block it is
} Place;

typedef struct Copier {
    Builder b;
    bool strict; // sums keep their order
    Stmt **def;  // by temp, of those that there were
    int temps;
    int *uses;    // by buffer: how many statements access it, ST_NEW not counted
    bool *passed; // by buffer: C functions get it
    Map places;   // of blocks
    Map carries;  // loops -> whether they are sequential: &yes or &no
} Copier;

// A copy of all of `from` to to[prefix…].
typedef struct Copy {
    Buf *from, *to;
    int n; // of prefix
    const Temp *prefix;
} Copy;

// ---- what there is

static void note(Copier *z, const Block *block, const Block *outer, const Stmt *by) {
    if (!block) return;
    Place *p = ARENA_NEW(z->b.arena, Place);
    *p = (Place){outer, by};
    map_put(&z->places, block, p);
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->buf && s->kind != ST_NEW) z->uses[s->buf->id]++;
        if (s->src) z->uses[s->src->id]++;
        for (int k = 0; k < s->nin; k++)
            if (s->in[k]) z->passed[s->in[k]->id] = true;
        note(z, s->body, block, s);
        note(z, s->other, block, s);
    }
}

static bool is_inside(const Copier *z, const Block *block, const Block *outer) {
    while (block && block != outer) {
        const Place *p = map_get(&z->places, block);
        block = p ? p->outer : NULL;
    }
    return block;
}

static bool same(const Copier *z, Temp a, Temp b) {
    const Stmt *x = a < z->temps ? z->def[a] : NULL, *y = b < z->temps ? z->def[b] : NULL;
    return a == b || (x && y && x->kind == ST_LIT && y->kind == ST_LIT && x->u.num == y->u.num);
}

static bool is_zero(const Copier *z, Temp t) {
    const Stmt *s = t < z->temps ? z->def[t] : NULL;
    return s && s->kind == ST_LIT && (kind_is_float(z->b.tree->temps.data[t].kind) ? s->u.real == 0.0 : s->u.num == 0);
}

// Loops of which the innermost does nothing but load an element and store it. Their number, or 0.
static int copying(const Stmt *s, Temp *index, Temp *extent, const Stmt **load, const Stmt **store) {
    int n = 0;
    for (; nest_is_plain(s) && n < RANK_MAX; s = s->body->stmts.data[0]) {
        index[n] = s->dst, extent[n++] = s->args[0];
        if (s->body->stmts.len != 1) break;
    }
    if (!n || s->kind != ST_FOR || s->body->stmts.len != 2) return 0;
    *load = s->body->stmts.data[0], *store = s->body->stmts.data[1];
    bool moves = (*load)->kind == ST_LOAD && (*store)->kind == ST_STORE && (*store)->args[0] == (*load)->dst;
    return moves && (*load)->buf != (*store)->buf ? n : 0;
}

// Does the statement copy all of an array, to another one or a row of it? Or (back) a row to all of an array, c->from?
static bool whole(const Copier *z, const Stmt *s, Copy *c, bool back) {
    if (s->kind == ST_COPY) {
        *c = (Copy){back ? s->buf : s->src, back ? s->src : s->buf, 0, NULL};
        return s->src != s->buf;
    }
    const Stmt *load, *store;
    Temp index[RANK_MAX], extent[RANK_MAX];
    int n = copying(s, index, extent, &load, &store);
    if (!n) return false;
    const Stmt *all = back ? store : load, *row = back ? load : store;
    const Temp *at = stmt_index(all);
    *c = (Copy){all->buf, row->buf, row->buf->rank - n, stmt_index(row)};
    if (all->buf->rank != n || c->n < 0) return false;
    for (int k = 0; k < n; k++)
        if (at[k] != index[k] || c->prefix[c->n + k] != index[k] || !same(z, extent[k], all->buf->extent[k])) return false;
    for (int k = 0; k < c->n; k++)
        for (int i = 0; i < n; i++)
            if (c->prefix[k] == index[i]) return false;
    return true;
}

// ---- which loops

static const char yes, no;

// Does an iteration of the loop need what another one has made?
static bool is_sequential(Copier *z, const Stmt *loop) {
    if (loop->kind == ST_LOOP) return true;
    const void *known = map_get(&z->carries, loop);
    if (known) return known == &yes;
    Effects e = {0};
    for (int i = 0; i < loop->body->stmts.len; i++) effects_add(&e, loop->body->stmts.data[i]);
    bool carries = false;
    for (int i = 0; i < e.access.len && !carries; i++) {
        const Buf *b = e.access.data[i].buf;
        if (e.access.data[i].write || is_inside(z, b->home, loop->body)) continue;
        bool written = false, apart[RANK_MAX];
        memset(apart, true, sizeof apart);
        for (int k = 0; k < e.access.len; k++) {
            const Access *a = &e.access.data[k];
            if (a->buf != b) continue;
            written |= a->write;
            for (int d = 0; d < b->rank; d++) apart[d] &= a->index && a->index[d] == loop->dst;
        }
        bool own = false;
        for (int d = 0; d < b->rank; d++) own |= apart[d];
        carries = written && !own;
    }
    effects_free(&e);
    map_put(&z->carries, loop, (void *)(carries ? &yes : &no));
    return carries;
}

// Are all loops around the block sequential, inside of which array `to` is not new?
static bool may_be_there(Copier *z, const Block *block, const Buf *to) {
    for (const Place *p = map_get(&z->places, block); p && p->outer && block != to->home;
         block = p->outer, p = map_get(&z->places, block))
        if ((p->by->kind == ST_FOR || p->by->kind == ST_LOOP) && !is_sequential(z, p->by)) return false;
    return true;
}

// ---- what statements access

static bool makes(const Stmt *s, const Buf *b) { return s->kind == ST_NEW && s->buf == b; }

// Can it leave the block?
static bool leaves(const Stmt *s) {
    if (s->kind == ST_BREAK) return true;
    if (s->kind == ST_LOOP) return false;
    for (int i = 0; s->body && i < s->body->stmts.len; i++)
        if (leaves(s->body->stmts.data[i])) return true;
    for (int i = 0; s->other && i < s->other->stmts.len; i++)
        if (leaves(s->other->stmts.data[i])) return true;
    return false;
}

static bool defines(const Stmt *s, int n, const Temp *t) {
    for (int k = 0; k < n; k++)
        if (s->dst == t[k] && s->kind != ST_SET) return true;
    return false;
}

// Would it be in the way of accesses of c->to from before it on, instead of those of c->from?
static bool bars(const Stmt *s, const Copy *c) {
    const Buf *to = c->to;
    return stmt_accesses(s, to) || makes(s, to) || leaves(s) || defines(s, c->n, c->prefix) || defines(s, to->rank, to->extent);
}

// ---- an array in the place of another

// Loops over array `over` around what stands in the innermost, whose indices they put at the end of index[].
static Block *loops_over(Copier *z, Block *to, const Buf *over, Temp *index) {
    for (int k = 0; k < over->rank; k++) {
        Stmt *s = build_loop_named(&z->b, to, "k", over->extent[k]);
        index[k] = s->dst, to = s->body;
    }
    return to;
}

// A fill or a copy of array c->from becomes loops, over its elements.
static Stmt *as_loops(Copier *z, const Stmt *s, const Copy *c) {
    Block out = {0};
    Temp own[RANK_MAX], there[RANK_MAX];
    z->b.span = s->span;
    Block *in = loops_over(z, &out, c->from, own);
    if (c->n) memcpy(there, c->prefix, sizeof *there * (size_t)c->n);
    memcpy(there + c->n, own, sizeof *own * (size_t)c->from->rank);
    if (s->kind == ST_FILL) {
        build_store(&z->b, in, ST_STORE, c->to, s->args[0], there);
    } else {
        bool reads = s->src == c->from;
        Temp v = build_load(&z->b, in, reads ? c->to : s->src, reads ? there : own);
        build_store(&z->b, in, ST_STORE, reads ? s->buf : c->to, v, reads ? own : there);
    }
    Stmt *first = out.stmts.data[0];
    vec_free(&out.stmts);
    return first;
}

static void redirect(Copier *z, Block *block, int first, const Copy *c);

// Accesses of c->from become such of c->to.
static void redirect_stmt(Copier *z, Block *block, int at, const Copy *c) {
    Stmt *s = block->stmts.data[at];
    if (s->buf == c->from || s->src == c->from) {
        bool all = s->kind == ST_FILL || s->kind == ST_COPY;
        if (all && c->n) {
            z->uses[s->buf->id]--;
            if (s->src) z->uses[s->src->id]--;
            block->stmts.data[at] = s = as_loops(z, s, c);
            note(z, s->body, block, s);
            return;
        }
        z->uses[c->from->id]--, z->uses[c->to->id]++;
        if (all) {
            if (s->buf == c->from) s->buf = c->to;
            if (s->src == c->from) s->src = c->to;
            return;
        }
        int value = s->kind != ST_LOAD; // its first argument
        Temp args[2 * RANK_MAX + 1];
        if (value) args[0] = s->args[0];
        if (c->n) memcpy(args + value, c->prefix, sizeof *args * (size_t)c->n);
        memcpy(args + value + c->n, s->args + value, sizeof *args * (size_t)c->from->rank);
        s->buf = c->to, s->nargs += c->n;
        s->args = arena_copy(z->b.arena, args, sizeof *args * (size_t)s->nargs);
    }
    if (s->body) redirect(z, s->body, 0, c);
    if (s->other) redirect(z, s->other, 0, c);
}

static void redirect(Copier *z, Block *block, int first, const Copy *c) {
    for (int i = first; i < block->stmts.len; i++)
        if (block->stmts.data[i]->kind != ST_NEW) redirect_stmt(z, block, i, c);
}

// Statement number `at` copies an array that is made in the block: it is made where it is copied to.
static bool make_there(Copier *z, Block *block, int at, const Copy *c) {
    const Buf *from = c->from, *to = c->to;
    if (from->where != BUF_TEMP || from->home != block || from->kind != to->kind || z->passed[from->id]) return false;
    int first = at, n = 0, after = 0;
    for (int i = 0; i < at; i++) {
        int k = stmt_accesses(block->stmts.data[i], from);
        if (k && first == at) first = i;
        n += k;
    }
    for (int i = at + 1; i < block->stmts.len; i++) after += stmt_accesses(block->stmts.data[i], from);
    if (n + 1 + after != z->uses[from->id] || after || first == at) return false;
    for (int i = first; i < at; i++)
        if (bars(block->stmts.data[i], c)) return false;
    if (!may_be_there(z, block, to) || !tree_step(z->b.tree, block->stmts.data[at])) return false;
    stmt_drop(block->stmts.data[at]);
    z->uses[from->id]--, z->uses[to->id]--;
    redirect(z, block, first, c);
    return true;
}

// ---- a row in the place of its copy

static bool only_loads(const Stmt *s, const Buf *b) {
    if (s->buf == b ? s->kind != ST_LOAD : s->src == b) return false;
    for (int i = 0; s->body && i < s->body->stmts.len; i++)
        if (!only_loads(s->body->stmts.data[i], b)) return false;
    for (int i = 0; s->other && i < s->other->stmts.len; i++)
        if (!only_loads(s->other->stmts.data[i], b)) return false;
    return true;
}

// Statement number `at` copies a row of c->to to an array, of which the block then only reads while the row stays as it is: it
// reads the row.
static bool read_there(Copier *z, Block *block, int at, const Copy *c) {
    const Buf *copy = c->from, *row = c->to;
    if (copy->where != BUF_TEMP || copy->kind != row->kind || z->passed[copy->id] || z->passed[row->id]) return false;
    int n = 1, known = z->uses[copy->id];
    for (int i = at + 1; i < block->stmts.len && n < known; i++) {
        const Stmt *s = block->stmts.data[i];
        if (!only_loads(s, copy) || !only_loads(s, row) || makes(s, copy)) return false;
        n += stmt_accesses(s, copy);
    }
    if (n != known || !may_be_there(z, block, row) || !tree_step(z->b.tree, block->stmts.data[at])) return false;
    stmt_drop(block->stmts.data[at]);
    z->uses[copy->id]--, z->uses[row->id]--;
    redirect(z, block, at, c);
    return true;
}

// ---- a state in the place of its copy

// Moves statement number q before number p if it needs none from there on, and they nothing of it.
static bool move_before(Block *block, int p, int q) {
    Stmt *s = block->stmts.data[q];
    Effects of_s = {0};
    effects_add(&of_s, s);
    bool ok = true;
    for (int i = p; i < q && ok; i++) {
        Effects e = {0};
        effects_add(&e, block->stmts.data[i]);
        ok = !effects_conflict(block->stmts.data[i], &e, s, &of_s);
        effects_free(&e);
    }
    effects_free(&of_s);
    for (int i = q; i > p && ok; i--) block->stmts.data[i] = block->stmts.data[i - 1];
    if (ok) block->stmts.data[p] = s;
    return ok;
}

// Statement number `at` copies a state to an array; if this is copied back later, the block works on the state.
static bool work_there(Copier *z, Block *block, int at, const Copy *c) {
    Buf *state = c->from, *work = c->to;
    if (c->n || work->where != BUF_TEMP || state->where == BUF_INPUT || work->home != block || z->passed[work->id]) return false;
    if (work->kind != state->kind || work->rank != state->rank) return false;
    int back = -1, n = 2;
    for (int i = at + 1; i < block->stmts.len && back < 0; i++) {
        Copy d;
        if (whole(z, block->stmts.data[i], &d, false) && d.from == work && d.to == state && !d.n) back = i;
        else if (leaves(block->stmts.data[i])) return false;
        else n += stmt_accesses(block->stmts.data[i], work);
    }
    if (back < 0 || n != z->uses[work->id] || !tree_step(z->b.tree, block->stmts.data[at])) return false;
    for (int i = at + 1; i < back; i++) {
        if (!stmt_accesses(block->stmts.data[i], state)) continue;
        if (!move_before(block, at, i)) return false;
        at++;
    }
    stmt_drop(block->stmts.data[at]), stmt_drop(block->stmts.data[back]);
    z->uses[work->id] -= 2, z->uses[state->id] -= 2;
    redirect(z, block, at, &(Copy){work, state, 0, NULL});
    return true;
}

// ---- parts

static bool small_literal(const Copier *z, Temp t, int most, int *value) {
    const Stmt *s = t < z->temps ? z->def[t] : NULL;
    if (!s || s->kind != ST_LIT || s->u.num < 0 || s->u.num > most) return false;
    *value = (int)s->u.num;
    return true;
}

enum { MOST_PARTS = 64 };

// A part of an array: that with these literals as indices in some dimensions; which one of `parts`, and of which dimensions (a
// mask) they are.
typedef struct Matrix {
    int number, parts;
    uint32_t dims;
} Matrix;

// The only access of a nest to the array, if it is of this kind and of each element of a part once. The first index is to be `row`,
// if that is not -1.
static Stmt *once(const Copier *z, Stmt *nest, const Buf *b, StmtKind kind, Temp row, Matrix *part) {
    Temp index[RANK_MAX], extent[RANK_MAX];
    int n = 0;
    Stmt *s = nest;
    while (nest_is_plain(s) && n < RANK_MAX) {
        Stmt *inner = NULL;
        index[n] = s->dst, extent[n++] = s->args[0];
        for (int i = 0; i < s->body->stmts.len; i++) {
            Stmt *t = s->body->stmts.data[i];
            if (t->kind == ST_BREAK) return NULL;
            if (!stmt_accesses(t, b)) continue;
            if (inner) return NULL;
            inner = t;
        }
        s = inner;
    }
    if (s->kind != kind || s->buf != b || (row >= 0 && s->args[1] != row)) return NULL;
    bool used[RANK_MAX] = {false};
    *part = (Matrix){0, 1, 0};
    for (int d = row >= 0; d < b->rank; d++) {
        Temp t = s->args[d + 1];
        int k = 0, of, at;
        while (k < n && index[k] != t) k++;
        if (k < n) {
            if (used[k] || !same(z, extent[k], b->extent[d])) return NULL;
            used[k] = true;
            continue;
        }
        if (!small_literal(z, b->extent[d], MOST_PARTS, &of) || !of || !small_literal(z, t, of - 1, &at)) return NULL;
        part->number = part->number * of + at, part->parts *= of, part->dims |= UINT32_C(1) << d;
        if (part->parts > MOST_PARTS) return NULL;
    }
    for (int k = 0; k < n; k++)
        if (!used[k]) return NULL;
    return s;
}

// What makes an array, or a row of it: an access of each part.
typedef struct Parts {
    Stmt *s[MOST_PARTS];
    int seen;
    bool all;
    uint32_t dims;
} Parts;

// Notes the statement's access of b, if that is of a part of which there was none yet.
static bool note_part(const Copier *z, Parts *p, Stmt *nest, const Buf *b, StmtKind kind, Temp row) {
    Matrix m;
    Stmt *s = once(z, nest, b, kind, row, &m);
    if (!s || p->s[m.number] || (p->seen && m.dims != p->dims)) return false;
    p->s[m.number] = s, p->dims = m.dims;
    p->all = ++p->seen == m.parts;
    return true;
}

// ---- rows that are added

// to[prefix…, k, …] += from[k, …], or from[count - 1 - k, …], for all rows.
typedef struct Rows {
    Copy c;
    Temp count;
    bool backwards;
} Rows;

// What the block makes of a and b.
static Temp difference(const Block *block, Temp a, Temp b, const Copier *z, int64_t literal) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i], *by;
        if (s->kind != ST_OP || s->op != OP_sub || s->args[0] != a) continue;
        by = s->args[1] < z->temps ? z->def[s->args[1]] : NULL;
        if (b >= 0 ? s->args[1] == b : by && by->kind == ST_LIT && by->u.num == literal) return s->dst;
    }
    return -1;
}

static bool adds_rows(const Copier *z, const Stmt *s, Rows *r) {
    if (!nest_is_plain(s)) return false;
    const Block *const body = s->body;
    for (int i = 0; i + 1 < body->stmts.len; i++)
        if (body->stmts.data[i]->kind != ST_OP && body->stmts.data[i]->kind != ST_LIT) return false;
    Temp index[RANK_MAX] = {s->dst}, extent[RANK_MAX] = {s->args[0]};
    int n = 1;
    for (s = body->stmts.len ? vec_last(&body->stmts) : s; nest_is_plain(s) && n < RANK_MAX; s = s->body->stmts.data[0]) {
        index[n] = s->dst, extent[n++] = s->args[0];
        if (s->body->stmts.len != 1) break;
    }
    if (n < 2 || s->kind != ST_FOR || s->body->stmts.len != 2) return false;
    const Stmt *load = s->body->stmts.data[0], *add = s->body->stmts.data[1];
    if (load->kind != ST_LOAD || add->kind != ST_ADDTO || add->args[0] != load->dst || load->buf == add->buf) return false;
    *r = (Rows){{load->buf, add->buf, add->buf->rank - n, add->args + 1}, extent[0], load->args[0] != index[0]};
    if (load->buf->rank != n || r->c.n < 0) return false;
    for (int k = 0; k < n; k++)
        if ((k && load->args[k] != index[k]) || r->c.prefix[r->c.n + k] != index[k] || !same(z, extent[k], load->buf->extent[k]))
            return false;
    for (int i = 0; i < body->stmts.len; i++)
        if (defines(body->stmts.data[i], r->c.n, r->c.prefix)) return false;
    for (int k = 0; k < r->c.n; k++)
        for (int i = 0; i < n; i++)
            if (r->c.prefix[k] == index[i]) return false;
    Temp last = r->backwards ? difference(body, extent[0], index[0], z, 0) : -1;
    return !r->backwards || (last >= 0 && load->args[0] == difference(body, last, -1, z, 1));
}

// Does the statement nothing to the array but add to the row?
static bool only_adds(const Stmt *s, const Buf *b, Temp row) {
    if ((s->buf == b || s->src == b) && (s->kind != ST_ADDTO || s->args[1] != row)) return false;
    for (int i = 0; s->body && i < s->body->stmts.len; i++)
        if (!only_adds(s->body->stmts.data[i], b, row)) return false;
    for (int i = 0; s->other && i < s->other->stmts.len; i++)
        if (!only_adds(s->other->stmts.data[i], b, row)) return false;
    return true;
}

static void add_to_rows(Copier *z, Block *block, const Rows *r, Temp row) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        add_to_rows(z, s->body, r, row), add_to_rows(z, s->other, r, row);
        if (s->buf != r->c.from) continue;
        Temp args[2 * RANK_MAX + 1] = {s->args[0]};
        int n = r->c.n, rank = r->c.from->rank;
        if (n) memcpy(args + 1, r->c.prefix, sizeof *args * (size_t)n);
        args[n + 1] = row;
        memcpy(args + n + 2, s->args + 2, sizeof *args * (size_t)(rank - 1));
        s->buf = r->c.to, s->nargs = n + rank + 1;
        s->args = arena_copy(z->b.arena, args, sizeof *args * (size_t)s->nargs);
        z->uses[r->c.from->id]--, z->uses[r->c.to->id]++;
    }
}

// Statement number `at` adds rows of an array, which a sequential loop before it has made, to those of another one: that loop does.
static bool add_there(Copier *z, Block *block, int at, const Rows *r) {
    const Buf *from = r->c.from, *to = r->c.to;
    if (z->strict || from->where != BUF_TEMP || from->home != block || from->kind != to->kind || z->passed[from->id]) return false;
    int by = -1;
    for (int i = 0; i < at; i++)
        if (stmt_accesses(block->stmts.data[i], from)) by = i;
    const Stmt *loop = by < 0 ? NULL : block->stmts.data[by];
    if (!loop || !nest_is_plain(loop) || !same(z, loop->args[0], r->count) || !is_sequential(z, loop)) return false;
    if (stmt_accesses(loop, from) + 1 != z->uses[from->id]) return false;
    for (int i = by; i < at; i++)
        if (bars(block->stmts.data[i], &r->c)) return false;
    Block *body = loop->body;
    Parts p = {.seen = 0};
    for (int i = 0; i < body->stmts.len; i++) {
        Stmt *s = body->stmts.data[i];
        if (p.all ? !only_adds(s, from, loop->dst) : stmt_accesses(s, from) && !note_part(z, &p, s, from, ST_STORE, loop->dst))
            return false;
    }
    if (!p.all || !tree_step(z->b.tree, loop)) return false;
    Temp row = loop->dst;
    if (r->backwards) {
        Block first = {0};
        z->b.span = loop->span;
        row = build_int(&z->b, &first, OP_sub, r->count, row);
        row = build_int(&z->b, &first, OP_sub, row, build_literal(&z->b, &first, KIND_INT, 1));
        for (int i = 0; i < first.stmts.len; i++) block_insert(body, i, first.stmts.data[i]);
        vec_free(&first.stmts);
    }
    for (int k = 0; k < p.seen; k++) {
        p.s[k]->kind = ST_ADDTO;
        if (is_zero(z, p.s[k]->args[0])) stmt_drop(p.s[k]), z->uses[from->id]--;
    }
    stmt_drop(block->stmts.data[at]);
    z->uses[from->id]--, z->uses[to->id]--;
    add_to_rows(z, body, r, row);
    return true;
}

// ---- zeros

// Statement number `at` makes an array zero: not where all its parts are added to afterwards.
static bool store_first(Copier *z, Block *block, int at) {
    Stmt *fill = block->stmts.data[at];
    const Buf *b = fill->buf;
    Parts p = {.seen = 0};
    if (z->strict || !b->rank || !is_zero(z, fill->args[0]) || z->passed[b->id]) return false;
    for (int i = at + 1; i < block->stmts.len && !p.all; i++) {
        if (leaves(block->stmts.data[i])) return false;
        if (stmt_accesses(block->stmts.data[i], b) && !note_part(z, &p, block->stmts.data[i], b, ST_ADDTO, -1)) return false;
    }
    if (!p.all || !tree_step(z->b.tree, fill)) return false;
    for (int k = 0; k < p.seen; k++) p.s[k]->kind = ST_STORE;
    stmt_drop(fill);
    z->uses[b->id]--;
    return true;
}

static void look(Copier *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        look(z, block->stmts.data[i]->body);
        look(z, block->stmts.data[i]->other);
        if (block->stmts.len > LARGEST_BLOCK) continue;
        Copy c;
        Rows r;
        if (whole(z, block->stmts.data[i], &c, true) && read_there(z, block, i, &c)) continue;
        if (whole(z, block->stmts.data[i], &c, false)) {
            if (!make_there(z, block, i, &c)) work_there(z, block, i, &c);
        } else if (adds_rows(z, block->stmts.data[i], &r)) {
            add_there(z, block, i, &r);
        } else if (block->stmts.data[i]->kind == ST_FILL) {
            store_first(z, block, i);
        }
    }
}

void loops_copies(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Copier z = {.b = {.arena = arena, .tree = tree}, .temps = tree->temps.len, .strict = opt->precise};
    z.def = ARENA_ARRAY(arena, Stmt *, z.temps + 1);
    z.uses = ARENA_ARRAY(arena, int, tree->bufs.len + 1);
    z.passed = ARENA_ARRAY(arena, bool, tree->bufs.len + 1);
    tree_definitions(tree->body, z.def);
    note(&z, tree->body, NULL, NULL);
    look(&z, tree->body);
    block_sweep(tree->body);
    map_free(&z.places), map_free(&z.carries);
}
