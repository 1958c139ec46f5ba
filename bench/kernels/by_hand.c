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

static void piecewise(int64_t n, IN x, OUT z) {
    for (int64_t i = 0; i < n; i++) z[i] = x[i] > 0.5 ? x[i] - 0.25 : x[i] < -0.5 ? -x[i] - 0.25 : x[i] * x[i];
}
static void piecewise_grad(int64_t n, IN x, IN dz, OUT dx) {
    for (int64_t i = 0; i < n; i++) dx[i] = dz[i] * (x[i] > 0.5 ? 1 : x[i] < -0.5 ? -1 : 2 * x[i]);
}

static double cdf(double x) {
    return 0.5 * erfc(-x * M_SQRT1_2);
}
static void blackscholes(int64_t n, IN s, IN k, IN t, OUT z) {
    for (int64_t i = 0; i < n; i++) {
        double sd = 0.3 * sqrt(t[i]), d = (log(s[i] / k[i]) + (0.02 + 0.5 * 0.3 * 0.3) * t[i]) / sd;
        z[i] = s[i] * cdf(d) - k[i] * exp(-0.02 * t[i]) * cdf(d - sd);
    }
}
// s pdf(d) = k exp(-r t) pdf(d - sd), by which the derivatives through d cancel.
static void blackscholes_grad(int64_t n, IN s, IN k, IN t, IN dz, OUT ds, OUT dk, OUT dt) {
    for (int64_t i = 0; i < n; i++) {
        double sd = 0.3 * sqrt(t[i]), d = (log(s[i] / k[i]) + (0.02 + 0.5 * 0.3 * 0.3) * t[i]) / sd;
        double discount = exp(-0.02 * t[i]), exercised = discount * cdf(d - sd);
        double pdf = 0.39894228040143268 * exp(-0.5 * d * d);
        ds[i] = dz[i] * cdf(d);
        dk[i] = -dz[i] * exercised;
        dt[i] = dz[i] * (s[i] * pdf * 0.5 * sd / t[i] + 0.02 * k[i] * exercised);
    }
}

// Of [DU] Table 2.
static void sinofcos(int64_t n, IN x, OUT z) {
    *z = sin(cos(*x)) * (double)n;
}
static void sinofcos_grad(int64_t n, IN x, OUT dx) {
    *dx = -cos(cos(*x)) * sin(*x) * (double)n;
}

static void powers(int64_t n, IN x, OUT z) {
    double p = 1;
    for (int64_t i = 0; i < n; i++) p *= *x;
    *z = p;
}
static void powers_grad(int64_t n, IN x, OUT dx) {
    double p = 1;
    for (int64_t i = 1; i < n; i++) p *= *x;
    *dx = (double)n * p;
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

static void entropy(int64_t n, IN x, OUT z) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s -= x[i] * log(x[i]);
    *z = s;
}
static void entropy_grad(int64_t n, IN x, OUT dx) {
    for (int64_t i = 0; i < n; i++) dx[i] = -log(x[i]) - 1;
}

// The products that a cosine consists of, in one pass.
static void cosine_parts(int64_t n, IN x, IN y, double parts[3]) {
    double xy = 0, xx = 0, yy = 0;
    for (int64_t i = 0; i < n; i++) {
        xy += x[i] * y[i];
        xx += x[i] * x[i];
        yy += y[i] * y[i];
    }
    parts[0] = xy, parts[1] = xx, parts[2] = yy;
}
static void cosine(int64_t n, IN x, IN y, OUT z) {
    double p[3];
    cosine_parts(n, x, y, p);
    *z = p[0] / sqrt(p[1] * p[2]);
}
static void cosine_grad(int64_t n, IN x, IN y, OUT dx, OUT dy) {
    double p[3];
    cosine_parts(n, x, y, p);
    double by = 1 / sqrt(p[1] * p[2]), byx = by * p[0] / p[1], byy = by * p[0] / p[2];
    for (int64_t i = 0; i < n; i++) {
        dx[i] = by * y[i] - byx * x[i];
        dy[i] = by * x[i] - byy * y[i];
    }
}

static void normalise(int64_t n, IN x, OUT z) {
    norm2_grad(n, x, z);
}
static void normalise_grad(int64_t n, IN x, IN dz, OUT dx) {
    double xx = 0, xz = 0;
    for (int64_t i = 0; i < n; i++) {
        xx += x[i] * x[i];
        xz += x[i] * dz[i];
    }
    double by = 1 / sqrt(xx), back = by * xz / xx;
    for (int64_t i = 0; i < n; i++) dx[i] = by * dz[i] - back * x[i];
}

static void layernorm(int64_t n, IN x, OUT z) {
    double mean = sum_of(n, x) / (double)n, v = 0;
    for (int64_t i = 0; i < n; i++) v += (x[i] - mean) * (x[i] - mean);
    double by = 1 / sqrt(v / (double)n + 1e-5);
    for (int64_t i = 0; i < n; i++) z[i] = (x[i] - mean) * by;
}
static void layernorm_grad(int64_t n, IN x, IN dz, OUT dx) {
    double mean = sum_of(n, x) / (double)n, v = 0, s = 0, p = 0;
    for (int64_t i = 0; i < n; i++) {
        v += (x[i] - mean) * (x[i] - mean);
        s += dz[i];
        p += dz[i] * (x[i] - mean);
    }
    double by = 1 / sqrt(v / (double)n + 1e-5), shift = by * s / (double)n, back = by * by * by * p / (double)n;
    for (int64_t i = 0; i < n; i++) dx[i] = by * dz[i] - shift - back * (x[i] - mean);
}

static void cumsum(int64_t n, IN x, OUT z) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) z[i] = s += x[i];
}
static void cumsum_grad(int64_t n, IN x, IN dz, OUT dx) {
    (void)x;
    double s = 0;
    for (int64_t i = n; i-- > 0;) dx[i] = s += dz[i];
}

static void recurrence(int64_t n, IN a, IN b, OUT z) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s = a[i] * s + b[i];
    *z = s;
}
// da has the states until they are read.
static void recurrence_grad(int64_t n, IN a, IN b, OUT da, OUT db) {
    double s = 0, d = 1;
    for (int64_t i = 0; i < n; i++) {
        da[i] = s;
        s = a[i] * s + b[i];
    }
    for (int64_t i = n; i-- > 0;) {
        da[i] *= d;
        db[i] = d;
        d *= a[i];
    }
}

static void histogram(int64_t n, int64_t m, const int64_t *restrict bin, IN x, OUT z) {
    memset(z, 0, sizeof(double) * (size_t)m);
    for (int64_t i = 0; i < n; i++)
        if (0 <= bin[i] && bin[i] < m) z[bin[i]] += x[i];
}
static void histogram_grad(int64_t n, int64_t m, const int64_t *restrict bin, IN x, IN dz, OUT dx) {
    (void)x;
    for (int64_t i = 0; i < n; i++) dx[i] = 0 <= bin[i] && bin[i] < m ? dz[bin[i]] : 0;
}

// Neighbours.
static void rosenbrock(int64_t n, IN x, OUT z) {
    double s = 0;
    for (int64_t i = 0; i < n - 1; i++) {
        double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        s += 100 * a * a + b * b;
    }
    *z = s;
}
static void rosenbrock_grad(int64_t n, IN x, OUT dx) {
    dx[0] = 0;
    for (int64_t i = 1; i < n; i++) dx[i] = 200 * (x[i] - x[i - 1] * x[i - 1]);
    for (int64_t i = 0; i < n - 1; i++) dx[i] -= 400 * x[i] * (x[i + 1] - x[i] * x[i]) + 2 * (1 - x[i]);
}

static void stencil1(int64_t n, IN x, OUT z) {
    for (int64_t i = 0; i < n - 2; i++) z[i] = 0.25 * x[i] + 0.5 * x[i + 1] + 0.25 * x[i + 2];
}
static void stencil1_grad(int64_t n, IN x, IN dz, OUT dx) {
    (void)x;
    int64_t k = n - 2; // at least 2
    dx[0] = 0.25 * dz[0];
    dx[1] = 0.5 * dz[0] + 0.25 * dz[1];
    for (int64_t i = 2; i < k; i++) dx[i] = 0.25 * dz[i - 2] + 0.5 * dz[i - 1] + 0.25 * dz[i];
    dx[k] = 0.25 * dz[k - 2] + 0.5 * dz[k - 1];
    dx[k + 1] = 0.25 * dz[k - 1];
}

static void stencil2(int64_t n, int64_t m, IN x, OUT z) {
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < m - 1; j++) {
            const double *at = x + i * m + j;
            z[(i - 1) * (m - 2) + j - 1] = 0.2 * (at[-m] + at[-1] + at[0] + at[1] + at[m]);
        }
}
static void stencil2_grad(int64_t n, int64_t m, IN x, IN dz, OUT dx) {
    (void)x;
    memset(dx, 0, sizeof(double) * (size_t)(n * m));
    for (int64_t i = 1; i < n - 1; i++) {
        const double *d = dz + (i - 1) * (m - 2) - 1;
        double *row = dx + i * m;
        for (int64_t j = 1; j < m - 1; j++) row[j - m] += 0.2 * d[j];
        for (int64_t j = 1; j < m - 1; j++) row[j + m] += 0.2 * d[j];
        for (int64_t j = 1; j < m - 1; j++) row[j - 1] += 0.2 * d[j];
        for (int64_t j = 1; j < m - 1; j++) row[j] += 0.2 * d[j];
        for (int64_t j = 1; j < m - 1; j++) row[j + 1] += 0.2 * d[j];
    }
}

static void variation(int64_t n, int64_t m, IN x, OUT z) {
    double s = 0;
    for (int64_t i = 0; i < n - 1; i++)
        for (int64_t j = 0; j < m - 1; j++) {
            double down = x[(i + 1) * m + j] - x[i * m + j], right = x[i * m + j + 1] - x[i * m + j];
            s += sqrt(down * down + right * right + 1e-3);
        }
    *z = s;
}
static void variation_grad(int64_t n, int64_t m, IN x, OUT dx) {
    memset(dx, 0, sizeof(double) * (size_t)(n * m));
    for (int64_t i = 0; i < n - 1; i++)
        for (int64_t j = 0; j < m - 1; j++) {
            double down = x[(i + 1) * m + j] - x[i * m + j], right = x[i * m + j + 1] - x[i * m + j];
            double by = 1 / sqrt(down * down + right * right + 1e-3);
            dx[i * m + j] -= by * (down + right);
            dx[(i + 1) * m + j] += by * down;
            dx[i * m + j + 1] += by * right;
        }
}

static void conv1(int64_t n, int64_t m, IN x, IN w, OUT z) {
    int64_t k = n - m + 1;
    memset(z, 0, sizeof(double) * (size_t)k);
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = 0; i < k; i++) z[i] += w[j] * x[i + j];
}
static void conv1_grad(int64_t n, int64_t m, IN x, IN w, IN dz, OUT dx, OUT dw) {
    int64_t k = n - m + 1;
    memset(dx, 0, sizeof(double) * (size_t)n);
    for (int64_t j = 0; j < m; j++) {
        for (int64_t i = 0; i < k; i++) dx[i + j] += w[j] * dz[i];
        dw[j] = product_of(k, dz, x + j);
    }
}

static void conv2(int64_t n, int64_t m, int64_t k, IN x, IN w, OUT z) {
    int64_t rows = n - k + 1, columns = m - k + 1;
    memset(z, 0, sizeof(double) * (size_t)(rows * columns));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t a = 0; a < k; a++)
            for (int64_t b = 0; b < k; b++)
                for (int64_t j = 0; j < columns; j++) z[i * columns + j] += w[a * k + b] * x[(i + a) * m + j + b];
}
static void conv2_grad(int64_t n, int64_t m, int64_t k, IN x, IN w, IN dz, OUT dx, OUT dw) {
    int64_t rows = n - k + 1, columns = m - k + 1;
    memset(dx, 0, sizeof(double) * (size_t)(n * m));
    memset(dw, 0, sizeof(double) * (size_t)(k * k));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t a = 0; a < k; a++)
            for (int64_t b = 0; b < k; b++) {
                const double *d = dz + i * columns;
                for (int64_t j = 0; j < columns; j++) dx[(i + a) * m + j + b] += w[a * k + b] * d[j];
                dw[a * k + b] += product_of(columns, d, x + (i + a) * m + b);
            }
}

static void heat(int64_t n, int64_t m, IN x, OUT z) {
    double *next = malloc(sizeof(double) * (size_t)n), *now = z;
    memcpy(z, x, sizeof(double) * (size_t)n);
    next[0] = x[0], next[n - 1] = x[n - 1];
    for (int64_t t = 0; t < m; t++) {
        for (int64_t i = 1; i < n - 1; i++) next[i] = now[i] + 0.2 * (now[i - 1] - 2 * now[i] + now[i + 1]);
        double *swap = now;
        now = next, next = swap;
    }
    if (now != z) memcpy(z, now, sizeof(double) * (size_t)n);
    free(now == z ? next : now);
}
// The step's transpose: the ends give nothing back to themselves but what they had.
static void heat_grad(int64_t n, int64_t m, IN x, IN dz, OUT dx) {
    (void)x;
    double *next = malloc(sizeof(double) * (size_t)n), *now = dx;
    memcpy(dx, dz, sizeof(double) * (size_t)n);
    for (int64_t t = 0; t < m; t++) { // n is at least 4
        for (int64_t i = 2; i < n - 2; i++) next[i] = now[i] + 0.2 * (now[i - 1] - 2 * now[i] + now[i + 1]);
        next[0] = now[0] + 0.2 * now[1];
        next[1] = 0.6 * now[1] + 0.2 * now[2];
        next[n - 2] = 0.6 * now[n - 2] + 0.2 * now[n - 3];
        next[n - 1] = now[n - 1] + 0.2 * now[n - 2];
        double *swap = now;
        now = next, next = swap;
    }
    if (now != dx) memcpy(dx, now, sizeof(double) * (size_t)n);
    free(now == dx ? next : now);
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

static void vecmat(int64_t n, int64_t m, IN a, IN x, OUT z) {
    memset(z, 0, sizeof(double) * (size_t)m);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) z[j] += x[i] * a[i * m + j];
}
static void vecmat_grad(int64_t n, int64_t m, IN a, IN x, IN dz, OUT da, OUT dx) {
    for (int64_t i = 0; i < n; i++) {
        double s = 0;
        for (int64_t j = 0; j < m; j++) {
            da[i * m + j] = x[i] * dz[j];
            s += a[i * m + j] * dz[j];
        }
        dx[i] = s;
    }
}

static void bilinear(int64_t n, int64_t m, IN x, IN a, IN y, OUT z) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i] * product_of(m, a + i * m, y);
    *z = s;
}
static void bilinear_grad(int64_t n, int64_t m, IN x, IN a, IN y, OUT dx, OUT da, OUT dy) {
    memset(dy, 0, sizeof(double) * (size_t)m);
    for (int64_t i = 0; i < n; i++) {
        double s = 0;
        for (int64_t j = 0; j < m; j++) {
            s += a[i * m + j] * y[j];
            da[i * m + j] = x[i] * y[j];
            dy[j] += x[i] * a[i * m + j];
        }
        dx[i] = s;
    }
}

// Half of the result, then the other.
static void gram(int64_t n, int64_t m, IN a, OUT z) {
    memset(z, 0, sizeof(double) * (size_t)(m * m));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            for (int64_t l = 0; l <= j; l++) z[j * m + l] += a[i * m + j] * a[i * m + l];
    for (int64_t j = 0; j < m; j++)
        for (int64_t l = 0; l < j; l++) z[l * m + j] = z[j * m + l];
}
static void gram_grad(int64_t n, int64_t m, IN a, IN dz, OUT da) {
    double *both = malloc(sizeof(double) * (size_t)(m * m)); // dz + its transpose
    for (int64_t j = 0; j < m; j++)
        for (int64_t l = 0; l < m; l++) both[j * m + l] = dz[j * m + l] + dz[l * m + j];
    matmul(n, m, m, a, both, da);
    free(both);
}

static void batched(int64_t n, IN a, IN b, OUT z) {
    for (int64_t s = 0; s < n; s++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                double sum = 0;
                for (int l = 0; l < 4; l++) sum += a[s * 16 + i * 4 + l] * b[s * 16 + l * 4 + j];
                z[s * 16 + i * 4 + j] = sum;
            }
}
static void batched_grad(int64_t n, IN a, IN b, IN dz, OUT da, OUT db) {
    for (int64_t s = 0; s < n; s++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                double forA = 0, forB = 0;
                for (int l = 0; l < 4; l++) {
                    forA += dz[s * 16 + i * 4 + l] * b[s * 16 + j * 4 + l];
                    forB += a[s * 16 + l * 4 + i] * dz[s * 16 + l * 4 + j];
                }
                da[s * 16 + i * 4 + j] = forA;
                db[s * 16 + i * 4 + j] = forB;
            }
}

static void distances(int64_t n, int64_t k, int64_t m, IN x, IN y, OUT z) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double s = 0;
            for (int64_t a = 0; a < k; a++) s += (x[i * k + a] - y[j * k + a]) * (x[i * k + a] - y[j * k + a]);
            z[i * m + j] = s;
        }
}
static void distances_grad(int64_t n, int64_t k, int64_t m, IN x, IN y, IN dz, OUT dx, OUT dy) {
    memset(dx, 0, sizeof(double) * (size_t)(n * k));
    memset(dy, 0, sizeof(double) * (size_t)(m * k));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            for (int64_t a = 0; a < k; a++) {
                double d = 2 * dz[i * m + j] * (x[i * k + a] - y[j * k + a]);
                dx[i * k + a] += d;
                dy[j * k + a] -= d;
            }
}

static void sparse(int64_t n, int64_t k, int64_t m, const int64_t *restrict column, IN a, IN x, OUT z) {
    (void)m;
    for (int64_t i = 0; i < n; i++) {
        double s = 0;
        for (int64_t j = 0; j < k; j++) s += a[i * k + j] * x[column[i * k + j]];
        z[i] = s;
    }
}
static void sparse_grad(int64_t n, int64_t k, int64_t m, const int64_t *restrict column, IN a, IN x, IN dz, OUT da, OUT dx) {
    memset(dx, 0, sizeof(double) * (size_t)m);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            da[i * k + j] = dz[i] * x[column[i * k + j]];
            dx[column[i * k + j]] += dz[i] * a[i * k + j];
        }
}

// The lower triangle of the factor of a + n I.
static void factor(int64_t n, IN a, OUT f) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double s = a[i * n + j] - product_of(j, f + i * n, f + j * n);
            f[i * n + j] = i == j ? sqrt(s + (double)n) : s / f[j * n + j];
        }
}
// x becomes what solves it for the matrix of that factor.
static void solve_factored(int64_t n, IN f, OUT x) {
    for (int64_t i = 0; i < n; i++) x[i] = (x[i] - product_of(i, f + i * n, x)) / f[i * n + i];
    for (int64_t i = n; i-- > 0;) {
        x[i] /= f[i * n + i];
        for (int64_t j = 0; j < i; j++) x[j] -= f[i * n + j] * x[i];
    }
}
static void spdsolve(int64_t n, IN a, IN b, OUT z) {
    double *f = malloc(sizeof(double) * (size_t)(n * n));
    factor(n, a, f);
    memcpy(z, b, sizeof(double) * (size_t)n);
    solve_factored(n, f, z);
    free(f);
}
static void spdsolve_grad(int64_t n, IN a, IN b, IN dz, OUT da, OUT db) {
    double *f = malloc(sizeof(double) * (size_t)(n * n)), *z = malloc(sizeof(double) * (size_t)n);
    factor(n, a, f);
    memcpy(z, b, sizeof(double) * (size_t)n);
    memcpy(db, dz, sizeof(double) * (size_t)n);
    solve_factored(n, f, z);
    solve_factored(n, f, db);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) da[i * n + j] = -db[i] * z[j] - db[j] * z[i];
        da[i * n + i] = -db[i] * z[i];
        for (int64_t j = i + 1; j < n; j++) da[i * n + j] = 0;
    }
    free(f);
    free(z);
}

// Physics and geometry.
static void nbody(int64_t n, IN p, IN m, OUT z) {
    double s = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double x = p[3 * i] - p[3 * j], y = p[3 * i + 1] - p[3 * j + 1], w = p[3 * i + 2] - p[3 * j + 2];
            s -= m[i] * m[j] / sqrt(x * x + y * y + w * w + 1e-2);
        }
    *z = s;
}
static void nbody_grad(int64_t n, IN p, IN m, OUT dp, OUT dm) {
    memset(dp, 0, sizeof(double) * (size_t)(3 * n));
    memset(dm, 0, sizeof(double) * (size_t)n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double x = p[3 * i] - p[3 * j], y = p[3 * i + 1] - p[3 * j + 1], w = p[3 * i + 2] - p[3 * j + 2];
            double by = 1 / sqrt(x * x + y * y + w * w + 1e-2), pull = m[i] * m[j] * by * by * by;
            dm[i] -= m[j] * by;
            dm[j] -= m[i] * by;
            dp[3 * i] += pull * x, dp[3 * i + 1] += pull * y, dp[3 * i + 2] += pull * w;
            dp[3 * j] -= pull * x, dp[3 * j + 1] -= pull * y, dp[3 * j + 2] -= pull * w;
        }
}

static void projection(int64_t n, IN p, IN r, IN t, IN c, OUT z) {
    for (int64_t i = 0; i < n; i++) {
        double q[3];
        for (int a = 0; a < 3; a++) q[a] = r[3 * a] * p[3 * i] + r[3 * a + 1] * p[3 * i + 1] + r[3 * a + 2] * p[3 * i + 2] + t[a];
        double u = q[0] / q[2], v = q[1] / q[2], s = u * u + v * v, d = c[0] * (1 + s * (c[1] + s * c[2]));
        z[2 * i] = d * u;
        z[2 * i + 1] = d * v;
    }
}
static void projection_grad(int64_t n, IN p, IN r, IN t, IN c, IN dz, OUT dp, OUT dr, OUT dt, OUT dc) {
    double sumR[9] = {0}, sumT[3] = {0}, sumC[3] = {0};
    for (int64_t i = 0; i < n; i++) {
        double q[3];
        for (int a = 0; a < 3; a++) q[a] = r[3 * a] * p[3 * i] + r[3 * a + 1] * p[3 * i + 1] + r[3 * a + 2] * p[3 * i + 2] + t[a];
        double by = 1 / q[2], u = q[0] * by, v = q[1] * by, s = u * u + v * v;
        double shape = 1 + s * (c[1] + s * c[2]), d = c[0] * shape;
        double dd = dz[2 * i] * u + dz[2 * i + 1] * v, ds = dd * c[0] * (c[1] + 2 * s * c[2]);
        double du = dz[2 * i] * d + 2 * ds * u, dv = dz[2 * i + 1] * d + 2 * ds * v;
        double dq[3] = {du * by, dv * by, -(du * u + dv * v) * by};
        sumC[0] += dd * shape;
        sumC[1] += dd * c[0] * s;
        sumC[2] += dd * c[0] * s * s;
        for (int a = 0; a < 3; a++) {
            dp[3 * i + a] = r[a] * dq[0] + r[3 + a] * dq[1] + r[6 + a] * dq[2];
            sumT[a] += dq[a];
            for (int b = 0; b < 3; b++) sumR[3 * a + b] += dq[a] * p[3 * i + b];
        }
    }
    memcpy(dr, sumR, sizeof sumR);
    memcpy(dt, sumT, sizeof sumT);
    memcpy(dc, sumC, sizeof sumC);
}

static void rays(int64_t n, IN p, IN c, OUT z) {
    double at = c[2] + 5, beyond = c[0] * c[0] + c[1] * c[1] + at * at - 1;
    for (int64_t i = 0; i < n; i++) {
        double x = 0.1 * p[2 * i], y = 0.1 * p[2 * i + 1], b = (x * c[0] + y * c[1] + at) / sqrt(x * x + y * y + 1);
        z[i] = b - sqrt(b * b - beyond);
    }
}
static void rays_grad(int64_t n, IN p, IN c, IN dz, OUT dp, OUT dc) {
    double at = c[2] + 5, beyond = c[0] * c[0] + c[1] * c[1] + at * at - 1, dx = 0, dy = 0, dw = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = 0.1 * p[2 * i], y = 0.1 * p[2 * i + 1], by = 1 / sqrt(x * x + y * y + 1);
        double b = (x * c[0] + y * c[1] + at) * by, root = 1 / sqrt(b * b - beyond);
        double db = dz[i] * (1 - b * root) * by, straight = dz[i] * root;
        dp[2 * i] = 0.1 * db * (c[0] - b * by * x);
        dp[2 * i + 1] = 0.1 * db * (c[1] - b * by * y);
        dx += db * x + straight * c[0];
        dy += db * y + straight * c[1];
        dw += db + straight * at;
    }
    dc[0] = dx, dc[1] = dy, dc[2] = dw;
}

// The state after a step, and in k where the derivatives were taken.
static void rk4_step(IN p, double s[2], double k[4][2]) {
    static const double ahead[4] = {0, 0.005, 0.005, 0.01}, weight[4] = {0.01 / 6, 0.01 / 3, 0.01 / 3, 0.01 / 6};
    double x = s[0], y = s[1], u = 0, v = 0;
    for (int i = 0; i < 4; i++) {
        double a = k[i][0] = x + ahead[i] * u, b = k[i][1] = y + ahead[i] * v;
        u = p[0] * a - p[1] * a * b;
        v = p[3] * a * b - p[2] * b;
        s[0] += weight[i] * u;
        s[1] += weight[i] * v;
    }
}
static void rk4(int64_t n, IN p, OUT z) {
    double s[2] = {1, 1}, k[4][2];
    for (int64_t t = 0; t < n; t++) rk4_step(p, s, k);
    *z = s[0] + s[1];
}
static void rk4_grad(int64_t n, IN p, OUT dp) {
    static const double ahead[5] = {0, 0.005, 0.005, 0.01, 0}, weight[4] = {0.01 / 6, 0.01 / 3, 0.01 / 3, 0.01 / 6};
    double(*states)[2] = malloc(sizeof(double[2]) * (size_t)n), s[2] = {1, 1}, k[4][2], sum[4] = {0}, dx = 1, dy = 1;
    for (int64_t t = 0; t < n; t++) {
        memcpy(states[t], s, sizeof s);
        rk4_step(p, s, k);
    }
    for (int64_t t = n; t-- > 0;) {
        rk4_step(p, states[t], k);
        double x = dx, y = dy, gx = 0, gy = 0; // of the state after the step; of the place of the derivative after this one
        for (int i = 3; i >= 0; i--) {
            double a = k[i][0], b = k[i][1], u = weight[i] * x + ahead[i + 1] * gx, v = weight[i] * y + ahead[i + 1] * gy;
            gx = u * (p[0] - p[1] * b) + v * p[3] * b;
            gy = v * (p[3] * a - p[2]) - u * p[1] * a;
            sum[0] += u * a;
            sum[1] -= u * a * b;
            sum[2] -= v * b;
            sum[3] += v * a * b;
            dx += gx;
            dy += gy;
        }
    }
    memcpy(dp, sum, sizeof sum);
    free(states);
}

// Learning.
static void logistic(int64_t n, int64_t m, IN w, IN b, IN x, const int64_t *restrict y, OUT z) {
    double s = 0;
    for (int64_t i = 0; i < m; i++) {
        double t = product_of(n, w, x + i * n) + *b;
        s += (t > 0 ? t : 0) - (double)y[i] * t + log1p(exp(-fabs(t)));
    }
    *z = s / (double)m;
}
static void logistic_grad(int64_t n, int64_t m, IN w, IN b, IN x, const int64_t *restrict y, OUT dw, OUT db) {
    double by = 1 / (double)m, sum = 0;
    memset(dw, 0, sizeof(double) * (size_t)n);
    for (int64_t i = 0; i < m; i++) {
        double t = product_of(n, w, x + i * n) + *b, d = by * (1 / (1 + exp(-t)) - (double)y[i]);
        for (int64_t j = 0; j < n; j++) dw[j] += d * x[i * n + j];
        sum += d;
    }
    *db = sum;
}

// hidden and z become the layers' results.
static void layers(int64_t n, int64_t m, int64_t k, IN x, IN v, IN a, IN w, IN b, OUT hidden, OUT z) {
    for (int64_t i = 0; i < m; i++) {
        double s = product_of(n, v + i * n, x) + a[i];
        hidden[i] = s > 0 ? s : 0;
    }
    for (int64_t i = 0; i < k; i++) z[i] = product_of(m, w + i * m, hidden) + b[i];
}
static void perceptron(int64_t n, int64_t m, int64_t k, IN x, const int64_t *restrict label, IN v, IN a, IN w, IN b, OUT z) {
    double *hidden = malloc(sizeof(double) * (size_t)(m + k)), *o = hidden + m;
    layers(n, m, k, x, v, a, w, b, hidden, o);
    lse(k, o, z);
    *z -= o[*label];
    free(hidden);
}
static void perceptron_grad(int64_t n, int64_t m, int64_t k, IN x, const int64_t *restrict label, IN v, IN a, IN w, IN b,
                            OUT dv, OUT da, OUT dw, OUT db) {
    double *hidden = malloc(sizeof(double) * (size_t)(m + k)), *o = hidden + m;
    layers(n, m, k, x, v, a, w, b, hidden, o);
    smax(k, o, db);
    db[*label] -= 1;
    memset(da, 0, sizeof(double) * (size_t)m);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < m; j++) {
            dw[i * m + j] = db[i] * hidden[j];
            da[j] += db[i] * w[i * m + j];
        }
    for (int64_t i = 0; i < m; i++) {
        if (hidden[i] <= 0) da[i] = 0;
        for (int64_t j = 0; j < n; j++) dv[i * n + j] = da[i] * x[j];
    }
    free(hidden);
}

// The nearest of k centres, and the square of its distance.
static int64_t nearest(int64_t m, int64_t k, IN p, IN c, double *distance) {
    int64_t best = 0;
    for (int64_t j = 0; j < k; j++) {
        double s = 0;
        for (int64_t a = 0; a < m; a++) s += (p[a] - c[j * m + a]) * (p[a] - c[j * m + a]);
        if (j == 0 || s < *distance) *distance = s, best = j;
    }
    return best;
}
static void kmeans(int64_t n, int64_t m, int64_t k, IN p, IN c, OUT z) {
    double s = 0, distance;
    for (int64_t i = 0; i < n; i++) {
        nearest(m, k, p + i * m, c, &distance);
        s += distance;
    }
    *z = s;
}
static void kmeans_grad(int64_t n, int64_t m, int64_t k, IN p, IN c, OUT dp, OUT dc) {
    double distance;
    memset(dc, 0, sizeof(double) * (size_t)(k * m));
    for (int64_t i = 0; i < n; i++) {
        int64_t j = nearest(m, k, p + i * m, c, &distance);
        for (int64_t a = 0; a < m; a++) {
            double d = 2 * (p[i * m + a] - c[j * m + a]);
            dp[i * m + a] = d;
            dc[j * m + a] -= d;
        }
    }
}

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}
// The four gates of all states: in, forget, out, new.
static void gates(int64_t n, int64_t m, IN w, IN u, IN b, IN x, IN h, OUT g) {
    for (int64_t i = 0; i < 4 * n; i++) g[i] = product_of(m, w + i * m, x) + product_of(n, u + i * n, h) + b[i];
    for (int64_t i = 0; i < 3 * n; i++) g[i] = sigmoid(g[i]);
    for (int64_t i = 3 * n; i < 4 * n; i++) g[i] = tanh(g[i]);
}
static void lstm(int64_t n, int64_t m, IN w, IN u, IN b, IN x, IN h, IN c, OUT z) {
    double *g = malloc(sizeof(double) * (size_t)(4 * n)), s = 0;
    gates(n, m, w, u, b, x, h, g);
    for (int64_t i = 0; i < n; i++) {
        double o = g[2 * n + i] * tanh(g[n + i] * c[i] + g[i] * g[3 * n + i]);
        s += o * o;
    }
    *z = s;
    free(g);
}
static void lstm_grad(int64_t n, int64_t m, IN w, IN u, IN b, IN x, IN h, IN c, OUT dw, OUT du, OUT db, OUT dx, OUT dh, OUT dc) {
    double *g = malloc(sizeof(double) * (size_t)(4 * n));
    gates(n, m, w, u, b, x, h, g);
    for (int64_t i = 0; i < n; i++) {
        double in = g[i], forget = g[n + i], out = g[2 * n + i], new = g[3 * n + i], t = tanh(forget * c[i] + in * new);
        double d = 2 * out * t, ds = d * out * (1 - t * t);
        db[i] = ds * new * in * (1 - in);
        db[n + i] = ds * c[i] * forget * (1 - forget);
        db[2 * n + i] = d * t * out * (1 - out);
        db[3 * n + i] = ds * in * (1 - new * new);
        dc[i] = ds * forget;
    }
    memset(dx, 0, sizeof(double) * (size_t)m);
    memset(dh, 0, sizeof(double) * (size_t)n);
    for (int64_t i = 0; i < 4 * n; i++) {
        for (int64_t j = 0; j < m; j++) {
            dw[i * m + j] = db[i] * x[j];
            dx[j] += db[i] * w[i * m + j];
        }
        for (int64_t j = 0; j < n; j++) {
            du[i * n + j] = db[i] * h[j];
            dh[j] += db[i] * u[i * n + j];
        }
    }
    free(g);
}

// The weights of the rows of v; s has k places.
static void weights(int64_t m, int64_t k, IN q, IN key, OUT s, OUT p) {
    double by = 1 / sqrt((double)m);
    for (int64_t j = 0; j < k; j++) s[j] = by * product_of(m, q, key + j * m);
    smax(k, s, p);
}
static void attention(int64_t n, int64_t m, int64_t k, IN q, IN key, IN v, OUT z) {
    double *s = malloc(sizeof(double) * (size_t)(2 * k)), *p = s + k;
    for (int64_t i = 0; i < n; i++) {
        weights(m, k, q + i * m, key, s, p);
        vecmat(k, m, v, p, z + i * m);
    }
    free(s);
}
static void attention_grad(int64_t n, int64_t m, int64_t k, IN q, IN key, IN v, IN dz, OUT dq, OUT dkey, OUT dv) {
    double *s = malloc(sizeof(double) * (size_t)(2 * k)), *p = s + k, by = 1 / sqrt((double)m);
    memset(dq, 0, sizeof(double) * (size_t)(n * m));
    memset(dkey, 0, sizeof(double) * (size_t)(k * m));
    memset(dv, 0, sizeof(double) * (size_t)(k * m));
    for (int64_t i = 0; i < n; i++) {
        const double *d = dz + i * m;
        weights(m, k, q + i * m, key, s, p);
        for (int64_t j = 0; j < k; j++) {
            s[j] = product_of(m, d, v + j * m);
            for (int64_t a = 0; a < m; a++) dv[j * m + a] += p[j] * d[a];
        }
        double mean = product_of(k, p, s);
        for (int64_t j = 0; j < k; j++) {
            double ds = by * p[j] * (s[j] - mean);
            for (int64_t a = 0; a < m; a++) {
                dq[i * m + a] += ds * key[j * m + a];
                dkey[j * m + a] += ds * q[i * m + a];
            }
        }
    }
    free(s);
}

#define CALL(function, ...) (function(__VA_ARGS__), 0)
KERNELS(ADAPT_F, ADAPT_V)
#define TABLE_(by) by##_kernels
#define TABLE(by) TABLE_(by)
extern const struct side TABLE(BY)[];
const struct side TABLE(BY)[] = {KERNELS(SIDE, SIDE)};
