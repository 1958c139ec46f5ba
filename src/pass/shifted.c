// A dear value at two places, as sin x[i] and sin x[n - 1 - i]: where the first is computed for all i, it becomes an array,
// and the second an element of it. Gathering adjoints makes such values ([TL] section 2.1): one that is scattered is computed
// where it is made, and one that is gathered where it arrives.
#include "pass/occurs.h"
#include "pass/pass.h"
#include "pass/trace.h"

#include "ir/internal.h"
#include "ir/rule.h"

enum { DEAR = 16, MAX_VALUES = 64, MAX_WALK = 256 };

typedef struct Value {
    Node *e;
    Var *v; // its only variable
} Value;

// What v has to be for e to become f: of the first index that mentions it. NULL if the two differ elsewhere.
static Node *place(Ir *m, Node *e, Node *f, const Var *v, int *fuel) {
    if (--*fuel < 0 || e == f) return NULL;
    if (e->kind == KIND_INT && e->rank == 0) {
        int64_t c;
        Poly rest;
        if (f->kind != KIND_INT || !poly_linear(m, poly_of(m, e), ir_var(v), &c, &rest) || (c != 1 && c != -1)) return NULL;
        return poly_node(m, poly_scale(m, poly_add(m, poly_of(m, f), poly_scale(m, rest, -1)), c));
    }
    if (e->op != f->op || e->nargs != f->nargs || e->rank != f->rank) return NULL;
    for (int k = 0; k < e->nargs; k++) {
        Node *a = node_has_var(e->args[k], v) ? place(m, e->args[k], f->args[k], v, fuel) : NULL;
        if (a) return a;
    }
    return NULL;
}

// Is e computed for every index below the extent, by a loop that nothing guards?
static bool computed_for_all(const Users *u, const Map *facts, Node *e, const Var *v) {
    Node *loop[1];
    const Facts *f = map_get(facts, e);
    return (!f || !f->n) && !v->extent->fv->n && v->extent->nonneg && users_binders(u, NULL, v, e, loop, 1) > 0 && !loop[0]->fv->n;
}

static Node *array_at(Ir *m, const Value *x, Node *at) {
    Span keep = ir_from(m, x->e);
    Node *e = ir_at1(m, ir_binder_plain(m, OP_gen, x->v, x->e), at);
    m->span = keep;
    return e;
}

static int find(const Nodes *n, Value *out) {
    int count = 0;
    for (int i = 0; i < n->all.len && count < MAX_VALUES; i++) {
        Node *e = n->all.data[i];
        bool dear = e->rank == 0 && kind_is_float(e->kind) && op_is_elementwise(e->op) && op_info[e->op].cost >= DEAR;
        if (dear && !e->partial && e->fv->n == 1 && !e->fv->v[0]->is_state) out[count++] = (Value){e, e->fv->v[0]};
    }
    return count;
}

static bool share_one(Func *f) {
    Ir *m = f->ir;
    Nodes n;
    Users users;
    Map facts = {0};
    Value value[MAX_VALUES];
    bool changed = false;
    nodes_collect(f, &n);
    int count = find(&n, value);
    users_collect(&n, &users);
    if (count > 1) facts_collect(m, m->arena, n.all.len, n.all.data, &facts);
    for (int i = 0; i < count && !changed; i++) {
        const Value *x = &value[i];
        Node *from[MAX_VALUES + 1], *to[MAX_VALUES + 1];
        int moved = 0;
        for (int k = 0; k < count; k++) {
            if (k == i || value[k].v != x->v || value[k].e->op != x->e->op || !computed_for_all(&users, &facts, x->e, x->v))
                continue;
            Node *at = place(m, x->e, value[k].e, x->v, &(int){MAX_WALK});
            if (!at || !ir_in_range(m, at, x->v->extent) || ir_subst1(m, x->e, ir_var(x->v), at) != value[k].e) continue;
            from[moved] = value[k].e, to[moved++] = array_at(m, x, at);
        }
        if (!moved || !rule(m, RULE_share_shifted)) continue;
        from[moved] = x->e, to[moved++] = array_at(m, x, ir_var(x->v));
        Rewriting *w = ir_replacing(m, moved, from, to);
        for (int k = 0; k < func_roots(f); k++) f->outputs[k] = ir_rewrite(w, f->outputs[k]);
        ir_rewriting_end(w);
        explain(m->explain, EXPLAIN_LOOPS, x->e->span, "share: %s is stored: it is needed at other indices, too",
                ir_quote(m, x->e));
        changed = true;
    }
    nodes_free(&n);
    users_free(&users);
    map_free(&facts);
    return changed;
}

void pass_share_shifted(Func *f) {
    for (int limit = MAX_VALUES; limit > 0 && share_one(f); limit--) continue;
}
