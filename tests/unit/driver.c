// The pipeline as a library: stages one by one, the error boundary, the table of passes, options.
#define _POSIX_C_SOURCE 200809L
#include "driver/driver.h"
#include "driver/passes.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(const char *name, bool ok, const char *why) {
    if (ok) printf("ok %s\n", name);
    else printf("not ok %s: %s\n", name, why);
}

static const Source *source(Arena *a, const char *name, const char *text) {
    Source *s = ARENA_NEW(a, Source);
    *s = (Source){name, text, strlen(text)};
    return s;
}

// ---- the error boundary

static int returns_seven(void *data) {
    (void)data;
    return 7;
}

static int breaks(void *data) {
    diag_current_pass = "test";
    fatal_bug("%s", (const char *)data);
}

static int runs_out(void *data) {
    (void)data;
    diag_out_of_memory();
}

static int deep(int n, volatile char *above) {
    volatile char frame[1000];
    frame[0] = above ? above[0] : 1;
    return n ? deep(n - 1, frame) + frame[0] : frame[0];
}

static int recurses(void *data) { return deep(*(int *)data, NULL) & 1; }

static void quietly(int (*job)(void *), void *data, int *left, int *result) {
    fflush(stderr);
    int keep = dup(2);
    FILE *sink = freopen("/dev/null", "w", stderr);
    *left = compile_guarded(job, data, result);
    fflush(stderr);
    dup2(keep, 2);
    close(keep);
    (void)sink;
}

static void test_boundary(void) {
    int result = 0, left, n = 20000;
    left = compile_guarded(returns_seven, NULL, &result);
    check("a job's result", left == 0 && result == 7, "not 7");
    quietly(breaks, "on purpose", &left, &result);
    check("a broken invariant", left == DIAG_EXIT_BUG, "not caught");
    quietly(runs_out, NULL, &left, &result);
    check("no memory", left == DIAG_EXIT_MEMORY, "not caught");
    left = compile_guarded(returns_seven, NULL, &result);
    check("a job after failures", left == 0 && result == 7, "not 7");
    left = compile_guarded(recurses, &n, &result);
    check("deep recursion", left == 0 && result == (n + 1) % 2, "wrong result");
}

// ---- passes

static void test_passes(void) {
    unsigned have = 0;
    bool ordered = true, documented = true, found = true;
    for (const Pass *p = pass_table; p->name; p++) {
        ordered &= !(p->requires & ~have);
        have |= p->establishes;
        documented &= p->help && *p->help;
        found &= pass_find(p->name) == p;
    }
    check("the order of passes", ordered, "a pass comes before what it requires");
    check("the help of passes", documented, "a pass has none");
    check("names of passes", found && !pass_find("no such pass"), "not found by name");
}

static void test_loop_passes(void) {
    unsigned have = 0;
    bool ordered = true, documented = true, found = true, apart = true;
    for (const LoopPass *p = loop_passes; p->name; p++) {
        ordered &= !(p->requires & ~have);
        have |= p->establishes;
        documented &= p->help && *p->help;
        found &= loop_pass_find(p->name) == p && !p->run != !p->run_loop;
        apart &= !pass_find(p->name);
    }
    check("the order of passes over loop trees", ordered, "a pass comes before what it requires");
    check("the help of passes over loop trees", documented, "a pass has none");
    check("names of passes over loop trees", found && !loop_pass_find("no such pass"), "not found by name");
    check("names of all passes", apart, "a pass over loop trees is named like one over values");
}

static void test_loop_pass_options(void) {
    LoopOptions cpu = {.scheduled = true, .lanes = true}, gpu = {.gpu = true}, precise = {.precise = true};
    check("tile applies", loop_pass_applies(loop_pass_find("tile"), &cpu), "not on a CPU at -O2");
    check("tile on a GPU", !loop_pass_applies(loop_pass_find("tile"), &gpu), "it is for CPUs");
    check("grids apply", loop_pass_applies(loop_pass_find("grids"), &gpu), "not on a GPU");
    check("steps keep the order of sums", !loop_pass_applies(loop_pass_find("steps"), &precise), "also with --fp=precise");
    check("horner is for --fp=fast", !loop_pass_applies(loop_pass_find("horner"), &cpu), "also without");
}

// ---- options

static bool parse_options(Options *o, const char *words) {
    static char copy[8][256];
    static char *argv[16];
    static int turn;
    char *text = copy[turn++ % 8];
    int argc = 1;
    argv[0] = "fsmc";
    snprintf(text, 256, "%s", words);
    for (char *w = strtok(text, " "); w && argc < 16; w = strtok(NULL, " ")) argv[argc++] = w;
    Str message = {0};
    options_init(o);
    bool ok = options_parse(o, argc, argv, &message);
    if (ok == (message.len > 0)) ok = !ok; // a failure has a message, a success has none
    str_free(&message);
    return ok;
}

static void test_options(void) {
    Options o;
    bool ok = parse_options(&o, "-O3 -I a -Ib --emit llvm --fp=fast f.fsm -o out.ll");
    check("options of compiling",
          ok && o.level == 3 && o.include.len == 2 && !strcmp(o.include.data[1], "b") && o.emit == 1u << EMIT_LLVM &&
              o.fp == CPU_FP_FAST && !strcmp(o.file, "f.fsm") && !strcmp(o.output, "out.ll"),
          "not as written");
    options_free(&o);
    ok = parse_options(&o, "run --exec f.fsm g x=1 y=-2 --passes=");
    check("options of run",
          ok && o.command == COMMAND_RUN && o.engine == ENGINE_EXEC && o.words.len == 2 && o.entries.len == 1 &&
              !strcmp(o.entries.data[0], "g") && o.npasses == 0,
          "not as written");
    options_free(&o);
    ok = parse_options(&o, "-- run");
    check("a file named as a command", ok && o.command == COMMAND_COMPILE && !strcmp(o.file, "run"), "not as written");
    options_free(&o);
    ok = parse_options(&o, "check --disable-pass=simplify f.fsm");
    check("an option of another command", !ok, "accepted");
    options_free(&o);
    ok = parse_options(&o, "-O0 f.fsm");
    check("no passes at -O0", ok && o.npasses == 0, "there are some");
    options_free(&o);
}

// ---- the pipeline

static int pipeline(void *data) {
    const Options *o = data;
    Compilation *c = compile_new(o);
    FuncList raw = {0}, funcs = {0};
    int made = 0;
    if (compile_load(c, source(c->arena, "test.fsm", "entry f (x: Double[n]) = sum n (fun i -> 0.0 + x[i])\n")))
        made = compile_funcs(c, true, &raw) && compile_funcs(c, false, &funcs);
    if (made) {
        compile_passes(c, &funcs, true);
        Tree **trees = compile_trees(c, funcs);
        CpuModule *m = compile_module(c, funcs, trees, true);
        made = m && raw.f[0]->ir != funcs.f[0]->ir && raw.f[0]->ir->raw && !funcs.f[0]->ir->raw && compile_ok(c);
        cpu_delete(m);
    }
    compile_delete(c);
    return made;
}

static int rejected(void *data) {
    const Options *o = data;
    Compilation *c = compile_new(o);
    bool loaded = compile_load(c, source(c->arena, "test.fsm", "entry f (x: Double) = y\n"));
    int errors = diag_errors(c->diag);
    compile_delete(c);
    return !loaded && errors == 1;
}

static int textual(void *data) {
    const Options *o = data;
    Compilation *c = compile_new(o);
    FuncList funcs = {0};
    bool ok = compile_load(c, source(c->arena, "test.ir", "func f(x: f64) -> f64 { %1 = mul x x return %1 }\n")) &&
              compile_funcs(c, false, &funcs) && funcs.n == 1 && !strcmp(funcs.f[0]->name, "f");
    compile_delete(c);
    return ok;
}

static void run(const char *name, int (*job)(void *), Options *o) {
    int result = 0;
    check(name, compile_guarded(job, o, &result) == 0 && result, "failed");
}

// ---- the file written for a report

static int writes_reproducer(void *data) {
    Compilation *c = data;
    c->src = source(c->arena, "test.fsm", "entry f (x: Double) = x\n");
    driver_write_reproducer(c);
    return 0;
}

static void test_reproducer(void) {
    const char *folder = getenv("FSMC_TEST_TMP");
    if (!folder) {
        printf("skip a file for a report: FSMC_TEST_TMP is not set\n");
        return;
    }
    setenv("TMPDIR", folder, 1);
    Options o;
    options_init(&o);
    Compilation *c = compile_new(&o);
    int left, result;
    quietly(writes_reproducer, c, &left, &result);
    char pattern[1024], line[128] = "";
    snprintf(pattern, sizeof pattern, "%s/fsmc-bug-*", folder);
    glob_t found = {0};
    FILE *f = glob(pattern, 0, NULL, &found) == 0 ? fopen(found.gl_pathv[0], "r") : NULL;
    bool ok = false;
    while (f && fgets(line, sizeof line, f)) ok |= !strcmp(line, "entry f (x: Double) = x\n");
    if (f) fclose(f);
    globfree(&found);
    check("a file for a report", ok, "there is none with the source in it");
    compile_delete(c);
    options_free(&o);
}

int main(void) {
    test_boundary();
    test_reproducer();
    test_passes();
    test_loop_passes();
    test_loop_pass_options();
    test_options();
    Options o;
    options_init(&o);
    run("source to module", pipeline, &o);
    run("an error in a source", rejected, &o);
    run("textual IR", textual, &o);
    options_free(&o);
    return 0;
}
