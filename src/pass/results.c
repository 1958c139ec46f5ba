// Each loop becomes the loops that compute what is needed of it ([FS] Fig. 8 g). Results that are needed together are
// those of one loop, with the states that any of them depends on: a loop that is nested in others stays one, and the
// program does not grow. If n results of a loop had loops of their own, there would be n^d where loops are nested d
// deep.
//
// Results are needed together if the same conditions and loops stand around all that needs them:
//
//     (p, q, r) = loop …              (p, q) = loop …      that computes p and q
//     p + (if c then q * r else q)    r = loop …           that computes r
//
// where r's loop may be dear, or fail, and c be false. If what makes up the difference cannot fail, and has no deeper
// loops than the other in its iterations, they are one loop.
#include "pass/pass.h"

#include "support/vec.h"

// Where a value is needed: in the arm of a choice, or the body of a loop, that stands in another place.
typedef struct Place {
    struct Place *up;
    int depth;
    Map inside; // what begins there: condition or loop, + 1 for the second arm, + 2 after the first operand -> Place
} Place;

// The innermost place around all that needs a value. exact: that place itself needs it, not only places inside.
typedef struct Need {
    Place *at;
    bool exact;
} Need;

// Results that one loop is to have.
typedef struct Group {
    Need need;
    bool *result, *out, *state, counted; // state: which states any of them depends on
} Group;

typedef struct Use {
    Node *e; // final, trace or count
    int k;   // of which state or output of the loop
    int group;
} Use;

// A loop that is a part of another one, such as one without the traces that a reverse reads: its results are those of
// that one.
typedef struct Twin {
    Node *loop;
    int *at; // its states there
} Twin;

typedef struct LoopUses {
    Node *loop;
    VEC(Use) uses;
    VEC(Group) groups;
} LoopUses;

typedef struct Results {
    Ir *m;
    bool fill; // traces and counts become states
    VEC(Node *) order;     // operands before users
    VEC(LoopUses *) loops; // users before operands
    Map need, uses;        // node -> Need; loop -> LoopUses
    Map twins;             // loop -> Twin
    Map traced;            // loops with outputs that are needed
    VEC(Place *) places;
    Rewriting *rewriting;
} Results;

// ---- where values are needed

static Place *place_in(Results *r, Place *up, const void *what, int side) {
    const void *key = (const char *)what + side;
    Place *p = up ? map_get(&up->inside, key) : NULL;
    if (p) return p;
    p = ARENA_NEW(r->m->arena, Place);
    *p = (Place){.up = up, .depth = up ? up->depth + 1 : 0};
    if (up) map_put(&up->inside, key, p);
    vec_push(&r->places, p);
    return p;
}

static Need both(Need a, Need b) {
    Place *p = a.at, *q = b.at;
    while (p != q)
        if (p->depth >= q->depth) p = p->up;
        else q = q->up;
    return (Need){p, (p == a.at && a.exact) || (p == b.at && b.exact)};
}

static void needed(Results *r, Node *e, Need n) {
    Need *known = map_get(&r->need, e);
    if (!known) {
        known = ARENA_NEW(r->m->arena, Need);
        *known = n;
        map_put(&r->need, e, known);
    } else {
        *known = both(*known, n);
    }
}

static void needed_in(Results *r, Node *e, Need n, const void *what, int side) {
    needed(r, e, (Need){place_in(r, n.at, what, side), n.exact});
}

// ---- which results of a loop are needed together

static bool is_result(const Node *e) {
    return (e->op == OP_final || e->op == OP_trace || e->op == OP_count) && ir_is_loop(e->args[0]);
}

static Group group_of(Ir *m, const Node *loop, const Use *u, Need need) {
    const Loop *l = ir_loop(loop);
    Group g = {need, ARENA_ARRAY(m->arena, bool, l->n + 1), ARENA_ARRAY(m->arena, bool, l->nout + 1),
               ARENA_ARRAY(m->arena, bool, l->n + 1), u->e->op == OP_count};
    if (u->e->op == OP_final) g.result[u->k] = true;
    if (u->e->op == OP_trace) g.out[u->k] = true;
    ir_loop_needs(m, loop, g.result, g.out, g.state);
    return g;
}

// Notes what may fail of that which evaluating e evaluates in any case.
static void note_certain(Map *certain, Node *e) {
    if (!e->partial || map_get(certain, e)) return;
    map_put(certain, e, e);
    const bool first = e->op == OP_and || e->op == OP_or || e->op == OP_select || e->op == OP_bracket;
    if (first || op_is_elementwise(e->op))
        for (int i = 0; i < (first ? 1 : e->nargs); i++) note_certain(certain, e->args[i]);
}

// May e fail where nothing does that is evaluated in any case?
static bool may_fail(Map *certain, Node *e) {
    if (!e->partial || map_get(certain, e)) return false;
    if (e->fails || is_result(e)) return true;
    bool fails = false;
    Node *b;
    for (int i = 0; !fails && (b = ir_operand(e, i)); i++) fails = may_fail(certain, b);
    if (!fails) map_put(certain, e, e); // so that it is looked at once
    return fails;
}

// Does a fail only where b does, as far as what only a computes goes? Steps do not run if there are no iterations.
static bool adds_no_failure(Node *loop, const Group *a, const Group *b) {
    const Loop *l = ir_loop(loop);
    Map certain = {0};
    bool fails = false;
    for (int k = 0; k < l->n; k++)
        if (b->state[k]) note_certain(&certain, loop_init(loop, k));
    for (int k = 0; k < l->n && !fails; k++)
        if (a->state[k] && !b->state[k]) fails = may_fail(&certain, loop_init(loop, k));
    for (int k = 0; k < l->n; k++)
        if (b->state[k]) note_certain(&certain, loop_step(loop, k));
    for (int q = 0; q < l->nout; q++)
        if (b->out[q]) note_certain(&certain, loop_output(loop, q));
    for (int k = 0; k < l->n && !fails; k++)
        if (a->state[k] && !b->state[k]) fails = may_fail(&certain, loop_step(loop, k));
    for (int q = 0; q < l->nout && !fails; q++)
        if (a->out[q] && !b->out[q]) fails = may_fail(&certain, loop_output(loop, q));
    map_free(&certain);
    return !fails;
}

// How deep loops are.
typedef struct Depths {
    const Node *loop;
    Map known; // node -> how deep the loops are that evaluating it runs in each iteration of the loop, + 1
} Depths;

static int depth_in(Depths *d, Node *e);

// The deepest loops in e that are run for each value of v. What does not vary with v is evaluated once, outside of its
// loop: the deepest of that go into *outside.
static int depth_under(Depths *d, Node *e, const Var *v, Map *seen, int *outside) {
    const intptr_t known = (intptr_t)map_get(seen, e);
    if (known) return (int)known - 1;
    int deepest = 0;
    Node *b;
    if (!node_has_var(e, v)) {
        const int depth = depth_in(d, e);
        *outside = depth > *outside ? depth : *outside;
    } else if (ir_is_binder(e) || ir_is_loop(e)) {
        deepest = depth_in(d, e);
    } else {
        for (int i = 0; (b = ir_operand(e, i)); i++) {
            const int depth = depth_under(d, b, v, seen, outside);
            deepest = depth > deepest ? depth : deepest;
        }
    }
    map_put(seen, e, (void *)(intptr_t)(deepest + 1));
    return deepest;
}

// gen v { if v = i then new else old[v] } stores one element, or a row: no loop over v. A few elements are as good as
// written out.
static bool is_no_loop(const Node *e) {
    enum { FEW = 16 };
    int64_t n;
    if (ir_is_int_lit(e->u.var->extent, &n) && n <= FEW) return true;
    const Node *b = e;
    while (b->op == OP_gen) b = b->args[0];
    const Node *c = e->op == OP_gen && b->op == OP_select ? b->args[0] : NULL;
    const Node *old = c ? b->args[2] : NULL;
    if (!c || c->op != OP_eq || old->op != OP_at || old->args[0]->op != OP_var) return false;
    for (int i = 0; i < 2; i++)
        if (c->args[i] == ir_var(e->u.var) && !node_has_var(c->args[1 - i], e->u.var)) return true;
    return false;
}

// How deep are the loops that evaluating e, a term of the loop, runs in each iteration?
static int depth_in(Depths *d, Node *e) {
    bool varies = false;
    for (int i = 0; i < e->fv->n && !varies; i++) varies = !node_has_var(d->loop, e->fv->v[i]);
    const intptr_t known = (intptr_t)map_get(&d->known, e);
    if (!varies || known) return varies ? (int)known - 1 : 0;
    int deepest = 0, outside = 0;
    Map seen = {0};
    Node *b;
    for (int i = 0; (b = ir_operand(e, i)); i++) {
        const int depth = ir_is_binder(e) ? depth_under(d, b, e->u.var, &seen, &outside) : depth_in(d, b);
        deepest = depth > deepest ? depth : deepest;
    }
    map_free(&seen);
    deepest += (ir_is_binder(e) && !is_no_loop(e)) || ir_is_loop(e);
    deepest = outside > deepest ? outside : deepest;
    map_put(&d->known, e, (void *)(intptr_t)(deepest + 1));
    return deepest;
}

// The deepest loops of what a computes and b, if it is not NULL, does not.
static int depth_of(Depths *d, const Group *a, const Group *b) {
    const Loop *l = ir_loop(d->loop);
    int deepest = 0;
    for (int k = 0; k < l->n + l->nout; k++) {
        const bool is = k < l->n ? a->state[k] && !(b && b->state[k]) : a->out[k - l->n] && !(b && b->out[k - l->n]);
        const int depth = is ? depth_in(d, d->loop->args[loop_steps(d->loop) + k]) : 0;
        if (depth > deepest) deepest = depth;
    }
    return deepest;
}

// Is what only one of them computes no loops in loops of the other's iterations? It may be there for nothing.
static bool adds_little(Node *loop, const Group *a, const Group *b) {
    Depths d = {.loop = loop};
    const bool little = depth_of(&d, a, b) <= depth_of(&d, b, NULL) && depth_of(&d, b, a) <= depth_of(&d, a, NULL);
    map_free(&d.known);
    return little;
}

// The number of iterations is known before arrays are made that have a row for each: then by a loop of its own.
static bool is_together(Node *loop, bool traced, const Group *a, const Group *b) {
    if (traced && a->counted != b->counted) return false;
    if (a->need.at == b->need.at && a->need.exact && b->need.exact) return true;
    return adds_little(loop, a, b) && adds_no_failure(loop, a, b) && adds_no_failure(loop, b, a);
}

static void join(LoopUses *x, int into, int from) {
    Group *a = &x->groups.data[into];
    const Group *b = &x->groups.data[from];
    for (int k = 0; k < ir_loop(x->loop)->n; k++) a->result[k] |= b->result[k], a->state[k] |= b->state[k];
    for (int q = 0; q < ir_loop(x->loop)->nout; q++) a->out[q] |= b->out[q];
    a->counted |= b->counted;
    a->need = both(a->need, b->need);
    for (int i = 0; i < x->uses.len; i++)
        if (x->uses.data[i].group == from) x->uses.data[i].group = into;
}

static void group(Results *r, LoopUses *x) {
    bool traced = false;
    for (int i = 0; i < x->uses.len; i++) traced |= x->uses.data[i].e->op == OP_trace;
    for (int i = 0; i < x->uses.len; i++) {
        Use *u = &x->uses.data[i];
        const Need *need = map_get(&r->need, u->e);
        const Group g = group_of(r->m, x->loop, u, *need);
        u->group = x->groups.len;
        vec_push(&x->groups, g);
        int k = 0;
        while (k < u->group && !is_together(x->loop, traced, &x->groups.data[k], &g)) k++;
        if (k == u->group) continue;
        join(x, k, u->group);
        (void)vec_pop(&x->groups);
    }
}

// ---- looking at a function, users before operands

static LoopUses *uses_of(Results *r, Node *loop) {
    LoopUses *x = map_get(&r->uses, loop);
    if (x) return x;
    x = ARENA_NEW(r->m->arena, LoopUses);
    *x = (LoopUses){.loop = loop};
    map_put(&r->uses, loop, x);
    return x;
}

static void look_at_group(Results *r, Node *loop, Group *g) {
    const Loop *l = ir_loop(loop);
    for (int k = 0; k < l->n; k++) {
        if (!g->state[k]) continue;
        needed(r, loop_init(loop, k), g->need);
        needed_in(r, loop_step(loop, k), g->need, g->result, 0);
    }
    for (int q = 0; q < l->nout; q++)
        if (g->out[q]) needed_in(r, loop_output(loop, q), g->need, g->result, 0);
    if (loop->op == OP_while) needed_in(r, loop_cond(loop), g->need, g->result, 0);
    else needed(r, l->index->extent, g->need);
}

static void look_at_loop(Results *r, Node *loop) {
    LoopUses *x = uses_of(r, loop);
    group(r, x);
    for (int i = 0; i < x->groups.len; i++) look_at_group(r, loop, &x->groups.data[i]);
    vec_push(&r->loops, x);
}

static Node *loop_of(const Results *r, const Node *result) {
    const Twin *t = map_get(&r->twins, result->args[0]);
    return t ? t->loop : result->args[0];
}

static Node *operand(const Results *r, const Node *e, int k) {
    return k == 0 && is_result(e) ? loop_of(r, e) : ir_operand(e, k);
}

static void look_at(Results *r, Node *e) {
    const Need *found = map_get(&r->need, e);
    if (!found) return;
    const Need n = *found;
    if (ir_is_loop(e)) {
        look_at_loop(r, e);
        return;
    }
    if (is_result(e)) {
        const Twin *t = map_get(&r->twins, e->args[0]);
        int k = e->op == OP_count ? 0 : (int)e->u.num;
        vec_push(&uses_of(r, loop_of(r, e))->uses, ((Use){e, t && e->op == OP_final ? t->at[k] : k, 0}));
    }
    Node *b;
    for (int k = 0; (b = operand(r, e, k)); k++) {
        if (e->op == OP_select && k > 0) needed_in(r, b, n, e->args[0], k - 1);
        else if (e->op == OP_bracket && k > 0) needed_in(r, b, n, e->args[0], 0);
        else if ((e->op == OP_and || e->op == OP_or || e->op == OP_assert) && k > 0) needed_in(r, b, n, e, 2);
        else if (ir_is_binder(e) && k == 0) needed_in(r, b, n, e, 0);
        else needed(r, b, n);
    }
}

// ---- the loops

// The result, if it has a form without a loop once it is alone, else NULL.
static Node *alone(Ir *m, Node *loop, const Use *u) {
    const Node *e = u->e;
    const Loop *l = ir_loop(loop);
    bool *result = ARENA_ARRAY(m->arena, bool, l->n + 1), *out = ARENA_ARRAY(m->arena, bool, l->nout + 1);
    int *at = ARENA_ARRAY(m->arena, int, l->n + 1), *of = ARENA_ARRAY(m->arena, int, l->nout + 1);
    if (e->op == OP_count) return NULL;
    (e->op == OP_final ? result : out)[u->k] = true;
    Node *part = ir_loop_part(m, loop, result, out, at, of);
    Node *r = e->op == OP_final ? ir_final(m, part, at[u->k]) : ir_trace(m, part, of[u->k]);
    return r->op == OP_final || r->op == OP_trace ? NULL : r;
}

static void make_group(Results *r, Node *loop, const LoopUses *x, int group) {
    Ir *m = r->m;
    const Loop *l = ir_loop(loop);
    bool *result = ARENA_ARRAY(m->arena, bool, l->n + 1), *out = ARENA_ARRAY(m->arena, bool, l->nout + 1);
    int *at = ARENA_ARRAY(m->arena, int, l->n + 1), *of = ARENA_ARRAY(m->arena, int, l->nout + 1);
    Node **to = ARENA_ARRAY(m->arena, Node *, x->uses.len + 1);
    for (int i = 0; i < x->uses.len; i++) {
        const Use *u = &x->uses.data[i];
        if (u->group != group || (to[i] = alone(m, loop, u))) continue;
        if (u->e->op == OP_final) result[u->k] = true;
        else if (u->e->op == OP_trace) out[u->k] = true;
    }
    Node *part = ir_loop_part(m, loop, result, out, at, of);
    const int n = ir_loop(part)->n;
    if (r->fill && ir_loop(part)->nout) part = ir_loop_filled(m, part);
    else if (r->fill && x->groups.data[group].counted) part = ir_loop_counted(m, part);
    for (int i = 0; i < x->uses.len; i++) {
        Node *e = x->uses.data[i].e;
        const int k = x->uses.data[i].k;
        if (x->uses.data[i].group != group) continue;
        if (!to[i] && e->op == OP_final) to[i] = ir_final(m, part, at[k]);
        if (!to[i] && e->op == OP_trace) to[i] = r->fill ? ir_final(m, part, n + of[k]) : ir_trace(m, part, of[k]);
        if (!to[i]) to[i] = r->fill ? ir_count_of(m, part) : ir_count(m, part);
        if (to[i] != e) ir_replacing_too(r->rewriting, e, to[i]);
    }
}

static void make_loops(Results *r, const LoopUses *x) {
    Node *loop = ir_rewrite(r->rewriting, x->loop);
    const Loop *l = ir_loop(x->loop);
    if (!ir_is_loop(loop) || ir_loop(loop)->n != l->n || ir_loop(loop)->nout != l->nout) return;
    Span keep = ir_from(r->m, x->loop);
    for (int g = 0; g < x->groups.len; g++) make_group(r, loop, x, g);
    r->m->span = keep;
}

// ---- loops that are parts of others

static void find_loop(Node *e, void *data) {
    Results *r = data;
    if (ir_is_loop(e)) vec_push(&r->order, e);
    if (e->op == OP_trace) map_put(&r->traced, e->args[0], e);
}

static const Var *variable_of(const Node *loop) {
    return loop->op == OP_fold ? ir_loop(loop)->index : ir_loop(loop)->state[0];
}

// Has `whole` all of the loop's states, with the same beginnings and steps, for the same variables? at gets their
// places.
static bool is_part(const Node *loop, const Node *whole, int *at) {
    const Loop *p = ir_loop(loop), *q = ir_loop(whole);
    if (loop->op != whole->op || loop->fv != whole->fv || p->n > q->n) return false;
    if (loop->op == OP_while && loop_cond(loop) != loop_cond(whole)) return false;
    for (int k = 0; k < p->n; k++) {
        int j = 0;
        while (j < q->n && q->state[j] != p->state[k]) j++;
        if (j == q->n || loop_init(loop, k) != loop_init(whole, j)) return false;
        if (loop_step(loop, k) != loop_step(whole, j)) return false;
        at[k] = j;
    }
    return true;
}

static int results_of(const Results *r, const Node *loop) {
    return ir_loop(loop)->n + (map_get(&r->traced, loop) ? ir_loop(loop)->nout : 0);
}

// Loops with the same variables.
typedef struct Alike {
    Node *loop;
    struct Alike *next;
} Alike;

// The loop with the most results of those that the loop is a part of; NULL: none.
static Twin *twin_of(Results *r, const Map *of_variable, Node *loop) {
    Twin best = {0};
    for (const Alike *a = map_get(of_variable, variable_of(loop)); a; a = a->next) {
        int *at = ARENA_ARRAY(r->m->arena, int, ir_loop(loop)->n + 1);
        const bool more = results_of(r, a->loop) > results_of(r, best.loop ? best.loop : loop);
        if (more && is_part(loop, a->loop, at) && !ir_reaches(a->loop, loop)) best = (Twin){a->loop, at};
    }
    return best.loop ? arena_copy(r->m->arena, &best, sizeof best) : NULL;
}

static void find_twins(Results *r, int n, Node **roots) {
    Map of_variable = {0};
    ir_walk(n, roots, find_loop, r);
    for (int i = 0; i < r->order.len; i++) {
        Node *e = r->order.data[i];
        if (!ir_loop(e)->n) continue;
        Alike *a = ARENA_NEW(r->m->arena, Alike);
        *a = (Alike){e, map_get(&of_variable, variable_of(e))};
        map_put(&of_variable, variable_of(e), a);
    }
    for (int i = 0; i < r->order.len; i++) {
        Node *e = r->order.data[i];
        Twin *t = ir_loop(e)->n && !map_get(&r->traced, e) ? twin_of(r, &of_variable, e) : NULL;
        if (t) map_put(&r->twins, e, t);
    }
    r->order.len = 0;
    map_free(&of_variable);
}

// All values, operands before users.
static void put_in_order(Results *r, int n, Node **roots) {
    typedef struct Frame {
        Node *e;
        int next;
    } Frame;
    Map seen = {0};
    VEC(Frame) stack = {0};
    for (int i = 0; i < n; i++) {
        if (!map_get(&seen, roots[i])) vec_push(&stack, ((Frame){roots[i], 0}));
        map_put(&seen, roots[i], roots[i]);
        while (stack.len) {
            Frame *top = &vec_last(&stack);
            Node *b = operand(r, top->e, top->next++);
            if (!b) vec_push(&r->order, vec_pop(&stack).e);
            else if (!map_get(&seen, b)) map_put(&seen, b, b), vec_push(&stack, ((Frame){b, 0}));
        }
    }
    vec_free(&stack);
    map_free(&seen);
}

void pass_results(Ir *m, int n, Node **roots, bool fill) {
    Results r = {.m = m, .fill = fill, .rewriting = ir_replacing(m, 0, NULL, NULL)};
    Place *all = place_in(&r, NULL, NULL, 0);
    find_twins(&r, n, roots);
    put_in_order(&r, n, roots);
    for (int i = 0; i < n; i++) needed(&r, roots[i], (Need){all, true});
    for (int i = r.order.len; i-- > 0;) look_at(&r, r.order.data[i]);
    for (int i = r.loops.len; i-- > 0;) make_loops(&r, r.loops.data[i]);
    for (int i = 0; i < n; i++) roots[i] = ir_rewrite(r.rewriting, roots[i]);
    ir_rewriting_end(r.rewriting);
    for (int i = 0; i < r.loops.len; i++) vec_free(&r.loops.data[i]->uses), vec_free(&r.loops.data[i]->groups);
    for (int i = 0; i < r.places.len; i++) map_free(&r.places.data[i]->inside);
    vec_free(&r.loops), vec_free(&r.order), vec_free(&r.places);
    map_free(&r.need), map_free(&r.uses), map_free(&r.twins), map_free(&r.traced);
}
