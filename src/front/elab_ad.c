// Elaboration: derivatives. The function's argument becomes placeholders, the function's result is built in terms of
// them and differentiated, and the actual argument is put in their place. Placeholders are new ones every time, so
// nested derivatives cannot be confused.
#include "front/elab_internal.h"

#include "ad/sparse.h"
#include "support/map.h"
#include "support/vec.h"

#include <math.h>

// A derivative being built: of y (the function's result) by x (the floating leaves of its argument).
typedef struct Deriv {
    Elab *el;
    const Core *c;
    int nx;
    Node **x;      // placeholders
    Node **actual; // what they stand for
    Value y;
    int ny;
    Node **y_float; // the floating leaves of y
    struct Deriv *outer;
} Deriv;

static bool is_float(const Node *e) { return kind_is_float(e->kind); }

static void note_derivative(const Deriv *d) {
    const Unit *u = d->el->unit;
    diag_note(u->diag, report_place(u, d->c->use, d->c->span), "when this derivative is built");
}

// ---- the two modes

static void ad_failed(Deriv *d, AdError error) {
    Elab *el = d->el;
    Span at = error.at && error.at->span.src ? error.at->span : d->c->span;
    elab_error(el, d->c, at, "%s", error.text);
    note_derivative(d);
}

// Tangents of y in the direction dx of x; entries of dx may be NULL. Zeros after an error.
static Node **forward(Deriv *d, int ny, Node **y, Node **dx) {
    Node **dy = ARENA_ARRAY(d->el->arena, Node *, ny + 1);
    AdError error = {0};
    if (ad_forward(d->el->m, ny, y, dy, d->nx, d->x, dx, &error)) return dy;
    ad_failed(d, error);
    for (int i = 0; i < ny; i++) dy[i] = ir_zeros_like(d->el->m, y[i]);
    return dy;
}

static Node **reverse(Deriv *d, int ny, Node **y, Node **y_adj) {
    Node **x_adj = ARENA_ARRAY(d->el->arena, Node *, d->nx + 1);
    AdError error = {0};
    if (ad_reverse(d->el->m, ny, y, y_adj, d->nx, d->x, x_adj, &error)) return x_adj;
    ad_failed(d, error);
    for (int i = 0; i < d->nx; i++) x_adj[i] = ir_zeros_like(d->el->m, d->x[i]);
    return x_adj;
}

static Node **gradient(Deriv *d) {
    Node *one = ir_real(d->el->m, d->y_float[0]->kind, 1);
    return reverse(d, 1, d->y_float, &one);
}

// ---- one-hot directions

// One index variable for every dimension of `like`.
static Var **directions(Deriv *d, const Node *like) {
    Var **v = ARENA_ARRAY(d->el->arena, Var *, like->rank + 1);
    for (int k = 0; k < like->rank; k++) v[k] = ir_index(d->el->m, "d", like->shape[k]);
    return v;
}

// The array of the shape of `like` that is 1 at the indices v and 0 elsewhere.
static Node *one_hot(Deriv *d, const Node *like, Var **v) {
    Ir *m = d->el->m;
    Var **k = ARENA_ARRAY(d->el->arena, Var *, like->rank + 1);
    Node *e = ir_real(m, like->kind, 1);
    for (int r = like->rank; r-- > 0;) {
        k[r] = ir_index(m, "k", like->shape[r]);
        e = ir_bracket(m, ir_eq(m, ir_var(k[r]), ir_var(v[r])), e);
    }
    for (int r = like->rank; r-- > 0;) e = ir_gen(m, k[r], e);
    return e;
}

// gen v… e: the array over all directions.
static Node *over(Deriv *d, int n, Var **v, Node *e) {
    while (n-- > 0) e = ir_gen(d->el->m, v[n], e);
    return e;
}

// e with dimensions for the directions after its own: e has the variables v free in its elements.
static Node *over_elements(Deriv *d, int n, Var **v, Node *e) {
    Ir *m = d->el->m;
    if (!n) return e;
    Var **i = directions(d, e);
    Node **index = ARENA_ARRAY(d->el->arena, Node *, e->rank + 1);
    for (int k = 0; k < e->rank; k++) index[k] = ir_var(i[k]);
    Node *element = over(d, n, v, ir_at(m, e, e->rank, index));
    return over(d, e->rank, i, element);
}

// ---- Jacobians: leaf (i, j) is that of the i-th leaf of y by the j-th of x, its shape the one followed by the other,
// its elements of the kind of those of x in either mode

static Node **jacobian_forward(Deriv *d, int ny, Node **y) {
    Node **out = ARENA_ARRAY(d->el->arena, Node *, (size_t)ny * (size_t)d->nx + 1);
    for (int j = 0; j < d->nx; j++) {
        Node **dx = ARENA_ARRAY(d->el->arena, Node *, d->nx + 1);
        Var **v = directions(d, d->x[j]);
        dx[j] = one_hot(d, d->x[j], v);
        Node **dy = forward(d, ny, y, dx);
        for (int i = 0; i < ny; i++) {
            Node *block = over_elements(d, d->x[j]->rank, v, dy[i]);
            out[i * d->nx + j] = block->kind == d->x[j]->kind ? block : ir_conv(d->el->m, d->x[j]->kind, block);
        }
    }
    return out;
}

static Node **jacobian_reverse(Deriv *d) {
    Node **out = ARENA_ARRAY(d->el->arena, Node *, (size_t)d->ny * (size_t)d->nx + 1);
    for (int i = 0; i < d->ny; i++) {
        Node **y_adj = ARENA_ARRAY(d->el->arena, Node *, d->ny + 1);
        Var **v = directions(d, d->y_float[i]);
        y_adj[i] = one_hot(d, d->y_float[i], v);
        Node **x_adj = reverse(d, d->ny, d->y_float, y_adj);
        for (int j = 0; j < d->nx; j++) out[i * d->nx + j] = over(d, d->y_float[i]->rank, v, x_adj[j]);
    }
    return out;
}

// How many elements the leaves have.
static Poly elements(Ir *m, int n, Node *const *leaf) {
    Poly total = poly_of(m, ir_int(m, 0));
    for (int i = 0; i < n; i++) {
        Poly product = poly_of(m, ir_int(m, 1));
        for (int k = 0; k < leaf[i]->rank; k++) product = poly_mul(m, product, poly_of(m, leaf[i]->shape[k]));
        total = poly_add(m, total, product);
    }
    return total;
}

// Is a <= b for all sizes of at least 1?
static bool at_most(Ir *m, Poly a, Poly b) {
    bool before = m->positive;
    m->positive = true;
    bool known = poly_nonneg(m, poly_add(m, b, poly_scale(m, a, -1)));
    m->positive = before;
    return known;
}

// A guess: the number if every unknown factor is 1000.
static double guess(Poly p) {
    double total = 0;
    for (int i = 0; i < p.n; i++) total += (double)p.term[i].coeff * pow(1000, p.term[i].n);
    return total;
}

static void explain_mode(Deriv *d, bool fwd, bool known, Poly nx, Poly ny) {
    Ir *m = d->el->m;
    Str text[2] = {{0}, {0}};
    if (!explain_wants(m->explain, EXPLAIN_DERIVATIVES)) return;
    ir_print_size(&text[0], poly_node(m, nx));
    ir_print_size(&text[1], poly_node(m, ny));
    explain(m->explain, EXPLAIN_DERIVATIVES, report_place(d->el->unit, d->c->use, d->c->span),
            "`jacobian`: %s mode, a pass for each element of the %s (%s; the %s has %s%s)", fwd ? "forward" : "reverse",
            fwd ? "argument" : "result", str_text(&text[!fwd]), fwd ? "result" : "argument", str_text(&text[fwd]),
            known ? "" : ": that this is more is a guess");
    for (int i = 0; i < 2; i++) str_free(&text[i]);
}

// Forward mode takes a pass for every element of x, reverse mode, which costs more, for every element of y.
static bool goes_forward(Deriv *d, AdMode mode) {
    Ir *m = d->el->m;
    if (mode != AD_JACOBIAN) return mode == AD_JACFWD;
    Poly nx = elements(m, d->nx, d->x), ny = elements(m, d->ny, d->y_float);
    bool fewer = at_most(m, nx, ny), known = fewer || at_most(m, ny, nx);
    bool fwd = fewer || (!known && guess(nx) <= guess(ny));
    explain_mode(d, fwd, known, nx, ny);
    return fwd;
}

static Node **jacobian(Deriv *d, AdMode mode) {
    return goes_forward(d, mode) ? jacobian_forward(d, d->ny, d->y_float) : jacobian_reverse(d);
}

// Starts of rows, columns, values.
static Value sparse(Deriv *d) {
    Elab *el = d->el;
    AdSparse s;
    AdError error = {0};
    Type *values = type_prune(d->c->type)->parts[2];
    if (!ad_sparse(el->m, type_elem(values)->kind, d->ny, d->y_float, d->nx, d->x, &s, &error)) {
        ad_failed(d, error);
        return value_dummy(el, d->c->type);
    }
    Value v = value_new(el, 3);
    v.leaf[0] = s.starts, v.leaf[1] = s.columns, v.leaf[2] = s.values;
    return v;
}

// ---- the forms

static Value leaves(Deriv *d, int n, Node **leaf, bool with_value) {
    int first = with_value ? d->y.n : 0;
    Value v = value_new(d->el, first + n);
    for (int i = 0; i < first; i++) v.leaf[i] = d->y.leaf[i];
    for (int i = 0; i < n; i++) v.leaf[first + i] = leaf[i];
    return v;
}

// [FS] Fig. 5: (value, derivative) pairs under the index of x.
static Value dual(Deriv *d) {
    Var **v = directions(d, d->x[0]);
    int rank = d->x[0]->rank, to = 0;
    Node *dx = one_hot(d, d->x[0], v), **dy = forward(d, d->ny, d->y_float, &dx);
    Value out = value_new(d->el, d->y.n + d->ny);
    for (int i = 0, k = 0; i < d->y.n; i++) {
        out.leaf[to++] = over(d, rank, v, d->y.leaf[i]);
        if (is_float(d->y.leaf[i])) out.leaf[to++] = over(d, rank, v, dy[k++]);
    }
    return out;
}

// What it is compared with. The pattern of a sparse Jacobian is found while it is built.
static Value without_derivative(Deriv *d) {
    bool jacobian = d->c->ad == AD_JACOBIAN || d->c->ad == AD_JACFWD || d->c->ad == AD_JACREV;
    Derived x = {d->c->ad, jacobian && goes_forward(d, d->c->ad), d->nx, d->x, d->y, d->ny, d->y_float};
    if (d->c->ad != AD_JACSPARSE) return elab_primal(d->el, &x);
    Value v = sparse(d);
    if (!d->el->failed) v.leaf[2] = elab_primal_row(d->el, &x, v.leaf[2]);
    return v;
}

static Value build(Deriv *d, Value direction) {
    if (d->el->m->primal) return without_derivative(d);
    switch (d->c->ad) {
    case AD_GRAD:
    case AD_VALUE_GRAD: return leaves(d, d->nx, gradient(d), d->c->ad == AD_VALUE_GRAD);
    case AD_JVP:
    case AD_JVP2: return leaves(d, d->ny, forward(d, d->ny, d->y_float, direction.leaf), d->c->ad == AD_JVP2);
    case AD_VJP:
    case AD_VJP2: return leaves(d, d->nx, reverse(d, d->ny, d->y_float, direction.leaf), d->c->ad == AD_VJP2);
    case AD_JACOBIAN:
    case AD_JACFWD:
    case AD_JACREV: return leaves(d, d->ny * d->nx, jacobian(d, d->c->ad), false);
    case AD_JACSPARSE: return sparse(d);
    case AD_HESSIAN: return leaves(d, d->nx * d->nx, jacobian_forward(d, d->nx, gradient(d)), false);
    case AD_HVP: return leaves(d, d->nx, forward(d, d->nx, gradient(d), direction.leaf), false);
    case AD_DERIV: return dual(d);
    }
    fatal_bug("unknown derivative %d", d->c->ad);
}

// Requires the direction's leaves to have the shapes of what they are directions of.
static Value elab_direction(Elab *el, const Core *c, int n, Node **like) {
    if (c->nargs < 3) return (Value){0};
    Value given = elab(el, c->args[2]), v = value_new(el, given.n);
    for (int i = 0; i < given.n; i++) v.leaf[i] = given.leaf[i];
    size_same_shape(el, c, c->args[2]->span, "the direction has different sizes", v, (Value){n, like});
    return v;
}

// A direction, followed by those of what the `total` of a rule moves besides.
static Value with_captured(Elab *el, Value direction, const OpenCustom *o) {
    Value v = value_new(el, direction.n + o->n);
    for (int i = 0; i < v.n; i++) v.leaf[i] = i < direction.n ? direction.leaf[i] : o->direction[i - direction.n];
    return v;
}

// Whether e depends on x other than through stopped values.
static bool varies(Node *e, const Node *x) {
    VEC(Node *) rest = {0};
    Map seen = {0};
    bool found = false;
    vec_push(&rest, e);
    while (rest.len && !found) {
        e = vec_pop(&rest);
        found = e == x;
        if (e->op == OP_stop || map_get(&seen, e)) continue;
        map_put(&seen, e, e);
        for (int i = 0; i < e->nargs; i++) vec_push(&rest, e->args[i]);
    }
    vec_free(&rest);
    map_free(&seen);
    return found;
}

// Notes what the function of a `total` depends on.
static void mark_moved(const Deriv *d, const OpenCustom *o) {
    for (int i = 0; i < o->n; i++)
        for (int k = 0; k < d->y.n; k++) o->captured[i].moved |= varies(d->y.leaf[k], d->x[d->nx - o->n + i]);
}

void elab_warn_cut(Elab *el, const Core *c, Node *a, const char *name) {
    for (const Deriv *d = el->deriv; d != el->cut; d = d->outer)
        for (int i = 0; i < d->nx; i++)
            if (varies(a, d->x[i])) {
                diag_warning(el->unit->diag, WARN_CUT_DERIVATIVE, report_place(el->unit, c->use, c->span),
                             "`%s` is constant between its steps: the derivative is zero here", name);
                report_uses(el->unit, c->use);
                note_derivative(d);
                return;
            }
}

static bool meets(Range a, Range b) { return a.low <= b.high && b.low <= a.high; }

// The name of a function that has a kink where its argument is 0, or its arguments are equal (hypot: both 0); NULL: it has
// none, or e is never there.
static const char *kink_of(const Node *e) {
    const Range zero = {0, 0};
    switch (e->op) {
    case OP_abs: return meets(ir_range(e->args[0]), zero) ? "abs" : NULL;
    case OP_sqrt: return meets(ir_range(e->args[0]), zero) ? "sqrt" : NULL;
    case OP_cbrt: return meets(ir_range(e->args[0]), zero) ? "cbrt" : NULL;
    case OP_hypot: return meets(ir_range(e), zero) ? "hypot" : NULL;
    case OP_max:
    case OP_evenmax:
    case OP_latermax: return meets(ir_range(e->args[0]), ir_range(e->args[1])) ? "max" : NULL;
    case OP_min:
    case OP_evenmin:
    case OP_latermin: return meets(ir_range(e->args[0]), ir_range(e->args[1])) ? "min" : NULL;
    default: return NULL;
    }
}

// Does e, a part of the function of d or of what a loop in it repeats, vary with what is differentiated by: in d, if that
// takes two derivatives at once; else in d and a derivative of that?
static bool varies_twice(const Deriv *d, Node *e) {
    bool twice = d->c->ad == AD_HESSIAN || d->c->ad == AD_HVP, in_loop = false;
    for (int k = 0; k < e->fv->n; k++) in_loop |= e->fv->v[k]->is_state;
    for (int i = 0; i < d->nx; i++) {
        if (!in_loop && !varies(e, d->x[i])) continue;
        for (const Deriv *o = d->outer; o && !twice; o = o->outer)
            for (int k = 0; k < o->nx && !twice; k++) twice = varies(e, o->x[k]) || varies(d->actual[i], o->x[k]);
        if (twice) return true;
    }
    return false;
}

static void warn_kink(Node *e, void *data) {
    const Deriv *d = data;
    const Unit *u = d->el->unit;
    const char *name = kind_is_float(e->kind) ? kink_of(e) : NULL;
    if (!name || !varies_twice(d, e)) return;
    diag_warning(u->diag, WARN_KINK, e->span.src ? e->span : d->c->span,
                 "`%s` has a kink, and is differentiated twice: a second derivative there may be wrong", name);
    note_derivative(d);
}

// Names what has a kink in the function, once what is smooth as a whole has its form, and is differentiated twice.
static void warn_kinks(Deriv *d) {
    Elab *el = d->el;
    if (!diag_warns(el->unit->diag, WARN_KINK)) return;
    for (int k = 0; k < d->y.n; k++) {
        Node *y = ad_smooth(el->m, d->y.leaf[k]);
        ir_walk(1, &y, warn_kink, d);
    }
}

static void mark(Core *c, bool stopped);

static void mark_spec(const SizeSpec *s, bool stopped) {
    if (s && s->extent) mark(s->extent, stopped);
    for (int i = 0; s && i < s->nparts; i++) mark_spec(s->parts[i], stopped);
}

static void mark_items(const Core *c, bool stopped) {
    for (int i = 0; i < c->nitems; i++) {
        Core *const of[] = {c->items[i].at, c->items[i].lo, c->items[i].hi};
        for (int k = 0; k < 3; k++)
            if (of[k]) mark(of[k], stopped);
    }
}

// Uses come before what they are uses of: a block's body before its bindings, and these backwards.
static void mark_block(const Core *c, bool stopped) {
    mark(c->args[0], stopped);
    for (int i = c->nbinds; i-- > 0;) {
        const CoreVar *v = c->binds[i].var; // NULL: an assertion
        mark(c->binds[i].value, stopped || (v && !v->carries));
    }
}

static void mark(Core *c, bool stopped) {
    for (; c; c = c->nargs ? c->args[0] : NULL) { // chains of operators lean to the left
        if (c->kind == CORE_VAR) c->vars[0]->carries |= !stopped;
        stopped |= c->kind == CORE_STOP || c->kind == CORE_EXTENT || c->kind == CORE_EVALUATED;
        // A derivative goes through its function, whatever is done with the derivative.
        for (int i = c->nargs; i-- > 1;) mark(c->args[i], stopped && c->kind != CORE_AD);
        mark_items(c, stopped);
        mark_spec(c->spec, stopped);
        if (c->kind == CORE_BLOCK) {
            mark_block(c, stopped);
            return;
        }
    }
}

void elab_mark_carriers(Core *c) { mark(c, false); }

Value elab_stopped(Elab *el, const Core *c) {
    Deriv *outside = el->cut;
    el->cut = el->deriv;
    Value v = elab(el, c);
    el->cut = outside;
    return v;
}

// Have the arrays of the result too many dimensions? Those of the argument and of the function's result add up.
static bool too_deep(Elab *el, const Core *c) {
    int n = type_leaves(c->type), *ranks = ARENA_ARRAY(el->arena, int, n + 1);
    Kind *kinds = ARENA_ARRAY(el->arena, Kind, n + 1);
    type_leaf_list(c->type, kinds, ranks);
    for (int i = 0; i < n; i++) {
        if (ranks[i] <= MAX_RANK) continue;
        elab_error(el, c, c->span, "an array cannot have more than %d dimensions; this derivative has %d", MAX_RANK, ranks[i]);
        return true;
    }
    return false;
}

// What the modes compute must be what inference has said to the rest of the program.
static void check_kinds(Elab *el, const Core *c, Value v) {
    int n = type_leaves(c->type), *ranks = ARENA_ARRAY(el->arena, int, n + 1);
    Kind *kinds = ARENA_ARRAY(el->arena, Kind, n + 1);
    type_leaf_list(c->type, kinds, ranks);
    if (n != v.n) fatal_bug("a derivative has %d leaves, its type has %d", v.n, n);
    for (int i = 0; i < n; i++)
        if (v.leaf[i]->kind != kinds[i] || v.leaf[i]->rank != ranks[i])
            fatal_bug("leaf %d of a derivative is not of its type", i);
}

// What a loop chooses is differentiated where it was found, not in every iteration.
static Node *chosen(Ir *m, Node *e, void *data) {
    const Deriv *d = data;
    Node *found = e->op == OP_final && is_float(e) ? ir_last_replaced(m, e->args[0], (int)e->u.num) : NULL;
    for (int j = 0; found && j < d->nx; j++)
        if (varies(found, d->x[j])) return found;
    return e;
}

// Placeholders for the argument and, if this is the `total` of a rule, for what that captures. The function's parameter is
// bound to the value.
static Value placeholders(Deriv *d, Value actual, const OpenCustom *o) {
    Elab *el = d->el;
    int n;
    Node **floats = elab_float_leaves(el, actual, &n), **captured = total_values(el, o);
    Value bound = value_new(el, actual.n);
    d->nx = n + o->n;
    d->x = ARENA_ARRAY(el->arena, Node *, d->nx + 1);
    d->actual = ARENA_ARRAY(el->arena, Node *, d->nx + 1);
    for (int i = 0; i < d->nx; i++) {
        Node *a = d->actual[i] = i < n ? floats[i] : captured[i - n];
        d->x[i] = ir_param(el->m, a->kind, a->rank, a->shape);
    }
    for (int i = 0, k = 0; i < actual.n; i++) bound.leaf[i] = is_float(actual.leaf[i]) ? d->x[k++] : actual.leaf[i];
    return bound;
}

static Node *put_arguments(const Deriv *d, Node *e) {
    e = ir_subst(d->el->m, e, d->nx, d->x, d->actual);
    return d->el->active ? e : ir_expand(d->el->m, e);
}

// The body of the function, d->y, with placeholders for what it is differentiated by.
static void body_of(Deriv *d, const Core *c, const OpenCustom *total) {
    Elab *el = d->el;
    c->vars[0]->value = placeholders(d, elab(el, c->args[0]), total);
    Active active = {d->nx, d->x, el->active};
    d->outer = el->deriv;
    el->deriv = d;
    el->active = &active;
    bool twice = c->ad == AD_HESSIAN || c->ad == AD_HVP;
    el->order += 1 + twice;
    if (el->order > el->greatest_order) el->greatest_order = el->order;
    int nargument = d->nx - total->n;
    total_put(el, total, d->x + nargument);
    d->y = elab(el, c->args[1]);
    total_put(el, total, d->actual + nargument);
    mark_moved(d, total);
    el->deriv = d->outer;
    el->active = active.outer;
    el->order -= 1 + twice;
}

// The derivative for the arguments, under the demand that the function's value be evaluated: where that has an error, the
// derivative has it, too.
static void put_derivative(const Deriv *d, Node *raises, Value v) {
    Ir *m = d->el->m;
    raises = put_arguments(d, raises);
    for (int i = 0; i < v.n; i++) {
        Node *e = put_arguments(d, v.leaf[i]);
        ir_derived(m, e, raises);
        v.leaf[i] = ir_demand(m, raises, e);
    }
}

Value elab_ad(Elab *el, const Core *c) {
    Deriv d = {.el = el, .c = c};
    const OpenCustom *total = total_of(el, c);
    body_of(&d, c, total);
    warn_kinks(&d);
    Node *raises = ir_evaluated(el->m, d.y.n, d.y.leaf);
    for (int i = 0; i < d.y.n && !el->m->raw; i++) d.y.leaf[i] = ir_change(el->m, d.y.leaf[i], chosen, &d);
    for (int i = 0; i < d.y.n && !el->m->strict && !el->m->raw; i++) d.y.leaf[i] = ad_stable(el->m, d.y.leaf[i]);
    d.y_float = elab_float_leaves(el, d.y, &d.ny);
    elab_at(el, c);
    bool by_result = c->ad == AD_VJP || c->ad == AD_VJP2;
    Value direction = elab_direction(el, c, by_result ? d.ny : d.nx - total->n, by_result ? d.y_float : d.x);
    direction = with_captured(el, direction, total);
    if (el->failed || too_deep(el, c)) return value_dummy(el, c->type);
    Value v = build(&d, direction);
    put_derivative(&d, raises, v);
    if (!el->failed) check_kinds(el, c, v);
    return v;
}
