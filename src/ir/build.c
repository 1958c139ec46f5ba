// The builders: they keep the canonical form stated in ir.h and ask the rules first.
#include "ir/internal.h"

#include "fsmc/runtime.h"

#include <string.h>

const KindInfo kind_info[] = {
#define KIND(name, type, fsm, ir, c, c_scalar, cpp, cpp_scalar, npy, numpy, ...)                                                   \
    {type, fsm, ir, #c, #c_scalar, #cpp, #cpp_scalar, npy, numpy, sizeof(c)},
#include "../runtime/elements.def"
};

enum { EXTERN_COST = 40 }; // that of a dear function

const OpInfo op_info[OP_ALL] = {
// clang-format off
#define NODE(name, doc)                                                                                                \
    [OP_##name] = {#name,   0,                                      T_NUM, OP_##name == OP_extern ? COUNT_CALL : COUNT_FREE, \
                   OP_##name == OP_extern ? EXTERN_COST : 0, false, FSM_FN, #name, 0},
// clang-format on
#include "ir/kinds.def"
#define IN(sym, prec) FSM_IN, sym, prec
#define PRE(sym)      FSM_PRE, sym, 8
#define FN(sym)       FSM_FN, sym, 10
#define LANES         true
#define SINGLY        false
#define OP(name, arity, type, dx, dy, eval_f, eval_i, llvm, fsm, count, cost, lanes, ...)                                          \
    [OP_##name] = {#name, arity, T_##type, COUNT_##count, cost, lanes, fsm},
#define HELD(name, arity, ...) [OP_##name] = {#name, arity, T_FLT, COUNT_CALL, 40, false, FN(#name)},
#include "ir/ops.def"
#undef LANES
#undef SINGLY
#undef IN
#undef PRE
#undef FN
};

// ---- leaves

static Node *leaf(Ir *m, Node proto) { return ir_intern(m, &proto, 0, NULL); }

Node *ir_int(Ir *m, int64_t value) { return leaf(m, (Node){.op = OP_lit, .kind = KIND_INT, .nonneg = value >= 0, .u.num = value}); }

Node *ir_bool(Ir *m, bool value) { return leaf(m, (Node){.op = OP_lit, .kind = KIND_BOOL, .u.num = value}); }

Node *ir_real(Ir *m, Kind kind, double value) {
    if (kind == KIND_BOOL) return ir_bool(m, value != 0);
    if (kind == KIND_INT) return ir_int(m, (int64_t)value);
    if (kind == KIND_INT32) return ir_conv(m, kind, ir_int(m, (int64_t)value));
    if (kind == KIND_FLOAT) value = (float)value;
    return leaf(m, (Node){.op = OP_lit, .kind = kind, .u.real = value});
}

Node *ir_zero(Ir *m, Kind kind) { return ir_real(m, kind, 0); }

static Node *opaque(Ir *m, Op op, int number, const char *name, Kind kind, int rank, Node **shape, bool nonneg) {
    shape = arena_copy(m->arena, shape, sizeof *shape * (size_t)rank);
    return leaf(m, (Node){.op = op,
                          .kind = kind,
                          .rank = (uint8_t)rank,
                          .nonneg = nonneg,
                          .shape = shape,
                          .u.num = number,
                          .name = name ? arena_strdup(m->arena, name) : NULL});
}

Node *ir_input(Ir *m, int number, const char *name, Kind kind, int rank, Node **shape) {
    return opaque(m, OP_input, number, name, kind, rank, shape, false);
}

Node *ir_size(Ir *m, int number, const char *name) { return opaque(m, OP_input, number, name, KIND_INT, 0, NULL, true); }

Node *ir_param(Ir *m, Kind kind, int rank, Node **shape) {
    return opaque(m, OP_param, (int)m->next_param++, NULL, kind, rank, shape, false);
}

static Var *var_new(Ir *m, Var proto, bool nonneg) {
    Var *v = ARENA_NEW(m->arena, Var);
    *v = proto;
    v->id = m->next_var++;
    v->entry = m->entry;
    v->loops = UINT32_MAX;
    v->node =
        leaf(m, (Node){.op = OP_var, .kind = v->kind, .rank = (uint8_t)v->rank, .shape = v->shape, .nonneg = nonneg, .u.var = v});
    return v;
}

Var *ir_index(Ir *m, const char *name, Node *extent) {
    return var_new(m, (Var){.kind = KIND_INT, .extent = extent, .name = name ? name : "i"}, true);
}

Var *ir_index_like(Ir *m, const Var *v, Node *extent) {
    Var *w = ir_index(m, v->name, extent);
    w->wishes = v->wishes, w->entry = v->entry;
    return w;
}

Var *ir_state(Ir *m, const char *name, Kind kind, int rank, Node **shape) {
    shape = arena_copy(m->arena, shape, sizeof *shape * (size_t)rank);
    return var_new(m, (Var){.is_state = true, .kind = kind, .rank = rank, .shape = shape, .name = name ? name : "s"}, false);
}

bool ir_is_lit(const Node *e, double value) {
    if (e->op != OP_lit) return false;
    return kind_is_float(e->kind) ? e->u.real == value : (double)e->u.num == value;
}

bool ir_is_zero(const Node *e) { return ir_is_lit(e, 0) && e->kind != KIND_BOOL; }

bool ir_is_int_lit(const Node *e, int64_t *value) {
    if (e->op != OP_lit || e->kind != KIND_INT) return false;
    *value = e->u.num;
    return true;
}

// ---- scalars

static Kind result_kind(Op op, const Node *a, const Node *b) {
    switch (op_info[op].type) {
    case T_CMP:
    case T_LOGIC: return KIND_BOOL;
    case T_PSI: return b->kind;
    default: return a->kind;
    }
}

// Is b at least 1 wherever a has a value? So i % n needs no check for i < n.
static bool positive_beside(Ir *m, const Node *a, Node *b) {
    enum { MAX_FACTS = 8 };
    Poly fact[MAX_FACTS];
    if (!b->nonneg) return false;
    int n = ir_range_facts(m, a, fact, MAX_FACTS);
    return poly_nonneg_given(m, poly_add(m, poly_of(m, b), poly_of(m, ir_int(m, -1))), n, fact);
}

// ---- what may fail
// A proof of what may fail that does not succeed is tried again for sizes of at least 1: what fails only at a size of 0
// needs no care where sizes are not (ad/risk.c).
typedef bool Proof(Ir *m, int n, Node *const *e);

static void may_fail(Ir *m, Node *proto, Proof *is_safe, int n, Node *const *e) {
    proto->partial = !is_safe(m, n, e);
    if (!proto->partial || m->positive) return;
    m->positive = true;
    proto->fails_at_0 = is_safe(m, n, e);
    m->positive = false;
}

// e: a divisor after what it divides.
static bool divides(Ir *m, int n, Node *const *e) {
    int64_t k;
    (void)n;
    return (ir_is_int_lit(e[1], &k) && k != 0) || positive_beside(m, e[0], e[1]);
}

// e: an array and all indices of an element.
static bool is_inside(Ir *m, int n, Node *const *e) {
    for (int k = 0; k + 1 < n; k++)
        if (!ir_index_in_range(m, n - 1, e + 1, k, e[0]->shape[k])) return false;
    return true;
}

// e: an extent.
static bool is_size(Ir *m, int n, Node *const *e) {
    (void)n;
    return e[0]->nonneg || poly_nonneg(m, poly_of(m, e[0]));
}

// ---- operations
Node *ir_op_plain(Ir *m, Op op, Kind kind, Node *a, Node *b) {
    Node *args[2] = {a, b};
    Node proto = {.op = op, .kind = kind};
    int64_t k = 0;
    if (op == OP_idiv || op == OP_irem) {
        may_fail(m, &proto, divides, 2, args);
        proto.nonneg = a->nonneg && b->nonneg;
    } else if (kind == KIND_INT) {
        const int64_t limit = INT64_C(1) << 32; // beyond, overflow is to be expected
        bool huge = (ir_is_int_lit(a, &k) && k > limit) || (b && ir_is_int_lit(b, &k) && k > limit);
        bool both = a->nonneg && b && b->nonneg && (op == OP_min || (!huge && ir_bounded(a) && ir_bounded(b)));
        proto.nonneg = ((op == OP_add || op == OP_mul || op == OP_min) && both) ||
                       (op == OP_max && (a->nonneg || b->nonneg)) || (op == OP_abs && (a->nonneg || ir_bounded(a)));
    }
    return ir_intern(m, &proto, b ? 2 : 1, args);
}

static int degree(Poly p) {
    int n = 0;
    for (int i = 0; i < p.n; i++)
        if (p.term[i].n > n) n = p.term[i].n;
    return n;
}

enum { MAX_PRODUCT_TERMS = 64, MAX_DEGREE = 24 };

bool int_mul_is_opaque(Ir *m, Node *a, Node *b) {
    Poly p = poly_of(m, a), q = poly_of(m, b);
    bool large = p.n > 1 && q.n > 1 && p.n * q.n > MAX_PRODUCT_TERMS;
    return large || (p.n && q.n && degree(p) && degree(q) && degree(p) + degree(q) > MAX_DEGREE);
}

static Node *int_mul(Ir *m, Node *a, Node *b) {
    if (!int_mul_is_opaque(m, a, b)) return poly_node(m, poly_mul(m, poly_of(m, a), poly_of(m, b)));
    Node *args[] = {a->id <= b->id ? a : b, a->id <= b->id ? b : a};
    return ir_intern(m, &(Node){.op = OP_mul, .kind = KIND_INT, .opaque = true}, 2, args);
}

static Node *int_arith(Ir *m, Op op, Node *a, Node *b) {
    if (op == OP_mul) return int_mul(m, a, b);
    Poly p = poly_of(m, a);
    if (op == OP_neg) p = poly_scale(m, p, -1);
    else p = poly_add(m, p, op == OP_sub ? poly_scale(m, poly_of(m, b), -1) : poly_of(m, b));
    return poly_node(m, p);
}

// ---- demands: assertions of what has been evaluated
//
// They stand around arrays as a whole, and, unless terms are raw, as far out as the value is needed: in operands,
// elements and bodies they would hide brackets from the rules, and be met for each element.
//
//     build n (fun i -> p[i] - (assert (evaluated y) "" g)[i])
//     assert (evaluated y) "" (build n (fun i -> p[i] - g[i]))

static bool demands(const Ir *m, const Node *e) {
    return !m->raw && ir_is_demand(e);
}

// e under this demand and another.
static Node *demand(Ir *m, Node *cond, const char *text, Node *e) {
    if (cond->op == OP_lit) return e;
    if (demands(m, e)) cond = ir_evaluated(m, 2, (Node *[]){cond, e->args[0]}), e = e->args[1];
    Node proto = {.op = OP_assert, .kind = e->kind, .rank = e->rank, .shape = e->shape, .nonneg = e->nonneg};
    proto.partial = true, proto.u.text = text;
    return ir_intern(m, &proto, 2, (Node *[]){cond, e});
}

// What a body demands, where it has been evaluated for some value of v; NULL: it depends on v.
static Node *demand_of_all(Ir *m, const Var *v, const Node *body) {
    if (!demands(m, body) || node_has_var(body->args[0], v)) return NULL;
    Node *some = ir_select(m, ir_lt(m, ir_int(m, 0), v->extent), body->args[0], ir_bool(m, true));
    return ir_evaluated(m, 1, &some);
}

static Node *op_by_rules(Ir *m, Op op, Node *a, Node *b) {
    Kind kind = result_kind(op, a, b);
    if (kind == KIND_INT && (op == OP_add || op == OP_sub || op == OP_mul || op == OP_neg)) return int_arith(m, op, a, b);
    if (!m->raw) {
        Node *e = rule_op(m, op, a, b);
        if (e) return e;
    }
    return ir_op_plain(m, op, kind, a, b);
}

Node *ir_op(Ir *m, Op op, Node *a, Node *b) {
    if (demands(m, a)) return demand(m, a->args[0], a->u.text, ir_op(m, op, a->args[1], b));
    if (b && op != OP_and && op != OP_or && demands(m, b))
        return demand(m, b->args[0], b->u.text, ir_op(m, op, a, b->args[1]));
    ArenaMark mark = arena_mark(m->polys);
    Node *e = op_by_rules(m, op, a, b);
    arena_release(m->polys, mark);
    return e;
}

static int extents_from(const Extern *x, int k, int n) {
    for (int i = k; i < x->nresults; i++) n -= x->results[i].rank;
    return n;
}

int ir_extern_extents(const Node *e, int k) { return extents_from(e->u.ext, k, e->nargs); }

Node *ir_extern(Ir *m, Extern *ext, int result, int n, Node **args) {
    const ExternResult *r = &ext->results[result];
    Node proto = {.op = OP_extern, .kind = r->kind, .rank = (uint8_t)r->rank, .result = (uint8_t)result, .u.ext = ext};
    proto.partial = ir_extern_fills(ext);
    proto.shape = arena_copy(m->arena, args + extents_from(ext, result, n), sizeof *args * (size_t)r->rank);
    return ir_intern(m, &proto, n, args);
}

// Applies a scalar builder to every element of an array.
typedef Node *(*Scalar)(Ir *m, void *data, Node *a, Node *b);

static Node *elementwise(Ir *m, Scalar f, void *data, Node *a, Node *b) {
    if (a->rank == 0) return f(m, data, a, b);
    Var *v = ir_index(m, "k", a->shape[0]);
    Node *i = ir_var(v);
    return ir_gen(m, v, elementwise(m, f, data, ir_at1(m, a, i), b ? ir_at1(m, b, i) : NULL));
}

const char ir_int32_text[] = "a result does not fit into Int32: %d";

static bool fits_int32(const Node *a) {
    int64_t k;
    return a->op == OP_conv ? a->args[0]->kind == KIND_INT32 : ir_is_int_lit(a, &k) && k == (int32_t)k;
}

// An element of an argument is as large as what is known of these: that says its bounds.
static Node *measured_element(const Ir *m, Node *e) {
    const Node *least = e->kind == KIND_INT ? ir_measured_bound(m, e, false) : NULL;
    if (!least) return e;
    e->bounded_above = e->bounded_below = true;
    e->nonneg |= least->nonneg;
    return e;
}

static Node *conv_scalar(Ir *m, void *data, Node *a, Node *b) {
    (void)b;
    const Kind to = *(const Kind *)data;
    if (a->kind == to) return a;
    if (demands(m, a)) return demand(m, a->args[0], a->u.text, ir_conv(m, to, a->args[1]));
    bool back = to == KIND_INT32 && a->op == OP_conv && a->args[0]->kind == to;
    if (!m->raw && back && rule(m, RULE_convert_back)) return a->args[0];
    bool number = a->op == OP_lit && a->kind != KIND_BOOL && to != KIND_INT && to != KIND_INT32;
    if (number && rule(m, RULE_convert_literal)) {
        double x = kind_is_float(a->kind) ? a->u.real : to == KIND_FLOAT ? (double)(float)a->u.num : (double)a->u.num;
        return ir_real(m, to, x);
    }
    if (!m->raw && a->op == OP_bracket && kind_is_float(to) && rule(m, RULE_bracket_convert))
        return ir_bracket(m, a->args[0], ir_conv(m, to, a->args[1]));
    Node proto = {.op = OP_conv, .kind = to, .nonneg = to == KIND_INT && a->kind == KIND_BOOL};
    proto.partial = to == KIND_INT32 && !fits_int32(a);
    return measured_element(m, ir_intern(m, &proto, 1, &a));
}

Node *ir_conv(Ir *m, Kind to, Node *a) { return elementwise(m, conv_scalar, &to, a, NULL); }

static Node *stop_scalar(Ir *m, void *data, Node *a, Node *b) {
    (void)data, (void)b;
    if (!kind_is_float(a->kind) || a->op == OP_lit || a->op == OP_stop) return a;
    if (demands(m, a)) return demand(m, a->args[0], a->u.text, ir_stop(m, a->args[1]));
    return ir_intern(m, &(Node){.op = OP_stop, .kind = a->kind}, 1, &a);
}

Node *ir_stop(Ir *m, Node *a) { return elementwise(m, stop_scalar, NULL, a, NULL); }

Node *ir_select_plain(Ir *m, Node *c, Node *a, Node *b) {
    Node *args[] = {c, a, b};
    return ir_intern(m, &(Node){.op = OP_select, .kind = a->kind, .nonneg = a->nonneg && b->nonneg}, 3, args);
}

static Node *select_scalar(Ir *m, void *c, Node *a, Node *b) {
    Node *e = m->raw ? NULL : rule_select(m, c, a, b);
    return e ? e : ir_select_plain(m, c, a, b);
}

Node *ir_select(Ir *m, Node *c, Node *a, Node *b) {
    if (demands(m, c)) return demand(m, c->args[0], c->u.text, ir_select(m, c->args[1], a, b));
    return a == b && !c->partial && rule(m, RULE_select_same) ? a : elementwise(m, select_scalar, c, a, b);
}

Node *ir_bracket_plain(Ir *m, Node *p, Node *e) {
    Node *args[] = {p, e};
    return ir_intern(m, &(Node){.op = OP_bracket, .kind = e->kind, .nonneg = e->nonneg}, 2, args);
}

static Node *bracket_scalar(Ir *m, void *p, Node *e, Node *b) {
    (void)b;
    if (e->kind == KIND_BOOL) return ir_and(m, p, e);
    Node *r = m->raw ? NULL : rule_bracket(m, p, e);
    return r ? r : ir_bracket_plain(m, p, e);
}

Node *ir_bracket(Ir *m, Node *p, Node *e) {
    if (demands(m, p)) return demand(m, p->args[0], p->u.text, ir_bracket(m, p->args[1], e));
    return elementwise(m, bracket_scalar, p, e, NULL);
}

typedef struct Assertion {
    const char *text;
    int nargs;
    Node **args; // the second is the element
} Assertion;

static Node *assert_scalar(Ir *m, void *data, Node *e, Node *b) {
    (void)b;
    Assertion *as = data;
    as->args[1] = e;
    Node proto = {.op = OP_assert, .kind = e->kind, .partial = true, .nonneg = e->nonneg, .u.text = as->text};
    return ir_intern(m, &proto, as->nargs, as->args);
}

const char ir_tape_text[] = "the trace of this loop needs at least %d bytes, and its limit is %d";

static const char no_smallest[] = "an empty array has no smallest element";
static const char no_largest[] = "an empty array has no largest element";

int ir_assert_code(const Node *e) {
    if (!strcmp(e->u.text, no_smallest) || !strcmp(e->u.text, no_largest)) return FSM_ERROR_BOUNDS;
    return strcmp(e->u.text, ir_tape_text) ? FSM_ERROR_ASSERT : FSM_ERROR_TAPE;
}

Node *ir_assert_values(Ir *m, Node *cond, const char *text, Node *value, int n, Node *const *values) {
    if (cond->op == OP_lit && cond->u.num && rule(m, RULE_assert_true)) return value;
    if (cond->op == OP_evaluated) return demand(m, cond, arena_strdup(m->arena, text), value);
    Assertion as = {arena_strdup(m->arena, text), 2 + n, ARENA_ARRAY(m->arena, Node *, 2 + n)};
    as.args[0] = cond;
    for (int i = 0; i < n; i++) as.args[2 + i] = values[i];
    return elementwise(m, assert_scalar, &as, value, NULL);
}

static const char ir_demand_text[] = "not evaluated"; // which it never is

Node *ir_demand(Ir *m, Node *check, Node *e) { return ir_assert(m, check, ir_demand_text, e); }

// Is e computed of the atom, by operations alone? Yes, if that takes too long to say.
static bool is_computed_of(const Node *e, const Node *atom, int *fuel) {
    if (e == atom || --*fuel < 0) return true;
    if (e->id < atom->id || !op_is_elementwise(e->op)) return false;
    for (int k = 0; k < e->nargs; k++)
        if (is_computed_of(e->args[k], atom, fuel)) return true;
    return false;
}

static bool keeps_errors(Ir *m, const Node *e, Node *of) {
    const Poly p = poly_of(m, of);
    int fuel = 256;
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k < p.term[i].n; k++)
            if (p.term[i].atom[k]->partial && !is_computed_of(e, p.term[i].atom[k], &fuel)) return false;
    return true;
}

Node *ir_keep_errors(Ir *m, Node *e, Node *a, Node *b) {
    Node *lost[2];
    int n = 0;
    ArenaMark mark = arena_mark(m->polys);
    if (a->partial && a->kind == KIND_INT && !keeps_errors(m, e, a)) lost[n++] = a;
    if (b && b != a && b->partial && b->kind == KIND_INT && !keeps_errors(m, e, b)) lost[n++] = b;
    arena_release(m->polys, mark);
    return n ? ir_demand(m, ir_evaluated(m, n, lost), e) : e;
}

Node *ir_assert(Ir *m, Node *cond, const char *text, Node *value) { return ir_assert_values(m, cond, text, value, 0, NULL); }

const char *ir_assert_text(Arena *a, const Node *e) {
    static const char place[] = " = %d";
    if (e->nargs == 2) return e->u.text;
    Str s = {0};
    for (const char *p = e->u.text, *q; *p; p = q) {
        q = strstr(p, place);
        if (!q) q = p + strlen(p);
        str_printf(&s, "%.*s", (int)(q - p), p);
        if (*q) q += sizeof place - 1;
    }
    const char *text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}

static Node *add_scalar(Ir *m, void *data, Node *a, Node *b) {
    (void)data;
    return ir_add(m, a, b);
}

Node *ir_plus(Ir *m, Node *a, Node *b) { return elementwise(m, add_scalar, NULL, a, b); }

static Node *zero_scalar(Ir *m, void *data, Node *a, Node *b) {
    (void)data, (void)b;
    return ir_zero(m, a->kind);
}

Node *ir_zeros_like(Ir *m, Node *a) {
    if (a->rank == 0) return ir_zero(m, a->kind);
    Var *v[16];
    for (int k = 0; k < a->rank; k++) v[k] = ir_index(m, "k", a->shape[k]);
    Node *e = zero_scalar(m, NULL, a, NULL);
    for (int k = a->rank; k-- > 0;) e = ir_gen(m, v[k], e);
    return e;
}

// ---- arrays

const char *ir_bounds_text(const Node *index, int *nvalues) {
    *nvalues = 0;
    if (index->op == OP_argmin) return no_smallest;
    if (index->op == OP_argmax) return no_largest;
    *nvalues = 2;
    return "index %d is out of range for an array of %d elements";
}

Node *ir_at(Ir *m, Node *a, int n, Node **idx) {
    if (n == 0) return a;
    if (n < a->rank) {
        Var *v = ir_index(m, "k", a->shape[n]);
        Node **more = ARENA_ARRAY(m->arena, Node *, n + 1);
        memcpy(more, idx, sizeof *idx * (size_t)n);
        more[n] = ir_var(v);
        return ir_gen(m, v, ir_at(m, a, n + 1, more));
    }
    if (demands(m, a)) return demand(m, a->args[0], a->u.text, ir_at(m, a->args[1], n, idx));
    if (!m->raw) {
        Node *e = rule_at(m, a, n, idx);
        if (e) return e;
    }
    Node **args = ARENA_ARRAY(m->arena, Node *, n + 1);
    args[0] = a;
    memcpy(args + 1, idx, sizeof *idx * (size_t)n);
    Node proto = {.op = OP_at, .kind = a->kind, .nonneg = ir_nonneg_elements(a)};
    may_fail(m, &proto, is_inside, n + 1, args);
    return measured_element(m, ir_intern(m, &proto, n + 1, args));
}

// Is v bound again inside body where it must not be? When planning it may be, except by gens directly inside each other,
// which are spoken of by their variables.
static bool shadowed(const Ir *m, Op op, const Var *v, const Node *body) {
    if (!m->planning) return ir_binds(body, v);
    for (; op == OP_gen && body->op == OP_gen; body = body->args[0])
        if (body->u.var == v) return true;
    return false;
}

// A binder's variable must not be bound again inside its body: rename it there if it is.
static Node *unshadowed(Ir *m, Op op, Var **v, Node *body) {
    if (!shadowed(m, op, *v, body)) return body;
    Var *w = ir_index_like(m, *v, (*v)->extent);
    body = ir_subst1(m, body, ir_var(*v), ir_var(w));
    *v = w;
    return body;
}

Node *ir_binder_plain(Ir *m, Op op, Var *v, Node *body) {
    body = unshadowed(m, op, &v, body);
    Node proto = {.op = op, .kind = body->kind, .u.var = v};
    if (op == OP_sum) {
        proto.nonneg = body->nonneg && ir_bounded(body);
        proto.rank = body->rank;
        proto.shape = body->shape;
    } else if (op == OP_gen) {
        proto.rank = (uint8_t)(body->rank + 1);
        proto.shape = ARENA_ARRAY(m->arena, Node *, proto.rank);
        proto.shape[0] = v->extent;
        for (int k = 0; k < body->rank; k++) proto.shape[k + 1] = body->shape[k];
        may_fail(m, &proto, is_size, 1, &v->extent);
    } else {
        proto.nonneg = poly_nonneg(m, poly_of(m, ir_sub(m, v->extent, ir_int(m, 1))));
        proto.kind = KIND_INT;
    }
    return ir_intern(m, &proto, 1, &body);
}

Node *ir_gen(Ir *m, Var *v, Node *body) {
    Node *all = demand_of_all(m, v, body);
    if (all) return demand(m, all, body->u.text, ir_gen(m, v, body->args[1]));
    Node *e = m->raw ? NULL : rule_gen(m, v, body);
    return e ? e : ir_binder_plain(m, OP_gen, v, body);
}

static Node *sum_scalar(Ir *m, void *v, Node *body, Node *b) {
    (void)b;
    Node *all = demand_of_all(m, v, body);
    if (all) return demand(m, all, body->u.text, ir_sum(m, v, body->args[1]));
    Node *e = m->raw ? NULL : rule_sum(m, v, body);
    return e ? e : ir_binder_plain(m, OP_sum, v, body);
}

Node *ir_sum(Ir *m, Var *v, Node *body) { return elementwise(m, sum_scalar, v, body, NULL); }

static Node *arg_extreme(Ir *m, Op op, Var *v, Node *body) {
    if (!m->raw && !node_has_var(body, v) && !body->partial && rule(m, RULE_extreme_of_constant))
        return ir_select(m, ir_lt(m, ir_int(m, 0), v->extent), ir_int(m, 0), ir_int(m, -1));
    return ir_binder_plain(m, op, v, body);
}

Node *ir_argmin(Ir *m, Var *v, Node *body) { return arg_extreme(m, OP_argmin, v, body); }
Node *ir_argmax(Ir *m, Var *v, Node *body) { return arg_extreme(m, OP_argmax, v, body); }

Node *ir_pack(Ir *m, Kind kind, int rank, const int64_t *extents, Node **elems) {
    Node proto = {.op = OP_pack, .kind = kind, .rank = (uint8_t)rank, .shape = ARENA_ARRAY(m->arena, Node *, rank)};
    int64_t n = 1;
    for (int k = 0; k < rank; k++) {
        proto.shape[k] = ir_int(m, extents[k]);
        n *= extents[k];
    }
    return ir_intern(m, &proto, (int)n, elems);
}

// ---- loops

// Gives a loop variables of its own where an initial value or a step's inner binder already uses them.
static void fresh_loop_vars(Ir *m, Var **index, int n, Var **states, Node **inits, int nsteps, Node **steps, Node **cond) {
    bool clash = false;
    for (int k = 0; k < n; k++) {
        clash |= *index && node_has_var(inits[k], *index);
        for (int j = 0; j < n; j++) clash |= node_has_var(inits[k], states[j]);
    }
    for (int k = 0; k < nsteps; k++) {
        clash |= *index && ir_binds(steps[k], *index);
        for (int j = 0; j < n; j++) clash |= ir_binds(steps[k], states[j]);
    }
    if (!clash) return;
    Node **from = ARENA_ARRAY(m->arena, Node *, n + 1), **to = ARENA_ARRAY(m->arena, Node *, n + 1);
    for (int k = 0; k < n; k++) {
        Var *s = ir_state(m, states[k]->name, states[k]->kind, states[k]->rank, states[k]->shape);
        from[k] = ir_var(states[k]), to[k] = ir_var(s), states[k] = s;
    }
    int count = n;
    if (*index) {
        Var *i = ir_index_like(m, *index, (*index)->extent);
        from[count] = ir_var(*index), to[count++] = ir_var(i), *index = i;
    }
    for (int k = 0; k < nsteps; k++) steps[k] = ir_subst(m, steps[k], count, from, to);
    if (cond) *cond = ir_subst(m, *cond, count, from, to);
}

static Node *loop_plain(Ir *m, Op op, const Loop *like, Node **inits, Node *cond, Node **steps, Node **outputs) {
    int n = like->n, nbodies = n + like->nout, extra = cond ? 1 : 0;
    Loop *l = ARENA_NEW(m->arena, Loop);
    Var **vars = ARENA_ARRAY(m->arena, Var *, n + 1), *index = like->index;
    *l = (Loop){.n = n,
                .state = vars + 1,
                .nout = like->nout,
                .levels = like->levels,
                .limit = like->limit,
                .block = like->block,
                .follows = like->follows};
    memcpy(l->state, like->state, sizeof *vars * (size_t)n);
    Node **args = ARENA_ARRAY(m->arena, Node *, n + extra + nbodies), **bodies = args + n + extra;
    memcpy(args, inits, sizeof *args * (size_t)n);
    memcpy(bodies, steps, sizeof *args * (size_t)n);
    if (like->nout) memcpy(bodies + n, outputs, sizeof *args * (size_t)like->nout);
    fresh_loop_vars(m, &index, n, l->state, inits, nbodies, bodies, cond ? &cond : NULL);
    if (cond) args[n] = cond;
    vars[0] = l->index = index;
    Node proto = {.op = op, .kind = KIND_BOOL, .u.loop = l};
    proto.partial = cond && !ir_ends(m, cond, n, l->state, bodies);
    return ir_intern(m, &proto, n + extra + nbodies, args);
}

Node *ir_fold_out(Ir *m, const Loop *l, Node **inits, Node **steps, Node **outputs) {
    return loop_plain(m, OP_fold, l, inits, NULL, steps, outputs);
}

Node *ir_while_out(Ir *m, const Loop *l, Node **inits, Node *cond, Node **steps, Node **outputs) {
    return loop_plain(m, OP_while, l, inits, cond, steps, outputs);
}

Node *ir_fold(Ir *m, Var *index, int n, Var **states, Node **inits, Node **steps) {
    Loop l = {.index = index, .n = n, .state = states};
    return ir_fold_out(m, &l, inits, steps, NULL);
}

Node *ir_while(Ir *m, int n, Var **states, Node **inits, Node *cond, Node **steps) {
    Loop l = {.n = n, .state = states};
    return ir_while_out(m, &l, inits, cond, steps, NULL);
}

Node *ir_loop_like(Ir *m, const Node *loop, const Loop *l, Node **args) {
    Loop like = *l;
    like.nout = ir_loop(loop)->nout;
    Node **steps = args + loop_steps(loop), **outputs = steps + l->n;
    if (loop->op == OP_fold) return ir_fold_out(m, &like, args, steps, outputs);
    return ir_while_out(m, &like, args, args[l->n], steps, outputs);
}

// The states that e, a value in the loop's body, is computed from, and those that these are computed from.
static void mark_needed(const Node *loop, const Node *e, bool *needed) {
    const Loop *l = ir_loop(loop);
    for (int j = 0; j < l->n; j++) {
        if (needed[j] || !node_has_var(e, l->state[j])) continue;
        needed[j] = true;
        mark_needed(loop, loop_step(loop, j), needed);
    }
}

// The loop without the demands that initial values stand under of which its result is computed: `step` is what gives
// the result in its body. *cond and *text get these demands; NULL: there are none.
static Node *without_demands(Ir *m, Node *loop, const Node *step, Node **cond, const char **text) {
    const Loop *l = ir_loop(loop);
    bool any = false;
    for (int j = 0; j < l->n; j++) any |= demands(m, loop_init(loop, j));
    if (!any) return NULL;
    bool *needed = ARENA_ARRAY(m->arena, bool, l->n);
    mark_needed(loop, step, needed);
    if (loop->op == OP_while) mark_needed(loop, loop_cond(loop), needed);
    Node **args = arena_copy(m->arena, loop->args, sizeof *args * (size_t)loop->nargs);
    *cond = NULL;
    for (int j = 0; j < l->n; j++) {
        Node *init = loop_init(loop, j);
        if (!needed[j] || !demands(m, init)) continue;
        *cond = *cond ? ir_evaluated(m, 2, (Node *[]){*cond, init->args[0]}) : init->args[0];
        *text = init->u.text;
        args[j] = init->args[1];
    }
    return *cond ? ir_loop_like(m, loop, l, args) : NULL;
}

Node *ir_final(Ir *m, Node *loop, int k) {
    Node *e = rule_final(m, loop, k), *cond;
    if (e) return e;
    const char *text;
    Node *plain = without_demands(m, loop, loop_step(loop, k), &cond, &text);
    if (plain) return demand(m, cond, text, ir_final(m, plain, k));
    Node *init = loop_init(loop, k);
    Node proto = {.op = OP_final, .kind = init->kind, .rank = init->rank, .shape = init->shape, .u.num = k};
    return ir_intern(m, &proto, 1, &loop);
}

Node *ir_trips(Ir *m, Node *extent) { return extent->nonneg ? extent : ir_max(m, ir_int(m, 0), extent); }

Node *ir_count(Ir *m, Node *loop) {
    if (loop->op == OP_fold) return ir_trips(m, ir_loop(loop)->index->extent);
    Node *e = rule_count(m, loop);
    if (e) return e;
    return ir_intern(m, &(Node){.op = OP_count, .kind = KIND_INT, .nonneg = true}, 1, &loop);
}

Node *ir_trace(Ir *m, Node *loop, int k) {
    Node *e = rule_trace(m, loop, k), *cond;
    if (e) return e;
    const char *text;
    Node *plain = without_demands(m, loop, loop_output(loop, k), &cond, &text);
    if (plain) return demand(m, cond, text, ir_trace(m, plain, k));
    Node *out = loop_output(loop, k);
    Node proto = {.op = OP_trace, .kind = out->kind, .rank = (uint8_t)(out->rank + 1), .u.num = k};
    proto.shape = ARENA_ARRAY(m->arena, Node *, out->rank + 1);
    proto.shape[0] = ir_count(m, loop);
    for (int d = 0; d < out->rank; d++) proto.shape[d + 1] = out->shape[d];
    return ir_intern(m, &proto, 1, &loop);
}

// ---- functions with derivatives of their own

Node *ir_custom(Ir *m, const Loop *loop, Node **inits, Node **bodies) {
    int n = loop->n, nbodies = loop->ny + ir_custom_rules(loop);
    Loop *l = arena_copy(m->arena, loop, sizeof *loop);
    Var *none = NULL;
    l->state = arena_copy(m->arena, loop->state, sizeof(Var *) * (size_t)n);
    Node **args = ARENA_ARRAY(m->arena, Node *, n + nbodies);
    memcpy(args, inits, sizeof *args * (size_t)n);
    memcpy(args + n, bodies, sizeof *args * (size_t)nbodies);
    fresh_loop_vars(m, &none, n, l->state, args, nbodies, args + n, NULL);
    return ir_intern(m, &(Node){.op = OP_custom, .kind = KIND_BOOL, .u.loop = l}, n + nbodies, args);
}

Node *ir_custom_put(Ir *m, Node *custom, Node *e) {
    const Loop *l = custom->u.loop;
    Node **from = ARENA_ARRAY(m->arena, Node *, l->n);
    for (int k = 0; k < l->n; k++) from[k] = ir_var(l->state[k]);
    return ir_subst(m, e, l->n, from, custom->args);
}

Node *ir_result(Ir *m, Node *custom, int k) {
    const Node *body = custom->args[custom->u.loop->n + k];
    Node proto = {.op = OP_result, .kind = body->kind, .rank = body->rank, .u.num = k};
    proto.shape = ARENA_ARRAY(m->arena, Node *, body->rank);
    for (int d = 0; d < body->rank; d++) proto.shape[d] = ir_custom_put(m, custom, body->shape[d]);
    return ir_intern(m, &proto, 1, &custom);
}
