// Every program of tests/ad, and its derivatives, as CUDA code that an ordinary compiler takes (fsmc/cuda_shim.h), against the
// interpreter.
#define _POSIX_C_SOURCE 200809L
#include "driver/file.h"
#include "driver/spawn.h"
#include "oracle/guard.h"
#include "oracle/oracle.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GROUP = 8, MOST = 512 }; // so many programs are compiled together by an ordinary compiler, and at most there are
enum { LONG_TEXT = 750000 };    // bytes of CUDA code, above which a program is left to whoever asks for it, or for all

static const char *root, *folder; // the source folder; where files go
static bool keep;                 // only print
static bool second;               // second derivatives, too
static bool whole;                // all derivatives of each entry
static bool again;                // what is compiled already
static bool named;                // programs are asked for
static bool device;               // with nvcc, on a GPU

typedef struct Job {
    Arena *arena;
    const char *file, *name; // of tests/ad, and without its suffix
    OracleCuda cuda;
    int failures;
    bool says; // report what is checked
} Job;

static void on_report(void *data, const char *entry, OracleGroup group, const char *why) {
    Job *j = data;
    if (!j->says) return;
    const char *name = arena_printf(j->arena, "%s %s, %s", j->name, entry, oracle_group_names[group]);
    bool skip = why && !strncmp(why, "skip: ", 6);
    printf(why && !skip ? "not ok %s: %s\n" : "ok %s%s%s\n", name,
           why && skip ? " # "
           : why       ? why
                       : "",
           why && skip ? why + 6 : "");
    j->failures += why && !skip;
}

static int check(void *data) {
    Job *j = data;
    OracleOptions o;
    Diag *diag = diag_new(j->arena);
    oracle_options_init(&o);
    Source *src = file_read(j->arena, diag, arena_printf(j->arena, "%s/tests/ad/%s", root, j->file));
    bool ok = src && oracle_options_read(&o, src->text);
    const char *calls = ok && strstr(src->text, "\nextern ") ? "it calls functions of C" : NULL; // which a GPU does not
    if (ok && (calls || o.host)) {
        if (j->says) printf("skip %s: %s\n", j->name, calls ? calls : "it says that it is not for GPUs");
        diag_delete(diag);
        return 0;
    }
    o.cuda = &j->cuda, o.cost = NULL, o.thorough = whole;
    if (!second && o.groups > 2) o.groups = 2;
    ok = ok && oracle_check(src, &o, on_report, j);
    diag_delete(diag);
    if (!ok) printf("not ok %s: it does not compile\n", j->name);
    return j->failures + !ok;
}

// Prints or checks a program.
static int run(const char *file, OracleCuda cuda) {
    Job j = {.arena = arena_new(), .file = file, .cuda = cuda, .says = !cuda.text};
    j.name = arena_strndup(j.arena, file, strlen(file) - 4);
    char *prefix = arena_printf(j.arena, "p_%s_", j.name);
    for (char *p = prefix; *p; p++)
        if (!isalnum((unsigned char)*p)) *p = '_';
    j.cuda.prefix = prefix;
    int failures = 1;
    if (compile_guarded(check, &j, &failures)) {
        printf("not ok %s: a broken invariant at %s\n", j.name, oracle_where());
        failures = 1;
    }
    fflush(stdout);
    arena_free(j.arena);
    return failures;
}

static int is_program(const struct dirent *e) {
    size_t n = strlen(e->d_name);
    return n > 4 && !strcmp(e->d_name + n - 4, ".fsm");
}

// A word is a part of a program's name, or its file.
static bool is_meant(const char *file, const char *word) {
    size_t n = strlen(word);
    return n > 4 && !strcmp(word + n - 4, ".fsm") ? !strcmp(file, word) : strstr(file, word) != NULL;
}

// Programs, in a file; what it calls. Those that are too long are left out: NULL is put in their places.
static bool print_group(Arena *a, int group, int n, char **files) {
    Str text = {0};
    int failures = 0;
    for (int i = 0; i < n; i++) {
        size_t before = text.len;
        failures += run(files[i], (OracleCuda){.text = &text});
        if (text.len - before <= LONG_TEXT || whole || device || named) continue;
        text.len = before;
        printf("skip %s: more than %d bytes of code: cuda_programs -a, or its name\n", files[i], LONG_TEXT);
        files[i] = NULL;
    }
    FILE *f = fopen(arena_printf(a, "%s/%d.cu", folder, group), "w");
    if (!f || fwrite(text.data, 1, text.len, f) != text.len) failures++;
    if (f) fclose(f);
    str_free(&text);
    return !failures;
}

// Starts the compiler. Blocks are so small that there are several, and do iterations whose inner loops
// have some; what can be recorded is recorded at once. Of every two groups, one has loops by one block, several launches of it; of
// every four, two have a warp for each iteration, and several of these in a block.
static pid_t start_compiler(Arena *a, int group) {
    const char *compiler = getenv("FSMC_CXX"), *nvcc = getenv("FSM_NVCC"), *arch = getenv("FSM_ARCH");
    // What the shim does not need is not compiled: types and tables for exceptions, names that other libraries could
    // replace.
    const char *less = "-fno-rtti -fno-exceptions -fno-asynchronous-unwind-tables -fvisibility-inlines-hidden";
    const char *shim = arena_printf(a, "%s -w -fPIC %s -x c++", compiler ? compiler : "c++", less);
    const char *gpu = arena_printf(a, "%s -w -Xcompiler -fPIC -arch=%s", nvcc ? nvcc : "nvcc", arch ? arch : "native");
    const char *sizes = "-DFSM_BLOCK=32 -DFSM_LEAST_INNER=3 -DFSM_RECORD_AFTER=0 -DFSM_LEAST_PRODUCT=2 -DFSM_LEAST_PART=4 -DFSM_MOST_COPY=16 -DFSM_COPIES_PART=16";
    const char *folds = group % 2 ? "-DFSM_MOST_FOLD=1024 -DFSM_FOLD_STEPS=3" : "-DFSM_MOST_FOLD=2";
    const char *teams = group % 4 < 2 ? "-DFSM_ALONE=1 -DFSM_TEAMS=2" : "";
    const char *command = arena_printf(a, "%s -std=c++17 -O0 %s %s %s -shared -I '%s/include' '%s/%d.cu' -o '%s/%d.so' 2> '%s/%d.err'",
                                       device ? gpu : shim, sizes, folds, teams, root, folder, group, folder, group, folder, group);
    fflush(NULL);
    pid_t pid = fork();
    if (pid) return pid;
    execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(127);
}

static int call_group(Arena *a, int group, int n, char *const *files) {
    void *library = dlopen(arena_printf(a, "%s/%d.so", folder, group), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("not ok group %d, of %d programs, cannot be loaded: %s\n", group, n, dlerror());
        return 1;
    }
    int failures = 0;
    for (int i = 0; i < n; i++)
        if (files[i]) failures += run(files[i], (OracleCuda){.library = library});
    dlclose(library);
    return failures;
}

// Two compilers run at once; nvcc, which takes half a minute for a megabyte, has each program for itself, on all
// processors.
static int run_all(Arena *a, int n, char **files) {
    int size = device ? 1 : GROUP, groups = (n + size - 1) / size, failures = 0;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    // A group is called so many steps after its compiler's start.
    int ahead = device && processors > 2 ? (int)processors : 2;
    pid_t pid[MOST];
    for (int g = 0; g < groups + ahead; g++) {
        int of = n - g * size < size ? n - g * size : size, done = g - ahead;
        if (g < groups) {
            if (!print_group(a, g, of, files + g * size)) failures++;
            if (!keep && !again) pid[g] = start_compiler(a, g);
        }
        if (keep || done < 0 || done >= groups) continue;
        if (!again) waitpid(pid[done], NULL, 0);
        failures += call_group(a, done, n - done * size < size ? n - done * size : size, files + done * size);
        fflush(stdout);
    }
    return failures;
}

// usage: cuda_programs [-a] [-2] [-g] [-k] [-p FOLDER] [WORD|FILE...]. Without words all programs but the longest; -a: these,
// too, and tangents and adjoints of all entries, not one of them in turn; -2: second derivatives, too, which takes ten
// times as long; -g: on a GPU, with nvcc (FSM_NVCC, FSM_ARCH); -p: only prints FOLDER/0.cu and so on, each of several; -k:
// calls what the last run with the same words has compiled.
int main(int argc, char **argv) {
    guard_tell_crashes(STDERR_FILENO);
    Arena *a = arena_new();
    struct dirent **list;
    char *files[MOST];
    int count = 0;
    root = getenv("FSMC_ROOT") ? getenv("FSMC_ROOT") : "../..";
    folder = getenv("FSMC_TEST_TMP");
    if (argc > 1 && !strcmp(argv[1], "-a")) whole = true, argc--, argv++;
    if (argc > 1 && !strcmp(argv[1], "-2")) second = true, argc--, argv++;
    if (argc > 1 && !strcmp(argv[1], "-g")) device = true, argc--, argv++;
    if (argc > 1 && !strcmp(argv[1], "-k")) again = true, argc--, argv++;
    if (argc > 2 && !strcmp(argv[1], "-p")) keep = named = true, folder = argv[2], argc -= 2, argv += 2;
    if (!folder) folder = "/tmp";
    named |= argc > 1;
    int n = scandir(arena_printf(a, "%s/tests/ad", root), &list, is_program, alphasort);
    for (int i = 0; i < n; i++) {
        bool wanted = argc < 2;
        for (int k = 1; k < argc; k++) wanted |= is_meant(list[i]->d_name, argv[k]);
        if (wanted && count < MOST) files[count++] = arena_strdup(a, list[i]->d_name);
        free(list[i]);
    }
    if (n > 0) free(list);
    setenv("FSM_CUDA_SHIM", "others", 0); // an order that is missing shows
    int failures = count ? run_all(a, count, files) : 1;
    if (!count) printf("not ok: no programs in %s/tests/ad\n", root);
    arena_free(a);
    return failures > 0;
}
