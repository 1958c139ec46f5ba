// Grids whose iterations each add to one row of large arrays, which they compute, as points to the centre that is nearest: where
// there are many rows, iterations are sorted by their row, and blocks do those of a part of the list, one after the other. A row
// that another part has begun is added up beside the arrays, and then added to them.
#include "cuda/print.h"

#include <string.h>

typedef struct Finder {
    Unit *u;
    const Stmt *loop;
    Rows *rows;
    bool *needed;
} Finder;

static const Stmt *made_by(const Finder *z, Temp t) {
    const Block *b = z->loop->body;
    for (int i = 0; i < b->stmts.len; i++)
        if (b->stmts.data[i]->dst == t) return b->stmts.data[i];
    return NULL;
}

// Can t be computed first, from what the grid does not change?
static bool comes_first(Finder *z, Temp t) {
    if (t == z->loop->dst) return z->needed[t] = true;
    if (z->u->made[t] != z->u->stamp) return true;
    const Stmt *s = made_by(z, t);
    bool pure = s && (s->kind == ST_LIT || s->kind == ST_OP || s->kind == ST_CONV || s->kind == ST_SELECT || s->kind == ST_LOAD);
    if (!pure || (s->kind == ST_LOAD && kernel_writes(z->loop, s->buf))) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!comes_first(z, s->args[k])) return false;
    return z->needed[t] = true;
}

static bool is_copy(const Grid *g, const Buf *b) {
    for (int k = 0; k < g->ncopies; k++)
        if (g->copy[k] == b) return true;
    return false;
}

// Do all additions to the arrays go to rows of one number?
static bool add_to_row(Finder *z, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->buf && s->kind == ST_ADDTO && is_copy(z->loop->grid, s->buf)) {
            if (s->buf->rank < 2 || (z->rows->row >= 0 && z->rows->row != s->args[1])) return false;
            z->rows->row = s->args[1];
        }
        if (!add_to_row(z, s->body) || !add_to_row(z, s->other)) return false;
    }
    return true;
}

bool rows_find(Unit *u, Stmt *loop, Rows *out) { // u->made is that of the loop
    Grid *g = loop->grid;
    *out = (Rows){.row = -1, .needed = ARENA_ARRAY(u->arena, bool, u->tree->temps.len)};
    Finder z = {u, loop, out, out->needed};
    if (!g->ncopies || g->nsums || g->natomics || g->depth > 1 || loop->nargs > 1 || block_may_fail(loop->body)) return false;
    for (int i = 0; i < u->tree->bufs.len; i++)
        if (map_get(&u->own, u->tree->bufs.data[i]) == loop && !code_is_local(u, u->tree->bufs.data[i])) return false;
    for (int k = 0; k < g->ncopies; k++)
        if (g->copy[k]->extent[0] != g->copy[0]->extent[0] || u->device[g->copy[k]->extent[0]]) return false;
    out->places = g->copy[0]->extent[0];
    return add_to_row(&z, loop->body) && out->row >= 0 && u->made[out->row] == u->stamp && comes_first(&z, out->row);
}

const char *rows_test(Unit *u, const Stmt *loop, const Rows *p, const char *inner) {
    const char *bytes = NULL;
    for (int k = 0; k < loop->grid->ncopies; k++) {
        const Buf *b = loop->grid->copy[k];
        const char *n = expr_count(u, b, expr_text(u->arena, "%d", (int)kind_size(b->kind)));
        bytes = bytes ? expr_text(u->arena, "%s, %s", bytes, n) : n;
    }
    return expr_text(u->arena, "fsm::by_rows(fsm_n, %s, %s, fsm::sum_of(%s))", inner, expr_temp(u, p->places), bytes);
}

// How long a row is.
const char *rows_length(Unit *u, const Buf *b) {
    const char *n = NULL;
    for (int k = 1; k < b->rank; k++)
        n = n ? expr_text(u->arena, "%s, %s", n, expr_temp(u, b->extent[k])) : expr_temp(u, b->extent[k]);
    return expr_text(u->arena, "fsm::count_of(%s)", n);
}
