// Where the adjoints of a loop's states matter, as states of its reverse. Of an array that is, if it is the same for all
// elements, one Bool; else how often each element is needed: numbers can be added where the elements are, like adjoints,
// so that an iteration costs what it changes.
#include "ad/graph.h"

enum { MAX_RANK = 16, MAX_CONJUNCTS = 64 };

static Node *gen_over(Ir *m, int n, Var *const *v, Node *e) {
    for (int d = n; d-- > 0;) {
        e = ir_gen(m, v[d], e);
    }
    return e;
}

// The element of the array a at fresh variables.
static Node *element(Ir *m, Node *a, Var **v) {
    Node *idx[MAX_RANK];
    for (int d = 0; d < a->rank; d++) {
        v[d] = ir_index(m, "k", a->shape[d]), idx[d] = ir_var(v[d]);
    }
    return ir_at(m, a, a->rank, idx);
}

static bool mentions(const Node *e, Var *const *v, int n) {
    for (int d = 0; d < n; d++) {
        if (node_has_var(e, v[d])) {
            return true;
        }
    }
    return false;
}

Node *ad_need_all(Ir *m, const Node *like, Node *value) {
    Var *v[MAX_RANK];
    for (int d = 0; d < like->rank; d++) {
        v[d] = ir_index(m, "k", like->shape[d]);
    }
    return gen_over(m, like->rank, v, value);
}

Node *ad_need_same(Ir *m, Node *needed) {
    Var *v[MAX_RANK];
    Node *e = element(m, needed, v);
    return mentions(e, v, needed->rank) || (needed->rank && e->partial) ? NULL : e;
}

// ---- counting
// Is e such a number: what is added up of ones, under conditions? An element of `own` (or NULL), a state of such numbers,
// may be part of it, but not more than once: what doubles in each iteration would overflow.
static bool is_count(Ir *m, Node *e, const Var *own);

static bool has(const Node *e, const Var *v) { return v && node_has_var(e, v); }

// Does e, the step of state s, only add to it?
static bool adds(Ir *m, Node *e, const Var *s) {
    Var *v[MAX_RANK];
    Node **term;
    int n, old = 0;
    if (e == ir_var(s)) {
        return true;
    }
    int count = ir_terms(m, e, v, &n, &term);
    for (int i = 0; i < count; i++) {
        old += has(term[i], s);
        if (!is_count(m, term[i], s)) {
            return false;
        }
    }
    return count > 0 && old <= 1;
}

// The element of an array: a state, or a result of a loop.
static bool counts_in_loop(Ir *m, Node *array, const Var *own) {
    if (array->op == OP_var) {
        return array->u.var == own;
    }
    if (array->op != OP_final && array->op != OP_trace) {
        return false;
    }
    const Node *loop = array->args[0];
    int k = (int)array->u.num;
    Node *e = array->op == OP_trace ? loop_output(loop, k) : loop_init(loop, k);
    for (int i = ir_loop(loop)->n; i < loop->nargs; i++) {
        if (has(loop->args[i], own)) {
            return false;
        }
    }
    if (e->op == OP_var && e->u.var != own) {
        return false;
    }
    while (e->op == OP_gen) {
        e = e->args[0];
    }
    if (array->op == OP_final && !adds(m, loop_step(loop, k), ir_loop(loop)->state[k])) {
        return false;
    }
    return e->op == OP_var || is_count(m, e, own);
}

static bool is_count(Ir *m, Node *e, const Var *own) {
    switch (e->op) {
    case OP_lit:
        return e->u.num == 0 || e->u.num == 1;
    case OP_add:
        return !(has(e->args[0], own) && has(e->args[1], own)) && is_count(m, e->args[0], own) &&
               is_count(m, e->args[1], own);
    case OP_bracket:
        return !has(e->args[0], own) && is_count(m, e->args[1], own);
    case OP_sum:
        return !has(e, own) && is_count(m, e->args[0], NULL);
    case OP_at:
        return counts_in_loop(m, e->args[0], own);
    default:
        return false;
    }
}

// If p says that a count is not zero: the count.
static Node *counted(Ir *m, Node *p, const Var *own) {
    const Node *eq = p->op == OP_not ? p->args[0] : p;
    if (eq->op != (p->op == OP_not ? OP_eq : OP_ne) || eq->args[0]->kind != KIND_INT) {
        return NULL;
    }
    Node *e = ir_is_zero(eq->args[0]) ? eq->args[1] : ir_is_zero(eq->args[1]) ? eq->args[0] : NULL;
    return e && is_count(m, e, own) ? e : NULL;
}

static Node *count_of(Ir *m, Node *p, const Var *own);

// Of a conjunction: a number under the other conditions.
static Node *count_under(Ir *m, Node *p, const Var *own) {
    Node *c[MAX_CONJUNCTS];
    int n = 0, at;
    if (!ir_conjuncts(p, c, &n, MAX_CONJUNCTS)) {
        return ir_bracket(m, p, ir_int(m, 1));
    }
    for (at = n - 1; at > 0 && !c[at]->partial && !counted(m, c[at], own);) {
        at--;
    }
    at = counted(m, c[at], own) ? at : n - 1;
    for (int i = 0; i < n; i++) {
        own = i != at && has(c[i], own) ? NULL : own;
    }
    Node *e = count_of(m, c[at], own);
    for (int i = n; i-- > 0;) {
        e = i == at ? e : ir_bracket(m, c[i], e);
    }
    return e;
}

// How many of the alternatives of p hold.
static Node *count_of(Ir *m, Node *p, const Var *own) {
    if (p->op == OP_or && !p->args[1]->partial) {
        Node *first = count_of(m, p->args[0], own);
        return ir_add(m, first, count_of(m, p->args[1], has(p->args[0], own) ? NULL : own));
    }
    if (p->op == OP_and) {
        return count_under(m, p, own);
    }
    if (p->op == OP_select) {
        return ir_select(m, p->args[0], count_of(m, p->args[1], own), count_of(m, p->args[2], own));
    }
    Node *count = counted(m, p, own);
    return count ? count : ir_bracket(m, p, ir_int(m, 1));
}

static Node *counts(Ir *m, Node *needed, const Var *own) {
    Var *v[MAX_RANK];
    Node *e = element(m, needed, v);
    return gen_over(m, needed->rank, v, count_of(m, e, own));
}

Node *ad_need_counts(Ir *m, Node *needed) { return counts(m, needed, NULL); }

Node *ad_need_counted(Ir *m, Node *counts) {
    Var *v[MAX_RANK];
    Node *e = element(m, counts, v);
    return gen_over(m, counts->rank, v, ir_ne(m, e, ir_int(m, 0)));
}

// ---- the states
static bool is_true(const Node *e) { return e->op == OP_lit && e->u.num; }

static Node *everywhere(Ir *m, const Var *s, Node *needed) {
    return needed ? needed : ad_need_all(m, ir_var(s), ir_bool(m, true));
}

// A state of the loop around that counts: its numbers may go on in the loop inside.
static const Var *counter_in(const Node *e) {
    for (int i = 0; i < e->fv->n; i++) {
        if (e->fv->v[i]->counts) {
            return e->fv->v[i];
        }
    }
    return NULL;
}

void ad_need_open(Ir *m, AdNeed *d, const Var *s, Node *needed) {
    Node *same = ad_need_same(m, everywhere(m, s, needed));
    if (d->how < NEED_ALIKE) {
        d->how = !same ? NEED_COUNT : is_true(same) ? NEED_ALWAYS : NEED_ALIKE;
    }
    if (d->how == NEED_ALWAYS) {
        d->mark = NULL;
    } else if (d->how == NEED_ALIKE) {
        d->state = ir_state(m, "needed", KIND_BOOL, 0, NULL);
        d->init = same;
        d->mark = ad_need_all(m, ir_var(s), ir_var(d->state));
    } else {
        needed = everywhere(m, s, needed);
        d->state = ir_state(m, "needed", KIND_INT, s->rank, s->shape);
        d->state->counts = true;
        d->init = counts(m, needed, counter_in(needed));
        d->mark = ad_need_counted(m, ir_var(d->state));
    }
}

bool ad_need_step(Ir *m, AdNeed *d, const Var *s, Node *needed) {
    Node *all = everywhere(m, s, needed), *same = ad_need_same(m, all);
    if (d->how == NEED_COUNT) {
        d->step = counts(m, all, d->state);
        return true;
    }
    if (d->how == NEED_ALWAYS ? same && is_true(same) : same != NULL) {
        d->step = same;
        return true;
    }
    d->how = s->rank == 0 || (d->how == NEED_ALWAYS && same) ? NEED_ALIKE : NEED_COUNT;
    return false;
}

Node *ad_need_final(Ir *m, const AdNeed *d, const Var *s, Node *final) {
    return d->how == NEED_ALIKE ? ad_need_all(m, ir_var(s), final) : ad_need_counted(m, final);
}
