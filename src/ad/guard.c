#include "ad/guard.h"

#include "support/vec.h"

Guard *guard_and(Guards *gs, Guard *g, Node *cond) {
    if (!cond || (cond->op == OP_lit && cond->u.num) || (g && g->cond == cond)) return g;
    Guard *first = map_get(&gs->by_cond, cond);
    for (Guard *h = first; h; h = h->next)
        if (h->up == g) return h;
    Guard *h = ARENA_NEW(gs->m->arena, Guard);
    *h = (Guard){.up = g, .cond = cond, .depth = g ? g->depth + 1 : 1, .next = first};
    map_put(&gs->by_cond, cond, h);
    return h;
}

Node *guard_bracket(Guards *gs, const Guard *g, Node *e) {
    for (; g; g = g->up) e = ir_bracket(gs->m, g->cond, e);
    return e;
}

Node *guard_value(Guards *gs, const Guard *g) {
    Node *p = NULL;
    for (; g; g = g->up) p = ad_and(gs->m, g->cond, p);
    return p;
}

// ---- adding shares
// Guards that begin alike form a tree. Shares are added from its leaves towards the root, one bracket for each edge,
// until they have met: nested conditions stay nested, and the sum is no larger than the tree.
typedef VEC(Share) Shares;

static int guard_depth(const Guard *g) { return g ? g->depth : 0; }

static int deepest_first(const void *a, const void *b) {
    const Share *s = *(Share *const *)a, *t = *(Share *const *)b;
    int ds = guard_depth(s->guard), dt = guard_depth(t->guard);
    return ds != dt ? dt - ds : s < t ? -1 : s > t;
}

static void add_into(Ir *m, Share *s, Node *value, Node *cover) {
    if (s->value) {
        s->value = ir_add(m, s->value, value);
        s->cover = s->cover && cover ? ir_or(m, s->cover, cover) : NULL;
    } else {
        s->value = value;
        s->cover = cover;
    }
}

// The share at guard g of a level of the tree; its value is NULL if it is new.
static Share *share_at(Shares *level, Map *index, Guard *g) {
    static const Guard root; // stands for the guard that is true
    const Guard *key = g ? g : &root;
    size_t at = (size_t)(uintptr_t)map_get(index, key);
    if (at == 0) {
        vec_push(level, ((Share){.guard = g}));
        at = (size_t)level->len;
        map_put(index, key, (void *)(uintptr_t)at);
    }
    return &level->data[at - 1];
}

// Adds s to `to`, the guard above its own; `other`, if not NULL, is the share where s's last condition does not hold.
static void lift(Ir *m, Share *to, const Share *s, const Share *other, AdRisk risk) {
    Node *c = s->guard->cond, *value, *cover = NULL, *yes = ir_bool(m, true);
    if (other) {
        if (c->op == OP_not) {
            const Share *t = s;
            s = other, other = t;
            c = c->args[0];
        }
        value = ir_select(m, c, s->value, other->value);
        if (s->cover || other->cover) cover = ir_select(m, c, s->cover ? s->cover : yes, other->cover ? other->cover : yes);
    } else {
        value = ir_bracket(m, c, s->value);
        cover = ad_and(m, c, s->cover);
    }
    add_into(m, to, value, risk == AD_SAFE ? NULL : cover);
}

// The share of the same level under the opposite of s's last condition.
static Share *opposite(Guards *gs, Shares *level, Map *index, const Share *s) {
    Node *cond = s->guard->cond, *not_cond = cond->op == OP_not ? cond->args[0] : ir_not(gs->m, cond);
    Guard *h = map_get(&gs->by_cond, not_cond);
    while (h && h->up != s->guard->up) h = h->next;
    size_t at = h ? (size_t)(uintptr_t)map_get(index, h) : 0;
    return at && level->data[at - 1].value ? &level->data[at - 1] : NULL;
}

static void lift_level(Guards *gs, Shares *level, Map *index, Shares *above, Map *above_index, AdRisk risk) {
    for (int i = 0; i < level->len; i++) {
        Share *s = &level->data[i];
        if (!s->value) // it went with its opposite
            continue;
        Share *other = level->len > 1 ? opposite(gs, level, index, s) : NULL;
        lift(gs->m, share_at(above, above_index, s->guard->up), s, other, risk);
        s->value = NULL; // a condition need not be the opposite of its opposite: it must not go a second time
        if (other) other->value = NULL;
    }
}

Share guard_add(Guards *gs, int n, const Share *shares, AdRisk risk) {
    if (n == 1) return shares[0];
    const Share **order = ARENA_ARRAY(gs->m->arena, const Share *, n);
    for (int i = 0; i < n; i++) order[i] = &shares[i];
    qsort(order, (size_t)n, sizeof *order, deepest_first);
    Shares level = {0}, above = {0};
    Map index = {0}, above_index = {0};
    int next = 0;
    for (int depth = guard_depth(order[0]->guard);; depth--) {
        for (; next < n && guard_depth(order[next]->guard) == depth; next++) {
            const Share *s = order[next];
            add_into(gs->m, share_at(&level, &index, s->guard), s->value, s->cover);
        }
        if (next == n && level.len == 1) break;
        lift_level(gs, &level, &index, &above, &above_index, risk);
        vec_free(&level);
        map_free(&index);
        level = above, index = above_index;
        above = (Shares){0}, above_index = (Map){0};
    }
    Share total = level.data[0];
    vec_free(&level);
    map_free(&index);
    return total;
}

// ---- lists of conditions, to be tested from the first on
enum { MAX_FACTS = 16 };

typedef VEC(Node *) Conds;

static void add_conds(Conds *c, const Guard *g) {
    for (const Guard *h = g; h; h = h->up) vec_push(c, h->cond);
    for (int i = 0, j = c->len - 1; i < j; i++, j--) {
        Node *t = c->data[i];
        c->data[i] = c->data[j], c->data[j] = t;
    }
}

static void add_cover(Conds *c, Node *cover) {
    Node *part[64];
    int n = 0;
    if (!cover) return;
    if (!ir_conjuncts(cover, part, &n, 64)) part[0] = cover, n = 1;
    for (int i = 0; i < n; i++) vec_push(c, part[i]);
}

static bool may_fail(const Guards *gs, const Node *c) { return ad_risk_of_reading(gs->states, c) != AD_SAFE; }

// Splits off what must be tested for every v: what mentions v, and what may fail where that does not hold.
static void split(const Guards *gs, Conds *keep, Conds *inner, const Var *v) {
    int n = 0;
    inner->len = 0;
    for (int i = 0; i < keep->len; i++) {
        Node *c = keep->data[i];
        if (node_has_var(c, v) || (inner->len > 0 && may_fail(gs, c))) vec_push(inner, c);
        else keep->data[n++] = c;
    }
    keep->len = n;
}

// Does it follow from the ranges of e's index variables that n is not 0?
static bool says_some(Ir *m, const Node *e, Node *n) {
    Poly facts[MAX_FACTS], less = poly_add(m, poly_of(m, n), poly_of(m, ir_int(m, -1)));
    int count = ir_range_facts(m, e, facts, MAX_FACTS);
    return poly_nonneg_given(m, less, count, facts);
}

// A condition that may fail, kept outside of a sum over v, is tested only where the sum has terms.
static void keep_outside(const Guards *gs, Conds *keep, const Var *v) {
    Ir *m = gs->m;
    int first = 0;
    while (first < keep->len && !may_fail(gs, keep->data[first])) first++;
    Node *some = ir_lt(m, ir_int(m, 0), v->extent);
    if (first == keep->len || (some->op == OP_lit && some->u.num) || says_some(m, keep->data[first], v->extent)) return;
    vec_push(keep, some);
    for (int i = keep->len - 1; i > first; i--) keep->data[i] = keep->data[i - 1];
    keep->data[first] = some;
}

static Node *bracket_conds(Ir *m, const Conds *c, Node *e) {
    for (int i = c->len; i-- > 0;) e = ir_bracket(m, c->data[i], e);
    return e;
}

// ---- where some index needs the primal
// If cond is an equation that determines v: its solution.
static Node *solution(Ir *m, const Node *cond, const Var *v) {
    if (cond->op != OP_eq || cond->args[0]->kind != KIND_INT || cond->partial) return NULL;
    Poly d = poly_add(m, poly_of(m, cond->args[0]), poly_scale(m, poly_of(m, cond->args[1]), -1)), rest;
    int64_t c;
    if (!poly_linear(m, d, ir_var(v), &c, &rest) || (c != 1 && c != -1)) return NULL;
    return poly_node(m, poly_scale(m, rest, -c));
}

// Do the other conditions, those before what may fail for v = a, say that a is in the range of v? They do so where a is
// the index of an element, too.
static bool in_range(const Guards *gs, const Var *v, Node *a, const Conds *keep, const Conds *inner, int except) {
    Ir *m = gs->m;
    Poly facts[MAX_FACTS], p = poly_of(m, a);
    int count = 0;
    for (int i = 0; i < keep->len && count < MAX_FACTS; i++)
        count += poly_facts(m, keep->data[i], facts + count, MAX_FACTS - count);
    for (int i = 0; i < inner->len && count < MAX_FACTS; i++) {
        Node *c = i == except ? NULL : ir_subst1(m, inner->data[i], ir_var(v), a);
        if (c && node_has_var(inner->data[i], v) && may_fail(gs, c)) break;
        count += c ? poly_facts(m, c, facts + count, MAX_FACTS - count) : 0;
    }
    Poly most = poly_add(m, poly_add(m, poly_of(m, v->extent), poly_of(m, ir_int(m, -1))), poly_scale(m, p, -1));
    return poly_nonneg_given(m, p, count, facts) && poly_nonneg_given(m, most, count, facts);
}

// ∃ v: v = a and c  is  0 <= a < n and c[v := a].
static bool eliminate(const Guards *gs, const Var *v, Conds *keep, const Conds *inner) {
    Ir *m = gs->m;
    for (int i = 0; i < inner->len; i++) {
        Node *a = solution(m, inner->data[i], v);
        if (!a) continue;
        if (!ir_in_range(m, a, v->extent) && !in_range(gs, v, a, keep, inner, i)) {
            vec_push(keep, ir_le(m, ir_int(m, 0), a));
            vec_push(keep, ir_lt(m, a, v->extent));
        }
        for (int j = 0; j < inner->len; j++)
            if (j != i) vec_push(keep, ir_subst1(m, inner->data[j], ir_var(v), a));
        return true;
    }
    return false;
}

// The cover of a sum over vars of a share that is needed under the conditions of `keep`. What is not exact leaves out
// conditions that take a loop.
static Node *exists(const Guards *gs, int n, Var *const *vars, Conds *keep, AdRisk risk, bool exact) {
    Ir *m = gs->m;
    Conds inner = {0};
    for (int i = n; i-- > 0;) {
        Var *v = vars[i];
        split(gs, keep, &inner, v);
        keep_outside(gs, keep, v);
        if (inner.len > 0 && !eliminate(gs, v, keep, &inner)) {
            if (exact) {
                Node *count = ir_sum(m, v, bracket_conds(m, &inner, ir_int(m, 1)));
                vec_push(keep, ir_ne(m, count, ir_int(m, 0)));
            }
        } else if (inner.len == 0 && ad_raises(risk)) {
            vec_push(keep, ir_lt(m, ir_int(m, 0), v->extent));
        }
    }
    Node *p = NULL;
    for (int i = keep->len; i-- > 0;) p = ad_and(m, keep->data[i], p);
    vec_free(&inner);
    return p && p->op == OP_lit && p->u.num ? NULL : p;
}

Share guard_sum(Guards *gs, int n, Var *const *vars, Share s, AdRisk risk) {
    Ir *m = gs->m;
    Conds keep = {0}, inner = {0};
    add_conds(&keep, s.guard);
    Share total = {NULL, NULL, s.value};
    for (int i = n; i-- > 0;) {
        split(gs, &keep, &inner, vars[i]);
        keep_outside(gs, &keep, vars[i]);
        total.value = ir_sum(m, vars[i], bracket_conds(m, &inner, total.value));
    }
    for (int i = 0; i < keep.len; i++) total.guard = guard_and(gs, total.guard, keep.data[i]);
    if (risk != AD_SAFE) {
        keep.len = 0;
        add_conds(&keep, s.guard);
        add_cover(&keep, s.cover);
        total.cover = exists(gs, n, vars, &keep, risk, true);
    }
    vec_free(&keep);
    vec_free(&inner);
    return total;
}

typedef VEC(const Var *) Vars;

static bool mentions(const Node *e, const Vars *vars) {
    for (int i = 0; i < vars->len; i++)
        if (node_has_var(e, vars->data[i])) return true;
    return false;
}

// Conditions that hold where e does, mention none of these variables, and cannot fail.
static void add_implied(Ir *m, Conds *c, const Node *e, Vars *vars) {
    if (e->op == OP_and) {
        add_implied(m, c, e->args[0], vars);
        add_implied(m, c, e->args[1], vars);
    } else if (e->op == OP_or) {
        Conds p = {0}, q = {0};
        add_implied(m, &p, e->args[0], vars);
        add_implied(m, &q, e->args[1], vars);
        for (int i = 0; i < p.len && p.len * q.len <= MAX_FACTS; i++)
            for (int j = 0; j < q.len; j++) vec_push(c, ir_or(m, p.data[i], q.data[j]));
        vec_free(&p);
        vec_free(&q);
    } else if (e->op == OP_at && e->args[0]->op == OP_gen) {
        int n = vars->len;
        const Node *body = e->args[0];
        for (; body->op == OP_gen; body = body->args[0]) vec_push(vars, body->u.var);
        add_implied(m, c, body, vars);
        vars->len = n;
    } else if (!e->partial && !mentions(e, vars)) {
        vec_push(c, (Node *)e);
    }
}

// Where an extent may fail, what can be said without it is said before: there may be none where nothing is needed.
static void add_before_extents(Ir *m, Conds *c, int n, Var *const *vars, const Node *cover) {
    Vars all = {0};
    bool partial = false;
    for (int i = 0; i < n; i++) {
        vec_push(&all, vars[i]);
        partial |= vars[i]->extent->partial;
    }
    if (partial) add_implied(m, c, cover, &all);
    vec_free(&all);
}

Node *guard_any(Guards *gs, int n, Var *const *vars, Node *cover, bool exact) {
    if (cover->op == OP_or && !cover->partial) {
        Node *p = guard_any(gs, n, vars, cover->args[0], exact);
        Node *q = p ? guard_any(gs, n, vars, cover->args[1], exact) : NULL;
        return p && q ? ir_or(gs->m, p, q) : NULL;
    }
    Conds keep = {0};
    add_before_extents(gs->m, &keep, n, vars, cover);
    add_cover(&keep, cover);
    Node *p = exists(gs, n, vars, &keep, AD_RAISES, exact);
    vec_free(&keep);
    return p;
}
