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

static Temp is_nan(Lower *l, const Node *e, Temp t, Buf *buf) { return buf ? has_nan(l, e, buf) : lower_op2(l, OP_ne, t, t); }

// --debug-nan: fails if the result has a NaN and no argument has one.
static void check_nan(Lower *l, Node *e, const Stmt *s, Buf *buf) {
    int first = ir_extern_first(e), nvalues;
    Temp bad = is_nan(l, e, s->dst, buf), ok = lower_temp(l, KIND_BOOL, NULL);
    lower_stmt(l, ST_OP, ok, 1, &bad)->op = OP_not;
    for (int k = 0, scalars = 0; k < s->nin; k++) {
        Temp t = s->in[k] ? -1 : s->args[scalars++];
        if (kind_is_float(e->args[first + k]->kind)) ok = lower_op2(l, OP_or, ok, is_nan(l, e->args[first + k], t, s->in[k]));
    }
    lower_check(l, ok, FSM_ERROR_NAN, ir_nan_text(l->ir, e, &nvalues), l->span, 0, NULL);
}

Temp lower_extern(Lower *l, Node *e, Buf *buf) {
    int first = ir_extern_first(e), n = ir_extern_end(e) - first, scalars = 0;
    Temp *args = ARENA_ARRAY(l->arena, Temp, n + 1);
    Buf **in = ARENA_ARRAY(l->arena, Buf *, n + 1);
    if (first) lower_value(l, e->args[0]); // sizes agree before anything is called
    for (int k = 0; k < n; k++) {
        Node *a = e->args[first + k];
        if (a->rank) in[k] = lower_array(l, a);
        else args[scalars++] = lower_value(l, a);
    }
    Temp t = lower_temp(l, buf ? KIND_INT : e->kind, NULL);
    Stmt *s = lower_stmt(l, ST_EXTERN, t, scalars, args);
    s->u.name = e->u.ext->name;
    s->nin = n, s->in = in, s->buf = buf;
    if (buf)
        lower_check(l, lower_op2(l, OP_eq, t, lower_int(l, 0)), FSM_ERROR_EXTERN, extern_failure(l->arena, s->u.name), e->span, 1,
                    &t);
    if (l->ir->debug_nan && ir_makes_nan(e)) check_nan(l, e, s, buf);
    return t;
}
