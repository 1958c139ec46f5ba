// Procedures of loop trees, as functions:
//
//     int NAME.proc.K(context, call, frame, its scalars …, its arrays …)
//
// which return an error as the function around does.
//
// In the version for sizes of 0, much of a long function is procedures that make values when they are first needed.
// One that may be the first to need many others hands on what all of these need, so what calls pass grows with the
// square of the function. But it is nearly always the same: what a parameter is in all calls, if that is a value or an
// array of the function itself, is no parameter here. It is in the function's frame (parts.c), and loaded from there:
//
//     proc 0(n, x) { … x[n] … }                            proc 0() { … frame.x[frame.n] … }
//     proc 1(n, x) { … call 0(n, x) … }     becomes        proc 1() { … call 0() … }
//     call 1(n, x)  call 1(n, x)                           call 1()  call 1()
#include "cpu/body.h"

enum { CONTEXT, CALL, FRAME, FIRST };

static void *key(const Stmt *s) { return (void *)((intptr_t)s->u.num + 1); }

// ---- what is in the frame

static const Buf many; // an array that is not the same in all calls

typedef struct Capture {
    Body *p;
    Map procs;       // by number + 1: ST_PROC
    Stmt **own;      // by temp: what makes it in the function itself
    bool *array;     // by buffer: it is made by the function itself, or passed to it
    Temp *temp;      // by temp, a parameter: what it is in all calls, + 1; 0: there is no call; -1: not the same
    const Buf **buf; // by buffer, likewise: NULL, `many`
} Capture;

static void look_for_own(Capture *c, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (s->kind == ST_PROC) {
            map_put(&c->procs, key(s), s);
            continue;
        }
        // An index is in no frame, a cell changes, and a literal is made where it is needed.
        const bool other = s->kind == ST_FOR || s->kind == ST_SET || s->kind == ST_CELL || s->kind == ST_LIT;
        if (s->dst >= 0 && !other) c->own[s->dst] = s;
        if (s->kind == ST_NEW) c->array[s->buf->id] = true;
        look_for_own(c, s->body), look_for_own(c, s->other);
    }
}

static bool is_param(const Body *p, Temp t) { return p->def[t] && p->def[t]->kind == ST_PARAM; }

static void meet_temp(Capture *c, Temp formal, Temp t) {
    const Temp is = is_param(c->p, t) ? c->temp[t] : c->own[t] ? t + 1 : -1;
    c->temp[formal] = c->temp[formal] && c->temp[formal] != is ? -1 : is;
}

static void meet_buf(Capture *c, const Buf *formal, const Buf *b) {
    const Buf *is = b->where == BUF_PARAM ? c->buf[b->id] : c->array[b->id] ? b : &many;
    c->buf[formal->id] = c->buf[formal->id] && c->buf[formal->id] != is ? &many : is;
}

static void look_at_calls(Capture *c, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i], *proc = s->kind == ST_CALL ? map_get(&c->procs, key(s)) : NULL;
        if (s->kind == ST_PROC) continue;
        look_at_calls(c, s->body), look_at_calls(c, s->other);
        if (!proc) continue;
        for (int k = 0; k < proc->body->stmts.len; k++) {
            const Stmt *param = proc->body->stmts.data[k];
            if (param->kind == ST_PARAM) meet_temp(c, param->dst, s->args[param->u.num]);
        }
        for (int k = 0; k < proc->nin; k++) meet_buf(c, proc->in[k], s->in[s->nin - proc->nin + k]);
    }
}

static bool has_threads(const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->threads || has_threads(s->body) || has_threads(s->other)) return true;
    }
    return false;
}

static void keep_in_frame(Body *p, const Capture *c, int ntemps, int nbufs) {
    for (int t = 0; t < ntemps; t++) {
        const Temp is = c->temp[t] > 0 ? c->temp[t] - 1 : -1;
        if (is >= 0 && !p->slot[is]) p->slot[is] = ++p->nslots;
    }
    for (int i = 0; i < nbufs; i++) {
        const Buf *is = c->buf[i];
        if (is && is != &many && !p->buf_slot[is->id]) p->buf_slot[is->id] = p->nslots + 1, p->nslots += 2;
    }
}

void procs_capture(Body *p, int nbufs) {
    Arena *a = p->e->arena;
    const int ntemps = p->tree->temps.len;
    const Block *body = p->tree->body;
    if (has_threads(body)) return; // a frame is one thread's
    Capture c = {.p = p, .own = ARENA_ARRAY(a, Stmt *, ntemps + 1), .array = ARENA_ARRAY(a, bool, nbufs + 1)};
    c.temp = ARENA_ARRAY(a, Temp, ntemps + 1), c.buf = ARENA_ARRAY(a, const Buf *, nbufs + 1);
    for (int i = 0; i < p->tree->bufs.len; i++) {
        const Buf *b = p->tree->bufs.data[i];
        if (b->where == BUF_INPUT || b->where == BUF_OUTPUT) c.array[b->id] = true;
    }
    look_for_own(&c, body);
    look_at_calls(&c, body);
    for (int i = body->stmts.len; i-- > 0;) // a procedure stands after those that it calls
        if (body->stmts.data[i]->kind == ST_PROC) look_at_calls(&c, body->stmts.data[i]->body);
    keep_in_frame(p, &c, ntemps, nbufs);
    p->of_temp = c.temp, p->of_buf = c.buf;
    map_free(&c.procs);
}

static bool is_kept(const Body *p, Temp param) { return p->of_temp && p->of_temp[param] > 0; }
static bool is_kept_buf(const Body *p, const Buf *b) {
    return p->of_buf && p->of_buf[b->id] && p->of_buf[b->id] != &many;
}

// A load from the frame, at the beginning of the procedure.
static LLVMValueRef bring(Body *p, int slot, LLVMTypeRef type) {
    LLVMBuilderRef b = p->e->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    LLVMPositionBuilderAtEnd(b, p->slots);
    LLVMValueRef v = LLVMBuildLoad2(b, type, parts_place(p, slot), "");
    LLVMPositionBuilderAtEnd(b, here);
    return v;
}

LLVMValueRef procs_value(Body *p, Temp t) {
    if (!is_param(p, t) || !is_kept(p, t)) return NULL;
    const LLVMValueRef is = p->temp[p->of_temp[t] - 1];
    if (is && LLVMIsAConstantInt(is)) return is;
    return p->temp[t] = bring(p, p->slot[p->of_temp[t] - 1], emit_type(p->e, body_kind(p, t)));
}

LLVMValueRef procs_buffer(Body *p, const Buf *b) {
    if (b->where != BUF_PARAM || !is_kept_buf(p, b)) return NULL;
    return p->base[b->id] = bring(p, p->buf_slot[p->of_buf[b->id]->id], p->e->type_ptr);
}

// ---- functions

static LLVMValueRef add_function(Body *p, const Stmt *s, int n, LLVMTypeRef *params) {
    static const char *const attributes[] = {"nounwind", "noinline", "optnone", "cold"};
    Emitter *e = p->e;
    const char *name = arena_printf(e->arena, "%s.proc.%lld", p->name, (long long)s->u.num);
    LLVMValueRef f = LLVMAddFunction(e->module, name, emit_function_type(e, e->type_i32, n, params, false));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    for (int i = 0; i < (p->cold ? 4 : 2); i++) emit_attribute(e, f, LLVMAttributeFunctionIndex, attributes[i], 0);
    emit_wide(e, f);
    for (int i = s->nin - 1; i >= 0; i--) {
        if (is_kept_buf(p, s->in[i])) continue;
        const LLVMAttributeIndex at = (LLVMAttributeIndex)n--;
        emit_attribute(e, f, at, "noalias", 0);
        emit_attribute(e, f, at, "nocapture", 0);
        if (i < s->nin - s->nout) emit_attribute(e, f, at, "readonly", 0);
    }
    return f;
}

static LLVMValueRef declare(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    LLVMTypeRef *params = ARENA_ARRAY(e->arena, LLVMTypeRef, FIRST + s->body->stmts.len + s->nin + 1);
    int n = FIRST;
    params[CONTEXT] = params[CALL] = params[FRAME] = e->type_ptr;
    for (int i = 0; i < s->body->stmts.len; i++) {
        const Stmt *t = s->body->stmts.data[i];
        if (t->kind == ST_PARAM && !is_kept(p, t->dst)) params[n++] = emit_type(e, body_kind(p, t->dst));
    }
    for (int i = 0; i < s->nin; i++)
        if (!is_kept_buf(p, s->in[i])) params[n++] = e->type_ptr;
    LLVMValueRef f = add_function(p, s, n, params);
    map_put(p->procs, key(s), (void *)s);
    map_put(p->procs, s, f);
    return f;
}

void procs_emit(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    LLVMValueRef f = declare(p, s);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
    DebugFunction around = debug_enter(e->debug, f, p->func, LLVMGetValueName(f));
    Body *in = body_of_proc(p, f);
    unsigned last = LLVMCountParams(f), next = FIRST;
    in->name = arena_printf(e->arena, "%s", LLVMGetValueName(f));
    in->cold = p->cold, in->stack = p->stack, in->depth = 0;
    in->context = LLVMGetParam(f, CONTEXT), in->call = LLVMGetParam(f, CALL), in->frame = LLVMGetParam(f, FRAME);
    in->slot = p->slot, in->buf_slot = p->buf_slot, in->of_temp = p->of_temp, in->of_buf = p->of_buf;
    for (int i = 0; i < s->body->stmts.len; i++) {
        const Stmt *t = s->body->stmts.data[i];
        if (t->kind == ST_PARAM && !is_kept(p, t->dst)) in->temp[t->dst] = LLVMGetParam(f, next++);
    }
    for (int i = s->nin - 1; i >= 0; i--)
        if (!is_kept_buf(p, s->in[i])) in->base[s->in[i]->id] = LLVMGetParam(f, --last);
    in->slots = body_new_block(in, "entry");
    LLVMBasicBlockRef start = body_new_block(in, "start");
    body_go_on(in, start);
    LLVMValueRef mark = body_allocates(in, s->body, false) ? body_mark(in) : NULL;
    body_emit(in, s->body);
    if (mark) body_release(in, mark);
    body_return_code(in, LLVMConstNull(e->type_i32));
    body_go_on(in, in->slots);
    LLVMBuildBr(e->builder, start);
    map_free(&in->works);
    debug_leave(e->debug, around);
    body_go_on(p, here);
}

void procs_call(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    const Stmt *proc = map_get(p->procs, key(s));
    LLVMValueRef f = map_get(p->procs, proc), *args = ARENA_ARRAY(e->arena, LLVMValueRef, FIRST + s->nin + 1);
    int n = FIRST;
    args[CONTEXT] = p->context, args[CALL] = p->call, args[FRAME] = p->frame ? p->frame : LLVMConstNull(e->type_ptr);
    for (int i = 0; i < proc->body->stmts.len; i++) {
        const Stmt *t = proc->body->stmts.data[i];
        if (t->kind == ST_PARAM && !is_kept(p, t->dst)) args[n++] = body_value(p, s->args[t->u.num]);
    }
    for (int k = 0; k < proc->nin; k++)
        if (!is_kept_buf(p, proc->in[k])) args[n++] = body_buffer(p, s->in[s->nin - proc->nin + k]);
    LLVMValueRef code = LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(f), f, args, (unsigned)n, "");
    LLVMBasicBlockRef rest =
        body_split_failure(p, LLVMBuildICmp(e->builder, LLVMIntEQ, code, LLVMConstNull(e->type_i32), ""));
    body_return_code(p, code);
    body_go_on(p, rest);
}
