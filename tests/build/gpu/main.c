#include "models/rows.h"
#include <stdio.h>

int main(void) {
    const double a[] = {1, 2, 3, 10, 20, 30};
    double sums[2];
    fsm_context *ctx = fsm_context_new();
    if (rows(ctx, 2, 3, a, sums)) puts(fsm_context_error(ctx));
    else printf("%g %g\n", sums[0], sums[1]);
    fsm_context_free(ctx);
}
