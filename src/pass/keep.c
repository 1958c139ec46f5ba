// Dear values that a loop computes and that another, which reads its trace, would compute again become outputs of the
// loop: calls, sums, and what loops inside leave, among it their traces, so that loops that do nothing but nest are not run
// again ([NP] sections 4 and 4.2: recompute what is cheap). What is kept takes no more memory in an iteration than
// something of the rank of a state.
#include "pass/trace.h"

#include "pass/occurs.h"
#include "pass/pass.h"

enum { DEAR = 16, ITERATIONS_MAX = 64, LIMIT = 200 };

typedef struct Keeper {
    Func *f;
    Nodes nodes;
    Map facts;
    Map plain;  // loops without outputs that are evaluated somewhere
    Map closed; // arrays of dear values over the variables that the traced loops do not know
} Keeper;

static bool is_dear(const Node *e) {
    if (e->op == OP_sum || e->op == OP_argmin || e->op == OP_argmax || e->op == OP_final || e->op == OP_trace) return true;
    return e->rank == 0 && op_info[e->op].cost >= DEAR;
}

static Node *plain(Ir *m, Node *loop) {
    Loop *l = ir_loop(loop);
    Node **steps = loop->args + loop_steps(loop);
    if (!l->nout) return loop;
    Loop like = *l;
    like.nout = 0;
    return l->index ? ir_fold_out(m, &like, loop->args, steps, NULL)
                    : ir_while_out(m, &like, loop->args, loop_cond(loop), steps, NULL);
}

static void collect(Keeper *k) {
    Ir *m = k->f->ir;
    nodes_free(&k->nodes);
    map_free(&k->facts);
    map_free(&k->plain);
    map_free(&k->closed);
    nodes_collect(k->f, &k->nodes);
    if (!nodes_have(&k->nodes, OP_trace)) return;
    facts_collect(m, k->nodes.all.len, k->nodes.all.data, &k->facts);
    for (int i = 0; i < k->nodes.all.len; i++) {
        Node *e = k->nodes.all.data[i];
        if (ir_is_loop(e)) map_put(&k->plain, plain(m, e), e);
    }
}

static void collect_closed(Keeper *k, const Iteration *x) {
    for (int i = 0; i < k->nodes.all.len; i++) {
        Node *e = k->nodes.all.data[i], *array;
        Var *w[PART_RANK];
        if (!is_dear(e) || !loop_varies(ir_loop(x->loop), e)) continue;
        int n = iteration_inner(x, e, w);
        if (n > 0) array = iteration_array(k->f->ir, e, n, w), map_put(&k->closed, array, array);
    }
}

// Does the loop compute e, a value in terms of its variables and nw others, over which the array is?
static bool computes(const Keeper *k, Node *e, int nw, const Node *array) {
    if (e->op == OP_final || e->op == OP_trace) return map_get(&k->plain, plain(k->f->ir, e->args[0]));
    return nw ? map_get(&k->closed, array) : map_get(&k->facts, e);
}

static bool is_small(const Iteration *x, const Node *e, int nw) {
    const Loop *l = ir_loop(x->loop);
    int rank = 0;
    for (int j = 0; j < l->n; j++) rank = l->state[j]->rank > rank ? l->state[j]->rank : rank;
    for (int d = 0; d < e->rank; d++)
        if (loop_varies(l, e->shape[d])) return false;
    return nw + e->rank <= rank + (e->op == OP_trace);
}

// e, where it is read, needs to be known only where all of this holds.
static Node *needed(Ir *m, const Iteration *x, const Facts *f, int nw, Var *const *w) {
    Node *cond = ir_bool(m, true);
    for (int i = 0; i < f->n; i++) {
        Var *more[PART_RANK];
        Node *c = iteration_in_loop(m, x, f->p[i]);
        int n = c->partial ? -1 : iteration_inner(x, c, more);
        for (int j = 0; j < n; j++) {
            bool known = false;
            for (int q = 0; q < nw; q++) known |= w[q] == more[j];
            if (!known) n = -1;
        }
        if (n >= 0) cond = ir_and(m, cond, c);
    }
    return cond;
}

static void replace(Keeper *k, Node *from, Node *to) {
    for (int i = 0; i < k->f->noutputs; i++) k->f->outputs[i] = ir_replace(k->f->ir, k->f->outputs[i], from, to);
}

// The loop with that output; *q gets its number.
static Node *with_output(Ir *m, Node *loop, Node *out, int *q) {
    Loop *l = ir_loop(loop), like = *l;
    Node **steps = loop->args + loop_steps(loop), **outs = ARENA_ARRAY(m->arena, Node *, l->nout + 1);
    for (*q = 0; *q < l->nout && loop_output(loop, *q) != out;) ++*q;
    if (*q < l->nout) return loop;
    like.nout = l->nout + 1;
    for (int i = 0; i < l->nout; i++) outs[i] = loop_output(loop, i);
    outs[l->nout] = out;
    return like.index ? ir_fold_out(m, &like, loop->args, steps, outs)
                      : ir_while_out(m, &like, loop->args, loop_cond(loop), steps, outs);
}

static Node *element(Ir *m, Node *array, Node *first, int n, Var *const *w) {
    Node *at[PART_RANK + 1];
    int k = 0;
    if (first) at[k++] = first;
    for (int i = 0; i < n; i++) at[k++] = ir_var(w[i]);
    return ir_at(m, array, k, at);
}

// If `array` is what a state becomes in each iteration: the element w of the state at the entry of the next one.
static Node *next_state(Keeper *k, const Iteration *x, const Node *array, int nw, Var *const *w, Node **longer) {
    Ir *m = k->f->ir;
    Loop *l = ir_loop(x->loop);
    for (int j = 0; j < l->n; j++) {
        if (loop_step(x->loop, j) != array) continue;
        int q;
        *longer = with_output(m, x->loop, ir_var(l->state[j]), &q);
        Node *next = ir_add(m, x->r, ir_int(m, 1)), *trace = ir_trace(m, *longer, q);
        return ir_select(m, ir_lt(m, next, ir_count(m, *longer)), element(m, trace, next, nw, w),
                         element(m, ir_final(m, *longer, j), NULL, nw, w));
    }
    return NULL;
}

// Is e the trace of a loop that is to run again from checkpoints?
static bool is_limited(const Ir *m, const Node *e) {
    if (e->op != OP_trace) return false;
    const Loop *l = ir_loop(e->args[0]);
    return l->levels > 1 || l->limit || m->tape_limit;
}

static bool keep(Keeper *k, const Iteration *x, Node *e) {
    Ir *m = k->f->ir;
    Var *w[PART_RANK];
    if (is_limited(m, e)) return false;
    if (e->partial || !node_has_var(e, x->t)) return false;
    Node *own = iteration_in_loop(m, x, e), *longer;
    if (own->op != e->op || own->partial || !loop_varies(ir_loop(x->loop), own)) return false;
    int nw = iteration_inner(x, own, w), q;
    if (nw < 0 || nw + e->rank >= PART_RANK || !is_small(x, own, nw)) return false;
    Node *array = iteration_array(m, own, nw, w);
    if (!computes(k, own, nw, array)) return false;
    Span before = ir_from(m, x->loop);
    Node *kept = next_state(k, x, array, nw, w, &longer);
    if (!kept) {
        Node *cond = needed(m, x, map_get(&k->facts, e), nw, w);
        longer = with_output(m, x->loop, iteration_array(m, ir_bracket(m, cond, own), nw, w), &q);
        kept = element(m, ir_trace(m, longer, q), x->r, nw, w);
    }
    explain(m->explain, EXPLAIN_LOOPS, e->span, "keep: %s is kept in each iteration, for a loop that would compute it again",
            ir_quote(m, e));
    replace(k, e, kept);
    replace(k, x->loop, longer);
    m->span = before;
    return true;
}

static bool keep_one(Keeper *k) {
    Ir *m = k->f->ir;
    Iteration x[ITERATIONS_MAX];
    int n = 0;
    for (int i = 0; i < k->nodes.all.len && n < ITERATIONS_MAX; i++) {
        Node *e = k->nodes.all.data[i];
        if (e->op != OP_at || e->args[0]->op != OP_trace) continue;
        x[n] = iteration_of(m, e);
        bool known = !x[n].t;
        bool first = true;
        for (int j = 0; j < n; j++) known |= x[j].loop == x[n].loop && x[j].r == x[n].r, first &= x[j].loop != x[n].loop;
        if (!known && first) collect_closed(k, &x[n]);
        n += !known;
    }
    for (int i = k->nodes.all.len; i-- > 0;) // users first: what they alone need is not looked at
        for (int j = 0; j < n && is_dear(k->nodes.all.data[i]); j++)
            if (keep(k, &x[j], k->nodes.all.data[i])) return true;
    return false;
}

void pass_keep(Func *f) {
    Keeper k = {.f = f};
    collect(&k);
    for (int limit = LIMIT; limit > 0 && keep_one(&k); limit--) collect(&k);
    nodes_free(&k.nodes);
    map_free(&k.facts);
    map_free(&k.plain);
    map_free(&k.closed);
}
