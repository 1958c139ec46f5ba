// Lanes: loops whose iterations run several at once, each in one lane of vectors, in the manner of SPMD programs. Where
// lanes disagree on a condition, masks say which of them are at work. DESIGN.md section 6.
//
// A loop may have lanes if its iterations are independent but for sums: cells and arrays from outside are only added to,
// and other arrays are written at the index of the loop itself. Each lane has its own copy of what is new in an iteration.
// Of a nest, the loop is taken for which the model below says the least time.
#include "lower/internal.h"

#include <float.h>
#include <math.h>

// What the model assumes of loops whose length is not known, outermost and inside, and of machines: lanes, elements that
// are moved one by one, a sum over lanes, a call of a C function, how much of both branches is run, and how well LLVM does
// by itself with innermost loops.
enum { LONG_TRIPS = 1000, SHORT_TRIPS = 16, LANES = 8, VECTORS = 4, LARGEST_BODY = 4000, LARGEST_TREE = 100000 };
static const double MOVE = 5.0, REDUCE = 8.0, CALL = 20.0, TAKEN = 0.6, BY_ITSELF_LONG = 5.0, BY_ITSELF_SHORT = 2.0, WORTH_IT = 1.5;

typedef struct Chosen {
    Block *block; // with the loop in it
    Stmt *loop;
} Chosen;

typedef struct Planner {
    Arena *arena;
    Tree *tree;
    bool precise;   // sums keep their order
    bool always;    // the model is not asked
    bool silent;    // about choices in loops inside, which are asked for again
    Stmt **def;     // by temp: the statement that makes it
    int *uses;      // by temp
    int *level;     // by temp: of a cell, under how many conditions on which lanes disagree it was declared; -1: outside
    int *joined_in; // by temp: of a cell, the stamp of the last loop looked at whose `joins` is known
    int *set_in;    // by temp: of a cell, the stamp of the last loop looked at that sets it
    Op *joins;      // by temp: of a cell from outside that the loop sets, by what: OP_add, OP_min or OP_max
    int *given;     // by temp: the stamp of the last loop looked at whose lanes share it though its operands differ
    int *made_in;   // by temp: the stamp of the last loop looked at that makes it
    int stamp;
    VEC(Chosen) chosen;
    // Of the loop that is looked at:
    Stmt *loop;
    Map blocks;     // inside it
    VEC(Temp) temps; // that are made in it
    VEC(Stmt *) inner; // loops inside it around the statement
    VEC(Stmt *) added; // ST_ADDTO of arrays from outside, where all lanes add to the same element
    VEC(Stmt *) outside; // loads, stores and additions of arrays from outside
    int depth;      // of loops around it
    int under;      // conditions on which lanes disagree around the statement
    int reads;      // of cells from outside that the loop sets, but for those that are part of a sum
    bool changed;
} Planner;

static TempInfo *info(const Planner *p, Temp t) { return &p->tree->temps.data[t]; }
static bool varies(const Planner *p, Temp t) { return info(p, t)->varies; }
static bool is_own(const Planner *p, const Buf *b) { return b->home && map_get(&p->blocks, b->home); }

// ---- definitions and uses

static void survey(Planner *p, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) p->def[s->dst] = s;
        for (int k = 0; k < s->nargs; k++) p->uses[s->args[k]]++;
        survey(p, s->body);
        survey(p, s->other);
    }
}

static int enter(Planner *p, const Block *block) {
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

// ---- which temps differ between lanes

static void set_varies(Planner *p, Temp t, int64_t step) {
    TempInfo *i = info(p, t);
    if (i->varies && i->step == step) return;
    if (i->varies) step = STEP_ANY;
    if (i->varies && i->step == STEP_ANY) return;
    i->varies = p->changed = true, i->step = step;
}

static int64_t step_of(const Planner *p, Temp t) { return varies(p, t) ? info(p, t)->step : 0; }

static bool literal(const Planner *p, Temp t, int64_t *value) {
    const Stmt *s = p->def[t];
    if (!s || s->kind != ST_LIT || kind_is_float(info(p, t)->kind)) return false;
    *value = s->u.num;
    return true;
}

// By how much an Int result differs from lane to lane; large steps are not followed.
static int64_t op_step(const Planner *p, const Stmt *s) {
    enum { FAR = 1 << 20 };
    int64_t a = step_of(p, s->args[0]), b = s->nargs > 1 ? step_of(p, s->args[1]) : 0, c, r;
    if (info(p, s->dst)->kind != KIND_INT || a == STEP_ANY || b == STEP_ANY) return STEP_ANY;
    switch (s->op) {
    case OP_add: r = a + b; break;
    case OP_sub: r = a - b; break;
    case OP_neg: r = -a; break;
    case OP_mul:
        if (!b && literal(p, s->args[1], &c) && llabs(c) < FAR) r = a * c;
        else if (!a && literal(p, s->args[0], &c) && llabs(c) < FAR) r = b * c;
        else return STEP_ANY;
        break;
    default: return STEP_ANY;
    }
    return r && llabs(r) < FAR ? r : STEP_ANY;
}

// Is it a cell from outside that the loop sets?
static bool is_sum(const Planner *p, Temp cell) { return p->level[cell] < 0 && p->set_in[cell] == p->stamp; }

static bool any_varies(const Planner *p, const Stmt *s) {
    for (int k = 0; k < s->nargs; k++)
        if (varies(p, s->args[k])) return true;
    return false;
}

// Does t differ little from lane to lane: by fixed steps, or as the lesser or greater of such?
static bool is_near(const Planner *p, Temp t, int depth) {
    enum { NEAR = 4, DEEP = 6 };
    const Stmt *s = p->def[t];
    if (!varies(p, t)) return true;
    if (info(p, t)->step != STEP_ANY) return llabs(info(p, t)->step) <= NEAR;
    if (!s || s->kind != ST_OP || depth == DEEP) return false;
    if (s->op != OP_min && s->op != OP_max && s->op != OP_add && s->op != OP_sub) return false;
    return is_near(p, s->args[0], depth + 1) && is_near(p, s->args[1], depth + 1);
}

static Temp low_of(const Stmt *loop) {
    const Stmt *s = loop->body->stmts.data[0];
    return s->args[0] == loop->dst ? s->args[1] : s->args[0];
}

static void spread(Planner *p, const Block *block);

// A loop whose ranges overlap in the lanes: they run over j = low + i together.
static void spread_together(Planner *p, Stmt *loop) {
    const Stmt *first = loop->body->stmts.data[0];
    Temp low = low_of(loop);
    loop->together = loop->shifted && varies(p, low) && info(p, low)->step == STEP_ANY && is_near(p, low, 0);
    p->given[first->dst] = loop->together ? p->stamp : 0; // what varies may only be found in the next walk
}

static void spread_under(Planner *p, const Block *block, bool differ) {
    p->under += differ;
    spread(p, block);
    p->under -= differ;
}

static void spread_stmt(Planner *p, Stmt *s) {
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
        if (varies(p, s->args[0]) || is_sum(p, s->args[0])) set_varies(p, s->dst, STEP_ANY);
        break;
    case ST_OP:
        if (any_varies(p, s) && p->given[s->dst] != p->stamp) set_varies(p, s->dst, op_step(p, s));
        break;
    case ST_LOAD:
        if (any_varies(p, s) || is_own(p, s->buf)) set_varies(p, s->dst, STEP_ANY);
        break;
    case ST_FOR:
        if (s->shifted) spread_together(p, s);
        spread_under(p, s->body, varies(p, s->args[0]) || s->together);
        break;
    case ST_LOOP: spread(p, s->body); break;
    case ST_IF:
        spread_under(p, s->body, varies(p, s->args[0]));
        spread_under(p, s->other, varies(p, s->args[0]));
        break;
    default:
        if (s->dst >= 0 && any_varies(p, s)) set_varies(p, s->dst, STEP_ANY);
        break;
    }
}

static void spread(Planner *p, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) spread_stmt(p, block->stmts.data[i]);
}

// ---- whether iterations are independent

static bool is_extreme(const Stmt *s) { return s->kind == ST_OP && (s->op == OP_min || s->op == OP_max); }

// Whether the value that a cell from outside gets is its own plus something, or the lesser or the greater of the two, and
// nothing else reads what it was.
static bool sums_up(const Planner *p, Temp t, Temp cell, Op by) {
    const Stmt *s = p->def[t];
    if (!s || p->uses[t] != 1) return false;
    if (s->kind == ST_GET) return s->args[0] == cell;
    if (s->kind != ST_OP || (s->op != by && (s->op != OP_sub || by != OP_add))) return false;
    return sums_up(p, s->args[0], cell, by) || (s->op == by && sums_up(p, s->args[1], cell, by));
}

static bool check_sum(Planner *p, const Stmt *set) {
    const Stmt *s = p->def[set->args[0]];
    Kind kind = info(p, set->dst)->kind;
    Op by = s && is_extreme(s) ? s->op : OP_add;
    if (kind == KIND_BOOL || (p->precise && kind_is_float(kind))) return false;
    if (p->joined_in[set->dst] == p->stamp && p->joins[set->dst] != by) return false;
    p->joined_in[set->dst] = p->stamp, p->joins[set->dst] = by;
    p->reads--;
    return sums_up(p, set->args[0], set->dst, by);
}

static bool extents_agree(const Planner *p, const Buf *b) {
    for (int k = 0; k < b->rank; k++)
        if (varies(p, b->extent[k])) return false;
    return true;
}

// The dimension in which lanes are apart, if they are so by a fixed step; -1 if not.
static int apart(const Planner *p, const Buf *b, const Temp *index) {
    for (int k = 0; k < b->rank; k++)
        if (varies(p, index[k]) && info(p, index[k])->step != STEP_ANY) return k;
    return -1;
}

// Is t a value of the loop's index and what is outside alone, the same throughout an iteration?
static bool is_fixed(const Planner *p, Temp t) {
    if (t == p->loop->dst || p->made_in[t] != p->stamp) return true;
    const Stmt *s = p->def[t];
    if (!s || (s->kind != ST_OP && s->kind != ST_LIT)) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!is_fixed(p, s->args[k])) return false;
    return true;
}

// Does each lane store to places of its own, in whatever order?
static bool keeps_apart(const Planner *p, const Buf *b, const Temp *index) {
    int k = apart(p, b, index);
    return k >= 0 && is_fixed(p, index[k]);
}

static bool all_agree(const Planner *p, const Buf *b, const Temp *index) {
    for (int k = 0; k < b->rank; k++)
        if (varies(p, index[k])) return false;
    return true;
}

static bool check_block(Planner *p, const Block *block);

static bool check_stmt(Planner *p, Stmt *s) {
    if (s->buf && s->kind != ST_NEW && !extents_agree(p, s->buf)) return false;
    switch (s->kind) {
    case ST_SET: return p->level[s->dst] >= 0 || check_sum(p, s);
    case ST_GET: p->reads += is_sum(p, s->args[0]); return true;
    case ST_NEW: return extents_agree(p, s->buf);
    case ST_FILL: return is_own(p, s->buf);
    case ST_COPY: // of what the loop does not change
        return is_own(p, s->buf) && extents_agree(p, s->src) && (is_own(p, s->src) || s->src->where == BUF_INPUT);
    case ST_LOAD:
    case ST_STORE:
        if (!is_own(p, s->buf)) vec_push(&p->outside, s);
        return true;
    case ST_ADDTO:
        if (is_own(p, s->buf)) return true;
        vec_push(&p->outside, s);
        if (all_agree(p, s->buf, s->args + 1)) vec_push(&p->added, s);
        return !(p->precise && kind_is_float(s->buf->kind)) || keeps_apart(p, s->buf, s->args + 1);
    case ST_EXTERN:
        for (int k = 0; k < s->nin; k++)
            if (s->in[k]) return false;
        return !s->buf;
    case ST_OUT:
    case ST_LOOP:
    case ST_BREAK: return false;
    default: break;
    }
    return check_block(p, s->body) && check_block(p, s->other);
}

static bool check_block(Planner *p, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++)
        if (!check_stmt(p, block->stmts.data[i])) return false;
    return true;
}

// Is a dimension of every access the loop's own index?
static bool at_own_index(const Planner *p, const Buf *b) {
    for (int k = 0; k < b->rank; k++) {
        bool all = true;
        for (int i = 0; all && i < p->outside.len; i++) {
            const Stmt *s = p->outside.data[i];
            if (s->buf == b) all = stmt_index(s)[k] == p->loop->dst;
        }
        if (all) return true;
    }
    return false;
}

// An array from outside that is stored to: at the loop's own index, or once, at places that are apart. One that is added
// to is not read.
static bool check_outside(const Planner *p) {
    for (int i = 0; i < p->outside.len; i++) {
        const Stmt *s = p->outside.data[i];
        if (s->kind == ST_LOAD) continue;
        int others = 0, reads = 0;
        for (int j = 0; j < p->outside.len; j++) {
            const Stmt *o = p->outside.data[j];
            if (o->buf == s->buf && j != i) others += o->kind == ST_STORE || s->kind == ST_STORE, reads += o->kind == ST_LOAD;
        }
        bool alone = !others && !reads && (s->kind == ST_ADDTO || keeps_apart(p, s->buf, s->args + 1));
        if (!alone && !at_own_index(p, s->buf)) return false;
    }
    return true;
}

// Marks what varies in the loop; whether its iterations may be lanes. The marks are those of the loop looked at last.
static bool look_at(Planner *p, Stmt *loop) {
    int64_t n;
    p->loop = loop, p->temps.len = p->added.len = p->outside.len = 0;
    map_free(&p->blocks);
    p->blocks = (Map){0};
    if (literal(p, loop->args[0], &n) && n < (p->always ? 2 : LANES)) return false;
    p->stamp++;
    if (enter(p, loop->body) > LARGEST_BODY) return false;
    for (int i = 0; i < p->temps.len; i++) info(p, p->temps.data[i])->varies = false, p->level[p->temps.data[i]] = 0;
    vec_push(&p->temps, loop->dst);
    info(p, loop->dst)->varies = true, info(p, loop->dst)->step = 1;
    do {
        p->changed = false;
        spread(p, loop->body);
    } while (p->changed);
    p->reads = 0;
    return check_block(p, loop->body) && p->reads == 0 && check_outside(p);
}

static void forget(Planner *p) {
    for (int i = 0; i < p->temps.len; i++) {
        info(p, p->temps.data[i])->varies = false;
        p->level[p->temps.data[i]] = -1;
    }
}

// ---- the model: time of an iteration, an addition being 1

static double trips(const Planner *p, const Stmt *s, bool outermost) {
    int64_t n;
    return literal(p, s->args[0], &n) ? (double)(n > 0 ? n : 0) : outermost ? LONG_TRIPS : SHORT_TRIPS;
}

// Of an access, or of an addition, which is two.
static double move_cost(const Planner *p, const Stmt *s) {
    const Buf *b = s->buf;
    const Temp *index = stmt_index(s);
    int k = apart(p, b, index);
    double moves = s->kind == ST_ADDTO ? 2 : 1;
    if (all_agree(p, b, index)) return moves / LANES;
    for (int j = 0; j < b->rank; j++)
        if (j != k && varies(p, index[j])) return moves * MOVE;
    if (is_own(p, b)) return moves * MOVE;
    if (k == b->rank - 1 && info(p, index[k])->step == 1) return moves / LANES;
    bool row = lanes_row(p->loop, p->inner.len, p->inner.data, s) >= 0;
    return row ? moves / LANES + MOVE / SHORT_TRIPS : moves * MOVE;
}

static double lane_cost(Planner *p, const Block *block) {
    double sum = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        double cost = 1;
        switch (s->kind) {
        case ST_LIT: continue;
        case ST_OP: cost = op_info[s->op].cost / (!varies(p, s->dst) || op_info[s->op].lanes ? LANES : 1.0); break;
        case ST_LOAD:
        case ST_STORE:
        case ST_ADDTO: cost = move_cost(p, s); break;
        case ST_FOR:
            vec_push(&p->inner, s);
            cost = (trips(p, s, false) + (s->together ? LANES : 0)) * (0.5 / LANES + lane_cost(p, s->body));
            p->inner.len--;
            break;
        case ST_IF: cost = 1.0 / LANES + lane_cost(p, s->body) + lane_cost(p, s->other); break;
        case ST_EXTERN: cost = CALL; break;
        default: cost = 1.0 / LANES; break;
        }
        sum += cost;
    }
    return sum;
}

// Elements of small structures, with fixed places in them, LLVM loads well.
static bool is_fixed_place(const Planner *p, const Stmt *s, int from) {
    int64_t c;
    for (int k = from; k < s->buf->rank; k++)
        if (!literal(p, stmt_index(s)[k], &c) || !literal(p, s->buf->extent[k], &c)) return false;
    return true;
}

// Is there nothing in it that LLVM would not turn into vectors by itself?
static bool is_plain(const Planner *p, const Block *block, Temp index) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->body || s->other || s->kind == ST_CHECK || s->kind == ST_EXTERN || s->kind == ST_BREAK) return false;
        if (s->kind == ST_OP && op_info[s->op].cost >= CALL) return false;
        if (s->kind == ST_SET && p->def[s->args[0]] && is_extreme(p->def[s->args[0]])) return false;
        if (s->kind == ST_LOAD || s->kind == ST_STORE || s->kind == ST_ADDTO) {
            const Temp *at = stmt_index(s);
            for (int k = 0; k < s->buf->rank - 1; k++)
                if (at[k] == index && !is_fixed_place(p, s, k + 1)) return false;
        }
    }
    return true;
}

static double best(Planner *p, Stmt *loop, bool *lanes);

// The least time of a block, its loops being treated as is best for each of them.
static double plain_cost(Planner *p, const Block *block) {
    double sum = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        bool lanes;
        switch (s->kind) {
        case ST_LIT: break;
        case ST_OP: sum += op_info[s->op].cost; break;
        case ST_ADDTO: sum += 2; break;
        case ST_FOR: sum += best(p, s, &lanes); break;
        case ST_LOOP: sum += SHORT_TRIPS * plain_cost(p, s->body); break;
        case ST_IF: sum += 1 + TAKEN * (plain_cost(p, s->body) + plain_cost(p, s->other)); break;
        case ST_EXTERN: sum += CALL; break;
        default: sum += 1; break;
        }
    }
    return sum;
}

// The estimates are in additions.
static void explain_choice(const Planner *p, const Stmt *loop, double plain, double laned) {
    Explain *x = p->tree->func->ir->explain;
    if (p->silent || !explain_wants(x, EXPLAIN_SCHEDULE)) return;
    const char *name = info(p, loop->dst)->name;
    if (laned == DBL_MAX)
        explain(x, EXPLAIN_SCHEDULE, loop->span, "loop over `%s`: one iteration after the other: it cannot have lanes",
                name ? name : "i");
    else
        explain(x, EXPLAIN_SCHEDULE, loop->span, "loop over `%s`: %s: about %.3g with lanes, %.3g without", name ? name : "i",
                laned * WORTH_IT < plain ? "several iterations at once" : "one iteration after the other", laned, plain);
}

static double best(Planner *p, Stmt *loop, bool *lanes) {
    bool outermost = p->depth++ == 0, simple = is_plain(p, loop->body, loop->dst);
    double n = trips(p, loop, outermost), each;
    bool silent = p->silent;
    p->silent = true;
    each = 1 + plain_cost(p, loop->body);
    p->silent = silent;
    double plain = n * each / (!simple ? 1 : outermost ? BY_ITSELF_LONG : BY_ITSELF_SHORT), laned = DBL_MAX;
    p->depth--;
    if (p->always || !simple) {
        double left = n < LONG_TRIPS ? (LANES - 1) / 2 * each : 0; // over, done one by one
        if (look_at(p, loop)) laned = n * (1.0 / LANES + lane_cost(p, loop->body)) + left + REDUCE * p->added.len;
        forget(p);
    }
    if (!simple) explain_choice(p, loop, plain, laned);
    *lanes = p->always ? laned < DBL_MAX : laned * WORTH_IT < plain;
    return *lanes ? laned : plain;
}

// ---- the choice

// Has it a loop, or does each step of an extreme wait for the one before?
static bool has_loop(const Planner *p, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_SET && p->def[s->args[0]] && is_extreme(p->def[s->args[0]])) return true;
        if (s->kind == ST_FOR || has_loop(p, s->body) || has_loop(p, s->other)) return true;
    }
    return false;
}

// What lanes share, and the sums into what they share, is moved once for a block of several vectors.
static void settle(Planner *p, Stmt *loop) {
    look_at(p, loop);
    loop->lanes = p->added.len || has_loop(p, loop->body) ? VECTORS : 1;
    loop->in = ARENA_ARRAY(p->arena, Buf *, p->added.len + 1);
    for (int i = 0; i < p->added.len; i++) {
        int k = 0;
        while (k < loop->nin && loop->in[k] != p->added.data[i]->buf) k++;
        if (k == loop->nin) loop->in[loop->nin++] = p->added.data[i]->buf;
    }
    for (int i = 0; i < p->tree->bufs.len; i++)
        if (is_own(p, p->tree->bufs.data[i])) p->tree->bufs.data[i]->lanes = loop->lanes;
}

static void choose(Planner *p, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        bool lanes = false;
        if (s->kind == ST_FOR) best(p, s, &lanes);
        if (lanes) {
            settle(p, s);
            vec_push(&p->chosen, ((Chosen){block, s}));
        } else {
            p->depth += s->kind == ST_FOR || s->kind == ST_LOOP;
            choose(p, s->body);
            choose(p, s->other);
            p->depth -= s->kind == ST_FOR || s->kind == ST_LOOP;
        }
    }
}

void lanes_choose(Arena *arena, Tree *tree, const LaneOptions *opt) {
    int n = tree->temps.len + 1;
    if (tree->temps.len > LARGEST_TREE) return;
    Planner p = {.arena = arena, .tree = tree, .precise = opt->precise, .always = opt->always};
    p.def = ARENA_ARRAY(arena, Stmt *, n);
    p.uses = ARENA_ARRAY(arena, int, n);
    p.level = ARENA_ARRAY(arena, int, n);
    p.made_in = ARENA_ARRAY(arena, int, n);
    p.set_in = ARENA_ARRAY(arena, int, n);
    p.given = ARENA_ARRAY(arena, int, n);
    p.joined_in = ARENA_ARRAY(arena, int, n);
    p.joins = ARENA_ARRAY(arena, Op, n);
    for (int i = 0; i < n; i++) p.level[i] = -1;
    lanes_shift(arena, tree);
    survey(&p, tree->body);
    choose(&p, tree->body);
    for (int i = 0; i < p.chosen.len; i++) {
        Stmt *loop = p.chosen.data[i].loop;
        lanes_stage(arena, tree, p.chosen.data[i].block, loop);
        if (loop->lanes > 1) lanes_jam(arena, tree, loop, opt->precise, opt->registers);
    }
    vec_free(&p.chosen);
    map_free(&p.blocks);
    vec_free(&p.temps);
    vec_free(&p.inner);
    vec_free(&p.added);
    vec_free(&p.outside);
}
