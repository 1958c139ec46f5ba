// How the trace of an array state is had without storing the array in every iteration ([NP] section 6.2). What reads it
// is looked at, read by read, and the cheapest is taken that serves:
//  - an element that is not replaced before iteration t, or not from there on, is that of the initial or the final state;
//  - an element at indices that the loop itself can compute is an output of the loop;
//  - else, if a step replaces little, the loop has as outputs what it overwrites, and a loop that reads the iterations
//    backwards has a state that starts from the final one and is restored before each reading (undo).
// If a read is left for which none will do, the trace stays, and pass `store` stores it.
#include "pass/trace.h"

#include "pass/occurs.h"
#include "pass/pass.h"

enum { READS_MAX = 64, OUTPUTS_MAX = 64 };

typedef enum How { HOW_FIRST, HOW_LAST, HOW_KEEP, HOW_UNDO } How;

typedef struct Read {
    Node *e; // trace[iteration, idx...]
    How how;
    Iteration at;
    Node *kept; // the output that it reads
    int nw;     // the variables over which the output is an array
    Var *w[PART_RANK];
    Node *put; // what takes its place
} Read;

typedef struct Planner {
    Ir *m;
    int nroots;
    Node **roots;
    Nodes nodes;
    Map facts;
    Node *trace, *loop, *state; // the trace of this state of the loop
    Loop *l;
    int k; // which state
    TraceParts parts;
    bool has_parts;
    int nreads;
    Read read[READS_MAX]; // those among the operands of others after them
    int nout;
    Node *out[OUTPUTS_MAX]; // the loop's outputs, and more
    Node *longer;           // the loop with all of these
} Planner;

static Node *operand_iteration(const Node *read) { return read->args[1]; }
static Node **operand_index(Node *read) { return read->args + 2; }

// ---- what reads the trace

static bool collect_reads(Planner *p) {
    p->nreads = 0;
    for (int i = 0; i < p->nroots; i++)
        if (p->roots[i] == p->trace) return false;
    for (int i = p->nodes.all.len; i-- > 0;) { // users first
        Node *e = p->nodes.all.data[i];
        for (int k = 0; k < e->nargs; k++) {
            if (e->args[k] != p->trace) continue;
            if (e->op != OP_at || k > 0 || p->nreads == READS_MAX) return false;
            p->read[p->nreads++] = (Read){.e = e};
        }
    }
    return p->nreads > 0;
}

// ---- elements that are not replaced

// Does no step of iterations `from`, ..., from + count - 1 replace the element that is read?
static bool untouched(Planner *p, const Read *r, Node *from, Node *count) {
    Ir *m = p->m;
    if (p->loop->op != OP_fold || !p->has_parts) return false;
    Node *old[PART_RANK + 1], *new[PART_RANK + 1];
    int n = 0;
    for (; n < p->parts.rank; n++) old[n] = ir_var(p->parts.v[n]), new[n] = operand_index(r->e)[n];
    old[n] = ir_var(p->l->index), new[n++] = ir_add(m, from, ir_var(ir_index(m, "u", count)));
    for (int i = 0; i < p->parts.n; i++)
        if (!facts_refute(m, map_get(&p->facts, r->e), ir_subst(m, p->parts.part[i].pred, n, old, new))) return false;
    return true;
}

static bool find_untouched(Planner *p, Read *r) {
    Node *t = operand_iteration(r->e);
    if (untouched(p, r, ir_int(p->m, 0), t)) r->how = HOW_FIRST;
    else if (p->loop->op == OP_fold && untouched(p, r, t, ir_sub(p->m, p->l->index->extent, t))) r->how = HOW_LAST;
    else return false;
    return true;
}

// ---- elements that the loop can find itself

// x as an output of the loop: 0 where it is not evaluated anyway. NULL: not possible.
static Node *without_failing(Planner *p, Node *x) {
    if (!x->partial) return x;
    Node *cond = iteration_demands(p->m, p->loop, x);
    return cond ? ir_bracket(p->m, cond, x) : NULL;
}

// Are the indices in range of an array of the given shape?
static Node *in_range(Ir *m, Node *const *idx, int n, Node *const *shape) {
    Node *e = ir_bool(m, true);
    for (int d = 0; d < n; d++) {
        if (!idx[d] || ir_index_in_range(m, n, idx, d, shape[d])) continue;
        e = ir_and(m, e, ir_and(m, ir_le(m, ir_int(m, 0), idx[d]), ir_lt(m, idx[d], shape[d])));
    }
    return e;
}

static bool find_kept(Planner *p, Read *r) {
    Ir *m = p->m;
    Node *idx[PART_RANK];
    if (!r->at.t) return false;
    bool all = true;
    for (int d = 0; d < p->state->rank && all; d++) {
        idx[d] = without_failing(p, iteration_in_loop(m, &r->at, operand_index(r->e)[d]));
        all = idx[d];
    }
    iteration_end(&r->at);
    if (!all) return false;
    Node *e = ir_bracket(m, in_range(m, idx, p->state->rank, p->state->shape), ir_at(m, p->state, p->state->rank, idx));
    r->nw = iteration_inner(&r->at, e, r->w);
    if (r->nw < 0 || r->nw >= p->state->rank) return false; // it may be as large as the state
    r->kept = iteration_array(m, e, r->nw, r->w);
    return true;
}

// ---- undoing

// Can an index be computed in another loop, from the number of the iteration?
static bool recomputes(const Planner *p, const Node *a) {
    for (int k = 0; k < p->l->n; k++)
        if (node_has_var(a, p->l->state[k])) return false;
    return true;
}

// Is every part small, and can its indices be computed without failing?
static bool can_undo(Planner *p) {
    if (!p->has_parts) return false;
    for (int i = 0; i < p->parts.n; i++) {
        bool fixed = false;
        for (int d = 0; d < p->parts.rank; d++) {
            Node **a = &p->parts.part[i].a[d];
            fixed |= *a != NULL;
            if (*a && !(*a = without_failing(p, *a))) return false;
        }
        if (!fixed) return false;
    }
    return true;
}

// A loop over v in which e is read.
static Node *reading_loop(const Planner *p, const Var *v, Node *e) {
    for (int i = 0; i < p->nodes.all.len; i++) {
        Node *f = p->nodes.all.data[i];
        if (f->op == OP_fold && ir_loop(f)->index == v && ir_reaches(f, e)) return f;
    }
    return NULL;
}

// Is e read by loops that go through the iterations backwards, and only there?
static bool reads_backwards(const Planner *p, const Read *r) {
    Ir *m = p->m;
    if (!r->at.t || r->at.t->extent != (p->l->index ? p->l->index->extent : p->trace->shape[0])) return false;
    Node *last = ir_sub(m, r->at.t->extent, ir_int(m, 1));
    if (operand_iteration(r->e) != ir_sub(m, last, ir_var(r->at.t))) return false;
    for (int i = 0; i < p->nodes.binders.len; i++)
        if (p->nodes.binders.data[i]->u.var == r->at.t && ir_reaches(p->nodes.binders.data[i], r->e)) return false;
    Node *loop = reading_loop(p, r->at.t, r->e);
    for (int i = 0; loop && i < p->trace->fv->n; i++)
        if (!node_has_var(loop, p->trace->fv->v[i])) return false;
    return loop;
}

// ---- carrying it out

static int add_output(Planner *p, Node *e) {
    for (int i = 0; i < p->nout; i++)
        if (p->out[i] == e) return i;
    p->out[p->nout] = e;
    return p->nout++;
}

static bool room_for(const Planner *p, int n) { return p->nout + n <= OUTPUTS_MAX; }

// What a part overwrites: an array over the dimensions that the part does not fix.
static Node *overwritten(Planner *p, const TracePart *part) {
    Ir *m = p->m;
    Node *idx[PART_RANK];
    Var *v[PART_RANK];
    int n = 0;
    for (int d = 0; d < p->parts.rank; d++) {
        idx[d] = part->a[d];
        if (!idx[d]) v[n] = ir_index(m, "k", p->state->shape[d]), idx[d] = ir_var(v[n++]);
    }
    Node *e = ir_bracket(m, in_range(m, idx, p->parts.rank, p->state->shape), ir_at(m, p->state, p->parts.rank, idx));
    while (n > 0) n--, e = ir_gen(m, v[n], e);
    return e;
}

typedef struct Undo {
    int old[PARTS_MAX];          // which outputs are what the parts overwrite
    int a[PARTS_MAX][PART_RANK]; // and their indices; -1: computed again
} Undo;

static bool add_undo(Planner *p, Undo *u) {
    for (int i = 0; i < p->parts.n; i++) {
        if (!room_for(p, p->parts.rank + 1)) return false;
        const TracePart *part = &p->parts.part[i];
        u->old[i] = add_output(p, overwritten(p, part));
        for (int d = 0; d < p->parts.rank; d++)
            u->a[i][d] = part->a[d] && !recomputes(p, part->a[d]) ? add_output(p, part->a[d]) : -1;
    }
    return true;
}

static void make_longer(Planner *p) {
    Loop like = *p->l;
    like.nout = p->nout;
    Node **steps = p->loop->args + loop_steps(p->loop);
    p->longer = like.index ? ir_fold_out(p->m, &like, p->loop->args, steps, p->out)
                           : ir_while_out(p->m, &like, p->loop->args, loop_cond(p->loop), steps, p->out);
}

// The element idx of the state at the entry of iteration t, if `after` is the state after it.
static Node *restored(Planner *p, const Undo *u, Node *after, Node *t, Node **idx) {
    Ir *m = p->m;
    Node *e = ir_at(m, after, p->parts.rank, idx);
    for (int i = 0; i < p->parts.n; i++) {
        Node *here = ir_bool(m, true), *at[PART_RANK + 1] = {t};
        int n = 1;
        for (int d = 0; d < p->parts.rank; d++) {
            Node *a = p->parts.part[i].a[d];
            if (!a) {
                at[n++] = idx[d];
                continue;
            }
            a = u->a[i][d] < 0 ? p->l->index ? ir_subst1(m, a, ir_var(p->l->index), t) : a
                               : ir_at1(m, ir_trace(m, p->longer, u->a[i][d]), t);
            here = ir_and(m, here, ir_eq(m, idx[d], a));
        }
        e = ir_select(m, here, ir_at(m, ir_trace(m, p->longer, u->old[i]), n, at), e);
    }
    return e;
}

static bool implied(Planner *p, const Read *r, Node *cond) {
    Node *c[2 * PART_RANK];
    int n = 0;
    if (!ir_conjuncts(cond, c, &n, 2 * PART_RANK)) return false;
    for (int i = 0; i < n; i++)
        if (!facts_refute(p->m, map_get(&p->facts, r->e), ir_not(p->m, c[i]))) return false;
    return true;
}

// In place of a read whose indices may be out of range: something that fails alike.
static Node *failing(Planner *p, const Read *r, Node *e) {
    Ir *m = p->m;
    Node *cond = in_range(m, operand_index(r->e), p->state->rank, p->state->shape);
    if (implied(p, r, cond)) return e;
    return ir_select(m, cond, e, ir_at(m, loop_init(p->loop, p->k), p->state->rank, operand_index(r->e)));
}

static Node *instead(Planner *p, const Undo *u, const Read *r, Node *after) {
    Ir *m = p->m;
    int rank = p->state->rank;
    Node **idx = operand_index(r->e), *at[PART_RANK + 1] = {operand_iteration(r->e)};
    switch (r->how) {
    case HOW_FIRST: return ir_at(m, loop_init(p->loop, p->k), rank, idx);
    case HOW_LAST: return ir_at(m, ir_final(m, p->longer, p->k), rank, idx);
    case HOW_KEEP:
        for (int i = 0; i < r->nw; i++) at[i + 1] = ir_var(r->w[i]);
        return failing(p, r, ir_at(m, ir_trace(m, p->longer, add_output(p, r->kept)), r->nw + 1, at));
    default: return failing(p, r, restored(p, u, after, at[0], idx));
    }
}

static void replace(Planner *p, Node *from, Node *to) { ir_replace_in(p->m, p->nroots, p->roots, from, to); }

static void collect(Planner *p) {
    nodes_free(&p->nodes);
    map_free(&p->facts);
    nodes_of(p->nroots, p->roots, &p->nodes);
    if (nodes_have(&p->nodes, OP_trace)) facts_collect(p->m, p->m->arena, p->nodes.all.len, p->nodes.all.data, &p->facts);
}

// The loop `back` with `after` as a state that is restored in each iteration.
static Node *restoring(Planner *p, const Undo *u, Node *back, Node *after) {
    Ir *m = p->m;
    Loop *b = ir_loop(back), like = {.index = b->index, .n = b->n + 1, .nout = b->nout};
    Node **init = ARENA_ARRAY(m->arena, Node *, like.n), **step = ARENA_ARRAY(m->arena, Node *, like.n);
    like.state = ARENA_ARRAY(m->arena, Var *, like.n);
    for (int k = 0; k < b->n; k++) like.state[k] = b->state[k], init[k] = loop_init(back, k), step[k] = loop_step(back, k);
    Node *idx[PART_RANK], *t = ir_sub(m, ir_sub(m, b->index->extent, ir_int(m, 1)), ir_var(b->index));
    Var *v[PART_RANK];
    for (int d = 0; d < p->parts.rank; d++) v[d] = ir_index(m, "k", p->state->shape[d]), idx[d] = ir_var(v[d]);
    Node *e = restored(p, u, after, t, idx);
    for (int d = p->parts.rank; d-- > 0;) e = ir_gen(m, v[d], e);
    like.state[b->n] = after->u.var, init[b->n] = ir_final(m, p->longer, p->k), step[b->n] = e;
    return ir_fold_out(m, &like, init, step, back->args + loop_steps(back) + b->n);
}

// A loop over v whose body has been made to read the state `after`, which it does not have yet.
static Node *lacking(const Planner *p, const Var *v, const Node *after) {
    for (int i = 0; i < p->nodes.all.len; i++) {
        Node *f = p->nodes.all.data[i];
        if (f->op == OP_fold && ir_loop(f)->index == v && node_has_var(f, after->u.var)) return f;
    }
    return NULL;
}

static void carry_out(Planner *p, const Undo *u) {
    Node *after[READS_MAX];
    for (int i = 0; i < p->nreads; i++) {
        Read *r = &p->read[i];
        after[i] = NULL;
        if (r->how == HOW_UNDO) {
            for (int j = 0; j < i && !after[i]; j++)
                if (p->read[j].at.t == r->at.t) after[i] = after[j];
            Var *s = p->state->u.var;
            if (!after[i]) after[i] = ir_var(ir_state(p->m, s->name, s->kind, s->rank, s->shape));
        }
        r->put = instead(p, u, r, after[i]);
    }
    for (int i = 0; i < p->nreads; i++) replace(p, p->read[i].e, p->read[i].put); // one may be among the indices of those before
    collect(p);
    for (int i = 0; i < p->nreads; i++) {
        Node *back;
        while (after[i] && (back = lacking(p, p->read[i].at.t, after[i]))) {
            replace(p, back, restoring(p, u, back, after[i]));
            collect(p);
        }
    }
    replace(p, p->loop, p->longer);
}

// ---- the plan

static bool reads_in_range(const Planner *p, const Read *r) {
    return ir_index_in_range(p->m, r->e->nargs - 1, r->e->args + 1, 0, p->trace->shape[0]);
}

static bool find_how(Planner *p, Read *r) {
    if (!reads_in_range(p, r)) return false;
    r->at = iteration_of(p->m, r->e);
    if (find_untouched(p, r)) return true;
    r->how = HOW_KEEP;
    if (find_kept(p, r)) return true;
    r->how = HOW_UNDO;
    return can_undo(p) && reads_backwards(p, r);
}

// A loop that restores the state reads all elements there.
static void read_restored(Planner *p) {
    for (int i = 0; i < p->nreads; i++)
        for (int j = 0; j < p->nreads; j++)
            if (p->read[i].how == HOW_KEEP && p->read[j].how == HOW_UNDO && p->read[i].at.t == p->read[j].at.t &&
                reads_backwards(p, &p->read[i]))
                p->read[i].how = HOW_UNDO;
}

static void note(const Planner *p) {
    static const char *const text[] = {[HOW_FIRST] = "the initial state",
                                       [HOW_LAST] = "the final state",
                                       [HOW_KEEP] = "the elements that are read, kept",
                                       [HOW_UNDO] = "the final state, undone step by step"};
    bool used[4] = {0};
    Str s = {0};
    for (int i = 0; i < p->nreads; i++) {
        if (!used[p->read[i].how]) str_printf(&s, "%s%s", s.len ? "; " : "", text[p->read[i].how]);
        used[p->read[i].how] = true;
    }
    explain(p->m->explain, EXPLAIN_LOOPS, p->loop->span, "trace: for the state `%s` in earlier iterations: %s",
            p->state->u.var->name, s.data);
    str_free(&s);
}

static bool open_trace(Planner *p, Node *trace) {
    p->trace = trace, p->loop = trace->args[0], p->l = ir_loop(p->loop);
    p->state = loop_output(p->loop, (int)trace->u.num);
    if (p->state->op != OP_var || p->state->rank >= PART_RANK) return false;
    for (p->k = 0; p->k < p->l->n && p->l->state[p->k] != p->state->u.var;) p->k++;
    if (p->k == p->l->n) return false;
    p->has_parts = parts_of_step(p->m, p->state, loop_step(p->loop, p->k), &p->parts);
    p->nout = 0;
    if (p->l->nout > OUTPUTS_MAX) return false;
    for (int q = 0; q < p->l->nout; q++) p->out[p->nout++] = loop_output(p->loop, q);
    return collect_reads(p);
}

// An Int that grows by the same number in each iteration is what it was, plus so many times that (of a fold, the rules know
// that already).
static bool plan_counter(Planner *p) {
    Ir *m = p->m;
    Poly more;
    int64_t c;
    if (p->state->kind != KIND_INT || p->state->rank) return false;
    if (!poly_linear(m, poly_of(m, loop_step(p->loop, p->k)), p->state, &c, &more) || c != 1) return false;
    Node *by = poly_node(m, more);
    if (by->partial || loop_varies(p->l, by)) return false;
    for (int i = 0; i < p->nreads; i++)
        if (!reads_in_range(p, &p->read[i])) return false;
    for (int i = 0; i < p->nreads; i++)
        replace(p, p->read[i].e, ir_add(m, loop_init(p->loop, p->k), ir_mul(m, by, operand_iteration(p->read[i].e))));
    return true;
}

static bool plan_one(Planner *p, Node *trace) {
    Undo u;
    bool undoes = false;
    if (!open_trace(p, trace)) return false;
    if (p->state->rank == 0) return plan_counter(p);
    for (int i = 0; i < p->nreads; i++)
        if (!find_how(p, &p->read[i])) return false;
    read_restored(p);
    for (int i = 0; i < p->nreads; i++) {
        Read *r = &p->read[i];
        undoes |= r->how == HOW_UNDO;
        if (r->how != HOW_KEEP) continue;
        if (!room_for(p, 1)) return false;
        add_output(p, r->kept);
    }
    if (undoes && !add_undo(p, &u)) return false;
    Span before = ir_from(p->m, p->loop);
    make_longer(p);
    note(p);
    carry_out(p, &u);
    p->m->span = before;
    return true;
}

void pass_plan_traces(Ir *m, int n, Node **roots) {
    Planner p = {.m = m, .nroots = n, .roots = roots};
    bool again = true;
    for (int limit = 200; again && limit > 0; limit--) {
        again = false;
        collect(&p);
        for (int i = p.nodes.all.len; i-- > 0 && !again;)
            if (p.nodes.all.data[i]->op == OP_trace) again = plan_one(&p, p.nodes.all.data[i]);
    }
    nodes_free(&p.nodes);
    map_free(&p.facts);
}

void pass_trace(Func *f) { pass_plan_traces(f->ir, func_roots(f), f->outputs); }
