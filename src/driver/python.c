// The module is text (cpu/python.c). The library is linked by the C compiler of the machine from the object and the
// run-time library libfsmrt.a, which is looked for where the build and the installation put it relative to fsmc.
#define _GNU_SOURCE
#include "driver/python.h"

#include "cpu/python.h"
#include "driver/file.h"
#include "driver/spawn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *python_library_path(const Compilation *c, const char *module) {
    if (c->opt->library) return NULL;
    const char *base = file_base(module);
    const char *stem = file_with_suffix(c->arena, base, "");
    return arena_printf(c->arena, "%.*slib%s.so", (int)(base - module), module, stem);
}

// ---- linking

// libfsmrt.a; NULL after an error.
static const char *find_runtime(Compilation *c) {
    static const char *const places[] = {"", FSMC_LIBDIR "/"};
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe);
    if (n > 0 && (size_t)n < sizeof exe) {
        const char *folder = arena_strndup(c->arena, exe, (size_t)n);
        folder = arena_strndup(c->arena, folder, (size_t)(file_base(folder) - folder));
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            const char *path = arena_printf(c->arena, "%s%slibfsmrt.a", *places[i] == '/' ? "" : folder, places[i]);
            if (!access(path, R_OK)) return path;
        }
    }
    diag_error(c->diag, nowhere, "the run-time library libfsmrt.a is neither beside fsmc nor in `%s`", FSMC_LIBDIR);
    return NULL;
}

// Links the library with $CC, or else with the first C compiler that there is.
static bool link_library(Compilation *c, const char *object, const char *library) {
    const char *runtime = find_runtime(c), *chosen = getenv("CC");
    if (!runtime) return false;
    const char *compilers[] = {"cc", "gcc", "clang", NULL};
    if (chosen && chosen[strspn(chosen, " \t")]) compilers[0] = chosen, compilers[1] = NULL;
    for (int i = 0; compilers[i]; i++) {
        SpawnWords words = {0};
        spawn_words(c->arena, &words, compilers[i]);
        const char *const rest[] = {"-shared", "-o", library, object, "-Wl,--whole-archive", runtime, "-Wl,--no-whole-archive",
                                    "-lm",     NULL};
        for (int k = 0; k < (int)(sizeof rest / sizeof *rest); k++) vec_push(&words, (char *)rest[k]);
        fflush(NULL);
        int status = spawn_run(words.data);
        vec_free(&words);
        if (!status) return true;
        if (status == 127 && !(chosen && compilers[0] == chosen)) continue;
        if (status == 127) diag_error(c->diag, nowhere, "cannot link `%s`: there is no program `%s` ($CC)", library, compilers[i]);
        else diag_error(c->diag, nowhere, "cannot link `%s`: `%s` failed", library, compilers[i]);
        return false;
    }
    diag_error(c->diag, nowhere, "cannot link `%s`: there is no C compiler (cc, gcc, clang, or what CC names)", library);
    return false;
}

// Compiles to an object of its own and links that.
static bool make_library(Emission *e, const char *library) {
    Compilation *c = e->c;
    CpuModule *m = emission_module(e);
    if (!m) return false;
    compile_stage(c, "object");
    char *object;
    bool made = file_temporary(c->arena, "fsmc-", ".o", &object);
    if (!made) diag_error(c->diag, nowhere, "cannot write `%s`: %s", object, strerror(errno));
    bool ok = made && cpu_write_object(m, c->diag, object);
    compile_stage(c, "link");
    ok = ok && link_library(c, object, library);
    if (made) remove(object);
    return ok;
}

// ---- the module

// Reports a name that the module cannot have.
static bool check_name(Compilation *c, const char *path) {
    const char *name = file_with_suffix(c->arena, file_base(path), ""), *dot = strrchr(path, '.');
    if (!dot || strcmp(dot, ".py"))
        diag_error(c->diag, nowhere, "a Python module is a file whose name ends in .py, not `%s`", path);
    else if (!cpu_python_importable(name))
        diag_error(c->diag, nowhere, "Python cannot import `%s`: name the module with -o FILE.py", name);
    else if (file_same(path, c->src->name)) diag_error(c->diag, nowhere, "the output `%s` would replace the source", path);
    else return true;
    return false;
}

void python_write(Emission *e, const char *module) {
    Compilation *c = e->c;
    const char *library = python_library_path(c, module);
    if (strcmp(module, "-") && !check_name(c, module)) return;
    const FuncList *funcs = emission_planned(e);
    compile_stage(c, "python");
    Str text = {0};
    const char *loaded = library ? file_base(library) : c->opt->library;
    bool ok = cpu_python(&text, c->diag, file_base(c->src->name), loaded, funcs->n, funcs->f);
    ok = ok && (!library || make_library(e, library));
    if (ok && compile_ok(c) && !file_write(c->diag, module, &text) && library) remove(library);
    str_free(&text);
}
