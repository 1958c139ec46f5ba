// Square roots and quotients of vectors of doubles without the processor's unit for them: that takes many cycles for each, while
// others do multiplications. Processors approximate 1 / sqrt(x) and 1 / x: AVX-512 the first to 14 bits, AVX2 both to 11 by way of
// floats. One step of high order makes all 53 of them; sqrt(x) is x times that. What floats cannot hold, as 0 and infinity, is for
// the unit, in a block that is seldom reached. Only where --fp=fast allows, since the last bit may differ.
//
// Of the vectors that a loop does at a time, so many are taken from the unit, of each root and quotient, that the time is least:
// the greater of that of the unit and of the arithmetic besides. With AVX-512 these are all, or none.
#include "cpu/lanes.h"
#include "lower/lower.h"

#include <string.h>

enum { LARGEST = 8, MOST_VECTORS = 64 / 4, MOST_ROOTS = 32 };

// Times for a vector, in multiplications: of the unit for a root and a quotient; of arithmetic for one that is approximated.
// Additions have units of their own.
typedef struct Costs {
    double root, quotient, approximate_root, approximate_quotient;
} Costs;

static const Costs with_4 = {UNIT_ROOT, UNIT_QUOTIENT, 14, 12}, with_8 = {16, 9, 7, 1000};

static const TempInfo *info(const Body *p, Temp t) { return &p->tree->temps.data[t]; }

static const Stmt *operation(const Body *p, Temp t, Op op) {
    const Stmt *s = p->def[t];
    return s && s->kind == ST_OP && s->op == op && info(p, t)->varies && body_kind(p, t) == KIND_DOUBLE ? s : NULL;
}

// ---- which

typedef struct Planner {
    Body *p;
    const Costs *costs;
    int vectors, step;             // at a time; how many more are approximated, or none
    VEC(const Stmt *) roots, rest; // of one body of a loop; its quotients
    double other;                  // time of arithmetic besides
} Planner;

static bool is_by_root(const Body *p, const Stmt *quotient) { return operation(p, quotient->args[1], OP_sqrt) != NULL; }

// Is 1 / by known already, or needed again? LLVM makes products of such quotients.
static bool is_shared(const Planner *z, const Stmt *quotient) {
    if (!info(z->p, quotient->args[1])->varies) return true;
    for (int k = 0; k < z->rest.len; k++)
        if (z->rest.data[k] != quotient && z->rest.data[k]->args[1] == quotient->args[1]) return true;
    return false;
}

static void collect(Planner *z, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_FOR) continue;
        collect(z, s->body);
        collect(z, s->other);
        if (s->kind != ST_OP || !info(z->p, s->dst)->varies || !kind_is_float(body_kind(z->p, s->dst))) continue;
        if (operation(z->p, s->dst, OP_sqrt)) vec_push(&z->roots, s);
        else if (s->op == OP_div) vec_push(&z->rest, s);
        else if (s->op == OP_mul) z->other += 1;
        else if (op_info[s->op].cost >= op_info[OP_exp].cost) z->other += VECTOR_CALL;
        else z->other += 0.5; // half of the additions become one with a product
    }
}

static double time_of(const Planner *z) {
    const int *approximate = z->p->approximate;
    double unit = 0, arithmetic = z->vectors * z->other;
    for (int i = 0; i < z->roots.len; i++) {
        int n = approximate[z->roots.data[i]->dst];
        unit += (z->vectors - n) * z->costs->root;
        arithmetic += n * z->costs->approximate_root;
    }
    for (int i = 0; i < z->rest.len; i++) {
        const Stmt *s = z->rest.data[i];
        Temp by = s->args[1];
        int n = is_by_root(z->p, s) ? approximate[by] : approximate[s->dst];
        bool again = !info(z->p, by)->varies;
        for (int k = 0; k < i; k++) again |= z->rest.data[k]->args[1] == by;
        if (again || is_by_root(z->p, s)) arithmetic += again ? z->vectors : n;
        else arithmetic += n * z->costs->approximate_quotient;
        if (!again) unit += (z->vectors - n) * z->costs->quotient;
    }
    return unit > arithmetic ? unit : arithmetic;
}

// Takes a vector of what makes the time least, again and again.
static void take(Planner *z) {
    int *approximate = z->p->approximate;
    for (double time = time_of(z), least = time;; time = least) {
        Temp best = -1;
        for (int i = 0; i < z->roots.len + z->rest.len; i++) {
            const Stmt *s = i < z->roots.len ? z->roots.data[i] : z->rest.data[i - z->roots.len];
            Temp t = s->dst;
            if (approximate[t] == z->vectors || body_kind(z->p, t) != KIND_DOUBLE) continue;
            if (i >= z->roots.len && (is_shared(z, s) || is_by_root(z->p, s))) continue;
            approximate[t] += z->step;
            double with = time_of(z);
            approximate[t] -= z->step;
            if (with < least) least = with, best = t;
        }
        if (best < 0) return;
        approximate[best] += z->step;
    }
}

static void plan(Body *p, const Block *block, int vectors) {
    bool small = p->e->native == 4;
    Planner z = {.p = p, .costs = small ? &with_4 : &with_8, .vectors = vectors, .step = small ? 1 : vectors};
    collect(&z, block);
    if (z.roots.len + z.rest.len <= MOST_ROOTS) take(&z);
    vec_free(&z.roots);
    vec_free(&z.rest);
}

static void plan_inner(Body *p, const Block *block, int vectors) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_FOR) plan(p, s->body, vectors);
        plan_inner(p, s->body, vectors);
        plan_inner(p, s->other, vectors);
    }
}

void lanes_plan_roots(Body *p, const Stmt *loop) {
    int native = p->e->native;
    if (p->e->opt->fp != CPU_FP_FAST || (native != 8 && native != 4) || lanes_of_vector(p) != native) return;
    if (!p->approximate) {
        p->approximate = ARENA_ARRAY(p->e->arena, int, p->tree->temps.len + 1);
        p->inverse = ARENA_ARRAY(p->e->arena, LLVMValueRef, p->tree->temps.len + 1);
    }
    p->approximate_of = p->e->width / native * loop->lanes;
    plan(p, loop->body, p->approximate_of);
    plan_inner(p, loop->body, p->approximate_of);
}

// ---- their instructions

static LLVMValueRef splat(LLVMValueRef x, int lanes) {
    LLVMValueRef v[LARGEST];
    for (int l = 0; l < lanes; l++) v[l] = x;
    return LLVMConstVector(v, (unsigned)lanes);
}

static LLVMValueRef constant(Body *p, double x) { return splat(LLVMConstReal(p->e->type_double, x), p->e->native); }
static LLVMValueRef integer(Body *p, uint64_t x) { return splat(LLVMConstInt(p->e->type_i64, x, false), p->e->native); }

static LLVMValueRef fma_of(Body *p, LLVMValueRef x, LLVMValueRef y, LLVMValueRef w) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef args[] = {x, y, w};
    return emit_intrinsic(p->e, "llvm.fma", 1, &type, 3, args);
}

// The root of x and what is 1 over it: y = 1 / sqrt(x) (1 + d) to begin with, so that e = 1 - x y^2 = -2 d - d^2, and then
// y (1 + e / 2 + 3 e^2 / 8 + 5 e^3 / 16 + 35 e^4 / 128).
typedef struct Root {
    LLVMValueRef root, inverse;
} Root;

static Root improved(Body *p, LLVMValueRef x, LLVMValueRef y, int n, const double *c) {
    LLVMBuilderRef b = p->e->builder;
    LLVMValueRef root = LLVMBuildFMul(b, x, y, ""), e = fma_of(p, LLVMBuildFNeg(b, root, ""), y, constant(p, 1.0));
    LLVMValueRef rest = constant(p, c[0]);
    for (int i = 1; i < n; i++) rest = fma_of(p, rest, e, constant(p, c[i]));
    LLVMValueRef of_root = fma_of(p, LLVMBuildFMul(b, root, e, ""), rest, root);
    return (Root){of_root, fma_of(p, LLVMBuildFMul(b, y, e, ""), rest, y)};
}

// The error of the series is 2^-54. Of 0 and infinity y is right, and the rest is not.
static Root root_of_8(Body *p, LLVMValueRef x) {
    static const double c[] = {0.3125, 0.375, 0.5};
    LLVMBuilderRef b = p->e->builder;
    LLVMValueRef start[] = {x, LLVMGetPoison(LLVMTypeOf(x)), LLVMConstInt(p->e->type_i8, 255, false)};
    LLVMValueRef y = emit_intrinsic(p->e, "llvm.x86.avx512.rsqrt14.pd.512", 0, NULL, 3, start);
    Root r = improved(p, x, y, 3, c);
    LLVMValueRef class[] = {x, LLVMConstInt(p->e->type_i32, 0x0e, false)}; // 0, -0, infinity
    LLVMValueRef end = emit_intrinsic(p->e, "llvm.x86.avx512.fpclass.pd.512", 0, NULL, 2, class);
    return (Root){LLVMBuildSelect(b, end, x, r.root, ""), LLVMBuildSelect(b, end, y, r.inverse, "")};
}

// What the processor approximates of floats.
static LLVMValueRef by_floats(Body *p, const char *name, LLVMValueRef x) {
    LLVMBuilderRef b = p->e->builder;
    LLVMValueRef f = LLVMBuildFPTrunc(b, x, LLVMVectorType(p->e->type_float, 4), "");
    return LLVMBuildFPExt(b, emit_intrinsic(p->e, name, 0, NULL, 1, &f), LLVMTypeOf(x), "");
}

// Is x beyond what lies between the two powers of 2? (Both sides are moved so that it is a comparison of signed numbers.) Of a
// sign nothing is asked if `any` of them will do.
static LLVMValueRef is_far(Body *p, LLVMValueRef x, int least, int most, bool any_sign) {
    LLVMBuilderRef b = p->e->builder;
    uint64_t from = (uint64_t)(1023 + least) << 52, to = (uint64_t)(1023 + most) << 52, sign = (uint64_t)1 << 63;
    LLVMValueRef bits = LLVMBuildBitCast(b, x, LLVMVectorType(p->e->type_i64, 4), "");
    if (any_sign) bits = LLVMBuildAdd(b, bits, bits, ""), from *= 2, to *= 2;
    return LLVMBuildICmp(b, LLVMIntSGT, LLVMBuildAdd(b, bits, integer(p, sign - from), ""), integer(p, sign + (to - from)), "");
}

// The error of the series is 2^-54.
static Root root_of_4(Body *p, LLVMValueRef x) {
    static const double c[] = {0.2734375, 0.3125, 0.375, 0.5};
    return improved(p, x, by_floats(p, "llvm.x86.sse.rsqrt.ps", x), 4, c);
}

static Root root_by_unit(Body *p, LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef root = emit_intrinsic(p->e, "llvm.sqrt", 1, &type, 1, &x);
    return (Root){root, LLVMBuildFDiv(p->e->builder, constant(p, 1.0), root, "")};
}

// 1 / x = y (1 + e + e^2 + e^3 + e^4), e = 1 - x y, with an error of 2^-57.
static LLVMValueRef inverse_of_4(Body *p, LLVMValueRef x) {
    LLVMValueRef y = by_floats(p, "llvm.x86.sse.rcp.ps", x);
    LLVMValueRef e = fma_of(p, LLVMBuildFNeg(p->e->builder, x, ""), y, constant(p, 1.0));
    LLVMValueRef square = LLVMBuildFMul(p->e->builder, e, e, ""), two = fma_of(p, e, e, e);
    return fma_of(p, y, fma_of(p, two, square, two), y);
}

// How many of the n vectors that x is are approximated.
static int how_many(const Body *p, Temp t, int n) { return p->approximate[t] * n / p->approximate_of; }

// Vectors one after the other as one.
static LLVMValueRef all_of(Body *p, LLVMValueRef *v, int n) {
    return n == 1 ? *v : lanes_joined(p, all_of(p, v, n / 2), all_of(p, v + n / 2, n / 2));
}

static int parts_of(Body *p, LLVMValueRef x, LLVMValueRef *parts) {
    int n = (int)LLVMGetVectorSize(LLVMTypeOf(x)) / p->e->native;
    for (int i = 0; i < n; i++) parts[i] = n == 1 ? x : lanes_part(p, x, i * p->e->native, p->e->native);
    return n;
}

static LLVMValueRef root_of(Body *p, const Stmt *s) {
    LLVMValueRef x[MOST_VECTORS], root[2 * MOST_VECTORS], other[2 * MOST_VECTORS], far = NULL; // roots, then inverses
    int n = parts_of(p, lanes_value(p, s->args[0]), x), taken = how_many(p, s->dst, n);
    for (int i = 0; i < n; i++) {
        Root r = i >= taken ? root_by_unit(p, x[i]) : p->e->native == 8 ? root_of_8(p, x[i]) : root_of_4(p, x[i]);
        root[i] = r.root, root[n + i] = r.inverse;
    }
    for (int i = 0; i < taken && p->e->native == 4; i++) {
        LLVMValueRef one = is_far(p, x[i], -126, 127, false);
        far = far ? LLVMBuildOr(p->e->builder, far, one, "") : one;
    }
    if (far) {
        Rare rare = lanes_begin_rare(p, far);
        memcpy(other, root, sizeof *other * 2 * (size_t)n);
        for (int i = 0; i < taken; i++) {
            Root r = root_by_unit(p, x[i]);
            other[i] = r.root, other[n + i] = r.inverse;
        }
        lanes_end_rare(p, &rare, 2 * n, root, other);
    }
    p->inverse[s->dst] = all_of(p, root + n, n);
    return all_of(p, root, n);
}

static LLVMValueRef quotient_of(Body *p, const Stmt *s) {
    LLVMBuilderRef b = p->e->builder;
    LLVMValueRef x[MOST_VECTORS], by[MOST_VECTORS], v[MOST_VECTORS], other[MOST_VECTORS], far = NULL;
    int n = parts_of(p, lanes_value(p, s->args[0]), x), taken = how_many(p, s->dst, n);
    parts_of(p, lanes_value(p, s->args[1]), by);
    if (!taken) return NULL;
    for (int i = 0; i < n; i++)
        v[i] = i < taken ? LLVMBuildFMul(b, x[i], inverse_of_4(p, by[i]), "") : LLVMBuildFDiv(b, x[i], by[i], "");
    for (int i = 0; i < taken; i++) {
        LLVMValueRef one = is_far(p, by[i], -126, 125, true);
        far = far ? LLVMBuildOr(b, far, one, "") : one;
    }
    Rare rare = lanes_begin_rare(p, far);
    memcpy(other, v, sizeof *other * (size_t)n);
    for (int i = 0; i < taken; i++) other[i] = LLVMBuildFDiv(b, x[i], by[i], "");
    lanes_end_rare(p, &rare, n, v, other);
    return all_of(p, v, n);
}

LLVMValueRef lanes_root(Body *p, const Stmt *s) {
    if (!p->approximate || body_kind(p, s->dst) != KIND_DOUBLE) return NULL;
    if (s->op == OP_sqrt && p->approximate[s->dst]) return root_of(p, s);
    if (s->op != OP_div) return NULL;
    if (is_by_root(p, s) && p->approximate[s->args[1]])
        return LLVMBuildFMul(p->e->builder, lanes_value(p, s->args[0]), p->inverse[s->args[1]], "");
    return p->approximate[s->dst] ? quotient_of(p, s) : NULL;
}
