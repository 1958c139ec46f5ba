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
// The options for the seed's program.
OracleOptions fuzz_oracle(const FuzzOptions *o, uint64_t seed);

#endif
