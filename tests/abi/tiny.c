// Calls in one thread and in three: what they give for tiny numbers, and that the caller's mode stays what it was.
#include "tiny.h"

#include <stdio.h>
#include <stdlib.h>

static int tiny(const double *y, int64_t n) {
    int some = 0;
    for (int64_t i = 0; i < n; i++) some += y[i] != 0;
    return some == n ? 1 : some ? -1 : 0;
}

int main(void) {
    enum { N = 4000000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), z;
    volatile double small = 1e-200, tinier;
    for (int i = 0; i < N; i++) x[i] = 1e-110;
    for (int threads = 1; threads <= 3; threads += 2) {
        fsm_context *ctx = fsm_context_new();
        fsm_context_set_threads(ctx, threads);
        if (scaled(ctx, N, x, y)) return 1;
        printf("scaled %d", tiny(y, N));
        if (called(ctx, 1000, x, y)) return 1;
        printf(", called %d", tiny(y, 1000));
        if (single(ctx, 1e-110, &z)) return 1;
        tinier = small * 1e-110;
        printf(", single %d, afterwards %d\n", tiny(&z, 1), tinier != 0);
        fsm_context_free(ctx);
    }
    free(x), free(y);
    return 0;
}
