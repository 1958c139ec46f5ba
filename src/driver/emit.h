// What a compilation writes: the kinds of --emit.
#ifndef DRIVER_EMIT_H
#define DRIVER_EMIT_H

#include "driver/compile.h"

// What the kinds are made from. Each part is made when it is first asked for.
typedef struct Emission {
    Compilation *c;
    FuncList funcs, planned; // without passes; after all passes
    bool taken, is_planned;  // funcs has been changed by passes; planned is there
    Tree **trees;
    CpuModule *module;
} Emission;

// The entries, as they were made from the source, after the passes before planning (an Ir of its own: the caller may
// change it); n is 0 after an error.
FuncList emission_simple(Emission *e);
// The entries after all passes; what reads their signatures alone can use this as well.
const FuncList *emission_planned(Emission *e);
Tree **emission_trees(Emission *e);
CpuModule *emission_module(Emission *e); // NULL after an error

enum { EMIT_FILES = EMIT_COUNT + 2 };

// Where a kind is written: with -o FILE, there; several kinds are told apart by the suffix. "-" is standard output.
const char *emit_path(const Compilation *c, Emit kind);
// The files that will be written, at most EMIT_FILES; returns how many. Standard output is none.
int emit_files(const Compilation *c, const char **path);
// Writes every kind that is asked for, of the functions made by compile_funcs. Errors go to c->diag.
void emit_all(Compilation *c, FuncList funcs);

// Whether a file that is made at path can have others beside it: not a device.
bool emit_is_regular(const char *path);

#endif
