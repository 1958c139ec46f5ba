// Recurrences in loop trees: s = a * s + b, or s = min(max(s, a), b), where a and b do not depend on s.
#ifndef LOWER_RECURRENCE_H
#define LOWER_RECURRENCE_H

#include "lower/tree.h"

// A loop that is nothing but one: for i < n { before[i] = cell; cell = first[i] * cell + second[i] }, or, if it is `between`,
// cell = min(max(cell, first[i]), second[i]). With `state` it is a loop over rows, each of which does that to an element of this array,
// with rows of the others; or all with the same, where these have one dimension.
typedef struct Recurrence {
    bool between;
    Temp cell;
    Buf *state;          // NULL: one row
    Buf *first, *second; // NULL: what changes nothing
    Buf *before;         // NULL: nothing reads it
} Recurrence;

#endif
