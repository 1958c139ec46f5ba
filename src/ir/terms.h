// The size of what was added up for a number: of x it is |x|, of a sum that of both sides together, and so on through
// everything that is computed. What rounding does to a program, and rewriting it, is a few units in the last place of that.
#ifndef IR_TERMS_H
#define IR_TERMS_H

#include "ir/scalar.h"

// Of the result r of an operation on numbers of this kind. Of a product the size is |x| times that of y and the other way
// round; `expanded`: that of x times that of y, as if it were multiplied out. Sets *doubtful if rounding may have decided
// what a comparison says, or a step function.
double terms_op(Op op, Kind kind, Scalar x, Scalar y, Scalar r, bool expanded, bool *doubtful);
// Can rounding change the sign of x?
bool terms_doubtful(double x, double terms);

#endif
