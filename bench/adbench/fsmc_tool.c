// What fsmc compiled from gmm.fsm, examples/ba.fsm, lstm.fsm and hand.fsm, as a tool: TOOL_SYMBOL, named TOOL_NAME.
#include "adbench.h"
#include "ba.h"
#include "gmm.h"
#include "hand.h"
#include "lstm.h"

#include "fsmc/runtime.h"

#include <stdlib.h>

typedef struct State {
    const Problem *q;
    fsm_context *ctx;
} State;

static void *prepare(const Problem *q) {
    State *s = malloc(sizeof *s);
    if (!s) return NULL;
    *s = (State){q, fsm_context_new()};
    if (!s->ctx) {
        free(s);
        return NULL;
    }
    const char *threads = getenv("FSMC_ADBENCH_THREADS");
    if (threads) fsm_context_set_threads(s->ctx, atoi(threads));
    return s;
}

static void release(void *state) {
    State *s = state;
    fsm_context_free(s->ctx);
    free(s);
}

static const char *objective(void *state, Results *r) {
    State *s = state;
    const Gmm *g = &s->q->gmm;
    const Ba *a = &s->q->ba;
    const Lstm *l = &s->q->lstm;
    const Hand *h = &s->q->hand;
    int status;
    switch (s->q->kind) {
    case GMM:
        status = gmm_objective(s->ctx, g->k, g->d, g->n, g->alphas, g->means, g->icf, g->x, g->gamma, g->m, g->sign, r->value);
        break;
    case BA:
        status =
            ba_residuals(s->ctx, a->n, a->m, a->p, a->cams, a->points, a->weights, a->obs, a->feats, r->value, r->value + 2 * a->p);
        break;
    case LSTM: status = lstm_objective(s->ctx, l->l, l->b, l->c, l->params, l->extra, l->state, l->sequence, r->value); break;
    case HAND:
        status = hand_simple(s->ctx, h->bones, h->vertices, h->shares, h->n, h->theta, h->parents, h->base, h->inverse, h->rest,
                             h->starts, h->by, h->weights, h->corr, h->points, r->value);
        break;
    default:
        status =
            hand_complicated(s->ctx, h->n, h->bones, h->vertices, h->shares, h->triangles, h->theta, h->us, h->parents, h->base,
                             h->inverse, h->rest, h->starts, h->by, h->weights, h->corners, h->corr, h->points, r->value);
    }
    return status ? fsm_context_error(s->ctx) : NULL;
}

static const char *derivative(void *state, Results *r) {
    State *s = state;
    const Gmm *g = &s->q->gmm;
    const Ba *a = &s->q->ba;
    const Lstm *l = &s->q->lstm;
    const Hand *h = &s->q->hand;
    double *to = r->derivative;
    int status;
    switch (s->q->kind) {
    case GMM:
        status = gmm_gradient(s->ctx, g->k, g->d, g->n, g->alphas, g->means, g->icf, g->x, g->gamma, g->m, g->sign, to, to + g->k,
                              to + g->k * (1 + g->d));
        break;
    case BA:
        status = ba_jacobian(s->ctx, a->n, a->m, a->p, a->cams, a->points, a->weights, a->obs, a->feats, r->starts, r->places, to);
        break;
    case LSTM:
        status = lstm_gradient(s->ctx, l->l, l->b, l->c, l->params, l->extra, l->state, l->sequence, to, to + 8 * l->l * l->b);
        break;
    case HAND:
        status =
            hand_simple_jacobian(s->ctx, h->bones, h->vertices, h->shares, h->n, h->theta, h->parents, h->base, h->inverse, h->rest,
                                 h->starts, h->by, h->weights, h->corr, h->points, to, to + 3 * r->rows, to + 6 * r->rows);
        break;
    default:
        status = hand_complicated_jacobian(s->ctx, h->n, h->bones, h->vertices, h->shares, h->triangles, h->theta, h->us,
                                           h->parents, h->base, h->inverse, h->rest, h->starts, h->by, h->weights, h->corners,
                                           h->corr, h->points, to, to + 2 * r->rows, to + 5 * r->rows, to + 8 * r->rows);
    }
    return status ? fsm_context_error(s->ctx) : NULL;
}

const Tool TOOL_SYMBOL = {TOOL_NAME, FSMC_TOOL_VERSION, prepare, objective, derivative, release};
