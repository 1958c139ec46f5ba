// Under which conditions is a value evaluated? The conjuncts of the guards that are on every way to it.
#include "pass/facts.h"

enum { CONJUNCTS = 64, POLYS = 32 };

static bool has(const Facts *f, const Node *p) {
    for (int i = 0; i < f->n; i++)
        if (f->p[i] == p) return true;
    return false;
}

void facts_add(Facts *f, Node *p) {
    Node *c[CONJUNCTS];
    int n = 0;
    if (!ir_conjuncts(p, c, &n, CONJUNCTS)) return;
    for (int i = 0; i < n && f->n < FACTS_MAX; i++)
        if (c[i]->op != OP_lit && !has(f, c[i])) f->p[f->n++] = c[i];
}

Node *facts_guard(Ir *m, const Node *e, int k) {
    Node *c = e->nargs ? e->args[0] : NULL;
    if (k == 0) return NULL;
    switch (e->op) {
    case OP_bracket:
    case OP_and:
    case OP_assert: return c;
    case OP_select: return k == 1 ? c : ir_not(m, c);
    case OP_or: return ir_not(m, c);
    default: return NULL;
    }
}

static void reach(Arena *arena, Map *facts, Node *e, const Facts *outer, Node *cond) {
    Facts here = *outer, *known = map_get(facts, e);
    if (cond) facts_add(&here, cond);
    if (!known) {
        map_put(facts, e, arena_copy(arena, &here, sizeof here));
        return;
    }
    int n = 0;
    for (int i = 0; i < known->n; i++)
        if (has(&here, known->p[i])) known->p[n++] = known->p[i];
    known->n = n;
}

static bool binds_any(const Node *e, const Node *p) {
    if (ir_is_binder(e)) return node_has_var(p, e->u.var);
    if (!ir_is_loop(e)) return false;
    const Loop *l = ir_loop(e);
    bool any = l->index && node_has_var(p, l->index);
    for (int k = 0; k < l->n; k++) any |= node_has_var(p, l->state[k]);
    return any;
}

// What is known of a variable that e binds again, as passes may have it from `unify` on, speaks of another one:
//
//     gen k ([k = c] * (sum k a[k])[0])
const Facts *facts_inside(const Node *e, const Facts *f, Facts *left) {
    left->n = 0;
    for (int i = 0; i < f->n; i++)
        if (!binds_any(e, f->p[i])) left->p[left->n++] = f->p[i];
    return left->n < f->n ? left : f;
}

void facts_collect(Ir *m, Arena *arena, int n, Node *const *all, Map *facts) {
    static const Facts none = {0};
    for (int i = n; i-- > 0;) { // users before operands
        Node *e = all[i];
        const Facts *f = map_get(facts, e);
        if (!f) reach(arena, facts, e, &none, NULL), f = map_get(facts, e);
        Facts left;
        const Facts *in = facts_inside(e, f, &left);
        for (int k = 0; k < e->nargs; k++) reach(arena, facts, e->args[k], in, facts_guard(m, e, k));
        if (ir_is_binder(e)) reach(arena, facts, e->u.var->extent, f, NULL);
        if (e->op == OP_fold) reach(arena, facts, e->u.loop->index->extent, f, NULL);
    }
}

static bool refuted(Ir *m, const Facts *f, int npolys, const Poly *poly, Node *c) {
    if (c->op == OP_lit) return !c->u.num;
    if (f && has(f, ir_not(m, c))) return true;
    if (c->op == OP_or) return refuted(m, f, npolys, poly, c->args[0]) && refuted(m, f, npolys, poly, c->args[1]);
    Poly p[4];
    int n = poly_facts(m, c, p, 4);
    for (int i = 0; i < n; i++) // p >= 0 is false if -1 - p >= 0
        if (poly_nonneg_given(m, poly_add(m, poly_scale(m, p[i], -1), poly_of(m, ir_int(m, -1))), npolys, poly)) return true;
    return false;
}

bool facts_refute(Ir *m, const Facts *f, Node *p) {
    Node *c[CONJUNCTS];
    Poly poly[POLYS];
    int n = 0, npolys = 0;
    if (!ir_conjuncts(p, c, &n, CONJUNCTS)) return false;
    for (int i = 0; f && i < f->n && npolys < POLYS - 4; i++) npolys += poly_facts(m, f->p[i], poly + npolys, 4);
    for (int i = 0; i < n && npolys < POLYS - 4; i++) npolys += poly_facts(m, c[i], poly + npolys, 4);
    for (int i = 0; i < n; i++)
        if (refuted(m, f, npolys, poly, c[i])) return true;
    return false;
}
