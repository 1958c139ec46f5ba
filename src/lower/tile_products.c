// Products in tiles: what each iteration of a tile adds to a matrix, as the product of a number of a row and one of a column, are sums over
// the tile, which registers hold for a few rows and columns.
#include "lower/tile.h"

#include <string.h>

enum { COLUMNS = 4, LARGEST = 1 << 30 };

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
    if ((s->kind != ST_LIT && s->kind != ST_OP) || z->b.tree->temps.data[t].kind != KIND_INT) return -1;
    Temp args[3];
    for (int k = 0; k < s->nargs; k++)
        if ((args[k] = again(z, x, b, j, l, s->args[k])) < 0) return -1;
    if (!b) return t;
    Stmt *copy = build_stmt(&z->b, b, s->kind, build_temp(&z->b, z->b.tree->temps.data[t]), s->nargs, args);
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
    if (!own || b->rank + 1 > RANK_MAX || tile_has_whole(x->p->body, b)) return NULL;
    for (int k = 0; k < b->rank; k++)
        if (tile_makes(z, b->extent[k])) return NULL;
    Stmt *around[MOST_INSIDE];
    vec_push(&z->wide, ((Widened){.from = b, .at = -1, .to = tile_buf(z, x->c->body, b->kind, b->rank, b->extent)}));
    tile_access_wide(z, x->p->body, x->p->dst, 0, around, false);
    return x->v->buf;
}

// Zeros for the iterations that the last tile lacks, before what comes next in the block.
void tile_zeros(Tiler *z, Block *to, int n, Buf *const *bufs) {
    Temp partial = build_op(&z->b, to, KIND_BOOL, OP_lt, z->count, z->size);
    Stmt *branch = build_stmt(&z->b, to, ST_IF, -1, 1, &partial);
    branch->body = ARENA_NEW(z->b.arena, Block);
    for (int i = 0; i < n; i++) {
        Temp zero = build_literal(&z->b, branch->body, bufs[i]->kind, 0);
        build_stmt(&z->b, branch->body, ST_FILL, -1, 1, &zero)->buf = bufs[i];
    }
}

// u as an array in the loop over p, in the place of the loop over l; NULL if v cannot be one.
static Buf *put_factors(Tiler *z, Nest *x, Buf **v) {
    *v = wide_factor(z, x);
    if (!*v) return NULL;
    Buf *u = tile_buf(z, x->c->body, z->b.tree->temps.data[x->u].kind, 1, x->j->args);
    Block store = {0};
    Temp value = x->negative ? build_op(&z->b, &store, u->kind, OP_neg, x->u, -1) : x->u;
    build_store(&z->b, &store, ST_STORE, u, value, (Temp[]){x->j->dst, x->p->dst});
    int at = 0;
    while (x->j->body->stmts.data[at] != x->l) at++;
    x->j->body->stmts.data[at] = vec_last(&store.stmts);
    if (x->negative) block_insert(x->j->body, at, store.stmts.data[0]);
    vec_free(&store.stmts);
    Block zeros = {0};
    tile_zeros(z, &zeros, (*v)->home == x->c->body ? 2 : 1, (Buf *[]){u, *v});
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
    Temp cell[MOST_ROWS][COLUMNS], f[MOST_ROWS], g[COLUMNS], none = build_literal(&z->b, to, kind, 0);
    for (int r = 0; r < a->rows; r++)
        for (int k = 0; k < COLUMNS; k++) build_stmt(&z->b, to, ST_CELL, cell[r][k] = build_temp(&z->b, (TempInfo){.kind = kind, .cell = true}), 1, &none);
    Stmt *p = build_loop(&z->b, to, x->p->dst, z->size);
    p->lanes = 1;
    for (int r = 0; r < a->rows; r++) f[r] = build_load(&z->b, p->body, u, (Temp[]){a->row[r], p->dst});
    for (int k = 0; k < COLUMNS; k++) {
        Temp index[RANK_MAX];
        for (int d = 0; d < v->rank; d++) index[d] = x->v->args[d] == x->l->dst ? a->column[k] : x->v->args[d] == x->p->dst ? p->dst : x->v->args[d];
        g[k] = build_load(&z->b, p->body, v, index);
    }
    for (int r = 0; r < a->rows; r++)
        for (int k = 0; k < COLUMNS; k++) {
            Temp product = build_op(&z->b, p->body, kind, OP_mul, f[r], g[k]);
            Temp old = build_stmt(&z->b, p->body, ST_GET, build_temp(&z->b, (TempInfo){.kind = kind}), 1, &cell[r][k])->dst;
            build_stmt(&z->b, p->body, ST_SET, cell[r][k], 1, (Temp[]){build_op(&z->b, p->body, kind, OP_add, old, product)});
        }
    for (int r = 0; r < a->rows; r++)
        for (int k = 0; k < COLUMNS; k++) a->sum[r][k] = build_stmt(&z->b, to, ST_GET, build_temp(&z->b, (TempInfo){.kind = kind}), 1, &cell[r][k])->dst;
}

static void put_addition(Tiler *z, const Nest *x, const Patch *a, Block *to, int r, int k) {
    Temp args[RANK_MAX + 1] = {a->sum[r][k]};
    for (int d = 1; d < x->to->nargs; d++) args[d] = again(z, x, to, a->row[r], a->place[k], x->to->args[d]);
    build_stmt(&z->b, to, ST_ADDTO, -1, x->to->nargs, args)->buf = x->to->buf;
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

// Of the matrix of the next iteration of c, which this part will be added to: the elements at the place of the block.
static void put_fetches(Tiler *z, const Nest *x, const Patch *a, Block *to, Temp large, Temp next) {
    bool found = false;
    for (int d = 1; d < x->to->nargs; d++) found |= x->to->args[d] == x->c->dst;
    if (!found) return;
    Stmt *branch = build_stmt(&z->b, to, ST_IF, -1, 1, &large);
    branch->body = ARENA_NEW(z->b.arena, Block);
    for (int r = 0; r < a->rows; r++) {
        Temp args[RANK_MAX + 1] = {build_literal(&z->b, branch->body, KIND_INT, 1)};
        for (int d = 1; d < x->to->nargs; d++)
            args[d] = x->to->args[d] == x->c->dst ? next : again(z, x, branch->body, a->row[r], a->place[0], x->to->args[d]);
        build_stmt(&z->b, branch->body, ST_FETCH, -1, x->to->nargs, args)->buf = x->to->buf;
    }
}

// Has the array more elements than the cache has room for?
static Temp put_large(Tiler *z, Block *to, const Buf *b) {
    int64_t known;
    Temp count = tile_count(z, to, b, -1, &known), most = build_literal(&z->b, to, KIND_INT, z->cache / kind_size(b->kind));
    return build_op(&z->b, to, KIND_BOOL, OP_lt, most, count);
}

// Adds the sums that are asked for: all of them, or those for which that is so.
static void put_additions(Tiler *z, const Nest *x, const Patch *a, Block *to, Temp least) {
    Temp whole = build_op(&z->b, to, KIND_BOOL, OP_lt, a->place[COLUMNS - 1], least);
    Stmt *branch = build_stmt(&z->b, to, ST_IF, -1, 1, &whole);
    branch->body = ARENA_NEW(z->b.arena, Block), branch->other = ARENA_NEW(z->b.arena, Block);
    for (int r = 0; r < a->rows; r++)
        for (int k = 0; k < COLUMNS; k++) {
            put_addition(z, x, a, branch->body, r, k);
            Temp there = build_op(&z->b, branch->other, KIND_BOOL, OP_lt, a->place[k], a->length[r]);
            Stmt *one = build_stmt(&z->b, branch->other, ST_IF, -1, 1, &there);
            one->body = ARENA_NEW(z->b.arena, Block);
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
    Temp large = put_large(z, out, x.to->buf), next = build_int(&z->b, out, OP_add, x.c->dst, build_literal(&z->b, out, KIND_INT, 1));
    Temp rows = build_literal(&z->b, out, KIND_INT, a.rows), n = x.j->args[0], least = -1, most = -1;
    Temp up = build_int(&z->b, out, OP_add, n, build_literal(&z->b, out, KIND_INT, a.rows - 1));
    Stmt *j = build_loop(&z->b, out, x.j->dst, build_int(&z->b, out, OP_idiv, up, rows));
    Temp first = build_int(&z->b, j->body, OP_mul, j->dst, rows), last = build_int(&z->b, j->body, OP_sub, n, build_literal(&z->b, j->body, KIND_INT, 1));
    for (int r = 0; r < a.rows; r++) {
        Temp row = r ? build_int(&z->b, j->body, OP_add, first, build_literal(&z->b, j->body, KIND_INT, r)) : first;
        a.row[r] = r ? build_int(&z->b, j->body, OP_min, row, last) : row;
        a.length[r] = again(z, &x, j->body, a.row[r], -1, x.l->args[0]);
        if (r) {
            Temp there = build_op(&z->b, j->body, KIND_BOOL, OP_lt, row, n), none = build_literal(&z->b, j->body, KIND_INT, 0);
            a.length[r] = build_stmt(&z->b, j->body, ST_SELECT, build_temp(&z->b, (TempInfo){.kind = KIND_INT}), 3, (Temp[]){there, a.length[r], none})->dst;
        }
        least = r ? build_int(&z->b, j->body, OP_min, least, a.length[r]) : a.length[r];
        most = r ? build_int(&z->b, j->body, OP_max, most, a.length[r]) : a.length[r];
    }
    Temp columns = build_literal(&z->b, j->body, KIND_INT, COLUMNS);
    Temp patches = build_int(&z->b, j->body, OP_idiv, build_int(&z->b, j->body, OP_add, most, build_literal(&z->b, j->body, KIND_INT, COLUMNS - 1)), columns);
    Temp end = build_int(&z->b, j->body, OP_sub, most, build_literal(&z->b, j->body, KIND_INT, 1));
    Stmt *l = build_loop(&z->b, j->body, x.l->dst, patches);
    Temp column = build_int(&z->b, l->body, OP_mul, l->dst, columns);
    for (int k = 0; k < COLUMNS; k++) {
        a.place[k] = k ? build_int(&z->b, l->body, OP_add, column, build_literal(&z->b, l->body, KIND_INT, k)) : column;
        a.column[k] = k ? build_int(&z->b, l->body, OP_min, a.place[k], end) : column;
    }
    put_fetches(z, &x, &a, l->body, large, next);
    put_sums(z, &x, &a, l->body, u, v);
    put_additions(z, &x, &a, l->body, least);
}

void tile_split_products(Tiler *z, Stmt *c, Stmt *p) {
    for (int i = 0; i < p->body->stmts.len; i++) {
        Nest x = {.c = c, .p = p, .j = p->body->stmts.data[i]};
        if (!nest_is_plain(x.j) || x.j->few) continue;
        for (int k = 0; k < x.j->body->stmts.len; k++) {
            x.l = x.j->body->stmts.data[k];
            if (nest_is_plain(x.l) && !x.l->few && find_product(z, &x)) split_product(z, &x);
        }
    }
}
