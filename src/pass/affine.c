// What a loop computes of one of its states by several operations, all of them affine, becomes a * s + b ([CO] Fig. 6, lines
// 9 and 15): a and b do not change, so that they are computed before the loop, and a step waits for one multiplication and
// one addition.
#include "pass/pass.h"

#include "ir/rule.h"

#include "support/vec.h"

#include <stdint.h>

enum { MAX_OPERATIONS = 64, SAVES = 3 };

typedef struct Steps {
    Ir *m;
    const Map *uses; // how often values are used
    const Node *loop;
    Map here; // what has become of what stands in the loop, but not in loops inside
    bool changed;
} Steps;

// The only state of the loop that e mentions; -1 if there are others, or none.
static int only_state(const Steps *x, const Node *e) {
    const Loop *l = ir_loop(x->loop);
    int found = -1;
    if (l->index && node_has_var(e, l->index)) return -1;
    for (int k = 0; k < l->n; k++) {
        if (!node_has_var(e, l->state[k])) continue;
        if (found >= 0) return -1;
        found = k;
    }
    return found;
}

// How many operations on s compute e, and nothing else?
static int operations(const Steps *x, const Node *e, const Var *s, bool first, int bound) {
    bool own = first || (intptr_t)map_get(x->uses, e) == 1;
    if (!own || bound <= 0 || e->op == OP_var || !node_has_var(e, s)) return 0;
    int n = 1;
    for (int i = 0; i < e->nargs; i++) n += operations(x, e->args[i], s, false, bound - n);
    return n;
}

static Node *affine(Steps *x, Node *e) {
    Node *a, *b;
    int k = e->rank == 0 && kind_is_float(e->kind) ? only_state(x, e) : -1;
    Var *s = k >= 0 ? ir_loop(x->loop)->state[k] : NULL;
    if (!s || s->rank || operations(x, e, s, true, MAX_OPERATIONS) < SAVES) return NULL;
    if (!ir_affine(x->m, e, s, &a, &b) || !a || a->partial || (b && b->partial)) return NULL;
    if (!rule(x->m, RULE_affine_step)) return NULL;
    Node *scaled = ir_mul(x->m, ir_var(s), a);
    return b ? ir_add(x->m, scaled, b) : scaled;
}

static Node *in_loop(Node *e, void *data) {
    Steps *x = data;
    if (e->nargs == 0 || ir_is_binder(e) || ir_is_loop(e)) return e;
    Node *known = map_get(&x->here, e);
    if (known) return known;
    Node *out = affine(x, e);
    x->changed |= out != NULL;
    if (!out) out = ir_map(x->m, e, in_loop, x);
    map_put(&x->here, e, out);
    return out;
}

// The loop with such steps; itself if there are none.
static Node *with_steps(Ir *m, const Map *uses, Node *loop) {
    Steps x = {.m = m, .uses = uses, .loop = loop};
    Node **args = arena_copy(m->arena, loop->args, sizeof *args * (size_t)loop->nargs);
    int64_t n;
    bool few = loop->op == OP_fold && ir_is_int_lit(ir_loop(loop)->index->extent, &n) && n < 2 * SAVES;
    for (int k = ir_loop(loop)->n; k < loop->nargs && !few; k++) args[k] = in_loop(args[k], &x);
    map_free(&x.here);
    return x.changed ? ir_loop_like(m, loop, ir_loop(loop), args) : loop;
}

typedef VEC(Node *) Loops;

static void find_loop(Node *e, void *data) {
    Loops *loops = data;
    if (ir_is_loop(e)) vec_push(loops, e);
}

bool pass_affine_steps(Func *f, const Map *uses) {
    Loops loops = {0};
    bool changed = false;
    ir_walk(func_roots(f), f->outputs, find_loop, &loops);
    for (int i = loops.len; i-- > 0 && !changed;) { // outer ones first: those inside are parts of them
        Node *by = with_steps(f->ir, uses, loops.data[i]);
        changed = by != loops.data[i];
        for (int k = 0; changed && k < func_roots(f); k++)
            f->outputs[k] = ir_replace(f->ir, f->outputs[k], loops.data[i], by);
    }
    vec_free(&loops);
    return changed;
}
