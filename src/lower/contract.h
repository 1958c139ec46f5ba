// Contractions: nests of loops that add up what depends on a row and k, and on a column and k, by products or other cheap
// operations.
#ifndef LOWER_CONTRACT_H
#define LOWER_CONTRACT_H

#include "lower/build.h"
#include "lower/lower.h"
#include "support/map.h"

enum { ROW, COLUMN, OVER, VARS };
enum { MOST_LEAVES = 3 };

typedef struct Leaf { // a value of a row and k, or of a column and k, and where it is packed
    Temp t;
    Buf *buf;
    bool along; // rows lie one after the other, for each k; else all k of a row
} Leaf;

typedef struct Contraction { // for each row and column: to[…] = or += sum over k of the term
    Stmt *nest, *loop[VARS], *to;
    Temp term;
    Leaf leaf[2][MOST_LEAVES]; // ROW, COLUMN
    int n[2], ops;
    bool symmetric;   // rows and columns may be exchanged
    Stmt *after[2];   // ROW, COLUMN: the loops of a nest that stores what is computed from each sum instead of it; or NULL
    Temp sum, result; // what it loads of that, and stores
    // In the nest, and that one:
    Stmt **def; // by temp
    Map made;   // Temp + 1
} Contraction;

static inline void *contraction_key(Temp t) { return (void *)((intptr_t)t + 1); }
static inline bool contraction_makes(const Contraction *c, Temp t) { return map_get(&c->made, contraction_key(t)); }

// The contraction in blocks, at the end of a block of statements. (blocks.c)
void contraction_put(Builder *b, const LoopOptions *opt, Contraction *c, Block *to);

#endif
