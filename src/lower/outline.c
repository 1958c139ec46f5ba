// Outlining: nests of loops that do the same with other numbers and arrays become one procedure, and each is a call of
// it. Reverse mode and its checkpoints run a loop several times; each run was a nest of its own.
//
//     for i < n { … x … s … }            proc 0(n, s, x[n]) to r[] { var c = s;  for i < n { … };  r[] = c }
//     for j < m { … y … t … }  becomes   call 0(n, s, x) to v;  s = v[]
//                                        call 0(m, t, y) to w;  t = w[]
//
// Two nests do the same if they are equal up to the names of temps and buffers: then what they use of their
// surroundings are the parameters. Literals are made again inside; a cell is given as a number, and returned in an array
// without dimensions if it is set; arrays of a block inside that are made outside, once for all of its runs, such as the
// rows of lanes, are made by the procedure. The largest nests come first; what is inside of a procedure is looked at in
// another round. It is the last pass, so that all others see each nest where it stands. Nests inside of loops stay, since
// calls there cost, but in long trees, where they are inside of long loops.
#include "lower/internal.h"
#include "lower/loop_passes.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 40,  // statements of a nest that is worth a call
    MOST = 3000, // of one procedure: LLVM takes more than linear time for longer functions (cpu/parts.c)
    LONG = 400,  // of a loop in which a call costs little
    MANY = 4000, // of a tree whose loops have calls inside: of others, the time of calls is more than that of compiling
};

typedef struct Nest {
    Block *block;
    Stmt *loop;
    int size;
    int number, end; // its number in the order of the tree; that of the first nest after it and those inside of it
    uint64_t hash;
    bool gone; // what it was in is a call by now
} Nest;

typedef struct Outliner {
    Arena *arena;
    Tree *tree;
    Stmt **def; // by temp
    Map uses;   // buffer -> how often the tree names it, but for its coming into being
    Map met;    // sources and wishes -> a number, in the order in which they were met: the same in each run
    int nmet;
    int procs;  // the number of the next procedure
    bool many;  // has the tree so many statements that loops have calls, too?
    VEC(Nest) nests;
    VEC(Stmt *) made;
    Map moved; // arrays that procedures make by themselves
} Outliner;

// ---- what a nest does, without names

typedef struct Form {
    Outliner *z;
    Str text;
    Map temp, buf, block; // temp + 1, buffer, block -> its number
    Map uses;             // as those of the tree, of the nest
    int numbers;
    VEC(Temp) temps, lits; // from outside
    VEC(Buf *) bufs;       // likewise
    VEC(Buf *) own;        // arrays of a block inside, but made outside, once for all of its runs
    int loops;             // ST_LOOPs around, inside of the nest
    bool fails;            // it cannot be a procedure
} Form;

static void form_free(Form *f) {
    str_free(&f->text);
    map_free(&f->temp), map_free(&f->buf), map_free(&f->block), map_free(&f->uses);
    vec_free(&f->temps), vec_free(&f->lits), vec_free(&f->bufs), vec_free(&f->own);
}

static void *key(Temp t) { return (void *)((intptr_t)t + 1); }

static void put(Form *f, int64_t n) { str_write(&f->text, (const char *)&n, sizeof n); }

static bool put_known(Form *f, const Map *map, const void *what) {
    const intptr_t n = (intptr_t)map_get(map, what);
    if (n) put(f, n);
    return n != 0;
}

static void number(Form *f, Map *map, const void *what) {
    map_put(map, what, (void *)(intptr_t)++f->numbers);
    put(f, f->numbers);
}

static bool is_lit(const Outliner *z, Temp t) { return z->def[t] && z->def[t]->kind == ST_LIT; }

// A pointer, by a number: nests have an order by their texts, which is not to depend on addresses.
static void put_pointer(Form *f, const void *p) {
    if (p && !map_get(&f->z->met, p)) map_put(&f->z->met, p, (void *)(intptr_t)++f->z->nmet);
    put(f, p ? (intptr_t)map_get(&f->z->met, p) : 0);
}

static void put_temp(Form *f, Temp t) {
    if (put_known(f, &f->temp, key(t))) return;
    const TempInfo *info = &f->z->tree->temps.data[t];
    put(f, -1 - (int64_t)info->kind - (info->cell ? 64 : 0));
    if (is_lit(f->z, t)) {
        bool seen = false;
        for (int i = 0; i < f->lits.len; i++) seen |= f->lits.data[i] == t;
        if (!seen) vec_push(&f->lits, t);
        put(f, f->z->def[t]->u.num);
        return;
    }
    number(f, &f->temp, key(t));
    vec_push(&f->temps, t);
}

// Is the array of a block of the nest, and of no other? A loop that was split may share those of its body with the
// rest.
static bool is_own(const Form *f, const Buf *b) {
    return b->home && map_get(&f->block, b->home) && map_get(&f->uses, b) == map_get(&f->z->uses, b);
}

static void put_buf(Form *f, Buf *b, bool inside) {
    put(f, b != NULL);
    if (!b || put_known(f, &f->buf, b)) return;
    const bool own = is_own(f, b);
    f->fails |= !own && (b->lanes || inside);
    put(f, -1 - (int64_t)b->kind), put(f, b->rank), put(f, b->lanes), put(f, inside);
    put(f, own ? (intptr_t)map_get(&f->block, b->home) : 0);
    for (int k = 0; k < b->rank; k++) put_temp(f, b->extent[k]);
    number(f, &f->buf, b);
    if (own && !inside) vec_push(&f->own, b);
    if (!own) vec_push(&f->bufs, b);
}

static void put_extra(Form *f, const Stmt *s) {
    const int64_t facts[] = {s->kind,    s->op,    s->nargs, s->nin,  s->nout, s->lanes,      s->threads, s->few,  s->masked,
                             s->outer,   s->parts, s->small, s->kept, s->once, s->short_rows, s->rows,    s->shifted,
                             s->streams, s->whole, s->from,  s->together, s->nown};
    str_write(&f->text, (const char *)facts, sizeof facts);
    put_pointer(f, s->wishes);
    if (s->kind == ST_CHECK) {
        put(f, s->u.check->code), put(f, s->u.check->span.begin), put(f, s->u.check->span.end); // where the error is
        put_pointer(f, s->u.check->span.src);
        str_write(&f->text, s->u.check->text, strlen(s->u.check->text) + 1);
    } else if (s->kind == ST_EXTERN) {
        str_write(&f->text, s->u.name, strlen(s->u.name) + 1);
    } else {
        put(f, s->u.num);
    }
    for (int k = 0; k < s->nown; k++) { // indices of loops that have to be inside
        f->fails |= !map_get(&f->temp, key(s->own[k]));
        put_temp(f, s->own[k]);
    }
}

static void put_block(Form *f, const Block *b);

static void put_stmt(Form *f, const Stmt *s) {
    const bool elsewhere = s->kind == ST_OUT || s->kind == ST_ARG || s->kind == ST_PARAM || s->kind == ST_PROC ||
                           s->kind == ST_CHUNK || s->kind == ST_THREADS || (s->kind == ST_BREAK && !f->loops);
    f->fails |= elsewhere || s->grid || s->recurrence;
    put_extra(f, s);
    for (int k = 0; k < s->nargs; k++) put_temp(f, s->args[k]);
    put_buf(f, s->buf, s->kind == ST_NEW), put_buf(f, s->src, false);
    for (int k = 0; s->in && k < s->nin; k++) put_buf(f, s->in[k], false);
    if (s->dst >= 0 && s->kind == ST_SET) put_temp(f, s->dst);
    if (s->dst >= 0 && s->kind != ST_SET) {
        const TempInfo *info = &f->z->tree->temps.data[s->dst];
        put(f, info->kind), put(f, info->varies), put(f, info->scanned), put(f, info->step);
        number(f, &f->temp, key(s->dst));
    }
    f->loops += s->kind == ST_LOOP;
    put_block(f, s->body), put_block(f, s->other);
    f->loops -= s->kind == ST_LOOP;
}

static void put_block(Form *f, const Block *b) {
    put(f, b ? b->stmts.len : -1);
    for (int i = 0; b && i < b->stmts.len && !f->fails; i++) put_stmt(f, b->stmts.data[i]);
}

static void count_use(Map *uses, const Buf *b) {
    if (b) map_put(uses, b, (void *)((intptr_t)map_get(uses, b) + 1));
}

static void count_uses(Map *uses, const Stmt *s) {
    if (s->kind != ST_NEW) count_use(uses, s->buf);
    count_use(uses, s->src);
    for (int k = 0; s->in && k < s->nin; k++) count_use(uses, s->in[k]);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) count_uses(uses, in[k]->stmts.data[i]);
}

static void number_blocks(Form *f, const Stmt *s) {
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++) {
        if (in[k]) map_put(&f->block, in[k], (void *)(intptr_t)++f->numbers);
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) number_blocks(f, in[k]->stmts.data[i]);
    }
}

static Form form_of_nest(Outliner *z, const Nest *n) {
    Form f = {.z = z};
    number_blocks(&f, n->loop);
    count_uses(&f.uses, n->loop);
    put_stmt(&f, n->loop);
    return f;
}

// ---- the nests

static void find_nests(Outliner *z, Block *b, bool wide) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        const bool loop = s->kind == ST_FOR || s->kind == ST_LOOP;
        const int size = loop ? block_size(s->body) : 0, at = z->nests.len;
        const bool nest = loop && wide && size >= LEAST && size <= MOST;
        if (nest) vec_push(&z->nests, ((Nest){.block = b, .loop = s, .size = size, .number = at}));
        const bool inside = wide && !s->lanes && z->many && (s->kind != ST_FOR || size >= LONG);
        find_nests(z, s->body, inside), find_nests(z, s->other, inside);
        if (!nest) continue;
        Form f = form_of_nest(z, &z->nests.data[at]);
        z->nests.data[at].hash = str_hash(f.text.data, f.text.len);
        z->nests.data[at].gone = f.fails;
        z->nests.data[at].end = z->nests.len;
        form_free(&f);
    }
}

// The largest first, those that are alike side by side, in the order of the tree.
static int compare(const void *a, const void *b) {
    const Nest *p = *(const Nest *const *)a, *q = *(const Nest *const *)b;
    if (p->size != q->size) return p->size > q->size ? -1 : 1;
    if (p->hash != q->hash) return p->hash > q->hash ? -1 : 1;
    return p->number < q->number ? -1 : p->number > q->number;
}

// ---- the procedure

// What a nest writes to.
static void note_written(Map *written, const Stmt *s) {
    if (s->kind == ST_SET) map_put(written, key(s->dst), (void *)s);
    if (s->kind == ST_FOR && s->src) map_put(written, s->src, s->src);
    if (s->buf && s->kind != ST_NEW && stmt_writes(s, s->buf)) map_put(written, s->buf, s->buf);
    for (int k = s->nin - s->nout; s->in && k < s->nin; k++) map_put(written, s->in[k], s->in[k]);
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++) note_written(written, in[k]->stmts.data[i]);
}

static Temp new_temp(const Outliner *z, Temp like, bool cell) {
    TempInfo info = z->tree->temps.data[like];
    info.cell = cell;
    vec_push(&z->tree->temps, info);
    return z->tree->temps.len - 1;
}

static Buf *new_buf(const Outliner *z, BufKind where, Kind kind, const char *name) {
    Buf *b = ARENA_NEW(z->arena, Buf);
    *b = (Buf){.id = z->tree->bufs.len, .where = where, .kind = kind, .name = name};
    vec_push(&z->tree->bufs, b);
    return b;
}

static Stmt *add(const Outliner *z, Block *b, StmtKind kind, Temp dst, int n, const Temp *args, Buf *buf) {
    Stmt *s = tree_stmt(z->arena, kind, dst, n, args, (Span){NULL, 0, 0});
    s->buf = buf;
    vec_push(&b->stmts, s);
    return s;
}

// The arrays that a nest uses, those that it writes to last; then one for each cell that it sets. Which these are is
// the same for all nests that are alike.
typedef struct Signature {
    int nbufs, nout, ncells;
    int *buf;  // by array of the procedure: which of the form's
    int *cell; // by cell that is set: which of the form's temps
} Signature;

static Signature signature_of(const Outliner *z, const Form *f, const Stmt *nest) {
    Signature g = {0};
    g.buf = ARENA_ARRAY(z->arena, int, f->bufs.len + 1), g.cell = ARENA_ARRAY(z->arena, int, f->temps.len + 1);
    Map written = {0};
    note_written(&written, nest);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < f->bufs.len; i++)
            if (!map_get(&written, f->bufs.data[i]) == !pass) g.buf[g.nbufs++] = i, g.nout += pass;
    for (int i = 0; i < f->temps.len; i++)
        if (map_get(&written, key(f->temps.data[i]))) g.cell[g.ncells++] = i;
    map_free(&written);
    return g;
}

static Buf *formal_buf(const Outliner *z, const Buf *like, int at, const Map *temps) {
    Buf *b = new_buf(z, BUF_PARAM, like->kind, like->name);
    b->number = at, b->rank = like->rank;
    b->extent = ARENA_ARRAY(z->arena, Temp, like->rank + 1);
    for (int k = 0; k < like->rank; k++) b->extent[k] = (Temp)((intptr_t)map_get(temps, key(like->extent[k])) - 1);
    return b;
}

// Parameters, literals and cells; temps: what stands for those from outside.
static void make_temps(const Outliner *z, const Form *f, Block *body, Map *temps) {
    Temp *param = ARENA_ARRAY(z->arena, Temp, f->temps.len + 1);
    for (int i = 0; i < f->temps.len; i++) {
        param[i] = new_temp(z, f->temps.data[i], false);
        add(z, body, ST_PARAM, param[i], 0, NULL, NULL)->u.num = i;
        map_put(temps, key(f->temps.data[i]), key(param[i]));
    }
    for (int i = 0; i < f->lits.len; i++) {
        const Temp t = new_temp(z, f->lits.data[i], false);
        add(z, body, ST_LIT, t, 0, NULL, NULL)->u = z->def[f->lits.data[i]]->u;
        map_put(temps, key(f->lits.data[i]), key(t));
    }
    for (int i = 0; i < f->temps.len; i++) {
        if (!z->tree->temps.data[f->temps.data[i]].cell) continue;
        const Temp c = new_temp(z, f->temps.data[i], true);
        add(z, body, ST_CELL, c, 1, &param[i], NULL);
        map_put(temps, key(f->temps.data[i]), key(c));
    }
}

// A copy of the nest, after arrays of its own.
static void put_copy(const Outliner *z, const Form *f, Stmt *nest, Block *body, Map *temps, Map *bufs) {
    Block all = {0};
    Stmt whole = {.kind = ST_IF, .dst = -1, .body = &all};
    for (int i = 0; i < f->own.len; i++) add(z, &all, ST_NEW, -1, 0, NULL, f->own.data[i]);
    vec_push(&all.stmts, nest);
    Block *copy = tree_clone_with(z->arena, z->tree, &whole, temps, bufs)->body;
    for (int i = 0; i < copy->stmts.len; i++) vec_push(&body->stmts, copy->stmts.data[i]);
    vec_free(&copy->stmts), vec_free(&all.stmts);
}

static Stmt *make_proc(Outliner *z, const Form *f, const Signature *g, Stmt *nest) {
    Block *body = ARENA_NEW(z->arena, Block);
    Map temps = {0}, bufs = {0};
    const int nin = g->nbufs + g->ncells;
    Stmt *proc = tree_stmt(z->arena, ST_PROC, -1, 0, NULL, nest->span);
    proc->u.num = z->procs++, proc->body = body, proc->nin = nin, proc->nout = g->nout + g->ncells;
    proc->in = ARENA_ARRAY(z->arena, Buf *, nin + 1);
    make_temps(z, f, body, &temps);
    for (int i = 0; i < g->nbufs; i++) {
        proc->in[i] = formal_buf(z, f->bufs.data[g->buf[i]], i, &temps);
        map_put(&bufs, f->bufs.data[g->buf[i]], proc->in[i]);
    }
    Temp *cell = ARENA_ARRAY(z->arena, Temp, g->ncells + 1);
    for (int i = 0; i < g->ncells; i++) cell[i] = (Temp)((intptr_t)map_get(&temps, key(f->temps.data[g->cell[i]])) - 1);
    put_copy(z, f, nest, body, &temps, &bufs);
    for (int i = 0; i < g->ncells; i++) {
        const TempInfo *info = &z->tree->temps.data[cell[i]];
        Buf *r = proc->in[g->nbufs + i] = new_buf(z, BUF_PARAM, info->kind, info->name);
        r->number = g->nbufs + i;
        const Temp t = new_temp(z, cell[i], false);
        add(z, body, ST_GET, t, 1, &cell[i], NULL);
        add(z, body, ST_STORE, -1, 1, &t, r);
    }
    map_free(&temps), map_free(&bufs);
    return proc;
}

// The nest's place has a call of the procedure instead.
static void put_call(Outliner *z, const Nest *n, const Form *f, const Signature *g, const Stmt *proc) {
    Block all = {0};
    const int nargs = f->temps.len;
    Temp *args = ARENA_ARRAY(z->arena, Temp, nargs + 1);
    Buf **in = ARENA_ARRAY(z->arena, Buf *, nargs + proc->nin + 1);
    for (int i = 0; i < nargs; i++) {
        const Temp t = f->temps.data[i];
        args[i] = t;
        if (z->tree->temps.data[t].cell) add(z, &all, ST_GET, args[i] = new_temp(z, t, false), 1, &t, NULL);
    }
    for (int i = 0; i < g->nbufs; i++) in[nargs + i] = f->bufs.data[g->buf[i]];
    for (int i = 0; i < f->own.len; i++) map_put(&z->moved, f->own.data[i], f->own.data[i]);
    for (int i = 0; i < g->ncells; i++) {
        const TempInfo *info = &z->tree->temps.data[f->temps.data[g->cell[i]]];
        Buf *r = in[nargs + g->nbufs + i] = new_buf(z, BUF_TEMP, info->kind, info->name);
        r->home = n->block;
        add(z, &all, ST_NEW, -1, 0, NULL, r);
    }
    Stmt *call = add(z, &all, ST_CALL, -1, nargs, args, NULL);
    call->u.num = proc->u.num, call->in = in, call->nin = nargs + proc->nin, call->nout = proc->nout;
    call->span = n->loop->span;
    for (int i = 0; i < g->ncells; i++) {
        const Temp c = f->temps.data[g->cell[i]], t = new_temp(z, c, false);
        add(z, &all, ST_LOAD, t, 0, NULL, in[nargs + g->nbufs + i]);
        add(z, &all, ST_SET, c, 1, &t, NULL);
    }
    int at = 0;
    while (n->block->stmts.data[at] != n->loop) at++;
    block_delete(n->block, at);
    for (int i = 0; i < all.stmts.len; i++) block_insert(n->block, at + i, all.stmts.data[i]);
    vec_free(&all.stmts);
    block_free(n->loop->body);
}

// The nests that are like nest[0], of n that have its size and its hash.
static void outline(Outliner *z, int n, Nest *const *nest) {
    Form first = form_of_nest(z, nest[0]);
    Signature g = signature_of(z, &first, nest[0]->loop);
    Stmt *proc = NULL;
    for (int i = 1; i < n; i++) {
        if (nest[i]->gone) continue;
        Form f = form_of_nest(z, nest[i]);
        const bool same = f.text.len == first.text.len && !memcmp(f.text.data, first.text.data, f.text.len) &&
                          tree_step(z->tree, nest[i]->loop);
        if (same && !proc) {
            proc = make_proc(z, &first, &g, nest[0]->loop);
            vec_push(&z->made, proc);
        }
        if (same) put_call(z, nest[i], &f, &g, proc);
        for (int k = nest[i]->number; same && k < nest[i]->end; k++) z->nests.data[k].gone = true;
        form_free(&f);
    }
    if (proc) {
        put_call(z, nest[0], &first, &g, proc);
        for (int k = nest[0]->number; k < nest[0]->end; k++) z->nests.data[k].gone = true;
    }
    form_free(&first);
}

static bool outline_all(Outliner *z) {
    VEC(Nest *) order = {0};
    const int before = z->made.len;
    for (int i = 0; i < z->nests.len; i++)
        if (!z->nests.data[i].gone) vec_push(&order, &z->nests.data[i]);
    if (order.len) qsort(order.data, (size_t)order.len, sizeof *order.data, compare);
    for (int i = 0, j; i < order.len; i = j) {
        const Nest *a = order.data[i];
        int n = 0;
        for (j = i; j < order.len && order.data[j]->size == a->size && order.data[j]->hash == a->hash; j++)
            if (!order.data[j]->gone) order.data[i + n++] = order.data[j];
        if (n > 1) outline(z, n, order.data + i);
    }
    vec_free(&order);
    return z->made.len > before;
}

// ---- the order of procedures: those that one calls before it

typedef struct Sorter {
    VEC(Stmt *) procs, sorted;
    Map seen;
} Sorter;

static void sort_proc(Sorter *z, Stmt *proc);

static void sort_called(Sorter *z, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        for (int k = 0; s->kind == ST_CALL && k < z->procs.len; k++)
            if (z->procs.data[k]->u.num == s->u.num) sort_proc(z, z->procs.data[k]);
        sort_called(z, s->body), sort_called(z, s->other);
    }
}

static void sort_proc(Sorter *z, Stmt *proc) {
    if (map_get(&z->seen, proc)) return;
    map_put(&z->seen, proc, proc);
    sort_called(z, proc->body);
    vec_push(&z->sorted, proc);
}

static void place_procs(Outliner *z) {
    Sorter s = {0};
    Block *b = z->tree->body;
    for (int i = 0; i < b->stmts.len; i++)
        if (b->stmts.data[i]->kind == ST_PROC) vec_push(&s.procs, b->stmts.data[i]);
    for (int i = 0; i < z->made.len; i++) vec_push(&s.procs, z->made.data[i]);
    for (int i = 0; i < s.procs.len; i++) sort_proc(&s, s.procs.data[i]);
    int at = 0;
    for (int i = 0; i < b->stmts.len; i++)
        if (b->stmts.data[i]->kind != ST_PROC) b->stmts.data[at++] = b->stmts.data[i];
    b->stmts.len = at;
    for (int i = 0; i < s.sorted.len; i++) block_insert(b, z->tree->prologue + i, s.sorted.data[i]);
    vec_free(&s.procs), vec_free(&s.sorted);
    map_free(&s.seen);
}

static void take_moved(const Outliner *z, Block *b) {
    int at = 0;
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        take_moved(z, s->body), take_moved(z, s->other);
        if (s->kind != ST_NEW || !map_get(&z->moved, s->buf)) b->stmts.data[at++] = s;
    }
    if (b) b->stmts.len = at;
}

void loops_outline(Arena *arena, Tree *tree, const LoopOptions *opt) {
    enum { MOST_ROUNDS = 8 }; // what is inside of a procedure is looked at in the next one
    Outliner z = {.arena = arena, .tree = tree};
    if (opt->threads) return; // which share out loops where they stand
    z.many = block_size(tree->body) >= MANY;
    for (int i = 0; i < tree->body->stmts.len; i++) {
        const Stmt *s = tree->body->stmts.data[i];
        if (s->kind == ST_PROC && s->u.num >= z.procs) z.procs = (int)s->u.num + 1;
    }
    bool any = true;
    for (int round = 0; round < MOST_ROUNDS && any; round++) {
        z.nests.len = z.made.len = 0;
        z.def = ARENA_ARRAY(arena, Stmt *, tree->temps.len + 1);
        tree_definitions(tree->body, z.def);
        map_free(&z.uses);
        z.uses = (Map){0};
        for (int i = 0; i < tree->body->stmts.len; i++) count_uses(&z.uses, tree->body->stmts.data[i]);
        find_nests(&z, tree->body, true);
        any = outline_all(&z);
        if (any) place_procs(&z);
    }
    take_moved(&z, tree->body);
    vec_free(&z.nests), vec_free(&z.made);
    map_free(&z.moved), map_free(&z.uses), map_free(&z.met);
}
