// The graph of a function's values, for Graphviz.
#ifndef IR_DOT_PRINT_H
#define IR_DOT_PRINT_H

#include "ir/ir.h"

// One `digraph`. An edge goes from an operand to its user; literals, sizes, and variables that a loop binds are written
// into their users ("·" stands for an operand that has an edge, in order). What a gen, sum, fold … computes for each
// index is a cluster, from whose results dashed edges go to the value of the whole.
void dot_print(Str *out, const Func *f);

#endif
