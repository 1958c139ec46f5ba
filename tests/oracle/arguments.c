// Random arguments: sizes first, then what has shapes that depend on them.
#include "oracle/internal.h"

#include "ir/scalar.h"

#include <string.h>

// An extent: an expression of sizes and Int arguments.
static bool evaluate(const Node *e, const Tensor *inputs, const Func *f, int64_t *out) {
    int64_t x = 0, y = 0;
    if (e->op == OP_lit) {
        *out = e->u.num;
        return true;
    }
    if (e->op == OP_input && e->rank == 0 && e->u.num < f->ninputs) {
        *out = tensor_get_int(&inputs[e->u.num], 0);
        return true;
    }
    if (e->op == OP_conv && e->args[0]->kind == KIND_INT32) return evaluate(e->args[0], inputs, f, out);
    if (!op_is_elementwise(e->op) || e->kind != KIND_INT || !evaluate(e->args[0], inputs, f, &x)) return false;
    if (e->nargs > 1 && !evaluate(e->args[1], inputs, f, &y)) return false;
    if ((e->op == OP_idiv || e->op == OP_irem) && y == 0) return false;
    *out = scalar_op(e->op, KIND_INT, (Scalar){.i = x}, (Scalar){.i = y}).i;
    return true;
}

static void fill(Tensor *t, const OracleOptions *o, int64_t largest, Random *r) {
    bool any = o->int_low > o->int_high;
    int64_t low = any ? 0 : o->int_low, high = any ? (largest > 1 ? largest - 1 : 1) : o->int_high;
    for (int64_t i = 0; i < tensor_count(t); i++)
        if (kind_is_float(t->kind))
            tensor_set(t, i,
                       o->ties ? (double)random_int(r, (int64_t)(2 * o->low), (int64_t)(2 * o->high)) / 2
                               : random_real(r, o->low, o->high));
        else if (t->kind == KIND_INT || t->kind == KIND_INT32) tensor_set(t, i, (double)random_int(r, low, high));
        else tensor_set(t, i, (double)random_int(r, 0, 1));
}

Tensor *arguments_make(Arena *a, const Func *f, int nvalue_inputs, const OracleOptions *o, int trial, Random *r) {
    Tensor *in = ARENA_ARRAY(a, Tensor, f->ninputs + 1);
    OracleOptions unit = *o;
    unit.low = -1, unit.high = 1, unit.ties = false;
    int64_t largest = 0, shape[16];
    for (int k = 0; k < f->ninputs; k++) {
        const Node *e = f->inputs[k];
        if (e->rank > 0) continue;
        in[k] = tensor_new(a, e->kind, 0, NULL);
        if (k >= f->nsizes) {
            fill(&in[k], k < nvalue_inputs ? o : &unit, largest, r);
            continue;
        }
        int64_t n = o->sizes[trial == 0 ? 0 : random_int(r, 0, o->nsizes - 1)];
        tensor_set(&in[k], 0, (double)n);
        largest = n > largest ? n : largest;
    }
    for (int k = 0; k < f->ninputs; k++) {
        const Node *e = f->inputs[k];
        if (e->rank == 0) continue;
        int64_t most = 0, count;
        for (int d = 0; d < e->rank; d++) {
            if (!evaluate(e->shape[d], in, f, &shape[d]) || shape[d] < 0) return NULL;
            most = shape[d] > most ? shape[d] : most;
        }
        if (most > 4096 && (!shape_count(e->rank, shape, &count) || count)) return NULL; // of nothing there may be any number
        in[k] = tensor_new(a, e->kind, e->rank, shape);
        fill(&in[k], k < nvalue_inputs ? o : &unit, largest, r);
    }
    return in;
}

bool sizes_assumed(const Func *f, const Tensor *in) {
    for (int k = 0; k < f->nsizes; k++)
        if (tensor_get_int(&in[k], 0) < 1) return false;
    return !f->ir->positive || ir_is_as_assumed(f, in);
}
