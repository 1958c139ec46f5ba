// What is evaluated whenever the function returns: an error in it can be raised earlier, and it can be computed outside of
// loops. Not so: what a guard's condition decides, what only some elements of an array need, steps of loops that may make no
// iteration. Of a loop's result of which all elements are needed, the last step makes all.
#include "pass/pass.h"

#include "support/vec.h"

typedef struct Certain {
    Ir *m;
    CertainVisit *visit; // or NULL
    void *data;
    Map *found;            // what is evaluated for all values of its variables
    bool guess;            // what is visited is evaluated usually
    Map usual;             // and what has been
    Map wholes, partly;    // what has been seen with all elements, and under so many of `some` (+ 1)
    Map states, steps;     // of loops: what a step reads all elements of, and those of which all steps are visited
    VEC(const Var *) some; // variables of arrays of which not all elements are read, outermost first
} Certain;

static void visit(Certain *c, Node *e, bool whole);

static bool runs(const Certain *c, Node *n) {
    int64_t count;
    if (ir_is_int_lit(n, &count)) return count > 0;
    if (n->op == OP_min) return runs(c, n->args[0]) && runs(c, n->args[1]);
    if (n->op == OP_max) return runs(c, n->args[0]) || runs(c, n->args[1]);
    return poly_nonneg(c->m, poly_add(c->m, poly_of(c->m, n), poly_of(c->m, ir_int(c->m, -1))));
}

static void visit_array(Certain *c, Node *e, bool whole) {
    visit(c, e->u.var->extent, false);
    if (!runs(c, e->u.var->extent)) return;
    if (!whole) vec_push(&c->some, e->u.var);
    visit(c, e->args[0], whole);
    if (!whole) c->some.len--;
}

static void visit_loop(Certain *c, Node *e) {
    Loop *l = ir_loop(e);
    int first = e->op == OP_fold ? loop_steps(e) : l->n;
    if (e->op == OP_fold) visit(c, l->index->extent, false);
    for (int i = 0; i < first; i++) visit(c, e->args[i], false);
    if (e->op == OP_while || !runs(c, l->index->extent)) return;
    for (int i = first; i < e->nargs; i++) visit(c, e->args[i], false);
}

// All elements of state k's value after each iteration, and of what states this is made of as wholes.
static void visit_all_steps(Certain *c, const Node *loop, int k) {
    const Loop *l = ir_loop(loop);
    visit(c, loop_step(loop, k), true);
    for (int j = 0; j < l->n; j++) {
        Node *state = ir_var(l->state[j]);
        if (j == k || !map_get(&c->states, state) || map_get(&c->steps, state)) continue;
        map_put(&c->steps, state, state);
        visit_all_steps(c, loop, j);
    }
}

// All elements of the state's last value, and so of its last step: for one value of what changes in the loop; but of
// all steps, if a step needs all elements of the one before.
static void visit_last_step(Certain *c, const Node *loop, int k) {
    const Loop *l = ir_loop(loop);
    int before = c->some.len;
    if (loop->op != OP_fold || !runs(c, l->index->extent)) return;
    vec_push(&c->some, l->index);
    for (int j = 0; j < l->n; j++) vec_push(&c->some, l->state[j]);
    visit(c, loop_step(loop, k), true);
    c->some.len = before;
    if (map_get(&c->states, ir_var(l->state[k]))) visit_all_steps(c, loop, k);
}

// Is e computed of indices and arguments?
static bool is_of_indices(const Node *e, int *fuel) {
    if (--*fuel < 0 || kind_is_float(e->kind) || e->rank) return false;
    if (e->op == OP_lit || e->op == OP_input) return true;
    if (e->op == OP_var) return !e->u.var->is_state;
    if (!op_is_elementwise(e->op) && e->op != OP_select) return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_of_indices(e->args[i], fuel)) return false;
    return true;
}

// What a condition on indices decides is usually evaluated for some of them; so is only what is visited, not what is
// found.
static void visit_arms(Certain *c, const Node *e) {
    enum { MOST = 32 };
    int before = c->some.len;
    const VarSet *vars = e->args[0]->fv;
    if (vars->n == 0 || !is_of_indices(e->args[0], &(int){MOST})) return;
    bool guess = c->guess;
    for (int i = 0; i < vars->n; i++) vec_push(&c->some, vars->v[i]);
    c->guess = true;
    for (int i = 1; i < e->nargs; i++) visit(c, e->args[i], false);
    c->guess = guess, c->some.len = before;
}

// Does an index stand for each dimension that takes all values there are? `a[i, j]` for all rows i and columns j.
static bool reads_all(const Certain *c, const Node *read) {
    for (int k = 1; k < read->nargs; k++) {
        const Node *i = read->args[k];
        if (i->op != OP_var || i->u.var->is_state || i->u.var->extent != read->args[0]->shape[k - 1]) return false;
        for (int j = 1; j < k; j++)
            if (read->args[j] == i) return false;
        for (int j = 0; j < c->some.len; j++)
            if (c->some.data[j] == i->u.var) return false;
    }
    return true;
}

// whole: all elements of e are needed.
static void visit(Certain *c, Node *e, bool whole) {
    uintptr_t partly = 0;
    if (e->op == OP_var && e->u.var->is_state && whole && !c->guess) map_put(&c->states, e, e);
    for (int i = 0; i < c->some.len; i++) partly += node_has_var(e, c->some.data[i]);
    Map *all = c->guess ? &c->usual : c->found, *seen = partly ? &c->partly : e->rank && whole ? &c->wholes : all;
    uintptr_t before = (uintptr_t)map_get(seen, e);
    if (before && before <= partly + 1) return;
    map_put(seen, e, (void *)(partly + 1));
    if (!partly) map_put(all, e, (void *)(uintptr_t)1);
    if (c->visit) c->visit(e, c->some.len, c->some.data, c->data);
    switch (e->op) {
    case OP_select:
    case OP_bracket:
    case OP_and:
    case OP_or:
        visit(c, e->args[0], false);
        if (c->visit) visit_arms(c, e);
        return;
    case OP_gen: visit_array(c, e, whole); return;
    case OP_sum: visit_array(c, e, true); return;
    case OP_argmin:
    case OP_argmax: visit_array(c, e, true); return;
    case OP_fold:
    case OP_while: visit_loop(c, e); return;
    case OP_at:
        for (int i = 1; i < e->nargs; i++) visit(c, e->args[i], false);
        visit(c, e->args[0], c->visit && reads_all(c, e));
        return;
    case OP_final:
        if (whole && c->visit) visit_last_step(c, e->args[0], (int)e->u.num);
        visit(c, e->args[0], false);
        return;
    case OP_pack:
        for (int i = 0; i < e->nargs && whole; i++) visit(c, e->args[i], true);
        return;
    case OP_evaluated:
        for (int i = 0; i < e->nargs; i++) visit(c, e->args[i], true);
        return;
    default:
        for (int i = 0; i < e->nargs; i++) visit(c, e->args[i], false);
    }
}

void pass_certain(const Func *f, Map *found) { pass_certain_visit(f, found, NULL, NULL); }

void pass_certain_visit(const Func *f, Map *found, CertainVisit *visit_each, void *data) {
    Certain c = {.m = f->ir, .found = found, .visit = visit_each, .data = data};
    for (int i = 0; i < func_roots(f); i++) visit(&c, f->outputs[i], true);
    map_free(&c.usual), map_free(&c.wholes), map_free(&c.partly), map_free(&c.states), map_free(&c.steps);
    vec_free(&c.some);
}
