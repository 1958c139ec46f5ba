// Calls recurrences.fsm with arrays of several sizes; prints results with few digits, since a scan adds up in another order than a loop.
#include "recurrences.h"

#include <cmath>
#include <cstdio>
#include <vector>

template <class T> static double size_of(const std::vector<T> &v) {
    double s = 0;
    for (size_t i = 0; i < v.size(); i++) s += double(v[i]) * std::sin(double(i) + 1);
    return s;
}

int main() {
    fsm_context *ctx = fsm_context_new();
    for (int64_t n : {0, 1, 5, 33, 2048, 2049, 10000}) {
        std::vector<double> a(n), b(n), dy(n), y(n), z(n);
        std::vector<float> x(n), dx(n), s(n), ds(n);
        std::vector<int64_t> k(n), c(n);
        for (size_t i = 0; i < a.size(); i++) {
            a[i] = std::sin(double(3 * i)), b[i] = std::cos(double(7 * i)), dy[i] = std::sin(double(i)) / 8;
            x[i] = float(b[i]), dx[i] = float(dy[i]), k[i] = int64_t(i * i) - 50;
        }
        double r = 0;
        float w = 0;
        int code = prefix(ctx, n, a.data(), y.data());
        std::printf("n = %lld\nprefix: %d %.7f\n", (long long)n, code, size_of(y));
        code = prefix_grad(ctx, n, a.data(), dy.data(), y.data());
        std::printf("prefix_grad: %d %.7f\n", code, size_of(y));
        code = counts(ctx, n, k.data(), c.data());
        std::printf("counts: %d %.0f\n", code, size_of(c));
        code = linear(ctx, n, a.data(), b.data(), &r);
        std::printf("linear: %d %.9f\n", code, r);
        code = linear_grad(ctx, n, a.data(), b.data(), y.data(), z.data());
        std::printf("linear_grad: %d %.9f %.9f\n", code, size_of(y), size_of(z));
        code = smoothed(ctx, n, x.data(), 0.125f, s.data());
        std::printf("smoothed: %d %.3f\n", code, code ? 0 : size_of(s));
        code = smoothed_grad(ctx, n, x.data(), 0.125f, dx.data(), ds.data(), &w);
        std::printf("smoothed_grad: %d %.3f %.3f\n", code, code ? 0 : size_of(ds), code ? 0 : double(w));
        code = twice(ctx, n, a.data(), &r);
        std::printf("twice: %d %.4f\n", code, r);
        code = maxes(ctx, n, a.data(), y.data());
        std::printf("maxes: %d %.9f\n", code, size_of(y));
        code = maxes_grad(ctx, n, a.data(), dy.data(), y.data());
        std::printf("maxes_grad: %d %.7f\n", code, size_of(y));
        code = maxes_second(ctx, n, a.data(), dy.data(), y.data());
        std::printf("maxes_second: %d %.7f\n", code, size_of(y));
        code = within(ctx, n, k.data(), c.data());
        std::printf("within: %d %.0f\n", code, size_of(c));
        code = resets(ctx, n, b.data(), k.data(), y.data());
        std::printf("resets: %d %.9f\n", code, size_of(y));
        code = resets_grad(ctx, n, b.data(), k.data(), dy.data(), y.data());
        std::printf("resets_grad: %d %.9f\n", code, size_of(y));
        code = nonlinear(ctx, n, a.data(), &r);
        std::printf("nonlinear: %d %.9f\n", code, r);
    }
    fsm_context_free(ctx);
}
