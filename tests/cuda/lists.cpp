// Calls lists.fsm with rows of many lengths; prints results with few digits, since sums are added up in another order by lists.
#include "lists.h"

#include <cmath>
#include <cstdio>
#include <vector>

#ifdef GPU
#include "fsmc/cuda.h"
#endif

using Numbers = std::vector<double>;

static Numbers numbers(int64_t n, double step) {
    Numbers v(n);
    for (int64_t i = 0; i < n; i++) v[i] = 0.5 + 0.5 * std::sin(step * double(i) + step);
    return v;
}

static double size_of(const Numbers &v) {
    double s = 0;
    for (size_t i = 0; i < v.size(); i++) s += v[i] * std::sin(double(i) + 1);
    return s + 0.0;
}

static void print(const char *name, fsm_context *ctx, int code, const Numbers &x, const Numbers &y) {
    if (code) std::printf("%s: %s\n", name, fsm_context_error(ctx));
    else std::printf("%s: %.7f %.7f\n", name, size_of(x), size_of(y));
}

// lengths: of rows, one after the other.
static void call(fsm_context *ctx, const std::vector<int> &lengths, int64_t n, int64_t u, int64_t g) {
    std::vector<int32_t> starts{0}, names, materials;
    for (int l : lengths) starts.push_back(starts.back() + l);
    const int64_t s = int64_t(starts.size()), k = starts.back(), p = 3, m = 2;
    for (int64_t i = 0; i < k; i++) names.push_back(int32_t(i * 7 % u));
    for (int64_t i = 0; i < n; i++) materials.push_back(int32_t(i * 5 % (s - 1)));
    const Numbers grid = numbers(g, 0.3), table = numbers(u * g * 3, 2), amounts = numbers(k, 3), energies = numbers(n, 4),
                  x = numbers(n * m, 5);
    Numbers dtable(u * g * 3), damounts(k), dpoles(u * p), ddepends(u * g);
    const auto looked_up_all = [&] {
        return looked_up(ctx, g, u, s, k, n, grid.data(), table.data(), starts.data(), amounts.data(), names.data(),
                         energies.data(), materials.data(), dtable.data(), damounts.data());
    };
#ifdef GPU
    fsm::shim::counts() = {};
#endif
    print("looked_up", ctx, looked_up_all(), dtable, damounts);
#ifdef GPU
    std::fprintf(stderr, "%lld iterations: %lld waits\n", (long long)n, (long long)fsm::shim::counts().waits);
#endif
    print("windows", ctx, windows(ctx, u, p, s, k, n, m, table.data(), starts.data(), names.data(), x.data(), dpoles.data()),
          dpoles, {});
    std::vector<int64_t> counts;
    for (int64_t i = 0; i < n * m; i++) counts.push_back(i * i % 5 - 1);
    if (u * g < 1000) print("depends", ctx, depends(ctx, u * g, n, m, table.data(), counts.data(), ddepends.data()), ddepends, {});
    if (n < 3 || !k) return;
    materials[n - 1] = -1, materials[2] = int32_t(s - 1); // the first that fails is number 2
    print("looked_up", ctx, looked_up_all(), dtable, damounts);
    materials[2] = 0, names[0] = int32_t(u); // or what its row says
    print("looked_up", ctx, looked_up_all(), dtable, damounts);
}

int main(int argc, char **) {
    fsm_context *ctx = fsm_context_new();
    if (argc > 1) {
        call(ctx, {4, 0, 7, 1, 2}, 50, 16, 4096); // the table has 1.5 MiB
    } else {
        call(ctx, {2, 0, 5, 1, 0, 3}, 40, 5, 9);
        call(ctx, {0, 0, 0}, 7, 4, 5);
        call(ctx, {9}, 3, 3, 4);
        call(ctx, {1, 2}, 1, 2, 3);
        call(ctx, {0, 4}, 1, 3, 4);
        call(ctx, {3, 40, 2, 0, 1}, 300, 20, 11);
    }
    fsm_context_free(ctx);
}
