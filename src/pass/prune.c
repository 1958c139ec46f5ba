// Each result of a loop becomes that of a loop with the states that it depends on ([FS] Fig. 8 g). Until derivatives are
// built a loop is kept whole: its reverse goes once over all its states.
#include "pass/pass.h"

static Node *prune(Ir *m, Node *e, void *data) {
    (void)data;
    return e->op == OP_final || e->op == OP_trace || e->op == OP_count ? ir_rebuild(m, e, e->args) : e;
}

void pass_prune(Func *f) {
    f->ir->whole_loops = false;
    for (int i = 0; i < f->noutputs; i++) f->outputs[i] = ir_change(f->ir, f->outputs[i], prune, NULL);
}
