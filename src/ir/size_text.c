// Sizes and other values as messages name them.
#include "ir/ir.h"

enum { PREC_SUM = 6, PREC_PRODUCT = 7, PREC_UNARY = 8 };

static void print_size(Str *s, Node *e, int outer);

static void print_infix(Str *s, Node *a, const char *op, Node *b, int prec, int outer) {
    if (prec < outer) str_putc(s, '(');
    print_size(s, a, prec);
    str_puts(s, op);
    print_size(s, b, prec + 1);
    if (prec < outer) str_putc(s, ')');
}

// What no expression on sizes can say: where it is in the source.
static void print_place(Str *s, const Node *e) {
    Arena *a = arena_new();
    const char *text = diag_quote(a, e->span);
    if (*text) str_puts(s, "the value of `");
    for (const char *c = text; *c; c++) {
        str_putc(s, *c);
        if (*c == '%' && c[1] != ' ') str_putc(s, ' '); // texts of checks have places for values like %d
    }
    str_puts(s, *text ? "`" : "a computed size");
    arena_free(a);
}

// Prints a + b, as a difference where b is negative.
static void print_sum(Str *s, Node *a, Node *b, int outer) {
    int64_t v;
    Node *minus = b->op == OP_neg                                ? b->args[0]
                  : b->op == OP_mul && ir_is_lit(b->args[0], -1) ? b->args[1]
                  : b->op == OP_mul && ir_is_lit(b->args[1], -1) ? b->args[0]
                                                                 : NULL;
    if (minus) {
        print_infix(s, a, " - ", minus, PREC_SUM, outer);
    } else if (ir_is_int_lit(b, &v) && v < 0 && v != INT64_MIN) {
        if (PREC_SUM < outer) str_putc(s, '(');
        print_size(s, a, PREC_SUM);
        str_printf(s, " - %lld", (long long)-v);
        if (PREC_SUM < outer) str_putc(s, ')');
    } else {
        print_infix(s, a, " + ", b, PREC_SUM, outer);
    }
}

static void print_size(Str *s, Node *e, int outer) {
    int64_t v;
    if (ir_is_int_lit(e, &v)) {
        str_printf(s, "%lld", (long long)v);
        return;
    }
    switch (e->op) {
    case OP_input: str_puts(s, e->name ? e->name : "?"); break;
    case OP_var: str_puts(s, e->u.var->name ? e->u.var->name : "i"); break;
    case OP_add:
        if (ir_is_int_lit(e->args[0], &v)) print_sum(s, e->args[1], e->args[0], outer);
        else print_sum(s, e->args[0], e->args[1], outer);
        break;
    case OP_sub: print_infix(s, e->args[0], " - ", e->args[1], PREC_SUM, outer); break;
    case OP_mul: print_infix(s, e->args[0], "*", e->args[1], PREC_PRODUCT, outer); break;
    case OP_idiv: print_infix(s, e->args[0], "/", e->args[1], PREC_PRODUCT, outer); break;
    case OP_irem: print_infix(s, e->args[0], " mod ", e->args[1], PREC_PRODUCT, outer); break;
    case OP_neg:
        str_putc(s, '-');
        print_size(s, e->args[0], PREC_UNARY);
        break;
    case OP_min:
    case OP_max:
        str_puts(s, e->op == OP_min ? "min(" : "max(");
        print_size(s, e->args[0], 0);
        str_puts(s, ", ");
        print_size(s, e->args[1], 0);
        str_putc(s, ')');
        break;
    case OP_at:
        print_size(s, e->args[0], PREC_UNARY);
        for (int k = 1; k < e->nargs; k++) {
            str_puts(s, k > 1 ? ", " : "[");
            print_size(s, e->args[k], 0);
        }
        str_putc(s, ']');
        break;
    case OP_conv: // an Int32 argument as an Int
        if (e->args[0]->kind == KIND_INT32) {
            print_size(s, e->args[0], outer);
            break;
        }
        // fall through
    default: print_place(s, e);
    }
}

const char *ir_quote(Ir *m, const Node *e) {
    return e->span.src ? arena_printf(m->arena, "`%s`", diag_quote(m->arena, e->span)) : "a value";
}

bool ir_size_is_plain(const Node *e) {
    bool plain = e->op == OP_lit || e->op == OP_input || e->op == OP_var || e->op == OP_add || e->op == OP_sub || e->op == OP_mul ||
                 e->op == OP_idiv || e->op == OP_irem || e->op == OP_neg || e->op == OP_min || e->op == OP_max || e->op == OP_at;
    for (int i = 0; i < e->nargs; i++) plain = plain && ir_size_is_plain(e->args[i]);
    return plain;
}

void ir_print_size(Str *out, Node *e) { print_size(out, e, 0); }
