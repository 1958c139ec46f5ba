// Elaboration: entries, their inputs, checks and results.
#include "front/elab_internal.h"

#include "ad/ad.h"

#include "fsmc/runtime.h"
#include "support/map.h"
#include "support/vec.h"

#include <string.h>

typedef struct FuncBuilder {
    Node **input; // by number: as they come from outside
    Elab *el;
    const CoreEntry *entry;
    Func *f;
    VEC(Check) checks;
} FuncBuilder;

// ---- checks

static void add_check(FuncBuilder *b, int code, Node *cond, Span span, int n, Node **values, const char *text) {
    if (cond->op == OP_lit && cond->u.num) return;
    Check c = {cond, text, n, arena_copy(b->el->arena, values, sizeof *values * (size_t)n), code, span};
    vec_push(&b->checks, c);
}

static void check_nonnegative(FuncBuilder *b, Node *extent, Span span, const char *what) {
    Elab *el = b->el;
    int64_t known;
    if (size_nonnegative(el, extent)) return;
    if (ir_is_int_lit(extent, &known)) {
        report_error(el->unit, NULL, span, arena_printf(el->arena, "%s is negative: %lld", what, (long long)known));
        el->failed = true;
        return;
    }
    const char *text =
        arena_printf(el->arena, "%s: %s, which is %s, is negative: %%d", b->entry->name, what, size_text(el, extent));
    add_check(b, FSM_ERROR_NEGATIVE, ir_le(el->m, ir_int(el->m, 0), extent), span, 1, &extent, text);
}

// ---- inputs

static void too_many_dimensions(Elab *el, Span at, int rank, const char *name) {
    const char *text = arena_printf(el->arena, "an array cannot have more than %d dimensions; `%s` has %d", MAX_RANK, name, rank);
    report_error(el->unit, NULL, at, text);
    el->failed = true;
}

static bool is_input_name(const CoreEntry *e, const char *name) {
    for (int i = 0; i < e->nsizes; i++)
        if (!strcmp(e->sizes[i]->name, name)) return true;
    for (int k = 0; k < e->nparams; k++)
        if (!strcmp(e->params[k].var->name, name)) return true;
    return false;
}

// The name of leaf i of parameter k, unlike those of the others.
static const char *leaf_name(const FuncBuilder *b, int k, int i) {
    const CoreVar *v = b->entry->params[k].var;
    if (v->value.n == 1) return v->name;
    const char *name = arena_printf(b->el->arena, "%s_%d", v->name, i);
    while (is_input_name(b->entry, name)) name = arena_printf(b->el->arena, "%s_", name);
    return name;
}

// How leaf i of parameter k is stored. Int32 becomes Int as it is read.
static Kind stored(const FuncBuilder *b, int k, int i, Kind kind) {
    const Kind *kinds = b->entry->params[k].stored;
    return kinds ? kinds[i] : kind;
}

// The inputs of the scalars of a parameter; those of arrays need sizes, which may depend on these.
static void make_scalars(FuncBuilder *b, int k, int first) {
    Elab *el = b->el;
    CoreVar *v = b->entry->params[k].var;
    int n = type_leaves(v->type);
    Kind *kinds = ARENA_ARRAY(el->arena, Kind, n + 1);
    int *ranks = ARENA_ARRAY(el->arena, int, n + 1);
    type_leaf_list(v->type, kinds, ranks);
    v->value = value_new(el, n);
    for (int i = 0; i < n; i++) {
        if (ranks[i] > MAX_RANK) too_many_dimensions(el, v->span, ranks[i], v->name);
        if (ranks[i]) continue;
        b->input[first + i] = ir_input(el->m, first + i, leaf_name(b, k, i), stored(b, k, i, kinds[i]), 0, NULL);
        v->value.leaf[i] = ir_conv(el->m, kinds[i], b->input[first + i]);
    }
    b->f->params[k] = (SigParam){v->name, NULL, first, n};
}

// The signature of a parameter, from leaf `leaf` on; makes its arrays. shape holds the extents of `dim` outer arrays.
static SigType *make_arrays(FuncBuilder *b, int k, int *leaf, Type *t, const SizeSpec *s, Node **shape, int dim) {
    Elab *el = b->el;
    CoreVar *v = b->entry->params[k].var;
    SigType *sig = ARENA_NEW(el->arena, SigType);
    t = type_prune(t);
    sig->nparts = t->nparts;
    sig->parts = ARENA_ARRAY(el->arena, SigType *, t->nparts + 1);
    if (t->form == TYPE_SCALAR) {
        sig->form = SIG_SCALAR;
        int i = (*leaf)++, number = b->f->params[k].first + i;
        sig->kind = stored(b, k, i, t->kind);
        if (dim) b->input[number] = ir_input(el->m, number, leaf_name(b, k, i), sig->kind, dim, shape);
        return sig;
    }
    sig->form = t->form == TYPE_ARRAY ? SIG_ARRAY : SIG_TUPLE;
    if (t->form == TYPE_ARRAY) {
        sig->extent = elab_scalar(el, s->extent);
        check_nonnegative(b, sig->extent, s->span, arena_printf(el->arena, "a size of `%s`", v->name));
        Node **inner = ARENA_ARRAY(el->arena, Node *, dim + 1);
        if (dim) memcpy(inner, shape, sizeof *shape * (size_t)dim);
        inner[dim++] = sig->extent;
        shape = inner;
    }
    for (int i = 0; i < t->nparts; i++) sig->parts[i] = make_arrays(b, k, leaf, t->parts[i], s->parts[i], shape, dim);
    return sig;
}

static void make_inputs(FuncBuilder *b) {
    Elab *el = b->el;
    const CoreEntry *e = b->entry;
    Func *f = b->f;
    f->nsizes = e->nsizes;
    for (int i = 0; i < e->nsizes; i++) {
        e->sizes[i]->value = value_new(el, 1);
        e->sizes[i]->value.leaf[0] = ir_size(el->m, i, e->sizes[i]->name);
    }
    f->nparams = e->nparams;
    f->params = ARENA_ARRAY(el->arena, SigParam, e->nparams + 1);
    int number = e->nsizes;
    for (int k = 0; k < e->nparams; k++) number += type_leaves(e->params[k].var->type);
    f->ninputs = number;
    f->inputs = b->input = ARENA_ARRAY(el->arena, Node *, number + 1);
    for (int i = 0; i < e->nsizes; i++) f->inputs[i] = e->sizes[i]->value.leaf[0];
    number = e->nsizes;
    for (int k = 0; k < e->nparams; k++) {
        make_scalars(b, k, number);
        number += f->params[k].count;
    }
    for (int k = 0; k < e->nparams; k++) {
        int leaf = 0;
        f->params[k].type = make_arrays(b, k, &leaf, e->params[k].var->type, e->params[k].spec, NULL, 0);
    }
    for (int k = 0; k < e->nparams; k++) // only now: no extent can read an array
        for (int i = 0; i < f->params[k].count; i++) {
            Node *input = f->inputs[f->params[k].first + i], **leaf = &e->params[k].var->value.leaf[i];
            if (input->rank) *leaf = input->kind == KIND_INT32 ? ir_conv(el->m, KIND_INT, input) : input;
        }
}

// ---- results

static SigType *result_sig(FuncBuilder *b, Type *t, Value v, int *leaf, int dim) {
    Elab *el = b->el;
    SigType *sig = ARENA_NEW(el->arena, SigType);
    t = type_prune(t);
    sig->nparts = t->nparts;
    sig->parts = ARENA_ARRAY(el->arena, SigType *, t->nparts + 1);
    switch (t->form) {
    case TYPE_ARRAY:
        sig->form = SIG_ARRAY;
        sig->extent = *leaf < v.n ? v.leaf[*leaf]->shape[dim++] : ir_int(el->m, 0);
        check_nonnegative(b, sig->extent, b->entry->body->span, "a size of the result");
        break;
    case TYPE_TUPLE: sig->form = SIG_TUPLE; break;
    default:
        sig->form = SIG_SCALAR;
        sig->kind = v.leaf[(*leaf)++]->kind;
        return sig;
    }
    for (int i = 0; i < t->nparts; i++) sig->parts[i] = result_sig(b, t->parts[i], v, leaf, dim);
    return sig;
}

// Compares the declared sizes of the result with those it has.
static void check_result(FuncBuilder *b, const SizeSpec *s, Type *t, Value v, int leaf, int dim) {
    Elab *el = b->el;
    t = type_prune(t);
    if (!s || !type_leaves(t)) return;
    if (s->extent) {
        Node *want = elab_scalar(el, s->extent), *have = v.leaf[leaf]->shape[dim];
        const char *left = size_text(el, want), *right = size_text(el, have);
        SizeEq eq = size_compare(el, want, have);
        const char *what =
            arena_printf(el->arena, "the result of `%s` is declared with size %s, but has size %s", b->entry->name, left, right);
        if (eq == SIZE_DIFFERENT) {
            report_error(el->unit, NULL, s->span, what);
            diag_note(el->unit->diag, b->entry->body->span, "the result");
            el->failed = true;
        } else if (eq == SIZE_UNKNOWN) {
            Node *values[] = {want, have};
            add_check(b, FSM_ERROR_SIZE, ir_eq(el->m, want, have), s->span, 2, values,
                      arena_printf(el->arena, "%s: %%d and %%d", what));
        }
    }
    for (int i = 0; i < s->nparts; i++) {
        check_result(b, s->parts[i], t->parts[i], v, leaf, dim + (t->form == TYPE_ARRAY));
        leaf += type_leaves(t->parts[i]);
    }
}

typedef VEC(Node *) Demands;

// The demands that all of e stands under, even where it has no elements.
static void find_demands(Node *e, Demands *demands) {
    VEC(Node *) rest = {0};
    Map seen = {0};
    vec_push(&rest, e);
    while (rest.len) {
        e = vec_pop(&rest);
        if (!e->partial || map_get(&seen, e)) continue;
        map_put(&seen, e, e);
        bool strict = op_is_elementwise(e->op) && e->op != OP_and && e->op != OP_or;
        if (e->op == OP_evaluated && !e->fv->n) vec_push(demands, e);
        if (e->op == OP_gen || e->op == OP_at || e->op == OP_conv || e->op == OP_stop) vec_push(&rest, e->args[0]);
        for (int i = 0; i < e->nargs && (strict || (e->op == OP_assert && i < 2)); i++) vec_push(&rest, e->args[i]);
    }
    vec_free(&rest);
    map_free(&seen);
}

enum { MAX_SIZE_FACTS = 32 };

typedef struct SizeFacts {
    int n;
    Poly p[MAX_SIZE_FACTS];
} SizeFacts;

// A demand without what it says of sizes that are known not to be negative.
static Node *without_sizes(Ir *m, Node *all, void *data) {
    const SizeFacts *facts = data;
    Demands rest = {0};
    for (int i = 0; i < all->nargs && all->op == OP_evaluated; i++) {
        Node *e = all->args[i];
        bool size = e->op == OP_gen && e->args[0]->op == OP_lit;
        if (!size || !poly_nonneg_given(m, poly_of(m, e->u.var->extent), facts->n, facts->p)) vec_push(&rest, e);
    }
    Node *r = all->op != OP_evaluated || rest.len == all->nargs ? all : ir_evaluated(m, rest.len, rest.data);
    vec_free(&rest);
    return r;
}

// The demands without those that an array's size is not negative where the checks of the entry say so.
static Node *beside_checks(Ir *m, Node *all, int n, const Check *checks) {
    SizeFacts facts = {.n = 0};
    if (m->raw || !all->partial) return all;
    ArenaMark mark = arena_mark(m->polys);
    for (int i = 0; i < n && facts.n < MAX_SIZE_FACTS; i++)
        facts.n += poly_facts(m, checks[i].cond, facts.p + facts.n, MAX_SIZE_FACTS - facts.n);
    Node *r = ir_change(m, all, without_sizes, &facts);
    arena_release(m->polys, mark);
    return r;
}

// The results need not ask for what the function demands.
static void set_results(Func *f, Value v, int nchecks, const Check *checks) {
    Demands demands = {0};
    f->noutputs = v.n;
    f->outputs = ARENA_ARRAY(f->ir->arena, Node *, v.n + 1);
    for (int i = 0; i < v.n; i++) find_demands(v.leaf[i], &demands);
    Rewriting *w = ir_replacing(f->ir, 0, NULL, NULL);
    for (int k = 0; k < demands.len; k++) ir_replacing_too(w, demands.data[k], ir_bool(f->ir, true));
    for (int i = 0; i < v.n; i++) f->outputs[i] = demands.len ? ir_rewrite(w, v.leaf[i]) : v.leaf[i];
    ir_rewriting_end(w);
    Node *all = ir_evaluated(f->ir, demands.len, demands.data);
    all = beside_checks(f->ir, all, nchecks, checks);
    if (all->partial) f->outputs[v.n] = all, f->ndemands = 1;
    vec_free(&demands);
}

static Func *elab_entry(Elab *el, const CoreEntry *e) {
    Func *f = ARENA_NEW(el->arena, Func);
    FuncBuilder b = {.el = el, .entry = e, .f = f};
    *f = (Func){.name = e->name, .doc = e->doc, .ir = el->m, .span = e->span};
    el->failed = el->misshapen = false;
    el->guarded = 0;
    el->m->span = e->span;
    make_inputs(&b);
    if (el->failed) {
        vec_free(&b.checks);
        return NULL;
    }
    Active whole = {.x = f->inputs};
    if (el->m->keep_customs) whole.n = f->ninputs, el->active = &whole;
    elab_mark_carriers(e->body);
    el->order = el->greatest_order = 0;
    Value v = elab(el, e->body);
    f->order = el->greatest_order;
    el->active = NULL;
    el->m->span = e->stored_span.src ? report_place(el->unit, NULL, e->stored_span) : e->span;
    Value out = value_new(el, v.n); // v may be that of a parameter
    bool stable = !el->m->raw && !el->m->strict && !el->m->keep_customs && !el->failed;
    for (int i = 0; i < v.n; i++) {
        out.leaf[i] = stable ? ir_expand(el->m, ad_stable(el->m, v.leaf[i])) : v.leaf[i];
        if (e->stored && !el->failed) out.leaf[i] = ir_conv(el->m, e->stored[i], out.leaf[i]);
    }
    v = out;
    el->m->span = e->span;
    int leaf = 0;
    if (!el->failed) {
        check_result(&b, e->result, e->body->type, v, 0, 0);
        f->result = result_sig(&b, e->body->type, v, &leaf, 0);
    }
    set_results(f, v, b.checks.len, b.checks.data);
    f->output_names = ARENA_ARRAY(el->arena, const char *, v.n + 1);
    f->nchecks = b.checks.len;
    f->checks = b.checks.len ? arena_copy(el->arena, b.checks.data, sizeof(Check) * (size_t)b.checks.len) : NULL;
    vec_free(&b.checks);
    return el->failed ? NULL : f;
}

Func **elab_program(Ir *m, const CoreProgram *p, int *count) {
    Elab el = {.m = m, .arena = m->arena, .unit = p->unit};
    Func **out = ARENA_ARRAY(m->arena, Func *, p->n + 1);
    *count = 0;
    for (int i = 0; i < p->n; i++) {
        explain_entry(m->explain, p->entries[i]->name);
        m->entry = i;
        Func *f = elab_entry(&el, p->entries[i]);
        if (f) out[(*count)++] = f;
    }
    return out;
}
