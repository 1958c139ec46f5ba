// Forward mode: [TL] Fig. 13 and [FS] Fig. 7 on the value graph. Tangents are values of their own beside the primal's;
// NULL stands for a tangent that is zero. The tangent of a value is evaluated where the value itself is, so it needs no
// further guards.
#include "ad/graph.h"

typedef struct Forward {
    AdGraph g;
    Ir *m;
    Node **tan;      // by AdNode.order; of a loop: the loop over states and tangents
    Node ***results; // of a custom, or of the call of an extern: the tangents of its results
    AdError *error;
    bool failed;
} Forward;

static Node *tan_of(const Forward *f, const Node *e) {
    const AdNode *a = ad_graph_find(&f->g, e);
    return a ? f->tan[a->order] : NULL;
}

static Node *tan_or_zero(const Forward *f, Node *e) {
    Node *t = tan_of(f, e);
    return t ? t : ir_zeros_like(f->m, e);
}

static Node *elementwise(const Forward *f, const AdNode *a) {
    Ir *m = f->m;
    Node *total = NULL;
    for (int k = 0; k < a->e->nargs; k++) {
        Node *t = tan_of(f, a->args[k]);
        if (!t) continue;
        AdFactor d = ad_factor(m, a->e, k);
        if (!d.value) continue;
        Node *term = ad_times(m, t, d.value);
        term = d.guard ? ir_bracket(m, d.guard, term) : term;
        total = total ? ir_add(m, total, term) : term;
    }
    return total;
}

static Node *select_tan(const Forward *f, const AdNode *a) {
    Node *c = a->args[0], *t = tan_of(f, a->args[1]), *u = tan_of(f, a->args[2]);
    if (t && u) return ir_select(f->m, c, t, u);
    return t ? ir_bracket(f->m, c, t) : u ? ir_bracket(f->m, ir_not(f->m, c), u) : NULL;
}

static Node *pack_tan(const Forward *f, const AdNode *a) {
    const Node *e = a->e;
    Arena *arena = f->m->arena;
    Node **elems = ARENA_ARRAY(arena, Node *, e->nargs);
    int64_t *extents = ARENA_ARRAY(arena, int64_t, e->rank);
    for (int k = 0; k < e->nargs; k++) elems[k] = tan_or_zero(f, a->args[k]);
    for (int d = 0; d < e->rank; d++)
        if (!ir_is_int_lit(e->shape[d], &extents[d])) fatal_bug("an array literal has an extent that is not a constant");
    return ir_pack(f->m, e->kind, e->rank, extents, elems);
}

// One loop over the states and the tangents of those that are active ([FS] D-IFold). Each output is followed by its
// tangent.
static Node *loop_tan(const Forward *f, const AdNode *a) {
    const Loop *loop = a->loop;
    Arena *arena = f->m->arena;
    int n = loop->n, steps = loop_steps(a->e), nout = loop->nout;
    Loop both = {.index = loop->index,
                 .n = n,
                 .state = ARENA_ARRAY(arena, Var *, 2 * n),
                 .nout = 2 * nout,
                 .levels = loop->levels,
                 .limit = loop->limit,
                 .block = loop->block};
    Node **inits = ARENA_ARRAY(arena, Node *, 2 * n), **next = ARENA_ARRAY(arena, Node *, 2 * n);
    Node **out = ARENA_ARRAY(arena, Node *, 2 * nout + 1);
    for (int k = 0; k < n; k++) {
        both.state[k] = loop->state[k];
        inits[k] = a->args[k];
        next[k] = a->args[steps + k];
        Node *t = tan_of(f, ir_var(loop->state[k]));
        if (t) {
            both.state[both.n] = t->u.var;
            inits[both.n] = tan_or_zero(f, a->args[k]);
            next[both.n++] = tan_or_zero(f, a->args[steps + k]);
        }
    }
    for (int q = 0; q < nout; q++) {
        Node *e = out[2 * q] = a->args[steps + n + q];
        out[2 * q + 1] = kind_is_float(e->kind) ? tan_or_zero(f, e) : e;
    }
    return a->e->op == OP_while ? ir_while_out(f->m, &both, inits, a->args[n], next, out)
                                : ir_fold_out(f->m, &both, inits, next, out);
}

static Node *final_tan(const Forward *f, const AdNode *a) {
    const AdNode *loop = ad_graph_find(&f->g, a->args[0]);
    int k = (int)a->e->u.num, at = loop->loop->n;
    for (int j = 0; j < k; j++) at += tan_of(f, ir_var(loop->loop->state[j])) != NULL;
    return ir_final(f->m, f->tan[loop->order], at);
}

static Node *trace_tan(const Forward *f, const AdNode *a) {
    const AdNode *loop = ad_graph_find(&f->g, a->args[0]);
    return ir_trace(f->m, f->tan[loop->order], 2 * (int)a->e->u.num + 1);
}

static void custom_tan(Forward *f, const AdNode *a) {
    const Loop *l = a->loop;
    Node **in = ARENA_ARRAY(f->m->arena, Node *, l->nx), **out = ARENA_ARRAY(f->m->arena, Node *, l->ny);
    for (int k = 0; k < l->nx; k++) in[k] = tan_of(f, a->args[k]);
    f->results[a->order] = out;
    if (!f->failed && !ad_custom_tangents(f->m, a, in, out, f->error)) f->failed = true;
}

static Node *extern_tan(Forward *f, const AdNode *a) {
    const Extern *x = a->e->u.ext;
    Node ***out = &f->results[ad_graph_call(&f->g, a)->order];
    if (!*out) {
        Node **in = ARENA_ARRAY(f->m->arena, Node *, a->e->nargs);
        int n = 0;
        for (int k = 0; k < a->e->nargs; k++)
            if (kind_is_float(a->args[k]->kind)) in[n++] = tan_of(f, a->args[k]);
        *out = ARENA_ARRAY(f->m->arena, Node *, x->nresults);
        if (!ad_custom_tangents(f->m, a, in, *out, f->error)) f->failed = true;
    }
    return (*out)[ad_extern_floats(x, a->e->result)];
}

static Node *tangent(const Forward *f, const AdNode *a) {
    Ir *m = f->m;
    Node *e = a->e, *t = e->nargs > 0 ? tan_of(f, a->args[0]) : NULL;
    switch (e->op) {
    case OP_var: {
        const Var *v = e->u.var;
        return ir_var(ir_state(m, v->name, v->kind, v->rank, v->shape));
    }
    case OP_conv: return t ? ir_conv(m, e->kind, t) : NULL;
    case OP_select: return select_tan(f, a);
    case OP_bracket: t = tan_of(f, a->args[1]); return t ? ir_bracket(m, a->args[0], t) : NULL;
    case OP_assert: return tan_of(f, a->args[1]);
    case OP_at: return t ? ir_at(m, t, e->nargs - 1, a->args + 1) : NULL;
    case OP_gen: return t ? ir_gen(m, a->var, t) : NULL;
    case OP_sum: return t ? ir_sum(m, a->var, t) : NULL;
    case OP_pack: return pack_tan(f, a);
    case OP_fold:
    case OP_while: return loop_tan(f, a);
    case OP_final: return final_tan(f, a);
    case OP_trace: return trace_tan(f, a);
    case OP_result: return f->results[ad_graph_find(&f->g, a->args[0])->order][e->u.num];
    default: return op_is_elementwise(e->op) ? elementwise(f, a) : NULL;
    }
}

bool ad_forward(Ir *m, int ny, Node *const *y, Node **dy, int nx, Node *const *x, Node *const *dx, AdError *error) {
    Forward f = {.m = m, .error = error};
    y = ad_smooth_all(m, ny, y);
    const VarSet *outer = varset_empty;
    for (int j = 0; j < nx; j++) {
        outer = varset_union(m, outer, x[j]->fv);
        outer = dx[j] ? varset_union(m, outer, dx[j]->fv) : outer;
    }
    ad_graph_build(&f.g, m, ny, y, nx, x, outer);
    if (f.g.error.text) {
        *error = f.g.error;
        ad_graph_free(&f.g);
        return false;
    }
    f.tan = ARENA_ARRAY(m->arena, Node *, f.g.n + 1);
    f.results = ARENA_ARRAY(m->arena, Node **, f.g.n + 1);
    for (int j = 0; j < nx; j++) f.tan[ad_graph_find(&f.g, x[j])->order] = dx[j];
    Span span = m->span;
    for (int i = 0; i < f.g.n && !f.failed; i++) {
        const AdNode *a = f.g.order[i];
        if (a->active && !a->is_x) {
            m->span = a->e->span;
            if (a->e->op == OP_custom) custom_tan(&f, a);
            else if (a->e->op == OP_extern) f.tan[i] = extern_tan(&f, a);
            else f.tan[i] = tangent(&f, a);
        }
    }
    m->span = span;
    for (int i = 0; i < ny && !f.failed; i++) dy[i] = tan_or_zero(&f, y[i]);
    ad_graph_free(&f.g);
    return !f.failed;
}
