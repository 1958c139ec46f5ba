// An array that a loop only adds to, from zeros, and that is then added to another array, starts from that other array:
//
//   gen k (A[k] + (final q of a loop: s_q = 0 in s_q + e)[k])   is   final q of the loop: s_q = A in s_q + e
//
// So the adjoint of what an inner loop reads of an array is added up in place, all the way through the loops around it, and
// an iteration costs what it changes ([NP] 6.1: accumulators). A sum of such loops becomes a loop around them.
// (Not from another result of the same loop, which would then run once more: for the results before, and from them on.)
#include "ir/join.h"
#include "pass/pass.h"

#include <string.h>

enum { MAX_TERMS = 64, MAX_VARS = 8 };

// A term `sum over vars of [cond] * (final q of loop)[k]` of an array.
typedef struct Found {
    Node *array;              // as it stands
    Node *final;              // the loop's result; NULL: only `rest` is to take the array's place
    Node *rest;               // its other terms, in terms of k
    Node *cond[MAX_VARS + 1]; // cond[i]: inside of i variables; or NULL
    Var *var[MAX_VARS];
    int nvars;
} Found;

typedef struct Search {
    Ir *m;
    Map uses; // Node -> how many values use it
    Found found;
} Search;

static void count_uses(Node *e, void *data) {
    Map *uses = data;
    for (int i = 0; i < e->nargs; i++) {
        uintptr_t n = (uintptr_t)map_get(uses, e->args[i]);
        map_put(uses, e->args[i], (void *)(n + 1));
    }
}

static bool is_zeros(const Node *e) {
    while (e->op == OP_gen) e = e->args[0];
    return ir_is_zero(e);
}

static bool has_any(const Node *e, Var *const *v, int n) {
    for (int i = 0; i < n; i++)
        if (node_has_var(e, v[i])) return true;
    return false;
}

static Node *gen_over(Ir *m, Var *const *v, int n, Node *e) {
    while (n-- > 0) e = ir_gen(m, v[n], e);
    return e;
}

static bool only_adds(Ir *m, const Node *loop, int q);

// Is the array e that of state s with something added, in which s is not?
static bool grows(Ir *m, Node *e, Var *s) {
    Var *v[16];
    Node **term;
    int n, own = 0;
    if (e == ir_var(s)) return true;
    if (e->op == OP_final) {
        const Node *loop = e->args[0];
        for (int i = 0; i < loop->nargs; i++)
            if (i != e->u.num && node_has_var(loop->args[i], s)) return false;
        return grows(m, loop_init(loop, (int)e->u.num), s) && only_adds(m, loop, (int)e->u.num);
    }
    int count = ir_terms(m, e, v, &n, &term);
    if (count == 1 && term[0]->op == OP_select && !has_any(term[0]->args[0], v, n))
        return !node_has_var(term[0]->args[0], s) && grows(m, gen_over(m, v, n, term[0]->args[1]), s) &&
               grows(m, gen_over(m, v, n, term[0]->args[2]), s);
    for (int i = 0; i < count; i++) {
        if (!node_has_var(term[i], s)) continue;
        if (term[i]->op != OP_at || own++) return false;
        for (int d = 0; d < n; d++)
            if (term[i]->args[d + 1] != ir_var(v[d])) return false;
        if (!grows(m, term[i]->args[0], s)) return false;
    }
    return own == 1;
}

// Does a loop only add to its state q, which nothing else reads?
static bool only_adds(Ir *m, const Node *loop, int q) {
    const Loop *l = ir_loop(loop);
    for (int i = l->n; i < loop->nargs; i++)
        if (i != loop_steps(loop) + q && node_has_var(loop->args[i], l->state[q])) return false;
    return grows(m, loop_step(loop, q), l->state[q]);
}

static bool once(const Search *x, const Node *e) { return (uintptr_t)map_get(&x->uses, e) == 1; }

// Is e the element at v of such a loop's result, perhaps under conditions and sums?
static bool is_accumulated(Search *x, Found *f, Node *e, Var *const *v, int n) {
    f->nvars = 0;
    memset(f->cond, 0, sizeof f->cond);
    for (;; e = e->args[e->op == OP_bracket]) {
        if (e->op == OP_bracket) {
            Node **c = &f->cond[f->nvars];
            if (has_any(e->args[0], v, n) || !once(x, e->args[1])) return false;
            *c = *c ? ir_and(x->m, *c, e->args[0]) : e->args[0];
        } else if (e->op == OP_sum) {
            if (f->nvars == MAX_VARS || !once(x, e->args[0]) || has_any(e->u.var->extent, v, n)) return false;
            f->var[f->nvars++] = e->u.var;
        } else {
            break;
        }
    }
    if (e->op != OP_at || e->args[0]->op != OP_final || e->nargs != n + 1 || !once(x, e->args[0])) return false;
    Node *result = e->args[0];
    for (int d = 0; d < n; d++)
        if (e->args[d + 1] != ir_var(v[d]) || result->shape[d] != v[d]->extent) return false;
    f->final = result;
    int q = (int)result->u.num;
    return !has_any(result, v, n) && is_zeros(loop_init(result->args[0], q)) && only_adds(x->m, result->args[0], q);
}

// If e is the element at v of an array that scatters and that nothing else reads: that element's value.
static Node *scattered(Search *x, Node *e, Var *const *v, int n) {
    Node *g = e->args[0], *from[16], *to[16];
    if (e->op != OP_at || e->nargs != n + 1 || !once(x, e) || !once(x, g) || !ir_has_scatter(x->m, g)) return NULL;
    for (int d = 0; d < n; d++, g = g->args[0]) {
        if (g->op != OP_gen || e->args[d + 1] != ir_var(v[d]) || g->u.var->extent != v[d]->extent) return NULL;
        from[d] = ir_var(g->u.var), to[d] = ir_var(v[d]);
    }
    return ir_subst(x->m, g, n, from, to);
}

typedef struct Twice {
    Ir *m;
    Node *loop;
    bool found;
} Twice;

static void look_for_loop(Node *e, void *data) {
    Twice *t = data;
    JoinedLoop u;
    if (e->op != OP_final || t->found) return;
    ir_join_open(&u, t->m, NULL, e->args[0]);
    t->found = ir_join(&u, t->loop, true);
    ir_join_close(&u);
}

// Is a result of the found loop's own run among the other terms?
static bool runs_twice(Ir *m, const Found *f) {
    Twice t = {m, f->final->args[0], false};
    if (!f->nvars) ir_walk(1, (Node *const *)&f->rest, look_for_loop, &t);
    return t.found;
}

static void look_at(Node *e, void *data) {
    Search *x = data;
    Ir *m = x->m;
    Var *v[16];
    Node **term;
    int n;
    if (x->found.array || e->op != OP_gen) return;
    int count = ir_terms(m, e, v, &n, &term);
    for (int i = 0; i < count; i++) {
        Found f = {.array = e};
        Node *value = count > 1 && term[i]->op == OP_at ? scattered(x, term[i], v, n) : NULL;
        if (value) {
            f.rest = value;
            for (int j = 0; j < count; j++)
                if (j != i) f.rest = ir_add(m, f.rest, term[j]);
            f.rest = gen_over(m, v, n, f.rest);
            x->found = f;
            return;
        }
        if (!once(x, term[i]) && e->args[0] != term[i]) continue;
        if (!is_accumulated(x, &f, term[i], v, n) || (count == 1 && f.nvars == 0)) continue;
        f.rest = ir_zero(m, e->kind);
        for (int j = 0; j < count; j++)
            if (j != i) f.rest = ir_add(m, f.rest, term[j]);
        f.rest = gen_over(m, v, n, f.rest);
        if (runs_twice(m, &f)) continue;
        x->found = f;
        return;
    }
}

static Node *where(Ir *m, Node *cond, Node *then, Node *other) { return cond ? ir_select(m, cond, then, other) : then; }

// The loop with the array `from` for zeros, inside of the variables from i on.
static Node *start_from(Ir *m, const Found *f, int i, Node *from) {
    Node *inner;
    if (i == f->nvars) {
        Node *loop = f->final->args[0];
        Node **args = arena_copy(m->arena, loop->args, sizeof(Node *) * (size_t)loop->nargs);
        args[f->final->u.num] = from;
        inner = ir_final(m, ir_loop_like(m, loop, ir_loop(loop), args), (int)f->final->u.num);
    } else {
        Var *s = ir_state(m, "adj", from->kind, from->rank, f->array->shape);
        Node *step = start_from(m, f, i + 1, ir_var(s));
        inner = ir_final(m, ir_fold(m, f->var[i], 1, &s, &from, &step), 0);
    }
    return where(m, f->cond[i], inner, from);
}

void pass_thread(Func *f) {
    Ir *m = f->ir;
    if (m->strict) return; // it changes the order of additions
    for (;;) {
        Search x = {.m = m};
        ir_walk(func_roots(f), f->outputs, count_uses, &x.uses);
        ir_walk(func_roots(f), f->outputs, look_at, &x);
        map_free(&x.uses);
        if (!x.found.array) return;
        Node *by = x.found.final ? start_from(m, &x.found, 0, x.found.rest) : x.found.rest;
        ir_replace_in(m, func_roots(f), f->outputs, x.found.array, by);
    }
}
