// Calls batches.fsm with arrays of several sizes; prints results with few digits, since products add up in another order than loops.
#include "batches.h"

#include <cmath>
#include <cstdio>
#include <vector>

static double size_of(const std::vector<double> &v) {
    double s = 0;
    for (size_t i = 0; i < v.size(); i++) s += v[i] * std::sin(double(i) + 1);
    return s;
}

static std::vector<double> numbers(int64_t n, double step) {
    std::vector<double> v(n);
    for (int64_t i = 0; i < n; i++) v[i] = std::sin(step * double(i));
    return v;
}

int main() {
    fsm_context *ctx = fsm_context_new();
    const int64_t shapes[][4] = {{5, 7, 4, 3}, {1, 20, 33, 70}, {3, 2, 9, 1}, {0, 4, 4, 4}, {4, 5, 0, 3}, {2, 0, 3, 4}};
    for (auto &s : shapes) {
        const int64_t n = s[0], m = s[1], k = s[2], l = s[3];
        std::vector<double> a = numbers(n * m * k, 3), b = numbers(n * k * l, 7), y(n * m * l), dy = numbers(n * m * l, 1), da(a.size()), db(b.size());
        int code = products(ctx, n, m, k, l, a.data(), b.data(), y.data());
        std::printf("products: %d %.9f\n", code, size_of(y));
        code = products_grad(ctx, n, m, k, l, a.data(), b.data(), dy.data(), da.data(), db.data());
        std::printf("products_grad: %d %.9f %.9f\n", code, size_of(da), size_of(db));
        std::vector<double> v = numbers(n * l * k, 5), key = numbers(n * l * k, 2), h(n * m * k);
        if (k && l) code = heads(ctx, n, m, k, l, k, a.data(), key.data(), v.data(), h.data());
        std::printf("heads: %d %.9f\n", code, size_of(h));
        std::vector<double> w = numbers(n * l * k, 4), x = numbers(m * n * k, 6), dw(w.size()), dx(x.size());
        code = layer_grad(ctx, n, l, k, m, w.data(), x.data(), dw.data(), dx.data());
        std::printf("layer_grad: %d %.9f %.9f\n", code, size_of(dw), size_of(dx));
    }
    fsm_context_free(ctx);
}
