// Lanes: loops whose iterations run several at once, each in one lane of vectors, in the manner of SPMD programs. Where
// lanes disagree on a condition, masks say which of them are at work. DESIGN.md section 6.
//
// A loop may have lanes if its iterations are independent but for sums: cells and arrays from outside are only added to,
// and other arrays are written at the index of the loop itself. Each lane has its own copy of what is new in an iteration.
// Of a nest, the loop is taken for which the model below says the least time.
#include "lower/independent.h"
#include "lower/internal.h"

#include <float.h>
#include <math.h>

// What the model assumes of loops whose length is not known, outermost and inside, and of machines: lanes, elements that
// are moved one by one, and in rows, a sum over lanes, a call of a C function, how much of both branches is run, and how well
// LLVM does by itself with innermost loops.
enum { LONG_TRIPS = 1000, SHORT_TRIPS = 16, LANES = 8, VECTORS = 4, MOST_VECTORS = 8, LARGEST_TREE = 100000 };
static const double MOVE = 5.0, ROW = 2.0, REDUCE = 8.0, CALL = 20.0, TAKEN = 0.6, BY_ITSELF_LONG = 5.0, BY_ITSELF_SHORT = 2.0,
                    WORTH_IT = 1.5;

typedef struct Chosen {
    Block *block; // with the loop in it
    Stmt *loop;
} Chosen;

typedef struct Planner {
    Iterations it;
    int registers, width; // of the machine, for vectors
    int *last;      // by temp: where in a block it is used last
    bool always;    // the model is not asked
    bool silent;    // about choices in loops inside, which are asked for again
    Map wished;     // loops that have lanes because an attribute says so
    VEC(Chosen) chosen;
    VEC(Stmt *) inner; // loops inside the loop that is looked at, around the statement
    int depth;      // of loops around it
} Planner;

// ---- the model: time of an iteration, an addition being 1

static double trips(const Planner *p, const Stmt *s, bool outermost) {
    int64_t n;
    return iter_literal(&p->it, s->args[0], &n) ? (double)(n > 0 ? n : 0) : outermost ? LONG_TRIPS : SHORT_TRIPS;
}

// Of an access, or of an addition, which is two.
static double move_cost(const Planner *p, const Stmt *s) {
    const Buf *b = s->buf;
    const Temp *index = stmt_index(s);
    int k = iter_apart(&p->it, b, index);
    double moves = s->kind == ST_ADDTO ? 2 : 1;
    if (iter_all_agree(&p->it, b, index)) return moves / LANES;
    for (int j = 0; j < b->rank; j++)
        if (j != k && iter_varies(&p->it, index[j])) return moves * MOVE;
    if (iter_is_own(&p->it, b)) return moves * MOVE;
    if (k == b->rank - 1 && iter_info(&p->it, index[k])->step == 1) return moves / LANES;
    bool again, row = lanes_row(p->it.loop, p->inner.len, p->inner.data, s, &again) >= 0;
    return row ? moves / LANES + ROW / (again ? SHORT_TRIPS : 1) : moves * MOVE;
}

static double lane_cost(Planner *p, const Block *block) {
    double sum = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        double cost = 1;
        switch (s->kind) {
        case ST_LIT: continue;
        case ST_OP: cost = op_info[s->op].cost / (!iter_varies(&p->it, s->dst) || op_info[s->op].lanes ? LANES : 1.0); break;
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
        if (!iter_literal(&p->it, stmt_index(s)[k], &c) || !iter_literal(&p->it, s->buf->extent[k], &c)) return false;
    return true;
}

// Is there nothing in it that LLVM would not turn into vectors by itself?
static bool is_plain(const Planner *p, const Block *block, Temp index) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->body || s->other || s->kind == ST_CHECK || s->kind == ST_EXTERN || s->kind == ST_BREAK) return false;
        if (s->kind == ST_OP && op_info[s->op].cost >= CALL) return false;
        if (s->kind == ST_SET && p->it.def[s->args[0]] && iter_is_extreme(p->it.def[s->args[0]])) return false;
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

static bool is_wished(const Planner *p, const Stmt *loop) { return map_get(&p->wished, loop); }

static bool has_wished(const Planner *p, const Block *block) {
    for (int i = 0; p->wished.len && block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (is_wished(p, s) || has_wished(p, s->body) || has_wished(p, s->other)) return true;
    }
    return false;
}

// The estimates are in additions.
static void explain_choice(const Planner *p, const Stmt *loop, double plain, double laned, const char *attribute) {
    Explain *x = p->it.tree->func->ir->explain;
    if (p->silent || !explain_wants(x, EXPLAIN_SCHEDULE)) return;
    const char *name = iter_info(&p->it, loop->dst)->name;
    if (attribute)
        explain(x, EXPLAIN_SCHEDULE, loop->span, "loop over `%s`: %s: `#[%s]` says so", name ? name : "i",
                is_wished(p, loop) ? "several iterations at once" : "one iteration after the other", attribute);
    else if (laned == DBL_MAX)
        explain(x, EXPLAIN_SCHEDULE, loop->span, "loop over `%s`: one iteration after the other: it cannot have lanes",
                name ? name : "i");
    else
        explain(x, EXPLAIN_SCHEDULE, loop->span, "loop over `%s`: %s: about %.3g with lanes, %.3g without", name ? name : "i",
                laned * WORTH_IT < plain ? "several iterations at once" : "one iteration after the other", laned, plain);
}

static bool long_enough(const Planner *p, const Stmt *loop) {
    int64_t n;
    return !iter_literal(&p->it, loop->args[0], &n) || n >= (p->always || is_wished(p, loop) ? 2 : LANES);
}

static double best(Planner *p, Stmt *loop, bool *lanes) {
    bool outermost = p->depth++ == 0, wished = is_wished(p, loop), simple = !wished && is_plain(p, loop->body, loop->dst);
    const char *attribute = wished || has_wished(p, loop->body) ? "lane" : stmt_wish(loop, WISH_sequential) ? "sequential" : NULL;
    double n = trips(p, loop, outermost), each;
    bool silent = p->silent;
    p->silent = true;
    each = 1 + plain_cost(p, loop->body);
    p->silent = silent;
    double plain = n * each / (!simple ? 1 : outermost ? BY_ITSELF_LONG : BY_ITSELF_SHORT), laned = DBL_MAX;
    p->depth--;
    if (wished || (!attribute && (p->always || !simple))) {
        double left = n < LONG_TRIPS ? (LANES - 1) / 2 * each : 0; // over, done one by one
        if (long_enough(p, loop) && iter_look(&p->it, loop, true)) laned = n * (1.0 / LANES + lane_cost(p, loop->body)) + left + REDUCE * p->it.added.len;
        if (long_enough(p, loop)) iter_forget(&p->it);
    }
    if (!simple || attribute) explain_choice(p, loop, plain, laned, attribute);
    *lanes = p->always || wished ? laned < DBL_MAX : laned * WORTH_IT < plain;
    return *lanes ? laned : plain;
}

// ---- the choice

// Has it a loop, or does each step of an extreme wait for the one before?
static bool has_loop(const Planner *p, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_SET && p->it.def[s->args[0]] && iter_is_extreme(p->it.def[s->args[0]])) return true;
        if (s->kind == ST_FOR || has_loop(p, s->body) || has_loop(p, s->other)) return true;
    }
    return false;
}

static void note_uses(const Block *block, int place, int *last) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        for (int k = 0; k < s->nargs; k++) last[s->args[k]] = place;
        note_uses(s->body, place, last);
        note_uses(s->other, place, last);
    }
}

// How many values that differ between lanes are needed at the same time, those from around the block included.
static int pressure(const Planner *p, const Block *block, int around) {
    if (!block) return around;
    int n = block->stmts.len, most = around, *live = ARENA_ARRAY(p->it.arena, int, n + 1), *last = p->last;
    for (int i = 0; i < n; i++) {
        const Stmt *s = block->stmts.data[i];
        Block one = {{block->stmts.data + i, 1, 1}};
        if (s->dst >= 0 && s->kind != ST_SET) last[s->dst] = i;
        note_uses(&one, i, last);
    }
    for (int i = 0; i < n; i++) {
        const Stmt *s = block->stmts.data[i];
        bool makes = s->dst >= 0 && s->kind != ST_SET && iter_varies(&p->it, s->dst);
        if (makes && iter_info(&p->it, s->dst)->step == STEP_ANY) live[i]++, live[last[s->dst]]--;
    }
    for (int i = 0; i < n; i++) {
        const Stmt *s = block->stmts.data[i];
        around += live[i];
        int then = pressure(p, s->body, around), other = pressure(p, s->other, around);
        if (then > most) most = then;
        if (other > most) most = other;
        if (around > most) most = around;
    }
    return most;
}

// What lanes share, and the sums into what they share, is moved once for a block of several vectors, if they have room.
static int vectors(const Planner *p, const Stmt *loop) {
    Wish *wish = stmt_wish(loop, WISH_block);
    if (wish) {
        int n = 1;
        while (2 * n * p->width <= wish->number && n < MOST_VECTORS) n *= 2;
        if (n * p->width <= wish->number) wish_follow(wish);
        else wish_refuse(wish, "a vector has more lanes");
        return n;
    }
    if (!p->it.added.len && !has_loop(p, loop->body)) return 1;
    int n = VECTORS, needed = pressure(p, loop->body, 0);
    while (n > 1 && n * needed > p->registers + p->registers / 2) n /= 2;
    return n;
}

static void settle(Planner *p, Stmt *loop) {
    iter_look(&p->it, loop, true);
    loop->lanes = vectors(p, loop);
    loop->in = ARENA_ARRAY(p->it.arena, Buf *, p->it.added.len + 1);
    for (int i = 0; i < p->it.added.len; i++) {
        int k = 0;
        while (k < loop->nin && loop->in[k] != p->it.added.data[i]->buf) k++;
        if (k == loop->nin) loop->in[loop->nin++] = p->it.added.data[i]->buf;
    }
    for (int i = 0; i < p->it.tree->bufs.len; i++)
        if (iter_is_own(&p->it, p->it.tree->bufs.data[i])) p->it.tree->bufs.data[i]->lanes = loop->lanes;
}

// Which loops have lanes because attributes say so. Their iterations must be independent, and those of no other around.
static void hear(Planner *p, const Block *block, bool inside) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        Wish *lane = s->kind == ST_FOR ? stmt_wish(s, WISH_lane) : NULL;
        int64_t n = 2;
        if (lane) {
            bool apart = iter_look(&p->it, s, true);
            iter_forget(&p->it);
            if (iter_literal(&p->it, s->args[0], &n) && n < 2) lane = (wish_refuse(lane, "it is no loop"), NULL);
            else if (stmt_wish(s, WISH_sequential)) lane = (wish_refuse(lane, "`#[sequential]` says otherwise"), NULL);
            else if (inside) lane = (wish_refuse(lane, "a loop around it has lanes"), NULL);
            else if (!apart) lane = (wish_refuse(lane, "an iteration may need what others change"), NULL);
        }
        if (lane) map_put(&p->wished, s, s), wish_follow(lane);
        hear(p, s->body, inside || lane);
        hear(p, s->other, inside || lane);
    }
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
    if (tree->temps.len > LARGEST_TREE) return;
    Planner p = {.registers = opt->registers, .width = opt->width, .always = opt->always};
    lanes_peel(arena, tree);
    lanes_shift(arena, tree);
    iter_init(&p.it, arena, tree, opt->precise);
    p.last = ARENA_ARRAY(arena, int, tree->temps.len + 1);
    hear(&p, tree->body, false);
    choose(&p, tree->body);
    int known = tree->temps.len;
    for (int i = 0; i < p.chosen.len; i++) {
        Stmt *loop = p.chosen.data[i].loop;
        lanes_stage(arena, tree, p.it.def, p.chosen.data[i].block, loop);
        if (loop->lanes > 1) lanes_jam(arena, tree, known, p.it.def, loop->body, loop->lanes, opt);
    }
    lanes_jam(arena, tree, known, p.it.def, tree->body, 0, opt);
    map_free(&p.wished);
    vec_free(&p.chosen);
    vec_free(&p.inner);
    iter_free(&p.it);
}
