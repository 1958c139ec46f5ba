// Products that need not be kept, since they can be computed for many iterations at once (ahead.c).
#ifndef PASS_AHEAD_H
#define PASS_AHEAD_H

#include "pass/occurs.h"
#include "pass/trace.h"

// Is e, which a loop over t computes for variables w, an element of the product of a matrix and a row that does not depend on
// these, of an array that is there before? facts: where it is evaluated. (What is a product of matrices already is not: it
// would take as long again.)
bool ahead_product(const Node *e, const Var *t, int n, Var *const *w, const Facts *facts);
// May the loop go in strips? Not one in a loop over elements, which may be lanes.
bool ahead_goes_in_strips(const Nodes *all, const Node *loop);

#endif
