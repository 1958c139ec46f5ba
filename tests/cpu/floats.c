// Functions of vectors of Floats against those of doubles: at most 4 units in the last place off, and right where there are none. With
// FLUSHED, results too small to be normal numbers may be 0.
#include "floats.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 10007, ROUNDS = 16 };

typedef int Entry(fsm_context *, int64_t, const float *, float *);
typedef struct Function {
    const char *name;
    Entry *entry;
    double (*exact)(double);
    double low, high;
} Function;

static double power(double x) { return pow(fabs(x), x); }

static double off(float is, double exact) {
    float want = (float)exact;
#ifdef FLUSHED
    if (is == 0 && fabs(exact) < 0x1p-126) return 0;
#endif
    if (isnan(want) || isinf(want)) return isnan(want) ? (isnan(is) ? 0 : INFINITY) : is == want ? 0 : INFINITY;
    double unit = nextafterf(fabsf(want), INFINITY) - fabsf(want);
    return fabs(is - exact) / unit;
}

int main(void) {
    static const Function functions[] = {{"exp", exps, exp, -87, 88},
                                         {"tanh", tanhs, tanh, -12, 12},
                                         {"log", logs, log, 1e-30, 1e30},
                                         {"sin", sines, sin, -1000, 1000},
                                         {"power", powers, power, -20, 20}};
    static const float far[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 1e-40f, -1e-40f, 1e38f, -1e38f, 89, -110, 1, -1};
    static float x[N], y[N];
    const int beyond = sizeof far / sizeof *far, count = sizeof functions / sizeof *functions;
    fsm_context *ctx = fsm_context_new();
    for (int f = 0; f < count; f++) {
        double worst = 0, at = 0;
        for (int round = 0; round < ROUNDS; round++) {
            int n = N - round; // ends of all lengths
            for (int i = 0; i < n; i++) {
                double u = rand() / (double)RAND_MAX;
                x[i] = (float)(functions[f].low + (functions[f].high - functions[f].low) * u);
            }
            for (int i = 0; i < 40 * beyond; i++) // in each lane
                if (i % 40 == round) x[i] = far[i / 40];
            if (functions[f].entry(ctx, n, x, y)) return puts(fsm_context_error(ctx)), 1;
            for (int i = 0; i < n; i++) {
                double d = off(y[i], functions[f].exact(x[i]));
                if (!(d <= worst)) worst = d, at = x[i];
            }
        }
        printf("%s: %s\n", functions[f].name, worst <= 4 ? "exact to 4 units" : "off");
        if (worst > 4) printf("by %g units at %a\n", worst, at);
    }
    fsm_context_free(ctx);
    return 0;
}
