// Functions with derivatives of their own. A rule gives tangents of the results for tangents of the arguments, or adjoints
// of the arguments for adjoints of the results; either way it is linear in the direction, so the other mode is its
// transpose: the adjoint of the direction.
#include "ad/graph.h"

// The k-th value of the rule, in terms of the direction: the arguments are put in their place.
static Node *rule(Ir *m, const AdNode *a, int k) {
    const Loop *l = a->loop;
    Node **from = ARENA_ARRAY(m->arena, Node *, l->nx);
    for (int j = 0; j < l->nx; j++) {
        from[j] = ir_var(l->state[j]);
    }
    return ir_subst(m, a->args[l->n + l->ny + k], l->nx, from, a->args);
}

static void apply_rule(Ir *m, const AdNode *a, Node *const *in, Node **out) {
    const Loop *l = a->loop;
    int nd = l->n - l->nx;
    Node **from = ARENA_ARRAY(m->arena, Node *, l->n), **to = ARENA_ARRAY(m->arena, Node *, l->n);
    for (int j = 0; j < l->nx; j++) {
        from[j] = ir_var(l->state[j]);
        to[j] = a->args[j];
    }
    for (int j = 0; j < nd; j++) {
        from[l->nx + j] = ir_var(l->state[l->nx + j]);
        to[l->nx + j] = in[j] ? in[j] : a->args[l->nx + j];
    }
    for (int k = 0; k < ir_custom_rule(l); k++) {
        out[k] = ir_subst(m, a->args[l->n + l->ny + k], l->n, from, to);
    }
}

static bool transpose(Ir *m, const AdNode *a, Node *const *in, Node **out, AdError *error) {
    const Loop *l = a->loop;
    int nd = l->n - l->nx, n = ir_custom_rule(l);
    Node **y = ARENA_ARRAY(m->arena, Node *, n), **d = ARENA_ARRAY(m->arena, Node *, nd);
    for (int k = 0; k < n; k++) {
        y[k] = rule(m, a, k);
    }
    for (int j = 0; j < nd; j++) {
        d[j] = ir_var(l->state[l->nx + j]);
    }
    if (!ad_reverse(m, n, y, in, nd, d, out, error)) {
        return false;
    }
    for (int i = 0; i < nd; i++) {
        for (int j = 0; j < nd; j++) {
            if (node_has_var(out[i], l->state[l->nx + j])) {
                *error = (AdError){a->e, l->adjoint ? "no forward-mode derivative here: the second function of this "
                                                      "`customVjp` is not linear in its second argument"
                                                    : "no reverse-mode derivative here: the second function of this "
                                                      "`customJvp` is not linear in its second argument"};
                return false;
            }
        }
    }
    return true;
}

bool ad_custom_tangents(Ir *m, const AdNode *a, Node *const *in, Node **out, AdError *error) {
    if (a->loop->adjoint) {
        return transpose(m, a, in, out, error);
    }
    apply_rule(m, a, in, out);
    return true;
}

bool ad_custom_adjoints(Ir *m, const AdNode *a, Node *const *in, Node **out, AdError *error) {
    if (!a->loop->adjoint) {
        return transpose(m, a, in, out, error);
    }
    apply_rule(m, a, in, out);
    return true;
}
