// Which elements of an array a step replaces: it is taken apart into the old array and conditions on the indices. The
// conditions may say too much; values are not looked at.
#include "pass/trace.h"

enum { CONJUNCTS = 64 };

static bool is_own(const Node *e, const TraceParts *t) {
    if (e->op != OP_at || e->args[0] != t->base) return false;
    for (int k = 0; k < t->rank; k++)
        if (e->args[k + 1] != ir_var(t->v[k])) return false;
    return true;
}

// An element of a gen, as the gen's body says; NULL if e is none.
static Node *element(Ir *m, Node *e) {
    Node *from[PART_RANK], *g = e->args[0];
    int n = e->nargs - 1;
    for (int k = 0; k < n; k++, g = g->args[0]) {
        if (g->op != OP_gen) return NULL;
        from[k] = ir_var(g->u.var);
    }
    return ir_subst(m, g, n, from, e->args + 1);
}

static bool replaced(Ir *m, TraceParts *t, Node *pred, Node *e);

// Splits what alternatives the condition has; each must fix an index, or stands for all elements.
static bool add_part(Ir *m, TraceParts *t, Node *pred) {
    Node *c[CONJUNCTS];
    int n = 0;
    if (pred->op == OP_lit && !pred->u.num) return true;
    if (!ir_conjuncts(pred, c, &n, CONJUNCTS)) return false;
    for (int i = 0; i < n; i++) {
        Node *either = c[i], *rest = ir_bool(m, true);
        if (either->op == OP_not && either->args[0]->op == OP_and)
            either = ir_or(m, ir_not(m, either->args[0]->args[0]), ir_not(m, either->args[0]->args[1]));
        if (either->op != OP_or) continue;
        for (int k = 0; k < n; k++)
            if (k != i) rest = ir_and(m, rest, c[k]);
        return add_part(m, t, ir_and(m, rest, either->args[0])) && add_part(m, t, ir_and(m, rest, either->args[1]));
    }
    if (t->n == PARTS_MAX) return false;
    TracePart *p = &t->part[t->n++];
    *p = (TracePart){.pred = pred};
    for (int d = 0; d < t->rank; d++)
        for (int i = 0; i < n && !p->a[d]; i++) {
            Node *a = ir_solve(m, c[i], t->v[d]);
            for (int k = 0; a && k < t->rank; k++)
                if (node_has_var(a, t->v[k])) a = NULL;
            p->a[d] = a;
        }
    return true;
}

// Where is the term e not zero?
static bool not_zero(Ir *m, TraceParts *t, Node *pred, Node *e) {
    if (e->op == OP_neg) return not_zero(m, t, pred, e->args[0]);
    if (e->op == OP_bracket) return add_part(m, t, ir_and(m, pred, e->args[0]));
    if (e->op == OP_add || e->op == OP_sub) return not_zero(m, t, pred, e->args[0]) && not_zero(m, t, pred, e->args[1]);
    Node *x = e->op == OP_at ? element(m, e) : NULL;
    return x ? not_zero(m, t, pred, x) : add_part(m, t, pred);
}

static bool has_own(Ir *m, const Node *e, const TraceParts *t) {
    (void)m;
    if (is_own(e, t)) return true;
    if (e->op == OP_add || e->op == OP_sub) return has_own(m, e->args[0], t) || (e->op == OP_add && has_own(m, e->args[1], t));
    return false;
}

// The old element plus something: where is that something not zero?
static bool added(Ir *m, TraceParts *t, Node *pred, Node *e) {
    if (is_own(e, t)) return true;
    bool left = has_own(m, e->args[0], t);
    return added(m, t, pred, e->args[!left]) && not_zero(m, t, pred, e->args[left]);
}

static bool replaced(Ir *m, TraceParts *t, Node *pred, Node *e) {
    if (is_own(e, t)) return true;
    if (e->op == OP_select)
        return replaced(m, t, ir_and(m, pred, e->args[0]), e->args[1]) &&
               replaced(m, t, ir_and(m, pred, ir_not(m, e->args[0])), e->args[2]);
    if (e->op == OP_bracket)
        return replaced(m, t, ir_and(m, pred, e->args[0]), e->args[1]) && add_part(m, t, ir_and(m, pred, ir_not(m, e->args[0])));
    if (has_own(m, e, t)) return added(m, t, pred, e);
    Node *x = e->op == OP_at ? element(m, e) : NULL;
    return x ? replaced(m, t, pred, x) : add_part(m, t, pred);
}

bool parts_of_step(Ir *m, Node *base, Node *step, TraceParts *t) {
    *t = (TraceParts){.base = base, .rank = base->rank};
    if (base->rank == 0 || base->rank > PART_RANK) return false;
    Node *body = step;
    if (step == base) {
        for (int d = 0; d < base->rank; d++) t->v[d] = ir_index(m, "k", base->shape[d]);
        return true;
    }
    for (int d = 0; d < base->rank; d++, body = body->args[0]) {
        if (body->op != OP_gen) return false;
        t->v[d] = body->u.var;
    }
    t->body = body;
    return replaced(m, t, ir_bool(m, true), body);
}
