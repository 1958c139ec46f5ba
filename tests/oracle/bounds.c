#include "oracle/bounds.h"
#include "ir/interp.h"

// The value of an Int over the inputs of f. False: it has none.
static bool value_of(Arena *a, const Func *f, Node *e, const Tensor *inputs, double *value) {
    Func g = *f;
    g.noutputs = 1, g.ndemands = g.nchecks = 0;
    g.outputs = &e;
    Tensor out;
    const char *error;
    if (func_prepare(a, &g, inputs, &out, &error) || interp_run(a, &g, inputs, &out, NULL, &error)) return false;
    int64_t n = tensor_scalar(&out, 0).i;
    *value = n > 1 ? (double)n : 1; // atoms count as at least 1
    return true;
}

static bool evaluate(Arena *a, const Func *f, Growth g, const Tensor *inputs, double *sum) {
    *sum = 0;
    for (int i = 0; i < g.n; i++) {
        double product = g.term[i].coeff;
        for (int k = 0; k < g.term[i].n; k++) {
            double x;
            if (!g.term[i].atom[k]->size || !value_of(a, f, g.term[i].atom[k]->size, inputs, &x)) return false;
            product *= x;
        }
        *sum += product;
    }
    return true;
}

const char *bounds_wrong(Arena *arena, const Tree *t, const Account *account, const Tensor *inputs,
                         const Counts *done) {
    const int64_t *ops = done->ops;
    double real[ACCOUNTS] = {[ACCOUNT_ITERATIONS] = (double)done->iterations, [ACCOUNT_LOADS] = (double)done->loads};
    real[ACCOUNT_OPERATIONS] = (double)(ops[COUNT_ADD] + ops[COUNT_MUL] + ops[COUNT_DIV] + ops[COUNT_CALL]);
    real[ACCOUNT_STORES] = (double)done->stores;
    for (int k = 0; k < ACCOUNTS; k++) {
        double most;
        if (!account->known || !evaluate(arena, t->func, account->of[k], inputs, &most)) continue;
        if (real[k] <= most * (1 + 1e-9) + 1e-6) continue;
        Str text = {0};
        growth_print(&text, account->of[k]);
        const char *what = account_name[k];
        const char *why = arena_printf(arena, "%.0f %s; the bound is %.1f (%s)", real[k], what, most, str_text(&text));
        str_free(&text);
        return why;
    }
    return NULL;
}
