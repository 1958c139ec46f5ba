#include "fit.h"
#include <stdio.h>
int main(void) {
    double x[] = {0, 1, 2}, y[] = {1, 3, 4}, value, da, db;
    fsm_context *ctx = fsm_context_new();
    if (fit(ctx, 3, 1, 0, x, y, &value, &da, &db)) puts(fsm_context_error(ctx));
    else printf("%g, gradient %g %g\n", value, da, db);
    fsm_context_free(ctx);
}
