// 64 threads with a context each, 1,000 calls each: right results, errors that are each one's own, and cancellation from
// the outside.
#include "threads.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 64, CALLS = 1000, N = 40 };

typedef struct Worker {
    pthread_t thread;
    fsm_context *ctx;
    int number, wrong, cancelled;
} Worker;

static double x[N], want[N], want_sum;

static int call(Worker *w, int i) {
    double out[N], sum;
    int64_t n = i % 7 ? N : -1 - w->number, k = i % 5 ? 2 : N + w->number;
    int code = mixed(w->ctx, n, x, k, out, &sum);
    char text[200];
    if (code == FSM_ERROR_CANCELLED) return ++w->cancelled, 0;
    if (n < 0) {
        snprintf(text, sizeof text, "the size `n` is %d: it cannot be negative", (int)n);
        return code != FSM_ERROR_NEGATIVE || !strstr(fsm_context_error(w->ctx), text);
    }
    if (k >= N) {
        snprintf(text, sizeof text, "index %d is out of range for an array of %d elements", (int)k, N);
        return code != FSM_ERROR_BOUNDS || !strstr(fsm_context_error(w->ctx), text);
    }
    return code || memcmp(out, want, sizeof out) || sum != want_sum || *fsm_context_error(w->ctx);
}

static void *work(void *data) {
    Worker *w = data;
    for (int i = 0; i < CALLS; i++) w->wrong += call(w, i);
    return NULL;
}

int main(void) {
    static Worker worker[THREADS];
    int wrong = 0, cancelled = 0, asked = 0;
    for (int i = 0; i < N; i++) x[i] = (double)i / N - 0.3;
    fsm_context *ctx = fsm_context_new();
    if (mixed(ctx, N, x, 2, want, &want_sum)) puts(fsm_context_error(ctx));
    fsm_context_free(ctx);
    for (int i = 0; i < THREADS; i++) worker[i] = (Worker){.ctx = fsm_context_new(), .number = i};
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&worker[i].thread, NULL, work, &worker[i])) return 1;
    for (int i = 0; i < THREADS; i += 2, asked++) fsm_context_cancel(worker[i].ctx);
    for (int i = 0; i < THREADS; i++) pthread_join(worker[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        wrong += worker[i].wrong;
        cancelled += worker[i].cancelled;
        fsm_context_free(worker[i].ctx);
    }
    printf("%d calls, %d wrong, %s\n", THREADS * CALLS, wrong,
           cancelled <= asked ? "none cancelled that was not asked for" : "too many cancelled");
    return 0;
}
