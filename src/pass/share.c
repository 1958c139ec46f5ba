// Let-lifting ([TL] section 5.1) where it pays: a dear value under loops that would compute it more than once becomes an
// array, filled once outside of them. That is so where a loop over one of its variables also depends on a variable that
// the value does not (it is invariant there), or where one loop needs the result of another, so that they cannot be one.
#include "pass/occurs.h"
#include "pass/pass.h"
#include "pass/trace.h"

#include "ir/rule.h"

#include <stdlib.h>

enum { MAX_VARS = 16, OWN_DEAR = 16 };

static bool worth_it(Node *e) {
    if (e->partial || e->fv->n == 0 || e->fv->n > MAX_VARS) return false;
    if (e->op == OP_gen) return pass_cost(e->args[0]) > PASS_COST_DEAR;
    if (e->rank) return e->op == OP_sum;
    return e->op == OP_sum || e->op == OP_argmin || e->op == OP_argmax || op_info[e->op].cost >= OWN_DEAR;
}

// The loops over v that evaluate e.
static int loops_over(const Nodes *n, const Var *v, Node *e, Node **out, int max) {
    int count = 0;
    for (int i = 0; i < n->binders.len && count < max; i++)
        if (n->binders.data[i]->u.var == v && binder_repeats(n->binders.data[i], e)) out[count++] = n->binders.data[i];
    return count;
}

// Does e change whenever u does? All variables of a sequential loop change together, and if the loop runs again whenever u
// changes, so do its states.
static bool changes_with(const Nodes *n, const Node *e, const Var *u) {
    if (node_has_var(e, u)) return true;
    for (int i = 0; i < n->all.len; i++) {
        const Node *loop = n->all.data[i];
        if (!ir_is_loop(loop)) continue;
        bool binds = ir_loop(loop)->index == u, with = ir_loop(loop)->index && node_has_var(e, ir_loop(loop)->index), state = false;
        for (int k = 0; k < ir_loop(loop)->n; k++) {
            binds |= ir_loop(loop)->state[k] == u;
            state |= node_has_var(e, ir_loop(loop)->state[k]);
        }
        if ((binds && (with || state)) || (state && changes_with(n, loop, u))) return true;
    }
    return false;
}

// Is e evaluated under a condition that holds for one value of u at most, as in [is[i] = u] * e?
static bool once(Ir *m, const Facts *f, const Var *u) {
    for (int i = 0; i < f->n; i++)
        if (!u->is_state && ir_solve(m, f->p[i], u)) return true;
    return false;
}

// Would the loops over v compute e again? Either they run inside something that e does not depend on, or one needs
// another's result.
static bool recomputes(Ir *m, const Nodes *nodes, const Facts *facts, Node *const *loop, int n, const Node *e) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < loop[i]->fv->n; k++)
            if (!changes_with(nodes, e, loop[i]->fv->v[k]) && !once(m, facts, loop[i]->fv->v[k])) return true;
        if (ir_reaches_any(loop[i]->args[0], n, loop)) return true;
    }
    return false;
}

typedef struct Lift {
    int n;
    Var *v[MAX_VARS];
} Lift;

static bool is_lifted(const Lift *lift, const Var *v) {
    for (int k = 0; k < lift->n; k++)
        if (lift->v[k] == v) return true;
    return false;
}

// Adds the variables of loops that run inside a lifted one.
static bool add_inner(const Nodes *n, Node *e, Lift *lift) {
    Node *loop[64];
    for (int i = 0; i < e->fv->n; i++) {
        Var *v = e->fv->v[i];
        bool under = false;
        if (is_lifted(lift, v)) continue;
        int count = loops_over(n, v, e, loop, 64);
        for (int j = 0; j < count; j++)
            for (int k = 0; k < lift->n; k++) under |= node_has_var(loop[j], lift->v[k]);
        if (under) {
            lift->v[lift->n++] = v;
            return true;
        }
    }
    return false;
}

// Is a variable of e that is not lifted bound inside a loop that is, by a sequential loop? The array would be made there,
// whole for each element that is read.
static bool inside_loop(const Nodes *n, Node *e, const Lift *lift) {
    Node *loop[64];
    for (int k = 0; k < lift->n; k++) {
        int count = loops_over(n, lift->v[k], e, loop, 64);
        for (int j = 0; j < count; j++)
            for (int i = 0; i < e->fv->n; i++)
                if (!is_lifted(lift, e->fv->v[i]) && !node_has_var(loop[j], e->fv->v[i])) return true;
    }
    return false;
}

// The array over the lifted variables, indexed by them; NULL if it would not be rectangular.
static Node *lifted(Ir *m, Node *e, const Lift *lift) {
    Node *array = e, *idx[MAX_VARS];
    if (e->rank + lift->n > MAX_VARS) return NULL;
    for (int k = 0; k < lift->n; k++) {
        for (int j = 0; j < lift->n; j++)
            if (lift->v[k]->is_state || node_has_var(lift->v[k]->extent, lift->v[j])) return NULL;
        if (!lift->v[k]->extent->nonneg) return NULL;
        for (int d = 0; d < e->rank; d++)
            if (node_has_var(e->shape[d], lift->v[k])) return NULL;
        idx[k] = ir_var(lift->v[k]);
    }
    Span keep = ir_from(m, e);
    for (int k = lift->n; k-- > 0;) array = ir_binder_plain(m, OP_gen, lift->v[k], array);
    Node *at = ir_at(m, array, lift->n, idx);
    m->span = keep;
    return at == e ? NULL : at;
}

// Is e the element of an array already, and nothing else?
static bool stored(const Nodes *n, Node *e) {
    int users = 0;
    bool gen = false;
    for (int i = 0; i < n->all.len; i++)
        for (int k = 0; k < n->all.data[i]->nargs; k++)
            if (n->all.data[i]->args[k] == e) users++, gen = n->all.data[i]->op == OP_gen;
    return users == 1 && gen;
}

static bool share_one(Func *f, Map *refused) {
    Nodes n;
    Map facts = {0};
    nodes_collect(f, &n);
    facts_collect(f->ir, n.all.len, n.all.data, &facts);
    bool changed = false;
    for (int i = n.all.len; i-- > 0 && !changed;) {
        Node *e = n.all.data[i], *loop[64];
        if (!worth_it(e) || map_get(refused, e)) continue;
        map_put(refused, e, e);
        if (e->rank == 0 && stored(&n, e)) continue;
        Lift lift = {0};
        for (int k = 0; k < e->fv->n; k++) {
            int count = loops_over(&n, e->fv->v[k], e, loop, 64);
            if (!e->fv->v[k]->is_state && recomputes(f->ir, &n, map_get(&facts, e), loop, count, e)) lift.v[lift.n++] = e->fv->v[k];
        }
        if (lift.n == 0) continue;
        while (lift.n < e->fv->n && add_inner(&n, e, &lift)) continue;
        Node *at = inside_loop(&n, e, &lift) ? NULL : lifted(f->ir, e, &lift);
        if (!at || !rule(f->ir, RULE_share)) continue;
        ir_replace_in(f->ir, f->noutputs, f->outputs, e, at);
        explain(f->ir->explain, EXPLAIN_LOOPS, e->span, "share: %s is stored: loops that cannot be one would compute it again",
                ir_quote(f->ir, e));
        changed = true;
    }
    nodes_free(&n);
    map_free(&facts);
    return changed;
}

void pass_share(Func *f) {
    Map refused = {0};
    for (int limit = 200; limit > 0 && share_one(f, &refused); limit--) continue;
    map_free(&refused);
}
