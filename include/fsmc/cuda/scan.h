// Prefix sums, and scans by any associative operation, in an order that depends on extents alone. Part of fsmc/cuda.h.
#ifndef FSMC_CUDA_SCAN_H
#define FSMC_CUDA_SCAN_H

#include "fsmc/cuda/reduce.h"

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

// One block: offset[k] becomes total[0] op … op total[k - 1].
template <class T, class Op> __global__ void scan_offsets(int64_t n, const T *total, Op op, T identity, T *offset) {
    T carry = identity;
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        int64_t i = begin + thread_number();
        T before, all;
        block_scan(i < n ? total[i] : identity, op, identity, &before, &all);
        if (i < n) offset[i] = op(carry, before);
        carry = op(carry, all);
    }
}

template <bool INCLUSIVE, class T, class F, class Op>
__global__ void scan_tiles(int64_t n, F f, Op op, T identity, const T *offset, T *out) {
    T carry = offset[blockIdx.x];
    int64_t begin = int64_t(blockIdx.x) * SCAN_TILE;
    for (int k = 0; k < SCAN_TILE; k += BLOCK) {
        int64_t i = begin + k + thread_number();
        T before, all, x = block_scan(i < n ? f(i) : identity, op, identity, &before, &all);
        if (i < n) out[i] = op(carry, INCLUSIVE ? x : before);
        carry = op(carry, all);
    }
}

// out[i] = f(0) op … op f(i), or, if it is not INCLUSIVE, to f(i - 1), which is the identity for i = 0. f may read out[i] itself.
template <bool INCLUSIVE, class T, class F, class Op> void scan(Call &call, int64_t n, F f, Op op, T identity, T *out) {
    if (n <= 0 || call.code()) return;
    const int64_t tiles = (n - 1) / SCAN_TILE + 1;
    Pool::Mark mark = call.mark();
    T *total = call.alloc<T>(tiles), *offset = call.alloc<T>(tiles);
    if (call.code()) return;
    FSM_LAUNCH((scan_totals<T, F, Op>), unsigned(tiles), BLOCK, 0, call.stream(), n, f, op, identity, total);
    FSM_LAUNCH((scan_offsets<T, Op>), 1, BLOCK, 0, call.stream(), tiles, total, op, identity, offset);
    FSM_LAUNCH((scan_tiles<INCLUSIVE, T, F, Op>), unsigned(tiles), BLOCK, 0, call.stream(), n, f, op, identity, offset, out);
    call.release(mark);
}

} // namespace fsm::cuda

#endif
