// Elaboration: functions with derivatives of their own. Where nothing is differentiated they are their function; inside a
// derivative they stay a node of their own, which both modes read and the outermost derivative removes.
#include "front/elab_internal.h"

#include "ad/ad.h"
#include "support/map.h"
#include "support/vec.h"

Node **elab_float_leaves(Elab *el, Value v, int *n) {
    Node **out = ARENA_ARRAY(el->arena, Node *, v.n + 1);
    *n = 0;
    for (int i = 0; i < v.n; i++)
        if (kind_is_float(v.leaf[i]->kind)) out[(*n)++] = v.leaf[i];
    return out;
}

// Does a derivative reach one of the values that an open derivative is by? With `states`, what the state of a loop is
// computed from is not known yet, and counts.
static bool is_active(const Elab *el, int n, Node *const *e, bool states) {
    VEC(Node *) rest = {0};
    Map seen = {0}, targets = {0};
    bool found = false;
    for (const Active *a = el->active; a; a = a->outer)
        for (int i = 0; i < a->n; i++) map_put(&targets, a->x[i], a->x[i]);
    for (int i = 0; el->active && i < n; i++) vec_push(&rest, e[i]);
    while (rest.len && !found) {
        Node *v = vec_pop(&rest);
        if (!ad_carries(v) || map_get(&seen, v)) continue;
        map_put(&seen, v, v);
        found = map_get(&targets, v) || (states && v->op == OP_var);
        for (int i = 0; i < v->nargs; i++) vec_push(&rest, v->args[i]);
    }
    vec_free(&rest);
    map_free(&seen);
    map_free(&targets);
    return found;
}

// Reports what the functions capture: the first use of a variable that is differentiated by, of those after `before`.
static void report_capture(Elab *el, const Core *c, const NameUse *before) {
    const Core *first = NULL;
    for (const NameUse *u = el->uses; u != before; u = u->before)
        if (is_active(el, u->value.n, u->value.leaf, false)) first = u->at;
    const char *name = c->ival ? "customVjp" : "customJvp";
    if (!first) fatal_bug("a value is captured without a name");
    elab_error(el, first, first->span, "`%s` captures `%s`, which is differentiated by; make it part of the argument", name,
               first->name);
    diag_note(el->unit->diag, c->span, "in this `%s`", name);
}

// State variables like the leaves.
static Var **states_like(Elab *el, const char *name, int n, Node *const *leaf) {
    Var **v = ARENA_ARRAY(el->arena, Var *, n + 1);
    for (int i = 0; i < n; i++) v[i] = ir_state(el->m, name, leaf[i]->kind, leaf[i]->rank, leaf[i]->shape);
    return v;
}

static Value values_of(Elab *el, int n, Var *const *v) {
    Value out = value_new(el, n);
    for (int i = 0; i < n; i++) out.leaf[i] = ir_var(v[i]);
    return out;
}

// What the function and its derivative are built of. The argument's floating leaves are states, others stand as they are.
typedef struct Custom {
    Elab *el;
    const Core *c;
    Value actual, y;
    int nx, ny, nd;
    Node **x, **like; // floating leaves of the argument; of what the direction is a direction of, outside of the states
    Var **state, **direction;
    Node **var; // of the states
} Custom;

static Node *put_arguments(const Custom *k, Node *e) { return ir_subst(k->el->m, e, k->nx, k->var, k->x); }

static void make_function(Custom *k) {
    Elab *el = k->el;
    Value bound = value_new(el, k->actual.n);
    k->x = elab_float_leaves(el, k->actual, &k->nx);
    k->state = states_like(el, k->c->vars[0]->name, k->nx, k->x);
    k->var = values_of(el, k->nx, k->state).leaf;
    for (int i = 0, j = 0; i < bound.n; i++)
        bound.leaf[i] = kind_is_float(k->actual.leaf[i]->kind) ? k->var[j++] : k->actual.leaf[i];
    k->c->vars[0]->value = k->c->vars[1]->value = bound;
    k->y = elab(el, k->c->args[1]);
}

// The derivative. It may be differentiated later, by the argument and by the direction.
static Value make_rule(Custom *k, Node *const *y) {
    Elab *el = k->el;
    const Core *c = k->c;
    Node **like = ARENA_ARRAY(el->arena, Node *, k->ny + 1);
    for (int i = 0; i < k->ny; i++) like[i] = ir_zeros_like(el->m, put_arguments(k, y[i]));
    k->nd = c->ival ? k->ny : k->nx;
    k->like = c->ival ? like : k->x;
    k->direction = states_like(el, c->vars[2]->name, k->nd, k->like);
    c->vars[2]->value = values_of(el, k->nd, k->direction);
    Active active = {k->nx + k->nd, ARENA_ARRAY(el->arena, Node *, k->nx + k->nd + 1), el->active};
    for (int i = 0; i < active.n; i++) active.x[i] = ir_var(i < k->nx ? k->state[i] : k->direction[i - k->nx]);
    el->active = &active;
    Value given = elab(el, c->args[2]), rule = value_new(el, given.n);
    el->active = active.outer;
    for (int i = 0; i < given.n; i++) rule.leaf[i] = given.leaf[i];
    Value want = c->ival ? (Value){k->nx, k->x} : (Value){k->ny, like};
    size_same_shape(el, c, c->args[2]->span,
                    c->ival ? "this adjoint has other sizes than the argument" : "this tangent has other sizes than the result",
                    rule, want);
    return rule;
}

static Node *make_custom(Custom *k, Node *const *y, Value rule) {
    Elab *el = k->el;
    int n = k->nx + k->nd;
    Loop loop = {.n = n, .nx = k->nx, .ny = k->ny, .adjoint = k->c->ival != 0};
    Node **inits = ARENA_ARRAY(el->arena, Node *, n + 1), **bodies = ARENA_ARRAY(el->arena, Node *, k->ny + rule.n + 1);
    loop.state = ARENA_ARRAY(el->arena, Var *, n + 1);
    for (int i = 0; i < k->nx; i++) loop.state[i] = k->state[i], inits[i] = k->x[i];
    for (int i = 0; i < k->nd; i++) {
        loop.state[k->nx + i] = k->direction[i];
        inits[k->nx + i] = ir_zeros_like(el->m, k->like[i]);
    }
    for (int i = 0; i < k->ny; i++) bodies[i] = y[i];
    for (int i = 0; i < rule.n; i++) bodies[k->ny + i] = rule.leaf[i];
    return ir_custom(el->m, &loop, inits, bodies);
}

Value elab_custom(Elab *el, const Core *c) {
    Custom k = {.el = el, .c = c, .actual = elab(el, c->args[0])};
    NameUse *outside = el->uses;
    el->keep_uses++;
    make_function(&k);
    Node **y = elab_float_leaves(el, k.y, &k.ny);
    Value rule = make_rule(&k, y);
    el->keep_uses--;
    elab_at(el, c);
    Value out = value_new(el, k.y.n);
    if (el->failed) return value_dummy(el, c->type);
    if (is_active(el, k.ny, y, false) || is_active(el, rule.n, rule.leaf, false)) {
        report_capture(el, c, outside);
        return value_dummy(el, c->type);
    }
    el->uses = el->keep_uses ? el->uses : outside;
    Node *custom = is_active(el, k.nx, k.x, true) ? make_custom(&k, y, rule) : NULL;
    for (int i = 0, j = 0; i < out.n; i++) {
        bool result = custom && kind_is_float(k.y.leaf[i]->kind);
        out.leaf[i] = result ? ir_result(el->m, custom, j++) : put_arguments(&k, k.y.leaf[i]);
    }
    return out;
}
