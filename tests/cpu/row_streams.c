// Arrays of all lengths around that from which on rows go past the caches, at all places within a line of the cache: results are
// those of the same function where they do not, and nothing is beside them.
#include "row_streams.h"
#include <stdio.h>

enum { N = 70, BESIDE = 16, REALS = 10, FLOATS = 20 };

static double x[N], a[N * REALS + 2 * BESIDE], want[N][REALS];
static float y[N], b[N * FLOATS + 2 * BESIDE], want_twice[N][FLOATS];

int main(int argc, char **argv) {
    (void)argv;
    int wrong = 0;
    fsm_context *ctx = fsm_context_new();
    for (int i = 0; i < N; i++) {
        x[i] = 0.25 + i, y[i] = (float)(0.5 + i);
        if (once(ctx, 1, x + i, want[i]) || twice(ctx, 1, y + i, want_twice[i])) return puts(fsm_context_error(ctx)), 1;
    }
    if (argc > 1) fsm_context_set_threads(ctx, 3);
    for (int n = 0; n < N; n++) {
        for (int at = 0; at < BESIDE; at++) {
            for (int i = 0; i < N * REALS + 2 * BESIDE; i++) a[i] = -1;
            for (int i = 0; i < N * FLOATS + 2 * BESIDE; i++) b[i] = -1;
            if (once(ctx, n, x, a + at) || twice(ctx, n, y, b + at)) return puts(fsm_context_error(ctx)), 1;
            for (int i = 0; i < N * REALS + 2 * BESIDE; i++) {
                double is = i < at || i >= at + n * REALS ? -1 : want[(i - at) / REALS][(i - at) % REALS], off = a[i] - is;
                if (!(off < 1e-12 && off > -1e-12) && !wrong++)
                    printf("once: n = %d, at %d: %d is %g, not %g\n", n, at, i, a[i], is);
            }
            for (int i = 0; i < N * FLOATS + 2 * BESIDE; i++) {
                double is = i < at || i >= at + n * FLOATS ? -1 : want_twice[(i - at) / FLOATS][(i - at) % FLOATS], off = b[i] - is;
                if (!(off < 1e-5 && off > -1e-5) && !wrong++)
                    printf("twice: n = %d, at %d: %d is %g, not %g\n", n, at, i, b[i], is);
            }
        }
    }
    fsm_context_free(ctx);
    puts(wrong ? "wrong" : "right");
    return 0;
}
