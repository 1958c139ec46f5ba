// The shim's qualifiers, functions of numbers and atomic operations. Part of fsmc/cuda_shim.h.
#ifndef FSMC_SHIM_MATH_H
#define FSMC_SHIM_MATH_H

#include "fsmc/shim/threads.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#define __host__
#define __device__
#define __global__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __shared__ static thread_local // of one block at a time; FSM_SHARED is poisoned and checked, too

using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

// ---- numbers

template <class T> T __ldg(const T *p) { return *p; }
inline long long __double_as_longlong(double x) {
    long long w;
    std::memcpy(&w, &x, sizeof w);
    return w;
}
inline double __longlong_as_double(long long w) {
    double x;
    std::memcpy(&x, &w, sizeof x);
    return x;
}
inline int __float_as_int(float x) {
    int w;
    std::memcpy(&w, &x, sizeof w);
    return w;
}
inline float __int_as_float(int w) {
    float x;
    std::memcpy(&x, &w, sizeof x);
    return x;
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline long long min(long long x, long long y) { return x < y ? x : y; }
inline long long max(long long x, long long y) { return x > y ? x : y; }
inline long min(long x, long y) { return x < y ? x : y; }
inline long max(long x, long y) { return x > y ? x : y; }
inline int min(int x, int y) { return x < y ? x : y; }
inline int max(int x, int y) { return x > y ? x : y; }
inline unsigned min(unsigned x, unsigned y) { return x < y ? x : y; }
inline unsigned max(unsigned x, unsigned y) { return x > y ? x : y; }
inline double min(double x, double y) { return std::fmin(x, y); }
inline double max(double x, double y) { return std::fmax(x, y); }
inline float min(float x, float y) { return std::fmin(x, y); }
inline float max(float x, float y) { return std::fmax(x, y); }

// ---- atomic operations: threads never run at once, so that no more is needed

namespace fsm::shim {
template <class T, class... U> constexpr bool is_one = (std::is_same_v<T, U> || ...);
} // namespace fsm::shim
#define FSM_SHIM_ATOMIC(name, value, ...)                                                     \
    template <class T> T name(T *p, std::common_type_t<T> x) {                                \
        static_assert(fsm::shim::is_one<T, int, unsigned, unsigned long long, __VA_ARGS__>, "CUDA has no " #name " of this type"); \
        fsm::shim::Quiet quiet;                                                               \
        T before = *p;                                                                        \
        *p = T(value);                                                                        \
        return before;                                                                        \
    }
FSM_SHIM_ATOMIC(atomicAdd, *p + x, float, double)
FSM_SHIM_ATOMIC(atomicExch, x, float)
FSM_SHIM_ATOMIC(atomicMin, x < *p ? x : *p, long long)
FSM_SHIM_ATOMIC(atomicMax, x > *p ? x : *p, long long)
FSM_SHIM_ATOMIC(atomicOr, *p | x, int)
FSM_SHIM_ATOMIC(atomicAnd, *p & x, int)
#undef FSM_SHIM_ATOMIC
template <class T> T atomicCAS(T *p, std::common_type_t<T> expected, std::common_type_t<T> x) {
    static_assert(fsm::shim::is_one<T, int, unsigned, unsigned long long, unsigned short>, "CUDA has no atomicCAS of this type");
    fsm::shim::Quiet quiet;
    T before = *p;
    if (before == expected) *p = x;
    return before;
}

#endif
