// Errors in inlined code: with the chain of uses that led there.
#ifndef FRONT_REPORT_H
#define FRONT_REPORT_H

#include "front/core.h"
#include "front/module.h"

// Reports the error at the place, with notes for the uses. An error inside the prelude is reported at the user's use of
// the prelude's function.
void report_error(const Unit *u, Use *use, Span at, const char *text);

// The place itself, or where it is inside the prelude, the user's use of the prelude that led there.
Span report_place(const Unit *u, const Use *use, Span at);

// The chain of uses, as notes.
void report_uses(const Unit *u, const Use *use);

bool report_in_prelude(const Unit *u, Span at);

#endif
