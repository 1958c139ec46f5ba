// Timing of one thread's calls, shared by the benchmarks that compare sides in turn.
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include "median.h"

#include <stdint.h>
#include <time.h>

// Of this thread's work, so that what else runs is left out as far as it does not share caches.
static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double batch(void (*call)(int), int side, int64_t calls) {
    double start = seconds();
    for (int64_t i = 0; i < calls; i++) call(side);
    return (seconds() - start) / (double)calls;
}

#endif
