// Reads loop trees in the complete form (printed by tree_print.c; docs/ir.md has the grammar). Inputs, outputs and checks of the
// arguments are those of the textual IR, whose reader reads them. The first error ends the reading. What is read is verified.
#include "lower/tree_read_internal.h"
#include "ir/scalar.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

// ---- names

// What the name stands for; made when it is first mentioned.
static Name *name_of(TreeReader *z, const char *text) {
    Entry *e = read_entry(z->r, text);
    if (e->data) return e->data;
    Name *n = e->data = ARENA_NEW(z->arena, Name);
    n->text = text, n->temp = -1;
    return n;
}

static const char *given_name(TreeReader *z, const char *text) {
    int length;
    if (!tree_name_is_numbered(text, &length)) return text;
    return length < 0 ? NULL : arena_strndup(z->arena, text, (size_t)length);
}

static bool is_name(const TreeReader *z) { return z->r->tok == T_NAME || z->r->tok == T_QUOTED; }

Name *tree_read_name(TreeReader *z, const char *what) {
    if (!is_name(z)) read_error(z->r, z->r->at, "expected %s", what);
    Name *n = name_of(z, z->r->text);
    read_next(z->r);
    return n;
}

static bool is_known(const Name *n) { return n->temp >= 0 || n->buf; }

static Temp new_temp(TreeReader *z, Name *n, Kind kind, bool cell) {
    vec_push(&z->t->temps, ((TempInfo){.kind = kind, .cell = cell, .name = given_name(z, n->text)}));
    return n->temp = z->t->temps.len - 1;
}

static Temp define(TreeReader *z, Span at, Name *n, Kind kind, bool cell) {
    if (is_known(n)) read_error(z->r, at, "'%s' is defined already", n->text);
    return new_temp(z, n, kind, cell);
}

Temp tree_read_temp(TreeReader *z) {
    Span at = z->r->at;
    Name *n = tree_read_name(z, "the name of a value");
    if (!is_known(n)) read_error(z->r, at, "'%s' is not defined here", n->text);
    if (n->buf) read_error(z->r, at, "expected a scalar, found an array");
    return n->temp;
}

Buf *tree_read_buf(TreeReader *z) {
    Span at = z->r->at;
    Name *n = tree_read_name(z, "the name of an array");
    if (!is_known(n)) read_error(z->r, at, "'%s' is not defined here", n->text);
    if (!n->buf) read_error(z->r, at, "expected an array, found %s", kind_name(z->t->temps.data[n->temp].kind));
    return n->buf;
}

// A list of values up to the closing character, after n that are there; returns how many there are then.
int tree_read_temps(TreeReader *z, int n, Temp *out, char close) {
    while (!read_is(z->r, close)) {
        if (n == MAX_LIST) read_error(z->r, z->r->at, "too many operands");
        out[n++] = tree_read_temp(z);
        if (!read_is(z->r, close)) read_expect(z->r, ',');
    }
    read_next(z->r);
    return n;
}

static Kind kind_of(const TreeReader *z, Temp t) { return z->t->temps.data[t].kind; }

// ---- arrays

static Buf *new_buf(TreeReader *z, Span at, Name *n, BufKind where, Kind kind) {
    if (is_known(n)) read_error(z->r, at, "'%s' is defined already", n->text);
    n->buf = ARENA_NEW(z->arena, Buf);
    *n->buf = (Buf){.id = z->t->bufs.len, .where = where, .kind = kind, .name = given_name(z, n->text)};
    vec_push(&z->t->bufs, n->buf);
    return n->buf;
}

int tree_read_later(TreeReader *z, Name *out[MAX_LIST]) {
    int n = 0;
    read_expect(z->r, '[');
    while (!read_is(z->r, ']')) {
        if (n == MAX_LIST) read_error(z->r, z->r->at, "too many operands");
        out[n++] = tree_read_name(z, "the name of a value");
        if (!read_is(z->r, ']')) read_expect(z->r, ',');
    }
    read_next(z->r);
    return n;
}

static void read_extents(TreeReader *z, Buf *b) {
    Name *extent[MAX_LIST];
    b->rank = tree_read_later(z, extent);
    b->extent = ARENA_ARRAY(z->arena, Temp, b->rank + 1);
    for (int k = 0; k < b->rank; k++) vec_push(&z->later, ((Later){extent[k], &b->extent[k]}));
}

// `input 1 x[n]`, `output 0 y[n]`: false if there is none.
static bool read_argument(TreeReader *z) {
    Reader *r = z->r;
    bool in = read_is_word(r, "input");
    if (!in && !read_is_word(r, "output")) return false;
    read_next(r);
    const Func *f = z->t->func;
    Span at = r->at;
    int64_t k = read_integer(r, in ? "the number of an input" : "the number of an output");
    Node *const *nodes = in ? f->inputs : f->outputs;
    if (k < 0 || k >= (in ? f->ninputs : f->noutputs) || !nodes[k]->rank)
        read_error(r, at, "no such array: the function has %d inputs and %d outputs", f->ninputs, f->noutputs);
    Span name = r->at;
    Buf *b = new_buf(z, name, tree_read_name(z, "the name of an array"), in ? BUF_INPUT : BUF_OUTPUT, nodes[k]->kind);
    b->number = (int)k;
    read_extents(z, b);
    if (b->rank != nodes[k]->rank) read_error(r, span_join(name, r->before), "expected %d extents", (int)nodes[k]->rank);
    return true;
}

static void set_later(TreeReader *z) {
    for (int i = 0; i < z->later.len; i++) {
        const Later *l = &z->later.data[i];
        if (l->name->buf) read_error(z->r, z->r->before, "expected a scalar, found an array");
        *l->to = l->name->temp >= 0 ? l->name->temp : new_temp(z, l->name, KIND_INT, false);
    }
}

// ---- what is computed

static Stmt *new_stmt(TreeReader *z, StmtKind kind, Temp dst, int n, const Temp *args) {
    return tree_stmt(z->arena, kind, dst, n, args, (Span){NULL, 0, 0});
}

static void set_args(TreeReader *z, Stmt *s, int n, const Temp *args) {
    s->nargs = n;
    s->args = ARENA_ARRAY(z->arena, Temp, n + 1);
    if (n) memcpy(s->args, args, sizeof *args * (size_t)n);
}

// The symbol of an operation that stands there, after its first character, which is the token; it is none if it is too long.
static void read_symbol(TreeReader *z, char out[4]) {
    int n = 0;
    Reader *r = z->r;
    if (r->tok == T_PUNCT) out[n++] = r->punct;
    while (n && n < 3 && *r->p && strchr("<=>&|*", *r->p)) out[n++] = *r->p++;
    out[n] = 0;
    read_next(r);
}

static void read_op(TreeReader *z, Stmt *s, Span at, const char *symbol, FsmForm form, int n, const Temp *args) {
    Op first = OP_COUNT;
    for (Op op = 0; op < OP_COUNT; op++) {
        const OpInfo *o = &op_info[op];
        if (!op_is_elementwise(op) || o->form != form || o->arity != n || strcmp(o->sym, symbol)) continue;
        if (first == OP_COUNT) first = op;
        if (!op_accepts(op, kind_of(z, args[0]), kind_of(z, args[n - 1]))) continue;
        s->kind = ST_OP, s->op = op;
        set_args(z, s, n, args);
        return;
    }
    if (first == OP_COUNT) read_error(z->r, at, "there is no operation '%s'", symbol);
    read_error(z->r, span_join(at, z->r->before), "'%s' does not take %s%s%s", symbol, kind_name(kind_of(z, args[0])),
               n > 1 ? " and " : "", n > 1 ? kind_name(kind_of(z, args[n - 1])) : "");
}

// A literal; *kind gets what it is.
static bool read_literal(TreeReader *z, Stmt *s, int *kind) {
    Reader *r = z->r;
    bool minus = read_is(r, '-'), narrow = read_is_word(r, "inff") || read_is_word(r, "nanf");
    if (minus && (!strncmp(r->p, "inff", 4) || !strncmp(r->p, "nanf", 4))) read_next(r), narrow = true;
    else if (minus) return false;
    s->kind = ST_LIT;
    if (r->tok == T_INTEGER) s->u.num = r->num, *kind = KIND_INT;
    else if (r->tok == T_REAL) s->u.real = r->real, *kind = r->single ? KIND_FLOAT : KIND_DOUBLE;
    else if (read_is_word(r, "true") || read_is_word(r, "false")) s->u.num = *r->text == 't', *kind = KIND_BOOL;
    else if (narrow || read_is_word(r, "inf") || read_is_word(r, "nan")) {
        s->u.real = *r->text == 'i' ? INFINITY : NAN, *kind = narrow ? KIND_FLOAT : KIND_DOUBLE;
        if (minus) s->u.real = copysign(s->u.real, -1.0);
    } else return false;
    read_next(r);
    return true;
}

enum { MOST_PASSED = 4000 }; // operands of calls

// What a C function or a procedure gets, and what it writes to.
static void read_passed(TreeReader *z, Stmt *s) {
    Reader *r = z->r;
    Temp args[MOST_PASSED + 1];
    Buf *in[MOST_PASSED + 1];
    int n = 0;
    read_expect(r, '(');
    while (!read_is(r, ')')) {
        if (s->nin == MOST_PASSED) read_error(r, r->at, "too many operands");
        Name *arg = is_name(z) ? name_of(z, r->text) : NULL;
        in[s->nin] = arg && arg->buf ? tree_read_buf(z) : NULL;
        if (!in[s->nin++]) args[n++] = tree_read_temp(z);
        if (!read_is(r, ')')) read_expect(r, ',');
    }
    read_next(r);
    if (read_accept_word(r, "to")) {
        do {
            if (s->nin == MOST_PASSED) read_error(r, r->at, "too many operands");
            in[s->nin++] = tree_read_buf(z), s->nout++;
        } while (read_accept(r, ','));
    }
    s->in = arena_copy(z->arena, in, sizeof *in * (size_t)(s->nin + 1));
    set_args(z, s, n, args);
}

static void read_extern(TreeReader *z, Stmt *s) {
    s->kind = ST_EXTERN;
    s->u.name = read_name(z->r, "the name of a C function");
    read_passed(z, s);
}

// What follows the name of a value: an element of an array, an operation, a choice, or what is in a cell.
static void read_of_name(TreeReader *z, Stmt *s) {
    Reader *r = z->r;
    Span at = r->at;
    Temp args[MAX_LIST + 1];
    Name *n = is_name(z) ? name_of(z, r->text) : NULL;
    if (n && n->buf) {
        s->kind = ST_LOAD, s->buf = tree_read_buf(z);
        read_expect(r, '[');
        int rank = tree_read_temps(z, 0, args, ']');
        set_args(z, s, rank, args);
        return;
    }
    args[0] = tree_read_temp(z);
    char symbol[4] = "";
    if (r->tok == T_PUNCT && strchr("+-*/%<=>&|", r->punct)) {
        Span of = r->at;
        read_symbol(z, symbol);
        args[1] = tree_read_temp(z);
        read_op(z, s, of, symbol, FSM_IN, 2, args);
    } else if (read_accept(r, '?')) {
        s->kind = ST_SELECT;
        args[1] = tree_read_temp(z);
        read_expect(r, ':');
        args[2] = tree_read_temp(z);
        set_args(z, s, 3, args);
    } else {
        s->kind = ST_GET;
        if (!z->t->temps.data[args[0]].cell)
            read_error(r, span_join(at, r->before), "expected an operation, or the name of a cell");
        set_args(z, s, 1, args);
    }
}

static void read_call(TreeReader *z, Stmt *s, int *kind) {
    Reader *r = z->r;
    Temp args[MAX_LIST + 1];
    Span at = r->at;
    const char *word = read_name(r, "a value");
    read_expect(r, '(');
    for (Kind k = KIND_BOOL; k <= KIND_DOUBLE; k++) {
        if (strcmp(word, kind_name(k))) continue;
        s->kind = ST_CONV, *kind = (int)k;
        args[0] = tree_read_temp(z);
        read_expect(r, ')');
        set_args(z, s, 1, args);
        return;
    }
    if (!strcmp(word, "threads")) {
        s->kind = ST_THREADS;
        read_expect(r, ')');
    } else if (!strcmp(word, "chunk")) {
        s->kind = ST_CHUNK;
        for (int k = 0; k < 3; k++) args[k] = tree_read_temp(z), read_expect(r, ',');
        set_args(z, s, 3, args);
        s->u.num = read_integer(r, "a number");
        read_expect(r, ')');
    } else {
        int n = tree_read_temps(z, 0, args, ')');
        if (!n) read_error(r, r->before, "expected %s", "an operand");
        read_op(z, s, at, word, FSM_FN, n, args);
    }
}

static void read_value(TreeReader *z, Stmt *s, int *kind) {
    Reader *r = z->r;
    Temp a;
    Span at = r->at;
    if (read_literal(z, s, kind)) return;
    if (read_is(r, '-') || read_is(r, '!')) {
        const char symbol[] = {r->punct, 0};
        read_next(r);
        a = tree_read_temp(z);
        read_op(z, s, at, symbol, FSM_PRE, 1, &a);
    } else if (read_accept_word(r, "arg")) {
        at = r->at;
        s->kind = ST_ARG, s->u.num = read_integer(r, "the number of an input");
        if (s->u.num < 0 || s->u.num >= z->t->func->ninputs) read_error(r, at, "the function has %d inputs", z->t->func->ninputs);
    } else if (read_accept_word(r, "param")) {
        s->kind = ST_PARAM, s->u.num = read_integer(r, "the number of a parameter");
    } else if (read_accept_word(r, "extern")) read_extern(z, s);
    else if (read_skip_space(r), r->tok == T_NAME && *r->p == '(') read_call(z, s, kind);
    else read_of_name(z, s);
}

// ---- statements

static void read_stmt(TreeReader *z, Block *to);

static int64_t number_in_range(TreeReader *z, const char *what, int64_t low, int64_t high) {
    Span at = z->r->at;
    int64_t n = read_integer(z->r, what);
    if (n < low || n > high) read_error(z->r, at, "expected a number from %lld to %lld", (long long)low, (long long)high);
    return n;
}

// `a[i, j]`, after n arguments.
static void read_element(TreeReader *z, Stmt *s, int n, Temp *args) {
    s->buf = tree_read_buf(z);
    read_expect(z->r, '[');
    n = tree_read_temps(z, n, args, ']');
    set_args(z, s, n, args);
}

static Stmt *read_store(TreeReader *z) {
    Temp args[MAX_LIST + 1] = {-1};
    Stmt *s = new_stmt(z, ST_STORE, -1, 0, NULL);
    read_element(z, s, 1, args);
    if (read_accept(z->r, '+')) s->kind = ST_ADDTO;
    read_expect(z->r, '=');
    s->args[0] = tree_read_temp(z);
    return s;
}

// `x = …`, `x: f64 = …`: what is computed, or a cell that is set.
static Stmt *read_definition(TreeReader *z) {
    Reader *r = z->r;
    Span at = r->at;
    Name *n = name_of(z, r->text);
    if (n->buf) return read_store(z);
    Stmt *s = new_stmt(z, ST_SET, -1, 0, NULL);
    read_next(r);
    if (n->temp >= 0 && z->t->temps.data[n->temp].cell) {
        read_expect(r, '=');
        Temp a = tree_read_temp(z);
        s->dst = n->temp;
        set_args(z, s, 1, &a);
        return s;
    }
    int said = read_accept(r, ':') ? (int)read_kind(r) : -1, kind = -1;
    read_expect(r, '=');
    read_value(z, s, &kind);
    if (kind < 0) kind = tree_kind_of(z->t, s);
    bool narrow = s->kind == ST_LIT && kind == KIND_INT && said == KIND_INT32;
    if (kind < 0 && said < 0) read_error(r, at, "expected %s", "the type of the result");
    if (kind >= 0 && said >= 0 && kind != said && !narrow)
        read_error(r, at, "expected %s, found %s", kind_name((Kind)said), kind_name((Kind)kind));
    s->dst = define(z, at, n, (Kind)(said >= 0 ? said : kind), false);
    return s;
}

static Stmt *read_cell(TreeReader *z) {
    Span at = z->r->at;
    Name *n = tree_read_name(z, "the name of a cell");
    read_expect(z->r, '=');
    Temp a = tree_read_temp(z);
    return new_stmt(z, ST_CELL, define(z, at, n, kind_of(z, a), true), 1, &a);
}

static Buf *read_declared(TreeReader *z, BufKind where) {
    Span at = z->r->at;
    Name *n = tree_read_name(z, "the name of an array");
    read_expect(z->r, ':');
    Kind kind = read_kind(z->r);
    Buf *b = new_buf(z, at, n, where, kind);
    read_extents(z, b);
    return b;
}

static Stmt *read_new(TreeReader *z) {
    Stmt *s = new_stmt(z, ST_NEW, -1, 0, NULL);
    s->buf = read_declared(z, BUF_TEMP);
    s->buf->home = z->around;
    return s;
}

static Stmt *read_procedure_call(TreeReader *z) {
    Stmt *s = new_stmt(z, ST_CALL, -1, 0, NULL);
    s->u.num = read_integer(z->r, "the number of a procedure");
    read_passed(z, s);
    return s;
}

static void read_proc_array(TreeReader *z, Stmt *s, Buf **in) {
    if (s->nin == MOST_PASSED) read_error(z->r, z->r->at, "too many operands");
    in[s->nin] = read_declared(z, BUF_PARAM);
    in[s->nin]->number = s->nin;
    s->nin++;
}

// What stands before the body: the number, and the arrays.
static Stmt *read_proc(TreeReader *z) {
    Reader *r = z->r;
    Buf *in[MOST_PASSED + 1];
    Stmt *s = new_stmt(z, ST_PROC, -1, 0, NULL);
    s->u.num = read_integer(r, "the number of a procedure");
    read_expect(r, '(');
    if (!read_accept(r, ')')) {
        do read_proc_array(z, s, in);
        while (read_accept(r, ','));
        read_expect(r, ')');
    }
    if (read_accept_word(r, "to")) {
        do read_proc_array(z, s, in), s->nout++;
        while (read_accept(r, ','));
    }
    s->in = arena_copy(z->arena, in, sizeof *in * (size_t)(s->nin + 1));
    return s;
}

static Stmt *read_fill(TreeReader *z) {
    Stmt *s = new_stmt(z, ST_FILL, -1, 0, NULL);
    s->buf = tree_read_buf(z);
    read_expect(z->r, '=');
    Temp a = tree_read_temp(z);
    set_args(z, s, 1, &a);
    return s;
}

static Stmt *read_copy(TreeReader *z) {
    Stmt *s = new_stmt(z, ST_COPY, -1, 0, NULL);
    s->buf = tree_read_buf(z);
    read_expect(z->r, '=');
    s->src = tree_read_buf(z);
    return s;
}

static void expect_word(TreeReader *z, const char *word) {
    if (!read_accept_word(z->r, word)) read_error(z->r, z->r->at, "expected '%s'", word);
}

static Stmt *read_move(TreeReader *z) {
    Temp args[2];
    Stmt *s = new_stmt(z, ST_MOVE, -1, 0, NULL);
    args[1] = tree_read_temp(z);
    expect_word(z, "of");
    s->src = tree_read_buf(z);
    expect_word(z, "to");
    s->buf = tree_read_buf(z);
    expect_word(z, "from");
    args[0] = tree_read_temp(z);
    expect_word(z, "dim");
    s->u.num = read_integer(z->r, "the number of a dimension");
    set_args(z, s, 2, args);
    return s;
}

static Stmt *read_fetch(TreeReader *z) {
    Temp args[MAX_LIST + 1];
    Stmt *s = new_stmt(z, ST_FETCH, -1, 0, NULL);
    args[0] = tree_read_temp(z);
    expect_word(z, "from");
    read_element(z, s, 1, args);
    return s;
}

static Stmt *read_break(TreeReader *z) {
    expect_word(z, "unless");
    Temp a = tree_read_temp(z);
    return new_stmt(z, ST_BREAK, -1, 1, &a);
}

static Stmt *read_out(TreeReader *z) {
    int64_t k = number_in_range(z, "the number of an output", 0, z->t->func->noutputs - 1);
    read_expect(z->r, '=');
    Temp a = tree_read_temp(z);
    Stmt *s = new_stmt(z, ST_OUT, -1, 1, &a);
    s->u.num = k;
    return s;
}

static Stmt *read_check(TreeReader *z) {
    Temp args[MAX_LIST + 1];
    int n = 1;
    args[0] = tree_read_temp(z);
    expect_word(z, "else");
    Stmt *s = new_stmt(z, ST_CHECK, -1, 0, NULL);
    s->u.check = ARENA_NEW(z->arena, CheckInfo);
    s->u.check->code = (int)number_in_range(z, "an error code", 1, INT_MAX);
    s->u.check->text = read_string(z->r);
    if (read_accept(z->r, '(')) n = tree_read_temps(z, n, args, ')');
    set_args(z, s, n, args);
    read_place(z->r, &s->u.check->span);
    s->span = s->u.check->span;
    return s;
}

// ---- statements with a body

static void read_block(TreeReader *z, Block *b) {
    Reader *r = z->r;
    Block *outer = z->around;
    if (read_accept(r, '#')) { // a label
        if (!read_accept_word(r, "block")) read_error(r, r->at, "expected '%s'", "block");
        tree_note_label(z, b);
    }
    read_expect(r, '{');
    if (++r->depth > MAX_NESTING) read_error(r, r->before, "nested too deeply");
    z->around = b;
    while (!read_is(r, '}')) read_stmt(z, b);
    read_next(r);
    z->around = outer;
    r->depth--;
}

static Stmt *read_for(TreeReader *z) {
    Reader *r = z->r;
    Span at = r->at;
    Name *n = tree_read_name(z, "the name of an index variable");
    Temp args[2];
    bool from = read_accept(r, '=');
    if (from) args[1] = tree_read_temp(z);
    read_expect(r, '<');
    args[0] = tree_read_temp(z);
    return new_stmt(z, ST_FOR, define(z, at, n, KIND_INT, false), 1 + from, args);
}

static Stmt *read_loop(TreeReader *z) { return new_stmt(z, ST_LOOP, -1, 0, NULL); }

static Stmt *read_if(TreeReader *z) {
    Temp a = tree_read_temp(z);
    return new_stmt(z, ST_IF, -1, 1, &a);
}

static const struct {
    const char *word;
    Stmt *(*read)(TreeReader *z);
} statements[] = {
    {"for", read_for},     {"loop", read_loop},   {"if", read_if},     {"var", read_cell},
    {"new", read_new},     {"fill", read_fill},   {"copy", read_copy}, {"move", read_move},
    {"fetch", read_fetch}, {"break", read_break}, {"out", read_out},   {"check", read_check},
    {"proc", read_proc},   {"call", read_procedure_call},
};

// A statement without marks and what is in it.
Stmt *tree_read_simple(TreeReader *z) {
    Reader *r = z->r;
    for (size_t k = 0; k < sizeof statements / sizeof *statements && r->tok == T_NAME; k++)
        if (read_accept_word(r, statements[k].word)) return statements[k].read(z);
    if (!is_name(z)) read_error(r, r->at, "expected a statement");
    return read_definition(z);
}

static void read_stmt(TreeReader *z, Block *to) {
    Reader *r = z->r;
    Span at = r->at;
    Stmt *s = tree_read_simple(z);
    vec_push(&to->stmts, s);
    vec_push(&z->places, ((StmtPlace){s, span_join(at, r->before)}));
    tree_read_marks(z, s);
    read_place(r, &s->span);
    if (s->kind != ST_FOR && s->kind != ST_LOOP && s->kind != ST_IF && s->kind != ST_PROC) return;
    s->body = ARENA_NEW(z->arena, Block);
    if (s->kind == ST_FOR) vec_push(&z->loops, ((LoopBody){s->dst, s->body}));
    read_block(z, s->body);
    if (s->kind == ST_IF && read_accept_word(r, "else")) read_block(z, s->other = ARENA_NEW(z->arena, Block));
}

// ---- trees

// ` of (k[_], pairs[_, 0])`: the least and the greatest elements of these are names.
static void read_measured(TreeReader *z, const Func *f) {
    Reader *r = z->r;
    Ir *m = r->m;
    int number = f->ninputs;
    read_expect(r, '(');
    do {
        Span at = r->at;
        const char *name = read_name(r, "the name of an argument");
        const Node *array = read_entry(r, name)->node;
        bool ints = array && (array->kind == KIND_INT || array->kind == KIND_INT32);
        if (!ints || array->op != OP_input || !array->rank)
            read_error(r, at, "'%s' is no argument that is an array of integers", name);
        int64_t *index = ARENA_ARRAY(z->arena, int64_t, array->rank);
        for (int k = 0; k < array->rank; k++) {
            read_expect(r, k ? ',' : '[');
            index[k] = read_accept_word(r, "_") ? -1 : number_in_range(z, "a number", 0, INT32_MAX);
        }
        read_expect(r, ']');
        at = span_join(at, r->before);
        if (!ir_may_be_measured(array->rank, index))
            read_error(r, at, "what is measured has all of some dimensions that follow each other");
        if (m->nmeasured == MOST_MEASURED) read_error(r, at, "more than %d arguments are measured", MOST_MEASURED);
        Measured x = ir_measured(m, number, array, index, false);
        number += 2;
        ir_measure(m, x);
        read_define(r, at, x.least->name, x.least);
        read_define(r, at, x.greatest->name, x.greatest);
    } while (read_accept(r, ','));
    read_expect(r, ')');
}

// `for sizes >= 1, n >= 5, (sub m (mul 4 n)) >= 0`: of the inputs.
static void read_sizes(TreeReader *z, Func *f) {
    Reader *r = z->r;
    Ir *m = r->m;
    if (!read_accept_word(r, "for")) return;
    expect_word(z, "sizes");
    read_expect(r, '>'), read_expect(r, '=');
    if (read_integer(r, "a number") != 1) read_error(r, r->before, "expected a number from %lld to %lld", 1LL, 1LL);
    m->positive = true;
    m->least = ARENA_ARRAY(z->arena, int64_t, ir_argument_numbers(f));
    for (int k = 0; k < ir_argument_numbers(f); k++) m->least[k] = k < f->nsizes ? 1 : INT64_MIN;
    if (read_accept_word(r, "of")) read_measured(z, f);
    while (read_accept(r, ',')) {
        Span at = r->at;
        Node *e = read_typed_operand(r, KIND_INT, 0);
        at = span_join(at, r->before);
        read_expect(r, '>'), read_expect(r, '=');
        int64_t least = number_in_range(z, "a number", 0, INT64_MAX);
        if (e->op == OP_input) {
            if (least > m->least[e->u.num]) m->least[e->u.num] = least;
            continue;
        }
        if (!ir_may_be_assumed(e) || least)
            read_error(r, at, "only a short Int of inputs is assumed to be at least 0");
        if (m->nassumed == MOST_ASSUMED) read_error(r, at, "more than %d Ints are assumed to be at least 0", MOST_ASSUMED);
        ir_assume(m, e);
    }
}

static void verify(TreeReader *z) {
    const Stmt *at = NULL;
    const char *what = tree_fault(z->arena, z->t, &at);
    for (int i = 0; what && i < z->places.len; i++)
        if (z->places.data[i].s == at) read_error(z->r, z->places.data[i].at, "this is no loop tree: %s", what);
    if (what) read_error(z->r, z->t->func->span, "this is no loop tree: %s", what);
}

static void read_body(TreeReader *z) {
    Reader *r = z->r;
    Tree *t = z->t;
    while (read_argument(z)) {}
    z->around = t->body = ARENA_NEW(z->arena, Block);
    while (!read_is(r, '}'))
        if (read_accept_word(r, "end")) t->prologue = t->body->stmts.len;
        else read_stmt(z, t->body);
    read_next(r);
    set_later(z);
    tree_set_homes(z);
    verify(z);
}

// One version of a function. Names are its own.
static Tree *read_version(TreeReader *z, const char *word) {
    Reader *r = z->r;
    Tree *t = z->t = ARENA_NEW(z->arena, Tree);
    vec_push(&z->made, t);
    t->ir = r->m = ir_new(z->arena);
    t->ir->raw = t->ir->planning = true; // values are as they are written
    r->buckets = r->entries = r->scope.len = 0;
    z->later.len = z->places.len = z->loops.len = z->homes.len = z->labels.len = 0;
    Func *f = read_signature(r, word);
    t->func = f;
    read_sizes(z, f);
    read_place(r, &f->span);
    read_expect(r, '{');
    read_facts(r, f);
    t->ir->raw = t->ir->planning = false;
    read_body(z);
    return t;
}

static bool same_type(const Node *a, const Node *b) { return a->kind == b->kind && a->rank == b->rank; }

// Does it take what f takes, and give so many results, like f's or, of extents, all Int?
static void require_like(TreeReader *z, const Func *g, const Func *f, bool extents) {
    int n = 0;
    for (int k = 0; k < f->noutputs; k++) n += extents ? f->outputs[k]->rank : 1;
    bool same = g->ninputs == f->ninputs && g->nsizes == f->nsizes && g->noutputs == n;
    for (int k = 0; same && k < g->ninputs; k++) same = same_type(g->inputs[k], f->inputs[k]);
    for (int k = 0; same && k < n; k++)
        same = extents ? g->outputs[k]->kind == KIND_INT && !g->outputs[k]->rank : same_type(g->outputs[k], f->outputs[k]);
    if (!same) read_error(z->r, g->span, "the inputs and outputs are not those that belong to '%s'", f->name);
}

static Tree *read_tree(TreeReader *z) {
    Tree *t = read_version(z, "tree");
    if (read_is_word(z->r, "otherwise")) {
        t->otherwise = read_version(z, "otherwise");
        z->made.len--;
        require_like(z, t->otherwise->func, t->func, false);
    }
    if (read_is_word(z->r, "sizes")) {
        t->sizes = read_version(z, "sizes");
        z->made.len--;
        require_like(z, t->sizes->func, t->func, true);
    }
    return t;
}

static void read_trees(TreeReader *z) {
    Reader *r = z->r;
    if (strlen(r->src->text) != r->src->len) read_error(r, (Span){r->src, 0, 0}, "this is not a text: it has a zero byte");
    read_next(r);
    do read_tree(z);
    while (r->tok != T_END);
}

Tree **tree_read(Arena *arena, Diag *diag, const Source *src, int *n) {
    jmp_buf out;
    TreeReader *z = ARENA_NEW(arena, TreeReader);
    Reader *r = z->r = ARENA_NEW(arena, Reader);
    z->arena = arena;
    Ir first = {.arena = arena}; // of messages, before there is a tree
    *r = (Reader){.m = &first,
                  .diag = diag,
                  .src = src,
                  .exact = true,
                  .out = &out,
                  .p = src->text,
                  .symbols = "@?+-*/%!&|>",
                  .floats = true,
                  .places = &z->files};
    bool failed = setjmp(out);
    if (!failed) read_trees(z);
    place_finish(&z->files, arena);
    Tree **trees = failed ? NULL : arena_copy(arena, z->made.data, sizeof *trees * (size_t)z->made.len);
    for (int i = 0; failed && i < z->made.len; i++) tree_free(z->made.data[i]);
    *n = failed ? 0 : z->made.len;
    vec_free(&r->scope);
    vec_free(&z->made), vec_free(&z->later), vec_free(&z->places), vec_free(&z->loops);
    vec_free(&z->homes), vec_free(&z->labels);
    return trees;
}

// ---- what is printed is read

static void first_difference(Str *why, const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    str_printf(why, "it is printed otherwise: `%.60s`, then `%.60s`", a, b);
}

Tree *tree_reread(Arena *arena, const Tree *t, Str *why) {
    Str once = {0}, twice = {0};
    Diag *diag = diag_new(arena);
    int n;
    tree_write_places(&once, t);
    const Source src = {"tree", arena_strndup(arena, str_text(&once), once.len), once.len};
    Tree **trees = tree_read(arena, diag, arena_copy(arena, &src, sizeof src), &n), *back = trees ? trees[0] : NULL;
    if (!back) diag_print(diag, why, false);
    if (back) tree_write_places(&twice, back);
    if (back && strcmp(str_text(&once), str_text(&twice))) {
        first_difference(why, str_text(&once), str_text(&twice));
        tree_free(back);
        back = NULL;
    }
    diag_delete(diag);
    str_free(&once), str_free(&twice);
    return back;
}

bool tree_round_trips(Arena *arena, const Tree *t, Str *why) {
    Tree *back = tree_reread(arena, t, why);
    if (back) tree_free(back);
    return back;
}
