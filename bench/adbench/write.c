// ADBench's files of times, objectives and derivatives.
#include "adbench.h"
#include "text.h"

#include <math.h>

// Under another name first, so that a file with its name is whole.
void write_times(const char *file, double objective, double derivative) {
    const char *partial = text("%s.partial", file);
    FILE *f = open_to_write(partial);
    fprintf(f, isinf(objective) ? "%.6e %.6e\n" : "%.6e\n%.6e\n", objective, derivative);
    close_written(f, partial);
    if (rename(partial, file)) fail(STATUS_FILE, "%s cannot be renamed", partial);
}

static void write_lines(FILE *f, const double *v, int64_t count) {
    for (int64_t i = 0; i < count; i++) fprintf(f, "%.17e\n", v[i]);
}

void write_values(const char *file, const Problem *q, const Results *r) {
    FILE *f = open_to_write(file);
    if (q->kind == BA) {
        fputs("Reprojection error:\n", f);
        write_lines(f, r->value, 2 * q->ba.p);
        fputs("Zach weight error:\n", f);
        write_lines(f, r->value + 2 * q->ba.p, q->ba.p);
    } else {
        write_lines(f, r->value, r->values);
    }
    close_written(f, file);
}

static void write_sparse(FILE *f, const Results *r) {
    int64_t entries = r->starts[r->rows];
    fprintf(f, "%lld %lld\n%lld\n", (long long)r->rows, (long long)r->columns, (long long)r->rows + 1);
    for (int64_t i = 0; i <= r->rows; i++) fprintf(f, "%lld ", (long long)r->starts[i]);
    fprintf(f, "\n%lld\n", (long long)entries);
    for (int64_t i = 0; i < entries; i++) fprintf(f, "%lld ", (long long)r->places[i]);
    fputc('\n', f);
    for (int64_t i = 0; i < entries; i++) fprintf(f, "%.17e ", r->derivative[i]);
}

static void write_columns(FILE *f, const Results *r) {
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t j = 0; j < r->columns; j++)
            fprintf(f, "%.17e%c", r->derivative[j * r->rows + i], j + 1 < r->columns ? '\t' : '\n');
}

void write_derivative(const char *file, const Problem *q, const Results *r) {
    FILE *f = open_to_write(file);
    if (q->kind == BA) write_sparse(f, r);
    else if (is_hand(q->kind)) write_columns(f, r);
    else write_lines(f, r->derivative, r->derivatives);
    close_written(f, file);
}
