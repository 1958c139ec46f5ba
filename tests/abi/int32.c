// Arguments and results of Int32 in both forms of an entry: values, strides, what shares memory, alignment, types, and
// results that do not fit.
#include "int32.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static fsm_context *ctx;
static int32_t x[] = {1, 2, 3, -4, 5, INT32_MAX - 1}, out[12];

static void show(const char *what, int code, int stride) {
    printf("%s: %s", what, code ? fsm_code_name(code) : "");
    if (code) printf(": %s\n", fsm_context_error(ctx));
    for (int i = 0; i < 6 && !code; i++) printf(" %" PRId32, out[i * stride]);
    if (!code) puts("");
    memset(out, 0, sizeof out);
}

static void views(void) {
    const int64_t shape[] = {2, 3}, back[] = {3, 2}, columns[] = {4, 8}, apart[] = {16, 8}, same[] = {4, 4};
    fsm_view in = {x, FSM_INT32, 2, shape, NULL}, to = {out, FSM_INT32, 2, back, NULL};
    show("views", turned_general(ctx, &in, 1, &to), 1);
    in.strides = columns;
    show("by columns", turned_general(ctx, &in, 1, &to), 1);
    to.strides = apart;
    show("apart", turned_general(ctx, &in, 1, &to), 2);
    to.strides = same;
    show("elements that share memory", turned_general(ctx, &in, 1, &to), 1);
    to = (fsm_view){x + 5, FSM_INT32, 2, back, NULL};
    show("overlap", turned_general(ctx, &in, 1, &to), 1);
    in.type = FSM_INT;
    show("Int", turned_general(ctx, &in, 1, &to), 1);
    char bytes[sizeof x + 1];
    memcpy(bytes + 1, x, sizeof x);
    in = (fsm_view){bytes + 1, FSM_INT32, 2, shape, NULL}, to = (fsm_view){out, FSM_INT32, 2, back, NULL};
    show("misaligned", turned_general(ctx, &in, 1, &to), 1);
}

int main(void) {
    static _Alignas(8) int32_t wide[12];
    int64_t n = 0;
    ctx = fsm_context_new();
    show("plain", turned(ctx, 2, 3, x, 1, out), 1);
    show("too large", turned(ctx, 2, 3, x, 2, out), 1);
    show("least", turned(ctx, 2, 1, x, INT32_MIN, out), 1);
    x[0] = -1;
    show("too small", turned(ctx, 1, 1, x, INT32_MIN, out), 1);
    x[0] = 1;
    show("4 bytes along", turned(ctx, 1, 6, wide + 1, 7, out), 1);
    show("2 bytes along", turned(ctx, 2, 2, (int32_t *)(void *)((char *)wide + 2), 1, out), 1);
    show("next to each other", turned(ctx, 2, 3, wide, 1, wide + 6), 1);
    show("overlap", turned(ctx, 2, 3, wide, 1, wide + 5), 1);
    views();
    int code = upto_sizes(ctx, x + 2, &n);
    printf("sizes: %d %" PRId64 "\n", code, n);
    show("upto", upto(ctx, x + 2, out), 1);
    fsm_context_free(ctx);
}
