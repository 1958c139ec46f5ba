// New statements of loop trees, one after the other (build.c).
#ifndef LOWER_BUILD_H
#define LOWER_BUILD_H

#include "lower/tree.h"

typedef struct Builder {
    Arena *arena;
    Tree *tree;
    Span span; // of the statements
} Builder;

// A temp like another, which does not vary.
Temp build_temp(Builder *z, TempInfo like);
// A statement at the end of a block.
Stmt *build_stmt(Builder *z, Block *to, StmtKind kind, Temp dst, int n, const Temp *args);
// op(a, b), or op(a) if b is -1; of Ints in the second.
Temp build_op(Builder *z, Block *to, Kind kind, Op op, Temp a, Temp b);
Temp build_int(Builder *z, Block *to, Op op, Temp a, Temp b);
// An Int or a Bool, or 0 of another kind.
Temp build_literal(Builder *z, Block *to, Kind kind, int64_t value);
// A loop with an index like another; or with a name (or NULL).
Stmt *build_loop(Builder *z, Block *to, Temp like, Temp count);
Stmt *build_loop_named(Builder *z, Block *to, const char *name, Temp count);
Stmt *build_if(Builder *z, Block *to, Temp cond, bool other);
Temp build_load(Builder *z, Block *to, Buf *from, const Temp *index);
// kind: ST_STORE or ST_ADDTO
Stmt *build_store(Builder *z, Block *to, StmtKind kind, Buf *buf, Temp value, const Temp *index);
// An array that comes into being in a block, and is new in each run of `home`.
Buf *build_buf(Builder *z, Block *to, const Block *home, Kind kind, int rank, const Temp *extent);

#endif
