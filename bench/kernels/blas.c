// Times matmul of kernels.fsm and its gradient beside OpenBLAS, in turn, for n x n matrices (docs/benchmarks.md).
// usage: blas [N]...
#include "../timing.h"
#include "matmul.h" // by fsmc
#include "roofline.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDES = 2, BATCHES = 31 };

static fsm_context *ctx;
static int n;
static double *a, *b, *dy, *out[SIDES][2];

static void multiply(CBLAS_TRANSPOSE turn_x, CBLAS_TRANSPOSE turn_y, const double *x, const double *y, double *to) {
    cblas_dgemm(CblasRowMajor, turn_x, turn_y, n, n, n, 1, x, n, y, n, 0, to, n);
}
static void product(int side) {
    if (side)
        multiply(CblasNoTrans, CblasNoTrans, a, b, out[1][0]);
    else if (matmul(ctx, n, n, n, a, b, out[0][0]))
        exit((fprintf(stderr, "blas: %s\n", fsm_context_error(ctx)), 1));
}
static void gradient(int side) {
    if (side) {
        multiply(CblasNoTrans, CblasTrans, dy, b, out[1][0]);
        multiply(CblasTrans, CblasNoTrans, a, dy, out[1][1]);
    } else if (matmul_grad(ctx, n, n, n, a, b, dy, out[0][0], out[0][1]))
        exit((fprintf(stderr, "blas: %s\n", fsm_context_error(ctx)), 1));
}

static double *matrix(void) {
    static uint64_t state = 1;
    double *x = aligned_alloc(64, ((size_t)n * (size_t)n * sizeof *x + 63) / 64 * 64);
    if (!x) exit((fprintf(stderr, "blas: out of memory\n"), 1));
    for (int i = 0; i < n * n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = (double)(state >> 11) * 0x1p-52 - 1;
    }
    return x;
}

static void check(const char *name, int results) {
    for (int r = 0; r < results; r++)
        for (int i = 0; i < n * n; i++)
            if (!(fabs(out[0][r][i] - out[1][r][i]) <= 1e-12 * n))
                exit((fprintf(stderr, "blas: %s: result %d, element %d: %.17g by fsmc, %.17g by OpenBLAS\n", name, r, i,
                              out[0][r][i], out[1][r][i]),
                      1));
}

static void measure(const char *name, void (*call)(int), int products, double peak) {
    double times[SIDES][BATCHES];
    for (int s = 0; s < SIDES; s++) call(s);
    check(name, products);
    int64_t calls = 1 + (int64_t)(0.01 / batch(call, 0, 1));
    for (int i = 0; i < BATCHES; i++)
        for (int s = 0; s < SIDES; s++) times[s][i] = batch(call, s, calls);
    for (int s = 0; s < SIDES; s++) qsort(times[s], BATCHES, sizeof(double), ascending);
    double *f = times[0], *o = times[1], work = (double)products * n * (double)n * n;
    printf("%6d %-9s %10.4f %10.4f %7.2f %7.2f %6.0f %% %6.0f %%\n", n, name, 1e3 * f[0], 1e3 * o[0], o[0] / f[0],
           o[BATCHES / 2] / f[BATCHES / 2], 100 * work / (f[0] * peak), 100 * work / (o[0] * peak));
    fflush(stdout);
}

int main(int argc, char **argv) {
    static char *usual[] = {"", "200", "1000"};
    if (argc < 2) argc = 3, argv = usual;
    ctx = fsm_context_new();
    double peak = peak_multiply_adds(500);
    printf("peak: %.1f multiply-adds per ns; %s for %s\n%6s %-9s %10s %10s %7s %7s %8s %8s\n", 1e-9 * peak,
           openblas_get_config(), openblas_get_corename(), "n", "", "fsmc ms", "BLAS ms", "speed", "median", "peak",
           "peak");
    for (int i = 1; i < argc; i++) {
        if ((n = atoi(argv[i])) < 1 || n > 20000) return fprintf(stderr, "usage: blas [N]...\n"), 2;
        a = matrix(), b = matrix(), dy = matrix();
        for (int s = 0; s < SIDES; s++) out[s][0] = matrix(), out[s][1] = matrix();
        measure("product", product, 1, peak);
        measure("gradient", gradient, 2, peak);
        free(a), free(b), free(dy);
        for (int s = 0; s < SIDES; s++) free(out[s][0]), free(out[s][1]);
    }
    fsm_context_free(ctx);
    return 0;
}
