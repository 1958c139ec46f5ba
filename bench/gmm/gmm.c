// Times the objective and the gradient of gmm.fsm beside limit.c's, in turn (docs/benchmarks.md).
// usage: gmm [--check] [--quick] [D K N]...
//   --check: only compares the results; --quick: short measurements; D, K, N: other sizes
#include "../kernels/roofline.h"
#include "../timing.h"
#include "limit.h"
#include "mixture.h" // by fsmc: the entries of gmm.fsm

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 2, BATCHES = 31 };
static const int64_t sizes[][3] = {{2, 5, 1000},    {10, 25, 1000}, {10, 25, 10000},
                                   {32, 50, 10000}, {64, 25, 1000}, {128, 200, 1000}};
static const int64_t small[][3] = {{1, 1, 1}, {2, 5, 33}, {3, 4, 100}, {7, 3, 257}, {10, 25, 500}, {33, 3, 130}, {67, 2, 61}};

static fsm_context *ctx;
static Mixture mixture;
static Limit *limit;
// Of each side: the objective, and the three parts of the gradient.
static double value[SIDES], *part[SIDES][3];
static bool failed;

static void objective(int side) {
    const Mixture *m = &mixture;
    if (side) value[1] = limit_objective(limit);
    else if (gmm_objective(ctx, m->k, m->d, m->n, m->alphas, m->means, m->icf, m->x, m->gamma, m->m, &value[0]))
        exit((fprintf(stderr, "gmm: %s\n", fsm_context_error(ctx)), 1));
}
static void gradient(int side) {
    const Mixture *m = &mixture;
    double **to = part[side];
    if (side) limit_gradient(limit, to[0], to[1], to[2]);
    else if (gmm_gradient(ctx, m->k, m->d, m->n, m->alphas, m->means, m->icf, m->x, m->gamma, m->m, to[0], to[1], to[2]))
        exit((fprintf(stderr, "gmm: %s\n", fsm_context_error(ctx)), 1));
}

static double *allocate(int64_t count) {
    double *x = aligned_alloc(64, (size_t)(count * 8 + 63) / 64 * 64);
    if (!x) exit((fprintf(stderr, "gmm: out of memory\n"), 1));
    return x;
}

// The same numbers on every machine, from 0 to 1.
static double uniform(void) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

// As ADBench's data: means from 0 to 1, the rest normal numbers.
static double *numbers(int64_t count, bool normal) {
    double *x = allocate(count);
    for (int64_t i = 0; i < count; i++)
        x[i] = normal ? sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform()) : uniform();
    return x;
}

static void parts(int64_t extent[3]) {
    int64_t d = mixture.d, k = mixture.k;
    extent[0] = k, extent[1] = k * d, extent[2] = k * (d * (d + 1) / 2);
}

static void set_up(const int64_t size[3]) {
    int64_t extent[3];
    mixture = (Mixture){.d = size[0], .k = size[1], .n = size[2], .gamma = 1, .m = 0};
    parts(extent);
    mixture.alphas = numbers(extent[0], true);
    mixture.means = numbers(extent[1], false);
    mixture.icf = numbers(extent[2], true);
    mixture.x = numbers(mixture.n * mixture.d, true);
    limit = limit_new(&mixture);
    for (int s = 0; s < SIDES; s++)
        for (int i = 0; i < 3; i++) memset(part[s][i] = allocate(extent[i]), 0xff, (size_t)extent[i] * 8);
}
static void tear_down(void) {
    limit_free(limit);
    free((void *)mixture.alphas), free((void *)mixture.means), free((void *)mixture.icf), free((void *)mixture.x);
    for (int s = 0; s < SIDES; s++)
        for (int i = 0; i < 3; i++) free(part[s][i]);
}

// Each element must be within 1e-10 of limit.c's, of its magnitude and the mean magnitude; returns the largest
// difference so.
static double compare(void) {
    int64_t extent[3];
    double worst = fabs(value[0] - value[1]) / fabs(value[1]);
    parts(extent);
    for (int p = 0; p < 3; p++) {
        const double *a = part[0][p], *b = part[1][p];
        double mean = 0;
        for (int64_t i = 0; i < extent[p]; i++) mean += fabs(b[i]) / (double)extent[p];
        for (int64_t i = 0; i < extent[p]; i++) {
            double difference = fabs(a[i] - b[i]) / (fabs(b[i]) + mean);
            if (!(difference <= worst)) worst = difference; // also NaN
        }
    }
    return worst;
}

static void check(void) {
    for (int s = 0; s < SIDES; s++) objective(s), gradient(s);
    double worst = compare();
    if (worst <= 1e-10) return;
    printf("d = %lld, K = %lld, n = %lld: the results differ by %.2g\n", (long long)mixture.d, (long long)mixture.k,
           (long long)mixture.n, worst);
    failed = true;
}

// Seconds of a call of each side: the median of the batches, and the least. The sides' batches are in turn.
static void time_sides(void (*call)(int), double least, double middle[SIDES], double quickest[SIDES]) {
    double times[SIDES][BATCHES];
    int64_t calls[SIDES];
    for (int s = 0; s < SIDES; s++) calls[s] = 1 + (int64_t)(least / batch(call, s, 1));
    for (int b = 0; b < BATCHES; b++)
        for (int s = 0; s < SIDES; s++) times[s][b] = batch(call, s, calls[s]);
    for (int s = 0; s < SIDES; s++) middle[s] = median(times[s], BATCHES), quickest[s] = times[s][0]; // which are sorted then
}

static void measure(const char *name, void (*call)(int), double multiply_adds, double least, double peak) {
    double median[SIDES], quickest[SIDES];
    time_sides(call, least, median, quickest);
    printf("%4lld %4lld %6lld %-9s %10.4f %10.4f %7.2f %10.4f %10.4f %7.2f %6.0f %% %6.0f %%\n", (long long)mixture.d,
           (long long)mixture.k, (long long)mixture.n, name, 1e3 * median[0], 1e3 * median[1], median[1] / median[0],
           1e3 * quickest[0], 1e3 * quickest[1], quickest[1] / quickest[0], 100 * multiply_adds / (quickest[0] * peak),
           100 * multiply_adds / (quickest[1] * peak));
    fflush(stdout);
}

int main(int argc, char **argv) {
    bool only_check = false, quick = false;
    int64_t given[64][3];
    const int64_t(*size)[3] = sizes;
    int count = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--check")) only_check = true;
        else if (!strcmp(argv[i], "--quick")) quick = true;
        else if (i + 2 < argc && count < 64 && atoll(argv[i]) > 0 && atoll(argv[i + 1]) > 0 && atoll(argv[i + 2]) > 0) {
            for (int j = 0; j < 3; j++) given[count][j] = atoll(argv[i + j]);
            count++, i += 2;
        } else return fprintf(stderr, "usage: gmm [--check] [--quick] [D K N]...\n"), 2;
    }
    if (count) size = given;
    else if (only_check && quick) size = small, count = sizeof small / sizeof *small;
    else count = sizeof sizes / sizeof *sizes;
    ctx = fsm_context_new();
    double peak = only_check ? 0 : peak_multiply_adds(500);
    if (!only_check)
        printf("peak: %.1f multiply-adds per ns\n%4s %4s %6s %-9s %10s %10s %7s %10s %10s %7s %8s %8s\n", 1e-9 * peak, "d", "K",
               "n", "", "fsmc ms", "limit ms", "speed", "least", "least", "speed", "peak", "peak");
    for (int i = 0; i < count; i++) {
        set_up(size[i]);
        check();
        double products = (double)(mixture.n * mixture.k * (mixture.d * (mixture.d + 1) / 2)), least = quick ? 0.005 : 0.05;
        if (!only_check) {
            measure("objective", objective, products, least, peak);
            measure("gradient", gradient, 2 * products, least, peak);
        }
        tear_down();
    }
    if (only_check) printf("%d sizes %s\n", count, failed ? "compared: some differ" : "agree");
    fsm_context_free(ctx);
    return failed;
}
