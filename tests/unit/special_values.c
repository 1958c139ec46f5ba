// Every row of ir/ops.def that has a derivative, at special points: zeros, infinities, NaN, denormal numbers, ties. Both
// modes must give the same derivatives, first and second; all engines the same numbers; and docs/language.md must have the
// function in its table. With --table, prints the numbers (tests/language/special_values.out has them).
#include "driver/compile.h"
#include "driver/file.h"
#include "tools/engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Row {
    const char *name, *dx, *dy;
    OpType type;
    FsmForm form;
    const char *sym;
} Row;

#define IN(sym, ...) FSM_IN, sym
#define PRE(sym)     FSM_PRE, sym
#define FN(sym)      FSM_FN, sym
static const Row rows[] = {
#define OP(name, arity, type, dx, dy, eval_f, eval_i, llvm, fsm, ...) {#name, #dx, #dy, T_##type, fsm},
#include "ir/ops.def"
};
enum { ROWS = sizeof rows / sizeof *rows, MAX_OUT = 32, MAX_POINTS = 128 };

static bool is_by(const Row *r, int k) { return strcmp(k ? r->dy : r->dx, "NONE") != 0; }
static bool is_whole(const Row *r, int k) { return r->type == (k ? T_FPOWI : T_PSI); }
static int arity_of(const Row *r) { return is_by(r, 1) || is_whole(r, 0) || is_whole(r, 1) ? 2 : 1; }

// ---- points

static const double alone[] = {-INFINITY, -2, -1, -0.5, -1e-310, -0.0, 0, 1e-310, 0.5, 1, 2, 1e200, INFINITY, NAN};
static const double pairs[] = {-INFINITY, -2, -0.0, 0, 1e-310, 0.5, INFINITY, NAN};
static const double powers[] = {-3, -1, 0, 1, 2, 3}, orders[] = {-1, 0, 1, 2};

typedef struct Points {
    int n;
    double x[2][MAX_POINTS];
} Points;

#define LIST(list) (n = sizeof list / sizeof *list, list)
static const double *list_of(const Row *r, int k, int *count) {
    int n;
    const double *list = is_whole(r, k) ? k ? LIST(powers) : LIST(orders) : is_by(r, 0) && is_by(r, 1) ? LIST(pairs) : LIST(alone);
    *count = n;
    return list;
}

static Points points_of(const Row *r) {
    Points p = {0};
    int nx, ny;
    const double *x = list_of(r, 0, &nx), *y = list_of(r, 1, &ny);
    for (int i = 0; i < nx; i++)
        for (int k = 0; k < (arity_of(r) > 1 ? ny : 1); k++) p.x[0][p.n] = x[i], p.x[1][p.n++] = y[k];
    return p;
}

// ---- the program: one entry for each row

typedef struct Text {
    Str text;
    Arena *arena;
    const char *call; // of the function, in terms of x and y
} Text;

static const char *by(Text *p, bool forward, const char *e, char v) {
    return forward ? arena_printf(p->arena, "jvp (fun %c -> %s) %c 1.0", v, e, v)
                   : arena_printf(p->arena, "grad (fun %c -> %s) %c", v, e, v);
}

// The second derivative by v and then w, in all modes; the first by v.
static void put_first(Text *p, char v) {
    for (int k = 0; k < 2; k++) str_printf(&p->text, ", %s", by(p, k, p->call, v));
}

static void put_second(Text *p, char v, char w) {
    for (int k = 0; k < 4; k++) str_printf(&p->text, ",\n  %s", by(p, k & 1, by(p, k >> 1, p->call, v), w));
}

static void put_entry(Text *p, const Row *r) {
    bool both = is_by(r, 0) && is_by(r, 1), two = arity_of(r) > 1;
    p->call = arena_printf(p->arena, r->form == FSM_IN ? "x %s y" : two ? "%s x y" : "%s x", r->sym);
    str_printf(&p->text, "entry %s_ (x: %s[n]) ", r->name, is_whole(r, 0) ? "Int" : "Double");
    if (two) str_printf(&p->text, "(y: %s[n]) ", is_whole(r, 1) ? "Int" : "Double");
    str_printf(&p->text, "= %s -> (%s", two ? "map2 (fun x y" : "map (fun x", p->call);
    for (int k = 0; k < 2; k++)
        if (is_by(r, k)) put_first(p, (char)('x' + k));
    for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2; l++)
            if (is_by(r, k) && is_by(r, l)) put_second(p, (char)('x' + k), (char)('x' + l));
    str_printf(&p->text, both || two ? ")) x y\n" : ")) x\n");
}

// What the outputs of an entry are, in groups of which all are the same derivative.
static const char *const one_groups[] = {"", "d", "d", "dd", "dd", "dd", "dd", NULL};
static const char *const both_groups[] = {"",    "dx",  "dx",  "dy",  "dy",  "dxx", "dxx", "dxx", "dxx", "dxy", "dxy",
                                          "dxy", "dxy", "dyx", "dyx", "dyx", "dyx", "dyy", "dyy", "dyy", "dyy", NULL};
static const char *const *groups_of(const Row *r) { return is_by(r, 0) && is_by(r, 1) ? both_groups : one_groups; }

// ---- engines

typedef struct Way {
    const char *name;
    Engine engine;
    int level;
    CpuFp fp;
} Way;
static const Way ways[] = {{"as written", ENGINE_INTERP, 0, CPU_FP_PRECISE},
                           {"loop trees", ENGINE_EXEC, 2, CPU_FP_PRECISE},
                           {"-O0", ENGINE_JIT, 0, CPU_FP_PRECISE},
                           {"-O2", ENGINE_JIT, 2, CPU_FP_PRECISE},
                           {"-O2 --fp=contract", ENGINE_JIT, 2, CPU_FP_CONTRACT}};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct Table {
    Arena *arena;
    const char *text; // the program
    int argc;
    char **argv;
    int nrows;
    const Row *row[ROWS];
    Points points[ROWS];
    Tensor *out[WAYS][ROWS];
    int failures;
} Table;

static bool call_all(Table *t, int way) {
    Options o;
    options_init(&o);
    o.engine = ways[way].engine, o.level = ways[way].level, o.fp = ways[way].fp;
    Source src = {"special.fsm", t->text, (uint32_t)strlen(t->text)};
    Compilation *c = compile_new(&o);
    FuncList funcs = {0};
    Caller caller = {0};
    bool ok = compile_load(c, &src) && compile_funcs(c, o.engine == ENGINE_INTERP, &funcs) && caller_open(&caller, c, funcs);
    for (int i = 0; ok && i < t->nrows; i++) {
        const Points *p = &t->points[i];
        const Func *f = funcs.f[i];
        Tensor *in = ARENA_ARRAY(t->arena, Tensor, f->ninputs);
        for (int k = 0; k < f->ninputs; k++) {
            in[k] = tensor_new(t->arena, f->inputs[k]->kind, k > 0, k > 0 ? (int64_t[]){p->n} : NULL);
            for (int j = 0; k > 0 && j < p->n; j++) tensor_set(&in[k], j, p->x[k - 1][j]);
        }
        tensor_set(&in[0], 0, p->n);
        const char *error;
        t->out[way][i] = ARENA_ARRAY(t->arena, Tensor, f->noutputs);
        ok = !caller_call(&caller, t->arena, i, in, t->out[way][i], &error);
    }
    if (!ok) {
        Str s = {0};
        diag_print(c->diag, &s, false);
        printf("not ok special values, %s\n%s", ways[way].name, str_text(&s));
        str_free(&s);
    }
    caller_close(&caller);
    compile_delete(c);
    options_free(&o);
    return ok;
}

// ---- comparing

static bool near(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b)) + 1e-15;
}

// Is the value or a first derivative infinite or NaN? Then a second derivative may be NaN in one mode: infinity minus
// infinity, in another order.
static bool is_pole(const Table *t, int i, int j) {
    const char *const *group = groups_of(t->row[i]);
    for (int k = 0; group[k] && strlen(group[k]) < 3 && strcmp(group[k], "dd") != 0; k++)
        if (!isfinite(tensor_get(&t->out[0][i][k], j))) return true;
    return false;
}

static bool same(const Table *t, int i, int j, int k, double a, double b) {
    bool second = strlen(groups_of(t->row[i])[k]) == 3 || !strcmp(groups_of(t->row[i])[k], "dd");
    return near(a, b) || (second && (isnan(a) || isnan(b)) && is_pole(t, i, j));
}

static const char *point_text(Table *t, int i, int j) {
    const Points *p = &t->points[i];
    return arity_of(t->row[i]) > 1 ? arena_printf(t->arena, "%.6g %.6g", p->x[0][j], p->x[1][j])
                                   : arena_printf(t->arena, "%.6g", p->x[0][j]);
}

// The first difference between the modes, or between engines; NULL if there is none.
static const char *difference(Table *t, int i) {
    const char *const *group = groups_of(t->row[i]);
    for (int j = 0; j < t->points[i].n; j++)
        for (int k = 0; group[k]; k++) {
            double x = tensor_get(&t->out[0][i][k], j);
            double other = k && !strcmp(group[k], group[k - 1]) ? tensor_get(&t->out[0][i][k - 1], j) : x;
            if (!same(t, i, j, k, x, other))
                return arena_printf(t->arena, "%s at %s: %.17g in one mode, %.17g in another", group[k], point_text(t, i, j), other,
                                    x);
            for (int w = 1; w < WAYS; w++) {
                double got = tensor_get(&t->out[w][i][k], j);
                if (!same(t, i, j, k, x, got))
                    return arena_printf(t->arena, "%s at %s: %.17g by %s, not %.17g", group[k], point_text(t, i, j), got,
                                        ways[w].name, x);
            }
        }
    return NULL;
}

// Rounding errors of what should be zero differ between machines; what is meant to be small is denormal.
static const char *number(Table *t, double x) {
    if (fabs(x) < 1e-15 && fabs(x) > 1e-100) x = 0;
    return isnan(x) ? "nan" : arena_printf(t->arena, "%.6g", x + 0);
}

// A derivative on which the modes disagree is shown as each of them has it.
static void print_row(Table *t, int i) {
    const char *const *group = groups_of(t->row[i]);
    printf("%s\n", t->row[i]->name);
    for (int j = 0; j < t->points[i].n; j++) {
        printf("  %-16s", point_text(t, i, j));
        for (int k = 0; group[k]; k++) {
            double x = tensor_get(&t->out[0][i][k], j);
            if (!k) printf(" %s", isnan(x) ? "nan" : arena_printf(t->arena, "%.6g", x));
            else if (strcmp(group[k], group[k - 1])) printf(" %s %s", group[k], number(t, x));
            else if (!near(x, tensor_get(&t->out[0][i][k - 1], j))) printf("|%s", number(t, x));
        }
        putchar('\n');
    }
}

// Has a row of the table of singular points in docs/language.md the function's name?
static bool documented(Table *t, const Row *r) {
    const char *root = getenv("FSMC_ROOT");
    Diag *diag = diag_new(t->arena);
    const Source *page = file_read(t->arena, diag, arena_printf(t->arena, "%s/docs/language.md", root ? root : "../.."));
    const char *from = page ? strstr(page->text, "\n## Kinks and singular points") : NULL;
    const char *to = from ? strstr(from + 1, "\n## ") : NULL,
               *word = r->form == FSM_FN ? r->sym : arena_printf(t->arena, " %s ", r->sym);
    bool found = false;
    if (!strcmp(r->name, "neg")) word = "-x";
    for (const char *at = from; to && !found && (at = strstr(at, "\n| ")) && at < to; at += 3) {
        const char *end = strstr(at + 3, " |");
        for (const char *w = at; (w = strstr(w, word)) && w < end; w++) {
            char after = w[strlen(word)];
            found |= r->form != FSM_FN || ((w[-1] == '`' || w[-1] == ' ') && (after == ' ' || after == '`'));
        }
    }
    diag_delete(diag);
    return found;
}

static int run(void *data) {
    Table *t = data;
    bool table = t->argc > 1 && !strcmp(t->argv[1], "--table");
    Text p = {.arena = t->arena};
    for (int i = 0; i < ROWS; i++) {
        if (!is_by(&rows[i], 0) && !is_by(&rows[i], 1)) continue;
        t->row[t->nrows] = &rows[i];
        t->points[t->nrows++] = points_of(&rows[i]);
        put_entry(&p, &rows[i]);
    }
    t->text = arena_strdup(t->arena, str_text(&p.text));
    str_free(&p.text);
    for (int w = 0; w < (table ? 1 : WAYS); w++)
        if (!call_all(t, w)) return 1;
    for (int i = 0; i < t->nrows; i++) {
        if (table) {
            print_row(t, i);
            continue;
        }
        const char *why = difference(t, i);
        printf(why ? "not ok special values of %s: %s\n" : "ok special values of %s\n", t->row[i]->name, why);
        t->failures += why != NULL;
        if (!documented(t, t->row[i])) {
            printf("not ok special values of %s: the table in docs/language.md does not have it\n", t->row[i]->name);
            t->failures++;
        }
    }
    return t->failures;
}

int main(int argc, char **argv) {
    Table t = {.arena = arena_new(), .argc = argc, .argv = argv};
    int failures = 1;
    if (compile_guarded(run, &t, &failures)) printf("not ok special values: a broken invariant\n");
    arena_free(t.arena);
    return failures > 0;
}
