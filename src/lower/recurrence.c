// Loops with recurrences, as a prefix sum, are taken apart (lower/recurrence.h), so that all but the recurrence itself is a grid,
// and a GPU does that by a scan, of maps s -> a * s + b or s -> min(max(s, a), b): two of these one after the other are one.
#include "lower/loop_passes.h"
#include "lower/recurrence.h"

#include "lower/effects.h"
#include "lower/independent.h"
#include "lower/groups.h"
#include "lower/internal.h"
#include "lower/product.h"

#include <math.h>

enum { LEAST = 32 }; // a loop known to have fewer iterations is left as it is

typedef struct Splitter {
    Arena *arena;
    Tree *tree;
    bool always, precise, fast;
    Block *around; // of the loop
    Stmt *loop;    // a copy of it, of which recurrences are taken out
    Stmt **def;    // by temp: in the tree, and in the loop
    Block before;  // what comes before it
    // Of a recurrence:
    Temp get;    // what its cell is at the beginning of an iteration
    Block *into; // where its a and b are computed
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
        if (stmt_writes(s, buf) || writes(s->body, buf) || writes(s->other, buf)) return true;
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
        if (s->kind == ST_CHECK || stmt_calls(s) || has_check(s->body) || has_check(s->other)) return true;
    }
    return false;
}

// ---- a and b

// A value where a and b are computed.
typedef struct Value {
    enum { VALUE_ZERO, VALUE_ONE, VALUE_LEAST, VALUE_MOST, VALUE_TEMP } is; // least, most: of all values of the kind
    Temp t;
} Value;
typedef struct Form {
    bool ok;
    Value a, b;
    bool mask; // a is 0 or 1
} Form;

static bool makes(const Block *b, Temp t) { // at any depth
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if ((s->dst == t && s->kind != ST_SET) || makes(s->body, t) || makes(s->other, t)) return true;
    }
    return false;
}

// Can t be computed before the loop, in another one? Not if it depends on a cell, or on what iterations store.
static bool is_early(const Splitter *z, Temp t) {
    const Stmt *s = z->def[t];
    int at = s ? place_of(z->loop->body, s) : -1;
    if (t == z->loop->dst || !s) return true;
    if (at < 0) return s->kind != ST_CELL && !makes(z->loop->body, t);
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
    const bool edge = v.is == VALUE_LEAST || v.is == VALUE_MOST;
    Stmt *s = add(z, z->into, ST_LIT, new_temp(z, kind), 0, NULL);
    if (kind_is_float(kind)) s->u.real = v.is == VALUE_LEAST ? -INFINITY : v.is == VALUE_MOST ? INFINITY : v.is == VALUE_ONE;
    else s->u.num = !edge ? v.is == VALUE_ONE : v.is == VALUE_LEAST ? INT64_MIN : INT64_MAX;
    return s->dst;
}

static Value apply(Splitter *z, Op op, Value x, Value y, Kind kind) {
    if ((op == OP_add || op == OP_sub) && y.is == VALUE_ZERO) return x;
    if (op == OP_add && x.is == VALUE_ZERO) return y;
    if ((op == OP_mul || op == OP_div) && x.is == VALUE_ZERO) return x;
    if (op == OP_mul && x.is == VALUE_ONE) return y;
    if (op == OP_max && x.is == VALUE_LEAST) return y;
    if (op == OP_min && x.is == VALUE_MOST) return y;
    if ((op == OP_max && x.is == VALUE_MOST) || (op == OP_min && x.is == VALUE_LEAST)) return x;
    Temp args[] = {temp_of(z, x, kind), temp_of(z, y, kind)};
    Stmt *s = add(z, z->into, ST_OP, new_temp(z, kind), 2, args);
    s->op = op;
    return (Value){VALUE_TEMP, s->dst};
}

static Value choose(Splitter *z, Temp cond, Value x, Value y, Kind kind) {
    if (x.is == y.is && (x.is != VALUE_TEMP || x.t == y.t)) return x;
    Temp args[] = {value_of(z, cond), temp_of(z, x, kind), temp_of(z, y, kind)};
    return (Value){VALUE_TEMP, add(z, z->into, ST_SELECT, new_temp(z, kind), 3, args)->dst};
}

typedef Form FormOf(Splitter *z, Temp t);

static Form form_of_select(Splitter *z, const Stmt *s, FormOf *of) {
    Kind kind = z->tree->temps.data[s->dst].kind;
    if (!is_early(z, s->args[0])) return (Form){0};
    Form x = of(z, s->args[1]), y = of(z, s->args[2]);
    if (!x.ok || !y.ok) return (Form){0};
    return (Form){true, choose(z, s->args[0], x.a, y.a, kind), choose(z, s->args[0], x.b, y.b, kind), x.mask && y.mask};
}

// t as a * get + b.
static Form affine(Splitter *z, Temp t) {
    const Stmt *s = z->def[t];
    Kind kind = z->tree->temps.data[t].kind;
    if (t == z->get) return (Form){true, {VALUE_ONE, -1}, {VALUE_ZERO, -1}, true};
    if (is_early(z, t)) return (Form){true, {VALUE_ZERO, -1}, {VALUE_TEMP, value_of(z, t)}, true};
    if (!s || place_of(z->loop->body, s) < 0) return (Form){0};
    if (s->kind == ST_SELECT) return form_of_select(z, s, affine);
    if (s->kind != ST_OP || s->nargs != 2) return (Form){0};
    Form x = affine(z, s->args[0]), y = affine(z, s->args[1]);
    if (!x.ok || !y.ok) return (Form){0};
    const bool mask = x.mask && y.mask && (y.a.is == VALUE_ZERO || (s->op == OP_add && x.a.is == VALUE_ZERO));
    switch (s->op) {
    case OP_add:
    case OP_sub: return (Form){true, apply(z, s->op, x.a, y.a, kind), apply(z, s->op, x.b, y.b, kind), mask};
    case OP_mul:
        if (x.a.is == VALUE_ZERO) return (Form){true, apply(z, OP_mul, y.a, x.b, kind), apply(z, OP_mul, y.b, x.b, kind), false};
        if (y.a.is != VALUE_ZERO) return (Form){0};
        return (Form){true, apply(z, OP_mul, x.a, y.b, kind), apply(z, OP_mul, x.b, y.b, kind), false};
    case OP_div:
        if (y.a.is != VALUE_ZERO || !kind_is_float(kind)) return (Form){0};
        return (Form){true, apply(z, OP_div, x.a, y.b, kind), apply(z, OP_div, x.b, y.b, kind), false};
    default: return (Form){0};
    }
}

// t as min(max(get, a), b).
static Form between(Splitter *z, Temp t) {
    const Stmt *s = z->def[t];
    Kind kind = z->tree->temps.data[t].kind;
    if (t == z->get) return (Form){true, {VALUE_LEAST, -1}, {VALUE_MOST, -1}, false};
    if (is_early(z, t)) {
        Value v = {VALUE_TEMP, value_of(z, t)};
        return (Form){true, v, v, false};
    }
    if (!s || place_of(z->loop->body, s) < 0) return (Form){0};
    if (s->kind == ST_SELECT) return form_of_select(z, s, between);
    if (!iter_is_extreme(s)) return (Form){0};
    const int early = is_early(z, s->args[1]) ? 1 : 0;
    if (!is_early(z, s->args[early])) return (Form){0};
    Form x = between(z, s->args[1 - early]);
    if (!x.ok) return x;
    Value v = {VALUE_TEMP, value_of(z, s->args[early])};
    return (Form){true, apply(z, s->op, x.a, v, kind), apply(z, s->op, x.b, v, kind), false};
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
    if (r.first) next = operation(z, b, r.between ? OP_max : OP_mul, next, load(z, b, r.first, loop->dst));
    if (r.second) next = operation(z, b, r.between ? OP_min : OP_add, next, load(z, b, r.second, loop->dst));
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

// Is all that is done with the cell to add to it, or to take the lesser or the greater of it and something?
static bool is_mere_sum(const Splitter *z, const Stmt *get, const Stmt *set, const Form *f, bool extreme) {
    bool plain = extreme ? f->a.is == VALUE_LEAST || f->b.is == VALUE_MOST : f->a.is == VALUE_ONE;
    return plain && count_uses(z->loop->body, get->dst, false) == 1 && count_uses(z->loop->body, set->args[0], false) == 1 &&
           z->def[set->args[0]]->kind == ST_OP;
}

// What the cell becomes, in which form; a and b are computed in a new loop.
static Form find_form(Splitter *z, const Stmt *get, const Stmt *set, Stmt *loop, bool extreme) {
    Kind kind = z->tree->temps.data[set->dst].kind;
    z->get = get->dst, z->into = loop->body, z->index = loop->dst;
    Form f = extreme ? between(z, set->args[0]) : affine(z, set->args[0]);
    if (f.ok && is_mere_sum(z, get, set, &f, extreme)) f.ok = false;
    if (f.ok && !extreme)
        f.ok = f.a.is != VALUE_ZERO && !(z->precise && kind_is_float(kind)) && (f.mask || z->fast || !kind_is_float(kind));
    return f;
}

// The cell's recurrence becomes a loop before this one.
static bool split_cell(Splitter *z, Stmt *set) {
    Kind kind = z->tree->temps.data[set->dst].kind;
    Stmt *get = only_get(z, set), *first = NULL;
    Form f = {0};
    if (!get || (kind != KIND_INT && !kind_is_float(kind))) return false;
    const int before = z->before.stmts.len;
    Recurrence r = {.cell = set->dst};
    for (int k = 0; k < 2 && !f.ok; k++) {
        map_free(&z->known);
        z->before.stmts.len = before, z->known = (Map){0}, r.between = k;
        first = add_loop(z, &z->before);
        f = find_form(z, get, set, first, r.between);
    }
    z->before.stmts.len = before; // arrays come first
    if (f.ok && f.a.is != (r.between ? VALUE_LEAST : VALUE_ONE)) r.first = array_of(z, first, f.a, kind);
    if (f.ok && f.b.is != (r.between ? VALUE_MOST : VALUE_ZERO)) r.second = array_of(z, first, f.b, kind);
    map_free(&z->known);
    z->known = (Map){0};
    if (!f.ok) return false;
    take_out(z->loop->body, set);
    drop_unused(z, z->loop->body);
    if (place_of(z->loop->body, get) >= 0) r.before = add_array(z, kind);
    if (block_has_effect(first->body)) vec_push(&z->before.stmts, first);
    add_recurrence(z, r);
    if (r.before) get->kind = ST_LOAD, get->buf = r.before, get->args = arena_copy(z->arena, &z->loop->dst, sizeof z->loop->dst);
    return true;
}

// Of temps that there are: those made here come later, and are not asked about.
static void note_definitions(Splitter *z) {
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
        block_free(&z->before), block_free(z->loop->body);
    }
    if (apart && !block_has_effect(z->loop->body)) take_out(around, z->loop), block_free(z->loop->body);
    for (int i = 0; i < z->before.stmts.len && apart; i++) block_insert(around, at + i, z->before.stmts.data[i]);
    vec_free(&z->before.stmts);
    return apart;
}

// ---- which loops

// Could the loop be taken apart? apart: are its iterations independent as they are?
static bool may_split(Splitter *z, const Stmt *s, bool *apart) {
    if (s->kind != ST_FOR || s->recurrence || s->nargs > 1 || stmt_wish(s, WISH_sequential) || has_check(s->body)) return false;
    Iterations it;
    iter_init(&it, z->arena, z->tree, z->precise);
    const Stmt *n = it.def[s->args[0]];
    bool few = n && n->kind == ST_LIT && n->u.num < LEAST;
    *apart = iter_look(&it, (Stmt *)s, false);
    iter_forget(&it);
    iter_free(&it);
    return *apart || !few;
}

// ---- rows

// Each cell of the block is read in it, and be it at the end, for nothing.
static void read_cells(Splitter *z, Block *b) {
    for (int i = 0, n = b->stmts.len; i < n; i++) {
        const Stmt *s = b->stmts.data[i];
        bool read = s->kind != ST_CELL;
        for (int k = 0; k < n && !read; k++) read = b->stmts.data[k]->kind == ST_GET && b->stmts.data[k]->args[0] == s->dst;
        if (!read) add(z, b, ST_GET, new_temp(z, z->tree->temps.data[s->dst].kind), 1, &s->dst);
    }
}

// Loops inside of a loop whose iterations are independent, as one over rows: a copy of it, with recurrences taken out of the loops
// in it, is taken apart, for where rows are few and long (lower/groups.h).
static bool split_rows(Splitter *z, Block *around, int at) {
    enum { LARGEST = 300 };
    Stmt *loop = around->stmts.data[at];
    const int temps = z->tree->temps.len, bufs = z->tree->bufs.len;
    Product product;
    Block arrays = {0};
    z->loop = loop;
    note_definitions(z);
    if (loop->nargs > 1 || loop->outer || block_size(loop->body) > LARGEST || product_find(z->def, loop, &product)) return false;
    Stmt *copy = tree_clone_apart(z->arena, z->tree, loop, &arrays);
    vec_free(&arrays.stmts); // all are made again
    around->stmts.data[at] = copy;
    read_cells(z, copy->body);
    for (int i = 0; i < copy->body->stmts.len; i++) {
        const int after = copy->body->stmts.len - i;
        bool apart;
        if (may_split(z, copy->body->stmts.data[i], &apart) && !apart && split_loop(z, copy->body, i))
            i = copy->body->stmts.len - after;
    }
    if (groups_split_rows(z->arena, z->tree, around, at, loop, z->always, z->precise)) return true;
    around->stmts.data[at] = loop;
    z->tree->temps.len = temps, z->tree->bufs.len = bufs;
    block_free(copy->body);
    return false;
}

static void split_block(Splitter *z, Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        const int after = b->stmts.len - i;
        bool apart;
        if (s->kind == ST_IF) split_block(z, s->body), split_block(z, s->other);
        if (!may_split(z, s, &apart) || !tree_step(z->tree, s)) continue;
        if (apart ? split_rows(z, b, i) : split_loop(z, b, i)) i = b->stmts.len - after; // what was made stays as it is
    }
}

void loops_recurrences(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Splitter z = {.arena = arena, .tree = tree, .always = opt->always, .precise = opt->precise, .fast = opt->fast};
    split_block(&z, tree->body);
}
