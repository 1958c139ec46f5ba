#include "manual.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265359; // as ADBench has it

static int64_t packed(const Gmm *g) { return g->d * (g->d + 1) / 2; }

// Each Q row by row, only its triangle; the sums of the logarithms of their diagonals.
static void unpack(const Gmm *g, double *q, double *logs) {
    int64_t d = g->d;
    for (int64_t k = 0; k < g->k; k++, q += packed(g)) {
        const double *from = g->icf + k * packed(g);
        logs[k] = 0;
        for (int64_t i = 0; i < d; i++) {
            double *row = q + i * (i + 1) / 2;
            logs[k] += from[i];
            row[i] = exp(from[i]);
            for (int64_t j = 0; j < i; j++) row[j] = from[d + j * (d - 1) - j * (j - 1) / 2 + i - j - 1];
        }
    }
}

static double log_sum_exp(const double *v, int64_t n) {
    double most = v[0], sum = 0;
    for (int64_t i = 1; i < n; i++) most = v[i] > most ? v[i] : most;
    for (int64_t i = 0; i < n; i++) sum += exp(v[i] - most);
    return most + log(sum);
}

// y = x - mean and z = Q y; returns the squared norm of z.
static double distance(int64_t d, const double *x, const double *mean, const double *q, double *restrict y, double *restrict z) {
    double squares = 0;
    for (int64_t i = 0; i < d; i++) y[i] = x[i] - mean[i];
    for (int64_t i = 0; i < d; q += ++i) {
        double sum = 0;
        for (int64_t j = 0; j <= i; j++) sum += q[j] * y[j];
        z[i] = sum;
        squares += sum * sum;
    }
    return squares;
}

static double prior(const Gmm *g, const double *logs) {
    double d = (double)g->d, nu = d + (double)g->m + 1, log_gamma = 0.25 * d * (d - 1) * log(pi), sum = 0;
    for (int64_t j = 0; j < g->d; j++) log_gamma += lgamma(0.5 * (nu - (double)j));
    for (int64_t k = 0; k < g->k; k++) {
        const double *p = g->icf + k * packed(g);
        double squares = 0;
        for (int64_t j = 0; j < g->d; j++) squares += exp(2 * p[j]);
        for (int64_t j = g->d; j < packed(g); j++) squares += p[j] * p[j];
        sum += 0.5 * g->gamma * g->gamma * squares - (double)g->m * logs[k];
    }
    return sum - (double)g->k * (nu * d * (log(g->gamma) - 0.5 * log(2)) - log_gamma);
}

// Qs, logarithms, a density for each component, and for each component y and z.
int64_t gmm_work(const Gmm *g) { return g->k * (2 * packed(g) + 2 + 4 * g->d); }

double gmm_value(const Gmm *g, double *work) {
    double *q = work, *logs = q + g->k * packed(g), *density = logs + g->k, *y = density + g->k, *z = y + g->d;
    unpack(g, q, logs);
    double sum = -0.5 * (double)(g->n * g->d) * log(2 * pi) - (double)g->n * log_sum_exp(g->alphas, g->k);
    for (int64_t i = 0; i < g->n; i++) {
        for (int64_t k = 0; k < g->k; k++)
            density[k] =
                g->alphas[k] + logs[k] - 0.5 * distance(g->d, g->x + i * g->d, g->means + k * g->d, q + k * packed(g), y, z);
        sum += log_sum_exp(density, g->k);
    }
    return sum + g->sign * prior(g, logs);
}

// Adds what a point gives: shares of the components, share * z, and the triangles of share * z yᵀ.
static void add_point(const Gmm *g, const double *density, const double *y, const double *z, double *shares, double *zs,
                      double *triangles) {
    int64_t d = g->d;
    double all = log_sum_exp(density, g->k);
    for (int64_t k = 0; k < g->k; k++, y += d, z += d, zs += d) {
        double share = exp(density[k] - all);
        shares[k] += share;
        for (int64_t i = 0; i < d; triangles += ++i) {
            double weighted = share * z[i];
            zs[i] += weighted;
            for (int64_t j = 0; j <= i; j++) triangles[j] += weighted * y[j];
        }
    }
}

static void gradient_of_component(const Gmm *g, int64_t k, double share, const double *zs, const double *triangle, const double *q,
                                  double *mean, double *icf) {
    int64_t d = g->d;
    const double *p = g->icf + k * packed(g);
    double square = g->sign * g->gamma * g->gamma;
    memset(mean, 0, (size_t)d * sizeof *mean);
    for (int64_t i = 0; i < d; i++) {
        const double *row = q + i * (i + 1) / 2, *sums = triangle + i * (i + 1) / 2;
        for (int64_t j = 0; j <= i; j++) mean[j] += row[j] * zs[i];
        icf[i] = share - row[i] * sums[i] + square * row[i] * row[i] - g->sign * (double)g->m;
        for (int64_t j = 0; j < i; j++) {
            int64_t at = d + j * (d - 1) - j * (j - 1) / 2 + i - j - 1;
            icf[at] = square * p[at] - sums[j];
        }
    }
}

void gmm_gradient(const Gmm *g, double *work, double *gradient) {
    int64_t d = g->d, size = packed(g);
    double *q = work, *logs = q + g->k * size, *density = logs + g->k, *y = density + g->k, *z = y + g->k * d;
    double *zs = z + g->k * d, *triangles = zs + g->k * d;
    double *shares = gradient, *means = shares + g->k, *icf = means + g->k * d;
    unpack(g, q, logs);
    memset(zs, 0, (size_t)(g->k * (d + size)) * sizeof *zs);
    memset(shares, 0, (size_t)g->k * sizeof *shares);
    for (int64_t i = 0; i < g->n; i++) {
        for (int64_t k = 0; k < g->k; k++)
            density[k] =
                g->alphas[k] + logs[k] - 0.5 * distance(d, g->x + i * d, g->means + k * d, q + k * size, y + k * d, z + k * d);
        add_point(g, density, y, z, shares, zs, triangles);
    }
    double all = log_sum_exp(g->alphas, g->k);
    for (int64_t k = 0; k < g->k; k++) {
        gradient_of_component(g, k, shares[k], zs + k * d, triangles + k * size, q + k * size, means + k * d, icf + k * size);
        shares[k] -= (double)g->n * exp(g->alphas[k] - all);
    }
}
