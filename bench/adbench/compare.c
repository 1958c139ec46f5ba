// ADBench's test of correctness: all numbers of two files, in lines that must have equally many.
#include "adbench.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double difference(double x, double y) {
    if (x == y) return 0;
    double rho = fabs(x - y) / fmax(1, fabs(x) + fabs(y));
    return rho >= 0 ? rho : INFINITY;
}

// The next word, if it is in this line. Words that are no numbers, as in the objective of BA, are compared as NaN with
// NaN.
static bool next_in_line(Reader *r, int64_t line, double *value, bool *word) {
    size_t length = reader_word(r);
    if (!length || r->line != line) return false;
    char *end;
    *value = strtod(r->at, &end);
    *word = end != r->at + length;
    r->at += length;
    return true;
}

static void compare_lines(Reader *a, Reader *b, double tolerance, Comparison *c) {
    int64_t line_a = a->line, line_b = b->line;
    while (true) {
        double x = 0, y = 0;
        bool word_x = false, word_y = false;
        bool has_x = next_in_line(a, line_a, &x, &word_x), has_y = next_in_line(b, line_b, &y, &word_y);
        if (has_x != has_y || word_x != word_y) c->shape = true;
        if (!has_x || !has_y) return;
        if (word_x) continue;
        double rho = difference(x, y);
        c->largest = fmax(c->largest, rho);
        c->sum += rho;
        c->compared++;
        c->violations += !(rho <= tolerance);
    }
}

Comparison compare_files(const char *file, const char *reference, double tolerance) {
    Comparison c = {0};
    Reader a = reader_open(file), b = reader_open(reference);
    while (!c.shape) {
        bool has_a = reader_word(&a) > 0, has_b = reader_word(&b) > 0; // also skips empty lines
        if (has_a != has_b) c.shape = true;
        if (!has_a || !has_b) break;
        compare_lines(&a, &b, tolerance, &c);
    }
    reader_close(&a);
    reader_close(&b);
    return c;
}

static const char *truth(bool b) { return b ? "true" : "false"; }

static void write_number(FILE *f, const char *name, double x) {
    if (isfinite(x)) fprintf(f, "  \"%s\": %.17g,\n", name, x);
    else fprintf(f, "  \"%s\": \"Infinity\",\n", name);
}

void write_comparison(const char *to, const char *file, const char *reference, double tolerance, const Comparison *c) {
    FILE *f = open_to_write(to);
    fputs("{\n", f);
    write_number(f, "Tolerance", tolerance);
    fprintf(f, "  \"File1\": \"%s\",\n  \"File2\": \"%s\",\n", file, reference);
    fprintf(f, "  \"DimensionMismatch\": %s,\n  \"ParseError\": false,\n", truth(c->shape));
    write_number(f, "MaxDifference", c->largest);
    write_number(f, "AvgDifference", c->compared ? c->sum / (double)c->compared : 0);
    fprintf(f, "  \"DifferenceViolationCount\": %lld,\n  \"NumberComparisonCount\": %lld,\n", (long long)c->violations,
            (long long)c->compared);
    fprintf(f, "  \"Error\": null,\n  \"ViolationsHappened\": %s\n}\n", truth(c->shape || c->violations));
    close_written(f, to);
}
