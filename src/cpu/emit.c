// Loop trees as LLVM IR: one C function per tree, whose parameters are the context, the function's inputs in order and
// a pointer for each of its outputs. Temps are SSA values and cells are stack slots, which LLVM turns into SSA values.
#include "cpu/body.h"

#include "fsmc/runtime.h"
#include "support/map.h"

#include <llvm-c/DebugInfo.h>

// Buffers of known size up to BUFFER bytes live on the stack, FRAME bytes of them in a function; the rest in the arena.
enum { STACK_BUFFER = 2048, STACK_FRAME = 32 * 1024, SHORT_LOOP = 64, CHUNK = 4096, LANES_BYTES = 16 * 1024 * 1024 };

static const char *const cold_attrs[] = {"nounwind", "cold", "noinline", NULL};

// ---- small things

LLVMBasicBlockRef body_new_block(Body *p, const char *name) {
    return LLVMAppendBasicBlockInContext(p->e->context, p->function, name);
}

void body_go_on(Body *p, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(p->e->builder, block); }

Kind body_kind(const Body *p, Temp t) { return p->tree->temps.data[t].kind; }

LLVMValueRef body_value(Body *p, Temp t) {
    const bool known = t >= 0 && t < p->tree->temps.len;
    LLVMValueRef v = known && p->temp[t] ? p->temp[t] : known ? procs_value(p, t) : NULL;
    if (!v) fatal_bug("%s: temp %d is used before its definition", p->func->name, (int)t);
    return v;
}

LLVMValueRef body_slot(Body *p, LLVMTypeRef type, const char *name) {
    LLVMBuilderRef b = p->e->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    LLVMPositionBuilderAtEnd(b, p->slots);
    LLVMValueRef slot = LLVMBuildAlloca(b, type, name ? name : "");
    LLVMPositionBuilderAtEnd(b, here);
    return slot;
}

static LLVMValueRef at_least_zero(Emitter *e, LLVMValueRef n) {
    if (LLVMIsAConstantInt(n)) return LLVMConstIntGetSExtValue(n) < 0 ? emit_int(e, 0) : n;
    LLVMValueRef zero = emit_int(e, 0);
    return LLVMBuildSelect(e->builder, LLVMBuildICmp(e->builder, LLVMIntSGT, n, zero, ""), n, zero, "");
}

static LLVMValueRef call_runtime(Body *p, const char *name, const char *const *attrs, LLVMTypeRef result, int n,
                                 LLVMValueRef *args) {
    LLVMTypeRef params[8];
    for (int i = 0; i < n; i++) params[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = emit_function_type(p->e, result, n, params, false);
    LLVMValueRef f = emit_declare(p->e, name, type, attrs);
    return LLVMBuildCall2(p->e->builder, type, f, args, (unsigned)n, "");
}

LLVMValueRef body_call(Body *p, const char *name, LLVMTypeRef result, int n, LLVMValueRef *args) {
    static const char *const attrs[] = {"nounwind", NULL};
    return call_runtime(p, name, attrs, result, n, args);
}

void body_return_code(Body *p, LLVMValueRef code) { LLVMBuildRet(p->e->builder, code); }

// Continues in a new block if `ok` holds; returns with the i32 made at `fail` if not. Leaves the builder in the failing
// block and returns the other one.
LLVMBasicBlockRef body_split_failure(Body *p, LLVMValueRef ok) {
    LLVMBasicBlockRef fail = body_new_block(p, "fail"), rest = body_new_block(p, "ok");
    LLVMBuildCondBr(p->e->builder, ok, rest, fail);
    body_go_on(p, fail);
    return rest;
}

// ---- parameters

// Outputs overlap nothing (checked on entry), and inputs are never written, so that all of them are noalias.
void body_declare_parameters(Body *p) {
    Emitter *e = p->e;
    const Func *f = p->func;
    const char **names = cpu_parameter_names(e->arena, f);
    LLVMSetValueName2(p->context, "ctx", 3);
    for (int i = 0; i < f->ninputs + f->noutputs; i++) {
        LLVMSetValueName2(LLVMGetParam(p->function, (unsigned)i + 1), names[i], strlen(names[i]));
        LLVMAttributeIndex at = (LLVMAttributeIndex)i + 2;
        if (i < f->ninputs && !f->inputs[i]->rank) continue;
        emit_attribute(e, p->function, at, "noalias", 0);
        emit_attribute(e, p->function, at, "nocapture", 0);
        if (i < f->ninputs) emit_attribute(e, p->function, at, "readonly", 0);
    }
}

// ---- what is known before printing: definitions, accumulations, where buffers live

// Whether t adds to the value of the cell at the start of the step; marks the additions on the way.
static bool find_accumulation(Body *p, Temp t, Temp cell, int stamp) {
    const Stmt *s = p->def[t];
    if (!s) return false;
    if (s->kind == ST_GET) return s->args[0] == cell;
    if (s->kind != ST_OP || (s->op != OP_add && s->op != OP_sub) || p->seen[t] == stamp) return false;
    p->seen[t] = stamp;
    bool found = find_accumulation(p, s->args[0], cell, stamp);
    if (!found && s->op == OP_add) found = find_accumulation(p, s->args[1], cell, stamp);
    if (found) p->accumulation[t] = true;
    return found;
}

// The bytes of a buffer of constant extents, or -1.
int64_t body_constant_bytes(const Body *p, const Buf *buf) {
    int64_t bytes = (int64_t)kind_size(buf->kind);
    for (int k = 0; k < buf->rank; k++) {
        const Stmt *s = p->def[buf->extent[k]];
        if (!s || s->kind != ST_LIT || s->u.num < 0 || s->u.num > STACK_BUFFER) return -1;
        bytes *= s->u.num;
        if (bytes > STACK_BUFFER) return -1;
    }
    return buf->lanes && p->e->width ? bytes * p->e->width * buf->lanes : bytes;
}

static void survey(Body *p, const Block *block, int *stamp) {
    for (int i = 0; i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) p->def[s->dst] = s;
        if (s->kind == ST_SET) find_accumulation(p, s->args[0], s->dst, ++*stamp);
        if (s->kind == ST_NEW) {
            int64_t bytes = body_constant_bytes(p, s->buf);
            bool apart = p->part && p->buf_slot[s->buf->id]; // parts of the function share it
            p->on_stack[s->buf->id] = bytes >= 0 && p->stack + bytes <= STACK_FRAME && !apart;
            if (p->on_stack[s->buf->id]) p->stack += bytes;
        }
        if (s->body) survey(p, s->body, stamp);
        if (s->other) survey(p, s->other, stamp);
    }
}

// Whether the block takes arena memory; deep: also in blocks inside it.
bool body_allocates(const Body *p, const Block *block, bool deep) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_NEW && !p->on_stack[s->buf->id]) return true;
        if (deep && ((s->body && body_allocates(p, s->body, true)) || (s->other && body_allocates(p, s->other, true)))) return true;
    }
    return false;
}

// Whether a loop may have many iterations.
static bool is_counted_far(const Body *p, const Stmt *s) {
    const Stmt *n = p->def[s->args[0]];
    return !n || n->kind != ST_LIT || n->u.num > SHORT_LOOP;
}

// Whether one run of the block may take long: it has a loop that is not short.
bool body_is_long(const Body *p, const Block *block) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_LOOP || s->kind == ST_CALL) return true;
        if (s->kind == ST_FOR && is_counted_far(p, s)) return true;
        if ((s->body && body_is_long(p, s->body)) || (s->other && body_is_long(p, s->other))) return true;
    }
    return false;
}

// ---- buffers

LLVMValueRef body_buffer(Body *p, const Buf *buf) {
    if (p->base[buf->id]) return p->base[buf->id];
    switch (buf->where) {
    case BUF_INPUT: return LLVMGetParam(p->function, (unsigned)buf->number + 1);
    case BUF_OUTPUT: return LLVMGetParam(p->function, (unsigned)(p->func->ninputs + buf->number) + 1);
    case BUF_TEMP:
    case BUF_PARAM: break;
    }
    LLVMValueRef kept = procs_buffer(p, buf);
    if (kept) return kept;
    fatal_bug("%s: buffer %d is used before ST_NEW", p->func->name, buf->id);
}

unsigned body_alignment(Kind kind) { return (unsigned)kind_size(kind); }

// The number of elements of a buffer whose size is known to fit into memory.
LLVMValueRef body_count(Body *p, const Buf *buf) {
    LLVMValueRef n = emit_int(p->e, 1);
    for (int k = 0; k < buf->rank; k++) n = LLVMBuildMul(p->e->builder, n, at_least_zero(p->e, body_value(p, buf->extent[k])), "");
    return n;
}

// The same, -1 on overflow. There is none where an extent is 0.
static LLVMValueRef checked_count(Body *p, const Buf *buf) {
    Emitter *e = p->e;
    LLVMValueRef n = emit_int(e, 1), over = LLVMConstNull(e->type_i1), empty = over;
    for (int k = 0; k < buf->rank; k++) {
        LLVMValueRef extent = at_least_zero(e, body_value(p, buf->extent[k]));
        LLVMValueRef none = LLVMBuildICmp(e->builder, LLVMIntEQ, extent, emit_int(e, 0), "");
        if (buf->rank > 1) empty = LLVMBuildOr(e->builder, empty, none, "");
        n = k == 0 ? extent : emit_checked(e, "llvm.smul.with.overflow", n, extent, &over);
    }
    over = LLVMBuildAnd(e->builder, over, LLVMBuildNot(e->builder, empty, ""), "");
    return LLVMBuildSelect(e->builder, over, emit_int(e, -1), n, "");
}

// Memory that only the run-time library and the context's pointer reach: argmem and inaccessiblemem, read and written.
static const uint64_t MEMORY_OF_CONTEXT = 15;

LLVMValueRef body_call_arena(Body *p, const char *name, LLVMTypeRef result, int n, LLVMValueRef *args) {
    static const char *const attrs[] = {"nounwind", "willreturn", "nocallback", NULL};
    bool fresh = !LLVMGetNamedFunction(p->e->module, name);
    LLVMValueRef call = call_runtime(p, name, attrs, result, n, args);
    if (fresh) {
        LLVMValueRef f = LLVMGetNamedFunction(p->e->module, name);
        emit_attribute(p->e, f, LLVMAttributeFunctionIndex, "memory", MEMORY_OF_CONTEXT);
        if (result == p->e->type_ptr) {
            emit_attribute(p->e, f, LLVMAttributeReturnIndex, "noalias", 0);
            emit_attribute(p->e, f, LLVMAttributeReturnIndex, "align", ALIGNMENT);
        }
    }
    return call;
}

static void emit_lifetime(Body *p, const Buf *buf, const char *name) {
    LLVMValueRef args[] = {emit_int(p->e, body_constant_bytes(p, buf)), p->base[buf->id]};
    emit_intrinsic(p->e, name, 1, &p->e->type_ptr, 2, args);
}

LLVMValueRef body_alloc(Body *p, LLVMValueRef count, int64_t size) {
    Emitter *e = p->e;
    LLVMValueRef args[] = {p->context, count, emit_int(e, size)};
    LLVMValueRef base = body_call_arena(p, "fsm_alloc", e->type_ptr, 3, args);
    LLVMBasicBlockRef rest = body_split_failure(p, LLVMBuildICmp(e->builder, LLVMIntNE, base, LLVMConstNull(e->type_ptr), ""));
    body_return_code(p, LLVMConstInt(e->type_i32, FSM_ERROR_MEMORY, false));
    body_go_on(p, rest);
    return base;
}

// A buffer of which each lane has its own, if there is room for all of them; one that is made inside has that.
static LLVMValueRef room_for_lanes(Body *p, const Buf *buf, LLVMValueRef count) {
    Emitter *e = p->e;
    int lanes = e->width * buf->lanes;
    LLVMValueRef many = LLVMBuildMul(e->builder, count, emit_int(e, lanes), "");
    if (p->lanes) return many;
    int64_t most = LANES_BYTES / ((int64_t)kind_size(buf->kind) * lanes);
    p->roomy[buf->id] = LLVMBuildICmp(e->builder, LLVMIntULE, count, emit_int(e, most), "");
    return LLVMBuildSelect(e->builder, p->roomy[buf->id], many, count, "");
}

static void emit_new(Body *p, const Buf *buf) {
    Emitter *e = p->e;
    if (p->on_stack[buf->id]) {
        int64_t bytes = body_constant_bytes(p, buf), size = (int64_t)kind_size(buf->kind);
        LLVMTypeRef type = LLVMArrayType2(emit_memory_type(e, buf->kind), (uint64_t)(bytes / size));
        p->base[buf->id] = body_slot(p, type, buf->name);
        LLVMSetAlignment(p->base[buf->id], bytes >= ALIGNMENT || buf->lanes ? ALIGNMENT : 16);
        emit_lifetime(p, buf, "llvm.lifetime.start");
        return;
    }
    LLVMValueRef count = checked_count(p, buf);
    if (buf->lanes && e->width) count = room_for_lanes(p, buf, count);
    LLVMValueRef base = body_alloc(p, count, (int64_t)kind_size(buf->kind));
    if (buf->name) LLVMSetValueName2(base, buf->name, strlen(buf->name));
    p->base[buf->id] = base;
}

LLVMValueRef body_mark(Body *p) {
    LLVMValueRef args[] = {p->context};
    return body_call_arena(p, "fsm_mark", p->e->type_i64, 1, args);
}

void body_release(Body *p, LLVMValueRef mark) {
    LLVMValueRef args[] = {p->context, mark};
    body_call_arena(p, "fsm_release", p->e->type_void, 2, args);
}

// The address of buf[index…].
LLVMValueRef body_element(Body *p, const Buf *buf, const Temp *index) {
    Emitter *e = p->e;
    LLVMValueRef at = NULL;
    for (int k = 0; k < buf->rank; k++) {
        LLVMValueRef i = body_value(p, index[k]);
        if (at) {
            at = LLVMBuildNSWMul(e->builder, at, body_value(p, buf->extent[k]), "");
            i = LLVMBuildNSWAdd(e->builder, at, i, "");
        }
        at = i;
    }
    if (!at) return body_buffer(p, buf);
    return LLVMBuildInBoundsGEP2(e->builder, emit_memory_type(e, buf->kind), body_buffer(p, buf), &at, 1, "");
}

LLVMValueRef body_load(Body *p, Kind kind, LLVMValueRef address) {
    Emitter *e = p->e;
    LLVMValueRef v = LLVMBuildLoad2(e->builder, emit_memory_type(e, kind), address, "");
    LLVMSetAlignment(v, body_alignment(kind));
    return kind == KIND_BOOL ? LLVMBuildICmp(e->builder, LLVMIntNE, v, LLVMConstNull(e->type_i8), "") : v;
}

void body_store(Body *p, Kind kind, LLVMValueRef v, LLVMValueRef address) {
    Emitter *e = p->e;
    if (kind == KIND_BOOL) v = LLVMBuildZExt(e->builder, v, e->type_i8, "");
    LLVMSetAlignment(LLVMBuildStore(e->builder, v, address), body_alignment(kind));
}

// ---- loops

Counted body_begin_for(Body *p, LLVMValueRef first, LLVMValueRef n, int64_t step, const char *name) {
    Emitter *e = p->e;
    Counted c = {.body = body_new_block(p, "for"), .done = body_new_block(p, "done"), .n = n, .step = step};
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->builder);
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntSGT, n, first, ""), c.body, c.done);
    body_go_on(p, c.body);
    c.index = LLVMBuildPhi(e->builder, e->type_i64, name ? name : "");
    LLVMAddIncoming(c.index, &first, &from, 1);
    return c;
}

void body_end_for(Body *p, Counted *c) {
    Emitter *e = p->e;
    LLVMValueRef next = LLVMBuildNSWAdd(e->builder, c->index, emit_int(e, c->step), "");
    LLVMSetNUW(next, true);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->builder);
    LLVMAddIncoming(c->index, &next, &from, 1);
    c->back = LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntSLT, next, c->n, ""), c->body, c->done);
    LLVMMoveBasicBlockAfter(c->done, from);
    body_go_on(p, c->done);
}

// Has the call been cancelled? The flag is the first byte of its context.
void body_poll(Body *p) {
    Emitter *e = p->e;
    LLVMValueRef flag = LLVMBuildLoad2(e->builder, e->type_i8, p->call, "cancelled");
    LLVMSetAlignment(flag, 1);
    LLVMSetOrdering(flag, LLVMAtomicOrderingMonotonic);
    LLVMValueRef ok = LLVMBuildICmp(e->builder, LLVMIntEQ, flag, LLVMConstNull(e->type_i8), "");
    LLVMBasicBlockRef rest = body_split_failure(p, ok);
    LLVMValueRef args[] = {p->context};
    body_return_code(p, call_runtime(p, "fsm_poll", cold_attrs, e->type_i32, 1, args));
    body_go_on(p, rest);
}

// The iterations of a loop without long loops inside, CHUNK at a time, so that it can be cancelled in between. Emits what
// comes before the loop over the iterations from *first up to the result.
typedef struct Chunks {
    LLVMBasicBlockRef head;
    LLVMValueRef first, end, n;
} Chunks;

static Chunks begin_chunks(Body *p, LLVMValueRef start, LLVMValueRef n) {
    Emitter *e = p->e;
    LLVMBuilderRef b = e->builder;
    Chunks c = {.n = n};
    LLVMBasicBlockRef from = LLVMGetInsertBlock(b);
    LLVMValueRef size = emit_int(e, CHUNK);
    c.head = body_new_block(p, "chunk");
    LLVMBuildBr(b, c.head);
    body_go_on(p, c.head);
    c.first = LLVMBuildPhi(b, e->type_i64, "first");
    LLVMAddIncoming(c.first, &start, &from, 1);
    body_poll(p);
    LLVMValueRef left = LLVMBuildNSWSub(b, n, c.first, "");
    LLVMValueRef full = LLVMBuildICmp(b, LLVMIntSGT, left, size, "");
    c.end = LLVMBuildSelect(b, full, LLVMBuildNSWAdd(b, c.first, size, ""), n, "");
    return c;
}

static void end_chunks(Body *p, const Chunks *c) {
    Emitter *e = p->e;
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->builder), done = body_new_block(p, "done");
    LLVMAddIncoming(c->first, (LLVMValueRef[]){c->end}, &from, 1);
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntSLT, c->end, c->n, ""), c->head, done);
    body_go_on(p, done);
}

// The elements between neighbours in dimension k, if that is a small number, else 0.
static int64_t small_stride(const Body *p, const Buf *b, int k) {
    enum { SMALL = 4 };
    int64_t n = 1;
    while (++k < b->rank && n && n <= SMALL) {
        const Stmt *s = p->def[b->extent[k]];
        n *= s && s->kind == ST_LIT ? s->u.num : 0;
    }
    return n <= SMALL ? n : 0;
}

// How many more accesses jump with the loop's index than go along with it? If there are any, vectors of iterations would be
// gathered, and one iteration is the better source of vectors. LLVM can tell columns apart if there are few.
static int jumps(const Body *p, const Block *block, Temp index) {
    int more = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_LOAD || s->kind == ST_STORE || s->kind == ST_ADDTO) {
            const Temp *at = s->kind == ST_LOAD ? s->args : s->args + 1;
            for (int k = 0; k < s->buf->rank; k++)
                if (at[k] == index) more += small_stride(p, s->buf, k) ? -1 : 1;
        }
        more += jumps(p, s->body, index) + jumps(p, s->other, index);
    }
    return more;
}

// LLVM makes no vectors of the loop, or, with `few`, does not even write out several iterations.
static void keep_scalar(Emitter *e, LLVMValueRef back, bool few) {
    const char *const name = "llvm.loop.vectorize.enable", *const unroll = "llvm.loop.unroll.disable";
    LLVMMetadataRef off[] = {LLVMMDStringInContext2(e->context, name, strlen(name)),
                             LLVMValueAsMetadata(LLVMConstInt(e->type_i1, 0, false))};
    LLVMMetadataRef whole = LLVMMDStringInContext2(e->context, unroll, strlen(unroll)),
                    self = LLVMTemporaryMDNode(e->context, NULL, 0);
    LLVMMetadataRef all[] = {self, LLVMMDNodeInContext2(e->context, off, 2), LLVMMDNodeInContext2(e->context, &whole, 1)};
    LLVMMetadataRef loop = LLVMMDNodeInContext2(e->context, all, few ? 3 : 2);
    LLVMMetadataReplaceAllUsesWith(self, loop); // it names itself
    LLVMSetMetadata(back, LLVMGetMDKindIDInContext(e->context, "llvm.loop", 9), LLVMMetadataAsValue(e->context, loop));
}

void body_emit_scalar_for(Body *p, const Stmt *s, LLVMValueRef first) {
    LLVMValueRef mark = body_allocates(p, s->body, false) ? body_mark(p) : NULL, n = body_value(p, s->args[0]);
    bool deep = body_is_long(p, s->body), chunked = !p->depth && !deep && !s->few && is_counted_far(p, s);
    Chunks chunks = {.first = first, .end = n};
    if (chunked) chunks = begin_chunks(p, first, n);
    Counted c = body_begin_for(p, chunks.first, chunks.end, 1, p->tree->temps.data[s->dst].name);
    p->temp[s->dst] = c.index;
    parts_defined(p, s->dst);
    if (deep) body_poll(p);
    p->depth++;
    body_emit(p, s->body);
    p->depth--;
    debug_place(p->e->debug, s->span);
    if (mark) body_release(p, mark);
    body_end_for(p, &c);
    if (s->few || stmt_wish(s, WISH_sequential) || jumps(p, s->body, s->dst) > 0) keep_scalar(p->e, c.back, s->few);
    if (chunked) end_chunks(p, &chunks);
}

static void emit_loop(Body *p, const Stmt *s) {
    LLVMBuilderRef b = p->e->builder;
    LLVMBasicBlockRef outer = p->leave, body = body_new_block(p, "loop"), done = body_new_block(p, "done");
    // A break may leave blocks inside this one without passing their ends.
    LLVMValueRef mark = body_allocates(p, s->body, true) ? body_mark(p) : NULL;
    LLVMBuildBr(b, body);
    body_go_on(p, body);
    body_poll(p);
    p->leave = done;
    p->depth++;
    body_emit(p, s->body);
    p->depth--;
    debug_place(p->e->debug, s->span);
    p->leave = outer;
    if (mark) body_release(p, mark);
    LLVMBuildBr(b, body);
    LLVMMoveBasicBlockAfter(done, LLVMGetInsertBlock(b));
    body_go_on(p, done);
    if (mark) body_release(p, mark);
}

static void emit_break(Body *p, const Stmt *s) {
    if (!p->leave) fatal_bug("%s: ST_BREAK outside of a loop", p->func->name);
    LLVMBasicBlockRef rest = body_new_block(p, "go_on");
    LLVMBuildCondBr(p->e->builder, body_value(p, s->args[0]), rest, p->leave);
    body_go_on(p, rest);
}

static void emit_arm(Body *p, const Block *block) {
    if (!block) return;
    LLVMValueRef mark = body_allocates(p, block, false) ? body_mark(p) : NULL;
    body_emit(p, block);
    if (mark) body_release(p, mark);
}

static void emit_branch(Body *p, const Block *block, LLVMBasicBlockRef join) {
    emit_arm(p, block);
    LLVMBuildBr(p->e->builder, join);
}

// In a version for sizes of 0: is v, an Int or a Bool, known to be no more than 0?
static bool is_nothing(const Body *p, LLVMValueRef v) {
    if (!p->cold || !LLVMIsAConstantInt(v)) return false;
    return LLVMTypeOf(v) == p->e->type_i1 ? LLVMIsNull(v) : LLVMConstIntGetSExtValue(v) <= 0;
}

static void emit_if(Body *p, const Stmt *s) {
    bool has_other = s->other && s->other->stmts.len;
    if (is_nothing(p, body_value(p, s->args[0]))) {
        if (has_other) emit_arm(p, s->other);
        return;
    }
    LLVMBasicBlockRef then = body_new_block(p, "then"), join = body_new_block(p, "join");
    LLVMBasicBlockRef other = has_other ? body_new_block(p, "else") : join;
    LLVMBuildCondBr(p->e->builder, body_value(p, s->args[0]), then, other);
    body_go_on(p, then);
    emit_branch(p, s->body, join);
    if (has_other) {
        LLVMMoveBasicBlockAfter(other, LLVMGetInsertBlock(p->e->builder));
        body_go_on(p, other);
        emit_branch(p, s->other, join);
    }
    LLVMMoveBasicBlockAfter(join, LLVMGetInsertBlock(p->e->builder));
    body_go_on(p, join);
}

static void emit_fill(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    Kind kind = s->buf->kind;
    LLVMValueRef v = body_value(p, s->args[0]), n = body_count(p, s->buf), base = body_buffer(p, s->buf);
    if (LLVMIsConstant(v) && LLVMIsNull(v)) {
        LLVMValueRef bytes = LLVMBuildMul(e->builder, n, emit_int(e, (int64_t)kind_size(kind)), "");
        LLVMBuildMemSet(e->builder, base, LLVMConstNull(e->type_i8), bytes, body_alignment(kind));
        return;
    }
    Counted c = body_begin_for(p, emit_int(e, 0), n, 1, "fill");
    body_store(p, kind, v, LLVMBuildInBoundsGEP2(e->builder, emit_memory_type(e, kind), base, &c.index, 1, ""));
    body_end_for(p, &c);
}

static void emit_copy(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    LLVMValueRef size = emit_int(e, (int64_t)kind_size(s->buf->kind));
    LLVMValueRef bytes = LLVMBuildMul(e->builder, body_count(p, s->buf), size, "");
    unsigned align = body_alignment(s->buf->kind);
    LLVMBuildMemCpy(e->builder, body_buffer(p, s->buf), align, body_buffer(p, s->src), align, bytes);
}

// n times the extents of some dimensions.
static LLVMValueRef times_extents(Body *p, LLVMValueRef n, const Buf *buf, int from, int end) {
    for (int k = from; k < end; k++) n = LLVMBuildMul(p->e->builder, n, body_value(p, buf->extent[k]), "");
    return n;
}

static void emit_move(Body *p, const Stmt *s) {
    static const char *const attrs[] = {"nounwind", "willreturn", "nocallback", NULL};
    static const uint64_t MEMORY_OF_ARGUMENTS = 3;
    Emitter *e = p->e;
    LLVMBuilderRef b = e->builder;
    const int at = (int)s->u.num;
    LLVMValueRef columns = times_extents(p, emit_int(e, 1), s->buf, 0, at);
    LLVMValueRef row = times_extents(p, emit_int(e, (int64_t)kind_size(s->buf->kind)), s->buf, at + 1, s->buf->rank);
    LLVMValueRef offset = LLVMBuildMul(b, body_value(p, s->args[0]), row, "");
    LLVMValueRef args[] = {LLVMBuildInBoundsGEP2(b, e->type_i8, body_buffer(p, s->buf), &offset, 1, ""),
                           body_buffer(p, s->src),
                           columns,
                           LLVMBuildMul(b, body_value(p, s->args[1]), row, ""),
                           times_extents(p, row, s->buf, at, at + 1),
                           times_extents(p, row, s->src, at, at + 1)};
    bool fresh = !LLVMGetNamedFunction(e->module, "fsm_columns");
    call_runtime(p, "fsm_columns", attrs, e->type_void, 6, args);
    LLVMValueRef f = LLVMGetNamedFunction(e->module, "fsm_columns");
    if (fresh) emit_attribute(e, f, LLVMAttributeFunctionIndex, "memory", MEMORY_OF_ARGUMENTS);
    for (LLVMAttributeIndex k = 1; fresh && k <= 2; k++) emit_attribute(e, f, k, "nocapture", 0);
}

// ---- statements

void body_fail(Body *p, const CheckInfo *check, int nvalues, const Kind *kinds, LLVMValueRef *values) {
    Emitter *e = p->e;
    LLVMTypeRef params[] = {e->type_ptr, e->type_i32, e->type_ptr, e->type_ptr, e->type_i32};
    LLVMTypeRef type = emit_function_type(e, e->type_i32, 5, params, true);
    LLVMValueRef fail = emit_declare(e, "fsm_fail", type, cold_attrs);
    int n = 0;
    LLVMValueRef *args = ARENA_ARRAY(e->arena, LLVMValueRef, 5 + nvalues);
    args[n++] = p->context;
    args[n++] = LLVMConstInt(e->type_i32, (unsigned)check->code, false);
    args[n++] = emit_string(e, diag_line(e->arena, check->span));
    args[n++] = emit_string(e, check->text);
    args[n++] = LLVMConstInt(e->type_i32, (unsigned)nvalues, false);
    for (int i = 0; i < nvalues; i++) {
        LLVMValueRef v = values[i];
        if (kinds[i] == KIND_FLOAT) v = emit_conv(e, KIND_DOUBLE, KIND_FLOAT, v);
        args[n++] = kind_is_float(kinds[i]) ? LLVMBuildBitCast(e->builder, v, e->type_i64, "") : v;
    }
    body_return_code(p, LLVMBuildCall2(e->builder, type, fail, args, (unsigned)n, ""));
}

static void emit_check(Body *p, const Stmt *s) {
    LLVMValueRef ok = body_value(p, s->args[0]);
    if (LLVMIsAConstantInt(ok) && LLVMConstIntGetZExtValue(ok)) return;
    LLVMBasicBlockRef rest = body_split_failure(p, ok);
    int n = s->nargs - 1;
    LLVMValueRef *values = ARENA_ARRAY(p->e->arena, LLVMValueRef, n + 1);
    Kind *kinds = ARENA_ARRAY(p->e->arena, Kind, n + 1);
    for (int i = 0; i < n; i++) values[i] = body_value(p, s->args[1 + i]), kinds[i] = body_kind(p, s->args[1 + i]);
    body_fail(p, s->u.check, n, kinds, values);
    body_go_on(p, rest);
}

static LLVMValueRef emit_argument(Body *p, int64_t number) {
    Emitter *e = p->e;
    LLVMValueRef v = LLVMGetParam(p->function, (unsigned)number + 1);
    if (p->func->inputs[number]->kind != KIND_BOOL) return v;
    return LLVMBuildICmp(e->builder, LLVMIntNE, v, LLVMConstNull(e->type_i32), "");
}

static LLVMValueRef emit_operation(Body *p, const Stmt *s) {
    LLVMValueRef x = body_value(p, s->args[0]), y = s->nargs > 1 ? body_value(p, s->args[1]) : NULL;
    Kind kind = body_kind(p, s->dst);
    if (p->accumulation[s->dst]) return emit_accumulate(p->e, kind, x, y, s->op == OP_sub);
    LLVMValueRef here = body_function_of(p, s->op, x);
    LLVMValueRef v = here ? here : emit_op(p->e, s->op, kind == KIND_BOOL ? body_kind(p, s->args[0]) : kind, x, y);
    LLVMTypeRef type = LLVMTypeOf(v);
    return s->kept ? emit_intrinsic(p->e, "llvm.arithmetic.fence", 1, &type, 1, &v) : v;
}

static void emit_addto(Body *p, const Stmt *s) {
    Kind kind = s->buf->kind;
    LLVMValueRef address = body_element(p, s->buf, s->args + 1);
    LLVMValueRef sum = emit_accumulate(p->e, kind, body_load(p, kind, address), body_value(p, s->args[0]), false);
    body_store(p, kind, sum, address);
}

static LLVMValueRef emit_cell(Body *p, const Stmt *s) {
    const TempInfo *t = &p->tree->temps.data[s->dst];
    LLVMValueRef slot = parts_cell(p, s->dst);
    if (!slot) slot = body_slot(p, emit_type(p->e, t->kind), t->name);
    LLVMBuildStore(p->e->builder, body_value(p, s->args[0]), slot);
    return slot;
}

// A call of a C function: its result, or its status as an Int.
static LLVMValueRef emit_call(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    LLVMValueRef *args = ARENA_ARRAY(e->arena, LLVMValueRef, s->nin + 1);
    for (int k = 0, scalars = 0; k < s->nin; k++) args[k] = s->in[k] ? body_buffer(p, s->in[k]) : body_value(p, s->args[scalars++]);
    if (!s->nout) return emit_extern(e, s->u.name, emit_memory_type(e, body_kind(p, s->dst)), s->nin, args, 0);
    LLVMValueRef status = emit_extern(e, s->u.name, e->type_i32, s->nin, args, s->nout);
    return LLVMBuildSExt(e->builder, status, e->type_i64, "");
}

// The value of a statement that defines a temp and is no loop.
LLVMValueRef body_definition(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    Kind kind = body_kind(p, s->dst);
    switch (s->kind) {
    case ST_LIT: return emit_lit(e, kind, s->u.real, s->u.num);
    case ST_ARG: return emit_argument(p, s->u.num);
    case ST_OP: return emit_operation(p, s);
    case ST_EXTERN: return emit_call(p, s);
    case ST_CONV: return emit_conv(e, kind, body_kind(p, s->args[0]), body_value(p, s->args[0]));
    case ST_SELECT:
        return LLVMBuildSelect(e->builder, body_value(p, s->args[0]), body_value(p, s->args[1]), body_value(p, s->args[2]), "");
    case ST_CELL: return emit_cell(p, s);
    case ST_GET: return LLVMBuildLoad2(e->builder, emit_type(e, kind), body_value(p, s->args[0]), "");
    case ST_LOAD: return body_load(p, kind, body_element(p, s->buf, s->args));
    default: fatal_bug("%s: statement %d defines no value", p->func->name, (int)s->kind);
    }
}

static LLVMValueRef emit_chunk_size(Body *p, const Stmt *s) {
    static const char *const attrs[] = {"nounwind", "willreturn", NULL};
    LLVMValueRef args[] = {body_value(p, s->args[0]), body_value(p, s->args[1]), body_value(p, s->args[2]),
                           emit_int(p->e, s->u.num)};
    return call_runtime(p, "fsm_chunk", attrs, p->e->type_i64, 4, args);
}

static LLVMValueRef emit_threads(Body *p) {
    static const char *const attrs[] = {"nounwind", "willreturn", NULL};
    LLVMValueRef args[] = {p->context, LLVMConstInt(p->e->type_i32, (unsigned)p->e->opt->threads, true)};
    return call_runtime(p, "fsm_threads", attrs, p->e->type_i64, 2, args);
}

// Into the second cache: the first may be full of what lanes share. There may be no such elements, so that the address is one
// beside the buffer: nothing is read there.
static void emit_fetch(Body *p, const Stmt *s) {
    enum { LINE = CACHE_LINE, READ = 0, SECOND = 2, DATA = 1 };
    Emitter *e = p->e;
    LLVMValueRef at = body_value(p, s->args[1]);
    for (int k = 1; k < s->buf->rank; k++)
        at = LLVMBuildAdd(e->builder, LLVMBuildMul(e->builder, at, body_value(p, s->buf->extent[k]), ""),
                          body_value(p, s->args[k + 1]), "");
    Counted c = body_begin_for(p, emit_int(e, 0), body_value(p, s->args[0]), LINE / (int64_t)kind_size(s->buf->kind), "fetch");
    at = LLVMBuildAdd(e->builder, at, c.index, "");
    LLVMValueRef address = LLVMBuildGEP2(e->builder, emit_memory_type(e, s->buf->kind), body_buffer(p, s->buf), &at, 1, "");
    LLVMValueRef args[] = {address, LLVMConstInt(e->type_i32, READ, false), LLVMConstInt(e->type_i32, SECOND, false),
                           LLVMConstInt(e->type_i32, DATA, false)};
    emit_intrinsic(e, "llvm.prefetch", 1, &e->type_ptr, 4, args);
    body_end_for(p, &c);
}

const Works *body_works(Body *p, const Stmt *loop) {
    const Works *works = map_get(&p->works, loop);
    if (!works) map_put(&p->works, loop, (void *)(works = loop_works(p->e->arena, p->tree, p->def, loop)));
    return works;
}

// Whether a loop does anything; what lanes have of their own may be anything.
static LLVMValueRef emit_works(Body *p, const Works *w) {
    LLVMBuilderRef b = p->e->builder;
    LLVMValueRef yes = LLVMConstInt(p->e->type_i1, 1, false);
    switch (w->kind) {
    case WORKS_NEVER: return LLVMConstNull(p->e->type_i1);
    case WORKS_ALWAYS: return yes;
    case WORKS_NONZERO:
        if (p->lanes && p->tree->temps.data[w->extent].varies) return yes;
        return LLVMBuildICmp(b, LLVMIntNE, body_value(p, w->extent), emit_int(p->e, 0), "");
    case WORKS_BOTH: return LLVMBuildAnd(b, emit_works(p, w->left), emit_works(p, w->right), "");
    default: return LLVMBuildOr(b, emit_works(p, w->left), emit_works(p, w->right), "");
    }
}

static void emit_for(Body *p, const Stmt *s) {
    LLVMValueRef works = emit_works(p, body_works(p, s));
    LLVMBasicBlockRef done = LLVMIsConstant(works) ? NULL : body_new_block(p, "done");
    if (done) {
        LLVMBasicBlockRef loop = body_new_block(p, "works");
        LLVMBuildCondBr(p->e->builder, works, loop, done);
        body_go_on(p, loop);
    } else if (LLVMIsNull(works)) {
        return;
    }
    if (s->threads) threads_for(p, s);
    else if (s->lanes && p->e->width && !p->lanes) lanes_for(p, s);
    else body_emit_scalar_for(p, s, s->streams && p->e->width && !p->lanes ? lanes_streams(p, s) : body_first(p, s));
    if (!done) return;
    LLVMBuildBr(p->e->builder, done);
    LLVMMoveBasicBlockAfter(done, LLVMGetInsertBlock(p->e->builder));
    body_go_on(p, done);
}

static void emit_stmt(Body *p, const Stmt *s) {
    debug_place(p->e->debug, s->span);
    if (p->lanes && lanes_stmt(p, s)) return;
    switch (s->kind) {
    case ST_FOR:
        if (!is_nothing(p, body_value(p, s->args[0]))) emit_for(p, s);
        break;
    case ST_SET: LLVMBuildStore(p->e->builder, body_value(p, s->args[0]), body_value(p, s->dst)); break;
    case ST_NEW:
        emit_new(p, s->buf);
        parts_new_buffer(p, s->buf);
        break;
    case ST_FILL: emit_fill(p, s); break;
    case ST_COPY: emit_copy(p, s); break;
    case ST_MOVE: emit_move(p, s); break;
    case ST_STORE: body_store(p, s->buf->kind, body_value(p, s->args[0]), body_element(p, s->buf, s->args + 1)); break;
    case ST_ADDTO: emit_addto(p, s); break;
    case ST_FETCH: emit_fetch(p, s); break;
    case ST_OUT:
        body_store(p, body_kind(p, s->args[0]), body_value(p, s->args[0]),
                   LLVMGetParam(p->function, (unsigned)(p->func->ninputs + s->u.num) + 1));
        break;
    case ST_LOOP: emit_loop(p, s); break;
    case ST_BREAK: emit_break(p, s); break;
    case ST_IF: emit_if(p, s); break;
    case ST_CHECK: emit_check(p, s); break;
    case ST_PROC: procs_emit(p, s); break;
    case ST_PARAM: break; // it has its value, or is in the frame
    case ST_CALL: procs_call(p, s); break;
    case ST_CHUNK: p->temp[s->dst] = emit_chunk_size(p, s), parts_defined(p, s->dst); break;
    case ST_THREADS: p->temp[s->dst] = emit_threads(p), parts_defined(p, s->dst); break;
    default:
        p->temp[s->dst] = body_definition(p, s);
        if (s->kind != ST_CELL) parts_defined(p, s->dst);
        break;
    }
}

static void emit_stmts(Body *p, const Block *block, int begin, int end) {
    for (int i = begin; i < end;) {
        Stmt *const *s = block->stmts.data + i;
        int sums = p->lanes ? lanes_sums(p, end - i, s) : 0, stores = p->lanes ? 0 : stores_run(p, end - i, s);
        int packed = p->lanes || stores ? 0 : packs_run(p, end - i, s);
        for (int k = 0; k < stores + packed; k++)
            if (s[k]->kind != ST_STORE) emit_stmt(p, s[k]);
        if (stores) stores_emit(p, stores, s);
        else if (packed) packs_emit(p, packed, s);
        else if (!sums) emit_stmt(p, s[0]), i++;
        i += sums + stores + packed;
    }
}

void body_emit_range(Body *p, const Block *block, int begin, int end) {
    emit_stmts(p, block, begin, end);
    for (int i = begin; i < end; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_NEW && p->on_stack[s->buf->id]) emit_lifetime(p, s->buf, "llvm.lifetime.end");
    }
}

// The statements from number `begin` on.
static void emit_from(Body *p, const Block *block, int begin) {
    for (Part *part = map_get(&p->parts, block); part; part = part->next) {
        emit_stmts(p, block, begin, part->begin);
        parts_emit(p, part);
        begin = part->end;
    }
    body_emit_range(p, block, begin, block->stmts.len);
}

void body_emit(Body *p, const Block *block) { emit_from(p, block, 0); }

// ---- functions

LLVMValueRef body_first(Body *p, const Stmt *loop) { return loop->nargs > 1 ? body_value(p, loop->args[1]) : emit_int(p->e, 0); }

// What the body of a function has by temp and by buffer.
static void make_tables(Body *p) {
    Arena *a = p->e->arena;
    int ntemps = p->tree->temps.len + 1, nbufs = 1;
    for (int i = 0; i < p->tree->bufs.len; i++)
        if (nbufs <= p->tree->bufs.data[i]->id) nbufs = p->tree->bufs.data[i]->id + 1;
    p->temp = ARENA_ARRAY(a, LLVMValueRef, ntemps);
    p->base = ARENA_ARRAY(a, LLVMValueRef, nbufs);
    p->sums = ARENA_ARRAY(a, LLVMValueRef, nbufs);
    p->roomy = ARENA_ARRAY(a, LLVMValueRef, nbufs);
    p->sums_cell = ARENA_ARRAY(a, bool, ntemps);
    p->scan = ARENA_ARRAY(a, bool, ntemps);
    if (p->def) return; // of a function that does a part of another one's
    p->def = ARENA_ARRAY(a, Stmt *, ntemps);
    p->seen = ARENA_ARRAY(a, int, ntemps);
    p->accumulation = ARENA_ARRAY(a, bool, ntemps);
    p->on_stack = ARENA_ARRAY(a, bool, nbufs);
}

static Body *body_bare(Emitter *e, const Tree *tree, LLVMValueRef function) {
    Body *p = ARENA_NEW(e->arena, Body);
    *p = (Body){.e = e, .tree = tree, .func = tree->func, .function = function};
    p->context = p->call = LLVMGetParam(function, 0);
    return p;
}

static Body *body_new(Emitter *e, const Tree *tree, LLVMValueRef function) {
    Body *p = body_bare(e, tree, function);
    make_tables(p);
    return p;
}

static Body *body_beside(const Body *p, LLVMValueRef function) {
    Body *in = body_bare(p->e, p->tree, function);
    in->def = p->def, in->seen = p->seen, in->accumulation = p->accumulation, in->on_stack = p->on_stack;
    in->name = p->name, in->depth = p->depth, in->procs = p->procs;
    return in;
}

Body *body_outlined(const Body *p, LLVMValueRef function) {
    Body *in = body_beside(p, function);
    make_tables(in);
    return in;
}

Body *body_of_proc(const Body *p, LLVMValueRef function) {
    Body *in = body_beside(p, function);
    in->temp = p->temp, in->base = p->base, in->sums = p->sums, in->roomy = p->roomy;
    in->sums_cell = p->sums_cell, in->scan = p->scan;
    return in;
}

// If a size is 0, or something else is not as assumed, the version for that runs instead: rarely, so that it is
// compiled quickly rather than well. measured: as is assumed of elements of arguments.
static void emit_otherwise(Body *p, const Tree *tree, const char *name, bool measured) {
    Emitter *e = p->e;
    LLVMValueRef full = emit_is_as_assumed(e, tree, p->function, measured);
    LLVMBasicBlockRef rest = body_split_failure(p, full);
    LLVMValueRef other = LLVMGetNamedFunction(e->module, name), *args;
    int n = 1 + tree->func->ninputs + tree->func->noutputs;
    args = ARENA_ARRAY(e->arena, LLVMValueRef, n);
    LLVMGetParams(p->function, args);
    body_return_code(p, LLVMBuildCall2(e->builder, emit_entry_type(e, tree->func), other, args, (unsigned)n, ""));
    body_go_on(p, rest);
}

void body_mark_quick(Emitter *e, LLVMValueRef function) { emit_text_attribute(e, function, QUICK_ATTRIBUTE, ""); }

LLVMValueRef body_function(Emitter *e, const Tree *tree, const char *name, int extra, bool cold) {
    static const char *const attributes[] = {"nounwind", "noinline", "optnone", "cold"};
    LLVMTypeRef type = emit_entry_type(e, tree->func);
    unsigned n = LLVMCountParamTypes(type);
    LLVMTypeRef *params = ARENA_ARRAY(e->arena, LLVMTypeRef, (int)n + extra);
    LLVMGetParamTypes(type, params);
    for (int i = 0; i < extra; i++) params[(int)n + i] = e->type_ptr;
    if (extra) type = emit_function_type(e, LLVMGetReturnType(type), (int)n + extra, params, false);
    LLVMValueRef function = LLVMAddFunction(e->module, name, type);
    for (int i = 0; i < (cold ? 4 : 2); i++) emit_attribute(e, function, LLVMAttributeFunctionIndex, attributes[i], 0);
    emit_wide(e, function);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    return function;
}

// If there is one size, and all but 0 are the other version's, it is 0: much of the version for it is then nothing.
static void know_size(Body *p, const Tree *positive, int prologue) {
    const Func *f = positive->func;
    if (f->nsizes != 1 || ir_assumes_more(f)) return;
    for (int i = 0; i < prologue; i++) {
        const Stmt *s = p->tree->body->stmts.data[i];
        if (s->kind == ST_ARG && s->u.num == 0) p->temp[s->dst] = emit_int(p->e, 0);
    }
}

// A version for unusual arguments is called by the other one before that looks at anything else: that of `positive`, or
// NULL.
static void emit_version(Emitter *e, const Tree *tree, const char *name, const Tree *positive) {
    const bool empty = positive;
    LLVMValueRef function = body_function(e, tree, name, 0, empty);
    const char *otherwise = arena_printf(e->arena, "%s" OTHERWISE_SUFFIX, name);
    if (tree->otherwise) emit_version(e, tree->otherwise, otherwise, tree);
    debug_begin_function(e->debug, function, tree->func, name);
    Body *p = body_new(e, tree, function);
    int stamp = 0, split = tree->prologue;
    Map procs = {0};
    p->name = name, p->cold = empty, p->procs = &procs;
    parts_divide(p, split);
    survey(p, tree->body, &stamp);
    p->slots = body_new_block(p, "entry");
    LLVMBasicBlockRef start = body_new_block(p, "start");
    body_go_on(p, start);
    body_declare_parameters(p);
    parts_frame(p);
    if (tree->otherwise) emit_otherwise(p, tree, otherwise, false);
    body_emit_range(p, tree->body, 0, split);
    // how long an array must be is known when the sizes are right
    emit_array_checks(e, empty ? positive : tree, function);
    if (tree->otherwise && tree->func->ir->nmeasured) emit_otherwise(p, tree, otherwise, true);
    if (empty) know_size(p, positive, split);
    emit_from(p, tree->body, split);
    body_return_code(p, LLVMConstNull(e->type_i32));
    body_go_on(p, p->slots);
    LLVMBuildBr(e->builder, start);
    parts_free(p);
    map_free(&p->works);
    map_free(&procs);
    debug_nowhere(e->debug);
}

void emit_body(Emitter *e, const Tree *tree, const char *name) { emit_version(e, tree, name, NULL); }

// int NAME__call(fsm_context *ctx, void **args): args[i] is the array, or points to the scalar, of input i; the outputs
// follow.
void emit_caller(Emitter *e, const Func *f, const char *name) {
    LLVMTypeRef params[] = {e->type_ptr, e->type_ptr}, type = emit_function_type(e, e->type_i32, 2, params, false);
    LLVMValueRef caller = LLVMAddFunction(e->module, arena_printf(e->arena, "%s" CALLER_SUFFIX, name), type);
    LLVMPositionBuilderAtEnd(e->builder, LLVMAppendBasicBlockInContext(e->context, caller, "entry"));
    int n = 0, total = f->ninputs + f->noutputs;
    LLVMValueRef *args = ARENA_ARRAY(e->arena, LLVMValueRef, total + 1);
    args[n++] = LLVMGetParam(caller, 0);
    for (int i = 0; i < total; i++) {
        LLVMValueRef at[] = {emit_int(e, i)};
        LLVMValueRef row = LLVMBuildInBoundsGEP2(e->builder, e->type_ptr, LLVMGetParam(caller, 1), at, 1, "");
        LLVMValueRef v = LLVMBuildLoad2(e->builder, e->type_ptr, row, "");
        if (i < f->ninputs && !f->inputs[i]->rank) {
            Kind kind = f->inputs[i]->kind;
            v = LLVMBuildLoad2(e->builder, emit_memory_type(e, kind), v, "");
            if (kind == KIND_BOOL) v = LLVMBuildZExt(e->builder, v, e->type_i32, "");
        }
        args[n++] = v;
    }
    LLVMValueRef entry = LLVMGetNamedFunction(e->module, name);
    LLVMBuildRet(e->builder, LLVMBuildCall2(e->builder, emit_entry_type(e, f), entry, args, (unsigned)n, ""));
}
