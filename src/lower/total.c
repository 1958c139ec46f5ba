// A value that may fail cannot be computed before it is known to be needed; so every branch would have code of its own for
// it. But only checks fail. The value is taken apart into checks, made where it is needed, and a *total* value: the same
// with zeros where a check would fail. That can be computed anywhere.
#include "ir/internal.h"
#include "lower/internal.h"

static Node *in_range(Lower *l, Node *e, Node **idx) {
    Ir *m = l->ir;
    m->raw = false;
    Node *p = ir_bool(m, true);
    for (int k = 0; k + 1 < e->nargs; k++) {
        Node *n = e->args[0]->shape[k];
        p = ir_and(m, p, ir_and(m, ir_le(m, ir_int(m, 0), idx[k]), ir_lt(m, idx[k], n)));
    }
    m->raw = true;
    return p;
}

static Node *make_total(Lower *l, Node *e) {
    Ir *m = l->ir;
    if (e->op == OP_evaluated) return ir_bool(m, true);
    if (e->op == OP_assert) return lower_total(l, e->args[0]) ? lower_total(l, e->args[1]) : NULL; // its check needs both
    bool takes_apart = op_is_elementwise(e->op) || e->op == OP_conv || e->op == OP_select || e->op == OP_bracket;
    if (e->op != OP_pack && (e->rank || (e->op != OP_at && !takes_apart))) return NULL;
    Node **args = ARENA_ARRAY(l->arena, Node *, e->nargs);
    for (int k = 0; k < e->nargs; k++)
        if (!(args[k] = lower_total(l, e->args[k]))) return NULL;
    Node *r = ir_rebuild(m, e, args);
    if (!r->partial) return r;
    Node *zero = e->kind == KIND_BOOL ? ir_bool(m, false) : ir_zero(m, e->kind);
    if (e->op == OP_at) return ir_select_plain(m, in_range(l, e, args + 1), r, zero);
    if (e->op == OP_idiv || e->op == OP_irem)
        return ir_op(m, e->op, args[0], ir_select_plain(m, ir_ne(m, args[1], ir_int(m, 0)), args[1], ir_int(m, 1)));
    return NULL;
}

Node *lower_total(Lower *l, Node *e) {
    if (!e->partial) return e;
    if (map_get(&l->not_total, e)) return NULL;
    Node *t = map_get(&l->total, e);
    if (t) return t;
    bool raw = l->ir->raw;
    l->ir->raw = true; // the rules would take the conditions out of products
    t = make_total(l, e);
    l->ir->raw = raw;
    if (t && t->partial) t = NULL;
    map_put(t ? &l->total : &l->not_total, e, t ? t : e);
    return t;
}

// ---- checks
//
// What a value checks is a list: each check once, with the condition under which it is made. Values that share parts check
// the same things under many conditions; as a list of statements they would be as long as the paths through the value.

typedef struct Check1 {
    Node *cond; // what must hold
    Node *when; // total
    Node *of;   // the read, division or assertion that needs it
    int dim;    // of a read; -1: `of` is evaluated for its errors
    struct Check1 *next;
} Check1;

typedef struct CheckList {
    Check1 *first;
} CheckList;

static void add_check(Lower *l, CheckList *list, const Check1 *c, Node *under) {
    Ir *m = l->ir;
    Node *when = under ? ir_and(m, under, c->when) : c->when;
    Check1 **end = &list->first;
    for (; *end; end = &(*end)->next)
        if ((*end)->cond == c->cond) {
            (*end)->when = ir_or(m, (*end)->when, when);
            return;
        }
    *end = arena_copy(l->arena, c, sizeof *c);
    (*end)->when = when, (*end)->next = NULL;
}

static CheckList *checks_of(Lower *l, Node *e);

static void add_all(Lower *l, CheckList *list, Node *e, Node *under) {
    if (!e->partial) return;
    for (const Check1 *c = checks_of(l, e)->first; c; c = c->next) add_check(l, list, c, under);
}

static void add_own(Lower *l, CheckList *list, Node *e) {
    Ir *m = l->ir;
    Check1 c = {.when = ir_bool(m, true), .of = e};
    if (e->op == OP_at)
        for (c.dim = 1; c.dim < e->nargs; c.dim++) {
            Node *i = lower_total(l, e->args[c.dim]);
            c.cond = ir_and(m, ir_le(m, ir_int(m, 0), i), ir_lt(m, i, e->args[0]->shape[c.dim - 1]));
            add_check(l, list, &c, NULL);
        }
    if (e->op == OP_idiv || e->op == OP_irem) c.cond = ir_ne(m, lower_total(l, e->args[1]), ir_int(m, 0));
    if (e->op == OP_assert && !ir_is_demand(e)) c.cond = e; // its text counts, too
    if (c.cond && e->op != OP_at) add_check(l, list, &c, NULL);
}

// Operands that cannot be taken apart are evaluated as they are.
static void add_operands(Lower *l, CheckList *list, const Node *e) {
    for (int i = 0; i < e->nargs; i++) {
        Node *a = e->args[i];
        if (!a->rank && lower_total(l, a)) add_all(l, list, a, NULL);
        else add_check(l, list, &(Check1){.cond = a, .when = ir_bool(l->ir, true), .of = a, .dim = -1}, NULL);
    }
}

static CheckList *checks_of(Lower *l, Node *e) {
    CheckList *list = map_get(&l->checks, e);
    Ir *m = l->ir;
    if (list) return list;
    list = ARENA_NEW(l->arena, CheckList);
    if (e->op == OP_evaluated) {
        add_operands(l, list, e);
        map_put(&l->checks, e, list);
        return list;
    }
    add_all(l, list, e->args[0], NULL);
    Node *c = e->op == OP_select || e->op == OP_bracket || e->op == OP_and || e->op == OP_or ? lower_total(l, e->args[0]) : NULL;
    for (int k = 1; k < e->nargs; k++) {
        bool other = (e->op == OP_select && k == 2) || e->op == OP_or;
        add_all(l, list, e->args[k], c && other ? ir_not(m, c) : c);
    }
    add_own(l, list, e);
    map_put(&l->checks, e, list);
    return list;
}

bool lower_is_checked(Lower *l, Node *cond) {
    for (Scope *s = l->scope; s; s = s->outer)
        if (map_get(&s->checked, cond)) return true;
    return cond->op == OP_lit && cond->u.num;
}

void lower_total_checks(Lower *l, Node *e) {
    if (!e->partial) return;
    for (const Check1 *c = checks_of(l, e)->first; c; c = c->next) {
        if (lower_is_checked(l, c->cond)) continue;
        bool always = c->when->op == OP_lit;
        if (always && !c->when->u.num) continue;
        Temp when = always ? -1 : lower_value(l, c->when);
        if (!always) lower_begin_if(l, c->when);
        lower_check_self(l, c->of, c->dim);
        if (!always) lower_end_if(l, when);
        if (always) map_put(&l->scope->checked, c->cond, c->cond);
    }
}
