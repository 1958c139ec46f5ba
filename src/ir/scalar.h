// What the elementwise operations of ops.def compute, on concrete values.
#ifndef IR_SCALAR_H
#define IR_SCALAR_H

#include "../runtime/special.h"
#include "ir/ir.h"

#include <math.h>

// A scalar value: d for Float (already rounded to single precision) and Double, i for Int and Bool.
typedef struct Scalar {
    union {
        double d;
        int64_t i;
    };
    double terms; // of a floating number: see ir/terms.h; 0 where that is not wanted
} Scalar;

// NaN if either is NaN; the first of two equal values.
static inline double op_min(double x, double y) { return isnan(x) || isnan(y) ? x + y : x <= y ? x : y; }
static inline double op_max(double x, double y) { return isnan(x) || isnan(y) ? x + y : y <= x ? x : y; }
// Quotient towards zero and its remainder, y != 0; INT64_MIN / -1 wraps to INT64_MIN.
static inline int64_t op_idiv(int64_t x, int64_t y) { return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y; }
static inline int64_t op_irem(int64_t x, int64_t y) { return y == -1 ? 0 : x % y; }

// May the operation have operands of these kinds? b is ignored for arity 1.
static inline bool op_accepts(Op op, Kind a, Kind b) {
    bool same = op_info[op].arity == 1 || a == b;
    switch (op_info[op].type) {
    case T_NUM:
    case T_CMP: return same && a != KIND_BOOL && a != KIND_INT32;
    case T_FLT: return same && kind_is_float(a);
    case T_INT: return same && a == KIND_INT;
    case T_LOGIC: return same && a == KIND_BOOL;
    case T_FPOWI: return kind_is_float(a) && b == KIND_INT;
    default: return a == KIND_INT && kind_is_float(b);
    }
}

// clang-format off
static inline double scalar_op_f(Op op, double x, double y) {
    switch (op) {
#define NO 0
#define OP(name, arity, type, dx, dy, eval_f, ...) case OP_##name: return eval_f;
#define HELD(name, arity, dx, dy, eval_f, ...)     case OP_##name: return eval_f;
#include "ir/ops.def"
    default: return 0;
    }
}

static inline int64_t scalar_op_i(Op op, int64_t x, int64_t y) {
    switch (op) {
#define OP(name, arity, type, dx, dy, eval_f, eval_i, ...) case OP_##name: return eval_i;
#include "ir/ops.def"
#undef NO
    default: return 0;
    }
}
// clang-format on

static inline double scalar_round(Kind k, double x) { return k == KIND_FLOAT ? (double)(float)x : x; }

// An elementwise operation; `kind` is the operands' kind (of polygamma and powi: that of the floating operand). Float
// results are rounded once. The caller has checked that idiv and irem do not divide by zero.
static inline Scalar scalar_op(Op op, Kind kind, Scalar x, Scalar y) {
    Scalar r = {.i = 0};
    switch (op_info[op].type) {
    case T_FPOWI: r.d = scalar_round(kind, fsm_powi(x.d, y.i)); break;
    case T_PSI: r.d = scalar_round(kind, fsm_polygamma(x.i, y.d)); break;
    case T_CMP: r.i = kind_is_float(kind) ? scalar_op_f(op, x.d, y.d) != 0 : scalar_op_i(op, x.i, y.i); break;
    default:
        if (kind_is_float(kind)) r.d = scalar_round(kind, scalar_op_f(op, x.d, y.d));
        else r.i = scalar_op_i(op, x.i, y.i);
    }
    return r;
}

// Conversion; the caller has checked that Int to Int32 fits. Floating to Int goes towards zero, saturates, and makes 0 of NaN (as
// LLVM's fptosi.sat).
static inline Scalar scalar_conv(Kind from, Kind to, Scalar x) {
    Scalar r = {.i = 0};
    if (kind_is_float(to)) {
        r.d = kind_is_float(from) ? scalar_round(to, x.d) : to == KIND_FLOAT ? (double)(float)x.i : (double)x.i;
    } else if (kind_is_float(from)) {
        if (to == KIND_BOOL) r.i = x.d != 0;
        else if (x.d >= 0x1p63) r.i = INT64_MAX;
        else if (x.d <= -0x1p63) r.i = INT64_MIN;
        else r.i = isnan(x.d) ? 0 : (int64_t)x.d;
    } else {
        r.i = to == KIND_BOOL ? x.i != 0 : to == KIND_INT32 ? (int32_t)x.i : x.i;
    }
    return r;
}

#endif
