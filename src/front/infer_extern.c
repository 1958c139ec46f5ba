// Type inference: C functions.
#include "front/infer_internal.h"

static CoreVar *rule_var(Infer *in, const Fun *rule, int k, const char *name, Type *type, Span span) {
    bool named = rule->kind == FUN_CLOSURE && k < rule->nparams && rule->params[k]->kind == PAT_NAME;
    return core_var_new(in, named ? rule->params[k]->name : name, type, span);
}

// Types the derivative by itself, in the file of its declaration.
static void infer_rule(Infer *in, Def *d, CoreExtern *x) {
    const Decl *decl = d->decl;
    Type **parts = ARENA_ARRAY(in->arena, Type *, decl->nparams + 1), *result = written_type(in, decl->result);
    for (int i = 0; i < decl->nparams; i++) parts[i] = written_type(in, decl->params[i]->type);
    Type *type = decl->nparams == 1 ? parts[0] : type_tuple(in->arena, decl->nparams, parts);
    Type *dx = type_tangent(in->arena, type), *dy = type_tangent(in->arena, result);
    Fun *rule = need_fun(in, infer(in, decl->body), decl->body->span);
    if (!rule) return;
    if (!type_leaves(dx) || !type_leaves(dy)) {
        infer_error(in, decl->body->span, "`%s` has no derivative: it is not from numbers of type Double or Float to one",
                    d->name);
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
    if (!d->decl->body) return x;
    Use *use = in->use;
    Env outside = env_enter(in, (Env){.module = d->module});
    in->use = NULL;
    infer_rule(in, d, x);
    in->env = outside;
    in->use = use;
    return x;
}

Core *apply_extern(Infer *in, Fun *f, int n, Core *const *args, Span call) {
    const Decl *decl = f->def->decl;
    const char *what = arena_printf(in->arena, "the argument of `%s`", f->name);
    bool ok = true;
    for (int i = 0; i < n; i++) ok &= infer_expect(in, args[i], written_type(in, decl->params[i]->type), what);
    if (!ok) return core_error(in, call);
    Core *c = core_new(in, CORE_EXTERN, call, written_type(in, decl->result), n, args);
    c->ext = infer_extern(in, f->def);
    return c;
}
