// What kernels of a GPU would compute, or move, more than once. Where nests have become one (merge.c), values that the second
// computes are those of the first, and of two arrays that get the same elements one is enough:
//
//     for i { a[i] = e; b[i] = e }; f(b)        becomes     for i { a[i] = e }; f(a)
//
// What is added to an array of zeros, which is then added to another one, is added there at once:
//
//     a = 0; for i { for j { a[j] += e } }; for j { b[j] += a[j] }      becomes     for i { for j { b[j] += e } }
#include "lower/effects.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"
#include "lower/lower.h"

#include <string.h>

enum { LARGEST = 600, DEEPEST = 6 }; // statements of a nest, loops of one

typedef struct Sharer {
    Tree *tree;
    bool strict; // sums keep their order
    Stmt **def;  // by temp
    Stmt *nest;
    VEC(Stmt *) seen; // what has been computed, and is known where we are
    int *writes;      // by buffer: statements that write to it
} Sharer;

static bool writes_to(const Stmt *s, const Buf *b) {
    if (stmt_writes(s, b)) return true;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++)
            if (writes_to(in[k]->stmts.data[i], b)) return true;
    return false;
}

// ---- values

static bool same_value(const Stmt *a, const Stmt *b) {
    if (a->kind == ST_LIT && b->kind == ST_LIT) return !memcmp(&a->u.num, &b->u.num, sizeof a->u.num);
    if (a->kind != b->kind || a->nargs != b->nargs || a->buf != b->buf || (a->kind == ST_OP && a->op != b->op)) return false;
    return a->nargs == 0 || !memcmp(a->args, b->args, sizeof *a->args * (size_t)a->nargs);
}

static void share_values(Sharer *z, Block *block) {
    int before = z->seen.len;
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        bool pure = (s->kind == ST_LIT && s->dst >= 0) || s->kind == ST_OP || s->kind == ST_CONV || s->kind == ST_SELECT ||
                    (s->kind == ST_LOAD && !writes_to(z->nest, s->buf));
        for (int k = 0; pure && k < z->seen.len; k++) {
            const Stmt *t = z->seen.data[k];
            if (!same_value(s, t) || z->tree->temps.data[s->dst].kind != z->tree->temps.data[t->dst].kind) continue;
            block_rename(z->nest->body, s->dst, t->dst);
            stmt_drop(s);
            pure = false;
        }
        if (pure) vec_push(&z->seen, s);
        share_values(z, s->body), share_values(z, s->other);
    }
    z->seen.len = before;
}

// ---- arrays that are the same

static bool has_extents(const Buf *a, const Buf *b) {
    if (a->rank != b->rank || a->kind != b->kind) return false;
    for (int k = 0; k < a->rank; k++)
        if (a->extent[k] != b->extent[k]) return false;
    return true;
}

static void load_instead(Block *block, const Buf *from, Buf *to) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->buf == from && s->kind != ST_NEW) s->buf = to;
        if (s->src == from) s->src = to;
        for (int k = 0; k < s->nin; k++)
            if (s->in[k] == from) s->in[k] = to;
        load_instead(s->body, from, to), load_instead(s->other, from, to);
    }
}

static void share_arrays(Sharer *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        share_arrays(z, s->body), share_arrays(z, s->other);
        if (s->kind != ST_STORE || s->buf->where != BUF_TEMP || z->writes[s->buf->id] != 1) continue;
        for (int k = i + 1; k < block->stmts.len; k++) {
            Stmt *t = block->stmts.data[k];
            bool alike = t->kind == ST_STORE && t->buf != s->buf && t->buf->where == BUF_TEMP && z->writes[t->buf->id] == 1 &&
                         t->buf->home == s->buf->home && has_extents(s->buf, t->buf) && t->nargs == s->nargs &&
                         !memcmp(s->args, t->args, sizeof *s->args * (size_t)s->nargs);
            if (!alike || !tree_step(z->tree, t)) continue;
            Buf *gone = t->buf;
            stmt_drop(t);
            load_instead(z->tree->body, gone, s->buf);
        }
    }
}

static void count_writes(Sharer *z, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->buf && s->kind != ST_LOAD && s->kind != ST_FETCH && s->kind != ST_NEW) z->writes[s->buf->id]++;
        if (stmt_calls(s)) // they may do anything
            for (int k = 0; k < s->nin; k++)
                if (s->in[k]) z->writes[s->in[k]->id] += 2;
        count_writes(z, s->body), count_writes(z, s->other);
    }
}

// ---- sums of zeros

// Does the statement add elements of one array to the same of another, and nothing else? They are as large.
static bool adds_all(const Sharer *z, const Stmt *s, Buf **from, Buf **to) {
    Temp index[DEEPEST];
    int n = 0;
    for (; s->kind == ST_FOR && nest_is_plain(s) && n < DEEPEST; n++) {
        index[n] = s->dst;
        const Stmt *inner = NULL;
        for (int i = 0; i < s->body->stmts.len; i++) {
            const Stmt *t = s->body->stmts.data[i];
            if (t->kind == ST_LIT || t->kind == ST_LOAD) continue;
            if (inner) return false;
            inner = t;
        }
        if (!inner) return false;
        s = inner;
    }
    if (s->kind != ST_ADDTO || s->buf->rank != n || n == 0) return false;
    const Stmt *load = z->def[s->args[0]];
    if (!load || load->kind != ST_LOAD || !has_extents(s->buf, load->buf)) return false;
    for (int k = 0; k < n; k++)
        if (s->args[1 + k] != index[k] || load->args[k] != index[k] || z->def[index[k]]->args[0] != s->buf->extent[k]) return false;
    *from = load->buf, *to = s->buf;
    return true;
}

static bool only_adds(const Stmt *s, const Buf *b) {
    if (s->src == b || (s->buf == b && s->kind != ST_ADDTO)) return false;
    for (int k = 0; k < s->nin; k++)
        if (s->in[k] == b) return false;
    const Block *in[] = {s->body, s->other};
    for (int k = 0; k < 2; k++)
        for (int i = 0; in[k] && i < in[k]->stmts.len; i++)
            if (!only_adds(in[k]->stmts.data[i], b)) return false;
    return true;
}

static bool makes(const Block *block, const Buf *b) {
    for (int i = 0; i < block->stmts.len; i++)
        if (block->stmts.data[i]->kind == ST_NEW && block->stmts.data[i]->buf == b) return true;
    return false;
}

// Of the block: statement `at` adds all of an array to another one.
static bool add_there(Sharer *z, Block *block, int at) {
    Buf *from, *to;
    Stmt *const *s = block->stmts.data;
    if (!adds_all(z, s[at], &from, &to) || from == to || from->where != BUF_TEMP || makes(block, to)) return false;
    if (z->strict && kind_is_float(from->kind)) return false;
    int fill = at - 1, all = 1; // accesses
    for (; fill >= 0 && !(s[fill]->kind == ST_FILL && s[fill]->buf == from); fill--) {
        if (!only_adds(s[fill], from) || stmt_accesses(s[fill], to)) return false;
        all += stmt_accesses(s[fill], from);
    }
    if (fill < 0) return false;
    const Stmt *zero = z->def[s[fill]->args[0]];
    bool is_zero = zero && zero->kind == ST_LIT && (kind_is_float(from->kind) ? zero->u.real == 0 : zero->u.num == 0);
    if (!is_zero || block_accesses(z->tree->body, from) != all + 1 || !tree_step(z->tree, s[at])) return false;
    for (int i = fill + 1; i < at; i++) {
        const Block one = {.stmts = {.data = &block->stmts.data[i], .len = 1}};
        load_instead((Block *)&one, from, to);
    }
    stmt_drop(s[fill]), stmt_drop(s[at]);
    return true;
}

static void add_directly(Sharer *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        add_directly(z, block->stmts.data[i]->body), add_directly(z, block->stmts.data[i]->other);
        add_there(z, block, i);
    }
}

// ----

static void share_in_nests(Sharer *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_FOR && block_size(s->body) <= LARGEST && !block_may_fail(s->body)) {
            if (!tree_step(z->tree, s)) continue;
            z->nest = s;
            share_values(z, s->body);
            block_sweep(s->body);
            continue;
        }
        share_in_nests(z, s->body), share_in_nests(z, s->other);
    }
}

void loops_common(Arena *arena, Tree *tree, const LoopOptions *opt) {
    Sharer z = {.tree = tree, .strict = opt->precise};
    int bufs = 1;
    for (int i = 0; i < tree->bufs.len; i++)
        if (bufs <= tree->bufs.data[i]->id) bufs = tree->bufs.data[i]->id + 1;
    z.def = ARENA_ARRAY(arena, Stmt *, tree->temps.len + 1);
    tree_definitions(tree->body, z.def);
    z.writes = ARENA_ARRAY(arena, int, bufs);
    share_in_nests(&z, tree->body);
    count_writes(&z, tree->body);
    share_arrays(&z, tree->body);
    add_directly(&z, tree->body);
    vec_free(&z.seen);
    block_sweep(tree->body);
    lower_remove_dead(arena, tree);
}
