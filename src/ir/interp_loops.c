// Loops in the reference interpreter: their states are computed eagerly, and failures in them kept until they are read.
#include "ir/interp_internal.h"

// ---- loops

Status eval_force(Interp *m, Frame *f) {
    Node *e = f->e;
    Array *a = f->array;
    if (f->phase == 0) {
        if (e->rank && !f->failed && need_array(m, e, &f->source) == WAIT) return WAIT;
        bool ok = !f->failed && (!e->rank || need_array(m, e, &f->source) == READY) &&
                  interp_array_reset(m, a, e->rank ? f->source->shape : NULL) == READY;
        if (!ok) {
            a->broken = interp_keep_failure(m);
            return READY;
        }
        f->phase = 1;
    }
    for (; f->i < a->count; f->i++) {
        Status st = FAIL;
        if (!f->failed) st = e->rank ? need_element(m, f->source, f->i, &a->data[f->i]) : need_scalar(m, e, &a->data[f->i]);
        if (st == WAIT) return WAIT;
        if (st == FAIL) a->mark[f->i] = interp_keep_failure(m);
        f->failed = false;
    }
    if (e->rank && f->source->form != A_TABLE) m->counts.loads += a->count, m->counts.stores += a->count;
    return READY;
}

void mark_state(const Node *loop, bool *needed, int k) {
    if (needed[k]) return;
    needed[k] = true;
    for (int j = 0; j < loop->u.loop->n; j++)
        if (node_has_var(loop_step(loop, k), loop->u.loop->state[j])) mark_state(loop, needed, j);
}

void mark_states(const Node *loop, bool *needed, const Node *e) {
    for (int k = 0; k < loop->u.loop->n; k++)
        if (node_has_var(e, loop->u.loop->state[k])) mark_state(loop, needed, k);
}

static void open_loop(Interp *m, Node *e, Slot *s) {
    int n = e->u.loop->n;
    if (!s->needed) s->needed = ARENA_ARRAY(m->arena, bool, n);
    if (e->op == OP_while) mark_states(e, s->needed, loop_cond(e));
    if (s->cur) return;
    s->cur = ARENA_ARRAY(m->arena, Array *, n), s->now = ARENA_ARRAY(m->arena, Array *, n);
    for (int k = 0; k < n; k++) {
        Node *init = loop_init(e, k);
        s->cur[k] = interp_array_new(m, A_FULL, init->kind, init->rank);
        s->now[k] = interp_array_new(m, A_FULL, init->kind, init->rank);
    }
}

// Forces the values of all needed states, initial ones or steps, into `to`; WAIT while there is one to do.
static Status force_states(Interp *m, Frame *f, Slot *s, bool init, Array **to) {
    Loop *l = f->e->u.loop;
    while (f->k < l->n && !s->needed[f->k]) f->k++;
    if (f->k == l->n) {
        f->k = 0;
        return READY;
    }
    int k = f->k++;
    Frame *g = interp_push(m, F_FORCE, init ? loop_init(f->e, k) : loop_step(f->e, k));
    g->array = to[k];
    return WAIT;
}

// The first dimension in which the shapes differ, or -1.
static int other_extent(const Array *a, const Array *b) {
    for (int d = 0; d < a->rank && !a->broken && !b->broken; d++)
        if (a->shape[d] != b->shape[d]) return d;
    return -1;
}

static void bind_states(Interp *m, Frame *f, Slot *s) {
    Loop *l = f->e->u.loop;
    void (*set)(Interp *, const Var *, int64_t, Array *) = f->i == 0 ? interp_bind : interp_set_var;
    for (int k = 0; k < l->n; k++)
        if (s->needed[k]) set(m, l->state[k], ++m->version, s->cur[k]);
    if (l->index) set(m, l->index, f->i, NULL);
}

// ---- outputs of loops

// An empty log for every output that is read.
static Status open_logs(Interp *m, Node *e, Slot *s) {
    int n = e->u.loop->nout;
    if (!s->traced) return READY;
    if (!s->row) s->row = ARENA_ARRAY(m->arena, Array *, n), s->log = ARENA_ARRAY(m->arena, Array *, n);
    for (int q = 0; q < n; q++) {
        Node *out = loop_output(e, q);
        int64_t shape[UINT8_MAX + 1] = {0};
        if (!s->traced[q]) continue;
        for (int d = 0; d < out->rank; d++) {
            Scalar x;
            TRY(need_scalar(m, out->shape[d], &x));
            shape[d + 1] = x.i;
        }
        if (!s->row[q]) {
            s->row[q] = interp_array_new(m, A_FULL, out->kind, out->rank);
            s->log[q] = interp_array_new(m, A_FULL, out->kind, out->rank + 1);
        }
        TRY(interp_array_reset(m, s->log[q], shape));
    }
    return READY;
}

static Status append_row(Interp *m, Array *log, const Array *row) {
    int64_t n = 1, first = log->count;
    for (int d = 1; d < log->rank; d++) n *= log->shape[d];
    if (!row->broken && row->count != n) return interp_fail(m, FSM_ERROR_SIZE, "the output of a loop changes its size");
    if (__builtin_add_overflow(first, n, &log->count) || log->count > INT64_MAX / 64)
        return interp_fail(m, FSM_ERROR_MEMORY, "the trace of a loop does not fit in memory");
    if (log->count > log->cap) {
        int64_t cap = 2 * log->count;
        Scalar *data = realloc(log->data, sizeof *data * (size_t)cap);
        if (data) log->data = data;
        uint32_t *mark = data ? realloc(log->mark, sizeof *mark * (size_t)cap) : NULL;
        if (!mark) return interp_fail(m, FSM_ERROR_MEMORY, "the trace of a loop does not fit in memory");
        log->mark = mark, log->cap = cap;
    }
    log->shape[0]++;
    for (int64_t i = 0; i < n; i++) {
        log->data[first + i] = row->broken ? (Scalar){0} : row->data[i];
        log->mark[first + i] = row->broken ? row->broken : row->mark[i];
    }
    m->counts.stores += n;
    return interp_spend(m, n);
}

// Forces the values of all outputs that are read and appends them to their logs.
static Status force_outputs(Interp *m, Frame *f, Slot *s) {
    int n = s->traced ? f->e->u.loop->nout : 0;
    for (; f->k < 2 * n; f->k++) {
        int q = f->k / 2;
        if (!s->traced[q]) continue;
        if (f->k % 2) {
            TRY(append_row(m, s->log[q], s->row[q]));
            continue;
        }
        f->k++;
        Frame *g = interp_push(m, F_FORCE, loop_output(f->e, q));
        g->array = s->row[q];
        return WAIT;
    }
    f->k = 0;
    return READY;
}

// Whether the loop's states, and what its outputs have of each iteration, are arrays of no elements. Then iterations are all alike, and
// one is enough to see whether the states keep their sizes: there may be 2^62.
static bool leaves_nothing(const Node *e, const Slot *s) {
    const Loop *l = e->u.loop;
    for (int k = 0; k < l->n; k++)
        if (s->needed[k] && (s->cur[k]->broken || s->cur[k]->count)) return false;
    for (int q = 0; s->traced && q < l->nout; q++)
        if (s->traced[q] && (s->row[q]->broken || s->row[q]->count)) return false;
    return true;
}

static void finish_at_once(Frame *f, Slot *s) {
    for (int q = 0; s->traced && q < f->e->u.loop->nout; q++)
        if (s->traced[q]) s->log[q]->shape[0] = f->n;
    f->i = f->n;
}

enum { LOOP_EXTENT, LOOP_INIT, LOOP_TEST, LOOP_OUTPUT, LOOP_STEP };

Status eval_loop(Interp *m, Frame *f, Slot *s) {
    Node *e = f->e;
    Scalar x;
    if (f->phase == LOOP_EXTENT) {
        if (e->op == OP_fold) {
            TRY(need_scalar(m, e->u.loop->index->extent, &x));
            f->n = x.i;
        }
        open_loop(m, e, s);
        TRY(open_logs(m, e, s));
        s->valid = false; // its arrays are overwritten from here on
        f->phase = LOOP_INIT;
    }
    if (f->phase == LOOP_INIT) {
        TRY(force_states(m, f, s, true, s->cur));
        bind_states(m, f, s);
        f->phase = LOOP_TEST;
    }
    for (;;) {
        if (f->phase == LOOP_TEST) {
            if (e->op == OP_fold && f->i == 1 && leaves_nothing(e, s)) finish_at_once(f, s);
            if (e->op == OP_while) TRY(need_scalar(m, loop_cond(e), &x));
            if (e->op == OP_while ? !x.i : f->i >= f->n) return READY;
            f->phase = LOOP_OUTPUT;
        }
        if (f->phase == LOOP_OUTPUT) {
            TRY(force_outputs(m, f, s));
            f->phase = LOOP_STEP;
        }
        TRY(interp_spend(m, 1));
        TRY(force_states(m, f, s, false, s->now));
        for (int k = 0; k < e->u.loop->n; k++) {
            Array *old = s->cur[k];
            int d = other_extent(old, s->now[k]);
            if (d >= 0)
                return interp_fail(m, FSM_ERROR_SIZE, "the state of a loop changes its size: %lld and %lld",
                                   (long long)old->shape[d], (long long)s->now[k]->shape[d]);
            s->cur[k] = s->now[k], s->now[k] = old;
        }
        m->counts.iterations++;
        f->i++;
        bind_states(m, f, s);
        f->phase = LOOP_TEST;
    }
}
