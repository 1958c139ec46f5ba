// Loop trees as text, and the check of their invariants.
#include "lower/tree.h"
#include "lower/grid.h"
#include "ir/scalar.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Stmt *tree_stmt(Arena *arena, StmtKind kind, Temp dst, int n, const Temp *args, Span span) {
    Stmt *s = ARENA_NEW(arena, Stmt);
    *s = (Stmt){.kind = kind, .dst = dst, .nargs = n, .span = span};
    if (n) s->args = arena_copy(arena, args, sizeof *args * (size_t)n);
    return s;
}

void block_insert(Block *block, int at, Stmt *s) {
    vec_push(&block->stmts, s);
    for (int i = block->stmts.len - 1; i > at; i--) block->stmts.data[i] = block->stmts.data[i - 1];
    block->stmts.data[at] = s;
}

void block_remove(Block *block, const Stmt *s) {
    int n = 0;
    for (int i = 0; i < block->stmts.len; i++)
        if (block->stmts.data[i] != s) block->stmts.data[n++] = block->stmts.data[i];
    block->stmts.len = n;
}

bool block_makes(const Block *block, Temp t) {
    for (int i = 0; i < block->stmts.len; i++)
        if (block->stmts.data[i]->dst == t) return true;
    return false;
}

void block_rename(Block *block, Temp from, Temp to) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        for (int k = 0; k < s->nargs; k++)
            if (s->args[k] == from) s->args[k] = to;
        for (int k = 0; s->kind == ST_NEW && k < s->buf->rank; k++)
            if (s->buf->extent[k] == from) s->buf->extent[k] = to;
        block_rename(s->body, from, to);
        block_rename(s->other, from, to);
    }
}

void tree_definitions(const Block *block, Stmt **def) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) def[s->dst] = s;
        tree_definitions(s->body, def);
        tree_definitions(s->other, def);
    }
}

void tree_uses(const Block *block, int *uses) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        for (int k = 0; k < s->nargs; k++) uses[s->args[k]]++;
        tree_uses(s->body, uses);
        tree_uses(s->other, uses);
    }
}

int block_size(const Block *block) {
    int n = 0;
    for (int i = 0; block && i < block->stmts.len; i++)
        n += 1 + block_size(block->stmts.data[i]->body) + block_size(block->stmts.data[i]->other);
    return n;
}

int block_uses(const Block *block, Temp t) {
    int n = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        for (int k = 0; k < s->nargs; k++) n += s->args[k] == t;
        n += block_uses(s->body, t) + block_uses(s->other, t);
    }
    return n;
}

int stmt_accesses(const Stmt *s, const Buf *b) {
    int n = (s->buf == b && s->kind != ST_NEW) + (s->src == b);
    for (int k = 0; k < s->nin; k++) n += s->in[k] == b;
    return n + block_accesses(s->body, b) + block_accesses(s->other, b);
}

int block_accesses(const Block *block, const Buf *b) {
    int n = 0;
    for (int i = 0; block && i < block->stmts.len; i++) n += stmt_accesses(block->stmts.data[i], b);
    return n;
}

int stmt_sets(const Stmt *s, Temp cell) {
    return (s->kind == ST_SET && s->dst == cell) + block_sets(s->body, cell) + block_sets(s->other, cell);
}

int block_sets(const Block *block, Temp cell) {
    int n = 0;
    for (int i = 0; block && i < block->stmts.len; i++) n += stmt_sets(block->stmts.data[i], cell);
    return n;
}

void block_note_made(Map *made, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) map_put(made, (void *)((intptr_t)s->dst + 1), s);
        block_note_made(made, s->body), block_note_made(made, s->other);
    }
}

Stmt *block_find_new(const Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i], *found = s->kind == ST_NEW && s->buf == b ? s : NULL;
        if (found || (found = block_find_new(s->body, b)) || (found = block_find_new(s->other, b))) return found;
    }
    return NULL;
}

Stmt *block_take_new(Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i], *found = s->kind == ST_NEW && s->buf == b ? s : NULL;
        if (found) block_remove(block, s);
        if (found || (found = block_take_new(s->body, b)) || (found = block_take_new(s->other, b))) return found;
    }
    return NULL;
}

bool block_may_fail(const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_CHECK || s->kind == ST_EXTERN || block_may_fail(s->body) || block_may_fail(s->other)) return true;
    }
    return false;
}

bool block_has_for(const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_FOR || block_has_for(s->body) || block_has_for(s->other)) return true;
    }
    return false;
}

const Temp *stmt_index(const Stmt *s) { return s->kind == ST_LOAD ? s->args : s->args + 1; }

bool stmt_has_index(const Stmt *s, Temp index) {
    for (const Temp *t = stmt_index(s); t < s->args + s->nargs; t++)
        if (*t == index) return true;
    return false;
}

// ---- text

typedef struct Printer {
    const Tree *t;
    Str *out;
    const Stmt **lit;   // by temp: the literal that defines it, which stands in its place
    const char **names; // all names in use, sorted
    int nnames;
} Printer;

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static void find_literals(Printer *p, const Block *b) {
    if (!b) return;
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_LIT) p->lit[s->dst] = s;
        find_literals(p, s->body);
        find_literals(p, s->other);
    }
}

static void collect_names(Printer *p) {
    const Tree *t = p->t;
    p->names = malloc(sizeof *p->names * (size_t)(t->temps.len + t->bufs.len + 1));
    if (!p->names) diag_out_of_memory();
    for (int i = 0; i < t->temps.len; i++)
        if (t->temps.data[i].name) p->names[p->nnames++] = t->temps.data[i].name;
    for (int i = 0; i < t->bufs.len; i++)
        if (t->bufs.data[i]->name) p->names[p->nnames++] = t->bufs.data[i]->name;
    if (p->nnames) qsort(p->names, (size_t)p->nnames, sizeof *p->names, by_name);
}

static bool is_unique(const Printer *p, const char *name) {
    const char **at = bsearch(&name, p->names, (size_t)p->nnames, sizeof *p->names, by_name);
    if (!at) return true;
    if (at > p->names && !strcmp(at[-1], name)) return false;
    return at + 1 == p->names + p->nnames || strcmp(at[1], name);
}

static void print_lit(Str *out, Kind k, const Stmt *s) {
    if (k == KIND_BOOL) str_puts(out, s->u.num ? "true" : "false");
    else if (k == KIND_INT) str_printf(out, "%lld", (long long)s->u.num);
    else {
        if (isnan(s->u.real) && signbit(s->u.real)) str_putc(out, '-');
        str_double(out, s->u.real);
        if (k == KIND_FLOAT) str_putc(out, 'f');
    }
}

static void print_temp(const Printer *p, Temp i) {
    const TempInfo *info = &p->t->temps.data[i];
    if (p->lit[i]) print_lit(p->out, info->kind, p->lit[i]);
    else if (!info->name) str_printf(p->out, "%c%d", info->cell ? 'c' : 't', i);
    else if (is_unique(p, info->name)) str_puts(p->out, info->name);
    else str_printf(p->out, "%s_%d", info->name, i);
}

static void print_temps(const Printer *p, int n, const Temp *temps) {
    for (int k = 0; k < n; k++) {
        if (k) str_puts(p->out, ", ");
        print_temp(p, temps[k]);
    }
}

static void print_buf(const Printer *p, const Buf *b) {
    if (b->name && is_unique(p, b->name)) str_puts(p->out, b->name);
    else if (b->where == BUF_OUTPUT) str_printf(p->out, "out%d", b->number);
    else if (b->where == BUF_INPUT) str_printf(p->out, "in%d", b->number);
    else if (b->name) str_printf(p->out, "%s_b%d", b->name, b->id);
    else str_printf(p->out, "b%d", b->id);
}

static void print_element(const Printer *p, const Buf *b, const Temp *idx) {
    print_buf(p, b);
    str_putc(p->out, '[');
    print_temps(p, b->rank, idx);
    str_putc(p->out, ']');
}

static void print_op(const Printer *p, const Stmt *s) {
    const OpInfo *info = &op_info[s->op];
    if (info->form == FSM_IN) {
        print_temp(p, s->args[0]);
        str_printf(p->out, " %s ", info->sym);
        print_temp(p, s->args[1]);
    } else if (info->form == FSM_PRE) {
        str_puts(p->out, info->sym);
        print_temp(p, s->args[0]);
    } else {
        str_printf(p->out, "%s(", info->sym);
        print_temps(p, s->nargs, s->args);
        str_putc(p->out, ')');
    }
}

static void print_check(const Printer *p, const Stmt *s) {
    str_puts(p->out, "check ");
    print_temp(p, s->args[0]);
    str_printf(p->out, " else %d \"%s\"", s->u.check->code, s->u.check->text);
    if (s->nargs == 1) return;
    str_puts(p->out, " (");
    print_temps(p, s->nargs - 1, s->args + 1);
    str_putc(p->out, ')');
}

static void print_new(const Printer *p, const Buf *b) {
    str_puts(p->out, "new ");
    print_buf(p, b);
    str_printf(p->out, ": %s[", kind_name(b->kind));
    print_temps(p, b->rank, b->extent);
    str_putc(p->out, ']');
}

static void print_extern(const Printer *p, const Stmt *s) {
    str_printf(p->out, "extern %s(", s->u.name);
    for (int k = 0, scalars = 0; k < s->nin; k++) {
        str_puts(p->out, k ? ", " : "");
        if (s->in[k]) print_buf(p, s->in[k]);
        else print_temp(p, s->args[scalars++]);
    }
    if (s->buf) {
        str_puts(p->out, s->nin ? ", " : "");
        print_buf(p, s->buf);
    }
    str_putc(p->out, ')');
}

// Everything that stands on the line of a statement without a body.
static void print_simple(const Printer *p, const Stmt *s) {
    Str *out = p->out;
    switch (s->kind) {
    case ST_CELL: str_puts(out, "var "); break;
    case ST_STORE:
    case ST_ADDTO: print_element(p, s->buf, s->args + 1); break;
    case ST_OUT: str_printf(out, "out%lld", (long long)s->u.num); break;
    case ST_NEW: print_new(p, s->buf); return;
    case ST_FILL:
        str_puts(out, "fill ");
        print_buf(p, s->buf);
        break;
    case ST_COPY:
        str_puts(out, "copy ");
        print_buf(p, s->buf);
        break;
    case ST_MOVE:
        str_puts(out, "move ");
        print_temp(p, s->args[1]);
        str_puts(out, " of ");
        print_buf(p, s->src);
        str_puts(out, " to ");
        print_buf(p, s->buf);
        str_puts(out, " from ");
        print_temp(p, s->args[0]);
        return;
    case ST_FETCH:
        str_puts(out, "fetch ");
        print_temp(p, s->args[0]);
        str_puts(out, " from ");
        print_element(p, s->buf, s->args + 1);
        return;
    case ST_BREAK:
        str_puts(out, "break unless ");
        print_temp(p, s->args[0]);
        return;
    case ST_CHECK: print_check(p, s); return;
    default: break;
    }
    if (s->dst >= 0) print_temp(p, s->dst);
    str_puts(out, s->kind == ST_ADDTO ? " += " : " = ");
    switch (s->kind) {
    case ST_ARG: str_printf(out, "arg %lld", (long long)s->u.num); break;
    case ST_OP: print_op(p, s); break;
    case ST_EXTERN: print_extern(p, s); break;
    case ST_THREADS: str_puts(out, "threads()"); break;
    case ST_CHUNK:
        str_puts(out, "chunk(");
        print_temps(p, s->nargs, s->args);
        str_printf(out, ", %lld)", (long long)s->u.num);
        break;
    case ST_CONV:
        str_printf(out, "%s(", kind_name(p->t->temps.data[s->dst].kind));
        print_temp(p, s->args[0]);
        str_putc(out, ')');
        break;
    case ST_SELECT:
        print_temp(p, s->args[0]);
        str_puts(out, " ? ");
        print_temp(p, s->args[1]);
        str_puts(out, " : ");
        print_temp(p, s->args[2]);
        break;
    case ST_LOAD: print_element(p, s->buf, s->args); break;
    case ST_COPY: print_buf(p, s->src); break;
    default: print_temp(p, s->args[0]);
    }
}

static void print_block(const Printer *p, const Block *b, int indent);

static void print_body(const Printer *p, const Block *b, int indent) {
    str_puts(p->out, " {\n");
    print_block(p, b, indent + 2);
    str_indent(p->out, indent);
    str_putc(p->out, '}');
}

static void print_block(const Printer *p, const Block *b, int indent) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_LIT) continue;
        str_indent(p->out, indent);
        switch (s->kind) {
        case ST_FOR:
            str_puts(p->out, s->grid         ? s->grid->inner ? "block for " : "grid for "
                             : s->recurrence ? "scan for "
                             : s->threads    ? "threads for "
                             : s->lanes > 1  ? "blocks of lanes for "
                             : s->lanes      ? "lanes for "
                             : s->rows       ? "rows for "
                             : s->few        ? "few for "
                             : s->outer      ? "outer for "
                                             : "for ");
            print_temp(p, s->dst);
            if (s->nargs > 1) {
                str_puts(p->out, " = ");
                print_temp(p, s->args[1]);
            }
            str_puts(p->out, " < ");
            print_temp(p, s->args[0]);
            if (s->streams) str_printf(p->out, ", past caches from %lld,", (long long)s->streams);
            if (s->whole && !s->from)
                str_puts(p->out, s->streams ? " else the next ones asked for," : ", the next ones asked for,");
            print_body(p, s->body, indent);
            break;
        case ST_LOOP:
            str_puts(p->out, "loop");
            print_body(p, s->body, indent);
            break;
        case ST_IF:
            str_puts(p->out, "if ");
            print_temp(p, s->args[0]);
            print_body(p, s->body, indent);
            if (s->other && s->other->stmts.len) {
                str_puts(p->out, " else");
                print_body(p, s->other, indent);
            }
            break;
        default: print_simple(p, s);
        }
        str_putc(p->out, '\n');
    }
}

static void print_tree(Str *out, const Tree *t, const char *when) {
    Printer p = {.t = t, .out = out};
    p.lit = calloc((size_t)t->temps.len + 1, sizeof *p.lit);
    if (!p.lit) diag_out_of_memory();
    find_literals(&p, t->body);
    collect_names(&p);
    str_printf(out, "loops %s(", t->func->name);
    for (int k = 0; k < t->func->ninputs; k++)
        str_printf(out, "%s%s", k ? ", " : "", t->func->inputs[k]->name ? t->func->inputs[k]->name : "_");
    str_printf(out, ")%s {\n", when);
    print_block(&p, t->body, 2);
    str_puts(out, "}\n");
    free(p.lit);
    free(p.names);
}

void tree_print(Str *out, const Tree *t) {
    Str when = {0};
    if (t->otherwise) str_puts(&when, " for sizes >= 1");
    for (int k = 0; t->otherwise && k < t->func->nsizes; k++) {
        int64_t least = ir_least_size(t->func->ir, k);
        if (least > 1) str_printf(&when, ", %s >= %" PRId64, t->func->inputs[k]->name, least);
    }
    print_tree(out, t, str_text(&when));
    str_free(&when);
    if (t->otherwise) print_tree(out, t->otherwise, " otherwise");
}

// ---- invariants

typedef struct Verifier {
    const Tree *t;
    char *state;     // by temp: 0 not yet defined, 1 visible, 2 out of scope
    char *buf;       // by buffer: likewise
    VEC(Temp) temps; // visible ones, in order of definition
    VEC(int) bufs;   // visible ones made by ST_NEW
    int loops;       // ST_LOOPs around
} Verifier;

static void free_verifier(Verifier *v) {
    free(v->state);
    free(v->buf);
    vec_free(&v->temps);
    vec_free(&v->bufs);
}

static _Noreturn void broken(const Verifier *v, const Stmt *s, const char *what) {
    Str text = {0};
    Block one = {0};
    Stmt bare = *s, *list = &bare;
    bare.body = bare.other = NULL;
    one.stmts.data = &list, one.stmts.len = s->kind != ST_CHECK;
    Printer p = {.t = v->t, .out = &text};
    p.lit = calloc((size_t)v->t->temps.len + 1, sizeof *p.lit);
    p.names = calloc(1, sizeof *p.names);
    if (p.lit && p.names) print_block(&p, &one, 0);
    if (text.len) text.data[--text.len] = 0; // the newline
    char copy[300];
    strncpy(copy, str_text(&text), sizeof copy - 1);
    copy[sizeof copy - 1] = 0;
    free(p.lit);
    free(p.names);
    str_free(&text);
    const char *name = v->t->func->name;
    free_verifier((Verifier *)v);
    fatal_bug("the loop tree of '%s' is broken: %s: %s", name, what, copy);
}

#define REQUIRE(cond, what)                                                                                                        \
    do {                                                                                                                           \
        if (!(cond)) broken(v, s, what);                                                                                           \
    } while (0)

static const TempInfo *info(const Verifier *v, Temp i) { return &v->t->temps.data[i]; }

static Kind use(const Verifier *v, const Stmt *s, Temp i, bool cell) {
    if (i < 0 || i >= v->t->temps.len) fatal_bug("the loop tree of '%s' is broken: no such temp", v->t->func->name);
    REQUIRE(v->state[i] != 0, "a temp is used before its definition");
    REQUIRE(v->state[i] == 1, "a temp is used outside its block");
    REQUIRE(info(v, i)->cell == cell, cell ? "a cell is expected" : "a cell is used as a temp");
    return info(v, i)->kind;
}

static void define(Verifier *v, const Stmt *s, bool cell) {
    if (s->dst < 0 || s->dst >= v->t->temps.len) fatal_bug("the loop tree of '%s' is broken: no such temp", v->t->func->name);
    REQUIRE(v->state[s->dst] == 0, "a temp is defined twice");
    REQUIRE(info(v, s->dst)->cell == cell, cell ? "a cell is expected" : "a cell is used as a temp");
    v->state[s->dst] = 1;
    vec_push(&v->temps, s->dst);
}

static void use_buf(const Verifier *v, const Stmt *s, const Buf *b) {
    REQUIRE(b && b->id >= 0 && b->id < v->t->bufs.len && v->t->bufs.data[b->id] == b, "no such buffer");
    REQUIRE(b->where != BUF_TEMP || v->buf[b->id] != 0, "a buffer is used before it comes into being");
    REQUIRE(b->where != BUF_TEMP || v->buf[b->id] == 1, "a buffer is used outside its block");
    for (int k = 0; k < b->rank; k++) REQUIRE(use(v, s, b->extent[k], false) == KIND_INT, "the extent of a buffer is not an Int");
}

// An element of s->buf: indices at args[from …].
static void use_element(const Verifier *v, const Stmt *s, int from, bool write) {
    use_buf(v, s, s->buf);
    REQUIRE(s->nargs == s->buf->rank + from, "the number of indices is wrong");
    REQUIRE(!write || s->buf->where != BUF_INPUT, "an input is written to");
    for (int k = from; k < s->nargs; k++) REQUIRE(use(v, s, s->args[k], false) == KIND_INT, "an index is not an Int");
    if (from) REQUIRE(use(v, s, s->args[0], false) == s->buf->kind, "the value has another kind than the buffer");
    else REQUIRE(info(v, s->dst)->kind == s->buf->kind, "the result has another kind than the buffer");
}

static void verify_block(Verifier *v, const Block *b);

static void verify_op(Verifier *v, const Stmt *s) {
    REQUIRE(op_is_elementwise(s->op) && s->nargs == op_info[s->op].arity, "the number of operands is wrong");
    Kind a = use(v, s, s->args[0], false), b = s->nargs > 1 ? use(v, s, s->args[1], false) : a;
    REQUIRE(op_accepts(s->op, a, b), "the operands have the wrong kinds");
    OpType t = op_info[s->op].type;
    Kind want = t == T_CMP ? KIND_BOOL : t == T_PSI ? b : a;
    REQUIRE(info(v, s->dst)->kind == want, "the result has the wrong kind");
}

// The operands of statements that only read temps: their kinds.
static void verify_args(Verifier *v, const Stmt *s) {
    const Func *f = v->t->func;
    Kind a = KIND_BOOL;
    bool plain = s->kind == ST_CONV || s->kind == ST_SELECT || s->kind == ST_CELL || s->kind == ST_SET || s->kind == ST_FILL ||
                 s->kind == ST_OUT || s->kind == ST_FOR || s->kind == ST_BREAK || s->kind == ST_IF || s->kind == ST_CHECK ||
                 s->kind == ST_CHUNK;
    if (plain) {
        REQUIRE(s->nargs > 0, "an operand is missing");
        a = use(v, s, s->args[0], false);
    }
    switch (s->kind) {
    case ST_ARG:
        REQUIRE(s->u.num >= 0 && s->u.num < f->ninputs && f->inputs[s->u.num]->rank == 0 &&
                    f->inputs[s->u.num]->kind == info(v, s->dst)->kind,
                "no such scalar input");
        break;
    case ST_OUT:
        REQUIRE(s->u.num >= 0 && s->u.num < f->noutputs && f->outputs[s->u.num]->rank == 0 && f->outputs[s->u.num]->kind == a,
                "no such scalar output");
        break;
    case ST_SELECT:
        REQUIRE(a == KIND_BOOL && s->nargs == 3, "the condition is not a Bool");
        for (int k = 1; k < 3; k++) REQUIRE(use(v, s, s->args[k], false) == info(v, s->dst)->kind, "an operand has the wrong kind");
        break;
    case ST_EXTERN:
        REQUIRE(s->u.name && (!s->buf || info(v, s->dst)->kind == KIND_INT), "a C function has no name or no status");
        for (int k = 0; k < s->nargs; k++) use(v, s, s->args[k], false);
        break;
    case ST_GET: REQUIRE(use(v, s, s->args[0], true) == info(v, s->dst)->kind, "the cell has another kind"); break;
    case ST_SET: REQUIRE(use(v, s, s->dst, true) == a, "the cell has another kind"); break;
    case ST_CELL: REQUIRE(info(v, s->dst)->kind == a, "the cell has another kind"); break;
    case ST_FILL: REQUIRE(s->buf && s->buf->kind == a, "the value has another kind than the buffer"); break;
    case ST_FOR:
        REQUIRE(a == KIND_INT && info(v, s->dst)->kind == KIND_INT, "a trip count is not an Int");
        REQUIRE(s->nargs == 1 || use(v, s, s->args[1], false) == KIND_INT, "a loop starts at what is not an Int");
        REQUIRE(!s->threads || s->nargs == 1, "threads do not start at 0");
        break;
    case ST_CHUNK:
        REQUIRE(a == KIND_INT && s->nargs == 3 && s->u.num > 0, "a chunk is incomplete");
        for (int k = 1; k < 3; k++) REQUIRE(use(v, s, s->args[k], false) == KIND_DOUBLE, "an estimate is not a Double");
        break;
    case ST_BREAK: REQUIRE(v->loops > 0, "a break outside of all loops"); // fall through
    case ST_IF: REQUIRE(a == KIND_BOOL, "the condition is not a Bool"); break;
    case ST_CHECK:
        REQUIRE(a == KIND_BOOL && s->u.check && s->u.check->code && s->u.check->text, "a check is incomplete");
        for (int k = 1; k < s->nargs; k++)
            REQUIRE(use(v, s, s->args[k], false) != KIND_BOOL, "a value of a check is a truth value");
        break;
    default: break;
    }
}

static void verify_stmt(Verifier *v, const Stmt *s) {
    verify_args(v, s);
    switch (s->kind) {
    case ST_OP: verify_op(v, s); break;
    case ST_NEW:
        REQUIRE(s->buf && s->buf->where == BUF_TEMP && v->buf[s->buf->id] == 0, "a buffer comes into being twice");
        v->buf[s->buf->id] = 1;
        vec_push(&v->bufs, s->buf->id);
        use_buf(v, s, s->buf);
        break;
    case ST_COPY:
        use_buf(v, s, s->src);
        REQUIRE(s->buf && s->buf->kind == s->src->kind && s->buf->rank == s->src->rank, "a copy between other types");
        // fall through
    case ST_FILL:
        use_buf(v, s, s->buf);
        REQUIRE(s->buf->where != BUF_INPUT, "an input is written to");
        break;
    case ST_MOVE:
        use_buf(v, s, s->buf), use_buf(v, s, s->src);
        REQUIRE(s->buf->where != BUF_INPUT, "an input is written to");
        REQUIRE(s->buf->kind == s->src->kind && s->buf->rank == s->src->rank, "a move between other types");
        REQUIRE(s->nargs == 2 && s->u.num >= 0 && s->u.num < s->buf->rank, "a move is incomplete");
        for (int k = 0; k < 2; k++) REQUIRE(use(v, s, s->args[k], false) == KIND_INT, "an index is not an Int");
        break;
    case ST_EXTERN:
        for (int k = 0; k < s->nin; k++)
            if (s->in[k]) use_buf(v, s, s->in[k]);
        if (s->buf) use_buf(v, s, s->buf);
        REQUIRE(!s->buf || s->buf->where != BUF_INPUT, "an input is written to");
        break;
    case ST_LOAD: use_element(v, s, 0, false); break;
    case ST_STORE:
    case ST_ADDTO:
        use_element(v, s, 1, true);
        REQUIRE(s->kind == ST_STORE || s->buf->kind != KIND_BOOL, "addition to a Bool");
        break;
    case ST_FETCH:
        use_buf(v, s, s->buf);
        for (int k = 0; k < s->nargs; k++) REQUIRE(use(v, s, s->args[k], false) == KIND_INT, "an index is not an Int");
        break;
    default: break;
    }
    switch (s->kind) {
    case ST_LIT:
    case ST_ARG:
    case ST_OP:
    case ST_EXTERN:
    case ST_CONV:
    case ST_SELECT:
    case ST_GET:
    case ST_CHUNK:
    case ST_THREADS:
    case ST_LOAD: define(v, s, false);
    default: break;
    }
    if (s->kind == ST_CELL) define(v, s, true);
    if (s->kind == ST_IF) verify_block(v, s->other);
    v->loops += s->kind == ST_LOOP;
    if (s->kind == ST_FOR) {
        define(v, s, false);
        verify_block(v, s->body);
        v->state[vec_pop(&v->temps)] = 2;
    } else if (s->body) verify_block(v, s->body);
    v->loops -= s->kind == ST_LOOP;
}

static void verify_block(Verifier *v, const Block *b) {
    if (!b) return;
    int temps = v->temps.len, bufs = v->bufs.len;
    for (int i = 0; i < b->stmts.len; i++) verify_stmt(v, b->stmts.data[i]);
    while (v->temps.len > temps) v->state[vec_pop(&v->temps)] = 2;
    while (v->bufs.len > bufs) v->buf[vec_pop(&v->bufs)] = 2;
}

void tree_verify(const Tree *t) {
    Verifier v = {.t = t};
    v.state = calloc((size_t)t->temps.len + 1, 1);
    v.buf = calloc((size_t)t->bufs.len + 1, 1);
    if (!v.state || !v.buf) diag_out_of_memory();
    verify_block(&v, t->body);
    free_verifier(&v);
    if (t->otherwise) tree_verify(t->otherwise);
    if (t->sizes) tree_verify(t->sizes);
}

void block_free(Block *b) {
    if (!b) return;
    for (int i = 0; i < b->stmts.len; i++) {
        block_free(b->stmts.data[i]->body);
        block_free(b->stmts.data[i]->other);
    }
    vec_free(&b->stmts);
}

void tree_free(Tree *t) {
    if (t->otherwise) tree_free(t->otherwise);
    if (t->sizes) tree_free(t->sizes);
    block_free(t->body);
    vec_free(&t->temps);
    vec_free(&t->bufs);
}
