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
// What a C function gets: a number or truth value, or, with `array`, the address of elements as in a Tensor.
typedef struct ExternArg {
    Kind kind;
    bool array;
    Scalar value;
    void *data;
} ExternArg;
// Calls the function, which extern_find knows. Bool is a byte, Int 64 bits.
Scalar extern_call(const char *name, Kind result, int n, const ExternArg *args);
// Calls one that writes its results, whose addresses are the last arguments; returns its status.
int extern_fill(const char *name, int n, const ExternArg *args);
// The text of the error that the status is not 0; its value is the status.
const char *extern_failure(Arena *a, const char *name);

#endif
