// Type inference: patterns, written types, and the sizes in them.
#include "front/infer_internal.h"

#include <string.h>

// ---- written types

// The extent as written, short enough for a message.
static const char *extent_text(Infer *in, const Expr *e) {
    enum { LONGEST = 24 };
    if (!e || !e->span.src) return NULL;
    uint32_t n = e->span.end - e->span.begin;
    return n > LONGEST ? NULL : arena_strndup(in->arena, e->span.src->text + e->span.begin, n);
}

static bool is_int32(const TypeExpr *t) { return t->kind == TX_NAME && !strcmp(t->name, "Int32"); }

Type *written_type(Infer *in, const TypeExpr *t) {
    switch (t->kind) {
    case TX_NAME: {
        if (is_int32(t) && t->signature) return type_scalar(KIND_INT);
        if (is_int32(t)) {
            infer_error(in, t->span, "`Int32` is how an entry's arguments and results are stored; inside the program use `Int`");
            return type_error();
        }
        Type *named = type_named(in->arena, t->name);
        if (named) return named;
        in->failed = true; // reported with the names
        return type_error();
    }
    case TX_ARRAY: return type_array(in->arena, written_type(in, t->args[0]), extent_text(in, t->extent));
    case TX_TUPLE: {
        Type **parts = ARENA_ARRAY(in->arena, Type *, t->nargs + 1);
        for (int i = 0; i < t->nargs; i++) parts[i] = written_type(in, t->args[i]);
        return type_tuple(in->arena, t->nargs, parts);
    }
    case TX_FUN: break;
    }
    infer_error(in, t->span, "a function type can only be that of a parameter");
    return type_error();
}

static Core *written_extent(Infer *in, const Expr *e) {
    Core *c = infer_core(in, e);
    return infer_expect(in, c, type_scalar(KIND_INT), "a size") && c->kind != CORE_ERROR ? c : NULL;
}

SizeSpec *size_spec(Infer *in, const TypeExpr *t) {
    if (t->kind != TX_ARRAY && t->kind != TX_TUPLE) return NULL;
    SizeSpec *s = ARENA_NEW(in->arena, SizeSpec);
    s->span = t->span;
    s->nparts = t->nargs;
    s->parts = ARENA_ARRAY(in->arena, SizeSpec *, t->nargs + 1);
    bool any = false;
    if (t->kind == TX_ARRAY && t->extent) {
        s->extent = written_extent(in, t->extent);
        s->span = t->extent->span;
        any = s->extent != NULL;
    }
    for (int i = 0; i < t->nargs; i++) any |= (s->parts[i] = size_spec(in, t->args[i])) != NULL;
    return any ? s : NULL;
}

static Core *core_sized(Infer *in, Core *c, SizeSpec *spec) {
    if (!spec || type_has_error(c->type)) return c;
    Core *s = core_new(in, CORE_SIZED, c->span, c->type, 1, &c);
    s->spec = spec;
    return s;
}

Core *apply_annotation(Infer *in, Core *c, const TypeExpr *t, const char *what) {
    if (!t) return c;
    Type *want = written_type(in, t);
    if (!infer_expect(in, c, want, what)) return core_error(in, c->span);
    // The written type is the one to show from here on: it has the extents.
    c = core_sized(in, c, size_spec(in, t));
    if (c->kind == CORE_SIZED) c->type = want;
    return c;
}

static Kind *put_stored(Infer *in, const TypeExpr *t, Kind *out) {
    if (t->kind == TX_NAME) {
        int n = type_leaf_list(written_type(in, t), out, NULL);
        if (is_int32(t)) *out = KIND_INT32;
        return out + n;
    }
    for (int i = 0; i < t->nargs; i++) out = put_stored(in, t->args[i], out);
    return out;
}

Kind *stored_kinds(Infer *in, const TypeExpr *t) {
    Kind *kinds = ARENA_ARRAY(in->arena, Kind, type_leaves(written_type(in, t)) + 1);
    put_stored(in, t, kinds);
    return kinds;
}

// ---- patterns

static Type *pattern_tuple_type(Infer *in, int n) {
    Type **parts = ARENA_ARRAY(in->arena, Type *, n + 1);
    for (int i = 0; i < n; i++) parts[i] = type_var(in->arena, CLASS_ANY);
    return type_tuple(in->arena, n, parts);
}

static Core *pattern_part(Infer *in, Core *c, int k) {
    Type *t = type_prune(c->type);
    return core_proj(in, c, k, t->form == TYPE_TUPLE && k < t->nparts ? t->parts[k] : type_error());
}

// Binds the names of the pattern and checks its types, without the sizes written in them. False after an error.
static bool bind_names(Infer *in, const Pattern *p, Core *c) {
    bool ok = true;
    if (p->type && p->type->kind == TX_FUN) {
        if (!type_is_error(c->type)) infer_error(in, c->span, "expected a function, found %s", infer_type_text(in, c->type));
        c = core_error(in, c->span);
    } else if (p->type) {
        Type *want = written_type(in, p->type);
        if (type_has_error(want)) {
            c = core_error(in, c->span);
        } else if (!type_unify(want, c->type)) {
            const char *name = p->kind == PAT_NAME ? arena_printf(in->arena, "`%s`", p->name) : "this pattern";
            ok = infer_expect(in, c, want, name);
            infer_note(in, p->span, "%s has its type here", name);
            c = core_error(in, c->span);
        }
    }
    if (p->kind == PAT_NAME) env_bind(in, p->name, (Val){c, NULL});
    if (p->kind != PAT_TUPLE && p->kind != PAT_UNIT) return ok;
    Type *want = pattern_tuple_type(in, p->nparts);
    if (!type_unify(want, c->type)) {
        infer_error(in, c->span, "expected a tuple of %d parts, found %s", p->nparts, infer_type_text(in, c->type));
        infer_note(in, p->span, "the tuple is taken apart here");
        ok = false;
    }
    for (int i = 0; i < p->nparts; i++) ok &= bind_names(in, p->parts[i], pattern_part(in, c, i));
    return ok;
}

// A size name stands for itself where it is known already: a local name or a value of the user's at the top of a file.
static bool known_size(Infer *in, const char *name) {
    if (env_find(in, name)) return true;
    Def *d = module_find(in->unit, in->env.module, name);
    return d && def_is_size(d);
}

typedef struct SizeBinder {
    BindList *binds;
    Core *value;      // whose type is walked, or NULL for an entry's parameter
    CoreEntry *entry; // which gets the sizes
    const char *param;
    int unnamed;
} SizeBinder;

static CoreVar *entry_size(Infer *in, CoreEntry *entry, const char *name, Span span) {
    CoreVar *v = core_var_new(in, name, type_scalar(KIND_INT), span);
    CoreVar **grown = ARENA_ARRAY(in->arena, CoreVar *, entry->nsizes + 1);
    if (entry->nsizes) memcpy(grown, entry->sizes, sizeof *grown * (size_t)entry->nsizes);
    grown[entry->nsizes++] = v;
    entry->sizes = grown;
    return v;
}

// Binds the size names that stand alone as extents in t, whose leaves begin at number `leaf`, `dim` arrays deep.
static void bind_sizes(Infer *in, SizeBinder *b, const TypeExpr *t, int leaf, int dim) {
    if (t->kind == TX_TUPLE) {
        for (int i = 0; i < t->nargs; i++) {
            bind_sizes(in, b, t->args[i], leaf, dim);
            leaf += type_leaves(written_type(in, t->args[i]));
        }
    }
    if (t->kind != TX_ARRAY) return;
    const Expr *e = t->extent;
    if (e && e->kind == EX_NAME && !known_size(in, e->name)) {
        Core *c;
        if (b->entry) c = core_var(in, entry_size(in, b->entry, e->name, e->span), e->span);
        else c = env_let(in, b->binds, core_extent(in, b->value, leaf, dim), e->name);
        env_bind(in, e->name, (Val){c, NULL});
    }
    bind_sizes(in, b, t->args[0], leaf, dim + 1);
}

static void bind_pattern_sizes(Infer *in, BindList *binds, const Pattern *p, Core *c) {
    SizeBinder b = {.binds = binds, .value = c};
    if (type_has_error(c->type)) return;
    if (p->type) bind_sizes(in, &b, p->type, 0, 0);
    for (int i = 0; i < p->nparts; i++) bind_pattern_sizes(in, binds, p->parts[i], pattern_part(in, c, i));
}

static bool writes_sizes(const TypeExpr *t) {
    if (!t) return false;
    if (t->kind == TX_ARRAY && t->extent) return true;
    for (int i = 0; i < t->nargs; i++)
        if (writes_sizes(t->args[i])) return true;
    return false;
}

// Binds the names again, to values whose sizes are checked, if sizes are written in the pattern.
static void check_sizes(Infer *in, BindList *binds, const Pattern *p, Core *c, bool changed) {
    if (type_has_error(c->type)) return;
    if (writes_sizes(p->type)) {
        c = core_sized(in, c, size_spec(in, p->type));
        if (c->kind == CORE_SIZED) c->type = written_type(in, p->type);
        c = env_let(in, binds, c, p->kind == PAT_NAME ? p->name : "t");
        changed = true;
    }
    if (changed && p->kind == PAT_NAME) env_bind(in, p->name, (Val){c, NULL});
    for (int i = 0; i < p->nparts; i++) check_sizes(in, binds, p->parts[i], pattern_part(in, c, i), changed);
}

void bind_patterns(Infer *in, BindList *binds, int n, Pattern *const *p, Core **values) {
    // Names come first, so that the size of one parameter may name an Int parameter after it.
    bool ok = true;
    for (int i = 0; i < n; i++) {
        if (!values[i]) continue; // a function, bound already
        const char *name = p[i]->kind == PAT_NAME ? p[i]->name : "t";
        values[i] = env_let(in, binds, values[i], name);
        ok &= bind_names(in, p[i], values[i]);
    }
    if (!ok) return;
    for (int i = 0; i < n; i++)
        if (values[i]) bind_pattern_sizes(in, binds, p[i], values[i]);
    for (int i = 0; i < n; i++)
        if (values[i]) check_sizes(in, binds, p[i], values[i], false);
}

bool bind_function(Infer *in, const Pattern *p, Fun *f) {
    if (p->kind == PAT_WILD) return true;
    if (p->kind != PAT_NAME) {
        infer_error(in, p->span, "a function cannot be taken apart by a pattern");
        return false;
    }
    if (p->type && p->type->kind != TX_FUN) {
        Span at = f->def ? p->span : f->span; // not where it is defined
        const char *wanted = infer_type_text(in, written_type(in, p->type));
        infer_error(in, at, "expected %s for `%s`, found a function", wanted, p->name);
        return false;
    }
    Fun *named = arena_copy(in->arena, f, sizeof *f);
    if (!named->name) named->name = p->name;
    if (p->type) named->annotation = p->type;
    env_bind(in, p->name, (Val){NULL, named});
    return true;
}

// ---- entries

// The sizes of a parameter: what is written, and a size of its own for every extent left out.
static SizeSpec *entry_spec(Infer *in, SizeBinder *b, const TypeExpr *t, Type *type) {
    type = type_prune(type);
    if (type->form != TYPE_ARRAY && type->form != TYPE_TUPLE) return NULL;
    SizeSpec *s = ARENA_NEW(in->arena, SizeSpec);
    s->span = t->span;
    s->nparts = type->nparts;
    s->parts = ARENA_ARRAY(in->arena, SizeSpec *, type->nparts + 1);
    if (type->form == TYPE_ARRAY) {
        const Expr *e = t->kind == TX_ARRAY ? t->extent : NULL;
        if (e) {
            s->extent = written_extent(in, e);
            s->span = e->span;
        } else {
            const char *name = arena_printf(in->arena, "%s_n%d", b->param, b->unnamed++);
            s->extent = core_var(in, entry_size(in, b->entry, name, t->span), t->span);
        }
    }
    for (int i = 0; i < type->nparts; i++) s->parts[i] = entry_spec(in, b, t->kind == TX_NAME ? t : t->args[i], type->parts[i]);
    return s;
}

// Puts the sizes into the order in which the parameters' types mention them.
static void order_sizes(CoreEntry *entry, const SizeSpec *s, int *done) {
    if (!s) return;
    if (s->extent && s->extent->kind == CORE_VAR)
        for (int i = *done; i < entry->nsizes; i++) {
            if (entry->sizes[i] != s->extent->vars[0]) continue;
            CoreVar *v = entry->sizes[i];
            memmove(entry->sizes + *done + 1, entry->sizes + *done, sizeof v * (size_t)(i - *done));
            entry->sizes[(*done)++] = v;
        }
    for (int i = 0; i < s->nparts; i++) order_sizes(entry, s->parts[i], done);
}

static Core *entry_param(Infer *in, CoreParam *param, const Pattern *p, int k) {
    const TypeExpr *t = p->type;
    const char *name = p->kind == PAT_NAME ? p->name : arena_printf(in->arena, "arg%d", k);
    Type *type = type_error();
    if (!t && p->kind == PAT_UNIT) type = type_unit();
    else if (!t && p->kind == PAT_NAME)
        infer_error(in, p->span, "parameter `%s` of an entry needs a type, as in `(%s: Double)`", p->name, p->name);
    else if (!t) infer_error(in, p->span, "a parameter of an entry needs a type, as in `((a, b): Double * Double)`");
    else if (t->kind == TX_FUN) infer_error(in, t->span, "a parameter of an entry cannot be a function");
    else type = written_type(in, t);
    param->var = core_var_new(in, name, type, p->span);
    return core_var(in, param->var, p->span);
}

void bind_entry(Infer *in, CoreEntry *entry, const Decl *d) {
    entry->nparams = d->nparams;
    entry->params = ARENA_ARRAY(in->arena, CoreParam, d->nparams + 1);
    for (int i = 0; i < d->nparams; i++) bind_names(in, d->params[i], entry_param(in, &entry->params[i], d->params[i], i));
    // All size names are bound before any extent is looked at: an expression may use a name bound after it.
    for (int i = 0; i < d->nparams; i++) {
        SizeBinder b = {.entry = entry, .param = entry->params[i].var->name};
        const TypeExpr *t = d->params[i]->type;
        if (!t || type_has_error(entry->params[i].var->type)) continue;
        bind_sizes(in, &b, t, 0, 0);
    }
    for (int i = 0; i < d->nparams; i++) {
        SizeBinder b = {.entry = entry, .param = entry->params[i].var->name};
        const TypeExpr *t = d->params[i]->type;
        if (!t || type_has_error(entry->params[i].var->type)) continue;
        entry->params[i].spec = entry_spec(in, &b, t, entry->params[i].var->type);
        entry->params[i].stored = stored_kinds(in, t);
    }
    int done = 0;
    for (int i = 0; i < d->nparams; i++) order_sizes(entry, entry->params[i].spec, &done);
}
