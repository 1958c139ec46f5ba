// Functions with derivatives of their own. A rule gives tangents of the results for tangents of the arguments, or adjoints
// of the arguments for adjoints of the results; either way it is linear in the direction, so the other mode is its
// transpose: the adjoint of the direction. A custom may have a rule for each mode.
#include "ad/graph.h"

// A rule at one use: values for its arguments, and the values that stand for zero directions.
typedef struct Rule {
    Ir *m;
    Node *at;
    bool adjoint;
    const char *name; // of the construct
    Extern *ext;      // or NULL
    int n, nd, nrule;
    Node **x, **d, **args, **zero, **rule;
} Rule;

static Node **vars_of(Ir *m, int n, Var *const *v) {
    Node **out = ARENA_ARRAY(m->arena, Node *, n + 1);
    for (int i = 0; i < n; i++) out[i] = ir_var(v[i]);
    return out;
}

static void rule_of_custom(Ir *m, const AdNode *a, bool adjoint, Rule *r) {
    const Loop *l = a->loop;
    bool second = l->both && l->adjoint != adjoint;
    int nd = l->adjoint ? l->ny : l->nx, nrule = ir_custom_rule(l); // of the first
    int d = l->nx + (second ? nd : 0), rule = l->n + l->ny + (second ? nrule : 0);
    r->adjoint = l->adjoint != second;
    r->name = arena_printf(m->arena, "the second function of this `%s`", l->adjoint ? "customVjp" : "customJvp");
    r->n = l->nx, r->nd = second ? nrule : nd, r->nrule = second ? nd : nrule;
    r->x = vars_of(m, r->n, l->state), r->d = vars_of(m, r->nd, l->state + d);
    r->zero = a->args + d, r->rule = a->args + rule;
}

// The rule for the mode, if there is one, else that for the other.
static bool rule_of(Ir *m, const AdNode *a, bool adjoint, Rule *r, AdError *error) {
    Node *e = a->e;
    *r = (Rule){.m = m, .at = e, .args = a->args + (e->op == OP_extern ? ir_extern_first(e) : 0)};
    if (e->op == OP_custom) {
        rule_of_custom(m, a, adjoint, r);
        return true;
    }
    Extern *x = r->ext = e->u.ext;
    if (x->state != RULE_READY) {
        const char *text = x->state == RULE_NONE ? "no derivative of `%s`: its `extern` gives none"
                                                 : "the derivative of `%s` is needed to define itself";
        *error = (AdError){e, arena_printf(m->arena, text, x->name)};
        return false;
    }
    r->adjoint = x->adjoint;
    r->name = arena_printf(m->arena, "the derivative that the `extern` of `%s` gives", x->name);
    r->n = x->n, r->nd = x->nd, r->nrule = x->nrule;
    r->x = x->x, r->d = x->d, r->rule = x->rule;
    r->zero = ARENA_ARRAY(m->arena, Node *, r->nd + 1);
    for (int i = 0, k = 0; i < r->nd; k++) { // what the directions are directions of
        Node *of = r->adjoint ? ir_extern_result(m, e, k) : r->args[k];
        if (kind_is_float(of->kind)) r->zero[i++] = ir_zeros_like(m, of);
    }
    return true;
}

static void apply_rule(const Rule *r, Node *const *in, Node **out) {
    int n = r->n + r->nd;
    Node **from = ARENA_ARRAY(r->m->arena, Node *, n), **to = ARENA_ARRAY(r->m->arena, Node *, n);
    for (int i = 0; i < n; i++) {
        int j = i - r->n;
        from[i] = j < 0 ? r->x[i] : r->d[j];
        to[i] = j < 0 ? r->args[i] : in[j] ? in[j] : r->zero[j];
    }
    for (int k = 0; k < r->nrule; k++) out[k] = ir_subst(r->m, r->rule[k], n, from, to);
}

// The rule in terms of directions of its own, which get the place of those that are given for it.
static Node **rule_in(const Rule *r, Node **x, Node **d) {
    int n = r->n + r->nd;
    Node **from = ARENA_ARRAY(r->m->arena, Node *, n), **to = ARENA_ARRAY(r->m->arena, Node *, n);
    Node **y = ARENA_ARRAY(r->m->arena, Node *, r->nrule);
    for (int i = 0; i < n; i++) {
        int j = i - r->n;
        if (j >= 0) d[j] = ir_var(ir_state(r->m, "d", r->d[j]->kind, r->d[j]->rank, r->zero[j]->shape));
        from[i] = j < 0 ? r->x[i] : r->d[j];
        to[i] = j < 0 ? x[i] : d[j];
    }
    for (int k = 0; k < r->nrule; k++) y[k] = ir_subst(r->m, r->rule[k], n, from, to);
    return y;
}

typedef struct Directions {
    const Rule *r;
    Node **d;
} Directions;

// What the rule checks about its direction: a transpose has none, and whether a linear function fails cannot depend on
// it.
static Node *checked_at_zero(Ir *m, Node *e, void *data) {
    const Directions *z = data;
    return e->op == OP_evaluated ? ir_subst(m, e, z->r->nd, z->d, z->r->zero) : e;
}

// States in the place of the adjoints.
static Node **like(Ir *m, int n, Node *const *y, Node *const *in) {
    Node **out = ARENA_ARRAY(m->arena, Node *, n + 1);
    for (int k = 0; k < n; k++) out[k] = in[k] ? ir_var(ir_state(m, "adj", y[k]->kind, y[k]->rank, y[k]->shape)) : NULL;
    return out;
}

// Puts the arguments, and the adjoints, in the place of their states.
static void put(const Rule *r, Node **w, Node *const *in, Node **out) {
    int n = 0, most = r->n + r->nrule;
    Node **from = ARENA_ARRAY(r->m->arena, Node *, most + 1), **to = ARENA_ARRAY(r->m->arena, Node *, most + 1);
    for (int i = 0; i < most; i++) {
        Node *e = i < r->n ? r->x[i] : w[i - r->n];
        if (e) from[n] = e, to[n++] = i < r->n ? r->args[i] : in[i - r->n];
    }
    Rewriting *all = ir_substituting(r->m, n, from, to);
    for (int i = 0; i < r->nd; i++) out[i] = ir_rewrite(all, out[i]);
    ir_rewriting_end(all);
}

// The rule is transposed in terms of its own variables, which stand for its arguments: what these are made of is not
// looked at, or a derivative would go over the whole program for each use of the function.
static bool transpose(const Rule *r, Node *const *in, Node **out, AdError *error) {
    Node **d = ARENA_ARRAY(r->m->arena, Node *, r->nd + 1), **y = rule_in(r, r->ext ? r->args : r->x, d);
    Node **w = r->ext ? (Node **)in : like(r->m, r->nrule, y, in);
    if (r->ext && r->ext->transposed) { // the rule applies the function to its direction
        const char *text = r->adjoint ? "no forward-mode derivative here: %s needs that of `%s`; give it with `jvp`"
                                      : "no reverse-mode derivative here: %s needs that of `%s`; give it with `vjp`";
        *error = (AdError){r->at, arena_printf(r->m->arena, text, r->name, r->ext->name)};
        return false;
    }
    if (r->ext) r->ext->transposed = true;
    bool ok = ad_reverse(r->m, r->nrule, y, w, r->nd, d, out, error);
    if (r->ext) r->ext->transposed = false;
    if (!ok) return false;
    for (int i = 0; i < r->nd; i++) out[i] = ir_change(r->m, out[i], checked_at_zero, &(Directions){r, d});
    for (int i = 0; i < r->nd * r->nd; i++) {
        if (node_has_var(out[i / r->nd], d[i % r->nd]->u.var)) {
            const char *text = r->adjoint ? "no forward-mode derivative here: %s is not linear in its second argument%s"
                                          : "no reverse-mode derivative here: %s is not linear in its second argument%s";
            const char *advice = r->ext ? "" : "; one for this mode can follow it";
            *error = (AdError){r->at, arena_printf(r->m->arena, text, r->name, advice)};
            return false;
        }
    }
    if (!r->ext) put(r, w, in, out);
    return true;
}

static bool derive(Ir *m, const AdNode *a, bool adjoint, Node *const *in, Node **out, AdError *error) {
    Rule r;
    if (!rule_of(m, a, adjoint, &r, error)) return false;
    if (r.adjoint != adjoint) return transpose(&r, in, out, error);
    apply_rule(&r, in, out);
    return true;
}

bool ad_custom_tangents(Ir *m, const AdNode *a, Node *const *in, Node **out, AdError *error) {
    return derive(m, a, false, in, out, error);
}

bool ad_custom_adjoints(Ir *m, const AdNode *a, Node *const *in, Node **out, AdError *error) {
    return derive(m, a, true, in, out, error);
}
