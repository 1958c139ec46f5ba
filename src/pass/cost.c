#include "pass/pass.h"

// Processors have no division that is quick, or of several numbers at once, as there is by a literal.
enum { BY_UNKNOWN = 3 };

int pass_own_cost(const Node *e) {
    bool divides = (e->op == OP_idiv || e->op == OP_irem) && e->args[1]->op != OP_lit;
    return op_info[e->op].cost * (divides ? BY_UNKNOWN : 1);
}

int pass_cost_memo(Node *e, Map *memo) {
    intptr_t known = (intptr_t)map_get(memo, e);
    if (known) return (int)known - 1;
    int cost = pass_own_cost(e);
    if (ir_is_binder(e) || (e->op == OP_extern && e->u.ext->signature) || e->op == OP_fold || e->op == OP_while)
        cost = PASS_COST_LOOP;
    else if (e->op == OP_at) cost = 1;
    for (int i = 0; i < e->nargs && cost < PASS_COST_LOOP; i++) cost += pass_cost_memo(e->args[i], memo);
    if (cost > PASS_COST_LOOP) cost = PASS_COST_LOOP;
    map_put(memo, e, (void *)(intptr_t)(cost + 1));
    return cost;
}

int pass_cost(Node *e) {
    Map memo = {0};
    int cost = pass_cost_memo(e, &memo);
    map_free(&memo);
    return cost;
}
