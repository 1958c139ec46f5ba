// Loops over directions that skip zeros: what narrow.c finds, and narrow_build.c writes.
#ifndef LOWER_NARROW_H
#define LOWER_NARROW_H

#include "lower/build.h"
#include "lower/independent.h"
#include "lower/internal.h"

enum { NARROW_ATOMS = 12, NARROW_DEPTH = 12 };

// Where a value may not be zero: in all directions, or in those of some atoms.
typedef struct Support {
    bool all;
    int n, atom[NARROW_ATOMS];
} Support;

typedef enum AtomKind {
    AT_ROW,   // those of a row of an array: of what `load` reads
    AT_POINT, // the one that makes an equality hold: of `is`, a sum that is zero then
    AT_WHERE, // those of `of`, if `cond` holds, or does not: `unless`
    AT_BLOCK  // those of `of`, whenever a body of `in` is at its end: of a loop, of a branch, or, `unless`, of its other
              // one
} AtomKind;

typedef struct Atom {
    AtomKind kind;
    const Stmt *load, *in;
    Linear is;
    Temp cond;
    bool unless;
    Support of;
    int depth;     // of the block, in the loop over directions, that makes what it needs
    Temp cells[2]; // AT_BLOCK: the hull so far
} Atom;

typedef struct Sweep Sweep;

// An array with a dimension for the directions.
typedef struct Wide {
    Buf *buf;
    int at;            // that dimension
    Sweep *by;         // in which all of it is stored that may not be zero
    const Stmt *store; // one of those there
    bool fails, exact; // exact: what is read of a row are no directions but those kept for it
    bool asked;        // it says of a loop where it is zero
    Buf *kept;         // by row: two numbers
} Wide;

struct Sweep {
    Block *block; // with the loop in it
    Stmt *loop;
    int64_t count, blocks;
    int lanes;          // in a block
    VEC(Stmt *) around; // loops, and the block that has the outermost
    Block *outermost;
    VEC(Stmt *) stores; // of arrays from outside
    Support hull;
    bool fails;
    bool worth; // zeros are to be skipped; else it is only said where they are, for others
    bool asked; // one of both is to be
};

typedef struct Entry { // of the blocks, in a loop over directions, around a statement
    Stmt *s;
    bool unless;
} Entry;

typedef struct Narrower {
    Builder b;
    const LoopOptions *opt;
    Iterations it;
    VEC(Sweep *) loops;
    VEC(Wide *) wide;
    VEC(Atom) atoms;
    VEC(Stmt *) around;
    Block *outermost;
    // Of the loop that is looked at:
    Sweep *now;
    Support *of;         // by temp: of a value, or of what a cell has been; of a Bool, where it may hold
    int *level;          // by temp: the depth of the block, in the loop, in which it is made
    bool *inside, *lost; // by temp: made in an iteration; not to be had before the loop
    Map held;            // arrays that are new in an iteration -> Support
    Entry path[NARROW_DEPTH];
    int depth;
    bool changed, loses;
    // Of what is computed before it:
    Map copies;   // Temp + 1 -> Temp + 1
    bool *needed; // by temp
} Narrower;

// ---- narrow.c

Wide *narrow_wide(const Narrower *z, const Buf *b); // NULL: it is none
// Is dimension k one of those that say which row it is? In others, a run of the loop over directions stores to the same
// elements each time.
bool narrow_is_row(const Narrower *z, const Wide *w, int k);
bool narrow_stores_to(const Sweep *w, const Buf *b);
int narrow_loads(const Block *block, const Buf *b); // how many there are of the array
// The dimension in which an element is at the index; -1: there is none, or several.
int narrow_dimension(const Stmt *s, Temp index);

// ---- narrow_build.c

// Makes room, beside each array, for the hulls of its rows.
void narrow_keep(Narrower *z, Block *block);
// Puts what finds out the hull, and the loop over it, in the place of the loop.
void narrow_loop(Narrower *z, Sweep *w);

#endif
