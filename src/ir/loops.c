// Folds with closed forms ([FS] Fig. 8 e) and the pruning of states that a result does not need ([FS] Fig. 8 g).
#include "ir/internal.h"

#include <string.h>

static bool reads(const Node *e, const Var *s) { return node_has_var(e, s); }

// fold s = z in (if i = a then e else s): one step, taken if a is in range. e may read s, which is z there.
static Node *single_access(Ir *m, Var *index, Var *s, Node *z, Node *step) {
    Node *i = ir_var(index), *self = ir_var(s), *c = step->args[0];
    if (step->op != OP_select || step->args[2] != self || c->op != OP_eq || c->args[0]->kind != KIND_INT) return NULL;
    Node *a = c->args[0] == i ? c->args[1] : c->args[1] == i ? c->args[0] : NULL;
    if (!a || reads(a, index) || reads(a, s) || !rule(m, RULE_fold_access)) return NULL;
    Node *from[] = {i, self}, *to[] = {a, z};
    Node *hit = ir_subst(m, step->args[1], 2, from, to);
    Node *some = a->partial ? ir_lt(m, ir_int(m, 0), index->extent) : ir_bool(m, true); // else a is not evaluated
    Node *inside = ir_and(m, ir_le(m, ir_int(m, 0), a), ir_lt(m, a, index->extent));
    return ir_select(m, ir_and(m, some, inside), hit, z);
}

// fold s = z in max(s, e): the first of the largest, z counting as the first of all.
static Node *extreme(Ir *m, Var *index, Var *s, Node *z, Node *step) {
    if (step->op != OP_max && step->op != OP_min) return NULL;
    Node *self = ir_var(s);
    if (step->args[0] != self || reads(step->args[1], s) || !rule(m, RULE_fold_extreme)) return NULL;
    Node *e = step->args[1];
    Node *k = step->op == OP_max ? ir_argmax(m, index, e) : ir_argmin(m, index, e);
    Node *best = ir_subst1(m, e, ir_var(index), k);
    return ir_select(m, ir_lt(m, ir_int(m, 0), index->extent), ir_op(m, step->op, z, best), z);
}

enum { MAX_CHOICES = 64 };

// Is e the state s, more or less something that does not mention it? It may be at the end of a chain of additions, and in both
// arms of a choice, unless that would add in another order than --fp=precise allows. Counts the choices.
static bool adds_to(const Ir *m, const Node *e, const Var *s, int depth, int *choices) {
    const Node *a = e->nargs > 0 ? e->args[0] : NULL, *b = e->nargs > 1 ? e->args[1] : NULL;
    if (e->op == OP_var) return e->u.var == s;
    if (m->strict && depth > 0) return false;
    if ((e->op == OP_add || e->op == OP_sub) && !reads(b, s)) return adds_to(m, a, s, depth + 1, choices);
    if (e->op == OP_add && !reads(a, s)) return adds_to(m, b, s, depth + 1, choices);
    if (e->op != OP_select || m->strict || reads(a, s) || ++*choices > MAX_CHOICES) return false;
    return adds_to(m, b, s, depth + 1, choices) && adds_to(m, e->args[2], s, depth + 1, choices);
}

// What such an e adds; NULL for the state itself.
static Node *addend(Ir *m, Node *e, const Var *s) {
    if (e->op == OP_var) return NULL;
    Node *a = e->args[0], *b = e->args[1];
    if (e->op == OP_select) {
        Node *yes = addend(m, b, s), *no = addend(m, e->args[2], s);
        return ir_select(m, a, yes ? yes : ir_zero(m, e->kind), no ? no : ir_zero(m, e->kind));
    }
    Node *other = reads(a, s) ? b : a, *rest = addend(m, other == b ? a : b, s);
    if (e->op == OP_sub) return rest ? ir_sub(m, rest, other) : ir_op(m, OP_neg, other, NULL);
    return rest ? ir_add(m, rest, other) : other;
}

// fold s = z in s + e: a sum.
static Node *added(Ir *m, Var *index, Var *s, Node *z, Node *step) {
    Node *self = ir_var(s), *e = NULL;
    Poly rest;
    int64_t c;
    int choices = 0;
    if (step->kind == KIND_INT && poly_linear(m, poly_of(m, step), self, &c, &rest) && c == 1)
        e = poly_node(m, rest); // Int steps are polynomials: s + e in any order
    if (step == self || (!e && !adds_to(m, step, s, 0, &choices)) || !rule(m, RULE_fold_sum)) return NULL;
    if (!e) e = addend(m, step, s);
    return ir_add(m, z, ir_sum(m, index, e));
}

// The state after a fold that steps only this state by `step`; NULL if it has no closed form here.
Node *rule_fold(Ir *m, Var *index, Var *s, Node *z, Node *step) {
    if (step == ir_var(s) && rule(m, RULE_fold_still)) return z;
    if (z->rank) return NULL;
    if (!reads(step, s) && rule(m, RULE_fold_last)) {
        Node *n = index->extent, *last = ir_sub(m, n, ir_int(m, 1));
        return ir_select(m, ir_lt(m, ir_int(m, 0), n), ir_subst1(m, step, ir_var(index), last), z);
    }
    Node *r = single_access(m, index, s, z, step);
    if (!r) r = added(m, index, s, z, step);
    return r ? r : extreme(m, index, s, z, step);
}

// ---- the iteration that decides
//
// A state that an iteration either keeps or replaces, by a value that depends on no state, is that value in the last iteration
// that replaces it. Which one that is says a state of kind Int; so the tangent of a largest element that a loop with
// branches looks for is the tangent of that element, in any number of directions ([FS] Fig. 8 e, its last rule).

// Is e the state s or, by choices, *value? Counts the choices.
static bool keeps_or_replaces(Node *e, const Var *s, Node **value, int *choices) {
    if (e->op == OP_var && e->u.var == s) return true;
    if (!reads(e, s)) {
        if (!*value) *value = e;
        return *value == e;
    }
    if (e->op != OP_select || ++*choices > MAX_CHOICES) return false;
    return keeps_or_replaces(e->args[1], s, value, choices) && keeps_or_replaces(e->args[2], s, value, choices);
}

// That e with other leaves.
static Node *with_leaves(Ir *m, Node *e, const Var *s, Node *kept, Node *replaced) {
    if (e->op == OP_var && e->u.var == s) return kept;
    if (!reads(e, s)) return replaced;
    return ir_select(m, e->args[0], with_leaves(m, e->args[1], s, kept, replaced), with_leaves(m, e->args[2], s, kept, replaced));
}

Node *ir_last_replaced(Ir *m, Node *loop, int k) {
    Loop *l = ir_loop(loop), more = *l;
    Node *value = NULL, *step = loop_step(loop, k);
    int choices = 0;
    if (loop->op != OP_fold || l->state[k]->rank || !keeps_or_replaces(step, l->state[k], &value, &choices) || !value) return NULL;
    for (int j = 0; j < l->n; j++)
        if (reads(value, l->state[j])) return NULL;
    Var *last = ir_state(m, "last", KIND_INT, 0, NULL);
    Node **init = ARENA_ARRAY(m->arena, Node *, l->n + 1), **steps = ARENA_ARRAY(m->arena, Node *, l->n + 1);
    more.state = ARENA_ARRAY(m->arena, Var *, l->n + 1), more.nout = 0;
    for (int j = 0; j < l->n; j++) more.state[j] = l->state[j], init[j] = loop_init(loop, j), steps[j] = loop_step(loop, j);
    more.state[more.n] = last, init[more.n] = ir_int(m, -1);
    steps[more.n++] = with_leaves(m, step, l->state[k], ir_var(last), ir_var(l->index));
    Node *at = ir_final(m, ir_fold_out(m, &more, init, steps, NULL), l->n);
    return ir_select(m, ir_le(m, ir_int(m, 0), at), ir_subst1(m, value, ir_var(l->index), at), loop_init(loop, k));
}

// ---- results of loops
//
// A result is computed by a loop of its own that has only the states that the result depends on. States with known values
// become those values.

// Marks in need[] the states that e and those marked depend on; returns how many are marked.
static int closure(const Node *loop, const Node *e, bool *need) {
    int n = ir_loop(loop)->n, count = 0;
    for (int j = 0; j < n; j++) {
        need[j] |= e && reads(e, ir_loop(loop)->state[j]);
        need[j] |= loop->op == OP_while && reads(loop_cond(loop), ir_loop(loop)->state[j]); // it decides for all
    }
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < n; i++)
            for (int j = 0; need[i] && j < n; j++)
                if (!need[j] && reads(loop_step(loop, i), ir_loop(loop)->state[j])) need[j] = grown = true;
    }
    for (int j = 0; j < n; j++) count += need[j];
    return count;
}

// The value of state j at the entry of any iteration if it is known without running the loop: it does not change, or
// counts (an Int that grows by the same number each time).
static Node *known_state(Ir *m, const Node *loop, int j) {
    Loop *l = ir_loop(loop);
    Node *self = ir_var(l->state[j]), *step = loop_step(loop, j), *init = loop_init(loop, j);
    if (step == self || (step == init && step->op == OP_lit)) return init;
    if (loop->op != OP_fold || self->rank || self->kind != KIND_INT) return NULL;
    Poly rest;
    int64_t c;
    if (!poly_linear(m, poly_of(m, step), self, &c, &rest) || c != 1) return NULL;
    Node *more = poly_node(m, rest);
    if (reads(more, l->index)) return NULL;
    for (int k = 0; k < l->n; k++)
        if (reads(more, l->state[k])) return NULL;
    return ir_add(m, init, ir_mul(m, ir_var(l->index), more));
}

// A part of a loop: which states, which of them as results, and which outputs.
typedef struct Part {
    const Node *loop;
    bool *need, *result, *out;
    bool less;  // it lacks a state or an output, or one of two outputs that are the same
    bool known; // it has a state that is no result and whose value is known
} Part;

static Part part_new(Ir *m, const Node *loop) {
    const Loop *l = ir_loop(loop);
    return (Part){.loop = loop,
                  .need = ARENA_ARRAY(m->arena, bool, l->n + 1),
                  .result = ARENA_ARRAY(m->arena, bool, l->n + 1),
                  .out = ARENA_ARRAY(m->arena, bool, l->nout + 1)};
}

// The first output that the part has and that is the same value.
static int first_output(const Part *p, int q) {
    int first = 0;
    while (!p->out[first] || loop_output(p->loop, first) != loop_output(p->loop, q)) first++;
    return first;
}

// Finds out which states its results and outputs depend on. Returns how many.
static int part_close(Ir *m, Part *p) {
    const Loop *l = ir_loop(p->loop);
    int count = 0;
    for (int k = 0; k < l->n; k++) p->need[k] = p->result[k];
    for (int q = 0; q < l->nout; q++) {
        p->less |= !p->out[q] || first_output(p, q) < q;
        if (p->out[q]) closure(p->loop, loop_output(p->loop, q), p->need);
    }
    count = closure(p->loop, NULL, p->need);
    p->less |= count < l->n;
    for (int k = 0; k < l->n; k++) p->known |= p->need[k] && !p->result[k] && known_state(m, p->loop, k);
    return count;
}

// Is the loop to be replaced by the part? *replace: without states whose values are known.
static bool restricts(Ir *m, const Part *p, bool *replace) {
    if (p->less && !rule(m, RULE_fission)) return false;
    *replace = p->known && rule(m, RULE_state_known);
    return p->less || *replace;
}

// The part as a loop; at[k] and of[q], unless NULL, get the places of states and outputs.
static Node *restricted(Ir *m, const Part *p, bool replace, int *at, int *of) {
    const Node *loop = p->loop;
    Loop *l = ir_loop(loop);
    Node **from = ARENA_ARRAY(m->arena, Node *, l->n + 1), **to = ARENA_ARRAY(m->arena, Node *, l->n + 1);
    Node **init = ARENA_ARRAY(m->arena, Node *, l->n + 1), **step = ARENA_ARRAY(m->arena, Node *, l->n + 1);
    Node **out = ARENA_ARRAY(m->arena, Node *, l->nout + 1);
    Loop small = {.index = l->index,
                  .state = ARENA_ARRAY(m->arena, Var *, l->n + 1),
                  .levels = l->levels,
                  .limit = l->limit,
                  .block = l->block,
                  .follows = l->follows};
    int known = 0;
    for (int j = 0; j < l->n; j++) {
        Node *value = replace && p->need[j] && !p->result[j] ? known_state(m, loop, j) : NULL;
        if (value) from[known] = ir_var(l->state[j]), to[known++] = value;
        if (!p->need[j] || value) continue;
        if (at) at[j] = small.n;
        small.state[small.n] = l->state[j], init[small.n] = loop_init(loop, j), step[small.n++] = loop_step(loop, j);
    }
    int *place = ARENA_ARRAY(m->arena, int, l->nout + 1);
    for (int q = 0; q < l->nout; q++) {
        if (!p->out[q]) continue;
        const int first = first_output(p, q);
        if (first == q) place[q] = small.nout, out[small.nout++] = loop_output(loop, q);
        if (of) of[q] = place[first];
    }
    Node *cond = loop->op == OP_while ? loop_cond(loop) : NULL;
    if (known) {
        for (int j = 0; j < small.n; j++) step[j] = ir_subst(m, step[j], known, from, to);
        for (int q = 0; q < small.nout; q++) out[q] = ir_subst(m, out[q], known, from, to);
        cond = cond ? ir_subst(m, cond, known, from, to) : NULL;
    }
    return cond ? ir_while_out(m, &small, init, cond, step, out) : ir_fold_out(m, &small, init, step, out);
}

void ir_loop_needs(Ir *m, const Node *loop, const bool *result, const bool *out, bool *need) {
    Part p = part_new(m, loop);
    p.result = arena_copy(m->arena, result, sizeof *result * (size_t)ir_loop(loop)->n);
    p.out = arena_copy(m->arena, out, sizeof *out * (size_t)ir_loop(loop)->nout);
    p.need = need;
    part_close(m, &p);
}

Node *ir_loop_part(Ir *m, Node *loop, const bool *result, const bool *out, int *at, int *of) {
    Part p = part_new(m, loop);
    for (int k = 0; k < ir_loop(loop)->n; k++) p.result[k] = result[k], at[k] = k;
    for (int q = 0; q < ir_loop(loop)->nout; q++) p.out[q] = out[q], of[q] = q;
    bool replace;
    part_close(m, &p);
    return restricts(m, &p, &replace) ? restricted(m, &p, replace, at, of) : loop;
}

// ---- arrays that a loop fills
//
// A state whose row is set once in each iteration, all rows in the end, and that nothing reads before, is an output.

typedef struct Filled {
    Node *row;   // the iteration that sets row v[0]
    Node *value; // what iteration `index` sets it to, an output
    Var *v[16];
} Filled;

static bool is_filled(Ir *m, Node *loop, int k, Filled *f) {
    Loop *l = ir_loop(loop);
    Var *s = l->state[k];
    Node *e = loop_step(loop, k), *i = ir_var(l->index);
    int rank = 0, bodies = l->n + l->nout;
    if (!s->rank || s->rank > 16 || s->shape[0] != ir_count(m, loop)) return false;
    for (; e->op == OP_gen && rank < s->rank; e = e->args[0]) f->v[rank++] = e->u.var;
    if (rank < s->rank || e->op != OP_select || reads(e->args[1], s)) return false;
    Node *own = e->args[2];
    bool same = own->op == OP_at && own->args[0] == ir_var(s);
    for (int d = 0; same && d < rank; d++) same = own->args[d + 1] == ir_var(f->v[d]);
    if (!same) return false;
    for (int j = 0; j < bodies; j++)
        if (j != k && reads(loop->args[loop_steps(loop) + j], s)) return false;
    Node *at = ir_solve(m, e->args[0], f->v[0]), *from[] = {ir_var(f->v[0]), i};
    f->row = ir_solve(m, e->args[0], l->index);
    if (!at || !f->row || at->partial || f->row->partial) return false;
    for (int d = 0; d < rank; d++)
        if (reads(at, f->v[d]) || (d && reads(f->row, f->v[d]))) return false;
    for (int j = 0; j < l->n; j++)
        if (reads(at, l->state[j])) return false;
    if (!ir_in_range(m, f->row, l->index->extent) || !ir_in_range(m, at, s->shape[0])) return false;
    f->value = ir_subst(m, e->args[1], 1, from, &at);
    for (int d = rank; d-- > 1;) f->value = ir_gen(m, f->v[d], f->value);
    return true;
}

// The loop with outputs instead of such states; NULL if there are none. f[k].value is NULL for the others.
static Node *with_outputs(Ir *m, Node *loop, Filled *f) {
    Loop *l = ir_loop(loop), less = {.index = l->index,
                                     .state = ARENA_ARRAY(m->arena, Var *, l->n),
                                     .nout = l->nout,
                                     .levels = l->levels,
                                     .limit = l->limit,
                                     .block = l->block,
                                     .follows = l->follows};
    Node **init = ARENA_ARRAY(m->arena, Node *, l->n), **step = ARENA_ARRAY(m->arena, Node *, l->n);
    Node **out = ARENA_ARRAY(m->arena, Node *, l->n + l->nout + 1);
    for (int q = 0; q < l->nout; q++) out[q] = loop_output(loop, q);
    for (int k = 0; k < l->n; k++) {
        if (is_filled(m, loop, k, &f[k]) && rule(m, RULE_fold_array)) {
            out[less.nout++] = f[k].value;
            continue;
        }
        f[k].value = NULL;
        less.state[less.n] = l->state[k], init[less.n] = loop_init(loop, k), step[less.n++] = loop_step(loop, k);
    }
    return less.n < l->n ? ir_fold_out(m, &less, init, step, out) : NULL;
}

static Node *as_trace(Ir *m, Node *loop, int q, const Filled *f) {
    Node *idx[16], *trace = ir_trace(m, loop, q);
    idx[0] = f->row;
    for (int d = 1; d < trace->rank; d++) idx[d] = ir_var(f->v[d]);
    Node *e = ir_at(m, trace, trace->rank, idx);
    for (int d = trace->rank; d-- > 0;) e = ir_gen(m, f->v[d], e);
    return e;
}

// State k after a loop, or its output k, by means of the loop with outputs; NULL if that is the loop itself.
static Node *of_outputs(Ir *m, Node *loop, int k, bool state) {
    if (m->raw || m->stored || loop->op != OP_fold) return NULL;
    Loop *l = ir_loop(loop);
    Filled *f = ARENA_ARRAY(m->arena, Filled, l->n + 1);
    Node *less = with_outputs(m, loop, f);
    if (!less) return NULL;
    if (!state) return ir_trace(m, less, k);
    int before = 0;
    for (int j = 0; j < k; j++) before += (f[j].value != NULL) == (f[k].value != NULL);
    return f[k].value ? as_trace(m, less, l->nout + before, &f[k]) : ir_final(m, less, before);
}

static bool keeps_loops(const Ir *m) { return m->raw || m->whole_loops; }

Node *rule_final(Ir *m, Node *loop, int k) {
    Node *other = of_outputs(m, loop, k, true);
    if (other) return other;
    Loop *l = ir_loop(loop);
    Part p = part_new(m, loop);
    p.result[k] = true;
    if (part_close(m, &p) == 1 && loop->op == OP_fold) {
        Node *e = rule_fold(m, l->index, l->state[k], loop_init(loop, k), loop_step(loop, k));
        if (!e) e = rule_affine(m, loop, k);
        if (e) return e;
    }
    bool replace;
    int *at = ARENA_ARRAY(m->arena, int, l->n);
    if (keeps_loops(m) || !restricts(m, &p, &replace)) return NULL;
    Node *small = restricted(m, &p, replace, at, NULL);
    return ir_final(m, small, at[k]);
}

Node *rule_trace(Ir *m, Node *loop, int k) {
    Loop *l = ir_loop(loop);
    Node *out = loop_output(loop, k), *other = of_outputs(m, loop, k, false);
    if (m->raw || other) return other;
    Part p = part_new(m, loop);
    p.out[k] = true;
    if (part_close(m, &p) == 0 && loop->op == OP_fold && rule(m, RULE_trace_array)) {
        Node *n = ir_count(m, loop);
        if (n == l->index->extent) return ir_gen(m, l->index, out);
        Var *i = ir_index_like(m, l->index, n);
        return ir_gen(m, i, ir_subst1(m, out, ir_var(l->index), ir_var(i)));
    }
    bool replace;
    if (m->whole_loops || !restricts(m, &p, &replace)) return NULL;
    return ir_trace(m, restricted(m, &p, replace, NULL, NULL), 0);
}

Node *rule_count(Ir *m, Node *loop) {
    Loop *l = ir_loop(loop);
    if (m->whole_loops && l->nout && rule(m, RULE_fission)) { // one value, whatever the outputs
        Node **steps = loop->args + loop_steps(loop);
        return ir_count(m, ir_while(m, l->n, l->state, loop->args, loop_cond(loop), steps));
    }
    Part p = part_new(m, loop);
    bool replace;
    part_close(m, &p);
    return keeps_loops(m) || !restricts(m, &p, &replace) ? NULL : ir_count(m, restricted(m, &p, replace, NULL, NULL));
}
