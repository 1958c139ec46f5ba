#include "ir/tensor.h"

#include "ir/interp.h"

bool shape_count(int rank, const int64_t *shape, int64_t *count) {
    bool empty = false, fits = true;
    *count = 1;
    for (int k = 0; k < rank; k++) {
        empty |= shape[k] == 0;
        fits = fits && !__builtin_mul_overflow(*count, shape[k], count);
    }
    if (empty || !fits) *count = empty ? 0 : INT64_MAX;
    return empty || fits;
}

int64_t tensor_count(const Tensor *t) {
    int64_t n;
    shape_count(t->rank, t->shape, &n);
    return n;
}

Tensor tensor_new(Arena *a, Kind kind, int rank, const int64_t *shape) {
    Tensor t = {.kind = kind, .rank = rank};
    t.shape = arena_copy(a, shape, sizeof *shape * (size_t)rank);
    t.data = arena_alloc(a, (size_t)tensor_count(&t) * kind_size(kind));
    return t;
}

double tensor_get(const Tensor *t, int64_t i) {
    switch (t->kind) {
    case KIND_BOOL: return ((const uint8_t *)t->data)[i];
    case KIND_INT: return (double)((const int64_t *)t->data)[i];
    case KIND_INT32: return (double)((const int32_t *)t->data)[i];
    case KIND_FLOAT: return (double)((const float *)t->data)[i];
    default: return ((const double *)t->data)[i];
    }
}

int64_t tensor_get_int(const Tensor *t, int64_t i) {
    switch (t->kind) {
    case KIND_BOOL: return ((const uint8_t *)t->data)[i];
    case KIND_INT: return ((const int64_t *)t->data)[i];
    case KIND_INT32: return ((const int32_t *)t->data)[i];
    case KIND_FLOAT: return (int64_t)((const float *)t->data)[i];
    default: return (int64_t)((const double *)t->data)[i];
    }
}

void tensor_set(Tensor *t, int64_t i, double value) {
    switch (t->kind) {
    case KIND_BOOL: ((uint8_t *)t->data)[i] = value != 0; break;
    case KIND_INT: ((int64_t *)t->data)[i] = (int64_t)value; break;
    case KIND_INT32: ((int32_t *)t->data)[i] = (int32_t)value; break;
    case KIND_FLOAT: ((float *)t->data)[i] = (float)value; break;
    default: ((double *)t->data)[i] = value;
    }
}

Scalar tensor_scalar(const Tensor *t, int64_t i) {
    return kind_is_float(t->kind) ? (Scalar){.d = tensor_get(t, i)} : (Scalar){.i = tensor_get_int(t, i)};
}

void tensor_put(Tensor *t, int64_t i, Scalar value) {
    if (t->kind == KIND_INT) ((int64_t *)t->data)[i] = value.i;
    else tensor_set(t, i, kind_is_float(t->kind) ? value.d : (double)value.i);
}
