// Rows for lanes. Where lanes read the elements x[i, j] of neighbouring rows i, these do not lie together, and every read
// takes as many loads as there are lanes. If inner loops come back to the same elements, an iteration of the loop with
// lanes begins with a copy of its row, which the lanes keep side by side.
#include "lower/internal.h"

typedef struct Row { // of an array whose dimension `at` has the loop's index
    const Buf *of;
    int at;
    Buf *copy;
} Row;

typedef struct Stager {
    Arena *arena;
    Tree *tree;
    Block *block;          // with the loop in it
    Stmt *loop;            // with lanes
    VEC(Stmt *) around;    // loops inside it around the statement
    VEC(Stmt *) loads;     // what reads rows that pay
    VEC(Row) rows;
} Stager;

static bool mentions(const Stmt *load, Temp index) {
    for (int d = 0; d < load->buf->rank; d++)
        if (load->args[d] == index) return true;
    return false;
}

// All of these loops run over whole extents, so that every element of a row may be read, whatever the load's conditions are.
int lanes_row(const Stmt *loop, int n, Stmt *const *around, const Stmt *load) {
    int at = -1;
    for (int d = 0; d < load->buf->rank; d++) {
        bool whole = load->args[d] == loop->dst && at < 0 && loop->args[0] == load->buf->extent[d];
        if (whole) at = d;
        for (int i = 0; i < n; i++)
            whole |= around[i]->dst == load->args[d] && around[i]->args[0] == load->buf->extent[d];
        if (!whole) return -1;
    }
    bool again = false; // by a loop inside whose index the load does not mention
    for (int i = 0; i < n; i++) again |= !mentions(load, around[i]->dst);
    return again && at < load->buf->rank - 1 ? at : -1; // in the last dimension lanes lie together
}

static bool changes(const Block *block, const Buf *b) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        bool writes = s->kind == ST_STORE || s->kind == ST_ADDTO || s->kind == ST_FILL || s->kind == ST_COPY || s->kind == ST_EXTERN;
        if ((writes && s->buf == b) || changes(s->body, b) || changes(s->other, b)) return true;
    }
    return false;
}

static void find(Stager *z, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_LOAD && !s->buf->lanes && lanes_row(z->loop, z->around.len, z->around.data, s) >= 0 && !changes(z->loop->body, s->buf))
            vec_push(&z->loads, s);
        if (s->kind == ST_FOR) vec_push(&z->around, s);
        find(z, s->body);
        find(z, s->other);
        if (s->kind == ST_FOR) z->around.len--;
    }
}

static Stmt *statement(Stager *z, StmtKind kind, Temp dst, int n, const Temp *args) {
    Stmt *s = ARENA_NEW(z->arena, Stmt);
    *s = (Stmt){.kind = kind, .dst = dst, .nargs = n, .args = arena_copy(z->arena, args, sizeof *args * (size_t)n), .span = z->loop->span};
    return s;
}

static Temp new_temp(Stager *z, Kind kind, bool varies) {
    vec_push(&z->tree->temps, ((TempInfo){.kind = kind, .varies = varies, .step = STEP_ANY, .name = "j"}));
    return z->tree->temps.len - 1;
}

static void insert(Block *block, int at, Stmt *s) {
    vec_push(&block->stmts, s);
    for (int i = block->stmts.len - 1; i > at; i--) block->stmts.data[i] = block->stmts.data[i - 1];
    block->stmts.data[at] = s;
}

// The statements that make the row of a load: new row; lanes for i …: for j < …: row[j] = x[i, j].
static Buf *make_row(Stager *z, const Stmt *load, int at) {
    const Buf *x = load->buf;
    Temp from[16], to[16], extent[16];
    int n = 0;
    for (int d = 0; d < x->rank; d++) {
        from[d] = d == at ? z->loop->dst : new_temp(z, KIND_INT, false);
        if (d != at) extent[n] = x->extent[d], to[n++] = from[d];
    }
    Buf *row = ARENA_NEW(z->arena, Buf);
    *row = (Buf){.id = z->tree->bufs.len, .where = BUF_TEMP, .kind = x->kind, .rank = n, .home = z->loop->body, .lanes = z->loop->lanes};
    row->extent = arena_copy(z->arena, extent, sizeof *extent * (size_t)n);
    vec_push(&z->tree->bufs, row);
    Temp value = new_temp(z, x->kind, true), args[17] = {value};
    memcpy(args + 1, to, sizeof *to * (size_t)n);
    Stmt *make = statement(z, ST_NEW, -1, 0, NULL), *read = statement(z, ST_LOAD, value, x->rank, from);
    Stmt *write = statement(z, ST_STORE, -1, n + 1, args);
    make->buf = row, read->buf = load->buf, write->buf = row;
    Block *body = ARENA_NEW(z->arena, Block);
    vec_push(&body->stmts, read);
    vec_push(&body->stmts, write);
    for (int d = n; d-- > 0;) {
        Stmt *loop = statement(z, ST_FOR, to[d], 1, &extent[d]);
        loop->body = body;
        body = ARENA_NEW(z->arena, Block);
        vec_push(&body->stmts, loop);
    }
    int place = 0;
    while (z->block->stmts.data[place] != z->loop) place++;
    insert(z->block, place, make);
    insert(z->loop->body, 0, body->stmts.data[0]);
    vec_free(&body->stmts);
    return row;
}

// The row that a load reads, made when it is first asked for.
static const Row *row_of(Stager *z, const Stmt *load) {
    int at = 0;
    while (load->args[at] != z->loop->dst) at++;
    for (int i = 0; i < z->rows.len; i++)
        if (z->rows.data[i].of == load->buf && z->rows.data[i].at == at) return &z->rows.data[i];
    vec_push(&z->rows, ((Row){load->buf, at, make_row(z, load, at)}));
    return &vec_last(&z->rows);
}

void lanes_stage(Arena *arena, Tree *tree, Block *block, Stmt *loop) {
    Stager z = {.arena = arena, .tree = tree, .block = block, .loop = loop};
    find(&z, loop->body);
    for (int i = 0; i < z.loads.len; i++) {
        Stmt *load = z.loads.data[i];
        const Row *row = row_of(&z, load);
        for (int d = row->at; d + 1 < load->nargs; d++) load->args[d] = load->args[d + 1];
        load->nargs--, load->buf = row->copy;
    }
    vec_free(&z.around);
    vec_free(&z.loads);
    vec_free(&z.rows);
}
