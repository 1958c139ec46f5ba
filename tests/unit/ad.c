// Differentiation: programs built by hand, differentiated by both modes, with and without the algebraic rules, and run
// by the interpreter. Each is checked by the dot-product identity <J v, w> = <v, J' w>, by central differences, and in
// second order by the four combinations of the modes.
#include "unit/ad_prog.h"

typedef void (*Build)(Prog *p);

static int64_t side = 4; // extents of the programs whose cost must grow linearly

typedef struct CheckState {
    Prog *p;
    Node *x[MAX_INPUTS], *v[MAX_INPUTS], *u[MAX_INPUTS], *w[MAX_OUTPUTS];
    Tensor vv[MAX_INPUTS], uv[MAX_INPUTS], wv[MAX_OUTPUTS];
    Node *dy[MAX_OUTPUTS], *x_adj[MAX_INPUTS];
    bool kinked; // no central differences: a point where the derivative is a convention
    AdError error;
} CheckState;

static bool first_order(CheckState *c) {
    Prog *p = c->p;
    Tensor dy[MAX_OUTPUTS], adj[MAX_INPUTS], fd[MAX_OUTPUTS];
    if (!evaluate(p, p->ny, c->dy, dy) || !evaluate(p, p->nx, c->x_adj, adj)) return false;
    double jv = product(p->ny, dy, c->wv), jtw = product(p->nx, adj, c->vv);
    double scale = magnitude(p->ny, dy) * magnitude(p->ny, c->wv);
    if (!near("<J v, w> and <v, J' w>", jv, jtw, scale, 1e-12)) return false;
    if (c->kinked) return true;
    return differences(p, p->ny, p->y, c->vv, fd) && near_all("tangent and differences", p->ny, dy, fd, 1e-6);
}

static int64_t operations(const Counts *c) {
    int64_t all = 0;
    for (int i = 0; i < COUNT_CLASSES; i++) all += c->ops[i];
    return all;
}

static int64_t cost(Prog *p, int n, Node **e) {
    Func f = {.name = "test", .ir = p->m, .ninputs = p->nin, .inputs = p->in, .noutputs = n, .outputs = e};
    const char *error;
    Tensor out[MAX_INPUTS];
    Counts c = {0};
    interp_run(p->arena, &f, p->val, out, &c, &error);
    return operations(&c);
}

static int64_t count_elements(int n, const Tensor *t) {
    int64_t total = 0;
    for (int k = 0; k < n; k++) total += tensor_count(&t[k]);
    return total;
}

// [TL] Theorems 6.1 and 6.35: a derivative costs at most four times as much as the primal, inputs, and outputs.
static bool within_bound(CheckState *c) {
    Prog *p = c->p;
    int64_t sizes = count_elements(p->nx, c->vv) + count_elements(p->ny, c->wv), primal = cost(p, p->ny, p->y);
    int64_t forward = cost(p, p->ny, c->dy), reverse = cost(p, p->nx, c->x_adj), bound = 4 * (primal + sizes);
    if (forward <= bound && reverse <= bound) return true;
    snprintf(why, sizeof why, "primal %lld, sizes %lld, forward %lld, reverse %lld", (long long)primal, (long long)sizes,
             (long long)forward, (long long)reverse);
    return false;
}

static bool second_order(CheckState *c) {
    Prog *p = c->p;
    Ir *m = p->m;
    Node *one = real(p, 1), *t = inner_product(p, p->ny, c->dy, c->w), *q = inner_product(p, p->nx, c->x_adj, c->v);
    Node *fr[MAX_INPUTS], *rf[MAX_INPUTS], *rr[MAX_INPUTS], *ff;
    if (!ad_forward(m, p->nx, c->x_adj, fr, p->nx, c->x, c->v, &c->error) ||
        !ad_reverse(m, 1, &t, &one, p->nx, c->x, rf, &c->error) || !ad_reverse(m, 1, &q, &one, p->nx, c->x, rr, &c->error) ||
        !ad_forward(m, 1, &t, &ff, p->nx, c->x, c->u, &c->error)) {
        snprintf(why, sizeof why, "%s", c->error.text);
        return false;
    }
    Tensor a[MAX_INPUTS], b[MAX_INPUTS], d[MAX_INPUTS], s, fd[MAX_INPUTS];
    if (!evaluate(p, p->nx, fr, a) || !evaluate(p, p->nx, rf, b) || !evaluate(p, p->nx, rr, d) || !evaluate(p, 1, &ff, &s))
        return false;
    double uhv = product(p->nx, a, c->uv), scale = magnitude(p->nx, a) * magnitude(p->nx, c->uv);
    if (!near_all("reverse over forward and forward over reverse", p->nx, b, a, 1e-11) ||
        !near_all("reverse over reverse and forward over reverse", p->nx, d, a, 1e-11) ||
        !near("forward over forward and forward over reverse", tensor_get(&s, 0), uhv, scale, 1e-11))
        return false;
    if (c->kinked) return true;
    return differences(p, p->nx, c->x_adj, c->vv, fd) && near_all("second order and differences", p->nx, a, fd, 1e-5);
}

static bool check_prog(Prog *p, bool kinked, bool bounded) {
    CheckState *c = ARENA_NEW(p->arena, CheckState);
    c->p = p;
    c->kinked = kinked;
    Tensor y[MAX_OUTPUTS], xs[MAX_INPUTS];
    for (int j = 0; j < p->nx; j++) {
        c->x[j] = p->in[p->x[j]];
        xs[j] = p->val[p->x[j]];
    }
    if (!evaluate(p, p->ny, p->y, y)) return false;
    directions(p, p->nx, c->x, xs, c->v, c->vv);
    directions(p, p->nx, c->x, xs, c->u, c->uv);
    directions(p, p->ny, p->y, y, c->w, c->wv);
    if (!ad_forward(p->m, p->ny, p->y, c->dy, p->nx, c->x, c->v, &c->error) ||
        !ad_reverse(p->m, p->ny, p->y, c->w, p->nx, c->x, c->x_adj, &c->error)) {
        snprintf(why, sizeof why, "%s", c->error.text);
        return false;
    }
    return first_order(c) && (!bounded || within_bound(c)) && second_order(c);
}

static void check(const char *name, Build build, bool kinked, bool bounded) {
    for (int raw = 0; raw < 2; raw++) {
        Prog *p = prog_new(raw);
        build(p);
        report(name, raw ? " (raw)" : "", check_prog(p, kinked, bounded));
        prog_free(p);
    }
}

// ---- programs
static void dot(Prog *p) {
    Node *n = size(p, "n", 5), *a = vector(p, "a", n, 5), *b = vector(p, "b", n, 5);
    INDEX(i, n);
    output(p, SUM(i, MUL(at1(p, a, i), at1(p, b, i))));
}

static void self_dot(Prog *p) {
    Node *n = size(p, "n", 5), *a = vector(p, "a", n, 5);
    INDEX(i, n);
    output(p, SUM(i, MUL(at1(p, a, i), at1(p, a, i))));
}

static void matrix_product(Prog *p) {
    Node *n = size(p, "n", 3), *k = size(p, "k", 4), *m = size(p, "m", 2);
    Node *a = matrix(p, "a", n, k, 3, 4), *b = matrix(p, "b", k, m, 4, 2);
    INDEX(i, n);
    INDEX(j, m);
    INDEX(l, k);
    output(p, GEN(i, GEN(j, SUM(l, MUL(at2(p, a, i, l), at2(p, b, l, j))))));
}

// The same variable bound side by side, and values shared between the binders.
static void shared_variable(Prog *p) {
    Node *n = size(p, "n", 4), *a = vector(p, "a", n, 4);
    INDEX(i, n);
    Node *e = SIN(at1(p, a, i));
    Node *total = SUM(i, MUL(e, e)), *list = GEN(i, MUL(e, at1(p, a, i)));
    INDEX(j, n);
    output(p, GEN(i, MUL(total, ADD(e, SUM(j, MUL(at1(p, list, j), at1(p, a, j)))))));
    output(p, list);
}

static void convolution(Prog *p) {
    Node *n = size(p, "n", side), *k = size(p, "k", 3), *x = vector(p, "x", n, side), *w = vector(p, "w", k, 3);
    INDEX(i, n);
    INDEX(j, k);
    Node *read = at1(p, x, SUB(i, j)), *inside = LE(j, i);
    output(p, GEN(i, SUM(j, WHEN(inside, MUL(at1(p, w, j), MUL(read, read))))));
}

static void trace_of_diagonal(Prog *p) {
    Node *n = size(p, "n", side), *x = vector(p, "x", n, side);
    INDEX(i, n);
    INDEX(j, n);
    INDEX(k, n);
    Node *a = GEN(i, GEN(j, WHEN(EQ(i, j), EXP(at1(p, x, i)))));
    output(p, SUM(k, at2(p, a, k, k)));
}

// [TL] section 2: dot(diag(x)[:, 0], diag(x)[0, :]).
static void diagonal_dot(Prog *p) {
    Node *n = size(p, "n", side), *x = vector(p, "x", n, side);
    INDEX(i, n);
    INDEX(j, n);
    INDEX(k, n);
    Node *a = GEN(i, GEN(j, WHEN(EQ(i, j), at1(p, x, i))));
    output(p, SUM(k, MUL(at2(p, a, k, num(p, 0)), at2(p, a, num(p, 0), k))));
}

static void skipped_sum(Prog *p) {
    Node *n = size(p, "n", side), *x = vector(p, "x", n, side);
    INDEX(i, n);
    Node *e = EXP(at1(p, x, i));
    output(p, SUM(i, IF(ir_ne(p->m, i, num(p, 1)), e, real(p, 0))));
}

// The inner extent depends on the outer index; the inner value depends on neither, either, or both.
static void triangle(Prog *p) {
    Node *n = size(p, "n", 5), *x = vector(p, "x", n, 5), *s = scalar(p, "s", 0.7);
    INDEX(i, n);
    Var *j_var = ir_index(p->m, "j", i);
    Node *j = ir_var(j_var);
    output(p, SUM(i, SUM(j, MUL(at1(p, x, i), SIN(at1(p, x, j))))));
    output(p, SUM(i, MUL(EXP(at1(p, x, i)), SUM(j, MUL(s, s)))));
    output(p, GEN(i, SUM(j, MUL(SIN(at1(p, x, j)), SIN(s)))));
}

static void triangle_of_pairs(Prog *p) {
    Node *n = size(p, "n", 4), *a = matrix(p, "a", n, n, 4, 4);
    INDEX(i, n);
    Var *j_var = ir_index(p->m, "j", ADD(i, num(p, 1))), *k_var = ir_index(p->m, "k", ir_var(j_var));
    Node *j = ir_var(j_var), *k = ir_var(k_var);
    Node *e = MUL(at2(p, a, i, j), at2(p, a, j, k));
    output(p, SUM(i, SUM(j, MUL(at2(p, a, j, i), SUM(k, EXP(e))))));
}

static void gather(Prog *p) {
    const int64_t at[] = {3, 0, 3, 1, 1, 3};
    Node *n = size(p, "n", 4), *k = size(p, "k", 6), *x = vector(p, "x", n, 4), *is = ints(p, "is", k, 6, at);
    INDEX(i, n);
    INDEX(j, k);
    Node *y = GEN(i, SIN(at1(p, x, i)));
    output(p, GEN(j, MUL(at1(p, y, at1(p, is, j)), at1(p, x, at1(p, is, at1(p, is, j))))));
}

static void histogram(Prog *p) {
    const int64_t at[] = {2, 0, 5, 2, -1, 1};
    Node *n = size(p, "n", 3), *k = size(p, "k", 6), *v = vector(p, "v", k, 6), *is = ints(p, "is", k, 6, at);
    INDEX(b, n);
    INDEX(i, k);
    INDEX(c, n);
    Node *h = GEN(b, SUM(i, WHEN(EQ(at1(p, is, i), b), MUL(at1(p, v, i), at1(p, v, i)))));
    output(p, SUM(c, LOG(ADD(real(p, 1), at1(p, h, c)))));
}

static void rows_by_index(Prog *p) {
    const int64_t at[] = {2, 0, 2, 1};
    Node *n = size(p, "n", 3), *d = size(p, "d", 2), *k = size(p, "k", 4);
    Node *a = matrix(p, "a", n, d, 3, 2), *is = ints(p, "is", k, 4, at);
    INDEX(i, n);
    INDEX(j, d);
    INDEX(t, k);
    Node *b = GEN(i, GEN(j, MUL(at2(p, a, i, j), SIN(at2(p, a, i, num(p, 0))))));
    output(p, GEN(t, at1(p, b, at1(p, is, t)))); // rows as arrays
    INDEX(l, d);
    Node *row = at1(p, b, num(p, 1));
    output(p, SUM(l, MUL(at1(p, row, l), at1(p, row, l))));
}

static void constant_bodies(Prog *p) {
    Node *n = size(p, "n", 3), *k = size(p, "k", 2), *x = vector(p, "x", n, 3), *s = scalar(p, "s", 0.4);
    INDEX(i, n);
    INDEX(j, k);
    Node *y = GEN(i, EXP(at1(p, x, i)));
    output(p, GEN(j, y));
    output(p, GEN(j, GEN(i, MUL(s, s))));
    output(p, SUM(j, MUL(s, SIN(s))));
    output(p, SUM(j, SUM(i, MUL(at1(p, y, i), s))));
}

static void guarded_log(Prog *p) {
    const double values[] = {0.5, 0, -1, 2, 0};
    Node *n = size(p, "n", 5), *x = vector(p, "x", n, 5);
    set(p, x, values);
    INDEX(i, n);
    Node *e = at1(p, x, i), *positive = LT(real(p, 0), e);
    output(p, GEN(i, IF(positive, MUL(e, LOG(e)), real(p, 0))));
    output(p, SUM(i, WHEN(positive, DIV(real(p, 1), e))));
    output(p, GEN(i, IF(positive, LOG(e), MUL(e, e))));
}

// A value that may fail, used twice under different conditions that both exclude the failure.
static void two_guards(Prog *p) {
    const double values[] = {0, 0.5, 2, 3};
    Node *n = size(p, "n", 4), *x = vector(p, "x", n, 4), *z = vector(p, "z", n, 4);
    set(p, x, values);
    INDEX(i, n);
    Node *e = LOG(at1(p, x, i)), *last = at1(p, z, SUB(i, num(p, 1)));
    Node *a = WHEN(LT(num(p, 0), i), WHEN(LT(i, num(p, 3)), MUL(e, MUL(last, last))));
    Node *b = WHEN(LE(num(p, 2), i), SIN(MUL(e, MUL(last, last))));
    output(p, SUM(i, ADD(a, b)));
}

// Needed only for some j: the guard of the derivative is an existence.
static void needed_by_some(Prog *p) {
    const double values[] = {0, 0.5, 2, 3};
    Node *n = size(p, "n", 4), *x = vector(p, "x", n, 4), *z = vector(p, "z", n, 4);
    set(p, x, values);
    INDEX(i, n);
    INDEX(j, n);
    Node *last = at1(p, z, SUB(i, num(p, 1))), *e = LOG(at1(p, x, i));
    Node *earlier = LT(j, i), *odd = EQ(ir_irem(p->m, ADD(i, j), num(p, 2)), num(p, 1));
    output(p, SUM(i, SUM(j, WHEN(earlier, MUL(at1(p, z, j), MUL(last, last))))));
    output(p, GEN(i, SUM(j, WHEN(earlier, WHEN(odd, MUL(at1(p, z, j), MUL(e, e)))))));
}

// Elements of an array that would fail, and are never read.
static void unread_elements(Prog *p) {
    const double values[] = {0, 0.5, 0, 3};
    Node *n = size(p, "n", 4), *x = vector(p, "x", n, 4), *z = vector(p, "z", n, 4);
    set(p, x, values);
    INDEX(i, n);
    INDEX(j, n);
    INDEX(k, n);
    Node *last = at1(p, z, SUB(i, num(p, 1)));
    Node *logs = GEN(i, LOG(at1(p, x, i))), *squares = GEN(i, MUL(last, last));
    output(p, SUM(j, WHEN(LT(real(p, 0), at1(p, x, j)), MUL(at1(p, logs, j), at1(p, z, j)))));
    output(p, GEN(k, IF(LT(num(p, 0), k), SIN(at1(p, squares, k)), real(p, 1))));
    // two-dimensional, read at a shifted diagonal
    Node *m = GEN(i, GEN(j, MUL(last, DIV(real(p, 1), at1(p, x, j)))));
    output(p, SUM(k, WHEN(LT(num(p, 0), k), WHEN(LT(real(p, 0), at1(p, x, k)), at2(p, m, k, k)))));
}

static void empty(Prog *p) {
    Node *n = size(p, "n", 0), *k = size(p, "k", 3), *x = vector(p, "x", n, 0), *s = scalar(p, "s", 0.5);
    INDEX(i, n);
    INDEX(j, k);
    Node *first = at1(p, x, num(p, 0));
    output(p, GEN(i, SIN(at1(p, x, i))));
    output(p, ADD(s, SUM(i, MUL(MUL(first, first), at1(p, x, i)))));
    output(p, GEN(j, GEN(i, MUL(s, at1(p, x, i)))));
}

static void log_sum_exp(Prog *p) {
    Node *n = size(p, "n", 5), *x = vector(p, "x", n, 5);
    INDEX(i, n);
    Node *top = at1(p, x, ir_argmax(p->m, i_var, at1(p, x, i)));
    output(p, ADD(top, LOG(SUM(i, EXP(SUB(at1(p, x, i), top))))));
    output(p, at1(p, x, ir_argmin(p->m, i_var, SIN(at1(p, x, i)))));
}

static void literals(Prog *p) {
    Node *a = scalar(p, "a", 0.3), *b = scalar(p, "b", 0.8), *n = size(p, "n", 3), *v = vector(p, "v", n, 3);
    Node *elems[] = {MUL(a, b), SIN(a), real(p, 2), b, a, ADD(a, b)};
    Node *m = ir_pack(p->m, KIND_DOUBLE, 2, (int64_t[]){2, 3}, elems);
    INDEX(i, num(p, 2));
    INDEX(j, num(p, 3));
    output(p, m);
    Node *e = at2(p, m, i, j), *last = SUB(n, num(p, 1));
    output(p, SUM(i, SUM(j, MUL(e, MUL(e, at1(p, v, ir_min(p->m, j, last)))))));
    output(p, at2(p, m, num(p, 1), num(p, 0)));
}

static void branches(Prog *p) {
    Node *a = scalar(p, "a", 0.3), *b = scalar(p, "b", 0.8);
    Node *c = LT(a, b), *e = MUL(a, b);
    output(p, IF(c, SIN(e), EXP(e)));
    output(p, MUL(e, IF(LT(b, a), e, IF(c, MUL(e, a), b))));
    output(p, ADD(WHEN(c, e), WHEN(ir_not(p->m, c), MUL(b, b))));
}

static void barriers(Prog *p) {
    Node *n = size(p, "n", 3), *x = vector(p, "x", n, 3), *a = scalar(p, "a", 0.33);
    INDEX(i, n);
    Node *e = at1(p, x, i);
    output(p, GEN(i, ir_assert(p->m, LT(real(p, 0), e), "positive", MUL(e, a))));
    output(p, MUL(a, ir_conv(p->m, KIND_DOUBLE, ir_conv(p->m, KIND_INT, MUL(a, real(p, 10))))));
    output(p, SUM(i, MUL(e, ir_floor(p->m, a))));
}

static void identities(Prog *p) {
    Node *n = size(p, "n", 3), *x = vector(p, "x", n, 3), *a = scalar(p, "a", 0.3);
    vector(p, "unused", n, 3);
    output(p, x);
    output(p, x);
    output(p, a);
    output(p, real(p, 4));
}

static void deep(Prog *p) {
    Node *n = size(p, "n", 2), *m = size(p, "m", 3), *l = size(p, "l", 2);
    Node *a = array(p, "a", 3, (Node *[]){n, m, l}, (int64_t[]){2, 3, 2});
    INDEX(i, n);
    INDEX(j, m);
    INDEX(k, l);
    Node *e = ir_at(p->m, a, 3, (Node *[]){i, j, k});
    Node *b = GEN(k, GEN(i, GEN(j, MUL(e, SIN(e)))));
    INDEX(r, n);
    INDEX(s, m);
    INDEX(t, l);
    Node *turned = ir_at(p->m, b, 3, (Node *[]){t, r, s}), *straight = ir_at(p->m, a, 3, (Node *[]){r, s, t});
    output(p, GEN(s, SUM(r, SUM(t, MUL(turned, straight)))));
}

static void normalise(Prog *p) {
    Node *n = size(p, "n", 4), *x = vector(p, "x", n, 4);
    INDEX(i, n);
    Node *norm = ir_sqrt(p->m, SUM(i, MUL(at1(p, x, i), at1(p, x, i))));
    output(p, GEN(i, DIV(at1(p, x, i), norm)));
}

// A loop that does not depend on what is differentiated by is a constant.
static void constant_loop(Prog *p) {
    Node *n = size(p, "n", 4), *x = vector(p, "x", n, 4), *c = passive(p, "c", KIND_DOUBLE, 0, NULL, NULL);
    INDEX(i, n);
    Var *s_var = ir_state(p->m, "s", KIND_DOUBLE, 0, NULL);
    Node *one = real(p, 1), *step = SIN(ADD(ir_var(s_var), c));
    Node *k = ir_final(p->m, ir_fold(p->m, i_var, 1, &s_var, &one, &step), 0);
    output(p, SUM(i, EXP(MUL(k, at1(p, x, i)))));
}

// A Gaussian mixture in miniature ([ADBench]): packed triangular factors, exponentials on the diagonal.
static void mixture(Prog *p) {
    Node *n = size(p, "n", 3), *d = size(p, "d", 3), *kk = size(p, "K", 2);
    Node *packed = num(p, 3);
    Node *alpha = vector(p, "alpha", kk, 2), *mu = matrix(p, "mu", kk, d, 2, 3), *q = matrix(p, "q", kk, d, 2, 3);
    Node *l = matrix(p, "l", kk, packed, 2, 3);
    Node *x = passive(p, "x", KIND_DOUBLE, 2, (Node *[]){n, d}, (int64_t[]){3, 3});
    INDEX(i, n);
    INDEX(k, kk);
    INDEX(r, d);
    INDEX(c, d);
    Node *at = ADD(c, ir_idiv(p->m, MUL(r, SUB(r, num(p, 1))), num(p, 2)));
    Node *lower = GEN(k, GEN(r, GEN(c, IF(EQ(r, c), EXP(at2(p, q, k, r)), IF(LT(c, r), at2(p, l, k, at), real(p, 0))))));
    Node *y = SUM(c, MUL(ir_at(p->m, lower, 3, (Node *[]){k, r, c}), SUB(at2(p, x, i, c), at2(p, mu, k, c))));
    Node *term = SUB(at1(p, alpha, k), MUL(real(p, 0.5), SUM(r, MUL(y, y))));
    Node *terms = GEN(k, term);
    Node *top = at1(p, terms, ir_argmax(p->m, k_var, at1(p, terms, k)));
    output(p, SUM(i, ADD(top, LOG(SUM(k, EXP(SUB(at1(p, terms, k), top)))))));
}

static void kinks(Prog *p) {
    Node *n = size(p, "n", 3), *x = vector(p, "x", n, 3), *y = scalar(p, "y", 0);
    const double values[] = {0, 1, -2};
    set(p, x, values);
    INDEX(i, n);
    Node *e = at1(p, x, i);
    output(p, GEN(i, ir_abs(p->m, e)));
    output(p, GEN(i, ir_max(p->m, e, y)));
    output(p, MUL(y, ir_sqrt(p->m, at1(p, x, num(p, 1)))));
    output(p, ir_sqrt(p->m, MUL(y, y)));
    output(p, ir_pow(p->m, y, real(p, 0.5)));
}

// [TL] section 2: operations, iterations and loads of these gradients grow linearly with n.
static bool gradient_counts(Build build, int64_t n, Counts *counts) {
    Prog *p = prog_new(false);
    side = n;
    build(p);
    Node *x = p->in[p->x[0]], *adj, *w;
    Tensor y, dw, grad;
    AdError error;
    const char *text;
    bool ok = evaluate(p, 1, p->y, &y);
    if (ok) {
        directions(p, 1, p->y, &y, &w, &dw);
        ok = ad_reverse(p->m, 1, p->y, &w, 1, &x, &adj, &error);
    }
    if (ok) {
        Func f = {.name = "test", .ir = p->m, .ninputs = p->nin, .inputs = p->in, .noutputs = 1, .outputs = &adj};
        ok = interp_run(p->arena, &f, p->val, &grad, counts, &text) == 0;
    }
    prog_free(p);
    side = 4;
    return ok;
}

static void check_linear(const char *name, Build build) {
    Counts a, b;
    bool ok = gradient_counts(build, 50, &a) && gradient_counts(build, 100, &b);
    if (ok) {
        int64_t before[] = {operations(&a), a.iterations, a.loads};
        int64_t after[] = {operations(&b), b.iterations, b.loads};
        for (int i = 0; ok && i < 3; i++) {
            snprintf(why, sizeof why, "count %d grows from %lld to %lld", i, (long long)before[i], (long long)after[i]);
            ok = 10 * after[i] <= 21 * before[i] + 50;
        }
    }
    report(name, ": linear cost", ok);
}

// ---- every elementwise operation
// Rows whose derivative is zero wherever it exists.
static bool derivative_vanishes(Op op) { return op == OP_floor || op == OP_ceil || op == OP_round || op == OP_trunc; }

static bool row_has_partials(Op op) {
    Prog *p = prog_new(true);
    Node *x = scalar(p, "x", 0.3), *y = scalar(p, "y", 0.6), *k = ir_int(p->m, 2);
    OpType type = op_info[op].type;
    Node *e = ir_op(p->m, op, type == T_PSI ? k : x, op_info[op].arity < 2 ? NULL : type == T_FPOWI ? k : y);
    bool ok = true;
    for (int i = 0; i < e->nargs; i++) {
        bool expected = kind_is_float(e->args[i]->kind) && !derivative_vanishes(op);
        if ((ad_partial(p->m, e, i) != NULL) != expected) {
            snprintf(why, sizeof why, "partial %d of %s", i, op_info[op].name);
            ok = false;
        }
    }
    prog_free(p);
    return ok;
}

static Op current_op;

static void one_op(Prog *p) {
    double xs[] = {0.31, 0.77, 0.52};
    const double ys[] = {0.83, 0.43, 1.7};
    const int64_t powers[] = {3, -2, 0};
    Node *n = size(p, "n", 3), *x = vector(p, "x", n, 3);
    // Their domains begin at 1 and end at 0.
    for (int k = 0; k < 3; k++) xs[k] += (current_op == OP_acosh) - (current_op == OP_log1mexp);
    set(p, x, xs);
    INDEX(i, n);
    OpType type = op_info[current_op].type;
    Node *a = at1(p, x, i), *b = NULL;
    if (type == T_FPOWI) {
        b = at1(p, ints(p, "k", n, 3, powers), i);
    } else if (type == T_PSI) {
        b = a;
        a = at1(p, ints(p, "k", n, 3, (int64_t[]){0, 1, 2}), i);
    } else if (op_info[current_op].arity == 2) {
        Node *y = vector(p, "y", n, 3);
        set(p, y, ys);
        b = at1(p, y, i);
    }
    output(p, GEN(i, ir_op(p->m, current_op, a, b)));
}

static void check_ops(void) {
    report("no operation has the number that stands for none", "", !op_info[OP_COUNT].name);
    for (Op op = 0; op < OP_ALL; op++) {
        OpType type = op_info[op].type;
        if (!op_is_elementwise(op) || type == T_INT || type == T_CMP || type == T_LOGIC) continue;
        report("partials of ", op_info[op].name, row_has_partials(op));
        char name[64];
        snprintf(name, sizeof name, "operation %s", op_info[op].name);
        current_op = op;
        check(name, one_op, false, false);
    }
}

int main(void) {
    static const struct {
        const char *name;
        Build build;
        bool kinked;
        bool reordered; // within the cost bound only if loops are interchanged, which the interpreter does not do
    } programs[] = {
        {"dot product", dot, false, false},
        {"dot product with itself", self_dot, false, false},
        {"matrix product", matrix_product, false, false},
        {"shared index variable", shared_variable, false, false},
        {"convolution", convolution, false, false},
        {"trace of a diagonal", trace_of_diagonal, false, false},
        {"dot of a diagonal's row and column", diagonal_dot, false, false},
        {"skipped sum", skipped_sum, false, false},
        {"triangle", triangle, false, false},
        {"triangle of pairs", triangle_of_pairs, false, false},
        {"gather", gather, false, false},
        {"histogram", histogram, false, false},
        {"rows by index", rows_by_index, false, false},
        {"constant bodies", constant_bodies, false, false},
        {"guarded log", guarded_log, true, false},
        {"two guards", two_guards, true, false},
        {"needed by some", needed_by_some, true, false},
        {"unread elements", unread_elements, true, false},
        {"empty arrays", empty, false, false},
        {"log of sum of exp", log_sum_exp, false, false},
        {"array literals", literals, false, false},
        {"branches", branches, false, false},
        {"barriers", barriers, false, false},
        {"identities", identities, false, false},
        {"rank 3", deep, false, false},
        {"normalise", normalise, false, false},
        {"constant loop", constant_loop, false, false},
        {"mixture", mixture, false, true},
        {"kinks", kinks, true, false},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        check(programs[i].name, programs[i].build, programs[i].kinked, !programs[i].reordered);
    check_linear("trace of a diagonal", trace_of_diagonal);
    check_linear("dot of a diagonal's row and column", diagonal_dot);
    check_linear("skipped sum", skipped_sum);
    check_linear("convolution", convolution);
    check_ops();
    return failures > 0;
}
