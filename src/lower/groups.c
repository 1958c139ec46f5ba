// Groups (lower/groups.h). The iterations of a loop are independent, and go over matrices:
//
//     for i < n { x; for c < k { for j { z[c,j] = sum over l of q[c,j,l] * x[l] } }; y; for c < k { … for j, l { g[c,j,l] += u[j] * x[l] } } }
//
// Each part of it gets loops of its own, with arrays for what others need of it, for a group of iterations at a time, as memory
// permits:
//
//     for each group { for i, c { x[i,c] }; for c { for i, j { z[i,c,j] = sum over l of q[c,j,l] * x[i,c,l] } }; for i { y[i] };
//                      for c { for j, l { p[c,j,l] += sum over i of u[i,c,j] * x[i,c,l] } } }
//
// so that sums of products are products of matrices, for each c, and what iterations add to the same places are sums over them.
// Loops of which that makes parts are open, and all others stay as they are, in a part; of these, sums of products may come before
// them.
//
// Where a sum goes up to l < j + 1, as along a row of a triangle, q gets zeros for the rest. A zero times what the sum does not
// contain may be NaN: sums that turn out so are computed again as they were, unless any rule of the reals holds (fast). Of products
// that are added up to there, the rest is not added.

#include "lower/groups.h"

#include "lower/groups_internal.h"
#include "lower/recurrence.h"

#include <string.h>

// ---- what the nest does

static void survey(Grouper *z, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        z->count_at++;
        if (s->dst >= 0 && s->kind != ST_SET) z->made[s->dst] = true, z->at[s->dst] = z->count_at;
        if (s->buf && s->kind != ST_LOAD && s->kind != ST_NEW && s->kind != ST_FETCH)
            map_put(&z->changed, s->buf, (void *)(intptr_t)z->count_at);
        survey(z, s->body), survey(z, s->other);
    }
}

static bool has_barred(const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_CHECK || stmt_calls(s) || s->kind == ST_OUT || s->kind == ST_COPY || has_barred(s->body) ||
            has_barred(s->other))
            return true;
    }
    return false;
}

static bool accesses(const Stmt *s, const Buf *b, bool additions) { // but for its coming into being
    if ((s->buf == b && s->kind != ST_NEW && (additions || s->kind != ST_ADDTO)) || s->src == b) return true;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++)
            if (accesses(in[k]->stmts.data[i], b, additions)) return true;
    return false;
}

static bool has_block(const Block *b, const Block *in) { // in the block, or inside of it
    if (b == in) return true;
    for (int i = 0; b && i < b->stmts.len; i++)
        if ((b->stmts.data[i]->body && has_block(b->stmts.data[i]->body, in)) ||
            (b->stmts.data[i]->other && has_block(b->stmts.data[i]->other, in)))
            return true;
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
int groups_level(Stmt *const *loop, int n, const Buf *b) {
    for (int k = 0; k < n; k++)
        if (b->home == loop[k]->body) return k + 1;
    return 0;
}

// Is a load the same wherever it comes later?
static bool is_lasting(const Grouper *z, const Stmt *load) {
    intptr_t last = (intptr_t)map_get(&z->changed, load->buf);
    return !last || (groups_level(z->loop, DEEPEST, load->buf) && last < z->at[load->dst]);
}

// What computing t again costs, where the body of an open loop has made it; more than CHEAP if that cannot be, or is dear. What is
// kept, since it is dear, is loaded.
static int cost_of(Grouper *z, Temp t) {
    const Stmt *s = def_of(z, t);
    if (!is_made(z, t) || s->kind == ST_FOR) return 0;
    if (z->budget-- <= 0 || (!stmt_is_pure(s) && (s->kind != ST_LOAD || !is_lasting(z, s)))) return CHEAP + 1;
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
    } else if (!stmt_is_pure(s) && s->kind != ST_LOAD) {
        return -1;
    }
    int all = 0;
    if (s->kind == ST_LOAD) {
        int own = groups_level(z->loop, n, s->buf);
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

// Factors of which one depends on all of `first`, and not on any of `other`, and the other one the other way round; `common`: what
// both may depend on, and must of `both`.
static bool find_factors(Grouper *z, const Stmt *mul, int n, int first, int other, int both, Piece *p) {
    int bits[] = {bits_of(z, mul->args[0], n), bits_of(z, mul->args[1], n)};
    if (bits[0] < 0 || bits[1] < 0) return false;
    for (int k = 0; k < 2; k++) {
        int x = bits[k], y = bits[1 - k];
        if ((x & first) != first || (x & other) || (y & other) != other || (y & first) || (x & both) != both || (y & both) != both)
            continue;
        p->f[0] = mul->args[k], p->f[1] = mul->args[1 - k], p->bits[0] = x, p->bits[1] = y;
        return true;
    }
    return false;
}

// The sum over l that statement `at` of the body of an open loop adds up to a cell, which begins with zero.
static bool find_sum(Grouper *z, const Block *b, int at, int depth, Piece *p) {
    const Stmt *k = b->stmts.data[at], *first = NULL, *get = NULL;
    if (depth < 2 || depth > 3 || !is_long(z, z->loop[depth - 1]->args[0]) || !find_length(z, k, z->loop[depth - 1], p))
        return false;
    p->k = (Stmt *)k;
    const Stmt *set = block_only_effect(k->body), *sum = set && set->kind == ST_SET ? is_op(z, set->args[0], OP_add) : NULL;
    if (!sum || !kind_is_float(kind_of(z, set->dst)) || block_uses(k->body, set->dst) != 1 ||
        block_uses(k->body, set->args[0]) != 1)
        return false;
    int gets = 0, made = -1;
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_CELL && s->dst == set->dst) first = def_of(z, s->args[0]), made = i;
        if (s->kind == ST_GET && s->args[0] == set->dst) get = s, gets += i < at ? 2 : 1;
    }
    if (made < 0 || made > at || !first || first->kind != ST_LIT || first->u.real != 0 || gets != 1) return false;
    if (block_uses(b, set->dst) != 2 || block_sets(b, set->dst) != 1) return false;
    for (int a = 0; a < 2; a++) {
        const Stmt *so_far = def_of(z, sum->args[a]), *mul = is_op(z, sum->args[1 - a], OP_mul);
        if (!so_far || so_far->kind != ST_GET || so_far->args[0] != set->dst || !mul || block_uses(k->body, so_far->dst) != 1)
            continue;
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
    if (block_uses(b, p->get) != 1) return;
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
    Stmt *l = b->stmts.data[at], *j = is_counted(l) && l->body ? block_only_effect(l->body) : NULL;
    if (!j || depth > 2 || !is_long(z, l->args[0]) || !find_length(z, j, l, p)) return false;
    Stmt *to = block_only_effect(j->body);
    if (!to || to->kind != ST_ADDTO || !kind_is_float(to->buf->kind) || groups_level(z->loop, depth, to->buf) != depth)
        return false;
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
    if (depth < 2 || depth > 3 || !is_long(z, z->loop[depth - 1]->args[0]) || !find_length(z, k, z->loop[depth - 1], p))
        return false;
    p->k = (Stmt *)k;
    Stmt *to = block_only_effect(k->body);
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
    if (z->rows) pays = depth == 1 && is_long(z, s->args[0]);
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

// The only read of a cell, after statement number `at` of the block, which alone sets it.
static Stmt *only_read(const Block *b, int at, Temp cell) {
    Stmt *get = NULL;
    for (int i = 0; i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (i == at || !mentions(s, cell)) continue;
        if (get || i < at || s->kind != ST_GET) return NULL;
        get = s;
    }
    return get;
}

// A loop with a recurrence along a row, or with nothing else than sums and extremes of cells of the row that joins its iterations.
static bool find_row_part(Grouper *z, const Block *b, int at) {
    Stmt *s = b->stmts.data[at];
    Piece p = {.kind = s->recurrence ? PART_SCAN : PART_REDUCE, .get = -1};
    Buf **shared;
    if (!is_counted(s) || !is_long(z, s->args[0])) return false;
    bool apart = s->recurrence || (iter_look(&z->it, s, false) && z->it.sums.len && !iter_shared(&z->it, &shared));
    if (!s->recurrence) iter_forget(&z->it);
    if (!apart) return false;
    const int n = s->recurrence ? 1 : z->it.sums.len;
    vec_push(&p.stmts, s);
    p.by = ARENA_ARRAY(z->arena, Op, n);
    for (int k = 0; k < n && apart; k++) {
        Temp cell = s->recurrence ? s->recurrence->cell : z->it.sums.data[k];
        Stmt *get = is_made(z, cell) && makes(b, cell) ? only_read(b, at, cell) : NULL;
        apart = get && (kind_of(z, cell) == KIND_INT || kind_is_float(kind_of(z, cell)));
        if (apart) vec_push(&p.stmts, get);
        if (!s->recurrence) p.by[k] = z->it.joins[cell];
    }
    if (!apart) return vec_free(&p.stmts), false;
    for (int k = 1; k < p.stmts.len; k++) {
        Stmt *get = p.stmts.data[k];
        map_put(&z->skipped, get, (void *)1);
        z->part[get->dst] = z->parts.len + 1, z->level[get->dst] = 1;
    }
    add_part(z, p, 1, 1, b);
    return true;
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
        if (z->rows && depth == 1 && s->kind == ST_FOR && find_row_part(z, b, i)) continue;
        if (s->kind == ST_FOR && !z->rows && find_sum(z, b, i, depth, &p)) {
            p.kind = PART_SUM;
            Piece *added = add_part(z, p, depth, depth, b);
            z->part[p.get] = z->parts.len, z->level[p.get] = depth;
            find_store(z, b, i, added);
        } else if (s->kind == ST_FOR && !z->rows && find_row(z, b, i, depth, &p)) {
            p.kind = PART_SUM, z->loop[depth] = block_only_effect(s->body);
            add_part(z, p, depth + 1, depth, b);
            z->loop[depth] = z->nest;
        } else if (s->kind == ST_FOR && !z->rows && find_product(z, s, depth, &p)) {
            p.kind = PART_PRODUCT, add_part(z, p, depth, depth, b);
        } else if (!z->rows && find_addition(z, s, depth)) {
            p.kind = PART_ADD, p.to = s, add_part(z, p, depth, depth, b);
        } else if (!open_loop(z, s, depth)) {
            if (s->kind == ST_FOR && !z->rows) z->since = z->at[s->dst], find_sums(z, s, depth, depth);
            z->since = 0;
            for (int k = 0; k < i; k++) {
                Stmt *cell = b->stmts.data[k];
                if (cell->kind == ST_CELL && !z->part[cell->dst] && mentions(s, cell->dst) && !map_get(&z->skipped, cell))
                    add_light(z, cell, depth, b);
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
    if (!stmt_is_pure(s) && s->kind != ST_LOAD) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!need(z, part, s->args[k])) return false;
    return true;
}

void groups_note_made(Map *made, const Stmt *s) {
    if (s->dst >= 0) map_put(made, (void *)((intptr_t)s->dst + 1), (void *)1);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) groups_note_made(made, in[k]->stmts.data[i]);
}

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

static bool find_needs(Grouper *z, int part) {
    const Piece *p = &z->parts.data[part];
    bool good = true;
    Map made = {0};
    memcpy(z->loop, p->loop, sizeof *p->loop * (size_t)p->depth);
    for (int k = 0; k < p->stmts.len; k++) groups_note_made(&made, p->stmts.data[k]);
    for (int k = 0; k < p->stmts.len; k++) good &= need_all(z, part, &made, p->stmts.data[k]);
    map_free(&made);
    for (int k = p->kind == PART_SUM; p->to && k < p->to->nargs; k++) good &= need(z, part, p->to->args[k]);
    if (p->k) good &= need(z, part, p->f[0]) && need(z, part, p->f[1]) && need(z, part, bound_of(p));
    if (p->kind == PART_SUM && !p->to) z->kept[p->get] = true;
    for (int k = 1; k < p->stmts.len && (p->kind == PART_SCAN || p->kind == PART_REDUCE); k++) {
        const Stmt *get = p->stmts.data[k];
        good &= need(z, part, def_of(z, get->args[0])->args[0]);
        z->kept[get->dst] = true;
    }
    return good;
}

// Arrays that are new in iterations of open loops become those of a group. Not if an open loop that is not around makes them.
static bool find_arrays(Grouper *z) {
    for (int i = 0, n = z->tree->bufs.len; i < n; i++) {
        const Buf *b = z->tree->bufs.data[i];
        int depth = 0;
        if (!b->home || !has_block(z->nest->body, b->home)) continue;
        for (int k = 0; k < z->parts.len && !depth; k++) depth = groups_level(z->parts.data[k].loop, z->parts.data[k].open, b);
        if (!depth) continue;
        if (b->rank + depth > RANK_MAX) return false;
        for (int k = 0; k < b->rank; k++)
            if (is_made(z, b->extent[k])) return false;
        vec_push(&z->wide, ((Widened){.from = b, .depth = depth}));
    }
    return true;
}

// ---- the whole

static bool find_parts(Grouper *z) {
    bool any = false;
    z->loop[0] = z->nest;
    for (int k = 1; k < DEEPEST; k++) z->loop[k] = z->nest;
    if (z->nest->nargs > 1 || z->nest->wishes || (!z->rows && !is_long(z, z->nest->args[0])) || has_barred(z->nest->body) ||
        !collect(z, z->nest->body, 1))
        return false;
    for (int i = 0; i < z->parts.len; i++)
        any |= z->parts.data[i].k || z->parts.data[i].kind == PART_SCAN || z->parts.data[i].kind == PART_REDUCE;
    if (!any || !keeps_cells(z) || !find_arrays(z)) return false;
    for (int i = 0; i < z->parts.len; i++)
        if (!find_needs(z, i)) return false;
    return true;
}

static bool split(Grouper *z, int at, bool precise) {
    Arena *arena = z->arena;
    const int n = z->tree->temps.len;
    z->nest = z->around->stmts.data[at], z->known = n, z->inner = -1;
    if (!z->whole) z->whole = z->nest;
    z->made = ARENA_ARRAY(arena, bool, n + 1), z->kept = ARENA_ARRAY(arena, bool, n + 1);
    z->at = ARENA_ARRAY(arena, int, n + 1), z->level = ARENA_ARRAY(arena, int, n + 1), z->part = ARENA_ARRAY(arena, int, n + 1);
    z->array = ARENA_ARRAY(arena, Buf *, n + 1);
    z->build = (Builder){arena, z->tree, z->nest->span};
    Block *around = z->around;
    iter_init(&z->it, arena, z->tree, precise);
    z->made[z->nest->dst] = true;
    survey(z, z->nest->body);
    bool found = find_parts(z);
    if (found) groups_build(z, at);
    for (int i = z->lengths.stmts.len; i-- > 0;) block_insert(around, at, z->lengths.stmts.data[i]);
    for (int i = 0; i < z->parts.len; i++) vec_free(&z->parts.data[i].stmts);
    vec_free(&z->parts), vec_free(&z->wide), vec_free(&z->grouped), vec_free(&z->lengths.stmts);
    map_free(&z->changed), map_free(&z->skipped);
    iter_free(&z->it);
    return found;
}

bool groups_split(Arena *arena, Tree *tree, Block *around, int at, bool always, bool fast) {
    Grouper z = {.arena = arena, .tree = tree, .around = around, .always = always, .fast = fast};
    return split(&z, at, false);
}

bool groups_split_rows(Arena *arena, Tree *tree, Block *around, int at, Stmt *whole, bool always, bool precise) {
    Grouper z = {.arena = arena, .tree = tree, .around = around, .always = always, .rows = true, .whole = whole};
    return split(&z, at, precise);
}
