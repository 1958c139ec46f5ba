// Loops that take long because each iteration waits for the one before, as the steps of a differential equation: of a product of
// three factors the one that is there last is multiplied last, if all that the next iteration waits for is there earlier then. This
// is done with --fp=fast, for loops that have no lanes, and where there is time for one operation more.
#include "lower/internal.h"
#include "lower/loop_passes.h"

enum { MULTIPLY = 4, ADD = 3, UNIT = 14, ROOT = 20, FUNCTION = 40, OTHER = 1 }; // cycles
enum { LONGEST = 2000, ROUNDS = 16, SPARE = 4096, NEVER = INT32_MIN / 2 };

typedef struct Heights {
    Arena *arena;
    Tree *tree;
    Block *body;
    Stmt **def;  // by temp: what makes it in the body, or NULL
    int *uses;   // in the body
    bool *waits; // for what the iteration before has left
    int *there;  // in cycles after the iteration's start; 0 if it does not wait
    int *rest;   // how long it takes from then until what the next iteration waits for is there; NEVER: that does not wait for it
    int room;    // for so many temps
} Heights;

static bool is_float(const Heights *h, const Stmt *s) { return s->dst >= 0 && kind_is_float(h->tree->temps.data[s->dst].kind); }
static bool is_product(const Heights *h, const Stmt *s) { return s && s->kind == ST_OP && s->op == OP_mul && is_float(h, s); }

static int cycles(const Heights *h, const Stmt *s) {
    if (s->kind == ST_GET || s->kind == ST_LIT || s->kind == ST_SET) return 0;
    if (s->kind != ST_OP || !is_float(h, s)) return OTHER;
    switch (s->op) {
    case OP_mul: return MULTIPLY;
    case OP_add:
    case OP_sub: return ADD;
    case OP_div: return UNIT;
    case OP_sqrt: return ROOT;
    default: return op_info[s->op].cost >= op_info[OP_exp].cost ? FUNCTION : OTHER;
    }
}

// The product that the processor does as one with the sum s: which of its arguments it is, or -1.
static int multiplied(const Heights *h, const Stmt *s) {
    int which = -1;
    if (s->kind != ST_OP || (s->op != OP_add && s->op != OP_sub) || !is_float(h, s)) return -1;
    for (int k = 0; k < 2; k++)
        if (is_product(h, h->def[s->args[k]]) && h->uses[s->args[k]] == 1 &&
            (which < 0 || h->there[s->args[k]] > h->there[s->args[which]]))
            which = k;
    return which;
}

// From when its k-th argument is there until s is.
static int takes(const Heights *h, const Stmt *s, int k) {
    int with = multiplied(h, s);
    return with < 0 ? cycles(h, s) : k == with ? 0 : MULTIPLY;
}

// Is it a cell that an iteration finds as the one before has left it?
static bool is_carried(const Heights *h, Temp cell) {
    for (int i = 0; i < h->body->stmts.len; i++) {
        const Stmt *s = h->body->stmts.data[i];
        if (s->kind == ST_GET && s->args[0] == cell) return true;
        if ((s->kind == ST_SET || s->kind == ST_CELL) && s->dst == cell) return false;
    }
    return false;
}

static void forget_temp(Heights *h, Temp t) {
    h->def[t] = NULL, h->uses[t] = 0, h->waits[t] = false, h->there[t] = 0, h->rest[t] = NEVER;
}
static void forget(Heights *h) {
    for (int i = 0; i < h->body->stmts.len; i++) {
        const Stmt *s = h->body->stmts.data[i];
        if (s->dst >= 0) forget_temp(h, s->dst);
        for (int k = 0; k < s->nargs; k++) forget_temp(h, s->args[k]);
    }
}

// Fills `there` and `rest`; how long the next iteration waits.
static int measure(Heights *h) {
    const Block *body = h->body;
    int all = 0;
    forget(h);
    for (int i = 0; i < body->stmts.len; i++) {
        Stmt *s = body->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) h->def[s->dst] = s;
        for (int k = 0; k < s->nargs; k++) h->uses[s->args[k]]++;
    }
    for (int i = 0; i < body->stmts.len; i++) {
        const Stmt *s = body->stmts.data[i];
        if (s->dst < 0) continue;
        int at = s->kind == ST_GET ? h->there[s->args[0]] : 0; // of a cell: when what it was set to is there
        bool waits = s->kind == ST_GET && (h->waits[s->args[0]] || is_carried(h, s->args[0]));
        for (int k = 0; k < s->nargs && s->kind != ST_GET; k++) {
            waits |= h->waits[s->args[k]];
            if (h->there[s->args[k]] + takes(h, s, k) > at) at = h->there[s->args[k]] + takes(h, s, k);
        }
        h->waits[s->dst] = waits;
        h->there[s->dst] = waits ? at : 0;
    }
    for (int i = body->stmts.len - 1; i >= 0; i--) {
        const Stmt *s = body->stmts.data[i];
        if (s->kind == ST_SET && is_carried(h, s->dst)) {
            if (h->there[s->dst] > all) all = h->there[s->dst];
            if (h->rest[s->args[0]] < 0) h->rest[s->args[0]] = 0;
        }
        if (s->dst < 0 || s->kind == ST_SET || s->kind == ST_GET || h->rest[s->dst] == NEVER) continue;
        for (int k = 0; k < s->nargs; k++)
            if (h->rest[s->dst] + takes(h, s, k) > h->rest[s->args[k]]) h->rest[s->args[k]] = h->rest[s->dst] + takes(h, s, k);
    }
    return all;
}

// Has the body nothing but operations, and is it not long?
static bool is_simple(const Heights *h) {
    for (int i = 0; i < h->body->stmts.len; i++) {
        const Stmt *s = h->body->stmts.data[i];
        if (s->body || s->other || s->kind == ST_BREAK || stmt_calls(s)) return false;
    }
    return h->body->stmts.len <= LONGEST;
}

// Of floating-point numbers, where a product and a sum that go together are one.
static int operations(const Heights *h) {
    int n = 0;
    for (int i = 0; i < h->body->stmts.len; i++) {
        const Stmt *s = h->body->stmts.data[i];
        n += s->kind == ST_OP && is_float(h, s) && multiplied(h, s) < 0;
    }
    return n;
}

// The factor `last` of the product p in d = p * q is there last: d = (u * q) * last. Which of p's factors it is, or -1.
static int comes_last(const Heights *h, const Stmt *d, int of) {
    const Stmt *p = h->def[d->args[of]];
    Temp q = d->args[1 - of];
    if (!is_product(h, p)) return -1;
    int last = h->there[p->args[1]] > h->there[p->args[0]];
    Temp u = p->args[1 - last], v = p->args[last];
    int both = h->there[u] > h->there[q] ? h->there[u] : h->there[q];
    int then = (both + MULTIPLY > h->there[v] ? both + MULTIPLY : h->there[v]) + MULTIPLY;
    return then < h->there[d->dst] ? last : -1;
}

// Turns the products that all waits for; how many.
static int turn(Heights *h, int all) {
    int n = 0;
    for (int i = 0; i < h->body->stmts.len; i++) {
        Stmt *d = h->body->stmts.data[i];
        if (!is_product(h, d) || h->there[d->dst] + h->rest[d->dst] < all) continue;
        int of = h->there[d->args[1]] > h->there[d->args[0]], last = comes_last(h, d, of);
        if (last < 0 || h->tree->temps.len >= h->room) continue;
        const Stmt *p = h->def[d->args[of]];
        Temp first[] = {p->args[1 - last], d->args[1 - of]}, w = h->tree->temps.len;
        vec_push(&h->tree->temps, ((TempInfo){.kind = h->tree->temps.data[d->dst].kind}));
        Stmt *product = tree_stmt(h->arena, ST_OP, w, 2, first, d->span),
             *now = tree_stmt(h->arena, ST_OP, d->dst, 2, (Temp[]){p->args[last], w}, d->span);
        product->op = now->op = OP_mul;
        product->kept = true;
        h->body->stmts.data[i] = now;
        block_insert(h->body, i++, product);
        n++;
    }
    return n;
}

static void shorten(Heights *h, Stmt *loop) {
    h->body = loop->body;
    if (!is_simple(h) || !tree_step(h->tree, loop)) return;
    int all = measure(h);
    for (int round = 0; round < ROUNDS && all > 0; round++) {
        const int n = h->body->stmts.len;
        Stmt **before = ARENA_ARRAY(h->arena, Stmt *, n + 1);
        memcpy(before, h->body->stmts.data, sizeof(Stmt *) * (size_t)n);
        int turned = turn(h, all), now = turned ? measure(h) : all;
        if (turned && now < all && 2 * operations(h) <= 3 * now) {
            all = now;
            continue;
        }
        forget(h);
        memcpy(h->body->stmts.data, before, sizeof(Stmt *) * (size_t)n);
        h->body->stmts.len = n;
        break;
    }
    forget(h);
}

static void look(Heights *h, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_FOR && (s->lanes || s->rows)) continue;
        if (s->kind == ST_FOR) shorten(h, s);
        look(h, s->body);
        look(h, s->other);
    }
}

void loops_heights(Arena *arena, Tree *tree, const LoopOptions *opt) {
    (void)opt;
    const int room = tree->temps.len + SPARE;
    Heights h = {.arena = arena, .tree = tree, .room = room};
    h.def = ARENA_ARRAY(arena, Stmt *, room);
    h.uses = ARENA_ARRAY(arena, int, room);
    h.waits = ARENA_ARRAY(arena, bool, room);
    h.there = ARENA_ARRAY(arena, int, room);
    h.rest = ARENA_ARRAY(arena, int, room);
    look(&h, tree->body);
}
