// Let-lifting ([TL] section 5.1) where it pays: a dear value under loops that would compute it more than once becomes an
// array, filled once outside of them. That is so where a loop over one of its variables also depends on a variable that
// the value does not (it is invariant there), or where one loop needs the result of another, so that they cannot be one.
#include "pass/occurs.h"
#include "pass/pass.h"
#include "pass/trace.h"

#include "ir/reach.h"
#include "ir/rule.h"

enum { MAX_VARS = 16, MAX_LOOPS = 64, OWN_DEAR = 16, MOST_NODES = 256 };

// over[k] is v[k], or, where the extent of v[k] changes in loops that the value does not depend on, a variable over all
// of its values.
typedef struct Lift {
    int n;
    Var *v[MAX_VARS], *over[MAX_VARS];
    Node *guard; // NULL, or where the value is evaluated, a condition that holds: the array is 0 where it does not
    // not NULL: n is 2, the value depends on a = v[0] - v[1], or their sum, alone, and is lifted over that
    Var *both;
    bool plus;
} Lift;
typedef struct Found {
    Node *e;
    Lift lift;
} Found;
// The program in one round: what is lifted is replaced at its end.
typedef struct Share {
    Func *f;
    Arena *arena; // of one round
    Nodes nodes;
    Users users;
    Reach *reach;
    Map facts, costs;
    Map certain; // what may be evaluated outside of its loops even if that can fail
    Demands *demands; // and so may what fails only where these do
    Map loops;   // index and state variables -> Binding
    Map refused; // values that are not to be lifted, in all rounds
    Map inside;  // what is evaluated in other loops once all found is lifted
    Map mentions; // value -> VarSet: what it depends on, but for the ranges of these variables
    VEC(Found) found;
} Share;

typedef struct Binding {
    Node *loop;
    struct Binding *next;
} Binding;

// ---- what a value depends on
//
//     gen (k < n) sum (i < k + 1) cos (sum (j < n - i) x[i + j])
//
// The cosine depends on i alone: Node.fv has k, too, since k says how far i goes. Over i < n, all that i can be, it is
// an array that is computed once.

static const VarSet *mentions(const Share *s, const Node *e) {
    const VarSet *known = map_get(&s->mentions, e);
    return known ? known : e->fv;
}

static void note_mentions(Share *s, Node *e) {
    Ir *m = s->f->ir;
    const VarSet *all = varset_empty;
    if (e->op == OP_var) all = varset_of(m, e->u.var);
    Node *of;
    for (int k = 0; (of = ir_operand(e, k)); k++) all = varset_union(m, all, mentions(s, of));
    if (ir_is_binder(e)) all = varset_remove(m, all, e->u.var);
    else if (e->op != OP_var)
        for (int k = 0; k < all->n; k++)
            if (!node_has_var(e, all->v[k])) all = varset_remove(m, all, all->v[k--]); // bound by a sequential loop
    map_put(&s->mentions, e, (void *)all);
}

// Is the extent made of sizes of arguments? Then there are no more elements than these have, even where loops around
// turn out to be empty, and nothing of the array is needed: a number may be anything.
static bool is_of_sizes(const Share *s, const Node *e, int *fuel) {
    if (--*fuel < 0) return false;
    if (e->op == OP_input) return (int)e->u.num < s->f->nsizes;
    if (e->op == OP_var) return !e->u.var->is_state && is_of_sizes(s, e->u.var->extent, fuel);
    if (e->op != OP_lit && !op_is_elementwise(e->op)) return false;
    for (int k = 0; k < e->nargs; k++)
        if (!is_of_sizes(s, e->args[k], fuel)) return false;
    return true;
}

// A variable for v over all values that it has where `e` is evaluated; NULL: these are not seen.
static Var *over_all(const Share *s, const Node *e, bool guarded, Var *v) {
    Ir *m = s->f->ir;
    if (v->is_state) return v;
    const VarSet *known = mentions(s, e), *others = v->extent->fv;
    for (int k = 0; k < known->n; k++) others = varset_remove(m, others, known->v[k]);
    Node *extent = !others->n ? v->extent : e->partial && !guarded ? NULL : ir_farthest(m, v->extent, others, true);
    if (!extent || varset_meets(extent->fv, others)) return NULL;
    if (others->n && !is_of_sizes(s, extent, &(int){MOST_NODES})) return NULL;
    if (extent == v->extent && extent->nonneg) return v;
    return ir_index_like(m, v, extent->nonneg ? extent : ir_max(m, extent, ir_int(m, 0)));
}

// A quotient and its remainder are the two indices of an element that its number tells: no division is left of them.
static bool has_remainder(const Share *s, const Node *e) {
    for (int i = 0; e->op == OP_idiv && i < users_count(&s->users, e->args[0]); i++) {
        const Node *by = users_of(&s->users, e->args[0])[i];
        if (by->op == OP_irem && by->args[0] == e->args[0] && by->args[1] == e->args[1]) return true;
    }
    return e->op == OP_irem;
}

// What is known where e is evaluated, and speaks of nothing but what e depends on, if with that e cannot fail: as i + 1
// < n of sum k a[i + 1, k].
static Node *guard_of(const Share *s, Node *e) {
    Ir *m = s->f->ir;
    const Facts *f = map_get(&s->facts, e);
    const VarSet *own = mentions(s, e);
    Node *guard = NULL;
    for (int i = 0; f && i < f->n; i++) {
        const VarSet *of = mentions(s, f->p[i]);
        bool known = !f->p[i]->partial && of->n > 0;
        for (int k = 0; k < of->n; k++) known &= varset_has(own, of->v[k]);
        if (known) guard = guard ? ir_and(m, guard, f->p[i]) : f->p[i];
    }
    return guard && !ir_bracket(m, guard, e)->partial ? guard : NULL;
}

// May e be evaluated outside of its loops?
static bool is_free(const Share *s, Node *e) {
    return !e->partial || map_get(&s->certain, e) || demands_cover(s->demands, e);
}

static bool may_be_made(const Share *s, Node *e) { return is_free(s, e) || guard_of(s, e); }

static bool worth_it(Share *s, Node *e) {
    if (e->fv->n == 0 || mentions(s, e)->n > MAX_VARS) return false;
    if (e->op == OP_gen) return pass_cost_memo(e->args[0], &s->costs) > PASS_COST_DEAR;
    if (e->rank) return e->op == OP_sum || e->op == OP_final;
    return e->op == OP_sum || e->op == OP_final || e->op == OP_argmin || e->op == OP_argmax ||
           (pass_own_cost(e) >= OWN_DEAR && !has_remainder(s, e));
}

// The loops over v that evaluate e.
static int loops_over(const Share *s, const Var *v, Node *e, Node **out) {
    return users_binders(&s->users, NULL, v, e, out, MAX_LOOPS);
}

// Does e change whenever u does? All variables of a sequential loop change together, and if the loop runs again whenever u
// changes, so do its states.
static bool changes_with(const Share *s, const Node *e, const Var *u) {
    const VarSet *of = mentions(s, e);
    if (varset_has(of, u)) return true;
    for (int i = 0; i < of->n; i++)
        for (const Binding *b = map_get(&s->loops, of->v[i]); b; b = b->next) {
            Node *loop = b->loop;
            bool binds = ir_loop(loop)->index == u, state = false;
            for (int k = 0; k < ir_loop(loop)->n; k++) {
                binds |= ir_loop(loop)->state[k] == u;
                state |= node_has_var(e, ir_loop(loop)->state[k]);
            }
            if (binds || (state && changes_with(s, loop, u))) return true;
        }
    return false;
}

// Is e evaluated under a condition that holds for one value of u at most, as in [is[i] = u] * e?
static bool once(Ir *m, const Facts *f, const Var *u) {
    for (int i = 0; i < f->n; i++)
        if (!u->is_state && ir_solve(m, f->p[i], u)) return true;
    return false;
}

// Would the loops over v compute e again? Either they run inside something that e does not depend on, or one needs
// another's result.
static bool recomputes(const Share *s, const Facts *facts, Node *const *loop, int n, const Node *e) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < loop[i]->fv->n; k++)
            if (!changes_with(s, e, loop[i]->fv->v[k]) && !once(s->f->ir, facts, loop[i]->fv->v[k])) return true;
        if (reach_any(s->reach, loop[i]->args[0], n, loop)) return true;
    }
    return false;
}

static bool is_lifted(const Lift *lift, const Var *v) {
    for (int k = 0; k < lift->n; k++)
        if (lift->v[k] == v) return true;
    return false;
}

// Adds the variables of loops that run inside a lifted one.
static bool add_inner(const Share *s, Node *e, Lift *lift) {
    Node *loop[MAX_LOOPS];
    const VarSet *of = mentions(s, e);
    for (int i = 0; i < of->n; i++) {
        Var *v = of->v[i];
        bool under = false;
        if (is_lifted(lift, v)) continue;
        int count = loops_over(s, v, e, loop);
        for (int j = 0; j < count; j++)
            for (int k = 0; k < lift->n; k++) under |= node_has_var(loop[j], lift->v[k]);
        if (under) {
            lift->v[lift->n++] = v;
            return true;
        }
    }
    return false;
}

// Is a variable of e that is not lifted bound inside a loop that is, by a sequential loop? The array would be made there,
// whole for each element that is read.
static bool inside_loop(const Share *s, Node *e, const Lift *lift) {
    Node *loop[MAX_LOOPS];
    const VarSet *of = mentions(s, e);
    for (int k = 0; k < lift->n; k++) {
        int count = loops_over(s, lift->v[k], e, loop);
        for (int j = 0; j < count; j++)
            for (int i = 0; i < of->n; i++)
                if (!is_lifted(lift, of->v[i]) && !node_has_var(loop[j], of->v[i])) return true;
    }
    return false;
}

// The array over the lifted variables, indexed by them; NULL if it would not be rectangular.
static Node *lifted(Ir *m, Node *e, const Lift *lift) {
    Node *array = lift->guard ? ir_bracket(m, lift->guard, e) : e, *idx[MAX_VARS];
    if (e->rank + lift->n > MAX_VARS) return NULL;
    for (int k = 0; k < lift->n; k++) {
        for (int j = 0; j < lift->n; j++)
            if (lift->v[k]->is_state || node_has_var(lift->over[k]->extent, lift->v[j])) return NULL;
        if (!lift->over[k]->extent->nonneg) return NULL;
        for (int d = 0; d < e->rank; d++)
            if (node_has_var(e->shape[d], lift->v[k])) return NULL;
        idx[k] = ir_var(lift->v[k]);
        if (lift->over[k] != lift->v[k]) array = ir_subst1(m, array, ir_var(lift->v[k]), ir_var(lift->over[k]));
    }
    if (array->partial && (lift->guard || !e->partial)) return NULL; // where it stood, it could not fail
    Span keep = ir_from(m, e);
    for (int k = lift->n; k-- > 0;) array = ir_binder_plain(m, OP_gen, lift->over[k], array);
    Node *at = ir_at(m, array, lift->n, idx);
    m->span = keep;
    return at == e ? NULL : at;
}

// ---- a value that depends on two indices through their difference, or sum
//
//     gen (k < n) gen (l < n) ([k <= l] cos (sum (j < n - (l - k)) x[l - k + j]))
//
// is gen k gen l ([k <= l] t[l - k]), where t = gen (i < n) cos (sum (j < n - i) x[i + j]): an adjoint that was to be
// scattered to [k, k + i], and is gathered.

static Node *combination(Ir *m, const Lift *lift) {
    Node *a = ir_var(lift->v[0]), *b = ir_var(lift->v[1]);
    return lift->plus ? ir_add(m, a, b) : ir_sub(m, a, b);
}

// e in terms of the combination; NULL: it depends on the indices otherwise, too.
static Node *by_combination(Ir *m, Node *e, const Lift *lift) {
    Node *i = ir_var(lift->both), *b = ir_var(lift->v[1]);
    e = ir_subst1(m, e, ir_var(lift->v[0]), lift->plus ? ir_sub(m, i, b) : ir_add(m, i, b));
    return e->partial || node_has_var(e, lift->v[0]) || node_has_var(e, lift->v[1]) ? NULL : e;
}

static Node *lifted_both(Ir *m, Node *e, const Lift *lift) {
    Node *of = by_combination(m, e, lift), *at = combination(m, lift);
    Span keep = ir_from(m, e);
    Node *element = of && !of->rank ? ir_at1(m, ir_binder_plain(m, OP_gen, lift->both, of), at) : NULL;
    m->span = keep;
    return element;
}

// The greatest value of e where the facts hold, in terms of none of these variables, as far as it is seen; NULL: it is
// not, or e may be negative there.
static Node *greatest_given(Ir *m, const Facts *f, Node *e, const VarSet *of) {
    enum { MOST = 16 };
    Poly known[MOST];
    ArenaMark mark = arena_mark(m->polys);
    int n = 0;
    for (int i = 0; f && i < f->n && n < MOST; i++) n += poly_facts(m, f->p[i], known + n, MOST - n);
    bool natural = poly_nonneg_given(m, poly_of(m, e), n, known);
    Node *most = NULL;
    for (int i = 0; i < n && natural && !most; i++) { // a fact is a bound less e
        Node *bound = poly_node(m, poly_add(m, known[i], poly_of(m, e)));
        if (!varset_meets(bound->fv, of)) most = bound;
    }
    arena_release(m->polys, mark);
    if (!most && natural) most = ir_farthest(m, e, of, true);
    return most && !most->partial && !varset_meets(most->fv, of) ? most : NULL;
}

// *lift gets the two indices of e, if it depends on nothing but their difference or sum, and another: both are of
// loops.
static bool combines(const Share *s, Node *e, Lift *lift) {
    Ir *m = s->f->ir;
    const VarSet *of = mentions(s, e);
    Node *loop[MAX_LOOPS];
    if (e->rank || of->n < 2 || of->n > 4) return false;
    for (int i = 0; i < of->n; i++)
        for (int k = 0; k < of->n; k++) {
            Var *a = of->v[i], *b = of->v[k];
            if (i == k || a->is_state || b->is_state) continue;
            if (!loops_over(s, a, e, loop) || !loops_over(s, b, e, loop)) continue;
            for (int plus = 0; plus < 2; plus++) {
                *lift = (Lift){.n = 2, .v = {a, b}, .plus = plus};
                Node *c = combination(m, lift);
                const VarSet *drop = c->fv;
                for (int q = 0; q < of->n; q++)
                    if (q != i && q != k) drop = varset_remove(m, drop, of->v[q]);
                Node *most = greatest_given(m, map_get(&s->facts, e), c, drop);
                if (!most || !is_of_sizes(s, most, &(int){MOST_NODES})) continue;
                Node *extent = ir_add(m, most, ir_int(m, 1));
                lift->both = ir_index(m, a->name, extent->nonneg ? extent : ir_max(m, extent, ir_int(m, 0)));
                if (by_combination(m, e, lift)) return true;
            }
        }
    return false;
}

// Is e the element of an array already, and nothing else?
static bool stored(const Share *s, Node *e) { return users_count(&s->users, e) == 1 && users_of(&s->users, e)[0]->op == OP_gen; }

// What of e mentions a lifted variable is no more in the loops that have been found: the next round looks at it.
static void enter(Share *s, Node *e, const Lift *lift) {
    bool mentions = false;
    for (int k = 0; k < lift->n; k++) mentions |= node_has_var(e, lift->v[k]);
    if (!mentions || map_get(&s->inside, e)) return;
    map_put(&s->inside, e, e);
    for (int i = 0; i < e->nargs; i++) enter(s, e->args[i], lift);
}

static void look_at(Share *s, Node *e) {
    Ir *m = s->f->ir;
    Node *loop[MAX_LOOPS];
    if (!worth_it(s, e) || map_get(&s->refused, e) || map_get(&s->inside, e)) return;
    map_put(&s->refused, e, e);
    if (e->rank == 0 && stored(s, e)) return;
    Lift both;
    if (combines(s, e, &both) && lifted_both(m, e, &both) && rule(m, RULE_share)) {
        vec_push(&s->found, ((Found){e, both}));
        enter(s, e, &both);
        explain(m->explain, EXPLAIN_LOOPS, e->span, "share: %s is stored: it depends on two indices through one number",
                ir_quote(m, e));
        return;
    }
    if (!may_be_made(s, e)) return;
    Lift lift = {.guard = is_free(s, e) ? NULL : guard_of(s, e)};
    const VarSet *of = mentions(s, e);
    for (int k = 0; k < of->n; k++) {
        int count = loops_over(s, of->v[k], e, loop);
        if (!of->v[k]->is_state && recomputes(s, map_get(&s->facts, e), loop, count, e)) lift.v[lift.n++] = of->v[k];
    }
    if (lift.n == 0) return;
    while (lift.n < of->n && add_inner(s, e, &lift)) continue;
    for (int k = 0; k < lift.n; k++)
        if (!(lift.over[k] = over_all(s, e, lift.guard != NULL, lift.v[k]))) return;
    if (inside_loop(s, e, &lift) || !lifted(m, e, &lift) || !rule(m, RULE_share)) return;
    vec_push(&s->found, ((Found){e, lift}));
    enter(s, e, &lift);
    explain(m->explain, EXPLAIN_LOOPS, e->span, "share: %s is stored: loops that cannot be one would compute it again",
            ir_quote(m, e));
}

static int by_age(const void *a, const void *b) {
    const Found *x = a, *y = b;
    return x->e->id < y->e->id ? -1 : x->e->id > y->e->id;
}

// Puts arrays in the place of all that was found, parts of others first.
static void replace(Share *s) {
    Ir *m = s->f->ir;
    Rewriting *w = ir_replacing(m, 0, NULL, NULL);
    qsort(s->found.data, (size_t)s->found.len, sizeof *s->found.data, by_age);
    for (int i = 0; i < s->found.len; i++) {
        Node *e = s->found.data[i].e, *now = ir_rewrite(w, e);
        bool all = true;
        for (int k = 0; k < s->found.data[i].lift.n; k++) all &= node_has_var(now, s->found.data[i].lift.v[k]);
        Lift *lift = &s->found.data[i].lift;
        if (lift->guard) lift->guard = ir_rewrite(w, lift->guard);
        Node *at = !all ? NULL : lift->both ? lifted_both(m, now, lift) : lifted(m, now, lift);
        if (at) ir_replacing_too(w, e, at);
    }
    for (int i = 0; i < func_roots(s->f); i++) s->f->outputs[i] = ir_rewrite(w, s->f->outputs[i]);
    ir_rewriting_end(w);
}

static void bind(Share *s, const Var *v, Node *loop) {
    Binding *b = ARENA_NEW(s->arena, Binding);
    *b = (Binding){loop, map_get(&s->loops, v)};
    map_put(&s->loops, v, b);
}

static void collect(Share *s) {
    s->arena = arena_new();
    nodes_collect(s->f, &s->nodes);
    users_collect(&s->nodes, &s->users);
    facts_collect(s->f->ir, s->arena, s->nodes.all.len, s->nodes.all.data, &s->facts);
    pass_certain(s->f, &s->certain);
    s->demands = demands_new(s->f);
    s->reach = reach_new(func_roots(s->f), s->f->outputs);
    for (int i = 0; i < s->nodes.all.len; i++) note_mentions(s, s->nodes.all.data[i]);
    for (int i = 0; i < s->nodes.all.len; i++) {
        Node *loop = s->nodes.all.data[i];
        if (!ir_is_loop(loop)) continue;
        if (ir_loop(loop)->index) bind(s, ir_loop(loop)->index, loop);
        for (int k = 0; k < ir_loop(loop)->n; k++) bind(s, ir_loop(loop)->state[k], loop);
    }
}

static bool share_some(Share *s) {
    collect(s);
    for (int i = s->nodes.all.len; i-- > 0;) look_at(s, s->nodes.all.data[i]);
    bool any = s->found.len > 0;
    if (any) replace(s);
    nodes_free(&s->nodes);
    users_free(&s->users);
    reach_free(s->reach);
    map_free(&s->facts), map_free(&s->certain), map_free(&s->loops), map_free(&s->inside);
    map_free(&s->mentions);
    demands_delete(s->demands);
    vec_free(&s->found);
    arena_free(s->arena);
    return any;
}

void pass_share(Func *f) {
    Share s = {.f = f};
    for (int limit = 200; limit > 0 && share_some(&s); limit--) continue;
    map_free(&s.refused), map_free(&s.costs);
    pass_share_shifted(f);
}
