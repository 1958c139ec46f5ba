// Placement of values. A value does not live in a block: it is emitted, when something first needs it, at the end of the
// outermost open scope that binds its free variables. A value that is dear or may fail does not leave a branch (or, if
// it may fail, a loop that may be empty) unless the scope outside evaluates it anyway; if staying inside would evaluate
// it again in every pass of a loop, it is kept in a cell outside that is filled when first needed.
#include "lower/internal.h"

#include "pass/pass.h"

// A value that so many branches compute for themselves is computed before the next; or, if it may fail, by need. What
// they share of each other would double with every level of branches inside branches.
enum { MAX_COPIES = 4, MAX_PARTIAL_COPIES = 8 };

void lower_count_copy(Lower *l, Node *e) { map_put(&l->copies, e, (void *)((intptr_t)map_get(&l->copies, e) + 1)); }

bool lower_is_copied(Lower *l, Node *e) {
    return (intptr_t)map_get(&l->copies, e) >= (e->partial ? MAX_PARTIAL_COPIES : MAX_COPIES);
}

bool scope_crosses_loop(const Scope *from, const Scope *to) {
    for (; from != to; from = from->outer)
        if (from->loop || from->proc) return true;
    return false;
}

bool lower_is_true(const Node *p) { return p->op == OP_lit && p->u.num; }

Node *lower_nonzero(Lower *l, Node *by) { return ir_ne(l->ir, by, ir_int(l->ir, 0)); }

// While a value is looked at: the condition under which the part that is looked at is evaluated, or NULL.
typedef struct Failing {
    Lower *l;
    Scope *scope;
    Node *where;
    bool soon; // values that may take any time, those of `while` loops that have not run, are like those that may fail
    int fuel; // nodes that may still be looked at under conditions, of which there are many ways to one
    Map safe; // Node -> a condition under which it does not fail
} Failing;

static bool index_in_range(Lower *l, const Node *e, int k, int nfacts, const Poly *facts) {
    Node *i = e->args[k + 1], *extent = e->args[0]->shape[k];
    return ir_index_in_range(l->ir, e->nargs - 1, e->args + 1, k, extent) ||
           (nfacts && poly_nonneg_given(l->ir, poly_of(l->ir, i), nfacts, facts) &&
            poly_nonneg_given(l->ir, lower_difference(l->ir, extent, i, -1), nfacts, facts));
}

static bool in_range(Lower *l, const Node *e, Node *where) {
    enum { MAX_FACTS = 16 };
    Poly facts[MAX_FACTS];
    ArenaMark mark = arena_mark(l->ir->polys);
    int n = where ? poly_facts(l->ir, where, facts, MAX_FACTS) : 0;
    bool all = true;
    for (int k = 0; k < e->nargs - 1 && all; k++) all = index_in_range(l, e, k, n, facts);
    arena_release(l->ir->polys, mark);
    return all;
}

static bool may_fail(Failing *f, Node *e);
static bool looks_failing(Failing *f, Node *e);

// Does the condition speak of another variable that only has the same name as one bound by e? (Ir.planning)
static bool speaks_of(const Node *where, const Node *e) {
    const Loop *loop = e->op == OP_fold ? e->u.loop : NULL;
    if (!loop) return node_has_var(where, e->u.var);
    for (int i = -1; i < loop->n; i++)
        if (node_has_var(where, loop->state[i])) return true;
    return false;
}

// The conjuncts that do not; NULL: there are none.
static Node *without_others(Ir *m, Node *where, const Node *e) {
    if (!speaks_of(where, e)) return where;
    if (where->op != OP_and) return NULL;
    Node *a = without_others(m, where->args[0], e), *b = without_others(m, where->args[1], e);
    return a && b ? ir_and(m, a, b) : a ? a : b;
}

static bool fails_where(Failing *f, Node *cond, Node *e) {
    Node *before = f->where;
    if (e->partial) f->where = before ? ir_and(f->l->ir, before, cond) : cond;
    bool fails = may_fail(f, e);
    f->where = before;
    return fails;
}

static bool is_length(const Failing *f, Node *n) {
    enum { MAX_FACTS = 16 };
    Poly facts[MAX_FACTS];
    Ir *m = f->l->ir;
    if (n->nonneg || lower_is_true(ir_le(m, ir_int(m, 0), n))) return true;
    ArenaMark mark = arena_mark(m->polys);
    int k = f->where ? poly_facts(m, f->where, facts, MAX_FACTS) : 0;
    bool is = k && poly_nonneg_given(m, poly_of(m, n), k, facts);
    arena_release(m->polys, mark);
    return is;
}

// May evaluating e in the scope fail (or take any time) where the scope itself would not? What is needed there anyway does
// not count.
static bool may_fail(Failing *f, Node *e) {
    Map *safe = f->where || f->soon ? &f->safe : &f->scope->safe; // of a scope more and more is known
    Node *value = f->where ? f->where : e;
    if ((!e->partial && !(f->soon && e->unbounded)) || map_get(safe, e) == value) return false;
    bool fails = looks_failing(f, e);
    if (!fails) map_put(safe, e, value);
    return fails;
}

// Does the check that e itself makes fail where the scope does not?
static bool check_fails(const Failing *f, Node *e) {
    bool divides = e->op == OP_idiv || e->op == OP_irem;
    if (divides && lower_is_true(lower_nonzero(f->l, e->args[1]))) return false;
    if (!divides && (e->op != OP_at || in_range(f->l, e, f->where))) return false;
    Facts given = {0};
    if (f->where) facts_add(&given, f->where);
    return !demands_check(f->l->demanded, &given, e);
}

static bool looks_failing(Failing *f, Node *e) {
    Ir *m = f->l->ir;
    const Node *loop = e->op == OP_final ? e->args[0] : NULL;
    for (Scope *o = f->scope; o; o = o->outer)
        if (map_get(&o->demanded, e) || (loop && map_get(&o->arrays, loop))) return false;
    if (m->debug_nan && ir_makes_nan(e)) return true;
    const Node *of = loop && loop->op == OP_fold ? loop : e;
    const Var *v = of->op == OP_fold ? of->u.loop->index : e->op == OP_gen || e->op == OP_sum ? e->u.var : NULL;
    bool plain = v || op_is_elementwise(e->op) || e->op == OP_select || e->op == OP_bracket ||
                 (e->op == OP_conv && e->kind != KIND_INT32) || e->op == OP_at;
    if (!plain || (f->where && --f->fuel < 0) || check_fails(f, e)) return true;
    if (v && may_fail(f, v->extent)) return true;
    if (e->op == OP_gen && !is_length(f, v->extent)) return true;
    bool fails = false;
    Node *where = f->where;
    if (v && where) f->where = without_others(m, where, of);
    for (int i = 0; i < of->nargs && !fails; i++) {
        Node *cond = facts_guard(m, e, i);
        fails = cond ? fails_where(f, cond, of->args[i]) : may_fail(f, of->args[i]);
    }
    f->where = where;
    return fails;
}

bool lower_fails(Lower *l, Scope *s, Node *e, Node *where) {
    Failing f = {.l = l, .scope = s, .where = where, .fuel = where ? 2000 : 400};
    bool fails = may_fail(&f, e);
    map_free(&f.safe);
    return fails;
}

static bool may_last(Lower *l, Scope *s, Node *e) {
    if (!e->unbounded) return false;
    Failing f = {.l = l, .scope = s, .soon = true, .fuel = 2000};
    bool may = may_fail(&f, e);
    map_free(&f.safe);
    return may;
}

bool lower_shared_by_arms(Lower *l, Scope *s, Node *e) {
    return lower_in_arms(l, s, e) && !lower_fails(l, s, e, NULL) && !may_last(l, s, e);
}

// Is e dear or partial only because of what is known in the scope: values, and loops that have run?
static bool is_settled(Lower *l, const Scope *s, Node *e) {
    if (!e->partial && !lower_dear(l, e)) return true;
    const Node *loop = e->op == OP_final ? e->args[0] : NULL;
    for (; s; s = s->outer)
        if ((loop && map_get(&s->arrays, loop)) || map_get(&s->values, e)) return true;
    return false;
}

// Is e a cheap function that does not fail of what is settled, or needed by several arms of branches?
static bool is_simple_in(Lower *l, Scope *s, Node *e, Map *seen, int *fuel) {
    if (map_get(seen, e) || is_settled(l, s, e)) return true;
    map_put(seen, e, e);
    bool plain = op_is_elementwise(e->op) || e->op == OP_select || e->op == OP_bracket || e->op == OP_conv;
    if (!plain || e->op == OP_idiv || e->op == OP_irem || e->kind == KIND_INT32 || --*fuel < 0) return false;
    if (lower_shared_by_arms(l, s, e)) return true;
    if (op_info[e->op].cost >= PASS_COST_DEAR) return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_simple_in(l, s, e->args[i], seen, fuel)) return false;
    return true;
}

static bool is_simple(Lower *l, Scope *s, Node *e) {
    Map seen = {0};
    int fuel = 200;
    bool is = is_simple_in(l, s, e, &seen, &fuel);
    map_free(&seen);
    return is;
}

static bool runs_once(const Scope *s) {
    for (; s; s = s->outer)
        if (s->loop) return false;
    return true;
}

// Is e, which a branch in a loop may need, so cheap beside the loop that it is evaluated once and for all?
static bool is_ventured(Lower *l, Node *e, Scope *home) {
    enum { CHEAP = 64 };
    if (e->partial || e->rank || !runs_once(home) || !scope_crosses_loop(l->scope, home)) return false;
    Scope *here = l->scope;
    l->scope = home; // what the branch knows it does not
    bool cheap = lower_fresh_cost(l, e, CHEAP) <= CHEAP;
    l->scope = here;
    return cheap;
}

// The scope that e, needed at s, cannot leave on the way out to the home; or `to`, which it reaches. A procedure is
// left by what its first place lets out to the home of the procedure: that is evaluated there before anything calls it.
// (That place may be in the home itself: then it is a branch like others.)
static Scope *stops_in(Lower *l, Node *e, Scope *s, const Scope *to, const Scope *home) {
    for (; s != to; s = s->outer) {
        if (s->proc && s->place != s->outer) {
            if (stops_in(l, e, s->place, s->outer, home) != s->outer) return s;
            continue;
        }
        // Needed in some pass of the loop that it leaves.
        bool sure = s->branch && s->fact && scope_crosses_loop(s, home) && lower_likely(l, s->fact, home);
        bool barrier = (s->branch && !sure) || ((s->branch || s->maybe_empty) && lower_fails(l, s->outer, e, NULL));
        if (!barrier) continue;
        Scope *o = s->outer; // may e leave s? only if a scope further out evaluates it anyway
        while (o != home->outer && !map_get(&o->demanded, e) && !lower_shared_by_arms(l, o, e)) o = o->outer;
        if (o == home->outer) return s;
    }
    return s;
}

Scope *lower_place(Lower *l, Node *e, Scope **home) {
    *home = scope_of_vars(l, e->fv);
    if (!*home) fatal_bug("a value has a free variable that no open loop binds");
    bool dear = lower_dear(l, e);
    if (e->partial ? scope_crosses_loop(l->scope, *home) && is_simple(l, *home, e) : !dear) return *home;
    if (!e->partial && lower_is_copied(l, e)) return *home;
    if (is_ventured(l, e, *home)) return *home;
    return stops_in(l, e, l->scope, *home, *home);
}

bool lower_stays(Lower *l, Node *e) {
    Scope *home = scope_of_vars(l, e->fv);
    return home && (home == l->scope || (!scope_crosses_loop(l->scope, home) && lower_place(l, e, &home) == l->scope));
}

Buf *lower_known_array(Lower *l, Node *e) {
    for (Scope *s = l->scope; s; s = s->outer) {
        Buf *b = map_get(&s->arrays, e);
        if (b) return b;
    }
    return NULL;
}

Temp lower_known_value(Lower *l, Node *e) {
    for (Scope *s = l->scope; s; s = s->outer) {
        intptr_t t = (intptr_t)map_get(&s->values, e);
        if (t) return (Temp)(t - 1);
    }
    return -1;
}

static void remember(Scope *s, Node *e, Temp t) { map_put(&s->values, e, (void *)(intptr_t)(t + 1)); }

void lower_begin_if(Lower *l, Node *fact) {
    scope_open(l);
    l->scope->branch = true;
    l->scope->fact = fact;
}

void lower_end_if(Lower *l, Temp cond) {
    Block *body = scope_close(l);
    Stmt *s = lower_stmt(l, ST_IF, -1, 1, &cond);
    s->body = body;
}

// Would e be emitted further out than `at`?
static bool leaves(Lower *l, Node *e, const Scope *at) {
    Scope *home, *to = lower_place(l, e, &home);
    if (to == at && to != home) lower_count_copy(l, e);
    return to != at;
}

Temp lower_value(Lower *l, Node *e) {
    if (e->rank) fatal_bug("an array where a scalar is expected");
    Temp t = lower_known_value(l, e);
    if (t >= 0) return t;
    Scope *here = l->scope, *home, *at = lower_place(l, e, &home);
    bool apart = at != home && e->partial && e->op != OP_evaluated; // of that nothing but its checks is needed
    Node *total = apart && lower_dear(l, e) ? lower_total(l, e) : NULL;
    if (total && !(total->op == OP_select && total->args[1] == e) && leaves(l, total, at)) {
        lower_total_checks(l, e);
        t = lower_value(l, total);
        remember(here, e, t);
        return t;
    }
    if (at == home || (!scope_crosses_loop(at, home) && !lower_is_copied(l, e)) || !lower_keeps(l, e)) {
        if (at != home) lower_count_copy(l, e);
        l->scope = at;
        t = lower_emit(l, e);
        l->scope = here;
        remember(at, e, t);
        return t;
    }
    l->scope = at;
    t = lower_value_by_need(l, e, at, home);
    l->scope = here;
    remember(at, e, t);
    return t;
}

void lower_values(Lower *l, int n, Node *const *e, Temp *out) {
    for (int i = 0; i < n; i++) out[i] = lower_value(l, e[i]);
}
