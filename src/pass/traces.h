// The traces of a function's loops, and who reads them: what checkpoint.c asks before it makes a loop run again.
#ifndef PASS_TRACES_H
#define PASS_TRACES_H

#include "ir/join.h"
#include "pass/pass.h"

typedef struct Trace {
    Node *e;
    bool whole;        // something else than a reverse reads it
    VEC(Var *) reader; // the indices of the reverses
} Trace;

typedef struct Scan {
    Ir *m;
    VEC(Trace) traces;
    VEC(Node *) finals;
    Map folds, binders, traced; // index variables: of folds, of binders, of folds with traces
} Scan;

// Which row of a trace a reverse reads in its iteration t: that of the loop's iteration n - 1 - t, or the next one, which
// is what this iteration leaves, if the trace is of a state.
enum { ROW_OWN, ROW_NEXT, ROWS };

void traces_scan(Scan *s, const Func *f); // to be closed
void traces_close(Scan *s);
// The loops whose index is t are one or several, each for variables of its own: those of the k-th, or NULL. (Loops that
// differ in variables that are free in them, as directions of a Jacobian, are not in one place.)
const VarSet *traces_scope(const Scan *s, const Var *t, int k);
// The loops whose index is t and whose free variables these are, as one, to be closed; false if they cannot be.
bool traces_join_readers(JoinedLoop *u, const Scan *s, const Var *t, const VarSet *scope);
// A trace that the reverse of a loop leaves which is to run again, and that is no tape itself; NULL if there is none.
Node *traces_left(const Scan *s);
// Puts down which tapes are kept as a whole, or may exceed their limit, against what an attribute or a limit asks.
void traces_note_whole(const Scan *s);

Node *trace_count(Ir *m, Node *loop);   // the loop's number of iterations as its reverse knows it
int trace_state(const Node *trace);     // the state of which the trace is, or -1
// The row `which` that a reverse of n iterations reads in its iteration t; the one before the last by i.
Node *trace_row_read(Ir *m, Node *n, Var *t, int which);
Node *trace_before_last(Ir *m, Node *n, Node *i);
bool trace_has_reader(Var *const *v, int n, const Var *w);
Node *trace_bytes(Ir *m, const Node *e); // of a value

#endif
