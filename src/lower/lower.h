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
// Blocks of so many vectors have blocks of half as many for what they leave over.
enum { LANES_LARGE = 8 };
// Times for a vector of four, in multiplications: of the unit for divisions and roots, and of a function.
enum { UNIT_ROOT = 18, UNIT_QUOTIENT = 10, VECTOR_CALL = 16 };
// Functions that are written out for vectors of doubles (cpu/functions.c), where that of another vector can go on beside.
static inline bool lanes_written_out(Op op) { return op == OP_exp || op == OP_log || op == OP_tanh; }

// What passes over loop trees are told (loop_passes.h).
typedef struct LoopOptions {
    bool gpu;               // the loops are for one
    bool scheduled, lanes;  // -O2 or -O3; loops may have lanes
    bool precise;           // sums keep their order
    bool fast;              // recurrences s = a * s + b need not
    bool always;            // all loops that may have lanes, the outermost of each nest, whether or not that pays
    const Machine *machine; // what is assumed of it
    int registers;          // for vectors
    int width;              // how many lanes one has
    int64_t code_size;      // about so many bytes of code for an entry, if possible; 0: as its size says (budget.c)
    bool roots;             // square roots of vectors are approximated (cpu/roots.c), so that they cost little
    bool gathers;           // a vector of elements that are apart in memory is loaded by one instruction
    bool threads;           // loops may be cut for them
    bool threads_always;    // also into chunks of a few iterations, for tests
    bool atomics;           // threads of a GPU add to arrays that they share at once, in any order
    bool shared; // so are quotients, and either only in some of the vectors of a block: the processor's unit does the others
} LoopOptions;

// Up to how many elements of an array that lanes add to each lane of a vector has a copy of its own: copies take half of the cache.
static inline int64_t lanes_copied(double cache, Kind kind, int lanes) {
    return (int64_t)(cache / 2 / (double)kind_size(kind) / lanes);
}

// The tree of the extents of f's outputs (Tree.sizes), or NULL if these are scalars; no pass over loop trees has seen it yet.
Tree *lower_sizes(Arena *arena, const Func *f);
// The function with f's inputs that gives the extents of its outputs, as Int scalars in order; NULL if there are none.
Func *lower_size_query(Arena *arena, const Func *f);

#endif
