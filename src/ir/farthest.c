// The ends of Ints that change with index variables.
#include "ir/ir.h"

enum { MOST_NODES = 256 }; // values may be shared, and be many for that reason

static Node *farthest(Ir *m, Node *e, const VarSet *of, bool greatest, int *fuel);

static Node *farthest_op(Ir *m, Node *e, const VarSet *of, bool first, bool second, int *fuel) {
    Node *a = farthest(m, e->args[0], of, first, fuel);
    Node *b = e->nargs > 1 ? farthest(m, e->args[1], of, second, fuel) : NULL;
    return a && (b || e->nargs < 2) ? ir_op(m, e->op, a, b) : NULL;
}

static Node *farthest_index(Ir *m, const Var *v, const VarSet *of, bool greatest, int *fuel) {
    if (v->is_state) return NULL;
    if (!greatest) return ir_int(m, 0);
    Node *end = farthest(m, v->extent, of, true, fuel);
    return end ? ir_sub(m, end, ir_int(m, 1)) : NULL;
}

static Node *farthest(Ir *m, Node *e, const VarSet *of, bool greatest, int *fuel) {
    int64_t by;
    if (!varset_meets(e->fv, of)) return e;
    if (--*fuel < 0) return NULL;
    switch (e->op) {
    case OP_var: return varset_has(of, e->u.var) ? farthest_index(m, e->u.var, of, greatest, fuel) : e;
    case OP_add:
    case OP_min:
    case OP_max: return farthest_op(m, e, of, greatest, greatest, fuel);
    case OP_sub: return farthest_op(m, e, of, greatest, !greatest, fuel);
    case OP_neg: return farthest_op(m, e, of, !greatest, false, fuel);
    case OP_mul:
        if (!e->args[0]->nonneg || !e->args[1]->nonneg) return NULL;
        return farthest_op(m, e, of, greatest, greatest, fuel);
    case OP_idiv:
        if (!ir_is_int_lit(e->args[1], &by) || by < 1) return NULL;
        return farthest_op(m, e, of, greatest, greatest, fuel);
    default: return NULL;
    }
}

Node *ir_farthest(Ir *m, Node *e, const VarSet *of, bool greatest) {
    return farthest(m, e, of, greatest, &(int){MOST_NODES});
}
