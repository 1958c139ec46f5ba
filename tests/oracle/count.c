// Counts by the executor of loop trees. Each entry is compiled by itself, since that is what `fsmc cost` does: so what
// a campaign reports, anyone can look at with that command.
#include "oracle/count.h"
#include "oracle/internal.h"

#include "driver/passes.h"
#include "ir/interp.h"
#include "lower/exec.h"

#include <float.h>
#include <math.h>

enum { STEPS = 2000000 }; // of the interpreter, for one call

// By which part of the size of its terms (ir/terms.h) a number may differ: more than in oracle_worth, since lanes and
// blocks add up in another order, and by --fp=fast functions are off by some units.
static const double TERMS = 1e-10;

typedef struct Counting {
    Arena *arena;
    Compilation *c;
    const OracleOptions *o;
    const char *entry;
    FuncList raw, funcs;
    Tree **trees;
    const char *why;
} Counting;

static bool make(Counting *x, const Source *src) {
    oracle_note_where(x->entry, "compiling", -1);
    if (!compile_load(x->c, src) || !compile_funcs(x->c, true, &x->raw) || x->raw.n != 1) return false;
    if (!compile_funcs(x->c, false, &x->funcs)) return false;
    compile_passes(x->c, &x->funcs, true);
    x->trees = compile_trees(x->c, x->funcs);
    return compile_ok(x->c);
}

static int64_t numbers(int n, const Tensor *t) {
    int64_t count = 0;
    for (int k = 0; k < n; k++) count += tensor_count(&t[k]);
    return count;
}

static int64_t executed(const Counts *n) {
    int64_t all = n->iterations + n->loads + n->stores;
    for (int k = 0; k < COUNT_CLASSES; k++) all += n->ops[k];
    return all;
}

static Tensor *arguments(Counting *x, int which) {
    const Func *f = x->raw.f[0];
    OracleOptions o = *x->o;
    Random r = {o.seed * 1000};
    o.sizes[0] = o.sizes[which], o.nsizes = 1;
    return arguments_make(x->arena, f, f->ninputs, &o, 0, &r);
}

static bool call(Counting *x, int which, const Tensor *in, Tensor *out, OracleCounted *c) {
    const Func *f = x->funcs.f[0];
    Counts counts;
    oracle_note_where(x->entry, "counting", which);
    if (tree_exec(x->arena, x->trees[0], in, out, &counts, &x->why)) return false;
    c->done[which] = executed(&counts);
    c->data[which] = numbers(f->ninputs, in) + numbers(f->noutputs, out);
    return true;
}

// The first number that is not what it is as written.
static const char *difference(Counting *x, const Tensor *got, const Tensor *want, const Tensor *terms) {
    for (int k = 0; k < x->raw.f[0]->noutputs; k++)
        for (int64_t i = 0; i < tensor_count(&want[k]); i++) {
            double a = tensor_get(&got[k], i), b = tensor_get(&want[k], i);
            double most = kind_is_float(want[k].kind) ? tensor_get(&terms[k], i) : 0;
            if (!isfinite(most) || !isfinite(b)) continue;
            if (!(fabs(a - b) <= TERMS * most + DBL_MIN))
                return arena_printf(x->arena, "%s: element %lld is %.17g, not %.17g, with terms of %.3g", x->entry,
                                    (long long)i, a, b, most);
        }
    return NULL;
}

// As the interpreter has it; false if it does not.
static bool compare(Counting *x, const Tensor *in, const Tensor *got, OracleCounted *c) {
    const Func *f = x->raw.f[0];
    Tensor *want = ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1);
    Tensor *terms = ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1);
    InterpMode mode = {.limit = STEPS, .terms = terms, .expanded = x->o->fast};
    const char *error;
    oracle_note_where(x->entry, "as written", 0);
    int code = interp_run_as(x->arena, f, in, want, mode, NULL, &error);
    if (code == INTERP_LIMIT) return true;
    x->why = code ? arena_printf(x->arena, "%s: no error, but as written: %s", x->entry, error)
                  : difference(x, got, want, terms);
    return c->compared = !x->why;
}

static OracleCounting count(Counting *x, const Source *src, bool compares, OracleCounted *c) {
    if (!make(x, src)) return ORACLE_REFUSED;
    const Func *f = x->raw.f[0];
    c->depth = oracle_loop_depth(f);
    for (int which = 0; which < ORACLE_SIZES; which++) {
        const Tensor *in = arguments(x, which);
        Tensor *out = ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1);
        if (!in || !call(x, which, in, out, c)) return ORACLE_FAILS;
        if (which == 0 && compares && !compare(x, in, out, c)) return ORACLE_WRONG;
    }
    return ORACLE_COUNTED;
}

OracleCounting oracle_count(Arena *a, const Source *src, const char *entry, const OracleOptions *o, bool compare,
                            OracleCounted *c, const char **why) {
    Options opt;
    options_init(&opt);
    opt.command = COMMAND_COST, opt.file = src->name;
    vec_push(&opt.entries, entry);
    if (o->precise) opt.fp = CPU_FP_PRECISE;
    if (o->fast) opt.fp = CPU_FP_FAST;
    *c = (OracleCounted){.depth = 0};
    Counting x = {.c = compile_new(&opt), .o = o, .entry = entry};
    x.arena = x.c->arena;
    OracleCounting what = count(&x, src, compare, c);
    if (what == ORACLE_REFUSED) oracle_print_messages(x.c->diag);
    *why = x.why ? arena_strdup(a, x.why) : NULL;
    compile_delete(x.c);
    options_free(&opt);
    return what;
}
