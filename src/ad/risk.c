// How evaluating a value can go wrong where the program does not need it.
#include "ad/graph.h"

static bool is_zero_free(const Node *e) {
    Range r = ir_range(e);
    return r.low > 0 || r.high < 0;
}

static bool may_be_singular(const Node *e) {
    switch (e->op) {
    case OP_div: return !is_zero_free(e->args[1]);
    case OP_rem:
    case OP_sqrt:
    case OP_log: return ir_range(e->args[0]).low <= 0;
    case OP_cbrt:
    case OP_log1p:
    case OP_log2:
    case OP_log10:
    case OP_hypot:
    case OP_acosh:
    case OP_atanh:
    case OP_asin:
    case OP_acos:
    case OP_atan2:
    case OP_pow:
    case OP_powi:
    case OP_lgamma:
    case OP_digamma:
    case OP_polygamma:
    case OP_result:
    case OP_extern: return true;
    default: return false;
    }
}

// ---- what a part of the program may take for evaluated
// Is c evaluated whenever e is?
static bool demands(const Node *e, const Node *c) {
    if (e == c) return true;
    int n = e->op == OP_and || e->op == OP_or ? 1 : op_is_elementwise(e->op) ? e->nargs : 0;
    for (int i = 0; i < n; i++)
        if (demands(e->args[i], c)) return true;
    return false;
}

// Has the loop ended? All loops that make its steps do so with it.
static bool has_ended(Ir *m, const AdGiven *given, Node *loop) {
    Node *count = given ? ir_count(m, loop) : NULL;
    for (; given; given = given->up)
        if (demands(given->e, count)) return true;
    return false;
}

// ---- values
typedef struct Risks {
    const AdGraph *g;
    const AdGiven *given;
    Map risk; // Node -> AdRisk + 1
} Risks;

static AdRisk known(const Risks *r, const Node *e) { return (AdRisk)((uintptr_t)map_get(&r->risk, e) - 1); }

static bool is_counted(const Node *e) { return kind_is_float(e->kind) || ir_is_loop(e) || e->op == OP_custom; }

// That of an operand. Of an Int or Bool it does not matter whether it is singular.
static AdRisk of_operand(const Risks *r, const Node *o) {
    AdRisk risk = known(r, o);
    return is_counted(o) ? risk : (AdRisk)(risk & ~AD_SINGULAR);
}

static AdRisk of_failing(bool fails, bool at_0) { return !fails ? AD_SAFE : at_0 ? AD_EMPTY : AD_RAISES; }

AdRisk ad_risk_of_failing(const Node *e) { return of_failing(e->partial, e->partial_at_0); }

static AdRisk of_states(const AdStates *states, const Node *e) {
    AdRisk risk = AD_SAFE;
    for (const AdStates *s = states; s; s = s->up)
        for (int k = 0; k < s->n; k++) risk = node_has_var(e, s->state[k]) ? ad_either(risk, s->risk[k]) : risk;
    return risk;
}

AdRisk ad_risk_of_reading(const AdStates *states, const Node *e) {
    return ad_either(ad_risk_of_failing(e), (AdRisk)(of_states(states, e) & ~AD_SINGULAR));
}

static void find(Node *e, void *data) {
    Risks *r = data;
    const AdNode *a = ad_graph_find(r->g, e);
    AdRisk risk = may_be_singular(e) ? AD_SINGULAR : AD_SAFE;
    bool ended = e->op == OP_while && has_ended(r->g->m, r->given, e);
    risk = ad_either(risk, of_failing(e->fails && !ended, e->fails_at_0));
    if (e->op == OP_while && !ended) risk = ad_either(risk, AD_LONG);
    for (int k = 0; k < e->nargs; k++) {
        bool guarded = !e->partial && !is_counted(e->args[k]);
        risk = guarded ? risk : ad_either(risk, of_operand(r, e->args[k]));
    }
    const Node *extent = ir_is_binder(e) ? e->u.var->extent : e->op == OP_fold ? e->u.loop->index->extent : NULL;
    if (extent) risk = ad_either(risk, of_operand(r, extent));
    risk = a && a->is_x ? a->risk : ad_either(risk, of_states(r->g->states, e));
    map_put(&r->risk, e, (void *)(uintptr_t)(risk + 1));
}

static void walk(const AdGraph *g, const AdGiven *given, int n, Node *const *e, AdRisk *risk) {
    Risks r = {.g = g, .given = given};
    ir_walk(n, e, find, &r);
    for (int i = 0; i < n; i++) risk[i] = known(&r, e[i]);
    map_free(&r.risk);
}

void ad_risks_given(const AdGraph *g, const AdGiven *given, int n, Node *const *e, AdRisk *risk) {
    if (given != g->given) {
        walk(g, given, n, e, risk);
        return;
    }
    for (int i = 0; i < n; i++) {
        const AdNode *a = ad_graph_find(g, e[i]);
        risk[i] = a ? a->risk : ad_risk_of_reading(g->states, e[i]);
    }
}

static void set_risk(const AdGraph *g, AdNode *a) {
    a->risk = ad_either(ad_risk_of_failing(a->e), may_be_singular(a->e) ? AD_SINGULAR : AD_SAFE);
    if (a->e->unbounded) a->risk = ad_either(a->risk, AD_LONG);
    a->risk = ad_either(a->risk, of_states(g->states, a->e));
    Node *o;
    for (int k = 0; (o = ad_next_operand(a, &k));) {
        a->risk = ad_either(a->risk, ad_graph_find(g, o)->risk);
    }
}

void ad_graph_risks(AdGraph *g, const AdGiven *given, int nx, Node *const *x, const AdRisk *risk) {
    Node **e = ARENA_ARRAY(g->m->arena, Node *, g->n + 1);
    AdRisk *all = ARENA_ARRAY(g->m->arena, AdRisk, g->n + 1);
    g->given = given;
    for (int j = 0; j < nx; j++) ad_graph_find(g, x[j])->risk = risk[j];
    for (int i = 0; i < g->n; i++) {
        e[i] = g->order[i]->e;
        if (!given && !g->order[i]->is_x) // e->partial says it all
            set_risk(g, g->order[i]);
    }
    if (given) walk(g, given, g->n, e, all);
    for (int i = 0; given && i < g->n; i++) g->order[i]->risk = all[i];
}

// ---- sizes
typedef struct Filled {
    Ir *m;
    Node *all;
} Filled;

static void and_filled(Node *e, void *data) {
    Filled *f = data;
    bool size = e->op == OP_input && e->kind == KIND_INT && e->rank == 0 && e->nonneg;
    if (size) f->all = ir_and(f->m, f->all, ir_lt(f->m, ir_int(f->m, 0), e));
}

Node *ad_filled(Ir *m, int n, Node *const *e) {
    Filled f = {m, ir_bool(m, true)};
    ir_walk(n, e, and_filled, &f);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < e[i]->fv->n; k++) {
            const Var *v = e[i]->fv->v[k];
            ir_walk(v->extent ? 1 : 0, &v->extent, and_filled, &f);
            ir_walk(v->rank, v->shape, and_filled, &f);
        }
    }
    return f.all;
}
