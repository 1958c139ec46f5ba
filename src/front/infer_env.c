// Type inference: messages, core nodes, scopes.
#include "front/infer_internal.h"
#include "front/report.h"

// ---- messages

void infer_error(Infer *in, Span at, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vprintf(in->arena, fmt, ap);
    va_end(ap);
    in->failed = true;
    report_error(in->unit, in->use, at, text);
}

// The error before it was reported at the user's use if it is inside the prelude: hints about the prelude's text help
// nobody.
void infer_note(Infer *in, Span at, const char *fmt, ...) {
    if (report_in_prelude(in->unit, at)) return;
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vprintf(in->arena, fmt, ap);
    va_end(ap);
    diag_note(in->diag, at, "%s", text);
}

const char *infer_type_text(Infer *in, Type *t) { return type_text(in->arena, t); }

bool infer_expect(Infer *in, Core *c, Type *want, const char *what) {
    if (type_unify(want, c->type)) return true;
    const char *wanted = infer_type_text(in, want), *found = infer_type_text(in, c->type);
    if (what) infer_error(in, c->span, "expected %s for %s, found %s", wanted, what, found);
    else infer_error(in, c->span, "expected %s, found %s", wanted, found);
    Type *w = type_prune(want), *f = type_prune(c->type);
    if (w->form == TYPE_SCALAR && kind_is_float(w->kind) && f->form == TYPE_SCALAR && f->kind == KIND_INT)
        infer_note(in, c->span, "`double e` makes a Double of an Int");
    if (w->form == TYPE_SCALAR && w->kind == KIND_INT && f->form == TYPE_SCALAR && kind_is_float(f->kind))
        infer_note(in, c->span, "`int e` makes an Int of a Double");
    return false;
}

// ---- nodes

Core *core_new(Infer *in, CoreKind kind, Span span, Type *type, int nargs, Core *const *args) {
    int limit = in->unit->max_cores ? in->unit->max_cores : CORE_LIMIT;
    if (++in->ncores > limit && !in->overflow) {
        in->overflow = true;
        infer_error(in, span, "the program grows beyond the limit of %d expressions when functions are expanded", limit);
    }
    Core *c = ARENA_NEW(in->arena, Core);
    c->kind = kind;
    c->span = span;
    c->type = type;
    c->use = in->use;
    c->nargs = nargs;
    if (nargs) c->args = arena_copy(in->arena, args, sizeof *args * (size_t)nargs);
    return c;
}

Core *core_error(Infer *in, Span span) {
    in->failed = true;
    return core_new(in, CORE_ERROR, span, type_error(), 0, NULL);
}

CoreVar *core_var_new(Infer *in, const char *name, Type *type, Span span) {
    CoreVar *v = ARENA_NEW(in->arena, CoreVar);
    *v = (CoreVar){.name = name, .type = type, .span = span};
    return v;
}

Core *core_var(Infer *in, CoreVar *v, Span span) {
    Core *c = core_new(in, CORE_VAR, span, v->type, 0, NULL);
    c->vars[0] = v;
    return c;
}

Core *core_int(Infer *in, int64_t value, Type *type, Span span) {
    Core *c = core_new(in, CORE_INT, span, type, 0, NULL);
    c->ival = value;
    return c;
}

Core *core_proj(Infer *in, Core *tuple, int k, Type *type) {
    Core *c = core_new(in, CORE_PROJ, tuple->span, type, 1, &tuple);
    c->ival = k;
    return c;
}

Core *core_extent(Infer *in, Core *value, int leaf, int dim) {
    Core *c = core_new(in, CORE_EXTENT, value->span, type_scalar(KIND_INT), 1, &value);
    c->ival = leaf;
    c->dim = dim;
    return c;
}

Core *core_block(Infer *in, BindList *binds, Core *body, Span span) {
    if (binds->len) {
        Core *block = core_new(in, CORE_BLOCK, span, body->type, 1, &body);
        block->nbinds = binds->len;
        block->binds = arena_copy(in->arena, binds->data, sizeof *binds->data * (size_t)binds->len);
        body = block;
    }
    vec_free(binds);
    return body;
}

Core *core_placed(Infer *in, Core *c, Span at) {
    if (c->kind == CORE_ERROR || !report_in_prelude(in->unit, c->span) || report_in_prelude(in->unit, at)) return c;
    return core_new(in, CORE_BLOCK, at, c->type, 1, &c);
}

// ---- scopes

void env_bind(Infer *in, const char *name, Val val) {
    void **slot = name_map_slot(&in->names, name);
    Binding *b = ARENA_NEW(in->arena, Binding);
    *b = (Binding){name, *slot, in->env.scope, ++in->seq, val};
    *slot = b;
    in->env.limit = in->seq;
    vec_push(&in->bound, b);
}

void env_unbind(Infer *in, int bound) {
    while (in->bound.len > bound) {
        Binding *b = vec_pop(&in->bound);
        *name_map_slot(&in->names, b->name) = b->older;
    }
}

Binding *env_find(Infer *in, const char *name) {
    for (Binding *b = name_map_get(&in->names, name); b; b = b->older)
        for (const Env *e = &in->env; e->scope; e = &e->scope->parent)
            if (e->scope == b->scope) {
                if (b->seq <= e->limit) return b;
                break;
            }
    return NULL;
}

Env env_enter(Infer *in, Env parent) {
    Env outside = in->env;
    Scope *s = ARENA_NEW(in->arena, Scope);
    s->parent = parent;
    in->env = (Env){s, in->seq, parent.module};
    return outside;
}

static bool is_simple(const Infer *in, const Core *c) {
    while (c->kind == CORE_PROJ) c = c->args[0];
    return (c->kind == CORE_VAR && !in->rules) || c->kind == CORE_ERROR || c->kind == CORE_INT || c->kind == CORE_REAL ||
           c->kind == CORE_BOOL;
}

Core *env_let(Infer *in, BindList *binds, Core *value, const char *name) {
    if (is_simple(in, value)) return value;
    CoreVar *v = core_var_new(in, name, value->type, value->span);
    CoreBind b = {v, value, NULL, value->span, in->use};
    vec_push(binds, b);
    return core_var(in, v, value->span);
}
