// What statements of loop trees read and write, whether two of them may change places, and nests of loops with scalar work.
#ifndef LOWER_EFFECTS_H
#define LOWER_EFFECTS_H

#include "lower/tree.h"
#include "support/vec.h"

typedef struct Access {
    Buf *buf;
    bool write;
    const Temp *index; // NULL: any element
} Access;

typedef struct Effects {
    VEC(Access) access;
    VEC(Temp) uses;       // temps that it needs, some of which it may make itself
    VEC(Temp) gets, sets; // cells; one that is made is set
    VEC(Temp) cells;      // that are made inside
    bool stops;           // it may fail, leave a loop, or run on
    int size;             // statements but literals
} Effects;

void effects_add(Effects *e, const Stmt *s); // of s and what is inside
void effects_free(Effects *e);
// Does one of them set a cell that the other gets or sets?
bool effects_share_cells(const Effects *a, const Effects *b);
// Must s, which comes first, stay before t? What accesses arrays may do so only since a check before it has passed.
bool effects_conflict(const Stmt *s, const Effects *of_s, const Stmt *t, const Effects *of_t);
// Does each iteration of a loop with index i, or of it and another one with index j, access elements of its own of what one of
// them writes?
bool effects_apart(const Effects *a, Temp i, const Effects *b, Temp j);

// Does the statement only compute a scalar, from others or the function's arguments?
bool stmt_is_pure(const Stmt *s);
// Does it only compute, or read, a scalar?
bool stmt_is_plain(const Stmt *s);
bool block_has_effect(const Block *block);   // has it others?
Stmt *block_only_effect(const Block *block); // the only other one; NULL: there are more, or none

// Is the block scalar work alone?
bool nest_is_flat(const Block *block);
// Does it call functions of libm and the like?
bool nest_is_dear(const Block *block);
// The loop inside of a loop, if the rest of the body is values that it needs; NULL if not.
Stmt *nest_inner(const Stmt *loop);
// A loop from 0, of which nothing is decided or wished yet?
bool nest_is_plain(const Stmt *s);
// May all loops of a nest have lanes? They may if iterations write to elements of their own, and cells from outside are sums at
// most; strict: not even these. def: by temp.
bool nest_is_parallel(const Stmt *loop, const Effects *e, Stmt *const *def, bool strict);

#endif
