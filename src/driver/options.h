// The command line of fsmc, as data.
#ifndef DRIVER_OPTIONS_H
#define DRIVER_OPTIONS_H

#include "cpu/cpu.h"
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

typedef enum When { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER } When;

enum { PASS_MAX = 64 };

typedef struct Options {
    int argc;
    char *const *argv; // as they were written
    Command command;
    bool help, version; // print that instead
    const char *file;   // "-" is standard input
    const char *output; // NULL: from the source's name, or standard output
    Emit emit;
    const char *entry; // NULL: all
    VEC(const char *) include;
    VEC(const char *) words; // run, cost: NAME=VALUE
    int level;
    CpuFp fp;
    const char *cpu; // NULL: by command
    Engine engine;
    When color;
    int error_limit; // 0: none
    bool werror, time_passes, verify, debug, debug_nan;
    const struct Pass *passes[PASS_MAX]; // what to run, in order
    int npasses;
    const char *dump_after; // a pass, "elaborate", "all", or NULL
} Options;

// Options as they are without a command line.
void options_init(Options *o);
void options_free(Options *o);
// Reads a command line; its strings must outlive o. False after appending what is wrong with it to message.
bool options_parse(Options *o, int argc, char *const *argv, Str *message);
// The text of --help: of the sub-command, of everything for COMMAND_COMPILE.
void options_help(Str *out, Command command);

#endif
