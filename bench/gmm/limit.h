// The objective of examples/gmm.fsm and its gradient, written by hand for speed (docs/benchmarks.md).
#include <stdint.h>

typedef struct Mixture {
    int64_t d, k, n;
    const double *alphas, *means, *icf, *x;
    double gamma;
    int64_t m;
} Mixture;

// Memory for the calls, which is used again; `mixture` is read by each call.
typedef struct Limit Limit;
Limit *limit_new(const Mixture *mixture);
void limit_free(Limit *limit);

double limit_objective(Limit *limit);
void limit_gradient(Limit *limit, double *alphas, double *means, double *icf);
