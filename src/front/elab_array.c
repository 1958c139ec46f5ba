// Elaboration: arrays and loops.
#include "front/elab_internal.h"

#include <string.h>

enum { MAX_UNROLL = 256 };   // trips of a loop that is unrolled because an attribute says so
enum { MAX_PACK = 1 << 16 }; // elements of a literal that is stored element by element

static bool depends(const Node *e, const Var *v) { return varset_has(e->fv, v); }

static void elab_wishes(Elab *el, const Core *c, Var *v) {
    for (int k = 0; c->wish && k < WISH_COUNT; k++)
        if (c->wish[k].number) v->wishes.of[k] = wish_new(el->m, (WishKind)k, c->wish[k].number, c->wish[k].at);
}

// ---- build and sum

static int64_t unrolled(Elab *el, const Core *c, const Node *n);
static Node *unroll(Elab *el, bool sum, Var *v, int n, Node *leaf);

// The leaf of an array's element, whose shape must not depend on the index.
static bool rectangular(Elab *el, const Core *c, const Node *leaf, const Var *v) {
    for (int k = 0; k < leaf->rank; k++) {
        if (!depends(leaf->shape[k], v)) continue;
        if (ir_size_is_plain(leaf->shape[k]))
            elab_error(el, c, c->args[1]->span, "irregular array: the size %s of the elements depends on the index %s",
                       size_text(el, leaf->shape[k]), v->name);
        else elab_error(el, c, c->args[1]->span, "irregular array: the size of the elements depends on the index %s", v->name);
        return false;
    }
    if (leaf->rank < MAX_RANK) return true;
    elab_error(el, c, c->span, "an array cannot have more than %d dimensions", MAX_RANK);
    return false;
}

Value elab_build(Elab *el, const Core *c) {
    bool sum = c->kind == CORE_SUM;
    Node *n = elab_scalar(el, c->args[0]);
    if (sum) elab_warn_empty(el, NULL, c->args[0], c->span, "this sum has no terms");
    int64_t known;
    if (!sum && ir_is_int_lit(n, &known) && known < 0 && !el->guarded) {
        elab_error(el, c, c->args[0]->span, "an array cannot have %lld elements", (long long)known);
        return value_dummy(el, c->type);
    }
    Var *v = ir_index(el->m, c->vars[0]->name, n);
    elab_wishes(el, c, v);
    Node *index = ir_var(v);
    c->vars[0]->value = (Value){1, arena_copy(el->arena, &index, sizeof index)};
    Value body = elab(el, c->args[1]), out = value_new(el, body.n);
    if (!body.n && !sum) elab_error(el, c, c->span, "an array of empty tuples cannot be built");
    elab_at(el, c);
    int64_t times = unrolled(el, c, n);
    for (int i = 0; i < body.n; i++) {
        Node *leaf = body.leaf[i];
        if (!rectangular(el, c, leaf, v)) return value_dummy(el, c->type);
        if (sum && leaf->kind == KIND_BOOL) {
            elab_error(el, c, c->args[1]->span, "`sum` adds numbers, found Bool");
            return value_dummy(el, c->type);
        }
        if (times > 0) out.leaf[i] = unroll(el, sum, v, (int)times, leaf);
        else out.leaf[i] = sum ? ir_sum(el->m, v, leaf) : ir_gen(el->m, v, leaf);
    }
    return out;
}

Value elab_arg_extreme(Elab *el, const Core *c) {
    Node *a = elab(el, c->args[0]).leaf[0];
    elab_at(el, c);
    Var *v = ir_index(el->m, "i", a->shape[0]);
    Node *body = ir_at1(el->m, a, ir_var(v));
    Value out = value_new(el, 1);
    out.leaf[0] = c->kind == CORE_ARGMIN ? ir_argmin(el->m, v, body) : ir_argmax(el->m, v, body);
    return out;
}

// ---- literals

// The constant shape of an array of n values like e; false if it is not constant, or too large.
static bool pack_shape(int n, const Node *e, int64_t *extents) {
    int64_t total = extents[0] = n;
    for (int k = 0; k < e->rank; k++) {
        if (!ir_is_int_lit(e->shape[k], &extents[k + 1]) || extents[k + 1] < 0 || extents[k + 1] > MAX_PACK) return false;
        total *= extents[k + 1];
        if (total > MAX_PACK) return false;
    }
    return true;
}

static Node *pack(Elab *el, int n, Node **elems, const int64_t *extents) {
    int rank = elems[0]->rank, count = 1;
    for (int k = 1; k <= rank; k++) count *= (int)extents[k];
    Node **flat = ARENA_ARRAY(el->arena, Node *, (size_t)n * (size_t)count + 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < count; j++) {
            Node *index[MAX_RANK];
            for (int k = rank, rest = j; k > 0; k--) {
                index[k - 1] = ir_int(el->m, rest % extents[k]);
                rest /= (int)extents[k];
            }
            flat[(size_t)i * (size_t)count + (size_t)j] = ir_at(el->m, elems[i], rank, index);
        }
    return ir_pack(el->m, elems[0]->kind, rank + 1, extents, flat);
}

// Rows of sizes that are not constant: selected by the index.
static Node *choose(Elab *el, int n, Node **elems) {
    Ir *m = el->m;
    Var *v = ir_index(m, "i", ir_int(m, n));
    Node *e = elems[n - 1];
    for (int i = n - 2; i >= 0; i--) e = ir_select(m, ir_eq(m, ir_var(v), ir_int(m, i)), elems[i], e);
    return ir_gen(m, v, e);
}

// ---- unrolling

// The trip count of a loop that is to be unrolled; -1 for others.
static int64_t unrolled(Elab *el, const Core *c, const Node *n) {
    int64_t count = -1;
    if (!c->unroll) return -1;
    if (!ir_is_int_lit(n, &count))
        diag_warning(el->unit->diag, WARN_UNROLL, el->m->span, "this loop is not unrolled: its trip count is not a constant");
    else if (count > MAX_UNROLL)
        diag_warning(el->unit->diag, WARN_UNROLL, el->m->span, "this loop is not unrolled: its trip count %lld is more than %d",
                     (long long)count, MAX_UNROLL);
    return count > MAX_UNROLL ? -1 : count;
}

// The value of the leaf for each index, as an array or a sum.
static Node *unroll(Elab *el, bool sum, Var *v, int n, Node *leaf) {
    Node **row = ARENA_ARRAY(el->arena, Node *, n), *from = ir_var(v);
    int64_t extents[MAX_RANK + 1];
    for (int i = 0; i < n; i++) row[i] = ir_subst1(el->m, leaf, from, ir_int(el->m, i));
    if (!sum) return pack_shape(n, row[0], extents) ? pack(el, n, row, extents) : choose(el, n, row);
    for (int i = 1; i < n; i++) row[0] = ir_plus(el->m, row[0], row[i]);
    return row[0];
}

static Value unroll_fold(Elab *el, Var *index, Var **states, int n, Value now, Value next) {
    Node **from = ARENA_ARRAY(el->arena, Node *, now.n + 1), **to = ARENA_ARRAY(el->arena, Node *, now.n + 1);
    for (int k = 0; k < now.n; k++) from[k] = ir_var(states[k]);
    from[now.n] = ir_var(index);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < now.n; k++) to[k] = now.leaf[k];
        to[now.n] = ir_int(el->m, i);
        now = value_new(el, next.n);
        for (int k = 0; k < next.n; k++) now.leaf[k] = ir_subst(el->m, next.leaf[k], next.n + 1, from, to);
    }
    return now;
}

// ---- literals as arrays

Value elab_array(Elab *el, const Core *c) {
    int n = c->nargs;
    Value *elems = ARENA_ARRAY(el->arena, Value, n + 1), out = value_new(el, type_leaves(c->type));
    for (int i = 0; i < n; i++) {
        elems[i] = elab(el, c->args[i]);
        if (i) size_same_shape(el, c, c->args[i]->span, "irregular array: elements of different sizes", elems[i], elems[0]);
    }
    elab_at(el, c);
    Kind *kinds = ARENA_ARRAY(el->arena, Kind, out.n + 1);
    int *ranks = ARENA_ARRAY(el->arena, int, out.n + 1);
    type_leaf_list(c->type, kinds, ranks);
    if (!out.n) elab_error(el, c, c->span, "an array of empty tuples cannot be built");
    for (int k = 0; k < out.n; k++) {
        int64_t extents[MAX_RANK + 1] = {0};
        Node **row = ARENA_ARRAY(el->arena, Node *, n + 1);
        for (int i = 0; i < n; i++) row[i] = elems[i].leaf[k];
        if (ranks[k] > MAX_RANK) {
            elab_error(el, c, c->span, "an array cannot have more than %d dimensions", MAX_RANK);
            return value_dummy(el, c->type);
        }
        if (!n) out.leaf[k] = ir_pack(el->m, kinds[k], ranks[k], extents, NULL);
        else out.leaf[k] = pack_shape(n, row[0], extents) && !el->failed ? pack(el, n, row, extents) : choose(el, n, row);
    }
    return out;
}

// ---- loops

static Var **make_states(Elab *el, CoreVar *state, Value init) {
    Var **vars = ARENA_ARRAY(el->arena, Var *, init.n + 1);
    state->value = value_new(el, init.n);
    for (int k = 0; k < init.n; k++) {
        Node *z = init.leaf[k];
        vars[k] = ir_state(el->m, state->name, z->kind, z->rank, z->shape);
        state->value.leaf[k] = ir_var(vars[k]);
    }
    return vars;
}

// The next state must have the state's shape, which cannot vary between iterations.
static bool keeps_shape(Elab *el, const Core *c, const Core *step, Var *index, Var **states, Value init, Value *next) {
    Value copy = value_new(el, next->n);
    for (int k = 0; k < next->n; k++) {
        Node *e = copy.leaf[k] = next->leaf[k];
        for (int d = 0; d < e->rank; d++) {
            bool varies = index && depends(e->shape[d], index);
            for (int s = 0; s < init.n; s++) varies |= depends(e->shape[d], states[s]);
            if (!varies) continue;
            elab_error(el, c, step->span, "the size of this loop's state changes: it is %s, and then %s",
                       size_text(el, init.leaf[k]->shape[d]), size_text(el, e->shape[d]));
            return false;
        }
    }
    size_same_shape(el, c, step->span, "the size of this loop's state changes", copy, init);
    *next = copy;
    return true;
}

Value elab_fold(Elab *el, const Core *c) {
    Value init = elab(el, c->args[0]);
    Node *n = elab_scalar(el, c->args[1]);
    elab_warn_empty(el, NULL, c->args[1], c->span, "this loop has no iterations");
    Var *index = ir_index(el->m, c->vars[1]->name, n), **states = make_states(el, c->vars[0], init);
    elab_wishes(el, c, index);
    Node *i = ir_var(index);
    c->vars[1]->value = (Value){1, arena_copy(el->arena, &i, sizeof i)};
    Value next = elab(el, c->args[2]), out = value_new(el, init.n);
    elab_at(el, c);
    if (!init.n) return out;
    if (!keeps_shape(el, c, c->args[2], index, states, init, &next)) return value_dummy(el, c->type);
    int64_t times = unrolled(el, c, n);
    if (times >= 0) return unroll_fold(el, index, states, (int)times, init, next);
    Loop l = {.index = index, .n = init.n, .state = states, .levels = (int)c->levels, .limit = c->limit};
    Node *loop = ir_fold_out(el->m, &l, init.leaf, next.leaf, NULL);
    for (int k = 0; k < init.n; k++) out.leaf[k] = ir_final(el->m, loop, k);
    return out;
}

Value elab_while(Elab *el, const Core *c) {
    Value init = elab(el, c->args[0]);
    Var **states = make_states(el, c->vars[0], init);
    Node *cond = elab_scalar(el, c->args[1]);
    Value next = elab(el, c->args[2]), out = value_new(el, init.n);
    elab_at(el, c);
    if (!init.n) return out;
    if (!keeps_shape(el, c, c->args[2], NULL, states, init, &next)) return value_dummy(el, c->type);
    Loop l = {.n = init.n, .state = states, .levels = (int)c->levels, .limit = c->limit};
    Node *loop = ir_while_out(el->m, &l, init.leaf, cond, next.leaf, NULL);
    for (int k = 0; k < init.n; k++) out.leaf[k] = ir_final(el->m, loop, k);
    return out;
}

// ---- indexing

typedef struct Place { // one item of an index: the position, or a slice's index variable with the position
    Node *at;
    Var *var;
} Place;

static void check_position(Elab *el, const Core *c, const CoreItem *item, Node *at, Node *extent) {
    int64_t i, n;
    if (el->guarded || el->misshapen || !ir_is_int_lit(at, &i)) return;
    bool known = ir_is_int_lit(extent, &n);
    if (i < 0 || (known && i >= n))
        elab_error(el, c, item->span, "index %lld is out of range: the extent is %s", (long long)i, size_text(el, extent));
}

static Place slice(Elab *el, const Core *c, const CoreItem *item, Node *extent) {
    Ir *m = el->m;
    Node *lo = item->lo ? elab_scalar(el, item->lo) : ir_int(m, 0), *one = ir_int(m, 1);
    Node *last = ir_sub(m, extent, one), *hi = item->hi ? elab_scalar(el, item->hi) : last;
    Node *n = ir_add(m, ir_sub(m, hi, lo), one);
    if (item->lo) elab_warn_empty(el, item->lo, item->hi, item->span, "this slice is empty: it ends before it begins");
    int64_t known;
    if (ir_is_int_lit(n, &known) && known < 0) { // empty, as in F#
        n = ir_int(m, 0);
    } else if (!(ir_is_int_lit(n, &known) && known == 0)) {
        if (item->lo) check_position(el, c, item, lo, extent);
        if (item->hi) check_position(el, c, item, hi, extent);
    }
    Var *v = ir_index(m, "i", n);
    return (Place){ir_add(m, lo, ir_var(v)), v};
}

Value elab_index(Elab *el, const Core *c) {
    Value a = elab(el, c->args[0]), out = value_new(el, a.n);
    Place *place = ARENA_ARRAY(el->arena, Place, c->nitems + 1);
    Node **index = ARENA_ARRAY(el->arena, Node *, c->nitems + 1);
    if (!a.n) return out;
    for (int k = 0; k < c->nitems; k++) {
        const CoreItem *item = &c->items[k];
        Node *extent = a.leaf[0]->shape[k];
        if (item->slice) {
            place[k] = slice(el, c, item, extent);
        } else {
            place[k] = (Place){elab_scalar(el, item->at), NULL};
            check_position(el, c, item, place[k].at, extent);
        }
        index[k] = place[k].at;
    }
    elab_at(el, c);
    for (int i = 0; i < a.n; i++) {
        Node *e = ir_at(el->m, a.leaf[i], c->nitems, index);
        for (int k = c->nitems; k-- > 0;)
            if (place[k].var) e = ir_gen(el->m, place[k].var, e);
        out.leaf[i] = e;
    }
    return out;
}
