// Type inference with inlining: from the AST to the core language, one tree per entry.
#ifndef FRONT_INFER_H
#define FRONT_INFER_H

#include "front/core.h"
#include "front/module.h"

// Types every entry of the unit's main file (only those named in `only`, if n is not 0; it is an error if
// there is none of a name). Functions are inlined, so each use is typed afresh. Definitions of the user's files that no
// entry uses are checked as far as their parameters' types are known. Errors go to the unit's diag; the program then holds the
// entries that are free of them.
CoreProgram *infer_program(Unit *u, int n, const char *const *only);

#endif
