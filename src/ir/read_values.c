// Values in the textual form of the IR: operands, operations, binders and loops.
#include "ir/read_internal.h"
#include "ir/scalar.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

// ---- operands

static Node *value(Reader *r);

Kind read_kind(Reader *r) {
    for (Kind k = KIND_BOOL; k <= KIND_DOUBLE; k++)
        if (read_accept_word(r, kind_name(k))) return k;
    read_error(r, r->at, "expected a type: bool, i64, f32 or f64");
}

static Node *float_literal(Reader *r) {
    double x = 0;
    if (r->tok == T_REAL) x = r->real;
    else if (r->tok == T_INTEGER) x = (double)r->num;
    else if (read_is_word(r, "inf")) x = INFINITY;
    else if (read_is_word(r, "nan")) x = NAN;
    else read_error(r, r->at, "expected a number after 'f32'");
    read_next(r);
    return ir_real(r->m, KIND_FLOAT, x);
}

static Node *real_literal(Reader *r, double x) {
    read_next(r);
    return ir_real(r->m, KIND_DOUBLE, x);
}

// A value or loop by name, a literal, or a value in parentheses.
static Node *operand_or_loop(Reader *r) {
    if (r->tok == T_INTEGER) return ir_int(r->m, read_integer(r, "a number"));
    if (r->tok == T_REAL) return real_literal(r, r->real);
    if (read_is(r, '(')) {
        read_next(r);
        if (++r->depth > MAX_NESTING) read_error(r, r->before, "nested too deeply");
        Node *e = value(r);
        r->depth--;
        read_expect(r, ')');
        return e;
    }
    if (r->tok == T_NAME) {
        if (read_accept_word(r, "f32")) return float_literal(r);
        if (read_accept_word(r, "true")) return ir_bool(r->m, true);
        if (read_accept_word(r, "false")) return ir_bool(r->m, false);
        if (read_is_word(r, "inf")) return real_literal(r, INFINITY);
        if (read_is_word(r, "nan")) return real_literal(r, NAN);
    }
    if (r->tok != T_NAME && r->tok != T_QUOTED && r->tok != T_VALUE) read_error(r, r->at, "expected a value");
    Node *e = read_entry(r, r->text)->node;
    if (!e) read_error(r, r->at, "'%s' is not defined here", r->text);
    read_next(r);
    return e;
}

static Node *operand(Reader *r) {
    Span at = r->at;
    Node *e = operand_or_loop(r);
    if (ir_is_loop(e)) read_error(r, span_join(at, r->before), "this is a loop; 'final' reads its states");
    return e;
}

static const char *type_text(Reader *r, Kind k, int rank) {
    return rank ? arena_printf(r->m->arena, "%s of rank %d", kind_name(k), rank) : kind_name(k);
}

// An operand of the given kind and rank.
Node *read_typed_operand(Reader *r, Kind k, int rank) {
    Span at = r->at;
    Node *e = operand(r);
    if (e->kind != k || e->rank != rank)
        read_error(r, span_join(at, r->before), "expected %s, found %s", type_text(r, k, rank), type_text(r, e->kind, e->rank));
    return e;
}

static Node *scalar_operand(Reader *r) {
    Span at = r->at;
    Node *e = operand(r);
    if (e->rank) read_error(r, span_join(at, r->before), "expected a scalar, found %s", type_text(r, e->kind, e->rank));
    return e;
}

static Node *array_operand(Reader *r) {
    Span at = r->at;
    Node *e = operand(r);
    if (!e->rank) read_error(r, span_join(at, r->before), "expected an array, found %s", kind_name(e->kind));
    return e;
}

// "[" extents "]" or nothing; returns the rank.
int read_shape(Reader *r, Node **out) {
    int n = 0;
    if (!read_accept(r, '[')) return 0;
    do {
        if (n == MAX_LIST) read_error(r, r->at, "too many extents");
        out[n++] = read_typed_operand(r, KIND_INT, 0);
    } while (read_accept(r, ','));
    read_expect(r, ']');
    return n;
}

// ---- values

static Node *elementwise(Reader *r, Op op) {
    Span at = r->at;
    Node *a = scalar_operand(r), *b = op_info[op].arity == 2 ? scalar_operand(r) : NULL;
    if (!op_accepts(op, a->kind, b ? b->kind : a->kind))
        read_error(r, span_join(at, r->before), "'%s' does not take %s%s%s", op_info[op].name, kind_name(a->kind), b ? " and " : "",
                   b ? kind_name(b->kind) : "");
    bool exact = r->exact && a->kind == KIND_INT;
    if (exact && (op == OP_add || op == OP_sub || op == OP_neg || (op == OP_mul && !int_mul_is_opaque(r->m, a, b))))
        return ir_op_plain(r->m, op, KIND_INT, a, b);
    return ir_op(r->m, op, a, b);
}

static Node *at_value(Reader *r) {
    Node *a = array_operand(r), *idx[MAX_LIST];
    Span at = r->at;
    if (!read_is(r, '[')) read_error(r, r->at, "expected '['");
    int n = read_shape(r, idx);
    if (n > a->rank) read_error(r, span_join(at, r->before), "%d indices into an array of rank %d", n, a->rank);
    return ir_at(r->m, a, n, idx);
}

static Node *pack_value(Reader *r) {
    Node *ext[MAX_LIST];
    int64_t extent[MAX_LIST], count = 1;
    Kind k = read_kind(r);
    Span at = r->at;
    int rank = read_shape(r, ext);
    if (!rank) read_error(r, at, "expected the array's extents");
    for (int i = 0; i < rank; i++) {
        bool ok = ir_is_int_lit(ext[i], &extent[i]) && extent[i] >= 0;
        if (!ok || __builtin_mul_overflow(count, extent[i], &count) || count > INT32_MAX / 2)
            read_error(r, span_join(at, r->before), "the extents of an array literal are small constants");
    }
    VEC(Node *) elem = {0};
    for (int64_t i = 0; i < count; i++) { // may leave by an error: what is kept is in the arena
        Node *e = read_typed_operand(r, k, 0);
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
    Node *c = read_typed_operand(r, KIND_BOOL, 0);
    const char *text = read_string(r);
    Node *e = operand(r), *values[MAX_LIST];
    int n = read_shape(r, values);
    return ir_assert_values(r->m, c, text, e, n, values);
}

// A list of operands, of scalars unless there is a signature; n are there already. Returns how many there are then.
static int extern_operands(Reader *r, const char *signature, int n, Node **args) {
    read_expect(r, '(');
    if (signature && read_accept(r, ')')) return n;
    do {
        if (n == MAX_LIST) read_error(r, r->at, "too many operands");
        args[n++] = signature ? operand(r) : scalar_operand(r);
    } while (read_accept(r, ','));
    read_expect(r, ')');
    return n;
}

static Node *evaluated_value(Reader *r) {
    Node *e[MAX_LIST];
    int n = extern_operands(r, "", 0, e);
    return ir_evaluated(r->m, n, e);
}

// The type of the result, whose extents come last; or the number of one of several, and all their types.
static int extern_results(Reader *r, Extern *x, Node **extents) {
    ExternResult results[EXTERN_RESULTS];
    Span at = r->at;
    int64_t which = 0;
    bool several = r->tok == T_INTEGER;
    if (several) {
        which = read_integer(r, "the number of a result");
        if (!read_accept_word(r, "of")) read_error(r, r->at, "expected 'of' and the types of the results");
    }
    do {
        if (x->nresults == EXTERN_RESULTS || x->nextents > MAX_LIST) read_error(r, r->at, "too many results");
        ExternResult *y = &results[x->nresults++];
        *y = (ExternResult){.kind = read_kind(r), .rank = several ? read_shape(r, extents + x->nextents) : 0};
        x->nextents += y->rank;
    } while (several && read_accept(r, ','));
    if (which < 0 || which >= x->nresults) read_error(r, at, "there is no result %lld", (long long)which);
    x->results = arena_copy(r->m->arena, results, sizeof *results * (size_t)x->nresults);
    return (int)which;
}

static Node *extern_value(Reader *r) {
    Node *args[3 * MAX_LIST], *extents[2 * MAX_LIST];
    Extern ext = {0};
    int which = extern_results(r, &ext, extents);
    Span at = r->at;
    ext.name = read_string(r);
    bool word = isalpha((unsigned char)*ext.name) || *ext.name == '_';
    for (const char *c = ext.name; *c; c++) word &= isalnum((unsigned char)*c) || *c == '_';
    if (!word) read_error(r, at, "'%s' is not the name of a C function", ext.name);
    int n = 0;
    if (ext.nresults > 1 && r->tok != T_STRING)
        read_error(r, r->at, "a C function with several results has a declaration");
    if (r->tok == T_STRING) {
        ext.signature = read_string(r);
        n = extern_operands(r, ext.signature, 0, args);
        if (!n || args[0]->kind != KIND_BOOL) read_error(r, at, "the first operand of a C function of arrays is a Bool");
        ext.nsizes = n - 1;
    }
    n = extern_operands(r, ext.signature, n, args);
    if (ext.signature && ext.nresults == 1) ext.nextents = ext.results[0].rank = read_shape(r, extents);
    bool narrow = false;
    for (int i = 0; i < ext.nresults; i++) narrow |= ext.results[i].kind == KIND_INT32;
    for (int i = 0; i < n; i++) narrow |= args[i]->kind == KIND_INT32;
    if (narrow) read_error(r, at, "a C function does not take or give i32");
    memcpy(args + n, extents, sizeof *args * (size_t)ext.nextents);
    return ir_extern(r->m, arena_copy(r->m->arena, &ext, sizeof ext), which, n + ext.nextents, args);
}

static Node *select_value(Reader *r) {
    Node *c = read_typed_operand(r, KIND_BOOL, 0);
    Node *a = operand(r), *b = read_typed_operand(r, a->kind, a->rank);
    return ir_select(r->m, c, a, b);
}

static Node *final_value(Reader *r, Op op) {
    Span at = r->at;
    Node *loop = operand_or_loop(r);
    if (!ir_is_loop(loop)) read_error(r, span_join(at, r->before), "expected a loop");
    if (op == OP_count) return ir_count(r->m, loop);
    at = r->at;
    bool trace = op == OP_trace;
    int64_t k = read_integer(r, trace ? "the number of an output" : "the number of a state");
    int n = trace ? loop->u.loop->nout : loop->u.loop->n;
    if (k < 0 || k >= n) read_error(r, at, trace ? "the loop has %d outputs" : "the loop has %d states", n);
    return trace ? ir_trace(r->m, loop, (int)k) : ir_final(r->m, loop, (int)k);
}

// ---- binders

// Opens a body; returns the mark for close_body.
static int open_body(Reader *r) {
    read_expect(r, '{');
    if (++r->depth > MAX_NESTING) read_error(r, r->before, "nested too deeply");
    return r->scope.len;
}

static void close_body(Reader *r, int mark) {
    read_expect(r, '}');
    read_leave(r, mark);
    r->depth--;
}

// The values of a body: lines "%name = value".
void read_lines(Reader *r) {
    while (r->tok == T_VALUE) {
        const char *text = r->text;
        Span at = r->at;
        read_next(r);
        read_expect(r, '=');
        Span outer = r->m->span;
        r->m->span = at;
        Node *e = value(r);
        r->m->span = outer;
        read_place(r, &e->span);
        read_define(r, at, text, e);
    }
}

static Var *index_header(Reader *r, const char **hint, Span *at) {
    *at = r->at;
    *hint = read_name(r, "the name of an index variable");
    read_expect(r, '<');
    return ir_index(r->m, *hint, read_typed_operand(r, KIND_INT, 0));
}

static int64_t attribute(Reader *r, const char *word, int64_t max) {
    if (!read_accept_word(r, word)) return 0;
    Span at = r->at;
    int64_t n = read_integer(r, "a number");
    if (n < 1 || n > max) read_error(r, at, "expected a number from 1 to %lld", (long long)max);
    return n;
}

// What attributes ask of the loop over v.
static void wishes(Reader *r, Var *v) {
    while (read_accept(r, '#')) {
        Span at = r->at;
        int k = 0;
        while (k < WISH_COUNT && !(r->tok == T_NAME && !strcmp(r->text, wish_info[k].name))) k++;
        if (k == WISH_COUNT) read_error(r, at, "expected an attribute of loops");
        int64_t number = 1;
        if (wish_info[k].number) number = attribute(r, wish_info[k].name, INT_MAX);
        else read_next(r);
        v->wishes.of[k] = wish_new(r->m, (WishKind)k, number, span_join(at, r->before));
    }
}

static Node *binder_value(Reader *r, Op op) {
    const char *hint;
    Span at;
    Var *v = index_header(r, &hint, &at);
    int mark = open_body(r);
    read_define(r, at, hint, ir_var(v));
    read_lines(r);
    if (!read_accept_word(r, "yield")) read_error(r, r->at, "expected 'yield' or a value's name");
    at = r->at;
    Node *body = op == OP_gen ? operand(r) : op == OP_sum ? operand(r) : scalar_operand(r);
    if (op != OP_gen && (body->kind == KIND_BOOL || body->kind == KIND_INT32))
        read_error(r, span_join(at, r->before), "expected a number, found %s", kind_name(body->kind));
    if (body->rank == UINT8_MAX) read_error(r, span_join(at, r->before), "the array has too many dimensions");
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
    if (s->n == MAX_LIST) read_error(r, r->at, "too many states");
    Node *ext[MAX_LIST];
    int k = s->n++;
    s->at[k] = r->at;
    s->name[k] = read_name(r, "the name of a state");
    read_expect(r, ':');
    Kind what = read_kind(r);
    int rank = read_shape(r, ext);
    read_expect(r, '=');
    s->var[k] = ir_state(r->m, s->name[k], what, rank, ext);
    s->init[k] = read_typed_operand(r, what, rank);
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
    if (varies) read_error(r, span_join(at, r->before), "the shape of an output is not the same in all iterations");
    return e;
}

static Node *loop_value(Reader *r, Op op) {
    States *s = ARENA_NEW(r->m->arena, States);
    Var *index = NULL;
    const char *hint = NULL;
    Span at;
    if (op == OP_fold) {
        index = index_header(r, &hint, &at);
        read_expect(r, ',');
    }
    do state_header(r, s);
    while (read_accept(r, ','));
    int mark = open_body(r);
    if (index) read_define(r, at, hint, ir_var(index));
    for (int k = 0; k < s->n; k++) read_define(r, s->at[k], s->name[k], ir_var(s->var[k]));
    read_lines(r);
    Node *cond = NULL;
    if (op == OP_while) {
        if (!read_accept_word(r, "test")) read_error(r, r->at, "expected 'test' or a value's name");
        cond = read_typed_operand(r, KIND_BOOL, 0);
        read_lines(r);
    }
    if (!read_accept_word(r, "yield")) read_error(r, r->at, "expected 'yield' or a value's name");
    for (int k = 0; k < s->n; k++) {
        if (k) read_expect(r, ',');
        s->step[k] = read_typed_operand(r, s->var[k]->kind, s->var[k]->rank);
    }
    if (read_accept_word(r, "trace")) {
        do {
            if (s->nout == MAX_LIST) read_error(r, r->at, "too many outputs");
            s->out[s->nout++] = loop_out(r, s, index);
        } while (read_accept(r, ','));
    }
    Loop l = {.index = index, .n = s->n, .state = s->var, .nout = s->nout};
    l.levels = (int)attribute(r, "stripmine", INT_MAX);
    l.block = read_accept_word(r, "block");
    l.limit = attribute(r, "tapeLimit", INT64_MAX);
    if (index) wishes(r, index);
    close_body(r, mark);
    if (op == OP_fold) return ir_fold_out(r->m, &l, s->init, s->step, s->out);
    return ir_while_out(r->m, &l, s->init, cond, s->step, s->out);
}

// An operation with its operands.
static Node *value(Reader *r) {
    if (r->tok != T_NAME) read_error(r, r->at, "expected an operation");
    Op op = OP_COUNT;
    for (Op k = 0; k < OP_COUNT; k++)
        if (!strcmp(op_info[k].name, r->text)) op = k;
    if (op == OP_COUNT) read_error(r, r->at, "there is no operation '%s'", r->text);
    Span at = r->at;
    read_next(r);
    if (op_is_elementwise(op)) return elementwise(r, op);
    switch (op) {
    case OP_conv: {
        Kind k = read_kind(r);
        at = r->at;
        Node *a = scalar_operand(r);
        if ((k == KIND_INT32 || a->kind == KIND_INT32) && k != a->kind && k != KIND_INT && a->kind != KIND_INT)
            read_error(r, at, "i32 is only converted from and to i64");
        return ir_conv(r->m, k, a);
    }
    case OP_stop: return ir_stop(r->m, operand(r));
    case OP_select: return select_value(r);
    case OP_bracket: {
        Node *p = read_typed_operand(r, KIND_BOOL, 0);
        return ir_bracket(r->m, p, operand(r));
    }
    case OP_assert: return assert_value(r);
    case OP_evaluated: return evaluated_value(r);
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
    default: read_error(r, at, "'%s' is not an operation", op_info[op].name);
    }
}
