// Arrays whose rows have no elements may have any number of rows, 2^62 of them: they take no memory. A nest over such
// an array is not to count through the rows. So back ends and the executor ask before a loop whether its iterations can
// do anything: whether a statement with an effect stands in no loop inside, or in one that has iterations as far as
// that is known before. A sum that adds only what such loops have added up, which is 0 then, has no effect either.
#include "lower/idle.h"

#include "support/map.h"

#include <math.h>

typedef struct Nest {
    Arena *arena;
    const Tree *tree;
    Stmt *const *def;
    const Stmt *s;
    Map made; // temps and arrays that come into being in its body; empty until somebody asks
    bool noted;
    int left; // how much more is looked at of values
} Nest;

enum { MOST_LOOKS = 200 };

static const Works never = {.kind = WORKS_NEVER}, always = {.kind = WORKS_ALWAYS};

static void note_arrays(Map *made, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (s->kind == ST_NEW) map_put(made, s->buf, s);
        note_arrays(made, s->body), note_arrays(made, s->other);
    }
}

static bool is_inside(Nest *n, const void *key) {
    if (!n->noted) {
        block_note_made(&n->made, n->s->body);
        note_arrays(&n->made, n->s->body);
        n->noted = true;
    }
    return map_get(&n->made, key) != NULL;
}

static bool made_inside(Nest *n, Temp t) { return t == n->s->dst || is_inside(n, (const void *)((intptr_t)t + 1)); }

static const Works *join(Nest *n, WorksKind kind, const Works *a, const Works *b) {
    const bool both = kind == WORKS_BOTH;
    const WorksKind decides = both ? WORKS_NEVER : WORKS_ALWAYS, adds_none = both ? WORKS_ALWAYS : WORKS_NEVER;
    if (a->kind == decides || b->kind == adds_none) return a;
    if (b->kind == decides || a->kind == adds_none) return b;
    Works *w = ARENA_NEW(n->arena, Works);
    *w = (Works){.kind = kind, .left = a, .right = b};
    return w;
}

// ---- values that are 0

static const Works *nonzero(Nest *n, Temp t);

// What the cell is set to, in the block.
static const Works *set_in(Nest *n, const Block *b, Temp cell);

static const Works *either_nonzero(Nest *n, Temp a, Temp b) {
    return join(n, WORKS_EITHER, nonzero(n, a), nonzero(n, b));
}

static const Works *nonzero_operation(Nest *n, const Stmt *s) {
    const bool whole = n->tree->temps.data[s->dst].kind == KIND_INT;
    switch (s->op) {
    case OP_add: return either_nonzero(n, s->args[0], s->args[1]);
    case OP_sub:
    case OP_min:
    case OP_max: return whole ? either_nonzero(n, s->args[0], s->args[1]) : &always;
    case OP_mul: return whole ? join(n, WORKS_BOTH, nonzero(n, s->args[0]), nonzero(n, s->args[1])) : &always;
    case OP_idiv:
    case OP_irem: return nonzero(n, s->args[0]);
    default: return &always;
    }
}

// Where this is not 0 in some iteration, or -0.
static const Works *nonzero(Nest *n, Temp t) {
    const Stmt *s = n->def[t];
    if (!s || n->left-- <= 0) return &always;
    if (s->kind == ST_LIT) return s->u.num || s->u.real != 0 || signbit(s->u.real) ? &always : &never;
    if (!made_inside(n, t)) {
        if (n->tree->temps.data[t].kind != KIND_INT || n->tree->temps.data[t].cell) return &always;
        Works *w = ARENA_NEW(n->arena, Works);
        *w = (Works){.kind = WORKS_NONZERO, .extent = t};
        return w;
    }
    switch (s->kind) {
    case ST_OP: return nonzero_operation(n, s);
    case ST_CONV: return nonzero(n, s->args[0]);
    case ST_SELECT: return either_nonzero(n, s->args[1], s->args[2]);
    case ST_GET: {
        const Temp cell = s->args[0];
        if (!made_inside(n, cell)) return &always;
        return join(n, WORKS_EITHER, nonzero(n, n->def[cell]->args[0]), set_in(n, n->s->body, cell));
    }
    default: return &always;
    }
}

// ---- effects

static const Works *runs(Nest *n, const Stmt *loop) {
    return loop->nargs > 1 ? either_nonzero(n, loop->args[0], loop->args[1]) : nonzero(n, loop->args[0]);
}

static const Works *set_in(Nest *n, const Block *b, Temp cell) {
    const Works *w = &never;
    for (int i = 0; b && i < b->stmts.len && w->kind != WORKS_ALWAYS; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_SET && s->dst == cell) return &always;
        if (!s->body) continue;
        const Works *in = join(n, WORKS_EITHER, set_in(n, s->body, cell), set_in(n, s->other, cell));
        if (s->kind == ST_FOR && in->kind != WORKS_NEVER) in = join(n, WORKS_BOTH, runs(n, s), in);
        w = join(n, WORKS_EITHER, w, in);
    }
    return w;
}

// What an ST_SET adds to its cell; -1 if it does something else.
static Temp added(const Nest *n, const Stmt *set) {
    const Stmt *sum = n->def[set->args[0]];
    for (int k = 0; sum && sum->kind == ST_OP && sum->op == OP_add && k < 2; k++) {
        const Stmt *old = n->def[sum->args[k]];
        if (old && old->kind == ST_GET && old->args[0] == set->dst) return sum->args[1 - k];
    }
    return -1;
}

static bool only_adds(const Nest *n, const Block *b, Temp cell) {
    bool only = true;
    for (int i = 0; b && i < b->stmts.len && only; i++) {
        const Stmt *s = b->stmts.data[i];
        only = (s->kind != ST_SET || s->dst != cell || added(n, s) >= 0) && only_adds(n, s->body, cell) &&
               only_adds(n, s->other, cell);
    }
    return only;
}

// Of a cell outside of the loop. One that was 0 and to which all that is ever done is to add does not become -0, which
// adding 0 changes.
static const Works *of_set(Nest *n, const Stmt *s) {
    const Temp what = added(n, s);
    if (what < 0) return &always;
    const Works *w = nonzero(n, what);
    if (w->kind == WORKS_ALWAYS || n->tree->temps.data[s->dst].kind == KIND_INT) return w;
    const Stmt *cell = n->def[s->dst], *first = cell && cell->kind == ST_CELL ? n->def[cell->args[0]] : NULL;
    const bool zero = first && first->kind == ST_LIT && first->u.real == 0 && !signbit(first->u.real);
    return zero && only_adds(n, n->tree->body, s->dst) ? w : &always;
}

// Where the array has elements.
static const Works *if_elements(Nest *n, const Buf *b) {
    const Works *w = &always;
    for (int k = 0; k < b->rank; k++) w = join(n, WORKS_BOTH, w, nonzero(n, b->extent[k]));
    return w;
}

static const Works *of_block(Nest *n, const Block *b);

// Where a condition holds, as far as that is known: that there are elements, 0 < n, does not where n is 0.
static const Works *holds(Nest *n, Temp cond) {
    const Stmt *s = n->def[cond];
    if (!s || s->kind != ST_OP || s->op != OP_lt) return &always;
    return nonzero(n, s->args[0])->kind == WORKS_NEVER ? nonzero(n, s->args[1]) : &always;
}

static const Works *of_stmt(Nest *n, const Stmt *s) {
    switch (s->kind) {
    case ST_SET: return made_inside(n, s->dst) ? &never : of_set(n, s);
    case ST_STORE:
    case ST_ADDTO: return is_inside(n, s->buf) ? &never : &always;
    case ST_FILL:
    case ST_COPY: return is_inside(n, s->buf) ? &never : if_elements(n, s->buf);
    case ST_FOR: {
        const Works *body = of_block(n, s->body);
        return body->kind == WORKS_NEVER ? body : join(n, WORKS_BOTH, runs(n, s), body);
    }
    case ST_IF: {
        const Works *body = join(n, WORKS_BOTH, holds(n, s->args[0]), of_block(n, s->body));
        return join(n, WORKS_EITHER, body, s->other ? of_block(n, s->other) : &never);
    }
    case ST_MOVE:
    case ST_EXTERN:
    case ST_CALL:
    case ST_OUT:
    case ST_LOOP:
    case ST_BREAK:
    case ST_CHECK: return &always;
    default: return &never; // it makes a value
    }
}

static const Works *of_block(Nest *n, const Block *b) {
    const Works *w = &never;
    for (int i = b->stmts.len; i-- > 0 && w->kind != WORKS_ALWAYS;)
        w = join(n, WORKS_EITHER, of_stmt(n, b->stmts.data[i]), w);
    return w;
}

const Works *loop_works(Arena *arena, const Tree *t, Stmt *const *def, const Stmt *loop) {
    Nest n = {.arena = arena, .tree = t, .def = def, .s = loop, .left = MOST_LOOKS};
    const Works *w = of_block(&n, loop->body);
    map_free(&n.made);
    return w;
}
