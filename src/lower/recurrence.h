// Recurrences in loop trees: s = a * s + b, where a and b do not depend on s.
#ifndef LOWER_RECURRENCE_H
#define LOWER_RECURRENCE_H

#include "lower/tree.h"

// A loop that is nothing but one: for i < n { before[i] = cell; cell = factor[i] * cell + term[i] }.
typedef struct Recurrence {
    Temp cell;
    Buf *factor, *term; // NULL: 1, and 0
    Buf *before;        // NULL: nothing reads it
} Recurrence;

// Loops that are not in others, and whose iterations would be independent but for recurrences, are taken apart: a loop that
// computes a and b, one for each recurrence (Stmt.recurrence), and one that does the rest. precise: floating-point sums keep their
// order, so that there is none of these; fast: recurrences in which a is not 1 may be computed in another order, too.
void recurrences_split(Arena *arena, Tree *tree, bool precise, bool fast);

#endif
