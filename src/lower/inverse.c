// Quotients by a root s = sqrt(y) and, beside them, by y, y s and the like: one division, 1 / s, is enough for all of them, and
// the rest are products. Only with --fp=fast, since the last bits may differ.
#include "lower/internal.h"

enum { HIGHEST = 4 }; // power of 1 / s

typedef struct Inverter {
    Arena *arena;
    Tree *tree;
    const Stmt **def; // by temp
    int known;        // how many temps there were
    const Stmt *root; // s = sqrt(y)
    Temp power[HIGHEST + 1]; // of 1 / s, -1: not there yet
} Inverter;

static const Stmt *operation(const Inverter *z, Temp t, Op op) {
    const Stmt *s = t < z->known ? z->def[t] : NULL;
    return s && s->kind == ST_OP && s->op == op ? s : NULL;
}

// Which power of s the temp is as a product; 0: none.
static int power_of(const Inverter *z, Temp t, int fuel) {
    if (t == z->root->dst) return 1;
    if (t == z->root->args[0]) return 2;
    const Stmt *s = fuel ? operation(z, t, OP_mul) : NULL;
    int x = s ? power_of(z, s->args[0], fuel - 1) : 0, y = x ? power_of(z, s->args[1], fuel - 1) : 0;
    return y && x + y <= HIGHEST ? x + y : 0;
}

static int power_by(const Inverter *z, const Stmt *s) {
    return s->kind == ST_OP && s->op == OP_div ? power_of(z, s->args[1], HIGHEST) : 0;
}

static Temp append(Inverter *z, Block *to, StmtKind kind, Op op, Temp x, Temp y) {
    vec_push(&z->tree->temps, ((TempInfo){.kind = z->tree->temps.data[z->root->dst].kind}));
    Stmt *s = ARENA_NEW(z->arena, Stmt);
    Temp args[] = {x, y};
    *s = (Stmt){.kind = kind, .op = op, .dst = z->tree->temps.len - 1, .nargs = kind == ST_LIT ? 0 : 2, .span = z->root->span};
    s->args = arena_copy(z->arena, args, sizeof args);
    if (kind == ST_LIT) s->u.real = 1;
    vec_push(&to->stmts, s);
    return s->dst;
}

// Do quotients after statement i of the block have different powers of its root as divisors? Sets the highest.
static bool pays(const Inverter *z, const Block *block, int i, int *highest) {
    bool differ = false;
    *highest = 0;
    for (i++; i < block->stmts.len; i++) {
        int n = power_by(z, block->stmts.data[i]);
        differ |= n && *highest && n != *highest;
        if (n > *highest) *highest = n;
    }
    return differ;
}

static void invert_in(Inverter *z, Block *block) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *root = block->stmts.data[i];
        int highest;
        if (root->kind != ST_OP || root->op != OP_sqrt) continue;
        z->root = root;
        if (!pays(z, block, i, &highest)) continue;
        Block to = {0};
        for (int k = 0; k <= i; k++) vec_push(&to.stmts, block->stmts.data[k]);
        z->power[1] = append(z, &to, ST_OP, OP_div, append(z, &to, ST_LIT, OP_lit, 0, 0), root->dst);
        for (int n = 2; n <= highest; n++) z->power[n] = append(z, &to, ST_OP, OP_mul, z->power[n - 1], z->power[1]);
        for (int k = i + 1; k < block->stmts.len; k++) {
            Stmt *s = block->stmts.data[k];
            int n = power_by(z, s);
            if (n) s->op = OP_mul, s->args[1] = z->power[n];
            vec_push(&to.stmts, s);
        }
        vec_free(&block->stmts);
        *block = to;
    }
}

static void look(Inverter *z, Block *block, bool repeated) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        look(z, s->body, repeated || s->kind == ST_FOR || s->kind == ST_LOOP);
        look(z, s->other, repeated);
    }
    if (block && repeated) invert_in(z, block);
}

static void note(Inverter *z, const Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_OP) z->def[s->dst] = s;
        note(z, s->body);
        note(z, s->other);
    }
}

void lower_inverses(Arena *arena, Tree *tree) {
    Inverter z = {.arena = arena, .tree = tree, .known = tree->temps.len};
    z.def = ARENA_ARRAY(arena, const Stmt *, tree->temps.len + 1);
    note(&z, tree->body);
    look(&z, tree->body, false);
}
