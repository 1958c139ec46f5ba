// Elaboration: scalars, tuples, blocks. Every value is a list of leaves; functions are gone already.
#include "front/elab_internal.h"

#include "support/vec.h"

// ---- values and errors

void elab_error(Elab *el, const Core *at, Span span, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vprintf(el->arena, fmt, ap);
    va_end(ap);
    el->failed = true;
    report_error(el->unit, at->use, span, text);
}

void elab_at(Elab *el, const Core *c) { el->m->span = report_place(el->unit, c->use, c->span); }

Value value_new(Elab *el, int n) { return (Value){n, ARENA_ARRAY(el->arena, Node *, n + 1)}; }

Value value_dummy(Elab *el, Type *t) {
    type_default(t);
    el->misshapen = true;
    Value v = value_new(el, type_leaves(t));
    Kind *kinds = ARENA_ARRAY(el->arena, Kind, v.n + 1);
    int *ranks = ARENA_ARRAY(el->arena, int, v.n + 1);
    type_leaf_list(t, kinds, ranks);
    for (int i = 0; i < v.n; i++) {
        v.leaf[i] = ir_zero(el->m, kinds[i]);
        for (int r = 0; r < ranks[i]; r++) v.leaf[i] = ir_gen(el->m, ir_index(el->m, "i", ir_int(el->m, 1)), v.leaf[i]);
    }
    return v;
}

static Value single(Elab *el, Node *e) {
    Value v = value_new(el, 1);
    v.leaf[0] = e;
    return v;
}

static Kind scalar_kind(const Core *c) {
    type_default(c->type);
    Type *t = type_prune(c->type);
    return t->form == TYPE_SCALAR ? t->kind : KIND_DOUBLE;
}

Node *elab_scalar(Elab *el, const Core *c) {
    Value v = elab(el, c);
    if (v.n != 1 || v.leaf[0]->rank) fatal_bug("a scalar has %d leaves", v.n);
    return v.leaf[0];
}

static Value parts_of(Value v, int first, int n) { return (Value){n, v.leaf + first}; }

// ---- operators

static Node *multiply_out(Elab *el, Node *a, int64_t n) {
    Node *r = ir_int(el->m, 1);
    for (Node *square = a; n; n >>= 1, square = ir_mul(el->m, square, square))
        if (n & 1) r = ir_mul(el->m, r, square);
    return r;
}

static Node *elab_powi(Elab *el, const Core *c) {
    Node *a = elab_scalar(el, c->args[0]);
    if (kind_is_float(a->kind)) return ir_powi(el->m, a, ir_int(el->m, c->ival));
    if (c->ival >= 0 && c->ival < 64) return ir_keep_errors(el->m, multiply_out(el, a, c->ival), a, NULL);
    elab_error(el, c, c->span, "an Int can only be raised to powers from 0 to 63, not %lld", (long long)c->ival);
    return a;
}

// Int ** Int with an exponent that is not known: squares, in as many steps as the exponent has bits. Two to the
// twelfth: 1100 in bits from the last one on, so squares 2, 4, 16, 256, and the last two of them are factors.
static Node *int_power(Elab *el, Node *a, Node *b) {
    Ir *m = el->m;
    Node *zero = ir_int(m, 0), *one = ir_int(m, 1), *two = ir_int(m, 2);
    Var *power = ir_state(m, "s", KIND_INT, 0, NULL), *square = ir_state(m, "q", KIND_INT, 0, NULL);
    Var *left = ir_state(m, "k", KIND_INT, 0, NULL), *states[] = {power, square, left};
    Node *s = ir_var(power), *q = ir_var(square), *k = ir_var(left), *half = ir_idiv(m, k, two);
    Node *odd = ir_eq(m, ir_sub(m, k, ir_mul(m, two, half)), one);
    Node *inits[] = {one, a, b}, *steps[] = {ir_select(m, odd, ir_mul(m, s, q), s), ir_mul(m, q, q), half};
    Node *result = ir_final(m, ir_while(m, 3, states, inits, ir_lt(m, zero, k), steps), 0);
    return ir_assert(m, ir_le(m, zero, b), "an Int is raised to a negative power", result);
}

static Node *power(Elab *el, Node *a, Node *b) {
    if (b->kind == KIND_INT) return kind_is_float(a->kind) ? ir_powi(el->m, a, b) : int_power(el, a, b);
    return ir_pow(el->m, a, ir_conv(el->m, a->kind, b));
}

static Node *truth_equal(Elab *el, Node *a, Node *b, bool equal) {
    Node *opposite = ir_not(el->m, b);
    return equal ? ir_select(el->m, a, b, opposite) : ir_select(el->m, a, opposite, b);
}

static Node *simplified_binary(Elab *el, const Core *c, Node *a, Node *b) {
    Ir *m = el->m;
    bool integer = a->kind == KIND_INT, truth = a->kind == KIND_BOOL;
    switch (c->binop) {
    case BIN_ADD: return ir_add(m, a, b);
    case BIN_SUB: return ir_sub(m, a, b);
    case BIN_MUL: return ir_mul(m, a, b);
    case BIN_DIV: return integer ? ir_idiv(m, a, b) : ir_div(m, a, b);
    case BIN_MOD: return integer ? ir_irem(m, a, b) : ir_rem(m, a, b);
    case BIN_POW: return power(el, a, b);
    case BIN_EQ: return truth ? truth_equal(el, a, b, true) : ir_eq(m, a, b);
    case BIN_NE: return truth ? truth_equal(el, a, b, false) : ir_ne(m, a, b);
    case BIN_LT: return ir_lt(m, a, b);
    case BIN_LE: return ir_le(m, a, b);
    case BIN_GT: return ir_lt(m, b, a);
    case BIN_GE: return ir_le(m, b, a);
    // The right operand is evaluated only if the left one does not decide.
    case BIN_AND: return b->partial ? ir_select(m, a, b, ir_bool(m, false)) : ir_and(m, a, b);
    case BIN_OR: return b->partial ? ir_select(m, a, ir_bool(m, true), b) : ir_or(m, a, b);
    }
    fatal_bug("unknown operator %d", c->binop);
}

static Node *binary(Elab *el, const Core *c, Node *a, Node *b) {
    Node *e = simplified_binary(el, c, a, b);
    return a->kind == KIND_INT && b->kind == KIND_INT && c->binop != BIN_POW ? ir_keep_errors(el->m, e, a, b) : e;
}

static void warn_equality(Elab *el, const Core *c, Node *a, Node *b) {
    if ((c->binop != BIN_EQ && c->binop != BIN_NE) || !kind_is_float(a->kind) || ir_is_zero(a) || ir_is_zero(b) ||
        report_in_prelude(el->unit, c->span))
        return;
    diag_warning(el->unit->diag, WARN_FLOAT_EQUALITY, c->span, "`%s` compares %s values, which are seldom equal exactly",
                 ast_binop_name(c->binop), a->kind == KIND_FLOAT ? "Float" : "Double");
}

// A left-leaning chain of operators, from its left end.
static Node *elab_binary(Elab *el, const Core *c) {
    VEC(const Core *) spine = {0};
    for (; c->kind == CORE_BINARY; c = c->args[0]) vec_push(&spine, c);
    Node *left = elab_scalar(el, c);
    while (spine.len) {
        const Core *op = vec_pop(&spine);
        bool lazy = op->binop == BIN_AND || op->binop == BIN_OR;
        el->guarded += lazy;
        Node *right = elab_scalar(el, op->args[1]);
        el->guarded -= lazy;
        elab_at(el, op);
        warn_equality(el, op, left, right);
        bool divides = (op->binop == BIN_DIV || op->binop == BIN_MOD) && right->kind == KIND_INT;
        if (divides && ir_is_zero(right) && !el->guarded) elab_error(el, op, op->span, "this Int division is by zero");
        else left = binary(el, op, left, right);
    }
    vec_free(&spine);
    return left;
}

// Is e a loop's state, an element of it, or the greatest so far of it and more?
static bool is_so_far(const Node *e) {
    while (e->op == OP_at) e = e->args[0];
    bool extreme = e->op == OP_max || e->op == OP_min || e->op == OP_latermax || e->op == OP_latermin;
    if (!extreme) return e->op == OP_var && e->u.var->is_state;
    return is_so_far(e->args[0]) || is_so_far(e->args[1]);
}

// Which operation is it while a derivative is built? At a tie of two numbers each has half of the derivative of `max`;
// but of the greatest so far, as in a reduction, and a further one it is the former's: so that the lowest index has all
// of it.
static Op shared_tie(const Elab *el, Op op, const Node *a, const Node *b) {
    if (!el->active || (op != OP_max && op != OP_min) || !kind_is_float(a->kind) || is_so_far(a)) return op;
    if (is_so_far(b)) return op == OP_max ? OP_latermax : OP_latermin;
    return op == OP_max ? OP_evenmax : OP_evenmin;
}

static Node *elab_call(Elab *el, const Core *c) {
    Node *a = elab_scalar(el, c->args[0]), *b = c->nargs > 1 ? elab_scalar(el, c->args[1]) : NULL;
    elab_at(el, c);
    if (c->op == OP_floor || c->op == OP_ceil || c->op == OP_round || c->op == OP_trunc)
        elab_warn_cut(el, c, a, op_info[c->op].sym);
    Node *e = ir_op(el->m, shared_tie(el, c->op, a, b), a, b);
    return a->kind == KIND_INT ? ir_keep_errors(el->m, e, a, b) : e;
}

static Node *elab_conv(Elab *el, const Core *c) {
    Node *a = elab_scalar(el, c->args[0]);
    Kind to = scalar_kind(c);
    if (to == KIND_INT && kind_is_float(a->kind)) elab_warn_cut(el, c, a, "int");
    elab_at(el, c);
    return ir_conv(el->m, to, a);
}

void elab_warn_empty(Elab *el, const Core *from, const Core *to, Span at, const char *what) {
    if (from && from->kind != CORE_INT) return;
    if (!to || to->kind != CORE_INT || to->ival >= (from ? from->ival : 1) || report_in_prelude(el->unit, at)) return;
    diag_warning(el->unit->diag, WARN_EMPTY_RANGE, at, "%s", what);
}

static Node *elab_literal(Elab *el, const Core *c) {
    Kind kind = scalar_kind(c);
    if (kind == KIND_BOOL) return ir_bool(el->m, c->ival != 0);
    if (kind == KIND_INT) return ir_int(el->m, c->ival);
    return ir_real(el->m, kind, c->kind == CORE_INT ? (double)c->ival : c->rval);
}

// ---- conditions

static bool literal_truth(const Node *e, bool *truth) {
    if (e->op != OP_lit || e->kind != KIND_BOOL) return false;
    *truth = e->u.num != 0;
    return true;
}

static Value elab_if(Elab *el, const Core *c) {
    Node *cond = elab_scalar(el, c->args[0]);
    bool truth;
    if (literal_truth(cond, &truth)) return elab(el, c->args[truth ? 1 : 2]);
    el->guarded++;
    Value a = elab(el, c->args[1]), b = elab(el, c->args[2]), v = value_new(el, a.n);
    el->guarded--;
    elab_at(el, c);
    size_same_shape(el, c, c->span, "the branches of this `if` have different sizes", b, a);
    for (int i = 0; i < a.n; i++) v.leaf[i] = ir_select(el->m, cond, a.leaf[i], b.leaf[i]);
    return v;
}

static Value elab_bracket(Elab *el, const Core *c) {
    Node *cond = elab_scalar(el, c->args[0]);
    el->guarded++;
    Value a = elab(el, c->args[1]), v = value_new(el, a.n);
    el->guarded--;
    elab_at(el, c);
    for (int i = 0; i < a.n; i++) v.leaf[i] = ir_bracket(el->m, cond, a.leaf[i]);
    return v;
}

static Value asserted(Elab *el, Node *cond, const char *text, Value a) {
    Value v = value_new(el, a.n);
    for (int i = 0; i < a.n; i++) v.leaf[i] = ir_assert(el->m, cond, text, a.leaf[i]);
    return v;
}

// ---- blocks and tuples

static Value elab_block(Elab *el, const Core *c) {
    VEC(Node *) conds = {0};
    for (int i = 0; i < c->nbinds; i++) {
        const CoreBind *b = &c->binds[i];
        if (b->var) b->var->value = b->var->carries ? elab(el, b->value) : elab_stopped(el, b->value);
        else vec_push(&conds, elab_scalar(el, b->value));
    }
    Value v = elab(el, c->args[0]);
    for (int i = c->nbinds; i-- > 0;) {
        if (c->binds[i].var) continue;
        el->m->span = report_place(el->unit, c->binds[i].use, c->binds[i].span);
        v = asserted(el, vec_pop(&conds), c->binds[i].text, v);
    }
    vec_free(&conds);
    return v;
}

static Value elab_tuple(Elab *el, const Core *c) {
    Value *parts = ARENA_ARRAY(el->arena, Value, c->nargs + 1);
    int n = 0;
    for (int i = 0; i < c->nargs; i++) {
        parts[i] = elab(el, c->args[i]);
        n += parts[i].n;
    }
    Value v = value_new(el, n);
    for (int i = 0, to = 0; i < c->nargs; i++)
        for (int k = 0; k < parts[i].n; k++) v.leaf[to++] = parts[i].leaf[k];
    return v;
}

static Value elab_proj(Elab *el, const Core *c) {
    Value v = elab(el, c->args[0]);
    Type *t = type_prune(c->args[0]->type);
    int first = 0;
    for (int i = 0; i < c->ival; i++) first += type_leaves(t->parts[i]);
    return parts_of(v, first, type_leaves(t->parts[c->ival]));
}

static Value elab_var(Elab *el, const Core *c) {
    Value v = c->vars[0]->value;
    for (int i = 0; i < v.n; i++)
        if (!v.leaf[i]) {
            elab_error(el, c, c->span, "a size cannot depend on the elements of the parameter `%s`", c->vars[0]->name);
            return value_dummy(el, c->type);
        }
    return v;
}

// ---- sizes

static Node *elab_extent(Elab *el, const Core *c) {
    Value v = elab_stopped(el, c->args[0]);
    if (c->ival < v.n && v.leaf[c->ival]->rank > c->dim) return v.leaf[c->ival]->shape[c->dim];
    elab_error(el, c, c->span, "an array of empty tuples has no length");
    return ir_int(el->m, 0);
}

// The sizes come first: where they differ for certain, errors inside would only repeat that.
static Value elab_same(Elab *el, const Core *c) {
    static const char what[] = "arrays of different lengths";
    Node *a = elab_scalar(el, c->args[1]), *b = elab_scalar(el, c->args[2]);
    elab_at(el, c);
    if (!el->guarded && size_compare(el, a, b) == SIZE_DIFFERENT) {
        size_require(el, c, c->span, what, a, b, 0, NULL);
        return value_dummy(el, c->type);
    }
    Value v = elab(el, c->args[0]), checked = value_new(el, v.n);
    for (int i = 0; i < v.n; i++) checked.leaf[i] = v.leaf[i];
    elab_at(el, c);
    size_require(el, c, c->span, what, a, b, v.n, checked.leaf);
    return checked;
}

// Checks the leaves from number `leaf` on, which make up a value of type t inside `dim` arrays.
static void check_spec(Elab *el, const Core *c, const SizeSpec *s, Type *t, int leaf, int dim, Value v) {
    t = type_prune(t);
    if (!s) return;
    int n = type_leaves(t);
    if (s->extent && n) {
        Node *want = elab_scalar(el, s->extent), *have = v.leaf[leaf]->shape[dim];
        el->m->span = report_place(el->unit, c->use, s->span);
        size_require(el, c, c->span, "the declared and the actual size differ", want, have, n, v.leaf + leaf);
    }
    for (int i = 0; i < s->nparts; i++) {
        check_spec(el, c, s->parts[i], t->parts[i], leaf, dim + (t->form == TYPE_ARRAY), v);
        leaf += type_leaves(t->parts[i]);
    }
}

static Value elab_sized(Elab *el, const Core *c) {
    Value v = elab(el, c->args[0]), checked = value_new(el, v.n);
    for (int i = 0; i < v.n; i++) checked.leaf[i] = v.leaf[i];
    check_spec(el, c, c->spec, c->type, 0, 0, checked);
    return checked;
}

// ---- expressions

static Value elab_kind(Elab *el, const Core *c) {
    Ir *m = el->m;
    switch (c->kind) {
    case CORE_INT:
    case CORE_REAL:
    case CORE_BOOL: return single(el, elab_literal(el, c));
    case CORE_VAR: return elab_var(el, c);
    case CORE_BLOCK: return elab_block(el, c);
    case CORE_BINARY: return single(el, elab_binary(el, c));
    case CORE_POWI: return single(el, elab_powi(el, c));
    case CORE_NEG: return single(el, ir_neg(m, elab_scalar(el, c->args[0])));
    case CORE_NOT: return single(el, ir_not(m, elab_scalar(el, c->args[0])));
    case CORE_CALL: return single(el, elab_call(el, c));
    case CORE_CONV: return single(el, elab_conv(el, c));
    case CORE_IF: return elab_if(el, c);
    case CORE_TUPLE: return elab_tuple(el, c);
    case CORE_PROJ: return elab_proj(el, c);
    case CORE_ARRAY: return elab_array(el, c);
    case CORE_BUILD:
    case CORE_SUM: return elab_build(el, c);
    case CORE_FOLD: return elab_fold(el, c);
    case CORE_WHILE: return elab_while(el, c);
    case CORE_INDEX: return elab_index(el, c);
    case CORE_EXTENT: return single(el, elab_extent(el, c));
    case CORE_BRACKET: return elab_bracket(el, c);
    case CORE_ASSERT: return asserted(el, elab_scalar(el, c->args[0]), c->text, elab(el, c->args[1]));
    case CORE_SAME: return elab_same(el, c);
    case CORE_STOP: {
        Value a = elab_stopped(el, c->args[0]), v = value_new(el, a.n);
        for (int i = 0; i < a.n; i++) v.leaf[i] = ir_stop(m, a.leaf[i]);
        return v;
    }
    case CORE_EVALUATED: {
        Value a = elab_stopped(el, c->args[0]);
        return single(el, ir_evaluated(m, a.n, a.leaf));
    }
    case CORE_ARGMIN:
    case CORE_ARGMAX: return elab_arg_extreme(el, c);
    case CORE_SIZED: return elab_sized(el, c);
    case CORE_AD: return elab_ad(el, c);
    case CORE_CUSTOM: return elab_custom(el, c);
    case CORE_EXTERN: return elab_extern(el, c);
    case CORE_ERROR: break;
    }
    el->failed = true;
    return value_dummy(el, c->type);
}

Value elab(Elab *el, const Core *c) {
    Span outside = el->m->span;
    type_default(c->type);
    elab_at(el, c);
    Value v = elab_kind(el, c);
    if (el->keep_uses && c->name) {
        NameUse use = {c, v, el->uses};
        el->uses = arena_copy(el->arena, &use, sizeof use);
    }
    el->m->span = outside;
    return v;
}
