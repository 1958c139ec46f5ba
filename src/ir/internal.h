// Shared by the builders of the IR only.
#ifndef IR_INTERNAL_H
#define IR_INTERNAL_H

#include "ir/ir.h"
#include "ir/rule.h"

// Interns a node with the given key; fills in fv, bound, partial. `payload` is copied from *proto's op, kind, rank, shape,
// u, name.
Node *ir_intern(Ir *m, const Node *proto, int nargs, Node *const *args);
// Interns an elementwise operation as it stands.
Node *ir_op_plain(Ir *m, Op op, Kind kind, Node *a, Node *b);
// Is the product of two Ints too large to be multiplied out?
bool int_mul_is_opaque(Ir *m, Node *a, Node *b);
// Is the Int e as small as sizes are, so that sums and products of such do not overflow? (poly.c)
bool ir_bounded(const Node *e);
// Is a an array literal of Ints, none of which is negative? (poly.c)
bool ir_nonneg_elements(const Node *a);
// For a new node: sets what ir_bounded reads. Operands have it already. (poly.c)
void ir_set_bounded(Node *e);
// p as a polynomial of bounded atoms and the rest. (poly.c)
void poly_unbounded(Ir *m, Poly p, Poly *bounded, Poly *rest);
// Does a `while` loop end, whatever its states are? False: not known. (ends.c)
bool ir_ends(Ir *m, Node *cond, int n, Var *const *state, Node *const *step);
Node *ir_bracket_plain(Ir *m, Node *p, Node *e);
Node *ir_select_plain(Ir *m, Node *c, Node *a, Node *b);

// A value in terms of the custom's states with the values of the states in their place. (build.c)
Node *ir_custom_put(Ir *m, Node *custom, Node *e);

// rules.c: the simplification of a term about to be built, or NULL if it is to stand.
Node *rule_op(Ir *m, Op op, Node *a, Node *b);
Node *rule_compare(Ir *m, Op op, Node *a, Node *b);  // of floating numbers (range.c)
Node *rule_quotient(Ir *m, Op op, Node *a, Node *b); // of OP_mul, OP_div (quotients.c)
Node *rule_select(Ir *m, Node *c, Node *a, Node *b);
Node *rule_bracket(Ir *m, Node *p, Node *e);
Node *rule_at(Ir *m, Node *a, int n, Node **idx);
Node *rule_gen(Ir *m, Var *v, Node *body);

// solve.c: sums of brackets ([TL] section 5; affine equalities and inequalities)
Node *rule_sum(Ir *m, Var *v, Node *body);

// loops.c: folds with closed forms ([FS] Fig. 8 e and g)
Node *rule_fold(Ir *m, Var *index, Var *state, Node *init, Node *step);
Node *rule_affine(Ir *m, Node *loop, int k); // of a fold whose state k reads no other (affine.c)
Node *rule_final(Ir *m, Node *loop, int k);
Node *rule_trace(Ir *m, Node *loop, int k);
Node *rule_count(Ir *m, Node *loop);

#endif
