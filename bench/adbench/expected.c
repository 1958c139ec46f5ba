// Comparison with files of expected values: lines `KEY …`, some followed by a list of values. Keys that are not known
// are skipped; see compare_key.
#include "adbench.h"
#include "text.h"

#include <math.h>
#include <string.h>

typedef struct Expected {
    Reader r;
    const Problem *q;
    const Results *results;
    double worst;
    int64_t compared;
} Expected;

static void expect_number(Expected *e, double is) {
    e->worst = fmax(e->worst, difference(is, reader_number(&e->r, "a value")));
    e->compared++;
}

// Relative, since the values may be large.
static void expect_squares(Expected *e, const double *v, int64_t count) {
    double sum = 0, low = 0; // summed with what is lost
    for (int64_t i = 0; i < count; i++) {
        double square = v[i] * v[i], next = sum + square;
        low += square - (next - sum);
        sum = next;
    }
    double want = reader_number(&e->r, "a sum of squares");
    e->worst = fmax(e->worst, difference((sum + low) / want, 1));
    e->compared++;
}

static void expect_list(Expected *e, const double *v, int64_t count) {
    for (int64_t k = reader_int(&e->r, "the number of entries", 0, count); k > 0; k--)
        expect_number(e, v[reader_int(&e->r, "an index", 0, count - 1)]);
}

// Those of a row follow each other, and each has to be there in that order.
static void expect_sparse(Expected *e) {
    const Results *s = e->results;
    int64_t last = -1, at = 0;
    for (int64_t k = reader_int(&e->r, "the number of entries", 0, s->derivatives); k > 0; k--) {
        int64_t row = reader_int(&e->r, "a row", 0, s->rows - 1);
        int64_t column = reader_int(&e->r, "a column", 0, s->columns - 1);
        at = row == last ? at + 1 : s->starts[row];
        last = row;
        if (at >= s->starts[row + 1] || s->places[at] != column)
            reader_expected(&e->r, "the entries of row %lld as in the Jacobian", (long long)row);
        expect_number(e, s->derivative[at]);
    }
}

static void expect_rows(Expected *e) {
    const Results *s = e->results;
    for (int64_t k = reader_int(&e->r, "the number of rows", 0, s->rows); k > 0; k--) {
        int64_t row = reader_int(&e->r, "a row", 0, s->rows - 1);
        for (int64_t j = 0; j < s->columns; j++) expect_number(e, s->derivative[j * s->rows + row]);
    }
}

static double sum_of_starts(const Results *s) {
    double sum = 0;
    for (int64_t i = 0; i <= s->rows; i++) sum += (double)s->starts[i];
    return sum;
}

static double sum_of_places(const Results *s, bool weighted) {
    double sum = 0;
    for (int64_t i = 0; i < s->derivatives; i++) sum += (double)((weighted ? i % 97 + 1 : 1) * s->places[i]);
    return sum;
}

static bool compare_sparse_key(Expected *e) {
    const Results *s = e->results;
    int64_t p = e->q->ba.p;
    if (reader_takes(&e->r, "reproj_err_entries")) expect_list(e, s->value, 2 * p);
    else if (reader_takes(&e->r, "w_err_entries")) expect_list(e, s->value + 2 * p, p);
    else if (reader_takes(&e->r, "jacobian_entries")) expect_sparse(e);
    else if (reader_takes(&e->r, "vals_sumsq")) expect_squares(e, s->derivative, s->derivatives);
    else if (reader_takes(&e->r, "rowptr_last")) expect_number(e, (double)s->starts[s->rows]);
    else if (reader_takes(&e->r, "rowptr_sum")) expect_number(e, sum_of_starts(s));
    else if (reader_takes(&e->r, "cols_sum")) expect_number(e, sum_of_places(s, false));
    else if (reader_takes(&e->r, "cols_wsum")) expect_number(e, sum_of_places(s, true));
    else return false;
    return true;
}

static bool compare_key(Expected *e) {
    const Results *s = e->results;
    if (e->q->kind == BA) return compare_sparse_key(e);
    if (reader_takes(&e->r, "objective")) expect_number(e, s->value[0]);
    else if (reader_takes(&e->r, "objective_entries")) expect_list(e, s->value, s->values);
    else if (reader_takes(&e->r, "gradient_sumsq") || reader_takes(&e->r, "jacobian_sumsq"))
        expect_squares(e, s->derivative, s->derivatives);
    else if (reader_takes(&e->r, "jacobian_matrix_rows")) expect_rows(e);
    else if (reader_takes(&e->r, "entries")) {
        // The number, and then whether these are all.
        Reader before = e->r;
        int64_t count = reader_int(&e->r, "the number of entries", 0, s->derivatives);
        if (!reader_takes(&e->r, "sampled") && !(count == s->derivatives && reader_takes(&e->r, "full")))
            reader_expected(&before, "all %lld entries, or \"sampled\"", (long long)s->derivatives);
        for (; count > 0; count--) expect_number(e, s->derivative[reader_int(&e->r, "an index", 0, s->derivatives - 1)]);
    } else return false;
    return true;
}

double compare_expected(const char *file, const Problem *q, const Results *results) {
    Expected e = {.r = reader_open(file), .q = q, .results = results};
    while (reader_word(&e.r))
        if (!compare_key(&e)) reader_skip_line(&e.r);
    if (!e.compared) reader_expected(&e.r, "a line with a known key");
    reader_close(&e.r);
    return e.worst;
}
