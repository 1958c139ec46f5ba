// The textual form of the IR: what is printed reads back as the same nodes, in the Ir it came from and in a new one;
// malformed text gives a message at its place.
#include "ir/ir.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int failed;

static void report(const char *name, const char *how, bool ok, const char *why) {
    printf(ok ? "ok %s%s\n" : "not ok %s%s: %s\n", name, how, why);
    failed += !ok;
}

// ---- texts that read back

typedef struct Text {
    const char *name, *text;
} Text;

static const Text texts[] = {
    {"literals", "func f() -> f64, f64, f64, f64, f32, f32, f32, i64, i64, bool, bool {\n"
                 "  return 0.5, -0.0, inf, -inf, f32 0.1, f32 nan, f32 -inf, 7, -9223372036854775808, true, false\n}\n"},
    {"signs of nan", "func f() -> f64, f64 {\n  return nan, -nan\n}\n"},
    {"sum", "func f(n: i64 size, x: f64[n]) -> f64 {\n"
            "  %3 = sum i < n {\n"
            "    %1 = at x[i]\n"
            "    %2 = mul %1 %1\n"
            "    yield %2\n"
            "  }\n"
            "  return %3\n}\n"},
    {"extents of later scalars", "func f(x: f64[(add n m)], m: i64, n: i64) -> f64[(add n m)], i64 {\n  return x, m\n}\n"},
    {"values stand where they are bound", "func f(n: i64 size, x: f64[n]) -> f64[n, n] {\n"
                                          "  %1 = at x[0]\n"
                                          "  %2 = exp %1\n"
                                          "  %7 = gen i < n {\n"
                                          "    %3 = at x[i]\n"
                                          "    %4 = mul %2 %3\n"
                                          "    %6 = gen j < n {\n"
                                          "      %5 = at x[j]\n"
                                          "      %8 = add %4 %5\n"
                                          "      yield %8\n"
                                          "    }\n"
                                          "    yield %6\n"
                                          "  }\n"
                                          "  return %7\n}\n"},
    {"every structural kind", "func f(n: i64 size, x: f64[n], b: bool, z: f64) -> f64, f64, f64, i64, i64, f64[2, 2], f32 {\n"
                              "  %1 = select b z 1.0\n  %2 = bracket b z\n  %3 = assert b \"a \\\"quoted\\\" text\\\\\" %2\n"
                              "  %4 = argmin i < n {\n    %t = at x[i]\n    yield %t\n  }\n"
                              "  %5 = argmax i < n {\n    %t = at x[i]\n    yield %t\n  }\n"
                              "  %6 = pack f64[2, 2] z %1 2.0 %2\n  %7 = conv f32 z\n  %8 = stop z\n"
                              "  return %1, %3, %8, %4, %5, %6, %7\n}\n"},
    {"empty pack", "func f() -> f64[0, 3] {\n  %1 = pack f64[0, 3]\n  return %1\n}\n"},
    {"loops", "func f(n: i64 size, x: f64[n]) -> f64, f64[n], f64 {\n"
              "  %3 = fold i < n, s: f64 = 1.0, a: f64[n] = x {\n"
              "    %1 = at a[i]\n    %2 = add s %1\n"
              "    %5 = gen j < n {\n      %4 = at a[j]\n      %6 = mul %4 s\n      yield %6\n    }\n"
              "    yield %2, %5\n  }\n"
              "  %7 = final %3 0\n  %8 = final %3 1\n"
              "  %10 = while t: f64 = %7, u: i64 = 0 {\n"
              "    %9 = lt t 100.0\n    test %9\n    %11 = mul t 2.0\n    %12 = add u 1\n    yield %11, %12\n  }\n"
              "  %13 = final %10 0\n  return %7, %8, %13\n}\n"},
    {"loops in loops", "func f(n: i64 size) -> i64 {\n"
                       "  %4 = fold i < n, s: i64 = 0 {\n"
                       "    %2 = fold j < i, u: i64 = s {\n      %1 = mul u j\n      yield %1\n    }\n"
                       "    %3 = final %2 0\n    yield %3\n  }\n"
                       "  %5 = final %4 0\n  return %5\n}\n"},
    {"extents of inner binders", "func f(n: i64 size, x: f64[n]) -> f64 {\n"
                                 "  %5 = sum i < n {\n"
                                 "    %1 = add i 1\n"
                                 "    %4 = sum j < %1 {\n      %2 = at x[j]\n      yield %2\n    }\n"
                                 "    yield %4\n  }\n  return %5\n}\n"},
    {"the order of a polynomial", "func f(n: i64 size, x: f64[n], is: i64[n]) -> f64[n] {\n"
                                  "  %1 = at is[0]\n"
                                  "  %5 = gen i < n {\n"
                                  "    %2 = at is[i]\n    %3 = add i %1\n    %6 = add %3 %2\n    %4 = at x[%6]\n"
                                  "    yield %4\n  }\n  return %5\n}\n"},
    {"a function's header", "func `f g`(n: i64 size, m: i64 size, `true`: f64[n, m], k: i64, p: f64[(mul n m)]) "
                            "-> y: f64[n, m], f64 {\n"
                            "  doc \"what it does\\nin two lines\"\n"
                            "  param q: (f64[n, m], i64)\n  param p: f64[(mul n m)]\n"
                            "  result (f64[n, m], (f64))\n"
                            "  %1 = le 0 k\n  check 2 %1 \"%d is negative\" [k]\n  check 2 %1 \"no values\"\n"
                            "  return `true`, 1.0\n}\n"},
    {"an array of tuples", "func f(n: i64 size, a: f64[n], b: f64[n, 3]) -> f64 {\n"
                           "  param p: (f64, f64[3])[n]\n  return 0.5\n}\n"},
    {"a function without results", "func f() {\n  return\n}\n"},
    {"nested operands and comments", "// first\nfunc f(n: i64 size, x: f64[n]) -> f64 { // second\n"
                                     "  %s = sum i < n { yield (mul (at x[i]) (at x[(sub (sub n 1) i)])) }\n"
                                     "  %e = at (gen j < n { yield (exp (at x[j])) })[0]\n"
                                     "  return (add %s %e) // third\n}\n"},
    {"several functions", "func f(x: f64) -> f64 {\n  return (exp x)\n}\nfunc g(x: f64) -> f64 {\n  return (sin x)\n}\n"},
};

typedef struct Session {
    Arena *arena;
    Ir *m;
    Diag *diag;
} Session;

static Session open_session(bool raw) {
    Session s = {.arena = arena_new()};
    s.m = ir_new(s.arena);
    s.m->raw = raw;
    s.diag = diag_new(s.arena);
    return s;
}

static void close_session(Session *s) {
    diag_delete(s->diag);
    ir_delete(s->m);
    arena_free(s->arena);
}

static Func **read_text(Session *s, const char *name, const char *text, int *count) {
    Source *src = ARENA_NEW(s->arena, Source);
    *src = (Source){name, arena_strdup(s->arena, text), strlen(text)};
    return ir_read(s->m, s->diag, src, count);
}

static void print_all(Str *out, Func **fs, int count) {
    for (int i = 0; i < count; i++) ir_print(out, fs[i]);
}

static bool same_funcs(Func **a, Func **b, int count) {
    for (int i = 0; i < count; i++) {
        if (a[i]->noutputs != b[i]->noutputs || a[i]->nchecks != b[i]->nchecks || a[i]->nparams != b[i]->nparams) return false;
        if (memcmp(a[i]->outputs, b[i]->outputs, sizeof(Node *) * (size_t)a[i]->noutputs)) return false;
        for (int k = 0; k < a[i]->nchecks; k++)
            if (a[i]->checks[k].cond != b[i]->checks[k].cond) return false;
    }
    return true;
}

// Reads the text, prints it, and reads that in the same Ir: the nodes have to be the same. Then reads what was printed
// in a new Ir and prints it again: the text has to be the same.
static void test_round_trip(const Text *t, bool raw) {
    const char *how = raw ? "" : " after the rules";
    Session s = open_session(raw), fresh = open_session(true);
    int n = 0, again = 0;
    Func **fs = read_text(&s, t->name, t->text, &n);
    Str why = {0}, once = {0}, twice = {0};
    bool ok = false;
    if (!fs) {
        diag_print(s.diag, &why, false);
    } else {
        for (int i = 0; i < n; i++) ir_verify(fs[i]);
        print_all(&once, fs, n);
        Func **gs = read_text(&s, "printed", str_text(&once), &again);
        ok = gs && again == n && same_funcs(fs, gs, n);
        if (!gs) diag_print(s.diag, &why, false);
        if (!ok) str_printf(&why, "other nodes for\n%s", str_text(&once));
    }
    report(t->name, how, ok, str_text(&why));
    if (ok && raw) {
        Func **gs = read_text(&fresh, "printed", str_text(&once), &again);
        if (gs) print_all(&twice, gs, again);
        report(t->name, " in a new Ir", gs && !strcmp(str_text(&once), str_text(&twice)), str_text(&twice));
    }
    str_free(&why), str_free(&once), str_free(&twice);
    close_session(&fresh);
    close_session(&s);
}

// ---- exactly this text

static const Text goldens[] = {
    {"golden: placement", "func f(n: i64 size, x: f64[n]) -> f64[n], f64 {\n"
                          "  %1 = at x[0]\n"
                          "  %2 = exp %1\n"
                          "  %5 = gen i < n {\n"
                          "    %3 = at x[i]\n"
                          "    %4 = mul %2 %3\n"
                          "    yield %4\n"
                          "  }\n"
                          "  %7 = sum i < n {\n"
                          "    %6 = at x[i]\n"
                          "    yield %6\n"
                          "  }\n"
                          "  return %5, %7\n"
                          "}\n"},
    {"golden: loops", "func f(k: i64) -> i64, f64 {\n"
                      "  %3 = while a: i64 = k {\n"
                      "    %1 = lt 1 a\n"
                      "    test %1\n"
                      "    %2 = idiv a 2\n"
                      "    yield %2\n"
                      "  }\n"
                      "  %4 = final %3 0\n"
                      "  %7 = fold i < k, s: f64 = 0.5 {\n"
                      "    %5 = conv f64 i\n"
                      "    %6 = mul s %5\n"
                      "    yield %6\n"
                      "  }\n"
                      "  %8 = final %7 0\n"
                      "  return %4, %8\n"
                      "}\n"},
    {"golden: names in scope differ", "func f(i: i64) -> i64 {\n"
                                      "  %2 = sum i_2 < i {\n"
                                      "    %1 = sum i_3 < i_2 {\n"
                                      "      yield i_3\n"
                                      "    }\n"
                                      "    yield %1\n"
                                      "  }\n"
                                      "  return %2\n"
                                      "}\n"},
};

static void test_golden(const Text *t) {
    Session s = open_session(true);
    int n;
    Func **fs = read_text(&s, t->name, t->text, &n);
    Str out = {0};
    if (fs) print_all(&out, fs, n);
    else diag_print(s.diag, &out, false);
    report(t->name, "", !strcmp(str_text(&out), t->text), str_text(&out));
    str_free(&out);
    close_session(&s);
}

// ---- messages

typedef struct Bad {
    const char *name, *text, *message; // the message: its first line
} Bad;

static const Bad bads[] = {
    {"nothing", "", "t:1:1: error: expected 'func'"},
    {"no name", "func (", "t:1:6: error: expected the function's name"},
    {"no type", "func f(x: real) {", "t:1:11: error: expected a type: bool, i64, f32 or f64"},
    {"no end", "func f() -> f64 {\n  return 1.0\n", "t:3:1: error: expected '}'"},
    {"unknown value", "func f() -> f64 {\n  return %1\n}", "t:2:10: error: '%1' is not defined here"},
    {"unknown operation", "func f() -> f64 {\n  %1 = plus 1.0 2.0\n  return %1\n}", "t:2:8: error: there is no operation 'plus'"},
    {"a leaf is no operation", "func f() -> f64 {\n  %1 = lit 1.0\n  return %1\n}", "t:2:8: error: 'lit' is not an operation"},
    {"defined twice", "func f() -> f64 {\n  %1 = exp 1.0\n  %1 = exp 2.0\n  return %1\n}", "t:3:3: error: '%1' is defined already"},
    {"out of scope", "func f() -> i64 {\n  %1 = sum i < 3 {\n    %2 = mul i i\n    yield %2\n  }\n  return %2\n}",
     "t:6:10: error: '%2' is not defined here"},
    {"wrong kinds", "func f() -> f64 {\n  %1 = add 1.0 2\n  return %1\n}", "t:2:12: error: 'add' does not take f64 and i64"},
    {"wrong kind", "func f() -> f64 {\n  %1 = exp 2\n  return %1\n}", "t:2:12: error: 'exp' does not take i64"},
    {"array for a scalar", "func f(n: i64 size, x: f64[n]) -> f64 {\n  %1 = exp x\n  return %1\n}",
     "t:2:12: error: expected a scalar, found f64 of rank 1"},
    {"scalar for an array", "func f(x: f64) -> f64 {\n  %1 = at x[0]\n  return %1\n}",
     "t:2:11: error: expected an array, found f64"},
    {"too many indices", "func f(n: i64 size, x: f64[n]) -> f64 {\n  %1 = at x[0, 1]\n  return %1\n}",
     "t:2:12: error: 2 indices into an array of rank 1"},
    {"index of the wrong kind", "func f(n: i64 size, x: f64[n]) -> f64 {\n  %1 = at x[0.0]\n  return %1\n}",
     "t:2:13: error: expected i64, found f64"},
    {"result of the wrong type", "func f(n: i64 size, x: f64[n]) -> f64 {\n  return x\n}",
     "t:2:10: error: expected f64, found f64 of rank 1"},
    {"result of the wrong extent", "func f(n: i64 size, x: f64[n]) -> f64[(add n 1)] {\n  return x\n}",
     "t:2:10: error: extent 0 is not the one that the type states"},
    {"no yield", "func f() -> i64 {\n  %1 = sum i < 3 { }\n  return %1\n}", "t:2:20: error: expected 'yield' or a value's name"},
    {"no test", "func f() -> i64 {\n  %1 = while s: i64 = 3 { yield s }\n  return (final %1 0)\n}",
     "t:2:27: error: expected 'test' or a value's name"},
    {"steps of another type", "func f() -> i64 {\n  %1 = fold i < 3, s: i64 = 3 { yield 1.0 }\n  return (final %1 0)\n}",
     "t:2:39: error: expected i64, found f64"},
    {"loop as a value", "func f() -> i64 {\n  %1 = fold i < 3, s: i64 = 3 { yield s }\n  return %1\n}",
     "t:3:10: error: this is a loop; 'final' reads its states"},
    {"no such state", "func f() -> i64 {\n  %1 = fold i < 3, s: i64 = 3 { yield s }\n  return (final %1 1)\n}",
     "t:3:20: error: the loop has 1 states"},
    {"final of a value", "func f() -> i64 {\n  return (final 1 0)\n}", "t:2:17: error: expected a loop"},
    {"unfinished string", "func f() {\n  doc \"abc\n  return\n}", "t:2:7: error: this string has no end"},
    {"bad number", "func f() -> f64 {\n  return 1.5x\n}", "t:2:10: error: this number cannot be read"},
    {"number beyond 64 bits", "func f() -> i64 {\n  return 9223372036854775808\n}", "t:2:10: error: this number cannot be read"},
    {"bad character", "func f() {\n  return ?\n}", "t:2:10: error: unexpected character"},
    {"extents of a pack", "func f(n: i64 size) -> f64[n] {\n  %1 = pack f64[n]\n  return %1\n}",
     "t:2:16: error: the extents of an array literal are small constants"},
    {"a huge pack", "func f() -> f64[_] {\n  %1 = pack f64[99999999999]\n  return %1\n}",
     "t:2:16: error: the extents of an array literal are small constants"},
    {"parameters without inputs", "func f(x: f64) {\n  param p: (f64, f64)\n  return\n}",
     "t:2:9: error: there are fewer inputs than the parameters have"},
};

static void test_bad(const Bad *b) {
    for (int used = 0; used < 2; used++) { // an Ir that has nodes is read into twice
        Session s = open_session(true);
        int n;
        if (used) ir_int(s.m, 1);
        Source src = {"t", b->text, strlen(b->text)};
        Func **fs = ir_read(s.m, s.diag, &src, &n);
        Str out = {0};
        diag_print(s.diag, &out, false);
        size_t len = strlen(b->message);
        bool ok = !fs && !strncmp(str_text(&out), b->message, len) && str_text(&out)[len] == '\n';
        report(b->name, used ? ", in an Ir in use" : "", ok, fs ? "it was accepted" : str_text(&out));
        str_free(&out);
        close_session(&s);
    }
}

static void test_nesting(void) {
    Session s = open_session(true);
    Str text = {0};
    str_puts(&text, "func f(x: f64) -> f64 {\n  return ");
    for (int k = 0; k < 100000; k++) str_puts(&text, "(exp ");
    int n;
    Source src = {"t", str_text(&text), text.len};
    bool ok = !ir_read(s.m, s.diag, &src, &n);
    report("100000 open parentheses", "", ok && diag_errors(s.diag) == 1, "they were accepted");
    str_free(&text);
    close_session(&s);
}

// ---- large and shared graphs

static Func wrap(Session *s, Node **x, Node **result) {
    return (Func){.name = "f", .ir = s->m, .ninputs = 1, .inputs = x, .noutputs = 1, .outputs = result};
}

static void test_graph(const char *name, Session *s, Node *x, Node *result, size_t limit) {
    Func f = wrap(s, &x, &result);
    Str out = {0}, why = {0};
    clock_t start = clock();
    ir_verify(&f);
    ir_print(&out, &f);
    int n;
    Source src = {"t", str_text(&out), out.len};
    Func **fs = ir_read(s->m, s->diag, &src, &n);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (!fs) diag_print(s->diag, &why, false);
    else if (fs[0]->outputs[0] != result) str_puts(&why, "other nodes");
    else if (out.len > limit) str_printf(&why, "the text has %zu bytes", out.len);
    else if (seconds > 20) str_printf(&why, "it took %.1f s", seconds);
    report(name, "", !why.len, str_text(&why));
    str_free(&why), str_free(&out);
    close_session(s);
}

static void test_graphs(void) {
    Session s = open_session(true);
    Node *x = ir_input(s.m, 0, "x", KIND_DOUBLE, 0, NULL), *e = x;
    for (int k = 0; k < 100000; k++) e = ir_add(s.m, e, x);
    test_graph("a chain of 100000 additions", &s, x, e, 5000000);

    s = open_session(true);
    x = e = ir_input(s.m, 0, "x", KIND_DOUBLE, 0, NULL);
    for (int k = 0; k < 1000; k++) e = ir_mul(s.m, e, e);
    test_graph("a graph with 2^1000 paths", &s, x, e, 50000);

    s = open_session(true);
    x = ir_input(s.m, 0, "x", KIND_DOUBLE, 0, NULL);
    Node *array = NULL;
    for (int k = 0; k < 1000; k++) {
        Var *v = ir_index(s.m, "i", ir_int(s.m, 3));
        Node *i = ir_var(v);
        array = ir_gen(s.m, v, array ? ir_mul(s.m, ir_at1(s.m, array, i), ir_at1(s.m, array, ir_int(s.m, 0))) : x);
    }
    test_graph("a chain of 1000 arrays", &s, x, ir_at1(s.m, array, ir_int(s.m, 1)), 500000);
}

// A derivative reuses the primal's index variables: one variable bound by two binders, and a value under both.
static void test_shared_variable(void) {
    Session s = open_session(true);
    Node *x = ir_input(s.m, 0, "x", KIND_DOUBLE, 0, NULL);
    Var *v = ir_index(s.m, "i", ir_int(s.m, 3));
    Node *e = ir_mul(s.m, ir_conv(s.m, KIND_DOUBLE, ir_var(v)), x);
    Node *sum = ir_sum(s.m, v, ir_exp(s.m, e)), *gen = ir_gen(s.m, v, ir_add(s.m, ir_sin(s.m, e), sum));
    test_graph("one variable in two binders", &s, x, ir_at1(s.m, gen, ir_int(s.m, 1)), 2000);
}

static void test_value_text(void) {
    Session s = open_session(true);
    Node *n = ir_size(s.m, 0, "n"), *x = ir_input(s.m, 1, "x", KIND_DOUBLE, 1, &n);
    Var *v = ir_index(s.m, "i", n);
    Node *i = ir_var(v), *xi = ir_at1(s.m, x, i);
    Node *e = ir_sum(s.m, v,
                     ir_bracket(s.m, ir_lt(s.m, i, ir_int(s.m, 2)),
                                ir_mul(s.m, ir_add(s.m, xi, ir_real(s.m, KIND_DOUBLE, 1)), ir_exp(s.m, xi))));
    Str out = {0}, want = {0};
    ir_print_value(&out, e);
    str_printf(&want, "sum(i.%u < n) {[i.%u < 2] * ((x[i.%u] + 1.0) * exp(x[i.%u]))}", v->id, v->id, v->id, v->id);
    report("a value on one line", "", !strcmp(str_text(&out), str_text(&want)), str_text(&out));
    str_free(&out), str_free(&want);
    Node *deep = xi;
    for (int k = 0; k < 100000; k++) deep = ir_mul(s.m, deep, deep);
    ir_print_value(&out, deep);
    report("a large value on one line", "", out.len < 10000, "the text is too long");
    str_free(&out);
    close_session(&s);
}

// ---- the verifier

// Parts of "sum i < n { mul x[i] x[i] }", to be broken.
typedef struct Parts {
    Session s;
    Node *n, *x, *i, *xi, *square, *sum;
    Node *result;
} Parts;

static void break_nothing(Parts *p) { (void)p; }
static void free_result(Parts *p) { p->result = p->square; }
static void wrong_kind(Parts *p) { p->square->kind = KIND_INT; }
static void wrong_rank(Parts *p) { p->square->rank = 1; }
static void wrong_free_vars(Parts *p) { p->square->fv = varset_empty; }
static void newer_operand(Parts *p) { p->square->id = p->xi->id; }
static void missing_operand(Parts *p) { p->square->args[1] = NULL; }
static void missing_index(Parts *p) { p->xi->nargs = 1; }
static void foreign_input(Parts *p) { p->x->u.num = 7; }
static void left_param(Parts *p) { p->square->args[1] = ir_param(p->s.m, KIND_DOUBLE, 0, NULL); }
static void rebound(Parts *p) { p->square->args[1] = p->sum; }
static void not_partial(Parts *p) { p->xi->partial = true; }

static void copied(Parts *p) {
    size_t size = sizeof *p->xi + sizeof(Node *) * (size_t)p->xi->nargs;
    p->square->args[1] = arena_copy(p->s.arena, p->xi, size);
}

static void wrong_extent(Parts *p) {
    Var *v = ir_index(p->s.m, "j", p->n);
    p->result = ir_gen(p->s.m, v, p->sum);
    p->result->shape[0] = ir_int(p->s.m, 3);
}

static void test_verifier(const char *name, void (*damage)(Parts *), bool sound) {
    Parts p = {.s = open_session(true)};
    Ir *m = p.s.m;
    p.n = ir_size(m, 0, "n");
    p.x = ir_input(m, 1, "x", KIND_DOUBLE, 1, &p.n);
    Var *v = ir_index(m, "i", p.n);
    p.i = ir_var(v);
    p.xi = ir_at1(m, p.x, p.i);
    p.square = ir_mul(m, p.xi, p.xi);
    p.result = p.sum = ir_sum(m, v, p.square);
    damage(&p);
    Node *in[] = {p.n, p.x};
    Func f = {.name = "f", .ir = m, .ninputs = 2, .inputs = in, .nsizes = 1, .noutputs = 1, .outputs = &p.result};
    jmp_buf boundary;
    bool found = false;
    if (setjmp(boundary)) {
        found = true;
    } else {
        diag_set_boundary(&boundary);
        ir_verify(&f);
    }
    diag_set_boundary(NULL);
    report("the verifier: ", name, found != sound, sound ? "it objects" : "it does not object");
    close_session(&p.s);
}

static void test_verifiers(void) {
    test_verifier("sound", break_nothing, true);
    test_verifier("a free variable in a result", free_result, false);
    test_verifier("a wrong kind", wrong_kind, false);
    test_verifier("a wrong rank", wrong_rank, false);
    test_verifier("wrong free variables", wrong_free_vars, false);
    test_verifier("an operand newer than its user", newer_operand, false);
    test_verifier("a missing operand", missing_operand, false);
    test_verifier("a missing index", missing_index, false);
    test_verifier("an input of another function", foreign_input, false);
    test_verifier("a placeholder left behind", left_param, false);
    test_verifier("a variable bound again", rebound, false);
    test_verifier("a partial operand", not_partial, false);
    test_verifier("one term as two nodes", copied, false);
    test_verifier("a wrong extent", wrong_extent, false);
}

int main(void) {
    test_verifiers();
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        test_round_trip(&texts[k], true);
        test_round_trip(&texts[k], false);
    }
    for (size_t k = 0; k < sizeof goldens / sizeof *goldens; k++) test_golden(&goldens[k]);
    for (size_t k = 0; k < sizeof bads / sizeof *bads; k++) test_bad(&bads[k]);
    test_nesting();
    test_graphs();
    test_shared_variable();
    test_value_text();
    return failed != 0;
}
