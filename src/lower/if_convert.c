// If-conversion of additions to elements of arrays, as the adjoint of a maximum makes them: to the places of a window,
// depending on which element it was. Processors cannot foresee such conditions, and lanes would need a mask for each.
//
//     a = x[i, j]                                  a = x[i, j]
//     c = b < a                      becomes       c = b < a
//     if c { y[i, j] += v }                        w = c ? v : -0.0
//                                                  y[i, j] += w
//
// That needs an element of y that is there whatever the condition is: in any case, before it, an element is loaded at the same
// indices of an array with the same extents. It is near in memory, too, as what is loaded is. -0 changes no number, nor
// what is infinite or NaN. A condition that the innermost loop does not compute stays, since it is foreseen.
#include "lower/build.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"

enum { MOST = 4 }; // statements under a condition; more would take longer than a branch that is foreseen wrongly half of the time

typedef struct Converter {
    Builder build;
    VEC(const Stmt *) loads; // of the blocks around, before the statement that is looked at
} Converter;

static bool same_number(Stmt *const *def, Temp a, Temp b) {
    return a == b || (def[a] && def[b] && def[a]->kind == ST_LIT && def[b]->kind == ST_LIT && def[a]->u.num == def[b]->u.num);
}

// Is something loaded in any case, at the same place of an array of the same extents?
static bool is_there(const Converter *z, Stmt *const *def, const Stmt *add) {
    for (int i = 0; i < z->loads.len; i++) {
        const Stmt *load = z->loads.data[i];
        bool same = load->buf->rank == add->buf->rank;
        for (int k = 0; same && k < add->buf->rank; k++)
            same = stmt_index(load)[k] == stmt_index(add)[k] &&
                   same_number(def, load->buf->extent[k], add->buf->extent[k]);
        if (same) return true;
    }
    return false;
}

static bool converts(const Converter *z, Stmt *const *def, const Block *branch) {
    if (!branch) return true;
    for (int i = 0; i < branch->stmts.len; i++) {
        const Stmt *s = branch->stmts.data[i];
        if (s->kind != ST_ADDTO || !kind_is_float(s->buf->kind) || !is_there(z, def, s)) return false;
    }
    return branch->stmts.len <= MOST;
}

static bool is_of(const Block *block, const Stmt *s) {
    for (int i = 0; s && i < block->stmts.len; i++)
        if (block->stmts.data[i] == s) return true;
    return false;
}

// Puts what the additions of a branch become, which is taken where the condition is `when`, at the end of a block.
static void convert(Converter *z, Temp condition, const Block *branch, bool when, Block *to) {
    for (int i = 0; branch && i < branch->stmts.len; i++) {
        Stmt *add = branch->stmts.data[i];
        const Temp value = add->args[0];
        z->build.span = add->span;
        Temp none = build_literal(&z->build, to, add->buf->kind, 0);
        to->stmts.data[to->stmts.len - 1]->u.real = -0.0;
        Temp w = build_temp(&z->build, z->build.tree->temps.data[value]);
        build_stmt(&z->build, to, ST_SELECT, w, 3, (Temp[]){condition, when ? value : none, when ? none : value});
        add->args = arena_copy(z->build.arena, add->args, sizeof *add->args * (size_t)add->nargs);
        add->args[0] = w;
        vec_push(&to->stmts, add);
    }
}

static void convert_block(Converter *z, Stmt *const *def, int known, Block *block, bool in_loop) {
    Block to = {0};
    const int around = z->loads.len;
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_LOAD) vec_push(&z->loads, s);
        if (s->kind == ST_IF && in_loop && s->args[0] < known && is_of(block, def[s->args[0]]) && converts(z, def, s->body) &&
            converts(z, def, s->other) && tree_step(z->build.tree, s)) {
            convert(z, s->args[0], s->body, true, &to), convert(z, s->args[0], s->other, false, &to);
            continue;
        }
        vec_push(&to.stmts, s);
        const bool inner = s->kind == ST_FOR || s->kind == ST_LOOP || (in_loop && s->kind == ST_IF);
        convert_block(z, def, known, s->body, inner), convert_block(z, def, known, s->other, inner);
    }
    z->loads.len = around;
    if (block) vec_free(&block->stmts), *block = to;
}

void loops_if_convert(Arena *arena, Tree *tree, const LoopOptions *opt) {
    (void)opt;
    Converter z = {.build = {.arena = arena, .tree = tree}};
    const int known = tree->temps.len;
    Stmt **def = ARENA_ARRAY(arena, Stmt *, known + 1);
    tree_definitions(tree->body, def);
    convert_block(&z, def, known, tree->body, false);
    vec_free(&z.loads);
}
