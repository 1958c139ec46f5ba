// Reads the textual form of the IR (printed by print.c; docs/ir.md has the grammar). The first error ends the reading.
//
// Text printed from an Ir has to read back there as the same nodes, whatever rules have made them. So it is first read
// exactly as written. If that gives new nodes, it was not such a text, and it is read again by the builders.
#include "ir/internal.h"
#include "ir/scalar.h"
#include "support/vec.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

typedef enum Tok { T_END, T_NAME, T_QUOTED, T_VALUE, T_INTEGER, T_REAL, T_STRING, T_PUNCT } Tok;

// What a name stands for; `next` is the entry with the same hash.
typedef struct Entry {
    struct Entry *next;
    const char *name; // with its '%'
    Node *node;       // NULL: not in scope
} Entry;

enum { BUCKETS = 4096, MAX_NESTING = 400, MAX_LIST = 255, MAX_LEAVES = 1024 };

typedef struct Reader {
    Ir *m;
    Diag *diag;
    const Source *src;
    bool exact;
    jmp_buf *out;
    const char *p; // next character
    Tok tok;
    char punct;       // T_PUNCT; '>' for "->"
    const char *text; // names, strings (with escapes resolved): in the arena
    int64_t num;
    double real;
    Span at;            // of tok
    Span before;        // of the token before it
    Entry **table;      // BUCKETS
    VEC(Entry *) scope; // entries defined, innermost last
    int depth;
    Func **funcs; // read so far, in the arena
    int nfuncs;
} Reader;

static _Noreturn void error(Reader *r, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static _Noreturn void error(Reader *r, Span at, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    diag_error(r->diag, at, "%s", arena_vprintf(r->m->arena, fmt, ap));
    va_end(ap);
    longjmp(*r->out, 1);
}

// ---- tokens

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '\''; }

static void skip_space(Reader *r) {
    for (;;) {
        while (isspace((unsigned char)*r->p)) r->p++;
        if (r->p[0] != '/' || r->p[1] != '/') return;
        while (*r->p && *r->p != '\n') r->p++;
    }
}

static Span span_from(const Reader *r, const char *begin) {
    return (Span){r->src, (uint32_t)(begin - r->src->text), (uint32_t)(r->p - r->src->text)};
}

static void read_string(Reader *r, const char *begin) {
    Str s = {0};
    for (r->p++; *r->p && *r->p != '"' && *r->p != '\n'; r->p++) {
        if (*r->p != '\\' || !r->p[1])
            str_putc(&s, *r->p);
        else
            str_putc(&s, *++r->p == 'n' ? '\n' : *r->p);
    }
    r->text = arena_strdup(r->m->arena, str_text(&s));
    str_free(&s);
    if (*r->p != '"') error(r, span_from(r, begin), "this string has no end");
    r->p++;
    r->tok = T_STRING;
}

static void read_number(Reader *r, const char *begin) {
    const char *p = r->p;
    if (*p == '-') p++;
    bool real = false;
    if (isalpha((unsigned char)*p)) { // -inf, -nan
        real = true;
        r->real = *p == 'i' ? -INFINITY : copysign(NAN, -1.0);
        r->p = p + 3;
    } else {
        while (isdigit((unsigned char)*p)) p++;
        if (*p == '.') real = true, p++;
        while (isdigit((unsigned char)*p)) p++;
        if (*p == 'e' || *p == 'E') {
            real = true, p++;
            if (*p == '-' || *p == '+') p++;
            while (isdigit((unsigned char)*p)) p++;
        }
        char *end;
        errno = 0;
        if (real)
            r->real = strtod(r->p, &end);
        else
            r->num = strtoll(r->p, &end, 10);
        bool bad = end != p || is_name_char(*p) || (!real && errno == ERANGE);
        r->p = p;
        if (bad) error(r, span_from(r, begin), "this number cannot be read");
    }
    r->tok = real ? T_REAL : T_INTEGER;
}

static bool starts_number(const char *p) {
    if (isdigit((unsigned char)*p)) return true;
    if (*p != '-') return false;
    return isdigit((unsigned char)p[1]) ||
           ((!strncmp(p + 1, "inf", 3) || !strncmp(p + 1, "nan", 3)) && !is_name_char(p[4]));
}

static void next(Reader *r) {
    r->before = r->at;
    skip_space(r);
    const char *begin = r->p;
    char c = *begin;
    if (!c) {
        r->tok = T_END;
    } else if (starts_number(begin)) {
        read_number(r, begin);
    } else if (c == '"') {
        read_string(r, begin);
    } else if (c == '`') {
        const char *end = strchr(begin + 1, '`');
        if (!end) error(r, span_from(r, begin), "this quoted name has no end");
        r->p = end + 1, r->tok = T_QUOTED;
        r->text = arena_strndup(r->m->arena, begin + 1, (size_t)(end - begin - 1));
    } else if (c == '%' || isalpha((unsigned char)c) || c == '_') {
        for (r->p++; is_name_char(*r->p);) r->p++;
        r->tok = c == '%' ? T_VALUE : T_NAME;
        r->text = arena_strndup(r->m->arena, begin, (size_t)(r->p - begin));
        if (c == '%' && r->p == begin + 1) error(r, span_from(r, begin), "a name is missing after '%%'");
    } else if (c == '-' && begin[1] == '>') {
        r->p += 2, r->tok = T_PUNCT, r->punct = '>';
    } else {
        r->p++, r->tok = T_PUNCT, r->punct = c;
        if (!strchr("(){}[],:=<#", c)) error(r, span_from(r, begin), "unexpected character");
    }
    r->at = span_from(r, begin);
}

static bool is_punct(const Reader *r, char c) { return r->tok == T_PUNCT && r->punct == c; }
static bool is_word(const Reader *r, const char *word) { return r->tok == T_NAME && !strcmp(r->text, word); }

static bool accept(Reader *r, char c) {
    if (!is_punct(r, c)) return false;
    next(r);
    return true;
}

static void expect(Reader *r, char c) {
    if (accept(r, c)) return;
    error(r, r->at, "expected '%c'", c);
}

static bool accept_word(Reader *r, const char *word) {
    if (!is_word(r, word)) return false;
    next(r);
    return true;
}

static const char *name(Reader *r, const char *what) {
    if (r->tok != T_NAME && r->tok != T_QUOTED) error(r, r->at, "expected %s", what);
    const char *text = r->text;
    next(r);
    return text;
}

static int64_t integer(Reader *r, const char *what) {
    if (r->tok != T_INTEGER) error(r, r->at, "expected %s", what);
    int64_t n = r->num;
    next(r);
    return n;
}

static const char *string(Reader *r) {
    if (r->tok != T_STRING) error(r, r->at, "expected a string");
    const char *text = r->text;
    next(r);
    return text;
}

// ---- names in scope

static Entry *entry(Reader *r, const char *name) {
    uint32_t h = 5381;
    for (const char *p = name; *p; p++) h = h * 33 + (unsigned char)*p;
    Entry **e = &r->table[h % BUCKETS];
    while (*e && strcmp((*e)->name, name)) e = &(*e)->next;
    if (!*e) {
        *e = ARENA_NEW(r->m->arena, Entry);
        (*e)->name = name;
    }
    return *e;
}

static void define(Reader *r, Span at, const char *name, Node *node) {
    Entry *e = entry(r, name);
    if (e->node) error(r, at, "'%s' is defined already", name);
    e->node = node;
    vec_push(&r->scope, e);
}

static void leave(Reader *r, int mark) {
    while (r->scope.len > mark) vec_pop(&r->scope)->node = NULL;
}

// ---- operands

static Node *value(Reader *r);

static Kind kind(Reader *r) {
    for (Kind k = KIND_BOOL; k <= KIND_DOUBLE; k++)
        if (accept_word(r, kind_name(k))) return k;
    error(r, r->at, "expected a type: bool, i64, f32 or f64");
}

static Node *float_literal(Reader *r) {
    double x = 0;
    if (r->tok == T_REAL)
        x = r->real;
    else if (r->tok == T_INTEGER)
        x = (double)r->num;
    else if (is_word(r, "inf"))
        x = INFINITY;
    else if (is_word(r, "nan"))
        x = NAN;
    else
        error(r, r->at, "expected a number after 'f32'");
    next(r);
    return ir_real(r->m, KIND_FLOAT, x);
}

static Node *real_literal(Reader *r, double x) {
    next(r);
    return ir_real(r->m, KIND_DOUBLE, x);
}

// A value or loop by name, a literal, or a value in parentheses.
static Node *operand_or_loop(Reader *r) {
    if (r->tok == T_INTEGER) return ir_int(r->m, integer(r, "a number"));
    if (r->tok == T_REAL) return real_literal(r, r->real);
    if (is_punct(r, '(')) {
        next(r);
        if (++r->depth > MAX_NESTING) error(r, r->before, "nested too deeply");
        Node *e = value(r);
        r->depth--;
        expect(r, ')');
        return e;
    }
    if (r->tok == T_NAME) {
        if (accept_word(r, "f32")) return float_literal(r);
        if (accept_word(r, "true")) return ir_bool(r->m, true);
        if (accept_word(r, "false")) return ir_bool(r->m, false);
        if (is_word(r, "inf")) return real_literal(r, INFINITY);
        if (is_word(r, "nan")) return real_literal(r, NAN);
    }
    if (r->tok != T_NAME && r->tok != T_QUOTED && r->tok != T_VALUE) error(r, r->at, "expected a value");
    Node *e = entry(r, r->text)->node;
    if (!e) error(r, r->at, "'%s' is not defined here", r->text);
    next(r);
    return e;
}

static Node *operand(Reader *r) {
    Span at = r->at;
    Node *e = operand_or_loop(r);
    if (ir_is_loop(e)) error(r, span_join(at, r->before), "this is a loop; 'final' reads its states");
    return e;
}

static const char *type_text(Reader *r, Kind k, int rank) {
    return rank ? arena_printf(r->m->arena, "%s of rank %d", kind_name(k), rank) : kind_name(k);
}

// An operand of the given kind and rank.
static Node *typed_operand(Reader *r, Kind k, int rank) {
    Span at = r->at;
    Node *e = operand(r);
    if (e->kind != k || e->rank != rank)
        error(r, span_join(at, r->before), "expected %s, found %s", type_text(r, k, rank),
              type_text(r, e->kind, e->rank));
    return e;
}

static Node *scalar_operand(Reader *r) {
    Span at = r->at;
    Node *e = operand(r);
    if (e->rank) error(r, span_join(at, r->before), "expected a scalar, found %s", type_text(r, e->kind, e->rank));
    return e;
}

static Node *array_operand(Reader *r) {
    Span at = r->at;
    Node *e = operand(r);
    if (!e->rank) error(r, span_join(at, r->before), "expected an array, found %s", kind_name(e->kind));
    return e;
}

// "[" extents "]" or nothing; returns the rank.
static int shape(Reader *r, Node **out) {
    int n = 0;
    if (!accept(r, '[')) return 0;
    do {
        if (n == MAX_LIST) error(r, r->at, "too many extents");
        out[n++] = typed_operand(r, KIND_INT, 0);
    } while (accept(r, ','));
    expect(r, ']');
    return n;
}

// ---- values

static Node *elementwise(Reader *r, Op op) {
    Span at = r->at;
    Node *a = scalar_operand(r), *b = op_info[op].arity == 2 ? scalar_operand(r) : NULL;
    if (!op_accepts(op, a->kind, b ? b->kind : a->kind))
        error(r, span_join(at, r->before), "'%s' does not take %s%s%s", op_info[op].name, kind_name(a->kind),
              b ? " and " : "", b ? kind_name(b->kind) : "");
    bool exact = r->exact && a->kind == KIND_INT;
    if (exact && (op == OP_add || op == OP_sub || op == OP_neg || (op == OP_mul && !int_mul_is_opaque(r->m, a, b))))
        return ir_op_plain(r->m, op, KIND_INT, a, b);
    return ir_op(r->m, op, a, b);
}

static Node *at_value(Reader *r) {
    Node *a = array_operand(r), *idx[MAX_LIST];
    Span at = r->at;
    if (!is_punct(r, '[')) error(r, r->at, "expected '['");
    int n = shape(r, idx);
    if (n > a->rank) error(r, span_join(at, r->before), "%d indices into an array of rank %d", n, a->rank);
    return ir_at(r->m, a, n, idx);
}

static Node *pack_value(Reader *r) {
    Node *ext[MAX_LIST];
    int64_t extent[MAX_LIST], count = 1;
    Kind k = kind(r);
    Span at = r->at;
    int rank = shape(r, ext);
    if (!rank) error(r, at, "expected the array's extents");
    for (int i = 0; i < rank; i++) {
        bool ok = ir_is_int_lit(ext[i], &extent[i]) && extent[i] >= 0;
        if (!ok || __builtin_mul_overflow(count, extent[i], &count) || count > INT32_MAX / 2)
            error(r, span_join(at, r->before), "the extents of an array literal are small constants");
    }
    VEC(Node *) elem = {0};
    for (int64_t i = 0; i < count; i++) { // may leave by an error: what is kept is in the arena
        Node *e = typed_operand(r, k, 0);
        if (elem.len == elem.cap) {
            int cap = elem.cap ? 2 * elem.cap : 16;
            Node **more = ARENA_ARRAY(r->m->arena, Node *, cap);
            if (elem.len) memcpy(more, elem.data, sizeof *more * (size_t)elem.len);
            elem.data = more, elem.cap = cap;
        }
        elem.data[elem.len++] = e;
    }
    return ir_pack(r->m, k, rank, extent, elem.data);
}

static Node *assert_value(Reader *r) {
    Node *c = typed_operand(r, KIND_BOOL, 0);
    const char *text = string(r);
    Node *e = operand(r), *values[MAX_LIST];
    int n = shape(r, values);
    return ir_assert_values(r->m, c, text, e, n, values);
}

// A list of operands, of scalars unless there is a signature; n are there already. Returns how many there are then.
static int extern_operands(Reader *r, const char *signature, int n, Node **args) {
    expect(r, '(');
    if (signature && accept(r, ')')) return n;
    do {
        if (n == MAX_LIST) error(r, r->at, "too many operands");
        args[n++] = signature ? operand(r) : scalar_operand(r);
    } while (accept(r, ','));
    expect(r, ')');
    return n;
}

static Node *extern_value(Reader *r) {
    Kind k = kind(r);
    Span at = r->at;
    Extern ext = {.name = string(r)};
    bool word = isalpha((unsigned char)*ext.name) || *ext.name == '_';
    for (const char *c = ext.name; *c; c++) word &= isalnum((unsigned char)*c) || *c == '_';
    if (!word) error(r, at, "'%s' is not the name of a C function", ext.name);
    Node *args[2 * MAX_LIST];
    int n = 0, rank = 0;
    if (r->tok == T_STRING) {
        ext.signature = string(r);
        n = extern_operands(r, ext.signature, 0, args);
        if (!n || args[0]->kind != KIND_BOOL) error(r, at, "the first operand of a C function of arrays is a Bool");
        ext.nsizes = n - 1;
    }
    n = extern_operands(r, ext.signature, n, args);
    if (ext.signature) rank = shape(r, args + n);
    bool narrow = k == KIND_INT32;
    for (int i = 0; i < n; i++) narrow |= args[i]->kind == KIND_INT32;
    if (narrow) error(r, at, "a C function does not take or give i32");
    return ir_extern(r->m, arena_copy(r->m->arena, &ext, sizeof ext), k, rank, n + rank, args);
}

static Node *select_value(Reader *r) {
    Node *c = typed_operand(r, KIND_BOOL, 0);
    Node *a = operand(r), *b = typed_operand(r, a->kind, a->rank);
    return ir_select(r->m, c, a, b);
}

static Node *final_value(Reader *r, Op op) {
    Span at = r->at;
    Node *loop = operand_or_loop(r);
    if (!ir_is_loop(loop)) error(r, span_join(at, r->before), "expected a loop");
    if (op == OP_count) return ir_count(r->m, loop);
    at = r->at;
    bool trace = op == OP_trace;
    int64_t k = integer(r, trace ? "the number of an output" : "the number of a state");
    int n = trace ? loop->u.loop->nout : loop->u.loop->n;
    if (k < 0 || k >= n) error(r, at, trace ? "the loop has %d outputs" : "the loop has %d states", n);
    return trace ? ir_trace(r->m, loop, (int)k) : ir_final(r->m, loop, (int)k);
}

// ---- binders

// Opens a body; returns the mark for close_body.
static int open_body(Reader *r) {
    expect(r, '{');
    if (++r->depth > MAX_NESTING) error(r, r->before, "nested too deeply");
    return r->scope.len;
}

static void close_body(Reader *r, int mark) {
    expect(r, '}');
    leave(r, mark);
    r->depth--;
}

// The values of a body: lines "%name = value".
static void lines(Reader *r) {
    while (r->tok == T_VALUE) {
        const char *text = r->text;
        Span at = r->at;
        next(r);
        expect(r, '=');
        Span outer = r->m->span;
        r->m->span = at;
        Node *e = value(r);
        r->m->span = outer;
        define(r, at, text, e);
    }
}

static Var *index_header(Reader *r, const char **hint, Span *at) {
    *at = r->at;
    *hint = name(r, "the name of an index variable");
    expect(r, '<');
    return ir_index(r->m, *hint, typed_operand(r, KIND_INT, 0));
}

static int64_t attribute(Reader *r, const char *word, int64_t max) {
    if (!accept_word(r, word)) return 0;
    Span at = r->at;
    int64_t n = integer(r, "a number");
    if (n < 1 || n > max) error(r, at, "expected a number from 1 to %lld", (long long)max);
    return n;
}

// What attributes ask of the loop over v.
static void wishes(Reader *r, Var *v) {
    while (accept(r, '#')) {
        Span at = r->at;
        int k = 0;
        while (k < WISH_COUNT && !(r->tok == T_NAME && !strcmp(r->text, wish_info[k].name))) k++;
        if (k == WISH_COUNT) error(r, at, "expected an attribute of loops");
        int64_t number = 1;
        if (wish_info[k].number) number = attribute(r, wish_info[k].name, INT_MAX);
        else next(r);
        v->wishes.of[k] = wish_new(r->m, (WishKind)k, number, span_join(at, r->before));
    }
}

static Node *binder_value(Reader *r, Op op) {
    const char *hint;
    Span at;
    Var *v = index_header(r, &hint, &at);
    int mark = open_body(r);
    define(r, at, hint, ir_var(v));
    lines(r);
    if (!accept_word(r, "yield")) error(r, r->at, "expected 'yield' or a value's name");
    at = r->at;
    Node *body = op == OP_gen ? operand(r) : op == OP_sum ? operand(r) : scalar_operand(r);
    if (op != OP_gen && (body->kind == KIND_BOOL || body->kind == KIND_INT32))
        error(r, span_join(at, r->before), "expected a number, found %s", kind_name(body->kind));
    if (body->rank == UINT8_MAX) error(r, span_join(at, r->before), "the array has too many dimensions");
    wishes(r, v);
    close_body(r, mark);
    switch (op) {
    case OP_gen: return ir_gen(r->m, v, body);
    case OP_sum: return ir_sum(r->m, v, body);
    case OP_argmin: return ir_argmin(r->m, v, body);
    default: return ir_argmax(r->m, v, body);
    }
}

typedef struct States {
    int n;
    Var *var[MAX_LIST];
    const char *name[MAX_LIST];
    Span at[MAX_LIST];
    Node *init[MAX_LIST], *step[MAX_LIST], *out[MAX_LIST];
    int nout;
} States;

static void state_header(Reader *r, States *s) {
    if (s->n == MAX_LIST) error(r, r->at, "too many states");
    Node *ext[MAX_LIST];
    int k = s->n++;
    s->at[k] = r->at;
    s->name[k] = name(r, "the name of a state");
    expect(r, ':');
    Kind what = kind(r);
    int rank = shape(r, ext);
    expect(r, '=');
    s->var[k] = ir_state(r->m, s->name[k], what, rank, ext);
    s->init[k] = typed_operand(r, what, rank);
}

// An output of a loop: its shape must be the same in every iteration.
static Node *loop_out(Reader *r, const States *s, const Var *index) {
    Span at = r->at;
    Node *e = operand(r);
    bool varies = e->rank == UINT8_MAX;
    for (int d = 0; d < e->rank; d++) {
        varies |= index && node_has_var(e->shape[d], index);
        for (int k = 0; k < s->n; k++) varies |= node_has_var(e->shape[d], s->var[k]);
    }
    if (varies) error(r, span_join(at, r->before), "the shape of an output is not the same in all iterations");
    return e;
}

static Node *loop_value(Reader *r, Op op) {
    States *s = ARENA_NEW(r->m->arena, States);
    Var *index = NULL;
    const char *hint = NULL;
    Span at;
    if (op == OP_fold) {
        index = index_header(r, &hint, &at);
        expect(r, ',');
    }
    do state_header(r, s);
    while (accept(r, ','));
    int mark = open_body(r);
    if (index) define(r, at, hint, ir_var(index));
    for (int k = 0; k < s->n; k++) define(r, s->at[k], s->name[k], ir_var(s->var[k]));
    lines(r);
    Node *cond = NULL;
    if (op == OP_while) {
        if (!accept_word(r, "test")) error(r, r->at, "expected 'test' or a value's name");
        cond = typed_operand(r, KIND_BOOL, 0);
        lines(r);
    }
    if (!accept_word(r, "yield")) error(r, r->at, "expected 'yield' or a value's name");
    for (int k = 0; k < s->n; k++) {
        if (k) expect(r, ',');
        s->step[k] = typed_operand(r, s->var[k]->kind, s->var[k]->rank);
    }
    if (accept_word(r, "trace")) {
        do {
            if (s->nout == MAX_LIST) error(r, r->at, "too many outputs");
            s->out[s->nout++] = loop_out(r, s, index);
        } while (accept(r, ','));
    }
    Loop l = {.index = index, .n = s->n, .state = s->var, .nout = s->nout};
    l.levels = (int)attribute(r, "stripmine", INT_MAX);
    l.block = accept_word(r, "block");
    l.limit = attribute(r, "tapeLimit", INT64_MAX);
    if (index) wishes(r, index);
    close_body(r, mark);
    if (op == OP_fold) return ir_fold_out(r->m, &l, s->init, s->step, s->out);
    return ir_while_out(r->m, &l, s->init, cond, s->step, s->out);
}

// An operation with its operands.
static Node *value(Reader *r) {
    if (r->tok != T_NAME) error(r, r->at, "expected an operation");
    Op op = OP_COUNT;
    for (Op k = 0; k < OP_COUNT; k++)
        if (!strcmp(op_info[k].name, r->text)) op = k;
    if (op == OP_COUNT) error(r, r->at, "there is no operation '%s'", r->text);
    Span at = r->at;
    next(r);
    if (op_is_elementwise(op)) return elementwise(r, op);
    switch (op) {
    case OP_conv: {
        Kind k = kind(r);
        at = r->at;
        Node *a = scalar_operand(r);
        if ((k == KIND_INT32 || a->kind == KIND_INT32) && k != a->kind && k != KIND_INT && a->kind != KIND_INT)
            error(r, at, "i32 is only converted from and to i64");
        return ir_conv(r->m, k, a);
    }
    case OP_stop: return ir_stop(r->m, operand(r));
    case OP_select: return select_value(r);
    case OP_bracket: {
        Node *p = typed_operand(r, KIND_BOOL, 0);
        return ir_bracket(r->m, p, operand(r));
    }
    case OP_assert: return assert_value(r);
    case OP_extern: return extern_value(r);
    case OP_at: return at_value(r);
    case OP_gen:
    case OP_sum:
    case OP_argmin:
    case OP_argmax: return binder_value(r, op);
    case OP_pack: return pack_value(r);
    case OP_fold:
    case OP_while: return loop_value(r, op);
    case OP_final:
    case OP_trace:
    case OP_count: return final_value(r, op);
    default: error(r, at, "'%s' is not an operation", op_info[op].name);
    }
}

// ---- functions

typedef struct Header {
    const char *name;
    Kind kind;
    int rank;
    Node **shape; // NULL entries: not stated
} Header;

static SigType *sig_scalar(Reader *r, Kind k) {
    SigType *t = ARENA_NEW(r->m->arena, SigType);
    *t = (SigType){.form = SIG_SCALAR, .kind = k};
    return t;
}

static SigType *sig_array(Reader *r, SigType *elem, int rank, Node *const *extents) {
    for (int k = rank; k-- > 0;) {
        SigType *t = ARENA_NEW(r->m->arena, SigType);
        *t = (SigType){.form = SIG_ARRAY, .extent = extents[k], .nparts = 1};
        t->parts = arena_copy(r->m->arena, &elem, sizeof elem);
        elem = t;
    }
    return elem;
}

static SigType *sig_tuple(Reader *r, int n, SigType **parts) {
    SigType *t = ARENA_NEW(r->m->arena, SigType);
    *t = (SigType){.form = SIG_TUPLE, .nparts = n, .parts = arena_copy(r->m->arena, parts, sizeof *parts * (size_t)n)};
    return t;
}

// A structured type; *leaves is increased by the number of its scalars and arrays of scalars.
static SigType *sig(Reader *r, int *leaves) {
    SigType *base, *part[MAX_LIST];
    Node *ext[MAX_LIST];
    if (accept(r, '(')) {
        int n = 0;
        if (++r->depth > MAX_NESTING) error(r, r->before, "nested too deeply");
        while (!is_punct(r, ')')) {
            if (n) expect(r, ',');
            if (n == MAX_LIST) error(r, r->at, "too many parts");
            part[n++] = sig(r, leaves);
        }
        next(r);
        r->depth--;
        base = sig_tuple(r, n, part);
    } else {
        base = sig_scalar(r, kind(r));
        ++*leaves;
    }
    int rank = shape(r, ext);
    return sig_array(r, base, rank, ext);
}

static SigType *plain_sig(Reader *r, const Node *e) { return sig_array(r, sig_scalar(r, e->kind), e->rank, e->shape); }

static void skip_shape(Reader *r) {
    int open = 0;
    do {
        if (r->tok == T_END) expect(r, ']');
        open += is_punct(r, '[') - is_punct(r, ']');
        next(r);
    } while (open);
}

// An input. Extents may mention scalars that come later, so the scalars are read first, and then the arrays.
static void input(Reader *r, Func *f, int number, bool arrays) {
    Node *ext[MAX_LIST];
    Span at = r->at;
    const char *what = name(r, "the name of an input");
    expect(r, ':');
    Kind k = kind(r);
    bool array = is_punct(r, '['), size = !array && k == KIND_INT && accept_word(r, "size");
    if (size && f->nsizes != number && !arrays) error(r, at, "sizes come before the other inputs");
    if (array && !arrays) skip_shape(r);
    if (array != arrays) return;
    int rank = shape(r, ext);
    f->nsizes += size;
    f->inputs[number] = size ? ir_size(r->m, number, what) : ir_input(r->m, number, what, k, rank, ext);
    define(r, at, what, f->inputs[number]);
}

// What stands between the parentheses, with the closing one.
static void inputs(Reader *r, Func *f) {
    const char *begin = r->src->text + r->at.begin;
    for (int arrays = 0; arrays < 2; arrays++) {
        int n = 0;
        r->p = begin;
        next(r);
        for (; !is_punct(r, ')'); n++) {
            if (n) expect(r, ',');
            if (n == MAX_LEAVES) error(r, r->at, "too many inputs");
            input(r, f, n, arrays);
        }
        f->ninputs = n;
    }
    next(r);
}

// The type of an output. Its extents are not kept: the value has them.
static void output(Reader *r, Func *f, Header *h) {
    const char *label = NULL;
    *h = (Header){0};
    skip_space(r);
    if (r->tok == T_QUOTED || (r->tok == T_NAME && *r->p == ':')) {
        label = name(r, "a name");
        expect(r, ':');
    }
    h->kind = kind(r);
    f->output_names[f->noutputs++] = label;
    if (!accept(r, '[')) return;
    h->shape = ARENA_ARRAY(r->m->arena, Node *, MAX_LIST);
    do {
        if (h->rank == MAX_LIST) error(r, r->at, "too many extents");
        if (!accept_word(r, "_")) h->shape[h->rank] = typed_operand(r, KIND_INT, 0);
        h->rank++;
    } while (accept(r, ','));
    expect(r, ']');
}

static void check_line(Reader *r, Func *f, int *cap) {
    Check c = {.span = r->before};
    c.code = (int)integer(r, "an error code");
    c.cond = typed_operand(r, KIND_BOOL, 0);
    c.text = string(r);
    Node *v[MAX_LIST];
    c.nvalues = shape(r, v);
    c.values = arena_copy(r->m->arena, v, sizeof *v * (size_t)c.nvalues);
    c.span = span_join(c.span, r->before);
    if (f->nchecks == *cap) {
        *cap = *cap ? 2 * *cap : 8;
        Check *more = ARENA_ARRAY(r->m->arena, Check, *cap);
        if (f->nchecks) memcpy(more, f->checks, sizeof c * (size_t)f->nchecks);
        f->checks = more;
    }
    f->checks[f->nchecks++] = c;
}

static void param_line(Reader *r, Func *f, int *leaf) {
    SigParam p = {.first = *leaf};
    Span at = r->at;
    p.name = name(r, "the name of a parameter");
    expect(r, ':');
    p.type = sig(r, &p.count);
    *leaf += p.count;
    if (*leaf > f->ninputs || f->nparams >= MAX_LEAVES) error(r, at, "there are fewer inputs than the parameters have");
    f->params[f->nparams++] = p;
}

static bool same_size(Ir *m, Node *a, Node *b) { return poly_node(m, poly_of(m, a)) == poly_node(m, poly_of(m, b)); }

// The lines of a function, up to and with what it returns.
static void func_body(Reader *r, Func *f, const Header *h) {
    int leaf = f->nsizes, cap = 0, count = 0;
    Span at;
    for (;;) {
        lines(r);
        at = r->at;
        if (accept_word(r, "return")) break;
        if (accept_word(r, "doc"))
            f->doc = string(r);
        else if (accept_word(r, "param"))
            param_line(r, f, &leaf);
        else if (accept_word(r, "result"))
            f->result = sig(r, &count);
        else if (accept_word(r, "check"))
            check_line(r, f, &cap);
        else
            error(r, r->at, "expected 'return' or a value's name");
    }
    if (f->nparams && leaf != f->ninputs) error(r, at, "there are more inputs than the parameters have");
    if (f->result && count != f->noutputs) error(r, at, "the result's type has %d parts", count);
    for (int k = 0; k < f->noutputs; k++) {
        if (k) expect(r, ',');
        Span here = r->at;
        Node *e = f->outputs[k] = typed_operand(r, h[k].kind, h[k].rank);
        for (int d = 0; d < e->rank; d++)
            if (h[k].shape[d] && !same_size(r->m, h[k].shape[d], e->shape[d]))
                error(r, span_join(here, r->before), "extent %d is not the one that the type states", d);
    }
}

static void default_types(Reader *r, Func *f) {
    if (!f->nparams)
        for (int k = f->nsizes; k < f->ninputs; k++)
            f->params[f->nparams++] = (SigParam){f->inputs[k]->name, plain_sig(r, f->inputs[k]), k, 1};
    if (f->result) return;
    SigType **part = ARENA_ARRAY(r->m->arena, SigType *, f->noutputs);
    for (int k = 0; k < f->noutputs; k++) part[k] = plain_sig(r, f->outputs[k]);
    f->result = f->noutputs == 1 ? part[0] : sig_tuple(r, f->noutputs, part);
}

static Func *func(Reader *r) {
    r->m->entry = r->nfuncs;
    Arena *a = r->m->arena;
    Func *f = ARENA_NEW(a, Func);
    f->ir = r->m;
    if (!accept_word(r, "func")) error(r, r->at, "expected 'func'");
    f->span = r->at;
    f->name = name(r, "the function's name");
    f->inputs = ARENA_ARRAY(a, Node *, MAX_LEAVES);
    f->params = ARENA_ARRAY(a, SigParam, MAX_LEAVES);
    f->outputs = ARENA_ARRAY(a, Node *, MAX_LEAVES);
    f->output_names = ARENA_ARRAY(a, const char *, MAX_LEAVES);
    Header *h = ARENA_ARRAY(a, Header, MAX_LEAVES);
    int mark = r->scope.len;
    expect(r, '(');
    inputs(r, f);
    if (accept(r, '>')) do {
            if (f->noutputs == MAX_LEAVES) error(r, r->at, "too many outputs");
            output(r, f, &h[f->noutputs]);
        } while (accept(r, ','));
    expect(r, '{');
    func_body(r, f, h);
    expect(r, '}');
    leave(r, mark);
    default_types(r, f);
    return f;
}

static void read_funcs(Reader *r) {
    if (strlen(r->src->text) != r->src->len) error(r, (Span){r->src, 0, 0}, "this is not a text: it has a zero byte");
    next(r);
    int cap = 0;
    do {
        Func *f = func(r);
        if (r->nfuncs == cap) {
            cap = cap ? 2 * cap : 4;
            Func **more = ARENA_ARRAY(r->m->arena, Func *, cap);
            if (r->nfuncs) memcpy(more, r->funcs, sizeof *more * (size_t)r->nfuncs);
            r->funcs = more;
        }
        r->funcs[r->nfuncs++] = f;
    } while (r->tok != T_END);
}

// All functions of the text, or NULL after an error.
static Func **read_all(Ir *m, Diag *diag, const Source *src, bool exact, int *count) {
    jmp_buf out;
    Reader *r = ARENA_NEW(m->arena, Reader);
    *r = (Reader){.m = m, .diag = diag, .src = src, .exact = exact, .out = &out, .p = src->text};
    r->table = ARENA_ARRAY(m->arena, Entry *, BUCKETS);
    if (setjmp(out))
        r->funcs = NULL;
    else
        read_funcs(r);
    vec_free(&r->scope);
    *count = r->nfuncs;
    return r->funcs;
}

static bool all_known(Func *const *fs, int count, uint32_t last) {
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < fs[i]->noutputs; k++)
            if (fs[i]->outputs[k]->id > last) return false;
        for (int k = 0; k < fs[i]->nchecks; k++)
            if (fs[i]->checks[k].cond->id > last) return false;
    }
    return true;
}

Func **ir_read(Ir *m, Diag *diag, const Source *src, int *count) {
    bool raw = m->raw;
    Span span = m->span;
    uint32_t last = m->next_node;
    m->raw = true;
    Func **fs = last ? read_all(m, diag, src, true, count) : NULL;
    m->raw = raw;
    if (!last || (fs && !all_known(fs, *count, last))) fs = read_all(m, diag, src, false, count);
    m->span = span;
    return fs;
}
