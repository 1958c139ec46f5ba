// The cases of bench/gpu: arguments, sizes of results, and the call, of a CPU's entry or, with BENCH_DEVICE, of a GPU's.
#ifndef BENCH_GPU_CASES_H
#define BENCH_GPU_CASES_H

#include "ba.h"
#include "hand.h"
#include "kernels_fsm.h"
#include "programs.h"
#include "transport.h"

#include "kernel_table.h"

#include <algorithm>
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
#define CALL(name, ...) ((void)stream, name(ctx, __VA_ARGS__))
#endif

struct Array {
    char kind; // of its elements: d, f, l and i for Double, Float, Int and Int32
    int64_t count;
    std::vector<unsigned char> bytes; // of arguments
    size_t size() const { return kind == 'd' || kind == 'l' ? 8 : 4; }
    bool is_int() const { return kind == 'l' || kind == 'i'; }
    template <class T> T as(int64_t i) const {
        T x;
        return memcpy(&x, &bytes[size_t(i) * sizeof x], sizeof x), x;
    }
    double at(int64_t i) const {
        return kind == 'd' ? as<double>(i) : kind == 'f' ? double(as<float>(i)) : kind == 'l' ? double(as<int64_t>(i)) : double(as<int32_t>(i));
    }
    template <class T> void put(int64_t i, T x) { memcpy(&bytes[size_t(i) * sizeof x], &x, sizeof x); }
    void set(int64_t i, double x) {
        if (kind == 'd') put(i, x);
        else if (kind == 'f') put(i, float(x));
        else if (kind == 'l') put(i, int64_t(x));
        else put(i, int32_t(x));
    }
};

struct Problem {
    std::vector<Array> in, out;
    int64_t bytes() const { // of all arrays
        int64_t n = 0;
        for (const Array &a : in) n += a.count * int64_t(a.size());
        for (const Array &a : out) n += a.count * int64_t(a.size());
        return n;
    }
};

// An address as an argument of any type.
struct Any {
    void *address;
    template <class T> operator T *() const { return static_cast<T *>(address); }
};

// ---- arguments

// The same numbers on every machine.
class Numbers {
  public:
    explicit Numbers(bool counts = false) : counts_(counts) {} // counts: arrays have a number of elements, but none

    Array array(char kind, int64_t count, double low, double high) {
        if (counts_) return {kind, count, {}};
        Array a = empty(kind, count);
        for (int64_t i = 0; i < count; i++) a.set(i, low + (high - low) * next());
        return a;
    }
    Array array(char kind, int64_t count, double most) { return array(kind, count, -most, most); }
    Array below(char kind, int64_t count, int64_t bound) {
        if (counts_) return {kind, count, {}};
        Array a = empty(kind, count);
        for (int64_t i = 0; i < count; i++) a.set(i, double(below(bound)));
        return a;
    }
    int64_t below(int64_t bound) { return int64_t(next() * double(bound)); }
    double next() { // from 0 to below 1
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return double(state_ >> 11) / double(INT64_C(1) << 53);
    }
    static Array empty(char kind, int64_t count) {
        Array a{kind, count, {}};
        a.bytes.resize(a.size() * size_t(count));
        return a;
    }

  private:
    uint64_t state_ = 1;
    bool counts_;
};

// Points, dimensions, components.
static void make_gmm(Numbers &random, const int64_t *s, Problem &p) {
    const int64_t n = s[0], d = s[1], k = s[2], triangle = d * (d + 1) / 2;
    p.in = {random.array('d', k, 1), random.array('d', k * d, 1), random.array('d', k * triangle, 0.5), random.array('d', n * d, 2)};
    p.out = {{'d', k, {}}, {'d', k * d, {}}, {'d', k * triangle, {}}};
}

// Centres, points, dimensions. Each centre is near a point, so that it has one.
static void make_kmeans(Numbers &random, const int64_t *s, Problem &p) {
    const int64_t k = s[0], n = s[1], d = s[2];
    p.in = {random.array('f', n * d, 1), random.array('f', k * d, 0.01)};
    for (int64_t i = 0; i < k * d; i++) p.in[1].set(i, p.in[1].at(i) + p.in[0].at(i / d * (n / k) * d + i % d));
    p.out = {{'f', k * d, {}}};
}

// Batch, length, inputs, units.
static void make_lstm(Numbers &random, const int64_t *s, Problem &p) {
    const int64_t batch = s[0], n = s[1], d = s[2], h = s[3];
    const double scale = 1 / std::sqrt(double(h));
    p.in = {random.array('f', 4 * h * d, scale), random.array('f', 4 * h * h, scale), random.array('f', 4 * h, scale), random.array('f', n * batch * d, 1)};
    p.out = {{'f', 4 * h * d, {}}, {'f', 4 * h * h, {}}, {'f', 4 * h, {}}};
}

// Cameras, points, observations. Cameras look at the points from a distance.
static void make_ba(Numbers &random, const int64_t *s, Problem &p) {
    const int64_t n = s[0], m = s[1], count = s[2];
    Array cameras = random.array('d', n * 11, 0.1), seen = random.below('i', count * 2, m);
    for (int64_t i = 0; i < n; i++) cameras.set(i * 11 + 5, -5 + cameras.at(i * 11 + 5)), cameras.set(i * 11 + 6, 1 + cameras.at(i * 11 + 6));
    for (int64_t i = 0; i < count; i++) seen.set(2 * i, double(i % n));
    p.in = {cameras, random.array('d', m * 3, 1), random.array('d', count, 0.5, 1), seen, random.array('d', count * 2, 1)};
    p.out = {{'l', 3 * count + 1, {}}, {'i', 31 * count, {}}, {'d', 31 * count, {}}};
}

// Bones, vertices, points. Four bones move a vertex; fingers have four bones, the first of which is a child of the root.
static void make_hand(Numbers &random, const int64_t *s, Problem &p) {
    const int64_t b = s[0], v = s[1], n = s[2];
    Array parents = Numbers::empty('i', b), starts = Numbers::empty('i', v + 1);
    for (int64_t i = 0; i < b; i++) parents.set(i, i == 0 ? -1 : (i - 1) % 4 ? double(i - 1) : 0);
    for (int64_t i = 0; i <= v; i++) starts.set(i, double(4 * i));
    const auto frames = [&] {
        Array a = random.array('d', b * 16, 0.1);
        for (int64_t i = 0; i < b * 16; i++)
            if (i % 16 % 5 == 0) a.set(i, 1 + a.at(i));
        return a;
    };
    p.in = {random.array('d', 26, 0.5), parents, frames(), frames(), random.array('d', v * 3, 1), starts, random.below('i', 4 * v, b),
            random.array('d', 4 * v, 0, 0.5), random.below('i', n, v), random.array('d', n * 3, 1)};
    p.out = {{'d', 9 * n, {}}, {'d', 9 * n, {}}, {'d', 60 * n, {}}};
}

// Bones, vertices, points, triangles. A point is somewhere in a triangle.
static void make_hand_complicated(Numbers &random, const int64_t *s, Problem &p) {
    const int64_t v = s[1], n = s[2], t = s[3];
    make_hand(random, s, p);
    p.in[8] = random.below('i', n, t);
    p.in.insert(p.in.begin() + 8, random.below('i', 3 * t, v));
    p.in.insert(p.in.begin() + 1, random.array('d', 2 * n, 0, 0.5));
    p.out.insert(p.out.begin(), {'d', 6 * n, {}});
}

// XSBench's reactor has 68 nuclides; how many a material contains, and how often a neutron is in it, are as there. Of a small one, fewer.
enum { MATERIALS = 12 };
static inline int64_t first_of(int material, int64_t nuclides) { // in the list of what all contain
    static const int counts[MATERIALS] = {34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9};
    int64_t first = 0;
    for (int i = 0; i < material; i++) first += (counts[i] * nuclides + 67) / 68;
    return first;
}

struct Lookups {
    Array starts, nuclides, amounts, energies, materials;
    Lookups(Numbers &random, int64_t u, int64_t n) {
        static const double shares[MATERIALS] = {.140, .052, .275, .134, .154, .064, .066, .055, .008, .015, .025, .013};
        const int64_t k = first_of(MATERIALS, u);
        starts = Numbers::empty('i', MATERIALS + 1);
        for (int i = 0; i <= MATERIALS; i++) starts.set(i, double(first_of(i, u)));
        nuclides = random.below('i', k, u), amounts = random.array('d', k, 0, 1);
        energies = random.array('d', n, 1e-6, 1), materials = Numbers::empty('i', n);
        for (int64_t i = 0; i < n; i++) {
            double at = random.next() * 1.001;
            int m = 0;
            while (m + 1 < MATERIALS && at > shares[m]) at -= shares[m++];
            materials.set(i, m);
        }
    }
};

// Nuclides, energies of each, look-ups.
static void make_xs(Numbers &random, const int64_t *s, Problem &p) {
    const int64_t u = s[0], g = s[1];
    Lookups l(random, u, s[2]);
    Array grids = random.array('d', u * g, 0, 1);
    double *first = reinterpret_cast<double *>(grids.bytes.data());
    for (int64_t i = 0; i < u; i++) std::sort(first + i * g, first + (i + 1) * g);
    p.in = {grids, random.array('d', u * g * 5, 0, 1), l.starts, l.amounts, l.nuclides, l.energies, l.materials};
    p.out = {{'d', u * g * 5, {}}, {'d', l.amounts.count, {}}};
}

// Nuclides, windows of each, poles of each, look-ups.
static void make_rs(Numbers &random, const int64_t *s, Problem &p) {
    const int64_t u = s[0], w = s[1], poles = u * w * s[2];
    Lookups l(random, u, s[3]);
    for (int i = 0; i < 8; i++) p.in.push_back(random.array('d', poles, 0.1, 1));
    for (int i = 0; i < 3; i++) p.in.push_back(random.array('d', u * w, 0, 1));
    p.in.push_back(l.amounts);
    for (const Array &a : p.in) p.out.push_back({'d', a.count, {}});
    Array counts = random.below('i', u, w / 2);
    for (int64_t i = 0; i < u; i++) counts.set(i, counts.at(i) + double(w / 2));
    for (const Array &a : {random.below('i', poles, 4), counts, random.array('d', u * 4, 0.5, 1), l.starts, l.nuclides, l.energies, l.materials}) p.in.push_back(a);
}

// ---- calls

#define CALLED(name) static int call_##name(fsm_context *ctx, void *stream, const int64_t *size, const Any *in, const Any *out)
CALLED(gmm) { return CALL(gmm_step, size[2], size[1], size[0], in[0], in[1], in[2], in[3], 1.0, 0, out[0], out[1], out[2]); }
CALLED(kmeans) { return CALL(kmeans_step, size[1], size[2], size[0], in[0], in[1], out[0]); }
CALLED(lstm) { return CALL(lstm_step, size[2], size[3], size[1], size[0], in[0], in[1], in[2], in[3], out[0], out[1], out[2]); }
CALLED(ba) { return CALL(ba_jacobian, size[0], size[1], size[2], in[0], in[1], in[2], in[3], in[4], out[0], out[1], out[2]); }
CALLED(hand) {
    return CALL(hand_simple_jacobian, size[0], size[1], 4 * size[1], size[2], in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], in[8], in[9], out[0], out[1], out[2]);
}
CALLED(hand_complicated) {
    return CALL(hand_complicated_jacobian, size[2], size[0], size[1], 4 * size[1], size[3], in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], in[8], in[9], in[10], in[11],
                out[0], out[1], out[2], out[3]);
}
CALLED(xs) { return CALL(xsGradient, size[0], size[1], MATERIALS + 1, first_of(MATERIALS, size[0]), size[2], in[0], in[1], in[2], in[3], in[4], in[5], in[6], out[0], out[1]); }
CALLED(rs) {
    return CALL(rsGradient, size[0], size[1], size[2], first_of(MATERIALS, size[0]), MATERIALS + 1, size[3], in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], in[8], in[9], in[10],
                in[11], in[12], in[13], in[14], in[15], in[16], in[17], in[18], out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7], out[8], out[9], out[10],
                out[11]);
}

// ---- the kernels of bench/kernels: their gradients

#define LIST(...) __VA_ARGS__
#define MAKE_KERNEL(name, inputs, gradient)                                                                               \
    static void make_##name##_grad(Numbers &random, const int64_t *size, Problem &p) {                                     \
        const int64_t n = size[0], m = size[1], k = size[2], l = size[3];                                                  \
        const auto U = [&](int64_t extent) { return random.array('d', extent, 1); };                                       \
        const auto R = [&](int64_t extent, double low, double high) { return random.array('d', extent, low, high); };      \
        const auto I = [&](int64_t extent, int64_t bound) { return random.below('l', extent, bound); };                    \
        (void)n, (void)m, (void)k, (void)l, (void)U, (void)R, (void)I;                                                     \
        p.in = {LIST inputs};                                                                                              \
        for (int64_t extent : std::initializer_list<int64_t>{LIST gradient}) p.out.push_back({'d', extent, {}});           \
    }
#define KERNEL_F(name, sizes, small, inputs, gradient) \
    MAKE_KERNEL(name, inputs, gradient)                \
    CALLED(name##_grad) { return CALL(name##_grad, ARGUMENTS(SIZE_, sizes), ARGUMENTS(IN_, inputs), ARGUMENTS(OUT_, gradient)); }
#define KERNEL_V(name, sizes, small, inputs, result, gradient) \
    MAKE_KERNEL(name, (LIST inputs, U(result)), gradient)      \
    CALLED(name##_grad) { return CALL(name##_grad, ARGUMENTS(SIZE_, sizes), ARGUMENTS(IN_, inputs), in[COUNT inputs], ARGUMENTS(OUT_, gradient)); }
KERNELS(KERNEL_F, KERNEL_V)

// ---- the table

struct Program {
    std::string name;
    void (*make)(Numbers &random, const int64_t *size, Problem &p);
    int (*call)(fsm_context *ctx, void *stream, const int64_t *size, const Any *in, const Any *out);
    double (*operations)(const int64_t *size); // of the matrix products in it, that cannot be saved; or NULL
    std::vector<std::vector<int64_t>> small, large; // sizes; small: also for the shim
};

static inline double operations_gmm(const int64_t *s) { return 3 * double(s[0]) * double(s[1]) * double(s[1] + 1) * double(s[2]); }
static inline double operations_kmeans(const int64_t *s) { return 2 * double(s[0]) * double(s[1]) * double(s[2]); }
static inline double operations_lstm(const int64_t *s) { return 6 * double(s[0]) * double(s[1]) * 4 * double(s[3]) * double(s[2] + s[3]); }

// Sizes of gmm, kmeans and lstm are those of published measurements, of ba and hand ADBench's, of xs XSBench's.
static std::vector<Program> programs() {
    std::vector<Program> all = {
        {"gmm", make_gmm, call_gmm, operations_gmm, {{7, 3, 4}, {300, 8, 5}, {40, 17, 3}},
         {{1000, 64, 200}, {1000, 128, 200}, {10000, 32, 200}, {10000, 64, 25}, {10000, 128, 25}, {10000, 128, 200}}},
        {"kmeans", make_kmeans, call_kmeans, operations_kmeans, {{3, 70, 5}, {6, 30, 4}}, {{1024, 10000, 256}, {5, 494019, 35}}},
        {"lstm", make_lstm, call_lstm, operations_lstm, {{5, 4, 3, 6}, {1, 7, 5, 8}}, {{1024, 20, 300, 192}, {1024, 300, 80, 256}}},
        {"ba", make_ba, call_ba, nullptr, {{3, 11, 40}}, {{49, 7776, 31843}, {1197, 126327, 563734}}},
        {"hand", make_hand, call_hand, nullptr, {{22, 30, 12}, {22, 10, 40}}, {{22, 544, 100000}, {22, 10597, 100000}}},
        {"hand_complicated", make_hand_complicated, call_hand_complicated, nullptr, {{22, 30, 12, 40}, {22, 10, 40, 15}}, {{22, 544, 100000, 1084}, {22, 10597, 100000, 21190}}},
        {"xs", make_xs, call_xs, nullptr, {{6, 17, 40}}, {{68, 11303, 1000000}}},
        {"rs", make_rs, call_rs, nullptr, {{6, 4, 3, 40}}, {{68, 150, 10, 100000}}},
    };
    const int64_t more = 100, most = int64_t(1) << 28; // a kernel's larger case: times its first size, if that is so many bytes at most
#define ADD_KERNEL(name, sizes, small) all.push_back({"kernels/" #name, make_##name##_grad, call_##name##_grad, nullptr, {{LIST small}}, {{LIST sizes}, {LIST sizes}}});
#define ADD_F(name, sizes, small, inputs, gradient)         ADD_KERNEL(name, sizes, small)
#define ADD_V(name, sizes, small, inputs, result, gradient) ADD_KERNEL(name, sizes, small)
    KERNELS(ADD_F, ADD_V)
    for (Program &p : all) {
        if (p.name.compare(0, 8, "kernels/")) continue;
        p.large[1][0] *= more;
        int64_t size[4] = {};
        Numbers counts(true);
        Problem shape;
        std::copy(p.large[1].begin(), p.large[1].end(), size);
        p.make(counts, size, shape);
        if (shape.bytes() > most || p.large[0][0] == 1) p.large.pop_back();
    }
    return all;
}

struct Case {
    Program program;
    int64_t size[4];
    bool small;
    std::string name() const {
        std::string s = program.name;
        for (int64_t n : size)
            if (n) s += (s == program.name ? " " : "x") + std::to_string(n);
        return s;
    }
    Problem problem() const {
        Numbers random;
        Problem p;
        program.make(random, size, p);
        return p;
    }
};

static inline std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Program &p : programs())
        for (bool small : {true, false})
            for (const std::vector<int64_t> &s : small ? p.small : p.large) {
                Case c{p, {}, small};
                std::copy(s.begin(), s.end(), c.size);
                all.push_back(c);
            }
    return all;
}

// Is a case meant? By words that names contain, by all if there are none; small: by those that are small.
static inline bool is_meant(const Case &c, const std::vector<std::string> &words, bool small) {
    bool wanted = words.empty();
    for (const std::string &w : words) wanted = wanted || c.name().find(w) != std::string::npos;
    return wanted && (c.small || !small);
}

// What is kept of a result: its largest magnitude, and elements that are `step` apart.
enum { SAMPLES = 1024 };
static inline int64_t sample_step(int64_t count) { return count <= SAMPLES ? 1 : count / SAMPLES; }

#endif
