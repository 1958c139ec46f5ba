// What the files of the reader of loop trees share: statements (tree_read.c) and their marks (tree_read_marks.c).
#ifndef LOWER_TREE_READ_INTERNAL_H
#define LOWER_TREE_READ_INTERNAL_H

#include "ir/read_internal.h"
#include "lower/tree_internal.h"

// What a name stands for: a value or cell, or an array; neither while nothing has defined it.
typedef struct Name {
    const char *text;
    Temp temp; // -1: none
    Buf *buf;
} Name;

typedef struct Later { // a name that may be defined later
    Name *name;
    Temp *to;
} Later;

typedef struct StmtPlace { // where a statement stands in the text
    const Stmt *s;
    Span at;
} StmtPlace;

typedef struct LoopBody {
    Temp index;
    Block *body;
} LoopBody;

typedef struct Label {
    int64_t number;
    Block *block;
} Label;

typedef struct Home { // of an array: the body of a loop by the name of its index, or a block with a label
    Buf *buf;
    Name *loop;
    int64_t label;
    Span at;
} Home;

typedef struct TreeReader {
    Reader *r;
    Arena *arena;
    PlaceReader files;
    VEC(Tree *) made; // all that is to be freed after an error
    // Of the version that is read:
    Tree *t;
    Block *around; // what is read now
    VEC(Later) later;
    VEC(StmtPlace) places;
    VEC(LoopBody) loops;
    VEC(Label) labels;
    VEC(Home) homes;
} TreeReader;

// What is said to be expected is an error where it is not. (tree_read.c)
Name *tree_read_name(TreeReader *z, const char *what);
Temp tree_read_temp(TreeReader *z);
Buf *tree_read_buf(TreeReader *z);
int tree_read_temps(TreeReader *z, int n, Temp *out, char close);
int tree_read_later(TreeReader *z, Name *out[MAX_LIST]); // `[a, b]`: may be defined later, or not at all
Stmt *tree_read_simple(TreeReader *z);

// The marks of a statement, of what it makes and of the array that comes into being. The label of a block is left where it is.
// (tree_read_marks.c)
void tree_read_marks(TreeReader *z, Stmt *s);
void tree_note_label(TreeReader *z, Block *b); // after `#block`
void tree_set_homes(TreeReader *z);            // after all statements

#endif
