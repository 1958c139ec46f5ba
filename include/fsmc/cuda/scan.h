// Prefix sums, and scans by any associative operation, in an order that depends on extents alone. Part of fsmc/cuda.h.
#ifndef FSMC_CUDA_SCAN_H
#define FSMC_CUDA_SCAN_H

#include "fsmc/cuda/reduce.h"

#include <cmath>
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

// Rows, each of which is scanned for itself, and the tiles of a row.
struct ScanShape {
    int64_t rows, length, tiles; // tiles: of a row
    __host__ __device__ int64_t blocks() const { return rows * tiles; }
};

template <class T, class F, class Op> __global__ void scan_totals(ScanShape shape, F f, Op op, T identity, T *total) {
    for (int64_t b = blockIdx.x; b < shape.blocks(); b += gridDim.x) {
        T x = identity;
        const int64_t row = b / shape.tiles, begin = b % shape.tiles * SCAN_TILE;
        for (int k = 0; k < SCAN_TILE; k += BLOCK) {
            int64_t i = begin + k + thread_number();
            x = op(x, block_reduce(i < shape.length ? f(row, i) : identity, op));
        }
        if (thread_number() == 0) total[b] = x;
    }
}

// A block for each row: offset[k] of its tiles becomes out.first(row) op total[0] op … op total[k - 1].
template <class T, class Op, class Out>
__global__ void scan_offsets(ScanShape shape, const T *total, Op op, T identity, T *offset, Out out) {
    for (int64_t row = blockIdx.x; row < shape.rows; row += gridDim.x) {
        T carry = out.first(row, identity);
        for (int64_t begin = 0; begin < shape.tiles; begin += BLOCK) {
            const int64_t i = begin + thread_number(), at = row * shape.tiles + i;
            T before, all;
            block_scan(i < shape.tiles ? total[at] : identity, op, identity, &before, &all);
            if (i < shape.tiles) offset[at] = op(carry, before);
            carry = op(carry, all);
        }
        __syncthreads(); // all have read what comes first
        if (thread_number() == 0) out.last(row, carry);
    }
}

template <bool INCLUSIVE, class T, class F, class Op, class Out>
__global__ void scan_tiles(ScanShape shape, F f, Op op, T identity, const T *offset, Out out) {
    for (int64_t b = blockIdx.x; b < shape.blocks(); b += gridDim.x) {
        T carry = offset[b];
        const int64_t row = b / shape.tiles, begin = b % shape.tiles * SCAN_TILE;
        for (int k = 0; k < SCAN_TILE; k += BLOCK) {
            int64_t i = begin + k + thread_number();
            T before, all, x = block_scan(i < shape.length ? f(row, i) : identity, op, identity, &before, &all);
            if (i < shape.length) out.put(row, i, op(carry, INCLUSIVE ? x : before));
            carry = op(carry, all);
        }
    }
}

// Of rows of one tile: a block for each does it all.
template <bool INCLUSIVE, class T, class F, class Op, class Out>
__global__ void scan_short_rows(ScanShape shape, F f, Op op, T identity, Out out) {
    for (int64_t row = blockIdx.x; row < shape.rows; row += gridDim.x) {
        T carry = out.first(row, identity);
        for (int64_t begin = 0; begin < shape.length; begin += BLOCK) {
            const int64_t i = begin + thread_number();
            T before, all, x = block_scan(i < shape.length ? f(row, i) : identity, op, identity, &before, &all);
            if (i < shape.length) out.put(row, i, op(carry, INCLUSIVE ? x : before));
            carry = op(carry, all);
        }
        __syncthreads(); // all have read what comes first
        if (thread_number() == 0) out.last(row, carry);
    }
}

// For each row calls out.put(row, i, x) for x = s op f(row, 0) op … op f(row, i), or, if it is not INCLUSIVE, to f(row, i - 1), and
// out.last(row, s op f(row, 0) op … op f(row, n - 1)), where s is out.first(row, identity), which is called before.
template <bool INCLUSIVE, class T, class F, class Op, class Out>
void scan_rows(Call &call, int64_t rows, int64_t n, F f, Op op, T identity, Out out) {
    if (rows <= 0 || n <= 0 || call.code()) return;
    const ScanShape shape{rows, n, (n - 1) / SCAN_TILE + 1};
    if (shape.tiles == 1) {
        FSM_LAUNCH((scan_short_rows<INCLUSIVE, T, F, Op, Out>), blocks_for(rows, 1), BLOCK, 0, call.stream(), shape, f, op, identity, out);
        return;
    }
    const int64_t all = count_of(rows, shape.tiles), most = INT32_MAX;
    const unsigned blocks = unsigned(all < 0 || all > most ? most : all);
    Pool::Mark mark = call.mark();
    T *total = call.alloc<T>(all), *offset = call.alloc<T>(all);
    if (call.code()) return;
    FSM_LAUNCH((scan_totals<T, F, Op>), blocks, BLOCK, 0, call.stream(), shape, f, op, identity, total);
    FSM_LAUNCH((scan_offsets<T, Op, Out>), blocks_for(rows, 1), BLOCK, 0, call.stream(), shape, total, op, identity, offset, out);
    FSM_LAUNCH((scan_tiles<INCLUSIVE, T, F, Op, Out>), blocks, BLOCK, 0, call.stream(), shape, f, op, identity, offset, out);
    call.release(mark);
}

template <class T, class F> struct OneRow {
    F f;
    __device__ T operator()(int64_t, int64_t i) const { return f(i); }
};
template <class T> struct ScanArray {
    T *data;
    __device__ T first(int64_t, T identity) const { return identity; }
    __device__ void put(int64_t, int64_t i, T x) const { data[i] = x; }
    __device__ void last(int64_t, T) const {}
};

// out[i] = f(0) op … op f(i), or, if it is not INCLUSIVE, to f(i - 1), which is the identity for i = 0. f may read out[i] itself.
template <bool INCLUSIVE, class T, class F, class Op> void scan(Call &call, int64_t n, F f, Op op, T identity, T *out) {
    scan_rows<INCLUSIVE>(call, 1, n, OneRow<T, F>{f}, op, identity, ScanArray<T>{out});
}

// ---- recurrences

// An array with an element for each step of each row; all rows have the same if `row` is 0. NULL: what changes nothing.
template <class T> struct StepArray {
    const T *data;
    int64_t row;
    __device__ T operator()(int64_t r, int64_t i, T otherwise) const { return data ? data[r * row + i] : otherwise; }
};

// s -> factor * s + term; of integers, modulo 2^64. A factor 0 forgets what s is, also if that is not finite.
template <class T> struct Affine {
    T factor, term;
    static __host__ __device__ Affine identity() { return {T(1), T(0)}; }
    static __device__ Affine state(T s, bool sum) { return {sum ? T(1) : T(0), s}; } // the step to s from anything; of a sum, its term
    __device__ T state() const { return term; }
    __device__ Affine then(Affine g) const {
        if (g.factor == T(0)) return g;
        if constexpr (std::is_integral_v<T>) return {T(uint64_t(g.factor) * uint64_t(factor)), T(uint64_t(g.factor) * uint64_t(term) + uint64_t(g.term))};
        else return {g.factor * factor, g.factor * term + g.term};
    }
};
// s -> the lesser of `most` and of the greater of s and `least`.
template <class T> struct Between {
    T least, most;
    static __host__ __device__ Between identity() {
        if constexpr (std::is_integral_v<T>) return {INT64_MIN, INT64_MAX};
        else return {-T(INFINITY), T(INFINITY)};
    }
    static __device__ Between state(T s, bool) { return {s, s}; }
    __device__ T state() const { return most; }
    __device__ T operator()(T s) const { // as min and max of programs, of which NaN is what they give of NaN
        s = s >= least || s != s ? s : least;
        return s <= most || s != s ? s : most;
    }
    __device__ Between then(Between g) const { return {g(least), g(most)}; }
};

template <class Step> struct Then {
    __device__ Step operator()(Step f, Step g) const { return f.then(g); }
};
template <class Step, class T> struct Steps {
    StepArray<T> x, y;
    __device__ Step operator()(int64_t row, int64_t i) const {
        const Step none = Step::identity();
        if constexpr (std::is_same_v<Step, Affine<T>>) return {x(row, i, none.factor), y(row, i, none.term)};
        else return {x(row, i, none.least), y(row, i, none.most)};
    }
};
template <class Step, class T> struct States {
    T *state, *before;
    int64_t length;
    bool sum;
    __device__ Step first(int64_t row, Step) const { return Step::state(state[row], sum); }
    __device__ void put(int64_t row, int64_t i, Step x) const {
        if (before) before[row * length + i] = x.state();
    }
    __device__ void last(int64_t row, Step x) const { state[row] = x.state(); }
};

template <class Step, class T>
void steps(Call &call, int64_t rows, int64_t n, StepArray<T> x, StepArray<T> y, T *state, T *before) {
    scan_rows<false>(call, rows, n, Steps<Step, T>{x, y}, Then<Step>(), Step::identity(), States<Step, T>{state, before, n, !x.data});
}

// For each row r and i = 0 … n - 1: before[r * n + i] = s; s = factor * s + term, where s is state[r]. NULL: ones, and zeros;
// `before` may be NULL, too.
template <class T>
void recurrence(Call &call, int64_t rows, int64_t n, StepArray<T> factor, StepArray<T> term, T *state, T *before) {
    steps<Affine<T>>(call, rows, n, factor, term, state, before);
}
// The same for s = min(max(s, least), most).
template <class T>
void recurrence_between(Call &call, int64_t rows, int64_t n, StepArray<T> least, StepArray<T> most, T *state, T *before) {
    steps<Between<T>>(call, rows, n, least, most, state, before);
}

} // namespace fsm::cuda

#endif
