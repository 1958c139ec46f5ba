// The passes over values. Each replaces f->outputs (and nothing else) by equal values. See driver/passes.def for their
// order.
#ifndef PASS_PASS_H
#define PASS_PASS_H

#include "ir/ir.h"
#include "support/map.h"

// Applies the rules of ir/rules.c and ir/solve.c everywhere again, knowing what the brackets and branches around a term
// say ([FS] Fig. 8 d).
void pass_simplify(Func *f);
// Makes sums that loops repeat with other scalars polynomials in these, whose coefficients are computed once (Ir.fast).
void pass_moments(Func *f);
// Applies the rules that save an operation only where what they take apart is used nowhere else (factor.c).
void pass_factor(Func *f);
// Makes while loops whose traces are needed loops of as many iterations as they are counted to have.
void pass_count(Func *f);
// Gives states of a loop inside of another that do not depend on its index a loop of their own (split.c).
void pass_split(Func *f);
// Finds ways to have earlier states of a loop without storing all of them (trace.c).
void pass_trace(Func *f);
// The same for values; replaces them by equal ones.
void pass_plan_traces(Ir *m, int n, Node **roots);
// Makes outputs of dear values that a loop computes and another, which reads its trace, would compute again.
void pass_keep(Func *f);
// Drops the states and outputs of loops that no result needs (Ir.whole_loops).
void pass_prune(Func *f);
// Replaces loops by loops for the results that are needed together (results.c). fill: traces and counts are states of
// these.
void pass_results(Ir *m, int n, Node **roots, bool fill);
// Lets a loop that adds to zeros what is then added to an array add to that array.
void pass_thread(Func *f);
// Lets loops whose traces would be large run again in blocks while they are reversed.
void pass_checkpoint(Func *f);
// Turns traces into array states, and counts into states that count.
void pass_store(Func *f);
// Part of pass_factor: one loop whose steps are affine functions of a state (affine.c). True if there is one.
// uses: how often values are used.
bool pass_affine_steps(Func *f, const Map *uses);
// Unrolls sums and arrays of a few elements, where the number is known.
void pass_unroll(Func *f);
// Gives loops over equal extents the same variable where neither is inside the other, so that what they share is one
// node. From here on binders may reuse variables (Ir.planning).
void pass_unify(Func *f);
// Turns an array of sums into a sum of arrays where the summation variable had better be the outer loop: where part of
// the summand is dear and does not depend on the array's index.
void pass_interchange(Func *f);
// Replaces the elements of an array by their values where each is read once: (gen i e)[a] becomes e[i := a].
void pass_fuse(Func *f);
// Lets loops go in strips, before each of which products of matrices are computed for it (Ir.ahead).
void pass_ahead(Func *f);
// Makes an array of a dear value that separate loops would compute again ([TL] section 5.1, let-lifting).
void pass_share(Func *f);
// Part of pass_share: dear values that are needed at several indices (shifted.c).
void pass_share_shifted(Func *f);

// Finds what is evaluated whenever f returns, for all values of its variables, so that it may be evaluated outside of
// its loops even if that can fail (certain.c).
void pass_certain(const Func *f, Map *found);
// The same, and visits each of them, and what is evaluated, at least usually, for some values of the variables `some`
// and for all of its others.
typedef void CertainVisit(Node *e, int nsome, const Var *const *some, void *data);
void pass_certain_visit(const Func *f, Map *found, CertainVisit *visit, void *data);
// A copy of f in an Ir of its own under assumptions about the arguments, as that every size is at least 1; NULL: there
// are none to be made. measures: it may lean on what the elements of arguments are.
Func *pass_assume_positive(const Func *f, bool measures);

// The cost of evaluating e once, without what its loops repeat; saturates at PASS_COST_LOOP if it holds a loop.
enum { PASS_COST_LOOP = 1000, PASS_COST_DEAR = 12 };
int pass_cost(Node *e);
int pass_own_cost(const Node *e); // without that of its operands
int pass_cost_memo(Node *e, Map *memo); // the same, remembering the costs of e's parts

#endif
