// Arrays of all lengths around that from which on stores go past the caches, at all places within a vector, the results of one call
// at different ones, too: what is stored is right, and nothing is beside them.
#include "streams.h"
#include <stdio.h>

enum { N = 300, BESIDE = 16 };

static double x[N + BESIDE], y[N + BESIDE], a[N + 2 * BESIDE], b[N + 2 * BESIDE];

static int wrong;

static void clear(double *z) {
    for (int i = 0; i < N + 2 * BESIDE; i++) z[i] = -1;
}

static void check(const char *what, const double *z, int at, int n, double (*want)(int)) {
    for (int i = 0; i < N + 2 * BESIDE; i++)
        if (z[i] != (i < at || i >= at + n ? -1 : want(i - at)) && !wrong++)
            printf("%s: n = %d, at %d: %d is %g\n", what, n, at, i, z[i]);
}

static double sum(int i) { return 2.5 * x[i] + y[i]; }
static double twice(int i) { return 2 * x[i]; }
static double next(int i) { return x[i] + 1; }

int main(int argc, char **argv) {
    (void)argv;
    fsm_context *ctx = fsm_context_new();
    if (argc > 1) fsm_context_set_threads(ctx, 3);
    for (int i = 0; i < N + BESIDE; i++) x[i] = i + 1, y[i] = 0.5 * i;
    for (int n = 0; n < N; n += n < 80 ? 1 : 37) {
        for (int at = 0; at < 8; at++) {
            clear(a);
            if (one(ctx, n, x, y, a + at)) return puts(fsm_context_error(ctx)), 1;
            check("one", a, at, n, sum);
            for (int other = 0; other < 8; other++) {
                clear(a), clear(b);
                if (two(ctx, n, x, a + at, b + other)) return puts(fsm_context_error(ctx)), 1;
                check("two", a, at, n, twice);
                check("two", b, other, n, next);
            }
        }
    }
    fsm_context_free(ctx);
    puts(wrong ? "wrong" : "right");
    return 0;
}
