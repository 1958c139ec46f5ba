// Time, and what is in the middle of measurements.
#ifndef MEASURE_H
#define MEASURE_H

#include <stdlib.h>
#include <time.h>

static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Sorts the n numbers.
static inline double median(double *x, int n) {
    qsort(x, (size_t)n, sizeof *x, ascending);
    return x[n / 2];
}

#endif
