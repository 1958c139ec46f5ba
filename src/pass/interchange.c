// gen k (sum i e) runs over k outside and i inside. Where part of e is dear and depends on i but not on k, that part
// would be computed again for every k: then the sum goes outside, as a sum of arrays, sum i (gen k e), which lowering
// adds up in place. With this the gradient of a sum over data points is one pass over the points.
#include "pass/pass.h"
#include "support/map.h"

enum { MAX_RANK = 16 };

typedef struct Interchange {
    Ir *m;
    Map memo;
} Interchange;

// Is there a dear part of e that depends on v but not on k? Parts inside inner binders count.
static bool wasted(Node *e, const Var *v, const Var *k, Map *seen) {
    if (!node_has_var(e, v) || map_get(seen, e)) return false;
    map_put(seen, e, e);
    if (!node_has_var(e, k) && pass_cost(e) > PASS_COST_DEAR) return true;
    for (int i = 0; i < e->nargs; i++)
        if (wasted(e->args[i], v, k, seen)) return true;
    return false;
}

static bool repeats(Node *e, const Var *v, const Var *k) {
    Map seen = {0};
    bool r = wasted(e, v, k, &seen);
    map_free(&seen);
    return r;
}

static bool scatters(Ir *m, Node *e, Var *const *k, int n) { // an equality with one of the indices: left to lowering
    Node *c[64];
    int count = 0;
    while (e->op == OP_sum || e->op == OP_neg) e = e->args[0];
    if (e->op != OP_bracket || !ir_conjuncts(e->args[0], c, &count, 64)) return false;
    for (int j = 0; j < count; j++)
        for (int i = 0; i < n; i++)
            if (ir_solve(m, c[j], k[i])) return true;
    return false;
}

static Node *interchange(Interchange *x, Node *e);

// A sum in the body of gens over k[0..n): the element of a sum of arrays, or NULL.
// The sum stands under the bracket [guard] (NULL: none), which goes inside with it.
static Node *outer_sum(Interchange *x, Node *guard, Node *sum, Var *const *k, int n) {
    Var *v = sum->u.var;
    Node *e = guard ? ir_bracket(x->m, guard, sum->args[0]) : sum->args[0];
    if (scatters(x->m, e, k, n)) return NULL;
    for (int i = 0; i < n; i++)
        if (node_has_var(v->extent, k[i])) return NULL;
    int first = 0;
    while (first < n && !(node_has_var(e, k[first]) && repeats(e, v, k[first]))) first++;
    if (first == n) return NULL;
    Node *array = e, *idx[MAX_RANK];
    for (int i = n; i-- > first;) {
        if (!k[i]->extent->nonneg) return NULL;
        for (int j = first; j < i; j++)
            if (node_has_var(k[i]->extent, k[j])) return NULL;
        array = ir_binder_plain(x->m, OP_gen, k[i], array);
        idx[i] = ir_var(k[i]);
    }
    array = ir_binder_plain(x->m, OP_sum, v, interchange(x, array));
    return ir_at(x->m, array, n - first, idx + first);
}

// The body of gens over k, each sum in it that had better be outside replaced. Binders inside are not entered.
static Node *body_of(Interchange *x, Node *e, Var *const *k, int n, Map *memo) {
    if (e->nargs == 0 || e->op == OP_fold || e->op == OP_while) return e;
    Node *known = map_get(memo, e);
    if (known) return known;
    Node *out = e;
    bool mentions = false;
    for (int i = 0; i < n; i++) mentions |= node_has_var(e, k[i]);
    bool guarded = e->op == OP_bracket && e->args[1]->op == OP_sum && !e->args[0]->partial;
    Node *outer = NULL;
    if (e->op == OP_sum && mentions) outer = outer_sum(x, NULL, e, k, n);
    else if (guarded && mentions) outer = outer_sum(x, e->args[0], e->args[1], k, n);
    if (outer) {
        out = outer;
    } else if (mentions && !ir_is_binder(e)) {
        Node *few[8], **args = e->nargs <= 8 ? few : ARENA_ARRAY(x->m->arena, Node *, e->nargs);
        for (int i = 0; i < e->nargs; i++) args[i] = body_of(x, e->args[i], k, n, memo);
        out = ir_rebuild(x->m, e, args);
    }
    map_put(memo, e, out);
    return out;
}

static Node *interchange_gen(Interchange *x, Node *e) {
    Var *k[MAX_RANK];
    int n = 0;
    Node *body = e;
    for (; body->op == OP_gen && n < MAX_RANK; body = body->args[0]) k[n++] = body->u.var;
    if (body->rank == 0) {
        Map memo = {0};
        body = body_of(x, body, k, n, &memo);
        map_free(&memo);
    }
    body = interchange(x, body);
    for (int i = n; i-- > 0;) body = ir_gen(x->m, k[i], body);
    return body;
}

static Node *interchange(Interchange *x, Node *e) {
    if (e->nargs == 0) return e;
    Node *known = map_get(&x->memo, e);
    if (known) return known;
    Node *out;
    if (e->op == OP_gen) {
        out = interchange_gen(x, e);
    } else {
        Node *few[8], **args = e->nargs <= 8 ? few : ARENA_ARRAY(x->m->arena, Node *, e->nargs);
        bool same = true;
        for (int i = 0; i < e->nargs; i++) {
            args[i] = interchange(x, e->args[i]);
            same &= args[i] == e->args[i];
        }
        if (same) out = e;
        else out = ir_is_binder(e) ? ir_binder_plain(x->m, e->op, e->u.var, args[0]) : ir_rebuild(x->m, e, args);
    }
    map_put(&x->memo, e, out);
    return out;
}

void pass_interchange(Func *f) {
    Interchange x = {.m = f->ir};
    for (int i = 0; i < f->noutputs; i++) f->outputs[i] = interchange(&x, f->outputs[i]);
    map_free(&x.memo);
}
