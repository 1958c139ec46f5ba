#include "front/ast.h"

static void print_expr(Str *out, const Expr *e, int indent);
static void print_type(Str *out, const TypeExpr *t);

const char *ast_binop_name(BinOp op) {
    static const char *const names[] = {
        [BIN_ADD] = "+", [BIN_SUB] = "-", [BIN_MUL] = "*", [BIN_DIV] = "/", [BIN_MOD] = "%", [BIN_POW] = "**", [BIN_EQ] = "=",
        [BIN_NE] = "<>", [BIN_LT] = "<",  [BIN_LE] = "<=", [BIN_GT] = ">",  [BIN_GE] = ">=", [BIN_AND] = "&&", [BIN_OR] = "||"};
    return names[op];
}

const char *ast_unop_name(UnOp op) { return op == UN_NEG ? "-" : "not"; }

// ---- types and patterns

static void print_type_args(Str *out, const char *head, const TypeExpr *t) {
    str_printf(out, "(%s", head);
    for (int i = 0; i < t->nargs; i++) {
        str_putc(out, ' ');
        print_type(out, t->args[i]);
    }
    str_putc(out, ')');
}

static void print_type(Str *out, const TypeExpr *t) {
    switch (t->kind) {
    case TX_NAME: str_puts(out, t->name); break;
    case TX_TUPLE: print_type_args(out, "*", t); break;
    case TX_FUN: print_type_args(out, "->", t); break;
    case TX_ARRAY:
        str_puts(out, "(Array ");
        print_type(out, t->args[0]);
        str_putc(out, ' ');
        if (t->extent) print_expr(out, t->extent, 0);
        else str_putc(out, '_');
        str_putc(out, ')');
        break;
    }
}

static void print_patterns(Str *out, Pattern *const *patterns, int n);

static void print_pattern(Str *out, const Pattern *p) {
    if (p->type) str_puts(out, "(: ");
    switch (p->kind) {
    case PAT_NAME: str_puts(out, p->name); break;
    case PAT_WILD: str_putc(out, '_'); break;
    case PAT_UNIT: str_puts(out, "()"); break;
    case PAT_TUPLE:
        str_puts(out, "(tuple ");
        print_patterns(out, p->parts, p->nparts);
        str_putc(out, ')');
        break;
    }
    if (!p->type) return;
    str_putc(out, ' ');
    print_type(out, p->type);
    str_putc(out, ')');
}

static void print_patterns(Str *out, Pattern *const *patterns, int n) {
    for (int i = 0; i < n; i++) {
        if (i) str_putc(out, ' ');
        print_pattern(out, patterns[i]);
    }
}

// ` (params) [: result]`
static void print_signature(Str *out, Pattern *const *params, int n, const TypeExpr *result) {
    str_puts(out, " (");
    print_patterns(out, params, n);
    str_putc(out, ')');
    if (!result) return;
    str_puts(out, " : ");
    print_type(out, result);
}

// ---- expressions

static void new_line(Str *out, int indent) {
    enum { DEEPEST = 40 }; // keeps the text of deeply nested programs linear in their size
    str_putc(out, '\n');
    str_indent(out, indent < DEEPEST ? indent : DEEPEST);
}

static void print_string(Str *out, const char *text) {
    str_putc(out, '"');
    for (; *text; text++)
        if (*text == '\n') str_puts(out, "\\n");
        else if (*text == '\t') str_puts(out, "\\t");
        else if (*text == '"' || *text == '\\') str_printf(out, "\\%c", *text);
        else str_putc(out, *text);
    str_putc(out, '"');
}

static void print_list(Str *out, Expr *const *list, int n, int indent) {
    for (int i = 0; i < n; i++) {
        str_putc(out, ' ');
        print_expr(out, list[i], indent);
    }
}

static void print_item(Str *out, const IndexItem *item, int indent) {
    str_putc(out, ' ');
    if (!item->slice) {
        print_expr(out, item->at, indent);
        return;
    }
    str_puts(out, "(slice ");
    if (item->lo) print_expr(out, item->lo, indent);
    else str_putc(out, '_');
    str_putc(out, ' ');
    if (item->hi) print_expr(out, item->hi, indent);
    else str_putc(out, '_');
    str_putc(out, ')');
}

// A chain of lets, each on its line, with as many closing parentheses at the end.
static void print_lets(Str *out, const Expr *e, int indent) {
    size_t open = 0;
    for (; e->kind == EX_LET; e = e->args[1], open++) {
        str_puts(out, "(let ");
        if (e->nparams) {
            str_puts(out, e->name);
            print_signature(out, e->params, e->nparams, e->type);
        } else {
            print_pattern(out, e->pattern);
        }
        str_putc(out, ' ');
        print_expr(out, e->args[0], indent + 2);
        new_line(out, indent);
    }
    print_expr(out, e, indent);
    while (open-- > 0) str_putc(out, ')');
}

static void print_leaf(Str *out, const Expr *e) {
    switch (e->kind) {
    case EX_INT: str_printf(out, "%lld", (long long)e->ival); break;
    case EX_REAL: str_double(out, e->rval); break;
    case EX_BOOL: str_puts(out, e->ival ? "true" : "false"); break;
    case EX_STRING: print_string(out, e->name); break;
    case EX_NAME: str_puts(out, e->name); break;
    case EX_SECTION: str_printf(out, "(op %s)", ast_binop_name(e->binop)); break;
    default: str_puts(out, "()"); break;
    }
}

// What stands between the parenthesis and the printed args.
static void print_head(Str *out, const Expr *e, int indent) {
    switch (e->kind) {
    case EX_LAMBDA:
        str_puts(out, "fun");
        print_signature(out, e->params, e->nparams, e->type);
        break;
    case EX_APP: str_puts(out, "app"); break;
    case EX_IF: str_puts(out, "if"); break;
    case EX_TUPLE: str_puts(out, "tuple"); break;
    case EX_ARRAY: str_puts(out, "array"); break;
    case EX_INDEX: str_puts(out, "index"); break;
    case EX_BRACKET: str_puts(out, "bracket"); break;
    case EX_BINARY: str_puts(out, ast_binop_name(e->binop)); break;
    case EX_UNARY: str_puts(out, e->unop == UN_NEG ? "neg" : "not"); break;
    case EX_ANNOT: str_putc(out, ':'); break;
    default:
        str_printf(out, "attr %s (", e->name);
        for (int i = 0; i < e->nattr_args; i++) {
            if (i) str_putc(out, ' ');
            print_expr(out, e->attr_args[i], indent);
        }
        str_putc(out, ')');
        break;
    }
}

static void print_expr(Str *out, const Expr *e, int indent) {
    if (e->kind == EX_LET) {
        print_lets(out, e, indent);
        return;
    }
    if (e->kind <= EX_SECTION) {
        print_leaf(out, e);
        return;
    }
    str_putc(out, '(');
    print_head(out, e, indent);
    if (e->kind == EX_LAMBDA && e->args[0]->kind >= EX_LAMBDA) {
        new_line(out, indent + 2);
        print_expr(out, e->args[0], indent + 2);
    } else {
        print_list(out, e->args, e->nargs, indent);
    }
    for (int i = 0; i < e->nitems; i++) print_item(out, &e->items[i], indent);
    if (e->kind == EX_ANNOT) {
        str_putc(out, ' ');
        print_type(out, e->type);
    }
    str_putc(out, ')');
}

// ---- declarations

static void print_decl(Str *out, const Decl *d) {
    if (d->kind == DECL_OPEN) {
        str_puts(out, "(open ");
        print_string(out, d->name);
        str_puts(out, ")\n");
        return;
    }
    if (d->doc) {
        str_puts(out, "(doc ");
        print_string(out, d->doc);
        str_puts(out, ")\n");
    }
    if (d->kind == DECL_TUPLE) {
        str_puts(out, "(let ");
        print_pattern(out, d->pattern);
    } else {
        const char *word = d->kind == DECL_ENTRY ? "entry" : d->kind == DECL_EXTERN ? "extern" : "let";
        str_printf(out, "(%s %s", word, d->name);
        print_signature(out, d->params, d->nparams, d->result);
    }
    if (d->body) {
        str_puts(out, d->kind == DECL_EXTERN ? d->adjoint ? "\n  vjp " : "\n  jvp " : "\n  ");
        print_expr(out, d->body, 2);
    }
    str_puts(out, ")\n");
}

void ast_print(Str *out, const Program *p) {
    for (int i = 0; i < p->ndecls; i++) print_decl(out, p->decls[i]);
}
