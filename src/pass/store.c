// Traces become arrays that the loops fill (ir/store.c).
#include "pass/pass.h"

void pass_store(Func *f) {
    f->ir->stored = true;
    for (int i = 0; i < f->noutputs; i++) f->outputs[i] = ir_stored(f->ir, f->outputs[i]);
}
