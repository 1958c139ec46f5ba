#define _GNU_SOURCE
#include "random/fuzz.h"

#include "random/child.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { PATIENCE = 60 }; // seconds of the processor for one program

// What became of one program: "" if all is well or interpreting it takes too long, "compile" if the front end refuses
// it, else what is wrong.
typedef struct Verdict {
    char text[2000];
    int category; // 0: well, 1: refused, 2: crash, 3: errors differ, 4: values differ, 5: derivatives differ, 6:
                  // compiled too slowly
} Verdict;

typedef struct Job {
    const Source *src;
    const OracleOptions *o;
    int out;
    bool failed;
} Job;

static void on_report(void *data, const char *entry, OracleGroup group, const char *why) {
    Job *j = data;
    (void)entry;
    if (!why || !strncmp(why, "skip", 4) || j->failed) return;
    j->failed = true;
    char text[1800];
    snprintf(text, sizeof text, "%s: %s", oracle_group_names[group], why);
    child_send(j->out, text);
}

static int run_job(void *data, int out) {
    Job *j = data;
    j->out = out;
    OracleWorth w = {0};
    if (!(j->o->worth ? oracle_worth(j->src, j->o, &w, on_report, j) : oracle_check(j->src, j->o, on_report, j))) {
        child_send(j->out, "compile");
        return 1;
    }
    return 0;
}

static int category_of(const char *text) {
    if (!*text) return 0;
    if (!strcmp(text, "compile")) return 1;
    if (!strncmp(text, "crash", 5)) return 2;
    if (!strncmp(text, "slow", 4)) return 6;
    if (strstr(text, "error")) return 3;
    if (strstr(text, "stage") || strstr(text, "result")) return 4;
    return 5;
}

static Verdict judge(const char *text, const OracleOptions *opt, bool quiet) {
    Verdict v = {"", 0};
    Source src = {"random.fsm", text, strlen(text)};
    OracleOptions o = *opt;
    Job job = {&src, &o, -1, false};
    o.eager_states = strstr(text, "ifold") || strstr(text, "whileLoop");
    if (strstr(text, "stopGradient")) o.differences = false;
    // What runs again costs more.
    if (o.tape_limit || strstr(text, "#[")) o.tight = true, o.cost_bound = 1000;
    if (strstr(text, "(float ")) o.differences = false, o.tolerance = 1e-3, o.identity = 1e-3;
    child_run(&(Child){run_job, &job, quiet, PATIENCE}, v.text, sizeof v.text);
    v.category = category_of(v.text);
    return v;
}

OracleOptions fuzz_oracle(const FuzzOptions *o, uint64_t seed) {
    OracleOptions x;
    oracle_options_init(&x);
    x.seed = seed;
    x.trials = 6;
    x.tolerance = 1e-7, x.identity = 1e-8;
    x.fast = o->fast && !sample_has_poles(seed);
    x.precise = sample_has_poles(seed);
    x.ties = o->ties, x.differences &= !o->ties;
    x.written = o->written, x.worth = o->worth;
    x.int_low = -1, x.int_high = 4;
    x.tape_limit = seed % 10 == 3 ? 100 : seed % 10 == 6 ? 600 : 0;
    const char *cpus[ORACLE_CPUS];
    const int ncpus = o->cpus ? oracle_cpus(cpus) : 0;
    if (ncpus) x.cpu = cpus[seed % (uint64_t)ncpus];
    if (o->level >= 0) x.levels = 1u | 1u << (1 + seed % 3);
    return x;
}

typedef struct Shrinking {
    OracleOptions o;
    int category;
} Shrinking;

static bool fails_alike(void *data, const char *text) {
    Shrinking *x = data;
    return judge(text, &x->o, true).category == x->category;
}

static void report_failure(const FuzzOptions *o, uint64_t seed, Sample *s, const Verdict *v) {
    printf("seed %llu: %s\n%s", (unsigned long long)seed, v->text, sample_text(s));
    if (!o->shrink) return;
    Shrinking x = {fuzz_oracle(o, seed), v->category};
    sample_shrink(s, fails_alike, &x, o->shrink);
    Verdict small = judge(sample_text(s), &x.o, true);
    printf("smaller: %s\n%s", small.text, sample_text(s));
    fflush(stdout);
}

static bool *shared_flags(void) { // that a child can set
    bool *p = mmap(NULL, OP_COUNT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void count_reached(FuzzResult *r, const bool *reached, bool verbose) {
    Str missing = {0};
    for (int op = 0; op < OP_COUNT; op++) {
        int row = op_is_elementwise(op);
        r->all[row]++, r->have[row] += reached[op];
        if (!reached[op]) str_printf(&missing, " %s", op_info[op].name);
    }
    if (verbose)
        printf("%d of %d kinds and %d of %d operations occur%s%s\n", r->have[0], r->all[0], r->have[1], r->all[1],
               missing.len ? "; not" : "", str_text(&missing));
    str_free(&missing);
}

FuzzResult fuzz_run(const FuzzOptions *o) {
    FuzzResult r = {0};
    bool *reached = shared_flags();
    time_t start = time(NULL);
    for (int i = 0; i < o->count && !(r.failures && o->stop); i++) {
        if (o->seconds && time(NULL) - start >= o->seconds) break;
        uint64_t seed = o->first + (uint64_t)i;
        Arena *a = arena_new();
        Sample *s = sample_new(a, seed, o->size);
        OracleOptions x = fuzz_oracle(o, seed);
        x.reached = reached;
        if (o->verbose) printf("seed %llu\n%s", (unsigned long long)seed, sample_text(s));
        Verdict v = judge(sample_text(s), &x, !o->verbose);
        r.done++;
        r.compiled += v.category != 1;
        if (v.category > 1) {
            r.failures++, r.failed = seed;
            report_failure(o, seed, s, &v);
        }
        arena_free(a);
    }
    if (reached) count_reached(&r, reached, o->verbose);
    if (reached) munmap(reached, OP_COUNT);
    return r;
}
