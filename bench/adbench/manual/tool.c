#include "manual.h"

#include <stdlib.h>

#define COMPILED "-O3 -march=native -ffast-math"
#ifdef __clang__
#define TOOL_VERSION __VERSION__ ", " COMPILED // it begins with Clang
#else
#define TOOL_VERSION "gcc " __VERSION__ ", " COMPILED
#endif

typedef struct State {
    const Problem *q;
    double *work;
} State;

static int64_t work_of(const Problem *q) {
    switch (q->kind) {
    case GMM: return gmm_work(&q->gmm);
    case BA: return 0;
    case LSTM: return lstm_work(&q->lstm);
    default: return hand_work(&q->hand);
    }
}

static void *prepare(const Problem *q) {
    State *s = malloc(sizeof *s);
    if (!s) return NULL;
    *s = (State){q, calloc((size_t)work_of(q) + 1, sizeof(double))};
    if (s->work) return s;
    free(s);
    return NULL;
}

static void release(void *state) {
    State *s = state;
    free(s->work);
    free(s);
}

static const char *objective(void *state, Results *r) {
    State *s = state;
    switch (s->q->kind) {
    case GMM: r->value[0] = gmm_value(&s->q->gmm, s->work); break;
    case BA: ba_value(&s->q->ba, r->value); break;
    case LSTM: r->value[0] = lstm_value(&s->q->lstm, s->work); break;
    default: hand_value(&s->q->hand, s->work, r->value);
    }
    return NULL;
}

static const char *derivative(void *state, Results *r) {
    State *s = state;
    switch (s->q->kind) {
    case GMM: gmm_gradient(&s->q->gmm, s->work, r->derivative); break;
    case BA: ba_jacobian(&s->q->ba, r->starts, r->places, r->derivative); break;
    case LSTM: lstm_gradient(&s->q->lstm, s->work, r->derivative); break;
    default: hand_jacobian(&s->q->hand, s->work, r->derivative);
    }
    return NULL;
}

const Tool adbench_tool = {TOOL_NAME, TOOL_VERSION, prepare, objective, derivative, release};
