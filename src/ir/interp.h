// What the reference interpreter shares with the executor of loop trees and the command line.
#ifndef IR_INTERP_H
#define IR_INTERP_H

#include "ir/scalar.h"
#include "ir/tensor.h"

// Checks the arguments of f (their shapes and f->checks) and makes its results: tensors of the shapes that f's outputs
// have for these inputs, zeroed, in the arena. Returns 0, or an error code of fsmc/runtime.h with *error set to a text
// in the arena.
int func_prepare(Arena *a, const Func *f, const Tensor *inputs, Tensor *outputs, const char **error);

// How interp_run (ir/tensor.h) may differ.
typedef struct InterpMode {
    int64_t limit; // it ends with the code INTERP_LIMIT after so many steps (iterations, values computed, elements of
                   // arrays); 0: never
    bool whole;    // an array is computed as a whole when any of it is needed, so that each element may fail
    Tensor *terms; // if not NULL: for each output of f, an array of its shape with the sizes of what was added up for the
                   // numbers in it (ir/terms.h); of Double. They are infinite if rounding may have decided a comparison
    bool expanded; // these of products are those of the products multiplied out
} InterpMode;
enum { INTERP_LIMIT = -1 };
struct Counts;
int interp_run_as(Arena *a, const Func *f, const Tensor *inputs, Tensor *outputs, InterpMode mode, struct Counts *counts,
                  const char **error);

// `text` with each "%d" replaced by the next of the values.
const char *check_text(Arena *a, const char *text, int n, const int64_t *values);

// One element of a tensor, exactly.
Scalar tensor_scalar(const Tensor *t, int64_t i);
void tensor_put(Tensor *t, int64_t i, Scalar value);

#endif
