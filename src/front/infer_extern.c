// Type inference: C functions.
#include "front/infer_internal.h"

static CoreVar *rule_var(Infer *in, const Fun *rule, int k, const char *name, Type *type, Span span) {
    bool named = rule->kind == FUN_CLOSURE && k < rule->nparams && rule->params[k]->kind == PAT_NAME;
    return core_var_new(in, named ? rule->params[k]->name : name, type, span);
}

// What is wrong otherwise was reported with the names.
static bool has_types(const Decl *d) {
    for (int i = 0; i < d->nparams; i++)
        if (d->params[i]->kind != PAT_NAME || !d->params[i]->type) return false;
    return d->result != NULL;
}

// The parameters, sizes and result, as those of an entry.
static void infer_signature(Infer *in, Def *d, CoreExtern *x) {
    int bound = in->bound.len;
    Env outside = env_enter(in, (Env){.module = d->module});
    bind_entry(in, &x->signature, d->decl);
    x->result = written_type(in, d->decl->result);
    x->signature.result = size_spec(in, d->decl->result);
    env_unbind(in, bound);
    in->env = outside;
}

// Types the derivative by itself, in the file of its declaration.
static void infer_rule(Infer *in, Def *d, CoreExtern *x) {
    const Decl *decl = d->decl;
    Type **parts = ARENA_ARRAY(in->arena, Type *, decl->nparams + 1), *result = x->result;
    for (int i = 0; i < decl->nparams; i++) parts[i] = x->signature.params[i].var->type;
    Type *type = decl->nparams == 1 ? parts[0] : type_tuple(in->arena, decl->nparams, parts);
    Type *dx = type_tangent(in->arena, type), *dy = type_tangent(in->arena, result);
    Fun *rule = need_fun(in, infer(in, decl->body), decl->body->span);
    if (!rule) return;
    if (!type_leaves(dx) || !type_leaves(dy)) {
        infer_error(in, decl->body->span, "`%s` has no derivative: it is not from numbers of type Double or Float to one", d->name);
        return;
    }
    x->arguments = rule_var(in, rule, 0, "x", type, decl->span);
    x->direction = rule_var(in, rule, 1, "d", decl->adjoint ? dy : dx, decl->span);
    Core *args[] = {core_var(in, x->arguments, decl->span), core_var(in, x->direction, decl->span)};
    Core *body = apply_cores(in, rule, 2, args, decl->body->span);
    const char *what = decl->adjoint ? "the adjoint of the argument" : "the tangent of the result";
    x->rule = infer_expect(in, body, decl->adjoint ? dx : dy, what) ? body : NULL;
}

CoreExtern *infer_extern(Infer *in, Def *d) {
    CoreExtern *x = map_get(&in->externs, d);
    if (x) return x;
    x = ARENA_NEW(in->arena, CoreExtern);
    Extern *ext = ARENA_NEW(in->arena, Extern);
    *ext = (Extern){.name = d->name, .decl = d};
    *x = (CoreExtern){.ext = ext, .span = d->decl->name_span, .adjoint = d->decl->adjoint};
    map_put(&in->externs, d, x);
    x->result = type_error();
    if (!has_types(d->decl)) return x;
    Use *use = in->use;
    in->use = NULL;
    infer_signature(in, d, x);
    if (d->decl->body) {
        Env outside = env_enter(in, (Env){.module = d->module});
        infer_rule(in, d, x);
        in->env = outside;
    }
    in->use = use;
    return x;
}

Core *apply_extern(Infer *in, Fun *f, int n, Core *const *args, Span call) {
    const Decl *decl = f->def->decl;
    const char *what = arena_printf(in->arena, "the argument of `%s`", f->name);
    bool ok = has_types(decl);
    for (int i = 0; has_types(decl) && i < n; i++) ok &= infer_expect(in, args[i], written_type(in, decl->params[i]->type), what);
    if (!ok) return core_error(in, call);
    CoreExtern *x = infer_extern(in, f->def);
    Core *c = core_new(in, CORE_EXTERN, call, x->result, n, args);
    c->ext = x;
    return c;
}
