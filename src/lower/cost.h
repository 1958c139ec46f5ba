// The cost model of the schedule (cost.c).
#ifndef LOWER_COST_H
#define LOWER_COST_H

#include "lower/independent.h"
#include "lower/internal.h"

typedef struct Model {
    Iterations it;
    const Machine *machine;
    bool always;         // lanes wherever that is possible
    bool roots;          // square roots of vectors are approximated
    bool shared;         // roots and quotients are, in some vectors of a block
    bool gathers;        // an instruction loads vectors of elements that are apart
    bool masks;          // what lanes leave over is one more vector, with a mask
    bool mask_registers; // masks have registers of their own, and cost next to nothing
    bool never;          // nowhere
    bool across;         // what lanes add to one element is added up across them first, which takes time
    bool silent;         // about choices in loops inside, which are asked for again
    bool noting;         // in `taken`
    VEC(Stmt *) taken;   // loops that had better have lanes
    Map windows, rests;  // sizes, Temp + 1, that others are less by; what is left of these
    Map wished;          // loops that have lanes because an attribute says so
    Map rows;            // loops inside of others that are sums along rows, and have lanes for that reason
    VEC(Stmt *) inner;   // loops inside the loop that is looked at, around the statement
    Run *run, *load;     // of the loop that is looked at (runs.c)
    int runs, loads;
    int depth;    // of loops around it
    bool chained; // the iterations of the loop around it run one after the other
} Model;

// A model of the tree as it is, and its end. (lanes.c)
void model_begin(Model *m, Arena *arena, Tree *tree, const LoopOptions *opt);
void model_end(Model *m);
// Finds which loops have lanes because attributes say so (`wished`). Their iterations must be independent, and those of no other
// around; inside: one around the block has lanes. (lanes.c)
void model_hear(Model *m, const Block *block, bool inside);
// Finds the sizes by which extents of loops are less than others, as those of windows: they are short, and the others long.
void model_find_windows(Model *p);
// Takes notice of what is new in a tree: temps, and sizes of windows.
void model_more(Model *p, const Block *made);
// The least time of the loop, those inside being treated as is best for each of them, and whether it is with lanes.
double model_best(Model *p, Stmt *loop, bool *lanes);
// Looks at a loop as one with lanes; false if it cannot be one.
bool model_look(Model *p, Stmt *loop);
// In a loop with lanes that was looked at: the time of one iteration in a block of so many vectors.
double model_lanes(Model *p, const Block *block, int vectors);
// How often the loop is repeated, as far as that is known. outermost: it is in no other one.
double model_trips(const Model *p, const Stmt *s, bool outermost);
bool model_adds(const Block *block); // to cells or arrays
// In that loop: are all floating values that differ between lanes Floats? Twice as many of them are in a vector. (lanes.c)
bool model_is_single(const Model *p, const Block *block);
bool model_wished(const Model *p, const Stmt *loop);

#endif
