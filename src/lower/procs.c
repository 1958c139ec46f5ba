// Procedures: the code of values by need (need.c) that several places may need first. The first place has code of its
// own; for all others it stands once in the tree.
//
//     if !known { call 0; known = true }             proc 0(x[n]) to v[] { … v[] = … }
//
// While values are lowered, a procedure is a block that uses what is known in the home of its value, and its calls name
// nothing but its number. At the end
//  - what is called once, or is shorter than a call of it pays for, stands where it is called, and so does more, as
//    long as the tree does not become half as long again: calls in hot loops cost (not in code for sizes of 0);
//  - the others become closed: what they use of their surroundings are parameters. Cells among these are arrays without
//    dimensions from then on. A literal is made again inside.
// So there are as many statements as there are values, where there would be as many as there are ways to need one.
#include "lower/internal.h"

enum { SHORT = 24 }; // statements

typedef struct Sites {
    VEC(Stmt *) of; // branches that begin with a call
} Sites;

typedef struct Closer {
    Lower *l;
    Sites *sites;      // by procedure
    int budget;        // so many statements more may stand where they are called
    Stmt **def;        // by temp
    int ntemps, nbufs; // that were there before formal ones came into being
    Buf **cell;        // by temp: the array that a cell has become
    int *temp, *buf;   // by temp, buffer: what is the same in all that is looked at, + 1: the number of the procedure
                       // that has it
    Temp *formal;      // by temp
    Buf **formal_buf;
} Closer;

// ---- while values are lowered

void lower_proc_begin(Lower *l, Scope *home, Scope *place) {
    l->scope = home;
    scope_open(l);
    l->scope->branch = l->scope->proc = true;
    l->scope->place = place;
}

int lower_proc_end(Lower *l) {
    vec_push(&l->procs, scope_close(l));
    return l->procs.len - 1;
}

void lower_call(Lower *l, int number) { lower_stmt(l, ST_CALL, -1, 0, NULL)->u.num = number; }

bool lower_calls(const Block *b) {
    bool any = false;
    for (int i = 0; b && i < b->stmts.len && !any; i++) {
        const Stmt *s = b->stmts.data[i];
        any = s->kind == ST_CALL || lower_calls(s->body) || lower_calls(s->other);
    }
    return any;
}

// ---- where they stand

static void find_sites(Closer *z, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        const Stmt *first = s->kind == ST_IF && s->body->stmts.len ? s->body->stmts.data[0] : NULL;
        if (first && first->kind == ST_CALL) vec_push(&z->sites[first->u.num].of, s);
        find_sites(z, s->body), find_sites(z, s->other);
    }
}

// The body stands in the branch, before what else does.
static void put(Stmt *branch, Block *body) {
    Block *was = branch->body;
    for (int i = 1; i < was->stmts.len; i++) vec_push(&body->stmts, was->stmts.data[i]);
    vec_free(&was->stmts);
    branch->body = body;
}

// Those that a procedure calls come before it: they stand in it by now, or will not. Then there are no copies of it:
// they use what it makes.
static bool stands_where_called(Closer *z, int k) {
    Lower *l = z->l;
    Block *body = l->procs.data[k];
    Sites *sites = &z->sites[k];
    const int size = block_size(body), copies = sites->of.len - 1;
    if (copies > 0 && lower_calls(body)) return false;
    if (copies > 0 && size > SHORT) {
        if (size > z->budget / copies) return false;
        z->budget -= size * copies;
    }
    for (int i = 1; i < sites->of.len; i++) {
        Stmt whole = {.kind = ST_IF, .dst = -1, .body = body};
        Block *copy = tree_clone(l->arena, l->tree, &whole)->body;
        find_sites(z, copy);
        put(sites->of.data[i], copy);
    }
    if (sites->of.len) put(sites->of.data[0], body);
    else block_free(body);
    return true;
}

// ---- cells that become arrays

static bool is_lit(const Closer *z, Temp t) { return z->def[t] && z->def[t]->kind == ST_LIT; }

static void note_cells(Closer *z, const Block *b, int k, bool uses) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_CELL && !uses) z->temp[s->dst] = k + 1;
        Temp c = s->kind == ST_SET ? s->dst : s->kind == ST_GET ? s->args[0] : -1;
        if (uses && c >= 0 && z->temp[c] != k + 1 && !z->cell[c]) {
            Buf *buf = z->cell[c] = ARENA_NEW(z->l->arena, Buf);
            const TempInfo *info = &z->l->tree->temps.data[c];
            *buf = (Buf){.id = z->l->tree->bufs.len, .where = BUF_TEMP, .kind = info->kind, .name = info->name};
            vec_push(&z->l->tree->bufs, buf);
        }
        note_cells(z, s->body, k, uses), note_cells(z, s->other, k, uses);
    }
}

static void convert_cells(Closer *z, Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        Temp c = s->kind == ST_GET ? s->args[0] : s->kind == ST_SET || s->kind == ST_CELL ? s->dst : -1;
        Buf *buf = c >= 0 && c < z->ntemps ? z->cell[c] : NULL;
        convert_cells(z, s->body), convert_cells(z, s->other);
        if (!buf) continue;
        if (s->kind == ST_CELL) {
            Stmt *made = tree_stmt(z->l->arena, ST_NEW, -1, 0, NULL, s->span);
            made->buf = buf, buf->home = b;
            block_insert(b, i++, made);
        }
        if (s->kind == ST_GET) s->kind = ST_LOAD, s->nargs = 0;
        else s->kind = ST_STORE, s->dst = -1;
        s->buf = buf;
    }
}

// ---- parameters

typedef struct Formals {
    VEC(Temp) temps, lits;
    VEC(Buf *) bufs;
    Map written; // of these
} Formals;

static void note_made(Closer *z, const Block *b, int k) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->dst >= 0 && s->kind != ST_SET) z->temp[s->dst] = k + 1;
        if (s->kind == ST_NEW) z->buf[s->buf->id] = k + 1;
        note_made(z, s->body, k), note_made(z, s->other, k);
    }
}

static void use_temp(Closer *z, Formals *f, Temp t, int k) {
    if (z->temp[t] == k + 1) return;
    z->temp[t] = k + 1;
    if (is_lit(z, t)) vec_push(&f->lits, t);
    else vec_push(&f->temps, t);
}

static void use_buf(Closer *z, Formals *f, Buf *b, int k) {
    for (int i = 0; b && i < b->rank; i++) use_temp(z, f, b->extent[i], k);
    if (!b || z->buf[b->id] == k + 1) return;
    z->buf[b->id] = k + 1;
    vec_push(&f->bufs, b);
}

static void note_uses(Closer *z, Formals *f, const Block *b, int k) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        for (int a = 0; a < s->nargs; a++) use_temp(z, f, s->args[a], k);
        use_buf(z, f, s->buf, k), use_buf(z, f, s->src, k);
        for (int a = 0; a < s->nin; a++) use_buf(z, f, s->in[a], k);
        if (s->buf && stmt_writes(s, s->buf)) map_put(&f->written, s->buf, s->buf);
        for (int a = s->nin - s->nout; a < s->nin; a++) map_put(&f->written, s->in[a], s->in[a]);
        note_uses(z, f, s->body, k), note_uses(z, f, s->other, k);
    }
}

static Temp formal(const Closer *z, Temp t) { return t < z->ntemps && z->formal[t] >= 0 ? z->formal[t] : t; }

static Buf *formal_buf(const Closer *z, Buf *b) {
    return b && b->id < z->nbufs && z->formal_buf[b->id] ? z->formal_buf[b->id] : b;
}

static void use_formals(const Closer *z, Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        for (int a = 0; a < s->nargs; a++) s->args[a] = formal(z, s->args[a]);
        for (int a = 0; s->kind == ST_NEW && a < s->buf->rank; a++) s->buf->extent[a] = formal(z, s->buf->extent[a]);
        s->buf = formal_buf(z, s->buf), s->src = formal_buf(z, s->src);
        for (int a = 0; a < s->nin; a++) s->in[a] = formal_buf(z, s->in[a]);
        use_formals(z, s->body), use_formals(z, s->other);
    }
}

// A temp of the body that stands for one from outside, made by a statement at the body's beginning.
static void make_formal(Closer *z, Block *b, int at, Temp t, const Stmt *like) {
    Tree *tree = z->l->tree;
    TempInfo info = tree->temps.data[t];
    vec_push(&tree->temps, info);
    z->formal[t] = tree->temps.len - 1;
    Stmt *s = tree_stmt(z->l->arena, ST_PARAM, z->formal[t], 0, NULL, (Span){NULL, 0, 0});
    if (like) s->kind = ST_LIT, s->u = like->u;
    else s->u.num = at;
    block_insert(b, at, s);
}

static void make_formal_buf(Closer *z, Buf *b, int number) {
    Arena *a = z->l->arena;
    Buf *f = z->formal_buf[b->id] = ARENA_NEW(a, Buf);
    *f = (Buf){.id = z->l->tree->bufs.len,
               .where = BUF_PARAM,
               .number = number,
               .kind = b->kind,
               .rank = b->rank,
               .name = b->name};
    f->extent = ARENA_ARRAY(a, Temp, b->rank + 1);
    for (int i = 0; i < b->rank; i++) f->extent[i] = formal(z, b->extent[i]);
    vec_push(&z->l->tree->bufs, f);
}

// What the calls of procedure k get.
static void set_arguments(Closer *z, int k, const Formals *f, Buf *const *bufs, int nout) {
    Arena *a = z->l->arena;
    for (int i = 0; i < z->sites[k].of.len; i++) {
        Stmt *s = z->sites[k].of.data[i]->body->stmts.data[0];
        int n = f->temps.len;
        s->nargs = n, s->args = arena_copy(a, f->temps.data, sizeof(Temp) * (size_t)n);
        s->nin = n + f->bufs.len, s->nout = nout;
        s->in = ARENA_ARRAY(a, Buf *, s->nin + 1);
        for (int b = 0; b < f->bufs.len; b++) s->in[n + b] = bufs[b];
    }
}

// Procedure k with parameters for all that is not its own.
static Stmt *close_proc(Closer *z, int k) {
    Lower *l = z->l;
    Block *body = l->procs.data[k];
    Formals f = {0};
    note_made(z, body, k);
    note_uses(z, &f, body, k);
    Buf **bufs = ARENA_ARRAY(l->arena, Buf *, f.bufs.len + 1);
    int n = 0, nout = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < f.bufs.len; i++)
            if (!map_get(&f.written, f.bufs.data[i]) == !pass) bufs[n++] = f.bufs.data[i], nout += pass;
    for (int i = 0; i < f.temps.len; i++) make_formal(z, body, i, f.temps.data[i], NULL);
    for (int i = 0; i < f.lits.len; i++) make_formal(z, body, f.temps.len + i, f.lits.data[i], z->def[f.lits.data[i]]);
    for (int i = 0; i < n; i++) make_formal_buf(z, bufs[i], i);
    set_arguments(z, k, &f, bufs, nout);
    use_formals(z, body);
    Stmt *proc = tree_stmt(l->arena, ST_PROC, -1, 0, NULL, (Span){NULL, 0, 0});
    proc->u.num = k, proc->body = body, proc->nin = n, proc->nout = nout;
    proc->in = ARENA_ARRAY(l->arena, Buf *, n + 1);
    for (int i = 0; i < n; i++) proc->in[i] = z->formal_buf[bufs[i]->id];
    for (int i = 0; i < f.temps.len; i++) z->formal[f.temps.data[i]] = -1;
    for (int i = 0; i < f.lits.len; i++) z->formal[f.lits.data[i]] = -1;
    for (int i = 0; i < n; i++) z->formal_buf[bufs[i]->id] = NULL;
    vec_free(&f.temps), vec_free(&f.lits), vec_free(&f.bufs);
    map_free(&f.written);
    return proc;
}

static void close_all(Closer *z, const bool *kept) {
    Lower *l = z->l;
    Tree *t = l->tree;
    z->ntemps = t->temps.len;
    z->temp = ARENA_ARRAY(l->arena, int, z->ntemps + 1), z->cell = ARENA_ARRAY(l->arena, Buf *, z->ntemps + 1);
    z->def = ARENA_ARRAY(l->arena, Stmt *, z->ntemps + 1);
    z->formal = ARENA_ARRAY(l->arena, Temp, z->ntemps + 1);
    for (int i = 0; i < z->ntemps; i++) z->formal[i] = -1;
    tree_definitions(t->body, z->def);
    for (int k = 0; k < l->procs.len; k++)
        if (kept[k]) tree_definitions(l->procs.data[k], z->def);
    for (int k = 0; k < l->procs.len; k++)
        if (kept[k]) note_cells(z, l->procs.data[k], k, false), note_cells(z, l->procs.data[k], k, true);
    convert_cells(z, t->body);
    for (int k = 0; k < l->procs.len; k++)
        if (kept[k]) convert_cells(z, l->procs.data[k]);
    z->nbufs = t->bufs.len;
    z->buf = ARENA_ARRAY(l->arena, int, z->nbufs + 1), z->formal_buf = ARENA_ARRAY(l->arena, Buf *, z->nbufs + 1);
    for (int i = 0; i < z->ntemps; i++) z->temp[i] = 0;
    for (int k = 0, at = t->prologue; k < l->procs.len; k++) {
        if (!kept[k]) continue;
        block_insert(t->body, at++, close_proc(z, k));
    }
}

void lower_finish_procs(Lower *l, bool cold) {
    if (!l->procs.len) return;
    Closer z = {.l = l, .sites = ARENA_ARRAY(l->arena, Sites, l->procs.len)};
    bool *kept = ARENA_ARRAY(l->arena, bool, l->procs.len), any = false;
    find_sites(&z, l->tree->body);
    z.budget = block_size(l->tree->body);
    for (int k = 0; k < l->procs.len; k++) find_sites(&z, l->procs.data[k]), z.budget += block_size(l->procs.data[k]);
    z.budget = cold ? 0 : z.budget / 2;
    for (int k = 0; k < l->procs.len; k++) any |= kept[k] = !stands_where_called(&z, k);
    if (any) close_all(&z, kept);
    for (int k = 0; k < l->procs.len; k++) vec_free(&z.sites[k].of);
    vec_free(&l->procs);
}
