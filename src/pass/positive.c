// What is usual of the arguments is assumed in a copy of the function; compiled code picks the copy if a call is so
// (Assumption).
//
// It is made if that leaves less to do, or something may fail. Most arrays are not empty. Under that assumption more
// indices are provably in range (the index of the largest element of an array), and what a loop always evaluates may be
// evaluated before it. Nor are those with a few elements less than an argument has, as what a convolution makes of an
// image: arrays of n - 2 elements assume n >= 3.
//
// What a function checks in any case had better be known: else the call fails. The sizes of matrices that are
// multiplied are then one size, and of z[q, 3 * h + i] for i < h, where z has g columns, g >= 4 * h is assumed, since
// otherwise the last of these elements is not there. Numbers that are divided by are at least 1, and loops over
// arguments have iterations. Of x[index[k]], for all k, the least element of `index` is assumed to be at least 0, and
// the greatest less than there are in x: they are found before (Measured), in less time than the loop takes that reads
// them.
#include "pass/pass.h"

#include "support/vec.h"

enum { MOST_LESS = 16, MOST_ROUNDS = 3, MOST_PARTS = 16 };

typedef struct Assume {
    const Func *f;
    bool measures;    // elements of arguments may be looked at
    Ir *m;            // of the copy that is looked at
    Rewriting *back;  // from its values to f's
    int64_t *least;   // as in Ir
    VEC(Node *) form; // Ints over inputs of f that are not negative, which are no such bounds
    Node **same;      // by input: what it is equal to, over others; NULL: nothing is known
    int nmeasured;    // elements of arguments of f, of which the least and the greatest may be in `form` or `least`
    Measured measured[MOST_MEASURED];
    bool more; // something is new
} Assume;

// ---- what is found before there is a copy

// Of an array of n - k elements, n being a size: n is to be more than k.
static void note_extent(Node *e, void *data) {
    Assume *a = data;
    Ir *m = a->f->ir;
    if (e->op != OP_gen || e->u.var->extent->nonneg) return;
    ArenaMark mark = arena_mark(m->polys);
    Poly p = poly_of(m, e->u.var->extent);
    const Node *size = NULL;
    int64_t less = 0;
    bool plain = true;
    for (int i = 0; i < p.n; i++) {
        const Term *t = &p.term[i];
        if (t->n == 0) less = -t->coeff;
        else if (t->n == 1 && t->coeff == 1 && !size) size = t->atom[0];
        else plain = false;
    }
    bool is_size = plain && size && size->op == OP_input && size->kind == KIND_INT && size->nonneg;
    if (is_size && 0 < less && less <= MOST_LESS && a->least[size->u.num] <= less) a->least[size->u.num] = less + 1;
    arena_release(m->polys, mark);
}

// ---- what is checked in any case

static bool note(Assume *a, Poly p);

// x / y >= c, for c of at least 1, is x >= c * y, for y of at least 1. The quotient; NULL: p is something else.
static const Node *quotient_less(Poly p, int64_t *c) {
    const Node *quotient = NULL;
    *c = 0;
    for (int i = 0; i < p.n; i++) {
        const Term *t = &p.term[i];
        if (t->n == 0) *c = -t->coeff;
        else if (t->n == 1 && t->coeff == 1 && !quotient) quotient = t->atom[0];
        else return NULL;
    }
    return quotient && quotient->op == OP_idiv && *c > 0 ? quotient : NULL;
}

static bool note_quotient(Assume *a, const Node *quotient, int64_t c) {
    Ir *m = a->m;
    Poly x = poly_of(m, quotient->args[0]), y = poly_of(m, quotient->args[1]);
    return note(a, poly_add(m, y, poly_of(m, ir_int(m, -1)))) && note(a, poly_add(m, x, poly_scale(m, y, -c)));
}

// x * y >= c, for c of at least 1 and natural x and y, has x >= 1 and y >= 1. For natural x, y >= 0 says x * y >= 0.
static bool note_product(Assume *a, Poly p) {
    const Term *product = NULL;
    bool least = false;
    for (int i = 0; i < p.n; i++) {
        const Term *t = &p.term[i];
        if (t->n == 0) least = t->coeff < 0;
        else if (t->n > 1 && t->coeff > 0 && !product) product = t;
        else return false;
    }
    int unknown = 0;
    for (int k = 0; product && k < product->n; k++) unknown += !product->atom[k]->nonneg;
    if (!product || unknown != (least ? 0 : 1)) return false;
    for (int k = 0; k < product->n && !least; k++)
        if (!product->atom[k]->nonneg) note(a, poly_of(a->m, product->atom[k]));
    for (int k = 0; k < product->n && least; k++)
        note(a, poly_add(a->m, poly_of(a->m, product->atom[k]), poly_of(a->m, ir_int(a->m, -1))));
    return true;
}

// The input of which p is a multiple, by[0], and a number, by[1]; NULL: it is something else.
static const Node *single_input(Poly p, int64_t by[2]) {
    const Node *input = NULL;
    by[1] = 0;
    for (int i = 0; i < p.n; i++) {
        const Term *t = &p.term[i];
        if (t->n == 0) by[1] = t->coeff;
        else if (t->n == 1 && !input && t->atom[0]->op == OP_input) input = t->atom[0], by[0] = t->coeff;
        else return NULL;
    }
    return input && by[0] > 0 && by[1] > INT32_MIN && by[1] < INT32_MAX ? input : NULL;
}

static bool note_form(Assume *a, Poly p) {
    Node *e = poly_node(a->m, p);
    if (poly_huge(p) || e->partial || !ir_may_be_assumed(e)) return false;
    e = ir_rewrite(a->back, e);
    for (int i = 0; i < a->form.len; i++)
        if (a->form.data[i] == e) return true;
    if (a->form.len == MOST_ASSUMED) return false;
    vec_push(&a->form, e);
    return a->more = true;
}

// That p, of inputs, is not negative, unless that is impossible. True: it is known, or will be in the next copy.
static bool note(Assume *a, Poly p) {
    Ir *m = a->m;
    int64_t by[2], c;
    if (poly_nonneg(m, p)) return true;
    if (poly_nonneg(m, poly_add(m, poly_scale(m, p, -1), poly_of(m, ir_int(m, -1))))) return false;
    const Node *quotient = quotient_less(p, &c), *input = single_input(p, by);
    if (quotient) return note_quotient(a, quotient, c);
    if (note_product(a, p)) return false;
    if (!input) return note_form(a, p);
    int64_t *known = &a->least[input->u.num], least = by[1] < 0 ? (-by[1] + by[0] - 1) / by[0] : 0;
    if (least <= *known) return true; // numbers that loops are made of are usually natural
    *known = least;
    return a->more = true;
}

// p has no index variable that is newer.
static Var *newest_index(Poly p) {
    Var *v = NULL;
    for (int i = 0; i < p.n; i++) {
        for (int k = 0; k < p.term[i].n; k++) {
            const Node *e = p.term[i].atom[k];
            if (e->op == OP_var && !e->u.var->is_state && (!v || v->id < e->u.var->id)) v = e->u.var;
        }
    }
    return v;
}

// How many of the values there are the index leaves out, the least ones, if it takes the others once each: 1, as k + 1
// does for k < n - 1. -1: it is something else. v: its variable.
static int64_t leaves_out(Ir *m, Node *index, Node *extent, Var **v) {
    Poly p = poly_of(m, index), rest, one = poly_of(m, ir_int(m, 1));
    int64_t by, first, behind;
    *v = newest_index(p);
    if (!*v || index->fv->n != 1 || !poly_linear(m, p, ir_var(*v), &by, &rest) || (by != 1 && by != -1)) return -1;
    Poly count = poly_of(m, (*v)->extent);
    if (by < 0) rest = poly_add(m, rest, poly_add(m, one, poly_scale(m, count, -1)));
    Poly after = poly_add(m, poly_of(m, extent), poly_scale(m, poly_add(m, rest, count), -1));
    return poly_const(rest, &first) && poly_const(after, &behind) && first >= 0 && behind == 0 ? first : -1;
}

static bool is_among(const Var *v, int n, const Var *const *among) {
    for (int i = 0; i < n; i++)
        if (among[i] == v) return true;
    return false;
}

static const Measured *known_measured(const Assume *a, const Node *array, const int64_t *at) {
    for (int i = 0; i < a->nmeasured; i++) {
        const Measured *x = &a->measured[i];
        if (x->array == (int)array->u.num && !memcmp(x->at, at, sizeof *at * (size_t)x->rank)) return x;
    }
    return NULL;
}

// Does `read` read all the elements of an argument with the indices at (-1: all)? To go over them takes no longer then,
// and the others need be no indices: the last one of those where rows begin is the end. Those that it leaves out at the
// beginning are read elsewhere.
static bool covers(const Assume *a, const Node *read, int nsome, const Var *const *some, int64_t *at) {
    enum { MOST_RANK = 4 };
    const Node *array = read->args[0];
    const Var *seen[MOST_RANK];
    int n = 0;
    if (array->rank > MOST_RANK) return false;
    for (int k = 0; k < array->rank; k++) {
        Var *v;
        if (!ir_may_be_assumed(array->shape[k])) return false;
        if (ir_is_int_lit(read->args[k + 1], &at[k]) && at[k] >= 0) continue;
        int64_t first = leaves_out(a->m, read->args[k + 1], array->shape[k], &v);
        if (first < 0 || first > MOST_LESS || (first && array->rank > 1)) return false;
        if (is_among(v, nsome, some) || is_among(v, n, seen)) return false;
        for (int64_t j = 0; j < first; j++)
            if (!known_measured(a, array, &j)) return false;
        at[k] = -1, seen[n++] = v;
    }
    return ir_may_be_measured(array->rank, at);
}

// What is measured of these elements of an argument; NULL: there is no room.
static const Measured *measured(Assume *a, const Node *array, const int64_t *at) {
    const Measured *known = known_measured(a, array, at);
    if (known || a->nmeasured == MOST_MEASURED) return known;
    Measured *x = &a->measured[a->nmeasured];
    *x = ir_measured(a->f->ir, a->f->ninputs + 2 * a->nmeasured++, array, at, false);
    return x;
}

typedef struct Elements {
    Assume *a;
    int nsome;
    const Var *const *some;
    int n; // of the polynomial
} Elements;

// PolyBound: of an element of an argument, the number that is measured.
static Node *element_bound(Ir *m, Node *atom, bool greatest, void *data) {
    Elements *x = data;
    const Node *read = x->a->measures ? ir_argument_element(atom) : NULL;
    int64_t at[16];
    if (!read || !covers(x->a, read, x->nsome, x->some, at)) return NULL;
    const Measured *found = measured(x->a, read->args[0], at);
    if (!found) return NULL;
    x->n++;
    Node *known = ir_measured_bound(m, atom, greatest), *of = greatest ? found->greatest : found->least;
    return known ? known : ir_input(m, (int)of->u.num, of->name, KIND_INT, 0, NULL);
}

// rest - x / y >= 0, for y of at least 1, is (rest + 1) * y - x - 1 >= 0: as in poly.c. False: p is something else.
static bool without_quotient(Assume *a, Poly *p) {
    Ir *m = a->m;
    for (int i = 0; i < p->n; i++) {
        const Term *t = &p->term[i];
        Node *q = t->coeff == -1 && t->n == 1 && t->atom[0]->op == OP_idiv ? t->atom[0] : NULL;
        if (!q || !q->args[0]->nonneg || q->args[1]->op == OP_lit) continue;
        Poly x = poly_of(m, q->args[0]), y = poly_of(m, q->args[1]), one = poly_of(m, ir_int(m, 1));
        if (!note(a, poly_add(m, y, poly_scale(m, one, -1)))) return false;
        Poly room = poly_mul(m, poly_add(m, poly_add(m, *p, poly_of(m, q)), one), y);
        *p = poly_add(m, room, poly_scale(m, poly_add(m, x, one), -1));
        return !poly_huge(*p);
    }
    return false;
}

// That p is not negative for all values of its index variables, none of which may be among `some`.
static void note_least(Assume *a, Poly p, int nsome, const Var *const *some) {
    enum { MOST_INDICES = 8 };
    Ir *m = a->m;
    Poly rest;
    int64_t by;
    without_quotient(a, &p);
    for (int n = 0; n < MOST_INDICES; n++) {
        Var *v = newest_index(p);
        if (!v) {
            Elements elements = {a, nsome, some, 0};
            Poly bound = poly_with_bounds(m, p, element_bound, &elements);
            if (elements.n <= 1) note(a, bound); // of two, as of x[i + 1] - x[i], it would be more than is needed
            return;
        }
        if (is_among(v, nsome, some) || !poly_linear(m, p, ir_var(v), &by, &rest)) return;
        Poly last = poly_add(m, poly_of(m, v->extent), poly_of(m, ir_int(m, -1)));
        p = by > 0 ? rest : poly_add(m, rest, poly_scale(m, last, by));
    }
}

// Does e, with what is known to be equal to its inputs, depend on input k?
static bool depends(const Assume *a, const Node *e, int k) {
    if (e->op == OP_input) return (int)e->u.num == k || (a->same[e->u.num] && depends(a, a->same[e->u.num], k));
    for (int i = 0; i < e->nargs; i++)
        if (depends(a, e->args[i], k)) return true;
    return false;
}

// That p, of inputs, is 0: of the inputs that stand in it alone, the last one is what the others say, if that is
// tested.
static void note_zero(Assume *a, Poly p) {
    Ir *m = a->m;
    bool least = note(a, p), most = note(a, poly_scale(m, p, -1));
    if (!least || !most) return;
    const Term *last = NULL;
    for (int i = 0; i < p.n; i++) {
        const Term *t = &p.term[i];
        bool alone = t->n == 1 && t->atom[0]->op == OP_input && (t->coeff == 1 || t->coeff == -1);
        if (alone && (!last || t->atom[0]->u.num > last->atom[0]->u.num)) last = t;
    }
    if (!last || a->same[last->atom[0]->u.num]) return;
    int k = (int)last->atom[0]->u.num;
    Poly rest = poly_scale(m, p, -last->coeff);
    Node *others = poly_node(m, poly_add(m, rest, poly_of(m, last->atom[0])));
    if (others->partial || !ir_may_be_assumed(others)) return;
    others = ir_rewrite(a->back, others);
    if (depends(a, others, k)) return;
    a->same[k] = others;
    a->more = true;
}

static void note_condition(Assume *a, Node *cond) {
    Node *part[MOST_PARTS];
    Poly says[2];
    int n = 0;
    if (!ir_conjuncts(cond, part, &n, MOST_PARTS)) return;
    for (int i = 0; i < n; i++) {
        int k = poly_facts(a->m, part[i], says, 2);
        if (k == 2) note_zero(a, says[0]);
        else if (k == 1) note(a, says[0]);
    }
}

// In x / y and x % y, elements x of an argument are usually natural.
static void note_parts(Assume *a, Poly p, int nsome, const Var *const *some) {
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.term[i].n; k++) {
            const Node *e = p.term[i].atom[k];
            if (e->op != OP_idiv && e->op != OP_irem) continue;
            if (ir_argument_element(e->args[0])) note_least(a, poly_of(a->m, e->args[0]), nsome, some);
        }
}

static void note_indices(Assume *a, Node *read, int nsome, const Var *const *some) {
    Ir *m = a->m;
    Node *array = read->args[0];
    for (int k = 0; k < array->rank; k++) {
        if (ir_index_in_range(m, array->rank, read->args + 1, k, array->shape[k])) continue;
        Poly at = poly_of(m, read->args[k + 1]);
        Poly last = poly_add(m, poly_of(m, array->shape[k]), poly_of(m, ir_int(m, -1)));
        note_parts(a, at, nsome, some);
        note_least(a, at, nsome, some);
        note_least(a, poly_add(m, last, poly_scale(m, at, -1)), nsome, some);
    }
}

// e is evaluated in any case, for all values of its variables but those of `some`.
static void note_failing(Node *e, int nsome, const Var *const *some, void *data) {
    Assume *a = data;
    Ir *m = a->m;
    Node *extent = ir_is_binder(e) ? e->u.var->extent : e->op == OP_fold ? e->u.loop->index->extent : NULL;
    ArenaMark mark = arena_mark(m->polys);
    Poly less = poly_of(m, ir_int(m, -1));
    if (extent) note_least(a, poly_add(m, poly_of(m, extent), less), nsome, some);
    if (e->fails && e->op == OP_assert) note_condition(a, e->args[0]);
    if (e->fails && e->op == OP_at) note_indices(a, e, nsome, some);
    if (e->fails && (e->op == OP_idiv || e->op == OP_irem))
        note_least(a, poly_add(m, poly_of(m, e->args[1]), less), nsome, some);
    arena_release(m->polys, mark);
}

// ---- the copy

static bool is_number(const Node *e) { return e->kind == KIND_INT && e->rank == 0; }

static bool mentions(const Node *e, int number) {
    if (e->op == OP_input) return (int)e->u.num == number;
    for (int i = 0; i < e->nargs; i++)
        if (mentions(e->args[i], number)) return true;
    return false;
}

static bool is_in_form(const Assume *a, int number) {
    for (int i = 0; i < a->form.len; i++)
        if (mentions(a->form.data[i], number)) return true;
    return false;
}

typedef struct Copy {
    const Assume *a;
    Func *g;
    Node **value; // what stands for the inputs of f that are scalars; NULL: nothing yet
    int nmeasured;
    Node *from[2 * MOST_MEASURED], *to[2 * MOST_MEASURED]; // what is measured of arguments, and that in g
} Copy;

static Node *value_of(Copy *c, int k);

static Node *over_values(Copy *c, const Node *e) {
    const Func *f = c->a->f;
    Node **from = ARENA_ARRAY(c->g->ir->arena, Node *, ir_argument_numbers(f));
    Node **to = ARENA_ARRAY(c->g->ir->arena, Node *, ir_argument_numbers(f));
    int n = 0;
    for (int k = 0; k < f->ninputs; k++)
        if (mentions(e, k)) from[n] = f->inputs[k], to[n++] = value_of(c, k);
    for (int i = 0; i < c->nmeasured; i++) from[n] = c->from[i], to[n++] = c->to[i];
    Rewriting *w = ir_copying(c->g->ir, n, from, to);
    Node *out = ir_rewrite(w, (Node *)e);
    ir_rewriting_end(w);
    return out;
}

static Node *value_of(Copy *c, int k) {
    const Assume *a = c->a;
    Node *own = c->g->inputs[k];
    if (!c->value[k] && a->same[k]) {
        Node *others = over_values(c, a->same[k]);
        if (others->nonneg || !own->nonneg) c->value[k] = others;
    }
    if (!c->value[k]) c->value[k] = own;
    return c->value[k];
}

// The inputs of g that are scalars.
static void make_inputs(const Assume *a, Func *g) {
    Ir *m = g->ir;
    for (int k = 0; k < a->f->ninputs; k++) {
        const Node *e = a->f->inputs[k];
        if (e->rank) continue;
        bool natural = k < a->f->nsizes || (is_number(e) && a->least[k] >= 0);
        g->inputs[k] = natural ? ir_size(m, k, e->name) : ir_input(m, k, e->name, e->kind, 0, NULL);
        if (is_in_form(a, k)) g->inputs[k]->bounded_above = g->inputs[k]->bounded_below = true; // see ir_assumptions
    }
}

static bool is_measured(const Assume *a, const Node *input) {
    return a->least[input->u.num] != INT64_MIN || is_in_form(a, (int)input->u.num);
}

// What is measured of arguments, if something is assumed of it.
static void make_measured(Copy *c) {
    const Assume *a = c->a;
    for (int i = 0; i < a->nmeasured; i++) {
        const Measured *x = &a->measured[i];
        if (!is_measured(a, x->least) && !is_measured(a, x->greatest)) continue;
        bool natural = a->least[x->least->u.num] >= 0;
        Measured of = ir_measured(c->g->ir, (int)x->least->u.num, a->f->inputs[x->array], x->at, natural);
        ir_measure(c->g->ir, of);
        c->from[c->nmeasured] = x->least, c->to[c->nmeasured++] = of.least;
        c->from[c->nmeasured] = x->greatest, c->to[c->nmeasured++] = of.greatest;
    }
}

static void make_assumptions(Copy *c, Rewriting *as_given) {
    for (int i = 0; i < c->a->form.len; i++) {
        Node *form = c->a->form.data[i], *e = over_values(c, form);
        // of what is known to be equal, the equation is left
        int64_t *least = e->op == OP_input ? &c->g->ir->least[e->u.num] : NULL;
        if (least) *least = *least > 0 ? *least : 0; // what is left of the form is an input
        else ir_assume(c->g->ir, e->op == OP_lit ? ir_rewrite(as_given, form) : e);
    }
}

// They are made of the arguments before anything is assumed.
static void copy_checks(const Func *f, Func *g, Rewriting *w) {
    Arena *arena = g->ir->arena;
    g->checks = ARENA_ARRAY(arena, Check, f->nchecks + 1);
    for (int i = 0; i < f->nchecks; i++) {
        Check *c = &g->checks[i];
        *c = f->checks[i];
        c->cond = ir_rewrite(w, c->cond);
        c->values = ARENA_ARRAY(arena, Node *, c->nvalues + 1);
        for (int k = 0; k < c->nvalues; k++) c->values[k] = ir_rewrite(w, f->checks[i].values[k]);
    }
}

static Func *copy(const Assume *a) {
    const Func *f = a->f;
    Ir *m = ir_new(f->ir->arena);
    m->raw = f->ir->raw, m->strict = f->ir->strict, m->fast = f->ir->fast;
    m->whole_loops = f->ir->whole_loops, m->span = f->ir->span;
    m->tape_limit = f->ir->tape_limit, m->tape_whole = f->ir->tape_whole, m->ahead = f->ir->ahead, m->debug_nan = f->ir->debug_nan,
    m->bounds = f->ir->bounds;
    m->explain = f->ir->explain, m->rules = f->ir->rules;
    Func *g = ARENA_NEW(m->arena, Func);
    *g = *f;
    g->ir = m;
    g->inputs = ARENA_ARRAY(m->arena, Node *, f->ninputs + 1);
    g->outputs = ARENA_ARRAY(m->arena, Node *, func_roots(f) + 1);
    m->positive = true;
    m->least = arena_copy(m->arena, a->least, sizeof *a->least * (size_t)ir_argument_numbers(f));
    for (int k = -1; k <= 1; k++) ir_int(m, k); // operands are ordered by age, which is to be the same in all copies
    make_inputs(a, g);
    Copy c = {.a = a, .g = g, .value = ARENA_ARRAY(m->arena, Node *, f->ninputs + 1)};
    const int most = ir_argument_numbers(f);
    Node **from = ARENA_ARRAY(m->arena, Node *, most), **to = ARENA_ARRAY(m->arena, Node *, most);
    Node **own = ARENA_ARRAY(m->arena, Node *, most);
    int n = 0;
    make_measured(&c);
    for (int i = 0; i < c.nmeasured; i++) from[n] = c.from[i], to[n] = own[n] = c.to[i], n++;
    for (int k = 0; k < f->ninputs; k++)
        if (!f->inputs[k]->rank) from[n] = f->inputs[k], to[n] = value_of(&c, k), own[n++] = g->inputs[k];
    Rewriting *w = ir_copying(m, n, from, to), *as_given = ir_copying(m, n, from, own);
    make_assumptions(&c, as_given);
    for (int k = 0; k < f->ninputs; k++)
        if (f->inputs[k]->rank) g->inputs[k] = ir_rewrite(w, f->inputs[k]);
    for (int i = 0; i < func_roots(f); i++) g->outputs[i] = ir_rewrite(w, f->outputs[i]);
    copy_checks(f, g, as_given);
    ir_rewriting_end(w);
    ir_rewriting_end(as_given);
    return g;
}

static void weigh(Node *e, void *data) {
    if (e->fv->n || e->rank) *(int64_t *)data += e->fv->n && e->fails ? 2 : 1;
    if (e->op == OP_gen && !e->u.var->extent->nonneg) ++*(int64_t *)data;
}

// What is evaluated in loops; what may fail there counts twice.
static int64_t weight(const Func *f) {
    int64_t sum = 0;
    ir_walk(func_roots(f), f->outputs, weigh, &sum);
    for (int i = 0; i < func_roots(f); i++) // how many elements results have is checked first
        for (const Node *e = f->outputs[i]; e->op == OP_gen; e = e->args[0]) sum -= !e->u.var->extent->nonneg;
    return sum;
}

// Is the version worth its code? Of what may fail lowering knows more if no size is 0; else what is assumed besides has
// to leave less to do. Less than before: of a copy as such, that is.
static bool is_of_use(const Func *f, const Func *g, int64_t before) {
    bool fails = false;
    for (int i = 0; i < func_roots(f); i++) fails |= f->outputs[i]->partial;
    return (fails && f->nsizes) || (ir_assumes_more(g) && weight(g) < before);
}

static Rewriting *back_to(const Assume *a, const Func *g) {
    const Func *f = a->f;
    Arena *arena = f->ir->arena;
    const int most = ir_argument_numbers(f);
    Node **from = ARENA_ARRAY(arena, Node *, most), **to = ARENA_ARRAY(arena, Node *, most);
    int n = 0;
    for (int i = 0; i < g->ir->nmeasured; i++) {
        const Measured *x = &g->ir->measured[i], *of = &a->measured[((int)x->least->u.num - f->ninputs) / 2];
        from[n] = x->least, to[n++] = of->least;
        from[n] = x->greatest, to[n++] = of->greatest;
    }
    for (int k = 0; k < f->ninputs; k++)
        if (!f->inputs[k]->rank) from[n] = g->inputs[k], to[n++] = f->inputs[k];
    return ir_copying(f->ir, n, from, to);
}

Func *pass_assume_positive(const Func *f, bool measures) {
    Arena *arena = f->ir->arena;
    Assume a = {.f = f, .measures = measures};
    const int most = ir_argument_numbers(f);
    Func *g;
    int64_t before = 0;
    a.least = ARENA_ARRAY(arena, int64_t, most);
    a.same = ARENA_ARRAY(arena, Node *, most);
    for (int k = 0; k < most; k++) a.least[k] = k < f->nsizes ? 1 : INT64_MIN;
    ir_walk(func_roots(f), f->outputs, note_extent, &a);
    for (int round = 0;; round++) {
        g = copy(&a);
        if (round == 0) before = weight(g);
        Map found = {0};
        a.m = g->ir, a.more = false, a.back = back_to(&a, g);
        if (round < MOST_ROUNDS) pass_certain_visit(g, &found, note_failing, &a);
        map_free(&found);
        ir_rewriting_end(a.back);
        if (!a.more) break;
    }
    vec_free(&a.form);
    return is_of_use(f, g, before) ? g : NULL;
}
