// Loops with recurrences, as a prefix sum, are taken apart (lower/recurrence.h), so that all but the recurrence itself is a grid,
// and a GPU does that by a scan, of maps s -> a * s + b.
#include "lower/recurrence.h"

#include "lower/independent.h"
#include "lower/effects.h"
#include "lower/internal.h"

enum { LEAST = 32 }; // a loop known to have fewer iterations is left as it is

typedef struct Splitter {
    Arena *arena;
    Tree *tree;
    bool precise, fast;
    Block *around; // of the loop
    Stmt *loop;    // a copy of it, of which recurrences are taken out
    Stmt **def;    // by temp: in the tree, and in the loop
    Block before;  // what comes before it
    // Of a recurrence:
    Temp get;    // what its cell is at the beginning of an iteration
    Block *into; // where its factor and its term are computed
    Temp index;  // the index there
    Map known;   // Temp + 1 -> what has been computed there + 1
} Splitter;

static void *key(Temp t) { return (void *)((intptr_t)t + 1); }

static Stmt *add(Splitter *z, Block *b, StmtKind kind, Temp dst, int n, const Temp *args) {
    Stmt *s = tree_stmt(z->arena, kind, dst, n, args, z->loop->span);
    vec_push(&b->stmts, s);
    return s;
}

static Temp new_temp(Splitter *z, Kind kind) {
    vec_push(&z->tree->temps, ((TempInfo){.kind = kind}));
    return z->tree->temps.len - 1;
}

// ---- what a loop does

static bool writes(const Block *b, const Buf *buf) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if ((s->buf == buf && s->kind != ST_LOAD) || writes(s->body, buf) || writes(s->other, buf)) return true;
    }
    return false;
}

static int place_of(const Block *b, const Stmt *s) {
    for (int i = 0; i < b->stmts.len; i++)
        if (b->stmts.data[i] == s) return i;
    return -1;
}

// How often the block, or what is in it, reads the temp, or sets the cell.
static int count_uses(const Block *b, Temp t, bool sets) {
    int n = 0;
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        for (int k = 0; k < s->nargs && !sets; k++) n += s->args[k] == t;
        n += sets && s->kind == ST_SET && s->dst == t;
        n += count_uses(s->body, t, sets) + count_uses(s->other, t, sets);
    }
    return n;
}

static bool has_check(const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_CHECK || s->kind == ST_EXTERN || has_check(s->body) || has_check(s->other)) return true;
    }
    return false;
}

// ---- the factor and the term

// A value where the factor and the term are computed.
typedef struct Value {
    enum { VALUE_ZERO, VALUE_ONE, VALUE_TEMP } is;
    Temp t;
} Value;
typedef struct Affine {
    bool ok;
    Value factor, term;
} Affine;

// Can t be computed before the loop, in another one? Not if it depends on a cell, or on what iterations store.
static bool is_early(const Splitter *z, Temp t) {
    const Stmt *s = z->def[t];
    int at = s ? place_of(z->loop->body, s) : -1;
    if (t == z->loop->dst || !s) return true;
    if (at < 0) return !count_uses(z->loop->body, t, true) && s->kind != ST_CELL && place_of(z->around, s) >= 0;
    if (s->kind != ST_LIT && s->kind != ST_ARG && s->kind != ST_OP && s->kind != ST_CONV && s->kind != ST_SELECT &&
        (s->kind != ST_LOAD || writes(z->loop->body, s->buf)))
        return false;
    for (int k = 0; k < s->nargs; k++)
        if (!is_early(z, s->args[k])) return false;
    return true;
}

static Temp value_of(Splitter *z, Temp t) {
    intptr_t there = (intptr_t)map_get(&z->known, key(t));
    if (t == z->loop->dst) return z->index;
    if (there) return (Temp)(there - 1);
    const Stmt *s = z->def[t];
    if (!s || place_of(z->loop->body, s) < 0) return t;
    Temp *args = ARENA_ARRAY(z->arena, Temp, s->nargs + 1);
    for (int k = 0; k < s->nargs; k++) args[k] = value_of(z, s->args[k]);
    Stmt *copy = arena_copy(z->arena, s, sizeof *s);
    copy->args = args, copy->dst = new_temp(z, z->tree->temps.data[t].kind);
    vec_push(&z->into->stmts, copy);
    map_put(&z->known, key(t), key(copy->dst));
    return copy->dst;
}

static Temp temp_of(Splitter *z, Value v, Kind kind) {
    if (v.is == VALUE_TEMP) return v.t;
    Stmt *s = add(z, z->into, ST_LIT, new_temp(z, kind), 0, NULL);
    if (kind_is_float(kind)) s->u.real = v.is == VALUE_ONE;
    else s->u.num = v.is == VALUE_ONE;
    return s->dst;
}

static Value apply(Splitter *z, Op op, Value x, Value y, Kind kind) {
    if ((op == OP_add || op == OP_sub) && y.is == VALUE_ZERO) return x;
    if (op == OP_add && x.is == VALUE_ZERO) return y;
    if ((op == OP_mul || op == OP_div) && x.is == VALUE_ZERO) return x;
    if (op == OP_mul && x.is == VALUE_ONE) return y;
    Temp args[] = {temp_of(z, x, kind), temp_of(z, y, kind)};
    Stmt *s = add(z, z->into, ST_OP, new_temp(z, kind), 2, args);
    s->op = op;
    return (Value){VALUE_TEMP, s->dst};
}

// t as factor * get + term.
static Affine affine(Splitter *z, Temp t) {
    const Stmt *s = z->def[t];
    Kind kind = z->tree->temps.data[t].kind;
    if (t == z->get) return (Affine){true, {VALUE_ONE, -1}, {VALUE_ZERO, -1}};
    if (is_early(z, t)) return (Affine){true, {VALUE_ZERO, -1}, {VALUE_TEMP, value_of(z, t)}};
    if (!s || s->kind != ST_OP || s->nargs != 2 || place_of(z->loop->body, s) < 0) return (Affine){0};
    Affine x = affine(z, s->args[0]), y = affine(z, s->args[1]);
    if (!x.ok || !y.ok) return (Affine){0};
    switch (s->op) {
    case OP_add:
    case OP_sub: return (Affine){true, apply(z, s->op, x.factor, y.factor, kind), apply(z, s->op, x.term, y.term, kind)};
    case OP_mul:
        if (x.factor.is == VALUE_ZERO)
            return (Affine){true, apply(z, OP_mul, y.factor, x.term, kind), apply(z, OP_mul, y.term, x.term, kind)};
        if (y.factor.is != VALUE_ZERO) return (Affine){0};
        return (Affine){true, apply(z, OP_mul, x.factor, y.term, kind), apply(z, OP_mul, x.term, y.term, kind)};
    case OP_div:
        if (y.factor.is != VALUE_ZERO || !kind_is_float(kind)) return (Affine){0};
        return (Affine){true, apply(z, OP_div, x.factor, y.term, kind), apply(z, OP_div, x.term, y.term, kind)};
    default: return (Affine){0};
    }
}

// ---- loops of their own

static Stmt *add_loop(Splitter *z, Block *b) {
    vec_push(&z->tree->temps, z->tree->temps.data[z->loop->dst]);
    Stmt *s = add(z, b, ST_FOR, z->tree->temps.len - 1, 1, z->loop->args);
    s->body = ARENA_NEW(z->arena, Block);
    return s;
}

// An array with an element for each iteration.
static Buf *add_array(Splitter *z, Kind kind) {
    Buf *b = ARENA_NEW(z->arena, Buf);
    *b = (Buf){.id = z->tree->bufs.len, .where = BUF_TEMP, .kind = kind, .rank = 1, .home = z->around};
    b->extent = arena_copy(z->arena, z->loop->args, sizeof *b->extent);
    vec_push(&z->tree->bufs, b);
    add(z, &z->before, ST_NEW, -1, 0, NULL)->buf = b;
    return b;
}

static Temp load(Splitter *z, Block *b, Buf *from, Temp at) {
    Stmt *s = add(z, b, ST_LOAD, new_temp(z, from->kind), 1, &at);
    s->buf = from;
    return s->dst;
}

static void store(Splitter *z, Block *b, Buf *to, Temp value, Temp at) {
    add(z, b, ST_STORE, -1, 2, (Temp[]){value, at})->buf = to;
}

static Temp operation(Splitter *z, Block *b, Op op, Temp x, Temp y) {
    Stmt *s = add(z, b, ST_OP, new_temp(z, z->tree->temps.data[x].kind), 2, (Temp[]){x, y});
    s->op = op;
    return s->dst;
}

static void add_recurrence(Splitter *z, Recurrence r) {
    Stmt *loop = add_loop(z, &z->before);
    Block *b = loop->body;
    Temp s = add(z, b, ST_GET, new_temp(z, z->tree->temps.data[r.cell].kind), 1, &r.cell)->dst, next = s;
    if (r.before) store(z, b, r.before, s, loop->dst);
    if (r.factor) next = operation(z, b, OP_mul, load(z, b, r.factor, loop->dst), s);
    if (r.term) next = operation(z, b, OP_add, next, load(z, b, r.term, loop->dst));
    add(z, b, ST_SET, r.cell, 1, &next);
    loop->recurrence = arena_copy(z->arena, &r, sizeof r);
}

static void take_out(Block *b, const Stmt *s) {
    int at = place_of(b, s);
    for (int i = at; i + 1 < b->stmts.len; i++) b->stmts.data[i] = b->stmts.data[i + 1];
    b->stmts.len--;
}

// The only read of the cell, before it is set; NULL if there is another.
static Stmt *only_get(const Splitter *z, const Stmt *set) {
    Stmt *get = NULL;
    if (count_uses(z->loop->body, set->dst, true) != 1 || count_uses(z->loop->body, set->dst, false) != 1) return NULL;
    for (int i = 0; z->loop->body->stmts.data[i] != set; i++) {
        Stmt *s = z->loop->body->stmts.data[i];
        if (s->kind == ST_GET && s->args[0] == set->dst) get = s;
    }
    return get;
}

// An array of the value in each iteration of the loop in which it is computed: one that there is, or one that this loop fills.
static Buf *array_of(Splitter *z, const Stmt *loop, Value v, Kind kind) {
    for (int i = 0; i < loop->body->stmts.len && v.is == VALUE_TEMP; i++) {
        const Stmt *s = loop->body->stmts.data[i];
        if (s->dst == v.t && s->kind == ST_LOAD && s->buf->rank == 1 && s->args[0] == loop->dst) return s->buf;
    }
    Buf *b = add_array(z, kind);
    store(z, z->into, b, temp_of(z, v, kind), loop->dst);
    return b;
}

// What nothing uses any more. Ints may be extents.
static void drop_unused(Splitter *z, Block *b) {
    for (int i = b->stmts.len; i-- > 0;) {
        const Stmt *s = b->stmts.data[i];
        if (stmt_is_plain(s) && s->dst >= 0 && kind_is_float(z->tree->temps.data[s->dst].kind) && !count_uses(b, s->dst, false))
            take_out(b, s);
    }
}

// The cell's recurrence becomes a loop before this one.
static bool split_cell(Splitter *z, Stmt *set) {
    Kind kind = z->tree->temps.data[set->dst].kind;
    Stmt *get = only_get(z, set);
    if (!get || kind == KIND_BOOL || (z->precise && kind_is_float(kind))) return false;
    int before = z->before.stmts.len;
    Stmt *first = add_loop(z, &z->before);
    z->get = get->dst, z->into = first->body, z->index = first->dst, z->known = (Map){0};
    Affine f = affine(z, set->args[0]);
    bool plain = f.factor.is == VALUE_ONE, ok = f.ok && f.factor.is != VALUE_ZERO && (plain || z->fast || !kind_is_float(kind));
    int reads = count_uses(z->loop->body, get->dst, false);
    if (ok && plain && reads == 1 && count_uses(z->loop->body, set->args[0], false) == 1) ok = false; // a mere sum
    if (!ok) {
        z->before.stmts.len = before;
        map_free(&z->known);
        return false;
    }
    z->before.stmts.len = before; // arrays come first
    Recurrence r = {.cell = set->dst};
    if (f.term.is != VALUE_ZERO) r.term = array_of(z, first, f.term, kind);
    if (!plain) r.factor = array_of(z, first, f.factor, kind);
    take_out(z->loop->body, set);
    drop_unused(z, z->loop->body);
    if (place_of(z->loop->body, get) >= 0) r.before = add_array(z, kind);
    if (block_has_effect(first->body)) vec_push(&z->before.stmts, first);
    map_free(&z->known);
    add_recurrence(z, r);
    if (r.before) get->kind = ST_LOAD, get->buf = r.before, get->args = arena_copy(z->arena, &z->loop->dst, sizeof z->loop->dst);
    return true;
}

static void note_definitions(Splitter *z) { // of temps that there are; those made here come later, and are not asked about
    z->def = ARENA_ARRAY(z->arena, Stmt *, z->tree->temps.len + 1);
    tree_definitions(z->tree->body, z->def);
    tree_definitions(z->loop->body, z->def);
}

// Takes apart statement number `at` of the block, if what is left then are loops whose iterations are independent.
static bool split_loop(Splitter *z, Block *around, int at) {
    Stmt *loop = around->stmts.data[at];
    int temps = z->tree->temps.len, bufs = z->tree->bufs.len, found = 0;
    z->around = around, z->before = (Block){0};
    z->loop = tree_clone(z->arena, z->tree, loop);
    note_definitions(z);
    for (int i = 0; i < z->loop->body->stmts.len; i++)
        if (z->loop->body->stmts.data[i]->kind == ST_SET && split_cell(z, z->loop->body->stmts.data[i])) {
            found++, i = -1; // others may depend on this one alone
            note_definitions(z);
        }
    bool apart = false;
    if (found) {
        Iterations it;
        around->stmts.data[at] = z->loop;
        iter_init(&it, z->arena, z->tree, z->precise);
        apart = iter_look(&it, z->loop, false);
        iter_forget(&it);
        iter_free(&it);
    }
    if (!apart) {
        around->stmts.data[at] = loop;
        z->tree->temps.len = temps, z->tree->bufs.len = bufs;
    }
    if (apart && !block_has_effect(z->loop->body)) take_out(around, z->loop);
    for (int i = 0; i < z->before.stmts.len && apart; i++) block_insert(around, at + i, z->before.stmts.data[i]);
    vec_free(&z->before.stmts);
    return apart;
}

static bool may_split(Splitter *z, const Stmt *s) {
    if (s->kind != ST_FOR || s->nargs > 1 || stmt_wish(s, WISH_sequential) || has_check(s->body)) return false;
    Iterations it;
    iter_init(&it, z->arena, z->tree, z->precise);
    const Stmt *n = it.def[s->args[0]];
    bool few = n && n->kind == ST_LIT && n->u.num < LEAST, apart = few || iter_look(&it, (Stmt *)s, false);
    if (!few) iter_forget(&it);
    iter_free(&it);
    return !apart;
}

static void split_block(Splitter *z, Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (s->kind == ST_IF) split_block(z, s->body), split_block(z, s->other);
        if (s->recurrence || !may_split(z, s)) continue;
        int after = b->stmts.len - i;
        if (split_loop(z, b, i)) i = b->stmts.len - after; // what was made stays as it is
    }
}

void recurrences_split(Arena *arena, Tree *tree, bool precise, bool fast) {
    Splitter z = {.arena = arena, .tree = tree, .precise = precise, .fast = fast};
    split_block(&z, tree->body);
}
