// What scalar operations of F̃ are in generated CUDA code, on host and device: the column `cuda` of src/ir/ops.def.
#ifndef FSMC_CUDA_MATH_H
#define FSMC_CUDA_MATH_H

#include "fsmc/special.h"

#ifdef __CUDACC__
#define FSM_BOTH static inline __host__ __device__
#else
#define FSM_BOTH static inline
#endif

namespace fsm {

// Int wraps around.
FSM_BOTH int64_t wrap_add(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }
FSM_BOTH int64_t wrap_sub(int64_t x, int64_t y) { return (int64_t)((uint64_t)x - (uint64_t)y); }
FSM_BOTH int64_t wrap_mul(int64_t x, int64_t y) { return (int64_t)((uint64_t)x * (uint64_t)y); }
FSM_BOTH int64_t wrap_abs(int64_t x) { return x < 0 ? wrap_sub(0, x) : x; }
// Towards zero, and the remainder; x / -1 wraps, and x / 0, before which a check stands, is something.
FSM_BOTH int64_t idiv(int64_t x, int64_t y) { return (uint64_t)y + 1 <= 1 ? wrap_sub(0, x) : x / y; }
FSM_BOTH int64_t irem(int64_t x, int64_t y) { return (uint64_t)y + 1 <= 1 ? 0 : x % y; }

// NaN if either is NaN; the first of two equal values.
FSM_BOTH double least(double x, double y) { return x <= y || x != x ? x : y; }
FSM_BOTH double greatest(double x, double y) { return x >= y || x != x ? x : y; }
FSM_BOTH float least(float x, float y) { return x <= y || x != x ? x : y; }
FSM_BOTH float greatest(float x, float y) { return x >= y || x != x ? x : y; }
FSM_BOTH int64_t least_int(int64_t x, int64_t y) { return x <= y ? x : y; }
FSM_BOTH int64_t greatest_int(int64_t x, int64_t y) { return x >= y ? x : y; }

template <class T> FSM_BOTH T lgamma_of(T x) { return (T)special_lgamma(x); }
template <class T> FSM_BOTH T digamma_of(T x) { return (T)special_digamma(x); }
template <class T> FSM_BOTH T polygamma_of(int64_t n, T x) { return (T)special_polygamma(n, x); }
template <class T> FSM_BOTH T powi_of(T x, int64_t n) { return (T)special_powi(x, n); }

// Towards zero; saturates, and makes 0 of NaN.
FSM_BOTH int64_t to_int(double x) {
    if (x >= 9223372036854775808.0) return INT64_MAX;
    if (x <= -9223372036854775808.0) return INT64_MIN;
    return x != x ? 0 : (int64_t)x;
}

// Sizes: *wraps becomes true where the value does not fit.
FSM_BOTH int64_t size_add(int64_t x, int64_t y, bool *wraps) {
    *wraps |= y > 0 ? x > INT64_MAX - y : x < INT64_MIN - y;
    return wrap_add(x, y);
}
FSM_BOTH int64_t size_sub(int64_t x, int64_t y, bool *wraps) {
    *wraps |= y < 0 ? x > INT64_MAX + y : x < INT64_MIN + y;
    return wrap_sub(x, y);
}
FSM_BOTH int64_t size_mul(int64_t x, int64_t y, bool *wraps) {
    int64_t r = wrap_mul(x, y);
    *wraps |= x == -1 ? y == INT64_MIN : x != 0 && r / x != y;
    return r;
}

} // namespace fsm
#endif
