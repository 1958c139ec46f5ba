// Calls folds.fsm with states on both sides of the limits; prints results with few digits, since blocks add up in another order
// than a processor. With an argument, also how many launches calls have.
#include "folds.h"

#ifdef FSM_COUNTS
#include "fsmc/cuda.h"
#endif

#include <cmath>
#include <cstdio>
#include <vector>

typedef std::vector<double> Doubles;
static fsm_context *ctx;
static bool counts;

static Doubles some(size_t n, int with) {
    Doubles v(n);
    for (size_t i = 0; i < n; i++) v[i] = 0.3 * std::sin(double(with) + double(i * with));
    return v;
}

static double size_of(const Doubles &v) {
    double s = 0;
    for (size_t i = 0; i < v.size(); i++) s += v[i] * std::sin(double(i) + 1);
    return s;
}

static void begin() {
#ifdef FSM_COUNTS
    fsm::shim::counts() = {};
#endif
}

static void end(const char *what, int code, double a, double b = 0, double c = 0) {
    if (code) std::printf("%s: %s", what, fsm_context_error(ctx));
    else std::printf("%s: %.7f %.7f %.7f", what, a, b, c);
#ifdef FSM_COUNTS
    if (counts) std::printf(" [%lld launches]", (long long)fsm::shim::counts().launches);
#endif
    std::printf("\n");
}

static void call_ode(int64_t n, int64_t s) {
    Doubles x = some(size_t(n), 3), y(x.size());
    std::printf("n = %lld, %lld steps\n", (long long)n, (long long)s);
    begin();
    int code = ode(ctx, n, x.data(), s, y.data());
    end("ode", code, size_of(y));
    double r = 0;
    int64_t k = 0;
    begin();
    code = norms(ctx, n, x.data(), s, y.data(), &r, &k);
    end("norms", code, size_of(y), r, double(k));
    begin();
    code = twice(ctx, n, x.data(), s, 3, y.data());
    end("twice", code, size_of(y));
}

static void call_lstm(int64_t n, int64_t m, int64_t t) {
    size_t N = size_t(n), M = size_t(m);
    Doubles w = some(4 * N * M, 2), u = some(4 * N * N, 7), b = some(4 * N, 4), xs = some(M * size_t(t), 9), dw(w.size()),
            du(u.size()), db(b.size());
    double r = 0;
    std::printf("n = %lld, m = %lld, %lld steps\n", (long long)n, (long long)m, (long long)t);
    begin();
    int code = lstm(ctx, n, m, t, w.data(), u.data(), b.data(), xs.data(), &r);
    end("lstm", code, r);
    begin();
    code = lstm_grad(ctx, n, m, t, w.data(), u.data(), b.data(), xs.data(), dw.data(), du.data(), db.data());
    end("lstm_grad", code, size_of(dw), size_of(du), size_of(db));
}

static void call_walk(int64_t n, int64_t t, int64_t m, int64_t wrong) {
    Doubles x = some(size_t(n), 3), y(x.size()), z = some(size_t(m), 4);
    std::vector<int64_t> at(size_t(n * t));
    for (size_t i = 0; i < at.size(); i++) at[i] = int64_t(i * 5) % n;
    if (wrong >= 0) at[size_t(wrong)] = -1 - wrong, at[size_t(wrong) + 1] = n, at.back() = n + 1;
    begin();
    int code = walk(ctx, n, t, m, x.data(), at.data(), z.data(), y.data());
    end("walk", code, size_of(y));
}

int main(int argc, char **) {
    ctx = fsm_context_new();
    counts = argc > 1;
    const int64_t steps[] = {0, 1, 2, 9};
    for (int64_t s : steps) call_ode(7, s);
    call_ode(0, 3), call_ode(1, 3), call_ode(1024, 2), call_ode(1025, 2);
    call_lstm(3, 2, 4), call_lstm(16, 5, 3), call_lstm(5, 4, 0), call_lstm(4, 7, 1), call_lstm(65, 2, 2);
    call_walk(300, 6, 6, -1), call_walk(300, 6, 6, 700), call_walk(300, 6, 2, 700), call_walk(300, 6, 3, 700);
    call_walk(1100, 4, 4, 2300), call_walk(3, 4, 4, 10), call_walk(2, 9000, 9000, 17997), call_walk(2, 9000, 9000, -1);
    fsm_context_free(ctx);
}
