// The reader of textual IR, with and without rules: what it accepts passes the verifier, is printed as a text that
// reads back as the same nodes and is printed the same, and can be interpreted.
#include "fuzz/fuzz.h"
#include "ir/interp.h"

#include <string.h>

enum { MOST_ELEMENTS = 4096, MOST_STEPS = 20000 };

static void print_all(Str *out, Func *const *fs, int n) {
    for (int i = 0; i < n; i++) ir_print(out, fs[i]);
}

static bool same_funcs(Func *const *a, Func *const *b, int n) {
    for (int i = 0; i < n; i++) {
        if (a[i]->noutputs != b[i]->noutputs || a[i]->nchecks != b[i]->nchecks) return false;
        for (int k = 0; k < a[i]->noutputs; k++)
            if (a[i]->outputs[k] != b[i]->outputs[k]) return false;
        for (int k = 0; k < a[i]->nchecks; k++)
            if (a[i]->checks[k].cond != b[i]->checks[k].cond) return false;
    }
    return true;
}

// ---- interpretation, with all sizes and integers `size`

static bool evaluate(const Node *e, const Tensor *inputs, int64_t *out) {
    int64_t x[2] = {0};
    if (e->op == OP_lit) return *out = e->u.num, true;
    if (e->op == OP_input) return *out = tensor_get_int(&inputs[e->u.num], 0), true;
    if (!op_is_elementwise(e->op) || e->op == OP_idiv || e->op == OP_irem) return false;
    for (int k = 0; k < e->nargs; k++)
        if (e->args[k]->kind != KIND_INT || !evaluate(e->args[k], inputs, &x[k])) return false;
    *out = scalar_op(e->op, KIND_INT, (Scalar){.i = x[0]}, (Scalar){.i = x[1]}).i;
    return true;
}

// False if its shape is not known or too large.
static bool make_input(Arena *a, const Node *e, Tensor *inputs, int64_t size) {
    int64_t shape[UINT8_MAX + 1] = {0}, count = 1;
    for (int d = 0; d < e->rank; d++) {
        if (!evaluate(e->shape[d], inputs, &shape[d]) || shape[d] < 0 || shape[d] > MOST_ELEMENTS) return false;
        count *= shape[d];
        if (count > MOST_ELEMENTS) return false;
    }
    Tensor *t = &inputs[e->u.num];
    *t = tensor_new(a, e->kind, e->rank, shape);
    for (int64_t i = 0; i < count; i++)
        tensor_put(t, i, kind_is_float(e->kind) ? (Scalar){.d = 0.5 + (double)(i % 7)} : (Scalar){.i = size});
    return true;
}

static void interpret(Arena *a, const Func *f, int64_t size) {
    Tensor *inputs = ARENA_ARRAY(a, Tensor, f->ninputs + 1), *outputs = ARENA_ARRAY(a, Tensor, f->noutputs + 1);
    for (int arrays = 0; arrays < 2; arrays++) // their extents may mention any scalar
        for (int k = 0; k < f->ninputs; k++)
            if ((f->inputs[k]->rank > 0) == arrays && !make_input(a, f->inputs[k], inputs, size)) return;
    const char *error = NULL;
    int code = interp_run_as(a, f, inputs, outputs, (InterpMode){.limit = MOST_STEPS}, NULL, &error);
    FUZZ_CHECK(!code == !error);
    for (int k = 0; k < f->noutputs && !code; k++)
        FUZZ_CHECK(outputs[k].kind == f->outputs[k]->kind && outputs[k].rank == f->outputs[k]->rank);
}

// ---- the target

void fuzz_check_functions(FuzzInput *in, Ir *m, Func **fs, int n) {
    if (!n) return; // a program without entries
    for (int i = 0; i < n; i++) ir_verify(fs[i]);
    Str once = {0}, twice = {0};
    print_all(&once, fs, n);
    Source printed = {"printed", str_text(&once), once.len};
    int again;
    Func **back = ir_read(m, in->diag, &printed, &again);
    if (!back) fuzz_show(in->diag, &once);
    FUZZ_CHECK(back && again == n);
    FUZZ_CHECK(same_funcs(fs, back, n));
    print_all(&twice, back, n);
    FUZZ_CHECK(!strcmp(str_text(&once), str_text(&twice)));
    for (int i = 0; i < n; i++)
        for (int64_t size = 0; size < 3; size += 2) interpret(in->arena, fs[i], size);
    str_free(&once), str_free(&twice);
}

static bool read_with(const uint8_t *data, size_t size, bool raw) {
    FuzzInput in = fuzz_open("input.ir", data, size);
    Ir *m = ir_new(in.arena);
    m->raw = raw;
    int n = 0;
    Func **fs = ir_read(m, in.diag, in.src, &n);
    FUZZ_CHECK(!fs == (diag_errors(in.diag) > 0));
    if (fs) fuzz_check_functions(&in, m, fs, n);
    ir_delete(m);
    fuzz_close(&in);
    return fs != NULL;
}

void fuzz_ir(const uint8_t *data, size_t size) {
    if (read_with(data, size, true)) read_with(data, size, false);
}
