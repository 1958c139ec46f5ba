// Where the adjoints of a loop's states matter, as states of its reverse. Of an array that is, if it is the same for all
// elements, one Bool; else how often each element is needed: numbers can be added where the elements are, like adjoints,
// so that an iteration costs what it changes.
#include "ad/graph.h"

#include <string.h>

enum { MAX_RANK = 16, MAX_CONJUNCTS = 32, MAX_ALTERNATIVES = 8 };

static Node *gen_over(Ir *m, int n, Var *const *v, Node *e) {
    for (int d = n; d-- > 0;) e = ir_gen(m, v[d], e);
    return e;
}

// ---- simplifying
// A disjunction of conjunctions.
typedef struct Alternatives {
    int n, len[MAX_ALTERNATIVES];
    Node *c[MAX_ALTERNATIVES][MAX_CONJUNCTS];
} Alternatives;

static bool collect(Alternatives *a, Node *p) {
    if (p->op == OP_or) return collect(a, p->args[0]) && collect(a, p->args[1]);
    return a->n < MAX_ALTERNATIVES && ir_conjuncts(p, a->c[a->n], &a->len[a->n], MAX_CONJUNCTS) && ++a->n;
}

static bool holds(Ir *m, Node *c, int nfacts, const Poly *facts) {
    Poly says[4];
    int n = c->partial || c->op == OP_lit ? 0 : poly_facts(m, c, says, 4), held = 0;
    while (held < n && poly_nonneg_given(m, says[held], nfacts, facts)) held++;
    return n > 0 && held == n && (c->op == OP_lt || c->op == OP_le);
}

// The place of c among the conjuncts of alternative i, or -1.
static int find(const Alternatives *a, int i, const Node *c) {
    for (int k = 0; k < a->len[i]; k++)
        if (a->c[i][k] == c) return k;
    return -1;
}

static void drop(Alternatives *a, int i, int k) {
    for (a->len[i]--; k < a->len[i]; k++) a->c[i][k] = a->c[i][k + 1];
}

// p && q || !p && q is q, and q || p && q, too: what p may raise, the value that it belongs to raises.
static bool joins(Ir *m, Alternatives *a, int i, int j) {
    int other = -1, same = 0;
    for (int k = 0; k < a->len[i]; k++) {
        same += find(a, j, a->c[i][k]) >= 0;
        other = find(a, j, ir_not(m, a->c[i][k])) >= 0 ? k : other;
    }
    if (same == a->len[i]) return true;
    if (other < 0 || same + 1 < a->len[i] || a->len[i] != a->len[j]) return false;
    drop(a, i, other);
    return true;
}

static void join(Ir *m, Alternatives *a) {
    for (int i = 0, j = 0; i < a->n; j++) {
        if (j == a->n) {
            i++, j = -1;
        } else if (i != j && joins(m, a, i, j)) {
            a->n--;
            a->len[j] = a->len[a->n];
            memcpy(a->c[j], a->c[a->n], sizeof a->c[j]);
            i = 0, j = -1;
        }
    }
}

// The condition e, given that the ranges of v are not empty.
static Node *simpler(Ir *m, Node *e, Var *const *v, int n) {
    Alternatives a = {0};
    Poly facts[MAX_RANK];
    if (!collect(&a, e)) return e;
    for (int d = 0; d < n; d++) facts[d] = poly_add(m, poly_of(m, v[d]->extent), poly_of(m, ir_int(m, -1)));
    for (int i = 0; i < a.n; i++) {
        for (int k = a.len[i]; k-- > 0;)
            if (holds(m, a.c[i][k], n, facts)) drop(&a, i, k);
    }
    join(m, &a);
    Node *any = ir_bool(m, false);
    for (int i = 0; i < a.n; i++) {
        Node *all = ir_bool(m, true);
        for (int k = 0; k < a.len[i]; k++) all = ir_and(m, all, a.c[i][k]);
        any = ir_or(m, any, all);
    }
    return any;
}

// ---- elements
// The element of the array a at variables v: its own, or fresh ones.
static Node *element(Ir *m, Node *a, Var **v) {
    Node *idx[MAX_RANK], *e = a;
    int n = 0;
    for (; e->op == OP_gen; e = e->args[0]) v[n++] = e->u.var;
    for (int d = 0; d < e->rank; d++) v[n + d] = ir_index(m, "k", e->shape[d]), idx[d] = ir_var(v[n + d]);
    e = ir_at(m, e, e->rank, idx);
    return e->kind == KIND_BOOL && !m->raw ? simpler(m, e, v, a->rank) : e;
}

static bool mentions(const Node *e, Var *const *v, int n) {
    for (int d = 0; d < n; d++)
        if (node_has_var(e, v[d])) return true;
    return false;
}

Node *ad_need_all(Ir *m, const Node *like, Node *value) {
    Var *v[MAX_RANK];
    for (int d = 0; d < like->rank; d++) v[d] = ir_index(m, "k", like->shape[d]);
    return gen_over(m, like->rank, v, value);
}

Node *ad_need_same(Ir *m, Node *needed) {
    Var *v[MAX_RANK];
    Node *e = element(m, needed, v);
    return mentions(e, v, needed->rank) || (needed->rank && e->partial) ? NULL : e;
}

// ---- counting
// Is e such a number: what is added up of ones, under conditions? An element of `own` (or NULL), a state of such numbers,
// may be part of it, but not more than once, but where one excludes the other: what doubles in each iteration would overflow.
static bool is_count(Ir *m, Node *e, const Var *own);
static Node *counted(Ir *m, Node *p, const Var *own);

static bool has(const Node *e, const Var *v) { return v && node_has_var(e, v); }

// Does e, the step of state s, only add to it?
static bool adds(Ir *m, Node *e, const Var *s) {
    Var *v[MAX_RANK];
    Node **term;
    int n, old = 0;
    if (e == ir_var(s)) return true;
    int count = ir_terms(m, e, v, &n, &term);
    for (int i = 0; i < count; i++) {
        old += has(term[i], s);
        if (!is_count(m, term[i], s)) return false;
    }
    return count > 0 && old <= 1;
}

// The element of an array: a state, or a result of a loop.
static bool counts_in_loop(Ir *m, Node *array, const Var *own) {
    if (array->op == OP_var) return array->u.var == own;
    if (array->op != OP_final && array->op != OP_trace) return false;
    const Node *loop = array->args[0];
    int k = (int)array->u.num;
    Node *e = array->op == OP_trace ? loop_output(loop, k) : loop_init(loop, k);
    for (int i = ir_loop(loop)->n; i < loop->nargs; i++)
        if (has(loop->args[i], own)) return false;
    if (e->op == OP_var && e->u.var != own) return false;
    while (e->op == OP_gen) e = e->args[0];
    if (array->op == OP_final && !adds(m, loop_step(loop, k), ir_loop(loop)->state[k])) return false;
    return e->op == OP_var || is_count(m, e, own);
}

static bool is_count(Ir *m, Node *e, const Var *own) {
    switch (e->op) {
    case OP_lit: return e->u.num == 0 || e->u.num == 1;
    case OP_add:
        return !(has(e->args[0], own) && has(e->args[1], own)) && is_count(m, e->args[0], own) && is_count(m, e->args[1], own);
    case OP_bracket: return (!has(e->args[0], own) || counted(m, e->args[0], own)) && is_count(m, e->args[1], own);
    case OP_sum: return !has(e, own) && is_count(m, e->args[0], NULL);
    case OP_at: return counts_in_loop(m, e->args[0], own);
    default: return false;
    }
}

// If p says that a count is not zero: the count.
static Node *counted(Ir *m, Node *p, const Var *own) {
    const Node *eq = p->op == OP_not ? p->args[0] : p;
    if (eq->op != (p->op == OP_not ? OP_eq : OP_ne) || eq->args[0]->kind != KIND_INT) return NULL;
    Node *e = ir_is_zero(eq->args[0]) ? eq->args[1] : ir_is_zero(eq->args[1]) ? eq->args[0] : NULL;
    return e && is_count(m, e, own) ? e : NULL;
}

static Node *count_of(Ir *m, Node *p, const Var *own, Var *const *v);

// Is a state part of e? It may raise what does not show as long as it is a variable.
static bool reads_state(const Node *e) {
    for (int i = 0; i < e->fv->n; i++)
        if (!e->fv->v[i]->extent) return true;
    return false;
}

// Of a conjunction: a number under the other conditions. What comes after the number must not be asked for where that
// is 0.
static Node *count_under(Ir *m, Node *p, const Var *own, Var *const *v) {
    Node *c[MAX_CONJUNCTS];
    int n = 0, at;
    if (!ir_conjuncts(p, c, &n, MAX_CONJUNCTS)) return ir_bracket(m, p, ir_int(m, 1));
    for (at = n - 1; at > 0 && !c[at]->partial && !counted(m, c[at], own);) at--;
    at = counted(m, c[at], own) ? at : n - 1;
    for (int i = 0; i < n; i++) own = i != at && has(c[i], own) ? NULL : own;
    Node *e = count_of(m, c[at], own, v);
    bool asks = false;
    for (int i = n; i-- > 0;) {
        if (i != at || asks) e = ir_bracket(m, c[i], e);
        asks |= i > at && reads_state(c[i]);
    }
    return e;
}

// Is an element of `own` a part of the number e? Conditions on it are none.
static bool is_part(const Node *e, const Var *own) {
    if (e->op == OP_bracket) return is_part(e->args[1], own);
    if (e->op == OP_add || e->op == OP_select) return is_part(e->args[e->nargs - 2], own) || is_part(e->args[e->nargs - 1], own);
    return has(e, own);
}

// Is one of p and q false, for all one sees?
static bool exclude(Ir *m, Node *p, Node *q) {
    Node *c[MAX_CONJUNCTS], *d[MAX_CONJUNCTS];
    int n = 0, k = 0;
    if (p->op == OP_or) return exclude(m, p->args[0], q) && exclude(m, p->args[1], q);
    if (q->op == OP_or) return exclude(m, p, q->args[0]) && exclude(m, p, q->args[1]);
    if (!ir_conjuncts(p, c, &n, MAX_CONJUNCTS) || !ir_conjuncts(q, d, &k, MAX_CONJUNCTS)) return false;
    for (int i = 0; i < n * k; i++)
        if (d[i % k] == ir_not(m, c[i / k])) return true;
    return false;
}

// Does an alternative of p say that element v of `own` is not 0?
static bool keeps(const Node *p, const Var *own, Var *const *v) {
    if (p->op == OP_or || p->op == OP_and) return keeps(p->args[0], own, v) || keeps(p->args[1], own, v);
    const Node *eq = p->op == OP_not ? p->args[0] : p;
    if (eq->op != OP_eq && eq->op != OP_ne) return false;
    const Node *e = ir_is_zero(eq->args[0]) ? eq->args[1] : eq->args[0];
    bool same = e->op == OP_at && e->args[0]->op == OP_var && e->args[0]->u.var == own;
    for (int d = 1; same && d < e->nargs; d++) same = e->args[d] == ir_var(v[d - 1]);
    return same;
}

// How many of the alternatives of p, the element at v, hold. What is left as it was had better be the number that it
// was: so an iteration that adds [k = 3] of another element's to needed[k] is an addition at one place. It comes last,
// unless one sees that it does not.
static Node *count_of(Ir *m, Node *p, const Var *own, Var *const *v) {
    if (p->op == OP_or) { // what may fail is not evaluated where what precedes it holds
        Node *a = p->args[0], *b = p->args[1];
        bool partial = b->partial, once = partial || exclude(m, a, b);
        bool turn = own && !once && keeps(a, own, v) && !keeps(b, own, v);
        Node *kept = count_of(m, turn ? a : b, own, v);
        Node *other = count_of(m, turn ? b : a, is_part(kept, own) && !once ? NULL : own, v);
        Node *first = turn ? kept : other, *last = turn ? other : kept;
        return ir_add(m, first, partial ? ir_bracket(m, ir_not(m, a), last) : last);
    }
    if (p->op == OP_and) return count_under(m, p, own, v);
    if (p->op == OP_select)
        return ir_select(m, p->args[0], count_of(m, p->args[1], own, v), count_of(m, p->args[2], own, v));
    Node *count = counted(m, p, own);
    return count ? count : ir_bracket(m, p, ir_int(m, 1));
}

static Node *counts(Ir *m, Node *needed, const Var *own) {
    Var *v[MAX_RANK];
    Node *e = element(m, needed, v);
    return gen_over(m, needed->rank, v, count_of(m, e, own, v));
}

Node *ad_need_counts(Ir *m, Node *needed) { return counts(m, needed, NULL); }

Node *ad_need_counted(Ir *m, Node *counts) {
    Var *v[MAX_RANK];
    Node *e = element(m, counts, v);
    return gen_over(m, counts->rank, v, ir_ne(m, e, ir_int(m, 0)));
}

// ---- the states
static bool is_true(const Node *e) { return e->op == OP_lit && e->u.num; }

static Node *everywhere(Ir *m, const Var *s, Node *needed) { return needed ? needed : ad_need_all(m, ir_var(s), ir_bool(m, true)); }

// A state of the loop around that counts: its numbers may go on in the loop inside.
static const Var *counter_in(const Node *e) {
    for (int i = 0; i < e->fv->n; i++)
        if (e->fv->v[i]->counts) return e->fv->v[i];
    return NULL;
}

void ad_need_open(Ir *m, AdNeed *d, const Var *s, Node *needed) {
    Node *same = ad_need_same(m, everywhere(m, s, needed));
    if (d->how < NEED_ALIKE) d->how = !same ? NEED_COUNT : is_true(same) ? NEED_ALWAYS : NEED_ALIKE;
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
