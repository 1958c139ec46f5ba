// Random programs through the oracle.
#ifndef RANDOM_FUZZ_H
#define RANDOM_FUZZ_H

#include "random/term.h"

typedef struct FuzzOptions {
    uint64_t first; // seed
    int count, size;
    int seconds; // stop after so many; 0: never
    int shrink;  // attempts to make a failing program smaller
    bool fast;   // by --fp=fast
    int level;   // -1: all levels of optimisation; else one of them, by the seed
    bool verbose;
    bool stop;    // at the first failure
    bool written; // only as written (oracle.h)
    bool ties;    // arguments at kinks (oracle.h)
    bool cpus;    // compiled for the levels of x86-64, in turn (oracle_cpus)
    bool worth;   // values with all rules and without, instead (oracle_worth)
} FuzzOptions;

typedef struct FuzzResult {
    int failures, done, compiled;
    uint64_t failed; // the seed of the last that failed
    int have[2], all[2]; // structural kinds, and operations: how many occur in the programs or their derivatives
} FuzzResult;

// Runs the programs of `count` seeds and prints what fails, with its seed and a small program.
FuzzResult fuzz_run(const FuzzOptions *o);
// What derivatives execute, in terms of the bound (bound.c).
typedef struct BoundOptions {
    int64_t sizes[2];
    double factor; // most times what the value does, for each order of the derivative
    double growth; // by which that may be more at the second size
} BoundOptions;
void bound_options_init(BoundOptions *b);
// Runs the nested sums of `count` seeds, counts at both sizes, and prints what is over the bound, with its seed and a
// small program that is over it alike; returns how many are, or have wrong values. The last line says how many.
int bound_run(const FuzzOptions *o, const BoundOptions *b);
// The same of a program in a file, which has an entry f and any of its derivatives f_grad, f_jvp and f_hvp; arguments
// are those of the seed o->first.
int bound_file(const FuzzOptions *o, const BoundOptions *b, const char *path);

// The options for the seed's program.
OracleOptions fuzz_oracle(const FuzzOptions *o, uint64_t seed);

#endif
