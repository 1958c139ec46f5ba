// The command line of fsmc, as data.
#ifndef DRIVER_OPTIONS_H
#define DRIVER_OPTIONS_H

#include "cpu/cpu.h"
#include "ir/rule.h"
#include "lower/loop_passes.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/str.h"
#include "support/vec.h"

#include <stdbool.h>

typedef enum Command {
#define COMMAND(id, ...) COMMAND_##id,
#include "driver/options.def"
    COMMAND_COUNT
} Command;

typedef enum Emit {
#define EMIT(id, ...) EMIT_##id,
#include "driver/options.def"
    EMIT_COUNT
} Emit;

typedef enum Engine {
    ENGINE_JIT,    // compiled code
    ENGINE_INTERP, // the reference interpreter, on the program as written
    ENGINE_EXEC    // the executor of loop trees, on the optimised program
} Engine;

typedef enum Measure { BY_RESULT, BY_SIZE, BY_TIME, BY_OPERATIONS } Measure; // in the order of their names (option_choice)

typedef enum When { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER } When;

typedef enum Target { TARGET_CPU, TARGET_CUDA } Target;

enum { PASS_MAX = 64 };

typedef struct Options {
    Arena *arena;           // of words from response files
    VEC(const char *) argv; // as they were written, with the words of response files in their place
    Command command;
    bool help, version;        // print that instead
    const char *file;          // "-" is standard input
    const char *word;          // the operand of a command that takes a word instead, or NULL
    const char *output;        // NULL: from the source's name, or standard output
    unsigned emit;             // a bit for each Emit
    const char *library;       // of a Python module, made elsewhere; or NULL
    VEC(const char *) entries; // none: all
    VEC(const char *) load;    // shared libraries
    VEC(const char *) include;
    VEC(const char *) words; // run, cost: NAME=VALUE; fmt: the files after the first
    const char *calls;       // run: the file of calls ("-": standard input), or NULL
    int level;
    CpuFp fp;
    Target target;
    bool fast_atomics, cublas;
    const char *cuda_arch;          // as given; NULL: the default
    const char *cpu;                // NULL: by command
    bool deps_only, deps_too;       // write the rule of dependencies, alone or with the output
    const char *deps_file;          // NULL: from the output's name, or standard output
    VEC(const char *) deps_targets; // none: the outputs
    bool deps_phony;
    Engine engine;
    When color;
    When check_bounds;
    int error_limit;  // 0: none
    unsigned explain; // topics
    bool warn[WARNING_COUNT], warn_error[WARNING_COUNT];
    int64_t tape_limit;  // 0: none
    int64_t code_size;   // 0: by the size of the entry
    const char *machine; // a file of what the schedule assumes of it; NULL: none
    int lanes;           // of loops, as in CpuOptions
    int threads;         // as in CpuOptions; -1: no loop is cut into chunks for threads
    int jobs;            // as in CpuOptions
    bool threads_always; // wherever that is possible, for tests
    bool lanes_always;   // wherever they are possible, for tests
    bool werror, time_passes, verify, debug, debug_nan, strict_nan;
    bool in_place, fmt_check;
    Measure by; // bisect
    int seed;
    double low, high;       // of random arguments
    int trials;             // gradcheck
    double tolerance, step; // 0: by precision
    const char *compare;    // bench: the second of the entries, or NULL
    double min_time;        // bench, in seconds
    int runs;
    bool json;
    const struct Pass *passes[PASS_MAX]; // what to run, in order
    int npasses;
    const struct LoopPass *loop_passes[PASS_MAX]; // likewise of those over loop trees
    int nloop_passes;
    bool loops_listed; // these were named one by one
    bool rules_off[RULE_COUNT];
    int64_t fuel;           // how many rewritings; -1: any number
    const char *dump_after; // a pass, "elaborate", "all", or NULL
} Options;

// Options as they are without a command line.
void options_init(Options *o);
void options_free(Options *o);
// Reads a command line, and the response files (@FILE) that it names; its strings must outlive o. False after appending what is
// wrong with it to message.
bool options_parse(Options *o, int argc, char *const *argv, Str *message);
// The name of the sub-command that has help of its own, else "".
const char *options_command(const Options *o);
#endif
