// Lanes: loops whose iterations run several at once, each in one lane of vectors, in the manner of SPMD programs. Where
// lanes disagree on a condition, masks say which of them are at work. DESIGN.md section 6.
//
// A loop may have lanes if its iterations are independent but for sums: cells and arrays from outside are only added to,
// and other arrays are written at the index of the loop itself. Each lane has its own copy of what is new in an iteration.
// Of a nest, the loop is taken for which the model (cost.c) says the least time.
#include "lower/cost.h"
#include "lower/loop_passes.h"

enum { VECTORS = 4, MOST_VECTORS = 8, ROW_VECTORS = 2 };

typedef struct Planner {
    Model m;
    int registers, width; // of the machine, for vectors
    int *last;            // by temp: where in a block it is used last
    int *calls;           // by temp of a loop that was looked at: how many functions were called for it, one after the other
} Planner;

// ---- the choice

// Has it a loop, or does each step of an extreme wait for the one before?
static bool has_loop(const Planner *p, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_SET && p->m.it.def[s->args[0]] && iter_is_extreme(p->m.it.def[s->args[0]])) return true;
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
    int n = block->stmts.len, most = around, *live = ARENA_ARRAY(p->m.it.arena, int, n + 1), *last = p->last;
    for (int i = 0; i < n; i++) {
        const Stmt *s = block->stmts.data[i];
        Block one = {{block->stmts.data + i, 1, 1}};
        if (s->dst >= 0 && s->kind != ST_SET) last[s->dst] = i;
        note_uses(&one, i, last);
    }
    for (int i = 0; i < n; i++) {
        const Stmt *s = block->stmts.data[i];
        bool makes = s->dst >= 0 && s->kind != ST_SET && iter_varies(&p->m.it, s->dst);
        if (makes && iter_info(&p->m.it, s->dst)->step == STEP_ANY) live[i]++, live[last[s->dst]]--;
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

// wait: what has no register may be in memory, since operations wait for each other longer than for that.
static bool has_room(const Planner *p, int n, int needed, bool wait) {
    return n * needed <= (wait ? 4 * p->registers : p->registers + p->registers / 2);
}

// The alternatives for a block, and what it is.
static void explain_block(Planner *p, const Stmt *loop, int needed, bool wait, int chosen, bool wished) {
    Explain *x = p->m.it.tree->func->ir->explain;
    const char *name = iter_info(&p->m.it, loop->dst)->name;
    if (!explain_wants(x, EXPLAIN_SCHEDULE)) return;
    Str s = {0};
    for (int n = 1; n <= (chosen > VECTORS && !wished ? chosen : VECTORS); n *= 2)
        str_printf(&s, "%s%.3g in blocks of %d%s", n > 1 ? ", " : "", model_lanes(&p->m, loop->body, n), n,
                   n > 1 && has_room(p, n, needed, wait) ? ""
                   : n > 1                               ? " (no room)"
                                                         : "");
    explain(x, EXPLAIN_SCHEDULE, loop->span, "loop over `%s`: %d vector%s at a time: %s%s", name ? name : "i", chosen,
            chosen > 1 ? "s" : "", wished ? "`#[block]` says so; an iteration takes about " : "an iteration takes about ",
            str_text(&s));
    str_free(&s);
}

// How long a sum takes, from a term to the next, while other operations go on.
enum { SUM = 16 };

// Does a sum take longer than the rest of a short iteration, if there is only one? Cells are registers.
static bool waits_for_sum(Planner *p, const Stmt *loop) {
    int cells = 0;
    for (int i = 0; i < loop->body->stmts.len; i++) {
        const Stmt *s = loop->body->stmts.data[i];
        cells += s->kind == ST_GET || s->kind == ST_SET;
    }
    return model_adds(loop->body) && model_lanes(&p->m, loop->body, 1) * p->m.machine->lanes - cells < SUM;
}

// Has it loops but those of a few iterations, which are written out? What they keep in registers is what blocks are for.
static bool has_long_loop(const Planner *p, const Block *block) {
    enum { FEW = 8 };
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        int64_t n = FEW + 1;
        if (s->kind == ST_FOR && (!iter_literal(&p->m.it, s->args[0], &n) || n > FEW)) return true;
        if (has_long_loop(p, s->body) || has_long_loop(p, s->other)) return true;
    }
    return false;
}

// How long others wait for an operation, in square roots.
static int wait_for(const Planner *p, const Stmt *s) {
    if (s->kind != ST_OP || !iter_varies(&p->m.it, s->dst) || !kind_is_float(iter_info(&p->m.it, s->dst)->kind)) return 0;
    if (s->op == OP_sqrt || s->op == OP_div) return 1;
    return op_info[s->op].lanes && op_info[s->op].cost >= op_info[OP_exp].cost ? 2 : 0;
}

// Do functions, roots and quotients wait for what others give in the same iteration? Meanwhile there is time for other vectors.
static bool waits_in_turn(Planner *p, const Block *block) {
    int most = 0;
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        int n = 0;
        if (s->dst < 0 || s->kind == ST_SET) continue;
        for (int k = 0; k < s->nargs; k++)
            if (p->calls[s->args[k]] > n) n = p->calls[s->args[k]];
        n += wait_for(p, s);
        p->calls[s->dst] = n;
        if (n > most) most = n;
    }
    return most > 2;
}

// Has it roots or quotients, of which the unit may do those of one vector while others are approximated, and which are not little
// beside the rest? In multiplications.
static bool shares_unit(Planner *p, const Block *block) {
    enum { LITTLE = 2 };
    double unit = 0, rest = 0;
    for (int i = 0; p->m.shared && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        int wait = wait_for(p, s);
        bool float_op = s->kind == ST_OP && iter_varies(&p->m.it, s->dst) && kind_is_float(iter_info(&p->m.it, s->dst)->kind);
        if (wait == 1 && s->op == OP_sqrt) unit += UNIT_ROOT;
        else if (wait == 1 && iter_varies(&p->m.it, s->args[1])) unit += UNIT_QUOTIENT;
        else if (float_op) rest += wait == 2 ? VECTOR_CALL : 1;
    }
    return LITTLE * unit > rest;
}

static bool is_single(const Model *m, const Block *block, bool *some) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->buf && s->buf->kind == KIND_DOUBLE) return false;
        if (s->dst >= 0 && s->kind != ST_SET && iter_varies(&m->it, s->dst)) {
            Kind kind = iter_info(&m->it, s->dst)->kind;
            if (kind == KIND_DOUBLE) return false;
            *some |= kind == KIND_FLOAT;
        }
        if (!is_single(m, s->body, some) || !is_single(m, s->other, some)) return false;
    }
    return true;
}

bool model_is_single(const Model *m, const Block *block) {
    bool some = false;
    return is_single(m, block, &some) && some;
}

static bool has_written_out(const Planner *p, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_OP && lanes_written_out(s->op) && iter_info(&p->m.it, s->dst)->kind == KIND_DOUBLE &&
            iter_varies(&p->m.it, s->dst))
            return true;
        if (has_written_out(p, s->body) || has_written_out(p, s->other)) return true;
    }
    return false;
}

// Of a simple loop with vectors of four: two of them for each time that it is asked whether to go on; four where functions are
// written out, in which operations wait for each other.
static int side_by_side(Planner *p, const Stmt *loop, int needed) {
    bool calls = has_written_out(p, loop->body);
    int64_t trips;
    int n = calls ? 4 : 2;
    if (p->width != LANES_MASKED) return 1;
    while (n > 1 && !has_room(p, n, needed, calls)) n /= 2;
    while (n > 1 && iter_literal(&p->m.it, loop->args[0], &trips) && trips < n * p->width) n /= 2;
    return n;
}

// What lanes share, and the sums into what they share, is moved once for a block of several vectors, if they have room.
static int vectors(Planner *p, const Stmt *loop) {
    Wish *wish = stmt_wish(loop, WISH_block);
    const bool single = model_is_single(&p->m, loop->body);
    int best = 1, needed = pressure(p, loop->body, 0);
    int64_t trips;
    if (p->m.it.scans.len) return 1;
    if (single) needed = (needed + 1) / 2;
    bool many = p->m.depth == 0; // a block of a loop inside of others may be more than its iterations
    bool turns = many && waits_in_turn(p, loop->body), wait = many && !has_long_loop(p, loop->body);
    if (wish) {
        while (2 * best * p->width <= wish->number && best < MOST_VECTORS) best *= 2;
        if (best * p->width <= wish->number) wish_follow(wish);
        else wish_refuse(wish, "a vector has more lanes");
    } else if (p->m.it.added.len || has_loop(p, loop->body) || waits_for_sum(p, loop) || turns) {
        // For an element that is added to, a block takes a load, a store and an addition.
        const int most = many && loop->small && p->registers >= MANY_REGISTERS ? MOST_VECTORS
                         : map_get(&p->m.rows, loop)                           ? ROW_VECTORS
                                                                               : VECTORS;
        const bool known = iter_literal(&p->m.it, loop->args[0], &trips); // a block is no more than all iterations
        for (int n = 2; n <= most && (!known || trips > n / 2 * p->width); n *= 2)
            if (has_room(p, n, needed, wait)) best = n;
    }
    if (best == 1 && !wish && many && !has_loop(p, loop->body)) best = side_by_side(p, loop, needed);
    if (single && best == 1 && !wish) best = 2;
    if (best == 1 && !wish && shares_unit(p, loop->body)) best = has_room(p, 2, needed, true) ? 2 : 1;
    if (wish || best > 1) explain_block(p, loop, needed, wait, best, wish);
    return best;
}

// Is what the lanes add to a part of the array, which a loop around theirs chooses? Copies of all of it would be for nothing.
static bool adds_to_part(const Planner *p, const Stmt *add) {
    int64_t n;
    for (int k = 1; k < add->nargs; k++)
        if (p->m.it.made_in[add->args[k]] != p->m.it.stamp && !iter_literal(&p->m.it, add->args[k], &n)) return true;
    return false;
}

static void settle(Planner *p, Stmt *loop) {
    model_look(&p->m, loop);
    iter_settle_scans(&p->m.it);
    if (!loop->lanes) loop->lanes = vectors(p, loop);
    loop->in = ARENA_ARRAY(p->m.it.arena, Buf *, p->m.it.added.len + 1);
    for (int i = 0; i < p->m.it.added.len; i++) {
        int k = 0;
        if (adds_to_part(p, p->m.it.added.data[i])) continue;
        while (k < loop->nin && loop->in[k] != p->m.it.added.data[i]->buf) k++;
        if (k == loop->nin) loop->in[loop->nin++] = p->m.it.added.data[i]->buf;
    }
    for (int i = 0; i < p->m.it.tree->bufs.len; i++)
        if (iter_is_own(&p->m.it, p->m.it.tree->bufs.data[i])) p->m.it.tree->bufs.data[i]->lanes = loop->lanes;
}

// Which loops have lanes because attributes say so. Their iterations must be independent, and those of no other around.
void model_hear(Model *m, const Block *block, bool inside) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        Wish *lane = s->kind == ST_FOR ? stmt_wish(s, WISH_lane) : NULL;
        int64_t n = 2;
        if (lane) {
            bool apart = iter_look(&m->it, s, true);
            iter_forget(&m->it);
            if (iter_literal(&m->it, s->args[0], &n) && n < 2) lane = (wish_refuse(lane, "it is no loop"), NULL);
            else if (stmt_wish(s, WISH_sequential)) lane = (wish_refuse(lane, "`#[sequential]` says otherwise"), NULL);
            else if (inside) lane = (wish_refuse(lane, "a loop around it has lanes"), NULL);
            else if (!apart) lane = (wish_refuse(lane, "an iteration may need what others change"), NULL);
        }
        if (lane) map_put(&m->wished, s, s), wish_follow(lane);
        model_hear(m, s->body, inside || lane);
        model_hear(m, s->other, inside || lane);
    }
}

static void choose(Planner *p, Block *block, bool chained);

static void choose_inside(Planner *p, Stmt *s) {
    bool chained = s->kind == ST_LOOP;
    if (s->kind == ST_FOR) chained = !iter_look(&p->m.it, s, false), iter_forget(&p->m.it);
    p->m.depth++;
    choose(p, s->body, chained);
    p->m.depth--;
}

// chained: the iterations of the loop around run one after the other.
static void choose(Planner *p, Block *block, bool chained) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        bool lanes = s->lanes; // of a tile
        p->m.chained = chained;
        if (s->kind == ST_FOR && !lanes) model_best(&p->m, s, &lanes), lanes = lanes && tree_step(p->m.it.tree, s);
        if (lanes) {
            settle(p, s);
        } else if (s->kind == ST_FOR || s->kind == ST_LOOP) {
            choose_inside(p, s);
        } else {
            choose(p, s->body, chained);
            choose(p, s->other, chained);
        }
    }
}

void model_begin(Model *m, Arena *arena, Tree *tree, const LoopOptions *opt) {
    *m = (Model){.machine = opt->machine,
                 .always = opt->always,
                 .roots = opt->roots,
                 .shared = opt->shared,
                 .gathers = opt->gathers,
                 .masks = opt->width >= LANES_MASKED,
                 .mask_registers = opt->width > LANES_MASKED};
    iter_init(&m->it, arena, tree, opt->precise);
    m->it.fast = opt->fast;
    model_find_windows(m);
}

void model_end(Model *m) {
    map_free(&m->wished), map_free(&m->rows), map_free(&m->windows), map_free(&m->rests);
    vec_free(&m->inner), vec_free(&m->taken);
    iter_free(&m->it);
}

void loops_lanes(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Planner p = {.width = opt->width, .registers = opt->machine->registers ? (int)opt->machine->registers : opt->registers};
    model_begin(&p.m, arena, tree, opt);
    model_hear(&p.m, tree->body, false);
    p.last = ARENA_ARRAY(arena, int, tree->temps.len + 1);
    p.calls = ARENA_ARRAY(arena, int, tree->temps.len + 1);
    choose(&p, tree->body, false);
    model_end(&p.m);
}
