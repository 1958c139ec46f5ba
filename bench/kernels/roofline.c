// Stream copy bandwidth, peak multiply-adds, and how many `exp` libmvec computes. Compiled as by_hand.c is.
#include "roofline.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { LARGE = 1 << 23, SMALL = 1 << 10, CHAINS = 16 };

static void copy(const double *restrict x, double *restrict y) {
    for (int64_t i = 0; i < LARGE; i++) y[i] = x[i];
}

static void exps(const double *restrict x, double *restrict y) {
    for (int64_t i = 0; i < SMALL; i++) y[i] = exp(x[i]);
}

// As many independent chains as hide the latency; the vectors are as wide as registers are, or two of them.
typedef double lanes __attribute__((vector_size(64)));
static double multiply_adds(int64_t steps, double factor) {
    lanes s[CHAINS], by = {0};
    by += factor;
    for (int c = 0; c < CHAINS; c++) s[c] = by * c;
    for (int64_t i = 0; i < steps; i++)
        for (int c = 0; c < CHAINS; c++) s[c] = s[c] * by + by;
    double sum = 0;
    for (int c = 0; c < CHAINS; c++)
        for (int i = 0; i < 8; i++) sum += s[c][i];
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
    return 8.0 * CHAINS * (1 << 14) / best;
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
           2e-9 * 8 * CHAINS * (1 << 20) / best[1], 1e-9 * 1000 * SMALL / best[2]);
    free(x);
    free(y);
}
