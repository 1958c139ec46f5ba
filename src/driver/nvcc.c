#define _GNU_SOURCE
#include "driver/nvcc.h"

#include "driver/file.h"
#include "driver/spawn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// The folder of fsmc/cuda.h: in the sources and where fsmc is installed, it is beside that of fsmc.
static const char *find_headers(Compilation *c) {
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe);
    const char *path = n > 0 && (size_t)n < sizeof exe ? arena_strndup(c->arena, exe, (size_t)n) : "";
    const char *headers = arena_printf(c->arena, "%.*s../include", (int)(file_base(path) - path), path);
    if (!access(arena_printf(c->arena, "%s/fsmc/cuda.h", headers), R_OK)) return headers;
    diag_error(c->diag, nowhere, "the header fsmc/cuda.h is not in `%s`", headers);
    return NULL;
}

// For each kind of GPU the options that nvcc has for it.
static void push_kinds(Compilation *c, SpawnWords *words, const char *list) {
    while (*list) {
        size_t n = strcspn(list, ","), prefix = strcspn(list, "_") + 1;
        const char *number = arena_strndup(c->arena, list + prefix, n - prefix), *name = arena_strndup(c->arena, list, n);
        vec_push(words, "-gencode");
        vec_push(words, arena_printf(c->arena, "arch=compute_%s,code=%s", number, name));
        list += n + (list[n] == ',');
    }
}

static bool run_nvcc(Compilation *c, const char *source, const char *object) {
    const char *chosen = getenv("FSM_NVCC"), *headers = find_headers(c);
    if (!headers) return false;
    if (!chosen || !chosen[strspn(chosen, " \t")]) chosen = "nvcc";
    SpawnWords words = {0};
    spawn_words(c->arena, &words, chosen);
    const char *const rest[] = {
        "-std=c++17", "-O3",  "-Xcompiler", "-fPIC", c->opt->fp == CPU_FP_PRECISE ? "-fmad=false" : "-fmad=true", "-I", headers,
        "-c",         source, "-o",         object};
    for (int k = 0; k < (int)(sizeof rest / sizeof *rest); k++) vec_push(&words, (char *)rest[k]);
    push_kinds(c, &words, c->opt->cuda_arch ? c->opt->cuda_arch : "sm_80,sm_90,compute_90");
    vec_push(&words, NULL);
    int status = spawn_run(words.data);
    if (status == 127)
        diag_error(c->diag, nowhere, "cannot make `%s`: there is no program `%s`; name nvcc by FSM_NVCC, or write FILE.cu with -o",
                   object, words.data[0]);
    else if (status) diag_error(c->diag, nowhere, "cannot make `%s`: `%s` failed", object, words.data[0]);
    vec_free(&words);
    return !status;
}

bool nvcc_compile(Compilation *c, Str *text, const char *object) {
    char *source;
    if (!file_temporary(c->arena, "fsmc-", ".cu", &source)) {
        diag_error(c->diag, nowhere, "cannot write `%s`: %s", source, strerror(errno));
        return false;
    }
    bool ok = file_write(c->diag, source, text) && run_nvcc(c, source, object);
    remove(source);
    return ok;
}
