// Times the gradient of the dot product, which is a copy of a vector, against memcpy of as many bytes (docs/benchmarks.md).
// usage: copy [LEAST_SECONDS]: of a batch of calls
#include "forward.h" // by fsmc

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 31, SIDES = 3, LARGEST = 1000000 };
static const char *const names[SIDES] = {"memcpy", "forward", "reverse"};

static fsm_context *ctx;
static double *v, *w, *out;
static int64_t n;

static void memory_copy(void) {
    memcpy(out, w, (size_t)n * sizeof *out);
    __asm__ volatile("" ::: "memory"); // the copy is to be made, each time
}
static void forward(void) {
    if (dotPairs(ctx, n, v, w, out)) exit((fprintf(stderr, "copy: %s\n", fsm_context_error(ctx)), 1));
}
static void reverse(void) {
    if (dotReverse(ctx, n, v, w, out)) exit((fprintf(stderr, "copy: %s\n", fsm_context_error(ctx)), 1));
}
static void (*const call[SIDES])(void) = {memory_copy, forward, reverse};

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double batch(int side, int64_t calls) {
    double start = seconds();
    for (int64_t i = 0; i < calls; i++) call[side]();
    return (seconds() - start) / (double)calls;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(double least) {
    double times[SIDES][BATCHES], median[SIDES];
    int64_t calls = 1;
    while (batch(0, calls) * (double)calls < least) calls *= 2;
    for (int b = 0; b < BATCHES; b++) // in turn, so that what changes with time meets all
        for (int s = 0; s < SIDES; s++) times[s][b] = batch(s, calls);
    for (int s = 0; s < SIDES; s++) {
        qsort(times[s], BATCHES, sizeof(double), ascending);
        median[s] = times[s][BATCHES / 2];
    }
    printf("%8" PRId64, n);
    for (int s = 0; s < SIDES; s++) printf("  %s %9.1f ns", names[s], 1e9 * median[s]);
    for (int s = 1; s < SIDES; s++) printf("  %.3f (least %.3f)", median[s] / median[0], times[s][0] / times[0][0]);
    printf("\n");
}

static double *vector(double first) {
    double *x = aligned_alloc(64, sizeof *x * LARGEST);
    if (!x) exit((fprintf(stderr, "copy: out of memory\n"), 1));
    for (int64_t i = 0; i < LARGEST; i++) x[i] = first + (double)i;
    return x;
}

int main(int argc, char **argv) {
    ctx = fsm_context_new();
    v = vector(1), w = vector(2), out = vector(0);
    for (n = 10; n <= LARGEST; n *= 10) measure(argc > 1 ? atof(argv[1]) : 0.002);
    fsm_context_free(ctx);
    free(v), free(w), free(out);
    return 0;
}
