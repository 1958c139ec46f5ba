// Simplification under what is known: inside `[p] * e` and the arms of a select, the condition is a constant
// ([FS] Fig. 8 d: if c then e1[c := true] else e2[c := false]).
#include "pass/pass.h"
#include "ir/rule.h"
#include "support/map.h"

enum { MAX_FACTS = 64, MAX_NODES = 2000, MAX_AFFECTED = 16, MAX_SEARCH = 500, CHEAP = 4 };

typedef struct Simplify {
    Ir *m;
    Map memo;
    uint32_t limit; // no more nodes than this: where decisions follow each other, every path would get a copy of what follows
} Simplify;

// Which values have `part` in them. Long after a condition is computed, most values are of other things.
typedef struct Search {
    Node *part;
    Map found; // part or, where it is not, the value itself
    int fuel;
} Search;

static bool reaches(Search *s, Node *e) {
    if (e == s->part || e->id < s->part->id) return e == s->part;
    Node *known = map_get(&s->found, e);
    if (known || --s->fuel < 0) return known == s->part;
    bool r = ir_is_binder(e) && reaches(s, e->u.var->extent);
    for (int i = 0; i < e->nargs; i++) r |= reaches(s, e->args[i]);
    map_put(&s->found, e, r ? s->part : e);
    return r;
}

// Counts the parts of e that would change with `part`; gives up (false) at what is dear or long, because the copy that
// knows the condition is computed besides the one that others share.
static bool few_affected(Search *s, Node *e, Map *seen, int *left) {
    if (e == s->part || e->id < s->part->id || map_get(seen, e) || !reaches(s, e)) return true;
    map_put(seen, e, e);
    if (--*left < 0 || ir_is_binder(e) || e->op == OP_fold || e->op == OP_while || op_info[e->op].cost > CHEAP) return false;
    for (int i = 0; i < e->nargs; i++)
        if (!few_affected(s, e->args[i], seen, left)) return false;
    return true;
}

// e where `part` is known to be `value`.
static Node *know(Ir *m, Node *e, Node *part, bool value) {
    Map seen = {0};
    int left = MAX_AFFECTED;
    Search s = {.part = part, .fuel = MAX_SEARCH};
    bool small = reaches(&s, e) && few_affected(&s, e, &seen, &left) && s.fuel >= 0;
    map_free(&seen);
    map_free(&s.found);
    return small && rule(m, RULE_known_condition) ? ir_replace(m, e, part, ir_bool(m, value)) : e;
}

// e where two floating numbers are known to differ.
static Node *know_differ(Ir *m, Node *e, Node *a, Node *b) {
    return know(m, know(m, e, ir_ne(m, a, b), true), ir_ne(m, b, a), true);
}

// e where each conjunct of p holds.
static Node *assume(Ir *m, Node *p, Node *e) {
    Node *fact[MAX_FACTS];
    int n = 0;
    if (!ir_conjuncts(p, fact, &n, MAX_FACTS)) return e;
    for (int i = 0; i < n; i++) {
        e = know(m, e, fact[i], true);
        if (fact[i]->op == OP_lt && kind_is_float(fact[i]->args[0]->kind))
            e = know_differ(m, e, fact[i]->args[0], fact[i]->args[1]);
    }
    return e;
}

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
        Node *b = know(s->m, args[2], args[0], false);
        same &= b == args[2];
        args[2] = b;
    }
    Node *out = same ? e : ir_rebuild(s->m, e, args);
    map_put(&s->memo, e, out);
    return out;
}

static void count(Node *e, void *data) {
    (void)e;
    ++*(uint32_t *)data;
}

void pass_simplify(Func *f) {
    uint32_t size = 0;
    ir_walk(func_roots(f), f->outputs, count, &size);
    Simplify s = {.m = f->ir, .limit = f->ir->next_node + size + MAX_NODES};
    for (int i = 0; i < func_roots(f); i++) f->outputs[i] = simplify(&s, f->outputs[i]);
    map_free(&s.memo);
}
