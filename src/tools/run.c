// fsmc run and fsmc cost: calls of one entry.
#include "driver/args.h"
#include "driver/cost.h"
#include "driver/driver.h"
#include "driver/file.h"
#include "driver/json.h"
#include "driver/npy.h"
#include "lower/exec.h"
#include "tools/engine.h"

#include <ctype.h>
#include <string.h>

// The entry that is asked for. False after an error.
static bool load(Compilation *c, bool raw, FuncList *funcs) {
    const Source *src = file_read(c->arena, c->diag, c->opt->file);
    if (!src || !compile_load(c, src)) return false;
    if (raw && compile_is_tree(src)) {
        diag_error(c->diag, nowhere, "`%s` has loops, but no values: there is nothing for `--interp`", src->name);
        return false;
    }
    if (!compile_funcs(c, raw, funcs)) return false;
    if (funcs->n != 1) fatal_bug("%d functions where one is wanted", funcs->n);
    return true;
}

// Calls it. The outputs are in the arena; NULL after an error, which is reported to have happened at a place.
static Tensor *call(const Caller *x, Arena *a, const Tensor *inputs, Span at) {
    static const char *const stages[] = {[ENGINE_JIT] = "call",
                                         [ENGINE_INTERP] = "interpret",
                                         [ENGINE_EXEC] = "execute"};
    Tensor *outputs = ARENA_ARRAY(a, Tensor, x->funcs.f[0]->noutputs + 1);
    const char *error = NULL;
    compile_stage(x->c, stages[x->c->opt->engine]);
    if (!caller_call(x, a, 0, inputs, outputs, &error)) return outputs;
    if (error) diag_error(x->c->diag, at, "%s", error);
    return NULL;
}

// The arrays of a result, each in a file of its own: FILE.npy, or FILE.0.npy, FILE.1.npy, … if there are several.
static void write_arrays(Compilation *c, const char *path, const Func *f, const Tensor *outputs) {
    if (!f->noutputs) diag_error(c->diag, nowhere, "`%s` would hold nothing: the result has no array", path);
    for (int i = 0; i < f->noutputs && compile_ok(c); i++) {
        const char *suffix = f->noutputs == 1 ? ".npy" : arena_printf(c->arena, ".%d.npy", i);
        Str out = {0};
        npy_write(&out, &outputs[i]);
        file_write(c->diag, file_with_suffix(c->arena, path, suffix), &out);
        str_free(&out);
    }
}

static bool may_write(Compilation *c, const char *path) {
    if (file_same(path, c->src->name)) diag_error(c->diag, nowhere, "the output `%s` would replace the source", path);
    return !file_same(path, c->src->name);
}

static void write_result(Compilation *c, const Func *f, const Tensor *outputs) {
    const char *path = c->opt->output ? c->opt->output : "-";
    compile_stage(c, "print");
    if (!may_write(c, path)) return;
    if (npy_is(path)) {
        write_arrays(c, path, f, outputs);
    } else {
        Str out = {0};
        json_print(&out, f->result, outputs);
        file_write(c->diag, path, &out);
        str_free(&out);
    }
}

static void run_once(Compilation *c, FuncList funcs) {
    Caller x;
    compile_stage(c, "arguments");
    const Tensor *inputs = args_read(c, funcs.f[0]);
    if (!inputs) return;
    if (caller_open(&x, c, funcs)) {
        const Tensor *outputs = call(&x, c->arena, inputs, nowhere);
        if (outputs && compile_ok(c)) write_result(c, x.funcs.f[0], outputs);
    }
    caller_close(&x);
}

// ---- a file of calls

// The next line from `begin` on that is not blank, without white space around. False if there is none.
static bool next_line(const Source *src, size_t begin, Span *line) {
    for (size_t end; begin < src->len; begin = end + 1) {
        const char *newline = memchr(src->text + begin, '\n', src->len - begin);
        end = newline ? (size_t)(newline - src->text) : src->len;
        size_t last = end;
        while (begin < last && isspace((unsigned char)src->text[last - 1])) last--;
        while (begin < last && isspace((unsigned char)src->text[begin])) begin++;
        *line = (Span){src, (uint32_t)begin, (uint32_t)last};
        if (begin < last) return true;
    }
    return false;
}

// What a call needs is given back after it.
static void call_line(const Caller *x, Span line, Str *out) {
    Compilation c = *x->c;
    c.arena = arena_new();
    compile_stage(x->c, "arguments");
    const Func *f = x->funcs.f[0];
    const Tensor *inputs = args_read_piece(&c, f, line), *outputs = inputs ? call(x, c.arena, inputs, line) : NULL;
    compile_stage(x->c, "print");
    if (outputs) json_print(out, f->result, outputs);
    else str_puts(out, "null\n");
    arena_free(c.arena);
}

// Whether the calls can be read there, and their results written.
static bool check_calls(Compilation *c, const char *path) {
    const char *calls = c->opt->calls;
    if (!strcmp(calls, "-") && !strcmp(c->opt->file, "-"))
        return diag_error(c->diag, nowhere, "standard input is the program, and cannot have the calls, too"), false;
    if (npy_is(path))
        return diag_error(c->diag, nowhere, "`%s` would hold one result, not those of `--calls`", path), false;
    if (file_same(path, calls))
        return diag_error(c->diag, nowhere, "the output `%s` would replace the calls", path), false;
    return may_write(c, path);
}

static void run_calls(Compilation *c, FuncList funcs) {
    const char *path = c->opt->output ? c->opt->output : "-";
    if (!check_calls(c, path)) return;
    const Source *src = file_read(c->arena, c->diag, c->opt->calls);
    if (!src) return;
    Caller x;
    Str out = {0};
    if (caller_open(&x, c, funcs)) {
        Span line = {0};
        while (next_line(src, line.end, &line)) call_line(&x, line, &out);
        file_write(c->diag, path, &out);
    }
    str_free(&out);
    caller_close(&x);
}

void command_run(Compilation *c) {
    FuncList funcs = {0};
    if (!load(c, c->opt->engine == ENGINE_INTERP, &funcs)) return;
    if (c->opt->calls) run_calls(c, funcs);
    else run_once(c, funcs);
}

static void print_counts(Str *out, const Counts *n) {
    static const char *const names[] = {
#define COUNT(id, name, what) name,
#include "ir/counts.def"
    };
    str_puts(out, "{");
    for (int i = 0; i < COUNT_CLASSES; i++) str_printf(out, "\"%s\": %lld, ", names[i], (long long)n->ops[i]);
    str_printf(out, "\"iterations\": %lld, \"loads\": %lld, \"stores\": %lld, \"bytes\": %lld}\n",
               (long long)n->iterations, (long long)n->loads, (long long)n->stores, (long long)n->bytes);
}

void command_cost(Compilation *c) {
    FuncList funcs = {0};
    if (!load(c, false, &funcs) || !compile_externs(c, funcs)) return;
    compile_stage(c, "arguments");
    const Tensor *inputs = args_read(c, funcs.f[0]);
    if (!inputs) return;
    Tensor *outputs = ARENA_ARRAY(c->arena, Tensor, funcs.f[0]->noutputs + 1);
    const char *error = NULL;
    Counts counts;
    compile_passes(c, &funcs, true);
    Tree **trees = compile_trees(c, funcs);
    cost_explain(c);
    compile_stage(c, "execute");
    if (tree_exec(c->arena, trees[0], inputs, outputs, &counts, &error)) {
        diag_error(c->diag, nowhere, "%s", error);
        return;
    }
    Str out = {0};
    print_counts(&out, &counts);
    if (compile_ok(c)) file_write(c->diag, "-", &out);
    str_free(&out);
}
