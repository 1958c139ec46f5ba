// Types of F̃ and their unification. Types carry no sizes: those are values and are compared when the IR is built.
#ifndef FRONT_TYPES_H
#define FRONT_TYPES_H

#include "ir/ir.h"
#include "support/arena.h"

typedef struct Type Type;

typedef enum TypeForm { TYPE_VAR, TYPE_SCALAR, TYPE_ARRAY, TYPE_TUPLE, TYPE_ERROR } TypeForm;

// What may stand for a type variable. A numeric literal has a variable of class NUM (`1`) or REAL (`1.0`).
typedef enum TypeClass { CLASS_ANY, CLASS_NUM, CLASS_REAL } TypeClass;

struct Type {
    TypeForm form;
    TypeClass cls; // of a variable
    Kind kind;     // of a scalar
    Type *link;    // what a variable was bound to, or NULL
    int nparts;    // of a tuple; 1 for an array
    Type **parts;
    const char *extent; // of an array: its extent as written, for messages only; or NULL
};

Type *type_scalar(Kind kind);
// A type that goes with every other: what an expression with a reported error has.
Type *type_error(void);
Type *type_unit(void);
Type *type_var(Arena *a, TypeClass cls);
Type *type_array(Arena *a, Type *elem, const char *extent);
Type *type_tuple(Arena *a, int n, Type **parts);

// The type of that name (`Double`, `Index`, `Matrix`, …), or NULL.
Type *type_named(Arena *a, const char *name);

// The type without bound variables at its root.
Type *type_prune(Type *t);
static inline Type *type_elem(Type *array) { return type_prune(array)->parts[0]; }
bool type_is_array(Type *t);
bool type_is_error(Type *t);
// Whether a variable is left inside. With `any`, only variables of class ANY count.
bool type_has_vars(Type *t, bool any);
bool type_has_error(Type *t);

// Makes both types equal by binding variables; false if they cannot be (variables bound on the way stay bound).
bool type_unify(Type *a, Type *b);
// Requires t to be a scalar of the class; false if it cannot be.
bool type_constrain(Type *t, TypeClass cls);
// Makes every literal's type inside t a floating one (what differentiation asks of a value).
void type_make_real(Type *t);
// Binds the variables left in t: REAL and ANY to Double, NUM to Int.
void type_default(Type *t);

// The number of leaves: scalars, or arrays of scalars, into which values of the type fall apart (t has no variables).
int type_leaves(Type *t);
// Kind and rank of each leaf, in depth-first order; returns their number. kinds and ranks may be NULL.
int type_leaf_list(Type *t, Kind *kinds, int *ranks);

// The type of derivatives: floating scalars stay; Int and Bool have the empty tuple; arrays of nothing are nothing.
Type *type_tangent(Arena *a, Type *t);
// t with each floating scalar replaced by `by` and others by the empty tuple: Jacobians by an argument of tangent `by`.
Type *type_jacobian(Arena *a, Type *t, Type *by);
// Of a sparse Jacobian of tangent t by an argument of tangent `by`: starts of rows, columns, values.
Type *type_sparse(Arena *a, Type *t, Type *by);
// [FS] Fig. 7, DT-Exp: t with each scalar replaced by the pair of it and its derivative.
Type *type_dual(Arena *a, Type *t);

// As written in F̃, for messages: `Double[n][m]`, `Double * Int`. In the arena.
const char *type_text(Arena *a, Type *t);

#endif
