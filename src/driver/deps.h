// Rules for make and ninja: which source files an output depends on.
#ifndef DRIVER_DEPS_H
#define DRIVER_DEPS_H

#include "driver/compile.h"

// The rule `targets: sources` of a source that was loaded, as make and ninja read it; with `phony`, also an empty rule
// for each opened file. Source text from standard input is no prerequisite. False after reporting a name that no rule
// can hold (one with a line break).
bool deps_print(Compilation *c, int ntargets, const char *const *targets, bool phony, Str *out);

#endif
