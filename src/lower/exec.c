// The executor of loop trees.
#include "lower/exec.h"
#include "fsmc/runtime_internal.h"
#include "ir/extern.h"
#include "ir/interp.h"
#include "support/vec.h"

#include <stdlib.h>
#include <string.h>

enum { EXEC_THREADS = 3 }; // as many as loops are taken apart for

typedef enum Flow { FLOW_ON, FLOW_BREAK, FLOW_ERROR } Flow;

// What a value has cost, if it turns out to be needed: its own operation, and what it was made of.
typedef struct Owed {
    int cost;
    struct Owed *of[2];
} Owed;

// Counting by need ([TL] Fig. 6): what is owed for each temp (NULL: nothing).
typedef struct Needs {
    Arena *arena;
    Owed **owed;
    VEC(Owed *) stack;
    int64_t work;
} Needs;

typedef struct Exec {
    Arena *arena;
    const Tree *t;
    const Tensor *inputs;
    Tensor *outputs;
    Scalar *temp;
    Tensor *buf; // by buffer id; a BUF_TEMP that does not exist has no data
    Counts counts;
    int64_t bytes; // held by buffers now
    int code;
    const char *error;
    Needs *needs; // NULL: only what is executed is counted
} Exec;

static Flow exec_block(Exec *x, const Block *b);

static Kind temp_kind(const Exec *x, Temp i) { return x->t->temps.data[i].kind; }

static Tensor *buffer(Exec *x, const Buf *b) {
    Tensor *t = b->where == BUF_OUTPUT ? &x->outputs[b->number] : &x->buf[b->id];
    if (b->where == BUF_INPUT) *t = x->inputs[b->number];
    if (!t->data && b->where == BUF_TEMP)
        fatal_bug("the loop tree of '%s' uses buffer %d before it comes into being", x->t->func->name, b->id);
    return t;
}

// The place of the element of b with the indices idx.
static int64_t place(const Exec *x, const Buf *b, const Tensor *t, const Temp *idx) {
    int64_t at = 0;
    for (int k = 0; k < t->rank; k++) {
        int64_t i = x->temp[idx[k]].i;
        if (i < 0 || i >= t->shape[k])
            fatal_bug("the loop tree of '%s' accesses element %lld of dimension %d of buffer %d (%s), which has %lld",
                      x->t->func->name, (long long)i, k, b->id, b->name ? b->name : "unnamed", (long long)t->shape[k]);
        at = at * t->shape[k] + i;
    }
    return at;
}

// ---- what is needed

static void pay(Needs *n, Owed *o) {
    if (!o) return;
    vec_push(&n->stack, o);
    while (n->stack.len) {
        o = vec_pop(&n->stack);
        n->work += o->cost;
        for (int k = 0; k < 2; k++)
            if (o->of[k]) vec_push(&n->stack, o->of[k]);
        *o = (Owed){0};
    }
}

static Owed *owe(Needs *n, int cost, Owed *a, Owed *b) {
    if (!cost && (!a || !b)) return a ? a : b;
    Owed *o = ARENA_NEW(n->arena, Owed);
    *o = (Owed){cost, {a, b}};
    return o;
}

// The arms of selects, cells and operations take no part in what happens; what else a statement uses, it needs.
static void need_stmt(Exec *x, const Stmt *s) {
    Needs *n = x->needs;
    Owed **to = s->dst >= 0 ? &n->owed[s->dst] : NULL, *first = s->nargs ? n->owed[s->args[0]] : NULL;
    int cost = s->kind == ST_OP && kind_is_float(temp_kind(x, s->dst)) ? op_info[s->op].cost : 0;
    switch (s->kind) {
    case ST_OP: *to = owe(n, cost, first, s->nargs > 1 ? n->owed[s->args[1]] : NULL); return;
    case ST_CONV:
    case ST_CELL:
    case ST_GET:
    case ST_SET: *to = first; return;
    case ST_SELECT: *to = owe(n, 0, first, n->owed[s->args[x->temp[s->args[0]].i ? 1 : 2]]); return;
    default:
        for (int k = 0; k < s->nargs; k++) pay(n, n->owed[s->args[k]]), n->owed[s->args[k]] = NULL;
        if (to) *to = NULL;
    }
}

// ---- statements

static void exec_op(Exec *x, const Stmt *s) {
    Kind k = temp_kind(x, s->args[op_info[s->op].type == T_PSI ? 1 : 0]);
    Scalar a = x->temp[s->args[0]], b = s->nargs > 1 ? x->temp[s->args[1]] : (Scalar){.i = 0};
    if ((s->op == OP_idiv || s->op == OP_irem) && b.i == 0) fatal_bug("the loop tree of '%s' divides by zero", x->t->func->name);
    x->temp[s->dst] = scalar_op(s->op, k, a, b);
    if (!kind_is_float(temp_kind(x, s->dst))) return;
    x->counts.work += op_info[s->op].cost;
    switch (op_info[s->op].count) {
    case COUNT_ADD: x->counts.add++; break;
    case COUNT_MUL: x->counts.mul++; break;
    case COUNT_CALL: x->counts.call++; break;
    case COUNT_FREE: break;
    }
}

static Flow exec_new(Exec *x, const Buf *b) {
    Tensor *t = &x->buf[b->id];
    int64_t bytes = (int64_t)kind_size(b->kind);
    bool fits = true;
    free(t->shape);
    *t = (Tensor){.kind = b->kind, .rank = b->rank, .shape = calloc((size_t)b->rank + 1, sizeof *t->shape)};
    if (!t->shape) diag_out_of_memory();
    for (int k = 0; k < b->rank; k++) {
        int64_t n = x->temp[b->extent[k]].i;
        t->shape[k] = n;
        if (n < 0) fatal_bug("the loop tree of '%s' makes a buffer of negative size", x->t->func->name);
        fits &= !__builtin_mul_overflow(bytes, n, &bytes);
    }
    t->data = fits ? malloc((size_t)bytes + 1) : NULL;
    if (!t->data) {
        x->code = FSM_ERROR_MEMORY;
        x->error = arena_printf(x->arena, "an array of %lld bytes does not fit in memory", fits ? (long long)bytes : -1);
        return FLOW_ERROR;
    }
    memset(t->data, 0xff, (size_t)bytes); // not a number: shows what is read before it is written
    x->bytes += bytes;
    if (x->bytes > x->counts.bytes) x->counts.bytes = x->bytes;
    return FLOW_ON;
}

static void drop(Exec *x, const Buf *b) {
    Tensor *t = &x->buf[b->id];
    if (t->data) x->bytes -= tensor_count(t) * (int64_t)kind_size(t->kind);
    free(t->data);
    free(t->shape);
    *t = (Tensor){0};
}

static void exec_move(Exec *x, const Stmt *s, Tensor *to, const Tensor *from) {
    int at = (int)s->u.num;
    int64_t first = x->temp[s->args[0]].i, n = x->temp[s->args[1]].i, columns = 1, row = 1;
    bool fits = first >= 0 && n >= 0 && n <= from->shape[at] && n <= to->shape[at] - first;
    for (int k = 0; k < to->rank; k++) {
        if (k == at) continue;
        fits &= to->shape[k] == from->shape[k];
        *(k < at ? &columns : &row) *= to->shape[k];
    }
    if (!fits) fatal_bug("the loop tree of '%s' moves what is not there", x->t->func->name);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t i = 0; i < n * row; i++)
            tensor_put(to, (c * to->shape[at] + first) * row + i, tensor_scalar(from, c * from->shape[at] * row + i));
    x->counts.loads += columns * n * row, x->counts.stores += columns * n * row;
}

static void exec_array(Exec *x, const Stmt *s) {
    Tensor *t = buffer(x, s->buf);
    int64_t at, n = tensor_count(t);
    switch (s->kind) {
    case ST_FILL:
        for (at = 0; at < n; at++) tensor_put(t, at, x->temp[s->args[0]]);
        x->counts.stores += n;
        break;
    case ST_COPY: {
        Tensor *from = buffer(x, s->src);
        if (memcmp(from->shape, t->shape, sizeof *t->shape * (size_t)t->rank))
            fatal_bug("the loop tree of '%s' copies between buffers of different extents", x->t->func->name);
        if (n) memmove(t->data, from->data, (size_t)n * kind_size(t->kind));
        x->counts.loads += n, x->counts.stores += n;
        break;
    }
    case ST_MOVE: exec_move(x, s, t, buffer(x, s->src)); break;
    case ST_LOAD:
        x->temp[s->dst] = tensor_scalar(t, place(x, s->buf, t, s->args));
        x->counts.loads++;
        break;
    case ST_STORE:
        tensor_put(t, place(x, s->buf, t, s->args + 1), x->temp[s->args[0]]);
        x->counts.stores++;
        break;
    default: // ST_ADDTO
        at = place(x, s->buf, t, s->args + 1);
        tensor_put(t, at, scalar_op(OP_add, t->kind, tensor_scalar(t, at), x->temp[s->args[0]]));
        if (x->needs && kind_is_float(t->kind)) x->needs->work++;
        x->counts.loads++, x->counts.stores++;
        if (kind_is_float(t->kind)) x->counts.add++, x->counts.work++;
    }
}

static ExternArg whole(Exec *x, const Buf *b, int64_t *moved) {
    const Tensor *t = buffer(x, b);
    *moved += tensor_count(t);
    return (ExternArg){.kind = t->kind, .array = true, .data = t->data};
}

static Scalar exec_extern(Exec *x, const Stmt *s) {
    ExternArg *args = ARENA_ARRAY(x->arena, ExternArg, s->nin + 1);
    for (int k = 0, scalars = 0; k < s->nin; k++) {
        Temp t = s->in[k] ? -1 : s->args[scalars++];
        args[k] = s->in[k] ? whole(x, s->in[k], &x->counts.loads) : (ExternArg){.kind = temp_kind(x, t), .value = x->temp[t]};
    }
    x->counts.call++, x->counts.work += op_info[OP_extern].cost;
    if (x->needs) x->needs->work += op_info[OP_extern].cost;
    if (!s->buf) return extern_call(s->u.name, temp_kind(x, s->dst), s->nin, args);
    args[s->nin] = whole(x, s->buf, &x->counts.stores);
    return (Scalar){.i = extern_fill(s->u.name, s->nin + 1, args)};
}

static Flow exec_check(Exec *x, const Stmt *s) {
    if (x->temp[s->args[0]].i) return FLOW_ON;
    int n = s->nargs - 1;
    int64_t *values = ARENA_ARRAY(x->arena, int64_t, n);
    for (int k = 0; k < n; k++) values[k] = x->temp[s->args[k + 1]].i;
    x->code = s->u.check->code;
    const char *line = diag_line(x->arena, s->u.check->span), *text = check_text(x->arena, s->u.check->text, n, values);
    x->error = *line ? arena_printf(x->arena, "%s: %s", line, text) : text;
    return FLOW_ERROR;
}

// In threads iterations run in any order, and the first that fails is the one that counts. Here the last comes first, which
// shows what one of them would need of another.
static Flow exec_threads(Exec *x, const Stmt *s) {
    Flow all = FLOW_ON;
    for (int64_t i = x->temp[s->args[0]].i; i-- > 0;) {
        x->counts.iterations++;
        x->temp[s->dst].i = i;
        Flow f = exec_block(x, s->body);
        if (f != FLOW_ON) all = f;
    }
    return all;
}

static Flow exec_for(Exec *x, const Stmt *s) {
    int64_t n = x->temp[s->args[0]].i;
    for (int64_t i = s->nargs > 1 ? x->temp[s->args[1]].i : 0; i < n; i++) {
        x->counts.iterations++;
        x->temp[s->dst].i = i;
        Flow f = exec_block(x, s->body);
        if (f != FLOW_ON) return f;
    }
    return FLOW_ON;
}

static Flow exec_loop(Exec *x, const Stmt *s) {
    for (;;) {
        Flow f = exec_block(x, s->body);
        if (f == FLOW_BREAK) return FLOW_ON;
        if (f == FLOW_ERROR) return f;
        x->counts.iterations++;
    }
}

static Flow exec_stmt(Exec *x, const Stmt *s) {
    Scalar *dst = s->dst >= 0 ? &x->temp[s->dst] : NULL, a = {.i = 0};
    if (s->nargs) a = x->temp[s->args[0]];
    if (x->needs) need_stmt(x, s);
    switch (s->kind) {
    case ST_LIT:
        if (kind_is_float(temp_kind(x, s->dst))) dst->d = s->u.real;
        else dst->i = s->u.num;
        break;
    case ST_ARG: *dst = tensor_scalar(&x->inputs[s->u.num], 0); break;
    case ST_OP: exec_op(x, s); break;
    case ST_EXTERN: *dst = exec_extern(x, s); break;
    case ST_CONV: *dst = scalar_conv(temp_kind(x, s->args[0]), temp_kind(x, s->dst), a); break;
    case ST_SELECT: *dst = x->temp[s->args[a.i ? 1 : 2]]; break;
    case ST_CELL:
    case ST_GET:
    case ST_SET: *dst = a; break;
    case ST_NEW: return exec_new(x, s->buf);
    case ST_FILL:
    case ST_COPY:
    case ST_MOVE:
    case ST_LOAD:
    case ST_STORE:
    case ST_ADDTO: exec_array(x, s); break;
    case ST_FETCH: break;
    case ST_OUT: tensor_put(&x->outputs[s->u.num], 0, a); break;
    case ST_CHUNK: dst->i = fsm_chunk(a.i, x->temp[s->args[1]].d, x->temp[s->args[2]].d, s->u.num); break;
    case ST_THREADS: dst->i = EXEC_THREADS; break;
    case ST_FOR: return s->threads ? exec_threads(x, s) : exec_for(x, s);
    case ST_LOOP: return exec_loop(x, s);
    case ST_BREAK: return a.i ? FLOW_ON : FLOW_BREAK;
    case ST_IF: return exec_block(x, a.i ? s->body : s->other);
    case ST_CHECK: return exec_check(x, s);
    }
    return FLOW_ON;
}

static Flow exec_block(Exec *x, const Block *b) {
    Flow f = FLOW_ON;
    int n = b ? b->stmts.len : 0;
    for (int i = 0; i < n && f == FLOW_ON; i++) f = exec_stmt(x, b->stmts.data[i]);
    for (int i = 0; i < n; i++)
        if (b->stmts.data[i]->kind == ST_NEW) drop(x, b->stmts.data[i]->buf);
    return f;
}

// What is run for these inputs, with outputs that show what is never written.
static const Tree *version(const Tree *t, const Tensor *inputs, Tensor *outputs) {
    for (int k = 0; t->otherwise && k < t->func->nsizes; k++)
        if (tensor_get_int(&inputs[k], 0) < ir_least_size(t->func->ir, k)) t = t->otherwise;
    for (int k = 0; k < t->func->noutputs; k++)
        memset(outputs[k].data, 0xff, (size_t)tensor_count(&outputs[k]) * kind_size(outputs[k].kind));
    return t;
}

static int run(Arena *a, const Tree *t, const Tensor *inputs, Tensor *outputs, Needs *needs, Counts *counts, const char **error) {
    Exec x = {.arena = a, .t = t, .inputs = inputs, .outputs = outputs, .needs = needs};
    x.temp = calloc((size_t)t->temps.len + 1, sizeof *x.temp);
    x.buf = calloc((size_t)t->bufs.len + 1, sizeof *x.buf);
    if (!x.temp || !x.buf) diag_out_of_memory();
    exec_block(&x, t->body);
    free(x.temp);
    free(x.buf);
    *counts = x.counts;
    if (x.code) *error = x.error;
    return x.code;
}

int tree_exec(Arena *a, const Tree *t, const Tensor *inputs, Tensor *outputs, Counts *counts, const char **error) {
    Counts done = {0};
    int code = func_prepare(a, t->func, inputs, outputs, error);
    if (!code) code = run(a, version(t, inputs, outputs), inputs, outputs, NULL, &done, error);
    if (counts) *counts = done;
    return code;
}

int tree_exec_needed(Arena *a, const Tree *t, const Tensor *inputs, Tensor *outputs, int64_t *work, const char **error) {
    int code = func_prepare(a, t->func, inputs, outputs, error);
    *work = 0;
    if (code) return code;
    t = version(t, inputs, outputs);
    Counts done;
    Needs n = {.arena = arena_new()};
    n.owed = ARENA_ARRAY(n.arena, Owed *, t->temps.len + 1);
    code = run(a, t, inputs, outputs, &n, &done, error);
    *work = n.work;
    vec_free(&n.stack);
    arena_free(n.arena);
    return code;
}
