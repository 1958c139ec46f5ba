// Names and expressions in C++.
#include "cuda/print.h"

#include "cpu/cpu.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>

typedef struct OpText {
    const char *real, *integer; // in x and y
} OpText;

static const OpText op_text[OP_COUNT] = {
#define CUDA(...)                                                                                                                  \
    { __VA_ARGS__ }
#define OP(name, arity, type, dx, dy, eval_f, eval_i, llvm, fsm, count, cost, lanes, cuda) [OP_##name] = cuda,
#include "ir/ops.def"
#undef CUDA
};

const char *cuda_type(Kind k) {
    static const char *const names[] = {
        [KIND_BOOL] = "bool", [KIND_INT] = "int64_t", [KIND_INT32] = "int32_t", [KIND_FLOAT] = "float", [KIND_DOUBLE] = "double"};
    return names[k];
}

const char *cuda_element(Kind k) { return k == KIND_BOOL ? "uint8_t" : cuda_type(k); }

Kind unit_kind(const Unit *u, Temp t) { return u->tree->temps.data[t].kind; }

char *expr_text(Arena *a, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    char *text = arena_vprintf(a, format, ap);
    va_end(ap);
    return text;
}

// ---- names

// The name of something of the program with its number, which makes it unique.
static const char *numbered(Arena *a, const char *name, const char *plain, int number) {
    if (!name) return expr_text(a, "%s%d", plain, number);
    char *s = expr_text(a, "%s_%d", name, number);
    for (char *p = s; *p; p++)
        if (!isalnum((unsigned char)*p)) *p = '_';
    return s;
}

const char *expr_temp(Unit *u, Temp t) {
    if (u->text[t]) return u->text[t];
    const TempInfo *info = &u->tree->temps.data[t];
    return u->text[t] = numbered(u->arena, info->name, info->cell ? "c" : "t", t);
}

const char *expr_buf(Unit *u, const Buf *b) {
    if (b->where == BUF_INPUT) return u->params[b->number];
    if (b->where == BUF_OUTPUT) return u->params[u->func->ninputs + b->number];
    return numbered(u->arena, b->name, "b", b->id);
}

// ---- expressions

const char *expr_lit(Arena *a, Kind kind, double real, int64_t num) {
    if (kind == KIND_BOOL) return num ? "true" : "false";
    if (!kind_is_float(kind)) return num == INT64_MIN ? "INT64_MIN" : expr_text(a, num < 0 ? "(%lld)" : "%lld", (long long)num);
    const char *suffix = kind == KIND_FLOAT ? "f" : "", *type = cuda_type(kind);
    if (isnan(real)) return expr_text(a, "%s(%sNAN)", type, signbit(real) ? "-" : "");
    if (isinf(real)) return expr_text(a, "%s(%sINFINITY)", type, real < 0 ? "-" : "");
    Str s = {0};
    str_double(&s, real);
    const char *text =
        expr_text(a, signbit(real) ? "(%s%s%s)" : "%s%s%s", str_text(&s), strpbrk(str_text(&s), ".e") ? "" : ".0", suffix);
    str_free(&s);
    return text;
}

// The template with operands for x and y where these are words of their own.
static const char *substitute(Arena *a, const char *form, const char *x, const char *y) {
    Str s = {0};
    for (const char *p = form; *p; p++) {
        bool word = (p > form && (isalnum((unsigned char)p[-1]) || p[-1] == '_')) || isalnum((unsigned char)p[1]) || p[1] == '_';
        if ((*p == 'x' || *p == 'y') && !word) str_puts(&s, *p == 'x' ? x : y);
        else str_putc(&s, *p);
    }
    const char *text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}

const char *expr_op(Arena *a, Op op, Kind kind, const char *x, const char *y) {
    const OpText *t = &op_text[op];
    return substitute(a, !kind_is_float(kind) && t->integer ? t->integer : t->real, x, y);
}

const char *expr_conv(Arena *a, Kind to, Kind from, const char *x) {
    if (to == from) return x;
    if (to == KIND_BOOL) return expr_text(a, "%s != 0", x);
    if (kind_is_float(from) && !kind_is_float(to)) return expr_text(a, "fsm::to_int(%s)", x);
    // (double(float(t))) - x would be a cast of -x to a function
    return expr_text(a, "static_cast<%s>(%s)", cuda_type(to), x);
}

const char *expr_value(Unit *u, const Stmt *s) {
    Kind kind = unit_kind(u, s->dst);
    switch (s->kind) {
    case ST_LIT: return expr_lit(u->arena, kind, s->u.real, s->u.num);
    case ST_ARG: return u->params[s->u.num];
    case ST_OP: {
        Kind of = unit_kind(u, s->args[op_info[s->op].type == T_PSI ? 1 : 0]);
        return expr_op(u->arena, s->op, of, expr_temp(u, s->args[0]), s->nargs > 1 ? expr_temp(u, s->args[1]) : "");
    }
    case ST_CONV: return expr_conv(u->arena, kind, unit_kind(u, s->args[0]), expr_temp(u, s->args[0]));
    case ST_SELECT:
        return expr_text(u->arena, "%s ? %s : %s", expr_temp(u, s->args[0]), expr_temp(u, s->args[1]), expr_temp(u, s->args[2]));
    case ST_CELL:
    case ST_GET: return expr_temp(u, s->args[0]);
    default: fatal_bug("%s: statement %d is no value", u->name, (int)s->kind);
    }
}

const char *expr_string(Arena *a, const char *text) {
    Str s = {0};
    str_putc(&s, '"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p == '"' || *p == '\\') str_printf(&s, "\\%c", *p);
        else if (*p < ' ' || *p == '?') str_printf(&s, "\\%03o", *p); // of which no trigraph can come
        else str_putc(&s, (char)*p);
    str_putc(&s, '"');
    const char *r = arena_strdup(a, str_text(&s));
    str_free(&s);
    return r;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool expr_mentions(const char *text, const char *word) {
    size_t n = strlen(word);
    bool quoted = false;
    for (const char *p = text; *p; p++) {
        if (*p == '"' && (p == text || p[-1] != '\\')) quoted = !quoted;
        if (!quoted && *p == *word && !strncmp(p, word, n) && !is_word(p[n]) && (p == text || !is_word(p[-1]))) return true;
    }
    return false;
}

// ---- arrays

// Is the place of the element the number of the iteration? Then the indices are those of the loops, whose lengths are the extents.
static bool is_number(const Unit *u, const Buf *b, const Temp *index) {
    if (!u->walk || b->rank != u->walk->grid->depth) return false;
    for (int k = 0; k < b->rank; k++) {
        const Stmt *loop = grid_loop(u->walk, k);
        if (loop->nargs > 1 || loop->dst != index[k] || (k && loop->args[0] != b->extent[k])) return false;
    }
    return true;
}

const char *expr_place(Unit *u, const Buf *b, const Temp *index) {
    if (!b->rank) return "0";
    if (is_number(u, b, index)) return "fsm_at.number";
    const char *at = expr_temp(u, index[0]);
    for (int k = 1; k < b->rank; k++)
        at = expr_text(u->arena, k > 1 ? "(%s) * %s + %s" : "%s * %s + %s", at, expr_temp(u, b->extent[k]), expr_temp(u, index[k]));
    return at;
}

const char *expr_count(Unit *u, const Buf *b, const char *more) {
    const char *list = more ? more : NULL;
    for (int k = 0; k < b->rank; k++)
        list = list ? expr_text(u->arena, "%s, %s", list, expr_temp(u, b->extent[k])) : expr_temp(u, b->extent[k]);
    return expr_text(u->arena, "fsm::count_of(%s)", list ? list : "");
}
