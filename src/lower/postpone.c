// Postponed sums. A sequential loop that adds to matrices products of what it has just computed, as that does which goes back
// through the steps of a recurrent network, goes over all of these matrices each time. If nothing in the loop reads them, that can
// wait: what is added is kept for a strip of iterations, and is then added at once, as a product of matrices (lower/contract.c).
//
//     for t < n { …; for i { for j { w[i,j] += a[i] * x[t,j] } } }
//
// becomes
//
//     for c { f = c * k; m = min(n - f, k)
//             for s < m { t = f + s; …; for i { A[s,i] = a[i] } }
//             for i { for j { sum = 0; for s < m { sum += A[s,i] * x[f + s,j] }; w[i,j] += sum } } }
//
// where k is 64, or what rows or columns there are if they are fewer: what is kept is not more than the matrices.
#include "lower/build.h"
#include "lower/cost.h"
#include "lower/effects.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"

// How many iterations are a strip at most; matrices of fewer rows or columns, or loops of fewer iterations, are left as they are,
// if that is known; how much an element may need to be computed, and at what cost of each operation, for it is done for each again.
enum { STRIP = 64, LEAST = 16, BUDGET = 64, CHEAP = 2, MOST_PARTS = 16 };

typedef struct Sum { // in a nest of two loops, to which it adds to each element of a matrix
    Stmt *nest, *column, *to;
} Sum;

typedef struct Saved { // a row that the loop computes anew in each iteration, and its copies for a strip
    Buf *row, *rows;
    int at;          // the statement of the loop before which it is copied
    int part, parts; // which part of the rows these are, of how many
} Saved;

typedef struct Pair { // of temps that are the same in two sums, but of different rows
    Temp t, u;
} Pair;

typedef struct Postponer {
    Builder b;
    Iterations it;
    Map seen; // loops that have been looked at
    Stmt **def;
    // Of the loop that is looked at:
    Stmt *loop, *strip;
    Temp most;         // how many iterations a strip has
    Map made, written; // temps, by number + 1, and arrays
    VEC(Sum) sums;
    VEC(Saved) saved;
    VEC(Pair) pairs; // of the sums that are compared
    int budget;
} Postponer;

static void *key(Temp t) { return (void *)((intptr_t)t + 1); }
static bool is_made(const Postponer *z, Temp t) { return map_get(&z->made, key(t)); }

static bool is_pure(const Stmt *s) { return s->kind == ST_LIT || s->kind == ST_OP || s->kind == ST_CONV || s->kind == ST_SELECT; }

static void note_made(Postponer *z, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) map_put(&z->made, key(s->dst), (void *)s);
        if (s->buf && s->kind != ST_LOAD) map_put(&z->written, s->buf, s->buf);
        note_made(z, s->body), note_made(z, s->other);
    }
}

// ---- what can wait

static bool is_long(const Postponer *z, const Stmt *loop) {
    int64_t n;
    return nest_is_plain(loop) && !loop->few && !loop->outer && !loop->shifted &&
           (!iter_literal(&z->it, loop->args[0], &n) || n >= LEAST);
}

// The matrix is one outside of the loop; which element is added to, a row and a column say.
static bool is_element(const Postponer *z, const Sum *s) {
    const Temp *index = stmt_index(s->to);
    int rank = s->to->buf->rank, rows = 0;
    if (rank < 2 || index[rank - 1] != s->column->dst || !kind_is_float(s->to->buf->kind)) return false;
    for (int k = 0; k < rank - 1; k++) {
        rows += index[k] == s->nest->dst;
        if (index[k] != s->nest->dst && is_made(z, index[k])) return false;
    }
    return rows == 1;
}

static bool writes(const Stmt *s, const Buf *b);

static bool any_writes(const Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++)
        if (writes(block->stmts.data[i], b)) return true;
    return false;
}

static bool writes(const Stmt *s, const Buf *b) {
    return stmt_writes(s, b) || any_writes(s->body, b) || any_writes(s->other, b);
}

// Is it as long as the matrix has rows or columns, and not changed where these are added to?
static bool is_row(const Postponer *z, const Sum *s, const Buf *b) {
    if (b->rank != 1 || is_made(z, b->extent[0]) || writes(s->nest, b)) return false;
    return b->extent[0] == s->nest->args[0] || b->extent[0] == s->column->args[0];
}

// Can it be computed after the loop, for any iteration, if rows are saved? What has no index of the nest may be an element of them.
static bool can_wait(Postponer *z, const Sum *s, Temp t) {
    if (!is_made(z, t) || t == z->loop->dst || t == s->nest->dst || t == s->column->dst) return true;
    const Stmt *d = z->def[t];
    if (!d || z->budget-- <= 0 || (!is_pure(d) && d->kind != ST_LOAD)) return false;
    if (d->kind == ST_OP && op_info[d->op].cost > CHEAP) return false;
    if (d->kind == ST_LOAD && map_get(&z->written, d->buf) && !is_row(z, s, d->buf)) return false;
    for (int k = 0; k < d->nargs; k++)
        if (!can_wait(z, s, d->args[k])) return false;
    return true;
}

// The sums in a nest; others of what it does stay.
static void find_in_nest(Postponer *z, Stmt *nest) {
    if (nest->kind != ST_FOR || !is_long(z, nest) || is_made(z, nest->args[0])) return;
    for (int i = 0; i < nest->body->stmts.len; i++) {
        Stmt *column = nest->body->stmts.data[i];
        if (column->kind != ST_FOR || !is_long(z, column) || is_made(z, column->args[0])) continue;
        for (int k = 0; k < column->body->stmts.len; k++) {
            Sum s = {nest, column, column->body->stmts.data[k]};
            z->budget = BUDGET;
            if (s.to->kind == ST_ADDTO && is_element(z, &s) && can_wait(z, &s, s.to->args[0])) vec_push(&z->sums, s);
        }
    }
}

static bool is_inside(const Block *home, const Block *block) {
    if (!block || home == block) return block;
    for (int i = 0; i < block->stmts.len; i++)
        if (is_inside(home, block->stmts.data[i]->body) || is_inside(home, block->stmts.data[i]->other)) return true;
    return false;
}

// Is the matrix not new in an iteration, and does nothing in the loop name it but sums that wait?
static bool is_apart(const Postponer *z, const Buf *b) {
    int n = 0;
    for (int i = 0; i < z->sums.len; i++) n += z->sums.data[i].to->buf == b;
    return !(b->home && is_inside(b->home, z->loop->body)) && block_accesses(z->loop->body, b) == n;
}

static void find_sums(Postponer *z) {
    const Block *body = z->loop->body;
    z->sums.len = 0;
    for (int i = 0; i < body->stmts.len; i++) find_in_nest(z, body->stmts.data[i]);
    for (bool changed = true; changed;) { // one fewer may be in the way of others
        int n = 0;
        for (int i = 0; i < z->sums.len; i++)
            if (is_apart(z, z->sums.data[i].to->buf)) z->sums.data[n++] = z->sums.data[i];
        changed = n < z->sums.len;
        z->sums.len = n;
    }
}

// ---- sums that are alike
//
// As those for the gates of a cell: they add rows of other arrays to other parts of the same one, from 0 on. They become one sum,
// in a loop over the parts.

typedef struct Group {
    const Sum *like;             // one of them
    const Sum *part[MOST_PARTS]; // by number
    int at[MOST_PARTS];          // where in the loop they are
    Pair *pairs[MOST_PARTS];     // the elements of rows to be saved: of `like`, and of the part
    int npairs[MOST_PARTS];
    int n, dim; // if n > 1: which index says the part
} Group;

static bool is_saved(const Postponer *z, const Stmt *s) { return s->kind == ST_LOAD && map_get(&z->written, s->buf); }

// Is t in one sum what u is in the other, but for rows that are saved?
static bool same(Postponer *z, const Sum *a, const Sum *b, Temp t, Temp u) {
    if (t == a->nest->dst || u == b->nest->dst) return t == a->nest->dst && u == b->nest->dst;
    if (t == a->column->dst || u == b->column->dst) return t == a->column->dst && u == b->column->dst;
    if (t == u && (!is_made(z, t) || t == z->loop->dst)) return true;
    const Stmt *s = z->def[t], *d = z->def[u];
    if (!s || !d || z->budget-- <= 0 || s->kind != d->kind || s->op != d->op || s->nargs != d->nargs) return false;
    if (z->b.tree->temps.data[t].kind != z->b.tree->temps.data[u].kind) return false;
    if (s->kind == ST_LIT) return s->u.num == d->u.num;
    if (!is_pure(s) && s->kind != ST_LOAD) return false;
    if (is_saved(z, s) != is_saved(z, d)) return false;
    if (is_saved(z, s) ? s->buf->kind != d->buf->kind || s->buf->extent[0] != d->buf->extent[0] : s->buf != d->buf) return false;
    if (is_saved(z, s)) vec_push(&z->pairs, ((Pair){t, u}));
    bool either = s->kind == ST_OP && (s->op == OP_mul || s->op == OP_add);
    for (int way = 0, n = z->pairs.len; way < 1 + either; way++, z->pairs.len = n) {
        bool all = true;
        for (int k = 0; k < s->nargs && all; k++) all = same(z, a, b, s->args[k], d->args[way ? s->nargs - 1 - k : k]);
        if (all) return true;
    }
    return false;
}

// The index that says which part of the matrix a sum adds to, as a number known here; -1: there is none.
static int part_index(const Postponer *z, const Sum *s, int dim) {
    Temp t = stmt_index(s->to)[dim];
    const Stmt *d = t == s->nest->dst || t == s->column->dst ? NULL : z->def[t];
    return d && d->kind == ST_LIT && d->u.num >= 0 && d->u.num < MOST_PARTS ? (int)d->u.num : -1;
}

static bool alike(Postponer *z, const Sum *a, const Sum *b, int dim) {
    if (a->to->buf != b->to->buf || a->nest->args[0] != b->nest->args[0] || a->column->args[0] != b->column->args[0]) return false;
    z->budget = BUDGET, z->pairs.len = 0;
    for (int k = 0; k < a->to->buf->rank; k++)
        if (k != dim && !same(z, a, b, stmt_index(a->to)[k], stmt_index(b->to)[k])) return false;
    return same(z, a, b, a->to->args[0], b->to->args[0]);
}

static int place_of(const Postponer *z, const Sum *s) {
    int at = 0;
    while (z->loop->body->stmts.data[at] != s->nest) at++;
    return at;
}

static void add_part(Postponer *z, Group *g, const Sum *s, int part) {
    g->part[part] = s, g->at[part] = place_of(z, s);
    g->npairs[part] = z->pairs.len;
    g->pairs[part] = ARENA_ARRAY(z->b.arena, Pair, z->pairs.len + 1);
    for (int k = 0; k < z->pairs.len; k++) g->pairs[part][k] = z->pairs.data[k];
}

// The sums like number i: all parts from 0 on, or that one alone.
static Group group_of(Postponer *z, int i, bool *done) {
    const Sum *first = &z->sums.data[i];
    Group g;
    done[i] = true;
    for (int dim = 0; dim < first->to->buf->rank; dim++) {
        int of[MOST_PARTS], count = 0;
        g = (Group){.like = first, .dim = dim};
        if (part_index(z, first, dim) < 0) continue;
        for (int k = i; k < z->sums.len; k++) {
            const Sum *s = &z->sums.data[k];
            int part = part_index(z, s, dim);
            if ((k > i && done[k]) || part < 0 || g.part[part] || !alike(z, first, s, dim)) continue;
            add_part(z, &g, s, part);
            of[count++] = k;
        }
        while (g.n < count && g.part[g.n]) g.n++;
        if (count < 2 || g.n < count) continue;
        for (int k = 0; k < count; k++) done[of[k]] = true;
        return g;
    }
    g = (Group){.like = first, .n = 1, .dim = -1};
    alike(z, first, first, -1);
    add_part(z, &g, first, 0);
    return g;
}

// ---- what is kept for a strip

// Do the rows have copies of this row as it is before statement `at` of the loop, as those of a part?
static bool has_copies(const Postponer *z, const Buf *rows, const Buf *row, int part, int at) {
    for (int i = 0; i < z->saved.len; i++) {
        const Saved *s = &z->saved.data[i];
        bool is = s->rows == rows && s->row == row && s->part == part;
        for (int k = s->at < at ? s->at : at; is && k < (s->at < at ? at : s->at); k++)
            is = !writes(z->loop->body->stmts.data[k], row);
        if (is) return true;
    }
    return false;
}

// The copies of rows, one for each part of the group, as they are where its sums are.
static Buf *rows_of(Postponer *z, Block *before, const Group *g, Buf *const *row) {
    for (int i = 0; i < z->saved.len; i++) {
        Buf *rows = z->saved.data[i].rows;
        bool all = rows->rank == (g->n > 1 ? 3 : 2) && z->saved.data[i].parts == g->n;
        for (int k = 0; k < g->n && all; k++) all = has_copies(z, rows, row[k], k, g->at[k]);
        if (all) return rows;
    }
    Temp extent[] = {build_literal(&z->b, before, KIND_INT, g->n), z->most, row[0]->extent[0]};
    int alone = g->n == 1;
    Buf *rows = build_buf(&z->b, before, z->strip->body, row[0]->kind, 3 - alone, extent + alone);
    for (int k = 0; k < g->n; k++)
        vec_push(&z->saved, ((Saved){.row = row[k], .rows = rows, .at = g->at[k], .part = k, .parts = g->n}));
    return rows;
}

typedef struct Later { // a group of sums as it is computed after a strip
    const Group *group;
    Map is;         // Temp + 1 of what the loop makes -> what is that there + 1
    Temp iteration; // of the strip
    Temp part;
} Later;

// The row of a part that stands for the one from which t is loaded.
static Buf *row_of(const Postponer *z, const Group *g, int part, Temp t) {
    for (int k = 0; k < g->npairs[part]; k++)
        if (g->pairs[part][k].t == t) return z->def[g->pairs[part][k].u]->buf;
    fatal_bug("a sum that waits has no such part");
}

// t, of the sum that the others are like, computed in a block after the strip.
static Temp later(Postponer *z, Block *before, Block *to, Later *q, Temp t) {
    if (!is_made(z, t)) return t;
    intptr_t there = (intptr_t)map_get(&q->is, key(t));
    if (there) return (Temp)(there - 1);
    const Group *g = q->group;
    const Stmt *s = z->def[t];
    Buf *from = s->buf, *row[MOST_PARTS];
    Temp args[RANK_MAX + 2];
    int n = 0;
    if (is_saved(z, s)) {
        for (int k = 0; k < g->n; k++) row[k] = row_of(z, g, k, t);
        from = rows_of(z, before, g, row);
        if (g->n > 1) args[n++] = q->part;
        args[n++] = q->iteration;
    }
    for (int k = 0; k < s->nargs; k++) args[n++] = later(z, before, to, q, s->args[k]);
    Stmt *copy = build_stmt(&z->b, to, s->kind, build_temp(&z->b, z->b.tree->temps.data[t]), n, args);
    copy->op = s->op, copy->u = s->u, copy->buf = from;
    map_put(&q->is, key(t), key(copy->dst));
    return copy->dst;
}

static void put_sums(Postponer *z, Block *before, Block *to, const Group *g, Temp first, Temp count) {
    Builder *b = &z->b;
    const Sum *s = g->like;
    Later q = {.group = g};
    if (g->n > 1) {
        Stmt *parts = build_loop_named(b, to, "part", build_literal(b, to, KIND_INT, g->n));
        to = parts->body, q.part = parts->dst;
    }
    Stmt *row = build_loop(b, to, s->nest->dst, s->nest->args[0]),
         *column = build_loop(b, row->body, s->column->dst, s->column->args[0]);
    Kind kind = s->to->buf->kind;
    Temp zero = build_literal(b, column->body, kind, 0), cell = build_temp(b, (TempInfo){.kind = kind, .cell = true}),
         index[RANK_MAX];
    build_stmt(b, column->body, ST_CELL, cell, 1, &zero);
    Stmt *over = build_loop(b, column->body, z->loop->dst, count);
    Temp t = build_int(b, over->body, OP_add, first, over->dst);
    q.iteration = over->dst;
    map_put(&q.is, key(z->loop->dst), key(t));
    map_put(&q.is, key(s->nest->dst), key(row->dst));
    map_put(&q.is, key(s->column->dst), key(column->dst));
    Temp term = later(z, before, over->body, &q, s->to->args[0]);
    Temp sum = build_stmt(b, over->body, ST_GET, build_temp(b, (TempInfo){.kind = kind}), 1, &cell)->dst;
    sum = build_op(b, over->body, kind, OP_add, sum, term);
    build_stmt(b, over->body, ST_SET, cell, 1, &sum);
    sum = build_stmt(b, column->body, ST_GET, build_temp(b, (TempInfo){.kind = kind}), 1, &cell)->dst;
    for (int k = 0; k < s->to->buf->rank; k++) {
        Temp i = stmt_index(s->to)[k];
        index[k] = k == g->dim ? q.part : i == s->nest->dst ? row->dst : i == s->column->dst ? column->dst : i;
    }
    build_store(b, column->body, ST_ADDTO, s->to->buf, sum, index);
    map_free(&q.is);
}

static void save(Builder *b, Block *to, const Saved *s, Temp iteration) {
    Stmt *loop = build_loop_named(b, to, "k", s->row->extent[0]);
    Temp index[3], value = build_load(b, loop->body, s->row, &loop->dst);
    int n = 0;
    if (s->parts > 1) index[n++] = build_literal(b, loop->body, KIND_INT, s->part);
    index[n++] = iteration, index[n++] = loop->dst;
    build_store(b, loop->body, ST_STORE, s->rows, value, index);
}

// The loop's body with rows that are saved, and without what waits.
static void cut_body(Postponer *z, Temp first, Temp iteration, Temp index) {
    Block old = *z->loop->body, *body = z->loop->body;
    *body = (Block){0};
    Stmt *t = build_stmt(&z->b, body, ST_OP, index, 2, (Temp[]){first, iteration});
    t->op = OP_add;
    for (int i = 0; i < old.stmts.len; i++) {
        for (int k = 0; k < z->saved.len; k++)
            if (z->saved.data[k].at == i) save(&z->b, body, &z->saved.data[k], iteration);
        for (int k = 0; k < z->sums.len; k++)
            if (z->sums.data[k].nest == old.stmts.data[i]) block_remove(z->sums.data[k].column->body, z->sums.data[k].to);
        vec_push(&body->stmts, old.stmts.data[i]);
    }
    vec_free(&old.stmts);
}

static Temp put_most(Postponer *z, Block *to) {
    Builder *b = &z->b;
    Temp most = build_literal(b, to, KIND_INT, STRIP);
    for (int i = 0; i < z->sums.len; i++) {
        const Temp count[] = {z->sums.data[i].nest->args[0], z->sums.data[i].column->args[0]};
        for (int k = 0; k < 2; k++) {
            bool known = k && count[0] == count[1];
            for (int j = 0; j < i; j++)
                known |= z->sums.data[j].nest->args[0] == count[k] || z->sums.data[j].column->args[0] == count[k];
            if (!known) most = build_int(b, to, OP_min, most, count[k]);
        }
    }
    return build_int(b, to, OP_max, most, build_literal(b, to, KIND_INT, 1));
}

static void put_strips(Postponer *z, Block *block, int at) {
    Builder *b = &z->b;
    Stmt *loop = z->loop;
    Block before = {0};
    b->span = loop->span;
    Temp n = loop->args[0], all = z->most = put_most(z, &before), up = build_int(b, &before, OP_add, n, all),
         strips = build_int(b, &before, OP_idiv, build_int(b, &before, OP_sub, up, build_literal(b, &before, KIND_INT, 1)), all);
    Stmt *strip = tree_stmt(b->arena, ST_FOR, build_temp(b, (TempInfo){.kind = KIND_INT, .name = "strip"}), 1, &strips, b->span);
    strip->body = ARENA_NEW(b->arena, Block), z->strip = strip;
    Temp first = build_int(b, strip->body, OP_mul, strip->dst, all), left = build_int(b, strip->body, OP_sub, n, first),
         count = build_int(b, strip->body, OP_min, left, all);
    vec_push(&strip->body->stmts, loop);
    z->saved.len = 0;
    bool *done = ARENA_ARRAY(b->arena, bool, z->sums.len);
    for (int i = 0; i < z->sums.len; i++) {
        if (done[i]) continue;
        Group g = group_of(z, i, done);
        put_sums(z, &before, strip->body, &g, first, count);
    }
    Temp index = loop->dst;
    loop->dst = build_temp(b, b->tree->temps.data[index]);
    loop->args[0] = count;
    cut_body(z, first, loop->dst, index);
    vec_push(&before.stmts, strip);
    block->stmts.data[at] = before.stmts.data[0];
    for (int i = 1; i < before.stmts.len; i++) block_insert(block, at + i, before.stmts.data[i]);
    vec_free(&before.stmts);
}

static void explain_sums(const Postponer *z) {
    const char *name = z->b.tree->temps.data[z->loop->dst].name;
    explain(z->b.tree->func->ir->explain, EXPLAIN_SCHEDULE, z->loop->span,
            "loop over `%s`: in strips, after each of which it adds to %d matrices at once", name ? name : "i", z->sums.len);
}

// Does the loop wait for what it did before, and has it sums that may come later?
static bool postpone(Postponer *z, Block *block, int at) {
    Stmt *loop = block->stmts.data[at];
    if (map_get(&z->seen, loop) || !is_long(z, loop)) return false;
    map_put(&z->seen, loop, loop);
    bool apart = iter_look(&z->it, loop, false);
    iter_forget(&z->it);
    if (apart) return false;
    z->loop = loop;
    map_put(&z->made, key(loop->dst), loop);
    note_made(z, loop->body);
    find_sums(z);
    if (z->sums.len && !tree_step(z->b.tree, loop)) z->sums.len = 0;
    if (z->sums.len) explain_sums(z), put_strips(z, block, at);
    map_free(&z->made), map_free(&z->written);
    z->made = z->written = (Map){0};
    return z->sums.len;
}

static bool postpone_some(Postponer *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_FOR && postpone(z, block, i)) return true;
        if (postpone_some(z, s->body) || postpone_some(z, s->other)) return true;
    }
    return false;
}

void loops_postpone(Arena *arena, Tree *tree, const LoopOptions *opt) {
    (void)opt;
    Postponer z = {.b = {.arena = arena, .tree = tree}};
    bool any = false;
    for (bool more = true; more;) {
        iter_init(&z.it, arena, tree, false);
        z.def = ARENA_ARRAY(arena, Stmt *, tree->temps.len + 1);
        tree_definitions(tree->body, z.def);
        more = postpone_some(&z, tree->body);
        any |= more;
        iter_free(&z.it);
    }
    map_free(&z.seen);
    vec_free(&z.sums), vec_free(&z.saved), vec_free(&z.pairs);
    if (any) lower_remove_dead(arena, tree);
}
