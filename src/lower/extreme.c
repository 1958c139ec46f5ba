// The index of the least or the greatest element, and the element itself where nobody asks for its index.
#include "lower/internal.h"

#include <math.h>

Temp lower_arg(Lower *l, Node *e) {
    Node *body = e->args[0];
    Temp best = lower_cell(l, body->kind, lower_value(l, ir_zero(l->ir, body->kind))),
         at = lower_cell(l, KIND_INT, lower_int(l, -1));
    Var *v = lower_loop_var(l, e->u.var, &body);
    Stmt *loop = lower_begin_for(l, v);
    lower_demand(l, body);
    Temp x = lower_value(l, body), b = lower_get(l, best), k = lower_get(l, at), i = lower_value(l, ir_var(v));
    // x replaces the best so far if it is the first, strictly better, or the first NaN
    Temp none = lower_temp(l, KIND_BOOL, NULL), none_args[] = {k, lower_int(l, 0)};
    lower_stmt(l, ST_OP, none, 2, none_args)->op = OP_lt;
    Temp better = lower_temp(l, KIND_BOOL, NULL), order[] = {e->op == OP_argmax ? b : x, e->op == OP_argmax ? x : b};
    lower_stmt(l, ST_OP, better, 2, order)->op = OP_lt;
    Temp take = lower_temp(l, KIND_BOOL, NULL), either[] = {none, better};
    lower_stmt(l, ST_OP, take, 2, either)->op = OP_or;
    if (kind_is_float(body->kind)) {
        Temp xnan = lower_temp(l, KIND_BOOL, NULL), bok = lower_temp(l, KIND_BOOL, NULL), xx[] = {x, x}, bb[] = {b, b};
        lower_stmt(l, ST_OP, xnan, 2, xx)->op = OP_ne;
        lower_stmt(l, ST_OP, bok, 2, bb)->op = OP_eq;
        Temp nan = lower_temp(l, KIND_BOOL, NULL), both[] = {xnan, bok}, now = lower_temp(l, KIND_BOOL, NULL);
        lower_stmt(l, ST_OP, nan, 2, both)->op = OP_and;
        Temp alt[] = {take, nan};
        lower_stmt(l, ST_OP, now, 2, alt)->op = OP_or;
        take = now;
    }
    scope_open(l);
    l->scope->branch = true;
    lower_set(l, best, x);
    lower_set(l, at, i);
    Block *then = scope_close(l);
    lower_stmt(l, ST_IF, -1, 1, &take)->body = then;
    lower_end_for(l, loop);
    return lower_get(l, at);
}

// ---- the element alone

// What no element is better than.
static Node *worst(Lower *l, Kind kind, bool max) {
    if (kind_is_float(kind)) return ir_real(l->ir, kind, max ? -INFINITY : INFINITY);
    return ir_int(l->ir, max ? INT64_MIN : INT64_MAX);
}

Temp lower_extreme(Lower *l, Node *arg) {
    Node *body = arg->args[0];
    bool max = arg->op == OP_argmax;
    Temp best = lower_cell(l, body->kind, lower_value(l, worst(l, body->kind, max)));
    Var *v = lower_loop_var(l, arg->u.var, &body);
    Stmt *loop = lower_begin_for(l, v);
    lower_demand(l, body);
    Temp x = lower_value(l, body), two[] = {lower_get(l, best), x}, better = lower_temp(l, body->kind, NULL);
    lower_stmt(l, ST_OP, better, 2, two)->op = max ? OP_max : OP_min;
    lower_set(l, best, better);
    lower_end_for(l, loop);
    return lower_get(l, best);
}

typedef struct Search {
    VEC(Node *) args;
    Map nodes; // Node: it is there
    Map uses;  // Node -> by how many nodes that are there
} Search;

static void visit(Node *e, void *data) {
    Search *z = data;
    map_put(&z->nodes, e, e);
    if (e->op == OP_argmin || e->op == OP_argmax) vec_push(&z->args, e);
    for (int i = 0; i < e->nargs; i++)
        if (e->args[i]->op == OP_argmin || e->args[i]->op == OP_argmax)
            map_put(&z->uses, e->args[i], (void *)((intptr_t)map_get(&z->uses, e->args[i]) + 1));
}

static void search(Search *z, int n, Node *const *roots) { ir_walk(n, roots, visit, z); }

static void search_free(Search *z) {
    vec_free(&z->args);
    map_free(&z->nodes);
    map_free(&z->uses);
}

// The body at the index, where that has no other use. What may fail has an index that must be checked.
void lower_find_extremes(Lower *l, const Func *f) {
    enum { MOST = 64 };
    Search all = {0};
    search(&all, func_roots(f), f->outputs);
    for (int i = 0; i < all.args.len && i < MOST; i++) {
        Node *arg = all.args.data[i], *e = ir_subst1(l->ir, arg->args[0], ir_var(arg->u.var), arg);
        if (e->partial || !map_get(&all.nodes, e) || (e->kind != KIND_INT && !kind_is_float(e->kind))) continue;
        Search below = {0};
        search(&below, 1, &e);
        if (map_get(&below.uses, arg) == map_get(&all.uses, arg)) map_put(&l->extremes, e, arg);
        search_free(&below);
    }
    search_free(&all);
}
