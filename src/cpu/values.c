// Scalars in LLVM IR: types, literals, and every elementwise operation of ops.def.
#include "cpu/emit.h"
#include "lower/lower.h"

// Literal exponents up to these magnitudes become multiplications; in single precision few, since each of them rounds.
enum { POWI_INLINE = 64, POWI_INLINE_FLOAT = 3 };

typedef enum CodeForm { FORM_INS, FORM_CMP, FORM_INTR, FORM_LIBM, FORM_RTL, FORM_OWN } CodeForm;

// The llvm column of ops.def.
typedef struct OpCode {
    CodeForm form;
    int on_float, on_int; // opcode or predicate
    const char *name;     // intrinsic or function
} OpCode;

#define INS(f, i)                                                                                                                  \
    { FORM_INS, LLVM##f, LLVM##i, NULL }
#define CMPI(f, i)                                                                                                                 \
    { FORM_CMP, LLVMReal##f, LLVMInt##i, NULL }
#define INTR(s)                                                                                                                    \
    { FORM_INTR, 0, 0, s }
#define LIBM(s)                                                                                                                    \
    { FORM_LIBM, 0, 0, s }
#define RTL(s)                                                                                                                     \
    { FORM_RTL, 0, 0, s }
#define OWN                                                                                                                        \
    { FORM_OWN, 0, 0, NULL }
static const OpCode op_code[OP_COUNT] = {
#define OP(name, arity, type, dx, dy, eval_f, eval_i, llvm, fsm, count, cost, ...) [OP_##name] = llvm,
#include "ir/ops.def"
};

// ---- types, literals, declarations

static LLVMTypeRef scalar_type(const Emitter *e, Kind kind) {
    switch (kind) {
    case KIND_BOOL: return e->type_i1;
    case KIND_INT: return e->type_i64;
    case KIND_INT32: return e->type_i32;
    case KIND_FLOAT: return e->type_float;
    case KIND_DOUBLE: return e->type_double;
    }
    fatal_bug("kind %d", (int)kind);
}

LLVMTypeRef emit_type(Emitter *e, Kind kind) {
    LLVMTypeRef type = scalar_type(e, kind);
    return e->lanes ? LLVMVectorType(type, (unsigned)e->lanes) : type;
}

// A constant in all lanes.
static LLVMValueRef in_lanes(const Emitter *e, LLVMValueRef x) {
    LLVMValueRef v[64];
    for (int l = 0; l < e->lanes; l++) v[l] = x;
    return e->lanes ? LLVMConstVector(v, (unsigned)e->lanes) : x;
}

LLVMTypeRef emit_memory_type(Emitter *e, Kind kind) { return kind == KIND_BOOL ? e->type_i8 : scalar_type(e, kind); }

LLVMValueRef emit_int(Emitter *e, int64_t value) { return in_lanes(e, LLVMConstInt(e->type_i64, (unsigned long long)value, true)); }

LLVMValueRef emit_lit(Emitter *e, Kind kind, double real, int64_t num) {
    LLVMTypeRef type = scalar_type(e, kind);
    return in_lanes(e, kind_is_float(kind) ? LLVMConstReal(type, real) : LLVMConstInt(type, (unsigned long long)num, true));
}

LLVMTypeRef emit_function_type(Emitter *e, LLVMTypeRef result, int n, const LLVMTypeRef *params, bool variadic) {
    (void)e;
    return LLVMFunctionType(result, (LLVMTypeRef *)params, (unsigned)n, variadic);
}

void emit_attribute(Emitter *e, LLVMValueRef function, LLVMAttributeIndex at, const char *name, uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (!kind) fatal_bug("LLVM has no attribute %s", name);
    LLVMAddAttributeAtIndex(function, at, LLVMCreateEnumAttribute(e->context, kind, value));
}

void emit_text_attribute(Emitter *e, LLVMValueRef function, const char *name, const char *value) {
    LLVMAttributeRef text = LLVMCreateStringAttribute(e->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, text);
}

void emit_wide(Emitter *e, LLVMValueRef function) {
    if (e->native > LANES_MASKED) emit_text_attribute(e, function, "prefer-vector-width", "512");
}

LLVMValueRef emit_declare(Emitter *e, const char *name, LLVMTypeRef type, const char *const *attrs) {
    LLVMValueRef f = LLVMGetNamedFunction(e->module, name);
    if (f) return f;
    f = LLVMAddFunction(e->module, name, type);
    for (; *attrs; attrs++) emit_attribute(e, f, LLVMAttributeFunctionIndex, *attrs, 0);
    return f;
}

LLVMValueRef emit_intrinsic(Emitter *e, const char *name, int ntypes, LLVMTypeRef *types, int nargs, LLVMValueRef *args) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id) fatal_bug("LLVM has no intrinsic %s", name);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->module, id, types, (size_t)ntypes);
    return LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(f), f, args, (unsigned)nargs, "");
}

LLVMValueRef emit_checked(Emitter *e, const char *name, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *over) {
    LLVMValueRef args[] = {a, b}, pair = emit_intrinsic(e, name, 1, &e->type_i64, 2, args);
    *over = LLVMBuildOr(e->builder, *over, LLVMBuildExtractValue(e->builder, pair, 1, ""), "");
    return LLVMBuildExtractValue(e->builder, pair, 0, "");
}

LLVMValueRef emit_string(Emitter *e, const char *text) {
    LLVMValueRef data = LLVMConstStringInContext2(e->context, text, strlen(text), false);
    LLVMValueRef g = LLVMAddGlobal(e->module, LLVMTypeOf(data), ".text");
    LLVMSetInitializer(g, data);
    LLVMSetGlobalConstant(g, true);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
    return g;
}

// ---- floating-point freedom

// NaN and infinity keep their meaning in every mode: guards of programs test for them.
static LLVMFastMathFlags math_flags(const Emitter *e, bool accumulation) {
    const LLVMFastMathFlags fast = LLVMFastMathAllowReassoc | LLVMFastMathNoSignedZeros | LLVMFastMathAllowReciprocal |
                                   LLVMFastMathAllowContract | LLVMFastMathApproxFunc;
    switch (e->opt->fp) {
    case CPU_FP_PRECISE: return LLVMFastMathNone;
    case CPU_FP_CONTRACT: return LLVMFastMathAllowContract | (accumulation ? LLVMFastMathAllowReassoc : 0);
    case CPU_FP_FAST: return fast;
    }
    return LLVMFastMathNone;
}

static LLVMValueRef with_flags(Emitter *e, LLVMValueRef v, bool accumulation) {
    if (LLVMIsAInstruction(v) && LLVMCanValueUseFastMathFlags(v)) LLVMSetFastMathFlags(v, math_flags(e, accumulation));
    return v;
}

LLVMValueRef emit_accumulate(Emitter *e, Kind kind, LLVMValueRef x, LLVMValueRef y, bool subtract) {
    if (!kind_is_float(kind)) return emit_op(e, subtract ? OP_sub : OP_add, kind, x, y);
    LLVMValueRef v = subtract ? LLVMBuildFSub(e->builder, x, y, "") : LLVMBuildFAdd(e->builder, x, y, "");
    return with_flags(e, v, true);
}

// ---- operations

static LLVMValueRef to_double(Emitter *e, LLVMValueRef x) {
    return LLVMTypeOf(x) == e->type_float ? LLVMBuildFPExt(e->builder, x, e->type_double, "") : x;
}

LLVMValueRef emit_pure_call(Emitter *e, const char *name, LLVMTypeRef result, int n, LLVMValueRef *args) {
    static const char *const attrs[] = {"nounwind", "willreturn", "nocallback", "nofree", "nosync", "memory", NULL};
    LLVMTypeRef params[2];
    for (int i = 0; i < n; i++) params[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = emit_function_type(e, result, n, params, false);
    LLVMValueRef f = emit_declare(e, name, type, attrs); // the value 0 of "memory" is memory(none)
    return with_flags(e, LLVMBuildCall2(e->builder, type, f, args, (unsigned)n, ""), false);
}

// Memory that only the function's pointers and the function itself reach: argmem and inaccessiblemem, read and written.
static const uint64_t MEMORY_OF_ARGUMENTS = 15;

LLVMValueRef emit_extern(Emitter *e, const char *name, LLVMTypeRef result, int n, LLVMValueRef *args, int nout) {
    static const char *const attrs[] = {"nounwind", "willreturn", "nocallback", "nofree", "nosync", "memory", NULL};
    static const char *const with_arrays[] = {"nounwind", "willreturn", "nocallback", NULL};
    LLVMTypeRef *params = ARENA_ARRAY(e->arena, LLVMTypeRef, n);
    bool arrays = false;
    for (int i = 0; i < n; i++) {
        bool is_bool = LLVMTypeOf(args[i]) == e->type_i1;
        if (is_bool) args[i] = LLVMBuildZExt(e->builder, args[i], e->type_i8, "");
        params[i] = LLVMTypeOf(args[i]);
        arrays |= params[i] == e->type_ptr;
    }
    LLVMTypeRef type = emit_function_type(e, result, n, params, false);
    LLVMValueRef f = emit_declare(e, name, type, arrays ? with_arrays : attrs);
    if (arrays) emit_attribute(e, f, LLVMAttributeFunctionIndex, "memory", MEMORY_OF_ARGUMENTS);
    for (int i = 0; i < n; i++) {
        LLVMAttributeIndex at = (LLVMAttributeIndex)i + 1;
        if (params[i] == e->type_i8) emit_attribute(e, f, at, "zeroext", 0); // C callers widen a uint8_t
        if (params[i] == e->type_ptr) emit_attribute(e, f, at, "nocapture", 0);
        if (params[i] == e->type_ptr && i < n - nout) emit_attribute(e, f, at, "readonly", 0);
    }
    LLVMValueRef r = LLVMBuildCall2(e->builder, type, f, args, (unsigned)n, "");
    return result == e->type_i8 ? LLVMBuildICmp(e->builder, LLVMIntNE, r, LLVMConstNull(e->type_i8), "") : r;
}

static LLVMValueRef call_libm(Emitter *e, const char *name, Kind kind, int arity, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef args[] = {x, y};
    if (kind == KIND_FLOAT) name = arena_printf(e->arena, "%sf", name);
    return emit_pure_call(e, name, emit_type(e, kind), arity, args);
}

// Functions of the run-time library take and return double.
static LLVMValueRef call_runtime(Emitter *e, const char *name, Kind kind, int arity, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef args[] = {to_double(e, x), arity > 1 ? to_double(e, y) : NULL};
    LLVMValueRef r = emit_pure_call(e, name, e->type_double, arity, args);
    return kind == KIND_FLOAT ? LLVMBuildFPTrunc(e->builder, r, e->type_float, "") : r;
}

// Binary powering; the products are those of fsm_powi.
static LLVMValueRef power(Emitter *e, Kind kind, LLVMValueRef x, int64_t n) {
    LLVMValueRef result = NULL;
    for (uint64_t k = (uint64_t)(n < 0 ? -n : n); k; k >>= 1) {
        if (k & 1) result = result ? emit_op(e, OP_mul, kind, result, x) : x;
        if (k > 1) x = emit_op(e, OP_mul, kind, x, x);
    }
    LLVMValueRef one = emit_lit(e, kind, 1.0, 1);
    if (!result) return one;
    return n < 0 ? emit_op(e, OP_div, kind, one, result) : result;
}

// Truncating division that never traps: x / -1 wraps, and x / 0 gives something (a check stands before it).
static LLVMValueRef divide(Emitter *e, LLVMValueRef x, LLVMValueRef y, bool remainder) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef one = emit_int(e, 1), rare = NULL;
    if (LLVMIsAConstantInt(y)) {
        int64_t v = LLVMConstIntGetSExtValue(y);
        y = in_lanes(e, y);
        if (v != 0 && v != -1) return remainder ? LLVMBuildSRem(b, x, y, "") : LLVMBuildSDiv(b, x, y, "");
    }
    rare = LLVMBuildICmp(b, LLVMIntULE, LLVMBuildAdd(b, y, one, ""), one, ""); // y is 0 or -1
    LLVMValueRef safe = LLVMBuildSelect(b, rare, one, y, "");
    if (remainder) return LLVMBuildSRem(b, x, safe, ""); // x rem ±1 = 0
    return LLVMBuildSelect(b, rare, LLVMBuildNeg(b, x, ""), LLVMBuildSDiv(b, x, safe, ""), "");
}

// The first argument on ties; NaN if either is NaN. Processors have an instruction for that but for NaN and for zeros' signs, of
// which the latter do not matter unless results are to be precise.
static LLVMValueRef extreme(Emitter *e, Kind kind, LLVMValueRef x, LLVMValueRef y, bool max) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef first;
    if (kind_is_float(kind) && e->opt->fp != CPU_FP_PRECISE) {
        LLVMTypeRef type = LLVMTypeOf(x);
        LLVMValueRef args[] = {y, x}, v = emit_intrinsic(e, max ? "llvm.maximum" : "llvm.minimum", 1, &type, 2, args);
        if (LLVMIsAInstruction(v)) LLVMSetFastMathFlags(v, LLVMFastMathNoSignedZeros);
        return v;
    }
    if (kind_is_float(kind)) {
        first = LLVMBuildFCmp(b, max ? LLVMRealOGE : LLVMRealOLE, x, y, "");
        first = LLVMBuildOr(b, first, LLVMBuildFCmp(b, LLVMRealUNO, x, x, ""), "");
    } else {
        first = LLVMBuildICmp(b, max ? LLVMIntSGE : LLVMIntSLE, x, y, "");
    }
    return LLVMBuildSelect(b, first, x, y, "");
}

static LLVMValueRef own_op(Emitter *e, Op op, Kind kind, LLVMValueRef x, LLVMValueRef y) {
    LLVMBuilderRef b = e->builder;
    bool real = kind_is_float(kind);
    switch (op) {
    case OP_neg: return real ? with_flags(e, LLVMBuildFNeg(b, x, ""), false) : LLVMBuildNeg(b, x, "");
    case OP_not: return LLVMBuildNot(b, x, "");
    case OP_idiv: return divide(e, x, y, false);
    case OP_irem: return divide(e, x, y, true);
    case OP_min: return extreme(e, kind, x, y, false);
    case OP_max: return extreme(e, kind, x, y, true);
    case OP_abs:
        if (real) {
            LLVMTypeRef type = emit_type(e, kind);
            return emit_intrinsic(e, "llvm.fabs", 1, &type, 1, &x);
        }
        return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, x, emit_int(e, 0), ""), LLVMBuildNeg(b, x, ""), x, "");
    default: fatal_bug("no LLVM code for %s", op_info[op].name);
    }
}

LLVMValueRef emit_op(Emitter *e, Op op, Kind kind, LLVMValueRef x, LLVMValueRef y) {
    LLVMBuilderRef b = e->builder;
    const OpCode *c = &op_code[op];
    int arity = op_info[op].arity;
    bool real = kind_is_float(kind);
    switch (c->form) {
    case FORM_INS: return with_flags(e, LLVMBuildBinOp(b, (LLVMOpcode)(real ? c->on_float : c->on_int), x, y, ""), false);
    case FORM_CMP:
        return real ? LLVMBuildFCmp(b, (LLVMRealPredicate)c->on_float, x, y, "")
                    : LLVMBuildICmp(b, (LLVMIntPredicate)c->on_int, x, y, "");
    case FORM_INTR: {
        LLVMTypeRef type = emit_type(e, kind);
        return with_flags(e, emit_intrinsic(e, c->name, 1, &type, 1, &x), false);
    }
    case FORM_LIBM:
        if (op == OP_sin || op == OP_cos) { // of which LLVM makes one call of sincos where both are needed
            LLVMTypeRef type = emit_type(e, kind);
            return with_flags(e, emit_intrinsic(e, op == OP_sin ? "llvm.sin" : "llvm.cos", 1, &type, 1, &x), false);
        }
        return call_libm(e, c->name, kind, arity, x, y);
    case FORM_RTL:
        if (op == OP_powi && LLVMIsAConstantInt(y)) {
            int64_t n = LLVMConstIntGetSExtValue(y);
            if (emit_powi_inline(kind, n)) return power(e, kind, x, n);
        }
        return call_runtime(e, c->name, kind, arity, x, y);
    case FORM_OWN: return own_op(e, op, kind, x, y);
    }
    fatal_bug("no LLVM code for %s", op_info[op].name);
}

const char *emit_libm_name(Op op) { return op_code[op].form == FORM_LIBM ? op_code[op].name : NULL; }

bool emit_op_takes_vectors(Op op) { return op_code[op].form != FORM_LIBM && op_code[op].form != FORM_RTL; }

bool emit_powi_inline(Kind kind, int64_t n) {
    int64_t most = kind == KIND_FLOAT ? POWI_INLINE_FLOAT : POWI_INLINE;
    return n >= -most && n <= most;
}

LLVMValueRef emit_conv(Emitter *e, Kind to, Kind from, LLVMValueRef x) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = emit_type(e, to);
    if (to == from) return x;
    if (to == KIND_BOOL) {
        LLVMValueRef zero = LLVMConstNull(emit_type(e, from));
        return kind_is_float(from) ? LLVMBuildFCmp(b, LLVMRealUNE, x, zero, "") : LLVMBuildICmp(b, LLVMIntNE, x, zero, "");
    }
    if (kind_is_float(from)) {
        if (to == KIND_DOUBLE) return LLVMBuildFPExt(b, x, type, "");
        if (to == KIND_FLOAT) return LLVMBuildFPTrunc(b, x, type, "");
        LLVMTypeRef types[] = {type, emit_type(e, from)};
        return emit_intrinsic(e, "llvm.fptosi.sat", 2, types, 1, &x);
    }
    if (to == KIND_INT32) return LLVMBuildTrunc(b, x, type, "");
    if (to == KIND_INT) return from == KIND_BOOL ? LLVMBuildZExt(b, x, type, "") : LLVMBuildSExt(b, x, type, "");
    return from == KIND_BOOL ? LLVMBuildUIToFP(b, x, type, "") : LLVMBuildSIToFP(b, x, type, "");
}
