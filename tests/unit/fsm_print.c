// F̃ printed from values: the text expected, and that it compiles again to a program with the same text.
#include "front/elab.h"
#include "front/infer.h"
#include "front/module.h"
#include "ir/fsm_print.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static int failed;

static void report(const char *name, const char *how, bool ok, const char *why) {
    printf(ok ? "ok %s%s\n" : "not ok %s%s: %s\n", name, how, why);
    failed += !ok;
}

typedef struct Case {
    const char *name, *ir, *fsm;
    enum { RAW = 1, RENAMES = 2 } flags; // without algebraic rules; compiled again, the same values have another text
} Case;

static const Case cases[] = {
    {"an array returned whole", "func f(n: i64 size, x: f64[n]) -> f64[n] {\n  return x\n}\n", "entry f (x: Double[n]) = x\n", 0},
    {"names of arguments that F̃ cannot write",
     "func f(`x.0`: f64, `2`: f64, `let`: f64) -> f64 {\n  %1 = mul `x.0` `2`\n  %2 = sub %1 `let`\n  return %2\n}\n",
     "entry f (x_0: Double) (x2: Double) (let2: Double) = x_0 * x2 - let2\n", 0},
    {"an argument with the name of a function that is used",
     "func f(sin: f64, cos: f64) -> f64 {\n  %1 = sin cos\n  %2 = add sin %1\n  return %2\n}\n",
     "entry f (sin2: Double) (cos: Double) = sin2 + sin cos\n", 0},
    {"precedence",
     "func f(a: f64, b: f64, c: f64) -> f64, f64, f64, f64, f64, f64 {\n"
     "  %1 = add b c\n  %2 = mul a %1\n  %3 = sub a %1\n  %4 = sub b c\n  %5 = add a %4\n  %6 = mul b c\n"
     "  %7 = div a %6\n  %8 = div b c\n  %9 = mul a %8\n  %10 = neg %6\n  %11 = pow %10 a\n  %12 = neg %1\n"
     "  %13 = mul %12 a\n  return %2, %3, %5, %7, %9, %11\n}\n",
     "entry f (a: Double) (b: Double) (c: Double) =\n"
     "  let t1 = b + c\n"
     "  let t2 = b * c\n"
     "  (a * t1, a - t1, a + (b - c), a / t2, a * (b / c), (-t2) ** a)\n",
     RAW},
    {"signs",
     "func f(a: f64, b: f64) -> f64, f64, f64, f64, f64 {\n"
     "  %1 = mul a b\n  %2 = neg %1\n  %3 = sin a\n  %4 = neg %3\n  %5 = powi a 3\n  %6 = neg %5\n"
     "  %7 = add a b\n  %8 = neg %7\n  %9 = exp -1.5\n  return %2, %4, %6, %8, %9\n}\n",
     "entry f (a: Double) (b: Double) = (-a * b, -sin a, -a ** 3, -(a + b), exp (-1.5))\n", RAW},
    {"brackets",
     "func f(p: bool, q: bool, a: f64, b: f64) -> f64, f64, f64, f64, f64 {\n"
     "  %1 = mul a b\n  %2 = bracket p %1\n  %3 = bracket p a\n  %4 = mul b %3\n  %5 = add %3 %2\n"
     "  %6 = add a b\n  %7 = bracket q %6\n  %8 = rem a b\n  %9 = bracket q %8\n"
     "  return %2, %4, %5, %7, %9\n}\n",
     "entry f (p: Bool) (q: Bool) (a: Double) (b: Double) =\n"
     "  let t1 = [p] * a * b\n"
     "  let t2 = [p] * a\n"
     "  (t1, b * t2, t2 + t1, [q] * (a + b), [q] * (a % b))\n",
     RAW},
    {"conditions",
     "func f(a: f64, n: i64, p: bool) -> bool, bool, bool, f64 {\n"
     "  %1 = lt 0.0 a\n  %2 = not %1\n  %3 = and %2 p\n  %4 = le n 5\n  %5 = or %3 %4\n  %6 = eq 2 n\n"
     "  %7 = not p\n  %8 = lt a 1.0\n  %9 = select %8 2.0 3.0\n  %10 = select %1 a %9\n"
     "  return %5, %6, %7, %10\n}\n",
     "entry f (a: Double) (n: Int) (p: Bool) =\n"
     "  (!(a > 0.0) && p || n <= 5, n = 2, !p, (if a > 0.0 then a elif a < 1.0 then 2.0 else 3.0))\n",
     0},
    {"literals",
     "func f(x: f32) -> f64, f64, f64, f64, f32, i64, f32, f32[2] {\n"
     "  %1 = mul x f32 0.1\n  %2 = pack f32[2] f32 1 f32 2\n"
     "  return 1.0, -0.0, inf, 1e-300, %1, -3, f32 0.5, %2\n}\n",
     "entry f (x: Float) =\n"
     "  (1.0, -0.0, 1.0 / 0.0, 1e-300, 0.1 * x, -3, float 0.5, [| float 1.0; float 2.0 |])\n",
     0},
    {"array literals",
     "func f(x: f64) -> f64[2, 2], f64[0, 3], i64[1] {\n"
     "  %1 = pack f64[2, 2] x 1.0 2.0 x\n  %2 = pack f64[0, 3]\n  %3 = pack i64[1] 7\n"
     "  return %1, %2, %3\n}\n",
     "entry f (x: Double) =\n"
     "  ([| [| x; 1.0 |]; [| 2.0; x |] |], build 0 (fun _ -> build 3 (fun _ -> 0.0)), [| 7 |])\n",
     RENAMES},
    {"index variables avoid arguments",
     "func f(i: i64 size, j: f64[i]) -> f64[i, i] {\n"
     "  %3 = gen a < i {\n    %2 = gen b < i {\n      %4 = at j[a]\n      %5 = at j[b]\n      %1 = mul %4 %5\n"
     "      yield %1\n    }\n    yield %2\n  }\n  return %3\n}\n",
     "entry f (j: Double[i]) = build i (fun k -> build i (fun l -> j[k] * j[l]))\n", 0},
    {"a value of no loop stands outside",
     "func f(n: i64 size, x: f64[n], a: f64) -> f64 {\n  %1 = exp a\n"
     "  %5 = sum i < n {\n    %2 = at x[i]\n    %3 = add %2 %1\n    %4 = mul %3 %3\n    %6 = mul %4 %1\n"
     "    yield %6\n  }\n  return %5\n}\n",
     "entry f (x: Double[n]) (a: Double) =\n"
     "  let t1 = exp a\n"
     "  sum n (fun i ->\n"
     "    let t2 = x[i] + t1\n"
     "    t2 * t2 * t1)\n",
     RAW},
    {"a value used under one condition stays there",
     "func f(a: f64, b: f64) -> f64, f64 {\n  %1 = lt 0.0 a\n  %2 = log a\n  %3 = mul %2 %2\n"
     "  %4 = select %1 %3 b\n  %5 = lt 0.0 b\n  %6 = log b\n  %7 = sin %6\n  %71 = mul %6 %7\n  %8 = bracket %5 %71\n"
     "  return %4, %8\n}\n",
     "entry f (a: Double) (b: Double) =\n"
     "  ((if a > 0.0 then\n"
     "      let t1 = log a\n"
     "      t1 * t1\n"
     "    else\n"
     "      b),\n"
     "   [b > 0.0] * (let t2 = log b\n"
     "                t2 * sin t2))\n",
     0},
    {"loops with several results",
     "func f(n: i64 size, x: f64[n]) -> f64, f64, i64 {\n"
     "  %3 = fold i < n, s: f64 = 0.0, t: f64 = 1.0 {\n"
     "    %1 = at x[i]\n    %2 = mul %1 t\n    %4 = add s %2\n    %5 = add t s\n    yield %4, %5\n  }\n"
     "  %6 = final %3 0\n  %7 = final %3 1\n"
     "  %9 = while u: f64 = %6, k: i64 = 0 {\n"
     "    %8 = lt u 100.0\n    test %8\n    %10 = mul 2.0 u\n    %11 = add k 1\n    yield %10, %11\n  }\n"
     "  %12 = final %9 1\n  return %6, %7, %12\n}\n",
     "entry f (x: Double[n]) =\n"
     "  let (t1, t2) = ifold (fun (s, t) i -> (s + x[i] * t, t + s)) (0.0, 1.0) n\n"
     "  let (_, t3) = whileLoop (fun (s, s2) -> s < 100.0) (fun (s, s2) -> (2.0 * s, s2 + 1)) (t1, 0)\n"
     "  (t1, t2, t3)\n",
     RAW | RENAMES},
    {"loops with one result",
     "func f(n: i64 size, b: f64[n], a: f64) -> f64, f64 {\n"
     "  %3 = fold i < n, s: f64 = a {\n    %1 = mul s s\n    %2 = add %1 a\n    yield %2\n  }\n  %4 = final %3 0\n"
     "  %7 = while x: f64 = a {\n    %5 = lt x 100.0\n    test %5\n    %6 = mul 2.0 x\n    yield %6\n  }\n"
     "  %8 = final %7 0\n  return %4, %8\n}\n",
     "entry f (b: Double[n]) (a: Double) =\n"
     "  (ifold (fun s i -> s * s + a) a n, whileLoop (fun x -> x < 100.0) (fun x -> 2.0 * x) a)\n",
     0},
    {"assertions and barriers",
     "func f(a: f64) -> f64 {\n  %1 = lt 0.0 a\n  %2 = log a\n"
     "  %3 = assert %1 \"a \\\"text\\\" \\\\ on\\ntwo lines\" %2\n  %4 = stop %3\n  return %4\n}\n",
     "entry f (a: Double) = stopGradient (assert (a > 0.0) \"a \\\"text\\\" \\\\ on\\ntwo lines\" (log a))\n", 0},
    {"arguments of extremes",
     "func f(n: i64 size, x: f64[n]) -> i64, i64 {\n"
     "  %2 = argmax i < n {\n    %1 = at x[i]\n    yield %1\n  }\n"
     "  %5 = argmin i < n {\n    %3 = at x[i]\n    %4 = mul %3 2.0\n    yield %4\n  }\n"
     "  return %2, %5\n}\n",
     "entry f (x: Double[n]) = (argmax x, argmin (build n (fun i -> 2.0 * x[i])))\n", RENAMES},
    {"tuples",
     "func f(n: i64 size, p_0: f64[n], p_1: i64[n], q_0: f64, q_1: bool, q_2: f64) -> f64[n], i64[n], f64 {\n"
     "  param p: (f64, i64)[n]\n  param q: (f64, (bool, f64))\n  result ((f64, i64)[n], f64)\n"
     "  %3 = gen i < n {\n    %1 = at p_0[i]\n    %2 = mul %1 q_2\n    yield %2\n  }\n"
     "  return %3, p_1, q_0\n}\n",
     "entry f (p: (Double * Int)[n]) (q: Double * (Bool * Double)) =\n"
     "  let p_0 = build n (fun i -> fst p[i])\n"
     "  let p_1 = build n (fun i -> snd p[i])\n"
     "  let (q_0, (_, q_2)) = q\n"
     "  (build n (fun i -> (p_0[i] * q_2, p_1[i])), q_0)\n",
     0},
    {"documentation", "func f(x: f64) -> f64 {\n  doc \"Two\\n\\nlines.\"\n  return x\n}\n",
     "// Two\n//\n// lines.\nentry f (x: Double) = x\n", 0},
    {"long lines",
     "func f(alpha: f64, bravo: f64, charlie: f64, delta: f64, echo: f64, foxtrot: f64) -> f64 {\n"
     "  %1 = sin alpha\n  %2 = cos bravo\n  %3 = tan charlie\n  %4 = exp delta\n  %5 = log echo\n"
     "  %6 = add alpha bravo\n  %7 = atan2 %6 %3\n  %8 = sub %7 %4\n  %9 = mul %8 %5\n  %10 = max %9 %1\n"
     "  %11 = add %10 foxtrot\n  %12 = add %11 %2\n  %13 = atan2 %12 foxtrot\n  return %13\n}\n",
     "entry f\n"
     "    (alpha: Double)\n"
     "    (bravo: Double)\n"
     "    (charlie: Double)\n"
     "    (delta: Double)\n"
     "    (echo: Double)\n"
     "    (foxtrot: Double) =\n"
     "  atan2\n"
     "    (max (log echo * (atan2 (alpha + bravo) (tan charlie) - exp delta)) (sin alpha)\n"
     "       + foxtrot\n"
     "       + cos bravo)\n"
     "    foxtrot\n",
     0},
    {"no results", "func f(x: f64) {\n  return\n}\n", "entry f (x: Double) = ()\n", 0},
};

// ---- compiling again

typedef struct Session {
    Arena *arena;
    Diag *diag;
    Ir *m;
} Session;

static Session session_new(bool raw) {
    Session s = {.arena = arena_new()};
    s.diag = diag_new(s.arena);
    s.m = ir_new(s.arena);
    s.m->raw = raw;
    return s;
}

static void session_free(Session *s) {
    ir_delete(s->m);
    diag_delete(s->diag);
    arena_free(s->arena);
}

// The only function of an F̃ text; NULL after an error, which is reported.
static Func *compile(Session *s, const char *name, const char *text) {
    Source src = {"test.fsm", text, strlen(text)}, *kept = arena_copy(s->arena, &src, sizeof src);
    Unit *u = module_load(s->arena, s->diag, kept, NULL, 0);
    int count = 0;
    Func **f = NULL;
    if (!diag_errors(s->diag)) {
        CoreProgram *p = infer_program(u, 0, NULL);
        if (!diag_errors(s->diag)) f = elab_program(s->m, p, &count);
    }
    if (!diag_errors(s->diag) && count == 1) return f[0];
    Str messages = {0};
    diag_print(s->diag, &messages, false);
    fprintf(stderr, "%s: %s%s", name, text, str_text(&messages));
    str_free(&messages);
    report(name, ": compiles again", false, "errors");
    return NULL;
}

static void check_again(const char *name, const char *text, bool raw, bool renames) {
    Session s = session_new(raw);
    Func *f = compile(&s, name, text);
    Str again = {0};
    if (f) {
        ir_verify(f);
        fsm_print(&again, f);
        bool same = renames || !strcmp(str_text(&again), text);
        if (!same) fprintf(stderr, "%s\n%s", text, str_text(&again));
        report(name, ": compiles again", same, "another program");
    }
    str_free(&again);
    session_free(&s);
}

static void check(const Case *t) {
    Session s = session_new(t->flags & RAW);
    Source src = {"test.ir", t->ir, strlen(t->ir)};
    int count;
    Func **f = ir_read(s.m, s.diag, &src, &count);
    Str out = {0};
    if (!f) {
        diag_print(s.diag, &out, false);
        fprintf(stderr, "%s", str_text(&out));
        report(t->name, "", false, "does not read");
    } else {
        fsm_print(&out, f[0]);
        bool same = !t->fsm || !strcmp(str_text(&out), t->fsm);
        if (!same) fprintf(stderr, "%s", str_text(&out));
        report(t->name, "", same, "another text");
        check_again(t->name, str_text(&out), t->flags & RAW, t->flags & RENAMES);
    }
    str_free(&out);
    session_free(&s);
}

// ---- graphs made here

static Func *func_of(Session *s, int nin, Node **in, int nsizes, Node *out) {
    Func *f = ARENA_NEW(s->arena, Func);
    *f = (Func){.name = "f", .ir = s->m, .ninputs = nin, .nsizes = nsizes, .nparams = nin - nsizes, .noutputs = 1};
    f->inputs = arena_copy(s->arena, in, sizeof *in * (size_t)nin);
    f->outputs = arena_copy(s->arena, &out, sizeof out);
    f->params = ARENA_ARRAY(s->arena, SigParam, nin);
    for (int k = nsizes; k < nin; k++) {
        SigType *t = ARENA_NEW(s->arena, SigType);
        *t = (SigType){.form = SIG_SCALAR, .kind = in[k]->kind};
        for (int r = in[k]->rank; r-- > 0;) {
            SigType *outer = ARENA_NEW(s->arena, SigType);
            *outer = (SigType){.form = SIG_ARRAY, .extent = in[k]->shape[r], .nparts = 1};
            outer->parts = arena_copy(s->arena, &t, sizeof t);
            t = outer;
        }
        f->params[k - nsizes] = (SigParam){in[k]->name, t, k, 1};
    }
    return f;
}

// Two binders of one variable share a part of their bodies: it is written in both.
static void test_shared_variable(void) {
    Session s = session_new(true);
    Node *n = ir_size(s.m, 0, "n"), *x = ir_input(s.m, 1, "x", KIND_DOUBLE, 1, &n), *in[] = {n, x};
    Var *i = ir_index(s.m, "i", n);
    Node *e = ir_exp(s.m, ir_at1(s.m, x, ir_var(i)));
    Node *total = ir_sum(s.m, i, ir_mul(s.m, e, ir_add(s.m, e, e)));
    Node *out = ir_gen(s.m, i, ir_add(s.m, e, ir_mul(s.m, e, total)));
    const char *want = "entry f (x: Double[n]) =\n"
                       "  let t1 = sum n (fun i ->\n"
                       "    let t2 = exp x[i]\n"
                       "    t2 * (t2 + t2))\n"
                       "  build n (fun i ->\n"
                       "    let t3 = exp x[i]\n"
                       "    t3 + t3 * t1)\n";
    Str text = {0};
    fsm_print(&text, func_of(&s, 2, in, 1, out));
    bool same = !strcmp(str_text(&text), want);
    if (!same) fprintf(stderr, "%s", str_text(&text));
    report("one variable bound twice", "", same, "another text");
    check_again("one variable bound twice", str_text(&text), true, false);
    str_free(&text);
    session_free(&s);
}

// Text nests so little that what is printed can be read again.
static void test_deep(const char *name, Node *(*step)(Ir *m, Node *e, Node *x, int k), int depth) {
    Session s = session_new(false), again = session_new(false);
    Node *x = ir_input(s.m, 0, "x", KIND_DOUBLE, 0, NULL), *e = x;
    for (int k = 0; k < depth; k++) e = step(s.m, e, x, k);
    Str text = {0};
    fsm_print(&text, func_of(&s, 1, &x, 0, e));
    Func *f = compile(&again, name, str_text(&text));
    if (f) {
        Node *y = f->inputs[0], *g = y;
        for (int k = 0; k < depth; k++) g = step(again.m, g, y, k);
        report(name, "", f->outputs[0] == g, "another program");
    }
    str_free(&text);
    session_free(&s);
    session_free(&again);
}

static Node *deep_call(Ir *m, Node *e, Node *x, int k) {
    (void)x, (void)k;
    return ir_sin(m, e);
}

static Node *deep_shared(Ir *m, Node *e, Node *x, int k) {
    (void)k;
    return ir_sub(m, ir_mul(m, e, e), x);
}

static Node *deep_guard(Ir *m, Node *e, Node *x, int k) {
    return ir_select(m, ir_lt(m, x, ir_real(m, KIND_DOUBLE, k)), ir_sin(m, e), ir_cos(m, e));
}

static Node *deep_sum(Ir *m, Node *e, Node *x, int k) {
    (void)k;
    return ir_sub(m, x, e);
}

int main(void) {
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check(&cases[k]);
    test_shared_variable();
    test_deep("nested calls", deep_call, 5000);
    test_deep("values used twice", deep_shared, 2000);
    test_deep("nested conditions", deep_guard, 1000);
    test_deep("operators nested to the right", deep_sum, 5000);
    return failed != 0;
}
