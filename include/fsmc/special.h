// lgamma, digamma, polygamma and integer powers, in what C11, C++ and CUDA share: the run-time library and kernels compute
// the same. Not for users.
#ifndef FSMC_SPECIAL_H
#define FSMC_SPECIAL_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define FSM_SPECIAL static inline __host__ __device__
#else
#define FSM_SPECIAL static inline
#endif
#define FSM_PI 3.14159265358979323846

// log |gamma(x)|; unlike lgamma of the C library it writes no global variable.
FSM_SPECIAL double special_lgamma(double x) {
#ifdef __CUDA_ARCH__
    return lgamma(x);
#else
    int sign;
    return lgamma_r(x, &sign);
#endif
}

FSM_SPECIAL double special_powi(double x, int64_t n) {
    uint64_t k = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    double r = 1.0;
    for (double p = x; k; k >>= 1, p *= p)
        if (k & 1) r *= p;
    return n < 0 ? 1.0 / r : r;
}

// cot(pi x), reduced so that it is exact at the half integers and accurate near the poles.
FSM_SPECIAL double special_cot_pi(double x) {
    double r = x - round(x); // -1/2 … 1/2
    if (fabs(r) <= 0.25) return 1.0 / tan(FSM_PI * r);
    return r > 0 ? tan(FSM_PI * (0.5 - r)) : -tan(FSM_PI * (0.5 + r));
}

FSM_SPECIAL double special_digamma_positive(double x) {
    // The zero of digamma; a Taylor series keeps the relative error small around it.
    const double root_hi = 1.4616321449683622, root_lo = 9.5499954299656977e-17;
    double d = (x - root_hi) - root_lo;
    if (fabs(d) < 1e-2) {
        const double c[] = {0.96767224544762117,  -0.44276316898359211, 0.25849976095565101,
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
    const double b[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                        1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
    double s = 0.0;
    for (int k = 7; k >= 0; k--) s = (s + b[k]) * t;
    return r + (log(x) - 0.5 / x - s);
}

FSM_SPECIAL double special_digamma(double x) {
    if (isnan(x) || x == -INFINITY) return NAN;
    if (x == 0) return signbit(x) ? INFINITY : -INFINITY;
    if (x > 0) return special_digamma_positive(x);
    if (x == floor(x)) return NAN;
    return special_digamma_positive(1.0 - x) - FSM_PI * special_cot_pi(x);
}

// sum over k >= 0 of (q / (q + k))^s, for q > 0 and s > 1, by the Euler-Maclaurin formula.
FSM_SPECIAL double special_scaled_zeta(double s, double q) {
    double sum = 0.0, x = q, enough = 12.0 + s / 2;
    for (; x < enough; x += 1.0) sum += pow(q / x, s);
    double p = pow(q / x, s);
    sum += p * (x / (s - 1.0) + 0.5);
    // B_2k / (2k)!
    const double b[] = {1.0 / 12,
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
FSM_SPECIAL double special_polygamma_positive(int64_t n, double x) {
    if (isinf(x)) return 0.0;
    double s = (double)n + 1.0, zeta = special_scaled_zeta(s, x);
    double factorial = tgamma(s), power = pow(x, -s);
    double scale = factorial * power;
    if (isfinite(factorial) && power >= DBL_MIN && isfinite(scale) && scale > 0) return scale * zeta;
    return exp(special_lgamma(s) - s * log(x) + log(zeta));
}

enum { FSM_MAX_REFLECTED = 100 };

// The n-th derivative of cot(pi x): a polynomial in c = cot(pi x), since d/dx c = -pi (1 + c^2).
FSM_SPECIAL double special_cot_derivative(int n, double x) {
    double p[FSM_MAX_REFLECTED + 2] = {0, 1}, q[FSM_MAX_REFLECTED + 2];
    for (int k = 0; k < n; k++) {
        memset(q, 0, sizeof q);
        for (int i = 1; i <= k + 1; i++) {
            q[i - 1] -= FSM_PI * i * p[i];
            q[i + 1] -= FSM_PI * i * p[i];
        }
        memcpy(p, q, sizeof p);
    }
    double c = special_cot_pi(x), r = p[n + 1]; // c may be infinite
    for (int i = n; i >= 0; i--) r = r * c + p[i];
    return r;
}

FSM_SPECIAL double special_polygamma(int64_t n, double x) {
    if (n < 0 || isnan(x) || x == -INFINITY) return NAN;
    if (n == 0) return special_digamma(x);
    bool odd = n & 1;
    if (x == 0) return odd ? INFINITY : signbit(x) ? INFINITY : -INFINITY;
    if (x > 0) return odd ? special_polygamma_positive(n, x) : -special_polygamma_positive(n, x);
    if (x == floor(x)) return odd ? INFINITY : NAN;
    if (n > FSM_MAX_REFLECTED) return NAN; // the reflection's coefficients would overflow
    // psi_n(1 - x) + (-1)^(n+1) psi_n(x) = (-1)^n pi d^n/dx^n cot(pi x)
    double reflected = special_polygamma_positive(n, 1.0 - x), cot = FSM_PI * special_cot_derivative((int)n, x);
    return -(odd ? cot + reflected : reflected + cot);
}

#endif
