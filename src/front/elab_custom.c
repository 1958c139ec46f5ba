// Elaboration: functions with derivatives of their own. Where nothing is differentiated they are their function; inside a
// derivative they stay a node of their own, which both modes read and the outermost derivative removes.
//
// A rule for tangents may differentiate by what it captures (its `total`, elab_total.c). That is then part of the argument, as if
// the program had put it there.
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

bool elab_is_active(const Elab *el, int n, Node *const *e, bool states) {
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

// A rule: what its direction is a direction of, in its shapes outside of the states; the direction; what the rule gives.
typedef struct CustomRule {
    bool adjoint;
    int nd;
    Node **like;
    Var **direction;
    Value given;
} CustomRule;

// What the function and its derivative are built of. The floating leaves of the argument are states, others stand as they
// are; after them come those of captured variables that the rule differentiates by.
typedef struct Custom {
    Elab *el;
    const Core *c;
    OpenCustom open;
    Value actual, y;
    int nx, ny, nrules;
    Node **x; // outside of the states
    Var **state;
    Node **var; // of the states
    CustomRule rule[2];
} Custom;

static Node *put_arguments(const Custom *k, Node *e) { return ir_subst(k->el->m, e, k->nx, k->var, k->x); }

static void make_function(Custom *k, Node **captured) {
    Elab *el = k->el;
    Value bound = value_new(el, k->actual.n);
    int n;
    Node **floats = elab_float_leaves(el, k->actual, &n);
    k->nx = n + k->open.n;
    k->x = ARENA_ARRAY(el->arena, Node *, k->nx + 1);
    for (int i = 0; i < k->nx; i++) k->x[i] = i < n ? floats[i] : captured[i - n];
    k->state = states_like(el, k->c->vars[0]->name, k->nx, k->x);
    k->var = values_of(el, k->nx, k->state).leaf;
    for (int i = 0, j = 0; i < bound.n; i++)
        bound.leaf[i] = kind_is_float(k->actual.leaf[i]->kind) ? k->var[j++] : k->actual.leaf[i];
    k->c->vars[0]->value = k->c->vars[1]->value = bound;
    total_put(el, &k->open, k->var + n);
    k->y = elab(el, k->c->args[1]);
}

// A derivative. It may be differentiated later, by the argument and by the direction.
static void make_rule(Custom *k, CustomRule *r, const Core *c, CoreVar *direction) {
    Elab *el = k->el;
    Node **y = elab_float_leaves(el, k->y, &k->ny), **like = ARENA_ARRAY(el->arena, Node *, k->ny + 1);
    for (int i = 0; i < k->ny; i++) like[i] = ir_zeros_like(el->m, put_arguments(k, y[i]));
    r->nd = r->adjoint ? k->ny : k->nx;
    r->like = r->adjoint ? like : k->x;
    r->direction = states_like(el, direction->name, r->nd, r->like);
    Value d = values_of(el, r->nd, r->direction);
    k->open.direction = d.leaf + r->nd - k->open.n;
    direction->value = (Value){r->nd - k->open.n, d.leaf};
    Active active = {k->nx + r->nd, ARENA_ARRAY(el->arena, Node *, k->nx + r->nd + 1), el->active};
    for (int i = 0; i < active.n; i++) active.x[i] = i < k->nx ? k->var[i] : d.leaf[i - k->nx];
    el->active = &active;
    Value given = elab(el, c);
    el->active = active.outer;
    r->given = value_new(el, given.n);
    for (int i = 0; i < given.n; i++) r->given.leaf[i] = given.leaf[i];
    Value want = r->adjoint ? (Value){k->nx, k->x} : (Value){k->ny, like};
    const char *text =
        r->adjoint ? "this adjoint has other sizes than the argument" : "this tangent has other sizes than the result";
    size_same_shape(el, k->c, c->span, text, r->given, want);
}

static Node *make_custom(Custom *k, Node *const *y) {
    Elab *el = k->el;
    int n = k->nx, nbodies = k->ny;
    for (int i = 0; i < k->nrules; i++) n += k->rule[i].nd, nbodies += k->rule[i].given.n;
    Loop loop = {.nx = k->nx, .ny = k->ny, .adjoint = k->rule[0].adjoint, .both = k->nrules == 2};
    Node **inits = ARENA_ARRAY(el->arena, Node *, n + 1), **bodies = ARENA_ARRAY(el->arena, Node *, nbodies + 1);
    loop.state = ARENA_ARRAY(el->arena, Var *, n + 1);
    for (int i = 0; i < k->nx; i++) loop.state[i] = k->state[i], inits[i] = k->x[i];
    for (int i = 0; i < k->ny; i++) bodies[i] = y[i];
    loop.n = k->nx, nbodies = k->ny;
    for (const CustomRule *r = k->rule; r < k->rule + k->nrules; r++) {
        for (int i = 0; i < r->nd; i++, loop.n++) {
            loop.state[loop.n] = r->direction[i];
            inits[loop.n] = ir_zeros_like(el->m, r->like[i]);
        }
        for (int i = 0; i < r->given.n; i++) bodies[nbodies++] = r->given.leaf[i];
    }
    return ir_custom(el->m, &loop, inits, bodies);
}

// e with the captured values in the place of their states that no `total` moves.
static Node *put_unmoved(const Custom *k, Node *e) {
    for (int i = 0, first = k->nx - k->open.n; i < k->open.n; i++)
        if (!k->open.captured[i].moved) e = ir_subst1(k->el->m, e, k->var[first + i], k->x[first + i]);
    return e;
}

static Value put_unmoved_all(const Custom *k, Value v) {
    Value out = value_new(k->el, v.n);
    for (int i = 0; i < v.n; i++) out.leaf[i] = put_unmoved(k, v.leaf[i]);
    return out;
}

// Reports what the functions capture: the first use of a variable that is differentiated by, of those after `before`.
static void report_capture(const Custom *k, const NameUse *before) {
    Elab *el = k->el;
    const Core *first = NULL;
    for (const NameUse *u = el->uses; u != before; u = u->before) {
        Value v = put_unmoved_all(k, u->value);
        if (elab_is_active(el, v.n, v.leaf, false)) first = u->at;
    }
    const char *name = k->c->ival ? "customVjp" : "customJvp";
    if (!first) fatal_bug("a value is captured without a name");
    elab_error(el, first, first->span, "`%s` captures `%s`, which is differentiated by; make it part of the argument%s", name,
               first->name, k->c->ival || k->nrules > 1 ? "" : ", or differentiate by it with a third parameter of the rule");
    diag_note(el->unit->diag, k->c->span, "in this `%s`", name);
}

static bool captures(const Custom *k, Node *const *y) {
    bool found = elab_is_active(k->el, k->ny, y, false);
    for (const CustomRule *r = k->rule; r < k->rule + k->nrules; r++)
        found |= elab_is_active(k->el, r->given.n, r->given.leaf, false);
    return found;
}

static void make_parts(Custom *k) {
    Elab *el = k->el;
    const Core *c = k->c;
    k->open = (OpenCustom){.c = c, .outer = el->custom};
    total_find(el, &k->open);
    Node **captured = total_values(el, &k->open);
    el->custom = &k->open;
    make_function(k, captured);
    k->nrules = c->nargs - 2;
    for (int i = 0; i < k->nrules; i++) {
        k->rule[i].adjoint = (c->ival != 0) != (i == 1);
        make_rule(k, &k->rule[i], c->args[2 + i], c->vars[2 + i]);
    }
    el->custom = k->open.outer;
    total_put(el, &k->open, captured);
    k->y = put_unmoved_all(k, k->y);
    for (int i = 0; i < k->nrules; i++) k->rule[i].given = put_unmoved_all(k, k->rule[i].given);
}

Value elab_custom(Elab *el, const Core *c) {
    Custom k = {.el = el, .c = c, .actual = elab(el, c->args[0])};
    NameUse *outside = el->uses;
    el->keep_uses++;
    make_parts(&k);
    el->keep_uses--;
    elab_at(el, c);
    Value out = value_new(el, k.y.n);
    if (el->failed) return value_dummy(el, c->type);
    Node **y = elab_float_leaves(el, k.y, &k.ny);
    if (captures(&k, y)) {
        report_capture(&k, outside);
        return value_dummy(el, c->type);
    }
    el->uses = el->keep_uses ? el->uses : outside;
    Node *custom = elab_is_active(el, k.nx, k.x, true) ? make_custom(&k, y) : NULL;
    for (int i = 0, j = 0; i < out.n; i++) {
        bool result = custom && kind_is_float(k.y.leaf[i]->kind);
        out.leaf[i] = result ? ir_result(el->m, custom, j++) : put_arguments(&k, k.y.leaf[i]);
    }
    return out;
}
