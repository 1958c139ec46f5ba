#define _POSIX_C_SOURCE 200809L
#include "driver/emit.h"

#include "cuda/cuda.h"
#include "driver/file.h"
#include "driver/manifest.h"
#include "driver/nvcc.h"
#include "driver/options_table.h"
#include "driver/python.h"
#include "ir/dot_print.h"
#include "ir/fsm_print.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// ---- parts

FuncList emission_simple(Emission *e) {
    FuncList f = e->funcs;
    if (e->taken && !compile_funcs(e->c, false, &f)) return (FuncList){0};
    e->taken = true;
    compile_passes(e->c, &f, false);
    return f;
}

const FuncList *emission_planned(Emission *e) {
    if (e->is_planned) return &e->planned;
    e->is_planned = true;
    e->planned = e->funcs;
    if (e->taken && !compile_funcs(e->c, false, &e->planned)) e->planned = (FuncList){0};
    e->taken = true;
    compile_passes(e->c, &e->planned, true);
    return &e->planned;
}

Tree **emission_trees(Emission *e) {
    if (!e->trees) e->trees = compile_trees(e->c, *emission_planned(e));
    return e->trees;
}

CpuModule *emission_module(Emission *e) {
    if (!e->module) e->module = compile_module(e->c, *emission_planned(e), emission_trees(e), false);
    return e->module;
}

// ---- kinds: each writes its file, after reporting to diag where that fails

static void write_text(Emission *e, const char *path, Str *text) {
    if (compile_ok(e->c)) file_write(e->c->diag, path, text);
    str_free(text);
}

// Reports that there are no values, of a source that is loop trees.
static bool has_values(Emission *e) {
    if (compile_is_tree(e->c->src))
        diag_error(e->c->diag, nowhere, "`%s` has loops, but no values: they cannot be written", e->c->src->name);
    return !compile_is_tree(e->c->src);
}

static void write_each(Emission *e, const char *path, FuncList f, void (*print)(Str *out, const Func *f)) {
    Str out = {0};
    compile_stage(e->c, "print");
    if (print == fsm_print) fsm_print_externs(&out, f.n, f.f);
    for (int i = 0; i < f.n; i++) {
        if (i) str_putc(&out, '\n');
        print(&out, f.f[i]);
    }
    write_text(e, path, &out);
}

static void emit_fsm(Emission *e, const char *path) {
    if (has_values(e)) write_each(e, path, emission_simple(e), fsm_print);
}
static void emit_ir(Emission *e, const char *path) {
    if (has_values(e)) write_each(e, path, *emission_planned(e), ir_print);
}
static void emit_dot(Emission *e, const char *path) {
    if (has_values(e)) write_each(e, path, *emission_planned(e), dot_print);
}

static void write_trees(Emission *e, const char *path, void (*print)(Str *out, const Tree *t)) {
    Str out = {0};
    Tree **trees = emission_trees(e);
    compile_stage(e->c, "print");
    for (int i = 0; i < e->planned.n; i++) {
        if (i) str_putc(&out, '\n');
        print(&out, trees[i]);
    }
    write_text(e, path, &out);
}

static void emit_loops(Emission *e, const char *path) { write_trees(e, path, tree_print); }
static void emit_tree(Emission *e, const char *path) { write_trees(e, path, e->c->opt->debug ? tree_write_places : tree_write); }

static void emit_llvm(Emission *e, const char *path) {
    Str out = {0};
    CpuModule *m = emission_module(e);
    compile_stage(e->c, "llvm");
    if (m) cpu_print_llvm(m, &out, true);
    write_text(e, path, &out);
}

static void emit_asm(Emission *e, const char *path) {
    Str out = {0};
    CpuModule *m = emission_module(e);
    compile_stage(e->c, "assembly");
    if (m) cpu_print_asm(m, &out);
    write_text(e, path, &out);
}

// A header of the module that is named like the file.
static void write_header(Emission *e, const char *path, void (*print)(Str *out, const char *name, int n, Func *const *f)) {
    Str out = {0};
    const char *name = strcmp(path, "-") ? path : e->c->src->name;
    const FuncList *f = emission_planned(e);
    compile_stage(e->c, "header");
    print(&out, file_base(file_with_suffix(e->c->arena, name, "")), f->n, f->f);
    write_text(e, path, &out);
}

static void emit_header(Emission *e, const char *path) {
    write_header(e, path, e->c->opt->target == TARGET_CUDA ? cpu_device_header : cpu_header);
}

static void emit_cpp(Emission *e, const char *path) { write_header(e, path, cpu_cpp_header); }

static bool print_cuda(Emission *e, Str *out) {
    Compilation *c = e->c;
    Tree **trees = emission_trees(e);
    compile_stage(c, "emit");
    CudaOptions opt = {.name = file_base(c->src->name), .cublas = c->opt->cublas};
    return cuda_print(out, c->arena, c->diag, e->planned.n, trees, &opt);
}

static void emit_cuda(Emission *e, const char *path) {
    Str out = {0};
    print_cuda(e, &out);
    write_text(e, path, &out);
}

// The object of nvcc.
static void emit_cuda_obj(Emission *e, const char *path) {
    Compilation *c = e->c;
    Str out = {0};
    bool ok = print_cuda(e, &out);
    compile_stage(c, "object");
    ok = ok && nvcc_compile(c, &out, path);
    str_free(&out);
    if (ok && emit_is_regular(path)) emit_header(e, file_with_suffix(c->arena, path, ".h"));
    if (ok && !compile_ok(c)) remove(path);
}

// The object, and its header beside it.
static void emit_obj(Emission *e, const char *path) {
    Compilation *c = e->c;
    if (c->opt->target == TARGET_CUDA) {
        emit_cuda_obj(e, path);
        return;
    }
    CpuModule *m = emission_module(e);
    if (!m || !compile_ok(c)) return;
    compile_stage(c, "object");
    if (!cpu_write_object(m, c->diag, path) || !emit_is_regular(path)) return;
    emit_header(e, file_with_suffix(c->arena, path, ".h"));
    if (!compile_ok(c)) remove(path);
}

static void emit_manifest(Emission *e, const char *path) {
    Str out = {0};
    const char *name = strcmp(path, "-") ? path : e->c->src->name;
    const FuncList *f = emission_planned(e);
    compile_stage(e->c, "manifest");
    manifest_print(&out, e->c, file_base(file_with_suffix(e->c->arena, name, "")), f);
    write_text(e, path, &out);
}

static void emit_python(Emission *e, const char *path) { python_write(e, path); }

static void (*const writers[EMIT_COUNT])(Emission *e, const char *path) = {
#define EMIT(id, name, suffix, place, function, help) function,
#include "driver/options.def"
};

// ---- files

bool emit_is_regular(const char *path) {
    struct stat st;
    return stat(path, &st) || S_ISREG(st.st_mode);
}

static bool is_asked(const Compilation *c, int kind) { return c->opt->emit & 1u << kind; }

const char *emit_path(const Compilation *c, Emit kind) {
    const Options *o = c->opt;
    bool several = o->emit & (o->emit - 1);
    if (o->output && !several) return o->output;
    if (!several && emit_rows[kind].place == PLACE_CONSOLE) return "-";
    return file_with_suffix(c->arena, o->output ? o->output : file_base(c->src->name), emit_rows[kind].suffix);
}

int emit_files(const Compilation *c, const char **path) {
    int n = 0;
    for (int k = 0; k < EMIT_COUNT; k++)
        if (is_asked(c, k) && strcmp(path[n] = emit_path(c, (Emit)k), "-")) n++;
    const char *library = is_asked(c, EMIT_PYTHON) ? python_library_path(c, emit_path(c, EMIT_PYTHON)) : NULL;
    if (library) path[n++] = library;
    if (!is_asked(c, EMIT_OBJ)) return n;
    const char *object = emit_path(c, EMIT_OBJ);
    if (emit_is_regular(object) && !is_asked(c, EMIT_HEADER)) path[n++] = file_with_suffix(c->arena, object, ".h");
    return n;
}

void emit_all(Compilation *c, FuncList funcs) {
    Emission e = {.c = c, .funcs = funcs};
    for (int k = 0; k < EMIT_COUNT && compile_ok(c); k++)
        if (is_asked(c, k)) writers[k](&e, emit_path(c, (Emit)k));
    cpu_delete(e.module);
}
