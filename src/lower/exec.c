// The executor of loop trees.
#include "lower/exec.h"
#include "fsmc/runtime_internal.h"
#include "ir/extern.h"
#include "ir/interp.h"
#include "lower/idle.h"
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

// A statement made ready, and what its blocks are once they have run.
typedef struct Code Code;
typedef struct Step {
    const Stmt *s;
    int count, cost; // the class that it falls under, and its floating-point work
    Code *body, *other;
    const Works *works; // of a loop, once it has run
} Step;
struct Code {
    int nsteps, nmade;
    Step *steps;
    const Buf **made; // what comes into being there
};

typedef struct ExecProc { // a procedure, once it has been called
    const Stmt *s;
    Code *body;
    Scalar *params;
} ExecProc;

// The memory of a temporary array. It is kept when the array is dropped: all bytes of it are 0xff then, which are not
// numbers, so that what is read before it is written shows. What was written is noted by lines, so that an array costs no
// more than that.
enum { LINE = 9 }; // 512 bytes
typedef struct Memory {
    size_t room;
    char *data;
    bool *touched; // by line
    int *lines;    // that are
    int nlines;
    bool all;
} Memory;

typedef struct Exec {
    Arena *arena, *own; // the caller's, and one that ends with the run
    const Tree *t;
    Stmt **def; // by temp: the statement that makes it
    const Tensor *inputs;
    Tensor *outputs;
    Scalar *temp;
    Tensor **buf;   // by buffer id; a BUF_TEMP that does not exist has no data
    Memory **memory; // likewise, of a BUF_TEMP
    ExecProc *procs; // by number
    Scalar *params;  // of the procedure that runs
    ExternArg *args;
    int nargs;
    int64_t ops[COUNT_CLASSES + 1]; // the last one: of what is not counted
    Counts counts;
    int64_t bytes; // held by buffers now
    int code;
    const char *error;
    Needs *needs; // NULL: only what is executed is counted
} Exec;

static Flow exec_block(Exec *x, const Code *c);

static Kind temp_kind(const Exec *x, Temp i) { return x->t->temps.data[i].kind; }

static Tensor *buffer(const Exec *x, const Buf *b) {
    Tensor *t = x->buf[b->id];
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

static Scalar element(const Tensor *t, int64_t at) {
    return t->kind == KIND_DOUBLE ? (Scalar){.d = ((const double *)t->data)[at]} : tensor_scalar(t, at);
}

// Element `at` of b, whose tensor is t, becomes the value.
static void put(Exec *x, const Buf *b, Tensor *t, int64_t at, Scalar value) {
    Memory *m = x->memory[b->id];
    size_t line = (size_t)at * kind_size(t->kind) >> LINE;
    if (m->data && !m->touched[line]) m->touched[line] = true, m->lines[m->nlines++] = (int)line;
    if (t->kind == KIND_DOUBLE) ((double *)t->data)[at] = value.d;
    else tensor_put(t, at, value);
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

// The arms of selects, cells and operations take no part in what happens; what else a statement uses, it needs, and what
// that does is done.
static void need_step(Exec *x, const Step *step) {
    Needs *n = x->needs;
    const Stmt *s = step->s;
    Owed **to = s->dst >= 0 ? &n->owed[s->dst] : NULL, *first = s->nargs ? n->owed[s->args[0]] : NULL;
    switch (s->kind) {
    case ST_OP: *to = owe(n, step->cost, first, s->nargs > 1 ? n->owed[s->args[1]] : NULL); return;
    case ST_CONV:
    case ST_CELL:
    case ST_GET:
    case ST_SET: *to = first; return;
    case ST_SELECT: *to = owe(n, 0, first, n->owed[s->args[x->temp[s->args[0]].i ? 1 : 2]]); return;
    default:
        for (int k = 0; k < s->nargs; k++) pay(n, n->owed[s->args[k]]), n->owed[s->args[k]] = NULL;
        n->work += step->cost;
        if (to) *to = NULL;
    }
}

// ---- blocks made ready

// The class of what the statement does besides loads and stores, and the floating-point work of it.
static void classify(const Exec *x, Step *step) {
    const Stmt *s = step->s;
    Kind made = s->dst >= 0 ? temp_kind(x, s->dst) : KIND_BOOL;
    step->count = COUNT_FREE;
    switch (s->kind) {
    case ST_OP:
        step->count = made == KIND_INT ? COUNT_INT : op_info[s->op].count;
        if (kind_is_float(made)) step->cost = op_info[s->op].cost;
        break;
    case ST_EXTERN: step->count = COUNT_CALL, step->cost = op_info[OP_extern].cost; break;
    case ST_ADDTO:
        step->count = kind_is_float(s->buf->kind) ? COUNT_ADD : COUNT_INT;
        step->cost = kind_is_float(s->buf->kind) ? op_info[OP_add].cost : 0;
        break;
    case ST_SELECT: step->count = COUNT_COMPARE; break;
    case ST_CONV:
    case ST_CHUNK:
    case ST_THREADS: step->count = COUNT_INT; break;
    default: break;
    }
}

static Code *make_ready(Exec *x, const Block *b) {
    Code *c = ARENA_NEW(x->own, Code);
    c->nsteps = b ? b->stmts.len : 0;
    c->steps = ARENA_ARRAY(x->own, Step, c->nsteps + 1);
    for (int i = 0; i < c->nsteps; i++) {
        const Stmt *s = b->stmts.data[i];
        c->steps[i].s = s;
        classify(x, &c->steps[i]);
        c->nmade += s->kind == ST_NEW;
        if (s->nin >= x->nargs) x->nargs = s->nin + 1, x->args = ARENA_ARRAY(x->own, ExternArg, x->nargs);
    }
    c->made = ARENA_ARRAY(x->own, const Buf *, c->nmade + 1);
    for (int i = 0, n = 0; i < c->nsteps; i++)
        if (c->steps[i].s->kind == ST_NEW) c->made[n++] = c->steps[i].s->buf;
    return c;
}

static Flow exec_body(Exec *x, const Block *b, Code **c) {
    if (!*c) *c = make_ready(x, b);
    return exec_block(x, *c);
}

// ---- temporary arrays

static void memory_free(Memory *m) {
    free(m->data);
    free(m->touched);
    free(m->lines);
    *m = (Memory){0};
}

// Makes room for so many bytes. False if there is not so much.
static bool memory_room(Memory *m, size_t bytes) {
    if (m->data && bytes <= m->room) return true;
    size_t more = bytes < 2 * m->room ? 2 * m->room : bytes;
    memory_free(m);
    m->data = malloc(more + 1);
    if (!m->data) m->data = malloc((more = bytes) + 1);
    if (!m->data) return false;
    m->room = more;
    m->touched = calloc((more >> LINE) + 1, sizeof *m->touched);
    m->lines = malloc(((more >> LINE) + 1) * sizeof *m->lines);
    if (!m->touched || !m->lines) diag_out_of_memory();
    memset(m->data, 0xff, more);
    return true;
}

static void memory_clear(Memory *m, size_t bytes) {
    for (int i = 0; i < m->nlines; i++) {
        size_t from = (size_t)m->lines[i] << LINE, left = m->room - from;
        m->touched[m->lines[i]] = false;
        if (!m->all) memset(m->data + from, 0xff, left < (size_t)1 << LINE ? left : (size_t)1 << LINE);
    }
    if (m->all) memset(m->data, 0xff, bytes);
    m->nlines = 0, m->all = false;
}

static Flow exec_new(Exec *x, const Buf *b) {
    Tensor *t = x->buf[b->id];
    int64_t count, bytes;
    for (int k = 0; k < b->rank; k++) {
        t->shape[k] = x->temp[b->extent[k]].i;
        if (t->shape[k] < 0) fatal_bug("the loop tree of '%s' makes a buffer of negative size", x->t->func->name);
    }
    bool fits = shape_count(b->rank, t->shape, &count) && !__builtin_mul_overflow(count, (int64_t)kind_size(b->kind), &bytes);
    if (!fits || !memory_room(x->memory[b->id], (size_t)bytes)) {
        x->code = FSM_ERROR_MEMORY;
        x->error = arena_printf(x->arena, "an array of %lld bytes does not fit in memory", fits ? (long long)bytes : -1);
        return FLOW_ERROR;
    }
    t->data = x->memory[b->id]->data;
    x->bytes += bytes;
    if (x->bytes > x->counts.bytes) x->counts.bytes = x->bytes;
    return FLOW_ON;
}

static void drop(Exec *x, const Buf *b) {
    Tensor *t = x->buf[b->id];
    if (!t->data) return;
    int64_t bytes = tensor_count(t) * (int64_t)kind_size(t->kind);
    x->bytes -= bytes;
    memory_clear(x->memory[b->id], (size_t)bytes);
    t->data = NULL;
}

// ---- statements

static void exec_op(Exec *x, const Stmt *s) {
    Kind k = temp_kind(x, s->args[op_info[s->op].type == T_PSI ? 1 : 0]);
    Scalar a = x->temp[s->args[0]], b = s->nargs > 1 ? x->temp[s->args[1]] : (Scalar){.i = 0};
    if ((s->op == OP_idiv || s->op == OP_irem) && b.i == 0) fatal_bug("the loop tree of '%s' divides by zero", x->t->func->name);
    x->temp[s->dst] = scalar_op(s->op, k, a, b);
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
            put(x, s->buf, to, (c * to->shape[at] + first) * row + i, element(from, c * from->shape[at] * row + i));
    x->counts.loads += columns * n * row, x->counts.stores += columns * n * row;
}

static void exec_array(Exec *x, const Stmt *s) {
    Tensor *t = buffer(x, s->buf);
    int64_t at, n;
    switch (s->kind) {
    case ST_FILL:
        n = tensor_count(t);
        for (at = 0; at < n; at++) tensor_put(t, at, x->temp[s->args[0]]);
        x->memory[s->buf->id]->all = true;
        x->counts.stores += n;
        break;
    case ST_COPY: {
        Tensor *from = buffer(x, s->src);
        if (memcmp(from->shape, t->shape, sizeof *t->shape * (size_t)t->rank))
            fatal_bug("the loop tree of '%s' copies between buffers of different extents", x->t->func->name);
        n = tensor_count(t);
        if (n) memmove(t->data, from->data, (size_t)n * kind_size(t->kind));
        x->memory[s->buf->id]->all = true;
        x->counts.loads += n, x->counts.stores += n;
        break;
    }
    case ST_MOVE: exec_move(x, s, t, buffer(x, s->src)); break;
    case ST_LOAD:
        x->temp[s->dst] = element(t, place(x, s->buf, t, s->args));
        x->counts.loads++;
        break;
    case ST_STORE:
        put(x, s->buf, t, place(x, s->buf, t, s->args + 1), x->temp[s->args[0]]);
        x->counts.stores++;
        break;
    default: // ST_ADDTO
        at = place(x, s->buf, t, s->args + 1);
        put(x, s->buf, t, at, scalar_op(OP_add, t->kind, element(t, at), x->temp[s->args[0]]));
        x->counts.loads++, x->counts.stores++;
    }
}

static ExternArg whole(Exec *x, const Buf *b, int64_t *moved) {
    const Tensor *t = buffer(x, b);
    *moved += tensor_count(t);
    return (ExternArg){.kind = t->kind, .array = true, .data = t->data};
}

static Scalar exec_extern(Exec *x, const Stmt *s) {
    ExternArg *args = x->args;
    for (int k = 0, scalars = 0; k < s->nin; k++) {
        bool out = k >= s->nin - s->nout;
        Temp t = s->in[k] ? -1 : s->args[scalars++];
        if (out) x->memory[s->in[k]->id]->all = true;
        args[k] = s->in[k] ? whole(x, s->in[k], out ? &x->counts.stores : &x->counts.loads)
                           : (ExternArg){.kind = temp_kind(x, t), .value = x->temp[t]};
    }
    if (!s->nout) return extern_call(s->u.name, temp_kind(x, s->dst), s->nin, args);
    return (Scalar){.i = extern_fill(s->u.name, s->nin, args)};
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

static bool holds(const Exec *x, const Works *w) {
    switch (w->kind) {
    case WORKS_NEVER: return false;
    case WORKS_ALWAYS: return true;
    case WORKS_NONZERO: return x->temp[w->extent].i != 0;
    case WORKS_BOTH: return holds(x, w->left) && holds(x, w->right);
    default: return holds(x, w->left) || holds(x, w->right);
    }
}

static bool is_idle(Exec *x, Step *step) {
    if (!step->works) step->works = loop_works(x->own, x->t, x->def, step->s);
    return !holds(x, step->works);
}

// In threads iterations run in any order, and the first that fails is the one that counts. Here the last comes first, which
// shows what one of them would need of another.
static Flow exec_threads(Exec *x, Step *step) {
    const Stmt *s = step->s;
    Flow all = FLOW_ON;
    for (int64_t i = x->temp[s->args[0]].i; i-- > 0;) {
        x->counts.iterations++;
        x->temp[s->dst].i = i;
        Flow f = exec_body(x, s->body, &step->body);
        if (f != FLOW_ON) all = f;
    }
    return all;
}

static Flow exec_for(Exec *x, Step *step) {
    const Stmt *s = step->s;
    int64_t n = x->temp[s->args[0]].i;
    for (int64_t i = s->nargs > 1 ? x->temp[s->args[1]].i : 0; i < n; i++) {
        x->counts.iterations++;
        x->temp[s->dst].i = i;
        Flow f = exec_body(x, s->body, &step->body);
        if (f != FLOW_ON) return f;
    }
    return FLOW_ON;
}

static Flow exec_loop(Exec *x, Step *step) {
    for (;;) {
        Flow f = exec_body(x, step->s->body, &step->body);
        if (f == FLOW_BREAK) return FLOW_ON;
        if (f == FLOW_ERROR) return f;
        x->counts.iterations++;
    }
}

// What stands for a procedure's arrays is what the call gives; the memory of these notes what is written, too.
static Flow exec_call(Exec *x, const Stmt *s) {
    ExecProc *p = &x->procs[s->u.num];
    Scalar *before = x->params;
    if (!p->s) p->s = tree_proc(x->t, s->u.num), p->params = ARENA_ARRAY(x->own, Scalar, s->nargs + 1);
    const Stmt *proc = p->s;
    for (int k = 0; k < s->nargs; k++) p->params[k] = x->temp[s->args[k]];
    for (int k = 0; k < proc->nin; k++) {
        const Buf *b = s->in[s->nargs + k];
        buffer(x, b);
        x->buf[proc->in[k]->id] = x->buf[b->id], x->memory[proc->in[k]->id] = x->memory[b->id];
    }
    x->params = p->params;
    Flow f = exec_body(x, proc->body, &p->body);
    x->params = before;
    return f;
}

static Flow exec_step(Exec *x, Step *step) {
    const Stmt *s = step->s;
    Scalar *dst = s->dst >= 0 ? &x->temp[s->dst] : NULL, a = {.i = 0};
    if (s->nargs) a = x->temp[s->args[0]];
    if (x->needs) need_step(x, step);
    x->ops[step->count]++;
    x->counts.work += step->cost;
    switch (s->kind) {
    case ST_LIT:
        if (kind_is_float(temp_kind(x, s->dst))) dst->d = s->u.real;
        else dst->i = s->u.num;
        break;
    case ST_ARG: *dst = tensor_scalar(&x->inputs[s->u.num], 0); break;
    case ST_OP: exec_op(x, s); break;
    case ST_EXTERN: *dst = exec_extern(x, s); break;
    case ST_PARAM: *dst = x->params[s->u.num]; break;
    case ST_CALL: return exec_call(x, s);
    case ST_PROC: break;
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
    case ST_FOR: return is_idle(x, step) ? FLOW_ON : s->threads ? exec_threads(x, step) : exec_for(x, step);
    case ST_LOOP: return exec_loop(x, step);
    case ST_BREAK: return a.i ? FLOW_ON : FLOW_BREAK;
    case ST_IF: return a.i ? exec_body(x, s->body, &step->body) : exec_body(x, s->other, &step->other);
    case ST_CHECK: return exec_check(x, s);
    }
    return FLOW_ON;
}

static Flow exec_block(Exec *x, const Code *c) {
    Flow f = FLOW_ON;
    for (int i = 0; i < c->nsteps && f == FLOW_ON; i++) f = exec_step(x, &c->steps[i]);
    for (int i = 0; i < c->nmade; i++) drop(x, c->made[i]);
    return f;
}

// ---- calls

// What is run for these inputs, with outputs that show what is never written.
static const Tree *version(const Tree *t, const Tensor *inputs, Tensor *outputs) {
    if (t->otherwise && !ir_is_as_assumed(t->func, inputs)) t = t->otherwise;
    for (int k = 0; k < t->func->noutputs; k++)
        memset(outputs[k].data, 0xff, (size_t)tensor_count(&outputs[k]) * kind_size(outputs[k].kind));
    return t;
}

// Where each buffer is; a BUF_TEMP has no data yet.
static void find_buffers(Exec *x) {
    int n = x->t->bufs.len;
    x->buf = ARENA_ARRAY(x->own, Tensor *, n + 1);
    x->memory = ARENA_ARRAY(x->own, Memory *, n + 1);
    for (int i = 0; i < n; i++) {
        const Buf *b = x->t->bufs.data[i];
        x->memory[i] = ARENA_NEW(x->own, Memory);
        Tensor *t = b->where == BUF_OUTPUT ? &x->outputs[b->number] : ARENA_NEW(x->own, Tensor);
        if (b->where == BUF_INPUT) *t = x->inputs[b->number];
        else if (b->where == BUF_TEMP)
            *t = (Tensor){.kind = b->kind, .rank = b->rank, .shape = ARENA_ARRAY(x->own, int64_t, b->rank + 1)};
        x->buf[b->id] = t;
    }
}

static int proc_numbers(const Tree *t) {
    int n = 1;
    for (int i = 0; i < t->body->stmts.len; i++) {
        const Stmt *s = t->body->stmts.data[i];
        if (s->kind == ST_PROC && s->u.num >= n) n = (int)s->u.num + 1;
    }
    return n;
}

static int run(Arena *a, const Tree *t, const Tensor *inputs, Tensor *outputs, Needs *needs, Counts *counts, const char **error) {
    Exec x = {.arena = a, .own = arena_new(), .t = t, .inputs = inputs, .outputs = outputs, .needs = needs};
    Code *body = NULL;
    x.temp = ARENA_ARRAY(x.own, Scalar, t->temps.len + 1);
    x.def = ARENA_ARRAY(x.own, Stmt *, t->temps.len + 1);
    tree_definitions(t->body, x.def);
    find_buffers(&x);
    x.procs = ARENA_ARRAY(x.own, ExecProc, proc_numbers(t));
    exec_body(&x, t->body, &body);
    for (int i = 0; i < t->bufs.len; i++) memory_free(x.memory[i]);
    arena_free(x.own);
    *counts = x.counts;
    memcpy(counts->ops, x.ops, sizeof counts->ops);
    if (x.code) *error = x.error;
    return x.code;
}

int tree_exec(Arena *a, const Tree *t, const Tensor *inputs, Tensor *outputs, Counts *counts, const char **error) {
    Counts done = {0};
    int code = func_prepare(a, tree_given(t), inputs, outputs, error);
    if (!code) code = run(a, version(t, inputs, outputs), inputs, outputs, NULL, &done, error);
    if (counts) *counts = done;
    return code;
}

int tree_exec_needed(Arena *a, const Tree *t, const Tensor *inputs, Tensor *outputs, int64_t *work, const char **error) {
    int code = func_prepare(a, tree_given(t), inputs, outputs, error);
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
