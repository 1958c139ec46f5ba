// Prints a function as F̃. fsm_plan.c decides what is bound by `let`; this file writes expressions, with as few
// parentheses as precedence allows and laid out as the layout rule asks for.
#include "ir/fsm_print.h"

#include "ir/fsm_plan.h"
#include "support/doc.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100 };

// Precedence: twice that of ops.def. A bracket binds less than a product: it guards all factors to its right.
enum { PREC_ANY = 0, PREC_BRACKET = 13, PREC_PRODUCT = 14, PREC_PREFIX = 16, PREC_APPLY = 20, PREC_ATOM = 21 };

typedef struct Exp {
    const Doc *d;
    int prec;
    bool hugs; // begins on the line of what stands before it also if it is broken
} Exp;

typedef struct Printer {
    const Func *func;
    Arena *arena; // of this call
    Plan plan;
    bool used[OP_COUNT];      // operations that the text names
    const char **input_names; // by number
    bool before_lets;         // types of parameters are printed, whose sizes cannot name what the body has
} Printer;

// The parts of a result as they are written.
typedef struct Result {
    enum { RES_VALUE, RES_TUPLE, RES_ARRAY } form;
    Node *value;  // RES_VALUE; RES_ARRAY: its extent
    Region *body; // RES_ARRAY of tuples
    int nparts;
    struct Result **parts;
} Result;

static Exp expr(Printer *p, Node *e, Region *r);
static const Doc *block(Printer *p, Region *r, int n, Node *const *values);

// ---- pieces

static const Doc *text(Printer *p, const char *s) { return doc_text(p->arena, s); }
#define CAT(...) DOC_CAT(p->arena, __VA_ARGS__)

static Exp atom(Printer *p, const char *s) { return (Exp){text(p, s), PREC_ATOM, false}; }

static const Doc *in_parens(Printer *p, const Doc *d) { return CAT(text(p, "("), doc_align(p->arena, d), text(p, ")")); }

static const Doc *at_least(Printer *p, Exp e, int prec) { return e.prec >= prec ? e.d : in_parens(p, doc_group(p->arena, e.d)); }

static const Doc *operand(Printer *p, Node *e, Region *r, int prec) { return at_least(p, expr(p, e, r), prec); }

static const Doc *indented(Printer *p, const Doc *d) { return doc_nest(p->arena, 2, CAT(doc_line(p->arena), d)); }

// Parts on one line or on one each: `open` a `separator` b … `close`.
static const Doc *list(Printer *p, const char *open, const char *separator, const char *close, int n, const Doc *const *parts) {
    const Doc **d = ARENA_ARRAY(p->arena, const Doc *, 3 * n);
    int k = 0;
    for (int i = 0; i < n; i++) {
        if (i) d[k++] = text(p, separator), d[k++] = doc_line(p->arena);
        d[k++] = parts[i];
    }
    const Doc *inside = doc_align(p->arena, doc_cat(p->arena, k, d));
    return doc_group(p->arena, CAT(text(p, open), inside, text(p, close)));
}

static const Doc *tuple(Printer *p, int n, const Doc *const *parts) { return list(p, "(", ",", ")", n, parts); }

// In a tuple an `if` stands in parentheses: its `else` part would take the rest of the tuple.
static const Doc *part(Printer *p, Exp e) { return at_least(p, e, PREC_ANY + 1); }

static Exp apply(Printer *p, const char *name, int n, const Doc *const *args) {
    const Doc **d = ARENA_ARRAY(p->arena, const Doc *, n);
    for (int i = 0; i < n; i++) d[i] = CAT(doc_line(p->arena), args[i]);
    const Doc *rest = doc_nest(p->arena, 2, doc_cat(p->arena, n, d));
    return (Exp){doc_group(p->arena, CAT(text(p, name), rest)), PREC_APPLY, false};
}

// (fun params -> body), whose body may stand on lines of its own.
static const Doc *lambda(Printer *p, const char *params, const Doc *body) {
    const char *head = arena_printf(p->arena, "(fun %s ->", params);
    return CAT(text(p, head), doc_group(p->arena, indented(p, body)), text(p, ")"));
}

// ---- literals and names

// The shortest text that reads back as x, of that kind; with an exponent only where that is much shorter.
static const char *decimal(Printer *p, double x, Kind kind) {
    char text[64];
    int digits = 0, exponent = 0;
    do snprintf(text, sizeof text, "%.*e", digits, x);
    while ((kind == KIND_FLOAT ? (double)strtof(text, NULL) != x : strtod(text, NULL) != x) && digits++ < 17);
    char *e = strchr(text, 'e');
    exponent = atoi(e + 1);
    if (exponent < -5 || exponent > 15) {
        *e = 0;
        return arena_printf(p->arena, "%se%d", text, exponent);
    }
    int places = digits > exponent ? digits - exponent : 1;
    return arena_printf(p->arena, "%.*f", places, strtod(text, NULL));
}

static Exp real_literal(Printer *p, double x, Kind kind) {
    if (isnan(x)) return (Exp){text(p, "0.0 / 0.0"), PREC_PRODUCT, false};
    if (isinf(x)) return (Exp){text(p, x < 0 ? "-1.0 / 0.0" : "1.0 / 0.0"), PREC_PRODUCT, false};
    Exp e = atom(p, decimal(p, x, kind));
    if (signbit(x)) e.prec = PREC_PREFIX;
    return e;
}

static Exp literal(Printer *p, const Node *e) {
    if (e->kind == KIND_BOOL) return atom(p, e->u.num ? "true" : "false");
    if (kind_is_float(e->kind)) return real_literal(p, e->u.real, e->kind);
    Exp x = atom(p, arena_printf(p->arena, "%lld", (long long)e->u.num));
    if (e->u.num < 0) x.prec = PREC_PREFIX;
    return x;
}

static const char *var_name(const Var *v, const Region *r) {
    for (; r; r = r->parent)
        for (int i = 0; i < r->nvars; i++)
            if (r->vars[i] == v) return r->names[i];
    fatal_bug("fsm_print: an unbound variable");
}

static const char *const conversion[] = {"int", "int", "int", "float", "double"};

// ---- elementwise operations

static int op_prec(const Node *e) { return 2 * op_info[e->op].prec; }

// Would elaboration refuse the text of e, because evaluating it is certain to fail?
static bool is_refused(const Node *e) {
    int64_t k, n;
    if (e->op == OP_idiv || e->op == OP_irem) return ir_is_zero(e->args[1]);
    if (e->op == OP_gen) return ir_is_int_lit(e->u.var->extent, &n) && n < 0;
    for (int i = 1; e->op == OP_at && i < e->nargs; i++)
        if (ir_is_int_lit(e->args[i], &k) && (k < 0 || (ir_is_int_lit(e->args[0]->shape[i - 1], &n) && k >= n))) return true;
    return false;
}

// Is e printed as an operator's application, not by a name?
static bool is_infix(Printer *p, const Node *e, const Region *r) {
    if (!op_is_elementwise(e->op) || op_info[e->op].form != FSM_IN || is_refused(e)) return false;
    Place *pl = plan_find(&p->plan, e, r);
    return !pl || !pl->let;
}

static bool is_remainder(const Node *e) { return e->op == OP_rem || e->op == OP_irem; }

// Small products of sizes and indices are written without spaces: 2*n.
static bool is_tight(const Node *e) {
    if (e->op == OP_mul && e->kind == KIND_INT) return is_tight(e->args[0]) && is_tight(e->args[1]);
    return (e->op == OP_lit && e->u.num >= 0) || e->op == OP_input || (e->op == OP_var && !e->rank);
}

static Exp tight_product(Printer *p, Node *e, Region *r) {
    if (e->op != OP_mul) return expr(p, e, r);
    const Doc *d = CAT(tight_product(p, e->args[0], r).d, text(p, "*"), tight_product(p, e->args[1], r).d);
    return (Exp){d, PREC_PRODUCT, false};
}

// Where e stands in a product: literals first, then arguments and their elements in order, loops last.
static int64_t factor_order(Printer *p, const Node *e, const Region *r) {
    enum { OTHER = 1 << 20, LOOP };
    while (e->op == OP_neg) e = e->args[0];
    if (e->op == OP_lit) return -1;
    const Node *a = e->op == OP_at ? e->args[0] : e;
    if (a->op == OP_input) return a->u.num;
    Place *pl = plan_find(&p->plan, e, r);
    return ir_is_binder(e) && pl && !pl->let ? LOOP : OTHER;
}

// e, a product of two factors, with these in order.
static Node *in_order(Printer *p, Node *e, const Region *r) {
    if (e->op != OP_mul || factor_order(p, e->args[0], r) <= factor_order(p, e->args[1], r)) return e;
    Node *swapped = arena_alloc(p->arena, sizeof *e + 2 * sizeof *e->args);
    *swapped = *e;
    swapped->args[0] = e->args[1], swapped->args[1] = e->args[0];
    return swapped;
}

// A chain of left-associative operators of one precedence, its first operand after `prefix`.
static Exp chain(Printer *p, Node *e, Region *r, const char *prefix) {
    int prec = op_prec(e), n = 0;
    Node *left = e;
    do left = left->args[0], n++;
    while (is_infix(p, left, r) && op_prec(left) == prec);
    const Doc **d = ARENA_ARRAY(p->arena, const Doc *, n);
    left = e;
    for (int k = n; k-- > 0; left = left->args[0]) {
        const char *sign = arena_printf(p->arena, "%s ", op_info[left->op].sym);
        if (k == 0) left = in_order(p, left, r);
        d[k] = CAT(doc_line(p->arena), text(p, sign), operand(p, left->args[1], r, prec + 1));
    }
    const Doc *first = CAT(text(p, prefix), operand(p, left, r, *prefix ? PREC_PREFIX + 1 : prec));
    const Doc *rest = doc_nest(p->arena, 2, doc_cat(p->arena, n, d));
    return (Exp){doc_group(p->arena, CAT(first, rest)), prec, false};
}

static Exp infix(Printer *p, Node *a, const char *op, Node *b, int prec, int left, int right, Region *r) {
    const Doc *rest = CAT(doc_line(p->arena), text(p, arena_printf(p->arena, "%s ", op)), operand(p, b, r, right));
    const Doc *d = CAT(operand(p, a, r, left), doc_nest(p->arena, 2, rest));
    return (Exp){doc_group(p->arena, d), prec, false};
}

// The side of an equation on which e stands: variables come first, the outer ones before the inner; literals come last.
static int side(const Node *e, const Region *r) {
    enum { OTHER = 1000, LITERAL };
    if (e->op == OP_lit) return LITERAL;
    if (e->op != OP_var) return OTHER;
    int depth = 0;
    for (bool bound = false; r; r = r->parent) {
        for (int i = 0; i < r->nvars; i++) bound |= r->vars[i] == e->u.var;
        depth += bound;
    }
    return depth;
}

// i < n + 1 is written i <= n.
static Exp comparison(Printer *p, Node *e, Region *r) {
    Node *a = e->args[0], *b = e->args[1];
    const char *op = op_info[e->op].sym;
    int prec = op_prec(e);
    int64_t one;
    bool less = e->op == OP_lt || e->op == OP_le;
    if (e->op == OP_lt && b->op == OP_add && ir_is_int_lit(b->args[1], &one) && one == 1) b = b->args[0], op = "<=";
    if (less ? a->op == OP_lit && b->op != OP_lit : side(b, r) < side(a, r)) {
        Node *swap = a;
        a = b, b = swap;
        if (less) op = op[1] ? ">=" : ">";
    }
    return infix(p, a, op, b, prec, prec + 1, prec + 1, r);
}

static Exp prefix(Printer *p, Node *e, Region *r) {
    Node *a = e->args[0];
    if (e->op == OP_neg && (a->op == OP_mul || a->op == OP_div) && is_infix(p, a, r)) return chain(p, a, r, "-");
    const Doc *d = CAT(text(p, op_info[e->op].sym), operand(p, a, r, PREC_PREFIX + 1));
    return (Exp){d, PREC_PREFIX, false};
}

static Exp elementwise(Printer *p, Node *e, Region *r) {
    const OpInfo *info = &op_info[e->op];
    if (info->form == FSM_PRE) return prefix(p, e, r);
    if (info->form == FSM_IN) {
        if (info->type == T_CMP) return comparison(p, e, r);
        if (e->op == OP_pow || e->op == OP_powi)
            return infix(p, e->args[0], info->sym, e->args[1], op_prec(e), PREC_APPLY, PREC_PREFIX, r);
        if (is_tight(e)) return tight_product(p, e, r);
        return chain(p, e, r, "");
    }
    const Doc *args[2];
    for (int k = 0; k < e->nargs; k++) args[k] = operand(p, e->args[k], r, PREC_ATOM);
    return apply(p, info->sym, e->nargs, args);
}

// ---- types of literals

// A conversion from or to Int32, which F̃ does not write: it is how arguments and results are stored.
static bool is_storage(const Node *e) { return e->op == OP_conv && (e->kind == KIND_INT32 || e->args[0]->kind == KIND_INT32); }

// Would type inference find by itself that the text of e is a Float? A literal alone is a Double.
static bool is_float_text(const Node *e) {
    if (e->kind != KIND_FLOAT || e->op == OP_lit) return false;
    int from = e->op == OP_bracket || e->op == OP_select || e->op == OP_assert;
    if (!(op_is_elementwise(e->op) || from || ir_is_binder(e) || e->op == OP_pack)) return true;
    for (int k = from; k < e->nargs; k++)
        if (is_float_text(e->args[k])) return true;
    return false;
}

// The text of e where nothing around it says what its type is.
static Exp untyped(Printer *p, Node *e, Region *r) {
    if (e->kind != KIND_FLOAT || e->rank || is_float_text(e)) return expr(p, e, r);
    const Doc *arg = operand(p, e, r, PREC_ATOM);
    return apply(p, "float", 1, &arg);
}

// ---- structure

static Exp conditional(Printer *p, Node *e, Region *r, Place *pl) {
    const Doc *d = text(p, ""), *word = text(p, "if ");
    for (;;) {
        const Doc *cond = CAT(word, expr(p, e->args[0], r).d, text(p, " then"));
        d = CAT(d, cond, indented(p, block(p, pl->sub[0], 1, &e->args[1])), doc_line(p->arena));
        Node *other = e->args[2];
        Place *next = plan_find(&p->plan, other, pl->sub[1]);
        if (other->op != OP_select || !next || next->let || pl->sub[1]->lets) break;
        word = text(p, "elif ");
        r = pl->sub[1], e = other, pl = next;
    }
    d = CAT(d, text(p, "else"), indented(p, block(p, pl->sub[1], 1, &e->args[2])));
    return (Exp){doc_group(p->arena, d), PREC_ANY, false};
}

// Does the chain of factors that e begins hold a `%`, which a bracket before it would not guard?
static bool holds_remainder(Printer *p, Node *e, const Region *r) {
    for (; is_infix(p, e, r) && op_prec(e) == PREC_PRODUCT; e = e->args[0])
        if (is_remainder(e)) return true;
    return false;
}

static Exp bracket(Printer *p, Node *e, Region *r, Place *pl) {
    Node *value = e->args[1];
    Region *inside = pl->sub[0];
    const Doc *cond = CAT(text(p, "["), doc_align(p->arena, expr(p, e->args[0], r).d), text(p, "] * "));
    const Doc *d = inside->lets ? in_parens(p, block(p, inside, 1, &value))
                                : operand(p, value, inside, PREC_PRODUCT + holds_remainder(p, value, inside));
    return (Exp){CAT(cond, d), PREC_BRACKET, false};
}

static Exp build(Printer *p, const char *name, Node *extent, Region *r, const char *index, const Doc *body) {
    const Doc *head = CAT(text(p, name), text(p, " "), operand(p, extent, r, PREC_ATOM), text(p, " "));
    return (Exp){doc_group(p->arena, CAT(head, lambda(p, index, body))), PREC_APPLY, true};
}

// The array whose elements the body of e reads in order, or NULL.
static Node *whole_array(const Node *e) {
    Node *body = e->args[0];
    if (body->op != OP_at || body->nargs != 2 || body->args[1] != ir_var(e->u.var)) return NULL;
    Node *a = body->args[0];
    return a->shape[0] == e->u.var->extent && !node_has_var(a, e->u.var) ? a : NULL;
}

static Exp binder(Printer *p, Node *e, Region *r, Place *pl) {
    Node *whole = e->op == OP_argmin || e->op == OP_argmax ? whole_array(e) : NULL;
    if (whole) {
        const Doc *arg = operand(p, whole, pl->sub[0], PREC_ATOM);
        return apply(p, op_info[e->op].name, 1, &arg);
    }
    const Doc *body = block(p, pl->sub[0], 1, e->args);
    const char *name = e->op == OP_sum ? "sum" : "build";
    Exp array = build(p, name, e->u.var->extent, r, pl->sub[0]->names[0], body);
    if (e->op == OP_gen || e->op == OP_sum) return array;
    const Doc *d = CAT(text(p, op_info[e->op].name), text(p, " ("), array.d, text(p, ")"));
    return (Exp){doc_group(p->arena, d), PREC_APPLY, true};
}

static const char *name_list(Printer *p, int n, const char *const *names) {
    if (n == 1) return names[0];
    Str s = {0};
    for (int k = 0; k < n; k++) str_printf(&s, "%s%s", k ? ", " : "(", names[k] ? names[k] : "_");
    str_putc(&s, ')');
    const char *result = arena_strdup(p->arena, str_text(&s));
    str_free(&s);
    return result;
}

static const Doc *states(Printer *p, Node *const *e, int n, Region *r) {
    const Doc **d = ARENA_ARRAY(p->arena, const Doc *, n);
    for (int k = 0; k < n; k++) d[k] = at_least(p, untyped(p, e[k], r), n == 1 ? PREC_ATOM : PREC_ANY + 1);
    return n == 1 ? d[0] : tuple(p, n, d);
}

static Exp loop(Printer *p, Node *e, Region *r, Place *pl) {
    Loop *l = ir_loop(e);
    int n = l->n;
    const char *params = name_list(p, n, pl->sub[0]->names);
    const Doc *init = states(p, e->args, n, r), *step, *d;
    if (l->index) params = arena_printf(p->arena, "%s %s", params, pl->sub[0]->names[n]);
    step = lambda(p, params, block(p, pl->sub[0], n, e->args + loop_steps(e)));
    if (l->index) {
        d = CAT(text(p, "ifold "), step, text(p, " "), init, text(p, " "), operand(p, l->index->extent, r, PREC_ATOM));
    } else {
        const Doc *cond = lambda(p, name_list(p, n, pl->sub[1]->names), block(p, pl->sub[1], 1, &e->args[n]));
        d = CAT(text(p, "whileLoop "), cond, text(p, " "), step, text(p, " "), init);
    }
    return (Exp){doc_group(p->arena, d), PREC_APPLY, true};
}

static Exp final(Printer *p, Node *e, Region *r) {
    Node *l = e->args[0];
    if (!plan_is_multiple(l)) return expr(p, l, r);
    return atom(p, plan_find(&p->plan, l, r)->names[e->u.num]);
}

// Zero elements have no text that says of which type they are; build gives it.
static Exp empty_array(Printer *p, const Node *e) {
    Str s = {0};
    for (int k = 0; k < e->rank; k++) str_printf(&s, "build %lld (fun _ -> ", (long long)e->shape[k]->u.num);
    static const char *const zero[] = {"false", "0", "0", "float 0.0", "0.0"};
    str_puts(&s, zero[e->kind]);
    for (int k = 0; k < e->rank; k++) str_putc(&s, ')');
    Exp x = {text(p, arena_strdup(p->arena, str_text(&s))), PREC_APPLY, false};
    str_free(&s);
    return x;
}

static const Doc *pack_level(Printer *p, const Node *e, int level, Node *const **next, Region *r) {
    int n = (int)e->shape[level]->u.num;
    const Doc **d = ARENA_ARRAY(p->arena, const Doc *, n);
    for (int k = 0; k < n; k++) d[k] = level + 1 < e->rank ? pack_level(p, e, level + 1, next, r) : untyped(p, *(*next)++, r).d;
    return list(p, "[| ", ";", " |]", n, d);
}

static Exp pack(Printer *p, Node *e, Region *r) {
    if (!e->nargs) return empty_array(p, e);
    Node *const *next = e->args;
    return (Exp){pack_level(p, e, 0, &next, r), PREC_ATOM, false};
}

static Exp at(Printer *p, Node *e, Region *r) {
    const Doc *d = operand(p, e->args[0], r, PREC_ATOM);
    for (int k = 1; k < e->nargs; k++) d = CAT(d, text(p, "["), expr(p, e->args[k], r).d, text(p, "]"));
    return (Exp){d, PREC_ATOM, false};
}

static const char *quoted(Printer *p, const char *s) {
    Str q = {0};
    str_putc(&q, '"');
    for (; *s; s++)
        if (*s == '\n') str_puts(&q, "\\n");
        else if (*s == '\t') str_puts(&q, "\\t");
        else if (*s == '"' || *s == '\\') str_printf(&q, "\\%c", *s);
        else str_putc(&q, *s);
    str_putc(&q, '"');
    const char *result = arena_strdup(p->arena, str_text(&q));
    str_free(&q);
    return result;
}

static Exp assertion(Printer *p, Node *e, Region *r) {
    const Doc *args[] = {operand(p, e->args[0], r, PREC_ATOM), text(p, quoted(p, ir_assert_text(p->arena, e))),
                         operand(p, e->args[1], r, PREC_ATOM)};
    return apply(p, "assert", 3, args);
}

static Exp evaluated(Printer *p, Node *e, Region *r) {
    const Doc **parts = ARENA_ARRAY(p->arena, const Doc *, e->nargs);
    for (int k = 0; k < e->nargs; k++) parts[k] = part(p, untyped(p, e->args[k], r));
    const Doc *arg = e->nargs > 1 ? tuple(p, e->nargs, parts) : at_least(p, untyped(p, e->args[0], r), PREC_ATOM);
    return apply(p, "evaluated", 1, &arg);
}

static Exp conversion_of(Printer *p, Node *e, Region *r) {
    if (is_storage(e)) return expr(p, e->args[0], r);
    const Doc *arg = at_least(p, untyped(p, e->args[0], r), PREC_ATOM);
    return apply(p, conversion[e->kind], 1, &arg);
}

// Text that elaboration accepts, as it stands under a condition.
static Exp accepted(Printer *p, Node *e, const Region *r, Exp text_of) {
    if (!is_refused(e)) return text_of;
    bool truth = e->kind == KIND_BOOL, remainder = is_remainder(e) || (e->op == OP_idiv && holds_remainder(p, e->args[0], r));
    const Doc *d = CAT(text(p, truth ? "true && " : "[true] * "), at_least(p, text_of, PREC_PRODUCT + remainder));
    return (Exp){d, truth ? 2 * op_info[OP_and].prec : PREC_BRACKET, false};
}

static Exp inline_text(Printer *p, Node *e, Region *r, Place *pl) {
    switch (e->op) {
    case OP_gen:
    case OP_sum:
    case OP_argmin:
    case OP_argmax: return binder(p, e, r, pl);
    case OP_fold:
    case OP_while: return loop(p, e, r, pl);
    case OP_select: return conditional(p, e, r, pl);
    case OP_bracket: return bracket(p, e, r, pl);
    case OP_final: return final(p, e, r);
    case OP_pack: return pack(p, e, r);
    case OP_at: return at(p, e, r);
    case OP_assert: return assertion(p, e, r);
    case OP_conv: return conversion_of(p, e, r);
    case OP_evaluated: return evaluated(p, e, r);
    case OP_extern: {
        const Doc **args = ARENA_ARRAY(p->arena, const Doc *, e->nargs);
        int first = ir_extern_first(e) + e->u.ext->nsizes, n = ir_extern_end(e) - first;
        for (int k = 0; k < n; k++) args[k] = operand(p, e->args[first + k], r, PREC_ATOM);
        return apply(p, e->u.ext->name, n, args);
    }
    case OP_stop: {
        const Doc *arg = operand(p, e->args[0], r, PREC_ATOM);
        return apply(p, "stopGradient", 1, &arg);
    }
    default: return elementwise(p, e, r);
    }
}

static Exp expr(Printer *p, Node *e, Region *r) {
    switch (e->op) {
    case OP_lit: return literal(p, e);
    case OP_input: return atom(p, p->input_names[e->u.num]);
    case OP_var: return atom(p, var_name(e->u.var, r));
    case OP_param: fatal_bug("fsm_print: a parameter of a derivative is left");
    default: break;
    }
    Place *pl = plan_find(&p->plan, e, r);
    if (pl && pl->let && !p->before_lets) return atom(p, pl->name);
    return accepted(p, e, r, inline_text(p, e, r, pl));
}

// ---- blocks

static const char *let_names(Printer *p, Place *pl) {
    if (!plan_is_multiple(pl->e)) return pl->name = plan_let_name(&p->plan);
    bool external = pl->e->op == OP_extern;
    int n = external ? pl->e->u.ext->nresults : ir_loop(pl->e)->n;
    pl->names = ARENA_ARRAY(p->arena, const char *, n);
    if (external) {
        pl->names[pl->e->result] = pl->name = plan_let_name(&p->plan);
        return name_list(p, n, pl->names);
    }
    for (int k = 0; k < n; k++)
        if (pl->needed[k]) pl->names[k] = plan_let_name(&p->plan);
    return name_list(p, n, pl->names);
}

static const Doc *bind(Printer *p, const char *name, Exp value) {
    const char *head = arena_printf(p->arena, "let %s =", name);
    const Doc *rest = value.hugs ? CAT(text(p, " "), value.d) : doc_group(p->arena, indented(p, value.d));
    return CAT(text(p, head), rest, doc_newline(p->arena));
}

// The `let`s of a region, each on lines of its own.
static const Doc *lets(Printer *p, Region *r) {
    const Doc *d = text(p, "");
    for (Place *pl = r->lets; pl; pl = pl->below) {
        const char *name = let_names(p, pl);
        pl->let = false; // its own text
        Exp value = untyped(p, pl->e, r);
        pl->let = true;
        d = CAT(d, bind(p, name, value));
    }
    return d;
}

static const Doc *block(Printer *p, Region *r, int n, Node *const *values) {
    const Doc *before = r->lets ? lets(p, r) : NULL;
    const Doc *d = n == 1 ? untyped(p, values[0], r).d : states(p, values, n, r);
    return before ? CAT(before, d) : d;
}

// ---- results

static bool holds_tuple(const SigType *t) {
    while (t->form == SIG_ARRAY) t = t->parts[0];
    return t->form == SIG_TUPLE;
}

static int leaves(const SigType *t) {
    if (t->form == SIG_SCALAR) return 1;
    int n = 0;
    for (int k = 0; k < t->nparts; k++) n += leaves(t->parts[k]);
    return n;
}

// Element v of the array e.
static Node *element(Ir *m, Node *e, Var *v) {
    if (e->op == OP_gen && e->u.var->extent == v->extent) return ir_subst1(m, e->args[0], ir_var(e->u.var), ir_var(v));
    return ir_at1(m, e, ir_var(v));
}

// Collects in roots the values that are written.
typedef struct Roots {
    Node **data;
    int len, cap;
} Roots;

static Result *result_value(Printer *p, Node *e, Region *r, Roots *roots) {
    Result *res = ARENA_NEW(p->arena, Result);
    *res = (Result){.form = RES_VALUE, .value = e};
    plan_use(&p->plan, e, r);
    vec_push(roots, e);
    return res;
}

static Result *result(Printer *p, const SigType *t, Node *const *leaf, Region *r, Roots *roots) {
    if (!holds_tuple(t)) return result_value(p, *leaf, r, roots);
    Result *res = ARENA_NEW(p->arena, Result);
    *res = (Result){.form = RES_TUPLE, .nparts = t->nparts, .parts = ARENA_ARRAY(p->arena, Result *, t->nparts)};
    Node **inner = ARENA_ARRAY(p->arena, Node *, leaves(t));
    if (t->form == SIG_ARRAY) {
        Ir *m = p->func->ir;
        Var *v = ir_index(m, "i", leaves(t) ? leaf[0]->shape[0] : t->extent);
        for (int k = 0; k < leaves(t); k++) inner[k] = element(m, leaf[k], v);
        res->form = RES_ARRAY;
        res->value = v->extent;
        plan_use(&p->plan, v->extent, r);
        vec_push(roots, v->extent);
        res->body = r = plan_region(&p->plan, r, 1, &v);
        leaf = inner;
    }
    for (int k = 0; k < t->nparts; k++) {
        res->parts[k] = result(p, t->parts[k], leaf, r, roots);
        leaf += leaves(t->parts[k]);
    }
    return res;
}

static Exp result_text(Printer *p, const Result *res, Region *r) {
    if (res->form == RES_VALUE) return untyped(p, res->value, r);
    if (res->form == RES_ARRAY) {
        const Doc *before = lets(p, res->body);
        const Doc *body = CAT(before, result_text(p, res->parts[0], res->body).d);
        return build(p, "build", res->value, r, res->body->names[0], body);
    }
    const Doc **d = ARENA_ARRAY(p->arena, const Doc *, res->nparts);
    for (int k = 0; k < res->nparts; k++) d[k] = part(p, result_text(p, res->parts[k], r));
    return (Exp){tuple(p, res->nparts, d), PREC_ATOM, false};
}

// Without a recorded type: a tuple of the outputs.
static const SigType *result_type(Printer *p) {
    const Func *f = p->func;
    if (f->result) return f->result;
    SigType *t = ARENA_NEW(p->arena, SigType);
    *t = (SigType){.form = SIG_TUPLE, .nparts = f->noutputs, .parts = ARENA_ARRAY(p->arena, SigType *, f->noutputs)};
    for (int k = 0; k < f->noutputs; k++) {
        t->parts[k] = ARENA_NEW(p->arena, SigType);
        *t->parts[k] = (SigType){.form = SIG_SCALAR, .kind = f->outputs[k]->kind};
    }
    return f->noutputs == 1 ? t->parts[0] : t;
}

// ---- names of inputs

static void mark_used(Node *e, void *data) {
    Printer *p = data;
    p->used[e->op] = true;
    if (e->op == OP_extern) plan_take(&p->plan, e->u.ext->name);
}

static void reserve_names(Printer *p) {
    static const char *const reserved[] = {"let",   "in",   "fun",   "if",    "then",     "elif", "else",    "open",
                                           "entry", "true", "not",   "false", "_",        "rec",  "mutable", "for",
                                           "while", "do",   "match", "with",  "function", "type", "module",  "namespace"};
    static const struct {
        Op op;
        const char *name;
    } structural[] = {{OP_gen, "build"},       {OP_pack, "build"},       {OP_argmin, "build"}, {OP_argmin, "argmin"},
                      {OP_argmax, "build"},    {OP_argmax, "argmax"},    {OP_sum, "sum"},      {OP_fold, "ifold"},
                      {OP_while, "whileLoop"}, {OP_conv, "int"},         {OP_conv, "float"},   {OP_conv, "double"},
                      {OP_assert, "assert"},   {OP_stop, "stopGradient"}, {OP_evaluated, "evaluated"}};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) plan_take(&p->plan, reserved[i]);
    for (size_t i = 0; i < sizeof structural / sizeof *structural; i++)
        if (p->used[structural[i].op]) plan_take(&p->plan, structural[i].name);
    for (int op = 0; op < OP_COUNT; op++)
        if (p->used[op] && op_is_elementwise(op) && op_info[op].form == FSM_FN) plan_take(&p->plan, op_info[op].sym);
}

// A name that F̃ can write, as near to s as possible.
static const char *identifier(Printer *p, const char *s) {
    char *name = arena_strdup(p->arena, s && *s ? s : "x");
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '\'') *c = '_';
    return isalpha((unsigned char)*name) || *name == '_' ? name : arena_printf(p->arena, "x%s", name);
}

static void name_inputs(Printer *p) {
    const Func *f = p->func;
    p->input_names = ARENA_ARRAY(p->arena, const char *, f->ninputs);
    for (int k = 0; k < f->ninputs; k++) p->input_names[k] = plan_name(&p->plan, identifier(p, f->inputs[k]->name));
}

// ---- parameters

static const Doc *type_text(Printer *p, const SigType *t, bool nested) {
    if (t->form == SIG_SCALAR) return text(p, kind_info[t->kind].fsm);
    if (t->form == SIG_TUPLE) {
        const Doc *d = text(p, "");
        for (int k = 0; k < t->nparts; k++) d = CAT(d, text(p, k ? " * " : ""), type_text(p, t->parts[k], true));
        return nested ? in_parens(p, d) : d;
    }
    const SigType *base = t;
    while (base->form == SIG_ARRAY) base = base->parts[0];
    const Doc *d = type_text(p, base, true);
    for (; t != base; t = t->parts[0]) d = CAT(d, text(p, "["), expr(p, t->extent, p->plan.root).d, text(p, "]"));
    return d;
}

static bool has_int32(const SigType *t) {
    bool any = t->form == SIG_SCALAR && t->kind == KIND_INT32;
    for (int k = 0; k < t->nparts; k++) any |= has_int32(t->parts[k]);
    return any;
}

// The type of a result without its sizes, which are those of the value.
static void result_type_text(Str *out, const SigType *t, bool nested) {
    int rank = 0;
    for (; t->form == SIG_ARRAY; t = t->parts[0]) rank++;
    bool parens = t->form == SIG_TUPLE && (nested || rank || !t->nparts);
    str_puts(out, t->form == SIG_SCALAR ? kind_info[t->kind].fsm : parens ? "(" : "");
    for (int k = 0; k < t->nparts; k++) {
        if (k) str_puts(out, " * ");
        result_type_text(out, t->parts[k], true);
    }
    if (parens) str_putc(out, ')');
    while (rank--) str_puts(out, "[]");
}

// What follows the parameters where the body does not say of which type the result is.
static const char *result_annotation(Printer *p) {
    Str s = {0};
    if (p->func->result && has_int32(p->func->result)) {
        str_puts(&s, " : ");
        result_type_text(&s, p->func->result, false);
    }
    const char *annotation = arena_strdup(p->arena, str_text(&s));
    str_free(&s);
    return annotation;
}

// The leaf number `leaf` of a value of type t whose text is `base`, as an array that it is a part of.
static Exp leaf_text(Printer *p, const SigType *t, int leaf, Exp base, Region *r) {
    if (!holds_tuple(t)) return base;
    if (t->form == SIG_ARRAY) {
        Var *v = ir_index(p->func->ir, "i", t->extent);
        Region *body = plan_region(&p->plan, r, 1, &v);
        const char *index = arena_printf(p->arena, "[%s]", body->names[0]);
        Exp elem = {CAT(at_least(p, base, PREC_ATOM), text(p, index)), PREC_ATOM, false};
        return build(p, "build", t->extent, r, body->names[0], leaf_text(p, t->parts[0], leaf, elem, body).d);
    }
    int k = 0;
    for (; leaf >= leaves(t->parts[k]); k++) leaf -= leaves(t->parts[k]);
    const Doc *arg = at_least(p, base, PREC_ATOM);
    if (t->nparts == 2) return leaf_text(p, t->parts[k], leaf, apply(p, k ? "snd" : "fst", 1, &arg), r);
    const Doc *d = text(p, "(let (");
    for (int i = 0; i < t->nparts; i++) d = CAT(d, text(p, i ? ", " : ""), text(p, i == k ? "x" : "_"));
    d = CAT(d, text(p, ") = "), base.d, text(p, " in x)"));
    return leaf_text(p, t->parts[k], leaf, (Exp){d, PREC_ATOM, false}, r);
}

static const char *leaf_name(Printer *p, int input) {
    return map_get(&p->plan.inputs, p->func->inputs[input]) ? p->input_names[input] : NULL;
}

// Appends to *after bindings of the parts that the body mentions of a value `name` of type t, an array of tuples whose
// leaves begin at an input.
static void bind_parts(Printer *p, const SigType *t, int input, const char *name, const Doc **after) {
    for (int k = 0; k < leaves(t); k++) {
        const char *leaf = leaf_name(p, input + k);
        if (!leaf) continue;
        Exp value = leaf_text(p, t, k, atom(p, name), p->plan.root);
        *after = CAT(*after, bind(p, leaf, value));
    }
}

// A pattern for a value of type t whose leaves begin at an input; what it cannot take apart goes to *after.
static const char *pattern(Printer *p, const SigType *t, int input, const Doc **after) {
    bool needed = false;
    for (int k = 0; k < leaves(t); k++) needed |= leaf_name(p, input + k) != NULL;
    if (!needed) return "_";
    if (!holds_tuple(t)) return leaf_name(p, input);
    if (t->form == SIG_ARRAY) {
        const char *name = plan_let_name(&p->plan);
        bind_parts(p, t, input, name, after);
        return name;
    }
    const char **parts = ARENA_ARRAY(p->arena, const char *, t->nparts);
    for (int k = 0; k < t->nparts; k++) {
        parts[k] = pattern(p, t->parts[k], input, after);
        input += leaves(t->parts[k]);
    }
    return name_list(p, t->nparts, parts);
}

// Bindings for the parts of a tuple, or of tuples in an array, that the body mentions.
static const Doc *take_apart(Printer *p, const SigParam *param, const char *name) {
    const Doc *after = text(p, "");
    if (!holds_tuple(param->type)) return after;
    if (param->type->form == SIG_ARRAY) {
        bind_parts(p, param->type, param->first, name, &after);
        return after;
    }
    const char *parts = pattern(p, param->type, param->first, &after);
    return strcmp(parts, "_") ? CAT(bind(p, parts, atom(p, name)), after) : after;
}

static void print_doc(Str *out, const char *doc) {
    while (doc && *doc) {
        size_t n = strcspn(doc, "\n");
        str_puts(out, n ? "// " : "//");
        str_write(out, doc, n);
        str_putc(out, '\n');
        doc += n + (doc[n] == '\n');
    }
}

// The parameters in parentheses, and in *before the bindings of their parts.
static const Doc *params(Printer *p, const Doc **before) {
    const Func *f = p->func;
    const Doc *d = text(p, "");
    *before = text(p, "");
    p->before_lets = true;
    for (int k = 0; k < f->nparams; k++) {
        const SigParam *param = &f->params[k];
        const Doc *one = text(p, "()");
        bool plain = !holds_tuple(param->type);
        const char *name = plain ? p->input_names[param->first] : plan_name(&p->plan, identifier(p, param->name));
        if (plain || param->type->form == SIG_ARRAY || param->type->nparts)
            one = CAT(text(p, arena_printf(p->arena, "(%s: ", name)), type_text(p, param->type, false), text(p, ")"));
        *before = CAT(*before, take_apart(p, param, name));
        d = CAT(d, doc_line(p->arena), one);
    }
    p->before_lets = false;
    return doc_nest(p->arena, 4, d);
}

typedef struct Externs {
    Str *out;
    VEC(const Node *) seen;
} Externs;

static void print_extern(Node *e, void *data) {
    Externs *x = data;
    if (e->op != OP_extern) return;
    for (int i = 0; i < x->seen.len; i++)
        if (!strcmp(x->seen.data[i]->u.ext->name, e->u.ext->name)) return;
    vec_push(&x->seen, e);
    str_printf(x->out, "extern %s", e->u.ext->name);
    if (e->u.ext->signature) {
        str_printf(x->out, " %s\n", e->u.ext->signature);
        return;
    }
    for (int k = 0; k < e->nargs; k++) str_printf(x->out, " (x%d: %s)", k, kind_info[e->args[k]->kind].fsm);
    str_printf(x->out, " : %s\n", kind_info[e->kind].fsm);
}

void fsm_print_externs(Str *out, int n, Func *const *f) {
    Externs x = {.out = out};
    for (int i = 0; i < n; i++) ir_walk(func_roots(f[i]), f[i]->outputs, print_extern, &x);
    vec_free(&x.seen);
}

// F̃ has no demands beside results: each result stands under what the function demands.
static Node *demanded(const Func *f, Node *e) {
    for (int i = f->noutputs; i < func_roots(f); i++) e = ir_demand(f->ir, f->outputs[i], e);
    return e;
}

void fsm_print(Str *out, const Func *func) {
    Printer printer = {.arena = arena_new()}, *p = &printer;
    Func *f = arena_copy(p->arena, func, sizeof *func);
    f->outputs = ARENA_ARRAY(p->arena, Node *, f->noutputs + 1);
    for (int i = 0; i < f->noutputs; i++) f->outputs[i] = demanded(func, ir_stored(f->ir, func->outputs[i], NULL));
    f->ndemands = 0;
    const bool stored = f->ir->stored;
    f->ir->stored = true; // elements of results that are built here read these arrays, too
    p->func = f;
    Roots roots = {0};
    plan_init(&p->plan, p->arena);
    ir_walk(f->noutputs, f->outputs, mark_used, p);
    reserve_names(p);
    name_inputs(p);
    Result *res = result(p, result_type(p), f->outputs, p->plan.root, &roots);
    plan_values(&p->plan, roots.len, roots.data);
    const Doc *before,
        *head = CAT(text(p, "entry "), text(p, f->name), params(p, &before), text(p, result_annotation(p)), text(p, " ="));
    before = CAT(before, lets(p, p->plan.root));
    Exp value = result_text(p, res, p->plan.root);
    const Doc *line = doc_is_broken(before) ? doc_newline(p->arena) : doc_line(p->arena);
    const Doc *body = doc_nest(p->arena, 2, CAT(line, before, value.d));
    print_doc(out, f->doc);
    doc_print(out, doc_group(p->arena, CAT(doc_group(p->arena, head), body)), WIDTH);
    str_putc(out, '\n');
    f->ir->stored = stored;
    vec_free(&roots);
    plan_free(&p->plan);
    arena_free(p->arena);
}
