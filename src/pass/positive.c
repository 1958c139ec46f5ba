// Most arrays are not empty. Under that assumption more indices are provably in range (the index of the largest element
// of an array), and what a loop always evaluates may be evaluated before it.
#include "pass/pass.h"

Func *pass_assume_positive(const Func *f) {
    Ir *m = ir_new(f->ir->arena);
    m->raw = f->ir->raw, m->strict = f->ir->strict, m->fast = f->ir->fast, m->positive = true;
    m->tape_limit = f->ir->tape_limit, m->tape_whole = f->ir->tape_whole, m->ahead = f->ir->ahead, m->debug_nan = f->ir->debug_nan,
    m->bounds = f->ir->bounds;
    m->explain = f->ir->explain, m->rules = f->ir->rules;
    Func *g = ARENA_NEW(m->arena, Func);
    *g = *f;
    g->ir = m;
    g->inputs = ARENA_ARRAY(m->arena, Node *, f->ninputs);
    g->outputs = ARENA_ARRAY(m->arena, Node *, f->noutputs);
    for (int i = 0; i < f->ninputs; i++) g->inputs[i] = ir_copy(m, f->inputs[i]);
    for (int i = 0; i < f->noutputs; i++) g->outputs[i] = ir_copy(m, f->outputs[i]);
    g->checks = ARENA_ARRAY(m->arena, Check, f->nchecks);
    for (int i = 0; i < f->nchecks; i++) {
        Check *c = &g->checks[i];
        *c = f->checks[i];
        c->cond = ir_copy(m, c->cond);
        c->values = ARENA_ARRAY(m->arena, Node *, c->nvalues);
        for (int k = 0; k < c->nvalues; k++) c->values[k] = ir_copy(m, f->checks[i].values[k]);
    }
    return g;
}
