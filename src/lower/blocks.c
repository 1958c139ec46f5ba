// Contractions in blocks: all columns that the nearest caches hold, for a part of the k, are packed, in panels of as many columns
// as a few vectors have lanes; and for each panel of a few rows, which is packed as well, and each of columns, registers hold the
// sums. Panels at the ends, which have less rows or columns, repeat the last one, and their sums wait in an array, from which those
// are taken that are asked for. Where rows and columns may be exchanged, panels of which all columns come after the rows are left
// out, and elements beyond the diagonal are copies of the others. What is computed from sums (Contraction.after) is stored the last
// time that any are added, instead of them.
//
// Threads take panels of rows, or of columns if there are more of these, for all k, and each packs what it needs itself, so that
// none waits for another: panels that follow each other, since loops beside are shared out likewise, and a thread then finds in
// its caches what it has left there; of a result that is mirrored each one every so many, since rows have more and more to do.
// This depends on how many threads there are; what an element adds up does not.
// Where there are few rows and columns and many k, each would pack much for little; then threads take parts of the k, as many
// as depends on extents alone, with sums of their own, which are added up afterwards in the order of the parts:
//
//     for p < parts { for columns, k of part p in blocks { …; s[p,…] += … } }
//     for i { for j { z[i,j] = sum over p of s[p,i,j] } }
#include "lower/contract.h"
#include "lower/internal.h"

// In bytes: of panels of rows and columns, which the nearest cache holds. Of k: at least and at most so many at a time, in steps.
enum { NEAREST = 28 * 1024, STEP = 32, MOST_OVER = 256, PAD = 8 };
// Vectors of a panel; rows, and panels at a time, at most; of what is copied beyond a diagonal, columns at a time.
// So many products are worth sharing out to threads. Parts of the k, few or many, and how many each has at least. Each part has a
// copy of the result, which has so many elements at most, and for each k.
enum { SHARED_WORK = 1 << 20, FEW_PARTS = 8, MANY_PARTS = 24, FEW_OVER = 256, MANY_OVER = 1024, MOST_COPIED = 1 << 16, COPIED = 8 };
enum { VECTORS = 2, MOST_ROWS = 12, MOST_PANELS = 1024, LINE = 8 };

typedef struct Blocks {
    Builder *b;
    Contraction *c;
    int rows, columns, over, panels; // of panels: rows and columns; k and panels of columns at a time
    int lanes;                       // of the loop over a panel's columns (Stmt.lanes)
    Temp of_rows, of_columns;        // the same as temps
    Temp n[VARS], last[2];           // extents; the last row and column
    Temp part, begin, length;        // of a part: its number, -1 if there are none, the first k and how many
    Buf *sums;                       // of all parts
    Temp from[2], end[2], step[2];   // of the panels of rows and of columns, from one to another, every so many; -1: from the
                                     // first, to the last, each of them
    Temp first, count;               // k of this time: the first, and how many
    Temp is_first, is_last;          // is this the first time, or the last?
    Temp first_panel, many;          // panels of columns of this time: the first, and how many
    Temp column;                     // the first one of a panel
    Temp row[MOST_ROWS];             // of a panel: its rows, some of which there may not be
    Temp whole;                      // are there all rows and columns of two panels?
    Buf *edge;                       // sums of others
} Blocks;

static Kind kind_of(const Blocks *z) { return z->c->to->buf->kind; }
static Temp put_int(Blocks *z, Block *to, Op op, Temp a, Temp b) { return build_int(z->b, to, op, a, b); }
static Temp put_number(Blocks *z, Block *to, int64_t value) { return build_literal(z->b, to, KIND_INT, value); }
static Temp put_plus(Blocks *z, Block *to, Temp a, int64_t value) {
    return value ? put_int(z, to, OP_add, a, put_number(z, to, value)) : a;
}
static Temp put_test(Blocks *z, Block *to, Op op, Temp a, Temp b) { return build_op(z->b, to, KIND_BOOL, op, a, b); }

static Stmt *put_outer(Blocks *z, Block *to, const char *name, Temp count) {
    Stmt *s = build_loop_named(z->b, to, name, count);
    s->outer = true;
    return s;
}

static void choose_sizes(Blocks *z, const LoopOptions *opt) {
    const Contraction *c = z->c;
    int size = (int)kind_size(kind_of(z)), registers = opt->machine->registers ? (int)opt->machine->registers : opt->registers;
    int taken = VECTORS * (c->n[COLUMN] + (c->ops > 1)) + c->n[ROW];
    z->lanes = VECTORS * (int)kind_size(KIND_DOUBLE) / size;
    z->columns = z->lanes * opt->width;
    z->rows = (registers - taken) / VECTORS;
    if (z->rows > MOST_ROWS) z->rows = MOST_ROWS;
    if (z->rows < 1) z->rows = 1;
    z->over = NEAREST / (size * (z->rows * c->n[ROW] + z->columns * c->n[COLUMN])) / STEP * STEP;
    if (z->over > MOST_OVER) z->over = MOST_OVER;
    if (z->over < STEP) z->over = STEP;
    int64_t panels = (int64_t)opt->machine->cache / 2 / ((int64_t)size * z->columns * z->over * c->n[COLUMN]);
    z->panels = panels < 1 ? 1 : panels > MOST_PANELS ? MOST_PANELS : (int)panels;
}

// ---- values

// t in a block, where the indices are `is`. known: Temp + 1 -> what has been computed + 1.
static Temp again(Blocks *z, Block *to, Map *known, const Temp *is, Temp t) {
    const Contraction *c = z->c;
    if (!contraction_makes(c, t)) return t;
    for (int v = 0; v < VARS; v++)
        if (c->loop[v]->dst == t || (v != OVER && c->after[v] && c->after[v]->dst == t)) return is[v];
    intptr_t there = (intptr_t)map_get(known, contraction_key(t));
    if (there) return (Temp)(there - 1);
    const Stmt *s = c->def[t];
    Stmt *copy = arena_copy(z->b->arena, s, sizeof *s);
    copy->args = ARENA_ARRAY(z->b->arena, Temp, s->nargs + 1);
    for (int k = 0; k < s->nargs; k++) copy->args[k] = again(z, to, known, is, s->args[k]);
    copy->dst = build_temp(z->b, z->b->tree->temps.data[t]);
    vec_push(&to->stmts, copy);
    map_put(known, contraction_key(t), contraction_key(copy->dst));
    return copy->dst;
}

static void put_packed(Blocks *z, Block *to, const Temp *is, const Leaf *leaf, const Temp *index) {
    Map known = {0};
    Temp v = again(z, to, &known, is, leaf->t);
    map_free(&known);
    build_store(z->b, to, ST_STORE, leaf->buf, v, index);
}

// The row or column number r of a panel that begins with `first`; the last one for those that there are not.
static Temp put_side(Blocks *z, Block *to, int side, Temp first, Temp r, bool whole) {
    Temp at = put_int(z, to, OP_add, first, r);
    return whole ? at : put_int(z, to, OP_min, at, z->last[side]);
}

// All k of a panel of rows or columns, which is one of several for columns. whole: it has all of them.
static void put_panel(Blocks *z, Block *to, int side, const Leaf *leaf, Temp first, Temp panel, bool whole) {
    Temp many = side == ROW ? z->of_rows : z->of_columns, is[VARS] = {-1, -1, -1};
    if (side == COLUMN || leaf->along) {
        Stmt *k = put_outer(z, to, NULL, z->count);
        is[OVER] = put_int(z, k->body, OP_add, z->first, k->dst);
        Stmt *r = build_loop_named(z->b, k->body, NULL, many);
        is[side] = put_side(z, r->body, side, first, r->dst, whole);
        put_packed(z, r->body, is, leaf, side == ROW ? (Temp[]){k->dst, r->dst} : (Temp[]){panel, k->dst, r->dst});
    } else {
        Stmt *r = put_outer(z, to, NULL, many);
        is[side] = put_side(z, r->body, side, first, r->dst, whole);
        Stmt *k = build_loop_named(z->b, r->body, NULL, z->count);
        is[OVER] = put_int(z, k->body, OP_add, z->first, k->dst);
        put_packed(z, k->body, is, leaf, (Temp[]){r->dst, k->dst});
    }
}

static void put_panels(Blocks *z, Block *to, int side, Temp first, Temp panel, Temp whole) {
    for (int i = 0; i < z->c->n[side]; i++) {
        Stmt *branch = build_if(z->b, to, whole, true);
        put_panel(z, branch->body, side, &z->c->leaf[side][i], first, panel, true);
        put_panel(z, branch->other, side, &z->c->leaf[side][i], first, panel, false);
    }
}

// ---- sums

// The term, from what is loaded of each leaf.
static Temp put_term(Blocks *z, Block *to, const Temp value[2][MOST_LEAVES], Temp t) {
    const Contraction *c = z->c;
    for (int side = ROW; side <= COLUMN; side++)
        for (int i = 0; i < c->n[side]; i++)
            if (c->leaf[side][i].t == t) return value[side][i];
    if (!contraction_makes(c, t)) return t;
    const Stmt *s = c->def[t];
    Stmt *copy = arena_copy(z->b->arena, s, sizeof *s);
    copy->args = ARENA_ARRAY(z->b->arena, Temp, s->nargs + 1);
    for (int k = 0; k < s->nargs; k++) copy->args[k] = put_term(z, to, value, s->args[k]);
    copy->dst = build_temp(z->b, z->b->tree->temps.data[t]);
    vec_push(&to->stmts, copy);
    return copy->dst;
}

static const Temp *element_of(Blocks *z, Temp row, Temp column) {
    const Contraction *c = z->c;
    Temp *index = ARENA_ARRAY(z->b->arena, Temp, c->to->buf->rank + 1);
    for (int k = 0; k < c->to->buf->rank; k++) {
        Temp t = stmt_index(c->to)[k];
        index[k] = t == c->loop[ROW]->dst ? row : t == c->loop[COLUMN]->dst ? column : t;
    }
    return index;
}

static void put_result(Blocks *z, Block *to, StmtKind kind, Temp value, Temp row, Temp column) {
    if (z->part >= 0) build_store(z->b, to, kind, z->sums, value, (Temp[]){z->part, row, column});
    else build_store(z->b, to, kind, z->c->to->buf, value, element_of(z, row, column));
}

// What is computed from a sum, if anything is.
static Temp put_after(Blocks *z, Block *to, Temp sum, Temp row, Temp column) {
    const Contraction *c = z->c;
    Map known = {0};
    if (!c->after[ROW]) return sum;
    map_put(&known, contraction_key(c->sum), contraction_key(sum));
    Temp v = again(z, to, &known, (Temp[]){row, column, -1}, c->result);
    map_free(&known);
    return v;
}

// The same of what is there and a sum.
static Temp put_after_all(Blocks *z, Block *to, Temp sum, Temp row, Temp column) {
    Temp old = build_load(z->b, to, z->c->to->buf, element_of(z, row, column));
    return put_after(z, to, build_op(z->b, to, kind_of(z), OP_add, old, sum), row, column);
}

// Sums for rows of a panel: stored the first time, if nothing was there, or added to what is there; the last time, what is
// computed from them.
static void put_results(Blocks *z, Block *to, int n, const Temp *sums, const Temp *rows, Temp column) {
    bool stores = z->c->to->kind == ST_STORE || z->part >= 0;
    Block *first = NULL, *more = to, *last = NULL, *only = NULL;
    if (z->c->after[ROW] && z->part < 0) {
        Stmt *ends = build_if(z->b, to, z->is_last, true), *once = build_if(z->b, ends->body, z->is_first, true);
        to = more = ends->other, only = once->body, last = once->other;
    }
    if (stores) {
        Stmt *branch = build_if(z->b, to, z->is_first, true);
        first = branch->body, more = branch->other;
    }
    for (int r = 0; r < n; r++) {
        if (only) put_result(z, only, ST_STORE, put_after(z, only, sums[r], rows[r], column), rows[r], column);
        if (last) put_result(z, last, ST_STORE, put_after_all(z, last, sums[r], rows[r], column), rows[r], column);
        if (first) put_result(z, first, ST_STORE, sums[r], rows[r], column);
        put_result(z, more, ST_ADDTO, sums[r], rows[r], column);
    }
}

// The sums of a panel of rows and one of columns, in registers.
static void put_sums(Blocks *z, Block *to, Temp panel) {
    Builder *b = z->b;
    const Contraction *c = z->c;
    Kind kind = kind_of(z);
    Temp cell[MOST_ROWS], sum[MOST_ROWS], number[MOST_ROWS], value[2][MOST_LEAVES];
    Stmt *lanes = build_loop_named(b, to, NULL, z->of_columns);
    lanes->lanes = z->lanes;
    Temp none = build_literal(b, lanes->body, kind, 0);
    for (int r = 0; r < z->rows; r++) number[r] = put_number(z, lanes->body, r);
    for (int r = 0; r < z->rows; r++)
        build_stmt(b, lanes->body, ST_CELL, cell[r] = build_temp(b, (TempInfo){.kind = kind, .cell = true}), 1, &none);
    Stmt *k = build_loop(b, lanes->body, c->loop[OVER]->dst, z->count);
    for (int i = 0; i < c->n[COLUMN]; i++)
        value[COLUMN][i] = build_load(b, k->body, c->leaf[COLUMN][i].buf, (Temp[]){panel, k->dst, lanes->dst});
    for (int r = 0; r < z->rows; r++) {
        for (int i = 0; i < c->n[ROW]; i++) {
            const Leaf *leaf = &c->leaf[ROW][i];
            value[ROW][i] =
                build_load(b, k->body, leaf->buf, leaf->along ? (Temp[]){k->dst, number[r]} : (Temp[]){number[r], k->dst});
        }
        Temp term = put_term(z, k->body, value, c->term);
        Temp old = build_stmt(b, k->body, ST_GET, build_temp(b, (TempInfo){.kind = kind}), 1, &cell[r])->dst;
        build_stmt(b, k->body, ST_SET, cell[r], 1, (Temp[]){build_op(b, k->body, kind, OP_add, old, term)});
    }
    for (int r = 0; r < z->rows; r++)
        sum[r] = build_stmt(b, lanes->body, ST_GET, build_temp(b, (TempInfo){.kind = kind}), 1, &cell[r])->dst;
    Stmt *branch = build_if(b, lanes->body, z->whole, true);
    put_results(z, branch->body, z->rows, sum, z->row, put_int(z, branch->body, OP_add, z->column, lanes->dst));
    for (int r = 0; r < z->rows; r++) build_store(b, branch->other, ST_STORE, z->edge, sum[r], (Temp[]){number[r], lanes->dst});
}

// What is asked for of panels that are no whole ones.
static void put_edge(Blocks *z, Block *to) {
    Block *edge = build_if(z->b, to, z->whole, true)->other;
    Temp rows = put_int(z, edge, OP_min, put_int(z, edge, OP_sub, z->n[ROW], z->row[0]), z->of_rows);
    Temp columns = put_int(z, edge, OP_min, put_int(z, edge, OP_sub, z->n[COLUMN], z->column), z->of_columns);
    Stmt *i = put_outer(z, edge, NULL, rows);
    Temp row = put_int(z, i->body, OP_add, z->row[0], i->dst);
    Stmt *j = put_outer(z, i->body, NULL, columns);
    j->few = true;
    Temp v = build_load(z->b, j->body, z->edge, (Temp[]){i->dst, j->dst});
    put_results(z, j->body, 1, &v, &row, put_int(z, j->body, OP_add, z->column, j->dst));
}

// ---- loops

// How many parts of n iterations there are of so many, the last of which may be smaller.
static Temp put_parts(Blocks *z, Block *to, Temp n, int of) {
    return put_int(z, to, OP_idiv, put_plus(z, to, n, of - 1), put_number(z, to, of));
}

// Part number `at` of n iterations, from `first` on: how many they are.
static Temp put_part(Blocks *z, Block *to, Temp n, Temp first, int of) {
    return put_int(z, to, OP_min, put_int(z, to, OP_sub, n, first), put_number(z, to, of));
}

// The number of those panels that are taken, of so many, and which panel is number k of them.
static Temp put_taken(Blocks *z, Block *to, int side, Temp panels) {
    if (z->end[side] >= 0) panels = z->end[side];
    if (z->step[side] < 0) return z->from[side] < 0 ? panels : put_int(z, to, OP_sub, panels, z->from[side]);
    Temp after = put_int(z, to, OP_add, put_int(z, to, OP_sub, panels, z->from[side]), put_plus(z, to, z->step[side], -1));
    return put_int(z, to, OP_idiv, after, z->step[side]);
}

static Temp put_panel_number(Blocks *z, Block *to, int side, Temp k) {
    if (z->from[side] < 0) return k;
    return put_int(z, to, OP_add, z->from[side], z->step[side] < 0 ? k : put_int(z, to, OP_mul, k, z->step[side]));
}

// The first column of a panel, and whether it has all.
static Temp put_column(Blocks *z, Block *to, Temp panel, Temp *whole) {
    Temp number = put_panel_number(z, to, COLUMN, put_int(z, to, OP_add, z->first_panel, panel));
    Temp column = put_int(z, to, OP_mul, number, z->of_columns);
    *whole = put_test(z, to, OP_le, put_int(z, to, OP_add, column, z->of_columns), z->n[COLUMN]);
    return column;
}

// How many panels have columns up to the last row.
static Temp put_panels_up_to(Blocks *z, Block *to, Temp row) {
    Temp end = put_int(z, to, OP_idiv, row, z->of_columns), n = put_int(z, to, OP_sub, put_plus(z, to, end, 1), z->first_panel);
    return put_int(z, to, OP_max, put_int(z, to, OP_min, n, z->many), put_number(z, to, 0));
}

// All rows, for the k and the columns of this time. before: where arrays come into being.
static void put_rows(Blocks *z, Block *before, Block *to, Temp panels) {
    Contraction *c = z->c;
    Stmt *i = put_outer(z, to, z->b->tree->temps.data[c->loop[ROW]->dst].name, panels);
    z->row[0] = put_int(z, i->body, OP_mul, put_panel_number(z, i->body, ROW, i->dst), z->of_rows);
    for (int r = 1; r < z->rows; r++) z->row[r] = put_plus(z, i->body, z->row[0], r);
    Temp tall = put_test(z, i->body, OP_lt, z->row[z->rows - 1], z->n[ROW]), padded = put_number(z, before, z->over + PAD),
         over = put_number(z, before, z->over);
    for (int l = 0; l < c->n[ROW]; l++) {
        Leaf *leaf = &c->leaf[ROW][l];
        leaf->buf = build_buf(z->b, before, i->body, kind_of(z), 2,
                              leaf->along ? (Temp[]){over, z->of_rows} : (Temp[]){z->of_rows, padded});
    }
    put_panels(z, i->body, ROW, z->row[0], -1, tall);
    Temp many = c->symmetric ? put_panels_up_to(z, i->body, z->row[z->rows - 1]) : z->many, wide;
    Stmt *j = put_outer(z, i->body, z->b->tree->temps.data[c->loop[COLUMN]->dst].name, many);
    z->edge = build_buf(z->b, before, j->body, kind_of(z), 2, (Temp[]){z->of_rows, z->of_columns});
    z->column = put_column(z, j->body, j->dst, &wide);
    z->whole = put_test(z, j->body, OP_and, tall, wide);
    put_sums(z, j->body, j->dst);
    put_edge(z, j->body);
}

// to[j, i] = to[i, j]
static void put_copy(Blocks *z, Block *to, Temp i, Temp j) {
    Buf *b = z->c->to->buf;
    bool turned = stmt_index(z->c->to)[0] != z->c->loop[ROW]->dst;
    Temp v = build_load(z->b, to, b, turned ? (Temp[]){j, i} : (Temp[]){i, j});
    build_store(z->b, to, ST_STORE, b, v, turned ? (Temp[]){i, j} : (Temp[]){j, i});
}

static void start_at(Blocks *z, Stmt *loop, Temp first) {
    loop->args = arena_copy(z->b->arena, (Temp[]){loop->args[0], first}, 2 * sizeof(Temp)), loop->nargs = 2;
}

// Elements with a column after the row are those with both exchanged: some columns at a time, of rows after these, and what is
// left.
static void put_mirror(Blocks *z, Block *to) {
    Temp n = z->n[ROW], line = put_number(z, to, LINE);
    Stmt *by = put_outer(z, to, NULL, put_int(z, to, OP_idiv, n, line));
    Temp base = put_int(z, by->body, OP_mul, by->dst, line), after = put_int(z, by->body, OP_add, base, line);
    Stmt *i = put_outer(z, by->body, NULL, n);
    start_at(z, i, after);
    Stmt *j = put_outer(z, i->body, NULL, line);
    put_copy(z, j->body, i->dst, put_int(z, j->body, OP_add, base, j->dst));
    Stmt *all = put_outer(z, to, NULL, n);
    Temp next = put_int(z, all->body, OP_mul,
                        put_plus(z, all->body, put_int(z, all->body, OP_idiv, all->dst, put_number(z, all->body, LINE)), 1), line);
    Temp end = put_int(z, all->body, OP_min, next, n), start = put_plus(z, all->body, all->dst, 1);
    Stmt *row = put_outer(z, all->body, NULL, end);
    start_at(z, row, start);
    put_copy(z, row->body, row->dst, all->dst);
}

// All panels that are taken, for all k or those of a part.
static void put_all(Blocks *z, Block *to) {
    Contraction *c = z->c;
    bool part = z->part >= 0;
    Temp none = put_number(z, to, 0), many = part ? z->length : z->n[OVER], wide;
    Temp row_panels = put_taken(z, to, ROW, put_parts(z, to, z->n[ROW], z->rows)),
         panels = put_taken(z, to, COLUMN, put_parts(z, to, z->n[COLUMN], z->columns));
    Temp times = put_parts(z, to, many, z->over), blocks_of = put_parts(z, to, panels, z->panels);
    Temp held = put_int(z, to, OP_min, panels, put_number(z, to, z->panels)),
         deep = put_int(z, to, OP_min, many, put_number(z, to, z->over));
    Block loops = {0};
    Stmt *by = put_outer(z, &loops, NULL, blocks_of);
    z->first_panel = put_int(z, by->body, OP_mul, by->dst, put_number(z, by->body, z->panels));
    z->many = put_part(z, by->body, panels, z->first_panel, z->panels);
    Stmt *k = put_outer(z, by->body, NULL, times);
    z->first = put_int(z, k->body, OP_mul, k->dst, put_number(z, k->body, z->over));
    z->count = put_part(z, k->body, many, z->first, z->over);
    if (part) z->first = put_int(z, k->body, OP_add, z->first, z->begin);
    z->is_first = put_test(z, k->body, OP_eq, k->dst, none);
    if (c->after[ROW]) z->is_last = put_test(z, k->body, OP_eq, put_plus(z, k->body, k->dst, 1), times);
    for (int i = 0; i < c->n[COLUMN]; i++)
        c->leaf[COLUMN][i].buf = build_buf(z->b, to, k->body, kind_of(z), 3, (Temp[]){held, deep, z->of_columns});
    Stmt *pack = put_outer(z, k->body, NULL, z->many);
    Temp column = put_column(z, pack->body, pack->dst, &wide);
    put_panels(z, pack->body, COLUMN, column, pack->dst, wide);
    put_rows(z, to, k->body, row_panels);
    vec_push(&to->stmts, by);
    vec_free(&loops.stmts);
}

// to[i,j] = or += sum over the parts; up to the diagonal if the others are copied.
static void put_total(Blocks *z, Block *to, Temp parts) {
    const Contraction *c = z->c;
    Builder *b = z->b;
    Kind kind = kind_of(z);
    Stmt *i = build_loop_named(b, to, b->tree->temps.data[c->loop[ROW]->dst].name, z->n[ROW]);
    Stmt *j = build_loop_named(b, i->body, b->tree->temps.data[c->loop[COLUMN]->dst].name,
                               c->symmetric ? put_plus(z, i->body, i->dst, 1) : z->n[COLUMN]);
    Temp none = build_literal(b, j->body, kind, 0), cell = build_temp(b, (TempInfo){.kind = kind, .cell = true});
    build_stmt(b, j->body, ST_CELL, cell, 1, &none);
    Stmt *p = build_loop_named(b, j->body, NULL, parts);
    p->few = true;
    Temp v = build_load(b, p->body, z->sums, (Temp[]){p->dst, i->dst, j->dst});
    Temp old = build_stmt(b, p->body, ST_GET, build_temp(b, (TempInfo){.kind = kind}), 1, &cell)->dst;
    build_stmt(b, p->body, ST_SET, cell, 1, (Temp[]){build_op(b, p->body, kind, OP_add, old, v)});
    Temp sum = build_stmt(b, j->body, ST_GET, build_temp(b, (TempInfo){.kind = kind}), 1, &cell)->dst;
    z->part = -1;
    put_result(z, j->body, c->to->kind, put_after(z, j->body, sum, i->dst, j->dst), i->dst, j->dst);
}

static void put_by_parts(Blocks *z, Block *to, Temp parts) {
    Block loops = {0};
    z->sums = build_buf(z->b, to, to, kind_of(z), 3, (Temp[]){parts, z->n[ROW], z->n[COLUMN]});
    Temp size = put_int(z, to, OP_idiv, put_int(z, to, OP_add, z->n[OVER], put_plus(z, to, parts, -1)), parts);
    Stmt *p = put_outer(z, &loops, NULL, parts);
    p->parts = true;
    z->part = p->dst;
    z->begin = put_int(z, p->body, OP_mul, p->dst, size);
    z->length = put_int(z, p->body, OP_min, put_int(z, p->body, OP_sub, z->n[OVER], z->begin), size);
    put_all(z, p->body);
    vec_push(&to->stmts, p);
    vec_free(&loops.stmts);
    put_total(z, to, parts);
}

static Temp put_choice(Blocks *z, Block *to, Temp cond, Temp yes, Temp no) {
    return build_stmt(z->b, to, ST_SELECT, build_temp(z->b, (TempInfo){.kind = KIND_INT}), 3, (Temp[]){cond, yes, no})->dst;
}

// How many parts of the k threads take, and whether they do.
static Temp put_parts_wanted(Blocks *z, Block *to, const LoopOptions *opt, Temp *wanted) {
    Temp over = z->n[OVER], few = put_number(z, to, FEW_PARTS), many = put_number(z, to, MANY_PARTS);
    Temp long_enough = put_test(z, to, OP_le, put_number(z, to, (int64_t)MANY_PARTS * MANY_OVER), over);
    Temp parts = put_choice(z, to, long_enough, many, few);
    *wanted = put_test(z, to, OP_le, put_number(z, to, FEW_PARTS * (opt->always ? FEW_PARTS : FEW_OVER)), over); // none is empty
    if (opt->always) return parts;
    Temp most = put_int(z, to, OP_min, put_int(z, to, OP_mul, over, put_number(z, to, COPIED)), put_number(z, to, MOST_COPIED));
    Temp small = put_test(z, to, OP_le, put_int(z, to, OP_mul, z->n[ROW], z->n[COLUMN]), most);
    *wanted = put_test(z, to, OP_and, *wanted, small);
    return parts;
}

// The panels of group g: those of rows or of columns from one to another, and all of the others.
static void put_ranges(Blocks *z, Block *to, Temp g, Temp groups, Temp by_rows, const Temp *panels) {
    Temp none = put_number(z, to, 0), most = put_choice(z, to, by_rows, panels[ROW], panels[COLUMN]);
    Temp bound[2] = {g, put_plus(z, to, g, 1)};
    for (int k = 0; k < 2; k++) bound[k] = put_int(z, to, OP_idiv, put_int(z, to, OP_mul, most, bound[k]), groups);
    z->from[ROW] = put_choice(z, to, by_rows, bound[0], none), z->end[ROW] = put_choice(z, to, by_rows, bound[1], panels[ROW]);
    z->from[COLUMN] = put_choice(z, to, by_rows, none, bound[0]);
    z->end[COLUMN] = put_choice(z, to, by_rows, panels[COLUMN], bound[1]);
}

// As many groups as threads, or one if there is little to do: of panels of columns if there are more columns than rows, else of
// rows. A result that is mirrored has as many rows as columns, and what is left out of it goes by rows.
static void put_by_groups(Blocks *z, Block *to) {
    Temp one = put_number(z, to, 1), panels[2], work = one;
    for (int v = 0; v < VARS; v++) work = put_int(z, to, OP_mul, work, z->n[v]);
    for (int side = ROW; side <= COLUMN; side++) panels[side] = put_parts(z, to, z->n[side], side == ROW ? z->rows : z->columns);
    Temp much = put_test(z, to, OP_le, put_number(z, to, SHARED_WORK), work),
         threads = build_stmt(z->b, to, ST_THREADS, build_temp(z->b, (TempInfo){.kind = KIND_INT}), 0, NULL)->dst;
    Temp by_rows = put_test(z, to, OP_le, z->n[COLUMN], z->n[ROW]);
    Temp most = z->c->symmetric ? panels[ROW] : put_choice(z, to, by_rows, panels[ROW], panels[COLUMN]);
    Temp groups = put_choice(z, to, much, put_int(z, to, OP_min, threads, most), one);
    Stmt *g = put_outer(z, to, NULL, groups);
    g->parts = true;
    if (z->c->symmetric) z->from[ROW] = g->dst, z->step[ROW] = groups;
    else put_ranges(z, g->body, g->dst, groups, by_rows, panels);
    put_all(z, g->body);
    for (int side = ROW; side <= COLUMN; side++) z->from[side] = z->step[side] = z->end[side] = -1;
}

void contraction_put(Builder *b, const LoopOptions *opt, Contraction *c, Block *to) {
    Blocks blocks = {.b = b, .c = c, .part = -1, .from = {-1, -1}, .step = {-1, -1}, .end = {-1, -1}}, *z = &blocks;
    choose_sizes(z, opt);
    for (int v = 0; v < VARS; v++) z->n[v] = c->loop[v]->args[0];
    z->of_rows = put_number(z, to, z->rows), z->of_columns = put_number(z, to, z->columns);
    for (int side = ROW; side <= COLUMN; side++) z->last[side] = put_plus(z, to, z->n[side], -1);
    if (opt->threads) {
        Temp wanted, parts = put_parts_wanted(z, to, opt, &wanted);
        Stmt *branch = build_if(b, to, wanted, true);
        put_by_parts(z, branch->body, parts);
        z->part = -1;
        put_by_groups(z, branch->other);
    } else {
        put_all(z, to);
    }
    if (c->symmetric) put_mirror(z, to);
}
