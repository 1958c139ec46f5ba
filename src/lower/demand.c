// What a scope needs in any case, what several arms of its branches need, and which conditions mostly hold. Where
// values are placed (place.c) depends on it.
#include "lower/internal.h"

typedef struct Common Common;

// What is known to be needed: by all, and, inside the arms of selects, by the arm.
typedef struct Demand {
    const struct Demand *outer;
    Map *seen;
    int *fuel;        // inside of arms: so many values more are looked at
    const Map *other; // of the second arm: what the first one needs
    Common *common;   // and gets what of that it needs, too, but for what that needs itself
} Demand;

// What both arms of a select need: walks of the arms, which are not long, find it once for a scope, with that of the
// selects in them.
struct Common {
    Node *e;             // NULL: the beginning of the list
    Common *next, *last; // last: of the beginning
};
enum { MAX_WALK = 500 };

static bool is_demanded(const Demand *d, const Node *e) {
    for (; d; d = d->outer)
        if (map_get(d->seen, e)) return true;
    return false;
}

bool lower_is_outside(Lower *l, const Node *e) {
    int depth = -1;
    for (Scope *s = l->scope->outer; s; s = s->outer) {
        if (!map_get(&s->demanded, e) && (e->rank || !map_get(&s->values, e))) continue;
        Scope *home = depth < 0 ? scope_of_vars(l, e->fv) : NULL;
        if (depth < 0 && !home) return false;
        if (home) depth = home->depth;
        if (depth <= s->depth) return true;
    }
    return false;
}

static void demand(Lower *l, Node *e, Demand *d);

// Does e need a result of a while loop that runs anyway?
static bool is_counted(const Scope *s, const Node *e, int *fuel) {
    if (!e->partial || --*fuel < 0) return false;
    if (e->op == OP_final && e->args[0]->op == OP_while)
        for (const Scope *o = s; o; o = o->outer)
            if (map_get(&o->arrays, e->args[0]) || map_get(&o->demanded, e)) return true;
    if (ir_is_binder(e) && is_counted(s, e->u.var->extent, fuel)) return true;
    for (int i = 0; i < e->nargs; i++)
        if (is_counted(s, e->args[i], fuel)) return true;
    return false;
}

// What has been found in several arms has been walked twice, with all that it needs: once more would find nothing.
static void walk_arm(Lower *l, Node *e, void *arm) {
    Scope *s = l->scope;
    if (e->nargs == 0 || map_get(&s->demanded, e) || lower_is_outside(l, e)) return;
    void *first = map_get(&s->in_arm, e);
    if (first == arm || (first && map_get(&s->in_arms, e))) return;
    if (first) map_put(&s->in_arms, e, e);
    else map_put(&s->in_arm, e, arm);
    if (ir_is_binder(e) && lower_active(l, e->u.var)) return;
    Node *total = e->rank == 0 && e->partial ? lower_total(l, e) : NULL;
    if (total) walk_arm(l, total, arm);
    // what is computed before the arms decides for itself what it needs
    bool total_here = !e->partial || (l->whiles.len && is_counted(s, e, &(int){64}) && !lower_fails(l, s, e, NULL));
    bool branches = first && (e->op == OP_bracket || e->op == OP_select) && total_here;
    for (int i = 0; i < (branches ? 1 : e->nargs); i++) walk_arm(l, e->args[i], arm);
}

// Do several arms of branches of the scope need e? That had better be computed before them: inside, each arm would have
// code for it, and arms in arms exponentially much. What the scope needs anyway is not asked about, nor what only that
// needs.
bool lower_in_arms(Lower *l, Scope *s, const Node *e) {
    Scope *here = l->scope;
    l->scope = s;
    for (; s->arms_seen < s->arms.len; s->arms_seen++) walk_arm(l, s->arms.data[s->arms_seen].e, s->arms.data[s->arms_seen].of);
    l->scope = here;
    return map_get(&s->in_arms, e);
}

void lower_note_arm(Lower *l, Node *e) { walk_arm(l, e, e); }

static const Common *common_of(Lower *l, Node *select) {
    Scope *s = l->scope;
    Common *c = map_get(&s->common, select);
    if (c) return c;
    c = ARENA_NEW(l->arena, Common);
    *c = (Common){.last = c};
    map_put(&s->common, select, c);
    Map one = {0}, other = {0};
    const Demand scope = {.seen = &s->demanded};
    int fuel = MAX_WALK;
    demand(l, select->args[1], &(Demand){.outer = &scope, .seen = &one, .fuel = &fuel});
    if (one.len) demand(l, select->args[2], &(Demand){&scope, &other, &fuel, &one, c});
    map_free(&one), map_free(&other);
    return c;
}

// What both arms of a select need is needed.
static void demand_either(Lower *l, Node *select, Demand *d) {
    for (const Common *c = common_of(l, select)->next; c; c = c->next) demand(l, c->e, d);
}

// An array in which the element or row at an index is replaced, as a loop does in each iteration: if there is such an
// index, what replaces it is needed.
static void demand_replaced(Lower *l, Node *e, Demand *d) {
    enum { MAX_CONJUNCTS = 16 };
    Node *c[MAX_CONJUNCTS], *body = e;
    int n = 0, used = 0;
    while (body->op == OP_gen) body = body->args[0];
    if ((body->op != OP_select && body->op != OP_bracket) || !ir_conjuncts(body->args[0], c, &n, MAX_CONJUNCTS)) return;
    for (; e->op == OP_gen; e = e->args[0]) {
        Node *a = NULL;
        for (int i = 0; i < n && !a; i++) a = ir_solve(l->ir, c[i], e->u.var);
        bool fixed = a && ir_in_range(l->ir, a, e->u.var->extent);
        if (fixed ? node_has_var(body->args[1], e->u.var) : lower_active(l, e->u.var) || lower_maybe_empty(l, e->u.var)) return;
        for (const Node *inner = e->args[0]; fixed && inner->op == OP_gen; inner = inner->args[0])
            if (node_has_var(a, inner->u.var)) return;
        used += fixed;
    }
    if (used == n) demand(l, body->args[1], d);
}

typedef struct Followed {
    Lower *l;
    const Node *loop;
    Demand *demand;
} Followed;

static void demand_result(Node *e, void *data) {
    const Followed *f = data;
    const Loop *p = ir_loop(f->loop);
    bool own = e->op != OP_final || e->args[0]->op != OP_fold;
    for (int k = -1; k < p->n && !own; k++) own = node_has_var(e, p->state[k]);
    if (!own) demand(f->l, e, f->demand);
}

// The results of loops that were one with this one.
static void demand_followed(Lower *l, Node *loop, Demand *d) {
    ir_walk(ir_loop(loop)->n, loop->args + loop_steps(loop), demand_result, &(Followed){l, loop, d});
}

// Is it that a number other than 0 comes out of sums or loops, such as the square of a norm that a derivative is
// divided by? That holds but for special arguments.
static bool is_generic(Lower *l, const Node *p) {
    if (p->op == OP_and) return is_generic(l, p->args[0]) && is_generic(l, p->args[1]);
    return p->op == OP_ne && kind_is_float(p->args[0]->kind) && (ir_is_zero(p->args[0]) || ir_is_zero(p->args[1])) &&
           (lower_dear(l, p->args[0]) || lower_dear(l, p->args[1]));
}

static void demand_where(Lower *l, Node *cond, Arm arm, Demand *seen) {
    demand(l, cond, seen);
    if (!arm.e->partial && is_generic(l, cond)) demand(l, arm.e, seen);
    else if (!seen->outer) vec_push(&l->scope->arms, arm);
}

static void demand(Lower *l, Node *e, Demand *seen) {
    if (e->nargs == 0 || is_demanded(seen, e) || (seen->fuel && --*seen->fuel < 0) || lower_is_outside(l, e)) return;
    map_put(seen->seen, e, e);
    if (seen->other && map_get(seen->other, e)) {
        Common *c = ARENA_NEW(l->arena, Common), *head = seen->common;
        *c = (Common){.e = e};
        head->last = head->last->next = c;
        return;
    }
    switch (e->op) {
    case OP_bracket: demand_where(l, e->args[0], (Arm){e->args[1], e->args[1]}, seen); break;
    case OP_select:
        demand(l, e->args[0], seen);
        for (int i = 1; i < 3 && !seen->outer; i++) vec_push(&l->scope->arms, ((Arm){e->args[i], e->args[i]}));
        demand_either(l, e, seen);
        break;
    case OP_and:
    case OP_or: // the second operand is evaluated by need if it may fail
        demand(l, e->args[0], seen);
        if (!e->args[1]->partial) demand(l, e->args[1], seen);
        break;
    case OP_gen:
    case OP_sum:
    case OP_argmin:
    case OP_argmax:
        demand(l, e->u.var->extent, seen);
        if (!lower_active(l, e->u.var) && !lower_maybe_empty(l, e->u.var)) demand(l, e->args[0], seen);
        if (e->op == OP_gen) demand_replaced(l, e, seen);
        break;
    case OP_fold:
        demand(l, e->u.loop->index->extent, seen);
        if (e->u.loop->follows) demand_followed(l, e, seen);
        // fall through
    case OP_while:
        for (int k = 0; k < e->u.loop->n; k++) demand(l, loop_init(e, k), seen);
        break;
    default:
        for (int i = 0; i < e->nargs; i++) demand(l, e->args[i], seen);
    }
}

void lower_demand(Lower *l, Node *e) { demand(l, e, &(Demand){.seen = &l->scope->demanded}); }

void lower_demand_where(Lower *l, Node *cond, Node *e) {
    demand_where(l, cond, (Arm){e, cond}, &(Demand){.seen = &l->scope->demanded});
}

// What a condition is made of may be shared: there may be more ways to its parts than parts.
enum { MAX_CONDITION = 64 };

static bool of_indices(const Node *p, int *fuel) {
    if (--*fuel < 0) return false;
    if (p->op == OP_var) return !p->u.var->is_state;
    if (p->op == OP_input) return p->nonneg;
    if (p->op == OP_lit) return true;
    if (p->op == OP_irem) return of_indices(p->args[1], fuel); // in the range of an index, whatever is divided
    if (!op_is_elementwise(p->op) || (p->kind != KIND_BOOL && p->kind != KIND_INT)) return false;
    for (int i = 0; i < p->nargs; i++)
        if (!of_indices(p->args[i], fuel)) return false;
    return true;
}

bool lower_is_of_indices(const Node *p) { return of_indices(p, &(int){MAX_CONDITION}); }

// Does the comparison hold if all sizes are at least 1, as they mostly are?
static bool holds_unless_empty(Lower *l, const Node *p) {
    if ((p->op != OP_lt && p->op != OP_le) || p->args[0]->kind != KIND_INT) return false;
    Poly d = lower_difference(l->ir, p->args[1], p->args[0], p->op == OP_lt ? -1 : 0);
    bool positive = l->ir->positive;
    l->ir->positive = true;
    bool holds = poly_nonneg(l->ir, d);
    l->ir->positive = positive;
    return holds;
}

static bool likely(Lower *l, const Node *p, const Scope *from, int *fuel) {
    if (--*fuel < 0) return false;
    if (p->op == OP_and) return likely(l, p->args[0], from, fuel) && likely(l, p->args[1], from, fuel);
    if (p->op == OP_or) return likely(l, p->args[0], from, fuel) || likely(l, p->args[1], from, fuel);
    if (p->op == OP_lit) return p->u.num;
    if (!lower_is_of_indices(p)) return false;
    for (int i = 0; i < p->fv->n; i++) {
        const Scope *s = scope_binding(l, p->fv->v[i]);
        if (!s || s->depth > from->depth) return true;
    }
    return holds_unless_empty(l, p);
}

bool lower_likely(Lower *l, const Node *p, const Scope *from) { return likely(l, p, from, &(int){MAX_CONDITION}); }
