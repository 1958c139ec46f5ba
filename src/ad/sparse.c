// Sparse Jacobians. A row is the derivative of one scalar, y[i] at index variables, in which arrays in between have
// been replaced by their elements. What it reads of the arguments are blocks (ad/pattern.c), such as cams[camIdx[o]]; the
// row is differentiated by placeholders for these only, so its cost does not depend on the size of the arguments.
//
// Entries are where the blocks are. Their number in a row, and their places, are Int values like others: constants and
// polynomials if the program says so, else computed from the indices, as are the places of blocks that may coincide.
// The arrays are sums of brackets, [t = place] * entry, which lowering fills by running over the rows.
#include "ad/sparse.h"

#include "ad/pattern.h"
#include "ir/rule.h"

enum {
    MAX_ROWS = 16,    // elements of a result's innermost dimensions that are rows of their own, each with its own code
    MAX_WRITTEN = 256 // the same where they are written one by one in the program
};

// ---- rows

// A scalar of the result for each value of index variables, or one of several such that take turns.
typedef struct RowKind {
    Row row;
    Node *start; // of the row
    Node *count; // of entries
} RowKind;

typedef struct Leaf { // of the result
    Node *y;
    int nvars; // outer dimensions
    Var **var;
    int nkinds; // the elements of the inner ones
    RowKind *kind;
    Node *rows, *entries; // before it
} Leaf;

typedef struct Sparse {
    Ir *m;
    Kind kind;
    int nx;
    Node *const *x;
    Node **still;  // see Row
    Node **column; // the first of each argument
    int ny;
    Leaf *leaf;
    Node *rows, *entries;
    AdError *error;
} Sparse;

static Node *number(Ir *m, int64_t k) { return ir_int(m, k); }

static Node *product(Ir *m, int n, Node *const *extents) {
    Node *e = number(m, 1);
    for (int k = 0; k < n; k++) e = ir_mul(m, e, ir_trips(m, extents[k]));
    return e;
}

// The number of outer dimensions of y whose indices are variables.
static int outer_dimensions(const Node *y) {
    const Node *body = y;
    int n = y->rank, gens = 0;
    for (; body->op == OP_gen; body = body->args[0]) gens++;
    if (body->op == OP_pack && ad_small(body->rank, body->shape, MAX_WRITTEN) >= 0) n = gens;
    while (n > 0 && ad_small(y->rank - n + 1, y->shape + n - 1, MAX_ROWS) >= 0) n--;
    return n;
}

// What rows of a kind read, for the user.
static void explain_row(const Sparse *s, int leaf, const Row *r) {
    if (!explain_wants(s->m->explain, EXPLAIN_DERIVATIVES)) return;
    Str text = {0};
    const char *sep = " has entries for ";
    str_puts(&text, "`jacobianSparse`: a row of the result");
    if (s->ny > 1) str_printf(&text, "'s part %d", leaf + 1);
    for (int j = 0; j < s->nx; j++) {
        const Reads *a = &r->reads[j];
        if (!a->n) continue;
        str_puts(&text, sep);
        if (a->length) str_puts(&text, "a range of ");
        else if (a->naddr) str_printf(&text, "%d block%s of ", a->n, a->n == 1 ? "" : "s");
        else if (a->x->rank) str_puts(&text, "all of ");
        str_puts(&text, "the argument");
        if (s->nx > 1) str_printf(&text, "'s part %d", j + 1);
        sep = ", ";
    }
    if (sep[1] == 'h') str_puts(&text, " has no entries");
    explain(s->m->explain, EXPLAIN_DERIVATIVES, s->m->span, "%s", str_text(&text));
    str_free(&text);
}

static bool make_leaf(Sparse *s, Node *y, Leaf *l) {
    Ir *m = s->m;
    Arena *arena = m->arena;
    const VarSet *vars = varset_empty;
    Node **idx = ARENA_ARRAY(arena, Node *, y->rank + 1);
    l->y = y;
    l->nvars = outer_dimensions(y);
    l->var = ARENA_ARRAY(arena, Var *, l->nvars + 1);
    for (int k = 0; k < l->nvars; k++) {
        l->var[k] = ir_index(m, "o", y->shape[k]);
        idx[k] = ir_var(l->var[k]);
        vars = varset_union(m, vars, idx[k]->fv);
    }
    l->nkinds = ad_small(y->rank - l->nvars, y->shape + l->nvars, MAX_WRITTEN);
    l->kind = ARENA_ARRAY(arena, RowKind, l->nkinds + 1);
    for (int i = 0; i < l->nkinds; i++) {
        Row *r = &l->kind[i].row;
        ad_unflatten(m, y->rank - l->nvars, y->shape + l->nvars, i, idx + l->nvars);
        *r = (Row){.m = m, .vars = vars, .nx = s->nx, .x = s->x, .still = s->still, .e = ad_element(m, y, y->rank, idx)};
        ad_row_reads(r);
        explain_row(s, (int)(l - s->leaf), r);
        if (!ad_row_derive(r, s->error)) return false;
    }
    return true;
}

// ---- the places of entries in a row

static Node *present(Ir *m, const Reads *r, int i) {
    const Block *b = &r->block[i];
    Node *p = b->cond;
    for (int k = 0; k < i; k++) {
        Node *same = ad_and(m, r->block[k].cond, ir_eq(m, r->block[k].flat, b->flat));
        p = ad_and(m, p, ir_not(m, same));
    }
    return p;
}

static Node *counted(Ir *m, Node *cond) { return cond ? ir_bracket(m, cond, number(m, 1)) : number(m, 1); }

// How many different blocks there are, where a range is one.
static Node *distinct(Ir *m, const Reads *r) {
    Node *n = number(m, 0);
    for (int i = 0; i < r->n; i++) n = ir_add(m, n, counted(m, present(m, r, i)));
    return n;
}

// How many different blocks come before block i.
static Node *rank_of(Ir *m, const Reads *r, int i) {
    Node *n = number(m, 0);
    for (int k = 0; k < r->n; k++) {
        Node *less = k == i ? ir_bool(m, false) : ir_lt(m, r->block[k].flat, r->block[i].flat);
        n = ir_add(m, n, counted(m, ad_and(m, present(m, r, k), less)));
    }
    return n;
}

// The first place of the range that is in the array, counted from its beginning, and how many are.
static Node *range_skip(Ir *m, const Reads *r) { return ir_max(m, number(m, 0), ir_neg(m, r->block->flat)); }

static Node *range_count(Ir *m, const Reads *r) {
    Node *extent = r->x->shape[r->first], *end = ir_min(m, extent, ir_add(m, r->block->flat, r->length));
    Node *n = ir_sub(m, end, ir_max(m, number(m, 0), r->block->flat));
    n = n->nonneg ? n : ir_max(m, number(m, 0), n);
    return r->block->cond ? ir_bracket(m, r->block->cond, n) : n;
}

// Places in the addressed dimensions that the row has.
static Node *places(Ir *m, const Reads *r) { return r->length ? range_count(m, r) : distinct(m, r); }

static int lead_dims(const Reads *r) { return r->first; }
static int trail_dims(const Reads *r) { return r->nwhole - r->first - (r->length != NULL); }

static Node *entries_of(Ir *m, const Reads *r) {
    if (!r->n) return number(m, 0);
    return ir_mul(m, places(m, r), product(m, lead_dims(r) + trail_dims(r), r->whole));
}

static Node *flat_index(Ir *m, int n, Node *const *extents, Node *const *at) {
    Node *e = number(m, 0);
    for (int k = 0; k < n; k++) e = ir_add(m, ir_mul(m, e, extents[k]), at[k]);
    return e;
}

// ---- rows one after the other

// The sum of e over what comes before the index v.
static Node *before(Ir *m, Var *v, Node *e) {
    if (!node_has_var(e, v)) return ir_mul(m, ir_var(v), e);
    Var *s = ir_state(m, "entries", KIND_INT, 0, NULL), *w = ir_index_like(m, v, v->extent);
    Node *init = number(m, 0), *now = ir_var(s), *step = ir_add(m, now, ir_subst1(m, e, ir_var(v), ir_var(w)));
    Loop l = {.index = w, .n = 1, .state = &s, .nout = 1};
    return ir_at1(m, ir_trace(m, ir_fold_out(m, &l, &init, &step, &now), 0), ir_var(v));
}

static Node *altogether(Ir *m, Var *v, Node *e) {
    return node_has_var(e, v) ? ir_sum(m, v, e) : ir_mul(m, ir_trips(m, v->extent), e);
}

static void place_rows(Sparse *s, Leaf *l) {
    Ir *m = s->m;
    Node *total = number(m, 0);
    l->rows = s->rows, l->entries = s->entries;
    for (int i = 0; i < l->nkinds; i++) {
        RowKind *k = &l->kind[i];
        k->start = total, k->count = number(m, 0);
        for (int j = 0; j < s->nx; j++) k->count = ir_add(m, k->count, entries_of(m, &k->row.reads[j]));
        total = ir_add(m, total, k->count);
    }
    Node *start = l->entries;
    for (int d = l->nvars; d-- > 0;) {
        start = ir_add(m, start, before(m, l->var[d], total));
        total = altogether(m, l->var[d], total);
    }
    for (int i = 0; i < l->nkinds; i++) l->kind[i].start = ir_add(m, l->kind[i].start, start);
    s->rows = ir_add(m, s->rows, product(m, l->y->rank, l->y->shape));
    s->entries = ir_add(m, s->entries, total);
}

// ---- the arrays

typedef struct Filler { // of one array
    Sparse *s;
    Var *t;
    Node *body;
} Filler;

static Filler fill_new(Sparse *s, Node *extent, Kind kind) { return (Filler){s, ir_index(s->m, "t", extent), ir_zero(s->m, kind)}; }

// [place = t] * e where cond holds, for all values of the variables.
static void fill(Filler *f, const Leaf *l, int n, Var *const *vars, Node *cond, Node *place, Node *e) {
    Ir *m = f->s->m;
    e = ir_bracket(m, ad_and(m, cond, ir_eq(m, ir_var(f->t), place)), e);
    for (int k = n; k-- > 0;) e = ir_sum(m, vars[k], e);
    for (int k = l ? l->nvars : 0; k-- > 0;) e = ir_sum(m, l->var[k], e);
    f->body = ir_add(m, f->body, e);
}

static const char outside[] = "a row of this Jacobian reads outside of the argument";

typedef struct Entries { // of one block
    Sparse *s;
    const Leaf *l;
    const RowKind *k;
    const Reads *r;
    int block;
    Node *base;   // place of the argument's first entry
    Node *column; // the argument's first
    Filler *columns, *values;
} Entries;

static Node *value_at(const Entries *b, Node *const *at) {
    const Reads *r = b->r;
    Ir *m = b->s->m;
    Node *v = ad_row_value(&b->k->row, r, &r->block[b->block], at);
    for (int k = 0; k < r->n; k++) { // the blocks that are the same, here
        const Block *o = &r->block[k];
        if (k == b->block) continue;
        Node *same = ad_and(m, o->cond, ir_eq(m, o->flat, r->block[b->block].flat));
        if (!ir_is_lit(same, 0)) v = ir_add(m, v, ir_bracket(m, same, ad_row_value(&b->k->row, r, o, at)));
    }
    return ir_conv(m, b->s->kind, v);
}

// The entry at these places of the dimensions that are read as a whole, for all values of the variables.
static void add_entry(const Entries *b, Node *const *at, int n, Var *const *vars) {
    Ir *m = b->s->m;
    const Reads *r = b->r;
    const Block *block = &r->block[b->block];
    int lead = lead_dims(r), trail = trail_dims(r);
    Node *cond = present(m, r, b->block), *place = block->flat, *nth, *inside = NULL;
    if (r->length) {
        place = ir_add(m, place, at[r->nwhole - 1]);
        nth = ir_sub(m, at[r->nwhole - 1], range_skip(m, r));
        inside = ir_and(m, ir_le(m, number(m, 0), place), ir_lt(m, place, r->x->shape[r->first]));
    } else {
        nth = rank_of(m, r, b->block);
    }
    cond = ad_and(m, cond, inside && ir_is_lit(inside, 1) ? NULL : inside);
    Node *outer = flat_index(m, lead, r->whole, at), *inner = flat_index(m, trail, r->whole + lead, at + lead);
    Node *size = product(m, trail, r->whole + lead), *all = product(m, r->naddr, r->x->shape + r->first);
    nth = ir_add(m, ir_mul(m, ir_add(m, ir_mul(m, outer, places(m, r)), nth), size), inner);
    Node *column = ir_add(m, ir_mul(m, ir_add(m, ir_mul(m, outer, all), place), size), inner);
    column = ir_add(m, column, b->column);
    if (block->needed) column = ir_assert(m, block->needed, outside, column);
    fill(b->columns, b->l, n, vars, cond, ir_add(m, b->base, nth), column);
    fill(b->values, b->l, n, vars, cond, ir_add(m, b->base, nth), value_at(b, at));
}

static void add_entries(const Entries *b) {
    const Reads *r = b->r;
    Ir *m = b->s->m;
    Var **vars = ARENA_ARRAY(m->arena, Var *, r->nwhole + 1);
    Node **at = ARENA_ARRAY(m->arena, Node *, r->nwhole + 1);
    if (r->block[b->block].scalars) {
        for (int k = 0; k < r->block[b->block].nparam; k++) {
            ad_unflatten(m, r->nwhole, r->whole, k, at);
            add_entry(b, at, 0, NULL);
        }
        return;
    }
    for (int k = 0; k < r->nwhole; k++) {
        vars[k] = ir_index(m, "c", r->whole[k]);
        at[k] = ir_var(vars[k]);
    }
    add_entry(b, at, r->nwhole, vars);
}

static void fill_rows(Sparse *s, const Leaf *l, Filler *starts, Filler *columns, Filler *values) {
    Ir *m = s->m;
    for (int i = 0; i < l->nkinds; i++) {
        const RowKind *k = &l->kind[i];
        Node *row = number(m, 0), *base = k->start;
        for (int d = 0; d < l->nvars; d++) row = ir_add(m, ir_mul(m, row, ir_trips(m, l->y->shape[d])), ir_var(l->var[d]));
        row = ir_add(m, ir_add(m, l->rows, number(m, i)), ir_mul(m, row, number(m, l->nkinds)));
        fill(starts, l, 0, NULL, NULL, row, k->start);
        for (int j = 0; j < s->nx; j++) {
            const Reads *r = &k->row.reads[j];
            for (int b = 0; b < r->n; b++) {
                add_entries(&(Entries){.s = s,
                                       .l = l,
                                       .k = k,
                                       .r = r,
                                       .block = b,
                                       .base = base,
                                       .column = s->column[j],
                                       .columns = columns,
                                       .values = values});
            }
            base = ir_add(m, base, entries_of(m, r));
        }
    }
}

static bool build(Sparse *s, Node *const *y, AdSparse *out) {
    Ir *m = s->m;
    Node *column = number(m, 0);
    for (int j = 0; j < s->nx; j++) {
        s->column[j] = column;
        column = ir_add(m, column, product(m, s->x[j]->rank, s->x[j]->shape));
    }
    s->rows = s->entries = number(m, 0);
    for (int i = 0; i < s->ny; i++) {
        if (!make_leaf(s, y[i], &s->leaf[i])) return false;
        place_rows(s, &s->leaf[i]);
    }
    Filler starts = fill_new(s, ir_add(m, s->rows, number(m, 1)), KIND_INT);
    Filler columns = fill_new(s, s->entries, KIND_INT), values = fill_new(s, s->entries, s->kind);
    for (int i = 0; i < s->ny; i++) fill_rows(s, &s->leaf[i], &starts, &columns, &values);
    fill(&starts, NULL, 0, NULL, NULL, s->rows, s->entries);
    out->starts = ir_gen(m, starts.t, starts.body);
    out->columns = ir_gen(m, columns.t, columns.body);
    out->values = ir_gen(m, values.t, values.body);
    return true;
}

bool ad_sparse(Ir *m, Kind kind, int ny, Node *const *y, int nx, Node *const *x, AdSparse *out, AdError *error) {
    Arena *arena = m->arena;
    Sparse s = {.m = m, .kind = kind, .nx = nx, .x = x, .ny = ny, .error = error};
    s.column = ARENA_ARRAY(arena, Node *, nx + 1);
    s.leaf = ARENA_ARRAY(arena, Leaf, ny + 1);
    bool raw = m->raw;
    Rules *rules = m->rules;
    bool some = raw || rules_restricted(rules);
    m->raw = false; // the pattern is that of the program after the rules, all of them
    if (some) m->rules = NULL;
    Node **z = ARENA_ARRAY(arena, Node *, ny + 1);
    for (int i = 0; i < ny; i++) z[i] = ad_undemanded(m, some ? ir_copy(m, y[i]) : y[i]);
    s.still = ARENA_ARRAY(arena, Node *, nx + 1);
    for (int j = 0; j < nx; j++) s.still[j] = ir_param(m, x[j]->kind, x[j]->rank, x[j]->shape);
    bool ok = build(&s, z, out);
    if (ok) {
        out->starts = ir_subst(m, out->starts, nx, s.still, (Node **)x);
        out->columns = ir_subst(m, out->columns, nx, s.still, (Node **)x);
        out->values = ir_subst(m, out->values, nx, s.still, (Node **)x);
    }
    m->raw = raw, m->rules = rules;
    return ok;
}
