// The pipeline: from a source to functions, loop trees and a compiled module.
#ifndef DRIVER_COMPILE_H
#define DRIVER_COMPILE_H

#include "cpu/cpu.h"
#include "driver/options.h"
#include "lower/machine.h"
#include "front/core.h"
#include "front/module.h"
#include "lower/tree.h"

typedef struct Stage {
    const char *name;
    double ms;
} Stage;

// One compilation. Everything that it makes lives in its arena.
typedef struct Compilation {
    const Options *opt;
    Arena *arena;
    Diag *diag;
    Explain *explain;    // NULL without --explain
    struct Rules *rules; // NULL without --explain=rules, --disable-rule and --fuel
    const Source *src;
    const Source *input; // standard input, once arguments have been read there
    Unit *unit;                 // of an F̃ source
    const CoreProgram *program; // of an F̃ source, typed; NULL for textual IR
    VEC(Ir *) irs;
    VEC(Tree *) trees;
    Tree **read; // the source, if that is loop trees; by function
    VEC(Stage) stages; // --time-passes
    double started;    // the stage that is running
    bool keep_customs, primal; // see Ir
    Machine machine;   // for the schedule
    Cache kept;        // of objects, if the environment names one
    void (*after_loop_pass)(void *data, const struct LoopPass *p, Tree *t); // for tests; NULL: nobody looks on
    void *after_data;
    Str dumped; // --dump-after: the tree before the pass
} Compilation;

typedef struct FuncList {
    int n;
    Func **f;
    Func **positive; // by function: the version for sizes of at least 1, or NULL; no array before compile_passes
} FuncList;

// The options must outlive the compilation.
Compilation *compile_new(const Options *opt);
void compile_delete(Compilation *c);
// Parses the source and what it opens. Otherwise as compile_load.
bool compile_open(Compilation *c, const Source *src);
// Parses and types the source, which must outlive the compilation. Its name decides: a source whose name ends in .ir is
// textual IR, one in .tree loop trees. With opt->entries, only these. False after an error in the source.
bool compile_load(Compilation *c, const Source *src);
// The entries as functions; `raw`: as written, without any rule. May be called several times, each time in an Ir of its
// own; but of loop trees they are those of the trees, and have no values. False after an error.
bool compile_funcs(Compilation *c, bool raw, FuncList *out);
// Runs the passes that opt names, where there are values; without `plan`, only those before the program is arranged for loops.
void compile_passes(Compilation *c, FuncList *funcs, bool plan);
// Loads the libraries of --load, and requires every C function that the functions call to be there. False after an error.
bool compile_externs(Compilation *c, FuncList funcs);
// The loop trees of the functions, after the passes over loop trees that opt names: of those that were read, only after such as
// opt names one by one.
Tree **compile_trees(Compilation *c, FuncList funcs);
// NULL after an error. To be freed by cpu_delete.
CpuModule *compile_module(Compilation *c, FuncList funcs, Tree *const *trees, bool callable);
// No errors so far.
bool compile_ok(const Compilation *c);
// Names the stage that starts now, for --time-passes and messages about broken invariants; NULL ends the last one.
void compile_stage(Compilation *c, const char *name);
void compile_print_stages(const Compilation *c, Str *out);

// Whether the source is textual IR, or loop trees.
bool compile_is_ir(const Source *src);
bool compile_is_tree(const Source *src);

// Runs job(data) on a stack large enough for recursion over deep programs, inside the error boundary. Returns 0 with
// the job's result in *result, or why it was left: after fatal_bug, or when memory ran out.
int compile_guarded(int (*job)(void *data), void *data, int *result);

#endif
