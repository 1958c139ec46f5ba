// Fusion ([FS] Fig. 8 c): an array whose elements are read in one place, each once, is not stored. Reading it elsewhere
// too, or in a loop that would compute an element again, keeps it; so does an array that is scattered into.
#include "pass/occurs.h"
#include "pass/pass.h"

#include "ir/rule.h"

enum { MAX_RANK = 16 };

// The only indexing of array g, or NULL if there are none or several, or if it is used whole.
static Node *single_read(const Nodes *n, Node *g, const Func *f) {
    Node *read = NULL;
    for (int i = 0; i < f->noutputs; i++)
        if (f->outputs[i] == g) return NULL;
    for (int i = 0; i < n->all.len; i++) {
        Node *e = n->all.data[i];
        for (int k = 0; k < e->nargs; k++) {
            if (e->args[k] != g || (e->op == OP_sum || e->op == OP_gen)) continue; // as the body: computed there anyway
            if (e->op != OP_at || k != 0 || read) return NULL;
            read = e;
        }
    }
    return read;
}

static bool is_one_of(const Var *v, Node *const *idx, int n) {
    for (int k = 0; k < n; k++)
        if (idx[k] == ir_var(v)) return true;
    return false;
}

// Are the indices different variables whose loops depend on nothing but what g depends on, and is there one loop each?
static bool reads_each_once(const Nodes *n, Node *g, Node *read) {
    int rank = read->nargs - 1;
    Node **idx = read->args + 1;
    for (int k = 0; k < rank; k++) {
        if (idx[k]->op != OP_var || idx[k]->u.var->is_state) return false;
        for (int j = 0; j < k; j++)
            if (idx[j] == idx[k]) return false;
        Node *loop = NULL;
        for (int i = 0; i < n->binders.len; i++) {
            Node *b = n->binders.data[i];
            if (b->u.var != idx[k]->u.var || !binder_repeats(b, read)) continue;
            // loops that need each other's results cannot be one, and would compute the element twice
            if (loop && (ir_reaches(b, loop) || ir_reaches(loop, b)) && pass_cost(g->args[0]) > PASS_COST_DEAR) return false;
            loop = b;
            for (int q = 0; q < b->fv->n; q++)
                if (!varset_has(g->fv, b->fv->v[q]) && !is_one_of(b->fv->v[q], idx, rank)) return false;
        }
    }
    return true;
}

static Node *element(Ir *m, Node *g, Node *read) {
    Node *from[MAX_RANK];
    int n = read->nargs - 1;
    for (int k = 0; k < n; k++) {
        if (g->op != OP_gen) return NULL;
        if (!ir_index_in_range(m, n, read->args + 1, k, g->shape[0])) return NULL; // the index itself must be checked
        from[k] = ir_var(g->u.var);
        g = g->args[0];
    }
    return rule(m, RULE_fuse) ? ir_subst(m, g, n, from, read->args + 1) : NULL;
}

static bool fuse_one(Func *f) {
    Nodes n;
    nodes_collect(f, &n);
    bool changed = false;
    for (int i = n.all.len; i-- > 0 && !changed;) {
        Node *g = n.all.data[i];
        if (g->op != OP_gen || ir_has_scatter(f->ir, g)) continue;
        Node *read = single_read(&n, g, f);
        if (!read || !reads_each_once(&n, g, read)) continue;
        Node *e = element(f->ir, g, read);
        if (!e) continue;
        ir_replace_in(f->ir, f->noutputs, f->outputs, read, e);
        explain(f->ir->explain, EXPLAIN_LOOPS, g->span, "fuse: %s is not stored: its elements are read in one place, once",
                ir_quote(f->ir, g));
        changed = true;
    }
    nodes_free(&n);
    return changed;
}

void pass_fuse(Func *f) {
    for (int limit = 1000; limit > 0 && fuse_one(f); limit--) continue;
}
