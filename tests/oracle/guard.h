// Arguments in memory that nothing may be read beside of, and what is said where something is.
#ifndef FSMC_ORACLE_GUARD_H
#define FSMC_ORACLE_GUARD_H

#include "ir/tensor.h"

typedef struct Guarded {
    int n;
    Tensor *in;    // as the arguments
    void **map;    // what each array is in; NULL: a scalar
    size_t *bytes; // of these
} Guarded;

// Copies of the arguments. Each array stands against a page that cannot be read: before one if `ends`, else behind one.
// The copies live until guard_end, the rest in the arena.
Guarded guard_begin(Arena *a, int n, const Tensor *in, bool ends);
void guard_end(Guarded *g);
// From now on a crash writes to fd where it was (oracle_where), before it ends the process.
void guard_tell_crashes(int fd);

#endif
