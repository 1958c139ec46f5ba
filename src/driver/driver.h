// The sub-commands.
#ifndef DRIVER_DRIVER_H
#define DRIVER_DRIVER_H

#include "driver/compile.h"

// Exit codes: 0 on success, and
enum { EXIT_USER = 1, EXIT_USAGE = 2, EXIT_INTERNAL = 3 };

// Carries out a command line; messages go to standard error. Returns the exit code.
int driver_run(const Options *opt);

// Writes the command line and the source to a file of its own after fatal_bug, and names it on standard error.
void driver_write_reproducer(const Compilation *c);

// Each command reports errors to c->diag.
void command_compile(Compilation *c);
void command_check(Compilation *c);
void command_parse(Compilation *c);
void command_run(Compilation *c);
void command_cost(Compilation *c);
void command_repl(Compilation *c);
void command_fmt(Compilation *c);
void command_gradcheck(Compilation *c);
void command_bisect(Compilation *c);
void command_bench(Compilation *c);
void command_tune(Compilation *c);

#endif
