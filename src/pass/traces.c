// The traces of a function's loops, and which loops read them backwards. See traces.h.
#include "pass/traces.h"

#include "ir/ir.h"

Node *trace_before_last(Ir *m, Node *n, Node *i) { return ir_sub(m, ir_sub(m, n, ir_int(m, 1)), i); }

Node *trace_count(Ir *m, Node *loop) { return loop->op == OP_fold ? ir_loop(loop)->index->extent : ir_count(m, loop); }

Node *trace_row_read(Ir *m, Node *n, Var *t, int which) {
    return ir_add(m, trace_before_last(m, n, ir_var(t)), ir_int(m, which));
}

int trace_state(const Node *trace) {
    const Node *out = loop_output(trace->args[0], (int)trace->u.num);
    int k = ir_loop(trace->args[0])->n - 1;
    while (k >= 0 && (out->op != OP_var || ir_loop(trace->args[0])->state[k] != out->u.var)) k--;
    return k;
}

// The index t of a loop that reads one of these rows of the trace by e.
static Var *backwards(Ir *m, const Node *trace, const Node *e) {
    Node *n = trace_count(m, trace->args[0]);
    for (int i = 0; i < e->fv->n; i++) {
        Var *t = e->fv->v[i];
        if (t->is_state || t->extent != n) continue;
        if (trace_row_read(m, n, t, ROW_OWN) == e || (trace_row_read(m, n, t, ROW_NEXT) == e && trace_state(trace) >= 0)) return t;
    }
    return NULL;
}

static Trace *trace_of(Scan *s, Node *e) {
    for (int i = 0; i < s->traces.len; i++)
        if (s->traces.data[i].e == e) return &s->traces.data[i];
    vec_push(&s->traces, ((Trace){.e = e}));
    return &vec_last(&s->traces);
}

bool trace_has_reader(Var *const *v, int n, const Var *w) {
    for (int i = 0; i < n; i++)
        if (v[i] == w) return true;
    return false;
}

static void look_at(Node *e, void *data) {
    Scan *s = data;
    if (e->op == OP_final) vec_push(&s->finals, e);
    if (e->op == OP_fold) map_put(&s->folds, ir_loop(e)->index, e);
    if (e->op == OP_trace && e->args[0]->op == OP_fold) map_put(&s->traced, ir_loop(e->args[0])->index, e);
    if (ir_is_binder(e)) map_put(&s->binders, e->u.var, e);
    for (int i = 0; i < e->nargs; i++) {
        if (e->args[i]->op != OP_trace) continue;
        Trace *t = trace_of(s, e->args[i]);
        Var *v = e->op == OP_at && i == 0 ? backwards(s->m, t->e, e->args[1]) : NULL;
        if (!v) t->whole = true;
        else if (!trace_has_reader(t->reader.data, t->reader.len, v)) vec_push(&t->reader, v);
    }
}

void traces_scan(Scan *s, const Func *f) {
    *s = (Scan){.m = f->ir};
    ir_walk(func_roots(f), f->outputs, look_at, s);
    for (int i = 0; i < func_roots(f); i++)
        if (f->outputs[i]->op == OP_trace) trace_of(s, f->outputs[i])->whole = true;
    for (int i = 0; i < s->traces.len; i++) {
        Trace *t = &s->traces.data[i];
        t->whole |= ir_loop(t->e->args[0])->block; // made here
        for (int k = 0; k < t->reader.len; k++) {
            const Var *v = t->reader.data[k];
            t->whole |= !map_get(&s->folds, v) || map_get(&s->binders, v);
        }
    }
}

void traces_close(Scan *s) {
    for (int i = 0; i < s->traces.len; i++) vec_free(&s->traces.data[i].reader);
    vec_free(&s->traces);
    vec_free(&s->finals);
    map_free(&s->folds);
    map_free(&s->binders);
    map_free(&s->traced);
}

const VarSet *traces_scope(const Scan *s, const Var *t, int k) {
    enum { MOST = 64 };
    const VarSet *found[MOST];
    int n = 0;
    for (int i = 0; i < s->finals.len && n <= k && n < MOST; i++) {
        const Node *loop = s->finals.data[i]->args[0];
        bool new = loop->op == OP_fold && ir_loop(loop)->index == t;
        for (int j = 0; j < n && new; j++) new = found[j] != loop->fv;
        if (new) found[n++] = loop->fv;
    }
    return k < n ? found[k] : NULL;
}

bool traces_join_readers(JoinedLoop *u, const Scan *s, const Var *t, const VarSet *scope) {
    *u = (JoinedLoop){0};
    if (map_get(&s->traced, t)) return false;
    for (int i = 0; i < s->finals.len; i++) {
        Node *loop = s->finals.data[i]->args[0];
        if (loop->op != OP_fold || ir_loop(loop)->index != t || loop->fv != scope) continue;
        if (!u->loop) ir_join_open(u, s->m, NULL, loop);
        else if (!ir_join(u, loop, false)) return false;
    }
    return u->loop != NULL;
}

// Is the loop to run again from checkpoints, as an attribute or a limit says?
static bool is_asked(const Ir *m, const Node *loop) {
    const Loop *l = ir_loop(loop);
    return !l->block && l->levels != 1 && (l->levels || l->limit || m->tape_limit);
}

// Does a loop, or a sum, read the trace backwards? Then it is not, or not only, an array of the program.
static bool is_tape(const Scan *s, const Trace *t) {
    for (int i = 0; i < t->reader.len; i++) {
        const Node *binder = map_get(&s->binders, t->reader.data[i]);
        if (map_get(&s->folds, t->reader.data[i]) || (binder && binder->op == OP_sum)) return true;
    }
    return false;
}

// Is the trace one that a reverse of such a loop leaves, and that is no tape itself?
static bool is_left(const Scan *s, const Trace *t) {
    if (t->e->args[0]->op != OP_fold || ir_loop(t->e->args[0])->block || is_tape(s, t)) return false;
    for (int i = 0; i < s->traces.len; i++) {
        const Trace *o = &s->traces.data[i];
        if (o->whole || !is_asked(s->m, o->e->args[0])) continue;
        if (trace_has_reader(o->reader.data, o->reader.len, ir_loop(t->e->args[0])->index)) return true;
    }
    return false;
}

Node *traces_left(const Scan *s) {
    for (int i = 0; i < s->traces.len; i++)
        if (is_left(s, &s->traces.data[i])) return s->traces.data[i].e;
    return NULL;
}

Node *trace_bytes(Ir *m, const Node *e) {
    Node *n = ir_int(m, (int64_t)kind_size(e->kind));
    for (int d = 0; d < e->rank; d++) n = ir_mul(m, n, e->shape[d]);
    return n;
}

// Is what is left of the tape of trace t's loop within its limit, for certain?
static bool is_within(const Scan *s, const Trace *t) {
    Ir *m = s->m;
    Node *loop = t->e->args[0], *bytes = ir_int(m, 0);
    int64_t limit = ir_loop(loop)->limit ? ir_loop(loop)->limit : ir_loop(loop)->levels ? 0 : m->tape_limit;
    for (int i = 0; i < s->traces.len; i++) {
        const Trace *o = &s->traces.data[i];
        if (is_tape(s, o) && o->e->args[0]->span.begin == loop->span.begin) bytes = ir_add(m, bytes, trace_bytes(m, o->e));
    }
    return ir_is_lit(ir_le(m, bytes, ir_int(m, limit)), 1);
}

void traces_note_whole(const Scan *s) {
    Ir *m = s->m;
    for (int i = 0; i < s->traces.len; i++) {
        const Trace *t = &s->traces.data[i];
        const Node *loop = t->e->args[0];
        if (!is_asked(m, loop) || !is_tape(s, t) || is_within(s, t)) continue;
        WholeTrace **w = &m->whole;
        while (*w && ((*w)->span.src != loop->span.src || (*w)->span.begin != loop->span.begin)) w = &(*w)->next;
        if (*w) continue;
        *w = ARENA_NEW(m->arena, WholeTrace);
        **w = (WholeTrace){.span = loop->span};
    }
}
