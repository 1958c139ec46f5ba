#include "ad/pattern.h"

#include "support/vec.h"

enum {
    MAX_TERMS = 8,  // of a sum that is written out
    MAX_BLOCKS = 32 // blocks of one argument; each is compared with each
};

// ---- elements of arrays

int ad_small(int n, Node *const *extents, int max) {
    int64_t product = 1, extent;
    for (int k = 0; k < n; k++) {
        if (!ir_is_int_lit(extents[k], &extent) || extent > max) return -1;
        product *= extent > 0 ? extent : 0;
        if (product > max) return -1;
    }
    return (int)product;
}

void ad_unflatten(Ir *m, int n, Node *const *extents, int k, Node **idx) {
    for (int d = n; d-- > 0; k /= (int)extents[d]->u.num) idx[d] = ir_int(m, k % extents[d]->u.num);
}

Node *ad_element(Ir *m, Node *a, int n, Node **idx) {
    Node *from[16];
    int d = 0;
    for (; d < n && a->op == OP_gen; d++, a = a->args[0]) from[d] = ir_var(a->u.var);
    return ir_at(m, d ? ir_subst(m, a, d, from, idx) : a, n - d, idx + d);
}

typedef struct Look {
    const Row *r;
    Map seen;
} Look;

static bool read_through(const Look *s, const Node *e) {
    bool constant = true;
    for (int k = 1; k < e->nargs; k++) {
        int64_t i;
        if (varset_meets(e->args[k]->fv, s->r->vars)) return true;
        constant &= ir_is_int_lit(e->args[k], &i);
    }
    return constant;
}

// The sum over a variable with a small constant extent, term by term.
static Node *written_out(Ir *m, Node *e) {
    int64_t n, k = 0;
    if (!ir_is_int_lit(e->u.var->extent, &n) || n < 1 || n > MAX_TERMS) return e;
    Node *from = ir_var(e->u.var), *total = ir_subst1(m, e->args[0], from, ir_int(m, k));
    while (++k < n) total = ir_add(m, total, ir_subst1(m, e->args[0], from, ir_int(m, k)));
    return total;
}

// Reads through arrays at places that depend on the row, or are constants: (gen i e)[a] is e at a. Short sums of what
// depends on the row become additions, so that the derivative of a row of small vectors is one of numbers. An array that
// all rows share at the same places stays.
static Node *look(Node *e, void *data) {
    Look *s = data;
    Ir *m = s->r->m;
    if (!varset_meets(e->fv, s->r->vars)) return e;
    Node *known = map_get(&s->seen, e);
    if (known) return known;
    Node *out = ir_map(m, e, look, s);
    Node *to = out;
    if (out->op == OP_at && out->args[0]->op == OP_gen && read_through(s, out))
        to = ad_element(m, out->args[0], out->nargs - 1, out->args + 1);
    else if (out->op == OP_sum && out->rank == 0) to = written_out(m, out);
    if (to != out) to = look(to, s);
    map_put(&s->seen, e, to);
    return to;
}

typedef struct Still {
    const Row *r;
    Map seen;
} Still;

// Puts r->still for the arguments in conditions, indices and stopped values, which are not read in the sense of a Block.
static Node *keep_still(Node *e, void *data) {
    Still *s = data;
    const Row *r = s->r;
    Node *known = map_get(&s->seen, e);
    if (known || e->nargs == 0) return known ? known : e;
    Node *out = ad_carries(e) ? ir_map(r->m, e, keep_still, s) : ir_subst(r->m, e, r->nx, (Node **)r->x, (Node **)r->still);
    map_put(&s->seen, e, out);
    return out;
}

// ---- where values are needed

typedef struct Finder {
    Row *r;
    Ir *m;
    const VarSet *scope; // variables that the whole row has in common
    AdGraph g;
    Node **cond;          // by AdNode.order: where it is needed; NULL: everywhere
    bool *needed, *vague; // vague: perhaps not everywhere where cond holds
    Node *const *x;
} Finder;

static bool within(const VarSet *a, const VarSet *b, const VarSet *c) {
    for (int i = 0; i < a->n; i++)
        if (!varset_has(b, a->v[i]) && !varset_has(c, a->v[i])) return false;
    return true;
}

static bool varies_with_x(const Finder *f, Node *e) {
    for (int j = 0; j < f->r->nx; j++)
        if (ir_reaches(e, f->r->still[j])) return true;
    return false;
}

// a or b; NULL: always. What both say is said once, before the rest: what both begin with, and what cannot fail. The
// branches of an `if` come together again, even if evaluating its condition may fail.
static Node *either_of(Ir *m, Node *a, Node *b) {
    enum { MAX = 32 };
    Node *p[MAX], *q[MAX], *both = NULL, *left = NULL, *right = NULL;
    int np = 0, nq = 0, first = 0;
    if (!a || !b) return NULL;
    if (!ir_conjuncts(a, p, &np, MAX) || !ir_conjuncts(b, q, &nq, MAX)) return ir_or(m, a, b);
    for (; first < np && first < nq && p[first] == q[first]; first++) both = ad_and(m, both, p[first]);
    for (int i = first; i < np; i++) {
        int k = first;
        while (k < nq && q[k] != p[i]) k++;
        if (k < nq && !p[i]->partial) {
            both = ad_and(m, both, p[i]);
            q[k] = ir_bool(m, true);
        } else {
            left = ad_and(m, left, p[i]);
        }
    }
    for (int k = first; k < nq; k++)
        if (!ir_is_lit(q[k], 1)) right = ad_and(m, right, q[k]);
    if (!left || !right || ir_not(m, left) == right || ir_not(m, right) == left) return both;
    return ad_and(m, both, ir_or(m, left, right));
}

// cond without the parts that mention other variables than these or, unless `any`, the values to differentiate by: it
// holds wherever cond does.
static Node *weaken(const Finder *f, Node *cond, const VarSet *vars, bool any, bool *vague) {
    if (!cond) return NULL;
    if (cond->op == OP_and || cond->op == OP_or) {
        Node *a = weaken(f, cond->args[0], vars, any, vague), *b = weaken(f, cond->args[1], vars, any, vague);
        if (a == cond->args[0] && b == cond->args[1]) return cond;
        if (cond->op == OP_and && a != cond->args[0] && b && b->partial) b = NULL, *vague = true; // a may have kept it safe
        return cond->op == OP_and ? ad_and(f->m, a, b) : either_of(f->m, a, b);
    }
    if (within(cond->fv, f->scope, vars) && (any || !varies_with_x(f, cond))) return cond;
    *vague = true;
    return NULL;
}

static void either(Ir *m, Node **a, bool *vague, Node *b, bool b_vague) {
    bool everywhere = (!*a && !*vague) || (!b && !b_vague);
    *vague = !everywhere && (*vague || b_vague);
    *a = either_of(m, *a, b);
}

static void need(Finder *f, Node *operand, Node *cond, bool vague) {
    const AdNode *e = ad_graph_find(&f->g, operand);
    if (!e || !e->active) return;
    int k = e->order;
    cond = weaken(f, cond, e->e->fv, true, &vague);
    if (f->needed[k]) either(f->m, &f->cond[k], &f->vague[k], cond, vague);
    else f->cond[k] = cond, f->vague[k] = vague;
    f->needed[k] = true;
}

// Is perhaps not all of what e is made of needed where e is?
static bool may_skip(const Node *e) {
    int64_t n;
    if (e->op == OP_sum) return !ir_is_int_lit(e->u.var->extent, &n) || n < 1;
    if (e->op == OP_fold) return !ir_is_int_lit(e->u.loop->index->extent, &n) || n < 1;
    return e->op == OP_gen || e->op == OP_while || e->op == OP_custom;
}

static void pass_on(Finder *f, const AdNode *p) {
    Node *cond = f->cond[p->order], *c = p->args[0];
    bool vague = f->vague[p->order];
    int n = p->e->op == OP_custom ? p->loop->nx : p->e->nargs;
    switch (p->e->op) {
    case OP_select:
        need(f, p->args[1], ad_and(f->m, cond, c), vague);
        need(f, p->args[2], ad_and(f->m, cond, ir_not(f->m, c)), vague);
        break;
    case OP_bracket: need(f, p->args[1], ad_and(f->m, cond, c), vague); break;
    default:
        vague |= may_skip(p->e);
        for (int k = 0; k < n; k++) need(f, p->args[k], cond, vague);
    }
}

static void find_needed(Finder *f) {
    AdGraph *g = &f->g;
    Arena *arena = f->m->arena;
    ad_graph_build(g, f->m, 1, &f->r->e, f->r->nx, f->x, f->r->vars);
    f->cond = ARENA_ARRAY(arena, Node *, g->n + 1);
    f->needed = ARENA_ARRAY(arena, bool, g->n + 1);
    f->vague = ARENA_ARRAY(arena, bool, g->n + 1);
    need(f, f->r->e, NULL, false);
    for (int i = g->n; i-- > 0;)
        if (f->needed[i] && !g->order[i]->is_x) pass_on(f, g->order[i]);
}

// ---- the reads of one argument

typedef struct ReadList {
    Read *at;
    int n;
    bool all; // also read as a whole
} ReadList;

static ReadList reads_of(const Finder *f, const Node *x) {
    ReadList l = {.at = ARENA_ARRAY(f->m->arena, Read, f->g.n + 1)};
    for (int i = f->g.n; i-- > 0;) { // those that contain others come first
        const AdNode *a = f->g.order[i];
        if (!f->needed[i] || a->is_x) continue;
        for (int k = 0; k < a->e->nargs; k++) {
            if (a->args[k] != x) continue;
            if (a->e->op == OP_at && k == 0)
                l.at[l.n++] = (Read){.e = a->e, .idx = a->args + 1, .cond = f->cond[i], .vague = f->vague[i]};
            else l.all = true;
        }
    }
    return l;
}

static bool inner(const Finder *f, const Var *v) { return !varset_has(f->scope, v); }
static bool fixed(const Finder *f, const Node *e) { return within(e->fv, f->scope, varset_empty); }

// Adds the inner variables of e to those of the read; false if one of them has no constant extent, or there are too many.
static bool add_family(const Finder *f, Read *r, const Node *e) {
    for (int i = 0; i < e->fv->n; i++) {
        Var *v = e->fv->v[i];
        int k = 0;
        if (!inner(f, v)) continue;
        while (k < r->nvars && r->var[k] != v) k++;
        if (k < r->nvars) continue;
        if (v->is_state || r->nvars == MAX_FAMILY) return false;
        r->var[k] = v, r->extent[k] = v->extent, r->nvars++;
        if (ad_small(r->nvars, r->extent, MAX_FAMILY) < 0) return false;
    }
    return true;
}

// idx = base + v for an inner v that runs over *length, or base.
static Node *range_base(const Finder *f, Node *idx, Node **length) {
    *length = ir_int(f->m, 1);
    if (fixed(f, idx)) return idx;
    for (int i = 0; i < idx->fv->n; i++) {
        Var *v = idx->fv->v[i];
        int64_t c;
        Poly rest;
        if (!inner(f, v) || v->is_state || !fixed(f, v->extent)) continue;
        if (!poly_linear(f->m, poly_of(f->m, idx), ir_var(v), &c, &rest) || c != 1) return NULL;
        Node *base = poly_node(f->m, rest);
        *length = v->extent;
        return fixed(f, base) ? base : NULL;
    }
    return NULL;
}

static bool varies_with_row(const Finder *f, const ReadList *l, int d) {
    for (int i = 0; i < l->n; i++)
        if (varset_meets(l->at[i].idx[d]->fv, f->r->vars)) return true;
    return false;
}

// The dimensions whose index varies with the row, else the first: a run of them.
static void choose_dimensions(const Finder *f, const ReadList *l, Reads *r) {
    int rank = r->x->rank, d = 0;
    while (d < rank && !varies_with_row(f, l, d)) d++;
    r->first = d < rank ? d : 0;
    r->naddr = 1;
    while (d < rank && r->first + r->naddr < rank && varies_with_row(f, l, r->first + r->naddr)) r->naddr++;
}

static void list_whole(const Finder *f, Reads *r) {
    r->whole = ARENA_ARRAY(f->m->arena, Node *, r->x->rank + 1);
    r->nwhole = 0;
    for (int d = 0; d < r->x->rank; d++)
        if (d < r->first || d >= r->first + r->naddr) r->whole[r->nwhole++] = r->x->shape[d];
    if (r->length) r->whole[r->nwhole++] = r->length;
}

static void read_all(const Finder *f, Reads *r) {
    r->first = r->naddr = 0;
    r->n = 1;
    r->length = NULL;
    r->block = ARENA_NEW(f->m->arena, Block);
    *r->block = (Block){.flat = ir_int(f->m, 0)};
    r->nread = 0;
    list_whole(f, r);
}

static Node *flatten(const Finder *f, const Reads *r, Node *const *at) {
    Node *flat = at[0];
    for (int k = 1; k < r->naddr; k++) flat = ir_add(f->m, ir_mul(f->m, flat, r->x->shape[r->first + k]), at[k]);
    return flat;
}

// The number of the block at these places, which is read where cond holds; -1: nowhere, -2: there would be too many.
static int add_block(const Finder *f, Reads *r, Node **at, Node *cond, bool vague) {
    cond = weaken(f, cond, varset_empty, false, &vague);
    if (cond && ir_is_lit(cond, 0)) return -1;
    for (int i = 0; i < r->n; i++) {
        Block *b = &r->block[i];
        if (memcmp(b->at, at, sizeof *at * (size_t)r->naddr)) continue;
        either(f->m, &b->cond, &b->vague, cond, vague);
        return i;
    }
    if (r->n == MAX_BLOCKS) return -2;
    r->block[r->n] = (Block){.at = at, .flat = flatten(f, r, at), .cond = cond, .vague = vague};
    return r->n++;
}

// The places of every read, one by one.
static bool list_blocks(const Finder *f, ReadList *l, Reads *r) {
    Ir *m = f->m;
    r->block = ARENA_ARRAY(m->arena, Block, MAX_BLOCKS);
    r->n = 0;
    for (int i = 0; i < l->n; i++) {
        Read *e = &l->at[i];
        Node *from[MAX_FAMILY], *to[MAX_FAMILY];
        e->nvars = 0;
        for (int k = 0; k < r->naddr; k++)
            if (!add_family(f, e, e->idx[r->first + k])) return false;
        for (int k = 0; k < e->nvars; k++) from[k] = ir_var(e->var[k]);
        int count = ad_small(e->nvars, e->extent, MAX_FAMILY);
        for (int k = 0; k < count; k++) {
            Node **at = ARENA_ARRAY(m->arena, Node *, r->naddr);
            ad_unflatten(m, e->nvars, e->extent, k, to);
            for (int d = 0; d < r->naddr; d++) at[d] = ir_subst(m, e->idx[r->first + d], e->nvars, from, to);
            Node *cond = e->cond ? ir_subst(m, e->cond, e->nvars, from, to) : NULL;
            e->block[k] = add_block(f, r, at, cond, e->vague);
            if (e->block[k] == -2) return false;
        }
    }
    return true;
}

// All reads are in one range of the only addressed dimension, which has the places of all.
static bool list_range(const Finder *f, const ReadList *l, Reads *r) {
    Ir *m = f->m;
    Node *lo = NULL, *hi = NULL, *cond = NULL, *extent = r->x->shape[r->first], *length;
    bool vague = false;
    for (int i = 0; i < l->n; i++) {
        const Read *e = &l->at[i];
        Node *base = range_base(f, e->idx[r->first], &length);
        if (!base || base->partial || length->partial || (ir_is_zero(base) && length == extent)) return false;
        Node *end = ir_add(m, base, length), *c = weaken(f, e->cond, varset_empty, false, &vague);
        lo = lo ? ir_min(m, lo, base) : base;
        hi = hi ? ir_max(m, hi, end) : end;
        cond = i ? either_of(m, cond, c) : c;
    }
    r->block = ARENA_NEW(m->arena, Block);
    *r->block = (Block){.at = ARENA_ARRAY(m->arena, Node *, 1), .flat = lo, .cond = cond};
    r->block->at[0] = lo;
    r->length = ir_sub(m, hi, lo);
    r->n = 1;
    return true;
}

// ---- are the places there?

static Node *in_range(const Finder *f, Node *i, Node *n, Node *cond) {
    enum { MAX_FACTS = 16 };
    Poly fact[MAX_FACTS];
    Ir *m = f->m;
    Node *least = ir_le(m, ir_int(m, 0), i), *most = ir_lt(m, i, n), *needed = NULL;
    int facts = cond ? poly_facts(m, cond, fact, MAX_FACTS) : 0;
    Poly p = poly_of(m, i), q = poly_add(m, poly_of(m, ir_sub(m, n, ir_int(m, 1))), poly_scale(m, p, -1));
    if (!poly_nonneg_given(m, p, facts, fact)) needed = least;
    if (!poly_nonneg_given(m, q, facts, fact)) needed = ad_and(m, needed, most);
    return needed && ir_is_lit(needed, 1) ? NULL : needed;
}

// Adds to *cond what evaluating e needs in order not to fail; false if that cannot be said.
static bool safety(const Finder *f, Node *e, Node **cond) {
    Ir *m = f->m;
    if (!e->partial) return true;
    if (e->op != OP_at && !op_is_elementwise(e->op)) return false;
    for (int k = e->op == OP_at; k < e->nargs; k++)
        if (!safety(f, e->args[k], cond)) return false;
    if (e->op == OP_at && e->args[0]->partial) return false;
    for (int k = 1; e->op == OP_at && k < e->nargs; k++)
        *cond = ad_and(m, *cond, in_range(f, e->args[k], e->args[0]->shape[k - 1], *cond));
    if (e->op == OP_idiv || e->op == OP_irem) *cond = ad_and(m, *cond, ir_ne(m, e->args[1], ir_int(m, 0)));
    return true;
}

// False if a block is perhaps not read, and it cannot be said where its index has a value.
static bool check_places(const Finder *f, Reads *r) {
    Ir *m = f->m;
    for (int i = 0; i < r->n && !r->length; i++) {
        Block *b = &r->block[i];
        for (int k = 0; k < r->naddr; k++)
            if (b->vague && !safety(f, b->at[k], &b->cond)) return false;
        for (int k = 0; k < r->naddr; k++)
            b->needed = ad_and(m, b->needed, in_range(f, b->at[k], r->x->shape[r->first + k], b->cond));
        b->guard = b->cond || b->vague ? b->needed : NULL;
        for (int k = 0; k < r->naddr; k++)
            if (b->at[k]->partial && b->cond) b->guard = ad_and(m, b->cond, b->needed);
        if (!b->vague) continue;
        b->cond = ad_and(m, b->cond, b->needed); // what is not read need not be in range
        b->needed = NULL;
    }
    return true;
}

static void find_blocks(const Finder *f, Reads *r) {
    ReadList l = reads_of(f, r->x);
    if (r->x->rank == 0) {
        const AdNode *a = ad_graph_find(&f->g, r->x);
        if (!f->needed[a->order]) return;
        read_all(f, r);
        bool vague = f->vague[a->order];
        r->block->cond = weaken(f, f->cond[a->order], varset_empty, false, &vague);
        if (r->block->cond && ir_is_lit(r->block->cond, 0)) r->n = 0;
        return;
    }
    if (l.all) {
        read_all(f, r);
    } else if (l.n) {
        choose_dimensions(f, &l, r);
        bool found = list_blocks(f, &l, r) || (r->naddr == 1 && list_range(f, &l, r));
        if (found && check_places(f, r)) r->read = l.at, r->nread = l.n, list_whole(f, r);
        else read_all(f, r);
    }
}

void ad_row_reads(Row *r) {
    Node *const *x = r->x;
    Look s = {.r = r};
    Still still = {.r = r};
    r->e = keep_still(look(r->e, &s), &still);
    map_free(&s.seen);
    map_free(&still.seen);
    Finder f = {.r = r, .m = r->m, .x = x, .scope = varset_union(r->m, r->e->fv, r->vars)};
    r->reads = ARENA_ARRAY(r->m->arena, Reads, r->nx + 1);
    find_needed(&f);
    for (int j = 0; j < r->nx; j++) {
        r->reads[j].x = x[j];
        find_blocks(&f, &r->reads[j]);
    }
    ad_graph_free(&f.g);
}

// ---- the derivative of a row

enum { MAX_SCALARS = 16 }; // elements of a block that have placeholders of their own

static Node *block_of(Ir *m, const Reads *r, bool scalars, Node *const *elems) {
    int64_t extents[16];
    if (!scalars || r->nwhole == 0) return elems[0];
    for (int k = 0; k < r->nwhole; k++) extents[k] = r->whole[k]->u.num;
    return ir_pack(m, r->x->kind, r->nwhole, extents, (Node **)elems);
}

static void make_params(Ir *m, const Reads *r, Block *b) {
    int n = ad_small(r->nwhole, r->whole, MAX_SCALARS);
    b->scalars = n >= 0;
    b->nparam = n >= 0 ? n : 1;
    b->param = ARENA_ARRAY(m->arena, Node *, b->nparam + 1);
    b->adj = ARENA_ARRAY(m->arena, Node *, b->nparam + 1);
    for (int k = 0; k < b->nparam; k++) b->param[k] = ir_param(m, r->x->kind, n >= 0 ? 0 : r->nwhole, n >= 0 ? NULL : r->whole);
}

// What stands for x[…] at these places of the dimensions that are read as a whole.
static Node *local_read(Ir *m, const Reads *r, const Read *e, Node *const *at) {
    int count = ad_small(e->nvars, e->extent, MAX_FAMILY);
    Node *value = NULL;
    for (int i = count; i-- > 0;) {
        Node *cond = ir_bool(m, true), *idx[MAX_FAMILY], *v;
        if (e->block[i] < 0) continue;
        const Block *b = &r->block[e->block[i]];
        v = ir_at(m, block_of(m, r, b->scalars, b->param), r->nwhole, (Node **)at);
        ad_unflatten(m, e->nvars, e->extent, i, idx);
        for (int k = 0; k < e->nvars; k++) cond = ir_and(m, cond, ir_eq(m, ir_var(e->var[k]), idx[k]));
        value = value ? ir_select(m, cond, v, value) : v;
    }
    return value;
}

static void replace_reads(Row *r, const Reads *of) {
    Ir *m = r->m;
    for (int i = 0; i < of->nread; i++) {
        const Read *e = &of->read[i];
        Node *at[16], *v;
        int n = 0;
        for (int d = 0; d < of->x->rank; d++)
            if (d < of->first || d >= of->first + of->naddr) at[n++] = e->idx[d];
        if (of->length) at[n++] = ir_sub(m, e->idx[of->first], of->block->flat);
        v = of->length ? ir_at(m, block_of(m, of, of->block->scalars, of->block->param), n, at) : local_read(m, of, e, at);
        if (v) r->e = ir_replace(m, r->e, e->e, v);
    }
    if (of->nread == 0 && of->n) r->e = ir_subst1(m, r->e, of->x, block_of(m, of, of->block->scalars, of->block->param));
}

static Node *inside(Ir *m, Node *i, Node *n) { return ir_and(m, ir_le(m, ir_int(m, 0), i), ir_lt(m, i, n)); }

// The elements of x that the placeholders stand for; zero where they are not read and not there.
static void actual_params(Ir *m, const Reads *r, const Block *b, Node **to) {
    Node *whole[16], *idx[16];
    Var *v[16];
    for (int i = 0; i < b->nparam; i++) {
        if (b->scalars) ad_unflatten(m, r->nwhole, r->whole, i, whole);
        for (int k = 0; k < r->nwhole && !b->scalars; k++) {
            v[k] = ir_index(m, "k", r->whole[k]);
            whole[k] = ir_var(v[k]);
        }
        for (int d = 0, w = 0, a = 0; d < r->x->rank; d++)
            if (d < r->first || d >= r->first + r->naddr) idx[d] = whole[w++];
            else idx[d] = r->length ? ir_add(m, b->at[0], whole[r->nwhole - 1]) : b->at[a++];
        to[i] = ir_at(m, r->x, r->x->rank, idx);
        Node *guard = b->guard;
        if (r->length) guard = inside(m, idx[r->first], r->x->shape[r->first]);
        if (guard) to[i] = ir_bracket(m, guard, to[i]);
        for (int k = r->nwhole; k-- > 0 && !b->scalars;) to[i] = ir_gen(m, v[k], to[i]);
    }
}

static bool differentiate(const Row *r, int n, Node **param, Node **adj, AdError *error) {
    Ir *m = r->m;
    Node *one = ir_real(m, r->e->kind, 1), *e = r->e;
    if (n > 2 || (n && param[0]->rank)) return ad_reverse(m, 1, &e, &one, n, param, adj, error);
    for (int i = 0; i < n; i++) {
        Node *dx[2] = {NULL, NULL}, *dy;
        dx[i] = ir_real(m, param[i]->kind, 1);
        if (!ad_forward(m, 1, &e, &dy, n, param, dx, error)) return false;
        adj[i] = ir_conv(m, param[i]->kind, dy);
    }
    return true;
}

bool ad_row_derive(Row *r, AdError *error) {
    Ir *m = r->m;
    int n = 0;
    for (int j = 0; j < r->nx; j++)
        for (int i = 0; i < r->reads[j].n; i++) {
            make_params(m, &r->reads[j], &r->reads[j].block[i]);
            n += r->reads[j].block[i].nparam;
        }
    for (int j = 0; j < r->nx; j++) replace_reads(r, &r->reads[j]);
    Node **param = ARENA_ARRAY(m->arena, Node *, n + 1), **adj = ARENA_ARRAY(m->arena, Node *, n + 1);
    Node **to = ARENA_ARRAY(m->arena, Node *, n + 1);
    n = 0;
    for (int j = 0; j < r->nx; j++)
        for (int i = 0; i < r->reads[j].n; i++) {
            const Block *b = &r->reads[j].block[i];
            memcpy(param + n, b->param, sizeof *param * (size_t)b->nparam);
            actual_params(m, &r->reads[j], b, to + n);
            n += b->nparam;
        }
    if (!differentiate(r, n, param, adj, error)) return false;
    for (int i = 0; i < n; i++) adj[i] = ir_subst(m, adj[i], n, param, to);
    n = 0;
    for (int j = 0; j < r->nx; j++)
        for (int i = 0; i < r->reads[j].n; i++) {
            Block *b = &r->reads[j].block[i];
            memcpy(b->adj, adj + n, sizeof *adj * (size_t)b->nparam);
            n += b->nparam;
        }
    return true;
}

Node *ad_row_value(const Row *r, const Reads *of, const Block *b, Node *const *at) {
    if (b->scalars || ir_has_scatter(r->m, b->adj[0]))
        return ir_at(r->m, block_of(r->m, of, b->scalars, b->adj), of->nwhole, (Node **)at);
    return ad_element(r->m, b->adj[0], of->nwhole, (Node **)at);
}
