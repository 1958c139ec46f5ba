// Modules of GradBench: F̃ files, compiled in memory. A function F of module M is the entry M_F; its parameters are fields of
// the input, found by their names at any depth. Two more entries may stand beside it:
//   M_inputs, or M_F_inputs: makes the arguments of M_F from the input, before the clock starts
//   M_F_output: makes what is answered from the result of M_F, after the clock stopped
#ifndef GRADBENCH_MODULE_H
#define GRADBENCH_MODULE_H

#include "tools/engine.h"

#include <jansson.h>

typedef struct BenchModule {
    const char *name;
    Options options;
    Compilation *c;
    Caller caller;
    double compile_s;
    struct BenchModule *next;
} BenchModule;

typedef struct Result {
    Str output; // JSON
    Str error;  // if there is no output
    double prepare_s;
    VEC(double) seconds; // of each call
} Result;

// Compiles FOLDER/NAME.fsm with options of `fsmc run`. NULL after appending the messages to error.
BenchModule *module_open(const char *folder, const char *name, int noptions, char **options, Str *error);
void module_close(BenchModule *m);
// Calls the function at least `min_runs` times and for `min_seconds` (fields of the input; once without them). False with
// an error in the result.
bool module_call(BenchModule *m, const char *function, json_t *input, Result *r);
void result_free(Result *r);

#endif
