// Differentiation: conventions at singular points, loops, scopes, kinds, and long programs.
#include "unit/ad_prog.h"

// ---- values at points where the derivative is a convention
static bool gradient_is(Prog *p, Node *y, Node *x, double expected) {
    Node *one = real(p, 1), *out[2];
    Tensor t[2];
    return both_modes(p, y, one, x, one, out) && evaluate(p, 2, out, t) && near("adjoint", tensor_get(&t[0], 0), expected, 0, 0) &&
           near("tangent", tensor_get(&t[1], 0), expected, 0, 0);
}

static bool conventions(bool raw) {
    Prog *p = prog_new(raw);
    Node *z = scalar(p, "z", 0), *q = scalar(p, "q", 4), *y = scalar(p, "y", 0);
    bool ok = gradient_is(p, ir_sqrt(p->m, z), z, 0) && gradient_is(p, ir_abs(p->m, z), z, 0) &&
              gradient_is(p, ir_cbrt(p->m, z), z, 0) && gradient_is(p, ir_max(p->m, z, y), z, 1) &&
              gradient_is(p, ir_max(p->m, z, y), y, 0) && gradient_is(p, ir_min(p->m, z, y), z, 1) &&
              gradient_is(p, ir_pow(p->m, z, real(p, 0.5)), z, 0) && gradient_is(p, ir_atan2(p->m, z, y), z, 0);
    // d2/dy dx of y * sqrt x is 1 / (2 sqrt x) at y = 0 too
    Node *e = MUL(y, ir_sqrt(p->m, q)), *one = real(p, 1), *adj;
    AdError error;
    ok = ok && ad_reverse(p->m, 1, &e, &one, 1, &q, &adj, &error) && gradient_is(p, adj, y, 0.25);
    prog_free(p);
    return ok;
}

// ---- loops
// s = t, t = s + x[i] sin t, r = r + 1 (inactive), u = array of two.
static Node *recurrence(Prog *p, Node *n, Node *x, Node *z) {
    INDEX(i, n);
    Node *two = num(p, 2);
    Var *state[] = {ir_state(p->m, "s", KIND_DOUBLE, 0, NULL), ir_state(p->m, "t", KIND_DOUBLE, 0, NULL),
                    ir_state(p->m, "r", KIND_DOUBLE, 0, NULL), ir_state(p->m, "c", KIND_INT, 0, NULL),
                    ir_state(p->m, "u", KIND_DOUBLE, 1, &two)};
    Node *s = ir_var(state[0]), *t = ir_var(state[1]), *r = ir_var(state[2]), *c = ir_var(state[3]);
    Node *u = ir_var(state[4]);
    INDEX(k, two);
    INDEX(l, two);
    Node *init[] = {real(p, 0.5), z, real(p, 1), num(p, 0), GEN(k, real(p, 1))};
    Node *step[] = {t, ADD(s, MUL(MUL(at1(p, x, i), r), SIN(t))), ADD(r, real(p, 1)), ADD(c, num(p, 1)),
                    GEN(l, ADD(MUL(at1(p, u, SUB(num(p, 1), l)), s), at1(p, x, ir_min(p->m, c, i))))};
    Node *loop = ir_fold(p->m, i_var, 5, state, init, step);
    Node *a = ir_final(p->m, loop, 4);
    return ADD(ir_final(p->m, loop, 0), MUL(ir_final(p->m, loop, 2), MUL(at1(p, a, num(p, 0)), at1(p, a, num(p, 1)))));
}

static Node *newton(Prog *p, Node *z) {
    Var *s_var = ir_state(p->m, "s", KIND_DOUBLE, 0, NULL), *c_var = ir_state(p->m, "c", KIND_INT, 0, NULL);
    Node *s = ir_var(s_var), *init[] = {real(p, 1), num(p, 0)};
    Node *step[] = {MUL(real(p, 0.5), ADD(s, DIV(z, s))), ADD(ir_var(c_var), num(p, 1))};
    Node *cond = ir_and(p->m, LT(real(p, 1e-12), ir_abs(p->m, SUB(MUL(s, s), z))), LT(ir_var(c_var), num(p, 60)));
    return ir_final(p->m, ir_while(p->m, 2, (Var *[]){s_var, c_var}, init, cond, step), 0);
}

static bool check_loops(bool raw) {
    Prog *p = prog_new(raw);
    Node *n = size(p, "n", 4), *x = vector(p, "x", n, 4), *z = scalar(p, "z", 2.5), *xs[] = {x, z};
    Node *v[2], *dy[2], *ddy[2], *adj[2], *one = real(p, 1);
    Tensor vv[2], t[2], fd[2], like[2] = {p->val[p->x[0]], p->val[p->x[1]]};
    Node *y[] = {recurrence(p, n, x, z), newton(p, z)};
    AdError error = {NULL, NULL};
    directions(p, 2, xs, like, v, vv);
    bool ok = ad_forward(p->m, 2, y, dy, 2, xs, v, &error) && evaluate(p, 2, dy, t) && differences(p, 2, y, vv, fd) &&
              near_all("tangent and differences", 2, t, fd, 1e-6);
    ok = ok && ad_forward(p->m, 2, dy, ddy, 2, xs, v, &error) && evaluate(p, 2, ddy, t) && differences(p, 2, dy, vv, fd) &&
         near_all("second order and differences", 2, t, fd, 1e-5);
    ok = ok && evaluate(p, 2, dy, t);
    for (int i = 0; ok && i < 2; i++) { // the gradient times the direction is the tangent
        double sum = 0;
        ok = ad_reverse(p->m, 1, &y[i], &one, 2, xs, adj, &error) && evaluate(p, 2, adj, fd);
        for (int k = 0; ok && k < 2; k++)
            for (int64_t q = 0; q < tensor_count(&fd[k]); q++) sum += tensor_get(&fd[k], q) * tensor_get(&vv[k], q);
        ok = ok && near("reverse", sum, tensor_get(&t[i], 0), fabs(sum), 1e-13);
    }
    prog_free(p);
    return ok;
}

// ---- scope
// A Jacobian as rows: the direction is one-hot in an index variable that the function itself also binds.
static bool check_clash(bool raw) {
    Prog *p = prog_new(raw);
    Node *n = size(p, "n", 3), *x = vector(p, "x", n, 3);
    INDEX(o, n);
    INDEX(k, n);
    Node *y = GEN(o, MUL(SIN(at1(p, x, o)), SUM(k, EXP(at1(p, x, k)))));
    INDEX(q, n);
    Node *hot = GEN(q, WHEN(EQ(q, o), real(p, 1))), *d[2];
    bool ok = both_modes(p, y, hot, x, hot, d);
    Node *jac[] = {GEN(o, d[1]), GEN(o, d[0])};
    Tensor t[2];
    ok = ok && evaluate(p, 2, jac, t);
    for (int r = 0; ok && r < 3; r++) {
        double total = 0;
        for (int c = 0; c < 3; c++) total += exp(tensor_get(&p->val[1], c));
        for (int c = 0; ok && c < 3; c++) {
            double xr = tensor_get(&p->val[1], r), xc = tensor_get(&p->val[1], c);
            double expected = (r == c ? cos(xr) * total : 0) + sin(xr) * exp(xc);
            ok = near("forward", tensor_get(&t[0], c * 3 + r), expected, 10, 1e-14) && // column c is direction c
                 near("reverse", tensor_get(&t[1], r * 3 + c), expected, 10, 1e-14);
        }
    }
    prog_free(p);
    return ok;
}

// A gradient inside a build: y mentions a variable of the surroundings, which it binds elsewhere too.
static bool check_surroundings(bool raw) {
    Prog *p = prog_new(raw);
    Node *n = size(p, "n", 3), *x = vector(p, "x", n, 3), *z = scalar(p, "z", 0.6);
    INDEX(o, n);
    Node *y = MUL(MUL(z, at1(p, x, o)), SUM(o, MUL(at1(p, x, o), SIN(z)))); // (z x[o]) * Σ x[i] sin z
    Node *one = real(p, 1), *d[2];
    bool ok = both_modes(p, y, one, z, one, d);
    Node *out[] = {GEN(o, d[0]), GEN(o, d[1])};
    Tensor t[2];
    ok = ok && evaluate(p, 2, out, t);
    for (int r = 0; ok && r < 3; r++) {
        double total = 0;
        for (int c = 0; c < 3; c++) total += tensor_get(&p->val[1], c);
        double expected = tensor_get(&p->val[1], r) * total * (sin(0.6) + 0.6 * cos(0.6));
        ok = near("reverse", tensor_get(&t[0], r), expected, 1, 1e-14) && near("forward", tensor_get(&t[1], r), expected, 1, 1e-14);
    }
    prog_free(p);
    return ok;
}

// ---- single precision, placeholders, length
static bool check_kinds(bool raw) {
    Prog *p = prog_new(raw);
    Node *z = ir_param(p->m, KIND_FLOAT, 0, NULL), *x = scalar(p, "x", 0.75);
    Node *wide = ir_conv(p->m, KIND_DOUBLE, MUL(z, z)), *y = MUL(wide, x), *one = real(p, 1);
    Node *xs[] = {z, x}, *adj[2];
    AdError error;
    bool ok = ad_reverse(p->m, 1, &y, &one, 2, xs, adj, &error);
    if (ok && (adj[0]->kind != KIND_FLOAT || adj[1]->kind != KIND_DOUBLE)) {
        snprintf(why, sizeof why, "adjoints have the wrong kind");
        ok = false;
    }
    Tensor t;
    Node *g = ok ? ir_subst1(p->m, adj[0], z, ir_real(p->m, KIND_FLOAT, 0.5)) : NULL;
    ok = ok && evaluate(p, 1, &g, &t) && near("adjoint", tensor_get(&t, 0), 0.75, 0, 0);
    prog_free(p);
    return ok;
}

static bool check_chain(bool raw) {
    Prog *p = prog_new(raw);
    Node *x = scalar(p, "x", 0.5), *y = x, *one = real(p, 1), *d[2];
    for (int i = 0; i < 100000; i++) y = i % 3 == 0 ? SIN(y) : i % 3 == 1 ? MUL(y, real(p, 1.01)) : ADD(y, MUL(x, real(p, 1e-6)));
    Tensor t[2];
    bool ok = both_modes(p, y, one, x, one, d) && evaluate(p, 2, d, t) &&
              near("both modes", tensor_get(&t[0], 0), tensor_get(&t[1], 0), 0, 1e-12);
    prog_free(p);
    return ok;
}

// Many cases, each with its own use of x, under conditions that begin alike.
static bool check_cases(bool raw) {
    Prog *p = prog_new(raw);
    Node *x = scalar(p, "x", 0.5), *y = x, *one = real(p, 1), *d[2];
    for (int i = 0; i < 10000; i++) {
        Node *limit = real(p, (10000 - i) / 10000.0);
        y = IF(LT(x, limit), i % 2 ? MUL(x, limit) : y, i % 2 ? y : SIN(MUL(x, limit)));
    }
    Tensor t[2];
    bool ok = both_modes(p, y, one, x, one, d) && evaluate(p, 2, d, t) &&
              near("both modes", tensor_get(&t[0], 0), tensor_get(&t[1], 0), 0, 1e-12);
    prog_free(p);
    return ok;
}

static void both(const char *name, bool (*test)(bool raw)) {
    report(name, "", test(false));
    report(name, " (raw)", test(true));
}

int main(void) {
    both("conventions", conventions);
    both("loops", check_loops);
    both("one-hot direction", check_clash);
    both("surroundings", check_surroundings);
    both("kinds", check_kinds);
    both("long chain", check_chain);
    both("many cases", check_cases);
    return failures > 0;
}
