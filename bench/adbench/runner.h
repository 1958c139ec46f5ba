#ifndef ADBENCH_RUNNER_H
#define ADBENCH_RUNNER_H

#include "adbench.h"

int run_module(int argc, char **argv);                      // the words of the command line from the type on
const Tool *tool_named(const char *text);                   // fsmc, or a path, perhaps after a name and `=`
void check_tool(const Tool *tool, void *state, Results *r); // both calls; ends the program after an error
int64_t count_of(const char *what, const char *word);

#endif
