// Matrix products (lower/product.h).
//
// In a nest of independent iterations i, with a loop over j inside,
//
//     c = 0; for k { c += x[i,k] * y[j,k] }; … c …
//
// becomes p[i,j] = sum over k, in a nest before it, and … p[i,j] …; and in derivatives
//
//     for k { z[j,k] += x[i,k] * s }        where s is any scalar of i and j
//
// becomes d[i,j] = s, and z[j,k] += sum over i of x[i,k] * d[i,j] in a nest after it; the same with i and j exchanged. Where an
// operand is not an element, but is computed, it is computed for all its indices before. What is moved reads nothing that the nest
// writes. A loop over k may do other things as well, and an array that is new in each iteration i,
//
//     r = 0; for j { for k { r[k] += x[i,j] * y[j,k] } }
//
// is a row of a product before the nest, too. A sum of another function of an element of each, as the squared distances of points
// to centres, is taken out like one of products.
//
// Where such a nest is in a loop whose iterations are independent (a batch), what there is in this gets a loop of its own for each
// nest, with arrays for all iterations between them: for b { N; R } becomes for b { N } for b { R }.
#include "lower/loop_passes.h"
#include "lower/product.h"

#include "lower/effects.h"
#include "lower/groups.h"
#include "lower/independent.h"

enum { VARS = 3, I = 0, J = 1, K = 2, BUDGET = 64, LEAST = 8 }; // LEAST: a loop known to have fewer iterations is left as it is

typedef struct Nest {
    Block *around;
    Stmt *loop;
} Nest;

typedef struct Splitter {
    Arena *arena;
    Tree *tree;
    VEC(Nest) nests;
    Stmt **def; // by temp
    int temps;  // so many have one
    bool rows;  // sums along rows are looked for, not products
    bool again; // operands are computed again wherever they are needed, not kept in arrays
    // Of the nest that is looked at:
    Stmt *nest;
    Map made;            // Temp + 1: in an iteration
    Map written, inside; // arrays that it writes to, or makes; that it makes
    Temp var[VARS];      // indices i, j and k
    int budget;
    Block *around; // where it stands
    Block before, after;
    Stmt *kept; // of the last addition that was moved: the ST_STORE of d[i,j] = s
} Splitter;

static void set_indices(Splitter *z, const Stmt *j, const Stmt *k) {
    z->var[I] = z->nest->dst, z->var[J] = j->dst, z->var[K] = k->dst;
}

// ---- what a temp depends on

static bool is_made(const Splitter *z, Temp t) { return map_get(&z->made, (void *)((intptr_t)t + 1)); }

static void note_made(Splitter *z, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) map_put(&z->made, (void *)((intptr_t)s->dst + 1), (void *)1);
        if (s->buf && s->kind != ST_LOAD) map_put(&z->written, s->buf, s->buf);
        if (s->kind == ST_NEW) map_put(&z->inside, s->buf, s->buf);
        note_made(z, s->body), note_made(z, s->other);
    }
}

// The indices that t depends on, as bits; -1 if it depends on what may not be computed elsewhere.
static int depends(Splitter *z, Temp t) {
    if (!is_made(z, t)) return 0;
    for (int v = 0; v < VARS; v++)
        if (z->var[v] == t) return 1 << v;
    const Stmt *s = z->def[t];
    if (!s || z->budget-- <= 0) return -1;
    bool pure = s->kind == ST_LIT || s->kind == ST_ARG || s->kind == ST_OP || s->kind == ST_CONV || s->kind == ST_SELECT;
    if (!pure && (s->kind != ST_LOAD || map_get(&z->written, s->buf))) return -1;
    int all = 0;
    for (int k = 0; k < s->nargs; k++) {
        int of = depends(z, s->args[k]);
        if (of < 0) return -1;
        all |= of;
    }
    return all;
}

static int depends_on(Splitter *z, Temp t) { return z->budget = BUDGET, depends(z, t); }

// ---- statements

static Temp new_temp(Splitter *z, Kind kind, bool cell) {
    vec_push(&z->tree->temps, ((TempInfo){.kind = kind, .cell = cell}));
    return z->tree->temps.len - 1;
}

static Stmt *add(Splitter *z, Block *b, StmtKind kind, Temp dst, int n, const Temp *args) {
    Stmt *s = tree_stmt(z->arena, kind, dst, n, args, z->nest->span);
    vec_push(&b->stmts, s);
    return s;
}

static Temp zero(Splitter *z, Block *b, Kind kind) { return add(z, b, ST_LIT, new_temp(z, kind, false), 0, NULL)->dst; }

// A loop as long as `like`, in b.
static Stmt *add_loop(Splitter *z, Block *b, const Stmt *like) {
    vec_push(&z->tree->temps, z->tree->temps.data[like->dst]);
    Stmt *s = add(z, b, ST_FOR, z->tree->temps.len - 1, 1, like->args);
    s->body = ARENA_NEW(z->arena, Block);
    return s;
}

static Buf *add_matrix(Splitter *z, Kind kind, const Stmt *rows, const Stmt *columns) {
    Buf *b = ARENA_NEW(z->arena, Buf);
    Temp extent[] = {rows->args[0], columns->args[0]};
    *b = (Buf){.id = z->tree->bufs.len, .where = BUF_TEMP, .kind = kind, .rank = 2, .home = z->around};
    b->extent = arena_copy(z->arena, extent, sizeof extent);
    vec_push(&z->tree->bufs, b);
    add(z, &z->before, ST_NEW, -1, 0, NULL)->buf = b;
    return b;
}

static Temp load(Splitter *z, Block *b, Buf *from, Temp row, Temp column) {
    Stmt *s = add(z, b, ST_LOAD, new_temp(z, from->kind, false), 2, (Temp[]){row, column});
    s->buf = from;
    return s->dst;
}

// t computed in b, where the indices are those of `is`. known: Temp + 1 -> what has been computed + 1.
static Temp again(Splitter *z, Block *b, Map *known, const Temp *is, Temp t) {
    if (!is_made(z, t)) return t;
    for (int v = 0; v < VARS; v++)
        if (z->var[v] == t) return is[v];
    intptr_t there = (intptr_t)map_get(known, (void *)((intptr_t)t + 1));
    if (there) return (Temp)(there - 1);
    const Stmt *s = z->def[t];
    Temp *args = ARENA_ARRAY(z->arena, Temp, s->nargs + 1);
    for (int k = 0; k < s->nargs; k++) args[k] = again(z, b, known, is, s->args[k]);
    Stmt *copy = arena_copy(z->arena, s, sizeof *s);
    vec_push(&z->tree->temps, z->tree->temps.data[t]);
    copy->dst = z->tree->temps.len - 1, copy->args = args;
    vec_push(&b->stmts, copy);
    map_put(known, (void *)((intptr_t)t + 1), (void *)((intptr_t)copy->dst + 1));
    return copy->dst;
}

static Temp value_in(Splitter *z, Block *b, const Temp *is, Temp t) {
    Map known = {0};
    Temp r = again(z, b, &known, is, t);
    map_free(&known);
    return r;
}

// ---- operands

// An operand of a product, in terms of two indices: t itself, if it is an element, or else an array of all its values.
typedef struct Operand {
    Temp t;
    Buf *all;        // NULL: t
    int row, column; // of `all`: I, J or K
} Operand;

static Operand operand(Splitter *z, Temp t, const Stmt *const *loops, int row, int column) {
    Operand o = {.t = t, .row = row, .column = column};
    if (z->def[t]->kind == ST_LOAD || z->again) return o;
    Kind kind = z->tree->temps.data[t].kind;
    o.all = add_matrix(z, kind, loops[row], loops[column]);
    Stmt *outer = add_loop(z, &z->before, loops[row]), *inner = add_loop(z, outer->body, loops[column]);
    Temp is[VARS] = {-1, -1, -1};
    is[row] = outer->dst, is[column] = inner->dst;
    Temp args[] = {value_in(z, inner->body, is, t), outer->dst, inner->dst};
    add(z, inner->body, ST_STORE, -1, 3, args)->buf = o.all;
    return o;
}

static Temp operand_in(Splitter *z, Block *b, const Temp *is, const Operand *o) {
    return o->all ? load(z, b, o->all, is[o->row], is[o->column]) : value_in(z, b, is, o->t);
}

// In b: for [row] { for [column] { c = 0; for [over] { c += x * y } … } }; the innermost of the first two, and *sum. Without
// operands, the term is added up.
static Stmt *product_nest(Splitter *z, Block *b, const Stmt *const *loops, int row, int column, int over, const Operand *x,
                          const Operand *y, Temp term, Kind kind, Temp *is, Temp *sum) {
    Stmt *outer = add_loop(z, b, loops[row]), *inner = add_loop(z, outer->body, loops[column]);
    Temp start = zero(z, inner->body, kind), cell = new_temp(z, kind, true);
    add(z, inner->body, ST_CELL, cell, 1, &start);
    Stmt *last = add_loop(z, inner->body, loops[over]);
    is[row] = outer->dst, is[column] = inner->dst, is[over] = last->dst;
    Temp terms[] = {0, -1};
    if (x) {
        Temp factors[] = {operand_in(z, last->body, is, x), operand_in(z, last->body, is, y)};
        terms[1] = new_temp(z, kind, false);
        add(z, last->body, ST_OP, terms[1], 2, factors)->op = OP_mul;
    } else {
        terms[1] = value_in(z, last->body, is, term);
    }
    terms[0] = add(z, last->body, ST_GET, new_temp(z, kind, false), 1, &cell)->dst;
    Temp next = new_temp(z, kind, false);
    add(z, last->body, ST_OP, next, 2, terms)->op = OP_add;
    add(z, last->body, ST_SET, cell, 1, &next);
    *sum = add(z, inner->body, ST_GET, new_temp(z, kind, false), 1, &cell)->dst;
    return inner;
}

// ---- sums inside

static bool is_float(const Splitter *z, Temp t) { return kind_is_float(z->tree->temps.data[t].kind); }

static bool is_op(const Splitter *z, Temp t, Op op) {
    return z->def[t] && z->def[t]->kind == ST_OP && z->def[t]->op == op && is_made(z, t);
}

// A loop whose length is known outside of the nest, from 0 on, and not small as far as is known.
static bool is_long(const Splitter *z, const Stmt *s) {
    if (s->kind != ST_FOR || s->nargs > 1 || is_made(z, s->args[0]) || s->wishes) return false;
    const Stmt *n = z->def[s->args[0]];
    return n && (n->kind != ST_LIT || n->u.num >= LEAST);
}

// Is the term a function of one element that depends on i and k, and one that depends on j and k?
static bool is_of_two(Splitter *z, Temp t, Temp f[2]) {
    const Stmt *s = z->def[t];
    if (!is_made(z, t)) return true;
    if (!s || z->budget-- <= 0 || (s->kind != ST_LIT && s->kind != ST_OP && s->kind != ST_SELECT && s->kind != ST_LOAD))
        return false;
    if (s->kind == ST_LOAD) {
        int budget = z->budget, of = depends(z, t), at = of == (1 << I | 1 << K) ? 0 : of == (1 << J | 1 << K) ? 1 : -1;
        z->budget = budget;
        if (at < 0 || (f[at] >= 0 && f[at] != t)) return false;
        f[at] = t;
        return true;
    }
    for (int k = 0; k < s->nargs; k++)
        if (!is_of_two(z, s->args[k], f)) return false;
    return true;
}

static bool is_term(Splitter *z, Temp t, Temp f[2]) {
    z->budget = BUDGET;
    f[0] = f[1] = -1;
    return is_of_two(z, t, f) && f[0] >= 0 && f[1] >= 0;
}

// Is an element of a row of i and j, with all that is computed from it: is t a function of such, and of nothing that the nest
// changes?
static bool has_row(const Splitter *z, Temp t, int *budget) {
    const Stmt *s = z->def[t];
    if (!is_made(z, t) || !s || --*budget < 0) return false;
    if (s->kind == ST_LOAD) {
        bool i = false, j = false;
        for (int k = 0; k + 1 < s->nargs; k++) i |= s->args[k] == z->var[I], j |= s->args[k] == z->var[J];
        return i && j && s->args[s->nargs - 1] == z->var[K];
    }
    for (int k = 0; k < s->nargs; k++)
        if (has_row(z, s->args[k], budget)) return true;
    return false;
}

static bool is_row_term(Splitter *z, Temp t) {
    return depends_on(z, t) == (1 << I | 1 << J | 1 << K) && has_row(z, t, &(int){BUDGET});
}

// Does the statement of the loop add x * y to a cell, of which one depends on i and k, and the other on j and k? f: x first. Or
// *term, another function of two such.
static bool sum_of_products(Splitter *z, const Stmt *loop, const Stmt *set, Temp *cell, Temp f[2], Temp *term) {
    *term = -1;
    if (set->kind != ST_SET || !is_float(z, set->dst) || !is_op(z, set->args[0], OP_add)) return false;
    if (block_uses(loop->body, set->dst) != 1 || block_uses(loop->body, set->args[0]) != 1)
        return false; // else each sum so far is used
    const Stmt *sum = z->def[set->args[0]];
    for (int k = 0; k < 2; k++) {
        const Stmt *get = z->def[sum->args[k]];
        if (!get || get->kind != ST_GET || get->args[0] != set->dst || block_uses(loop->body, get->dst) != 1) continue;
        const Stmt *mul = z->def[sum->args[1 - k]];
        *cell = set->dst;
        if (z->rows) {
            *term = sum->args[1 - k];
            return is_row_term(z, *term);
        }
        bool product = is_op(z, sum->args[1 - k], OP_mul);
        int x = product ? depends_on(z, mul->args[0]) : -1, y = product ? depends_on(z, mul->args[1]) : -1;
        bool turned = x == (1 << J | 1 << K);
        if ((turned || x == (1 << I | 1 << K)) && y == (turned ? 1 << I | 1 << K : 1 << J | 1 << K)) {
            f[0] = mul->args[turned], f[1] = mul->args[!turned];
            return true;
        }
        if (!z->again && is_term(z, sum->args[1 - k], f)) {
            *term = sum->args[1 - k];
            return true;
        }
    }
    return false;
}

static bool sets(const Block *b, Temp cell) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if ((s->kind == ST_SET && s->dst == cell) || sets(s->body, cell) || sets(s->other, cell)) return true;
    }
    return false;
}

// Reads of the cell become those of the element.
static void read_instead(Block *b, Temp cell, Buf *from, const Temp *index) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (s->kind == ST_GET && s->args[0] == cell) s->kind = ST_LOAD, s->buf = from, s->nargs = 2, s->args = (Temp *)index;
        read_instead(s->body, cell, from, index), read_instead(s->other, cell, from, index);
    }
}

static void take_out(Block *b, int at) {
    for (int i = at; i + 1 < b->stmts.len; i++) b->stmts.data[i] = b->stmts.data[i + 1];
    b->stmts.len--;
}

// Is all that the nest does for i and j to store the sum?
static bool is_alone(const Splitter *z, const Stmt *j, Temp cell) {
    int effects = 0;
    const Stmt *last = NULL;
    for (int i = 0; i < j->body->stmts.len; i++)
        if (!stmt_is_plain(j->body->stmts.data[i])) effects++, last = j->body->stmts.data[i];
    if (effects != 3 || block_only_effect(z->nest->body) != j || (last->kind != ST_STORE && last->kind != ST_ADDTO)) return false;
    const Stmt *value = z->def[last->args[0]];
    return value && value->kind == ST_GET && value->args[0] == cell;
}

static int find_stmt(const Block *b, const Stmt *s) {
    for (int i = 0; i < b->stmts.len; i++)
        if (b->stmts.data[i] == s) return i;
    return -1;
}

// Takes the effect out of the loop, and the loop out of the block if it has no other.
static void take_effect(Block *b, Stmt *loop, const Stmt *effect) {
    if (block_only_effect(loop->body)) take_out(b, find_stmt(b, loop));
    else take_out(loop->body, find_stmt(loop->body, effect));
}

static bool split_sum(Splitter *z, Stmt *j, int at, const Stmt *set) {
    Stmt *k = j->body->stmts.data[at];
    const Stmt *const loops[] = {z->nest, j, k};
    Temp cell, f[2], is[VARS], sum, term;
    set_indices(z, j, k);
    if (!is_long(z, k) || !sum_of_products(z, k, set, &cell, f, &term)) return false;
    bool direct = z->again || term >= 0 || (z->def[f[0]]->kind == ST_LOAD && z->def[f[1]]->kind == ST_LOAD);
    if (direct && is_alone(z, j, cell)) return false;
    int made = -1;
    for (int i = 0; i < j->body->stmts.len; i++) {
        const Stmt *s = j->body->stmts.data[i];
        if (s->kind == ST_CELL && s->dst == cell) made = i;
        else if (i != at && s->kind == ST_SET && s->dst == cell) return false;
        else if (i != at && (sets(s->body, cell) || sets(s->other, cell))) return false;
    }
    if (made < 0 || made > at) return false;
    const Stmt *first = z->def[j->body->stmts.data[made]->args[0]];
    if (!first || first->kind != ST_LIT || first->u.real != 0) return false;
    Kind kind = z->tree->temps.data[cell].kind;
    Operand x = {0}, y = {0};
    if (term < 0) x = operand(z, f[0], loops, I, K), y = operand(z, f[1], loops, J, K);
    Buf *p = add_matrix(z, kind, z->nest, j);
    Stmt *inner = product_nest(z, &z->before, loops, I, J, K, term < 0 ? &x : NULL, &y, term, kind, is, &sum);
    Temp args[] = {sum, is[I], is[J]};
    add(z, inner->body, ST_STORE, -1, 3, args)->buf = p;
    take_effect(j->body, k, set), take_out(j->body, made);
    read_instead(j->body, cell, p, arena_copy(z->arena, z->var, 2 * sizeof *z->var));
    return true;
}

// ---- additions inside

static int count_accesses(const Block *b, const Buf *buf, bool stores) {
    int n = 0;
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if ((s->buf == buf && (!stores || (s->kind != ST_STORE && s->kind != ST_FILL))) || s->src == buf) n++;
        n += count_accesses(s->body, buf, stores) + count_accesses(s->other, buf, stores);
    }
    return n;
}

// How many statements change elements of the array.
static int count_changes(const Block *b, const Buf *buf) {
    int n = 0;
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        n += s->buf == buf && s->kind != ST_LOAD && s->kind != ST_NEW;
        n += count_changes(s->body, buf) + count_changes(s->other, buf);
    }
    return n;
}

// Is the addition, in loop j of the nest, all that is done with its array, but for stores before j?
static bool may_wait(const Splitter *z, const Stmt *j, const Buf *buf) {
    if (count_accesses(j->body, buf, false) != 1) return false;
    int at = find_stmt(z->nest->body, j);
    for (int i = 0; i < z->nest->body->stmts.len; i++) {
        const Stmt *s = z->nest->body->stmts.data[i];
        if (s == j) continue;
        const Block one = {.stmts = {.data = (Stmt **)&z->nest->body->stmts.data[i], .len = 1}};
        if (count_accesses(&one, buf, i < at)) return false;
    }
    return !map_get(&z->inside, buf);
}

// The element that is added to has k and one of i and j as indices, both as they are; which of i and j? -1: neither.
static int added_at(Splitter *z, const Stmt *to) {
    int at = -1, seen = 0;
    for (int d = 1; d < to->nargs; d++) {
        int of = depends_on(z, to->args[d]);
        if (of < 0 || (of & seen)) return -1;
        seen |= of;
    }
    if (seen == (1 << I | 1 << K)) at = I;
    if (seen == (1 << J | 1 << K)) at = J;
    return at;
}

// s as a function of i and j: as it is, or an array, d[i,j] = s before statement `at` of j.
static Operand keep_scalar(Splitter *z, Stmt *j, int at, Temp s) {
    Operand o = {.t = s, .row = I, .column = J};
    int of = depends_on(z, s);
    if (z->def[s]->kind == ST_LOAD && of == (1 << I | 1 << J)) return o;
    if (z->again && of >= 0) return o;
    o.t = -1;
    if (!z->kept || z->kept->args[0] != s || find_stmt(j->body, z->kept) < 0) {
        Buf *d = add_matrix(z, z->tree->temps.data[s].kind, z->nest, j);
        Temp args[] = {s, z->nest->dst, j->dst};
        z->kept = tree_stmt(z->arena, ST_STORE, -1, 3, args, z->nest->span);
        z->kept->buf = d;
        block_insert(j->body, at, z->kept);
    }
    o.all = z->kept->buf;
    return o;
}

// to: the addition, in loop k; cond: of the branch that this is in, -1 if there is none; at: where that, or else the loop, is in j.
static bool split_addition(Splitter *z, Stmt *j, int at, Stmt *k, const Stmt *to, Temp cond) {
    const Stmt *const loops[] = {z->nest, j, k};
    Temp is[VARS], sum;
    set_indices(z, j, k);
    if (!is_long(z, k) || to->kind != ST_ADDTO || !kind_is_float(to->buf->kind) || !is_op(z, to->args[0], OP_mul)) return false;
    const Buf *buf = to->buf;
    int row = added_at(z, to), over = I + J - row;
    if (row < 0 || !may_wait(z, j, buf)) return false;
    if (cond >= 0 && (depends_on(z, cond) & ~(1 << row))) return false;
    const Stmt *mul = z->def[to->args[0]];
    for (int f = 0; f < 2; f++) {
        Temp x = mul->args[f], s = mul->args[1 - f];
        if (depends_on(z, x) != (1 << over | 1 << K) || !is_made(z, s)) continue;
        bool there = z->def[s] && (find_stmt(j->body, z->def[s]) >= 0 || find_stmt(z->nest->body, z->def[s]) >= 0);
        if (!there) continue;
        Kind kind = to->buf->kind;
        Stmt *whole = j->body->stmts.data[at];
        Operand o = operand(z, x, loops, over, K), d = keep_scalar(z, j, at, s);
        if (cond >= 0) take_out(j->body, find_stmt(j->body, whole));
        else take_effect(j->body, k, to);
        Temp *add_args = ARENA_ARRAY(z->arena, Temp, to->nargs);
        Buf *p = cond >= 0 ? add_matrix(z, kind, loops[row], k) : NULL;
        Stmt *inner = product_nest(z, &z->after, loops, row, K, over, &d, &o, -1, kind, is, &sum);
        if (p) {
            Temp args[] = {sum, is[row], is[K]};
            add(z, inner->body, ST_STORE, -1, 3, args)->buf = p;
            Stmt *rows = add_loop(z, &z->after, loops[row]);
            is[row] = rows->dst, is[over] = -1;
            Temp holds = value_in(z, rows->body, is, cond);
            Stmt *branch = add(z, rows->body, ST_IF, -1, 1, &holds);
            branch->body = ARENA_NEW(z->arena, Block);
            inner = add_loop(z, branch->body, k);
            is[K] = inner->dst;
            sum = load(z, inner->body, p, is[row], is[K]);
        }
        add_args[0] = sum;
        for (int i = 1; i < to->nargs; i++) add_args[i] = value_in(z, inner->body, is, to->args[i]);
        add(z, inner->body, ST_ADDTO, -1, to->nargs, add_args)->buf = to->buf;
        return true;
    }
    return false;
}

// ---- nests

// ---- rows that an iteration adds up

static void load_instead(Splitter *z, Block *b, const Buf *row, Buf *p) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (s->buf == row && s->kind == ST_LOAD)
            s->args = arena_copy(z->arena, (Temp[]){z->nest->dst, s->args[0]}, 2 * sizeof(Temp)), s->nargs = 2, s->buf = p;
        load_instead(z, s->body, row, p), load_instead(z, s->other, row, p);
    }
}

// The statement of the nest that makes all elements of the array 0, before j, if nothing else changes it but one addition in j, and
// nothing reads it before j has ended.
static Stmt *only_fill(const Splitter *z, const Stmt *j, const Buf *row) {
    Stmt *fill = NULL;
    bool before = true;
    for (int i = 0; i < z->nest->body->stmts.len; i++) {
        Stmt *s = z->nest->body->stmts.data[i];
        const Block one = {.stmts = {.data = &z->nest->body->stmts.data[i], .len = 1}};
        if (s == j) {
            before = false;
            if (count_accesses(j->body, row, false) != 1) return NULL;
        } else if (before && s->kind == ST_FILL && s->buf == row && !fill) {
            const Stmt *value = z->def[s->args[0]];
            if (!value || value->kind != ST_LIT || value->u.real != 0) return NULL;
            fill = s;
        } else if (before ? count_accesses(&one, row, false) : count_changes(&one, row)) {
            return NULL;
        }
    }
    return fill;
}

// A row that each iteration i makes, r[k] = sum over j of x[i,j] * y[j,k], is one of a product.
static bool split_row(Splitter *z, Stmt *j, Stmt *k, const Stmt *to) {
    const Stmt *const loops[] = {z->nest, j, k};
    Temp is[VARS], sum;
    Buf *row = to->buf;
    set_indices(z, j, k);
    if (to->kind != ST_ADDTO || row->home != z->nest->body || row->rank != 1 || to->args[1] != k->dst ||
        row->extent[0] != k->args[0])
        return false;
    if (!is_long(z, k) || !kind_is_float(row->kind) || !is_op(z, to->args[0], OP_mul)) return false;
    const Stmt *mul = z->def[to->args[0]];
    int x = depends_on(z, mul->args[0]), turned = x != (1 << I | 1 << J);
    if (turned) x = depends_on(z, mul->args[1]);
    if (x != (1 << I | 1 << J) || depends_on(z, mul->args[!turned]) != (1 << J | 1 << K)) return false;
    Stmt *fill = only_fill(z, j, row);
    if (!fill) return false;
    Operand left = operand(z, mul->args[turned], loops, I, J), right = operand(z, mul->args[!turned], loops, J, K);
    Buf *p = add_matrix(z, row->kind, z->nest, k);
    Stmt *inner = product_nest(z, &z->before, loops, I, K, J, &left, &right, -1, row->kind, is, &sum);
    Temp args[] = {sum, is[I], is[K]};
    add(z, inner->body, ST_STORE, -1, 3, args)->buf = p;
    take_effect(j->body, k, to);
    take_out(z->nest->body, find_stmt(z->nest->body, fill));
    load_instead(z, z->nest->body, row, p);
    return true;
}

static bool split_effects(Splitter *z, Stmt *j, int at, Stmt *k) {
    for (int i = 0; i < k->body->stmts.len && !z->rows; i++)
        if (split_row(z, j, k, k->body->stmts.data[i])) return true;
    for (int i = 0; i < k->body->stmts.len && !z->rows; i++)
        if (!stmt_is_plain(k->body->stmts.data[i]) && split_addition(z, j, at, k, k->body->stmts.data[i], -1)) return true;
    for (int i = 0; i < k->body->stmts.len; i++)
        if (!stmt_is_plain(k->body->stmts.data[i]) && split_sum(z, j, at, k->body->stmts.data[i])) return true;
    return false;
}

static void split_inside(Splitter *z, Stmt *j) {
    z->kept = NULL;
    for (int at = 0; at < j->body->stmts.len; at++) {
        Stmt *s = j->body->stmts.data[at];
        bool done = false;
        if (s->kind == ST_FOR) done = split_effects(z, j, at, s);
        else if (s->kind == ST_IF && !z->rows && (!s->other || !s->other->stmts.len) && s->body) {
            Stmt *k = block_only_effect(s->body);
            Stmt *to = k && k->kind == ST_FOR ? block_only_effect(k->body) : NULL;
            done = to && split_addition(z, j, at, k, to, s->args[0]);
        }
        if (done) at = -1; // statements have moved
    }
}

static void insert_all(Block *b, int at, Block *what) {
    for (int i = 0; i < what->stmts.len; i++) block_insert(b, at + i, what->stmts.data[i]);
    vec_free(&what->stmts);
}

// Were there any products in it?
static bool split_nest(Splitter *z, Block *around, Stmt *nest) {
    z->nest = nest, z->around = around;
    z->before = z->after = (Block){0};
    z->made = z->written = z->inside = (Map){0};
    z->temps = z->tree->temps.len;
    if (!z->again) {
        z->def = ARENA_ARRAY(z->arena, Stmt *, z->temps + 1);
        tree_definitions(z->tree->body, z->def);
    }
    map_put(&z->made, (void *)((intptr_t)nest->dst + 1), (void *)1);
    note_made(z, nest->body);
    for (int i = 0; i < nest->body->stmts.len && is_long(z, nest) && !block_may_fail(nest->body); i++) {
        Stmt *j = nest->body->stmts.data[i];
        if (!is_long(z, j)) continue;
        split_inside(z, j);
        i = find_stmt(nest->body, j); // what was before it may be gone
        if (z->before.stmts.len + z->after.stmts.len && !block_has_effect(j->body)) take_out(nest->body, i--);
    }
    map_free(&z->made), map_free(&z->written), map_free(&z->inside);
    int at = find_stmt(around, nest), found = z->before.stmts.len + z->after.stmts.len;
    insert_all(around, at + 1, &z->after);
    insert_all(around, at, &z->before);
    return found;
}

// ---- batches: nests in a loop

static bool has_whole(const Block *b, const Buf *buf) { // filling or copying
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (((s->kind == ST_FILL || s->kind == ST_COPY || s->kind == ST_MOVE) && (s->buf == buf || s->src == buf)) ||
            has_whole(s->body, buf) || has_whole(s->other, buf))
            return true;
    }
    return false;
}

// Is it made by a statement of the loop's body, or by the loop?
static bool is_made_by(const Stmt *loop, Temp t) {
    for (int i = 0; i < loop->body->stmts.len; i++)
        if (loop->body->stmts.data[i]->dst == t) return true;
    return loop->dst == t;
}

static bool has_own_length(const Stmt *loop, const Block *b) { // a loop in b whose length is made by the loop
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if ((s->kind == ST_FOR && is_made_by(loop, s->args[0])) || has_own_length(loop, s->body) || has_own_length(loop, s->other))
            return true;
    }
    return false;
}

// Can statements of the loop become loops of their own? They are loops, and what these need is computed from the index, or known
// before.
static bool may_divide(const Splitter *z, const Stmt *batch) {
    if (batch->nargs > 1 || batch->wishes || block_may_fail(batch->body) || has_own_length(batch, batch->body)) return false;
    for (int i = 0; i < batch->body->stmts.len; i++)
        if (batch->body->stmts.data[i]->kind != ST_FOR && !stmt_is_pure(batch->body->stmts.data[i])) return false;
    for (int i = 0; i < z->tree->bufs.len; i++) {
        const Buf *b = z->tree->bufs.data[i];
        if (b->home != batch->body) continue;
        if (has_whole(batch->body, b)) return false;
        for (int k = 0; k < b->rank; k++)
            if (is_made_by(batch, b->extent[k])) return false;
    }
    return true;
}

static void access_instead(Splitter *z, Block *b, const Buf *from, Buf *to, Temp first) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (s->buf == from) {
            int values = s->kind == ST_LOAD ? 0 : 1;
            Temp *args = ARENA_ARRAY(z->arena, Temp, s->nargs + 1);
            for (int k = 0; k < s->nargs; k++) args[k + (k >= values)] = s->args[k];
            args[values] = first;
            s->args = args, s->nargs++, s->buf = to;
        }
        access_instead(z, s->body, from, to, first), access_instead(z, s->other, from, to, first);
    }
}

// What was new in each iteration of the batch becomes an array of all of them.
static void widen(Splitter *z, Stmt *batch, Buf *b) {
    if (!block_take_new(z->tree->body, b)) return;
    Buf *all = arena_copy(z->arena, b, sizeof *b);
    all->id = z->tree->bufs.len, all->home = z->around, all->rank++;
    all->extent = ARENA_ARRAY(z->arena, Temp, all->rank);
    all->extent[0] = batch->args[0];
    for (int k = 0; k < b->rank; k++) all->extent[k + 1] = b->extent[k];
    vec_push(&z->tree->bufs, all);
    add(z, &z->before, ST_NEW, -1, 0, NULL)->buf = all;
    access_instead(z, batch->body, b, all, batch->dst);
}

// Each loop in the batch gets one around it to itself.
static void divide(Splitter *z, Block *around, Stmt *batch) {
    z->nest = batch, z->around = around, z->before = z->after = (Block){0};
    for (int i = 0, n = z->tree->bufs.len; i < n; i++)
        if (z->tree->bufs.data[i]->home == batch->body) widen(z, batch, z->tree->bufs.data[i]);
    for (int i = 0; i < batch->body->stmts.len; i++) {
        Stmt *s = batch->body->stmts.data[i];
        if (s->kind != ST_FOR) continue;
        Stmt *loop = add_loop(z, &z->before, batch);
        Block one = {.stmts = {.data = &s, .len = 1}};
        for (int k = 0; k < i; k++) {
            const Stmt *pure = batch->body->stmts.data[k];
            if (pure->kind == ST_FOR) continue;
            Stmt *copy = arena_copy(z->arena, pure, sizeof *pure);
            copy->dst = new_temp(z, z->tree->temps.data[pure->dst].kind, false);
            copy->args = arena_copy(z->arena, pure->args, sizeof *pure->args * (size_t)pure->nargs);
            vec_push(&loop->body->stmts, copy);
        }
        for (int k = 0, at = 0; k < i; k++) {
            const Stmt *pure = batch->body->stmts.data[k];
            if (pure->kind == ST_FOR) continue;
            block_rename(loop->body, pure->dst, loop->body->stmts.data[at]->dst);
            block_rename(&one, pure->dst, loop->body->stmts.data[at++]->dst);
        }
        vec_push(&loop->body->stmts, s);
        block_rename(loop->body, batch->dst, loop->dst);
    }
    int at = find_stmt(around, batch);
    take_out(around, at);
    insert_all(around, at, &z->before);
}

static bool split_batch(Splitter *z, Block *around, Stmt *batch) {
    VEC(Stmt *) inside = {0};
    Iterations it;
    bool found = false;
    if (!may_divide(z, batch)) return false;
    iter_init(&it, z->arena, z->tree, false);
    for (int i = 0; i < batch->body->stmts.len; i++) {
        Stmt *s = batch->body->stmts.data[i];
        if (s->kind == ST_FOR && iter_look(&it, s, false)) vec_push(&inside, s);
        if (s->kind == ST_FOR) iter_forget(&it);
    }
    iter_free(&it);
    for (int i = 0; i < inside.len; i++) found |= split_nest(z, batch->body, inside.data[i]);
    vec_free(&inside);
    if (found) divide(z, around, batch);
    return found;
}

static void swap(Stmt *outer, Stmt *inner) {
    Temp index = outer->dst, *length = outer->args;
    outer->dst = inner->dst, outer->args = inner->args, inner->dst = index, inner->args = length;
}

// The same where the loop of the batch is all that another does, if its iterations are independent.
static bool split_swapped(Splitter *z, Block *around, Stmt *nest) {
    Stmt *inner = nest->body->stmts.len == 1 ? nest->body->stmts.data[0] : NULL;
    if (!inner || inner->kind != ST_FOR || inner->nargs > 1 || nest->nargs > 1 || inner->wishes || nest->wishes ||
        is_made_by(nest, inner->args[0]))
        return false;
    for (int i = 0; i < z->tree->bufs.len; i++)
        if (z->tree->bufs.data[i]->home == nest->body) return false; // iterations of the inner loop may share it
    Iterations it;
    swap(nest, inner);
    iter_init(&it, z->arena, z->tree, false);
    bool apart = iter_look(&it, nest, false);
    iter_forget(&it);
    iter_free(&it);
    if (apart && split_batch(z, around, nest)) return true;
    swap(nest, inner);
    return false;
}

// The outermost loops whose iterations are independent, unless they are known to be few.
static void find_nests(Splitter *z, Iterations *it, Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        const Stmt *n = s->kind == ST_FOR ? it->def[s->args[0]] : NULL;
        bool few = n && n->kind == ST_LIT && n->u.num < LEAST;
        if (s->kind == ST_FOR && !few && !stmt_wish(s, WISH_sequential)) {
            bool apart = iter_look(it, s, false);
            iter_forget(it);
            if (apart) {
                vec_push(&z->nests, ((Nest){b, s}));
                continue;
            }
        }
        find_nests(z, it, s->body), find_nests(z, it, s->other);
    }
}

void loops_products(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Splitter z = {.arena = arena, .tree = tree};
    Iterations it;
    iter_init(&it, arena, tree, opt->precise);
    find_nests(&z, &it, tree->body);
    iter_free(&it);
    for (int i = 0; i < z.nests.len; i++) {
        const Nest n = z.nests.data[i];
        if (!tree_step(tree, n.loop)) continue;
        if (split_nest(&z, n.around, n.loop) || split_batch(&z, n.around, n.loop) || split_swapped(&z, n.around, n.loop)) continue;
        groups_split(arena, tree, n.around, find_stmt(n.around, n.loop), opt->always, opt->fast);
    }
    z.nests.len = 0, z.rows = true;
    iter_init(&it, arena, tree, opt->precise);
    find_nests(&z, &it, tree->body);
    iter_free(&it);
    for (int i = 0; i < z.nests.len; i++)
        if (tree_step(tree, z.nests.data[i].loop)) split_nest(&z, z.nests.data[i].around, z.nests.data[i].loop);
    vec_free(&z.nests);
}

bool products_split_nest(Arena *arena, Tree *tree, Stmt **def, Block *around, Stmt *nest) {
    Splitter z = {.arena = arena, .tree = tree, .def = def, .again = true};
    return split_nest(&z, around, nest);
}
