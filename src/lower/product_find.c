// Is a nest of loops a product of matrices, or the like with another function in the place of the multiplication? It is one of
// three loops, the innermost of which adds up, with indices that are affine in the three. Beside the second loop there may be a sum
// of one factor or of the results.
#include "lower/effects.h"
#include "lower/product.h"
#include "support/map.h"

enum { VARS = 3, I = 0, J = 1, K = 2, BUDGET = 64 };

typedef struct Finder {
    Stmt *const *def;
    Map made;
    Temp var[VARS + 1]; // the last: of the batch, or of what is added up in each iteration of, or -1
} Finder;

// The indices in which t is affine, as bits; -1 if it is not.
static int affine(const Finder *z, Temp t) {
    if (!map_get(&z->made, (void *)((intptr_t)t + 1))) return 0;
    for (int v = 0; v <= VARS; v++)
        if (z->var[v] == t) return 1 << v;
    const Stmt *s = z->def[t];
    if (s->kind == ST_LIT || s->kind == ST_ARG) return 0;
    if (s->kind != ST_OP || s->nargs != 2) return -1;
    int x = affine(z, s->args[0]), y = affine(z, s->args[1]);
    if (x < 0 || y < 0) return -1;
    if (s->op == OP_add || s->op == OP_sub || (s->op == OP_mul && (!x || !y))) return x | y;
    return x | y ? -1 : 0;
}

// The same of all indices of an element, but for that of the batch, or the like.
static int affine_indices(const Finder *z, const Stmt *s) {
    int all = 0;
    for (const Temp *t = stmt_index(s); t < s->args + s->nargs; t++) {
        int of = affine(z, *t);
        if (of < 0) return -1;
        all |= of & ~(1 << VARS);
    }
    return all;
}

// The effects of a block, of which there are n.
static bool effects(const Block *b, int n, Stmt **out) {
    int k = 0;
    for (int i = 0; i < b->stmts.len; i++) {
        if (stmt_is_plain(b->stmts.data[i])) continue;
        if (k == n) return false;
        out[k++] = b->stmts.data[i];
    }
    return k == n;
}

static const Stmt *def_of(const Finder *z, Temp t, StmtKind kind) {
    return z->def[t] && z->def[t]->kind == kind ? z->def[t] : NULL;
}

// Finds the elements that the term is a function of.
static bool find_elements(const Finder *z, Temp t, Product *p, int *budget) {
    Stmt *s = z->def[t];
    if (!map_get(&z->made, (void *)((intptr_t)t + 1))) return true;
    if (!s || --*budget < 0) return false;
    if (s->kind == ST_LOAD) {
        int of = affine_indices(z, s);
        Stmt **at = of == (1 << I | 1 << K) ? &p->left : of == (1 << J | 1 << K) ? &p->right : NULL;
        if (!at || (*at && *at != s)) return false;
        *at = s;
        return true;
    }
    if (s->kind != ST_LIT && s->kind != ST_OP && s->kind != ST_SELECT) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!find_elements(z, s->args[k], p, budget)) return false;
    return true;
}

// Finds the elements that the factor is made of, with indices of its row (I or J) and k. Of FACTOR_ARRAYS, at most, there is one
// for each row and column.
static bool find_leaves(const Finder *z, Temp t, int row, ProductFactor *f, int *arrays, int *budget) {
    Stmt *s = z->def[t];
    if (!map_get(&z->made, (void *)((intptr_t)t + 1))) return true;
    if (!s || --*budget < 0) return false;
    if (s->kind == ST_LOAD) {
        const int of = affine_indices(z, s);
        for (int k = 0; k < f->n; k++)
            if (f->leaf[k] == s) return true;
        if (of < 0 || (of & ~(1 << row | 1 << K)) || s->buf->kind != KIND_DOUBLE || f->n == FACTOR_LEAVES) return false;
        f->of[f->n] = (of & 1 << row ? OF_ROW : 0) | (of & 1 << K ? OF_COLUMN : 0);
        *arrays += f->of[f->n] == (OF_ROW | OF_COLUMN);
        f->leaf[f->n++] = s;
        return *arrays <= FACTOR_ARRAYS;
    }
    if (s->kind != ST_LIT && s->kind != ST_OP && s->kind != ST_SELECT) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!find_leaves(z, s->args[k], row, f, arrays, budget)) return false;
    return true;
}

static int depends_on(const ProductFactor *f) {
    int all = 0;
    for (int k = 0; k < f->n; k++) all |= f->of[k];
    return all;
}

// The factors of a term that are made of several elements.
static bool find_factors(const Finder *z, const Stmt *mul, Product *p) {
    for (int a = 0; a < 2 && mul->op == OP_mul && p->to->buf->kind == KIND_DOUBLE; a++) {
        int arrays = 0, budget = BUDGET;
        p->rows = (ProductFactor){.value = mul->args[a]}, p->columns = (ProductFactor){.value = mul->args[1 - a]};
        if (!find_leaves(z, p->rows.value, I, &p->rows, &arrays, &budget) ||
            !find_leaves(z, p->columns.value, J, &p->columns, &arrays, &budget) || depends_on(&p->rows) != (OF_ROW | OF_COLUMN) ||
            depends_on(&p->columns) != (OF_ROW | OF_COLUMN))
            continue;
        bool own = false;
        for (int k = 0; k < p->rows.n; k++) own |= p->rows.leaf[k]->buf == p->to->buf;
        for (int k = 0; k < p->columns.n; k++) own |= p->columns.leaf[k]->buf == p->to->buf;
        p->left = p->right = NULL, p->term = -1;
        return !own && affine_indices(z, p->to) == (1 << I | 1 << J);
    }
    return false;
}

// ---- sums beside a product

// Is b, where `at` is what `index` is for a, computed as a is, and from the same?
static bool is_same(const Finder *z, Temp a, Temp index, Temp b, Temp at, int *budget) {
    if (a == index || b == at) return a == index && b == at;
    if (a == b) return true;
    const Stmt *s = z->def[a], *t = z->def[b];
    if (!s || !t || --*budget < 0 || s->kind != t->kind || s->nargs != t->nargs) return false;
    if (s->kind == ST_LIT) return s->u.num == t->u.num && !s->nargs;
    if ((s->kind != ST_OP || s->op != t->op) && (s->kind != ST_LOAD || s->buf != t->buf) && s->kind != ST_SELECT) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!is_same(z, s->args[k], index, t->args[k], at, budget)) return false;
    return true;
}

// Is t, in the loop of the sum, an element of what is summed up?
static bool is_leaf(const Finder *z, const Product *p, const Stmt *loop, SumOf of, Temp t) {
    const Stmt *s = z->def[t];
    int budget = BUDGET;
    if (of == SUM_OF_FACTORS) return is_same(z, p->rows.value, p->loop[K]->dst, t, loop->dst, &budget);
    if (!s || s->kind != ST_LOAD || s->buf != p->to->buf) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!is_same(z, stmt_index(p->to)[k], p->loop[J]->dst, s->args[k], loop->dst, &budget)) return false;
    return true;
}

// Finds the one element that t is a function of.
static bool find_leaf(const Finder *z, Product *p, const Stmt *loop, Temp t, int *budget) {
    Stmt *s = z->def[t];
    if (!map_get(&z->made, (void *)((intptr_t)t + 1))) return true;
    if (!s || --*budget < 0) return false;
    if (is_leaf(z, p, loop, p->sum.of, t)) {
        if (p->sum.leaf && p->sum.leaf != s) return false;
        p->sum.leaf = s;
        return true;
    }
    if (s->kind != ST_LIT && s->kind != ST_OP && s->kind != ST_SELECT) return false;
    for (int k = 0; k < s->nargs; k++)
        if (!find_leaf(z, p, loop, s->args[k], budget)) return false;
    return true;
}

// Has each iteration of the loop, if there is one, elements of its own?
static bool is_apart(const Stmt *s, const Stmt *loop) { return !loop || stmt_has_index(s, loop->dst); }

static bool has_leaf(const ProductFactor *f, const Buf *b) {
    for (int k = 0; k < f->n; k++)
        if (f->leaf[k]->buf == b) return true;
    return false;
}

// c = 0; for … { c = c + value }; to[…] = c, where iterations of the loops around have places of their own.
static bool find_sum(const Finder *z, Product *p, Stmt *const e[3]) {
    ProductSum *sum = &p->sum;
    Stmt *set;
    sum->to = e[2];
    if (e[0]->kind != ST_CELL || e[1]->kind != ST_FOR || e[1]->nargs > 1 || (e[2]->kind != ST_STORE && e[2]->kind != ST_ADDTO) ||
        !effects(e[1]->body, 1, &set) || set->kind != ST_SET || set->dst != e[0]->dst)
        return false;
    const Stmt *zero = def_of(z, e[0]->args[0], ST_LIT), *get = def_of(z, e[2]->args[0], ST_GET),
               *add = def_of(z, set->args[0], ST_OP);
    const Buf *to = e[2]->buf;
    if (!zero || zero->u.real != 0 || !get || get->args[0] != e[0]->dst || !add || add->op != OP_add || to->kind != KIND_DOUBLE ||
        to == p->to->buf || has_leaf(&p->rows, to) || has_leaf(&p->columns, to))
        return false;
    if (e[2]->nargs != (p->batch ? 3 : 2) || !is_apart(e[2], p->loop[I]) || !is_apart(e[2], p->batch)) return false;
    for (int k = 0; k < 2; k++) {
        const Stmt *before = def_of(z, add->args[k], ST_GET);
        if (!before || before->args[0] != e[0]->dst) continue;
        sum->value = add->args[1 - k];
        for (sum->of = SUM_OF_FACTORS; sum->of <= SUM_OF_RESULTS; sum->of++) {
            const Stmt *like = p->loop[sum->of == SUM_OF_FACTORS ? K : J];
            sum->leaf = NULL;
            if (e[1]->args[0] == like->args[0] && find_leaf(z, p, e[1], sum->value, &(int){BUDGET}) && sum->leaf) return true;
        }
    }
    return false;
}

// Has each iteration of the product's loops, but for that over k, an element of its own of the result?
static bool has_own_places(const Product *p) {
    return is_apart(p->to, p->loop[I]) && is_apart(p->to, p->loop[J]) && is_apart(p->to, p->batch);
}

static bool find(Finder *z, Product *p) {
    Stmt *e[3], *set, *beside[4] = {NULL};
    p->term = -1;
    if (!effects(p->loop[I]->body, 1, beside) && !effects(p->loop[I]->body, 4, beside)) return false;
    const bool has_sum = beside[1];
    p->loop[J] = beside[0];
    if (p->loop[J]->kind != ST_FOR || p->loop[J]->nargs > 1 || p->loop[I]->nargs > 1) return false;
    if (!effects(p->loop[J]->body, 3, e) || e[0]->kind != ST_CELL || e[1]->kind != ST_FOR || e[1]->nargs > 1) return false;
    p->loop[K] = e[1], p->to = e[2];
    if ((e[2]->kind != ST_STORE && e[2]->kind != ST_ADDTO) || !effects(e[1]->body, 1, &set)) return false;
    if (set->kind == ST_FOR && set->nargs == 1 && !p->batch && !has_sum) {
        p->over = e[1], p->loop[K] = set;
        if (!effects(p->loop[K]->body, 1, &set)) return false;
    }
    if (set->kind != ST_SET || set->dst != e[0]->dst) return false;
    const Stmt *zero = def_of(z, e[0]->args[0], ST_LIT), *value = def_of(z, e[2]->args[0], ST_GET),
               *sum = def_of(z, set->args[0], ST_OP);
    if (!zero || zero->u.real != 0 || !value || value->args[0] != e[0]->dst || !sum || sum->op != OP_add) return false;
    for (int k = 0; k < VARS; k++) z->var[k] = p->loop[k]->dst;
    z->var[VARS] = p->batch ? p->batch->dst : p->over ? p->over->dst : -1;
    for (int k = 0; k < VARS; k++)
        if (affine(z, p->loop[k]->args[0]) || (p->over && affine(z, p->over->args[0]))) return false;
    for (int k = 0; k < 2; k++) {
        const Stmt *get = def_of(z, sum->args[k], ST_GET), *mul = def_of(z, sum->args[1 - k], ST_OP);
        if (!get || get->args[0] != e[0]->dst || !mul) continue;
        if (has_sum) return find_factors(z, mul, p) && has_own_places(p) && find_sum(z, p, beside + 1);
        bool product = mul->op == OP_mul && def_of(z, mul->args[0], ST_LOAD) && def_of(z, mul->args[1], ST_LOAD) &&
                       mul->args[0] != mul->args[1];
        if (product) p->left = z->def[mul->args[0]], p->right = z->def[mul->args[1]];
        else if (find_elements(z, p->term = sum->args[1 - k], p, &(int){BUDGET}) && p->left && p->right) product = true;
        if (!product) return find_factors(z, mul, p);
        if (affine_indices(z, p->left) == (1 << J | 1 << K)) p->left = z->def[mul->args[1]], p->right = z->def[mul->args[0]];
        const Kind kind = p->to->buf->kind;
        return affine_indices(z, p->left) == (1 << I | 1 << K) && affine_indices(z, p->right) == (1 << J | 1 << K) &&
               affine_indices(z, p->to) == (1 << I | 1 << J) && kind_is_float(kind) && p->left->buf->kind == kind &&
               p->right->buf->kind == kind && p->to->buf != p->left->buf && p->to->buf != p->right->buf;
    }
    return false;
}

Stmt **product_definitions(Arena *arena, const Tree *tree, Block *const *scope, int nscope, Stmt *nest) {
    Stmt **def = ARENA_ARRAY(arena, Stmt *, tree->temps.len + 1);
    const Block one = {.stmts = {.data = &nest, .len = nest ? 1 : 0}};
    tree_definitions(tree->body, def);
    for (int k = 0; k < nscope; k++) tree_definitions(scope[k], def);
    tree_definitions(&one, def);
    return def;
}

bool product_find(Stmt *const *def, Stmt *loop, Product *out) {
    Finder z = {.def = def};
    *out = (Product){.loop = {loop}};
    map_put(&z.made, (void *)((intptr_t)loop->dst + 1), (void *)1);
    block_note_made(&z.made, loop->body);
    bool found = find(&z, out);
    if (!found && loop->nargs == 1) {
        *out = (Product){.batch = loop};
        found = effects(loop->body, 1, &out->loop[0]) && out->loop[0]->kind == ST_FOR && find(&z, out);
    }
    map_free(&z.made);
    return found;
}
