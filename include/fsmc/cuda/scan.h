// Prefix sums, and scans by any associative operation, in an order that depends on extents alone. Part of fsmc/cuda.h.
#ifndef FSMC_CUDA_SCAN_H
#define FSMC_CUDA_SCAN_H

#include "fsmc/cuda/reduce.h"

#include <type_traits>

namespace fsm::cuda {

// x of lane 0 op … op x of this lane.
template <class T, class Op> __device__ inline T warp_scan(T x, Op op) {
    for (unsigned by = 1; by < 32; by *= 2) {
        T below = from_below(x, by);
        if (unsigned(lane_number()) >= by) x = op(below, x);
    }
    return x;
}

// The inclusive scan over the threads of a block in their order; *before: what the threads before this one have (of the first:
// the identity), *total: what all have.
template <class T, class Op> __device__ inline T block_scan(T x, Op op, T identity, T *before, T *total) {
    FSM_SHARED(partial, T[32]);
    int warps = thread_count() / 32;
    x = warp_scan(x, op);
    __syncthreads(); // the last use of `partial`
    if (lane_number() == 31) partial[warp_number()] = x;
    __syncthreads();
    T offset = identity, all = identity;
    for (int k = 0; k < warps; k++) {
        if (k == warp_number()) offset = all;
        all = op(all, partial[k]);
    }
    T below = from_below(x, 1);
    *before = lane_number() ? op(offset, below) : offset;
    *total = all;
    return op(offset, x);
}

constexpr int SCAN_TILE = 8 * BLOCK; // elements of a block

template <class T, class F, class Op> __global__ void scan_totals(int64_t n, F f, Op op, T identity, T *total) {
    T x = identity;
    int64_t begin = int64_t(blockIdx.x) * SCAN_TILE;
    for (int k = 0; k < SCAN_TILE; k += BLOCK) {
        int64_t i = begin + k + thread_number();
        x = op(x, block_reduce(i < n ? f(i) : identity, op));
    }
    if (thread_number() == 0) total[blockIdx.x] = x;
}

// One block: offset[k] becomes out.first() op total[0] op … op total[k - 1].
template <class T, class Op, class Out> __global__ void scan_offsets(int64_t n, const T *total, Op op, T identity, T *offset, Out out) {
    T carry = out.first(identity);
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        int64_t i = begin + thread_number();
        T before, all;
        block_scan(i < n ? total[i] : identity, op, identity, &before, &all);
        if (i < n) offset[i] = op(carry, before);
        carry = op(carry, all);
    }
    __syncthreads(); // all have read what comes first
    if (thread_number() == 0) out.last(carry);
}

template <bool INCLUSIVE, class T, class F, class Op, class Out>
__global__ void scan_tiles(int64_t n, F f, Op op, T identity, const T *offset, Out out) {
    T carry = offset[blockIdx.x];
    int64_t begin = int64_t(blockIdx.x) * SCAN_TILE;
    for (int k = 0; k < SCAN_TILE; k += BLOCK) {
        int64_t i = begin + k + thread_number();
        T before, all, x = block_scan(i < n ? f(i) : identity, op, identity, &before, &all);
        if (i < n) out.put(i, op(carry, INCLUSIVE ? x : before));
        carry = op(carry, all);
    }
}

// Calls out.put(i, x) for x = s op f(0) op … op f(i), or, if it is not INCLUSIVE, to f(i - 1), and out.last(s op f(0) op … op f(n - 1)),
// where s is out.first(identity), which is called before.
template <bool INCLUSIVE, class T, class F, class Op, class Out> void scan_to(Call &call, int64_t n, F f, Op op, T identity, Out out) {
    if (n <= 0 || call.code()) return;
    const int64_t tiles = (n - 1) / SCAN_TILE + 1;
    Pool::Mark mark = call.mark();
    T *total = call.alloc<T>(tiles), *offset = call.alloc<T>(tiles);
    if (call.code()) return;
    FSM_LAUNCH((scan_totals<T, F, Op>), unsigned(tiles), BLOCK, 0, call.stream(), n, f, op, identity, total);
    FSM_LAUNCH((scan_offsets<T, Op, Out>), 1, BLOCK, 0, call.stream(), tiles, total, op, identity, offset, out);
    FSM_LAUNCH((scan_tiles<INCLUSIVE, T, F, Op, Out>), unsigned(tiles), BLOCK, 0, call.stream(), n, f, op, identity, offset, out);
    call.release(mark);
}

template <class T> struct ScanArray {
    T *data;
    __device__ T first(T identity) const { return identity; }
    __device__ void put(int64_t i, T x) const { data[i] = x; }
    __device__ void last(T) const {}
};

// out[i] = f(0) op … op f(i), or, if it is not INCLUSIVE, to f(i - 1), which is the identity for i = 0. f may read out[i] itself.
template <bool INCLUSIVE, class T, class F, class Op> void scan(Call &call, int64_t n, F f, Op op, T identity, T *out) {
    scan_to<INCLUSIVE>(call, n, f, op, identity, ScanArray<T>{out});
}

// ---- recurrences

// s -> factor * s + term; of integers, modulo 2^64.
template <class T> struct Step {
    T factor, term;
};
template <class T> struct Steps {
    const T *factor, *term; // NULL: ones, and zeros
    __device__ Step<T> operator()(int64_t i) const { return {factor ? factor[i] : T(1), term ? term[i] : T(0)}; }
};
template <class T> struct ThenStep {
    __device__ Step<T> operator()(Step<T> f, Step<T> g) const {
        if constexpr (std::is_integral_v<T>) return {T(uint64_t(g.factor) * uint64_t(f.factor)), T(uint64_t(g.factor) * uint64_t(f.term) + uint64_t(g.term))};
        else return {g.factor * f.factor, g.factor * f.term + g.term};
    }
};
// A state is the step to it from anything: of a sum, its term.
template <class T> struct States {
    T *state, *before;
    bool sum;
    __device__ Step<T> first(Step<T>) const { return {sum ? T(1) : T(0), *state}; }
    __device__ void put(int64_t i, Step<T> x) const {
        if (before) before[i] = x.term;
    }
    __device__ void last(Step<T> x) const { *state = x.term; }
};

// For i = 0 … n - 1: before[i] = s; s = factor[i] * s + term[i], where s is *state. factor and term may be NULL: ones, and zeros; before,
// too.
template <class T> void recurrence(Call &call, int64_t n, const T *factor, const T *term, T *state, T *before) {
    scan_to<false>(call, n, Steps<T>{factor, term}, ThenStep<T>(), Step<T>{T(1), T(0)}, States<T>{state, before, !factor});
}

} // namespace fsm::cuda

#endif
