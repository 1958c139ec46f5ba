// Most arrays are not empty. Under that assumption more indices are provably in range (the index of the largest element
// of an array), and what a loop always evaluates may be evaluated before it. Nor are those with a few elements less than an
// argument has, as what a convolution makes of an image: arrays of n - 2 elements assume n >= 3.
#include "pass/pass.h"

enum { MOST_LESS = 16 };

// Of an array of n - k elements, n being a size: n is to be more than k.
static void note_extent(Node *e, void *data) {
    Ir *m = data;
    if (e->op != OP_gen || e->u.var->extent->nonneg) return;
    ArenaMark mark = arena_mark(m->polys);
    Poly p = poly_of(m, e->u.var->extent);
    const Node *size = NULL;
    int64_t less = 0;
    bool plain = true;
    for (int i = 0; i < p.n; i++) {
        const Term *t = &p.term[i];
        if (t->n == 0) less = -t->coeff;
        else if (t->n == 1 && t->coeff == 1 && !size) size = t->atom[0];
        else plain = false;
    }
    bool is_size = plain && size && size->op == OP_input && size->kind == KIND_INT && size->nonneg;
    if (is_size && 0 < less && less <= MOST_LESS && m->least[size->u.num] <= less) m->least[size->u.num] = less + 1;
    arena_release(m->polys, mark);
}

Func *pass_assume_positive(const Func *f) {
    Ir *m = ir_new(f->ir->arena);
    m->raw = f->ir->raw, m->strict = f->ir->strict, m->fast = f->ir->fast, m->positive = true;
    m->whole_loops = f->ir->whole_loops;
    m->tape_limit = f->ir->tape_limit, m->tape_whole = f->ir->tape_whole, m->ahead = f->ir->ahead, m->debug_nan = f->ir->debug_nan,
    m->bounds = f->ir->bounds;
    m->explain = f->ir->explain, m->rules = f->ir->rules;
    Func *g = ARENA_NEW(m->arena, Func);
    *g = *f;
    g->ir = m;
    g->inputs = ARENA_ARRAY(m->arena, Node *, f->ninputs);
    g->outputs = ARENA_ARRAY(m->arena, Node *, func_roots(f));
    for (int i = 0; i < f->ninputs; i++) g->inputs[i] = ir_copy(m, f->inputs[i]);
    m->least = ARENA_ARRAY(m->arena, int64_t, f->nsizes + 1);
    for (int i = 0; i < f->nsizes; i++) m->least[i] = 1;
    f->ir->least = m->least; // while f is looked at
    ir_walk(func_roots(f), f->outputs, note_extent, f->ir);
    f->ir->least = NULL;
    for (int i = 0; i < func_roots(f); i++) g->outputs[i] = ir_copy(m, f->outputs[i]);
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
