#include "cpp.hpp"

#include <array>
#include <cstdio>
#include <vector>
#if __cplusplus > 201703L
#include <span>
#endif

template <class F> static void fails(const char *what, F f) {
    try {
        f();
        std::printf("%s: no error\n", what);
    } catch (const fsmc::error &e) {
        std::printf("%s: %d: %s\n", what, e.code(), e.what());
    }
}

int main() {
    fsmc::context ctx;
    std::vector<double> x{0, 1, 2}, y{1, 3, 4};
    const std::vector<double> constant = y;
    auto [value, da, db] = fsm::fit(ctx, 1, 0, x, y);
    std::printf("%g %g %g, %g\n", value, da, db, fsm::value(ctx, 1, 0, x, constant));
    double v, a, b;
    fsm::fit(ctx, 1, 0, x, std::array<double, 3>{1, 3, 4}, v, a, b);
    std::printf("%g %g %g\n", v, a, b);
    fsmc::array<double, 2> o = fsm::outer(ctx, x, std::vector<double>{10, 20});
    std::printf("%d x %d: %g %g\n", (int)o.extent(0), (int)o.extent(1), o(2, 1), o(1, 0));
    fsmc::array<double, 2> t = fsm::transposed(ctx, o);
    std::printf("%d x %d: %g, %zu elements\n", (int)t.extent(0), (int)t.extent(1), t(1, 2), t.size());
    double raw[6] = {1, 2, 3, 4, 5, 6};
    t = fsm::transposed(ctx, {raw, {2, 3}});
    std::printf("%g %g\n", t(0, 1), t(2, 0));
    auto packed = fsm::packed(ctx, 5, raw, x, std::vector<double>(2));
    std::printf("%g %g %d\n", packed.out0[5], packed.out1, (int)packed.out2);
    std::vector<float> f{1.5f, 2.5f};
    std::vector<std::uint8_t> bools{1, 0};
    std::vector<std::int64_t> ints{3, 4};
    auto k = fsm::kinds(ctx, true, f, 2, bools, ints);
    std::printf("%d %g %d %d\n", k.out0, (double)k.out1[1], k.out2[1], (int)k.out3);
    std::printf("%g\n", fsm::names(ctx, 1, x));
#if __cplusplus > 201703L
    std::printf("%g\n", fsm::pick(ctx, std::span<const double>(y), 1));
#else
    std::printf("%g\n", fsm::pick(ctx, y, 1));
#endif
    fsmc::array<double, 1> ramp = fsm::ramp(ctx, ints, 0.5);
    std::printf("%zu: %g %g\n", ramp.size(), ramp[1], ramp[2]);
    fsm::ramp(ctx, ints, 2, fsmc::view<double, 1>(raw, {3}));
    std::vector<std::int32_t> narrow{2, -3, 1 << 30};
    auto n = fsm::narrow(ctx, narrow, 1, 0.5);
    std::printf("%g, %d %d, %zu: %d %d, %d\n", raw[2], n.out0[0], n.out0[1], n.out1.size(), n.out1[0], n.out1[1], n.out2);
    fails("range", [&] { fsm::narrow(ctx, narrow, 2, 0.5); });
    fails("asked", [&] { fsm::ramp(ctx, std::vector<std::int64_t>{-1}, 1); });
    fails("asked result", [&] { fsm::ramp(ctx, ints, 2, fsmc::view<double, 1>(raw, {4})); });
    fails("other length", [&] { fsm::fit(ctx, 1, 0, x, std::vector<double>{1}); });
    fails("result", [&] {
        double m[4];
        fsm::outer(ctx, x, y, fsmc::view<double, 2>(m, {2, 2}));
    });
    fails("bounds", [&] { fsm::pick(ctx, x, 7); });
    fails("overlap", [&] { fsm::transposed(ctx, {raw, {2, 3}}, fsmc::view<double, 2>(raw, {3, 2})); });
    fails("view", [&] { fsmc::view<const double, 2>(x, {2, 2}); });
    fails("cancelled", [&] {
        ctx.cancel();
        fsm::pick(ctx, x, 1);
    });
    std::printf("%g\n", fsm::pick(ctx, x, 1));
}
