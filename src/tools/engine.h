// Functions made ready for many calls, by the engine that the options name.
#ifndef TOOLS_ENGINE_H
#define TOOLS_ENGINE_H

#include "driver/compile.h"

typedef struct Caller {
    Compilation *c;
    FuncList funcs;
    Tree **trees; // not for the interpreter
    CpuJit *jit;  // compiled code
} Caller;

// The functions (of compile_funcs, raw for the interpreter) run through the pipeline, and C functions that they call
// are found. False after an error.
bool caller_open(Caller *x, Compilation *c, FuncList funcs);
void caller_close(Caller *x);
// Calls function i. Returns 0, or an error code with *error set; the outputs are in the arena.
int caller_call(const Caller *x, Arena *a, int i, const Tensor *inputs, Tensor *outputs, const char **error);

// ---- the time of calls

double timer_now(void); // in seconds
// Of one of so many calls of compiled code.
double timer_batch(const CpuCall *call, int64_t calls);
// Warms up, and finds how many calls last as long as a batch should.
int64_t timer_calibrate(const CpuCall *call, double batch_s);

#endif
