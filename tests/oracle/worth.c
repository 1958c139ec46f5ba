// What rules and passes are worth: the values and costs of a program and its derivatives with all of them, and without.
#include "oracle/internal.h"

#include "driver/passes.h"
#include "ir/interp.h"
#include "lower/exec.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TRIALS = 32, MAX_ENTRIES = 32, STEPS = 10000000 };

// What is left out: a pass, a rule, or all rules; or nothing.
typedef struct Variant {
    const char *without;
    const Pass *pass;
    const Rule *rule;
    bool rules;
} Variant;

typedef struct Call {
    const Tensor *in;           // NULL: there is none
    const Tensor *want, *terms; // as written; NULL if it fails
    int64_t work;               // with all rules and passes; -1: it fails, or a size is 0
} Call;

typedef struct Compared {
    const OracleOptions *o;
    OracleWorth *w;
    OracleReport *report;
    void *data;
    Options opt;
    Compilation *c;
    Arena *arena;
    int n, ntrials;
    const char *name[MAX_ENTRIES];
    Call call[MAX_ENTRIES][FORMS][MAX_TRIALS];
} Compared;

// All forms of all entries.
typedef struct Forms {
    FuncList funcs;
    int entry[MAX_ENTRIES * FORMS];
    Form form[MAX_ENTRIES * FORMS];
} Forms;

static bool derive(Compared *x, bool raw, Forms *p) {
    FuncList list;
    *p = (Forms){.funcs = {0}};
    if (!compile_funcs(x->c, raw, &list)) return false;
    p->funcs.f = ARENA_ARRAY(x->arena, Func *, list.n * FORMS);
    x->n = list.n < MAX_ENTRIES ? list.n : MAX_ENTRIES;
    for (int i = 0; i < x->n; i++) {
        Family f = family_derive(list.f[i], x->o->groups - 1);
        x->name[i] = list.f[i]->name;
        for (Form k = 0; k < FORMS; k++) {
            if (!f.form[k]) continue;
            p->entry[p->funcs.n] = i, p->form[p->funcs.n] = k;
            p->funcs.f[p->funcs.n++] = f.form[k];
        }
    }
    return true;
}

static void make_arguments(Compared *x, const Forms *p) {
    x->ntrials = x->o->trials < MAX_TRIALS ? x->o->trials : MAX_TRIALS;
    for (int k = 0; k < p->funcs.n; k++) {
        if (p->form[k] != FORM_VALUE) continue;
        int i = p->entry[k], more = k + 1 < p->funcs.n && p->form[k + 1] == FORM_TANGENT;
        Random r = {x->o->seed * 1000 + (uint64_t)i};
        for (int t = 0; t < x->ntrials; t++) {
            const Tensor *in = arguments_make(x->arena, p->funcs.f[k + more], p->funcs.f[k]->ninputs, x->o, t, &r);
            for (Form form = 0; form < FORMS; form++) x->call[i][form][t].in = in;
        }
    }
}

// The values as written, with the sizes of their terms.
static bool expect(Compared *x) {
    Forms p;
    if (!derive(x, true, &p)) return false;
    make_arguments(x, &p);
    for (int k = 0; k < p.funcs.n; k++) {
        const Func *f = p.funcs.f[k];
        for (int t = 0; t < x->ntrials; t++) {
            Call *c = &x->call[p.entry[k]][p.form[k]][t];
            Tensor *out = ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1), *terms = ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1);
            InterpMode mode = {.limit = STEPS, .terms = terms, .expanded = x->o->fast};
            const char *error;
            if (c->in && !interp_run_as(x->arena, f, c->in, out, mode, NULL, &error)) c->want = out, c->terms = terms;
        }
    }
    return true;
}

// ---- values

static void find_single(Node *e, void *single) { *(bool *)single |= e->kind == KIND_FLOAT; }

// The first number that is not within the tolerance of what it is as written, in terms of the size of its terms.
static const char *difference(Compared *x, const Func *f, const Call *c, const Tensor *got) {
    bool single = false;
    ir_walk(func_roots(f), f->outputs, find_single, &single);
    for (int k = 0; c->want && k < f->noutputs; k++)
        for (int64_t e = 0; kind_is_float(got[k].kind) && e < tensor_count(&c->want[k]); e++) {
            double a = tensor_get(&got[k], e), b = tensor_get(&c->want[k], e), terms = tensor_get(&c->terms[k], e);
            bool compares = isfinite(terms) && isfinite(b);
            x->w->numbers++, x->w->skipped += !compares;
            if (compares && !(fabs(a - b) <= (single ? ORACLE_TERMS_SINGLE : ORACLE_TERMS) * terms + DBL_MIN))
                return arena_printf(x->arena,
                                    "result %d: element %lld is %.17g, not %.17g, with terms of %.3g: off by %.2g of them", k,
                                    (long long)e, a, b, terms, fabs(a - b) / terms);
        }
    return NULL;
}

// ---- costs

static void compare(Compared *x, const Variant *v, const Func *f, const Tree *tree, int entry, Form form, int64_t total[2]) {
    for (int t = 0; t < x->ntrials; t++) {
        Call *c = &x->call[entry][form][t];
        Tensor *out = ARENA_ARRAY(x->arena, Tensor, f->noutputs + 1);
        const char *error;
        int64_t work = -1;
        if (!c->in || tree_exec_needed(x->arena, tree, c->in, out, &work, &error)) work = -1;
        const char *why = work >= 0 ? difference(x, f, c, out) : NULL;
        if (why)
            x->report(x->data, x->name[entry], form_group(form),
                      arena_printf(x->arena, "%s, without %s, trial %d: %s", form_names[form], v->without, t, why));
        if (work >= 0 && !sizes_assumed(tree->func, c->in)) work = -1;
        if (!v->pass && !v->rule && !v->rules) c->work = work;
        else if (work >= 0 && c->work >= 0) total[0] += c->work, total[1] += work;
    }
}

static bool measure(Compared *x, const Variant *v, int64_t *fired) {
    Forms p;
    bool off[RULE_COUNT];
    for (int k = 0; k < RULE_COUNT; k++) off[k] = v->rules || (v->rule && *v->rule == (Rule)k);
    x->c->rules = rules_new(x->arena, off, -1, false);
    x->opt.npasses = 0;
    for (const Pass *q = pass_table; q->name; q++)
        if (v->pass != q && strcmp(q->name, "checkpoint")) x->opt.passes[x->opt.npasses++] = q;
    bool ok = derive(x, false, &p);
    if (ok) compile_passes(x->c, &p.funcs, true);
    Tree **trees = ok ? compile_trees(x->c, p.funcs) : NULL;
    for (int k = 0; k < p.funcs.n; k++) {
        int64_t total[2] = {0};
        compare(x, v, p.funcs.f[k], trees[k], p.entry[k], p.form[k], total);
        x->w->work += total[0], x->w->without += total[1];
        if (x->w->cost && total[0] > total[1])
            x->w->cost(x->data, x->name[p.entry[k]], form_names[p.form[k]], v->without, total[0], total[1]);
    }
    for (int k = 0; fired && k < RULE_COUNT; k++) fired[k] = rules_count(x->c->rules, (Rule)k);
    rules_delete(x->c->rules);
    x->c->rules = NULL;
    return ok;
}

// Passes that may cost nothing: they save operations, or loops. The others decide what is remembered of loops, and where:
// for less memory they may compute again.
static bool saves(const Pass *p) {
    static const char *const names[] = {"moments", "keep", "simplify", "factor", "unroll", "interchange", "fuse", "share"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(p->name, names[k])) return true;
    return false;
}

static bool run(Compared *x) {
    int64_t fired[RULE_COUNT];
    if (!expect(x) || !measure(x, &(Variant){.without = "nothing"}, fired)) return false;
    bool ok = measure(x, &(Variant){.without = "rules", .rules = true}, NULL);
    for (const Pass *q = pass_table; ok && q->name; q++)
        if (x->w->each_pass && saves(q)) ok = measure(x, &(Variant){.without = q->name, .pass = q}, NULL);
    for (int k = 0; ok && k < RULE_COUNT; k++) {
        Rule rule = (Rule)k;
        if (x->w->each_rule && fired[k] && !rule_info[k].form)
            ok = measure(x, &(Variant){.without = rule_info[k].name, .rule = &rule}, NULL);
    }
    return ok;
}

bool oracle_worth(const Source *src, const OracleOptions *o, OracleWorth *w, OracleReport *report, void *data) {
    Compared *x = calloc(1, sizeof *x);
    if (!x) diag_out_of_memory();
    x->o = o, x->w = w, x->report = report, x->data = data;
    options_init(&x->opt);
    if (o->precise) x->opt.fp = CPU_FP_PRECISE;
    if (o->fast) x->opt.fp = CPU_FP_FAST;
    x->opt.level = 1;
    x->opt.tape_limit = o->tape_limit;
    x->opt.command = COMMAND_RUN, x->opt.file = src->name;
    x->c = compile_new(&x->opt);
    x->c->keep_customs = true;
    x->arena = x->c->arena;
    bool ok = compile_load(x->c, src) && run(x);
    compile_delete(x->c);
    options_free(&x->opt);
    free(x);
    return ok;
}
