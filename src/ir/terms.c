#include "ir/terms.h"

// How far arguments are moved to see by how much a function changes, and how near to each other what is compared may be.
static const double step = 1e-7, doubt = 1e-9;

bool terms_doubtful(double x, double terms) { return terms > 0 && !(fabs(x) > doubt * terms); }

// What `op` gives for arguments that are h times their terms from x and y.
static double moved(Op op, Kind kind, Scalar x, Scalar y, double h, double k) {
    x.d += op_info[op].type == T_PSI ? 0 : h * x.terms;
    y.d += op_info[op].type == T_FPOWI ? 0 : k * y.terms;
    return scalar_op(op, kind, x, y).d;
}

static double of_function(Op op, Kind kind, Scalar x, Scalar y, double r) {
    double dx = op_info[op].type == T_PSI ? 0 : moved(op, kind, x, y, step, 0) - moved(op, kind, x, y, -step, 0);
    double dy = op_info[op].arity == 1 || op_info[op].type == T_FPOWI
                    ? 0
                    : moved(op, kind, x, y, 0, step) - moved(op, kind, x, y, 0, -step);
    return fabs(r) + (fabs(dx) + fabs(dy)) / (2 * step);
}

double terms_op(Op op, Kind kind, Scalar x, Scalar y, Scalar r, bool expanded, bool *doubtful) {
    double a = fabs(x.d), b = fabs(y.d);
    if (op_info[op].type == T_CMP) *doubtful |= terms_doubtful(x.d - y.d, x.terms + y.terms);
    switch (op) {
    case OP_lt:
    case OP_le:
    case OP_eq:
    case OP_ne: return 0;
    case OP_add:
    case OP_sub: return x.terms + y.terms;
    case OP_neg:
    case OP_abs: return x.terms;
    case OP_min:
    case OP_max: return fmax(x.terms, y.terms);
    case OP_mul: return expanded ? x.terms * y.terms : x.terms * b + a * y.terms;
    case OP_div: return expanded ? x.terms * y.terms / (b * b) : (x.terms + fabs(r.d) * y.terms) / b;
    case OP_powi: return expanded && y.i > 0 ? fsm_powi(x.terms, y.i) : of_function(op, kind, x, y, r.d);
    case OP_floor:
    case OP_ceil:
    case OP_trunc: *doubtful |= terms_doubtful(x.d - round(x.d), x.terms); return fabs(r.d);
    case OP_round: *doubtful |= terms_doubtful(x.d - trunc(x.d) - copysign(0.5, x.d), x.terms); return fabs(r.d);
    case OP_rem:
        *doubtful |= terms_doubtful(x.d / y.d - round(x.d / y.d), (x.terms + a * y.terms / b) / b);
        return x.terms + a * y.terms / b;
    default: return of_function(op, kind, x, y, r.d);
    }
}
