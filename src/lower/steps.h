// What sequential loops need not do step by step.
#ifndef LOWER_STEPS_H
#define LOWER_STEPS_H

#include "lower/tree.h"

// Nests in a loop whose iterations wait for each other, which do not wait for those before, or on which nothing in the loop waits,
// are done for many iterations at once, before these or after them. room: how many bytes may be kept for that. Sums change their
// order.
void lower_steps(Arena *arena, Tree *tree, int64_t room);

#endif
