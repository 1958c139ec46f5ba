// Every way in which a caller can be wrong gives its code, leaves the inputs alone, and spoils no later call.
#include "errors.h"

#include <stdio.h>
#include <string.h>

static double x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8}, products[4], picked;
static fsm_context *ctx;

static void show(const char *what, int code) {
    static const double x0[4] = {1, 2, 3, 4}, y0[4] = {5, 6, 7, 8};
    printf("%s: %d%s\n", what, code, memcmp(x, x0, sizeof x) || memcmp(y, y0, sizeof y) ? ", inputs changed" : "");
    if ((code != FSM_OK) != (*fsm_context_error(ctx) != 0)) printf("  the text does not fit the code\n");
    if (code == FSM_ERROR_NULL || code == FSM_ERROR_OVERLAP || code == FSM_ERROR_CANCELLED)
        printf("  %s\n", fsm_context_error(ctx));
}

static void works(void) {
    memset(products, 0, sizeof products);
    int code = pick(ctx, 4, x, y, 2, products, &picked);
    printf("  next call: %d, %g %g %g %g, %g\n", code, products[0], products[1], products[2], products[3], picked);
}

int main(void) {
    printf("version: %s\n", fsm_abi_version() == FSM_ABI_VERSION ? "ok" : "differs");
    printf("no context: %d\n", pick(NULL, 4, x, y, 2, products, &picked));
    ctx = fsm_context_new();
    works();
    show("negative size", pick(ctx, -4, x, y, 2, products, &picked));
    works();
    show("input NULL", pick(ctx, 4, x, NULL, 2, products, &picked));
    show("output NULL", pick(ctx, 4, x, y, 2, NULL, &picked));
    show("scalar output NULL", pick(ctx, 4, x, y, 2, products, NULL));
    works();
    show("index too large", pick(ctx, 4, x, y, 4, products, &picked));
    show("index negative", pick(ctx, 4, x, y, -1, products, &picked));
    show("empty arrays", pick(ctx, 0, NULL, NULL, 0, NULL, &picked));
    works();
    show("output is an input", pick(ctx, 4, x, y, 2, y, &picked));
    show("output begins in an input", pick(ctx, 4, x, y, 2, x + 3, &picked));
    show("outputs overlap", pick(ctx, 4, x, y, 2, products, &products[3]));
    show("outputs touch", pick(ctx, 3, x, y, 2, products, &products[3]));
    show("the same input twice", pick(ctx, 4, x, x, 2, products, &picked));
    fsm_context_cancel(ctx);
    show("cancelled", pick(ctx, 4, x, y, 2, products, &picked));
    works();
    fsm_context_free(ctx);
    fsm_context_free(NULL);
    return 0;
}
