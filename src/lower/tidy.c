// Trees of which more has become known: branches that are decided, cells that need not be any, and what nothing needs any more.
#include "lower/internal.h"
#include "lower/recurrence.h"

typedef struct Tidier {
    const Tree *tree;
    int n;
    Stmt *const *def; // by temp, of the first n: what makes it
    bool strict;      // x + 0.0 is not x
} Tidier;

static const Stmt *definition(const Tidier *z, Temp t) { return t < z->n ? z->def[t] : NULL; }

static bool literal(const Tidier *z, Temp t, int64_t *value) {
    const Stmt *s = definition(z, t);
    if (!s || s->kind != ST_LIT || kind_is_float(z->tree->temps.data[t].kind)) return false;
    *value = s->u.num;
    return true;
}

void block_delete(Block *block, int at) {
    for (int k = at; k + 1 < block->stmts.len; k++) block->stmts.data[k] = block->stmts.data[k + 1];
    block->stmts.len--;
}

// ---- what literals decide

static bool decide(Op op, int64_t a, int64_t b, int64_t *value) {
    switch (op) {
    case OP_eq: *value = a == b; return true;
    case OP_ne: *value = a != b; return true;
    case OP_lt: *value = a < b; return true;
    case OP_le: *value = a <= b; return true;
    case OP_and: *value = a && b; return true;
    case OP_or: *value = a || b; return true;
    default: return false;
    }
}

static void fold_stmt(const Tidier *z, Stmt *s) {
    int64_t a = 0, b = 0, value;
    if (s->kind != ST_OP || s->nargs > 2 || z->tree->temps.data[s->dst].kind != KIND_BOOL) return;
    if (!literal(z, s->args[0], &a) || (s->nargs == 2 && !literal(z, s->args[1], &b))) return;
    if (s->op == OP_not) value = !a;
    else if (!decide(s->op, a, b, &value)) return;
    s->kind = ST_LIT, s->nargs = 0, s->u.num = value;
}

// Folds what is made of literals and puts arms that are known to be taken in the place of branches.
static void fold_block(const Tidier *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        int64_t taken;
        fold_stmt(z, s);
        if (s->kind == ST_IF && literal(z, s->args[0], &taken)) {
            Block *arm = taken ? s->body : s->other;
            block_delete(block, i);
            for (int k = 0; arm && k < arm->stmts.len; k++) block_insert(block, i + k, arm->stmts.data[k]);
            for (int k = 0; arm && k < z->tree->bufs.len; k++)
                if (z->tree->bufs.data[k]->home == arm) z->tree->bufs.data[k]->home = block;
            block_free(taken ? s->other : s->body);
            if (arm) vec_free(&arm->stmts);
            i--;
            continue;
        }
        if (s->kind == ST_SELECT && literal(z, s->args[0], &taken)) {
            block_rename(block, s->dst, s->args[taken ? 1 : 2]);
            block_delete(block, i--);
            continue;
        }
        fold_block(z, s->body);
        fold_block(z, s->other);
    }
}

static bool is_zero(const Tidier *z, Temp t) {
    const Stmt *s = definition(z, t);
    return s && s->kind == ST_LIT && kind_is_float(z->tree->temps.data[t].kind) && s->u.real == 0.0;
}

static bool touches(const Block *block, Temp cell) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if ((s->kind == ST_SET && s->dst == cell) || (s->kind == ST_GET && s->args[0] == cell)) return true;
        if (touches(s->body, cell) || touches(s->other, cell)) return true;
    }
    return false;
}

// The cell that statement number `at` makes, if branches and loops have nothing to do with it, becomes the values that it has.
static bool promote(Block *block, int at) {
    Temp cell = block->stmts.data[at]->dst, value = block->stmts.data[at]->args[0];
    for (int i = at + 1; i < block->stmts.len; i++)
        if (touches(block->stmts.data[i]->body, cell) || touches(block->stmts.data[i]->other, cell)) return false;
    for (int i = at + 1; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        bool set = s->kind == ST_SET && s->dst == cell, get = s->kind == ST_GET && s->args[0] == cell;
        if (!set && !get) continue;
        if (set) value = s->args[0];
        else block_rename(block, s->dst, value);
        block_delete(block, i--);
    }
    block_delete(block, at);
    return true;
}

// What has been decided leaves cells that are set once, and additions of zero.
static void tidy(const Tidier *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_CELL && promote(block, i)) {
            i--;
            continue;
        }
        if (s->kind == ST_OP && s->op == OP_add && !z->strict && (is_zero(z, s->args[0]) || is_zero(z, s->args[1]))) {
            block_rename(block, s->dst, s->args[is_zero(z, s->args[0])]);
            block_delete(block, i--);
            continue;
        }
        tidy(z, s->body);
        tidy(z, s->other);
    }
}

void lower_decide(const Tree *tree, int n, Stmt *const *def, bool strict, Block *block) {
    Tidier z = {tree, n, def, strict};
    fold_block(&z, block), tidy(&z, block);
}

// ---- what nothing needs any more

void stmt_drop(Stmt *s) { *s = (Stmt){.kind = ST_LIT, .dst = -1, .span = s->span}; }

static bool is_dropped(const Stmt *s) { return s->kind == ST_LIT && s->dst < 0; }

void block_sweep(Block *block) {
    int n = 0;
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (is_dropped(s)) continue;
        block->stmts.data[n++] = s;
        block_sweep(s->body);
        block_sweep(s->other);
    }
    if (block) block->stmts.len = n;
}

typedef struct Needed {
    bool *temp, *loaded; // by temp, cells among them, and by buffer
    bool more;           // something was found
} Needed;

static void mark(Needed *n, bool *is) {
    n->more |= !*is;
    *is = true;
}

static bool has_statements(const Block *b) { return b && b->stmts.len; }

// inside: is anything in it needed?
static bool is_needed(const Needed *n, const Stmt *s, bool inside) {
    switch (s->kind) {
    case ST_NEW:
    case ST_FILL:
    case ST_COPY:
    case ST_MOVE:
    case ST_STORE:
    case ST_ADDTO:
    case ST_FETCH: return s->buf->where != BUF_TEMP || n->loaded[s->buf->id];
    case ST_LIT:
    case ST_ARG:
    case ST_OP:
    case ST_CONV:
    case ST_SELECT:
    case ST_LOAD:
    case ST_CELL: // what only becomes a part of its own next value is not needed
    case ST_GET:
    case ST_SET: return n->temp[s->dst];
    case ST_FOR:
    case ST_IF: return inside;
    default: return true;
    }
}

// Marks what the needed statements of the block need, those before number `begin` among them; is there any?
static bool mark_needed(Needed *n, const Block *block, int begin) {
    bool any = false;
    for (int i = block ? block->stmts.len - 1 : -1; i >= 0; i--) {
        const Stmt *s = block->stmts.data[i];
        bool body = mark_needed(n, s->body, 0), other = mark_needed(n, s->other, 0);
        if (i >= begin && !is_needed(n, s, body || other)) continue;
        any = true;
        for (int k = 0; k < s->nargs; k++) mark(n, &n->temp[s->args[k]]);
        for (int k = 0; k < s->nin; k++)
            if (s->in[k]) mark(n, &n->loaded[s->in[k]->id]);
        if (s->kind == ST_LOAD) mark(n, &n->loaded[s->buf->id]);
        if (s->src) mark(n, &n->loaded[s->src->id]);
    }
    return any;
}

// Of the block's statements from number `begin` on, and inside of them.
static void remove_unneeded(const Needed *n, Block *block, int begin) {
    for (int i = block ? block->stmts.len - 1 : -1; i >= begin; i--) {
        Stmt *s = block->stmts.data[i];
        remove_unneeded(n, s->body, 0);
        remove_unneeded(n, s->other, 0);
        if (is_needed(n, s, has_statements(s->body) || has_statements(s->other))) continue;
        block_free(s->body), block_free(s->other);
        stmt_drop(s);
    }
    block_sweep(block);
}

// A recurrence does not keep what nothing loads: that array is gone.
static void forget_before(const Needed *n, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        Recurrence *r = s->recurrence;
        if (r && r->before && r->before->where == BUF_TEMP && !n->loaded[r->before->id]) r->before = NULL;
        forget_before(n, s->body);
        forget_before(n, s->other);
    }
}

void lower_remove_dead(Arena *arena, Tree *t) {
    Needed n = {ARENA_ARRAY(arena, bool, t->temps.len + 1), ARENA_ARRAY(arena, bool, t->bufs.len + 1), true};
    for (int i = 0; i < t->bufs.len; i++)
        for (int k = 0; k < t->bufs.data[i]->rank; k++) n.temp[t->bufs.data[i]->extent[k]] = true;
    while (n.more) {
        n.more = false;
        mark_needed(&n, t->body, t->prologue);
    }
    remove_unneeded(&n, t->body, t->prologue);
    forget_before(&n, t->body);
}
