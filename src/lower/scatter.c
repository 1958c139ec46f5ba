// Scatter: an array one of whose terms is a sum of brackets [k = f(i)] that no rule could solve is filled by running
// over i and adding at f(i) (histograms, gradients of gathers, one-hot arrays).
#include "lower/internal.h"

#include <string.h>

// A term, or what is left of it inside of loops.
typedef struct Addend {
    Node *e; // NULL: done
    bool negative;
} Addend;

// Makes the addition of a term that is no sum: *u, to be done for the indices in r. False if there is nothing to add.
static bool addition(Lower *l, const Task *t, Addend a, Var *const *v, int n, Region *r, Task *u) {
    Ir *m = l->ir;
    Node *e = a.e;
    bool bracket = e->op == OP_bracket;
    lower_region(m, v, n, bracket ? e->args[0] : ir_bool(m, true), r);
    Node *value = lower_region_value(m, v, r, bracket ? e->args[1] : e);
    if (ir_is_zero(value)) return false;
    *u = *t;
    u->kind = TASK_ADD;
    u->idx = ARENA_ARRAY(l->arena, Node *, t->nidx + n);
    if (t->nidx) memcpy(u->idx, t->idx, sizeof *u->idx * (size_t)t->nidx);
    memcpy(u->idx + t->nidx, r->idx, sizeof *u->idx * (size_t)n);
    u->nidx += n;
    u->e = a.negative ? ir_neg(m, value) : value;
    u->scatters = false;
    return true;
}

// Those that take place in any case are done together, so that their branches know what others need too.
static void add_here(Lower *l, const Task *t, int count, const Addend *term, Var *const *v, int n) {
    Task *always = ARENA_ARRAY(l->arena, Task, count + 1), u;
    Region r;
    int m = 0;
    for (int i = 0; i < count; i++) {
        if (!term[i].e || term[i].e->op == OP_sum || !addition(l, t, term[i], v, n, &r, &u)) continue;
        if (r.nloops == 0 && ir_is_lit(r.guard[0], 1))
            always[m++] = u;
        else
            lower_region_task(l, &r, &u);
    }
    if (m) lower_tasks(l, m, always);
}

// Sums over equal extents share one loop: the terms of a row of a sparse Jacobian have most of their work in common.
static void add_terms(Lower *l, const Task *t, int count, Addend *term, Var *const *v, int n) {
    for (int i = 0; i < count; i++) {
        while (term[i].e && term[i].e->op == OP_neg) term[i] = (Addend){term[i].e->args[0], !term[i].negative};
    }
    add_here(l, t, count, term, v, n);
    Addend *inner = ARENA_ARRAY(l->arena, Addend, count);
    for (int i = 0; i < count; i++) {
        if (!term[i].e || term[i].e->op != OP_sum) continue;
        Var *w = lower_loop_var(l, term[i].e->u.var, NULL);
        int shared = 0;
        for (int k = i; k < count; k++) {
            Node *e = term[k].e;
            if (!e || e->op != OP_sum || e->u.var->extent != w->extent) continue;
            inner[shared++] = (Addend){ir_subst1(l->ir, e->args[0], ir_var(e->u.var), ir_var(w)), term[k].negative};
            if (k > i) term[k].e = NULL;
        }
        Stmt *loop = lower_begin_for(l, w);
        add_terms(l, t, shared, inner, v, n);
        lower_end_for(l, loop);
    }
}

void lower_scatter(Lower *l, Task *t) {
    Ir *m = l->ir;
    Var *v[16];
    Node **term, *fixed[16];
    int n, terms = ir_terms(m, t->e, v, &n, &term);
    Node *dense = ir_zero(m, t->e->kind);
    for (int i = 0; i < terms; i++)
        if (!ir_scatters(l->ir, term[i], v, n, fixed)) dense = ir_add(m, dense, term[i]), term[i] = NULL;
    if (ir_is_zero(dense)) {
        if (t->kind == TASK_STORE) lower_zero(l, t);
    } else {
        Task rest = *t;
        rest.e = dense, rest.scatters = false;
        for (int k = n; k-- > 0;) rest.e = ir_binder_plain(m, OP_gen, v[k], rest.e);
        lower_task(l, &rest);
    }
    Addend *scattered = ARENA_ARRAY(l->arena, Addend, terms);
    int count = 0;
    for (int i = 0; i < terms; i++)
        if (term[i]) scattered[count++] = (Addend){term[i], false};
    add_terms(l, t, count, scattered, v, n);
}
