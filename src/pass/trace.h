// What the passes that plan traces share: under which conditions a value is needed, and which elements of its old value a
// step replaces.
#ifndef PASS_TRACE_H
#define PASS_TRACE_H

#include "pass/facts.h"
#include "support/str.h"

// ---- parts.c
enum { PART_RANK = 16, PARTS_MAX = 8 };
// The elements with index a[d] in dimension d, for each d with a[d]; among them those for which pred holds are replaced.
typedef struct TracePart {
    Node *pred;
    Node *a[PART_RANK];
} TracePart;
typedef struct TraceParts {
    Node *base; // the old array
    int rank;
    Var *v[PART_RANK]; // indices of the new array
    Node *body;        // its element
    int n;
    TracePart part[PARTS_MAX];
} TraceParts;
// Which elements of the array `base` does `step` replace? False if it is not known to keep any.
bool parts_of_step(Ir *m, Node *base, Node *step, TraceParts *out);

// ---- iteration.c
// A loop that reads the trace of another, in each of its iterations at another one of that.
typedef struct Iteration {
    Node *loop;               // whose trace is read
    Node *r;                  // the iteration, an affine function of t with factor 1 or -1
    Var *t;                   // the index of the loop that reads; NULL: there is none
    Node *inverse;            // t in terms of the index of `loop`; NULL for while loops
    Rewriting *reads, *shift; // how values that read are made values of `loop`: NULL before the first
} Iteration;
Iteration iteration_of(Ir *m, Node *read);
// e, which a loop computes that reads, as `loop` computes it. x stays where it is from here to iteration_end.
Node *iteration_in_loop(Ir *m, Iteration *x, Node *e);
void iteration_end(Iteration *x);
// Does e mention the index or a state of the loop?
bool loop_varies(const Loop *l, const Node *e);
// The variables of e, in terms of `loop`, that are bound further in; returns how many, or -1 if there are others or their
// extents change.
int iteration_inner(const Iteration *x, const Node *e, Var **w);
// The array of e over n of them.
Node *iteration_array(Ir *m, Node *e, int n, Var *const *w);
// Does each iteration evaluate x? The condition under which it does, or NULL: not known.
Node *iteration_demands(Ir *m, const Node *loop, const Node *x);

// ---- form.c
// An expression without the names of variables and the order of factors.
typedef struct Form {
    Str text;          // equal for expressions that differ in these alone; the caller frees it
    Var *w[PART_RANK]; // the variables around it, as they are found: they stand for each other
} Form;
// Of e in n variables; false if it is too large, or holds a loop.
bool form_of(Node *e, int n, Var *const *w, Form *out);

#endif
