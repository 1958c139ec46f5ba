// What is known where a value is evaluated, and which failures are certain.
#ifndef PASS_FACTS_H
#define PASS_FACTS_H

#include "ir/ir.h"
#include "support/map.h"

// ---- facts.c
enum { FACTS_MAX = 16 };
// Conditions that hold wherever a value is evaluated, in terms of the variables bound around it there.
typedef struct Facts {
    int n;
    Node *p[FACTS_MAX];
} Facts;

// For each of the n nodes, operands before users, the last of which are the roots' (as ir_walk visits them); in
// `arena`.
void facts_collect(Ir *m, Arena *arena, int n, Node *const *all, Map *facts);
// Is p false wherever the facts (NULL: none) hold?
bool facts_refute(Ir *m, const Facts *f, Node *p);
// f, or in *left, less what speaks of variables that e binds.
const Facts *facts_inside(const Node *e, const Facts *f, Facts *left);
// The condition under which e evaluates its operand k; NULL: none.
Node *facts_guard(Ir *m, const Node *e, int k);
// Adds the conjuncts of p; of many, some.
void facts_add(Facts *f, Node *p);

// ---- demands.c
typedef struct Demands Demands;
// In the arena of f's Ir; NULL: f has none, or none that says anything.
Demands *demands_new(const Func *f);
void demands_delete(Demands *d); // may be NULL
// Is e's own check, under the given facts (an index, a divisor, an assertion: not those of its operands), one that the
// demands (NULL: none) make?
bool demands_check(const Demands *d, const Facts *given, Node *e);
// Does e fail only if they do, wherever it is evaluated?
bool demands_cover(Demands *d, Node *e);

#endif
