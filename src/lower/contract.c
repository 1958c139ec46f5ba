// Contractions. Nests of loops that add up, for each row i and column j of a result, products of what depends on i and k and of
// what depends on j and k,
//
//     for i { for j { c = 0; for k { c += x[i,k] * y[k,j] }; z[i,j] = c } }
//
// are done in blocks where they are large, which is asked at run time: all columns of y that the nearest caches hold for a part of
// the k are packed, in panels of as many columns as a few vectors have lanes; and for each panel of a few rows of x, which is
// packed as well, and each of columns, registers hold the sums:
//
//     for columns, k in blocks { Y[p,k,lane] = y[…]; for i in panels { X[r,k] = x[…]; for p { lanes { c0 = c1 = … = 0;
//         for k { c0 += X[0,k] * Y[p,k,lane]; c1 += X[1,k] * Y[p,k,lane]; … }; z[…] += … } } } }
//
// Small ones are done without. Where x and y are elements, those of a row of y side by side, no packing is needed, and
// the loop over columns is put outside: lanes can go over them, and rows share what is loaded of y (lanes.c, jam.c):
//
//     for j { for i { c = 0; for k { c += x[i,k] * y[k,j] }; z[i,j] = c } }
//
// x and y need not be elements: they are whatever is computed from either index and k, when they are packed, and instead of a
// product there may be anything cheap. What else such nests do, as those of derivatives, is taken apart before (lower/product.c).
// If rows and columns may be exchanged, the half with j > i is copied from the other. A nest that computes something cheap from
// each sum, in its place, is done with the last of the k that are added to it: z[…] = f(z[…] + sum).
#include "lower/contract.h"

#include "lower/cost.h"
#include "lower/effects.h"
#include "lower/loop_passes.h"
#include "lower/product.h"

enum { BUDGET = 64, MOST_OPS = 6, CHEAP = 2, MOST_AFTER = 8, MOST_INSIDE = 120 };
// What is worth it: the least extent, and their product; less where the loops would have no lanes otherwise.
enum { LEAST = 24, LEAST_WORK = 1 << 17, LEAST_PLAIN = 12, LEAST_PLAIN_WORK = 1 << 12 };

typedef struct Contractor {
    Builder b;
    Model m;
    const LoopOptions *opt;
    Map seen; // loops that stay as they are
    // Of the nest that is looked at:
    Stmt *branch;      // the branch between blocks and what it was
    Stmt **def;        // by temp
    Map made, written; // temps, by number + 1, and arrays
    Map moved;         // statements before it that are of the other alternative
    int budget;
    bool plain;  // else it would have no lanes
    bool beside; // no operand of the nest needs to be packed
} Contractor;

static bool is_made(const Contractor *z, Temp t) { return map_get(&z->made, contraction_key(t)); }
static Kind kind_of(const Contractor *z, Temp t) { return z->b.tree->temps.data[t].kind; }

// ---- what there is

static void note_made(Contractor *z, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) map_put(&z->made, contraction_key(s->dst), (void *)s);
        if (s->buf && s->kind != ST_LOAD) map_put(&z->written, s->buf, s->buf);
        note_made(z, s->body), note_made(z, s->other);
    }
}

// The indices on which t depends, as bits; -1: on what may not be computed elsewhere.
static int depends(Contractor *z, const Contraction *c, Temp t) {
    if (!is_made(z, t)) return 0;
    for (int v = 0; v < VARS; v++)
        if (c->loop[v]->dst == t) return 1 << v;
    const Stmt *s = z->def[t];
    if (!s || z->budget-- <= 0 || (!stmt_is_pure(s) && (s->kind != ST_LOAD || map_get(&z->written, s->buf)))) return -1;
    int all = 0;
    for (int k = 0; k < s->nargs; k++) {
        int of = depends(z, c, s->args[k]);
        if (of < 0) return -1;
        all |= of;
    }
    return all;
}

static int depends_on(Contractor *z, const Contraction *c, Temp t) { return z->budget = BUDGET, depends(z, c, t); }

// Does an element that t needs have the row as its last index, or the column?
static bool lies_along(Contractor *z, const Contraction *c, Temp t, int v) {
    const Stmt *s = is_made(z, t) ? z->def[t] : NULL;
    if (!s || s->kind == ST_FOR) return false;
    if (s->kind == ST_LOAD && s->nargs && depends_on(z, c, s->args[s->nargs - 1]) == 1 << v) return true;
    for (int k = 0; k < s->nargs; k++)
        if (lies_along(z, c, s->args[k], v)) return true;
    return false;
}

static bool add_leaf(Contractor *z, Contraction *c, int side, Temp t) {
    for (int i = 0; i < c->n[side]; i++)
        if (c->leaf[side][i].t == t) return true;
    if (c->n[side] == MOST_LEAVES) return false;
    c->leaf[side][c->n[side]++] = (Leaf){.t = t, .along = lies_along(z, c, t, side)};
    return true;
}

// Takes a term apart into values of rows, of columns, and cheap operations.
static bool take_apart(Contractor *z, Contraction *c, Temp t) {
    int of = depends_on(z, c, t);
    if (of < 0 || kind_of(z, t) != c->to->buf->kind) return false;
    if (!of) return true;
    if (!(of & 1 << COLUMN)) return add_leaf(z, c, ROW, t);
    if (!(of & 1 << ROW)) return add_leaf(z, c, COLUMN, t);
    const Stmt *s = z->def[t];
    if (s->kind != ST_OP || op_info[s->op].cost > CHEAP || ++c->ops > MOST_OPS) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!take_apart(z, c, s->args[k])) return false;
    return true;
}

static bool is_effect(const Stmt *s) { return !stmt_is_pure(s) && s->kind != ST_LOAD && s->kind != ST_GET && s->kind != ST_FETCH; }

// The effects of a block, of which there are n.
static bool effects(const Block *b, int n, Stmt **out) {
    int k = 0;
    for (int i = 0; i < b->stmts.len; i++) {
        if (!is_effect(b->stmts.data[i])) continue;
        if (k == n) return false;
        out[k++] = b->stmts.data[i];
    }
    return k == n;
}

static const Stmt *def_of(const Contractor *z, Temp t, StmtKind kind) {
    return z->def[t] && z->def[t]->kind == kind ? z->def[t] : NULL;
}

static void swap_sides(Contraction *c) {
    Stmt *row = c->loop[ROW];
    c->loop[ROW] = c->loop[COLUMN], c->loop[COLUMN] = row;
}

// Is the element that is stored to that of a row and a column, which comes last?
static bool is_element(Contractor *z, Contraction *c) {
    const Temp *index = stmt_index(c->to);
    int rank = c->to->buf->rank, rows = 0;
    if (rank < 2) return false;
    if (index[rank - 1] == c->loop[ROW]->dst) swap_sides(c);
    if (index[rank - 1] != c->loop[COLUMN]->dst) return false;
    for (int k = 0; k < rank - 1; k++) {
        rows += index[k] == c->loop[ROW]->dst;
        if (index[k] != c->loop[ROW]->dst && is_made(z, index[k])) return false;
    }
    return rows == 1;
}

static bool is_for(const Contractor *z, const Stmt *s) { return nest_is_plain(s) && !s->outer && !is_made(z, s->args[0]); }

static bool find(Contractor *z, Stmt *nest, Contraction *c) {
    Stmt *e[3], *set;
    *c = (Contraction){.nest = nest, .loop = {nest}, .def = z->def, .made = z->made};
    if (!is_for(z, nest) || !effects(nest->body, 1, &c->loop[COLUMN]) || !is_for(z, c->loop[COLUMN])) return false;
    if (!effects(c->loop[COLUMN]->body, 3, e) || e[0]->kind != ST_CELL || !is_for(z, e[1])) return false;
    c->loop[OVER] = e[1], c->to = e[2];
    if ((c->to->kind != ST_STORE && c->to->kind != ST_ADDTO) || !kind_is_float(c->to->buf->kind)) return false;
    if (!effects(e[1]->body, 1, &set) || set->kind != ST_SET || set->dst != e[0]->dst) return false;
    const Stmt *zero = def_of(z, e[0]->args[0], ST_LIT), *value = def_of(z, c->to->args[0], ST_GET),
               *sum = def_of(z, set->args[0], ST_OP);
    if (!zero || zero->u.real != 0 || !value || value->args[0] != set->dst || !sum || sum->op != OP_add || !is_element(z, c))
        return false;
    for (int k = 0; k < 2; k++) {
        const Stmt *get = def_of(z, sum->args[k], ST_GET);
        if (!get || get->args[0] != set->dst) continue;
        c->term = sum->args[1 - k];
        bool rows = false, columns = false;
        if (!take_apart(z, c, c->term)) return false;
        for (int i = 0; i < c->n[ROW]; i++) rows |= depends_on(z, c, c->leaf[ROW][i].t) == (1 << ROW | 1 << OVER);
        for (int i = 0; i < c->n[COLUMN]; i++) columns |= depends_on(z, c, c->leaf[COLUMN][i].t) == (1 << COLUMN | 1 << OVER);
        return rows && columns;
    }
    return false;
}

// ---- symmetry

// Is t what u is with rows and columns exchanged (1), or the negative of that (-1)? 0: not as far as is known.
static int exchanged(Contractor *z, const Contraction *c, Temp t, Temp u) {
    if (t == c->loop[ROW]->dst) return u == c->loop[COLUMN]->dst;
    if (t == c->loop[COLUMN]->dst) return u == c->loop[ROW]->dst;
    if (!is_made(z, t) || !is_made(z, u) || t == c->loop[OVER]->dst) return t == u;
    const Stmt *a = z->def[t], *b = z->def[u];
    if (z->budget-- <= 0 || a->kind != b->kind || a->op != b->op || a->nargs != b->nargs || a->buf != b->buf ||
        kind_of(z, t) != kind_of(z, u))
        return 0;
    if (a->kind == ST_LIT) return kind_is_float(kind_of(z, t)) ? a->u.real == b->u.real : a->u.num == b->u.num;
    bool op = a->kind == ST_OP && kind_is_float(kind_of(z, t));
    if (op && a->nargs == 2 && (a->op == OP_add || a->op == OP_sub || a->op == OP_mul)) {
        int x = exchanged(z, c, a->args[0], b->args[0]), y = exchanged(z, c, a->args[1], b->args[1]);
        if (x && y && (a->op == OP_mul || x == y)) return a->op == OP_mul ? x * y : x;
        x = exchanged(z, c, a->args[0], b->args[1]), y = exchanged(z, c, a->args[1], b->args[0]);
        if (!x || !y || (a->op != OP_mul && x != y)) return 0;
        return a->op == OP_mul ? x * y : a->op == OP_sub ? -x : x;
    }
    if (op && (a->op == OP_neg || a->op == OP_abs)) {
        int x = exchanged(z, c, a->args[0], b->args[0]);
        return a->op == OP_abs ? x != 0 : x;
    }
    for (int k = 0; k < a->nargs; k++)
        if (exchanged(z, c, a->args[k], b->args[k]) != 1) return 0;
    return 1;
}

static bool is_symmetric(Contractor *z, const Contraction *c) {
    z->budget = BUDGET;
    return c->to->kind == ST_STORE && c->to->buf->rank == 2 && c->loop[ROW]->args[0] == c->loop[COLUMN]->args[0] &&
           exchanged(z, c, c->term, c->term) == 1;
}

static int place_of(const Block *b, const Stmt *s) {
    int at = 0;
    while (at < b->stmts.len && b->stmts.data[at] != s) at++;
    return at < b->stmts.len ? at : -1;
}

// ---- nests

// How deep loops are, or more if there is anything that cannot be taken apart.
static int depth_of(const Block *b) {
    int most = 0;
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        bool known = stmt_is_pure(s) || s->kind == ST_LOAD || s->kind == ST_STORE || s->kind == ST_ADDTO || s->kind == ST_CELL ||
                     s->kind == ST_GET || s->kind == ST_SET || s->kind == ST_FILL || s->kind == ST_NEW;
        if (s->kind != ST_FOR && !known) return VARS + 1;
        if (s->kind == ST_FOR && (!nest_is_plain(s) || s->few || s->outer)) return VARS + 1;
        int of = s->kind == ST_FOR ? 1 + depth_of(s->body) : 0;
        if (of > most) most = of;
    }
    return most;
}

// Is it large enough? -1: that is known not to be so.
static Temp put_worth(Contractor *z, Block *to, const Contraction *c) {
    Builder *b = &z->b;
    Temp least = c->loop[ROW]->args[0], work = least;
    int64_t n, small = z->opt->always ? 1 : z->plain ? LEAST_PLAIN : LEAST;
    for (int v = 0; v < VARS; v++)
        if (iter_literal(&z->m.it, c->loop[v]->args[0], &n) && n < small) return -1;
    for (int v = ROW + 1; v < VARS; v++) {
        least = build_int(b, to, OP_min, least, c->loop[v]->args[0]);
        work = build_int(b, to, OP_mul, work, c->loop[v]->args[0]);
    }
    Temp all = build_op(b, to, KIND_BOOL, OP_le, build_literal(b, to, KIND_INT, small), least);
    if (z->opt->always) return all;
    Temp most = build_literal(b, to, KIND_INT, z->plain ? LEAST_PLAIN_WORK : LEAST_WORK);
    return build_op(b, to, KIND_BOOL, OP_and, all, build_op(b, to, KIND_BOOL, OP_le, most, work));
}

static void explain_contraction(const Contractor *z, const Contraction *c) {
    const char *name = z->b.tree->temps.data[c->nest->dst].name;
    explain(z->b.tree->func->ir->explain, EXPLAIN_SCHEDULE, c->nest->span,
            "loop over `%s`: in blocks, where it is large: products of what depends on rows or columns", name ? name : "i");
}

static void look_at(Contractor *z, const Stmt *nest) {
    map_free(&z->made), map_free(&z->written);
    z->made = z->written = (Map){0};
    iter_more(&z->m.it, NULL);
    z->def = z->m.it.def;
    tree_definitions(z->branch->body, z->def);
    map_put(&z->made, contraction_key(nest->dst), (void *)nest);
    note_made(z, nest->body);
}

// ---- zeros that sums are added to

// Does s make all elements of a matrix 0, and nothing else?
static bool makes_zero(const Contractor *z, const Stmt *s, const Buf *b) {
    const Stmt *set = s, *index[2] = {0};
    for (int d = 0; d < 2 && set->kind == ST_FOR; d++) {
        Stmt *e;
        if (!nest_is_plain(set) || set->args[0] != b->extent[d] || !effects(set->body, 1, &e)) return false;
        index[d] = set, set = e;
    }
    if (set->buf != b || (set->kind != ST_STORE && set->kind != ST_FILL) || (set->kind == ST_STORE) != (set != s)) return false;
    if (set->kind == ST_STORE && !(index[1] && set->args[1] == index[0]->dst && set->args[2] == index[1]->dst)) return false;
    const Stmt *zero = def_of(z, set->args[0], ST_LIT);
    return zero && zero->u.real == 0;
}

// That statement, of those before number `at` of a block, if nothing in between accesses the matrix; or -1.
static int find_zeros(const Contractor *z, const Block *block, int at, const Buf *b) {
    while (at-- > 0) {
        if (makes_zero(z, block->stmts.data[at], b)) return at;
        if (stmt_accesses(block->stmts.data[at], b)) return -1;
    }
    return -1;
}

typedef struct Place { // of a nest: the branch with blocks, which stands in a block
    Block *block;
    int at;
    Stmt *branch;
} Place;

// All elements are stored if they would be 0 before. zeros: what is not needed then, before the branch: of the other alternative.
static void drop_zeros(Contractor *z, const Place *place, Contraction *c, int *at) {
    Block *body = place->branch->body;
    const Buf *b = c->to->buf;
    if (c->to->kind != ST_ADDTO || b->rank != 2 || b->extent[0] != c->loop[ROW]->args[0] ||
        b->extent[1] != c->loop[COLUMN]->args[0])
        return;
    if (stmt_index(c->to)[0] != c->loop[ROW]->dst) return;
    int zeros = find_zeros(z, body, *at, b);
    if (zeros >= 0) {
        block_delete(body, zeros);
        --*at;
        c->to->kind = ST_STORE;
        return;
    }
    for (int i = 0; i < *at; i++)
        if (stmt_accesses(body->stmts.data[i], b)) return;
    zeros = find_zeros(z, place->block, place->at, b);
    if (zeros < 0) return;
    block_insert(place->branch->other, 0, place->block->stmts.data[zeros]);
    map_put(&z->moved, place->block->stmts.data[zeros], place->branch);
    c->to->kind = ST_STORE;
}

// Do indices in the loops after a contraction say the element that it stores?
static bool is_same_element(const Contraction *c, const Temp *index) {
    for (int k = 0; k < c->to->buf->rank; k++) {
        Temp t = stmt_index(c->to)[k];
        int side = t == c->loop[ROW]->dst ? ROW : t == c->loop[COLUMN]->dst ? COLUMN : VARS;
        if (index[k] != (side == VARS ? t : c->after[side]->dst)) return false;
    }
    return true;
}

// The nest after the contraction, if all that it does is to store something cheap that is computed from each sum in its place:
//
//     for i { for j { z[i,j] = f(z[i,j]) } }
static bool find_after(Contractor *z, Stmt *nest, Contraction *c) {
    Stmt *inner, *store, *load = NULL;
    if (c->to->kind != ST_STORE || !is_for(z, nest) || !effects(nest->body, 1, &inner) || !is_for(z, inner) ||
        !effects(inner->body, 1, &store) || store->kind != ST_STORE || store->buf != c->to->buf)
        return false;
    int row = 0;
    while (stmt_index(c->to)[row] != c->loop[ROW]->dst) row++;
    bool turned = stmt_index(store)[row] == inner->dst;
    c->after[ROW] = turned ? inner : nest, c->after[COLUMN] = turned ? nest : inner;
    int ops = 0, loads = 0;
    const Block *blocks[] = {nest->body, inner->body};
    for (int b = 0; b < 2; b++)
        for (int k = 0; k < blocks[b]->stmts.len; k++) {
            Stmt *s = blocks[b]->stmts.data[k];
            ops += s->kind == ST_OP || s->kind == ST_SELECT || s->kind == ST_CONV;
            if (s->kind == ST_OP && op_info[s->op].cost > CHEAP) return false;
            if (s->kind == ST_LOAD && s->buf == store->buf) load = s, loads++;
        }
    if (ops > MOST_AFTER || loads != 1 || !is_same_element(c, load->args) || !is_same_element(c, stmt_index(store))) return false;
    c->sum = load->dst, c->result = store->args[0];
    return c->after[ROW]->args[0] == c->loop[ROW]->args[0] && c->after[COLUMN]->args[0] == c->loop[COLUMN]->args[0];
}

static void take_after(Contractor *z, Block *body, int at, Contraction *c) {
    Stmt *nest = at < body->stmts.len ? body->stmts.data[at] : NULL;
    if (c->symmetric || !nest || nest->kind != ST_FOR || !find_after(z, nest, c)) {
        c->after[ROW] = c->after[COLUMN] = NULL;
        return;
    }
    map_put(&z->made, contraction_key(nest->dst), nest);
    note_made(z, nest->body);
    c->made = z->made;
    block_delete(body, at);
}

static bool is_deep(const Stmt *s) { return s->kind == ST_FOR && 1 + depth_of(s->body) >= VARS; }

// Are the operands elements, of which those of neighbouring columns lie side by side? Then no packing is needed.
static bool are_beside(const Contractor *z, const Contraction *c) {
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < c->n[side]; i++) {
            const Leaf *x = &c->leaf[side][i];
            if (z->def[x->t]->kind != ST_LOAD || (side == COLUMN && !x->along)) return false;
        }
    return true;
}

// Asks whether the contractions of a nest are worth it; false if not all that is in it is one, or light.
static bool ask(Contractor *z, const Place *place, Block *condition, Temp *worth) {
    Block *body = place->branch->body;
    z->beside = true;
    for (int i = 0; i < body->stmts.len; i++) {
        Contraction c;
        if (!is_deep(body->stmts.data[i])) continue;
        look_at(z, body->stmts.data[i]);
        if (!find(z, body->stmts.data[i], &c)) return false;
        Temp one = put_worth(z, condition, &c);
        if (one < 0) return false;
        *worth = *worth < 0 ? one : build_op(&z->b, condition, KIND_BOOL, OP_and, *worth, one);
        z->beside &= are_beside(z, &c);
        drop_zeros(z, place, &c, &i);
    }
    return *worth >= 0;
}

// A copy of the contraction where the loop over the columns stands outside of that over the rows.
static Stmt *with_columns_outside(Contractor *z, const Contraction *c, Block *to) {
    Stmt *outer = tree_clone_apart(z->b.arena, z->b.tree, c->nest, to), *inner = NULL;
    if (c->loop[COLUMN] == c->nest || !effects(outer->body, 1, &inner)) return outer;
    const int at = place_of(outer->body, inner);
    block_delete(outer->body, at);
    for (int i = 0; i < inner->body->stmts.len; i++) block_insert(outer->body, at + i, inner->body->stmts.data[i]);
    inner->body->stmts.len = 0;
    vec_push(&inner->body->stmts, outer);
    return inner;
}

// What the branch with blocks is about to do, without them.
static void put_plain(Contractor *z, const Block *body, Block *to) {
    for (int i = 0; i < body->stmts.len; i++) {
        Stmt *s = body->stmts.data[i], *copy;
        Contraction c;
        if (is_deep(s)) look_at(z, s);
        if (is_deep(s) && find(z, s, &c)) copy = with_columns_outside(z, &c, to);
        else if (s->kind == ST_FOR) copy = tree_clone_apart(z->b.arena, z->b.tree, s, to);
        else copy = tree_clone(z->b.arena, z->b.tree, s);
        map_put(&z->seen, copy, copy);
        vec_push(&to->stmts, copy);
    }
}

static void model_open(Model *m, Arena *arena, Tree *tree, const LoopOptions *opt) {
    *m = (Model){.machine = opt->machine,
                 .roots = opt->roots,
                 .masks = opt->width >= LANES_MASKED,
                 .silent = true,
                 .always = opt->always};
    iter_init(&m->it, arena, tree, false);
    model_find_windows(m);
}

static void model_close(Model *m) {
    iter_free(&m->it);
    map_free(&m->windows), map_free(&m->rests);
    vec_free(&m->inner), vec_free(&m->taken);
}

// The time of loops in a block, by the model.
static double time_of(Model *m, const Block *b) {
    double sum = 0;
    bool lanes;
    for (int i = 0; i < b->stmts.len; i++)
        if (b->stmts.data[i]->kind == ST_FOR) sum += model_best(m, b->stmts.data[i], &lanes);
    return sum;
}

// Instead of the nest, `plain` is what is done where blocks are not worth it, unless it takes longer: then
// it computes again and again what the nest computes once.
static void choose_other(Contractor *z, Block *other, Block *plain) {
    enum { MOST_TIMES = 2 }; // the model takes too little notice of what rows for lanes cost
    Block nest = *other, *not = plain;
    const double before = time_of(&z->m, &nest);
    model_more(&z->m, plain);
    if (time_of(&z->m, plain) <= MOST_TIMES * before) *other = *plain, not = &nest;
    block_free(not);
}

// Puts blocks in the place of the contractions of a nest.
static bool put_blocks(Contractor *z, const Place *place) {
    Block *body = place->branch->body;
    bool any = false;
    for (int i = 0; i < body->stmts.len; i++) {
        Stmt *s = body->stmts.data[i];
        Contraction c;
        if (!is_deep(s)) continue;
        look_at(z, s);
        if (!find(z, s, &c)) return false;
        Block out = {0};
        explain_contraction(z, &c);
        c.symmetric = is_symmetric(z, &c);
        take_after(z, body, i + 1, &c);
        contraction_put(&z->b, z->opt, &c, &out);
        body->stmts.data[i] = out.stmts.data[0];
        for (int k = 1; k < out.stmts.len; k++) block_insert(body, i + k, out.stmts.data[k]);
        i += out.stmts.len - 1;
        vec_free(&out.stmts);
        any = true;
    }
    return any;
}

// ---- sums of contractions

// Is t in one contraction what u is in the other?
static bool is_same(Contractor *z, const Contraction *c, Temp t, const Contraction *o, Temp u) {
    for (int v = 0; v < VARS; v++)
        if (c->loop[v]->dst == t || o->loop[v]->dst == u) return c->loop[v]->dst == t && o->loop[v]->dst == u;
    if (!is_made(z, t) || !is_made(z, u)) return t == u;
    const Stmt *a = z->def[t], *b = z->def[u];
    if (z->budget-- <= 0 || a->kind != b->kind || a->op != b->op || a->nargs != b->nargs || a->buf != b->buf ||
        kind_of(z, t) != kind_of(z, u))
        return false;
    if (a->kind == ST_LIT) return kind_is_float(kind_of(z, t)) ? a->u.real == b->u.real : a->u.num == b->u.num;
    if (a->kind == ST_ARG && a->u.num != b->u.num) return false;
    for (int k = 0; k < a->nargs; k++)
        if (!is_same(z, c, a->args[k], o, b->args[k])) return false;
    return true;
}

// Number `at` of the block and more: statements for what t of one contraction is in the other.
static Temp put_same(Contractor *z, Block *to, int *at, const Contraction *c, const Contraction *o, Temp u) {
    for (int v = 0; v < VARS; v++)
        if (o->loop[v]->dst == u) return c->loop[v]->dst;
    if (!is_made(z, u)) return u;
    const Stmt *s = z->def[u];
    Stmt *copy = arena_copy(z->b.arena, s, sizeof *s);
    copy->args = ARENA_ARRAY(z->b.arena, Temp, s->nargs + 1);
    for (int k = 0; k < s->nargs; k++) copy->args[k] = put_same(z, to, at, c, o, s->args[k]);
    copy->dst = build_temp(&z->b, z->b.tree->temps.data[u]);
    block_insert(to, (*at)++, copy);
    return copy->dst;
}

// x * y + x * y' are x * (y + y'), which is one contraction. False if no factor is the same.
static bool join_factors(Contractor *z, Contraction *c, const Contraction *o) {
    Stmt *mul = z->def[c->term];
    const Stmt *other = z->def[o->term];
    Block *body = c->loop[OVER]->body;
    int at = place_of(body, mul);
    if (!z->opt->fast || at < 0 || mul->kind != ST_OP || mul->op != OP_mul || other->kind != ST_OP || other->op != OP_mul)
        return false;
    for (int v = 0; v < VARS; v++)
        if (c->loop[v]->args[0] != o->loop[v]->args[0]) return false;
    for (int i = 0; i < 4; i++) {
        int x = i & 1, y = i >> 1;
        z->budget = BUDGET;
        if (!is_same(z, c, mul->args[x], o, other->args[y])) continue;
        Block one = {0};
        Temp more = put_same(z, body, &at, c, o, other->args[1 - y]),
             sum = build_op(&z->b, &one, kind_of(z, c->term), OP_add, mul->args[1 - x], more);
        block_insert(body, at, one.stmts.data[0]);
        vec_free(&one.stmts);
        mul->args = arena_copy(z->b.arena, mul->args, 2 * sizeof *mul->args);
        mul->args[1 - x] = sum;
        return true;
    }
    return false;
}

// The nest before number `at` that stores to all of the array, as a contraction.
static bool find_maker(Contractor *z, Block *body, int at, const Buf *b, Contraction *c) {
    for (int i = 0; i < at; i++) {
        Stmt *s = body->stmts.data[i];
        if (s->kind != ST_FOR || 1 + depth_of(s->body) != VARS || !stmt_accesses(s, b)) continue;
        look_at(z, s);
        return find(z, s, c) && c->to->buf == b && c->to->kind == ST_STORE && stmt_index(c->to)[0] == c->loop[ROW]->dst;
    }
    return false;
}

// Is the matrix, which is new, loaded for one element at a time, that of both loops, and nowhere else?
static bool is_term(const Contractor *z, const Block *body, const Stmt *load, const Stmt *i, const Stmt *j, int first_buf) {
    return load && load->kind == ST_LOAD && load->buf->id >= first_buf && load->buf->rank == 2 && load->args[0] == i->dst &&
           load->args[1] == j->dst && block_accesses(body, load->buf) == 2 && z->b.tree->bufs.data[load->buf->id] == load->buf;
}

// The first stores, or adds, to where `store` of loops i and j does; the second adds.
static void store_to(Contractor *z, const Contraction *c, const Stmt *store, StmtKind kind, const Stmt *i, const Stmt *j) {
    Temp *args = arena_copy(z->b.arena, store->args, sizeof *args * (size_t)store->nargs);
    args[0] = c->to->args[0];
    for (int k = 1; k < store->nargs; k++)
        if (args[k] == i->dst || args[k] == j->dst) args[k] = c->loop[args[k] == i->dst ? ROW : COLUMN]->dst;
    c->to->args = args, c->to->nargs = store->nargs, c->to->buf = store->buf, c->to->kind = kind;
}

// Could the second of two nests run at the place of the first? What stands between changes nothing that it accesses.
static bool is_ready(const Block *body, int first, int second) {
    for (int i = first + 1; i < second; i++) {
        Effects e = {0};
        bool ready = true;
        effects_add(&e, body->stmts.data[i]);
        for (int k = 0; k < e.access.len; k++)
            ready &= !e.access.data[k].write || !stmt_accesses(body->stmts.data[second], e.access.data[k].buf);
        effects_free(&e);
        if (!ready) return false;
    }
    return true;
}

static void drop_new(Block *body, const Buf *b) {
    for (int k = 0; k < body->stmts.len; k++)
        if (body->stmts.data[k]->kind == ST_NEW && body->stmts.data[k]->buf == b) block_delete(body, k--);
}

// for i { for j { z[i,j] = p[i,j] + q[i,j] } }, where p and q are contractions: these are stored and added to z, or are one.
static bool join_sum(Contractor *z, Block *body, int at, int first_buf) {
    Stmt *i = body->stmts.data[at], *j, *store;
    if (!nest_is_plain(i) || !effects(i->body, 1, &j) || !nest_is_plain(j) || !effects(j->body, 1, &store)) return false;
    if (store->kind != ST_STORE && store->kind != ST_ADDTO) return false;
    look_at(z, i);
    for (int k = 1; k < store->nargs; k++)
        if (store->args[k] != i->dst && store->args[k] != j->dst && is_made(z, store->args[k])) return false;
    const Stmt *sum = def_of(z, store->args[0], ST_OP);
    if (!sum || sum->op != OP_add) return false;
    const Stmt *p = z->def[sum->args[0]], *q = z->def[sum->args[1]];
    if (!is_term(z, body, p, i, j, first_buf) || !is_term(z, body, q, i, j, first_buf) || p->buf == q->buf) return false;
    Contraction c, o;
    for (int k = 0; k < at; k++)
        if (stmt_accesses(body->stmts.data[k], store->buf)) return false;
    if (!find_maker(z, body, at, q->buf, &o) || !find_maker(z, body, at, p->buf, &c)) return false;
    if (place_of(body, o.nest) < place_of(body, c.nest)) { // what stores comes first
        Contraction first = o;
        o = c, c = first;
    }
    note_made(z, o.nest->body), map_put(&z->made, contraction_key(o.nest->dst), o.nest);
    store_to(z, &c, store, store->kind, i, j), store_to(z, &o, store, ST_ADDTO, i, j);
    block_delete(body, at);
    if (is_ready(body, place_of(body, c.nest), place_of(body, o.nest)) && join_factors(z, &c, &o))
        block_delete(body, place_of(body, o.nest));
    drop_new(body, p->buf), drop_new(body, q->buf);
    return true;
}

// for i { for j { z[i,j] = f(p[i,j]) } }, where p is a contraction: this is stored to z, which takes p's place.
static bool join_result(Contractor *z, Block *body, int at, int first_buf) {
    Stmt *i = body->stmts.data[at], *j, *store, *load = NULL;
    if (!nest_is_plain(i) || !effects(i->body, 1, &j) || !nest_is_plain(j) || !effects(j->body, 1, &store)) return false;
    if (store->kind != ST_STORE || block_accesses(body, store->buf) != 1) return false;
    look_at(z, i);
    int rows = 0, columns = 0;
    for (int k = 1; k < store->nargs; k++) {
        rows += store->args[k] == i->dst, columns += store->args[k] == j->dst;
        if (store->args[k] != i->dst && store->args[k] != j->dst && is_made(z, store->args[k])) return false;
    }
    for (int k = 0; k < j->body->stmts.len && !load; k++)
        if (is_term(z, body, j->body->stmts.data[k], i, j, first_buf)) load = j->body->stmts.data[k];
    Contraction c;
    if (rows != 1 || columns != 1 || !load || load->buf->kind != store->buf->kind || !find_maker(z, body, at, load->buf, &c))
        return false;
    drop_new(body, load->buf);
    store_to(z, &c, store, ST_STORE, i, j);
    load->args = arena_copy(z->b.arena, stmt_index(store), sizeof(Temp) * (size_t)store->buf->rank);
    load->nargs = store->buf->rank, load->buf = store->buf;
    return true;
}

static bool join_some(Contractor *z, Block *body, int first_buf) {
    for (int i = 0; i < body->stmts.len; i++)
        if (body->stmts.data[i]->kind == ST_FOR && join_sum(z, body, i, first_buf)) return true;
    for (int i = 0; i < body->stmts.len; i++)
        if (body->stmts.data[i]->kind == ST_FOR && join_result(z, body, i, first_buf)) return true;
    return false;
}

static bool has_new(const Block *body, int first_buf) {
    for (int i = 0; i < body->stmts.len; i++)
        if (body->stmts.data[i]->kind == ST_NEW && body->stmts.data[i]->buf->id >= first_buf) return true;
    return false;
}

// Would the loop have lanes, or one in it around others?
static bool has_lanes(Contractor *z, Stmt *loop) {
    bool lanes = false;
    model_best(&z->m, loop, &lanes);
    z->m.depth++;
    for (int i = 0; i < loop->body->stmts.len && !lanes; i++) {
        Stmt *s = loop->body->stmts.data[i];
        lanes = s->kind == ST_FOR && block_has_for(s->body) && has_lanes(z, s);
    }
    z->m.depth--;
    return lanes;
}

// What its condition needs, before the branch; what it has taken over from before it, no more.
static void put_condition(Contractor *z, const Place *place, const Block *condition) {
    Block *block = place->block;
    int at = place->at, n = 0;
    for (int i = 0; i < block->stmts.len; i++)
        if (!map_get(&z->moved, block->stmts.data[i])) block->stmts.data[n++] = block->stmts.data[i];
    at -= block->stmts.len - n, block->stmts.len = n;
    for (int i = 0; i < condition->stmts.len; i++) block_insert(block, at + i, condition->stmts.data[i]);
}

static bool contract(Contractor *z, Block *block, int at) {
    Stmt *s = block->stmts.data[at];
    if (map_get(&z->seen, s) || !nest_is_plain(s) || s->outer || s->few) return false;
    if (1 + depth_of(s->body) != VARS || block_size(s->body) > MOST_INSIDE) return false;
    bool apart = iter_look(&z->m.it, s, false);
    iter_forget(&z->m.it);
    if (!apart) return false;
    z->plain = !has_lanes(z, s);
    Block condition = {0};
    Temp worth = -1, later = 0;
    int bufs = z->b.tree->bufs.len, temps = z->b.tree->temps.len;
    z->b.span = s->span;
    Stmt *branch = tree_stmt(z->b.arena, ST_IF, -1, 1, &later, s->span);
    branch->body = ARENA_NEW(z->b.arena, Block), branch->other = ARENA_NEW(z->b.arena, Block);
    const Place place = {block, at, branch};
    z->branch = branch;
    Stmt *copy = tree_clone_apart(z->b.arena, z->b.tree, s, branch->body);
    vec_push(&branch->body->stmts, copy);
    vec_push(&branch->other->stmts, s);
    block->stmts.data[at] = branch;
    int before = z->b.tree->bufs.len;
    look_at(z, copy);
    products_split_nest(z->b.arena, z->b.tree, z->def, branch->body, copy);
    map_put(&z->seen, s, s);
    while (join_some(z, branch->body, before)) continue;
    Block plain = {0};
    bool good = !has_new(branch->body, before); // large arrays would cost more than they gain
    good = good && ask(z, &place, &condition, &worth);
    if (good && z->beside) put_plain(z, branch->body, &plain);
    good = good && put_blocks(z, &place) && tree_step(z->b.tree, s);
    if (!good) block_free(&plain);
    if (good) {
        if (z->beside) choose_other(z, branch->other, &plain);
        branch->args[0] = worth;
        put_condition(z, &place, &condition);
        map_free(&z->moved), z->moved = (Map){0};
        model_more(&z->m, branch->body);
        iter_more(&z->m.it, &condition);
    } else {
        block->stmts.data[at] = s;
        map_free(&z->moved), z->moved = (Map){0};
        z->b.tree->bufs.len = bufs, z->b.tree->temps.len = temps;
        iter_less(&z->m.it, temps);
        block_free(branch->body);
    }
    vec_free(&condition.stmts);
    return good;
}

static bool contract_all(Contractor *z, Block *block) {
    bool any = false;
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        bool lanes = false;
        if (s->outer || s->wishes) continue;
        if (s->kind == ST_FOR && contract(z, block, i)) {
            any = true;
            s = z->branch, i = place_of(block, s);
        }
        if (s->kind == ST_FOR) model_best(&z->m, s, &lanes);
        if (lanes) continue;
        z->m.depth += s->kind == ST_FOR || s->kind == ST_LOOP;
        any |= contract_all(z, s->body);
        any |= contract_all(z, s->other);
        z->m.depth -= s->kind == ST_FOR || s->kind == ST_LOOP;
    }
    return any;
}

void loops_contract(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Contractor z = {.b = {.arena = arena, .tree = tree}, .opt = opt};
    model_open(&z.m, arena, tree, opt);
    bool any = contract_all(&z, tree->body);
    model_close(&z.m);
    map_free(&z.seen), map_free(&z.made), map_free(&z.written), map_free(&z.moved);
    if (any) lower_remove_dead(arena, tree);
}
