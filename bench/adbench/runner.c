// The command line of ADBench's runner: TYPE MODULE INPUT OUT_PREFIX MINIMUM NRUNS_F NRUNS_J TIME_LIMIT [-rep].
#define _POSIX_C_SOURCE 200809L
#include "runner.h"

#include "text.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *library_at(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(STATUS_FILE, "%s", dlerror());
    return library;
}

// A module of ADBench's runner in C++.
static bool is_module(void *library) {
    static const char *const tests[] = {"get_gmm_test", "get_ba_test", "get_lstm_test", "get_hand_test"};
    for (int i = 0; i < 4; i++)
        if (dlsym(library, tests[i])) return true;
    return false;
}

const Tool *tool_named(const char *text_of) {
    const char *equals = strchr(text_of, '='), *path = equals ? equals + 1 : text_of;
    if (!strcmp(path, fsmc_tool.name)) return &fsmc_tool;
    if (!strchr(path, '/'))
        fail(STATUS_USAGE, "there is no module `%s`: expected fsmc, or a shared object with a `/` in its path", path);
    void *library = library_at(path);
    const Tool *tool = dlsym(library, "adbench_tool");
    if (!tool && is_module(library)) {
        setenv("FSMC_ADBENCH_MODULE", path, 1);
        tool = dlsym(library_at(beside("module/load.so")), "adbench_tool");
    }
    if (!tool) fail(STATUS_FILE, "%s: does not define `adbench_tool`", path);
    Tool *named = allocate(1, sizeof *named);
    *named = *tool;
    if (equals) named->name = strdup(text("%.*s", (int)(equals - text_of), text_of));
    return named;
}

void check_tool(const Tool *tool, void *state, Results *r) {
    if (!state) fail(STATUS_TOOL, "%s: out of memory", tool->name);
    const char *error = tool->objective(state, r);
    if (!error && r->derivative) error = tool->derivative(state, r);
    if (error) fail(STATUS_TOOL, "%s: %s", tool->name, error);
}

static double seconds(const char *what, const char *word) {
    char *end;
    double value = strtod(word, &end);
    if (end == word || *end || !(value >= 0)) fail(STATUS_USAGE, "%s: expected seconds, found \"%s\"", what, word);
    return value;
}

int64_t count_of(const char *what, const char *word) {
    char *end;
    errno = 0;
    long long value = strtoll(word, &end, 10);
    if (errno || end == word || *end || value < 0) fail(STATUS_USAGE, "%s: expected a number from 0, found \"%s\"", what, word);
    return value;
}

static const char *base_name(const char *file) {
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
    return text("%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
}

// Objectives and Jacobians of more numbers are not written: the files would be huge.
static int64_t most_written(void) {
    const char *limit = getenv("FSMC_ADBENCH_ENTRIES");
    return limit ? count_of("FSMC_ADBENCH_ENTRIES", limit) : 10000000;
}

static void write_results(const char *to, const Tool *tool, const Problem *q, const Results *r, const double times[2]) {
    if (r->values <= most_written()) write_values(text("%sF_%s.txt", to, tool->name), q, r);
    if (r->derivatives <= most_written()) write_derivative(text("%sJ_%s.txt", to, tool->name), q, r);
    write_times(text("%stimes_%s.txt", to, tool->name), times[0], times[1]);
}

int run_module(int argc, char **argv) {
    if (argc != 8 && !(argc == 9 && !strcmp(argv[8], "-rep")))
        fail(STATUS_USAGE, "expected TYPE MODULE INPUT OUT_PREFIX MINIMUM NRUNS_F NRUNS_J TIME_LIMIT [-rep]");
    Timing timing = {seconds("MINIMUM", argv[4]), seconds("TIME_LIMIT", argv[7]), count_of("NRUNS_F", argv[5])};
    int64_t derivative_samples = count_of("NRUNS_J", argv[6]);
    Problem q = read_problem(kind_named(argv[0]), argv[2], argc == 9);
    const Tool *tool = tool_named(argv[1]);
    Results r = results_new(&q, derivative_samples > 0);
    void *state = tool->prepare(&q);
    if (!state) fail(STATUS_TOOL, "%s: out of memory", tool->name);
    double times[2] = {0};
    if (timing.samples) times[0] = time_calls(&timing, tool->objective, state, &r);
    timing.samples = derivative_samples;
    if (timing.samples) times[1] = time_calls(&timing, tool->derivative, state, &r);
    write_results(text("%s%s_", argv[3], base_name(argv[2])), tool, &q, &r, times);
    tool->release(state);
    results_free(&r);
    problem_free(&q);
    return 0;
}
