// What a version of a function knows of the elements of an argument that is an array of Ints: the least and the
// greatest of them, which are computed when it is called and then are like arguments of their own, with numbers after
// all others. So `x[index[k]]` needs no check where least index >= 0 and greatest index < n are assumed
// (pass/positive.c).
#include "ir/internal.h"

#include <inttypes.h>

const Node *ir_argument_element(const Node *e) {
    const Node *read = e->op == OP_conv && e->kind == KIND_INT ? e->args[0] : e;
    bool ints = read->kind == KIND_INT || read->kind == KIND_INT32;
    return read->op == OP_at && ints && read->args[0]->op == OP_input ? read : NULL;
}

static const char *measured_name(Ir *m, const char *which, const Node *array, const int64_t *at) {
    Str s = {0};
    bool all = true;
    for (int k = 0; k < array->rank; k++) all &= at[k] < 0;
    str_printf(&s, "%s %s", which, array->name);
    for (int k = 0; k < array->rank && !all; k++) {
        str_puts(&s, k ? ", " : "[");
        if (at[k] < 0) str_putc(&s, '_');
        else str_printf(&s, "%" PRId64, at[k]);
    }
    if (!all) str_putc(&s, ']');
    const char *name = arena_strdup(m->arena, str_text(&s));
    str_free(&s);
    return name;
}

bool ir_may_be_measured(int rank, const int64_t *at) {
    int changes = 0;
    for (int k = 0; k + 1 < rank; k++) changes += (at[k] < 0) != (at[k + 1] < 0);
    return changes <= 1 || (changes == 2 && at[0] >= 0);
}

static Node *measured_input(Ir *m, int number, const char *name, bool natural) {
    return natural ? ir_size(m, number, name) : ir_input(m, number, name, KIND_INT, 0, NULL);
}

Measured ir_measured(Ir *m, int number, const Node *array, const int64_t *at, bool natural) {
    Measured x = {.array = (int)array->u.num, .rank = array->rank};
    x.at = arena_copy(m->arena, at, sizeof *at * (size_t)array->rank);
    x.least = measured_input(m, number, measured_name(m, "least", array, at), natural);
    x.greatest = measured_input(m, number + 1, measured_name(m, "greatest", array, at), natural);
    return x;
}

void ir_measure(Ir *m, Measured x) {
    if (x.greatest->nonneg) m->least[x.greatest->u.num] = ir_least_size(m, (int)x.least->u.num);
    x.least->bounded_above = x.least->bounded_below = x.greatest->bounded_above = x.greatest->bounded_below = true;
    m->measured[m->nmeasured++] = x;
}

Node *ir_measured_bound(const Ir *m, const Node *e, bool greatest) {
    const Node *read = m->nmeasured ? ir_argument_element(e) : NULL;
    for (int i = 0; read && i < m->nmeasured; i++) {
        const Measured *x = &m->measured[i];
        bool among = x->array == (int)read->args[0]->u.num;
        for (int k = 0; k < x->rank && among; k++) among = x->at[k] < 0 || ir_is_lit(read->args[k + 1], x->at[k]);
        if (among) return greatest ? x->greatest : x->least;
    }
    return NULL;
}
