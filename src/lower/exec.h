// Runs loop trees and counts what they do: the reference for the backends, and `fsmc cost`.
#ifndef LOWER_EXEC_H
#define LOWER_EXEC_H

#include "ir/tensor.h"
#include "lower/tree.h"

// Runs t on the inputs of its function. The outputs' shapes are computed and the function's checks made by func_prepare
// (ir/interp.h); the outputs are made in the arena. Returns 0, or an error code of fsmc/runtime.h with *error set to a
// text in the arena. *counts (NULL: not wanted) is what was executed. A load or store outside of its buffer and a
// division by zero are broken invariants: lowering has to emit checks before them.
int tree_exec(Arena *a, const Tree *t, const Tensor *inputs, Tensor *outputs, Counts *counts, const char **error);
// The same, but *work is the weighted floating-point work that the results need: by the cost model of [TL] Fig. 6 (4.33) an
// arm that is not taken is free, also if lowering computes it, since it costs little, and then selects.
int tree_exec_needed(Arena *a, const Tree *t, const Tensor *inputs, Tensor *outputs, int64_t *work, const char **error);

#endif
