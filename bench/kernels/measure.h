// Timing by the clock on the wall, which is what several threads take.
#ifndef MEASURE_H
#define MEASURE_H

#include "../median.h"

#include <time.h>

static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
