// Results of triangles.fsm for matrices of several tiles, on the host or by kernels: the sums of 1 and all elements, and of these with weights.
#include "triangles.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static std::vector<double> values(int64_t n, int64_t seed) {
    std::vector<double> x(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; i++) x[size_t(i)] = double((i * 7919 + seed * 31) % 101) / 101 - 0.5;
    return x;
}
static void show(const char *name, int code, const std::vector<double> &x) {
    double sum = 0, weighted = 0;
    for (size_t i = 0; i < x.size(); i++) sum += x[i], weighted += x[i] * double(i * 13 % 17);
    std::printf("%s: %d %.8g %.8g\n", name, code, 1 + sum, weighted);
}

int main() {
    fsm_context *ctx = fsm_context_new();
    for (int64_t d : {20, 67}) {
        const int64_t n = 20, k = 2;
        const std::vector<double> x = values(n * d, 1), m = values(k * d, 2), q = values(k * d * d, 3);
        std::vector<double> dm(m.size()), dq(q.size());
        std::printf("%d\n", int(d));
        for (auto entry : {gradient, strict, symmetric}) {
            const int code = entry(ctx, n, d, k, x.data(), m.data(), q.data(), dm.data(), dq.data());
            show("means", code, dm), show("matrices", code, dq);
        }
        std::vector<double> da(size_t{k}), di(size_t(k * d * (d + 1) / 2));
        const int code = gmm(ctx, k, d, n, m.data(), m.data(), q.data(), x.data(), da.data(), dm.data(), di.data());
        show("weights", code, da), show("means", code, dm), show("matrices", code, di);
    }
    fsm_context_free(ctx);
}
