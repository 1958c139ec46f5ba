// `--emit=python`: a module and the shared library that it loads.
#ifndef DRIVER_PYTHON_H
#define DRIVER_PYTHON_H

#include "driver/emit.h"

// The file of the library: libNAME.so beside the module NAME.py. NULL if --library says that it is made elsewhere.
const char *python_library_path(const Compilation *c, const char *module);
// Writes both. Errors go to the compilation's diag, and nothing is left behind after one.
void python_write(Emission *e, const char *module);

#endif
