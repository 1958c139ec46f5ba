// Reverse mode: [TL] Figs. 15 and 16 on the value graph.
//
// A value e stands for a family of values indexed by its free variables, and its adjoint is an expression over the same
// variables (and those of the surroundings). A user p of e has an adjoint over p's variables; what p contributes to e
// is summed over those that e does not have. Arrays collect contributions as scalar expressions over one list of fresh
// index variables; reading A[a] contributes [k = a] times the reader's adjoint.
#include "ad/guard.h"
#include "pass/pass.h"

#include "support/vec.h"

// What is known of the adjoint of one value so far.
typedef struct Slot {
    VEC(Share) shares; // of a scalar, or of an array's element at k
    VEC(Share) whole;  // of an array as a whole: value and cover (an array of Bool) are arrays, there is no guard
    Var **k;           // arrays: an index variable for each dimension
} Slot;

typedef struct Reverse {
    AdGraph g;
    Ir *m;
    Guards guards;
    Slot *slot;      // by AdNode.order
    Share **results; // of a custom, a loop or an extern's call, by AdNode.order: adjoints of its results (keep_result)
    AdError *error;
    bool failed;
} Reverse;

// ---- collecting contributions
// The variables to sum over in a contribution of p to its operand e, in order of creation: an extent mentions only
// older ones.
static int summed_vars(const Reverse *r, const AdNode *p, const Node *e, Var **vars) {
    int n = 0;
    Var *bound = p->var;
    for (int i = 0; i <= p->e->fv->n; i++) {
        Var *v = i < p->e->fv->n ? p->e->fv->v[i] : NULL;
        if (bound && (!v || bound->id < v->id)) {
            if (!node_has_var(e, bound)) vars[n++] = bound;
            bound = NULL;
        }
        if (v && !node_has_var(e, v) && !varset_has(r->g.outer, v)) vars[n++] = v;
    }
    return n;
}

static Var **array_vars(Reverse *r, const AdNode *a) {
    Slot *s = &r->slot[a->order];
    if (!s->k) {
        s->k = ARENA_ARRAY(r->m->arena, Var *, a->e->rank);
        for (int d = 0; d < a->e->rank; d++) s->k[d] = ir_index(r->m, "k", a->e->shape[d]);
    }
    return s->k;
}

// Adds to e, an operand of p, a share for each value of p's variables.
static void contribute(Reverse *r, const AdNode *p, const AdNode *e, Share share) {
    Var **vars = ARENA_ARRAY(r->m->arena, Var *, p->e->fv->n + 1);
    int n = summed_vars(r, p, e->e, vars);
    if (n > 0) share = guard_sum(&r->guards, n, vars, share, e->risk);
    else if (e->risk == AD_SAFE) share.cover = NULL;
    if (!ir_is_zero(share.value)) vec_push(&r->slot[e->order].shares, share);
}

static Node *at_vars(Ir *m, Node *array, int n, Var *const *k) {
    Node **idx = ARENA_ARRAY(m->arena, Node *, n);
    for (int d = 0; d < n; d++) idx[d] = ir_var(k[d]);
    return ir_at(m, array, n, idx);
}

static Node *gen_over(Ir *m, int n, Var *const *k, Node *e) {
    for (int d = n; d-- > 0;) e = ir_gen(m, k[d], e);
    return e;
}

// The element at k of a contribution to the array a as a whole.
static Share element(Reverse *r, const AdNode *a, Share whole) {
    Var **k = array_vars(r, a);
    Share s = {NULL, whole.cover, at_vars(r->m, whole.value, a->e->rank, k)};
    if (s.cover) s.cover = at_vars(r->m, s.cover, a->e->rank, k);
    return s;
}

// Adds to e, an operand of p, an array or scalar for each value of p's variables.
static void contribute_whole(Reverse *r, const AdNode *p, const AdNode *e, Share whole) {
    Var **vars = ARENA_ARRAY(r->m->arena, Var *, p->e->fv->n + 1);
    if (e->e->rank == 0) contribute(r, p, e, whole);
    else if (summed_vars(r, p, e->e, vars) > 0) contribute(r, p, e, element(r, e, whole));
    else vec_push(&r->slot[e->order].whole, whole);
}

// ---- adding contributions up
// The adjoint of an array: value and, where its elements' computation may fail, cover.
static Share array_adjoint(Reverse *r, const AdNode *a, Slot *s) {
    Ir *m = r->m;
    int rank = a->e->rank;
    if (s->shares.len == 0) {
        Share total = s->whole.data[0];
        for (int i = 1; i < s->whole.len; i++) {
            Node *cover = s->whole.data[i].cover;
            total.value = ir_plus(m, total.value, s->whole.data[i].value);
            if (total.cover && cover) {
                Var **k = array_vars(r, a);
                Node *p = ir_or(m, at_vars(m, total.cover, rank, k), at_vars(m, cover, rank, k));
                total.cover = gen_over(m, rank, k, p);
            } else {
                total.cover = NULL;
            }
        }
        return total;
    }
    for (int i = 0; i < s->whole.len; i++) vec_push(&s->shares, element(r, a, s->whole.data[i]));
    s->whole.len = 0;
    Share e = guard_add(&r->guards, s->shares.len, s->shares.data, a->risk);
    Node *cover = a->risk == AD_SAFE ? NULL : ad_and(m, guard_value(&r->guards, e.guard), e.cover);
    e.value = gen_over(m, rank, s->k, guard_bracket(&r->guards, e.guard, e.value));
    return (Share){NULL, cover ? gen_over(m, rank, s->k, cover) : NULL, e.value};
}

// The adjoint of a; its value is NULL if it is zero.
static Share adjoint(Reverse *r, const AdNode *a) {
    Slot *s = &r->slot[a->order];
    if (s->shares.len == 0 && s->whole.len == 0) return (Share){NULL, NULL, NULL};
    return a->e->rank > 0 ? array_adjoint(r, a, s) : guard_add(&r->guards, s->shares.len, s->shares.data, a->risk);
}

// ---- passing adjoints on
static AdNode *active_operand(const Reverse *r, const AdNode *p, int k) {
    AdNode *e = ad_graph_find(&r->g, p->args[k]);
    return e && e->active ? e : NULL;
}

// Where something of this risk may be evaluated for what is needed where `needed` (NULL: everywhere) says: if it fails
// only where a size is 0, everywhere else. What is needed is then not computed in code for sizes of at least 1.
static Node *allowed(Reverse *r, AdRisk risk, Node *needed) {
    return risk == AD_EMPTY && needed ? ir_or(r->m, r->g.filled, needed) : needed;
}

// From here on the share of p is used with something of this risk.
static Share covered(Reverse *r, const AdNode *p, AdRisk risk, Share s) {
    s.guard = guard_and(&r->guards, s.guard, allowed(r, risk, s.cover));
    if (risk != AD_EMPTY || p->risk == AD_EMPTY) s.cover = NULL; // else others of p's operands may be more delicate
    return s;
}

static void elementwise(Reverse *r, const AdNode *p, Share adj) {
    Ir *m = r->m;
    for (int k = 0; k < p->e->nargs; k++) {
        AdNode *e = active_operand(r, p, k);
        AdFactor d = e ? ad_factor(m, p->e, k) : (AdFactor){NULL, NULL};
        if (!d.value) continue;
        const AdNode *factor = ad_graph_find(&r->g, d.value);
        AdRisk risk = d.value->op == OP_lit || p->risk == AD_SAFE ? AD_SAFE : factor ? factor->risk : p->risk;
        if (d.guard) risk = ad_either(risk, ad_risk_of_reading(r->g.states, d.guard));
        Share s = risk == AD_SAFE ? adj : covered(r, p, risk, adj);
        s.guard = guard_and(&r->guards, s.guard, d.guard);
        s.value = ad_times(m, s.value, d.value);
        contribute(r, p, e, s);
    }
}

// Passes the adjoint to operand k, where cond (if not NULL) holds.
static void pass(Reverse *r, const AdNode *p, int k, Node *cond, Share adj) {
    AdNode *e = active_operand(r, p, k);
    if (!e) return;
    AdRisk risk = cond ? ad_risk_of_reading(r->g.states, cond) : AD_SAFE;
    if (risk != AD_SAFE) adj = covered(r, p, risk, adj);
    adj.guard = guard_and(&r->guards, adj.guard, cond);
    contribute(r, p, e, adj);
}

static void read(Reverse *r, const AdNode *p, Share adj) {
    AdNode *a = active_operand(r, p, 0);
    if (!a) return;
    Var **k = array_vars(r, a);
    for (int d = 0; d < a->e->rank; d++) {
        Node *i = p->args[d + 1];
        AdRisk risk = ad_risk_of_reading(r->g.states, i);
        adj = risk == AD_SAFE ? adj : covered(r, p, risk, adj);
        adj.guard = guard_and(&r->guards, adj.guard, ir_eq(r->m, ir_var(k[d]), i));
    }
    contribute(r, p, a, adj);
}

static void generate(Reverse *r, const AdNode *p, Share adj) {
    AdNode *e = active_operand(r, p, 0);
    if (!e) return;
    Node *i = ir_var(p->var);
    adj.value = ir_at1(r->m, adj.value, i);
    adj.cover = adj.cover ? ir_at1(r->m, adj.cover, i) : NULL;
    contribute_whole(r, p, e, adj);
}

static void literal(Reverse *r, const AdNode *p, Share adj) {
    Ir *m = r->m;
    int rank = p->e->rank;
    Node **idx = ARENA_ARRAY(m->arena, Node *, rank);
    for (int t = 0; t < p->e->nargs; t++) {
        AdNode *e = active_operand(r, p, t);
        int64_t rest = t, extent = 1;
        for (int d = rank; d-- > 0; rest /= extent) {
            ir_is_int_lit(p->e->shape[d], &extent);
            idx[d] = ir_int(m, rest % extent);
        }
        if (e) {
            Share s = {NULL, adj.cover ? ir_at(m, adj.cover, rank, idx) : NULL, ir_at(m, adj.value, rank, idx)};
            contribute(r, p, e, s);
        }
    }
}

// Is any element of p, an array, needed? What is not exact may say so although none is, where finding out takes a loop.
static Node *any_element(Reverse *r, const AdNode *p, Node *cover, bool exact) {
    Var **k = array_vars(r, p);
    return guard_any(&r->guards, p->e->rank, k, at_vars(r->m, cover, p->e->rank, k), exact);
}

// Where the adjoint of a scalar is zero is said by its guard, so that no loop is reversed for it. So the reverse of the
// loop in (build n (fun j -> ifold ... j))[i] runs for j = i alone.
static Share apart(Reverse *r, Share s) {
    for (; s.value->op == OP_bracket; s.value = s.value->args[1])
        s.guard = guard_and(&r->guards, s.guard, s.value->args[0]);
    return s;
}

// The adjoint of p, result k of n, waits for those of the others. That of an array has both: a guard, whether any
// element is needed, and a cover, which ones.
static void keep(Reverse *r, const AdNode *of, int n, int k, const AdNode *p, bool exact, Share adj) {
    Share **results = &r->results[of->order];
    if (!*results) *results = ARENA_ARRAY(r->m->arena, Share, n);
    if (p->e->rank == 0) adj = apart(r, adj);
    else if (adj.cover)
        adj.guard = guard_and(&r->guards, NULL, allowed(r, of->risk, any_element(r, p, adj.cover, exact)));
    (*results)[k] = adj;
}

// A result of a custom or loop. A fold evaluates nothing for elements that are not needed, so the guard of its result
// need not be exact.
static void keep_result(Reverse *r, const AdNode *p, Share adj) {
    const AdNode *of = ad_graph_find(&r->g, p->args[0]);
    const Loop *l = of->loop;
    bool exact = of->e->op != OP_fold || l->index->extent->partial;
    keep(r, of, l->ny + l->n + l->nout, (int)p->e->u.num + (p->e->op == OP_trace ? l->n : 0), p, exact, adj);
}

// Where any of the results is needed. With one result its own guard stays as it is; else a condition is made of them.
// needed says where each is, under the guard that is returned.
static Guard *any_result(Reverse *r, const AdNode *p, int n, Share *results, Node **needed) {
    Share *only = NULL;
    Node *cond = NULL;
    bool always = false;
    int count = 0;
    for (int k = 0; k < n; k++) {
        if (results[k].value) {
            only = &results[k];
            count++;
        }
    }
    for (int k = 0; k < n; k++) {
        Share *s = &results[k];
        if (!s->value) continue;
        if (s->value->rank == 0) *s = covered(r, p, p->risk, *s);
        if (count == 1) {
            needed[k] = only->cover;
            return only->guard;
        }
        Node *c = guard_value(&r->guards, s->guard);
        always |= !c;
        needed[k] = s->value->rank == 0 ? c : s->cover;
        cond = cond && c ? ir_or(r->m, cond, c) : c;
        s->value = guard_bracket(&r->guards, s->guard, s->value);
    }
    return guard_and(&r->guards, NULL, always ? NULL : cond);
}

// Adds adj to e, which p uses; it was computed where guard holds, and matters where `needed` does.
static void contribute_result(Reverse *r, const AdNode *p, const AdNode *e, Guard *guard, Node *needed, Node *adj) {
    if (e->e->rank == 0) {
        contribute(r, p, e, (Share){guard, needed, adj});
        return;
    }
    Node *cover = e->risk == AD_SAFE ? NULL : guard_value(&r->guards, guard);
    Var **k = cover || needed ? array_vars(r, e) : NULL;
    if (e->risk != AD_SAFE && needed) cover = ad_and(r->m, cover, at_vars(r->m, needed, e->e->rank, k));
    cover = cover ? gen_over(r->m, e->e->rank, k, cover) : NULL;
    contribute_whole(r, p, e, (Share){NULL, cover, guard_bracket(&r->guards, guard, adj)});
}

// The adjoints of the results of a custom or loop, and where they are needed; NULL if they are zero.
static Node **taken_results(Reverse *r, const AdNode *p, int n, Guard **guard, Node **needed) {
    Share *results = r->results[p->order];
    if (!results || r->failed) return NULL;
    Node **in = ARENA_ARRAY(r->m->arena, Node *, n);
    *guard = any_result(r, p, n, results, needed);
    for (int k = 0; k < n; k++) in[k] = results[k].value;
    return in;
}

// The rule of a custom, or of the call of an extern, gives adjoints of the arguments, operands `first` to before `end`;
// it is evaluated only where the ny results are needed.
static void apply_rule(Reverse *r, const AdNode *p, int ny, int first, int end) {
    Guard *guard;
    Node **needed = ARENA_ARRAY(r->m->arena, Node *, ny + 1);
    Node **in = taken_results(r, p, ny, &guard, needed), **out = ARENA_ARRAY(r->m->arena, Node *, end + 1);
    if (in && !ad_custom_adjoints(r->m, p, in, out, r->error)) r->failed = true;
    for (int k = first, n = 0; in && !r->failed && k < end; k++) {
        AdNode *e = active_operand(r, p, k);
        Node *d = kind_is_float(p->args[k]->kind) ? out[n++] : NULL;
        if (e) contribute_result(r, p, e, guard, NULL, d);
    }
}

static void custom(Reverse *r, const AdNode *p) { apply_rule(r, p, p->loop->ny, 0, p->loop->nx); }

// The results of a call come one after the other, that which stands for the call last.
static void external(Reverse *r, const AdNode *p) {
    const Extern *x = p->e->u.ext;
    const AdNode *call = ad_graph_call(&r->g, p);
    int ny = ad_extern_floats(x, x->nresults);
    Share adj = adjoint(r, p);
    if (adj.value) keep(r, call, ny, ad_extern_floats(x, p->e->result), p, true, adj);
    if (p == call) apply_rule(r, p, ny, ir_extern_first(p->e), ir_extern_end(p->e));
}

static void loop(Reverse *r, const AdNode *p) {
    Guard *guard;
    int n = p->loop->n + p->loop->nout;
    AdReversal back = {.loop = p, .result_needed = ARENA_ARRAY(r->m->arena, Node *, n)};
    back.result_adj = taken_results(r, p, n, &guard, back.result_needed);
    if (!back.result_adj) return;
    ad_captures(&r->g, &back);
    if (!ad_reverse_loop(&r->g, &back, r->error)) {
        r->failed = true;
        return;
    }
    for (int k = 0; k < p->loop->n; k++) {
        AdNode *e = active_operand(r, p, k);
        if (e && back.init_adj[k]) contribute_result(r, p, e, guard, back.init_needed[k], back.init_adj[k]);
    }
    for (int i = 0; i < back.n; i++) {
        if (back.capture_adj[i]) {
            const AdNode *e = ad_graph_find(&r->g, back.capture[i]);
            contribute_result(r, p, e, guard, back.capture_needed[i], back.capture_adj[i]);
        }
    }
}

static void propagate(Reverse *r, const AdNode *p, Share adj) {
    switch (p->e->op) {
    case OP_conv: {
        AdNode *e = active_operand(r, p, 0);
        adj.value = ir_conv(r->m, e->e->kind, adj.value);
        contribute(r, p, e, adj);
        break;
    }
    case OP_select:
        pass(r, p, 1, p->args[0], adj);
        pass(r, p, 2, ir_not(r->m, p->args[0]), adj);
        break;
    case OP_bracket: pass(r, p, 1, p->args[0], adj); break;
    case OP_assert: pass(r, p, 1, NULL, adj); break;
    case OP_sum: pass(r, p, 0, NULL, adj); break;
    case OP_at: read(r, p, adj); break;
    case OP_gen: generate(r, p, adj); break;
    case OP_pack: literal(r, p, adj); break;
    case OP_final:
    case OP_trace:
    case OP_result: keep_result(r, p, adj); break;
    default:
        if (op_is_elementwise(p->e->op)) elementwise(r, p, adj);
    }
}

// ---- the whole
static void seed(Reverse *r, const AdBody *b) {
    for (int i = 0; i < b->ny; i++) {
        Node *y = b->y[i], *adj = b->y_adj[i];
        const AdNode *a = ad_graph_find(&r->g, y);
        if (!a || !a->active || !adj || !kind_is_float(y->kind)) continue;
        if (y->rank > 0) vec_push(&r->slot[a->order].whole, ((Share){NULL, b->y_needed[i], adj}));
        else if (!ir_is_zero(adj))
            vec_push(&r->slot[a->order].shares,
                     ((Share){guard_and(&r->guards, NULL, allowed(r, a->risk, b->y_needed[i])), NULL, adj}));
    }
}

static void run(Reverse *r, const AdBody *b) {
    Span span = r->m->span;
    Share adj;
    seed(r, b);
    for (int i = r->g.n; i-- > 0;) {
        const AdNode *a = r->g.order[i];
        if (a->active && !a->is_x) {
            r->m->span = a->e->span;
            if (a->e->op == OP_custom) custom(r, a);
            else if (a->e->op == OP_extern) external(r, a);
            else if (ir_is_loop(a->e)) loop(r, a);
            else if ((adj = adjoint(r, a)).value) propagate(r, a, adj);
        }
    }
    r->m->span = span;
}

static void finish(Reverse *r) {
    for (int i = 0; i < r->g.n; i++) {
        vec_free(&r->slot[i].shares);
        vec_free(&r->slot[i].whole);
    }
    map_free(&r->guards.by_cond);
    ad_graph_free(&r->g);
}

static void take_adjoint(Reverse *r, const AdBody *b, int j) {
    Share adj = kind_is_float(b->x[j]->kind) ? adjoint(r, ad_graph_find(&r->g, b->x[j])) : (Share){NULL, NULL, NULL};
    b->x_adj[j] = adj.value ? guard_bracket(&r->guards, adj.guard, adj.value) : NULL;
    b->x_needed[j] = NULL;
    if (!adj.value || b->risk[j] == AD_SAFE) return;
    b->x_needed[j] = adj.guard ? guard_value(&r->guards, guard_and(&r->guards, adj.guard, adj.cover)) : adj.cover;
}

bool ad_reverse_body(Ir *m, const AdBody *b, AdError *error) {
    Reverse r = {.m = m, .guards = {.m = m, .states = b->states}, .error = error};
    const VarSet *outer = varset_empty;
    for (int i = 0; i < b->ny; i++) {
        outer = varset_union(m, outer, b->y[i]->fv);
        outer = b->y_adj[i] ? varset_union(m, outer, b->y_adj[i]->fv) : outer;
        outer = b->y_needed[i] ? varset_union(m, outer, b->y_needed[i]->fv) : outer;
    }
    for (int j = 0; j < b->nx; j++) outer = varset_union(m, outer, b->x[j]->fv);
    ad_graph_build(&r.g, m, b->ny, b->y, b->nx, b->x, outer);
    r.slot = ARENA_ARRAY(m->arena, Slot, r.g.n + 1);
    r.results = ARENA_ARRAY(m->arena, Share *, r.g.n + 1);
    r.g.filled = b->filled;
    r.g.states = b->states;
    ad_graph_risks(&r.g, b->given, b->nx, b->x, b->risk);
    if (r.g.error.text) {
        *error = r.g.error;
        r.failed = true;
    } else {
        run(&r, b);
    }
    for (int j = 0; !r.failed && j < b->nx; j++) take_adjoint(&r, b, j);
    finish(&r);
    return !r.failed;
}

bool ad_reverse(Ir *m, int ny, Node *const *y, Node *const *y_adj, int nx, Node *const *x, Node **x_adj, AdError *error) {
    Node **planned = ad_elevate(m, ny, y);
    // The traces in a derivative: the adjoint of a whole one would be as large.
    pass_plan_traces(m, ny, planned);
    AdBody b = {.ny = ny, .nx = nx, .y = planned, .y_adj = (Node **)y_adj, .x = (Node **)x, .x_adj = x_adj};
    b.filled = ad_filled(m, ny, planned);
    b.y_needed = ARENA_ARRAY(m->arena, Node *, ny + 1), b.x_needed = ARENA_ARRAY(m->arena, Node *, nx + 1);
    b.risk = ARENA_ARRAY(m->arena, AdRisk, nx + 1);
    if (!ad_reverse_body(m, &b, error)) return false;
    for (int j = 0; j < nx; j++) x_adj[j] = x_adj[j] ? x_adj[j] : ir_zeros_like(m, x[j]);
    return true;
}
