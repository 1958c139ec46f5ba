// Groups: the parts of a loop as loops of their own (lower/groups.c).
#include "lower/groups_internal.h"

#include "lower/product.h"
#include "lower/recurrence.h"

#include <string.h>

// ---- statements

static Temp put_quotient_up(Grouper *z, Block *b, Temp x, Temp y) {
    Temp sum = build_int(&z->build, b, OP_add, x, y),
         up = build_int(&z->build, b, OP_sub, sum, build_literal(&z->build, b, KIND_INT, 1));
    return build_int(&z->build, b, OP_idiv, up, y);
}

static Temp put_cell(Grouper *z, Block *to, Kind kind) {
    Temp zero = build_literal(&z->build, to, kind, 0), cell = build_temp(&z->build, (TempInfo){.kind = kind, .cell = true});
    build_stmt(&z->build, to, ST_CELL, cell, 1, &zero);
    return cell;
}

static Temp put_get(Grouper *z, Block *to, Temp cell) {
    Temp is = build_temp(&z->build, (TempInfo){.kind = kind_of(z, cell)});
    return build_stmt(&z->build, to, ST_GET, is, 1, &cell)->dst;
}

static void put_sum(Grouper *z, Block *to, Temp cell, Temp term) {
    Temp next = build_op(&z->build, to, kind_of(z, cell), OP_add, put_get(z, to, cell), term);
    build_stmt(&z->build, to, ST_SET, cell, 1, &next);
}

static Buf *put_array(Grouper *z, Kind kind, int n, const Temp *extent) {
    Buf *b = build_buf(&z->build, &z->before, z->around, kind, n, extent);
    if (n && extent[0] == z->size) vec_push(&z->grouped, b);
    return b;
}

// ---- values

typedef struct Emit { // where statements are written
    Grouper *z;
    const Piece *p;
    Block *b;
    Temp is[DEEPEST], i, l; // indices of open loops, i: of the nest, of which is[0] is that in the group; of the loop over l
    Map known;              // Temp + 1 -> what stands for it + 1
} Emit;

static const Widened *widened(const Grouper *z, const Buf *b) {
    for (int k = 0; k < z->wide.len; k++)
        if (z->wide.data[k].from == b) return &z->wide.data[k];
    return NULL;
}

// An access to an array of an iteration becomes one to that of a group.
static void widen(const Emit *e, Stmt *s) {
    const Widened *w = s->buf ? widened(e->z, s->buf) : NULL;
    if (!w) return;
    int values = s->kind == ST_LOAD ? 0 : 1, n = 0;
    Temp *args = ARENA_ARRAY(e->z->arena, Temp, s->nargs + w->depth + 1);
    if (values) args[n++] = s->args[0];
    for (int k = 0; k < w->depth; k++) args[n++] = e->is[k];
    for (int k = values; k < s->nargs; k++) args[n++] = s->args[k];
    s->args = args, s->nargs = n, s->buf = w->to;
}

static Temp value(Emit *e, Temp t) {
    Grouper *z = e->z;
    if (!is_made(z, t)) return t;
    if (t == z->nest->dst) return e->i;
    for (int k = 1; k < e->p->depth; k++)
        if (e->p->loop[k]->dst == t) return e->is[k];
    if (e->p->k && e->p->k->dst == t) return e->l;
    intptr_t there = (intptr_t)map_get(&e->known, (void *)((intptr_t)t + 1));
    if (there) return (Temp)(there - 1);
    Temp is;
    if (z->kept[t]) {
        is = build_load(&z->build, e->b, z->array[t], e->is);
    } else {
        const Stmt *s = def_of(z, t);
        Temp args[RANK_MAX + 1];
        for (int k = 0; k < s->nargs; k++) args[k] = value(e, s->args[k]);
        Stmt *copy = arena_copy(z->arena, s, sizeof *s);
        copy->dst = is = build_temp(&z->build, (TempInfo){.kind = kind_of(z, t)}),
        copy->args = arena_copy(z->arena, args, sizeof *args * (size_t)(s->nargs + 1));
        widen(e, copy);
        vec_push(&e->b->stmts, copy);
    }
    map_put(&e->known, (void *)((intptr_t)t + 1), (void *)((intptr_t)is + 1));
    return is;
}

static void forget_values(Emit *e) { map_free(&e->known), e->known = (Map){0}; }

static Temp value_in(const Emit *e, Block *b, Temp t) { // what it needs is in b, too
    Emit inside = *e;
    inside.b = b, inside.known = (Map){0};
    Temp is = value(&inside, t);
    map_free(&inside.known);
    return is;
}

static Temp extent_at(const Grouper *z, const Piece *p, int of) {
    return of < 0 ? p->most : !of ? z->size : p->k && of == p->depth - 1 ? p->across : p->loop[of]->args[0];
}

// Is there the term that the indices say?
static Temp put_inside(Emit *e) {
    const Piece *p = e->p;
    return build_op(&e->z->build, e->b, KIND_BOOL, OP_lt, p->rows ? e->is[p->depth - 1] : e->l, value(e, bound_of(p)));
}

// Loops over these of the open ones around the part, in this order, and the innermost block; -1: over l.
static Emit nest_of(Grouper *z, const Piece *p, Block *b, int n, const int *order) {
    Emit e = {.z = z, .p = p, .i = -1, .l = -1};
    for (int k = 0; k < DEEPEST; k++) e.is[k] = -1;
    for (int k = 0; k < n; k++) {
        int of = order[k];
        const Stmt *like = of < 0 ? p->k : p->loop[of];
        Stmt *loop = build_loop(&z->build, b, like->dst, of ? extent_at(z, p, of) : z->count);
        b = loop->body;
        if (of < 0) e.l = loop->dst;
        else e.is[of] = loop->dst;
        if (!of) e.i = build_int(&z->build, b, OP_add, z->base, loop->dst);
    }
    e.b = b;
    return e;
}

// ---- factors

typedef struct Factor {
    Temp t;
    Buf *all; // of its values; NULL: they are elements already
    int n, order[DEEPEST + 1];
} Factor;

static void put_factor(Grouper *z, const Piece *p, const Factor *f, Block *to, bool cut) {
    Emit e = nest_of(z, p, to, f->n, f->order);
    Temp index[DEEPEST + 1], is;
    for (int k = 0; k < f->n; k++) index[k] = f->order[k] < 0 ? e.l : e.is[f->order[k]];
    if (cut) { // zeros where the sum has no term
        Temp cell = put_cell(z, e.b, f->all->kind), inside = put_inside(&e);
        Stmt *branch = build_if(&z->build, e.b, inside, false);
        Temp there = value_in(&e, branch->body, f->t);
        build_stmt(&z->build, branch->body, ST_SET, cell, 1, &there);
        is = put_get(z, e.b, cell);
    } else {
        is = value(&e, f->t);
    }
    build_store(&z->build, e.b, ST_STORE, f->all, is, index);
    forget_values(&e);
}

// The factor as elements of an array: as it is, or of one that is made for it. Those of no iteration are made once.
static Factor factor(Grouper *z, const Piece *p, int which, bool cut) {
    Factor f = {.t = p->f[which]};
    if (!cut && (z->kept[f.t] || def_of(z, f.t)->kind == ST_LOAD)) return f;
    Temp extent[DEEPEST + 1];
    for (int k = 0; k < p->depth; k++)
        if (p->bits[which] & 1 << k) f.order[f.n++] = k;
    if (p->bits[which] & INNER) f.order[f.n++] = -1;
    for (int k = 0; k < f.n; k++) extent[k] = extent_at(z, p, f.order[k]);
    f.all = put_array(z, kind_of(z, f.t), f.n, extent);
    put_factor(z, p, &f, p->bits[which] & 1 ? z->group : &z->before, cut);
    return f;
}

static Temp factor_in(Emit *e, const Factor *f) {
    Temp index[DEEPEST + 1];
    if (!f->all) return value(e, f->t);
    for (int k = 0; k < f->n; k++) index[k] = f->order[k] < 0 ? e->l : e->is[f->order[k]];
    return build_load(&e->z->build, e->b, f->all, index);
}

static Temp put_product(Emit *e, const Factor *x, const Factor *y) {
    Temp a = factor_in(e, x), b = factor_in(e, y);
    return build_op(&e->z->build, e->b, kind_of(e->z, a), OP_mul, a, b);
}

// ---- parts as loops

// Where the sum is.
static Buf *place_of_sum(Emit *e, Temp index[RANK_MAX], int *n) {
    const Piece *p = e->p;
    if (!p->to) {
        memcpy(index, e->is, sizeof *index * (size_t)p->depth);
        return *n = p->depth, e->z->array[p->get];
    }
    *n = p->to->nargs - 1;
    for (int k = 0; k < *n; k++) index[k] = value(e, p->to->args[k + 1]);
    return p->to->buf;
}

static void put_result(Emit *e, Temp sum) {
    Temp index[RANK_MAX];
    int n;
    Buf *to = place_of_sum(e, index, &n);
    if (e->p->negative) sum = build_op(&e->z->build, e->b, to->kind, OP_neg, sum, -1);
    widen(e, build_store(&e->z->build, e->b, e->p->adds ? ST_ADDTO : ST_STORE, to, sum, index));
}

// The order of loops in products: those that both factors have in common, then one of each.
static int product_order(const Piece *p, int order[DEEPEST], int second) {
    int n = 0;
    for (int k = 1; k + 1 < p->depth; k++) order[n++] = k;
    order[n++] = p->kind == PART_SUM ? 0 : p->depth - 1;
    order[n++] = second;
    return n;
}

// Sums that are NaN because of what they do not contain, again.
static void put_repair(Grouper *z, const Piece *p, const Factor *x) {
    int order[DEEPEST];
    for (int k = 0; k < p->depth; k++) order[k] = k;
    Emit e = nest_of(z, p, z->group, p->depth, order);
    Temp index[RANK_MAX];
    int n;
    Buf *at = place_of_sum(&e, index, &n);
    Temp sum = build_load(&z->build, e.b, at, index);
    widen(&e, vec_last(&e.b->stmts));
    Stmt *branch = build_if(&z->build, e.b, build_op(&z->build, e.b, KIND_BOOL, OP_ne, sum, sum), false);
    forget_values(&e);
    e.b = branch->body;
    Temp cell = put_cell(z, e.b, at->kind);
    Stmt *l = build_loop(&z->build, e.b, p->k->dst, p->most);
    e.b = l->body, e.l = l->dst;
    Stmt *inside = build_if(&z->build, l->body, put_inside(&e), false);
    forget_values(&e);
    e.b = inside->body;
    Factor y = {.t = p->f[1]};
    put_sum(z, e.b, cell, put_product(&e, x, &y));
    forget_values(&e);
    e.b = branch->body;
    put_result(&e, put_get(z, e.b, cell));
    forget_values(&e);
}

static void emit_sum(Grouper *z, const Piece *p) {
    Factor x = factor(z, p, 0, false), y = factor(z, p, 1, p->cut);
    int order[DEEPEST];
    Emit e = nest_of(z, p, z->group, product_order(p, order, p->depth - 1), order);
    Block *outer = e.b;
    Temp cell = put_cell(z, outer, p->to ? p->to->buf->kind : kind_of(z, p->get));
    Stmt *l = build_loop(&z->build, outer, p->k->dst, p->most);
    e.b = l->body, e.l = l->dst;
    put_sum(z, e.b, cell, put_product(&e, &x, &y));
    forget_values(&e);
    e.b = outer;
    put_result(&e, put_get(z, outer, cell));
    forget_values(&e);
    if (p->cut && !z->fast) put_repair(z, p, &x);
}

// What stands for the sum over the iterations of a group in b: a loop over them, whose body `e` then writes to.
static Temp begin_sum(Emit *e, Kind kind) {
    Grouper *z = e->z;
    Temp cell = put_cell(z, e->b, kind);
    Stmt *i = build_loop(&z->build, e->b, z->nest->dst, z->count);
    e->b = i->body, e->is[0] = i->dst;
    e->i = build_int(&z->build, e->b, OP_add, z->base, i->dst);
    return cell;
}

// Has each index of the loops around an element of its own?
static bool has_own_elements(const Piece *p) {
    bool own = p->to->nargs == p->depth;
    for (int k = 1; k < p->depth; k++) own = own && stmt_has_index(p->to, p->loop[k]->dst);
    return own;
}

// The sum of the product's first factor over iterations, which is one of the parts; NULL if there is none, or the factor is an
// array's elements as they are: then the product is left to be one that a library may do.
static Piece *find_beside(const Grouper *z, const Piece *p) {
    for (int i = 0; i < z->parts.len && def_of(z, p->f[0])->kind != ST_LOAD; i++) {
        Piece *q = &z->parts.data[i];
        bool is = q->kind == PART_ADD && q->depth == p->depth && q->to->buf->kind == KIND_DOUBLE &&
                  p->to->buf->kind == KIND_DOUBLE && has_own_elements(q);
        for (int k = 1; is && k < p->depth; k++) is = q->loop[k] == p->loop[k];
        if (!is) continue;
        const Stmt *s = def_of(z, q->to->args[0]);
        const bool negative = s->kind == ST_OP && s->op == OP_neg;
        if ((negative ? s->args[0] : s->dst) != p->f[0]) continue;
        q->negative = negative;
        return q;
    }
    return NULL;
}

static void emit_product(Grouper *z, Piece *p) {
    Factor x = factor(z, p, 0, false), y = factor(z, p, 1, false);
    int order[DEEPEST], n = product_order(p, order, -1), all[DEEPEST + 1];
    Temp extent[DEEPEST], index[RANK_MAX];
    for (int k = 1; k < p->depth; k++) all[k - 1] = k, extent[k - 1] = p->loop[k]->args[0];
    all[n - 1] = -1, extent[n - 1] = p->most;
    p->all = put_array(z, p->to->buf->kind, n, extent);
    Temp zero = build_literal(&z->build, &z->before, p->all->kind, 0);
    build_stmt(&z->build, &z->before, ST_FILL, -1, 1, &zero)->buf = p->all;
    Emit e = nest_of(z, p, z->group, n - 1, order);
    Block *row = e.b;
    Stmt *over = build_loop(&z->build, row, p->k->dst, p->most);
    Block *outer = e.b = over->body;
    e.l = over->dst;
    for (int k = 0; k < n; k++) index[k] = all[k] < 0 ? e.l : e.is[all[k]];
    Temp cell = begin_sum(&e, p->all->kind);
    put_sum(z, e.b, cell, put_product(&e, &x, &y));
    forget_values(&e);
    build_store(&z->build, outer, ST_ADDTO, p->all, put_get(z, outer, cell), index);
    if (p->beside) {
        e.b = row;
        cell = begin_sum(&e, p->all->kind);
        Temp of = factor_in(&e, &x);
        if (p->beside->negative) of = build_op(&z->build, e.b, p->all->kind, OP_neg, of, -1);
        put_sum(z, e.b, cell, of);
        forget_values(&e);
        for (int k = 1; k < p->beside->to->nargs; k++) index[k - 1] = value_in(&e, row, p->beside->to->args[k]);
        build_store(&z->build, row, ST_ADDTO, p->beside->to->buf, put_get(z, row, cell), index);
    }
    // After all groups: what is asked for of it.
    e = nest_of(z, p, &z->after, n - 1, all);
    Stmt *l = build_loop(&z->build, e.b, p->k->dst, value(&e, bound_of(p)));
    forget_values(&e);
    e.b = l->body, e.l = l->dst;
    for (int k = 0; k < n; k++) index[k] = all[k] < 0 ? e.l : e.is[all[k]];
    Temp sum = build_load(&z->build, e.b, p->all, index);
    if (p->negative) sum = build_op(&z->build, e.b, p->all->kind, OP_neg, sum, -1);
    for (int k = 1; k < p->to->nargs; k++) index[k - 1] = value(&e, p->to->args[k]);
    build_store(&z->build, e.b, ST_ADDTO, p->to->buf, sum, index);
    forget_values(&e);
}

// Into how many parts a sum over the iterations of a group is cut for each element of p: so that there are threads enough for a
// large device, but each has some iterations.
static Temp put_chunks(Grouper *z, const Piece *p) {
    enum { THREADS = 1 << 18, SOME = 16 };
    Block *b = &z->before;
    Temp all = build_literal(&z->build, b, KIND_INT, 1), few = build_literal(&z->build, b, KIND_INT, CHUNKS);
    Temp threads = build_literal(&z->build, b, KIND_INT, THREADS);
    for (int k = 1; k < p->depth; k++) { // what is more than enough is not counted: it fits
        Temp extent = build_int(&z->build, b, OP_min, p->loop[k]->args[0], threads);
        all = k == 1 ? extent : build_int(&z->build, b, OP_min, build_int(&z->build, b, OP_mul, all, extent), threads);
    }
    Temp enough =
        build_int(&z->build, b, OP_idiv, threads, build_int(&z->build, b, OP_max, all, build_literal(&z->build, b, KIND_INT, 1)));
    Temp most = build_int(&z->build, b, OP_idiv, z->size, build_literal(&z->build, b, KIND_INT, SOME));
    return build_int(&z->build, b, OP_max, build_int(&z->build, b, OP_min, enough, most), few);
}

// Sums over some of the iterations, in as many threads as there are elements, then over these: neighbours add up neighbouring
// values.
static void emit_addition(Grouper *z, const Piece *p) {
    int order[DEEPEST];
    Temp index[RANK_MAX], extent[DEEPEST], many = put_chunks(z, p);
    extent[0] = many;
    for (int k = 1; k < p->depth; k++) order[k - 1] = k, extent[k] = p->loop[k]->args[0];
    Buf *sums = put_array(z, p->to->buf->kind, p->depth, extent);
    Temp size = put_quotient_up(z, z->group, z->count, many);
    Stmt *chunk = build_loop(&z->build, z->group, z->nest->dst, many);
    Temp first = build_int(&z->build, chunk->body, OP_mul, chunk->dst, size),
         rest = build_int(&z->build, chunk->body, OP_sub, z->count, first);
    Temp length = build_int(&z->build, chunk->body, OP_min, rest, size);
    Emit e = nest_of(z, p, chunk->body, p->depth - 1, order);
    Block *outer = e.b;
    Temp cell = put_cell(z, outer, sums->kind);
    Stmt *i = build_loop(&z->build, outer, z->nest->dst, length);
    e.b = i->body, e.is[0] = build_int(&z->build, e.b, OP_add, first, i->dst),
    e.i = build_int(&z->build, e.b, OP_add, z->base, e.is[0]);
    put_sum(z, e.b, cell, value(&e, p->to->args[0]));
    forget_values(&e);
    e.is[0] = chunk->dst;
    build_store(&z->build, outer, ST_STORE, sums, put_get(z, outer, cell), e.is);
    e = nest_of(z, p, z->group, p->depth - 1, order);
    cell = put_cell(z, outer = e.b, sums->kind);
    e.is[0] = (chunk = build_loop(&z->build, e.b, z->nest->dst, many))->dst;
    put_sum(z, chunk->body, cell, build_load(&z->build, chunk->body, sums, e.is));
    for (int k = 1; k < p->to->nargs; k++) index[k - 1] = value(&e, p->to->args[k]);
    build_store(&z->build, outer, ST_ADDTO, p->to->buf, put_get(z, outer, cell), index);
    forget_values(&e);
}

// Filling an array of an iteration becomes loops.
static Stmt *fill_loops(Emit *e, const Stmt *s, const Buf *b) {
    Grouper *z = e->z;
    Block out = {0}, *in = &out;
    Temp index[RANK_MAX];
    for (int k = 0; k < b->rank; k++) {
        Stmt *loop = build_loop_named(&z->build, in, NULL, b->extent[k]);
        index[k] = loop->dst, in = loop->body;
    }
    widen(e, build_store(&z->build, in, ST_STORE, (Buf *)b, s->args[0], index));
    Stmt *first = out.stmts.data[0];
    vec_free(&out.stmts);
    return first;
}

static void widen_all(Emit *e, Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (s->kind == ST_FILL && widened(e->z, s->buf)) b->stmts.data[i] = fill_loops(e, s, s->buf);
        else widen(e, s);
        widen_all(e, s->body), widen_all(e, s->other);
    }
}

// What a copy needs that the part does not make.
static void know_all(Emit *e, const Map *made, const Stmt *s) {
    Grouper *z = e->z;
    for (int k = 0; k < s->nargs; k++)
        if (!is_in(made, s->args[k]) && !z->tree->temps.data[s->args[k]].cell && is_made(z, s->args[k])) {
            Temp is = value(e, s->args[k]);
            map_put(&e->known, (void *)((intptr_t)s->args[k] + 1), (void *)((intptr_t)is + 1));
        }
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) know_all(e, made, in[k]->stmts.data[i]);
}

// Arrays that are new inside of a loop that is copied, but made outside of it, are others in the copy, of which `bufs` knows.
static void own_arrays(Grouper *z, const Block *block, Map *bufs) {
    for (int i = 0, n = z->tree->bufs.len; i < n; i++) {
        const Buf *b = z->tree->bufs.data[i];
        if (b->home != block) continue;
        bool inside = false;
        for (int k = 0; k < block->stmts.len; k++) inside |= block->stmts.data[k]->kind == ST_NEW && block->stmts.data[k]->buf == b;
        if (inside) continue;
        Buf *other = arena_copy(z->arena, b, sizeof *b);
        other->id = z->tree->bufs.len;
        vec_push(&z->tree->bufs, other);
        build_stmt(&z->build, &z->before, ST_NEW, -1, 0, NULL)->buf = other;
        map_put(bufs, b, other);
    }
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->body) own_arrays(z, s->body, bufs);
        if (s->other) own_arrays(z, s->other, bufs);
    }
}

static void set_homes(Grouper *z, const Block *block, const Block *copy, const Map *bufs) {
    for (int i = 0; i < z->tree->bufs.len; i++) {
        Buf *b = z->tree->bufs.data[i], *other = b->home == block ? map_get(bufs, b) : NULL;
        if (other) other->home = copy;
    }
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i], *c = copy->stmts.data[i];
        if (s->body) set_homes(z, s->body, c->body, bufs);
        if (s->other) set_homes(z, s->other, c->other, bufs);
    }
}

// Takes out of a copy what has become parts; sums are loaded.
static void drop_sums(Emit *e, const Block *block, Block *copy) {
    Grouper *z = e->z;
    int n = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        Stmt *c = copy->stmts.data[i];
        drop_sums(e, s->body, c->body), drop_sums(e, s->other, c->other);
        if (map_get(&z->skipped, s)) {
            if (s->kind != ST_GET) continue;
            const Piece *p = &z->parts.data[z->part[s->dst] - 1];
            Temp index[DEEPEST];
            for (int d = 0; d < p->depth; d++)
                index[d] =
                    d < e->p->depth ? e->is[d] : (Temp)((intptr_t)map_get(&e->known, (void *)((intptr_t)p->loop[d]->dst + 1)) - 1);
            c->kind = ST_LOAD, c->buf = z->array[s->dst], c->nargs = p->depth, c->args = arena_copy(z->arena, index, sizeof index);
        }
        copy->stmts.data[n++] = c;
    }
    if (copy) copy->stmts.len = n;
}

static bool has_effect(const Grouper *z, const Piece *p) {
    for (int i = 0; i < p->stmts.len; i++)
        if (!stmt_is_plain(p->stmts.data[i]) && p->stmts.data[i]->kind != ST_CELL && !map_get(&z->skipped, p->stmts.data[i]))
            return true;
    return false;
}

static void emit_light(Grouper *z, int part) {
    const Piece *p = &z->parts.data[part];
    int order[DEEPEST];
    bool keeps = false;
    for (Temp t = 0; t < z->known; t++) keeps |= z->kept[t] && z->part[t] == part + 1;
    if (!keeps && !has_effect(z, p)) return;
    for (int k = 0; k < p->depth; k++) order[k] = k;
    Emit e = nest_of(z, p, z->group, p->depth, order);
    Map made = {0}, bufs = {0};
    for (int k = 0; k < p->stmts.len; k++) groups_note_made(&made, p->stmts.data[k]);
    for (int k = 0; k < p->stmts.len; k++) know_all(&e, &made, p->stmts.data[k]);
    map_put(&e.known, (void *)((intptr_t)z->nest->dst + 1), (void *)((intptr_t)e.i + 1));
    for (int k = 1; k < p->depth; k++) map_put(&e.known, (void *)((intptr_t)p->loop[k]->dst + 1), (void *)((intptr_t)e.is[k] + 1));
    int first = e.b->stmts.len;
    for (int k = 0; k < p->stmts.len; k++) {
        const Stmt *s = p->stmts.data[k];
        if (map_get(&z->skipped, s)) continue;
        if (s->body) own_arrays(z, s->body, &bufs);
        if (s->other) own_arrays(z, s->other, &bufs);
        Stmt *copy = tree_clone_with(z->arena, z->tree, s, &e.known, &bufs);
        if (s->body) set_homes(z, s->body, copy->body, &bufs);
        if (s->other) set_homes(z, s->other, copy->other, &bufs);
        drop_sums(&e, s->body, copy->body), drop_sums(&e, s->other, copy->other);
        vec_push(&e.b->stmts, copy);
    }
    Block copies = {.stmts = {.data = e.b->stmts.data + first, .len = e.b->stmts.len - first}};
    widen_all(&e, &copies);
    for (Temp t = 0; t < z->known; t++)
        if (z->kept[t] && z->part[t] == part + 1) {
            Temp is = (Temp)((intptr_t)map_get(&e.known, (void *)((intptr_t)t + 1)) - 1);
            build_store(&z->build, e.b, ST_STORE, z->array[t], is, e.is);
        }
    map_free(&made), map_free(&bufs);
    forget_values(&e);
}

// ---- along rows

static Temp first_of(const Grouper *z, const Stmt *get) { return def_of(z, get->args[0])->args[0]; } // of its cell

static void know(Map *known, Temp t, Temp is) { map_put(known, (void *)((intptr_t)t + 1), (void *)((intptr_t)is + 1)); }

// A copy of the loop at the end of the block, with cells and arrays of its own.
static Stmt *copy_loop(Emit *e, const Stmt *loop) {
    Grouper *z = e->z;
    Map made = {0}, bufs = {0};
    groups_note_made(&made, loop);
    know_all(e, &made, loop);
    own_arrays(z, loop->body, &bufs);
    know(&e->known, z->nest->dst, e->i);
    Stmt *copy = tree_clone_with(z->arena, z->tree, loop, &e->known, &bufs);
    set_homes(z, loop->body, copy->body, &bufs);
    widen_all(e, copy->body);
    vec_push(&e->b->stmts, copy);
    map_free(&made), map_free(&bufs);
    return copy;
}

static Temp put_cell_of(Grouper *z, Block *to, Kind kind, Temp first) {
    Temp cell = build_temp(&z->build, (TempInfo){.kind = kind, .cell = true});
    return build_stmt(&z->build, to, ST_CELL, cell, 1, &first)->dst;
}

static Emit over_rows(Grouper *z, const Piece *p) { return nest_of(z, p, z->group, 1, (int[]){0}); }

static Buf *of_group(const Grouper *z, Buf *b) {
    const Widened *w = b ? widened(z, b) : NULL;
    return w ? w->to : b;
}

// What a row begins with is stored; then all rows are one recurrence.
static void emit_scan(Grouper *z, const Piece *p) {
    const Stmt *loop = p->stmts.data[0], *get = p->stmts.data[1];
    Recurrence *r = arena_copy(z->arena, loop->recurrence, sizeof *r);
    r->state = z->array[get->dst];
    r->first = of_group(z, r->first), r->second = of_group(z, r->second), r->before = of_group(z, r->before);
    Emit e = over_rows(z, p);
    build_store(&z->build, e.b, ST_STORE, r->state, value(&e, first_of(z, get)), e.is);
    forget_values(&e);
    e = over_rows(z, p);
    vec_last(&z->group->stmts)->recurrence = r;
    r->cell = put_cell_of(z, e.b, r->state->kind, build_load(&z->build, e.b, r->state, e.is));
    know(&e.known, get->args[0], r->cell);
    copy_loop(&e, loop)->recurrence = NULL;
    build_store(&z->build, e.b, ST_STORE, r->state, put_get(z, e.b, r->cell), e.is);
    forget_values(&e);
}

static void put_join(Grouper *z, Block *to, Op by, Temp cell, Temp term) {
    Temp next = build_op(&z->build, to, kind_of(z, cell), by, put_get(z, to, cell), term);
    build_stmt(&z->build, to, ST_SET, cell, 1, &next);
}

// Each part of each row has cells of its own; then they are joined. All parts go over equally many places, not all of which there
// are, so that it is known how many.
static void emit_reduction(Grouper *z, const Piece *p) {
    const Stmt *loop = p->stmts.data[0];
    const int n = p->stmts.len - 1;
    Buf **parts = ARENA_ARRAY(z->arena, Buf *, n);
    Temp *cell = ARENA_ARRAY(z->arena, Temp, n), extent[] = {z->size, p->chunks};
    Emit e = over_rows(z, p);
    Stmt *chunk = build_loop_named(&z->build, e.b, NULL, p->chunks);
    e.b = chunk->body;
    for (int k = 0; k < n; k++) {
        const Stmt *get = p->stmts.data[k + 1];
        const Kind kind = kind_of(z, get->dst);
        parts[k] = put_array(z, kind, 2, extent);
        cell[k] =
            put_cell_of(z, e.b, kind, p->by[k] == OP_add ? build_literal(&z->build, e.b, kind, 0) : value(&e, first_of(z, get)));
        know(&e.known, get->args[0], cell[k]);
    }
    Temp from = build_int(&z->build, e.b, OP_mul, chunk->dst, p->size);
    Stmt *copy = copy_loop(&e, loop);
    Block *body = copy->body, *inside = ARENA_NEW(z->arena, Block);
    copy->args = arena_copy(z->arena, &p->size, sizeof p->size), copy->body = inside;
    Temp at = build_int(&z->build, inside, OP_add, from, copy->dst);
    build_if(&z->build, inside, build_op(&z->build, inside, KIND_BOOL, OP_lt, at, loop->args[0]), false)->body = body;
    block_rename(body, copy->dst, at);
    Temp index[] = {e.is[0], chunk->dst};
    for (int k = 0; k < n; k++) build_store(&z->build, e.b, ST_STORE, parts[k], put_get(z, e.b, cell[k]), index);
    forget_values(&e);
    e = over_rows(z, p);
    Block *outer = e.b;
    for (int k = 0; k < n; k++) {
        const Stmt *get = p->stmts.data[k + 1];
        cell[k] = put_cell_of(z, outer, kind_of(z, get->dst), value(&e, first_of(z, get)));
    }
    chunk = build_loop_named(&z->build, outer, NULL, p->chunks);
    index[0] = e.is[0], index[1] = chunk->dst;
    for (int k = 0; k < n; k++) put_join(z, chunk->body, p->by[k], cell[k], build_load(&z->build, chunk->body, parts[k], index));
    for (int k = 0; k < n; k++)
        build_store(&z->build, outer, ST_STORE, z->array[p->stmts.data[k + 1]->dst], put_get(z, outer, cell[k]), e.is);
    forget_values(&e);
}

// ---- the groups

static void put_arrays(Grouper *z) {
    Temp extent[RANK_MAX + DEEPEST];
    for (int k = 0; k < z->wide.len; k++) {
        Widened *w = &z->wide.data[k];
        for (int i = 0; i < z->parts.len; i++)
            if (groups_level(z->parts.data[i].loop, z->parts.data[i].open, w->from))
                for (int d = 0; d < w->depth; d++) extent[d] = extent_at(z, &z->parts.data[i], d);
        memcpy(extent + w->depth, w->from->extent, sizeof *extent * (size_t)w->from->rank);
        w->to = put_array(z, w->from->kind, w->depth + w->from->rank, extent);
        w->to->name = w->from->name;
    }
    for (Temp t = 0; t < z->known; t++) {
        if (!z->kept[t]) continue;
        const Piece *p = &z->parts.data[z->part[t] - 1];
        for (int d = 0; d < p->depth; d++) extent[d] = extent_at(z, p, d);
        z->array[t] = put_array(z, kind_of(z, t), p->depth, extent);
    }
}

// In b: how many iterations there are in a group, z->size; how many groups. They are about equal.
static Temp put_size(Grouper *z, Block *b) {
    Temp bytes = -1, one = build_literal(&z->build, b, KIND_INT, 1), n = z->nest->args[0];
    for (int i = 0; i < z->grouped.len; i++) {
        const Buf *a = z->grouped.data[i];
        if (!block_find_new(&z->before, a)) continue; // products do without it
        Temp of = build_literal(&z->build, b, KIND_INT, (int64_t)kind_size(a->kind));
        for (int k = 1; k < a->rank; k++) of = build_int(&z->build, b, OP_mul, of, a->extent[k]);
        bytes = bytes < 0 ? of : build_int(&z->build, b, OP_add, bytes, of);
    }
    Temp most = build_literal(&z->build, b, KIND_INT, 2);
    if (!z->always && bytes >= 0) {
        Temp all = build_literal(&z->build, b, KIND_INT, GROUP_BYTES);
        most = build_int(&z->build, b, OP_max, build_int(&z->build, b, OP_idiv, all, build_int(&z->build, b, OP_max, bytes, one)),
                         one);
    }
    Temp groups = put_quotient_up(z, b, n, most);
    put_quotient_up(z, b, n, groups);
    vec_last(&b->stmts)->dst = z->size; // which arrays have as their extent
    return groups;
}

static void put_parts(Grouper *z) {
    put_arrays(z);
    for (int i = 0; i < z->parts.len; i++) {
        Piece *p = &z->parts.data[i];
        if (p->kind == PART_PRODUCT && (p->beside = find_beside(z, p))) p->beside->kind = PART_NONE;
    }
    for (int i = 0; i < z->parts.len; i++) {
        Piece *p = &z->parts.data[i];
        switch (p->kind) {
        case PART_NONE: break;
        case PART_LIGHT: emit_light(z, i); break;
        case PART_SUM: emit_sum(z, p); break;
        case PART_PRODUCT: emit_product(z, p); break;
        case PART_ADD: emit_addition(z, p); break;
        case PART_SCAN: emit_scan(z, p); break;
        case PART_REDUCE: emit_reduction(z, p); break;
        }
    }
}

static Temp put_least(Grouper *z, Block *b, Temp so_far, Temp n, int64_t least) {
    Temp holds = build_op(&z->build, b, KIND_BOOL, OP_le, build_literal(&z->build, b, KIND_INT, least), n);
    return so_far < 0 ? holds : build_op(&z->build, b, KIND_BOOL, OP_and, so_far, holds);
}

// The lengths of the loops over l, and whether all loops of products are long.
static Temp put_lengths(Grouper *z, Block *b) {
    Temp holds = -1;
    int64_t least = z->always ? 1 : LEAST;
    for (int i = 0; i < z->parts.len; i++) {
        Piece *p = &z->parts.data[i];
        if (!p->k) continue;
        const Stmt *j = p->loop[p->depth - 1];
        Temp *cut = p->rows ? &p->across : &p->most, by = p->rows ? p->k->args[0] : j->args[0];
        p->most = p->k->args[0], p->across = j->args[0];
        if (p->cut)
            *cut = p->plus == 1 ? by : build_int(&z->build, b, OP_add, by, build_literal(&z->build, b, KIND_INT, p->plus - 1));
        holds = put_least(z, b, holds, z->nest->args[0], least);
        holds = put_least(z, b, holds, p->across, least);
        holds = put_least(z, b, holds, p->most, least);
        for (int k = 1; k + 1 < p->depth; k++) holds = put_least(z, b, holds, p->loop[k]->args[0], 1);
    }
    return holds;
}

// Whether there are few rows, and long ones, and into how many parts these are cut: so that there are some blocks for a large
// device. Scans take several launches, where iterations of a row, one after the other, take the time of memory.
static Temp put_row_lengths(Grouper *z, Block *b) {
    enum { SCAN_ROWS = 1 << 13, SCAN_LENGTH = 1 << 8, ROWS = 1 << 7, LENGTH = 1 << 13, BLOCKS = 512, PART = 1 << 10 };
    Temp holds = -1, rows = z->nest->args[0], one = build_literal(&z->build, b, KIND_INT, 1);
    for (int i = 0; i < z->parts.len; i++) {
        Piece *p = &z->parts.data[i];
        if (p->kind != PART_SCAN && p->kind != PART_REDUCE) continue;
        const bool scan = p->kind == PART_SCAN;
        Temp length = p->stmts.data[0]->args[0];
        Temp pays = put_least(z, b, put_least(z, b, -1, rows, 1), length, z->always ? 2 : scan ? SCAN_LENGTH : LENGTH);
        if (!z->always) {
            Temp most = build_literal(&z->build, b, KIND_INT, scan ? SCAN_ROWS : ROWS);
            pays = build_op(&z->build, b, KIND_BOOL, OP_and, pays, build_op(&z->build, b, KIND_BOOL, OP_le, rows, most));
        }
        holds = holds < 0 ? pays : build_op(&z->build, b, KIND_BOOL, OP_or, holds, pays);
        if (scan) continue;
        Temp part = build_literal(&z->build, b, KIND_INT, z->always ? 2 : PART),
             blocks = build_literal(&z->build, b, KIND_INT, BLOCKS);
        Temp most = build_int(&z->build, b, OP_idiv, length, part),
             enough = build_int(&z->build, b, OP_idiv, blocks, build_int(&z->build, b, OP_max, rows, one));
        p->chunks = build_int(&z->build, b, OP_max, build_int(&z->build, b, OP_min, most, enough), one);
        p->size = put_quotient_up(z, b, length, p->chunks);
    }
    return holds;
}

static void append(Block *to, Block *what) {
    for (int i = 0; i < what->stmts.len; i++) vec_push(&to->stmts, what->stmts.data[i]);
    vec_free(&what->stmts);
}

void groups_build(Grouper *z, int at) {
    Block condition = {0}, sizes = {0};
    Temp holds = z->rows ? put_row_lengths(z, &condition) : put_lengths(z, &condition);
    Stmt *branch = build_if(&z->build, &condition, holds, false);
    branch->other = ARENA_NEW(z->arena, Block);
    vec_push(&branch->other->stmts, z->whole);
    z->around->stmts.data[at] = branch;
    z->around = branch->body;
    z->size = build_temp(&z->build, (TempInfo){.kind = KIND_INT});
    Stmt *group = tree_stmt(z->arena, ST_FOR, build_temp(&z->build, (TempInfo){.kind = KIND_INT, .name = "group"}), 1, &z->size,
                            z->nest->span);
    z->group = group->body = ARENA_NEW(z->arena, Block);
    group->outer = true;
    z->base = build_int(&z->build, z->group, OP_mul, group->dst, z->size);
    z->count = build_int(&z->build, z->group, OP_min, build_int(&z->build, z->group, OP_sub, z->nest->args[0], z->base), z->size);
    put_parts(z);
    products_take_factors(z->arena, z->tree, z->group, (Block *const[]){&z->before, z->group, &z->after}, 3);
    group->args[0] = put_size(z, &sizes);
    append(branch->body, &sizes), append(branch->body, &z->before);
    vec_push(&branch->body->stmts, group);
    append(branch->body, &z->after);
    (void)vec_pop(&condition.stmts); // the branch, which is there
    z->around = NULL;
    append(&z->lengths, &condition);
}
