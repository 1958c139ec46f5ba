// The CPU backend: loop trees built by hand, compiled in memory at every level, against values computed in C.
#include "cpu/cpu.h"
#include "fsmc/runtime_internal.h"
#include "ir/scalar.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>

// ---- building trees

typedef struct Build {
    Arena *arena;
    Diag *diag;
    Ir *ir;
    Func *func;
    Tree *tree;
    Block *open[16]; // the innermost is last
    int depth;
} Build;

static Build build_start(const char *name) {
    Build b = {.arena = arena_new()};
    b.diag = diag_new(b.arena);
    b.ir = ir_new(b.arena);
    b.ir->raw = true;
    b.func = ARENA_NEW(b.arena, Func);
    b.func->name = name;
    b.func->ir = b.ir;
    b.func->inputs = ARENA_ARRAY(b.arena, Node *, 16);
    b.func->outputs = ARENA_ARRAY(b.arena, Node *, 16);
    b.tree = ARENA_NEW(b.arena, Tree);
    b.tree->func = b.func;
    b.open[0] = b.tree->body = ARENA_NEW(b.arena, Block);
    return b;
}

static void free_block(Block *block) {
    if (!block) return;
    for (int i = 0; i < block->stmts.len; i++) {
        free_block(block->stmts.data[i]->body);
        free_block(block->stmts.data[i]->other);
    }
    vec_free(&block->stmts);
}

static void build_end(Build *b) {
    free_block(b->tree->body);
    vec_free(&b->tree->temps);
    vec_free(&b->tree->bufs);
    ir_delete(b->ir);
    diag_delete(b->diag);
    arena_free(b->arena);
}

static Node *scalar_input(Build *b, const char *name, Kind kind) {
    int k = b->func->ninputs++;
    return b->func->inputs[k] = ir_input(b->ir, k, name, kind, 0, NULL);
}

static int array_input(Build *b, const char *name, Kind kind, int rank, Node **shape) {
    int k = b->func->ninputs++;
    b->func->inputs[k] = ir_input(b->ir, k, name, kind, rank, shape);
    return k;
}

// An output is a value of the right kind and shape; what it is worth does not matter here.
static int output(Build *b, Kind kind, int rank, Node **shape) {
    int k = b->func->noutputs++;
    b->func->outputs[k] = ir_input(b->ir, 1000 + k, NULL, kind, rank, shape);
    return k;
}

static Temp temp(Build *b, Kind kind, bool cell) {
    vec_push(&b->tree->temps, ((TempInfo){.kind = kind, .cell = cell}));
    return b->tree->temps.len - 1;
}

static Stmt *stmt(Build *b, StmtKind kind, Temp dst, int nargs, const Temp *args) {
    Stmt *s = ARENA_NEW(b->arena, Stmt);
    *s = (Stmt){.kind = kind, .dst = dst, .nargs = nargs};
    s->args = nargs ? arena_copy(b->arena, args, sizeof *args * (size_t)nargs) : NULL;
    Block *block = b->open[b->depth];
    vec_push(&block->stmts, s);
    return s;
}

#define ARGS(...)                                                                                                                  \
    (int)(sizeof((Temp[]){__VA_ARGS__}) / sizeof(Temp)), (Temp[]) { __VA_ARGS__ }

static Temp arg(Build *b, int number) {
    Temp t = temp(b, b->func->inputs[number]->kind, false);
    stmt(b, ST_ARG, t, 0, NULL)->u.num = number;
    return t;
}

static Temp num(Build *b, int64_t v) {
    Temp t = temp(b, KIND_INT, false);
    stmt(b, ST_LIT, t, 0, NULL)->u.num = v;
    return t;
}

static Temp real(Build *b, double v) {
    Temp t = temp(b, KIND_DOUBLE, false);
    stmt(b, ST_LIT, t, 0, NULL)->u.real = v;
    return t;
}

static Temp op_kind(Build *b, Op op, Kind kind, Temp x, Temp y) {
    Temp t = temp(b, kind, false);
    stmt(b, ST_OP, t, y < 0 ? 1 : 2, (Temp[]){x, y})->op = op;
    return t;
}

static Temp op(Build *b, Op o, Temp x, Temp y) {
    return op_kind(b, o, op_info[o].type == T_CMP ? KIND_BOOL : b->tree->temps.data[x].kind, x, y);
}

static Buf *buf(Build *b, BufKind where, int number, Kind kind, int rank, const Temp *extent) {
    Buf *buf = ARENA_NEW(b->arena, Buf);
    *buf = (Buf){.id = b->tree->bufs.len, .where = where, .number = number, .kind = kind, .rank = rank};
    buf->extent = arena_copy(b->arena, extent, sizeof *extent * (size_t)rank);
    vec_push(&b->tree->bufs, buf);
    return buf;
}

static Buf *new_buf(Build *b, Kind kind, int rank, const Temp *extent) {
    Buf *result = buf(b, BUF_TEMP, 0, kind, rank, extent);
    stmt(b, ST_NEW, -1, 0, NULL)->buf = result;
    return result;
}

static Temp load(Build *b, Buf *from, int n, const Temp *index) {
    Temp t = temp(b, from->kind, false);
    stmt(b, ST_LOAD, t, n, index)->buf = from;
    return t;
}

static void store(Build *b, StmtKind kind, Buf *to, int n, const Temp *value_and_index) {
    stmt(b, kind, -1, n, value_and_index)->buf = to;
}

static Block *begin(Build *b) { return b->open[++b->depth] = ARENA_NEW(b->arena, Block); }
static void end(Build *b) { b->depth--; }

static Temp begin_for(Build *b, Temp n) {
    Temp i = temp(b, KIND_INT, false);
    Stmt *s = stmt(b, ST_FOR, i, ARGS(n));
    s->body = begin(b);
    return i;
}

static Temp cell(Build *b, Temp start) {
    Temp c = temp(b, b->tree->temps.data[start].kind, true);
    stmt(b, ST_CELL, c, ARGS(start));
    return c;
}

static Temp get(Build *b, Temp c) {
    Temp t = temp(b, b->tree->temps.data[c].kind, false);
    stmt(b, ST_GET, t, ARGS(c));
    return t;
}

static void set(Build *b, Temp c, Temp v) { stmt(b, ST_SET, c, ARGS(v)); }
static void out(Build *b, int number, Temp v) { stmt(b, ST_OUT, -1, ARGS(v))->u.num = number; }

static void check(Build *b, int code, const char *text, int n, const Temp *cond_and_values) {
    Stmt *s = stmt(b, ST_CHECK, -1, n, cond_and_values);
    s->u.check = ARENA_NEW(b->arena, CheckInfo);
    Source *src = ARENA_NEW(b->arena, Source);
    *src = (Source){"model.fsm", "one\ntwo\nthree\n", 14};
    *s->u.check = (CheckInfo){code, text, {src, 5, 6}};
}

// ---- compiling and judging

static const struct Mode {
    const char *name;
    int level;
    CpuFp fp;
    const char *cpu;
} modes[] = {{"O0", 0, CPU_FP_PRECISE, "baseline"},
             {"O1", 1, CPU_FP_CONTRACT, NULL},
             {"O2", 2, CPU_FP_CONTRACT, "native"},
             {"O3 fast", 3, CPU_FP_FAST, NULL}};
enum { MODES = sizeof modes / sizeof *modes };

static CpuModule *compile(Build *b, const struct Mode *mode) {
    CpuOptions opt = {.level = mode->level, .cpu = mode->cpu, .fp = mode->fp, .name = "test", .callable = true};
    return cpu_emit(b->arena, b->diag, 1, &b->tree, &opt);
}

static CpuJit *compile_jit(Build *b, const struct Mode *mode) {
    CpuModule *m = compile(b, mode);
    CpuJit *jit = m ? cpu_jit(m, b->diag) : NULL;
    if (!jit) {
        Str s = {0};
        diag_print(b->diag, &s, false);
        printf("# %s\n", str_text(&s));
        str_free(&s);
    }
    cpu_delete(m);
    return jit;
}

static char why[1024];

static bool fail(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    return false;
}

#define EXPECT(cond)                                                                                                               \
    do {                                                                                                                           \
        if (!(cond)) return fail("line %d: %s", __LINE__, #cond);                                                                  \
    } while (0)

static bool near(double x, double y, double tolerance) {
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return x == y || fabs(x - y) <= tolerance * fmax(fabs(x), fabs(y));
}

// Builds a tree, then judges its code in every mode. The entry is called "f".
typedef bool Judge(Build *b, CpuJit *jit, void *f, fsm_context *ctx);

static void run_test(const char *name, void (*make)(Build *b), Judge *judge) {
    Build b = build_start("f");
    make(&b);
    for (int i = 0; i < MODES; i++) {
        CpuJit *jit = compile_jit(&b, &modes[i]);
        fsm_context *ctx = fsm_context_new();
        if (jit && judge(&b, jit, cpu_jit_symbol(jit, "f"), ctx)) printf("ok %s %s\n", name, modes[i].name);
        else printf("not ok %s %s: %s\n", name, modes[i].name, jit ? why : "it does not compile");
        fsm_context_free(ctx);
        cpu_jit_delete(jit);
    }
    build_end(&b);
}

// ---- every operation

static const double reals[] = {0.0,  -0.0, 1.0,      -1.0, 0.5,   -0.5,   2.0,      3.0,       -2.5, 1e-3, 7.25,
                               11.5, 1e10, -3.75e15, 100,  1e300, 5e-324, INFINITY, -INFINITY, NAN,  0.3,  -0.7};
static const int64_t ints[] = {0, 1, -1, 2, 3, -3, 7, 10, -64, 64, 1000, INT64_MAX, INT64_MIN, INT64_MAX - 1, -2};
enum { REALS = sizeof reals / sizeof *reals, INTS = sizeof ints / sizeof *ints };

static Scalar sample(Kind k, int i) {
    Scalar s = {.i = 0};
    if (k == KIND_BOOL) s.i = i & 1;
    else if (k == KIND_INT) s.i = ints[i];
    else if (k == KIND_INT32) s.i = (int32_t)ints[i];
    else s.d = scalar_round(k, reals[i]);
    return s;
}

static int samples(Kind k) { return k == KIND_BOOL ? 2 : kind_is_float(k) ? REALS : INTS; }

static Tensor scalar_tensor(Arena *a, Kind k, Scalar s) {
    Tensor t = tensor_new(a, k, 0, NULL);
    if (k == KIND_BOOL) *(uint8_t *)t.data = (uint8_t)s.i;
    else if (k == KIND_INT) *(int64_t *)t.data = s.i;
    else if (k == KIND_INT32) *(int32_t *)t.data = (int32_t)s.i;
    else if (k == KIND_FLOAT) *(float *)t.data = (float)s.d;
    else *(double *)t.data = s.d;
    return t;
}

static Scalar tensor_value(const Tensor *t) {
    Scalar s;
    if (t->kind == KIND_BOOL) s.i = *(uint8_t *)t->data;
    else if (t->kind == KIND_INT) s.i = *(int64_t *)t->data;
    else if (t->kind == KIND_INT32) s.i = *(int32_t *)t->data;
    else s.d = t->kind == KIND_FLOAT ? (double)*(float *)t->data : *(double *)t->data;
    return s;
}

// Whether got is the value wanted. Functions of libm in single precision differ in the last place from rounded ones in
// double precision; fast arithmetic may contract and take reciprocals, and leaves the sign of zero open.
static bool same(Kind k, Scalar got, Scalar want, const struct Mode *mode) {
    if (!kind_is_float(k)) return got.i == want.i;
    return near(got.d, want.d, k == KIND_FLOAT ? 4 * FLT_EPSILON : mode->fp == CPU_FP_FAST ? 8 * DBL_EPSILON : 0);
}

typedef struct Signature {
    Kind x, y, result;
} Signature;

// The types of an operation on a kind, false if it has none.
static bool signature(Op op, Kind k, Signature *s) {
    *s = (Signature){k, k, k};
    switch (op_info[op].type) {
    case T_NUM: return k != KIND_BOOL && k != KIND_INT32;
    case T_FLT: return kind_is_float(k);
    case T_INT: return k == KIND_INT;
    case T_CMP: s->result = KIND_BOOL; return k != KIND_BOOL && k != KIND_INT32;
    case T_LOGIC: return k == KIND_BOOL;
    case T_FPOWI: s->y = KIND_INT; return kind_is_float(k);
    case T_PSI: s->x = KIND_INT; return kind_is_float(k);
    }
    return false;
}

static bool judge_op(Build *b, CpuJit *jit, Op o, const Signature *s, const struct Mode *mode) {
    bool one = op_info[o].arity == 1;
    Kind k = op_info[o].type == T_PSI ? s->y : s->x;
    for (int i = 0; i < samples(s->x); i++) {
        for (int j = 0; j < (one ? 1 : samples(s->y)); j++) {
            Scalar x = sample(s->x, i), y = sample(s->y, j);
            bool divides = o == OP_idiv || o == OP_irem;
            if (divides && !y.i) continue;
            if (o == OP_polygamma && (x.i > 1000 || x.i < 0)) continue;
            Scalar want = scalar_op(o, k, x, y);
            Tensor in[] = {scalar_tensor(b->arena, s->x, x), scalar_tensor(b->arena, s->y, y)}, result;
            const char *error = NULL;
            if (cpu_call(b->arena, jit, b->func, in, &result, &error)) return fail("%s", error);
            if (same(s->result, tensor_value(&result), want, mode)) continue;
            return fail("%s of samples %d, %d: got %.17g (%" PRId64 "), want %.17g", op_info[o].name, i, j, tensor_value(&result).d,
                        tensor_value(&result).i, want.d);
        }
    }
    return true;
}

static void test_op(Op o, Kind k) {
    Signature s;
    if (!signature(o, k, &s)) return;
    Build b = build_start("f");
    scalar_input(&b, "x", s.x);
    if (op_info[o].arity > 1) scalar_input(&b, "y", s.y);
    output(&b, s.result, 0, NULL);
    Temp x = arg(&b, 0), y = op_info[o].arity > 1 ? arg(&b, 1) : -1;
    out(&b, 0, op_kind(&b, o, s.result, x, y));
    for (int i = 0; i < MODES; i += i ? 1 : 2) {
        CpuJit *jit = compile_jit(&b, &modes[i]);
        if (jit && judge_op(&b, jit, o, &s, &modes[i])) printf("ok op %s %s %s\n", op_info[o].name, kind_name(k), modes[i].name);
        else printf("not ok op %s %s %s: %s\n", op_info[o].name, kind_name(k), modes[i].name, why);
        cpu_jit_delete(jit);
    }
    build_end(&b);
}

static bool judge_conv(Build *b, CpuJit *jit, Kind from, Kind to, const struct Mode *mode) {
    for (int i = 0; i < samples(from); i++) {
        Tensor in = scalar_tensor(b->arena, from, sample(from, i)), result;
        const char *error = NULL;
        if (cpu_call(b->arena, jit, b->func, &in, &result, &error)) return fail("%s", error);
        if (!same(to, tensor_value(&result), scalar_conv(from, to, sample(from, i)), mode))
            return fail("sample %d gives %.17g", i, tensor_value(&result).d);
    }
    return true;
}

static void test_conv(Kind from, Kind to) {
    Build b = build_start("f");
    scalar_input(&b, "x", from);
    output(&b, to, 0, NULL);
    Temp x = arg(&b, 0), r = temp(&b, to, false);
    stmt(&b, ST_CONV, r, ARGS(x));
    out(&b, 0, r);
    for (int i = 0; i < MODES; i += i ? 1 : 2) {
        CpuJit *jit = compile_jit(&b, &modes[i]);
        if (jit && judge_conv(&b, jit, from, to, &modes[i]))
            printf("ok conv %s %s %s\n", kind_name(from), kind_name(to), modes[i].name);
        else printf("not ok conv %s %s %s: %s\n", kind_name(from), kind_name(to), modes[i].name, why);
        cpu_jit_delete(jit);
    }
    build_end(&b);
}

// ---- literal exponents

static void make_powers(Build *b) {
    scalar_input(b, "x", KIND_DOUBLE);
    scalar_input(b, "z", KIND_FLOAT);
    Temp x = arg(b, 0), z = arg(b, 1);
    for (int k = -4; k <= 4; k++) out(b, output(b, KIND_DOUBLE, 0, NULL), op(b, OP_powi, x, num(b, k * k * k)));
    out(b, output(b, KIND_FLOAT, 0, NULL), op(b, OP_powi, z, num(b, -5)));
}

static bool judge_powers(Build *b, CpuJit *jit, void *f, fsm_context *ctx) {
    (void)f, (void)ctx;
    Tensor in[] = {scalar_tensor(b->arena, KIND_DOUBLE, (Scalar){.d = 1.25}),
                   scalar_tensor(b->arena, KIND_FLOAT, (Scalar){.d = 0.75})};
    Tensor result[10];
    const char *error;
    EXPECT(cpu_call(b->arena, jit, b->func, in, result, &error) == 0);
    for (int k = -4; k <= 4; k++) EXPECT(near(tensor_value(&result[k + 4]).d, fsm_powi(1.25, k * k * k), 1e-14));
    EXPECT(near(tensor_value(&result[9]).d, fsm_powi(0.75, -5), 1e-6));
    return true;
}

// ---- loops and arrays

// f(n, x[n], y[n]) = x·y
static void make_dot(Build *b) {
    Node *n = scalar_input(b, "n", KIND_INT);
    array_input(b, "x", KIND_DOUBLE, 1, &n);
    array_input(b, "y", KIND_DOUBLE, 1, &n);
    int o = output(b, KIND_DOUBLE, 0, NULL);
    Temp len = arg(b, 0);
    check(b, FSM_ERROR_SIZE, "size n is negative: %d", ARGS(op(b, OP_le, num(b, 0), len), len));
    Buf *x = buf(b, BUF_INPUT, 1, KIND_DOUBLE, 1, &len), *y = buf(b, BUF_INPUT, 2, KIND_DOUBLE, 1, &len);
    Temp sum = cell(b, real(b, 0));
    Temp i = begin_for(b, len);
    Temp product = op(b, OP_mul, load(b, x, ARGS(i)), load(b, y, ARGS(i)));
    set(b, sum, op(b, OP_add, get(b, sum), product));
    end(b);
    out(b, o, get(b, sum));
}

typedef int Dot(fsm_context *, int64_t, const double *, const double *, double *);

static bool judge_dot(Build *b, CpuJit *jit, void *f, fsm_context *ctx) {
    (void)b, (void)jit;
    Dot *dot = (Dot *)(uintptr_t)f;
    double x[37], y[37], got = -1, want = 0;
    for (int i = 0; i < 37; i++) x[i] = i + 0.5, y[i] = 1.0 / (i + 1), want += x[i] * y[i];
    EXPECT(dot(ctx, 37, x, y, &got) == 0 && near(got, want, 1e-14));
    EXPECT(dot(ctx, 37, x, x, &got) == 0); // inputs may be the same
    EXPECT(dot(ctx, 0, NULL, NULL, &got) == 0 && got == 0);
    EXPECT(dot(NULL, 37, x, y, &got) == FSM_ERROR_NO_CONTEXT);
    EXPECT(dot(ctx, -2, x, y, &got) == FSM_ERROR_SIZE);
    EXPECT(!strcmp(fsm_context_error(ctx), "model.fsm:2: size n is negative: -2"));
    EXPECT(dot(ctx, 37, x, NULL, &got) == FSM_ERROR_NULL);
    EXPECT(!strcmp(fsm_context_error(ctx), "argument 'y' is NULL: the address of Double[37] is expected"));
    EXPECT(dot(ctx, 37, x, y, NULL) == FSM_ERROR_NULL);
    EXPECT(!strcmp(fsm_context_error(ctx), "output 'out0' is NULL: the address of Double is expected"));
    EXPECT(dot(ctx, 37, x, y, &x[36]) == FSM_ERROR_OVERLAP);
    EXPECT(!strcmp(fsm_context_error(ctx), "output 'out0' overlaps argument 'x': Double begins 288 bytes after Double[37]; an "
                                           "output is expected to have memory of its own"));
    EXPECT(dot(ctx, 36, x, y, &x[36]) == 0);
    EXPECT(!strcmp(fsm_context_error(ctx), ""));
    return true;
}

// f(n, b, p: Bool, idx[n], v[n]) = (hist[b] of v at idx, count of negative v), adding only if p; idx is checked.
static void make_scatter(Build *b) {
    Node *n = scalar_input(b, "n", KIND_INT), *m = scalar_input(b, "b", KIND_INT);
    scalar_input(b, "p", KIND_BOOL);
    array_input(b, "idx", KIND_INT, 1, &n);
    array_input(b, "v", KIND_FLOAT, 1, &n);
    output(b, KIND_FLOAT, 1, &m);
    output(b, KIND_INT, 0, NULL);
    Temp len = arg(b, 0), bins = arg(b, 1), p = arg(b, 2);
    Buf *idx = buf(b, BUF_INPUT, 3, KIND_INT, 1, &len), *v = buf(b, BUF_INPUT, 4, KIND_FLOAT, 1, &len);
    Buf *hist = buf(b, BUF_OUTPUT, 0, KIND_FLOAT, 1, &bins);
    Temp zero = temp(b, KIND_FLOAT, false);
    stmt(b, ST_LIT, zero, 0, NULL);
    stmt(b, ST_FILL, -1, ARGS(zero))->buf = hist;
    Temp count = cell(b, num(b, 0)), i = begin_for(b, len);
    Temp k = load(b, idx, ARGS(i)), x = load(b, v, ARGS(i));
    Temp inside = op(b, OP_and, op(b, OP_le, num(b, 0), k), op(b, OP_lt, k, bins));
    check(b, FSM_ERROR_BOUNDS, "index %d is out of range [0, %d)", ARGS(inside, k, bins));
    Stmt *s = stmt(b, ST_IF, -1, ARGS(p));
    s->body = begin(b);
    store(b, ST_ADDTO, hist, ARGS(x, k));
    end(b);
    s->other = begin(b);
    set(b, count, op(b, OP_add, get(b, count), num(b, 1)));
    end(b);
    end(b);
    out(b, 1, get(b, count));
}

typedef int Scatter(fsm_context *, int64_t, int64_t, int, const int64_t *, const float *, float *, int64_t *);

static bool judge_scatter(Build *b, CpuJit *jit, void *f, fsm_context *ctx) {
    (void)b, (void)jit;
    Scatter *scatter = (Scatter *)(uintptr_t)f;
    int64_t idx[] = {0, 2, 2, 1, 2}, count;
    float v[] = {1, 2, 3, 4, 5};
    _Alignas(8) float hist[4];
    EXPECT(scatter(ctx, 5, 4, 1, idx, v, hist, &count) == 0);
    EXPECT(hist[0] == 1 && hist[1] == 4 && hist[2] == 10 && hist[3] == 0 && count == 0);
    EXPECT(scatter(ctx, 5, 4, 0, idx, v, hist, &count) == 0);
    EXPECT(hist[0] == 0 && hist[2] == 0 && count == 5);
    EXPECT(scatter(ctx, 5, 2, 0, idx, v, hist, &count) == FSM_ERROR_BOUNDS);
    EXPECT(!strcmp(fsm_context_error(ctx), "model.fsm:2: index 2 is out of range [0, 2)"));
    EXPECT(scatter(ctx, 5, 4, 1, idx, v, (float *)idx, &count) == FSM_ERROR_OVERLAP);
    EXPECT(scatter(ctx, 5, 4, 1, idx, v, hist, (int64_t *)(void *)&hist[2]) == FSM_ERROR_OVERLAP);
    EXPECT(!strcmp(fsm_context_error(ctx),
                   "output 'out1' overlaps output 'out0': Int begins 8 bytes after Float[4]; an output is expected to have "
                   "memory of its own"));
    return true;
}

// f(n, a[n][3]) = (rows reversed into out[n][3], flags[n]: first element positive) through scratch arrays per row.
static void make_rows(Build *b) {
    Node *shape[] = {scalar_input(b, "n", KIND_INT), ir_int(b->ir, 3)};
    array_input(b, "a", KIND_DOUBLE, 2, shape);
    output(b, KIND_DOUBLE, 2, shape);
    output(b, KIND_BOOL, 1, shape);
    Temp len = arg(b, 0), three = num(b, 3), ext[] = {len, three};
    Buf *a = buf(b, BUF_INPUT, 1, KIND_DOUBLE, 2, ext), *to = buf(b, BUF_OUTPUT, 0, KIND_DOUBLE, 2, ext);
    Buf *flags = buf(b, BUF_OUTPUT, 1, KIND_BOOL, 1, ext);
    Temp i = begin_for(b, len);
    Buf *row = new_buf(b, KIND_DOUBLE, 1, &three), *copy = new_buf(b, KIND_DOUBLE, 1, &three);
    Buf *big = new_buf(b, KIND_DOUBLE, 2, (Temp[]){len, three}); // as large as the argument, in every iteration
    stmt(b, ST_FILL, -1, ARGS(real(b, 2.0)))->buf = big;
    Temp j = begin_for(b, three);
    store(b, ST_STORE, row, ARGS(load(b, a, ARGS(i, j)), op(b, OP_sub, num(b, 2), j)));
    end(b);
    Stmt *s = stmt(b, ST_COPY, -1, 0, NULL);
    s->buf = copy, s->src = row;
    Temp k = begin_for(b, three);
    store(b, ST_STORE, to, ARGS(op(b, OP_mul, load(b, copy, ARGS(k)), load(b, big, ARGS(i, k))), i, k));
    end(b);
    store(b, ST_STORE, flags, ARGS(op(b, OP_lt, real(b, 0), load(b, a, ARGS(i, num(b, 0)))), i));
    end(b);
}

// f(n, x[n][3]) = (to[2][2][n][3], where to[a][b][i] is x[i] in each, flags[3][n]: x[i][k] is positive), three i at a time.
static void make_columns(Build *b) {
    Node *shape[] = {scalar_input(b, "n", KIND_INT), ir_int(b->ir, 3)};
    Node *wide[] = {ir_int(b->ir, 2), ir_int(b->ir, 2), shape[0], shape[1]}, *flags_shape[] = {shape[1], shape[0]};
    array_input(b, "x", KIND_DOUBLE, 2, shape);
    output(b, KIND_DOUBLE, 4, wide);
    output(b, KIND_BOOL, 2, flags_shape);
    Temp len = arg(b, 0), two = num(b, 2), three = num(b, 3);
    Buf *x = buf(b, BUF_INPUT, 1, KIND_DOUBLE, 2, (Temp[]){len, three});
    Buf *to = buf(b, BUF_OUTPUT, 0, KIND_DOUBLE, 4, (Temp[]){two, two, len, three});
    Buf *flags = buf(b, BUF_OUTPUT, 1, KIND_BOOL, 2, (Temp[]){three, len});
    Temp strip = begin_for(b, op(b, OP_idiv, op(b, OP_add, len, two), three)), first = op(b, OP_mul, strip, three);
    Temp here = op(b, OP_min, three, op(b, OP_sub, len, first));
    Buf *part = new_buf(b, KIND_DOUBLE, 4, (Temp[]){two, two, three, three});
    Buf *some = new_buf(b, KIND_BOOL, 2, (Temp[]){three, three});
    Temp j = begin_for(b, here), i = op(b, OP_add, first, j), k = begin_for(b, three), v = load(b, x, ARGS(i, k));
    Temp a = begin_for(b, two), c = begin_for(b, two);
    store(b, ST_STORE, part, ARGS(v, a, c, j, k));
    end(b);
    end(b);
    store(b, ST_STORE, some, ARGS(op(b, OP_lt, real(b, 0), v), k, j));
    end(b);
    end(b);
    Stmt *move = stmt(b, ST_MOVE, -1, ARGS(first, here));
    move->buf = to, move->src = part, move->u.num = 2;
    move = stmt(b, ST_MOVE, -1, ARGS(first, here));
    move->buf = flags, move->src = some, move->u.num = 1;
    end(b);
}

typedef int Columns(fsm_context *, int64_t, const double *, double *, uint8_t *);

static bool judge_columns(Build *b, CpuJit *jit, void *f, fsm_context *ctx) {
    (void)b, (void)jit;
    Columns *columns = (Columns *)(uintptr_t)f;
    enum { MOST = 70 };
    static double x[MOST][3], to[4 * MOST * 3];
    static uint8_t flags[3 * MOST];
    for (int i = 0; i < MOST; i++)
        for (int k = 0; k < 3; k++) x[i][k] = (i % 7 - 3) * (k + 1) + 0.5;
    for (int n = 0; n <= MOST; n += n < 8 ? 1 : 31) {
        memset(to, 0xff, sizeof to), memset(flags, 2, sizeof flags);
        EXPECT(columns(ctx, n, x[0], to, flags) == 0);
        for (int c = 0; c < 4; c++) EXPECT(!memcmp(to + (ptrdiff_t)c * n * 3, x, sizeof *x * (size_t)n));
        for (int k = 0; k < 3 * n; k++) EXPECT(flags[k] == (x[k % n][k / n] > 0));
    }
    return true;
}

typedef int Rows(fsm_context *, int64_t, const double *, double *, uint8_t *);

static bool judge_rows(Build *b, CpuJit *jit, void *f, fsm_context *ctx) {
    (void)b, (void)jit;
    Rows *rows = (Rows *)(uintptr_t)f;
    enum { N = 1000 };
    static double a[N][3], to[N][3];
    static uint8_t flags[N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 3; j++) a[i][j] = (i % 7 - 3) * (j + 1);
    EXPECT(rows(ctx, N, a[0], to[0], flags) == 0);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < 3; j++) EXPECT(to[i][j] == 2 * a[i][2 - j]);
        EXPECT(flags[i] == (a[i][0] > 0));
    }
    // Each iteration gives back its scratch: no more than one row's is ever held.
    EXPECT(fsm_context_peak_bytes(ctx) >= N * 24 && fsm_context_peak_bytes(ctx) < N * 24 + 256);
    return true;
}

// f(n) = number of steps of the Collatz sequence from n, with scratch in the loop that a break leaves behind.
static void make_while(Build *b) {
    scalar_input(b, "n", KIND_INT);
    output(b, KIND_INT, 0, NULL);
    Temp n = arg(b, 0), x = cell(b, n), steps = cell(b, num(b, 0)), two = num(b, 2), one = num(b, 1);
    Stmt *s = stmt(b, ST_LOOP, -1, 0, NULL);
    s->body = begin(b);
    Temp now = get(b, x);
    Buf *scratch = new_buf(b, KIND_INT, 1, (Temp[]){n});
    store(b, ST_STORE, scratch, ARGS(now, num(b, 0)));
    stmt(b, ST_BREAK, -1, ARGS(op(b, OP_ne, now, one)));
    Temp value = load(b, scratch, ARGS(num(b, 0)));
    Temp even = op(b, OP_eq, op(b, OP_irem, value, two), num(b, 0));
    Temp up = op(b, OP_add, op(b, OP_mul, num(b, 3), value), one), next = temp(b, KIND_INT, false);
    stmt(b, ST_SELECT, next, ARGS(even, op(b, OP_idiv, value, two), up));
    set(b, x, next);
    set(b, steps, op(b, OP_add, get(b, steps), one));
    end(b);
    out(b, 0, get(b, steps));
}

typedef int While(fsm_context *, int64_t, int64_t *);

static bool judge_while(Build *b, CpuJit *jit, void *f, fsm_context *ctx) {
    (void)b, (void)jit;
    While *collatz = (While *)(uintptr_t)f;
    int64_t steps;
    EXPECT(collatz(ctx, 27, &steps) == 0 && steps == 111);
    EXPECT(collatz(ctx, 1, &steps) == 0 && steps == 0);
    EXPECT(fsm_context_peak_bytes(ctx) <= 27 * 8 + 64);
    return true;
}

// ---- scratch memory

typedef struct Meter {
    int calls, live, fail_at;
} Meter;

static void *meter_alloc(size_t size, void *data) {
    Meter *m = data;
    if (++m->calls == m->fail_at) return NULL;
    m->live++;
    return malloc(size);
}

static void meter_release(void *memory, void *data) {
    ((Meter *)data)->live--;
    free(memory);
}

static bool judge_memory(Build *b, CpuJit *jit, void *f, fsm_context *unused) {
    (void)b, (void)jit, (void)unused;
    Rows *rows = (Rows *)(uintptr_t)f;
    enum { N = 20000 };
    static double a[N][3], to[N][3];
    static uint8_t flags[N];
    for (int k = 1; k <= 4; k++) { // every allocation fails once; then the next call works
        Meter meter = {.fail_at = k};
        fsm_context *ctx = fsm_context_new_with((fsm_allocator){meter_alloc, meter_release, &meter});
        if (k == 1) {
            EXPECT(!ctx);
            continue;
        }
        int code = rows(ctx, 3, a[0], to[0], flags);
        if (!code) code = rows(ctx, N / 8, a[0], to[0], flags);
        EXPECT(code == 0 || code == FSM_ERROR_MEMORY);
        EXPECT(!code || !strncmp(fsm_context_error(ctx), "out of memory: ", 15));
        EXPECT(rows(ctx, N / 8, a[0], to[0], flags) == 0);
        int calls = meter.calls;
        for (int i = 0; i < 3; i++) EXPECT(rows(ctx, N / 8, a[0], to[0], flags) == 0);
        EXPECT(meter.calls == calls); // the steady state
        fsm_context_free(ctx);
        EXPECT(meter.live == 0);
    }
    return true;
}

// f(n, m) allocates n × m × 8 doubles.
static void make_large(Build *b) {
    scalar_input(b, "n", KIND_INT);
    scalar_input(b, "m", KIND_INT);
    output(b, KIND_DOUBLE, 0, NULL);
    Temp n = arg(b, 0), ext[] = {n, arg(b, 1), num(b, 8)}, zero = num(b, 0);
    Buf *x = new_buf(b, KIND_DOUBLE, 3, ext);
    Stmt *s = stmt(b, ST_IF, -1, ARGS(op(b, OP_lt, zero, n)));
    s->body = begin(b);
    store(b, ST_STORE, x, ARGS(real(b, 4.5), zero, zero, zero));
    out(b, 0, load(b, x, ARGS(zero, zero, zero)));
    end(b);
}

typedef int Large(fsm_context *, int64_t, int64_t, double *);

static bool judge_large(Build *b, CpuJit *jit, void *f, fsm_context *ctx) {
    (void)b, (void)jit;
    Large *large = (Large *)(uintptr_t)f;
    double x = 0;
    EXPECT(large(ctx, 3, 5, &x) == 0 && x == 4.5);
    EXPECT(large(ctx, -3, INT64_MAX, &x) == 0);
    // At -O2 the array is optimised away together with its overflow; what remains must still be right.
    int code = large(ctx, INT64_C(1) << 40, INT64_C(1) << 40, &x);
    EXPECT(code == FSM_ERROR_MEMORY || (code == 0 && x == 4.5));
    if (code) EXPECT(!strcmp(fsm_context_error(ctx), "an intermediate array is too large to be addressed"));
    EXPECT(large(ctx, 3, 5, &x) == 0);
    return true;
}

static void test_arena(void) {
    fsm_context *ctx = fsm_context_new();
    bool ok = !fsm_alloc(ctx, -1, 8) && !fsm_alloc(ctx, INT64_MAX / 4, 8);
    char *last = NULL;
    for (int round = 0; round < 3 && ok; round++) {
        int64_t start = fsm_mark(ctx), kept[40];
        for (int i = 0; i < 40; i++) { // sizes that need new chunks again and again, released from the inside out
            kept[i] = fsm_mark(ctx);
            char *p = fsm_alloc(ctx, (INT64_C(1) << (i % 20)) + i, 1);
            ok &= p && (uintptr_t)p % 64 == 0 && p != last;
            memset(p, i, (size_t)((INT64_C(1) << (i % 20)) + i));
            last = p;
        }
        for (int i = 39; i >= 0; i--) fsm_release(ctx, kept[i]);
        ok &= fsm_mark(ctx) == start;
    }
    int64_t peak = fsm_context_peak_bytes(ctx);
    ok &= peak > 2 * ((1 << 20) - 1) && peak < 2 * (1 << 20) + 40 * 128;
    printf(ok ? "ok arena\n" : "not ok arena: wrong state\n");
    fsm_context_free(ctx);
}

// ---- cancelling

// f(n): a long loop of loops.
static void make_long(Build *b) {
    scalar_input(b, "n", KIND_INT);
    output(b, KIND_DOUBLE, 0, NULL);
    Temp n = arg(b, 0), x = cell(b, real(b, 0));
    begin_for(b, n);
    begin_for(b, n);
    set(b, x, op(b, OP_sin, op(b, OP_add, get(b, x), real(b, 1)), -1));
    end(b);
    end(b);
    out(b, 0, get(b, x));
}

typedef int Long(fsm_context *, int64_t, double *);

static bool judge_long(Build *b, CpuJit *jit, void *f, fsm_context *ctx) {
    (void)b, (void)jit;
    Long *slow = (Long *)(uintptr_t)f;
    double x;
    EXPECT(slow(ctx, 10, &x) == 0);
    fsm_context_cancel(ctx);
    EXPECT(slow(ctx, 10, &x) == FSM_ERROR_CANCELLED);
    EXPECT(!strcmp(fsm_context_error(ctx), "the call was cancelled"));
    EXPECT(slow(ctx, 10, &x) == 0);
    return true;
}

// ---- text

static bool contains(CpuModule *m, bool optimised, const char *word) {
    Str s = {0};
    cpu_print_llvm(m, &s, optimised);
    bool found = strstr(str_text(&s), word) != NULL;
    str_free(&s);
    return found;
}

static bool judge_text(Build *b) {
    make_dot(b);
    struct Mode precise = {"", 2, CPU_FP_PRECISE, "baseline"}, contract = {"", 2, CPU_FP_CONTRACT, "baseline"};
    CpuModule *m = compile(b, &precise), *n = compile(b, &contract);
    EXPECT(m && n);
    EXPECT(!contains(m, true, "fadd <"));      // the order of additions is kept,
    EXPECT(contains(n, true, "fadd reassoc")); // or free
    EXPECT(contains(n, true, " x double>"));
    EXPECT(contains(n, false, "define i32 @f(ptr %ctx, i64 %n, ptr"));
    Str s = {0};
    cpu_print_asm(n, &s);
    EXPECT(strstr(str_text(&s), "fsm_begin"));
    EXPECT(!strstr(str_text(&s), "fsm_is_free")); // a loop asks whether it is cancelled
    str_free(&s);
    EXPECT(!cpu_write_object(n, b->diag, "/nonexistent/x.o") && diag_errors(b->diag) == 1);
    const char *path = arena_printf(b->arena, "%s/cpu-test.o", getenv("FSMC_TEST_TMP") ? getenv("FSMC_TEST_TMP") : ".");
    EXPECT(cpu_write_object(n, b->diag, path));
    char magic[4] = {0};
    FILE *file = fopen(path, "rb");
    EXPECT(file && fread(magic, 1, 4, file) == 4);
    fclose(file);
    remove(path);
    cpu_delete(m);
    cpu_delete(n);
    return true;
}

static bool judge_header(Build *b) {
    Node *n = scalar_input(b, "n", KIND_INT), *k = scalar_input(b, "int", KIND_INT);
    Node *shape[] = {n, ir_op(b->ir, OP_idiv, ir_mul(b->ir, n, ir_sub(b->ir, n, ir_int(b->ir, 1))), ir_int(b->ir, 2))};
    array_input(b, "x'", KIND_DOUBLE, 2, shape);
    array_input(b, "x_prime", KIND_BOOL, 1, &k);
    scalar_input(b, "flag", KIND_BOOL);
    scalar_input(b, NULL, KIND_FLOAT);
    output(b, KIND_INT, 1, &n);
    b->func->nsizes = 2;
    b->func->doc = "The model. */ \\\nSecond line";
    Str s = {0};
    cpu_header(&s, "my-model", 1, &b->func);
    const char *want = "// The model. */ \\.\n"
                       "// Second line\n"
                       "// Sizes: n, int_.\n"
                       "// x_prime: double[n][(n*n - n)/2]\n"
                       "// x_prime_2: uint8_t[int_]\n"
                       "// out0: result, int64_t[n]\n"
                       "int f(fsm_context *ctx, int64_t n, int64_t int_, const double *x_prime, const uint8_t *x_prime_2, "
                       "int flag, float in5, int64_t *out0);\n";
    bool ok = strstr(str_text(&s), want) && strstr(str_text(&s), "#ifndef MY_MODEL_F_H\n");
    if (!ok) printf("# %s\n", str_text(&s));
    str_free(&s);
    EXPECT(ok);
    EXPECT(cpu_name_reserved("exp") && cpu_name_reserved("sqrtf") && cpu_name_reserved("fsm_x") && cpu_name_reserved("int"));
    EXPECT(cpu_name_reserved("f__call") && cpu_name_reserved("main") && !cpu_name_reserved("expected"));
    b->func->name = "sin";
    EXPECT(!compile(b, &modes[0]) && diag_errors(b->diag) == 1);
    return true;
}

static bool judge_processor(Build *b) {
    make_dot(b);
    struct Mode unknown = {"", 2, CPU_FP_CONTRACT, "i386"}, named = {"", 2, CPU_FP_CONTRACT, "haswell"};
    EXPECT(!compile(b, &unknown) && diag_errors(b->diag) == 1);
    CpuModule *m = compile(b, &named);
    EXPECT(m);
    Str s = {0};
    cpu_print_asm(m, &s);
    bool fused = strstr(str_text(&s), "vfmadd") != NULL;
    str_free(&s);
    cpu_delete(m);
    EXPECT(fused);
    return true;
}

static void test_once(const char *name, bool (*judge)(Build *b)) {
    Build b = build_start("f");
    if (judge(&b)) printf("ok %s\n", name);
    else printf("not ok %s: %s\n", name, why);
    build_end(&b);
}

int main(void) {
    for (int o = 0; o < OP_COUNT; o++)
        for (Kind k = KIND_BOOL; k <= KIND_DOUBLE && op_is_elementwise((Op)o); k++) test_op((Op)o, k);
    for (Kind from = KIND_BOOL; from <= KIND_DOUBLE; from++)
        for (Kind to = KIND_BOOL; to <= KIND_DOUBLE; to++)
            if ((from != KIND_INT32 && to != KIND_INT32) || from == KIND_INT || to == KIND_INT || from == to) test_conv(from, to);
    run_test("powers", make_powers, judge_powers);
    run_test("dot", make_dot, judge_dot);
    run_test("scatter", make_scatter, judge_scatter);
    run_test("rows", make_rows, judge_rows);
    run_test("columns", make_columns, judge_columns);
    run_test("while", make_while, judge_while);
    run_test("memory", make_rows, judge_memory);
    run_test("large", make_large, judge_large);
    run_test("cancel", make_long, judge_long);
    test_arena();
    test_once("text", judge_text);
    test_once("header", judge_header);
#if defined(__x86_64__)
    test_once("processor", judge_processor);
#endif
    return 0;
}
