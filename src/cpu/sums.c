// Sums over the lanes: what the lanes add to an element that they share. Where there are copies of the array for the lanes of
// one vector (lanes.c), vectors are added to these; otherwise the lanes of a vector are added up. Of several vectors at once
// that takes less: they are turned over as they are added, so that one vector holds the sums, and elements that lie together
// are added to at once. That is as good as copies.
#include "cpu/lanes.h"

enum { MOST = 64 };

static const TempInfo *info(const Body *p, Temp t) { return &p->tree->temps.data[t]; }

LLVMValueRef lanes_sum(Body *p, Kind kind, LLVMValueRef v) {
    if (!kind_is_float(kind)) return lanes_reduce(p, "llvm.vector.reduce.add", v);
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMValueRef args[] = {LLVMConstReal(emit_type(p->e, kind), -0.0), v};
    LLVMValueRef r = emit_intrinsic(p->e, "llvm.vector.reduce.fadd", 1, &type, 2, args);
    LLVMSetFastMathFlags(r, LLVMFastMathAllowReassoc);
    return r;
}

LLVMValueRef lanes_combined(Body *p, Op op, Kind kind, LLVMValueRef x, LLVMValueRef y) {
    p->e->lanes = (int)LLVMGetVectorSize(LLVMTypeOf(x));
    LLVMValueRef v = op == OP_add || op == OP_sub ? emit_accumulate(p->e, kind, x, y, op == OP_sub) : emit_op(p->e, op, kind, x, y);
    p->e->lanes = 0;
    return v;
}

LLVMValueRef lanes_plus(Body *p, Kind kind, LLVMValueRef x, LLVMValueRef y) { return lanes_combined(p, OP_add, kind, x, y); }

LLVMValueRef lanes_folded(Body *p, Op by, Kind kind, LLVMValueRef v, int n) {
    const int lanes = (int)LLVMGetVectorSize(LLVMTypeOf(v));
    if (n == lanes) return v;
    LLVMValueRef all = lanes_part(p, v, 0, n);
    for (int first = n; first < lanes; first += n) all = lanes_combined(p, by, kind, all, lanes_part(p, v, first, n));
    return all;
}

// The sum of the machine's vectors that a block of lanes takes, of the lanes that are at work.
static LLVMValueRef folded(Body *p, Kind kind, LLVMValueRef v) {
    if (p->mask) v = LLVMBuildSelect(p->e->builder, p->mask, v, LLVMConstNull(LLVMTypeOf(v)), "");
    return lanes_folded(p, OP_add, kind, v, lanes_of_vector(p));
}

// To the copies of the lanes of one vector: v is the sum of all vectors.
static void add_to_copies(Body *p, const Stmt *s, LLVMValueRef number, LLVMValueRef v) {
    LLVMBuilderRef build = p->e->builder;
    LLVMTypeRef type = emit_memory_type(p->e, s->buf->kind);
    unsigned align = lanes_aligned(s->buf->kind, lanes_of_vector(p));
    LLVMValueRef n = LLVMBuildNSWMul(build, number, emit_int(p->e, lanes_of_vector(p)), "");
    LLVMValueRef at = LLVMBuildInBoundsGEP2(build, type, p->sums[s->buf->id], &n, 1, "");
    LLVMValueRef old = LLVMBuildLoad2(build, LLVMTypeOf(v), at, "");
    LLVMSetAlignment(old, align);
    LLVMSetAlignment(LLVMBuildStore(build, lanes_plus(p, s->buf->kind, old, v), at), align);
}

// a and b added up over lanes that are `step` apart: sums of a in lanes without this bit, of b in those with it.
static LLVMValueRef turned(Body *p, Kind kind, LLVMValueRef a, LLVMValueRef b, int step) {
    LLVMValueRef low[MOST], high[MOST];
    int n = (int)LLVMGetVectorSize(LLVMTypeOf(a));
    for (int l = 0; l < n; l++) {
        int other = l & step ? n : 0;
        low[l] = lanes_index(p, other + (l & ~step)), high[l] = lanes_index(p, other + (l | step));
    }
    LLVMValueRef x = LLVMBuildShuffleVector(p->e->builder, a, b, LLVMConstVector(low, (unsigned)n), "");
    return lanes_plus(p, kind, x, LLVMBuildShuffleVector(p->e->builder, a, b, LLVMConstVector(high, (unsigned)n), ""));
}

// The sums over the lanes of n vectors, a power of 2 and not more than they have lanes, as one vector. They are changed.
static LLVMValueRef turned_sums(Body *p, Kind kind, LLVMValueRef *v, int n) {
    for (int step = 1; step < n; step *= 2)
        for (int i = 0; i < n / step; i += 2) v[i / 2] = turned(p, kind, v[i], v[i + 1], step);
    LLVMValueRef sum = v[0];
    for (int l = lanes_of_vector(p) / 2; l >= n; l /= 2)
        sum = lanes_plus(p, kind, lanes_part(p, sum, 0, l), lanes_part(p, sum, l, l));
    return sum;
}

// The sums over the lanes of each of n vectors.
void lanes_sum_each(Body *p, Kind kind, int n, LLVMValueRef *v) {
    int many = 1;
    while (2 * many <= n && 2 * many <= lanes_of_vector(p)) many *= 2;
    if (!n) return;
    if (many == 1 || p->lanes != lanes_of_vector(p) || !kind_is_float(kind)) {
        v[0] = lanes_sum(p, kind, v[0]);
        lanes_sum_each(p, kind, n - 1, v + 1);
        return;
    }
    LLVMValueRef all[MOST];
    for (int i = 0; i < many; i++) all[i] = v[i];
    LLVMValueRef sums = turned_sums(p, kind, all, many);
    for (int i = 0; i < many; i++) v[i] = LLVMBuildExtractElement(p->e->builder, sums, lanes_index(p, i), "");
    lanes_sum_each(p, kind, n - many, v + many);
}

// Adds lanes 0 … n - 1 of v to the elements of n statements, those that lie together at once.
static void add_elements(Body *p, int n, Stmt *const *s, LLVMValueRef v) {
    for (int i = 0, many; i < n; i += many) {
        Kind kind = s[i]->buf->kind;
        LLVMValueRef at = lanes_address(p, s[i]->buf, lanes_first_number(p, s[i]->buf, s[i]->args + 1));
        int run = 1;
        while (i + run < n && stores_follow(p, s[i + run - 1], s[i + run])) run++;
        for (many = 1; 2 * many <= run; many *= 2) continue;
        if (many == 1) {
            LLVMValueRef x = LLVMBuildExtractElement(p->e->builder, v, lanes_index(p, i), "");
            body_store(p, kind, emit_accumulate(p->e, kind, body_load(p, kind, at), x, false), at);
            continue;
        }
        LLVMValueRef x = lanes_part(p, v, i, many), old = LLVMBuildLoad2(p->e->builder, LLVMTypeOf(x), at, "");
        LLVMSetAlignment(old, body_alignment(kind));
        LLVMSetAlignment(LLVMBuildStore(p->e->builder, lanes_plus(p, kind, old, x), at), body_alignment(kind));
    }
}

static void add_to_shared(Body *p, int n, Stmt *const *s, const LLVMValueRef *v) {
    Kind kind = s[0]->buf->kind;
    if (n == 1) {
        LLVMValueRef at = lanes_address(p, s[0]->buf, lanes_first_number(p, s[0]->buf, s[0]->args + 1));
        LLVMValueRef term = lanes_sum(p, kind, v[0]);
        body_store(p, kind, emit_accumulate(p->e, kind, body_load(p, kind, at), term, false), at);
        return;
    }
    LLVMValueRef all[MOST];
    int count = 1;
    for (; count < n; count *= 2) continue;
    for (int i = 0; i < count; i++) all[i] = i < n ? v[i] : LLVMConstNull(LLVMTypeOf(v[0]));
    add_elements(p, n, s, turned_sums(p, kind, all, count));
}

// Of the statements that follow, those that add to elements that all lanes share and can do so at once.
static int run_of_sums(const Body *p, int n, Stmt *const *s) {
    int many = 0, most = lanes_of_vector(p);
    for (; many < n && many < most; many++) {
        const Stmt *a = s[many];
        if (a->kind != ST_ADDTO || lanes_own(a->buf)) break;
        bool shared = true;
        for (int k = 1; k < a->nargs; k++) shared &= !info(p, a->args[k])->varies;
        bool alike = a->buf->kind == s[0]->buf->kind && !p->sums[a->buf->id] == !p->sums[s[0]->buf->id];
        if (!shared || (many && !(alike && kind_is_float(a->buf->kind)))) break;
    }
    return many;
}

int lanes_sums(Body *p, int n, Stmt *const *s) {
    LLVMBuilderRef build = p->e->builder;
    LLVMBasicBlockRef join = NULL;
    LLVMValueRef v[MOST];
    n = run_of_sums(p, n, s);
    if (n) debug_place(p->e->debug, s[0]->span);
    for (int i = 0; i < n; i++) v[i] = folded(p, s[i]->buf->kind, lanes_value(p, s[i]->args[0]));
    if (n && n < lanes_of_vector(p) && p->sums[s[0]->buf->id]) {
        LLVMBasicBlockRef copies = body_new_block(p, "copies"), shared = body_new_block(p, "shared");
        join = body_new_block(p, "added");
        LLVMBuildCondBr(build, p->copied, copies, shared);
        body_go_on(p, copies);
        for (int i = 0; i < n; i++) add_to_copies(p, s[i], lanes_first_number(p, s[i]->buf, s[i]->args + 1), v[i]);
        LLVMBuildBr(build, join);
        body_go_on(p, shared);
    }
    if (n) add_to_shared(p, n, s, v);
    if (join) LLVMBuildBr(build, join), body_go_on(p, join);
    return n;
}
