// The table of what the schedule's estimates assume: its values, and files of others.
//
// A file has a line for each value, `name value`, in any order; `#` begins a comment.
#include "lower/machine.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const MachineRow machine_rows[] = {
#define MACHINE(name, value, least, most, help) {#name, offsetof(Machine, name), least, most, help},
#include "lower/machine.def"
};
const int machine_nrows = sizeof machine_rows / sizeof *machine_rows;

const Machine machine_default = {
#define MACHINE(name, value, ...) .name = value,
#include "lower/machine.def"
};

double machine_op(const Machine *m, Op op) {
    if (op == OP_mul) return m->multiply;
    if (op == OP_div) return m->divide;
    if (op == OP_sqrt) return m->root;
    bool function = op_info[op].count == COUNT_CALL && op_info[op].cost >= op_info[OP_exp].cost;
    return function ? op_info[op].cost * m->function / op_info[OP_exp].cost : op_info[op].cost;
}

// ---- files

typedef struct Line {
    Diag *diag;
    const Source *src;
    const char *p, *end; // what is left of it, without a comment
} Line;

static Span span_of(const Line *l, const char *from, const char *to) {
    return (Span){l->src, (uint32_t)(from - l->src->text), (uint32_t)(to - l->src->text)};
}

// The next word; NULL at the end.
static const char *word(Line *l, const char **end) {
    while (l->p < l->end && isspace((unsigned char)*l->p)) l->p++;
    const char *begin = l->p;
    while (l->p < l->end && !isspace((unsigned char)*l->p)) l->p++;
    *end = l->p;
    return begin < l->p ? begin : NULL;
}

static const MachineRow *row_of(const char *name, size_t len) {
    for (int i = 0; i < machine_nrows; i++)
        if (strlen(machine_rows[i].name) == len && !memcmp(machine_rows[i].name, name, len)) return &machine_rows[i];
    return NULL;
}

static bool read_line(Line *l, Machine *m, bool *seen) {
    const char *name_end, *value_end, *rest_end, *name = word(l, &name_end);
    if (!name) return true;
    Span at = span_of(l, name, name_end);
    const MachineRow *row = row_of(name, (size_t)(name_end - name));
    if (!row) return diag_error(l->diag, at, "there is no such value of a machine"), false;
    if (seen[row - machine_rows]) return diag_error(l->diag, at, "this value is given twice"), false;
    seen[row - machine_rows] = true;
    const char *value = word(l, &value_end), *rest;
    if (!value) return diag_error(l->diag, at, "there is no number after the name"), false;
    at = span_of(l, value, value_end);
    char text[64] = {0}, *stop;
    if (value_end - value < (ptrdiff_t)sizeof text) memcpy(text, value, (size_t)(value_end - value));
    double x = strtod(text, &stop);
    if (*stop || stop == text || !isfinite(x)) return diag_error(l->diag, at, "expected a number"), false;
    if (x < row->least || x > row->most)
        return diag_error(l->diag, at, "`%s` is a number from %g to %g", row->name, row->least, row->most), false;
    if ((rest = word(l, &rest_end)))
        return diag_error(l->diag, span_of(l, rest, rest_end), "there is more on the line than a name and a number"), false;
    *machine_value(m, row) = x;
    return true;
}

bool machine_read(Machine *m, Diag *diag, const Source *src) {
    bool ok = true, *seen = calloc((size_t)machine_nrows, sizeof *seen);
    const char *end = src->text + src->len;
    if (!seen) diag_out_of_memory();
    for (const char *p = src->text, *next; p < end; p = next + 1) {
        next = memchr(p, '\n', (size_t)(end - p));
        if (!next) next = end;
        const char *comment = memchr(p, '#', (size_t)(next - p));
        ok &= read_line(&(Line){diag, src, p, comment ? comment : next}, m, seen);
    }
    free(seen);
    return ok;
}

void machine_write(Str *out, const Machine *m) {
    for (int i = 0; i < machine_nrows; i++) {
        Machine copy = *m;
        double x = *machine_value(&copy, &machine_rows[i]);
        str_printf(out, x == floor(x) ? "%-12s %-10.0f # %s\n" : "%-12s %-10.4g # %s\n", machine_rows[i].name, x,
                   machine_rows[i].help);
    }
}
