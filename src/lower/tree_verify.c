// The invariants of loop trees.
#include "lower/tree_internal.h"
#include "ir/scalar.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

// What is known of a temp or a buffer. Of what is visible in a procedure nothing is outside, and the other way round.
enum { NOT_YET, VISIBLE, GONE, VISIBLE_IN_PROC };

typedef VEC(const Stmt *) Params;
typedef struct Proc {
    const Stmt *stmt;
    Params params; // the scalars among its parameters
} Proc;

typedef struct Verifier {
    Arena *arena;
    const Tree *t;
    char *state;      // by temp
    char *buf;        // by buffer
    bool *given;      // by buffer: is it an argument of the call that is looked at?
    VEC(Temp) temps;  // visible ones, in order of definition
    VEC(int) bufs;    // visible ones made by ST_NEW
    int loops;        // ST_LOOPs around
    int depth;        // blocks around
    const Stmt *proc; // the procedure around, or NULL
    Map procs;        // number + 1 -> Proc
    VEC(Proc *) all;
    const char *what; // is wrong
    const Stmt *at;
    jmp_buf out;
} Verifier;

static void free_verifier(Verifier *v) {
    free(v->state);
    free(v->buf);
    free(v->given);
    vec_free(&v->temps);
    vec_free(&v->bufs);
    for (int i = 0; i < v->all.len; i++) vec_free(&v->all.data[i]->params);
    vec_free(&v->all);
    map_free(&v->procs);
}

// Ends the verification.
static _Noreturn void broken(Verifier *v, const Stmt *s, const char *what) {
    v->what = what, v->at = s;
    longjmp(v->out, 1);
}

#define REQUIRE(cond, what)                                                                                                        \
    do {                                                                                                                           \
        if (!(cond)) broken(v, s, what);                                                                                           \
    } while (0)

static const TempInfo *info(Verifier *v, Temp i) { return &v->t->temps.data[i]; }

static char visible(const Verifier *v) { return v->proc ? VISIBLE_IN_PROC : VISIBLE; }

static Kind use(Verifier *v, const Stmt *s, Temp i, bool cell) {
    REQUIRE(i >= 0 && i < v->t->temps.len, "no such temp");
    REQUIRE(v->state[i] != NOT_YET, "a temp is used before its definition");
    REQUIRE(v->state[i] == visible(v), "a temp is used outside its block");
    REQUIRE(info(v, i)->cell == cell, cell ? "a cell is expected" : "a cell is used as a temp");
    return info(v, i)->kind;
}

static void define(Verifier *v, const Stmt *s, bool cell) {
    REQUIRE(s->dst >= 0 && s->dst < v->t->temps.len, "no such temp");
    REQUIRE(v->state[s->dst] == NOT_YET, "a temp is defined twice");
    REQUIRE(info(v, s->dst)->cell == cell, cell ? "a cell is expected" : "a cell is used as a temp");
    v->state[s->dst] = visible(v);
    vec_push(&v->temps, s->dst);
}

static void use_buf(Verifier *v, const Stmt *s, const Buf *b) {
    REQUIRE(b && b->id >= 0 && b->id < v->t->bufs.len && v->t->bufs.data[b->id] == b, "no such buffer");
    REQUIRE(b->where != BUF_TEMP || v->buf[b->id] != NOT_YET, "a buffer is used before it comes into being");
    REQUIRE(b->where != BUF_TEMP || v->buf[b->id] == visible(v), "a buffer is used outside its block");
    REQUIRE(!v->proc || b->where == BUF_TEMP || b->where == BUF_PARAM, "a procedure uses an array of the function");
    REQUIRE(b->where != BUF_PARAM || (v->proc && b->number < v->proc->nin && v->proc->in[b->number] == b),
            "an array is no parameter of the procedure");
    for (int k = 0; k < b->rank; k++) REQUIRE(use(v, s, b->extent[k], false) == KIND_INT, "the extent of a buffer is not an Int");
}

// May it be written to?
static bool is_written(const Verifier *v, const Buf *b) {
    return b->where != BUF_INPUT && (b->where != BUF_PARAM || b->number >= v->proc->nin - v->proc->nout);
}

// An element of s->buf: indices at args[from …].
static void use_element(Verifier *v, const Stmt *s, int from, bool write) {
    use_buf(v, s, s->buf);
    REQUIRE(s->nargs == s->buf->rank + from, "the number of indices is wrong");
    REQUIRE(!write || is_written(v, s->buf), "an input is written to");
    for (int k = from; k < s->nargs; k++) REQUIRE(use(v, s, s->args[k], false) == KIND_INT, "an index is not an Int");
    if (from) REQUIRE(use(v, s, s->args[0], false) == s->buf->kind, "the value has another kind than the buffer");
    else REQUIRE(info(v, s->dst)->kind == s->buf->kind, "the result has another kind than the buffer");
}

static void verify_block(Verifier *v, const Block *b);

// Each scalar of the procedure is made once.
static void verify_params(Verifier *v, Proc *proc) {
    const Block *body = proc->stmt->body;
    for (int i = 0; i < body->stmts.len; i++)
        if (body->stmts.data[i]->kind == ST_PARAM) vec_push(&proc->params, body->stmts.data[i]);
    int n = proc->params.len;
    char *made = arena_alloc(v->arena, (size_t)n + 1);
    memset(made, 0, (size_t)n + 1);
    for (int i = 0; i < n; i++) {
        const Stmt *s = proc->params.data[i];
        REQUIRE(s->u.num >= 0 && s->u.num < n, "the number of a parameter is out of range");
        REQUIRE(!made[s->u.num]++, "a parameter is made twice");
    }
}

static void *key_of(const Stmt *s) { return (void *)(intptr_t)(s->u.num + 1); }

// Of the body of a procedure nothing outside is known, and nothing in it outside.
static void verify_proc(Verifier *v, const Stmt *s) {
    enum { MOST_PROCS = 1 << 24 };
    REQUIRE(s->u.num >= 0 && s->u.num < MOST_PROCS, "the number of a procedure is out of range");
    REQUIRE(v->depth == 1 && !v->proc, "a procedure is not in the block of the whole tree");
    REQUIRE(!map_get(&v->procs, key_of(s)), "there are two procedures of a number");
    for (int k = 0; k < s->nin; k++)
        REQUIRE(s->in[k] && s->in[k]->where == BUF_PARAM && s->in[k]->number == k, "a parameter is none");
    Proc *proc = ARENA_NEW(v->arena, Proc);
    proc->stmt = s;
    vec_push(&v->all, proc);
    v->proc = s;
    verify_params(v, proc);
    verify_block(v, s->body);
    v->proc = NULL;
    map_put(&v->procs, key_of(s), proc);
}

static void verify_call(Verifier *v, const Stmt *s) {
    const Proc *of = s->u.num < 0 ? NULL : map_get(&v->procs, key_of(s));
    REQUIRE(of, "there is no such procedure before");
    const Stmt *proc = of->stmt;
    REQUIRE(s->nin == s->nargs + proc->nin && s->nout == proc->nout, "the number of arguments is wrong");
    REQUIRE(of->params.len == s->nargs, "the number of arguments is wrong");
    for (int i = 0; i < of->params.len; i++) {
        const Stmt *p = of->params.data[i];
        REQUIRE(use(v, s, s->args[p->u.num], false) == info(v, p->dst)->kind, "an argument has the wrong kind");
    }
    for (int k = 0; k < s->nargs; k++) REQUIRE(!s->in[k], "an array is where a scalar is expected");
    for (int k = 0; k < proc->nin; k++) {
        const Buf *b = s->in[s->nargs + k];
        REQUIRE(b && b->kind == proc->in[k]->kind && b->rank == proc->in[k]->rank, "an argument has another type");
        use_buf(v, s, b);
        REQUIRE(!v->given[b->id], "a procedure gets an array twice");
        v->given[b->id] = true;
    }
    for (int k = s->nargs; k < s->nin; k++) v->given[s->in[k]->id] = false;
    for (int k = s->nin - s->nout; k < s->nin; k++) REQUIRE(is_written(v, s->in[k]), "an input is written to");
}

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
        REQUIRE(s->u.name && (!s->nout || info(v, s->dst)->kind == KIND_INT), "a C function has no name or no status");
        for (int k = 0; k < s->nargs; k++) use(v, s, s->args[k], false);
        break;
    case ST_CONV:
        REQUIRE((a != KIND_INT32 && info(v, s->dst)->kind != KIND_INT32) || a == KIND_INT || info(v, s->dst)->kind == KIND_INT ||
                    a == info(v, s->dst)->kind,
                "an Int32 is only converted from and to Int");
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
        REQUIRE(s->buf && s->buf->where == BUF_TEMP && v->buf[s->buf->id] == NOT_YET,
                "a buffer comes into being twice");
        v->buf[s->buf->id] = visible(v);
        vec_push(&v->bufs, s->buf->id);
        use_buf(v, s, s->buf);
        break;
    case ST_COPY:
        use_buf(v, s, s->src);
        REQUIRE(s->buf && s->buf->kind == s->src->kind && s->buf->rank == s->src->rank, "a copy between other types");
        // fall through
    case ST_FILL:
        use_buf(v, s, s->buf);
        REQUIRE(is_written(v, s->buf), "an input is written to");
        break;
    case ST_MOVE:
        use_buf(v, s, s->buf), use_buf(v, s, s->src);
        REQUIRE(is_written(v, s->buf), "an input is written to");
        REQUIRE(s->buf->kind == s->src->kind && s->buf->rank == s->src->rank, "a move between other types");
        REQUIRE(s->nargs == 2 && s->u.num >= 0 && s->u.num < s->buf->rank, "a move is incomplete");
        for (int k = 0; k < 2; k++) REQUIRE(use(v, s, s->args[k], false) == KIND_INT, "an index is not an Int");
        break;
    case ST_EXTERN:
        for (int k = 0; k < s->nin; k++)
            if (s->in[k]) use_buf(v, s, s->in[k]);
        for (int k = s->nin - s->nout; k < s->nin; k++)
            REQUIRE(s->in[k] && is_written(v, s->in[k]), "an input is written to");
        break;
    case ST_PARAM: REQUIRE(v->proc && v->depth == 2 && s->u.num >= 0, "a parameter outside of a procedure"); break;
    case ST_CALL: verify_call(v, s); break;
    case ST_PROC: verify_proc(v, s); return;
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
    case ST_PARAM:
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
        v->state[vec_pop(&v->temps)] = GONE;
    } else if (s->body) verify_block(v, s->body);
    v->loops -= s->kind == ST_LOOP;
}

static void verify_block(Verifier *v, const Block *b) {
    if (!b) return;
    int temps = v->temps.len, bufs = v->bufs.len;
    v->depth++;
    for (int i = 0; i < b->stmts.len; i++) verify_stmt(v, b->stmts.data[i]);
    while (v->temps.len > temps) v->state[vec_pop(&v->temps)] = GONE;
    while (v->bufs.len > bufs) v->buf[vec_pop(&v->bufs)] = GONE;
    v->depth--;
}

const char *tree_fault(Arena *arena, const Tree *t, const Stmt **at) {
    Verifier *v = ARENA_NEW(arena, Verifier);
    v->t = t, v->arena = arena;
    v->state = calloc((size_t)t->temps.len + 1, 1);
    v->buf = calloc((size_t)t->bufs.len + 1, 1);
    v->given = calloc((size_t)t->bufs.len + 1, sizeof *v->given);
    if (!v->state || !v->buf || !v->given) diag_out_of_memory();
    if (!setjmp(v->out)) verify_block(v, t->body);
    free_verifier(v);
    *at = v->at;
    return v->what;
}

void tree_verify(const Tree *t) {
    Arena *a = arena_new();
    const Stmt *at;
    const char *what = tree_fault(a, t, &at);
    if (what) {
        Str text = {0};
        tree_print_stmt(&text, t, at);
        const char *name = t->func->name;
        char copy[300];
        strncpy(copy, str_text(&text), sizeof copy - 1);
        copy[sizeof copy - 1] = 0;
        str_free(&text);
        arena_free(a);
        fatal_bug("the loop tree of '%s' is broken: %s: %s", name, what, copy);
    }
    arena_free(a);
    if (t->otherwise) tree_verify(t->otherwise);
    if (t->sizes) tree_verify(t->sizes);
}
