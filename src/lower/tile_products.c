// Products in tiles: what each iteration of a tile adds to a matrix, as the product of a number of a row and one of a column, are
// sums over the tile. Registers hold those of a few rows and of some vectors of columns; the numbers of columns wait in an array,
// side by side:
//
//     for p { s = …; for j { for l { to[c,j,l] += s * u[j,p] * v(l,p) } } }
//
// becomes, with arrays for what an iteration makes once,
//
//     for p { S[p] = s }; for p, l { V[l/4,p,l%4] = S[p] * v(l,p) }
//     for j, l in blocks { c = 0; for p { c += u[j,p] * V[l/4,p,l%4] }; to[c,j,l] += c }
//
// What each iteration adds to a row, a number for each j, are sums over the tile of a few j at a time.
#include "lower/tile.h"

#include <string.h>

// Of the sums that registers hold: rows, and vectors of columns.
enum { TILE_ROWS = 4, REST_ROWS = 2, TILE_VECTORS = 3 };
enum { LARGEST = 1 << 30, MOST_SCALES = 2 };
// What is made again for columns, and of sums: operations at most, of so much each.
enum { MOST_OPS = 8, MOST_OF_SUM = 3, CHEAP = 2 };

typedef struct Nest { // for p { … for j { … for l { to[c,j,l] += u * v } } }
    Stmt *c, *p, *j, *l, *to;
    Temp u;
    const Stmt *v, *row; // row: what loads u, without its scales; NULL: it is stored in `stored`
    Buf *stored;
    Temp scale[MOST_SCALES]; // factors of u that do not depend on j
    int scales;
    int column; // the dimension of the array that is added to whose index is l; -1: its index is made of l
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

static bool is_own(const Stmt *p, const Buf *b) { return b->home == p->body && b->where == BUF_TEMP; }

// ---- values of the loop over p, made again elsewhere

typedef struct Anew {
    Tiler *z;
    const Nest *x;
    Block *to;         // NULL: can they be made?
    Map *known;        // of the loop -> there; temps are their numbers + 1
    bool aside;        // of neighbouring columns, not iterations
    int ops;           // at most
    const Stmt *since; // of the body of the loop over p: the values are those there
} Anew;

static void *key(Temp t) { return (void *)((intptr_t)t + 1); }
static void set_known(Map *known, Temp t, Temp there) { map_put(known, key(t), key(there)); }
static Temp anew(Anew *a, Temp t);

// Is the array not written to from a statement of the body of the loop over p on?
static bool is_settled(const Nest *x, const Stmt *since, const Buf *b) {
    bool after = false;
    for (int i = 0; i < x->p->body->stmts.len; i++) {
        Stmt *s = x->p->body->stmts.data[i];
        after |= s == since;
        if (after && accesses(&(Block){{&s, 1, 1}}, b, false)) return false;
    }
    return true;
}

// The loop in the body that stores all elements of an array, one in each iteration, by its index; *value: what it stores.
static const Stmt *filling_loop(const Stmt *p, const Buf *b, Temp *value) {
    if (b->rank != 1 || accesses(p->body, b, false) != 1) return NULL;
    for (int i = 0; i < p->body->stmts.len; i++) {
        const Stmt *s = p->body->stmts.data[i];
        for (int k = 0; nest_is_plain(s) && s->args[0] == b->extent[0] && k < s->body->stmts.len; k++) {
            const Stmt *store = s->body->stmts.data[k];
            if (store->kind == ST_STORE && store->buf == b && store->args[1] == s->dst) return *value = store->args[0], s;
        }
    }
    return NULL;
}

// An element of an array that an iteration of the tile has for itself: what is stored there.
static Temp element_anew(Anew *a, const Stmt *load) {
    Temp value, index = anew(a, load->args[0]);
    const Stmt *loop = index < 0 ? NULL : filling_loop(a->x->p, load->buf, &value);
    if (!loop) return -1;
    Map known = {0};
    map_put(&known, key(loop->dst), key(index)), map_put(&known, key(a->x->p->dst), map_get(a->known, key(a->x->p->dst)));
    Anew inner = {a->z, a->x, a->to, &known, a->aside, a->ops, loop};
    Temp t = anew(&inner, value);
    a->ops = inner.ops;
    map_free(&known);
    return t;
}

static Temp load_anew(Anew *a, const Stmt *s) {
    Tiler *z = a->z;
    if (is_own(a->x->p, s->buf)) return s->nargs == 1 ? element_anew(a, s) : -1;
    if (!is_settled(a->x, a->since, s->buf)) return -1;
    Temp args[RANK_MAX + 1];
    for (int k = 0; k < s->nargs; k++)
        if ((args[k] = anew(a, s->args[k])) < 0) return -1;
    for (int k = 0; k < z->wide.len && a->aside; k++) { // a copy of rows: where they are
        const Widened *w = &z->wide.data[k];
        if (w->to != s->buf || w->at < 0) continue;
        Temp i = a->to ? build_int(&z->b, a->to, OP_add, z->base, args[s->nargs - 1]) : 0, index[RANK_MAX];
        for (int d = 0, n = 0; d < w->from->rank; d++) index[d] = d == w->at ? i : args[n++];
        return a->to ? build_load(&z->b, a->to, (Buf *)w->from, index) : 0;
    }
    return a->to ? build_load(&z->b, a->to, s->buf, args) : 0;
}

// A number of an iteration of the tile, which is kept for it.
static Temp kept_anew(Anew *a, Temp t) {
    Tiler *z = a->z;
    const Stmt *loop = a->x->p;
    Temp p = anew(a, loop->dst);
    if (p < 0 || !a->to) return p;
    Buf *kept = NULL;
    for (int i = 0; i < loop->body->stmts.len; i++) {
        const Stmt *s = loop->body->stmts.data[i];
        bool stores = s->kind == ST_STORE && s->args[0] == t && s->nargs == 2 && s->args[1] == loop->dst;
        if (stores && accesses(loop->body, s->buf, false) == 1) kept = s->buf;
    }
    if (!kept) {
        kept = tile_buf(z, a->x->c->body, z->b.tree->temps.data[t].kind, 0, NULL);
        build_store(&z->b, loop->body, ST_STORE, kept, t, &loop->dst);
    }
    return build_load(&z->b, a->to, kept, &p);
}

static bool is_in(const Block *b, const Stmt *s) {
    for (int i = 0; i < b->stmts.len; i++)
        if (b->stmts.data[i] == s) return true;
    return false;
}

// The value t where the indices are what is known; -1: it cannot be made there.
static Temp anew(Anew *a, Temp t) {
    intptr_t there = (intptr_t)map_get(a->known, key(t));
    if (there) return (Temp)(there - 1);
    if (t == a->x->p->dst) return -1;
    const Stmt *s = find_def(a->x->p->body, t);
    if (!s) return t;
    const Kind kind = a->z->b.tree->temps.data[t].kind;
    Temp made = -1, args[3];
    if (s->kind == ST_LOAD) {
        made = load_anew(a, s);
    } else if (kind_is_float(kind) && s->kind != ST_LIT && is_in(a->x->p->body, s)) {
        made = kept_anew(a, t);
    } else if (s->kind == ST_LIT || s->kind == ST_OP || s->kind == ST_CONV || s->kind == ST_SELECT) {
        if (kind != KIND_INT && s->kind == ST_OP && (op_info[s->op].cost > CHEAP || a->ops-- <= 0)) return -1;
        for (int k = 0; k < s->nargs; k++)
            if ((args[k] = anew(a, s->args[k])) < 0) return -1;
        Stmt *copy =
            a->to ? build_stmt(&a->z->b, a->to, s->kind, build_temp(&a->z->b, a->z->b.tree->temps.data[t]), s->nargs, args) : NULL;
        if (copy) copy->op = s->op, copy->u = s->u;
        made = copy ? copy->dst : 0;
    }
    if (made >= 0 && a->to) set_known(a->known, t, made);
    return made;
}

// The value in `to` (NULL: whether there can be one), with these indices of j, l and p; -1: none of them.
static Temp value_at(Tiler *z, const Nest *x, Block *to, Temp j, Temp l, Temp p, int ops, Temp t) {
    Map known = {0};
    if (j >= 0) set_known(&known, x->j->dst, j);
    if (l >= 0) set_known(&known, x->l->dst, l);
    if (p >= 0) set_known(&known, x->p->dst, p);
    Anew a = {z, x, to, &known, l >= 0, ops, x->j};
    Temp made = anew(&a, t);
    map_free(&known);
    return made;
}

static bool has_value(Tiler *z, const Nest *x, bool j, bool l, bool p, int ops, Temp t) {
    return value_at(z, x, NULL, j ? 0 : -1, l ? 0 : -1, p ? 0 : -1, ops, t) >= 0;
}

// ---- what there is

static bool is_invariant(const Tiler *z, const Nest *x, Temp t) {
    return t != x->c->dst && t != x->p->dst && t != z->base && t != z->count && !defines(x->p->body, t);
}

// Is it a sum of j, literals, and what is known before the tiles? It is greatest at an end, then.
static bool is_affine(const Tiler *z, const Nest *x, Temp t) {
    if (t == x->j->dst || is_invariant(z, x, t)) return true;
    const Stmt *s = find_def(x->p->body, t);
    if (!s || (s->kind != ST_LIT && s->kind != ST_OP)) return false;
    return s->kind == ST_LIT ||
           ((s->op == OP_add || s->op == OP_sub) && is_affine(z, x, s->args[0]) && is_affine(z, x, s->args[1]));
}

// The factors of u: negation and numbers that do not depend on j, and what loads the rest, if that is an element for j and p.
static void find_row(Tiler *z, Nest *x) {
    Temp t = x->u;
    const Stmt *s;
    bool negative = x->negative;
    int n = 0;
    while ((s = find_def(x->j->body, t)) && s->kind == ST_OP) {
        int inner = s->op == OP_mul && !defines(x->j->body, s->args[0]);
        if (s->op == OP_neg) negative = !negative;
        else if (s->op != OP_mul || defines(x->j->body, s->args[1 - inner]) || n == MOST_SCALES) return;
        else x->scale[n++] = s->args[1 - inner];
        t = s->args[s->op == OP_neg ? 0 : inner];
    }
    if (!s || s->kind != ST_LOAD || !s->nargs || is_own(x->p, s->buf) || s->args[s->nargs - 1] != x->p->dst) return;
    if (!has_value(z, x, true, false, true, 0, s->dst)) return;
    for (int i = 0; i < n; i++)
        if (!has_value(z, x, false, false, true, MOST_OPS, x->scale[i])) return;
    x->row = s, x->scales = n, x->negative = negative;
}

// Is an array added to, in one dimension of which the index is made of l? Notes which one, if it is l.
static bool find_places(Tiler *z, Nest *x) {
    const Buf *b = x->to->buf;
    int columns = 0;
    if (!kind_is_float(b->kind) || is_own(x->p, b) || accesses(z->loop->body, b, true) != 1) return false;
    x->column = -1;
    for (int k = 1; k < x->to->nargs; k++) {
        if (!has_value(z, x, true, true, false, 0, x->to->args[k])) return false;
        columns += !has_value(z, x, true, false, false, 0, x->to->args[k]);
        if (x->to->args[k] == x->l->dst) x->column = k - 1;
    }
    return columns == 1;
}

static bool find_product(Tiler *z, Nest *x) {
    for (int i = 0; i < x->l->body->stmts.len; i++) {
        Stmt *s = x->l->body->stmts.data[i];
        if (s->kind == ST_ADDTO && !x->to) x->to = s;
        else if (s->kind != ST_LIT && s->kind != ST_OP && s->kind != ST_LOAD) return false;
    }
    if (!x->to || !find_places(z, x)) return false;
    const Stmt *by = find_def(x->l->body, x->to->args[0]);
    x->negative = by && by->kind == ST_OP && by->op == OP_neg;
    if (x->negative) by = find_def(x->l->body, by->args[0]);
    if (!by || by->kind != ST_OP || by->op != OP_mul) return false;
    for (int k = 0; k < 2; k++) {
        x->u = by->args[k], x->v = find_def(x->l->body, by->args[1 - k]);
        if (!defines(x->l->body, x->u) && x->v && x->v->kind == ST_LOAD) break;
        if (k) return false;
    }
    if (!is_affine(z, x, x->l->args[0]) || !is_invariant(z, x, x->j->args[0])) return false;
    find_row(z, x);
    return true;
}

// If columns cannot be made again, their array becomes one with an index for the iteration of the tile. Is there any?
static bool find_columns(Tiler *z, const Nest *x) {
    if (has_value(z, x, false, true, true, MOST_OPS, x->v->dst)) return true;
    const Buf *b = x->v->buf;
    if (!is_own(x->p, b) || b->rank + 1 > RANK_MAX || tile_has_whole(x->p->body, b) || !is_settled(x, x->j, b)) return false;
    for (int k = 0; k < b->rank; k++)
        if (tile_makes(z, b->extent[k]) || !has_value(z, x, false, true, false, 0, x->v->args[k])) return false;
    vec_push(&z->wide, ((Widened){.from = b, .at = -1, .to = tile_buf(z, x->c->body, b->kind, b->rank, b->extent)}));
    Stmt *around[MOST_INSIDE];
    tile_access_wide(z, x->p->body, x->p->dst, 0, around, false);
    return true;
}

// The product of the extents of an array, but for one (-1: of all); *known: that, or -1 if it is not known here.
Temp tile_count(Tiler *z, Block *to, const Buf *b, int but, int64_t *known) {
    Temp count = -1;
    *known = 1;
    for (int k = 0; k < b->rank; k++) {
        const Stmt *s = tile_def(z, b->extent[k]);
        if (k == but) continue;
        *known = *known >= 0 && s && s->kind == ST_LIT && s->u.num < LARGEST ? *known * s->u.num : -1;
        if (*known > LARGEST) *known = LARGEST;
        count = count < 0 ? b->extent[k] : build_int(&z->b, to, OP_mul, count, b->extent[k]);
    }
    return count;
}

static Temp put_number(Tiler *z, Block *to, int64_t value) { return build_literal(&z->b, to, KIND_INT, value); }
static Temp put_int(Tiler *z, Block *to, Op op, Temp a, Temp b) { return build_int(&z->b, to, op, a, b); }
static Temp put_with(Tiler *z, Block *to, Op op, Temp a, int64_t value) { return put_int(z, to, op, a, put_number(z, to, value)); }
static Temp put_plus(Tiler *z, Block *to, Temp a, int64_t value) { return value ? put_with(z, to, OP_add, a, value) : a; }
static Temp put_parts(Tiler *z, Block *to, Temp n, int of) { return put_with(z, to, OP_idiv, put_plus(z, to, n, of - 1), of); }
static Temp put_less(Tiler *z, Block *to, Temp a, Temp b) { return build_op(&z->b, to, KIND_BOOL, OP_lt, a, b); }

static Temp put_cell(Tiler *z, Block *to, Kind kind, Temp start) {
    return build_stmt(&z->b, to, ST_CELL, build_temp(&z->b, (TempInfo){.kind = kind, .cell = true}), 1, &start)->dst;
}

static Temp put_get(Tiler *z, Block *to, Kind kind, Temp cell) {
    return build_stmt(&z->b, to, ST_GET, build_temp(&z->b, (TempInfo){.kind = kind}), 1, &cell)->dst;
}

static void put_more(Tiler *z, Block *to, Kind kind, Temp cell, Temp more) {
    Temp sum = build_op(&z->b, to, kind, OP_add, put_get(z, to, kind, cell), more);
    build_stmt(&z->b, to, ST_SET, cell, 1, &sum);
}

static Temp put_select(Tiler *z, Block *to, Kind kind, Temp cond, Temp a, Temp b) {
    return build_stmt(&z->b, to, ST_SELECT, build_temp(&z->b, (TempInfo){.kind = kind}), 3, (Temp[]){cond, a, b})->dst;
}

static Stmt *put_outer(Tiler *z, Block *to, Temp like, Temp count) {
    Stmt *s = build_loop(&z->b, to, like, count);
    s->outer = true;
    return s;
}

// ---- products

// Rows and columns that are asked for, and what becomes of their products.
typedef struct Patch {
    Kind kind;
    int lanes, width; // of a loop over the columns of a vector (Stmt.lanes), and how many these are
    Temp most;        // columns that rows have at most
    int rows;         // how many: the last one stands for those that there are not, which have no columns
    Temp row[TILE_ROWS], length[TILE_ROWS];
    Temp least, longest, shortest; // of the lengths; of those of rows that there are
    Temp first, vector;            // the first column, and the number of its vector
    Buf *columns;
} Patch;

// Machines with short vectors have few registers, and other instructions for products and sums: two vectors are one then.
static bool is_short(const Tiler *z) { return z->width < LANES_MASKED; }

static void choose_width(const Tiler *z, Patch *a, Kind kind) {
    a->kind = kind, a->lanes = (int)(kind_size(KIND_DOUBLE) / kind_size(kind)) * (is_short(z) ? 2 : 1);
    a->width = a->lanes * z->width;
}

static Stmt *put_lanes(Tiler *z, const Patch *a, Block *to) {
    Stmt *s = build_loop_named(&z->b, to, NULL, put_number(z, to, a->width));
    s->lanes = a->lanes;
    return s;
}

// The number of u for a row.
static Temp put_row(Tiler *z, const Nest *x, Block *to, Temp row, Temp p) {
    return x->row ? value_at(z, x, to, row, -1, p, 0, x->row->dst) : build_load(&z->b, to, x->stored, (Temp[]){row, p});
}

// Where a vector begins whose first column is `first`: earlier, so that it ends with the array that is added to, if that is known,
// and has so many columns.
static Temp put_start(Tiler *z, const Nest *x, const Patch *a, Block *to, Temp first) {
    if (x->column < 0) return first;
    Temp last = put_plus(z, to, x->to->buf->extent[x->column], -a->width);
    return put_int(z, to, OP_min, first, put_int(z, to, OP_max, last, put_number(z, to, 0)));
}

// The columns of a vector, for all iterations: scaled by what u need not be.
static void put_vector(Tiler *z, const Nest *x, const Patch *a, Block *to, Temp vector, Temp start, bool whole) {
    Stmt *p = put_outer(z, to, x->p->dst, z->count), *lane = put_lanes(z, a, p->body);
    Block *body = lane->body;
    Temp column = put_int(z, body, OP_add, start, lane->dst);
    if (!whole) column = put_int(z, body, OP_min, column, put_plus(z, body, a->most, -1));
    Temp v = value_at(z, x, body, -1, column, p->dst, MOST_OPS, x->v->dst);
    for (int i = 0; i < x->scales; i++)
        v = build_op(&z->b, body, a->kind, OP_mul, v, value_at(z, x, body, -1, -1, p->dst, MOST_OPS, x->scale[i]));
    if (x->negative) v = build_op(&z->b, body, a->kind, OP_neg, v, -1);
    build_store(&z->b, body, ST_STORE, a->columns, v, (Temp[]){vector, p->dst, lane->dst});
}

static void put_columns(Tiler *z, const Nest *x, const Patch *a, Block *to, Temp vectors) {
    Stmt *b = put_outer(z, to, x->l->dst, vectors);
    Temp start = put_start(z, x, a, b->body, put_with(z, b->body, OP_mul, b->dst, a->width)),
         end = put_plus(z, b->body, start, a->width - 1);
    Stmt *branch = build_if(&z->b, b->body, put_less(z, b->body, end, a->most), true);
    put_vector(z, x, a, branch->body, b->dst, start, true);
    put_vector(z, x, a, branch->other, b->dst, start, false);
}

static void put_addition(Tiler *z, const Nest *x, Block *to, Temp row, Temp column, Temp sum) {
    Temp args[RANK_MAX];
    for (int d = 1; d < x->to->nargs; d++) args[d - 1] = value_at(z, x, to, row, column, -1, 0, x->to->args[d]);
    build_store(&z->b, to, ST_ADDTO, x->to->buf, sum, args);
}

// May numbers be added to all columns of a vector? They may if the array has so many, and each row is one of it.
static Temp put_room(Tiler *z, const Nest *x, const Patch *a, Block *to) {
    if (x->column < 0) return build_literal(&z->b, to, KIND_BOOL, 0);
    Temp wide = put_less(z, to, put_number(z, to, a->width - 1), x->to->buf->extent[x->column]);
    return build_op(&z->b, to, KIND_BOOL, OP_and, wide, put_less(z, to, put_number(z, to, 0), a->shortest));
}

// Adds the sums of vector k, of which some rows have only some columns, and the vector before may have others: to the rest 0, or
// nothing.
static void put_ends(Tiler *z, const Nest *x, const Patch *a, Block *to, int k, Temp lane, const Temp *sum) {
    Temp first = put_plus(z, to, a->first, k * a->width), column = put_int(z, to, OP_add, put_start(z, x, a, to, first), lane);
    Temp zero = build_literal(&z->b, to, a->kind, 0), from = build_op(&z->b, to, KIND_BOOL, OP_le, first, column);
    Stmt *branch = build_if(&z->b, to, put_room(z, x, a, to), true);
    for (int r = 0; r < a->rows; r++) {
        Temp some = build_op(&z->b, branch->body, KIND_BOOL, OP_and, from, put_less(z, branch->body, column, a->length[r]));
        put_addition(z, x, branch->body, a->row[r], column, put_select(z, branch->body, a->kind, some, sum[r], zero));
        some = build_op(&z->b, branch->other, KIND_BOOL, OP_and, from, put_less(z, branch->other, column, a->length[r]));
        put_addition(z, x, build_if(&z->b, branch->other, some, false)->body, a->row[r], column, sum[r]);
    }
}

// The sums of a few rows and so many vectors of columns.
static void put_patch(Tiler *z, const Nest *x, const Patch *a, Block *to, int vectors) {
    Stmt *lane = put_lanes(z, a, to);
    Temp cell[TILE_VECTORS][TILE_ROWS], sum[TILE_VECTORS][TILE_ROWS], column[TILE_VECTORS], v[TILE_VECTORS];
    Temp none = build_literal(&z->b, lane->body, a->kind, 0);
    for (int k = 0; k < vectors; k++)
        for (int r = 0; r < a->rows; r++) cell[k][r] = put_cell(z, lane->body, a->kind, none);
    Stmt *p = build_loop(&z->b, lane->body, x->p->dst, z->count);
    for (int k = 0; k < vectors; k++)
        v[k] = build_load(&z->b, p->body, a->columns, (Temp[]){put_plus(z, p->body, a->vector, k), p->dst, lane->dst});
    for (int r = 0; r < a->rows; r++) {
        Temp u = put_row(z, x, p->body, a->row[r], p->dst);
        for (int k = 0; k < vectors; k++)
            put_more(z, p->body, a->kind, cell[k][r], build_op(&z->b, p->body, a->kind, OP_mul, u, v[k]));
    }
    for (int k = 0; k < vectors; k++) {
        column[k] = put_int(z, lane->body, OP_add, put_plus(z, lane->body, a->first, k * a->width), lane->dst);
        for (int r = 0; r < a->rows; r++) sum[k][r] = put_get(z, lane->body, a->kind, cell[k][r]);
    }
    Stmt *branch = build_if(&z->b, lane->body,
                            put_less(z, lane->body, put_plus(z, lane->body, a->first, vectors * a->width - 1), a->least), true);
    for (int r = 0; r < a->rows; r++)
        for (int k = 0; k < vectors; k++) put_addition(z, x, branch->body, a->row[r], column[k], sum[k][r]);
    for (int k = 0; k < vectors; k++) put_ends(z, x, a, branch->other, k, lane->dst, sum[k]);
}

// Of the matrix of the next iteration of c, which this part will be added to: the elements at the place of the patch.
static void put_fetches(Tiler *z, const Nest *x, const Patch *a, Block *to, Temp large, Temp next, int vectors) {
    bool found = false;
    for (int d = 1; d < x->to->nargs; d++) found |= x->to->args[d] == x->c->dst;
    if (!found) return;
    Stmt *branch = build_if(&z->b, to, large, false);
    for (int r = 0; r < a->rows; r++) {
        Temp args[RANK_MAX + 1] = {put_number(z, branch->body, vectors * a->width)};
        for (int d = 1; d < x->to->nargs; d++)
            args[d] = x->to->args[d] == x->c->dst ? next : value_at(z, x, branch->body, a->row[r], a->first, -1, 0, x->to->args[d]);
        build_stmt(&z->b, branch->body, ST_FETCH, -1, x->to->nargs, args)->buf = x->to->buf;
    }
}

// Has the array more elements than the cache has room for?
static Temp put_large(Tiler *z, Block *to, const Buf *b) {
    int64_t known;
    Temp count = tile_count(z, to, b, -1, &known);
    return put_less(z, to, put_number(z, to, z->cache / kind_size(b->kind)), count);
}

// Rows from number `first` on, and how many columns they have.
static void put_rows(Tiler *z, const Nest *x, Patch *a, Block *to, Temp first) {
    Temp n = x->j->args[0], last = put_plus(z, to, n, -1), none = put_number(z, to, 0);
    for (int r = 0; r < a->rows; r++) {
        Temp row = put_plus(z, to, first, r);
        a->row[r] = r ? put_int(z, to, OP_min, row, last) : row;
        a->length[r] = value_at(z, x, to, a->row[r], -1, -1, 0, x->l->args[0]);
        a->shortest = r ? put_int(z, to, OP_min, a->shortest, a->length[r]) : a->length[r];
        if (r) a->length[r] = put_select(z, to, KIND_INT, put_less(z, to, row, n), a->length[r], none);
        a->least = r ? put_int(z, to, OP_min, a->least, a->length[r]) : a->length[r];
        a->longest = put_int(z, to, OP_max, r ? a->longest : none, a->length[r]);
    }
}

// So many patches of so many vectors, from a number of vectors on; the number after them.
static Temp put_patches(Tiler *z, const Nest *x, Patch *a, Block *to, Temp from, Temp count, int vectors, Temp large, Temp next) {
    Stmt *l = put_outer(z, to, x->l->dst, count);
    a->vector = put_int(z, l->body, OP_add, from, put_with(z, l->body, OP_mul, l->dst, vectors)),
    a->first = put_with(z, l->body, OP_mul, a->vector, a->width);
    put_fetches(z, x, a, l->body, large, next, vectors);
    put_patch(z, x, a, l->body, vectors);
    return put_int(z, to, OP_add, from, put_with(z, to, OP_mul, count, vectors));
}

// All columns of some rows: three vectors at a time, or two at the end, but one if there are no more, whose sums wait for each
// other; or one that is long.
static void put_row_patches(Tiler *z, const Nest *x, Patch *a, Block *to, Temp large, Temp next) {
    Temp n = put_parts(z, to, a->longest, a->width), none = put_number(z, to, 0), one = put_number(z, to, 1);
    if (is_short(z)) {
        put_patches(z, x, a, to, none, n, 1, large, next);
        return;
    }
    Stmt *branch = build_if(&z->b, to, build_op(&z->b, to, KIND_BOOL, OP_eq, n, one), true);
    put_patches(z, x, a, branch->body, none, one, 1, large, next);
    Temp twos = put_with(z, branch->other, OP_irem, put_with(z, branch->other, OP_mul, n, 2), 3);
    Temp rest = put_int(z, branch->other, OP_sub, n, put_with(z, branch->other, OP_mul, twos, 2));
    Temp start = put_patches(z, x, a, branch->other, none, put_with(z, branch->other, OP_idiv, rest, 3), 3, large, next);
    put_patches(z, x, a, branch->other, start, twos, 2, large, next);
}

// So many blocks of so many rows, from row `first` on.
static void put_all_rows(Tiler *z, const Nest *x, Patch *a, Block *to, Temp first, Temp blocks, int rows, Temp large, Temp next) {
    Stmt *j = put_outer(z, to, x->j->dst, blocks);
    a->rows = rows;
    put_rows(z, x, a, j->body, put_int(z, j->body, OP_add, first, put_with(z, j->body, OP_mul, j->dst, rows)));
    put_row_patches(z, x, a, j->body, large, next);
}

// Columns that rows have at most, made before the tiles.
static Temp put_most(Tiler *z, const Nest *x) {
    Block *to = &z->before;
    Temp none = put_number(z, to, 0), last = put_plus(z, to, x->j->args[0], -1);
    Temp of_first = value_at(z, x, to, none, -1, -1, 0, x->l->args[0]),
         of_last = value_at(z, x, to, last, -1, -1, 0, x->l->args[0]);
    Temp most = put_int(z, to, OP_max, put_int(z, to, OP_max, of_first, of_last), none);
    return put_select(z, to, KIND_INT, put_less(z, to, none, x->j->args[0]), most, none);
}

// Where nothing loads u, it is stored.
static void put_stored(Tiler *z, Nest *x) {
    if (x->row) return;
    x->stored = tile_buf(z, x->c->body, z->b.tree->temps.data[x->u].kind, 1, x->j->args);
    int at = 0;
    while (x->j->body->stmts.data[at] != x->l) at++;
    Block store = {0};
    build_store(&z->b, &store, ST_STORE, x->stored, x->u, (Temp[]){x->j->dst, x->p->dst});
    block_insert(x->j->body, at, store.stmts.data[0]);
    vec_free(&store.stmts);
}

static void split_product(Tiler *z, Nest *x) {
    Block *out = x->c->body;
    Patch a = {0};
    choose_width(z, &a, x->to->buf->kind);
    a.most = put_most(z, x);
    put_stored(z, x);
    Temp vectors = put_parts(z, &z->before, a.most, a.width), width = put_number(z, &z->before, a.width);
    a.columns = build_buf(&z->b, &z->before, out, a.kind, 3, (Temp[]){vectors, z->size, width});
    put_columns(z, x, &a, out, vectors);
    Temp large = put_large(z, out, x->to->buf), next = put_plus(z, out, x->c->dst, 1);
    // Of three rows that are left, four are made, of fewer, two.
    Temp whole = put_with(z, out, OP_idiv, put_plus(z, out, x->j->args[0], TILE_ROWS - 1 - REST_ROWS), TILE_ROWS),
         done = put_with(z, out, OP_mul, whole, TILE_ROWS);
    put_all_rows(z, x, &a, out, put_number(z, out, 0), whole, TILE_ROWS, large, next);
    Temp rest = put_parts(z, out, put_int(z, out, OP_sub, x->j->args[0], done), REST_ROWS);
    put_all_rows(z, x, &a, out, done, rest, REST_ROWS, large, next);
}

// ---- sums

static bool find_sum(Tiler *z, Nest *x, int at) {
    x->to = x->j->body->stmts.data[at];
    if (x->to->kind != ST_ADDTO || !kind_is_float(x->to->buf->kind) || x->to->buf->rank < 1) return false;
    if (is_own(x->p, x->to->buf) || accesses(z->loop->body, x->to->buf, true) != 1 || !is_invariant(z, x, x->j->args[0]))
        return false;
    for (int k = 1; k < x->to->nargs; k++)
        if (!has_value(z, x, true, false, false, 0, x->to->args[k])) return false;
    return has_value(z, x, true, false, true, MOST_OF_SUM, x->to->args[0]);
}

// For a few rows from `first` on: the sums over so many iterations.
static void put_sum(Tiler *z, const Nest *x, Block *to, Temp first, Temp count) {
    const Kind kind = x->to->buf->kind;
    Temp n = x->j->args[0], last = put_plus(z, to, n, -1), row[TILE_ROWS], at[TILE_ROWS], cell[TILE_ROWS],
         none = build_literal(&z->b, to, kind, 0);
    for (int r = 0; r < TILE_ROWS; r++) {
        row[r] = put_plus(z, to, first, r), at[r] = r ? put_int(z, to, OP_min, row[r], last) : row[r];
        cell[r] = put_cell(z, to, kind, none);
    }
    Stmt *p = build_loop(&z->b, to, x->p->dst, count);
    p->lanes = 1;
    for (int r = 0; r < TILE_ROWS; r++)
        put_more(z, p->body, kind, cell[r], value_at(z, x, p->body, at[r], -1, p->dst, MOST_OF_SUM, x->to->args[0]));
    for (int r = 0; r < TILE_ROWS; r++) {
        Temp sum = put_get(z, to, kind, cell[r]);
        Block *there = r ? build_if(&z->b, to, put_less(z, to, row[r], n), false)->body : to;
        put_addition(z, x, there, at[r], -1, sum);
    }
}

static void split_sum(Tiler *z, Nest *x) {
    Stmt *branch = build_if(&z->b, x->c->body, put_less(z, x->c->body, z->count, z->size), true);
    for (int k = 0; k < 2; k++) {
        Block *to = k ? branch->other : branch->body;
        Stmt *j = put_outer(z, to, x->j->dst, put_parts(z, to, x->j->args[0], TILE_ROWS));
        put_sum(z, x, j->body, put_with(z, j->body, OP_mul, j->dst, TILE_ROWS), k ? z->size : z->count);
    }
}

void tile_split_products(Tiler *z, Stmt *c, Stmt *p) {
    for (int i = 0; i < p->body->stmts.len; i++) {
        Stmt *j = p->body->stmts.data[i];
        if (!nest_is_plain(j) || j->few) continue;
        for (int k = 0; k < j->body->stmts.len; k++) {
            Nest x = {.c = c, .p = p, .j = j, .l = j->body->stmts.data[k]};
            bool product = nest_is_plain(x.l) && !x.l->few && find_product(z, &x) && find_columns(z, &x);
            if (product) split_product(z, &x);
            else if (find_sum(z, &x, k)) split_sum(z, &x);
            else continue;
            for (k = 0; j->body->stmts.data[k] != (product ? x.l : x.to);) k++;
            block_delete(j->body, k--);
        }
    }
}
