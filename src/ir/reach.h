// Which values need which, in a graph about which that is asked again and again.
#ifndef IR_REACH_H
#define IR_REACH_H

#include "ir/ir.h"

typedef struct Reach Reach;
Reach *reach_new(int n, Node *const *roots); // the graph of all that the roots need; values made later may be asked about, too
void reach_free(Reach *r);                   // r may be NULL
bool reach(Reach *r, Node *e, Node *target); // is target e or a part of it? r: NULL searches all of e
bool reach_any(Reach *r, Node *e, int n, Node *const *targets);

#endif
