// What reverse mode differentiates is brought into closed forms first, across branches and loops ([CO] section 4): the
// derivative of a closed form needs no trace. And loops stand outside of what they do not depend on:
//
//     sum i (sin (sum j < i (final of a loop for j)))   reads t[j], t = gen j < n (final of a loop for j)
//
// The adjoint of the loop for j is then one number for each j, added up for all i, and not one for each i and j.
#include "ad/graph.h"
#include "support/vec.h"

enum { MOST_NODES = 64 };

typedef struct Lift {
    Ir *m;
    Map mentions; // value -> VarSet: what it depends on, but for the ranges of these variables
    Map over;     // variable -> that over all of its values
    Map seen;
    Rewriting *arrays; // loops' results -> elements
    bool any;
} Lift;

static Node *closed(Ir *m, Node *e, void *data) {
    (void)data;
    Node *by = e->op == OP_final && e->args[0]->op == OP_while ? ir_while_closed(m, e->args[0], (int)e->u.num) : NULL;
    if (!by) return e;
    explain(m->explain, EXPLAIN_DERIVATIVES, e->args[0]->span,
            "coarsening: the state `%s` after this loop is differentiated in closed form, by the number of iterations",
            ir_loop(e->args[0])->state[e->u.num]->name);
    return by;
}

// ---- loops inside of what they do not depend on

static const VarSet *mentions(Lift *l, Node *e) {
    if (e->fv->n == 0) return varset_empty;
    if (e->op == OP_var) return varset_of(l->m, e->u.var);
    const VarSet *all = map_get(&l->mentions, e);
    if (all) return all;
    all = varset_empty;
    Node *of;
    for (int k = 0; (of = ir_operand(e, k)); k++) all = varset_union(l->m, all, mentions(l, of));
    if (ir_is_binder(e)) all = varset_remove(l->m, all, e->u.var);
    for (int k = 0; k < all->n; k++)
        if (!node_has_var(e, all->v[k])) all = varset_remove(l->m, all, all->v[k--]);
    map_put(&l->mentions, e, (void *)all);
    return all;
}

// A variable over all values of v, whose range depends on `others`; NULL: these are not seen.
static Var *over_all(Lift *l, Var *v, const VarSet *others) {
    Var *known = map_get(&l->over, v);
    if (known) return known;
    Node *extent = v->is_state ? NULL : ir_farthest(l->m, v->extent, others, true);
    if (!extent || extent->partial || varset_meets(extent->fv, others) || extent->fv->n) return NULL;
    known = ir_index_like(l->m, v, extent->nonneg ? extent : ir_max(l->m, extent, ir_int(l->m, 0)));
    map_put(&l->over, v, known);
    return known;
}

// The element of an array of e's, over those of its variables whose ranges depend on what it does not mention; NULL: it
// has none, or not only such.
static Node *lifted(Lift *l, Node *e) {
    enum { VARS = 4 };
    Ir *m = l->m;
    const VarSet *own = mentions(l, e), *others = e->fv;
    Node *idx[VARS], *array = e;
    Var *over[VARS];
    int n = 0;
    for (int k = 0; k < own->n; k++) others = varset_remove(m, others, own->v[k]);
    if (!others->n) return NULL;
    for (int k = 0; k < own->n; k++) {
        Var *v = own->v[k];
        if (v->is_state) return NULL;
        if (!varset_meets(v->extent->fv, others)) continue;
        if (n == VARS || !(over[n] = over_all(l, v, others))) return NULL;
        idx[n++] = ir_var(v);
    }
    for (int k = 0; k < n; k++) array = ir_subst1(m, array, idx[k], ir_var(over[k]));
    if (n == 0 || array->partial) return NULL;
    for (int k = n; k-- > 0;) array = ir_gen(m, over[k], array);
    return ir_at(m, array, n, idx);
}

// Do data decide whether p holds?
static bool reads_data(const Node *p, int *fuel) {
    if (p->op == OP_at || ir_is_loop(p) || --*fuel < 0) return true;
    for (int k = 0; k < p->nargs; k++)
        if (reads_data(p->args[k], fuel)) return true;
    return false;
}

static bool lift(Lift *l, Node *e) {
    const bool result = e->op == OP_final && e->args[0]->op == OP_fold;
    Node *by = result && !e->rank && kind_is_float(e->kind) && !e->partial ? lifted(l, e) : NULL;
    if (!by) return false;
    explain(l->m->explain, EXPLAIN_DERIVATIVES, e->args[0]->span,
            "the results of this loop are differentiated as an array, by what it depends on");
    ir_replacing_too(l->arrays, e, by);
    return l->any = true;
}

// Are all operands of e needed where it is, whatever the data are? Of an array, what is read is needed.
static bool needs_all(const Node *e) {
    bool chooses = e->op == OP_select || e->op == OP_bracket || e->op == OP_and || e->op == OP_or;
    if (chooses && reads_data(e->args[0], &(int){MOST_NODES})) return false;
    return e->op != OP_at || !ir_is_binder(e->args[0]);
}

// Finds loops that are evaluated whatever the data are. Programs may be deeper than the stack.
static void find_loops(Lift *l, Node *e) {
    VEC(Node *) todo = {0};
    vec_push(&todo, e);
    while (todo.len) {
        e = vec_pop(&todo);
        if (e->nargs == 0 || map_get(&l->seen, e)) continue;
        map_put(&l->seen, e, e);
        if (lift(l, e) || !needs_all(e)) continue;
        for (int k = e->nargs; k-- > 0;) vec_push(&todo, e->args[k]);
    }
    vec_free(&todo);
}

static void lift_loops(Ir *m, int n, Node **y) {
    Lift l = {.m = m, .arrays = ir_replacing(m, 0, NULL, NULL)};
    for (int i = 0; i < n; i++) find_loops(&l, y[i]);
    for (int i = 0; i < n && l.any; i++) y[i] = ir_rewrite(l.arrays, y[i]);
    ir_rewriting_end(l.arrays);
    map_free(&l.mentions), map_free(&l.over), map_free(&l.seen);
}

Node **ad_elevate(Ir *m, int n, Node *const *y) {
    Node **out = ad_smooth_all(m, n, y);
    for (int i = 0; i < n && m->fast; i++) out[i] = ir_change(m, out[i], closed, NULL);
    if (!m->raw) lift_loops(m, n, out);
    return out;
}
