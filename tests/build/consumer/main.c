#include "made.h"
#include "models/inner/model.h"
#include "models/model.h"

#include <stdio.h>

int main(void) {
    double x[] = {1, 2, 3}, dx, dy, s, m;
    fsm_context *ctx = fsm_context_new();
    int code = outer(ctx, 2, 3, &dx, &dy) | inner(ctx, 3, x, &s) | made(ctx, 1, &m);
    printf("C: %d %g %g %g %g\n", code, dx, dy, s, m);
    fsm_context_free(ctx);
    return code;
}
