// Additions at computed places: histograms and scattered sums. Part of fsmc/cuda.h.
//
// scatter_add() gives the same result every time: where few places are added to, each warp has a copy of them and lanes take
// turns; where there are many, what is added is sorted by place. scatter_add_atomic() is quicker where places seldom meet, and
// its last digits depend on the order in which threads run, unless the elements are integers.
#ifndef FSMC_CUDA_SCATTER_H
#define FSMC_CUDA_SCATTER_H

#include "fsmc/cuda/scan.h"

#include <type_traits>

namespace fsm::cuda {

// What iteration i adds: nothing if `place` is negative.
template <class T> struct Share {
    int64_t place;
    T value;
};

// Shares that a kernel has listed.
template <class T> struct ListedShares {
    const int64_t *place;
    const T *value;
    __device__ Share<T> operator()(int64_t i) const {
        const int64_t p = place[i];
        return {p, p < 0 ? T(0) : value[i]};
    }
};

template <class T> __device__ inline void add_atomic(T *p, T x) {
    if constexpr (std::is_floating_point_v<T>) atomicAdd(p, x);
    else if constexpr (sizeof(T) == 8) atomicAdd(reinterpret_cast<unsigned long long *>(p), static_cast<unsigned long long>(x));
    else atomicAdd(reinterpret_cast<unsigned *>(p), static_cast<unsigned>(x));
}

// ---- with atomic operations

template <class T, class F> __global__ void add_shares_atomic(int64_t n, F f, T *out) {
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) {
        Share<T> s = f(i);
        if (s.place >= 0) add_atomic(&out[s.place], s.value);
    }
}

// out[f(i).place] += f(i).value for i < n.
template <class T, class F> void scatter_add_atomic(Call &call, int64_t n, F f, T *out) {
    if (n <= 0 || call.code()) return;
    FSM_LAUNCH((add_shares_atomic<T, F>), blocks_for(n), BLOCK, 0, call.stream(), n, f, out);
}

// ---- with a copy for each warp

// The lanes of a warp add to the warp's own copy, one after the other where places meet.
template <class T> __device__ inline void add_in_turns(T *copy, Share<T> s) {
    unsigned same = __match_any_sync(ALL_LANES, (long long)s.place);
    int turn = s.place < 0 ? -1 : __popc(same & ((1u << lane_number()) - 1));
    for (int k = 0; __any_sync(ALL_LANES, turn >= k); k++) {
        if (turn == k) copy[s.place] += s.value;
        __syncwarp();
    }
}

// All shares that the warp takes: 32 at a time.
template <class T, class F> __device__ inline void add_shares_of_warp(int64_t n, F f, T *copy) {
    const int64_t lane = lane_number();
    for (int64_t i = grid_thread() - lane; i < n; i += grid_threads()) add_in_turns(copy, i + lane < n ? f(i + lane) : Share<T>{-1, T(0)});
}

// Copies in shared memory: partial[block][place].
template <class T, class F> __global__ void add_shares_shared(int64_t n, F f, int places, T *partial) {
    FSM_DYNAMIC_SHARED(T, copies);
    const int warps = thread_count() / 32;
    for (int k = thread_number(); k < warps * places; k += thread_count()) copies[k] = T(0);
    __syncthreads();
    add_shares_of_warp(n, f, copies + warp_number() * places);
    __syncthreads();
    for (int k = thread_number(); k < places; k += thread_count()) {
        T sum = copies[k];
        for (int w = 1; w < warps; w++) sum += copies[w * places + k];
        partial[int64_t(blockIdx.x) * places + k] = sum;
    }
}

// Copies in device memory, which are zero at first: partial[warp][place].
template <class T, class F> __global__ void add_shares_apart(int64_t n, F f, int64_t places, T *partial) {
    add_shares_of_warp(n, f, partial + grid_thread() / 32 * places);
}

template <class T> __global__ void add_partials(int64_t copies, int64_t places, const T *partial, T *out) {
    for (int64_t k = grid_thread(); k < places; k += grid_threads()) {
        T sum = partial[k];
        for (int64_t c = 1; c < copies; c++) sum += partial[c * places + k];
        out[k] += sum;
    }
}

// ---- sorted by place

constexpr int MOST_DIGITS = 256;

// Keys are sorted by one digit of `bits` bits after the other, from bit `shift` on; a block has a tile of so many rounds of BLOCK keys.
struct Digit {
    int bits, shift, rounds;
    __host__ __device__ int many() const { return 1 << bits; } // digits there are
    __host__ __device__ int64_t tile() const { return int64_t(rounds) * BLOCK; }
    template <class Key> __device__ int of(Key key) const { return int(key >> shift) & (many() - 1); }
};

// How often each digit occurs in each tile: count[digit][tile].
template <class Key> __global__ void count_digits(int64_t n, const Key *key, Digit digit, long long *count) {
    FSM_SHARED(here, int[MOST_DIGITS]);
    for (int k = thread_number(); k < digit.many(); k += BLOCK) here[k] = 0;
    __syncthreads();
    const int64_t begin = blockIdx.x * digit.tile(), end = begin + digit.tile() < n ? begin + digit.tile() : n;
    for (int64_t i = begin + thread_number(); i < end; i += BLOCK) atomicAdd(&here[digit.of(key[i])], 1);
    __syncthreads();
    for (int k = thread_number(); k < digit.many(); k += BLOCK) count[int64_t(k) * gridDim.x + blockIdx.x] = here[k];
}

// Moves each tile's keys and what belongs to them to where offset[digit][tile] says, in their order.
template <class Key>
__global__ void move_by_digit(int64_t n, const Key *key, const Key *item, Digit digit, const long long *offset, Key *key_out, Key *item_out) {
    constexpr int WARPS = BLOCK / 32;
    FSM_SHARED(next, long long[MOST_DIGITS]);
    FSM_SHARED(count, int[WARPS][MOST_DIGITS]);
    const int lane = lane_number(), warp = warp_number(), many = digit.many();
    for (int k = thread_number(); k < many; k += BLOCK) next[k] = offset[int64_t(k) * gridDim.x + blockIdx.x];
    const int64_t begin = blockIdx.x * digit.tile();
    for (int round = 0; round < digit.rounds; round++) {
        for (int k = thread_number(); k < WARPS * many; k += BLOCK) count[k >> digit.bits][k & (many - 1)] = 0;
        __syncthreads();
        const int64_t i = begin + round * BLOCK + thread_number();
        const int is = i < n ? digit.of(key[i]) : -1;
        const unsigned same = __match_any_sync(ALL_LANES, is);
        const int rank = __popc(same & ((1u << lane) - 1));
        if (is >= 0 && rank == 0) count[warp][is] = __popc(same);
        __syncthreads();
        if (is >= 0) {
            int64_t to = next[is] + rank;
            for (int w = 0; w < warp; w++) to += count[w][is];
            key_out[to] = key[i];
            item_out[to] = item[i];
        }
        __syncthreads();
        for (int k = thread_number(); k < many; k += BLOCK)
            for (int w = 0; w < WARPS; w++) next[k] += count[w][k];
        __syncthreads();
    }
}

// Sorts n keys below `most` with what belongs to them; equal ones stay in their order. The arrays [0] have them before; gives the
// number of those that have them afterwards.
template <class Key> int sort_by_key(Call &call, int64_t n, uint64_t most, Key *const key[2], Key *const item[2]) {
    if (n <= 0 || call.code()) return 0;
    int bits = 0, at = 0;
    while (bits < int(8 * sizeof(Key)) && (most - 1) >> bits) bits++;
    const int passes = (bits + 7) / 8;
    if (!passes) return 0;
    Digit digit{(bits + passes - 1) / passes, 0, 0};
    // Of a few keys, tiles are small, so that there are many blocks, as long as one block scans what they have counted.
    const int64_t blocks = SCAN_TILE / digit.many(), most_rounds = 8, rounds = ((n - 1) / BLOCK) / blocks + 1;
    digit.rounds = int(rounds < most_rounds ? rounds : most_rounds);
    const int64_t tiles = (n - 1) / digit.tile() + 1;
    Pool::Mark mark = call.mark();
    long long *count = call.alloc<long long>(tiles * digit.many());
    if (call.code()) return 0;
    for (int pass = 0; pass < passes; pass++, digit.shift += digit.bits, at ^= 1) {
        FSM_LAUNCH(count_digits<Key>, unsigned(tiles), BLOCK, 0, call.stream(), n, key[at], digit, count);
        scan<false>(call, tiles * digit.many(), Elements<long long>{count}, Sum(), 0LL, count);
        FSM_LAUNCH(move_by_digit<Key>, unsigned(tiles), BLOCK, 0, call.stream(), n, key[at], item[at], digit, count, key[at ^ 1],
                   item[at ^ 1]);
    }
    call.release(mark);
    return at;
}

// Key: the place, or `places` for a share of nothing.
template <class T, class F, class Key> __global__ void list_shares(int64_t n, F f, int64_t places, Key *key, Key *item) {
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) {
        int64_t place = f(i).place;
        key[i] = Key(place < 0 ? places : place);
        item[i] = Key(i);
    }
}

// A sum that begins anew where `head` is set.
template <class T> struct Segment {
    T sum;
    int head;
};
struct JoinSegments {
    template <class T> __host__ __device__ Segment<T> operator()(Segment<T> x, Segment<T> y) const {
        return {y.head ? y.sum : x.sum + y.sum, x.head | y.head};
    }
};
template <class T, class F, class Key> struct SortedShare {
    F f;
    const Key *key, *item;
    __device__ Segment<T> operator()(int64_t i) const { return {f(int64_t(item[i])).value, i == 0 || key[i] != key[i - 1]}; }
};
template <class T, class Key> __global__ void add_segments(int64_t n, const Key *key, const Segment<T> *sum, int64_t places, T *out) {
    for (int64_t i = grid_thread(); i < n; i += grid_threads())
        if ((i == n - 1 || key[i + 1] != key[i]) && int64_t(key[i]) < places) out[key[i]] += sum[i].sum;
}

template <class Key, class T, class F> void scatter_add_sorted(Call &call, int64_t n, F f, int64_t places, T *out) {
    Pool::Mark mark = call.mark();
    Key *key[] = {call.alloc<Key>(n), call.alloc<Key>(n)}, *item[] = {call.alloc<Key>(n), call.alloc<Key>(n)};
    Segment<T> *sum = call.alloc<Segment<T>>(n);
    if (call.code()) return;
    FSM_LAUNCH((list_shares<T, F, Key>), blocks_for(n), BLOCK, 0, call.stream(), n, f, places, key[0], item[0]);
    const int at = sort_by_key<Key>(call, n, uint64_t(places) + 1, key, item);
    scan<true>(call, n, SortedShare<T, F, Key>{f, key[at], item[at]}, JoinSegments(), Segment<T>{T(0), 0}, sum);
    if (!call.code()) FSM_LAUNCH((add_segments<T, Key>), blocks_for(n), BLOCK, 0, call.stream(), n, key[at], sum, places, out);
    call.release(mark);
}

// ---- the choice

constexpr int64_t SHARED_BYTES = 48 * 1024; // that every launch may ask for
// Up to so many iterations for a place, sorting them is quicker than copies of all places.
constexpr int64_t SORT_BELOW = 32;

// out[f(i).place] += f(i).value for i < n, where places are below `places`. In which order depends on n and places alone.
template <class T, class F> void scatter_add(Call &call, int64_t n, F f, int64_t places, T *out) {
    if (n <= 0 || places <= 0 || call.code()) return;
    const int64_t most = SHARED_BYTES / int64_t(sizeof(T));
    if (std::is_integral_v<T> && places > most) return scatter_add_atomic(call, n, f, out);
    const int64_t warps = places <= most / 8 ? 8 : places <= most / 4 ? 4 : places <= most / 2 ? 2 : 1;
    int64_t copies;
    T *partial;
    Pool::Mark mark = call.mark();
    if (places <= most) {
        copies = (n - 1) / (warps * 32 * 16) + 1;
        if (copies > 1024) copies = 1024;
        partial = call.alloc<T>(count_of(copies, places));
        if (call.code()) return;
        FSM_LAUNCH((add_shares_shared<T, F>), unsigned(copies), unsigned(32 * warps), size_t(warps * places) * sizeof(T), call.stream(), n,
                   f, int(places), partial);
    } else if (n / places >= SORT_BELOW) {
        copies = n / places < 4096 ? n / places / 4 * 4 : 4096; // four warps in a block
        partial = call.alloc<T>(count_of(copies, places));
        if (call.code() || call.check(cudaMemsetAsync(partial, 0, size_t(copies * places) * sizeof(T), call.stream()))) return;
        FSM_LAUNCH((add_shares_apart<T, F>), unsigned(copies / 4), 128, 0, call.stream(), n, f, places, partial);
    } else if (n < INT32_MAX && places < INT32_MAX) {
        return scatter_add_sorted<unsigned>(call, n, f, places, out);
    } else {
        return scatter_add_sorted<unsigned long long>(call, n, f, places, out);
    }
    FSM_LAUNCH(add_partials<T>, blocks_for(places), BLOCK, 0, call.stream(), copies, places, partial, out);
    call.release(mark);
}

} // namespace fsm::cuda

#endif
