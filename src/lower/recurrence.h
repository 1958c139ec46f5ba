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

// Loops that are not in others, and whose iterations would be independent but for recurrences, are taken apart: a loop that
// computes a and b, one for each recurrence (Stmt.recurrence), and one that does the rest. So are loops in a loop over rows, and
// sums and extremes there, for where rows are few and long. precise: floating-point sums keep their order, so that there is none of
// these; fast: recurrences in which a is not 0 or 1 may be computed in another order, too. always: rows are taken for long, for tests.
void recurrences_split(Arena *arena, Tree *tree, bool precise, bool always, bool fast);

#endif
