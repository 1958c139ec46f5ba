// A budget for code: how many versions of loops with lanes an entry may have. A loop that lanes run is there in blocks of
// several vectors, again for what these leave over, and once more with a mask. Each version is worth some time, and costs
// code, for which LLVM takes time, too.
//
//     for i < n { … }, of 4 vectors:  a loop of 4 vectors, then one of one with a mask     5 bodies
//                 of 2, or of 1:      a loop of 2 (1) vectors, then one with a mask        3 (2) bodies
//                 masked:             one loop, of one vector, always with a mask          1 body
//
// If all versions fit into the budget, they stay. Otherwise, one step after the other, some loop gets fewer of them: that
// where it costs the least time for each byte that it saves, by the model of cost.c, until the entry fits, or nothing is
// left to save. The version for sizes of 0 does not count: it has no lanes, and is compiled quickly.
//
// Requires LOOPS_LANES; changes Stmt.lanes, Buf.lanes and Stmt.masked, and nothing else.
#include "lower/cost.h"
#include "lower/loop_passes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNGS = 5 };

// A loop with lanes, and what it may be instead, from what it is on: less and less code, and more and more time.
typedef struct Ladder {
    Stmt *loop;
    double bytes[RUNGS], time[RUNGS]; // time: of all its runs in a call of the entry
    int vectors[RUNGS];               // 0: one, always with a mask
    int rungs, at;                    // at: which of them is chosen
    int like;                         // the first ladder of a loop that looks the same: its rung is that of this one
    int loops;                        // of the first: for how many it stands, whose bytes and time it has
    int size;                         // of the loop
} Ladder;

typedef struct Budget {
    Model m;
    const LoopOptions *opt;
    VEC(Ladder) ladders;
    Map looks; // what loops look like -> the number of the first such ladder, + 1
} Budget;

// The budget without --code-size: what it takes with as few versions as there may be, and three quarters more, but at least
// LEAST and at most MOST bytes, or that and a quarter more. With less (48 KiB, and a half more) the gradient of a transformer
// block took 1.4 times as long; with more (384 KiB) it took as long, and there was more code.
enum { LEAST = 80 << 10, MOST = 384 << 10 };

static double budget_for(double least) { return fmax(LEAST, fmin(1.75 * least, fmax(MOST, 1.25 * least))); }

// ---- estimates

// Bytes of what statements become, fitted to objects of programs in bench: most are within a factor of two, as other
// passes and LLVM unroll. FUNCTION: one that is written out, or called; APART: an access to elements that do not lie side
// by side; JAMMED: so many times is an innermost loop inside of lanes there, as iterations share it (jam.c).
enum { SCALAR = 10, VECTOR = 8, FUNCTION = 180, APART = 150, CALLED = 60, LOOP = 60, JAMMED = 5 };

// What one vector of the loop that is looked at takes: what lanes share is there once for a block of them.
typedef struct Weight {
    double each, shared;
} Weight;

static double access_bytes(const Iterations *it, const Stmt *s) {
    const int last = s->buf->rank - 1;
    const bool near = iter_all_agree(it, s->buf, stmt_index(s)) || iter_is_own(it, s->buf) ||
                      iter_apart(it, s->buf, stmt_index(s)) == last;
    return near ? VECTOR * (s->kind == ST_ADDTO ? 2 : 1) : APART;
}

// times: as often as it is written out.
static void weigh(const Iterations *it, const Block *block, double times, Weight *w) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        const bool shared = s->dst >= 0 && s->kind != ST_SET && !iter_varies(it, s->dst);
        double bytes = VECTOR;
        switch (s->kind) {
        case ST_LIT: continue;
        case ST_OP: bytes = op_info[s->op].cost >= op_info[OP_exp].cost ? FUNCTION : VECTOR; break;
        case ST_LOAD:
        case ST_STORE:
        case ST_ADDTO: bytes = access_bytes(it, s); break;
        case ST_FOR:
        case ST_LOOP:
        case ST_IF: bytes = LOOP; break;
        case ST_CALL:
        case ST_CHECK:
        case ST_EXTERN: bytes = CALLED; break;
        default: break;
        }
        *(shared || s->body || bytes == CALLED ? &w->shared : &w->each) += bytes < FUNCTION ? times * bytes : bytes;
        weigh(it, s->body, s->kind == ST_FOR && !block_has_for(s->body) ? times * JAMMED : times, w);
        weigh(it, s->other, times, w);
    }
}

// What is not in loops with lanes.
static double scalar_bytes(const Block *block) {
    double sum = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_LIT || s->lanes) continue;
        bool call = s->kind == ST_CALL || s->kind == ST_CHECK || s->kind == ST_EXTERN;
        sum += call ? CALLED : s->body ? LOOP : SCALAR;
        sum += scalar_bytes(s->body) + scalar_bytes(s->other);
    }
    return sum;
}

// ---- what a loop may be instead

// May some iterations be left over of blocks of so many vectors?
static bool has_rest(const Budget *z, const Stmt *s, int vectors) {
    int64_t n, first = 0;
    bool known = iter_literal(&z->m.it, s->args[0], &n) && (s->nargs < 2 || iter_literal(&z->m.it, s->args[1], &first));
    return !known || s->nin || (n - first) % (vectors * z->opt->width);
}

static double bytes_of(const Budget *z, const Stmt *s, const Weight *w, int vectors) {
    const int half = vectors == LANES_LARGE ? LANES_LARGE / 2 : 0;
    double block = vectors * w->each + w->shared, one = w->each + w->shared;
    if (!vectors) return one;
    if (!has_rest(z, s, vectors)) return block;
    return block + (half ? half * w->each + w->shared : 0) + one;
}

// In a loop without others inside, vectors side by side wait for each other's operations, which the model does not count.
static double time_of(Budget *z, const Stmt *s, int vectors, bool inner) {
    static const double alone[] = {[0] = 2, [1] = 1.6, [2] = 1.2, [4] = 1, [8] = 1};
    const double masks = vectors || inner ? 1 : 1.25;
    double time = model_lanes(&z->m, s->body, vectors ? vectors : 1);
    return inner ? time * alone[vectors] : time * masks;
}

// Loops that look the same are treated in the same way, so that they still are when equal nests become procedures
// (outline.c): the first stands for all of them.
static void join_alike(Budget *z, Ladder *x, int number) {
    const double look[] = {x->size, x->bytes[0], x->bytes[x->rungs - 1], x->rungs, x->vectors[0]};
    void *key = (void *)(uintptr_t)(str_hash((const char *)look, sizeof look) | 1);
    x->like = (int)(intptr_t)map_get(&z->looks, key) - 1;
    Ladder *first = x->like >= 0 ? &z->ladders.data[x->like] : NULL;
    const bool same = first && first->rungs == x->rungs && !memcmp(first->vectors, x->vectors, sizeof x->vectors);
    if (!first) map_put(&z->looks, key, (void *)(intptr_t)(number + 1));
    if (!same) x->like = number;
    for (int k = 0; same && k < x->rungs; k++) first->bytes[k] += x->bytes[k], first->time[k] += x->time[k];
    if (same) first->loops++;
}

static void put_ladder(Budget *z, Stmt *s, double often) {
    const bool inner = !block_has_for(s->body);
    Ladder x = {.loop = s, .loops = 1, .size = block_size(s->body)};
    Weight w = {0};
    if (!model_look(&z->m, s)) return; // the marks of what varies stay: they are those of lanes.c
    const int floats = s->lanes < 2 ? s->lanes : 2; // two vectors of doubles are one of Floats
    const int least = model_is_single(&z->m, s->body) ? floats : z->opt->width >= LANES_MASKED ? 0 : 1;
    weigh(&z->m.it, s->body, 1, &w);
    often *= model_trips(&z->m, s, z->m.depth == 0);
    for (int n = s->lanes; n >= least; n /= 2) {
        double bytes = bytes_of(z, s, &w, n), time = often * time_of(z, s, n, inner);
        bool less = !x.rungs || bytes < x.bytes[x.rungs - 1];
        if (less) x.bytes[x.rungs] = bytes, x.time[x.rungs] = time, x.vectors[x.rungs++] = n;
        if (n == least || stmt_wish(s, WISH_block)) break;
    }
    vec_push(&z->ladders, x);
}

// The time of ladders from one on, and more of it.
static double time_from(const Budget *z, int from) {
    double sum = 0;
    for (; from < z->ladders.len; from++) sum += z->ladders.data[from].time[0];
    return sum;
}

static void scale_time(Budget *z, int from, int to, double by) {
    for (; from < to; from++)
        for (int k = 0; k < z->ladders.data[from].rungs; k++) z->ladders.data[from].time[k] *= by;
}

static void find_ladders(Budget *z, const Block *block, double often);

// Where sizes choose between two ways of doing something, as blocks (contract.c) and what is done without them, each is
// all that runs of it in programs of such sizes: the one that takes less time counts as much as the other.
static void find_in_branches(Budget *z, const Stmt *s, double often) {
    const int first = z->ladders.len;
    find_ladders(z, s->body, often);
    const int second = z->ladders.len;
    const double a = time_from(z, first);
    find_ladders(z, s->other, often);
    const double b = time_from(z, second);
    if (a > 0 && b > a) scale_time(z, first, second, b / a);
    if (b > 0 && a > b) scale_time(z, second, z->ladders.len, a / b);
}

static void find_ladders(Budget *z, const Block *block, double often) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_FOR && s->lanes) {
            put_ladder(z, s, often);
            continue;
        }
        if (s->kind == ST_IF) {
            find_in_branches(z, s, often * z->m.machine->taken);
            continue;
        }
        const bool loop = s->kind == ST_FOR || s->kind == ST_LOOP;
        double inside = s->kind == ST_FOR    ? often * model_trips(&z->m, s, z->m.depth == 0)
                        : s->kind == ST_LOOP ? often * z->m.machine->short_trips
                                             : often;
        z->m.depth += loop;
        find_ladders(z, s->body, inside);
        z->m.depth -= loop;
    }
}

// ---- what is bought

// A rung down: the time that it costs for each byte that it saves. Those of a ladder come one after the other.
typedef struct Saving {
    double price, bytes;
    int ladder, rung;
} Saving;

typedef VEC(Saving) VecSaving;

static int by_price(const void *a, const void *b) {
    const Saving *x = a, *y = b;
    if (x->price != y->price) return x->price < y->price ? -1 : 1;
    return x->ladder != y->ladder ? x->ladder - y->ladder : x->rung - y->rung;
}

static void find_savings(const Budget *z, VecSaving *out) {
    for (int i = 0; i < z->ladders.len; i++) {
        const Ladder *x = &z->ladders.data[i];
        double most = 0;
        for (int k = 1; x->like == i && k < x->rungs; k++) {
            double bytes = x->bytes[k - 1] - x->bytes[k];
            most = fmax(most, (x->time[k] - x->time[k - 1]) / bytes);
            vec_push(out, ((Saving){most, bytes, i, k}));
        }
    }
    if (out->len) qsort(out->data, (size_t)out->len, sizeof *out->data, by_price);
}

// In the loop that is looked at.
static void settle_buf(const Iterations *it, Buf *b, int lanes) {
    if (b && iter_is_own(it, b)) b->lanes = lanes;
}

static void settle_bufs(const Iterations *it, const Block *block, int lanes) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        settle_buf(it, s->buf, lanes), settle_buf(it, s->src, lanes);
        for (int k = 0; s->in && k < s->nin; k++) settle_buf(it, s->in[k], lanes);
        settle_bufs(it, s->body, lanes);
        settle_bufs(it, s->other, lanes);
    }
}

static void settle(Budget *z, const Ladder *x) {
    Stmt *s = x->loop;
    const int at = z->ladders.data[x->like].at, vectors = x->vectors[at], was = s->lanes;
    if (!at) return;
    const char *name = z->m.it.tree->temps.data[s->dst].name, *block = vectors > 1 ? "s" : "";
    explain(z->m.it.tree->func->ir->explain, EXPLAIN_SCHEDULE, s->span,
            "loop over `%s`: %d vector%s at a time%s, not %d: that saves about %.0f bytes of code", name ? name : "i",
            vectors ? vectors : 1, block, vectors ? "" : ", with a mask", was, (x->bytes[0] - x->bytes[at]) / x->loops);
    iter_look(&z->m.it, s, true);
    s->lanes = vectors ? vectors : 1, s->masked = !vectors;
    settle_bufs(&z->m.it, s->body, s->lanes);
}

void loops_budget(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Budget z = {.opt = opt};
    VecSaving savings = {0};
    model_begin(&z.m, arena, tree, opt);
    z.m.across = true;
    find_ladders(&z, tree->body, 1);
    for (int i = 0; i < z.ladders.len; i++) join_alike(&z, &z.ladders.data[i], i);
    find_savings(&z, &savings);
    double all = scalar_bytes(tree->body), least;
    for (int i = 0; i < z.ladders.len; i++)
        if (z.ladders.data[i].like == i) all += z.ladders.data[i].bytes[0];
    least = all;
    for (int i = 0; i < savings.len; i++) least -= savings.data[i].bytes;
    double most = opt->code_size ? (double)opt->code_size : budget_for(least), now = all;
    for (int i = 0; i < savings.len && now > most; i++) {
        const Saving *x = &savings.data[i];
        if (!tree_step(tree, z.ladders.data[x->ladder].loop)) break;
        z.ladders.data[x->ladder].at = x->rung;
        now -= x->bytes;
    }
    for (int i = 0; i < z.ladders.len; i++) settle(&z, &z.ladders.data[i]);
    if (now < all)
        explain(tree->func->ir->explain, EXPLAIN_SCHEDULE, tree->func->span,
                "about %.0f bytes of code with all versions of loops, %.0f with as few as there may be: %.0f for a budget "
                "of %.0f",
                all, least, now, most);
    vec_free(&savings);
    vec_free(&z.ladders);
    map_free(&z.looks);
    model_end(&z.m);
}
