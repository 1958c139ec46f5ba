// Does a `while` loop end, whatever its states are? Then its values may be computed where the program does not need them.
//
//     while err > tol && k < n do (…, k + 1)
//
// It does if its condition has a part a < b or a <= b of which b - a, a polynomial of Int states and of what does not change in
// the loop, is less by at least 1 after each step: a linear ranking function.
#include "ir/internal.h"

enum { MOST_CONJUNCTS = 32, MOST_FACTS = 16 };

// Are the states that p mentions numbers, not inside of other values? *changes: is there one?
static bool is_of_states(Poly p, int n, Var *const *state, bool *changes) {
    *changes = false;
    for (int i = 0; i < p.n; i++) {
        for (int j = 0; j < p.term[i].n; j++) {
            const Node *atom = p.term[i].atom[j];
            for (int k = 0; k < n; k++) {
                if (!node_has_var(atom, state[k])) continue;
                if (atom->op != OP_var) return false;
                *changes = true;
            }
        }
    }
    return true;
}

// Is what part c of the condition says at most so many times true? The facts are what the condition says.
static bool ranks(Ir *m, Node *c, int n, Var *const *state, Node *const *step, int nfacts, const Poly *fact) {
    bool changes;
    if ((c->op != OP_lt && c->op != OP_le) || c->args[0]->kind != KIND_INT || c->partial) return false;
    Poly left = poly_add(m, poly_of(m, c->args[1]), poly_scale(m, poly_of(m, c->args[0]), -1));
    if (!is_of_states(left, n, state, &changes) || !changes) return false;
    Node **from = ARENA_ARRAY(m->arena, Node *, n), **to = ARENA_ARRAY(m->arena, Node *, n);
    int count = 0;
    for (int k = 0; k < n; k++)
        if (state[k]->kind == KIND_INT && state[k]->rank == 0) from[count] = ir_var(state[k]), to[count++] = step[k];
    Node *then = ir_subst(m, poly_node(m, left), count, from, to);
    Poly less = poly_add(m, poly_add(m, left, poly_scale(m, poly_of(m, then), -1)), poly_of(m, ir_int(m, -1)));
    return poly_nonneg_given(m, less, nfacts, fact);
}

bool ir_ends(Ir *m, Node *cond, int n, Var *const *state, Node *const *step) {
    Node *part[MOST_CONJUNCTS];
    Poly fact[MOST_FACTS];
    int nparts = 0;
    if (!ir_conjuncts(cond, part, &nparts, MOST_CONJUNCTS)) return false;
    ArenaMark mark = arena_mark(m->polys);
    int nfacts = poly_facts(m, cond, fact, MOST_FACTS);
    bool ends = false;
    for (int i = 0; i < nparts && !ends; i++) ends = ranks(m, part[i], n, state, step, nfacts, fact);
    arena_release(m->polys, mark);
    return ends;
}
