// Loops whose iterations may run in threads (Stmt.threads), as functions of their own:
//
//     int NAME.chunk.K(context, call, c, what it needs of the function around …)
//     int NAME.task.K(context, call, c, *shared)      loads what is needed, and calls the chunk
//
// The function around stores what is needed on its stack and calls fsm_parallel with the task. Arrays are parameters of the
// chunk, and not loaded in it, so that it is known of them that none is part of another.
#include "cpu/body.h"

#include "support/map.h"

#include <string.h>

enum { CONTEXT, CALL, CHUNK, FIRST }; // parameters of a chunk

// What a chunk needs: temps, the values of cells, which it only reads, and buffers.
typedef struct Need {
    Temp temp;      // -1: none
    const Buf *buf; // NULL: none
    LLVMValueRef value;
} Need;

typedef struct Outline {
    Body *p;
    VEC(Need) needs;
    Map seen;     // buffers
    char *listed; // by temp
} Outline;

static void need_temp(Outline *z, Temp t) {
    Body *p = z->p;
    if (z->listed[t] || !p->temp[t] || LLVMIsConstant(p->temp[t])) return; // what has no value yet is made inside
    z->listed[t] = 1;
    LLVMValueRef v = p->temp[t];
    if (p->tree->temps.data[t].cell) v = LLVMBuildLoad2(p->e->builder, emit_type(p->e, body_kind(p, t)), v, "");
    vec_push(&z->needs, ((Need){t, NULL, v}));
}

static void need_buf(Outline *z, const Buf *b) {
    Body *p = z->p;
    if (!b || map_get(&z->seen, b)) return;
    map_put(&z->seen, b, (void *)b);
    for (int k = 0; k < b->rank; k++) need_temp(z, b->extent[k]);
    if (b->where != BUF_TEMP || p->base[b->id]) vec_push(&z->needs, ((Need){-1, b, body_buffer(p, b)}));
}

// What is asked before a loop need not be among what it uses: of `if t { … }`, where t = 0 < n was made before, n.
static void need_works(Outline *z, const Works *w) {
    if (w->kind == WORKS_NONZERO) need_temp(z, w->extent);
    if (w->left) need_works(z, w->left), need_works(z, w->right);
}

static void need_block(Outline *z, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        for (int k = 0; k < s->nargs; k++) need_temp(z, s->args[k]);
        if (s->kind == ST_FOR) need_works(z, body_works(z->p, s));
        need_buf(z, s->buf);
        need_buf(z, s->src);
        for (int k = 0; k < s->nin; k++) need_buf(z, s->in[k]);
        need_block(z, s->body);
        need_block(z, s->other);
    }
}

// ---- the chunk

static LLVMValueRef add_function(Body *p, const char *what, LLVMTypeRef type) {
    const char *name = arena_printf(p->e->arena, "%s.%s.%d", p->name, what, p->chunks);
    LLVMValueRef f = LLVMAddFunction(p->e->module, name, type);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    emit_attribute(p->e, f, LLVMAttributeFunctionIndex, "nounwind", 0);
    emit_wide(p->e, f);
    return f;
}

static LLVMValueRef chunk_function(Outline *z) {
    Emitter *e = z->p->e;
    int n = FIRST + z->needs.len;
    LLVMTypeRef *params = ARENA_ARRAY(e->arena, LLVMTypeRef, n);
    params[CONTEXT] = params[CALL] = e->type_ptr, params[CHUNK] = e->type_i64;
    for (int i = 0; i < z->needs.len; i++) params[FIRST + i] = LLVMTypeOf(z->needs.data[i].value);
    LLVMValueRef f = add_function(z->p, "chunk", emit_function_type(e, e->type_i32, n, params, false));
    emit_attribute(e, f, LLVMAttributeFunctionIndex, "noinline", 0);
    for (int i = 0; i < z->needs.len; i++) {
        const Buf *b = z->needs.data[i].buf;
        LLVMAttributeIndex at = (LLVMAttributeIndex)(FIRST + i) + 1;
        if (!b) continue;
        emit_attribute(e, f, at, "noalias", 0);
        emit_attribute(e, f, at, "nocapture", 0);
        if (b->where == BUF_INPUT) emit_attribute(e, f, at, "readonly", 0);
        if (b->name) LLVMSetValueName2(LLVMGetParam(f, (unsigned)(FIRST + i)), b->name, strlen(b->name));
    }
    return f;
}

// What the statements of the chunk find in the places of what is around them.
static void bind_needs(Outline *z, Body *in) {
    Body *p = z->p;
    Emitter *e = p->e;
    in->context = LLVMGetParam(in->function, CONTEXT), in->call = LLVMGetParam(in->function, CALL);
    for (int t = 0; t < p->tree->temps.len; t++)
        if (p->temp[t] && LLVMIsConstant(p->temp[t])) in->temp[t] = p->temp[t];
    for (int i = 0; i < z->needs.len; i++) {
        const Need *need = &z->needs.data[i];
        LLVMValueRef v = LLVMGetParam(in->function, (unsigned)(FIRST + i));
        if (need->buf) {
            in->base[need->buf->id] = v;
            continue;
        }
        const TempInfo *t = &p->tree->temps.data[need->temp];
        if (t->cell) {
            LLVMValueRef slot = body_slot(in, LLVMTypeOf(v), t->name);
            LLVMBuildStore(e->builder, v, slot);
            v = slot;
        }
        in->temp[need->temp] = v;
    }
}

static void emit_chunk(Outline *z, const Stmt *s, LLVMValueRef function) {
    Body *p = z->p, *in = body_outlined(p, function);
    Emitter *e = p->e;
    DebugFunction around = debug_enter(e->debug, function, p->func, LLVMGetValueName(function));
    in->slots = body_new_block(in, "entry");
    LLVMBasicBlockRef start = body_new_block(in, "start");
    body_go_on(in, start);
    bind_needs(z, in);
    in->temp[s->dst] = LLVMGetParam(function, CHUNK);
    debug_place(e->debug, s->span);
    body_poll(in);
    body_emit(in, s->body);
    body_return_code(in, LLVMConstNull(e->type_i32));
    body_go_on(in, in->slots);
    LLVMBuildBr(e->builder, start);
    debug_leave(e->debug, around);
}

// ---- the task

static LLVMTypeRef shared_type(Outline *z) {
    Emitter *e = z->p->e;
    LLVMTypeRef *fields = ARENA_ARRAY(e->arena, LLVMTypeRef, z->needs.len + 1);
    for (int i = 0; i < z->needs.len; i++) fields[i] = LLVMTypeOf(z->needs.data[i].value);
    return LLVMStructTypeInContext(e->context, fields, (unsigned)z->needs.len, false);
}

static LLVMValueRef emit_task(Outline *z, LLVMValueRef chunk, LLVMTypeRef shared) {
    Emitter *e = z->p->e;
    LLVMTypeRef params[] = {e->type_ptr, e->type_ptr, e->type_i64, e->type_ptr};
    LLVMValueRef f = add_function(z->p, "task", emit_function_type(e, e->type_i32, 4, params, false));
    LLVMPositionBuilderAtEnd(e->builder, LLVMAppendBasicBlockInContext(e->context, f, "entry"));
    int n = FIRST + z->needs.len;
    LLVMValueRef *args = ARENA_ARRAY(e->arena, LLVMValueRef, n);
    for (unsigned i = 0; i < FIRST; i++) args[i] = LLVMGetParam(f, i);
    for (int i = 0; i < z->needs.len; i++) {
        LLVMValueRef at = LLVMBuildStructGEP2(e->builder, shared, LLVMGetParam(f, FIRST), (unsigned)i, "");
        args[FIRST + i] = LLVMBuildLoad2(e->builder, LLVMTypeOf(z->needs.data[i].value), at, "");
    }
    bool flush = flush_wanted(e, z->p->tree);
    LLVMValueRef was = flush ? LLVMBuildAlloca(e->builder, e->type_i32, "was") : NULL;
    if (flush) flush_begin(e, was, LLVMBuildAlloca(e->builder, e->type_i32, "now"));
    LLVMValueRef code = LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(chunk), chunk, args, (unsigned)n, "");
    if (flush) flush_end(e, was);
    LLVMBuildRet(e->builder, code);
    return f;
}

// ---- the loop

void threads_for(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    LLVMBuilderRef b = e->builder;
    Outline z = {.p = p, .listed = ARENA_ARRAY(e->arena, char, p->tree->temps.len + 1)};
    p->chunks++;
    need_block(&z, s->body);
    LLVMTypeRef shared = shared_type(&z);
    LLVMValueRef room = body_slot(p, shared, "shared");
    for (int i = 0; i < z.needs.len; i++)
        LLVMBuildStore(b, z.needs.data[i].value, LLVMBuildStructGEP2(b, shared, room, (unsigned)i, ""));
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    debug_nowhere(e->debug);
    LLVMValueRef chunk = chunk_function(&z), task = emit_task(&z, chunk, shared);
    emit_chunk(&z, s, chunk);
    LLVMPositionBuilderAtEnd(b, here);
    debug_place(e->debug, s->span);
    LLVMValueRef args[] = {p->context, task, room, body_value(p, s->args[0]),
                           LLVMConstInt(e->type_i32, (unsigned)e->opt->threads, true)};
    LLVMValueRef code = body_call(p, "fsm_parallel", e->type_i32, 5, args);
    LLVMValueRef ok = LLVMBuildICmp(b, LLVMIntEQ, code, LLVMConstNull(e->type_i32), "");
    LLVMBasicBlockRef rest = body_split_failure(p, ok);
    body_return_code(p, code);
    body_go_on(p, rest);
    vec_free(&z.needs);
    map_free(&z.seen);
}
