// Values printed as F̃ source.
#ifndef IR_FSM_PRINT_H
#define IR_FSM_PRINT_H

#include "ir/ir.h"

// Appends f as an F̃ `entry` that compiles again to the same values. Its parameters have the names, types and sizes
// that f records; checks of the arguments follow from these. Adds nodes to f->ir where a result is an array of tuples.
void fsm_print(Str *out, const Func *f);

// Appends declarations of the C functions that the functions call.
void fsm_print_externs(Str *out, int n, Func *const *f);

#endif
