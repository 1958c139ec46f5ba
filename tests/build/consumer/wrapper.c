#include "models/inner/model.h"

double norm2(int64_t n, const double *x);

double norm2(int64_t n, const double *x) {
    double result = -1;
    fsm_context *ctx = fsm_context_new();
    inner(ctx, n, x, &result);
    fsm_context_free(ctx);
    return result;
}
