#define _POSIX_C_SOURCE 200809L
#include "driver/compile.h"

#include "driver/file.h"
#include "driver/passes.h"
#include "front/elab.h"
#include "front/infer.h"
#include "ir/extern.h"
#include "lower/loop_passes.h"
#include "pass/pass.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- stages

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

void compile_stage(Compilation *c, const char *name) {
    double now = now_ms();
    if (c->stages.len && c->started > 0) vec_last(&c->stages).ms += now - c->started;
    c->started = name ? now : 0;
    if (!name) return;
    diag_current_pass = name;
    const char *bug = getenv("FSMC_TEST_BUG"); // tests look at how a bug is reported
    if (bug && !strcmp(bug, name)) fatal_bug("FSMC_TEST_BUG asks for this");
    if (!c->stages.len || strcmp(vec_last(&c->stages).name, name)) vec_push(&c->stages, ((Stage){name, 0}));
}

void compile_print_stages(const Compilation *c, Str *out) {
    double total = 0;
    for (int i = 0; i < c->stages.len; i++) {
        const Stage *s = &c->stages.data[i];
        bool first = true;
        double ms = 0;
        for (int k = 0; k < c->stages.len; k++)
            if (!strcmp(c->stages.data[k].name, s->name)) ms += c->stages.data[k].ms, first &= k >= i;
        total += s->ms;
        if (first) str_printf(out, "%10.3f ms  %s\n", ms, s->name);
    }
    str_printf(out, "%10.3f ms  in all\n", total);
}

// ---- the pipeline

Compilation *compile_new(const Options *opt) {
    Arena *a = arena_new();
    Compilation *c = ARENA_NEW(a, Compilation);
    *c = (Compilation){.opt = opt, .arena = a, .diag = diag_new(a), .machine = machine_default};
    if (opt->explain) c->explain = explain_new(a, opt->explain);
    bool noting = explain_wants(c->explain, EXPLAIN_RULES), limited = opt->fuel >= 0;
    for (int k = 0; k < RULE_COUNT; k++) limited |= opt->rules_off[k];
    if (limited || noting) c->rules = rules_new(a, opt->rules_off, opt->fuel, noting);
    diag_set_limit(c->diag, opt->error_limit);
    for (int i = 0; i < WARNING_COUNT; i++) diag_set_warning(c->diag, (Warning)i, opt->warn[i], opt->werror || opt->warn_error[i]);
    return c;
}

void compile_delete(Compilation *c) {
    if (!c) return;
    for (int i = 0; i < c->irs.len; i++) ir_delete(c->irs.data[i]);
    for (int i = 0; i < c->trees.len; i++) tree_free(c->trees.data[i]);
    vec_free(&c->irs);
    vec_free(&c->trees);
    vec_free(&c->stages);
    str_free(&c->dumped);
    explain_delete(c->explain);
    rules_delete(c->rules);
    diag_delete(c->diag);
    arena_free(c->arena);
}

bool compile_ok(const Compilation *c) { return !diag_errors(c->diag); }

static bool ends_in(const char *name, const char *suffix) {
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && !strcmp(name + n - k, suffix);
}

bool compile_is_ir(const Source *src) { return ends_in(src->name, ".ir"); }
bool compile_is_tree(const Source *src) { return ends_in(src->name, ".tree"); }

bool compile_open(Compilation *c, const Source *src) {
    c->src = src;
    if (compile_is_ir(src) || compile_is_tree(src)) return true;
    compile_stage(c, "parse");
    Unit *u = module_load(c->arena, c->diag, src, c->opt->include.data, c->opt->include.len);
    c->unit = u;
    return !diag_errors(c->diag);
}

bool compile_load(Compilation *c, const Source *src) {
    compile_open(c, src);
    if (!c->unit) return !diag_errors(c->diag);
    compile_stage(c, "infer");
    c->program = infer_program(c->unit, c->opt->entries.len, c->opt->entries.data);
    if (!diag_errors(c->diag)) return true;
    // What other entries have for errors of sizes is worth knowing too.
    compile_stage(c, "elaborate");
    Ir *m = ir_new(c->arena);
    vec_push(&c->irs, m);
    int n;
    elab_program(m, c->program, &n);
    return false;
}

static bool verifying(const Compilation *c) {
#ifdef __OPTIMIZE__
    return c->opt->level < 3 || c->opt->verify;
#else
    (void)c;
    return true;
#endif
}

static bool is_dumped(const Compilation *c, const char *pass) {
    const char *wanted = c->opt->dump_after;
    return wanted && (!strcmp(wanted, "all") || !strcmp(wanted, pass));
}

static void dump(const Compilation *c, const char *pass, const Func *f, bool changed) {
    if (!is_dumped(c, pass)) return;
    Str text = {0};
    str_printf(&text, "// %s%s after %s%s\n", f->name, f->ir->positive ? " for sizes >= 1" : "", pass,
               changed ? "" : " (unchanged)");
    if (changed) ir_print(&text, f);
    fwrite(text.data, 1, text.len, stderr);
    str_free(&text);
}

// The tree as it is now, unless it is what was dumped before it; `first`: it has just been made.
static void dump_tree(Compilation *c, const char *pass, const Tree *t, bool first) {
    if (!is_dumped(c, pass)) return;
    Str text = {0};
    tree_print(&text, t);
    bool changed = first || strcmp(str_text(&text), str_text(&c->dumped));
    fprintf(stderr, "// %s after %s%s\n%s", t->func->name, pass, changed ? "" : " (unchanged)", changed ? str_text(&text) : "");
    str_free(&text);
}

// What the rules that make values, and those that make loops, are to keep to.
static void set_modes(Compilation *c, Ir *m, bool raw) {
    m->raw = raw;
    m->keep_customs = c->keep_customs, m->primal = c->primal;
    m->whole_loops = !raw;
    m->strict = c->opt->fp == CPU_FP_PRECISE;
    m->fast = c->opt->fp == CPU_FP_FAST;
    m->debug_nan = c->opt->debug_nan;
    m->bounds = c->opt->check_bounds == WHEN_ALWAYS ? BOUNDS_ALWAYS : BOUNDS_AUTO;
    if (c->opt->check_bounds == WHEN_NEVER && c->opt->engine != ENGINE_EXEC) m->bounds = BOUNDS_NEVER;
    m->strict_nan = c->opt->strict_nan;
    m->tape_limit = c->opt->tape_limit;
    m->tape_whole = (int64_t)(c->opt->target == TARGET_CUDA ? c->machine.device_tape : c->machine.tape);
    bool blocks = !m->strict && c->opt->target != TARGET_CUDA; // of products of matrices (lower/contract.c)
    for (int i = 0; i < c->opt->npasses && blocks; i++) m->ahead |= !strcmp(c->opt->passes[i]->name, "ahead");
    if (!raw) m->explain = c->explain, m->rules = c->rules;
}

// The functions of loop trees.
static FuncList read_trees(Compilation *c) {
    FuncList all = {0};
    int n = 0;
    if (!c->read) c->read = tree_read(c->arena, c->diag, c->src, &n);
    for (int i = 0; i < n; i++) {
        Tree *t = c->read[i];
        vec_push(&c->trees, t);
        set_modes(c, t->ir, false);
        if (t->otherwise) set_modes(c, t->otherwise->ir, false);
        if (t->sizes) set_modes(c, t->sizes->ir, false);
        else t->sizes = lower_sizes(c->arena, tree_given(t));
    }
    if (!c->read) return all;
    all.n = c->trees.len;
    all.f = ARENA_ARRAY(c->arena, Func *, all.n + 1);
    for (int i = 0; i < all.n; i++) {
        const Func *f = tree_given(c->trees.data[i]);
        all.f[i] = arena_copy(c->arena, f, sizeof *f);
    }
    return all;
}

// The functions of a text that is no program, only those that are wanted.
static FuncList read_funcs(Compilation *c, Ir *m) {
    FuncList all = {0};
    compile_stage(c, "read");
    if (compile_is_tree(c->src)) all = read_trees(c);
    else all.f = ir_read(m, c->diag, c->src, &all.n);
    int count = c->opt->entries.len;
    if (!all.f || !count) return all;
    FuncList wanted = {0, ARENA_ARRAY(c->arena, Func *, all.n + 1), NULL};
    Tree **read = c->read ? ARENA_ARRAY(c->arena, Tree *, all.n + 1) : NULL;
    bool *found = ARENA_ARRAY(c->arena, bool, count);
    for (int i = 0; i < all.n; i++) {
        bool any = false;
        for (int k = 0; k < count; k++)
            if (!strcmp(all.f[i]->name, c->opt->entries.data[k])) any = found[k] = true;
        if (any && read) read[wanted.n] = c->trees.data[i];
        if (any) wanted.f[wanted.n++] = all.f[i];
    }
    c->read = read;
    for (int k = 0; k < count; k++)
        if (!found[k])
            diag_error(c->diag, nowhere, "there is no function `%s` in `%s`", c->opt->entries.data[k], c->src->name);
    return wanted;
}

bool compile_funcs(Compilation *c, bool raw, FuncList *out) {
    Ir *m = ir_new(c->arena);
    *out = (FuncList){0};
    vec_push(&c->irs, m);
    set_modes(c, m, raw);
    if (c->program) {
        compile_stage(c, "elaborate");
        out->f = elab_program(m, c->program, &out->n);
    } else {
        *out = read_funcs(c, m);
    }
    if (!compile_ok(c)) return false;
    for (int i = 0; i < out->n && !c->read; i++) {
        if (verifying(c) && !c->keep_customs) ir_verify(out->f[i]);
        if (!raw) dump(c, "elaborate", out->f[i], true);
    }
    return true;
}

// The version of f for usual arguments, if that can matter: see lower_func.
static Func *assume_positive(Compilation *c, const Func *f) {
    compile_stage(c, "assume-positive");
    Func *g = pass_assume_positive(f, c->opt->target != TARGET_CUDA);
    if (g) vec_push(&c->irs, g->ir);
    return g;
}

// Decisions about f are to be explained if it `counts`: not if it is only for sizes of 0.
static void explain_of(Compilation *c, const Func *f, bool counts) {
    explain_entry(c->explain, f->name);
    f->ir->explain = counts ? c->explain : NULL;
}

// f: funcs->f or funcs->positive.
static void run_pass(Compilation *c, const Pass *p, const FuncList *funcs, Func *const *f) {
    for (int i = 0; i < funcs->n; i++) {
        if (!f[i] || !rules_step(f[i]->ir->rules, p->name, f[i]->span)) continue;
        compile_stage(c, p->name);
        f[i]->ir->entry = i;
        explain_of(c, f[i], !funcs->positive || !funcs->positive[i] || f != funcs->f);
        bool changed = pass_run(p, f[i]);
        if (verifying(c)) ir_verify(f[i]);
        dump(c, p->name, f[i], changed);
    }
}

// Plans and limits for traces that were not kept to.
static void warn_whole(Compilation *c) {
    VEC(Span) told = {0};
    for (int i = 0; i < c->irs.len; i++) {
        for (const WholeTrace *w = c->irs.data[i]->whole; w; w = w->next) {
            bool first = true;
            for (int k = 0; k < told.len; k++) first &= told.data[k].src != w->span.src || told.data[k].begin != w->span.begin;
            if (!first) continue;
            vec_push(&told, w->span);
            diag_warning(c->diag, WARN_IDLE_ATTRIBUTE, w->span,
                         "the whole trace of this loop is kept: not only one loop backwards reads it");
        }
    }
    vec_free(&told);
}

void compile_passes(Compilation *c, FuncList *funcs, bool plan) {
    const Options *o = c->opt;
    if (c->read) return;
    int simple = 0; // passes before the first that decides what is kept, or arranges for loops
    while (simple < o->npasses && !(o->passes[simple]->establishes & (PASS_KEPT | PASS_PLANNED))) simple++;
    for (int k = 0; k < simple; k++) run_pass(c, o->passes[k], funcs, funcs->f);
    for (int k = simple; k < o->npasses && !plan; k++)
        if (!((o->passes[k]->requires | o->passes[k]->establishes) & PASS_PLANNED)) run_pass(c, o->passes[k], funcs, funcs->f);
    if (!plan || !o->npasses) return;
    funcs->positive = ARENA_ARRAY(c->arena, Func *, funcs->n + 1);
    for (int i = 0; i < funcs->n; i++) funcs->positive[i] = assume_positive(c, funcs->f[i]);
    for (int k = 0; k < o->npasses; k++) {
        if (k >= simple) run_pass(c, o->passes[k], funcs, funcs->f);
        run_pass(c, o->passes[k], funcs, funcs->positive);
    }
    warn_whole(c);
}

// The name of a C function that statements call and that is not there; NULL: there is none.
static const char *missing_in(const Block *block) {
    const char *missing = NULL;
    for (int i = 0; block && i < block->stmts.len && !missing; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_EXTERN && !extern_find(s->u.name)) return s->u.name;
        missing = missing_in(s->body);
        if (!missing) missing = missing_in(s->other);
    }
    return missing;
}

bool compile_externs(Compilation *c, FuncList funcs) {
    const char *why = NULL;
    for (int i = 0; i < c->opt->load.len; i++)
        if (!extern_load(c->opt->load.data[i], &why)) {
            diag_error(c->diag, nowhere, "cannot load the library `%s`: %s", c->opt->load.data[i], why);
            return false;
        }
    const char *missing = extern_missing(funcs.n, funcs.f);
    for (int i = 0; c->read && i < funcs.n && !missing; i++) missing = missing_in(c->read[i]->body);
    if (missing)
        diag_error(c->diag, nowhere,
                   "there is no C function `%s` in libm or a library given by --load; an `extern` declares it", missing);
    return !missing;
}

static const char *target_cpu(const Options *o) { return o->cpu ? o->cpu : o->command == COMMAND_COMPILE ? "baseline" : "native"; }

// Attributes of loops that were not followed.
static void warn_wishes(Compilation *c, const Ir *m) {
    for (Wish *w = m->wishes; w; w = w->next) {
        const char *why = wish_refused(m, w);
        bool told = false;
        for (Wish *o = m->wishes; o != w; o = o->next)
            told |= o->kind == w->kind && o->span.begin == w->span.begin && o->span.src == w->span.src;
        if (why && !told)
            diag_warning(c->diag, WARN_IDLE_ATTRIBUTE, w->span, "`%s` is not followed: %s", wish_info[w->kind].name, why);
    }
}

// What `fsmc cost` counts is the same on every machine: as with AVX2.
enum { COUNTED_REGISTERS = 16, COUNTED_WIDTH = 4 };

static LoopOptions loop_options(const Compilation *c) {
    const Options *o = c->opt;
    LoopOptions how = {.precise = o->fp == CPU_FP_PRECISE,
                       .fast = o->fp == CPU_FP_FAST,
                       .always = o->lanes_always,
                       .machine = &c->machine,
                       .gpu = o->target == TARGET_CUDA,
                       .code_size = o->code_size,
                       .atomics = o->fast_atomics};
    how.scheduled = o->level >= 2 && !how.gpu, how.lanes = o->lanes;
    how.threads = how.scheduled && o->threads >= 0, how.threads_always = o->threads_always;
    if (!how.scheduled || !o->lanes) return how;
    bool counted = o->command == COMMAND_COST;
    int width = counted ? COUNTED_WIDTH : cpu_width(target_cpu(o));
    how.registers = counted ? COUNTED_REGISTERS : cpu_registers(target_cpu(o));
    how.width = o->lanes > 0 ? o->lanes : width;
    how.roots = o->fp == CPU_FP_FAST && how.width >= 4 && width == how.width;
    how.shared = how.roots && how.width == 4;
    how.gathers = !counted && how.width >= 8 && cpu_gathers(target_cpu(o));
    return how;
}

// Tests look at how a wrong pass is found: the first product of floating numbers becomes a sum.
static bool spoil(const Tree *t, Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        bool product = s->kind == ST_OP && s->op == OP_mul && kind_is_float(t->temps.data[s->dst].kind);
        if (product) s->op = OP_add;
        if (product || spoil(t, s->body) || spoil(t, s->other)) return true;
    }
    return false;
}

static void before_loop_pass(void *data, const LoopPass *p, Tree *t) {
    Compilation *c = data;
    str_free(&c->dumped);
    if (is_dumped(c, p->name)) tree_print(&c->dumped, t);
    compile_stage(c, p->name);
}

static void after_loop_pass(void *data, const LoopPass *p, Tree *t) {
    Compilation *c = data;
    const char *wrong = getenv("FSMC_TEST_WRONG");
    if (wrong && !strcmp(wrong, p->name)) spoil(t, t->body);
    if (verifying(c)) tree_verify(t);
    dump_tree(c, p->name, t, false);
    if (c->after_loop_pass) c->after_loop_pass(c->after_data, p, t);
}

// Trees that were read are as they were when they were written, but for the passes that are named; only the trees of the extents of
// results, which texts leave out, are made afresh.
static Tree **pass_over_read(Compilation *c, int n, const LoopOptions *how, LoopPassHook hook) {
    const LoopPass *tidy[PASS_MAX];
    int ntidy = 0;
    for (const LoopPass *p = loop_passes; p->name; p++)
        if (p->when & VERSIONS) tidy[ntidy++] = p;
    for (int i = 0; i < n; i++) {
        Tree *t = c->read[i];
        if (t->sizes) loop_passes_run(c->arena, t->sizes, how, ntidy, tidy, (LoopPassHook){0});
        if (c->opt->loops_listed) loop_passes_run(c->arena, t, how, c->opt->nloop_passes, c->opt->loop_passes, hook);
    }
    return c->read;
}

Tree **compile_trees(Compilation *c, FuncList funcs) {
    const Options *o = c->opt;
    const LoopPassHook hook = {before_loop_pass, after_loop_pass, c};
    Tree **trees = ARENA_ARRAY(c->arena, Tree *, funcs.n + 1);
    LoopOptions how = loop_options(c);
    bool cuda = o->target == TARGET_CUDA;
    if (c->read) return pass_over_read(c, funcs.n, &how, hook);
    for (int i = 0; i < funcs.n; i++) {
        compile_stage(c, "lower");
        bool positive = funcs.positive && funcs.positive[i];
        if (positive) explain_of(c, funcs.positive[i], true);
        explain_of(c, funcs.f[i], !positive);
        funcs.f[i]->ir->entry = i;
        trees[i] = lower_func(c->arena, funcs.f[i], funcs.positive ? funcs.positive[i] : NULL);
        vec_push(&c->trees, trees[i]);
        if (verifying(c)) tree_verify(trees[i]);
        dump_tree(c, "lower", trees[i], true);
        loop_passes_run(c->arena, trees[i], &how, o->nloop_passes, o->loop_passes, hook);
    }
    if (o->level >= 2 && o->lanes && funcs.n && !cuda) warn_wishes(c, funcs.f[0]->ir);
    return trees;
}

CpuModule *compile_module(Compilation *c, FuncList funcs, Tree *const *trees, bool callable) {
    const Options *o = c->opt;
    compile_stage(c, "emit");
    CpuOptions cpu = {.level = o->level,
                      .cpu = target_cpu(o),
                      .fp = o->fp,
                      .name = file_base(c->src->name),
                      .callable = callable,
                      .debug = o->debug,
                      .lanes = o->lanes,
                      .threads = o->threads,
                      .jobs = o->jobs,
                      .kept = cache_of_environment(&c->kept) ? &c->kept : NULL,
                      .cache = (int64_t)c->machine.cache};
    return cpu_emit(c->arena, c->diag, funcs.n, trees, &cpu);
}

// ---- the error boundary

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SMALL_STACK
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define SMALL_STACK
#endif

// Memory is only taken for what is used of a stack.
#ifdef SMALL_STACK
static const size_t stack_sizes[] = {(size_t)64 << 20};
#else
static const size_t stack_sizes[] = {(size_t)1 << 30, (size_t)256 << 20, (size_t)64 << 20};
#endif

typedef struct Guarded {
    int (*job)(void *data);
    void *data;
    int *result;
    int left; // DiagExit
} Guarded;

static void *run_guarded(void *p) {
    Guarded *g = p;
    jmp_buf boundary;
    switch (setjmp(boundary)) {
    case 0:
        diag_set_boundary(&boundary);
        *g->result = g->job(g->data);
        break;
    case DIAG_EXIT_BUG: g->left = DIAG_EXIT_BUG; break;
    default: g->left = DIAG_EXIT_MEMORY;
    }
    diag_set_boundary(NULL);
    return NULL;
}

int compile_guarded(int (*job)(void *data), void *data, int *result) {
    Guarded g = {job, data, result, 0};
    for (size_t i = 0; i < sizeof stack_sizes / sizeof *stack_sizes; i++) {
        pthread_attr_t attr;
        pthread_t thread;
        if (pthread_attr_init(&attr)) break;
        int error = pthread_attr_setstacksize(&attr, stack_sizes[i]);
        if (!error) error = pthread_create(&thread, &attr, run_guarded, &g);
        pthread_attr_destroy(&attr);
        if (!error) {
            pthread_join(thread, NULL);
            return g.left;
        }
    }
    fputs("fsmc: cannot start a thread\n", stderr);
    return DIAG_EXIT_MEMORY;
}
