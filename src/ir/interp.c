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
#include "ir/interp.h"
#include "ir/extern.h"
#include "ir/terms.h"
#include "fsmc/runtime.h"
#include "lower/tree.h"
#include "support/vec.h"

#include <stdio.h>

typedef enum Status { READY, WAIT, FAIL } Status;

// Evaluates a request; leaves the calling function unless the value is there.
#define TRY(request)                                                                                                   \
    do {                                                                                                               \
        Status status_ = (request);                                                                                    \
        if (status_ != READY) return status_;                                                                          \
    } while (0)

typedef enum Form {
    A_INPUT, // an argument
    A_TABLE, // a gen: elements filled by need
    A_PACK,  // an array literal: its elements are nodes
    A_FULL   // the value of a loop's state (of rank 0 too), or of a sum of arrays
} Form;

typedef struct Array {
    struct Array *next; // all arrays of the interpreter
    Form form;
    Kind kind;
    int rank;
    int64_t *shape;
    int64_t count, cap;
    const Tensor *tensor; // A_INPUT
    Node *node;           // A_TABLE, A_PACK
    Scalar *data;         // A_TABLE, A_FULL
    uint32_t *mark; // A_TABLE: the generation an element was filled in. A_FULL: 0, or 1 + the number of its failure
    uint32_t generation;
    uint32_t broken; // A_FULL: 1 + the number of the failure that left it without a shape
} Array;

// What is known of a node; vars[] are the values of its free variables when it was computed.
typedef struct Slot {
    bool valid;
    bool nil;      // bracket: its condition is false; sum: no term's condition holds
    uint64_t seen; // when it was last found valid
    Scalar value;
    Array *array;
    bool *needed;       // loops: the states that anything reads, directly or through other states
    Array **cur, **now; // loops: the states, and those of the next iteration
    bool *traced;       // loops: the outputs that anything reads
    Array **row, **log; // loops: the outputs in this iteration, and in all so far
    int64_t vars[];
} Slot;

typedef struct Binding {
    bool bound;
    int64_t key; // the index, or a number that identifies the state's value
    Array *state;
} Binding;

typedef struct Trail {
    uint32_t var;
    Binding old;
} Trail;

typedef enum FrameForm {
    F_NODE,    // computes a node
    F_ELEMENT, // fills element i of a table
    F_FORCE    // copies the value of a node into an A_FULL array; catches failures
} FrameForm;

typedef struct Frame {
    FrameForm form;
    int phase, k;
    int trail; // bindings made since are undone when the frame ends
    Node *e;
    Array *array, *source;
    int64_t i, n, best, terms;
    Scalar acc;
    bool failed; // F_FORCE: the value asked for failed
} Frame;

typedef struct Failure {
    int code;
    const char *text;
} Failure;

typedef struct Interp {
    Arena *arena; // lives as long as the interpreter
    const Func *func;
    const Tensor *inputs;
    Array **input;
    Array *arrays;
    Slot **slot;  // by node id
    Binding *var; // by variable id
    VEC(Frame) frames;
    VEC(Trail) trail;
    VEC(Failure) failures;
    Failure failure; // of the frame that just failed
    uint64_t clock;  // advances whenever a variable changes
    int64_t version; // of loop states
    InterpMode mode;
    bool doubtful; // rounding may have decided a comparison
    int64_t steps;
    Counts counts;
} Interp;

static Status fail(Interp *m, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static Status fail(Interp *m, int code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    m->failure = (Failure){code, arena_vprintf(m->arena, fmt, ap)};
    va_end(ap);
    return FAIL;
}

// The same for a part of the program, whose place goes before the text.
static Status fail_at(Interp *m, Span at, int code, const char *text) {
    const char *line = diag_line(m->arena, at);
    return fail(m, code, "%s%s%s", line, *line ? ": " : "", text);
}

// To be called in everything that repeats, and with the sizes of arrays.
static Status spend(Interp *m, int64_t steps) {
    int64_t limit = m->mode.limit;
    if (!limit) return READY;
    if (steps <= limit - m->steps) {
        m->steps += steps;
        return READY;
    }
    m->steps = limit;
    return fail(m, INTERP_LIMIT, "it takes more than %lld steps", (long long)limit);
}

// ---- the sizes of terms

static Scalar with_terms(const Interp *m, const Node *e, Scalar x) {
    if (m->mode.terms && kind_is_float(e->kind)) x.terms = fabs(x.d);
    return x;
}

static void note_doubt(Interp *m, double x, double terms) { m->doubtful |= m->mode.terms && terms_doubtful(x, terms); }

// ---- variables and cached values

static void set_var(Interp *m, const Var *v, int64_t key, Array *state) {
    m->var[v->id] = (Binding){true, key, state};
    m->clock++;
}

static void bind(Interp *m, const Var *v, int64_t key, Array *state) {
    vec_push(&m->trail, ((Trail){v->id, m->var[v->id]}));
    set_var(m, v, key, state);
}

static void unbind(Interp *m, int mark) {
    if (m->trail.len > mark) m->clock++;
    while (m->trail.len > mark) {
        Trail t = vec_pop(&m->trail);
        m->var[t.var] = t.old;
    }
}

static Slot *slot_of(Interp *m, const Node *e) {
    Slot **p = &m->slot[e->id];
    if (!*p) *p = arena_alloc(m->arena, sizeof **p + sizeof(int64_t) * (size_t)e->fv->n);
    return *p;
}

static bool is_valid(Interp *m, const Node *e, Slot *s) {
    if (!s->valid) return false;
    if (s->seen == m->clock) return true;
    for (int i = 0; i < e->fv->n; i++)
        if (s->vars[i] != m->var[e->fv->v[i]->id].key) return false;
    s->seen = m->clock;
    return true;
}

static void set_valid(Interp *m, const Node *e, Slot *s) {
    for (int i = 0; i < e->fv->n; i++) s->vars[i] = m->var[e->fv->v[i]->id].key;
    s->seen = m->clock;
    s->valid = true;
}

static Frame *push(Interp *m, FrameForm form, Node *e) {
    vec_push(&m->frames, ((Frame){.form = form, .e = e, .trail = m->trail.len}));
    return &vec_last(&m->frames);
}

// ---- arrays

static Array *array_new(Interp *m, Form form, Kind kind, int rank) {
    Array *a = ARENA_NEW(m->arena, Array);
    *a = (Array){.next = m->arrays, .form = form, .kind = kind, .rank = rank};
    a->shape = ARENA_ARRAY(m->arena, int64_t, rank);
    m->arrays = a;
    return a;
}

// Gives a shape to an array and forgets its elements.
static Status array_reset(Interp *m, Array *a, const int64_t *shape) {
    int64_t n = 1;
    for (int k = 0; k < a->rank; k++)
        if (shape[k] < 0) return fail(m, FSM_ERROR_NEGATIVE, "size %lld is negative", (long long)shape[k]);
    for (int k = 0; k < a->rank; k++) {
        a->shape[k] = shape[k];
        if (__builtin_mul_overflow(n, shape[k], &n)) n = INT64_MAX;
    }
    TRY(spend(m, n));
    a->count = n, a->broken = 0;
    if (n > a->cap) {
        free(a->data), free(a->mark);
        bool fits = n <= INT64_MAX / 64;
        a->data = fits ? calloc((size_t)n, sizeof *a->data) : NULL;
        a->mark = fits ? calloc((size_t)n, sizeof *a->mark) : NULL;
        a->cap = a->data && a->mark ? n : 0, a->generation = 0;
        if (!a->cap) return fail(m, FSM_ERROR_MEMORY, "an array of %lld elements does not fit in memory", (long long)n);
    }
    if (a->form == A_FULL || ++a->generation == 0) {
        if (n) memset(a->mark, 0, sizeof *a->mark * (size_t)n);
        a->generation = 1;
    }
    return READY;
}

static Status fail_again(Interp *m, uint32_t number) {
    m->failure = m->failures.data[number - 1];
    return FAIL;
}

static uint32_t keep_failure(Interp *m) {
    if (m->failures.len == 0 || vec_last(&m->failures).text != m->failure.text) vec_push(&m->failures, m->failure);
    return (uint32_t)m->failures.len;
}

// ---- requests: READY with *out set, WAIT after pushing the frame that computes it, or FAIL

static Status scalar(Interp *m, Node *e, Scalar *out);

static Status element(Interp *m, Array *a, int64_t i, Scalar *out) {
    switch (a->form) {
    case A_INPUT:
        *out = tensor_scalar(a->tensor, i);
        if (m->mode.terms) out->terms = fabs(out->d);
        return READY;
    case A_PACK: return scalar(m, a->node->args[i], out);
    case A_FULL:
        if (a->mark[i]) return fail_again(m, a->mark[i]);
        *out = a->data[i];
        return READY;
    case A_TABLE: break;
    }
    if (a->mark[i] == a->generation) {
        *out = a->data[i];
        return READY;
    }
    Frame *f = push(m, F_ELEMENT, a->node);
    f->array = a, f->i = i;
    return WAIT;
}

static Status loop_result(Interp *m, Node *e, Array **out) {
    Node *loop = e->args[0];
    Slot *s = slot_of(m, loop);
    if (!is_valid(m, loop, s)) {
        push(m, F_NODE, loop);
        return WAIT;
    }
    *out = e->op == OP_trace ? s->log[e->u.num] : s->cur[e->u.num];
    return READY;
}

static Status loop_count(Interp *m, const Node *e, Scalar *out) {
    Slot *s = slot_of(m, e->args[0]);
    if (!is_valid(m, e->args[0], s)) {
        push(m, F_NODE, e->args[0]);
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

static Status scalar(Interp *m, Node *e, Scalar *out) {
    Array *a;
    switch (e->op) {
    case OP_lit:
        *out = with_terms(m, e, kind_is_float(e->kind) ? (Scalar){.d = e->u.real} : (Scalar){.i = e->u.num});
        return READY;
    case OP_input: *out = with_terms(m, e, tensor_scalar(&m->inputs[e->u.num], 0)); return READY;
    case OP_var:
        a = state_of(m, e);
        if (e->u.var->is_state) return element(m, a, 0, out);
        out->i = m->var[e->u.var->id].key;
        return READY;
    case OP_final: TRY(loop_result(m, e, &a)); return element(m, a, 0, out);
    case OP_count: return loop_count(m, e, out);
    default: break;
    }
    Slot *s = slot_of(m, e);
    if (is_valid(m, e, s)) {
        *out = s->value;
        return READY;
    }
    push(m, F_NODE, e);
    return WAIT;
}

static Status array(Interp *m, Node *e, Array **out) {
    Slot *s;
    while (e->op == OP_stop) e = e->args[0];
    switch (e->op) {
    case OP_input: *out = m->input[e->u.num]; return READY;
    case OP_var: *out = state_of(m, e); break;
    case OP_final:
    case OP_trace: TRY(loop_result(m, e, out)); break;
    case OP_gen:
    case OP_pack:
    case OP_sum:
    case OP_extern:
        s = slot_of(m, e);
        if (!is_valid(m, e, s)) {
            push(m, F_NODE, e);
            return WAIT;
        }
        *out = s->array;
        return READY;
    default: fatal_bug("the interpreter met an array made by '%s'", op_info[e->op].name);
    }
    return (*out)->broken ? fail_again(m, (*out)->broken) : READY;
}

// ---- scalars

static bool is_nil(Interp *m, const Node *e) {
    if (e->op == OP_add || e->op == OP_sub) return is_nil(m, e->args[0]) && is_nil(m, e->args[1]);
    return e->op == OP_bracket && slot_of(m, e)->nil;
}

// [TL] Fig. 6: an addition whose operand is a false bracket costs nothing (4.24); index arithmetic and truth values
// are free.
static void count_op(Interp *m, const Node *e) {
    if (!kind_is_float(e->kind)) return;
    switch (op_info[e->op].count) {
    case COUNT_ADD:
        if ((e->op == OP_add || e->op == OP_sub) && (is_nil(m, e->args[0]) || is_nil(m, e->args[1]))) return;
        m->counts.add++;
        return;
    case COUNT_MUL: m->counts.mul++; return;
    case COUNT_CALL: m->counts.call++; return;
    case COUNT_FREE: return;
    }
}

// --debug-nan
static Status check_nan(Interp *m, const Node *e, Scalar r, Scalar x, Scalar y) {
    if (!ir_makes_nan(e) || !isnan(r.d)) return READY;
    if (kind_is_float(e->args[0]->kind) && isnan(x.d)) return READY;
    if (e->nargs > 1 && isnan(y.d)) return READY;
    int n;
    const char *text = ir_nan_text(m->func->ir, e, &n);
    return fail_at(m, e->span, FSM_ERROR_NAN, check_text(m->arena, text, n, (int64_t[]){x.i, y.i}));
}

static Status eval_op(Interp *m, Node *e, Scalar *out) {
    Scalar x, y = {.i = 0};
    TRY(scalar(m, e->args[0], &x));
    if ((e->op == OP_and && !x.i) || (e->op == OP_or && x.i)) { // the second operand may be an error then
        *out = x;
        return READY;
    }
    if (e->nargs > 1) TRY(scalar(m, e->args[1], &y));
    if ((e->op == OP_idiv || e->op == OP_irem) && y.i == 0) return fail_at(m, e->span, FSM_ERROR_DIVIDE, "division by zero");
    Kind kind = op_info[e->op].type == T_PSI ? e->args[1]->kind : e->args[0]->kind;
    *out = scalar_op(e->op, kind, x, y);
    if (m->mode.terms && kind_is_float(kind)) out->terms = terms_op(e->op, kind, x, y, *out, m->mode.expanded, &m->doubtful);
    count_op(m, e);
    return m->func->ir->debug_nan ? check_nan(m, e, *out, x, y) : READY;
}

// Evaluates all operands, arrays as a whole.
static Status need_operands(Interp *m, Frame *f) {
    Scalar x;
    for (; f->k < f->e->nargs; f->k++, f->i = 0) {
        Node *o = f->e->args[f->k];
        Array *a;
        if (o->rank == 0) {
            TRY(scalar(m, o, &x));
            continue;
        }
        TRY(array(m, o, &a));
        for (; f->i < a->count; f->i++) TRY(element(m, a, f->i, &x));
    }
    return READY;
}

// An operand, which is there, as C gets it; *nan is set if it has a NaN. The memory of an array is to be freed.
static Status pass_operand(Interp *m, Node *o, ExternArg *out, bool *nan) {
    Array *a;
    Scalar x;
    *out = (ExternArg){.kind = o->kind, .array = o->rank > 0};
    if (o->rank == 0) {
        TRY(scalar(m, o, &out->value));
        *nan |= kind_is_float(o->kind) && isnan(out->value.d);
        return READY;
    }
    TRY(array(m, o, &a));
    Tensor t = {.kind = o->kind, .data = out->data = malloc((size_t)a->count * kind_size(o->kind) + 1)};
    if (!t.data) diag_out_of_memory();
    for (int64_t i = 0; i < a->count; i++) {
        TRY(element(m, a, i, &x));
        tensor_put(&t, i, x);
        *nan |= kind_is_float(o->kind) && isnan(x.d);
    }
    m->counts.loads += a->count;
    return READY;
}

static Status call_extern(Interp *m, Node *e, Slot *s, int n, ExternArg *args, Scalar *out) {
    const char *name = e->u.ext->name;
    m->counts.call++;
    if (e->rank == 0) {
        *out = with_terms(m, e, extern_call(name, e->kind, n, args));
        return READY;
    }
    Tensor t = {.kind = e->kind, .data = args[n].data = malloc((size_t)s->array->count * kind_size(e->kind) + 1)};
    if (!t.data) diag_out_of_memory();
    args[n].array = true;
    int64_t status = extern_fill(name, n + 1, args);
    if (status) return fail_at(m, e->span, FSM_ERROR_EXTERN, check_text(m->arena, extern_failure(m->arena, name), 1, &status));
    for (int64_t i = 0; i < s->array->count; i++) s->array->data[i] = with_terms(m, e, tensor_scalar(&t, i));
    m->counts.stores += s->array->count;
    return READY;
}

static bool has_nan(const Node *e, const Slot *s, Scalar x) {
    if (e->rank == 0) return isnan(x.d);
    for (int64_t i = 0; i < s->array->count; i++)
        if (isnan(s->array->data[i].d)) return true;
    return false;
}

static Status eval_extern(Interp *m, Frame *f, Slot *s, Scalar *out) {
    Node *e = f->e;
    int first = ir_extern_first(e), end = ir_extern_end(e), n = end - first, values;
    TRY(need_operands(m, f));
    if (e->rank) {
        int64_t shape[UINT8_MAX + 1];
        Scalar x;
        for (int k = 0; k < e->rank; k++) {
            TRY(scalar(m, e->shape[k], &x));
            shape[k] = x.i;
        }
        s->valid = false; // its array is overwritten from here on
        if (!s->array) s->array = array_new(m, A_FULL, e->kind, e->rank);
        TRY(array_reset(m, s->array, shape));
    }
    ExternArg *args = calloc((size_t)n + 1, sizeof *args);
    bool nan = false;
    if (!args) diag_out_of_memory();
    Status st = READY;
    for (int k = 0; k < n && st == READY; k++) st = pass_operand(m, e->args[first + k], &args[k], &nan);
    if (st == READY) st = call_extern(m, e, s, n, args, out);
    for (int k = 0; k <= n; k++) free(args[k].data);
    free(args);
    if (st == READY && m->func->ir->debug_nan && ir_makes_nan(e) && !nan && has_nan(e, s, *out))
        return fail_at(m, e->span, FSM_ERROR_NAN, ir_nan_text(m->func->ir, e, &values));
    return st;
}

static Status eval_at(Interp *m, Node *e, Scalar *out) {
    Array *a;
    int64_t flat = 0;
    Scalar i;
    for (int k = 1; k < e->nargs; k++) TRY(scalar(m, e->args[k], &i));
    TRY(array(m, e->args[0], &a));
    for (int k = 0; k + 1 < e->nargs; k++) {
        TRY(scalar(m, e->args[k + 1], &i));
        if (i.i < 0 || i.i >= a->shape[k]) {
            int n;
            const char *text = ir_bounds_text(e->args[k + 1], &n);
            return fail_at(m, e->span, FSM_ERROR_BOUNDS,
                           check_text(m->arena, text, n, (int64_t[]){i.i, a->shape[k]}));
        }
        flat = flat * a->shape[k] + i.i;
    }
    TRY(element(m, a, flat, out));
    m->counts.loads++;
    return READY;
}

static Status fail_assert(Interp *m, Node *e) {
    int n = e->nargs - 2;
    int64_t *values = ARENA_ARRAY(m->arena, int64_t, n + 1);
    for (int k = 0; k < n; k++) {
        Scalar x;
        TRY(scalar(m, e->args[2 + k], &x));
        values[k] = x.i;
    }
    return fail_at(m, e->span, ir_assert_code(e), check_text(m->arena, e->u.text, n, values));
}

static Status eval_bracket(Interp *m, Node *e, Slot *s, Scalar *out) {
    Scalar p;
    TRY(scalar(m, e->args[0], &p));
    *out = (Scalar){.i = 0};
    if (!kind_is_float(e->kind))
        out->i = 0;
    else
        out->d = 0.0;
    s->nil = !p.i;
    if (!p.i) return READY;
    TRY(scalar(m, e->args[1], out));
    s->nil = is_nil(m, e->args[1]);
    return READY;
}

// ---- binders

// The trip count of a binder, and its variable bound to 0 (phase 0); then nothing.
static Status open_binder(Interp *m, Frame *f, const Var *v) {
    if (f->phase) return READY;
    Scalar n;
    TRY(scalar(m, v->extent, &n));
    f->n = n.i, f->best = -1, f->phase = 1;
    bind(m, v, 0, NULL);
    return READY;
}

static void next_index(Interp *m, Frame *f, const Var *v) {
    m->counts.iterations++;
    set_var(m, v, ++f->i, NULL);
}

// [TL] (4.30): only terms whose bracket holds cost an addition, less one. Sums directly inside sums count jointly: the
// inner ones count theirs less one each, so that the outer one counts those with any term, less one.
static Status eval_sum(Interp *m, Frame *f, Scalar *out) {
    Node *e = f->e, *body = e->args[0];
    bool real = kind_is_float(e->kind);
    TRY(open_binder(m, f, e->u.var));
    for (; f->i < f->n; next_index(m, f, e->u.var)) {
        Scalar x;
        TRY(spend(m, 1));
        TRY(scalar(m, body, &x));
        bool was = real && (isnan(f->acc.d) || isnan(x.d));
        if (real)
            f->acc.d = scalar_round(e->kind, f->acc.d + x.d), f->acc.terms += x.terms;
        else
            f->acc.i = (int64_t)((uint64_t)f->acc.i + (uint64_t)x.i);
        if (m->func->ir->debug_nan && real && !was && isnan(f->acc.d))
            return fail_at(m, e->span, FSM_ERROR_NAN, ir_nan_sum);
        bool nil = (body->op == OP_bracket || body->op == OP_sum) && slot_of(m, body)->nil;
        if (!nil && f->terms++ && real) m->counts.add++;
    }
    *out = f->acc;
    return READY;
}

static Status eval_arg(Interp *m, Frame *f, Scalar *out) {
    Node *e = f->e, *body = e->args[0];
    TRY(open_binder(m, f, e->u.var));
    for (; f->i < f->n; next_index(m, f, e->u.var)) {
        Scalar x;
        TRY(spend(m, 1));
        TRY(scalar(m, body, &x));
        bool better;
        if (kind_is_float(body->kind) && f->best >= 0) note_doubt(m, x.d - f->acc.d, x.terms + f->acc.terms);
        if (!kind_is_float(body->kind))
            better = e->op == OP_argmin ? x.i < f->acc.i : x.i > f->acc.i;
        else if (isnan(f->acc.d) || isnan(x.d))
            better = !isnan(f->acc.d);
        else
            better = e->op == OP_argmin ? x.d < f->acc.d : x.d > f->acc.d;
        if (f->best < 0 || better) f->best = f->i, f->acc = x;
    }
    out->i = f->best;
    return READY;
}

static Status eval_array(Interp *m, Node *e, Slot *s) {
    int64_t shape[UINT8_MAX + 1];
    for (int k = 0; k < e->rank; k++) {
        Scalar n;
        TRY(scalar(m, e->shape[k], &n));
        shape[k] = n.i;
    }
    if (!s->array) s->array = array_new(m, e->op == OP_gen ? A_TABLE : A_PACK, e->kind, e->rank);
    s->array->node = e;
    if (e->op == OP_gen) return array_reset(m, s->array, shape);
    memcpy(s->array->shape, shape, sizeof *shape * e->rank);
    s->array->count = e->nargs;
    return READY;
}

// A sum of arrays, which planning makes: all elements at once, so that what they share is computed once a term.
static Status eval_array_sum(Interp *m, Frame *f, Slot *s) {
    Node *e = f->e, *body = e->args[0], *element_node = body;
    while (element_node->op == OP_gen) element_node = element_node->args[0];
    if (!f->phase) {
        int64_t shape[UINT8_MAX + 1];
        Scalar n;
        for (int k = 0; k < e->rank; k++) {
            TRY(scalar(m, e->shape[k], &n));
            shape[k] = n.i;
        }
        s->valid = false; // its array is overwritten from here on
        if (!s->array) {
            s->array = array_new(m, A_FULL, e->kind, e->rank);
            s->cur = ARENA_NEW(m->arena, Array *);
            s->cur[0] = array_new(m, A_FULL, KIND_INT, e->rank); // how many terms an element has
        }
        TRY(array_reset(m, s->array, shape));
        TRY(array_reset(m, s->cur[0], shape));
        size_t bytes = sizeof *s->array->data * (size_t)s->array->count;
        if (bytes) memset(s->array->data, 0, bytes), memset(s->cur[0]->data, 0, bytes);
    }
    TRY(open_binder(m, f, e->u.var));
    bool real = kind_is_float(e->kind);
    for (; f->i < f->n; f->k = 0, next_index(m, f, e->u.var)) {
        Array *a;
        Scalar x, *to = s->array->data;
        TRY(spend(m, 1));
        TRY(array(m, body, &a));
        for (; f->k < s->array->count; f->k++) {
            TRY(element(m, a, f->k, &x));
            if (real) to[f->k].d = scalar_round(e->kind, to[f->k].d + x.d), to[f->k].terms += x.terms;
            else to[f->k].i = (int64_t)((uint64_t)to[f->k].i + (uint64_t)x.i);
            if (!is_nil(m, element_node) && s->cur[0]->data[f->k].i++ && real) m->counts.add++;
        }
    }
    return READY;
}

// Computes element f->i of the table of a gen: binds the variables of the gens directly inside each other, and reads
// the rest of the index from the innermost body if that is still an array.
static Status eval_element(Interp *m, Frame *f) {
    Array *a = f->array;
    int64_t rest = a->count, flat = f->i;
    Node *body = a->node;
    for (int k = 0; k < a->rank && body->op == OP_gen; k++, body = body->args[0]) {
        rest /= a->shape[k];
        if (!f->phase) bind(m, body->u.var, flat / rest, NULL);
        flat %= rest;
    }
    f->phase = 1;
    Scalar x;
    if (body->rank == 0) {
        TRY(scalar(m, body, &x));
    } else {
        Array *b;
        TRY(array(m, body, &b));
        if (b->count != rest)
            return fail(m, FSM_ERROR_SIZE, "an array's rows have different sizes: %lld and %lld elements",
                        (long long)rest, (long long)b->count);
        TRY(element(m, b, flat, &x));
        m->counts.loads++;
    }
    a->data[f->i] = x;
    a->mark[f->i] = a->generation;
    m->counts.stores++;
    m->counts.iterations++;
    return READY;
}

// ---- loops

static Status eval_force(Interp *m, Frame *f) {
    Node *e = f->e;
    Array *a = f->array;
    if (f->phase == 0) {
        if (e->rank && !f->failed && array(m, e, &f->source) == WAIT) return WAIT;
        bool ok = !f->failed && (!e->rank || array(m, e, &f->source) == READY) &&
                  array_reset(m, a, e->rank ? f->source->shape : NULL) == READY;
        if (!ok) {
            a->broken = keep_failure(m);
            return READY;
        }
        f->phase = 1;
    }
    for (; f->i < a->count; f->i++) {
        Status st = FAIL;
        if (!f->failed) st = e->rank ? element(m, f->source, f->i, &a->data[f->i]) : scalar(m, e, &a->data[f->i]);
        if (st == WAIT) return WAIT;
        if (st == FAIL) a->mark[f->i] = keep_failure(m);
        f->failed = false;
    }
    if (e->rank && f->source->form != A_TABLE) m->counts.loads += a->count, m->counts.stores += a->count;
    return READY;
}

// Marks state k and those that it is computed from.
static void need_state(const Node *loop, bool *needed, int k) {
    if (needed[k]) return;
    needed[k] = true;
    for (int j = 0; j < loop->u.loop->n; j++)
        if (node_has_var(loop_step(loop, k), loop->u.loop->state[j])) need_state(loop, needed, j);
}

// Marks the states that e is computed from.
static void need_states(const Node *loop, bool *needed, const Node *e) {
    for (int k = 0; k < loop->u.loop->n; k++)
        if (node_has_var(e, loop->u.loop->state[k])) need_state(loop, needed, k);
}

static void open_loop(Interp *m, Node *e, Slot *s) {
    int n = e->u.loop->n;
    if (!s->needed) s->needed = ARENA_ARRAY(m->arena, bool, n);
    if (e->op == OP_while) need_states(e, s->needed, loop_cond(e));
    if (s->cur) return;
    s->cur = ARENA_ARRAY(m->arena, Array *, n), s->now = ARENA_ARRAY(m->arena, Array *, n);
    for (int k = 0; k < n; k++) {
        Node *init = loop_init(e, k);
        s->cur[k] = array_new(m, A_FULL, init->kind, init->rank);
        s->now[k] = array_new(m, A_FULL, init->kind, init->rank);
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
    Frame *g = push(m, F_FORCE, init ? loop_init(f->e, k) : loop_step(f->e, k));
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
    void (*set)(Interp *, const Var *, int64_t, Array *) = f->i == 0 ? bind : set_var;
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
            TRY(scalar(m, out->shape[d], &x));
            shape[d + 1] = x.i;
        }
        if (!s->row[q]) {
            s->row[q] = array_new(m, A_FULL, out->kind, out->rank);
            s->log[q] = array_new(m, A_FULL, out->kind, out->rank + 1);
        }
        TRY(array_reset(m, s->log[q], shape));
    }
    return READY;
}

static Status append_row(Interp *m, Array *log, const Array *row) {
    int64_t n = 1, first = log->count;
    for (int d = 1; d < log->rank; d++) n *= log->shape[d];
    if (!row->broken && row->count != n) return fail(m, FSM_ERROR_SIZE, "the output of a loop changes its size");
    if (__builtin_add_overflow(first, n, &log->count) || log->count > INT64_MAX / 64)
        return fail(m, FSM_ERROR_MEMORY, "the trace of a loop does not fit in memory");
    if (log->count > log->cap) {
        int64_t cap = 2 * log->count;
        Scalar *data = realloc(log->data, sizeof *data * (size_t)cap);
        if (data) log->data = data;
        uint32_t *mark = data ? realloc(log->mark, sizeof *mark * (size_t)cap) : NULL;
        if (!mark) return fail(m, FSM_ERROR_MEMORY, "the trace of a loop does not fit in memory");
        log->mark = mark, log->cap = cap;
    }
    log->shape[0]++;
    for (int64_t i = 0; i < n; i++) {
        log->data[first + i] = row->broken ? (Scalar){0} : row->data[i];
        log->mark[first + i] = row->broken ? row->broken : row->mark[i];
    }
    m->counts.stores += n;
    return spend(m, n);
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
        Frame *g = push(m, F_FORCE, loop_output(f->e, q));
        g->array = s->row[q];
        return WAIT;
    }
    f->k = 0;
    return READY;
}

enum { LOOP_EXTENT, LOOP_INIT, LOOP_TEST, LOOP_OUTPUT, LOOP_STEP };

static Status eval_loop(Interp *m, Frame *f, Slot *s) {
    Node *e = f->e;
    Scalar x;
    if (f->phase == LOOP_EXTENT) {
        if (e->op == OP_fold) {
            TRY(scalar(m, e->u.loop->index->extent, &x));
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
            if (e->op == OP_while) TRY(scalar(m, loop_cond(e), &x));
            if (e->op == OP_while ? !x.i : f->i >= f->n) return READY;
            f->phase = LOOP_OUTPUT;
        }
        if (f->phase == LOOP_OUTPUT) {
            TRY(force_outputs(m, f, s));
            f->phase = LOOP_STEP;
        }
        TRY(spend(m, 1));
        TRY(force_states(m, f, s, false, s->now));
        for (int k = 0; k < e->u.loop->n; k++) {
            Array *old = s->cur[k];
            int d = other_extent(old, s->now[k]);
            if (d >= 0)
                return fail(m, FSM_ERROR_SIZE, "the state of a loop changes its size: %lld and %lld",
                            (long long)old->shape[d], (long long)s->now[k]->shape[d]);
            s->cur[k] = s->now[k], s->now[k] = old;
        }
        m->counts.iterations++;
        f->i++;
        bind_states(m, f, s);
        f->phase = LOOP_TEST;
    }
}

// ---- the machine

static Status eval_node(Interp *m, Frame *f) {
    Node *e = f->e;
    Slot *s = slot_of(m, e);
    Scalar x, out = {.i = 0};
    switch (e->op) {
    case OP_conv:
        TRY(scalar(m, e->args[0], &x));
        if (e->kind == KIND_INT32 && x.i != (int32_t)x.i)
            return fail_at(m, e->span, FSM_ERROR_RANGE, check_text(m->arena, ir_int32_text, 1, &x.i));
        out = scalar_conv(e->args[0]->kind, e->kind, x);
        if (!kind_is_float(e->args[0]->kind)) out = with_terms(m, e, out);
        else if (kind_is_float(e->kind)) out.terms = x.terms;
        else note_doubt(m, x.d - round(x.d), x.terms);
        break;
    case OP_stop: TRY(scalar(m, e->args[0], &out)); break;
    case OP_extern: TRY(eval_extern(m, f, s, &out)); break;
    case OP_select:
        TRY(scalar(m, e->args[0], &x));
        TRY(scalar(m, e->args[x.i ? 1 : 2], &out));
        break;
    case OP_bracket: TRY(eval_bracket(m, e, s, &out)); break;
    case OP_assert:
        TRY(scalar(m, e->args[0], &x));
        if (!x.i) return fail_assert(m, e);
        TRY(scalar(m, e->args[1], &out));
        break;
    case OP_at: TRY(eval_at(m, e, &out)); break;
    case OP_sum: TRY(e->rank ? eval_array_sum(m, f, s) : eval_sum(m, f, &out)); break;
    case OP_argmin:
    case OP_argmax: TRY(eval_arg(m, f, &out)); break;
    case OP_gen:
    case OP_pack:
        if (!f->phase) TRY(eval_array(m, e, s));
        f->phase = 1;
        for (; m->mode.whole && f->i < s->array->count; f->i++) TRY(element(m, s->array, f->i, &x));
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
    unbind(m, f->trail);
    s->value = out;
    set_valid(m, e, s);
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
        Status st = spend(m, 1);
        if (st == READY) st = step(m, &vec_last(&m->frames));
        if (st == WAIT) continue;
        unbind(m, vec_last(&m->frames).trail);
        m->frames.len--;
        if (st == READY) continue;
        while (m->frames.len && vec_last(&m->frames).form != F_FORCE) {
            unbind(m, vec_last(&m->frames).trail);
            m->frames.len--;
        }
        if (!m->frames.len) return FAIL;
        vec_last(&m->frames).failed = true;
    }
    return READY;
}

// Evaluates a request made outside all frames.
#define DEMAND(m, request)                                                                                             \
    do {                                                                                                               \
        Status demand_;                                                                                                \
        while ((demand_ = (request)) == WAIT)                                                                          \
            if (run(m) == FAIL) return FAIL;                                                                           \
        if (demand_ == FAIL) return FAIL;                                                                              \
    } while (0)

// ---- functions

const char *check_text(Arena *a, const char *text, int n, const int64_t *values) {
    Str s = {0};
    int k = 0;
    for (const char *p = text; *p; p++) {
        if (p[0] == '%' && p[1] == 'd' && k < n)
            str_printf(&s, "%lld", (long long)values[k++]), p++;
        else if (p[0] == '%' && p[1] == 'g' && k < n)
            str_printf(&s, "%g", (Scalar){.i = values[k++]}.d), p++;
        else
            str_putc(&s, *p);
    }
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
        DEMAND(m, scalar(m, c->cond, &x));
        if (x.i) continue;
        int64_t *values = ARENA_ARRAY(m->arena, int64_t, c->nvalues);
        for (int j = 0; j < c->nvalues; j++) {
            DEMAND(m, scalar(m, c->values[j], &x));
            values[j] = x.i;
        }
        return fail_at(m, c->span, c->code, check_text(m->arena, c->text, c->nvalues, values));
    }
    for (int k = 0; k < f->ninputs; k++)
        for (int d = 0; d < f->inputs[k]->rank; d++) {
            Scalar x;
            DEMAND(m, scalar(m, f->inputs[k]->shape[d], &x));
            if (x.i != m->inputs[k].shape[d])
                return fail(m, FSM_ERROR_SIZE, "%s has extent %lld where %lld is expected", f->inputs[k]->name,
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
        int64_t shape[UINT8_MAX + 1], bytes = (int64_t)kind_size(e->kind);
        bool fits = true;
        for (int d = 0; d < e->rank; d++) {
            Scalar x;
            DEMAND(m, scalar(m, e->shape[d], &x));
            if (x.i < 0) return fail(m, FSM_ERROR_NEGATIVE, "size %lld is negative", (long long)x.i);
            shape[d] = x.i;
            fits &= !__builtin_mul_overflow(bytes, x.i, &bytes);
        }
        if (!fits || bytes > INT64_C(1) << 46 || !memory_for((size_t)bytes))
            return fail(m, FSM_ERROR_MEMORY, "a result of %lld bytes does not fit in memory",
                        fits ? (long long)bytes : INT64_MAX);
        int64_t n = 1;
        for (int d = 0; d < e->rank; d++) n *= shape[d];
        TRY(spend(m, n));
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
    for (int k = 0; k < m->func->noutputs; k++) {
        Node *e = m->func->outputs[k];
        Scalar x;
        if (e->rank == 0) {
            DEMAND(m, scalar(m, e, &x));
            fill_output(m, outputs, k, 0, x);
            continue;
        }
        Array *a;
        DEMAND(m, array(m, e, &a));
        if (memcmp(a->shape, outputs[k].shape, sizeof *a->shape * (size_t)a->rank))
            return fail(m, FSM_ERROR_SIZE, "result %d does not have the shape that its type says", k);
        for (int64_t i = 0; i < a->count; i++) {
            DEMAND(m, element(m, a, i, &x));
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
    Slot *s = slot_of(m, loop);
    if (!s->needed) s->needed = ARENA_ARRAY(m->arena, bool, loop->u.loop->n);
    if (e->op == OP_final) {
        need_state(loop, s->needed, (int)e->u.num);
        return;
    }
    if (!s->traced) s->traced = ARENA_ARRAY(m->arena, bool, loop->u.loop->nout);
    s->traced[e->u.num] = true;
    need_states(loop, s->needed, loop_output(loop, (int)e->u.num));
}

static void interp_open(Interp *m, const Func *f, const Tensor *inputs, InterpMode mode) {
    *m = (Interp){.arena = arena_new(), .func = f, .inputs = inputs, .mode = mode};
    m->slot = ARENA_ARRAY(m->arena, Slot *, (size_t)f->ir->next_node + 1);
    m->var = ARENA_ARRAY(m->arena, Binding, (size_t)f->ir->next_var + 1);
    m->input = ARENA_ARRAY(m->arena, Array *, f->ninputs);
    for (int k = 0; k < f->ninputs; k++) {
        Array *a = m->input[k] = array_new(m, A_INPUT, inputs[k].kind, inputs[k].rank);
        a->tensor = &inputs[k];
        for (int d = 0; d < a->rank; d++) a->shape[d] = inputs[k].shape[d];
        a->count = tensor_count(&inputs[k]);
    }
    ir_walk(f->noutputs, f->outputs, find_final, m);
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

int interp_run(Arena *a, const Func *f, const Tensor *inputs, Tensor *outputs, struct Counts *counts,
               const char **error) {
    return interp_run_as(a, f, inputs, outputs, (InterpMode){0}, counts, error);
}

int interp_run_as(Arena *a, const Func *f, const Tensor *inputs, Tensor *outputs, InterpMode mode,
                  struct Counts *counts, const char **error) {
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
