// Products ahead. What a sequential loop adds up in each iteration, of a matrix and of a row that no iteration makes, can be
// computed for many iterations at once: as a product of matrices, which reads the matrix once for all of them. So is the product
// with an input of each step, and so are all those that a reverse computes again from the trace of the states. The loop goes in
// strips, before each of which this is done (lower/postpone.c does the same for what iterations add to a matrix):
//
//     fold t < n, s = s0 { S(s, t, sum j (w[k,j] * x[t,j])) }
//
// becomes
//
//     fold c < (n + K - 1) / K, s = s0 {
//         A = gen r < m { gen k { sum j (w[k,j] * x[f + r,j]) } }                  f = c * K, m = min(K, n - f)
//         final of fold r < m, s = s { S(s, f + r, A[r,k]) }
//     }
//
// `keep` leaves such values to this: of a recurrent network, the trace is the states, and gates are there for a strip only.
// K is 128, or fewer if rows are long.
#include "pass/ahead.h"

#include "pass/occurs.h"
#include "pass/pass.h"

// How many iterations are a strip at most, and how many numbers are computed for it; sums, rows and loops that are known to be
// shorter than LEAST are left as they are; how much an element of a row may need to be computed.
enum { STRIP = 128, MOST_NUMBERS = 1 << 18, LEAST = 16, CHEAP = 2, BUDGET = 32, DEPTH = 4, MOST_PARTS = 16 };

// ---- what can be computed ahead

static bool is_long(const Node *extent) {
    int64_t n;
    return !ir_is_int_lit(extent, &n) || n >= LEAST;
}

// Is e an element of an array that is there before the loop, or cheap and of such elements?
static bool is_read(const Node *e, const Var *t, const Var *v, int *budget) {
    if (--*budget < 0) return false;
    if (e->op == OP_at) return e->args[0]->op != OP_gen && !node_has_var(e->args[0], t) && !node_has_var(e->args[0], v);
    if (e->op != OP_conv && e->nargs && (!op_is_elementwise(e->op) || op_info[e->op].cost > CHEAP)) return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_read(e->args[i], t, v, budget)) return false;
    return true;
}

typedef struct Factors {
    const Var *t, *v;
    int n;
    Var *const *w;
    bool matrix, row, rows; // are there factors of the matrix, and of a row; are these of several rows?
} Factors;

static void find_factors(const Node *e, Factors *f) {
    if (e->op == OP_mul || e->op == OP_neg) {
        for (int i = 0; i < e->nargs; i++) find_factors(e->args[i], f);
        return;
    }
    bool row = node_has_var(e, f->t), any = false;
    for (int i = 0; i < f->n; i++) any |= node_has_var(e, f->w[i]);
    f->rows |= row && any;
    f->row |= row && node_has_var(e, f->v);
    f->matrix |= !row && any && node_has_var(e, f->v);
}

// Is it evaluated in some iterations only?
static bool is_guarded(const Facts *facts, const Var *t) {
    bool any = false;
    for (int i = 0; facts && i < facts->n; i++) {
        const VarSet *fv = facts->p[i]->fv;
        for (int k = 0; k < fv->n; k++) any |= fv->v[k] == t || fv->v[k]->is_state;
    }
    return any;
}

bool ahead_product(const Node *e, const Var *t, int n, Var *const *w, const Facts *facts) {
    int budget = BUDGET;
    if (e->op != OP_sum || e->rank || !kind_is_float(e->kind) || e->partial || is_guarded(facts, t)) return false;
    if (e->u.var->extent->fv->n || !is_long(e->u.var->extent)) return false;
    Factors f = {.t = t, .v = e->u.var, .n = n, .w = w};
    int rows = 0;
    for (int i = 0; i < n; i++) {
        if (w[i]->extent->fv->n) return false;
        rows += is_long(w[i]->extent);
    }
    find_factors(e->args[0], &f);
    return rows == 1 && f.matrix && f.row && !f.rows && is_read(e->args[0], t, e->u.var, &budget);
}

static const Node *binding(const Nodes *all, const Var *s) {
    for (int i = 0; i < all->all.len; i++) {
        const Node *e = all->all.data[i];
        for (int k = 0; ir_is_loop(e) && k < ir_loop(e)->n; k++)
            if (ir_loop(e)->state[k] == s) return e;
    }
    return NULL;
}

// Is it in no loop over elements?
static bool is_alone(const Nodes *all, const Node *loop, int depth) {
    for (int i = 0; i < loop->fv->n; i++) {
        const Var *v = loop->fv->v[i];
        const Node *around = v->is_state ? binding(all, v) : NULL;
        if (v->is_state && (!around || depth == 0 || !is_alone(all, around, depth - 1))) return false;
        for (int k = 0; k < all->binders.len && !v->is_state; k++)
            if (all->binders.data[k]->u.var == v) return false;
    }
    return true;
}

// Does an iteration set a row to something dear? What other states need of that would be computed for each again, since the row is
// at a computed place then.
static bool fills_dearly(const Node *loop) {
    const Loop *l = ir_loop(loop);
    bool any = false;
    for (int i = 0; i < l->nout; i++) any |= pass_cost(loop_output(loop, i)) > PASS_COST_DEAR;
    for (int k = 0; k < l->n; k++) {
        const Node *e = loop_step(loop, k);
        while (e->op == OP_gen) e = e->args[0];
        bool row = e->op == OP_select && e->args[2]->op == OP_at && e->args[2]->args[0] == ir_var(l->state[k]);
        any |= row && pass_cost(e->args[1]) > PASS_COST_DEAR;
    }
    return any;
}

bool ahead_goes_in_strips(const Nodes *all, const Node *loop) {
    if (loop->op != OP_fold || !is_long(ir_loop(loop)->index->extent) || fills_dearly(loop)) return false;
    return is_alone(all, loop, DEPTH);
}

// ---- the loops that go in strips

typedef struct Strips { // of the loops with one index variable
    Var *t, *c, *r, *s; // that; over strips; over the iterations of one, in the arrays and in the loop
    Node *at, *at_r;    // f + s, f + r
} Strips;

typedef struct Product { // what is computed ahead
    Node *e;
    int n;
    Var *w[PART_RANK]; // the variables around it in the loop
} Product;

typedef struct Ahead {
    Func *f;
    Nodes nodes;
    Users users;
    Map facts;
    VEC(Node *) sums; // that may be products
    VEC(Strips) strips;
    VEC(Var *) parts;
    Map outer;         // states -> those of the loops over strips
    Map done;          // index variables of loops inside of strips
    Map read;          // products -> elements of arrays
    Map refused;       // loops that stay as they are
    VEC(Node *) loops; // those that are taken now: they have states in common
    VEC(Product) products;
} Ahead;

// The variables of e that are bound in the loop, but its index; -1: there are none, or states.
static int inner(const Node *loop, const Node *e, Var **w) {
    int n = 0;
    for (int i = 0; i < e->fv->n; i++) {
        Var *v = e->fv->v[i];
        if (v == ir_loop(loop)->index || node_has_var(loop, v)) continue;
        if (v->is_state || n == PART_RANK - 2) return -1;
        w[n++] = v;
    }
    return n ? n : -1;
}

static bool is_wanted(Ahead *a, Node *loop, Node *e) {
    Var *w[PART_RANK];
    const Loop *l = ir_loop(loop);
    if (e->op != OP_sum || !node_has_var(e, l->index)) return false;
    int n = inner(loop, e, w);
    return n > 0 && ahead_product(e, l->index, n, w, map_get(&a->facts, e));
}

// The sum of two products has one array, if nothing else reads them.
static Node *with_other(Ahead *a, Node *loop, Node *e) {
    Var *v[PART_RANK], *w[PART_RANK];
    Node *sum = users_count(&a->users, e) == 1 ? users_of(&a->users, e)[0] : NULL;
    if (!sum || sum->op != OP_add) return e;
    Node *other = sum->args[sum->args[0] == e];
    bool both = other != e && users_count(&a->users, other) == 1 && is_wanted(a, loop, other);
    return both && inner(loop, sum, v) == inner(loop, e, w) && inner(loop, other, v) == inner(loop, e, w) ? sum : e;
}

static void add_product(Ahead *a, Node *loop, Node *e) {
    Product p = {.e = e};
    for (int i = 0; i < a->products.len; i++)
        if (a->products.data[i].e == e) return;
    p.n = inner(loop, e, p.w);
    vec_push(&a->products, p);
}

static bool may_have_products(const Ahead *a, const Node *loop) {
    for (int i = 0; i < a->sums.len; i++)
        if (node_has_var(a->sums.data[i], ir_loop(loop)->index)) return true;
    return false;
}

// Adds the loop's products; were there any?
static bool add_products(Ahead *a, Node *loop) {
    Nodes steps;
    bool any = false;
    if (!may_have_products(a, loop)) return false;
    nodes_of(ir_loop(loop)->n, loop->args + loop_steps(loop), &steps);
    for (int i = 0; i < steps.all.len; i++) {
        Node *e = steps.all.data[i];
        if (!is_wanted(a, loop, e)) continue;
        add_product(a, loop, with_other(a, loop, e));
        any = true;
    }
    nodes_free(&steps);
    return any;
}

static bool has_loop(const Ahead *a, const Node *loop) {
    for (int i = 0; i < a->loops.len; i++)
        if (a->loops.data[i] == loop) return true;
    return false;
}

static bool shares_state(const Ahead *a, const Node *loop) {
    const Loop *l = ir_loop(loop);
    for (int i = 0; i < a->loops.len; i++) {
        const Loop *o = ir_loop(a->loops.data[i]);
        for (int k = 0; k < l->n * o->n && o->index == l->index; k++)
            if (l->state[k / o->n] == o->state[k % o->n]) return true;
    }
    return false;
}

// Loops that have a state in common stay one: all of them go in strips, or none.
static bool find_family(Ahead *a) {
    bool good = true;
    a->loops.len = a->products.len = 0;
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < a->nodes.all.len; i++) {
            Node *e = a->nodes.all.data[i];
            if (e->op != OP_fold || ir_loop(e)->nout || map_get(&a->done, ir_loop(e)->index)) continue;
            if (has_loop(a, e) || map_get(&a->refused, e)) continue;
            if (a->loops.len ? !shares_state(a, e) : !may_have_products(a, e)) continue;
            if (!add_products(a, e) && !a->loops.len) continue;
            vec_push(&a->loops, e);
            good &= ahead_goes_in_strips(&a->nodes, e);
            grown = true;
        }
    }
    for (int i = 0; i < a->loops.len && !good; i++) map_put(&a->refused, a->loops.data[i], a->loops.data[i]);
    return good;
}

static bool find_loops(Ahead *a) {
    while (!find_family(a)) continue;
    return a->loops.len;
}

// ---- products that are alike
//
// As those for the gates of a cell, which have other parts of the same arrays as factors. They are one array, over the parts.

typedef struct Number { // as an index
    Ir *m;
    int64_t from;
    Node *to;
} Number;

// The index by number `from` of what has several becomes `to`.
static Node *put_number(Node *e, void *data) {
    const Number *x = data;
    Node *at[PART_RANK];
    int64_t n;
    bool any = false;
    if (e->op != OP_at) return ir_map(x->m, e, put_number, data);
    if (e->nargs < 3 || e->nargs > PART_RANK) return e;
    for (int i = 1; i < e->nargs; i++) {
        bool is = ir_is_int_lit(e->args[i], &n) && n == x->from;
        at[i - 1] = is ? x->to : e->args[i];
        any |= is;
    }
    return any ? ir_at(x->m, e->args[0], e->nargs - 1, at) : e;
}

static Node *with_number(Ir *m, Node *e, int64_t from, Node *to) { return put_number(e, &(Number){m, from, to}); }

// The product that is e but for that number; NULL: there is none.
static Node *find_like(const Ahead *a, Node *e, int64_t from, int64_t to) {
    Node *like = with_number(a->f->ir, e, from, ir_int(a->f->ir, to));
    for (int i = 0; i < a->products.len && like != e; i++)
        if (a->products.data[i].e == like) return like;
    return NULL;
}

static Var *part_variable(Ahead *a, int64_t n) {
    int64_t known;
    for (int i = 0; i < a->parts.len; i++)
        if (ir_is_int_lit(a->parts.data[i]->extent, &known) && known == n) return a->parts.data[i];
    vec_push(&a->parts, ir_index(a->f->ir, "part", ir_int(a->f->ir, n)));
    return vec_last(&a->parts);
}

// How many a strip has.
static Node *iterations(const Ahead *a) {
    Ir *m = a->f->ir;
    Node *one = ir_int(m, 1), *numbers = ir_int(m, 0);
    for (int i = 0; i < a->products.len; i++) {
        const Product *p = &a->products.data[i];
        Node *of = one;
        for (int k = 0; k < p->n; k++) of = ir_mul(m, of, ir_trips(m, p->w[k]->extent));
        numbers = ir_add(m, numbers, of);
    }
    Node *room = ir_idiv(m, ir_int(m, MOST_NUMBERS), ir_max(m, one, numbers));
    return ir_max(m, one, ir_min(m, ir_int(m, STRIP), room));
}

static const Strips *strips_of(Ahead *a, Var *t) {
    Ir *m = a->f->ir;
    for (int i = 0; i < a->strips.len; i++)
        if (a->strips.data[i].t == t) return &a->strips.data[i];
    Node *n = ir_trips(m, t->extent), *zero = ir_int(m, 0), *one = ir_int(m, 1), *all = iterations(a);
    Strips s = {.t = t, .c = ir_index(m, "strip", ir_idiv(m, ir_add(m, n, ir_sub(m, all, one)), all))};
    Node *first = ir_max(m, zero, ir_min(m, ir_mul(m, ir_var(s.c), all), n));
    Node *count = ir_max(m, zero, ir_min(m, all, ir_sub(m, n, first)));
    s.r = ir_index(m, "r", count), s.s = ir_index_like(m, t, count);
    s.at_r = ir_add(m, first, ir_var(s.r)), s.at = ir_add(m, first, ir_var(s.s));
    map_put(&a->done, s.s, s.s);
    vec_push(&a->strips, s);
    return &vec_last(&a->strips);
}

// The array of e, of `count` parts from `first` on, from which products are read. part: 0: there is but e itself.
static void put_array(Ahead *a, const Product *p, int64_t number, int64_t first, int64_t count) {
    Ir *m = a->f->ir;
    const Strips *s = strips_of(a, ir_loop(a->loops.data[0])->index);
    Var *part = count > 1 ? part_variable(a, count) : NULL;
    Node *e = part ? with_number(m, p->e, number, ir_add(m, ir_var(part), ir_int(m, first))) : p->e;
    Node *array = ir_subst1(m, e, ir_var(s->t), s->at_r);
    Span before = ir_from(m, p->e);
    // a product of matrices for each part, and each of the indices with few values
    Var *outer[PART_RANK] = {part};
    Node *at[PART_RANK] = {NULL};
    int n = part != NULL;
    for (int k = 0; k < p->n; k++)
        if (!is_long(p->w[k]->extent)) at[n] = ir_var(p->w[k]), outer[n++] = p->w[k];
    at[n] = ir_var(s->s), outer[n++] = s->r;
    for (int k = 0; k < p->n; k++)
        if (is_long(p->w[k]->extent)) at[n] = ir_var(p->w[k]), outer[n++] = p->w[k];
    for (int k = n; k-- > 0;) array = ir_binder_plain(m, OP_gen, outer[k], array);
    for (int64_t k = 0; k < count; k++) {
        Node *of = part && first + k != number ? find_like(a, p->e, number, first + k) : p->e;
        if (part) at[0] = ir_int(m, k);
        map_put(&a->read, of, ir_at(m, array, n, at));
    }
    m->span = before;
}

// p, with all that are like it.
static void put_product(Ahead *a, const Product *p) {
    for (int64_t number = 0; number < MOST_PARTS; number++) {
        int64_t first = number, end = number + 1;
        while (first > 0 && find_like(a, p->e, number, first - 1)) first--;
        while (end < MOST_PARTS && find_like(a, p->e, number, end)) end++;
        if (end - first == 1) continue;
        put_array(a, p, number, first, end - first);
        return;
    }
    put_array(a, p, 0, 0, 1);
}

// ---- the pass

static Var *outer_state(Ahead *a, Var *s) {
    Var *o = map_get(&a->outer, s);
    if (!o) map_put(&a->outer, s, o = ir_state(a->f->ir, s->name, s->kind, s->rank, s->shape));
    return o;
}

static Node *in_strips(Ahead *a, Node *loop) {
    Ir *m = a->f->ir;
    const Loop *l = ir_loop(loop);
    const Strips *s = strips_of(a, l->index);
    Rewriting *w = ir_replacing(m, 0, NULL, NULL);
    for (int i = 0; i < a->products.len; i++) ir_replacing_too(w, a->products.data[i].e, map_get(&a->read, a->products.data[i].e));
    Var **outer = ARENA_ARRAY(m->arena, Var *, l->n);
    Node **init = ARENA_ARRAY(m->arena, Node *, l->n), **step = ARENA_ARRAY(m->arena, Node *, l->n);
    for (int k = 0; k < l->n; k++) {
        outer[k] = outer_state(a, l->state[k]), init[k] = ir_var(outer[k]);
        step[k] = ir_subst1(m, ir_rewrite(w, loop_step(loop, k)), ir_var(s->t), s->at);
    }
    ir_rewriting_end(w);
    Loop inside = {.index = s->s, .n = l->n, .state = l->state};
    Loop strips = {.index = s->c, .n = l->n, .state = outer, .follows = l->follows};
    Node *strip = ir_fold_out(m, &inside, init, step, NULL);
    for (int k = 0; k < l->n; k++) step[k] = ir_final(m, strip, k);
    return ir_fold_out(m, &strips, loop->args, step, NULL);
}

static void replace(Ahead *a) {
    Ir *m = a->f->ir;
    for (int i = 0; i < a->products.len; i++)
        if (!map_get(&a->read, a->products.data[i].e)) put_product(a, &a->products.data[i]);
    Node **to = ARENA_ARRAY(m->arena, Node *, a->loops.len);
    for (int i = 0; i < a->loops.len; i++) to[i] = in_strips(a, a->loops.data[i]);
    Rewriting *w = ir_replacing(m, a->loops.len, a->loops.data, to);
    for (int i = 0; i < func_roots(a->f); i++) a->f->outputs[i] = ir_rewrite(w, a->f->outputs[i]);
    ir_rewriting_end(w);
    for (int i = 0; i < a->products.len; i++)
        explain(m->explain, EXPLAIN_LOOPS, a->products.data[i].e->span,
                "ahead: %s is computed for strips of %d iterations, or %d numbers, as a product of matrices",
                ir_quote(m, a->products.data[i].e), STRIP, MOST_NUMBERS);
}

static bool strip_some(Ahead *a) {
    nodes_collect(a->f, &a->nodes);
    users_collect(&a->nodes, &a->users);
    facts_collect(a->f->ir, a->f->ir->arena, a->nodes.all.len, a->nodes.all.data, &a->facts);
    a->sums.len = 0;
    for (int i = 0; i < a->nodes.binders.len; i++) {
        Node *e = a->nodes.binders.data[i];
        if (e->op == OP_sum && e->fv->n > 1 && kind_is_float(e->kind)) vec_push(&a->sums, e);
    }
    bool any = a->sums.len && find_loops(a);
    if (any) replace(a);
    nodes_free(&a->nodes), users_free(&a->users);
    map_free(&a->facts);
    a->facts = (Map){0};
    return any;
}

void pass_ahead(Func *f) {
    enum { LIMIT = 100 };
    Ahead a = {.f = f};
    if (!f->ir->ahead) return;
    for (int limit = LIMIT; limit > 0 && strip_some(&a); limit--) continue;
    vec_free(&a.sums), vec_free(&a.strips), vec_free(&a.parts), vec_free(&a.loops), vec_free(&a.products);
    map_free(&a.outer), map_free(&a.done), map_free(&a.read), map_free(&a.refused);
}
