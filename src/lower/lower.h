// Lowering: from values to a loop tree.
#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H

#include "lower/machine.h"
#include "lower/tree.h"

// The loop tree of f. Values are placed late, in the outermost loop that binds their free variables, unless that would
// evaluate something dear or fallible that need not be evaluated; loops over equal extents that do not need each other's
// results are shared; every gen that is still indexed is stored.
//
// If evaluating f may fail, whether it does can depend on whether loops are empty, and that stands in the way of moving
// things out of loops. `positive` (or NULL) is the same function planned under the assumption that every size is at
// least 1 (Ir.positive); it runs when that is so, and f itself otherwise.
Tree *lower_func(Arena *arena, const Func *f, const Func *positive);

// Vectors of so many lanes have masks: what is left over of a loop is one more vector.
enum { LANES_MASKED = 4 };
// Times for a vector of four, in multiplications: of the unit for divisions and roots, and of a function.
enum { UNIT_ROOT = 18, UNIT_QUOTIENT = 10, VECTOR_CALL = 16 };
// Functions that are written out for vectors of doubles (cpu/functions.c), where that of another vector can go on beside.
static inline bool lanes_written_out(Op op) { return op == OP_exp || op == OP_log || op == OP_tanh; }

typedef struct LaneOptions {
    bool precise;           // sums keep their order
    bool fast;              // recurrences s = a * s + b need not
    bool always;            // all loops that may have lanes, the outermost of each nest, whether or not that pays
    const Machine *machine; // what is assumed of it
    int registers;          // for vectors
    int width;              // how many lanes one has
    bool roots;             // square roots of vectors are approximated (cpu/roots.c), so that they cost little
    bool gathers;           // a vector of elements that are apart in memory is loaded by one instruction
    bool threads;           // loops may be cut for them
    bool shared; // so are quotients, and either only in some of the vectors of a block: the processor's unit does the others
} LaneOptions;

// Up to how many elements of an array that lanes add to each lane of a vector has a copy of its own: copies take half of the cache.
static inline int64_t lanes_copied(double cache, Kind kind, int lanes) {
    return (int64_t)(cache / 2 / (double)kind_size(kind) / lanes);
}

// Says which loops of the tree run several iterations at once (Stmt.lanes). (lanes.c)
void lanes_choose(Arena *arena, Tree *tree, const LaneOptions *opt);

// Cuts loops whose iterations can be shared out to threads into chunks (Stmt.threads), after lanes have been chosen. always: chunks
// of a few iterations, for tests. (threads.c)
void threads_cut(Arena *arena, Tree *tree, const LaneOptions *opt, bool always);

// Computes before loops, for a GPU, what they would compute when it is first needed. (speculate.c)
void lower_speculate(Arena *arena, Tree *tree);
// Makes one loop of nests of a GPU that follow each other where an iteration needs no other iteration of the first. (merge.c)
void lower_merge_grids(Arena *arena, Tree *tree, bool strict);
// Makes nests of loops for the threads of a GPU, which are many. always: also of small ones, for tests. (spread.c)
void lower_spread(Arena *arena, Tree *tree, bool precise, bool always);
// Values that they compute twice, arrays that are the same, and sums that need no array of their own. (common.c)
void lower_share(Arena *arena, Tree *tree, bool strict);

// Turns products in loops without lanes whose iterations wait for each other, as --fp=fast allows. (height.c)
void lower_heights(Arena *arena, Tree *tree);

// The function with f's inputs that gives the extents of its outputs, as Int scalars in order; NULL if there are none.
Func *lower_size_query(Arena *arena, const Func *f);

#endif
