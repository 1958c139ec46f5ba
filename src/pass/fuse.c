// Fusion ([FS] Fig. 8 c): an array whose elements are read in one place, each once, is not stored. Reading it elsewhere
// too, or in a loop that would compute an element again, keeps it; so does an array that is scattered into.
#include "pass/occurs.h"
#include "pass/pass.h"
#include "pass/trace.h"

#include "ir/reach.h"
#include "ir/rule.h"

enum { MAX_RANK = 16 };

// The only indexing of array g, or NULL if there are none or several, or if it is used whole.
static Node *single_read(const Users *u, Node *g, const Func *f) {
    Node *read = NULL;
    for (int i = 0; i < func_roots(f); i++)
        if (f->outputs[i] == g) return NULL;
    for (int i = 0; i < users_count(u, g); i++) {
        Node *e = users_of(u, g)[i];
        if (e->op == OP_sum || e->op == OP_gen) continue; // as the body: computed there anyway
        if (e->op != OP_at || e->args[0] != g || read) return NULL;
        read = e;
    }
    return read;
}

static bool binds(const Loop *l, const Var *v) {
    bool found = l->index == v;
    for (int k = 0; k < l->n; k++) found |= l->state[k] == v;
    return found;
}

static bool is_one_of(const Var *v, Node *const *idx, int n) {
    for (int k = 0; k < n; k++)
        if (idx[k] == ir_var(v)) return true;
    return false;
}

// Does g stay in each iteration of a sequential loop that binds v, since it depends on another of that loop's
// variables?
static bool changes_with(const Nodes *n, const Node *g, const Var *v) {
    for (int i = 0; i < n->all.len; i++) {
        const Node *e = n->all.data[i];
        if (ir_is_loop(e) && binds(ir_loop(e), v) && loop_varies(ir_loop(e), g)) return true;
    }
    return false;
}

// Would a sequential loop over idx[k] run again for the same element?
static bool runs_again(const Nodes *all, Reach *r, const Node *g, Node *read, int k) {
    Node **idx = read->args + 1;
    for (int i = 0; i < all->all.len; i++) {
        Node *e = all->all.data[i];
        if (e->op != OP_fold || ir_loop(e)->index != idx[k]->u.var || !reach(r, e, read)) continue;
        for (int q = 0; q < e->fv->n; q++) {
            const Var *v = e->fv->v[q];
            if (!varset_has(g->fv, v) && !is_one_of(v, idx, read->nargs - 1) && !changes_with(all, g, v)) return true;
        }
    }
    return false;
}

typedef struct Found {
    Node *read, *by;
} Found;

// The program in one round: what is read of arrays that are not stored is replaced at its end.
typedef struct Fuse {
    Func *f;
    Nodes nodes;
    Users users;
    Reach *reach;
    Arena *arena; // of the facts, once they are asked for
    Map facts;
    VEC(Found) found; // arrays that contain others first
    Map dropped;      // those of them whose elements are under the same variables where they are read -> the read
    Map moved;        // what stands in the others
    bool passed;      // the round ends, since a loop has got a variable of its own
} Fuse;

// Does a loop run under condition p, which is known where it is needed? Not if p changes with what the loop does not
// change with: it is placed further out then.
static bool stays_under(const Node *p, const Node *loop) {
    for (int i = 0; i < p->fv->n; i++)
        if (!varset_has(loop->fv, p->fv->v[i])) return false;
    return true;
}

static bool has_all(const Facts *f, const Facts *of, const Node *loop) {
    for (int i = 0; i < of->n; i++) {
        bool has = !stays_under(of->p[i], loop);
        for (int k = 0; k < f->n && !has; k++) has = f->p[k] == of->p[i];
        if (!has) return false;
    }
    return true;
}

// Do two loops run under the same conditions? In different branches they cannot be one.
static bool same_branch(Fuse *z, const Node *a, const Node *b) {
    if (!z->arena) facts_collect(z->f->ir, z->arena = arena_new(), z->nodes.all.len, z->nodes.all.data, &z->facts);
    const Facts *of_a = map_get(&z->facts, a), *of_b = map_get(&z->facts, b);
    return has_all(of_a, of_b, b) && has_all(of_b, of_a, a);
}

// Are the indices different variables whose loops depend on nothing but what g depends on, and is there one loop each?
static bool reads_each_once(Fuse *z, Node *g, Node *read) {
    enum { MAX_LOOPS = 64 };
    const Nodes *all = &z->nodes;
    int rank = read->nargs - 1;
    Node **idx = read->args + 1;
    for (int k = 0; k < rank; k++) {
        if (idx[k]->op != OP_var || idx[k]->u.var->is_state) return false;
        for (int j = 0; j < k; j++)
            if (idx[j] == idx[k]) return false;
        Node *loop[MAX_LOOPS];
        int n = users_binders(&z->users, &z->dropped, idx[k]->u.var, read, loop, MAX_LOOPS);
        if (n == MAX_LOOPS) return false;
        bool dear = pass_cost(g->args[0]) > PASS_COST_DEAR;
        if (n == 0 && dear && runs_again(all, z->reach, g, read, k)) return false;
        dear &= n > 1;
        for (int i = 0; i < n; i++) {
            // loops that need each other's results cannot be one, and would compute the element twice
            for (int j = 0; dear && j < n; j++)
                if (j != i && (reach(z->reach, loop[i], loop[j]) || !same_branch(z, loop[i], loop[j]))) return false;
            for (int q = 0; q < loop[i]->fv->n; q++) {
                const Var *v = loop[i]->fv->v[q];
                if (!varset_has(g->fv, v) && !is_one_of(v, idx, rank) && !changes_with(all, g, v)) return false;
            }
        }
    }
    return true;
}

// Is the array made anew for each read, since it changes with all that the indices change with? Then one element is
// needed of it: (build n (fun k -> sin (x[i] * x[k])))[at[i]] in a loop over i. Outside of loops, where at most one is
// read, what takes loops and a check is an array: that is made where it is needed.
static bool made_for_each_read(const Node *g, const Node *read) {
    const Node *body = g;
    while (body->op == OP_gen) body = body->args[0];
    if (read->fv->n == 0 && read->fails && pass_cost((Node *)body) >= PASS_COST_LOOP) return false;
    for (int i = 0; i < read->fv->n; i++)
        if (!varset_has(g->fv, read->fv->v[i])) return false;
    return true;
}

// Is it known where the element is read that its index is in range?
static bool is_in_range(Fuse *z, const Node *read) {
    Ir *m = z->f->ir;
    if (!z->arena) facts_collect(m, z->arena = arena_new(), z->nodes.all.len, z->nodes.all.data, &z->facts);
    const Facts *f = map_get(&z->facts, read);
    bool in = f && f->n;
    for (int k = 1; k < read->nargs && in; k++) {
        Node *i = read->args[k], *end = read->args[0]->shape[k - 1];
        if (ir_index_in_range(m, read->nargs - 1, read->args + 1, k - 1, end)) continue;
        in = facts_refute(m, f, ir_lt(m, i, ir_int(m, 0))) && facts_refute(m, f, ir_le(m, end, i));
    }
    return in;
}

// e, an element of an array with these extents, where the indices have been checked.
static Node *checked_element(Ir *m, Node *read, Node *e) {
    Span keep = ir_from(m, read);
    Node *there = ir_bool(m, true);
    for (int k = read->nargs - 1; k-- > 0;)
        there = ir_binder_plain(m, OP_gen, ir_index(m, "k", read->args[0]->shape[k]), there);
    there = ir_at(m, there, read->nargs - 1, read->args + 1);
    e = ir_demand(m, ir_evaluated(m, 1, &there), e);
    m->span = keep;
    return e;
}

static Node *element(Fuse *z, Node *g, Node *read) {
    Ir *m = z->f->ir;
    Node *from[MAX_RANK];
    int n = read->nargs - 1;
    for (int k = 0; k < n; k++, g = g->args[0]) {
        if (g->op != OP_gen) return NULL;
        from[k] = ir_var(g->u.var);
    }
    bool check = read->fails && g->op == OP_lit; // of a constant nothing but that is needed
    if (check || !rule(m, RULE_fuse)) return NULL;
    Node *e = ir_subst(m, g, n, from, read->args + 1);
    return read->fails && !is_in_range(z, read) ? checked_element(m, read, e) : e;
}

// Does an attribute say that it is?
static bool is_stored(Ir *m, const Node *g) {
    Wish *wish = g->u.var->wishes.of[WISH_materialise];
    if (!wish) return false;
    wish_follow(wish);
    explain(m->explain, EXPLAIN_LOOPS, g->span, "fuse: %s is stored: `#[materialise]` says so", ir_quote(m, g));
    return true;
}

// Loops that take over those of g have its wishes, too: gives a loop around `read` a variable of its own for this.
// False if there is nothing to do.
static bool pass_on(Func *f, const Users *u, const Node *g, Node *read) {
    enum { MAX_LOOPS = 64 };
    for (int k = 1; k < read->nargs && g->op == OP_gen; k++, g = g->args[0]) {
        if (read->args[k]->op != OP_var) continue;
        Var *v = read->args[k]->u.var;
        Wishes both = v->wishes;
        wishes_pass_on(&both, &g->u.var->wishes);
        Node *loop[MAX_LOOPS];
        if (wishes_agree(&both, &v->wishes) || !users_binders(u, NULL, v, read, loop, MAX_LOOPS)) continue;
        if (!ir_is_binder(loop[0])) continue;
        Var *w = ir_index_like(f->ir, v, v->extent);
        w->wishes = both;
        Node *body = ir_subst1(f->ir, loop[0]->args[0], ir_var(v), ir_var(w));
        ir_replace_in(f->ir, func_roots(f), f->outputs, loop[0], ir_binder_plain(f->ir, loop[0]->op, w, body));
        return true;
    }
    return false;
}

// What stands in an array that is not stored, under variables of its own, stands elsewhere after this round.
static void enter(Fuse *z, Node *e) {
    if (map_get(&z->moved, e)) return;
    map_put(&z->moved, e, e);
    for (int i = 0; i < e->nargs; i++) enter(z, e->args[i]);
}

// Do the loops that read it have the array's own variables, and are its rows no arrays of something else? Then what is
// in the array needs no other names there.
static bool has_names_of(const Fuse *z, const Node *read, const Node *g) {
    for (int k = 1; k < read->nargs; k++, g = g->args[0])
        if (read->args[k] != ir_var(g->u.var) || users_count(&z->users, g) != 1) return false;
    return true;
}

static void drop(Fuse *z, Node *read, Node *g) {
    if (!has_names_of(z, read, g)) {
        enter(z, g->args[0]);
        return;
    }
    for (int k = 1; k < read->nargs; k++, g = g->args[0]) map_put(&z->dropped, g, read);
}

// An array whose elements cost nothing is stored for none of its reads.
static void replace_free(Fuse *z, Node *g) {
    const Users *u = &z->users;
    int n = users_count(u, g), reads = 0;
    for (int i = 0; i < func_roots(z->f); i++)
        if (z->f->outputs[i] == g) return;
    for (int i = 0; i < n; i++) {
        Node *read = users_of(u, g)[i];
        if (read->op == OP_sum || read->op == OP_gen) continue;
        if (read->op != OP_at || read->args[0] != g || map_get(&z->moved, read) || !made_for_each_read(g, read)) return;
        if (!ir_free_element(z->f->ir, read)) return;
        reads++;
    }
    for (int i = 0; i < n; i++) {
        Node *read = users_of(u, g)[i], *e = read->op == OP_at ? element(z, g, read) : NULL;
        if (e) vec_push(&z->found, ((Found){read, e}));
    }
    if (reads) enter(z, g->args[0]);
}

// Is there nothing more to be done in this round?
static bool look_at(Fuse *z, Node *g) {
    Ir *m = z->f->ir;
    if (g->op != OP_gen || is_stored(m, g)) return false;
    bool scattered = ir_has_scatter(m, g);
    Node *read = scattered ? NULL : single_read(&z->users, g, z->f);
    if (!read) replace_free(z, g);
    if (!read || map_get(&z->moved, read)) return false;
    if (!made_for_each_read(g, read) && !reads_each_once(z, g, read)) return false;
    if (pass_on(z->f, &z->users, g, read)) return z->passed = true;
    Node *e = element(z, g, read);
    if (!e) return false;
    vec_push(&z->found, ((Found){read, e}));
    drop(z, read, g);
    explain(m->explain, EXPLAIN_LOOPS, g->span, "fuse: %s is not stored: its elements are read in one place, once",
            ir_quote(m, g));
    return false;
}

// Puts elements in the place of all that was found, those in elements of others first. A few are replaced one after the
// other, those around others first: what is made last is younger, and of two nests of which either could be first the
// older one is.
static void replace(Fuse *z) {
    enum { FEW = 32 };
    Ir *m = z->f->ir;
    if (z->found.len <= FEW) {
        for (int i = 0; i < z->found.len; i++)
            ir_replace_in(m, func_roots(z->f), z->f->outputs, z->found.data[i].read, z->found.data[i].by);
        return;
    }
    Rewriting *w = ir_replacing(m, 0, NULL, NULL);
    for (int i = z->found.len; i-- > 0;)
        ir_replacing_too(w, z->found.data[i].read, ir_rewrite(w, z->found.data[i].by));
    for (int i = 0; i < func_roots(z->f); i++) z->f->outputs[i] = ir_rewrite(w, z->f->outputs[i]);
    ir_rewriting_end(w);
}

static bool fuse_some(Func *f) {
    Fuse z = {.f = f};
    nodes_collect(f, &z.nodes);
    users_collect(&z.nodes, &z.users);
    z.reach = reach_new(func_roots(f), f->outputs);
    for (int i = z.nodes.all.len; i-- > 0 && !look_at(&z, z.nodes.all.data[i]);) continue;
    bool any = z.passed || z.found.len;
    if (!z.passed) replace(&z);
    nodes_free(&z.nodes);
    users_free(&z.users);
    reach_free(z.reach);
    map_free(&z.facts), map_free(&z.moved), map_free(&z.dropped);
    vec_free(&z.found);
    if (z.arena) arena_free(z.arena);
    return any;
}

void pass_fuse(Func *f) {
    for (int limit = 1000; limit > 0 && fuse_some(f); limit--) continue;
}
