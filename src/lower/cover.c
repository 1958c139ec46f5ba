// Cover: scattered terms that together come to every element of the beginning of an array, each once. Such are the rows of
// a sparse Jacobian, [t = 30 o + 7] * e for o < p: what lies below 30 p need not be zero first, and be added to then, but is
// stored. Of the dense terms, which must be zero there, only what comes after it is filled.
#include "lower/internal.h"

enum { LONGEST = 256, MOST_CONJUNCTS = 32 }; // elements that an index of the sum comes to

// sum over < … ([v = place] * value), place = step * over + rest
typedef struct Column {
    Var *over;
    Node *place, *value;
    int64_t step, offset; // rest is the end of what has been covered before + offset
    int term;
} Column;

typedef struct Coverer {
    Lower *l;
    Var *v; // the array's index
    Node *dense;
    int n;
    Column *column;
    Node *end;     // so far are the elements covered
    bool *covered; // by term
} Coverer;

static bool read_term(Ir *m, Var *v, Node *e, Column *c) {
    bool negative = false;
    for (; e->op == OP_neg; e = e->args[0]) negative = !negative;
    Node *body = e->op == OP_sum ? e->args[0] : e, *given[MOST_CONJUNCTS], *place = NULL;
    int n = 0;
    if (body == e || body->op != OP_bracket || !ir_conjuncts(body->args[0], given, &n, MOST_CONJUNCTS)) return false;
    for (int i = 0; i < n && !place; i++)
        if ((place = ir_solve(m, given[i], v))) given[i] = ir_bool(m, true);
    if (!place || place->partial || node_has_var(e->u.var->extent, v)) return false;
    c->over = e->u.var, c->place = place, c->value = body->args[1];
    for (int i = n; i-- > 0;) c->value = ir_bracket(m, given[i], c->value);
    Poly rest;
    if (!poly_linear(m, poly_of(m, place), ir_var(c->over), &c->step, &rest) || c->step < 1 || c->step > LONGEST) return false;
    c->value = ir_subst1(m, c->value, ir_var(v), place);
    if (negative) c->value = ir_neg(m, c->value);
    return ir_in_range(m, place, v->extent);
}

// Sets c->offset if the column is one of those that begin where the others have ended.
static bool begins_here(Coverer *z, Column *c) {
    Ir *m = z->l->ir;
    Node *first = ir_subst1(m, c->place, ir_var(c->over), ir_int(m, 0));
    return ir_is_int_lit(ir_sub(m, first, z->end), &c->offset) && c->offset >= 0 && c->offset < c->step;
}

static bool is_zero_at(const Coverer *z, Node *place) { return ir_is_zero(ir_subst1(z->l->ir, z->dense, ir_var(z->v), place)); }

static Task store_at(const Task *t, const Coverer *z, Var *over, Node *place, Node *value) {
    Task u = *t;
    u.kind = TASK_SCATTER, u.e = ir_binder_plain(z->l->ir, OP_sum, over, value), u.place = place, u.over = over,
    u.once = true;
    return u;
}

// The columns that follow z->end, as stores, with those that are zero; how many there are, 0 if they are not all there.
static int next_rows(Coverer *z, const Task *t, Task *out) { // at most twice as many as there are columns
    Ir *m = z->l->ir;
    const Column *of[LONGEST] = {NULL}, *first = NULL;
    int count = 0;
    for (int i = 0; i < z->n; i++) {
        Column *c = &z->column[i];
        if (z->covered[c->term] || !begins_here(z, c)) continue;
        if (!first) first = c;
        if (c->step != first->step || c->over->extent != first->over->extent || of[c->offset]) return 0;
        of[c->offset] = c, count++;
    }
    if (!first || 2 * count < first->step) return 0;
    for (int64_t k = 0; k < first->step; k++) {
        Node *i = ir_mul(m, ir_var(first->over), ir_int(m, first->step));
        Node *place = of[k] ? of[k]->place : ir_add(m, ir_add(m, i, z->end), ir_int(m, k));
        if (!is_zero_at(z, place) || (!of[k] && !ir_in_range(m, place, z->v->extent))) return 0;
        out[k] = store_at(t, z, of[k] ? of[k]->over : first->over, place, of[k] ? of[k]->value : ir_zero(m, t->e->kind));
    }
    for (int64_t k = 0; k < first->step; k++)
        if (of[k]) z->covered[of[k]->term] = true;
    z->end = ir_add(m, z->end, ir_mul(m, ir_int(m, first->step), ir_trips(m, first->over->extent)));
    return (int)first->step;
}

// The dense terms from the end of what is covered on, as a task; false if there are no such elements.
static bool store_rest(const Coverer *z, const Task *t, bool alone, Task *out) {
    Ir *m = z->l->ir;
    Node *n = ir_sub(m, z->v->extent, z->end);
    if (ir_is_zero(n)) return false;
    Var *w = ir_index(m, z->v->name, poly_nonneg(m, poly_of(m, n)) ? n : ir_trips(m, n));
    *out = *t;
    out->e = ir_binder_plain(m, OP_gen, w, ir_subst1(m, z->dense, ir_var(z->v), ir_add(m, ir_var(w), z->end)));
    out->shift = z->end, out->once = alone;
    return true;
}

// Are the places of the other terms, which are added to what is there, behind what is covered?
static bool others_behind(const Coverer *z, int n, const Task *terms) {
    Ir *m = z->l->ir;
    for (int i = 0; i < n; i++) {
        Node *place;
        if (z->covered[i]) continue;
        if (!ir_scatters(m, terms[i].e, &z->v, 1, &place) || !poly_nonneg(m, poly_of(m, ir_sub(m, place, z->end)))) return false;
    }
    return true;
}

int lower_cover(Lower *l, const Task *t, Var *v, Node *dense, int n, const Task *terms, Task **out) {
    Coverer z = {.l = l, .v = v, .dense = dense, .end = ir_int(l->ir, 0)};
    z.column = ARENA_ARRAY(l->arena, Column, n + 1);
    z.covered = ARENA_ARRAY(l->arena, bool, n + 1);
    for (int i = 0; i < n; i++) {
        z.column[z.n].term = i;
        z.n += read_term(l->ir, v, terms[i].e, &z.column[z.n]);
    }
    Task *all = ARENA_ARRAY(l->arena, Task, 3 * n + 2);
    int count = 1, more = z.n;
    while (more && (more = next_rows(&z, t, all + count))) count += more;
    if (count == 1 || !others_behind(&z, n, terms)) return 0;
    int others = 0;
    for (int i = 0; i < n; i++) others += !z.covered[i];
    bool rest = store_rest(&z, t, !others, all);
    for (int i = 0; i < n; i++)
        if (!z.covered[i]) all[count++] = terms[i];
    *out = rest ? all : all + 1;
    return count - !rest;
}
