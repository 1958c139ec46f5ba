// Placement of values. A value does not live in a block: it is emitted, when something first needs it, at the end of the
// outermost open scope that binds its free variables. A value that is dear or may fail does not leave a branch (or, if
// it may fail, a loop that may be empty) unless the scope outside evaluates it anyway; if staying inside would evaluate
// it again in every pass of a loop, it is kept in a cell outside that is filled when first needed.
#include <stdlib.h>
#include "lower/internal.h"

#include "fsmc/runtime.h"
#include "pass/pass.h"

#include <string.h>

// ---- statements

Temp lower_temp(Lower *l, Kind kind, const char *name) {
    vec_push(&l->tree->temps, ((TempInfo){.kind = kind, .name = name}));
    vec_push(&l->temp_depth, l->scope->depth);
    return l->tree->temps.len - 1;
}

static Stmt *append(Lower *l, Stmt proto, int nargs, const Temp *args) {
    Stmt *s = ARENA_NEW(l->arena, Stmt);
    *s = proto;
    s->span = l->span;
    s->nargs = nargs;
    s->args = arena_copy(l->arena, args, sizeof *args * (size_t)nargs);
    vec_push(&l->scope->block->stmts, s);
    return s;
}

Span lower_at(Lower *l, const Node *e) {
    Span before = l->span;
    if (e->span.src) l->span = e->span;
    return before;
}

Stmt *lower_stmt(Lower *l, StmtKind kind, Temp dst, int nargs, const Temp *args) {
    return append(l, (Stmt){.kind = kind, .dst = dst}, nargs, args);
}

static Temp emit_lit(Lower *l, Kind kind, double real, int64_t num) {
    Temp t = lower_temp(l, kind, NULL);
    Stmt *s = lower_stmt(l, ST_LIT, t, 0, NULL);
    if (kind_is_float(kind)) s->u.real = real;
    else s->u.num = num;
    return t;
}

Temp lower_int(Lower *l, int64_t value) { return lower_value(l, ir_int(l->ir, value)); }

Temp lower_cell(Lower *l, Kind kind, Temp init) {
    Temp c = lower_temp(l, kind, NULL);
    l->tree->temps.data[c].cell = true;
    lower_stmt(l, ST_CELL, c, 1, &init);
    return c;
}

Temp lower_get(Lower *l, Temp cell) {
    Temp t = lower_temp(l, l->tree->temps.data[cell].kind, NULL);
    lower_stmt(l, ST_GET, t, 1, &cell);
    return t;
}

void lower_set(Lower *l, Temp cell, Temp value) { lower_stmt(l, ST_SET, cell, 1, &value); }

// Are the extents of b defined outside of the current scope?
static bool known_outside(Lower *l, const Buf *b) {
    for (int k = 0; k < b->rank; k++) {
        if (l->temp_depth.data[b->extent[k]] >= l->scope->depth) return false;
    }
    return true;
}

// A buffer comes into being outside of all loops in which its extents do not change.
static void allocate(Lower *l, Buf *b) {
    Scope *here = l->scope;
    b->home = here->block;
    while (l->scope->loop && known_outside(l, b)) l->scope = l->scope->outer;
    lower_stmt(l, ST_NEW, -1, 0, NULL)->buf = b;
    l->scope = here;
}

Buf *lower_buf(Lower *l, BufKind where, Kind kind, int rank, Temp *extent, const char *name) {
    Buf *b = ARENA_NEW(l->arena, Buf);
    *b = (Buf){l->tree->bufs.len, where, 0, kind, rank, arena_copy(l->arena, extent, sizeof *extent * (size_t)rank), name, NULL, false};
    vec_push(&l->tree->bufs, b);
    if (where == BUF_TEMP) allocate(l, b);
    return b;
}

void lower_check(Lower *l, Temp cond, int code, const char *text, Span span, int nvalues, const Temp *values) {
    void *key = (void *)((intptr_t)cond + 1);
    for (Scope *s = l->scope; s; s = s->outer)
        if (map_get(&s->holds, key)) return;
    map_put(&l->scope->holds, key, key);
    Temp *args = ARENA_ARRAY(l->arena, Temp, nvalues + 1);
    args[0] = cond;
    if (nvalues) memcpy(args + 1, values, sizeof *args * (size_t)nvalues);
    CheckInfo *info = ARENA_NEW(l->arena, CheckInfo);
    *info = (CheckInfo){code, text, span};
    append(l, (Stmt){.kind = ST_CHECK, .dst = -1, .u.check = info}, nvalues + 1, args);
}

Temp lower_op2(Lower *l, Op op, Temp a, Temp b) {
    Temp t = lower_temp(l, KIND_BOOL, NULL), args[] = {a, b};
    lower_stmt(l, ST_OP, t, 2, args)->op = op;
    return t;
}

void lower_check_nan(Lower *l, const char *text, int nvalues, Temp r, int n, const Temp *args) {
    Temp ok = lower_op2(l, OP_eq, r, r);
    for (int i = 0; i < n; i++)
        if (kind_is_float(l->tree->temps.data[args[i]].kind))
            ok = lower_op2(l, OP_or, ok, lower_op2(l, OP_ne, args[i], args[i]));
    lower_check(l, ok, FSM_ERROR_NAN, text, l->span, nvalues, args);
}

// ---- scopes

Scope *scope_open(Lower *l) {
    Scope *s = ARENA_NEW(l->arena, Scope);
    s->outer = l->scope;
    s->depth = l->scope ? l->scope->depth + 1 : 0;
    s->block = ARENA_NEW(l->arena, Block);
    return l->scope = s;
}

Block *scope_close(Lower *l) {
    Scope *s = l->scope;
    l->scope = s->outer;
    for (int i = 0; i < s->rebound.len; i++) l->bound.data[s->rebound.data[i].var->id] = s->rebound.data[i].before;
    vec_free(&s->rebound);
    lower_forget_lazy(s);
    map_free(&s->values), map_free(&s->arrays), map_free(&s->demanded), map_free(&s->lazy);
    map_free(&s->in_arm), map_free(&s->in_arms), map_free(&s->checked), map_free(&s->holds);
    vec_free(&s->arms), vec_free(&s->loops), vec_free(&s->folds), vec_free(&s->tasks);
    return s->block;
}

void scope_bind(Lower *l, Scope *s, const Var *v) {
    while ((uint32_t)l->bound.len <= v->id) vec_push(&l->bound, NULL);
    vec_push(&s->rebound, ((Rebound){v, l->bound.data[v->id]}));
    l->bound.data[v->id] = s;
}

// The scope that binds v, or NULL. While a value is emitted further out, what is bound inside does not count.
static Scope *binding(Lower *l, const Var *v) {
    Scope *binds = v->id < (uint32_t)l->bound.len ? l->bound.data[v->id] : NULL;
    for (const Scope *s = l->scope; s && binds; s = s->outer)
        if (s == binds) return binds;
    return NULL;
}

bool lower_active(Lower *l, const Var *v) { return binding(l, v) != NULL; }

Scope *scope_of_vars(Lower *l, const VarSet *fv) {
    Scope *home = l->root;
    for (int i = 0; i < fv->n; i++) {
        Scope *s = binding(l, fv->v[i]);
        if (!s) return NULL;
        if (s->depth > home->depth) home = s;
    }
    return home;
}

static Poly minus(Ir *m, Node *a, Node *b, int64_t k) { // a - b + k
    return poly_of(m, ir_add(m, ir_sub(m, a, b), ir_int(m, k)));
}

bool lower_dear(Lower *l, Node *e) { return pass_cost_memo(e, &l->cost) > PASS_COST_DEAR; }

bool lower_maybe_empty(Lower *l, const Var *v) {
    return !poly_nonneg(l->ir, minus(l->ir, v->extent, ir_int(l->ir, 1), 0));
}

// What is known to be needed: by all, and, inside the arms of selects, by the arm.
typedef struct Demand {
    const struct Demand *outer;
    Map *seen;
    int arms, *fuel; // inside of arms: so many values more are looked at
} Demand;

// Deeper in selects within selects nothing is looked for, nor far: each arm is walked on its own.
enum { MAX_ARMS = 4, MAX_WALK = 500 };

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
    bool total_here = !e->partial || (l->whiles.len && is_counted(s, e, &(int){64}) && !lower_fails(l, s, e));
    bool branches = first && (e->op == OP_bracket || e->op == OP_select) && total_here;
    for (int i = 0; i < (branches ? 1 : e->nargs); i++) walk_arm(l, e->args[i], arm);
}

// Do several arms of branches of the scope need e? That had better be computed before them: inside, each arm would have code
// for it, and arms in arms exponentially much. What the scope needs anyway is not asked about, nor what only that needs.
bool lower_in_arms(Lower *l, Scope *s, const Node *e) {
    Scope *here = l->scope;
    l->scope = s;
    for (; s->arms_seen < s->arms.len; s->arms_seen++) walk_arm(l, s->arms.data[s->arms_seen], s->arms.data[s->arms_seen]);
    l->scope = here;
    return map_get(&s->in_arms, e);
}

void lower_note_arm(Lower *l, Node *e) { walk_arm(l, e, e); }

// What both arms of a select need is needed.
static void demand_either(Lower *l, Node *a, Node *b, Demand *d) {
    if (d->arms == MAX_ARMS) return;
    Map one = {0}, other = {0};
    int fuel = MAX_WALK, *left = d->fuel ? d->fuel : &fuel;
    demand(l, a, &(Demand){d, &one, d->arms + 1, left});
    if (one.len) demand(l, b, &(Demand){d, &other, d->arms + 1, left});
    for (size_t i = 0; i < other.cap; i++)
        if (other.key[i] && map_get(&one, other.key[i])) map_put(d->seen, other.key[i], other.value[i]);
    map_free(&one);
    map_free(&other);
}

// An array in which the element or row at an index is replaced, as a loop does in each iteration: if there is such an index,
// what replaces it is needed.
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

// Is it that a number other than 0 comes out of sums or loops, such as the square of a norm that a derivative is divided by? That
// holds but for special arguments.
static bool is_generic(Lower *l, const Node *p) {
    if (p->op == OP_and) return is_generic(l, p->args[0]) && is_generic(l, p->args[1]);
    return p->op == OP_ne && kind_is_float(p->args[0]->kind) && (ir_is_zero(p->args[0]) || ir_is_zero(p->args[1])) &&
           (lower_dear(l, p->args[0]) || lower_dear(l, p->args[1]));
}

static void demand(Lower *l, Node *e, Demand *seen) {
    if (e->nargs == 0 || is_demanded(seen, e) || (seen->fuel && --*seen->fuel < 0) || lower_is_outside(l, e)) return;
    map_put(seen->seen, e, e);
    switch (e->op) {
    case OP_bracket:
        demand(l, e->args[0], seen);
        if (!e->args[1]->partial && is_generic(l, e->args[0])) demand(l, e->args[1], seen);
        else if (!seen->outer) vec_push(&l->scope->arms, e->args[1]);
        break;
    case OP_select:
        demand(l, e->args[0], seen);
        for (int i = 1; i < 3 && !seen->outer; i++) vec_push(&l->scope->arms, e->args[i]);
        demand_either(l, e->args[1], e->args[2], seen);
        break;
    case OP_and: case OP_or: // the second operand is evaluated by need if it may fail
        demand(l, e->args[0], seen);
        if (!e->args[1]->partial) demand(l, e->args[1], seen);
        break;
    case OP_gen: case OP_sum: case OP_argmin: case OP_argmax:
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
    Poly d = minus(l->ir, p->args[1], p->args[0], p->op == OP_lt ? -1 : 0);
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
        const Scope *s = binding(l, p->fv->v[i]);
        if (!s || s->depth > from->depth) return true;
    }
    return holds_unless_empty(l, p);
}

bool lower_likely(Lower *l, const Node *p, const Scope *from) { return likely(l, p, from, &(int){MAX_CONDITION}); }

// ---- placement

// A value that so many branches compute for themselves is computed before the next: what they share of each other would
// double with every level of branches inside branches.
enum { MAX_COPIES = 4 };

static void count_copy(Lower *l, Node *e, const Scope *at, const Scope *home) {
    if (at != home) map_put(&l->copies, e, (void *)((intptr_t)map_get(&l->copies, e) + 1));
}

static bool crosses_loop(const Scope *from, const Scope *to) {
    for (; from != to; from = from->outer)
        if (from->loop) return true;
    return false;
}

static bool is_true(const Node *p) { return p->op == OP_lit && p->u.num; }

static Node *nonzero(Lower *l, Node *by) { return ir_ne(l->ir, by, ir_int(l->ir, 0)); }

static bool in_range(Lower *l, const Node *e) {
    for (int k = 0; k < e->nargs - 1; k++)
        if (!ir_index_in_range(l->ir, e->nargs - 1, e->args + 1, k, e->args[0]->shape[k])) return false;
    return true;
}

// May evaluating e in the scope fail where the scope itself would not? What is needed there anyway does not count.
static bool may_fail(Lower *l, Scope *s, const Node *e, int *fuel) {
    if (!e->partial) return false;
    const Node *loop = e->op == OP_final ? e->args[0] : NULL;
    for (Scope *o = s; o; o = o->outer)
        if (map_get(&o->demanded, e) || (loop && map_get(&o->arrays, loop))) return false;
    if (l->ir->debug_nan && ir_makes_nan(e)) return true;
    const Node *of = loop && loop->op == OP_fold ? loop : e;
    const Var *v = of->op == OP_fold ? of->u.loop->index : e->op == OP_gen || e->op == OP_sum ? e->u.var : NULL;
    bool plain = v || op_is_elementwise(e->op) || e->op == OP_select || e->op == OP_bracket ||
                 (e->op == OP_conv && e->kind != KIND_INT32) || (e->op == OP_at && in_range(l, e));
    if (!plain || --*fuel < 0) return true;
    if ((e->op == OP_idiv || e->op == OP_irem) && !is_true(nonzero(l, e->args[1]))) return true;
    if (v && may_fail(l, s, v->extent, fuel)) return true;
    if (e->op == OP_gen && !v->extent->nonneg && !is_true(ir_le(l->ir, ir_int(l->ir, 0), v->extent))) return true;
    for (int i = 0; i < of->nargs; i++)
        if (may_fail(l, s, of->args[i], fuel)) return true;
    return false;
}

bool lower_fails(Lower *l, Scope *s, const Node *e) {
    int fuel = 256;
    return may_fail(l, s, e, &fuel);
}

// Do several arms of branches in the scope need e, which can be computed before them?
static bool shared_by_arms(Lower *l, Scope *s, const Node *e) {
    return lower_in_arms(l, s, e) && !lower_fails(l, s, e);
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
    if (shared_by_arms(l, s, e)) return true;
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
    if (e->partial || e->rank || !runs_once(home) || !crosses_loop(l->scope, home)) return false;
    Scope *here = l->scope;
    l->scope = home; // what the branch knows it does not
    bool cheap = lower_fresh_cost(l, e, CHEAP) <= CHEAP;
    l->scope = here;
    return cheap;
}

// The scope in which e is to be emitted; *home is the one that could hold it for good.
static Scope *place(Lower *l, Node *e, Scope **home) {
    *home = scope_of_vars(l, e->fv);
    if (!*home) fatal_bug("a value has a free variable that no open loop binds");
    bool dear = lower_dear(l, e);
    if (e->partial ? crosses_loop(l->scope, *home) && is_simple(l, *home, e) : !dear) return *home;
    if (!e->partial && (intptr_t)map_get(&l->copies, e) >= MAX_COPIES) return *home;
    if (is_ventured(l, e, *home)) return *home;
    for (Scope *s = l->scope; s != *home; s = s->outer) {
        bool sure = s->branch && s->fact && crosses_loop(s, *home) && lower_likely(l, s->fact, *home); // needed in some pass
        bool barrier = (s->branch && !sure) || ((s->branch || s->maybe_empty) && lower_fails(l, s->outer, e));
        if (!barrier) continue;
        Scope *o = s->outer; // may e leave s? only if a scope further out evaluates it anyway
        while (o != (*home)->outer && !map_get(&o->demanded, e) && !shared_by_arms(l, o, e)) o = o->outer;
        if (o == (*home)->outer) return s;
    }
    return *home;
}

bool lower_stays(Lower *l, Node *e) {
    Scope *home = scope_of_vars(l, e->fv);
    return home && (home == l->scope || (!crosses_loop(l->scope, home) && place(l, e, &home) == l->scope));
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
    Scope *home, *to = place(l, e, &home);
    if (to == at) count_copy(l, e, to, home);
    return to != at;
}

Temp lower_value(Lower *l, Node *e) {
    if (e->rank) fatal_bug("an array where a scalar is expected");
    Temp t = lower_known_value(l, e);
    if (t >= 0) return t;
    Scope *here = l->scope, *home, *at = place(l, e, &home);
    Node *total = at != home && e->partial && lower_dear(l, e) ? lower_total(l, e) : NULL;
    if (total && !(total->op == OP_select && total->args[1] == e) && leaves(l, total, at)) {
        lower_total_checks(l, e);
        t = lower_value(l, total);
        remember(here, e, t);
        return t;
    }
    count_copy(l, e, at, home);
    if (at == home || !crosses_loop(at, home) || !lower_keeps(l, e)) {
        l->scope = at;
        t = lower_emit(l, e);
        l->scope = here;
        remember(at, e, t);
        return t;
    }
    l->scope = at;
    t = lower_get(l, lower_by_need(l, e, at, home)->value);
    l->scope = here;
    remember(at, e, t);
    return t;
}

void lower_values(Lower *l, int n, Node *const *e, Temp *out) {
    for (int i = 0; i < n; i++) out[i] = lower_value(l, e[i]);
}

// ---- facts

static bool proven(Lower *l, Poly p) {
    enum { MAX_FACTS = 32 };
    Poly facts[MAX_FACTS];
    int n = 0;
    for (Scope *s = l->scope; s && n < MAX_FACTS; s = s->outer)
        if (s->fact) n += poly_facts(l->ir, s->fact, facts + n, MAX_FACTS - n);
    return poly_nonneg_given(l->ir, p, n, facts);
}

static void check_index(Lower *l, Node *e, Node *i, Node *extent) {
    Ir *m = l->ir;
    bool all = m->bounds == BOUNDS_ALWAYS, raw = m->raw;
    bool low = !all && proven(l, poly_of(m, i)), high = !all && proven(l, minus(m, extent, i, -1));
    if (low && high) return;
    m->raw |= all; // the rules know what is in range
    Node *cond = ir_and(m, low ? ir_bool(m, true) : ir_le(m, ir_int(m, 0), i),
                        high ? ir_bool(m, true) : ir_lt(m, i, extent));
    m->raw = raw;
    int n;
    const char *text = ir_bounds_text(i, &n);
    Temp values[] = {lower_value(l, i), lower_value(l, extent)};
    lower_check(l, lower_value(l, cond), FSM_ERROR_BOUNDS, text, e->span, n, values);
}

static void check_divisor(Lower *l, Node *e, Node *by) {
    Node *ok = nonzero(l, by);
    if (!is_true(ok)) lower_check(l, lower_value(l, ok), FSM_ERROR_DIVIDE, "division by zero", e->span, 0, NULL);
}

static void check_assert(Lower *l, Node *e, Node *cond) {
    int n = e->nargs - 2;
    Temp *values = ARENA_ARRAY(l->arena, Temp, n + 1);
    lower_values(l, n, e->args + 2, values);
    lower_check(l, lower_value(l, cond), ir_assert_code(e), e->u.text, e->span, n, values);
}

void lower_check_self(Lower *l, Node *e, int dim) {
    Span before = lower_at(l, e);
    if (e->op == OP_at) check_index(l, e, lower_total(l, e->args[dim]), e->args[0]->shape[dim - 1]);
    if (e->op == OP_idiv || e->op == OP_irem) check_divisor(l, e, lower_total(l, e->args[1]));
    if (e->op == OP_assert) check_assert(l, e, lower_total(l, e->args[0]));
    l->span = before;
}

// ---- scalar values

static Temp emit_op(Lower *l, Node *e) {
    Temp args[2];
    lower_values(l, e->nargs, e->args, args);
    if ((e->op == OP_idiv || e->op == OP_irem) && e->partial) check_divisor(l, e, e->args[1]);
    Temp t = lower_temp(l, e->kind, NULL);
    lower_stmt(l, ST_OP, t, e->nargs, args)->op = e->op;
    if (l->ir->debug_nan && ir_makes_nan(e)) {
        int nvalues;
        const char *text = ir_nan_text(l->ir, e, &nvalues);
        lower_check_nan(l, text, nvalues, t, e->nargs, args);
    }
    return t;
}

static Block *arm(Lower *l, Node *fact, Temp cell, Node *e) {
    lower_begin_if(l, fact);
    lower_demand(l, e);
    lower_announce(l, 1, &e);
    lower_set(l, cell, lower_value(l, e));
    return scope_close(l);
}

// if c then a else b with the arms evaluated by need
static Temp emit_branch(Lower *l, Node *c, Node *a, Node *b) {
    Temp cond = lower_value(l, c);
    Temp cell = lower_cell(l, a->kind, lower_value(l, ir_zero(l->ir, a->kind)));
    Block *then = arm(l, c, cell, a);
    Block *other = ir_is_zero(b) ? NULL : arm(l, ir_not(l->ir, c), cell, b);
    Stmt *s = lower_stmt(l, ST_IF, -1, 1, &cond);
    s->body = then, s->other = other;
    return lower_get(l, cell);
}

static bool simple(Lower *l, Node *e) {
    int fuel = 64;
    if (lower_known_value(l, e) >= 0 || map_get(&l->scope->demanded, e) || shared_by_arms(l, l->scope, e)) return true;
    return !lower_dear(l, e) && !may_fail(l, l->scope, e, &fuel);
}

static Temp emit_select(Lower *l, Node *c, Node *a, Node *b) {
    if (!simple(l, a) || !simple(l, b)) return emit_branch(l, c, a, b);
    Node *three[] = {c, a, b};
    Temp args[3], t;
    lower_values(l, 3, three, args);
    t = lower_temp(l, a->kind, NULL);
    lower_stmt(l, ST_SELECT, t, 3, args);
    return t;
}

static Temp emit_at(Lower *l, Node *e) {
    Node *a = e->args[0];
    int n = e->nargs - 1;
    if (l->ir->bounds == BOUNDS_ALWAYS || (e->partial && l->ir->bounds != BOUNDS_NEVER))
        for (int k = 0; k < n; k++) check_index(l, e, e->args[k + 1], a->shape[k]);
    Node *element = lower_known_array(l, a) ? NULL : ir_free_element(l->ir, e);
    if (element) return lower_value(l, element); // the rules do not, where the index must be checked
    Buf *buf = lower_array(l, a);
    Temp *idx = ARENA_ARRAY(l->arena, Temp, n);
    lower_values(l, n, e->args + 1, idx);
    Temp t = lower_temp(l, e->kind, NULL);
    lower_stmt(l, ST_LOAD, t, n, idx)->buf = buf;
    return t;
}

static Temp emit_final(Lower *l, Node *e) {
    return lower_loop(l, e->args[0])->value[e->u.num];
}

static Temp emit_leaf(Lower *l, Node *e) {
    if (e->op == OP_lit) return emit_lit(l, e->kind, e->u.real, e->u.num);
    if (e->op != OP_input) fatal_bug("lowering met a %s that nothing binds", op_info[e->op].name);
    Temp t = lower_temp(l, e->kind, e->name);
    lower_stmt(l, ST_ARG, t, 0, NULL)->u.num = e->u.num;
    return t;
}

// That the operand of a conversion to Int32 fits.
static void check_int32(Lower *l, Node *e) {
    Node *x = e->args[0];
    Node *low = ir_le(l->ir, ir_int(l->ir, INT32_MIN), x), *high = ir_le(l->ir, x, ir_int(l->ir, INT32_MAX));
    Temp value = lower_value(l, x);
    lower_check(l, lower_value(l, ir_and(l->ir, low, high)), FSM_ERROR_RANGE, ir_int32_text, e->span, 1, &value);
}

static Temp emit_node(Lower *l, Node *e) {
    Temp t;
    Node *arg = map_get(&l->extremes, e);
    if (arg) return lower_extreme(l, arg);
    switch (e->op) {
    case OP_lit: case OP_input: case OP_param: case OP_var: return emit_leaf(l, e);
    case OP_conv: {
        Temp a = lower_value(l, e->args[0]);
        if (e->kind == KIND_INT32 && e->partial) check_int32(l, e);
        t = lower_temp(l, e->kind, NULL);
        lower_stmt(l, ST_CONV, t, 1, &a);
        return t;
    }
    case OP_stop: return lower_value(l, e->args[0]);
    case OP_select: return emit_select(l, e->args[0], e->args[1], e->args[2]);
    case OP_bracket: return emit_select(l, e->args[0], e->args[1], ir_zero(l->ir, e->kind));
    case OP_assert:
        check_assert(l, e, e->args[0]);
        return lower_value(l, e->args[1]);
    case OP_at: return emit_at(l, e);
    case OP_sum: case OP_argmin: case OP_argmax: return lower_reduction(l, e);
    case OP_final: return emit_final(l, e);
    case OP_extern: return lower_extern(l, e, NULL);
    case OP_and:
        if (e->args[1]->partial) return emit_branch(l, e->args[0], e->args[1], ir_bool(l->ir, false));
        return emit_op(l, e);
    case OP_or:
        if (e->args[1]->partial) return emit_branch(l, e->args[0], ir_bool(l->ir, true), e->args[1]);
        return emit_op(l, e);
    default: return emit_op(l, e);
    }
}

// The instructions for e at the end of the current scope.
Temp lower_emit(Lower *l, Node *e) {
    Span before = lower_at(l, e);
    Temp t = emit_node(l, e);
    l->span = before;
    return t;
}

// ---- arrays

// Can the extents of e be computed in the scope, or are they there?
static bool knows_shape(Lower *l, Scope *s, Node *e) {
    Scope *here = l->scope;
    bool knows = true;
    l->scope = s;
    for (int k = 0; k < e->rank; k++) knows &= simple(l, e->shape[k]) || lower_known_value(l, e->shape[k]) >= 0;
    l->scope = here;
    return knows;
}

// Where e, which is needed at `at`, can be kept for all passes of the loops between, or of some of them; NULL: nowhere.
static Scope *array_keeper(Lower *l, Node *e, Scope *at, Scope *home) {
    Scope *keeper = NULL;
    if (crosses_loop(at, home) && knows_shape(l, home, e)) return home;
    for (Scope *s = at; s != home; s = s->outer)
        if (s->loop && knows_shape(l, s->outer, e)) keeper = s->outer;
    return keeper;
}

Buf *lower_array(Lower *l, Node *e) {
    Buf *b = lower_known_array(l, e);
    if (b) return b;
    Scope *here = l->scope, *home, *at = place(l, e, &home);
    count_copy(l, e, at, home);
    l->scope = at;
    Scope *keeper = array_keeper(l, e, at, home);
    l->scope = at;
    if (keeper) b = lower_by_need(l, e, at, keeper)->buf;
    else b = lower_fill(l, e);
    l->scope = here;
    map_put(&at->arrays, e, b);
    return b;
}

// ---- functions

static void lower_inputs(Lower *l, const Func *f) {
    l->inputs = ARENA_ARRAY(l->arena, Buf *, f->ninputs);
    for (int i = 0; i < f->ninputs; i++) {
        Node *in = f->inputs[i];
        if (in->rank == 0) continue;
        Temp *extent = ARENA_ARRAY(l->arena, Temp, in->rank);
        lower_values(l, in->rank, in->shape, extent);
        Buf *b = lower_buf(l, BUF_INPUT, in->kind, in->rank, extent, in->name);
        b->number = i;
        l->inputs[i] = b;
        map_put(&l->root->arrays, in, b);
    }
}

// The rules take it for granted that a size is not negative; here it is made so.
static void check_sizes(Lower *l, const Func *f) {
    for (int i = 0; i < f->nsizes; i++) {
        Temp ok = lower_temp(l, KIND_BOOL, NULL), n = lower_value(l, f->inputs[i]), args[] = {lower_int(l, 0), n};
        lower_stmt(l, ST_OP, ok, 2, args)->op = OP_le;
        const char *text = arena_printf(l->arena, "the size `%s` is %%d: it cannot be negative", f->inputs[i]->name);
        lower_check(l, ok, FSM_ERROR_NEGATIVE, text, f->span, 1, &n);
    }
}

static void note_array(Node *e, void *reads) { *(bool *)reads |= e->rank > 0; }

static bool reads_array(const Check *c) {
    bool reads = false;
    Node *cond = c->cond;
    ir_walk(1, &cond, note_array, &reads);
    return reads;
}

// The checks that read array elements, or those that do not: these come first, and tell how long the arrays must be.
static void lower_func_checks(Lower *l, const Func *f, bool reading) {
    for (int i = 0; i < f->nchecks; i++) {
        const Check *c = &f->checks[i];
        if (reads_array(c) != reading) continue;
        Temp *values = ARENA_ARRAY(l->arena, Temp, c->nvalues);
        lower_values(l, c->nvalues, c->values, values);
        lower_check(l, lower_value(l, c->cond), c->code, c->text, c->span, c->nvalues, values);
    }
}

static void make_outputs(Lower *l, const Func *f) {
    l->outputs = ARENA_ARRAY(l->arena, Buf *, f->noutputs);
    for (int i = 0; i < f->noutputs; i++) {
        Node *e = f->outputs[i];
        Temp *extent = ARENA_ARRAY(l->arena, Temp, e->rank);
        lower_values(l, e->rank, e->shape, extent);
        Buf *b = lower_buf(l, BUF_OUTPUT, e->kind, e->rank, extent, f->output_names ? f->output_names[i] : NULL);
        b->number = i;
        l->outputs[i] = b;
    }
}

static void lower_outputs(Lower *l, const Func *f) {
    Task *tasks = ARENA_ARRAY(l->arena, Task, f->noutputs);
    for (int i = 0; i < f->noutputs; i++)
        tasks[i] = (Task){.kind = TASK_STORE, .buf = l->outputs[i], .e = f->outputs[i]};
    lower_tasks(l, f->noutputs, tasks);
}

static bool is_partial(const Func *f) {
    for (int i = 0; i < f->noutputs; i++)
        if (f->outputs[i]->partial) return true;
    return false;
}

static Tree *lower_version(Arena *arena, const Func *func) {
    Func *f = arena_copy(arena, func, sizeof *func);
    f->outputs = ARENA_ARRAY(arena, Node *, f->noutputs + 1);
    if (f->noutputs) memcpy(f->outputs, func->outputs, sizeof(Node *) * (size_t)f->noutputs);
    pass_store(f);
    Lower *l = ARENA_NEW(arena, Lower);
    Tree *t = ARENA_NEW(arena, Tree);
    *l = (Lower){.arena = arena, .ir = f->ir, .tree = t, .last_busy = -1, .reach = reach_new(f->noutputs, f->outputs)};
    t->func = func;
    l->span = f->span;
    l->root = scope_open(l);
    t->body = l->root->block;
    check_sizes(l, f);
    lower_func_checks(l, f, false);
    t->prologue = t->body->stmts.len;
    lower_inputs(l, f);
    lower_func_checks(l, f, true);
    make_outputs(l, f);
    lower_find_uses(l, f);
    lower_find_extremes(l, f);
    lower_outputs(l, f);
    scope_close(l);
    vec_free(&l->bound), vec_free(&l->busy), vec_free(&l->covered);
    reach_free(l->reach);
    vec_free(&l->temp_depth);
    map_free(&l->cost);
    map_free(&l->total), map_free(&l->not_total), map_free(&l->checks);
    map_free(&l->copies), map_free(&l->loops), map_free(&l->started), map_free(&l->extremes);
    vec_free(&l->uses);
    vec_free(&l->whiles);
    Map opened = {0};
    lower_unfold(arena, t, f->ir->strict, &opened);
    lower_merge(arena, t, f->ir->strict, &opened);
    map_free(&opened);
    if (f->ir->fast) lower_inverses(arena, t);
    return t;
}

Func *lower_size_query(Arena *arena, const Func *f) {
    Func *g = ARENA_NEW(arena, Func);
    int n = 0;
    *g = *f;
    for (int i = 0; i < f->noutputs; i++) n += f->outputs[i]->rank;
    g->name = arena_printf(arena, "%s_sizes", f->name);
    g->doc = NULL;
    g->result = NULL;
    g->outputs = ARENA_ARRAY(arena, Node *, n + 1);
    g->output_names = ARENA_ARRAY(arena, const char *, n + 1);
    g->noutputs = 0;
    for (int i = 0; i < f->noutputs; i++) {
        const char *name = f->output_names ? f->output_names[i] : NULL;
        if (!name || !*name) name = arena_printf(arena, "out%d", i);
        for (int k = 0; k < f->outputs[i]->rank; k++) {
            g->output_names[g->noutputs] = arena_printf(arena, "%s_dim%d", name, k);
            g->outputs[g->noutputs++] = f->outputs[i]->shape[k];
        }
    }
    return n ? g : NULL;
}

Tree *lower_func(Arena *arena, const Func *f, const Func *positive) {
    bool two = positive && f->nsizes && is_partial(f);
    Tree *t = lower_version(arena, two ? positive : f);
    if (two) t->otherwise = lower_version(arena, f);
    Func *query = lower_size_query(arena, f);
    if (query) t->sizes = lower_version(arena, query);
    return t;
}
