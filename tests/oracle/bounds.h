// Whether a loop tree does more than lower/account.h says.
#ifndef ORACLE_BOUNDS_H
#define ORACLE_BOUNDS_H

#include "lower/account.h"
#include "lower/exec.h"

// What is wrong with the polynomials for a call with these inputs, which has done that much; NULL: nothing, or they
// depend on what data decides. In the arena.
const char *bounds_wrong(Arena *arena, const Tree *t, const Account *account, const Tensor *inputs,
                         const Counts *done);

#endif
