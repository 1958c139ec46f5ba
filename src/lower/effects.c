#include "lower/effects.h"

enum { RANK_OF_MASK = 32 };

static void use(Effects *e, Temp t) { vec_push(&e->uses, t); }

static void note_access(Effects *e, Buf *buf, bool write, const Temp *index) {
    vec_push(&e->access, ((Access){buf, write, index}));
    for (int k = 0; k < buf->rank; k++) use(e, buf->extent[k]);
}

static void add_block(Effects *e, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) effects_add(e, block->stmts.data[i]);
}

void effects_add(Effects *e, const Stmt *s) {
    e->size += s->kind != ST_LIT;
    for (int k = 0; k < s->nargs; k++)
        if (s->kind != ST_GET) use(e, s->args[k]);
    switch (s->kind) {
    case ST_CELL: vec_push(&e->cells, s->dst), vec_push(&e->sets, s->dst); break;
    case ST_SET: vec_push(&e->sets, s->dst); break;
    case ST_GET: vec_push(&e->gets, s->args[0]); break;
    case ST_NEW:
    case ST_FILL: note_access(e, s->buf, true, NULL); break;
    case ST_COPY:
    case ST_MOVE: note_access(e, s->buf, true, NULL), note_access(e, s->src, false, NULL); break;
    case ST_LOAD:
    case ST_FETCH: note_access(e, s->buf, false, s->kind == ST_LOAD ? s->args : NULL); break;
    case ST_ADDTO:
    case ST_STORE: note_access(e, s->buf, true, s->args + 1); break;
    case ST_EXTERN:
    case ST_CALL:
        for (int k = 0; k < s->nin; k++)
            if (s->in[k]) note_access(e, s->in[k], k >= s->nin - s->nout, NULL);
        e->stops = true;
        break;
    case ST_LOOP:
    case ST_BREAK:
    case ST_CHECK: e->stops = true; break;
    case ST_PROC: return; // nothing runs there
    default: break;
    }
    add_block(e, s->body);
    add_block(e, s->other);
}

void effects_free(Effects *e) {
    vec_free(&e->access);
    vec_free(&e->uses), vec_free(&e->gets), vec_free(&e->sets), vec_free(&e->cells);
}

static bool has(int n, const Temp *t, Temp x) {
    for (int i = 0; i < n; i++)
        if (t[i] == x) return true;
    return false;
}

static bool meet(int n, const Temp *t, int m, const Temp *u) {
    for (int i = 0; i < n; i++)
        if (has(m, u, t[i])) return true;
    return false;
}

bool effects_share_cells(const Effects *a, const Effects *b) {
    return meet(a->sets.len, a->sets.data, b->gets.len, b->gets.data) ||
           meet(a->sets.len, a->sets.data, b->sets.len, b->sets.data) || meet(a->gets.len, a->gets.data, b->sets.len, b->sets.data);
}

bool effects_conflict(const Stmt *s, const Effects *a, const Stmt *t, const Effects *b) {
    if (a->stops && (b->stops || b->access.len)) return true;
    if (s->kind == ST_BREAK || t->kind == ST_BREAK) return true;
    if (s->dst >= 0 && s->kind != ST_FOR && has(b->uses.len, b->uses.data, s->dst)) return true;
    if (effects_share_cells(a, b)) return true;
    for (int i = 0; i < a->access.len; i++)
        for (int k = 0; k < b->access.len; k++)
            if (a->access.data[i].buf == b->access.data[k].buf && (a->access.data[i].write || b->access.data[k].write)) return true;
    return false;
}

// The dimensions, of those in the mask, in which all accesses to the buffer are at index i.
static uint32_t dimensions_at(const Effects *e, const Buf *buf, Temp i, uint32_t dims) {
    for (int k = 0; k < e->access.len; k++) {
        const Access *a = &e->access.data[k];
        for (int d = 0; a->buf == buf && d < RANK_OF_MASK; d++)
            if (d >= buf->rank || !a->index || a->index[d] != i) dims &= ~(UINT32_C(1) << d);
    }
    return dims;
}

bool effects_apart(const Effects *a, Temp i, const Effects *b, Temp j) {
    for (int x = 0; x < a->access.len; x++)
        for (int y = 0; y < b->access.len; y++) {
            const Buf *buf = a->access.data[x].buf;
            if (buf != b->access.data[y].buf || (!a->access.data[x].write && !b->access.data[y].write)) continue;
            if (!dimensions_at(b, buf, j, dimensions_at(a, buf, i, ~UINT32_C(0)))) return false;
        }
    return true;
}

// ---- nests

bool nest_is_flat(const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        switch (s->kind) {
        case ST_FOR:
        case ST_LOOP:
        case ST_BREAK:
        case ST_NEW:
        case ST_FILL:
        case ST_COPY:
        case ST_MOVE:
        case ST_EXTERN:
        case ST_CALL: return false;
        default: break;
        }
        if (!nest_is_flat(s->body) || !nest_is_flat(s->other)) return false;
    }
    return true;
}

bool nest_is_dear(const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_OP && op_info[s->op].cost >= op_info[OP_exp].cost) return true;
        if (nest_is_dear(s->body) || nest_is_dear(s->other)) return true;
    }
    return false;
}

Stmt *nest_inner(const Stmt *loop) {
    const Block *body = loop->body;
    Stmt *last = body->stmts.len ? vec_last(&body->stmts) : NULL;
    if (!last || last->kind != ST_FOR) return NULL;
    for (int i = 0; i + 1 < body->stmts.len; i++) {
        StmtKind k = body->stmts.data[i]->kind;
        if (k != ST_LIT && k != ST_OP && k != ST_CONV && k != ST_SELECT && k != ST_LOAD) return NULL;
    }
    return last;
}

bool stmt_is_pure(const Stmt *s) {
    return s->kind == ST_LIT || s->kind == ST_ARG || s->kind == ST_OP || s->kind == ST_CONV || s->kind == ST_SELECT;
}

bool stmt_is_plain(const Stmt *s) {
    switch (s->kind) {
    case ST_LIT:
    case ST_ARG:
    case ST_OP:
    case ST_CONV:
    case ST_SELECT:
    case ST_LOAD:
    case ST_GET:
    case ST_FETCH: return true;
    default: return false;
    }
}

bool block_has_effect(const Block *block) {
    for (int i = 0; i < block->stmts.len; i++)
        if (!stmt_is_plain(block->stmts.data[i])) return true;
    return false;
}

Stmt *block_only_effect(const Block *block) {
    Stmt *one = NULL;
    for (int i = 0; i < block->stmts.len; i++) {
        if (stmt_is_plain(block->stmts.data[i])) continue;
        if (one) return NULL;
        one = block->stmts.data[i];
    }
    return one;
}

bool nest_is_plain(const Stmt *s) { return s->kind == ST_FOR && s->nargs == 1 && !s->wishes && !s->lanes && !s->threads; }

// Has the block a cell from outside set to anything but a sum, or least or greatest, of what it was?
static bool has_recurrence(const Block *block, const Effects *e, Stmt *const *def, bool strict) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (has_recurrence(s->body, e, def, strict) || has_recurrence(s->other, e, def, strict)) return true;
        if (s->kind != ST_SET || has(e->cells.len, e->cells.data, s->dst)) continue;
        const Stmt *by = def[s->args[0]];
        bool joins = by && by->kind == ST_OP && (by->op == OP_add || by->op == OP_sub || by->op == OP_min || by->op == OP_max);
        if (strict || !joins) return true;
    }
    return false;
}

bool nest_is_parallel(const Stmt *loop, const Effects *e, Stmt *const *def, bool strict) {
    for (const Stmt *s = loop; s; s = nest_inner(s))
        for (int k = 0; k < e->access.len; k++) {
            const Access *a = &e->access.data[k];
            if (a->write && !dimensions_at(e, a->buf, s->dst, ~UINT32_C(0))) return false;
        }
    return !has_recurrence(loop->body, e, def, strict);
}
