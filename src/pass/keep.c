// Dear values that a loop computes and that another, which reads its trace, would compute again become outputs of the
// loop: calls, sums, and what loops inside leave, among it their traces, so that loops that do nothing but nest are not run
// again ([NP] sections 4 and 4.2: recompute what is cheap). What is kept takes no more memory in an iteration than
// something of the rank of a state.
#include "pass/ahead.h"
#include "pass/pass.h"

#include <string.h>

enum { DEAR = 16, ITERATIONS_MAX = 64, LIMIT = 200 };

// Values that become arrays over w, which many are: with other variables in their place.
typedef struct Over {
    int n;
    Var *w[PART_RANK], *v[PART_RANK];
    Rewriting *renaming;
} Over;

// A value that is kept: the element w of an output, or of what a state becomes, in iteration x.
typedef struct Kept {
    Iteration *x;
    Node *e, *out;
    int state, q, nw; // the state, or -1; the output's number
    Var *w[PART_RANK];
    bool computed; // by the loop, as it is
} Kept;

// A dear value over the variables around it in the loop that computes it, whose names another loop has not.
typedef struct Closed {
    Node *e, *array;
    int n;
    Var *w[PART_RANK];
    Form form;
} Closed;

typedef struct Keeper {
    Func *f;
    Nodes nodes;
    Map facts;
    Map plain;             // loops without outputs that are evaluated somewhere
    VEC(Closed) closed;    // dear values of the traced loops
    Map by_array, by_form; // their numbers from 1 on: by their arrays; by the hashes of the forms of sums
    Map user;              // of a value that is needed: the operation that reads it, or itself if several do
    VEC(Over) over;
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

static void keeper_free(Keeper *k) {
    nodes_free(&k->nodes);
    map_free(&k->facts);
    map_free(&k->plain);
    for (int i = 0; i < k->closed.len; i++) str_free(&k->closed.data[i].form.text);
    vec_free(&k->closed);
    map_free(&k->by_array), map_free(&k->by_form);
    map_free(&k->user);
    for (int i = 0; i < k->over.len; i++) ir_rewriting_end(k->over.data[i].renaming);
    vec_free(&k->over);
}

// As iteration_array makes it.
static Node *array_of(Keeper *k, Node *e, int n, Var *const *w) {
    Ir *m = k->f->ir;
    int i = 0;
    if (n == 0) return e;
    while (i < k->over.len && (k->over.data[i].n != n || memcmp(k->over.data[i].w, w, sizeof *w * (size_t)n))) i++;
    if (i == k->over.len) {
        Over o = {.n = n};
        Node *from[PART_RANK], *to[PART_RANK];
        for (int d = 0; d < n; d++) {
            o.w[d] = w[d], o.v[d] = ir_index_like(m, w[d], ir_trips(m, w[d]->extent));
            from[d] = ir_var(w[d]), to[d] = ir_var(o.v[d]);
        }
        o.renaming = ir_substituting(m, n, from, to);
        vec_push(&k->over, o);
    }
    const Over *o = &k->over.data[i];
    e = ir_rewrite(o->renaming, e);
    while (n-- > 0) e = ir_gen(m, o->v[n], e);
    return e;
}

static void collect(Keeper *k) {
    Ir *m = k->f->ir;
    keeper_free(k);
    nodes_collect(k->f, &k->nodes);
    if (!nodes_have(&k->nodes, OP_trace)) return;
    facts_collect(m, m->arena, k->nodes.all.len, k->nodes.all.data, &k->facts);
    for (int i = 0; i < k->nodes.all.len; i++) {
        Node *e = k->nodes.all.data[i];
        if (ir_is_loop(e)) map_put(&k->plain, plain(m, e), e);
    }
}

// Sums, and what loops leave, are also known by their forms: of calls there are many, and few are equal by that alone.
static bool find_form(Node *e, int nw, Var *const *w, Form *form) {
    return is_dear(e) && !op_is_elementwise(e->op) && nw && form_of(e, nw, w, form);
}

static void *form_key(const Form *form) { return (void *)(uintptr_t)(str_hash(form->text.data, form->text.len) | 1); }

static void collect_closed(Keeper *k, const Iteration *x) {
    for (int i = 0; i < k->nodes.all.len; i++) {
        Closed c = {.e = k->nodes.all.data[i]};
        if (!is_dear(c.e) || !loop_varies(ir_loop(x->loop), c.e)) continue;
        c.n = iteration_inner(x, c.e, c.w);
        if (c.n <= 0) continue;
        c.array = array_of(k, c.e, c.n, c.w);
        bool formed = find_form(c.e, c.n, c.w, &c.form);
        vec_push(&k->closed, c);
        map_put(&k->by_array, c.array, (void *)(intptr_t)k->closed.len);
        if (formed) map_put(&k->by_form, form_key(&c.form), (void *)(intptr_t)k->closed.len);
    }
}

// Does the loop compute e, a value in terms of its variables and nw others, over which the array is?
static bool computes(const Keeper *k, Node *e, int nw, const Node *array) {
    if (e->op == OP_final || e->op == OP_trace) return map_get(&k->plain, plain(k->f->ir, e->args[0]));
    return nw ? map_get(&k->by_array, array) : map_get(&k->facts, e);
}

// The sum that the loop computes that is e but for names of variables and the order of factors, or NULL; w is then in its order.
static const Closed *computed_as(const Keeper *k, Node *e, int nw, Var **w) {
    Form form = {0};
    const Closed *c = NULL;
    intptr_t number = find_form(e, nw, w, &form) ? (intptr_t)map_get(&k->by_form, form_key(&form)) : 0;
    if (number) c = &k->closed.data[number - 1];
    bool same = c && c->n == nw && c->form.text.len == form.text.len;
    if (!same || memcmp(c->form.text.data, form.text.data, form.text.len)) c = NULL;
    for (int i = 0; c && i < nw; i++) {
        int at = 0;
        while (c->form.w[at] != c->w[i]) at++;
        w[i] = form.w[at];
    }
    str_free(&form.text);
    return c;
}

static bool is_small(const Iteration *x, const Node *e, int nw) {
    const Loop *l = ir_loop(x->loop);
    int rank = 0;
    for (int j = 0; j < l->n; j++) rank = l->state[j]->rank > rank ? l->state[j]->rank : rank;
    for (int d = 0; d < e->rank; d++)
        if (loop_varies(l, e->shape[d])) return false;
    return nw + e->rank <= rank + (e->op == OP_trace);
}

// Does e, in terms of a loop's variables, read in an iteration the trace of another loop, which that loop does not
// read? Then the two could not be one loop any more, nor the trace run again in blocks with what reads it backwards.
static bool reads_other(Node *loop, Node *e, Map *seen) {
    if (!loop_varies(ir_loop(loop), e) || map_get(seen, e)) return false;
    map_put(seen, e, e);
    if (e->op == OP_trace) return false;
    if (e->op == OP_at && e->args[0]->op == OP_trace && !ir_reaches(loop, e->args[0])) return true;
    for (int i = 0; i < e->nargs; i++)
        if (reads_other(loop, e->args[i], seen)) return true;
    return false;
}

static bool reads_others(Node *loop, Node *e) {
    Map seen = {0};
    bool yes = reads_other(loop, e, &seen);
    map_free(&seen);
    return yes;
}

// e, where it is read, needs to be known only where all of this holds.
static Node *needed(Ir *m, Iteration *x, const Facts *f, int nw, Var *const *w) {
    Node *cond = ir_bool(m, true);
    for (int i = 0; i < f->n; i++) {
        Var *more[PART_RANK];
        Node *c = iteration_in_loop(m, x, f->p[i]);
        int n = c->partial || reads_others(x->loop, c) ? -1 : iteration_inner(x, c, more);
        for (int j = 0; j < n; j++) {
            bool known = false;
            for (int q = 0; q < nw; q++) known |= w[q] == more[j];
            if (!known) n = -1;
        }
        if (n >= 0) cond = ir_and(m, cond, c);
    }
    return cond;
}

static Node *element(Ir *m, Node *array, Node *first, int n, Var *const *w) {
    Node *at[PART_RANK + 1];
    int k = 0;
    if (first) at[k++] = first;
    for (int i = 0; i < n; i++) at[k++] = ir_var(w[i]);
    return ir_at(m, array, k, at);
}

// Is e the trace of a loop that is to run again from checkpoints?
static bool is_limited(const Ir *m, const Node *e) {
    if (e->op != OP_trace) return false;
    const Loop *l = ir_loop(e->args[0]);
    return l->levels > 1 || l->limit || m->tape_limit;
}

// Is e only where the loop's variables are bound? What does not change with all of them may stand elsewhere, too.
static bool is_beside(const Node *e, const Node *loop) {
    bool all = true;
    for (int i = 0; i < loop->fv->n; i++) all &= node_has_var(e, loop->fv->v[i]);
    return all;
}

// w in the order of those of another value, if they are the same.
static void order_like(const Kept *like, int nw, Var **w) {
    for (int i = 0; i < nw; i++) {
        bool has = false;
        for (int j = 0; j < nw && like->nw == nw; j++) has |= w[j] == like->w[i];
        if (!has) return;
    }
    memcpy(w, like->w, sizeof *w * (size_t)nw);
}

// Which value of x's loop e is, as an output or the next value of a state: false if it cannot be. like: a part of it, or NULL.
static bool plan(Keeper *k, Iteration *x, Node *e, const Kept *like, Kept *kept) {
    Ir *m = k->f->ir;
    if (e->partial || !node_has_var(e, x->t) || !is_beside(e, x->loop)) return false;
    Node *own = iteration_in_loop(m, x, e);
    if (own->op != e->op || own->partial || !loop_varies(ir_loop(x->loop), own)) return false;
    *kept = (Kept){.x = x, .e = e, .state = -1};
    kept->nw = iteration_inner(x, own, kept->w);
    if (kept->nw < 0 || kept->nw + e->rank >= PART_RANK || !is_small(x, own, kept->nw)) return false;
    if (reads_others(x->loop, own)) return false;
    if (like) order_like(like, kept->nw, kept->w);
    Node *array = array_of(k, own, kept->nw, kept->w);
    kept->computed = computes(k, own, kept->nw, array);
    const Closed *c = kept->computed ? NULL : computed_as(k, own, kept->nw, kept->w);
    if (c) array = c->array, kept->computed = true;
    Loop *l = ir_loop(x->loop);
    for (int j = 0; j < l->n; j++)
        if (loop_step(x->loop, j) == array) kept->state = j;
    if (kept->state >= 0) {
        kept->out = ir_var(l->state[kept->state]);
    } else {
        Node *cond = needed(m, x, map_get(&k->facts, e), kept->nw, kept->w);
        kept->out = c && ir_is_lit(cond, 1) ? array : array_of(k, ir_bracket(m, cond, own), kept->nw, kept->w);
    }
    return true;
}

// Is e a product with a matrix that is computed for many iterations at once before it is read?
static bool is_ahead(const Keeper *k, const Iteration *x, const Node *e, const Kept *kept) {
    if (!k->f->ir->ahead || !ahead_product(e, x->t, kept->nw, kept->w, map_get(&k->facts, e))) return false;
    bool any = false;
    for (int i = 0; i < k->nodes.all.len; i++) {
        const Node *loop = k->nodes.all.data[i];
        if (loop->op != OP_fold || ir_loop(loop)->index != x->t) continue;
        if (!ahead_goes_in_strips(&k->nodes, loop)) return false;
        any = true;
    }
    return any;
}

// Is e computed of such products? Then it is again, a strip at a time, like the gates of a recurrent network.
static bool is_of_ahead(Keeper *k, Iteration *x, Node *e, int *budget) {
    Kept kept;
    if (--*budget < 0) return false;
    if (e->op == OP_sum) return plan(k, x, e, NULL, &kept) && is_ahead(k, x, e, &kept);
    bool any = false;
    if (e->op == OP_at || e->op == OP_gen) return is_of_ahead(k, x, e->args[0], budget);
    for (int i = 0; op_is_elementwise(e->op) && i < e->nargs && !any; i++) any = is_of_ahead(k, x, e->args[i], budget);
    return any;
}

// Does the loop keep something of this rank anyway? For a call alone the first such trace is not worth its memory, nor
// the code that runs the loop again where that is too large.
static bool keeps_rank(const Node *loop, int rank) {
    bool any = false;
    for (int q = 0; q < ir_loop(loop)->nout; q++) any |= loop_output(loop, q)->rank >= rank;
    return any;
}

// Is e dear, and computed by x's loop?
static bool is_wanted(Keeper *k, Iteration *x, Node *e, Kept *kept) {
    int budget = 64;
    if (is_limited(k->f->ir, e) || !plan(k, x, e, NULL, kept) || !kept->computed) return false;
    if (op_is_elementwise(e->op) && !keeps_rank(x->loop, kept->nw)) return false;
    return !is_of_ahead(k, x, e, &budget);
}

// The one operation that reads e, itself or as an element of an array.
static Node *reader(const Keeper *k, const Node *e) {
    Node *user = map_get(&k->user, e);
    const Node *array = NULL;
    for (; user && user != e && user->op == OP_gen; user = map_get(&k->user, e)) array = e = user;
    if (user && user != e && array && user->op == OP_at && user->args[0] == array) e = user, user = map_get(&k->user, e);
    return user && user != e && user->rank == 0 && op_is_elementwise(user->op) ? user : NULL;
}

// What one operation alone reads need not be kept where the operation's value, which takes no more memory, can be: less
// is computed again, and less stored if its other operand was kept, too.
static bool climb(Keeper *k, Kept *kept) {
    Node *user = reader(k, kept->e);
    Kept up;
    if (kept->state >= 0 || kept->e->rank || !user || user->kind != kept->e->kind) return false;
    if (!plan(k, kept->x, user, kept, &up) || up.nw != kept->nw) return false;
    for (int i = 0; i < up.nw; i++)
        if (up.w[i]->extent != kept->w[i]->extent) return false;
    *kept = up;
    return true;
}

// The loop with the outputs of all that is kept.
static Node *with_outputs(Ir *m, Node *loop, int n, Kept *kept) {
    Loop *l = ir_loop(loop), like = *l;
    Node **steps = loop->args + loop_steps(loop), **outs = ARENA_ARRAY(m->arena, Node *, l->nout + n);
    for (int i = 0; i < l->nout; i++) outs[i] = loop_output(loop, i);
    for (int i = 0; i < n; i++) {
        int q = 0;
        while (q < like.nout && outs[q] != kept[i].out) q++;
        if (q == like.nout) outs[like.nout++] = kept[i].out;
        kept[i].q = q;
    }
    return like.index ? ir_fold_out(m, &like, loop->args, steps, outs)
                      : ir_while_out(m, &like, loop->args, loop_cond(loop), steps, outs);
}

// What is read instead. The next value of a state is the state at the entry of the next iteration, if there is one.
static Node *read_of(Ir *m, const Kept *kept, Node *longer) {
    Node *r = kept->x->r, *trace = ir_trace(m, longer, kept->q);
    if (kept->state < 0) return element(m, trace, r, kept->nw, kept->w);
    Node *next = ir_add(m, r, ir_int(m, 1));
    return ir_select(m, ir_lt(m, next, ir_count(m, longer)), element(m, trace, next, kept->nw, kept->w),
                     element(m, ir_final(m, longer, kept->state), NULL, kept->nw, kept->w));
}

static void replace(Keeper *k, Node *loop, int n, Kept *kept) {
    Func *f = k->f;
    Ir *m = f->ir;
    Span before = ir_from(m, loop);
    Node *longer = with_outputs(m, loop, n, kept);
    Node **from = ARENA_ARRAY(m->arena, Node *, n), **to = ARENA_ARRAY(m->arena, Node *, n);
    for (int i = 0; i < n; i++) from[i] = kept[i].e, to[i] = read_of(m, &kept[i], longer);
    Rewriting *w = ir_replacing(m, n, from, to);
    for (int i = 0; i < func_roots(f); i++) f->outputs[i] = ir_rewrite(w, f->outputs[i]);
    ir_rewriting_end(w);
    ir_replace_in(m, func_roots(f), f->outputs, loop, longer);
    m->span = before;
}

// What is needed if e is.
static void mark_operands(Keeper *k, Node *e) {
    for (int i = 0; i < e->nargs; i++) {
        Node *x = e->args[i], *known = map_get(&k->user, x);
        map_put(&k->user, x, !known || known == e ? e : x);
    }
    const Var *v = ir_is_binder(e) ? e->u.var : e->op == OP_fold ? e->u.loop->index : NULL;
    if (v) map_put(&k->user, v->extent, v->extent);
}

// What is kept in the end, each once; how many there are. Sums are followed to what reads them, calls stay as they are.
static int climb_all(Keeper *k, int n, Kept *all) {
    int len = 0;
    for (int i = 0; i < n; i++) {
        bool call = op_is_elementwise(all[i].e->op);
        while (!call && climb(k, &all[i])) continue;
        int j = 0;
        while (j < len && all[j].e != all[i].e) j++;
        if (j == len) all[len++] = all[i];
    }
    for (int i = 0; i < len; i++)
        explain(k->f->ir->explain, EXPLAIN_LOOPS, all[i].e->span,
                "keep: %s is kept in each iteration, for a loop that would compute it again", ir_quote(k->f->ir, all[i].e));
    return len;
}

// Values of one loop are kept: of the first that any are of.
static bool keep_some(Keeper *k, int n, Iteration *x) {
    VEC(Kept) all = {0};
    for (int i = 0; i < func_roots(k->f); i++) map_put(&k->user, k->f->outputs[i], k->f->outputs[i]);
    for (int i = k->nodes.all.len; i-- > 0;) { // users first: what only kept values need is not looked at
        Node *e = k->nodes.all.data[i];
        Kept kept = {0};
        if (!map_get(&k->user, e)) continue;
        for (int j = 0; j < n && !kept.x && is_dear(e); j++)
            if (!is_wanted(k, &x[j], e, &kept)) kept.x = NULL;
        if (!kept.x) mark_operands(k, e);
        else if (!all.len || kept.x->loop == all.data[0].x->loop) vec_push(&all, kept);
    }
    if (all.len) replace(k, all.data[0].x->loop, climb_all(k, all.len, all.data), all.data);
    bool any = all.len;
    vec_free(&all);
    return any;
}

static bool keep_round(Keeper *k) {
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
    bool kept = n > 0 && keep_some(k, n, x);
    for (int j = 0; j < n; j++) iteration_end(&x[j]);
    return kept;
}

void pass_keep(Func *f) {
    Keeper k = {.f = f};
    collect(&k);
    for (int limit = LIMIT; limit > 0 && keep_round(&k); limit--) collect(&k);
    keeper_free(&k);
}
