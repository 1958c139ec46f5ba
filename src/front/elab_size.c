// Elaboration: sizes, how they are compared and named in messages.
#include "front/elab_internal.h"

#include <string.h>

// ---- text

const char *size_text(Elab *el, Node *e) {
    Str s = {0};
    ir_print_size(&s, e);
    const char *text = arena_strdup(el->arena, str_text(&s));
    str_free(&s);
    return text;
}

bool size_is_plain(const Node *e) {
    if (e->op == OP_lit || e->op == OP_input || e->op == OP_var) return true;
    bool shown = e->op == OP_add || e->op == OP_sub || e->op == OP_mul || e->op == OP_idiv || e->op == OP_irem ||
                 e->op == OP_neg || e->op == OP_min || e->op == OP_max;
    for (int i = 0; i < e->nargs; i++) shown = shown && size_is_plain(e->args[i]);
    return shown;
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

void size_require(Elab *el, const Core *at, Span span, const char *what, Node *a, Node *b, int n, Node **value) {
    SizeEq eq = size_compare(el, a, b);
    if (eq == SIZE_EQUAL) return;
    const char *left = size_text(el, a), *right = size_text(el, b);
    if (eq == SIZE_DIFFERENT && !el->guarded) {
        elab_error(el, at, span, "%s: %s and %s", what, left, right);
        return;
    }
    const char *text = strcmp(left, right) ? arena_printf(el->arena, "%s: %s and %s", what, left, right) : what;
    Node *same = eq == SIZE_DIFFERENT ? ir_bool(el->m, false) : ir_eq(el->m, a, b);
    for (int i = 0; i < n; i++) value[i] = ir_assert(el->m, same, text, value[i]);
}

void size_same_shape(Elab *el, const Core *at, Span span, const char *what, Value x, Value y) {
    for (int i = 0; i < x.n && i < y.n; i++)
        for (int k = 0; k < x.leaf[i]->rank && k < y.leaf[i]->rank; k++)
            size_require(el, at, span, what, x.leaf[i]->shape[k], y.leaf[i]->shape[k], 1, &x.leaf[i]);
}
