// Triangles of matrices: what is zero in an array, or is not asked for.
#include "lower/effects.h"
#include "lower/product.h"

typedef struct Looker {
    Stmt *const *def;
    const Buf *b;
    const Stmt *product; // which may access it
    Triangle *t;
    bool any;
} Looker;

// Is t the index plus a number, that is not negative, and so small that sums with it do not wrap around?
static bool is_plus(Stmt *const *def, Temp t, Temp index, int64_t *plus) {
    const int64_t most = INT32_MAX;
    const Stmt *s = def[t];
    *plus = 0;
    if (t == index) return true;
    if (!s || s->kind != ST_OP || s->op != OP_add) return false;
    for (int k = 0; k < 2; k++) {
        const Stmt *n = def[s->args[1 - k]];
        if (s->args[k] == index && n && n->kind == ST_LIT && n->u.num >= 0 && n->u.num <= most) return *plus = n->u.num, true;
    }
    return false;
}

// Which of the indices is less than another one plus a number, as `less` < `bound` says?
static bool find_pair(Stmt *const *def, const Buf *b, const Temp *index, Temp less, Temp bound, Triangle *t) {
    for (t->column = 0; t->column < b->rank; t->column++)
        for (t->row = 0; t->row < b->rank; t->row++)
            if (index[t->column] == less && t->row != t->column && is_plus(def, bound, index[t->row], &t->plus)) return true;
    return false;
}

static bool is_zero(Stmt *const *def, Temp t) { return def[t] && def[t]->kind == ST_LIT && def[t]->u.real == 0; }

// b[…] = c, after c = 0; if (less < bound) { c = …; }
static bool stores_triangle(const Looker *z, const Block *b, const Stmt *store) {
    const Stmt *get = z->def[store->args[0]], *cell = NULL, *branch = NULL;
    if (store->kind != ST_STORE || !get || get->kind != ST_GET) return false;
    for (int i = 0; i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        if (s->kind == ST_CELL && s->dst == get->args[0]) cell = s;
        else if (s->kind == ST_IF && !branch && (!s->other || !s->other->stmts.len)) branch = s;
        else if (s != store && !stmt_is_plain(s)) return false;
    }
    const Stmt *set = branch ? block_only_effect(branch->body) : NULL, *less = branch ? z->def[branch->args[0]] : NULL;
    return cell && is_zero(z->def, cell->args[0]) && set && set->kind == ST_SET && set->dst == cell->dst && less &&
           less->kind == ST_OP && less->op == OP_lt && find_pair(z->def, z->b, store->args + 1, less->args[0], less->args[1], z->t);
}

// All that is stored is one such element, but for what is 0 everywhere.
static bool look_for_zeros(Looker *z, const Block *b) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        bool own = s->src == z->b;
        for (int k = 0; k < s->nin; k++) own |= s->in[k] == z->b;
        if (own) return false;
        if (s->buf == z->b && s->kind != ST_NEW && s->kind != ST_LOAD && !(s->kind == ST_FILL && is_zero(z->def, s->args[0]))) {
            if (z->any || !stores_triangle(z, b, s)) return false;
            z->any = true;
        }
        if (!look_for_zeros(z, s->body) || !look_for_zeros(z, s->other)) return false;
    }
    return true;
}

bool triangle_of_zeros(const Block *all, Stmt *const *def, const Buf *b, Triangle *t) {
    Looker z = {.def = def, .b = b, .t = t};
    return b->where == BUF_TEMP && look_for_zeros(&z, all) && z.any;
}

// All that is read is where less < bound, of which these are those around: of loops and conditions.
typedef struct Around {
    Temp less, bound;
    const struct Around *next;
} Around;

static bool look_for_reads(Looker *z, const Block *b, const Around *around) {
    for (int i = 0; b && i < b->stmts.len; i++) {
        const Stmt *s = b->stmts.data[i];
        bool own = s->src == z->b || (s->buf == z->b && s->kind != ST_NEW && s->kind != ST_FILL && s->kind != ST_LOAD);
        for (int k = 0; k < s->nin; k++) own |= s->in[k] == z->b;
        if (s == z->product) continue;
        if (own) return false;
        if (s->buf == z->b && s->kind == ST_LOAD) {
            Triangle t;
            bool found = false;
            for (const Around *a = around; a && !found; a = a->next)
                found = find_pair(z->def, z->b, s->args, a->less, a->bound, &t);
            if (!found || (z->any && (t.row != z->t->row || t.column != z->t->column || t.plus != z->t->plus))) return false;
            *z->t = t, z->any = true;
        }
        const Stmt *less = s->kind == ST_IF ? z->def[s->args[0]] : NULL;
        const bool lt = less && less->kind == ST_OP && less->op == OP_lt, loop = s->kind == ST_FOR && s->nargs == 1;
        const Around inside = {lt ? less->args[0] : s->dst, lt ? less->args[1] : loop ? s->args[0] : -1, around};
        if (!look_for_reads(z, s->body, lt || loop ? &inside : around) || !look_for_reads(z, s->other, around)) return false;
    }
    return true;
}

bool triangle_asked_for(const Block *all, Stmt *const *def, const Buf *b, const Stmt *product, Triangle *t) {
    Looker z = {.def = def, .b = b, .product = product, .t = t};
    return b->where == BUF_TEMP && look_for_reads(&z, all, NULL) && z.any;
}
