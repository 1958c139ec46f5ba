// lgamma, digamma, polygamma and integer powers (fsmc/special.h), for compiled programs and the interpreters.
#define _DEFAULT_SOURCE // lgamma_r
#include "special.h"

#include "fsmc/special.h"

double fsm_lgamma(double x) { return special_lgamma(x); }
double fsm_digamma(double x) { return special_digamma(x); }
double fsm_polygamma(int64_t n, double x) { return special_polygamma(n, x); }
double fsm_powi(double x, int64_t n) { return special_powi(x, n); }
