// C functions that programs declare: finding them in this process and calling them.
#ifndef IR_EXTERN_H
#define IR_EXTERN_H

#include "ir/scalar.h"

// Makes the functions of a shared library known. False if it cannot be loaded; *error says why.
bool extern_load(const char *path, const char **error);
// Its address, in this process, a loaded library or libm; NULL if there is none.
void *extern_find(const char *name);
// The name of the first function that e's functions need and extern_find does not know; NULL if there is none.
const char *extern_missing(int n, Func *const *f);
// Calls the function, which extern_find knows. Bool is a byte, Int 64 bits.
Scalar extern_call(const char *name, Kind result, int n, const Kind *kinds, const Scalar *args);

#endif
