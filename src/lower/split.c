// Divides a loop with loops inside, which have the lanes, and dear scalar work beside them, which would be done one by one:
// the scalar work gets a loop of its own, and lanes. What it needs of the first waits in arrays, a block of iterations at a
// time, so that these stay in the cache.
//
//     for i < n { s = sum over j; y[i] = exp(s) }   becomes   for b { for i in b { t[i - b] = sum over j }
//                                                                     for i in b { y[i] = exp(t[i - b]) } }
#include "lower/cost.h"
#include "lower/effects.h"
#include "lower/loop_passes.h"

enum { BLOCK = 64, MOST_WAITING = 16 };

typedef struct Waiting { // made in the first half, needed in the second
    Temp temp;
    Buf *buf;
} Waiting;

typedef struct Place {
    Block *block; // with the loop in it
    Stmt *loop;
    bool lanes; // it has lanes itself, if rows are short
} Place;

typedef struct Splitter {
    Model *m;
    Tree *tree;
    Arena *arena;
    VEC(Place) found;
    bool any;
    // Of the loop that is looked at:
    Stmt *loop;
    int n;       // statements of its body
    bool *early; // by statement: in the first half
    Effects *of; // by statement
    VEC(Waiting) waiting;
    VEC(Stmt *) again; // cheap and needed by both
} Splitter;

static Temp fresh(Splitter *z, TempInfo like) {
    like.varies = false, like.step = 0;
    vec_push(&z->tree->temps, like);
    return z->tree->temps.len - 1;
}

static Temp put(Splitter *z, Block *to, StmtKind kind, Op op, int n, const Temp *args, TempInfo like) {
    Stmt *s = tree_stmt(z->arena, kind, fresh(z, like), n, args, z->loop->span);
    s->op = op;
    vec_push(&to->stmts, s);
    return s->dst;
}

static Temp put_int(Splitter *z, Block *to, Op op, Temp a, Temp b) {
    return put(z, to, ST_OP, op, 2, (Temp[]){a, b}, (TempInfo){.kind = KIND_INT});
}

static Temp put_literal(Splitter *z, Block *to, int64_t value) {
    Temp t = put(z, to, ST_LIT, 0, 0, NULL, (TempInfo){.kind = KIND_INT});
    vec_last(&to->stmts)->u.num = value;
    return t;
}

// ---- what goes where

static bool is_own(const Splitter *z, const Buf *b) { return b->home == z->loop->body; }

static bool share_own(const Splitter *z, const Effects *a, const Effects *b) {
    for (int i = 0; i < a->access.len; i++)
        for (int k = 0; k < b->access.len; k++)
            if (a->access.data[i].buf == b->access.data[k].buf && is_own(z, a->access.data[i].buf)) return true;
    return false;
}

// Loops, what fails, and what these need; and what uses cells or arrays of an iteration that they use.
static bool must_be_early(const Splitter *z, int i) {
    Stmt **s = z->loop->body->stmts.data;
    Block one = {{s + i, 1, 1}};
    if (!nest_is_flat(&one) || z->of[i].stops) return true;
    for (int j = 0; j < z->n; j++) {
        if (!z->early[j]) continue;
        if (j > i && effects_conflict(s[i], &z->of[i], s[j], &z->of[j])) return true;
        if (effects_share_cells(&z->of[j], &z->of[i]) || share_own(z, &z->of[j], &z->of[i])) return true;
    }
    return false;
}

static int maker(const Splitter *z, Temp t) {
    for (int i = 0; i < z->n; i++)
        if (z->loop->body->stmts.data[i]->dst == t) return i;
    return -1;
}

static int late_uses(const Splitter *z, Temp t) {
    int n = 0;
    for (int i = 0; i < z->n; i++)
        for (int k = 0; k < z->of[i].uses.len && !z->early[i]; k++) n += z->of[i].uses.data[k] == t;
    return n;
}

// Is it one operation on two values of the first half that nothing else needs? Then one value waits, and not two.
static bool joins(const Splitter *z, const Stmt *s) {
    if (s->kind != ST_OP || s->nargs != 2 || op_info[s->op].cost >= op_info[OP_exp].cost) return false;
    for (int k = 0; k < 2; k++) {
        int i = maker(z, s->args[k]);
        if (i < 0 || !z->early[i] || z->loop->body->stmts.data[i]->kind == ST_LIT || late_uses(z, s->args[k]) != 1) return false;
    }
    return true;
}

// Is there a loop in the first half, and dear work in the second?
static bool divide(Splitter *z) {
    bool loops = false, dear = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < z->n; i++)
            if (!z->early[i] && must_be_early(z, i)) z->early[i] = changed = true;
    }
    for (int i = 0; i < z->n; i++)
        if (!z->early[i] && joins(z, z->loop->body->stmts.data[i])) z->early[i] = true;
    for (int i = 0; i < z->n; i++) {
        Block one = {{&z->loop->body->stmts.data[i], 1, 1}};
        loops |= z->early[i] && block_has_for(&one);
        dear |= !z->early[i] && nest_is_dear(&one);
    }
    return loops && dear;
}

static void repeat(Splitter *z, Stmt *s) {
    for (int i = 0; i < z->again.len; i++)
        if (z->again.data[i] == s) return;
    vec_push(&z->again, s);
}

// The second half needs t: it makes it again, if that takes no more than an index does, or the value waits.
static bool need(Splitter *z, Temp t) {
    int i = maker(z, t);
    if (i < 0 || !z->early[i]) return true;
    Stmt *s = z->loop->body->stmts.data[i];
    Kind kind = z->tree->temps.data[t].kind;
    if (s->kind == ST_FOR || s->kind == ST_CELL || s->kind == ST_SET) return true;
    if (s->kind == ST_LIT || (s->kind == ST_OP && kind == KIND_INT && op_info[s->op].cost <= 1)) {
        for (int k = 0; k < s->nargs; k++)
            if (!need(z, s->args[k])) return false;
        repeat(z, s);
        return true;
    }
    for (int k = 0; k < z->waiting.len; k++)
        if (z->waiting.data[k].temp == t) return true;
    vec_push(&z->waiting, ((Waiting){.temp = t}));
    return z->waiting.len <= MOST_WAITING && (kind == KIND_DOUBLE || kind == KIND_FLOAT || kind == KIND_INT);
}

static bool settle_needs(Splitter *z) {
    for (int i = 0; i < z->n; i++)
        for (int k = 0; k < z->of[i].uses.len && !z->early[i]; k++)
            if (!need(z, z->of[i].uses.data[k])) return false;
    return true;
}

// ---- the two loops

static Stmt *put_loop(Splitter *z, Block *to, Temp count) {
    Stmt *s = tree_stmt(z->arena, ST_FOR, fresh(z, z->tree->temps.data[z->loop->dst]), 1, &count, z->loop->span);
    s->body = ARENA_NEW(z->arena, Block);
    vec_push(&to->stmts, s);
    return s;
}

// The index of the loop that is divided, where i counts the iterations of a block.
static Temp put_index(Splitter *z, Stmt *half, Temp low) {
    TempInfo like = z->tree->temps.data[z->loop->dst];
    return low < 0 ? half->dst : put(z, half->body, ST_OP, OP_add, 2, (Temp[]){low, half->dst}, like);
}

static void fill_first(Splitter *z, Stmt *half, Temp low) {
    Temp at = put_index(z, half, low);
    Block *body = half->body;
    for (int i = 0; i < z->n; i++) {
        Stmt *s = z->loop->body->stmts.data[i];
        if (!z->early[i]) continue;
        if (s->kind == ST_NEW) s->buf->home = body;
        vec_push(&body->stmts, s);
    }
    for (int k = 0; k < z->waiting.len; k++) {
        Stmt *store = tree_stmt(z->arena, ST_STORE, -1, 2, (Temp[]){z->waiting.data[k].temp, half->dst}, z->loop->span);
        store->buf = z->waiting.data[k].buf;
        vec_push(&body->stmts, store);
    }
    block_rename(body, z->loop->dst, at);
}

static void fill_second(Splitter *z, Stmt *half, Temp low) {
    Temp at = put_index(z, half, low);
    Block *body = half->body;
    int begin = body->stmts.len;
    for (int i = 0; i < z->n; i++)
        if (!z->early[i]) vec_push(&body->stmts, z->loop->body->stmts.data[i]);
    for (int k = z->again.len; k-- > 0;) {
        Stmt *copy = arena_copy(z->arena, z->again.data[k], sizeof *copy);
        copy->args = arena_copy(z->arena, copy->args, sizeof(Temp) * (size_t)copy->nargs);
        copy->dst = fresh(z, z->tree->temps.data[copy->dst]);
        block_insert(body, begin, copy);
        block_rename(body, z->again.data[k]->dst, copy->dst);
    }
    // what is made again may need what waits
    for (int k = z->waiting.len; k-- > 0;) {
        const Waiting *w = &z->waiting.data[k];
        Stmt *load = tree_stmt(z->arena, ST_LOAD, fresh(z, z->tree->temps.data[w->temp]), 1, &half->dst, z->loop->span);
        load->buf = w->buf;
        block_insert(body, begin, load);
        block_rename(body, w->temp, load->dst);
    }
    block_rename(body, z->loop->dst, at);
}

// Where the values wait, which are new in the block: so many each.
static void put_bufs(Splitter *z, Block *to, Temp extent) {
    for (int k = 0; k < z->waiting.len; k++) {
        const TempInfo *t = &z->tree->temps.data[z->waiting.data[k].temp];
        Buf *b = ARENA_NEW(z->arena, Buf);
        *b = (Buf){.id = z->tree->bufs.len, .where = BUF_TEMP, .kind = t->kind, .rank = 1, .home = to, .name = t->name};
        b->extent = arena_copy(z->arena, &extent, sizeof extent);
        vec_push(&z->tree->bufs, b);
        Stmt *s = tree_stmt(z->arena, ST_NEW, -1, 0, NULL, z->loop->span);
        s->buf = z->waiting.data[k].buf = b;
        vec_push(&to->stmts, s);
    }
}

// The statements that take the place of the loop.
static void build(Splitter *z, Block *to) {
    Temp count = z->loop->args[0], low = -1;
    int64_t known;
    bool whole = iter_literal(&z->m->it, count, &known) && known <= BLOCK;
    Temp size = put_literal(z, to, whole ? known : BLOCK);
    if (!whole) {
        Temp up = put_int(z, to, OP_add, count, put_literal(z, to, BLOCK - 1));
        Stmt *blocks = put_loop(z, to, put_int(z, to, OP_idiv, up, size));
        to = blocks->body;
        low = put_int(z, to, OP_mul, blocks->dst, size);
        count = put_int(z, to, OP_min, put_int(z, to, OP_sub, count, low), size);
    }
    put_bufs(z, to, size);
    Stmt *first = put_loop(z, to, count), *second = put_loop(z, to, count);
    fill_second(z, second, low); // which copies from what the first takes as it is
    fill_first(z, first, low);
}

static void replace(Block *block, int at, Block *by) {
    block->stmts.data[at] = by->stmts.data[0];
    for (int i = 1; i < by->stmts.len; i++) block_insert(block, at + i, by->stmts.data[i]);
    vec_free(&by->stmts);
}

enum { MOST_LENGTHS = 8 };

// Does the loop inside of another go along a row for each of its iterations? *again: and not for the first time
static bool goes_over_row(Stmt *loop, Stmt *over, bool *again) {
    bool rows = false, seen;
    *again = true;
    for (int k = 0; over->kind == ST_FOR && k < over->body->stmts.len; k++) {
        const Stmt *load = over->body->stmts.data[k];
        if (load->kind != ST_LOAD || lanes_row(loop, 1, &over, load, &seen) < 0) continue;
        rows = true, *again &= seen;
    }
    return rows;
}

// Up to how many elements such rows are short: fewer if they are only added up, which has lanes of its own then.
static int64_t most_of_short_row(const Splitter *z, Stmt *loop) {
    bool again;
    for (int i = 0; i < loop->body->stmts.len; i++) {
        Stmt *over = loop->body->stmts.data[i];
        if (goes_over_row(loop, over, &again) && !map_get(&z->m->rows, over)) return (int64_t)z->m->machine->long_row;
    }
    return (int64_t)z->m->machine->sum_row;
}

// The lengths of rows that loops inside go over, once, and that may be longer than the limit. 0: some are; -1: it cannot be said of
// all.
static int row_lengths(const Splitter *z, Stmt *loop, int64_t limit, Temp *length) {
    int n = 0;
    for (int i = 0; i < loop->body->stmts.len; i++) {
        Stmt *over = loop->body->stmts.data[i];
        if (over->kind != ST_FOR && (block_has_for(over->body) || block_has_for(over->other))) return -1;
        if (over->kind == ST_FOR && block_has_for(over->body)) return -1;
        bool again, seen = false;
        int64_t known;
        if (!goes_over_row(loop, over, &again)) continue;
        if (iter_literal(&z->m->it, over->args[0], &known)) {
            if (known > limit) return 0;
            continue;
        }
        for (int k = 0; k < n; k++) seen |= length[k] == over->args[0];
        if (seen) continue;
        if (n == MOST_LENGTHS) return -1;
        length[n++] = over->args[0];
    }
    return n;
}

// if all rows are short { the loop as it was } else { its halves }, in the place of these.
static void choose_by_length(Splitter *z, Stmt *whole, Block *by, int64_t most, int n, const Temp *length) {
    Block all = {0};
    Temp limit = put_literal(z, &all, most), are_short = -1;
    for (int k = 0; k < n; k++) {
        Temp is = put(z, &all, ST_OP, OP_le, 2, (Temp[]){length[k], limit}, (TempInfo){.kind = KIND_BOOL});
        are_short = k ? put(z, &all, ST_OP, OP_and, 2, (Temp[]){are_short, is}, (TempInfo){.kind = KIND_BOOL}) : is;
    }
    Stmt *branch = tree_stmt(z->arena, ST_IF, -1, 1, &are_short, z->loop->span);
    branch->body = ARENA_NEW(z->arena, Block), branch->other = arena_copy(z->arena, by, sizeof *by);
    whole->short_rows = true;
    vec_push(&branch->body->stmts, whole);
    vec_push(&all.stmts, branch);
    *by = all;
}

static void split(Splitter *z, Block *block, int at, bool lanes) {
    const char *name = z->tree->temps.data[block->stmts.data[at]->dst].name;
    z->loop = block->stmts.data[at], z->n = z->loop->body->stmts.len;
    z->early = ARENA_ARRAY(z->arena, bool, z->n + 1), z->of = ARENA_ARRAY(z->arena, Effects, z->n + 1);
    z->waiting.len = z->again.len = 0;
    Temp length[MOST_LENGTHS];
    const int64_t most = most_of_short_row(z, z->loop);
    int n = lanes ? row_lengths(z, z->loop, most, length) : 0;
    for (int i = 0; i < z->n; i++) effects_add(&z->of[i], z->loop->body->stmts.data[i]);
    if (n >= 0 && divide(z) && settle_needs(z)) {
        Block by = {0};
        explain(z->tree->func->ir->explain, EXPLAIN_SCHEDULE, z->loop->span,
                "loop over `%s`: what is beside the loops inside has a loop of its own, for lanes%s", name ? name : "i",
                n ? ", where rows are long" : "");
        Stmt *whole = n ? tree_clone(z->arena, z->tree, z->loop) : NULL;
        build(z, &by);
        if (n) choose_by_length(z, whole, &by, most, n, length);
        replace(block, at, &by);
        z->any = true;
    }
    for (int i = 0; i < z->n; i++) effects_free(&z->of[i]);
}

static bool may_split(Splitter *z, Stmt *loop) {
    int64_t n;
    if (loop->wishes || loop->nargs != 1 || !block_has_for(loop->body)) return false;
    if (iter_literal(&z->m->it, loop->args[0], &n) && n < z->m->machine->lanes) return false;
    bool apart = iter_look(&z->m->it, loop, false);
    iter_forget(&z->m->it);
    return apart;
}

// Do loops inside go over rows, once, that may be long? Then the loop has lanes only where they are short (stage.c), and its
// scalar work should have them in any case: an outermost loop is both, and a call decides.
static bool has_rows(const Splitter *z, Stmt *loop) {
    for (int i = 0; i < loop->body->stmts.len; i++) {
        Stmt *over = loop->body->stmts.data[i];
        bool again;
        int64_t n;
        if (!goes_over_row(loop, over, &again) || again || block_has_for(over->body)) continue;
        if (!iter_literal(&z->m->it, over->args[0], &n) || n > most_of_short_row(z, loop)) return true;
    }
    return false;
}

// Loops that have no lanes themselves, or not always, those inside first.
static void find(Splitter *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        bool lanes = false, loop = s->kind == ST_FOR || s->kind == ST_LOOP;
        if (s->kind == ST_FOR) model_best(z->m, s, &lanes);
        if (lanes && may_split(z, s) && has_rows(z, s)) vec_push(&z->found, ((Place){block, s, !z->m->depth}));
        if (lanes) continue;
        z->m->depth += loop;
        find(z, s->body);
        find(z, s->other);
        z->m->depth -= loop;
        if (s->kind == ST_FOR && may_split(z, s)) vec_push(&z->found, ((Place){block, s, false}));
    }
}

void loops_divide(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Model m;
    model_begin(&m, arena, tree, opt);
    m.silent = true;
    model_hear(&m, tree->body, false);
    Splitter z = {.m = &m, .tree = tree, .arena = arena};
    find(&z, z.tree->body);
    for (int i = 0; i < z.found.len; i++) {
        const Place *p = &z.found.data[i];
        int at = 0;
        while (p->block->stmts.data[at] != p->loop) at++;
        if (tree_step(tree, p->loop)) split(&z, p->block, at, p->lanes);
    }
    vec_free(&z.found);
    vec_free(&z.waiting);
    vec_free(&z.again);
    model_end(&m);
}
