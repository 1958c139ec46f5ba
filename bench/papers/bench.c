// Compares and times the compiled programs of this folder and the same by hand: usage: bench [--check] [--quick]
// [NAME]...
#define _GNU_SOURCE
#include "../../examples/random.h"
#include "../timing.h"
#include "dont_unroll_adjoint.h"
#include "kmeans.h"
#include "lstm.h"
#include "project.h"
#include "transport.h"

#include "fsmc/runtime.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t I;
typedef const double *D;
typedef const int32_t *W;

// What by_hand.c defines, by two compilers.
#define HANDS(entry, ...) void gcc_##entry(__VA_ARGS__), clang_##entry(__VA_ARGS__);
HANDS(sinCos, double, double *)
HANDS(sinCosGradient, double, double *)
HANDS(power, double, I, double *)
HANDS(powerGradient, double, I, double *)
HANDS(logSum, I, D, double *)
HANDS(logSumGradient, I, D, double *)
HANDS(logisticLoss, I, I, D, double, D, D, double *)
HANDS(logisticGradient, I, I, D, double, D, D, double *, double *)
HANDS(perceptronLoss, I, I, I, D, D, D, D, D, I, double *)
HANDS(perceptronGradient, I, I, I, D, D, D, D, D, I, double *, double *, double *, double *)
HANDS(denseCost, I, I, I, D, D, double *)
HANDS(denseStep, I, I, I, D, D, double *)
HANDS(sparseCost, I, I, I, I, W, W, D, D, double *)
HANDS(sparseStep, I, I, I, I, W, W, D, D, double *)
HANDS(xsTotal, I, I, I, I, I, D, D, W, D, W, D, W, double *)
HANDS(xsGradient, I, I, I, I, I, D, D, W, D, W, D, W, double *, double *)
HANDS(rsTotal, I, I, I, I, I, I, D, D, D, D, D, D, D, D, D, D, D, D, W, W, D, W, W, D, W, double *)
HANDS(rsGradient, I, I, I, I, I, I, D, D, D, D, D, D, D, D, D, D, D, D, W, W, D, W, W, D, W, double *, double *, double *, double *,
      double *, double *, double *, double *, double *, double *, double *, double *)
HANDS(lstmLoss, I, I, I, I, D, D, D, D, D, double *)
HANDS(lstmGradient, I, I, I, I, D, D, D, D, D, double *, double *, double *)
HANDS(projectPoints, I, D, D, double *)
HANDS(projectForward, I, D, D, double *)
#define gcc_projectReverse   gcc_projectForward
#define clang_projectReverse clang_projectForward

enum { FSMC, GCC, CLANG, TOOLS, OBJECTIVE = 0, DERIVATIVE, WHATS };

#ifdef HAS_CLANG
#define BY_CLANG(entry, ...) clang_##entry(__VA_ARGS__)
#else
#define BY_CLANG(entry, ...) (void)0
#endif
#define CALL(entry, ...)                                                                                                           \
    do {                                                                                                                           \
        if (tool == FSMC) check(entry(context, __VA_ARGS__));                                                                      \
        else if (tool == GCC) gcc_##entry(__VA_ARGS__);                                                                            \
        else BY_CLANG(entry, __VA_ARGS__);                                                                                         \
    } while (0)

// The data of a case: sizes, numbers, arrays, and the results of a tool, one after the other.
static struct {
    I n[8];
    double number;
    double *d[8];
    int32_t *w[8];
    I values, derivatives;
    double *out[TOOLS][WHATS];
    char sizes[128];
} q;
static fsm_context *context;
static Random random_state;

static void check(int status) {
    if (!status) return;
    fprintf(stderr, "bench: %s\n", fsm_context_error(context));
    exit(1);
}

static void *allocate(I count, size_t size) {
    void *p = calloc((size_t)count + 1, size);
    if (!p) exit((perror("bench"), 1));
    return p;
}

static double *draw(I count, double low, double high) {
    double *p = allocate(count, sizeof *p);
    for (I i = 0; i < count; i++) p[i] = low + (high - low) * uniform(&random_state);
    return p;
}

static int32_t below(I n) { return (int32_t)((double)n * uniform(&random_state)); }

__attribute__((format(printf, 3, 4))) static void results(I values, I derivatives, const char *sizes, ...) {
    va_list ap;
    va_start(ap, sizes);
    vsnprintf(q.sizes, sizeof q.sizes, sizes, ap);
    va_end(ap);
    q.values = values, q.derivatives = derivatives;
    for (int tool = 0; tool < TOOLS; tool++) {
        q.out[tool][OBJECTIVE] = allocate(values, sizeof(double));
        q.out[tool][DERIVATIVE] = allocate(derivatives, sizeof(double));
    }
}

// ---- [DU]

static void make_number(bool small) {
    q.number = 0.999 + 0.0005 * uniform(&random_state);
    q.n[0] = small ? 7 : 1000;
    results(1, 1, "%lld", (long long)q.n[0]);
}

static void make_sincos(bool small) {
    make_number(small);
    q.sizes[0] = 0;
}

static void call_sincos(int tool, int what, double *to) {
    if (what == OBJECTIVE) CALL(sinCos, q.number, to);
    else CALL(sinCosGradient, q.number, to);
}

static void call_power(int tool, int what, double *to) {
    if (what == OBJECTIVE) CALL(power, q.number, q.n[0], to);
    else CALL(powerGradient, q.number, q.n[0], to);
}

static void make_logsum(bool small) {
    I n = q.n[0] = small ? 13 : 100;
    q.d[0] = draw(n, -2, 2);
    results(1, n, "n = %lld", (long long)n);
}

static void call_logsum(int tool, int what, double *to) {
    if (what == OBJECTIVE) CALL(logSum, q.n[0], q.d[0], to);
    else CALL(logSumGradient, q.n[0], q.d[0], to);
}

static void make_logistic(bool small) {
    I d = q.n[0] = small ? 3 : 10, n = q.n[1] = small ? 7 : 100;
    q.d[0] = draw(d, -1, 1), q.d[1] = draw(n * d, -1, 1), q.d[2] = draw(n, 0, 1);
    for (I i = 0; i < n; i++) q.d[2][i] = q.d[2][i] < 0.5;
    q.number = 0.3;
    results(1, d + 1, "%lld records of %lld", (long long)n, (long long)d);
}

static void call_logistic(int tool, int what, double *to) {
    I d = q.n[0], n = q.n[1];
    if (what == OBJECTIVE) CALL(logisticLoss, d, n, q.d[0], q.number, q.d[1], q.d[2], to);
    else CALL(logisticGradient, d, n, q.d[0], q.number, q.d[1], q.d[2], to, to + d);
}

static void make_perceptron(bool small) {
    I h = q.n[0] = small ? 5 : 32, d = q.n[1] = small ? 9 : 784, c = q.n[2] = small ? 3 : 10;
    double scale = 1 / sqrt((double)d);
    q.d[0] = draw(h * d, -scale, scale), q.d[1] = draw(h, -1, 1), q.d[2] = draw(c * h, -1, 1), q.d[3] = draw(c, -1, 1);
    q.d[4] = draw(d, 0, 1);
    results(1, h * d + h + c * h + c, "%lld, %lld, %lld", (long long)d, (long long)h, (long long)c);
}

static void call_perceptron(int tool, int what, double *to) {
    I h = q.n[0], d = q.n[1], c = q.n[2], label = 1;
    double *b1 = to + h * d, *w2 = b1 + h, *b2 = w2 + c * h;
    if (what == OBJECTIVE) CALL(perceptronLoss, h, d, c, q.d[0], q.d[1], q.d[2], q.d[3], q.d[4], label, to);
    else CALL(perceptronGradient, h, d, c, q.d[0], q.d[1], q.d[2], q.d[3], q.d[4], label, to, b1, w2, b2);
}

// ---- [NP]: k-means. The first points are the centroids, so that each has one.

static void make_points(I n, I d, I k) {
    q.n[0] = n, q.n[1] = d, q.n[2] = k;
    q.d[0] = draw(n * d, 0, 1), q.d[1] = draw(0, 0, 1);
    q.d[1] = memcpy(allocate(k * d, sizeof(double)), q.d[0], (size_t)(k * d) * sizeof(double));
    for (I i = 0; i < k * d; i++) q.d[1][i] += 1e-3 * uniform(&random_state);
    results(1, k * d, "n = %lld, d = %lld, k = %lld", (long long)n, (long long)d, (long long)k);
}

static void make_dense(bool small) { small ? make_points(20, 3, 4) : make_points(50000, 35, 5); }
static void make_many(bool small) { small ? make_points(50, 5, 13) : make_points(10000, 256, 100); }

static void call_dense(int tool, int what, double *to) {
    if (what == OBJECTIVE) CALL(denseCost, q.n[0], q.n[1], q.n[2], q.d[0], q.d[1], to);
    else CALL(denseStep, q.n[0], q.n[1], q.n[2], q.d[0], q.d[1], to);
}

// Rows of random lengths, with places that ascend.
static void make_sparse(bool small) {
    I n = small ? 30 : 10000, d = q.n[3] = small ? 20 : 5000, k = q.n[2] = small ? 4 : 10, most = small ? 5 : 100;
    q.n[0] = n + 1;
    q.w[0] = allocate(n + 1, sizeof(int32_t));
    for (I i = 0; i < n; i++) q.w[0][i + 1] = q.w[0][i] + 1 + below(most);
    I e = q.n[1] = q.w[0][n];
    q.w[1] = allocate(e, sizeof(int32_t));
    for (I i = 0; i < n; i++) {
        I count = q.w[0][i + 1] - q.w[0][i], at = below(d / count);
        for (I j = 0; j < count; j++, at += 1 + below(d / count - 1)) q.w[1][q.w[0][i] + j] = (int32_t)at;
    }
    q.d[0] = draw(e, 0, 1);
    q.d[1] = draw(k * d, 0, 0.1);
    for (I c = 0; c < k; c++) // near a point
        for (I j = q.w[0][c]; j < q.w[0][c + 1]; j++) q.d[1][c * d + q.w[1][j]] = q.d[0][j];
    results(1, k * d, "n = %lld, d = %lld, k = %lld, %lld values", (long long)n, (long long)d, (long long)k, (long long)e);
}

static void call_sparse(int tool, int what, double *to) {
    if (what == OBJECTIVE) CALL(sparseCost, q.n[0], q.n[1], q.n[2], q.n[3], q.w[0], q.w[1], q.d[0], q.d[1], to);
    else CALL(sparseStep, q.n[0], q.n[1], q.n[2], q.n[3], q.w[0], q.w[1], q.d[0], q.d[1], to);
}

// ---- [NP]: cross sections. XSBench's "small" reactor has 68 nuclides; how many a material contains, and how often a
// neutron is in it, are as there.

static void make_lookups(I nuclides, I lookups, bool small) {
    static const int counts[] = {34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9};
    static const double shares[] = {.140, .052, .275, .134, .154, .064, .066, .055, .008, .015, .025, .013};
    enum { MATERIALS = sizeof counts / sizeof *counts };
    q.w[0] = allocate(MATERIALS + 1, sizeof(int32_t));
    for (int m = 0; m < MATERIALS; m++) q.w[0][m + 1] = q.w[0][m] + (small ? 1 + counts[m] / 10 : counts[m]);
    I k = q.w[0][MATERIALS];
    q.w[1] = allocate(k, sizeof(int32_t)), q.w[2] = allocate(lookups, sizeof(int32_t));
    for (I i = 0; i < k; i++) q.w[1][i] = below(nuclides);
    for (I i = 0; i < lookups; i++) {
        double at = uniform(&random_state) * 1.001;
        int m = 0;
        while (m + 1 < MATERIALS && at > shares[m]) at -= shares[m++];
        q.w[2][i] = m;
    }
    q.d[6] = draw(k, 0, 1), q.d[7] = draw(lookups, 1e-6, 1);
    q.n[3] = MATERIALS + 1, q.n[4] = k, q.n[5] = lookups;
}

static void make_xs(bool small) {
    I u = q.n[0] = small ? 6 : 68, g = q.n[1] = small ? 17 : 11303, n = small ? 40 : 20000;
    make_lookups(u, n, small);
    q.d[0] = draw(u * g, 0, 1), q.d[1] = draw(5 * u * g, 0, 1);
    for (I i = 0; i < u; i++) qsort(q.d[0] + i * g, (size_t)g, sizeof(double), ascending);
    results(1, 5 * u * g + q.n[4], "%lld nuclides of %lld energies, %lld look-ups", (long long)u, (long long)g, (long long)n);
}

static void call_xs(int tool, int what, double *to) {
    I u = q.n[0], g = q.n[1];
    if (what == OBJECTIVE) CALL(xsTotal, u, g, q.n[3], q.n[4], q.n[5], q.d[0], q.d[1], q.w[0], q.d[6], q.w[1], q.d[7], q.w[2], to);
    else CALL(xsGradient, u, g, q.n[3], q.n[4], q.n[5], q.d[0], q.d[1], q.w[0], q.d[6], q.w[1], q.d[7], q.w[2], to, to + 5 * u * g);
}

#define THREE(a, s) (a), (a) + (s), (a) + 2 * (s)
#define EIGHT(a, s) THREE(a, s), THREE((a) + 3 * (s), s), (a) + 6 * (s), (a) + 7 * (s)

static void make_rs(bool small) {
    I u = q.n[0] = small ? 6 : 68, w = q.n[1] = small ? 4 : 150, p = q.n[2] = small ? 3 : 10, n = small ? 40 : 10000;
    make_lookups(u, n, small);
    q.d[0] = draw(8 * u * w * p, 0.1, 1), q.d[1] = draw(3 * u * w, 0, 1), q.d[2] = draw(4 * u, 0.5, 1);
    q.w[3] = allocate(u * w * p, sizeof(int32_t)), q.w[4] = allocate(u, sizeof(int32_t));
    for (I i = 0; i < u * w * p; i++) q.w[3][i] = below(4);
    for (I i = 0; i < u; i++) q.w[4][i] = (int32_t)(w / 2) + below(w / 2);
    results(1, 8 * u * w * p + 3 * u * w + q.n[4], "%lld nuclides of %lld windows of %lld poles, %lld look-ups", (long long)u,
            (long long)w, (long long)p, (long long)n);
}

static void call_rs(int tool, int what, double *to) {
    I u = q.n[0], w = q.n[1], p = q.n[2], windows = u * w, poles = windows * p;
    double *by_windows = to + 8 * poles;
    if (what == OBJECTIVE)
        CALL(rsTotal, u, w, p, q.n[4], q.n[3], q.n[5], EIGHT(q.d[0], poles), THREE(q.d[1], windows), q.d[6], q.w[3], q.w[4], q.d[2],
             q.w[0], q.w[1], q.d[7], q.w[2], to);
    else
        CALL(rsGradient, u, w, p, q.n[4], q.n[3], q.n[5], EIGHT(q.d[0], poles), THREE(q.d[1], windows), q.d[6], q.w[3], q.w[4],
             q.d[2], q.w[0], q.w[1], q.d[7], q.w[2], EIGHT(to, poles), THREE(by_windows, windows), by_windows + 3 * windows);
}

// ---- [NP]: LSTM

static void make_lstm(bool small) {
    I h = q.n[0] = small ? 5 : 192, d = q.n[1] = small ? 3 : 300, n = q.n[2] = small ? 4 : 20, b = q.n[3] = small ? 3 : 16;
    double scale = 1 / sqrt((double)h);
    q.d[0] = draw(4 * h * d, -scale, scale), q.d[1] = draw(4 * h * h, -scale, scale);
    q.d[2] = draw(4 * h, -scale, scale), q.d[3] = draw(n * b * d, -1, 1), q.d[4] = draw(b * h, -1, 1);
    results(1, 4 * h * (d + h + 1), "batch %lld, length %lld, %lld inputs, %lld outputs", (long long)b, (long long)n, (long long)d,
            (long long)h);
}

static void call_lstm(int tool, int what, double *to) {
    I h = q.n[0], d = q.n[1];
    double *wh = to + 4 * h * d, *bias = wh + 4 * h * h;
    if (what == OBJECTIVE) CALL(lstmLoss, h, d, q.n[2], q.n[3], q.d[0], q.d[1], q.d[2], q.d[3], q.d[4], to);
    else CALL(lstmGradient, h, d, q.n[2], q.n[3], q.d[0], q.d[1], q.d[2], q.d[3], q.d[4], to, wh, bias);
}

// ---- [FS]

static void make_project(bool small) {
    static const double cam[] = {0.2, -0.3, 0.1, 1, 2, 3, 400, 5, -3, 0.05, 0.005};
    I n = q.n[0] = small ? 9 : 10000;
    q.d[0] = memcpy(allocate(11, sizeof(double)), cam, sizeof cam), q.d[1] = draw(3 * n, 20, 40);
    results(2 * n, 22 * n, "%lld points", (long long)n);
}

static void call_forward(int tool, int what, double *to) {
    if (what == OBJECTIVE) CALL(projectPoints, q.n[0], q.d[0], q.d[1], to);
    else CALL(projectForward, q.n[0], q.d[0], q.d[1], to);
}

static void call_reverse(int tool, int what, double *to) {
    if (what == OBJECTIVE) CALL(projectPoints, q.n[0], q.d[0], q.d[1], to);
    else CALL(projectReverse, q.n[0], q.d[0], q.d[1], to);
}

// ---- comparing and timing

typedef struct Case {
    const char *name;
    void (*make)(bool small);
    void (*call)(int tool, int what, double *to);
} Case;

static const Case cases[] = {
    {"du-sincos", make_sincos, call_sincos},
    {"du-loop", make_number, call_power},
    {"du-logsumexp", make_logsum, call_logsum},
    {"du-logistic", make_logistic, call_logistic},
    {"du-perceptron", make_perceptron, call_perceptron},
    {"np-kmeans", make_dense, call_dense},
    {"np-kmeans-many", make_many, call_dense},
    {"np-kmeans-sparse", make_sparse, call_sparse},
    {"np-xsbench", make_xs, call_xs},
    {"np-rsbench", make_rs, call_rs},
    {"np-lstm", make_lstm, call_lstm},
    {"fs-project-forward", make_project, call_forward},
    {"fs-project-reverse", make_project, call_reverse},
};
enum { CASES = sizeof cases / sizeof *cases };

#ifdef HAS_CLANG
enum { PRESENT = TOOLS };
#else
enum { PRESENT = CLANG };
#endif
static const char *const tool_names[] = {"fsmc", "gcc", "clang"};
static const char *const what_names[] = {"objective", "derivative"};

// By the largest number; a NaN is never close.
static bool close_by(const double *a, const double *b, I count) {
    double most = 0, worst = 0;
    for (I i = 0; i < count; i++) most = fmax(most, fabs(b[i]));
    for (I i = 0; i < count; i++) worst = fabs(a[i] - b[i]) <= worst ? worst : fabs(a[i] - b[i]);
    return worst <= 1e-10 * most;
}

static bool compare(const Case *c) {
    bool good = true;
    for (int tool = 0; tool < PRESENT; tool++)
        for (int what = 0; what < WHATS; what++) {
            I count = what ? q.derivatives : q.values;
            c->call(tool, what, q.out[tool][what]);
            if (tool == FSMC || close_by(q.out[FSMC][what], q.out[tool][what], count)) continue;
            printf("%s: the %s of fsmc differs from %s's\n", c->name, what_names[what], tool_names[tool]);
            good = false;
        }
    return good;
}

static const Case *timed;
static void call_side(int side) { timed->call(side / WHATS, side % WHATS, q.out[side / WHATS][side % WHATS]); }

// The quickest of some batches of each side, in turn.
static void measure(const Case *c, bool quick, double times[TOOLS][WHATS]) {
    const int rounds = quick ? 2 : 9;
    const double least = quick ? 0.001 : 0.03;
    timed = c;
    I calls[TOOLS * WHATS];
    for (int side = 0; side < PRESENT * WHATS; side++) {
        double time;
        for (calls[side] = 1; (time = batch(call_side, side, calls[side])) * (double)calls[side] < least;) calls[side] *= 2;
        times[side / WHATS][side % WHATS] = time;
    }
    for (int round = 0; round < rounds; round++)
        for (int side = 0; side < PRESENT * WHATS; side++)
            times[side / WHATS][side % WHATS] = fmin(times[side / WHATS][side % WHATS], batch(call_side, side, calls[side]));
}

static const char *microseconds(double seconds) {
    static char texts[8][32];
    static int next;
    char *to = texts[next++ % 8];
    double us = 1e6 * seconds;
    snprintf(to, sizeof *texts, us >= 1000 ? "%.0f" : "%.3g", us);
    return to;
}

static void print_row(const Case *c, double times[TOOLS][WHATS]) {
    int best = GCC, quickest = GCC;
    for (int tool = GCC; tool < PRESENT; tool++) {
        if (times[tool][DERIVATIVE] < times[best][DERIVATIVE]) best = tool;
        if (times[tool][OBJECTIVE] < times[quickest][OBJECTIVE]) quickest = tool;
    }
    const double *own = times[FSMC], *its = times[best];
    printf("| `%s` | %s | %s | %s | %.2f | %s | %s | %s | %.2f | %.2f | %.2f |\n", c->name, q.sizes, microseconds(own[0]),
           microseconds(own[1]), own[1] / own[0], tool_names[best], microseconds(its[0]), microseconds(its[1]), its[1] / its[0],
           times[quickest][OBJECTIVE] / own[0], its[1] / own[1]);
    fflush(stdout);
}

static bool chosen(const Case *c, char **names, int count) {
    for (int i = 0; i < count; i++)
        if (strcasestr(c->name, names[i])) return true;
    return !count;
}

int main(int argc, char **argv) {
    bool only_check = false, quick = false, good = true;
    int done = 0, count = 0;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--check")) only_check = true;
        else if (!strcmp(argv[i], "--quick")) quick = true;
        else argv[count++] = argv[i];
    context = fsm_context_new();
    if (!only_check)
        printf("| program | sizes | fsmc: objective | derivative | ratio | best peer | objective | derivative | ratio | "
               "speed-up: objective | derivative |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < CASES; i++) {
        if (!chosen(&cases[i], argv, count)) continue;
        random_state = (Random){.state = 1};
        cases[i].make(only_check || quick);
        good &= compare(&cases[i]);
        done++;
        if (only_check) continue;
        double times[TOOLS][WHATS];
        measure(&cases[i], quick, times);
        print_row(&cases[i], times);
    }
    if (!only_check) return !good;
    printf(good ? "%d programs and their derivatives: by hand the same\n" : "%d programs compared\n", done);
    return !good;
}
