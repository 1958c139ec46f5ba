// Shared by the files that divide loops into groups: groups.c finds the parts of a loop, groups_build.c writes them as loops.
#ifndef LOWER_GROUPS_INTERNAL_H
#define LOWER_GROUPS_INTERNAL_H

#include "lower/build.h"
#include "lower/effects.h"
#include "lower/independent.h"
#include "lower/internal.h"

// The bytes of what a group leaves in arrays; the least length of loops of products; levels of open loops; what may be computed
// again, in additions, none of which is dear; how far dependences are followed. CHUNKS: so many parts of a group, at
// least, are added up at once.
enum { LEAST = 16, DEEPEST = 4, CHEAP = 12, DEAR = 4, BUDGET = 200, INNER = 1 << DEEPEST, CHUNKS = 32 };
#define GROUP_BYTES ((int64_t)1 << 30)

typedef enum PartKind {
    PART_NONE,    // is done with another
    PART_LIGHT,   // statements as they are
    PART_SUM,     // a sum of products over l
    PART_PRODUCT, // additions of a product to elements l
    PART_ADD,     // an addition to an element that iterations share
    PART_SCAN,    // a recurrence along a row
    PART_REDUCE   // a loop along a row that adds up, or takes extremes of, cells
} PartKind;

typedef struct Piece {
    PartKind kind;
    int depth, open;
    Stmt *loop[DEEPEST]; // around it; so many of them are open
    const Block *block;  // of the innermost of these
    VEC(Stmt *) stmts;   // PART_LIGHT; of a scan or a reduction the loop, and then what reads each of its cells afterwards
    Stmt *k;             // the loop over l
    bool rows;           // of a sum: that is outside of loop j, which adds to the elements of a row
    Stmt *to;            // the addition; of a sum, the statement that stores it, or adds it to an element, or NULL
    Temp get;            // the sum
    Temp f[2];           // factors: of iterations and the others
    int bits[2];         // what they depend on
    bool negative, adds; // adds: `to` does not store
    bool cut;            // l < j + plus; of rows j < l + plus
    int64_t plus;
    Temp most, across;    // the largest lengths of loops l and j
    Buf *all;             // PART_PRODUCT: sums
    struct Piece *beside; // PART_PRODUCT: the sum of its first factor, or of what is less by as much (negative)
    Op *by;               // PART_REDUCE, of each cell: how it is joined
    Temp chunks, size;    // PART_REDUCE: so many parts of a row, of so many iterations each, are added up at once
} Piece;

typedef struct Widened { // an array that is new in each iteration of an open loop
    const Buf *from;
    Buf *to;
    int depth;
} Widened;

typedef struct Grouper {
    Arena *arena;
    Tree *tree;
    Builder build;
    Iterations it;
    bool always, fast;
    bool rows;          // recurrences and reductions along rows are looked for, not products
    Stmt *nest, *whole; // whole: what is kept for where that does not pay
    Block *around;
    int known;           // temps with a definition
    bool *made;          // by temp: in the nest
    int *at;             // by temp, made in the nest: where it comes
    int *level;          // by temp, made in the body of an open loop: its level
    int *part;           // likewise: the part that makes it, + 1
    bool *kept;          // likewise: others need it, and do not compute it again
    Buf **array;         // of these: where it is
    int count_at, since; // since: statements from there on come later than what is looked at; 0: there are none
    Map changed;         // array -> where it is changed last
    Map skipped;         // statements that belong to a sum
    Stmt *loop[DEEPEST];
    Temp inner; // the index of the loop over l
    int budget;
    VEC(Piece) parts;
    VEC(Widened) wide;
    VEC(Buf *) grouped;     // arrays for the iterations of a group
    Temp size, count, base; // of a group
    Block lengths, before, after;
    Block *group;
} Grouper;

static inline const Stmt *def_of(const Grouper *z, Temp t) { return t < z->known ? z->it.def[t] : NULL; }
static inline bool is_made(const Grouper *z, Temp t) { return t < z->known && z->made[t]; }
static inline Kind kind_of(const Grouper *z, Temp t) { return z->tree->temps.data[t].kind; }

// Of two loops of which one may be cut by the other: the length of that, and the other's lengths.
static inline Temp bound_of(const Piece *p) { return p->rows ? p->loop[p->depth - 1]->args[0] : p->k->args[0]; }

static inline bool is_in(const Map *made, Temp t) { return map_get(made, (void *)((intptr_t)t + 1)); }

// Notes the temps that the statement makes, at any depth.
void groups_note_made(Map *made, const Stmt *s);
// In how many of the n loops an array is that is new in each iteration of the last of them; 0: in none.
int groups_level(Stmt *const *loop, int n, const Buf *b);
// Writes the parts as loops, in the place of the nest, which is statement number `at` around. (groups_build.c)
void groups_build(Grouper *z, int at);

#endif
