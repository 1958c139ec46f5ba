// Tiles of iterations (tile.c), and products in them (tile_products.c).
#ifndef LOWER_TILE_H
#define LOWER_TILE_H

#include "lower/build.h"
#include "lower/cost.h"
#include "lower/effects.h"
#include "lower/internal.h"

enum { MOST_INSIDE = 8 };

typedef struct Widened { // an array of an iteration, or of rows of one from outside, and that of all iterations of a tile
    const Buf *from;
    Buf *to;
    int at; // the dimension of `from` with the index of the loop that is cut; -1: it has none
} Widened;

typedef struct Waiting { // a scalar of one part that others need
    Temp temp;
    Buf *buf;
} Waiting;

typedef struct Tiler {
    Builder b;
    Model m;
    int known;     // so many temps have a definition
    int width;     // lanes of a vector
    int most;      // iterations of a tile where much waits for each
    int64_t cache; // its bytes
    // Of the loop that is looked at:
    Stmt *loop;
    Block *around;
    Block before;           // what comes to stand before it
    Block *tile;            // the body of the loop over tiles
    Temp size, base, count; // of a tile: how many iterations at most, the first, how many
    int n;                  // statements of the body
    int *part;              // by statement: its part, from 0 on; FREE, if it is a value that each part makes for itself; GONE
    int parts;
    Effects *of; // by statement
    VEC(Waiting) waiting;
    VEC(Widened) wide;
    const Buf *matrix; // an array of matrices that one of its parts goes over, and in which dimension these follow one another:
    int which;         // one that is added to, if there are any
    bool added;
    Map seen; // loops that are what they shall be
} Tiler;

// An array with these extents for each iteration of a tile, which is new in each run of the block. (tile.c)
Buf *tile_buf(Tiler *z, const Block *home, Kind kind, int rank, const Temp *extent);
bool tile_makes(const Tiler *z, Temp t);      // is it made in an iteration, or new? (tile.c)
const Stmt *tile_def(const Tiler *z, Temp t); // what makes it, if that was there before (tile.c)
// Is the array accessed as a whole, and not by elements? (tile.c)
bool tile_has_whole(const Block *block, const Buf *b);
// Accesses to arrays of an iteration become those to arrays of a tile. (tile.c)
void tile_access_wide(Tiler *z, Block *b, Temp p, int n, Stmt **around, bool heavy);
// The product of the extents of an array, but for one (-1: of all); *known: that, or -1 if it is not known here. (tile_products.c)
Temp tile_count(Tiler *z, Block *to, const Buf *b, int but, int64_t *known);
// In the loop c over matrices, with the loop p over a tile inside: products that are added to matrices, and
// numbers that are added to rows, become sums over the tile. (tile_products.c)
void tile_split_products(Tiler *z, Stmt *c, Stmt *p);

#endif
