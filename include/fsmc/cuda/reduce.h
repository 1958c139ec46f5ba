// Reductions, in an order that depends on extents alone, so that results do not differ from run to run. Part of fsmc/cuda.h.
//
// An operation is an object with T operator()(T, T), associative; warps and blocks keep the order of operands. Blocks have a
// multiple of 32 threads, all of which call what is said of a block, and all lanes of a warp what is said of a warp.
#ifndef FSMC_CUDA_REDUCE_H
#define FSMC_CUDA_REDUCE_H

#include "fsmc/cuda/call.h"

namespace fsm::cuda {

constexpr unsigned ALL_LANES = 0xffffffff;
constexpr int BLOCK = 256; // threads of the kernels here

struct Sum {
    template <class T> __host__ __device__ T operator()(T x, T y) const { return x + y; }
};
struct Product {
    template <class T> __host__ __device__ T operator()(T x, T y) const { return x * y; }
};
// Of two values that do not compare, the first.
struct Min {
    template <class T> __host__ __device__ T operator()(T x, T y) const { return y < x ? y : x; }
};
struct Max {
    template <class T> __host__ __device__ T operator()(T x, T y) const { return x < y ? y : x; }
};
// A value and where it stands, for argmin and argmax: of equal values, that of the smaller index.
template <class T> struct At {
    T value;
    long long index;
};
struct MinAt {
    template <class T> __host__ __device__ At<T> operator()(At<T> x, At<T> y) const {
        return y.value < x.value || (!(x.value < y.value) && y.index < x.index) ? y : x;
    }
};
struct MaxAt {
    template <class T> __host__ __device__ At<T> operator()(At<T> x, At<T> y) const {
        return x.value < y.value || (!(y.value < x.value) && y.index < x.index) ? y : x;
    }
};

// ---- threads

__device__ inline int thread_number() { return int(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)); }
__device__ inline int thread_count() { return int(blockDim.x * blockDim.y * blockDim.z); }
__device__ inline int lane_number() { return thread_number() % 32; }
__device__ inline int warp_number() { return thread_number() / 32; }
// Of a one-dimensional grid.
__device__ inline int64_t grid_thread() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline int64_t grid_threads() { return int64_t(gridDim.x) * blockDim.x; }

// Blocks for n iterations, of which each of `threads` threads of a block does one or several: for (i = grid_thread(); i < n; i +=
// grid_threads()). Depends on n alone; at least 1. The limit is some passes over a large device, so that the blocks that run at
// one time stay near each other in memory.
inline unsigned blocks_for(int64_t n, int threads = BLOCK) {
    const int64_t most = 16384;
    int64_t blocks = n <= 0 ? 1 : (n - 1) / threads + 1;
    return unsigned(blocks < most ? blocks : most);
}

// ---- shuffles of any type

template <class T, class F> __device__ inline T shuffle_words(T x, F shuffle) {
    constexpr int WORDS = int((sizeof(T) + 3) / 4);
    unsigned w[WORDS] = {};
    memcpy(w, &x, sizeof x);
    for (int i = 0; i < WORDS; i++) w[i] = shuffle(w[i]);
    memcpy(&x, w, sizeof x);
    return x;
}
struct FromLane {
    int lane;
    __device__ unsigned operator()(unsigned w) const { return __shfl_sync(ALL_LANES, w, lane); }
};
struct FromAbove {
    unsigned by;
    __device__ unsigned operator()(unsigned w) const { return __shfl_down_sync(ALL_LANES, w, by); }
};
struct FromBelow {
    unsigned by;
    __device__ unsigned operator()(unsigned w) const { return __shfl_up_sync(ALL_LANES, w, by); }
};
template <class T> __device__ inline T from_lane(T x, int lane) { return shuffle_words(x, FromLane{lane}); }
template <class T> __device__ inline T from_above(T x, unsigned by) { return shuffle_words(x, FromAbove{by}); }
template <class T> __device__ inline T from_below(T x, unsigned by) { return shuffle_words(x, FromBelow{by}); }

// ---- warps and blocks

// x of lane 0, op x of lane 1, …: in each group of WIDTH lanes, for each of its lanes. WIDTH: a power of 2.
template <int WIDTH = 32, class T, class Op> __device__ inline T warp_reduce(T x, Op op) {
    for (unsigned by = 1; by < unsigned(WIDTH); by *= 2) x = op(x, from_above(x, by)); // lanes beside the first of a group: of no use
    return from_lane(x, lane_number() / WIDTH * WIDTH);
}

// The same over the threads of a block, in their order, for each thread.
template <class T, class Op> __device__ inline T block_reduce(T x, Op op) {
    FSM_SHARED(partial, T[32]);
    int warps = thread_count() / 32;
    x = warp_reduce(x, op);
    if (warps == 1) return x;
    __syncthreads(); // the last use of `partial`
    if (lane_number() == 0) partial[warp_number()] = x;
    __syncthreads();
    x = partial[0];
    for (int k = 1; k < warps; k++) x = op(x, partial[k]);
    return x;
}
template <class T> __device__ inline T block_sum(T x) { return block_reduce(x, Sum()); }
template <class T> __device__ inline T block_min(T x) { return block_reduce(x, Min()); }
template <class T> __device__ inline T block_max(T x) { return block_reduce(x, Max()); }
__device__ inline bool block_any(bool x) { return __syncthreads_or(x); }
__device__ inline bool block_all(bool x) { return __syncthreads_and(x); }

// ---- the whole device

// The kernels take F, an object with T operator()(int64_t i). The operation is commutative, too.
template <class T, class F, class Op> __global__ void reduce_blocks(int64_t n, F f, Op op, T identity, T *partial) {
    T x = identity;
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) x = op(x, f(i));
    x = block_reduce(x, op);
    if (thread_number() == 0) partial[blockIdx.x] = x;
}

template <class T> struct Elements {
    const T *data;
    __device__ T operator()(int64_t i) const { return data[i]; }
};

// *out = f(0) op … op f(n - 1), or the identity if n is 0; out is in device memory.
template <class T, class F, class Op> void reduce(Call &call, int64_t n, F f, Op op, T identity, T *out) {
    const unsigned blocks = blocks_for(n, 8 * BLOCK);
    Pool::Mark mark = call.mark();
    T *partial = blocks == 1 ? out : call.alloc<T>(blocks);
    if (call.code()) return;
    FSM_LAUNCH((reduce_blocks<T, F, Op>), blocks, BLOCK, 0, call.stream(), n, f, op, identity, partial);
    if (blocks > 1)
        FSM_LAUNCH((reduce_blocks<T, Elements<T>, Op>), 1, BLOCK, 0, call.stream(), int64_t(blocks), Elements<T>{partial}, op, identity, out);
    call.release(mark);
}

} // namespace fsm::cuda

#endif
