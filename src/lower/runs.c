// Runs: elements one after the other to which an iteration stores, as those of a row of a result, or of a sparse Jacobian's
// values: out[30 o + 4], out[30 o + 5], … Lanes would store each of them by as many moves as there are lanes. So they keep
// the run in a row buffer side by side, and at the end of an iteration it is copied, which blocks of elements turned over in
// registers do (cpu/rows.c). Likewise, elements of a row that lies anywhere, cams[i, 0], cams[i, 1], … with i = obs[o], are loaded
// as a copy of the row.
#include "lower/internal.h"

#include <stdlib.h>

enum { MOST = 4096 };

typedef struct Runner {
    Arena *arena;
    const Tree *tree;
    const Stmt *loop;
    Stmt *const *def;
    int known; // temps that have one
    VEC(Run) found;
    VEC(const Stmt *) others; // accesses of arrays that are none
} Runner;

static bool literal(const Runner *z, Temp t, int64_t *value) {
    const Stmt *s = t < z->known ? z->def[t] : NULL;
    if (!s || s->kind != ST_LIT) return false;
    *value = s->u.num;
    return true;
}

static const TempInfo *info(const Runner *z, Temp t) { return &z->tree->temps.data[t]; }

// t as root + *offset; -1: it is *offset.
static Temp root_of(const Runner *z, Temp t, int64_t *offset) {
    int64_t c;
    *offset = 0;
    if (literal(z, t, offset)) return -1;
    const Stmt *s = t < z->known ? z->def[t] : NULL;
    if (!s || s->kind != ST_OP || (s->op != OP_add && s->op != OP_sub) || !literal(z, s->args[1], &c) || llabs(c) > MOST) return t;
    *offset = s->op == OP_add ? c : -c;
    return s->args[0];
}

// Are the lanes' elements apart by a fixed step?
static bool steps(const Runner *z, const Stmt *s) {
    bool any = false;
    for (int k = 0; k < s->buf->rank; k++) {
        const TempInfo *i = info(z, s->args[1 + k]);
        if (i->varies && i->step == STEP_ANY) return false;
        any |= i->varies;
    }
    const TempInfo *last = info(z, s->args[s->buf->rank]);
    for (int k = 1; k < s->buf->rank; k++)
        if (info(z, s->args[k])->varies) return true;
    return any && llabs(last->step) > 1; // else they lie together
}

static void look(Runner *z, const Block *block, bool always) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        bool access = (s->buf || s->src) && s->kind != ST_NEW;
        if (always && s->kind == ST_STORE && !s->buf->lanes && s->buf->rank && s->buf->where != BUF_INPUT && steps(z, s)) {
            Run r = {.move = s};
            r.root = root_of(z, s->args[s->buf->rank], &r.offset);
            vec_push(&z->found, r);
        } else if (access) {
            vec_push(&z->others, s);
        }
        look(z, s->body, false);
        look(z, s->other, false);
    }
}

static int by_array_and_place(const void *a, const void *b) {
    const Run *x = a, *y = b;
    const Buf *p = x->move->buf, *q = y->move->buf;
    if (p != q) return p->id < q->id ? -1 : 1;
    for (int k = 1; k < p->rank; k++)
        if (x->move->args[k] != y->move->args[k]) return x->move->args[k] < y->move->args[k] ? -1 : 1;
    if (x->root != y->root) return x->root < y->root ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool same_row(const Run *x, const Run *y) {
    if (x->move->buf != y->move->buf || x->root != y->root) return false;
    for (int k = 1; k < x->move->buf->rank; k++)
        if (x->move->args[k] != y->move->args[k]) return false;
    return true;
}

// Does nothing else in the loop access an element of the run? Nothing that stores once does.
static bool is_alone(const Runner *z, const Run *r) {
    for (int i = 0; i < z->others.len; i++) {
        const Stmt *s = z->others.data[i];
        if ((s->buf == r->move->buf || s->src == r->move->buf) && !s->once) return false;
    }
    for (int i = 0; i < z->found.len; i++) {
        const Run *o = &z->found.data[i];
        if (o->move->buf == r->move->buf && !(o->move->once && r->move->once) &&
            !(same_row(o, r) && (o == r || o->offset != r->offset)))
            return false;
    }
    return true;
}

// ---- loads

// An element at a known place of a row that lies where the iteration says.
static bool is_of_row(const Runner *z, const Stmt *s, Run *r) {
    int last = s->buf ? s->buf->rank - 1 : 0;
    int64_t length;
    bool any = false;
    if (s->kind != ST_LOAD || s->buf->where != BUF_INPUT || last < 1) return false;
    *r = (Run){.move = (Stmt *)s, .root = -1};
    for (int k = 0; k < last; k++) any |= info(z, s->args[k])->varies && info(z, s->args[k])->step == STEP_ANY;
    return any && literal(z, s->args[last], &r->offset) && literal(z, s->buf->extent[last], &length) && length <= MOST;
}

static int by_row(const void *a, const void *b) {
    const Run *x = a, *y = b;
    const Buf *p = x->move->buf, *q = y->move->buf;
    if (p != q) return p->id < q->id ? -1 : 1;
    for (int k = 0; k + 1 < p->rank; k++)
        if (x->move->args[k] != y->move->args[k]) return x->move->args[k] < y->move->args[k] ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool in_same_row(const Run *x, const Run *y) {
    for (int k = 0; x->move->buf == y->move->buf && k + 1 < x->move->buf->rank; k++)
        if (x->move->args[k] != y->move->args[k]) return false;
    return x->move->buf == y->move->buf;
}

int lanes_row_loads(Arena *arena, const Tree *tree, const Stmt *loop, Stmt *const *def, int known, Run **out) {
    Runner z = {.arena = arena, .tree = tree, .loop = loop, .def = def, .known = known};
    Run r;
    int n = 0, end;
    for (int i = 0; i < loop->body->stmts.len; i++)
        if (is_of_row(&z, loop->body->stmts.data[i], &r)) vec_push(&z.found, r);
    if (z.found.len) qsort(z.found.data, (size_t)z.found.len, sizeof *z.found.data, by_row);
    Run *all = *out = ARENA_ARRAY(arena, Run, z.found.len + 1);
    for (int i = 0; i < z.found.len; i = end) {
        Run *first = &z.found.data[i];
        for (end = i + 1; end < z.found.len && in_same_row(first, &z.found.data[end]);) end++;
        int64_t length = z.found.data[end - 1].offset - first->offset + 1;
        if (length < 2 || length > 2 * (end - i)) continue; // too few of them
        for (int k = i; k < end; k++) {
            all[n] = z.found.data[k];
            all[n].root = (Temp)i, all[n].length = (int)length, all[n].at = (int)(all[n].offset - first->offset);
            n++;
        }
    }
    vec_free(&z.found);
    return n;
}

// ---- stores

int lanes_runs(Arena *arena, const Tree *tree, const Stmt *loop, Stmt *const *def, int known, Run **out) {
    Runner z = {.arena = arena, .tree = tree, .loop = loop, .def = def, .known = known};
    int n = 0, first = 0;
    look(&z, loop->body, true);
    if (z.found.len) qsort(z.found.data, (size_t)z.found.len, sizeof *z.found.data, by_array_and_place);
    Run *all = *out = ARENA_ARRAY(arena, Run, z.found.len + 1);
    for (int i = 0; i < z.found.len; i++)
        if (is_alone(&z, &z.found.data[i])) all[n++] = z.found.data[i];
    for (int i = 0; i < n; i++) {
        bool goes_on = i > first && same_row(&all[i], &all[i - 1]) && all[i].offset == all[i - 1].offset + 1;
        if (!goes_on) first = i;
        for (int k = first; k <= i; k++) all[k].length = i - first + 1;
        all[i].at = i - first;
    }
    vec_free(&z.found);
    vec_free(&z.others);
    return n;
}
