// Reads a bundle-adjustment problem in ADBench's file format, and calls the residuals and their sparse Jacobian that fsmc
// compiled from ba.fsm.
//
//   fsmc ba.fsm -o ba.o && cc -O2 ba.c ba.o -lfsmrt -lm -o ba && ./ba data.txt
//
// Such a file has one camera, point, weight and feature, which are repeated. With --all it has all of them: n cameras, m
// points, p weights, p pairs `camera point`, p features.
// --compare FILE compares with expected values: the line `rowptr_last`, the checksums `rowptr_sum`, `cols_sum` and
// `cols_wsum`, and the lists `reproj_err_entries N`, `w_err_entries N` of lines `index v`, and `jacobian_entries N` of lines
// `row column v`; other lines are ignored. The exit status is 1 if one differs by more than 1e-8 in ADBench's measure.
// --no-times skips the timing.
#define _POSIX_C_SOURCE 200809L
#include "ba.h"

#include "fsmc/runtime.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double compare_tolerance = 1e-8;

typedef struct Problem {
    int64_t n, m, p; // cameras, points, observations
    double *cams, *points, *weights, *feats;
    int32_t *obs;
} Problem;

typedef struct Results {
    double *reprojection, *weight; // errors
    int64_t *starts;
    int32_t *columns;
    double *values;
} Results;

__attribute__((format(printf, 1, 2))) static _Noreturn void fail(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fputs("ba: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

static void *allocate(int64_t count, size_t size) {
    void *p = calloc(count > 0 ? (size_t)count : 1, size);
    if (!p) fail("out of memory (%lld values of %zu bytes)", (long long)count, size);
    return p;
}

static FILE *open_file(const char *name) {
    FILE *f = fopen(name, "r");
    if (!f) {
        perror(name);
        exit(1);
    }
    return f;
}

// --- Reading -----------------------------------------------------------------------------------------------------

static int64_t read_size(FILE *f, const char *name, const char *what) {
    long long k;
    if (fscanf(f, "%lld", &k) != 1 || k < 1 || k > 1000000000) fail("%s: expected the number of %s first", name, what);
    return k;
}

// `count` rows; if there is only one in the file it is repeated.
static double *read_rows(FILE *f, const char *name, const char *what, int64_t count, int64_t width, bool all) {
    double *to = allocate(count * width, sizeof *to);
    for (int64_t i = 0; i < (all ? count : 1) * width; i++)
        if (fscanf(f, "%lf", &to[i]) != 1) fail("%s: expected a number of the %s", name, what);
    for (int64_t i = width; !all && i < count * width; i++) to[i] = to[i - width];
    return to;
}

static Problem read_problem(const char *name, bool all) {
    FILE *f = open_file(name);
    Problem p = {0};
    p.n = read_size(f, name, "cameras");
    p.m = read_size(f, name, "points");
    p.p = read_size(f, name, "observations");
    p.cams = read_rows(f, name, "cameras", p.n, 11, all);
    p.points = read_rows(f, name, "points", p.m, 3, all);
    p.weights = read_rows(f, name, "weights", p.p, 1, all);
    p.obs = allocate(2 * p.p, sizeof *p.obs);
    for (int64_t o = 0; o < p.p; o++) {
        int camera = (int)(o % p.n), point = (int)(o % p.m);
        if (all && fscanf(f, "%d %d", &camera, &point) != 2) fail("%s: expected an observation", name);
        p.obs[2 * o] = camera;
        p.obs[2 * o + 1] = point;
    }
    p.feats = read_rows(f, name, "features", p.p, 2, all);
    fclose(f);
    return p;
}

// --- Calling what fsmc compiled ----------------------------------------------------------------------------------

static void residuals(fsm_context *ctx, const Problem *p, const Results *r) {
    int status = ba_residuals(ctx, p->n, p->m, p->p, p->cams, p->points, p->weights, p->obs, p->feats, r->reprojection, r->weight);
    if (status) fail("ba_residuals: error %d: %s", status, fsm_context_error(ctx));
}

static void jacobian(fsm_context *ctx, const Problem *p, const Results *r) {
    int status = ba_jacobian(ctx, p->n, p->m, p->p, p->cams, p->points, p->weights, p->obs, p->feats, r->starts, r->columns, r->values);
    if (status) fail("ba_jacobian: error %d: %s", status, fsm_context_error(ctx));
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The least time of a call in seconds, of at least 5 calls and as many as fit into half a second.
static double least_time(void call(fsm_context *, const Problem *, const Results *), fsm_context *ctx, const Problem *p, const Results *r) {
    double least = INFINITY, begin = seconds();
    for (int count = 0; count < 5 || seconds() - begin < 0.5; count++) {
        double start = seconds();
        call(ctx, p, r);
        least = fmin(least, seconds() - start);
    }
    return least;
}

// --- Expected values ---------------------------------------------------------------------------------------------

// ADBench's measure. NaN, which fails every comparison, gives infinity.
static double difference(double x, double y) {
    if (x == y) return 0.0;
    double rho = fabs(x - y) / fmax(1.0, fabs(x) + fabs(y));
    return rho >= 0.0 ? rho : INFINITY;
}

static double next_number(FILE *f, const char *name) {
    double v;
    if (fscanf(f, "%lf", &v) != 1) fail("%s: a number is missing", name);
    return v;
}

static double compare_list(FILE *f, const char *name, const double *values, int64_t count) {
    double worst = 0.0;
    for (int64_t k = (int64_t)next_number(f, name); k > 0; k--) {
        int64_t i = (int64_t)next_number(f, name);
        if (i < 0 || i >= count) fail("%s: there is no entry %lld", name, (long long)i);
        worst = fmax(worst, difference(values[i], next_number(f, name)));
    }
    return worst;
}

// Listed entries; those of a row follow each other, and each has to be there in that order.
static double compare_entries(FILE *f, const char *name, const Results *r, int64_t rows) {
    double worst = 0.0;
    int64_t last = -1, at = 0;
    for (int64_t k = (int64_t)next_number(f, name); k > 0; k--) {
        int64_t row = (int64_t)next_number(f, name), column = (int64_t)next_number(f, name);
        if (row < 0 || row >= rows) fail("%s: there is no row %lld", name, (long long)row);
        at = row == last ? at + 1 : r->starts[row];
        last = row;
        if (at >= r->starts[row + 1] || r->columns[at] != column) fail("the entry (%lld, %lld) is missing", (long long)row, (long long)column);
        worst = fmax(worst, difference(r->values[at], next_number(f, name)));
    }
    return worst;
}

static double compare(const char *name, const Problem *p, const Results *r) {
    FILE *f = open_file(name);
    char key[4096];
    double worst = 0.0, sum = 0.0, starts = 0.0, weighted = 0.0;
    int64_t rows = 3 * p->p, entries = r->starts[rows];
    for (int64_t i = 0; i <= rows; i++) starts += (double)r->starts[i];
    for (int64_t i = 0; i < entries; i++) {
        sum += (double)r->columns[i];
        weighted += (double)(i % 97 + 1) * (double)r->columns[i];
    }
    while (fscanf(f, "%4095s", key) == 1) {
        if (!strcmp(key, "rowptr_last")) worst = fmax(worst, next_number(f, name) == (double)entries ? 0.0 : INFINITY);
        else if (!strcmp(key, "rowptr_sum")) worst = fmax(worst, next_number(f, name) == starts ? 0.0 : INFINITY);
        else if (!strcmp(key, "cols_sum")) worst = fmax(worst, next_number(f, name) == sum ? 0.0 : INFINITY);
        else if (!strcmp(key, "cols_wsum")) worst = fmax(worst, next_number(f, name) == weighted ? 0.0 : INFINITY);
        else if (!strcmp(key, "reproj_err_entries")) worst = fmax(worst, compare_list(f, name, r->reprojection, 2 * p->p));
        else if (!strcmp(key, "w_err_entries")) worst = fmax(worst, compare_list(f, name, r->weight, p->p));
        else if (!strcmp(key, "jacobian_entries")) worst = fmax(worst, compare_entries(f, name, r, rows));
        else if (!fgets(key, sizeof key, f)) break;
    }
    fclose(f);
    return worst;
}

// --- The program -------------------------------------------------------------------------------------------------

int main(int argc, char **argv) {
    const char *data = NULL, *expected = NULL;
    bool all = false, times = true, usage = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--compare") && i + 1 < argc) expected = argv[++i];
        else if (!strcmp(argv[i], "--all")) all = true;
        else if (!strcmp(argv[i], "--no-times")) times = false;
        else if (argv[i][0] != '-' && !data) data = argv[i];
        else usage = true;
    }
    if (usage || !data) {
        fputs("usage: ba DATA [--all] [--compare FILE] [--no-times]\n", stderr);
        return 2;
    }
    Problem p = read_problem(data, all);
    Results r = {allocate(2 * p.p, sizeof(double)), allocate(p.p, sizeof(double)), allocate(3 * p.p + 1, sizeof(int64_t)),
                 allocate(31 * p.p, sizeof(int64_t)), allocate(31 * p.p, sizeof(double))};
    fsm_context *ctx = fsm_context_new();
    if (!ctx) fail("out of memory");
    residuals(ctx, &p, &r);
    jacobian(ctx, &p, &r);
    double squares = 0.0;
    for (int64_t i = 0; i < 31 * p.p; i++) squares += r.values[i] * r.values[i];
    printf("problem              n = %lld, m = %lld, p = %lld\n", (long long)p.n, (long long)p.m, (long long)p.p);
    printf("jacobian             %lld x %lld, %lld entries, norm %.12g\n", (long long)(3 * p.p),
           (long long)(11 * p.n + 3 * p.m + p.p), (long long)r.starts[3 * p.p], sqrt(squares));
    if (times) {
        double t = least_time(residuals, ctx, &p, &r), j = least_time(jacobian, ctx, &p, &r);
        printf("time of residuals    %.4f ms\n", 1e3 * t);
        printf("time of jacobian     %.4f ms, %.2f times the residuals'\n", 1e3 * j, j / t);
    }
    printf("memory of jacobian   %lld bytes besides inputs and outputs\n", (long long)fsm_context_peak_bytes(ctx));
    int status = 0;
    if (expected) {
        double worst = compare(expected, &p, &r);
        printf("largest difference   %.1e from %s\n", worst, expected);
        status = !(worst <= compare_tolerance);
    }
    fsm_context_free(ctx);
    free(p.cams), free(p.points), free(p.weights), free(p.obs), free(p.feats);
    free(r.reprojection), free(r.weight), free(r.starts), free(r.columns), free(r.values);
    return status;
}
