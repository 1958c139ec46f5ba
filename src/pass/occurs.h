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

// What uses each of the nodes, once for each operand that it is.
typedef struct Users {
    uint32_t n;      // ids of nodes are smaller
    uint32_t *first; // by id: where its users begin
    Node **user;
} Users;
void users_collect(const Nodes *n, Users *out);
void users_free(Users *u);
static inline int users_count(const Users *u, const Node *e) { return (int)(u->first[e->id + 1] - u->first[e->id]); }
static inline Node *const *users_of(const Users *u, const Node *e) { return u->user + u->first[e->id]; }
// The binders of v inside of which e is with v free on the way, so that each of their passes may evaluate e: at most max;
// returns how many. dropped: arrays in the place of which their elements will be -> where these are read; or NULL.
int users_binders(const Users *u, const Map *dropped, const Var *v, Node *e, Node **out, int max);

#endif
