// Rows of all lengths up to more than two vectors have: what many rows become at once is what each becomes alone, which lanes copy
// element by element, and nothing is beside them.
#include "row_copies.h"
#include <stdio.h>

enum { N = 70, LONGEST = 35, BESIDE = 16 };

static double x[N * LONGEST], w[LONGEST * LONGEST], a[N * LONGEST + 2 * BESIDE], row[LONGEST];
static float y[N * LONGEST], v[LONGEST * LONGEST], b[N * LONGEST + 2 * BESIDE], row_of_floats[LONGEST];
static int64_t z[N * LONGEST], c[N * LONGEST + 2 * BESIDE], row_of_ints[LONGEST];
static int wrong;

static void expect(const char *what, int n, int d, int i, double is, double should) {
    double off = is - should;
    if (!(off < 1e-5 && off > -1e-5) && !wrong++) printf("%s: %d rows of %d: %d is %g, not %g\n", what, n, d, i, is, should);
}

// The elements before and after n rows of d.
static void beside(int n, int d) {
    for (int i = 0; i < BESIDE; i++) {
        for (int k = i; k <= BESIDE + n * d + i; k += BESIDE + n * d)
            expect("doubles", n, d, k, a[k], -1), expect("floats", n, d, k, b[k], -1), expect("ints", n, d, k, (double)c[k], -1);
    }
}

static int check(fsm_context *ctx, int n, int d) {
    for (int i = 0; i < N * LONGEST + 2 * BESIDE; i++) a[i] = b[i] = -1, c[i] = -1;
    if (doubles(ctx, n, d, x, w, a + BESIDE) || floats(ctx, n, d, y, v, b + BESIDE) || ints(ctx, n, d, z, c + BESIDE)) return 1;
    beside(n, d);
    for (int i = 0; i < n; i++) {
        int at = i * d, to = BESIDE + at;
        if (doubles(ctx, 1, d, x + at, w, row) || floats(ctx, 1, d, y + at, v, row_of_floats) || ints(ctx, 1, d, z + at, row_of_ints))
            return 1;
        for (int j = 0; j < d; j++) {
            expect("doubles", n, d, at + j, a[to + j], row[j]);
            expect("floats", n, d, at + j, b[to + j], row_of_floats[j]);
            expect("ints", n, d, at + j, (double)c[to + j], (double)row_of_ints[j]);
        }
    }
    return 0;
}

int main(void) {
    fsm_context *ctx = fsm_context_new();
    for (int i = 0; i < N * LONGEST; i++) x[i] = (i * 7 % 23 - 11) / 16.0, y[i] = (float)x[i], z[i] = i * 7 % 23 - 11;
    for (int i = 0; i < LONGEST * LONGEST; i++) w[i] = (i * 5 % 17 - 8) / 32.0, v[i] = (float)w[i];
    for (int d = 1; d <= LONGEST; d++)
        for (int n = 31; n <= N; n += 13)
            if (check(ctx, n, d)) return puts(fsm_context_error(ctx)), 1;
    fsm_context_free(ctx);
    puts(wrong ? "wrong" : "right");
    return 0;
}
