// Loops over independent iterations that go over matrices, a group of iterations at a time.
#ifndef LOWER_GROUPS_H
#define LOWER_GROUPS_H

#include "lower/tree.h"

// Takes apart the loop, the statement number `at` of the block, whose iterations are independent: into loops for its parts, among
// which are matrix products (lower/product.h) in the place of sums of products that matrices and the loop's iterations have in
// common. The loop is kept for where these turn out small. always: where they are not, too, and in groups of two, for tests. fast:
// zero times what may be infinite is zero. False if there are no such products.
bool groups_split(Arena *arena, Tree *tree, Block *around, int at, bool always, bool fast);
// The same of a loop over rows, iterations of which have recurrences (lower/recurrence.h), or sums and extremes, along the row: where
// rows are few and long, these become scans of all rows, and sums over parts of rows, and the other loops inside, loops over rows
// and places. whole: the loop that is kept. precise: floating-point sums keep their order.
bool groups_split_rows(Arena *arena, Tree *tree, Block *around, int at, Stmt *whole, bool always, bool precise);

#endif
