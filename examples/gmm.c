// Reads a Gaussian-mixture problem in ADBench's file format, and calls the objective and
// the gradient that fsmc compiled from gmm.fsm.
//
//   fsmc gmm.fsm -o gmm.o && cc -O2 gmm.c gmm.o -lfsmrt -lm -o gmm && ./gmm data.txt
//
// --dump FILE writes the objective and the gradient's entries (alphas, means, icf), one number a line.
// --compare FILE compares them with expected values: lines `objective v`, `entries N full` or `entries N sampled`, and
// N lines `index v`; lines with other keys are ignored. The exit status is 1 if one differs by more than 1e-10.
// --no-times skips the timing.
#define _POSIX_C_SOURCE 200809L
#include "gmm.h"

#include "fsmc/runtime.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double compare_tolerance = 1e-10;
static const double difference_tolerance = 1e-6;

typedef struct Problem {
    int64_t d, k, n, m;
    double gamma;
    int64_t parameters;      // K + K·d + K·d(d+1)/2
    double *alphas;          // all parameters: alphas, means and icf follow each other
    double *means, *icf, *x; // means and icf point into the same block
} Problem;

__attribute__((format(printf, 1, 2))) static _Noreturn void fail(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fputs("gmm: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

static void *allocate(size_t count, size_t size) {
    void *p = calloc(count ? count : 1, size);
    if (!p) fail("out of memory (%zu values of %zu bytes)", count, size);
    return p;
}

// --- Reading -----------------------------------------------------------------------------------------------------

typedef struct Reader {
    const char *name;
    char *text, *at, *end;
    int64_t line;
} Reader;

static Reader reader_open(const char *name) {
    FILE *f = fopen(name, "rb");
    if (!f) fail("%s: %s", name, strerror(errno));
    size_t size = 0, capacity = 1 << 16;
    char *text = allocate(capacity, 1);
    for (size_t got; (got = fread(text + size, 1, capacity - size - 1, f)) > 0;) {
        size += got;
        if (size + 1 < capacity) continue;
        text = realloc(text, capacity *= 2);
        if (!text) fail("%s: out of memory", name);
    }
    if (ferror(f)) fail("%s: %s", name, strerror(errno));
    fclose(f);
    text[size] = 0;
    return (Reader){.name = name, .text = text, .at = text, .end = text + size, .line = 1};
}

// Moves to the next word and returns its length, 0 at the end of the file.
static size_t reader_word(Reader *r) {
    for (; r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at; r->at++) r->line += *r->at == '\n';
    size_t length = 0;
    while (r->at + length < r->end && !strchr(" \t\r\n", r->at[length])) length++;
    return length ? length : r->at < r->end; // a NUL byte is a word of its own
}

__attribute__((format(printf, 2, 3))) static _Noreturn void reader_expected(Reader *r, const char *fmt, ...) {
    char what[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    size_t length = reader_word(r);
    if (!length) fail("%s: line %lld: expected %s, found the end of the file", r->name, (long long)r->line, what);
    int shown = length > 40 ? 40 : (int)length;
    fail("%s: line %lld: expected %s, found \"%.*s\"", r->name, (long long)r->line, what, shown, r->at);
}

static int64_t reader_int(Reader *r, const char *what, int64_t least, int64_t most) {
    size_t length = reader_word(r);
    char *end;
    errno = 0;
    long long value = strtoll(r->at, &end, 10);
    if (!length || errno || end != r->at + length || value < least || value > most)
        reader_expected(r, "%s, an integer from %lld to %lld", what, (long long)least, (long long)most);
    r->at = end;
    return value;
}

static double reader_number(Reader *r, const char *what, int64_t index, int64_t count) {
    size_t length = reader_word(r);
    char *end;
    double value = strtod(r->at, &end);
    if (!length || end != r->at + length || !isfinite(value))
        reader_expected(r, "%s %lld of %lld, a finite number", what, (long long)index + 1, (long long)count);
    r->at = end;
    return value;
}

static void reader_numbers(Reader *r, const char *what, double *to, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] = reader_number(r, what, i, count);
}

static Problem read_problem(const char *name) {
    Reader r = reader_open(name);
    Problem p = {0};
    p.d = reader_int(&r, "the dimension d", 1, 1000000);
    p.k = reader_int(&r, "the number of components K", 1, 1000000000);
    p.n = reader_int(&r, "the number of points n", 1, 1000000000);
    int64_t row = p.d * (p.d + 1) / 2; // of icf
    // A number and its separator take two bytes at least: a false size is told from the file's length.
    int64_t most = (r.end - r.text) / 2 + 1;
    if (p.k > most / (1 + p.d + row) || p.n > most / p.d)
        fail("%s: line 1: expected sizes that fit the file, found d = %lld, K = %lld, n = %lld in a file of %lld bytes",
             name, (long long)p.d, (long long)p.k, (long long)p.n, (long long)(r.end - r.text));
    p.parameters = p.k * (1 + p.d + row);
    p.alphas = allocate((size_t)p.parameters, sizeof(double));
    p.means = p.alphas + p.k;
    p.icf = p.means + p.k * p.d;
    p.x = allocate((size_t)(p.n * p.d), sizeof(double));
    reader_numbers(&r, "alpha", p.alphas, p.k);
    reader_numbers(&r, "mean", p.means, p.k * p.d);
    reader_numbers(&r, "icf value", p.icf, p.k * row);
    reader_numbers(&r, "data value", p.x, p.n * p.d);
    p.gamma = reader_number(&r, "gamma", 0, 1);
    p.m = reader_int(&r, "m", 0, 1000000000);
    if (reader_word(&r)) reader_expected(&r, "the end of the file after gamma and m");
    free(r.text);
    return p;
}

// --- Calling what fsmc compiled ----------------------------------------------------------------------------------

static double objective(fsm_context *ctx, const Problem *p) {
    double value;
    int status = gmm_objective(ctx, p->k, p->d, p->n, p->alphas, p->means, p->icf, p->x, p->gamma, p->m, &value);
    if (status) fail("gmm_objective: error %d: %s", status, fsm_context_error(ctx));
    return value;
}

static void gradient(fsm_context *ctx, const Problem *p, double *g) {
    double *g_means = g + p->k, *g_icf = g_means + p->k * p->d;
    int status =
        gmm_gradient(ctx, p->k, p->d, p->n, p->alphas, p->means, p->icf, p->x, p->gamma, p->m, g, g_means, g_icf);
    if (status) fail("gmm_gradient: error %d: %s", status, fsm_context_error(ctx));
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The median time of one call, in seconds, of at least 5 calls and as many as fit into 0.3 s.
static double median_time(fsm_context *ctx, const Problem *p, double *g) {
    enum { MOST = 1001 };
    static double times[MOST];
    int count = 0;
    for (double begin = seconds(); count < 5 || (count < MOST && seconds() - begin < 0.3); count++) {
        double start = seconds();
        if (g)
            gradient(ctx, p, g);
        else
            objective(ctx, p);
        times[count] = seconds() - start;
    }
    qsort(times, (size_t)count, sizeof *times, compare_doubles);
    return times[count / 2];
}

// Central difference of the objective along a fixed pseudo-random direction with entries in [-1, 1), and the
// gradient's value for it. Returns their relative difference.
static double check_direction(fsm_context *ctx, Problem *p, const double *g, double *by_gradient) {
    const double step = 1e-5;
    double *here = p->alphas, *there = allocate((size_t)p->parameters, sizeof(double)), values[2];
    double *direction = allocate((size_t)p->parameters, sizeof(double));
    uint32_t state = 1;
    *by_gradient = 0.0;
    for (int64_t i = 0; i < p->parameters; i++) {
        state = state * 1664525u + 1013904223u;
        direction[i] = (double)state * 0x1p-31 - 1.0;
        *by_gradient += g[i] * direction[i];
    }
    Problem moved = *p;
    moved.alphas = there;
    moved.means = there + p->k;
    moved.icf = moved.means + p->k * p->d;
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < p->parameters; i++) there[i] = here[i] + (side ? -step : step) * direction[i];
        values[side] = objective(ctx, &moved);
    }
    free(direction);
    free(there);
    double by_difference = (values[0] - values[1]) / (2.0 * step);
    return fabs(by_difference - *by_gradient) / fmax(1.0, fmax(fabs(by_difference), fabs(*by_gradient)));
}

// --- Files of results --------------------------------------------------------------------------------------------

static void dump(const char *name, double value, const double *g, int64_t count) {
    FILE *f = fopen(name, "w");
    if (!f) fail("%s: %s", name, strerror(errno));
    fprintf(f, "%.17g\n", value);
    for (int64_t i = 0; i < count; i++) fprintf(f, "%.17g\n", g[i]);
    bool failed = ferror(f);
    if (fclose(f) || failed) fail("%s: it could not be written", name);
}

// ADBench's measure. NaN, which fails every comparison, gives infinity.
static double difference(double x, double y) {
    if (x == y) return 0.0;
    double rho = fabs(x - y) / fmax(1.0, fabs(x) + fabs(y));
    return rho >= 0.0 ? rho : INFINITY;
}

// The largest difference from the expected values, over the objective and all listed entries.
static double compare(const char *name, double value, const double *g, int64_t count) {
    Reader r = reader_open(name);
    double worst = 0.0;
    bool has_objective = false, has_entries = false;
    for (size_t length; (length = reader_word(&r)) > 0;) {
        if (length == 9 && !memcmp(r.at, "objective", 9)) {
            r.at += length;
            worst = fmax(worst, difference(value, reader_number(&r, "objective", 0, 1)));
            has_objective = true;
        } else if (length == 7 && !memcmp(r.at, "entries", 7)) {
            r.at += length;
            int64_t entries = reader_int(&r, "the number of entries", 1, count);
            length = reader_word(&r);
            if (!(length == 4 && !memcmp(r.at, "full", 4) && entries == count) &&
                !(length == 7 && !memcmp(r.at, "sampled", 7)))
                reader_expected(&r, "\"full\" with %lld entries, or \"sampled\"", (long long)count);
            r.at += length;
            for (int64_t i = 0; i < entries; i++) {
                int64_t index = reader_int(&r, "the index of an entry", 0, count - 1);
                worst = fmax(worst, difference(g[index], reader_number(&r, "entry", i, entries)));
            }
            has_entries = true;
        } else {
            while (r.at < r.end && *r.at != '\n') r.at++;
        }
    }
    if (!has_objective || !has_entries) reader_expected(&r, "a line \"objective\" and a line \"entries\"");
    free(r.text);
    return worst;
}

// --- The program -------------------------------------------------------------------------------------------------

static fsm_context *new_context(void) {
    fsm_context *ctx = fsm_context_new();
    if (!ctx) fail("out of memory");
    return ctx;
}

// Prints the results; returns false if the gradient does not agree with differences of the objective.
static bool show(Problem *p, bool times, double *value, double *g) {
    fsm_context *objective_ctx = new_context(), *gradient_ctx = new_context();
    *value = objective(objective_ctx, p);
    gradient(gradient_ctx, p, g);
    double norm = 0.0, by_gradient;
    for (int64_t i = 0; i < p->parameters; i++) norm = hypot(norm, g[i]);
    double error = check_direction(objective_ctx, p, g, &by_gradient);
    printf("problem              d = %lld, K = %lld, n = %lld, gamma = %g, m = %lld\n", (long long)p->d,
           (long long)p->k, (long long)p->n, p->gamma, (long long)p->m);
    printf("objective            %.17g\n", *value);
    printf("gradient norm        %.17g (%lld entries)\n", norm, (long long)p->parameters);
    printf("directional check    %.10g by the gradient, relative difference from central differences %.1e\n",
           by_gradient, error);
    if (times) {
        double objective_time = median_time(objective_ctx, p, NULL), gradient_time = median_time(gradient_ctx, p, g);
        printf("time of objective    %.4f ms\n", 1e3 * objective_time);
        printf("time of gradient     %.4f ms, %.2f times the objective's\n", 1e3 * gradient_time,
               gradient_time / objective_time);
    }
    printf("memory of gradient   %lld bytes besides inputs and outputs (K d d numbers: %lld bytes)\n",
           (long long)fsm_context_peak_bytes(gradient_ctx), (long long)(8 * p->k * p->d * p->d));
    fsm_context_free(objective_ctx);
    fsm_context_free(gradient_ctx);
    return error <= difference_tolerance;
}

int main(int argc, char **argv) {
    const char *data = NULL, *dump_name = NULL, *compare_name = NULL;
    bool usage = argc < 2, times = true;
    for (int i = 1; i < argc && !usage; i++) {
        if (!strcmp(argv[i], "--dump") && i + 1 < argc)
            dump_name = argv[++i];
        else if (!strcmp(argv[i], "--compare") && i + 1 < argc)
            compare_name = argv[++i];
        else if (!strcmp(argv[i], "--no-times"))
            times = false;
        else if (argv[i][0] != '-' && !data)
            data = argv[i];
        else
            usage = true;
    }
    if (usage || !data) {
        fputs("usage: gmm DATA [--dump FILE] [--compare FILE] [--no-times]\n", stderr);
        return 2;
    }
    Problem p = read_problem(data);
    double value, *g = allocate((size_t)p.parameters, sizeof(double));
    int status = 0;
    if (!show(&p, times, &value, g)) {
        printf("the gradient differs from central differences by more than %.0e\n", difference_tolerance);
        status = 1;
    }
    if (dump_name) dump(dump_name, value, g, p.parameters);
    if (compare_name) {
        double worst = compare(compare_name, value, g, p.parameters);
        printf("largest difference   %.1e from %s\n", worst, compare_name);
        if (!(worst <= compare_tolerance)) status = 1;
    }
    free(g);
    free(p.alphas);
    free(p.x);
    return status;
}
