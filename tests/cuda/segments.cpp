// Calls segments.fsm with rows of several numbers and lengths; prints results with few digits, since sums are in another order than on
// the host.
#include "segments.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <class T> static double size_of(const std::vector<T> &v) {
    double s = 0;
    for (size_t i = 0; i < v.size(); i++) s += double(v[i]) * std::sin(double(i) + 1);
    return s;
}

static void call(fsm_context *ctx, int64_t m, int64_t n) {
    const size_t all = size_t(m * n), rows = size_t(m), length = size_t(n);
    std::vector<double> a(all), b(all), dy(all), y(all), z(all), w(length), r(rows), s(rows);
    std::vector<float> x(all), u(all), g(rows);
    std::vector<int64_t> k(all), c(all);
    for (size_t i = 0; i < all; i++) {
        a[i] = std::sin(double(3 * i)), b[i] = std::cos(double(7 * i)), dy[i] = std::sin(double(i * i % 101)) / 8;
        x[i] = float(b[i]), k[i] = int64_t(i * i % 1009) - 50;
    }
    for (size_t i = 0; i < w.size(); i++) w[i] = 0.5 + 0.4 * std::sin(double(i));
    for (size_t i = 0; i < r.size(); i++) r[i] = 1 + double(i % 3);
    std::printf("%lld rows of %lld\n", (long long)m, (long long)n);
    int code = prefix(ctx, m, n, a.data(), y.data());
    std::printf("prefix: %d %.6f\n", code, size_of(y));
    code = prefix_grad(ctx, m, n, a.data(), dy.data(), y.data());
    std::printf("prefix_grad: %d %.6f\n", code, size_of(y));
    code = tails(ctx, m, n, a.data(), w.data(), s.data());
    std::printf("tails: %d %.9f\n", code, code ? 0 : size_of(s));
    code = linear_grad(ctx, m, n, a.data(), b.data(), r.data(), y.data(), z.data());
    std::printf("linear_grad: %d %.8f %.8f\n", code, size_of(y), size_of(z));
    code = linear_second(ctx, m, n, a.data(), b.data(), y.data());
    std::printf("linear_second: %d %.7f\n", code, size_of(y));
    code = greatest(ctx, m, n, a.data(), y.data());
    std::printf("greatest: %d %.9f\n", code, size_of(y));
    code = greatest_grad(ctx, m, n, a.data(), dy.data(), y.data());
    std::printf("greatest_grad: %d %.7f\n", code, size_of(y));
    int64_t last = 0;
    code = counts(ctx, m, n, k.data(), &last, c.data());
    std::printf("counts: %d %lld %.0f\n", code, code ? 0LL : (long long)last, code ? 0 : size_of(c));
    code = softmaxes(ctx, m, n, a.data(), y.data());
    std::printf("softmaxes: %d %.10f\n", code, size_of(y));
    code = softmaxes_grad(ctx, m, n, a.data(), dy.data(), y.data());
    std::printf("softmaxes_grad: %d %.10f\n", code, size_of(y));
    float range = 0;
    code = ranges(ctx, m, n, x.data(), g.data(), &range);
    std::printf("ranges: %d %.3f %.2f\n", code, code ? 0 : size_of(g), code ? 0 : double(range));
    code = chained(ctx, m, n, x.data(), 0.125f, u.data());
    std::printf("chained: %d %.1f\n", code, size_of(u));
}

int main(int argc, char **argv) {
    fsm_context *ctx = fsm_context_new();
    const int64_t most = argc > 1 ? std::atoll(argv[1]) : 10;
    const int64_t sizes[][2] = {{0, 5}, {3, 0}, {1, 1}, {7, 33}, {1, 300}, {40, 256}, {5, 2049}, {3, 9001}, {1, 20000}, {300, 8}};
    for (int64_t i = 0; i < 10 && i < most; i++) call(ctx, sizes[i][0], sizes[i][1]);
    fsm_context_free(ctx);
}
