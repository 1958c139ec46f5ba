// Interning: terms that are equal up to the names of bound variables are one node. Hashes are invariant under renaming
// of bound variables: a bound variable is hashed as its distance from the outermost binder being closed.
#include "ir/internal.h"
#include "ir/scalar.h"
#include "support/map.h"

#include <stdlib.h>
#include <string.h>

typedef struct IrTables {
    Node **node;
    size_t nnode, cap;
    VarSet **set;
    size_t nset, setcap;
    struct {
        const VarSet *a, *b, *u;
    } recent[1024]; // unions computed lately
    Node *proto;    // the node that is being looked up, with its operands
    int room;       // for how many operands
} IrTables;

static const struct { int n; } no_vars = {0};
const VarSet *const varset_empty = (const VarSet *)&no_vars;

Ir *ir_new(Arena *arena) {
    Ir *m = ARENA_NEW(arena, Ir);
    m->arena = arena, m->polys = arena_within(arena);
    m->tables = calloc(1, sizeof *m->tables);
    if (!m->tables) diag_out_of_memory();
    return m;
}

void ir_delete(Ir *m) {
    if (!m || !m->tables) return;
    if (m->derived) map_free(m->derived);
    free(m->tables->node);
    free(m->tables->set);
    free(m->tables->proto);
    free(m->tables);
    m->tables = NULL;
}

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ (h >> 29);
}

// ---- sets of variables

bool varset_has(const VarSet *s, const Var *v) {
    for (int i = 0; i < s->n; i++)
        if (s->v[i] == v) return true;
    return false;
}

bool varset_meets(const VarSet *a, const VarSet *b) {
    for (int i = 0, j = 0; i < a->n && j < b->n;) {
        if (a->v[i] == b->v[j]) return true;
        if (a->v[i]->id < b->v[j]->id) i++;
        else j++;
    }
    return false;
}

static uint64_t set_hash(int n, Var *const *v) {
    uint64_t h = 7;
    for (int i = 0; i < n; i++) h = mix(h, v[i]->id);
    return h;
}

static const VarSet *set_intern(Ir *m, int n, Var **v) {
    if (n == 0) return varset_empty;
    IrTables *t = m->tables;
    if (2 * (t->nset + 1) > t->setcap) {
        size_t cap = t->setcap ? t->setcap * 2 : 256;
        VarSet **set = calloc(cap, sizeof *set);
        if (!set) diag_out_of_memory();
        for (size_t i = 0; i < t->setcap; i++)
            if (t->set[i]) {
                size_t k = set_hash(t->set[i]->n, t->set[i]->v) & (cap - 1);
                while (set[k]) k = (k + 1) & (cap - 1);
                set[k] = t->set[i];
            }
        free(t->set);
        t->set = set, t->setcap = cap;
    }
    size_t k = set_hash(n, v) & (t->setcap - 1);
    for (; t->set[k]; k = (k + 1) & (t->setcap - 1))
        if (t->set[k]->n == n && !memcmp(t->set[k]->v, v, sizeof *v * (size_t)n)) return t->set[k];
    VarSet *s = arena_alloc(m->arena, sizeof *s + sizeof *v * (size_t)n);
    s->n = n;
    memcpy(s->v, v, sizeof *v * (size_t)n);
    t->set[k] = s;
    t->nset++;
    return s;
}

const VarSet *varset_union(Ir *m, const VarSet *a, const VarSet *b) {
    if (a == b || b->n == 0) return a;
    if (a->n == 0) return b;
    size_t slot = ((uintptr_t)a / 16 * 31 + (uintptr_t)b / 16) % 1024;
    if (m->tables->recent[slot].a == a && m->tables->recent[slot].b == b) return m->tables->recent[slot].u;
    Var *small[64], **v = a->n + b->n <= 64 ? small : malloc(sizeof *v * (size_t)(a->n + b->n));
    if (!v) diag_out_of_memory();
    int n = 0, i = 0, j = 0;
    while (i < a->n || j < b->n)
        if (j == b->n || (i < a->n && a->v[i]->id < b->v[j]->id)) v[n++] = a->v[i++];
        else if (i == a->n || b->v[j]->id < a->v[i]->id) v[n++] = b->v[j++];
        else v[n++] = a->v[i++], j++;
    const VarSet *u = set_intern(m, n, v);
    if (v != small) free(v);
    m->tables->recent[slot].a = a, m->tables->recent[slot].b = b, m->tables->recent[slot].u = u;
    return u;
}

const VarSet *varset_of(Ir *m, const Var *v) {
    Var *one = v->node->u.var;
    return set_intern(m, 1, &one);
}

const VarSet *varset_remove(Ir *m, const VarSet *s, const Var *v) {
    if (!varset_has(s, v)) return s;
    Var *small[64], **w = s->n <= 64 ? small : malloc(sizeof *w * (size_t)s->n);
    if (!w) diag_out_of_memory();
    int n = 0;
    for (int i = 0; i < s->n; i++)
        if (s->v[i] != v) w[n++] = s->v[i];
    const VarSet *r = set_intern(m, n, w);
    if (w != small) free(w);
    return r;
}

// ---- variables bound inside a node

static uint64_t bloom(const Var *v) { return UINT64_C(1) << (v->id * UINT32_C(2654435761) >> 26); }

static bool loop_binds(const Loop *l, const Var *v) {
    if (l->index == v) return true;
    for (int i = 0; i < l->n; i++)
        if (l->state[i] == v) return true;
    return false;
}

static bool is_loop(const Node *e) { return e->op == OP_fold || e->op == OP_while || e->op == OP_custom; }

// Chains of thousands of loops fill the filter, but then most are older than v, or have fewer loops inside than the loop of v.
static bool may_bind(const Node *e, const Var *v) {
    return e->loops >= v->loops && e->id >= v->node->id && e->newest >= v->id && (e->bound & bloom(v));
}

static bool binds_walk(const Node *e, const Var *v, Map *seen) {
    if (!may_bind(e, v) || map_get(seen, e)) return false;
    if (ir_is_binder(e) && e->u.var == v) return true;
    if (is_loop(e) && loop_binds(e->u.loop, v)) return true;
    for (int i = 0; i < e->nargs; i++)
        if (binds_walk(e->args[i], v, seen)) return true;
    map_put(seen, e, (void *)e);
    return false;
}

bool ir_binds(const Node *e, const Var *v) {
    if (!may_bind(e, v)) return false;
    Map seen = {0};
    bool r = binds_walk(e, v, &seen);
    map_free(&seen);
    return r;
}

// ---- hashing and equality up to bound names

// A binder being closed: its variables and where they stand, counted from the outermost.
typedef struct Frame {
    struct Frame *outer;
    int n, base;   // 0 variables: around all others, for what is not one node although it is equal (Ir.planning)
    Var *const *a; // the variables
    Var *const *b; // equality: their counterparts in the other term
    Map memo;
} Frame;

// The variables that e binds; *vars gets them.
static int node_vars(const Node *e, Var *const **vars) {
    if (ir_is_binder(e)) {
        *vars = &e->u.var;
        return 1;
    }
    if (!is_loop(e)) {
        *vars = NULL;
        return 0;
    }
    bool index = e->u.loop->index != NULL; // it stands before the states
    *vars = e->u.loop->state - index;
    return e->u.loop->n + index;
}

// The innermost frame one of whose variables is free in e.
static Frame *frame_of(Frame *f, const Node *e) {
    for (; f; f = f->outer)
        for (int i = 0; i < f->n; i++)
            if (varset_has(e->fv, f->a[i])) return f;
    return NULL;
}

static uint64_t key_hash(const Node *e) {
    uint64_t h = mix((uint64_t)e->op * 64 + (uint64_t)e->kind * 8 + e->rank, (uint64_t)e->nargs);
    switch (e->op) {
    case OP_lit:
    case OP_input:
    case OP_param:
    case OP_final:
    case OP_trace:
    case OP_result: return mix(h, (uint64_t)e->u.num);
    case OP_var: return mix(h, e->u.var->id);
    case OP_extern:
        for (const char *c = e->u.ext->name; *c; c++) h = mix(h, (uint64_t)*c);
        return mix(h, e->result);
    case OP_assert:
        for (const char *c = e->u.text; *c; c++) h = mix(h, (uint64_t)*c);
        return h;
    case OP_fold:
    case OP_while:
    case OP_custom: return mix(h, (uint64_t)e->u.loop->n);
    case OP_pack:
        for (int i = 0; i < e->rank; i++) h = mix(h, e->shape[i]->hash);
        return h;
    default: return h;
    }
}

static uint64_t hash_under(Frame *f, const Node *e);

// Is a op b the same as b op a, to the bit? Rules put the operands in the order of their making, which a substitution,
// or other names for what is bound, turns round: terms that differ in that only are one.
static bool commutes(const Node *e) { return e->op == OP_mul || e->op == OP_add || e->op == OP_eq || e->op == OP_ne; }

// The hash of e's own level; its operands are hashed under the frames around it.
static uint64_t hash_node(Frame *outer, const Node *e) {
    Var *const *vars;
    int n = node_vars(e, &vars);
    uint64_t h = key_hash(e);
    if (commutes(e)) return mix(h, hash_under(outer, e->args[0]) + hash_under(outer, e->args[1]));
    if (n == 0) {
        for (int i = 0; i < e->nargs; i++) h = mix(h, hash_under(outer, e->args[i]));
        return h;
    }
    if (!vars[0]->is_state) h = mix(h, hash_under(outer, vars[0]->extent));
    Frame f = {.outer = outer, .n = n, .base = outer ? outer->base + outer->n : 0, .a = vars};
    int inits = is_loop(e) ? e->u.loop->n : 0;
    for (int i = 0; i < e->nargs; i++) h = mix(h, hash_under(i < inits ? outer : &f, e->args[i]));
    map_free(&f.memo);
    return h;
}

static uint64_t hash_under(Frame *top, const Node *e) {
    Frame *f = frame_of(top, e);
    if (!f) return e->hash;
    if (e->op == OP_var) {
        for (int i = 0; i < f->n; i++)
            if (f->a[i] == e->u.var) return mix(0x5bd1, (uint64_t)(f->base + i));
        // an outer variable whose extent mentions an inner one cannot be: extents are evaluated outside
        return e->hash;
    }
    void *known = map_get(&f->memo, e);
    if (known) return (uint64_t)(uintptr_t)known;
    uint64_t h = hash_node(f, e);
    if (!h) h = 1;
    map_put(&f->memo, e, (void *)(uintptr_t)h);
    return h;
}

static bool equal_under(Frame *f, const Node *a, const Node *b);

// Functions share an Ir: inputs of one number may differ in name and shape.
static bool same_input(const Node *a, const Node *b) {
    if (a->u.num != b->u.num || a->nonneg != b->nonneg || strcmp(a->name ? a->name : "", b->name ? b->name : "")) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i]) return false;
    return true;
}

static bool same_key(const Node *a, const Node *b) {
    if (a->op != b->op || a->kind != b->kind || a->rank != b->rank || a->nargs != b->nargs) return false;
    switch (a->op) {
    case OP_input: return same_input(a, b);
    case OP_lit:
    case OP_param:
    case OP_final:
    case OP_trace:
    case OP_result: return a->u.num == b->u.num;
    case OP_assert: return !strcmp(a->u.text, b->u.text);
    case OP_extern:
        return a->result == b->result && a->u.ext->nresults == b->u.ext->nresults && a->u.ext->decl == b->u.ext->decl &&
               !strcmp(a->u.ext->name, b->u.ext->name);
    case OP_fold:
    case OP_while:
    case OP_custom: {
        const Loop *p = a->u.loop, *q = b->u.loop;
        return p->n == q->n && p->nout == q->nout && p->nx == q->nx && p->ny == q->ny && p->adjoint == q->adjoint && p->both == q->both &&
               p->levels == q->levels && p->limit == q->limit && p->block == q->block && p->follows == q->follows;
    }
    case OP_pack:
        for (int i = 0; i < a->rank; i++)
            if (a->shape[i] != b->shape[i]) return false;
        return true;
    default: return true;
    }
}

static bool equal_operands(Frame *f, const Node *a, const Node *b, int first) {
    return equal_under(f, a->args[0], b->args[first]) && equal_under(f, a->args[1], b->args[1 - first]);
}

static bool equal_level(Frame *outer, const Node *a, const Node *b) {
    if (!same_key(a, b)) return false;
    if (commutes(a))
        return equal_operands(outer, a, b, 0) || (b->args[0] != b->args[1] && equal_operands(outer, a, b, 1));
    Var *const *va, *const *vb;
    int n = node_vars(a, &va), inits = is_loop(a) ? a->u.loop->n : 0;
    node_vars(b, &vb);
    if (n == 0) {
        for (int i = 0; i < a->nargs; i++)
            if (!equal_under(outer, a->args[i], b->args[i])) return false;
        return true;
    }
    if (!va[0]->is_state && !equal_under(outer, va[0]->extent, vb[0]->extent)) return false;
    Frame f = {.outer = outer, .n = n, .a = va, .b = vb};
    bool same = true;
    for (int i = 0; same && i < a->nargs; i++) same = equal_under(i < inits ? outer : &f, a->args[i], b->args[i]);
    map_free(&f.memo);
    if (!same || !vb[0]->extent || (!wishes_any(&va[0]->wishes) && !wishes_any(&vb[0]->wishes))) return same;
    if (va[0]->entry != vb[0]->entry && !wishes_agree(&va[0]->wishes, &vb[0]->wishes)) return false;
    wishes_join(&vb[0]->wishes, &va[0]->wishes);
    return true;
}

static bool equal_under(Frame *top, const Node *a, const Node *b) {
    Frame *f = frame_of(top, a);
    if (!f) {
        for (Frame *g = top; g; f = g, g = g->outer)
            for (int i = 0; i < g->n; i++)
                if (g->a[i] != g->b[i] && varset_has(b->fv, g->b[i])) return false;
        if (a == b || !f || f->n) return a == b;
    }
    if (a->op == OP_var || b->op == OP_var) {
        if (a->op != b->op) return false;
        for (Frame *g = top; g; g = g->outer)
            for (int i = 0; i < g->n; i++)
                if (g->a[i] == a->u.var || g->b[i] == b->u.var) return g->a[i] == a->u.var && g->b[i] == b->u.var;
        return a == b;
    }
    // Of each a the last that it was compared with, and 1 more where they differ: operands in either order would be
    // compared again and again.
    uintptr_t known = (uintptr_t)map_get(&f->memo, a);
    if (known >> 1 == (uintptr_t)b >> 1) return known == (uintptr_t)b;
    bool same = equal_level(f, a, b);
    map_put(&f->memo, a, (void *)((uintptr_t)b + !same));
    return same;
}

bool ir_equal(const Node *a, const Node *b) {
    Frame f = {0};
    bool same = equal_under(&f, a, b);
    map_free(&f.memo);
    return same;
}

// ---- the table of nodes

static void grow(IrTables *t) {
    size_t cap = t->cap ? t->cap * 2 : 1024;
    Node **node = calloc(cap, sizeof *node);
    if (!node) diag_out_of_memory();
    for (size_t i = 0; i < t->cap; i++)
        if (t->node[i]) {
            size_t k = t->node[i]->hash & (cap - 1);
            while (node[k]) k = (k + 1) & (cap - 1);
            node[k] = t->node[i];
        }
    free(t->node);
    t->node = node, t->cap = cap;
}

// Does the condition of a bracket or select rule out that what it guards fails?
static bool guarded(Ir *m, const Node *e) {
    Poly facts[16];
    if (e->args[0]->partial) return false;
    int n = poly_facts(m, e->args[0], facts, 16);
    if (n == 0 || !ir_safe_given(m, e->args[1], n, facts)) return false;
    return e->op == OP_bracket || !e->args[2]->partial;
}

// Found by trying the operation's own evaluation (ops.def) at numbers and infinities.
static bool op_makes_nan(Op op) {
    static const double probe[] = {-INFINITY, -2, -1, -0.5, 0, 0.5, 1, 2, INFINITY};
    enum { N = sizeof probe / sizeof *probe };
    const OpInfo *info = &op_info[op];
    bool int_x = info->type == T_PSI, int_y = info->type == T_FPOWI;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            if ((int_x && isinf(probe[i])) || (int_y && isinf(probe[k]))) continue;
            if (isnan(scalar_op_f(op, probe[i], probe[k]))) return true;
        }
    return false;
}

bool ir_has_pole(const Node *e) {
    static const double probe[] = {-2, -1, -0.5, 0, 0.5, 1, 2};
    const double *at[2] = {probe, probe};
    double value[2];
    int n[2] = {1, 1};
    if (!op_is_elementwise(e->op) || !kind_is_float(e->kind)) return false;
    for (int k = 0; k < e->nargs; k++) {
        const Node *x = e->args[k];
        if (x->op == OP_lit) value[k] = kind_is_float(x->kind) ? x->u.real : (double)x->u.num, at[k] = &value[k];
        else n[k] = sizeof probe / sizeof *probe;
    }
    for (int i = 0; i < n[0]; i++)
        for (int k = 0; k < n[1]; k++)
            if (!isfinite(scalar_op_f(e->op, at[0][i], at[1][k]))) return true;
    return false;
}

bool ir_makes_nan(const Node *e) {
    if (!kind_is_float(e->kind)) return false;
    return e->op == OP_sum || e->op == OP_extern || (op_is_elementwise(e->op) && op_makes_nan(e->op));
}

const char ir_nan_sum[] = "a sum of numbers is NaN: it has both infinities";

const char *ir_nan_text(Ir *m, const Node *e, int *nvalues) {
    const OpInfo *op = &op_info[e->op];
    *nvalues = e->op == OP_sum || e->op == OP_extern ? 0 : e->nargs;
    if (e->op == OP_sum) return ir_nan_sum;
    if (e->op == OP_extern) return arena_printf(m->arena, "the C function `%s` makes a NaN", e->u.ext->name);
    if (op->form == FSM_IN) return arena_printf(m->arena, "%%g %s %%g is NaN", op->sym);
    return arena_printf(m->arena, e->op == OP_polygamma ? "`%s` of %%d and %%g is NaN" : "`%s` of %%g is NaN", op->sym);
}

static void derive_sets(Ir *m, Node *e) {
    const VarSet *fv = varset_empty;
    uint64_t bound = 0;
    uint32_t newest = 0;
    e->unbounded = e->op == OP_while;
    e->fails = e->partial || (m->debug_nan && ir_makes_nan(e));
    e->partial_at_0 = !e->fails || e->fails_at_0;
    for (int i = 0; i < e->nargs; i++) {
        fv = varset_union(m, fv, e->args[i]->fv);
        bound |= e->args[i]->bound;
        if (e->args[i]->newest > newest) newest = e->args[i]->newest;
        if (e->args[i]->loops + is_loop(e) > e->loops) e->loops = e->args[i]->loops + is_loop(e);
        e->partial |= e->args[i]->partial;
        e->unbounded |= e->args[i]->unbounded;
        e->partial_at_0 &= !e->args[i]->partial || e->args[i]->partial_at_0;
    }
    if (e->op == OP_var) {
        const Var *v = e->u.var;
        Var *self = e->u.var;
        fv = set_intern(m, 1, &self);
        if (v->extent) fv = varset_union(m, fv, v->extent->fv);
        for (int i = 0; i < v->rank; i++) fv = varset_union(m, fv, v->shape[i]->fv);
    }
    Var *const *vars;
    int n = node_vars(e, &vars);
    for (int i = n - 1; i >= 0; i--) {
        fv = varset_remove(m, fv, vars[i]);
        bound |= bloom(vars[i]);
        if (e->loops < vars[i]->loops) vars[i]->loops = e->loops;
        if (vars[i]->id > newest) newest = vars[i]->id;
    }
    for (int i = 0; i < n; i++) {
        if (!vars[i]->extent) continue;
        fv = varset_union(m, fv, vars[i]->extent->fv);
        bound |= vars[i]->extent->bound;
        if (vars[i]->extent->newest > newest) newest = vars[i]->extent->newest;
        e->partial |= vars[i]->extent->partial;
        e->unbounded |= vars[i]->extent->unbounded;
        e->partial_at_0 &= !vars[i]->extent->partial || vars[i]->extent->partial_at_0;
    }
    e->fv = fv;
    e->bound = bound;
    e->newest = newest;
    e->partial |= e->fails;
    if (e->partial && (e->op == OP_bracket || e->op == OP_select)) e->partial = !guarded(m, e);
    e->partial_at_0 &= e->partial;
}

// Equality with the names of bound variables, for planning.
static bool equal_exactly(const Node *a, const Node *b) {
    Var *const *va, *const *vb;
    if (!same_key(a, b)) return false;
    int n = node_vars(a, &va);
    node_vars(b, &vb);
    return (n == 0 || !memcmp(va, vb, sizeof *va * (size_t)n)) && !memcmp(a->args, b->args, sizeof *a->args * (size_t)a->nargs);
}

// Most nodes that are built are there already: this one is looked up before it gets memory of its own.
static Node *proto_of(IrTables *t, const Node *proto, int nargs, Node *const *args) {
    if (!t->proto || nargs > t->room) {
        int room = nargs > 16 ? 2 * nargs : 16;
        Node *e = malloc(sizeof *e + sizeof *args * (size_t)room);
        if (!e) diag_out_of_memory();
        free(t->proto);
        t->proto = e, t->room = room;
    }
    *t->proto = *proto;
    t->proto->nargs = nargs;
    if (nargs) memcpy(t->proto->args, args, sizeof *args * (size_t)nargs);
    return t->proto;
}

// The node in the table that is e, or NULL; *slot gets its place.
static Node *find(Ir *m, const Node *e, size_t *slot) {
    IrTables *t = m->tables;
    size_t k = e->hash & (t->cap - 1);
    for (; t->node[k]; k = (k + 1) & (t->cap - 1)) {
        Node *o = t->node[k];
        if (o->hash != e->hash) continue;
        if (o->op == OP_var                                                      ? e->op == OP_var && o->u.var == e->u.var
            : m->planning && !(m->unifying && o->id > m->unifying && is_loop(e)) ? equal_exactly(e, o)
                                                                                 : equal_level(NULL, e, o))
            return o;
    }
    *slot = k;
    return NULL;
}

Node *ir_intern(Ir *m, const Node *proto, int nargs, Node *const *args) {
    IrTables *t = m->tables;
    if (2 * (t->nnode + 1) > t->cap) grow(t);
    Node *e = proto_of(t, proto, nargs, args);
    size_t k;
    e->hash = hash_node(NULL, e);
    Node *known = find(m, e, &k);
    if (known) return known;
    e = arena_copy(m->arena, e, sizeof *e + sizeof *args * (size_t)nargs);
    uint32_t next = m->next_node;
    derive_sets(m, e);
    ir_set_bounded(e);
    if (m->next_node != next) { // proofs have built nodes
        if (2 * (t->nnode + 1) > t->cap) grow(t);
        if ((known = find(m, e, &k))) return known;
    }
    e->id = ++m->next_node;
    e->span = m->span;
    t->node[k] = e;
    t->nnode++;
    return e;
}
