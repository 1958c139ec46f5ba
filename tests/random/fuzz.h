// Random programs through the oracle.
#ifndef RANDOM_FUZZ_H
#define RANDOM_FUZZ_H

#include "random/term.h"

typedef struct FuzzOptions {
    uint64_t first; // seed
    int count, size;
    int seconds; // stop after so many; 0: never
    int shrink;  // attempts to make a failing program smaller
    int level;   // -1: all levels of optimisation; else one of them, by the seed
    bool verbose;
    bool stop;    // at the first failure
    bool written; // only as written (oracle.h)
    const uint64_t *dear; // seeds of derivatives known to cost more than the bound (oracle.h), then 0; or NULL
    bool ties;   // arguments at kinks (oracle.h)
} FuzzOptions;

// Runs the programs of `count` seeds and prints what fails, with its seed and a small program. Returns the number of
// failures; *done and *compiled get how many were run and how many of these compiled.
int fuzz_run(const FuzzOptions *o, int *done, int *compiled);
// The options for the seed's program.
OracleOptions fuzz_oracle(const FuzzOptions *o, uint64_t seed);

#endif
