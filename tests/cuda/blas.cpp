// Which products go to cuBLAS, and how: elements in rows, in columns, the result, too; apart, overlapping, from the end on.
#include "check.h"

#include <vector>

using namespace fsm::cuda;

static double at(int64_t i) { return double((i * 7919) % 101) - 50; }

// The largest difference; b: at [k, j].
static double difference(fsm_context *ctx, int64_t m, int64_t n, int64_t k, Matrix<const double> a, Matrix<const double> b, double beta, Matrix<double> c) {
    const int64_t size = 40000, middle = size / 2;
    std::vector<double> x(size), y(size), z(size), got(size);
    for (int64_t i = 0; i < size; i++) x[i] = at(i), y[i] = at(3 * i + 1), z[i] = at(i + 5);
    Call call(ctx, &info, nullptr, nullptr);
    const double *dx = call.upload(x.data(), size), *dy = call.upload(y.data(), size);
    double *dz = call.upload(z.data(), size);
    a.data = dx + middle, b.data = dy + middle, c.data = dz + middle;
    matmul<double>(call, m, n, k, 1, 1, a, b, beta, c);
    call.download(got.data(), dz, size);
    CHECK(call.finish() == FSM_OK);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++) sum += x[middle + i * a.row + l * a.column] * y[middle + l * b.row + j * b.column];
            double &to = z[middle + i * c.row + j * c.column];
            to = sum + beta * to;
        }
    double most = 0;
    for (int64_t i = 0; i < size; i++) most = std::fmax(most, std::fabs(got[i] - z[i]));
    return most;
}

static bool is(const Extents &x, int64_t i, int64_t j, int64_t k, int64_t batch) {
    return x.i == i && x.j == j && x.k == k && x.batch == batch;
}

// Of 9 products of 4 x 6 and 6 x 5 matrices, when are they one? Places have steps for i, j, k and the batch.
static void check_batches() {
    const Places a = {0, 6, 0, 1, 24}, b = {0, 0, 1, 5, 0}, bs = {0, 0, 1, 5, 30}, c = {0, 5, 1, 0, 20}, apart = {0, 5, 1, 0, 21};
    CHECK(is(one_of_batch(4, 5, 6, 9, a, b, c), 36, 5, 6, 1));
    CHECK(is(one_of_batch(4, 5, 6, 9, a, bs, c), 4, 5, 6, 9));
    CHECK(is(one_of_batch(4, 5, 6, 9, a, b, apart), 4, 5, 6, 9));
    CHECK(is(one_of_batch(5, 4, 6, 9, {0, 1, 0, 5, 0}, {0, 0, 6, 1, 24}, {0, 1, 5, 0, 20}), 5, 36, 6, 1));
    const Places rows = {0, 1, 0, 4, 24}, backwards = {0, 1, 0, 4, -24};
    CHECK(is(one_of_sums(4, 5, 6, 9, rows, bs, c), 4, 5, 54, 1));
    CHECK(is(one_of_sums(4, 5, 6, 9, backwards, bs, c), 4, 5, 6, 9));
    CHECK(is(one_of_sums(4, 5, 6, 0, backwards, bs, c), 4, 5, 0, 1));
}

int main() {
    check_batches();
    fsm_context *ctx = fsm_context_new();
    const int64_t m = 41, n = 37, k = 50;
    const Matrix<const double> as[] = {{nullptr, k, 1, 0}, {nullptr, 1, m, 0}, {nullptr, k + 9, 1, 0}, {nullptr, 1, 1, 0}, {nullptr, -k, -1, 0}, {nullptr, 2 * k, 2, 0}};
    const Matrix<const double> bs[] = {{nullptr, n, 1, 0}, {nullptr, 1, k, 0}};
    const Matrix<double> cs[] = {{nullptr, n, 1, 0}, {nullptr, 1, m, 0}, {nullptr, n + 3, 1, 0}, {nullptr, 2 * n, 2, 0}};
    for (const auto &a : as)
        for (const auto &b : bs)
            for (const auto &c : cs)
                for (double beta : {0.0, 1.0}) CHECK(difference(ctx, m, n, k, a, b, beta, c) == 0);
    CHECK(difference(ctx, 1, 1, 40000 / 2, as[0], bs[1], 0, cs[0]) == 0);
#ifdef FSM_CUDA_CUBLAS
    std::printf("%d products by cuBLAS\n", fake_blas_calls);
#endif
    fsm_context_free(ctx);
    std::puts("ok products");
}
