#include "ad/graph.h"

#include <string.h>

// ---- renaming apart
// Complete binders are interned up to the names of their variables, so a clash cannot be removed by building another
// binder: the graph keeps the operands of a clashing binder under another variable instead.
static Var *rename_var(AdGraph *g, Var *v) {
    Var *fresh = map_get(&g->renamed, v);
    if (!fresh) {
        fresh = v->is_state ? ir_state(g->m, v->name, v->kind, v->rank, v->shape) : ir_index_like(g->m, v, v->extent);
        map_put(&g->renamed, v, fresh);
    }
    return fresh;
}

static void rename_binder(AdGraph *g, AdNode *a) {
    if (!varset_has(g->outer, a->var)) return;
    Var *fresh = rename_var(g, a->var);
    a->args = ARENA_ARRAY(g->m->arena, Node *, 1);
    a->args[0] = ir_subst1(g->m, a->e->args[0], ir_var(a->var), ir_var(fresh));
    a->var = fresh;
}

static void rename_loop(AdGraph *g, AdNode *a) {
    Arena *arena = g->m->arena;
    const Loop *old = a->loop;
    Node **from = ARENA_ARRAY(arena, Node *, old->n + 1), **to = ARENA_ARRAY(arena, Node *, old->n + 1);
    int n = 0;
    Loop *loop = arena_copy(arena, old, sizeof *old);
    loop->state = arena_copy(arena, old->state, sizeof(Var *) * (size_t)old->n);
    if (old->index && varset_has(g->outer, old->index)) {
        loop->index = rename_var(g, old->index);
        from[n] = ir_var(old->index), to[n++] = ir_var(loop->index);
    }
    for (int k = 0; k < old->n; k++) {
        if (varset_has(g->outer, old->state[k])) {
            loop->state[k] = rename_var(g, old->state[k]);
            from[n] = ir_var(old->state[k]), to[n++] = ir_var(loop->state[k]);
        }
    }
    if (n == 0) return;
    a->loop = loop;
    a->args = arena_copy(arena, a->e->args, sizeof(Node *) * (size_t)a->e->nargs);
    for (int k = old->n; k < a->e->nargs; k++) // the initial values are outside the scope of the variables
        a->args[k] = ir_subst(g->m, a->e->args[k], n, from, to);
}

// ---- traversal
static AdNode *add_node(AdGraph *g, Node *e) {
    AdNode *a = ARENA_NEW(g->m->arena, AdNode);
    a->e = e;
    a->args = e->args;
    a->order = -1;
    map_put(&g->nodes, e, a);
    return a;
}

static void open_node(AdGraph *g, AdNode *a) {
    if (ir_is_loop(a->e) || a->e->op == OP_custom) {
        a->loop = a->e->u.loop;
        rename_loop(g, a);
    } else if (ir_is_binder(a->e)) {
        a->var = a->e->u.var;
        rename_binder(g, a);
    }
}

AdNode *ad_graph_find(const AdGraph *g, const Node *e) { return map_get(&g->nodes, e); }

Node *ad_next_operand(const AdNode *a, int *k) {
    int nstates = a->loop ? a->loop->n : 0, n = a->is_x ? 0 : a->e->nargs + nstates;
    if (a->e->op == OP_custom) n = a->loop->nx; // its results and its rule are in terms of variables of their own
    while (*k < n) {
        int i = (*k)++;
        Node *o = i < a->e->nargs ? a->args[i] : ir_var(a->loop->state[i - a->e->nargs]);
        if (kind_is_float(o->kind) || ir_is_loop(o) || o->op == OP_custom) return o;
    }
    return NULL;
}

static void *grow(Arena *arena, void *data, int n, int *cap, size_t size) {
    if (n < *cap) return data;
    *cap = *cap ? 2 * *cap : 64;
    void *more = arena_alloc(arena, size * (size_t)*cap);
    if (n > 0) memcpy(more, data, size * (size_t)n);
    return more;
}

int ad_extern_floats(const Extern *x, int k) {
    int n = 0;
    for (int i = 0; i < k; i++) n += kind_is_float(x->results[i].kind);
    return n;
}

AdNode *ad_graph_call(const AdGraph *g, const AdNode *a) { return map_get(&g->calls, ir_extern_result(g->m, a->e, 0)); }

static void append(AdGraph *g, AdNode *a) {
    if (a->e->op == OP_extern && !a->is_x && !ad_graph_call(g, a))
        map_put(&g->calls, ir_extern_result(g->m, a->e, 0), a);
    g->order = grow(g->m->arena, g->order, g->n, &g->cap, sizeof *g->order);
    a->order = g->n;
    g->order[g->n++] = a;
}

typedef struct Frame {
    AdNode *a;
    int next;
} Frame;

typedef struct Stack {
    Frame *at;
    int n, cap;
} Stack;

static void enter(AdGraph *g, Stack *s, Node *e) {
    if (ad_graph_find(g, e)) return;
    AdNode *a = add_node(g, e);
    open_node(g, a);
    s->at = grow(g->m->arena, s->at, s->n, &s->cap, sizeof *s->at);
    s->at[s->n++] = (Frame){a, 0};
}

// Depth first with a stack of its own: chains of values are as long as programs make them.
static void visit(AdGraph *g, Stack *s, Node *root) {
    enter(g, s, root);
    while (s->n > 0) {
        Frame *top = &s->at[s->n - 1];
        Node *operand = ad_next_operand(top->a, &top->next);
        if (operand) {
            enter(g, s, operand);
            continue;
        }
        append(g, top->a);
        s->n--;
    }
}

// ---- activity
static bool set_active(AdNode *a) {
    bool changed = !a->active;
    a->active = true;
    return changed;
}

// A state is active if its initial value or its step is. True if a state became active.
static bool spread_loop(const AdGraph *g, AdNode *a) {
    bool changed = false;
    int steps = loop_steps(a->e);
    for (int k = 0; k < a->loop->n; k++) {
        const AdNode *init = ad_graph_find(g, a->args[k]), *step = ad_graph_find(g, a->args[steps + k]);
        if ((init && init->active) || (step && step->active)) {
            changed |= set_active(ad_graph_find(g, ir_var(a->loop->state[k])));
            a->active = true;
        }
    }
    for (int q = 0; q < a->loop->nout; q++) {
        const AdNode *out = ad_graph_find(g, a->args[steps + a->loop->n + q]);
        a->active |= out && out->active;
    }
    return changed;
}

// The value in the loop of which e is a result: a state, or an output.
static AdNode *result_of(const AdGraph *g, const AdNode *a) {
    const AdNode *loop = ad_graph_find(g, a->args[0]);
    if (a->e->op == OP_final) return ad_graph_find(g, ir_var(loop->loop->state[a->e->u.num]));
    return ad_graph_find(g, loop->args[loop_steps(loop->e) + loop->loop->n + a->e->u.num]);
}

static bool spread(const AdGraph *g, AdNode *a) {
    if (a->loop && a->e->op != OP_custom) return spread_loop(g, a);
    if (a->is_x) {
        a->active = kind_is_float(a->e->kind);
        return false;
    }
    if (a->e->op == OP_final || a->e->op == OP_trace) { // may be inactive although the loop is active
        a->active = result_of(g, a)->active;
        return false;
    }
    Node *o;
    for (int k = 0; !a->active && a->e->op != OP_stop && (o = ad_next_operand(a, &k));) a->active = ad_graph_find(g, o)->active;
    return false;
}

// The variables of the surroundings that a custom's operands mention, and that are active.
typedef struct Captured {
    const AdGraph *g;
    Map vars, seen;
} Captured;

static bool mentions(const Captured *c, const Node *e) {
    for (int i = 0; i < e->fv->n; i++)
        if (map_get(&c->vars, e->fv->v[i])) return true;
    return false;
}

// Does an active value reach e? What mentions none of the variables is computed inside, whatever it is elsewhere in the
// graph: the rule may have been applied there.
static bool reached(Captured *c, Node *e) {
    if (!ad_carries(e) || !mentions(c, e) || map_get(&c->seen, e)) return false;
    map_put(&c->seen, e, e);
    const AdNode *a = ad_graph_find(c->g, e);
    bool found = a && a->active;
    for (int k = 0; !found && k < e->nargs; k++) found = reached(c, e->args[k]);
    return found;
}

// The function and the rule of a custom must not depend on the state of a loop around them that is active.
static void check_captures(AdGraph *g, const AdNode *a) {
    const char *name = NULL;
    Captured c = {.g = g};
    for (int i = 0; i < a->e->fv->n; i++) {
        Var *v = a->e->fv->v[i];
        const AdNode *state = ad_graph_find(g, ir_var(v));
        if (state && state->active) {
            name = name ? name : v->name;
            map_put(&c.vars, v, v);
        }
    }
    for (int k = a->loop->n; name && k < a->e->nargs; k++) {
        if (reached(&c, a->args[k])) {
            const char *text = "`%s` captures the loop state `%s`, which is differentiated by; make it part of the argument%s";
            bool no_third = a->loop->adjoint || a->loop->both;
            g->error.at = a->e;
            g->error.text = arena_printf(g->m->arena, text, a->loop->adjoint ? "customVjp" : "customJvp", name,
                                         no_third ? "" : ", or differentiate by it with a third parameter of the rule");
            break;
        }
    }
    map_free(&c.vars);
    map_free(&c.seen);
}

void ad_graph_build(AdGraph *g, Ir *m, int ny, Node *const *y, int nx, Node *const *x, const VarSet *outer) {
    *g = (AdGraph){.m = m, .outer = outer};
    Stack stack = {0};
    for (int j = 0; j < nx; j++) {
        if (!ad_graph_find(g, x[j])) { // complete from the start: the traversal ends here
            AdNode *a = add_node(g, x[j]);
            a->is_x = true;
            append(g, a);
        }
    }
    for (int i = 0; i < ny; i++)
        if (kind_is_float(y[i]->kind)) visit(g, &stack, y[i]);
    for (bool changed = true; changed;) { // once more for each loop-carried dependence
        changed = false;
        for (int i = 0; i < g->n; i++) changed |= spread(g, g->order[i]);
    }
    for (int i = 0; i < g->n; i++)
        if (g->order[i]->e->op == OP_custom) check_captures(g, g->order[i]);
}

void ad_graph_free(AdGraph *g) {
    map_free(&g->nodes);
    map_free(&g->renamed);
    map_free(&g->calls);
}
