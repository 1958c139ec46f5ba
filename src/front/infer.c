// Type inference: expressions, and the definitions of a program.
#include "front/infer_internal.h"

#include <string.h>

// ---- leaves

static Val value(Core *c) { return (Val){c, NULL}; }

static Val function(Infer *in, Fun f) { return (Val){NULL, arena_copy(in->arena, &f, sizeof f)}; }

static Val infer_name(Infer *in, const Expr *e) {
    Binding *b = e->ival ? NULL : env_find(in, e->name);
    if (b && b->val.fun) return b->val;
    if (b) { // a use has its own place in the source
        Core *c = arena_copy(in->arena, b->val.core, sizeof *c);
        c->span = e->span;
        c->use = in->use;
        c->name = e->name;
        return value(c);
    }
    Def *d = e->ival ? NULL : module_find(in->unit, in->env.module, e->name);
    if (d) return def_value(in, d, e->span);
    Builtin bi = builtin_find(e->name);
    if (bi != BI_COUNT) return function(in, (Fun){.kind = FUN_BUILTIN, .name = e->name, .span = e->span, .builtin = bi});
    Op op = builtin_find_op(e->name);
    if (op != OP_COUNT) return function(in, (Fun){.kind = FUN_OP, .name = e->name, .span = e->span, .op = op});
    return value(core_error(in, e->span)); // reported with the names
}

static Core *infer_literal(Infer *in, const Expr *e) {
    static const struct {
        CoreKind kind;
        TypeClass cls;
    } table[] = {[EX_INT] = {CORE_INT, CLASS_NUM}, [EX_REAL] = {CORE_REAL, CLASS_REAL}};
    if (e->kind == EX_BOOL) {
        Core *c = core_new(in, CORE_BOOL, e->span, type_scalar(KIND_BOOL), 0, NULL);
        c->ival = e->ival;
        return c;
    }
    Core *c = core_new(in, table[e->kind].kind, e->span, type_var(in->arena, table[e->kind].cls), 0, NULL);
    c->ival = e->ival;
    c->rval = e->rval;
    return c;
}

// ---- operators

static bool is_float(Type *t) {
    t = type_prune(t);
    return (t->form == TYPE_SCALAR && kind_is_float(t->kind)) || (t->form == TYPE_VAR && t->cls == CLASS_REAL);
}

static bool is_int(Type *t) {
    t = type_prune(t);
    return t->form == TYPE_SCALAR && t->kind == KIND_INT;
}

static Core *operands_differ(Infer *in, BinOp op, Core *a, Core *b, Span span) {
    const char *left = infer_type_text(in, a->type), *right = infer_type_text(in, b->type);
    infer_error(in, span, "the operands of `%s` are of type %s and %s", ast_binop_name(op), left, right);
    if ((is_float(a->type) && is_int(b->type)) || (is_int(a->type) && is_float(b->type)))
        infer_note(in, is_int(a->type) ? a->span : b->span, "`double e` makes a Double of an Int");
    return core_error(in, span);
}

static Core *not_a_number(Infer *in, BinOp op, Core *c, Span span) {
    infer_error(in, c->span, "`%s` works on numbers, found %s", ast_binop_name(op), infer_type_text(in, c->type));
    if (type_is_array(c->type))
        infer_note(in, span, "`map2 (%s) a b` works on two arrays, `map (fun x -> …) a` on one", ast_binop_name(op));
    return core_error(in, span);
}

static bool may_be_number(Type *t, bool or_truth) {
    t = type_prune(t);
    return t->form == TYPE_VAR || (t->form == TYPE_SCALAR && (t->kind != KIND_BOOL || or_truth));
}

static Core *infer_power(Infer *in, Core *a, Core *b, Span span) {
    if (!type_constrain(a->type, CLASS_NUM)) return not_a_number(in, BIN_POW, a, span);
    const Core *lit = b->kind == CORE_NEG ? b->args[0] : b;
    bool integral = lit->kind == CORE_INT || (lit->kind == CORE_REAL && lit->rval == (double)(int64_t)lit->rval && lit->rval < 1e6);
    if (integral) {
        Core *c = core_new(in, CORE_POWI, span, a->type, 1, &a);
        c->ival = lit->kind == CORE_INT ? lit->ival : (int64_t)lit->rval;
        if (b->kind == CORE_NEG) c->ival = -c->ival;
        return c;
    }
    if (!type_constrain(b->type, CLASS_NUM)) return not_a_number(in, BIN_POW, b, span);
    if (is_float(b->type) && !type_unify(a->type, b->type)) return operands_differ(in, BIN_POW, a, b, span);
    Core *c = core_new(in, CORE_BINARY, span, a->type, 2, (Core *[]){a, b});
    c->binop = BIN_POW;
    return c;
}

Core *infer_binary(Infer *in, BinOp op, Core *a, Core *b, Span span, Span op_span) {
    (void)op_span;
    Type *result = type_scalar(KIND_BOOL);
    if (type_is_error(a->type) || type_is_error(b->type)) return core_error(in, span);
    if (op == BIN_POW) return infer_power(in, a, b, span);
    if (op == BIN_AND || op == BIN_OR) {
        const char *what = arena_printf(in->arena, "an operand of `%s`", ast_binop_name(op));
        bool ok = infer_expect(in, a, result, what);
        if (!infer_expect(in, b, result, what) || !ok) return core_error(in, span);
    } else {
        bool equality = op == BIN_EQ || op == BIN_NE;
        if (!may_be_number(a->type, equality)) return not_a_number(in, op, a, span);
        if (!may_be_number(b->type, equality)) return not_a_number(in, op, b, span);
        if (!type_unify(a->type, b->type)) return operands_differ(in, op, a, b, span);
        Type *t = type_prune(a->type);
        bool truth = t->form == TYPE_SCALAR && t->kind == KIND_BOOL;
        if (!truth && !type_constrain(t, CLASS_NUM)) return not_a_number(in, op, a, span);
        if (op <= BIN_POW) result = a->type;
    }
    Core *c = core_new(in, CORE_BINARY, span, result, 2, (Core *[]){a, b});
    c->binop = op;
    return c;
}

static bool is_factor_op(const Expr *e) { return e->binop == BIN_MUL || e->binop == BIN_DIV; }

// The bracket that a factor of a product is, maybe with a minus before it; or NULL.
static const Expr *bracket_of(const Expr *e, bool *negative) {
    bool minus = false;
    while (e->kind == EX_UNARY && e->unop == UN_NEG) e = e->args[0], minus = !minus;
    if (e->kind != EX_BRACKET) return NULL;
    *negative ^= minus;
    return e;
}

static Core *infer_neg(Infer *in, Core *a, Span span) {
    if (!type_constrain(a->type, CLASS_NUM)) {
        infer_error(in, a->span, "`-` works on numbers, found %s", infer_type_text(in, a->type));
        if (type_is_array(a->type)) infer_note(in, a->span, "`map (fun x -> -x) a` works on an array");
        return core_error(in, span);
    }
    return core_new(in, CORE_NEG, span, a->type, 1, &a);
}

// A chain of `*` and `/` with brackets in it: the brackets guard all other factors, whatever the order. `left` is the
// value of the chain's first factor if it is known already, else the factor is `first`.
static Core *infer_guarded(Infer *in, Core *left, const Expr *first, const Expr *const *ops, int n) {
    VEC(const Expr *) guards = {0};
    Core *product = left;
    bool negative = false;
    const Expr *guard = left ? NULL : bracket_of(first, &negative);
    if (guard) vec_push(&guards, guard);
    else if (!left) product = infer_core(in, first);
    for (int i = 0; i < n; i++) {
        const Expr *e = ops[i], *factor = e->args[1];
        guard = bracket_of(factor, &negative);
        if (guard && e->binop == BIN_DIV) infer_error(in, guard->span, "a bracket cannot be a divisor");
        if (guard) {
            vec_push(&guards, guard);
            continue;
        }
        Core *right = infer_core(in, factor);
        if (!product && e->binop == BIN_DIV) product = core_int(in, 1, type_var(in->arena, CLASS_NUM), e->op_span);
        product = product ? infer_binary(in, e->binop, product, right, span_join(product->span, right->span), e->op_span) : right;
    }
    Span span = n ? ops[n - 1]->span : first->span;
    if (!product) product = core_int(in, 1, type_var(in->arena, CLASS_NUM), span);
    if (negative) product = infer_neg(in, product, span);
    while (guards.len) {
        Core *cond = infer_typed(in, vec_pop(&guards)->args[0], type_scalar(KIND_BOOL));
        product = core_new(in, CORE_BRACKET, span, product->type, 2, (Core *[]){cond, product});
    }
    vec_free(&guards);
    return product;
}

// Operators in a left-leaning chain, from its left end; its length is not limited by the stack.
static Core *infer_chain(Infer *in, const Expr *e) {
    VEC(const Expr *) spine = {0};
    for (; e->kind == EX_BINARY; e = e->args[0]) vec_push(&spine, e);
    for (int i = 0, k = spine.len - 1; i < k; i++, k--) { // innermost first
        const Expr *swap = spine.data[i];
        spine.data[i] = spine.data[k], spine.data[k] = swap;
    }
    Core *left = NULL;
    for (int i = 0, end; i < spine.len; i = end) {
        const Expr *op = spine.data[i];
        bool minus = false, guarded = is_factor_op(op) && !left && bracket_of(e, &minus);
        for (end = i; end < spine.len && is_factor_op(op) && is_factor_op(spine.data[end]); end++)
            guarded |= bracket_of(spine.data[end]->args[1], &minus) != NULL;
        if (guarded) {
            left = infer_guarded(in, left, e, spine.data + i, end - i);
            continue;
        }
        end = i + 1;
        if (!left) left = infer_core(in, e);
        Core *right = infer_core(in, op->args[1]);
        left = infer_binary(in, op->binop, left, right, op->span, op->op_span);
    }
    vec_free(&spine);
    return left;
}

static Core *infer_unary(Infer *in, const Expr *e) {
    bool negative = false;
    if (bracket_of(e, &negative)) return infer_guarded(in, NULL, e, NULL, 0);
    if (e->unop == UN_NEG) return infer_neg(in, infer_core(in, e->args[0]), e->span);
    Core *a = infer_typed(in, e->args[0], type_scalar(KIND_BOOL));
    return core_new(in, CORE_NOT, e->span, type_scalar(KIND_BOOL), 1, &a);
}

// ---- compound expressions

static Core *infer_if(Infer *in, const Expr *e) {
    Core *cond = infer_core(in, e->args[0]);
    infer_expect(in, cond, type_scalar(KIND_BOOL), "a condition");
    Core *then = infer_core(in, e->args[1]), *other = infer_core(in, e->args[2]);
    if (!type_unify(then->type, other->type)) {
        const char *a = infer_type_text(in, then->type), *b = infer_type_text(in, other->type);
        infer_error(in, other->span, "the branches of this `if` are of type %s and %s", a, b);
        infer_note(in, then->span, "this branch is of type %s", a);
        const Expr *tuple = e->args[2]; // in parentheses, it begins before its first part
        if (tuple->kind == EX_TUPLE && tuple->span.begin == tuple->args[0]->span.begin)
            infer_note(in, e->span, "`else` reaches over the commas; put the `if` into parentheses to end it before");
        return core_error(in, e->span);
    }
    return core_new(in, CORE_IF, e->span, then->type, 3, (Core *[]){cond, then, other});
}

static Core *infer_tuple(Infer *in, const Expr *e) {
    Core **parts = ARENA_ARRAY(in->arena, Core *, e->nargs + 1);
    Type **types = ARENA_ARRAY(in->arena, Type *, e->nargs + 1);
    for (int i = 0; i < e->nargs; i++) {
        parts[i] = infer_core(in, e->args[i]);
        types[i] = parts[i]->type;
    }
    return core_new(in, CORE_TUPLE, e->span, type_tuple(in->arena, e->nargs, types), e->nargs, parts);
}

static Core *infer_array(Infer *in, const Expr *e) {
    Core **elems = ARENA_ARRAY(in->arena, Core *, e->nargs + 1);
    Type *type = type_var(in->arena, CLASS_ANY);
    for (int i = 0; i < e->nargs; i++) {
        elems[i] = infer_core(in, e->args[i]);
        if (i == 0) type = elems[i]->type;
        else if (!infer_expect(in, elems[i], type, "this element"))
            infer_note(in, elems[0]->span, "the first element is of that type");
    }
    Type *array = type_array(in->arena, type, arena_printf(in->arena, "%d", e->nargs));
    return core_new(in, CORE_ARRAY, e->span, array, e->nargs, elems);
}

static Core *infer_subscript(Infer *in, const Expr *e) {
    Core *array = infer_core(in, e->args[0]);
    CoreItem *items = ARENA_ARRAY(in->arena, CoreItem, e->nitems + 1);
    for (int i = 0; i < e->nitems; i++) {
        const IndexItem *from = &e->items[i];
        items[i] = (CoreItem){.slice = from->slice, .span = from->span};
        if (from->at) items[i].at = infer_core(in, from->at);
        if (from->lo) items[i].lo = infer_core(in, from->lo);
        if (from->hi) items[i].hi = infer_core(in, from->hi);
        Core *ends[] = {items[i].at, items[i].lo, items[i].hi};
        for (int k = 0; k < 3; k++)
            if (ends[k]) infer_expect(in, ends[k], type_scalar(KIND_INT), "an index");
    }
    return infer_index(in, array, e->nitems, items, e->span);
}

static Val infer_annotated(Infer *in, const Expr *e) {
    if (e->type->kind != TX_FUN) return value(apply_annotation(in, infer_core(in, e->args[0]), e->type, NULL));
    Val v = infer(in, e->args[0]);
    Fun *f = need_fun(in, v, e->args[0]->span);
    if (!f) return value(core_error(in, e->span));
    f = arena_copy(in->arena, f, sizeof *f);
    f->annotation = e->type;
    return (Val){NULL, f};
}

static void idle(Infer *in, const Expr *e, const Core *c, const char *what) {
    if (c && c->kind == CORE_ERROR) return;
    Warning w = strcmp(e->name, "unroll") ? WARN_IDLE_ATTRIBUTE : WARN_UNROLL;
    diag_warning(in->diag, w, e->op_span, "`%s` has no effect here: this is no %s", e->name, what);
}

static void wish(Infer *in, const Expr *e, Core *c, WishKind kind) {
    bool array = c && c->kind == CORE_BUILD, number = c && (c->kind == CORE_SUM || c->kind == CORE_FOLD);
    bool of_array = kind != WISH_reassociate, of_number = kind != WISH_materialise;
    if (!(array && of_array) && !(number && of_number)) {
        idle(in, e, c, !of_array ? "`sum` or `ifold`" : !of_number ? "`build`" : "`build`, `sum` or `ifold`");
        return;
    }
    CoreWish *of = ARENA_ARRAY(in->arena, CoreWish, WISH_COUNT);
    if (c->wish) memcpy(of, c->wish, sizeof *of * WISH_COUNT); // which the definition has, too
    c->wish = of;
    c->wish[kind].number = e->nattr_args ? e->attr_args[0]->ival : 1;
    c->wish[kind].at = e->op_span;
}

// Attributes mark the loop that the expression is; a function like `map` is a block around one.
static Val infer_attribute(Infer *in, const Expr *e) {
    Val v = infer(in, e->args[0]);
    Core *c = v.core;
    while (c && c->kind == CORE_BLOCK) c = c->args[0];
    for (int k = 0; k < WISH_COUNT; k++)
        if (!strcmp(e->name, wish_info[k].name)) wish(in, e, c, (WishKind)k);
    if (!strcmp(e->name, "unroll")) {
        if (c && (c->kind == CORE_BUILD || c->kind == CORE_SUM || c->kind == CORE_FOLD)) c->unroll = true;
        else idle(in, e, c, "`build`, `sum` or `ifold`");
    }
    bool levels = !strcmp(e->name, "stripmine");
    if (levels || !strcmp(e->name, "tapeLimit")) {
        if (c && (c->kind == CORE_FOLD || c->kind == CORE_WHILE)) *(levels ? &c->levels : &c->limit) = e->attr_args[0]->ival;
        else idle(in, e, c, "`ifold` or `whileLoop`");
    }
    return v;
}

// ---- blocks

static bool is_assert(Infer *in, const Expr *e) {
    return e->kind == EX_APP && e->nargs == 3 && e->args[0]->kind == EX_NAME &&
           !strcmp(e->args[0]->name, builtin_info[BI_ASSERT].name) && e->args[2]->kind == EX_STRING &&
           !env_find(in, e->args[0]->name) && !module_find(in->unit, in->env.module, e->args[0]->name);
}

static void infer_bound(Infer *in, BindList *binds, const Expr *e) {
    const Expr *bound = e->args[0];
    if (e->nparams) {
        Fun f = {.kind = FUN_CLOSURE,
                 .name = e->name,
                 .span = e->op_span,
                 .params = e->params,
                 .nparams = e->nparams,
                 .result = e->type,
                 .body = bound,
                 .env = in->env};
        env_bind(in, e->name, function(in, f));
        return;
    }
    if (is_assert(in, bound)) {
        CoreBind b = {.value = infer_typed(in, bound->args[1], type_scalar(KIND_BOOL)),
                      .text = bound->args[2]->name,
                      .span = bound->span,
                      .use = in->use};
        vec_push(binds, b);
        return;
    }
    Val v = infer(in, bound);
    if (v.fun) {
        if (e->pattern) bind_function(in, e->pattern, v.fun);
    } else if (e->pattern) {
        bind_patterns(in, binds, 1, &e->pattern, &v.core);
    }
}

// A chain of lets of any length.
static Core *infer_block(Infer *in, const Expr *e) {
    int bound = in->bound.len;
    Span span = e->span;
    BindList binds = {0};
    for (; e->kind == EX_LET && !in->overflow; e = e->args[1]) infer_bound(in, &binds, e);
    Core *body = infer_core(in, e);
    env_unbind(in, bound);
    return core_block(in, &binds, body, span);
}

// ---- expressions

static Val infer_kind(Infer *in, const Expr *e) {
    switch (e->kind) {
    case EX_INT:
    case EX_REAL:
    case EX_BOOL: return value(infer_literal(in, e));
    case EX_STRING: infer_error(in, e->span, "a text can only be an argument of `assert`"); return value(core_error(in, e->span));
    case EX_UNIT: return value(core_new(in, CORE_TUPLE, e->span, type_unit(), 0, NULL));
    case EX_NAME: return infer_name(in, e);
    case EX_SECTION: return function(in, (Fun){.kind = FUN_SECTION, .span = e->span, .binop = e->binop});
    case EX_LAMBDA: {
        Fun f = {.kind = FUN_CLOSURE,
                 .span = e->span,
                 .params = e->params,
                 .nparams = e->nparams,
                 .result = e->type,
                 .body = e->args[0],
                 .env = in->env};
        return function(in, f);
    }
    case EX_APP: return infer_app(in, e);
    case EX_LET: return value(infer_block(in, e));
    case EX_IF: return value(infer_if(in, e));
    case EX_TUPLE: return value(infer_tuple(in, e));
    case EX_ARRAY: return value(infer_array(in, e));
    case EX_INDEX: return value(infer_subscript(in, e));
    case EX_BRACKET: return value(infer_guarded(in, NULL, e, NULL, 0));
    case EX_BINARY: return value(infer_chain(in, e));
    case EX_UNARY: return value(infer_unary(in, e));
    case EX_ANNOT: return infer_annotated(in, e);
    case EX_ATTR: return infer_attribute(in, e);
    }
    return value(core_error(in, e->span));
}

Val infer(Infer *in, const Expr *e) {
    if (in->overflow) return value(core_error(in, e->span));
    if (in->depth >= FRONT_MAX_DEPTH) {
        in->overflow = true;
        infer_error(in, e->span, "expressions and uses of functions are nested too deeply here (the limit is %d levels)",
                    FRONT_MAX_DEPTH);
        return value(core_error(in, e->span));
    }
    in->depth++;
    Val v = infer_kind(in, e);
    in->depth--;
    return v;
}

Core *infer_core(Infer *in, const Expr *e) { return need_core(in, infer(in, e), e->span); }

Core *infer_typed(Infer *in, const Expr *e, Type *want) {
    Core *c = infer_core(in, e);
    return infer_expect(in, c, want, NULL) ? c : core_error(in, e->span);
}

// ---- definitions

static void reset(Infer *in, Module *m) {
    in->env = (Env){.module = m};
    in->use = NULL;
    in->depth = in->ncores = 0;
    in->overflow = in->failed = false;
    in->roots.len = 0;
    env_unbind(in, 0);
    map_free(&in->memo);
    map_free(&in->externs);
    in->memo = in->externs = (Map){0};
}

static CoreEntry *infer_entry(Infer *in, Def *d) {
    Decl *decl = d->decl;
    reset(in, d->module);
    d->used = true;
    CoreEntry *entry = ARENA_NEW(in->arena, CoreEntry);
    *entry = (CoreEntry){.name = d->name, .doc = decl->doc, .span = decl->name_span};
    env_enter(in, in->env);
    bind_entry(in, entry, decl);
    Core *body = infer_core(in, decl->body);
    if (decl->result) {
        Type *want = written_type(in, decl->result);
        const char *what = arena_printf(in->arena, "the result of `%s`", d->name);
        if (infer_expect(in, body, want, what)) {
            entry->result = size_spec(in, decl->result);
            if (!type_has_error(want)) entry->stored = stored_kinds(in, decl->result);
            entry->stored_span = decl->result->span;
        }
    }
    BindList roots = in->roots;
    in->roots = (BindList){0};
    entry->body = core_block(in, &roots, body, decl->body->span);
    return entry;
}

// Types a definition that no entry uses, with parameters of unknown types.
static void check_unused(Infer *in, Def *d) {
    reset(in, d->module);
    if (d->decl->kind == DECL_EXTERN) {
        infer_extern(in, d);
        return;
    }
    in->generic = true;
    Fun *f = def_value(in, d, d->decl->name_span).fun;
    if (f && f->kind == FUN_CLOSURE) {
        Val *args = ARENA_ARRAY(in->arena, Val, f->nparams + 1);
        for (int i = 0; i < f->nparams; i++) {
            const Pattern *p = f->params[i];
            if (p->type && p->type->kind == TX_FUN) {
                args[i] = function(in, (Fun){.kind = FUN_UNKNOWN, .span = p->span});
                continue;
            }
            CoreVar *v = core_var_new(in, "arg", type_var(in->arena, CLASS_ANY), p->span);
            args[i] = value(core_var(in, v, p->span));
        }
        f = arena_copy(in->arena, f, sizeof *f);
        f->name = NULL; // no "in this use of"
        in->use = NULL;
        apply(in, f, f->nparams, args, NULL, d->decl->name_span);
    }
    in->generic = false;
}

// Types the definitions that no entry uses; first those that no other definition uses, which covers most others.
static void check_rest(Infer *in) {
    const Unit *u = in->unit;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < u->nmodules; i++) {
            const Module *m = u->modules[i];
            for (int k = 0; !m->prelude && k < m->ndefs && !in->overflow; k++) {
                Def *d = m->list[pass ? m->ndefs - 1 - k : k];
                if (!d->used && (pass || !d->referenced)) check_unused(in, d);
            }
        }
}

static void no_entry(const Unit *u, const char *name) {
    const Module *m = u->main;
    const Def *d = name_map_get(&m->defs, name);
    NameGuess guess = {.wanted = name};
    for (int i = 0; i < m->ndefs; i++)
        if (m->list[i]->decl->kind == DECL_ENTRY) name_guess(&guess, m->list[i]->name);
    diag_error(u->diag, nowhere, "%s has no entry named `%s`", m->src->name, name);
    if (d) diag_note(u->diag, d->decl->name_span, "`%s` is no entry: it is defined with `let`", name);
    else if (guess.best) diag_note(u->diag, nowhere, "did you mean `%s`?", guess.best);
}

static bool is_wanted(const char *name, int n, const char *const *only) {
    for (int i = 0; i < n; i++)
        if (!strcmp(only[i], name)) return true;
    return n == 0;
}

static void check_wanted(const Unit *u, const char *name) {
    for (int i = 0; i < u->main->ndefs; i++) {
        const Def *d = u->main->list[i];
        if (d->decl->kind == DECL_ENTRY && !strcmp(d->name, name)) return;
    }
    if (!module_may_define(u->main, name)) no_entry(u, name);
}

CoreProgram *infer_program(Unit *u, int n, const char *const *only) {
    Infer in = {.unit = u, .arena = u->arena, .diag = u->diag, .names = {.arena = u->arena}};
    CoreProgram *p = ARENA_NEW(u->arena, CoreProgram);
    p->unit = u;
    p->entries = ARENA_ARRAY(u->arena, CoreEntry *, u->main->ndefs + 1);
    for (int i = 0; i < u->main->ndefs; i++) {
        Def *d = u->main->list[i];
        if (d->decl->kind != DECL_ENTRY) continue;
        CoreEntry *entry = infer_entry(&in, d);
        if (!in.failed && !d->recursive && is_wanted(d->name, n, only)) p->entries[p->n++] = entry;
    }
    check_rest(&in);
    for (int i = 0; i < n; i++) check_wanted(u, only[i]);
    reset(&in, NULL);
    vec_free(&in.roots);
    vec_free(&in.bound);
    return p;
}
