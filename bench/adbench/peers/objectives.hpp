// ADBench's objectives for any type of numbers, for tools that overload operators: plain loops, as one writes them by
// hand. A tool says by value_of(x) which double a number is at present.
#ifndef ADBENCH_OBJECTIVES_HPP
#define ADBENCH_OBJECTIVES_HPP

extern "C" {
#include "../adbench.h"
}

#include <algorithm>
#include <cmath>
#include <vector>

inline double value_of(double x) { return x; }

template <typename T> T square(const T &x) { return x * x; }

// The logarithm of the sum of exponentials; the shift by the largest does not matter for derivatives.
template <typename T> T log_sum_exp(const T *x, int64_t n) {
    using std::exp, std::log;
    double most = value_of(x[0]);
    for (int64_t i = 1; i < n; i++) most = std::max(most, value_of(x[i]));
    T sum = exp(x[0] - most);
    for (int64_t i = 1; i < n; i++) sum += exp(x[i] - most);
    return log(sum) + most;
}

// ---- GMM: alphas, means and icf follow each other in p

template <typename T> T gmm(const Gmm &g, const T *p) {
    using std::exp;
    const double pi = 3.14159265358979323846;
    int64_t d = g.d, k = g.k, packed = d * (d + 1) / 2;
    const T *alphas = p, *means = p + k, *icf = means + k * d;
    std::vector<T> diagonals(k * d), sums(k), terms(k), y(d);
    T prior = 0;
    for (int64_t c = 0; c < k; c++) {
        const T *q = icf + c * packed;
        T squares = 0, sum = 0;
        for (int64_t j = 0; j < d; j++) {
            diagonals[c * d + j] = exp(q[j]);
            sum += q[j];
            squares += square(diagonals[c * d + j]);
        }
        for (int64_t j = d; j < packed; j++) squares += square(q[j]);
        sums[c] = sum;
        prior += 0.5 * g.gamma * g.gamma * squares - (double)g.m * sum;
    }
    T total = 0;
    for (int64_t i = 0; i < g.n; i++) {
        for (int64_t c = 0; c < k; c++) {
            const T *below = icf + c * packed + d;
            T squares = 0;
            for (int64_t j = 0; j < d; j++) y[j] = g.x[i * d + j] - means[c * d + j];
            for (int64_t row = 0; row < d; row++) {
                T z = diagonals[c * d + row] * y[row];
                for (int64_t j = 0; j < row; j++) z += below[j * (d - 1) - j * (j - 1) / 2 + row - j - 1] * y[j];
                squares += z * z;
            }
            terms[c] = alphas[c] + sums[c] - 0.5 * squares;
        }
        total += log_sum_exp(terms.data(), k);
    }
    double nu = (double)(d + g.m + 1), gamma = 0.25 * (double)(d * (d - 1)) * std::log(pi);
    for (int64_t j = 0; j < d; j++) gamma += std::lgamma(0.5 * nu - 0.5 * (double)j);
    double constant = nu * (double)d * (std::log(g.gamma) - 0.5 * std::log(2)) - gamma;
    return total - (double)g.n * log_sum_exp(alphas, k) - 0.5 * (double)(g.n * d) * std::log(2 * pi) +
           g.sign * (prior - (double)k * constant);
}

// ---- BA: a camera, a point and the weight of an observation follow each other in p

template <typename T> void cross(const T *a, const T *b, T *to) {
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

template <typename T> void rotate(const T *r, const T *x, T *to, bool turned) {
    using std::cos, std::sin, std::sqrt;
    T across[3];
    if (!turned) {
        cross(r, x, across);
        for (int i = 0; i < 3; i++) to[i] = x[i] + across[i];
        return;
    }
    T angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), c = cos(angle), s = sin(angle), v[3];
    for (int i = 0; i < 3; i++) v[i] = r[i] / angle;
    cross(v, x, across);
    T along = (v[0] * x[0] + v[1] * x[1] + v[2] * x[2]) * (1 - c);
    for (int i = 0; i < 3; i++) to[i] = x[i] * c + across[i] * s + v[i] * along;
}

inline bool turned(const double *r) { return r[0] != 0 || r[1] != 0 || r[2] != 0; }

// feat is subtracted from what is seen before it is weighted.
template <typename T> void ba(const T *p, const T &feat0, const T &feat1, bool turned, T *to) {
    const T *x = p + CAMERA;
    T moved[3], y[3];
    for (int i = 0; i < 3; i++) moved[i] = x[i] - p[3 + i];
    rotate(p, moved, y, turned);
    T a = y[0] / y[2], b = y[1] / y[2], rho = a * a + b * b, distortion = 1 + p[9] * rho + p[10] * rho * rho;
    to[0] = p[CAMERA + 3] * (p[6] * distortion * a + p[7] - feat0);
    to[1] = p[CAMERA + 3] * (p[6] * distortion * b + p[8] - feat1);
}

// ---- LSTM: params and extra follow each other in p

template <typename T> T sigmoid(const T &x) {
    using std::exp;
    return 1 / (1 + exp(-x));
}

template <typename T> T lstm(const Lstm &s, const T *p) {
    using std::exp, std::log, std::tanh;
    int64_t b = s.b;
    const T *extra = p + 8 * s.l * b;
    std::vector<T> state(s.state, s.state + 2 * s.l * b), u(b), y(b);
    T total = 0;
    for (int64_t t = 0; t + 1 < s.c; t++) {
        for (int64_t j = 0; j < b; j++) u[j] = s.sequence[t * b + j] * extra[j];
        for (int64_t i = 0; i < s.l; i++) {
            const T *w = p + 8 * i * b, *bias = w + 4 * b;
            T *h = &state[2 * i * b], *c = h + b;
            for (int64_t j = 0; j < b; j++) {
                T forget = sigmoid(T(u[j] * w[j] + bias[j])), in = sigmoid(T(h[j] * w[b + j] + bias[b + j]));
                T out = sigmoid(T(u[j] * w[2 * b + j] + bias[2 * b + j]));
                T change = tanh(h[j] * w[3 * b + j] + bias[3 * b + j]);
                c[j] = c[j] * forget + in * change;
                h[j] = out * tanh(c[j]);
                u[j] = h[j];
            }
        }
        T sum = 2;
        for (int64_t j = 0; j < b; j++) {
            y[j] = u[j] * extra[b + j] + extra[2 * b + j];
            sum += exp(y[j]);
        }
        T norm = log(sum);
        for (int64_t j = 0; j < b; j++) total += s.sequence[(t + 1) * b + j] * (y[j] - norm);
    }
    return -total / (double)(b * (s.c - 1));
}

// ---- HAND: theta and, for the complicated problem, us follow each other in p

template <typename T> struct Affine { T at[3][4]; };

template <typename T, typename A, typename B> Affine<T> after(const A &a, const B &b) {
    Affine<T> to;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            to.at[i][j] = a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j);
            if (j == 3) to.at[i][j] += a(i, 3);
        }
    return to;
}

template <typename T> std::vector<Affine<T>> skeleton(const Hand &h, const T *theta) {
    using std::cos, std::sin;
    std::vector<Affine<T>> frames(h.bones), moves(h.bones);
    for (int64_t bone = 0; bone < h.bones; bone++) {
        int64_t first = 6 + 4 * ((bone - 1) / 4), place = (bone - 1) % 4;
        const double *base = h.base + 16 * bone, *inverse = h.inverse + 16 * bone;
        auto of_base = [&](int i, int j) { return base[4 * i + j]; };
        auto of_inverse = [&](int i, int j) { return inverse[4 * i + j]; };
        Affine<T> own;
        if (bone > 0 && bone <= 20 && place > 0) {
            T x = theta[place == 1 ? first : first + place], z = place == 1 ? theta[first + 1] : T(0);
            T cx = cos(x), sx = sin(x), cz = cos(z), sz = sin(z);
            T turn[3][4] = {{cz, -sz * cx, sz * sx, T(0)}, {sz, cz * cx, -cz * sx, T(0)}, {T(0), sx, cx, T(0)}};
            own = after<T>(of_base, [&](int i, int j) -> const T & { return turn[i][j]; });
        } else {
            for (int i = 0; i < 12; i++) own.at[i / 4][i % 4] = base[i];
        }
        if (h.parents[bone] < 0)
            frames[bone] = own;
        else
            frames[bone] = after<T>([&](int i, int j) -> const T & { return frames[h.parents[bone]].at[i][j]; },
                                    [&](int i, int j) -> const T & { return own.at[i][j]; });
        moves[bone] = after<T>([&](int i, int j) -> const T & { return frames[bone].at[i][j]; }, of_inverse);
    }
    return moves;
}

template <typename T> void global_turn(const T *r, T to[3][3]) {
    using std::cos, std::sin, std::sqrt;
    T squares = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    bool none = std::sqrt(value_of(squares)) < 1e-4;
    if (none) {
        for (int i = 0; i < 9; i++) to[i / 3][i % 3] = i % 4 == 0 ? 1 : 0;
        return;
    }
    T angle = sqrt(squares), c = cos(angle), s = sin(angle), a[3];
    for (int i = 0; i < 3; i++) a[i] = r[i] / angle;
    T cross[3][3] = {{T(0), -a[2], a[1]}, {a[2], T(0), -a[0]}, {-a[1], a[0], T(0)}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            to[i][j] = (1 - c) * a[i] * a[j] + s * cross[i][j];
            if (i == j) to[i][j] += c;
        }
}

// Vertices are placed when a point needs them first.
template <typename T> void hand(const Hand &h, const T *p, T *errors) {
    std::vector<Affine<T>> moves = skeleton(h, p);
    T turn[3][3];
    global_turn(p, turn);
    std::vector<int64_t> place(h.vertices, -1);
    std::vector<T> placed;
    auto at = [&](int64_t v) {
        if (place[v] >= 0) return place[v];
        T posed[3];
        const double *x = h.rest + 3 * v;
        for (int i = 0; i < 3; i++) {
            posed[i] = 0;
            for (int32_t k = h.starts[v]; k < h.starts[v + 1]; k++) {
                const T *m = moves[h.by[k]].at[i];
                posed[i] += h.weights[k] * (m[0] * x[0] + m[1] * x[1] + m[2] * x[2] + m[3]);
            }
        }
        place[v] = (int64_t)placed.size();
        for (int i = 0; i < 3; i++)
            placed.push_back(turn[i][0] * posed[0] + turn[i][1] * posed[1] + turn[i][2] * posed[2] + p[3 + i]);
        return place[v];
    };
    for (int64_t i = 0; i < h.n; i++) {
        if (!h.us) {
            int64_t v = at(h.corr[i]);
            for (int j = 0; j < 3; j++) errors[3 * i + j] = h.points[3 * i + j] - placed[v + j];
            continue;
        }
        const int32_t *corners = h.corners + 3 * h.corr[i];
        const T *u = p + THETAS + 2 * i;
        int64_t v[3] = {at(corners[0]), at(corners[1]), at(corners[2])};
        T rest = 1 - u[0] - u[1];
        for (int j = 0; j < 3; j++)
            errors[3 * i + j] =
                h.points[3 * i + j] - (u[0] * placed[v[0] + j] + u[1] * placed[v[1] + j] + rest * placed[v[2] + j]);
    }
}

// ---- what all tools have alike

// The numbers by which GMM, LSTM and HAND are differentiated.
inline std::vector<double> parameters(const Problem &q) {
    if (q.kind == GMM) {
        const Gmm &g = q.gmm;
        return std::vector<double>(g.alphas, g.alphas + g.k * (g.d + 1) * (g.d + 2) / 2);
    }
    if (q.kind == LSTM) return std::vector<double>(q.lstm.params, q.lstm.params + (8 * q.lstm.l + 3) * q.lstm.b);
    std::vector<double> p(q.hand.theta, q.hand.theta + THETAS);
    if (q.hand.us) p.insert(p.end(), q.hand.us, q.hand.us + 2 * q.hand.n);
    return p;
}

// The inputs of an observation of BA.
inline void observation(const Ba &a, int64_t i, double *p) {
    std::copy_n(a.cams + CAMERA * a.obs[2 * i], CAMERA, p);
    std::copy_n(a.points + 3 * a.obs[2 * i + 1], 3, p + CAMERA);
    p[CAMERA + 3] = a.weights[i];
}

// The structure of the sparse Jacobian, and its part that is the weights'.
inline void ba_structure(const Ba &a, Results *r) {
    int64_t p = a.p;
    for (int64_t row = 0; row <= 3 * p; row++)
        r->starts[row] = row <= 2 * p ? BLOCK * row : 2 * BLOCK * p + row - 2 * p;
    for (int64_t row = 0; row < 2 * p; row++) {
        int64_t i = row / 2;
        int32_t *to = r->places + BLOCK * row;
        for (int k = 0; k < CAMERA; k++) to[k] = CAMERA * a.obs[2 * i] + k;
        for (int k = 0; k < 3; k++) to[CAMERA + k] = int32_t(CAMERA * a.n + 3 * a.obs[2 * i + 1] + k);
        to[CAMERA + 3] = int32_t(CAMERA * a.n + 3 * a.m + i);
    }
    for (int64_t i = 0; i < p; i++) {
        r->places[2 * BLOCK * p + i] = int32_t(CAMERA * a.n + 3 * a.m + i);
        r->derivative[2 * BLOCK * p + i] = -2 * a.weights[i];
    }
}

// Objectives in doubles.
inline void objective_of(const Problem &q, const std::vector<double> &p, Results *r) {
    switch (q.kind) {
    case GMM: r->value[0] = gmm(q.gmm, p.data()); break;
    case LSTM: r->value[0] = lstm(q.lstm, p.data()); break;
    case BA:
        for (int64_t i = 0; i < q.ba.p; i++) {
            double of[BLOCK];
            observation(q.ba, i, of);
            ba(of, q.ba.feats[2 * i], q.ba.feats[2 * i + 1], turned(of), r->value + 2 * i);
            r->value[2 * q.ba.p + i] = 1 - square(q.ba.weights[i]);
        }
        break;
    default: hand(q.hand, p.data(), r->value);
    }
}

#endif
