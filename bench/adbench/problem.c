#include "adbench.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

const char *const kind_names[KINDS] = {"GMM", "BA", "LSTM", "HAND", "HAND-COMPLICATED"};

Kind kind_named(const char *name) {
    int kind = 0;
    while (kind < KINDS && strcmp(kind_names[kind], name) != 0) kind++;
    return kind;
}

void problem_free(Problem *q) {
    free(q->gmm.alphas), free(q->gmm.x);
    free(q->ba.cams), free(q->ba.points), free(q->ba.weights), free(q->ba.feats), free(q->ba.obs);
    free(q->lstm.params), free(q->lstm.state), free(q->lstm.sequence);
    Hand *h = &q->hand;
    free(h->base), free(h->inverse), free(h->rest), free(h->weights), free(h->points), free(h->us);
    free(h->parents), free(h->starts), free(h->by), free(h->corners), free(h->corr);
    *q = (Problem){0};
}

// Memory that is there, and not only promised: getting it is no part of a call.
static void *allocate_pages(int64_t count, size_t size) {
    enum { PAGE = 4096 };
    char *p = allocate(count, size);
    for (size_t i = 0; i < (size_t)count * size; i += PAGE) *(volatile char *)(p + i) = 0;
    return p;
}

Results results_new(const Problem *q, bool derivative) {
    const Gmm *g = &q->gmm;
    const Ba *a = &q->ba;
    const Lstm *s = &q->lstm;
    Results r = {0};
    switch (q->kind) {
    case GMM: r = (Results){.values = 1, .rows = 1, .columns = g->k * (g->d + 1) * (g->d + 2) / 2}; break;
    case LSTM: r = (Results){.values = 1, .rows = 1, .columns = 8 * s->l * s->b + 3 * s->b}; break;
    case BA: r = (Results){.values = 3 * a->p, .rows = 3 * a->p, .columns = CAMERA * a->n + 3 * a->m + a->p}; break;
    default: r = (Results){.values = 3 * q->hand.n, .rows = 3 * q->hand.n, .columns = THETAS + (q->hand.us ? 2 : 0)};
    }
    r.derivatives = q->kind == BA ? ENTRIES * a->p : r.rows * r.columns;
    r.value = allocate_pages(r.values, sizeof *r.value);
    if (!derivative) return r;
    r.derivative = allocate_pages(r.derivatives, sizeof *r.derivative);
    if (q->kind == BA) {
        r.starts = allocate_pages(r.rows + 1, sizeof *r.starts);
        r.places = allocate_pages(r.derivatives, sizeof *r.places);
    }
    return r;
}

void results_free(Results *r) {
    free(r->value), free(r->derivative), free(r->starts), free(r->places);
    *r = (Results){0};
}

const char *problem_text(const Problem *q) {
    typedef long long Long;
    switch (q->kind) {
    case GMM: return text("GMM d = %lld, K = %lld, n = %lld", (Long)q->gmm.d, (Long)q->gmm.k, (Long)q->gmm.n);
    case BA: return text("BA n = %lld, m = %lld, p = %lld", (Long)q->ba.n, (Long)q->ba.m, (Long)q->ba.p);
    case LSTM: return text("LSTM l = %lld, c = %lld, b = %lld", (Long)q->lstm.l, (Long)q->lstm.c, (Long)q->lstm.b);
    default: return text("%s points = %lld, vertices = %lld", kind_names[q->kind], (Long)q->hand.n, (Long)q->hand.vertices);
    }
}
