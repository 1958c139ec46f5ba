// Loops that are one: a result of a loop with many states is a loop with those that it depends on (ir/loops.c), so several
// results are several loops with states in common, which are to run together.
#ifndef IR_JOIN_H
#define IR_JOIN_H

#include "ir/reach.h"
#include "support/vec.h"

typedef struct JoinedMember {
    Node *loop;
    int *at; // where its states are among those of all
} JoinedMember;

typedef struct JoinedLoop {
    Ir *ir;
    Reach *reach; // may be NULL
    Node *loop;   // the first, whose index and condition all use
    VEC(Var *) state;
    VEC(Node *) init;
    VEC(Node *) step;
    VEC(JoinedMember) members;
} JoinedLoop;

void ir_join_open(JoinedLoop *u, Ir *m, Reach *reach, Node *loop);
// Adds a loop that makes as many iterations and needs no result of the others; if `alike`, only one that has a state in
// common with them. False if it cannot be added.
bool ir_join(JoinedLoop *u, Node *loop, bool alike);
bool ir_join_alike(const JoinedLoop *u, Node *loop); // does a state of it start like one of theirs? Else there is none
// Adds a loop that is there already: one with the same iterations, all states of which are states of u.
bool ir_join_part(JoinedLoop *u, Node *loop);
// A term of a member in terms of the variables of u.
Node *ir_join_term(const JoinedLoop *u, const JoinedMember *mb, Node *e);
// The loop with the states of all members, without outputs.
Node *ir_joined(const JoinedLoop *u);
void ir_join_close(JoinedLoop *u);

#endif
