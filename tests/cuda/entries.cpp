// The functions of small.fsm: with arrays of the host, of the device, and views; what they say of errors.
#include "small.h"

#include "fsmc/cuda.h"

#include <cstdio>
#include <cstring>

static fsm_context *ctx;

static void say(const char *what, int code) {
    std::printf("%s: %s%s%s\n", what, fsm_code_name(code), code ? ": " : "", fsm_context_error(ctx));
}

template <class T> static T *to_device(const T *from, size_t n) {
    void *p = nullptr;
    cudaMalloc(&p, n * sizeof(T) + 1);
    cudaMemcpy(p, from, n * sizeof(T), cudaMemcpyHostToDevice);
    return static_cast<T *>(p);
}

// What the fourth of calls asks of CUDA.
template <class F> static void cost(const char *what, F call) {
    for (int i = 0; i < 4; i++) fsm::shim::counts() = {}, say(what, call());
    const fsm::shim::Counts c = fsm::shim::counts();
    std::printf("%lld launches, %lld graphs, %lld copies, %lld fills, %lld allocations, %lld waits\n", (long long)c.launches,
                (long long)c.graphs, (long long)c.copies, (long long)c.fills, (long long)c.allocations, (long long)c.waits);
}

int main() {
    ctx = fsm_context_new();
    const double x[] = {0.1, 0.2, 0.3}, y[] = {1, 2};
    double r = 0, out[3] = {}, strided[6] = {0.1, 9, 0.2, 9, 0.3, 9};
    int64_t n = 0, shape[] = {3}, twice[] = {16}, two[] = {2};

    say("total", total(ctx, 3, 2, x, y, &r));
    std::printf("%.12g\n", r);
    say("slope", slope(ctx, 3, 2, x, y, out));
    std::printf("%.12g %.12g %.12g\n", out[0], out[1], out[2]);
    say("slope_sizes", slope_sizes(ctx, 3, 2, x, y, &n));
    std::printf("%lld\n", (long long)n);

    double *dx = to_device(x, 3), *dy = to_device(y, 2), *dr = to_device(&r, 1), *dout = to_device(out, 3), back[3] = {};
    cudaMemset(dr, 0, sizeof r);
    say("total_device", total_device(ctx, nullptr, 3, 2, dx, dy, dr));
    cudaMemcpy(&r, dr, sizeof r, cudaMemcpyDeviceToHost);
    std::printf("%.12g\n", r);
    say("slope_device", slope_device(ctx, nullptr, 3, 2, dx, dy, dout));
    cudaMemcpy(back, dout, sizeof back, cudaMemcpyDeviceToHost);
    std::printf("%d\n", back[0] == out[0] && back[1] == out[1] && back[2] == out[2]);

    fsm_view vx = {strided, FSM_DOUBLE, 1, shape, twice}, vy = {const_cast<double *>(y), FSM_DOUBLE, 1, two, nullptr};
    r = 0;
    say("total_general", total_general(ctx, &vx, &vy, &r));
    std::printf("%.12g\n", r);

    double picked = 0;
    say("pick", pick(ctx, 3, x, 2, out, &picked));
    std::printf("%g %g %g, %g\n", out[0], out[1], out[2], picked);
    say("pick: an index", pick(ctx, 3, x, 3, out, &picked));
    say("pick: a negative one", pick(ctx, 3, x, -1, out, &picked));
    say("pick_device: an index", pick_device(ctx, nullptr, 3, dx, 3, dout, dr));
    say("total: NULL", total(ctx, 3, 2, nullptr, y, &r));
    say("total: a size", total(ctx, -3, 2, x, y, &r));
    say("slope: overlap", slope(ctx, 3, 2, out, y, out));
    // The extent of a result depends on an element: what begins in another array is found.
    const int64_t three[] = {3, 0};
    int64_t extents[2];
    int64_t *dk = to_device(three, 2);
    double *dlong = to_device(y, 2), *dwide = to_device(strided, 6);
    say("upto_sizes", upto_sizes(ctx, 2, three, x, &extents[0], &extents[1]));
    std::printf("%lld %lld\n", (long long)extents[0], (long long)extents[1]);
    say("upto_device", upto_device(ctx, nullptr, 2, dk, dx, dwide, dlong));
    cudaMemcpy(back, dwide, sizeof back, cudaMemcpyDeviceToHost);
    std::printf("%g %g %g\n", back[0], back[1], back[2]);
    say("upto_device: overlap", upto_device(ctx, nullptr, 2, dk, dx, dx + 1, dlong));
    say("upto_device: results overlap", upto_device(ctx, nullptr, 2, dk, dx, dlong + 1, dlong));
    say("upto_device: known ones", upto_device(ctx, nullptr, 2, dk, dx, dwide, dx));
    cudaMemset(dk, 0, sizeof *dk);
    say("upto_device: empty", upto_device(ctx, nullptr, 2, dk, dx, nullptr, dlong));
    cudaFree(dk), cudaFree(dlong), cudaFree(dwide);
    say("steps: too few", steps(ctx, 3, x, out));
    say("total: empty", total(ctx, 0, 2, x, y, &r));
    std::printf("%g\n", r);
    fsm_context_cancel(ctx);
    say("total: cancelled", total(ctx, 3, 2, x, y, &r));
    say("total again", total(ctx, 3, 2, x, y, &r));
    std::printf("%.12g\n", r);
    const double many[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    double *dmany = to_device(many, 12), *dsteps = to_device(many, 12), of_host[12], of_device[12];
    cost(
        "slope_device", [&] { return slope_device(ctx, nullptr, 3, 2, dx, dy, dout); });
    cost(
        "steps_device", [&] { return steps_device(ctx, nullptr, 12, dmany, dsteps); });
    cost("steps", [&] { return steps(ctx, 12, many, of_host); });
    cudaMemcpy(of_device, dsteps, sizeof of_device, cudaMemcpyDeviceToHost);
    std::printf("%d\n", std::memcmp(of_host, of_device, sizeof of_host));
    cudaFree(dmany), cudaFree(dsteps);
    cudaFree(dx), cudaFree(dy), cudaFree(dr), cudaFree(dout);
    fsm_context_free(ctx);
}
