// All programs of tests/ad, and their first derivatives, as nvcc's front end and code generator take them: without a warning. ptxas
// and the host's compiler, which take ten times as long, get the smallest file of them; with -a all, for two kinds of GPUs. Skipped
// where there is no nvcc (on the PATH, or what FSM_NVCC names).
#define _POSIX_C_SOURCE 200809L
#include "support/arena.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Compiles the files that `list`, a command, names, two at a time. Each reports when it is done: all together may take minutes.
static int compile(Arena *a, const char *folder, const char *list, const char *what, const char *options) {
    const char *nvcc = getenv("FSM_NVCC"), *root = getenv("FSMC_ROOT");
    return system(arena_printf(
        a,
        "cd '%s' && %s | xargs -P 2 -I FILE sh -c '"
        "\"%s\" -std=c++17 -Xcicc -O0 -Xptxas -O0 -Werror all-warnings -I \"%s/include\" %s FILE -o FILE.out "
        "&& echo ok FILE%s || { echo not ok FILE%s; exit 1; }'",
        folder, list, nvcc ? nvcc : "nvcc", root, options, what, what));
}

int main(int argc, char **argv) {
    Arena *a = arena_new();
    const char *nvcc = getenv("FSM_NVCC"), *folder = getenv("FSMC_TEST_TMP"), *build = getenv("FSMC_BUILD");
    bool all = argc > 1 && !strcmp(argv[1], "-a");
    if (!folder || !build || !getenv("FSMC_ROOT"))
        return printf("not ok: FSMC_TEST_TMP, FSMC_BUILD and FSMC_ROOT name folders\n"), 1;
    if (system(arena_printf(a, "command -v '%s' > /dev/null", nvcc ? nvcc : "nvcc")))
        return printf("skip programs: there is no nvcc\n"), 0;
    if (system(arena_printf(a, "'%s/tests/cuda_programs' -p '%s' > /dev/null", build, folder)))
        return printf("not ok: printing\n"), 1;
    int failed = compile(a, folder, "ls [0-9]*.cu", "", "-ptx -arch=compute_80");
    failed |= compile(a, folder, all ? "ls [0-9]*.cu" : "ls -rS [0-9]*.cu | head -n 1", all ? ", as object" : ", the smallest, as object",
                      "-c -gencode arch=compute_80,code=sm_80 -gencode arch=compute_80,code=sm_90");
    arena_free(a);
    return failed != 0;
}
