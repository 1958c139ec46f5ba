// The ends of Ints that change with index variables.
#include "ir/ir.h"

static Node *farthest_op(Ir *m, Op op, Node *e, const VarSet *of, bool first, bool second) {
    Node *a = ir_farthest(m, e->args[0], of, first), *b = e->nargs > 1 ? ir_farthest(m, e->args[1], of, second) : NULL;
    return a && (b || e->nargs < 2) ? ir_op(m, op, a, b) : NULL;
}

Node *ir_farthest(Ir *m, Node *e, const VarSet *of, bool greatest) {
    int64_t by;
    if (!varset_meets(e->fv, of)) return e;
    if (e->op == OP_var && !varset_has(of, e->u.var)) return e;
    switch (e->op) {
    case OP_var: {
        Node *end = e->u.var->is_state ? NULL : greatest ? ir_farthest(m, e->u.var->extent, of, true) : ir_int(m, 0);
        return end && greatest ? ir_sub(m, end, ir_int(m, 1)) : end;
    }
    case OP_add:
    case OP_min:
    case OP_max: return farthest_op(m, e->op, e, of, greatest, greatest);
    case OP_sub: return farthest_op(m, e->op, e, of, greatest, !greatest);
    case OP_neg: return farthest_op(m, e->op, e, of, !greatest, false);
    case OP_mul:
        if (!e->args[0]->nonneg || !e->args[1]->nonneg) return NULL;
        return farthest_op(m, e->op, e, of, greatest, greatest);
    case OP_idiv:
        if (!ir_is_int_lit(e->args[1], &by) || by < 1) return NULL;
        return farthest_op(m, e->op, e, of, greatest, greatest);
    default: return NULL;
    }
}
