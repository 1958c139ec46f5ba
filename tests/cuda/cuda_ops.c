// Every elementwise operation, as CUDA code writes it (the column `cuda` of ir/ops.def), against ir/scalar.h.
#define _POSIX_C_SOURCE 200809L
#include "cuda/print.h"
#include "ir/scalar.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double reals[] = {0.0, -0.0, 1.0,   -1.0,  0.3,    -0.7,     2.5,       -3.5,
                               4.0, 1e-3, 30.25, 1e300, -1e300, INFINITY, -INFINITY, NAN};
static const int64_t ints[] = {0, 1, -1, 2, 3, -5, 7, 40, INT64_MAX, INT64_MIN, INT64_MAX - 1};

typedef void Function(const void *x, const void *y, void *r);

// The kinds of the operands and of the result, if the first operand that decides is of this kind.
static bool kinds_of(Op op, Kind kind, Kind *x, Kind *y, Kind *r) {
    OpType t = op_info[op].type;
    *x = t == T_PSI ? KIND_INT : kind, *y = t == T_FPOWI ? KIND_INT : kind, *r = t == T_CMP ? KIND_BOOL : kind;
    return op_accepts(op, *x, *y);
}

static void print_function(Str *out, Arena *a, Op op, Kind kind) {
    Kind x, y, r;
    if (!kinds_of(op, kind, &x, &y, &r)) return;
    const char *first = arena_printf(a, "*static_cast<const %s *>(a)", cuda_type(x)),
               *second = arena_printf(a, "*static_cast<const %s *>(b)", cuda_type(y));
    str_printf(out, "extern \"C\" void op_%s_%s(const void *a, const void *b, void *r) { (void)b; *static_cast<%s *>(r) = %s; }\n",
               op_info[op].name, kind_name(kind), cuda_type(r), expr_op(a, op, kind, first, second));
}

static void print_conversion(Str *out, Arena *a, Kind to, Kind from) {
    const char *x = arena_printf(a, "*static_cast<const %s *>(a)", cuda_type(from));
    str_printf(out, "extern \"C\" void conv_%s_%s(const void *a, const void *, void *r) { *static_cast<%s *>(r) = %s; }\n",
               kind_name(to), kind_name(from), cuda_type(to), expr_conv(a, to, from, x));
}

// A value in memory as C++ has it.
typedef union Cell {
    double d;
    float f;
    int64_t i;
    int32_t j;
    bool b;
} Cell;

static Cell cell_of(Kind k, Scalar s) {
    Cell c = {.i = 0};
    if (k == KIND_DOUBLE) c.d = s.d;
    else if (k == KIND_FLOAT) c.f = (float)s.d;
    else if (k == KIND_INT) c.i = s.i;
    else if (k == KIND_INT32) c.j = (int32_t)s.i;
    else c.b = s.i != 0;
    return c;
}

static Scalar sample(Kind k, int i) {
    Scalar s = {.i = 0};
    if (kind_is_float(k)) s.d = scalar_round(k, reals[i % (int)(sizeof reals / sizeof *reals)]);
    else if (k == KIND_BOOL) s.i = i & 1;
    else s.i = ints[i % (int)(sizeof ints / sizeof *ints)];
    if (k == KIND_INT32) s.i = (int32_t)s.i;
    return s;
}

static int samples(Kind k) {
    return kind_is_float(k) ? (int)(sizeof reals / sizeof *reals) : k == KIND_BOOL ? 2 : (int)(sizeof ints / sizeof *ints);
}

static bool agree(Kind k, Scalar want, Cell got) {
    if (k == KIND_INT) return got.i == want.i;
    if (k == KIND_INT32) return got.j == (int32_t)want.i;
    if (k == KIND_BOOL) return got.b == (want.i != 0);
    double g = k == KIND_FLOAT ? (double)got.f : got.d, tolerance = k == KIND_FLOAT ? 1e-5 : 1e-14;
    if (isnan(g) || isnan(want.d)) return isnan(g) && isnan(want.d);
    if (g == want.d) return true;
    bool edge = k == KIND_FLOAT && (fabs(g) > 1e38 || fabs(want.d) > 1e38 || fabs(want.d) < 1e-37); // rounded at another place
    return edge || fabs(g - want.d) <= tolerance * fabs(want.d);
}

static int check_op(Arena *a, void *library, Op op, Kind kind) {
    Kind x, y, r;
    if (!kinds_of(op, kind, &x, &y, &r)) return 0;
    const char *name = arena_printf(a, "op_%s_%s", op_info[op].name, kind_name(kind));
    Function *f = (Function *)(uintptr_t)dlsym(library, name);
    if (!f) return printf("not ok %s: it is not there\n", name), 1;
    for (int i = 0; i < samples(x); i++)
        for (int k = 0; k < (op_info[op].arity > 1 ? samples(y) : 1); k++) {
            Scalar p = sample(x, i), q = sample(y, k);
            if ((op == OP_idiv || op == OP_irem) && q.i == 0) continue; // a check stands before it
            if (op == OP_polygamma && (p.i < 0 || p.i > 50)) continue;
            if (kind == KIND_FLOAT && op_info[op].cost >= op_info[OP_exp].cost && fabs(p.d) > 100) continue;
            Cell cx = cell_of(x, p), cy = cell_of(y, q), got = {.i = 0};
            f(&cx, &cy, &got);
            Scalar want = scalar_op(op, kind, p, q);
            if (agree(r, want, got)) continue;
            printf("not ok %s: at samples %d and %d it is %g, not %g\n", name, i, k, r == KIND_FLOAT ? (double)got.f : got.d,
                   want.d);
            return 1;
        }
    printf("ok %s\n", name);
    return 0;
}

static int check_conversion(Arena *a, void *library, Kind to, Kind from) {
    const char *name = arena_printf(a, "conv_%s_%s", kind_name(to), kind_name(from));
    Function *f = (Function *)(uintptr_t)dlsym(library, name);
    for (int i = 0; i < samples(from); i++) {
        Scalar p = sample(from, i);
        Cell x = cell_of(from, p), got = {.i = 0};
        f(&x, NULL, &got);
        if (agree(to, scalar_conv(from, to, p), got)) continue;
        printf("not ok %s: at sample %d\n", name, i);
        return 1;
    }
    printf("ok %s\n", name);
    return 0;
}

static bool converts(Kind to, Kind from) {
    return to != from && (to != KIND_INT32 || from == KIND_INT) && (to != KIND_BOOL || from != KIND_INT32);
}

int main(void) {
    static const Kind kinds[] = {KIND_DOUBLE, KIND_FLOAT, KIND_INT, KIND_BOOL, KIND_INT32};
    Arena *a = arena_new();
    const char *root = getenv("FSMC_ROOT"), *folder = getenv("FSMC_TEST_TMP"), *compiler = getenv("FSMC_CXX");
    const char *base = arena_printf(a, "%s/ops", folder ? folder : "/tmp");
    Str text = {0};
    str_puts(&text, "#include <fsmc/cuda_grid.h>\n");
    for (int op = 0; op < OP_COUNT; op++)
        for (int k = 0; k < 4; k++)
            if (op_is_elementwise((Op)op)) print_function(&text, a, (Op)op, kinds[k]);
    for (int to = 0; to < 5; to++)
        for (int from = 0; from < 5; from++)
            if (converts(kinds[to], kinds[from])) print_conversion(&text, a, kinds[to], kinds[from]);
    FILE *f = fopen(arena_printf(a, "%s.cu", base), "w");
    bool ok = f && fwrite(text.data, 1, text.len, f) == text.len;
    if (f) ok &= !fclose(f);
    str_free(&text);
    ok =
        ok && !system(arena_printf(a, "%s -std=c++17 -O1 -Wall -Wextra -Werror -shared -fPIC -I '%s/include' -x c++ %s.cu -o %s.so",
                                   compiler ? compiler : "c++", root ? root : "../..", base, base));
    void *library = ok ? dlopen(arena_printf(a, "%s.so", base), RTLD_NOW) : NULL;
    int failures = !library;
    if (!library) printf("not ok compiling: %s\n", ok ? dlerror() : "it fails");
    for (int op = 0; library && op < OP_COUNT; op++)
        for (int k = 0; k < 4; k++)
            if (op_is_elementwise((Op)op)) failures += check_op(a, library, (Op)op, kinds[k]);
    for (int to = 0; library && to < 5; to++)
        for (int from = 0; from < 5; from++)
            if (converts(kinds[to], kinds[from])) failures += check_conversion(a, library, kinds[to], kinds[from]);
    arena_free(a);
    return failures > 0;
}
