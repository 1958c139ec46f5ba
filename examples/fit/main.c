// Fits a·exp(-b·t) to four measurements by gradient descent.
#include "decay.h"

#include <stdio.h>

int main(void) {
    const double t[] = {0, 1, 2, 3}, y[] = {2, 1.2, 0.8, 0.4};
    double a = 1, b = 1, loss, da, db;
    fsm_context *ctx = fsm_context_new();
    for (int i = 0; i < 500; i++) {
        if (decay(ctx, 4, a, b, t, y, &loss, &da, &db)) {
            fprintf(stderr, "%s\n", fsm_context_error(ctx));
            return 1;
        }
        a -= 0.1 * da;
        b -= 0.1 * db;
    }
    printf("%.4f * exp(-%.4f t), loss %.6f\n", a, b, loss);
    fsm_context_free(ctx);
    return 0;
}
