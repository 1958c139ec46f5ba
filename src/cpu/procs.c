// Procedures of loop trees, as functions:
//
//     int NAME.proc.K(context, call, its scalars …, its arrays …)
//
// which return an error as the function around does.
#include "cpu/body.h"

enum { CONTEXT, CALL, FIRST };

static void *key(const Stmt *s) { return (void *)((intptr_t)s->u.num + 1); }

static LLVMValueRef add_function(Body *p, const Stmt *s, int n, LLVMTypeRef *params) {
    static const char *const attributes[] = {"nounwind", "noinline", "optnone", "cold"};
    Emitter *e = p->e;
    const char *name = arena_printf(e->arena, "%s.proc.%lld", p->name, (long long)s->u.num);
    LLVMValueRef f = LLVMAddFunction(e->module, name, emit_function_type(e, e->type_i32, n, params, false));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    for (int i = 0; i < (p->cold ? 4 : 2); i++) emit_attribute(e, f, LLVMAttributeFunctionIndex, attributes[i], 0);
    emit_wide(e, f);
    for (int i = 0; i < s->nin; i++) {
        LLVMAttributeIndex at = (LLVMAttributeIndex)(n - s->nin + i) + 1;
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
    params[CONTEXT] = params[CALL] = e->type_ptr;
    for (int i = 0; i < s->body->stmts.len; i++) {
        const Stmt *t = s->body->stmts.data[i];
        if (t->kind == ST_PARAM) params[FIRST + t->u.num] = emit_type(e, body_kind(p, t->dst)), n++;
    }
    for (int i = 0; i < s->nin; i++) params[n++] = e->type_ptr;
    LLVMValueRef f = add_function(p, s, n, params);
    map_put(p->procs, key(s), f);
    return f;
}

void procs_emit(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    LLVMValueRef f = declare(p, s);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
    DebugFunction around = debug_enter(e->debug, f, p->func, LLVMGetValueName(f));
    Body *in = body_outlined(p, f);
    const unsigned first = LLVMCountParams(f) - (unsigned)s->nin;
    in->name = arena_printf(e->arena, "%s", LLVMGetValueName(f));
    in->cold = p->cold, in->stack = p->stack, in->depth = 0;
    in->context = LLVMGetParam(f, CONTEXT), in->call = LLVMGetParam(f, CALL);
    for (int i = 0; i < s->nin; i++) in->base[s->in[i]->id] = LLVMGetParam(f, first + (unsigned)i);
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

LLVMValueRef procs_param(Body *p, const Stmt *s) { return LLVMGetParam(p->function, FIRST + (unsigned)s->u.num); }

void procs_call(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    LLVMValueRef f = map_get(p->procs, key(s)), *args = ARENA_ARRAY(e->arena, LLVMValueRef, FIRST + s->nin + 1);
    int n = FIRST;
    args[CONTEXT] = p->context, args[CALL] = p->call;
    for (int k = 0; k < s->nin; k++) args[n++] = s->in[k] ? body_buffer(p, s->in[k]) : body_value(p, s->args[k]);
    LLVMValueRef code = LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(f), f, args, (unsigned)n, "");
    LLVMBasicBlockRef rest =
        body_split_failure(p, LLVMBuildICmp(e->builder, LLVMIntEQ, code, LLVMConstNull(e->type_i32), ""));
    body_return_code(p, code);
    body_go_on(p, rest);
}
