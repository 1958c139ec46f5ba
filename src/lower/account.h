// What a loop tree does at most, as polynomials in the sizes (--explain=cost, -Wcost). Whatever the executor counts
// (lower/exec.c) is no more than that, for arguments that the tree is made for.
//
// A loop is repeated as often as its extent says: exactly where that is a polynomial in sizes and in indices of loops
// around, as in triangles; else as a bound of it does. Where data decides, as in a `while`, the trip count is an
// unknown of its own, which has the loop's place in the source as its name, so that it is the same in a function and in
// its derivative. Of the arms of a branch each term counts once. What runs at most once in a loop counts once: a value
// that is computed when it is first needed, and a branch whose condition says which iteration it is.
#ifndef LOWER_ACCOUNT_H
#define LOWER_ACCOUNT_H

#include "lower/growth.h"
#include "lower/tree.h"

typedef enum AccountKind {
    ACCOUNT_OPERATIONS, // add, mul, div and call of ir/counts.def
    ACCOUNT_ITERATIONS,
    ACCOUNT_LOADS,
    ACCOUNT_STORES,
    ACCOUNTS
} AccountKind;
extern const char *const account_name[ACCOUNTS];

typedef struct Account {
    Growth of[ACCOUNTS];
    bool known;          // false: the tree is too large to be looked at
} Account;

// What counts grow with, in one table for all trees that are compared; in the arena.
typedef struct AccountAtoms {
    Arena *arena;
    VEC(GrowthAtom *) all;
} AccountAtoms;
void account_atoms_free(AccountAtoms *atoms);

// Of the body of t, not of what runs otherwise.
Account tree_account(AccountAtoms *atoms, const Tree *t);
// How many elements there are in the arguments and results of t.
Growth tree_data(AccountAtoms *atoms, const Tree *t);

#endif
