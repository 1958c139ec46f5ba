// Calls of compiled code with all its memory among pages that cannot be touched, and what is said where one is.
#ifndef FSMC_ORACLE_GUARD_H
#define FSMC_ORACLE_GUARD_H

#include "cpu/cpu.h"

// What code that guard_call calls must have been loaded with (CpuOptions.instead): each array of its scratch memory is in pages
// of its own, also in threads.
extern const CpuSymbol guard_scratch[];

// cpu_call where each argument, result and array of scratch memory, scalars too, ends at a page that cannot be touched (ends), or
// begins behind one. Arguments cannot be written; results and scratch memory are NaNs before. Of scratch memory, whose code
// may count on pieces of 64 bytes, the last such piece ends at the page. What is beside an array in its own pages must stay as it
// is: else it is a broken invariant.
int guard_call(Arena *a, CpuJit *jit, const Func *f, const Tensor *in, Tensor *out, bool ends, const char **error);
// From now on a crash writes to fd where it was (oracle_where), before it ends the process.
void guard_tell_crashes(int fd);

#endif
