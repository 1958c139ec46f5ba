// Type inference: the built-in functions.
#include "front/infer_internal.h"

#include <string.h>

// ---- arrays

static Type *int_type(void) { return type_scalar(KIND_INT); }

static Core *int_var(Infer *in, const char *name, Span span, CoreVar **var) {
    *var = core_var_new(in, name, int_type(), span);
    return core_var(in, *var, span);
}

// The name of a closure's k-th parameter, as a hint for printing.
static const char *param_name(const Fun *f, int k, const char *otherwise) {
    if (f->kind != FUN_CLOSURE || k >= f->nparams || f->params[k]->kind != PAT_NAME) return otherwise;
    return f->params[k]->name;
}

// Requires c to be an array; returns the type of its elements, or the error type.
static Type *need_array(Infer *in, Core *c, const char *what) {
    Type *t = type_prune(c->type);
    if (t->form == TYPE_ARRAY) return t->parts[0];
    if (t->form == TYPE_VAR && t->cls == CLASS_ANY) {
        Type *elem = type_var(in->arena, CLASS_ANY);
        type_unify(t, type_array(in->arena, elem, NULL));
        return elem;
    }
    if (t->form != TYPE_ERROR) infer_error(in, c->span, "%s an array, found %s", what, infer_type_text(in, t));
    return type_error();
}

// `length m[0]` is the extent of m's second dimension, and reads nothing, so m may have no rows.
static Core *length_of(Infer *in, Core *array) {
    if (type_is_error(need_array(in, array, "`length` needs"))) return core_error(in, array->span);
    int dim = 0;
    while (array->kind == CORE_INDEX) {
        for (int i = 0; i < array->nitems; i++)
            if (array->items[i].slice) return core_extent(in, array, 0, dim);
        dim += array->nitems;
        array = array->args[0];
    }
    return core_extent(in, array, 0, dim);
}

Core *infer_index(Infer *in, Core *array, int n, CoreItem *items, Span span) {
    Type *t = array->type;
    int slices = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && !type_is_array(t) && !type_is_error(t) && type_prune(t)->form != TYPE_VAR) {
            infer_error(in, items[i].span, "too many indices: %s has %d dimension%s", infer_type_text(in, array->type), i,
                        i == 1 ? "" : "s");
            return core_error(in, span);
        }
        Core at = {.type = t, .span = array->span};
        Type *elem = need_array(in, &at, "indexing needs");
        if (type_is_error(elem) && !type_is_array(t)) return core_error(in, span);
        slices += items[i].slice;
        t = elem;
    }
    for (; slices; slices--) t = type_array(in->arena, t, NULL);
    Core *c = core_new(in, CORE_INDEX, span, t, 1, &array);
    c->items = items;
    c->nitems = n;
    return c;
}

static Core *build(Infer *in, CoreKind kind, Core *n, Fun *f, Span call) {
    CoreVar *i;
    Core *index = int_var(in, param_name(f, 0, "i"), f->span, &i);
    bool ok = infer_expect(in, n, int_type(), kind == CORE_BUILD ? "the number of elements" : "the number of terms");
    Core *body = apply_cores(in, f, 1, &index, call);
    if (!ok || type_is_error(body->type)) return core_error(in, call);
    const char *extent = n->kind == CORE_INT ? arena_printf(in->arena, "%lld", (long long)n->ival) : NULL;
    Type *type = kind == CORE_BUILD ? type_array(in->arena, body->type, extent) : body->type;
    Core *c = core_new(in, kind, call, type, 2, (Core *[]){n, body});
    c->vars[0] = i;
    return c;
}

// Requires the step of a loop to give the state's type.
static bool same_state(Infer *in, Core *step, Type *state, const char *loop) {
    if (type_unify(state, step->type)) return true;
    const char *have = infer_type_text(in, state), *next = infer_type_text(in, step->type);
    infer_error(in, step->span, "the state of `%s` is %s, but its step gives %s", loop, have, next);
    return false;
}

static Core *ifold(Infer *in, Fun *f, Core *init, Core *n, Span call) {
    CoreVar *i, *s = core_var_new(in, param_name(f, 0, "s"), init->type, f->span);
    Core *index = int_var(in, param_name(f, 1, "i"), f->span, &i), *state = core_var(in, s, f->span);
    bool ok = infer_expect(in, n, int_type(), "the number of iterations");
    Core *step = apply_cores(in, f, 2, (Core *[]){state, index}, call);
    if (!same_state(in, step, init->type, "ifold") || !ok) return core_error(in, call);
    Core *c = core_new(in, CORE_FOLD, call, init->type, 3, (Core *[]){init, n, step});
    c->vars[0] = s;
    c->vars[1] = i;
    return c;
}

static Core *while_loop(Infer *in, Fun *cond, Fun *step, Core *init, Span call) {
    CoreVar *s = core_var_new(in, param_name(step, 0, "s"), init->type, step->span);
    Core *state = core_var(in, s, step->span);
    Core *test = apply_cores(in, cond, 1, &state, call);
    bool ok = infer_expect(in, test, type_scalar(KIND_BOOL), "the condition of `whileLoop`");
    Core *next = apply_cores(in, step, 1, &state, call);
    if (!same_state(in, next, init->type, "whileLoop") || !ok) return core_error(in, call);
    Core *c = core_new(in, CORE_WHILE, call, init->type, 3, (Core *[]){init, test, next});
    c->vars[0] = s;
    return c;
}

static Core *arg_extreme(Infer *in, CoreKind kind, Core *a, Span call) {
    Type *elem = need_array(in, a, "the extreme element is that of");
    if (type_is_error(elem)) return core_error(in, call);
    if (!type_constrain(elem, CLASS_NUM)) {
        infer_error(in, a->span, "expected an array of numbers, found %s", infer_type_text(in, a->type));
        return core_error(in, call);
    }
    return core_new(in, kind, call, int_type(), 1, &a);
}

// ---- reductions, whose common cases the prelude defines one by one

static const char *reduction_of(const Fun *f) {
    if (f->kind == FUN_SECTION && f->binop == BIN_ADD) return "Add";
    if (f->kind == FUN_OP && f->op == OP_min) return "Min";
    if (f->kind == FUN_OP && f->op == OP_max) return "Max";
    return "With";
}

// Applies the prelude's function `name`; messages call it `shown`.
static Core *apply_prelude(Infer *in, const char *name, Builtin shown, int n, const Val *args, Span call) {
    Def *d = name_map_get(&in->unit->prelude, name);
    Fun *f = d ? def_value(in, d, call).fun : NULL;
    if (!f) fatal_bug("the prelude does not define the function %s", name);
    f->name = builtin_info[shown].name;
    return apply(in, f, n, args, NULL, call);
}

static Core *reduce(Infer *in, const Val *args, Fun *op, Span call) {
    const char *kind = reduction_of(op), *name = arena_printf(in->arena, "reduce%s", kind);
    bool general = !strcmp(kind, "With");
    return apply_prelude(in, name, BI_REDUCE, general ? 3 : 2, args + !general, call);
}

static Core *hist(Infer *in, const Val *args, Fun *op, Span call) {
    bool add = !strcmp(reduction_of(op), "Add");
    return apply_prelude(in, add ? "histAdd" : "histWith", BI_HIST, add ? 4 : 5, args + add, call);
}

// ---- pairs, conversions, assertions

static Core *pair_part(Infer *in, Core *p, int k, Span call) {
    Type *parts[] = {type_var(in->arena, CLASS_ANY), type_var(in->arena, CLASS_ANY)};
    if (type_is_error(p->type)) return core_error(in, call);
    if (!type_unify(p->type, type_tuple(in->arena, 2, parts))) {
        infer_error(in, p->span, "`%s` needs a pair, found %s", k ? "snd" : "fst", infer_type_text(in, p->type));
        if (type_is_array(p->type)) infer_note(in, call, "`map %s a` works on an array of pairs", k ? "snd" : "fst");
        return core_error(in, call);
    }
    return core_proj(in, p, k, type_prune(p->type)->parts[k]);
}

static Core *convert(Infer *in, Core *a, Kind to, Span call) {
    Type *t = type_prune(a->type);
    if (t->form == TYPE_VAR) type_constrain(t, CLASS_NUM);
    if (t->form == TYPE_ARRAY || t->form == TYPE_TUPLE) {
        infer_error(in, a->span, "expected a number to convert, found %s", infer_type_text(in, t));
        return core_error(in, call);
    }
    return core_new(in, CORE_CONV, call, type_scalar(to), 1, &a);
}

static Core *assertion(Infer *in, int n, Core *const *args, Span call) {
    if (n == 2) {
        infer_error(in, call,
                    "an assertion guards a value: write `assert c \"text\" e`, or "
                    "`let _ = assert c \"text\"` on a line before e");
        return core_error(in, call);
    }
    if (!args[1]->text) {
        infer_error(in, args[1]->span, "the second argument of `assert` is a text in quotes");
        return core_error(in, call);
    }
    if (!infer_expect(in, args[0], type_scalar(KIND_BOOL), "an assertion")) return core_error(in, call);
    Core *c = core_new(in, CORE_ASSERT, call, args[2]->type, 2, (Core *[]){args[0], args[2]});
    c->text = args[1]->text;
    return c;
}

static Core *same_length(Infer *in, Core *a, Core *b, Core *e, Span call) {
    Core *la = length_of(in, a), *lb = length_of(in, b);
    if (type_is_error(la->type) || type_is_error(lb->type)) return core_error(in, call);
    return core_new(in, CORE_SAME, call, e->type, 3, (Core *[]){e, la, lb});
}

// ---- derivatives

// Whether a value of the type can be differentiated by; makes literals in it floating.
static bool differentiable(Infer *in, Core *x, const char *name) {
    if (type_has_error(x->type)) return false;
    if (type_has_vars(x->type, true)) {
        if (!in->generic) infer_error(in, x->span, "the type of this argument of `%s` is not known here; annotate it", name);
        return false;
    }
    type_make_real(x->type);
    Type *tangent = type_prune(type_tangent(in->arena, x->type));
    if (type_leaves(tangent)) return true;
    infer_error(in, x->span, "`%s` differentiates by Double or Float values, found %s", name, infer_type_text(in, x->type));
    return false;
}

static Core *ad_node(Infer *in, AdMode mode, CoreVar *v, Type *type, int n, Core *const *args, Span call) {
    Core *c = core_new(in, CORE_AD, call, type, n, args);
    c->ad = mode;
    c->vars[0] = v;
    return c;
}

// The result of a function to be differentiated, with a variable in place of x.
static Core *ad_body(Infer *in, Fun *f, Core *x, CoreVar **v, Span call, const char *name) {
    if (!differentiable(in, x, name)) return NULL;
    *v = core_var_new(in, param_name(f, 0, "x"), x->type, x->span);
    Core *var = core_var(in, *v, x->span);
    Core *body = apply_cores(in, f, 1, &var, call);
    if (type_has_error(body->type)) return NULL;
    if (in->generic && type_has_vars(body->type, true)) return NULL;
    type_make_real(body->type);
    return body;
}

static bool scalar_result(Infer *in, Core *body, const char *name) {
    Type *t = type_prune(body->type);
    if (t->form == TYPE_VAR || (t->form == TYPE_SCALAR && kind_is_float(t->kind))) return true;
    infer_error(in, body->span, "`%s` needs a function whose result is a Double or Float, found %s", name, infer_type_text(in, t));
    if (t->form != TYPE_SCALAR) infer_note(in, body->span, "`jacobian f x` or `vjp f x dy` work for such results");
    return false;
}

static Core *derivative(Infer *in, AdMode mode, Fun *f, Core *x, Core *dir, Span call, const char *name) {
    CoreVar *v;
    Core *body = ad_body(in, f, x, &v, call, name);
    if (!body) return core_error(in, call);
    bool scalar = mode == AD_GRAD || mode == AD_VALUE_GRAD || mode == AD_HESSIAN || mode == AD_HVP;
    if (scalar && !scalar_result(in, body, name)) return core_error(in, call);
    Arena *a = in->arena;
    Type *dx = type_tangent(a, x->type), *dy = type_tangent(a, body->type), *type = dx;
    Type *dir_type = mode == AD_VJP || mode == AD_VJP2 ? dy : dx;
    if (dir && !infer_expect(in, dir, dir_type, "the direction")) return core_error(in, call);
    if (mode == AD_JVP) type = dy;
    if (mode == AD_JVP2) type = type_tuple(a, 2, (Type *[]){body->type, dy});
    if (mode == AD_VALUE_GRAD || mode == AD_VJP2) type = type_tuple(a, 2, (Type *[]){body->type, dx});
    if (mode == AD_JACOBIAN || mode == AD_JACFWD || mode == AD_JACREV) type = type_jacobian(a, body->type, dx);
    if (mode == AD_JACSPARSE) type = type_sparse(a, body->type, dx);
    if (mode == AD_HESSIAN) type = type_jacobian(a, dx, dx);
    return ad_node(in, mode, v, type, dir ? 3 : 2, (Core *[]){x, body, dir}, call);
}

static int rank_of(Type *t) {
    int r = 0;
    for (t = type_prune(t); t->form == TYPE_ARRAY; t = type_prune(t->parts[0])) r++;
    return t->form == TYPE_TUPLE ? -1 : r;
}

// The (value, derivative) pairs of [FS]: those of the expression, in an array over the variable's index.
static Core *dual_derivative(Infer *in, CoreVar *v, Core *x, Core *body, Span call) {
    int rank = rank_of(x->type);
    if (rank < 0) {
        infer_error(in, x->span, "this derivative is by a number or an array of numbers, found %s", infer_type_text(in, x->type));
        return core_error(in, call);
    }
    Type *type = type_dual(in->arena, body->type);
    while (rank--) type = type_array(in->arena, type, NULL);
    return ad_node(in, AD_DERIV, v, type, 2, (Core *[]){x, body}, call);
}

Core *infer_deriv(Infer *in, const Expr *e, const Expr *x, Span call) {
    Core *at = infer_core(in, x);
    if (x->kind != EX_NAME) {
        infer_error(in, x->span, "the second argument of `deriv` is the name of a variable");
        return core_error(in, call);
    }
    if (!differentiable(in, at, "deriv")) return core_error(in, call);
    // Only the expression's own uses of the name vary: it is bound again, to a variable of its own.
    CoreVar *v = core_var_new(in, x->name, at->type, x->span);
    int bound = in->bound.len;
    env_bind(in, x->name, (Val){core_var(in, v, x->span), NULL});
    Core *body = infer_core(in, e);
    env_unbind(in, bound);
    if (type_has_error(body->type) || (in->generic && type_has_vars(body->type, true))) return core_error(in, call);
    type_make_real(body->type);
    return dual_derivative(in, v, at, body, call);
}

// [FS] Fig. 6 and Table 2: derivatives by an argument and of a result of given ranks (-1: any).
static Core *dual_function(Infer *in, Builtin b, Fun *f, Core *x, Span call) {
    static const struct {
        Builtin b;
        int from, to;
    } table[] = {{BI_DIFF, 0, 0}, {BI_VDIFF, 0, 1}, {BI_MDIFF, 0, 2}, {BI_GRADD, 1, 0}, {BI_JACOBD, 1, 1}, {BI_MGRADD, 2, 0}};
    static const char *const rank_text[] = {"a number", "a vector", "a matrix"};
    const char *name = builtin_info[b].name;
    CoreVar *v;
    Core *body = ad_body(in, f, x, &v, call, name);
    if (!body) return core_error(in, call);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].b != b) continue;
        bool from = rank_of(x->type) == table[i].from, to = rank_of(body->type) == table[i].to;
        if (from && to) break;
        Core *wrong = from ? body : x;
        infer_error(in, wrong->span, "`%s` needs %s as %s, found %s", name, rank_text[from ? table[i].to : table[i].from],
                    from ? "the function's result" : "argument", infer_type_text(in, wrong->type));
        return core_error(in, call);
    }
    return dual_derivative(in, v, x, body, call);
}

// The body of a rule of a custom c for one mode, whose direction is the variable. A third parameter of a rule for tangents, its
// `total`, may differentiate by what the rule captures.
static Core *custom_rule(Infer *in, Core *c, Fun *rule, CoreVar *direction, Type *result, bool adjoint, bool total) {
    Val args[] = {
        {core_var(in, c->vars[1], direction->span), NULL}, {core_var(in, direction, direction->span), NULL}, {NULL, NULL}};
    total = total && fun_params(in, rule) == 3;
    if (total) {
        Fun f = {.kind = FUN_TOTAL, .name = param_name(rule, 2, NULL), .span = rule->params[2]->span, .direction = direction};
        args[2].fun = arena_copy(in->arena, &f, sizeof f);
    }
    c->total |= total;
    in->rules += total;
    Core *body = apply(in, rule, total ? 3 : 2, args, NULL, c->span);
    in->rules -= total;
    const char *what = adjoint ? "the adjoint of the argument" : "the tangent of the result";
    return infer_expect(in, body, result, what) ? body : NULL;
}

// A function with a derivative of its own. `other` is the rule for the other mode, or NULL.
static Core *custom(Infer *in, Builtin b, Fun *f, Fun *rule, Fun *other, Core *x, Span call) {
    const char *name = builtin_info[b].name;
    bool adjoint = b == BI_CUSTOMVJP;
    CoreVar *v;
    Core *body = ad_body(in, f, x, &v, call, name);
    if (!body) return core_error(in, call);
    Type *dx = type_tangent(in->arena, x->type), *dy = type_tangent(in->arena, body->type);
    if (!type_leaves(dy)) {
        infer_error(in, body->span, "`%s` needs a function whose result has Double or Float parts, found %s", name,
                    infer_type_text(in, body->type));
        return core_error(in, call);
    }
    Fun *rules[] = {rule, other};
    Core *args[] = {x, body, NULL, NULL};
    Core *c = core_new(in, CORE_CUSTOM, call, body->type, other ? 4 : 3, args);
    c->ival = adjoint;
    c->vars[0] = v;
    c->vars[1] = core_var_new(in, param_name(rule, 0, v->name), x->type, x->span);
    for (int k = 0; k < c->nargs - 2; k++, adjoint = !adjoint) {
        CoreVar *d = c->vars[2 + k] = core_var_new(in, param_name(rules[k], 1, "d"), adjoint ? dy : dx, x->span);
        c->args[2 + k] = custom_rule(in, c, rules[k], d, adjoint ? dx : dy, adjoint, !adjoint && !other);
        if (!c->args[2 + k]) return core_error(in, call);
    }
    return c;
}

Core *apply_total(Infer *in, Fun *f, const Val *args, const Span *spans, Span call) {
    const char *name = f->name ? f->name : "total";
    Fun *g = need_fun(in, args[0], spans ? spans[0] : call);
    Core *y = need_core(in, args[1], spans ? spans[1] : call), *dy = need_core(in, args[2], spans ? spans[2] : call);
    if (!g) return core_error(in, call);
    Core *c = derivative(in, AD_JVP, g, y, dy, call, name);
    if (c->kind != CORE_AD) return c;
    c->vars[1] = f->direction;
    c->text = name;
    return c;
}

static AdMode ad_mode(Builtin b) {
    switch (b) {
    case BI_VALUEGRAD: return AD_VALUE_GRAD;
    case BI_JVP: return AD_JVP;
    case BI_JVP2: return AD_JVP2;
    case BI_VJP: return AD_VJP;
    case BI_VJP2: return AD_VJP2;
    case BI_JACOBIAN: return AD_JACOBIAN;
    case BI_JACFWD: return AD_JACFWD;
    case BI_JACREV: return AD_JACREV;
    case BI_JACSPARSE: return AD_JACSPARSE;
    case BI_HESSIAN: return AD_HESSIAN;
    case BI_HVP: return AD_HVP;
    default: return AD_GRAD;
    }
}

// ---- all of them

// The functions among the n arguments of the built-in function, as bits.
static unsigned function_args(Builtin b, int n) {
    switch (b) {
    case BI_BUILD:
    case BI_SUM: return 2;
    case BI_WHILE: return 3;
    case BI_CUSTOMVJP:
    case BI_CUSTOMJVP: return n == 4 ? 7 : 3;
    case BI_IFOLD:
    case BI_REDUCE:
    case BI_HIST: return 1;
    default: return b >= BI_GRAD && b != BI_DERIV;
    }
}

static Core *apply_first_order(Infer *in, Builtin b, int n, Core **a, Span call) {
    switch (b) {
    case BI_LENGTH: return length_of(in, a[0]);
    case BI_GET: {
        CoreItem item = {.at = a[1], .span = a[1]->span};
        if (!infer_expect(in, a[1], int_type(), "an index")) return core_error(in, call);
        return infer_index(in, a[0], 1, arena_copy(in->arena, &item, sizeof item), call);
    }
    case BI_PAIR: {
        Type *type = type_tuple(in->arena, 2, (Type *[]){a[0]->type, a[1]->type});
        return core_new(in, CORE_TUPLE, call, type, 2, a);
    }
    case BI_FST:
    case BI_SND: return pair_part(in, a[0], b == BI_SND, call);
    case BI_DOUBLE: return convert(in, a[0], KIND_DOUBLE, call);
    case BI_FLOAT: return convert(in, a[0], KIND_FLOAT, call);
    case BI_INT: return convert(in, a[0], KIND_INT, call);
    case BI_ASSERT: return assertion(in, n, a, call);
    case BI_SAMELENGTH: return same_length(in, a[0], a[1], a[2], call);
    case BI_STOP: return core_new(in, CORE_STOP, call, a[0]->type, 1, a);
    case BI_EVALUATED: return core_new(in, CORE_EVALUATED, call, type_scalar(KIND_BOOL), 1, a);
    case BI_ARGMIN: return arg_extreme(in, CORE_ARGMIN, a[0], call);
    case BI_ARGMAX: return arg_extreme(in, CORE_ARGMAX, a[0], call);
    case BI_DERIV: infer_error(in, call, "`deriv` must be applied where it is named, to an expression and a variable");
    // fall through
    default: return core_error(in, call);
    }
}

Core *apply_builtin(Infer *in, Builtin b, int n, const Val *args, const Span *spans, Span call) {
    Core **a = ARENA_ARRAY(in->arena, Core *, n + 1);
    Fun **f = ARENA_ARRAY(in->arena, Fun *, n + 1);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        Span at = spans ? spans[i] : call;
        if (function_args(b, n) >> i & 1) ok &= (f[i] = need_fun(in, args[i], at)) != NULL;
        else a[i] = need_core(in, args[i], at);
    }
    if (!ok) return core_error(in, call);
    switch (b) {
    case BI_BUILD: return build(in, CORE_BUILD, a[0], f[1], call);
    case BI_SUM: return build(in, CORE_SUM, a[0], f[1], call);
    case BI_IFOLD: return ifold(in, f[0], a[1], a[2], call);
    case BI_WHILE: return while_loop(in, f[0], f[1], a[2], call);
    case BI_REDUCE: return reduce(in, args, f[0], call);
    case BI_HIST: return hist(in, args, f[0], call);
    case BI_CUSTOMVJP:
    case BI_CUSTOMJVP: return custom(in, b, f[0], f[1], n == 4 ? f[2] : NULL, a[n - 1], call);
    default: break;
    }
    if (b == BI_DERIV || b < BI_GRAD) return apply_first_order(in, b, n, a, call);
    if (b >= BI_DIFF) return dual_function(in, b, f[0], a[1], call);
    return derivative(in, ad_mode(b), f[0], a[1], n > 2 ? a[2] : NULL, call, builtin_info[b].name);
}
