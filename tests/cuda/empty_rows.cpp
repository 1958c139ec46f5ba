// Calls each entry of empty_rows.fsm with 2^62 rows of no elements, and with a few small ones.
#include "empty_rows.h"

#include <cstdio>

static void say(const char *entry, fsm_context *ctx, int code, const double *x, int n) {
    std::printf("%s: %s", entry, code ? fsm_context_error(ctx) : "ok");
    for (int i = 0; i < n; i++) std::printf(" %g", x[i]);
    std::printf("\n");
}

int main() {
    fsm_context *ctx = fsm_context_new();
    const int64_t sizes[][2] = {{INT64_C(1) << 62, 0}, {3, 2}};
    for (auto &s : sizes) {
        const int64_t n = s[0], m = s[1];
        const int all = m ? int(n * m) : 0;
        double x[6] = {0};
        say("made", ctx, made(ctx, n, m, x), x, all);
        say("mapped", ctx, mapped(ctx, n, m, x), x, all);
        say("summed", ctx, summed(ctx, n, m, x), x, 1);
        say("columns", ctx, columns(ctx, n, m, 0.5, x), x, 1);
        say("steps", ctx, steps(ctx, n, m, 0.5, x), x, int(m));
        say("turned", ctx, turned(ctx, n, m, x), x, all);
        say("slope", ctx, slope(ctx, n, m, 0.5, x), x, 1);
    }
    fsm_context_free(ctx);
}
