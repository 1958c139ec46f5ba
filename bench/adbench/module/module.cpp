// fsmc's code as a module of ADBench's runner in C++: get_gmm_test, get_ba_test, get_lstm_test, get_hand_test.
#include "interface.hpp"

extern "C" {
#include "../adbench.h"
}

#include <algorithm>
#include <stdexcept>

using namespace interface;

namespace {

// The memory of what a Problem points to.
struct Held {
    std::vector<std::vector<double>> doubles;
    std::vector<std::vector<int32_t>> ints;
    double *keep(std::vector<double> v) { return doubles.emplace_back(std::move(v)).data(); }
    int32_t *keep(std::vector<int32_t> v) { return ints.emplace_back(std::move(v)).data(); }
};

std::vector<double> joined(const std::vector<double> &a, const std::vector<double> &b) {
    std::vector<double> both = a;
    both.insert(both.end(), b.begin(), b.end());
    return both;
}

void convert(const GmmInput &in, Problem &q, Held &held) {
    Gmm &g = q.gmm;
    q.kind = GMM;
    g = Gmm{};
    g.d = in.d, g.k = in.k, g.n = in.n, g.m = in.wishart.m, g.gamma = in.wishart.gamma, g.sign = 1;
    g.alphas = held.keep(joined(joined(in.alphas, in.means), in.icf));
    g.means = g.alphas + g.k, g.icf = g.means + g.k * g.d;
    g.x = held.keep(in.x);
}

void convert(const BaInput &in, Problem &q, Held &held) {
    Ba &a = q.ba;
    q.kind = BA;
    a = Ba{};
    a.n = in.n, a.m = in.m, a.p = in.p;
    a.cams = held.keep(in.cams), a.points = held.keep(in.points), a.weights = held.keep(in.weights);
    a.feats = held.keep(in.feats), a.obs = held.keep(std::vector<int32_t>(in.obs.begin(), in.obs.end()));
}

void convert(const LstmInput &in, Problem &q, Held &held) {
    Lstm &s = q.lstm;
    q.kind = LSTM;
    s = Lstm{};
    s.l = in.l, s.c = in.c, s.b = in.b;
    s.params = held.keep(joined(in.main_params, in.extra_params));
    s.extra = s.params + in.main_params.size();
    s.state = held.keep(in.state), s.sequence = held.keep(in.sequence);
}

// Row after row; a hand that is mirrored is one whose root is.
std::vector<double> rows_of(const std::vector<Matrix<double>> &matrices, const std::vector<int> *mirrored_roots) {
    std::vector<double> out;
    for (size_t bone = 0; bone < matrices.size(); bone++)
        for (int i = 0; i < 16; i++) {
            bool turned = mirrored_roots && (*mirrored_roots)[bone] < 0 && i < 4;
            double x = matrices[bone].data[i % 4 * 4 + i / 4];
            out.push_back(turned ? -x : x);
        }
    return out;
}

void convert(const HandInput &in, Problem &q, Held &held) {
    Hand &h = q.hand;
    const HandModel &model = in.model;
    q.kind = in.us.empty() ? HAND : HAND_COMPLICATED;
    h = Hand{};
    if (in.theta.size() != THETAS || model.parents.size() != BONES) throw std::runtime_error("not a hand of 22 bones");
    h.bones = BONES, h.vertices = model.base_positions.columns, h.triangles = (int64_t)model.triangles.size();
    h.n = (int64_t)in.correspondences.size();
    std::copy(in.theta.begin(), in.theta.end(), h.theta);
    h.parents = held.keep(std::vector<int32_t>(model.parents.begin(), model.parents.end()));
    h.base = held.keep(rows_of(model.base_relatives, model.is_mirrored ? &model.parents : nullptr));
    h.inverse = held.keep(rows_of(model.inverse_base_absolutes, nullptr));
    std::vector<double> rest, weights;
    std::vector<int32_t> starts{0}, by, corners;
    for (int64_t v = 0; v < h.vertices; v++) {
        rest.insert(rest.end(), model.base_positions.data + 4 * v, model.base_positions.data + 4 * v + 3);
        for (int bone = 0; bone < BONES; bone++) {
            double weight = model.weights.data[v * model.weights.rows + bone];
            bool last = bone + 1 == BONES && (int32_t)by.size() == starts.back(); // each vertex has a bone
            if (weight != 0 || last) by.push_back(bone), weights.push_back(weight);
        }
        starts.push_back((int32_t)by.size());
    }
    for (const Triangle &t : model.triangles) corners.insert(corners.end(), t.corners, t.corners + 3);
    h.shares = (int64_t)by.size();
    h.rest = held.keep(rest), h.weights = held.keep(weights), h.starts = held.keep(starts), h.by = held.keep(by);
    h.corners = held.keep(corners);
    h.corr = held.keep(std::vector<int32_t>(in.correspondences.begin(), in.correspondences.end()));
    h.points = held.keep(std::vector<double>(in.points.data, in.points.data + 3 * h.n));
    h.us = in.us.empty() ? nullptr : held.keep(in.us);
}

void convert(const Problem &, const Results &r, GradientOutput &out) {
    out.objective = r.value[0];
    out.gradient.assign(r.derivative, r.derivative + r.derivatives);
}

void convert(const Problem &q, const Results &r, BaOutput &out) {
    const Ba &a = q.ba;
    out.reprojection.assign(r.value, r.value + 2 * a.p);
    out.weights.assign(r.value + 2 * a.p, r.value + 3 * a.p);
    out.jacobian = {(int)a.n, (int)a.m, (int)a.p, (int)r.rows, (int)r.columns, {}, {}, {}};
    out.jacobian.rows.assign(r.starts, r.starts + r.rows + 1);
    out.jacobian.cols.assign(r.places, r.places + r.derivatives);
    out.jacobian.vals.assign(r.derivative, r.derivative + r.derivatives);
}

void convert(const Problem &, const Results &r, HandOutput &out) {
    out.objective.assign(r.value, r.value + r.values);
    out.columns = (int)r.columns, out.rows = (int)r.rows;
    out.jacobian.assign(r.derivative, r.derivative + r.derivatives);
}

template <typename Input, typename Output> struct Fsmc : Test<Input, Output> {
    Problem q{};
    Held held;
    Results r{};
    void *state = nullptr;

    void prepare(Input &&input) override {
        convert(input, q, held);
        r = results_new(&q, true);
        state = fsmc_tool.prepare(&q);
        if (!state) throw std::runtime_error("out of memory");
    }
    void call(int times, const char *(*what)(void *, Results *)) {
        for (int i = 0; i < times; i++) {
            const char *error = what(state, &r);
            if (error) throw std::runtime_error(error);
        }
    }
    void calculate_objective(int times) override { call(times, fsmc_tool.objective); }
    void calculate_jacobian(int times) override { call(times, fsmc_tool.derivative); }
    Output output() override {
        Output out{};
        convert(q, r, out);
        return out;
    }
    ~Fsmc() override {
        if (state) fsmc_tool.release(state);
        if (state) results_free(&r);
    }
};

} // namespace

extern "C" {
GmmTest *get_gmm_test() { return new Fsmc<GmmInput, GradientOutput>; }
BaTest *get_ba_test() { return new Fsmc<BaInput, BaOutput>; }
LstmTest *get_lstm_test() { return new Fsmc<LstmInput, GradientOutput>; }
HandTest *get_hand_test() { return new Fsmc<HandInput, HandOutput>; }
}
