// Reproducible random numbers (splitmix64).
#ifndef SUPPORT_RANDOM_H
#define SUPPORT_RANDOM_H

#include <stdint.h>

typedef struct Random {
    uint64_t state;
} Random;

uint64_t random_bits(Random *r);
double random_real(Random *r, double low, double high);
int64_t random_int(Random *r, int64_t low, int64_t high); // both ends included
// Another sequence for each name.
Random random_named(uint64_t seed, const char *name);

#endif
