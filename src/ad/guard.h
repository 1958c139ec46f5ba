// Where an adjoint is not zero, kept apart from its value: [TL] carries the predicate p of ⟨…|…⟩[p] in the same way
// (Fig. 15). A product with a partial derivative is then built under the bracket, so that the derivative evaluates
// nothing that the primal does not.
#ifndef AD_GUARD_H
#define AD_GUARD_H

#include "ad/graph.h"

// A conjunction, built up from the condition to test first. NULL is true; equal conjunctions are equal pointers.
typedef struct Guard {
    struct Guard *up; // the conditions before cond
    Node *cond;       // may be evaluated where the ones before hold
    int depth;
    struct Guard *next; // of the guards that end in cond
} Guard;

// A share of an adjoint: [guard] * value. Outside of cover (Bool, NULL for true) value is zero and, moreover, the
// primal is not needed: multiplying it by something that may fail there must happen under it.
typedef struct Share {
    Guard *guard;
    Node *cover;
    Node *value;
} Share;

typedef struct Guards {
    Ir *m;
    const AdStates *states; // as in AdGraph
    Map by_cond; // Node -> Guard
} Guards;

Guard *guard_and(Guards *gs, Guard *g, Node *cond); // cond may be NULL
// e where g holds.
Node *guard_bracket(Guards *gs, const Guard *g, Node *e);
// These conditions as a value; NULL for true.
Node *guard_value(Guards *gs, const Guard *g);
// The sum of n > 0 shares, under the conditions with which all their guards begin. `risk` is that of the primal: the
// cover is made only where it is asked for.
Share guard_add(Guards *gs, int n, const Share *shares, AdRisk risk);
// The sum of a share over index variables (in order of creation). What does not depend on them stays its guard. The
// cover of the sum says that the share is needed for some index.
Share guard_sum(Guards *gs, int n, Var *const *vars, Share s, AdRisk risk);
// Does the cover hold for some index? NULL for true. What is not exact may say so where it does not.
Node *guard_any(Guards *gs, int n, Var *const *vars, Node *cover, bool exact);

#endif
