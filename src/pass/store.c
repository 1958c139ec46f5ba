// Traces become arrays that the loops fill (ir/store.c).
#include "pass/pass.h"

void pass_store(Func *f) {
    f->ir->stored = true;
    for (int i = 0; i < func_roots(f); i++) f->outputs[i] = ir_reordered(f->ir, f->outputs[i]);
    pass_results(f->ir, func_roots(f), f->outputs, true);
    for (int i = 0; i < f->nchecks; i++) { // how long a result is may be an element of a trace
        Check *c = &f->checks[i];
        c->cond = ir_stored(f->ir, c->cond, NULL);
        for (int k = 0; k < c->nvalues; k++) c->values[k] = ir_stored(f->ir, c->values[k], NULL);
    }
}
