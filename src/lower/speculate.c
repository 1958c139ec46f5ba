// What a loop computes when it is first needed is computed before the loop, for GPUs:
//
//     c = false; for k < m { …; if need { if !c { b = …; c = true }; … b[k] … } }
//
// as the derivative for the hidden layer, where no unit may be at work, becomes
//
//     if 0 < m { b = … }; for k < m { …; if need { … b[k] … } }
//
// whose iterations do not wait for each other. What of the need is known before the loop stays a condition; else it costs what it
// may cost anyway. Its loops are as long as arrays are, and it makes none. Nothing of it may fail, or access an element that is
// only known to be there where it is needed.
#include "lower/build.h"
#include "lower/effects.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"

typedef struct Speculator {
    Arena *arena;
    Tree *tree;
    Stmt **def;      // by temp, of the tree as it was
    int known;       // so many temps
    Map made;        // Temp + 1: in the loop
    VEC(Temp) holds; // conditions of the branch that are known before the loop
} Speculator;

static void *key(Temp t) { return (void *)((intptr_t)t + 1); }

static const Stmt *def_of(const Speculator *z, Temp t) { return t < z->known ? z->def[t] : NULL; }

// ---- what may be computed earlier

// The cell of if !c { …; c = true }; -1: it is none.
static Temp flag_of(const Speculator *z, const Stmt *s) {
    const Stmt *no = s->kind == ST_IF && s->body && s->body->stmts.len ? def_of(z, s->args[0]) : NULL;
    if (!no || no->kind != ST_OP || no->op != OP_not || (s->other && s->other->stmts.len)) return -1;
    const Stmt *get = def_of(z, no->args[0]), *set = vec_last(&s->body->stmts);
    if (!get || get->kind != ST_GET || set->kind != ST_SET || set->dst != get->args[0]) return -1;
    const Stmt *yes = def_of(z, set->args[0]);
    return yes && yes->kind == ST_LIT && yes->u.num ? set->dst : -1;
}

// By an Int that may be 0, but where a check before has passed?
static bool divides(const Speculator *z, const Stmt *s) {
    if (s->kind != ST_OP || (s->op != OP_idiv && s->op != OP_irem)) return false;
    const Stmt *by = def_of(z, s->args[1]);
    return !by || by->kind != ST_LIT || !by->u.num;
}

// Does it need nothing that the loop makes, but what can be computed elsewhere?
static bool is_from_outside(const Speculator *z, Temp t, const Map *own, int *budget) {
    if (!map_get(&z->made, key(t)) || map_get(own, key(t))) return true;
    const Stmt *s = def_of(z, t);
    if (!s || --*budget < 0 || (s->kind != ST_LIT && s->kind != ST_OP) || divides(z, s)) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!is_from_outside(z, s->args[k], own, budget)) return false;
    return true;
}

static bool all_from_outside(const Speculator *z, const Block *b, const Map *own) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (divides(z, s)) return false;
        for (int k = 0; k < s->nargs; k++)
            if (!is_from_outside(z, s->args[k], own, &(int){20})) return false;
        if (!all_from_outside(z, s->body, own) || !all_from_outside(z, s->other, own)) return false;
    }
    return true;
}

// ---- conditions

typedef struct Inside { // of a loop, or a condition that holds
    const Stmt *loop;
    Temp holds;
    const struct Inside *outer;
} Inside;

static bool is_literal(const Speculator *z, Temp t, int64_t value) {
    const Stmt *s = def_of(z, t);
    return s && s->kind == ST_LIT && s->u.num == value;
}

// Does the condition say that op(a, b)? zero: that 0 op b.
static bool says(const Speculator *z, Temp holds, Op op, Temp a, Temp b, bool zero, int *budget) {
    const Stmt *s = def_of(z, holds);
    if (!s || s->kind != ST_OP || --*budget < 0) return false;
    if (s->op == OP_and) return says(z, s->args[0], op, a, b, zero, budget) || says(z, s->args[1], op, a, b, zero, budget);
    return s->op == op && s->args[1] == b && (zero ? is_literal(z, s->args[0], 0) : s->args[0] == a);
}

static bool is_said(const Speculator *z, const Inside *in, Op op, Temp a, Temp b, bool zero) {
    for (; in; in = in->outer)
        if (!in->loop && says(z, in->holds, op, a, b, zero, &(int){30})) return true;
    return false;
}

// Is t less than the length, and not negative?
static bool is_below(const Speculator *z, const Inside *in, Temp t, Temp length) {
    bool index = false;
    for (const Inside *i = in; i; i = i->outer) {
        if (!i->loop || i->loop->dst != t || i->loop->nargs > 1) continue;
        if (i->loop->args[0] == length) return true;
        index = true;
    }
    return is_said(z, in, OP_lt, t, length, false) && (index || is_said(z, in, OP_le, -1, t, true));
}

// Is it a literal, or the length of an input, an output or an array that the block accesses?
static bool is_extent(const Speculator *z, const Block *b, Temp t) {
    const Stmt *s = def_of(z, t);
    bool is = s && s->kind == ST_LIT;
    for (int k = 0; k < z->tree->bufs.len && !is; k++) {
        const Buf *buf = z->tree->bufs.data[k];
        for (int d = 0; d < buf->rank; d++) is |= buf->extent[d] == t && (buf->where != BUF_TEMP || block_accesses(b, buf));
    }
    return is;
}

// Is each element of what is in b, a part of `all`, there, and each loop as long as an array that is there? There is no array that
// is new.
static bool all_there(const Speculator *z, const Block *all, const Block *b, const Inside *in) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        const bool element = s->kind == ST_LOAD || s->kind == ST_STORE || s->kind == ST_ADDTO;
        for (int k = 0; element && k < s->buf->rank; k++)
            if (!is_below(z, in, stmt_index(s)[k], s->buf->extent[k])) return false;
        if (s->kind == ST_NEW || s->kind == ST_COPY || s->kind == ST_MOVE) return false;
        if (s->kind == ST_FOR && (!is_extent(z, all, s->args[0]) || map_get(&z->made, key(s->args[0])))) return false;
        const Inside inside = {s->kind == ST_FOR ? s : NULL, s->kind == ST_IF ? s->args[0] : -1, in};
        if (!all_there(z, all, s->body, s->kind == ST_FOR || s->kind == ST_IF ? &inside : in) || !all_there(z, all, s->other, in))
            return false;
    }
    return true;
}

// Of what the condition says, what is known before the loop.
static void known_before(Speculator *z, Temp holds, int *budget) {
    const Stmt *s = def_of(z, holds);
    const Map none = {0};
    if (--*budget < 0) return;
    if (is_from_outside(z, holds, &none, &(int){20})) vec_push(&z->holds, holds);
    else if (s && s->kind == ST_OP && s->op == OP_and) known_before(z, s->args[0], budget), known_before(z, s->args[1], budget);
}

// ---- the rest of the loop

static bool changes(const Effects *e, const Buf *b) {
    for (int k = 0; k < e->access.len; k++)
        if (e->access.data[k].buf == b && e->access.data[k].write) return true;
    return false;
}

static bool has_temp(int n, const Temp *t, Temp x) {
    for (int k = 0; k < n; k++)
        if (t[k] == x) return true;
    return false;
}

// What the body leaves is the same wherever it runs: the rest of the loop changes nothing that it reads, or changes.
static bool is_apart(const Effects *body, const Effects *rest) {
    for (int k = 0; k < body->access.len; k++)
        if (changes(rest, body->access.data[k].buf)) return false;
    for (int k = 0; k < body->gets.len; k++)
        if (has_temp(rest->sets.len, rest->sets.data, body->gets.data[k])) return false;
    for (int k = 0; k < body->sets.len; k++)
        if (has_temp(rest->sets.len, rest->sets.data, body->sets.data[k])) return false;
    return !body->stops;
}

// Does what is read of it in the loop, beside the body, come after that?
static bool is_read_after(const Stmt *loop, const Block *b, int at, const Buf *buf, Temp cell) {
    const Block *body = b->stmts.data[at]->body;
    int n =
        buf ? block_accesses(loop->body, buf) - block_accesses(body, buf) : block_uses(loop->body, cell) - block_uses(body, cell);
    for (int i = at + 1; i < b->stmts.len; i++) {
        const Block one = {.stmts = {.data = (Stmt **)&b->stmts.data[i], .len = 1}};
        n -= buf ? block_accesses(&one, buf) : block_uses(&one, cell);
    }
    return !n;
}

static bool may_be_earlier(Speculator *z, Stmt *loop, const Block *b, int at, Temp flag) {
    Map own = {0};
    Effects body = {0}, rest = {0};
    Stmt *branch = b->stmts.data[at];
    Block *what = branch->body, none = {0};
    Inside *holds = NULL;
    block_note_made(&own, what);
    for (int i = 0; i < what->stmts.len; i++) effects_add(&body, what->stmts.data[i]);
    branch->body = &none;
    effects_add(&rest, loop);
    branch->body = what;
    for (int i = 0; i < z->holds.len; i++) {
        Inside *also = ARENA_NEW(z->arena, Inside);
        *also = (Inside){NULL, z->holds.data[i], holds};
        holds = also;
    }
    bool good = block_has_for(what) && !map_get(&z->made, key(flag)) && block_sets(loop->body, flag) == 1 &&
                all_from_outside(z, what, &own) && all_there(z, what, what, holds) && is_apart(&body, &rest);
    for (int k = 0; k < body.access.len && good; k++)
        good = !body.access.data[k].write || is_read_after(loop, b, at, body.access.data[k].buf, -1);
    for (int k = 0; k < body.sets.len && good; k++)
        good = body.sets.data[k] == flag || map_get(&own, key(body.sets.data[k])) ||
               is_read_after(loop, b, at, NULL, body.sets.data[k]);
    effects_free(&body), effects_free(&rest), map_free(&own);
    return good;
}

// ---- moving it

// t, computed in b if the loop makes it.
static Temp outside(Speculator *z, Builder *build, Block *b, const Map *own, Temp t) {
    if (!map_get(&z->made, key(t)) || map_get(own, key(t))) return t;
    const Stmt *s = def_of(z, t);
    Stmt *copy = arena_copy(z->arena, s, sizeof *s);
    copy->args = ARENA_ARRAY(z->arena, Temp, s->nargs + 1);
    for (int k = 0; k < s->nargs; k++) copy->args[k] = outside(z, build, b, own, s->args[k]);
    copy->dst = build_temp(build, z->tree->temps.data[t]);
    vec_push(&b->stmts, copy);
    return copy->dst;
}

static void take_outside(Speculator *z, Builder *build, Block *to, Block *b, const Map *own) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        for (int k = 0; k < s->nargs; k++) s->args[k] = outside(z, build, to, own, s->args[k]);
        take_outside(z, build, to, s->body, own), take_outside(z, build, to, s->other, own);
    }
}

static bool take_out(Block *b, const Stmt *s) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        if (b->stmts.data[i] == s) return block_remove(b, s), true;
        if (take_out(b->stmts.data[i]->body, s) || take_out(b->stmts.data[i]->other, s)) return true;
    }
    return false;
}

static void move(Speculator *z, Block *around, Stmt *loop, Stmt *branch, Temp flag) {
    Builder build = {z->arena, z->tree, loop->span};
    Block before = {0}, needed = {0};
    Map own = {0};
    bool only = false; // nothing else asks whether it is there
    for (int i = 0; i < around->stmts.len; i++)
        only |= around->stmts.data[i]->kind == ST_CELL && around->stmts.data[i]->dst == flag;
    only &= block_uses(z->tree->body, flag) == 1;
    block_note_made(&own, branch->body);
    take_out(loop->body, branch);
    Temp some = build_op(&build, &before, KIND_BOOL, OP_lt, build_literal(&build, &before, KIND_INT, 0), loop->args[0]);
    const Map none = {0};
    for (int i = 0; i < z->holds.len; i++)
        some = build_op(&build, &before, KIND_BOOL, OP_and, some, outside(z, &build, &before, &none, z->holds.data[i]));
    take_outside(z, &build, &needed, branch->body, &own);
    for (int i = 0; i < needed.stmts.len; i++) block_insert(branch->body, i, needed.stmts.data[i]);
    if (only) {
        branch->args = arena_copy(z->arena, &some, sizeof some);
        (void)vec_pop(&branch->body->stmts);
        vec_push(&before.stmts, branch);
    } else {
        Block *there = build_if(&build, &before, some, false)->body;
        Temp is = build_temp(&build, (TempInfo){.kind = KIND_BOOL});
        build_stmt(&build, there, ST_GET, is, 1, &flag);
        Temp no = build_op(&build, there, KIND_BOOL, OP_not, is, -1);
        branch->args = arena_copy(z->arena, &no, sizeof no);
        vec_push(&there->stmts, branch);
    }
    int at = 0;
    while (around->stmts.data[at] != loop) at++;
    for (int i = 0; i < before.stmts.len; i++) block_insert(around, at + i, before.stmts.data[i]);
    vec_free(&before.stmts), vec_free(&needed.stmts), map_free(&own);
}

static Stmt *find_branch(Speculator *z, Stmt *loop, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i], *found = NULL;
        const int holds = z->holds.len;
        Temp flag = flag_of(z, s);
        if (flag >= 0 && may_be_earlier(z, loop, b, i, flag)) return s;
        if (s->kind == ST_IF) known_before(z, s->args[0], &(int){20});
        if ((found = find_branch(z, loop, s->body))) return found;
        z->holds.len = holds;
        if (s->kind != ST_IF && (found = find_branch(z, loop, s->other))) return found;
    }
    return NULL;
}

static bool look(Speculator *z, Block *b) { // has anything moved?
    for (int i = 0; b && i < b->stmts.len; i++) {
        Stmt *s = b->stmts.data[i];
        if (s->kind == ST_FOR && s->nargs == 1) {
            z->made = (Map){0}, z->holds.len = 0;
            map_put(&z->made, key(s->dst), (void *)1), block_note_made(&z->made, s->body);
            Stmt *branch = find_branch(z, s, s->body);
            if (branch && !tree_step(z->tree, branch)) branch = NULL;
            if (branch) move(z, b, s, branch, flag_of(z, branch));
            map_free(&z->made);
            if (branch) return true;
        }
        if (look(z, s->body) || look(z, s->other)) return true;
    }
    return false;
}

void loops_speculate(Arena *arena, Tree *tree, const LoopOptions *opt) {
    (void)opt;
    for (bool again = true; again;) {
        Speculator z = {.arena = arena, .tree = tree, .known = tree->temps.len};
        z.def = ARENA_ARRAY(arena, Stmt *, z.known + 1);
        tree_definitions(tree->body, z.def);
        again = look(&z, tree->body);
        vec_free(&z.holds);
    }
}
