// Three hundred random programs by every engine, and their derivatives: the same ones every time. build/fsmc_fuzz goes on
// from there.
#include "random/fuzz.h"

#include <stdio.h>

static const uint64_t dear[] = {171, 273, 0};

int main(void) {
    FuzzOptions o = {.dear = dear, .first = 1, .count = 300, .size = 22, .shrink = 60, .level = 1};
    int done, compiled, failures = fuzz_run(&o, &done, &compiled);
    if (failures)
        printf("not ok random programs: %d of %d fail, see above\n", failures, done);
    else
        printf("ok random programs # %d\n", done);
    if (compiled * 10 >= done * 9)
        printf("ok random programs compile # %d\n", compiled);
    else
        printf("not ok random programs compile: only %d of %d\n", compiled, done);
    return failures > 0;
}
