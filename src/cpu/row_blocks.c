// Copies of rows between memory, where each lane has a row of its own, and buffers that hold an element of all lanes side by
// side. Blocks of a power of 2 are moved as vectors and turned over in registers: `size` elements of the rows of a vector's
// lanes. That takes a hundred instructions and more, so copies whose length is not known, or long, are calls of one function
// for each kind of elements and each direction:
//
//     fsm.rows.in.f64(rows, apart, buffer, lanes, n): for l < lanes, j < n: buffer[j * lanes + l] = rows[l * apart + j]
#include "cpu/rows.h"

// Exchanges the halves of pairs of vectors, then their quarters, and so on: v[k] gets element k of every `size` elements.
static void turn(Body *p, LLVMValueRef *v, int size) {
    LLVMValueRef low[64], high[64];
    const int n = lanes_of_vector(p);
    for (int half = size / 2; half > 0; half /= 2) {
        for (int l = 0; l < n; l++) {
            low[l] = lanes_index(p, l & half ? n + l - half : l);
            high[l] = lanes_index(p, l & half ? n + l : l + half);
        }
        for (int k = 0; k < size; k++) {
            if (k & half) continue;
            LLVMValueRef a = v[k], b = v[k + half];
            v[k] = LLVMBuildShuffleVector(p->e->builder, a, b, LLVMConstVector(low, (unsigned)n), "");
            v[k + half] = LLVMBuildShuffleVector(p->e->builder, a, b, LLVMConstVector(high, (unsigned)n), "");
        }
    }
}

// The address so many elements on.
static LLVMValueRef plus(Body *p, const Rows *r, LLVMValueRef address, LLVMValueRef number) {
    return LLVMBuildInBoundsGEP2(p->e->builder, emit_memory_type(p->e, r->kind), address, &number, 1, "");
}

// The address of elements from j on in the row of a lane.
static LLVMValueRef row_at(Body *p, const Rows *r, LLVMValueRef j, int lane) {
    LLVMBuilderRef b = p->e->builder;
    LLVMValueRef row = r->apart ? LLVMBuildNSWMul(b, r->apart, emit_int(p->e, lane), "") : r->row[lane];
    return plus(p, r, r->first, LLVMBuildNSWAdd(b, row, j, ""));
}

// The address of elements j + k of the lanes from `lane` on.
static LLVMValueRef element_at(Body *p, const Rows *r, LLVMValueRef j, int k, int lane) {
    LLVMBuilderRef b = p->e->builder;
    LLVMValueRef n = LLVMBuildNSWMul(b, LLVMBuildNSWAdd(b, j, emit_int(p->e, k), ""), r->lanes, "");
    return plus(p, r, r->buffer, LLVMBuildNSWAdd(b, n, emit_int(p->e, lane), ""));
}

static LLVMValueRef load(Body *p, LLVMTypeRef type, LLVMValueRef address, unsigned alignment) {
    LLVMValueRef v = LLVMBuildLoad2(p->e->builder, type, address, "");
    LLVMSetAlignment(v, alignment);
    return v;
}

static void store(Body *p, LLVMValueRef v, LLVMValueRef address, unsigned alignment) {
    LLVMSetAlignment(LLVMBuildStore(p->e->builder, v, address), alignment);
}

// A power of 2 of vectors one after the other; they are changed.
static LLVMValueRef joined(Body *p, LLVMValueRef *v, int n) {
    for (; n > 1; n /= 2)
        for (int i = 0; i < n / 2; i++) v[i] = lanes_joined(p, v[2 * i], v[2 * i + 1]);
    return v[0];
}

static void move_in(Body *p, const Rows *r, LLVMValueRef j, int lane, int size) {
    LLVMTypeRef piece = LLVMVectorType(emit_memory_type(p->e, r->kind), (unsigned)size);
    LLVMValueRef v[64], part[64];
    int n = lanes_of_vector(p);
    for (int l = 0; l < n; l++) v[l] = load(p, piece, row_at(p, r, j, lane + l), body_alignment(r->kind));
    for (int k = 0; k < size; k++) { // v[k] becomes rows k, k + size, k + 2 size, …
        for (int i = 0; i < n / size; i++) part[i] = v[k + i * size];
        v[k] = joined(p, part, n / size);
    }
    turn(p, v, size);
    for (int k = 0; k < size; k++) store(p, v[k], element_at(p, r, j, k, lane), lanes_aligned(r->kind, n));
}

static void move_out(Body *p, const Rows *r, LLVMValueRef j, int lane, int size) {
    int n = lanes_of_vector(p);
    LLVMTypeRef type = LLVMVectorType(emit_memory_type(p->e, r->kind), (unsigned)n);
    LLVMValueRef v[64];
    for (int k = 0; k < size; k++) v[k] = load(p, type, element_at(p, r, j, k, lane), lanes_aligned(r->kind, n));
    turn(p, v, size);
    for (int l = 0; l < n; l++) {
        LLVMValueRef part = size == n ? v[l] : lanes_part(p, v[l % size], l / size * size, size);
        store(p, part, row_at(p, r, j, lane + l), body_alignment(r->kind));
    }
}

// One element of each lane.
static void move_one(Body *p, const Rows *r, LLVMValueRef j, int lane) {
    LLVMTypeRef type = emit_memory_type(p->e, r->kind);
    for (int l = lane; l < lane + lanes_of_vector(p); l++) {
        LLVMValueRef row = row_at(p, r, j, l), own = element_at(p, r, j, 0, l);
        store(p, load(p, type, r->in ? row : own, body_alignment(r->kind)), r->in ? own : row, body_alignment(r->kind));
    }
}

void rows_move(Body *p, const Rows *r, LLVMValueRef j, int lane, int size) {
    if (size == 1) move_one(p, r, j, lane);
    else if (r->in) move_in(p, r, j, lane, size);
    else move_out(p, r, j, lane, size);
}

// ---- the functions

enum { ROWS, APART, BUFFER, LANES, LENGTH, NPARAMS };

// Goes on in a new block if it is true, and returns the one to go to then.
static LLVMBasicBlockRef when(Body *p, LLVMValueRef condition) {
    LLVMBasicBlockRef then = body_new_block(p, "move"), next = body_new_block(p, "next");
    LLVMBuildCondBr(p->e->builder, condition, then, next);
    body_go_on(p, then);
    return next;
}

static void go_to(Body *p, LLVMBasicBlockRef next) {
    LLVMBuildBr(p->e->builder, next);
    body_go_on(p, next);
}

// The rows of a vector of lanes: whole blocks, the last of which overlaps the one before; of rows that have no whole one, a
// block for each power of 2 that their length is made of.
static void move_vector(Body *p, const Rows *r, LLVMValueRef n) {
    LLVMBuilderRef b = p->e->builder;
    int size = lanes_of_vector(p);
    LLVMValueRef done = LLVMBuildAnd(b, n, emit_int(p->e, -size), "");
    Counted c = body_begin_for(p, emit_int(p->e, 0), done, size, "j");
    rows_move(p, r, c.index, 0, size);
    body_end_for(p, &c);
    LLVMBasicBlockRef end = when(p, LLVMBuildICmp(b, LLVMIntSLT, done, n, ""));
    LLVMBasicBlockRef no_block = when(p, LLVMBuildICmp(b, LLVMIntSGE, n, emit_int(p->e, size), ""));
    rows_move(p, r, LLVMBuildNSWSub(b, n, emit_int(p->e, size), ""), 0, size);
    LLVMBuildBr(b, end);
    body_go_on(p, no_block);
    for (done = emit_int(p->e, 0), size /= 2; size > 0; size /= 2) {
        LLVMValueRef some = LLVMBuildAnd(b, n, emit_int(p->e, size), "");
        LLVMBasicBlockRef next = when(p, LLVMBuildICmp(b, LLVMIntNE, some, emit_int(p->e, 0), ""));
        rows_move(p, r, done, 0, size);
        go_to(p, next);
        done = LLVMBuildAdd(b, done, some, "");
    }
    go_to(p, end);
}

static void emit_function(Emitter *e, LLVMValueRef f, const Rows *of) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
    LLVMMetadataRef place = LLVMGetCurrentDebugLocation2(e->builder);
    debug_nowhere(e->debug); // it is of no place in the program
    Body in = {.e = e, .function = f};
    Rows r = {.kind = of->kind, .in = of->in, .apart = LLVMGetParam(f, APART), .lanes = LLVMGetParam(f, LANES)};
    body_go_on(&in, body_new_block(&in, "entry"));
    Counted c = body_begin_for(&in, emit_int(e, 0), r.lanes, lanes_of_vector(&in), "l");
    r.first = plus(&in, &r, LLVMGetParam(f, ROWS), LLVMBuildNSWMul(e->builder, c.index, r.apart, ""));
    r.buffer = plus(&in, &r, LLVMGetParam(f, BUFFER), c.index);
    move_vector(&in, &r, LLVMGetParam(f, LENGTH));
    body_end_for(&in, &c);
    LLVMBuildRetVoid(e->builder);
    LLVMPositionBuilderAtEnd(e->builder, here);
    if (e->debug) LLVMSetCurrentDebugLocation2(e->builder, place);
}

static LLVMValueRef function_of(Emitter *e, const Rows *r) {
    const char *name = arena_printf(e->arena, "fsm.rows.%s.%s", r->in ? "in" : "out", kind_name(r->kind));
    LLVMTypeRef params[] = {[ROWS] = e->type_ptr, [APART] = e->type_i64, [BUFFER] = e->type_ptr, [LANES] = e->type_i64,
                            [LENGTH] = e->type_i64};
    LLVMValueRef f = LLVMGetNamedFunction(e->module, name);
    if (f) return f;
    f = LLVMAddFunction(e->module, name, emit_function_type(e, LLVMVoidTypeInContext(e->context), NPARAMS, params, false));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    emit_attribute(e, f, LLVMAttributeFunctionIndex, "nounwind", 0);
    emit_attribute(e, f, LLVMAttributeFunctionIndex, "noinline", 0);
    emit_wide(e, f);
    for (int k = 0; k < 2; k++) {
        const LLVMAttributeIndex at = (LLVMAttributeIndex)(1 + (k ? BUFFER : ROWS));
        emit_attribute(e, f, at, "noalias", 0);
        emit_attribute(e, f, at, "nocapture", 0);
        emit_attribute(e, f, at, r->in == !k ? "readonly" : "writeonly", 0);
    }
    emit_function(e, f, r);
    return f;
}

void rows_call(Body *p, const Rows *r, LLVMValueRef n) {
    LLVMValueRef f = function_of(p->e, r);
    LLVMValueRef args[] = {[ROWS] = r->first, [APART] = r->apart, [BUFFER] = r->buffer, [LANES] = r->lanes, [LENGTH] = n};
    LLVMBuildCall2(p->e->builder, LLVMGlobalGetValueType(f), f, args, NPARAMS, "");
}
