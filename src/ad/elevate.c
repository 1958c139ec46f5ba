// What reverse mode differentiates is brought into closed forms first, across branches and loops ([CO] section 4): the
// derivative of a closed form needs no trace.
#include "ad/graph.h"

static Node *closed(Ir *m, Node *e, void *data) {
    (void)data;
    Node *by = e->op == OP_final && e->args[0]->op == OP_while ? ir_while_closed(m, e->args[0], (int)e->u.num) : NULL;
    if (!by) return e;
    explain(m->explain, EXPLAIN_DERIVATIVES, e->args[0]->span,
            "coarsening: the state `%s` after this loop is differentiated in closed form, by the number of iterations",
            ir_loop(e->args[0])->state[e->u.num]->name);
    return by;
}

Node **ad_elevate(Ir *m, int n, Node *const *y) {
    Node **out = ad_smooth_all(m, n, y);
    for (int i = 0; i < n && m->fast; i++) out[i] = ir_change(m, out[i], closed, NULL);
    return out;
}
