// Loop distribution. A loop inside of another steps states that do not depend on the other's index k, and states that do:
//
//   gen k (final d of a fold: p = p0 in P(p), d = d0(k) in D(p, d, k))
//
// as where all columns of a Jacobian need the same values. The first become a loop of their own, which k is outside of and
// which runs once; the others read its trace, of which `trace` and `keep` keep what they need:
//
//   gen k (final d of a fold over i: d = d0(k) in D((trace of p)[i], d, k))
//
// That takes memory for each iteration, so it is done where the loop fills an array row by row anyway, or is short, and
// what is kept of an iteration is a few numbers.
#include "pass/occurs.h"
#include "pass/pass.h"

#include <string.h>

enum { MOST_STATES = 64, SHORT = 64, LANES = 8, LIMIT = 32 };

typedef struct Split {
    Func *f;
    Nodes nodes;
    Node *loop;
    Var *k;                    // an index from outside of the loop
    bool depends[MOST_STATES]; // on k: states, then outputs
    Var *own[MOST_STATES + 1]; // variables of the first loop: for the index, then for states
    Node *first, *second;      // the loops
    int place[MOST_STATES];    // of states and outputs in their loop
} Split;

static bool mentions_dependent(const Split *x, const Node *e) {
    const Loop *l = ir_loop(x->loop);
    bool any = node_has_var(e, x->k);
    for (int j = 0; j < l->n; j++) any |= x->depends[j] && node_has_var(e, l->state[j]);
    return any;
}

// Finds what depends on k; false if nothing, or everything does.
static bool divide(Split *x) {
    const Loop *l = ir_loop(x->loop);
    int n = l->n + l->nout, count = 0;
    if (n > MOST_STATES) return false;
    for (int j = 0; j < n; j++) x->depends[j] = j < l->n && node_has_var(loop_init(x->loop, j), x->k);
    for (bool grown = true; grown;) {
        grown = false;
        for (int j = 0; j < n; j++)
            if (!x->depends[j] && mentions_dependent(x, loop_step(x->loop, j))) x->depends[j] = grown = true;
    }
    for (int j = 0; j < n; j++) count += x->depends[j];
    return count > 0 && count < n;
}

static bool is_short(const Node *extent) {
    int64_t n;
    return ir_is_int_lit(extent, &n) && n <= SHORT;
}

// Are the numbers of states that those which depend on k read few, at indices that the first loop knows?
typedef struct Reads {
    const Split *x;
    bool any, many;
} Reads;

static void look_at_reads(Node *e, void *data) {
    Reads *r = data;
    const Split *x = r->x;
    const Loop *l = ir_loop(x->loop);
    for (int i = 0; i < e->nargs; i++)
        for (int j = 0; j < l->n; j++) {
            if (e->args[i] != ir_var(l->state[j]) || x->depends[j]) continue;
            r->any = true;
            if (!e->args[i]->rank) continue;
            r->many |= e->op != OP_at || i > 0 || mentions_dependent(x, e);
            for (int v = 0; v < e->fv->n; v++) {
                const Var *w = e->fv->v[v];
                if (!w->is_state && w != l->index && !node_has_var(x->loop, w)) r->many |= !is_short(w->extent);
            }
        }
}

// Does the loop fill an array row by row, so that it has memory for each iteration anyway?
static bool has_memory(const Split *x) {
    const Loop *l = ir_loop(x->loop);
    bool any = l->nout > 0 || is_short(l->index->extent);
    for (int j = 0; j < l->n; j++) any |= l->state[j]->rank && l->state[j]->shape[0] == l->index->extent;
    return any;
}

static bool is_dear(const Split *x) {
    const Loop *l = ir_loop(x->loop);
    int cost = 0;
    for (int j = 0; j < l->n; j++)
        if (!x->depends[j]) cost += pass_cost(loop_step(x->loop, j));
    return cost >= PASS_COST_DEAR;
}

static bool is_worthwhile(const Split *x) {
    const Loop *l = ir_loop(x->loop);
    Reads reads = {.x = x};
    Node *steps[MOST_STATES];
    int64_t trips;
    int n = 0;
    if (ir_is_int_lit(x->k->extent, &trips) && trips <= LANES) return false; // the lanes of a vector compute it once
    for (int j = 0; j < l->n + l->nout; j++)
        if (x->depends[j]) steps[n++] = loop_step(x->loop, j);
    if (!has_memory(x) || !is_dear(x)) return false;
    ir_walk(n, steps, look_at_reads, &reads);
    return reads.any && !reads.many;
}

// The loop of what does not depend on k, with its states as outputs; fresh variables, for the other is around it.
static void make_first(Split *x) {
    Ir *m = x->f->ir;
    const Loop *l = ir_loop(x->loop);
    Loop less = {.index = ir_index(m, l->index->name, l->index->extent), .state = x->own + 1};
    Node *from[MOST_STATES + 1], *to[MOST_STATES + 1], *init[MOST_STATES], *step[MOST_STATES], *out[2 * MOST_STATES];
    int known = 0;
    x->own[0] = less.index;
    from[known] = ir_var(l->index), to[known++] = ir_var(less.index);
    for (int j = 0; j < l->n; j++) {
        const Var *s = l->state[j];
        if (x->depends[j]) continue;
        Var *own = ir_state(m, s->name, s->kind, s->rank, s->shape);
        from[known] = ir_var(s), to[known++] = ir_var(own);
        x->place[j] = less.n, init[less.n] = loop_init(x->loop, j), less.state[less.n++] = own;
    }
    for (int j = 0; j < l->n; j++)
        if (!x->depends[j]) step[x->place[j]] = ir_subst(m, loop_step(x->loop, j), known, from, to);
    for (; less.nout < less.n; less.nout++) out[less.nout] = ir_var(less.state[less.nout]);
    for (int q = 0; q < l->nout; q++) {
        if (x->depends[l->n + q]) continue;
        x->place[l->n + q] = less.nout;
        out[less.nout++] = ir_subst(m, loop_output(x->loop, q), known, from, to);
    }
    x->first = ir_fold_out(m, &less, init, step, out);
}

static void make_second(Split *x) {
    Ir *m = x->f->ir;
    const Loop *l = ir_loop(x->loop);
    Loop less = *l;
    Node *from[MOST_STATES], *to[MOST_STATES], *init[MOST_STATES], *step[MOST_STATES], *out[MOST_STATES];
    Var *state[MOST_STATES];
    int known = 0;
    for (int j = 0; j < l->n; j++) {
        if (x->depends[j]) continue;
        from[known] = ir_var(l->state[j]);
        to[known++] = ir_at1(m, ir_trace(m, x->first, x->place[j]), ir_var(l->index));
    }
    less.state = state, less.n = less.nout = 0, less.follows = true;
    for (int j = 0; j < l->n + l->nout; j++) {
        if (!x->depends[j]) continue;
        Node *e = ir_subst(m, loop_step(x->loop, j), known, from, to);
        if (j >= l->n) {
            x->place[j] = less.nout, out[less.nout++] = e;
            continue;
        }
        x->place[j] = less.n, init[less.n] = loop_init(x->loop, j), state[less.n] = l->state[j], step[less.n++] = e;
    }
    x->second = ir_fold_out(m, &less, init, step, out);
}

static Node *result_of(const Split *x, Node *e) {
    Ir *m = x->f->ir;
    if (e->op == OP_count) return ir_count(m, x->second);
    int j = (int)e->u.num + (e->op == OP_trace ? ir_loop(x->loop)->n : 0);
    Node *loop = x->depends[j] ? x->second : x->first;
    return e->op == OP_trace ? ir_trace(m, loop, x->place[j]) : ir_final(m, loop, x->place[j]);
}

// The first loop is outside of k, and so must be all variables that it reads.
static bool is_outside(const Split *x) {
    for (int i = 0; i < x->nodes.all.len; i++) {
        const Node *e = x->nodes.all.data[i];
        const Var *v = ir_is_binder(e) ? e->u.var : e->op == OP_fold ? ir_loop(e)->index : NULL;
        if (v == x->k && ir_reaches((Node *)e, x->loop) && varset_union(x->f->ir, e->fv, x->first->fv) == e->fv) return true;
    }
    return false;
}

// Has the trace of an array that was a state become that of what is read of it?
static bool is_kept(const Split *x) {
    Nodes nodes = {0};
    bool all = true;
    nodes_collect(x->f, &nodes);
    for (int i = 0; i < nodes.all.len; i++) {
        Node *e = nodes.all.data[i];
        if (e->op != OP_trace) continue;
        Node *out = loop_output(e->args[0], (int)e->u.num);
        for (int j = 0; j < ir_loop(x->first)->n; j++) all &= !out->rank || out != ir_var(ir_loop(x->first)->state[j]);
    }
    nodes_free(&nodes);
    return all;
}

static bool replace(Split *x) {
    Func *f = x->f;
    Ir *m = f->ir;
    Node **before = arena_copy(m->arena, f->outputs, sizeof *before * (size_t)func_roots(f));
    Span span = ir_from(m, x->loop);
    make_first(x);
    bool done = is_outside(x);
    if (done) {
        make_second(x);
        for (int i = 0; i < x->nodes.all.len; i++) {
            Node *e = x->nodes.all.data[i];
            bool result = e->op == OP_final || e->op == OP_trace || e->op == OP_count;
            if (result && e->args[0] == x->loop) ir_replace_in(m, func_roots(f), f->outputs, e, result_of(x, e));
        }
        pass_plan_traces(m, func_roots(f), f->outputs);
        done = is_kept(x);
        if (!done) memcpy(f->outputs, before, sizeof *before * (size_t)func_roots(f));
    }
    m->span = span;
    return done;
}

static bool split_one(Func *f) {
    Split x = {.f = f};
    bool done = false;
    nodes_collect(f, &x.nodes);
    for (int i = x.nodes.all.len; i-- > 0 && !done;) {
        x.loop = x.nodes.all.data[i];
        if (x.loop->op != OP_fold) continue;
        for (int v = 0; v < x.loop->fv->n && !done; v++) {
            x.k = x.loop->fv->v[v];
            done = !x.k->is_state && divide(&x) && is_worthwhile(&x) && replace(&x);
        }
        if (done)
            explain(f->ir->explain, EXPLAIN_LOOPS, x.loop->span,
                    "split: what does not depend on `%s` is a loop of its own, outside of the loop over it", x.k->name);
    }
    nodes_free(&x.nodes);
    return done;
}

void pass_split(Func *f) {
    for (int limit = LIMIT; limit > 0 && split_one(f); limit--) continue;
}
