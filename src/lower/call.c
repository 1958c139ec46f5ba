// Calls of C functions.
#include "fsmc/runtime.h"
#include "ir/extern.h"
#include "lower/internal.h"

enum { MAX_RANK = 16 };

// Whether the array e, which is in buf, has a NaN.
static Temp has_nan(Lower *l, const Node *e, Buf *buf) {
    Temp found = lower_cell(l, KIND_BOOL, lower_value(l, ir_bool(l->ir, false))), idx[MAX_RANK];
    Stmt *loop[MAX_RANK];
    for (int k = 0; k < e->rank; k++) {
        Var *v = ir_index(l->ir, "k", e->shape[k]);
        loop[k] = lower_begin_for(l, v);
        idx[k] = lower_value(l, ir_var(v));
    }
    Temp x = lower_temp(l, e->kind, NULL);
    lower_stmt(l, ST_LOAD, x, e->rank, idx)->buf = buf;
    lower_set(l, found, lower_op2(l, OP_or, lower_get(l, found), lower_op2(l, OP_ne, x, x)));
    for (int k = e->rank; k-- > 0;) lower_end_for(l, loop[k]);
    return lower_get(l, found);
}

static Temp is_nan(Lower *l, const Node *e, Temp t, Buf *buf) {
    return e->rank ? has_nan(l, e, buf) : lower_op2(l, OP_ne, t, t);
}

// --debug-nan: fails if a result has a NaN and no argument has one. t: the results that are scalars.
static void check_nan(Lower *l, Node *e, const Stmt *s, const Temp *t) {
    int first = ir_extern_first(e), nin = s->nin - s->nout, nvalues;
    for (int r = 0; r < e->u.ext->nresults; r++) {
        Node *result = ir_extern_result(l->ir, e, r);
        if (!kind_is_float(result->kind)) continue;
        Temp bad = is_nan(l, result, t[r], s->nout ? s->in[nin + r] : NULL), ok = lower_temp(l, KIND_BOOL, NULL);
        lower_stmt(l, ST_OP, ok, 1, &bad)->op = OP_not;
        for (int k = 0, scalars = 0; k < nin; k++) {
            Temp arg = s->in[k] ? -1 : s->args[scalars++];
            if (kind_is_float(e->args[first + k]->kind))
                ok = lower_op2(l, OP_or, ok, is_nan(l, e->args[first + k], arg, s->in[k]));
        }
        lower_check(l, ok, FSM_ERROR_NAN, ir_nan_text(l->ir, e, &nvalues), l->span, 0, NULL);
    }
}

// What C fills with a result; an array of one element for a scalar.
static Buf *memory_of(Lower *l, Node *result) {
    Temp one = result->rank ? -1 : lower_int(l, 1);
    return result->rank ? lower_new_array(l, result) : lower_buf(l, BUF_TEMP, result->kind, 1, &one, NULL);
}

// The results that C has written are known from here on. t: set to those that are scalars.
static void take_results(Lower *l, Node *e, const Stmt *s, Temp *t) {
    for (int r = 0; r < s->nout; r++) {
        Node *result = ir_extern_result(l->ir, e, r);
        Buf *b = s->in[s->nin - s->nout + r];
        if (result->rank) {
            map_put(&l->scope->arrays, result, b);
            continue;
        }
        Temp at = lower_int(l, 0);
        t[r] = lower_temp(l, result->kind, NULL);
        lower_stmt(l, ST_LOAD, t[r], 1, &at)->buf = b;
        map_put(&l->scope->values, result, (void *)(intptr_t)(t[r] + 1));
    }
}

Temp lower_extern(Lower *l, Node *e) {
    const Extern *x = e->u.ext;
    int first = ir_extern_first(e), n = ir_extern_end(e) - first, scalars = 0;
    int nout = ir_extern_fills(x) ? x->nresults : 0;
    Temp *args = ARENA_ARRAY(l->arena, Temp, n + 1), *t = ARENA_ARRAY(l->arena, Temp, x->nresults);
    Buf **in = ARENA_ARRAY(l->arena, Buf *, n + nout + 1);
    if (first) lower_value(l, e->args[0]); // sizes agree before anything is called
    for (int k = 0; k < n; k++) {
        Node *a = e->args[first + k];
        if (a->rank) in[k] = lower_array(l, a);
        else args[scalars++] = lower_value(l, a);
    }
    for (int r = 0; r < nout; r++) in[n + r] = memory_of(l, ir_extern_result(l->ir, e, r));
    Temp gives = lower_temp(l, nout ? KIND_INT : e->kind, NULL);
    Stmt *s = lower_stmt(l, ST_EXTERN, gives, scalars, args);
    s->u.name = x->name;
    s->nin = n + nout, s->in = in, s->nout = nout;
    if (nout)
        lower_check(l, lower_op2(l, OP_eq, gives, lower_int(l, 0)), FSM_ERROR_EXTERN, extern_failure(l->arena, x->name),
                    e->span, 1, &gives);
    t[0] = gives; // of one that is returned
    take_results(l, e, s, t);
    if (l->ir->debug_nan) check_nan(l, e, s, t);
    return t[e->result];
}

Buf *lower_extern_array(Lower *l, Node *e) {
    lower_extern(l, e);
    return lower_known_array(l, e);
}
