// fsmc run and fsmc cost: one call of one entry.
#include "driver/args.h"
#include "driver/driver.h"
#include "driver/file.h"
#include "driver/json.h"
#include "driver/npy.h"
#include "lower/exec.h"

// The entry that is asked for, with its arguments. False after an error.
static bool prepare(Compilation *c, bool raw, FuncList *funcs, Tensor **inputs) {
    const Source *src = file_read(c->arena, c->diag, c->opt->file);
    if (!src || !compile_load(c, src)) return false;
    if (raw && compile_is_tree(src)) {
        diag_error(c->diag, (Span){NULL, 0, 0}, "`%s` has loops, but no values: there is nothing for `--interp`", src->name);
        return false;
    }
    if (!compile_funcs(c, raw, funcs)) return false;
    if (funcs->n != 1) fatal_bug("%d functions where one is wanted", funcs->n);
    if (!compile_externs(c, *funcs)) return false;
    compile_stage(c, "arguments");
    *inputs = args_read(c, funcs->f[0]);
    return *inputs;
}

static void failed(Compilation *c, const char *error) { diag_error(c->diag, (Span){NULL, 0, 0}, "%s", error); }

// Compiled code. Returns 0 if the outputs are there.
static int call_compiled(Compilation *c, FuncList funcs, const Tensor *inputs, Tensor *outputs, const char **error) {
    CpuModule *m = compile_module(c, funcs, compile_trees(c, funcs), true);
    if (!m) return 1;
    compile_stage(c, "llvm");
    CpuJit *jit = cpu_jit(m, c->diag);
    cpu_delete(m);
    if (!jit) return 1;
    compile_stage(c, "call");
    int code = cpu_call(c->arena, jit, funcs.f[0], inputs, outputs, error);
    cpu_jit_delete(jit);
    return code;
}

static int call(Compilation *c, FuncList funcs, const Tensor *inputs, Tensor *outputs, const char **error) {
    Arena *a = c->arena;
    if (c->opt->engine == ENGINE_INTERP) {
        compile_stage(c, "interpret");
        return interp_run(a, funcs.f[0], inputs, outputs, NULL, error);
    }
    compile_passes(c, &funcs, true);
    if (c->opt->engine == ENGINE_JIT) return call_compiled(c, funcs, inputs, outputs, error);
    Tree **trees = compile_trees(c, funcs);
    compile_stage(c, "execute");
    return tree_exec(a, trees[0], inputs, outputs, NULL, error);
}

// The arrays of a result, each in a file of its own: FILE.npy, or FILE.0.npy, FILE.1.npy, … if there are several.
static void write_arrays(Compilation *c, const char *path, const Func *f, const Tensor *outputs) {
    if (!f->noutputs) diag_error(c->diag, (Span){NULL, 0, 0}, "`%s` would hold nothing: the result has no array", path);
    for (int i = 0; i < f->noutputs && compile_ok(c); i++) {
        const char *suffix = f->noutputs == 1 ? ".npy" : arena_printf(c->arena, ".%d.npy", i);
        Str out = {0};
        npy_write(&out, &outputs[i]);
        file_write(c->diag, file_with_suffix(c->arena, path, suffix), &out);
        str_free(&out);
    }
}

static void write_result(Compilation *c, const Func *f, const Tensor *outputs) {
    const char *path = c->opt->output ? c->opt->output : "-";
    compile_stage(c, "print");
    if (file_same(path, c->src->name)) {
        diag_error(c->diag, (Span){NULL, 0, 0}, "the output `%s` would replace the source", path);
    } else if (npy_is(path)) {
        write_arrays(c, path, f, outputs);
    } else {
        Str out = {0};
        json_print(&out, f->result, outputs);
        file_write(c->diag, path, &out);
        str_free(&out);
    }
}

void command_run(Compilation *c) {
    FuncList funcs = {0};
    Tensor *inputs;
    if (!prepare(c, c->opt->engine == ENGINE_INTERP, &funcs, &inputs)) return;
    const Func *f = funcs.f[0];
    Tensor *outputs = ARENA_ARRAY(c->arena, Tensor, f->noutputs + 1);
    const char *error = NULL;
    if (call(c, funcs, inputs, outputs, &error)) {
        if (error) failed(c, error);
        return;
    }
    if (!compile_ok(c)) return;
    write_result(c, f, outputs);
}

static void print_counts(Str *out, const Counts *n) {
    static const char *const names[] = {
#define COUNT(id, name, what) name,
#include "ir/counts.def"
    };
    str_puts(out, "{");
    for (int i = 0; i < COUNT_CLASSES; i++) str_printf(out, "\"%s\": %lld, ", names[i], (long long)n->ops[i]);
    str_printf(out, "\"iterations\": %lld, \"loads\": %lld, \"stores\": %lld, \"bytes\": %lld}\n", (long long)n->iterations,
               (long long)n->loads, (long long)n->stores, (long long)n->bytes);
}

void command_cost(Compilation *c) {
    FuncList funcs = {0};
    Tensor *inputs;
    if (!prepare(c, false, &funcs, &inputs)) return;
    Tensor *outputs = ARENA_ARRAY(c->arena, Tensor, funcs.f[0]->noutputs + 1);
    const char *error = NULL;
    Counts counts;
    compile_passes(c, &funcs, true);
    Tree **trees = compile_trees(c, funcs);
    compile_stage(c, "execute");
    if (tree_exec(c->arena, trees[0], inputs, outputs, &counts, &error)) {
        failed(c, error);
        return;
    }
    Str out = {0};
    print_counts(&out, &counts);
    if (compile_ok(c)) file_write(c->diag, "-", &out);
    str_free(&out);
}
