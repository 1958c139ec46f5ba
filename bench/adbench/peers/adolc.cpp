// ADOL-C: tapes that are made once and used again, in memory as far as there is; BA by a tape of one observation, HAND
// by one forward sweep for all directions.
#include <adolc/adolc.h>

#include "objectives.hpp"

static double value_of(const adouble &x) { return x.value(); }

#include <memory>

namespace {

enum { WHOLE = 1, TURNED = 2, UNTURNED = 3 }; // tapes
enum { FEATS = 2, INPUTS = BLOCK + FEATS };

struct State {
    const Problem *q;
    std::vector<double> p, out;
    std::vector<double> seeds, sweep; // HAND
    std::vector<double *> seed_rows, sweep_rows;
};

void start(int tag) {
    const size_t entries = (size_t)1 << 28;
    trace_on((short)tag, 0, entries, entries, entries, (size_t)1 << 20, 0);
}

void tape_observation(int tag) {
    start(tag);
    adouble p[INPUTS], to[2];
    for (int i = 0; i < INPUTS; i++) p[i] <<= 1 + 0.1 * i;
    ba(p, p[BLOCK], p[BLOCK + 1], tag == TURNED, to);
    double out;
    to[0] >>= out, to[1] >>= out;
    trace_off();
}

void tape(State &s) {
    const Problem &q = *s.q;
    start(WHOLE);
    {
        std::vector<adouble> p(s.p.size());
        for (size_t i = 0; i < p.size(); i++) p[i] <<= s.p[i];
        std::vector<adouble> to(s.out.size());
        if (q.kind == GMM)
            to[0] = gmm(q.gmm, p.data());
        else if (q.kind == LSTM)
            to[0] = lstm(q.lstm, p.data());
        else
            hand(q.hand, p.data(), to.data());
        for (size_t i = 0; i < to.size(); i++) to[i] >>= s.out[i];
    }
    trace_off();
}

// Columns us 0, us 1 (each for all points), theta.
void seed(State &s) {
    const Hand &h = s.q->hand;
    size_t shared = h.us ? 2 : 0, directions = shared + THETAS, inputs = s.p.size();
    s.seeds.assign(inputs * directions, 0);
    s.sweep.resize(s.out.size() * directions);
    for (size_t i = 0; i < inputs; i++) {
        size_t direction = i < THETAS ? shared + i : (i - THETAS) % 2;
        s.seeds[i * directions + direction] = 1;
        s.seed_rows.push_back(&s.seeds[i * directions]);
    }
    for (size_t i = 0; i < s.out.size(); i++) s.sweep_rows.push_back(&s.sweep[i * directions]);
}

void *prepare(const Problem *q) {
    auto s = std::make_unique<State>();
    s->q = q;
    if (q->kind == BA) {
        tape_observation(TURNED), tape_observation(UNTURNED);
        return s.release();
    }
    s->p = parameters(*q);
    s->out.resize(q->kind == GMM || q->kind == LSTM ? 1 : 3 * q->hand.n);
    tape(*s);
    if (is_hand(q->kind)) seed(*s);
    return s.release();
}

const char *objective(void *state, Results *r) {
    State &s = *(State *)state;
    objective_of(*s.q, s.p, r);
    return nullptr;
}

void ba_jacobian(const Ba &a, Results *r) {
    double p[INPUTS], rows[2][INPUTS], *to[2] = {rows[0], rows[1]};
    ba_structure(a, r);
    for (int64_t i = 0; i < a.p; i++) {
        observation(a, i, p);
        std::copy_n(a.feats + 2 * i, FEATS, p + BLOCK);
        jacobian(turned(p) ? TURNED : UNTURNED, 2, INPUTS, p, to);
        for (int k = 0; k < 2; k++) std::copy_n(rows[k], BLOCK, r->derivative + BLOCK * (2 * i + k));
    }
}

const char *derivative(void *state, Results *r) {
    State &s = *(State *)state;
    if (s.q->kind == BA) {
        ba_jacobian(s.q->ba, r);
        return nullptr;
    }
    if (!is_hand(s.q->kind))
        return gradient(WHOLE, (int)s.p.size(), s.p.data(), r->derivative) < 0 ? "ADOL-C failed" : nullptr;
    int directions = (int)r->columns,
        status = fov_forward(WHOLE, (int)s.out.size(), (int)s.p.size(), directions, s.p.data(), s.seed_rows.data(),
                             s.out.data(), s.sweep_rows.data());
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t j = 0; j < directions; j++) r->derivative[j * r->rows + i] = s.sweep[i * directions + j];
    return status < 0 ? "ADOL-C failed" : nullptr;
}

void release(void *state) { delete (State *)state; }

} // namespace

extern "C" const Tool adbench_tool = {"adolc",    "ADOL-C " TOOL_VERSION ", g++ " __VERSION__ ", -O3 -march=native",
                                      prepare,    objective,
                                      derivative, release};
