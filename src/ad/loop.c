// The reverse of a loop ([NP] section 4, [DU] section 3) is a loop that runs backwards over the trace of the states. Its
// states are the adjoints of the loop's states, and of the captures: what the body uses of the surroundings. An output's
// adjoint joins in at its iteration. Evaluation is by need, so for what may fail it also keeps whether it was needed.
#include "ad/graph.h"

#include "support/vec.h"

#include <string.h>

typedef struct Reversal {
    Ir *m;
    const AdGraph *g;
    AdReversal *io;
    const Loop *l;
    Node **args;          // of the loop
    int steps;            // where its steps begin
    Node *n, *at;         // how many iterations there are, and the one whose reverse is being built
    Var *j;               // the index of the reverse
    bool *useful;         // states whose adjoints matter
    AdRisk *risk;         // of computing the states
    const AdGiven *given; // in the body
    AdNeed *need;         // of the states
    AdBody body;          // y: steps of useful states, and outputs; x: those states, and captures
    VEC(Var *) state;     // of the reverse
    VEC(Node *) init;
    VEC(Node *) step;
    VEC(Node *) out;
} Reversal;

// A sum over the iterations of the reverse.
typedef struct Added {
    int state;          // of the reverse; -1: none
    AdPiece *piece;     // of what is no state
    int npieces, first; // their outputs
} Added;

// ---- captures
typedef struct Capture {
    const AdGraph *g;
    const Node *loop;
    Map seen;
    VEC(Node *) found;
} Capture;

static bool is_outside(const Node *e, const Node *loop) {
    for (int i = 0; i < e->fv->n; i++)
        if (!node_has_var(loop, e->fv->v[i])) return false;
    return true;
}

// The largest active values in e that mention nothing that the loop binds.
static void capture(Capture *c, Node *e) {
    const AdNode *a = ad_graph_find(c->g, e);
    if (!a || !a->active || map_get(&c->seen, e)) return;
    map_put(&c->seen, e, e);
    if (is_outside(e, c->loop) && kind_is_float(e->kind)) {
        vec_push(&c->found, e);
        return;
    }
    for (int k = 0; !a->is_x && k < a->e->nargs; k++) capture(c, a->args[k]);
}

void ad_captures(const AdGraph *g, AdReversal *io) {
    const AdNode *a = io->loop;
    Capture c = {.g = g, .loop = a->e};
    for (int k = loop_steps(a->e); k < a->e->nargs; k++) capture(&c, a->args[k]);
    io->n = c.found.len;
    io->capture = c.found.len ? arena_copy(g->m->arena, c.found.data, sizeof(Node *) * (size_t)c.found.len) : NULL;
    vec_free(&c.found);
    map_free(&c.seen);
}

// ---- what the body is differentiated by
static bool is_active(const Reversal *r, const Node *e) {
    const AdNode *a = ad_graph_find(r->g, e);
    return a && a->active && kind_is_float(e->kind);
}

static void mark_useful(Reversal *r, const Node *e) {
    for (int k = 0; k < r->l->n; k++) {
        Node *s = ir_var(r->l->state[k]);
        if (!r->useful[k] && node_has_var(e, s->u.var) && is_active(r, s)) {
            r->useful[k] = true;
            mark_useful(r, r->args[r->steps + k]);
        }
    }
}

static void find_useful(Reversal *r) {
    r->useful = ARENA_ARRAY(r->m->arena, bool, r->l->n);
    for (int k = 0; k < r->l->n + r->l->nout; k++) {
        if (!r->io->result_adj[k]) continue;
        if (k >= r->l->n) {
            mark_useful(r, r->args[r->steps + k]);
        } else if (!r->useful[k] && is_active(r, ir_var(r->l->state[k]))) {
            r->useful[k] = true;
            mark_useful(r, r->args[r->steps + k]);
        }
    }
}

static AdRisk risk_of(const Reversal *r, const Node *e) {
    const AdNode *a = ad_graph_find(r->g, e);
    return a ? a->risk : AD_SAFE;
}

// A state is as risky as what it is computed from, other states included.
static void find_risks(Reversal *r) {
    int n = r->l->n;
    AdRisk *init = ARENA_ARRAY(r->m->arena, AdRisk, n);
    r->risk = ARENA_ARRAY(r->m->arena, AdRisk, n);
    ad_risks_given(r->g, r->given, n, r->args, init);
    ad_risks_given(r->g, r->given, n, r->args + r->steps, r->risk);
    for (int k = 0; k < n; k++) r->risk[k] = ad_either(init[k], r->risk[k]);
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = 0; k < n; k++) {
            for (int j = 0; j < n; j++) {
                AdRisk both = ad_either(r->risk[k], r->risk[j]);
                if (both != r->risk[k] && node_has_var(r->args[r->steps + k], r->l->state[j])) {
                    r->risk[k] = both;
                    changed = true;
                }
            }
        }
    }
}

// The loop's states that are risky, and those around.
static const AdStates *risky_states(const Reversal *r) {
    AdStates *s = ARENA_NEW(r->m->arena, AdStates);
    *s = (AdStates){.up = r->g->states};
    s->state = ARENA_ARRAY(r->m->arena, const Var *, r->l->n), s->risk = ARENA_ARRAY(r->m->arena, AdRisk, r->l->n);
    for (int k = 0; k < r->l->n; k++)
        if (r->risk[k] != AD_SAFE) s->state[s->n] = r->l->state[k], s->risk[s->n++] = r->risk[k];
    return s->n ? s : s->up;
}

static int add_state(Reversal *r, const char *name, Kind kind, int rank, Node **shape, Node *init) {
    vec_push(&r->state, ir_state(r->m, name, kind, rank, shape));
    vec_push(&r->init, init);
    vec_push(&r->step, NULL);
    return r->state.len - 1;
}

static void add_y(AdBody *b, Node *y, Node *adj, Node *needed) {
    b->y[b->ny] = y, b->y_adj[b->ny] = adj, b->y_needed[b->ny++] = needed;
}

// Where the adjoint of state k after the loop, if there is one, matters.
static Node *needed_at_first(const Reversal *r, int k) {
    Node *needed = r->io->result_needed[k];
    if (r->io->result_adj[k] && needed) return needed;
    return ad_need_all(r->m, ir_var(r->l->state[k]), ir_bool(r->m, r->io->result_adj[k] != NULL));
}

// The states of the reverse for those of the loop: their adjoints, in order.
static void open_states(Reversal *r) {
    Ir *m = r->m;
    AdBody *b = &r->body;
    for (int k = 0; k < r->l->n; k++) {
        Node *s = ir_var(r->l->state[k]), *adj = r->io->result_adj[k];
        if (!r->useful[k]) continue;
        const char *name = arena_printf(m->arena, "%s_adj", s->u.var->name ? s->u.var->name : "s");
        int new = add_state(r, name, s->kind, s->rank, s->u.var->shape, adj ? adj : ir_zeros_like(m, s));
        AdNeed *need = &r->need[k];
        b->risk[b->nx] = r->risk[k];
        b->x[b->nx++] = s;
        if (r->risk[k] != AD_SAFE) ad_need_open(m, need, s->u.var, needed_at_first(r, k));
        add_y(b, r->args[r->steps + k], ir_var(r->state.data[new]), need->mark);
    }
}

static void open_body(Reversal *r) {
    AdBody *b = &r->body;
    Arena *arena = r->m->arena;
    int ny = r->l->n + r->l->nout, nx = r->l->n + r->io->n;
    *b = (AdBody){.given = r->given, .states = risky_states(r), .filled = r->g->filled};
    r->state.len = r->init.len = r->step.len = 0;
    b->y = ARENA_ARRAY(arena, Node *, ny), b->y_adj = ARENA_ARRAY(arena, Node *, ny);
    b->y_needed = ARENA_ARRAY(arena, Node *, ny);
    b->x = ARENA_ARRAY(arena, Node *, nx), b->risk = ARENA_ARRAY(arena, AdRisk, nx);
    b->x_adj = ARENA_ARRAY(arena, Node *, nx), b->x_needed = ARENA_ARRAY(arena, Node *, nx);
    open_states(r);
    for (int q = 0; q < r->l->nout; q++) {
        Node *adj = r->io->result_adj[r->l->n + q], *needed = r->io->result_needed[r->l->n + q];
        if (adj) {
            needed = needed ? ir_at1(r->m, needed, r->at) : NULL;
            add_y(b, r->args[r->steps + r->l->n + q], ir_at1(r->m, adj, r->at), needed);
        }
    }
    ad_risks_given(r->g, r->given, r->io->n, r->io->capture, b->risk + b->nx);
    for (int i = 0; i < r->io->n; i++) b->x[b->nx++] = r->io->capture[i];
}

// ---- what a step of the reverse does
// Sets the steps of the needs. False if some are of another kind than was guessed, and the body must be reversed again.
static bool step_needs(Reversal *r) {
    const AdBody *b = &r->body;
    bool ok = true;
    for (int k = 0, j = 0; k < r->l->n; k++) {
        if (r->useful[k]) {
            Node *no = b->x_adj[j] ? NULL : ad_need_all(r->m, b->x[j], ir_bool(r->m, false));
            bool safe = r->need[k].how == NEED_SAFE;
            ok &= safe || ad_need_step(r->m, &r->need[k], r->l->state[k], no ? no : b->x_needed[j]);
            j++;
        }
    }
    return ok;
}

static bool reverse_body(Reversal *r, AdError *error) {
    r->need = ARENA_ARRAY(r->m->arena, AdNeed, r->l->n);
    for (int tries = 0;; tries++) {
        open_body(r);
        if (!ad_reverse_body(r->m, &r->body, error)) return false;
        if (step_needs(r)) return true;
        for (int k = 0; tries > 0 && k < r->l->n; k++) { // no more guesses
            AdNeed *d = &r->need[k];
            d->how = d->how == NEED_SAFE ? NEED_SAFE : r->l->state[k]->rank ? NEED_COUNT : NEED_ALIKE;
        }
    }
}

static void step_states(Reversal *r) {
    const AdBody *b = &r->body;
    for (int j = 0; j < b->nx - r->io->n; j++) r->step.data[j] = b->x_adj[j] ? b->x_adj[j] : ir_zeros_like(r->m, b->x[j]);
    for (int k = 0; k < r->l->n; k++) {
        AdNeed *d = &r->need[k];
        if (d->how == NEED_ALIKE || d->how == NEED_COUNT) {
            d->at = r->state.len;
            vec_push(&r->state, d->state);
            vec_push(&r->init, d->init);
            vec_push(&r->step, d->step);
        }
    }
}

// The sum of e, an array or number, over all iterations.
static Added add_up(Reversal *r, const char *name, Node *e, Node *zero) {
    Ir *m = r->m;
    Added s = {.state = -1, .first = r->out.len};
    Node *rest = e;
    if (e->rank && r->l->index) {
        AdAdded in = {r->l->index, ir_trips(m, r->n), r->io->loop->e->fv};
        s.piece = ARENA_ARRAY(m->arena, AdPiece, AD_PIECES);
        rest = ad_pieces(m, &in, e, s.piece, &s.npieces);
        for (int i = 0; i < s.npieces; i++) vec_push(&r->out, s.piece[i].output);
    }
    if (rest) {
        s.state = add_state(r, name, e->kind, e->rank, zero->shape, zero);
        r->step.data[s.state] = ir_plus(m, ir_var(r->state.data[s.state]), rest);
    }
    return s;
}

static Node *added(const Reversal *r, const Added *s, Node *back) {
    Ir *m = r->m;
    Node *total = s->state < 0 ? NULL : ir_final(m, back, s->state);
    for (int i = 0; i < s->npieces; i++) {
        Node *e = ir_subst1(m, s->piece[i].array, s->piece[i].trace, ir_trace(m, back, s->first + i));
        total = total ? ir_plus(m, total, e) : e;
    }
    return total;
}

// What there is of a capture in the reverse.
typedef struct CaptureSums {
    bool some, same, counts; // is there an adjoint; is it kept where it was needed: for all elements alike, or for each
    Added adj, needed;
} CaptureSums;

static CaptureSums step_capture(Reversal *r, int i) {
    Ir *m = r->m;
    const AdBody *b = &r->body;
    int x = b->nx - r->io->n + i;
    Node *e = b->x[x], *adj = b->x_adj[x], *needed = b->x_needed[x];
    CaptureSums s = {.some = adj != NULL};
    if (!adj) return s;
    s.adj = add_up(r, "adj", adj, ir_zeros_like(m, e));
    if (!needed) return s;
    Node *same = ad_need_same(m, needed);
    if (same) {
        s.same = true;
        s.needed.state = add_state(r, "needed", KIND_BOOL, 0, NULL, ir_bool(m, false));
        r->step.data[s.needed.state] = ir_or(m, ir_var(r->state.data[s.needed.state]), same);
        return s;
    }
    s.counts = true;
    s.needed = add_up(r, "needed", ad_need_counts(m, needed), ad_need_all(m, e, ir_int(m, 0)));
    return s;
}

// ---- the primal's values in the reverse
static Node **body(Reversal *r, int i) { return i < r->step.len ? &r->step.data[i] : &r->out.data[i - r->step.len]; }

// The loop with an output for each of its states that the bodies mention, and what stands for the loop's variables.
static void put_primal(Reversal *r) {
    Ir *m = r->m;
    int n = r->l->n, count = 0, nout = r->l->nout, nbodies = r->step.len + r->out.len;
    Node **from = ARENA_ARRAY(m->arena, Node *, n + 1), **to = ARENA_ARRAY(m->arena, Node *, n + 1);
    Node **out = ARENA_ARRAY(m->arena, Node *, n + nout + 1);
    if (nout) memcpy(out, r->args + r->steps + n, sizeof(Node *) * (size_t)nout);
    Loop traced = *r->l;
    for (int k = 0; k < n; k++) {
        bool mentioned = false;
        for (int i = 0; i < nbodies; i++) mentioned |= node_has_var(*body(r, i), r->l->state[k]);
        if (mentioned) from[count++] = out[traced.nout++] = ir_var(r->l->state[k]);
    }
    Node *loop = traced.index ? ir_fold_out(m, &traced, r->args, r->args + r->steps, out)
                              : ir_while_out(m, &traced, r->args, r->args[n], r->args + r->steps, out);
    for (int i = 0; i < count; i++) to[i] = ir_at1(m, ir_trace(m, loop, nout + i), r->at);
    if (r->l->index) from[count] = ir_var(r->l->index), to[count++] = r->at;
    for (int i = 0; i < nbodies; i++) *body(r, i) = ir_subst(m, *body(r, i), count, from, to);
}

// ---- results
static void results(Reversal *r, const CaptureSums *captures) {
    Ir *m = r->m;
    AdReversal *io = r->io;
    Loop l = {.index = r->j,
              .n = r->state.len,
              .state = r->state.data,
              .nout = r->out.len,
              .levels = r->l->levels,
              .limit = r->l->limit,
              .block = r->l->block};
    Node *back = ir_fold_out(m, &l, r->init.data, r->step.data, r->out.data);
    for (int k = 0, j = 0; k < r->l->n; k++) {
        if (r->useful[k]) {
            const AdNeed *d = &r->need[k];
            bool kept = d->how == NEED_ALIKE || d->how == NEED_COUNT;
            io->init_adj[k] = ir_final(m, back, j++);
            io->init_needed[k] = kept ? ad_need_final(m, d, r->l->state[k], ir_final(m, back, d->at)) : NULL;
        }
    }
    Node *some = ir_lt(m, ir_int(m, 0), r->n);
    for (int i = 0; i < io->n; i++) {
        const CaptureSums *s = &captures[i];
        io->capture_adj[i] = s->some ? added(r, &s->adj, back) : NULL;
        if (s->same) io->capture_needed[i] = ad_need_all(m, io->capture[i], ir_final(m, back, s->needed.state));
        else if (s->counts) io->capture_needed[i] = ad_need_counted(m, added(r, &s->needed, back));
        else if (s->some && risk_of(r, io->capture[i]) != AD_SAFE && !(some->op == OP_lit && some->u.num))
            io->capture_needed[i] = ad_need_all(m, io->capture[i], some);
    }
}

bool ad_reverse_loop(const AdGraph *g, AdReversal *io, AdError *error) {
    Ir *m = g->m;
    const AdNode *a = io->loop;
    Reversal r = {.m = m, .g = g, .io = io, .l = a->loop, .args = a->args, .steps = loop_steps(a->e)};
    io->init_adj = ARENA_ARRAY(m->arena, Node *, r.l->n);
    io->init_needed = ARENA_ARRAY(m->arena, Node *, r.l->n);
    io->capture_adj = ARENA_ARRAY(m->arena, Node *, io->n + 1);
    io->capture_needed = ARENA_ARRAY(m->arena, Node *, io->n + 1);
    if (a->e->op == OP_fold) r.n = r.l->index->extent;
    else r.n = ir_count(m, ir_while(m, r.l->n, r.l->state, r.args, r.args[r.l->n], r.args + r.steps));
    r.j = ir_index(m, "t", r.n);
    if (r.l->index) r.j->wishes = r.l->index->wishes;
    r.given = g->given;
    if (r.n->partial) {
        AdGiven *more = ARENA_NEW(m->arena, AdGiven);
        *more = (AdGiven){r.n, g->given};
        r.given = more;
    }
    r.at = ir_sub(m, ir_sub(m, r.n, ir_int(m, 1)), ir_var(r.j));
    find_useful(&r);
    find_risks(&r);
    bool ok = reverse_body(&r, error);
    if (ok) {
        step_states(&r);
        CaptureSums *captures = ARENA_ARRAY(m->arena, CaptureSums, io->n + 1);
        for (int i = 0; i < io->n; i++) captures[i] = step_capture(&r, i);
        put_primal(&r);
        results(&r, captures);
    }
    vec_free(&r.state);
    vec_free(&r.init);
    vec_free(&r.step);
    vec_free(&r.out);
    return ok;
}
