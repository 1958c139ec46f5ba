// Square roots of vectors of 8 doubles, and what is divided by them, without the processor's unit for divisions and roots: that
// takes many cycles for each, while others do multiplications. AVX-512 approximates 1 / sqrt(x) to 14 bits, which a step of third
// order makes all; sqrt(x) is x times that. Only where --fp=fast allows, since the last bit may differ.
//
// Of the roots in a loop, those are taken that make its time less: the greater of that of the unit and of the arithmetic besides.
#include "cpu/lanes.h"

// Cycles for a vector: of the unit for a root and a quotient; of arithmetic for a root that is approximated. Additions have units
// of their own.
enum { ROOT = 16, QUOTIENT = 9, APPROXIMATED = 7, CALL = 16, MOST_ROOTS = 32 };

static const TempInfo *info(const Body *p, Temp t) { return &p->tree->temps.data[t]; }

static const Stmt *operation(const Body *p, Temp t, Op op) {
    const Stmt *s = p->def[t];
    return s && s->kind == ST_OP && s->op == op && info(p, t)->varies && body_kind(p, t) == KIND_DOUBLE ? s : NULL;
}

// ---- which roots

typedef struct Planner {
    Body *p;
    VEC(const Stmt *) roots, rest; // of one body of a loop; its quotients, products, and so on
    double other;                  // cycles of arithmetic besides
} Planner;

// The root that is approximated with t under it, or NULL.
static const Stmt *root_of(const Body *p, Temp t) {
    const Stmt *s = p->root_of ? p->root_of[t] : NULL;
    return s && p->approximate[s->dst] ? s : NULL;
}

// How many multiplications take the place of a division by t; 0 if it stays one.
static int products_for(const Body *p, Temp t) {
    if (!info(p, t)->varies) return 0;
    if (operation(p, t, OP_sqrt) && p->approximate[t]) return 1;
    if (root_of(p, t)) return 2;
    const Stmt *s = operation(p, t, OP_mul);
    int x = s ? products_for(p, s->args[0]) : 0, y = x ? products_for(p, s->args[1]) : 0;
    return y ? x + y : 0;
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
        else if (op_info[s->op].cost >= op_info[OP_exp].cost) z->other += CALL;
        else z->other += 0.5; // half of the additions become one with a product
    }
}

static double time_of(const Planner *z) {
    double unit = 0, arithmetic = z->other;
    for (int i = 0; i < z->roots.len; i++) {
        bool taken = z->p->approximate[z->roots.data[i]->dst];
        *(taken ? &arithmetic : &unit) += taken ? APPROXIMATED : ROOT;
    }
    for (int i = 0; i < z->rest.len; i++) {
        Temp by = z->rest.data[i]->args[1];
        int products = products_for(z->p, by);
        bool again = !info(z->p, by)->varies; // 1 / by is known already
        for (int k = 0; k < i; k++) again |= z->rest.data[k]->args[1] == by;
        if (products || again) arithmetic += products ? products : 1;
        else unit += QUOTIENT;
    }
    return unit > arithmetic ? unit : arithmetic;
}

// Takes the root that makes the time least, again and again.
static void take(Planner *z) {
    bool *approximate = z->p->approximate;
    for (double time = time_of(z), least = time;; time = least) {
        Temp best = -1;
        for (int i = 0; i < z->roots.len; i++) {
            Temp t = z->roots.data[i]->dst;
            if (approximate[t]) continue;
            approximate[t] = true;
            double with = time_of(z);
            approximate[t] = false;
            if (with < least) least = with, best = t;
        }
        if (best < 0) return;
        approximate[best] = true;
    }
}

static void plan(Body *p, const Block *block) {
    Planner z = {.p = p};
    collect(&z, block);
    for (int i = 0; i < z.roots.len; i++) p->root_of[z.roots.data[i]->args[0]] = z.roots.data[i];
    if (z.roots.len && z.roots.len <= MOST_ROOTS) take(&z);
    vec_free(&z.roots);
    vec_free(&z.rest);
}

static void plan_inner(Body *p, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_FOR) plan(p, s->body);
        plan_inner(p, s->body);
        plan_inner(p, s->other);
    }
}

void lanes_plan_roots(Body *p, const Stmt *loop) {
    if (p->e->opt->fp != CPU_FP_FAST || p->e->native != 8 || lanes_of_vector(p) != 8) return;
    if (!p->approximate) {
        p->approximate = ARENA_ARRAY(p->e->arena, bool, p->tree->temps.len + 1);
        p->root_of = ARENA_ARRAY(p->e->arena, const Stmt *, p->tree->temps.len + 1);
    }
    plan(p, loop->body);
    plan_inner(p, loop->body);
}

// ---- their instructions

static LLVMValueRef constant(Body *p, double x) {
    LLVMValueRef v[8];
    for (int l = 0; l < 8; l++) v[l] = LLVMConstReal(p->e->type_double, x);
    return LLVMConstVector(v, 8);
}

static LLVMValueRef fma_of(Body *p, LLVMValueRef x, LLVMValueRef y, LLVMValueRef w) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef args[] = {x, y, w};
    return emit_intrinsic(p->e, "llvm.fma", 1, &type, 3, args);
}

// The root of x, or what is 1 over it. y = 1 / sqrt(x) (1 + d) to begin with, so that e = 1 - x y^2 = -2 d - d^2, and then
// y (1 + e / 2 + 3 e^2 / 8 + 5 e^3 / 16), of which the error is 2^-54. Of 0 and infinity y is right, and the rest is not.
static LLVMValueRef of_vector(Body *p, LLVMValueRef x, bool inverse) {
    LLVMBuilderRef b = p->e->builder;
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef start[] = {x, LLVMGetPoison(type), LLVMConstInt(p->e->type_i8, 255, false)};
    LLVMValueRef y = emit_intrinsic(p->e, "llvm.x86.avx512.rsqrt14.pd.512", 0, NULL, 3, start);
    LLVMValueRef root = LLVMBuildFMul(b, x, y, ""), e = fma_of(p, LLVMBuildFNeg(b, root, ""), y, constant(p, 1.0));
    LLVMValueRef rest = fma_of(p, fma_of(p, e, constant(p, 0.3125), constant(p, 0.375)), e, constant(p, 0.5));
    LLVMValueRef v = inverse ? y : root;
    LLVMValueRef better = fma_of(p, LLVMBuildFMul(b, v, e, ""), rest, v);
    LLVMValueRef class[] = {x, LLVMConstInt(p->e->type_i32, 0x0e, false)}; // 0, -0, infinity
    return LLVMBuildSelect(b, emit_intrinsic(p->e, "llvm.x86.avx512.fpclass.pd.512", 0, NULL, 2, class), inverse ? y : x, better, "");
}

static LLVMValueRef of_lanes(Body *p, LLVMValueRef x, bool inverse) {
    int n = (int)LLVMGetVectorSize(LLVMTypeOf(x));
    if (n == 8) return of_vector(p, x, inverse);
    LLVMValueRef low = of_lanes(p, lanes_part(p, x, 0, n / 2), inverse);
    return lanes_joined(p, low, of_lanes(p, lanes_part(p, x, n / 2, n / 2), inverse));
}

static LLVMValueRef inverse_of(Body *p, Temp t) {
    LLVMBuilderRef b = p->e->builder;
    if (operation(p, t, OP_sqrt)) return of_lanes(p, lanes_value(p, p->def[t]->args[0]), true);
    if (root_of(p, t)) {
        LLVMValueRef y = of_lanes(p, lanes_value(p, t), true);
        return LLVMBuildFMul(b, y, y, "");
    }
    const Temp *factors = p->def[t]->args;
    return LLVMBuildFMul(b, inverse_of(p, factors[0]), inverse_of(p, factors[1]), "");
}

LLVMValueRef lanes_root(Body *p, const Stmt *s) {
    if (!p->approximate || body_kind(p, s->dst) != KIND_DOUBLE) return NULL;
    if (s->op == OP_sqrt && p->approximate[s->dst]) return of_lanes(p, lanes_value(p, s->args[0]), false);
    if (s->op != OP_div || !products_for(p, s->args[1])) return NULL;
    return LLVMBuildFMul(p->e->builder, lanes_value(p, s->args[0]), inverse_of(p, s->args[1]), "");
}
