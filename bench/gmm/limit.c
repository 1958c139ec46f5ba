// What lanes can do for the Gaussian mixture of examples/gmm.fsm, by hand: the measure of fsmc's code
// (docs/benchmarks.md).
//
// Points go through in tiles. In a tile, for all components c: z = Q x - Q mean, kept; t = the logarithm of the
// density; then the weights w, which are softmax t; then the sums over the points of w z xᵀ and of w z, for they are
// all that is needed:
//   of Q: Σ w z (mean - x)ᵀ,   of the mean: Qᵀ Σ w z.
// Both products are blocked for registers: R rows by T vectors of points, or of columns. Nothing is
// specialised for one size.
#include "limit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __AVX512F__ // 32 registers of 8 numbers
enum { LANES = 8, R = 4, T = 4, WIDE = 32 };
#else // 16 registers of 4
enum { LANES = 4, R = 3, T = 4, WIDE = 16 };
#endif
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), may_alias));
typedef lanes loose __attribute__((aligned(8)));
typedef int64_t mask __attribute__((vector_size(LANES * sizeof(double))));
#define INLINE static inline __attribute__((always_inline))

#ifdef __AVX512F__
lanes _ZGVeN8v_exp(lanes);
lanes _ZGVeN8v_log(lanes);
#define lanes_exp _ZGVeN8v_exp
#define lanes_log _ZGVeN8v_log
#define NUMBERS   0, 1, 2, 3, 4, 5, 6, 7
#else
lanes _ZGVdN4v_exp(lanes);
lanes _ZGVdN4v_log(lanes);
#define lanes_exp _ZGVdN4v_exp
#define lanes_log _ZGVdN4v_log
#define NUMBERS   0, 1, 2, 3
#endif

INLINE lanes larger(lanes a, lanes b) {
    mask more = a > b;
    return (lanes)(((mask)a & more) | ((mask)b & ~more));
}

// x, with zeros in lanes from n on.
INLINE lanes below(lanes x, int64_t n) { return (lanes)((mask)x & ((mask){NUMBERS} < n)); }

// gcc would load a number again for each product that it is in, and loads would take longer than the products.
INLINE lanes once(lanes x) {
#ifdef __AVX512F__
    __asm__("" : "+v"(x));
#endif
    return x;
}

INLINE double total(lanes a) {
    double sum = 0;
    for (int i = 0; i < LANES; i++) sum += a[i];
    return sum;
}

// The sums of the lanes of as many vectors, as one vector.
INLINE lanes totals(const lanes *v) {
#ifdef __AVX512F__
    lanes pairs[4], quads[2];
    for (int i = 0; i < 4; i++)
        pairs[i] = __builtin_shuffle(v[2 * i], v[2 * i + 1], (mask){0, 8, 2, 10, 4, 12, 6, 14}) +
                   __builtin_shuffle(v[2 * i], v[2 * i + 1], (mask){1, 9, 3, 11, 5, 13, 7, 15});
    for (int i = 0; i < 2; i++)
        quads[i] = __builtin_shuffle(pairs[2 * i], pairs[2 * i + 1], (mask){0, 1, 8, 9, 4, 5, 12, 13}) +
                   __builtin_shuffle(pairs[2 * i], pairs[2 * i + 1], (mask){2, 3, 10, 11, 6, 7, 14, 15});
    return __builtin_shuffle(quads[0], quads[1], (mask){0, 1, 2, 3, 8, 9, 10, 11}) +
           __builtin_shuffle(quads[0], quads[1], (mask){4, 5, 6, 7, 12, 13, 14, 15});
#else
    lanes pairs[2];
    for (int i = 0; i < 2; i++)
        pairs[i] = __builtin_shuffle(v[2 * i], v[2 * i + 1], (mask){0, 4, 2, 6}) +
                   __builtin_shuffle(v[2 * i], v[2 * i + 1], (mask){1, 5, 3, 7});
    return __builtin_shuffle(pairs[0], pairs[1], (mask){0, 1, 4, 5}) + __builtin_shuffle(pairs[0], pairs[1], (mask){2, 3, 6, 7});
#endif
}

// ---- memory

// The rows of Q and what is summed for it are kept in blocks of R rows. Of Q, a block has R numbers for each column up
// to the block's last; above the diagonal they are 0. A tile consists of groups of T vectors: x and z are kept by
// group, then by row.
struct Limit {
    const Mixture *in;
    int64_t rows, packed;          // d, rounded up to R; the numbers of a packed Q
    int64_t groups, wide;          // of a tile; panels of WIDE columns, 0 for blocks of R columns
    int64_t sums;                  // the numbers of a component's sums of w z xᵀ
    double *q, *shift, *weight;    // by component: Q; Q mean; alpha + log det Q
    double *products, *zs, *ws;    // by component: Σ w z xᵀ, Σ w z, Σ w
    lanes *x, *z, *t, *most, *sum; // of a tile: x; z by component; and t, or w, by component and vector
    double *panel;                 // of a tile: x by panel and point
};

static void *allocate(int64_t count, size_t size) {
    size_t bytes = ((size_t)count * size + 128) / 64 * 64;
    void *memory = aligned_alloc(64, bytes);
    if (!memory) exit((fprintf(stderr, "limit: out of memory\n"), 1));
    return memset(memory, 0, bytes);
}

// Tiles are large enough for few sums of lanes, and for Q and the sums to be read seldom; small enough for z to stay
// near.
enum { NEAR = 1 << 19, FAR = 1 << 26, LEAST = 2, MOST = 8 };
static int64_t groups_of(const Mixture *in, int64_t rows) {
    int64_t all = (in->n + LANES * T - 1) / (LANES * T), bytes = in->k * rows * T * (int64_t)sizeof(lanes), groups = NEAR / bytes;
    if (groups < LEAST) groups = FAR / bytes;
    if (groups < LEAST) groups = LEAST;
    if (groups > MOST) groups = MOST;
    int64_t tiles = (all + groups - 1) / groups;
    return (all + tiles - 1) / tiles;
}

Limit *limit_new(const Mixture *in) {
    int64_t d = in->d, k = in->k, blocks = (d + R - 1) / R;
    Limit *w = allocate(1, sizeof *w);
    *w = (Limit){.in = in, .rows = blocks * R, .packed = R * R * blocks * (blocks + 1) / 2};
    w->wide = d >= WIDE ? (d + WIDE - 1) / WIDE : 0;
    w->groups = groups_of(in, w->rows);
    w->sums = w->wide ? w->rows * w->wide * WIDE : w->packed;
    w->q = allocate(k * w->packed, sizeof(double));
    w->shift = allocate(k * w->rows, sizeof(double));
    w->weight = allocate(k, sizeof(double));
    w->x = allocate(w->groups * w->rows * T, sizeof(lanes));
    w->z = allocate(w->groups * w->rows * T * k, sizeof(lanes));
    w->t = allocate(w->groups * T * k, sizeof(lanes));
    w->most = allocate(w->groups * T, sizeof(lanes));
    w->sum = allocate(w->groups * T, sizeof(lanes));
    w->products = allocate(k * w->sums, sizeof(double));
    w->zs = allocate(k * w->rows, sizeof(double));
    w->ws = allocate(k, sizeof(double));
    w->panel = allocate(w->wide * w->groups * T * LANES * WIDE, sizeof(double));
    return w;
}

void limit_free(Limit *w) {
    void *all[] = {w->q, w->shift, w->weight, w->products, w->zs, w->ws, w->x, w->z, w->t, w->most, w->sum, w->panel, w};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void unpack(Limit *w) {
    const Mixture *in = w->in;
    int64_t d = in->d;
    memset(w->shift, 0, (size_t)(in->k * w->rows) * sizeof(double));
    for (int64_t c = 0; c < in->k; c++) {
        const double *icf = in->icf + c * (d * (d + 1) / 2), *below = icf + d;
        double *q = w->q + c * w->packed, *shift = w->shift + c * w->rows;
        w->weight[c] = in->alphas[c];
        for (int64_t j = 0; j < d; j++) {
            double mean = in->means[c * d + j], *column = q + j * R;
            for (int64_t i = j; i < d; i++) {
                int64_t block = i / R;
                double value = i == j ? exp(icf[j]) : *below++;
                column[R * R * block * (block + 1) / 2 + i % R] = value;
                shift[i] += value * mean;
            }
            w->weight[c] += icf[j];
        }
    }
}

// ---- densities

// Reads the points from `first` on, with zeros behind the last; for the gradient also by panel.
static __attribute__((noinline)) void read_tile(Limit *w, int64_t first, int64_t groups, bool gradient) {
    const Mixture *in = w->in;
    enum { POINTS = T * LANES };
    int64_t d = in->d;
    for (int64_t g = 0; g < groups; g++) {
        double *x = (double *)(w->x + g * w->rows * T);
        int64_t points = in->n - first - g * POINTS < POINTS ? in->n - first - g * POINTS : POINTS;
        const double *from = in->x + (first + g * POINTS) * d;
        for (int64_t j = 0; points == POINTS && j < d; j++)
            for (int v = 0; v < T; v++) {
                const double *p = from + v * LANES * d + j;
                lanes column;
                for (int i = 0; i < LANES; i++) column[i] = p[i * d];
                *(lanes *)(x + j * POINTS + v * LANES) = column;
            }
        for (int64_t i = 0; points < POINTS && i < points; i++)
            for (int64_t j = 0; j < d; j++) x[j * POINTS + i] = from[i * d + j];
        for (int64_t i = points; i < POINTS; i++)
            for (int64_t j = 0; j < d; j++) x[j * POINTS + i] = 0;
        for (int64_t p = 0; gradient && p < w->wide; p++) {
            double *panel = w->panel + (p * w->groups + g) * POINTS * WIDE;
            int64_t columns = d - p * WIDE < WIDE ? d - p * WIDE : WIDE;
            for (int64_t i = 0; i < points; i++)
                memcpy(panel + i * WIDE, from + i * d + p * WIDE, (size_t)columns * sizeof(double));
            memset(panel + points * WIDE, 0, (size_t)((POINTS - points) * WIDE) * sizeof(double));
        }
    }
}

// Adds the squares of rows of z to those of the points of a group, and keeps z if there is a place for it.
INLINE void rows_of_z(const double *q, const double *shift, int64_t columns, const lanes *x, lanes *z, lanes *squares, int rows) {
    lanes a[R][T];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < T; v++) a[r][v] = (lanes){0} - shift[r];
    for (int64_t j = 0; j < columns; j++) {
        lanes near[T];
        for (int v = 0; v < T; v++) near[v] = once(x[j * T + v]);
        for (int r = 0; r < rows; r++) {
            lanes each = once((lanes){0} + q[j * R + r]);
            for (int v = 0; v < T; v++) a[r][v] += each * near[v];
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < T; v++) {
            if (z) z[r * T + v] = a[r][v];
            squares[v] += a[r][v] * a[r][v];
        }
}

// t of the component for a group of points.
INLINE void densities(Limit *w, int64_t c, int64_t group, bool keep) {
    int64_t d = w->in->d, r = 0;
    const double *q = w->q + c * w->packed, *shift = w->shift + c * w->rows;
    const lanes *x = w->x + group * w->rows * T;
    lanes *z = w->z + (c * w->groups + group) * w->rows * T, squares[T] = {0};
    for (; r + R <= d; q += R * (r + R), r += R) rows_of_z(q, shift + r, r + R, x, keep ? z + r * T : NULL, squares, R);
    z = keep ? z + r * T : NULL;
    switch (d - r) {
    case 3: rows_of_z(q, shift + r, d, x, z, squares, 3); break;
    case 2: rows_of_z(q, shift + r, d, x, z, squares, 2); break;
    case 1: rows_of_z(q, shift + r, d, x, z, squares, 1); break;
    default: break;
    }
    lanes *all = w->t + (c * w->groups + group) * T, *most = w->most + group * T;
    for (int v = 0; v < T; v++) {
        lanes t = all[v] = w->weight[c] - 0.5 * squares[v];
        most[v] = c ? larger(t, most[v]) : t;
    }
}

// Makes t the exponentials, and `sum` their sums; returns the sum of the points' logarithms of them.
static double exponentials(Limit *w, int64_t first, int64_t groups) {
    // Far below, libmvec's exp goes through the lanes one by one; what is added there is nothing beside the largest
    // term, 1.
    const lanes least = (lanes){0} - 700.0;
    int64_t vectors = groups * T;
    for (int64_t v = 0; v < vectors; v++) w->sum[v] = (lanes){0};
    for (int64_t c = 0; c < w->in->k; c++)
        for (int64_t v = 0; v < vectors; v++) {
            lanes *t = &w->t[c * w->groups * T + v];
            *t = lanes_exp(larger(*t - w->most[v], least));
            w->sum[v] += *t;
        }
    lanes all = {0};
    for (int64_t v = 0; v < vectors; v++) {
        lanes log = lanes_log(w->sum[v]);
        all += below(w->most[v] + log, w->in->n - first - v * LANES);
    }
    return total(all);
}

// ---- sums of w z xᵀ

// Adds, for a tile, R rows of w z to R columns of x, or those up to the diagonal; the first columns' block also makes w
// z of z, and its sums.
INLINE void block_of_products(const lanes *weight, lanes *z, const lanes *x, int64_t stride, int64_t groups, double *to, double *zs,
                              int rows, int columns, bool diagonal, bool first) {
    enum { PRODUCTS = (R * R + LANES - 1) / LANES * LANES };
    lanes a[PRODUCTS] = {0}, sum[LANES] = {0};
    for (int64_t g = 0; g < groups; g++, weight += T, z += stride, x += stride)
        for (int v = 0; v < T; v++) {
            lanes near[R];
            for (int c = 0; c < columns; c++) near[c] = once(x[c * T + v]);
            for (int r = 0; r < rows; r++) {
                lanes wz = once(z[r * T + v]);
                if (first) {
                    z[r * T + v] = wz *= weight[v];
                    sum[r] += wz;
                }
                for (int c = 0; c < columns; c++)
                    if (!diagonal || c <= r) a[r * R + c] += wz * near[c];
            }
        }
    for (int i = 0; i < rows * R; i += LANES) *(loose *)(to + i) += totals(a + i); // behind the block: zeros
    if (!first) return;
    lanes sums = totals(sum);
    for (int r = 0; r < rows; r++) zs[r] += sums[r];
}

INLINE void rows_of_products(Limit *w, int64_t component, int64_t row, int64_t groups, int rows) {
    int64_t block = row / R, stride = w->rows * T;
    lanes *z = w->z + (component * w->groups * w->rows + row) * T;
    const lanes *weight = w->t + component * w->groups * T;
    double *to = w->products + component * w->sums + R * R * block * (block + 1) / 2, *zs = w->zs + component * w->rows + row;
    if (row == 0) {
        block_of_products(weight, z, w->x, stride, groups, to, zs, rows, rows, true, true);
        return;
    }
    block_of_products(weight, z, w->x, stride, groups, to, zs, rows, R, false, true);
    for (int64_t j = R; j < row; j += R)
        block_of_products(weight, z, w->x + j * T, stride, groups, to + j * R, zs, rows, R, false, false);
    block_of_products(weight, z, w->x + row * T, stride, groups, to + row * R, zs, rows, rows, true, false);
}

static void narrow_products(Limit *w, int64_t c, int64_t groups) {
    int64_t d = w->in->d, r = 0;
    for (; r + R <= d; r += R) rows_of_products(w, c, r, groups, R);
    switch (d - r) {
    case 3: rows_of_products(w, c, r, groups, 3); break;
    case 2: rows_of_products(w, c, r, groups, 2); break;
    case 1: rows_of_products(w, c, r, groups, 1); break;
    default: break;
    }
}

// Makes w z of z, and adds it up.
static void weigh(Limit *w, int64_t c, int64_t groups) {
    for (int64_t r = 0; r < w->rows; r += R) {
        lanes sum[LANES] = {0};
        for (int64_t g = 0; g < groups; g++) {
            lanes *z = w->z + ((c * w->groups + g) * w->rows + r) * T, *weight = w->t + (c * w->groups + g) * T;
            for (int i = 0; i < R; i++)
                for (int v = 0; v < T; v++) sum[i] += z[i * T + v] *= weight[v];
        }
        lanes sums = totals(sum);
        for (int i = 0; i < R; i++) w->zs[c * w->rows + r + i] += sums[i];
    }
}

// Adds R rows of w z times some vectors of columns of a panel.
INLINE void panel_rows(const double *z, int64_t stride, const double *panel, int64_t groups, double *to, int64_t width,
                       int vectors) {
    lanes a[R][WIDE / LANES];
    for (int r = 0; r < R; r++)
        for (int v = 0; v < vectors; v++) a[r][v] = *(const loose *)(to + r * width + v * LANES);
    for (int64_t g = 0; g < groups; g++, z += stride)
        for (int64_t i = 0; i < T * LANES; i++, panel += WIDE) {
            lanes near[WIDE / LANES];
            for (int v = 0; v < vectors; v++) near[v] = once(*(const lanes *)(panel + v * LANES));
            for (int r = 0; r < R; r++) {
                lanes each = once((lanes){0} + z[r * T * LANES + i]);
                for (int v = 0; v < vectors; v++) a[r][v] += each * near[v];
            }
        }
    for (int r = 0; r < R; r++)
        for (int v = 0; v < vectors; v++) *(loose *)(to + r * width + v * LANES) = a[r][v];
}

static void wide_products(Limit *w, int64_t c, int64_t groups) {
    int64_t width = w->wide * WIDE, stride = w->rows * T * LANES;
    weigh(w, c, groups);
    for (int64_t p = 0; p < w->wide; p++)
        for (int64_t r = p * WIDE / R * R; r < w->rows; r += R) {
            const double *z = (const double *)(w->z + (c * w->groups * w->rows + r) * T);
            const double *panel = w->panel + p * w->groups * T * LANES * WIDE;
            double *to = w->products + c * w->sums + r * width + p * WIDE;
            int64_t columns = r + R - p * WIDE; // up to the diagonal
            if (columns > 3 * LANES) panel_rows(z, stride, panel, groups, to, width, 4);
            else if (columns > 2 * LANES) panel_rows(z, stride, panel, groups, to, width, 3);
            else if (columns > LANES) panel_rows(z, stride, panel, groups, to, width, 2);
            else panel_rows(z, stride, panel, groups, to, width, 1);
        }
}

static void all_products(Limit *w, int64_t first, int64_t groups) {
    for (int64_t v = 0; v < groups * T; v++) w->sum[v] = below(1.0 / w->sum[v], w->in->n - first - v * LANES);
    for (int64_t c = 0; c < w->in->k; c++) {
        lanes sum = {0};
        for (int64_t v = 0; v < groups * T; v++) sum += w->t[c * w->groups * T + v] *= w->sum[v];
        w->ws[c] += total(sum);
        if (w->wide) wide_products(w, c, groups);
        else narrow_products(w, c, groups);
    }
}

// ---- the whole

INLINE double all_points(Limit *w, bool gradient) {
    double sum = 0;
    int64_t n = w->in->n, points = w->groups * T * LANES;
    for (int64_t first = 0; first < n; first += points) {
        int64_t groups = (n - first + T * LANES - 1) / (T * LANES);
        if (groups > w->groups) groups = w->groups;
        read_tile(w, first, groups, gradient);
        for (int64_t c = 0; c < w->in->k; c++)
            for (int64_t g = 0; g < groups; g++) densities(w, c, g, gradient);
        sum += exponentials(w, first, groups);
        if (gradient) all_products(w, first, groups);
    }
    return sum;
}

static double log_sum_exp(const double *x, int64_t n) {
    double most = x[0], sum = 0;
    for (int64_t i = 1; i < n; i++) most = fmax(most, x[i]);
    for (int64_t i = 0; i < n; i++) sum += exp(x[i] - most);
    return most + log(sum);
}

double limit_objective(Limit *w) {
    const Mixture *in = w->in;
    const double pi = 3.14159265359; // as in gmm.fsm
    double d = (double)in->d, nu = (double)(in->d + in->m + 1), log_gamma = 0.25 * d * (d - 1) * log(pi), prior = 0;
    unpack(w);
    double sum = all_points(w, false) - (double)in->n * log_sum_exp(in->alphas, in->k) - 0.5 * (double)in->n * d * log(2 * pi);
    for (int64_t j = 0; j < in->d; j++) log_gamma += lgamma(0.5 * nu - 0.5 * (double)j);
    int64_t packed = in->d * (in->d + 1) / 2;
    for (int64_t c = 0; c < in->k; c++) {
        const double *p = in->icf + c * packed;
        double squares = 0, log_det = 0;
        for (int64_t j = 0; j < in->d; j++) squares += exp(2 * p[j]), log_det += p[j];
        for (int64_t j = in->d; j < packed; j++) squares += p[j] * p[j];
        prior += 0.5 * in->gamma * in->gamma * squares - (double)in->m * log_det;
    }
    return sum + prior - (double)in->k * (nu * d * (log(in->gamma) - 0.5 * log(2)) - log_gamma);
}

void limit_gradient(Limit *w, double *alphas, double *means, double *icf) {
    const Mixture *in = w->in;
    int64_t d = in->d;
    double square = in->gamma * in->gamma, all = log_sum_exp(in->alphas, in->k);
    unpack(w);
    memset(w->products, 0, (size_t)(in->k * w->sums) * sizeof(double));
    memset(w->zs, 0, (size_t)(in->k * w->rows) * sizeof(double));
    memset(w->ws, 0, (size_t)in->k * sizeof(double));
    all_points(w, true);
    for (int64_t c = 0; c < in->k; c++) {
        const double *p = in->icf + c * (d * (d + 1) / 2), *below = p + d, *zs = w->zs + c * w->rows, *mean = in->means + c * d;
        double *diagonal = icf + c * (d * (d + 1) / 2), *to = diagonal + d;
        alphas[c] = w->ws[c] - (double)in->n * exp(in->alphas[c] - all);
        for (int64_t j = 0; j < d; j++) {
            double of_mean = 0;
            for (int64_t i = j; i < d; i++) {
                int64_t block = i / R, place = R * R * block * (block + 1) / 2;
                double q = w->q[c * w->packed + place + j * R + i % R];
                const double *products = w->products + c * w->sums;
                double product = w->wide ? products[i * w->wide * WIDE + j] : products[place + j / R * R * R + i % R * R + j % R];
                double of_q = zs[i] * mean[j] - product;
                of_mean += q * zs[i];
                if (i == j) diagonal[j] = of_q * q + w->ws[c] + square * q * q - (double)in->m;
                else *to++ = of_q + square * *below++;
            }
            means[c * d + j] = of_mean;
        }
    }
}
