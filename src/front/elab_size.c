// Elaboration: sizes, how they are compared and named in messages.
#include "front/elab_internal.h"

// ---- text

const char *size_text(Elab *el, Node *e) {
    Str s = {0};
    ir_print_size(&s, e);
    const char *text = arena_strdup(el->arena, str_text(&s));
    str_free(&s);
    return text;
}

// ---- comparison

SizeEq size_compare(Elab *el, Node *a, Node *b) {
    if (a == b) return SIZE_EQUAL;
    Poly d = poly_add(el->m, poly_of(el->m, a), poly_scale(el->m, poly_of(el->m, b), -1));
    int64_t v;
    if (!poly_const(d, &v)) return SIZE_UNKNOWN;
    return v ? SIZE_DIFFERENT : SIZE_EQUAL;
}

bool size_nonnegative(Elab *el, Node *e) { return e->nonneg || poly_nonneg(el->m, poly_of(el->m, e)); }

// The text of a size with a place for its value, unless it is that value.
static const char *with_value(Elab *el, Node *e, const char *text, Node **values, int *n) {
    if (e->op == OP_lit) return text;
    values[(*n)++] = e;
    return arena_printf(el->arena, "%s = %%d", text);
}

void size_require(Elab *el, const Core *at, Span span, const char *what, Node *a, Node *b, int n, Node **value) {
    SizeEq eq = size_compare(el, a, b);
    if (eq == SIZE_EQUAL) return;
    const char *left = size_text(el, a), *right = size_text(el, b);
    if (eq == SIZE_DIFFERENT && !el->guarded) {
        elab_error(el, at, span, "%s: %s and %s", what, left, right);
        return;
    }
    Node *values[2];
    int count = 0;
    left = with_value(el, a, left, values, &count);
    right = with_value(el, b, right, values, &count);
    const char *text = arena_printf(el->arena, "%s: %s and %s", what, left, right);
    Node *same = eq == SIZE_DIFFERENT ? ir_bool(el->m, false) : ir_eq(el->m, a, b);
    for (int i = 0; i < n; i++) value[i] = ir_assert_values(el->m, same, text, value[i], count, values);
}

void size_same_shape(Elab *el, const Core *at, Span span, const char *what, Value x, Value y) {
    for (int i = 0; i < x.n && i < y.n; i++)
        for (int k = 0; k < x.leaf[i]->rank && k < y.leaf[i]->rank; k++)
            size_require(el, at, span, what, x.leaf[i]->shape[k], y.leaf[i]->shape[k], 1, &x.leaf[i]);
}
