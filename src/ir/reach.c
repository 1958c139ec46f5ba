// Reachability. Two walks through the graph, one of which takes operands in their order and the other one in the opposite, number
// the nodes when they are entered and when they are left. What is entered and left while a node is open is part of it; what is
// left after it is not. Most questions are answered by that; the others by a search that asks it of everything on its way.
#include "ir/reach.h"
#include "support/vec.h"

enum { ORDERS = 2 };

typedef struct Interval {
    uint32_t enter, leave; // 0: not in the graph
} Interval;

struct Reach {
    uint32_t n; // ids of nodes in the graph are smaller
    Interval *at[ORDERS];
    uint32_t *seen, nseen, now; // by id: the last search that came by
};

typedef struct Frame {
    Node *e;
    int next;
} Frame;

// The k-th part of e, or NULL.
static Node *part(const Node *e, int k) {
    if (k < e->nargs) return e->args[k];
    if (k > e->nargs) return NULL;
    return ir_is_binder(e) ? e->u.var->extent : e->op == OP_fold ? e->u.loop->index->extent : NULL;
}

static void number(Reach *r, int order, int n, Node *const *roots) {
    Interval *at = r->at[order];
    VEC(Frame) stack = {0};
    uint32_t count = 0;
    for (int i = 0; i < n; i++) {
        if (at[roots[i]->id].enter) continue;
        at[roots[i]->id].enter = ++count;
        vec_push(&stack, ((Frame){roots[i], 0}));
        while (stack.len) {
            Frame *top = &vec_last(&stack);
            int parts = top->e->nargs, k = top->next++;
            // the extent is the last part in both orders
            Node *p = part(top->e, order && k < parts ? parts - 1 - k : k);
            if (!p) {
                at[top->e->id].leave = ++count;
                (void)vec_pop(&stack);
            } else if (!at[p->id].enter) {
                at[p->id].enter = ++count;
                vec_push(&stack, ((Frame){p, 0}));
            }
        }
    }
    vec_free(&stack);
}

Reach *reach_new(int n, Node *const *roots) {
    Reach *r = calloc(1, sizeof *r);
    if (!r) diag_out_of_memory();
    for (int i = 0; i < n; i++)
        if (roots[i]->id >= r->n) r->n = roots[i]->id + 1; // parts are older
    for (int k = 0; k < ORDERS; k++) {
        r->at[k] = calloc(r->n + 1, sizeof *r->at[k]);
        if (!r->at[k]) diag_out_of_memory();
        number(r, k, n, roots);
    }
    return r;
}

void reach_free(Reach *r) {
    if (!r) return;
    for (int k = 0; k < ORDERS; k++) free(r->at[k]);
    free(r->seen);
    free(r);
}

static bool is_in(const Reach *r, const Node *e) { return e->id < r->n && r->at[0][e->id].enter; }

static bool search(Reach *r, Node *e, const Node *target) {
    if (e == target) return true;
    if (e->id < target->id || r->seen[e->id] == r->now) return false;
    r->seen[e->id] = r->now;
    if (is_in(r, e)) {
        if (!is_in(r, target)) return false;
        for (int k = 0; k < ORDERS; k++) {
            Interval x = r->at[k][e->id], y = r->at[k][target->id];
            if (y.leave > x.leave) return false;
            if (y.enter > x.enter) return true;
        }
    }
    Node *p;
    for (int i = 0; (p = part(e, i)); i++)
        if (search(r, p, target)) return true;
    return false;
}

bool reach(Reach *r, Node *e, Node *target) {
    if (!r) return ir_reaches(e, target);
    if (e->id >= r->nseen) {
        uint32_t n = e->id + e->id / 2 + 1;
        r->seen = realloc(r->seen, sizeof *r->seen * n);
        if (!r->seen) diag_out_of_memory();
        memset(r->seen + r->nseen, 0, sizeof *r->seen * (n - r->nseen));
        r->nseen = n;
    }
    if (!++r->now) memset(r->seen, 0, sizeof *r->seen * r->nseen), r->now = 1;
    return search(r, e, target);
}

bool reach_any(Reach *r, Node *e, int n, Node *const *targets) {
    for (int i = 0; i < n; i++)
        if (reach(r, e, targets[i])) return true;
    return false;
}
