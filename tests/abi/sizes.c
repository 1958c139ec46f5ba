// Sizes whose products overflow, arrays without elements, allocators that fail, and calls that need no more memory.
#include "sizes.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static double x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8], out;
static int64_t table_[8];
static long calls, failing = LONG_MAX, live; // from call `failing` on, there is no memory

static void *alloc(size_t size, void *data) {
    (void)data;
    if (calls++ >= failing) return NULL;
    live++;
    return malloc(size);
}

static void release(void *memory, void *data) {
    (void)data;
    live--;
    free(memory);
}

static void show(fsm_context *ctx, const char *what, int code) { printf("%s: %d %s\n", what, code, fsm_context_error(ctx)); }

static void sizes(fsm_context *ctx) {
    const int64_t max = INT64_MAX, two32 = INT64_C(1) << 32;
    show(ctx, "double_ max", double_(ctx, max, x, y));
    show(ctx, "double_ max/8 + 1", double_(ctx, max / 8 + 1, x, y));
    show(ctx, "double_ min", double_(ctx, INT64_MIN, x, y));
    show(ctx, "double_ 0", double_(ctx, 0, NULL, NULL));
    show(ctx, "product 2^32 2^32", product(ctx, two32, two32, x, x, y));
    show(ctx, "product max max", product(ctx, max, max, NULL, NULL, NULL));
    show(ctx, "product max 0", product(ctx, max, 0, NULL, NULL, NULL));
    show(ctx, "product 0 2", product(ctx, 0, 2, NULL, x, NULL));
    show(ctx, "product 2 0", product(ctx, 2, 0, NULL, NULL, y));
    show(ctx, "table 2^32 2^29", table(ctx, two32, two32 / 8, NULL));
    show(ctx, "table -1 2", table(ctx, -1, 2, table_));
    show(ctx, "table 0 -1", table(ctx, 0, -1, table_));
    show(ctx, "table 2 4", table(ctx, 2, 4, table_));
    show(ctx, "stored max/8 + 1", stored(ctx, max / 8 + 1, 1, &out));
    show(ctx, "stored -1", stored(ctx, -1, 1, &out));
    show(ctx, "stored 8", stored(ctx, 8, 1, &out));
}

int main(void) {
    fsm_context *ctx = fsm_context_new();
    sizes(ctx);
    fsm_context_free(ctx);
    fsm_allocator allocator = {alloc, release, NULL};
    for (int k = 0; k < 3; k++) {
        calls = 0;
        failing = k;
        ctx = fsm_context_new_with(allocator);
        if (!ctx) {
            puts("no context");
            continue;
        }
        show(ctx, "with little memory", stored(ctx, 3000, 1, &out));
        failing = LONG_MAX;
        show(ctx, "then", stored(ctx, 3000, 1, &out));
        fsm_context_free(ctx);
    }
    failing = LONG_MAX;
    ctx = fsm_context_new_with(allocator);
    stored(ctx, 64, 1, &out);
    calls = 0;
    for (int i = 0; i < 1000; i++) {
        stored(ctx, i % 64, 1, &out);
        double_(ctx, -1, x, y);
    }
    printf("allocations in 1000 calls: %ld\n", calls);
    fsm_context_free(ctx);
    printf("not given back: %ld\n", live);
    ctx = fsm_context_new();
    double v[2] = {1, 2}, a, b, c;
    if (names(ctx, 2, v, 1, &a) || names__empty(ctx, 2, v, 1, &b) || text(ctx, 2, v, 1, &c)) puts(fsm_context_error(ctx));
    printf("names of their own: %g %g %g\n", a, b, c);
    fsm_context_free(ctx);
    return 0;
}
