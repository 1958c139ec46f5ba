// Every program of tests/ad by every engine, its derivatives against each other and against differences.
#define _POSIX_C_SOURCE 200809L
#include "driver/file.h"
#include "oracle/guard.h"
#include "oracle/oracle.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool interpreted, costs, written, stop, without, whole; // the options
static const char *cpus[ORACLE_CPUS]; // -C; NULL: the processor's own
static int ncpus;
static bool rules_off[RULE_COUNT];

typedef struct Job {
    Arena *arena;
    const char *path, *name; // without directories and suffix
    const char *cpu;
    int failures;
    OracleCost *cost;
} Job;

static void on_report(void *data, const char *entry, OracleGroup group, const char *why) {
    Job *j = data;
    const char *name = arena_printf(j->arena, "%s %s, %s", j->name, entry, oracle_group_names[group]);
    if (!why || !strncmp(why, "skip: ", 6)) {
        printf("ok %s%s%s\n", name, why ? " # " : "", why ? why + 6 : "");
        return;
    }
    printf("not ok %s: %s\n", name, why);
    j->failures++;
}

static int check(void *data) {
    Job *j = data;
    OracleOptions o;
    Diag *diag = diag_new(j->arena);
    oracle_options_init(&o);
    o.cost = j->cost;
    Source *src = file_read(j->arena, diag, j->path);
    bool ok = src && oracle_options_read(&o, src->text);
    if (interpreted) o.levels = 0;
    o.print_costs = costs;
    o.written = written;
    o.thorough = whole;
    o.cpu = j->cpu;
    if (without) o.rules_off = rules_off;
    ok = ok && oracle_check(src, &o, on_report, j);
    diag_delete(diag);
    if (!ok) printf("not ok %s: it does not compile\n", j->name);
    return j->failures + !ok;
}

static int run_on(const char *folder, const char *file, const char *cpu, OracleCost *cost) {
    Job j = {.arena = arena_new(), .cost = cost, .cpu = cpu};
    j.path = arena_printf(j.arena, "%s/%s", folder, file);
    j.name = arena_printf(j.arena, "%.*s%s%s", (int)strlen(file) - 4, file, cpu ? " on " : "", cpu ? cpu : "");
    int failures = 1;
    if (compile_guarded(check, &j, &failures)) {
        printf("not ok %s: a broken invariant at %s\n", j.name, oracle_where());
        failures = 1;
    }
    fflush(stdout);
    arena_free(j.arena);
    return failures;
}

static int run(const char *folder, const char *file, OracleCost *cost) {
    int failures = 0;
    for (int i = 0; i < ncpus; i++) failures += run_on(folder, file, cpus[i], cost);
    return failures;
}

// A word is a part of a program's name, or its file.
static bool is_meant(const char *file, const char *word) {
    size_t n = strlen(word);
    return n > 4 && !strcmp(word + n - 4, ".fsm") ? !strcmp(file, word) : strstr(file, word) != NULL;
}

static int is_program(const struct dirent *e) {
    size_t n = strlen(e->d_name);
    return n > 4 && !strcmp(e->d_name + n - 4, ".fsm");
}

// usage: ad_programs [-a] [-i] [-c] [-w] [-x] [-C CPU] [-r RULE] [-k RULE] [WORD|FILE...]. Without them all programs of
// the folder; -i: by interpreters only; -c: prints what each derivative costs in terms of its primal; -w: only as
// written, without passes; -x: until one fails; -a: with all passes of LLVM at every level, which takes five times as
// long; -C CPU: compiled for this one, as --target-cpu says it, `each`: for x86-64-v2, -v3 and -v4, as far as they are
// there; -r RULE: without this rule, `all`: without any; -k RULE: with it all the same.
int main(int argc, char **argv) {
    guard_tell_crashes(STDERR_FILENO);
    for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
        interpreted |= !strcmp(argv[1], "-i");
        costs |= !strcmp(argv[1], "-c");
        written |= !strcmp(argv[1], "-w");
        whole |= !strcmp(argv[1], "-a");
        stop |= !strcmp(argv[1], "-x");
        if (!strcmp(argv[1], "-C") && argc > 2) {
            ncpus = !strcmp(argv[2], "each") ? oracle_cpus(cpus) : 1;
            if (ncpus == 1 && strcmp(argv[2], "each")) cpus[0] = argv[2];
            argc--, argv++;
        }
        bool off = !strcmp(argv[1], "-r");
        if ((!off && strcmp(argv[1], "-k")) || argc < 3) continue;
        without = true, argc--, argv++;
        for (int k = 0; k < RULE_COUNT; k++)
            if (!strcmp(argv[1], "all") || !strcmp(argv[1], rule_info[k].name)) rules_off[k] = off;
    }
    if (!ncpus) ncpus = 1;
    const char *root = getenv("FSMC_ROOT");
    char folder[4096];
    struct dirent **list;
    int failures = 0;
    OracleCost worst = {0};
    char worst_file[256] = "";
    snprintf(folder, sizeof folder, "%s/tests/ad", root ? root : "../..");
    int n = scandir(folder, &list, is_program, alphasort);
    if (n <= 0) printf("not ok: no programs in %s\n", folder);
    for (int i = 0; i < n; i++) {
        bool wanted = argc < 2;
        for (int k = 1; k < argc; k++) wanted |= is_meant(list[i]->d_name, argv[k]);
        OracleCost one = {0};
        if (wanted && !(stop && failures)) failures += run(folder, list[i]->d_name, &one);
        if (one.ratio > worst.ratio) {
            worst = one;
            snprintf(worst_file, sizeof worst_file, "%s", list[i]->d_name);
        }
        free(list[i]);
    }
    if (n > 0) free(list);
    printf("# the dearest derivative costs %.2f times its primal (bound %g): %s %s\n", worst.ratio, worst.bound, worst_file,
           worst.what);
    return failures > 0 || n <= 0;
}
