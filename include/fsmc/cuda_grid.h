// What generated kernels use besides fsmc/cuda.h: shapes of grids, sums over threads in a fixed order, arrays of one thread.
#ifndef FSMC_CUDA_GRID_H
#define FSMC_CUDA_GRID_H

#include "fsmc/cuda.h"
#include "fsmc/cuda_math.h"

#include <initializer_list>

#define FSM_DEVICE inline __device__

namespace fsm {

// ---- shapes: they depend on extents alone, so that results are the same on every device

// Other numbers are for tests: of the threads of a block, of iterations of inner loops for which blocks do those of a grid, of iterations
// that are so many that a warp does each of these, and of warps that share a block.
#ifndef FSM_BLOCK
#define FSM_BLOCK 256
#endif
#ifndef FSM_LEAST_INNER
#define FSM_LEAST_INNER 16
#endif
#ifndef FSM_ALONE
#define FSM_ALONE ENOUGH
#endif
#ifndef FSM_TEAMS
#define FSM_TEAMS 8
#endif
enum : int64_t { BLOCK = FSM_BLOCK, MOST_BLOCKS = 2048, ENOUGH = 1 << 16 }; // ENOUGH iterations for threads of a large device

struct Shape {
    unsigned blocks, block, teams = 1; // block: threads of one, or of each of its teams
    int64_t threads() const { return int64_t(blocks) * block; }
    dim3 size() const { return dim3(block, teams); }
};

// For so many iterations, where each thread has arrays of so many bytes.
inline Shape shape(int64_t n, int64_t bytes = 0) {
    const int64_t room = int64_t(1) << 28, most = bytes > 0 ? room / bytes : MOST_BLOCKS * BLOCK;
    if (most < BLOCK) return {1, 32};
    const int64_t enough = 512; // blocks for a large device: where threads are few, blocks are small
    int64_t block = BLOCK;
    while (block > 32 && n / block < enough) block /= 2;
    int64_t blocks = (n + block - 1) / block;
    if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
    if (blocks > most / block) blocks = most / block;
    return {unsigned(blocks < 1 ? 1 : blocks), unsigned(block)};
}

// The same where each block does iterations, whose inner loops have `inner` iterations, and has arrays of so many bytes. teams: the
// iterations may be those of teams, several of which are in a block.
inline Shape block_shape(int64_t n, int64_t inner, int64_t bytes = 0, bool teams = false) {
    const int64_t room = int64_t(1) << 30;
    const bool alone = n >= FSM_ALONE && inner < 4 * BLOCK && bytes >= 0 && bytes <= room / (MOST_BLOCKS * 4); // a warp for each
    if (alone && teams) { // of blocks of one warp, a multiprocessor holds less than it has room for
        const int64_t all = (n + FSM_TEAMS - 1) / FSM_TEAMS, most_blocks = MOST_BLOCKS * 4 / FSM_TEAMS;
        return {unsigned(all < most_blocks ? all : most_blocks), 32, FSM_TEAMS};
    }
    const int64_t warps = alone ? 1 : inner < BLOCK ? (inner + 31) / 32 : BLOCK / 32;
    const int64_t most = MOST_BLOCKS * 4 / (warps < 1 ? 1 : warps);
    int64_t blocks = n < most ? n : most;
    if (bytes > 0 && blocks > room / bytes) blocks = room / bytes;
    return {unsigned(blocks < 1 ? 1 : blocks), unsigned(warps < 1 ? 32 : warps * 32)};
}

// Should blocks do the n iterations, whose inner loops have `inner` iterations? Not if there are enough for threads, unless their
// arrays, of so many bytes for each thread, are large, or each would read along a row of its own.
inline bool by_blocks(int64_t n, int64_t inner, int64_t bytes, bool rows = false) {
    const int64_t large = 1 << 8;
    return inner >= FSM_LEAST_INNER && (n < ENOUGH || rows || bytes > large || bytes < 0);
}

// Should what n iterations add at `count` places each be listed, of an array of so many elements of so many bytes? Not where a copy for
// each thread is small, or an iteration adds to most of it.
#ifndef FSM_MOST_COPY
#define FSM_MOST_COPY 1024
#endif
inline bool by_shares(int64_t n, int64_t count, int64_t places, int64_t size) {
    const int64_t most = int64_t(1) << 28;
    return n > 0 && places > FSM_MOST_COPY / size && count <= places / 2 && n <= most / (count < 1 ? 1 : count);
}

// Where loops around additions differ in length between iterations, which are to be counted: is it worth it? bytes: of all arrays.
enum : int64_t { MOST_SHARES = int64_t(1) << 28 };
inline bool by_counts(int64_t n, int64_t bytes) { return n > 0 && n <= MOST_SHARES && (bytes < 0 || bytes > FSM_MOST_COPY); }
// Then there are `all` shares, of arrays of so many elements in all; negative numbers did not fit.
inline bool by_lists(int64_t n, int64_t all, int64_t places) {
    return all >= 0 && all <= MOST_SHARES && (places < 0 || all / n <= places / 2);
}

// The number of elements: negative extents count as 0; -1 if it does not fit.
template <class... E> inline __host__ __device__ int64_t count_of(E... extents) {
    const int64_t all[] = {1, int64_t(extents)...};
    int64_t n = 1;
    bool wide = false;
    for (int64_t e : all)
        if (e <= 0) return 0;
    for (int64_t e : all) n = size_mul(n, e, &wide);
    return wide ? -1 : n;
}

// The sum of numbers of elements; -1 if one of them, or the sum, does not fit.
template <class... N> inline int64_t sum_of(N... counts) {
    const int64_t all[] = {counts...};
    int64_t sum = 0;
    for (int64_t n : all)
        if (n < 0 || __builtin_add_overflow(sum, n, &sum)) return -1;
    return sum;
}

inline __host__ __device__ bool is_index(int64_t i, int64_t n) { return i >= 0 && i < n; }

inline __host__ __device__ int64_t trips(int64_t first, int64_t end) { return end > first ? end - first : 0; }

// What a loop has inside: a grid of so many iterations, in each of which the loops inside have so many.
struct FoldGrid {
    int64_t width, inner;
};

// Should one block do a loop around these? Where launches, of which each needs one or more, take longer than a block. Other limits
// are for tests. A negative number is too large.
#ifndef FSM_MOST_FOLD
#define FSM_MOST_FOLD 1024
#endif
#ifndef FSM_FOLD_STEPS
#define FSM_FOLD_STEPS 4096
#endif
inline bool by_fold(std::initializer_list<FoldGrid> grids) {
    const int64_t most = 64; // iterations that a thread does of loops inside
    for (const FoldGrid &g : grids)
        if (g.width < 0 || g.width > FSM_MOST_FOLD || g.inner < 0 || g.inner > most || (g.width + BLOCK - 1) / BLOCK * g.inner > most) return false;
    return true;
}
inline Shape fold_shape(std::initializer_list<FoldGrid> grids) {
    int64_t most = 1;
    for (const FoldGrid &g : grids) most = g.width > most ? g.width : most;
    return block_shape(1, most);
}
// Where a launch that begins with iteration `from` ends, if an iteration runs grids so many times: a call cannot be cancelled in between.
inline int64_t fold_end(int64_t from, int64_t end, int64_t runs) {
    const int64_t most = runs < 0 || runs > FSM_FOLD_STEPS ? 1 : runs ? FSM_FOLD_STEPS / runs : FSM_FOLD_STEPS;
    return trips(from, end) > most ? from + most : end;
}

// Iterations of a grid that blocks do are those of teams: of the block's threads, or of each of its rows, which is a warp.
FSM_DEVICE int64_t team_number() { return int64_t(blockIdx.x) * blockDim.y + threadIdx.y; }
FSM_DEVICE int64_t team_count() { return int64_t(gridDim.x) * blockDim.y; }
FSM_DEVICE void sync_team() {
    if (blockDim.y > 1) __syncwarp();
    else __syncthreads();
}
FSM_DEVICE bool any_of_team(bool x) { return blockDim.y > 1 ? __any_sync(cuda::ALL_LANES, x) : __syncthreads_or(x); }

FSM_DEVICE int64_t thread_number() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
FSM_DEVICE int64_t thread_count() { return int64_t(gridDim.x) * blockDim.x; }

// a / b, of numbers that are not negative: most fit into 32 bits, whose division takes a fraction of the time.
FSM_DEVICE int64_t quotient(int64_t a, int64_t b) {
    return (a | b) >> 32 ? a / b : int64_t(uint32_t(a) / uint32_t(b));
}

// The iterations of a thread in a grid of N loops, the outermost first, of these lengths: their numbers, and the indices, which go
// on by additions, since divisions take longer than what most iterations do.
template <int N> struct Walk {
    int64_t number, all, length[N], index[N], step[N];
    __device__ Walk(int64_t n, const int64_t (&lengths)[N]) : number(thread_number()), all(n) {
        for (int k = 0; k < N; k++)
            length[k] = lengths[k] < 1 ? 1 : lengths[k], step[k] = 0; // where one is 0, there is no iteration
        digits(number, index);
        if (number + thread_count() < all) digits(thread_count(), step);
    }
    __device__ void next() {
        number += thread_count();
        for (int k = N; k-- > 0;) {
            index[k] += step[k];
            if (k == 0 || index[k] < length[k]) continue;
            index[k] -= length[k], index[k - 1]++;
        }
    }

  private:
    __device__ void digits(int64_t x, int64_t (&to)[N]) const {
        for (int k = N; k-- > 1;) {
            const int64_t rest = quotient(x, length[k]);
            to[k] = x - rest * length[k], x = rest;
        }
        to[0] = x;
    }
};

// ---- sums and extremes over all threads

FSM_DEVICE double join_add(double x, double y) { return x + y; }
FSM_DEVICE float join_add(float x, float y) { return x + y; }
FSM_DEVICE int64_t join_add(int64_t x, int64_t y) { return wrap_add(x, y); }
FSM_DEVICE int64_t least(int64_t x, int64_t y) { return least_int(x, y); }
FSM_DEVICE int64_t greatest(int64_t x, int64_t y) { return greatest_int(x, y); }

// How values of T are joined; none: what changes nothing, where x is one of those that are joined.
template <class T> struct Add {
    static __device__ T join(T x, T y) { return join_add(x, y); }
    static __device__ T none(T) { return T(0); }
};
template <class T> struct Least {
    static __device__ T join(T x, T y) { return least(x, y); }
    static __device__ T none(T x) { return x; }
};
template <class T> struct Greatest {
    static __device__ T join(T x, T y) { return greatest(x, y); }
    static __device__ T none(T x) { return x; }
};

// --fast-atomics
FSM_DEVICE void add_at_once(double *to, double x) { atomicAdd(to, x); }
FSM_DEVICE void add_at_once(float *to, float x) { atomicAdd(to, x); }
FSM_DEVICE void add_at_once(int64_t *to, int64_t x) { atomicAdd(reinterpret_cast<unsigned long long *>(to), (unsigned long long)(x)); }

template <template <class> class Op, class T> struct Joined {
    __device__ T operator()(T x, T y) const { return Op<T>::join(x, y); }
};

// Of all threads of a team, which all call it, for all of them.
template <template <class> class Op, class T> __device__ T join_all(T x) {
    return blockDim.y > 1 ? cuda::warp_reduce(x, Joined<Op, T>()) : cuda::block_reduce(x, Joined<Op, T>());
}

// Each block's, for join_blocks.
template <template <class> class Op, class T> __device__ void join_threads(T *parts, T x) {
    x = join_all<Op, T>(x);
    if (threadIdx.x == 0) parts[blockIdx.x] = x;
}

// *cell, or, if it is new, first, joined with what the blocks of a grid have; a kernel of one block.
template <template <class> class Op, class T>
__global__ void join_blocks(cuda::Errors errors, T *cell, const T *parts, int64_t n, bool is_new, T first) {
    if (errors.record && cuda::stopped(errors)) return;
    const int64_t size = (n + BLOCK - 1) / BLOCK, from = threadIdx.x * size, to = from + size < n ? from + size : n;
    T x = from < n ? parts[from] : Op<T>::none(parts[0]);
    for (int64_t k = from + 1; k < to; k++) x = Op<T>::join(x, parts[k]);
    x = join_all<Op, T>(x);
    if (threadIdx.x == 0) *cell = Op<T>::join(is_new ? first : *cell, x);
}

// to[e] += the sum of what the threads of a grid have for e, in their order; a block for each element, of whose copies each thread adds
// up every blockDim-th.
template <class T> __global__ void add_copies(cuda::Errors errors, T *to, const T *copies, int64_t n, int64_t threads) {
    if (errors.record && cuda::stopped(errors)) return;
    for (int64_t e = blockIdx.x; e < n; e += gridDim.x) {
        T x = T(0);
        for (int64_t k = threadIdx.x; k < threads; k += blockDim.x) x = Add<T>::join(x, copies[e * threads + k]);
        x = join_all<Add, T>(x);
        if (threadIdx.x == 0) to[e] = Add<T>::join(to[e], x);
    }
}
// sums[e][part] = the sum of `size` of them, for each part.
template <class T>
__global__ void sum_parts(cuda::Errors errors, T *sums, const T *copies, int64_t n, int64_t threads, int64_t parts, int64_t size) {
    if (errors.record && cuda::stopped(errors)) return;
    for (int64_t at = blockIdx.x; at < n * parts; at += gridDim.x) {
        const int64_t e = at / parts, from = at % parts * size, end = from + size < threads ? from + size : threads;
        T x = T(0);
        for (int64_t k = from + threadIdx.x; k < end; k += blockDim.x) x = Add<T>::join(x, copies[e * threads + k]);
        x = join_all<Add, T>(x);
        if (threadIdx.x == 0) sums[at] = x;
    }
}
// Of a few elements, blocks add up parts first: one for each element would occupy few multiprocessors.
#ifndef FSM_COPIES_PART
#define FSM_COPIES_PART 4096
#endif
template <class T> void add_thread_copies(cuda::Call &call, cuda::Errors errors, T *to, const T *copies, int64_t n, int64_t threads) {
    const int64_t few = 512, parts = (threads + FSM_COPIES_PART - 1) / FSM_COPIES_PART;
    if (n < few && parts > 1) {
        T *sums = call.alloc<T>(n * parts);
        if (call.code()) return;
        FSM_LAUNCH(sum_parts<T>, cuda::blocks_for(n * parts, 1), BLOCK, 0, call.stream(), errors, sums, copies, n, threads, parts,
                   int64_t(FSM_COPIES_PART));
        copies = sums, threads = parts;
    }
    const unsigned block = threads >= BLOCK ? unsigned(BLOCK) : threads <= 32 ? 32 : unsigned((threads + 31) / 32 * 32);
    FSM_LAUNCH(add_copies<T>, cuda::blocks_for(n, 1), block, 0, call.stream(), errors, to, copies, n, threads);
}

// The same where each block has all elements, one after the other: neighbouring lanes have neighbouring elements, as many as fill a
// row of WIDTH of them; each row of lanes adds up a part of the copies. Where elements are few, rows are short, so that there are
// more of them, and blocks.
struct CopiesShape {
    unsigned width, blocks, block;
};
inline CopiesShape copies_shape(int64_t n, int64_t copies) {
    const unsigned width = n >= int64_t(1) << 14 || copies < 64 ? 32 : 4;
    unsigned rows = 1;
    while (rows * width < 1024 && n * rows < int64_t(1) << 18 && rows * 8 <= copies) rows *= 2;
    if (rows * width < 32) rows = 32 / width;
    return {width, cuda::blocks_for(n, width), rows * width};
}
template <class T>
__global__ void add_block_copies(cuda::Errors errors, T *to, const T *copies, int64_t n, int64_t blocks, unsigned width) {
    FSM_SHARED(parts, T[1024]);
    if (errors.record && cuda::stopped(errors)) return;
    const int lane = int(threadIdx.x % width), row = int(threadIdx.x / width), rows = int(blockDim.x / width);
    const int64_t size = (blocks + rows - 1) / rows, from = row * size, end = from + size < blocks ? from + size : blocks;
    for (int64_t first = int64_t(blockIdx.x) * width; first < n; first += int64_t(gridDim.x) * width) {
        const int64_t e = first + lane;
        T x = T(0);
        for (int64_t k = from; e < n && k < end; k++) x = Add<T>::join(x, copies[k * n + e]);
        parts[threadIdx.x] = x;
        for (int half = rows / 2; half; half /= 2) {
            __syncthreads();
            if (row < half) parts[threadIdx.x] = Add<T>::join(parts[threadIdx.x], parts[threadIdx.x + half * width]);
        }
        if (row == 0 && e < n) to[e] = Add<T>::join(to[e], parts[threadIdx.x]);
        __syncthreads(); // the last use of `parts`
    }
}

// ---- lists

// Of so many shares, how many an iteration counts; what is more than all may be is too many anyway, and its sum fits.
FSM_DEVICE unsigned long long shares_of(int64_t n) { return n < 0 || n > MOST_SHARES ? MOST_SHARES + 1 : n; }

struct ShareCounts {
    const unsigned long long *count;
    int64_t n;
    __device__ unsigned long long operator()(int64_t i) const { return i < n ? count[i] : 0; }
};
// Where each of n iterations begins in a list, in the place of how many elements it has there; gives their number, for which the
// host waits. There is room for n + 1.
inline int64_t places_in_list(cuda::Call &call, int64_t n, unsigned long long *count) {
    cuda::scan<false>(call, n + 1, ShareCounts{count, n}, cuda::Sum(), 0ULL, count);
    return int64_t(call.read(count + n));
}

// ---- rows

// Iterations in the order of the rows that they add to, in parts of so many; those of `places` add nothing.
#ifndef FSM_ROWS_PART
#define FSM_ROWS_PART 8
#endif
struct Rows {
    const unsigned *row, *item;
    int64_t n, size;
    __host__ __device__ int64_t parts() const { return (n + size - 1) / size; }
    __device__ int64_t first(int64_t part) const { return part * size; }
    __device__ int64_t end(int64_t part) const { return (part + 1) * size < n ? (part + 1) * size : n; }
    __device__ bool begun(int64_t part, int64_t r) const { return part > 0 && row[part * size - 1] == r; } // by the part before
    __device__ bool goes_on(int64_t part, int64_t r) const { return part < parts() && row[part * size] == r && begun(part, r); }
};

// Should n iterations, each of which adds to one of so many rows, be sorted by it? Not where copies for blocks are small.
#ifndef FSM_LEAST_ROWS
#define FSM_LEAST_ROWS 32
#endif
inline bool by_rows(int64_t n, int64_t inner, int64_t places, int64_t bytes) {
    return inner >= FSM_LEAST_INNER && n > 0 && n < INT32_MAX && places >= FSM_LEAST_ROWS && places < INT32_MAX &&
           (bytes > 16 * FSM_MOST_COPY || bytes < 0);
}
template <class Item> __global__ void number_items(int64_t n, Item *item) {
    for (int64_t i = thread_number(); i < n; i += thread_count()) item[i] = Item(i);
}
inline Rows sort_rows(cuda::Call &call, int64_t n, int64_t places, unsigned *key) {
    unsigned *const keys[] = {key, call.alloc<unsigned>(n)}, *const items[] = {call.alloc<unsigned>(n), call.alloc<unsigned>(n)};
    const int64_t most = 1 << 13, size = n / most > FSM_ROWS_PART ? n / most : FSM_ROWS_PART;
    if (!call.code()) FSM_LAUNCH(number_items<unsigned>, shape(n).blocks, BLOCK, 0, call.stream(), n, items[0]);
    const int at = cuda::sort_by_key<unsigned>(call, n, uint64_t(places) + 1, keys, items);
    return {keys[at], items[at], n, size};
}

// What parts have added up of rows that others have begun: the first of them adds that of all.
template <class T>
__global__ void add_beside(cuda::Errors errors, Rows rows, int64_t places, T *to, const T *beside, int64_t length) {
    if (errors.record && cuda::stopped(errors)) return;
    for (int64_t part = blockIdx.x; part < rows.parts(); part += gridDim.x) {
        const int64_t r = rows.row[rows.first(part)];
        if (r >= places || !rows.goes_on(part, r) || rows.goes_on(part - 1, r)) continue;
        for (int64_t e = threadIdx.x; e < length; e += blockDim.x) {
            T x = beside[part * length + e];
            for (int64_t k = part + 1; rows.goes_on(k, r); k++) x = Add<T>::join(x, beside[k * length + e]);
            to[r * length + e] = Add<T>::join(to[r * length + e], x);
        }
    }
}

// ---- arrays

template <class T> __global__ void fill_array(cuda::Errors errors, T *to, int64_t n, T value) {
    if (errors.record && cuda::stopped(errors)) return;
    for (int64_t e = thread_number(); e < n; e += thread_count()) to[e] = value;
}
template <class T> __global__ void copy_array(cuda::Errors errors, T *to, const T *from, int64_t n) {
    if (errors.record && cuda::stopped(errors)) return;
    for (int64_t e = thread_number(); e < n; e += thread_count()) to[e] = from[e];
}

// Memory of one thread, on the heap that all threads share, or of the host, for an array whose size is not known before.
template <class T> class Memory {
  public:
    __host__ __device__ explicit Memory(int64_t count) : count_(count), data_(nullptr) {
        if (count >= 0 && count < INT64_MAX / 16) data_ = static_cast<T *>(FSM_MALLOC(size_t(count ? count : 1) * sizeof(T)));
    }
    __host__ __device__ ~Memory() { FSM_FREE(data_); }
    Memory(const Memory &) = delete;
    __host__ __device__ bool ok() const { return data_ != nullptr; }
    __host__ __device__ int64_t bytes() const { return count_ < 0 ? count_ : count_ * int64_t(sizeof(T)); }
    __host__ __device__ T *data() const { return data_; }

  private:
    int64_t count_;
    T *data_;
};

} // namespace fsm
#endif
