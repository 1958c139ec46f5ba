// Whether the iterations of a loop are independent, so that they may run as lanes of vectors (lanes.c) or in threads
// (threads.c), and what differs between them.
#ifndef LOWER_INDEPENDENT_H
#define LOWER_INDEPENDENT_H

#include "lower/tree.h"
#include "support/map.h"

typedef struct Iterations {
    Arena *arena;
    Tree *tree;
    bool precise;   // sums keep their order
    bool fast;      // recurrences need not
    bool places;    // what Stmt.own says of places counts
    int known;      // so many temps are known
    int room;       // for so many
    Stmt **def;     // by temp, of these: the statement that makes it
    int *uses;      // by temp
    int *level;     // by temp: of a cell, under how many conditions on which iterations disagree it was declared; -1: outside
    int *joined_in; // by temp: of a cell, the stamp of the last loop looked at whose `joins` is known
    int *set_in;    // by temp: of a cell, the stamp of the last loop looked at that sets it
    Op *joins;      // by temp: of a cell from outside that the loop sets, by what: OP_add, OP_min or OP_max
    int *given;     // by temp: the stamp of the last loop looked at whose lanes share it though its operands differ
    int *made_in;   // by temp: the stamp of the last loop looked at that makes it
    int stamp;
    Map uniform; // arrays that are new in an iteration and the same in all, as whoever looks has found out
    // Of the loop that is looked at:
    Stmt *loop;
    bool lanes;              // its iterations are to run in step
    Map blocks;              // inside it
    VEC(Temp) temps;         // that are made in it
    VEC(Stmt *) added;       // ST_ADDTO of arrays from outside, where all iterations add to the same element
    VEC(Stmt *) outside;     // loads, stores and additions of arrays from outside
    VEC(const Stmt *) scans; // sets of cells from outside of which each lane needs the sum so far
    VEC(Temp) sums;          // cells from outside that it sets
    int under;               // conditions on which iterations disagree around the statement
    int reads;               // of cells from outside that the loop sets, but for those that are part of a sum
    bool changed;
} Iterations;

void iter_init(Iterations *p, Arena *arena, Tree *tree, bool precise);
void iter_free(Iterations *p);
// Takes notice of the temps that are new since, which the block makes; and forgets those from number n on, which are
// gone.
void iter_more(Iterations *p, const Block *made);
void iter_less(Iterations *p, int n);
// Marks what varies in the loop (TempInfo); whether its iterations are independent but for sums, extremes and additions to
// arrays; lanes: and can run in step. The marks are those of the loop looked at last; iter_forget takes them away.
bool iter_look(Iterations *p, Stmt *loop, bool lanes);
void iter_forget(Iterations *p);
// In that loop: is the array added to at places that several iterations share?
bool iter_shares(const Iterations *p, const Buf *b);
// The arrays from outside of which each chunk of that loop has a copy of its own, to be added up: how many.
int iter_shared(const Iterations *p, Buf ***out);

static inline TempInfo *iter_info(const Iterations *p, Temp t) { return &p->tree->temps.data[t]; }
static inline bool iter_varies(const Iterations *p, Temp t) { return iter_info(p, t)->varies; }
// Is the buffer new in each iteration?
static inline bool iter_is_own(const Iterations *p, const Buf *b) { return b->home && map_get(&p->blocks, b->home); }
bool iter_literal(const Iterations *p, Temp t, int64_t *value); // is it an Int or a Bool that is known?
bool iter_is_extreme(const Stmt *s);                            // min or max
// The dimension in which iterations are apart, if they are so by a fixed step; -1 if not.
int iter_apart(const Iterations *p, const Buf *b, const Temp *index);
bool iter_all_agree(const Iterations *p, const Buf *b, const Temp *index);

// ---- prefix sums (scan.c)

// Is a cell from outside, in the loop that is looked at, set to its sum so far, which is used in other ways, too; or, with
// --fp=fast, to a * s + b, where s is what it was, and a and b do not depend on that?
bool iter_is_scan(const Iterations *p, const Stmt *set);
const Stmt *iter_scan_get(const Block *body, Temp cell); // where such a cell is read
// Puts what a and b are made of before the places where such cells are read, and marks what is read there (TempInfo.scanned).
void iter_settle_scans(Iterations *p);

#endif
