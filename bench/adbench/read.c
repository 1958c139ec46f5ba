// ADBench's files of GMM, BA and LSTM.
#include "adbench.h"
#include "text.h"

#include <string.h>

static const int64_t many = 2000000000;

// Sizes that are false are told from the file's length before memory is asked for.
static void check_sizes(Reader *r, bool fit, const char *sizes) {
    if (!fit)
        fail(STATUS_FILE, "%s: line 1: expected sizes that fit the file, found %s in a file of %lld bytes", r->name, sizes,
             (long long)(r->end - r->text));
}

static void read_gmm(Reader *r, Gmm *g, bool replicate) {
    g->d = reader_int(r, "the dimension d", 1, 1000000);
    g->k = reader_int(r, "the number of components K", 1, many);
    g->n = reader_int(r, "the number of points n", 1, many);
    g->sign = 1;
    int64_t row = g->d * (g->d + 1) / 2, most = reader_most(r); // row: of icf
    check_sizes(r, g->k <= most / (1 + g->d + row) && (replicate ? 1 : g->n) <= most / g->d,
                text("d = %lld, K = %lld, n = %lld", (long long)g->d, (long long)g->k, (long long)g->n));
    g->alphas = allocate(g->k * (1 + g->d + row), sizeof(double));
    g->means = g->alphas + g->k;
    g->icf = g->means + g->k * g->d;
    g->x = allocate(g->n * g->d, sizeof(double));
    reader_numbers(r, "alpha", g->alphas, g->k);
    reader_numbers(r, "mean", g->means, g->k * g->d);
    reader_numbers(r, "icf value", g->icf, g->k * row);
    reader_numbers(r, "data value", g->x, (replicate ? 1 : g->n) * g->d);
    for (int64_t i = g->d; replicate && i < g->n * g->d; i++) g->x[i] = g->x[i - g->d];
    g->gamma = reader_finite(r, "gamma", 0, 1);
    g->m = reader_int(r, "m", 0, 1000000000);
    reader_end(r, "gamma and m");
}

// `count` rows; if the file has only one, it is repeated.
static double *read_rows(Reader *r, const char *what, int64_t count, int64_t width, bool all) {
    double *to = allocate(count * width, sizeof *to);
    reader_numbers(r, what, to, (all ? count : 1) * width);
    for (int64_t i = width; !all && i < count * width; i++) to[i] = to[i - width];
    return to;
}

// ADBench's files have one camera, point, weight and feature for all. A file that goes on has all of them, and the
// pairs of camera and point before the features.
static void read_ba(Reader *r, Ba *a) {
    a->n = reader_int(r, "the number of cameras n", 1, many);
    a->m = reader_int(r, "the number of points m", 1, many);
    a->p = reader_int(r, "the number of observations p", 1, many / ENTRIES);
    int64_t words = 0;
    char *start = r->at;
    int64_t line = r->line;
    for (size_t length; (length = reader_word(r)) > 0; r->at += length) words++;
    r->at = start, r->line = line;
    bool all = words > CAMERA + 3 + 1 + 2;
    check_sizes(r, !all || CAMERA * a->n + 3 * a->m + 5 * a->p <= words,
                text("n = %lld, m = %lld, p = %lld", (long long)a->n, (long long)a->m, (long long)a->p));
    a->cams = read_rows(r, "camera value", a->n, CAMERA, all);
    a->points = read_rows(r, "coordinate", a->m, 3, all);
    a->weights = read_rows(r, "weight", a->p, 1, all);
    a->obs = allocate(2 * a->p, sizeof *a->obs);
    for (int64_t o = 0; o < a->p; o++) {
        a->obs[2 * o] = (int32_t)(all ? reader_int(r, "a camera", 0, a->n - 1) : o % a->n);
        a->obs[2 * o + 1] = (int32_t)(all ? reader_int(r, "a point", 0, a->m - 1) : o % a->m);
    }
    a->feats = read_rows(r, "feature value", a->p, 2, all);
    reader_end(r, "the features");
}

static void read_lstm(Reader *r, Lstm *s) {
    s->l = reader_int(r, "the number of layers l", 1, 1000000);
    s->c = reader_int(r, "the length of the sequence c", 2, many);
    s->b = reader_int(r, "the number of bits b", 1, 1000000);
    int64_t most = reader_most(r);
    check_sizes(r, s->l <= most / (10 * s->b) && s->c <= most / s->b,
                text("l = %lld, c = %lld, b = %lld", (long long)s->l, (long long)s->c, (long long)s->b));
    s->params = allocate(8 * s->l * s->b + 3 * s->b, sizeof(double));
    s->extra = s->params + 8 * s->l * s->b;
    s->state = allocate(2 * s->l * s->b, sizeof(double));
    s->sequence = allocate(s->c * s->b, sizeof(double));
    reader_numbers(r, "parameter", s->params, 8 * s->l * s->b);
    reader_numbers(r, "extra parameter", s->extra, 3 * s->b);
    reader_numbers(r, "state value", s->state, 2 * s->l * s->b);
    reader_numbers(r, "bit", s->sequence, s->c * s->b);
    reader_end(r, "the sequence");
}

Problem read_problem(Kind kind, const char *file, bool replicate) {
    Problem q = {.kind = kind};
    if (is_hand(kind)) {
        read_hand(&q, file);
        return q;
    }
    Reader r = reader_open(file);
    switch (kind) {
    case GMM: read_gmm(&r, &q.gmm, replicate); break;
    case BA: read_ba(&r, &q.ba); break;
    default: read_lstm(&r, &q.lstm);
    }
    reader_close(&r);
    return q;
}
