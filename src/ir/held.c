// What is there only while derivatives are built, and what takes its place at the end: customs, and the HELD rows of
// ir/ops.def.
#include "ir/formula.h"
#include "ir/internal.h"

static Node *form_of(Ir *m, Node *r) {
    Node *x = r->args[0], *y = r->nargs > 1 ? r->args[1] : NULL;
    (void)y;
    switch (r->op) {
#define OP(...)
#define HELD(name, arity, dx, dy, eval_f, form) \
    case OP_##name: return form;
#include "ir/ops.def"
    default: return r;
    }
}

static Node *expanded(Ir *m, Node *e, void *data) {
    (void)data;
    if (e->op != OP_result) return e->nargs ? form_of(m, e) : e;
    Node *custom = e->args[0];
    return ir_custom_put(m, custom, custom->args[custom->u.loop->n + e->u.num]);
}

Node *ir_expand(Ir *m, Node *e) { return ir_change(m, e, expanded, NULL); }
