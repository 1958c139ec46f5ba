// fsmc-adbench: ADBench's problems by what fsmc makes of them, and by other tools (docs/benchmarks.md).
#define _GNU_SOURCE
#include "directions.h"
#include "results.h"
#include "runner.h"
#include "text.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: fsmc-adbench list [NAME...]\n"
    "       fsmc-adbench generate FOLDER NAME...\n"
    "       fsmc-adbench run [OPTION...] --out=FOLDER [NAME...]\n"
    "       fsmc-adbench table --out=FOLDER [--tool=TOOL...] [NAME...]\n"
    "       fsmc-adbench report --out=FOLDER [--tool=TOOL...] [NAME...]\n"
    "       fsmc-adbench check [--tool=TOOL] [--reference=TOOL] [--gradbench] [--tolerance=X] TYPE INPUT [EXPECTED]\n"
    "       fsmc-adbench compare [--tolerance=X] FILE REFERENCE\n"
    "       fsmc-adbench TYPE MODULE INPUT OUT_PREFIX MINIMUM NRUNS_F NRUNS_J TIME_LIMIT [-rep]\n"
    "NAME is an instance such as gmm/1k/gmm_d10_K25, a pattern as of the shell, or all; without one, what ADBench "
    "runs.\n"
    "TOOL is fsmc, fsmc-threads, manual-gcc, manual-clang, adolc, jax, pytorch, one in the folder "
    "$FSMC_ADBENCH_TOOLS,\n"
    "all of these, or NAME=HOW: a shared object (.so) or a program.\n"
    "Options of run: --data=FOLDER (of ADBench's files; else $FSMC_ADBENCH/data; others are generated), --tool=TOOL\n"
    "(may be repeated), --again, --minimum=SECONDS, --samples=N, --derivative-samples=N, --limit=SECONDS,\n"
    "--timeout=SECONDS, --memory=GB, --rounds=N, --threads=N, --tolerance=X\n";

typedef struct Options {
    Plan plan;
    const char *reference;
    bool gradbench;
    char **words; // those that are no options
    int nwords;
} Options;

static double number(const char *name, const char *word) {
    char *end;
    double value = strtod(word, &end);
    if (end == word || *end || !(value >= 0)) fail(STATUS_USAGE, "%s: expected a number from 0, found \"%s\"", name, word);
    return value;
}

// The text after NAME= if the word begins so.
static const char *value_of(const char *word, const char *name) {
    size_t length = strlen(name);
    return !strncmp(word, name, length) && word[length] == '=' ? word + length + 1 : NULL;
}

static bool take_option(Options *o, const char *word) {
    Plan *p = &o->plan;
    const char *value;
    if ((value = value_of(word, "--out"))) p->out = value;
    else if ((value = value_of(word, "--data"))) p->data = value;
    else if ((value = value_of(word, "--tool"))) add_peer(p, value);
    else if ((value = value_of(word, "--reference"))) o->reference = value;
    else if ((value = value_of(word, "--minimum"))) number("--minimum", p->minimum = value);
    else if ((value = value_of(word, "--limit"))) number("--limit", p->limit = value);
    else if ((value = value_of(word, "--samples"))) count_of("--samples", p->samples = value);
    else if ((value = value_of(word, "--derivative-samples"))) count_of("--derivative-samples", p->derivative_samples = value);
    else if ((value = value_of(word, "--timeout"))) p->timeout = number("--timeout", value);
    else if ((value = value_of(word, "--tolerance"))) p->tolerance = number("--tolerance", value);
    else if ((value = value_of(word, "--rounds"))) p->rounds = count_of("--rounds", value);
    else if ((value = value_of(word, "--threads"))) p->threads = (int)count_of("--threads", value);
    else if ((value = value_of(word, "--memory"))) p->memory = 1e9 * number("--memory", value);
    else if (!strcmp(word, "--again")) p->again = true;
    else if (!strcmp(word, "--gradbench")) o->gradbench = true;
    else return false;
    return true;
}

static int processors(void) {
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) ? 1 : CPU_COUNT(&allowed);
}

// Static, so that what it points to lives to the end.
static Options options = {.plan = {.minimum = "0.5",
                                   .samples = "10",
                                   .derivative_samples = "10",
                                   .limit = "10",
                                   .timeout = 300,
                                   .tolerance = -1, // not given
                                   .rounds = 1,
                                   .threads = 1}};

static void parse(int argc, char **argv) {
    const char *adbench = getenv("FSMC_ADBENCH");
    if (adbench && *adbench) options.plan.data = strdup(text("%s/data", adbench));
    options.words = argv;
    for (int i = 0; i < argc; i++) // first, since `all` tools depend on it
        if (value_of(argv[i], "--threads")) take_option(&options, argv[i]);
    if (options.plan.threads < 1 || options.plan.threads > processors())
        fail(STATUS_USAGE, "--threads: expected a number from 1 to %d, the processors", processors());
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "--", 2) != 0) options.words[options.nwords++] = argv[i];
        else if (!take_option(&options, argv[i])) fail(STATUS_USAGE, "there is no option %s\n%s", argv[i], usage);
}

static int list(Options *o) {
    Plan *p = &o->plan;
    p->count = select_instances(o->words, o->nwords, &p->instances);
    for (int64_t i = 0; i < p->count; i++) puts(p->instances[i].name);
    return 0;
}

static int generate_all(Options *o) {
    Plan *p = &o->plan;
    if (o->nwords < 2) fail(STATUS_USAGE, "expected a folder and names\n%s", usage);
    p->count = select_instances(o->words + 1, o->nwords - 1, &p->instances);
    for (int64_t i = 0; i < p->count; i++) generate(o->words[0], p->instances[i].name);
    return 0;
}

static const Plan *plan_of(Options *o) {
    if (!o->plan.out) fail(STATUS_USAGE, "--out=FOLDER is missing\n%s", usage);
    return &o->plan;
}

static int run(Options *o) {
    plan_of(o);
    if (o->plan.tolerance < 0) o->plan.tolerance = 1e-8;
    if (!o->plan.npeers) add_usual_peers(&o->plan);
    find_peers(&o->plan);
    o->plan.count = select_instances(o->words, o->nwords, &o->plan.instances);
    return run_plan(&o->plan);
}

static int compare(Options *o) {
    if (o->nwords != 2) fail(STATUS_USAGE, "expected two files\n%s", usage);
    Comparison c = compare_files(o->words[0], o->words[1], o->plan.tolerance < 0 ? 1e-8 : o->plan.tolerance);
    printf("%lld numbers compared, %lld too different, the largest difference %.1e%s\n", (long long)c.compared,
           (long long)c.violations, c.largest, c.shape ? "; the files have different shapes" : "");
    return c.shape || c.violations ? STATUS_DIFFERS : 0;
}

// All numbers of two tools' results.
static double largest_difference(const Results *a, const Results *b) {
    double worst = 0;
    for (int64_t i = 0; i < a->values; i++) worst = fmax(worst, difference(a->value[i], b->value[i]));
    for (int64_t i = 0; i < a->derivatives; i++) worst = fmax(worst, difference(a->derivative[i], b->derivative[i]));
    for (int64_t i = 0; a->starts && i <= a->rows; i++)
        if (a->starts[i] != b->starts[i]) return INFINITY;
    for (int64_t i = 0; a->places && i < a->derivatives; i++)
        if (a->places[i] != b->places[i]) return INFINITY;
    return worst;
}

static double compare_tools(const Tool *other, const Problem *q, const Results *r) {
    Results theirs = results_new(q, true);
    void *state = other->prepare(q);
    check_tool(other, state, &theirs);
    double worst = largest_difference(r, &theirs);
    other->release(state);
    results_free(&theirs);
    return worst;
}

static const Tool *tool_at(Plan *plan, int t) {
    const Peer *p = &plan->peers[t];
    if (!p->module) fail(STATUS_USAGE, "%s: expected a module", p->name);
    return tool_named(text("%s=%s", p->name, p->module));
}

static int check(Options *o) {
    if (o->nwords < 2 || o->nwords > 3)
        fail(STATUS_USAGE, "expected a type, a file, and perhaps one of expected values\n%s", usage);
    Kind kind = kind_named(o->words[0]);
    if (kind == KINDS) fail(STATUS_USAGE, "there is no type %s: GMM, BA, LSTM, HAND or HAND-COMPLICATED", o->words[0]);
    if (!o->plan.npeers) add_peer(&o->plan, fsmc_tool.name);
    if (o->reference) add_peer(&o->plan, o->reference);
    int peers = o->plan.npeers;
    find_peers(&o->plan);
    if (o->plan.npeers < peers) return STATUS_TOOL;
    const Tool *tool = tool_at(&o->plan, 0), *other = o->reference ? tool_at(&o->plan, peers - 1) : NULL;
    Problem q = read_problem(kind, o->words[1], false);
    if (o->gradbench) q.gmm.sign = -1;
    Results r = results_new(&q, true);
    void *state = tool->prepare(&q);
    check_tool(tool, state, &r);
    bool expected = o->nwords == 3, differences = !expected && !other;
    double worst = expected ? compare_expected(o->words[2], &q, &r)
                   : other  ? compare_tools(other, &q, &r)
                            : difference_of_direction(&q, tool, state, &r);
    double tolerance = o->plan.tolerance >= 0 ? o->plan.tolerance : differences ? 1e-6 : 1e-10;
    printf("%s by %s: the largest difference from %s is %s\n", problem_text(&q), tool->name,
           expected ? "expected values"
           : other  ? other->name
                    : "differences",
           worst <= tolerance ? text("at most %g", tolerance) : text("%.1e", worst));
    tool->release(state);
    results_free(&r);
    problem_free(&q);
    return worst <= tolerance ? 0 : STATUS_DIFFERS;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fputs(usage, stderr);
        return STATUS_USAGE;
    }
    if (kind_named(argv[1]) != KINDS) return run_module(argc - 1, argv + 1);
    const char *command = argv[1];
    if (!strcmp(command, "--help")) {
        fputs(usage, stdout);
        return 0;
    }
    parse(argc - 2, argv + 2);
    if (!strcmp(command, "list")) return list(&options);
    if (!strcmp(command, "generate")) return generate_all(&options);
    if (!strcmp(command, "run")) return run(&options);
    if (!strcmp(command, "table")) return print_table(plan_of(&options), options.words, options.nwords);
    if (!strcmp(command, "report")) return write_report(plan_of(&options), options.words, options.nwords);
    if (!strcmp(command, "check")) return check(&options);
    if (!strcmp(command, "compare")) return compare(&options);
    fail(STATUS_USAGE, "there is no command %s\n%s", command, usage);
}
