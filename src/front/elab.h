// From the core language to the IR.
#ifndef FRONT_ELAB_H
#define FRONT_ELAB_H

#include "front/core.h"

// Builds the IR of every entry of the program with the builders of m (as written if m->raw). Derivatives are built
// here. *count gets the number of functions, those without errors; errors go to the diag of the program's unit. The
// same program may be elaborated several times. Everything lives in m's arena; a function's ir is m.
Func **elab_program(Ir *m, const CoreProgram *p, int *count);

#endif
