// fsmc bench: how long calls of an entry take. Calls are timed in batches that are long against the clock; the figures
// are over batches, so that one disturbance moves neither median nor minimum.
#include "driver/args.h"
#include "driver/driver.h"
#include "driver/file.h"
#include "tools/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SIZE = 100 };

typedef struct Subject {
    Compilation *c;
    const Func *f;
    Caller caller;
    CpuCall call;
    Tensor *in;
    double compile_s;
    int64_t batch;   // calls in one
    double *seconds; // per call, by batch
} Subject;

// ---- preparing

// Compiles the entry alone, so that its time is its own.
static bool compile(Subject *s, Compilation *c, const char *entry) {
    FuncList funcs = {0};
    const Options *all = c->opt;
    Options *one = arena_copy(c->arena, all, sizeof *all);
    const char **name = arena_copy(c->arena, &entry, sizeof entry);
    one->entries.data = name, one->entries.len = one->entries.cap = 1;
    *s = (Subject){.c = c};
    c->opt = one;
    double start = timer_now();
    bool ok = compile_load(c, c->src) && compile_funcs(c, false, &funcs) && caller_open(&s->caller, c, funcs);
    // the first lookup makes the machine code
    if (ok && !cpu_jit_symbol(s->caller.jit, cpu_c_name(c->arena, entry))) fatal_bug("no code for `%s`", entry);
    s->compile_s = timer_now() - start;
    c->opt = all;
    if (ok) s->f = funcs.f[0];
    return ok;
}

static bool prepare(Subject *s, Compilation *c, const char *entry) {
    if (!compile(s, c, entry)) return false;
    compile_stage(c, "arguments");
    ArgsFill how = {(uint64_t)c->opt->seed, DEFAULT_SIZE, 0, c->opt->low, c->opt->high};
    if (!(s->in = args_fill(c, s->f, &how))) return false;
    Tensor *out = ARENA_ARRAY(c->arena, Tensor, s->f->noutputs + 1);
    const char *error = NULL;
    if (!cpu_prepare(c->arena, s->caller.jit, s->f, s->in, out, &s->call, &error) && !cpu_invoke(&s->call, &error)) return true;
    diag_error(c->diag, nowhere, "%s", error);
    return false;
}

// ---- figures

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(Arena *a, const double *x, int n) {
    double *sorted = arena_copy(a, x, sizeof *x * (size_t)n);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static double deviation(Arena *a, const double *x, int n, double middle) {
    double *d = ARENA_ARRAY(a, double, n);
    for (int i = 0; i < n; i++) d[i] = fabs(x[i] - middle);
    return median(a, d, n);
}

static double minimum(const double *x, int n) {
    double least = x[0];
    for (int i = 1; i < n; i++) least = fmin(least, x[i]);
    return least;
}

// ---- reporting

static void print_time(Str *out, const char *name, double s) {
    double unit = s < 1e-6 ? 1e-9 : s < 1e-3 ? 1e-6 : s < 1 ? 1e-3 : 1;
    str_printf(out, "  %-10s %10.4g %s\n", name, s / unit, s < 1e-6 ? "ns" : s < 1e-3 ? "us" : s < 1 ? "ms" : "s");
}

static void print_text(Str *out, const Subject *s) {
    Arena *a = s->c->arena;
    int n = s->c->opt->runs;
    double middle = median(a, s->seconds, n);
    str_puts(out, s->f->name);
    for (int k = 0; k < s->f->nsizes; k++)
        str_printf(out, "%s%s = %lld", k ? ", " : ": ", s->f->inputs[k]->name, (long long)tensor_get_int(&s->in[k], 0));
    str_putc(out, '\n');
    print_time(out, "median", middle);
    print_time(out, "minimum", minimum(s->seconds, n));
    print_time(out, "deviation", deviation(a, s->seconds, n, middle));
    str_printf(out, "  %-10s %d batches of %lld\n", "calls", n, (long long)s->batch);
    str_printf(out, "  %-10s %lld bytes\n", "scratch", (long long)cpu_jit_peak_bytes(s->caller.jit));
    print_time(out, "compiling", s->compile_s);
}

static void print_json(Str *out, const Subject *s) {
    Arena *a = s->c->arena;
    int n = s->c->opt->runs;
    double middle = median(a, s->seconds, n);
    str_printf(out, "{\"entry\": \"%s\", \"sizes\": {", s->f->name);
    for (int k = 0; k < s->f->nsizes; k++)
        str_printf(out, "%s\"%s\": %lld", k ? ", " : "", s->f->inputs[k]->name, (long long)tensor_get_int(&s->in[k], 0));
    str_printf(out, "}, \"median_s\": %.6g, \"minimum_s\": %.6g, \"deviation_s\": %.6g, \"batches\": %d, \"calls\": %lld, ", middle,
               minimum(s->seconds, n), deviation(a, s->seconds, n, middle), n, (long long)(s->batch * n));
    str_printf(out, "\"scratch_bytes\": %lld, \"compile_s\": %.6g}", (long long)cpu_jit_peak_bytes(s->caller.jit), s->compile_s);
}

static void print_ratio(Str *out, const Subject *s, bool json) {
    Arena *a = s[0].c->arena;
    int n = s[0].c->opt->runs;
    double *ratio = ARENA_ARRAY(a, double, n);
    for (int i = 0; i < n; i++) ratio[i] = s[1].seconds[i] / s[0].seconds[i];
    double of_medians = median(a, s[1].seconds, n) / median(a, s[0].seconds, n), middle = median(a, ratio, n);
    double spread = deviation(a, ratio, n, middle);
    if (json) str_printf(out, ", \"ratio\": %.6g, \"ratio_deviation\": %.6g", of_medians, spread);
    else
        str_printf(out, "%s / %s\n  %-10s %10.4g\n  %-10s %10.4g\n", s[1].f->name, s[0].f->name, "ratio", of_medians, "deviation",
                   spread);
}

static void measure(Subject *s, int n) {
    const Options *o = s[0].c->opt;
    for (int k = 0; k < n; k++) {
        s[k].seconds = ARENA_ARRAY(s[k].c->arena, double, o->runs);
        s[k].batch = timer_calibrate(&s[k].call, o->min_time / o->runs);
    }
    for (int i = 0; i < o->runs; i++) // alternately, so that what changes with time meets both
        for (int k = 0; k < n; k++) s[k].seconds[i] = timer_batch(&s[k].call, s[k].batch);
}

static void report(Compilation *c, const Subject *s, int n) {
    Str out = {0};
    bool json = c->opt->json;
    if (json) str_puts(&out, "{\"entries\": [");
    for (int k = 0; k < n; k++) {
        if (json && k) str_puts(&out, ", ");
        (json ? print_json : print_text)(&out, &s[k]);
    }
    if (json) str_putc(&out, ']');
    if (n == 2) print_ratio(&out, s, json);
    if (json) str_puts(&out, "}\n");
    file_write(c->diag, "-", &out);
    str_free(&out);
}

void command_bench(Compilation *c) {
    Subject s[2] = {0};
    const Source *src = file_read(c->arena, c->diag, c->opt->file);
    if (!src) return;
    c->src = src;
    int n = c->opt->entries.len;
    bool ok = true;
    for (int k = 0; k < n && ok; k++) ok = prepare(&s[k], c, c->opt->entries.data[k]);
    if (ok) measure(s, n), report(c, s, n);
    for (int k = 0; k < n; k++) caller_close(&s[k].caller);
}
