// Calls blocks.fsm with arrays of many sizes; prints results with few digits, since sums are added up in another order by blocks.
#include "blocks.h"

#include <cmath>
#include <cstdio>
#include <vector>

static double size_of(const std::vector<double> &v) {
    double s = 0;
    for (size_t i = 0; i < v.size(); i++) s += v[i] * std::sin(double(i) + 1);
    return s;
}

int main() {
    fsm_context *ctx = fsm_context_new();
    const int64_t shapes[][3] = {{4, 3, 5}, {7, 40, 3}, {1, 33, 70}, {90, 2, 4}};
    for (auto &s : shapes) {
        int64_t k = s[0], d = s[1], n = s[2];
        std::vector<double> w(k), mu(k * d), x(n * d), dw(k), dmu(k * d), y(n * d), g(n);
        std::vector<int64_t> at(n * d);
        for (size_t i = 0; i < w.size(); i++) w[i] = 0.1 * double(i % 5);
        for (size_t i = 0; i < mu.size(); i++) mu[i] = std::sin(double(3 * i));
        for (size_t i = 0; i < x.size(); i++) x[i] = std::cos(double(7 * i)), at[i] = int64_t(i * 5) % d;
        int code = mixture_grad(ctx, k, d, n, w.data(), mu.data(), x.data(), dw.data(), dmu.data());
        std::printf("mixture_grad: %d %.9f %.9f\n", code, size_of(dw), size_of(dmu));
        code = relax(ctx, n, d, x.data(), 6, y.data());
        std::printf("relax: %d %.9f\n", code, size_of(y));
        code = gather(ctx, n, d, x.data(), at.data(), g.data());
        std::printf("gather: %d %.9f\n", code, size_of(g));
        at[d * (n - 1) + d - 1] = d;
        if (n > 2) at[d * 2] = -1;
        code = gather(ctx, n, d, x.data(), at.data(), g.data());
        std::printf("gather: %s\n", code ? fsm_context_error(ctx) : "no error");
    }
    fsm_context_free(ctx);
}
