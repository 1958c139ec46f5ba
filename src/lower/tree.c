// Statements and blocks of loop trees.
#include "lower/tree.h"

#include "ir/rule.h"

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

bool tree_step(const Tree *t, const Stmt *s) { return rules_step(t->func->ir->rules, diag_current_pass, s->span); }

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

bool stmt_writes(const Stmt *s, const Buf *b) {
    for (int k = s->nin - s->nout; k < s->nin; k++)
        if (s->in[k] == b) return true;
    return s->buf == b && s->kind != ST_LOAD && s->kind != ST_FETCH;
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
        if (s->kind == ST_CHECK || stmt_calls(s) || block_may_fail(s->body) || block_may_fail(s->other)) return true;
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

Stmt *tree_proc(const Tree *t, int64_t number) {
    for (int i = 0; i < t->body->stmts.len; i++) {
        Stmt *s = t->body->stmts.data[i];
        if (s->kind == ST_PROC && s->u.num == number) return s;
    }
    fatal_bug("the loop tree of '%s' calls procedure %lld, which it has not", t->func->name, (long long)number);
}

const Temp *stmt_index(const Stmt *s) { return s->kind == ST_LOAD ? s->args : s->args + 1; }

bool stmt_has_index(const Stmt *s, Temp index) {
    for (const Temp *t = stmt_index(s); t < s->args + s->nargs; t++)
        if (*t == index) return true;
    return false;
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
    ir_delete(t->ir);
    vec_free(&t->temps);
    vec_free(&t->bufs);
}
