// Objects of CUDA code, made by nvcc.
#ifndef DRIVER_NVCC_H
#define DRIVER_NVCC_H

#include "driver/compile.h"

// Compiles the text to an object; false after reporting an error.
bool nvcc_compile(Compilation *c, Str *text, const char *object);

#endif
