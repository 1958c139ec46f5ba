// The table of rules, ir/rules.def: each row is a line of docs/rules.md, and has an example in rules.txt where it applies
// and one where it does not. Random terms have the same values with any set of rules; rewriting ends, and what it leaves is
// not rewritten again. Programs and their derivatives are right without any rule, and without each.
#define _POSIX_C_SOURCE 200809L
#include "ad/ad.h"
#include "driver/file.h"
#include "driver/passes.h"
#include "ir/rule.h"
#include "ir/tensor.h"
#include "oracle/oracle.h"
#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void report(bool ok, const char *name, const char *why) {
    if (ok) printf("ok %s\n", name);
    else printf("not ok %s: %s\n", name, why);
    failures += !ok;
}

static const char *root(void) {
    const char *path = getenv("FSMC_ROOT");
    return path ? path : "../..";
}

static const Source *read_file(Arena *a, const char *path) {
    Diag *diag = diag_new(a);
    const Source *src = file_read(a, diag, arena_printf(a, "%s/%s", root(), path));
    diag_delete(diag);
    return src;
}

// ---- the page

// A cell of a table in Markdown.
static const char *cell(Arena *a, const char *text) {
    Str s = {0};
    for (; *text; text++) str_printf(&s, *text == '|' ? "\\%c" : "%c", *text);
    const char *r = arena_strdup(a, str_text(&s));
    str_free(&s);
    return r;
}

static void test_page(Arena *a) {
    const Source *page = read_file(a, "docs/rules.md");
    int lines = 0;
    for (const char *p = page ? page->text : ""; (p = strstr(p, "\n| `")); p++) lines++;
    for (int k = 0; k < RULE_COUNT; k++) {
        const RuleInfo *r = &rule_info[k];
        const char *line = arena_printf(a, "\n| `%s`%s | `%s` | %s | %s |\n", r->name,
                                        r->form     ? " *always*"
                                        : r->coarse ? " *coarse*"
                                                    : "",
                                        cell(a, r->law), cell(a, r->condition), r->source);
        if (!page || !strstr(page->text, line)) report(false, "docs/rules.md", arena_printf(a, "there is no line%s", line));
    }
    report(lines == RULE_COUNT, "docs/rules.md has a line for each rule", arena_printf(a, "%d lines, %d rules", lines, RULE_COUNT));
}

// ---- arguments: n, m, x, y, z, i, j, p, q, a, b, is

enum { INPUTS = 12, TRIALS = 6 };
static const char parameters[] = "n: i64 size, m: i64 size, x: f64, y: f64, z: f64, i: i64, j: i64, p: bool, q: bool, "
                                 "a: f64[n], b: f64[m], is: i64[n]";

static void make_arguments(Arena *a, int trial, Tensor *in) {
    static const int64_t sizes[TRIALS][2] = {{3, 2}, {1, 1}, {0, 0}, {2, 3}, {5, 4}, {0, 2}};
    static const Kind kinds[INPUTS] = {KIND_INT, KIND_INT,  KIND_DOUBLE, KIND_DOUBLE, KIND_DOUBLE, KIND_INT,
                                       KIND_INT, KIND_BOOL, KIND_BOOL,   KIND_DOUBLE, KIND_DOUBLE, KIND_INT};
    Random r = random_named((uint64_t)trial, "rules");
    for (int k = 0; k < INPUTS; k++) {
        const int64_t *extent = &sizes[trial][k == 10];
        in[k] = tensor_new(a, kinds[k], k >= 9, extent);
        for (int64_t e = 0; e < tensor_count(&in[k]); e++) {
            double least = kinds[k] == KIND_INT && k < 9 ? -1 : 0, most = kinds[k] == KIND_BOOL ? 1
                                                                          : k < 9               ? 4
                                                                                                : (double)*extent - 1;
            bool real = kinds[k] == KIND_DOUBLE;
            tensor_set(&in[k], e, real ? random_real(&r, 0.25, 1.75) : (double)random_int(&r, (int64_t)least, (int64_t)most));
        }
        if (k < 2) tensor_set(&in[k], 0, (double)sizes[trial][k]);
    }
}

// Does `got` have the values of `want`, wherever that has one, and a number? `slack` is the size of the terms that `want` adds up,
// or NULL.
static const char *differ(Arena *a, const Func *want, const Func *got, const Func *slack, double tolerance) {
    for (int t = 0; t < TRIALS; t++) {
        Tensor in[INPUTS], u[4], v[4], w[4];
        const char *error = NULL;
        make_arguments(a, t, in);
        if (interp_run(a, want, in, u, NULL, &error)) continue;
        if (interp_run(a, got, in, v, NULL, &error)) return arena_printf(a, "trial %d: %s", t, error);
        if (slack && interp_run(a, slack, in, w, NULL, &error)) return arena_printf(a, "trial %d, terms: %s", t, error);
        for (int o = 0; o < want->noutputs; o++)
            for (int64_t e = 0; e < tensor_count(&u[o]); e++) {
                double x = tensor_get(&u[o], e), y = tensor_get(&v[o], e);
                double terms = slack ? tensor_get(&w[o], e) : 1 + fabs(x), bound = tolerance * terms;
                if (!isfinite(terms)) continue; // of an arm that is not taken
                if (!(fabs(x - y) <= bound) && isfinite(x)) return arena_printf(a, "trial %d: %.17g, not %.17g", t, y, x);
            }
    }
    return NULL;
}

// ---- examples

typedef struct Example {
    Rule rule;
    bool fires, precise, fast, grad, stable;
    char passes[64], text[1024];
} Example;

static bool read_word(const char **p, char *out, size_t size) {
    size_t n = strcspn(*p, " \n");
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), *p);
    *p += n;
    while (**p == ' ') ++*p;
    return n > 0;
}

static const Pass *next_pass(const char **list) {
    char name[32];
    size_t n = strcspn(*list, ",");
    snprintf(name, sizeof name, "%.*s", (int)n, *list);
    *list += n + ((*list)[n] == ',');
    return pass_find(name);
}

static bool is_passes(const char *word) {
    const char *rest = word;
    return next_pass(&rest) != NULL;
}

// RULE +|- [precise|fast] [grad|stable] [PASS,...] TYPE BODY
static bool read_example(const char *line, Example *x) {
    char name[64], word[64];
    const char *p = line;
    *x = (Example){.rule = RULE_COUNT};
    if (!read_word(&p, name, sizeof name) || !read_word(&p, word, sizeof word)) return false;
    for (int k = 0; k < RULE_COUNT; k++)
        if (!strcmp(rule_info[k].name, name)) x->rule = (Rule)k;
    x->fires = *word == '+';
    if (x->rule == RULE_COUNT || (*word != '+' && *word != '-')) return false;
    const char *type = p;
    while (read_word(&p, word, sizeof word)) {
        if (!strcmp(word, "precise")) x->precise = true;
        else if (!strcmp(word, "fast")) x->fast = true;
        else if (!strcmp(word, "grad")) x->grad = true;
        else if (!strcmp(word, "stable")) x->stable = true;
        else if (is_passes(word)) snprintf(x->passes, sizeof x->passes, "%s", word);
        else break;
        type = p;
    }
    const char *body = type + strcspn(type, "(%");
    size_t length = strcspn(body, "\n");
    snprintf(x->text, sizeof x->text, "func f(%s) -> %.*s {\n  %s%.*s\n}\n", parameters, (int)(body - type), type,
             *body == '(' ? "return " : "", (int)length, body);
    return true;
}

// Puts the derivative by x in the place of the function's first result.
static void differentiate(Ir *m, Func *f) {
    Node *one = ir_real(m, KIND_DOUBLE, 1), *x = NULL;
    AdError error = {0};
    for (int i = 0; i < f->ninputs; i++)
        if (!strcmp(f->inputs[i]->name, "x")) x = f->inputs[i];
    if (!x || !ad_reverse(m, 1, f->outputs, &one, 1, &x, f->outputs, &error)) fatal_bug("no derivative of an example");
}

// The function of an example, with the rules of r, or as written without.
static Func *build(Arena *a, Ir *m, const Example *x, Rules *r) {
    Source *src = ARENA_NEW(a, Source);
    *src = (Source){"rules.txt", x->text, strlen(x->text)};
    Diag *diag = diag_new(a);
    int n;
    m->raw = !r, m->rules = r, m->strict = x->precise, m->fast = x->fast;
    Func **f = ir_read(m, diag, src, &n);
    if (!f) {
        Str s = {0};
        diag_print(diag, &s, false);
        printf("# %s# %s", x->text, str_text(&s));
        str_free(&s);
    }
    diag_delete(diag);
    if (f && x->grad) differentiate(m, f[0]);
    if (f && x->stable && r) f[0]->outputs[0] = ad_stable(m, f[0]->outputs[0]);
    const char *list = x->passes;
    while (f && r && *list) next_pass(&list)->run(f[0]);
    if (f) ir_verify(f[0]);
    return f ? f[0] : NULL;
}

static const char *check_example(Arena *a, const Example *x) {
    bool off[RULE_COUNT] = {0};
    off[x->rule] = true;
    Ir *raw = ir_new(a), *with = ir_new(a), *without = ir_new(a);
    Rules *all = rules_new(a, NULL, -1, false), *others = rules_new(a, off, -1, false);
    Func *want = build(a, raw, x, NULL), *f = build(a, with, x, all), *g = build(a, without, x, others);
    const char *why = NULL;
    if (!want || !f || !g) why = "it does not compile";
    if (!why && !rules_count(all, x->rule) == x->fires) why = x->fires ? "it does not apply" : "it applies";
    if (!why && rules_count(others, x->rule) && !rule_info[x->rule].form) why = "it applies though it is left out";
    if (!why) why = differ(a, want, f, NULL, 1e-12);
    if (!why && (why = differ(a, want, g, NULL, 1e-12))) why = arena_printf(a, "left out: %s", why);
    ir_delete(raw), ir_delete(with), ir_delete(without);
    return why;
}

static void test_examples(void) {
    Arena *text = arena_new();
    const Source *file = read_file(text, "tests/unit/rules.txt");
    int count[RULE_COUNT][2] = {{0}};
    for (const char *line = file ? file->text : ""; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        Example x;
        if (*line == '#' || *line == '\n') continue;
        Arena *a = arena_new();
        bool ok = read_example(line, &x);
        const char *why = ok ? check_example(a, &x) : "not understood";
        if (ok) count[x.rule][x.fires]++;
        if (why) report(false, arena_printf(a, "rules.txt: %.*s", (int)strcspn(line, "\n"), line), why);
        arena_free(a);
    }
    for (int k = 0; k < RULE_COUNT; k++) {
        const char *name = arena_printf(text, "%s has an example and a counterexample", rule_info[k].name);
        report(count[k][0] && count[k][1], name, count[k][1] ? "there is no counterexample" : "there is no example");
    }
    arena_free(text);
}

// ---- random terms

enum { MAX_SCOPE = 3, MAX_REWRITINGS = 10000, DEPTH = 6 };

typedef struct World {
    Arena *arena;
    Ir *m;
    Random r;
    Node *in[INPUTS];
    Var *scope[MAX_SCOPE];
    int nscope;
    bool fast, precise;
} World;

// A number, and the size of what was added up for it.
typedef struct Real {
    Node *e, *size;
} Real;

static int pick(World *w, int n) { return (int)(random_bits(&w->r) % (uint64_t)n); }
static Node *number(World *w, double x) { return ir_real(w->m, KIND_DOUBLE, x); }
static Real real(World *w, int depth);

static Node *random_int_term(World *w) {
    Ir *m = w->m;
    Node *e = pick(w, 2) && w->nscope ? ir_var(w->scope[pick(w, w->nscope)]) : w->in[(const int[]){0, 0, 1, 5, 6}[pick(w, 5)]];
    int k = pick(w, 4);
    return k == 0 ? ir_add(m, e, ir_int(m, pick(w, 4) - 1)) : k == 1 ? ir_sub(m, w->in[0], e) : e;
}

static Node *condition(World *w, int depth) {
    Ir *m = w->m;
    int k = pick(w, depth > 0 ? 9 : 6);
    if (k < 3) return ir_op(m, (const Op[]){OP_lt, OP_le, OP_eq}[k], random_int_term(w), random_int_term(w));
    if (k == 3) return ir_lt(m, w->in[2], w->in[3]);
    if (k < 6) return w->in[7 + (k == 4)];
    Node *c = condition(w, depth - 1);
    return k == 6 ? ir_not(m, c) : ir_op(m, k == 7 ? OP_and : OP_or, c, condition(w, depth - 1));
}

static Real leaf(World *w) {
    Ir *m = w->m;
    static const double literals[] = {0, 1, -1, 2, -3, 0.5};
    Node *e = w->in[2 + pick(w, 3)];
    int k = pick(w, 4);
    if (k == 0) e = number(w, literals[pick(w, 6)]);
    if (k == 1 && w->nscope) {
        Var *v = w->scope[pick(w, w->nscope)];
        e = v->extent == w->in[0] ? ir_at1(m, w->in[9], ir_var(v)) : ir_conv(m, KIND_DOUBLE, ir_var(v));
    }
    return (Real){e, ir_op(m, OP_abs, e, NULL)};
}

// Functions of a positive number, one of the other; well enough conditioned.
static Real functions(World *w) {
    static const Op ops[] = {OP_exp, OP_log, OP_sqrt, OP_sin, OP_cos, OP_neg, OP_abs, OP_log1p, OP_powi};
    Ir *m = w->m;
    Node *e = w->in[2 + pick(w, 3)];
    for (int k = 1 + pick(w, 3); k > 0; k--) {
        Op op = ops[pick(w, 9)];
        e = ir_op(m, op, e, op == OP_powi ? ir_int(m, pick(w, 5) - 1) : NULL);
    }
    if (pick(w, 3) == 0) e = ir_mul(m, e, e);
    return (Real){e, ir_add(m, ir_op(m, OP_abs, e, NULL), number(w, 1000))};
}

// A sum, or an element of an array, over a new variable.
static Real bound(World *w, int depth) {
    Ir *m = w->m;
    if (w->nscope == MAX_SCOPE) return leaf(w);
    Var *v = ir_index(m, "k", pick(w, 3) ? w->in[0] : ir_int(m, pick(w, 4)));
    w->scope[w->nscope++] = v;
    Real t = real(w, depth - 1);
    w->nscope--;
    if (pick(w, 3)) return (Real){ir_sum(m, v, t.e), ir_sum(m, v, t.size)};
    for (int k = 0; k < w->nscope; k++) {
        if (w->scope[k]->extent != v->extent) continue;
        Node *i = ir_var(w->scope[k]);
        return (Real){ir_at1(m, ir_gen(m, v, t.e), i), ir_at1(m, ir_gen(m, v, t.size), i)};
    }
    return leaf(w);
}

static Real real(World *w, int depth) {
    Ir *m = w->m;
    if (w->fast && pick(w, 4) == 0) return functions(w);
    if (depth == 0 || pick(w, 8) == 0) return leaf(w);
    int k = pick(w, 14);
    if (k >= 12) return bound(w, depth);
    Real a = real(w, depth - 1);
    if (k == 9) return (Real){ir_neg(m, a.e), a.size};
    if (k == 10) return (Real){ir_bracket(m, condition(w, 2), a.e), a.size};
    if (k == 11) {
        Node *b = pick(w, 2) ? w->in[2 + pick(w, 3)] : number(w, (const double[]){1, -1, 4, 3}[pick(w, 4)]);
        return (Real){ir_div(m, a.e, b), ir_div(m, a.size, ir_op(m, OP_abs, b, NULL))};
    }
    Real b = pick(w, 6) ? real(w, depth - 1) : a;
    switch (k) {
    case 0:
    case 1:
    case 2: return (Real){ir_add(m, a.e, b.e), ir_add(m, a.size, b.size)};
    case 3:
    case 4: return (Real){ir_sub(m, a.e, b.e), ir_add(m, a.size, b.size)};
    case 5:
    case 6: return (Real){ir_mul(m, a.e, b.e), ir_mul(m, a.size, b.size)};
    case 7: return (Real){ir_op(m, pick(w, 2) ? OP_min : OP_max, a.e, b.e), ir_add(m, a.size, b.size)};
    default: return (Real){ir_select(m, condition(w, 2), a.e, b.e), ir_add(m, a.size, b.size)};
    }
}

static Func with_output(Arena *a, Ir *m, Node *const *in, Node *e) {
    Func f = {.name = "f", .ir = m, .ninputs = INPUTS, .nsizes = 2, .noutputs = 1};
    f.inputs = arena_copy(a, in, sizeof *in * INPUTS), f.outputs = arena_copy(a, &e, sizeof e);
    return f;
}

static void make_inputs(Ir *m, Node **in) {
    static const char *const names[INPUTS] = {"n", "m", "x", "y", "z", "i", "j", "p", "q", "a", "b", "is"};
    for (int k = 0; k < INPUTS; k++) {
        Kind kind = k < 2 || k == 5 || k == 6 || k == 11 ? KIND_INT : k == 7 || k == 8 ? KIND_BOOL : KIND_DOUBLE;
        in[k] = k < 2 ? ir_size(m, k, names[k]) : ir_input(m, k, names[k], kind, k >= 9, &in[k == 10]);
    }
}

// The function in an Ir of its own, whose rules are r.
static Func rewritten(Arena *a, const Func *f, Rules *r, const World *w) {
    Ir *m = ir_new(a);
    Node *in[INPUTS];
    m->strict = w->precise, m->fast = w->fast;
    for (int k = 0; k < INPUTS; k++) in[k] = ir_copy(m, f->inputs[k]);
    m->rules = r;
    return with_output(a, m, in, ir_copy(m, f->outputs[0]));
}

static int64_t rewritings(const Rules *r) {
    int64_t n = 0;
    for (int k = 0; k < RULE_COUNT; k++) n += rules_count(r, (Rule)k);
    return n;
}

static const char *printed(Arena *a, const Func *f) {
    Str s = {0};
    ir_print(&s, f);
    const char *text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}

// once: rewriting the result changes nothing.
static const char *check_term(Arena *a, World *w, const bool *off, bool once) {
    Real t = real(w, DEPTH);
    Func want = with_output(a, w->m, w->in, t.e), size = with_output(a, w->m, w->in, t.size);
    Rules *r = rules_new(a, off, MAX_REWRITINGS, false), *again = rules_new(a, off, MAX_REWRITINGS, false);
    Func f = rewritten(a, &want, r, w);
    ir_verify(&f);
    const char *why = rewritings(r) >= MAX_REWRITINGS ? "rewriting does not end" : differ(a, &want, &f, &size, 1e-12);
    if (!why && once) {
        Func g = rewritten(a, &f, again, w);
        const char *first = printed(a, &f), *second = printed(a, &g);
        if (strcmp(first, second)) why = arena_printf(a, "the rules change what they have made:\n%s%s", first, second);
        ir_delete(g.ir);
    }
    if (why) why = arena_printf(a, "%s\n%s%s", why, printed(a, &want), printed(a, &f));
    ir_delete(f.ir);
    return why;
}

// The rules that are left out, at random: none, those of an order that depends on what was made first, few, or half of them.
static void leave_out(uint64_t seed, bool *off) {
    Random r = {seed * 77};
    for (int k = 0; k < RULE_COUNT; k++) {
        int one_in = seed % 4 == 2 ? 8 : 2;
        off[k] =
            seed % 4 == 1 ? k == RULE_mul_order || k == RULE_extreme_order || k == RULE_compare_sides : seed % 4 && random_bits(&r) % (uint64_t)one_in == 0;
    }
}

static void print_comment(const char *text) {
    printf("# ");
    for (; *text; text++) printf(*text == '\n' ? "\n# " : "%c", *text);
    printf("\n");
}

static void test_terms(uint64_t first, uint64_t count) {
    int wrong = 0;
    for (uint64_t seed = first; seed < first + count && wrong < 3; seed++) {
        bool off[RULE_COUNT];
        World w = {.arena = arena_new(), .r = {seed}, .precise = seed % 5 == 0, .fast = seed % 5 == 1};
        w.m = ir_new(w.arena);
        w.m->raw = true;
        make_inputs(w.m, w.in);
        leave_out(seed, off);
        const char *why = check_term(w.arena, &w, off, seed % 4 == 1);
        if (why) {
            printf("# seed %llu\n", (unsigned long long)seed);
            print_comment(why);
            wrong++;
        }
        ir_delete(w.m);
        arena_free(w.arena);
    }
    report(!wrong, "random terms keep their values, with all rules and with some", "see above");
}

// ---- programs and their derivatives

typedef struct Job {
    Arena *arena;
    const char *program;
    bool off[RULE_COUNT];
    const char *why;
} Job;

static void on_report(void *data, const char *entry, OracleGroup group, const char *why) {
    Job *j = data;
    if (why && strncmp(why, "skip: ", 6) && !j->why)
        j->why = arena_printf(j->arena, "%s, %s: %s", entry, oracle_group_names[group], why);
}

static int check_program(void *data) {
    Job *j = data;
    const Source *src = read_file(j->arena, arena_printf(j->arena, "tests/ad/%s.fsm", j->program));
    OracleOptions o;
    oracle_options_init(&o);
    if (!src || !oracle_options_read(&o, src->text)) return 1;
    o.levels = 0, o.trials = 2, o.rules_off = j->off;
    return !oracle_check(src, &o, on_report, j);
}

static void test_program(const char *program, Rule rule) { // without it; RULE_COUNT: without any
    Job j = {.arena = arena_new(), .program = program};
    int result = 1;
    for (int k = 0; k < RULE_COUNT; k++) j.off[k] = rule == RULE_COUNT || k == (int)rule;
    if (compile_guarded(check_program, &j, &result)) j.why = arena_printf(j.arena, "a broken invariant at %s", oracle_where());
    else if (result) j.why = "it does not compile";
    report(!j.why, arena_printf(j.arena, "%s without %s", program, rule == RULE_COUNT ? "rules" : rule_info[rule].name), j.why);
    fflush(stdout);
    arena_free(j.arena);
}

static void test_programs(void) {
    static const char *const programs[] = {"single", "polynomials", "affine",  "histograms", "scattered_terms",
                                           "folds",  "brackets",    "selects", "gathers",    "convolution_2d",
                                           "slices", "triangular",  "loops",   "matrices"};
    enum { ALL = sizeof programs / sizeof *programs, QUICK = 8 };
    for (int k = 0; k < ALL; k++) test_program(programs[k], RULE_COUNT);
    for (int k = 0; k < RULE_COUNT; k++)
        if (!rule_info[k].form) test_program(programs[k % QUICK], (Rule)k);
}

// usage: rules [SEED [COUNT]]. With arguments, only so many random terms from a seed on.
int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 6000;
    Arena *a = arena_new();
    if (argc == 1) {
        test_page(a);
        test_examples();
        test_programs();
    }
    test_terms(first, count);
    arena_free(a);
    return failures > 0;
}
