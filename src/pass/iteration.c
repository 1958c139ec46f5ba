// A loop and another that reads its trace: what the second computes from the trace is what the first computed from its
// states.
#include "pass/trace.h"

Iteration iteration_of(Ir *m, Node *read) {
    Node *trace = read->args[0], *t = read->args[1];
    Iteration x = {.loop = trace->args[0], .r = t};
    for (int i = 0; i < t->fv->n && !x.t; i++) {
        Var *v = t->fv->v[i], *index = ir_loop(x.loop)->index;
        int64_t c;
        Poly rest;
        if (v->is_state || node_has_var(trace, v) || !poly_linear(m, poly_of(m, t), ir_var(v), &c, &rest)) continue;
        if (c != 1 && c != -1) continue;
        x.t = v;
        if (index) x.inverse = ir_mul(m, ir_int(m, c), ir_sub(m, ir_var(index), poly_node(m, rest)));
    }
    return x;
}

static Node *output_read(Ir *m, Node *read, void *iteration) {
    const Iteration *x = iteration;
    if (read->op != OP_at || read->args[0]->op != OP_trace || read->args[0]->args[0] != x->loop || read->args[1] != x->r)
        return read;
    Node *out = loop_output(x->loop, (int)read->args[0]->u.num);
    return ir_at(m, out, out->rank, read->args + 2);
}

Node *iteration_in_loop(Ir *m, Iteration *x, Node *e) {
    if (!x->reads) {
        Node *t = ir_var(x->t);
        x->reads = ir_changing(m, x->t, output_read, x);
        x->shift = ir_substituting(m, x->inverse != NULL, &t, &x->inverse);
    }
    return ir_rewrite(x->shift, ir_rewrite(x->reads, e));
}

void iteration_end(Iteration *x) {
    if (x->reads) ir_rewriting_end(x->reads), ir_rewriting_end(x->shift);
    x->reads = x->shift = NULL;
}

bool loop_varies(const Loop *l, const Node *e) {
    for (int k = -(l->index != NULL); k < l->n; k++)
        if (node_has_var(e, l->state[k])) return true;
    return false;
}

static bool is_bound_by(const Loop *l, const Var *v) {
    if (l->index == v) return true;
    for (int k = 0; k < l->n; k++)
        if (l->state[k] == v) return true;
    return false;
}

int iteration_inner(const Iteration *x, const Node *e, Var **w) {
    int n = 0;
    for (int i = 0; i < e->fv->n; i++) {
        Var *v = e->fv->v[i];
        if (is_bound_by(ir_loop(x->loop), v) || node_has_var(x->loop, v)) continue;
        if (v->is_state || v == x->t || n == PART_RANK) return -1;
        for (int k = 0; k < v->extent->fv->n; k++)
            if (!node_has_var(x->loop, v->extent->fv->v[k])) return -1;
        w[n++] = v;
    }
    return n;
}

Node *iteration_array(Ir *m, Node *e, int n, Var *const *w) {
    while (n-- > 0) {
        Var *v = ir_index_like(m, w[n], ir_trips(m, w[n]->extent));
        e = ir_gen(m, v, ir_subst1(m, e, ir_var(w[n]), ir_var(v)));
    }
    return e;
}

// Does evaluating e evaluate x?
static bool demands(const Node *e, const Node *x, Map *seen) {
    if (e == x) return true;
    if (e->id < x->id || ir_is_binder(e) || ir_is_loop(e) || map_get(seen, e)) return false;
    map_put(seen, e, (void *)e);
    bool guards = e->op == OP_select || e->op == OP_bracket || e->op == OP_and || e->op == OP_or;
    for (int i = 0; i < (guards ? 1 : e->nargs); i++)
        if (demands(e->args[i], x, seen)) return true;
    return false;
}

Node *iteration_demands(Ir *m, const Node *loop, const Node *x) {
    for (int k = 0; k < ir_loop(loop)->n + (loop->op == OP_while); k++) {
        Node *e = loop->args[ir_loop(loop)->n + k], *cond = ir_bool(m, true); // a while loop's condition, too
        for (; e->op == OP_gen; e = e->args[0]) cond = ir_and(m, cond, ir_lt(m, ir_int(m, 0), e->u.var->extent));
        Map seen = {0};
        bool yes = demands(e, x, &seen);
        map_free(&seen);
        if (yes) return cond;
    }
    return NULL;
}
