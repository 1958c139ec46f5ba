// fsmc tune: measures what the schedule's estimates assume of the machine (lower/machine.def), and writes the table for --machine.
//
// Most figures are differences: of two programs, one of which does more of what is measured, so that loops, loads and stores
// cancel. Attributes force the alternatives. Of several batches the fastest counts.
#define _DEFAULT_SOURCE
#include "driver/args.h"
#include "driver/driver.h"
#include "driver/file.h"
#include "tools/engine.h"

#include "fsmc/runtime_internal.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ELEMENTS = 1000, SHORT = 16, WAKES = 30 };
// Batches of calls are short, so that some run undisturbed.
static const double BATCH_S = 0.0002;

// Chains of operations that wait for each other, in iterations that do not, and loops that LLVM makes vectors of. The extents: y
// has SHORT elements, or others, x and others ELEMENTS. (Moves of elements that are apart are not measured: alone, in a loop that
// does nothing else, they take much less than where there are stores and other work between them.)
static const char program[] =
    "entry add8 (y: Double[m]) (x: Double[n]) = #[sequential] build n (fun i -> #[unroll] ifold (fun s j -> s + y[j]) x[i] 8)\n"
    "entry add16 (y: Double[m]) (x: Double[n]) = #[sequential] build n (fun i -> #[unroll] ifold (fun s j -> s + y[j]) x[i] 16)\n"
    "entry mul8 (y: Double[m]) (x: Double[n]) = #[sequential] build n (fun i -> #[unroll] ifold (fun s j -> s * y[j]) x[i] 8)\n"
    "entry mul16 (y: Double[m]) (x: Double[n]) = #[sequential] build n (fun i -> #[unroll] ifold (fun s j -> s * y[j]) x[i] 16)\n"
    "entry div8 (y: Double[m]) (x: Double[n]) = #[sequential] build n (fun i -> #[unroll] ifold (fun s j -> y[j] / s) x[i] 8)\n"
    "entry div16 (y: Double[m]) (x: Double[n]) = #[sequential] build n (fun i -> #[unroll] ifold (fun s j -> y[j] / s) x[i] 16)\n"
    "entry root8 (y: Double[m]) (x: Double[n]) = #[sequential] build n (fun i -> #[unroll] ifold (fun s j -> sqrt (s + y[j])) x[i] 8)\n"
    "entry root16 (y: Double[m]) (x: Double[n]) = #[sequential] build n (fun i -> #[unroll] ifold (fun s j -> sqrt (s + y[j])) x[i] 16)\n"
    "entry function2 (y: Double[m]) (x: Double[n]) = #[sequential] build n (fun i -> #[unroll] ifold (fun s j -> exp (y[j] - s)) x[i] 2)\n"
    "entry function4 (y: Double[m]) (x: Double[n]) = #[sequential] build n (fun i -> #[unroll] ifold (fun s j -> exp (y[j] - s)) x[i] 4)\n"
    "entry alone (y: Double[m]) (x: Double[n]) (z: Double[n]) = build n (fun i -> x[i] * z[i] + x[i])\n"
    "entry inside (y: Double[m]) (x: Double[n][m]) = #[sequential] build n (fun i -> sum m (fun j -> x[i, j] * y[j]))\n";

typedef struct Tuner {
    Compilation *c; // of the program
    Caller caller;
    double seconds; // for each measurement
    Machine machine;
    double unit; // an addition, in seconds
} Tuner;

// The seconds of one of ELEMENTS iterations, where rows have so many elements.
static double time_of(const Tuner *t, const char *entry, int row) {
    Arena *a = t->c->arena;
    const FuncList *funcs = &t->caller.funcs;
    for (int i = 0; i < funcs->n; i++) {
        const Func *f = funcs->f[i];
        if (strcmp(f->name, entry)) continue;
        ArgsFill how = {1, row, ELEMENTS - row, 0.5, 1.5};
        const char *error = NULL;
        CpuCall call;
        Tensor *in = args_fill(t->c, f, &how), *out = ARENA_ARRAY(a, Tensor, f->noutputs + 1);
        if (!in || cpu_prepare(a, t->caller.jit, f, in, out, &call, &error))
            fatal_bug("%s: %s", entry, error ? error : "no arguments");
        int64_t batch = timer_calibrate(&call, fmin(BATCH_S, t->seconds));
        double least = INFINITY, begin = timer_now();
        while (least == INFINITY || timer_now() - begin < t->seconds) least = fmin(least, timer_batch(&call, batch));
        return least / ELEMENTS;
    }
    fatal_bug("there is no entry %s", entry);
}

static void set(Tuner *t, const char *name, double value) {
    for (int i = 0; i < machine_nrows; i++) {
        const MachineRow *row = &machine_rows[i];
        if (strcmp(row->name, name)) continue;
        if (isfinite(value)) *machine_value(&t->machine, row) = fmin(fmax(value, row->least), row->most);
        fprintf(stderr, "%-12s %.4g\n", name, *machine_value(&t->machine, row));
    }
}

static void measure_operations(Tuner *t) {
    t->unit = fmax((time_of(t, "add16", SHORT) - time_of(t, "add8", SHORT)) / 8, 1e-12);
    fprintf(stderr, "%-12s %.4g ns\n", "an addition", t->unit * 1e9);
    set(t, "multiply", (time_of(t, "mul16", SHORT) - time_of(t, "mul8", SHORT)) / 8 / t->unit);
    set(t, "divide", (time_of(t, "div16", SHORT) - time_of(t, "div8", SHORT)) / 8 / t->unit);
    set(t, "root", (time_of(t, "root16", SHORT) - time_of(t, "root8", SHORT)) / 8 / t->unit - 1);
    set(t, "function", (time_of(t, "function4", SHORT) - time_of(t, "function2", SHORT)) / 2 / t->unit - 1);
}

static void measure_vectors(Tuner *t) {
    static const int lengths[] = {5, 10, 15, 20, 25, 30}; // of short loops, which are seldom so many whole vectors
    set(t, "lanes", cpu_width("native"));
    // against what the model says of an iteration, not what it takes: loads, a multiplication, an addition and a store, or the
    // parts of a sum, do not wait for each other
    const double each = 5 + t->machine.multiply;
    double said = 0, took = 0;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        said += (each + 1) * lengths[k] * t->unit;
        took += time_of(t, "inside", lengths[k]);
    }
    set(t, "plain_long", each * t->unit / time_of(t, "alone", SHORT));
    set(t, "plain_short", said / took);
}

// Copies between arrays that are together four times as large as the cache.
static void measure_memory(Tuner *t) {
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (cache > 0) set(t, "cache", (double)cache);
    size_t n = (size_t)fmin(2 * t->machine.cache, 256e6);
    char *from = malloc(n), *to = malloc(n);
    double least = INFINITY, begin = timer_now();
    if (!from || !to) diag_out_of_memory();
    memset(from, 1, n), memset(to, 2, n);
    for (int k = 0; k < 3 || timer_now() - begin < t->seconds; k++) {
        double start = timer_now();
        memcpy(to, from, n);
        least = fmin(least, timer_now() - start);
        from[(size_t)k % n] ^= to[0]; // so that no copy is needless
    }
    free(from), free(to);
    set(t, "copy", least / ((double)n / sizeof(double)) / t->unit);
}

// ---- threads

typedef struct Wake {
    double start;
    _Atomic double began; // the other chunk, after the start; 0: not yet
} Wake;

// How long it is waited; what takes longer says how busy the machine is.
static const double PATIENCE_S = 0.005, BUSY_S = 0.0002;

// The first chunk waits for the second to begin, in another thread.
static int wait_for(fsm_context *ctx, fsm_context *call, int64_t chunk, const void *shared) {
    Wake *w = *(Wake *const *)shared;
    (void)ctx, (void)call;
    if (chunk) atomic_store(&w->began, timer_now() - w->start);
    else
        while (!atomic_load(&w->began) && timer_now() - w->start < PATIENCE_S) continue;
    return FSM_OK;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// How long it takes until a thread that sleeps has a chunk; a chunk should last some times as long.
static void measure_threads(Tuner *t) {
    enum { TIMES = 4 };
    double took[WAKES];
    fsm_context *ctx = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? fsm_context_new() : NULL;
    for (int k = 0; ctx && k < WAKES; k++) {
        Wake wake = {0}, *shared = &wake;
        usleep(1000); // so that it sleeps
        wake.start = timer_now();
        fsm_parallel(ctx, wait_for, &shared, 2, 2);
        took[k] = atomic_load(&wake.began);
    }
    if (ctx) {
        qsort(took, WAKES, sizeof *took, ascending);
        double quick = took[WAKES / 10];
        if (quick < BUSY_S) set(t, "chunk", TIMES * quick / t->unit);
        else fprintf(stderr, "%-12s stays as it is: other programs keep the processors busy\n", "chunk");
    }
    fsm_context_free(ctx);
}

// ---- the command

static bool open_program(Tuner *t, const Options *o) {
    Source *src = ARENA_NEW(o->arena, Source);
    FuncList funcs;
    *src = (Source){"tune", program, sizeof program - 1};
    t->c = compile_new(o);
    t->c->src = src;
    return compile_load(t->c, src) && compile_funcs(t->c, false, &funcs) && caller_open(&t->caller, t->c, funcs);
}

void command_tune(Compilation *c) {
    Options *o = arena_copy(c->arena, c->opt, sizeof *o);
    o->cpu = "native", o->check_bounds = WHEN_NEVER, o->explain = 0;
    Tuner t = {.seconds = o->min_time, .machine = machine_default};
    compile_stage(c, "tune");
    if (!open_program(&t, o)) {
        Str text = {0};
        diag_print(t.c->diag, &text, false);
        fatal_bug("%s", str_text(&text));
    }
    measure_operations(&t);
    measure_vectors(&t);
    measure_memory(&t);
    measure_threads(&t);
    caller_close(&t.caller);
    compile_delete(t.c);
    Str out = {0};
    str_puts(&out, "# What fsmc assumes of a machine (--machine), measured by fsmc tune; times are in additions.\n");
    machine_write(&out, &t.machine);
    file_write(c->diag, c->opt->output ? c->opt->output : "-", &out);
    str_free(&out);
}
