// Decides which values get a name in F̃ text and where it is bound. F̃ evaluates by need, so that no choice made here
// changes what is computed: a value used twice is bound in the outermost region in which its variables are bound, but
// inside the conditions that guard all its uses.
#include "ir/fsm_plan.h"

#include <string.h>

// Deeper nesting of inline text is cut by a `let`.
enum { MAX_LEVEL = 40 };

// ---- names

static bool is_taken(const Plan *p, const char *name) {
    for (int i = 0; i < p->taken.len; i++)
        if (!strcmp(p->taken.data[i], name)) return true;
    return false;
}

void plan_take(Plan *p, const char *name) { vec_push(&p->taken, name); }

const char *plan_name(Plan *p, const char *hint) {
    const char *name = hint;
    for (int i = 2; is_taken(p, name); i++) name = arena_printf(p->arena, "%s%d", hint, i);
    plan_take(p, name);
    return name;
}

const char *plan_let_name(Plan *p) {
    const char *name;
    do name = arena_printf(p->arena, "t%d", ++p->nlets);
    while (is_taken(p, name));
    return name;
}

// The name of an index variable inside n others: i, j, k, … .
static const char *index_name(const Plan *p, int n) {
    static const char letters[] = "ijklpqruvwabcdefgh";
    char name[2] = {0};
    for (const char *c = letters; *c; c++) {
        name[0] = *c;
        if (!is_taken(p, name) && n-- == 0) return arena_strdup(p->arena, name);
    }
    for (int i = 1;; i++) {
        const char *more = arena_printf(p->arena, "i%d", i);
        if (!is_taken(p, more) && n-- == 0) return more;
    }
}

static bool is_bound(const Region *r, const char *name) {
    for (; r; r = r->parent)
        for (int i = 0; i < r->nvars; i++)
            if (r->names[i] && !strcmp(r->names[i], name)) return true;
    return false;
}

// The name of a state in r: its hint if that is a word, maybe with a number; never that of an index variable or `let`.
static const char *state_name(const Plan *p, const Region *r, const char *hint) {
    size_t n = hint ? strspn(hint, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") : 0;
    if (n == 0 || (n == 1 && !strchr("stxyz", *hint))) hint = "s", n = 1;
    const char *name = arena_strndup(p->arena, hint, n);
    if (!strcmp(name, "t") && (is_taken(p, name) || is_bound(r, name))) hint = "s"; // t1 is the name of a `let`
    for (int i = 2; is_taken(p, name) || is_bound(r, name); i++) name = arena_printf(p->arena, "%.*s%d", (int)n, hint, i);
    return name;
}

// ---- regions

void plan_init(Plan *p, Arena *arena) {
    *p = (Plan){.arena = arena};
    p->root = ARENA_NEW(arena, Region);
}

void plan_free(Plan *p) {
    map_free(&p->places);
    map_free(&p->inputs);
    vec_free(&p->taken);
}

Region *plan_region(Plan *p, Region *parent, int nvars, Var *const *vars) {
    Region *r = ARENA_NEW(p->arena, Region);
    *r = (Region){.parent = parent, .guard = nvars == 0, .indices = parent->indices, .nvars = nvars};
    r->vars = arena_copy(p->arena, vars, sizeof *vars * (size_t)nvars);
    r->names = ARENA_ARRAY(p->arena, const char *, nvars);
    for (int i = 0; i < nvars; i++) r->names[i] = vars[i]->is_state ? state_name(p, r, vars[i]->name) : index_name(p, r->indices++);
    return r;
}

static bool binds_any(const Region *r, const Node *e) {
    for (int i = 0; i < r->nvars; i++)
        if (node_has_var(e, r->vars[i])) return true;
    return false;
}

static Region *home_of(const Plan *p, const Node *e, const Region *r) {
    if (e->fv->n)
        for (; r->parent; r = r->parent)
            if (binds_any(r, e)) return (Region *)r;
    return p->root;
}

static int depth_of(const Region *r) {
    int n = 0;
    for (; r->parent; r = r->parent) n++;
    return n;
}

static Region *common(Region *a, Region *b) {
    int da = depth_of(a), db = depth_of(b);
    for (; da > db; da--) a = a->parent;
    for (; db > da; db--) b = b->parent;
    while (a != b) a = a->parent, b = b->parent;
    return a;
}

// ---- places

bool plan_is_multiple(const Node *e) {
    return ((e->op == OP_fold || e->op == OP_while) && ir_loop(e)->n > 1) ||
           (e->op == OP_extern && e->u.ext->nresults > 1);
}

static bool is_leaf(const Node *e) { return e->op == OP_lit || e->op == OP_input || e->op == OP_param || e->op == OP_var; }

// Is the text of e so short that it is repeated rather than named?
static bool is_short(const Node *e, int *fuel) {
    if (--*fuel < 0) return false;
    if (is_leaf(e)) return true;
    if (e->op == OP_final) return plan_is_multiple(e->args[0]);
    bool plain = op_is_elementwise(e->op) && op_info[e->op].form != FSM_FN; // not a function, not arithmetic
    if (e->op != OP_neg && kind_is_float(e->kind)) plain = false;
    if (!plain && e->op != OP_at && e->op != OP_conv) return false;
    for (int i = e->op == OP_at; i < e->nargs; i++)
        if (!is_short(e->args[i], fuel)) return false;
    return true;
}

Place *plan_find(const Plan *p, const Node *e, const Region *r) {
    Place *pl = map_get(&p->places, e);
    if (!pl) return NULL;
    Region *home = home_of(p, e, r);
    while (pl && pl->home != home) pl = pl->next;
    return pl;
}

static Place *use(Plan *p, Node *e, Region *r, int level, bool named) {
    if (e->op == OP_input) map_put(&p->inputs, e, e);
    if (is_leaf(e)) return NULL;
    Place *pl = plan_find(p, e, r);
    if (!pl) {
        pl = ARENA_NEW(p->arena, Place);
        *pl = (Place){.e = e, .home = home_of(p, e, r), .at = r, .next = map_get(&p->places, e)};
        map_put(&p->places, e, pl);
    }
    pl->at = common(pl->at, r);
    pl->uses++;
    pl->named |= named;
    if (level > pl->level) pl->level = level;
    return pl;
}

void plan_use(Plan *p, Node *e, Region *r) { use(p, e, r, 0, false); }

static bool leaves_loop(const Region *from, const Region *to) {
    for (; from != to; from = from->parent)
        if (!from->guard) return true;
    return false;
}

// The region for a `let`: outside of loops that it does not depend on. A fallible value stays inside its guards; a
// total one leaves them if that takes it out of a loop, or if `deep` nesting has to be cut.
static Region *let_region(const Place *pl, bool deep) {
    Region *r = pl->at;
    bool out = deep || (!pl->e->partial && leaves_loop(r, pl->home));
    while (r != pl->home && (out || !r->guard)) r = r->parent;
    return r;
}

// Does e hold a loop or a call, so that a reader would not like to see it in a loop that it does not depend on?
static bool is_dear(const Node *e, int *fuel) {
    if (e->rank || --*fuel < 0) return false;
    if (ir_is_binder(e) || e->op == OP_final || e->op == OP_sqrt || op_info[e->op].count == COUNT_CALL) return true;
    for (int i = 0; e->op != OP_at && i < e->nargs; i++)
        if (is_dear(e->args[i], fuel)) return true;
    return false;
}

static void decide(Place *pl) {
    const Node *e = pl->e;
    int fuel = 7, dear_fuel = 20;
    bool multiple = plan_is_multiple(e), loop = e->op == OP_fold || e->op == OP_while, deep = pl->level > MAX_LEVEL;
    if (!multiple && (loop || (is_short(e, &fuel) && !pl->named))) return;
    bool invariant = leaves_loop(pl->at, let_region(pl, false)) && is_dear(e, &dear_fuel);
    if (!multiple && !pl->named && pl->uses < 2 && !deep && !invariant) return;
    pl->let = true;
    pl->level = 0;
    pl->at = let_region(pl, deep);
    pl->below = pl->at->lets; // operands come later, but stand before their users
    pl->at->lets = pl;
}

// ---- operands

static void use_binder(Plan *p, Place *pl) {
    Node *e = pl->e;
    pl->sub[0] = plan_region(p, pl->at, 1, &e->u.var);
    use(p, e->u.var->extent, pl->at, pl->level + 1, false);
    use(p, e->args[0], pl->sub[0], pl->level + 1, false);
}

static void use_loop(Plan *p, Place *pl) {
    Node *e = pl->e;
    Loop *l = ir_loop(e);
    Var **vars = ARENA_ARRAY(p->arena, Var *, l->n + 1);
    memcpy(vars, l->state, sizeof *vars * (size_t)l->n);
    vars[l->n] = l->index;
    pl->sub[0] = plan_region(p, pl->at, l->n + (l->index != NULL), vars);
    if (l->index) {
        use(p, l->index->extent, pl->at, pl->level + 1, false);
    } else { // the condition's lambda, with the same names
        pl->sub[1] = arena_copy(p->arena, pl->sub[0], sizeof *pl->sub[0]);
        use(p, loop_cond(e), pl->sub[1], pl->level + 1, false);
    }
    for (int k = 0; k < l->n; k++) {
        use(p, loop_init(e, k), pl->at, pl->level + 1, false);
        use(p, loop_step(e, k), pl->sub[0], pl->level + 1, false);
    }
}

// A result of a loop with several.
static void use_state(Plan *p, Place *pl) {
    Node *loop = pl->e->args[0];
    Place *at = use(p, loop, pl->at, pl->level + 1, true);
    if (!at->needed) at->needed = ARENA_ARRAY(p->arena, bool, ir_loop(loop)->n);
    at->needed[pl->e->u.num] = true;
}

static void use_operands(Plan *p, Place *pl) {
    Node *e = pl->e;
    int level = pl->level + 1;
    switch (e->op) {
    case OP_gen:
    case OP_sum:
    case OP_argmin:
    case OP_argmax: use_binder(p, pl); return;
    case OP_fold:
    case OP_while: use_loop(p, pl); return;
    case OP_bracket:
    case OP_select:
        use(p, e->args[0], pl->at, level, false);
        for (int k = 1; k < e->nargs; k++) {
            pl->sub[k - 1] = plan_region(p, pl->at, 0, NULL);
            use(p, e->args[k], pl->sub[k - 1], level, false);
        }
        return;
    case OP_assert: // the values of its text are not written
        for (int k = 0; k < 2; k++) use(p, e->args[k], pl->at, level, false);
        return;
    case OP_extern: // nor are its sizes
        for (int k = ir_extern_first(e) + e->u.ext->nsizes; k < ir_extern_end(e); k++) use(p, e->args[k], pl->at, level, false);
        return;
    case OP_final:
        if (plan_is_multiple(e->args[0])) {
            use_state(p, pl);
            return;
        }
    // fall through
    default:
        for (int k = 0; k < e->nargs; k++) use(p, e->args[k], pl->at, level, e->op == OP_at && k == 0);
    }
}

typedef struct Nodes {
    Node **data;
    int len, cap;
} Nodes;

static void collect(Node *e, void *data) {
    Nodes *nodes = data;
    vec_push(nodes, e);
}

void plan_values(Plan *p, int nroots, Node *const *roots) {
    Nodes nodes = {0};
    ir_walk(nroots, roots, collect, &nodes);
    while (nodes.len) { // users before operands
        Node *e = vec_pop(&nodes);
        for (Place *pl = map_get(&p->places, e); pl; pl = pl->next) {
            decide(pl);
            use_operands(p, pl);
        }
    }
    vec_free(&nodes);
}
