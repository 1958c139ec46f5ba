// Products that need not be kept, since they can be computed for many iterations at once (ahead.c).
#ifndef PASS_AHEAD_H
#define PASS_AHEAD_H

#include "pass/occurs.h"
#include "pass/trace.h"

// Is e, which a loop over t computes, an element of the product of a matrix and a row of an array that is there before? facts:
// where it is evaluated.
bool ahead_product(const Node *e, const Var *t, const Facts *facts);
// May the loop go in strips? Not one in a loop over elements, which may be lanes.
bool ahead_goes_in_strips(const Nodes *all, const Node *loop);

#endif
