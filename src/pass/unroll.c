// Small loops with extents known at compile time disappear: sum i < 3 becomes two additions, gen i < 3 an array literal.
// What one-hot seeds and other brackets say is then decided for each index, and short vectors live in registers.
#include "pass/pass.h"
#include "ir/rule.h"
#include "support/map.h"

enum { MAX_EXTENT = 16, MAX_ELEMENTS = 64, MAX_NODES = 20000 };

typedef struct Unroll {
    Ir *m;
    Map memo;
    uint32_t limit; // no more nodes than this: what is half unrolled is dearer than what is not, so that only length matters
} Unroll;

static bool small(const Var *v, int64_t *n) {
    const Wishes *w = &v->wishes; // which need a loop, or an array
    if (w->of[WISH_lane] || w->of[WISH_block] || w->of[WISH_materialise]) return false;
    return ir_is_int_lit(v->extent, n) && *n >= 1 && *n <= MAX_EXTENT;
}

static Node *element(Ir *m, Node *body, const Var *v, int64_t i) { return ir_subst1(m, body, ir_var(v), ir_int(m, i)); }

static Node *unroll_sum(Ir *m, Var *v, int64_t n, Node *body) {
    Node *sum = element(m, body, v, 0);
    for (int64_t i = 1; i < n; i++) sum = ir_add(m, sum, element(m, body, v, i));
    return sum;
}

// The elements of a nest of small gens with a scalar body, in row-major order; false if it is not one.
static bool elements(Ir *m, Node *e, Node **out, int *count, int64_t *extents, int rank) {
    if (e->rank == 0) {
        if (*count == MAX_ELEMENTS) return false;
        out[(*count)++] = e;
        return true;
    }
    int64_t n;
    if (e->op == OP_pack) {
        for (int k = 0; k < e->rank; k++) extents[rank + k] = e->shape[k]->u.num;
        for (int i = 0; i < e->nargs; i++) {
            if (*count == MAX_ELEMENTS) return false;
            out[(*count)++] = e->args[i];
        }
        return true;
    }
    if (e->op != OP_gen || !small(e->u.var, &n)) return false;
    extents[rank] = n;
    for (int64_t i = 0; i < n; i++)
        if (!elements(m, element(m, e->args[0], e->u.var, i), out, count, extents, rank + 1)) return false;
    return true;
}

// A loop that an array's elements read results of is written out with each of them if there are no more values than
// these in all.
enum { MAX_LOOP_VALUES = 128 };

// Is a there before `all`, of which it is a part, or does it depend on what is bound inside of that?
static bool is_before(const Node *a, const Node *all) {
    for (int i = 0; i < a->fv->n; i++)
        if (!node_has_var(all, a->fv->v[i])) return false;
    return true;
}

// How many values does e, a part of `all`, have that are not there before? Those of an array's elements count for each.
static int64_t values(const Node *e, const Node *all, Map *seen) {
    int64_t extent = 1, n = 0;
    if (e->nargs == 0 || map_get(seen, e) || is_before(e, all)) return 0;
    map_put(seen, e, (void *)e);
    for (int i = 0; ir_operand(e, i); i++) n += values(ir_operand(e, i), all, seen);
    if (e->op == OP_gen && small(e->u.var, &extent)) n *= extent;
    return n + 1;
}

// May what is read of the array a, a part of `all`, be written out for each element of that?
static bool is_short(const Node *a, const Node *all) {
    Map seen = {0};
    const int64_t n = values(a, all, &seen) * all->u.var->extent->u.num;
    map_free(&seen);
    return n <= MAX_LOOP_VALUES;
}

// Does evaluating e, a part of `all`, run a loop that stays one?
static bool loops(Node *e, const Node *all, Map *seen) {
    if (e->nargs == 0 || map_get(seen, e) || (e->op == OP_final && is_before(e, all))) return false;
    map_put(seen, e, e);
    if (e->op == OP_sum || e->op == OP_argmin || e->op == OP_argmax || e->op == OP_final) return true;
    for (int i = e->op == OP_at && is_short(e->args[0], all); i < e->nargs; i++)
        if (loops(e->args[i], all, seen)) return true;
    return false;
}

// Is e, an element at v, the old one of a loop's array where some condition that is decided in the loop holds or not? That is
// a row of a larger array, or one of the elements that v counts.
static bool updates(const Node *e, const Node *v, const Node *cond, int rank) {
    switch (e->op) {
    case OP_select: return updates(e->args[1], v, e->args[0], rank) || updates(e->args[2], v, e->args[0], rank);
    case OP_bracket: return updates(e->args[1], v, e->args[0], rank);
    case OP_add:
    case OP_sub: return updates(e->args[0], v, cond, rank) || updates(e->args[1], v, cond, rank);
    case OP_gen: return updates(e->args[0], v, cond, rank + 1);
    case OP_at: {
        const Node *a = e->args[0];
        bool own = false;
        for (int k = 1; k < e->nargs; k++) own |= e->args[k] == v;
        if (own && a->op == OP_gen && a->rank == rank) return updates(a->args[0], ir_var(a->u.var), cond, rank);
        if (!own || !cond || a->op != OP_var) return false;
        return a->rank > rank || (node_has_var(cond, v->u.var) && cond->fv->n > 1);
    }
    default: return false;
    }
}

// An array of loops stays: they may be one loop that scatters or adds up all elements. So does an array that a loop updates
// in places.
static Node *unroll_gen(Ir *m, Node *e) {
    Map seen = {0};
    bool keep = loops(e->args[0], e, &seen) || updates(e->args[0], ir_var(e->u.var), NULL, 1);
    map_free(&seen);
    if (keep) return e;
    Node **out = ARENA_ARRAY(m->arena, Node *, MAX_ELEMENTS);
    int64_t extents[16];
    int count = 0;
    if (e->rank > 16 || !elements(m, e, out, &count, extents, 0) || !rule(m, RULE_unroll_array)) return e;
    return ir_pack(m, e->kind, e->rank, extents, out);
}

static Node *unroll(Node *e, void *data) {
    Unroll *u = data;
    if (e->nargs == 0) return e;
    Node *known = map_get(&u->memo, e);
    if (known) return known;
    Span keep = ir_from(u->m, e);
    Node *out = ir_map(u->m, e, unroll, u);
    int64_t n;
    if (e->op == OP_sum && out->op != OP_sum && small(e->u.var, &n)) { // the rules took something out of the sum
        map_put(&u->memo, e, out);
        out = unroll(out, u);
    }
    if (u->m->next_node < u->limit) {
        Node *loop = out;
        bool terms = out->op == OP_sum && out->rank == 0 && small(out->u.var, &n);
        if (terms && rule(u->m, RULE_unroll_sum)) out = unroll_sum(u->m, out->u.var, n, out->args[0]);
        else if (out->op == OP_gen && small(out->u.var, &n)) out = unroll_gen(u->m, out);
        if (out != loop)
            explain(u->m->explain, EXPLAIN_LOOPS, loop->span, "unroll: %s: %d %s written out", ir_quote(u->m, loop), (int)n,
                    loop->op == OP_sum ? "terms are" : "elements are");
    }
    u->m->span = keep;
    map_put(&u->memo, e, out);
    return out;
}

void pass_unroll(Func *f) {
    Unroll u = {.m = f->ir, .limit = f->ir->next_node + MAX_NODES};
    for (int i = 0; i < func_roots(f); i++) f->outputs[i] = unroll(f->outputs[i], &u);
    map_free(&u.memo);
}
