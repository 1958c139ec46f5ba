// Until derivatives are built a loop is kept whole: its reverse goes once over all its states. Then loops lose the states
// and outputs that nobody needs (results.c), and what is not needed after a while loop need not be right after its last
// iteration.
#include "pass/pass.h"

#include "ir/rule.h"
#include "support/vec.h"

// ---- steps that matter only if the loop goes on

typedef struct Finals {
    VEC(Node *) loops; // while loops
    Map used;          // what of their states is needed after them: final -> itself
} Finals;

static void find_finals(Node *e, void *data) {
    Finals *x = data;
    if (e->op == OP_while) vec_push(&x->loops, e);
    if (e->op == OP_final) map_put(&x->used, e, e);
}

// The loop whose states that only the next iteration reads have the steps of an iteration that is not the last. What the
// condition reads decides whether there is one.
static Node *going(Ir *m, const Finals *x, Node *loop) {
    Loop *l = ir_loop(loop);
    Node **steps = arena_copy(m->arena, loop->args + loop_steps(loop), sizeof *steps * (size_t)(l->n + l->nout));
    bool changed = false;
    for (int k = 0; k < l->n; k++) {
        bool read = l->nout > 0 || loop_step(loop, k)->op != OP_select || node_has_var(loop_cond(loop), l->state[k]);
        for (size_t i = 0; i < x->used.cap && !read; i++) {
            const Node *e = x->used.key[i];
            read = e && e->args[0] == loop && e->u.num == k;
        }
        Node *step = read ? steps[k] : ir_while_going(m, loop, k);
        if (step == steps[k] || step->partial || !rule(m, RULE_step_going)) continue;
        steps[k] = step, changed = true;
    }
    return changed ? ir_while_out(m, l, loop->args, loop_cond(loop), steps, NULL) : loop;
}

static bool change_loop(Func *f) {
    Finals x = {0};
    bool changed = false;
    ir_walk(func_roots(f), f->outputs, find_finals, &x);
    for (int i = 0; i < x.loops.len && !changed; i++) {
        Node *loop = x.loops.data[i], *by = going(f->ir, &x, loop);
        changed = by != loop;
        for (int k = 0; changed && k < func_roots(f); k++) f->outputs[k] = ir_replace(f->ir, f->outputs[k], loop, by);
    }
    vec_free(&x.loops);
    map_free(&x.used);
    return changed;
}

void pass_prune(Func *f) {
    enum { MAX_LOOPS = 64 };
    pass_results(f->ir, func_roots(f), f->outputs, false);
    if (f->ir->debug_nan) return; // a step that does not matter may make one
    for (int k = 0; k < MAX_LOOPS && change_loop(f); k++) continue;
}
