// A loop that is to run again from checkpoints, with its reverses (checkpoint.c), and the plan of that (checkpoint_plan.c).
#ifndef PASS_CHECKPOINT_H
#define PASS_CHECKPOINT_H

#include "pass/traces.h"

// A reverse: all loops with this index and these free variables.
typedef struct Reader {
    const Var *index;
    const VarSet *scope; // NULL: there are none that can be joined
} Reader;

typedef struct Job {
    Ir *m;
    JoinedLoop u;      // the loop
    VEC(Node *) trace; // its traces
    VEC(Node *) out;   // what they are of, in terms of u
    VEC(int) state;    // which of its states that is, or -1
    VEC(Var *) reader; // the indices of its reverses
    VEC(Reader) by;    // these
    bool *need;     // states on which the traces depend
    Node *trip, *n; // as in the loops; never negative
    // The plan: the iterations of a block, how many blocks there are, for how many checkpoints there is room (at least
    // one), how often a block is run before it is taped, and C(slots + repeats, repeats).
    Node *rows, *blocks, *slots, *repeats, *reach;
    Node *possible, **values; // whether the limit permits any; the values of the error's text
} Job;

// The loop of trace t with all traces and results that belong to it; to be closed.
void checkpoint_open(Job *j, const Scan *s, const Trace *t);
void checkpoint_close(Job *j);
bool checkpoint_plan(Job *j); // false: the traces are to be kept as a whole
// e, of which time does not permit more than a certain number: so proofs need not fear overflow.
Node *checkpoint_bounded(Ir *m, Node *e);

// An Int as a Double.
static inline Node *real(Ir *m, Node *e) { return ir_conv(m, KIND_DOUBLE, e); }

#endif
