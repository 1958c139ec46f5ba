// Elaboration without derivatives (Ir.primal): what they are compared with, to say what they cost. A derivative becomes
// the function itself, evaluated once where the derivative takes one pass, and for each direction where it takes one
// for each; its numbers have the derivative's types and shapes. A gradient of f at x becomes x[k] + f(x): a program
// that goes on with it does so.
#include "front/elab_internal.h"

typedef struct Primal {
    Ir *m;
    Arena *arena;
    const Derived *d;
} Primal;

static Var **indices(const Primal *p, const Node *like) {
    Var **v = ARENA_ARRAY(p->arena, Var *, like->rank + 1);
    for (int k = 0; k < like->rank; k++) v[k] = ir_index(p->m, "k", like->shape[k]);
    return v;
}

static Node *element(const Primal *p, Node *e, Var *const *v) {
    Node **index = ARENA_ARRAY(p->arena, Node *, e->rank + 1);
    for (int k = 0; k < e->rank; k++) index[k] = ir_var(v[k]);
    return ir_at(p->m, e, e->rank, index);
}

static Node *over(const Primal *p, int n, Var *const *v, Node *e) {
    while (n-- > 0) e = ir_gen(p->m, v[n], e);
    return e;
}

// All elements of the results together, as a number of this kind.
static Node *total(const Primal *p, int n, Node *const *y, Kind kind) {
    Node *sum = ir_real(p->m, kind, 0);
    for (int i = 0; i < n; i++) {
        Var **v = indices(p, y[i]);
        Node *e = element(p, y[i], v);
        if (e->kind != kind) e = ir_conv(p->m, kind, e);
        for (int k = y[i]->rank; k-- > 0;) e = ir_sum(p->m, v[k], e);
        sum = ir_add(p->m, sum, e);
    }
    return sum;
}

// A derivative's numbers are others for each kind: else a gradient divided by a second derivative would be 1.
static Node *own_number(const Primal *p, Kind kind) { return ir_real(p->m, kind, 2 + p->d->mode); }

// An array like x that cannot be known without y.
static Node *beside(const Primal *p, Node *x, int n, Node *const *y) {
    Var **v = indices(p, x);
    Node *by = ir_mul(p->m, own_number(p, x->kind), total(p, n, y, x->kind));
    return over(p, x->rank, v, ir_add(p->m, element(p, x, v), by));
}

// e where argument j is another one in each direction v.
static Node *moved(const Primal *p, Node *e, int j, int n, Var *const *v) {
    Node *x = p->d->x[j], *by = ir_int(p->m, 0);
    for (int k = 0; k < n; k++) by = ir_add(p->m, by, ir_var(v[k]));
    Var **i = indices(p, x);
    Node *old = element(p, x, i), *above = ir_lt(p->m, ir_conv(p->m, x->kind, by), old);
    Node *other = over(p, x->rank, i, ir_add(p->m, old, ir_bracket(p->m, above, ir_real(p->m, x->kind, 1))));
    return ir_subst1(p->m, e, x, other);
}

// e with dimensions for the directions after its own.
static Node *over_elements(const Primal *p, int n, Var *const *v, Node *e) {
    Var **i = indices(p, e);
    return over(p, e->rank, i, over(p, n, v, element(p, e, i)));
}

static Node *of_kind(const Primal *p, Kind kind, Node *e) { return e->kind == kind ? e : ir_conv(p->m, kind, e); }

// The block of a Jacobian of leaf y by argument j, with one evaluation for each direction; argument 0 is as good as
// another where the directions are those of y.
static Node *block(const Primal *p, Node *y, int j, bool forward) {
    Node *x = p->d->x[j];
    if (forward) {
        Var **v = indices(p, x);
        return of_kind(p, x->kind, over_elements(p, x->rank, v, x->rank ? moved(p, y, j, x->rank, v) : y));
    }
    Var **v = indices(p, y);
    Node *all = beside(p, x, p->d->ny, p->d->y_float);
    return over(p, y->rank, v, y->rank ? moved(p, all, 0, y->rank, v) : all);
}

static Node **jacobian(const Primal *p, int ny, Node *const *y, bool forward) {
    int nx = p->d->nx;
    Node **out = ARENA_ARRAY(p->arena, Node *, (size_t)ny * (size_t)nx + 1);
    for (int i = 0; i < ny; i++)
        for (int j = 0; j < nx; j++) out[i * nx + j] = block(p, y[i], j, forward);
    return out;
}

// A gradient's arrays.
static Node **gradient(const Primal *p) {
    Node **out = ARENA_ARRAY(p->arena, Node *, p->d->nx + 1);
    for (int j = 0; j < p->d->nx; j++) out[j] = beside(p, p->d->x[j], p->d->ny, p->d->y_float);
    return out;
}

// Those of the results' floating leaves.
static Node **tangents(const Primal *p) {
    Node **out = ARENA_ARRAY(p->arena, Node *, p->d->ny + 1);
    for (int i = 0; i < p->d->ny; i++) {
        Node *y = p->d->y_float[i];
        Var **v = indices(p, y);
        out[i] = over(p, y->rank, v, ir_add(p->m, own_number(p, y->kind), element(p, y, v)));
    }
    return out;
}

static Value leaves(Elab *el, Value first, int n, Node *const *then) {
    Value v = value_new(el, first.n + n);
    for (int i = 0; i < first.n; i++) v.leaf[i] = first.leaf[i];
    for (int i = 0; i < n; i++) v.leaf[first.n + i] = then[i];
    return v;
}

// (value, value) pairs under the index of x.
static Value dual(Elab *el, const Primal *p) {
    const Derived *d = p->d;
    Node *x = d->x[0];
    Var **v = indices(p, x);
    Value out = value_new(el, d->y.n + d->ny);
    for (int i = 0, to = 0; i < d->y.n; i++) {
        Node *e = over(p, x->rank, v, x->rank ? moved(p, d->y.leaf[i], 0, x->rank, v) : d->y.leaf[i]);
        out.leaf[to++] = e;
        if (kind_is_float(e->kind)) out.leaf[to++] = e;
    }
    return out;
}

Value elab_primal(Elab *el, const Derived *d) {
    const Primal p = {el->m, el->arena, d};
    const Value none = {0};
    switch (d->mode) {
    case AD_VALUE_GRAD:
    case AD_VJP2: return leaves(el, d->y, d->nx, gradient(&p));
    case AD_JVP: return leaves(el, none, d->ny, tangents(&p));
    case AD_JVP2: return leaves(el, d->y, d->ny, tangents(&p));
    case AD_JACOBIAN:
    case AD_JACFWD:
    case AD_JACREV: return leaves(el, none, d->ny * d->nx, jacobian(&p, d->ny, d->y_float, d->forward));
    case AD_HESSIAN: return leaves(el, none, d->nx * d->nx, jacobian(&p, d->nx, gradient(&p), true));
    case AD_DERIV: return dual(el, &p);
    default: return leaves(el, none, d->nx, gradient(&p)); // grad, vjp, hvp
    }
}

Node *elab_primal_row(Elab *el, const Derived *d, Node *row) {
    const Primal p = {el->m, el->arena, d};
    Var *v = ir_index(p.m, "k", row->shape[0]);
    return ir_gen(p.m, v, ir_add(p.m, ir_conv(p.m, row->kind, ir_var(v)), total(&p, d->ny, d->y_float, row->kind)));
}
