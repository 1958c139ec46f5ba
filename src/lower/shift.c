// Loops over i < n whose bodies use i only in j = low + i and in what is k + j or k - j: i is replaced by j there, so that
// lanes with ranges low … low + n - 1 that overlap can run over j together, each where j is in its range (cpu/lanes.c).
#include "lower/internal.h"
#include "lower/loop_passes.h"

typedef struct Shift {
    Stmt **def; // by temp
    Temp index, low;
    Stmt *sum;        // j = low + i
    VEC(Stmt *) uses; // other statements that use i
} Shift;

static bool is_op(const Stmt *s, Op op) { return s && s->kind == ST_OP && s->op == op; }

static void find_uses(Shift *z, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        for (int k = 0; k < s->nargs; k++)
            if (s->args[k] == z->index) {
                vec_push(&z->uses, s);
                break;
            }
        find_uses(z, s->body);
        find_uses(z, s->other);
    }
}

// The other operand of a sum, or -1.
static Temp beside(const Stmt *s, Temp t) {
    if (!is_op(s, OP_add) || s->args[0] == s->args[1]) return -1;
    return s->args[0] == t ? s->args[1] : s->args[1] == t ? s->args[0] : -1;
}

// If s, which uses i, is k + j or k - j: k, else -1.
static Temp without_low(const Shift *z, const Stmt *s) {
    Temp other = beside(s, z->index);
    if (other >= 0) return beside(z->def[other], z->low);
    if (!is_op(s, OP_sub) || s->args[1] != z->index || s->args[0] == z->index) return -1;
    const Stmt *d = z->def[s->args[0]];
    return is_op(d, OP_sub) && d->args[1] == z->low ? d->args[0] : -1;
}

static bool fits(const Shift *z) {
    for (int i = 0; i < z->uses.len; i++)
        if (z->uses.data[i] != z->sum && without_low(z, z->uses.data[i]) < 0) return false;
    return true;
}

static void move_first(Block *block, Stmt *s) {
    int i = 0;
    while (block->stmts.data[i] != s) i++;
    for (; i > 0; i--) block->stmts.data[i] = block->stmts.data[i - 1];
    block->stmts.data[0] = s;
}

static bool has_stmt(const Block *block, const Stmt *s) {
    for (int i = 0; i < block->stmts.len; i++)
        if (block->stmts.data[i] == s) return true;
    return false;
}

static void shift_loop(Arena *arena, const Tree *tree, Stmt **def, Stmt *loop) {
    Shift z = {.def = def, .index = loop->dst};
    find_uses(&z, loop->body);
    for (int i = 0; i < z.uses.len; i++) {
        z.sum = z.uses.data[i], z.low = beside(z.sum, z.index);
        if (z.low < 0 || !has_stmt(loop->body, z.sum) || has_stmt(loop->body, def[z.low]) || !fits(&z) ||
            !tree_step(tree, loop))
            continue;
        for (int k = 0; k < z.uses.len; k++) {
            Stmt *s = z.uses.data[k];
            if (s == z.sum) continue;
            Temp args[] = {without_low(&z, s), z.sum->dst};
            s->args = arena_copy(arena, args, sizeof args);
        }
        move_first(loop->body, z.sum);
        loop->shifted = true;
        break;
    }
    vec_free(&z.uses);
}

static void shift(Arena *arena, const Tree *tree, Stmt **def, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_FOR && s->nargs == 1) shift_loop(arena, tree, def, s);
        shift(arena, tree, def, s->body);
        shift(arena, tree, def, s->other);
    }
}

void loops_shift(Arena *arena, Tree *tree, const LoopOptions *opt) {
    (void)opt;
    Stmt **def = ARENA_ARRAY(arena, Stmt *, tree->temps.len + 1);
    tree_definitions(tree->body, def);
    shift(arena, tree, def, tree->body);
}
