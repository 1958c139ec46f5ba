// New statements of loop trees.
#include "lower/build.h"

#include "lower/internal.h"

#include <string.h>

Temp build_temp(Builder *z, TempInfo like) {
    like.varies = false, like.step = 0;
    vec_push(&z->tree->temps, like);
    return z->tree->temps.len - 1;
}

Stmt *build_stmt(Builder *z, Block *to, StmtKind kind, Temp dst, int n, const Temp *args) {
    Stmt *s = tree_stmt(z->arena, kind, dst, n, args, z->span);
    vec_push(&to->stmts, s);
    return s;
}

Temp build_op(Builder *z, Block *to, Kind kind, Op op, Temp a, Temp b) {
    Stmt *s = build_stmt(z, to, ST_OP, build_temp(z, (TempInfo){.kind = kind}), b < 0 ? 1 : 2, (Temp[]){a, b});
    s->op = op;
    return s->dst;
}

Temp build_int(Builder *z, Block *to, Op op, Temp a, Temp b) { return build_op(z, to, KIND_INT, op, a, b); }

Temp build_literal(Builder *z, Block *to, Kind kind, int64_t value) {
    Stmt *s = build_stmt(z, to, ST_LIT, build_temp(z, (TempInfo){.kind = kind}), 0, NULL);
    if (!kind_is_float(kind)) s->u.num = value;
    return s->dst;
}

static Stmt *loop_over(Builder *z, Block *to, Temp index, Temp count) {
    Stmt *s = build_stmt(z, to, ST_FOR, index, 1, &count);
    s->body = ARENA_NEW(z->arena, Block);
    return s;
}

Stmt *build_loop(Builder *z, Block *to, Temp like, Temp count) {
    return loop_over(z, to, build_temp(z, z->tree->temps.data[like]), count);
}

Stmt *build_loop_named(Builder *z, Block *to, const char *name, Temp count) {
    return loop_over(z, to, build_temp(z, (TempInfo){.kind = KIND_INT, .name = name}), count);
}

Stmt *build_if(Builder *z, Block *to, Temp cond, bool other) {
    Stmt *s = build_stmt(z, to, ST_IF, -1, 1, &cond);
    s->body = ARENA_NEW(z->arena, Block);
    if (other) s->other = ARENA_NEW(z->arena, Block);
    return s;
}

Temp build_load(Builder *z, Block *to, Buf *from, const Temp *index) {
    Stmt *s = build_stmt(z, to, ST_LOAD, build_temp(z, (TempInfo){.kind = from->kind}), from->rank, index);
    s->buf = from;
    return s->dst;
}

Stmt *build_store(Builder *z, Block *to, StmtKind kind, Buf *buf, Temp value, const Temp *index) {
    Temp args[RANK_MAX + 1] = {value};
    memcpy(args + 1, index, sizeof *index * (size_t)buf->rank);
    Stmt *s = build_stmt(z, to, kind, -1, buf->rank + 1, args);
    s->buf = buf;
    return s;
}

Buf *build_buf(Builder *z, Block *to, const Block *home, Kind kind, int rank, const Temp *extent) {
    Buf *b = ARENA_NEW(z->arena, Buf);
    *b = (Buf){.id = z->tree->bufs.len, .where = BUF_TEMP, .kind = kind, .rank = rank, .home = home};
    b->extent = arena_copy(z->arena, extent, sizeof *extent * (size_t)rank);
    vec_push(&z->tree->bufs, b);
    build_stmt(z, to, ST_NEW, -1, 0, NULL)->buf = b;
    return b;
}
