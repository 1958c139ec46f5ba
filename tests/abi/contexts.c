// Contexts that cannot be used: none, freed, foreign, in use; and an object of another version.
#include "contexts.h"
#include "fsmc/runtime_internal.h"

#include <stdio.h>
#include <string.h>

static double x[2] = {1, 2}, y[2];

static void show(const char *what, fsm_context *ctx, int code) {
    printf("%s: %s\n  %s\n", what, fsm_code_name(code), fsm_context_error(ctx));
}

// An entry that runs without taking the context says the same of contexts, and of what went wrong.
static void small(fsm_context *ctx, const char *what) {
    double z = 0;
    int code = square(ctx, 3, &z);
    printf("%s, small: %s %g\n  %s\n", what, fsm_code_name(code), z, fsm_context_error(ctx));
}

static void works(fsm_context *ctx) {
    int code = twice(ctx, 2, x, y);
    printf("  next call: %d, %g %g\n", code, y[0], y[1]);
}

int main(void) {
    fsm_context *ctx = fsm_context_new(), *freed = fsm_context_new();
    fsm_context_free(freed);
    fsm_context_free(freed);
    char memory[4096];
    memset(memory, 0x55, sizeof memory);
    show("NULL", NULL, twice(NULL, 2, x, y));
    show("freed", freed, twice(freed, 2, x, y));
    show("memory", (fsm_context *)(void *)memory, twice((fsm_context *)(void *)memory, 2, x, y));
    show("zeros", (fsm_context *)(void *)y, twice((fsm_context *)(void *)y, 2, x, y));
    show("no address", (fsm_context *)(uintptr_t)0x1001, twice((fsm_context *)(uintptr_t)0x1001, 2, x, y));
    show("inside a context", (fsm_context *)(void *)((char *)ctx + 8), twice((fsm_context *)(void *)((char *)ctx + 8), 2, x, y));
    small(NULL, "NULL");
    small(freed, "freed");
    small((fsm_context *)(void *)memory, "memory");
    small(ctx, "fine");
    show("no output, small", ctx, square(ctx, 3, NULL));
    small(ctx, "after it");
    fsm_context_cancel(ctx);
    small(ctx, "cancelled");
    small(ctx, "after it");
    fsm_context_cancel((fsm_context *)(void *)memory);
    fsm_context_free((fsm_context *)(void *)memory);
    works(ctx);
    static const fsm_entry_info none = {.abi = FSM_ABI_VERSION, .name = "none"};
    static const fsm_entry_info other = {.abi = FSM_ABI_VERSION + 1, .name = "other"};
    fsm_begin(ctx, &none);
    show("in use", ctx, twice(ctx, 2, x, y));
    small(ctx, "in use");
    fsm_end(ctx);
    works(ctx);
    show("another version", ctx, fsm_begin(ctx, &other));
    works(ctx);
    fsm_begin(ctx, &none);
    fsm_context_free(ctx); // waits for the end of the call
    show("freed in use", ctx, twice(ctx, 2, x, y));
    fsm_end(ctx);
    fsm_context *many[5000];
    int bad = 0;
    for (int i = 0; i < 5000; i++) many[i] = fsm_context_new();
    for (int i = 0; i < 5000; i++) bad += twice(many[i], 2, x, y) != FSM_OK;
    for (int i = 0; i < 5000; i += 2) fsm_context_free(many[i]);
    for (int i = 0; i < 5000; i++) bad += twice(many[i], 2, x, y) != (i % 2 ? FSM_OK : FSM_ERROR_BAD_CONTEXT);
    for (int i = 1; i < 5000; i += 2) fsm_context_free(many[i]);
    printf("5000 contexts: %d wrong\n", bad);
    printf("%s\n", fsm_code_name(99));
    return 0;
}
