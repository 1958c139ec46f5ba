// Groups (lower/groups.h). The iterations of a loop are independent, and go over matrices:
//
//     for i < n { x; for c < k { for j { z[c,j] = sum over l of q[c,j,l] * x[l] } }; y; for c < k { … for j, l { g[c,j,l] += u[j] * x[l] } } }
//
// Each part of it gets loops of its own, with arrays for what others need of it, for a group of iterations at a time, as memory permits:
//
//     for each group { for i, c { x[i,c] }; for c { for i, j { z[i,c,j] = sum over l of q[c,j,l] * x[i,c,l] } }; for i { y[i] };
//                      for c { for j, l { p[c,j,l] += sum over i of u[i,c,j] * x[i,c,l] } } }
//
// so that sums of products are products of matrices, for each c, and what iterations add to the same places are sums over them. Loops of
// which that makes parts are open, and all others stay as they are, in a part; of these, sums of products may come before them.
//
// Where a sum goes up to l < j + 1, as along a row of a triangle, q gets zeros for the rest. A zero times what the sum does not contain may
// be NaN: sums that turn out so are computed again as they were. Of products that are added up to there, the rest is not added.
#include "lower/groups.h"

#include "lower/independent.h"
#include "lower/internal.h"

#include <string.h>

// The bytes of what a group leaves in arrays; the least length of loops of products; levels of open loops; what may be computed again, in
// additions, none of which is dear; how far dependences are followed.
// CHUNKS: so many parts of a group are added up at once.
enum { LEAST = 16, DEEPEST = 4, CHEAP = 12, DEAR = 4, BUDGET = 200, INNER = 1 << DEEPEST, CHUNKS = 32 };
#define GROUP_BYTES ((int64_t)1 << 30)

typedef enum PartKind {
    PART_LIGHT,   // statements as they are
    PART_SUM,     // a sum of products over l
    PART_PRODUCT, // additions of a product to elements l
    PART_ADD      // an addition to an element that iterations share
} PartKind;

typedef struct Piece {
    PartKind kind;
    int depth, open;
    Stmt *loop[DEEPEST]; // around it; so many of them are open
    const Block *block;  // of the innermost of these
    VEC(Stmt *) stmts;   // PART_LIGHT
    Stmt *k;             // the loop over l
    bool rows;           // of a sum: that is outside of loop j, which adds to the elements of a row
    Stmt *to;            // the addition; of a sum, the statement that stores it, or adds it to an element, or NULL
    Temp get;            // the sum
    Temp f[2];           // factors: of iterations and the others
    int bits[2];         // what they depend on
    bool negative, adds; // adds: `to` does not store
    bool cut;            // l < j + plus; of rows j < l + plus
    int64_t plus;
    Temp most, across;   // the largest lengths of loops l and j
    Buf *all;            // PART_PRODUCT: sums
} Piece;

typedef struct Widened { // an array that is new in each iteration of an open loop
    const Buf *from;
    Buf *to;
    int depth;
} Widened;

typedef struct Grouper {
    Arena *arena;
    Tree *tree;
    Iterations it;
    bool always;
    Stmt *nest;
    Block *around;
    int known; // temps with a definition
    bool *made; // by temp: in the nest
    int *at;    // by temp, made in the nest: where it comes
    int *level; // by temp, made in the body of an open loop: its level
    int *part;  // likewise: the part that makes it, + 1
    bool *kept; // likewise: others need it, and do not compute it again
    Buf **array; // of these: where it is
    int count_at, since; // since: statements from there on come later than what is looked at; 0: there are none
    Map changed; // array -> where it is changed last
    Map skipped; // statements that belong to a sum
    Stmt *loop[DEEPEST];
    Temp inner;  // the index of the loop over l
    int budget;
    VEC(Piece) parts;
    VEC(Widened) wide;
    VEC(Buf *) grouped;  // arrays for the iterations of a group
    Temp size, count, base; // of a group
    Block lengths, before, after;
    Block *group;
} Grouper;

static const Stmt *def_of(const Grouper *z, Temp t) { return t < z->known ? z->it.def[t] : NULL; }
static bool is_made(const Grouper *z, Temp t) { return t < z->known && z->made[t]; }
static Kind kind_of(const Grouper *z, Temp t) { return z->tree->temps.data[t].kind; }

// ---- what the nest does

static void survey(Grouper *z, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        z->count_at++;
        if (s->dst >= 0 && s->kind != ST_SET) z->made[s->dst] = true, z->at[s->dst] = z->count_at;
        if (s->buf && s->kind != ST_LOAD && s->kind != ST_NEW && s->kind != ST_FETCH) map_put(&z->changed, s->buf, (void *)(intptr_t)z->count_at);
        survey(z, s->body), survey(z, s->other);
    }
}

static bool has_barred(const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_CHECK || s->kind == ST_EXTERN || s->kind == ST_OUT || s->kind == ST_COPY || has_barred(s->body) || has_barred(s->other)) return true;
    }
    return false;
}

static int count_uses(const Block *b, Temp t) {
    int n = 0;
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        for (int k = 0; k < s->nargs; k++) n += s->args[k] == t;
        n += count_uses(s->body, t) + count_uses(s->other, t);
    }
    return n;
}

static int count_sets(const Block *b, Temp cell) {
    int n = 0;
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        n += (s->kind == ST_SET && s->dst == cell) + count_sets(s->body, cell) + count_sets(s->other, cell);
    }
    return n;
}

static bool accesses(const Stmt *s, const Buf *b, bool additions) { // but for its coming into being
    if ((s->buf == b && s->kind != ST_NEW && (additions || s->kind != ST_ADDTO)) || s->src == b) return true;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++)
            if (accesses(in[k]->stmts.data[i], b, additions)) return true;
    return false;
}

static bool is_pure(const Stmt *s) { return s->kind == ST_LIT || s->kind == ST_ARG || s->kind == ST_OP || s->kind == ST_CONV || s->kind == ST_SELECT; }

static bool is_plain(const Stmt *s) { return is_pure(s) || s->kind == ST_GET || s->kind == ST_LOAD || s->kind == ST_FETCH; }

static Stmt *only_effect(const Block *b) { // the only statement that is not plain
    Stmt *one = NULL;
    for (int i = 0; i < b->stmts.len; i++) {
        if (is_plain(b->stmts.data[i])) continue;
        if (one) return NULL;
        one = b->stmts.data[i];
    }
    return one;
}

static bool has_block(const Block *b, const Block *in) { // in the block, or inside of it
    if (b == in) return true;
    for (int i = 0; b && i < b->stmts.len; i++)
        if ((b->stmts.data[i]->body && has_block(b->stmts.data[i]->body, in)) || (b->stmts.data[i]->other && has_block(b->stmts.data[i]->other, in))) return true;
    return false;
}

static bool makes(const Block *b, Temp t) { // itself
    for (int i = 0; i < b->stmts.len; i++)
        if (b->stmts.data[i]->dst == t && b->stmts.data[i]->kind != ST_SET) return true;
    return false;
}

// ---- what a temp depends on

static int levels(int n) { return (1 << n) - 1; }

// The level of the open loop, of n, in each iteration of which the array is new; 0: it is no such array.
static int level_of(Stmt *const *loop, int n, const Buf *b) {
    for (int k = 0; k < n; k++)
        if (b->home == loop[k]->body) return k + 1;
    return 0;
}

// Is a load the same wherever it comes later?
static bool is_lasting(const Grouper *z, const Stmt *load) {
    intptr_t last = (intptr_t)map_get(&z->changed, load->buf);
    return !last || (level_of(z->loop, DEEPEST, load->buf) && last < z->at[load->dst]);
}

// What computing t again costs, where the body of an open loop has made it; more than CHEAP if that cannot be, or is dear. What is kept, since
// it is dear, is loaded.
static int cost_of(Grouper *z, Temp t) {
    const Stmt *s = def_of(z, t);
    if (!is_made(z, t) || s->kind == ST_FOR) return 0;
    if (z->budget-- <= 0 || (!is_pure(s) && (s->kind != ST_LOAD || !is_lasting(z, s)))) return CHEAP + 1;
    int cost = s->kind == ST_OP ? op_info[s->op].cost : s->kind == ST_LOAD;
    if (cost >= DEAR && kind_is_float(kind_of(z, t))) return CHEAP + 1;
    for (int k = 0; k < s->nargs && cost <= CHEAP; k++) {
        int of = cost_of(z, s->args[k]);
        cost += of > CHEAP && z->part[s->args[k]] ? 1 : of;
    }
    return cost;
}

static bool is_cheap(Grouper *z, Temp t) { return z->budget = BUDGET, cost_of(z, t) <= CHEAP; }

// The indices that t depends on: a bit for each open loop of n, and INNER; -1 if it may not be computed elsewhere.
static int find_bits(Grouper *z, Temp t, int n) {
    if (!is_made(z, t)) return 0;
    if (t == z->inner) return INNER;
    for (int k = 0; k < n; k++)
        if (z->loop[k]->dst == t) return 1 << k;
    const Stmt *s = def_of(z, t);
    if (z->budget-- <= 0 || s->kind == ST_FOR) return -1;
    if (z->part[t]) { // of the body of an open loop
        int budget = z->budget;
        bool cheap = is_cheap(z, t);
        z->budget = budget;
        if (!cheap) return levels(z->level[t]);
    } else if (!is_pure(s) && s->kind != ST_LOAD) {
        return -1;
    }
    int all = 0;
    if (s->kind == ST_LOAD) {
        int own = level_of(z->loop, n, s->buf);
        intptr_t last = (intptr_t)map_get(&z->changed, s->buf);
        if (last && (!own || (z->since && last >= z->since))) return -1;
        all = levels(own);
    }
    for (int k = 0; k < s->nargs; k++) {
        int of = find_bits(z, s->args[k], n);
        if (of < 0) return -1;
        all |= of;
    }
    return all;
}

static int bits_of(Grouper *z, Temp t, int n) { return z->budget = BUDGET, find_bits(z, t, n); }

static int bits_of_place(Grouper *z, const Stmt *s, int n) {
    int all = 0;
    for (const Temp *t = stmt_index(s); t < s->args + s->nargs; t++) {
        int of = bits_of(z, *t, n);
        if (of < 0) return -1;
        all |= of;
    }
    return all;
}

// ---- parts

static bool is_long(const Grouper *z, Temp length) {
    const Stmt *n = def_of(z, length);
    return !is_made(z, length) && n && (z->always || n->kind != ST_LIT || n->u.num >= LEAST);
}

static bool is_counted(const Stmt *s) { return s->kind == ST_FOR && s->nargs == 1 && !s->wishes; }

// Is the length of loop k, inside of loop j, known before the nest, or cut by j?
static bool find_length(const Grouper *z, const Stmt *k, const Stmt *j, Piece *p) {
    if (!is_counted(k)) return false;
    Temp n = k->args[0];
    p->cut = is_made(z, n), p->plus = 0;
    if (!p->cut) return is_long(z, n);
    const Stmt *s = def_of(z, n);
    if (n == j->dst) return true;
    if (s->kind != ST_OP || s->op != OP_add) return false;
    for (int a = 0; a < 2; a++) {
        const Stmt *c = def_of(z, s->args[1 - a]);
        if (s->args[a] == j->dst && c && c->kind == ST_LIT && c->u.num >= 0 && c->u.num < LEAST) return p->plus = c->u.num, true;
    }
    return false;
}

static const Stmt *is_op(const Grouper *z, Temp t, Op op) {
    const Stmt *s = def_of(z, t);
    return s && is_made(z, t) && s->kind == ST_OP && s->op == op ? s : NULL;
}

// Factors of which one depends on all of `first`, and not on any of `other`, and the other one the other way round; `common`: what both
// may depend on, and must of `both`.
static bool find_factors(Grouper *z, const Stmt *mul, int n, int first, int other, int both, Piece *p) {
    int bits[] = {bits_of(z, mul->args[0], n), bits_of(z, mul->args[1], n)};
    if (bits[0] < 0 || bits[1] < 0) return false;
    for (int k = 0; k < 2; k++) {
        int x = bits[k], y = bits[1 - k];
        if ((x & first) != first || (x & other) || (y & other) != other || (y & first) || (x & both) != both || (y & both) != both) continue;
        p->f[0] = mul->args[k], p->f[1] = mul->args[1 - k], p->bits[0] = x, p->bits[1] = y;
        return true;
    }
    return false;
}

// The sum over l that statement `at` of the body of an open loop adds up to a cell, which begins with zero.
static bool find_sum(Grouper *z, const Block *b, int at, int depth, Piece *p) {
    const Stmt *k = b->stmts.data[at], *first = NULL, *get = NULL;
    if (depth < 2 || depth > 3 || !is_long(z, z->loop[depth - 1]->args[0]) || !find_length(z, k, z->loop[depth - 1], p)) return false;
    p->k = (Stmt *)k;
    const Stmt *set = only_effect(k->body), *sum = set && set->kind == ST_SET ? is_op(z, set->args[0], OP_add) : NULL;
    if (!sum || !kind_is_float(kind_of(z, set->dst)) || count_uses(k->body, set->dst) != 1 || count_uses(k->body, set->args[0]) != 1) return false;
    int gets = 0, made = -1;
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_CELL && s->dst == set->dst) first = def_of(z, s->args[0]), made = i;
        if (s->kind == ST_GET && s->args[0] == set->dst) get = s, gets += i < at ? 2 : 1;
    }
    if (made < 0 || made > at || !first || first->kind != ST_LIT || first->u.real != 0 || gets != 1) return false;
    if (count_uses(b, set->dst) != 2 || count_sets(b, set->dst) != 1) return false;
    for (int a = 0; a < 2; a++) {
        const Stmt *so_far = def_of(z, sum->args[a]), *mul = is_op(z, sum->args[1 - a], OP_mul);
        if (!so_far || so_far->kind != ST_GET || so_far->args[0] != set->dst || !mul || count_uses(k->body, so_far->dst) != 1) continue;
        z->inner = k->dst;
        bool found = find_factors(z, mul, depth, 1, 1 << (depth - 1), INNER, p);
        z->inner = -1;
        p->get = get->dst, p->to = NULL;
        if (!found) return false;
        map_put(&z->skipped, b->stmts.data[made], (void *)1), map_put(&z->skipped, get, (void *)1);
        return true;
    }
    return false;
}

// If all that is done with the sum is to store it, that is a part of it.
static void find_store(Grouper *z, const Block *b, int at, Piece *p) {
    if (count_uses(b, p->get) != 1) return;
    for (int i = at + 1; i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (s->kind == ST_STORE && s->args[0] == p->get && bits_of_place(z, s, p->depth) >= 0) {
            for (int k = at + 1; k < i; k++)
                if (accesses(b->stmts.data[k], s->buf, true)) return;
            p->to = s;
            map_put(&z->skipped, s, (void *)1);
            return;
        }
    }
}

// The statement before number `at` that accesses the array last.
static Stmt *access_before(const Block *b, int at, const Buf *buf) {
    while (at-- > 0)
        if (accesses(b->stmts.data[at], buf, true)) return b->stmts.data[at];
    return NULL;
}

// for l { for j { row[j] += x * y } }, where the row is new in each iteration of the innermost open loop.
static bool find_row(Grouper *z, const Block *b, int at, int depth, Piece *p) {
    Stmt *l = b->stmts.data[at], *j = is_counted(l) && l->body ? only_effect(l->body) : NULL;
    if (!j || depth > 2 || !is_long(z, l->args[0]) || !find_length(z, j, l, p)) return false;
    Stmt *to = only_effect(j->body);
    if (!to || to->kind != ST_ADDTO || !kind_is_float(to->buf->kind) || level_of(z->loop, depth, to->buf) != depth) return false;
    const Stmt *negation = is_op(z, to->args[0], OP_neg), *mul = is_op(z, negation ? negation->args[0] : to->args[0], OP_mul);
    if (!mul) return false;
    z->loop[depth] = j, z->inner = l->dst;
    int place = bits_of_place(z, to, depth + 1);
    bool along = false;
    for (int k = 1; k < to->nargs; k++) along |= to->args[k] == j->dst;
    bool found = along && place >= 0 && !(place & INNER) && find_factors(z, mul, depth + 1, 1, 1 << depth, INNER, p);
    z->loop[depth] = z->nest, z->inner = -1;
    if (!found) return false;
    const Stmt *fill = access_before(b, at, to->buf), *zero = fill && fill->kind == ST_FILL ? def_of(z, fill->args[0]) : NULL;
    p->k = l, p->to = to, p->rows = true, p->negative = negation, p->get = -1;
    p->adds = !zero || zero->kind != ST_LIT || zero->u.real != 0;
    bool whole = to->buf->rank == 1 && to->buf->extent[0] == (p->cut ? l->args[0] : j->args[0]) && (!p->cut || p->plus == 1);
    if (!p->adds && whole) map_put(&z->skipped, fill, (void *)1);
    return !(p->adds && p->cut);
}

// Is the array one from outside that the nest only adds to?
static bool is_shared(const Grouper *z, const Buf *b) {
    return !(b->home && has_block(z->nest->body, b->home)) && !accesses(z->nest, b, false);
}

static bool find_product(Grouper *z, const Stmt *k, int depth, Piece *p) {
    if (depth < 2 || depth > 3 || !is_long(z, z->loop[depth - 1]->args[0]) || !find_length(z, k, z->loop[depth - 1], p)) return false;
    p->k = (Stmt *)k;
    Stmt *to = only_effect(k->body);
    if (!to || to->kind != ST_ADDTO || !kind_is_float(to->buf->kind) || !is_shared(z, to->buf)) return false;
    const Stmt *negation = is_op(z, to->args[0], OP_neg), *mul = is_op(z, negation ? negation->args[0] : to->args[0], OP_mul);
    if (!mul) return false;
    z->inner = k->dst, p->to = to, p->negative = negation;
    int place = bits_of_place(z, to, depth), j = 1 << (depth - 1);
    bool found = place == ((levels(depth) & ~1) | INNER) && find_factors(z, mul, depth, j, INNER, 1, p);
    z->inner = -1;
    return found && !(p->cut && !p->plus && makes(k->body, p->f[0])); // no iteration of l: it may not be there
}

static bool find_addition(Grouper *z, const Stmt *s, int depth) {
    return s->kind == ST_ADDTO && depth > 1 && is_shared(z, s->buf) && bits_of_place(z, s, depth) == (levels(depth) & ~1);
}

static bool mentions(const Stmt *s, Temp cell);

// Does the statement set a cell that the nest has made before?
static bool sets_other(const Grouper *z, const Stmt *s, int since) {
    if (s->kind == ST_SET && is_made(z, s->dst) && z->at[s->dst] < since) return true;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++)
            if (sets_other(z, in[k]->stmts.data[i], since)) return true;
    return false;
}

static bool may_open(Grouper *z, Stmt *s, int depth) {
    if (!is_counted(s) || depth == DEEPEST || is_made(z, s->args[0])) return false;
    bool apart = iter_look(&z->it, s, false);
    iter_forget(&z->it);
    return apart;
}

static Piece *add_part(Grouper *z, Piece p, int depth, int open, const Block *b) {
    p.depth = depth, p.open = open, p.block = b;
    memcpy(p.loop, z->loop, sizeof *p.loop * (size_t)depth);
    vec_push(&z->parts, p);
    return &vec_last(&z->parts);
}

static void forget(Grouper *z, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) z->part[s->dst] = z->level[s->dst] = 0;
        map_put(&z->skipped, s, NULL);
        forget(z, s->body), forget(z, s->other);
    }
}

static bool collect(Grouper *z, const Block *b, int depth);

// Opens the loop, if that makes parts of it that are not light.
static bool open_loop(Grouper *z, Stmt *s, int depth) {
    int before = z->parts.len;
    bool pays = false;
    if (!may_open(z, s, depth) || sets_other(z, s, z->at[s->dst])) return false;
    z->loop[depth] = s;
    bool good = collect(z, s->body, depth + 1);
    for (int i = before; i < z->parts.len; i++) pays |= z->parts.data[i].kind != PART_LIGHT;
    z->loop[depth] = z->nest; // no other loop's body
    if (good && pays) return true;
    for (int i = before; i < z->parts.len; i++) vec_free(&z->parts.data[i].stmts);
    z->parts.len = before;
    forget(z, s->body);
    return false;
}

// Sums in a loop that is not opened, and in loops inside of it: they come before it, where what they need is there by then.
static void find_sums(Grouper *z, Stmt *s, int depth, int open) {
    if (depth > 2 || !may_open(z, s, depth)) return;
    z->loop[depth] = s;
    for (int i = 0; i < s->body->stmts.len; i++) {
        Piece p = {.kind = PART_SUM, .get = -1};
        if (s->body->stmts.data[i]->kind != ST_FOR) continue;
        if (find_sum(z, s->body, i, depth + 1, &p)) {
            add_part(z, p, depth + 1, open, s->body);
            map_put(&z->skipped, p.k, (void *)1);
            z->part[p.get] = z->parts.len, z->level[p.get] = depth + 1;
        } else {
            find_sums(z, s->body->stmts.data[i], depth + 1, open);
        }
    }
    z->loop[depth] = z->nest;
}

// Puts a statement into the last part, if that is light and of this block, or a new one.
static void add_light(Grouper *z, Stmt *s, int depth, const Block *b) {
    bool joins = z->parts.len && vec_last(&z->parts).kind == PART_LIGHT && vec_last(&z->parts).block == b;
    Piece *last = joins ? &vec_last(&z->parts) : add_part(z, (Piece){.kind = PART_LIGHT, .get = -1}, depth, depth, b);
    vec_push(&last->stmts, s);
    if (s->dst >= 0 && s->kind != ST_SET && s->kind != ST_FOR) z->part[s->dst] = z->parts.len, z->level[s->dst] = depth;
}

static bool collect(Grouper *z, const Block *b, int depth) {
    for (int i = 0; i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        Piece p = {.kind = PART_LIGHT, .get = -1};
        if (s->kind == ST_FETCH || map_get(&z->skipped, s)) continue;
        if (s->kind == ST_NEW) {
            for (int k = 0; k < s->buf->rank; k++)
                if (is_made(z, s->buf->extent[k])) return false;
            continue;
        }
        if (s->kind == ST_CELL) continue; // others are made where they are needed first
        if (s->kind == ST_FOR && find_sum(z, b, i, depth, &p)) {
            p.kind = PART_SUM;
            Piece *added = add_part(z, p, depth, depth, b);
            z->part[p.get] = z->parts.len, z->level[p.get] = depth;
            find_store(z, b, i, added);
        } else if (s->kind == ST_FOR && find_row(z, b, i, depth, &p)) {
            p.kind = PART_SUM, z->loop[depth] = only_effect(s->body);
            add_part(z, p, depth + 1, depth, b);
            z->loop[depth] = z->nest;
        } else if (s->kind == ST_FOR && find_product(z, s, depth, &p)) {
            p.kind = PART_PRODUCT, add_part(z, p, depth, depth, b);
        } else if (find_addition(z, s, depth)) {
            p.kind = PART_ADD, p.to = s, add_part(z, p, depth, depth, b);
        } else if (!open_loop(z, s, depth)) {
            if (s->kind == ST_FOR) z->since = z->at[s->dst], find_sums(z, s, depth, depth);
            z->since = 0;
            for (int k = 0; k < i; k++) {
                Stmt *cell = b->stmts.data[k];
                if (cell->kind == ST_CELL && !z->part[cell->dst] && mentions(s, cell->dst) && !map_get(&z->skipped, cell)) add_light(z, cell, depth, b);
            }
            add_light(z, s, depth, b);
        }
    }
    return true;
}

// ---- what parts need of others

static bool mentions(const Stmt *s, Temp cell) {
    if ((s->kind == ST_GET && s->args[0] == cell) || (s->kind == ST_SET && s->dst == cell)) return true;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++)
            if (mentions(in[k]->stmts.data[i], cell)) return true;
    return false;
}

// Does one part have each cell to itself?
static bool keeps_cells(const Grouper *z) {
    for (Temp t = 0; t < z->known; t++) {
        int parts = 0, at = -1;
        if (!z->tree->temps.data[t].cell) continue;
        for (int i = 0; i < z->parts.len; i++) {
            const Piece *p = &z->parts.data[i];
            bool any = false;
            for (int k = 0; k < p->stmts.len; k++) any |= mentions(p->stmts.data[k], t);
            if (any) parts++, at = i;
        }
        if (parts > 1 || (parts && z->made[t] && z->part[t] && z->part[t] != at + 1)) return false;
    }
    return true;
}

// Notes what the part needs to know of t. Of what is made inside of loops of the part, all is computed there.
static bool need(Grouper *z, int part, Temp t) {
    const Piece *p = &z->parts.data[part];
    const Stmt *s = def_of(z, t);
    if (!is_made(z, t) || (p->k && p->k->dst == t)) return true;
    for (int k = 0; k < p->depth; k++)
        if (p->loop[k]->dst == t) return true;
    if (s->kind == ST_FOR) return false;
    if (z->part[t] == part + 1 && p->kind == PART_LIGHT) return true;
    if (z->part[t] && (z->part[t] == part + 1 || !is_cheap(z, t))) { // the part's own sum has no use in it
        const Kind kind = kind_of(z, t);
        z->kept[t] = kind == KIND_INT || kind_is_float(kind);
        return z->kept[t] && z->part[t] <= part;
    }
    if (!is_pure(s) && s->kind != ST_LOAD) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!need(z, part, s->args[k])) return false;
    return true;
}

static void note_made(Map *made, const Stmt *s) {
    if (s->dst >= 0) map_put(made, (void *)((intptr_t)s->dst + 1), (void *)1);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) note_made(made, in[k]->stmts.data[i]);
}

static bool is_in(const Map *made, Temp t) { return map_get(made, (void *)((intptr_t)t + 1)); }

static bool need_all(Grouper *z, int part, const Map *made, const Stmt *s) {
    for (int k = 0; k < s->nargs; k++)
        if (!is_in(made, s->args[k]) && !z->tree->temps.data[s->args[k]].cell && !need(z, part, s->args[k])) return false;
    for (int k = 0; s->kind == ST_NEW && k < s->buf->rank; k++)
        if (!is_in(made, s->buf->extent[k]) && !need(z, part, s->buf->extent[k])) return false;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++)
            if (!need_all(z, part, made, in[k]->stmts.data[i])) return false;
    return true;
}

// Of two loops of which one may be cut by the other: the length of that, and the other's lengths.
static Temp bound_of(const Piece *p) { return p->rows ? p->loop[p->depth - 1]->args[0] : p->k->args[0]; }

static bool find_needs(Grouper *z, int part) {
    const Piece *p = &z->parts.data[part];
    bool good = true;
    Map made = {0};
    memcpy(z->loop, p->loop, sizeof *p->loop * (size_t)p->depth);
    for (int k = 0; k < p->stmts.len; k++) note_made(&made, p->stmts.data[k]);
    for (int k = 0; k < p->stmts.len; k++) good &= need_all(z, part, &made, p->stmts.data[k]);
    map_free(&made);
    for (int k = p->kind == PART_SUM; p->to && k < p->to->nargs; k++) good &= need(z, part, p->to->args[k]);
    if (p->k) good &= need(z, part, p->f[0]) && need(z, part, p->f[1]) && need(z, part, bound_of(p));
    if (p->kind == PART_SUM && !p->to) z->kept[p->get] = true;
    return good;
}

// Arrays that are new in iterations of open loops become those of a group. Not if an open loop that is not around makes them.
static bool find_arrays(Grouper *z) {
    for (int i = 0, n = z->tree->bufs.len; i < n; i++) {
        const Buf *b = z->tree->bufs.data[i];
        int depth = 0;
        if (!b->home || !has_block(z->nest->body, b->home)) continue;
        for (int k = 0; k < z->parts.len && !depth; k++) depth = level_of(z->parts.data[k].loop, z->parts.data[k].open, b);
        if (!depth) continue;
        if (b->rank + depth > RANK_MAX) return false;
        for (int k = 0; k < b->rank; k++)
            if (is_made(z, b->extent[k])) return false;
        vec_push(&z->wide, ((Widened){.from = b, .depth = depth}));
    }
    return true;
}

// ---- statements

static Temp fresh(Grouper *z, TempInfo like) {
    vec_push(&z->tree->temps, like);
    return z->tree->temps.len - 1;
}

static Stmt *put(Grouper *z, Block *to, StmtKind kind, Temp dst, int n, const Temp *args) {
    Stmt *s = tree_stmt(z->arena, kind, dst, n, args, z->nest->span);
    vec_push(&to->stmts, s);
    return s;
}

static Temp put_op(Grouper *z, Block *to, Kind kind, Op op, Temp a, Temp b) {
    Stmt *s = put(z, to, ST_OP, fresh(z, (TempInfo){.kind = kind}), b < 0 ? 1 : 2, (Temp[]){a, b});
    s->op = op;
    return s->dst;
}

static Temp put_int(Grouper *z, Block *to, Op op, Temp a, Temp b) { return put_op(z, to, KIND_INT, op, a, b); }

static Temp put_literal(Grouper *z, Block *to, Kind kind, int64_t value) {
    Stmt *s = put(z, to, ST_LIT, fresh(z, (TempInfo){.kind = kind}), 0, NULL);
    if (!kind_is_float(kind)) s->u.num = value;
    return s->dst;
}

static Temp put_quotient_up(Grouper *z, Block *b, Temp x, Temp y) {
    return put_int(z, b, OP_idiv, put_int(z, b, OP_sub, put_int(z, b, OP_add, x, y), put_literal(z, b, KIND_INT, 1)), y);
}

static Stmt *put_block(Grouper *z, Block *to, StmtKind kind, Temp dst, Temp arg) {
    Stmt *s = put(z, to, kind, dst, 1, &arg);
    s->body = ARENA_NEW(z->arena, Block);
    return s;
}

static Stmt *put_loop(Grouper *z, Block *to, Temp like, Temp count) {
    TempInfo info = {.kind = KIND_INT, .name = z->tree->temps.data[like].name};
    return put_block(z, to, ST_FOR, fresh(z, info), count);
}

static Temp put_load(Grouper *z, Block *to, Buf *from, int n, const Temp *index) {
    Stmt *s = put(z, to, ST_LOAD, fresh(z, (TempInfo){.kind = from->kind}), n, index);
    s->buf = from;
    return s->dst;
}

static Stmt *put_store(Grouper *z, Block *to, StmtKind kind, Buf *buf, Temp value, int n, const Temp *index) {
    Temp args[RANK_MAX + 1] = {value};
    memcpy(args + 1, index, sizeof *index * (size_t)n);
    Stmt *s = put(z, to, kind, -1, n + 1, args);
    s->buf = buf;
    return s;
}

static Temp put_cell(Grouper *z, Block *to, Kind kind) {
    Temp zero = put_literal(z, to, kind, 0), cell = fresh(z, (TempInfo){.kind = kind, .cell = true});
    put(z, to, ST_CELL, cell, 1, &zero);
    return cell;
}

static Temp put_get(Grouper *z, Block *to, Temp cell) { return put(z, to, ST_GET, fresh(z, (TempInfo){.kind = kind_of(z, cell)}), 1, &cell)->dst; }

static void put_sum(Grouper *z, Block *to, Temp cell, Temp term) {
    Temp next = put_op(z, to, kind_of(z, cell), OP_add, put_get(z, to, cell), term);
    put(z, to, ST_SET, cell, 1, &next);
}

static Buf *put_array(Grouper *z, Kind kind, int n, const Temp *extent) {
    Buf *b = ARENA_NEW(z->arena, Buf);
    *b = (Buf){.id = z->tree->bufs.len, .where = BUF_TEMP, .kind = kind, .rank = n, .home = z->around};
    b->extent = arena_copy(z->arena, extent, sizeof *extent * (size_t)(n + 1));
    vec_push(&z->tree->bufs, b);
    put(z, &z->before, ST_NEW, -1, 0, NULL)->buf = b;
    if (n && extent[0] == z->size) vec_push(&z->grouped, b);
    return b;
}

// ---- values

typedef struct Emit { // where statements are written
    Grouper *z;
    const Piece *p;
    Block *b;
    Temp is[DEEPEST], i, l; // indices of open loops, i: of the nest, of which is[0] is that in the group; of the loop over l
    Map known; // Temp + 1 -> what stands for it + 1
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
        is = put_load(z, e->b, z->array[t], z->level[t], e->is);
    } else {
        const Stmt *s = def_of(z, t);
        Temp args[RANK_MAX + 1];
        for (int k = 0; k < s->nargs; k++) args[k] = value(e, s->args[k]);
        Stmt *copy = arena_copy(z->arena, s, sizeof *s);
        copy->dst = is = fresh(z, (TempInfo){.kind = kind_of(z, t)}), copy->args = arena_copy(z->arena, args, sizeof *args * (size_t)(s->nargs + 1));
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
    return put_op(e->z, e->b, KIND_BOOL, OP_lt, p->rows ? e->is[p->depth - 1] : e->l, value(e, bound_of(p)));
}

// Loops over these of the open ones around the part, in this order, and the innermost block; -1: over l.
static Emit nest_of(Grouper *z, const Piece *p, Block *b, int n, const int *order) {
    Emit e = {.z = z, .p = p, .i = -1, .l = -1};
    for (int k = 0; k < DEEPEST; k++) e.is[k] = -1;
    for (int k = 0; k < n; k++) {
        int of = order[k];
        const Stmt *like = of < 0 ? p->k : p->loop[of];
        Stmt *loop = put_loop(z, b, like->dst, of ? extent_at(z, p, of) : z->count);
        b = loop->body;
        if (of < 0) e.l = loop->dst;
        else e.is[of] = loop->dst;
        if (!of) e.i = put_int(z, b, OP_add, z->base, loop->dst);
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
        Stmt *branch = put_block(z, e.b, ST_IF, -1, inside);
        Temp there = value_in(&e, branch->body, f->t);
        put(z, branch->body, ST_SET, cell, 1, &there);
        is = put_get(z, e.b, cell);
    } else {
        is = value(&e, f->t);
    }
    put_store(z, e.b, ST_STORE, f->all, is, f->n, index);
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
    return put_load(e->z, e->b, f->all, f->n, index);
}

static Temp put_product(Emit *e, const Factor *x, const Factor *y) {
    Temp a = factor_in(e, x), b = factor_in(e, y);
    return put_op(e->z, e->b, kind_of(e->z, a), OP_mul, a, b);
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
    if (e->p->negative) sum = put_op(e->z, e->b, to->kind, OP_neg, sum, -1);
    widen(e, put_store(e->z, e->b, e->p->adds ? ST_ADDTO : ST_STORE, to, sum, n, index));
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
    Temp sum = put_load(z, e.b, at, n, index);
    widen(&e, vec_last(&e.b->stmts));
    Stmt *branch = put_block(z, e.b, ST_IF, -1, put_op(z, e.b, KIND_BOOL, OP_ne, sum, sum));
    forget_values(&e);
    e.b = branch->body;
    Temp cell = put_cell(z, e.b, at->kind);
    Stmt *l = put_loop(z, e.b, p->k->dst, p->most);
    e.b = l->body, e.l = l->dst;
    Stmt *inside = put_block(z, l->body, ST_IF, -1, put_inside(&e));
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
    Stmt *l = put_loop(z, outer, p->k->dst, p->most);
    e.b = l->body, e.l = l->dst;
    put_sum(z, e.b, cell, put_product(&e, &x, &y));
    forget_values(&e);
    e.b = outer;
    put_result(&e, put_get(z, outer, cell));
    forget_values(&e);
    if (p->cut) put_repair(z, p, &x);
}

// What stands for the sum over the iterations of a group in b: a loop over them, whose body `e` then writes to.
static Temp begin_sum(Emit *e, Kind kind) {
    Grouper *z = e->z;
    Temp cell = put_cell(z, e->b, kind);
    Stmt *i = put_loop(z, e->b, z->nest->dst, z->count);
    e->b = i->body, e->is[0] = i->dst;
    e->i = put_int(z, e->b, OP_add, z->base, i->dst);
    return cell;
}

static void emit_product(Grouper *z, Piece *p) {
    Factor x = factor(z, p, 0, false), y = factor(z, p, 1, false);
    int order[DEEPEST], n = product_order(p, order, -1), all[DEEPEST + 1];
    Temp extent[DEEPEST], index[RANK_MAX];
    for (int k = 1; k < p->depth; k++) all[k - 1] = k, extent[k - 1] = p->loop[k]->args[0];
    all[n - 1] = -1, extent[n - 1] = p->most;
    p->all = put_array(z, p->to->buf->kind, n, extent);
    Temp zero = put_literal(z, &z->before, p->all->kind, 0);
    put(z, &z->before, ST_FILL, -1, 1, &zero)->buf = p->all;
    Emit e = nest_of(z, p, z->group, n, order);
    Block *outer = e.b;
    for (int k = 0; k < n; k++) index[k] = all[k] < 0 ? e.l : e.is[all[k]];
    Temp cell = begin_sum(&e, p->all->kind);
    put_sum(z, e.b, cell, put_product(&e, &x, &y));
    forget_values(&e);
    put_store(z, outer, ST_ADDTO, p->all, put_get(z, outer, cell), n, index);
    // After all groups: what is asked for of it.
    e = nest_of(z, p, &z->after, n - 1, all);
    Stmt *l = put_loop(z, e.b, p->k->dst, value(&e, bound_of(p)));
    forget_values(&e);
    e.b = l->body, e.l = l->dst;
    for (int k = 0; k < n; k++) index[k] = all[k] < 0 ? e.l : e.is[all[k]];
    Temp sum = put_load(z, e.b, p->all, n, index);
    if (p->negative) sum = put_op(z, e.b, p->all->kind, OP_neg, sum, -1);
    for (int k = 1; k < p->to->nargs; k++) index[k - 1] = value(&e, p->to->args[k]);
    put_store(z, e.b, ST_ADDTO, p->to->buf, sum, p->to->nargs - 1, index);
    forget_values(&e);
}

// Sums over some of the iterations, in as many threads as there are elements, then over these: neighbours add up neighbouring values.
static void emit_addition(Grouper *z, const Piece *p) {
    int order[DEEPEST];
    Temp index[RANK_MAX], extent[DEEPEST], many = put_literal(z, &z->before, KIND_INT, CHUNKS);
    extent[0] = many;
    for (int k = 1; k < p->depth; k++) order[k - 1] = k, extent[k] = p->loop[k]->args[0];
    Buf *sums = put_array(z, p->to->buf->kind, p->depth, extent);
    Temp size = put_quotient_up(z, z->group, z->count, many);
    Stmt *chunk = put_loop(z, z->group, z->nest->dst, many);
    Temp first = put_int(z, chunk->body, OP_mul, chunk->dst, size), rest = put_int(z, chunk->body, OP_sub, z->count, first);
    Temp length = put_int(z, chunk->body, OP_min, rest, size);
    Emit e = nest_of(z, p, chunk->body, p->depth - 1, order);
    Block *outer = e.b;
    Temp cell = put_cell(z, outer, sums->kind);
    Stmt *i = put_loop(z, outer, z->nest->dst, length);
    e.b = i->body, e.is[0] = put_int(z, e.b, OP_add, first, i->dst), e.i = put_int(z, e.b, OP_add, z->base, e.is[0]);
    put_sum(z, e.b, cell, value(&e, p->to->args[0]));
    forget_values(&e);
    e.is[0] = chunk->dst;
    put_store(z, outer, ST_STORE, sums, put_get(z, outer, cell), p->depth, e.is);
    e = nest_of(z, p, z->group, p->depth - 1, order);
    cell = put_cell(z, outer = e.b, sums->kind);
    e.is[0] = (chunk = put_loop(z, e.b, z->nest->dst, many))->dst;
    put_sum(z, chunk->body, cell, put_load(z, chunk->body, sums, p->depth, e.is));
    for (int k = 1; k < p->to->nargs; k++) index[k - 1] = value(&e, p->to->args[k]);
    put_store(z, outer, ST_ADDTO, p->to->buf, put_get(z, outer, cell), p->to->nargs - 1, index);
    forget_values(&e);
}

// Filling an array of an iteration becomes loops.
static Stmt *fill_loops(Emit *e, const Stmt *s, const Buf *b) {
    Grouper *z = e->z;
    Block out = {0}, *in = &out;
    Temp index[RANK_MAX];
    for (int k = 0; k < b->rank; k++) {
        Stmt *loop = put_block(z, in, ST_FOR, fresh(z, (TempInfo){.kind = KIND_INT}), b->extent[k]);
        index[k] = loop->dst, in = loop->body;
    }
    widen(e, put_store(z, in, ST_STORE, (Buf *)b, s->args[0], b->rank, index));
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
        put(z, &z->before, ST_NEW, -1, 0, NULL)->buf = other;
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
            for (int d = 0; d < p->depth; d++) index[d] = d < e->p->depth ? e->is[d] : (Temp)((intptr_t)map_get(&e->known, (void *)((intptr_t)p->loop[d]->dst + 1)) - 1);
            c->kind = ST_LOAD, c->buf = z->array[s->dst], c->nargs = p->depth, c->args = arena_copy(z->arena, index, sizeof index);
        }
        copy->stmts.data[n++] = c;
    }
    if (copy) copy->stmts.len = n;
}

static bool has_effect(const Grouper *z, const Piece *p) {
    for (int i = 0; i < p->stmts.len; i++)
        if (!is_plain(p->stmts.data[i]) && p->stmts.data[i]->kind != ST_CELL && !map_get(&z->skipped, p->stmts.data[i])) return true;
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
    for (int k = 0; k < p->stmts.len; k++) note_made(&made, p->stmts.data[k]);
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
            put_store(z, e.b, ST_STORE, z->array[t], is, p->depth, e.is);
        }
    map_free(&made), map_free(&bufs);
    forget_values(&e);
}

// ---- the groups

static void put_arrays(Grouper *z) {
    Temp extent[RANK_MAX + DEEPEST];
    for (int k = 0; k < z->wide.len; k++) {
        Widened *w = &z->wide.data[k];
        for (int i = 0; i < z->parts.len; i++)
            if (level_of(z->parts.data[i].loop, z->parts.data[i].open, w->from))
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
    Temp bytes = -1, one = put_literal(z, b, KIND_INT, 1), n = z->nest->args[0];
    for (int i = 0; i < z->grouped.len; i++) {
        const Buf *a = z->grouped.data[i];
        Temp of = put_literal(z, b, KIND_INT, (int64_t)kind_size(a->kind));
        for (int k = 1; k < a->rank; k++) of = put_int(z, b, OP_mul, of, a->extent[k]);
        bytes = bytes < 0 ? of : put_int(z, b, OP_add, bytes, of);
    }
    Temp most = put_literal(z, b, KIND_INT, 2);
    if (!z->always && bytes >= 0) {
        Temp all = put_literal(z, b, KIND_INT, GROUP_BYTES);
        most = put_int(z, b, OP_max, put_int(z, b, OP_idiv, all, put_int(z, b, OP_max, bytes, one)), one);
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
        switch (p->kind) {
        case PART_LIGHT: emit_light(z, i); break;
        case PART_SUM: emit_sum(z, p); break;
        case PART_PRODUCT: emit_product(z, p); break;
        case PART_ADD: emit_addition(z, p); break;
        }
    }
}

static Temp put_least(Grouper *z, Block *b, Temp so_far, Temp n, int64_t least) {
    Temp holds = put_op(z, b, KIND_BOOL, OP_le, put_literal(z, b, KIND_INT, least), n);
    return so_far < 0 ? holds : put_op(z, b, KIND_BOOL, OP_and, so_far, holds);
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
        if (p->cut) *cut = p->plus == 1 ? by : put_int(z, b, OP_add, by, put_literal(z, b, KIND_INT, p->plus - 1));
        holds = put_least(z, b, holds, z->nest->args[0], least);
        holds = put_least(z, b, holds, p->across, least);
        holds = put_least(z, b, holds, p->most, least);
        for (int k = 1; k + 1 < p->depth; k++) holds = put_least(z, b, holds, p->loop[k]->args[0], 1);
    }
    return holds;
}

static void append(Block *to, Block *what) {
    for (int i = 0; i < what->stmts.len; i++) vec_push(&to->stmts, what->stmts.data[i]);
    vec_free(&what->stmts);
}

static void build(Grouper *z, int at) {
    Block condition = {0}, sizes = {0};
    Temp holds = put_lengths(z, &condition);
    Stmt *branch = put_block(z, &condition, ST_IF, -1, holds);
    branch->other = ARENA_NEW(z->arena, Block);
    vec_push(&branch->other->stmts, z->nest);
    z->around->stmts.data[at] = branch;
    z->around = branch->body;
    z->size = fresh(z, (TempInfo){.kind = KIND_INT});
    Stmt *group = tree_stmt(z->arena, ST_FOR, fresh(z, (TempInfo){.kind = KIND_INT, .name = "group"}), 1, &z->size, z->nest->span);
    z->group = group->body = ARENA_NEW(z->arena, Block);
    group->outer = true;
    z->base = put_int(z, z->group, OP_mul, group->dst, z->size);
    z->count = put_int(z, z->group, OP_min, put_int(z, z->group, OP_sub, z->nest->args[0], z->base), z->size);
    put_parts(z);
    group->args[0] = put_size(z, &sizes);
    append(branch->body, &sizes), append(branch->body, &z->before);
    vec_push(&branch->body->stmts, group);
    append(branch->body, &z->after);
    (void)vec_pop(&condition.stmts); // the branch, which is there
    z->around = NULL;
    append(&z->lengths, &condition);
}

static bool find_parts(Grouper *z) {
    bool any = false;
    z->loop[0] = z->nest;
    for (int k = 1; k < DEEPEST; k++) z->loop[k] = z->nest;
    if (z->nest->nargs > 1 || z->nest->wishes || !is_long(z, z->nest->args[0]) || has_barred(z->nest->body) || !collect(z, z->nest->body, 1)) return false;
    for (int i = 0; i < z->parts.len; i++) any |= z->parts.data[i].k != NULL;
    if (!any || !keeps_cells(z) || !find_arrays(z)) return false;
    for (int i = 0; i < z->parts.len; i++)
        if (!find_needs(z, i)) return false;
    return true;
}

bool groups_split(Arena *arena, Tree *tree, Block *around, int at, bool always) {
    int n = tree->temps.len;
    Grouper z = {.arena = arena, .tree = tree, .always = always, .nest = around->stmts.data[at], .around = around, .known = n, .inner = -1};
    z.made = ARENA_ARRAY(arena, bool, n + 1), z.kept = ARENA_ARRAY(arena, bool, n + 1);
    z.at = ARENA_ARRAY(arena, int, n + 1), z.level = ARENA_ARRAY(arena, int, n + 1), z.part = ARENA_ARRAY(arena, int, n + 1);
    z.array = ARENA_ARRAY(arena, Buf *, n + 1);
    iter_init(&z.it, arena, tree, false);
    z.made[z.nest->dst] = true;
    survey(&z, z.nest->body);
    bool found = find_parts(&z);
    if (found) build(&z, at);
    for (int i = z.lengths.stmts.len; i-- > 0;) block_insert(around, at, z.lengths.stmts.data[i]);
    for (int i = 0; i < z.parts.len; i++) vec_free(&z.parts.data[i].stmts);
    vec_free(&z.parts), vec_free(&z.wide), vec_free(&z.grouped), vec_free(&z.lengths.stmts);
    map_free(&z.changed), map_free(&z.skipped);
    iter_free(&z.it);
    return found;
}
