// Calls steps.fsm with no step, one and several; prints results with few digits, since sums are in another order than a processor's.
// With an argument, how many launches calls have.
#include "steps.h"

#ifdef FSM_COUNTS
#include "fsmc/cuda.h"
#endif

#include <cmath>
#include <cstdio>
#include <vector>

typedef std::vector<double> Doubles;

static Doubles some(int64_t n, int with) {
    Doubles v(static_cast<size_t>(n) + 1);
    for (size_t i = 0; i < v.size(); i++) v[i] = 0.4 * std::sin(double(with) + double(i) * with);
    return v;
}

static double size_of(const Doubles &v, int64_t n) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += v[size_t(i)] * std::sin(double(i) + 1);
    return s;
}

static void begin() {
#ifdef FSM_COUNTS
    fsm::shim::counts() = {};
#endif
}

static void end(bool counts, fsm_context *ctx, const char *what, int code, double a, double b = 0, double c = 0) {
#ifdef FSM_COUNTS
    if (counts) {
        std::printf("%s: %lld launches\n", what, (long long)fsm::shim::counts().launches);
        return;
    }
#endif
    (void)counts;
    if (code) std::printf("%s: %s\n", what, fsm_context_error(ctx));
    else std::printf("%s: %.8f %.8f %.8f\n", what, a, b, c);
}

int main(int argc, char **) {
    fsm_context *ctx = fsm_context_new();
    const bool counts = argc > 1;
    const int64_t d = 5, h = 4, batch = 6;
    for (int64_t n : {0, 1, 2, 9}) {
        const Doubles wx = some(2 * h * d, 1), wh = some(2 * h * h, 2), bias = some(2 * h, 3), xs = some(n * batch * d, 5);
        Doubles dx(size_t(2 * h * d)), dh(size_t(2 * h * h)), db(size_t(2 * h)), y(size_t(batch * h));
        double value = 0;
        const auto three = [&](const char *what, int code) {
            end(counts, ctx, what, code, size_of(dx, 2 * h * d), size_of(dh, 2 * h * h), size_of(db, 2 * h));
        };
        std::printf("%lld steps\n", (long long)n);
        begin();
        int code = cell(ctx, d, h, n, batch, wx.data(), wh.data(), bias.data(), xs.data(), &value);
        end(counts, ctx, "cell", code, value);
        begin();
        three("gradient", cell_gradient(ctx, d, h, n, batch, wx.data(), wh.data(), bias.data(), xs.data(), dx.data(), dh.data(), db.data()));
        begin();
        three("second", cell_second(ctx, d, h, n, batch, wx.data(), wh.data(), bias.data(), xs.data(), dx.data(), dh.data(), db.data()));
        begin();
        code = backwards(ctx, h, d, n, batch, wx.data(), wh.data(), xs.data(), y.data());
        end(counts, ctx, "backwards", code, size_of(y, batch * h));
    }
    fsm_context_free(ctx);
}
