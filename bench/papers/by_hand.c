// The programs of this folder and their derivatives as one writes them by hand. Compiled once by each C compiler, with
// BY naming it. Names and parameters are those of the compiled entries, without the context.
#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b)
#define HAND(name)  JOIN(BY, name)
#define ba_value    HAND(ba_value)
#define ba_jacobian HAND(ba_jacobian)
#include "../adbench/manual/ba.c"

#include <float.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t I;
typedef const double *D;
typedef const int32_t *W;
#define IN  const double *restrict
#define OUT double *restrict

// ---- [DU] Table 2

void HAND(sinCos)(double x, OUT out) { *out = sin(cos(x)); }
void HAND(sinCosGradient)(double x, OUT out) { *out = -cos(cos(x)) * sin(x); }

void HAND(power)(double x, I n, OUT out) {
    double r = 1;
    for (I i = 0; i < n; i++) r *= x;
    *out = r;
}

void HAND(powerGradient)(double x, I n, OUT out) {
    double r = 1, by = 0;
    for (I i = 0; i < n; i++) by = by * x + r, r *= x;
    *out = by;
}

static double log_sum(I n, IN x, OUT exps) {
    double most = x[0], sum = 0;
    for (I i = 1; i < n; i++) most = fmax(most, x[i]);
    for (I i = 0; i < n; i++) sum += exps[i] = exp(x[i] - most);
    for (I i = 0; i < n; i++) exps[i] /= sum;
    return most + log(sum);
}

void HAND(logSum)(I n, IN x, OUT out) {
    double most = x[0], sum = 0;
    for (I i = 1; i < n; i++) most = fmax(most, x[i]);
    for (I i = 0; i < n; i++) sum += exp(x[i] - most);
    *out = most + log(sum);
}

void HAND(logSumGradient)(I n, IN x, OUT out) { log_sum(n, x, out); }

static double inner(I n, IN a, IN b) {
    double sum = 0;
    for (I i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void add_scaled(I n, double s, IN a, OUT to) {
    for (I i = 0; i < n; i++) to[i] += s * a[i];
}

void HAND(logisticLoss)(I d, I n, IN weights, double bias, IN x, IN y, OUT out) {
    double total = 0;
    for (I i = 0; i < n; i++) {
        double z = inner(d, weights, x + i * d) + bias;
        total += log(1 + exp(z)) - y[i] * z;
    }
    *out = total / (double)n;
}

void HAND(logisticGradient)(I d, I n, IN weights, double bias, IN x, IN y, OUT by_weights, OUT by_bias) {
    memset(by_weights, 0, (size_t)d * sizeof(double));
    double sum = 0;
    for (I i = 0; i < n; i++) {
        double z = inner(d, weights, x + i * d) + bias, by = (1 / (1 + exp(-z)) - y[i]) / (double)n;
        add_scaled(d, by, x + i * d, by_weights);
        sum += by;
    }
    *by_bias = sum;
}

static void layer(I rows, I columns, IN w, IN b, IN x, OUT to) {
    for (I i = 0; i < rows; i++) to[i] = inner(columns, w + i * columns, x) + b[i];
}

enum { WIDEST = 4096 }; // layers of the perceptron

void HAND(perceptronLoss)(I h, I d, I c, IN w1, IN b1, IN w2, IN b2, IN image, I label, OUT out) {
    double hidden[WIDEST], scores[WIDEST], loss;
    layer(h, d, w1, b1, image, hidden);
    for (I i = 0; i < h; i++) hidden[i] = tanh(hidden[i]);
    layer(c, h, w2, b2, hidden, scores);
    HAND(logSum)(c, scores, &loss);
    *out = loss - scores[label];
}

void HAND(perceptronGradient)(I h, I d, I c, IN w1, IN b1, IN w2, IN b2, IN image, I label, OUT by_w1, OUT by_b1, OUT by_w2,
                              OUT by_b2) {
    double hidden[WIDEST], scores[WIDEST], by_hidden[WIDEST] = {0};
    layer(h, d, w1, b1, image, hidden);
    for (I i = 0; i < h; i++) hidden[i] = tanh(hidden[i]);
    layer(c, h, w2, b2, hidden, scores);
    log_sum(c, scores, by_b2);
    by_b2[label] -= 1;
    for (I k = 0; k < c; k++) {
        for (I i = 0; i < h; i++) by_w2[k * h + i] = by_b2[k] * hidden[i];
        add_scaled(h, by_b2[k], w2 + k * h, by_hidden);
    }
    for (I i = 0; i < h; i++) {
        by_b1[i] = by_hidden[i] * (1 - hidden[i] * hidden[i]);
        for (I j = 0; j < d; j++) by_w1[i * d + j] = by_b1[i] * image[j];
    }
}

// ---- [NP] k-means

static I nearest(I d, I k, IN x, IN centroids, double *distance) {
    I best = 0;
    *distance = DBL_MAX;
    for (I c = 0; c < k; c++) {
        double squares = 0;
        for (I j = 0; j < d; j++) squares += (x[j] - centroids[c * d + j]) * (x[j] - centroids[c * d + j]);
        if (squares < *distance) *distance = squares, best = c;
    }
    return best;
}

void HAND(denseCost)(I n, I d, I k, IN points, IN centroids, OUT out) {
    double total = 0, distance;
    for (I i = 0; i < n; i++) nearest(d, k, points + i * d, centroids, &distance), total += distance;
    *out = total;
}

// The gradient is twice the centroid's distance from its points, the Hessian twice their number.
static void step(I d, I k, const I *counts, IN centroids, OUT to) {
    for (I c = 0; c < k; c++)
        for (I j = 0; j < d; j++) to[c * d + j] = centroids[c * d + j] - to[c * d + j] / (double)counts[c];
}

void HAND(denseStep)(I n, I d, I k, IN points, IN centroids, OUT out) {
    double distance;
    I *counts = calloc((size_t)k, sizeof *counts);
    memset(out, 0, (size_t)(k * d) * sizeof(double));
    for (I i = 0; i < n; i++) {
        I c = nearest(d, k, points + i * d, centroids, &distance);
        counts[c]++;
        add_scaled(d, 1, points + i * d, out + c * d);
    }
    step(d, k, counts, centroids, out);
    free(counts);
}

// Of a sparse point, without its own square.
static I nearest_sparse(I d, I k, I count, const int32_t *places, IN values, IN norms, IN centroids, double *distance) {
    I best = 0;
    *distance = DBL_MAX;
    for (I c = 0; c < k; c++) {
        double product = 0;
        for (I e = 0; e < count; e++) product += values[e] * centroids[c * d + places[e]];
        double squares = norms[c] - 2 * product;
        if (squares < *distance) *distance = squares, best = c;
    }
    return best;
}

void HAND(sparseCost)(I r, I e, I k, I d, const int32_t *starts, const int32_t *places, IN values, IN centroids, OUT out) {
    (void)e;
    double total = 0, distance, *norms = malloc((size_t)k * sizeof *norms);
    for (I c = 0; c < k; c++) norms[c] = inner(d, centroids + c * d, centroids + c * d);
    for (I i = 0; i + 1 < r; i++) {
        I first = starts[i], count = starts[i + 1] - first;
        nearest_sparse(d, k, count, places + first, values + first, norms, centroids, &distance);
        total += distance + inner(count, values + first, values + first);
    }
    free(norms);
    *out = total;
}

void HAND(sparseStep)(I r, I e, I k, I d, const int32_t *starts, const int32_t *places, IN values, IN centroids, OUT out) {
    (void)e;
    double distance, *norms = malloc((size_t)k * sizeof *norms);
    I *counts = calloc((size_t)k, sizeof *counts);
    for (I c = 0; c < k; c++) norms[c] = inner(d, centroids + c * d, centroids + c * d);
    memset(out, 0, (size_t)(k * d) * sizeof(double));
    for (I i = 0; i + 1 < r; i++) {
        I first = starts[i], count = starts[i + 1] - first;
        I c = nearest_sparse(d, k, count, places + first, values + first, norms, centroids, &distance);
        counts[c]++;
        for (I j = first; j < first + count; j++) out[c * d + places[j]] += values[j];
    }
    step(d, k, counts, centroids, out);
    free(norms), free(counts);
}

// ---- [NP] cross sections

static I interval(I n, IN grid, double e) {
    I low = 0, high = n - 1;
    while (high - low > 1) {
        I middle = (low + high) / 2;
        if (grid[middle] <= e) low = middle;
        else high = middle;
    }
    return low;
}

static double xs_micro(I g, IN grid, IN sections, double e, I *at, double *share) {
    *at = interval(g, grid, e);
    *share = (e - grid[*at]) / (grid[*at + 1] - grid[*at]);
    double sum = 0;
    for (int t = 0; t < 5; t++) {
        double low = sections[5 * *at + t];
        sum += low + *share * (sections[5 * *at + 5 + t] - low);
    }
    return sum;
}

void HAND(xsTotal)(I u, I g, I s, I k, I n, IN grids, IN sections, const int32_t *starts, IN amounts, const int32_t *nuclides,
                   IN energies, const int32_t *materials, OUT out) {
    (void)u, (void)s, (void)k;
    double total = 0, share;
    for (I i = 0; i < n; i++)
        for (I j = starts[materials[i]], at; j < starts[materials[i] + 1]; j++)
            total += amounts[j] * xs_micro(g, grids + g * nuclides[j], sections + 5 * g * nuclides[j], energies[i], &at, &share);
    *out = total;
}

void HAND(xsGradient)(I u, I g, I s, I k, I n, IN grids, IN sections, const int32_t *starts, IN amounts, const int32_t *nuclides,
                      IN energies, const int32_t *materials, OUT by_sections, OUT by_amounts) {
    (void)s;
    memset(by_sections, 0, (size_t)(5 * u * g) * sizeof(double));
    memset(by_amounts, 0, (size_t)k * sizeof(double));
    for (I i = 0; i < n; i++)
        for (I j = starts[materials[i]], at; j < starts[materials[i] + 1]; j++) {
            double share, *to = by_sections + 5 * g * nuclides[j];
            by_amounts[j] += xs_micro(g, grids + g * nuclides[j], sections + 5 * g * nuclides[j], energies[i], &at, &share);
            for (int t = 0; t < 5; t++) {
                to[5 * at + t] += amounts[j] * (1 - share);
                to[5 * at + 5 + t] += amounts[j] * share;
            }
        }
}

typedef struct Complex {
    double re, im;
} Complex;

static Complex product(Complex a, Complex b) { return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

static void turns(IN radii, double root, Complex to[4]) {
    for (int l = 0; l < 4; l++) {
        double x = radii[l] * root;
        double shift = l == 0   ? 0
                       : l == 1 ? atan(x)
                       : l == 2 ? atan(3 * x / (3 - x * x))
                                : atan(x * (15 - x * x) / (15 - 6 * x * x));
        to[l] = (Complex){cos(2 * (x - shift)), -sin(2 * (x - shift))};
    }
}

// A window's poles: x, y, and real and imaginary parts of three residues. Those of the derivatives likewise.
enum { POLE = 8, FITS = 3 };

// A nuclide at an energy; with the amount of it, also the derivatives.
static double rs_micro(I p, double *const poles[POLE], const int32_t *momenta, double *const windows[FITS], I window, IN radii,
                       double e, double amount, double *const by_poles[POLE], double *const by_windows[FITS]) {
    static const double weights[] = {5, -2, 3};
    Complex turned[4];
    double root = sqrt(e), sum = 0;
    turns(radii, root, turned);
    for (I j = window * p; j < (window + 1) * p; j++) {
        Complex z = {poles[0][j] - root, poles[1][j]}, turn = turned[momenta[j]], residues = {0, 0}, psi;
        double scale = 1 / (e * (z.re * z.re + z.im * z.im));
        psi = (Complex){z.im * scale, z.re * scale};
        for (int t = 0; t < FITS; t++) {
            Complex residue = {poles[2 + 2 * t][j], poles[3 + 2 * t][j]}, of = psi;
            if (t == 0) residue = product(residue, turn), of = product(psi, turn);
            residues.re += weights[t] * residue.re, residues.im += weights[t] * residue.im;
            if (by_poles) {
                by_poles[2 + 2 * t][j] += amount * weights[t] * of.re;
                by_poles[3 + 2 * t][j] -= amount * weights[t] * of.im;
            }
        }
        sum += product(residues, psi).re;
        if (!by_poles) continue;
        // psi is i / (z e): its derivative by z is -psi / z.
        double squares = z.re * z.re + z.im * z.im;
        Complex by_z = product(product(residues, psi), (Complex){-z.re / squares, z.im / squares});
        by_poles[0][j] += amount * by_z.re;
        by_poles[1][j] -= amount * by_z.im;
    }
    for (int t = 0; t < FITS; t++) {
        sum += e * weights[t] * windows[t][window];
        if (by_windows) by_windows[t][window] += amount * e * weights[t];
    }
    return sum;
}

// The window of a nuclide at an energy, in arrays with w windows for each nuclide.
static I window_of(I u, I w, const int32_t *counts, double e) {
    I window = (I)(e * counts[u]), last = counts[u] - 1;
    return u * w + (window < last ? window : last);
}

void HAND(rsTotal)(I u, I w, I p, I k, I s, I n, D px, D py, D tx, D ty, D ax, D ay, D fx, D fy, D wt, D wa, D wf, IN amounts,
                   W momenta, W counts, IN radii, W starts, W nuclides, IN energies, W materials, OUT out) {
    (void)u, (void)s, (void)k;
    // Only read.
    double *poles[POLE] = {(double *)px, (double *)py, (double *)tx, (double *)ty,
                           (double *)ax, (double *)ay, (double *)fx, (double *)fy},
           *windows[FITS] = {(double *)wt, (double *)wa, (double *)wf}, total = 0;
    for (I i = 0; i < n; i++)
        for (I j = starts[materials[i]]; j < starts[materials[i] + 1]; j++)
            total += amounts[j] * rs_micro(p, poles, momenta, windows, window_of(nuclides[j], w, counts, energies[i]),
                                           radii + 4 * nuclides[j], energies[i], 0, NULL, NULL);
    *out = total;
}

void HAND(rsGradient)(I u, I w, I p, I k, I s, I n, D px, D py, D tx, D ty, D ax, D ay, D fx, D fy, D wt, D wa, D wf, IN amounts,
                      W momenta, W counts, IN radii, W starts, W nuclides, IN energies, W materials, double *dpx, double *dpy,
                      double *dtx, double *dty, double *dax, double *day, double *dfx, double *dfy, double *dwt, double *dwa,
                      double *dwf, OUT by_amounts) {
    (void)s;
    double *poles[POLE] = {(double *)px, (double *)py, (double *)tx, (double *)ty,
                           (double *)ax, (double *)ay, (double *)fx, (double *)fy},
           *windows[FITS] = {(double *)wt, (double *)wa, (double *)wf};
    double *by_poles[POLE] = {dpx, dpy, dtx, dty, dax, day, dfx, dfy}, *by_windows[FITS] = {dwt, dwa, dwf};
    for (int t = 0; t < POLE; t++) memset(by_poles[t], 0, (size_t)(u * w * p) * sizeof(double));
    for (int t = 0; t < FITS; t++) memset(by_windows[t], 0, (size_t)(u * w) * sizeof(double));
    memset(by_amounts, 0, (size_t)k * sizeof(double));
    for (I i = 0; i < n; i++)
        for (I j = starts[materials[i]]; j < starts[materials[i] + 1]; j++)
            by_amounts[j] += rs_micro(p, poles, momenta, windows, window_of(nuclides[j], w, counts, energies[i]),
                                      radii + 4 * nuclides[j], energies[i], amounts[j], by_poles, by_windows);
}

// ---- [NP] LSTM

// to[i][j] += the inner product of rows i of a and j of b, four by four at a time.
static void add_products(I rows, I columns, I n, IN a, IN b, OUT to) {
    I i = 0;
    for (; i + 4 <= rows; i += 4) {
        I j = 0;
        for (; j + 4 <= columns; j += 4) {
            double sums[4][4] = {{0}};
            for (I k = 0; k < n; k++)
                for (int x = 0; x < 4; x++)
                    for (int y = 0; y < 4; y++) sums[x][y] += a[(i + x) * n + k] * b[(j + y) * n + k];
            for (int x = 0; x < 4; x++)
                for (int y = 0; y < 4; y++) to[(i + x) * columns + j + y] += sums[x][y];
        }
        for (; j < columns; j++)
            for (int x = 0; x < 4; x++) to[(i + x) * columns + j] += inner(n, a + (i + x) * n, b + j * n);
    }
    for (; i < rows; i++)
        for (I j = 0; j < columns; j++) to[i * columns + j] += inner(n, a + i * n, b + j * n);
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

// For each step: the four gates, the cell and its tanh, and the output, each of b rows of h.
enum { FORGET, ENTER, LEAVE, CHANGE, CELL, SQUASHED, OUTPUT, KEPT };

static void lstm_forward(I h, I d, I n, I b, IN wx, IN wh, IN bias, IN xs, double *kept) {
    I size = b * h;
    for (I t = 0; t < n; t++) {
        double *at = kept + t * KEPT * size;
        const double *before = at - KEPT * size;
        for (int g = 0; g < 4; g++) {
            double *gate = at + g * size;
            for (I s = 0; s < b; s++) memcpy(gate + s * h, bias + g * h, (size_t)h * sizeof(double));
            add_products(b, h, d, xs + t * b * d, wx + g * h * d, gate);
            if (t) add_products(b, h, h, before + OUTPUT * size, wh + g * h * h, gate);
        }
        for (I i = 0; i < 3 * size; i++) at[i] = sigmoid(at[i]);
        for (I i = 0; i < size; i++) {
            at[CHANGE * size + i] = tanh(at[CHANGE * size + i]);
            double cell = (t ? at[i] * before[CELL * size + i] : 0) + at[ENTER * size + i] * at[CHANGE * size + i];
            at[CELL * size + i] = cell;
            at[SQUASHED * size + i] = tanh(cell);
            at[OUTPUT * size + i] = at[LEAVE * size + i] * at[SQUASHED * size + i];
        }
    }
}

void HAND(lstmLoss)(I h, I d, I n, I b, IN wx, IN wh, IN bias, IN xs, IN targets, OUT out) {
    I size = b * h;
    double *kept = malloc((size_t)(n * KEPT * size) * sizeof(double)), *last = kept + ((n - 1) * KEPT + OUTPUT) * size;
    lstm_forward(h, d, n, b, wx, wh, bias, xs, kept);
    double total = 0;
    for (I i = 0; i < size; i++) total += (last[i] - targets[i]) * (last[i] - targets[i]);
    free(kept);
    *out = 0.5 * total;
}

// The gates' adjoints, before their functions; those of the cells go to the step before.
static void gates_back(I size, IN at, IN before, OUT by_h, OUT by_c, OUT by) {
    for (I i = 0; i < size; i++) {
        double f = at[i], e = at[ENTER * size + i], o = at[LEAVE * size + i], change = at[CHANGE * size + i];
        double squashed = at[SQUASHED * size + i], c = by_c[i] + by_h[i] * o * (1 - squashed * squashed);
        by[i] = before ? c * before[CELL * size + i] * f * (1 - f) : 0;
        by[ENTER * size + i] = c * change * e * (1 - e);
        by[LEAVE * size + i] = by_h[i] * squashed * o * (1 - o);
        by[CHANGE * size + i] = c * e * (1 - change * change);
        by_c[i] = c * f;
    }
    memset(by_h, 0, (size_t)size * sizeof(double));
}

void HAND(lstmGradient)(I h, I d, I n, I b, IN wx, IN wh, IN bias, IN xs, IN targets, OUT by_wx, OUT by_wh, OUT by_bias) {
    I size = b * h;
    double *kept = malloc((size_t)((n * KEPT + 6) * size) * sizeof(double)), *by_h = kept + n * KEPT * size, *by_c = by_h + size,
           *by = by_c + size;
    lstm_forward(h, d, n, b, wx, wh, bias, xs, kept);
    memset(by_wx, 0, (size_t)(4 * h * d) * sizeof(double));
    memset(by_wh, 0, (size_t)(4 * h * h) * sizeof(double));
    memset(by_bias, 0, (size_t)(4 * h) * sizeof(double));
    memset(by_c, 0, (size_t)size * sizeof(double));
    for (I i = 0; i < size; i++) by_h[i] = kept[((n - 1) * KEPT + OUTPUT) * size + i] - targets[i];
    for (I t = n - 1; t >= 0; t--) {
        const double *at = kept + t * KEPT * size, *before = t ? at - KEPT * size : NULL;
        gates_back(size, at, before, by_h, by_c, by);
        for (I g = 0; g < 4; g++)
            for (I s = 0; s < b; s++)
                for (I j = 0; j < h; j++) {
                    double adjoint = by[g * size + s * h + j];
                    by_bias[g * h + j] += adjoint;
                    add_scaled(d, adjoint, xs + (t * b + s) * d, by_wx + (g * h + j) * d);
                    if (!t) continue;
                    add_scaled(h, adjoint, before + OUTPUT * size + s * h, by_wh + (g * h + j) * h);
                    add_scaled(h, adjoint, wh + (g * h + j) * h, by_h + s * h);
                }
    }
    free(kept);
}

// ---- [FS] Fig. 11

void HAND(projectPoints)(I n, IN cam, IN points, OUT out) {
    for (I i = 0; i < n; i++) project(cam, points + 3 * i, out + 2 * i);
}

void HAND(projectForward)(I n, IN cam, IN points, OUT out) {
    const double none[2] = {0, 0};
    for (I i = 0; i < n; i++) {
        double rows[2][BLOCK];
        block(cam, points + 3 * i, 1, none, rows);
        for (int k = 0; k < 2; k++) memcpy(out + (2 * i + k) * CAMERA, rows[k], CAMERA * sizeof(double));
    }
}
