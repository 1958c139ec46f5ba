// What the files of loop trees as text share.
#ifndef LOWER_TREE_INTERNAL_H
#define LOWER_TREE_INTERNAL_H

#include "lower/grid.h"
#include "lower/recurrence.h"
#include "lower/tree.h"

// A row of tree_marks.def.
typedef enum MarkOf { MARK_STMT, MARK_TEMP, MARK_BUF } MarkOf;
typedef enum MarkValue {
    MARK_FLAG,
    MARK_INT,
    MARK_LONG,
    MARK_STEP,
    MARK_TEMPS,
    MARK_BUFS,
    MARK_BUFFER,
    MARK_HOME,
    MARK_STATEMENT,
    MARK_GRID,
    MARK_RECURRENCE,
    MARK_WISHES
} MarkValue;
typedef struct TreeMark {
    const char *name;
    MarkOf of;
    MarkValue value;
    size_t field, count; // where they are in the structure
    uint32_t on;         // bits of StmtKind
} TreeMark;
extern const TreeMark tree_marks[]; // the last has no name (tree_print.c)

// Where the field is; NULL: the statement has no such mark. t: of the temp that it makes.
void *mark_field(const TreeMark *m, Stmt *s, TempInfo *t);

// Words that begin statements, or what they compute: no names, unless with a number. The last is NULL. (tree_print.c)
extern const char *const tree_words[];
// Is the name one that says what it is of and its number: `t7`, `x.7`, `b7`, `x.b7`, `in7`? *length gets how much of it is the name
// that was given, -1: it has none. (tree_print.c)
bool tree_name_is_numbered(const char *name, int *length);
// The kind of what the statement makes, where its operands tell it, or -1. kind: by temp. (tree_print.c)
int tree_kind_of(const Tree *t, const Stmt *s);

// Appends the statement in the short form, without what is in it, on one line. (tree_print.c)
void tree_print_stmt(Str *out, const Tree *t, const Stmt *s);

#endif
