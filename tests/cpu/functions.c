// Functions of vectors against those of long doubles: at most 4 units in the last place off, over all magnitudes; and at
// arguments out of range. With FLUSHED, results too small to be normal numbers may be 0.
#include "functions.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 40000, ROUNDS = 24, LANES = 32 };

typedef int Entry(fsm_context *, int64_t, const double *, double *);
typedef struct Function {
    const char *name;
    Entry *entry;
    long double (*exact)(long double);
} Function;

// Sines and cosines of the same numbers, and of one at a time.
static int part_of_turns(fsm_context *ctx, int64_t n, const double *x, double *y, int64_t part) {
    static double both[2 * N];
    int code = turns(ctx, n, x, both);
    for (int64_t i = 0; i < n; i++) y[i] = both[2 * i + part];
    return code;
}
static int sines(fsm_context *ctx, int64_t n, const double *x, double *y) { return part_of_turns(ctx, n, x, y, 0); }
static int cosines(fsm_context *ctx, int64_t n, const double *x, double *y) { return part_of_turns(ctx, n, x, y, 1); }

static int each(fsm_context *ctx, int64_t n, const double *x, double *y, int (*of)(fsm_context *, double, double *)) {
    int code = FSM_OK;
    for (int64_t i = 0; i < n && code == FSM_OK; i++) code = of(ctx, x[i], &y[i]);
    return code;
}
static int each_sine(fsm_context *ctx, int64_t n, const double *x, double *y) { return each(ctx, n, x, y, sine); }
static int each_cosine(fsm_context *ctx, int64_t n, const double *x, double *y) { return each(ctx, n, x, y, cosine); }

static double unit(void) { return rand() / (double)RAND_MAX; }

static bool flushed(double is, double want) {
#ifdef FLUSHED
    return is == 0 && fabs(want) < 0x1p-1022;
#else
    (void)is, (void)want;
    return false;
#endif
}

static double ulps(double is, long double want) {
    if (flushed(is, (double)want)) return 0;
    double next = nextafter(fabs((double)want), INFINITY) - fabs((double)want);
    return (double)(fabsl(is - want) / next);
}

// Of exp: between underflow and overflow, and near 0; of tanh: of all sizes; of log: of all sizes, and near 1; of turns: of all
// sizes, of a few turns, and next to quarters; of the rest: of all sizes, and of those that floats have.
static double argument(char of, int round) {
    double u = unit(), small = (u - 0.5) * ldexp(1, -(int)(40 * unit()));
    if (of == 'e') return round % 2 ? small : -708 + 1417 * u;
    if (of == 'T' && round % 3)
        return round % 3 == 1 ? (u - 0.5) * 40
                              : (double)(floor(ldexp(unit(), (int)(32 * unit()))) * acosl(0)) * (1 + (u < 0.5) * small * 0x1p-20);
    if (of == 't') return round % 3 == 0 ? small : (u - 0.5) * (round % 3 == 1 ? 4 : 50);
    if (of != 'l') return ldexp(1 + u, round % 2 ? (int)(252 * unit()) - 126 : (int)(2000 * unit()) - 1060);
    return round % 3 == 0 ? ldexp(1 + u, (int)(2000 * unit()) - 1060) : round % 3 == 1 ? 0.5 + 1.5 * u : 1 + small;
}

static long double inverse(long double x) { return 1 / sqrtl(x); }
static long double quotient(long double x) { return 3 / x; }

static void check(const Function *f, double x, double y) {
    double want = (double)f->exact(x);
    if (flushed(y, want)) want = copysign(0, want);
    bool same = isnan(want) ? isnan(y) : isinf(want) ? y == want : fabs(y - want) <= 4e-16 * fabs(want) + 5e-324;
    if (!same || (!isnan(want) && signbit(want) != signbit(y))) printf("%s %g is not %g but %g\n", f->name, x, want, y);
}

// Of arrays of up to 70 numbers, one of which is the greatest, the least, or NaN.
static void check_extremes(fsm_context *ctx) {
    enum { MOST = 70 };
    double x[MOST];
    for (int n = 1; n <= MOST; n++)
        for (int at = 0; at < 3 * n; at++) {
            double is = at < n ? 2 : at < 2 * n ? -2 : NAN, high, low;
            for (int i = 0; i < n; i++) x[i] = i == at % n ? is : 1 - 2.0 * (i % 2);
            greatest(ctx, n, x, &high);
            least(ctx, n, x, &low);
            if (isnan(is) ? !isnan(high) || !isnan(low) : is > 0 ? high != is : low != is)
                printf("extremes of %d with %g at %d: %g, %g\n", n, is, at % n, high, low);
        }
}

int main(void) {
    static const Function functions[] = {{"exp", exps, expl},
                                         {"tanh", tanhs, tanhl},
                                         {"log", logs, logl},
                                         {"sqrt", roots, sqrtl},
                                         {"inverse of sqrt", inverses, inverse},
                                         {"quotient", quotients, quotient},
                                         {"Turned, sine", sines, sinl},
                                         {"Turned, cosine", cosines, cosl},
                                         {"Turned, a sine", each_sine, sinl},
                                         {"Turned, a cosine", each_cosine, cosl}};
    const int count = sizeof functions / sizeof *functions;
    static double x[N], y[N];
    const double far[] = {0, -0.0, INFINITY, -INFINITY, NAN, -NAN, 1e-320, -1e-320, 5e-324, 1e300, -1e300, 1e17, -1e17, 710, 709.78,
                          2e-8, 25, -25, -708, -708.3, -708.39, -709, -730, -745.1, -745.2, -800, 0x1p1023, -0x1p1023, 1, 0x1p-1022,
                          0x1.fffffffffffffp-1023, 0x1.fffffffffffffp1023,
                          // and where floats begin and end
                          0x1p-126, 0x1.fffffffffffffp-127, 1e-40, 1e-46, 0x1p127, 0x1.fffffffffffffp126, 0x1.fffffffp127, 0x1p128,
                          0x1p125, -0x1p126, 1e40,
                          // and where what is left of turns is not computed here
                          0x1p30, 0x1.fffffffffffffp29, -0x1p30};
    const int beyond = sizeof far / sizeof *far;
    fsm_context *ctx = fsm_context_new();
    for (int f = 0; f < count; f++) {
        double worst = 0, at = 0;
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < N; i++) x[i] = argument(*functions[f].name, round);
            if (functions[f].entry(ctx, N, x, y)) return puts(fsm_context_error(ctx)), 1;
            for (int i = 0; i < N; i++) {
                double off = ulps(y[i], functions[f].exact(x[i]));
                if (!(off <= worst)) worst = off, at = x[i];
            }
        }
        printf("%s: %s\n", functions[f].name, worst <= 4 ? "exact to 4 units" : "off");
        if (worst > 4) printf("by %g units at %a\n", worst, at);
        for (int lane = 0; lane < LANES; lane++) { // each of them once in each lane, among ordinary numbers
            for (int i = 0; i < beyond * LANES; i++) x[i] = i % LANES == lane ? far[i / LANES] : 1;
            functions[f].entry(ctx, beyond * LANES, x, y);
            for (int i = 0; i < beyond * LANES; i++) check(&functions[f], x[i], y[i]);
        }
    }
    check_extremes(ctx);
    fsm_context_free(ctx);
    return 0;
}
