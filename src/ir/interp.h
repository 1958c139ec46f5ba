// What the reference interpreter shares with the executor of loop trees and the command line.
#ifndef IR_INTERP_H
#define IR_INTERP_H

#include "ir/scalar.h"
#include "ir/tensor.h"

// Checks the arguments of f (their shapes and f->checks) and makes its results: tensors of the shapes that f's outputs
// have for these inputs, zeroed, in the arena. Returns 0, or an error code of fsmc/runtime.h with *error set to a text
// in the arena.
int func_prepare(Arena *a, const Func *f, const Tensor *inputs, Tensor *outputs, const char **error);

// interp_run of ir/tensor.h, which ends with the code INTERP_LIMIT after `limit` steps (0: never): iterations, values
// computed, and elements of arrays.
enum { INTERP_LIMIT = -1 };
struct Counts;
int interp_run_limited(Arena *a, const Func *f, const Tensor *inputs, Tensor *outputs, int64_t limit,
                       struct Counts *counts, const char **error);

// `text` with each "%d" replaced by the next of the values.
const char *check_text(Arena *a, const char *text, int n, const int64_t *values);

// One element of a tensor, exactly.
Scalar tensor_scalar(const Tensor *t, int64_t i);
void tensor_put(Tensor *t, int64_t i, Scalar value);

#endif
