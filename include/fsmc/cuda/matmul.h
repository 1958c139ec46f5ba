// Matrix products. Part of fsmc/cuda.h.
#ifndef FSMC_CUDA_MATMUL_H
#define FSMC_CUDA_MATMUL_H

#include "fsmc/cuda/reduce.h"

#ifdef FSM_CUDA_CUBLAS
#include <cublas_v2.h>
#endif

#include <initializer_list>
#include <type_traits>

namespace fsm::cuda {

// A matrix in device memory: element [i, j] is data[i*row + j*column], that of number b of a batch at data + b*batch.
template <class T> struct Matrix {
    T *data;
    int64_t row, column, batch;
};
template <class T> Matrix<T> row_major(T *data, int64_t columns, int64_t batch = 0) { return {data, columns, 1, batch}; }
template <class T> Matrix<T> column_major(T *data, int64_t columns, int64_t batch = 0) { return {data, 1, columns, batch}; }

// ---- a kernel

constexpr int DEPTH = 16; // so many columns of a tile are in shared memory at a time

// A block makes ROWS x COLUMNS elements, ACROSS threads beside each other; a thread makes DOWN neighbouring rows of them, of PART
// columns: neighbours of 4 bytes, which are read together, or every ACROSS-th, so that threads beside each other read other banks
// of the memory. RESIDENT blocks are on a multiprocessor at once.
template <int ROWS_, int COLUMNS_, int ACROSS_, int RESIDENT_, bool NEAR> struct Tiling {
    enum {
        ROWS = ROWS_,
        COLUMNS = COLUMNS_,
        ACROSS = ACROSS_,
        DOWN = ROWS * ACROSS / BLOCK,
        PART = COLUMNS / ACROSS,
        RESIDENT = RESIDENT_
    };
    static __device__ int column(int thread, int j) { return NEAR ? thread * PART + j : thread + j * ACROSS; }
};
template <class T> using Square = Tiling<64, 64, 16, (sizeof(T) > 4 ? 2 : 3), (sizeof(T) == 4)>;
template <class T>
using Large = std::conditional_t<(sizeof(T) > 4), Square<T>, Tiling<128, 64, 16, 2, true>>; // many rows and columns
template <class T> using Narrow = Tiling<256, 8, 1, (sizeof(T) > 4 ? 2 : 4), true>;         // a few columns
template <class T> constexpr int PAD = 16 / int(sizeof(T)); // rows in shared memory begin at multiples of 16 bytes
template <int SIZE, class T> struct alignas(16) Tile { T at[DEPTH][SIZE + PAD<T>]; };

// What is added up for elements x and y.
template <class T> struct Multiply {
    __device__ T operator()(T x, T y) const { return x * y; }
};
template <class T, class F> struct Turned {
    F f;
    __device__ T operator()(T x, T y) const { return f(y, x); }
};

// The DEPTH columns from k on of SIZE rows from `first` on, which become tile[column][row]; zeros beyond the matrix. Between load
// and store, they are in registers, while the tile is in use.
template <int SIZE, class T> class TileRows {
  public:
    __device__ void load(const T *data, int64_t row, int64_t column, int64_t rows, int64_t columns, int64_t first, int64_t k) {
        along_ = column == 1; // neighbouring threads take neighbours in memory
        if (along_) load_as<true>(data, row, column, rows - first, columns - k, first, k);
        else load_as<false>(data, row, column, rows - first, columns - k, first, k);
    }
    __device__ void store(Tile<SIZE, T> &tile) const {
        if (along_) store_as<true>(tile);
        else store_as<false>(tile);
    }

  private:
    enum { COUNT = SIZE * DEPTH > BLOCK ? SIZE * DEPTH / BLOCK : 1 };
    T value_[COUNT];
    bool along_;
    static __device__ unsigned number(int s) { return unsigned(thread_number()) + unsigned(s) * unsigned(BLOCK); }
    template <bool ALONG> static __device__ int row_of(int s) { return int(ALONG ? number(s) / DEPTH : number(s) % SIZE); }
    template <bool ALONG> static __device__ int column_of(int s) { return int(ALONG ? number(s) % DEPTH : number(s) / SIZE); }

    // rows, columns: so many there are from `first` and k on.
    template <bool ALONG>
    __device__ void load_as(const T *data, int64_t row, int64_t column, int64_t rows, int64_t columns, int64_t first, int64_t k) {
        const int i0 = row_of<ALONG>(0), j0 = column_of<ALONG>(0);
        const T *from = data + (first + i0) * row + (k + j0) * column;
        for (int s = 0; s < COUNT; s++) {
            const int i = row_of<ALONG>(s), j = column_of<ALONG>(s);
            const bool is = i < SIZE && j < DEPTH && i < rows && j < columns;
            value_[s] = is ? from[(i - i0) * row + (j - j0) * column] : T(0);
        }
    }
    template <bool ALONG> __device__ void store_as(Tile<SIZE, T> &tile) const {
        for (int s = 0; s < COUNT; s++) {
            const int i = row_of<ALONG>(s), j = column_of<ALONG>(s);
            if (i < SIZE && j < DEPTH) tile.at[j][i] = value_[s];
        }
    }
};

// How a sum over k is cut: into parts of `size`, each of which is a result of its own. A few results with a long sum would
// occupy few blocks. The rule knows extents alone, so that results are the same on every device.
struct Cut {
    int64_t parts, size;
};
#ifndef FSM_LEAST_PART
#define FSM_LEAST_PART 256
#endif
inline Cut cut_of(int64_t tiles, int64_t depth) { // tiles: of the result; negative if they are too many to count
    const int64_t enough = 512, most = depth / FSM_LEAST_PART, wanted = tiles <= 0 ? 1 : enough / tiles;
    const int64_t parts = wanted < most ? wanted : most;
    if (parts <= 1) return {1, depth};
    const int64_t size = ((depth - 1) / parts / DEPTH + 1) * DEPTH;
    return {(depth - 1) / size + 1, size};
}

// Part number p of the sums, times alpha, goes to c + p*apart, where it is added to beta times what is there.
template <class T, class F, class By>
__global__ void __launch_bounds__(BLOCK, By::RESIDENT)
    contract_tiles(int64_t m, int64_t n, int64_t depth, int64_t batch, F f, T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
                   Matrix<T> c, Cut cut, int64_t apart) {
    FSM_SHARED(left, Tile<By::ROWS, T>);
    FSM_SHARED(right, Tile<By::COLUMNS, T>);
    const int64_t across = (n - 1) / By::COLUMNS + 1, down = (m - 1) / By::ROWS + 1, tiles = across * down * batch;
    for (int64_t block = blockIdx.x; block < tiles * cut.parts; block += gridDim.x) {
        const int64_t part = block / tiles, tile = block % tiles;
        const int64_t number = tile / (across * down), i0 = tile / across % down * By::ROWS, j0 = tile % across * By::COLUMNS;
        const int64_t first = part * cut.size, end = first + cut.size < depth ? first + cut.size : depth;
        const T *a0 = a.data + number * a.batch, *b0 = b.data + number * b.batch;
        const int i1 = thread_number() / By::ACROSS * By::DOWN, j1 = thread_number() % By::ACROSS;
        T sum[By::DOWN][By::PART] = {};
        TileRows<By::ROWS, T> rows;
        TileRows<By::COLUMNS, T> columns;
        rows.load(a0, a.row, a.column, m, end, i0, first);
        columns.load(b0, b.column, b.row, n, end, j0, first);
        for (int64_t k = first; k < end; k += DEPTH) {
            rows.store(left), columns.store(right);
            __syncthreads();
            if (k + DEPTH < end) {
                rows.load(a0, a.row, a.column, m, end, i0, k + DEPTH);
                columns.load(b0, b.column, b.row, n, end, j0, k + DEPTH);
            }
            const auto step = [&](int l) {
                for (int i = 0; i < By::DOWN; i++)
                    for (int j = 0; j < By::PART; j++) sum[i][j] += f(left.at[l][i1 + i], right.at[l][By::column(j1, j)]);
            };
            if (end - k >= DEPTH)
                for (int l = 0; l < DEPTH; l++) step(l);
            else
                for (int l = 0; l < end - k; l++) step(l); // what f is of zeros does not count
            __syncthreads();
        }
        for (int i = 0; i < By::DOWN; i++)
            for (int j = 0; j < By::PART; j++) {
                const int64_t y = i0 + i1 + i, x = j0 + By::column(j1, j);
                if (y >= m || x >= n) continue;
                T *p = c.data + part * apart + number * c.batch + y * c.row + x * c.column;
                *p = beta == T(0) ? alpha * sum[i][j] : alpha * sum[i][j] + beta * *p;
            }
    }
}

// c = beta c + alpha times the sum of the parts, which lie one after the other in memory, in their order.
template <class T>
__device__ void set_total(T total, int64_t e, int64_t m, int64_t n, T alpha, T beta, const Matrix<T> &c) {
    const bool in_order = c.column == 1 && c.row == n && c.batch == m * n;
    T *p = c.data + (in_order ? e : e / (m * n) * c.batch + e / n % m * c.row + e % n * c.column);
    *p = beta == T(0) ? alpha * total : alpha * total + beta * *p;
}
// Of a few parts: a thread for each element.
template <int PARTS, class T>
__global__ void add_few_parts(int64_t m, int64_t n, int64_t batch, T alpha, const T *part, int64_t, T beta, Matrix<T> c) {
    const int64_t all = m * n * batch;
    for (int64_t e = grid_thread(); e < all; e += grid_threads()) {
        T sum = part[e];
        FSM_UNROLL
        for (int k = 1; k < PARTS; k++) sum += part[k * all + e];
        set_total(sum, e, m, n, alpha, beta, c);
    }
}
// Of many: a lane for each element, of whose parts each warp adds up some that follow each other.
template <class T>
__global__ void add_parts(int64_t m, int64_t n, int64_t batch, T alpha, const T *part, int64_t parts, T beta, Matrix<T> c) {
    FSM_SHARED(sums, T[BLOCK / 32][32]);
    const int64_t all = m * n * batch, size = (parts - 1) / (BLOCK / 32) + 1;
    const int64_t first = warp_number() * size, end = first + size < parts ? first + size : parts;
    for (int64_t from = int64_t(blockIdx.x) * 32; from < all; from += int64_t(gridDim.x) * 32) {
        const int64_t e = from + lane_number();
        T sum = T(0);
        for (int64_t k = first; e < all && k < end; k++) sum += part[k * all + e];
        sums[warp_number()][lane_number()] = sum;
        __syncthreads();
        if (warp_number() == 0 && e < all) {
            for (int k = 1; k < BLOCK / 32; k++) sum += sums[k][lane_number()];
            set_total(sum, e, m, n, alpha, beta, c);
        }
        __syncthreads(); // the last use of `sums`
    }
}
template <class T>
void add_all_parts(Call &call, int64_t m, int64_t n, int64_t batch, T alpha, const T *part, int64_t parts, T beta, Matrix<T> c) {
    const int few = 4;
    const auto kernel = parts == 1     ? add_few_parts<1, T>
                        : parts == 2   ? add_few_parts<2, T>
                        : parts == 3   ? add_few_parts<3, T>
                        : parts == few ? add_few_parts<few, T>
                                       : add_parts<T>;
    const unsigned blocks = blocks_for(m * n * batch, parts <= few ? BLOCK : 32);
    FSM_LAUNCH(kernel, blocks, BLOCK, 0, call.stream(), m, n, batch, alpha, part, parts, beta, c);
}

template <class By, class T, class F>
void contract_by(Call &call, int64_t m, int64_t n, int64_t k, int64_t batch, F f, T alpha, Matrix<const T> a, Matrix<const T> b,
                 T beta, Matrix<T> c) {
    const int64_t tiles = count_of((m - 1) / By::ROWS + 1, (n - 1) / By::COLUMNS + 1, batch);
    const Cut cut = cut_of(tiles, k);
    const int64_t blocks = tiles < 0 || tiles > INT32_MAX ? INT32_MAX : tiles * cut.parts;
    if (cut.parts == 1) {
        FSM_LAUNCH((contract_tiles<T, F, By>), unsigned(blocks), BLOCK, 0, call.stream(), m, n, k, batch, f, alpha, a, b, beta, c,
                   cut, int64_t(0));
        return;
    }
    const Pool::Mark mark = call.mark();
    T *part = call.alloc<T>(count_of(cut.parts, m, n, batch));
    if (!call.code()) {
        FSM_LAUNCH((contract_tiles<T, F, By>), unsigned(blocks), BLOCK, 0, call.stream(), m, n, k, batch, f, T(1), a, b, T(0),
                   row_major(part, n, m * n), cut, m * n * batch);
        add_all_parts(call, m, n, batch, alpha, part, cut.parts, beta, c);
    }
    call.release(mark);
}

// Element [i, j] of c becomes beta times what it is, unless that is 0, plus alpha times the sum over l of f(a[i, l], b[l, j]); for
// each of `batch` m x k, k x n and m x n matrices.
template <class T, class F>
void contract(Call &call, int64_t m, int64_t n, int64_t k, int64_t batch, F f, T alpha, Matrix<const T> a, Matrix<const T> b,
              T beta, Matrix<T> c) {
    if (m <= 0 || n <= 0 || batch <= 0 || call.code()) return;
    const Matrix<const T> at{a.data, a.column, a.row, a.batch}, bt{b.data, b.column, b.row, b.batch};
    const Matrix<T> ct{c.data, c.column, c.row, c.batch};
    const int64_t few = Narrow<T>::COLUMNS, many = 256; // blocks for a large device
    const int64_t large = count_of(m / Large<T>::ROWS, n / Large<T>::COLUMNS, batch);
    if (n <= few) contract_by<Narrow<T>>(call, m, n, k, batch, f, alpha, a, b, beta, c);
    else if (m <= few) contract_by<Narrow<T>>(call, n, m, k, batch, Turned<T, F>{f}, alpha, bt, at, beta, ct);
    else if (large < 0 || large >= many) contract_by<Large<T>>(call, m, n, k, batch, f, alpha, a, b, beta, c);
    else contract_by<Square<T>>(call, m, n, k, batch, f, alpha, a, b, beta, c);
}

// ---- cuBLAS

#ifdef FSM_CUDA_CUBLAS
inline cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t p, cublasOperation_t q, int m, int n, int k, const double *alpha,
                           const double *a, int lda, int64_t sa, const double *b, int ldb, int64_t sb, const double *beta,
                           double *c, int ldc, int64_t sc, int batch) {
    return cublasDgemmStridedBatched(h, p, q, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch);
}
inline cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t p, cublasOperation_t q, int m, int n, int k, const float *alpha,
                           const float *a, int lda, int64_t sa, const float *b, int ldb, int64_t sb, const float *beta, float *c,
                           int ldc, int64_t sc, int batch) {
    return cublasSgemmStridedBatched(h, p, q, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch);
}

// The handle, and memory for it: what cuBLAS takes otherwise may differ from call to call, and results with it, and cannot be
// part of a graph.
struct Blas {
    enum : size_t { BYTES = size_t(32) << 20 };
    cublasHandle_t handle = nullptr;
    void *workspace = nullptr;
    ~Blas() {
        if (handle) cublasDestroy(handle);
        if (workspace) cudaFree(workspace);
    }
};
inline void destroy_blas(void *blas) { delete static_cast<Blas *>(blas); }

// The context's handle, made when it is first needed, for this call's stream. NULL after a failure.
inline cublasHandle_t blas(Call &call) {
    Library *library = call.blas();
    if (!library) return nullptr;
    Blas *blas = static_cast<Blas *>(library->handle);
    cublasStatus_t s = CUBLAS_STATUS_SUCCESS;
    if (!blas) {
        if (!call.may_make()) return nullptr;
        blas = new Blas;
        if (call.check(cudaMalloc(&blas->workspace, Blas::BYTES))) return delete blas, nullptr;
        s = cublasCreate(&blas->handle);
        *library = {blas, destroy_blas};
    }
    if (s == CUBLAS_STATUS_SUCCESS) s = cublasSetStream(blas->handle, call.stream());
    if (s == CUBLAS_STATUS_SUCCESS)
        s = cublasSetWorkspace(blas->handle, blas->workspace, Blas::BYTES); // the stream's took its place
    if (s == CUBLAS_STATUS_SUCCESS) return blas->handle;
    call.fail_library("cuBLAS", cublasGetStatusString(s));
    return nullptr;
}

// Are rows, or columns, one after the other in memory, and do not overlap?
template <class T> inline bool suits_blas(const Matrix<T> &x, int64_t rows, int64_t columns) {
    return x.row <= INT32_MAX && x.column <= INT32_MAX && ((x.column == 1 && x.row >= columns) || (x.row == 1 && x.column >= rows));
}

// cuBLAS has columns one after the other: what it takes for C is its transpose, B^T A^T.
template <class T>
void matmul_blas(Call &call, int64_t m, int64_t n, int64_t k, int64_t batch, T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
                 Matrix<T> c) {
    const cublasHandle_t handle = blas(call);
    if (!handle) return;
    const auto turned = [](const Matrix<const T> &x) { return x.column == 1 ? CUBLAS_OP_N : CUBLAS_OP_T; };
    const auto step = [](const Matrix<const T> &x, int64_t least) { // between rows, or columns
        const int64_t s = x.column == 1 ? x.row : x.column;
        return int(s > least ? s : least);
    };
    const cublasStatus_t s =
        gemm(handle, turned(b), turned(a), int(n), int(m), int(k), &alpha, b.data, step(b, b.column == 1 ? n : k), b.batch, a.data,
             step(a, a.column == 1 ? k : m), a.batch, &beta, c.data, int(c.row > n ? c.row : n), c.batch, int(batch));
    if (s != CUBLAS_STATUS_SUCCESS) call.fail_library("cuBLAS", cublasGetStatusString(s));
}
#endif

// ---- the choice

// Where elements lie that are apart by a fixed step in each of three indices: that of (0, 0, 0), and the steps.
struct Places {
    int64_t at, i, j, k, batch;
};
template <class F> Places places_of(F f) {
    const int64_t at = f(0, 0, 0);
    return {at, f(1, 0, 0) - at, f(0, 1, 0) - at, f(0, 0, 1) - at, 0};
}
// The same where a batch has an index, the first.
template <class F> Places places_of_batch(F f) {
    const int64_t at = f(0, 0, 0, 0);
    return {at, f(0, 1, 0, 0) - at, f(0, 0, 1, 0) - at, f(0, 0, 0, 1) - at, f(1, 0, 0, 0) - at};
}

// How many rows, columns, terms and products there are to be made.
struct Extents {
    int64_t i, j, k, batch;
};
// Of a batch that has one of its factors in common, the rows, or columns, are those of one product, if they lie that way. left, right:
// what the factors are made of.
inline Extents one_of_batch(int64_t m, int64_t n, int64_t k, int64_t batch, std::initializer_list<Places> left,
                            std::initializer_list<Places> right, const Places &to) {
    bool rows = to.batch == m * to.i, columns = to.batch == n * to.j;
    for (const Places &p : left) rows = rows && p.batch == m * p.i, columns = columns && !p.batch;
    for (const Places &p : right) rows = rows && !p.batch, columns = columns && p.batch == n * p.j;
    return rows ? Extents{m * batch, n, k, 1} : columns ? Extents{m, n * batch, k, 1} : Extents{m, n, k, batch};
}
inline Extents one_of_batch(int64_t m, int64_t n, int64_t k, int64_t batch, const Places &left, const Places &right,
                            const Places &to) {
    return one_of_batch(m, n, k, batch, {left}, {right}, to);
}
// So are the terms of products that are added up.
inline Extents one_of_sums(int64_t m, int64_t n, int64_t k, int64_t batch, std::initializer_list<Places> left,
                           std::initializer_list<Places> right, const Places &) {
    bool one = true;
    for (const auto &factor : {left, right})
        for (const Places &p : factor) one = one && p.batch == k * p.k;
    return one || batch < 1 ? Extents{m, n, k * batch, 1} : Extents{m, n, k, batch};
}
inline Extents one_of_sums(int64_t m, int64_t n, int64_t k, int64_t batch, const Places &left, const Places &right,
                           const Places &to) {
    return one_of_sums(m, n, k, batch, {left}, {right}, to);
}

// Is a sum over k, for i < m and j < n, better done as a product than by a thread or a block for each i and j? A few columns, or
// rows, are one of many, or of a long sum; of a long sum also what is so small that blocks for i and j would be few.
#ifndef FSM_LEAST_PRODUCT
#define FSM_LEAST_PRODUCT 16
#endif
inline bool is_product(int64_t m, int64_t n, int64_t k) {
    const int64_t few = FSM_LEAST_PRODUCT < 4 ? FSM_LEAST_PRODUCT : 4, many = 1 << 12, less = m < n ? m : n, more = m < n ? n : m;
    if (k >= many) return less >= few || (less > 0 && more < 512 / less);
    return k >= FSM_LEAST_PRODUCT && (less >= FSM_LEAST_PRODUCT || (less >= few && more >= many));
}

// Objects that are compiled with and without FSM_CUDA_CUBLAS may be in one program.
#ifdef FSM_CUDA_CUBLAS
inline namespace with_cublas {
#else
inline namespace without_cublas {
#endif

// c = alpha a b + beta c for each of `batch` m x k, k x n and m x n matrices; what c holds is not read if beta is 0. Where the
// program is compiled with FSM_CUDA_CUBLAS, large products are cuBLAS's.
template <class T>
void matmul(Call &call, int64_t m, int64_t n, int64_t k, int64_t batch, T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
            Matrix<T> c) {
    if (m <= 0 || n <= 0 || batch <= 0 || call.code()) return;
    if (c.row == 1 && c.column != 1) // its transpose, whose rows are one after the other
        return matmul(call, n, m, k, batch, alpha, {b.data, b.column, b.row, b.batch}, {a.data, a.column, a.row, a.batch}, beta,
                      {c.data, c.column, 1, c.batch});
#ifdef FSM_CUDA_CUBLAS
    const bool large = double(m) * double(n) * double(k) >= 32.0 * 32 * 32;
    const bool fits = m <= INT32_MAX && n <= INT32_MAX && k <= INT32_MAX && batch <= INT32_MAX && c.column == 1;
    if (large && fits && suits_blas(a, m, k) && suits_blas(b, k, n) && suits_blas(c, m, n))
        return matmul_blas(call, m, n, k, batch, alpha, a, b, beta, c);
#endif
    contract(call, m, n, k, batch, Multiply<T>(), alpha, a, b, beta, c);
}

} // inline namespace
} // namespace fsm::cuda

#endif
