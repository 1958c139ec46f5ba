// Checks the names of all definitions before any of them is typed: unknown names, and definitions that use themselves.
#include "front/builtins.h"
#include "front/module.h"
#include "front/types.h"
#include "support/vec.h"

#include <string.h>

// A local name. `warning` is the one to give if it is never used, WARNING_COUNT for none.
typedef struct Local {
    const char *name;
    Span span;
    Warning warning;
    bool used;
    struct Local *older; // of the same name
} Local;

typedef struct Names {
    Unit *u;
    Module *module;
    Def *def;
    NameMap local; // name -> its newest Local
    VEC(Local *) open, unused;
    int depth;
    bool in_type; // inside an extent
} Names;

static void walk(Names *c, const Expr *e);

// ---- scopes

// Whether the name is that of a local, which is used thereby.
static bool use_local(const Names *c, const char *name) {
    Local *l = name_map_get(&c->local, name);
    if (l) l->used = true;
    return l;
}

static void bind_name(Names *c, const char *name, Span span, Warning warning) {
    Local **newest = (Local **)name_map_slot(&c->local, name), *l = ARENA_NEW(c->u->arena, Local);
    *l = (Local){name, span, warning, name[0] == '_' || warning == WARNING_COUNT, *newest};
    *newest = l;
    vec_push(&c->open, l);
}

static void unbind_to(Names *c, int len) {
    while (c->open.len > len) {
        Local *l = vec_pop(&c->open);
        *name_map_slot(&c->local, l->name) = l->older;
        if (!l->used) vec_push(&c->unused, l);
    }
}

// Binds the names of a pattern, which are not to be among those bound since there were `first`.
static void bind_pattern(Names *c, const Pattern *p, int first, Warning warning) {
    if (p->kind == PAT_NAME) {
        for (int i = first; i < c->open.len; i++)
            if (!strcmp(c->open.data[i]->name, p->name)) {
                diag_error(c->u->diag, p->span, "the name `%s` is bound twice here", p->name);
                break;
            }
        bind_name(c, p->name, p->span, warning);
    }
    if (warning == WARN_UNUSED_LET) warning = WARN_UNUSED_PARAMETER; // to take apart all of a tuple is no mistake
    for (int i = 0; i < p->nparts; i++) bind_pattern(c, p->parts[i], first, warning);
}

// ---- guesses

static int min3(int a, int b, int c) { return a < b ? (a < c ? a : c) : b < c ? b : c; }

// The number of letters to insert, delete, replace or swap with their neighbour.
static int edit_distance(const char *a, const char *b) {
    enum { MAX = 40 };
    int n = (int)strlen(a), m = (int)strlen(b), row[3][MAX + 1];
    if (n > MAX || m > MAX || n - m > 3 || m - n > 3) return MAX;
    for (int j = 0; j <= m; j++) row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            now[j] = min3(up[j] + 1, now[j - 1] + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < now[j]) now[j] = up2[j - 2] + 1;
        }
    }
    return row[n % 3][m];
}

void name_guess(NameGuess *g, const char *candidate) {
    int limit = strlen(g->wanted) < 4 ? 1 : strlen(g->wanted) < 7 ? 2 : 3;
    int d = edit_distance(g->wanted, candidate);
    if (d > limit || d >= (int)strlen(g->wanted)) return;
    if (g->best && (d > g->distance || (d == g->distance && strcmp(candidate, g->best) >= 0))) return;
    g->best = candidate;
    g->distance = d;
}

static void guess_each(const char *name, void *value, void *data) {
    (void)value;
    name_guess(data, name);
}

static void unknown_name(Names *c, const Expr *e) {
    if (module_may_define(c->module, e->name)) return;
    NameGuess g = {.wanted = e->name};
    for (int i = 0; i < c->open.len; i++) name_guess(&g, c->open.data[i]->name);
    if (!g.best) name_map_each(&c->module->defs, guess_each, &g);
    for (int i = 0; i < c->module->nopened; i++)
        if (!g.best) name_map_each(&c->module->opened[i]->defs, guess_each, &g);
    if (!g.best) {
        name_map_each(&c->u->prelude, guess_each, &g);
        builtin_each(guess_each, &g);
    }
    if (g.best) diag_error(c->u->diag, e->span, "unknown name `%s`; did you mean `%s`?", e->name, g.best);
    else diag_error(c->u->diag, e->span, "unknown name `%s`", e->name);
    if (c->in_type) diag_note(c->u->diag, e->span, "a size name is known if it stands alone as an extent of a parameter");
}

// ---- types

static void walk_type(Names *c, const TypeExpr *t) {
    if (!t) return;
    if (t->kind == TX_NAME && strcmp(t->name, "Int32") && !type_named(c->u->arena, t->name)) {
        NameGuess g = {.wanted = t->name};
        static const char *const known[] = {"Double", "Float",  "Int",     "Bool",    "Index",  "Card",
                                            "Vector", "Matrix", "DoubleD", "VectorD", "MatrixD"};
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) name_guess(&g, known[i]);
        if (g.best) diag_error(c->u->diag, t->span, "unknown type `%s`; did you mean `%s`?", t->name, g.best);
        else
            diag_error(c->u->diag, t->span,
                       "unknown type `%s`; the types are Double, Float, Int, Bool, Vector, Matrix, and arrays and tuples of "
                       "types",
                       t->name);
    }
    for (int i = 0; i < t->nargs; i++) walk_type(c, t->args[i]);
    if (t->kind != TX_ARRAY || !t->extent) return;
    bool outside = c->in_type;
    c->in_type = true;
    walk(c, t->extent);
    c->in_type = outside;
}

static bool known_size(const Names *c, const char *name) {
    if (use_local(c, name)) return true;
    Def *d = module_find(c->u, c->module, name);
    return d && def_is_size(d);
}

// Binds the size names that stand alone as an extent of a parameter's type.
static void bind_sizes(Names *c, const TypeExpr *t) {
    if (!t) return;
    if (t->kind == TX_ARRAY && t->extent && t->extent->kind == EX_NAME && !known_size(c, t->extent->name))
        bind_name(c, t->extent->name, t->extent->span, WARN_UNUSED_SIZE);
    for (int i = 0; i < t->nargs; i++) bind_sizes(c, t->args[i]);
}

static void each_type(Names *c, const Pattern *p, void (*visit)(Names *, const TypeExpr *)) {
    visit(c, p->type);
    for (int i = 0; i < p->nparts; i++) each_type(c, p->parts[i], visit);
}

static void bind_params(Names *c, Pattern **params, int n, Warning warning) {
    // An entry's Int parameter may be named in the size of another one before it: names first.
    int first = c->open.len;
    for (int i = 0; i < n; i++) bind_pattern(c, params[i], first, warning);
    for (int i = 0; i < n; i++) each_type(c, params[i], bind_sizes);
    for (int i = 0; i < n; i++) each_type(c, params[i], walk_type);
}

// ---- expressions

static Span def_span(const Def *d) { return d->part ? d->part->span : d->decl->name_span; }

static void check_clash(const Names *c, const Expr *e, const Def *d) {
    const Def *other = module_clash(c->module, e->name);
    if (!other) return;
    diag_error(c->u->diag, e->span, "two opened files define `%s`; rename one of them", e->name);
    diag_note(c->u->diag, def_span(other), "one definition");
    diag_note(c->u->diag, def_span(d), "the other definition");
}

static void walk_name(Names *c, const Expr *e) {
    if (e->ival) return; // the built-in of that name
    Local *l = name_map_get(&c->local, e->name);
    if (l) { // a size name where it is bound is no use
        l->used |= l->span.src != e->span.src || l->span.begin != e->span.begin;
        return;
    }
    Def *d = module_find(c->u, c->module, e->name);
    if (d) {
        check_clash(c, e, d);
        d->referenced |= d != c->def;
        if (c->def->decl->kind == DECL_EXTERN) return; // its derivative may use it: that is built only where needed
        DefRef *r = ARENA_NEW(c->u->arena, DefRef);
        *r = (DefRef){d, e->span, c->def->refs};
        c->def->refs = r;
    } else if (!builtin_known(e->name)) {
        unknown_name(c, e);
    }
}

static void walk_all(Names *c, Expr *const *args, int n) {
    for (int i = 0; i < n; i++) walk(c, args[i]);
}

static void walk_items(Names *c, const Expr *e) {
    for (int i = 0; i < e->nitems; i++) {
        const IndexItem *it = &e->items[i];
        if (it->at) walk(c, it->at);
        if (it->lo) walk(c, it->lo);
        if (it->hi) walk(c, it->hi);
    }
}

// The parts of a chain of operators are walked from its left end, however long it is.
static void walk_binary(Names *c, const Expr *e) {
    VEC(const Expr *) spine = {0};
    for (; e->kind == EX_BINARY; e = e->args[0]) vec_push(&spine, e);
    walk(c, e);
    while (spine.len) walk(c, vec_pop(&spine)->args[1]);
    vec_free(&spine);
}

// Walks the bound part of a let and binds its names.
static void walk_let(Names *c, const Expr *e) {
    int outside = c->open.len;
    if (e->nparams) {
        bind_params(c, e->params, e->nparams, WARN_UNUSED_PARAMETER);
        walk_type(c, e->type);
        walk(c, e->args[0]);
        unbind_to(c, outside);
        bind_name(c, e->name, e->op_span, WARN_UNUSED_LET);
        return;
    }
    walk(c, e->args[0]);
    if (!e->pattern) return;
    each_type(c, e->pattern, bind_sizes);
    each_type(c, e->pattern, walk_type);
    bind_pattern(c, e->pattern, c->open.len, WARN_UNUSED_LET);
}

static const struct {
    const char *name;
    int least; // of its argument; -1: it has none
    const char *what;
} attributes[] = {
#define ATTRIBUTE(name, least, what) {#name, least, what},
#include "front/attributes.def"
};

static void check_attribute(Names *c, const Expr *e) {
    NameGuess g = {.wanted = e->name};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        int least = attributes[i].least;
        const Expr *arg = e->nattr_args == 1 ? e->attr_args[0] : NULL;
        name_guess(&g, attributes[i].name);
        if (strcmp(attributes[i].name, e->name)) continue;
        if (least < 0 && e->nattr_args)
            diag_error(c->u->diag, e->attr_args[0]->span, "the attribute `%s` has no argument", e->name);
        else if (least >= 0 && (!arg || arg->kind != EX_INT || arg->ival < least))
            diag_error(c->u->diag, arg ? arg->span : e->op_span,
                       "the attribute `%s` has one argument: %s, a literal of at least %d", e->name, attributes[i].what, least);
        return;
    }
    diag_warning(c->u->diag, WARN_UNKNOWN_ATTRIBUTE, e->op_span, "there is no attribute `%s`: this has no effect", e->name);
    if (g.best) diag_note(c->u->diag, e->op_span, "did you mean `%s`?", g.best);
}

// The part of e in tail position, or NULL; everything else of e is walked.
static const Expr *walk_to_tail(Names *c, const Expr *e) {
    switch (e->kind) {
    case EX_LET: walk_let(c, e); return e->args[1];
    case EX_IF:
        walk(c, e->args[0]);
        walk(c, e->args[1]);
        return e->nargs > 2 ? e->args[2] : NULL;
    case EX_ANNOT: walk_type(c, e->type); return e->args[0];
    case EX_ATTR: check_attribute(c, e); return e->args[0];
    case EX_NAME: walk_name(c, e); return NULL;
    case EX_LAMBDA:
        bind_params(c, e->params, e->nparams, WARNING_COUNT);
        walk_type(c, e->type);
        return e->args[0];
    case EX_BINARY: walk_binary(c, e); return NULL;
    default:
        walk_all(c, e->args, e->nargs);
        walk_items(c, e);
        return NULL;
    }
}

static void walk(Names *c, const Expr *e) {
    if (c->depth >= FRONT_MAX_DEPTH) {
        diag_error(c->u->diag, e->span, "this expression is nested too deeply (the limit is %d levels)", FRONT_MAX_DEPTH);
        return;
    }
    int outside = c->open.len;
    c->depth++;
    while (e) e = walk_to_tail(c, e);
    c->depth--;
    unbind_to(c, outside);
}

// ---- definitions

// Warns of what is not used, in the order of the source. After an error a use may be what is misspelt.
static void report_unused(Names *c, bool silent) {
    static const char *const what[WARNING_COUNT] = {
        [WARN_UNUSED_LET] = "the name", [WARN_UNUSED_PARAMETER] = "the parameter", [WARN_UNUSED_SIZE] = "the size name"};
    while (c->unused.len && !silent) {
        int first = 0;
        for (int i = 1; i < c->unused.len; i++)
            if (c->unused.data[i]->span.begin < c->unused.data[first]->span.begin) first = i;
        const Local *l = c->unused.data[first];
        c->unused.data[first] = vec_pop(&c->unused);
        diag_warning(c->u->diag, l->warning, l->span, "%s `%s` is not used", what[l->warning], l->name);
    }
    c->unused.len = 0;
}

static void check_shadowing(const Names *c, const Def *d) {
    if (c->module->prelude) return;
    const Def *hidden = name_map_get(&c->u->prelude, d->name);
    if (!hidden && !builtin_known(d->name)) return;
    diag_warning(c->u->diag, WARN_SHADOWED_PRELUDE, d->part ? d->part->span : d->decl->name_span,
                 "this hides the function `%s` of the %s", d->name, hidden ? "prelude" : "language");
}

// Numbers, truth values, and arrays of these; `sized`: with all their sizes.
static bool is_c_type(Arena *a, const TypeExpr *t, bool sized) {
    while (t && t->kind == TX_ARRAY && (t->extent || !sized)) t = t->args[0];
    Type *type = t && t->kind == TX_NAME ? type_named(a, t->name) : NULL;
    while (!sized && type && type->form == TYPE_ARRAY) type = type->parts[0];
    return type && type->form == TYPE_SCALAR;
}

// One of them, or a tuple of several, each with all its sizes. Returns how many; 0 if it is neither.
static int count_results(Arena *a, const TypeExpr *t) {
    int n = 0;
    if (!t || t->kind != TX_TUPLE) return is_c_type(a, t, true);
    for (int i = 0; i < t->nargs; i++) {
        int more = count_results(a, t->args[i]);
        if (!more) return 0;
        n += more;
    }
    return n;
}

// What a C function takes and gives. Its derivative is a function of its own, which does not see the parameters.
static void check_extern(Names *c, const Decl *d) {
    Arena *a = c->u->arena;
    for (int i = 0; i < d->nparams; i++) {
        const Pattern *p = d->params[i];
        if (p->kind != PAT_NAME || !is_c_type(a, p->type, false))
            diag_error(c->u->diag, p->span,
                       "a parameter of an `extern` has a name and is a number, a truth value or an array of these: "
                       "`(x: Double[n])`");
    }
    int results = count_results(a, d->result);
    if (!results)
        diag_error(c->u->diag, d->result ? d->result->span : d->name_span,
                   "the result of an `extern` is a number, a truth value, an array of these with all its sizes, or a "
                   "tuple of such results: `extern f (x: Double[n]) : Double[n + 1] * Int`");
    if (results > EXTERN_RESULTS)
        diag_error(c->u->diag, d->result->span, "an `extern` has at most %d results; this one has %d", EXTERN_RESULTS,
                   results);
    if (strchr(d->name, '\'')) diag_error(c->u->diag, d->name_span, "`%s` is not the name of a C function", d->name);
    bind_params(c, d->params, d->nparams, WARNING_COUNT);
    if (results) walk_type(c, d->result);
    for (int i = 0; i < c->open.len; i++) c->open.data[i]->used = true; // C gets the sizes
    unbind_to(c, 0);
}

static void check_def(Names *c, Def *d) {
    c->def = d;
    const Decl *decl = d->decl;
    int errors = diag_errors(c->u->diag);
    check_shadowing(c, d);
    if (decl->kind == DECL_EXTERN) {
        check_extern(c, decl);
    } else {
        bind_params(c, decl->params, decl->nparams, WARN_UNUSED_PARAMETER);
        walk_type(c, decl->result);
    }
    if (decl->pattern) each_type(c, decl->pattern, walk_type);
    if (decl->body) walk(c, decl->body);
    unbind_to(c, 0);
    report_unused(c, c->module->prelude || diag_errors(c->u->diag) > errors);
}

static void report_cycle(Unit *u, Def *const *path, const DefRef *const *next, int from, int to) {
    Str s = {0};
    for (int i = from; i <= to; i++) {
        str_printf(&s, "`%s` uses ", path[i]->name);
        path[i]->recursive = true;
    }
    str_printf(&s, "`%s`", path[from]->name);
    const DefRef *last = next[to];
    diag_error(u->diag, last->at, "recursion: %s; definitions cannot be recursive (use `ifold` or `whileLoop`)", str_text(&s));
    str_free(&s);
    diag_note(u->diag, path[from]->decl->name_span, "`%s` is defined here", path[from]->name);
}

enum { UNSEEN, ON_PATH, DONE };

// Depth-first search for cycles with a stack of its own: chains of definitions may be long.
static void find_cycles(Unit *u, Def *root) {
    VEC(Def *) path = {0};
    VEC(const DefRef *) next = {0};
    vec_push(&path, root);
    vec_push(&next, root->refs);
    root->mark = ON_PATH;
    while (path.len) {
        const DefRef *r = vec_last(&next);
        if (!r) {
            vec_last(&path)->mark = DONE;
            (void)vec_pop(&path);
            (void)vec_pop(&next);
            if (next.len) vec_last(&next) = vec_last(&next)->next;
            continue;
        }
        if (r->to->mark == UNSEEN) {
            r->to->mark = ON_PATH;
            vec_push(&path, r->to);
            vec_push(&next, r->to->refs);
            continue;
        }
        if (r->to->mark == ON_PATH && !r->to->recursive) {
            int from = path.len - 1;
            while (path.data[from] != r->to) from--;
            report_cycle(u, path.data, next.data, from, path.len - 1);
        }
        vec_last(&next) = r->next;
    }
    vec_free(&path);
    vec_free(&next);
}

void names_check(Unit *u) {
    Names c = {.u = u, .local = {.arena = u->arena}};
    for (int i = 0; i < u->nmodules; i++) {
        c.module = u->modules[i];
        for (int k = 0; k < c.module->ndefs; k++) check_def(&c, c.module->list[k]);
    }
    for (int i = 0; i < u->nmodules; i++)
        for (int k = 0; k < u->modules[i]->ndefs; k++)
            if (u->modules[i]->list[k]->mark == UNSEEN) find_cycles(u, u->modules[i]->list[k]);
    vec_free(&c.open);
    vec_free(&c.unused);
}
