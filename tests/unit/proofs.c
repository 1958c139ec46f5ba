// Statements about Int values that the compiler takes for proved, against all values in a small box: a wrong proof
// would take away a check of an index. And conditions before and after the rules, in sums over triangular ranges.
#include "ir/scalar.h"
#include "ir/tensor.h"
#include "oracle/internal.h"

#include <stdio.h>

// ---- random Int terms

enum { NSIZES = 2, NPARAMS = 2, NVARS = 3, BOX = 4 };
// Values of a world, in this order: sizes, parameters, variables, and the least, the greatest and some element of an
// argument.
enum { ARRAY = NSIZES + NPARAMS, LEAST = ARRAY + NVARS, GREATEST, ELEMENT, NVALUES };

typedef struct World {
    Arena *arena;
    Ir *m;
    Random r;
    Node *size[NSIZES], *param[NPARAMS];
    Var *v[NVARS]; // extents mention the ones before
    int nvars;
    Node *element; // of the argument, if it is measured
    int64_t value[NVALUES];
    bool stops; // something was divided by 0: there is no value
} World;

static int pick(World *w, int n) { return (int)(random_bits(&w->r) % (uint64_t)n); }
static Node *num(World *w, int64_t k) { return ir_int(w->m, k); }

static Node *leaf(World *w) {
    int k = pick(w, 10);
    if (w->element && pick(w, 3) == 0) return w->element;
    if (k < 5 && w->nvars) return ir_var(w->v[pick(w, w->nvars)]);
    if (k < 8) return w->size[pick(w, NSIZES)];
    return k == 8 ? w->param[pick(w, NPARAMS)] : num(w, pick(w, 5) - 1);
}

static Node *divisor(World *w) {
    Node *n = w->size[pick(w, NSIZES)];
    switch (pick(w, 8)) {
    case 0: return w->m->raw ? num(w, 2) : n; // a condition whose value does not count may lose its error
    case 1: return ir_add(w->m, n, num(w, 1));
    case 2: return ir_op(w->m, OP_max, n, num(w, 1));
    case 3: return ir_add(w->m, w->nvars ? ir_var(w->v[pick(w, w->nvars)]) : n, num(w, 1));
    default: return num(w, 1 + pick(w, 3));
    }
}

static Node *term(World *w, int depth) {
    Ir *m = w->m;
    if (depth == 0 || pick(w, 4) == 0) return leaf(w);
    Node *a = term(w, depth - 1);
    switch (pick(w, 13)) {
    case 0:
    case 1:
    case 2: return ir_add(m, a, term(w, depth - 1));
    case 3:
    case 4:
    case 5: return ir_sub(m, a, term(w, depth - 1));
    case 6: return ir_mul(m, a, term(w, depth - 1));
    case 7: return ir_mul(m, num(w, pick(w, 5) - 2), a);
    case 8: return ir_op(m, OP_idiv, a, divisor(w));
    case 9: return ir_op(m, OP_irem, a, divisor(w));
    case 10: return ir_op(m, pick(w, 2) ? OP_min : OP_max, a, term(w, depth - 1));
    case 11: return ir_abs(m, a);
    default: {
        if (!w->nvars || pick(w, 2)) return ir_neg(m, a);
        Var *q = ir_index(m, "q", term(w, 1)); // of equal values: the first
        return ir_binder_plain(m, pick(w, 2) ? OP_argmin : OP_argmax, q, a);
    }
    }
}

static Node *condition(World *w, int depth) {
    Ir *m = w->m;
    if (depth > 0 && pick(w, 3) == 0) {
        Node *a = condition(w, depth - 1), *b = condition(w, depth - 1);
        return pick(w, 4) ? ir_and(m, a, b) : ir_or(m, a, b);
    }
    if (depth > 0 && pick(w, 6) == 0) return ir_not(m, condition(w, depth - 1));
    static const Op ops[] = {OP_lt, OP_le, OP_eq, OP_ne};
    return ir_op(m, ops[pick(w, 4)], term(w, 2), term(w, 2));
}

static Node *extent(World *w, int k) {
    Ir *m = w->m;
    Node *n = w->size[pick(w, NSIZES)];
    switch (pick(w, 9)) {
    case 0: return ir_add(m, n, num(w, 1 + pick(w, 2)));
    case 1: return ir_sub(m, n, num(w, 1 + pick(w, 2)));
    case 2: return num(w, pick(w, 4));
    case 3: return k ? ir_add(m, ir_var(w->v[k - 1]), num(w, pick(w, 3))) : n;
    case 4: return k ? ir_sub(m, n, ir_var(w->v[k - 1])) : ir_mul(m, n, num(w, 2));
    case 6: return ir_mul(m, n, ir_add(m, w->size[pick(w, NSIZES)], num(w, pick(w, 2))));
    case 5: return pick(w, 2) ? ir_op(m, OP_min, n, num(w, 2)) : w->param[0];
    default: return n;
    }
}

// What a version assumes of the sizes, and of the first parameter, which is natural then (pass/positive.c).
static void assume(Ir *m, Random *r, Node **input) {
    m->positive = true;
    m->least = ARENA_ARRAY(m->arena, int64_t, ARRAY + 3);
    for (int k = 0; k < ARRAY + 3; k++) m->least[k] = INT64_MIN;
    for (int k = 0; k < NSIZES; k++) m->least[k] = random_int(r, 1, 2);
    m->least[NSIZES] = 0;
    input[NSIZES] = ir_size(m, NSIZES, "a");
    for (int i = random_int(r, 0, 2); i-- > 0;) {
        Node *x = input[random_int(r, 0, NSIZES)], *y = input[random_int(r, 0, NSIZES)];
        if (random_int(r, 0, 2) == 0) y = ir_mul(m, y, input[random_int(r, 0, 1)]);
        if (random_int(r, 0, 2) == 0) y = ir_op(m, OP_idiv, y, ir_int(m, 2));
        Node *e = ir_mul(m, ir_int(m, random_int(r, -2, 2)), x);
        e = ir_add(m, e, ir_mul(m, ir_int(m, random_int(r, -1, 2)), y));
        e = ir_sub(m, e, ir_int(m, random_int(r, -1, 1)));
        if (e->op != OP_lit) ir_assume(m, e);
    }
}

// The elements of an argument, with bounds like `least >= 0` and `n - 2 - greatest >= 0`.
static Node *measure(World *w) {
    Ir *m = w->m;
    Node *array = ir_input(m, ARRAY, "x", KIND_INT, 1, &w->size[0]), *zero = ir_int(m, 0);
    bool natural = pick(w, 2);
    Measured x = ir_measured(m, ARRAY + 1, array, (int64_t[]){-1}, natural);
    m->least[ARRAY + 1] = natural ? pick(w, 2) : INT64_MIN;
    ir_measure(m, x);
    Node *less = ir_sub(m, ir_mul(m, num(w, 1 + pick(w, 2)), w->size[pick(w, NSIZES)]), num(w, pick(w, 3)));
    ir_assume(m, ir_sub(m, less, ir_mul(m, num(w, 1 + pick(w, 2)), x.greatest)));
    if (!natural) ir_assume(m, ir_add(m, x.least, num(w, pick(w, 3))));
    return ir_at(m, array, 1, &zero);
}

static void open_world(World *w, uint64_t seed, bool raw, bool positive) {
    *w = (World){.arena = arena_new(), .r = {seed}};
    w->m = ir_new(w->arena);
    w->m->raw = raw, w->m->positive = positive;
    Node *input[NSIZES + NPARAMS];
    for (int k = 0; k < NSIZES; k++) input[k] = ir_size(w->m, k, k ? "m" : "n");
    for (int k = NSIZES; k < NSIZES + NPARAMS; k++)
        input[k] = ir_input(w->m, k, k > NSIZES ? "b" : "a", KIND_INT, 0, NULL);
    const bool measured = positive && !raw && seed % 8 == 0;
    if (positive && !raw && (measured || pick(w, 2))) assume(w->m, &w->r, input);
    memcpy(w->size, input, sizeof w->size), memcpy(w->param, input + NSIZES, sizeof w->param);
    for (; w->nvars < NVARS; w->nvars++) w->v[w->nvars] = ir_index(w->m, "i", extent(w, w->nvars));
    if (measured) w->element = measure(w);
}

static void close_world(World *w) {
    ir_delete(w->m);
    arena_free(w->arena);
}

// ---- values

static int64_t evaluate(World *w, const Node *e) {
    if (e->op == OP_lit) return e->u.num;
    if (e == w->element) return w->value[ELEMENT];
    if (e->op == OP_input) return w->value[e->u.num > ARRAY ? LEAST + e->u.num - ARRAY - 1 : e->u.num];
    if (e->op == OP_var)
        for (int k = 0; k < NVARS; k++)
            if (e->u.var == w->v[k]) return w->value[ARRAY + k];
    if (e->op == OP_argmin || e->op == OP_argmax) return evaluate(w, e->u.var->extent) > 0 ? 0 : -1; // of a constant
    Scalar x = {.i = evaluate(w, e->args[0])}, y = {.i = e->nargs > 1 ? evaluate(w, e->args[1]) : 0};
    if ((e->op == OP_idiv || e->op == OP_irem) && !y.i) {
        w->stops = true;
        return 0;
    }
    return scalar_op(e->op, e->args[0]->kind, x, y).i;
}

static int64_t evaluate_poly(World *w, Poly p) {
    int64_t total = 0;
    for (int i = 0; i < p.n; i++) {
        int64_t t = p.term[i].coeff;
        for (int k = 0; k < p.term[i].n; k++) t *= evaluate(w, p.term[i].atom[k]);
        total += t;
    }
    return total;
}

// ---- proofs

typedef struct Claim {
    Poly p;
    int nfacts;
    Poly fact[8];
} Claim;

static bool as_assumed(World *w) {
    for (int i = 0; i < w->m->nassumed; i++)
        if (evaluate(w, w->m->assumed[i]) < 0) return false;
    return true;
}

static bool counterexample(World *w, const Claim *c, int k) {
    if (k == (w->element ? NVALUES : ARRAY) && !as_assumed(w)) return false;
    if (k == (w->element ? NVALUES : LEAST)) {
        w->stops = false;
        for (int i = 0; i < c->nfacts; i++)
            if (evaluate_poly(w, c->fact[i]) < 0) return false;
        return evaluate_poly(w, c->p) < 0 && !w->stops;
    }
    int64_t low = 0, high = BOX;
    if (k < NSIZES) low = ir_least_size(w->m, k);
    else if (k < NSIZES + NPARAMS) low = w->param[k - NSIZES]->nonneg ? 0 : -3, high = 3;
    else if (k < LEAST) high = evaluate(w, w->v[k - ARRAY]->extent);
    else low = k == LEAST ? -2 : w->value[LEAST], high = k == ELEMENT ? w->value[GREATEST] + 1 : 4;
    if (k == LEAST && w->m->least[ARRAY + 1] > low) low = w->m->least[ARRAY + 1];
    for (int64_t x = low; x < high; x++) {
        w->value[k] = x;
        if (counterexample(w, c, k + 1)) return true;
    }
    return false;
}

static void print_claim(World *w, const Claim *c) {
    Str s = {0};
    str_puts(&s, "# ");
    ir_print_value(&s, poly_node(w->m, c->p));
    str_puts(&s, " >= 0 given");
    for (int i = 0; i < c->nfacts; i++) {
        str_puts(&s, i ? ", " : " ");
        ir_print_value(&s, poly_node(w->m, c->fact[i]));
    }
    for (int i = 0; i < w->m->nassumed; i++) {
        str_puts(&s, "; assumed >= 0: ");
        ir_print_value(&s, w->m->assumed[i]);
    }
    str_puts(&s, "; extents");
    for (int k = 0; k < NVARS; k++) {
        str_puts(&s, k ? ", " : " ");
        ir_print_value(&s, w->v[k]->extent);
    }
    str_puts(&s, "; values");
    for (int k = 0; k < NVALUES; k++) str_printf(&s, " %lld", (long long)w->value[k]);
    printf("%s\n", str_text(&s));
    str_free(&s);
}

// What an index into an array of so many elements says: 2 * n - 1 - 3 * x[0], or x[0] * b + 1.
static Node *of_element(World *w) {
    Ir *m = w->m;
    Node *e = w->element, *n = ir_mul(m, num(w, pick(w, 3)), w->size[pick(w, NSIZES)]);
    Node *other = pick(w, 2) ? ir_op(m, OP_idiv, ir_sub(m, w->size[0], num(w, 3)), num(w, 2)) : leaf(w);
    if (pick(w, 3) == 0) e = ir_mul(m, e, other);
    if (pick(w, 4) == 0) e = ir_op(m, pick(w, 2) ? OP_idiv : OP_irem, e, divisor(w));
    return ir_add(m, ir_sub(m, n, ir_mul(m, num(w, pick(w, 5) - 2), e)), num(w, pick(w, 5) - 3));
}

static bool test_proof(uint64_t seed, int *proved) {
    World w;
    Claim c = {0};
    open_world(&w, seed, false, seed % 4 == 0);
    if (pick(&w, 2)) c.nfacts = poly_facts(w.m, condition(&w, 1), c.fact, 8);
    c.p = poly_of(w.m, w.element && pick(&w, 4) ? of_element(&w) : term(&w, 3));
    bool claimed = poly_nonneg_given(w.m, c.p, c.nfacts, c.fact), wrong = claimed && counterexample(&w, &c, 0);
    *proved += claimed;
    if (wrong) {
        printf("# seed %llu\n", (unsigned long long)seed);
        print_claim(&w, &c);
    }
    close_world(&w);
    return !wrong;
}

// ---- rules

// The sum over the variables of [p] * (a number for each of their values), and a term.
static Func conditional_sum(World *w) {
    Ir *m = w->m;
    Node *weight = num(w, 1), *p = condition(w, 2);
    for (int k = 0; k < NVARS; k++) weight = ir_add(m, ir_mul(m, weight, num(w, 7)), ir_var(w->v[k]));
    Node *e = ir_bracket(m, p, pick(w, 2) ? weight : ir_mul(m, weight, term(w, 2)));
    if (pick(w, 3) == 0) e = ir_select(m, condition(w, 1), e, term(w, 2));
    if (pick(w, 3) == 0) e = ir_bracket(m, condition(w, 1), e);
    for (int k = NVARS; k-- > 0;) e = ir_sum(m, w->v[k], e);
    Func f = {.name = "f", .ir = m, .ninputs = NSIZES + NPARAMS, .nsizes = NSIZES, .noutputs = 1};
    f.inputs = ARENA_ARRAY(w->arena, Node *, NSIZES + NPARAMS);
    for (int k = 0; k < NSIZES; k++) f.inputs[k] = w->size[k];
    for (int k = 0; k < NPARAMS; k++) f.inputs[NSIZES + k] = w->param[k];
    f.outputs = arena_copy(w->arena, &e, sizeof e);
    return f;
}

static int64_t run(World *w, const Func *f, const int64_t *values, int *code) {
    Tensor in[NSIZES + NPARAMS], out;
    const char *error = NULL;
    for (int k = 0; k < NSIZES + NPARAMS; k++) {
        in[k] = tensor_new(w->arena, KIND_INT, 0, NULL);
        *(int64_t *)in[k].data = values[k];
    }
    *code = interp_run(w->arena, f, in, &out, NULL, &error);
    return *code ? 0 : tensor_get_int(&out, 0);
}

static bool test_rules(uint64_t seed) {
    World raw, m;
    bool positive = seed % 4 == 0, ok = true;
    open_world(&raw, seed, true, false);
    open_world(&m, seed, true, false);
    Func f = conditional_sum(&raw);
    Ir *simple = ir_new(m.arena);
    simple->positive = positive;
    Func g = f;
    g.ir = simple;
    g.outputs = ARENA_ARRAY(m.arena, Node *, 1);
    g.inputs = ARENA_ARRAY(m.arena, Node *, f.ninputs);
    for (int k = 0; k < f.ninputs; k++) g.inputs[k] = ir_copy(simple, f.inputs[k]);
    g.outputs[0] = ir_copy(simple, f.outputs[0]);
    ir_verify(&g);
    for (int t = 0; ok && t < 12; t++) {
        int64_t values[NSIZES + NPARAMS];
        int ca, cb;
        for (int k = 0; k < NSIZES + NPARAMS; k++)
            values[k] = k < NSIZES ? random_int(&raw.r, positive, 4) : random_int(&raw.r, -3, 3);
        int64_t a = run(&raw, &f, values, &ca), b = run(&m, &g, values, &cb);
        ok = a == b && !ca == !cb;
        if (ok) continue;
        Str s = {0};
        ir_print(&s, &f);
        ir_print(&s, &g);
        printf("# seed %llu: %lld (%d) as written, %lld (%d) with the rules, for n=%lld m=%lld a=%lld b=%lld\n# ",
               (unsigned long long)seed, (long long)a, ca, (long long)b, cb, (long long)values[0], (long long)values[1],
               (long long)values[2], (long long)values[3]);
        for (const char *p = str_text(&s); *p; p++) printf(*p == '\n' ? "\n# " : "%c", *p);
        printf("\n");
        str_free(&s);
    }
    ir_delete(simple);
    close_world(&raw), close_world(&m);
    return ok;
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000;
    int proved = 0, wrong = 0, broken = 0;
    for (uint64_t s = first; s < first + count && wrong < 5; s++) wrong += !test_proof(s, &proved);
    printf("%s proofs hold%s # %d claims\n", wrong ? "not ok" : "ok", wrong ? ": see above" : "", proved);
    for (uint64_t s = first; s < first + count / 4 && broken < 3; s++) broken += !test_rules(s);
    printf("%s rules on conditions keep values%s\n", broken ? "not ok" : "ok", broken ? ": see above" : "");
    return wrong || broken;
}
