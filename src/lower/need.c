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

static void add_slot(Lower *l, Lazy *z, Node *e) {
    z->of[z->n] = e, z->value[z->n] = -1;
    if (e->rank == 0) {
        z->value[z->n] = lower_cell(l, e->kind, lower_value(l, ir_zero(l->ir, e->kind)));
    } else {
        Temp *extent = ARENA_ARRAY(l->arena, Temp, e->rank);
        for (int k = 0; k < e->rank; k++) { // it may never be needed: that they are not negative is checked later
            bool nonneg = e->shape[k]->nonneg;
            extent[k] = lower_value(l, nonneg ? e->shape[k] : ir_max(l->ir, ir_int(l->ir, 0), e->shape[k]));
        }
        z->buf[z->n] = lower_buf(l, BUF_TEMP, e->kind, e->rank, extent, NULL);
    }
    z->n++;
}

static int slot_of(const Lazy *z, const Node *e) {
    int i = 0;
    while (i < z->n && z->of[i] != e) i++;
    return i < z->n ? i : -1;
}

// What holds e in its home. A loop that computes one of its results computes all that have room there.
static Lazy *lazy_of(Lower *l, Node *e, Scope *home) {
    LoopResults *all = e->op == OP_final ? map_get(&l->results, e->args[0]) : NULL;
    Lazy *z = all ? map_get(&home->lazy, e->args[0]) : NULL;
    if (!z || slot_of(z, e) < 0) z = map_get(&home->lazy, e);
    if (z) return z;
    int n = 1;
    for (const LoopResults *r = all; r; r = r->next) n++;
    z = ARENA_NEW(l->arena, Lazy);
    z->ready = z->proc = -1;
    z->of = ARENA_ARRAY(l->arena, Node *, n);
    z->value = ARENA_ARRAY(l->arena, Temp, n), z->buf = ARENA_ARRAY(l->arena, Buf *, n);
    const bool together = all && !map_get(&home->lazy, e->args[0]);
    map_put(&home->lazy, together ? e->args[0] : e, z);
    add_slot(l, z, e);
    for (const LoopResults *r = together ? all : NULL; r; r = r->next)
        if (r->e != e && lower_knows_shape(l, home, r->e)) add_slot(l, z, r->e);
    return z;
}

// what holds e := e, for slot i.
static void compute_slot(Lower *l, const Lazy *z, int i) {
    Node *e = z->of[i];
    lower_count_copy(l, e);
    if (e->rank == 0) {
        lower_demand(l, e);
        lower_set(l, z->value[i], lower_emit(l, e));
    } else if (e->op == OP_final || e->op == OP_extern) { // has a buffer of its own
        lower_demand(l, e);
        Buf *made = lower_fill(l, e);
        Stmt *copy = lower_stmt(l, ST_COPY, -1, 0, NULL);
        copy->buf = z->buf[i], copy->src = made;
    } else {
        Task t = {.kind = TASK_STORE, .buf = z->buf[i], .e = e};
        for (int k = 0; k < e->rank; k++) lower_extent(l, e, k);
        lower_tasks(l, 1, &t);
    }
}

static void compute(Lower *l, const Lazy *z) {
    l->computing++;
    for (int i = 0; i < z->n; i++) compute_slot(l, z, i);
    l->computing--;
}

// Where values by need are computed for values by need, and so on, more often than that, even the first place calls a
// procedure: else each level would double what is inside of it.
enum { MOST_NESTED = 2 };

// if cond then compute. The first place has the code for that, with all that is known there (fact: by the
// condition). If there are others, these call a procedure (procs.c).
static void compute_where(Lower *l, Lazy *z, Scope *home, Node *fact, Temp cond) {
    Scope *here = l->scope;
    if ((z->placed || l->computing > MOST_NESTED) && z->proc < 0) {
        lower_proc_begin(l, home, here);
        compute(l, z);
        z->proc = lower_proc_end(l);
        l->scope = here;
    }
    lower_begin_if(l, fact);
    if (z->proc >= 0) lower_call(l, z->proc);
    else compute(l, z);
    if (z->ready >= 0) lower_set(l, z->ready, lower_value(l, ir_bool(l->ir, true)));
    lower_end_if(l, cond);
    z->placed = true;
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

// ---- is a value no dearer than loops that may need it?

enum { MOST_LOOPS = 16, MOST_VALUES = 800, MOST_WORK = 512, MOST_UNROLLED = 64 };

typedef struct Beside {
    Lower *l;
    const Scope *home;
    int n;
    Node *extent[MOST_LOOPS]; // of the loops
    int values, work;         // that may still be looked at, and done in an iteration
    Map seen;                 // arrays
} Beside;

// Is a not much more than b?
static bool at_most(Ir *m, const Node *a, Node *b) {
    enum { FACTOR = 8 };
    int64_t k;
    while (b->op == OP_idiv && ir_is_int_lit(b->args[1], &k) && k > 0 && k <= FACTOR) b = b->args[0];
    if (a == b) return true;
    if (a->op == OP_idiv && ir_is_int_lit(a->args[1], &k) && k > 0) return at_most(m, a->args[0], b);
    if (a->op == OP_min) return at_most(m, a->args[0], b) || at_most(m, a->args[1], b);
    if (a->op == OP_max) return at_most(m, a->args[0], b) && at_most(m, a->args[1], b);
    ArenaMark mark = arena_mark(m->polys);
    bool is = poly_nonneg(m, lower_difference(m, b, (Node *)a, 0));
    arena_release(m->polys, mark);
    return is;
}

static bool is_beside(Beside *z, Node *e, unsigned used, int times);

// Takes one of the loops that are left, of n iterations or more. Few iterations are work if there is none. *by: its number, or -1.
static bool has_partner(Beside *z, Node *n, unsigned used, int *times, int *by) {
    int64_t k;
    for (*by = 0; *by < z->n; ++*by)
        if (!(used & 1u << *by) && at_most(z->l->ir, n, z->extent[*by])) return true;
    *by = -1;
    if (!ir_is_int_lit(n, &k) || k * *times > MOST_UNROLLED) return false;
    *times *= (int)k;
    return true;
}

// The loops around a term of an array: over its indices v, for which the loops of `by` are taken (-1: none), and of sums.
typedef struct Around {
    Var *v[RANK_MAX], *sum[MOST_LOOPS];
    int by[RANK_MAX], n, nsums;
    unsigned fixed; // a bit for each index that a condition determines
} Around;

// Where elements at computed indices are added to, there are no loops over these.
static bool is_term_beside(Beside *z, Node *e, Around *a, unsigned used, int times) {
    Node *fixed[RANK_MAX];
    if (e->op == OP_add || e->op == OP_sub || e->op == OP_neg) {
        for (int i = 0; i < e->nargs; i++)
            if (!is_term_beside(z, e->args[i], a, used, times)) return false;
        return true;
    }
    if (e->op == OP_sum && a->nsums < MOST_LOOPS) {
        a->sum[a->nsums++] = e->u.var;
        bool is = is_term_beside(z, e->args[0], a, used, times);
        a->nsums--;
        return is;
    }
    if (e->op == OP_bracket) {
        unsigned before = a->fixed;
        bool any = ir_scatters(z->l->ir, e, a->v, a->n, fixed);
        for (int i = 0; i < a->n && any; i++) a->fixed |= fixed[i] ? 1u << i : 0;
        bool is = is_term_beside(z, e->args[0], a, used, times) && is_term_beside(z, e->args[1], a, used, times);
        a->fixed = before;
        return is;
    }
    for (int i = 0; i < a->n; i++)
        if (a->by[i] >= 0 && !(a->fixed & 1u << i)) used |= 1u << a->by[i];
    for (int i = 0, by; i < a->nsums; i++) {
        if (!has_partner(z, a->sum[i]->extent, used, &times, &by)) return false;
        if (by >= 0) used |= 1u << by;
    }
    return is_beside(z, e, used, times);
}

static bool is_array_beside(Beside *z, Node *e, unsigned used, int times) {
    Around a = {.n = 0};
    unsigned all = used;
    for (; e->op == OP_gen && a.n < RANK_MAX; e = e->args[0], a.n++) {
        a.v[a.n] = e->u.var;
        if (!has_partner(z, e->u.var->extent, all, &times, &a.by[a.n])) return false;
        if (a.by[a.n] >= 0) all |= 1u << a.by[a.n];
    }
    return is_term_beside(z, e, &a, used, times);
}

// Has each loop of e one of those that are left, of as many iterations or more? used: a bit for each of those that loops around e
// have taken.
static bool is_beside(Beside *z, Node *e, unsigned used, int times) {
    if (e->nargs == 0 || (e->rank == 0 ? lower_known_value(z->l, e) >= 0 : lower_known_array(z->l, e) != NULL)) return true;
    z->work -= op_info[e->op].cost * times;
    if (--z->values < 0 || z->work < 0 || ir_is_loop(e) || e->op == OP_extern || e->op == OP_final) return false;
    if (e->op == OP_gen && is_known_in(z->l, z->home, e)) {
        if (map_get(&z->seen, e)) return true;
        map_put(&z->seen, e, e);
        return is_array_beside(z, e, 0, 1);
    }
    if (e->op == OP_gen) return is_array_beside(z, e, used, times);
    int by;
    if (ir_is_binder(e) && !has_partner(z, e->u.var->extent, used, &times, &by)) return false;
    if (ir_is_binder(e) && by >= 0) used |= 1u << by;
    for (int i = 0; i < e->nargs; i++)
        if (!is_beside(z, e->args[i], used, times)) return false;
    return true;
}

// Does evaluating e take no longer, but for a factor, than the loops from the home to the first branch of which it is not known
// there whether it is taken? Then it may be evaluated before them, at the price of an e that nobody needs.
static bool is_no_dearer(Lower *l, Node *e, const Scope *at, Scope *home) {
    Beside z = {.l = l, .home = home, .values = MOST_VALUES, .work = MOST_WORK};
    Scope *here = l->scope;
    for (; at != home; at = at->outer) {
        if (at->branch && !is_known_in(l, home, at->fact)) z.n = 0;
        if (at->loop && at->extent && is_known_in(l, home, at->extent) && z.n < MOST_LOOPS) z.extent[z.n++] = at->extent;
    }
    l->scope = home;
    bool is = is_beside(&z, e, 0, 1);
    map_free(&z.seen);
    l->scope = here;
    return is;
}

// The condition under which `at` needs e, if it is known in the home, before the loops between them; or NULL. What depends on
// indices of these may hold in some iteration: that is taken for granted if e cannot fail, at the price of an e that nobody needs;
// so is what data decides, if e is no dearer than the loops.
static Node *known_guard(Lower *l, Node *e, const Scope *at, Scope *home) {
    Scope *here = l->scope;
    Node *guard = ir_bool(l->ir, true);
    bool ventured = !lower_fails(l, home, e, NULL), unsure = false;
    for (const Scope *s = at; s != home; s = s->outer) {
        Node *says = s->branch ? s->fact : NULL, *more = s->maybe_empty ? s->extent : NULL;
        if ((s->branch && !says) || (s->maybe_empty && !more)) return NULL;
        if (says && !is_known_in(l, home, says)) unsure |= !(ventured && lower_likely(l, says, home));
        else if (says) guard = ir_and(l->ir, guard, says);
        if (more && !(ventured && !is_known_in(l, home, more))) guard = ir_and(l->ir, guard, ir_lt(l->ir, ir_int(l->ir, 0), more));
    }
    if (guard->partial || !is_known_in(l, home, guard)) return NULL;
    if (unsure && (!is_no_dearer(l, e, at, home) || lower_fails(l, home, e, guard))) return NULL;
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

static void needed_where(Lower *l, Lazy *z, Scope *home, Node *guard) {
    for (int i = 0; i < z->guards.len; i++)
        if (implies(guard, z->guards.data[i])) return;
    Temp cond = lower_value(l, z->ready < 0 ? ir_and(l->ir, guard, ir_not(l->ir, any_of(l, z))) : guard);
    if (z->ready >= 0) cond = lower_op2(l, OP_and, cond, missing(l, z));
    compute_where(l, z, home, guard, cond);
    vec_push(&z->guards, guard);
}

static bool is_made(const Lazy *z, const Scope *at, const Scope *home) {
    while (at != home && !map_get(&at->made, z)) at = at->outer;
    return at != home;
}

// guard: the condition, in e's home; or NULL.
static Lazy *by_need(Lower *l, Node *e, Scope *at, Scope *home, Node *guard) {
    Scope *here = l->scope;
    l->scope = home;
    Lazy *z = lazy_of(l, e, home);
    if (guard && !(guard->op == OP_lit && !guard->u.num)) needed_where(l, z, home, guard);
    if (!guard && z->ready < 0) z->ready = lower_cell(l, KIND_BOOL, lower_value(l, any_of(l, z)));
    l->scope = at;
    if (!guard && !is_made(z, at, home)) {
        compute_where(l, z, home, NULL, missing(l, z));
        map_put(&at->made, z, z);
    }
    l->scope = here;
    return z;
}

Temp lower_value_by_need(Lower *l, Node *e, Scope *at, Scope *home) {
    const Lazy *z = by_need(l, e, at, home, known_guard(l, e, at, home));
    return lower_get(l, z->value[slot_of(z, e)]);
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

static bool is_lazy(const Scope *home, Node *e) {
    const Lazy *z = e->op == OP_final ? map_get(&home->lazy, e->args[0]) : NULL;
    return (z && slot_of(z, e) >= 0) || map_get(&home->lazy, e);
}

Buf *lower_array_by_need(Lower *l, Node *e, Scope *at, Scope *home) {
    Node *guard = known_guard(l, e, at, home);
    Buf *b = guard ? NULL : known_pack(l, e, home);
    if (b) return b;
    if (!guard || !lower_is_true(guard) || is_lazy(home, e)) {
        const Lazy *z = by_need(l, e, at, home, guard);
        return z->buf[slot_of(z, e)];
    }
    Scope *here = l->scope;
    l->scope = home; // in any case
    map_put(&home->arrays, e, b = lower_fill(l, e));
    l->scope = here;
    return b;
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
