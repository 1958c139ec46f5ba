// Simplification under what is known: inside `[p] * e` and the arms of a select, the condition is a constant
// ([FS] Fig. 8 d: if c then e1[c := true] else e2[c := false]), and `i = a` lets i stand for a.
#include "pass/pass.h"
#include "support/map.h"

enum { MAX_FACTS = 64, MAX_NODES = 2000 };

typedef struct Simplify {
    Ir *m;
    Map memo;
    uint32_t limit; // no more nodes than this: where decisions follow each other, every path would get a copy of what follows
} Simplify;

// e where each conjunct of p holds.
static Node *assume(Ir *m, Node *p, Node *e) {
    Node *fact[MAX_FACTS];
    int n = 0;
    if (!ir_conjuncts(p, fact, &n, MAX_FACTS)) return e;
    for (int i = 0; i < n; i++)
        if (ir_reaches(e, fact[i])) e = ir_replace(m, e, fact[i], ir_bool(m, true));
    return e;
}

static Node *refuse(Ir *m, Node *p, Node *e) { return ir_reaches(e, p) ? ir_replace(m, e, p, ir_bool(m, false)) : e; }

static Node *simplify(Simplify *s, Node *e) {
    if (e->nargs == 0) return e;
    Node *known = map_get(&s->memo, e);
    if (known) return known;
    Node *few[8], **args = e->nargs <= 8 ? few : ARENA_ARRAY(s->m->arena, Node *, e->nargs);
    bool same = true;
    for (int i = 0; i < e->nargs; i++) {
        args[i] = simplify(s, e->args[i]);
        same &= args[i] == e->args[i];
    }
    bool assumes = s->m->next_node < s->limit;
    if (assumes && (e->op == OP_bracket || e->op == OP_select)) {
        Node *a = assume(s->m, args[0], args[1]);
        same &= a == args[1];
        args[1] = a;
    }
    if (assumes && e->op == OP_select) {
        Node *b = refuse(s->m, args[0], args[2]);
        same &= b == args[2];
        args[2] = b;
    }
    Span keep = s->m->span;
    s->m->span = e->span;
    Node *out = same ? e : ir_rebuild(s->m, e, args);
    s->m->span = keep;
    map_put(&s->memo, e, out);
    return out;
}

static void count(Node *e, void *data) {
    (void)e;
    ++*(uint32_t *)data;
}

void pass_simplify(Func *f) {
    uint32_t size = 0;
    ir_walk(f->noutputs, f->outputs, count, &size);
    Simplify s = {.m = f->ir, .limit = f->ir->next_node + size + MAX_NODES};
    for (int i = 0; i < f->noutputs; i++) f->outputs[i] = simplify(&s, f->outputs[i]);
    map_free(&s.memo);
}
