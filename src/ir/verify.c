// The verifier: checks the invariants stated in ir.h on everything a function reaches.
#include "ir/scalar.h"
#include "support/vec.h"

#include <stdlib.h>
#include <string.h>

typedef struct Verifier {
    const Func *func;
    Ir *m;
    VEC(Node *) roots, nodes;
} Verifier;

static _Noreturn void broken(const Verifier *at, const Node *e, const char *what) {
    Verifier *v = (Verifier *)at;
    Str s = {0};
    if (e) ir_print_value(&s, (Node *)e);
    char text[400];
    size_t n = s.len < sizeof text - 1 ? s.len : sizeof text - 1;
    if (n) memcpy(text, s.data, n);
    text[n] = 0;
    str_free(&s);
    vec_free(&v->nodes);
    vec_free(&v->roots);
    fatal_bug("the IR of '%s' is broken: %s%s%s", v->func->name, what, e ? ": " : "", text);
}

#define REQUIRE(cond, what)                                                                                                        \
    do {                                                                                                                           \
        if (!(cond)) broken(v, e, what);                                                                                           \
    } while (0)

// ---- operands

static void check_shape(const Verifier *v, const Node *e) {
    REQUIRE(e->rank == 0 || e->shape != NULL, "an array has no extents");
    for (int k = 0; k < e->rank; k++) {
        REQUIRE(e->shape[k] != NULL, "an extent is missing");
        REQUIRE(e->shape[k]->kind == KIND_INT && e->shape[k]->rank == 0, "an extent is not an Int");
    }
}

static void check_index(const Verifier *v, const Node *e, const Var *i) {
    REQUIRE(i && !i->is_state && i->kind == KIND_INT && i->rank == 0, "the bound variable is not an index variable");
    REQUIRE(i->extent && i->extent->kind == KIND_INT && i->extent->rank == 0, "the extent is not an Int");
    REQUIRE(i->extent->id < e->id, "the extent is newer than its user");
    REQUIRE(!node_has_var(i->extent, i), "a variable is free in its own extent");
}

static void check_binder(const Verifier *v, const Node *e) {
    const Node *body = e->args[0];
    REQUIRE(e->nargs == 1, "a binder has one operand");
    check_index(v, e, e->u.var);
    REQUIRE(!ir_is_loop(body), "a loop is used as a value");
    REQUIRE(v->m->planning || !ir_binds(body, e->u.var), "a variable is bound again inside its own body");
    REQUIRE(ir_binds(e, e->u.var), "the set of bound variables is wrong");
    if (e->op == OP_gen) {
        REQUIRE(e->rank == body->rank + 1 && e->kind == body->kind, "the array's type is not its body's");
        REQUIRE(e->shape[0] == e->u.var->extent, "the array's extent is not its variable's");
        for (int k = 0; k < body->rank; k++) {
            REQUIRE(e->shape[k + 1] == body->shape[k], "the array's extents are not its body's");
            REQUIRE(!node_has_var(body->shape[k], e->u.var), "the rows of an array have different extents");
        }
        return;
    }
    bool array = v->m->planning && e->op == OP_sum; // a sum of arrays
    REQUIRE((body->rank == 0 || array) && body->kind != KIND_BOOL && body->kind != KIND_INT32, "the body is not a number");
    REQUIRE(e->rank == (array ? body->rank : 0) && e->kind == (e->op == OP_sum ? body->kind : KIND_INT),
            "the result has the wrong type");
}

static void check_loop(const Verifier *v, const Node *e) {
    const Loop *l = e->u.loop;
    bool fold = e->op == OP_fold;
    REQUIRE(e->nargs == 2 * l->n + !fold + l->nout, "a loop has the wrong number of operands");
    REQUIRE((l->index != NULL) == fold, "a fold has an index variable, a while has none");
    if (fold) check_index(v, e, l->index);
    else REQUIRE(loop_cond(e)->kind == KIND_BOOL && loop_cond(e)->rank == 0, "the condition is not a Bool");
    for (int k = 0; k < l->n; k++) {
        const Var *s = l->state[k];
        const Node *init = loop_init(e, k), *step = loop_step(e, k);
        REQUIRE(s->is_state && !s->extent, "a state is not a state variable");
        REQUIRE(init->kind == s->kind && init->rank == s->rank, "an initial value has another type than its state");
        REQUIRE(step->kind == s->kind && step->rank == s->rank, "a step has another type than its state");
        REQUIRE(!ir_is_loop(init) && !ir_is_loop(step), "a loop is used as a value");
        REQUIRE(ir_binds(e, s), "the set of bound variables is wrong");
        for (int j = 0; j < l->n; j++) {
            REQUIRE(!node_has_var(init, l->state[j]), "an initial value mentions a state");
            REQUIRE(!ir_binds(step, l->state[j]), "a state is bound again inside its own loop");
            REQUIRE(j == k || l->state[j] != s, "a loop has one state variable twice");
        }
        REQUIRE(!fold || !node_has_var(init, l->index), "an initial value mentions the loop's index");
        REQUIRE(v->m->planning || !fold || !ir_binds(step, l->index), "a variable is bound again inside its own body");
    }
    for (int q = 0; q < l->nout; q++) {
        const Node *out = loop_output(e, q);
        REQUIRE(!ir_is_loop(out), "a loop is used as a value");
        for (int d = 0; d < out->rank; d++) {
            REQUIRE(!fold || !node_has_var(out->shape[d], l->index), "the shape of a loop's output changes");
            for (int k = 0; k < l->n; k++)
                REQUIRE(!node_has_var(out->shape[d], l->state[k]), "the shape of a loop's output changes");
        }
    }
}

static void check_result(const Verifier *v, const Node *e) {
    REQUIRE(e->nargs == 1 && ir_is_loop(e->args[0]), "the operand of a loop's result is not a loop");
    const Node *loop = e->args[0];
    const Loop *l = ir_loop(loop);
    if (e->op == OP_count) {
        REQUIRE(loop->op == OP_while && e->kind == KIND_INT && e->rank == 0, "'count' of a loop whose iterations are known");
        return;
    }
    REQUIRE(e->u.num >= 0 && e->u.num < (e->op == OP_final ? l->n : l->nout), "the loop has fewer results");
    const Node *of = e->op == OP_final ? loop_init(loop, (int)e->u.num) : loop_output(loop, (int)e->u.num);
    REQUIRE(e->kind == of->kind && e->rank == of->rank + (e->op == OP_trace), "the result has another type than its loop's");
}

static void check_at(const Verifier *v, const Node *e) {
    const Node *a = e->args[0];
    REQUIRE(a->rank > 0 && e->nargs == a->rank + 1, "an array is not fully indexed");
    REQUIRE(e->kind == a->kind && e->rank == 0, "an element has another type than its array");
    for (int k = 1; k < e->nargs; k++) REQUIRE(e->args[k]->kind == KIND_INT && e->args[k]->rank == 0, "an index is not an Int");
}

static int64_t arith_size(const Node *e) {
    if (e->kind != KIND_INT || e->opaque || !(e->op == OP_add || e->op == OP_sub || e->op == OP_mul || e->op == OP_neg)) return 0;
    return 1 + arith_size(e->args[0]) + (e->nargs > 1 ? arith_size(e->args[1]) : 0);
}

static void check_elementwise(const Verifier *v, const Node *e) {
    const Node *a = e->args[0], *b = e->nargs > 1 ? e->args[1] : a;
    REQUIRE(e->nargs == op_info[e->op].arity, "the number of operands is wrong");
    REQUIRE(e->rank == 0 && a->rank == 0 && b->rank == 0, "an elementwise operation on an array");
    REQUIRE(op_accepts(e->op, a->kind, b->kind), "the operands have the wrong kinds");
    OpType t = op_info[e->op].type;
    Kind want = t == T_CMP ? KIND_BOOL : t == T_PSI ? b->kind : a->kind;
    REQUIRE(e->kind == want, "the result has the wrong kind");
    int64_t size = arith_size(e);
    if (!size) return;
    // the order of terms may differ between terms equal up to bound names
    Node *normal = poly_node(v->m, poly_of(v->m, (Node *)e));
    REQUIRE(normal == e || arith_size(normal) == size, "an Int expression is not in normal form");
}

// select, bracket, assert and stop: the result is like operand `from` and all those after it.
static void check_like(const Verifier *v, const Node *e, int nargs, int from) {
    REQUIRE(e->nargs == nargs, "the number of operands is wrong");
    REQUIRE(e->rank == 0, "an array where the canonical form has scalars");
    if (from) REQUIRE(e->args[0]->kind == KIND_BOOL && e->args[0]->rank == 0, "the condition is not a Bool");
    for (int k = from; k < nargs; k++)
        REQUIRE(e->args[k]->kind == e->kind && e->args[k]->rank == 0, "an operand has another type than the result");
}

static void check_pack(const Verifier *v, const Node *e) {
    int64_t n = 1, x;
    for (int k = 0; k < e->rank; k++) {
        REQUIRE(ir_is_int_lit(e->shape[k], &x) && x >= 0, "the extents of an array literal are not constants");
        n *= x;
    }
    REQUIRE(e->rank > 0 && n == e->nargs, "the number of an array literal's elements is wrong");
    for (int k = 0; k < e->nargs; k++)
        REQUIRE(e->args[k]->kind == e->kind && e->args[k]->rank == 0, "an element has another type than its array");
}

static void check_leaf(const Verifier *v, const Node *e) {
    REQUIRE(e->nargs == 0, "a leaf has operands");
    switch (e->op) {
    case OP_param: broken(v, e, "a placeholder was left behind");
    case OP_input:
        REQUIRE(e->u.num >= 0 && e->u.num < v->func->ninputs && v->func->inputs[e->u.num] == e,
                "an input that is not the function's");
        break;
    case OP_var: REQUIRE(e->u.var->node == e && e->kind == e->u.var->kind, "a variable has two values"); break;
    default: REQUIRE(e->rank == 0, "a literal is not a scalar");
    }
}

static void check_extern(const Verifier *v, const Node *e) {
    const Extern *x = e->u.ext;
    REQUIRE(x && x->name, "a C function has no name");
    for (int k = 0; k < e->nargs && !x->signature; k++) REQUIRE(e->args[k]->rank == 0, "an array is given to a C function");
    REQUIRE(e->result < x->nresults && x->results[e->result].kind == e->kind && x->results[e->result].rank == e->rank,
            "a C function has no such result");
    REQUIRE(x->signature || !ir_extern_fills(x), "a C function gives an array");
    if (!x->signature) return;
    REQUIRE(e->nargs > x->nsizes + x->nextents, "the number of operands is wrong");
    REQUIRE(e->args[0]->kind == KIND_BOOL && e->args[0]->rank == 0, "the condition is not a Bool");
    for (int k = 1; k <= x->nsizes; k++) REQUIRE(e->args[k]->kind == KIND_INT && e->args[k]->rank == 0, "a size is not an Int");
    const int at = ir_extern_extents(e, e->result);
    for (int k = 0; k < e->rank; k++) REQUIRE(e->args[at + k] == e->shape[k], "an extent is not an operand");
    REQUIRE(!ir_extern_fills(x) || e->partial, "what may fail is not partial");
}

static void check_node(const Verifier *v, const Node *e) {
    for (int k = 0; k < e->nargs; k++) {
        REQUIRE(e->args[k] != NULL, "an operand is missing");
        REQUIRE(e->args[k]->id < e->id, "an operand is newer than its user");
        bool guard = k > 0 && (e->op == OP_bracket || e->op == OP_select); // may rule the operand's failure out
        REQUIRE(e->partial || guard || !e->args[k]->partial, "a value with a partial operand is not partial");
        REQUIRE(e->op == OP_final || e->op == OP_trace || e->op == OP_count || !ir_is_loop(e->args[k]),
                "a loop is used as a value");
    }
    check_shape(v, e);
    switch (e->op) {
    case OP_lit:
    case OP_input:
    case OP_param:
    case OP_var: check_leaf(v, e); break;
    case OP_conv:
        REQUIRE(e->nargs == 1 && e->rank == 0 && e->args[0]->rank == 0, "conversion of an array");
        REQUIRE(e->kind != e->args[0]->kind, "conversion to the same kind");
        REQUIRE(e->kind != KIND_INT32 || e->args[0]->kind == KIND_INT, "conversion of no Int to Int32");
        REQUIRE(e->kind == KIND_INT || e->args[0]->kind != KIND_INT32, "conversion of Int32 to another kind than Int");
        break;
    case OP_stop: check_like(v, e, 1, 0); break;
    case OP_select: check_like(v, e, 3, 1); break;
    case OP_bracket:
        check_like(v, e, 2, 1);
        REQUIRE(e->kind != KIND_BOOL, "a bracket on a Bool");
        break;
    case OP_assert:
        REQUIRE(e->nargs >= 2 && e->args[0]->kind == KIND_BOOL && e->args[0]->rank == 0, "the condition is not a Bool");
        REQUIRE(e->rank == e->args[1]->rank && e->args[1]->kind == e->kind,
                "an operand has another type than the result");
        REQUIRE(e->rank == 0 || ir_is_demand(e), "an assertion of an array that is no demand");
        for (int k = 2; k < e->nargs; k++)
            REQUIRE(e->args[k]->kind == KIND_INT && e->args[k]->rank == 0, "a value of an assertion is not an Int");
        REQUIRE(e->u.text && e->partial, "an assertion has no text or is not partial");
        break;
    case OP_evaluated:
        REQUIRE(e->kind == KIND_BOOL && e->rank == 0 && e->partial && e->nargs > 0, "a demand of nothing");
        break;
    case OP_at: check_at(v, e); break;
    case OP_gen:
    case OP_sum:
    case OP_argmin:
    case OP_argmax: check_binder(v, e); break;
    case OP_pack: check_pack(v, e); break;
    case OP_fold:
    case OP_while: check_loop(v, e); break;
    case OP_final:
    case OP_trace:
    case OP_count: check_result(v, e); break;
    case OP_extern: check_extern(v, e); break;
    case OP_custom:
    case OP_result: broken(v, e, "a function with its own derivative was not put in place");
    default: check_elementwise(v, e);
    }
}

// ---- free variables

static const VarSet *free_vars(Ir *m, const Node *e) {
    const VarSet *s = varset_empty;
    if (e->op == OP_var) return e->fv; // check_fv looks at it
    for (int k = 0; k < e->nargs; k++) s = varset_union(m, s, e->args[k]->fv);
    if (ir_is_binder(e)) return varset_union(m, varset_remove(m, s, e->u.var), e->u.var->extent->fv);
    if (!ir_is_loop(e)) return s;
    const Loop *l = e->u.loop;
    for (int k = 0; k < l->n; k++) s = varset_remove(m, s, l->state[k]);
    if (l->index) s = varset_union(m, varset_remove(m, s, l->index), l->index->extent->fv);
    return s;
}

// A set of free variables has its variables in order, and those of their extents with them.
static void check_fv(const Verifier *v, const Node *e) {
    REQUIRE(free_vars(v->m, e) == e->fv, "the set of free variables is wrong");
    for (int k = 0; k < e->fv->n; k++) {
        const Var *x = e->fv->v[k];
        REQUIRE(k == 0 || e->fv->v[k - 1]->id < x->id, "a set of variables is not sorted");
        for (int j = 0; x->extent && j < x->extent->fv->n; j++)
            REQUIRE(node_has_var(e, x->extent->fv->v[j]), "the free variables are not closed under extents");
    }
    if (e->op == OP_var) REQUIRE(node_has_var(e, e->u.var), "a variable is not free in itself");
}

// ---- interning

static bool same_term(const Node *a, const Node *b) {
    if (a->op != b->op || a->kind != b->kind || a->rank != b->rank || a->nargs != b->nargs) return false;
    for (int k = 0; k < a->nargs; k++)
        if (a->args[k] != b->args[k]) return false;
    for (int k = 0; k < a->rank; k++)
        if (a->shape[k] != b->shape[k]) return false;
    if (op_is_elementwise(a->op)) return true;
    switch (a->op) {
    case OP_lit:
    case OP_input:
    case OP_param:
    case OP_trace:
    case OP_final: return a->u.num == b->u.num;
    case OP_var:
    case OP_gen:
    case OP_sum:
    case OP_argmin:
    case OP_argmax: return a->u.var == b->u.var;
    case OP_fold:
    case OP_while: return a->u.loop == b->u.loop;
    case OP_assert: return !strcmp(a->u.text, b->u.text);
    case OP_extern:
        return a->result == b->result && a->u.ext->nresults == b->u.ext->nresults && a->u.ext->decl == b->u.ext->decl &&
               !strcmp(a->u.ext->name, b->u.ext->name);
    default: return true;
    }
}

static int by_hash(const void *pa, const void *pb) {
    const Node *a = *(Node *const *)pa, *b = *(Node *const *)pb;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static void check_interning(Verifier *v) {
    if (v->nodes.len) qsort(v->nodes.data, (size_t)v->nodes.len, sizeof *v->nodes.data, by_hash);
    for (int i = 0; i < v->nodes.len; i++)
        for (int j = i + 1; j < v->nodes.len && v->nodes.data[j]->hash == v->nodes.data[i]->hash; j++)
            if (same_term(v->nodes.data[i], v->nodes.data[j])) broken(v, v->nodes.data[i], "one term is two nodes");
}

// ---- functions

static int leaves(const SigType *t) {
    int n = 0;
    if (t->form == SIG_SCALAR) return 1;
    for (int k = 0; k < t->nparts; k++) n += leaves(t->parts[k]);
    return n;
}

static void check_func(const Verifier *v) {
    const Func *f = v->func;
    int next = f->nsizes;
    const Node *e = NULL;
    for (int k = 0; k < f->ninputs; k++) {
        e = f->inputs[k];
        REQUIRE(e->op == OP_input && e->u.num == k, "the inputs are not numbered in order");
        REQUIRE(k >= f->nsizes || (e->kind == KIND_INT && e->rank == 0), "a size is not an Int");
        for (int d = 0; d < e->rank; d++) REQUIRE(e->shape[d]->fv->n == 0, "an input's extent has a free variable");
    }
    for (int k = 0; k < f->noutputs; k++) {
        e = f->outputs[k];
        REQUIRE(e->fv->n == 0, "a variable is free in a result");
        REQUIRE(!ir_is_loop(e), "a loop is used as a value");
        for (int d = 0; d < e->rank; d++) REQUIRE(e->shape[d]->fv->n == 0, "a result's extent has a free variable");
    }
    for (int k = f->noutputs; k < func_roots(f); k++) {
        e = f->outputs[k];
        REQUIRE(e->kind == KIND_BOOL && e->rank == 0 && e->fv->n == 0, "a demand is not a closed Bool");
    }
    for (int k = 0; k < f->nchecks; k++) {
        e = f->checks[k].cond;
        REQUIRE(e->kind == KIND_BOOL && e->rank == 0 && e->fv->n == 0, "a check is not a closed Bool");
        for (int j = 0; j < f->checks[k].nvalues; j++) {
            e = f->checks[k].values[j];
            REQUIRE(e->kind == KIND_INT && e->rank == 0 && e->fv->n == 0, "a check's value is not a closed Int");
        }
    }
    e = NULL;
    for (int k = 0; k < f->nparams; k++) {
        REQUIRE(f->params[k].first == next && leaves(f->params[k].type) == f->params[k].count,
                "a parameter's inputs are not its leaves");
        next += f->params[k].count;
    }
    REQUIRE(!f->nparams || next == f->ninputs, "the parameters are not the inputs");
    REQUIRE(!f->result || leaves(f->result) == f->noutputs, "the result's type does not have the outputs as leaves");
}

static void visit(Node *e, void *data) {
    Verifier *v = data;
    vec_push(&v->nodes, e);
}

void ir_verify(const Func *f) {
    Verifier v = {.func = f, .m = f->ir};
    for (int k = 0; k < f->ninputs; k++) vec_push(&v.roots, f->inputs[k]);
    for (int k = 0; k < func_roots(f); k++) {
        vec_push(&v.roots, f->outputs[k]);
        for (int d = 0; d < f->outputs[k]->rank; d++) vec_push(&v.roots, f->outputs[k]->shape[d]);
    }
    for (int k = 0; k < f->nchecks; k++) {
        vec_push(&v.roots, f->checks[k].cond);
        for (int j = 0; j < f->checks[k].nvalues; j++) vec_push(&v.roots, f->checks[k].values[j]);
    }
    ir_walk(v.roots.len, v.roots.data, visit, &v);
    for (int i = 0; i < v.nodes.len; i++) {
        check_node(&v, v.nodes.data[i]);
        check_fv(&v, v.nodes.data[i]);
    }
    check_interning(&v);
    check_func(&v);
    vec_free(&v.nodes);
    vec_free(&v.roots);
}
