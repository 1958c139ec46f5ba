// Grids: loops whose iterations the threads of a GPU share out.
#ifndef LOWER_GRID_H
#define LOWER_GRID_H

#include "lower/tree.h"

// What a loop is as a grid. Nothing but sums, extremes and additions to arrays joins its iterations.
typedef struct Grid {
    bool inner; // it is in a grid: the threads of a block may share out its iterations, if the block does one of the outer grid
    int depth;  // of so many loops, each the only one in the body of the last; every combination of their indices is an iteration
    int nsums;
    Temp *cell; // from outside: of each thread its own, joined at the end
    Op *by;     // OP_add, OP_min or OP_max
    int ncopies;
    Buf **copy; // from outside, to which several iterations may add at one place: of each thread its own, joined at the end
    int natomics;
    Buf **atomic; // likewise, where that is not to be: they add at once, in any order
} Grid;

// Is there a grid in the block, or inside of what is in it?
bool grid_inside(const Block *block);
// Is there an inner grid in the block, or inside of what is in it?
bool grid_has_inner(const Block *block);
// Is filling or copying the buffer a grid? def: by temp, what makes it.
bool grid_is_large(Stmt *const *def, const Buf *b);
// The loop number k of a grid's nest, counted from the outermost.
Stmt *grid_loop(Stmt *loop, int k);

#endif
