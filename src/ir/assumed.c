// What a version of a function assumes of its arguments: bounds of Ints that are computed of them when it is called.
#include "ir/internal.h"
#include "ir/scalar.h"
#include "ir/tensor.h"

// What is assumed to be within a range is a mathematical number for proofs: products of two Ints do not wrap around.
static const int64_t most_size = INT64_C(1) << 40, most_int = INT64_C(1) << 31;

static bool may_be_assumed(const Node *e, int *fuel) {
    if (--*fuel < 0 || e->kind != KIND_INT || e->rank) return false;
    if (e->op == OP_lit || e->op == OP_input) return true;
    switch (e->op) {
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_idiv:
    case OP_irem:
    case OP_min:
    case OP_max:
        for (int i = 0; i < e->nargs; i++)
            if (!may_be_assumed(e->args[i], fuel)) return false;
        return true;
    default: return false;
    }
}

bool ir_may_be_assumed(const Node *e) {
    enum { MOST_NODES = 32 };
    return may_be_assumed(e, &(int){MOST_NODES});
}

static bool is_of_elements(const Func *f, const Node *e) {
    if (e->op == OP_input) return e->u.num >= f->ninputs;
    for (int i = 0; i < e->nargs; i++)
        if (is_of_elements(f, e->args[i])) return true;
    return false;
}

static void note_inputs(const Node *e, bool *mentioned) {
    if (e->op == OP_input) mentioned[e->u.num] = true;
    for (int i = 0; i < e->nargs; i++) note_inputs(e->args[i], mentioned);
}

// e, where a division by less than 1 is one by 1: then something else is not as assumed.
static Node *without_failures(Ir *m, Node *e) {
    Node *x[2] = {NULL, NULL};
    int64_t by;
    if (e->op == OP_lit || e->op == OP_input) return e;
    for (int i = 0; i < e->nargs; i++) x[i] = without_failures(m, e->args[i]);
    bool divides = (e->op == OP_idiv || e->op == OP_irem) && (!ir_is_int_lit(x[1], &by) || by < 1);
    if (divides) x[1] = ir_op_plain(m, OP_max, KIND_INT, x[1], ir_int(m, 1));
    return ir_op_plain(m, e->op, KIND_INT, x[0], x[1]);
}

// What is assumed of an input by itself. large: it is not to be. False: nothing.
static bool bounds_of_input(const Func *f, Node *input, bool large, Assumption *out) {
    const Ir *m = f->ir;
    int k = (int)input->u.num;
    int64_t least = k < f->nsizes || m->least ? ir_least_size(m, k) : INT64_MIN;
    int64_t most = k < f->nsizes ? most_size : most_int;
    bool bounded = least != INT64_MIN, wide = !large && (k < f->nsizes || !bounded);
    if (!bounded && wide) return false;
    bool says = bounded && (k >= f->nsizes || least > 1);
    *out = (Assumption){input, input, bounded ? least : -most, wide ? INT64_MAX : most, says, k >= f->ninputs};
    return true;
}

int ir_assumptions(const Func *f, Assumption **out) {
    Ir *m = f->ir;
    Assumption *all = *out = ARENA_ARRAY(m->arena, Assumption, f->ninputs + 2 * m->nmeasured + m->nassumed + 1);
    bool *large = ARENA_ARRAY(m->arena, bool, ir_argument_numbers(f)); // is not to be
    int n = 0;
    for (int i = 0; i < m->nassumed; i++) note_inputs(m->assumed[i], large);
    for (int k = 0; k < f->ninputs; k++) n += bounds_of_input(f, f->inputs[k], large[k], &all[n]);
    for (int i = 0; i < m->nmeasured; i++) {
        Node *greatest = m->measured[i].greatest;
        n += bounds_of_input(f, m->measured[i].least, true, &all[n]);
        all[n++] = (Assumption){greatest, greatest, -most_int, most_int, false, true};
    }
    for (int i = 0; i < m->nassumed; i++) {
        Node *e = m->assumed[i];
        all[n++] = (Assumption){e, without_failures(m, e), 0, INT64_MAX, true, is_of_elements(f, e)};
    }
    return n;
}

bool ir_assumes_more(const Func *f) {
    Assumption *all;
    bool more = false;
    for (int i = ir_assumptions(f, &all); i-- > 0;) more |= all[i].says;
    return more;
}

// The least and the greatest of what is measured; of no elements both are 0.
static void measure(const Measured *x, const Tensor *array, int64_t out[2]) {
    int64_t n = tensor_count(array), seen = 0;
    out[0] = out[1] = 0;
    for (int64_t i = 0; i < n; i++) {
        bool among = true;
        int64_t rest = i;
        for (int k = x->rank; k-- > 0; rest /= array->shape[k])
            among &= x->at[k] < 0 || x->at[k] == rest % array->shape[k];
        if (!among) continue;
        int64_t e = tensor_get_int(array, i);
        if (!seen++ || e < out[0]) out[0] = e;
        if (seen == 1 || e > out[1]) out[1] = e;
    }
}

// inputs: the values of those that are Ints, by number.
static int64_t value_of(const Node *e, const int64_t *inputs, bool *wraps) {
    int64_t x[2] = {0, 0}, out = 0;
    if (e->op == OP_lit) return e->u.num;
    if (e->op == OP_input) return inputs[e->u.num];
    for (int i = 0; i < e->nargs; i++) x[i] = value_of(e->args[i], inputs, wraps);
    switch (e->op) {
    case OP_add: *wraps |= __builtin_add_overflow(x[0], x[1], &out); return out;
    case OP_sub: *wraps |= __builtin_sub_overflow(x[0], x[1], &out); return out;
    case OP_mul: *wraps |= __builtin_mul_overflow(x[0], x[1], &out); return out;
    default: return scalar_op(e->op, KIND_INT, (Scalar){.i = x[0]}, (Scalar){.i = x[1]}).i;
    }
}

bool ir_is_as_assumed(const Func *f, const Tensor *inputs) {
    Assumption *all;
    int n = ir_assumptions(f, &all);
    int64_t *value = ARENA_ARRAY(f->ir->arena, int64_t, ir_argument_numbers(f));
    for (int k = 0; k < f->ninputs; k++)
        if (f->inputs[k]->kind == KIND_INT && !f->inputs[k]->rank) value[k] = tensor_get_int(&inputs[k], 0);
    for (int i = 0; i < f->ir->nmeasured; i++) {
        const Measured *x = &f->ir->measured[i];
        measure(x, &inputs[x->array], &value[x->least->u.num]);
    }
    for (int i = 0; i < n; i++) {
        bool wraps = false;
        int64_t x = value_of(all[i].computed, value, &wraps);
        if (wraps || x < all[i].least || x > all[i].most) return false;
    }
    return true;
}
