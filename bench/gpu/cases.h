// The cases of bench/gpu: arguments, sizes of results, and the call, of a CPU's entry or, with BENCH_DEVICE, of a GPU's.
#ifndef BENCH_GPU_CASES_H
#define BENCH_GPU_CASES_H

#include "programs.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#ifdef BENCH_DEVICE
#define CALL(name, ...) name##_device(ctx, stream, __VA_ARGS__)
#else
#define CALL(name, ...) name(ctx, __VA_ARGS__)
#endif

struct Array {
    size_t size; // of an element: 8 for Double, 4 for Float
    int64_t count;
    std::vector<unsigned char> bytes; // of arguments
    double at(int64_t i) const { return number(bytes.data(), i); }
    double number(const unsigned char *data, int64_t i) const {
        double x;
        float y;
        if (size == 8) return memcpy(&x, data + i * 8, 8), x;
        return memcpy(&y, data + i * 4, 4), double(y);
    }
};

struct Case {
    const char *program;
    int64_t size[4];
    bool small; // also for the shim
    std::string name() const {
        std::string s = program;
        for (int64_t n : size)
            if (n) s += (s == program ? " " : "x") + std::to_string(n);
        return s;
    }
};

// gmm: points, dimensions, components; kmeans: centres, points, dimensions; lstm: batch, length, inputs, units. The large sizes are
// those of the published measurements.
static const Case cases[] = {
    {"gmm", {7, 3, 4, 0}, true},            {"gmm", {300, 8, 5, 0}, true},
    {"kmeans", {3, 70, 5, 0}, true},       {"kmeans", {6, 30, 4, 0}, true},
    {"lstm", {5, 4, 3, 6}, true},           {"lstm", {1, 7, 5, 8}, true},
    {"gmm", {1000, 64, 200, 0}, false},     {"gmm", {1000, 128, 200, 0}, false},
    {"gmm", {10000, 32, 200, 0}, false},    {"gmm", {10000, 64, 25, 0}, false},
    {"gmm", {10000, 128, 25, 0}, false},    {"gmm", {10000, 128, 200, 0}, false},
    {"kmeans", {1024, 10000, 256, 0}, false}, {"kmeans", {5, 494019, 35, 0}, false},
    {"lstm", {1024, 20, 300, 192}, false},  {"lstm", {1024, 300, 80, 256}, false},
};

struct Problem {
    std::vector<Array> in, out;
};

// Numbers between -scale and scale, the same on every machine (also in peers.py: uniform).
class Numbers {
  public:
    Array array(size_t size, int64_t count, double scale) {
        Array a{size, count, std::vector<unsigned char>(size_t(count) * size)};
        for (int64_t i = 0; i < count; i++) set(a, i, scale * next());
        return a;
    }
    static void set(Array &a, int64_t i, double x) {
        const float y = float(x);
        if (a.size == 8) memcpy(&a.bytes[size_t(i) * 8], &x, 8);
        else memcpy(&a.bytes[size_t(i) * 4], &y, 4);
    }

  private:
    uint64_t state_ = 1;
    double next() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return double(int64_t(state_ >> 11) - (INT64_C(1) << 52)) / double(INT64_C(1) << 52);
    }
};

static inline Problem make_problem(const Case &c) {
    Numbers random;
    const int64_t *s = c.size;
    const std::string program = c.program;
    Problem p;
    if (program == "gmm") {
        const int64_t n = s[0], d = s[1], k = s[2], triangle = d * (d + 1) / 2;
        p.in = {random.array(8, k, 1), random.array(8, k * d, 1), random.array(8, k * triangle, 0.5), random.array(8, n * d, 2)};
        p.out = {{8, k, {}}, {8, k * d, {}}, {8, k * triangle, {}}};
    } else if (program == "kmeans") {
        const int64_t k = s[0], n = s[1], d = s[2];
        p.in = {random.array(4, n * d, 1), random.array(4, k * d, 0.01)};
        for (int64_t i = 0; i < k * d; i++) // each centre is near a point, so that it has one
            Numbers::set(p.in[1], i, p.in[1].at(i) + p.in[0].at(i / d * (n / k) * d + i % d));
        p.out = {{4, k * d, {}}};
    } else {
        const int64_t batch = s[0], n = s[1], d = s[2], h = s[3];
        const double scale = 1 / std::sqrt(double(h));
        p.in = {random.array(4, 4 * h * d, scale), random.array(4, 4 * h * h, scale), random.array(4, 4 * h, scale),
                random.array(4, n * batch * d, 1)};
        p.out = {{4, 4 * h * d, {}}, {4, 4 * h * h, {}}, {4, 4 * h, {}}};
    }
    return p;
}

// Calls the program; in, out: the addresses of arguments and results, where the entry wants them.
static inline int call_case(const Case &c, fsm_context *ctx, void *stream, void *const *in, void *const *out) {
    const int64_t *s = c.size;
    const std::string program = c.program;
    (void)stream;
    const auto d = [](void *p) { return static_cast<double *>(p); };
    const auto f = [](void *p) { return static_cast<float *>(p); };
    if (program == "gmm")
        return CALL(gmm_step, s[2], s[1], s[0], d(in[0]), d(in[1]), d(in[2]), d(in[3]), 1.0, 0, d(out[0]), d(out[1]), d(out[2]));
    if (program == "kmeans") return CALL(kmeans_step, s[1], s[2], s[0], f(in[0]), f(in[1]), f(out[0]));
    return CALL(lstm_step, s[2], s[3], s[1], s[0], f(in[0]), f(in[1]), f(in[2]), f(in[3]), f(out[0]), f(out[1]), f(out[2]));
}

// What is kept of a result: its largest magnitude, and elements that are `step` apart.
enum { SAMPLES = 1024 };
static inline int64_t sample_step(int64_t count) { return count <= SAMPLES ? 1 : count / SAMPLES; }

#endif
