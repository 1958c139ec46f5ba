// What one row of a Jacobian reads of the values it is differentiated by.
#ifndef AD_PATTERN_H
#define AD_PATTERN_H

#include "ad/graph.h"

// A part of an argument: the elements at fixed places in its addressed dimensions and at all places in the others. (Where
// a range is read: at so many places, from a fixed one on, in the one addressed dimension.)
typedef struct Block {
    Node **at;    // the index in each addressed dimension, over the row's variables
    Node *flat;   // that of all of them, row-major
    Node *cond;   // where it is read, as far as that does not depend on what is differentiated by; NULL: always
    Node *needed; // what must hold for the index to be in range; NULL: it is
    bool vague;   // or not everywhere where cond holds
    Node *guard;  // where its elements have values, if something might evaluate them elsewhere; NULL: nothing does
    bool scalars; // its elements have placeholders of their own
    int nparam;
    Node **param; // these, or that of the array
    Node **adj;   // the derivatives of the row by them
} Block;

enum { MAX_FAMILY = 16 }; // places that one read stands for, by constant inner loops

// x[…] in the row's value: at as many places as inner variables with constant extents say.
typedef struct Read {
    Node *e, **idx;
    Node *cond; // where it is evaluated; NULL: everywhere
    bool vague; // or not everywhere where cond holds
    int nvars;
    Var *var[MAX_FAMILY];
    Node *extent[MAX_FAMILY];
    int block[MAX_FAMILY]; // which of the blocks each place is, or -1: it is never read
} Read;

typedef struct Reads { // of one argument
    Node *x;
    int nread; // 0 with blocks: it is read as a whole
    Read *read;
    int first, naddr; // the addressed dimensions
    Node *length;     // of the range; NULL: single places
    int n;
    Block *block;
    int nwhole;   // the other dimensions, and last that of the range
    Node **whole; // their extents
} Reads;

typedef struct Row {
    Ir *m;
    const VarSet *vars; // index variables of the row
    Node *e;            // the value, a scalar
    int nx;
    Node *const *x;     // the arguments
    Node *const *still; // what stands for them where nothing is differentiated: in conditions and indices
    Reads *reads;       // of each argument
} Row;

// Finds r->reads from the other members. In e, arrays indexed by the row's variables are replaced by their elements, and
// arguments by `still` where nothing is differentiated: what is found may be in terms of that, too.
void ad_row_reads(Row *r);
// Replaces what e reads by the blocks' placeholders and differentiates by them: sets Block.adj.
bool ad_row_derive(Row *r, AdError *error);
// The derivative of the row by the element of the block at these places in Reads.whole.
Node *ad_row_value(const Row *r, const Reads *of, const Block *b, Node *const *at);
// The element of an array at these indices, without storing the array.
Node *ad_element(Ir *m, Node *a, int n, Node **idx);
// The number of elements if it is a constant of at most max, else -1.
int ad_small(int n, Node *const *extents, int max);
// The k-th list of indices of an array with constant extents.
void ad_unflatten(Ir *m, int n, Node *const *extents, int k, Node **idx);

#endif
