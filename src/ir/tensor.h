// Concrete values: what `fsmc run` reads and prints, and what the interpreters take and give.
#ifndef IR_TENSOR_H
#define IR_TENSOR_H

#include "ir/ir.h"

// A scalar (rank 0) or a row-major array. Elements are what elements.def says they are in C: Bool is uint8_t.
typedef struct Tensor {
    Kind kind;
    int rank;
    int64_t *shape;
    void *data;
} Tensor;

// The elements of an array: none where an extent is 0, however large the others are. False, and INT64_MAX, if there are more.
bool shape_count(int rank, const int64_t *shape, int64_t *count);
int64_t tensor_count(const Tensor *t);
// A zeroed tensor in the arena.
Tensor tensor_new(Arena *a, Kind kind, int rank, const int64_t *shape);
double tensor_get(const Tensor *t, int64_t i); // element i as a double
int64_t tensor_get_int(const Tensor *t, int64_t i);
void tensor_set(Tensor *t, int64_t i, double value);

// The reference interpreter (interp.c): evaluates the outputs of f by need, without optimisation. inputs has f->ninputs
// entries. Returns 0, or an error code of fsmc/runtime.h with *error set to a text in the arena. counts may be NULL:
// then nothing is counted; else add/mul/call are those of [TL] Fig. 6 and iterations, loads and stores are what an
// unfused evaluation by need executes.
struct Counts;
int interp_run(Arena *a, const Func *f, const Tensor *inputs, Tensor *outputs, struct Counts *counts, const char **error);

#endif
