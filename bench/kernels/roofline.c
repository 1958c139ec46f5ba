// Stream copy bandwidth, peak multiply-adds, and how many `exp` libmvec computes. Compiled as by_hand.c is.
#include "roofline.h"

#include "measure.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 23, SMALL = 1 << 10, CHAINS = 12 };

static void copy(const double *restrict x, double *restrict y) {
    for (int64_t i = 0; i < LARGE; i++) y[i] = x[i];
}

static void exps(const double *restrict x, double *restrict y) {
    for (int64_t i = 0; i < SMALL; i++) y[i] = exp(x[i]);
}

// As many independent chains as hide the latency, of vectors as wide as registers are.
#ifdef __AVX512F__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
static double multiply_adds(int64_t steps, double factor) {
    lanes s[CHAINS], by = {0};
    by += factor;
    for (int c = 0; c < CHAINS; c++) s[c] = by * c;
    for (int64_t i = 0; i < steps; i++)
        for (int c = 0; c < CHAINS; c++) s[c] = s[c] * by + by;
    double sum = 0;
    for (int c = 0; c < CHAINS; c++)
        for (int i = 0; i < LANES; i++) sum += s[c][i];
    return sum;
}

double peak_multiply_adds(int runs) {
    volatile double factor = 0.999, sink;
    double best = 1e9, t;
    for (int r = 0; r < runs; r++) {
        t = seconds();
        sink = multiply_adds(1 << 14, factor); // short, so that some runs are not disturbed
        if ((t = seconds() - t) < best) best = t;
    }
    (void)sink;
    return 1.0 * LANES * CHAINS * (1 << 14) / best;
}

void print_roofline(bool quick) {
    int runs = quick ? 3 : 10;
    double *x = aligned_alloc(64, LARGE * sizeof *x), *y = aligned_alloc(64, LARGE * sizeof *y);
    if (!x || !y) exit((fprintf(stderr, "bench: out of memory\n"), 1));
    for (int64_t i = 0; i < LARGE; i++) x[i] = y[i] = 1e-7 * (double)i;
    double best[3] = {1e9, 1e9, 1e9}, t;
    volatile double factor = 0.999, sink;
    for (int r = 0; r < runs; r++) {
        t = seconds();
        copy(x, y);
        if ((t = seconds() - t) < best[0]) best[0] = t;
        sink = y[r];
        t = seconds();
        sink = multiply_adds(1 << 20, factor);
        if ((t = seconds() - t) < best[1]) best[1] = t;
        t = seconds();
        for (int i = 0; i < 1000; i++) exps(x + i, y + i);
        if ((t = seconds() - t) < best[2]) best[2] = t;
        sink = y[r];
    }
    (void)sink;
    printf("one thread: stream copy %.1f GB/s, multiply-add %.1f GFlop/s, libmvec exp %.2f per ns\n", 16e-9 * LARGE / best[0],
           2e-9 * LANES * CHAINS * (1 << 20) / best[1], 1e-9 * 1000 * SMALL / best[2]);
    free(x);
    free(y);
}

// ---- a loop's share

enum { ARRAYS = 3, TRIES = 61 };

#define SUM1(i) x[0][i]
#define SUM2(i) (x[0][i] + x[1][i])
#define SUM3(i) (x[0][i] + x[1][i] + x[2][i])
#define READ(r)                                                                                                             \
    static double read##r(int64_t n, double *const *x, double *const *y) {                                                  \
        double sum = 0;                                                                                                     \
        (void)y;                                                                                                            \
        for (int64_t i = 0; i < n; i++) sum += SUM##r(i);                                                                   \
        return sum;                                                                                                         \
    }
#define WRITE(r, w, ...)                                                                                                    \
    static double read##r##write##w(int64_t n, double *const *x, double *const *y) {                                        \
        double *restrict a = y[0], *restrict b = y[1], *restrict c = y[2];                                                  \
        (void)a, (void)b, (void)c;                                                                                          \
        for (int64_t i = 0; i < n; i++) __VA_ARGS__;                                                                        \
        return a[0];                                                                                                        \
    }
READ(1)
READ(2)
READ(3)
WRITE(1, 1, a[i] = SUM1(i))
WRITE(2, 1, a[i] = SUM2(i))
WRITE(3, 1, a[i] = SUM3(i))
WRITE(1, 2, a[i] = b[i] = SUM1(i))
WRITE(2, 2, a[i] = b[i] = SUM2(i))
WRITE(3, 2, a[i] = b[i] = SUM3(i))
WRITE(1, 3, a[i] = b[i] = c[i] = SUM1(i))
WRITE(2, 3, a[i] = b[i] = c[i] = SUM2(i))
WRITE(3, 3, a[i] = b[i] = c[i] = SUM3(i))
typedef double stream(int64_t n, double *const *x, double *const *y);
static stream *const streams[ARRAYS][ARRAYS + 1] = {{read1, read1write1, read1write2, read1write3},
                                                    {read2, read2write1, read2write2, read2write3},
                                                    {read3, read3write1, read3write2, read3write3}};

static void *numbers(int64_t n) {
    double *x = aligned_alloc(64, (size_t)(n + 7) / 8 * 64);
    if (!x) exit((fprintf(stderr, "bench: out of memory\n"), 1));
    for (int64_t i = 0; i < n; i++) x[i] = 0.25 + 0.5 * (double)i / (double)n;
    return x;
}

static double median_ns(stream *run, int64_t n, double *const *x, double *const *y) {
    int64_t calls = 1 + 100000 / n;
    double t[TRIES];
    volatile double sink;
    for (int r = 0; r < TRIES; r++) {
        double start = seconds();
        for (int64_t i = 0; i < calls; i++) sink = run(n, x, y);
        t[r] = seconds() - start;
    }
    (void)sink;
    return 1e9 * median(t, TRIES) / (double)calls;
}

static double timed(stream *run, int64_t n) {
    double *x[ARRAYS], *y[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) x[i] = numbers(n), y[i] = numbers(n);
    double ns = median_ns(run, n, x, y);
    for (int i = 0; i < ARRAYS; i++) free(x[i]), free(y[i]);
    return ns;
}

double stream_ns(int64_t n, int reads, int writes) { return timed(streams[reads - 1][writes], n); }

#define FUNCTION(name)                                                                                                      \
    static double call_##name(int64_t n, double *const *x, double *const *y) {                                              \
        double *restrict to = y[0];                                                                                         \
        for (int64_t i = 0; i < n; i++) to[i] = name(x[0][i]);                                                              \
        return to[0];                                                                                                       \
    }
FUNCTION(exp)
FUNCTION(tanh)
FUNCTION(log)

double function_ns(int64_t n, const char *name) {
    if (!name) return 0;
    return timed(!strcmp(name, "exp") ? call_exp : !strcmp(name, "tanh") ? call_tanh : call_log, n);
}
