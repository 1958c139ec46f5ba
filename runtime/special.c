// lgamma, digamma, polygamma and integer powers.
#define _DEFAULT_SOURCE // lgamma_r
#include "special.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

double fsm_lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

double fsm_powi(double x, int64_t n) {
    uint64_t k = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    double r = 1.0;
    for (double p = x; k; k >>= 1, p *= p)
        if (k & 1) r *= p;
    return n < 0 ? 1.0 / r : r;
}

// cot(pi x), reduced so that it is exact at the half integers and accurate near the poles.
static double cot_pi(double x) {
    double r = x - round(x); // -1/2 … 1/2
    if (fabs(r) <= 0.25) return 1.0 / tan(PI * r);
    return r > 0 ? tan(PI * (0.5 - r)) : -tan(PI * (0.5 + r));
}

double fsm_digamma(double x) {
    if (isnan(x) || x == -INFINITY) return NAN;
    if (x == 0) return signbit(x) ? INFINITY : -INFINITY;
    if (x < 0) {
        if (x == floor(x)) return NAN;
        return fsm_digamma(1.0 - x) - PI * cot_pi(x);
    }
    // The zero of digamma; a Taylor series keeps the relative error small around it.
    static const double root_hi = 1.4616321449683622, root_lo = 9.5499954299656977e-17;
    double d = (x - root_hi) - root_lo;
    if (fabs(d) < 1e-2) {
        static const double c[] = {0.96767224544762117,  -0.44276316898359211, 0.25849976095565101,
                                   -0.16394270544240653, 0.10782405069126237,  -0.072199561256454711,
                                   0.048804288164143107, -0.033161126474847359};
        double s = 0.0;
        for (int k = 7; k >= 0; k--) s = s * d + c[k];
        return s * d;
    }
    double r = 0.0;
    for (; x < 10.0; x += 1.0) r -= 1.0 / x;
    double t = 1.0 / (x * x);
    // B_2k / (2k)
    static const double b[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                               1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
    double s = 0.0;
    for (int k = 7; k >= 0; k--) s = (s + b[k]) * t;
    return r + (log(x) - 0.5 / x - s);
}

// sum over k >= 0 of (q / (q + k))^s, for q > 0 and s > 1, by the Euler-Maclaurin formula.
static double scaled_zeta(double s, double q) {
    double sum = 0.0, x = q, enough = 12.0 + s / 2;
    for (; x < enough; x += 1.0) sum += pow(q / x, s);
    double p = pow(q / x, s);
    sum += p * (x / (s - 1.0) + 0.5);
    // B_2k / (2k)!
    static const double b[] = {1.0 / 12,
                               -1.0 / 720,
                               1.0 / 30240,
                               -1.0 / 1209600,
                               1.0 / 47900160,
                               -691.0 / 1307674368000.0,
                               1.0 / 74724249600.0,
                               -3617.0 / 10670622842880000.0,
                               43867.0 / 5109094217170944000.0};
    double factor = s / x;
    for (int k = 0; k < 9; k++) {
        double term = p * b[k] * factor;
        sum += term;
        if (fabs(term) < 1e-18 * sum) break;
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (x * x);
    }
    return sum;
}

// (-1)^(n+1) times the n-th derivative of digamma at x > 0, for n >= 1.
static double positive_polygamma(int64_t n, double x) {
    if (isinf(x)) return 0.0;
    double s = (double)n + 1.0, zeta = scaled_zeta(s, x);
    double factorial = tgamma(s), power = pow(x, -s);
    double scale = factorial * power;
    if (isfinite(factorial) && power >= DBL_MIN && isfinite(scale) && scale > 0) return scale * zeta;
    return exp(fsm_lgamma(s) - s * log(x) + log(zeta));
}

enum { MAX_REFLECTED = 100 };

// The n-th derivative of cot(pi x): a polynomial in c = cot(pi x), since d/dx c = -pi (1 + c^2).
static double cot_derivative(int n, double x) {
    double p[MAX_REFLECTED + 2] = {0, 1}, q[MAX_REFLECTED + 2];
    for (int k = 0; k < n; k++) {
        memset(q, 0, sizeof q);
        for (int i = 1; i <= k + 1; i++) {
            q[i - 1] -= PI * i * p[i];
            q[i + 1] -= PI * i * p[i];
        }
        memcpy(p, q, sizeof p);
    }
    double c = cot_pi(x), r = p[n + 1]; // c may be infinite
    for (int i = n; i >= 0; i--) r = r * c + p[i];
    return r;
}

double fsm_polygamma(int64_t n, double x) {
    if (n < 0 || isnan(x) || x == -INFINITY) return NAN;
    if (n == 0) return fsm_digamma(x);
    bool odd = n & 1;
    if (x == 0) return odd ? INFINITY : signbit(x) ? INFINITY : -INFINITY;
    if (x > 0) return odd ? positive_polygamma(n, x) : -positive_polygamma(n, x);
    if (x == floor(x)) return odd ? INFINITY : NAN;
    if (n > MAX_REFLECTED) return NAN; // the reflection's coefficients would overflow
    // psi_n(1 - x) + (-1)^(n+1) psi_n(x) = (-1)^n pi d^n/dx^n cot(pi x)
    double reflected = fsm_polygamma(n, 1.0 - x), cot = PI * cot_derivative((int)n, x);
    return odd ? -cot - reflected : reflected - cot;
}
