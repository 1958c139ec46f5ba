// Loops with lanes as vector instructions. Of what varies between lanes (TempInfo.varies), Body.temp holds a vector; of
// an Int with a fixed step from lane to lane, its value in the first lane; of what all lanes share, the value. Where lanes
// disagree on a condition, both branches run, each with the mask of the lanes that take it, unless there are none. Buffers
// that are new in each iteration hold the elements of all lanes side by side: element i of lane l is at i * lanes + l. The loop
// itself is lane_loop.c's.
#include "cpu/lanes.h"

#include "lower/independent.h"
#include "lower/lower.h"

#include <string.h>

enum { FEW = 12 };

static const TempInfo *info(const Body *p, Temp t) { return &p->tree->temps.data[t]; }
static bool linear(const Body *p, Temp t) { return info(p, t)->varies && info(p, t)->step != STEP_ANY; }

// ---- vectors

LLVMTypeRef lanes_vector_type(const Body *p, LLVMTypeRef of) { return LLVMVectorType(of, (unsigned)p->lanes); }

LLVMValueRef lanes_index(const Body *p, int lane) { return LLVMConstInt(p->e->type_i32, (unsigned)lane, false); }

static LLVMValueRef constant_lanes(const Body *p, int64_t first, int64_t step) {
    LLVMValueRef v[64];
    for (int l = 0; l < p->lanes; l++) v[l] = emit_int(p->e, first + l * step);
    return LLVMConstVector(v, (unsigned)p->lanes);
}

LLVMValueRef lanes_splat(Body *p, LLVMValueRef x) {
    LLVMTypeRef type = lanes_vector_type(p, LLVMTypeOf(x));
    LLVMValueRef one = LLVMBuildInsertElement(p->e->builder, LLVMGetPoison(type), x, lanes_index(p, 0), "");
    LLVMValueRef mask = LLVMConstNull(lanes_vector_type(p, p->e->type_i32));
    return LLVMBuildShuffleVector(p->e->builder, one, LLVMGetPoison(type), mask, "");
}

LLVMValueRef lanes_extract(Body *p, LLVMValueRef v, int lane) {
    return LLVMBuildExtractElement(p->e->builder, v, lanes_index(p, lane), "");
}

static LLVMValueRef insert(Body *p, LLVMValueRef v, LLVMValueRef x, int lane) {
    return LLVMBuildInsertElement(p->e->builder, v, x, lanes_index(p, lane), "");
}

// The value of a temp in all lanes.
LLVMValueRef lanes_value(Body *p, Temp t) {
    LLVMValueRef v = body_value(p, t);
    if (info(p, t)->varies && info(p, t)->step == STEP_ANY) return v;
    LLVMValueRef all = lanes_splat(p, v);
    return linear(p, t) ? LLVMBuildNSWAdd(p->e->builder, all, constant_lanes(p, 0, info(p, t)->step), "") : all;
}

LLVMValueRef lanes_reduce(Body *p, const char *name, LLVMValueRef v) {
    LLVMTypeRef type = LLVMTypeOf(v);
    return emit_intrinsic(p->e, name, 1, &type, 1, &v);
}

static LLVMValueRef any(Body *p, LLVMValueRef mask) { return lanes_reduce(p, "llvm.vector.reduce.or", mask); }

static LLVMValueRef both(Body *p, LLVMValueRef x, LLVMValueRef mask) { return mask ? LLVMBuildAnd(p->e->builder, x, mask, "") : x; }

// Lanes first … first + n - 1 of a vector.
LLVMValueRef lanes_part(Body *p, LLVMValueRef v, int first, int n) {
    LLVMValueRef index[64];
    for (int l = 0; l < n; l++) index[l] = lanes_index(p, first + l);
    return LLVMBuildShuffleVector(p->e->builder, v, v, LLVMConstVector(index, (unsigned)n), "");
}

// Two vectors one after the other.
LLVMValueRef lanes_joined(Body *p, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef index[64];
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(a));
    for (unsigned l = 0; l < 2 * n; l++) index[l] = lanes_index(p, (int)l);
    return LLVMBuildShuffleVector(p->e->builder, a, b, LLVMConstVector(index, 2 * n), "");
}

// Of one vector, if a block of lanes takes several of them; not more than what the machine's functions take.
int lanes_of_vector(const Body *p) { return p->e->width < p->e->native ? p->e->width : p->e->native; }

// ---- elements of arrays

bool lanes_own(const Buf *b) { return b->lanes != 0; }

// How the elements lie that the lanes access.
typedef enum Layout { LIE_SHARED, LIE_TOGETHER, LIE_BACKWARDS, LIE_APART, LIE_ANYWHERE } Layout;

static Layout layout(const Body *p, const Buf *b, const Temp *index) {
    bool same = true, steps = true, last = true, back = true;
    for (int k = 0; k < b->rank; k++) {
        const TempInfo *i = info(p, index[k]);
        if (!i->varies) continue;
        same = false;
        steps &= i->step != STEP_ANY;
        last &= k == b->rank - 1 && i->step == 1;
        back &= k == b->rank - 1 && i->step == -1;
    }
    if (lanes_own(b)) return same ? LIE_TOGETHER : LIE_ANYWHERE;
    return same ? LIE_SHARED : !steps ? LIE_ANYWHERE : last ? LIE_TOGETHER : back ? LIE_BACKWARDS : LIE_APART;
}

// The number of the element in the first lane (or in all).
LLVMValueRef lanes_first_number(Body *p, const Buf *b, const Temp *index) {
    LLVMBuilderRef build = p->e->builder;
    LLVMValueRef at = NULL;
    for (int k = 0; k < b->rank; k++) {
        LLVMValueRef i = body_value(p, index[k]);
        at = at ? LLVMBuildNSWAdd(build, LLVMBuildNSWMul(build, at, body_value(p, b->extent[k]), ""), i, "") : i;
    }
    return at ? at : emit_int(p->e, 0);
}

// By how many elements neighbouring lanes are apart, if they are so by fixed steps.
LLVMValueRef lanes_stride(Body *p, const Buf *b, const Temp *index) {
    LLVMBuilderRef build = p->e->builder;
    LLVMValueRef at = NULL; // 0, a constant
    for (int k = 0; k < b->rank; k++) {
        int64_t n = linear(p, index[k]) ? info(p, index[k])->step : 0;
        LLVMValueRef step = emit_int(p->e, n);
        if (at) at = LLVMBuildNSWAdd(build, LLVMBuildNSWMul(build, at, body_value(p, b->extent[k]), ""), step, "");
        else if (n) at = step;
    }
    return at ? at : emit_int(p->e, 0);
}

// The numbers of the elements in all lanes.
LLVMValueRef lanes_numbers(Body *p, const Buf *b, const Temp *index) {
    LLVMBuilderRef build = p->e->builder;
    LLVMValueRef at = NULL;
    for (int k = 0; k < b->rank; k++) {
        LLVMValueRef i = lanes_value(p, index[k]);
        if (at) i = LLVMBuildNSWAdd(build, LLVMBuildNSWMul(build, at, lanes_splat(p, body_value(p, b->extent[k])), ""), i, "");
        at = i;
    }
    if (!lanes_own(b)) return at;
    at = LLVMBuildNSWMul(build, at, lanes_splat(p, emit_int(p->e, p->lanes)), "");
    return LLVMBuildNSWAdd(build, at, constant_lanes(p, 0, 1), "");
}

LLVMValueRef lanes_address(Body *p, const Buf *b, LLVMValueRef number) {
    return LLVMBuildInBoundsGEP2(p->e->builder, emit_memory_type(p->e, b->kind), body_buffer(p, b), &number, 1, "");
}

// The address of the first lane's element where elements lie together.
static LLVMValueRef together(Body *p, const Buf *b, const Temp *index) {
    LLVMValueRef n = lanes_first_number(p, b, index);
    if (lanes_own(b)) n = LLVMBuildNSWMul(p->e->builder, n, emit_int(p->e, p->lanes), "");
    return lanes_address(p, b, n);
}

// Of a vector, if buffers begin at ALIGNMENT.
unsigned lanes_aligned(Kind kind, int lanes) {
    unsigned bytes = (unsigned)kind_size(kind) * (unsigned)lanes;
    return bytes < ALIGNMENT ? bytes : ALIGNMENT;
}

static unsigned vector_alignment(const Buf *b, int lanes) {
    return lanes_own(b) ? lanes_aligned(b->kind, lanes) : body_alignment(b->kind);
}

static LLVMValueRef from_memory(Body *p, Kind kind, LLVMValueRef v) {
    return kind == KIND_BOOL ? LLVMBuildICmp(p->e->builder, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "") : v;
}

static LLVMValueRef to_memory(Body *p, Kind kind, LLVMValueRef v) {
    return kind == KIND_BOOL ? LLVMBuildZExt(p->e->builder, v, lanes_vector_type(p, p->e->type_i8), "") : v;
}

static LLVMValueRef alignment_arg(Body *p, unsigned bytes) { return LLVMConstInt(p->e->type_i32, bytes, false); }

static LLVMValueRef load_together(Body *p, const Buf *b, LLVMValueRef at) {
    LLVMTypeRef type = lanes_vector_type(p, emit_memory_type(p->e, b->kind));
    unsigned align = vector_alignment(b, p->lanes);
    LLVMValueRef v;
    if (p->mask && !lanes_own(b)) {
        LLVMTypeRef types[] = {type, p->e->type_ptr};
        LLVMValueRef args[] = {at, alignment_arg(p, align), p->mask, LLVMConstNull(type)};
        v = emit_intrinsic(p->e, "llvm.masked.load", 2, types, 4, args);
    } else { // what is the lanes' own may be read in all of them
        v = LLVMBuildLoad2(p->e->builder, type, at, "");
        LLVMSetAlignment(v, align);
    }
    return from_memory(p, b->kind, v);
}

// Do all lanes that are ever at work here set something? What the others have of their own nobody asks for.
static bool all_set(const Body *p) { return !p->mask || p->mask == p->in_range; }

void lanes_past_caches(Body *p, LLVMValueRef store, int bytes) {
    LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(p->e->type_i32, 1, false)),
                    node = LLVMMDNodeInContext2(p->e->context, &one, 1);
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(p->e->context, "nontemporal", 11), LLVMMetadataAsValue(p->e->context, node));
    LLVMSetAlignment(store, (unsigned)bytes);
}

enum { MASKED_STORES = 8 }; // how many lanes have the processors whose stores take masks of AVX-512

// The first p->left lanes of a vector, or all. AMD's processors take a dozen cycles and more for a store with a mask that is not
// one of AVX-512, and a load does not get from it what is still on the way: halves of the vector are stored by themselves.
static void store_left(Body *p, unsigned align, LLVMValueRef at, LLVMValueRef v) {
    LLVMBuilderRef b = p->e->builder;
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(v));
    LLVMBasicBlockRef all = body_new_block(p, "all"), some = body_new_block(p, "some"), done = body_new_block(p, "done");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSGE, p->left, emit_int(p->e, p->lanes), ""), all, some);
    body_go_on(p, all);
    LLVMSetAlignment(LLVMBuildStore(b, v, at), align);
    LLVMBuildBr(b, done);
    body_go_on(p, some);
    for (int h = p->lanes / 2; h > 0; h /= 2) {
        LLVMValueRef low = lanes_part(p, v, 0, h), high = lanes_part(p, v, h, h), step = emit_int(p->e, h), from_at = at;
        LLVMBasicBlockRef from = LLVMGetInsertBlock(b), store = body_new_block(p, "store"),
                          rest = h > 1 ? body_new_block(p, "rest") : done;
        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, p->left, step, ""), emit_int(p->e, 0), ""), store, rest);
        body_go_on(p, store);
        LLVMSetAlignment(LLVMBuildStore(b, low, at), align);
        LLVMValueRef next = LLVMBuildInBoundsGEP2(b, element, at, &step, 1, "");
        LLVMBuildBr(b, rest);
        body_go_on(p, rest);
        if (h == 1) break;
        LLVMBasicBlockRef froms[] = {from, store};
        v = LLVMBuildPhi(b, LLVMTypeOf(low), "");
        LLVMAddIncoming(v, (LLVMValueRef[]){low, high}, froms, 2);
        at = LLVMBuildPhi(b, p->e->type_ptr, "");
        LLVMAddIncoming(at, (LLVMValueRef[]){from_at, next}, froms, 2);
    }
}

// What is the lanes' own may be written in all of them, too: with what was there. So it can be in registers, and need not wait for
// a masked store.
static void store_together(Body *p, const Buf *b, LLVMValueRef at, LLVMValueRef v) {
    unsigned align = vector_alignment(b, p->lanes);
    if (lanes_own(b) && !all_set(p)) v = LLVMBuildSelect(p->e->builder, p->mask, v, load_together(p, b, at), "");
    v = to_memory(p, b->kind, v);
    if (!p->mask || lanes_own(b)) {
        LLVMValueRef store = LLVMBuildStore(p->e->builder, v, at);
        LLVMSetAlignment(store, align);
        if (p->streams) lanes_past_caches(p, store, p->lanes * (int)sizeof(double)); // whole vectors
        return;
    }
    if (p->mask == p->in_range && p->e->native < MASKED_STORES) {
        store_left(p, body_alignment(b->kind), at, v);
        return;
    }
    LLVMTypeRef types[] = {LLVMTypeOf(v), p->e->type_ptr};
    LLVMValueRef args[] = {v, at, alignment_arg(p, align), p->mask};
    emit_intrinsic(p->e, "llvm.masked.store", 2, types, 4, args);
}

// A vector with its lanes in the other order.
static LLVMValueRef turned_round(Body *p, LLVMValueRef v) {
    LLVMValueRef index[64];
    for (int l = 0; l < p->lanes; l++) index[l] = lanes_index(p, p->lanes - 1 - l);
    return LLVMBuildShuffleVector(p->e->builder, v, v, LLVMConstVector(index, (unsigned)p->lanes), "");
}

// Where the elements of lanes lie together, but backwards: the address of that in the last lane.
static LLVMValueRef backwards(Body *p, const Buf *b, const Temp *index) {
    LLVMValueRef n = lanes_first_number(p, b, index);
    return lanes_address(p, b, LLVMBuildNSWSub(p->e->builder, n, emit_int(p->e, p->lanes - 1), ""));
}

static LLVMValueRef load_backwards(Body *p, const Buf *b, const Temp *index) {
    LLVMValueRef mask = p->mask;
    if (mask) p->mask = turned_round(p, mask);
    LLVMValueRef v = load_together(p, b, backwards(p, b, index));
    p->mask = mask;
    return turned_round(p, v);
}

static void store_backwards(Body *p, const Buf *b, const Temp *index, LLVMValueRef v) {
    LLVMValueRef mask = p->mask;
    if (mask) p->mask = turned_round(p, mask);
    store_together(p, b, backwards(p, b, index), turned_round(p, v));
    p->mask = mask;
}

// The address of lane l's element, from the numbers of all or from the first and the stride.
typedef struct Places {
    LLVMValueRef first, stride, all;
} Places;

static Places places(Body *p, const Buf *b, const Temp *index) {
    Layout l = layout(p, b, index);
    if (l == LIE_APART || l == LIE_BACKWARDS) return (Places){lanes_first_number(p, b, index), lanes_stride(p, b, index), NULL};
    return (Places){NULL, NULL, lanes_numbers(p, b, index)};
}

static LLVMValueRef place_of(Body *p, const Buf *b, const Places *at, int lane) {
    LLVMBuilderRef build = p->e->builder;
    if (at->all) return lanes_address(p, b, lanes_extract(p, at->all, lane));
    LLVMValueRef off = LLVMBuildNSWMul(build, at->stride, emit_int(p->e, lane), "");
    return lanes_address(p, b, LLVMBuildNSWAdd(build, at->first, off, ""));
}

static LLVMValueRef pointers(Body *p, const Buf *b, const Places *at) {
    LLVMBuilderRef build = p->e->builder;
    LLVMValueRef n = at->all;
    if (!n) {
        n = LLVMBuildNSWMul(build, lanes_splat(p, at->stride), constant_lanes(p, 0, 1), "");
        n = LLVMBuildNSWAdd(build, lanes_splat(p, at->first), n, "");
    }
    return LLVMBuildInBoundsGEP2(build, emit_memory_type(p->e, b->kind), body_buffer(p, b), &n, 1, "");
}

// A place of which lanes that are not at work read zero, or where they may store.
static LLVMValueRef idle_place(Body *p, LLVMValueRef *slot) {
    LLVMBuilderRef b = p->e->builder;
    if (!*slot) {
        *slot = body_slot(p, p->e->type_i64, "nowhere");
        LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
        LLVMPositionBuilderAtEnd(b, p->slots);
        LLVMBuildStore(b, emit_int(p->e, 0), *slot);
        LLVMPositionBuilderAtEnd(b, here);
    }
    return *slot;
}

// The lanes' addresses where they have a mask: one by one this is faster than gathers of some processors, and scatters of many.
static LLVMValueRef at_work(Body *p, const Buf *b, const Places *at, LLVMValueRef *slot) {
    if (!p->mask) return NULL;
    return LLVMBuildSelect(p->e->builder, p->mask, pointers(p, b, at), lanes_splat(p, idle_place(p, slot)), "");
}

static LLVMValueRef gather(Body *p, const Buf *b, const Temp *index) {
    LLVMValueRef near;
    if (lanes_load_apart(p, b, index, &near)) return from_memory(p, b->kind, near);
    LLVMTypeRef type = emit_memory_type(p->e, b->kind), vector = lanes_vector_type(p, type);
    Places at = places(p, b, index);
    if (p->mask && p->e->gathers && kind_size(b->kind) >= 4) {
        LLVMValueRef from = pointers(p, b, &at);
        LLVMTypeRef types[] = {vector, LLVMTypeOf(from)};
        LLVMValueRef args[] = {from, alignment_arg(p, body_alignment(b->kind)), p->mask, LLVMConstNull(vector)};
        return from_memory(p, b->kind, emit_intrinsic(p->e, "llvm.masked.gather", 2, types, 4, args));
    }
    LLVMValueRef v = LLVMGetPoison(vector), all = at_work(p, b, &at, &p->zero);
    for (int l = 0; l < p->lanes; l++) {
        LLVMValueRef x = LLVMBuildLoad2(p->e->builder, type, all ? lanes_extract(p, all, l) : place_of(p, b, &at, l), "");
        LLVMSetAlignment(x, body_alignment(b->kind));
        v = insert(p, v, x, l);
    }
    return from_memory(p, b->kind, v);
}

static void scatter(Body *p, const Buf *b, const Temp *index, LLVMValueRef v) {
    Places at = places(p, b, index);
    LLVMValueRef all = at_work(p, b, &at, &p->dump);
    for (int l = 0; l < p->lanes; l++)
        body_store(p, b->kind, lanes_extract(p, v, l), all ? lanes_extract(p, all, l) : place_of(p, b, &at, l));
}

static LLVMValueRef lanes_load(Body *p, const Stmt *s) {
    Layout l = layout(p, s->buf, s->args);
    if (l == LIE_BACKWARDS) return load_backwards(p, s->buf, s->args);
    return l == LIE_TOGETHER ? load_together(p, s->buf, together(p, s->buf, s->args)) : gather(p, s->buf, s->args);
}

static void lanes_store(Body *p, const Stmt *s) {
    LLVMValueRef v = lanes_value(p, s->args[0]);
    Layout l = layout(p, s->buf, s->args + 1);
    if (l == LIE_TOGETHER) store_together(p, s->buf, together(p, s->buf, s->args + 1), v);
    else if (l == LIE_BACKWARDS) store_backwards(p, s->buf, s->args + 1, v);
    else scatter(p, s->buf, s->args + 1, v);
}

// Lane by lane, since some may add to the same element.
static void add_one_by_one(Body *p, const Buf *b, const Places *at, LLVMValueRef v) {
    LLVMBuilderRef build = p->e->builder;
    for (int l = 0; l < p->lanes; l++) {
        LLVMBasicBlockRef rest = NULL;
        if (p->mask) {
            LLVMBasicBlockRef add = body_new_block(p, "add");
            rest = body_new_block(p, "next");
            LLVMBuildCondBr(build, lanes_extract(p, p->mask, l), add, rest);
            body_go_on(p, add);
        }
        LLVMValueRef place = place_of(p, b, at, l);
        LLVMValueRef sum = emit_accumulate(p->e, b->kind, body_load(p, b->kind, place), lanes_extract(p, v, l), false);
        body_store(p, b->kind, sum, place);
        if (rest) LLVMBuildBr(build, rest), body_go_on(p, rest);
    }
}

static void lanes_addto(Body *p, const Stmt *s) {
    const Buf *b = s->buf;
    const Temp *index = s->args + 1;
    LLVMValueRef v = lanes_value(p, s->args[0]);
    switch (layout(p, b, index)) {
    case LIE_TOGETHER: {
        LLVMValueRef at = together(p, b, index);
        store_together(p, b, at, lanes_plus(p, b->kind, load_together(p, b, at), v));
        return;
    }
    case LIE_SHARED: fatal_bug("%s: an addition that lanes share is on its own", p->func->name); // sums.c
    case LIE_BACKWARDS:
    case LIE_APART:
    case LIE_ANYWHERE: {
        Places at = places(p, b, index);
        add_one_by_one(p, b, &at, v);
        return;
    }
    }
}

// Every element of a buffer of the lanes' own gets what `next` gives for it.
static void fill(Body *p, const Buf *b, LLVMValueRef v, const Buf *src) {
    Emitter *e = p->e;
    Counted c = body_begin_for(p, emit_int(e, 0), body_count(p, b), 1, "fill");
    LLVMValueRef n = LLVMBuildNSWMul(e->builder, c.index, emit_int(e, p->lanes), "");
    if (src && lanes_own(src)) v = load_together(p, src, lanes_address(p, src, n));
    else if (src) v = lanes_splat(p, body_load(p, src->kind, lanes_address(p, src, c.index)));
    store_together(p, b, lanes_address(p, b, n), v);
    body_end_for(p, &c);
}

// ---- operations

// How many lanes libmvec takes at once: Floats are half as long.
static int most_in_call(const Body *p, Kind kind) { return lanes_of_vector(p) * (kind == KIND_FLOAT ? 2 : 1); }

// The function of libmvec that is the operation for vectors of so many, or NULL. It may be off by 4 units in the last place.
static const char *vector_function(Body *p, Op op, Kind kind, int lanes) {
#if defined(__x86_64__) && defined(__GLIBC__)
    const char *name = op_info[op].lanes && p->e->opt->fp != CPU_FP_PRECISE && kind_is_float(kind) ? emit_libm_name(op) : NULL;
    int bits = lanes * 8 * kind_size(kind);
    if (!name || bits < 128) return NULL;
    return arena_printf(p->e->arena, "_ZGV%cN%d%s_%s%s",
                        bits == 512   ? 'e'
                        : bits == 256 ? 'd'
                                      : 'b',
                        lanes, op_info[op].arity > 1 ? "vv" : "v", name, kind == KIND_FLOAT ? "f" : "");
#else
    (void)p, (void)op, (void)kind, (void)lanes;
    return NULL;
#endif
}

LLVMValueRef lanes_call(Body *p, Op op, Kind kind, int n, LLVMValueRef *args) {
    int lanes = (int)LLVMGetVectorSize(LLVMTypeOf(args[0])), half = lanes / 2;
    if (lanes <= most_in_call(p, kind))
        return emit_pure_call(p->e, vector_function(p, op, kind, lanes), LLVMTypeOf(args[0]), n, args);
    LLVMValueRef low[2], high[2];
    for (int i = 0; i < n; i++) low[i] = lanes_part(p, args[i], 0, half), high[i] = lanes_part(p, args[i], half, half);
    LLVMValueRef first = lanes_call(p, op, kind, n, low);
    return lanes_joined(p, first, lanes_call(p, op, kind, n, high));
}

// A function that knows no vectors, of each lane.
static LLVMValueRef lane_by_lane(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    Kind kind = body_kind(p, s->dst), of = kind == KIND_BOOL ? body_kind(p, s->args[0]) : kind;
    LLVMValueRef *args = ARENA_ARRAY(e->arena, LLVMValueRef, s->nargs + 1),
                 *lane = ARENA_ARRAY(e->arena, LLVMValueRef, s->nargs + 2);
    for (int k = 0; k < s->nargs; k++) args[k] = lanes_value(p, s->args[k]);
    LLVMValueRef v = LLVMGetPoison(lanes_vector_type(p, emit_type(e, kind)));
    for (int l = 0; l < p->lanes; l++) {
        for (int k = 0; k < s->nargs; k++) lane[k] = lanes_extract(p, args[k], l);
        LLVMValueRef x = s->kind == ST_EXTERN ? emit_extern(e, s->u.name, emit_memory_type(e, kind), s->nin, lane, 0)
                                              : emit_op(e, s->op, of, lane[0], s->nargs > 1 ? lane[1] : NULL);
        v = insert(p, v, x, l);
    }
    return v;
}

// Is the sine needed of which s is the cosine, or the other way round?
static bool has_pair(const Block *block, const Stmt *s) {
    const Op other = s->op == OP_sin ? OP_cos : OP_sin;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *t = block->stmts.data[i];
        if (t->kind == ST_OP && t->op == other && t->args[0] == s->args[0]) return true;
        if (has_pair(t->body, s) || has_pair(t->other, s)) return true;
    }
    return false;
}

static LLVMValueRef lanes_operation(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    Kind kind = body_kind(p, s->dst), of = kind == KIND_BOOL ? body_kind(p, s->args[0]) : kind;
    LLVMValueRef root = lanes_root(p, s);
    if (root) return root;
    LLVMValueRef args[2] = {lanes_value(p, s->args[0]), s->nargs > 1 ? lanes_value(p, s->args[1]) : NULL};
    int most = most_in_call(p, kind);
    if (vector_function(p, s->op, kind, p->lanes < most ? p->lanes : most)) {
        bool turn = s->op == OP_sin || s->op == OP_cos;
        LLVMValueRef here = turn && !has_pair(p->loop->body, s) ? NULL : lanes_function(p, s->op, args[0]);
        return here ? here : lanes_call(p, s->op, kind, s->nargs, args);
    }
    bool literal_power = s->op == OP_powi && p->def[s->args[1]] && p->def[s->args[1]]->kind == ST_LIT;
    if (!literal_power && !emit_op_takes_vectors(s->op)) return lane_by_lane(p, s);
    if (literal_power && !emit_powi_inline(of, p->def[s->args[1]]->u.num)) return lane_by_lane(p, s);
    if (s->nargs > 1 && !info(p, s->args[1])->varies && LLVMIsConstant(body_value(p, s->args[1])) &&
        (literal_power || s->op == OP_idiv || s->op == OP_irem))
        args[1] = body_value(p, s->args[1]);
    e->lanes = p->lanes;
    LLVMValueRef v = p->accumulation[s->dst] ? emit_accumulate(e, kind, args[0], args[1], s->op == OP_sub)
                                             : emit_op(e, s->op, of, args[0], args[1]);
    e->lanes = 0;
    return v;
}

static LLVMValueRef lanes_conversion(Body *p, const Stmt *s) {
    LLVMValueRef x = lanes_value(p, s->args[0]);
    p->e->lanes = p->lanes;
    LLVMValueRef v = emit_conv(p->e, body_kind(p, s->dst), body_kind(p, s->args[0]), x);
    p->e->lanes = 0;
    return v;
}

static LLVMValueRef lanes_select(Body *p, const Stmt *s) {
    LLVMValueRef cond = lanes_value(p, s->args[0]); // of one for all lanes, LLVM makes branches
    return LLVMBuildSelect(p->e->builder, cond, lanes_value(p, s->args[1]), lanes_value(p, s->args[2]), "");
}

// v, of which each lane is that of the one before; x comes in.
static LLVMValueRef shifted(Body *p, LLVMValueRef v, LLVMValueRef x) {
    LLVMValueRef index[64];
    for (int l = 0; l < p->lanes; l++) index[l] = lanes_index(p, l ? l - 1 : p->lanes);
    return LLVMBuildShuffleVector(p->e->builder, v, x, LLVMConstVector(index, (unsigned)p->lanes), "");
}

// Where groups of `of` lanes have their sums up to each lane: what the second of two groups lacks; the first gets `none`.
static LLVMValueRef of_first_group(Body *p, LLVMValueRef v, int of, LLVMValueRef none) {
    LLVMValueRef index[64];
    for (int l = 0; l < p->lanes; l++) index[l] = lanes_index(p, l & of ? (l & -of) - 1 : p->lanes);
    return LLVMBuildShuffleVector(p->e->builder, v, none, LLVMConstVector(index, (unsigned)p->lanes), "");
}

// Is it the end of a step of a prefix sum, or of a recurrence?
bool lanes_sets_scan(const Body *p, const Stmt *set) {
    const Stmt *get = iter_scan_get(p->loop->body, set->dst);
    return get && info(p, get->dst)->scanned;
}

static const Stmt *set_of(const Block *block, Temp cell) {
    for (int i = 0; i < block->stmts.len; i++)
        if (block->stmts.data[i]->kind == ST_SET && block->stmts.data[i]->dst == cell) return block->stmts.data[i];
    return NULL;
}

// What a value is of the cell: factor * s + term, where s is what the cell was; NULL: 1, and 0.
typedef struct Step {
    bool follows; // does it depend on s?
    LLVMValueRef factor, term;
} Step;

static LLVMValueRef ones(Body *p, Kind kind) { return lanes_splat(p, LLVMConstReal(emit_type(p->e, kind), 1)); }
static LLVMValueRef zeros(Body *p, Kind kind) { return LLVMConstNull(lanes_vector_type(p, emit_type(p->e, kind))); }

// Of what may be NULL, which is 0.
static LLVMValueRef sum(Body *p, Op op, Kind kind, LLVMValueRef x, LLVMValueRef y) {
    if (!y) return x;
    return x || op == OP_sub ? lanes_combined(p, op, kind, x ? x : zeros(p, kind), y) : y;
}

// What depends on the cell comes after the place where it is read (lower/scan.c).
static bool comes_after(const Body *p, Temp t, const Stmt *get) {
    const Block *body = p->loop->body;
    int at = 0;
    while (body->stmts.data[at] != get) at++;
    while (at < body->stmts.len && body->stmts.data[at] != p->def[t]) at++;
    return at < body->stmts.len;
}

static Step step_of(Body *p, Temp t, const Stmt *get) {
    const Stmt *s = p->def[t];
    Kind kind = body_kind(p, t);
    if (t == get->dst) return (Step){true, NULL, NULL};
    if (!comes_after(p, t, get)) return (Step){false, NULL, lanes_value(p, t)};
    Step x = step_of(p, s->args[0], get), y = s->nargs > 1 ? step_of(p, s->args[1], get) : (Step){0};
    bool scales = s->op == OP_neg || s->op == OP_mul || s->op == OP_div || y.follows; // of others the factor may stay 1
    LLVMValueRef f = x.follows ? x.factor : NULL, g = y.follows ? y.factor : NULL;
    if (scales && x.follows && !f) f = ones(p, kind);
    if (scales && y.follows && !g) g = ones(p, kind);
    switch (s->op) {
    case OP_add:
    case OP_sub:
        if (!x.follows && s->op == OP_add) return (Step){true, y.factor, sum(p, OP_add, kind, x.term, y.term)};
        return (Step){true, scales ? sum(p, s->op, kind, f, g) : f, sum(p, s->op, kind, x.term, y.term)};
    case OP_neg: return (Step){true, sum(p, OP_sub, kind, NULL, f), sum(p, OP_sub, kind, NULL, x.term)};
    default: // a product or a quotient
        return (Step){true, x.follows ? lanes_combined(p, s->op, kind, f, y.term) : lanes_combined(p, s->op, kind, x.term, g),
                      x.term && y.term ? lanes_combined(p, s->op, kind, x.term, y.term) : NULL};
    }
}

// x * y + z of vectors, where z may be NULL, in this order: LLVM would take out common factors, and vectors would wait for each
// other.
static LLVMValueRef step_in_order(Body *p, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z) {
    LLVMValueRef v = LLVMBuildFMul(p->e->builder, x, y, "");
    LLVMSetFastMathFlags(v, LLVMFastMathAllowContract);
    if (!z) return v;
    v = LLVMBuildFAdd(p->e->builder, v, z, "");
    LLVMSetFastMathFlags(v, LLVMFastMathAllowContract);
    return v;
}

static LLVMValueRef splat_lane(Body *p, LLVMValueRef v, int lane) { return lanes_splat(p, lanes_extract(p, v, lane)); }

// A cell that holds a prefix sum: what it is in each lane before the term is added, and p->temp after that. In all lanes the cell
// has the same, the sum before the vector.
static LLVMValueRef sum_in_lanes(Body *p, Temp next, LLVMValueRef v, LLVMValueRef slot) {
    Kind kind = body_kind(p, next);
    LLVMValueRef zero = zeros(p, kind);
    for (int by = 1; by < p->lanes; by *= 2) v = lanes_plus(p, kind, v, of_first_group(p, v, by, zero));
    LLVMValueRef before = LLVMBuildLoad2(p->e->builder, LLVMTypeOf(v), slot, "");
    LLVMBuildStore(p->e->builder, lanes_plus(p, kind, before, splat_lane(p, v, p->lanes - 1)), slot);
    p->temp[next] = lanes_plus(p, kind, before, v);
    return lanes_plus(p, kind, before, shifted(p, v, zero));
}

// v, of which each lane in either half is that of the one before; what `first` has there comes in.
static LLVMValueRef shifted_halves(Body *p, LLVMValueRef v, LLVMValueRef first) {
    LLVMValueRef index[64];
    for (int l = 0; l < p->lanes; l++) index[l] = lanes_index(p, l % (p->lanes / 2) ? l - 1 : p->lanes + l);
    return LLVMBuildShuffleVector(p->e->builder, v, first, LLVMConstVector(index, (unsigned)p->lanes), "");
}

// Lanes with this bit of b, others of a.
static LLVMValueRef blended(Body *p, LLVMValueRef a, LLVMValueRef b, int bit) {
    LLVMValueRef index[64];
    for (int l = 0; l < p->lanes; l++) index[l] = lanes_index(p, l & bit ? p->lanes + l : l);
    return LLVMBuildShuffleVector(p->e->builder, a, b, LLVMConstVector(index, (unsigned)p->lanes), "");
}

// The same of a recurrence with factor f and term v, which may be NULL. Steps one after the other are one with the product of the
// factors: first all up to each lane in either half of the vector; the second half begins with what the cell is after the first.
static LLVMValueRef recurrence_in_lanes(Body *p, Temp next, LLVMValueRef f, LLVMValueRef v, LLVMValueRef slot) {
    LLVMValueRef zero = zeros(p, body_kind(p, next)), plus = NULL;
    int half = p->lanes / 2;
    for (int by = 1; by < half; by *= 2) {
        if (v) v = step_in_order(p, f, of_first_group(p, v, by, zero), v);
        f = blended(p, f, step_in_order(p, f, of_first_group(p, f, by, f), NULL), by);
    }
    LLVMValueRef f1 = splat_lane(p, f, half - 1), f2 = splat_lane(p, f, p->lanes - 1), v1 = v ? splat_lane(p, v, half - 1) : NULL;
    if (v) plus = step_in_order(p, f2, v1, splat_lane(p, v, p->lanes - 1));
    LLVMValueRef before = LLVMBuildLoad2(p->e->builder, LLVMTypeOf(f), slot, "");
    LLVMBuildStore(p->e->builder, step_in_order(p, step_in_order(p, f1, f2, NULL), before, plus), slot);
    LLVMValueRef first = blended(p, before, step_in_order(p, f1, before, v1), half);
    p->temp[next] = step_in_order(p, f, first, v);
    return shifted_halves(p, p->temp[next], first);
}

static LLVMValueRef lanes_scan(Body *p, const Stmt *get) {
    Temp next = set_of(p->loop->body, get->args[0])->args[0];
    Step step = step_of(p, next, get);
    LLVMValueRef f = step.factor, v = step.term, slot = body_value(p, get->args[0]);
    if (p->mask && v) v = LLVMBuildSelect(p->e->builder, p->mask, v, zeros(p, body_kind(p, next)), "");
    if (p->mask && f) f = LLVMBuildSelect(p->e->builder, p->mask, f, ones(p, body_kind(p, next)), "");
    p->scan[next] = true;
    return f ? recurrence_in_lanes(p, next, f, v, slot) : sum_in_lanes(p, next, v, slot);
}

static LLVMValueRef lanes_definition(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    if (linear(p, s->dst)) return body_definition(p, s); // in the first lane
    LLVMTypeRef type = lanes_vector_type(p, emit_type(e, body_kind(p, s->dst)));
    switch (s->kind) {
    case ST_OP: return lanes_operation(p, s);
    case ST_EXTERN: return lane_by_lane(p, s);
    case ST_CONV: return lanes_conversion(p, s);
    case ST_SELECT: return lanes_select(p, s);
    case ST_GET:
        if (info(p, s->dst)->scanned) return lanes_scan(p, s);
        return LLVMBuildLoad2(e->builder, type, body_value(p, s->args[0]), "");
    case ST_LOAD: return lanes_load(p, s);
    case ST_CELL: {
        LLVMValueRef slot = body_slot(p, type, info(p, s->dst)->name);
        LLVMBuildStore(e->builder, lanes_value(p, s->args[0]), slot);
        return slot;
    }
    default: fatal_bug("%s: statement %d has no lanes", p->func->name, (int)s->kind);
    }
}

static void lanes_set(Body *p, const Stmt *s) {
    LLVMValueRef slot = body_value(p, s->dst), v = lanes_value(p, s->args[0]);
    if (!all_set(p) || (p->mask && p->sums_cell[s->dst])) {
        LLVMValueRef old = LLVMBuildLoad2(p->e->builder, LLVMTypeOf(v), slot, "");
        v = LLVMBuildSelect(p->e->builder, p->mask, v, old, "");
    }
    LLVMBuildStore(p->e->builder, v, slot);
}

// ---- control

static void lanes_check(Body *p, const Stmt *s) {
    Emitter *e = p->e;
    LLVMBuilderRef b = e->builder;
    LLVMValueRef bad = both(p, LLVMBuildNot(b, lanes_value(p, s->args[0]), ""), p->mask);
    LLVMBasicBlockRef rest = body_split_failure(p, LLVMBuildNot(b, any(p, bad), ""));
    LLVMTypeRef bits = LLVMIntTypeInContext(e->context, (unsigned)p->lanes);
    LLVMValueRef args[] = {LLVMBuildBitCast(b, bad, bits, ""), LLVMConstInt(e->type_i1, 1, false)};
    LLVMValueRef lane = LLVMBuildZExt(b, emit_intrinsic(e, "llvm.cttz", 1, &bits, 2, args), e->type_i32, "");
    int n = s->nargs - 1;
    LLVMValueRef *values = ARENA_ARRAY(e->arena, LLVMValueRef, n + 1);
    Kind *kinds = ARENA_ARRAY(e->arena, Kind, n + 1);
    for (int i = 0; i < n; i++) {
        Temp t = s->args[1 + i];
        kinds[i] = body_kind(p, t);
        values[i] = info(p, t)->varies ? LLVMBuildExtractElement(b, lanes_value(p, t), lane, "") : body_value(p, t);
    }
    body_fail(p, s->u.check, n, kinds, values);
    body_go_on(p, rest);
}

// Is it as good to run a branch as to ask whether any lane takes it? With AVX2, one element loaded lane by lane is: a mask that is
// needed in another block of instructions would be packed and unpacked again.
static bool is_cheap(const Body *p, const Block *block) {
    int apart = p->e->native == 4 ? 1 : 0; // loads lane by lane
    if (!block) return true;
    if (block->stmts.len > FEW) return false;
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        switch (s->kind) {
        case ST_LIT:
        case ST_CELL:
        case ST_CONV:
        case ST_SELECT:
        case ST_GET:
        case ST_SET: break;
        case ST_OP:
            if (op_info[s->op].cost > 8) return false;
            break;
        case ST_LOAD: // by a masked load, which reads nothing if no lane is at work; what all lanes have in common is loaded in any case
            if (!info(p, s->dst)->varies || lanes_own(s->buf) || (layout(p, s->buf, s->args) != LIE_TOGETHER && apart-- <= 0)) return false;
            break;
        default: return false;
        }
    }
    return true;
}

static void branch(Body *p, const Block *block, LLVMValueRef mask) {
    LLVMBuilderRef b = p->e->builder;
    if (!block || !block->stmts.len) return;
    LLVMValueRef outer = p->mask;
    LLVMBasicBlockRef join = NULL;
    p->mask = mask;
    if (!is_cheap(p, block)) {
        LLVMBasicBlockRef then = body_new_block(p, "lanes");
        join = body_new_block(p, "join");
        LLVMBuildCondBr(b, any(p, mask), then, join);
        body_go_on(p, then);
    }
    body_emit(p, block);
    if (join) {
        LLVMBuildBr(b, join);
        LLVMMoveBasicBlockAfter(join, LLVMGetInsertBlock(b));
        body_go_on(p, join);
    }
    p->mask = outer;
}

static void lanes_if(Body *p, const Stmt *s) {
    LLVMValueRef cond = lanes_value(p, s->args[0]);
    branch(p, s->body, both(p, cond, p->mask));
    if (s->other && s->other->stmts.len) branch(p, s->other, both(p, LLVMBuildNot(p->e->builder, cond, ""), p->mask));
}

static LLVMValueRef among(Body *p, const char *extreme, LLVMValueRef v, int64_t other) {
    if (p->mask) v = LLVMBuildSelect(p->e->builder, p->mask, v, lanes_splat(p, emit_int(p->e, other)), "");
    return lanes_reduce(p, extreme, v);
}

// The passes of a loop inside, each lane being at work where the index is in its range: over i from the least to the greatest;
// or so over j = low + i, of a shifted loop.
static void inner_for(Body *p, const Stmt *s) {
    LLVMBuilderRef b = p->e->builder;
    const Stmt *first = s->together ? s->body->stmts.data[0] : NULL;
    LLVMValueRef end = lanes_value(p, s->args[0]), low = NULL, from = emit_int(p->e, 0), outer = p->mask;
    if (first) {
        low = lanes_value(p, first->args[first->args[0] == s->dst]);
        end = LLVMBuildAdd(b, end, low, "");
    } else if (s->nargs > 1) {
        low = lanes_value(p, s->args[1]);
    }
    if (low) p->mask = both(p, LLVMBuildICmp(b, LLVMIntSLT, low, end, ""), outer); // where no lane works, nothing may be read
    if (low) from = among(p, "llvm.vector.reduce.smin", low, INT64_MAX);
    LLVMValueRef to = among(p, "llvm.vector.reduce.smax", end, low ? INT64_MIN : 0);
    p->mask = outer;
    Counted c = body_begin_for(p, from, to, 1, info(p, s->dst)->name);
    LLVMValueRef at = lanes_splat(p, c.index), here = LLVMBuildICmp(b, LLVMIntSLT, at, end, "");
    if (low) here = LLVMBuildAnd(b, here, LLVMBuildICmp(b, LLVMIntSGE, at, low, ""), "");
    if (first) p->given = first;
    p->temp[first ? first->dst : s->dst] = c.index;
    p->mask = both(p, here, outer);
    p->depth++;
    body_emit(p, s->body);
    p->depth--;
    p->mask = outer;
    body_end_for(p, &c);
}

bool lanes_stmt(Body *p, const Stmt *s) {
    if (s == p->given) return true;
    if (s->dst >= 0 && s->kind != ST_SET && p->scan[s->dst]) return true;
    switch (s->kind) {
    case ST_SET:
        if (lanes_sets_scan(p, s)) return true;
        if (!info(p, s->dst)->varies && !p->sums_cell[s->dst]) return false;
        lanes_set(p, s);
        return true;
    case ST_STORE: lanes_store(p, s); return true;
    case ST_ADDTO: lanes_addto(p, s); return true;
    case ST_FILL: fill(p, s->buf, lanes_value(p, s->args[0]), NULL); return true;
    case ST_COPY: fill(p, s->buf, NULL, s->src); return true;
    case ST_IF:
        if (info(p, s->args[0])->varies) lanes_if(p, s);
        return info(p, s->args[0])->varies;
    case ST_FOR: {
        bool ranges = info(p, s->args[0])->varies || (s->nargs > 1 && info(p, s->args[1])->varies) || s->together;
        if (ranges) inner_for(p, s);
        return ranges || (s->rows && lanes_rows(p, s));
    }
    case ST_CHECK:
        if (info(p, s->args[0])->varies) lanes_check(p, s);
        return info(p, s->args[0])->varies;
    default:
        if (s->dst < 0 || !info(p, s->dst)->varies) return false;
        p->temp[s->dst] = lanes_definition(p, s);
        return true;
    }
}
