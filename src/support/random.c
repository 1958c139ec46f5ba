#include "support/random.h"

uint64_t random_bits(Random *r) {
    uint64_t z = (r->state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

double random_real(Random *r, double low, double high) { return low + (high - low) * (double)(random_bits(r) >> 11) * 0x1p-53; }

int64_t random_int(Random *r, int64_t low, int64_t high) { return low + (int64_t)(random_bits(r) % (uint64_t)(high - low + 1)); }

Random random_named(uint64_t seed, const char *name) {
    Random r = {seed};
    for (; *name; name++) r.state = random_bits(&r) + (unsigned char)*name;
    return r;
}
