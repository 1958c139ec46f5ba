// Whether the iterations of a loop are independent but for sums: cells and arrays from outside are only added to, or cells
// take extremes, and other arrays are written at the index of the loop itself.
#include "lower/independent.h"
#include "lower/internal.h"

#include <stdlib.h>

enum { LARGEST_BODY = 4000 };

// ---- definitions and uses

static int enter(Iterations *p, const Block *block) {
    int n = 0;
    if (!block) return 0;
    map_put(&p->blocks, block, (void *)block);
    for (int i = 0; i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) vec_push(&p->temps, s->dst), p->made_in[s->dst] = p->stamp;
        if (s->kind == ST_SET) p->set_in[s->dst] = p->stamp;
        n += 1 + enter(p, s->body) + enter(p, s->other);
    }
    return n;
}

// ---- which temps differ between iterations

static void set_varies(Iterations *p, Temp t, int64_t step) {
    TempInfo *i = iter_info(p, t);
    if (i->varies && i->step == step) return;
    if (i->varies) step = STEP_ANY;
    if (i->varies && i->step == STEP_ANY) return;
    i->varies = p->changed = true, i->step = step;
}

static int64_t step_of(const Iterations *p, Temp t) { return iter_varies(p, t) ? iter_info(p, t)->step : 0; }

bool iter_literal(const Iterations *p, Temp t, int64_t *value) {
    const Stmt *s = p->def[t];
    if (!s || s->kind != ST_LIT || kind_is_float(iter_info(p, t)->kind)) return false;
    *value = s->u.num;
    return true;
}

// By how much an Int result differs from lane to lane; large steps are not followed.
static int64_t op_step(const Iterations *p, const Stmt *s) {
    enum { FAR = 1 << 20 };
    int64_t a = step_of(p, s->args[0]), b = s->nargs > 1 ? step_of(p, s->args[1]) : 0, c, r;
    if (iter_info(p, s->dst)->kind != KIND_INT || a == STEP_ANY || b == STEP_ANY) return STEP_ANY;
    switch (s->op) {
    case OP_add: r = a + b; break;
    case OP_sub: r = a - b; break;
    case OP_neg: r = -a; break;
    case OP_mul:
        if (!b && iter_literal(p, s->args[1], &c) && llabs(c) < FAR) r = a * c;
        else if (!a && iter_literal(p, s->args[0], &c) && llabs(c) < FAR) r = b * c;
        else return STEP_ANY;
        break;
    default: return STEP_ANY;
    }
    return r && llabs(r) < FAR ? r : STEP_ANY;
}

// Is it a cell from outside that the loop sets?
static bool is_sum(const Iterations *p, Temp cell) { return p->level[cell] < 0 && p->set_in[cell] == p->stamp; }

static bool any_varies(const Iterations *p, const Stmt *s) {
    for (int k = 0; k < s->nargs; k++)
        if (iter_varies(p, s->args[k])) return true;
    return false;
}

// Does t differ little from lane to lane: by fixed steps, or as the lesser or greater of such?
static bool is_near(const Iterations *p, Temp t, int depth) {
    enum { NEAR = 4, DEEP = 6 };
    const Stmt *s = p->def[t];
    if (!iter_varies(p, t)) return true;
    if (iter_info(p, t)->step != STEP_ANY) return llabs(iter_info(p, t)->step) <= NEAR;
    if (!s || s->kind != ST_OP || depth == DEEP) return false;
    if (s->op != OP_min && s->op != OP_max && s->op != OP_add && s->op != OP_sub) return false;
    return is_near(p, s->args[0], depth + 1) && is_near(p, s->args[1], depth + 1);
}

static Temp low_of(const Stmt *loop) {
    const Stmt *s = loop->body->stmts.data[0];
    return s->args[0] == loop->dst ? s->args[1] : s->args[0];
}

static void spread(Iterations *p, const Block *block);

// A loop whose ranges overlap in the lanes: they run over j = low + i together. If they begin by fixed steps from each other and
// are equally long, no lane need wait for others, and they do not.
static void spread_together(Iterations *p, Stmt *loop) {
    const Stmt *first = loop->body->stmts.data[0];
    Temp low = low_of(loop);
    bool apart = iter_info(p, low)->step == STEP_ANY || iter_varies(p, loop->args[0]);
    loop->together = loop->shifted && iter_varies(p, low) && apart && is_near(p, low, 0);
    p->given[first->dst] = loop->together ? p->stamp : 0; // what varies may only be found in the next walk
}

static void spread_under(Iterations *p, const Block *block, bool differ) {
    p->under += differ;
    spread(p, block);
    p->under -= differ;
}

static void spread_stmt(Iterations *p, Stmt *s) {
    switch (s->kind) {
    case ST_CELL:
        p->level[s->dst] = p->under;
        if (any_varies(p, s)) set_varies(p, s->dst, STEP_ANY);
        break;
    case ST_SET:
        if (p->level[s->dst] < 0) break; // from outside: it must be a sum
        if (any_varies(p, s) || p->under > p->level[s->dst]) set_varies(p, s->dst, STEP_ANY);
        break;
    case ST_GET:
        if (iter_varies(p, s->args[0]) || is_sum(p, s->args[0])) set_varies(p, s->dst, STEP_ANY);
        break;
    case ST_OP:
        if (any_varies(p, s) && p->given[s->dst] != p->stamp) set_varies(p, s->dst, op_step(p, s));
        break;
    case ST_LOAD:
        if (any_varies(p, s) || (iter_is_own(p, s->buf) && !map_get(&p->uniform, s->buf))) set_varies(p, s->dst, STEP_ANY);
        break;
    case ST_FOR:
        if (s->shifted && p->lanes) spread_together(p, s);
        spread_under(p, s->body, any_varies(p, s) || (s->together && p->lanes));
        break;
    case ST_LOOP: spread(p, s->body); break;
    case ST_IF:
        spread_under(p, s->body, iter_varies(p, s->args[0]));
        spread_under(p, s->other, iter_varies(p, s->args[0]));
        break;
    default:
        if (s->dst >= 0 && any_varies(p, s)) set_varies(p, s->dst, STEP_ANY);
        break;
    }
}

static void spread(Iterations *p, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) spread_stmt(p, block->stmts.data[i]);
}

// ---- whether iterations are independent

bool iter_is_extreme(const Stmt *s) { return s->kind == ST_OP && (s->op == OP_min || s->op == OP_max); }

// Whether the value that a cell from outside gets is its own plus something, or the lesser or the greater of the two, and
// nothing else reads what it was.
static bool sums_up(const Iterations *p, Temp t, Temp cell, Op by) {
    const Stmt *s = p->def[t];
    if (!s || p->uses[t] != 1) return false;
    if (s->kind == ST_GET) return s->args[0] == cell;
    if (s->kind != ST_OP || (s->op != by && (s->op != OP_sub || by != OP_add))) return false;
    return sums_up(p, s->args[0], cell, by) || (s->op == by && sums_up(p, s->args[1], cell, by));
}

static bool check_sum(Iterations *p, const Stmt *set) {
    const Stmt *s = p->def[set->args[0]];
    Kind kind = iter_info(p, set->dst)->kind;
    Op by = s && iter_is_extreme(s) ? s->op : OP_add;
    if (kind == KIND_BOOL || (p->precise && kind_is_float(kind))) return false;
    bool known = p->joined_in[set->dst] == p->stamp;
    if (known && p->joins[set->dst] != by) return false;
    if (!known) vec_push(&p->sums, set->dst);
    p->joined_in[set->dst] = p->stamp, p->joins[set->dst] = by;
    p->reads--;
    return sums_up(p, set->args[0], set->dst, by);
}

static bool extents_agree(const Iterations *p, const Buf *b) {
    if (!p->lanes) return true;
    for (int k = 0; k < b->rank; k++)
        if (iter_varies(p, b->extent[k])) return false;
    return true;
}

int iter_apart(const Iterations *p, const Buf *b, const Temp *index) {
    for (int k = 0; k < b->rank; k++)
        if (iter_varies(p, index[k]) && iter_info(p, index[k])->step != STEP_ANY) return k;
    return -1;
}

// Is t a value of the loop's index and what is outside alone, the same throughout an iteration?
static bool is_fixed(const Iterations *p, Temp t) {
    if (t == p->loop->dst || p->made_in[t] != p->stamp) return true;
    const Stmt *s = p->def[t];
    if (!s || (s->kind != ST_OP && s->kind != ST_LIT)) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!is_fixed(p, s->args[k])) return false;
    return true;
}

// Does each lane store to places of its own, in whatever order?
static bool keeps_apart(const Iterations *p, const Buf *b, const Temp *index) {
    int k = iter_apart(p, b, index);
    return k >= 0 && is_fixed(p, index[k]);
}

bool iter_all_agree(const Iterations *p, const Buf *b, const Temp *index) {
    for (int k = 0; k < b->rank; k++)
        if (iter_varies(p, index[k])) return false;
    return true;
}

// Does each iteration move what it has made to a part of the array of its own? Nothing else accesses that.
static bool moves_apart(const Iterations *p, const Stmt *s) {
    const TempInfo *at = iter_info(p, s->args[0]);
    int64_t most;
    return iter_is_own(p, s->src) && block_accesses(p->loop->body, s->buf) == 1 && at->varies && at->step != STEP_ANY &&
           is_fixed(p, s->args[0]) && iter_literal(p, s->src->extent[s->u.num], &most) && llabs(at->step) >= most;
}

static bool check_block(Iterations *p, const Block *block);

static bool check_stmt(Iterations *p, Stmt *s) {
    if (s->buf && s->kind != ST_NEW && !extents_agree(p, s->buf)) return false;
    switch (s->kind) {
    case ST_SET:
        if (p->level[s->dst] >= 0) return true;
        if (!iter_is_scan(p, s)) return check_sum(p, s);
        vec_push(&p->scans, s);
        p->reads--;
        return true;
    case ST_GET: p->reads += is_sum(p, s->args[0]); return true;
    case ST_NEW: return extents_agree(p, s->buf);
    case ST_FILL: return iter_is_own(p, s->buf);
    case ST_COPY: // of what the loop does not change
        return iter_is_own(p, s->buf) && extents_agree(p, s->src) && (iter_is_own(p, s->src) || s->src->where == BUF_INPUT);
    case ST_MOVE: return !p->lanes && moves_apart(p, s);
    case ST_LOAD:
    case ST_STORE:
        if (!iter_is_own(p, s->buf)) vec_push(&p->outside, s);
        return true;
    case ST_ADDTO:
        if (iter_is_own(p, s->buf)) return true;
        vec_push(&p->outside, s);
        if (iter_all_agree(p, s->buf, s->args + 1)) vec_push(&p->added, s);
        return !(p->precise && kind_is_float(s->buf->kind)) || keeps_apart(p, s->buf, s->args + 1);
    case ST_EXTERN:
        for (int k = 0; k < s->nin; k++)
            if (s->in[k]) return false;
        return true;
    case ST_CALL:
    case ST_OUT: return false;
    case ST_LOOP:
    case ST_BREAK:
        if (p->lanes) return false;
        break;
    default: break;
    }
    return check_block(p, s->body) && check_block(p, s->other);
}

static bool check_block(Iterations *p, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++)
        if (!check_stmt(p, block->stmts.data[i])) return false;
    return true;
}

// Is every access a store to an element to which no other iteration stores? (A loop around the loop may store again to what
// its body fills: then the index does not say in which iteration.)
static bool stores_once(const Iterations *p, const Buf *b) {
    for (int i = 0; i < p->outside.len; i++) {
        const Stmt *s = p->outside.data[i];
        if (s->buf == b && !(s->kind == ST_STORE && s->once && keeps_apart(p, b, s->args + 1))) return false;
    }
    return true;
}

// Does each iteration access elements of its own? They are if a dimension of every access is m times the loop's index and one of m
// numbers that follow one another.
static bool at_own_places(const Iterations *p, const Buf *b) {
    for (int k = 0; k < b->rank; k++) {
        int64_t m = 0, least = INT64_MAX, most = INT64_MIN;
        bool all = true;
        for (int i = 0; all && i < p->outside.len; i++) {
            const Stmt *s = p->outside.data[i];
            Linear x = {0};
            if (s->buf != b) continue;
            linear_add(p->known, p->def, stmt_index(s)[k], 1, &x);
            all = !x.fails && x.n == 1 && x.t[0] == p->loop->dst && x.by[0] > 0 && (!m || x.by[0] == m);
            m = x.by[0];
            if (x.plus < least) least = x.plus;
            if (x.plus > most) most = x.plus;
        }
        if (all && least <= most && most - least < m) return true;
    }
    return false;
}

// An array from outside that is stored to: at places of an iteration's own, or once, at places that are apart. One that is added
// to is not read.
static bool check_outside(const Iterations *p) {
    for (int i = 0; i < p->outside.len; i++) {
        const Stmt *s = p->outside.data[i];
        if (s->kind == ST_LOAD) continue;
        int others = 0, reads = 0;
        for (int j = 0; j < p->outside.len; j++) {
            const Stmt *o = p->outside.data[j];
            if (o->buf == s->buf && j != i) others += o->kind == ST_STORE || s->kind == ST_STORE, reads += o->kind == ST_LOAD;
        }
        bool alone = !others && !reads && (s->kind == ST_ADDTO || keeps_apart(p, s->buf, s->args + 1));
        if (!alone && !at_own_places(p, s->buf) && !stores_once(p, s->buf)) return false;
    }
    return true;
}

// Does each iteration add to elements of its own, for a reason that indices do not show?
static bool adds_apart(const Iterations *p, const Stmt *s) {
    for (int k = 0; k < s->nown && p->places; k++)
        if (s->own[k] == p->loop->dst) return true;
    return false;
}

bool iter_shares(const Iterations *p, const Buf *b) {
    bool shares = false;
    int n = 0;
    for (int i = 0; i < p->outside.len; i++) {
        const Stmt *s = p->outside.data[i];
        if (s->buf != b) continue;
        n++;
        shares |= s->kind == ST_ADDTO && !keeps_apart(p, b, s->args + 1) && !adds_apart(p, s);
    }
    return (shares || n > 1) && !at_own_places(p, b) && !stores_once(p, b);
}

int iter_shared(const Iterations *p, Buf ***out) {
    int n = 0;
    *out = ARENA_ARRAY(p->arena, Buf *, p->outside.len + 1);
    for (int i = 0; i < p->outside.len; i++) {
        Buf *b = p->outside.data[i]->buf;
        bool known = p->outside.data[i]->kind == ST_LOAD;
        for (int k = 0; k < n; k++) known |= (*out)[k] == b;
        if (!known && iter_shares(p, b)) (*out)[n++] = b;
    }
    return n;
}

bool iter_look(Iterations *p, Stmt *loop, bool lanes) {
    p->loop = loop, p->lanes = lanes, p->temps.len = p->added.len = p->outside.len = p->sums.len = p->scans.len = 0;
    map_free(&p->blocks);
    p->blocks = (Map){0};
    p->stamp++;
    if (enter(p, loop->body) > LARGEST_BODY) return false;
    for (int i = 0; i < p->temps.len; i++) iter_info(p, p->temps.data[i])->varies = false, p->level[p->temps.data[i]] = 0;
    vec_push(&p->temps, loop->dst);
    iter_info(p, loop->dst)->varies = true, iter_info(p, loop->dst)->step = 1;
    do {
        p->changed = false;
        spread(p, loop->body);
    } while (p->changed);
    p->reads = 0;
    return check_block(p, loop->body) && p->reads == 0 && check_outside(p);
}

void iter_forget(Iterations *p) {
    for (int i = 0; i < p->temps.len; i++) {
        iter_info(p, p->temps.data[i])->varies = false;
        p->level[p->temps.data[i]] = -1;
    }
}

static void *longer(const Iterations *p, const void *old, size_t size, int n) {
    char *more = arena_alloc(p->arena, size * (size_t)n);
    if (old) memcpy(more, old, size * (size_t)p->room);
    return more;
}

// Room for all temps of the tree, and for some more if there were some before.
static void make_room(Iterations *p) {
    const int least = p->tree->temps.len + 1, n = p->room ? 2 * least : least;
    if (least <= p->room) return;
    p->def = longer(p, p->def, sizeof *p->def, n);
    p->uses = longer(p, p->uses, sizeof *p->uses, n);
    p->level = longer(p, p->level, sizeof *p->level, n);
    p->made_in = longer(p, p->made_in, sizeof *p->made_in, n);
    p->set_in = longer(p, p->set_in, sizeof *p->set_in, n);
    p->given = longer(p, p->given, sizeof *p->given, n);
    p->joined_in = longer(p, p->joined_in, sizeof *p->joined_in, n);
    p->joins = longer(p, p->joins, sizeof *p->joins, n);
    for (int i = p->room; i < n; i++) p->level[i] = -1;
    p->room = n;
}

void iter_more(Iterations *p, const Block *made) {
    make_room(p);
    p->known = p->tree->temps.len;
    tree_definitions(made, p->def);
    tree_uses(made, p->uses);
}

void iter_less(Iterations *p, int n) {
    for (int i = n; i < p->known; i++) {
        p->def[i] = NULL;
        p->uses[i] = p->made_in[i] = p->set_in[i] = p->given[i] = p->joined_in[i] = 0;
        p->level[i] = -1;
    }
    p->known = n < p->known ? n : p->known;
}

void iter_init(Iterations *p, Arena *arena, Tree *tree, bool precise) {
    *p = (Iterations){.arena = arena, .tree = tree, .precise = precise};
    iter_more(p, tree->body);
}

void iter_free(Iterations *p) {
    map_free(&p->blocks);
    map_free(&p->uniform);
    vec_free(&p->temps);
    vec_free(&p->added);
    vec_free(&p->outside);
    vec_free(&p->sums);
    vec_free(&p->scans);
}
