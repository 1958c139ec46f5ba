// fsmc bisect: from which step of the compiler on a result is wrong, or a measure jumps.
//
// A step is a rewriting by a rule, or a pass over values or over loop trees: what --fuel=N allows N of. Each try is a process of its
// own with another N, so that one which crashes, or never ends, is a try like others. A result is compared with that of the
// interpreter on the program as written. A measure, which grows from m with no step to n with all of them, jumps where it
// first exceeds the geometric mean of the two; a result, where it is first wrong. Halving finds one such place. After that step
// nothing else runs, so the program before it and after it shows what it did.
#define _GNU_SOURCE
#include "driver/args.h"
#include "driver/driver.h"
#include "driver/file.h"
#include "ir/interp.h"
#include "ir/rule.h"
#include "lower/exec.h"
#include "tools/engine.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ALL_STEPS = INT32_MAX, SECONDS = 120 }; // of processor time, for a try

// What a try tells the process that started it.
typedef struct Report {
    bool done;       // it ended by itself
    bool wrong;      // and not with what is expected
    bool tree_wrong; // nor does the executor of loop trees give that
    double measure;
    int64_t steps;
    bool pass;     // the last step was a pass, not a rule
    char last[64]; // its name
    char at[256];  // where in the source
    char why[256]; // what is wrong
} Report;

typedef struct Bisect {
    Compilation *c;
    const Source *src;
    Tensor *inputs;   // NULL for a measure that needs none
    Tensor *expected; // of the interpreter
    int code;         // its error, or 0
    char *object;     // where tries write objects; NULL where none does
} Bisect;

// ---- a try, in its own process

static bool near(double a, double b, double scale) {
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-8 * (1 + scale);
}

// What differs from what is expected, in words; NULL: nothing. Floats have fewer digits.
static const char *difference(const Bisect *z, Arena *a, const Func *f, int code, const char *error, const Tensor *out) {
    if (!code != !z->code) return code ? error : "there is no error, as there should be";
    for (int k = 0; !code && k < f->noutputs; k++) {
        const Tensor *want = &z->expected[k];
        double scale = 0;
        for (int64_t i = 0; i < tensor_count(want); i++)
            if (isfinite(tensor_get(want, i))) scale = fmax(scale, fabs(tensor_get(want, i)));
        if (want->kind == KIND_FLOAT) scale = 1e4 * (1 + scale);
        for (int64_t i = 0; i < tensor_count(want); i++) {
            double got = tensor_get(&out[k], i), wanted = tensor_get(want, i);
            if (!near(got, wanted, scale))
                return arena_printf(a, "element %" PRId64 " of result %d is %.10g, not %.10g", i, k, got, wanted);
        }
    }
    return NULL;
}

static void note_wrong(Report *r, const char *why) {
    if (!why || r->wrong) return;
    r->wrong = true;
    snprintf(r->why, sizeof r->why, "%s", why);
}

static double cpu_seconds(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double object_bytes(const Bisect *z, Compilation *c, FuncList funcs, Tree *const *trees) {
    struct stat st = {0};
    CpuModule *m = compile_module(c, funcs, trees, false);
    if (m && cpu_write_object(m, c->diag, z->object) && stat(z->object, &st)) st.st_size = 0;
    cpu_delete(m);
    return (double)st.st_size;
}

// The executor tells whether a wrong result is the loop tree's or the back end's.
static void run_result(const Bisect *z, Compilation *c, FuncList funcs, Tree *const *trees, Report *r) {
    const Func *f = funcs.f[0];
    const char *error = NULL;
    Tensor *out = ARENA_ARRAY(c->arena, Tensor, f->noutputs + 1);
    int code = tree_exec(c->arena, trees[0], z->inputs, out, NULL, &error);
    note_wrong(r, difference(z, c->arena, f, code, error, out));
    r->tree_wrong = r->wrong;
    if (c->opt->engine != ENGINE_JIT) return;
    CpuModule *m = compile_module(c, funcs, trees, true);
    CpuJit *jit = m ? cpu_jit(m, c->diag) : NULL;
    if (!jit) note_wrong(r, "it does not compile");
    if (!jit) return;
    out = ARENA_ARRAY(c->arena, Tensor, f->noutputs + 1);
    code = cpu_call(c->arena, jit, f, z->inputs, out, &error);
    note_wrong(r, difference(z, c->arena, f, code, error, out));
}

static void measure(const Bisect *z, Compilation *c, FuncList funcs, Tree *const *trees, double before, Report *r) {
    const char *error = NULL;
    Counts counts = {0};
    Tensor *out = ARENA_ARRAY(c->arena, Tensor, funcs.f[0]->noutputs + 1);
    switch (c->opt->by) {
    case BY_RESULT: run_result(z, c, funcs, trees, r); break;
    case BY_SIZE: r->measure = object_bytes(z, c, funcs, trees); break;
    case BY_TIME: (void)object_bytes(z, c, funcs, trees), r->measure = cpu_seconds() - before; break;
    case BY_OPERATIONS:
        tree_exec(c->arena, trees[0], z->inputs, out, &counts, &error);
        r->measure = (double)(counts.work + counts.loads + counts.stores + counts.iterations);
    }
}

// What a try prints of the program, as the steps have left it.
typedef enum Print { PRINT_NOTHING, PRINT_VALUES, PRINT_LOOPS } Print;

static void print_program(FuncList funcs, Tree *const *trees, Print what) {
    Str text = {0};
    if (what == PRINT_LOOPS) tree_print(&text, trees[0]);
    else ir_print(&text, funcs.positive && funcs.positive[0] ? funcs.positive[0] : funcs.f[0]);
    fputs(str_text(&text), stdout);
    fflush(stdout);
    str_free(&text);
}

typedef struct Try {
    const Bisect *z;
    Options opt;
    Print print;
    Report *report; // shared with the process that started this one
    Arena *arena;
} Try;

static void note_step(void *data, const RulesDone *now) {
    Try *t = data;
    Report *r = t->report;
    r->steps = now->steps, r->pass = now->pass;
    snprintf(r->last, sizeof r->last, "%s", now->last);
    snprintf(r->at, sizeof r->at, "%s", diag_line(t->arena, now->at));
}

static int compile_and_look(void *data) {
    Try *t = data;
    double before = cpu_seconds();
    Compilation *c = compile_new(&t->opt);
    FuncList funcs = {0};
    t->arena = c->arena, c->machine = t->z->c->machine;
    rules_watch(c->rules, note_step, t);
    if (!compile_load(c, t->z->src) || !compile_funcs(c, false, &funcs)) return EXIT_USER;
    compile_passes(c, &funcs, true);
    Tree **trees = compile_trees(c, funcs);
    if (t->print) print_program(funcs, trees, t->print);
    else measure(t->z, c, funcs, trees, before, t->report);
    t->report->done = true;
    return 0;
}

static _Noreturn void try_here(const Bisect *z, int64_t steps, Print print, Report *report) {
    Try t = {.z = z, .opt = *z->c->opt, .print = print, .report = report};
    int code = 0;
    t.opt.fuel = steps;
    setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (!freopen("/dev/null", "w", stderr) || compile_guarded(compile_and_look, &t, &code)) _exit(EXIT_INTERNAL);
    _exit(code);
}

// A try with so many steps. One that crashes is wrong; its steps are those that it came to.
static Report try_steps(const Bisect *z, int64_t steps, Print print) {
    Report *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;
    if (shared == MAP_FAILED) diag_out_of_memory();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) try_here(z, steps, print, shared);
    if (child < 0) fatal_bug("no process can be started: %s", strerror(errno));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    Report r = *shared;
    munmap(shared, sizeof *shared);
    if (r.done) return r;
    r.wrong = true, r.measure = INFINITY;
    if (WIFSIGNALED(status)) snprintf(r.why, sizeof r.why, "the compiler, or what it made, ends by signal %d", WTERMSIG(status));
    else snprintf(r.why, sizeof r.why, "the compiler reports a bug of its own");
    return r;
}

// ---- the search

static bool is_bad(const Report *r, const Options *o, double limit) {
    return o->by == BY_RESULT ? r->wrong : !r->done || r->measure > limit;
}

static void print_measure(const Options *o, const char *when, const Report *r) {
    static const char *const units[] = {"", "bytes", "s", "operations, moves and iterations"};
    if (o->by != BY_RESULT) printf("%s: %.4g %s\n", when, r->measure, units[o->by]);
    else printf("%s: %s\n", when, r->wrong ? r->why : "right");
}

static void print_found(const Bisect *z, int64_t step, const Report *before, const Report *after) {
    const Options *o = z->c->opt;
    bool loops = after->pass && loop_pass_find(after->last);
    printf("step %" PRId64 ": %s `%s`%s%s\n", step, !after->pass ? "rule" : loops ? "pass over loop trees" : "pass over values",
           after->last, *after->at ? ", at " : "", after->at);
    print_measure(o, "before it", before);
    print_measure(o, "after it", after);
    if (o->by == BY_RESULT && after->done && o->engine == ENGINE_JIT)
        printf("the loop tree is %s by the executor%s\n", after->tree_wrong ? "wrong" : "right",
               after->tree_wrong ? "" : ": the back end, or LLVM, is what goes wrong after that step");
    puts("--- the program before it");
    // As many steps as before it, printed in the form of what the step changes.
    try_steps(z, step - 1, loops ? PRINT_LOOPS : PRINT_VALUES);
    puts("--- and after it");
    try_steps(z, step, loops ? PRINT_LOOPS : PRINT_VALUES);
}

// The least number of steps in (good, bad] that is bad.
static void search(const Bisect *z, double limit, int64_t good, Report before, int64_t bad, Report after) {
    while (bad - good > 1) {
        int64_t middle = good + (bad - good) / 2;
        Report r = try_steps(z, middle, PRINT_NOTHING);
        if (is_bad(&r, z->c->opt, limit)) bad = middle, after = r;
        else good = middle, before = r;
    }
    print_found(z, bad, &before, &after);
}

static void bisect(const Bisect *z) {
    const Options *o = z->c->opt;
    Report none = try_steps(z, 0, PRINT_NOTHING), all = try_steps(z, ALL_STEPS, PRINT_NOTHING);
    double limit = sqrt(fmax(none.measure, 1e-9) * fmax(all.measure, 1e-9));
    printf("%" PRId64 " steps\n", all.steps);
    if (o->by != BY_RESULT && all.measure <= 1.5 * none.measure) {
        print_measure(o, "with no step", &none);
        print_measure(o, "with all", &all);
        puts("it does not jump");
    } else if (is_bad(&none, o, limit)) {
        printf("with no step at all: %s\n", none.why);
    } else if (!is_bad(&all, o, limit)) {
        puts("the result is right");
    } else {
        search(z, limit, 0, none, all.steps, all);
    }
}

void command_bisect(Compilation *c) {
    unsetenv("FSMC_CACHE"); // each try compiles
    Bisect z = {.c = c, .src = file_read(c->arena, c->diag, c->opt->file)};
    FuncList raw = {0};
    const char *error = NULL;
    if (!z.src || !compile_load(c, z.src) || !compile_funcs(c, true, &raw) || !compile_externs(c, raw)) return;
    z.inputs = args_read(c, raw.f[0]);
    if (!z.inputs) return;
    z.expected = ARENA_ARRAY(c->arena, Tensor, raw.f[0]->noutputs + 1);
    compile_stage(c, "interpret");
    z.code = interp_run(c->arena, raw.f[0], z.inputs, z.expected, NULL, &error);
    compile_stage(c, "bisect");
    bool objects = c->opt->by == BY_SIZE || c->opt->by == BY_TIME;
    if (objects && !file_temporary(c->arena, "fsmc-", ".o", &z.object)) {
        diag_error(c->diag, nowhere, "cannot write `%s`: %s", z.object, strerror(errno));
        return;
    }
    bisect(&z);
    if (objects) unlink(z.object);
}
