// ADBench's way of timing: as many calls in a row as take longer than the least time that can be measured, and the
// least of some such samples. Results are kept between calls. Where more than one sample is wanted, the first call is
// none, however long it takes: a tool may get pages for its results in it.
#define _POSIX_C_SOURCE 200809L
#include "adbench.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// With FSMC_ADBENCH_CLOCK=cpu the processor time of this thread, which leaves out what else runs on the core, if there
// is one thread.
static double now(void) {
    static int clock = -1;
    if (clock < 0) {
        const char *name = getenv("FSMC_ADBENCH_CLOCK");
        const char *threads = getenv("FSMC_ADBENCH_THREADS");
        bool one = !threads || atoi(threads) <= 1;
        clock = one && name && !strcmp(name, "cpu") ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    }
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double run_of(int64_t repeats, const char *(*call)(void *, Results *), void *state, Results *results) {
    double start = now();
    for (int64_t i = 0; i < repeats; i++) {
        const char *error = call(state, results);
        if (error) fail(STATUS_TOOL, "%s", error);
    }
    return now() - start;
}

double time_calls(const Timing *timing, const char *(*call)(void *, Results *), void *state, Results *results) {
    int64_t repeats = 1;
    double run = run_of(repeats, call, state, results);
    if (timing->samples > 1) run = run_of(repeats, call, state, results);
    while (run <= timing->minimum) run = run_of(repeats *= 2, call, state, results);
    double least = run, total = run;
    for (int64_t samples = 1; samples < timing->samples && total < timing->limit; samples++) {
        run = run_of(repeats, call, state, results);
        if (run < least) least = run;
        total += run;
    }
    return least / (double)repeats;
}
