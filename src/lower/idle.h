// When a loop does nothing, however many iterations it has: where it only goes over rows that have no elements.
#ifndef LOWER_IDLE_H
#define LOWER_IDLE_H

#include "lower/tree.h"

typedef enum WorksKind {
    WORKS_NEVER,
    WORKS_ALWAYS,  // or it is not known
    WORKS_NONZERO, // where `extent`, an Int that is known before the loop, is not 0
    WORKS_BOTH,    // where left and right do
    WORKS_EITHER   // where left or right does
} WorksKind;

typedef struct Works {
    WorksKind kind;
    Temp extent;
    const struct Works *left, *right;
} Works;

// A condition without which the iterations of an ST_FOR have no effect on what is outside of it, and no error. What may not end is an
// effect. That the loop has iterations at all is no part of it. def: by temp, the statement that makes it (tree_definitions). In the
// arena; never NULL.
const Works *loop_works(Arena *arena, const Tree *t, Stmt *const *def, const Stmt *loop);

#endif
