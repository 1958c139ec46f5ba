// What the reference interpreter knows: the values of variables, of nodes and of arrays, as far as they have been
// computed, and how they are asked for.
#include "ir/interp_internal.h"
#include "ir/terms.h"

Status interp_fail(Interp *m, int code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    m->failure = (Failure){code, arena_vprintf(m->arena, fmt, ap)};
    va_end(ap);
    return FAIL;
}

Status interp_fail_at(Interp *m, Span at, int code, const char *text) {
    const char *line = diag_line(m->arena, at);
    return interp_fail(m, code, "%s%s%s", line, *line ? ": " : "", text);
}

Status interp_spend(Interp *m, int64_t steps) {
    int64_t limit = m->mode.limit;
    if (!limit) return READY;
    if (steps <= limit - m->steps) {
        m->steps += steps;
        return READY;
    }
    m->steps = limit;
    return interp_fail(m, INTERP_LIMIT, "it takes more than %lld steps", (long long)limit);
}

// ---- the sizes of terms

Scalar interp_with_terms(const Interp *m, const Node *e, Scalar x) {
    if (m->mode.terms && kind_is_float(e->kind)) x.terms = fabs(x.d);
    return x;
}

void interp_note_doubt(Interp *m, double x, double terms) { m->doubtful |= m->mode.terms && terms_doubtful(x, terms); }

// ---- variables and cached values

void interp_set_var(Interp *m, const Var *v, int64_t key, Array *state) {
    m->var[v->id] = (Binding){true, key, state};
    m->clock++;
}

void interp_bind(Interp *m, const Var *v, int64_t key, Array *state) {
    vec_push(&m->trail, ((Trail){v->id, m->var[v->id]}));
    interp_set_var(m, v, key, state);
}

void interp_unbind(Interp *m, int mark) {
    if (m->trail.len > mark) m->clock++;
    while (m->trail.len > mark) {
        Trail t = vec_pop(&m->trail);
        m->var[t.var] = t.old;
    }
}

Slot *interp_slot(Interp *m, const Node *e) {
    Slot **p = &m->slot[e->id];
    if (!*p) *p = arena_alloc(m->arena, sizeof **p + sizeof(int64_t) * (size_t)e->fv->n);
    return *p;
}

bool slot_is_valid(Interp *m, const Node *e, Slot *s) {
    if (!s->valid) return false;
    if (s->seen == m->clock) return true;
    for (int i = 0; i < e->fv->n; i++)
        if (s->vars[i] != m->var[e->fv->v[i]->id].key) return false;
    s->seen = m->clock;
    return true;
}

void slot_set_valid(Interp *m, const Node *e, Slot *s) {
    for (int i = 0; i < e->fv->n; i++) s->vars[i] = m->var[e->fv->v[i]->id].key;
    s->seen = m->clock;
    s->valid = true;
}

Frame *interp_push(Interp *m, FrameForm form, Node *e) {
    vec_push(&m->frames, ((Frame){.form = form, .e = e, .trail = m->trail.len}));
    return &vec_last(&m->frames);
}

// ---- arrays

Array *interp_array_new(Interp *m, Form form, Kind kind, int rank) {
    Array *a = ARENA_NEW(m->arena, Array);
    *a = (Array){.next = m->arrays, .form = form, .kind = kind, .rank = rank};
    a->shape = ARENA_ARRAY(m->arena, int64_t, rank);
    m->arrays = a;
    return a;
}

Status interp_array_reset(Interp *m, Array *a, const int64_t *shape) {
    int64_t n;
    for (int k = 0; k < a->rank; k++)
        if (shape[k] < 0) return interp_fail(m, FSM_ERROR_NEGATIVE, "size %lld is negative", (long long)shape[k]);
    for (int k = 0; k < a->rank; k++) a->shape[k] = shape[k];
    shape_count(a->rank, shape, &n);
    TRY(interp_spend(m, n));
    a->count = n, a->broken = 0;
    if (n > a->cap) {
        free(a->data), free(a->mark);
        bool fits = n <= INT64_MAX / 64;
        a->data = fits ? calloc((size_t)n, sizeof *a->data) : NULL;
        a->mark = fits ? calloc((size_t)n, sizeof *a->mark) : NULL;
        a->cap = a->data && a->mark ? n : 0, a->generation = 0;
        if (!a->cap) return interp_fail(m, FSM_ERROR_MEMORY, "an array of %lld elements does not fit in memory", (long long)n);
    }
    if (a->form == A_FULL || ++a->generation == 0) {
        if (n) memset(a->mark, 0, sizeof *a->mark * (size_t)n);
        a->generation = 1;
    }
    return READY;
}

Status interp_fail_again(Interp *m, uint32_t number) {
    m->failure = m->failures.data[number - 1];
    return FAIL;
}

uint32_t interp_keep_failure(Interp *m) {
    if (m->failures.len == 0 || vec_last(&m->failures).text != m->failure.text) vec_push(&m->failures, m->failure);
    return (uint32_t)m->failures.len;
}

// ---- requests: READY with *out set, WAIT after pushing the frame that computes it, or FAIL

Status need_element(Interp *m, Array *a, int64_t i, Scalar *out) {
    switch (a->form) {
    case A_INPUT:
        *out = tensor_scalar(a->tensor, i);
        if (m->mode.terms) out->terms = fabs(out->d);
        return READY;
    case A_PACK: return need_scalar(m, a->node->args[i], out);
    case A_FULL:
        if (a->mark[i]) return interp_fail_again(m, a->mark[i]);
        *out = a->data[i];
        return READY;
    case A_TABLE: break;
    }
    if (a->mark[i] == a->generation) {
        *out = a->data[i];
        return READY;
    }
    Frame *f = interp_push(m, F_ELEMENT, a->node);
    f->array = a, f->i = i;
    return WAIT;
}

static Status loop_result(Interp *m, Node *e, Array **out) {
    Node *loop = e->args[0];
    Slot *s = interp_slot(m, loop);
    if (!slot_is_valid(m, loop, s)) {
        interp_push(m, F_NODE, loop);
        return WAIT;
    }
    *out = e->op == OP_trace ? s->log[e->u.num] : s->cur[e->u.num];
    return READY;
}

static Status loop_count(Interp *m, const Node *e, Scalar *out) {
    Slot *s = interp_slot(m, e->args[0]);
    if (!slot_is_valid(m, e->args[0], s)) {
        interp_push(m, F_NODE, e->args[0]);
        return WAIT;
    }
    *out = s->value;
    return READY;
}

static Array *state_of(Interp *m, const Node *e) {
    Binding *b = &m->var[e->u.var->id];
    if (!b->bound) fatal_bug("the interpreter met the unbound variable %s", e->u.var->name ? e->u.var->name : "?");
    return b->state;
}

Status need_scalar(Interp *m, Node *e, Scalar *out) {
    Array *a;
    switch (e->op) {
    case OP_lit:
        *out = interp_with_terms(m, e, kind_is_float(e->kind) ? (Scalar){.d = e->u.real} : (Scalar){.i = e->u.num});
        return READY;
    case OP_input: *out = interp_with_terms(m, e, tensor_scalar(&m->inputs[e->u.num], 0)); return READY;
    case OP_var:
        a = state_of(m, e);
        if (e->u.var->is_state) return need_element(m, a, 0, out);
        out->i = m->var[e->u.var->id].key;
        return READY;
    case OP_final: TRY(loop_result(m, e, &a)); return need_element(m, a, 0, out);
    case OP_count: return loop_count(m, e, out);
    default: break;
    }
    Slot *s = interp_slot(m, e);
    if (slot_is_valid(m, e, s)) {
        *out = s->value;
        return READY;
    }
    interp_push(m, F_NODE, e);
    return WAIT;
}

Status need_array(Interp *m, Node *e, Array **out) {
    Slot *s;
    while (e->op == OP_stop) e = e->args[0];
    switch (e->op) {
    case OP_input: *out = m->input[e->u.num]; return READY;
    case OP_var: *out = state_of(m, e); break;
    case OP_final:
    case OP_trace: TRY(loop_result(m, e, out)); break;
    case OP_assert: { // of what has been evaluated
        Scalar x;
        TRY(need_scalar(m, e->args[0], &x));
        return need_array(m, e->args[1], out);
    }
    case OP_gen:
    case OP_pack:
    case OP_sum:
    case OP_extern:
        s = interp_slot(m, e);
        if (!slot_is_valid(m, e, s)) {
            interp_push(m, F_NODE, e);
            return WAIT;
        }
        *out = s->array;
        return READY;
    default: fatal_bug("the interpreter met an array made by '%s'", op_info[e->op].name);
    }
    return (*out)->broken ? interp_fail_again(m, (*out)->broken) : READY;
}
