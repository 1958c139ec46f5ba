// Calls rows.fsm with arrays of several sizes; prints results with few digits, since kernels add up in another order than loops.
#include "rows.h"

#include <cmath>
#include <cstdio>
#include <vector>

using Numbers = std::vector<double>;

static Numbers numbers(int64_t n, double step) {
    Numbers v(n);
    for (int64_t i = 0; i < n; i++) v[i] = 1.5 + std::sin(step * double(i) + step);
    return v;
}

static void print(const char *name, fsm_context *ctx, int code, const Numbers &v) {
    double s = 0;
    for (size_t i = 0; i < v.size(); i++) s += v[i] * std::sin(double(i) + 1);
    if (code) std::printf("%s: %s\n", name, fsm_context_error(ctx));
    else std::printf("%s: %.6e\n", name, s + 0.0);
}

int main() {
    fsm_context *ctx = fsm_context_new();
    const int64_t shapes[][3] = {{40, 3, 17}, {66, 34, 8}, {1, 1, 1}, {0, 2, 3}, {7, 5, 0}, {9, 2, 2}};
    for (const auto &s : shapes) {
        const int64_t n = s[0], k = s[1], d = s[2], t = d * (d + 1) / 2;
        std::printf("n = %lld, k = %lld, d = %lld\n", (long long)n, (long long)k, (long long)d);
        const Numbers x = numbers(n * d, 1), c = numbers(k * d, 2), a = numbers(n * k * d, 0.3), p = numbers(k * t, 0.7), y = numbers(d, 3);
        Numbers value(1), centres(k * d), each(n), packed(k * t);
        std::vector<int64_t> at(n);
        for (int64_t i = 0; i < n; i++) at[i] = i % 3 ? i * i % (k + 1) : k / 2; // some of no row, many of one
        print("nearest", ctx, nearest(ctx, n, d, k, x.data(), c.data(), value.data()), value);
        print("nearest_grad", ctx, nearest_grad(ctx, n, d, k, x.data(), c.data(), centres.data()), centres);
        print("kernels", ctx, kernels(ctx, n, d, k, x.data(), c.data(), 0.25, each.data()), each);
        print("spread", ctx, spread(ctx, n, k, d, a.data(), each.data()), each);
        print("rows_of", ctx, rows_of(ctx, n, d, at.data(), x.data(), k, centres.data()), centres);
        print("packed_grad", ctx, packed_grad(ctx, k, d, p.data(), y.data(), packed.data()), packed);
        const int64_t h = k < 6 ? k : 6, m = n < 20 ? n : 20;
        const Numbers w = numbers(3 * h * h, 0.1), b = numbers(m * h, 0.2);
        Numbers small(w), weights(w.size());
        for (double &v : small) v *= 0.1;
        print("gates_grad", ctx, gates_grad(ctx, h, m, small.data(), b.data(), 3, weights.data()), weights);
    }
    fsm_context_free(ctx);
}
