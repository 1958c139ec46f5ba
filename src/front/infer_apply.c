// Type inference: application of functions, which are inlined, and of elementwise operations.
#include "front/infer_internal.h"

#include <string.h>

// ---- functions and values

// A value of unknown type in a definition that is checked without a use may be a function.
static bool may_be_function(Infer *in, const Core *c) {
    Type *t = type_prune(c->type);
    return t->form == TYPE_ERROR || (in->generic && t->form == TYPE_VAR && t->cls == CLASS_ANY);
}

Fun *need_fun(Infer *in, Val v, Span at) {
    if (v.fun) return v.fun;
    if (may_be_function(in, v.core)) {
        type_unify(v.core->type, type_error());
        Fun unknown = {.kind = FUN_UNKNOWN, .span = at};
        return arena_copy(in->arena, &unknown, sizeof unknown);
    }
    infer_error(in, at, "expected a function, found %s", infer_type_text(in, v.core->type));
    return NULL;
}

Core *need_core(Infer *in, Val v, Span at) {
    if (v.core) return v.core;
    if (v.fun->name)
        infer_error(in, at, "the function `%s` is used as a value; functions can only be called and passed on", v.fun->name);
    else infer_error(in, at, "a function is used as a value; functions can only be called and passed on");
    return core_error(in, at);
}

// `fun x -> fun y -> e` is a function of two parameters.
static void flatten(Infer *in, Fun *f) {
    while (f->body->kind == EX_LAMBDA && !f->result) {
        int n = f->nparams + f->body->nparams;
        Pattern **params = ARENA_ARRAY(in->arena, Pattern *, n);
        memcpy(params, f->params, sizeof *params * (size_t)f->nparams);
        memcpy(params + f->nparams, f->body->params, sizeof *params * (size_t)f->body->nparams);
        f->params = params;
        f->nparams = n;
        f->result = f->body->type;
        f->body = f->body->args[0];
    }
}

int fun_params(Infer *in, Fun *f) {
    if (f->kind != FUN_CLOSURE) return 0;
    flatten(in, f);
    return f->nparams;
}

// ---- definitions as values

static Fun *def_function(Infer *in, Def *d) {
    const Decl *decl = d->decl;
    if (!decl->nparams) return NULL;
    Fun *f = ARENA_NEW(in->arena, Fun);
    *f = (Fun){.kind = FUN_CLOSURE,
               .name = d->name,
               .span = decl->name_span,
               .params = decl->params,
               .nparams = decl->nparams,
               .result = decl->result,
               .body = decl->body,
               .def = d,
               .env = {.module = d->module}};
    return f;
}

static Core *part_of(Infer *in, Core *c, const Pattern *p, const Pattern *name, bool *found) {
    if (p == name) {
        *found = true;
        return c;
    }
    Type *t = type_prune(c->type);
    if (p->kind != PAT_TUPLE || t->form != TYPE_TUPLE || t->nparts != p->nparts) return c;
    for (int i = 0; i < p->nparts && !*found; i++) {
        Core *part = part_of(in, core_proj(in, c, i, t->parts[i]), p->parts[i], name, found);
        if (*found) return part;
    }
    return c;
}

// The value of a definition: typed afresh for every use while its type has variables, else once for the whole entry.
static Val infer_def(Infer *in, Def *d) {
    const Decl *decl = d->decl;
    Env outside = env_enter(in, (Env){.module = d->module});
    Val v = infer(in, decl->body);
    if (v.fun && decl->kind == DECL_LET) {
        v.fun = arena_copy(in->arena, v.fun, sizeof *v.fun);
        v.fun->name = d->name;
        v.fun->def = d;
        v.fun->span = decl->name_span;
        in->env = outside;
        return v;
    }
    Core *c = apply_annotation(in, need_core(in, v, decl->body->span), decl->result, "the definition");
    if (decl->kind == DECL_TUPLE) {
        BindList binds = {0};
        bool found = false;
        c = env_let(in, &in->roots, c, "t");
        bind_patterns(in, &binds, 1, &decl->pattern, &c); // for its messages
        vec_free(&binds);
        c = part_of(in, c, decl->pattern, d->part, &found);
        if (!found) c = core_error(in, decl->span);
    }
    in->env = outside;
    if (!type_has_vars(c->type, false)) {
        c = env_let(in, &in->roots, c, d->name);
        map_put(&in->memo, d, c);
    }
    return (Val){c, NULL};
}

Val def_value(Infer *in, Def *d, Span at) {
    d->used = true;
    if (d->recursive) return (Val){core_error(in, at), NULL};
    if (d->decl->kind == DECL_EXTERN) {
        Fun c = {.kind = FUN_EXTERN, .name = d->name, .span = d->decl->name_span, .def = d};
        return (Val){NULL, arena_copy(in->arena, &c, sizeof c)};
    }
    Fun *f = def_function(in, d);
    if (f) return (Val){NULL, f};
    Core *c = map_get(&in->memo, d);
    if (!c) {
        Use use = {d->name, at, in->use, in->use ? in->use->depth + 1 : 0, false}, *outside = in->use;
        in->use = arena_copy(in->arena, &use, sizeof use);
        Val v = infer_def(in, d);
        in->use = outside;
        if (v.fun) return v;
        c = v.core;
    }
    c = arena_copy(in->arena, c, sizeof *c);
    if (c->kind == CORE_VAR || c->kind == CORE_PROJ) c->span = at;
    return (Val){core_placed(in, c, at), NULL};
}

// ---- application

static const char *shown_name(Infer *in, const Fun *f) {
    return f->name ? arena_printf(in->arena, "`%s`", f->name) : "this function";
}

// `f a b`, with the parameters as far as they have names.
static const char *shown_call(Infer *in, const Fun *f) {
    if (!f->name) return "this function";
    const char *text = f->name;
    for (int i = 0; i < f->nparams; i++) {
        const Pattern *p = f->params[i];
        const char *name = p->kind == PAT_NAME ? p->name : p->kind == PAT_TUPLE ? "(…)" : "_";
        text = arena_printf(in->arena, "%s %s", text, name);
    }
    return arena_printf(in->arena, "`%s`", text);
}

static void wrong_count(Infer *in, const Fun *f, int least, int most, int n, Span call) {
    const char *count = least == most ? arena_printf(in->arena, "%d argument%s", least, least == 1 ? "" : "s")
                                      : arena_printf(in->arena, "%d or %d arguments", least, most);
    infer_error(in, call, "%s takes %s, but has %d here%s", shown_name(in, f), count, n,
                n < least ? " (there is no partial application)" : "");
    if (f->kind == FUN_CLOSURE) infer_note(in, f->span, "%s is defined here", shown_call(in, f));
    if (f->kind == FUN_EXTERN) infer_note(in, f->span, "%s is defined here", shown_name(in, f));
    if (f->kind == FUN_BUILTIN) infer_note(in, call, "%s is applied to %s", shown_name(in, f), builtin_info[f->builtin].what);
}

static Core *apply_closure(Infer *in, Fun *f, int n, const Val *args, Span call) {
    flatten(in, f);
    if (n != f->nparams) {
        wrong_count(in, f, f->nparams, f->nparams, n, call);
        return core_error(in, call);
    }
    Use *use = in->use;
    if (f->name) {
        Use u = {f->name, call, use, use ? use->depth + 1 : 0, false};
        in->use = arena_copy(in->arena, &u, sizeof u);
    }
    int bound = in->bound.len;
    Env outside = env_enter(in, f->env);
    BindList binds = {0};
    Core **values = ARENA_ARRAY(in->arena, Core *, n + 1);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        const Pattern *p = f->params[i];
        if (args[i].fun) {
            ok &= bind_function(in, p, args[i].fun);
        } else if (p->type && p->type->kind == TX_FUN) {
            Fun *unknown = need_fun(in, args[i], args[i].core->span);
            ok &= unknown && bind_function(in, p, unknown);
        } else {
            values[i] = args[i].core;
        }
    }
    if (ok) bind_patterns(in, &binds, n, f->params, values);
    Core *body = ok ? infer_core(in, f->body) : core_error(in, call);
    if (f->result) body = apply_annotation(in, body, f->result, arena_printf(in->arena, "the result of %s", shown_name(in, f)));
    env_unbind(in, bound);
    in->env = outside;
    in->use = use;
    return core_placed(in, core_block(in, &binds, body, call), call);
}

Core *apply_op(Infer *in, Op op, int n, Core *const *args, Span call) {
    const OpInfo *info = &op_info[op];
    if (n != info->arity) {
        Fun f = {.kind = FUN_OP, .name = info->sym};
        wrong_count(in, &f, info->arity, info->arity, n, call);
        return core_error(in, call);
    }
    Type *type = type_var(in->arena, info->type == T_FLT || info->type == T_PSI ? CLASS_REAL : CLASS_NUM);
    const char *what = arena_printf(in->arena, "the argument of `%s`", info->sym);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        bool index = info->type == T_PSI && i == 0;
        ok &= infer_expect(in, args[i], index ? type_scalar(KIND_INT) : type, what);
        Type *found = type_prune(args[i]->type);
        if (!ok && found->form == TYPE_SCALAR && found->kind == KIND_INT && type_prune(type)->form == TYPE_VAR)
            infer_note(in, args[i]->span, "`double e` makes a Double of an Int");
        if (!ok && n == 1 && found->form == TYPE_ARRAY) infer_note(in, args[i]->span, "`map %s a` works on an array", info->sym);
    }
    if (!ok) return core_error(in, call);
    Core *c = core_new(in, CORE_CALL, call, type, n, args);
    c->op = op;
    return c;
}

// The argument and result types that the function was declared with where it was passed.
static bool check_annotation(Infer *in, const Fun *f, int n, const Val *args, Span call) {
    const TypeExpr *t = f->annotation;
    if (t->nargs - 1 != n) {
        infer_error(in, call, "%s is declared with %d parameters, but has %d arguments here", shown_name(in, f), t->nargs - 1, n);
        infer_note(in, t->span, "declared here");
        return false;
    }
    bool ok = true;
    for (int i = 0; i < n; i++)
        if (args[i].core && t->args[i]->kind != TX_FUN)
            ok &= infer_expect(in, args[i].core, written_type(in, t->args[i]), "this argument");
    return ok;
}

static Core *apply_plain(Infer *in, Fun *f, int n, const Val *args, const Span *spans, Span call) {
    switch (f->kind) {
    case FUN_CLOSURE: return apply_closure(in, f, n, args, call);
    case FUN_UNKNOWN: return core_error(in, call);
    case FUN_BUILTIN: {
        const BuiltinInfo *b = &builtin_info[f->builtin];
        if (n >= b->least && n <= b->most) return apply_builtin(in, f->builtin, n, args, spans, call);
        wrong_count(in, f, b->least, b->most, n, call);
        return core_error(in, call);
    }
    case FUN_TOTAL:
        if (n == 3) return apply_total(in, f, args, spans, call);
        wrong_count(in, f, 3, 3, n, call);
        return core_error(in, call);
    case FUN_OP:
    case FUN_EXTERN:
    case FUN_SECTION: break;
    }
    Core **cores = ARENA_ARRAY(in->arena, Core *, n + 1);
    for (int i = 0; i < n; i++) cores[i] = need_core(in, args[i], spans ? spans[i] : call);
    if (f->kind == FUN_OP) return apply_op(in, f->op, n, cores, call);
    if (f->kind == FUN_EXTERN && n == f->def->decl->nparams) return apply_extern(in, f, n, cores, call);
    if (f->kind == FUN_EXTERN) {
        wrong_count(in, f, f->def->decl->nparams, f->def->decl->nparams, n, call);
        return core_error(in, call);
    }
    if (n == 2) return infer_binary(in, f->binop, cores[0], cores[1], call, f->span);
    wrong_count(in, f, 2, 2, n, call);
    return core_error(in, call);
}

Core *apply(Infer *in, Fun *f, int n, const Val *args, const Span *spans, Span call) {
    if (!f->annotation) return apply_plain(in, f, n, args, spans, call);
    if (!check_annotation(in, f, n, args, call)) return core_error(in, call);
    Fun plain = *f;
    plain.annotation = NULL;
    Core *c = apply_plain(in, &plain, n, args, spans, call);
    Type *result = written_type(in, f->annotation->args[f->annotation->nargs - 1]);
    const char *what = arena_printf(in->arena, "the result of %s", shown_name(in, f));
    return infer_expect(in, c, result, what) ? c : core_error(in, call);
}

Core *apply_cores(Infer *in, Fun *f, int n, Core *const *args, Span call) {
    Val vals[4];
    for (int i = 0; i < n; i++) vals[i] = (Val){args[i], NULL};
    return apply(in, f, n, vals, NULL, call);
}

static bool names_builtin(Infer *in, const Expr *e, Builtin b) {
    return e->kind == EX_NAME && !strcmp(e->name, builtin_info[b].name) && !env_find(in, e->name) &&
           !module_find(in->unit, in->env.module, e->name);
}

// The text of an assertion is no value: it is left as an error node whose text the built-in function takes.
static Val argument(Infer *in, const Expr *e) {
    if (e->kind != EX_STRING) return infer(in, e);
    Core *c = core_new(in, CORE_ERROR, e->span, type_error(), 0, NULL);
    c->text = e->name;
    return (Val){c, NULL};
}

// White space makes an argument of what was meant as an index or as the right side of a difference.
static void hint_operator(Infer *in, const Expr *arg) {
    if (arg->kind == EX_BRACKET) infer_note(in, arg->span, "an index has no space before it: `a[i]`");
    else if (arg->kind == EX_UNARY && arg->unop == UN_NEG)
        infer_note(in, arg->span, "a difference has a space on both sides of `-`, or on neither");
}

Val infer_app(Infer *in, const Expr *e) {
    // (f a) b is f a b: functions are never results.
    const Expr *head = e->args[0];
    int n = e->nargs - 1;
    for (; head->kind == EX_APP; head = head->args[0]) n += head->nargs - 1;
    const Expr **exprs = ARENA_ARRAY(in->arena, const Expr *, n + 1);
    int k = n;
    for (const Expr *app = e;; app = app->args[0]) {
        for (int i = app->nargs - 1; i > 0; i--) exprs[--k] = app->args[i];
        if (app->args[0] == head) break;
    }
    if (names_builtin(in, head, BI_DERIV) && n == 2) return (Val){infer_deriv(in, exprs[0], exprs[1], e->span), NULL};
    if (head->kind <= EX_UNIT) return (Val){core_error(in, e->span), NULL}; // the parser has said so
    bool assertion = names_builtin(in, head, BI_ASSERT);
    Fun *fun = need_fun(in, infer(in, head), head->span);
    if (!fun) {
        hint_operator(in, exprs[0]);
        return (Val){core_error(in, e->span), NULL};
    }
    Val *args = ARENA_ARRAY(in->arena, Val, n + 1);
    Span *spans = ARENA_ARRAY(in->arena, Span, n + 1);
    for (int i = 0; i < n; i++) {
        args[i] = assertion && i == 1 ? argument(in, exprs[i]) : infer(in, exprs[i]);
        spans[i] = exprs[i]->span;
    }
    return (Val){apply(in, fun, n, args, spans, e->span), NULL};
}
