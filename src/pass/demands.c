// What a function's demands evaluate, so that what fails only where they do may be evaluated anywhere, any number of
// times: the function fails then in any case.
//
//     gen k (sum i (sum j ([k = (i + j) % n] (sin x[k] * sum l (x[at[j]] * w[l - j]))))),  demand sum j (x[at[j]])
//
// The sum over l is an array over j that is made once, before the loop over i. Each check is a pattern, of the
// variables that the demand's loops have: one that is the pattern for some of their values, where the conditions on its
// way hold, too, has been asked for.
#include "pass/facts.h"

#include "pass/pass.h"
#include <string.h>

enum { CONDITIONS = 16, VARS = 8, MOST_STEPS = 4096, MOST_TRIED = 64, MATCH_STEPS = 256 };

typedef struct Asked {
    Node *e;
    int nvars, nconds;
    Node *var[VARS]; // outermost first
    Node *cond[CONDITIONS];
    struct Asked *next;
} Asked;

struct Demands {
    Ir *m;
    Map checks;  // by key -> Asked
    Map covered; // what has been found to be, under no condition
    Map open;    // and what has not
    int left;    // steps of a question
};

// ---- the checks

// What e's own check looks at: its operands from the k-th on, up to *end.
static int checked(const Node *e, int *end) {
    bool divides = e->op == OP_idiv || e->op == OP_irem;
    *end = divides ? 2 : e->op == OP_at ? e->nargs : e->op == OP_assert ? 1 : 0;
    return e->op == OP_assert ? 0 : 1;
}

// Of all checks that can be the same but for indices.
static void *key_of(const Node *e) {
    int end, first = checked(e, &end);
    const Node *c = e->args[first], *of = c->op == OP_at && c->args[0]->fv->n == 0 ? c->args[0] : NULL;
    uintptr_t key = (uintptr_t)e->op * 64 + (uintptr_t)e->nargs;
    return (void *)((key * 64 + (uintptr_t)c->op) * 65536 * 2 + (of ? of->id % 65536 : 0) * 2 + 1);
}

static bool is_own(const Asked *c, const Node *e) {
    for (int i = 0; i < e->fv->n; i++) {
        bool own = false;
        for (int k = 0; k < c->nvars; k++) own |= c->var[k]->u.var == e->fv->v[i];
        if (!own) return false;
    }
    return true;
}

static void note_check(Demands *d, const Asked *at, Node *e) {
    int end, first = checked(e, &end);
    bool own = end > first && is_own(at, e);
    for (int i = 0; i < at->nconds; i++) own &= is_own(at, at->cond[i]);
    if (!own) return;
    Asked *c = arena_copy(d->m->arena, at, sizeof *at);
    c->e = e, c->next = map_get(&d->checks, key_of(e));
    map_put(&d->checks, key_of(e), c);
}

typedef struct Collect {
    Demands *d;
    Map seen;
    int left;
} Collect;

static void collect(Collect *w, Node *e, Asked at);

static void collect_if(Collect *w, Node *e, Asked at, Node *cond) {
    if (ir_conjuncts(cond, at.cond, &at.nconds, CONDITIONS)) collect(w, e, at);
}

static void collect_over(Collect *w, Node *e, Asked at) {
    bool again = at.nvars == VARS;
    for (int i = 0; i < at.nvars; i++) again |= at.var[i]->u.var == e->u.var;
    if (again) return;
    at.var[at.nvars++] = ir_var(e->u.var);
    collect(w, e->args[0], at);
}

// The element of a gen that e reads; NULL: it reads another array.
static Node *element_of(Ir *m, const Node *e) {
    Node *body = e->args[0], *from[VARS];
    int n = 0;
    for (; body->op == OP_gen && n < VARS; body = body->args[0]) from[n++] = ir_var(body->u.var);
    return n && n == e->nargs - 1 ? ir_subst(m, body, n, from, (Node **)e->args + 1) : NULL;
}

static void collect_element(Collect *w, Node *e, Asked at) {
    for (int i = 1; i < e->nargs; i++) collect(w, e->args[i], at);
    Node *element = e->args[0]->partial ? element_of(w->d->m, e) : NULL;
    if (element) collect(w, element, at);
}

static void collect(Collect *w, Node *e, Asked at) {
    if (!e->partial || map_get(&w->seen, e) || --w->left < 0) return;
    map_put(&w->seen, e, e);
    if (e->fails) note_check(w->d, &at, e);
    switch (e->op) {
    case OP_select:
        collect(w, e->args[0], at);
        collect_if(w, e->args[1], at, e->args[0]);
        collect_if(w, e->args[2], at, ir_not(w->d->m, e->args[0]));
        return;
    case OP_bracket:
    case OP_and:
    case OP_or:
        collect(w, e->args[0], at);
        collect_if(w, e->args[1], at, e->op == OP_or ? ir_not(w->d->m, e->args[0]) : e->args[0]);
        return;
    case OP_sum: collect_over(w, e, at); return;
    case OP_at: collect_element(w, e, at); return;
    default: break;
    }
    bool all = op_is_elementwise(e->op) || e->op == OP_evaluated || e->op == OP_conv || e->op == OP_assert;
    for (int i = 0; i < e->nargs && all; i++)
        if (e->args[i]->op == OP_gen && e->op == OP_evaluated) collect_over(w, e->args[i], at); // all elements
        else if (!e->args[i]->rank) collect(w, e->args[i], at);
}

Demands *demands_new(const Func *f) {
    Ir *m = f->ir;
    if (m->debug_nan) return NULL;
    Demands *d = ARENA_NEW(m->arena, Demands);
    *d = (Demands){.m = m};
    Collect w = {.d = d, .left = MOST_STEPS};
    for (int i = f->noutputs; i < func_roots(f); i++) collect(&w, f->outputs[i], (Asked){0});
    map_free(&w.seen);
    if (d->checks.len) return d;
    demands_delete(d);
    return NULL;
}

void demands_delete(Demands *d) {
    if (d) map_free(&d->checks), map_free(&d->covered), map_free(&d->open);
}

// ---- is a check one of them?

typedef struct Match {
    const Asked *c;
    Node *to[VARS]; // NULL: nothing yet
    int left;
} Match;

static bool matches(Match *x, Node *pattern, Node *e) {
    if (pattern == e && pattern->fv->n == 0) return true;
    if (--x->left < 0 || pattern->fv->n == 0 || pattern->kind != e->kind || pattern->rank != e->rank) return false;
    for (int k = 0; pattern->op == OP_var && k < x->c->nvars; k++)
        if (x->c->var[k] == pattern) {
            if (!x->to[k]) x->to[k] = e;
            return x->to[k] == e;
        }
    Op op = pattern->op;
    bool plain = op_is_elementwise(op) || op == OP_at || op == OP_select || op == OP_bracket;
    if (!plain || pattern->op != e->op || pattern->nargs != e->nargs) return false;
    Match before = *x;
    bool ok = true;
    for (int i = 0; i < e->nargs && ok; i++) ok = matches(x, pattern->args[i], e->args[i]);
    if (ok || (e->op != OP_add && e->op != OP_mul)) return ok;
    int left = x->left;
    *x = before, x->left = left;
    return matches(x, pattern->args[0], e->args[1]) && matches(x, pattern->args[1], e->args[0]);
}

static bool holds(Ir *m, const Facts *given, Node *p) {
    if (p->op == OP_lit) return p->u.num;
    return !p->partial && facts_refute(m, given, ir_not(m, p));
}

// Is e, for a variable of a demand's loop, one of its values?
static bool is_value(Ir *m, const Facts *given, Node *e, Node *extent) {
    if (e->op == OP_var && !e->u.var->is_state && e->u.var->extent == extent) return true;
    if (e->partial || extent->partial) return false;
    return ir_index_in_range(m, 1, &e, 0, extent) ||
           (holds(m, given, ir_le(m, ir_int(m, 0), e)) && holds(m, given, ir_lt(m, e, extent)));
}

static bool is_asked(Ir *m, Match *x, const Facts *given, Node *e) {
    const Asked *c = x->c;
    int end, first = checked(e, &end);
    Node *from[VARS], *to[VARS];
    for (int i = first; i < end; i++)
        if (!matches(x, c->e->args[i], e->args[i])) return false;
    for (int k = 0; k < c->nvars; k++) {
        if (!x->to[k]) return false; // whether its loop runs is another question
        from[k] = c->var[k], to[k] = x->to[k];
        if (!is_value(m, given, to[k], ir_subst(m, c->var[k]->u.var->extent, k, from, to))) return false;
    }
    for (int i = 0; e->op == OP_at && i < e->nargs - 1; i++)
        if (ir_subst(m, c->e->args[0]->shape[i], c->nvars, from, to) != e->args[0]->shape[i]) return false;
    for (int i = 0; i < c->nconds; i++)
        if (!holds(m, given, ir_subst(m, c->cond[i], c->nvars, from, to))) return false;
    return e->op != OP_assert || !strcmp(c->e->u.text, e->u.text);
}

bool demands_check(const Demands *d, const Facts *given, Node *e) {
    int end, first = checked(e, &end), tried = 0;
    if (!d || end <= first) return false;
    for (const Asked *c = map_get(&d->checks, key_of(e)); c && tried < MOST_TRIED; c = c->next, tried++)
        if (is_asked(d->m, &(Match){.c = c, .left = MATCH_STEPS}, given, e)) return true;
    return false;
}

// ---- can a value fail where they do not?

static bool cover(Demands *d, Node *e, const Facts *given);

static bool cover_parts(Demands *d, Node *e, const Facts *given) {
    Facts inside;
    const Facts *in = facts_inside(e, given, &inside);
    Node *element = e->op == OP_at && e->args[0]->partial ? element_of(d->m, e) : NULL;
    bool ok = !element || cover(d, element, given);
    for (int i = element != NULL; i < e->nargs && ok; i++) {
        Facts here = *in;
        Node *cond = facts_guard(d->m, e, i);
        if (cond) facts_add(&here, cond);
        ok = cover(d, e->args[i], &here);
    }
    if (ok && ir_is_binder(e)) ok = cover(d, e->u.var->extent, given);
    if (ok && e->op == OP_fold) ok = cover(d, ir_loop(e)->index->extent, given);
    return ok;
}

static bool is_inside(Ir *m, const Facts *given, const Node *read) {
    for (int k = 1; k < read->nargs; k++)
        if (!is_value(m, given, read->args[k], read->args[0]->shape[k - 1])) return false;
    return true;
}

static bool cover(Demands *d, Node *e, const Facts *given) {
    if (!e->partial || map_get(&d->covered, e)) return true;
    if ((given->n == 0 && map_get(&d->open, e)) || --d->left < 0) return false;
    bool own = !e->fails || demands_check(d, given, e) || (e->op == OP_at && is_inside(d->m, given, e));
    bool ok = own && cover_parts(d, e, given);
    if (given->n == 0) map_put(ok ? &d->covered : &d->open, e, e);
    return ok;
}

bool demands_cover(Demands *d, Node *e) {
    if (d) d->left = MOST_STEPS;
    return d && cover(d, e, &(Facts){0});
}
