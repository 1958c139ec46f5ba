// Ints as sums of multiples of others.
#include "lower/internal.h"

enum { DEEPEST = 8, FAR = 1 << 20 };

static void add_term(Temp t, int64_t by, Linear *out) {
    int k = 0;
    while (k < out->n && out->t[k] != t) k++;
    if (k == LINEAR_TERMS) {
        out->fails = true;
        return;
    }
    if (k == out->n) out->n++, out->t[k] = t, out->by[k] = 0;
    out->by[k] += by;
}

static bool number(int n, Stmt *const *def, Temp t, int64_t *value) {
    const Stmt *s = t < n ? def[t] : NULL;
    if (!s || s->kind != ST_LIT || s->u.num > FAR || s->u.num < -FAR) return false;
    *value = s->u.num;
    return true;
}

static void add(int n, Stmt *const *def, Temp t, int64_t by, int depth, Linear *out) {
    const Stmt *s = t < n ? def[t] : NULL;
    int64_t c;
    if (by > FAR || by < -FAR) {
        out->fails = true;
    } else if (number(n, def, t, &c)) {
        out->plus += by * c;
    } else if (s && s->kind == ST_OP && depth < DEEPEST && (s->op == OP_add || s->op == OP_sub)) {
        add(n, def, s->args[0], by, depth + 1, out);
        add(n, def, s->args[1], s->op == OP_add ? by : -by, depth + 1, out);
    } else if (s && s->kind == ST_OP && depth < DEEPEST && s->op == OP_mul && number(n, def, s->args[0], &c)) {
        add(n, def, s->args[1], by * c, depth + 1, out);
    } else if (s && s->kind == ST_OP && depth < DEEPEST && s->op == OP_mul && number(n, def, s->args[1], &c)) {
        add(n, def, s->args[0], by * c, depth + 1, out);
    } else {
        add_term(t, by, out);
    }
}

void linear_add(int n, Stmt *const *def, Temp t, int64_t by, Linear *out) { add(n, def, t, by, 0, out); }

bool linear_is_number(const Linear *x) {
    for (int k = 0; k < x->n; k++)
        if (x->by[k]) return false;
    return !x->fails;
}
