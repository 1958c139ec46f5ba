#include "front/report.h"

enum { NOTES_SHOWN = 8 };

bool report_in_prelude(const Unit *u, Span at) {
    for (int i = 0; i < u->nmodules && u->modules[i]->prelude; i++)
        if (u->modules[i]->src == at.src) return true;
    return false;
}

Span report_place(const Unit *u, const Use *use, Span at) {
    if (!report_in_prelude(u, at)) return at;
    while (use && use->outer && report_in_prelude(u, use->at)) use = use->outer;
    return use ? use->at : at;
}

void report_uses(const Unit *u, const Use *use) {
    int shown = 0;
    for (; use; use = use->outer) {
        if (report_in_prelude(u, use->at)) continue;
        if (shown == NOTES_SHOWN && use->depth > 1) {
            int more = use->depth;
            while (use->outer) use = use->outer;
            diag_note(u->diag, use->at, "after %d uses more: in this use of `%s`", more, use->name);
            return;
        }
        diag_note(u->diag, use->at, "in this use of `%s`", use->name);
        shown++;
    }
}

void report_error(const Unit *u, Use *use, Span at, const char *text) {
    if (report_in_prelude(u, at)) {
        while (use && use->outer && report_in_prelude(u, use->at)) use = use->outer;
        if (use) {
            if (use->reported) return; // one message for one wrong use
            use->reported = true;
            diag_error(u->diag, use->at, "in `%s`: %s", use->name, text);
            diag_note(u->diag, at, "the place in the prelude");
            report_uses(u, use->outer);
            return;
        }
    }
    diag_error(u->diag, at, "%s", text);
    report_uses(u, use);
}
