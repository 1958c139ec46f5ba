// Products of two matrices of doubles whose elements are made of elements of arrays where they are needed, such as x - y and u * v;
// on tensor cores. Part of fsmc/cuda.h.
#ifndef FSMC_CUDA_FACTORS_H
#define FSMC_CUDA_FACTORS_H

#include "fsmc/cuda/matmul.h"

namespace fsm::cuda {

// What an array has for the elements [i, k] of a factor: one for each, one for all of row i, or one for all of column k.
enum class Leaf { EACH, ROW, COLUMN };

// F says how many LEAVES there are, what number n is, as leaf(n), and is the function of them, one of each array, that gives an
// element: double operator()(const double *) const.
template <class F> struct Factor {
    F f;
    Matrix<const double> leaf[F::LEAVES];
};

// One array's elements as they are.
struct Element {
    enum { LEAVES = 1 };
    static constexpr __host__ __device__ Leaf leaf(int) { return Leaf::EACH; }
    __host__ __device__ double operator()(const double *x) const { return x[0]; }
};

// What a product is known not to need: a[i, k] is zero unless k < i + left, b[j, k] unless k < j + right, and c[i, j] is asked for where
// j < i + to alone.
constexpr int64_t ALL = INT64_MAX / 4;
struct Triangles {
    int64_t left = ALL, right = ALL, to = ALL;
};

// What is summed up beside a product, of its factor or its results: to[i] = the sum of f of elements [i, k] of the left
// factor over k, or, of RESULTS, of elements [i, j] of c over j; to which what it was is added if `adds`.
enum class Beside { NOTHING, FACTORS, RESULTS };
template <Beside WHAT_, class F> struct Sums {
    static constexpr Beside WHAT = WHAT_;
    F f;
    double *to;
    int64_t row, batch;
    bool adds;
};
struct Same {
    __host__ __device__ double operator()(double x) const { return x; }
};
using NoSums = Sums<Beside::NOTHING, Same>;

// A block of four warps makes ROWS x COLUMNS elements, two warps beside each other. STAGES pieces of DEPTH columns of the factors are
// in shared memory, or on their way.
template <int ROWS_, int COLUMNS_> struct ProductTile {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, WARP_ROWS = ROWS / 2, WARP_COLUMNS = COLUMNS / 2;
};
using SquareTile = ProductTile<64, 64>;
using NarrowTile = ProductTile<64, 32>; // a few columns
using SmallTile = ProductTile<32, 32>;  // and a few rows
constexpr int STAGES = 3, PRODUCT_BLOCK = 128;

// ---- what the device does

// Copies from device memory to shared memory, in groups, that run while the thread goes on.
class Copies {
  public:
#ifdef __CUDACC__
    template <int COUNT> __device__ void add(double *to, const double *from) { // of one double, or two from a multiple of 16 bytes on
        const unsigned at = unsigned(__cvta_generic_to_shared(to));
        if (COUNT == 2) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from));
        else asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at), "l"(from));
    }
    __device__ void end_group() { asm volatile("cp.async.commit_group;"); }
    // Until all but the last LEFT groups of this thread are there.
    template <int LEFT> __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(LEFT)); }
#else // as late as may be
    template <int COUNT> void add(double *to, const double *from) {
        for (int k = 0; k < COUNT; k++) group_.push_back({to + k, from + k});
    }
    void end_group() { groups_.push_back(std::move(group_)), group_.clear(); }
    template <int LEFT> void wait() {
        for (; groups_.size() > LEFT; groups_.pop_front())
            for (const auto &copy : groups_.front()) *copy.first = *copy.second;
    }

  private:
    std::vector<std::pair<double *, const double *>> group_;
    std::deque<std::vector<std::pair<double *, const double *>>> groups_;
#endif
};

// c += a b for 16 x 8 elements of c, 16 x 8 of a and 8 x 8 of b, which the lanes of a warp have among them. Of lane 4 g + q, c[0] and
// c[1] are elements 2 q and 2 q + 1 of row g, c[2] and c[3] those of row g + 8; a[0] and a[1] element q of these rows, a[2] and a[3]
// element q + 4; b[0] and b[1] elements q and q + 4 of column g.
__device__ inline void multiply_add(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    FSM_UNROLL
    for (int k = 0; k < 2; k++)
        FSM_UNROLL
        for (int h = 0; h < 2; h++)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                         : "+d"(c[2 * h]), "+d"(c[2 * h + 1])
                         : "d"(a[2 * k + h]), "d"(b[k]));
#else
    const int row = lane_number() / 4 * 4, column = lane_number() % 4 * 8; // lanes that have a row of a, and columns of b
    for (int k = 0; k < 8; k++) {
        const double x = __shfl_sync(~0u, a[k / 4 * 2], row + k % 4), y = __shfl_sync(~0u, a[k / 4 * 2 + 1], row + k % 4);
        for (int j = 0; j < 2; j++) {
            const double z = __shfl_sync(~0u, b[k / 4], column + 4 * j + k % 4);
            c[j] += x * z, c[2 + j] += y * z;
        }
    }
#endif
}

// ---- a factor's part in shared memory

// ROWS rows of DEPTH columns. ALONG: elements of a row are neighbours, in device memory and here; else those of a column are. COUNT of
// them are copied at once.
template <class F, int ROWS, bool ALONG, int COUNT> class FactorTile {
  public:
    enum { LEADING = (ALONG ? DEPTH : ROWS) + 4, EACH = ALONG ? ROWS * LEADING : DEPTH * LEADING };
    // Doubles for leaves before number n.
    static constexpr __host__ __device__ int before(int n) {
        int all = 0;
        for (int k = 0; k < n; k++) all += F::leaf(k) == Leaf::EACH ? int(EACH) : F::leaf(k) == Leaf::COLUMN ? int(DEPTH) : 0;
        return all;
    }
    static constexpr __host__ __device__ int size() { return before(F::LEAVES); }

    // Begins with row i0 of matrix number `number`, of `rows`, and column k0.
    __device__ FactorTile(const Factor<F> &x, int64_t number, int64_t i0, int64_t k0, int64_t rows) : factor_(x) {
        FSM_UNROLL
        for (int n = 0; n < F::LEAVES; n++) {
            const Matrix<const double> &m = x.leaf[n];
            from_[n] = m.data + number * m.batch + i0 * m.row + k0 * m.column;
            if (F::leaf(n) != Leaf::EACH) continue;
            FSM_UNROLL
            for (int s = 0; s < PART; s++) { // rows beyond the last one are another row, the results of which are dropped
                const int64_t last = rows - 1 - i0, r = row(s) <= last ? row(s) : ALONG ? last : last - last % COUNT;
                offset_[n][s] = int(r) * int(m.row) + column(s) * int(m.column);
            }
        }
    }
    // Copies the next columns, of which `rest` are left.
    __device__ void copy(Copies &copies, double *to, int64_t rest) {
        const int left = rest < DEPTH ? int(rest) : DEPTH;
        FSM_UNROLL
        for (int n = 0; n < F::LEAVES; n++) {
            const int64_t step = factor_.leaf[n].column;
            if (F::leaf(n) == Leaf::EACH) {
                FSM_UNROLL
                for (int s = 0; s < PART; s++)
                    if (column(s) < left) copies.add<COUNT>(to + before(n) + place(row(s), column(s)), from_[n] + offset_[n][s]);
            } else if (F::leaf(n) == Leaf::COLUMN) {
                const int k = thread_number();
                if (k < left) copies.add<1>(to + before(n) + k, from_[n] + k * step);
            }
            from_[n] += DEPTH * step;
        }
    }
    // Element [i, k] of what has been copied there; of_row: leaves that are the row's.
    __device__ double at(const double *tile, int i, int k, const double *of_row) const {
        double leaf[F::LEAVES];
        FSM_UNROLL
        for (int n = 0; n < F::LEAVES; n++)
            leaf[n] = F::leaf(n) == Leaf::EACH     ? tile[before(n) + place(i, k)]
                      : F::leaf(n) == Leaf::COLUMN ? tile[before(n) + k]
                                                   : of_row[n];
        return factor_.f(leaf);
    }
    // The leaves that are row i's, of matrix number `number`.
    __device__ void of_row(double *leaf, int64_t number, int64_t i, int64_t rows) const {
        FSM_UNROLL
        for (int n = 0; n < F::LEAVES; n++) {
            const Matrix<const double> &m = factor_.leaf[n];
            leaf[n] = F::leaf(n) == Leaf::ROW ? m.data[number * m.batch + (i < rows ? i : rows - 1) * m.row] : 0;
        }
    }

  private:
    enum { PART = ROWS * DEPTH / PRODUCT_BLOCK / COUNT };
    const Factor<F> &factor_;
    const double *from_[F::LEAVES];
    int offset_[F::LEAVES][PART];
    static __device__ int number(int s) { return (thread_number() + s * PRODUCT_BLOCK) * COUNT; }
    static __device__ int row(int s) { return ALONG ? number(s) / DEPTH : number(s) % ROWS; }
    static __device__ int column(int s) { return ALONG ? number(s) % DEPTH : number(s) / ROWS; }
    static __device__ int place(int i, int k) { return ALONG ? i * LEADING + k : k * LEADING + i; }
};

// How a product is done: the shape of its tiles, and as FactorTile says of its factors.
template <class Tile, bool A, bool B, int COUNT_> struct Way {
    static constexpr int ROWS = Tile::ROWS, COLUMNS = Tile::COLUMNS, COUNT = COUNT_;
    static constexpr int DOWN = Tile::WARP_ROWS / 16, ACROSS = Tile::WARP_COLUMNS / 8; // products of 16 x 8 elements by a warp
    template <class F> using Left = FactorTile<F, ROWS, A, COUNT>;
    template <class F> using Right = FactorTile<F, COLUMNS, B, COUNT>;
    template <class F, class G> static constexpr int bytes() {
        return STAGES * (Left<F>::size() + Right<G>::size()) * int(sizeof(double));
    }
};

// ---- the kernel

// Elements that are written two at a time.
struct alignas(16) Two {
    double x, y;
};
// Four lanes have parts of the same sum.
__device__ inline double sum_of_four(double x) {
    x += __shfl_xor_sync(ALL_LANES, x, 1);
    return x + __shfl_xor_sync(ALL_LANES, x, 2);
}
// How many parts such sums have, if those of the product have so many.
template <class By, class S> int64_t beside_parts(int64_t n, int64_t parts) {
    return S::WHAT == Beside::FACTORS ? parts : 2 * ((n - 1) / By::COLUMNS + 1);
}

// c[i, j] = beta c[i, j] + the sum over k of a[i, k] * b[j, k]; that of part number p of the sums at c + p*apart. beside: parts of
// sums of rows, one after the other, or NULL. two: c's elements may be written two at a time.
template <class By, class F, class G, class S>
__global__ void __launch_bounds__(PRODUCT_BLOCK, 3)
    multiply_factors(int64_t m, int64_t n, int64_t depth, int64_t batch, const Factor<F> a, const Factor<G> b, double beta,
                     Matrix<double> c, Cut cut, int64_t apart, Triangles only, bool two, S sums, double *beside) {
    constexpr int ROWS = By::ROWS, COLUMNS = By::COLUMNS, DOWN = By::DOWN, ACROSS = By::ACROSS;
    using Left = typename By::template Left<F>;
    using Right = typename By::template Right<G>;
    FSM_DYNAMIC_SHARED(double, shared);
    const int g = lane_number() / 4, q = lane_number() % 4, i1 = warp_number() / 2 * (ROWS / 2), j1 = warp_number() % 2 * (COLUMNS / 2);
    const int64_t across = (n - 1) / COLUMNS + 1, down = (m - 1) / ROWS + 1, tiles = across * down * batch;
    for (int64_t block = blockIdx.x; block < tiles * cut.parts; block += gridDim.x) {
        const int64_t part = block / tiles, tile = block % tiles, number = tile / (across * down);
        const int64_t i0 = tile / across % down * ROWS, j0 = tile % across * COLUMNS;
        const int64_t first = part * cut.size, last_row = i0 + ROWS - 1, last_column = j0 + COLUMNS - 1;
        int64_t end = first + cut.size < depth ? first + cut.size : depth;
        if (end > last_row + only.left) end = last_row + only.left;
        if (end > last_column + only.right) end = last_column + only.right;
        if (j0 >= last_row + only.to) end = first;
        Left left(a, number, i0, first, m);
        Right right(b, number, j0, first, n);
        Copies copies;
        double sum[DOWN][ACROSS][4] = {}, rows[DOWN][2][F::LEAVES], columns[ACROSS][G::LEAVES], row_sum[DOWN][2] = {};
        const bool has_sums = S::WHAT == Beside::RESULTS ? beside != nullptr : S::WHAT == Beside::FACTORS && j0 + j1 == 0;
        FSM_UNROLL
        for (int i = 0; i < DOWN; i++)
            for (int h = 0; h < 2; h++) left.of_row(rows[i][h], number, i0 + i1 + i * 16 + g + h * 8, m);
        FSM_UNROLL
        for (int j = 0; j < ACROSS; j++) right.of_row(columns[j], number, j0 + j1 + j * 8 + g, n);
        int64_t copied = first; // columns that are there, or on their way
        int to = 0, from = 0;   // stages
        const auto copy = [&] {
            double *stage = shared + to * (Left::size() + Right::size());
            if (copied < end) left.copy(copies, stage, end - copied), right.copy(copies, stage + Left::size(), end - copied);
            copies.end_group();
            copied += DEPTH, to = to + 1 < STAGES ? to + 1 : 0;
        };
        const auto add = [&](auto whole, int64_t k) { // from column k on; there may not be DEPTH of them
            const double *x = shared + from * (Left::size() + Right::size()), *y = x + Left::size();
            FSM_UNROLL
            for (int l = 0; l < DEPTH; l += 8) {
                double u[DOWN][4], v[ACROSS][2];
                FSM_UNROLL
                for (int s = 0; s < 4; s++) {
                    const int at = l + q + s / 2 * 4;
                    const bool is = whole.value || at < end - k;
                    FSM_UNROLL
                    for (int i = 0; i < DOWN; i++)
                        u[i][s] = is ? left.at(x, i1 + i * 16 + g + s % 2 * 8, at, rows[i][s % 2]) : 0;
                }
                if (S::WHAT == Beside::FACTORS && has_sums)
                    FSM_UNROLL
                    for (int s = 0; s < 4; s++)
                        FSM_UNROLL
                        for (int i = 0; i < DOWN; i++)
                            if (whole.value || l + q + s / 2 * 4 < end - k) row_sum[i][s % 2] += sums.f(u[i][s]);
                FSM_UNROLL
                for (int s = 0; s < 2; s++) {
                    const int at = l + q + s * 4;
                    const bool is = whole.value || at < end - k;
                    FSM_UNROLL
                    for (int j = 0; j < ACROSS; j++) v[j][s] = is ? right.at(y, j1 + j * 8 + g, at, columns[j]) : 0;
                }
                FSM_UNROLL
                for (int i = 0; i < DOWN; i++)
                    FSM_UNROLL
                    for (int j = 0; j < ACROSS; j++) multiply_add(sum[i][j], u[i], v[j]);
            }
        };
        FSM_UNROLL
        for (int s = 0; s < STAGES - 1; s++) copy();
        for (int64_t k = first; k < end; k += DEPTH) {
            copies.wait<STAGES - 2>();
            __syncthreads(); // the copies of all threads are there, and the stage of the last round is free
            copy();
            if (end - k >= DEPTH) add(std::true_type(), k);
            else add(std::false_type(), k);
            from = from + 1 < STAGES ? from + 1 : 0;
        }
        copies.wait<0>();
        __syncthreads();
        FSM_UNROLL
        for (int i = 0; i < DOWN; i++)
            FSM_UNROLL
            for (int j = 0; j < ACROSS; j++)
                FSM_UNROLL
                for (int h = 0; h < 2; h++) {
                    const int64_t y = i0 + i1 + i * 16 + g + h * 8, x = j0 + j1 + j * 8 + q * 2;
                    if (y >= m || x >= n) continue;
                    double *p = c.data + part * apart + number * c.batch + y * c.row + x * c.column;
                    double *const s = &sum[i][j][2 * h];
                    if (two) {
                        Two *const pair = reinterpret_cast<Two *>(p);
                        if (beta != 0) s[0] += beta * pair->x, s[1] += beta * pair->y;
                        *pair = {s[0], s[1]};
                    } else {
                        FSM_UNROLL
                        for (int e = 0; e < 2; e++, p += c.column)
                            if (x + e < n) *p = s[e] = beta == 0 ? s[e] : s[e] + beta * *p;
                    }
                    if (S::WHAT == Beside::RESULTS) row_sum[i][h] += x + 1 < n ? sums.f(s[0]) + sums.f(s[1]) : sums.f(s[0]);
                }
        if (!has_sums) continue;
        const int64_t sum_part = S::WHAT == Beside::FACTORS ? part : (j0 + j1) / (COLUMNS / 2);
        FSM_UNROLL
        for (int i = 0; i < DOWN; i++)
            FSM_UNROLL
            for (int h = 0; h < 2; h++) {
                const int64_t y = i0 + i1 + i * 16 + g + h * 8;
                const double all = sum_of_four(row_sum[i][h]);
                if (q == 0 && y < m) beside[(sum_part * batch + number) * m + y] = all;
            }
    }
}

// ---- the call

// Is what is read together apart by even numbers of doubles, and at multiples of 16 bytes? along: elements of a row are neighbours.
template <class F> bool reads_pairs(const Factor<F> &x, bool along, int64_t rows, int64_t columns) {
    bool pairs = (along ? columns : rows) % 2 == 0;
    for (int n = 0; n < F::LEAVES; n++) {
        const Matrix<const double> &m = x.leaf[n];
        if (F::leaf(n) != Leaf::EACH) continue;
        pairs = pairs && (along ? m.column == 1 && m.row % 2 == 0 : m.row == 1 && m.column % 2 == 0);
        pairs = pairs && m.batch % 2 == 0 && reinterpret_cast<uintptr_t>(m.data) % 16 == 0;
    }
    return pairs;
}

// How a sum over k is cut, so that blocks fill a large device, which has as many at a time as there are PLACES, some times over; each
// takes as long as for `start` columns before and after its own. As cut_of, it knows extents alone.
inline Cut cut_for_device(int64_t tiles, int64_t depth) {
    const int64_t PLACES = 3 * 132, start = 128, most_rounds = 5, most = depth / FSM_LEAST_PART;
    Cut best{1, depth};
    if (tiles <= 0 || tiles > most_rounds * PLACES) return best;
    int64_t least = ((tiles - 1) / PLACES + 1) * (depth + start);
    for (int64_t rounds = 1; rounds <= most_rounds; rounds++) {
        const int64_t wanted = rounds * PLACES / tiles, parts = wanted < most ? wanted : most;
        if (parts <= 1) continue;
        const int64_t size = ((depth - 1) / parts / DEPTH + 1) * DEPTH, cost = ((tiles * parts - 1) / PLACES + 1) * (size + start);
        if (cost < least) least = cost, best = {(depth - 1) / size + 1, size};
    }
    return best;
}

// Sums of rows of a matrix.
template <class F> struct OfFirst {
    F f;
    __device__ double operator()(double x, double) const { return f(x); }
};
template <class S>
void sum_rows(Call &call, int64_t rows, int64_t columns, int64_t batch, Matrix<const double> x, const S &sums) {
    contract(call, rows, 1, columns, batch, OfFirst<decltype(sums.f)>{sums.f}, 1.0, x, {x.data, 0, 0, 0}, sums.adds ? 1.0 : 0.0,
             {sums.to, sums.row, 1, sums.batch});
}

inline bool is_even(int64_t x) { return x % 2 == 0; }

template <class By, class F, class G, class S>
void multiply_parts(Call &call, int64_t m, int64_t n, int64_t k, int64_t batch, const Factor<F> &a, const Factor<G> &b, double beta,
                    Matrix<double> c, Triangles only, const S &sums) {
    const auto kernel = multiply_factors<By, F, G, S>;
    const int bytes = By::template bytes<F, G>();
    if (call.check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes))) return;
    const int64_t tiles = count_of((m - 1) / By::ROWS + 1, (n - 1) / By::COLUMNS + 1, batch);
    const bool half = only.to < m && m == n; // of the tiles, have work
    const Cut cut = cut_for_device(half && tiles > 0 ? (tiles + batch * ((m - 1) / By::ROWS + 1)) / 2 : tiles, k);
    const int64_t blocks = tiles < 0 || tiles > INT32_MAX ? INT32_MAX : tiles * cut.parts;
    const Pool::Mark mark = call.mark();
    const bool many = cut.parts > 1, beside = S::WHAT == Beside::FACTORS || (S::WHAT == Beside::RESULTS && !many);
    double *const part = many ? call.alloc<double>(count_of(cut.parts, m, n, batch)) : nullptr;
    const int64_t sum_parts = beside_parts<By, S>(n, cut.parts);
    double *const sum = beside ? call.alloc<double>(count_of(sum_parts, m, batch)) : nullptr;
    const Matrix<double> to = many ? row_major(part, n, m * n) : c;
    const bool two = to.column == 1 && is_even(n) && is_even(to.row) && is_even(to.batch) && is_even(m * n * batch) &&
                     reinterpret_cast<uintptr_t>(to.data) % sizeof(Two) == 0;
    if (!call.code()) {
        FSM_LAUNCH(kernel, unsigned(blocks), PRODUCT_BLOCK, size_t(bytes), call.stream(), m, n, k, batch, a, b, many ? 0.0 : beta, to,
                   cut, many ? m * n * batch : 0, only, two, sums, sum);
        if (many) add_all_parts(call, m, n, batch, 1.0, part, cut.parts, beta, c);
        if (beside)
            add_all_parts(call, m, 1, batch, 1.0, sum, sum_parts, sums.adds ? 1.0 : 0.0, {sums.to, sums.row, 1, sums.batch});
        if constexpr (S::WHAT == Beside::RESULTS)
            if (!beside) sum_rows(call, m, n, batch, {c.data, c.row, c.column, c.batch}, sums);
    }
    call.release(mark);
}

// ---- large ones

// Number, row and column of an element of many.
template <class I, class F> __device__ double element_of(const Factor<F> &x, I e, I rows, I columns, bool along) {
    const I inner = along ? columns : rows, outer = along ? rows : columns, line = e / inner, at = e % inner;
    const int64_t number = int64_t(line / outer), i = int64_t(along ? line % outer : at), k = int64_t(along ? at : line % outer);
    double leaf[F::LEAVES];
    FSM_UNROLL
    for (int n = 0; n < F::LEAVES; n++)
        leaf[n] = x.leaf[n].data[number * x.leaf[n].batch + i * x.leaf[n].row + k * x.leaf[n].column];
    return x.f(leaf);
}
template <class F>
__global__ void store_factor(int64_t rows, int64_t columns, int64_t all, const Factor<F> x, bool along, double *to) {
    for (int64_t e = grid_thread(); e < all; e += grid_threads())
        to[e] = all <= UINT32_MAX ? element_of(x, unsigned(e), unsigned(rows), unsigned(columns), along)
                                  : element_of(x, e, rows, columns, along);
}

// The factor's elements in memory.
inline Matrix<const double> in_memory(Call &, const Factor<Element> &x, int64_t, int64_t, int64_t, bool) { return x.leaf[0]; }
template <class F>
Matrix<const double> in_memory(Call &call, const Factor<F> &x, int64_t rows, int64_t columns, int64_t batch, bool along) {
    const int64_t all = count_of(rows, columns, batch);
    double *to = call.alloc<double>(all);
    if (to && all) FSM_LAUNCH(store_factor<F>, blocks_for(all), BLOCK, 0, call.stream(), rows, columns, all, x, along, to);
    return {to, along ? columns : 1, along ? 1 : rows, rows * columns};
}

#ifdef FSM_CUDA_CUBLAS
inline namespace with_cublas {
#else
inline namespace without_cublas {
#endif

#ifndef FSM_LARGE_FACTORS
#define FSM_LARGE_FACTORS 512
#endif

// c[i, j] = the sum over k of a[i, k] * b[j, k], to which beta times what it was is added unless beta is 0; for each of `batch` m x k,
// n x k and m x n matrices. A, B: the elements of rows of a and b are likely to be neighbours in memory, those of columns else.
// only: what is left out; nothing that `sums` need is, and where there are any, n is not 0. cuBLAS has large products, which take longer
// than storing the factors first.
template <bool A, bool B, class F, class G, class S = NoSums>
void matmul_factors(Call &call, int64_t m, int64_t n, int64_t k, int64_t batch, const Factor<F> &a, const Factor<G> &b, double beta,
                    Matrix<double> c, Triangles only = {}, const S &sums = {}) {
    if (m <= 0 || n <= 0 || batch <= 0 || call.code()) return;
#ifdef FSM_CUDA_CUBLAS
    if (m >= FSM_LARGE_FACTORS && n >= FSM_LARGE_FACTORS && k >= FSM_LARGE_FACTORS) {
        const Pool::Mark mark = call.mark();
        const Matrix<const double> x = in_memory(call, a, m, k, batch, A), y = in_memory(call, b, n, k, batch, B);
        matmul<double>(call, m, n, k, batch, 1, x, {y.data, y.column, y.row, y.batch}, beta, c);
        if constexpr (S::WHAT == Beside::FACTORS) sum_rows(call, m, k, batch, x, sums);
        if constexpr (S::WHAT == Beside::RESULTS) sum_rows(call, m, n, batch, {c.data, c.row, c.column, c.batch}, sums);
        call.release(mark);
        return;
    }
#endif
    const bool pairs = reads_pairs(a, A, m, k) && reads_pairs(b, B, n, k);
    if (!pairs) multiply_parts<Way<SquareTile, A, B, 1>>(call, m, n, k, batch, a, b, beta, c, only, sums);
    else if (n > NarrowTile::COLUMNS) multiply_parts<Way<SquareTile, A, B, 2>>(call, m, n, k, batch, a, b, beta, c, only, sums);
    else if (m > SmallTile::ROWS) multiply_parts<Way<NarrowTile, A, B, 2>>(call, m, n, k, batch, a, b, beta, c, only, sums);
    else multiply_parts<Way<SmallTile, A, B, 2>>(call, m, n, k, batch, a, b, beta, c, only, sums);
}

} // inline namespace

// Are steps in memory so small that those inside of a tile are ints?
inline bool has_small_steps(std::initializer_list<Places> leaves) {
    const int64_t most = INT32_MAX / (2 * SquareTile::ROWS);
    bool small = true;
    for (const Places &p : leaves)
        for (const int64_t step : {p.i, p.j, p.k}) small = small && step <= most && step >= -most;
    return small;
}

} // namespace fsm::cuda

#endif
