// Arguments of a call: the first line is the function and words as on the command line, the rest is standard input.
// What is accepted fits the function's types, and is the same after it is printed and read again.
#define _POSIX_C_SOURCE 200809L
#include "driver/json.h"

#include "driver/args.h"
#include "fuzz/fuzz.h"
#include "ir/interp.h"

#include <string.h>

static const struct {
    const char *name, *text;
} functions[] = {
    {"scalars", "func scalars(a: f64, b: f32, i: i64, p: bool) { return }"},
    {"vector", "func vector(n: i64 size, x: f64[n]) { return }"},
    {"matrices", "func matrices(n: i64 size, m: i64 size, A: f64[n, m], k: i64, B: i64[m, (add n k)], p: bool[2]) { return }"},
    {"tuples", "func tuples(n: i64 size, a: f64, b: i64, c: f64[n], d: bool[n, 2]) {\n"
               "  param t: (f64, (i64))\n"
               "  param u: (f64, bool[2])[n]\n"
               "  return\n"
               "}"},
    {"nothing", "func nothing(n: i64 size, k: i64) {\n"
                "  param unit: ()\n"
                "  param units: ()[n]\n"
                "  param k: i64\n"
                "  return\n"
                "}"},
};

static const Func *find_function(FuzzInput *in, Ir *m, const char *name) {
    for (size_t k = 0; name && k < sizeof functions / sizeof *functions; k++) {
        if (strcmp(functions[k].name, name)) continue;
        Source text = {"functions", functions[k].text, strlen(functions[k].text)};
        int n;
        Func **f = ir_read(m, in->diag, &text, &n);
        FUZZ_CHECK(f && n == 1);
        return f[0];
    }
    return NULL;
}

// Reads the first line; *rest is what follows. NULL if it names no function.
static const Func *read_line(FuzzInput *in, Ir *m, Options *opt, Source *rest) {
    size_t len = strcspn(in->src->text, "\n"), used = len + (in->src->text[len] == '\n');
    char *line = arena_strndup(in->arena, in->src->text, len), *save = NULL;
    const Func *f = find_function(in, m, strtok_r(line, " ", &save));
    for (char *w; f && (w = strtok_r(NULL, " ", &save));) {
        const char *value = strchr(w, '=');
        if (value && value[1] != '@') vec_push(&opt->words, w); // as the command line has them; but no files
    }
    *rest = (Source){"<stdin>", in->src->text + used, in->src->len - used};
    return f;
}

static bool same_tensor(const Tensor *a, const Tensor *b) {
    if (a->kind != b->kind || a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    for (int64_t i = 0; i < tensor_count(a); i++) {
        double x = tensor_get(a, i), y = tensor_get(b, i);
        if (kind_is_float(a->kind) ? x != y && !(isnan(x) && isnan(y)) : tensor_get_int(a, i) != tensor_get_int(b, i)) return false;
    }
    return true;
}

static void set_lengths(JsonShape *s, const Tensor *leaf, int depth) {
    int first = 0;
    if (s->type->form == SIG_ARRAY && s->length < 0) s->length = sig_leaves(s->type) ? leaf->shape[depth] : 0;
    for (int i = 0; i < s->type->nparts; i++) {
        set_lengths(s->parts[i], leaf + first, depth + (s->type->form == SIG_ARRAY));
        first += sig_leaves(s->type->parts[i]);
    }
}

// Prints one argument and reads it again.
static void check_printed(FuzzInput *in, const SigParam *p, const Tensor *leaves) {
    Str out = {0};
    json_print(&out, p->type, leaves);
    Source src = {"printed", str_text(&out), out.len};
    json_t *j = json_parse(in->diag, &src);
    FUZZ_CHECK(j);
    JsonShape *shape = json_measure(in->arena, in->diag, (Span){NULL, 0, 0}, p->name, p->type, j);
    FUZZ_CHECK(shape);
    set_lengths(shape, leaves, 0);
    Tensor *back = ARENA_ARRAY(in->arena, Tensor, p->count + 1);
    json_leaves(in->arena, shape, j, back);
    for (int k = 0; k < p->count; k++) FUZZ_CHECK(same_tensor(&leaves[k], &back[k]));
    json_decref(j);
    str_free(&out);
}

static void check_arguments(FuzzInput *in, const Func *f, const Tensor *args) {
    const char *error = NULL;
    Tensor none;
    int code = func_prepare(in->arena, f, args, &none, &error); // it compares all shapes with the types
    FUZZ_CHECK(!code == !error);
    for (int k = 0; k < f->ninputs; k++) FUZZ_CHECK(args[k].kind == f->inputs[k]->kind);
    for (int k = 0; k < f->nparams; k++) check_printed(in, &f->params[k], args + f->params[k].first);
}

void fuzz_json(const uint8_t *data, size_t size) {
    FuzzInput in = fuzz_open("input", data, size);
    Options opt;
    options_init(&opt);
    opt.file = "program";
    Compilation *c = compile_new(&opt);
    Ir *m = ir_new(in.arena);
    Source rest;
    const Func *f = read_line(&in, m, &opt, &rest);
    if (f) {
        const Tensor *args = args_read_piece(c, f, (Span){&rest, 0, (uint32_t)rest.len});
        FUZZ_CHECK(!args == (diag_errors(c->diag) > 0));
        if (args) check_arguments(&in, f, args);
        fuzz_check_messages(c->diag);
    }
    ir_delete(m);
    compile_delete(c);
    options_free(&opt);
    fuzz_close(&in);
}
