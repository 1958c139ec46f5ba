// Scopes, and the statements that are appended to them: literals, cells, buffers and checks.
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
    for (int k = 0; k < b->rank; k++)
        if (l->temp_depth.data[b->extent[k]] >= l->scope->depth) return false;
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
    *b = (Buf){
        l->tree->bufs.len, where, 0, kind, rank, arena_copy(l->arena, extent, sizeof *extent * (size_t)rank), name, NULL, false};
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
        if (kind_is_float(l->tree->temps.data[args[i]].kind)) ok = lower_op2(l, OP_or, ok, lower_op2(l, OP_ne, args[i], args[i]));
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
    map_free(&s->values), map_free(&s->arrays), map_free(&s->demanded), map_free(&s->lazy), map_free(&s->made);
    map_free(&s->in_arm), map_free(&s->in_arms), map_free(&s->safe), map_free(&s->checked), map_free(&s->holds);
    map_free(&s->common);
    vec_free(&s->arms), vec_free(&s->loops), vec_free(&s->folds), vec_free(&s->scatters), vec_free(&s->tasks);
    return s->block;
}

void scope_bind(Lower *l, Scope *s, const Var *v) {
    while ((uint32_t)l->bound.len <= v->id) vec_push(&l->bound, NULL);
    vec_push(&s->rebound, ((Rebound){v, l->bound.data[v->id]}));
    l->bound.data[v->id] = s;
}

Scope *scope_binding(Lower *l, const Var *v) {
    Scope *binds = v->id < (uint32_t)l->bound.len ? l->bound.data[v->id] : NULL;
    for (const Scope *s = l->scope; s && binds; s = s->outer)
        if (s == binds) return binds;
    return NULL;
}

bool lower_active(Lower *l, const Var *v) { return scope_binding(l, v) != NULL; }

Scope *scope_of_vars(Lower *l, const VarSet *fv) {
    Scope *home = l->root;
    for (int i = 0; i < fv->n; i++) {
        Scope *s = scope_binding(l, fv->v[i]);
        if (!s) return NULL;
        if (s->depth > home->depth) home = s;
    }
    return home;
}

Poly lower_difference(Ir *m, Node *a, Node *b, int64_t k) { // a - b + k
    return poly_of(m, ir_add(m, ir_sub(m, a, b), ir_int(m, k)));
}

bool lower_dear(Lower *l, Node *e) { return pass_cost_memo(e, &l->cost) > PASS_COST_DEAR; }

bool lower_maybe_empty(Lower *l, const Var *v) {
    return !poly_nonneg(l->ir, lower_difference(l->ir, v->extent, ir_int(l->ir, 1), 0));
}
