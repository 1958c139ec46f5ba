// What the reference interpreter computes for a node: scalars, reads of arrays, calls of functions of C, sums, arrays.
#include "ir/interp_internal.h"
#include "ir/terms.h"
#include "ir/extern.h"

// ---- scalars

bool is_nil(Interp *m, const Node *e) {
    if (e->op == OP_add || e->op == OP_sub) return is_nil(m, e->args[0]) && is_nil(m, e->args[1]);
    return e->op == OP_bracket && interp_slot(m, e)->nil;
}

// [TL] Fig. 6: an addition whose operand is a false bracket costs nothing (4.24); index arithmetic and truth values
// are free.
static void count_op(Interp *m, const Node *e) {
    if (!kind_is_float(e->kind)) return;
    bool sum = e->op == OP_add || e->op == OP_sub;
    if (sum && (is_nil(m, e->args[0]) || is_nil(m, e->args[1]))) return;
    m->counts.ops[op_info[e->op].count]++;
}

// --debug-nan
static Status check_nan(Interp *m, const Node *e, Scalar r, Scalar x, Scalar y) {
    if (!ir_makes_nan(e) || !isnan(r.d)) return READY;
    if (kind_is_float(e->args[0]->kind) && isnan(x.d)) return READY;
    if (e->nargs > 1 && isnan(y.d)) return READY;
    int n;
    const char *text = ir_nan_text(m->func->ir, e, &n);
    return interp_fail_at(m, e->span, FSM_ERROR_NAN, check_text(m->arena, text, n, (int64_t[]){x.i, y.i}));
}

Status eval_op(Interp *m, Node *e, Scalar *out) {
    Scalar x, y = {.i = 0};
    TRY(need_scalar(m, e->args[0], &x));
    if ((e->op == OP_and && !x.i) || (e->op == OP_or && x.i)) { // the second operand may be an error then
        *out = x;
        return READY;
    }
    if (e->nargs > 1) TRY(need_scalar(m, e->args[1], &y));
    if ((e->op == OP_idiv || e->op == OP_irem) && y.i == 0) return interp_fail_at(m, e->span, FSM_ERROR_DIVIDE, "division by zero");
    Kind kind = op_info[e->op].type == T_PSI ? e->args[1]->kind : e->args[0]->kind;
    *out = scalar_op(e->op, kind, x, y);
    if (m->mode.terms && kind_is_float(kind)) out->terms = terms_op(e->op, kind, x, y, *out, m->mode.expanded, &m->doubtful);
    count_op(m, e);
    return m->func->ir->debug_nan ? check_nan(m, e, *out, x, y) : READY;
}

Status eval_operands(Interp *m, Frame *f) {
    Scalar x;
    for (; f->k < f->e->nargs; f->k++, f->i = 0) {
        Node *o = f->e->args[f->k];
        Array *a;
        if (o->rank == 0) {
            TRY(need_scalar(m, o, &x));
            continue;
        }
        TRY(need_array(m, o, &a));
        for (; f->i < a->count; f->i++) TRY(need_element(m, a, f->i, &x));
    }
    return READY;
}

// An operand, which is there, as C gets it; *nan is set if it has a NaN. The memory of an array is to be freed.
static Status pass_operand(Interp *m, Node *o, ExternArg *out, bool *nan) {
    Array *a;
    Scalar x;
    *out = (ExternArg){.kind = o->kind, .array = o->rank > 0};
    if (o->rank == 0) {
        TRY(need_scalar(m, o, &out->value));
        *nan |= kind_is_float(o->kind) && isnan(out->value.d);
        return READY;
    }
    TRY(need_array(m, o, &a));
    Tensor t = {.kind = o->kind, .data = out->data = malloc((size_t)a->count * kind_size(o->kind) + 1)};
    if (!t.data) diag_out_of_memory();
    for (int64_t i = 0; i < a->count; i++) {
        TRY(need_element(m, a, i, &x));
        tensor_put(&t, i, x);
        *nan |= kind_is_float(o->kind) && isnan(x.d);
    }
    m->counts.loads += a->count;
    return READY;
}

// Memory for result k of the call of which e is one, whose extents are there; value: the number of elements. It is to
// be freed.
static Status pass_result(Interp *m, const Node *e, int k, ExternArg *out) {
    const ExternResult *r = &e->u.ext->results[k];
    int at = ir_extern_extents(e, k);
    int64_t shape[UINT8_MAX + 1], count;
    Scalar x;
    for (int d = 0; d < r->rank; d++) {
        TRY(need_scalar(m, e->args[at + d], &x));
        if (x.i < 0) return interp_fail(m, FSM_ERROR_NEGATIVE, "size %lld is negative", (long long)x.i);
        shape[d] = x.i;
    }
    shape_count(r->rank, shape, &count);
    void *data = count <= INT64_MAX / 64 ? malloc((size_t)count * kind_size(r->kind) + 1) : NULL;
    *out = (ExternArg){.kind = r->kind, .array = true, .data = data, .value.i = count};
    if (data) return READY;
    return interp_fail(m, FSM_ERROR_MEMORY, "an array of %lld elements does not fit in memory", (long long)count);
}

static Status call_extern(Interp *m, Node *e, Slot *s, int n, ExternArg *args, Scalar *out) {
    const Extern *x = e->u.ext;
    m->counts.ops[COUNT_CALL]++;
    if (!ir_extern_fills(x)) {
        *out = interp_with_terms(m, e, extern_call(x->name, e->kind, n, args));
        return READY;
    }
    for (int k = 0; k < x->nresults; k++) TRY(pass_result(m, e, k, &args[n + k]));
    int64_t status = extern_fill(x->name, n + x->nresults, args);
    const char *text = status ? check_text(m->arena, extern_failure(m->arena, x->name), 1, &status) : NULL;
    if (text) return interp_fail_at(m, e->span, FSM_ERROR_EXTERN, text);
    Tensor t = {.kind = e->kind, .data = args[n + e->result].data};
    if (e->rank == 0) *out = interp_with_terms(m, e, tensor_scalar(&t, 0));
    for (int64_t i = 0; e->rank && i < s->array->count; i++)
        s->array->data[i] = interp_with_terms(m, e, tensor_scalar(&t, i));
    m->counts.stores += e->rank ? s->array->count : 1;
    return READY;
}

// Has any result of the call a NaN? `value`: that of a function which writes none to memory.
static bool gives_nan(const Extern *x, const ExternArg *results, Scalar value) {
    if (!ir_extern_fills(x)) return kind_is_float(x->results[0].kind) && isnan(value.d);
    for (int k = 0; k < x->nresults; k++) {
        Tensor t = {.kind = results[k].kind, .data = results[k].data};
        for (int64_t i = 0; kind_is_float(t.kind) && i < results[k].value.i; i++)
            if (isnan(tensor_scalar(&t, i).d)) return true;
    }
    return false;
}

Status eval_extern(Interp *m, Frame *f, Slot *s, Scalar *out) {
    Node *e = f->e;
    int first = ir_extern_first(e), end = ir_extern_end(e), n = end - first, values;
    TRY(eval_operands(m, f));
    if (e->rank) {
        int64_t shape[UINT8_MAX + 1];
        Scalar x;
        for (int k = 0; k < e->rank; k++) {
            TRY(need_scalar(m, e->shape[k], &x));
            shape[k] = x.i;
        }
        s->valid = false; // its array is overwritten from here on
        if (!s->array) s->array = interp_array_new(m, A_FULL, e->kind, e->rank);
        TRY(interp_array_reset(m, s->array, shape));
    }
    const int nargs = n + e->u.ext->nresults;
    ExternArg *args = calloc((size_t)nargs, sizeof *args);
    bool nan = false;
    if (!args) diag_out_of_memory();
    Status st = READY;
    for (int k = 0; k < n && st == READY; k++) st = pass_operand(m, e->args[first + k], &args[k], &nan);
    if (st == READY) st = call_extern(m, e, s, n, args, out);
    bool makes = st == READY && m->func->ir->debug_nan && !nan && gives_nan(e->u.ext, args + n, *out);
    for (int k = 0; k < nargs; k++) free(args[k].data);
    free(args);
    if (makes) return interp_fail_at(m, e->span, FSM_ERROR_NAN, ir_nan_text(m->func->ir, e, &values));
    return st;
}

Status eval_at(Interp *m, Node *e, Scalar *out) {
    Array *a;
    int64_t flat = 0;
    Scalar i;
    for (int k = 1; k < e->nargs; k++) TRY(need_scalar(m, e->args[k], &i));
    TRY(need_array(m, e->args[0], &a));
    for (int k = 0; k + 1 < e->nargs; k++) {
        TRY(need_scalar(m, e->args[k + 1], &i));
        if (i.i < 0 || i.i >= a->shape[k]) {
            int n;
            const char *text = ir_bounds_text(e->args[k + 1], &n);
            return interp_fail_at(m, e->span, FSM_ERROR_BOUNDS, check_text(m->arena, text, n, (int64_t[]){i.i, a->shape[k]}));
        }
        flat = flat * a->shape[k] + i.i;
    }
    TRY(need_element(m, a, flat, out));
    m->counts.loads++;
    return READY;
}

Status eval_failed_assert(Interp *m, Node *e) {
    int n = e->nargs - 2;
    int64_t *values = ARENA_ARRAY(m->arena, int64_t, n + 1);
    for (int k = 0; k < n; k++) {
        Scalar x;
        TRY(need_scalar(m, e->args[2 + k], &x));
        values[k] = x.i;
    }
    return interp_fail_at(m, e->span, ir_assert_code(e), check_text(m->arena, e->u.text, n, values));
}

Status eval_bracket(Interp *m, Node *e, Slot *s, Scalar *out) {
    Scalar p;
    TRY(need_scalar(m, e->args[0], &p));
    *out = (Scalar){.i = 0};
    if (!kind_is_float(e->kind)) out->i = 0;
    else out->d = 0.0;
    s->nil = !p.i;
    if (!p.i) return READY;
    TRY(need_scalar(m, e->args[1], out));
    s->nil = is_nil(m, e->args[1]);
    return READY;
}

// ---- binders

// The trip count of a binder, and its variable bound to 0 (phase 0); then nothing.
static Status open_binder(Interp *m, Frame *f, const Var *v) {
    if (f->phase) return READY;
    Scalar n;
    TRY(need_scalar(m, v->extent, &n));
    f->n = n.i, f->best = -1, f->phase = 1;
    interp_bind(m, v, 0, NULL);
    return READY;
}

static void next_index(Interp *m, Frame *f, const Var *v) {
    m->counts.iterations++;
    interp_set_var(m, v, ++f->i, NULL);
}

// The sums around a term.
typedef struct Around {
    const Var *v;
    const struct Around *next;
} Around;

static bool is_known(const Node *extent, const Around *around) {
    while (around && !node_has_var(extent, around->v)) around = around->next;
    return !around;
}

// *no: the term is 0 in all iterations of the sums around it because it is made of sums over nothing, as those along rows of no
// elements: there may be 2^62 such rows. Only what is known before these sums is looked at.
static Status adds_nothing(Interp *m, const Node *term, const Around *around, bool *no) {
    *no = false;
    if (term->op == OP_neg) return adds_nothing(m, term->args[0], around, no);
    if (term->op == OP_add) {
        TRY(adds_nothing(m, term->args[0], around, no));
        return *no ? adds_nothing(m, term->args[1], around, no) : READY;
    }
    if (term->op != OP_sum || term->rank) return READY;
    if (!is_known(term->u.var->extent, around)) return READY;
    Scalar n;
    TRY(need_scalar(m, term->u.var->extent, &n));
    *no = n.i <= 0;
    return *no ? READY : adds_nothing(m, term->args[0], &(Around){term->u.var, around}, no);
}

// [TL] (4.30): only terms whose bracket holds cost an addition, less one. Sums directly inside sums count jointly: the
// inner ones count theirs less one each, so that the outer one counts those with any term, less one.
Status eval_sum(Interp *m, Frame *f, Scalar *out) {
    Node *e = f->e, *body = e->args[0];
    bool real = kind_is_float(e->kind);
    TRY(open_binder(m, f, e->u.var));
    if (f->phase == 1 && f->n > 1) {
        bool no;
        TRY(adds_nothing(m, body, &(Around){e->u.var, NULL}, &no));
        if (no) f->n = 0;
        f->phase = 2;
    }
    for (; f->i < f->n; next_index(m, f, e->u.var)) {
        Scalar x;
        TRY(interp_spend(m, 1));
        TRY(need_scalar(m, body, &x));
        bool was = real && (isnan(f->acc.d) || isnan(x.d));
        if (real) f->acc.d = scalar_round(e->kind, f->acc.d + x.d), f->acc.terms += x.terms;
        else f->acc.i = (int64_t)((uint64_t)f->acc.i + (uint64_t)x.i);
        if (m->func->ir->debug_nan && real && !was && isnan(f->acc.d)) return interp_fail_at(m, e->span, FSM_ERROR_NAN, ir_nan_sum);
        bool nil = (body->op == OP_bracket || body->op == OP_sum) && interp_slot(m, body)->nil;
        if (!nil && f->terms++ && real) m->counts.ops[COUNT_ADD]++;
    }
    *out = f->acc;
    return READY;
}

Status eval_arg(Interp *m, Frame *f, Scalar *out) {
    Node *e = f->e, *body = e->args[0];
    TRY(open_binder(m, f, e->u.var));
    for (; f->i < f->n; next_index(m, f, e->u.var)) {
        Scalar x;
        TRY(interp_spend(m, 1));
        TRY(need_scalar(m, body, &x));
        bool better;
        if (kind_is_float(body->kind) && f->best >= 0) interp_note_doubt(m, x.d - f->acc.d, x.terms + f->acc.terms);
        if (!kind_is_float(body->kind)) better = e->op == OP_argmin ? x.i < f->acc.i : x.i > f->acc.i;
        else if (isnan(f->acc.d) || isnan(x.d)) better = !isnan(f->acc.d);
        else better = e->op == OP_argmin ? x.d < f->acc.d : x.d > f->acc.d;
        if (f->best < 0 || better) f->best = f->i, f->acc = x;
    }
    out->i = f->best;
    return READY;
}

Status eval_array(Interp *m, Node *e, Slot *s) {
    int64_t shape[UINT8_MAX + 1];
    for (int k = 0; k < e->rank; k++) {
        Scalar n;
        TRY(need_scalar(m, e->shape[k], &n));
        shape[k] = n.i;
    }
    if (!s->array) s->array = interp_array_new(m, e->op == OP_gen ? A_TABLE : A_PACK, e->kind, e->rank);
    s->array->node = e;
    if (e->op == OP_gen) return interp_array_reset(m, s->array, shape);
    memcpy(s->array->shape, shape, sizeof *shape * e->rank);
    s->array->count = e->nargs;
    return READY;
}

// A sum of arrays, which planning makes: all elements at once, so that what they share is computed once a term.
Status eval_array_sum(Interp *m, Frame *f, Slot *s) {
    Node *e = f->e, *body = e->args[0], *element_node = body;
    while (element_node->op == OP_gen) element_node = element_node->args[0];
    if (!f->phase) {
        int64_t shape[UINT8_MAX + 1];
        Scalar n;
        for (int k = 0; k < e->rank; k++) {
            TRY(need_scalar(m, e->shape[k], &n));
            shape[k] = n.i;
        }
        s->valid = false; // its array is overwritten from here on
        if (!s->array) {
            s->array = interp_array_new(m, A_FULL, e->kind, e->rank);
            s->cur = ARENA_NEW(m->arena, Array *);
            s->cur[0] = interp_array_new(m, A_FULL, KIND_INT, e->rank); // how many terms an element has
        }
        TRY(interp_array_reset(m, s->array, shape));
        TRY(interp_array_reset(m, s->cur[0], shape));
        size_t bytes = sizeof *s->array->data * (size_t)s->array->count;
        if (bytes) memset(s->array->data, 0, bytes), memset(s->cur[0]->data, 0, bytes);
    }
    TRY(open_binder(m, f, e->u.var));
    bool real = kind_is_float(e->kind);
    for (; f->i < f->n; f->k = 0, next_index(m, f, e->u.var)) {
        Array *a;
        Scalar x, *to = s->array->data;
        TRY(interp_spend(m, 1));
        TRY(need_array(m, body, &a));
        for (; f->k < s->array->count; f->k++) {
            TRY(need_element(m, a, f->k, &x));
            if (real) to[f->k].d = scalar_round(e->kind, to[f->k].d + x.d), to[f->k].terms += x.terms;
            else to[f->k].i = (int64_t)((uint64_t)to[f->k].i + (uint64_t)x.i);
            if (!is_nil(m, element_node) && s->cur[0]->data[f->k].i++ && real) m->counts.ops[COUNT_ADD]++;
        }
    }
    return READY;
}

// Computes element f->i of the table of a gen: binds the variables of the gens directly inside each other, and reads
// the rest of the index from the innermost body if that is still an array.
Status eval_element(Interp *m, Frame *f) {
    Array *a = f->array;
    int64_t rest = a->count, flat = f->i;
    Node *body = a->node;
    for (int k = 0; k < a->rank && body->op == OP_gen; k++, body = body->args[0]) {
        rest /= a->shape[k];
        if (!f->phase) interp_bind(m, body->u.var, flat / rest, NULL);
        flat %= rest;
    }
    f->phase = 1;
    Scalar x;
    if (body->rank == 0) {
        TRY(need_scalar(m, body, &x));
    } else {
        Array *b;
        TRY(need_array(m, body, &b));
        if (b->count != rest)
            return interp_fail(m, FSM_ERROR_SIZE, "an array's rows have different sizes: %lld and %lld elements", (long long)rest,
                               (long long)b->count);
        TRY(need_element(m, b, flat, &x));
        m->counts.loads++;
    }
    a->data[f->i] = x;
    a->mark[f->i] = a->generation;
    m->counts.stores++;
    m->counts.iterations++;
    return READY;
}
