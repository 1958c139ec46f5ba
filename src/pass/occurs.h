// Where values stand: which binders a value is under.
#ifndef PASS_OCCURS_H
#define PASS_OCCURS_H

#include "ir/ir.h"
#include "support/map.h"
#include "support/vec.h"

// All nodes reachable from the roots or a function's outputs, operands before users.
typedef struct Nodes {
    VEC(Node *) all;
    VEC(Node *) binders; // gen, sum, argmin, argmax among them
} Nodes;

void nodes_of(int n, Node *const *roots, Nodes *out);
void nodes_collect(const Func *f, Nodes *out);
void nodes_free(Nodes *n);
bool nodes_have(const Nodes *n, Op op);
// Is e inside binder b's body with b's variable free on the way, so that each pass of b may evaluate e?
bool binder_repeats(Node *b, Node *e);

#endif
