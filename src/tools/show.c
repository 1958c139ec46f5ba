#include "tools/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 20, HEAD = 10, TAIL = 3 }; // elements of an array that are shown

static int leaf_count(const SigType *t) {
    if (t->form == SIG_SCALAR) return 1;
    int n = 0;
    for (int i = 0; i < t->nparts; i++) n += leaf_count(t->parts[i]);
    return n;
}

static void number(Str *out, const Tensor *t, int64_t i) {
    if (t->kind == KIND_BOOL) {
        str_puts(out, tensor_get_int(t, i) ? "true" : "false");
    } else if (!kind_is_float(t->kind)) {
        str_printf(out, "%lld", (long long)tensor_get_int(t, i));
    } else if (t->kind == KIND_FLOAT) {
        char text[40];
        snprintf(text, sizeof text, "%.9g", tensor_get(t, i));
        bool whole = !text[strcspn(text, ".en")];
        str_printf(out, "%s%s", text, whole ? ".0" : "");
    } else {
        double x = tensor_get(t, i);
        if (x == (double)(int64_t)fmax(-1e15, fmin(x, 1e15))) str_printf(out, "%.1f", x);
        else str_double(out, x);
    }
}

static void value(Str *out, const SigType *type, const Tensor *leaves, int depth, int64_t at);

static void elements(Str *out, const SigType *type, const Tensor *leaves, int depth, int64_t at) {
    int64_t n = leaf_count(type) ? leaves->shape[depth] : 0;
    str_puts(out, n ? "[| " : "[||]");
    for (int64_t i = 0; i < n; i++) {
        if (i) str_puts(out, "; ");
        if (n > LONGEST && i == HEAD) {
            str_puts(out, "...");
            i = n - TAIL - 1;
            continue;
        }
        value(out, type->parts[0], leaves, depth + 1, at * n + i);
    }
    if (n) str_puts(out, " |]");
}

static void value(Str *out, const SigType *type, const Tensor *leaves, int depth, int64_t at) {
    if (type->form == SIG_SCALAR) {
        number(out, leaves, at);
    } else if (type->form == SIG_ARRAY) {
        elements(out, type, leaves, depth, at);
    } else {
        str_putc(out, '(');
        for (int i = 0; i < type->nparts; i++) {
            if (i) str_puts(out, ", ");
            value(out, type->parts[i], leaves, depth, at);
            leaves += leaf_count(type->parts[i]);
        }
        str_putc(out, ')');
    }
}

void show_value(Str *out, const SigType *type, const Tensor *leaves) { value(out, type, leaves, 0, 0); }

static void extents(Str *out, const SigType *type, const Tensor *leaves, int depth) {
    for (; type->form == SIG_ARRAY; type = type->parts[0], depth++) {
        bool known = type->extent && type->extent->op == OP_lit;
        if (leaves && leaf_count(type)) str_printf(out, "[%lld]", (long long)leaves->shape[depth]);
        else if (known) str_printf(out, "[%lld]", (long long)type->extent->u.num);
        else str_puts(out, "[]");
    }
}

static void type_at(Str *out, const SigType *type, const Tensor *leaves, int depth, bool inner) {
    if (type->form == SIG_SCALAR) {
        str_puts(out, kind_info[type->kind].fsm);
    } else if (type->form == SIG_ARRAY) {
        const SigType *element = type;
        int below = depth;
        for (; element->form == SIG_ARRAY; element = element->parts[0]) below++;
        type_at(out, element, leaves, below, true);
        extents(out, type, leaves, depth);
    } else if (!type->nparts) {
        str_puts(out, "()");
    } else {
        if (inner) str_putc(out, '(');
        for (int i = 0; i < type->nparts; i++) {
            if (i) str_puts(out, " * ");
            type_at(out, type->parts[i], leaves, depth, true);
            if (leaves) leaves += leaf_count(type->parts[i]);
        }
        if (inner) str_putc(out, ')');
    }
}

void show_type(Str *out, const SigType *type, const Tensor *leaves) { type_at(out, type, leaves, 0, false); }
