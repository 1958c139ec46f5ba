// What the rules are worth: programs and their derivatives have the values that they have as written, within 1e-12 of the
// size of their terms, and cost no more than without rules, by more than SLACK percent: that an element is added to zeros is
// an addition, and that it is looked for among all elements none. What is counted is what is needed, as [TL] Fig. 6 does
// (4.33: a bracket that does not hold costs nothing): lowering computes an arm of a select that costs little and cannot fail
// whether or not it is taken, and as written most arms could fail, so that they are branches. The exceptions that are known
// are in worth.txt, the list of what is to be mended. A program may say how large its Int arguments are to be here (`counts`),
// where rules are made for many iterations: a closed form costs more than a loop of two.
// PROGRAM [fast] ENTRY, FORM, WITHOUT PERCENT.
#define _POSIX_C_SOURCE 200809L
#include "driver/file.h"
#include "random/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Random programs, and how many of them are dearer than without rules at most.
enum { RANDOM = 100, DEARER = 15, SLACK = 25 };

static bool list, all, each_pass, each_rule, fast; // the options
static const char *known = "";                     // worth.txt
static int failures;

typedef struct Job {
    Arena *arena;
    const char *name; // of the program
    const Source *src;
    OracleOptions o;
    OracleWorth w;
    const char *why; // what is wrong
} Job;

static void on_report(void *data, const char *entry, OracleGroup group, const char *why) {
    Job *j = data;
    (void)group;
    if (!j->why) j->why = arena_printf(j->arena, "%s, %s", entry, why);
}

static void on_cost(void *data, const char *entry, const char *form, const char *without, int64_t work, int64_t less) {
    Job *j = data;
    double percent = 100 * (double)(work - less) / (double)(less ? less : 1);
    const char *key = arena_printf(j->arena, "%s%s %s, %s, %s ", j->name, j->o.fast ? " fast" : "", entry, form, without);
    const char *line = strstr(known, key);
    if (list && percent <= SLACK) return;
    if (list || all || each_pass || each_rule) {
        printf("%s%.1f", key, percent);
        printf(list ? "\n" : " (%lld against %lld)\n", (long long)work, (long long)less);
    } else if ((line ? strtod(line + strlen(key), NULL) : 0) + SLACK < percent && !j->why)
        j->why = arena_printf(j->arena, "%s costs %lld, but without %s %lld, and worth.txt does not know it: %s %.1f", entry,
                              (long long)work, without, (long long)less, key, percent);
}

static int check(void *data) {
    Job *j = data;
    return !oracle_worth(j->src, &j->o, &j->w, on_report, j);
}

static void print(Job *j) {
    if (list || all || each_pass || each_rule) return;
    if (j->why) printf("not ok %s: %s\n", j->name, j->why);
    else printf("ok %s\n", j->name);
    failures += j->why != NULL;
    fflush(stdout);
}

static const char *root(void) {
    const char *path = getenv("FSMC_ROOT");
    return path ? path : "../..";
}

static const Source *read_file(Arena *a, const char *path) {
    Diag *diag = diag_new(a);
    const Source *src = file_read(a, diag, arena_printf(a, "%s/%s", root(), path));
    diag_delete(diag);
    return src;
}

// What rules are worth, small sizes say as well as large ones, which are there for blocks of loops; and without rules, loops go
// over all rows of arrays that have no elements, of which there may be 2^62.
static void leave_out_large(OracleOptions *o) {
    enum { LARGE = 16 };
    int n = 0;
    for (int i = 0; i < o->nsizes; i++)
        if (o->sizes[i] < LARGE) o->sizes[n++] = o->sizes[i];
    if (n) o->nsizes = n;
}

static void test_program(const char *path, bool is_fast) {
    Job j = {.arena = arena_new(), .name = path, .w = {.each_pass = each_pass, .each_rule = each_rule, .cost = on_cost}};
    int result = 1;
    j.src = read_file(j.arena, path);
    oracle_options_init(&j.o);
    bool ok = j.src && oracle_options_read(&j.o, j.src->text);
    if (j.o.count_high) j.o.int_low = j.o.count_low, j.o.int_high = j.o.count_high;
    leave_out_large(&j.o);
    if (!j.o.says_groups || j.o.groups < 2) j.o.groups = 2; // second derivatives only where they are asked for
    j.o.trials = 3, j.o.fast |= is_fast;
    if (!ok || compile_guarded(check, &j, &result) || result) j.why = "it does not compile";
    print(&j);
    arena_free(j.arena);
}

// Without rules two of them take more time or memory than a test may.
static int is_program(const struct dirent *e) {
    size_t n = strlen(e->d_name);
    if (!strcmp(e->d_name, "bgd_hyperopt.fsm") || !strcmp(e->d_name, "qwop.fsm")) return false;
    return n > 4 && !strcmp(e->d_name + n - 4, ".fsm");
}

static void test_folder(Arena *a, const char *folder, bool is_fast) {
    struct dirent **entries;
    int n = scandir(arena_printf(a, "%s/%s", root(), folder), &entries, is_program, alphasort);
    for (int i = 0; i < n; i++) {
        test_program(arena_printf(a, "%s/%s", folder, entries[i]->d_name), is_fast);
        free(entries[i]);
    }
    if (n > 0) free(entries);
}

static void test_random(void) {
    Job all = {.arena = arena_new(), .name = "random programs"};
    int compiled = 0, dearer = 0;
    OracleWorth sum = {0};
    for (uint64_t seed = 1; seed <= RANDOM; seed++) {
        Job j = {.arena = arena_new(), .name = "random", .w = {.cost = NULL}};
        FuzzOptions o = {.size = 22, .level = 1, .fast = seed % 2};
        const char *text = sample_text(sample_new(j.arena, seed, o.size));
        j.src = &(Source){"random.fsm", text, strlen(text)};
        j.o = fuzz_oracle(&o, seed);
        int result = 1;
        bool left = compile_guarded(check, &j, &result);
        if (left || (j.why && !all.why))
            all.why = arena_printf(all.arena, "seed %llu: %s", (unsigned long long)seed, left ? "a broken invariant" : j.why);
        compiled += !result, dearer += j.w.work > j.w.without;
        sum.work += j.w.work, sum.without += j.w.without, sum.numbers += j.w.numbers, sum.skipped += j.w.skipped;
        arena_free(j.arena);
    }
    printf(
        "# %d random programs, %d dearer with rules than without; in all they cost %lld, not %lld; %lld numbers compared, %lld skipped\n",
        compiled, dearer, (long long)sum.work, (long long)sum.without, (long long)sum.numbers, (long long)sum.skipped);
    if (!all.why && (dearer > DEARER || sum.work > sum.without)) all.why = "rules cost more than they should";
    print(&all);
    arena_free(all.arena);
}

// usage: worth [-l] [-a] [-p] [-r] [-f] [PROGRAM...]. -l: prints worth.txt anew; -a: prints what is dearer than without rules by
// any amount; -p, -r: also than without each pass, or each rule; -f: by --fp=fast.
int main(int argc, char **argv) {
    static const char *const folders[] = {"tests/ad", "examples", "examples/fit", "bench/kernels", "bench/coarsening"};
    for (int c; (c = getopt(argc, argv, "laprf")) != -1;)
        list |= c == 'l', all |= c == 'a', each_pass |= c == 'p', each_rule |= c == 'r', fast |= c == 'f';
    Arena *a = arena_new();
    const Source *text = read_file(a, "tests/unit/worth.txt");
    if (text) known = text->text;
    for (int i = optind; i < argc; i++) test_program(argv[i], fast);
    for (size_t k = 0; k < sizeof folders / sizeof *folders && optind == argc; k++) test_folder(a, folders[k], fast);
    if (optind == argc) test_folder(a, "bench/coarsening", true);
    if (optind == argc && !list && !all && !each_pass && !each_rule) test_random();
    arena_free(a);
    return failures > 0;
}
