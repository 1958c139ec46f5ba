// `evaluated (a, b)`: true, once its operands have been evaluated, arrays with all elements; an error where one of them
// has an error. A derivative of f at x stands under `evaluated (f x)`, so that it fails where f does.
//
// Of an operand only what may fail is kept, its *check*: the slice of it that can raise an error. This costs no more
// than the operand, and nothing where that is proved not to fail.
//
//     evaluated (sum m (fun i -> exp x[k[i]]))  is  evaluated (sum m (fun i -> int (evaluated trues[k[i]])))
//
// where `trues` is an array as long as x. Raw terms keep the operand as it is: the interpreter evaluates all of it, and
// so tells whether the check is right.
#include "ir/internal.h"
#include "support/map.h"
#include "support/vec.h"

// A check has so many parts at most; else some of them are checks themselves, so that those of values which share parts
// stay small.
enum { MOST = 32 };

typedef struct Slice {
    Ir *m;
    Map of; // the check of a value that may fail; the value itself stands for "nothing can fail in it"
} Slice;

typedef VEC(Node *) Parts;

static bool is_checked(const Node *e) { return e->op == OP_evaluated || (e->op == OP_lit && e->kind == KIND_BOOL); }

// Is e the number that a sum of checks adds up: a check, perhaps under brackets?
static bool is_counted(const Node *e) {
    while (e->op == OP_bracket) e = e->args[1];
    return e->op == OP_conv && is_checked(e->args[0]);
}

// Is e a check that has been made before? It stays as it is.
static bool is_check(const Node *e) {
    const Node *body = e->nargs ? e->args[0] : e;
    switch (e->op) {
    case OP_sum: return is_counted(body);
    case OP_gen: return is_checked(body);
    case OP_at:
        while (body->op == OP_gen) body = body->args[0];
        return is_checked(body);
    case OP_select: return is_checked(e->args[1]) && is_checked(e->args[2]);
    case OP_or:
    case OP_and:
    case OP_assert: return is_checked(e->args[1]);
    default: return false;
    }
}

// The check of e, whose operands have theirs; NULL: nothing can fail in it.
static Node *check_of(const Slice *s, Node *e) {
    if (!e->partial || e->op == OP_evaluated) return e->partial ? e : NULL;
    Node *c = map_get(&s->of, e);
    if (!c) fatal_bug("the check of an operand is missing");
    return c == e ? NULL : c;
}

static bool has(const Parts *parts, const Node *e) {
    for (int i = 0; i < parts->len; i++)
        if (parts->data[i] == e) return true;
    return false;
}

static void add(Parts *parts, Node *e) {
    if (!e || !e->partial || has(parts, e)) return;
    if (e->op == OP_evaluated && parts->len + e->nargs <= MOST)
        for (int i = 0; i < e->nargs; i++) add(parts, e->args[i]);
    else vec_push(parts, e);
}

static Node *check_all(Ir *m, const Parts *parts) {
    if (parts->len == 0) return NULL;
    if (parts->len == 1 && parts->data[0]->op == OP_evaluated) return parts->data[0];
    return ir_intern(m, &(Node){.op = OP_evaluated, .kind = KIND_BOOL, .partial = true}, parts->len, parts->data);
}

// The parts of the check that are not in `known`. Those that mention none of the variables go to `out`.
static Node *take(Ir *m, Node *check, const Parts *known, int n, Var *const *v, Parts *out) {
    Parts rest = {0};
    for (int i = 0; check && i < check->nargs; i++) {
        Node *e = check->args[i];
        bool free = n > 0;
        for (int k = 0; k < n; k++) free &= !node_has_var(e, v[k]);
        if (has(known, e)) continue;
        add(free ? out : &rest, e);
    }
    Node *r = check_all(m, &rest);
    vec_free(&rest);
    return r;
}

static Node *or_true(const Slice *s, Node *check) { return check ? check : ir_bool(s->m, true); }

// e is evaluated where c holds, `other` where it does not; what is in `known` is checked anyway.
static void add_choice(const Slice *s, Parts *parts, const Parts *known, Node *c, Node *e, Node *other) {
    Node *a = take(s->m, check_of(s, e), known, 0, NULL, NULL), *b = NULL;
    if (other) b = take(s->m, check_of(s, other), known, 0, NULL, NULL);
    if (a || b) add(parts, a == b ? a : ir_select(s->m, c, or_true(s, a), or_true(s, b)));
}

// What is checked in any case is not checked once more under a condition.
static void forget_twice(const Slice *s, Parts *parts) {
    Parts all = *parts, known = {0};
    *parts = (Parts){0};
    for (int i = 0; i < all.len; i++)
        if (all.data[i]->op != OP_select) add(&known, all.data[i]);
    for (int i = 0; i < all.len; i++) {
        Node *e = all.data[i];
        bool choice = e->op == OP_select;
        for (int k = 1; k < 3 && choice; k++) choice = e->args[k]->op == OP_evaluated || !e->args[k]->partial;
        if (choice) add_choice(s, parts, &known, e->args[0], e->args[1], e->args[2]);
        else add(parts, e);
    }
    vec_free(&all), vec_free(&known);
}

// That the size of an array is not negative.
static void add_size(Ir *m, Parts *parts, const Node *e) {
    if (e->fails) add(parts, ir_binder_plain(m, OP_gen, ir_index(m, "k", e->u.var->extent), ir_bool(m, true)));
}

// What c, which is evaluated under a condition, is as a number to be added up. Rules of brackets then narrow the sum.
static Node *counted(Ir *m, Node *c) {
    if (c->op == OP_evaluated && c->nargs == 1 && c->args[0]->op == OP_select) c = c->args[0];
    if (c->op != OP_select || (c->args[1]->partial && c->args[2]->partial))
        return ir_conv(m, KIND_INT, check_all(m, &(Parts){.data = &c, .len = 1}));
    bool first = c->args[1]->partial;
    return ir_bracket(m, first ? c->args[0] : ir_not(m, c->args[0]), counted(m, c->args[first ? 1 : 2]));
}

// The choice that a number to be added up stands for.
static Node *uncounted(Ir *m, Node *e) {
    if (e->op == OP_bracket) return ir_select(m, e->args[0], uncounted(m, e->args[1]), ir_bool(m, true));
    return e->args[0];
}

static Node *narrow(Ir *m, Parts *parts, Var *v, Node *check);

// A check that is a choice: where rules of brackets find for which v its condition holds, only these are visited.
static Node *narrow_choice(Ir *m, Parts *parts, Var *v, Node *check) {
    if (!node_has_var(check->args[0], v)) return check;
    Node *sum = ir_sum(m, v, counted(m, check));
    bool narrower = sum->op == OP_sum ? sum->u.var->extent != v->extent && is_counted(sum->args[0]) : is_counted(sum);
    if (narrower) add(parts, sum->op == OP_sum ? sum : uncounted(m, sum));
    return narrower ? NULL : check;
}

// A check of all values of another variable, which are visited before those of v if that leaves fewer of v.
static Node *narrow_sum(Ir *m, Parts *parts, Var *v, Node *check) {
    Var *outer = check->u.var;
    if (outer->extent->partial || node_has_var(outer->extent, v) || !is_counted(check->args[0])) return check;
    Parts few = {0}, rest = {0};
    Node *each = uncounted(m, check->args[0]);
    int n = each->op == OP_evaluated ? each->nargs : 1;
    for (int i = 0; i < n; i++) add(&rest, narrow(m, &few, v, each->op == OP_evaluated ? each->args[i] : each));
    for (int i = 0; i < few.len; i++) add(parts, ir_sum(m, outer, counted(m, few.data[i])));
    Node *left = few.len ? check_all(m, &rest) : NULL;
    Node *r = left ? ir_sum(m, outer, ir_conv(m, KIND_INT, left)) : few.len ? NULL : check;
    vec_free(&few), vec_free(&rest);
    return r;
}

// Each element of an array of checks, or, if indices are variables and v, the innermost, goes over all of its places, what is
// checked of that element: loops around it visit none twice.
static Node *element_of_all(Ir *m, const Var *v, Node *read) {
    Node *e = read->args[0], *last = read->args[read->nargs - 1];
    bool all = last->op == OP_var && last->u.var == v && v->extent == read->args[0]->shape[read->nargs - 2];
    for (int k = 1; k < read->nargs; k++) all &= read->args[k]->op == OP_var;
    for (int k = 1; k < read->nargs && all && e->op == OP_gen; k++) e = ir_subst1(m, e->args[0], ir_var(e->u.var), read->args[k]);
    return all && is_checked(e) ? e : read;
}

// What is checked for all values of v: what rules leave of it where they find the few values that matter is a part. The
// result is what else is to be checked, if anything.
//
//     sum t < 4*p, sum o < p: if t = 4*o + 1 then evaluated k[o] else true   is   sum o < p: evaluated k[o]
static Node *narrow(Ir *m, Parts *parts, Var *v, Node *check) {
    if (!node_has_var(check, v)) return check;
    if (check->op == OP_select) return narrow_choice(m, parts, v, check);
    if (check->op == OP_sum) return narrow_sum(m, parts, v, check);
    Node *e = check->op == OP_at ? element_of_all(m, v, check) : check;
    if (e->op != OP_evaluated) return check;
    Parts rest = {0};
    for (int i = 0; i < e->nargs; i++) add(&rest, narrow(m, parts, v, e->args[i]));
    Node *r = check_all(m, &rest);
    vec_free(&rest);
    return r;
}

// The body of a binder is evaluated for all values of its variable, if there are any.
static void add_all(const Slice *s, Parts *parts, const Node *e) {
    Ir *m = s->m;
    Var *v = e->u.var;
    Parts once = {0};
    add(parts, check_of(s, v->extent));
    Node *each = take(m, check_of(s, e->args[0]), parts, 1, &v, &once);
    Node *one = check_all(m, &once);
    if (one) add(parts, ir_select(m, ir_lt(m, ir_int(m, 0), v->extent), one, ir_bool(m, true)));
    Parts all = {0};
    for (int i = 0; each && i < each->nargs; i++) add(&all, narrow(m, parts, v, each->args[i]));
    Node *rest = check_all(m, &all);
    if (rest) add(parts, ir_sum(m, v, ir_conv(m, KIND_INT, rest)));
    vec_free(&all), vec_free(&once);
}

// The index of an extreme element is out of range where there is no element.
static Node *some_element(Ir *m, Node *extent, const char *text) {
    return ir_assert(m, ir_lt(m, ir_int(m, 0), extent), text, ir_bool(m, true));
}

// An index that may be out of range is checked for itself, so that elements of a row are checked once.
static void add_bounds(Ir *m, Parts *parts, const Node *e) {
    Node *a = e->args[0], *const *idx = e->args + 1;
    for (int k = 0; k < a->rank && e->fails && m->bounds != BOUNDS_NEVER; k++) {
        if (ir_index_in_range(m, a->rank, idx, k, a->shape[k])) continue;
        bool extreme = (idx[k]->op == OP_argmin || idx[k]->op == OP_argmax) && idx[k]->u.var->extent == a->shape[k];
        int nvalues;
        if (extreme) {
            add(parts, some_element(m, a->shape[k], ir_bounds_text(idx[k], &nvalues)));
            continue;
        }
        Node *trues = ir_gen(m, ir_index(m, "k", a->shape[k]), ir_bool(m, true)), *of = idx[k];
        add(parts, ir_at(m, trues, 1, &of));
    }
}

// Is all of the check among the parts?
static bool covered(const Parts *parts, const Node *check) {
    bool all = check != NULL;
    for (int i = 0; all && i < check->nargs; i++) all = has(parts, check->args[i]);
    return all;
}

// What reading an array checks: its index, and the element, unless all elements have been checked: as for `a[argmin a]`.
static void add_read(const Slice *s, Parts *parts, Node *e) {
    Ir *m = s->m;
    Node *a = e->args[0], *body = a, *each = NULL;
    VEC(Var *) v = {0};
    bool derived = m->derived && map_get(m->derived, a);
    for (; body->op == OP_gen; body = body->args[0]) vec_push(&v, body->u.var);
    if (a->partial && v.len < a->rank && !derived) { // it is made as a whole
        add(parts, e);
        vec_free(&v);
        return;
    }
    for (int k = 1; k < e->nargs; k++) add(parts, check_of(s, e->args[k]));
    if (derived) add(parts, check_of(s, a));
    else if (a->partial && !covered(parts, check_of(s, a))) each = take(m, check_of(s, body), parts, v.len, v.data, parts);
    for (int k = a->rank; each && k-- > 0;) each = ir_gen(m, v.data[k], each);
    if (each) add(parts, ir_at(m, each, e->nargs - 1, e->args + 1));
    else add_bounds(m, parts, e);
    vec_free(&v);
}

static bool loop_fails(const Node *loop) {
    bool fails = loop->op == OP_fold && ir_loop(loop)->index->extent->partial;
    for (int i = 0; i < loop->nargs; i++) fails |= loop->args[i]->partial;
    return fails;
}

static void add_operands(const Slice *s, Parts *parts, const Node *e, int first) {
    for (int i = first; i < e->nargs; i++) add(parts, check_of(s, e->args[i]));
}

// What evaluating e checks itself, and what its operands check.
static void add_parts(const Slice *s, Parts *parts, Node *e) {
    Ir *m = s->m;
    switch (e->op) {
    case OP_select:
        add(parts, check_of(s, e->args[0]));
        add_choice(s, parts, parts, e->args[0], e->args[1], e->args[2]);
        break;
    case OP_bracket:
    case OP_and:
        add(parts, check_of(s, e->args[0]));
        add_choice(s, parts, parts, e->args[0], e->args[1], NULL);
        break;
    case OP_or:
        add(parts, check_of(s, e->args[0]));
        add_choice(s, parts, parts, ir_not(m, e->args[0]), e->args[1], NULL);
        break;
    case OP_assert:
        add(parts, check_of(s, e->args[0]));
        if (!ir_is_demand(e))
            add(parts, ir_assert_values(m, e->args[0], e->u.text, ir_bool(m, true), e->nargs - 2, e->args + 2));
        add(parts, check_of(s, e->args[1]));
        break;
    case OP_gen:
    case OP_sum:
    case OP_argmin:
    case OP_argmax:
        if (e->op == OP_gen && !m->debug_nan) add_size(m, parts, e);
        else if (e->fails) add(parts, e);
        add_all(s, parts, e);
        break;
    case OP_at: add_read(s, parts, e); break;
    case OP_final:
    case OP_trace:
    case OP_count: add(parts, loop_fails(e->args[0]) ? e : NULL); break;
    case OP_extern:
    case OP_result: add(parts, e); break;
    default:
        if (e->fails) add(parts, e);
        else add_operands(s, parts, e, 0);
    }
}

static Node *slice(const Slice *s, Node *e) {
    Parts parts = {0};
    Span before = ir_from(s->m, e);
    add_parts(s, &parts, e);
    forget_twice(s, &parts);
    Node *check = check_all(s->m, &parts);
    s->m->span = before;
    vec_free(&parts);
    return check ? check : e;
}

// Finds the checks of e and of what it is computed from, operands first: chains of values are long.
static void visit(Slice *s, Node *e) {
    typedef struct Frame {
        Node *e;
        int next;
    } Frame;
    VEC(Frame) stack = {0};
    vec_push(&stack, ((Frame){e, 0}));
    while (stack.len) {
        Frame *top = &vec_last(&stack);
        Node *of = top->e, *extent = ir_is_binder(of) ? of->u.var->extent : NULL;
        Node *known = s->m->derived ? map_get(s->m->derived, of) : NULL;
        if (known) map_put(&s->of, of, known);
        bool done = !of->partial || map_get(&s->of, of), checks = is_check(of);
        bool leaf = checks || of->op == OP_evaluated || ir_is_loop(of);
        if (!done && !leaf && top->next < of->nargs + (extent != NULL)) {
            Node *o = top->next < of->nargs ? of->args[top->next] : extent;
            top->next++;
            vec_push(&stack, ((Frame){o, 0}));
            continue;
        }
        if (!done && checks) map_put(&s->of, of, check_all(s->m, &(Parts){.data = &of, .len = 1}));
        else if (!done) map_put(&s->of, of, leaf ? of : slice(s, of));
        (void)vec_pop(&stack);
    }
    vec_free(&stack);
}

void ir_derived(Ir *m, Node *e, Node *check) {
    if (m->raw || !e->partial) return;
    if (!m->derived) m->derived = ARENA_NEW(m->arena, Map);
    map_put(m->derived, e, check->partial ? check : e);
}

Node *ir_evaluated(Ir *m, int n, Node *const *e) {
    Slice s = {.m = m};
    Parts parts = {0};
    for (int i = 0; i < n; i++) {
        if (m->raw || !e[i]->partial || is_check(e[i])) {
            add(&parts, e[i]);
            continue;
        }
        visit(&s, e[i]);
        add(&parts, check_of(&s, e[i]));
    }
    if (!m->raw) forget_twice(&s, &parts);
    Node *r = check_all(m, &parts);
    map_free(&s.of);
    vec_free(&parts);
    return r ? r : ir_bool(m, true);
}
