// Loop trees: their text, the check of their invariants, and the executor with its counts.
#include "lower/exec.h"
#include "fsmc/runtime.h"
#include "ir/interp.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static int failed;

static void report(const char *name, bool ok, const char *why) {
    printf(ok ? "ok %s\n" : "not ok %s: %s\n", name, why);
    failed += !ok;
}

// ---- building trees

typedef struct Build {
    Arena *arena;
    Ir *ir;
    Func func;
    Tree tree;
    Block *open[8]; // the innermost is last
    int depth;
} Build;

static Temp temp(Build *b, Kind k, const char *name, bool cell) {
    vec_push(&b->tree.temps, ((TempInfo){.kind = k, .cell = cell, .name = name}));
    return b->tree.temps.len - 1;
}

static Stmt *stmt(Build *b, StmtKind kind, Temp dst, int n, const Temp *args) {
    Stmt *s = ARENA_NEW(b->arena, Stmt);
    *s = (Stmt){.kind = kind, .dst = dst, .nargs = n, .args = arena_copy(b->arena, args, sizeof *args * (size_t)n)};
    vec_push(&b->open[b->depth]->stmts, s);
    return s;
}

static Temp lit(Build *b, Kind k, double x) {
    Temp t = temp(b, k, NULL, false);
    Stmt *s = stmt(b, ST_LIT, t, 0, NULL);
    if (kind_is_float(k)) s->u.real = x;
    else s->u.num = (int64_t)x;
    return t;
}

static Temp arg(Build *b, int number) {
    const Node *e = b->func.inputs[number];
    Temp t = temp(b, e->kind, e->name, false);
    stmt(b, ST_ARG, t, 0, NULL)->u.num = number;
    return t;
}

static Temp op(Build *b, Op o, Kind k, Temp x, Temp y) {
    Temp t = temp(b, k, NULL, false), args[] = {x, y};
    stmt(b, ST_OP, t, op_info[o].arity, args)->op = o;
    return t;
}

static Temp one(Build *b, StmtKind kind, Kind k, Temp x) {
    Temp t = temp(b, k, NULL, kind == ST_CELL);
    stmt(b, kind, t, 1, &x);
    return t;
}

static Buf *buf(Build *b, BufKind where, int number, Kind k, const char *name, Temp extent) {
    Buf *f = ARENA_NEW(b->arena, Buf);
    *f = (Buf){.id = b->tree.bufs.len,
               .where = where,
               .number = number,
               .kind = k,
               .rank = 1,
               .extent = arena_copy(b->arena, &extent, sizeof extent),
               .name = name};
    vec_push(&b->tree.bufs, f);
    return f;
}

static Temp load(Build *b, Buf *f, Temp i) {
    Temp t = temp(b, f->kind, NULL, false);
    stmt(b, ST_LOAD, t, 1, &i)->buf = f;
    return t;
}

static void store(Build *b, StmtKind kind, Buf *f, Temp i, Temp x) { stmt(b, kind, -1, 2, (Temp[]){x, i})->buf = f; }

static void enter(Build *b, Block **body) { b->open[++b->depth] = *body = ARENA_NEW(b->arena, Block); }
static void leave(Build *b) { b->depth--; }

// f(n, x: f64[n], z: f64) -> f64[n], f64, i64
static void start(Build *b) {
    *b = (Build){.arena = arena_new()};
    b->ir = ir_new(b->arena);
    b->ir->raw = true;
    Node *n = ir_size(b->ir, 0, "n");
    Node *in[] = {n, ir_input(b->ir, 1, "x", KIND_DOUBLE, 1, &n), ir_input(b->ir, 2, "z", KIND_DOUBLE, 0, NULL)};
    Node *out[] = {in[1], in[2], n};
    b->func = (Func){.name = "f", .ir = b->ir, .ninputs = 3, .nsizes = 1, .noutputs = 3};
    b->func.inputs = arena_copy(b->arena, in, sizeof in);
    b->func.outputs = arena_copy(b->arena, out, sizeof out);
    b->tree.func = &b->func;
    b->open[0] = b->tree.body = ARENA_NEW(b->arena, Block);
}

static void free_block(Block *block) {
    if (!block) return;
    for (int i = 0; i < block->stmts.len; i++) {
        free_block(block->stmts.data[i]->body);
        free_block(block->stmts.data[i]->other);
    }
    vec_free(&block->stmts);
}

static void end(Build *b) {
    free_block(b->tree.body);
    vec_free(&b->tree.temps);
    vec_free(&b->tree.bufs);
    ir_delete(b->ir);
    arena_free(b->arena);
}

// ---- a tree with every kind of statement

static const char *const text = "loops f(n, x, z) {\n"
                                "  n = arg 0\n"
                                "  z = arg 2\n"
                                "  fill out0 = 0.0\n"
                                "  new copy: f64[n]\n"
                                "  copy copy = x\n"
                                "  var c5 = 0.0\n"
                                "  for i < n {\n"
                                "    t8 = x[i]\n"
                                "    t9 = t8 * t8\n"
                                "    out0[i] += t9\n"
                                "    t10 = c5\n"
                                "    t11 = t10 + t9\n"
                                "    c5 = t11\n"
                                "    t12 = t8 < 0.0\n"
                                "    if t12 {\n"
                                "      out0[i] = z\n"
                                "    } else {\n"
                                "      t13 = exp(z)\n"
                                "      out0[i] += t13\n"
                                "    }\n"
                                "  }\n"
                                "  var c14 = 1\n"
                                "  loop {\n"
                                "    t15 = c14\n"
                                "    t16 = t15 < n\n"
                                "    break unless t16\n"
                                "    t17 = t15 + t15\n"
                                "    c14 = t17\n"
                                "  }\n"
                                "  t18 = c14\n"
                                "  t19 = f64(t18)\n"
                                "  t20 = c5\n"
                                "  t21 = t20 < t19\n"
                                "  t22 = t21 ? t20 : t19\n"
                                "  t23 = -t22\n"
                                "  t24 = t18 < 100\n"
                                "  check t24 else 4 \"%d is too large\" (t18)\n"
                                "  out1 = t23\n"
                                "  out2 = t18\n"
                                "}\n";

static void build_all(Build *b) {
    start(b);
    Temp n = arg(b, 0), z = arg(b, 2), zero = lit(b, KIND_DOUBLE, 0), iz = lit(b, KIND_INT, 1);
    Temp hundred = lit(b, KIND_INT, 100);
    Buf *x = buf(b, BUF_INPUT, 1, KIND_DOUBLE, "x", n), *out = buf(b, BUF_OUTPUT, 0, KIND_DOUBLE, NULL, n);
    Buf *copy = buf(b, BUF_TEMP, 0, KIND_DOUBLE, "copy", n);
    stmt(b, ST_FILL, -1, 1, &zero)->buf = out;
    stmt(b, ST_NEW, -1, 0, NULL)->buf = copy;
    Stmt *s = stmt(b, ST_COPY, -1, 0, NULL);
    s->buf = copy, s->src = x;
    Temp sum = one(b, ST_CELL, KIND_DOUBLE, zero);
    temp(b, KIND_BOOL, NULL, false); // a temp that nothing uses
    Temp i = temp(b, KIND_INT, "i", false);
    s = stmt(b, ST_FOR, i, 1, &n);
    enter(b, &s->body);
    Temp xi = load(b, x, i), square = op(b, OP_mul, KIND_DOUBLE, xi, xi);
    store(b, ST_ADDTO, out, i, square);
    Temp old = one(b, ST_GET, KIND_DOUBLE, sum), more = op(b, OP_add, KIND_DOUBLE, old, square);
    stmt(b, ST_SET, sum, 1, &more);
    Temp negative = op(b, OP_lt, KIND_BOOL, xi, zero);
    s = stmt(b, ST_IF, -1, 1, &negative);
    enter(b, &s->body);
    store(b, ST_STORE, out, i, z);
    leave(b);
    enter(b, &s->other);
    store(b, ST_ADDTO, out, i, op(b, OP_exp, KIND_DOUBLE, z, -1));
    leave(b);
    leave(b);
    Temp k = one(b, ST_CELL, KIND_INT, iz);
    s = stmt(b, ST_LOOP, -1, 0, NULL);
    enter(b, &s->body);
    Temp kv = one(b, ST_GET, KIND_INT, k), small = op(b, OP_lt, KIND_BOOL, kv, n);
    stmt(b, ST_BREAK, -1, 1, &small);
    Temp twice = op(b, OP_add, KIND_INT, kv, kv);
    stmt(b, ST_SET, k, 1, &twice);
    leave(b);
    Temp kf = one(b, ST_GET, KIND_INT, k), kd = one(b, ST_CONV, KIND_DOUBLE, kf);
    Temp total = one(b, ST_GET, KIND_DOUBLE, sum), less = op(b, OP_lt, KIND_BOOL, total, kd);
    Temp pick = temp(b, KIND_DOUBLE, NULL, false);
    stmt(b, ST_SELECT, pick, 3, (Temp[]){less, total, kd});
    Temp neg = op(b, OP_neg, KIND_DOUBLE, pick, -1), ok = op(b, OP_lt, KIND_BOOL, kf, hundred);
    s = stmt(b, ST_CHECK, -1, 2, (Temp[]){ok, kf});
    s->u.check = ARENA_NEW(b->arena, CheckInfo);
    *s->u.check = (CheckInfo){.code = FSM_ERROR_ASSERT, .text = "%d is too large"};
    stmt(b, ST_OUT, -1, 1, &neg)->u.num = 1;
    stmt(b, ST_OUT, -1, 1, &kf)->u.num = 2;
}

static int run(Build *b, int64_t n, const double *x, Tensor *out, Counts *c, const char **error) {
    Tensor in[3] = {tensor_new(b->arena, KIND_INT, 0, NULL), tensor_new(b->arena, KIND_DOUBLE, 1, &n),
                    tensor_new(b->arena, KIND_DOUBLE, 0, NULL)};
    tensor_put(&in[0], 0, (Scalar){.i = n});
    for (int64_t i = 0; i < n; i++) tensor_set(&in[1], i, x ? x[i] : 1.0);
    return tree_exec(b->arena, &b->tree, in, out, c, error);
}

static void test_all(void) {
    Build b;
    build_all(&b);
    Str s = {0};
    tree_verify(&b.tree);
    tree_print(&s, &b.tree);
    report("a tree as text", !strcmp(str_text(&s), text), str_text(&s));
    str_free(&s);

    Tensor out[3];
    Counts c;
    const char *error = "";
    int code = run(&b, 3, (double[]){1, -2, 3}, out, &c, &error);
    const double *y = out[0].data;
    bool ok = !code && y[0] == 2 && y[1] == 0 && y[2] == 10 && tensor_get(&out[1], 0) == -4 && tensor_get_int(&out[2], 0) == 4;
    report("results of a tree", ok, error);
    char found[128];
    // FILL 3, COPY 3+3; each iteration a load, an addition (load, store) and a store or another addition
    int at = 0;
    for (int i = 0; i < COUNT_CLASSES; i++) at += snprintf(found + at, sizeof found - (size_t)at, "%lld ", (long long)c.ops[i]);
    snprintf(found + at, sizeof found - (size_t)at, "%lld %lld %lld %lld", (long long)c.iterations, (long long)c.loads,
             (long long)c.stores, (long long)c.bytes);
    report("counts of a tree", !strcmp(found, "9 3 0 2 9 3 5 11 12 24"), found);

    code = run(&b, 0, NULL, out, &c, &error);
    report("a tree on an empty array", !code && tensor_get_int(&out[2], 0) == 1 && c.iterations == 0, error);
    code = run(&b, 100, NULL, out, &c, &error);
    report("a check that fails", code == FSM_ERROR_ASSERT && !strcmp(error, "128 is too large"), error);
    end(&b);
}

// Two elements of a part go to those of the result from the second one on.
static void build_move(Build *b) {
    start(b);
    Temp n = arg(b, 0), z = arg(b, 2), two = lit(b, KIND_INT, 2), first = lit(b, KIND_INT, 1);
    Buf *out = buf(b, BUF_OUTPUT, 0, KIND_DOUBLE, NULL, n), *part = buf(b, BUF_TEMP, 0, KIND_DOUBLE, "part", two);
    Temp zero = lit(b, KIND_DOUBLE, 0), seven = lit(b, KIND_DOUBLE, 7);
    stmt(b, ST_FILL, -1, 1, &zero)->buf = out;
    stmt(b, ST_NEW, -1, 0, NULL)->buf = part;
    stmt(b, ST_FILL, -1, 1, &seven)->buf = part;
    Stmt *move = stmt(b, ST_MOVE, -1, 2, (Temp[]){first, two});
    move->buf = out, move->src = part;
    stmt(b, ST_OUT, -1, 1, &z)->u.num = 1;
    stmt(b, ST_OUT, -1, 1, &n)->u.num = 2;
}

static void test_move(void) {
    Build b;
    build_move(&b);
    Str s = {0};
    tree_verify(&b.tree);
    tree_print(&s, &b.tree);
    report("a move as text", strstr(str_text(&s), "  move 2 of part to out0 from 1\n"), str_text(&s));
    str_free(&s);
    Tensor out[3];
    Counts c;
    const char *error = "";
    int code = run(&b, 4, (double[]){1, 2, 3, 4}, out, &c, &error);
    const double *y = out[0].data;
    bool ok = !code && y[0] == 0 && y[1] == 7 && y[2] == 7 && y[3] == 0 && c.loads == 2 && c.stores == 8;
    report("a move", ok, error);
    end(&b);
}

// In each iteration two arrays come into being, and their first elements are read before they are written. One is as long as there
// are iterations: what is not written of it must cost nothing.
static void build_again(Build *b) {
    start(b);
    Temp n = arg(b, 0), z = arg(b, 2), one_ = lit(b, KIND_INT, 1), first = lit(b, KIND_INT, 0), seven = lit(b, KIND_DOUBLE, 7);
    Buf *out = buf(b, BUF_OUTPUT, 0, KIND_DOUBLE, NULL, n);
    Temp i = temp(b, KIND_INT, "i", false);
    Stmt *s = stmt(b, ST_FOR, i, 1, &n);
    enter(b, &s->body);
    Buf *filled = buf(b, BUF_TEMP, 0, KIND_DOUBLE, "filled", one_), *stored = buf(b, BUF_TEMP, 0, KIND_DOUBLE, "stored", n);
    stmt(b, ST_NEW, -1, 0, NULL)->buf = filled;
    stmt(b, ST_NEW, -1, 0, NULL)->buf = stored;
    Temp nan = op(b, OP_ne, KIND_BOOL, load(b, filled, first), load(b, filled, first));
    Temp both = op(b, OP_and, KIND_BOOL, nan, op(b, OP_ne, KIND_BOOL, load(b, stored, first), load(b, stored, first)));
    store(b, ST_STORE, out, i, one(b, ST_CONV, KIND_DOUBLE, both));
    stmt(b, ST_FILL, -1, 1, &seven)->buf = filled;
    store(b, ST_STORE, stored, first, seven);
    leave(b);
    stmt(b, ST_OUT, -1, 1, &z)->u.num = 1;
    stmt(b, ST_OUT, -1, 1, &n)->u.num = 2;
}

static void test_again(void) {
    enum { N = 1000000 };
    Build b;
    build_again(&b);
    tree_verify(&b.tree);
    Tensor out[3];
    Counts c;
    const char *error = "";
    bool ok = !run(&b, N, NULL, out, &c, &error) && c.bytes == 8 * (N + 1) && c.loads == 4 * N && c.stores == 3 * N;
    for (int64_t i = 0; ok && i < N; i++) ok = tensor_get(&out[0], i) == 1;
    report("new arrays are no numbers", ok, error);
    end(&b);
}

// ---- broken trees

static void sound(Build *b) { lit(b, KIND_DOUBLE, 1); }
static void undefined(Build *b) { op(b, OP_exp, KIND_DOUBLE, temp(b, KIND_DOUBLE, NULL, false), -1); }
static void wrong_operand(Build *b) { op(b, OP_exp, KIND_DOUBLE, lit(b, KIND_INT, 1), -1); }
static void wrong_result(Build *b) { op(b, OP_exp, KIND_INT, lit(b, KIND_DOUBLE, 1), -1); }
static void stray_break(Build *b) { stmt(b, ST_BREAK, -1, 1, (Temp[]){lit(b, KIND_BOOL, 1)}); }
static void cell_as_temp(Build *b) { op(b, OP_exp, KIND_DOUBLE, one(b, ST_CELL, KIND_DOUBLE, lit(b, KIND_DOUBLE, 1)), -1); }

static void defined_twice(Build *b) {
    Temp t = lit(b, KIND_DOUBLE, 1);
    stmt(b, ST_LIT, t, 0, NULL);
}

static void out_of_block(Build *b) {
    Stmt *s = stmt(b, ST_FOR, temp(b, KIND_INT, "i", false), 1, (Temp[]){lit(b, KIND_INT, 3)});
    // the literal was appended after the loop: move it before
    Block *body = b->open[0];
    Stmt *first = body->stmts.data[0];
    if (first == s) body->stmts.data[0] = body->stmts.data[1], body->stmts.data[1] = s;
    enter(b, &s->body);
    Temp inside = lit(b, KIND_DOUBLE, 1);
    leave(b);
    op(b, OP_exp, KIND_DOUBLE, inside, -1);
}

static void store_to_input(Build *b) {
    Temp n = arg(b, 0);
    store(b, ST_STORE, buf(b, BUF_INPUT, 1, KIND_DOUBLE, "x", n), n, lit(b, KIND_DOUBLE, 1));
}

static void no_new(Build *b) {
    Temp n = arg(b, 0);
    load(b, buf(b, BUF_TEMP, 0, KIND_DOUBLE, NULL, n), n);
}

static void wrong_move(Build *b) {
    Temp n = arg(b, 0);
    Stmt *move = stmt(b, ST_MOVE, -1, 2, (Temp[]){n, n});
    move->buf = buf(b, BUF_OUTPUT, 0, KIND_DOUBLE, NULL, n), move->src = buf(b, BUF_INPUT, 1, KIND_DOUBLE, "x", n);
    move->u.num = 1;
}

static void wrong_index(Build *b) {
    Temp n = arg(b, 0), one_ = lit(b, KIND_DOUBLE, 1);
    load(b, buf(b, BUF_INPUT, 1, KIND_DOUBLE, "x", n), one_);
}

static void test_broken(const char *name, void (*build)(Build *), bool ok) {
    Build b;
    start(&b);
    build(&b);
    jmp_buf boundary;
    bool found = false;
    if (setjmp(boundary)) {
        found = true;
    } else {
        diag_set_boundary(&boundary);
        tree_verify(&b.tree);
    }
    diag_set_boundary(NULL);
    report(name, found != ok, ok ? "it objects" : "it does not object");
    end(&b);
}

int main(void) {
    test_all();
    test_move();
    test_again();
    test_broken("the verifier: sound", sound, true);
    test_broken("the verifier: a temp before its definition", undefined, false);
    test_broken("the verifier: a wrong operand", wrong_operand, false);
    test_broken("the verifier: a wrong result", wrong_result, false);
    test_broken("the verifier: a break outside of loops", stray_break, false);
    test_broken("the verifier: a cell as a temp", cell_as_temp, false);
    test_broken("the verifier: a temp defined twice", defined_twice, false);
    test_broken("the verifier: a temp outside its block", out_of_block, false);
    test_broken("the verifier: a store to an input", store_to_input, false);
    test_broken("the verifier: a buffer before it comes into being", no_new, false);
    test_broken("the verifier: a move along no dimension", wrong_move, false);
    test_broken("the verifier: an index of the wrong kind", wrong_index, false);
    return failed != 0;
}
