// What the host knows. Sizes and scalar arguments, and what is computed from these alone, it computes itself; what is read from
// arrays, or set in a kernel, is known on the device. A statement that has grids inside the host runs itself.
// Arrays that only the host accesses, with values and indices that it knows, are in its memory: those by which a loop that keeps
// some of its states, and computes others again, knows which it has.
#include "cuda/print.h"

bool place_has_grid(const Unit *u, const Stmt *s) {
    (void)u;
    return !s->grid && (s->kind == ST_FOR || s->kind == ST_LOOP || s->kind == ST_IF) &&
           (grid_inside(s->body) || grid_inside(s->other));
}

static bool args_on_host(const Unit *u, const Stmt *s) {
    for (int k = 0; k < s->nargs; k++)
        if (u->device[s->args[k]]) return false;
    return true;
}

static bool buf_on_host(const Unit *u, const Buf *b) { return b->where == BUF_TEMP && !u->device_buf[b->id]; }

static bool extents_on_host(const Unit *u, const Buf *b) {
    for (int k = 0; k < b->rank; k++)
        if (u->device[b->extent[k]]) return false;
    return true;
}

static bool block_on_host(const Unit *u, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++)
        if (!place_on_host(u, b->stmts.data[i])) return false;
    return true;
}

bool place_on_host(const Unit *u, const Stmt *s) {
    switch (s->kind) {
    case ST_LIT:
    case ST_ARG:
    case ST_CHECK:
    case ST_BREAK: return args_on_host(u, s);
    case ST_OP:
    case ST_CONV:
    case ST_SELECT:
    case ST_GET:
    case ST_CELL:
    case ST_SET: return args_on_host(u, s) && !u->device[s->dst];
    case ST_LOAD: return args_on_host(u, s) && !u->device[s->dst] && buf_on_host(u, s->buf);
    case ST_STORE:
    case ST_ADDTO:
    case ST_FILL: return args_on_host(u, s) && buf_on_host(u, s->buf);
    case ST_COPY: return buf_on_host(u, s->buf) && buf_on_host(u, s->src);
    case ST_NEW: return buf_on_host(u, s->buf) && extents_on_host(u, s->buf);
    case ST_FOR:
    case ST_LOOP:
    case ST_IF:
        return !s->grid && args_on_host(u, s) && (s->dst < 0 || !u->device[s->dst]) && block_on_host(u, s->body) &&
               block_on_host(u, s->other);
    default: return false;
    }
}

static bool mark_buf(Unit *u, const Buf *b) {
    bool changed = b && !u->device_buf[b->id];
    if (b) u->device_buf[b->id] = true;
    return changed;
}

// Everything that a kernel makes or sets, and the arrays that it accesses.
static bool mark(Unit *u, const Stmt *s) {
    if (unit_is_dead(u, s)) return false;
    bool changed = s->dst >= 0 && !u->device[s->dst];
    if (s->dst >= 0) u->device[s->dst] = true;
    changed |= mark_buf(u, s->buf) | mark_buf(u, s->src);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) changed |= mark(u, in[k]->stmts.data[i]);
    return changed;
}

static bool mark_block(Unit *u, const Block *b) {
    bool changed = false;
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (place_has_grid(u, s)) changed |= mark_block(u, s->body) | mark_block(u, s->other);
        else if (s->kind != ST_BREAK && !place_on_host(u, s)) changed |= mark(u, s);
    }
    return changed;
}

void place_temps(Unit *u) {
    while (mark_block(u, u->tree->body)) continue;
}
