// The kernels and their gradients as one writes them by hand: plain loops, for the compiler to vectorise. Compiled once by
// each C compiler, with BY naming it. Parameters are as in kernels.fsm; a gradient by an array has the array's name after d.
#include "kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IN const double *restrict
#define OUT double *restrict

// Elementwise.
static void axpy(int64_t n, IN x, IN y, OUT z) {
    for (int64_t i = 0; i < n; i++) z[i] = 2.5 * x[i] + y[i];
}
static void axpy_grad(int64_t n, IN x, IN y, IN dz, OUT dx, OUT dy) {
    (void)x, (void)y;
    for (int64_t i = 0; i < n; i++) {
        dx[i] = 2.5 * dz[i];
        dy[i] = dz[i];
    }
}

static void horner(int64_t n, IN x, OUT z) {
    for (int64_t i = 0; i < n; i++) z[i] = ((((0.5 * x[i] + 0.25) * x[i] - 0.125) * x[i] + 2) * x[i] - 3) * x[i] + 1;
}
static void horner_grad(int64_t n, IN x, IN dz, OUT dx) {
    for (int64_t i = 0; i < n; i++) dx[i] = dz[i] * ((((2.5 * x[i] + 1) * x[i] - 0.375) * x[i] + 4) * x[i] - 3);
}

static void gauss(int64_t n, IN x, OUT z) {
    for (int64_t i = 0; i < n; i++) z[i] = exp(-x[i] * x[i]);
}
static void gauss_grad(int64_t n, IN x, IN dz, OUT dx) {
    for (int64_t i = 0; i < n; i++) dx[i] = -2 * x[i] * exp(-x[i] * x[i]) * dz[i];
}

static void tanhs(int64_t n, IN x, OUT z) {
    for (int64_t i = 0; i < n; i++) z[i] = tanh(x[i]);
}
static void tanhs_grad(int64_t n, IN x, IN dz, OUT dx) {
    for (int64_t i = 0; i < n; i++) {
        double t = tanh(x[i]);
        dx[i] = (1 - t * t) * dz[i];
    }
}

// Reductions.
static double sum_of(int64_t n, IN x) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i];
    return s;
}
static double product_of(int64_t n, IN x, IN y) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}
static double max_of(int64_t n, IN x) {
    double m = x[0];
    for (int64_t i = 1; i < n; i++) m = x[i] > m ? x[i] : m;
    return m;
}

static void dotp(int64_t n, IN x, IN y, OUT z) {
    *z = product_of(n, x, y);
}
static void dotp_grad(int64_t n, IN x, IN y, OUT dx, OUT dy) {
    memcpy(dx, y, sizeof(double) * (size_t)n);
    memcpy(dy, x, sizeof(double) * (size_t)n);
}

static void norm2(int64_t n, IN x, OUT z) {
    *z = sqrt(product_of(n, x, x));
}
static void norm2_grad(int64_t n, IN x, OUT dx) {
    double by = 1 / sqrt(product_of(n, x, x));
    for (int64_t i = 0; i < n; i++) dx[i] = x[i] * by;
}

static void abssum(int64_t n, IN x, OUT z) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += fabs(x[i]);
    *z = s;
}
static void abssum_grad(int64_t n, IN x, OUT dx) {
    for (int64_t i = 0; i < n; i++) dx[i] = x[i] < 0 ? -1 : 1;
}

static void varianceOf(int64_t n, IN x, OUT z) {
    double mean = sum_of(n, x) / (double)n, s = 0;
    for (int64_t i = 0; i < n; i++) s += (x[i] - mean) * (x[i] - mean);
    *z = s / (double)n;
}
static void varianceOf_grad(int64_t n, IN x, OUT dx) {
    double mean = sum_of(n, x) / (double)n, by = 2 / (double)n;
    for (int64_t i = 0; i < n; i++) dx[i] = by * (x[i] - mean);
}

static void lse(int64_t n, IN x, OUT z) {
    double m = max_of(n, x), s = 0;
    for (int64_t i = 0; i < n; i++) s += exp(x[i] - m);
    *z = m + log(s);
}
// softmax, which is also the gradient of log-sum-exp.
static void smax(int64_t n, IN x, OUT z) {
    double m = max_of(n, x), s = 0;
    for (int64_t i = 0; i < n; i++) s += z[i] = exp(x[i] - m);
    s = 1 / s;
    for (int64_t i = 0; i < n; i++) z[i] *= s;
}
static void lse_grad(int64_t n, IN x, OUT dx) {
    smax(n, x, dx);
}
static void smax_grad(int64_t n, IN x, IN dz, OUT dx) {
    smax(n, x, dx);
    double s = product_of(n, dx, dz);
    for (int64_t i = 0; i < n; i++) dx[i] *= dz[i] - s;
}

// Matrices.
static void matvec(int64_t n, int64_t m, IN a, IN x, OUT z) {
    for (int64_t i = 0; i < n; i++) z[i] = product_of(m, a + i * m, x);
}
static void matvec_grad(int64_t n, int64_t m, IN a, IN x, IN dz, OUT da, OUT dx) {
    memset(dx, 0, sizeof(double) * (size_t)m);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            da[i * m + j] = dz[i] * x[j];
            dx[j] += dz[i] * a[i * m + j];
        }
}

static void matmul(int64_t n, int64_t m, int64_t k, IN a, IN b, OUT z) {
    memset(z, 0, sizeof(double) * (size_t)(n * k));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            for (int64_t l = 0; l < k; l++) z[i * k + l] += a[i * m + j] * b[j * k + l];
}
static void matmul_grad(int64_t n, int64_t m, int64_t k, IN a, IN b, IN dz, OUT da, OUT db) {
    memset(db, 0, sizeof(double) * (size_t)(m * k));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            da[i * m + j] = product_of(k, dz + i * k, b + j * k);
            for (int64_t l = 0; l < k; l++) db[j * k + l] += a[i * m + j] * dz[i * k + l];
        }
}

#define CALL(function, ...) (function(__VA_ARGS__), 0)
KERNELS(ADAPT_F, ADAPT_V)
#define TABLE_(by) by##_kernels
#define TABLE(by) TABLE_(by)
extern const struct side TABLE(BY)[];
const struct side TABLE(BY)[] = {KERNELS(SIDE, SIDE)};
