// Values that only branches in loops need, which do not change in these loops: they are computed once, where they are needed
// first; or before the loops, if it is known there whether they will be.
#include "lower/internal.h"
#include "pass/pass.h"

// What evaluating e here would cost beyond what is known already, up to a bound.
int lower_fresh_cost(Lower *l, Node *e, int bound) {
    if (e->nargs == 0 || (e->rank == 0 && lower_known_value(l, e) >= 0)) return 0;
    int cost = op_info[e->op].cost;
    if (ir_is_binder(e) || e->op == OP_final || (e->op == OP_extern && e->u.ext->signature)) return PASS_COST_LOOP;
    if (e->op == OP_at) cost = e->args[0]->op == OP_input || lower_known_array(l, e->args[0]) ? 1 : PASS_COST_LOOP;
    for (int i = e->op == OP_at ? 1 : 0; i < e->nargs && cost <= bound; i++) cost += lower_fresh_cost(l, e->args[i], bound - cost);
    return cost;
}

static Lazy *lazy_new(Lower *l, Node *e) {
    Lazy *z = ARENA_NEW(l->arena, Lazy);
    z->ready = -1;
    if (e->rank == 0) {
        z->value = lower_cell(l, e->kind, lower_value(l, ir_zero(l->ir, e->kind)));
    } else {
        Temp *extent = ARENA_ARRAY(l->arena, Temp, e->rank);
        for (int k = 0; k < e->rank; k++) { // it may never be needed: that they are not negative is checked later
            bool nonneg = e->shape[k]->nonneg;
            extent[k] = lower_value(l, nonneg ? e->shape[k] : ir_max(l->ir, ir_int(l->ir, 0), e->shape[k]));
        }
        z->buf = lower_buf(l, BUF_TEMP, e->kind, e->rank, extent, NULL);
    }
    return z;
}

// if cond then what holds e := e
static void compute(Lower *l, Node *e, const Lazy *z, Node *fact, Temp cond) {
    lower_count_copy(l, e);
    lower_begin_if(l, fact);
    if (e->rank == 0) {
        lower_demand(l, e);
        lower_set(l, z->value, lower_emit(l, e));
    } else if (e->op == OP_final || e->op == OP_extern) { // has a buffer of its own
        lower_demand(l, e);
        Buf *made = lower_fill(l, e);
        Stmt *copy = lower_stmt(l, ST_COPY, -1, 0, NULL);
        copy->buf = z->buf, copy->src = made;
    } else {
        Task t = {.kind = TASK_STORE, .buf = z->buf, .e = e};
        for (int k = 0; k < e->rank; k++) lower_extent(l, e, k);
        lower_tasks(l, 1, &t);
    }
    if (z->ready >= 0) lower_set(l, z->ready, lower_value(l, ir_bool(l->ir, true)));
    lower_end_if(l, cond);
}

static Temp missing(Lower *l, const Lazy *z) {
    Temp ready = lower_get(l, z->ready), t = lower_temp(l, KIND_BOOL, NULL);
    lower_stmt(l, ST_OP, t, 1, &ready)->op = OP_not;
    return t;
}

static bool is_known_in(Lower *l, const Scope *home, const Node *e) {
    const Scope *known = scope_of_vars(l, e->fv);
    return known && known->depth <= home->depth;
}

// The condition under which `at` needs e, if it is known in the home, before the loops between them; or NULL. What depends on
// indices of these may hold in some iteration: that is taken for granted if e cannot fail, at the price of an e that nobody needs.
static Node *known_guard(Lower *l, Node *e, const Scope *at, Scope *home) {
    Scope *here = l->scope;
    Node *guard = ir_bool(l->ir, true);
    bool ventured = !lower_fails(l, home, e);
    for (; at != home; at = at->outer) {
        Node *says = at->branch ? at->fact : NULL, *more = at->maybe_empty ? at->extent : NULL;
        if ((at->branch && !says) || (at->maybe_empty && !more)) return NULL;
        if (says && !(ventured && !is_known_in(l, home, says) && lower_likely(l, says, home))) guard = ir_and(l->ir, guard, says);
        if (more && !(ventured && !is_known_in(l, home, more))) guard = ir_and(l->ir, guard, ir_lt(l->ir, ir_int(l->ir, 0), more));
    }
    if (guard->partial || !is_known_in(l, home, guard)) return NULL;
    l->scope = home;
    bool cheap = lower_fresh_cost(l, guard, PASS_COST_DEAR) <= PASS_COST_DEAR;
    l->scope = here;
    return cheap ? guard : NULL;
}

static bool implies(Node *a, Node *b) {
    enum { MAX_CONJUNCTS = 16 };
    Node *has[MAX_CONJUNCTS], *wants[MAX_CONJUNCTS];
    int n = 0, m = 0, found = 0;
    if (!ir_conjuncts(a, has, &n, MAX_CONJUNCTS) || !ir_conjuncts(b, wants, &m, MAX_CONJUNCTS)) return a == b;
    for (int i = 0; i < m; i++) {
        bool one = false;
        for (int k = 0; k < n; k++) one |= has[k] == wants[i];
        found += one;
    }
    return found == m;
}

static Node *any_of(Lower *l, const Lazy *z) {
    Node * or = ir_bool(l->ir, false);
    for (int i = 0; i < z->guards.len; i++) or = ir_or(l->ir, or, z->guards.data[i]);
    return or ;
}

static void needed_where(Lower *l, Node *e, Lazy *z, Node *guard) {
    for (int i = 0; i < z->guards.len; i++)
        if (implies(guard, z->guards.data[i])) return;
    Temp cond = lower_value(l, z->ready < 0 ? ir_and(l->ir, guard, ir_not(l->ir, any_of(l, z))) : guard);
    if (z->ready >= 0) cond = lower_op2(l, OP_and, cond, missing(l, z));
    compute(l, e, z, guard, cond);
    vec_push(&z->guards, guard);
}

// guard: the condition, in e's home; or NULL.
static Lazy *by_need(Lower *l, Node *e, Scope *at, Scope *home, Node *guard) {
    Scope *here = l->scope;
    l->scope = home;
    Lazy *z = map_get(&home->lazy, e);
    if (!z) map_put(&home->lazy, e, z = lazy_new(l, e));
    if (guard && !(guard->op == OP_lit && !guard->u.num)) needed_where(l, e, z, guard);
    if (!guard && z->ready < 0) z->ready = lower_cell(l, KIND_BOOL, lower_value(l, any_of(l, z)));
    l->scope = at;
    if (!guard) compute(l, e, z, NULL, missing(l, z));
    l->scope = here;
    return z;
}

Temp lower_value_by_need(Lower *l, Node *e, Scope *at, Scope *home) {
    return lower_get(l, by_need(l, e, at, home, known_guard(l, e, at, home))->value);
}

// An array of a few elements that are known in the home need not be made by need: the elements are all that is dear.
static Buf *known_pack(Lower *l, Node *e, Scope *home) {
    Node *total = e->op == OP_pack ? lower_total(l, e) : NULL;
    Scope *here = l->scope;
    if (!total) return NULL;
    lower_total_checks(l, e);
    for (int i = 0; i < total->nargs; i++) lower_value(l, total->args[i]);
    l->scope = home;
    bool known = true;
    for (int i = 0; i < total->nargs; i++) known &= total->args[i]->op == OP_lit || lower_known_value(l, total->args[i]) >= 0;
    Buf *b = !known ? NULL : lower_known_array(l, total);
    if (known && !b) map_put(&home->arrays, total, b = lower_fill(l, total));
    l->scope = here;
    return b;
}

Buf *lower_array_by_need(Lower *l, Node *e, Scope *at, Scope *home) {
    Node *guard = known_guard(l, e, at, home);
    Buf *pack = guard ? NULL : known_pack(l, e, home);
    return pack ? pack : by_need(l, e, at, home, guard)->buf;
}

void lower_forget_lazy(Scope *s) {
    for (size_t i = 0; i < s->lazy.cap; i++)
        if (s->lazy.key[i]) vec_free(&((Lazy *)s->lazy.value[i])->guards);
}

// Is e worth a cell? Its dear operands get one of their own first, so that what is left may be cheap.
bool lower_keeps(Lower *l, Node *e) {
    if (!lower_dear(l, e)) return false;
    bool strict = op_is_elementwise(e->op) && e->op != OP_and && e->op != OP_or;
    if (strict && op_info[e->op].cost <= PASS_COST_DEAR) {
        for (int i = 0; i < e->nargs; i++) lower_value(l, e->args[i]);
        return false;
    }
    return lower_fresh_cost(l, e, PASS_COST_DEAR) > PASS_COST_DEAR;
}
