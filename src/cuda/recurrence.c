// Recurrences (lower/recurrence.h): a call of fsm::cuda::recurrence, which is a scan.
#include "lower/recurrence.h"

#include "cuda/print.h"

// An array with an element for each step, of each row or of all of them; NULL: what changes nothing.
static const char *steps(Unit *u, const Buf *b, const char *length) {
    return b ? expr_text(u->arena, "{%s, %s}", expr_buf(u, b), b->rank > 1 ? length : "0") : "{}";
}

void recurrence_print(Code *host, const Stmt *loop) {
    Unit *u = host->u;
    const Recurrence *r = loop->recurrence;
    const Stmt *rows = r->state ? loop : NULL;
    for (int i = 0; rows && loop == rows; i++)
        if (rows->body->stmts.data[i]->kind == ST_FOR) loop = rows->body->stmts.data[i];
    if (rows) host_read(host, rows->args[0]);
    else u->frame[r->cell] = true;
    host_read(host, loop->args[0]);
    const Kind kind = rows ? r->state->kind : unit_kind(u, r->cell);
    const char *length = expr_temp(u, loop->args[0]);
    code_line(host, "fsm::cuda::recurrence%s<%s>(call, %s, %s, %s, %s, %s, %s);", r->between ? "_between" : "", cuda_type(kind),
              rows ? expr_temp(u, rows->args[0]) : "1", length, steps(u, r->first, length), steps(u, r->second, length),
              rows ? expr_buf(u, r->state) : expr_text(u->arena, "&fsm_frame->%s", expr_temp(u, r->cell)),
              r->before ? expr_buf(u, r->before) : "nullptr");
    code_line(host, "if (call.code()) return call.code();");
    u->nlaunches += 3;
}
