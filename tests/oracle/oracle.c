#include "oracle/bounds.h"
#include "oracle/internal.h"

#include "ad/ad.h"
#include "cuda/cuda.h"
#include "driver/passes.h"
#include "fsmc/runtime.h"
#include "ir/fsm_print.h"
#include "ir/interp.h"
#include "lower/exec.h"
#include "lower/loop_passes.h"
#include "oracle/guard.h"
#include "pass/pass.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const oracle_group_names[ORACLE_GROUPS] = {"engines", "derivatives", "second order"};

OracleGroup form_group(Form f) { return f == FORM_VALUE ? ORACLE_ENGINES : f <= FORM_ADJOINT ? ORACLE_DERIVATIVES : ORACLE_SECOND; }

enum { MAX_TRIALS = 32, MAX_ENTRIES = 32 };

// What a call gave.
typedef struct Outcome {
    int code;
    const char *error;
    Tensor *out;
} Outcome;

typedef struct Entry {
    const char *name;
    Family raw;
    int ntrials;
    Tensor *in[MAX_TRIALS];
    Outcome expected[MAX_TRIALS][FORMS]; // by the interpreter, on the program as written
    Outcome now[2][MAX_TRIALS][FORMS];   // what is expected of the program, and of its version for sizes >= 1, by now
    const char *why[ORACLE_GROUPS];      // the first thing that is wrong
} Entry;

struct Batch;

typedef struct Oracle {
    const OracleOptions *o;
    Options opt;
    Compilation *c;
    Arena *arena;
    int n;
    Entry entry[MAX_ENTRIES];
    // While loop trees are made: of what, and the tree that a pass has changed last, with its text.
    const struct Batch *lowered;
    const char *lowering;
    const Tree *tree;
    Str text;
    int stages; // so many there were
} Oracle;

static char where[256];
const char *oracle_where(void) { return where; }

void oracle_note_where(const char *entry, const char *stage, int trial) {
    snprintf(where, sizeof where, "%s, %s, trial %d", entry, stage, trial);
}

static void note_where(const Entry *e, Form form, const char *stage, int trial) {
    snprintf(where, sizeof where, "%s, %s, %s, trial %d", e->name, form_names[form], stage, trial);
}

void oracle_print_messages(const Diag *d) {
    Str s = {0};
    diag_print(d, &s, false);
    for (char *line = s.data, *end; line && *line; line = end) {
        end = line + strcspn(line, "\n");
        printf("# %.*s\n", (int)(end - line), line);
        if (*end) end++;
    }
    str_free(&s);
}

// ---- failures

static void wrong(Oracle *x, Entry *e, Form form, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void wrong(Oracle *x, Entry *e, Form form, const char *fmt, ...) {
    OracleGroup g = form_group(form);
    if (e->why[g]) return;
    va_list ap;
    va_start(ap, fmt);
    e->why[g] = arena_printf(x->arena, "%s: %s", form_names[form], arena_vprintf(x->arena, fmt, ap));
    va_end(ap);
}

static const char *describe(Oracle *x, const Func *f, const Tensor *in) {
    Str s = {0};
    for (int k = 0; k < f->ninputs && s.len < 400; k++) {
        str_printf(&s, "%s%s=", k ? " " : "", f->inputs[k]->name ? f->inputs[k]->name : "?");
        int64_t n = tensor_count(&in[k]);
        if (in[k].rank) str_putc(&s, '[');
        for (int64_t i = 0; i < n && i < 30; i++) {
            if (i) str_putc(&s, ',');
            if (kind_is_float(in[k].kind)) str_printf(&s, "%.4g", tensor_get(&in[k], i));
            else str_printf(&s, "%lld", (long long)tensor_get_int(&in[k], i));
        }
        if (in[k].rank) str_putc(&s, ']');
    }
    const char *text = arena_strdup(x->arena, str_text(&s));
    str_free(&s);
    return text;
}

// ---- comparing

static double largest(const Tensor *t) {
    double most = 0;
    for (int64_t i = 0; i < tensor_count(t); i++) {
        double a = fabs(tensor_get(t, i));
        if (a > most && isfinite(a)) most = a;
    }
    return most;
}

static bool close(double a, double b, double allowed) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= allowed;
}

typedef enum Where { EVERYWHERE, WANT_FINITE, BOTH_FINITE } Where; // at which elements

// The first element of got that is not near to that of want, or NULL.
static const char *difference(Arena *a, const Tensor *got, const Tensor *want, double tolerance, Where where) {
    if (got->kind != want->kind || got->rank != want->rank) return "the type differs";
    for (int d = 0; d < got->rank; d++)
        if (got->shape[d] != want->shape[d])
            return arena_printf(a, "extent %d is %lld, not %lld", d, (long long)got->shape[d], (long long)want->shape[d]);
    if (!kind_is_float(got->kind)) tolerance = 0;
    if (got->kind == KIND_FLOAT) tolerance = tolerance < 2e-4 ? 2e-4 : tolerance;
    double allowed = tolerance * (1 + largest(want));
    for (int64_t i = 0; i < tensor_count(got); i++) {
        if (where >= WANT_FINITE && !isfinite(tensor_get(want, i))) continue;
        if (where == BOTH_FINITE && !isfinite(tensor_get(got, i))) continue;
        if (!close(tensor_get(got, i), tensor_get(want, i), allowed))
            return arena_printf(a, "element %lld is %.17g, not %.17g", (long long)i, tensor_get(got, i), tensor_get(want, i));
    }
    return NULL;
}

// What may fail can turn out not to be needed when a program is rewritten: then that is what is expected from there on.
static bool not_needed(Outcome *want, const Outcome *got, bool rewritten) {
    if (!rewritten || !want->code || got->code) return false;
    *want = *got;
    return true;
}

// Compiled code computes an array that it stores as a whole, so an element that nothing reads may fail
// (docs/language.md, "Evaluation and errors"): whether one does.
static bool fails_as_whole(Oracle *x, const Func *f, const Tensor *in) {
    const char *error = NULL;
    Tensor *out = ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1);
    return interp_run_as(x->arena, f, in, out, (InterpMode){.whole = true}, NULL, &error) != 0;
}

static void find_bracket(Node *e, void *found) { *(bool *)found |= e->op == OP_bracket; }

// Where a bracket is 0, so is what it is multiplied with, even with --fp=precise.
static bool has_bracket(const Func *f) {
    bool found = false;
    ir_walk(func_roots(f), f->outputs, find_bracket, &found);
    return found;
}

static void compare(Oracle *x, Entry *e, Form form, const Func *f, const char *stage, int trial, bool rewritten,
                    const Outcome *got) {
    Outcome *want = &e->now[f->ir->positive][trial][form];
    const Tensor *in = e->in[trial];
    if (not_needed(want, got, rewritten) || (x->o->tight && got->code == FSM_ERROR_TAPE)) return;
    bool new_error = !rewritten && got->code && !want->code;
    if (new_error && (x->o->eager_states || fails_as_whole(x, f, in))) return;
    if (!got->code != !want->code) {
        wrong(x, e, form, "%s: %s, but before: %s, for %s", stage, got->code ? got->error : "no error",
              want->code ? want->error : "no error", describe(x, f, in));
        return;
    }
    Where where = !x->o->precise ? EVERYWHERE : form != FORM_VALUE ? BOTH_FINITE : has_bracket(f) ? WANT_FINITE : EVERYWHERE;
    for (int i = 0; !got->code && i < f->noutputs; i++) {
        const char *d = difference(x->arena, &got->out[i], &want->out[i], x->o->tolerance, where);
        if (d) wrong(x, e, form, "%s: result %d, %s, for %s", stage, i, d, describe(x, f, in));
    }
}

// ---- as written

static Outcome interpret(Oracle *x, const Func *f, const Tensor *in) {
    Outcome r = {.out = ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1)};
    r.code = interp_run(x->arena, f, in, r.out, NULL, &r.error);
    return r;
}

static void expect(Oracle *x, Entry *e, Random *r) {
    const Func *value = e->raw.form[FORM_VALUE], *most = e->raw.form[FORM_TANGENT];
    e->ntrials = x->o->trials < MAX_TRIALS ? x->o->trials : MAX_TRIALS;
    for (int t = 0; t < e->ntrials; t++) {
        e->in[t] = arguments_make(x->arena, most ? most : value, value->ninputs, x->o, t, r);
        for (Form k = 0; e->in[t] && k < FORMS; k++) {
            if (!e->raw.form[k]) continue;
            note_where(e, k, "as written", t);
            Outcome *got = &e->expected[t][k];
            *got = interpret(x, e->raw.form[k], e->in[t]);
            if (got->code && !e->expected[t][FORM_VALUE].code)
                wrong(x, e, k, "as written: %s, but the value has no error, for %s", got->error,
                      describe(x, e->raw.form[k], e->in[t]));
            if (!got->code && e->expected[t][FORM_VALUE].code)
                wrong(x, e, k, "as written: no error, but that of the value is %s, for %s",
                      e->expected[t][FORM_VALUE].error, describe(x, e->raw.form[k], e->in[t]));
        }
    }
}

// ---- identities

static double inner(int n, const Tensor *const *a, const Tensor *b, double *magnitude) {
    double total = 0;
    for (int k = 0; k < n; k++)
        for (int64_t i = 0; i < tensor_count(a[k]); i++) {
            double p = tensor_get(a[k], i) * tensor_get(&b[k], i);
            total += p, *magnitude += fabs(p);
        }
    return total;
}

// The floating arguments of the value, and where their directions are among the inputs.
typedef struct Places {
    int nx, ny, x[64], first_v, first_w, y[64];
} Places;

static Places places_of(const Family *f) {
    Places p = {.first_v = f->form[FORM_VALUE]->ninputs};
    for (int k = 0; k < p.first_v; k++)
        if (kind_is_float(f->form[FORM_VALUE]->inputs[k]->kind)) p.x[p.nx++] = k;
    for (int k = 0; k < f->form[FORM_VALUE]->noutputs; k++)
        if (kind_is_float(f->form[FORM_VALUE]->outputs[k]->kind)) p.y[p.ny++] = k;
    p.first_w = p.first_v + p.nx;
    return p;
}

static bool single(const Func *f) {
    for (int k = 0; k < f->ninputs; k++)
        if (f->inputs[k]->kind == KIND_FLOAT) return true;
    for (int k = 0; k < f->noutputs; k++)
        if (f->outputs[k]->kind == KIND_FLOAT) return true;
    return false;
}

static void check_inner_products(Oracle *x, Entry *e, const Places *p, int t) {
    const Outcome *tan = &e->expected[t][FORM_TANGENT], *adj = &e->expected[t][FORM_ADJOINT];
    const Tensor *v[64], *w[64];
    if (!e->raw.form[FORM_ADJOINT] || tan->code || adj->code) return;
    for (int j = 0; j < p->nx; j++) v[j] = &e->in[t][p->first_v + j];
    for (int i = 0; i < p->ny; i++) w[i] = &e->in[t][p->first_w + i];
    double size = 0, a = inner(p->ny, w, tan->out, &size), b = inner(p->nx, v, adj->out, &size);
    double tolerance = single(e->raw.form[0]) ? 1e-4 : x->o->identity;
    if (x->o->precise && !isfinite(size)) return;
    if (!close(a, b, tolerance * (1 + size)))
        wrong(x, e, FORM_ADJOINT, "<w, J v> is %.17g, but <v, adjoint of w> is %.17g, for %s", a, b,
              describe(x, e->raw.form[FORM_ADJOINT], e->in[t]));
}

static void check_second(Oracle *x, Entry *e, int t) {
    for (Form k = FORM_RF; k < FORMS; k++) {
        const Outcome *a = &e->expected[t][FORM_FR], *b = &e->expected[t][k];
        const Func *f = e->raw.form[FORM_FR];
        if (!f || !e->raw.form[k] || a->code || b->code) continue;
        for (int i = 0; i < f->noutputs; i++) {
            double tolerance = single(f) ? 1e-3 : x->o->identity;
            const char *d = difference(x->arena, &b->out[i], &a->out[i], tolerance, x->o->precise ? BOTH_FINITE : EVERYWHERE);
            if (d) wrong(x, e, k, "unlike forward over reverse, result %d, %s, for %s", i, d, describe(x, f, e->in[t]));
        }
    }
}

// The arguments of trial t, moved by h along v.
static Tensor *moved(Oracle *x, const Entry *e, const Places *p, int t, double h) {
    int n = e->raw.form[FORM_TANGENT]->ninputs;
    Tensor *in = arena_copy(x->arena, e->in[t], sizeof *in * (size_t)n);
    for (int j = 0; j < p->nx; j++) {
        Tensor *a = &in[p->x[j]];
        const Tensor *old = &e->in[t][p->x[j]], *v = &e->in[t][p->first_v + j];
        *a = tensor_new(x->arena, old->kind, old->rank, old->shape);
        for (int64_t i = 0; i < tensor_count(a); i++) tensor_set(a, i, tensor_get(old, i) + h * tensor_get(v, i));
    }
    return in;
}

// The central difference of result i of f, or of those of its results that want[] has; false if f fails nearby.
static bool central(Oracle *x, Entry *e, const Func *f, const Places *p, int t, double h, Tensor *out) {
    Outcome a = interpret(x, f, moved(x, e, p, t, h)), b = interpret(x, f, moved(x, e, p, t, -h));
    if (a.code || b.code) return false;
    for (int i = 0; i < f->noutputs; i++) {
        out[i] = a.out[i];
        for (int64_t k = 0; kind_is_float(out[i].kind) && k < tensor_count(&out[i]); k++)
            tensor_set(&out[i], k, (tensor_get(&a.out[i], k) - tensor_get(&b.out[i], k)) / (2 * h));
    }
    return true;
}

// Differences of three widths of one result. `tiny` is the narrowest: it has few digits, but hardly a step of round or
// floor falls into it, while steep stairs look like a slope to both of the others.
typedef struct Differences {
    const Tensor *wide, *narrow, *tiny;
} Differences;

// Compares the differences with result k of `derivative`. Where the two widths disagree, there is a kink between them,
// and nothing can be said.
static void check_difference(Oracle *x, Entry *e, Form derivative, int k, Differences by, int t) {
    const Tensor *got = &e->expected[t][derivative].out[k];
    double scale = 1 + largest(got) + largest(by.narrow);
    for (int64_t i = 0; i < tensor_count(got); i++) {
        double a = tensor_get(by.wide, i), b = tensor_get(by.narrow, i), c = (4 * b - a) / 3, d = tensor_get(got, i);
        if (!(fabs(a - b) <= 1e-3 * (1 + fabs(b))) || (x->o->precise && !isfinite(d))) continue;
        bool stairs = close(tensor_get(by.tiny, i), d, 1e-4 * (1 + largest(got)));
        if (!stairs && !close(c, d, 2e-5 * scale + fabs(a - b))) // as sure as the two agree
            wrong(x, e, derivative, "element %lld of result %d is %.10g, but differences give %.10g, for %s", (long long)i, k, d, c,
                  describe(x, e->raw.form[derivative], e->in[t]));
    }
}

static void check_differences(Oracle *x, Entry *e, const Places *p, int t, Form of, Form derivative) {
    const Func *f = e->raw.form[of];
    if (!f || !e->raw.form[derivative] || e->expected[t][of].code || e->expected[t][derivative].code) return;
    static const double widths[] = {1e-3, 0.5e-3, 1e-6};
    Tensor *by[3];
    for (int w = 0; w < 3; w++) {
        by[w] = ARENA_ARRAY(x->arena, Tensor, f->noutputs);
        if (!central(x, e, f, p, t, widths[w], by[w])) return;
    }
    for (int i = 0, k = 0; i < f->noutputs; i++) {
        Differences of_result = {&by[0][i], &by[1][i], &by[2][i]};
        if (kind_is_float(f->outputs[i]->kind)) check_difference(x, e, derivative, k++, of_result, t);
    }
}

static void check_identities(Oracle *x, Entry *e) {
    if (!e->raw.form[FORM_TANGENT]) return;
    Places p = places_of(&e->raw);
    for (int t = 0; t < e->ntrials; t++) {
        if (!e->in[t] || e->expected[t][FORM_VALUE].code) continue;
        note_where(e, FORM_TANGENT, "identities", t);
        check_inner_products(x, e, &p, t);
        check_second(x, e, t);
        if (!x->o->differences || single(e->raw.form[FORM_VALUE])) continue;
        check_differences(x, e, &p, t, FORM_VALUE, FORM_TANGENT);
        check_differences(x, e, &p, t, FORM_ADJOINT, FORM_FR);
    }
}

// ---- the optimised programs

typedef struct Batch { // all forms of all entries, in one Ir
    FuncList funcs;
    Entry *entry[MAX_ENTRIES * FORMS];
    Form form[MAX_ENTRIES * FORMS];
} Batch;

// The version of a function that runs for these arguments.
static const Func *version(const Batch *p, int i, const Tensor *in) {
    const Func *f = p->funcs.f[i], *positive = p->funcs.positive ? p->funcs.positive[i] : NULL;
    return positive && sizes_assumed(positive, in) ? positive : f;
}

// The trials of a stage: of those after a pass, two that take turns, since the last stages have all.
typedef struct Turn {
    int first, n; // n: 0 for all
} Turn;

static const Turn every_trial = {0, 0};

static Turn next_turn(Oracle *x) { return x->o->thorough ? every_trial : (Turn){2 * x->stages++, 2}; }

static bool is_tried(Turn turn, const Entry *e, int t) {
    return e->in[t] && (!turn.n || (t + turn.first) % e->ntrials < turn.n);
}

static void run_interpreter(Oracle *x, Batch *p, Func *const *funcs, Turn turn, const char *stage) {
    for (int i = 0; i < p->funcs.n; i++) {
        Entry *e = p->entry[i];
        for (int t = 0; funcs[i] && t < e->ntrials; t++) {
            if (!is_tried(turn, e, t) || (funcs[i]->ir->positive && !sizes_assumed(funcs[i], e->in[t]))) continue;
            note_where(e, p->form[i], stage, t);
            Outcome got = interpret(x, funcs[i], e->in[t]);
            compare(x, e, p->form[i], funcs[i], stage, t, true, &got);
        }
    }
}

// The tree as its text reads: that runs in its place, so that nothing it is depends on what is not in the text. The tree itself, after
// reporting it, if that does not come back the same.
static Tree *reread(Oracle *x, Entry *e, Form form, Tree *t, const char *stage) {
    Str why = {0};
    Tree *back = tree_reread(x->arena, t, &why);
    if (back) vec_push(&x->c->trees, back);
    else wrong(x, e, form, "%s: its text does not read as the same tree: %s", stage, str_text(&why));
    str_free(&why);
    return back ? back : t;
}

// The tree of function number i of the batch.
static void run_tree(Oracle *x, const Batch *p, int i, const Tree *tree, Turn turn, const char *stage) {
    Entry *e = p->entry[i];
    const Func *f = p->funcs.f[i];
    for (int t = 0; t < e->ntrials; t++) {
        if (!is_tried(turn, e, t)) continue;
        note_where(e, p->form[i], stage, t);
        Outcome got = {.out = ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1)};
        got.code = tree_exec(x->arena, tree, e->in[t], got.out, NULL, &got.error);
        compare(x, e, p->form[i], version(p, i, e->in[t]), stage, t, false, &got);
    }
}

// After each pass over loop trees that has changed one: what it is now.
static void after_loop_pass(void *data, const LoopPass *pass, Tree *t) {
    Oracle *x = data;
    const Batch *p = x->lowered;
    int i = 0;
    while (i < p->funcs.n && p->funcs.f[i] != t->func && (!p->funcs.positive || p->funcs.positive[i] != t->func)) i++;
    if (i == p->funcs.n) fatal_bug("a loop tree of no function");
    Str text = {0};
    tree_write(&text, t);
    bool same = x->tree == t && x->text.len == text.len && !memcmp(x->text.data, text.data, text.len);
    str_free(&x->text);
    x->tree = t, x->text = text;
    if (same) return;
    const char *stage = arena_printf(x->arena, "%s, after %s", x->lowering, pass->name);
    note_where(p->entry[i], p->form[i], stage, -1);
    tree_verify(t);
    run_tree(x, p, i, reread(x, p->entry[i], p->form[i], t, stage), next_turn(x), stage);
}

// The loop trees of the batch, each run by the executor: after each pass, from its text, and at the end.
static Tree **lower_and_run(Oracle *x, const Batch *p, const char *stage) {
    x->lowered = p, x->lowering = stage, x->tree = NULL;
    x->c->after_loop_pass = after_loop_pass, x->c->after_data = x;
    snprintf(where, sizeof where, "making the %s", stage);
    Tree **trees = compile_trees(x->c, p->funcs);
    x->c->after_loop_pass = NULL;
    str_free(&x->text);
    for (int i = 0; i < p->funcs.n; i++) run_tree(x, p, i, trees[i], every_trial, stage);
    return trees;
}

// Does LLVM take few passes for this form? All that a level has take most of the time of a test, and make much of the same of
// derivatives and values: unless that is asked for, -O1 has them for values and those first derivatives
// that it compiles, -O3 for values.
static bool is_quick(const Oracle *x, Form form, int level) {
    return !x->o->thorough && (level == 2 || (level == 3 && form != FORM_VALUE));
}

// Is the form of the entry compiled at the level? Of first derivatives, each is compiled at one of -O1, -O2 and -O3, in
// turn.
static bool is_compiled(const Oracle *x, const Entry *e, Form form, int level) {
    const OracleGroup group = form_group(form);
    unsigned levels = group == ORACLE_SECOND ? x->o->levels & x->o->second : x->o->levels;
    bool all = x->o->thorough || group != ORACLE_DERIVATIVES || (levels & 14) != 14 || !level;
    return levels >> level & 1 && (all || (e - x->entry + (form == FORM_ADJOINT)) % 3 == level - 1);
}

// The functions that are compiled at a level, quickly or not, as a batch of their own.
static Batch *batch_at(Oracle *x, const Batch *p, Tree *const *trees, int level, bool quick, Tree **kept) {
    Batch *b = ARENA_NEW(x->arena, Batch);
    b->funcs.f = ARENA_ARRAY(x->arena, Func *, p->funcs.n + 1);
    b->funcs.positive = ARENA_ARRAY(x->arena, Func *, p->funcs.n + 1);
    for (int i = 0; i < p->funcs.n; i++) {
        if (!is_compiled(x, p->entry[i], p->form[i], level) || quick != is_quick(x, p->form[i], level)) continue;
        int k = b->funcs.n++;
        if (p->funcs.positive) b->funcs.positive[k] = p->funcs.positive[i];
        b->funcs.f[k] = p->funcs.f[i], b->entry[k] = p->entry[i], b->form[k] = p->form[i], kept[k] = trees[i];
    }
    return b;
}

int oracle_cpus(const char **cpu) {
    int n = 0;
#if defined(__x86_64__)
#define HAS __builtin_cpu_supports
    if (HAS("sse4.2") && HAS("popcnt")) cpu[n++] = "x86-64-v2";
    if (n == 1 && HAS("avx2") && HAS("fma") && HAS("bmi2")) cpu[n++] = "x86-64-v3";
    if (n == 2 && HAS("avx512f") && HAS("avx512bw") && HAS("avx512cd") && HAS("avx512dq") && HAS("avx512vl")) cpu[n++] = "x86-64-v4";
#undef HAS
#endif
    (void)cpu;
    return n;
}

// Below the processor's own instructions, also those of processors with AVX2 and without AVX-512, if it has them.
static const char *other_cpu(int level) {
    const char *cpu[ORACLE_CPUS];
    return level == 0 && oracle_cpus(cpu) >= 2 ? cpu[1] : NULL;
}

static CpuJit *compile_at(Oracle *x, const Batch *p, Tree *const *trees, int level, bool quick) {
    x->opt.level = level, x->opt.lanes = level == 2 ? 2 : 4; // so few that the small arrays of tests have them
    CpuOptions opt = {.level = level, .fp = x->opt.fp, .name = "oracle", .callable = true, .quick = quick};
    opt.cpu = x->o->cpu ? x->o->cpu : other_cpu(level);
    opt.lanes = x->opt.lanes, opt.threads = x->opt.threads, opt.cache = (int64_t)x->c->machine.cache;
    opt.instead = guard_scratch;
    CpuModule *m = cpu_emit(x->arena, x->c->diag, p->funcs.n, trees, &opt);
    CpuJit *jit = m ? cpu_jit(m, x->c->diag) : NULL;
    cpu_delete(m);
    return jit;
}

static void run_compiled_part(Oracle *x, Batch *all, Tree *const *all_trees, int level, bool quick) {
    char stage[] = "compiled at -O?";
    stage[sizeof stage - 2] = (char)('0' + level);
    Tree **trees = ARENA_ARRAY(x->arena, Tree *, all->funcs.n + 1);
    Batch *p = batch_at(x, all, all_trees, level, quick, trees);
    if (p->funcs.n == 0) return;
    snprintf(where, sizeof where, "%s", stage);
    CpuJit *jit = compile_at(x, p, trees, level, quick);
    for (int i = 0; i < p->funcs.n; i++) {
        Entry *e = p->entry[i];
        const Func *f = p->funcs.f[i];
        if (!jit) wrong(x, e, p->form[i], "%s: it does not compile", stage);
        for (int t = 0; jit && t < e->ntrials; t++) {
            if (!e->in[t]) continue;
            note_where(e, p->form[i], stage, t);
            for (int ends = 0; ends < 2; ends++) {
                Outcome got = {.out = ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1)};
                got.code = guard_call(x->arena, jit, f, e->in[t], got.out, ends, &got.error);
                compare(x, e, p->form[i], version(p, i, e->in[t]), stage, t, false, &got);
            }
        }
    }
    cpu_jit_delete(jit);
}

static void run_compiled(Oracle *x, Batch *p, Tree *const *trees, int level) {
    run_compiled_part(x, p, trees, level, false);
    run_compiled_part(x, p, trees, level, true);
}

// Does the form of entry number i go through passes and back ends? As written, all ways to a second derivative are compared; of
// what comes later they are two thirds of the work, and one is taken, another for the next entry. CUDA code, which
// takes long to compile, has the tangents of one entry in three, and the adjoints of the others.
static bool goes_on(const Oracle *x, int i, Form form) {
    const int third = (i + (int)(x->o->seed % 3)) % 3;
    if (x->o->thorough) return true;
    if (form >= FORM_FR) return (int)(form - FORM_FR) == third;
    return form == FORM_VALUE || !x->o->cuda || (form == FORM_TANGENT) == (third == 0);
}

// Elaborates the source and derives all forms in an Ir of their own.
static bool make_program(Oracle *x, Batch *p) {
    FuncList list;
    *p = (Batch){.funcs = {0}};
    for (int i = 0; i < x->n; i++) memcpy(x->entry[i].now[0], x->entry[i].expected, sizeof x->entry[i].expected);
    snprintf(where, sizeof where, "elaboration");
    if (!compile_funcs(x->c, false, &list)) return false;
    p->funcs.f = ARENA_ARRAY(x->arena, Func *, list.n * FORMS);
    for (int i = 0; i < list.n && i < x->n; i++) {
        note_where(&x->entry[i], FORM_VALUE, "derivatives", 0);
        Family f = family_derive(list.f[i], x->o->groups - 1);
        for (Form k = 0; k < FORMS; k++) {
            if (!f.form[k] || !x->entry[i].raw.form[k] || !goes_on(x, i, k)) continue;
            ir_verify(f.form[k]);
            p->entry[p->funcs.n] = &x->entry[i];
            p->form[p->funcs.n] = k;
            p->funcs.f[p->funcs.n++] = f.form[k];
        }
    }
    return true;
}

// What a pass leaves as it was has the values that it had.
static void run_pass(Oracle *x, Batch *p, const Pass *pass, Func *const *funcs, bool positive) {
    const char *stage = arena_printf(x->arena, "after %s%s", pass->name, positive ? " for sizes >= 1" : "");
    Func **changed = ARENA_ARRAY(x->arena, Func *, p->funcs.n + 1);
    for (int i = 0; i < p->funcs.n; i++) {
        if (!funcs[i]) continue;
        note_where(p->entry[i], p->form[i], stage, -1);
        if (pass_run(pass, funcs[i])) changed[i] = funcs[i];
        ir_verify(funcs[i]);
    }
    run_interpreter(x, p, changed, next_turn(x), stage);
}

// ---- the cost of derivatives

static int depth_of(Node *e, Map *memo) {
    if (e->nargs == 0) return 0;
    void *known = map_get(memo, e);
    if (known) return (int)(intptr_t)known - 1;
    int inner = 0, outer = 0;
    for (int k = 0; k < e->nargs; k++) {
        int d = depth_of(e->args[k], memo), *to = ir_is_loop(e) && k >= e->u.loop->n ? &inner : &outer;
        *to = d > *to ? d : *to;
    }
    if (ir_is_loop(e) && ++inner > outer) outer = inner;
    map_put(memo, e, (void *)(intptr_t)(outer + 1));
    return outer;
}

int oracle_loop_depth(const Func *f) {
    Map memo = {0};
    int depth = 0;
    for (int k = 0; k < f->noutputs; k++) {
        int d = depth_of(f->outputs[k], &memo);
        depth = d > depth ? d : depth;
    }
    map_free(&memo);
    return depth;
}

static int64_t elements(int n, Tensor *const t) {
    int64_t count = 0;
    for (int k = 0; k < n; k++) count += tensor_count(&t[k]);
    return count;
}

// What a call costs: the operations of its loop tree, weighted by the costs in ops.def. -1 if it fails.
static int64_t work_of(Oracle *x, const Batch *p, Tree *const *trees, int i, int t, Tensor *out) {
    Counts c = {0};
    const char *error;
    return tree_exec(x->arena, trees[i], p->entry[i]->in[t], out, &c, &error) ? -1 : c.work;
}

// The guarantee of the design: a derivative costs at most (4 + D) times what the primal and its arguments and results do,
// D being the depth of sequential loops. [TL] Theorems 6.1 and 6.35 are the case D = 0. A call itself costs something, too:
// what does not depend on a loop may be computed before it, even if the loop turns out to be empty. Calls with empty arrays
// are left out for that reason.
enum { CALL_COST = 16 };

// forced: the trees have blocks where these do not pay. Those that users get count, if there are any that cost too much.
static void check_costs(Oracle *x, const Batch *p, Tree *const *trees, int value, bool forced) {
    Entry *e = p->entry[value];
    const Func *f = p->funcs.f[value], *positive = p->funcs.positive ? p->funcs.positive[value] : NULL;
    int bound = x->o->cost_bound ? x->o->cost_bound : 4 + oracle_loop_depth(f);
    for (int t = 0; t < e->ntrials; t++) {
        Tensor *out = ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1);
        int64_t primal = e->in[t] && sizes_assumed(positive ? positive : f, e->in[t]) ? work_of(x, p, trees, value, t, out) : -1;
        if (primal < 0) continue;
        double base = (double)(CALL_COST + primal + elements(f->ninputs, e->in[t]) + elements(f->noutputs, out));
        for (int i = 0; i < p->funcs.n; i++) {
            Form form = p->form[i];
            const Func *g = p->funcs.f[i];
            if (p->entry[i] != e || (form != FORM_TANGENT && form != FORM_ADJOINT)) continue;
            if (!sizes_assumed(version(p, i, e->in[t]), e->in[t])) continue;
            if (p->funcs.positive && p->funcs.positive[i] && version(p, i, e->in[t]) == g) continue; // that is for unusual arguments
            int64_t work = work_of(x, p, trees, i, t, ARENA_ARRAY(x->arena, Tensor, g->noutputs + 1));
            double ratio = (double)work / base;
            if (ratio > bound && forced) {
                x->opt.lanes_always = false;
                Tree **usual = compile_trees(x->c, p->funcs);
                x->opt.lanes_always = true;
                check_costs(x, p, usual, value, false);
                return;
            }
            if (x->o->print_costs)
                printf("# %5.2f %s, %s, trial %d: %lld for %.0f\n", ratio, e->name, form_names[form], t, (long long)work, base);
            if (x->o->cost && ratio / bound > x->o->cost->ratio / (x->o->cost->bound + 1e-9)) {
                x->o->cost->ratio = ratio, x->o->cost->bound = bound;
                snprintf(x->o->cost->what, sizeof x->o->cost->what, "%s, %s", e->name, form_names[form]);
            }
            if (ratio > bound)
                wrong(x, e, form, "it costs %lld, %.2f times what the primal and its data do (%.0f); the bound is %d: %s",
                      (long long)work, ratio, base, bound, describe(x, g, e->in[t]));
        }
    }
}

// Trees do no more than is said of them.
static void check_bounds(Oracle *x, const Batch *p, Tree *const *trees) {
    for (int i = 0; i < p->funcs.n; i++) {
        AccountAtoms atoms = {.arena = x->arena};
        Account account = tree_account(&atoms, trees[i]);
        Entry *e = p->entry[i];
        const Func *f = p->funcs.f[i];
        for (int t = 0; t < e->ntrials; t++) {
            if (!e->in[t] || version(p, i, e->in[t]) != trees[i]->func) continue;
            Counts done;
            const char *error, *why;
            if (tree_exec(x->arena, trees[i], e->in[t], ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1), &done, &error)) continue;
            why = bounds_wrong(x->arena, trees[i], &account, e->in[t], &done);
            if (why) wrong(x, e, p->form[i], "%s: %s", why, describe(x, f, e->in[t]));
        }
        account_atoms_free(&atoms);
    }
}

// The pipeline of compile_passes, with the interpreter after every pass.
static void run_passes(Oracle *x, Batch *p) {
    const Pass *pass = pass_table;
    FuncList *l = &p->funcs;
    for (; pass->name && !(pass->establishes & PASS_PLANNED); pass++) run_pass(x, p, pass, l->f, false);
    l->positive = ARENA_ARRAY(x->arena, Func *, l->n + 1);
    for (int i = 0; i < l->n; i++) {
        note_where(p->entry[i], p->form[i], "assuming sizes >= 1", -1);
        l->positive[i] = pass_assume_positive(l->f[i], true);
        if (!l->positive[i]) continue;
        for (int t = 0; t < MAX_TRIALS; t++) p->entry[i]->now[1][t][p->form[i]] = p->entry[i]->now[0][t][p->form[i]];
        vec_push(&x->c->irs, l->positive[i]->ir);
    }
    run_interpreter(x, p, l->positive, every_trial, "assuming sizes >= 1");
    for (const Pass *q = pass_table; q->name; q++) {
        if (q >= pass) run_pass(x, p, q, l->f, false);
        run_pass(x, p, q, l->positive, true);
    }
    run_interpreter(x, p, l->f, every_trial, "after all passes");
    run_interpreter(x, p, l->positive, every_trial, "after all passes for sizes >= 1");
}

// The optimised programs printed as F~ and compiled again.
static void run_printed(Oracle *x) {
    Batch p;
    FuncList again;
    if (!make_program(x, &p)) return;
    compile_passes(x->c, &p.funcs, false);
    Str text = {0};
    fsm_print_externs(&text, p.funcs.n, p.funcs.f);
    for (int i = 0; i < p.funcs.n; i++) {
        note_where(p.entry[i], p.form[i], "printing", -1);
        fsm_print(&text, p.funcs.f[i]);
        str_putc(&text, '\n');
    }
    Source src = {"printed.fsm", str_text(&text), text.len};
    Compilation *c = compile_new(&x->opt);
    bool ok = compile_load(c, &src) && compile_funcs(c, true, &again) && again.n == p.funcs.n;
    for (int i = 0; i < p.funcs.n; i++) {
        Entry *e = p.entry[i];
        if (!ok) wrong(x, e, p.form[i], "printed as F~: it does not compile again");
        const Turn turn = next_turn(x);
        for (int t = 0; ok && t < e->ntrials; t++) {
            if (!is_tried(turn, e, t)) continue;
            note_where(e, p.form[i], "printed as F~", t);
            Outcome got = interpret(x, again.f[i], e->in[t]);
            compare(x, e, p.form[i], again.f[i], "printed as F~", t, true, &got);
        }
    }
    if (!ok) oracle_print_messages(c->diag);
    compile_delete(c);
    str_free(&text);
}

typedef int CudaEntry(fsm_context *, void **);

static Outcome call_cuda_entry(Oracle *x, fsm_context *ctx, CudaEntry *code, const Func *f, Tensor *in) {
    Outcome got = {.out = ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1)};
    void **args = ARENA_ARRAY(x->arena, void *, f->ninputs + f->noutputs + 1);
    got.code = func_prepare(x->arena, f, in, got.out, &got.error);
    for (int k = 0; k < f->ninputs; k++) args[k] = in[k].data;
    for (int k = 0; k < f->noutputs; k++) args[f->ninputs + k] = got.out[k].data;
    if (!got.code && (got.code = code(ctx, args))) got.error = arena_strdup(x->arena, fsm_context_error(ctx));
    return got;
}

static bool same_bits(const Func *f, const Outcome *a, const Outcome *b) {
    bool same = a->code == b->code;
    for (int k = 0; k < f->noutputs && same && !a->code; k++)
        same = !memcmp(a->out[k].data, b->out[k].data, (size_t)tensor_count(&a->out[k]) * kind_size(a->out[k].kind));
    return same;
}

// The functions have names of their own among those of all programs that are compiled together. Another call, which starts what the
// first has recorded, gives the same bits.
static void call_cuda(Oracle *x, Batch *p) {
    const OracleCuda *cuda = x->o->cuda;
    fsm_context *ctx = fsm_context_new();
    for (int i = 0; i < p->funcs.n; i++) {
        Entry *e = p->entry[i];
        const Func *f = p->funcs.f[i];
        const char *name = arena_printf(x->arena, "%s__call", cpu_c_name(x->arena, f->name));
        CudaEntry *code = (CudaEntry *)(uintptr_t)dlsym(cuda->library, name);
        if (!code) wrong(x, e, p->form[i], "there is no CUDA code");
        for (int t = 0; code && t < e->ntrials; t++) {
            if (!e->in[t]) continue;
            note_where(e, p->form[i], "CUDA", t);
            const Outcome got = call_cuda_entry(x, ctx, code, f, e->in[t]), again = call_cuda_entry(x, ctx, code, f, e->in[t]);
            if (!same_bits(f, &got, &again)) wrong(x, e, p->form[i], "a second call of CUDA code gives something else");
            compare(x, e, p->form[i], version(p, i, e->in[t]), "CUDA", t, false, &got);
        }
    }
    fsm_context_free(ctx);
}

static bool run_cuda(Oracle *x) {
    const OracleCuda *cuda = x->o->cuda;
    Batch p;
    if (!make_program(x, &p)) return false;
    for (int i = 0; i < p.funcs.n; i++) p.funcs.f[i]->name = arena_printf(x->arena, "%s%s", cuda->prefix, p.funcs.f[i]->name);
    for (int i = 0; i < x->n; i++) memcpy(x->entry[i].now[1], x->entry[i].now[0], sizeof x->entry[i].now[0]);
    snprintf(where, sizeof where, "passes for CUDA");
    compile_passes(x->c, &p.funcs, true);
    if (!cuda->text) { // what fails after the passes is what has to
        run_interpreter(x, &p, p.funcs.f, every_trial, "passes for CUDA");
        if (p.funcs.positive) run_interpreter(x, &p, p.funcs.positive, every_trial, "passes for CUDA, for sizes >= 1");
        call_cuda(x, &p);
        return true;
    }
    x->opt.target = TARGET_CUDA;
    snprintf(where, sizeof where, "printing CUDA");
    CudaOptions opt = {.name = x->opt.file, .callable = true};
    return cuda_print(cuda->text, x->arena, x->c->diag, p.funcs.n, compile_trees(x->c, p.funcs), &opt);
}

static bool run_pipeline(Oracle *x) {
    Batch p;
    if (x->o->cuda) return run_cuda(x);
    if (x->o->levels & 1) {
        if (!make_program(x, &p)) return false;
        run_interpreter(x, &p, p.funcs.f, every_trial, "with the rules");
        Tree **trees = lower_and_run(x, &p, "loop tree without passes over values");
        run_compiled(x, &p, trees, 0);
    }
    run_printed(x);
    if (!make_program(x, &p)) return false;
    if (!(x->o->levels & 1)) run_interpreter(x, &p, p.funcs.f, every_trial, "with the rules");
    run_passes(x, &p);
    x->opt.level = 2; // from which on loops have lanes
    Tree **trees = lower_and_run(x, &p, "loop tree");
    check_bounds(x, &p, trees);
    for (int i = 0; i < p.funcs.n; i++)
        if (p.form[i] == FORM_VALUE && x->o->groups > 1 && !x->o->rules_off) check_costs(x, &p, trees, i, x->opt.lanes_always);
    for (int level = 1; level <= 2; level++) run_compiled(x, &p, trees, level);
    if (!(x->o->levels >> 3 & 1)) return true;
    x->opt.level = 3, x->opt.threads = 2, x->opt.threads_always = true;
    x->opt.code_size = 1; // as few versions of loops as there may be
    trees = lower_and_run(x, &p, "loop tree for threads");
    run_compiled(x, &p, trees, 3);
    x->opt.target = TARGET_CUDA;
    lower_and_run(x, &p, "loop tree for a GPU");
    x->opt.target = TARGET_CPU;
    return true;
}

// ---- the whole

void oracle_options_init(OracleOptions *o) {
    *o = (OracleOptions){.seed = 1,
                         .trials = 5,
                         .nsizes = 5,
                         .sizes = {3, 1, 2, 5, 0},
                         .low = -1.5,
                         .high = 1.5,
                         .int_low = 0,
                         .int_high = -1,
                         .levels = 15,
                         .second = 4,
                         .groups = ORACLE_GROUPS,
                         .differences = true,
                         .tolerance = 1e-10,
                         .identity = 1e-12};
}

static bool read_line(OracleOptions *o, const char *line) {
    char word[32];
    int used = 0, more;
    if (sscanf(line, "%31s%n", word, &used) != 1) return false;
    line += used;
    if (!strcmp(word, "sizes")) {
        for (o->nsizes = 0; o->nsizes < 16; o->nsizes++, line += more) {
            long long n;
            if (sscanf(line, "%lld%n", &n, &more) != 1) break;
            o->sizes[o->nsizes] = n;
        }
        return o->nsizes > 0;
    }
    long long a, b;
    if (!strcmp(word, "range")) return sscanf(line, "%lf %lf", &o->low, &o->high) == 2;
    if (!strcmp(word, "tolerance")) return sscanf(line, "%lf", &o->tolerance) == 1;
    if (!strcmp(word, "identity")) return sscanf(line, "%lf", &o->identity) == 1;
    if (!strcmp(word, "eager")) return o->eager_states = true;
    if (!strcmp(word, "cost")) return sscanf(line, "%d", &o->cost_bound) == 1;
    if (!strcmp(word, "precise")) return o->precise = true;
    if (!strcmp(word, "host")) return o->host = true;
    if (!strcmp(word, "fast")) return o->fast = true;
    if (!strcmp(word, "ties")) return o->ties = !(o->differences = false);
    if (!strcmp(word, "kinks")) return !(o->differences = false);
    if (!strcmp(word, "trials")) return sscanf(line, "%d", &o->trials) == 1;
    if (!strcmp(word, "groups")) return o->says_groups = sscanf(line, "%d", &o->groups) == 1;
    if (!strcmp(word, "levels")) {
        o->levels = 0;
        for (line += strspn(line, " "); *line >= '0' && *line <= '3'; line++) o->levels |= 1u << (*line - '0');
        return o->levels != 0;
    }
    if (!strcmp(word, "tape") && sscanf(line, "%lld", &a) == 1) return o->tape_limit = a, true;
    if (!strcmp(word, "counts") && sscanf(line, "%lld %lld", &a, &b) == 2) return o->count_low = a, o->count_high = b, true;
    if (!strcmp(word, "seed") && sscanf(line, "%lld", &a) == 1) return o->seed = (uint64_t)a, true;
    if (strcmp(word, "ints") || sscanf(line, "%lld %lld", &a, &b) != 2) return false;
    o->int_low = a, o->int_high = b;
    return true;
}

bool oracle_options_read(OracleOptions *o, const char *text) {
    static const char mark[] = "// oracle:";
    for (const char *p = text; (p = strstr(p, mark)); p += sizeof mark - 1) {
        const char *end = strchr(p, '\n');
        char line[256];
        snprintf(line, sizeof line, "%.*s", (int)(end ? end - p : 200), p);
        if (!read_line(o, line + sizeof mark - 1)) return false;
    }
    return true;
}

static void note_reached(Node *e, void *data) { ((bool *)data)[e->op] = true; }

static void finish(Oracle *x, bool ok) {
    if (!ok) oracle_print_messages(x->c->diag);
    compile_delete(x->c);
    options_free(&x->opt);
}
bool oracle_check(const Source *src, const OracleOptions *o, OracleReport *report, void *data) {
    Oracle *x = calloc(1, sizeof *x);
    FuncList raw;
    if (!x) diag_out_of_memory();
    x->o = o;
    options_init(&x->opt);
    if (o->precise) x->opt.fp = CPU_FP_PRECISE;
    if (o->fast) x->opt.fp = CPU_FP_FAST;
    x->opt.tape_limit = o->tape_limit;
    if (o->rules_off) memcpy(x->opt.rules_off, o->rules_off, sizeof x->opt.rules_off);
    x->opt.lanes_always = true;
    x->opt.command = COMMAND_RUN, x->opt.file = src->name;
    x->c = compile_new(&x->opt);
    x->c->keep_customs = true;
    x->arena = x->c->arena;
    snprintf(where, sizeof where, "the front end");
    bool ok = compile_load(x->c, src) && compile_funcs(x->c, true, &raw);
    if (ok) x->n = raw.n < MAX_ENTRIES ? raw.n : MAX_ENTRIES;
    for (int i = 0; i < x->n; i++) {
        Entry *e = &x->entry[i];
        Random r = {o->seed * 1000 + (uint64_t)i};
        e->name = raw.f[i]->name;
        note_where(e, FORM_VALUE, "derivatives", 0);
        e->raw = family_derive(raw.f[i], o->groups - 1);
        if (o->reached) ir_walk(func_roots(raw.f[i]), raw.f[i]->outputs, note_reached, o->reached);
        for (Form k = 0; o->reached && k < FORMS; k++) {
            const Func *f = e->raw.form[k];
            if (f) ir_walk(func_roots(f), f->outputs, note_reached, o->reached);
        }
        if (o->cuda && o->cuda->text) continue;
        expect(x, e, &r);
        if (!o->cuda) check_identities(x, e);
    }
    ok = ok && (o->written || run_pipeline(x));
    for (int i = 0; ok && i < x->n; i++) {
        Entry *e = &x->entry[i];
        for (int g = 0; g < o->groups; g++) {
            Form first = g == ORACLE_ENGINES ? FORM_VALUE : g == ORACLE_DERIVATIVES ? FORM_ADJOINT : FORM_FR;
            const char *none = e->raw.form[first] ? NULL : e->raw.error[first];
            report(data, e->name, g, e->why[g] ? e->why[g] : none ? arena_printf(x->arena, "skip: %s", none) : NULL);
        }
    }
    finish(x, ok);
    free(x);
    return ok;
}
