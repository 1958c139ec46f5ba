#include "pass/occurs.h"

static void visit(Node *e, void *data) {
    Nodes *n = data;
    vec_push(&n->all, e);
    if (ir_is_binder(e)) vec_push(&n->binders, e);
}

void nodes_of(int n, Node *const *roots, Nodes *out) {
    *out = (Nodes){0};
    ir_walk(n, roots, visit, out);
}

void nodes_collect(const Func *f, Nodes *out) { nodes_of(func_roots(f), f->outputs, out); }

void nodes_free(Nodes *n) {
    vec_free(&n->all);
    vec_free(&n->binders);
}

bool nodes_have(const Nodes *n, Op op) {
    for (int i = 0; i < n->all.len; i++)
        if (n->all.data[i]->op == op) return true;
    return false;
}

// ---- users

void users_collect(const Nodes *n, Users *u) {
    *u = (Users){0};
    for (int i = 0; i < n->all.len; i++)
        if (n->all.data[i]->id >= u->n) u->n = n->all.data[i]->id + 1;
    u->first = calloc(u->n + 2, sizeof *u->first);
    if (!u->first) diag_out_of_memory();
    for (int i = 0; i < n->all.len; i++) // counted one place further on
        for (int k = 0; k < n->all.data[i]->nargs; k++) u->first[n->all.data[i]->args[k]->id + 2]++;
    for (uint32_t i = 2; i <= u->n + 1; i++) u->first[i] += u->first[i - 1];
    u->user = malloc(sizeof *u->user * ((size_t)u->first[u->n + 1] + 1));
    if (!u->user) diag_out_of_memory();
    for (int i = 0; i < n->all.len; i++)
        for (int k = 0; k < n->all.data[i]->nargs; k++) u->user[u->first[n->all.data[i]->args[k]->id + 1]++] = n->all.data[i];
}

void users_free(Users *u) {
    free(u->first);
    free(u->user);
    *u = (Users){0};
}

int users_binders(const Users *u, const Map *dropped, const Var *v, Node *e, Node **out, int max) {
    VEC(Node *) open = {0}; // what mentions v, but e
    Map seen = {0};
    int count = 0;
    vec_push(&open, e);
    for (int next = 0; next < open.len; next++) {
        Node *x = open.data[next];
        for (int i = 0; i < users_count(u, x) && count < max; i++) {
            Node *by = users_of(u, x)[i];
            if (map_get(&seen, by)) continue;
            Node *read = dropped ? map_get(dropped, by) : NULL;
            bool binds = !read && ir_is_binder(by) && by->u.var == v;
            if (read) by = read;
            if (!binds && !node_has_var(by, v)) continue;
            map_put(&seen, by, by);
            if (binds) out[count++] = by;
            if (node_has_var(by, v)) vec_push(&open, by);
        }
    }
    vec_free(&open);
    map_free(&seen);
    return count;
}
