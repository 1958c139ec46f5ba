// Random numbers that are the same on every machine.
#include <math.h>
#include <stdint.h>

typedef struct Random {
    uint64_t state;
    double spare; // the second normal number of a Box-Muller pair
    int has_spare;
} Random;

// SplitMix64 (Steele, Lea, Flood 2014), as a number in (0, 1).
static inline double uniform(Random *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

static inline double normal(Random *r) {
    if (r->has_spare) {
        r->has_spare = 0;
        return r->spare;
    }
    double radius = sqrt(-2.0 * log(uniform(r))), angle = 2.0 * 3.14159265358979323846 * uniform(r);
    r->spare = radius * sin(angle);
    r->has_spare = 1;
    return radius * cos(angle);
}
