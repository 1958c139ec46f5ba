// All programs of tests/ad, and their first derivatives, as nvcc compiles them for two kinds of GPUs: without a warning. Skipped
// where there is no nvcc (on the PATH, or what FSM_NVCC names).
#define _POSIX_C_SOURCE 200809L
#include "support/arena.h"

#include <stdio.h>
#include <stdlib.h>

int main(void) {
    Arena *a = arena_new();
    const char *nvcc = getenv("FSM_NVCC"), *folder = getenv("FSMC_TEST_TMP"), *build = getenv("FSMC_BUILD"),
               *root = getenv("FSMC_ROOT");
    if (!nvcc) nvcc = "nvcc";
    if (!folder || !build || !root) return printf("not ok: FSMC_TEST_TMP, FSMC_BUILD and FSMC_ROOT name folders\n"), 1;
    if (system(arena_printf(a, "command -v '%s' > /dev/null", nvcc))) return printf("skip programs: there is no nvcc\n"), 0;
    if (system(arena_printf(a, "'%s/tests/cuda_programs' -p '%s' > /dev/null", build, folder)))
        return printf("not ok: printing\n"), 1;
    const char *command = arena_printf(
        a,
        "ls '%s' | grep '^[0-9]*\\.cu$' | xargs -P 2 -I FILE sh -c '"
        "%s -std=c++17 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_80,code=sm_90 -Xcicc -O0 -Xptxas -O0 -Werror all-warnings -I %s/include -c %s/FILE -o %s/FILE.o "
        "&& echo ok FILE || echo not ok FILE'",
        folder, nvcc, root, folder, folder);
    int failed = system(command); // each reports when it is done: all together take many minutes
    arena_free(a);
    return failed;
}
