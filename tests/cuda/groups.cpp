// Calls groups.fsm with arrays of several sizes; prints results with few digits, since products add up in another order than loops.
#include "groups.h"

#include <cmath>
#include <cstdio>
#include <vector>

#ifdef GPU
#include "fsmc/cuda.h"
#endif

using Numbers = std::vector<double>;

static double size_of(const Numbers &v) {
    double s = 0;
    for (size_t i = 0; i < v.size(); i++) s += v[i] * std::sin(double(i) + 1);
    return s;
}

static Numbers numbers(int64_t n, double step) {
    Numbers v(n);
    for (int64_t i = 0; i < n; i++) v[i] = std::sin(step * double(i) + step);
    return v;
}

template <class... Arrays> static void print(const char *name, int code, const Arrays &...a) {
    std::printf("%s: %d", name, code);
    const double sizes[] = {size_of(a)...};
    for (double s : sizes) std::printf(" %.7f", s + 0.0);
    std::printf("\n");
}

int main() {
    fsm_context *ctx = fsm_context_new();
    const int64_t shapes[][4] = {{40, 3, 17, 18}, {33, 1, 16, 20}, {7, 2, 5, 3}, {1, 2, 16, 16}, {0, 2, 16, 16}};
    for (auto &s : shapes) {
        const int64_t n = s[0], k = s[1], d = s[2], e = s[3], t = d * (d + 1) / 2;
        const Numbers alphas = numbers(k, 1), m = numbers(k * d, 2), p = numbers(k * t, 3), q = numbers(k * d * d, 4), x = numbers(n * d, 5), dy = numbers(n * k * d, 6);
        const Numbers big = numbers(k * e * d, 7), w = numbers(e * d, 8), b = numbers(e, 9), v = numbers(d * e, 10);
        Numbers da(k), dm(k * d), dp(k * t), dq(k * d * d), dx(n * d), dbig(k * e * d), dw(e * d), db(e), dv(d * e), value(1);
#ifdef GPU // what it asks of CUDA
        fsm::shim::counts() = {};
        mixture_grad(ctx, k, d, n, alphas.data(), m.data(), p.data(), x.data(), 0.5, 1, da.data(), dm.data(), dp.data());
        const fsm::shim::Counts c = fsm::shim::counts();
        std::fprintf(stderr, "%lld points: %lld launches, %lld waits\n", (long long)n, (long long)c.launches, (long long)c.waits);
#endif
        print("mixture_grad", mixture_grad(ctx, k, d, n, alphas.data(), m.data(), p.data(), x.data(), 0.5, 1, da.data(), dm.data(), dp.data()), da, dm, dp);
        print("posterior_grad", posterior_grad(ctx, k, d, n, m.data(), p.data(), x.data(), dm.data(), dp.data(), dx.data()), dm, dp, dx);
        print("strict_grad", strict_grad(ctx, k, d, n, m.data(), q.data(), x.data(), dm.data(), dq.data(), dx.data()), dm, dq, dx);
        print("whole_grad", whole_grad(ctx, k, d, e, n, m.data(), big.data(), x.data(), dm.data(), dbig.data(), dx.data()), dm, dbig, dx);
        print("network_grad", network_grad(ctx, e, d, n, w.data(), b.data(), v.data(), x.data(), dw.data(), db.data(), dv.data()), dw, db, dv);
        print("rows_grad", rows_grad(ctx, k, d, n, q.data(), x.data(), dy.data(), dq.data(), dx.data()), dq, dx);
        print("unused_value", unused_value(ctx, k, d, n, q.data(), x.data(), value.data()), value);
        print("unused_grad", unused_grad(ctx, k, d, n, q.data(), x.data(), dq.data()), dq);
    }
    fsm_context_free(ctx);
}
