// `--emit=python`: a module and the shared library that it loads.
#ifndef DRIVER_PYTHON_H
#define DRIVER_PYTHON_H

#include "driver/compile.h"

// The file of the module: -o, or the source's name with the suffix .py.
const char *python_module_path(const Compilation *c);
// The file of the library: libNAME.so beside the module NAME.py. NULL if --library says that it is made elsewhere.
const char *python_library_path(const Compilation *c);
// Writes both. Errors go to c->diag, and nothing is left behind after one.
void python_write(Compilation *c, FuncList funcs);

#endif
