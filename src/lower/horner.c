// Polynomials of a number with known coefficients, as derivatives of polynomials are: in the form of Horner, where that takes fewer
// operations than what is there and nothing else needs.
//
//     q = 0.5 x + 2; p = x q - 3; d = p + x (q + x 0.5)     becomes     d = (1.5 x + 4) x - 3
//
// Only with --fp=fast, since the last bits may differ. Sums are not multiplied with each other, so that what was computed from the
// differences of numbers that are near each other still is.
#include "lower/build.h"
#include "lower/internal.h"
#include "lower/loop_passes.h"

#include <math.h>
#include <string.h>

enum { DEGREE = 12, LONGEST = 2000 };

// Of x, the sum of c[k] x^k; a number if the degree is 0.
typedef struct Polynomial {
    Temp x;
    int degree;
    double c[DEGREE + 1];
} Polynomial;

typedef struct Horner {
    Builder b;
    Stmt **def;
    int *uses;         // by temp, in the tree
    Polynomial **poly; // by temp, of those that the block makes
    int *left;         // by temp: uses by what stays
    VEC(Temp) touched; // of which there are fewer of these
} Horner;

static const TempInfo *info(const Horner *z, Temp t) { return &z->b.tree->temps.data[t]; }

static Polynomial itself(Temp t) { return (Polynomial){.x = t, .degree = 1, .c = {0, 1}}; }

// An argument as a polynomial: that which it is, a number, or x itself.
static Polynomial argument(const Horner *z, Temp t) {
    const Stmt *s = z->def[t];
    if (s && s->kind == ST_LIT) return (Polynomial){.x = -1, .c = {s->u.real}};
    return z->poly[t] ? *z->poly[t] : itself(t);
}

static bool is_itself(const Polynomial *p) { return p->degree == 1 && p->c[0] == 0 && p->c[1] == 1; }

static bool scaled(const Polynomial *p, double by, Polynomial *out) {
    *out = *p;
    for (int k = 0; k <= p->degree; k++) {
        out->c[k] *= by;
        if (!out->c[k] != !p->c[k]) return false; // too small
    }
    return true;
}

static bool times_x(const Polynomial *p, const Polynomial *x, Polynomial *out) {
    if (!is_itself(x) || p->x != x->x || p->degree == DEGREE) return false;
    *out = (Polynomial){.x = p->x, .degree = p->degree + 1};
    for (int k = 0; k <= p->degree; k++) out->c[k + 1] = p->c[k];
    return true;
}

static bool product(const Polynomial *p, const Polynomial *q, Polynomial *out) {
    if (!p->degree) return q->degree && scaled(q, p->c[0], out);
    if (!q->degree) return scaled(p, q->c[0], out);
    return times_x(p, q, out) || times_x(q, p, out);
}

static bool sum(const Polynomial *p, const Polynomial *q, double sign, Polynomial *out) {
    if (p->degree && q->degree && p->x != q->x) return false;
    *out = p->degree >= q->degree ? *p : *q;
    for (int k = 0; k <= DEGREE; k++) out->c[k] = (k <= p->degree ? p->c[k] : 0) + sign * (k <= q->degree ? q->c[k] : 0);
    while (out->degree && out->c[out->degree] == 0) out->degree--;
    return out->degree > 0;
}

static bool combine(const Stmt *s, const Polynomial *p, const Polynomial *q, Polynomial *out) {
    static const Polynomial zero = {.x = -1};
    switch (s->op) {
    case OP_neg: return sum(&zero, p, -1, out);
    case OP_add: return sum(p, q, 1, out);
    case OP_sub: return sum(p, q, -1, out);
    case OP_mul: return product(p, q, out);
    default: return false;
    }
}

static bool is_finite(const Polynomial *p) {
    for (int k = 0; k <= p->degree; k++)
        if (!isfinite(p->c[k])) return false;
    return true;
}

// What it makes as a polynomial of degree 1 or more of what its arguments are polynomials of, or of one of these.
static bool polynomial(const Horner *z, const Stmt *s, Polynomial *out) {
    if (s->kind != ST_OP || !kind_is_float(info(z, s->dst)->kind)) return false;
    for (int own = 0; own < 1 << s->nargs; own++) {
        Polynomial arg[2] = {{.x = -1}, {.x = -1}};
        bool known = true;
        for (int k = 0; k < s->nargs; k++) {
            arg[k] = argument(z, s->args[k]);
            if (own >> k & 1) known &= z->poly[s->args[k]] != NULL, arg[k] = itself(s->args[k]);
        }
        if (known && combine(s, &arg[0], &arg[1], out) && is_finite(out)) return true;
    }
    return false;
}

static int operations(const Polynomial *p) {
    int n = p->degree - (p->c[p->degree] == 1);
    for (int k = 0; k < p->degree; k++) n += p->c[k] != 0;
    return n;
}

static void take_away(Horner *z, const Stmt *s) {
    for (int k = 0; k < s->nargs; k++) {
        z->left[s->args[k]]--;
        vec_push(&z->touched, s->args[k]);
    }
}

// How many operations nothing needs but that of the statement, which is one of them.
static int needed_alone(Horner *z, const Block *block, int at) {
    const Stmt *root = block->stmts.data[at];
    int n = 1;
    take_away(z, root);
    for (int i = at - 1; i >= 0; i--) {
        const Stmt *s = block->stmts.data[i];
        if (s->dst < 0 || !z->poly[s->dst] || z->poly[s->dst]->x != z->poly[root->dst]->x || z->left[s->dst] || !z->uses[s->dst])
            continue;
        take_away(z, s);
        n++;
    }
    return n;
}

static Temp number(Horner *z, Block *to, Kind kind, double value) {
    Temp t = build_literal(&z->b, to, kind, 0);
    to->stmts.data[to->stmts.len - 1]->u.real = value;
    return t;
}

// Puts the polynomial in the place of the statement, which makes it.
static void put(Horner *z, Block *block, int at) {
    Stmt *s = block->stmts.data[at];
    const Polynomial *p = z->poly[s->dst];
    Kind kind = info(z, s->dst)->kind;
    Block to = {0};
    z->b.span = s->span;
    Temp q = p->c[p->degree] == 1 ? p->x : build_op(&z->b, &to, kind, OP_mul, number(z, &to, kind, p->c[p->degree]), p->x);
    for (int k = p->degree - 1; k >= 0; k--) {
        if (p->c[k] != 0) q = build_op(&z->b, &to, kind, OP_add, q, number(z, &to, kind, p->c[k]));
        if (k) q = build_op(&z->b, &to, kind, OP_mul, q, p->x);
    }
    Stmt *last = to.stmts.data[--to.stmts.len];
    s->op = last->op, s->args = last->args, s->nargs = last->nargs;
    for (int i = 0; i < to.stmts.len; i++) block_insert(block, at++, to.stmts.data[i]);
    vec_free(&to.stmts);
}

static void find_polynomials(Horner *z, const Block *block) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        Polynomial p;
        if (s->dst < 0 || !polynomial(z, s, &p)) continue;
        z->poly[s->dst] = ARENA_NEW(z->b.arena, Polynomial);
        *z->poly[s->dst] = p;
    }
}

static void look(Horner *z, Block *block) {
    for (int i = 0; block && i < block->stmts.len; i++) {
        look(z, block->stmts.data[i]->body);
        look(z, block->stmts.data[i]->other);
    }
    if (!block || block->stmts.len > LONGEST) return;
    find_polynomials(z, block);
    for (int i = block->stmts.len - 1; i >= 0; i--) { // the last one first: what it needs alone is gone then
        const Temp dst = block->stmts.data[i]->dst;
        const Polynomial *p = dst >= 0 ? z->poly[dst] : NULL;
        if (!p || p->degree < 2 || !z->uses[dst]) continue;
        z->touched.len = 0;
        bool better = operations(p) < needed_alone(z, block, i) && tree_step(z->b.tree, block->stmts.data[i]);
        for (int k = 0; k < z->touched.len; k++) {
            const Temp t = z->touched.data[k];
            if (better) z->uses[t] = z->left[t];
            else z->left[t] = z->uses[t];
        }
        if (!better) continue;
        z->uses[p->x] += p->degree, z->left[p->x] += p->degree;
        put(z, block, i);
    }
}

void loops_horner(Arena *arena, Tree *tree, const LoopOptions *opt) {
    (void)opt;
    Horner z = {.b = {.arena = arena, .tree = tree}};
    const int temps = tree->temps.len;
    z.def = ARENA_ARRAY(arena, Stmt *, temps + 1);
    z.uses = ARENA_ARRAY(arena, int, temps + 1), z.left = ARENA_ARRAY(arena, int, temps + 1);
    z.poly = ARENA_ARRAY(arena, Polynomial *, temps + 1);
    tree_definitions(tree->body, z.def);
    tree_uses(tree->body, z.uses);
    memcpy(z.left, z.uses, sizeof *z.left * (size_t)temps);
    look(&z, tree->body);
    vec_free(&z.touched);
    lower_remove_dead(arena, tree);
}
