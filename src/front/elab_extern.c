// Elaboration: C functions, and the derivatives that their declarations give.
#include "front/elab_internal.h"

#include <string.h>

// ---- signatures

// The scalars of an array's type; its rank and the extents that the specification gives.
static Kind element_kind(Type *t) {
    for (t = type_prune(t); t->form == TYPE_ARRAY; t = type_prune(t->parts[0])) continue;
    return t->kind;
}

static int extents(Elab *el, Type *t, const SizeSpec *s, Node ***shape) {
    int rank = 0;
    *shape = ARENA_ARRAY(el->arena, Node *, MAX_RANK);
    for (t = type_prune(t); t->form == TYPE_ARRAY && rank < MAX_RANK; t = type_prune(t->parts[0]), s = s->parts[0])
        (*shape)[rank++] = elab_scalar(el, s->extent);
    return rank;
}

// The parts of a tuple are results of their own.
static int count_results(Type *t) {
    int n = 0;
    t = type_prune(t);
    for (int i = 0; t->form == TYPE_TUPLE && i < t->nparts; i++) n += count_results(t->parts[i]);
    return t->form == TYPE_TUPLE ? n : 1;
}

static void add_results(Elab *el, Extern *e, Type *t, const SizeSpec *s) {
    t = type_prune(t);
    for (int i = 0; t->form == TYPE_TUPLE && i < t->nparts; i++)
        add_results(el, e, t->parts[i], s ? s->parts[i] : NULL);
    if (t->form == TYPE_TUPLE) return;
    ExternResult *r = &e->results[e->nresults++];
    r->kind = element_kind(t);
    r->rank = extents(el, t, s, &r->shape);
    e->nextents += r->rank;
}

static void set_value(Elab *el, CoreVar *v, Node *e) {
    v->value = value_new(el, 1);
    v->value.leaf[0] = e;
}

// What stands for the sizes and arguments. Scalars come first: extents may name them.
static void make_arguments(Elab *el, CoreExtern *x) {
    const CoreEntry *s = &x->signature;
    Extern *e = x->ext;
    e->nsizes = s->nsizes;
    e->n = s->nsizes + s->nparams;
    e->x = ARENA_ARRAY(el->arena, Node *, e->n + 1);
    for (int i = 0; i < s->nsizes; i++) set_value(el, s->sizes[i], e->x[i] = ir_size(el->m, i, s->sizes[i]->name));
    for (int arrays = 0; arrays < 2; arrays++)
        for (int k = 0; k < s->nparams; k++) {
            CoreVar *v = s->params[k].var;
            Node **shape = NULL;
            if ((type_prune(v->type)->form == TYPE_ARRAY) != arrays) continue;
            int rank = extents(el, v->type, s->params[k].spec, &shape);
            set_value(el, v, ir_var(ir_state(el->m, v->name, element_kind(v->type), rank, shape)));
        }
    for (int k = 0; k < s->nparams; k++) e->x[s->nsizes + k] = s->params[k].var->value.leaf[0];
}

static void print_type(Elab *el, Str *out, Kind kind, int rank, Node *const *shape) {
    str_puts(out, type_text(el->arena, type_scalar(kind)));
    for (int k = 0; k < rank; k++) str_printf(out, "[%s]", size_text(el, shape[k]));
}

static void make_signature(Elab *el, CoreExtern *x) {
    Extern *e = x->ext;
    make_arguments(el, x);
    e->nresults = e->nextents = 0;
    e->results = ARENA_ARRAY(el->arena, ExternResult, count_results(x->result));
    add_results(el, e, x->result, x->signature.result);
    bool sizes = ir_extern_fills(e);
    Str s = {0};
    for (int k = e->nsizes; k < e->n; k++) {
        const Node *v = e->x[k];
        sizes |= v->rank > 0;
        str_printf(&s, "(%s: ", v->u.var->name);
        print_type(el, &s, v->kind, v->rank, v->shape);
        str_puts(&s, ") ");
    }
    for (int k = 0; k < e->nresults; k++) {
        str_puts(&s, k ? " * " : ": ");
        print_type(el, &s, e->results[k].kind, e->results[k].rank, e->results[k].shape);
    }
    if (sizes) e->signature = arena_strdup(el->arena, str_text(&s));
    str_free(&s);
}

// ---- derivatives

// The direction: of the floating results, or of the floating arguments.
static void make_direction(Elab *el, CoreExtern *x, Value results) {
    Extern *e = x->ext;
    Value of = x->adjoint ? results : (Value){e->n, e->x};
    Node **like = elab_float_leaves(el, of, &e->nd);
    e->d = ARENA_ARRAY(el->arena, Node *, e->nd + 1);
    for (int i = 0; i < e->nd; i++) e->d[i] = ir_var(ir_state(el->m, "d", like[i]->kind, like[i]->rank, like[i]->shape));
    x->arguments->value = (Value){e->n - e->nsizes, e->x + e->nsizes};
    x->direction->value = (Value){e->nd, e->d};
}

static void check_rule(Elab *el, const CoreExtern *x, Value rule, Value results) {
    const Extern *e = x->ext;
    int n;
    Node **floats = elab_float_leaves(el, x->adjoint ? (Value){e->n, e->x} : results, &n);
    Value want = {n, floats};
    size_same_shape(el, x->rule, x->rule->span,
                    x->adjoint ? "this adjoint has other sizes than the argument" : "this tangent has other sizes than the result",
                    rule, want);
}

// The derivative depends on nothing around its use. It may be differentiated by its arguments and its direction.
static void make_rule(Elab *el, CoreExtern *x) {
    Extern *e = x->ext;
    Elab inner = *el;
    e->ir = el->m;
    e->state = x->rule ? RULE_BUILDING : RULE_NONE;
    inner.active = NULL;
    inner.deriv = inner.cut = NULL;
    inner.guarded = inner.keep_uses = 0;
    inner.failed = false;
    make_signature(&inner, x);
    el->failed |= inner.failed;
    if (!x->rule || inner.failed) return;
    Value results = value_new(el, e->nresults);
    for (int i = 0; i < results.n; i++) {
        const ExternResult *r = &e->results[i];
        results.leaf[i] = ir_var(ir_state(el->m, "y", r->kind, r->rank, r->shape));
    }
    e->adjoint = x->adjoint;
    make_direction(&inner, x, results);
    Active active = {e->n + e->nd, ARENA_ARRAY(el->arena, Node *, e->n + e->nd + 1), NULL};
    for (int i = 0; i < active.n; i++) active.x[i] = i < e->n ? e->x[i] : e->d[i - e->n];
    inner.active = &active;
    elab_mark_carriers(x->rule);
    Value rule = elab(&inner, x->rule);
    if (!inner.failed) check_rule(&inner, x, rule, results);
    el->failed |= inner.failed;
    e->nrule = rule.n;
    e->rule = rule.leaf;
    e->state = inner.failed ? RULE_NONE : RULE_READY;
}

// ---- uses

// Size i of a signature as it is in the arguments: the extent that bound it.
static Node *actual_size(const CoreExtern *x, int i, Node *const *args) {
    for (int k = 0; k < x->signature.nparams; k++) {
        const SizeSpec *s = x->signature.params[k].spec;
        for (int d = 0; s; s = s->parts[0], d++)
            if (s->extent->kind == CORE_VAR && s->extent->vars[0] == x->signature.sizes[i]) return args[k]->shape[d];
    }
    fatal_bug("no argument of a C function has the size `%s`", x->signature.sizes[i]->name);
}

// Sets what a node of the function has as operands, of which there are n.
static Node **operands_with_sizes(Elab *el, const Core *c, Node *const *args, int *n) {
    const CoreExtern *x = c->ext;
    Extern *e = x->ext;
    Node **out = ARENA_ARRAY(el->arena, Node *, 1 + e->n + e->nextents), **actual = out + 1;
    out[0] = ir_bool(el->m, true);
    for (int i = 0; i < e->nsizes; i++) actual[i] = actual_size(x, i, args);
    memcpy(actual + e->nsizes, args, sizeof *args * (size_t)c->nargs);
    for (int k = 0; k < c->nargs; k++)
        for (int d = 0; d < args[k]->rank; d++) {
            Node *want = ir_subst(el->m, e->x[e->nsizes + k]->shape[d], e->n, e->x, actual);
            const char *what = arena_printf(el->arena, "the argument `%s` of `%s` has another size than declared",
                                            x->signature.params[k].var->name, e->name);
            size_require(el, c, c->args[k]->span, what, want, args[k]->shape[d], 1, out);
        }
    *n = 1 + e->n;
    for (int k = 0; k < e->nresults; k++)
        for (int d = 0; d < e->results[k].rank; d++)
            out[(*n)++] = ir_subst(el->m, e->results[k].shape[d], e->n, e->x, actual);
    return out;
}

Value elab_extern(Elab *el, const Core *c) {
    Node **args = ARENA_ARRAY(el->arena, Node *, c->nargs + 1);
    int n = c->nargs;
    for (int i = 0; i < c->nargs; i++) {
        Value v = elab(el, c->args[i]);
        if (v.n != 1) el->failed = true;
        args[i] = v.n == 1 ? v.leaf[0] : ir_int(el->m, 0);
    }
    Extern *e = c->ext->ext;
    if (e->ir != el->m) make_rule(el, c->ext);
    elab_at(el, c);
    if (el->failed) return value_dummy(el, c->type);
    if (e->signature) args = operands_with_sizes(el, c, args, &n);
    Value out = value_new(el, e->nresults);
    for (int k = 0; k < out.n; k++) out.leaf[k] = ir_extern(el->m, e, k, n, args);
    return out;
}
