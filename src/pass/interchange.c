// gen k (sum i e) runs over k outside and i inside. Where part of e is dear and depends on i but not on k, that part
// would be computed again for every k: then the sum goes outside, as a sum of arrays, sum i (gen k e), which lowering
// adds up in place. With this the gradient of a sum over data points is one pass over the points. The same is done
// where k, and not i, runs along the rows of what is read, as in the product with a transposed matrix. Where i runs
// along them, what depends on i alone and is an array is stored, and the sum stays inside: so are the layers of a
// network.
#include "pass/facts.h"
#include "pass/occurs.h"
#include "pass/pass.h"
#include "ir/rule.h"
#include "support/map.h"

enum { MAX_RANK = 16, MAX_SUMS = 8, MAX_NESTED = 8 };

typedef struct Interchange {
    Ir *m;
    Users users; // of the program as it was
    Map memo;
    Map moved;    // sums -> the elements that they have become
    Map again[2]; // of what is evaluated in any case, and of what is not
    Map scattered; // what has become of sums with arrays in them
    Demands *demands;
} Interchange;

// Does that of e which depends on v cost more than the budget?
static bool exceeds(const Node *e, const Var *v, int *budget) {
    if (e->nargs == 0 || !node_has_var(e, v)) return false;
    if (ir_is_binder(e) || e->op == OP_fold || e->op == OP_while) return true;
    if (e->op == OP_at && ir_is_binder(e->args[0])) return true; // its elements may be computed where they are read
    int cost = op_info[e->op].cost;
    if ((*budget -= cost > 0 ? cost : 1) < 0) return true;
    for (int i = 0; i < e->nargs; i++)
        if (exceeds(e->args[i], v, budget)) return true;
    return false;
}

// Is it an element, number v at some place, of an array that does not depend on v otherwise? It has one for each v, and
// may be stored.
static bool is_row_element(const Node *e, const Var *v) {
    return e->op == OP_at && e->nargs == 2 && e->rank == 0 && ir_is_binder(e->args[0]) && !node_has_var(e->args[0], v);
}

// Is there a dear part of e that depends on v but not on k? Parts inside inner binders count. stored: but for
// elements of arrays by v.
static bool wasted(Node *e, const Var *v, const Var *k, bool stored, Map *seen) {
    if (!node_has_var(e, v) || map_get(seen, e)) return false;
    map_put(seen, e, e);
    int budget = PASS_COST_DEAR;
    bool element = stored && is_row_element(e, v);
    if (!element && !node_has_var(e, k) && exceeds(e, v, &budget)) return true;
    for (int i = element; i < e->nargs; i++)
        if (wasted(e->args[i], v, k, stored, seen)) return true;
    return false;
}

static bool repeats(Node *e, const Var *v, const Var *k, bool stored) {
    Map seen = {0};
    bool r = wasted(e, v, k, stored, &seen);
    map_free(&seen);
    return r;
}

static Node *interchange(Node *e, void *data);

// Which way do the indexings in e run? `along` counts those that are contiguous in k and strided in v, `across` those
// the other way round.
typedef struct Strides {
    const Node *v, *k;
    int along, across;
} Strides;

static void count_strides(Node *e, Strides *s, Map *seen) {
    if (map_get(seen, e)) return;
    map_put(seen, e, e);
    if (e->op == OP_at && e->nargs > 1) {
        bool v_last = node_has_var(e->args[e->nargs - 1], s->v->u.var), v_any = v_last;
        bool k_last = node_has_var(e->args[e->nargs - 1], s->k->u.var), k_any = k_last;
        for (int i = 1; i < e->nargs - 1; i++) {
            v_any |= node_has_var(e->args[i], s->v->u.var);
            k_any |= node_has_var(e->args[i], s->k->u.var);
        }
        s->along += k_last && v_any && !v_last;
        s->across += v_last && k_any && !k_last;
    }
    for (int i = e->op == OP_at; i < e->nargs; i++) count_strides(e->args[i], s, seen);
}

// Does e read data of v, an element of an array that is the same for all k?
static bool reads_at(const Node *e, const Var *v, const Var *k, int *fuel) {
    if (!node_has_var(e, v)) return false;
    if ((e->op == OP_at && !node_has_var(e->args[0], k)) || --*fuel < 0) return true;
    for (int i = 0; i < e->nargs; i++)
        if (reads_at(e->args[i], v, k, fuel)) return true;
    return false;
}

// Does data of v decide whether e is needed, or for which k? As in sum i ([k < m[i]] * x[i]): for each i that is a
// range of k, but for each k all i are asked. An array that is another for each k is no data of i: outside of the loop
// over k, all of these arrays would be made.
static bool data_decides(Node *e, const Var *v, const Var *k) {
    enum { CONJUNCTS = 16, MOST_NODES = 64 };
    Node *c[CONJUNCTS];
    int n = 0;
    if (e->op != OP_bracket || !ir_conjuncts(e->args[0], c, &n, CONJUNCTS)) return false;
    for (int i = 0; i < n; i++)
        if (reads_at(c[i], v, k, &(int){MOST_NODES})) return true;
    return false;
}

// Had the sum over v of e better be outside of a loop over k? If the loop would compute something dear for each k
// again, or if memory is read in order only that way. Where it is read in order as it is, arrays by v are stored
// instead.
static bool is_better_outside(Node *e, const Var *v, const Var *k) {
    Strides s = {ir_var(v), ir_var(k), 0, 0};
    Map seen = {0};
    count_strides(e, &s, &seen);
    map_free(&seen);
    if (s.along >= s.across && data_decides(e, v, k)) return true;
    return s.along > s.across || repeats(e, v, k, s.along < s.across);
}

typedef struct Summand {
    Var *v;
    Node *e;
} Summand;

// sum i < n - a (e), where a depends on the array's indices, over the range that does not, under a bracket: that i < n
// - a, or, if it is to `shift`, with i = p - a, that p >= a. False if the extent is not of that form.
static bool widen(Ir *m, Summand *s, Var *const *k, int n, bool shift) {
    Poly extent = poly_of(m, s->v->extent), fixed = {0, ARENA_ARRAY(m->arena, Term, extent.n)};
    for (int t = 0; t < extent.n; t++) {
        bool varies = false;
        for (int q = 0; q < extent.term[t].n; q++)
            for (int i = 0; i < n; i++) varies |= node_has_var(extent.term[t].atom[q], k[i]);
        if (!varies) fixed.term[fixed.n++] = extent.term[t];
    }
    if (fixed.n == extent.n) return true;
    Node *whole = poly_node(m, fixed), *a = ir_sub(m, whole, s->v->extent);
    if (!a->nonneg && !poly_nonneg(m, poly_of(m, a))) return false;
    Var *p = ir_index_like(m, s->v, whole);
    Node *i = shift ? ir_sub(m, ir_var(p), a) : ir_var(p);
    Node *there = shift ? ir_le(m, a, ir_var(p)) : ir_lt(m, i, s->v->extent);
    s->e = ir_bracket(m, there, ir_subst1(m, s->e, ir_var(s->v), i));
    s->v = p;
    return true;
}

// The same for sum i < k + 1, for k < n: over i < n, under i < k + 1.
static bool widen_to_farthest(Ir *m, Summand *s, Var *const *k, int n) {
    const VarSet *varying = varset_empty;
    for (int i = 0; i < n; i++) varying = varset_union(m, varying, varset_of(m, k[i]));
    Node *whole = ir_farthest(m, s->v->extent, varying, true);
    if (!whole || whole->partial || varset_meets(whole->fv, varying)) return false;
    Node *less = ir_sub(m, whole, s->v->extent);
    if (!less->nonneg && !poly_nonneg(m, poly_of(m, less))) return false;
    Var *p = ir_index_like(m, s->v, whole);
    s->e = ir_bracket(m, ir_lt(m, ir_var(p), s->v->extent), ir_subst1(m, s->e, ir_var(s->v), ir_var(p)));
    s->v = p;
    return true;
}

// Is an element that k says read of an array that a loop makes for each v, the same for all k? For a number an array by
// v would do.
static bool reads_made_row(const Node *e, const Var *v, const Var *k, Map *seen) {
    if (!node_has_var(e, v) || map_get(seen, e)) return false;
    map_put(seen, e, (void *)e);
    const Node *array = e->op == OP_at ? e->args[0] : NULL;
    bool made = array && array->op != OP_input && array->op != OP_var && !node_has_var(array, k);
    if (made && node_has_var(array, v) && node_has_var(e, k)) return true;
    for (int i = 0; i < e->nargs; i++)
        if (reads_made_row(e->args[i], v, k, seen)) return true;
    return false;
}

// Would a loop over k compute again for each k what is dear in a sum in e?
//
//     gen k (sum i (sum j < n - k (f i (k + j))[k]))
//
// With p for k + j, f i p is the same for all k. All that depends on i depends on k, but the sum over i has to go
// outside for that over p to be there.
static bool repeats_inside(Ir *m, Node *e, Var *const *k, int n, int depth) {
    while (e->op == OP_bracket) e = e->args[1];
    if (e->op != OP_sum || e->rank || depth == 0) return false;
    Summand s = {ir_index_like(m, e->u.var, e->u.var->extent), NULL};
    s.e = ir_subst1(m, e->args[0], ir_var(e->u.var), ir_var(s.v));
    Summand wide = s;
    if (widen(m, &wide, k, n, true) && repeats(wide.e, wide.v, k[0], false)) return true;
    return repeats_inside(m, s.e, k, n, depth - 1);
}

// The sum over the range that is the same for all indices k, if it had better be outside of the loop over the first:
// with a shift, unless that alone makes what is dear depend on k, as in sum i < n - k ([m[i] = 0] * (f i)[k]).
static bool outside_of(Ir *m, const Summand *s, Var *const *k, int n, Summand *wide) {
    Summand as_it_is = *s;
    *wide = *s;
    if (!widen(m, wide, k, n, true)) {
        Map seen = {0};
        bool rows = widen_to_farthest(m, wide, k, n) && reads_made_row(wide->e, wide->v, k[0], &seen);
        map_free(&seen);
        return rows;
    }
    bool shifted = is_better_outside(wide->e, wide->v, k[0]) || repeats_inside(m, wide->e, k, n, MAX_NESTED);
    if (shifted && (wide->v == s->v || repeats(wide->e, wide->v, k[0], false))) return true;
    if (!widen(m, &as_it_is, k, n, false)) return shifted;
    bool better = is_better_outside(as_it_is.e, as_it_is.v, k[0]);
    if (better && (!shifted || repeats(as_it_is.e, as_it_is.v, k[0], false))) *wide = as_it_is;
    return shifted || better || is_better_outside(s->e, s->v, k[0]);
}

// e as an array over those of k that it mentions; idx gets them, *count their number. NULL if it is not rectangular.
static Node *gens_over(Ir *m, Node *e, Var *const *k, int n, Node **idx, int *count) {
    Var *inner[MAX_RANK];
    Node *array = e;
    *count = 0;
    for (int i = 0; i < n; i++)
        if (node_has_var(e, k[i])) inner[(*count)++] = k[i];
    for (int i = *count; i-- > 0;) {
        if (!inner[i]->extent->nonneg) return NULL;
        for (int j = 0; j < i; j++)
            if (node_has_var(inner[i]->extent, inner[j])) return NULL;
        for (int d = 0; d < e->rank; d++)
            if (node_has_var(e->shape[d], inner[i])) return NULL;
        array = ir_binder_plain(m, OP_gen, inner[i], array);
        idx[i] = ir_var(inner[i]);
    }
    return array;
}

// Is an array over `count` of the n indices evaluated where its elements are? By need they may not all be.
static bool may_fail(const Interchange *x, Node *array, bool guarded, int count, int n) {
    return array->partial && (guarded || count < n) && !demands_cover(x->demands, array);
}

// A sum in the body of gens over k[0..n): the element of a sum of arrays, or NULL. The sum stands under the bracket
// [guard] (NULL: none), which goes inside with it; `guarded`: and under others, which do not.
static Node *outer_sum(Interchange *x, Node *guard, bool guarded, Node *sum, Var *const *k, int n) {
    // a variable of its own: the sum's may be one of the array's, which it does not mean
    Var *own = ir_index_like(x->m, sum->u.var, sum->u.var->extent);
    Summand s = {own, ir_subst1(x->m, sum->args[0], ir_var(sum->u.var), ir_var(own))};
    if (guard) s.e = ir_bracket(x->m, guard, s.e);
    Node *fixed[MAX_RANK], *idx[MAX_RANK];
    if (ir_scatters(x->m, s.e, k, n, fixed)) return NULL;
    for (int first = 0; first < n; first++) { // the loops outside of it stay there, and one that only the guard needs
        Summand wide;
        int count;
        if (!node_has_var(sum, k[first]) || !outside_of(x->m, &s, k + first, n - first, &wide)) continue;
        Node *array = gens_over(x->m, wide.e, k + first, n - first, idx, &count);
        if (!array || count == 0 || may_fail(x, array, guarded, count, n)) continue;
        if (!rule(x->m, RULE_sum_outside)) continue;
        array = ir_binder_plain(x->m, OP_sum, wide.v, interchange(array, x));
        return ir_at(x->m, array, count, idx);
    }
    return NULL;
}

// ---- factors that the outer of two sums does not change

// The factors of a term: the product of those that do not depend on v, and of those that do; NULL: there are none.
typedef struct Factors {
    const Var *v;
    Node *fixed, *other;
    bool minus;
    bool inside;  // of a sum, whose conditions are factors
    bool through; // some are of a sum that is one of the factors
} Factors;

static void put_factor(Ir *m, Node **to, Node *e) { *to = *to ? ir_mul(m, *to, e) : e; }
static bool take_inner_factors(Ir *m, Node *e, Factors *f);

static void take_factors(Ir *m, Node *e, Factors *f) {
    if (e->op == OP_mul) {
        take_factors(m, e->args[0], f), take_factors(m, e->args[1], f);
    } else if (e->op == OP_neg) {
        f->minus = !f->minus;
        take_factors(m, e->args[0], f);
    } else if (!take_inner_factors(m, e, f)) {
        put_factor(m, node_has_var(e, f->v) ? &f->other : &f->fixed, e);
    }
}

// sum w ([c] * (a * b)), where b alone depends on v, and not on w: the factors b, and sum w ([c] * a). A condition is a
// factor only inside of such a sum, where what it is on is added more than once.
static bool take_inner_factors(Ir *m, Node *e, Factors *f) {
    bool sum = e->op == OP_sum && !e->rank && node_has_var(e, f->v) && !node_has_var(e->u.var->extent, f->v);
    if (!sum && !(f->inside && e->op == OP_bracket && !node_has_var(e->args[0], f->v))) return false;
    Factors in = {.v = f->v, .inside = true};
    Var *w = sum ? ir_index_like(m, e->u.var, e->u.var->extent) : NULL;
    take_factors(m, sum ? ir_subst1(m, e->args[0], ir_var(e->u.var), ir_var(w)) : e->args[1], &in);
    if (sum && (!in.other || node_has_var(in.other, w))) return false;
    Node *fixed = in.fixed ? in.fixed : ir_real(m, e->kind, 1);
    put_factor(m, &f->fixed, sum ? ir_sum(m, w, fixed) : ir_bracket(m, e->args[0], fixed));
    if (in.other) put_factor(m, &f->other, in.other);
    f->minus ^= in.minus;
    f->through |= sum || in.through;
    return true;
}

// e * x, where x goes into sums and under conditions, for lowering to scatter it.
static Node *times(Ir *m, Node *e, Node *x) {
    if (e->op == OP_bracket) return ir_bracket(m, e->args[0], times(m, e->args[1], x));
    if (e->op != OP_sum || e->rank) return ir_mul(m, e, x);
    Var *w = ir_index_like(m, e->u.var, e->u.var->extent);
    return ir_sum(m, w, times(m, ir_subst1(m, e->args[0], ir_var(e->u.var), ir_var(w)), x));
}

// An element of an array as it is computed.
static Node *computed(Ir *m, Node *e) {
    for (int i = 0; i + 1 < e->nargs; i++)
        if (!ir_index_in_range(m, e->nargs - 1, e->args + 1, i, e->args[0]->shape[i])) return NULL;
    return ir_computed(m, e);
}

// If e is f * sum j t, that sum, and f times what *f has.
static Node *inner_sum(Ir *m, Node *e, Node **f) {
    Node *element = e->op == OP_at ? computed(m, e) : NULL;
    if (element) return inner_sum(m, element, f);
    if (e->op == OP_sum) return e;
    Node *found = NULL;
    if (e->op == OP_neg && (found = inner_sum(m, e->args[0], f))) *f = ir_neg(m, *f);
    for (int i = 0; e->op == OP_mul && i < 2 && !found; i++)
        if ((found = inner_sum(m, e->args[i], f))) *f = ir_mul(m, *f, e->args[!i]);
    return found;
}

static bool has(const Node *e, const Var *v) { return e && node_has_var(e, v); } // e: or NULL

// Does t depend on a variable, other than its indices v and w, that neither a nor b does? Then it is computed for each
// of its values, where they may be computed once for all.
static bool depends_on_more(const Node *t, const Node *a, const Node *b, const Var *v, const Var *w) {
    for (int i = 0; i < t->fv->n; i++) {
        const Var *u = t->fv->v[i];
        if (u != v && u != w && !has(a, u) && !has(b, u)) return true;
    }
    return false;
}

// The range of the inner of two sums: j < whole where, if these are not NULL, `inside`, which depends on the outer
// sum's variable, and `outside`, which does not, hold.
typedef struct Cut {
    Node *whole, *inside, *outside;
} Cut;

static void cut_by(Ir *m, Cut *c, Node *j, Node *extent, const Var *outer) {
    if (extent->op == OP_min) {
        cut_by(m, c, j, extent->args[0], outer), cut_by(m, c, j, extent->args[1], outer);
        return;
    }
    Node *below = ir_lt(m, j, extent), **to = node_has_var(extent, outer) ? &c->inside : &c->outside;
    *to = *to ? ir_and(m, *to, below) : below;
}

// sum j < min(n - i, k + 1), inside of a sum over i and an array over k, is one over j < n where j < n - i and j < k +
// 1. The sum becomes *s. False if it is not seen how far j goes.
static bool cut_range(Ir *m, const Node *inner, const Var *outer, Var *const *k, int n, Summand *s, Cut *c) {
    const VarSet *all = varset_of(m, outer);
    for (int i = 0; i < n; i++) all = varset_union(m, all, varset_of(m, k[i]));
    c->whole = ir_farthest(m, inner->u.var->extent, all, true);
    if (!c->whole || varset_meets(c->whole->fv, all)) return false;
    s->v = ir_index_like(m, inner->u.var, c->whole->nonneg ? c->whole : ir_max(m, c->whole, ir_int(m, 0)));
    s->e = ir_subst1(m, inner->args[0], ir_var(inner->u.var), ir_var(s->v));
    cut_by(m, c, ir_var(s->v), inner->u.var->extent, outer);
    return !s->e->partial;
}

// sum i (f * sum j (a * b)) in the body of gens over k[0..n), where a does not depend on i: sum j (a * sum i (f * b)),
// the sum over i being an element of an array of them. That pays if f * b depends on fewer of k than a * b: both sums
// are computed for fewer indices. So is the transposed product in the gradient of a function of Q x for many x.
static Node *factor_outside(Interchange *x, Node *sum, Var *const *k, int n) {
    Ir *m = x->m;
    if (m->strict || m->debug_nan || sum->partial || !kind_is_float(sum->kind) || n + 1 > MAX_RANK) return NULL;
    Node *f = ir_real(m, sum->kind, 1), *inner = inner_sum(m, sum->args[0], &f), *guard = NULL;
    if (!inner || inner->rank) return NULL;
    Summand s = {ir_index(m, inner->u.var->name, inner->u.var->extent), NULL};
    Cut cut = {NULL, NULL, NULL};
    if (node_has_var(inner->u.var->extent, sum->u.var)) {
        if (!cut_range(m, inner, sum->u.var, k, n, &s, &cut)) return NULL;
        guard = cut.outside;
    } else {
        s.e = ir_subst1(m, inner->args[0], ir_var(inner->u.var), ir_var(s.v));
        if (!widen(m, &s, k, n, true)) return NULL;
        if (s.e->op == OP_bracket) guard = s.e->args[0], s.e = s.e->args[1];
    }
    Factors a = {.v = sum->u.var};
    take_factors(m, s.e, &a);
    if (!a.fixed || (!cut.inside && !has(a.other, s.v)) || has(guard, sum->u.var)) return NULL;
    Node *idx[MAX_RANK];
    Var *all[MAX_RANK];
    Summand t = {ir_index(m, sum->u.var->name, sum->u.var->extent), a.other ? ir_mul(m, f, a.other) : f};
    if (cut.inside) t.e = ir_bracket(m, cut.inside, t.e);
    t.e = ir_subst1(m, t.e, ir_var(sum->u.var), ir_var(t.v));
    if (guard && t.e->partial) t.e = ir_bracket(m, guard, t.e);
    if (!widen(m, &t, k, n, true)) return NULL; // it is outside of them, too
    int count;
    bool saves = false, more = depends_on_more(t.e, a.fixed, a.other, t.v, s.v);
    for (int i = 0; i < n; i++) {
        bool before = has(a.fixed, k[i]) || has(a.other, k[i]) || (cut.inside && has(guard, k[i]));
        bool now = has(t.e, k[i]);
        all[i] = k[i], saves |= before && !now;
    }
    all[n] = s.v;
    Node *array = saves && !more ? gens_over(m, t.e, all, n + 1, idx, &count) : NULL;
    if (!array || array->partial || !rule(m, RULE_sum_product)) return NULL;
    Node *read = ir_at(m, ir_binder_plain(m, OP_sum, t.v, interchange(array, x)), count, idx);
    Node *e = a.through ? times(m, a.fixed, read) : ir_mul(m, a.fixed, read);
    if (guard) e = ir_bracket(m, guard, e);
    e = ir_sum(m, s.v, e);
    return a.minus ? ir_neg(m, e) : e;
}

static bool mentions_any(const Node *e, Var *const *k, int n) {
    for (int i = 0; i < n; i++)
        if (node_has_var(e, k[i])) return true;
    return false;
}

// Does evaluating e fail for all values of k[0..n) if it does for one? What fails in it depends on none of them, and
// whether that is evaluated does not, either. varies: that does, as far as is known from around e.
static bool fails_alike(const Node *e, Var *const *k, int n, bool varies, int *fuel) {
    if (!e->partial || (!varies && !mentions_any(e, k, n))) return true;
    if (--*fuel < 0 || ir_is_loop(e) || e->fails) return false;
    bool chooses = e->op == OP_select || e->op == OP_bracket || e->op == OP_and || e->op == OP_or;
    bool inside = varies || (chooses && mentions_any(e->args[0], k, n)) ||
                  (ir_is_binder(e) && mentions_any(e->u.var->extent, k, n));
    for (int i = 0; i < e->nargs; i++)
        if (!fails_alike(e->args[i], k, n, chooses && i == 0 ? varies : inside, fuel)) return false;
    return !ir_is_binder(e) || fails_alike(e->u.var->extent, k, n, varies, fuel);
}

// A sum that lowering can scatter if it is an array of its own: gen k (sum i ([k = f i] * e)), indexed. It is made when
// the first element is needed.
static Node *own_array(Interchange *x, bool guarded, Node *sum, Var *const *k, int n) {
    enum { MOST_NODES = 500 };
    Node *idx[MAX_RANK];
    int count;
    Node *array = gens_over(x->m, sum, k, n, idx, &count);
    bool ok = array && (!may_fail(x, array, guarded, count, n) || fails_alike(sum, k, n, false, &(int){MOST_NODES}));
    return ok && rule(x->m, RULE_sum_array) ? ir_at(x->m, array, count, idx) : NULL;
}

// ---- sums that are one

typedef struct Terms {
    Node *sum[MAX_SUMS]; // over equal extents
    int n;
    bool minus[MAX_SUMS];
    Node *rest; // the others; NULL: none
} Terms;

static bool goes_outside(Node *sum, Var *const *k, int n) {
    for (int i = 0; i < n; i++)
        if (node_has_var(sum->args[0], k[i]) && is_better_outside(sum->args[0], sum->u.var, k[i])) return true;
    return false;
}

static bool same_indices(const Node *s, const Node *t, Var *const *k, int n) {
    for (int i = 0; i < n; i++)
        if (node_has_var(s, k[i]) != node_has_var(t, k[i])) return false;
    return true;
}

// The condition under which a sum that lowering scatters adds to an element; NULL: it is none. Sums that add elsewhere
// stay apart: each of them stores, where one would add.
static const Node *place(Ir *m, const Node *sum, Var *const *k, int n) {
    Node *fixed[MAX_RANK];
    return ir_scatters(m, sum->args[0], k, n, fixed) && sum->args[0]->op == OP_bracket ? sum->args[0]->args[0] : NULL;
}

static void take_terms(Interchange *x, Node *e, bool minus, Var *const *k, int n, Terms *t) {
    Ir *m = x->m;
    if (e->op == OP_add || e->op == OP_sub) {
        take_terms(x, e->args[0], minus, k, n, t);
        take_terms(x, e->args[1], minus != (e->op == OP_sub), k, n, t);
        return;
    }
    bool joins = e->op == OP_sum && !e->partial && t->n < MAX_SUMS && (e->id >= x->users.n || users_count(&x->users, e) <= 1) &&
                 goes_outside(e, k, n);
    if (joins && t->n)
        joins = t->sum[0]->u.var->extent == e->u.var->extent && same_indices(t->sum[0], e, k, n) &&
                place(m, t->sum[0], k, n) == place(m, e, k, n);
    if (joins) t->minus[t->n] = minus, t->sum[t->n++] = e;
    else if (!t->rest) t->rest = minus ? ir_neg(m, e) : e;
    else t->rest = minus ? ir_sub(m, t->rest, e) : ir_add(m, t->rest, e);
}

// sum i a + sum i b in the body of gens over k[0..n), where both had better be outside: sum i (a + b), which is added
// to one array. NULL if there are no such terms.
static Node *joined_sums(Interchange *x, Node *e, Var *const *k, int n) {
    Ir *m = x->m;
    Terms t = {.n = 0};
    if (n > 1 || m->strict || m->debug_nan || !kind_is_float(e->kind)) return NULL; // sums for matrices are contractions
    take_terms(x, e, false, k, n, &t);
    if (t.n < 2 || !rule(m, RULE_sum_join)) return NULL;
    Var *v = ir_index_like(m, t.sum[0]->u.var, t.sum[0]->u.var->extent);
    Node *all = NULL;
    for (int i = 0; i < t.n; i++) {
        Node *a = ir_subst1(m, t.sum[i]->args[0], ir_var(t.sum[i]->u.var), ir_var(v));
        if (!all) all = t.minus[i] ? ir_neg(m, a) : a;
        else all = t.minus[i] ? ir_sub(m, all, a) : ir_add(m, all, a);
    }
    Node *sum = ir_binder_plain(m, OP_sum, v, all);
    return t.rest ? ir_add(m, sum, t.rest) : sum;
}

// Where in the body of gens over k[0..n) the walk is.
typedef struct Body {
    Var *const *k;
    int n;
    bool top;     // at a term of the body, where lowering scatters it into the array itself
    bool guarded; // below a condition
    Map *memo;    // of what is guarded, and of what is not
    bool added;   // of sums instead of gens: in these, only what scatters is an array
} Body;

// The body, each sum in it that had better be outside replaced. Binders inside are not entered.
static Node *body_of(Interchange *x, Node *e, Body b) {
    Var *const *k = b.k;
    int n = b.n;
    Map *memo = &b.memo[b.guarded];
    if (e->nargs == 0 || e->op == OP_fold || e->op == OP_while) return e;
    Node *known = map_get(memo, e);
    if (known) return known;
    Node *out = e;
    bool mentions = false;
    for (int i = 0; i < n; i++) mentions |= node_has_var(e, k[i]);
    bool guarded = e->op == OP_bracket && e->args[1]->op == OP_sum && !e->args[0]->partial;
    Node *outer = NULL, *fixed[MAX_RANK], *factored = NULL,
         *joined = mentions && !b.added && (e->op == OP_add || e->op == OP_sub) ? joined_sums(x, e, k, n) : NULL;
    if (joined) {
        out = body_of(x, joined, b);
        map_put(memo, e, out);
        return out;
    }
    if (mentions && !b.added && (e->op == OP_sum || guarded))
        factored = factor_outside(x, guarded ? e->args[1] : e, k, n);
    if (factored) {
        explain(x->m->explain, EXPLAIN_LOOPS, e->span,
                "interchange: %s: the sum inside is outside of a factor that it does not change", ir_quote(x->m, e));
        out = body_of(x, guarded ? ir_bracket(x->m, e->args[0], factored) : factored, b);
        map_put(&x->moved, e, out);
        map_put(memo, e, out);
        return out;
    }
    if (e->op == OP_sum && mentions) {
        if (!b.added) outer = outer_sum(x, NULL, b.guarded, e, k, n);
        if (!outer && !b.top && ir_scatters(x->m, e, k, n, fixed)) outer = own_array(x, b.guarded, e, k, n);
    } else if (guarded && mentions && !b.added) {
        outer = outer_sum(x, e->args[0], b.guarded, e->args[1], k, n);
    }
    if (outer) {
        explain(x->m->explain, EXPLAIN_LOOPS, e->span,
                "interchange: %s: the sum runs outside of the loop over the array's elements", ir_quote(x->m, e));
        out = outer;
        map_put(&x->moved, e, outer);
        if (outer->op == OP_at) map_put(&x->memo, outer->args[0], outer->args[0]); // it is done
    } else if (mentions && !ir_is_binder(e)) {
        bool terms = e->op == OP_add || e->op == OP_sub || e->op == OP_neg;
        Node *few[8], **args = e->nargs <= 8 ? few : ARENA_ARRAY(x->m->arena, Node *, e->nargs);
        bool need = e->op == OP_bracket || e->op == OP_select || e->op == OP_and || e->op == OP_or;
        b.top &= terms;
        for (int i = 0; i < e->nargs; i++, b.guarded |= need) args[i] = body_of(x, e->args[i], b);
        out = ir_rebuild(x->m, e, args);
    }
    map_put(memo, e, out);
    return out;
}

static Node *interchange_gen(Interchange *x, Node *e) {
    Var *k[MAX_RANK];
    int n = 0;
    Node *body = e;
    for (; body->op == OP_gen && n < MAX_RANK; body = body->args[0]) k[n++] = body->u.var;
    if (body->rank == 0) {
        Map memo[2] = {{0}, {0}};
        body = body_of(x, body, (Body){k, n, true, false, memo, false});
        map_free(&memo[0]), map_free(&memo[1]);
    }
    body = interchange(body, x);
    for (int i = n; i-- > 0;) body = ir_gen(x->m, k[i], body);
    return body;
}

static Node *interchange(Node *e, void *data) {
    Interchange *x = data;
    if (e->nargs == 0) return e;
    Node *known = map_get(&x->memo, e);
    if (known) return known;
    Span keep = ir_from(x->m, e);
    Node *out = e->op == OP_gen ? interchange_gen(x, e) : ir_map(x->m, e, interchange, x);
    x->m->span = keep;
    map_put(&x->memo, e, out);
    return out;
}

// Sums in sums that lowering can scatter by the index of these are arrays by it:
//
//     sum j ([k = j % 4] * sum i ([2 * i = j] * x[i]))
static Node *arrays_in_sums(Node *e, void *data) {
    Interchange *x = data;
    if (e->nargs == 0) return e;
    Node *known = map_get(&x->scattered, e), *out = e;
    if (known) return known;
    if (e->op == OP_sum && e->rank == 0) {
        Map memo[2] = {{0}, {0}};
        Var *v = e->u.var;
        Node *body = body_of(x, e->args[0], (Body){&v, 1, false, false, memo, true});
        map_free(&memo[0]), map_free(&memo[1]);
        if (body != e->args[0]) out = ir_binder_plain(x->m, OP_sum, v, body);
    }
    out = ir_map(x->m, out, arrays_in_sums, x);
    map_put(&x->scattered, e, out);
    return out;
}

// e with the sums that became arrays elsewhere: what else needs them, a sum over all of them perhaps, reads these.
static Node *reads_moved(Interchange *x, Node *e, bool guarded) {
    if (e->nargs == 0 || ir_is_loop(e)) return e;
    Node *known = map_get(&x->again[guarded], e), *moved = map_get(&x->moved, e);
    if (known) return known;
    Node *out = e, *few[8], **args = e->nargs <= 8 ? few : ARENA_ARRAY(x->m->arena, Node *, e->nargs);
    if (moved && !(moved->partial && guarded)) {
        out = moved;
    } else {
        bool need = e->op == OP_bracket || e->op == OP_select || e->op == OP_and || e->op == OP_or, same = true;
        for (int i = 0; i < e->nargs; i++) {
            args[i] = reads_moved(x, e->args[i], guarded || (need && i > 0));
            same &= args[i] == e->args[i];
        }
        if (!same) out = ir_is_binder(e) ? ir_binder_plain(x->m, e->op, e->u.var, args[0]) : ir_rebuild(x->m, e, args);
    }
    map_put(&x->again[guarded], e, out);
    return out;
}

void pass_interchange(Func *f) {
    Interchange x = {.m = f->ir, .demands = demands_new(f)};
    Nodes nodes = {0};
    nodes_collect(f, &nodes);
    users_collect(&nodes, &x.users);
    for (int i = 0; i < func_roots(f); i++) interchange(f->outputs[i], &x);
    for (int i = 0; i < func_roots(f); i++) f->outputs[i] = interchange(reads_moved(&x, f->outputs[i], false), &x);
    for (int i = 0; i < func_roots(f); i++) f->outputs[i] = arrays_in_sums(f->outputs[i], &x);
    map_free(&x.memo), map_free(&x.moved), map_free(&x.scattered);
    map_free(&x.again[0]), map_free(&x.again[1]);
    users_free(&x.users), nodes_free(&nodes);
    demands_delete(x.demands);
    pass_unify(f); // the loops that came into being
}
