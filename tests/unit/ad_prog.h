// Programs built by hand, for tests of differentiation: inputs with values, shorthands for building, running by the
// interpreter, and differences.
#ifndef UNIT_AD_PROG_H
#define UNIT_AD_PROG_H

#include "ad/ad.h"
#include "ir/tensor.h"
#include "lower/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_INPUTS = 64, MAX_OUTPUTS = 8 };

typedef struct Prog {
    Arena *arena;
    Ir *m;
    int nin;
    Node *in[MAX_INPUTS];
    Tensor val[MAX_INPUTS];
    int nx;
    int x[MAX_INPUTS]; // the inputs to differentiate by
    int ny;
    Node *y[MAX_OUTPUTS];
} Prog;

static int failures;
static char why[512];
static uint64_t seed_state;

static inline double uniform(double lo, double hi) {
    seed_state = seed_state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(seed_state >> 40) / (double)(1 << 24);
}

static inline void report(const char *name, const char *variant, bool ok) {
    if (ok) {
        printf("ok %s%s\n", name, variant);
    } else {
        printf("not ok %s%s: %s\n", name, variant, why);
        failures++;
    }
}

// ---- inputs
static inline Node *add_input(Prog *p, const char *name, Node *e, Tensor val) {
    (void)name;
    p->val[p->nin] = val;
    return p->in[p->nin++] = e;
}

static inline Node *size(Prog *p, const char *name, int64_t value) {
    Tensor t = tensor_new(p->arena, KIND_INT, 0, NULL);
    *(int64_t *)t.data = value;
    return add_input(p, name, ir_size(p->m, p->nin, name), t);
}

static inline Tensor tensor_like(Prog *p, Node *shaped, int64_t *extents) {
    return tensor_new(p->arena, KIND_DOUBLE, shaped->rank, extents);
}

static inline Node *passive(Prog *p, const char *name, Kind kind, int rank, Node **shape, const int64_t *extents) {
    Tensor t = tensor_new(p->arena, kind, rank, extents);
    for (int64_t i = 0; i < tensor_count(&t); i++) tensor_set(&t, i, kind_is_float(kind) ? uniform(0.3, 1.3) : (double)i);
    return add_input(p, name, ir_input(p->m, p->nin, name, kind, rank, shape), t);
}

static inline Node *array(Prog *p, const char *name, int rank, Node **shape, const int64_t *extents) {
    p->x[p->nx++] = p->nin;
    return passive(p, name, KIND_DOUBLE, rank, shape, extents);
}

static inline Node *scalar(Prog *p, const char *name, double value) {
    Node *e = array(p, name, 0, NULL, NULL);
    tensor_set(&p->val[p->nin - 1], 0, value);
    return e;
}

static inline Node *vector(Prog *p, const char *name, Node *n, int64_t count) { return array(p, name, 1, &n, &count); }

static inline Node *matrix(Prog *p, const char *name, Node *n, Node *m, int64_t rows, int64_t cols) {
    return array(p, name, 2, (Node *[]){n, m}, (int64_t[]){rows, cols});
}

static inline Node *ints(Prog *p, const char *name, Node *n, int64_t count, const int64_t *values) {
    Node *e = passive(p, name, KIND_INT, 1, &n, &count);
    for (int64_t i = 0; i < count; i++) tensor_set(&p->val[p->nin - 1], i, (double)values[i]);
    return e;
}

static inline void set(Prog *p, Node *input, const double *values) {
    Tensor *t = &p->val[input->u.num];
    for (int64_t i = 0; i < tensor_count(t); i++) tensor_set(t, i, values[i]);
}

static inline void output(Prog *p, Node *y) { p->y[p->ny++] = y; }

// ---- shorthands for building
static inline Node *at1(Prog *p, Node *a, Node *i) { return ir_at1(p->m, a, i); }
static inline Node *at2(Prog *p, Node *a, Node *i, Node *j) { return ir_at(p->m, a, 2, (Node *[]){i, j}); }
static inline Node *real(Prog *p, double x) { return ir_real(p->m, KIND_DOUBLE, x); }
static inline Node *num(Prog *p, int64_t x) { return ir_int(p->m, x); }
#define INDEX(v, n)                                                                                                                \
    Var *v##_var = ir_index(p->m, #v, n);                                                                                          \
    Node *v = ir_var(v##_var);                                                                                                     \
    (void)v
#define SUM(v, e)   ir_sum(p->m, v##_var, e)
#define GEN(v, e)   ir_gen(p->m, v##_var, e)
#define ADD(a, b)   ir_add(p->m, a, b)
#define SUB(a, b)   ir_sub(p->m, a, b)
#define MUL(a, b)   ir_mul(p->m, a, b)
#define DIV(a, b)   ir_div(p->m, a, b)
#define EXP(a)      ir_exp(p->m, a)
#define LOG(a)      ir_log(p->m, a)
#define SIN(a)      ir_sin(p->m, a)
#define LT(a, b)    ir_lt(p->m, a, b)
#define LE(a, b)    ir_le(p->m, a, b)
#define EQ(a, b)    ir_eq(p->m, a, b)
#define WHEN(c, e)  ir_bracket(p->m, c, e)
#define IF(c, a, b) ir_select(p->m, c, a, b)

// ---- running
static inline bool evaluate(Prog *p, int n, Node **e, Tensor *out) {
    Func f = {.name = "test", .ir = p->m, .ninputs = p->nin, .inputs = p->in, .noutputs = n, .outputs = e};
    const char *error = NULL;
    ir_verify(&f);
    int code = interp_run(p->arena, &f, p->val, out, NULL, &error);
    if (code) snprintf(why, sizeof why, "interpreter: %s", error);
    return code == 0;
}

// The sum of the products of corresponding elements of a[k] and b[k].
static inline Node *inner_product(Prog *p, int n, Node **a, Node **b) {
    Node *total = real(p, 0);
    for (int k = 0; k < n; k++) {
        Var *v[8];
        Node *i[8];
        for (int d = 0; d < a[k]->rank; d++) {
            v[d] = ir_index(p->m, "q", a[k]->shape[d]);
            i[d] = ir_var(v[d]);
        }
        Node *e = MUL(ir_at(p->m, a[k], a[k]->rank, i), ir_at(p->m, b[k], a[k]->rank, i));
        for (int d = a[k]->rank; d-- > 0;) e = ir_sum(p->m, v[d], e);
        total = ADD(total, e);
    }
    return total;
}

static inline double product(int n, const Tensor *a, const Tensor *b) {
    double total = 0;
    for (int k = 0; k < n; k++)
        for (int64_t i = 0; i < tensor_count(&a[k]); i++) total += tensor_get(&a[k], i) * tensor_get(&b[k], i);
    return total;
}

static inline double magnitude(int n, const Tensor *a) { return sqrt(product(n, a, a)); }

static inline bool near(const char *what, double a, double b, double scale, double tolerance) {
    if (fabs(a - b) <= tolerance * (1 + scale)) return true;
    snprintf(why, sizeof why, "%s: %.17g is not %.17g", what, a, b);
    return false;
}

static inline bool near_all(const char *what, int n, const Tensor *a, const Tensor *b, double tolerance) {
    double scale = magnitude(n, b);
    for (int k = 0; k < n; k++) {
        for (int64_t i = 0; i < tensor_count(&a[k]); i++)
            if (!near(what, tensor_get(&a[k], i), tensor_get(&b[k], i), scale, tolerance)) return false;
    }
    return true;
}

// ---- directions and differences
// New inputs of random values, of the shapes of e[k] and extents of like[k].
static inline void directions(Prog *p, int n, Node **e, const Tensor *like, Node **out, Tensor *values) {
    for (int k = 0; k < n; k++) {
        Tensor t = tensor_like(p, e[k], like[k].shape);
        for (int64_t i = 0; i < tensor_count(&t); i++) tensor_set(&t, i, uniform(-1, 1));
        out[k] = add_input(p, "d", ir_input(p->m, p->nin, "d", KIND_DOUBLE, e[k]->rank, e[k]->shape), t);
        values[k] = t;
    }
}

static inline void move(Prog *p, const Tensor *v, double h) {
    for (int j = 0; j < p->nx; j++)
        for (int64_t i = 0; i < tensor_count(&v[j]); i++)
            tensor_set(&p->val[p->x[j]], i, tensor_get(&p->val[p->x[j]], i) + h * tensor_get(&v[j], i));
}

// Central differences of e along v.
static inline bool differences(Prog *p, int n, Node **e, const Tensor *v, Tensor *out) {
    const double h = 1e-5;
    Tensor lo[MAX_INPUTS];
    Tensor keep[MAX_INPUTS];
    for (int j = 0; j < p->nx; j++) {
        keep[j] = p->val[p->x[j]];
        p->val[p->x[j]].data = arena_copy(p->arena, keep[j].data, (size_t)tensor_count(&keep[j]) * 8);
    }
    move(p, v, h);
    bool ok = evaluate(p, n, e, out);
    move(p, v, -2 * h);
    ok = ok && evaluate(p, n, e, lo);
    for (int j = 0; j < p->nx; j++) p->val[p->x[j]] = keep[j];
    for (int k = 0; ok && k < n; k++)
        for (int64_t i = 0; i < tensor_count(&out[k]); i++)
            tensor_set(&out[k], i, (tensor_get(&out[k], i) - tensor_get(&lo[k], i)) / (2 * h));
    return ok;
}

// out[0] becomes the adjoint of x for the adjoint y_adj of y, out[1] the tangent of y for the tangent dx of x.
static inline bool both_modes(Prog *p, Node *y, Node *y_adj, Node *x, Node *dx, Node **out) {
    AdError error;
    out[0] = out[1] = x;
    if (!ad_reverse(p->m, 1, &y, &y_adj, 1, &x, &out[0], &error) || !ad_forward(p->m, 1, &y, &out[1], 1, &x, &dx, &error)) {
        snprintf(why, sizeof why, "%s", error.text);
        return false;
    }
    return true;
}

static inline Prog *prog_new(bool raw) {
    Arena *arena = arena_new();
    Prog *p = ARENA_NEW(arena, Prog);
    p->arena = arena;
    p->m = ir_new(arena);
    p->m->raw = raw;
    seed_state = 42;
    return p;
}

static inline void prog_free(Prog *p) {
    ir_delete(p->m);
    arena_free(p->arena);
}

#endif
