// Quotients in a loop whose divisors are powers of the same numbers, or products of these, as those by z and by z * z, or by a root
// s = sqrt(y) and, beside it, by y, which is not negative, and y s: one division for each number, 1 / z, is enough, and the rest
// are products. Only with
// --fp=fast, since the last bits may differ.
#include "lower/internal.h"
#include "lower/loop_passes.h"

enum { HIGHEST = 4, PARTS = 3 }; // power of 1 / z; numbers in a product

// A divisor: the product of base[k] to the power[k]. The base of y is sqrt(y), where there is that.
typedef struct Divisor {
    Temp t;
    Span span; // of the first quotient
    int n;
    Temp base[PARTS];
    int power[PARTS];
    bool converted;
} Divisor;

typedef struct Base {
    Temp t;
    Stmt *root;              // that it is and that is not there yet, or NULL
    Stmt *moved;             // the root, if it had to come earlier
    Span span;               // of the first quotient by it
    bool taken;              // 1 / t is computed
    Temp power[HIGHEST + 1]; // of 1 / t, + 1; 0: not there yet
} Base;

typedef struct Inverter {
    Arena *arena;
    Tree *tree;
    Stmt **def; // by temp
    int *root;  // by temp, in a block: which statement is the root of it, + 1
    int *base;  // by temp: which base it is, + 1
    int known;  // how many temps there were
    VEC(Divisor) divisors;
    VEC(Base) bases;
} Inverter;

// Is it certain not to be negative? Otherwise its root, which may be there for some other case only, says nothing of it.
static bool not_negative(const Inverter *z, Temp t, int depth) {
    enum { DEEP = 12 };
    const Stmt *s = t < z->known ? z->def[t] : NULL;
    if (!s || depth == DEEP) return false;
    if (s->kind == ST_LIT) return s->u.real >= 0;
    switch (s->op) {
    case OP_exp:
    case OP_abs:
    case OP_sqrt: return true;
    case OP_max: return not_negative(z, s->args[0], depth + 1) || not_negative(z, s->args[1], depth + 1);
    case OP_mul:
        if (s->args[0] == s->args[1]) return true;
        // fall through
    case OP_add:
    case OP_div: return not_negative(z, s->args[0], depth + 1) && not_negative(z, s->args[1], depth + 1);
    default: return false;
    }
}

// Adds the factors of t to the divisor. Fails if they are too many.
static bool factors(const Inverter *z, const Block *block, Divisor *d, Temp t) {
    const Stmt *s = t < z->known ? z->def[t] : NULL;
    int power = 1, k = 0;
    if (t < z->known && z->root[t] && not_negative(z, t, 0)) t = block->stmts.data[z->root[t] - 1]->dst, power = 2;
    else if (s && s->kind == ST_OP && s->op == OP_mul) return factors(z, block, d, s->args[0]) && factors(z, block, d, s->args[1]);
    while (k < d->n && d->base[k] != t) k++;
    if (k == PARTS || (k < d->n ? d->power[k] : 0) + power > HIGHEST) return false;
    if (k == d->n) d->base[k] = t, d->power[k] = 0, d->n++;
    d->power[k] += power;
    return true;
}

static bool is_quotient(const Inverter *z, const Stmt *s) {
    return s->kind == ST_OP && s->op == OP_div && kind_is_float(z->tree->temps.data[s->dst].kind);
}

static Divisor *divisor_of(const Inverter *z, const Stmt *s) {
    for (int i = 0; is_quotient(z, s) && i < z->divisors.len; i++)
        if (z->divisors.data[i].t == s->args[1]) return &z->divisors.data[i];
    return NULL;
}

static void list(Inverter *z, const Block *block) {
    enum { MOST = 200 };
    z->divisors.len = z->bases.len = 0;
    for (int i = 0; i < block->stmts.len && z->divisors.len < MOST; i++) {
        const Stmt *s = block->stmts.data[i];
        Divisor d = {.t = is_quotient(z, s) ? s->args[1] : -1, .span = s->span};
        if (d.t >= 0 && !divisor_of(z, s) && factors(z, block, &d, d.t)) vec_push(&z->divisors, d);
    }
    for (int i = 0; i < z->divisors.len; i++) { // a number is a base if a power of it alone is a divisor
        const Divisor *d = &z->divisors.data[i];
        Temp t = d->base[0];
        if (d->n > 1 || z->base[t]) continue;
        Stmt *s = t < z->known ? z->def[t] : NULL;
        bool root =
            s && s->kind == ST_OP && s->op == OP_sqrt && z->root[s->args[0]] && block->stmts.data[z->root[s->args[0]] - 1] == s;
        vec_push(&z->bases, ((Base){.t = t, .root = root ? s : NULL, .span = d->span, .taken = true}));
        z->base[t] = z->bases.len;
    }
}

static bool is_converted(const Inverter *z, const Divisor *d) {
    for (int k = 0; k < d->n; k++)
        if (!z->base[d->base[k]] || !z->bases.data[z->base[d->base[k]] - 1].taken) return false;
    return true;
}

// Which of the bases save divisions: those of several divisors of which all bases are taken.
static bool pays(Inverter *z) {
    bool changed = true, any = false;
    while (changed) {
        changed = any = false;
        for (int i = 0; i < z->divisors.len; i++) z->divisors.data[i].converted = is_converted(z, &z->divisors.data[i]);
        for (int i = 0; i < z->bases.len; i++) {
            Base *b = &z->bases.data[i];
            int uses = 0;
            for (int j = 0; j < z->divisors.len && b->taken; j++) {
                const Divisor *d = &z->divisors.data[j];
                for (int k = 0; k < d->n && d->converted; k++) uses += d->base[k] == b->t;
            }
            changed |= b->taken && uses < 2;
            b->taken &= uses > 1;
            any |= b->taken;
        }
    }
    return any;
}

static Temp append(Inverter *z, Block *to, StmtKind kind, Op op, Temp x, Temp y, Kind of, Span span) {
    vec_push(&z->tree->temps, ((TempInfo){.kind = of}));
    Temp args[] = {x, y};
    Stmt *s = tree_stmt(z->arena, kind, z->tree->temps.len - 1, kind == ST_LIT ? 0 : 2, args, span);
    s->op = op;
    if (kind == ST_LIT) s->u.real = 1;
    vec_push(&to->stmts, s);
    return s->dst;
}

// 1 / base to the power n, which is made where it is needed first: what waits for later uses takes registers.
static Temp power_of(Inverter *z, Block *to, Base *b, int n) {
    Kind kind = z->tree->temps.data[b->t].kind;
    if (b->power[n]) return b->power[n] - 1;
    if (b->root) vec_push(&to->stmts, b->root), b->moved = b->root, b->root = NULL;
    Temp t = n == 1 ? append(z, to, ST_LIT, OP_lit, 0, 0, kind, b->span) : power_of(z, to, b, n / 2);
    t = append(z, to, ST_OP, n == 1 ? OP_div : OP_mul, t, n == 1 ? b->t : power_of(z, to, b, n - n / 2), kind, b->span);
    b->power[n] = t + 1;
    return t;
}

static bool is_there(Inverter *z, const Stmt *s) {
    bool moved = false;
    for (int k = 0; k < z->bases.len; k++) {
        Base *b = &z->bases.data[k];
        moved |= b->moved == s;
        if (b->root == s) b->root = NULL; // it stays
    }
    return moved;
}

static void convert(Inverter *z, Block *block) {
    Block to = {0};
    for (int i = 0; i < block->stmts.len; i++) {
        Stmt *s = block->stmts.data[i];
        const Divisor *d = divisor_of(z, s);
        Temp by = -1;
        for (int k = 0; d && d->converted && k < d->n; k++) {
            Temp power = power_of(z, &to, &z->bases.data[z->base[d->base[k]] - 1], d->power[k]);
            by = by < 0 ? power : append(z, &to, ST_OP, OP_mul, by, power, z->tree->temps.data[s->dst].kind, s->span);
        }
        if (by >= 0) s->op = OP_mul, s->args[1] = by;
        if (!is_there(z, s)) vec_push(&to.stmts, s);
    }
    vec_free(&block->stmts);
    *block = to;
}

static void invert_in(Inverter *z, Block *block) {
    for (int i = 0; i < block->stmts.len; i++) {
        const Stmt *s = block->stmts.data[i];
        if (s->kind == ST_OP && s->op == OP_sqrt && s->args[0] < z->known && !z->root[s->args[0]]) z->root[s->args[0]] = i + 1;
    }
    list(z, block);
    for (int i = 0; i < block->stmts.len; i++)
        if (block->stmts.data[i]->kind == ST_OP && block->stmts.data[i]->op == OP_sqrt) z->root[block->stmts.data[i]->args[0]] = 0;
    if (pays(z) && tree_step(z->tree, block->stmts.data[0])) convert(z, block);
    for (int i = 0; i < z->bases.len; i++) z->base[z->bases.data[i].t] = 0;
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
        Stmt *s = block->stmts.data[i];
        if (s->kind == ST_OP || s->kind == ST_LIT) z->def[s->dst] = s;
        note(z, s->body);
        note(z, s->other);
    }
}

void loops_inverse(Arena *arena, Tree *tree, const LoopOptions *opt) {
    (void)opt;
    Inverter z = {.arena = arena, .tree = tree, .known = tree->temps.len};
    z.def = ARENA_ARRAY(arena, Stmt *, tree->temps.len + 1);
    z.root = ARENA_ARRAY(arena, int, tree->temps.len + 1);
    z.base = ARENA_ARRAY(arena, int, tree->temps.len + 1);
    note(&z, tree->body);
    look(&z, tree->body, false);
    if (tree->temps.len > z.known) lower_remove_dead(arena, tree); // products that were divisors
    vec_free(&z.divisors);
    vec_free(&z.bases);
}
