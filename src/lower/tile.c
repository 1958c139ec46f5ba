// Tiles. Where each iteration of a loop goes over many matrices, these go through the caches for each block of lanes:
//
//     for i < n { x; for c < k { for j, l { … q[c,j,l] * x[l] … } z[c] }; y; for c < k { … z[c] … for j, l { g[c,j,l] += u[j] * x[l] } } }
//
// becomes, a tile of iterations at a time, with arrays for what one part needs of another,
//
//     for t { for p { x[p] }; for c < k { for p { … z[c,p] } }; for p { y[p] }; for c < k { for p { … u[j,p] }; for j, l { … } } }
//
// so that each matrix is read once for a tile, by the lanes p; and products that are added to a matrix, of numbers of the
// iteration, are sums over the tile, which registers hold: g[c,j,l] += sum over p of u[j,p] * x[l,p].
#include "lower/cost.h"
#include "lower/effects.h"
#include "lower/internal.h"

#include <string.h>

// Iterations of a tile: whole blocks of lanes (the vectors of 8 numbers are those of machines with many registers, and blocks long),
// and no power of 2 of lines, so that rows of a tile do not meet in the same places of a cache. More if little waits for each.
enum { TILE = 48, TILE_OF_LONG = 32, LONG = 8, MORE = 2, MOST_INSIDE = 8, LEAST = 255, LARGEST = 1 << 30 };
// Of sums over a tile that registers hold: rows, as there are registers for, and columns.
enum { ROWS = 2, MOST_ROWS = 4, MANY_REGISTERS = 32, COLUMNS = 4 };

typedef struct Widened { // an array of an iteration, or of rows of one from outside, and that of all iterations of a tile
    const Buf *from;
    Buf *to;
    int at; // the dimension of `from` with the index of the loop that is cut; -1: it has none
} Widened;

typedef struct Waiting { // a scalar of one part that others need
    Temp temp;
    Buf *buf;
} Waiting;

typedef struct Tiler {
    Arena *arena;
    Tree *tree;
    Model m;
    int known;    // so many temps have a definition
    int rows;     // that share a loop over a tile
    int most;     // iterations of a tile where much waits for each
    int64_t cache; // its bytes
    // Of the loop that is looked at:
    Stmt *loop;
    Block *around;
    Block before; // what comes to stand before it
    Block *tile;  // the body of the loop over tiles
    Temp size, base, count; // of a tile: how many iterations at most, the first, how many
    int n;        // statements of the body
    int *part;    // by statement: its part, from 0 on; FREE, if it is a value that each part makes for itself; GONE
    int parts;
    Effects *of;  // by statement
    VEC(Waiting) waiting;
    VEC(Widened) wide;
    const Buf *matrix; // an array of matrices that one of its parts goes over, and in which dimension these follow one another:
    int which;         // one that is added to, if there are any
    bool added;
    Map seen;          // loops that are what they shall be
} Tiler;

enum { FREE = -1, GONE = -2 };

static Stmt *const *body_of(const Tiler *z) { return z->loop->body->stmts.data; }
static const Stmt *def_of(const Tiler *z, Temp t) { return t < z->known ? z->m.it.def[t] : NULL; }
static bool is_made(const Tiler *z, Temp t) { return t >= z->known || z->m.it.made_in[t] == z->m.it.stamp || t == z->loop->dst; }

// ---- new statements

static Temp fresh(Tiler *z, TempInfo like) {
    like.varies = false, like.step = 0;
    vec_push(&z->tree->temps, like);
    return z->tree->temps.len - 1;
}

static Stmt *put(Tiler *z, Block *to, StmtKind kind, Temp dst, int n, const Temp *args) {
    Stmt *s = tree_stmt(z->arena, kind, dst, n, args, z->loop->span);
    vec_push(&to->stmts, s);
    return s;
}

static Temp put_op(Tiler *z, Block *to, Kind kind, Op op, Temp a, Temp b) {
    Stmt *s = put(z, to, ST_OP, fresh(z, (TempInfo){.kind = kind}), b < 0 ? 1 : 2, (Temp[]){a, b});
    s->op = op;
    return s->dst;
}

static Temp put_int(Tiler *z, Block *to, Op op, Temp a, Temp b) { return put_op(z, to, KIND_INT, op, a, b); }

static Temp put_literal(Tiler *z, Block *to, Kind kind, int64_t value) {
    Stmt *s = put(z, to, ST_LIT, fresh(z, (TempInfo){.kind = kind}), 0, NULL);
    if (!kind_is_float(kind)) s->u.num = value;
    return s->dst;
}

static Stmt *put_loop(Tiler *z, Block *to, Temp like, Temp count) {
    Stmt *s = put(z, to, ST_FOR, fresh(z, z->tree->temps.data[like]), 1, &count);
    s->body = ARENA_NEW(z->arena, Block);
    return s;
}

static Temp put_load(Tiler *z, Block *to, Buf *from, const Temp *index) {
    Stmt *s = put(z, to, ST_LOAD, fresh(z, (TempInfo){.kind = from->kind}), from->rank, index);
    s->buf = from;
    return s->dst;
}

static void put_store(Tiler *z, Block *to, Buf *buf, Temp value, const Temp *index) {
    Temp args[RANK_MAX + 1] = {value};
    memcpy(args + 1, index, sizeof *index * (size_t)buf->rank);
    put(z, to, ST_STORE, -1, buf->rank + 1, args)->buf = buf;
}

// An array with these extents for each iteration of a tile, which is new in each run of the block.
static Buf *put_buf(Tiler *z, const Block *home, Kind kind, int rank, const Temp *extent) {
    Buf *b = ARENA_NEW(z->arena, Buf);
    *b = (Buf){.id = z->tree->bufs.len, .where = BUF_TEMP, .kind = kind, .rank = rank + 1, .home = home};
    b->extent = ARENA_ARRAY(z->arena, Temp, rank + 1);
    memcpy(b->extent, extent, sizeof *extent * (size_t)rank);
    b->extent[rank] = z->size;
    vec_push(&z->tree->bufs, b);
    put(z, &z->before, ST_NEW, -1, 0, NULL)->buf = b;
    return b;
}

// ---- which parts there are

// Do all loops around the access, from c on, go along a matrix of an array that the loop does not make, and that is the same for its
// iterations?
static bool is_matrix(const Tiler *z, const Stmt *s, int n, Stmt *const *around) {
    if ((s->kind != ST_LOAD && s->kind != ST_ADDTO) || n < 3 || s->buf->rank < 3 || iter_is_own(&z->m.it, s->buf)) return false;
    for (int k = 0; k < s->buf->rank; k++)
        if (iter_varies(&z->m.it, stmt_index(s)[k])) return false;
    for (int i = 0; i < n; i++) {
        bool at = false;
        for (int k = 0; k < s->buf->rank; k++) at |= stmt_index(s)[k] == around[i]->dst;
        if (!at) return false;
    }
    return true;
}

static void note_matrix(Tiler *z, const Stmt *s, const Stmt *c) {
    if (z->matrix && (z->added || s->kind != ST_ADDTO)) return;
    z->matrix = s->buf, z->added = s->kind == ST_ADDTO, z->which = 0;
    while (stmt_index(s)[z->which] != c->dst) z->which++;
}

static bool has_matrix(Tiler *z, const Block *b, int n, Stmt **around) {
    bool found = false;
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (is_matrix(z, s, n, around)) found = true, note_matrix(z, s, around[0]);
        if (s->kind == ST_FOR && n < MOST_INSIDE) around[n] = s;
        found |= has_matrix(z, s->body, n + (s->kind == ST_FOR && n < MOST_INSIDE), around);
        found |= has_matrix(z, s->other, n, around);
    }
    return found;
}

static bool is_heavy(Tiler *z, Stmt *s) {
    Stmt *around[MOST_INSIDE] = {s};
    return nest_is_plain(s) && !s->few && !is_made(z, s->args[0]) && has_matrix(z, s->body, 1, around);
}

static bool is_free(const Tiler *z, const Stmt *s) {
    bool op = s->kind == ST_OP && z->tree->temps.data[s->dst].kind == KIND_INT && op_info[s->op].cost <= 1;
    if (s->kind != ST_LIT && s->kind != ST_ARG && !op) return false;
    for (int k = 0; k < s->nargs; k++) {
        const Stmt *by = def_of(z, s->args[k]);
        if (is_made(z, s->args[k]) && s->args[k] != z->loop->dst && !(by && is_free(z, by))) return false;
    }
    return true;
}

static bool has_temp(int n, const Temp *t, Temp x) {
    for (int i = 0; i < n; i++)
        if (t[i] == x) return true;
    return false;
}

// Loops that go over matrices are parts of their own; what is between them is one each. A cell is made where it is needed first.
static bool divide(Tiler *z) {
    bool heavy = false, open = false;
    z->parts = 0;
    for (int i = 0; i < z->n; i++) {
        Stmt *s = body_of(z)[i];
        if (z->of[i].stops) return false;
        for (int k = 0; s->kind == ST_NEW && k < s->buf->rank; k++)
            if (is_made(z, s->buf->extent[k])) return false;
        if (s->kind == ST_NEW || s->kind == ST_CELL) z->part[i] = GONE;
        else if (is_free(z, s)) z->part[i] = FREE;
        else if (is_heavy(z, s)) z->parts += open, z->part[i] = z->parts++, open = false, heavy = true;
        else z->part[i] = z->parts, open = true;
    }
    z->parts += open;
    for (int i = 0; i < z->n; i++)
        for (int k = i + 1; k < z->n && body_of(z)[i]->kind == ST_CELL && z->part[i] == GONE; k++)
            if (has_temp(z->of[k].gets.len, z->of[k].gets.data, body_of(z)[i]->dst) || has_temp(z->of[k].sets.len, z->of[k].sets.data, body_of(z)[i]->dst))
                z->part[i] = z->part[k];
    return heavy;
}

static void survey(Tiler *z) {
    z->n = z->loop->body->stmts.len;
    z->part = ARENA_ARRAY(z->arena, int, z->n + 1), z->of = ARENA_ARRAY(z->arena, Effects, z->n + 1);
    for (int i = 0; i < z->n; i++) effects_add(&z->of[i], body_of(z)[i]);
}

static void forget(Tiler *z) {
    for (int i = 0; i < z->n; i++) effects_free(&z->of[i]);
}

static int maker(const Tiler *z, Temp t) {
    for (int i = 0; i < z->n; i++)
        if (body_of(z)[i]->dst == t && body_of(z)[i]->kind != ST_SET) return i;
    return -1;
}

// Does the statement use a cell that the body makes?
static bool uses_cell(const Tiler *z, int i) {
    for (int k = 0; k < z->of[i].gets.len; k++)
        if (maker(z, z->of[i].gets.data[k]) >= 0) return true;
    for (int k = 0; k < z->of[i].sets.len; k++)
        if (maker(z, z->of[i].sets.data[k]) >= 0) return true;
    return false;
}

// A loop that follows another over matrices, and needs of it what the same iteration has made, becomes part of that.
static bool join(Tiler *z) {
    for (int i = 0; i < z->n; i++) {
        int k = i + 1;
        while (k < z->n && z->part[k] == FREE) k++;
        if (k == z->n || z->part[i] < 0 || !is_heavy(z, body_of(z)[i])) continue;
        Stmt *a = body_of(z)[i], *b = body_of(z)[k];
        if (!nest_is_plain(b) || b->few || b->args[0] != a->args[0] || is_heavy(z, b) || uses_cell(z, k)) continue;
        if (effects_share_cells(&z->of[i], &z->of[k]) || !effects_apart(&z->of[i], a->dst, &z->of[k], b->dst)) continue;
        for (int f = i + 1; f < k; f++)
            if (has_temp(z->of[k].uses.len, z->of[k].uses.data, body_of(z)[f]->dst)) b = NULL, f = k;
        if (!b) continue;
        for (int n = 0; n < z->tree->bufs.len; n++)
            if (z->tree->bufs.data[n]->home == b->body) z->tree->bufs.data[n]->home = a->body;
        block_rename(b->body, b->dst, a->dst);
        for (int n = 0; n < b->body->stmts.len; n++) vec_push(&a->body->stmts, b->body->stmts.data[n]);
        block_delete(z->loop->body, k);
        return true;
    }
    return false;
}

// Does one part need a cell, or the value of a kind of which there are no arrays, of another? Notes other values.
static bool settle_scalars(Tiler *z) {
    for (int i = 0; i < z->n; i++)
        for (int k = 0; k < z->n; k++)
            if (z->part[i] != z->part[k] && effects_share_cells(&z->of[i], &z->of[k])) return false;
    for (int i = 0; i < z->n; i++)
        for (int k = 0; k < z->of[i].uses.len; k++) {
            Temp t = z->of[i].uses.data[k];
            int by = maker(z, t);
            Kind kind = z->tree->temps.data[t].kind;
            if (by < 0 || z->part[by] == FREE || z->part[by] == z->part[i] || body_of(z)[by]->kind == ST_FOR) continue;
            if (body_of(z)[by]->kind == ST_CELL || (kind != KIND_INT && !kind_is_float(kind))) return false;
            bool known = false;
            for (int w = 0; w < z->waiting.len; w++) known |= z->waiting.data[w].temp == t;
            if (!known) vec_push(&z->waiting, ((Waiting){.temp = t}));
        }
    return true;
}

static int parts_with(const Tiler *z, const Buf *b, int *any) {
    int n = 0;
    for (int part = 0; part < z->parts; part++) {
        bool has = false;
        for (int i = 0; i < z->n; i++)
            for (int k = 0; k < z->of[i].access.len && z->part[i] == part; k++) has |= z->of[i].access.data[k].buf == b;
        n += has;
        if (has) *any = part;
    }
    return n;
}

static bool has_whole(const Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        bool element = s->kind == ST_LOAD || s->kind == ST_STORE || s->kind == ST_ADDTO || s->kind == ST_NEW;
        if ((!element && (s->buf == b || s->src == b)) || has_whole(s->body, b) || has_whole(s->other, b)) return true;
    }
    return false;
}

static Stmt *heavy_loop(Tiler *z, int part) {
    for (int i = 0; i < z->n; i++)
        if (z->part[i] == part) return is_heavy(z, body_of(z)[i]) ? body_of(z)[i] : NULL;
    return NULL;
}

// Arrays that are new in an iteration: those of one part alone may stay so, unless it is one whose outer loop comes to stand outside.
static bool settle_arrays(Tiler *z) {
    for (int i = 0, n = z->tree->bufs.len; i < n; i++) {
        Buf *b = z->tree->bufs.data[i];
        int part = 0;
        if (b->home != z->loop->body) continue;
        int parts = parts_with(z, b, &part);
        for (int k = 0; k < b->rank; k++)
            if (is_made(z, b->extent[k])) return false;
        if (parts < 2 && !heavy_loop(z, part)) continue;
        if (b->rank + 1 > RANK_MAX || has_whole(z->loop->body, b)) return false;
        vec_push(&z->wide, ((Widened){.from = b, .at = -1}));
    }
    return true;
}

// Rows of arrays from outside that heavy parts read, of which lanes had better have copies.
static bool is_row(const Tiler *z, const Stmt *s, int n, Stmt *const *around, int *at) {
    *at = -1;
    if (s->kind != ST_LOAD || s->buf->rank < 2 || iter_is_own(&z->m.it, s->buf)) return false;
    for (int d = 0; d < s->buf->rank; d++) {
        Temp t = stmt_index(s)[d];
        bool along = false;
        for (int i = 1; i < n; i++) along |= around[i]->dst == t;
        if (t == z->loop->dst && *at < 0) *at = d;
        else if (!along) return false;
    }
    for (int i = 0; i < z->m.it.outside.len; i++) // it is not changed
        if (z->m.it.outside.data[i]->buf == s->buf && z->m.it.outside.data[i]->kind != ST_LOAD) return false;
    return *at >= 0 && *at < s->buf->rank - 1;
}

static void find_rows(Tiler *z, const Block *b, int n, Stmt **around) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        int at;
        bool known = false;
        if (is_row(z, s, n, around, &at)) {
            for (int k = 0; k < z->wide.len; k++) known |= z->wide.data[k].from == s->buf && z->wide.data[k].at == at;
            if (!known) vec_push(&z->wide, ((Widened){.from = s->buf, .at = at}));
        }
        if (s->kind == ST_FOR && n < MOST_INSIDE) around[n] = s;
        find_rows(z, s->body, n + (s->kind == ST_FOR && n < MOST_INSIDE), around);
        find_rows(z, s->other, n, around);
    }
}

// ---- the parts

// Accesses to arrays of an iteration become those to arrays of a tile.
static void access_wide(Tiler *z, Block *b, Temp p, int n, Stmt **around, bool heavy) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        for (int k = 0; k < z->wide.len; k++) {
            const Widened *w = &z->wide.data[k];
            int at, values = s->kind == ST_LOAD ? 0 : 1, m = values;
            bool row = w->at >= 0;
            if (s->buf != w->from || (row && !(heavy && is_row(z, s, n, around, &at) && at == w->at))) continue;
            Temp *args = ARENA_ARRAY(z->arena, Temp, w->to->rank + 1);
            if (values) args[0] = s->args[0];
            for (int d = 0; d < w->from->rank; d++)
                if (d != w->at) args[m++] = s->args[values + d];
            args[m++] = p;
            s->args = args, s->nargs = m, s->buf = w->to;
            break;
        }
        if (s->kind == ST_FOR && n < MOST_INSIDE) around[n] = s;
        access_wide(z, s->body, p, n + (s->kind == ST_FOR && n < MOST_INSIDE), around, heavy);
        access_wide(z, s->other, p, n, around, heavy);
    }
}

static bool uses(const Block *b, Temp t) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        for (int k = 0; k < s->nargs; k++)
            if (s->args[k] == t) return true;
        if (uses(s->body, t) || uses(s->other, t)) return true;
    }
    return false;
}

// Puts what the body needs of others at its beginning.
static void fill_needs(Tiler *z, Block *body, Temp p) {
    for (int k = 0; k < z->waiting.len; k++) {
        const Waiting *w = &z->waiting.data[k];
        bool made = false;
        for (int i = 0; i < body->stmts.len; i++) made |= body->stmts.data[i]->dst == w->temp;
        if (made) {
            put_store(z, body, w->buf, w->temp, &p);
        } else if (uses(body, w->temp)) {
            Block one = {0};
            Temp value = put_load(z, &one, w->buf, &p);
            block_rename(body, w->temp, value);
            block_insert(body, 0, one.stmts.data[0]);
            vec_free(&one.stmts);
        }
    }
    for (int i = z->n; i-- > 0;) {
        const Stmt *s = body_of(z)[i];
        if (z->part[i] != FREE || !uses(body, s->dst)) continue;
        Stmt *copy = arena_copy(z->arena, s, sizeof *s);
        copy->args = arena_copy(z->arena, s->args, sizeof *s->args * (size_t)s->nargs);
        copy->dst = fresh(z, z->tree->temps.data[s->dst]);
        block_rename(body, s->dst, copy->dst);
        block_insert(body, 0, copy);
    }
    if (uses(body, z->loop->dst)) {
        Block one = {0};
        Temp i = put_int(z, &one, OP_add, z->base, p);
        block_rename(body, z->loop->dst, i);
        block_insert(body, 0, one.stmts.data[0]);
        vec_free(&one.stmts);
    }
}

static void put_light(Tiler *z, int part) {
    Stmt *p = put_loop(z, z->tile, z->loop->dst, z->count), *around[MOST_INSIDE];
    for (int i = 0; i < z->n; i++)
        if (z->part[i] == part) vec_push(&p->body->stmts, body_of(z)[i]);
    for (int i = 0; i < z->tree->bufs.len; i++) {
        Buf *b = z->tree->bufs.data[i];
        int at = -1;
        if (b->home == z->loop->body && parts_with(z, b, &at) == 1 && at == part) b->home = p->body;
    }
    access_wide(z, p->body, p->dst, 0, around, false);
    fill_needs(z, p->body, p->dst);
}

// ---- products

typedef struct Nest { // for j { … for l { to[c,j,l] += u * v } }
    Stmt *c, *p, *j, *l, *to;
    Temp u;
    const Stmt *v;
    bool negative;
} Nest;

// What makes t in the block, or inside it; NULL: nothing.
static const Stmt *find_def(const Block *b, Temp t) {
    const Stmt *found = NULL;
    for (int i = 0; b && !found && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        found = s->dst == t && s->kind != ST_SET ? s : find_def(s->body, t);
        if (!found) found = find_def(s->other, t);
    }
    return found;
}

static bool defines(const Block *b, Temp t) { return find_def(b, t); }

static int accesses(const Block *b, const Buf *buf, bool loads) {
    int n = 0;
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        n += (s->buf == buf && s->kind != ST_NEW && (loads || s->kind != ST_LOAD)) || s->src == buf;
        n += accesses(s->body, buf, loads) + accesses(s->other, buf, loads);
    }
    return n;
}

// The value t, an index or a length, where p->c, j and l are `is`, made in b; -1 if it depends on anything else in the loop over p.
static Temp again(Tiler *z, const Nest *x, Block *b, Temp j, Temp l, Temp t) {
    if (t == x->j->dst) return j;
    if (t == x->l->dst) return l;
    if (t == x->p->dst) return -1;
    const Stmt *s = find_def(x->p->body, t);
    if (!s) return t;
    if ((s->kind != ST_LIT && s->kind != ST_OP) || z->tree->temps.data[t].kind != KIND_INT) return -1;
    Temp args[3];
    for (int k = 0; k < s->nargs; k++)
        if ((args[k] = again(z, x, b, j, l, s->args[k])) < 0) return -1;
    if (!b) return t;
    Stmt *copy = put(z, b, s->kind, fresh(z, z->tree->temps.data[t]), s->nargs, args);
    copy->op = s->op, copy->u = s->u;
    return copy->dst;
}

static bool is_known(Tiler *z, const Nest *x, Temp l, Temp t) { return again(z, x, NULL, x->j->dst, l, t) >= 0; }

static bool find_product(Tiler *z, Nest *x) {
    x->to = NULL;
    for (int i = 0; i < x->l->body->stmts.len; i++) {
        Stmt *s = x->l->body->stmts.data[i];
        if (s->kind == ST_ADDTO && !x->to) x->to = s;
        else if (s->kind != ST_LIT && s->kind != ST_OP && s->kind != ST_LOAD) return false;
    }
    if (!x->to || !kind_is_float(x->to->buf->kind) || accesses(z->loop->body, x->to->buf, true) != 1) return false;
    const Stmt *by = find_def(x->l->body, x->to->args[0]);
    x->negative = by && by->kind == ST_OP && by->op == OP_neg;
    if (x->negative) by = find_def(x->l->body, by->args[0]);
    if (!by || by->kind != ST_OP || by->op != OP_mul) return false;
    for (int k = 0; k < 2; k++) {
        x->u = by->args[k], x->v = find_def(x->l->body, by->args[1 - k]);
        if (!defines(x->l->body, x->u) && x->v && x->v->kind == ST_LOAD) break;
        if (k) return false;
    }
    if (!is_known(z, x, -1, x->l->args[0]) || !is_known(z, x, -1, x->j->args[0]) || defines(x->p->body, x->j->args[0])) return false;
    for (int k = 1; k < x->to->nargs; k++)
        if (!is_known(z, x, x->l->dst, x->to->args[k])) return false;
    return true;
}

// Of v: the array, with an index for the iteration of the tile, and where that is; or NULL.
static Buf *wide_factor(Tiler *z, const Nest *x) {
    const Buf *b = x->v->buf;
    bool wide = x->v->args[x->v->nargs - 1] == x->p->dst, own = b->home == x->p->body && b->where == BUF_TEMP, row = false;
    for (int k = 0; k < z->wide.len; k++) row |= z->wide.data[k].to == b && z->wide.data[k].at >= 0;
    for (int k = 0; k < b->rank - wide; k++)
        if (x->v->args[k] != x->l->dst && defines(x->p->body, x->v->args[k])) return NULL;
    if (accesses(x->j->body, b, false)) return NULL;
    if (wide) return row || b->home == x->c->body ? x->v->buf : NULL;
    if (!own || b->rank + 1 > RANK_MAX || has_whole(x->p->body, b)) return NULL;
    for (int k = 0; k < b->rank; k++)
        if (is_made(z, b->extent[k])) return NULL;
    Stmt *around[MOST_INSIDE];
    vec_push(&z->wide, ((Widened){.from = b, .at = -1, .to = put_buf(z, x->c->body, b->kind, b->rank, b->extent)}));
    access_wide(z, x->p->body, x->p->dst, 0, around, false);
    return x->v->buf;
}

// Zeros for the iterations that the last tile lacks, before what comes next in the block.
static void put_zeros(Tiler *z, Block *to, int n, Buf *const *bufs) {
    Temp partial = put_op(z, to, KIND_BOOL, OP_lt, z->count, z->size);
    Stmt *branch = put(z, to, ST_IF, -1, 1, &partial);
    branch->body = ARENA_NEW(z->arena, Block);
    for (int i = 0; i < n; i++) {
        Temp zero = put_literal(z, branch->body, bufs[i]->kind, 0);
        put(z, branch->body, ST_FILL, -1, 1, &zero)->buf = bufs[i];
    }
}

// u as an array in the loop over p, in the place of the loop over l; NULL if v cannot be one.
static Buf *put_factors(Tiler *z, Nest *x, Buf **v) {
    *v = wide_factor(z, x);
    if (!*v) return NULL;
    Buf *u = put_buf(z, x->c->body, z->tree->temps.data[x->u].kind, 1, x->j->args);
    Block store = {0};
    Temp value = x->negative ? put_op(z, &store, u->kind, OP_neg, x->u, -1) : x->u;
    put_store(z, &store, u, value, (Temp[]){x->j->dst, x->p->dst});
    int at = 0;
    while (x->j->body->stmts.data[at] != x->l) at++;
    x->j->body->stmts.data[at] = vec_last(&store.stmts);
    if (x->negative) block_insert(x->j->body, at, store.stmts.data[0]);
    vec_free(&store.stmts);
    Block zeros = {0};
    put_zeros(z, &zeros, (*v)->home == x->c->body ? 2 : 1, (Buf *[]){u, *v});
    for (int i = 0; i < zeros.stmts.len; i++) block_insert(x->c->body, i, zeros.stmts.data[i]);
    vec_free(&zeros.stmts);
    return u;
}

// A block of rows of u and columns of v, and what becomes of their products. row[r] and column[k] may be rows that are not asked for.
typedef struct Patch {
    int rows;
    Temp row[MOST_ROWS], length[MOST_ROWS], column[COLUMNS], place[COLUMNS]; // place: before it is made one that there is
    Temp sum[MOST_ROWS][COLUMNS];
} Patch;

static void put_sums(Tiler *z, const Nest *x, Patch *a, Block *to, Buf *u, Buf *v) {
    const Kind kind = x->to->buf->kind;
    Temp cell[MOST_ROWS][COLUMNS], f[MOST_ROWS], g[COLUMNS], none = put_literal(z, to, kind, 0);
    for (int r = 0; r < a->rows; r++)
        for (int k = 0; k < COLUMNS; k++) put(z, to, ST_CELL, cell[r][k] = fresh(z, (TempInfo){.kind = kind, .cell = true}), 1, &none);
    Stmt *p = put_loop(z, to, x->p->dst, z->size);
    p->lanes = 1;
    for (int r = 0; r < a->rows; r++) f[r] = put_load(z, p->body, u, (Temp[]){a->row[r], p->dst});
    for (int k = 0; k < COLUMNS; k++) {
        Temp index[RANK_MAX];
        for (int d = 0; d < v->rank; d++) index[d] = x->v->args[d] == x->l->dst ? a->column[k] : x->v->args[d] == x->p->dst ? p->dst : x->v->args[d];
        g[k] = put_load(z, p->body, v, index);
    }
    for (int r = 0; r < a->rows; r++)
        for (int k = 0; k < COLUMNS; k++) {
            Temp product = put_op(z, p->body, kind, OP_mul, f[r], g[k]);
            Temp old = put(z, p->body, ST_GET, fresh(z, (TempInfo){.kind = kind}), 1, &cell[r][k])->dst;
            put(z, p->body, ST_SET, cell[r][k], 1, (Temp[]){put_op(z, p->body, kind, OP_add, old, product)});
        }
    for (int r = 0; r < a->rows; r++)
        for (int k = 0; k < COLUMNS; k++) a->sum[r][k] = put(z, to, ST_GET, fresh(z, (TempInfo){.kind = kind}), 1, &cell[r][k])->dst;
}

static void put_addition(Tiler *z, const Nest *x, const Patch *a, Block *to, int r, int k) {
    Temp args[RANK_MAX + 1] = {a->sum[r][k]};
    for (int d = 1; d < x->to->nargs; d++) args[d] = again(z, x, to, a->row[r], a->place[k], x->to->args[d]);
    put(z, to, ST_ADDTO, -1, x->to->nargs, args)->buf = x->to->buf;
}

// The product of the extents of an array, but for one (-1: of all); *known: that, or -1 if it is not known here.
static Temp put_count(Tiler *z, Block *to, const Buf *b, int but, int64_t *known) {
    Temp count = -1;
    *known = 1;
    for (int k = 0; k < b->rank; k++) {
        const Stmt *s = def_of(z, b->extent[k]);
        if (k == but) continue;
        *known = *known >= 0 && s && s->kind == ST_LIT && s->u.num < LARGEST ? *known * s->u.num : -1;
        if (*known > LARGEST) *known = LARGEST;
        count = count < 0 ? b->extent[k] : put_int(z, to, OP_mul, count, b->extent[k]);
    }
    return count;
}

// Of the matrix of the next iteration of c, which this part will be added to: the elements at the place of the block.
static void put_fetches(Tiler *z, const Nest *x, const Patch *a, Block *to, Temp large, Temp next) {
    bool found = false;
    for (int d = 1; d < x->to->nargs; d++) found |= x->to->args[d] == x->c->dst;
    if (!found) return;
    Stmt *branch = put(z, to, ST_IF, -1, 1, &large);
    branch->body = ARENA_NEW(z->arena, Block);
    for (int r = 0; r < a->rows; r++) {
        Temp args[RANK_MAX + 1] = {put_literal(z, branch->body, KIND_INT, 1)};
        for (int d = 1; d < x->to->nargs; d++)
            args[d] = x->to->args[d] == x->c->dst ? next : again(z, x, branch->body, a->row[r], a->place[0], x->to->args[d]);
        put(z, branch->body, ST_FETCH, -1, x->to->nargs, args)->buf = x->to->buf;
    }
}

// Has the array more elements than the cache has room for?
static Temp put_large(Tiler *z, Block *to, const Buf *b) {
    int64_t known;
    Temp count = put_count(z, to, b, -1, &known), most = put_literal(z, to, KIND_INT, z->cache / kind_size(b->kind));
    return put_op(z, to, KIND_BOOL, OP_lt, most, count);
}

// Adds the sums that are asked for: all of them, or those for which that is so.
static void put_additions(Tiler *z, const Nest *x, const Patch *a, Block *to, Temp least) {
    Temp whole = put_op(z, to, KIND_BOOL, OP_lt, a->place[COLUMNS - 1], least);
    Stmt *branch = put(z, to, ST_IF, -1, 1, &whole);
    branch->body = ARENA_NEW(z->arena, Block), branch->other = ARENA_NEW(z->arena, Block);
    for (int r = 0; r < a->rows; r++)
        for (int k = 0; k < COLUMNS; k++) {
            put_addition(z, x, a, branch->body, r, k);
            Temp there = put_op(z, branch->other, KIND_BOOL, OP_lt, a->place[k], a->length[r]);
            Stmt *one = put(z, branch->other, ST_IF, -1, 1, &there);
            one->body = ARENA_NEW(z->arena, Block);
            put_addition(z, x, a, one->body, r, k);
        }
}

// for j { for l { to[j,l] += sum over p of u[j,p] * v[l,p] } }, in blocks of a few rows and columns, whose sums registers hold.
static void split_product(Tiler *z, const Nest *nest) {
    Nest x = *nest;
    Buf *v, *u = put_factors(z, &x, &v);
    if (!u) return;
    Patch a = {.rows = z->rows};
    Block *out = x.c->body;
    Temp large = put_large(z, out, x.to->buf), next = put_int(z, out, OP_add, x.c->dst, put_literal(z, out, KIND_INT, 1));
    Temp rows = put_literal(z, out, KIND_INT, a.rows), n = x.j->args[0], least = -1, most = -1;
    Temp up = put_int(z, out, OP_add, n, put_literal(z, out, KIND_INT, a.rows - 1));
    Stmt *j = put_loop(z, out, x.j->dst, put_int(z, out, OP_idiv, up, rows));
    Temp first = put_int(z, j->body, OP_mul, j->dst, rows), last = put_int(z, j->body, OP_sub, n, put_literal(z, j->body, KIND_INT, 1));
    for (int r = 0; r < a.rows; r++) {
        Temp row = r ? put_int(z, j->body, OP_add, first, put_literal(z, j->body, KIND_INT, r)) : first;
        a.row[r] = r ? put_int(z, j->body, OP_min, row, last) : row;
        a.length[r] = again(z, &x, j->body, a.row[r], -1, x.l->args[0]);
        if (r) {
            Temp there = put_op(z, j->body, KIND_BOOL, OP_lt, row, n), none = put_literal(z, j->body, KIND_INT, 0);
            a.length[r] = put(z, j->body, ST_SELECT, fresh(z, (TempInfo){.kind = KIND_INT}), 3, (Temp[]){there, a.length[r], none})->dst;
        }
        least = r ? put_int(z, j->body, OP_min, least, a.length[r]) : a.length[r];
        most = r ? put_int(z, j->body, OP_max, most, a.length[r]) : a.length[r];
    }
    Temp columns = put_literal(z, j->body, KIND_INT, COLUMNS);
    Temp patches = put_int(z, j->body, OP_idiv, put_int(z, j->body, OP_add, most, put_literal(z, j->body, KIND_INT, COLUMNS - 1)), columns);
    Temp end = put_int(z, j->body, OP_sub, most, put_literal(z, j->body, KIND_INT, 1));
    Stmt *l = put_loop(z, j->body, x.l->dst, patches);
    Temp column = put_int(z, l->body, OP_mul, l->dst, columns);
    for (int k = 0; k < COLUMNS; k++) {
        a.place[k] = k ? put_int(z, l->body, OP_add, column, put_literal(z, l->body, KIND_INT, k)) : column;
        a.column[k] = k ? put_int(z, l->body, OP_min, a.place[k], end) : column;
    }
    put_fetches(z, &x, &a, l->body, large, next);
    put_sums(z, &x, &a, l->body, u, v);
    put_additions(z, &x, &a, l->body, least);
}

static void split_products(Tiler *z, Stmt *c, Stmt *p) {
    for (int i = 0; i < p->body->stmts.len; i++) {
        Nest x = {.c = c, .p = p, .j = p->body->stmts.data[i]};
        if (!nest_is_plain(x.j) || x.j->few) continue;
        for (int k = 0; k < x.j->body->stmts.len; k++) {
            x.l = x.j->body->stmts.data[k];
            if (nest_is_plain(x.l) && !x.l->few && find_product(z, &x)) split_product(z, &x);
        }
    }
}

static void put_heavy(Tiler *z, Stmt *c) {
    Stmt *around[MOST_INSIDE] = {c};
    Block *body = c->body;
    c->outer = true;
    c->body = ARENA_NEW(z->arena, Block);
    vec_push(&z->tile->stmts, c);
    Stmt *p = put_loop(z, c->body, z->loop->dst, z->count);
    block_free(p->body);
    p->body = body; // arrays that are new in it still are
    access_wide(z, body, p->dst, 1, around, true);
    fill_needs(z, body, p->dst);
    split_products(z, c, p);
}

// ---- loops

static void put_rows(Tiler *z, const Widened *w) {
    Temp index[RANK_MAX], to[RANK_MAX];
    int n = 0;
    put_zeros(z, z->tile, 1, (Buf *[]){w->to});
    Stmt *p = put_loop(z, z->tile, z->loop->dst, z->count);
    Block *body = p->body;
    Temp i = put_int(z, body, OP_add, z->base, p->dst);
    for (int d = 0; d < w->from->rank; d++) {
        index[d] = i;
        if (d == w->at) continue;
        Stmt *s = put_loop(z, body, z->loop->dst, w->from->extent[d]);
        z->tree->temps.data[s->dst].name = NULL;
        index[d] = to[n++] = s->dst, body = s->body;
    }
    to[n] = p->dst;
    put_store(z, body, w->to, put_load(z, body, (Buf *)w->from, index), to);
}

static void put_wide(Tiler *z) {
    for (int k = 0; k < z->wide.len; k++) {
        Widened *w = &z->wide.data[k];
        Temp extent[RANK_MAX];
        int n = 0;
        for (int d = 0; d < w->from->rank; d++)
            if (d != w->at) extent[n++] = w->from->extent[d];
        w->to = put_buf(z, z->tile, w->from->kind, n, extent);
        w->to->name = w->from->where == BUF_TEMP ? w->from->name : NULL;
        if (w->at >= 0) put_rows(z, w);
    }
    for (int k = 0; k < z->waiting.len; k++) z->waiting.data[k].buf = put_buf(z, z->tile, z->tree->temps.data[z->waiting.data[k].temp].kind, 0, NULL);
}

static bool is_wide(const Tiler *z, const Buf *b) {
    for (int k = 0; k < z->wide.len; k++)
        if (z->wide.data[k].from == b) return true;
    return false;
}

// Do tiles pay? They do if matrices that are added to are not small, or if all of those that are read are more than the cache has
// room for. -1: that is known not to be so.
static Temp put_worth(Tiler *z, Block *to) {
    int64_t known, least = z->added ? LEAST : z->cache / kind_size(z->matrix->kind);
    Temp count = put_count(z, to, z->matrix, z->added ? z->which : -1, &known);
    if (known >= 0 && known <= least) return -1;
    return put_op(z, to, KIND_BOOL, OP_lt, put_literal(z, to, KIND_INT, least), count);
}

// The loop as it is, for where tiles do not pay.
static void put_copy(Tiler *z, Block *to) {
    Stmt *copy = tree_clone_apart(z->arena, z->tree, z->loop, to);
    vec_push(&to->stmts, copy);
    map_put(&z->seen, copy, copy);
}

static int tile_size(const Tiler *z) {
    bool much = false;
    for (int k = 0; k < z->wide.len; k++) much |= z->wide.data[k].at < 0 && z->wide.data[k].from->rank > 1;
    return much ? z->most : MORE * z->most;
}

static void build(Tiler *z, int at, Temp worth, const Block *condition) {
    Temp n = z->loop->args[0];
    Stmt *branch = tree_stmt(z->arena, ST_IF, -1, 1, &worth, z->loop->span);
    branch->body = ARENA_NEW(z->arena, Block), branch->other = ARENA_NEW(z->arena, Block);
    put_copy(z, branch->other);
    int size = tile_size(z);
    z->size = put_literal(z, &z->before, KIND_INT, size);
    Temp up = put_int(z, &z->before, OP_add, n, put_literal(z, &z->before, KIND_INT, size - 1));
    Temp tiles = put_int(z, &z->before, OP_idiv, up, z->size);
    Stmt *loop = put_loop(z, branch->body, z->loop->dst, tiles);
    loop->outer = true;
    z->tile = loop->body;
    z->base = put_int(z, z->tile, OP_mul, loop->dst, z->size);
    z->count = put_int(z, z->tile, OP_min, put_int(z, z->tile, OP_sub, n, z->base), z->size);
    put_wide(z);
    for (int i = 0; i < z->n; i++)
        if (body_of(z)[i]->kind == ST_NEW && !is_wide(z, body_of(z)[i]->buf)) vec_push(&z->before.stmts, body_of(z)[i]);
    for (int part = 0; part < z->parts; part++) {
        Stmt *c = heavy_loop(z, part);
        if (c) put_heavy(z, c);
        else put_light(z, part);
    }
    for (int i = 0; i < z->before.stmts.len; i++) block_insert(branch->body, i, z->before.stmts.data[i]);
    vec_free(&z->before.stmts);
    z->around->stmts.data[at] = branch;
    for (int i = 0; i < condition->stmts.len; i++) block_insert(z->around, at + i, condition->stmts.data[i]);
}

static void explain_tile(const Tiler *z) {
    const char *name = z->tree->temps.data[z->loop->dst].name;
    explain(z->tree->func->ir->explain, EXPLAIN_SCHEDULE, z->loop->span, "loop over `%s`: tiles of %d iterations, for each of which the matrices of loops inside are read once",
            name ? name : "i", tile_size(z));
}

// Do attributes say how the loops inside are to run?
static bool has_wishes(const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->wishes || has_wishes(s->body) || has_wishes(s->other)) return true;
    }
    return false;
}

static bool tile(Tiler *z, Block *block, int at) {
    if (map_get(&z->seen, block->stmts.data[at])) return false;
    z->loop = block->stmts.data[at], z->around = block, z->n = z->loop->body->stmts.len;
    z->waiting.len = z->wide.len = 0, z->matrix = NULL, z->before = (Block){0};
    const Stmt *length = def_of(z, z->loop->args[0]);
    Stmt *around[MOST_INSIDE];
    bool is_short = z->loop->few || (length && length->kind == ST_LIT && length->u.num < 2 * z->most);
    if (z->loop->outer || !nest_is_plain(z->loop) || has_wishes(z->loop->body) || is_short) return false;
    bool lanes = false;
    model_best(&z->m, z->loop, &lanes);
    if (!lanes) return false;
    if (!iter_look(&z->m.it, z->loop, true) || z->m.it.scans.len) return iter_forget(&z->m.it), false;
    survey(z);
    bool good = divide(z);
    while (good && join(z)) {
        forget(z), survey(z);
        good = iter_look(&z->m.it, z->loop, true) && divide(z);
    }
    good = good && settle_scalars(z) && settle_arrays(z);
    if (good) {
        for (int part = 0; part < z->parts; part++) {
            Stmt *c = around[0] = heavy_loop(z, part);
            if (c) find_rows(z, c->body, 1, around);
        }
        Block condition = {0};
        Temp worth = put_worth(z, &condition);
        good = worth >= 0;
        if (good) explain_tile(z), build(z, at, worth, &condition);
        vec_free(&condition.stmts);
    }
    forget(z);
    iter_forget(&z->m.it);
    return good;
}

static bool tile_all(Tiler *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->outer || s->wishes) continue; // attributes come first
        if (s->kind == ST_FOR && tile(z, block, i)) return true;
        z->m.depth += s->kind == ST_FOR || s->kind == ST_LOOP;
        if (tile_all(z, s->body) || tile_all(z, s->other)) return true;
        z->m.depth -= s->kind == ST_FOR || s->kind == ST_LOOP;
    }
    return false;
}

void lanes_tile(Arena *arena, Tree *tree, const LaneOptions *opt) {
    Map seen = {0};
    int registers = opt->machine->registers ? (int)opt->machine->registers : opt->registers;
    bool any = false;
    for (bool more = !opt->precise; more;) {
        Tiler z = {.arena = arena, .tree = tree, .known = tree->temps.len, .seen = seen};
        z.m = (Model){.machine = opt->machine, .roots = opt->roots, .shared = opt->shared, .masks = opt->width >= LANES_MASKED, .silent = true, .always = opt->always};
        z.rows = registers >= MANY_REGISTERS ? MOST_ROWS : ROWS, z.most = opt->width < LONG ? TILE : TILE_OF_LONG;
        z.cache = (int64_t)opt->machine->cache;
        iter_init(&z.m.it, arena, tree, false);
        model_find_windows(&z.m);
        more = tile_all(&z, tree->body);
        any |= more;
        seen = z.seen;
        iter_free(&z.m.it);
        map_free(&z.m.windows), map_free(&z.m.rests);
        vec_free(&z.m.inner), vec_free(&z.m.taken), vec_free(&z.waiting), vec_free(&z.wide);
    }
    map_free(&seen);
    if (any) lower_remove_dead(arena, tree);
}
