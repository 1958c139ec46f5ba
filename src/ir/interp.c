// The reference interpreter: evaluation by need, without optimisation; the oracle of the tests.
//
// The value of a node is cached, and valid as long as the node's free variables have the values they had. Arrays are
// memo tables whose elements are computed when they are first read, so a value that is not needed raises nothing. The
// states of loops alone are computed eagerly, since they would otherwise keep all earlier iterations alive; an element
// that fails is poisoned there, and the error is raised when it is read.
//
// The work is done by a stack of frames on the heap. A frame asks for the values it needs; one that is not there yet is
// pushed as a frame of its own, and the asking frame is run again once it is there. Hence the C stack stays flat
// however deep the program is.
#include "ir/interp_internal.h"
#include "ir/terms.h"

// ---- the machine

static Status eval_node(Interp *m, Frame *f) {
    Node *e = f->e;
    Slot *s = interp_slot(m, e);
    Scalar x, out = {.i = 0};
    switch (e->op) {
    case OP_conv:
        TRY(need_scalar(m, e->args[0], &x));
        if (e->kind == KIND_INT32 && x.i != (int32_t)x.i)
            return interp_fail_at(m, e->span, FSM_ERROR_RANGE, check_text(m->arena, ir_int32_text, 1, &x.i));
        out = scalar_conv(e->args[0]->kind, e->kind, x);
        if (!kind_is_float(e->args[0]->kind)) out = interp_with_terms(m, e, out);
        else if (kind_is_float(e->kind)) out.terms = x.terms;
        else interp_note_doubt(m, x.d - round(x.d), x.terms);
        break;
    case OP_evaluated:
        TRY(eval_operands(m, f));
        out.i = true;
        break;
    case OP_stop: TRY(need_scalar(m, e->args[0], &out)); break;
    case OP_extern: TRY(eval_extern(m, f, s, &out)); break;
    case OP_select:
        TRY(need_scalar(m, e->args[0], &x));
        TRY(need_scalar(m, e->args[x.i ? 1 : 2], &out));
        break;
    case OP_bracket: TRY(eval_bracket(m, e, s, &out)); break;
    case OP_assert:
        TRY(need_scalar(m, e->args[0], &x));
        if (!x.i) return eval_failed_assert(m, e);
        TRY(need_scalar(m, e->args[1], &out));
        break;
    case OP_at: TRY(eval_at(m, e, &out)); break;
    case OP_sum: TRY(e->rank ? eval_array_sum(m, f, s) : eval_sum(m, f, &out)); break;
    case OP_argmin:
    case OP_argmax: TRY(eval_arg(m, f, &out)); break;
    case OP_gen:
    case OP_pack:
        if (!f->phase) TRY(eval_array(m, e, s));
        f->phase = 1;
        for (; m->mode.whole && f->i < s->array->count; f->i++) TRY(need_element(m, s->array, f->i, &x));
        break;
    case OP_fold:
    case OP_while:
        TRY(eval_loop(m, f, s));
        out.i = f->i;
        break;
    default:
        if (!op_is_elementwise(e->op)) fatal_bug("the interpreter cannot evaluate '%s'", op_info[e->op].name);
        TRY(eval_op(m, e, &out));
    }
    if (e->op == OP_sum && !e->rank) s->nil = f->terms == 0;
    interp_unbind(m, f->trail);
    s->value = out;
    slot_set_valid(m, e, s);
    return READY;
}

static Status step(Interp *m, Frame *f) {
    switch (f->form) {
    case F_NODE: return eval_node(m, f);
    case F_ELEMENT: return eval_element(m, f);
    default: return eval_force(m, f);
    }
}

// Runs until all frames are done; FAIL if a failure was not caught.
static Status run(Interp *m) {
    while (m->frames.len) {
        Status st = interp_spend(m, 1);
        if (st == READY) st = step(m, &vec_last(&m->frames));
        if (st == WAIT) continue;
        interp_unbind(m, vec_last(&m->frames).trail);
        m->frames.len--;
        if (st == READY) continue;
        while (m->frames.len && vec_last(&m->frames).form != F_FORCE) {
            interp_unbind(m, vec_last(&m->frames).trail);
            m->frames.len--;
        }
        if (!m->frames.len) return FAIL;
        vec_last(&m->frames).failed = true;
    }
    return READY;
}

// Evaluates a request made outside all frames.
#define DEMAND(m, request)                                                                                                         \
    do {                                                                                                                           \
        Status demand_;                                                                                                            \
        while ((demand_ = (request)) == WAIT)                                                                                      \
            if (run(m) == FAIL) return FAIL;                                                                                       \
        if (demand_ == FAIL) return FAIL;                                                                                          \
    } while (0)

// ---- functions

const char *check_text(Arena *a, const char *text, int n, const int64_t *values) {
    Str s = {0};
    int k = 0;
    for (const char *p = text; *p; p++)
        if (p[0] == '%' && p[1] == 'd' && k < n) str_printf(&s, "%lld", (long long)values[k++]), p++;
        else if (p[0] == '%' && p[1] == 'g' && k < n) str_printf(&s, "%g", (Scalar){.i = values[k++]}.d), p++;
        else str_putc(&s, *p);
    const char *r = arena_strdup(a, str_text(&s));
    str_free(&s);
    return r;
}

static Status check_inputs(Interp *m) {
    const Func *f = m->func;
    for (int k = 0; k < f->ninputs; k++) {
        const Tensor *t = &m->inputs[k];
        if (t->kind != f->inputs[k]->kind || t->rank != f->inputs[k]->rank)
            fatal_bug("argument %d of %s has the wrong type", k, f->name);
    }
    for (int k = 0; k < f->nchecks; k++) {
        const Check *c = &f->checks[k];
        Scalar x;
        DEMAND(m, need_scalar(m, c->cond, &x));
        if (x.i) continue;
        int64_t *values = ARENA_ARRAY(m->arena, int64_t, c->nvalues);
        for (int j = 0; j < c->nvalues; j++) {
            DEMAND(m, need_scalar(m, c->values[j], &x));
            values[j] = x.i;
        }
        return interp_fail_at(m, c->span, c->code, check_text(m->arena, c->text, c->nvalues, values));
    }
    for (int k = 0; k < f->ninputs; k++)
        for (int d = 0; d < f->inputs[k]->rank; d++) {
            Scalar x;
            DEMAND(m, need_scalar(m, f->inputs[k]->shape[d], &x));
            if (x.i != m->inputs[k].shape[d])
                return interp_fail(m, FSM_ERROR_SIZE, "%s has extent %lld where %lld is expected", f->inputs[k]->name,
                                   (long long)m->inputs[k].shape[d], (long long)x.i);
        }
    return READY;
}

static bool memory_for(size_t bytes) {
    void *p = malloc(bytes + 1);
    free(p);
    return p;
}

static Status make_outputs(Interp *m, Arena *a, Tensor *outputs) {
    for (int k = 0; k < m->func->noutputs; k++) {
        Node *e = m->func->outputs[k];
        int64_t shape[UINT8_MAX + 1], n, bytes;
        for (int d = 0; d < e->rank; d++) {
            Scalar x;
            DEMAND(m, need_scalar(m, e->shape[d], &x));
            if (x.i < 0) return interp_fail(m, FSM_ERROR_NEGATIVE, "size %lld is negative", (long long)x.i);
            shape[d] = x.i;
        }
        bool fits = shape_count(e->rank, shape, &n) && !__builtin_mul_overflow(n, (int64_t)kind_size(e->kind), &bytes);
        if (!fits || bytes > INT64_C(1) << 46 || !memory_for((size_t)bytes))
            return interp_fail(m, FSM_ERROR_MEMORY, "a result of %lld bytes does not fit in memory",
                               fits ? (long long)bytes : INT64_MAX);
        TRY(interp_spend(m, n));
        outputs[k] = tensor_new(a, e->kind, e->rank, shape);
        if (m->mode.terms) m->mode.terms[k] = tensor_new(a, KIND_DOUBLE, e->rank, shape);
    }
    return READY;
}

static void fill_output(Interp *m, Tensor *outputs, int k, int64_t i, Scalar x) {
    tensor_put(&outputs[k], i, x);
    if (m->mode.terms) tensor_put(&m->mode.terms[k], i, (Scalar){.d = x.terms});
}

static Status fill_outputs(Interp *m, Tensor *outputs) {
    for (int k = m->func->noutputs; k < func_roots(m->func); k++) {
        Scalar x;
        DEMAND(m, need_scalar(m, m->func->outputs[k], &x));
    }
    for (int k = 0; k < m->func->noutputs; k++) {
        Node *e = m->func->outputs[k];
        Scalar x;
        if (e->rank == 0) {
            DEMAND(m, need_scalar(m, e, &x));
            fill_output(m, outputs, k, 0, x);
            continue;
        }
        Array *a;
        DEMAND(m, need_array(m, e, &a));
        if (memcmp(a->shape, outputs[k].shape, sizeof *a->shape * (size_t)a->rank))
            return interp_fail(m, FSM_ERROR_SIZE, "result %d does not have the shape that its type says", k);
        for (int64_t i = 0; i < a->count; i++) {
            DEMAND(m, need_element(m, a, i, &x));
            fill_output(m, outputs, k, i, x);
        }
        if (a->form != A_TABLE) m->counts.loads += a->count, m->counts.stores += a->count;
    }
    return READY;
}

static void find_final(Node *e, void *data) {
    Interp *m = data;
    if (e->op != OP_final && e->op != OP_trace) return;
    Node *loop = e->args[0];
    Slot *s = interp_slot(m, loop);
    if (!s->needed) s->needed = ARENA_ARRAY(m->arena, bool, loop->u.loop->n);
    if (e->op == OP_final) {
        mark_state(loop, s->needed, (int)e->u.num);
        return;
    }
    if (!s->traced) s->traced = ARENA_ARRAY(m->arena, bool, loop->u.loop->nout);
    s->traced[e->u.num] = true;
    mark_states(loop, s->needed, loop_output(loop, (int)e->u.num));
}

static void interp_open(Interp *m, const Func *f, const Tensor *inputs, InterpMode mode) {
    *m = (Interp){.arena = arena_new(), .func = f, .inputs = inputs, .mode = mode};
    m->slot = ARENA_ARRAY(m->arena, Slot *, (size_t)f->ir->next_node + 1);
    m->var = ARENA_ARRAY(m->arena, Binding, (size_t)f->ir->next_var + 1);
    m->input = ARENA_ARRAY(m->arena, Array *, f->ninputs);
    for (int k = 0; k < f->ninputs; k++) {
        Array *a = m->input[k] = interp_array_new(m, A_INPUT, inputs[k].kind, inputs[k].rank);
        a->tensor = &inputs[k];
        for (int d = 0; d < a->rank; d++) a->shape[d] = inputs[k].shape[d];
        a->count = tensor_count(&inputs[k]);
    }
    ir_walk(func_roots(f), f->outputs, find_final, m);
    for (int k = 0; k < f->nchecks; k++) {
        ir_walk(1, &f->checks[k].cond, find_final, m);
        ir_walk(f->checks[k].nvalues, f->checks[k].values, find_final, m);
    }
    for (int k = 0; k < f->noutputs; k++) ir_walk(f->outputs[k]->rank, f->outputs[k]->shape, find_final, m);
}

static int interp_close(Interp *m, Arena *a, Status st, const char **error) {
    if (st == FAIL) *error = arena_strdup(a, m->failure.text);
    for (Array *x = m->arrays; x; x = x->next) free(x->data), free(x->mark);
    vec_free(&m->frames);
    vec_free(&m->trail);
    vec_free(&m->failures);
    arena_free(m->arena);
    return st == FAIL ? m->failure.code : FSM_OK;
}

int func_prepare(Arena *a, const Func *f, const Tensor *inputs, Tensor *outputs, const char **error) {
    Interp m;
    interp_open(&m, f, inputs, (InterpMode){0});
    Status st = check_inputs(&m);
    if (st == READY) st = make_outputs(&m, a, outputs);
    return interp_close(&m, a, st, error);
}

int interp_run(Arena *a, const Func *f, const Tensor *inputs, Tensor *outputs, struct Counts *counts, const char **error) {
    return interp_run_as(a, f, inputs, outputs, (InterpMode){0}, counts, error);
}

int interp_run_as(Arena *a, const Func *f, const Tensor *inputs, Tensor *outputs, InterpMode mode, struct Counts *counts,
                  const char **error) {
    Interp m;
    interp_open(&m, f, inputs, mode);
    Status st = check_inputs(&m);
    if (st == READY) st = make_outputs(&m, a, outputs);
    m.counts = (Counts){0};
    if (st == READY) st = fill_outputs(&m, outputs);
    for (int k = 0; st == READY && m.doubtful && k < f->noutputs; k++)
        for (int64_t i = 0; i < tensor_count(&mode.terms[k]); i++) tensor_set(&mode.terms[k], i, INFINITY);
    if (counts) *counts = m.counts;
    return interp_close(&m, a, st, error);
}
