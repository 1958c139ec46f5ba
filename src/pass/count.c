// A while loop whose trace is needed runs twice ([NP] section 4: an inspector): first to count its iterations, and then,
// with the trace, as a loop of so many iterations, of which what is kept can be planned.
#include "pass/occurs.h"
#include "pass/pass.h"

// The while loop with outputs as a fold of n iterations.
static Node *counted(Ir *m, Node *loop, Node *n) {
    Loop like = *ir_loop(loop);
    Node **steps = loop->args + loop_steps(loop);
    like.index = ir_index(m, "i", n);
    return ir_fold_out(m, &like, loop->args, steps, steps + like.n);
}

static Node *first_traced(const Func *f) {
    Nodes n;
    Node *found = NULL;
    nodes_collect(f, &n);
    for (int i = 0; i < n.all.len && !found; i++) { // operands first: what is inside of others
        Node *e = n.all.data[i];
        if (e->op == OP_trace && e->args[0]->op == OP_while) found = e;
    }
    nodes_free(&n);
    return found;
}

void pass_count(Func *f) {
    for (Node *e; (e = first_traced(f));) {
        Span before = ir_from(f->ir, e->args[0]);
        Node *trace = ir_trace(f->ir, counted(f->ir, e->args[0], e->shape[0]), (int)e->u.num);
        ir_replace_in(f->ir, func_roots(f), f->outputs, e, trace);
        f->ir->span = before;
    }
}
