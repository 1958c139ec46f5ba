#include "driver/json.h"

#include "ir/interp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sig_leaves(const SigType *type) {
    if (type->form == SIG_SCALAR) return 1;
    int n = 0;
    for (int i = 0; i < type->nparts; i++) n += sig_leaves(type->parts[i]);
    return n;
}

static json_t *parse(Diag *diag, const Source *text, size_t begin, size_t len) {
    const size_t flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES;
    const char *first = text->text + begin, *zero = memchr(first, 0, len);
    if (zero) {
        uint32_t at = (uint32_t)(zero - text->text);
        if (diag) diag_error(diag, (Span){text, at, at + 1}, "this is not JSON: it has a zero byte");
        return NULL;
    }
    json_error_t e;
    json_t *j = json_loadb(first, len, flags, &e);
    // An integer that does not fit into 64 bits is still a number.
    if (!j && json_error_code(&e) == json_error_numeric_overflow)
        j = json_loadb(first, len, flags | JSON_DECODE_INT_AS_REAL, &e);
    if (j || !diag) return j;
    uint32_t end = e.position < 0 ? 0 : (uint32_t)e.position, from = (uint32_t)begin;
    diag_error(diag, (Span){text, from + (end ? end - 1 : 0), from + end}, "this is not JSON: %s", e.text);
    return NULL;
}

json_t *json_parse(Diag *diag, const Source *text) { return parse(diag, text, 0, text->len); }

json_t *json_parse_piece(Diag *diag, Span at) { return parse(diag, at.src, at.begin, at.end - at.begin); }

// ---- from JSON

// Where a value is: the positions on the way to it, innermost first.
typedef struct Path {
    const struct Path *outer;
    size_t index;
} Path;

typedef struct Measure {
    Arena *arena;
    Diag *diag;
    Span at;          // of the call
    const char *name; // of the argument
} Measure;

static void print_path(Str *out, const Path *p) {
    if (!p) return;
    print_path(out, p->outer);
    str_printf(out, "[%zu]", p->index);
}

static const char *path_text(const Measure *m, const Path *p) {
    Str s = {0};
    str_puts(&s, m->name);
    print_path(&s, p);
    const char *text = arena_strdup(m->arena, str_text(&s));
    str_free(&s);
    return text;
}

// A JSON value in a message: short ones as they are.
static const char *shown(Arena *a, const json_t *j) {
    enum { SHOWN = 40 };
    if (json_is_array(j)) {
        size_t n = json_array_size(j);
        return arena_printf(a, "an array of %zu", n);
    }
    if (json_is_object(j)) return "an object";
    char *text = json_dumps(j, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    if (!text) return "a value";
    const char *s = arena_strndup(a, text, strlen(text) > SHOWN ? SHOWN : strlen(text));
    if (strlen(text) > SHOWN) s = arena_printf(a, "%s…", s);
    free(text);
    return s;
}

static bool mismatch(const Measure *m, const Path *p, const char *expected, const json_t *got) {
    diag_error(m->diag, m->at, "argument `%s`: expected %s, got %s", path_text(m, p), expected, shown(m->arena, got));
    return false;
}

// A string that stands for a number that JSON cannot write.
static bool non_finite(const char *s, double *x) {
    if (!strcmp(s, "NaN")) *x = NAN;
    else if (!strcmp(s, "Infinity")) *x = INFINITY;
    else if (!strcmp(s, "-Infinity")) *x = -INFINITY;
    else return false;
    return true;
}

// Whether a decimal number of at most 15 digits is x: such a number is not changed by reading it as a Double.
static bool few_digits(double x) {
    char text[40];
    snprintf(text, sizeof text, "%.15g", x);
    return strtod(text, NULL) == x;
}

// False if j is not a value of the kind.
static bool read_scalar(const json_t *j, Kind kind, Scalar *out) {
    switch (kind) {
    case KIND_BOOL: out->i = json_is_true(j); return json_is_boolean(j);
    case KIND_INT:
    case KIND_INT32: {
        double x = json_is_real(j) ? json_real_value(j) : 0;
        bool exact = fabs(x) < 0x1p53 || (fabs(x) < 0x1p63 && few_digits(x)); // else it may have been rounded
        out->i = json_is_integer(j) ? (int64_t)json_integer_value(j) : exact ? (int64_t)x : 0;
        if (kind == KIND_INT32 && out->i != (int32_t)out->i) return false;
        return json_is_integer(j) || (json_is_real(j) && exact && x == (double)out->i);
    }
    default:
        if (json_is_string(j)) return non_finite(json_string_value(j), &out->d);
        out->d = json_number_value(j);
        return json_is_number(j);
    }
}

static JsonShape *new_shape(Arena *a, const SigType *type) {
    JsonShape *s = ARENA_NEW(a, JsonShape);
    *s = (JsonShape){.type = type, .length = -1, .parts = ARENA_ARRAY(a, JsonShape *, type->nparts + 1)};
    for (int i = 0; i < type->nparts; i++) s->parts[i] = new_shape(a, type->parts[i]);
    return s;
}

static bool measure(const Measure *m, JsonShape *s, const json_t *j, const Path *p) {
    static const char *const scalars[] = {"true or false", "an integer", "an integer of 32 bits", "a number", "a number"};
    const SigType *t = s->type;
    Scalar x;
    if (t->form == SIG_SCALAR) return read_scalar(j, t->kind, &x) || mismatch(m, p, scalars[t->kind], j);
    size_t n = json_array_size(j);
    if (t->form == SIG_TUPLE) {
        if (!json_is_array(j) || n != (size_t)t->nparts)
            return mismatch(m, p, arena_printf(m->arena, "a tuple, an array of %d", t->nparts), j);
    } else if (!json_is_array(j)) {
        return mismatch(m, p, "an array", j);
    } else if (s->length < 0) {
        s->length = (int64_t)n;
        s->first = path_text(m, p);
    } else if (s->length != (int64_t)n) {
        return mismatch(m, p, arena_printf(m->arena, "an array of %lld like `%s`", (long long)s->length, s->first), j);
    }
    for (size_t i = 0; i < n; i++) {
        Path inner = {p, i};
        if (!measure(m, s->parts[t->form == SIG_TUPLE ? i : 0], json_array_get(j, i), &inner)) return false;
    }
    return true;
}

JsonShape *json_measure(Arena *a, Diag *diag, Span at, const char *name, const SigType *type, const json_t *value) {
    Measure m = {a, diag, at, name};
    JsonShape *s = new_shape(a, type);
    return measure(&m, s, value, NULL) ? s : NULL;
}

enum { MAX_RANK = UINT8_MAX };

static void make_leaves(Arena *a, const JsonShape *s, int rank, int64_t *extents, Tensor **next) {
    if (s->type->form == SIG_SCALAR) {
        *(*next)++ = tensor_new(a, s->type->kind, rank, extents);
        return;
    }
    if (s->type->form == SIG_ARRAY) extents[rank++] = s->length;
    for (int i = 0; i < s->type->nparts; i++) make_leaves(a, s->parts[i], rank, extents, next);
}

// Stores j as element number `at` of each of the leaves.
static void fill(const JsonShape *s, const json_t *j, int64_t at, Tensor *leaves) {
    if (s->type->form == SIG_SCALAR) {
        Scalar x = {.i = 0};
        read_scalar(j, s->type->kind, &x);
        tensor_put(leaves, at, x);
    } else if (s->type->form == SIG_ARRAY) {
        for (int64_t i = 0; i < s->length; i++) fill(s->parts[0], json_array_get(j, (size_t)i), at * s->length + i, leaves);
    } else {
        for (int i = 0; i < s->type->nparts; i++) {
            fill(s->parts[i], json_array_get(j, (size_t)i), at, leaves);
            leaves += sig_leaves(s->type->parts[i]);
        }
    }
}

void json_leaves(Arena *a, const JsonShape *shape, const json_t *value, Tensor *leaves) {
    int64_t extents[MAX_RANK + 1];
    Tensor *next = leaves;
    make_leaves(a, shape, 0, extents, &next);
    fill(shape, value, 0, leaves);
}

// ---- to JSON

static void print_real(Str *out, double x) {
    if (isnan(x)) {
        str_puts(out, "\"NaN\"");
    } else if (isinf(x)) {
        str_puts(out, x < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    } else {
        char text[40];
        snprintf(text, sizeof text, "%.17g", x);
        str_puts(out, text);
        if (!strpbrk(text, ".e")) str_puts(out, ".0");
    }
}

static void print_scalar(Str *out, const Tensor *t, int64_t at) {
    if (t->kind == KIND_BOOL) str_puts(out, tensor_get_int(t, at) ? "true" : "false");
    else if (!kind_is_float(t->kind)) str_printf(out, "%lld", (long long)tensor_get_int(t, at));
    else print_real(out, tensor_get(t, at));
}

static void print_value(Str *out, const SigType *type, const Tensor *leaves, int depth, int64_t at) {
    if (type->form == SIG_SCALAR) {
        print_scalar(out, leaves, at);
        return;
    }
    str_putc(out, '[');
    if (type->form == SIG_ARRAY) {
        int64_t n = sig_leaves(type) ? leaves->shape[depth] : 0;
        for (int64_t i = 0; i < n; i++) {
            if (i) str_puts(out, ", ");
            print_value(out, type->parts[0], leaves, depth + 1, at * n + i);
        }
    } else {
        for (int i = 0; i < type->nparts; i++) {
            if (i) str_puts(out, ", ");
            print_value(out, type->parts[i], leaves, depth, at);
            leaves += sig_leaves(type->parts[i]);
        }
    }
    str_putc(out, ']');
}

void json_print(Str *out, const SigType *type, const Tensor *leaves) {
    print_value(out, type, leaves, 0, 0);
    str_putc(out, '\n');
}
