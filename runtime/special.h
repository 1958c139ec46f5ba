// Special functions that the C library lacks or has only in a form unfit for threads. Internal: compiled programs and
// the interpreters call them by name; they are not part of the public interface.
#ifndef RUNTIME_SPECIAL_H
#define RUNTIME_SPECIAL_H

#include <stdint.h>

// log |gamma(x)|; unlike lgamma it writes no global variable.
double fsm_lgamma(double x);
// The derivative of lgamma: NaN at the negative integers, -inf at +0, +inf at -0.
double fsm_digamma(double x);
// The n-th derivative of digamma; digamma itself for n = 0, NaN for n < 0.
double fsm_polygamma(int64_t n, double x);
// x to the n-th power by repeated squaring; 1 for n = 0, whatever x is.
double fsm_powi(double x, int64_t n);

#endif
