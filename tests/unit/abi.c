// Everything a caller can do wrong with the entries of tests/abi/mixed.fsm, through both forms of the entry: each is a
// test. The code is the right one, the text names the argument, what is expected and what is given, the arguments are
// untouched, and the next valid call gives the right values.
#include "cpu/cpu.h"
#include "driver/compile.h"
#include "driver/file.h"
#include "fsmc/runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3, K = 2, INPUTS = 6, ARRAYS = 8, MAX_RANK = 2, ROOM = 64 };

typedef int Mixed(fsm_context *, int64_t, int64_t, const void *, const void *, const void *, const void *, const void *,
                  const void *, double, int64_t, int, void *, void *, void *);
typedef int MixedGeneral(fsm_context *, const fsm_view *, const fsm_view *, const fsm_view *, const fsm_view *, const fsm_view *,
                         const fsm_view *, double, int64_t, int, const fsm_view *, const fsm_view *, void *);
typedef int Sizes(fsm_context *, int64_t, int64_t, const void *, const void *, const void *, const void *, const void *,
                  const void *, double, int64_t, int, int64_t *, int64_t *, int64_t *);
typedef int Packed(fsm_context *, int64_t, const double *, double *);
typedef int PackedGeneral(fsm_context *, int64_t, const fsm_view *, const fsm_view *);

static const struct {
    const char *name, *type;
    int kind, rank, size;
    char dims[MAX_RANK]; // 'n', 'k'
} arrays[ARRAYS] = {{"x", "Double", FSM_DOUBLE, 1, 8, "n"},     {"m", "Float", FSM_FLOAT, 2, 4, "nk"},
                    {"b", "Bool", FSM_BOOL, 1, 1, "k"},         {"is", "Int32", FSM_INT32, 1, 4, "n"},
                    {"p_0", "Double", FSM_DOUBLE, 1, 8, "k"},   {"p_1", "Int", FSM_INT, 1, 8, "k"},
                    {"out0", "Double", FSM_DOUBLE, 2, 8, "nk"}, {"out1", "Float", FSM_FLOAT, 1, 4, "k"}};

typedef struct Args {
    int64_t n, k, j;
    double c;
    int t;
    void *data[ARRAYS];
    int64_t *out2;
    fsm_view view[ARRAYS];
    const fsm_view *views[ARRAYS];
    int64_t shape[ARRAYS][MAX_RANK + 1], strides[ARRAYS][MAX_RANK + 1];
} Args;

static union {
    double align;
    char bytes[ROOM];
} memory[ARRAYS], before[ARRAYS];
static int64_t out2;
static Mixed *mixed;
static MixedGeneral *general;
static Sizes *sizes_of;
static Packed *packed;
static PackedGeneral *packed_general;
static fsm_context *ctx;
static int failures, count;

// ---- calls

static void fill(void) {
    double x[N] = {1, 2, 3}, p0[K] = {7, 8};
    float m[N * K] = {1, 2, 3, 4, 5, 6};
    unsigned char b[K] = {1, 0};
    int32_t is[N] = {10, 20, 30};
    int64_t p1[K] = {1, 2};
    const void *from[INPUTS] = {x, m, b, is, p0, p1};
    const size_t size[INPUTS] = {sizeof x, sizeof m, sizeof b, sizeof is, sizeof p0, sizeof p1};
    memset(memory, 0, sizeof memory);
    for (int i = 0; i < INPUTS; i++) memcpy(memory[i].bytes, from[i], size[i]);
    memcpy(before, memory, sizeof before);
}

static Args valid(void) {
    Args a = {.n = N, .k = K, .j = 1, .c = 2, .t = 1, .out2 = &out2};
    for (int i = 0; i < ARRAYS; i++) {
        a.data[i] = memory[i].bytes;
        for (int r = 0; r < arrays[i].rank; r++) a.shape[i][r] = arrays[i].dims[r] == 'n' ? N : K;
        for (int r = arrays[i].rank - 1, s = arrays[i].size; r >= 0; s *= (int)a.shape[i][r--]) a.strides[i][r] = s;
    }
    return a;
}

// The views show what the arguments have become; called when the arguments are in place.
static void show(Args *a) {
    for (int i = 0; i < ARRAYS; i++) {
        a->view[i] = (fsm_view){a->data[i], arrays[i].kind, arrays[i].rank, a->shape[i], a->strides[i]};
        a->views[i] = &a->view[i];
    }
}

static int call(const Args *a, bool views) {
    void *const *d = a->data;
    const fsm_view *const *v = a->views;
    if (views) return general(ctx, v[0], v[1], v[2], v[3], v[4], v[5], a->c, a->j, a->t, v[6], v[7], a->out2);
    return mixed(ctx, a->n, a->k, d[0], d[1], d[2], d[3], d[4], d[5], a->c, a->j, a->t, d[6], d[7], a->out2);
}

static const char *wrong_values(void) {
    const double want0[] = {2, 8, 4, 8, 6, 8};
    const float want1[] = {6, 8};
    if (memcmp(memory[6].bytes, want0, sizeof want0) || memcmp(memory[7].bytes, want1, sizeof want1)) return "values";
    return out2 == 20 + 7 + 3 ? NULL : "the scalar";
}

static void report(const char *name, const char *why) {
    count++;
    if (!why) {
        printf("ok abi %s\n", name);
        return;
    }
    printf("not ok abi %s: %s; the text is \"%s\"\n", name, why, fsm_context_error(ctx));
    failures++;
}

// The next call with valid arguments, in both forms.
static const char *recovers(void) {
    for (int views = 0; views < 2; views++) {
        Args a = valid();
        show(&a);
        memset(memory[6].bytes, 0, ROOM), memset(memory[7].bytes, 0, ROOM), out2 = 0;
        if (call(&a, views)) return "the next call fails";
        if (wrong_values()) return "the next call gives wrong values";
        if (*fsm_context_error(ctx)) return "the next call has an error text";
    }
    return NULL;
}

static void expect(const char *name, const Args *a, bool views, int code, const char *who, const char *wanted, const char *given) {
    char title[120];
    static char why[300];
    snprintf(title, sizeof title, "%s%s", views ? "general: " : "", name);
    int got = call(a, views);
    const char *text = fsm_context_error(ctx);
    const char *problem = NULL;
    if (got != code) {
        snprintf(why, sizeof why, "%s is expected, got %s", fsm_code_name(code), fsm_code_name(got));
        problem = why;
    } else if (!strstr(text, who) || !strstr(text, wanted) || !strstr(text, given)) {
        snprintf(why, sizeof why, "the text is expected to have \"%s\", \"%s\" and \"%s\"", who, wanted, given);
        problem = why;
    } else if (memcmp(memory, before, INPUTS * sizeof *memory)) {
        problem = "an argument was changed";
    } else {
        problem = recovers();
    }
    fill();
    report(title, problem);
}

#define NAME(...) (snprintf(name, sizeof name, __VA_ARGS__), name)

static const char *quoted(int i) {
    static char text[2][40];
    static int turn;
    turn = !turn;
    snprintf(text[turn], sizeof *text, "%s '%s'", i < INPUTS ? "argument" : "output", arrays[i].name);
    return text[turn];
}

// "Double[3][2]", as it ought to be.
static const char *shape_text(int i, int64_t n, int64_t k) {
    static char text[2][100];
    static int turn;
    turn = !turn;
    int len = snprintf(text[turn], sizeof *text, "%s", arrays[i].type);
    for (int r = 0; r < arrays[i].rank; r++)
        len += snprintf(text[turn] + len, sizeof *text - (size_t)len, "[%" PRId64 "]", arrays[i].dims[r] == 'n' ? n : k);
    return text[turn];
}

// ---- what is wrong in both forms

static void pointers(void) {
    char name[100];
    for (int views = 0; views < 2; views++) {
        for (int i = 0; i < ARRAYS; i++) {
            Args a = valid();
            a.data[i] = NULL;
            show(&a);
            expect(NAME("%s is NULL", arrays[i].name), &a, views, FSM_ERROR_NULL, quoted(i), shape_text(i, N, K), "NULL");
        }
        Args a = valid();
        a.out2 = NULL;
        show(&a);
        expect("out2 is NULL", &a, views, FSM_ERROR_NULL, "output 'out2'", "expected", "NULL");
    }
    for (int i = 0; i < ARRAYS; i++)
        for (int off = 1; off < arrays[i].size; off += arrays[i].size - 2) {
            Args a = valid();
            char given[40], wanted[40];
            a.data[i] = memory[i].bytes + off;
            snprintf(given, sizeof given, "%d bytes past", off);
            snprintf(wanted, sizeof wanted, "multiple of %d", arrays[i].size);
            expect(NAME("%s is misaligned by %d", arrays[i].name, off), &a, false, FSM_ERROR_ALIGN, quoted(i), wanted, given);
        }
}

static void overlaps(void) {
    char name[100];
    for (int views = 0; views < 2; views++)
        for (int i = INPUTS; i < ARRAYS; i++)
            for (int j = 0; j < i; j++) {
                Args a = valid();
                a.data[i] = a.data[j];
                show(&a);
                expect(NAME("%s is %s", arrays[i].name, arrays[j].name), &a, views, FSM_ERROR_OVERLAP, quoted(i), quoted(j),
                       "memory of its own");
            }
    for (int j = 0; j < ARRAYS; j++) {
        if (arrays[j].size < 8) continue;
        Args a = valid();
        a.out2 = a.data[j];
        expect(NAME("out2 in %s", arrays[j].name), &a, false, FSM_ERROR_OVERLAP, "output 'out2'", quoted(j), "0 bytes after");
    }
}

static void sizes(void) {
    char name[100], given[60];
    static const int64_t bad[] = {-1, -3, INT64_MIN, INT64_MIN / 8, -INT64_C(4294967296)};
    static const int64_t huge[] = {INT64_MAX, INT64_MAX / 8 + 1, INT64_C(1) << 61, INT64_C(1) << 62};
    for (int which = 0; which < 2; which++) {
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            Args a = valid();
            *(which ? &a.k : &a.n) = bad[i];
            snprintf(given, sizeof given, "%" PRId64, bad[i]);
            expect(NAME("%c is %s", which ? 'k' : 'n', given), &a, false, FSM_ERROR_NEGATIVE, which ? "size `k`" : "size `n`",
                   "cannot be negative", given);
        }
        for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
            Args a = valid();
            *(which ? &a.k : &a.n) = huge[i];
            snprintf(given, sizeof given, "[%" PRId64 "]", huge[i]);
            expect(NAME("%c is %" PRId64, which ? 'k' : 'n', huge[i]), &a, false, FSM_ERROR_OVERFLOW,
                   which ? "argument 'm'" : "argument 'x'", "9223372036854775807 bytes are expected", given);
        }
    }
    Args a = valid();
    a.n = a.k = INT64_C(1) << 32;
    expect("n and k are 2^32", &a, false, FSM_ERROR_OVERFLOW, "argument 'm'", "bytes are expected", "[4294967296][4294967296]");
    a.n = INT64_C(1) << 31, a.k = INT64_C(1) << 30;
    expect("the product is 2^61", &a, false, FSM_ERROR_OVERFLOW, "argument 'm'", "bytes are expected", "[2147483648][1073741824]");
}

static void program(void) {
    for (int views = 0; views < 2; views++) {
        static const int64_t far[] = {3, -1, INT64_MAX, INT64_MIN};
        char name[100], given[60];
        for (int i = 0; i < 4; i++) {
            Args a = valid();
            show(&a);
            a.j = far[i];
            snprintf(given, sizeof given, "index %" PRId64, far[i]);
            expect(NAME("j is %" PRId64, far[i]), &a, views, FSM_ERROR_BOUNDS, given, "3 elements", "out of range");
        }
        Args a = valid();
        show(&a);
        a.j = 0;
        expect("j is 0", &a, views, FSM_ERROR_DIVIDE, "mixed.fsm:3", "division", "zero");
        a.j = 1, a.c = 100;
        expect("c is 100", &a, views, FSM_ERROR_ASSERT, "mixed.fsm:3", "c is below 100", "");
        fsm_context_cancel(ctx);
        a.c = 2;
        expect("cancelled", &a, views, FSM_ERROR_CANCELLED, "cancelled", "", "");
    }
}

// ---- what is wrong with views

static void views(void) {
    char name[100], wanted[60], given[60];
    for (int i = 0; i < ARRAYS; i++) {
        Args a = valid();
        show(&a), a.views[i] = NULL;
        expect(NAME("no view %s", arrays[i].name), &a, true, FSM_ERROR_NULL, quoted(i), "expected", "the view is NULL");
        show(&a), a.view[i].shape = NULL;
        expect(NAME("no shape of %s", arrays[i].name), &a, true, FSM_ERROR_NULL, quoted(i), "expected", "the shape is NULL");
        for (int by = -1; by <= 1; by += 2) {
            show(&a), a.view[i].rank += by;
            snprintf(given, sizeof given, "has rank %d", arrays[i].rank + by);
            snprintf(wanted, sizeof wanted, "rank %d is expected", arrays[i].rank);
            expect(NAME("%s of rank %d", arrays[i].name, arrays[i].rank + by), &a, true, FSM_ERROR_RANK, quoted(i), wanted, given);
        }
        for (int type = -1; type <= FSM_DOUBLE + 1; type++) {
            if (type == arrays[i].kind) continue;
            show(&a), a.view[i].type = type;
            snprintf(given, sizeof given, "(%d)", type);
            snprintf(wanted, sizeof wanted, "%s (%d) is expected", arrays[i].type, arrays[i].kind);
            expect(NAME("%s of type %d", arrays[i].name, type), &a, true, FSM_ERROR_TYPE, quoted(i), wanted, given);
        }
        for (int r = 0; r < arrays[i].rank; r++) {
            a = valid();
            show(&a), a.shape[i][r] = -2;
            expect(NAME("extent %d of %s is -2", r, arrays[i].name), &a, true, FSM_ERROR_NEGATIVE, quoted(i), "at least 0", "[-2]");
            if (i == 0 || (i == 1 && r == 1)) continue; // these bind the sizes
            show(&a), a.shape[i][r] = 5;
            expect(NAME("extent %d of %s is 5", r, arrays[i].name), &a, true, FSM_ERROR_SIZE, quoted(i), shape_text(i, N, K),
                   "[5]");
        }
        a = valid();
        if (arrays[i].size == 1) continue;
        show(&a), a.strides[i][0] = INT64_MAX;
        expect(NAME("stride of %s overflows", arrays[i].name), &a, true, FSM_ERROR_OVERFLOW, quoted(i), shape_text(i, N, K),
               "at most");
    }
    for (int i = INPUTS; i < ARRAYS; i++)
        for (int r = 0; r < arrays[i].rank; r++) {
            Args a = valid();
            show(&a), a.strides[i][r] = 0;
            expect(NAME("stride %d of %s is 0", r, arrays[i].name), &a, true, FSM_ERROR_STRIDE, quoted(i), "a place for each",
                   " 0");
            show(&a), a.strides[i][r] = 2;
            expect(NAME("stride %d of %s is 2", r, arrays[i].name), &a, true, FSM_ERROR_STRIDE, quoted(i), "a place for each",
                   " 2");
        }
    Args a = valid();
    show(&a), a.shape[0][0] = INT64_MAX;
    expect("x has INT64_MAX elements", &a, true, FSM_ERROR_OVERFLOW, "argument 'x'", "at most", "[9223372036854775807]");
}

static void contexts(void) {
    Args a = valid();
    show(&a);
    fsm_context *good = ctx, *freed = fsm_context_new();
    fsm_context_free(freed);
    fsm_context *bad[] = {NULL, freed, (fsm_context *)(void *)memory, (fsm_context *)(uintptr_t)8};
    for (int i = 0; i < 8; i++) {
        ctx = bad[i / 2];
        int code = call(&a, i % 2), want = i < 2 ? FSM_ERROR_NO_CONTEXT : FSM_ERROR_BAD_CONTEXT;
        bool told = strstr(fsm_context_error(ctx), "fsm_context_new made");
        ctx = good;
        char name[60];
        report(NAME("%scontext %d", i % 2 ? "general: " : "", i / 2), code != want ? "the code" : !told ? "the text" : recovers());
    }
}

// ---- what is right

static void strided(void) {
    // Everything column-major or backwards or with gaps.
    double x[3] = {3, 2, 1}, out0[12] = {0};
    float m[6] = {1, 3, 5, 2, 4, 6}, out1[4] = {0};
    Args a = valid();
    show(&a);
    a.view[0].data = &x[2], a.strides[0][0] = -8;
    a.view[1].data = m, a.strides[1][0] = 4, a.strides[1][1] = 12;
    a.view[6].data = out0, a.strides[6][0] = 16, a.strides[6][1] = 48;
    a.view[7].data = &out1[3], a.strides[7][0] = -8;
    out2 = 0;
    int code = call(&a, true);
    const double want0[12] = {2, 0, 4, 0, 6, 0, 8, 0, 8, 0, 8, 0};
    report("general: strides", code                                           ? "an error"
                               : memcmp(out0, want0, sizeof out0)             ? "a strided result"
                               : out1[3] != 6 || out1[1] != 8 || out1[0] != 0 ? "a reversed result"
                               : out2 != 30                                   ? "a scalar"
                                                                              : NULL);
    double one = 4, same[6] = {0}, both[12] = {0};
    a = valid();
    show(&a);
    a.view[0].data = &one, a.strides[0][0] = 0; // one element for all
    a.view[6].data = both, a.strides[6][0] = 32, a.strides[6][1] = 8;
    a.view[4].data = &both[2], a.strides[4][0] = 32; // another column of the same matrix
    both[2] = 7, both[6] = 8;
    code = call(&a, true);
    report("general: columns of one matrix",
           code || both[0] != 8 || both[1] != 8 || both[5] != 8 || both[2] != 7 ? "an error or a wrong value" : NULL);
    a = valid();
    show(&a);
    memcpy(same, memory[0].bytes, 24);
    char odd[25];
    memcpy(odd + 1, same, 24);
    a.view[0].data = odd + 1; // misaligned: copied
    code = call(&a, true);
    report("general: a misaligned argument", code ? "an error" : wrong_values());
    fill();
}

static void empty(void) {
    for (int views = 0; views < 2; views++) {
        Args a = valid();
        a.k = 0;
        for (int i = 0; i < ARRAYS; i++)
            for (int r = 0; r < arrays[i].rank; r++)
                if (arrays[i].dims[r] == 'k') a.data[i] = NULL, a.shape[i][r] = 0;
        show(&a);
        out2 = 0;
        int code = call(&a, views);
        report(views ? "general: k is 0" : "k is 0", code ? "an error" : out2 != 27 ? "a wrong value" : recovers());
        a = valid();
        a.n = 0;
        for (int i = 0; i < ARRAYS; i++)
            if (arrays[i].dims[0] == 'n') a.data[i] = NULL, a.shape[i][0] = 0;
        show(&a);
        expect("n is 0", &a, views, FSM_ERROR_BOUNDS, "index", "0 elements", "out of range");
    }
}

static void queries(void) {
    Args a = valid();
    int64_t d[3] = {0};
    int code = sizes_of(ctx, N, K, a.data[0], a.data[1], a.data[2], a.data[3], a.data[4], a.data[5], 2, 1, 1, &d[0], &d[1], &d[2]);
    report("sizes", code || d[0] != N || d[1] != K || d[2] != K ? "wrong" : NULL);
    code = sizes_of(ctx, -1, K, a.data[0], a.data[1], a.data[2], a.data[3], a.data[4], a.data[5], 2, 1, 1, &d[0], &d[1], &d[2]);
    report("sizes of a negative size", code != FSM_ERROR_NEGATIVE ? "the code" : recovers());
    double in[3] = {1, 2, 3}, out[4];
    report("packed", packed(ctx, 2, in, out) || out[3] != 4 ? "wrong" : NULL);
    report("packed: d is negative", packed(ctx, -1, in, out) != FSM_ERROR_NEGATIVE ? "the code" : recovers());
    report("packed: d*(d + 1)/2 wraps", packed(ctx, INT64_C(1) << 40, in, out) != FSM_ERROR_OVERFLOW ? "the code" : recovers());
    int64_t shape[] = {4}, out_shape[] = {2, 2};
    fsm_view v = {in, FSM_DOUBLE, 1, shape, NULL}, w = {out, FSM_DOUBLE, 2, out_shape, NULL};
    code = packed_general(ctx, 2, &v, &w);
    bool told = strstr(fsm_context_error(ctx), "argument 'a' has shape Double[4]: Double[3] is expected");
    report("packed: a is too long", code != FSM_ERROR_SIZE || !told ? "the code or the text" : recovers());
    shape[0] = 3;
    report("packed: general", packed_general(ctx, 2, &v, &w) || out[3] != 4 ? "wrong" : NULL);
}

// ---- the whole

static int run(void *data) {
    (void)data;
    const char *root = getenv("FSMC_ROOT");
    Options o;
    options_init(&o);
    Compilation *c = compile_new(&o);
    FuncList funcs;
    Source *src = file_read(c->arena, c->diag, arena_printf(c->arena, "%s/tests/abi/mixed.fsm", root ? root : "../.."));
    CpuModule *m = NULL;
    if (src && compile_load(c, src) && compile_funcs(c, false, &funcs)) {
        compile_passes(c, &funcs, true);
        m = compile_module(c, funcs, compile_trees(c, funcs), false);
    }
    CpuJit *jit = m ? cpu_jit(m, c->diag) : NULL;
    if (jit) {
        mixed = (Mixed *)(uintptr_t)cpu_jit_symbol(jit, "mixed");
        general = (MixedGeneral *)(uintptr_t)cpu_jit_symbol(jit, "mixed_general");
        sizes_of = (Sizes *)(uintptr_t)cpu_jit_symbol(jit, "mixed_sizes");
        packed = (Packed *)(uintptr_t)cpu_jit_symbol(jit, "packed");
        packed_general = (PackedGeneral *)(uintptr_t)cpu_jit_symbol(jit, "packed_general");
    }
    ctx = fsm_context_new();
    fill();
    if (ctx && mixed && general && sizes_of && packed && packed_general) {
        void (*const groups[])(void) = {pointers, overlaps, sizes, program, views, contexts, strided, empty, queries};
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) groups[i]();
        report("at least 150 wrong calls", count < 150 ? "there are fewer" : NULL);
    } else {
        printf("not ok abi: it does not compile\n");
        failures++;
    }
    fsm_context_free(ctx);
    cpu_jit_delete(jit);
    cpu_delete(m);
    compile_delete(c);
    options_free(&o);
    return failures;
}

int main(void) {
    int result = 1;
    if (compile_guarded(run, NULL, &result)) printf("not ok abi: a broken invariant\n");
    return result > 0;
}
