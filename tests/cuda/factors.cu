// Products of factors that are made of elements where they are needed, against loops of the processor: rows and columns that are
// neighbours in memory or not, odd and even sizes, tiles that are cut, sums in parts, batches; and large ones, which are cuBLAS's.
// The number printed is the bits of results.
#include "check.h"

#include <cmath>
#include <vector>

using namespace fsm::cuda;

static fsm_context *ctx;
static uint64_t bits = 0xcbf29ce484222325;
static double value(int64_t i) { return double((i * 2654435761u) % 10007) / 1000 - 4; }

template <class T> static std::vector<T> fetch(Call &call, const T *p, int64_t n) {
    std::vector<T> x(static_cast<size_t>(n));
    call.download(x.data(), p, n);
    CHECK(call.wait() == FSM_OK);
    return x;
}

struct LessOfColumn { // by what the column has, and a number
    enum { LEAVES = 2 };
    double by;
    static constexpr __host__ __device__ Leaf leaf(int n) { return n ? Leaf::COLUMN : Leaf::EACH; }
    __host__ __device__ double operator()(const double *x) const { return by * (x[0] - x[1]); }
};
struct OfAll {
    enum { LEAVES = 3 };
    static constexpr __host__ __device__ Leaf leaf(int n) { return n == 0 ? Leaf::ROW : n == 1 ? Leaf::EACH : Leaf::COLUMN; }
    __host__ __device__ double operator()(const double *x) const { return x[1] > 0 ? x[0] * x[1] + x[2] : x[2]; }
};
struct OfRowAndColumn { // there is no element of its own
    enum { LEAVES = 2 };
    static constexpr __host__ __device__ Leaf leaf(int n) { return n ? Leaf::COLUMN : Leaf::ROW; }
    __host__ __device__ double operator()(const double *x) const { return x[0] + x[1]; }
};

// A factor whose leaf number n begins at element 100 n + skip of the array. along: elements of its rows are neighbours.
template <class F> static Factor<F> factor(F f, const double *data, int64_t rows, int64_t columns, bool along, int64_t skip) {
    Factor<F> x{f, {}};
    for (int n = 0; n < F::LEAVES; n++) {
        x.leaf[n] = {data + 100 * n + skip, along ? columns : 1, along ? 1 : rows, rows * columns + 6};
        if (F::leaf(n) != Leaf::EACH) x.leaf[n].batch = 14;
        if (F::leaf(n) == Leaf::ROW) x.leaf[n].row = 3, x.leaf[n].column = 0;
        if (F::leaf(n) == Leaf::COLUMN) x.leaf[n].column = 2, x.leaf[n].row = 0;
    }
    return x;
}
template <class F> static double element(const Factor<F> &x, const double *data, const double *host, int64_t number, int64_t i, int64_t k) {
    double leaf[F::LEAVES];
    for (int n = 0; n < F::LEAVES; n++) {
        const Matrix<const double> &m = x.leaf[n];
        leaf[n] = host[m.data - data + number * m.batch + i * m.row + k * m.column];
    }
    return x.f(leaf);
}

template <bool A, bool B, class F, class G>
static void compare(F f, G g, int64_t m, int64_t n, int64_t k, int64_t batch, int64_t skip, double beta, Matrix<double> c) {
    const int64_t size = 1000 + batch * (m + n) * (k + 12) + 3 * (m + n + k), all = batch * m * n * 2 + 10;
    std::vector<double> x(static_cast<size_t>(size)), z(static_cast<size_t>(all)), got(z.size());
    for (int64_t i = 0; i < size; i++) x[size_t(i)] = value(i);
    for (int64_t i = 0; i < all; i++) z[size_t(i)] = value(3 * i);
    Call call(ctx, &info, nullptr, nullptr);
    const double *d = call.upload(x.data(), size);
    c.data = call.upload(z.data(), all);
    const Factor<F> a = factor(f, d, m, k, A, skip);
    const Factor<G> b = factor(g, d, n, k, B, skip);
    matmul_factors<A, B>(call, m, n, k, batch, a, b, beta, c);
    call.download(got.data(), c.data, all);
    CHECK(call.finish() == FSM_OK);
    for (int64_t number = 0; number < batch; number++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0, scale = 1;
                for (int64_t l = 0; l < k; l++) {
                    const double term = element(a, d, x.data(), number, i, l) * element(b, d, x.data(), number, j, l);
                    sum += term, scale += std::fabs(term);
                }
                double &to = z[size_t(number * c.batch + i * c.row + j * c.column)];
                to = beta * to + sum;
                const double is = got[size_t(&to - z.data())];
                CHECK(std::fabs(is - to) <= 1e-14 * scale);
                to = is;
            }
    CHECK(!std::memcmp(got.data(), z.data(), z.size() * sizeof(double))); // nothing else has changed
    for (double v : got) {
        uint64_t u;
        std::memcpy(&u, &v, sizeof u);
        bits = (bits ^ u) * 0x100000001b3;
    }
}

template <class F, class G> static void test(const char *name, F f, G g) {
    const struct {
        int64_t m, n, k, batch, skip;
    } sizes[] = {{1, 1, 1, 1, 0}, {3, 70, 5, 2, 0}, {66, 8, 40, 2, 0}, {65, 65, 33, 1, 0}, {10, 12, 700, 1, 0}, {6, 4, 20, 3, 1}, {64, 64, 16, 1, 0}, {4, 4, 0, 2, 0}, {130, 30, 17, 1, 0}, {32, 32, 100, 1, 0}};
    for (const auto &s : sizes) {
        const Matrix<double> rows{nullptr, s.n, 1, s.m * s.n}, apart{nullptr, 1, 2 * s.m, 2 * s.m * s.n};
        compare<true, true>(f, g, s.m, s.n, s.k, s.batch, s.skip, 0, rows);
        compare<true, false>(f, g, s.m, s.n, s.k, s.batch, s.skip, 1, rows);
        compare<false, true>(f, g, s.m, s.n, s.k, s.batch, s.skip, 0, apart);
        compare<false, false>(f, g, s.m, s.n, s.k, s.batch, s.skip, 1, apart);
    }
    std::printf("ok %s %016llx\n", name, (unsigned long long)bits);
}

// Sums beside a product, of its left factor and of its results.
struct SquareAndOne { // which is not zero where there is nothing
    __host__ __device__ double operator()(double x) const { return x * x + 1; }
};
template <Beside WHAT, bool A, bool B, class F, class G>
static void compare_sums(F f, G g, int64_t m, int64_t n, int64_t k, int64_t batch, double beta, bool adds) {
    const int64_t size = 1000 + batch * (m + n) * (k + 12) + 3 * (m + n + k), all = batch * m * n, length = 3 * batch * m + 5;
    std::vector<double> x(static_cast<size_t>(size)), z(static_cast<size_t>(all)), t(static_cast<size_t>(length));
    for (int64_t i = 0; i < size; i++) x[size_t(i)] = value(i);
    for (int64_t i = 0; i < all; i++) z[size_t(i)] = value(3 * i);
    for (int64_t i = 0; i < length; i++) t[size_t(i)] = value(7 * i);
    Call call(ctx, &info, nullptr, nullptr);
    const double *d = call.upload(x.data(), size);
    double *c = call.upload(z.data(), all), *to = call.upload(t.data(), length);
    const Factor<F> a = factor(f, d, m, k, A, 0);
    const Factor<G> b = factor(g, d, n, k, B, 0);
    const Sums<WHAT, SquareAndOne> sums{{}, to, 3 * batch, 3, adds};
    matmul_factors<A, B>(call, m, n, k, batch, a, b, beta, row_major(c, n, m * n), {}, sums);
    const std::vector<double> product = fetch(call, c, all), got = fetch(call, to, length);
    CHECK(call.finish() == FSM_OK);
    for (int64_t number = 0; number < batch; number++)
        for (int64_t i = 0; i < m; i++) {
            double sum = 0;
            for (int64_t l = 0; l < (WHAT == Beside::FACTORS ? k : n); l++) {
                const double v = WHAT == Beside::FACTORS ? element(a, d, x.data(), number, i, l) : product[size_t((number * m + i) * n + l)];
                sum += v * v + 1;
            }
            double &is = t[size_t(3 * batch * i + 3 * number)];
            is = adds ? is + sum : sum;
            const double there = got[size_t(&is - t.data())];
            CHECK(std::fabs(there - is) <= 1e-13 * (sum + std::fabs(is) + 1));
            is = there;
        }
    CHECK(!std::memcmp(got.data(), t.data(), t.size() * sizeof(double))); // nothing else has changed
    for (const auto *v : {&product, &got})
        for (double w : *v) {
            uint64_t u;
            std::memcpy(&u, &w, sizeof u);
            bits = (bits ^ u) * 0x100000001b3;
        }
}
static void test_sums() {
    const int64_t sizes[][4] = {{1, 1, 1, 1}, {3, 70, 5, 2}, {66, 8, 40, 2}, {65, 65, 33, 1}, {10, 12, 700, 1}, {64, 64, 16, 1}, {4, 4, 0, 2}, {130, 30, 48, 1}, {70, 130, 90, 1}};
    for (const auto &s : sizes) {
        compare_sums<Beside::FACTORS, true, true>(OfAll{}, LessOfColumn{2}, s[0], s[1], s[2], s[3], 0, false);
        compare_sums<Beside::FACTORS, false, false>(LessOfColumn{1}, Element{}, s[0], s[1], s[2], s[3], 1, true);
        compare_sums<Beside::RESULTS, true, true>(LessOfColumn{1}, Element{}, s[0], s[1], s[2], s[3], 0, false);
        compare_sums<Beside::RESULTS, false, true>(Element{}, OfAll{}, s[0], s[1], s[2], s[3], 0.5, true);
    }
    std::printf("ok sums %016llx\n", (unsigned long long)bits);
}

#ifndef FSM_CUDA_CUBLAS
// What is left out: elements of b that are zeros by tiles, here NaN, and tiles of c. Of b[j, k] those with k < j + 3 are not, of c[i, j]
// those with j < i - 2 are asked for.
static void test_triangles() {
    const int64_t m = 150, n = 140, k = 200, right = 3, to = -2;
    std::vector<double> x(size_t(m * k)), y(size_t(n * k)), z(size_t(m * n));
    for (int64_t i = 0; i < m * k; i++) x[size_t(i)] = value(i);
    for (int64_t j = 0; j < n; j++)
        for (int64_t l = 0; l < k; l++) {
            const bool beyond = l >= (j / SquareTile::ROWS + 1) * SquareTile::ROWS - 1 + right;
            y[size_t(j * k + l)] = l < j + right ? value(7 * j + l) : beyond ? NAN : 0;
        }
    for (int64_t i = 0; i < m * n; i++) z[size_t(i)] = value(5 * i);
    for (bool turned : {false, true}) { // the factors, and so is c
        Call call(ctx, &info, nullptr, nullptr);
        Factor<Element> a{{}, {{call.upload(x.data(), m * k), k, 1, 0}}}, b{{}, {{call.upload(y.data(), n * k), k, 1, 0}}};
        double *c = call.upload(z.data(), m * n);
        if (turned) matmul_factors<true, true>(call, n, m, k, 1, b, a, 1, Matrix<double>{c, 1, n, 0}, {right, ALL, ALL});
        else matmul_factors<true, true>(call, m, n, k, 1, a, b, 1, Matrix<double>{c, n, 1, 0}, {ALL, right, to});
        std::vector<double> got = fetch(call, c, m * n);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = z[size_t(i * n + j)], scale = 1;
                const bool left_out = !turned && j / SquareTile::ROWS * SquareTile::ROWS >= i / SquareTile::ROWS * SquareTile::ROWS + SquareTile::ROWS - 1 + to;
                for (int64_t l = 0; l < k && l < j + right && !left_out; l++)
                    sum += x[size_t(i * k + l)] * y[size_t(j * k + l)], scale += std::fabs(x[size_t(i * k + l)] * y[size_t(j * k + l)]);
                CHECK(std::fabs(got[size_t(i * n + j)] - sum) <= 1e-14 * scale);
            }
        CHECK(call.finish() == FSM_OK);
    }
    std::printf("ok triangles %016llx\n", (unsigned long long)bits);
}
#endif

int main() {
    ctx = fsm_context_new();
    CHECK(reads_pairs(factor(LessOfColumn{1}, (double *)nullptr, 6, 4, true, 0), true, 6, 4));
    CHECK(!reads_pairs(factor(LessOfColumn{1}, (double *)nullptr, 6, 4, true, 1), true, 6, 4));
    CHECK(!reads_pairs(factor(LessOfColumn{1}, (double *)nullptr, 6, 5, true, 0), true, 6, 5));
    CHECK(reads_pairs(factor(LessOfColumn{1}, (double *)nullptr, 6, 5, false, 0), false, 6, 5));
    CHECK(has_small_steps({{0, 1, 2, 1000, 0}}) && !has_small_steps({{0, 1, 2, 3, 0}, {0, 1, -INT32_MAX, 3, 0}}));
    test("itself", Element{}, Element{});
    test("differences", LessOfColumn{0.5}, Element{});
    test("three", OfAll{}, LessOfColumn{2});
    test("no matrix", OfRowAndColumn{}, OfAll{});
    test_sums();
#ifndef FSM_CUDA_CUBLAS
    test_triangles();
#endif
#ifdef FSM_CUDA_CUBLAS
    std::printf("%d products by cuBLAS\n", fake_blas_calls);
#endif
    fsm_context_free(ctx);
}
