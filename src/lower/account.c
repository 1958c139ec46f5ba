// Counts of account.h: one walk over the tree, in the order in which it runs. Ints are kept as values (ir.h), so that
// its algebra and proofs say how often loops run.
#include "lower/account.h"
#include "support/map.h"

#include <inttypes.h>

const char *const account_name[ACCOUNTS] = {"operations", "iterations", "loads", "stores"};

typedef struct Sums {
    Growth of[ACCOUNTS];
} Sums;

// What runs at this level; at the levels in `skip` at most once for all their iterations together. flag: only at one of
// the places with the same cell, once where that comes into being, at level `home`.
typedef struct Item {
    uint64_t skip;
    Temp flag;
    int home;
    Sums sums;
} Item;
typedef struct Items {
    VEC(Item) v;
} Items;

typedef struct Level { // a loop that is open, or a procedure that is called
    const Stmt *loop;  // NULL: of a procedure
    const Node *var;
    GrowthAtom *index;
    Growth trips;
    bool exact;
    Items before; // of an ST_LOOP: what is done once more than the rest, before it ends
    bool broken;
} Level;

typedef struct Walk {
    Arena *arena;
    const Tree *t;
    Ir *ir;
    AccountAtoms *atoms;
    Stmt **def;   // by temp
    Node **value; // by temp, of an Int: NULL: not known
    int *made;    // by temp: at how many levels
    Map of_node;  // value -> GrowthAtom
    Map trips;    // loop -> Node: how often it runs, where data decides
    Map counters; // cell + 1 -> loop: in which 1 is added to it, and nothing else
    VEC(Level) levels;
    Items *items;        // of the block that is walked, or of what is around
    double plain[ACCOUNTS]; // what single statements in it do
    Node **params;       // of the procedure that runs
    int nindex, left;    // statements that may still be walked
} Walk;

enum { MOST_STATEMENTS = 400000, MOST_LEVELS = 64, MOST_CHOICES = 5 };

// ---- atoms

void account_atoms_free(AccountAtoms *atoms) { vec_free(&atoms->all); }

static GrowthAtom *named(AccountAtoms *atoms, const char *text) {
    for (int i = 0; i < atoms->all.len; i++)
        if (!strcmp(atoms->all.data[i]->text, text)) return atoms->all.data[i];
    GrowthAtom *x = ARENA_NEW(atoms->arena, GrowthAtom);
    *x = (GrowthAtom){.id = atoms->all.len, .text = arena_strdup(atoms->arena, text)};
    vec_push(&atoms->all, x);
    return x;
}

static GrowthAtom *atom_of(Walk *w, Node *e) {
    GrowthAtom *x = map_get(&w->of_node, e);
    if (x) return x;
    Str text = {0};
    ir_print_size(&text, e);
    x = named(w->atoms, str_text(&text));
    if (!x->size) x->size = e;
    bool plain = e->op == OP_idiv && e->args[0]->op == OP_input && e->args[1]->op == OP_input;
    if (plain && !x->by) x->of = atom_of(w, e->args[0]), x->by = atom_of(w, e->args[1]);
    str_free(&text);
    map_put(&w->of_node, e, x);
    return x;
}

// An Int that elements of arguments make, as `ptr[_ + 1] - ptr[_]`, where `_` is an index. False: it is something else.
static bool describe(const Walk *w, Str *out, Temp t, int fuel) {
    const Stmt *s = w->def[t];
    const char *sign = s && s->kind == ST_OP ? s->op == OP_add ? " + " : s->op == OP_sub ? " - " : NULL : NULL;
    int64_t more = 0;
    const Node *e = w->value[t];
    if (e && e->fv->n) {
        str_puts(out, "_");
        if (e->op == OP_add && (ir_is_int_lit(e->args[0], &more) || ir_is_int_lit(e->args[1], &more)))
            str_printf(out, " + %" PRId64, more);
    } else if (w->value[t]) ir_print_size(out, w->value[t]);
    else if (!s || fuel == 0) return false;
    else if (sign) {
        if (!describe(w, out, s->args[0], fuel - 1)) return false;
        str_puts(out, sign);
        return describe(w, out, s->args[1], fuel - 1);
    } else if (s->kind == ST_LOAD && s->buf->where == BUF_INPUT && s->buf->name) {
        str_printf(out, "%s[", s->buf->name);
        for (int k = 0; k < s->nargs; k++) {
            if (k) str_puts(out, ", ");
            if (!describe(w, out, s->args[k], fuel - 1)) str_puts(out, "_");
        }
        str_puts(out, "]");
    } else return false;
    return true;
}

static void print_where(const Walk *w, Str *out, Span at) {
    Str place = {0};
    diag_print_place(&place, at);
    const char *from = str_text(&place);
    if (at.src == w->t->func->span.src && *from) from += strlen(at.src->name) + 1;
    str_puts(out, *from ? "trips at " : "trips");
    str_write(out, from, strlen(from) - (*from ? strlen(": ") : 0));
    str_free(&place);
}

// An Int that stands for the trip count of a loop where data decides, or for no less. Its name is what the extent is,
// where that says it: loops of a derivative may come from elsewhere; or else the loop's place.
static Node *unknown_trips(Walk *w, const Stmt *loop) {
    enum { DEPTH = 4 };
    Node *known = map_get(&w->trips, loop);
    if (known) return known;
    Str text = {0};
    bool says = loop->kind == ST_FOR && loop->nargs == 1 && describe(w, &text, loop->args[0], DEPTH);
    if (!says) str_free(&text), text = (Str){0}, print_where(w, &text, loop->span);
    Node *e = ir_param(w->ir, KIND_INT, 0, NULL);
    e->nonneg = true;
    map_put(&w->of_node, e, named(w->atoms, str_text(&text)));
    map_put(&w->trips, loop, e);
    str_free(&text);
    return e;
}

static const void *key(Temp t) { return (const void *)(intptr_t)(t + 1); }

// Is s `cell = cell + 1`?
static bool is_count(const Walk *w, const Stmt *s) {
    const Stmt *sum = w->def[s->args[0]];
    if (w->t->temps.data[s->dst].kind != KIND_INT || !sum || sum->kind != ST_OP || sum->op != OP_add) return false;
    const Stmt *a = w->def[sum->args[0]], *b = w->def[sum->args[1]];
    return a && b && a->kind == ST_GET && a->args[0] == s->dst && b->kind == ST_LIT && b->u.num == 1;
}

// Finds the cells that begin with 0 and count the iterations of one loop. loop: the ST_LOOP around the block, if
// nothing is between.
static void find_counters(Walk *w, const Block *block, const Stmt *loop) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_SET) {
            bool counts = loop && is_count(w, s) && !map_get(&w->counters, key(s->dst));
            map_put(&w->counters, key(s->dst), counts ? (void *)loop : w); // w: it is none
        }
        find_counters(w, s->body, s->kind == ST_LOOP ? s : NULL);
        find_counters(w, s->other, NULL);
    }
}

// What a cell is at most that counts the iterations of a loop, after that; NULL: it does not.
static Node *counted(Walk *w, Temp cell) {
    const Stmt *loop = map_get(&w->counters, key(cell)), *first = w->def[cell];
    if (!loop || (const void *)loop == w || !first || first->kind != ST_CELL) return NULL;
    const Stmt *start = w->def[first->args[0]];
    for (int k = 0; k < w->levels.len; k++)
        if (w->levels.data[k].loop == loop) return NULL;
    return start && start->kind == ST_LIT && start->u.num == 0 ? unknown_trips(w, loop) : NULL;
}

// ---- bounds of Ints

typedef struct Bound {
    Growth growth;
    bool known, exact;
    int by_index; // operands of extremes in it that change with an index: of bounds alike, a window is the short one
} Bound;

static Bound bound_of(Walk *w, Poly p, int fuel);

static Growth constant(const Walk *w, double x) { return growth_const(w->arena, x); }

static Bound bound_of_node(Walk *w, Node *e, int fuel) { return bound_of(w, poly_of(w->ir, e), fuel); }

// Does it hold the index of a loop?
static bool changes(Growth g) {
    for (int i = 0; i < g.n; i++)
        for (int k = 0; k < g.term[i].n; k++)
            if (g.term[i].atom[k]->index) return true;
    return false;
}

static Bound better(Bound x, Bound y) {
    int less = !y.known ? -1 : !x.known ? 1 : growth_compare(x.growth, y.growth);
    if (!less) less = changes(x.growth) - changes(y.growth);
    Bound r = less < 0 || (less == 0 && x.by_index >= y.by_index) ? x : y;
    r.exact = false;
    return r;
}

static Bound either(Walk *w, Bound x, Bound y) {
    return (Bound){growth_max(w->arena, x.growth, y.growth), x.known && y.known, false, 0};
}

// Is it one number, and not only a bound of others?
static bool is_plain(const Walk *w, const Node *e) {
    return (map_get(&w->of_node, e) && e->op != OP_param) || (e->op == OP_input && e->nonneg);
}

// Of max(0, e), for an atom of a polynomial.
static Bound bound_of_atom(Walk *w, Node *e, int fuel) {
    int64_t by;
    bool plain = is_plain(w, e);
    if (plain || e->op == OP_input || e->op == OP_param)
        return (Bound){growth_atom(w->arena, atom_of(w, e)), true, plain, 0};
    if (!fuel) return (Bound){0};
    switch (e->op) {
    case OP_min: return better(bound_of_node(w, e->args[0], fuel - 1), bound_of_node(w, e->args[1], fuel - 1));
    case OP_max: return either(w, bound_of_node(w, e->args[0], fuel - 1), bound_of_node(w, e->args[1], fuel - 1));
    case OP_select: return either(w, bound_of_node(w, e->args[1], fuel - 1), bound_of_node(w, e->args[2], fuel - 1));
    case OP_irem: return bound_of_node(w, e->args[1], fuel - 1);
    case OP_idiv: {
        bool known = ir_is_int_lit(e->args[1], &by) && by > 0;
        if (!known && e->nonneg && !e->fv->n) return (Bound){growth_atom(w->arena, atom_of(w, e)), true, true, 0};
        Bound x = bound_of_node(w, e->args[0], fuel - 1);
        if (known) x.growth = growth_scale(w->arena, x.growth, 1.0 / (double)by);
        x.exact = false;
        return x;
    }
    default: return (Bound){0};
    }
}

// The extreme or select among the terms that stands alone; NULL: there is none.
static const Term *choice_in(Poly p) {
    for (int i = 0; i < p.n; i++) {
        const Node *e = p.term[i].n == 1 ? p.term[i].atom[0] : NULL;
        if (e && (e->op == OP_min || e->op == OP_max || e->op == OP_select)) return &p.term[i];
    }
    return NULL;
}

static Poly chosen(Walk *w, Poly p, const Term *t, int k) {
    const Node *e = t->atom[0];
    Poly one = {1, arena_copy(w->ir->polys, t, sizeof *t)}, rest = poly_add(w->ir, p, poly_scale(w->ir, one, -1));
    return poly_add(w->ir, rest, poly_scale(w->ir, poly_of(w->ir, e->args[(e->op == OP_select) + k]), t->coeff));
}

// A minimum is at most either of its operands, min(n, i + 2) - i at most 2.
static Bound bound_of_choice(Walk *w, Poly p, const Term *t, int fuel) {
    Bound x = bound_of(w, chosen(w, p, t, 0), fuel - 1), y = bound_of(w, chosen(w, p, t, 1), fuel - 1);
    Op op = t->atom[0]->op;
    int first = op == OP_select;
    x.by_index += t->atom[0]->args[first]->fv->n > 0, y.by_index += t->atom[0]->args[first + 1]->fv->n > 0;
    return op != OP_select && (op == OP_min) == (t->coeff > 0) ? better(x, y) : either(w, x, y);
}

// The product of the atoms of a term that is added: where a quotient stands beside what it is divided by, they are what
// is divided.
static Bound bound_of_product(Walk *w, const Term *t, int fuel) {
    Bound r = {constant(w, 1), true, true, 0};
    uint64_t used = 0;
    bool open = false; // one of them may be negative
    for (int k = 0; k < t->n && r.known; k++) {
        Node *e = t->atom[k];
        if (k < 64 && used >> k & 1) continue;
        Bound x = {0};
        for (int j = 0; e->op == OP_idiv && e->nonneg && fuel && j < t->n && j < 64; j++) {
            if (j == k || used >> j & 1 || t->atom[j] != e->args[1]) continue;
            used |= (uint64_t)1 << j;
            x = bound_of_node(w, e->args[0], fuel - 1);
            x.exact = false;
            break;
        }
        if (!x.known) x = bound_of_atom(w, e, fuel);
        if (open && !e->nonneg) x.known = false; // the product of two such may be more than of their bounds
        open |= !e->nonneg;
        r = (Bound){growth_mul(w->arena, r.growth, x.growth), x.known, r.exact && x.exact, 0};
    }
    return r;
}

// What is at most subtracted of a term whose coefficient is negative. certain: the whole is not negative.
static Bound bound_of_less(Walk *w, const Term *t, bool certain) {
    bool plain = true, nonneg = true;
    for (int k = 0; k < t->n; k++) plain &= is_plain(w, t->atom[k]), nonneg &= t->atom[k]->nonneg;
    if (!certain || !plain) return (Bound){(Growth){0}, nonneg, false, 0};
    Bound r = {constant(w, (double)t->coeff), true, true, 0};
    for (int k = 0; k < t->n; k++) {
        Growth atom = growth_atom(w->arena, atom_of(w, t->atom[k]));
        r.growth = growth_mul(w->arena, r.growth, atom);
    }
    return r;
}

// Of max(0, p).
static Bound bound_of(Walk *w, Poly p, int fuel) {
    const Term *choice = fuel ? choice_in(p) : NULL;
    if (choice) return bound_of_choice(w, p, choice, fuel);
    bool certain = poly_nonneg(w->ir, p);
    Bound r = {(Growth){0}, true, certain, 0};
    for (int i = 0; i < p.n && r.known; i++) {
        const Term *t = &p.term[i];
        Bound x = t->coeff < 0 ? bound_of_less(w, t, certain) : bound_of_product(w, t, fuel);
        if (t->coeff > 0) x.growth = growth_scale(w->arena, x.growth, (double)t->coeff);
        r = (Bound){growth_add(w->arena, r.growth, x.growth), x.known, r.exact && x.exact, 0};
    }
    r.growth = growth_short(w->arena, certain ? r.growth : growth_positive(w->arena, r.growth));
    return r;
}

static Bound bound_of_value(Walk *w, Node *e) {
    ArenaMark mark = arena_mark(w->ir->polys);
    Bound r = e ? bound_of_node(w, e, MOST_CHOICES) : (Bound){0};
    arena_release(w->ir->polys, mark);
    return r;
}

// ---- lists of items

static void put(Walk *w, Items *to, Item x) {
    for (int i = 0; i < to->v.len; i++) {
        Item *o = &to->v.data[i];
        if (o->skip != x.skip || o->flag != x.flag) continue;
        for (int k = 0; k < ACCOUNTS; k++) {
            Growth g = o->sums.of[k], more = x.sums.of[k];
            g = x.flag >= 0 ? growth_max(w->arena, g, more) : growth_add(w->arena, g, more);
            o->sums.of[k] = growth_short(w->arena, g);
        }
        return;
    }
    vec_push(&to->v, x);
}

static void put_plain(Walk *w, Items *to, Sums sums) { put(w, to, (Item){.flag = -1, .sums = sums}); }

// What single statements have done so far goes to the list.
static void settle(Walk *w) {
    Sums sums = {0};
    bool any = false;
    for (int k = 0; k < ACCOUNTS; k++) {
        any |= w->plain[k] != 0;
        sums.of[k] = constant(w, w->plain[k]);
        w->plain[k] = 0;
    }
    if (any) put_plain(w, w->items, sums);
}

static void walk_block(Walk *w, const Block *b);

static Items walk_apart(Walk *w, const Block *b) {
    Items own = {0}, *before = w->items;
    settle(w);
    w->items = &own;
    if (b) walk_block(w, b);
    settle(w);
    w->items = before;
    return own;
}

// ---- branches

// The cell of `unless cell`, in a branch that sets it: what is in there runs once. -1: it is another condition.
static Temp flag_of(const Walk *w, const Stmt *s) {
    const Stmt *d = w->def[s->args[0]];
    if (!d || d->kind != ST_OP || d->op != OP_not) return -1;
    d = w->def[d->args[0]];
    return d && d->kind == ST_GET && s->body && block_sets(s->body, d->args[0]) ? d->args[0] : -1;
}

static uint64_t bit(int level) { return level < MOST_LEVELS ? (uint64_t)1 << level : 0; }

// The innermost loop of whose iterations, those around it being where they are, the equation holds in one at most.
static uint64_t pinned(Walk *w, Temp a, Temp b) {
    Node *x = w->value[a], *y = w->value[b];
    if (!x && !y) return 0;
    ArenaMark mark = arena_mark(w->ir->polys);
    uint64_t found = 0;
    int known = !x ? w->made[a] : !y ? w->made[b] : 0; // the other side is the same in all loops opened since
    const Poly zero = {0, NULL};
    Poly left = x ? poly_of(w->ir, x) : zero, right = y ? poly_of(w->ir, y) : zero;
    Poly p = poly_add(w->ir, left, poly_scale(w->ir, right, -1));
    for (int k = w->levels.len; k-- > known && !found;) {
        const Node *v = w->levels.data[k].var;
        int64_t c;
        Poly rest;
        if (!v) continue;
        if (!poly_linear(w->ir, p, v, &c, &rest)) break;
        if (c) found = bit(k);
    }
    arena_release(w->ir->polys, mark);
    return found;
}

static uint64_t pinned_where(Walk *w, Temp cond) {
    const Stmt *d = w->def[cond];
    if (!d || d->kind != ST_OP) return 0;
    if (d->op == OP_and) return pinned_where(w, d->args[0]) | pinned_where(w, d->args[1]);
    bool ints = d->op == OP_eq && w->t->temps.data[d->args[0]].kind == KIND_INT;
    return ints ? pinned(w, d->args[0], d->args[1]) : 0;
}

// The item that counts as one of either arm.
static Item *alike(Items *in, const Item *x) {
    for (int i = 0; i < in->v.len; i++)
        if (in->v.data[i].skip == x->skip && in->v.data[i].flag == x->flag) return &in->v.data[i];
    return NULL;
}

static void walk_if(Walk *w, const Stmt *s) {
    Temp flag = flag_of(w, s);
    int home = flag >= 0 ? w->made[flag] : 0;
    uint64_t skip = pinned_where(w, s->args[0]);
    Items arms = walk_apart(w, s->body), other = walk_apart(w, s->other);
    for (int k = home; flag >= 0 && k < w->levels.len; k++) skip |= bit(k);
    for (int i = 0; i < arms.v.len; i++) {
        Item *x = &arms.v.data[i];
        x->skip |= skip;
        if (flag >= 0 && x->flag < 0) x->flag = flag, x->home = home;
    }
    for (int i = 0; i < other.v.len; i++) {
        Item *x = &other.v.data[i], *o = alike(&arms, x);
        if (!o) vec_push(&arms.v, *x);
        for (int k = 0; o && k < ACCOUNTS; k++) o->sums.of[k] = growth_max(w->arena, o->sums.of[k], x->sums.of[k]);
    }
    for (int i = 0; i < arms.v.len; i++) put(w, w->items, arms.v.data[i]);
    vec_free(&arms.v);
    vec_free(&other.v);
}

// ---- loops

static void open(Walk *w, Level l) { vec_push(&w->levels, l); }

// The items of level l, which has ended, go to the one around.
static void close(Walk *w, Level l, Items *items, double once_more) {
    int at = w->levels.len;
    Growth trips = growth_add(w->arena, l.trips, constant(w, once_more));
    for (int i = 0; i < items->v.len; i++) {
        Item x = items->v.data[i];
        bool once = !l.loop || x.skip & bit(at);
        for (int k = 0; k < ACCOUNTS; k++) {
            Growth g = growth_from(w->arena, x.sums.of[k], l.loop ? l.loop->span : nowhere);
            if (once && l.index) g = growth_greatest(w->arena, g, l.index, l.trips);
            else if (!once && l.index) g = growth_sum(w->arena, g, l.index, trips, l.exact);
            else if (!once) g = growth_mul(w->arena, g, trips);
            x.sums.of[k] = growth_short(w->arena, g);
        }
        x.skip &= ~bit(at);
        put(w, w->items, x);
    }
    vec_free(&items->v);
}

// What is computed once where its cell came into being, at this level, counts as anything else from there on.
static void close_flags(Walk *w, Items *items) {
    Items all = {0};
    for (int i = 0; i < items->v.len; i++) {
        Item x = items->v.data[i];
        if (x.flag >= 0 && x.home >= w->levels.len) x.flag = -1, x.home = 0;
        put(w, &all, x);
    }
    vec_free(&items->v);
    *items = all;
}

static void count_trips(Walk *w, Growth trips) {
    Sums sums = {0};
    sums.of[ACCOUNT_ITERATIONS] = trips;
    put_plain(w, w->items, sums);
}

static void walk_for(Walk *w, const Stmt *s) {
    Node *high = w->value[s->args[0]], *low = s->nargs > 1 ? w->value[s->args[1]] : ir_int(w->ir, 0);
    Node *extent = high && low ? ir_sub(w->ir, high, low) : NULL;
    Bound trips = bound_of_value(w, extent);
    if (!trips.known) {
        extent = unknown_trips(w, s);
        trips = (Bound){growth_atom(w->arena, atom_of(w, extent)), true, false, 0};
    }
    Var *v = ir_index(w->ir, "i", extent);
    GrowthAtom *index = ARENA_NEW(w->arena, GrowthAtom);
    *index = (GrowthAtom){.id = 1 << 20 | ++w->nindex, .text = "i", .index = true};
    map_put(&w->of_node, ir_var(v), index);
    w->value[s->dst] = low ? ir_add(w->ir, low, ir_var(v)) : NULL;
    settle(w);
    open(w, (Level){.loop = s, .var = ir_var(v), .index = index, .trips = trips.growth, .exact = trips.exact});
    w->made[s->dst] = w->levels.len;
    Items own = walk_apart(w, s->body);
    close_flags(w, &own);
    close(w, vec_pop(&w->levels), &own, 0);
    count_trips(w, growth_from(w->arena, trips.growth, s->span));
}

static void walk_loop(Walk *w, const Stmt *s) {
    Growth trips = growth_atom(w->arena, atom_of(w, unknown_trips(w, s)));
    settle(w);
    open(w, (Level){.loop = s, .trips = trips});
    Items own = walk_apart(w, s->body), before = vec_last(&w->levels).before;
    close_flags(w, &own);
    close_flags(w, &before);
    Level l = vec_pop(&w->levels);
    close(w, l, &before, 1);
    close(w, l, &own, !l.broken);
    count_trips(w, growth_from(w->arena, trips, s->span));
}

static void walk_break(Walk *w) {
    Level *l = &vec_last(&w->levels);
    if (!l->loop || l->loop->kind != ST_LOOP || l->broken) return;
    settle(w);
    for (int i = 0; i < w->items->v.len; i++) put(w, &l->before, w->items->v.data[i]);
    w->items->v.len = 0;
    l->broken = true;
}

static void walk_call(Walk *w, const Stmt *s) {
    const Stmt *proc = tree_proc(w->t, s->u.num);
    Node **before = w->params;
    w->params = ARENA_ARRAY(w->arena, Node *, s->nargs + 1);
    for (int k = 0; k < s->nargs; k++) w->params[k] = w->value[s->args[k]];
    settle(w);
    open(w, (Level){0});
    Items own = walk_apart(w, proc->body);
    close_flags(w, &own);
    close(w, vec_pop(&w->levels), &own, 0);
    w->params = before;
}

// ---- statements

static Growth elements(Walk *w, const Buf *b) {
    Growth r = constant(w, 1);
    for (int k = 0; k < b->rank; k++) {
        Bound x = bound_of_value(w, w->value[b->extent[k]]);
        if (!x.known) x.growth = growth_atom(w->arena, named(w->atoms, "elements of an array"));
        r = growth_short(w->arena, growth_mul(w->arena, r, x.growth));
    }
    return r;
}

static void count_whole(Walk *w, const Buf *loads, const Buf *stores) {
    Sums sums = {0};
    if (loads) sums.of[ACCOUNT_LOADS] = elements(w, loads);
    if (stores) sums.of[ACCOUNT_STORES] = elements(w, stores);
    put_plain(w, w->items, sums);
}

static bool is_counted(OpCount c) { return c == COUNT_ADD || c == COUNT_MUL || c == COUNT_DIV || c == COUNT_CALL; }

static Node *int_op(Walk *w, const Stmt *s) {
    Node *a = w->value[s->args[0]], *b = s->nargs > 1 ? w->value[s->args[1]] : NULL;
    if (!a || (s->nargs > 1 && !b)) return NULL;
    switch (s->op) {
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_neg:
    case OP_min:
    case OP_max: return ir_op(w->ir, s->op, a, b);
    case OP_idiv:
    case OP_irem: return ir_is_lit(b, 0) ? NULL : ir_op(w->ir, s->op, a, b);
    default: return NULL;
    }
}

// The value of the Int that s makes; NULL: not known.
static Node *value_made(Walk *w, const Stmt *s) {
    switch (s->kind) {
    case ST_LIT: return ir_int(w->ir, s->u.num);
    case ST_ARG: return s->u.num < w->t->func->ninputs ? w->t->func->inputs[s->u.num] : NULL;
    case ST_PARAM: return w->params ? w->params[s->u.num] : NULL;
    case ST_OP: return int_op(w, s);
    case ST_CONV: return w->value[s->args[0]];
    case ST_GET: return counted(w, s->args[0]);
    default: return NULL;
    }
}

static void walk_extern(Walk *w, const Stmt *s) {
    w->plain[ACCOUNT_OPERATIONS]++;
    settle(w);
    for (int k = 0; k < s->nin; k++) {
        if (!s->in[k]) continue;
        bool out = k >= s->nin - s->nout;
        count_whole(w, out ? NULL : s->in[k], out ? s->in[k] : NULL);
    }
}

static void walk_stmt(Walk *w, const Stmt *s) {
    double *plain = w->plain;
    if (s->dst >= 0 && s->kind != ST_SET) {
        bool is_int = w->t->temps.data[s->dst].kind == KIND_INT && s->kind != ST_FOR;
        w->value[s->dst] = is_int ? value_made(w, s) : NULL;
        w->made[s->dst] = w->levels.len;
    }
    switch (s->kind) {
    case ST_OP:
        if (w->t->temps.data[s->dst].kind != KIND_INT) plain[ACCOUNT_OPERATIONS] += is_counted(op_info[s->op].count);
        break;
    case ST_LOAD: plain[ACCOUNT_LOADS]++; break;
    case ST_STORE: plain[ACCOUNT_STORES]++; break;
    case ST_ADDTO:
        plain[ACCOUNT_LOADS]++, plain[ACCOUNT_STORES]++;
        plain[ACCOUNT_OPERATIONS] += kind_is_float(s->buf->kind);
        break;
    case ST_EXTERN: walk_extern(w, s); break;
    case ST_FILL: count_whole(w, NULL, s->buf); break;
    case ST_COPY:
    case ST_MOVE: count_whole(w, s->src, s->src); break;
    case ST_FOR: walk_for(w, s); break;
    case ST_LOOP: walk_loop(w, s); break;
    case ST_BREAK: walk_break(w); break;
    case ST_IF: walk_if(w, s); break;
    case ST_CALL: walk_call(w, s); break;
    default: break;
    }
}

static void walk_block(Walk *w, const Block *b) {
    for (int i = 0; i < b->stmts.len && w->left > 0; i++, w->left--) walk_stmt(w, b->stmts.data[i]);
}

// ---- trees

static Growth elements_of(Walk *w, const Node *e) {
    Growth r = constant(w, 1);
    for (int k = 0; k < e->rank; k++) {
        Bound x = bound_of_value(w, e->shape[k]);
        if (!x.known) x.growth = growth_atom(w->arena, named(w->atoms, "elements of an array"));
        r = growth_short(w->arena, growth_mul(w->arena, r, x.growth));
    }
    return r;
}

static Walk begin(AccountAtoms *atoms, const Tree *t) {
    Walk w = {.arena = atoms->arena, .t = t, .ir = t->func->ir, .atoms = atoms, .left = MOST_STATEMENTS};
    int n = t->temps.len + 1;
    w.def = ARENA_ARRAY(w.arena, Stmt *, n);
    w.value = ARENA_ARRAY(w.arena, Node *, n), w.made = ARENA_ARRAY(w.arena, int, n);
    return w;
}

static void end(Walk *w) {
    map_free(&w->of_node), map_free(&w->trips), map_free(&w->counters);
    vec_free(&w->levels);
}

Account tree_account(AccountAtoms *atoms, const Tree *t) {
    Walk w = begin(atoms, t);
    Account a = {0};
    tree_definitions(t->body, w.def);
    find_counters(&w, t->body, NULL);
    Items all = walk_apart(&w, t->body);
    close_flags(&w, &all);
    for (int i = 0; i < all.v.len; i++)
        for (int k = 0; k < ACCOUNTS; k++) {
            Growth g = growth_add(w.arena, a.of[k], all.v.data[i].sums.of[k]);
            a.of[k] = growth_short(w.arena, g);
        }
    a.known = w.left > 0;
    vec_free(&all.v);
    end(&w);
    return a;
}

Growth tree_data(AccountAtoms *atoms, const Tree *t) {
    Walk w = begin(atoms, t);
    const Func *f = tree_given(t);
    Growth r = {0};
    for (int k = 0; k < f->ninputs; k++) r = growth_add(w.arena, r, elements_of(&w, f->inputs[k]));
    for (int k = 0; k < f->noutputs; k++) r = growth_add(w.arena, r, elements_of(&w, f->outputs[k]));
    end(&w);
    return r;
}
