// A module of ADBench's runner in C++ as a tool: the one whose path is in FSMC_ADBENCH_MODULE.
#include "interface.hpp"

extern "C" {
#include "../adbench.h"
}

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <memory>
#include <string>

using namespace interface;

namespace {

// What was passed to the module stays there until the end: it may refer to it.
struct State {
    std::function<void()> objective, derivative;
    std::function<void(Results *, bool)> output;
    std::vector<std::vector<double>> matrices;
    std::string error;
    bool copied[2]; // values, and derivatives too
};

std::vector<double> numbers(const double *from, int64_t count) { return std::vector<double>(from, from + count); }

Matrix<double> matrix(State &s, int rows, int columns, const std::function<double(int, int)> &at) {
    std::vector<double> data;
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) data.push_back(at(i, j));
    s.matrices.push_back(std::move(data));
    return {false, rows, columns, s.matrices.back().data()};
}

GmmInput input_of(State &, const Gmm &g) {
    return {(int)g.d,
            (int)g.k,
            (int)g.n,
            numbers(g.alphas, g.k),
            numbers(g.means, g.k * g.d),
            numbers(g.icf, g.k * g.d * (g.d + 1) / 2),
            numbers(g.x, g.n * g.d),
            {g.gamma, (int)g.m}};
}

BaInput input_of(State &, const Ba &a) {
    return {(int)a.n,
            (int)a.m,
            (int)a.p,
            numbers(a.cams, CAMERA * a.n),
            numbers(a.points, 3 * a.m),
            numbers(a.weights, a.p),
            numbers(a.feats, 2 * a.p),
            std::vector<int>(a.obs, a.obs + 2 * a.p)};
}

LstmInput input_of(State &, const Lstm &l) {
    return {(int)l.l,
            (int)l.c,
            (int)l.b,
            numbers(l.params, 8 * l.l * l.b),
            numbers(l.extra, 3 * l.b),
            numbers(l.state, 2 * l.l * l.b),
            numbers(l.sequence, l.c * l.b)};
}

HandInput input_of(State &s, const Hand &h) {
    HandInput in{};
    in.theta = numbers(h.theta, THETAS);
    for (int bone = 0; bone < h.bones; bone++) {
        auto entry = [&](const double *of) {
            return matrix(s, 4, 4, [=](int i, int j) { return of[16 * bone + 4 * i + j]; });
        };
        in.model.bone_names.push_back("bone" + std::to_string(bone));
        in.model.parents.push_back(h.parents[bone]);
        in.model.base_relatives.push_back(entry(h.base));
        in.model.inverse_base_absolutes.push_back(entry(h.inverse));
    }
    in.model.base_positions =
        matrix(s, 4, (int)h.vertices, [&](int i, int v) { return i < 3 ? h.rest[3 * v + i] : 1; });
    in.model.weights = matrix(s, (int)h.bones, (int)h.vertices, [&](int bone, int v) {
        double weight = 0;
        for (int32_t k = h.starts[v]; k < h.starts[v + 1]; k++)
            if (h.by[k] == bone) weight += h.weights[k];
        return weight;
    });
    for (int64_t i = 0; i < h.triangles; i++)
        in.model.triangles.push_back({{h.corners[3 * i], h.corners[3 * i + 1], h.corners[3 * i + 2]}});
    in.correspondences.assign(h.corr, h.corr + h.n);
    in.points = matrix(s, 3, (int)h.n, [&](int i, int p) { return h.points[3 * p + i]; });
    if (h.us) in.us = numbers(h.us, 2 * h.n);
    return in;
}

void output_to(const GradientOutput &out, Results *r, bool derivative) {
    r->value[0] = out.objective;
    if (derivative) std::copy(out.gradient.begin(), out.gradient.end(), r->derivative);
}

void output_to(const BaOutput &out, Results *r, bool derivative) {
    std::copy(out.weights.begin(), out.weights.end(),
              std::copy(out.reprojection.begin(), out.reprojection.end(), r->value));
    if (!derivative) return;
    std::copy(out.jacobian.rows.begin(), out.jacobian.rows.end(), r->starts);
    std::copy(out.jacobian.cols.begin(), out.jacobian.cols.end(), r->places);
    std::copy(out.jacobian.vals.begin(), out.jacobian.vals.end(), r->derivative);
}

void output_to(const HandOutput &out, Results *r, bool derivative) {
    std::copy(out.objective.begin(), out.objective.end(), r->value);
    if (derivative) std::copy(out.jacobian.begin(), out.jacobian.end(), r->derivative);
}

template <typename Input, typename Output, typename Of>
bool load(State &s, void *library, const char *name, const Of &of) {
    typedef Test<Input, Output> *(*Make)();
    Make make = (Make)dlsym(library, name);
    if (!make) return false;
    std::shared_ptr<Test<Input, Output>> test(make());
    auto input = std::make_shared<Input>(input_of(s, of));
    test->prepare(std::move(*input));
    s.objective = [=] { test->calculate_objective(1); };
    s.derivative = [=] { test->calculate_jacobian(1); };
    s.output = [=](Results *r, bool derivative) { output_to(test->output(), r, derivative); };
    return true;
}

void *prepare(const Problem *q) {
    auto s = std::make_unique<State>(State{});
    const char *path = getenv("FSMC_ADBENCH_MODULE");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    bool found = false;
    if (!path)
        s->error = "FSMC_ADBENCH_MODULE is not set";
    else if (!library)
        s->error = dlerror();
    else if (q->kind == GMM)
        found = load<GmmInput, GradientOutput>(*s, library, "get_gmm_test", q->gmm);
    else if (q->kind == BA)
        found = load<BaInput, BaOutput>(*s, library, "get_ba_test", q->ba);
    else if (q->kind == LSTM)
        found = load<LstmInput, GradientOutput>(*s, library, "get_lstm_test", q->lstm);
    else
        found = load<HandInput, HandOutput>(*s, library, "get_hand_test", q->hand);
    if (library && !found) s->error = std::string(path) + " does not have this problem";
    return s.release();
}

// The results are copied after the first call alone, since other tools write them where they belong.
const char *call(State &s, const std::function<void()> &what, Results *r, bool derivative) {
    if (!s.error.empty()) return s.error.c_str();
    try {
        what();
        if (!s.copied[derivative]) s.output(r, derivative);
        s.copied[derivative] = true;
    } catch (const std::exception &error) {
        s.error = error.what();
        return s.error.c_str();
    }
    return nullptr;
}

const char *objective(void *state, Results *r) {
    State &s = *(State *)state;
    return call(s, s.objective, r, false);
}

const char *derivative(void *state, Results *r) {
    State &s = *(State *)state;
    return call(s, s.derivative, r, true);
}

void release(void *state) { delete (State *)state; }

} // namespace

extern "C" const Tool adbench_tool = {"module", "ADBench's interface", prepare, objective, derivative, release};
