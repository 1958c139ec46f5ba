// The objectives of bench/coarsening in C++, differentiated by ADOL-C. Plain loops over numbers, as one writes them in C; the
// tape is made once and used again for every gradient, in memory: what ADOL-C's manual says is fastest.
//
// usage: adolc bgd_hyperopt R STEPS X Y | brachistochrone WIDTH DEPTH DROPS | cartpole START PUSHES | hmc BETA X Y
//        | hookean_spring STIFFNESS POSITIONS ENDS REST | qwop SCHEDULE MASS    (files of NumPy, and numbers)
// Prints the nanoseconds of a gradient, those of the fastest of 15 batches, and the gradient as JSON.
#include <adolc/adolc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

typedef std::vector<double> Numbers;
typedef std::vector<adouble> Actives;

// The elements of a file of NumPy, of doubles or 64-bit integers.
static Numbers load(const char *name) {
    FILE *f = fopen(name, "rb");
    if (!f) exit((perror(name), 2));
    unsigned char head[10];
    if (fread(head, 1, 10, f) != 10) exit(2);
    std::string text(head[8] + 256 * head[9], ' ');
    if (fread(&text[0], 1, text.size(), f) != text.size()) exit(2);
    bool whole = text.find("<i8") != std::string::npos;
    Numbers out;
    double d;
    int64_t i;
    while (whole ? fread(&i, 8, 1, f) == 1 : fread(&d, 8, 1, f) == 1) out.push_back(whole ? (double)i : d);
    fclose(f);
    return out;
}

static adouble square(const adouble &x) { return x * x; }

// ---- bgd_hyperopt

static adouble remaining(const adouble &r, const Numbers &x, const Numbers &y, int steps) {
    int n = (int)x.size();
    adouble w = 0;
    bool flat = false;
    for (int k = 0; k < steps && !flat; k++) {
        adouble d = 0;
        for (int i = 0; i < n; i++) d += 2 * x[i] * (y[i] - x[i] * w);
        d /= n;
        flat = d.value() < 0.001;
        if (!flat) w += r * d;
    }
    adouble sum = 0;
    for (int i = 0; i < n; i++) sum += square(y[i] - x[i] * w);
    return sqrt(sum) / n;
}

// ---- brachistochrone

static adouble duration(const Actives &drops, double width, double depth) {
    int n = (int)drops.size();
    double dx = width / (n + 1), root = std::sqrt(2 * 9.81);
    adouble total = 0, above = 0, speed = 0;
    for (int i = 0; i <= n; i++) {
        adouble below = i < n ? drops[i] : adouble(depth);
        adouble faster = root * sqrt(below);
        total += 2 * sqrt(dx * dx + square(below - above)) / (speed + faster);
        above = below, speed = faster;
    }
    return total;
}

// ---- cartpole

static adouble loss(const Numbers &start, const Actives &pushes) {
    adouble x = start[0], v = start[1], angle = start[2], spin = start[3], total = 0;
    for (size_t t = 0; t < pushes.size(); t++) {
        adouble s = sin(angle), c = cos(angle);
        adouble r = 9 * pushes[t] + 0.045 * square(spin) * s;
        adouble q = (9.8 * s - r * c) / (0.65 - 0.4 * square(c));
        adouble p = r - 0.045 * q * c;
        adouble x2 = x + 0.02 * v, v2 = v + 0.02 * p, angle2 = angle + 0.02 * spin, spin2 = spin + 0.02 * q;
        x = x2, v = v2, angle = angle2, spin = spin2;
        total += square(0.5 - fmax(0.0, (2.4 - fabs(x)) * (0.21 - fabs(angle))));
    }
    return total;
}

// ---- hmc

static adouble log_posterior(const Actives &beta, const Numbers &x, const Numbers &y) {
    size_t n = y.size(), d = beta.size();
    adouble total = 0;
    for (size_t i = 0; i < n; i++) {
        adouble score = 0;
        for (size_t j = 0; j < d; j++) score += x[i * d + j] * beta[j];
        total += (y[i] - 1) * score;
        if (score.value() < -80) total += score;
        else total -= log(1 + exp(-score));
    }
    for (size_t j = 0; j < d; j++) total -= square(beta[j]) / 2000;
    return total;
}

// ---- hookean_spring

static adouble energy(const Actives &p, const Numbers &ends, const Numbers &rest, double stiffness) {
    adouble total = 0;
    for (size_t s = 0; s < rest.size(); s++) {
        size_t a = (size_t)ends[2 * s], b = (size_t)ends[2 * s + 1];
        adouble way = sqrt(square(p[2 * b] - p[2 * a]) + square(p[2 * b + 1] - p[2 * a + 1]));
        total += 0.5 * stiffness * square(way - rest[s]);
    }
    return total;
}

// ---- qwop

namespace qwop {
const double standing[9][2] = {{0.05, 1.65}, {0, 1.4}, {0, 0.9}, {0.15, 0.45}, {0.2, 0}, {-0.05, 0.45}, {-0.2, 0}, {-0.2, 0.95}, {0.25, 0.95}};
const int bones[8][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {2, 5}, {5, 6}, {1, 7}, {1, 8}};
const int muscles[7][2] = {{0, 2}, {1, 3}, {1, 5}, {2, 4}, {2, 6}, {2, 7}, {2, 8}};
const int legs[2][3] = {{2, 3, 4}, {2, 5, 6}};
const double dt = 0.005;

struct Pair {
    adouble x, y;
};

adouble norm(const Pair &v) { return sqrt(square(v.x) + square(v.y)); }

adouble clamp(const adouble &lo, const adouble &hi, const adouble &x) { return x < lo ? lo : x > hi ? hi : x; }

void cap(double most, Pair &v) {
    adouble length = norm(v);
    if (!(length > most)) return;
    adouble by = most / length;
    v.x *= by, v.y *= by;
}

double rest_length(const int *rod) {
    return std::hypot(standing[rod[1]][0] - standing[rod[0]][0], standing[rod[1]][1] - standing[rod[0]][1]);
}

Pair pull(const Pair *p, const Pair *v, const int *rod, const adouble &rest, double stiffness, double damping) {
    Pair way = {p[rod[1]].x - p[rod[0]].x, p[rod[1]].y - p[rod[0]].y};
    adouble dx = v[rod[1]].x - v[rod[0]].x, dy = v[rod[1]].y - v[rod[0]].y, now = norm(way);
    adouble by = (stiffness * (now - rest) + damping * (way.x * dx + way.y * dy) / now) / now;
    return {by * way.x, by * way.y};
}

void add_at_ends(Pair *force, const int *rod, const Pair &f) {
    force[rod[0]].x += f.x, force[rod[0]].y += f.y;
    force[rod[1]].x -= f.x, force[rod[1]].y -= f.y;
}

void knees(Pair *force, const Pair *p) {
    for (const int *leg : legs) {
        adouble bend = (p[leg[1]].x - p[leg[0]].x) * (p[leg[2]].y - p[leg[1]].y) - (p[leg[1]].y - p[leg[0]].y) * (p[leg[2]].x - p[leg[1]].x);
        if (!(bend > 0)) continue;
        adouble push = 4000 * bend;
        force[leg[1]].x += push, force[leg[0]].x -= 0.5 * push, force[leg[2]].x -= 0.5 * push;
    }
}

void ground(Pair &force, const Pair &p, const Pair &v) {
    adouble depth = -p.y;
    if (!(depth > 0)) return;
    adouble lift = fmax(0.0, 8000 * depth - 60 * v.y), grip = 0.9 * lift;
    force.x += clamp(-grip, grip, -120 * v.x), force.y += lift;
}

void move(Pair *p, Pair *v, const adouble *extension, const Numbers &mass) {
    Pair force[9];
    for (int i = 0; i < 9; i++) force[i] = {0, -9.81 * mass[i]};
    for (const int *rod : bones) add_at_ends(force, rod, pull(p, v, rod, rest_length(rod), 6000, 20));
    for (int k = 0; k < 7; k++) {
        adouble rest = rest_length(muscles[k]) * (0.8 + 0.4 * clamp(0, 1, extension[k]));
        Pair f = pull(p, v, muscles[k], rest, 1200, 15);
        cap(400, f);
        add_at_ends(force, muscles[k], f);
    }
    knees(force, p);
    for (int i = 0; i < 9; i++) {
        ground(force[i], p[i], v[i]);
        adouble drag = 0.2 * sqrt(fmax(square(v[i].x) + square(v[i].y), 1e-300));
        force[i].x -= drag * v[i].x, force[i].y -= drag * v[i].y;
    }
    for (int i = 0; i < 9; i++) {
        v[i].x += dt / mass[i] * force[i].x, v[i].y += dt / mass[i] * force[i].y;
        cap(15, v[i]);
        p[i].x += dt * v[i].x, p[i].y += dt * v[i].y;
    }
}

adouble middle(const Pair *p, const Numbers &mass) {
    adouble sum = 0;
    double whole = 0;
    for (int i = 0; i < 9; i++) sum += mass[i] * p[i].x, whole += mass[i];
    return sum / whole;
}

adouble cost(const Actives &schedule, const Numbers &mass) {
    Pair p[9], v[9];
    for (int i = 0; i < 9; i++) p[i] = {standing[i][0], standing[i][1]}, v[i] = {0, 0};
    adouble before = middle(p, mass), low = 0, effort = 0;
    size_t steps = schedule.size() / 7;
    for (size_t t = 0; t < steps; t++) {
        move(p, v, &schedule[7 * t], mass);
        if (p[0].y < 1.4) low += square(1.4 - p[0].y);
    }
    for (size_t t = 0; t + 7 < schedule.size(); t++) effort += square(schedule[t + 7] - schedule[t]);
    return before - middle(p, mass) + 2.5 * low + 0.001 * effort;
}
} // namespace qwop

// ---- the whole

static double now_ns() {
    return (double)std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

typedef std::function<adouble(const Actives &)> Objective;

static void record(const Numbers &x, const Objective &objective) {
    Actives a(x.size());
    double y;
    for (size_t i = 0; i < x.size(); i++) a[i] <<= x[i];
    adouble result = objective(a);
    result >>= y;
    trace_off();
}

static int measure(const Numbers &x, const Objective &objective) {
    enum { BATCHES = 15 };
    const double least = 0.2e9 / BATCHES;
    int n = (int)x.size();
    size_t size[STAT_SIZE];
    trace_on(1, 1);
    record(x, objective);
    tapestats(1, size);
    // Buffers that the tape just fits, so that none of it goes to files.
    trace_on(1, 1, size[NUM_OPERATIONS] + 1024, size[NUM_LOCATIONS] + 1024, size[NUM_VALUES] + 1024, size[TAY_STACK_SIZE] + 1024);
    record(x, objective);
    Numbers g(n), point = x, times;
    long calls = 1;
    for (double t = 0; t < least; calls = t < least ? 2 * calls : calls) {
        double start = now_ns();
        for (long k = 0; k < calls; k++) gradient(1, n, point.data(), g.data());
        t = now_ns() - start;
    }
    for (int b = 0; b < BATCHES; b++) {
        double start = now_ns();
        for (long k = 0; k < calls; k++) gradient(1, n, point.data(), g.data());
        times.push_back((now_ns() - start) / (double)calls);
    }
    std::sort(times.begin(), times.end());
    printf("%.1f\n[", times[0]);
    for (int i = 0; i < n; i++) printf("%s%.17g", i ? ", " : "", g[i]);
    printf("]\n");
    return 0;
}

int main(int argc, char **argv) {
    std::string program = argc > 1 ? argv[1] : "";
    auto number = [&](int k) { return atof(argv[k]); };
    if (program == "bgd_hyperopt" && argc == 6) {
        Numbers x = load(argv[4]), y = load(argv[5]);
        return measure({number(2)}, [&](const Actives &a) { return remaining(a[0], x, y, (int)number(3)); });
    }
    if (program == "brachistochrone" && argc == 5)
        return measure(load(argv[4]), [&](const Actives &a) { return duration(a, number(2), number(3)); });
    if (program == "cartpole" && argc == 4) {
        Numbers start = load(argv[2]);
        return measure(load(argv[3]), [&](const Actives &a) { return loss(start, a); });
    }
    if (program == "hmc" && argc == 5) {
        Numbers x = load(argv[3]), y = load(argv[4]);
        return measure(load(argv[2]), [&](const Actives &a) { return log_posterior(a, x, y); });
    }
    if (program == "hookean_spring" && argc == 6) {
        Numbers ends = load(argv[4]), rest = load(argv[5]);
        return measure(load(argv[3]), [&](const Actives &a) { return energy(a, ends, rest, number(2)); });
    }
    if (program == "qwop" && argc == 4) {
        Numbers mass = load(argv[3]);
        return measure(load(argv[2]), [&](const Actives &a) { return qwop::cost(a, mass); });
    }
    fprintf(stderr, "usage: see the head of adolc.cpp\n");
    return 2;
}
