// Inlining: every procedure stands where it is called, for GPUs. Their passes look for loops, and values by need, by
// their form, and a kernel has no memory of its own for the arrays without dimensions by which a procedure returns
// scalars: these become cells again.
//
//     proc 0(x[n]) to v[] { … v[] = y }                  var c = 0.0
//     new v[];  v[] = 0.0                        becomes
//     if !known { call 0(n, a) to v; … }                 if !known { … c = y; … }
#include "lower/internal.h"
#include "lower/loop_passes.h"

typedef struct Inliner {
    Arena *arena;
    Tree *tree;
    Temp *cell; // by buffer: the cell that it becomes + 1
} Inliner;

static void *key(Temp t) { return (void *)((intptr_t)t + 1); }

// The statements of the call's procedure, with its arguments for the parameters.
static Block *body_of(const Inliner *z, const Stmt *call) {
    const Stmt *proc = tree_proc(z->tree, call->u.num);
    Map temps = {0}, bufs = {0};
    Block rest = {0};
    for (int i = 0; i < proc->body->stmts.len; i++) {
        Stmt *s = proc->body->stmts.data[i];
        if (s->kind == ST_PARAM) map_put(&temps, key(s->dst), key(call->args[s->u.num]));
        else vec_push(&rest.stmts, s);
    }
    for (int k = 0; k < proc->nin; k++) map_put(&bufs, proc->in[k], call->in[call->nargs + k]);
    Stmt whole = {.kind = ST_IF, .dst = -1, .body = &rest};
    Block *copy = tree_clone_with(z->arena, z->tree, &whole, &temps, &bufs)->body;
    for (int i = 0; i < copy->stmts.len; i++) {
        Stmt *s = copy->stmts.data[i];
        if (s->kind == ST_NEW && s->buf->home == proc->body) s->buf->home = copy;
    }
    map_free(&temps), map_free(&bufs);
    vec_free(&rest.stmts);
    return copy;
}

static void inline_calls(Inliner *z, Block *b) {
    int calls = 0;
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        calls += s->kind == ST_CALL;
        inline_calls(z, s->body), inline_calls(z, s->other);
    }
    if (!calls) return;
    Block all = {0};
    for (int i = 0; i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        Block *copy = s->kind == ST_CALL ? body_of(z, s) : NULL;
        if (!copy) vec_push(&all.stmts, s);
        for (int k = 0; copy && k < copy->stmts.len; k++) {
            Stmt *c = copy->stmts.data[k];
            if (c->kind == ST_NEW && c->buf->home == copy) c->buf->home = b;
            vec_push(&all.stmts, c);
        }
        if (copy) vec_free(&copy->stmts);
    }
    vec_free(&b->stmts);
    *b = all;
}

static void make_cells(Inliner *z, Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i], *next = i + 1 < b->stmts.len ? b->stmts.data[i + 1] : NULL;
        bool scalar = s->kind == ST_NEW && !s->buf->rank && next && next->kind == ST_STORE && next->buf == s->buf;
        if (scalar) {
            vec_push(&z->tree->temps, ((TempInfo){.kind = s->buf->kind, .cell = true, .name = s->buf->name}));
            z->cell[s->buf->id] = z->tree->temps.len;
            next->kind = ST_CELL, next->dst = z->tree->temps.len - 1, next->buf = NULL;
            block_delete(b, i);
            continue;
        }
        Temp cell = s->buf ? z->cell[s->buf->id] - 1 : -1;
        if (cell >= 0 && s->kind == ST_LOAD)
            s->kind = ST_GET, s->nargs = 1, s->args = arena_copy(z->arena, &cell, sizeof cell);
        else if (cell >= 0) s->kind = ST_SET, s->dst = cell;
        if (cell >= 0) s->buf = NULL;
        make_cells(z, s->body), make_cells(z, s->other);
    }
}

void loops_inline(Arena *arena, Tree *tree, const LoopOptions *opt) {
    (void)opt;
    Inliner z = {arena, tree, NULL};
    int procs = 0;
    for (int i = 0; i < tree->body->stmts.len; i++) procs += tree->body->stmts.data[i]->kind == ST_PROC;
    if (!procs) return;
    inline_calls(&z, tree->body); // what a procedure calls comes before it
    for (int i = 0; i < tree->body->stmts.len; i++) {
        Stmt *s = tree->body->stmts.data[i];
        if (s->kind != ST_PROC) continue;
        block_free(s->body);
        stmt_drop(s);
    }
    block_sweep(tree->body);
    z.cell = ARENA_ARRAY(arena, Temp, tree->bufs.len + 1);
    make_cells(&z, tree->body);
}
