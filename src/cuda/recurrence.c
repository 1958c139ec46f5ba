// Recurrences (lower/recurrence.h): a call of fsm::cuda::recurrence, which is a scan.
#include "lower/recurrence.h"

#include "cuda/print.h"

void recurrence_print(Code *host, const Stmt *loop) {
    Unit *u = host->u;
    const Recurrence *r = loop->recurrence;
    host_read(host, loop->args[0]);
    u->frame[r->cell] = true;
    code_line(host, "fsm::cuda::recurrence<%s>(call, %s, %s, %s, &fsm_frame->%s, %s);", cuda_type(unit_kind(u, r->cell)),
              expr_temp(u, loop->args[0]), r->factor ? expr_buf(u, r->factor) : "nullptr",
              r->term ? expr_buf(u, r->term) : "nullptr", expr_temp(u, r->cell), r->before ? expr_buf(u, r->before) : "nullptr");
    code_line(host, "if (call.code()) return call.code();");
    u->nlaunches += 3;
}
