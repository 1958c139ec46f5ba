// Reads the textual form of the IR (printed by print.c; docs/ir.md has the grammar). The first error ends the reading.
//
// Text printed from an Ir has to read back there as the same nodes, whatever rules have made them. So it is first read
// exactly as written. If that gives new nodes, it was not such a text, and it is read again by the builders.
#include "ir/read_internal.h"

#include <string.h>

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
    if (read_accept(r, '(')) {
        int n = 0;
        if (++r->depth > MAX_NESTING) read_error(r, r->before, "nested too deeply");
        while (!read_is(r, ')')) {
            if (n) read_expect(r, ',');
            if (n == MAX_LIST) read_error(r, r->at, "too many parts");
            part[n++] = sig(r, leaves);
        }
        read_next(r);
        r->depth--;
        base = sig_tuple(r, n, part);
    } else {
        base = sig_scalar(r, read_kind(r));
        ++*leaves;
    }
    int rank = 0;
    if (!read_accept(r, '[')) return base;
    do {
        if (rank == MAX_LIST) read_error(r, r->at, "too many extents");
        ext[rank++] = read_accept_word(r, "_") ? NULL : read_typed_operand(r, KIND_INT, 0);
    } while (read_accept(r, ','));
    read_expect(r, ']');
    return sig_array(r, base, rank, ext);
}

// Extents that a type does not state are those of the arrays that it is about, from *leaf on. depth: how many are around.
static void state_extents(Reader *r, Span at, SigType *t, Node *const **leaf, int depth) {
    if (t->form == SIG_SCALAR) ++*leaf;
    for (int k = 0; k < t->nparts; k++) {
        Node *const *first = *leaf;
        state_extents(r, at, t->parts[k], leaf, depth + (t->form == SIG_ARRAY));
        if (t->form != SIG_ARRAY || t->extent) continue;
        if (*leaf == first || depth >= first[0]->rank) read_error(r, at, "expected %s", "the extents of the type");
        t->extent = first[0]->shape[depth];
    }
}

static SigType *plain_sig(Reader *r, const Node *e) { return sig_array(r, sig_scalar(r, e->kind), e->rank, e->shape); }

static void skip_shape(Reader *r) {
    int open = 0;
    do {
        if (r->tok == T_END) read_expect(r, ']');
        open += read_is(r, '[') - read_is(r, ']');
        read_next(r);
    } while (open);
}

// An input. Extents may mention scalars that come later, so the scalars are read first, and then the arrays.
static void input(Reader *r, Func *f, int number, bool arrays) {
    Node *ext[MAX_LIST];
    Span at = r->at;
    const char *what = read_name(r, "the name of an input");
    read_expect(r, ':');
    Kind k = read_kind(r);
    bool array = read_is(r, '['), size = !array && k == KIND_INT && read_accept_word(r, "size");
    bool natural = size || (!array && k == KIND_INT && read_accept_word(r, "natural")); // of a version that assumes so
    if (size && f->nsizes != number && !arrays) read_error(r, at, "sizes come before the other inputs");
    if (array && !arrays) skip_shape(r);
    if (array != arrays) return;
    int rank = read_shape(r, ext);
    f->nsizes += size;
    f->inputs[number] = natural ? ir_size(r->m, number, what) : ir_input(r->m, number, what, k, rank, ext);
    read_define(r, at, what, f->inputs[number]);
}

// What stands between the parentheses, with the closing one.
static void inputs(Reader *r, Func *f) {
    const char *begin = r->src->text + r->at.begin;
    for (int arrays = 0; arrays < 2; arrays++) {
        int n = 0;
        r->p = begin;
        read_next(r);
        for (; !read_is(r, ')'); n++) {
            if (n) read_expect(r, ',');
            if (n == MAX_LEAVES) read_error(r, r->at, "too many inputs");
            input(r, f, n, arrays);
        }
        f->ninputs = n;
    }
    read_next(r);
}

// The type of an output. Its extents are not kept: the value has them.
static void output(Reader *r, Func *f, Header *h) {
    const char *label = NULL;
    *h = (Header){0};
    read_skip_space(r);
    if (r->tok == T_QUOTED || (r->tok == T_NAME && *r->p == ':')) {
        label = read_name(r, "a name");
        read_expect(r, ':');
    }
    h->kind = read_kind(r);
    f->output_names[f->noutputs++] = label;
    if (!read_accept(r, '[')) return;
    h->shape = ARENA_ARRAY(r->m->arena, Node *, MAX_LIST);
    do {
        if (h->rank == MAX_LIST) read_error(r, r->at, "too many extents");
        if (!read_accept_word(r, "_")) h->shape[h->rank] = read_typed_operand(r, KIND_INT, 0);
        h->rank++;
    } while (read_accept(r, ','));
    read_expect(r, ']');
}

static void check_line(Reader *r, Func *f, int *cap) {
    Check c = {.span = r->before};
    c.code = (int)read_integer(r, "an error code");
    c.cond = read_typed_operand(r, KIND_BOOL, 0);
    c.text = read_string(r);
    Node *v[MAX_LIST];
    c.nvalues = read_shape(r, v);
    c.values = arena_copy(r->m->arena, v, sizeof *v * (size_t)c.nvalues);
    c.span = span_join(c.span, r->before);
    read_place(r, &c.span);
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
    p.name = read_name(r, "the name of a parameter");
    read_expect(r, ':');
    p.type = sig(r, &p.count);
    *leaf += p.count;
    if (*leaf > f->ninputs || f->nparams >= MAX_LEAVES) read_error(r, at, "there are fewer inputs than the parameters have");
    f->params[f->nparams++] = p;
}

static bool same_size(Ir *m, Node *a, Node *b) { return poly_node(m, poly_of(m, a)) == poly_node(m, poly_of(m, b)); }

// A line on what the function is; false if there is none.
static bool fact(Reader *r, Func *f, int *leaf, int *cap, int *count) {
    if (read_accept_word(r, "doc")) f->doc = read_string(r);
    else if (read_accept_word(r, "param")) param_line(r, f, leaf);
    else if (read_accept_word(r, "result")) f->result = sig(r, count);
    else if (read_accept_word(r, "check")) check_line(r, f, cap);
    else return false;
    return true;
}

static void require_types(Reader *r, Span at, const Func *f, int leaf, int count) {
    if (f->nparams && leaf != f->ninputs) read_error(r, at, "there are more inputs than the parameters have");
    if (f->result && count != f->noutputs) read_error(r, at, "the result's type has %d parts", count);
}

static void state_types(Reader *r, Span at, Func *f) {
    Node *const *leaf = f->inputs + f->nsizes;
    for (int k = 0; k < f->nparams; k++) state_extents(r, at, f->params[k].type, &leaf, 0);
    leaf = f->outputs;
    if (f->result) state_extents(r, at, f->result, &leaf, 0);
}

typedef struct Demands {
    int n;
    Node *of[MAX_LIST];
} Demands;

static void demands(Reader *r, Demands *d) {
    do {
        if (d->n == MAX_LIST) read_error(r, r->at, "too many operands");
        d->of[d->n++] = read_typed_operand(r, KIND_BOOL, 0);
    } while (read_accept(r, ','));
}

// The lines of a function, up to and with what it returns.
static void func_body(Reader *r, Func *f, const Header *h) {
    Demands d = {0};
    int leaf = f->nsizes, cap = 0, count = 0;
    Span at;
    for (;;) {
        read_lines(r);
        at = r->at;
        if (read_accept_word(r, "return")) break;
        if (read_accept_word(r, "demand")) demands(r, &d);
        else if (!fact(r, f, &leaf, &cap, &count)) read_error(r, r->at, "expected 'return' or a value's name");
    }
    require_types(r, at, f, leaf, count);
    f->ndemands = d.n;
    for (int k = 0; k < d.n; k++) f->outputs[f->noutputs + k] = d.of[k];
    for (int k = 0; k < f->noutputs; k++) {
        if (k) read_expect(r, ',');
        Span here = r->at;
        Node *e = f->outputs[k] = read_typed_operand(r, h[k].kind, h[k].rank);
        for (int d = 0; d < e->rank; d++)
            if (h[k].shape[d] && !same_size(r->m, h[k].shape[d], e->shape[d]))
                read_error(r, span_join(here, r->before), "extent %d is not the one that the type states", d);
    }
    state_types(r, at, f);
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

Func *read_signature(Reader *r, const char *word) {
    Arena *a = r->m->arena;
    Func *f = ARENA_NEW(a, Func);
    f->ir = r->m;
    if (!read_accept_word(r, word)) read_error(r, r->at, "expected '%s'", word);
    f->span = r->at;
    f->name = read_name(r, "the function's name");
    f->inputs = ARENA_ARRAY(a, Node *, MAX_LEAVES);
    f->params = ARENA_ARRAY(a, SigParam, MAX_LEAVES);
    f->outputs = ARENA_ARRAY(a, Node *, MAX_LEAVES + MAX_LIST);
    f->output_names = ARENA_ARRAY(a, const char *, MAX_LEAVES);
    r->header = ARENA_ARRAY(a, Header, MAX_LEAVES);
    read_expect(r, '(');
    inputs(r, f);
    if (read_accept(r, '>')) do {
            if (f->noutputs == MAX_LEAVES) read_error(r, r->at, "too many outputs");
            output(r, f, &r->header[f->noutputs]);
        } while (read_accept(r, ','));
    return f;
}

static Func *func(Reader *r) {
    r->m->entry = r->nfuncs;
    int mark = r->scope.len;
    Func *f = read_signature(r, "func");
    read_expect(r, '{');
    func_body(r, f, r->header);
    read_expect(r, '}');
    read_leave(r, mark);
    default_types(r, f);
    return f;
}

// The extents of an output of which the type does not state all.
static void extents_line(Reader *r, const Func *f) {
    Span at = r->at;
    int64_t k = read_integer(r, "the number of an output");
    Node *shape[MAX_LIST];
    int rank = read_shape(r, shape);
    if (k < 0 || k >= f->noutputs || rank != r->header[k].rank || !rank)
        read_error(r, at, "there is no output %lld with %d extents", (long long)k, rank);
    memcpy(r->header[k].shape, shape, sizeof *shape * (size_t)rank);
}

void read_facts(Reader *r, Func *f) {
    int leaf = f->nsizes, cap = 0, count = 0;
    for (;;) {
        read_lines(r);
        if (read_accept_word(r, "extents")) extents_line(r, f);
        else if (read_is_word(r, "check") && (read_skip_space(r), !strchr("-0123456789", *r->p))) break; // another kind of check
        else if (!fact(r, f, &leaf, &cap, &count)) break;
    }
    require_types(r, r->at, f, leaf, count);
    for (int k = 0; k < f->noutputs; k++) {
        const Header *h = &r->header[k];
        for (int d = 0; d < h->rank; d++)
            if (!h->shape[d]) read_error(r, r->at, "extent %d of output %d is not stated", d, k);
        f->outputs[k] = ir_param(r->m, h->kind, h->rank, h->shape);
    }
    state_types(r, r->at, f);
    default_types(r, f);
}

static void read_funcs(Reader *r) {
    if (strlen(r->src->text) != r->src->len) read_error(r, (Span){r->src, 0, 0}, "this is not a text: it has a zero byte");
    read_next(r);
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
    if (setjmp(out)) r->funcs = NULL;
    else read_funcs(r);
    vec_free(&r->scope);
    *count = r->nfuncs;
    return r->funcs;
}

static bool all_known(Func *const *fs, int count, uint32_t last) {
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < func_roots(fs[i]); k++)
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
