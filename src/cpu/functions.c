// Functions of vectors that are written here since that is faster than a call of libmvec, and more exact: for vectors of 8
// doubles, by instructions of AVX-512, and of 4, by those of AVX2. Of a block of vectors each step is done for all of them before
// the next one, and one branch asks whether any of their numbers is out of the ordinary range.
#include "cpu/lanes.h"

#include <math.h>
#include <string.h>

typedef struct Maker {
    Body *p;
    Emitter *e;
    int lanes;        // of the machine's vectors: 8, or 4
    int width;        // of these here: of one vector, or of some that are computed side by side; 2 for a scalar
    LLVMTypeRef type; // so many doubles, and as many integers
    LLVMTypeRef ints;
} Maker;

enum { WIDEST = 64 };

static LLVMValueRef of_lanes(LLVMValueRef x, int lanes) {
    LLVMValueRef v[WIDEST];
    for (int l = 0; l < lanes; l++) v[l] = x;
    return LLVMConstVector(v, (unsigned)lanes);
}

static LLVMValueRef constant(const Maker *z, double x) { return of_lanes(LLVMConstReal(z->e->type_double, x), z->width); }
static LLVMValueRef integer(const Maker *z, uint64_t x) { return of_lanes(LLVMConstInt(z->e->type_i64, x, false), z->width); }
static LLVMValueRef to_bits(const Maker *z, LLVMValueRef x) { return LLVMBuildBitCast(z->e->builder, x, z->ints, ""); }
static LLVMValueRef of_bits(const Maker *z, LLVMValueRef x) { return LLVMBuildBitCast(z->e->builder, x, z->type, ""); }

static LLVMValueRef fma_of(const Maker *z, LLVMValueRef x, LLVMValueRef y, LLVMValueRef w) {
    LLVMTypeRef type = z->type;
    LLVMValueRef args[] = {x, y, w};
    return emit_intrinsic(z->e, "llvm.fma", 1, &type, 3, args);
}

// An instruction for the machine's vectors, of each in turn: n arguments, of which vectors like the last one are taken apart.
static LLVMValueRef in_parts(const Maker *z, const char *name, int n, LLVMValueRef *args, LLVMTypeRef type) {
    LLVMValueRef part[WIDEST], one[5];
    int parts = z->width / z->lanes, size = (int)LLVMGetVectorSize(type) / parts;
    for (int i = 0; i < parts; i++) {
        for (int k = 0; k < n; k++) one[k] = LLVMTypeOf(args[k]) == type ? lanes_part(z->p, args[k], i * size, size) : args[k];
        part[i] = emit_intrinsic(z->e, name, 0, NULL, n, one);
    }
    for (; parts > 1; parts /= 2)
        for (int i = 0; i < parts / 2; i++) part[i] = lanes_joined(z->p, part[2 * i], part[2 * i + 1]);
    return part[0];
}

// x, but not beyond the limit; NaN stays.
static LLVMValueRef at_most(const Maker *z, LLVMRealPredicate beyond, LLVMValueRef x, double limit) {
    LLVMValueRef far = LLVMBuildFCmp(z->e->builder, beyond, x, constant(z, limit), "");
    return LLVMBuildSelect(z->e->builder, far, constant(z, limit), x, "");
}

// The polynomial of x with coefficients c, that of the highest power first: one of its square, with coefficients c x + c'.
static LLVMValueRef polynomial(const Maker *z, LLVMValueRef x, LLVMValueRef square, int n, const double *c) {
    LLVMValueRef p = NULL;
    for (int i = 0; i < n; i++) {
        LLVMValueRef term = constant(z, c[i]);
        if ((n - i) % 2 == 0) term = fma_of(z, term, x, constant(z, c[i + 1])), i++;
        p = p ? fma_of(z, p, square, term) : term;
    }
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

// (exp(r) - 1 - r) / r^2, by a polynomial of degree 6 that is exact to 5e-18 / r^2. With AVX2, additions have units of their own,
// which have less to do than those of products; so there it is w^2 and a polynomial of degree 2, of which cubic w leaves no higher
// powers.
static LLVMValueRef beyond_line(const Maker *z, LLVMValueRef r, LLVMValueRef square) {
    static const double c[] = {0x1.a0310b5e90b1bp-16, 0x1.a030c6caf4649p-13, 0x1.6c16c0cdd502bp-10, 0x1.111110a18777dp-7,
                               0x1.5555555558a56p-5,  0x1.5555555557e6fp-3,  0x1.fffffffffffffp-2};
    LLVMBuilderRef b = z->e->builder;
    if (z->lanes == 8) return polynomial(z, r, square, sizeof c / sizeof *c, c);
    LLVMValueRef w = fma_of(z, constant(z, 0x1.466991ff0273cp-8), r, constant(z, 0x1.46695c366cf80p-6));
    w = fma_of(z, w, LLVMBuildFAdd(b, square, constant(z, 0x1.3fe75ced94faap+4), ""), constant(z, 0x1.46e8e7ee34068p-5));
    LLVMValueRef rest = fma_of(z, constant(z, 0x1.45289c4d6a7f7p-4), r, constant(z, 0x1.3b56a1d311c4ep-2));
    return fma_of(z, w, w, fma_of(z, constant(z, 0x1.d4321a397ecffp-7), square, rest));
}

// x = k log(2) / n + r, n lanes, with k next to n x / log(2), so that exp(x) = 2^(k/n) (1 + q) with q = exp(r) - 1. As |r| is at
// most log(2) / 8, a polynomial of degree 8 gives q exact to 5e-18. |x| must not be beyond 2^40.
typedef struct Reduced {
    LLVMValueRef bits; // of which the lowest are those of k + n bias
    LLVMValueRef k;
    LLVMValueRef q;
} Reduced;

static Reduced reduce(const Maker *z, LLVMValueRef x, double bias) {
    const double n = z->lanes, to_int = 0x1.8p52 + n * bias; // a double so large that its lowest bits count units
    LLVMBuilderRef b = z->e->builder;
    LLVMValueRef t = fma_of(z, x, constant(z, n * 0x1.71547652b82fep+0), constant(z, to_int));
    LLVMValueRef k = LLVMBuildFSub(b, t, constant(z, to_int), "");
    LLVMValueRef r = fma_of(z, k, constant(z, -0x1.62e42fefa39efp-1 / n), x);
    r = fma_of(z, k, constant(z, -0x1.abc9e3b39803fp-56 / n), r);
    LLVMValueRef square = LLVMBuildFMul(b, r, r, "");
    return (Reduced){to_bits(z, t), k, fma_of(z, beyond_line(z, r, square), square, r)};
}

// ---- instructions of AVX-512

static LLVMValueRef look_up(const Maker *z, const double *table, const Reduced *x) {
    LLVMValueRef entries[8];
    for (int l = 0; l < 8; l++) entries[l] = LLVMConstReal(z->e->type_double, table[l]);
    LLVMValueRef args[] = {LLVMConstVector(entries, 8), x->bits};
    return in_parts(z, "llvm.x86.avx512.permvar.df.512", 2, args, z->ints);
}

static LLVMValueRef all_of_8(const Maker *z) { return LLVMConstInt(z->e->type_i8, 255, false); }
static LLVMValueRef as_now(const Maker *z) { return LLVMConstInt(z->e->type_i32, 4, false); } // the current rounding

// v * 2^floor(k/8)
static LLVMValueRef scaled(const Maker *z, LLVMValueRef v, const Reduced *x) {
    LLVMValueRef power = LLVMBuildFMul(z->e->builder, x->k, constant(z, 0.125), "");
    LLVMValueRef args[] = {v, power, LLVMGetPoison(z->type), all_of_8(z), as_now(z)};
    return in_parts(z, "llvm.x86.avx512.mask.scalef.pd.512", 5, args, z->type);
}

// x = 2^e m with m between sqrt(1/2) and sqrt(2); -infinity, infinity or NaN for e where x is 0, infinite, or has no logarithm.
static LLVMValueRef split(const Maker *z, LLVMValueRef x, LLVMValueRef *m) {
    LLVMBuilderRef b = z->e->builder;
    LLVMValueRef exponent[] = {x, LLVMGetPoison(z->type), all_of_8(z), as_now(z)};
    LLVMValueRef mantissa[] = {x, LLVMConstInt(z->e->type_i32, 8, false), LLVMGetPoison(z->type), all_of_8(z), as_now(z)};
    LLVMValueRef e = in_parts(z, "llvm.x86.avx512.mask.getexp.pd.512", 4, exponent, z->type);
    *m = in_parts(z, "llvm.x86.avx512.mask.getmant.pd.512", 5, mantissa, z->type); // 1 … 2, NaN below 0
    LLVMValueRef big = LLVMBuildFCmp(b, LLVMRealOGT, *m, constant(z, 0x1.6a09e667f3bcdp+0), "");
    *m = LLVMBuildSelect(b, big, LLVMBuildFMul(b, *m, constant(z, 0.5), ""), *m, "");
    return LLVMBuildSelect(b, big, LLVMBuildFAdd(b, e, constant(z, 1.0), ""), e, "");
}

// ---- and of AVX2, where powers of 2 are put into the bits of doubles

enum { EXPONENT = 52, BIAS = 1023 };

static LLVMValueRef shifted(const Maker *z, LLVMValueRef x, int left) {
    return LLVMBuildShl(z->e->builder, x, integer(z, (uint64_t)left), "");
}

// v 2^floor(k/4) where v is every second entry of the table, by the lowest bits of k; `power` has k + 4 BIAS from bit 50 on. The
// table lacks BIAS, and what these bits add to the fraction. (A zero becomes a number that is next to nothing.)
static LLVMValueRef raised(const Maker *z, const double *table, const Reduced *x, LLVMValueRef power) {
    LLVMBuilderRef b = z->e->builder;
    const unsigned n = 2 * (unsigned)z->width;
    LLVMTypeRef table_type = LLVMVectorType(z->e->type_i32, 8), halves = LLVMVectorType(z->e->type_i32, n);
    LLVMValueRef entries[4], second[2 * WIDEST], both[2 * WIDEST];
    for (unsigned j = 0; j < 4; j++) {
        uint64_t bits;
        memcpy(&bits, &table[2 * j], sizeof bits);
        entries[j] = LLVMConstInt(z->e->type_i64, bits - ((uint64_t)BIAS << EXPONENT) - ((uint64_t)j << (EXPONENT - 2)), false);
    }
    for (unsigned h = 0; h < n; h++) {
        both[h] = LLVMConstInt(z->e->type_i32, h & ~1u, false);
        second[h] = LLVMConstInt(z->e->type_i32, h & 1, false);
    }
    LLVMValueRef index = LLVMBuildBitCast(b, shifted(z, x->bits, 1), halves, "");
    index = LLVMBuildShuffleVector(b, index, index, LLVMConstVector(both, n), "");
    index = LLVMBuildAdd(b, index, LLVMConstVector(second, n), "");
    LLVMValueRef args[] = {LLVMConstBitCast(LLVMConstVector(entries, 4), table_type), index};
    LLVMValueRef v = in_parts(z, "llvm.x86.avx2.permd", 2, args, halves);
    return of_bits(z, LLVMBuildAdd(b, LLVMBuildBitCast(b, v, z->ints, ""), power, ""));
}

// x = 2^e m as above, for x that are neither 0 nor below, nor infinite, nor less than 2^-1022.
static LLVMValueRef split_bits(const Maker *z, LLVMValueRef x, LLVMValueRef *m) {
    LLVMBuilderRef b = z->e->builder;
    const uint64_t least = 0x3fe6a09e667f3bcd, exponent = ~(uint64_t)0 << EXPONENT; // the bits of sqrt(1/2)
    LLVMValueRef bits = to_bits(z, x), above = LLVMBuildSub(b, bits, integer(z, least), "");
    *m = of_bits(z, LLVMBuildSub(b, bits, LLVMBuildAnd(b, above, integer(z, exponent), ""), ""));
    LLVMValueRef e = LLVMBuildAdd(b, above, integer(z, (uint64_t)BIAS << EXPONENT), "");
    e = LLVMBuildOr(b, LLVMBuildLShr(b, e, integer(z, EXPONENT), ""), integer(z, 0x433ull << EXPONENT), ""); // 2^52 + …
    return LLVMBuildFSub(b, of_bits(z, e), constant(z, 0x1p52 + BIAS), "");
}

// ---- functions

Rare lanes_begin_rare(Body *p, LLVMValueRef far) {
    Emitter *e = p->e;
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->builder), rare = body_new_block(p, "rare"), rest = body_new_block(p, "often");
    LLVMMetadataRef weights[] = {LLVMMDStringInContext2(e->context, "branch_weights", 14),
                                 LLVMValueAsMetadata(LLVMConstInt(e->type_i32, 1, false)),
                                 LLVMValueAsMetadata(LLVMConstInt(e->type_i32, 2000, false))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, weights, 3);
    if (LLVMTypeOf(far) != e->type_i1) far = lanes_reduce(p, "llvm.vector.reduce.or", far);
    LLVMValueRef branch = LLVMBuildCondBr(e->builder, far, rare, rest);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->context, "prof", 4), LLVMMetadataAsValue(e->context, node));
    body_go_on(p, rare);
    return (Rare){from, rest};
}

void lanes_end_rare(Body *p, const Rare *r, int n, LLVMValueRef *v, LLVMValueRef *other) {
    LLVMBasicBlockRef from[] = {r->from, LLVMGetInsertBlock(p->e->builder)};
    LLVMBuildBr(p->e->builder, r->rest);
    body_go_on(p, r->rest);
    for (int i = 0; i < n; i++) {
        LLVMValueRef phi = LLVMBuildPhi(p->e->builder, LLVMTypeOf(v[i]), ""), values[] = {v[i], other[i]};
        LLVMAddIncoming(phi, values, from, 2);
        v[i] = phi;
    }
}

// What `usual` is, but where a lane is far: then `any` of x.
static LLVMValueRef unless_far(const Maker *z, LLVMValueRef far, LLVMValueRef usual,
                               LLVMValueRef (*any)(const Maker *, LLVMValueRef), LLVMValueRef x) {
    Rare rare = lanes_begin_rare(z->p, far);
    LLVMValueRef other = any(z, x);
    lanes_end_rare(z->p, &rare, 1, &usual, &other);
    return usual;
}

// exp(x) for all x, by two powers of 2, since one may be out of range.
static LLVMValueRef exp_of_any(const Maker *z, LLVMValueRef x) {
    LLVMBuilderRef b = z->e->builder;
    x = at_most(z, LLVMRealOGT, x, 800.0); // beyond, it is infinite or 0
    x = at_most(z, LLVMRealOLT, x, -800.0);
    Reduced r = reduce(z, x, z->lanes == 8 ? 0 : 2 * BIAS);
    if (z->lanes == 8) {
        LLVMValueRef s = look_up(z, eighths, &r);
        return scaled(z, fma_of(z, r.q, s, s), &r);
    }
    LLVMValueRef half = LLVMBuildAnd(b, shifted(z, r.bits, EXPONENT - 3), integer(z, ~(uint64_t)0 << EXPONENT), "");
    LLVMValueRef s = raised(z, eighths, &r, LLVMBuildSub(b, shifted(z, r.bits, EXPONENT - 2), half, ""));
    return LLVMBuildFMul(b, fma_of(z, r.q, s, s), of_bits(z, half), "");
}

// Of vectors side by side the least or the greatest numbers, of each lane. NaN counts only in the first one.
static LLVMValueRef extreme_of_parts(const Maker *z, LLVMRealPredicate beyond, LLVMValueRef x) {
    LLVMValueRef v = lanes_part(z->p, x, 0, z->lanes);
    for (int i = z->lanes; i < z->width; i += z->lanes) {
        LLVMValueRef part = lanes_part(z->p, x, i, z->lanes);
        v = LLVMBuildSelect(z->e->builder, LLVMBuildFCmp(z->e->builder, beyond, part, v, ""), part, v, "");
    }
    return v;
}

// The error is not above 1 unit in the last place. (NaN is NaN wherever it is computed.)
static LLVMValueRef make_exp(const Maker *z, LLVMValueRef x) {
    LLVMBuilderRef b = z->e->builder;
    if (z->lanes == 8) return exp_of_any(z, x);
    Reduced r = reduce(z, x, BIAS);
    LLVMValueRef s = raised(z, eighths, &r, shifted(z, r.bits, EXPONENT - 2)),
                 limit = of_lanes(LLVMConstReal(z->e->type_double, 708.0), z->lanes);
    LLVMValueRef high = LLVMBuildFCmp(b, LLVMRealUGE, extreme_of_parts(z, LLVMRealOGT, x), limit, ""); // beyond normal numbers
    LLVMValueRef low = LLVMBuildFCmp(b, LLVMRealULE, extreme_of_parts(z, LLVMRealOLT, x),
                                     of_lanes(LLVMConstReal(z->e->type_double, -708.0), z->lanes), "");
    return unless_far(z, LLVMBuildOr(b, high, low, ""), fma_of(z, r.q, s, s), exp_of_any, x);
}

// tanh(x) = e / (e + 2) with e = exp(2 |x|) - 1 = (S - 1) + (rest of S + S q), S = 2^(k/n), which has all its digits where it
// is small, too. The error is below 3 units in the last place.
static LLVMValueRef make_tanh(const Maker *z, LLVMValueRef x) {
    LLVMBuilderRef b = z->e->builder;
    LLVMTypeRef type = z->type;
    LLVMValueRef size = emit_intrinsic(z->e, "llvm.fabs", 1, &type, 1, &x), s, rest;
    size = at_most(z, LLVMRealOGT, size, 20.0); // beyond, it is 1
    Reduced r = reduce(z, LLVMBuildFAdd(b, size, size, ""), z->lanes == 8 ? 0 : BIAS);
    if (z->lanes == 8) {
        s = scaled(z, look_up(z, eighths, &r), &r);
        rest = scaled(z, look_up(z, eighths_rest, &r), &r);
    } else {
        LLVMValueRef power = shifted(z, r.bits, EXPONENT - 2);
        s = raised(z, eighths, &r, power);
        rest = raised(z, eighths_rest, &r, power);
    }
    LLVMValueRef e = LLVMBuildFSub(b, s, constant(z, 1.0), "");
    e = LLVMBuildFAdd(b, e, fma_of(z, s, r.q, rest), "");
    LLVMValueRef args[] = {LLVMBuildFDiv(b, e, LLVMBuildFAdd(b, e, constant(z, 2.0), ""), ""), x};
    return emit_intrinsic(z->e, "llvm.copysign", 1, &type, 2, args);
}

// log(x) = e log(2) + log(1 + f), f = m - 1. With s = f / (2 + f), log(1 + f) is the odd function 2 s + s^3 P(s^2) of s, of
// which P is a Chebyshev approximation, to 2e-18; 2 s = f - s f, and f is exact. The error is below 1.5 units in the last place.
static LLVMValueRef log_of(const Maker *z, LLVMValueRef e, LLVMValueRef m) {
    static const double odd[] = {0x1.0c074d9f1dd73p-3, 0x1.0fbe3b6c6987dp-3, 0x1.3b1c38bb12df2p-3, 0x1.745cf8f4a7ec6p-3,
                                 0x1.c71c72017f306p-3, 0x1.2492492476b73p-2, 0x1.9999999999a38p-2, 0x1.5555555555555p-1};
    LLVMBuilderRef b = z->e->builder;
    LLVMValueRef f = LLVMBuildFSub(b, m, constant(z, 1.0), "");
    LLVMValueRef s = LLVMBuildFDiv(b, f, LLVMBuildFAdd(b, m, constant(z, 1.0), ""), ""), s2 = LLVMBuildFMul(b, s, s, "");
    LLVMValueRef p = polynomial(z, s2, LLVMBuildFMul(b, s2, s2, ""), sizeof odd / sizeof *odd, odd);
    LLVMValueRef low =
        fma_of(z, s, fma_of(z, p, s2, LLVMBuildFNeg(b, f, "")), LLVMBuildFMul(b, e, constant(z, 0x1.a39ef35793c76p-33), ""));
    return LLVMBuildFAdd(b, fma_of(z, e, constant(z, 0x1.62e42feep-1), f), low, "");
}

// The same for all x. Where one is less than 2^-1022, it is multiplied by 2^54.
static LLVMValueRef log_of_any(const Maker *z, LLVMValueRef x) {
    LLVMBuilderRef b = z->e->builder;
    LLVMValueRef zero = constant(z, 0), m, e, y;
    LLVMValueRef tiny = LLVMBuildFCmp(b, LLVMRealOLT, x, constant(z, 0x1p-1022), "");
    e = split_bits(z, LLVMBuildSelect(b, tiny, LLVMBuildFMul(b, x, constant(z, 0x1p54), ""), x, ""), &m);
    y = log_of(z, LLVMBuildFSub(b, e, LLVMBuildSelect(b, tiny, constant(z, 54), zero, ""), ""), m);
    y = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOEQ, x, zero, ""), constant(z, -INFINITY), y, "");
    y = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, x, zero, ""), constant(z, NAN), y, "");
    return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, x, constant(z, INFINITY), ""), y, x, "");
}

static LLVMValueRef make_log(const Maker *z, LLVMValueRef x) {
    LLVMBuilderRef b = z->e->builder;
    LLVMValueRef m, e = z->lanes == 8 ? split(z, x, &m) : split_bits(z, x, &m), y = log_of(z, e, m);
    if (z->lanes == 8) return y;
    // Is one beyond what split_bits takes? Of the numbers' upper halves, moved by a constant, the greatest tells.
    LLVMTypeRef halves = LLVMVectorType(z->e->type_i32, 2 * (unsigned)z->lanes);
    LLVMValueRef above = LLVMBuildAdd(b, to_bits(z, x), integer(z, 0x7ffull << EXPONENT), ""), most = NULL;
    for (int i = 0; i < z->width; i += z->lanes) {
        LLVMValueRef part = LLVMBuildBitCast(b, lanes_part(z->p, above, i, z->lanes), halves, ""), both[] = {most, part};
        most = most ? emit_intrinsic(z->e, "llvm.smax", 1, &halves, 2, both) : part;
    }
    most = LLVMBuildBitCast(b, most, LLVMVectorType(z->e->type_i64, (unsigned)z->lanes), "");
    LLVMValueRef far =
        LLVMBuildICmp(b, LLVMIntSGT, most, of_lanes(LLVMConstInt(z->e->type_i64, 0xffdfffffffffffff, false), z->lanes), "");
    return unless_far(z, far, y, log_of_any, x);
}

static const double FAR = 0x1p30;

// The sine of x, or the cosine: of what is left of |x| beside k quarters of a turn, one of the two polynomials, as k is even or
// odd. Multiples of the first part of pi / 2 leave a number that is exact; the third part is for what lies next to one. |x|, which
// is `size`, must be below FAR. The error is not above 1.5 units in the last place.
static LLVMValueRef turned(const Maker *z, LLVMValueRef x, LLVMValueRef size, bool is_sine) {
    static const double of_sine[] = {0x1.5d8772f3f7aaep-33,  -0x1.ae5e4c556246ep-26, 0x1.71de356f70264p-19,
                                     -0x1.a01a019c30b61p-13, 0x1.111111110fb50p-7,   -0x1.555555555554dp-3};
    static const double of_cosine[] = {-0x1.8ff9dc80ba21ep-37, 0x1.1eea895ccf00bp-29,  -0x1.27e4f9040b42ep-22,
                                       0x1.a01a019e24ef4p-16,  -0x1.6c16c16c16134p-10, 0x1.5555555555553p-5};
    enum { TERMS = sizeof of_sine / sizeof *of_sine };
    LLVMBuilderRef b = z->e->builder;
    LLVMValueRef to_int = constant(z, 0x1.8p52), zero = integer(z, 0),
                 t = fma_of(z, size, constant(z, 0x1.45f306dc9c883p-1), to_int);
    LLVMValueRef k = LLVMBuildFSub(b, t, to_int, ""), bits = to_bits(z, t), r;
    r = fma_of(z, k, constant(z, -0x1.921fb54442d18p+0), size);
    r = fma_of(z, k, constant(z, -0x1.1a62633145c07p-54), r);
    LLVMValueRef r2 = LLVMBuildFMul(b, r, r, ""), r3 = LLVMBuildFMul(b, r, r2, ""), r4 = LLVMBuildFMul(b, r2, r2, "");
    LLVMValueRef sine = polynomial(z, r2, r4, TERMS, of_sine), cosine = polynomial(z, r2, r4, TERMS, of_cosine);
    sine = fma_of(z, r3, sine, fma_of(z, k, constant(z, 0x1.f1976b7ed8fbcp-110), r));
    cosine = fma_of(z, r2, fma_of(z, r2, cosine, constant(z, -0.5)), constant(z, 1.0));
    LLVMValueRef odd = LLVMBuildICmp(b, LLVMIntSLT, shifted(z, bits, 63), zero, "");
    LLVMValueRef y = LLVMBuildSelect(b, odd, is_sine ? cosine : sine, is_sine ? sine : cosine, "");
    LLVMValueRef sign = shifted(z, is_sine ? bits : LLVMBuildAdd(b, bits, integer(z, 1), ""), 62);
    if (is_sine) sign = LLVMBuildXor(b, sign, to_bits(z, x), "");
    sign = LLVMBuildAnd(b, sign, integer(z, (uint64_t)1 << 63), "");
    return of_bits(z, LLVMBuildXor(b, to_bits(z, y), sign, ""));
}

// A function of one number, as that of a vector of two of which one does not matter.
static LLVMValueRef first_of(const Maker *z, LLVMValueRef v) {
    return LLVMBuildExtractElement(z->e->builder, v, LLVMConstInt(z->e->type_i32, 0, false), "");
}

static LLVMValueRef turned_any(const Maker *z, LLVMValueRef x, Op op) {
    if (LLVMTypeOf(x) == z->e->type_double) return emit_op(z->e, op, KIND_DOUBLE, x, NULL);
    return lanes_call(z->p, op, KIND_DOUBLE, 1, &x);
}

static LLVMValueRef sine_of_any(const Maker *z, LLVMValueRef x) { return turned_any(z, x, OP_sin); }
static LLVMValueRef cosine_of_any(const Maker *z, LLVMValueRef x) { return turned_any(z, x, OP_cos); }

static LLVMValueRef make_turned(const Maker *z, LLVMValueRef x, bool is_sine) {
    LLVMTypeRef type = z->type;
    bool scalar = LLVMTypeOf(x) == z->e->type_double;
    LLVMValueRef v = x, size;
    if (scalar) v = LLVMBuildInsertElement(z->e->builder, LLVMGetPoison(type), x, LLVMConstInt(z->e->type_i32, 0, false), "");
    size = emit_intrinsic(z->e, "llvm.fabs", 1, &type, 1, &v);
    LLVMValueRef far = LLVMBuildFCmp(z->e->builder, LLVMRealUGE, size, constant(z, FAR), ""), y = turned(z, v, size, is_sine);
    if (scalar) far = first_of(z, far), y = first_of(z, y);
    return unless_far(z, far, y, is_sine ? sine_of_any : cosine_of_any, x);
}

static LLVMValueRef make_sine(const Maker *z, LLVMValueRef x) { return make_turned(z, x, true); }
static LLVMValueRef make_cosine(const Maker *z, LLVMValueRef x) { return make_turned(z, x, false); }

typedef struct Function {
    Op op;
    LLVMValueRef (*make)(const Maker *, LLVMValueRef);
} Function;

static const Function functions[] = {
    {OP_exp, make_exp}, {OP_tanh, make_tanh}, {OP_log, make_log}, {OP_sin, make_sine}, {OP_cos, make_cosine}};

static Maker maker(Body *p, int lanes, int width) {
    return (Maker){
        p, p->e, lanes, width, LLVMVectorType(p->e->type_double, (unsigned)width), LLVMVectorType(p->e->type_i64, (unsigned)width)};
}

static LLVMValueRef make(const Maker *z, Op op, LLVMValueRef x) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].op == op) return functions[i].make(z, x);
    return NULL;
}

LLVMValueRef lanes_function(Body *p, Op op, LLVMValueRef x) {
    int lanes = lanes_of_vector(p), width = (int)LLVMGetVectorSize(LLVMTypeOf(x));
    Maker z = maker(p, lanes, width);
    if (lanes < 4 || p->e->native != lanes || LLVMTypeOf(x) != z.type || width % lanes || width > WIDEST) return NULL;
    return make(&z, op, x);
}

LLVMValueRef body_function_of(Body *p, Op op, LLVMValueRef x) {
    Maker z = maker(p, p->e->native, 2);
    if ((op != OP_sin && op != OP_cos) || p->e->native < 4 || p->e->opt->fp != CPU_FP_FAST || LLVMTypeOf(x) != p->e->type_double)
        return NULL;
    return make(&z, op, x);
}
