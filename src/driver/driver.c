#define _POSIX_C_SOURCE 200809L
#include "driver/driver.h"

#include "driver/completion.h"
#include "driver/cost.h"
#include "driver/deps.h"
#include "driver/emit.h"
#include "driver/file.h"
#include "driver/help.h"
#include "driver/manual.h"
#include "driver/options_table.h"
#include "driver/passes.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- writing

// Reports an output that would replace a file that is needed.
static bool replaces(Compilation *c, const char *path, const char *needed, const char *what) {
    if (!strcmp(path, "-") || !emit_is_regular(path)) return false;
    if (strcmp(path, needed) && !file_same(path, needed)) return false;
    diag_error(c->diag, nowhere, "the output `%s` would replace %s", path, what);
    return true;
}

static bool replaces_source(Compilation *c, const char *path) {
    if (replaces(c, path, c->src->name, "the source")) return true;
    for (int i = 0; c->unit && i < c->unit->nmodules; i++) {
        const Module *m = c->unit->modules[i];
        if (!m->prelude && replaces(c, path, m->src->name, "an opened file")) return true;
    }
    return false;
}

// ---- commands

// Where the rule of dependencies goes, and what it is for: the targets that are named, else the files that are written.
typedef struct Deps {
    const char *file;
    int ntargets;
    const char *const *targets;
    const char *outputs[EMIT_FILES];
} Deps;

// False after reporting a file that the rule would replace.
static bool plan_deps(Compilation *c, Deps *d) {
    const Options *o = c->opt;
    *d = (Deps){.targets = d->outputs};
    d->ntargets = emit_files(c, d->outputs);
    const char *path = o->output ? o->output : file_base(c->src->name);
    d->file = o->deps_file ? o->deps_file : o->deps_only ? "-" : file_with_suffix(c->arena, path, ".d");
    for (int i = 0; i < d->ntargets && !o->deps_only; i++)
        if (replaces(c, d->file, d->outputs[i], "another output")) return false;
    if (o->deps_targets.len) d->targets = o->deps_targets.data, d->ntargets = o->deps_targets.len;
    return !replaces_source(c, d->file);
}

static void write_deps(Compilation *c, const Deps *d) {
    compile_stage(c, "dependencies");
    Str out = {0};
    if (deps_print(c, d->ntargets, d->targets, c->opt->deps_phony, &out)) file_write(c->diag, d->file, &out);
    str_free(&out);
}

static bool load(Compilation *c) {
    const Source *src = file_read(c->arena, c->diag, c->opt->file);
    return src && compile_load(c, src);
}

void command_compile(Compilation *c) {
    FuncList funcs = {0};
    Deps deps;
    if (c->opt->deps_only) {
        const Source *src = file_read(c->arena, c->diag, c->opt->file);
        if (src && compile_open(c, src) && plan_deps(c, &deps)) write_deps(c, &deps);
        return;
    }
    if (!load(c) || !compile_funcs(c, false, &funcs)) return;
    if (!funcs.n) {
        diag_error(c->diag, nowhere, "`%s` has no entry: nothing to compile", c->src->name);
        return;
    }
    const char *outputs[EMIT_FILES];
    for (int i = emit_files(c, outputs) - 1; i >= 0; i--)
        if (replaces_source(c, outputs[i])) return;
    if (c->opt->deps_too && !plan_deps(c, &deps)) return;
    emit_all(c, funcs);
    cost_explain(c);
    if (c->opt->deps_too && compile_ok(c)) write_deps(c, &deps);
}

void command_check(Compilation *c) {
    FuncList funcs = {0};
    if (load(c) && compile_funcs(c, false, &funcs)) cost_explain(c);
}

void command_parse(Compilation *c) {
    const Source *src = file_read(c->arena, c->diag, c->opt->file);
    if (!src) return;
    compile_stage(c, "parse");
    const Program *p = parse_program(c->arena, c->diag, src);
    if (diag_errors(c->diag)) return;
    Str out = {0};
    ast_print(&out, p);
    file_write(c->diag, "-", &out);
    str_free(&out);
}

// ---- all commands

static bool colored(const Options *opt) {
    if (opt->color != WHEN_AUTO) return opt->color == WHEN_ALWAYS;
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    return isatty(STDERR_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

static bool makes_loops(Command command) {
    for (int i = 0; i < option_row_count; i++)
        if (!option_rows[i].group && option_rows[i].id == OPTION_MACHINE) return option_rows[i].commands & 1u << command;
    return false;
}

// What the schedule assumes of the machine.
static bool load_machine(Compilation *c) {
    const char *named = makes_loops(c->opt->command) ? getenv("FSMC_MACHINE") : NULL;
    const char *file = c->opt->machine ? c->opt->machine : named && *named ? named : NULL;
    const Source *src = file ? file_read(c->arena, c->diag, file) : NULL;
    return !file || (src && machine_read(&c->machine, c->diag, src));
}

static int work(void *data) {
    Compilation *c = data;
    if (!load_machine(c)) return EXIT_USER;
    switch (c->opt->command) {
    case COMMAND_COMPILE: command_compile(c); break;
    case COMMAND_RUN: command_run(c); break;
    case COMMAND_COST: command_cost(c); break;
    case COMMAND_CHECK: command_check(c); break;
    case COMMAND_PARSE: command_parse(c); break;
    case COMMAND_GRADCHECK: command_gradcheck(c); break;
    case COMMAND_BISECT: command_bisect(c); break;
    case COMMAND_BENCH: command_bench(c); break;
    case COMMAND_TUNE: command_tune(c); break;
    case COMMAND_REPL: command_repl(c); break;
    case COMMAND_FMT: command_fmt(c); break;
    default: fatal_bug("command %d", (int)c->opt->command);
    }
    return compile_ok(c) ? EXIT_SUCCESS : EXIT_USER;
}

static void print_messages(Compilation *c) {
    Str out = {0};
    diag_print(c->diag, &out, colored(c->opt));
    explain_entry(c->explain, NULL); // what follows is about all of them
    rules_explain(c->rules, c->explain);
    explain_print(c->explain, &out);
    if (c->opt->time_passes) {
        compile_stage(c, NULL);
        compile_print_stages(c, &out);
    }
    fwrite(str_text(&out), 1, out.len, stderr);
    str_free(&out);
}

void driver_write_reproducer(const Compilation *c) {
    const char *suffix = ".fsm";
    if (c->src && compile_is_ir(c->src)) suffix = ".ir";
    if (c->src && compile_is_tree(c->src)) suffix = ".tree";
    char *path;
    FILE *f = c->src && file_temporary(c->arena, "fsmc-bug-", "", &path) ? fopen(path, "w") : NULL;
    if (!f) return;
    fprintf(f, "// fsmc failed in '%s'. Save as a file whose name ends in %s; the command line was\n//", diag_current_pass, suffix);
    for (int i = 0; i < c->opt->argv.len; i++) fprintf(f, " %s", c->opt->argv.data[i]);
    fprintf(f, "\n\n");
    fwrite(c->src->text, 1, c->src->len, f);
    if (!fclose(f)) fprintf(stderr, "fsmc: this is a bug of fsmc; please report it with the file %s\n", path);
}

// ---- texts about fsmc itself

static void print_version(Str *out) {
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    char *triple = LLVMGetDefaultTargetTriple();
    str_printf(out, "fsmc %s\nLLVM %u.%u.%u\ntarget %s\n", FSMC_VERSION, major, minor, patch, triple);
    LLVMDisposeMessage(triple);
}

static int write_text(const Options *opt, Str *text) {
    Compilation *c = compile_new(opt);
    Str messages = {0};
    bool ok = file_write(c->diag, opt->output ? opt->output : "-", text);
    diag_print(c->diag, &messages, colored(opt));
    fputs(str_text(&messages), stderr);
    str_free(&messages);
    str_free(text);
    compile_delete(c);
    return ok ? EXIT_SUCCESS : EXIT_USER;
}

// The text that is asked for instead of a compilation; empty if it is none.
static void print_text(const Options *opt, Str *out) {
    if (opt->help) help_print(out, opt->command, help_width());
    else if (opt->version) print_version(out);
    else if (opt->command == COMMAND_USAGE) help_print(out, opt->word ? command_named(opt->word) : COMMAND_COMPILE, help_width());
    else if (opt->command == COMMAND_PASSES) passes_print(out);
    else if (opt->command == COMMAND_COMPLETION) completion_print(out, opt->word);
    else if (opt->command == COMMAND_MAN) manual_print(out);
}

int driver_run(const Options *opt) {
    Str text = {0};
    print_text(opt, &text);
    if (text.len) return write_text(opt, &text);
    Compilation *c = compile_new(opt);
    int code = EXIT_INTERNAL, left = compile_guarded(work, c, &code);
    if (left == DIAG_EXIT_BUG) driver_write_reproducer(c);
    print_messages(c);
    compile_delete(c);
    return code;
}
