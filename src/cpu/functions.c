// Functions of vectors that are written here since that is faster than a call of libmvec, and more exact: for vectors of 8
// doubles, by instructions of AVX-512.
#include "cpu/lanes.h"

typedef struct Maker {
    Emitter *e;
    LLVMTypeRef type; // 8 doubles
} Maker;

static LLVMValueRef constant(const Maker *z, double x) {
    LLVMValueRef v[8];
    for (int l = 0; l < 8; l++) v[l] = LLVMConstReal(z->e->type_double, x);
    return LLVMConstVector(v, 8);
}

static LLVMValueRef fma_of(const Maker *z, LLVMValueRef x, LLVMValueRef y, LLVMValueRef w) {
    LLVMTypeRef type = z->type;
    LLVMValueRef args[] = {x, y, w};
    return emit_intrinsic(z->e, "llvm.fma", 1, &type, 3, args);
}

// x, but not beyond the limit; NaN stays.
static LLVMValueRef at_most(const Maker *z, LLVMRealPredicate beyond, LLVMValueRef x, double limit) {
    LLVMValueRef far = LLVMBuildFCmp(z->e->builder, beyond, x, constant(z, limit), "");
    return LLVMBuildSelect(z->e->builder, far, constant(z, limit), x, "");
}

static LLVMValueRef polynomial(const Maker *z, LLVMValueRef r, int n, const double *c) {
    LLVMValueRef p = constant(z, c[0]);
    for (int i = 1; i < n; i++) p = fma_of(z, p, r, constant(z, c[i]));
    return p;
}

// 2^(j/8) for j = 0 … 7, and what doubles lack of them.
static const double eighths[] = {1.0,
                                 0x1.172b83c7d517bp+0,
                                 0x1.306fe0a31b715p+0,
                                 0x1.4bfdad5362a27p+0,
                                 0x1.6a09e667f3bcdp+0,
                                 0x1.8ace5422aa0dbp+0,
                                 0x1.ae89f995ad3adp+0,
                                 0x1.d5818dcfba487p+0};
static const double eighths_rest[] = {0.0,
                                      -0x1.19041b9d78a76p-55,
                                      0x1.6f46ad23182e4p-55,
                                      0x1.d4397afec42e2p-56,
                                      -0x1.bdd3413b26456p-54,
                                      0x1.6e9f156864b27p-54,
                                      0x1.7a1cd345dcc81p-54,
                                      0x1.2ed02d75b3707p-55};

// x = k log(2) / 8 + r with k next to 8 x / log(2), so that exp(x) = 2^(k/8) (1 + q) with q = exp(r) - 1. As |r| is at most
// log(2) / 16, the Taylor polynomial of degree 8 gives q exact to 2e-18. |x| must not be beyond 2^40.
typedef struct Reduced {
    LLVMValueRef index; // its lowest three bits are those of k
    LLVMValueRef power; // k / 8
    LLVMValueRef q;
} Reduced;

static Reduced reduce(const Maker *z, LLVMValueRef x) {
    static const double taylor[] = {1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5};
    const double to_int = 0x1.8p52; // a double so large that its lowest bits count units
    LLVMBuilderRef b = z->e->builder;
    LLVMValueRef t = fma_of(z, x, constant(z, 0x1.71547652b82fep+3), constant(z, to_int));
    LLVMValueRef k = LLVMBuildFSub(b, t, constant(z, to_int), "");
    LLVMValueRef r = fma_of(z, k, constant(z, -0x1.62e42fefa39efp-4), x);
    r = fma_of(z, k, constant(z, -0x1.abc9e3b39803fp-59), r);
    LLVMValueRef p = polynomial(z, r, sizeof taylor / sizeof *taylor, taylor);
    return (Reduced){LLVMBuildBitCast(b, t, LLVMVectorType(z->e->type_i64, 8), ""),
                     LLVMBuildFMul(b, k, constant(z, 0.125), ""), fma_of(z, p, LLVMBuildFMul(b, r, r, ""), r)};
}

static LLVMValueRef look_up(const Maker *z, const double *table, const Reduced *x) {
    LLVMValueRef entries[8];
    for (int l = 0; l < 8; l++) entries[l] = LLVMConstReal(z->e->type_double, table[l]);
    LLVMValueRef args[] = {LLVMConstVector(entries, 8), x->index};
    return emit_intrinsic(z->e, "llvm.x86.avx512.permvar.df.512", 0, NULL, 2, args);
}

static LLVMValueRef all_of_8(const Maker *z) { return LLVMConstInt(z->e->type_i8, 255, false); }
static LLVMValueRef as_now(const Maker *z) { return LLVMConstInt(z->e->type_i32, 4, false); } // the current rounding

// v * 2^floor(power)
static LLVMValueRef scaled(const Maker *z, LLVMValueRef v, LLVMValueRef power) {
    LLVMValueRef args[] = {v, power, LLVMGetPoison(z->type), all_of_8(z), as_now(z)};
    return emit_intrinsic(z->e, "llvm.x86.avx512.mask.scalef.pd.512", 0, NULL, 5, args);
}

// The error is below 1 unit in the last place.
static LLVMValueRef make_exp(const Maker *z, LLVMValueRef x) {
    x = at_most(z, LLVMRealOGT, x, 800.0); // beyond, it is infinite or 0
    x = at_most(z, LLVMRealOLT, x, -800.0);
    Reduced r = reduce(z, x);
    LLVMValueRef s = look_up(z, eighths, &r);
    return scaled(z, fma_of(z, r.q, s, s), r.power);
}

// tanh(x) = e / (e + 2) with e = exp(2 |x|) - 1 = (S - 1) + (rest of S + S q), S = 2^(k/8), which has all its digits where it
// is small, too. The error is below 3 units in the last place.
static LLVMValueRef make_tanh(const Maker *z, LLVMValueRef x) {
    LLVMBuilderRef b = z->e->builder;
    LLVMTypeRef type = z->type;
    LLVMValueRef size = emit_intrinsic(z->e, "llvm.fabs", 1, &type, 1, &x);
    size = at_most(z, LLVMRealOGT, size, 20.0); // beyond, it is 1
    Reduced r = reduce(z, LLVMBuildFAdd(b, size, size, ""));
    LLVMValueRef s = scaled(z, look_up(z, eighths, &r), r.power), rest = scaled(z, look_up(z, eighths_rest, &r), r.power);
    LLVMValueRef e = LLVMBuildFSub(b, s, constant(z, 1.0), "");
    e = LLVMBuildFAdd(b, e, fma_of(z, s, r.q, rest), "");
    LLVMValueRef args[] = {LLVMBuildFDiv(b, e, LLVMBuildFAdd(b, e, constant(z, 2.0), ""), ""), x};
    return emit_intrinsic(z->e, "llvm.copysign", 1, &type, 2, args);
}

// x = 2^e m with m between sqrt(1/2) and sqrt(2); -infinity, infinity or NaN for e where x is 0, infinite, or has no logarithm.
static LLVMValueRef split(const Maker *z, LLVMValueRef x, LLVMValueRef *m) {
    LLVMBuilderRef b = z->e->builder;
    LLVMValueRef exponent[] = {x, LLVMGetPoison(z->type), all_of_8(z), as_now(z)};
    LLVMValueRef mantissa[] = {x, LLVMConstInt(z->e->type_i32, 8, false), LLVMGetPoison(z->type), all_of_8(z), as_now(z)};
    LLVMValueRef e = emit_intrinsic(z->e, "llvm.x86.avx512.mask.getexp.pd.512", 0, NULL, 4, exponent);
    *m = emit_intrinsic(z->e, "llvm.x86.avx512.mask.getmant.pd.512", 0, NULL, 5, mantissa); // 1 … 2, NaN below 0
    LLVMValueRef big = LLVMBuildFCmp(b, LLVMRealOGT, *m, constant(z, 0x1.6a09e667f3bcdp+0), "");
    *m = LLVMBuildSelect(b, big, LLVMBuildFMul(b, *m, constant(z, 0.5), ""), *m, "");
    return LLVMBuildSelect(b, big, LLVMBuildFAdd(b, e, constant(z, 1.0), ""), e, "");
}

// log(x) = e log(2) + log(1 + f), f = m - 1. With s = f / (2 + f), log(1 + f) is the odd function 2 s + s^3 P(s^2) of s, of
// which P is a Chebyshev approximation, to 2e-18; 2 s = f - s f, and f is exact. Below 1 unit in the last place.
static LLVMValueRef make_log(const Maker *z, LLVMValueRef x) {
    static const double odd[] = {0x1.0c074d9f1dd73p-3, 0x1.0fbe3b6c6987dp-3, 0x1.3b1c38bb12df2p-3, 0x1.745cf8f4a7ec6p-3,
                                 0x1.c71c72017f306p-3, 0x1.2492492476b73p-2, 0x1.9999999999a38p-2, 0x1.5555555555555p-1};
    LLVMBuilderRef b = z->e->builder;
    LLVMValueRef m, e = split(z, x, &m), f = LLVMBuildFSub(b, m, constant(z, 1.0), "");
    LLVMValueRef s = LLVMBuildFDiv(b, f, LLVMBuildFAdd(b, f, constant(z, 2.0), ""), ""), s2 = LLVMBuildFMul(b, s, s, "");
    LLVMValueRef half = LLVMBuildFMul(b, LLVMBuildFMul(b, f, f, ""), constant(z, 0.5), ""); // s f = half - s half
    LLVMValueRef p = LLVMBuildFMul(b, polynomial(z, s2, sizeof odd / sizeof *odd, odd), s2, "");
    LLVMValueRef low = LLVMBuildFMul(b, s, LLVMBuildFAdd(b, half, p, ""), "");
    low = LLVMBuildFSub(b, fma_of(z, e, constant(z, 0x1.a39ef35793c76p-33), low), half, "");
    return fma_of(z, e, constant(z, 0x1.62e42feep-1), LLVMBuildFAdd(b, f, low, ""));
}

typedef struct Function {
    Op op;
    LLVMValueRef (*make)(const Maker *, LLVMValueRef);
} Function;

static const Function functions[] = {{OP_exp, make_exp}, {OP_tanh, make_tanh}, {OP_log, make_log}};

LLVMValueRef lanes_function(Body *p, Op op, LLVMValueRef x) {
    Maker z = {p->e, LLVMVectorType(p->e->type_double, 8)};
    if (lanes_of_vector(p) != 8 || p->e->native != 8 || LLVMTypeOf(x) != z.type) return NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].op == op) return functions[i].make(&z, x);
    return NULL;
}
