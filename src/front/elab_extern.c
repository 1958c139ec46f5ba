// Elaboration: C functions, and the derivatives that their declarations give.
#include "front/elab_internal.h"

static Node **scalars(Elab *el, const CoreVar *v, Type *t, bool direction) {
    int n = type_leaves(t);
    Kind *kinds = ARENA_ARRAY(el->arena, Kind, n + 1);
    type_leaf_list(t, kinds, NULL);
    Value out = value_new(el, n);
    for (int i = 0; i < n; i++) out.leaf[i] = ir_var(ir_state(el->m, direction ? "d" : v->name, kinds[i], 0, NULL));
    return out.leaf;
}

// The derivative depends on nothing around its use. It may be differentiated by its arguments and its direction.
static void make_rule(Elab *el, CoreExtern *x) {
    Extern *e = x->ext;
    Elab inner = *el;
    e->ir = el->m;
    e->state = x->rule ? RULE_BUILDING : RULE_NONE;
    if (!x->rule) return;
    e->adjoint = x->adjoint;
    e->n = type_leaves(x->arguments->type);
    e->nd = type_leaves(x->direction->type);
    e->x = scalars(el, x->arguments, x->arguments->type, false);
    e->d = scalars(el, x->direction, x->direction->type, true);
    x->arguments->value = (Value){e->n, e->x};
    x->direction->value = (Value){e->nd, e->d};
    Active active = {e->n + e->nd, ARENA_ARRAY(el->arena, Node *, e->n + e->nd + 1), NULL};
    for (int i = 0; i < active.n; i++) active.x[i] = i < e->n ? e->x[i] : e->d[i - e->n];
    inner.active = &active;
    inner.deriv = NULL;
    inner.guarded = inner.keep_uses = 0;
    inner.failed = false;
    Value rule = elab(&inner, x->rule);
    el->failed |= inner.failed;
    el->customs |= inner.customs;
    e->nrule = rule.n;
    e->rule = rule.leaf;
    e->state = inner.failed ? RULE_NONE : RULE_READY;
}

Node *elab_extern(Elab *el, const Core *c) {
    Node **args = ARENA_ARRAY(el->arena, Node *, c->nargs + 1);
    for (int i = 0; i < c->nargs; i++) args[i] = elab_scalar(el, c->args[i]);
    if (c->ext->ext->ir != el->m) make_rule(el, c->ext);
    elab_at(el, c);
    Type *t = type_prune(c->type);
    return ir_extern(el->m, c->ext->ext, t->form == TYPE_SCALAR ? t->kind : KIND_DOUBLE, c->nargs, args);
}
