#include "driver/cost.h"

#include "lower/account.h"
#include "driver/passes.h"

#include <string.h>

static bool is_wanted(const Compilation *c) {
    return compile_ok(c) && (explain_wants(c->explain, EXPLAIN_COST) || (diag_warns(c->diag, WARN_COST) && c->program));
}

static void print_account(Str *out, const Account *a) {
    for (int k = 0; k < ACCOUNTS; k++) {
        str_printf(out, "%s%s ", k ? "; " : "", account_name[k]);
        growth_print(out, a->of[k]);
    }
}

typedef struct Compared {
    Compilation *c;
    AccountAtoms *atoms;
    const Func *f;
    Account account, primal;
    Growth data;
} Compared;

// All counts together. They are not compared one by one: the adjoint of a load is to add to an element.
static Growth total(Arena *a, const Account *x) {
    Growth g = {0};
    for (int k = 0; k < ACCOUNTS; k++) g = growth_add(a, g, x->of[k]);
    return g;
}

// What a derivative may cost is a multiple of that: what the functions do, the arguments and results, and a call.
static Growth base_of(const Compared *x) {
    Arena *a = x->atoms->arena;
    return growth_add(a, growth_add(a, growth_positive(a, total(a, &x->primal)), x->data), growth_const(a, 16));
}

static void warn_beyond(const Compared *x, const GrowthTerm *t) {
    Str term = {0}, base = {0};
    growth_print(&term, (Growth){1, (GrowthTerm *)t});
    growth_print(&base, total(x->atoms->arena, &x->primal));
    diag_warning(x->c->diag, WARN_COST, t->at.src ? t->at : x->f->span,
                 "in the derivatives of `%s`, what is done may grow faster than in their functions: by %s, "
                 "where that is %s",
                 x->f->name, str_text(&term), str_text(&base));
    str_free(&term);
    str_free(&base);
}

static void compare(const Compared *x) {
    Explain *notes = x->c->explain;
    Str out = {0};
    Growth all = total(x->atoms->arena, &x->account), base = base_of(x);
    const GrowthTerm *beyond = growth_beyond(x->atoms->arena, all, base);
    if (beyond) warn_beyond(x, beyond);
    print_account(&out, &x->primal);
    explain(notes, EXPLAIN_COST, x->f->span, "its functions alone: %s", str_text(&out));
    str_free(&out);
    double ratio = growth_ratio(all, base);
    if (beyond) growth_print(&out, (Growth){1, (GrowthTerm *)beyond});
    if (beyond) explain(notes, EXPLAIN_COST, x->f->span, "it may grow faster than these: by %s", str_text(&out));
    else if (ratio == 0) explain(notes, EXPLAIN_COST, x->f->span, "it grows slower than these");
    else
        explain(notes, EXPLAIN_COST, x->f->span,
                "for large sizes it does at most %.2g times what these do, and their data are", ratio);
    str_free(&out);
}

static Account account_of(Compilation *c, AccountAtoms *atoms, const Func *f, const Tree *t) {
    Account a = tree_account(atoms, t);
    Str out = {0};
    if (a.known) print_account(&out, &a);
    explain_entry(c->explain, f->name);
    const char *text = a.known ? str_text(&out) : "what cannot be said: too much code";
    explain(c->explain, EXPLAIN_COST, f->span, "at most %s", text);
    str_free(&out);
    return a;
}

// The entries as loop trees that are easy to read: without lanes, and whatever follows from these, and without
// checkpoints.
static Tree **plain_trees(Compilation *c, bool primal, FuncList *funcs) {
    const Options *given = c->opt;
    Explain *notes = c->explain;
    Options plain = *given;
    plain.lanes = 0, plain.npasses = 0;
    for (int i = 0; i < given->npasses; i++)
        if (strcmp(given->passes[i]->name, "checkpoint")) plain.passes[plain.npasses++] = given->passes[i];
    c->opt = &plain, c->explain = NULL, c->primal = primal;
    Tree **trees = NULL;
    if (compile_funcs(c, false, funcs)) {
        compile_passes(c, funcs, true);
        trees = compile_trees(c, *funcs);
    }
    c->opt = given, c->explain = notes, c->primal = false;
    return trees;
}

void cost_explain(Compilation *c) {
    FuncList funcs = {0}, functions = {0};
    if (!is_wanted(c)) return;
    AccountAtoms atoms = {.arena = c->arena};
    Tree **trees = plain_trees(c, false, &funcs), **primal = NULL;
    for (int i = 0; i < funcs.n && trees && !primal; i++)
        if (funcs.f[i]->order) primal = plain_trees(c, true, &functions);
    compile_stage(c, "cost");
    for (int i = 0; i < funcs.n && trees; i++) {
        const Func *f = funcs.f[i];
        Compared x = {.c = c, .atoms = &atoms, .f = f, .account = account_of(c, &atoms, f, trees[i])};
        if (!primal || functions.n != funcs.n || !f->order || !x.account.known) continue;
        x.primal = tree_account(&atoms, primal[i]), x.data = tree_data(&atoms, trees[i]);
        if (x.primal.known) compare(&x);
    }
    account_atoms_free(&atoms);
}
