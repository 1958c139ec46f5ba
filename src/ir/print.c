// The textual form of the IR. Every value is printed once per place that needs it: in the body of the innermost binder
// that binds one of its free variables. docs/ir.md has the grammar; read.c reads it back.
#include "ir/ir.h"
#include "support/map.h"
#include "support/place.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The body of a binder being printed (the function's own if binder is NULL).
typedef struct Scope {
    struct Scope *parent;
    int depth;
    const Node *binder;
    const char **names; // of the variables it binds: the index variable, then the states
    Map number;         // Node * -> the number of the value printed here
    Str text;
} Scope;

// A node whose operands are being printed; then the node itself is.
typedef struct Frame {
    Node *e;
    Scope *home, *body;
    int next;
} Frame;

typedef struct Printer {
    const Func *func;
    Arena *arena; // of this call
    VEC(Frame) work;
    uintptr_t count;
    PlaceWriter *places; // of values that may fail; NULL: are not printed
} Printer;

// ---- names and literals

static bool is_plain_name(const char *s) {
    static const char *const reserved[] = {"true", "false", "inf", "nan", "f32"};
    for (size_t k = 0; k < sizeof reserved / sizeof *reserved; k++)
        if (!strcmp(s, reserved[k])) return false;
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("_.'", *s)) return false;
    return true;
}

static void print_name(Str *out, const char *s) {
    if (is_plain_name(s)) str_puts(out, s);
    else str_printf(out, "`%s`", s);
}

static void print_lit(Str *out, const Node *e) {
    if (e->kind == KIND_BOOL) {
        str_puts(out, e->u.num ? "true" : "false");
        return;
    }
    if (e->kind == KIND_INT) {
        str_printf(out, "%lld", (long long)e->u.num);
        return;
    }
    if (e->kind == KIND_FLOAT) str_puts(out, "f32 ");
    if (isnan(e->u.real) && signbit(e->u.real)) str_putc(out, '-');
    str_double(out, e->u.real);
}

// The variables that e binds.
static int bound_vars(const Node *e, Var **out, int cap) {
    int n = 0;
    if (ir_is_binder(e)) out[n++] = e->u.var;
    if (!ir_is_loop(e)) return n;
    if (e->u.loop->index) out[n++] = e->u.loop->index;
    for (int k = 0; k < e->u.loop->n && n < cap; k++) out[n++] = e->u.loop->state[k];
    return n;
}

enum { MAX_VARS = 1024 };

static int bound_index(const Scope *s, const Var *v) {
    const Node *e = s->binder;
    if (!e) return -1;
    if (ir_is_binder(e)) return e->u.var == v ? 0 : -1;
    int base = e->u.loop->index != NULL;
    if (e->u.loop->index == v) return 0;
    for (int k = 0; k < e->u.loop->n; k++)
        if (e->u.loop->state[k] == v) return base + k;
    return -1;
}

static bool name_taken(const Printer *p, const Scope *s, const char *name) {
    for (; s && s->binder; s = s->parent) {
        Var *v[MAX_VARS];
        int n = bound_vars(s->binder, v, MAX_VARS);
        for (int k = 0; k < n; k++)
            if (s->names[k] && !strcmp(s->names[k], name)) return true;
    }
    for (int k = 0; k < p->func->ninputs; k++)
        if (!strcmp(p->func->inputs[k]->name, name)) return true;
    return false;
}

static Scope *open_scope(Printer *p, Scope *parent, const Node *binder) {
    Scope *s = ARENA_NEW(p->arena, Scope);
    *s = (Scope){.parent = parent, .depth = parent ? parent->depth + 1 : 0, .binder = binder};
    if (!binder) return s;
    Var *v[MAX_VARS];
    int n = bound_vars(binder, v, MAX_VARS);
    s->names = ARENA_ARRAY(p->arena, const char *, n);
    for (int k = 0; k < n; k++) {
        const char *hint = v[k]->name ? v[k]->name : "v", *name = hint;
        for (int i = 2; name_taken(p, s, name); i++) name = arena_printf(p->arena, "%s_%d", hint, i);
        s->names[k] = name;
    }
    return s;
}

static void close_scope(Scope *s) {
    map_free(&s->number);
    str_free(&s->text);
}

// Where e belongs when it is needed in s: the innermost scope that binds a variable free in it.
static Scope *home_of(Scope *s, const Node *e) {
    for (; s->binder; s = s->parent)
        for (int k = 0; k < e->fv->n; k++)
            if (bound_index(s, e->fv->v[k]) >= 0) return s;
    return s;
}

// ---- operands

static bool is_inline(const Node *e) { return e->op == OP_lit || e->op == OP_input || e->op == OP_var || e->op == OP_param; }

static void print_operand(Str *out, Scope *s, const Node *e) {
    switch (e->op) {
    case OP_lit: print_lit(out, e); return;
    case OP_input: print_name(out, e->name); return;
    case OP_param: str_printf(out, "$%lld", (long long)e->u.num); return;
    case OP_var:
        for (; s; s = s->parent) {
            int k = bound_index(s, e->u.var);
            if (k < 0) continue;
            print_name(out, s->names[k]);
            return;
        }
        str_printf(out, "$%s.%u", e->u.var->name ? e->u.var->name : "", e->u.var->id); // free: does not read back
        return;
    default: str_printf(out, "%%%llu", (unsigned long long)(uintptr_t)map_get(&home_of(s, e)->number, e));
    }
}

static void print_operands(Str *out, Scope *s, const char *before, int n, Node *const *e) {
    for (int k = 0; k < n; k++) {
        str_puts(out, k ? ", " : before);
        print_operand(out, s, e[k]);
    }
}

static void print_type(Str *out, Scope *s, Kind kind, int rank, Node *const *shape) {
    str_puts(out, kind_name(kind));
    if (!rank) return;
    print_operands(out, s, "[", rank, shape);
    str_putc(out, ']');
}

// ---- values

static void print_list(Str *out, Scope *s, const char *brackets, int n, Node *const *e) {
    str_putc(out, brackets[0]);
    print_operands(out, s, "", n, e);
    str_putc(out, brackets[1]);
}

// What a C function gives: the type of its result, or the number of one of several, and their types with their extents.
static void print_results(Str *out, Scope *s, const Node *e) {
    const Extern *x = e->u.ext;
    if (x->nresults == 1) {
        str_printf(out, " %s ", kind_name(e->kind));
        return;
    }
    str_printf(out, " %d of ", e->result);
    for (int k = 0; k < x->nresults; k++) {
        print_type(out, s, x->results[k].kind, x->results[k].rank, e->args + ir_extern_extents(e, k));
        str_puts(out, k + 1 < x->nresults ? ", " : " ");
    }
}

// A C function and its operands: with a signature, the condition and the sizes, the arguments, one result's extents.
static void print_extern(Str *out, Scope *s, const Node *e) {
    int end = ir_extern_end(e), n = e->u.ext->signature ? 1 + e->u.ext->nsizes : 0;
    print_results(out, s, e);
    str_quoted(out, e->u.ext->name);
    if (n) {
        str_putc(out, ' ');
        str_quoted(out, e->u.ext->signature);
        print_list(out, s, "()", n, e->args);
    }
    print_list(out, s, "()", end - n, e->args + n);
    if (e->rank && e->u.ext->nresults == 1) print_list(out, s, "[]", e->rank, e->args + end);
}

static void print_states(Str *out, Scope *s, const Scope *body, const Node *e) {
    const Loop *l = e->u.loop;
    const char *const *names = body->names + (l->index != NULL);
    for (int k = 0; k < l->n; k++) {
        if (k || l->index) str_puts(out, ", ");
        else str_putc(out, ' ');
        print_name(out, names[k]);
        str_puts(out, ": ");
        print_type(out, s, l->state[k]->kind, l->state[k]->rank, l->state[k]->shape);
        str_puts(out, " = ");
        print_operand(out, s, loop_init(e, k));
    }
}

static void print_wishes(Str *out, const Wishes *w) {
    for (int k = 0; k < WISH_COUNT; k++) {
        if (!w->of[k]) continue;
        str_printf(out, " #%s", wish_info[k].name);
        if (wish_info[k].number) str_printf(out, " %lld", (long long)w->of[k]->number);
    }
}

// Everything between a binder's operation and the end of its body.
static void print_binder(Scope *home, Scope *body, const Node *e) {
    Str *out = &home->text;
    const Var *index = ir_is_loop(e) ? e->u.loop->index : e->u.var;
    if (index) {
        str_putc(out, ' ');
        print_name(out, body->names[0]);
        str_puts(out, " < ");
        print_operand(out, home, index->extent);
    }
    if (ir_is_loop(e)) print_states(out, home, body, e);
    str_puts(out, " {\n");
    str_puts(out, str_text(&body->text));
    str_indent(out, 2 * body->depth + 2);
    int n = ir_is_loop(e) ? e->u.loop->n : 1, nout = ir_is_loop(e) ? e->u.loop->nout : 0;
    print_operands(out, body, "yield ", n, e->args + e->nargs - nout - n);
    if (nout) print_operands(out, body, " trace ", nout, e->args + e->nargs - nout);
    if (ir_is_loop(e) && e->u.loop->levels) str_printf(out, " stripmine %d", e->u.loop->levels);
    if (ir_is_loop(e) && e->u.loop->block) str_puts(out, " block");
    if (ir_is_loop(e) && e->u.loop->limit) str_printf(out, " tapeLimit %lld", (long long)e->u.loop->limit);
    if (index) print_wishes(out, &index->wishes);
    str_putc(out, '\n');
    str_indent(out, 2 * home->depth + 2);
    str_putc(out, '}');
}

static void print_node(Printer *p, Frame f) {
    Node *e = f.e;
    Str *out = &f.home->text;
    p->count++;
    map_put(&f.home->number, e, (void *)p->count);
    str_indent(out, 2 * f.home->depth + 2);
    str_printf(out, "%%%llu = %s", (unsigned long long)p->count, op_info[e->op].name);
    switch (e->op) {
    case OP_gen:
    case OP_sum:
    case OP_argmin:
    case OP_argmax:
    case OP_fold:
    case OP_while:
        print_binder(f.home, f.body, e);
        close_scope(f.body);
        break;
    case OP_at:
        str_putc(out, ' ');
        print_operand(out, f.home, e->args[0]);
        print_operands(out, f.home, "[", e->nargs - 1, e->args + 1);
        str_putc(out, ']');
        break;
    case OP_extern: print_extern(out, f.home, e); break;
    case OP_assert:
        str_putc(out, ' ');
        print_operand(out, f.home, e->args[0]);
        str_putc(out, ' ');
        str_quoted(out, e->u.text);
        str_putc(out, ' ');
        print_operand(out, f.home, e->args[1]);
        if (e->nargs > 2) str_putc(out, ' '), print_list(out, f.home, "[]", e->nargs - 2, e->args + 2);
        break;
    case OP_evaluated:
        str_putc(out, ' ');
        print_list(out, f.home, "()", e->nargs, e->args);
        break;
    default:
        if (e->op == OP_conv) str_printf(out, " %s", kind_name(e->kind));
        if (e->op == OP_pack) {
            str_putc(out, ' ');
            print_type(out, f.home, e->kind, e->rank, e->shape);
        }
        for (int k = 0; k < e->nargs; k++) {
            str_putc(out, ' ');
            print_operand(out, f.home, e->args[k]);
        }
        if (e->op == OP_final || e->op == OP_trace) str_printf(out, " %lld", (long long)e->u.num);
    }
    if (p->places && e->fails) place_write(p->places, out, e->span);
    str_putc(out, '\n');
}

// Operand number k of e in the order in which the text needs them; *arg is its place among the arguments if it stands
// in e's body, -1 if outside. NULL at the end.
static Node *operand(const Node *e, int k, int *arg) {
    *arg = -1;
    if (ir_is_binder(e)) {
        if (k == 0) return e->u.var->extent;
        *arg = 0;
        return k == 1 ? e->args[0] : NULL;
    }
    if (!ir_is_loop(e)) return k < e->nargs ? e->args[k] : NULL;
    const Loop *l = e->u.loop;
    if (l->index && k-- == 0) return l->index->extent;
    if (k < l->n) return e->args[k];
    for (int i = 0; i < l->n; i++) {
        if (k - l->n < l->state[i]->rank) return l->state[i]->shape[k - l->n];
        k -= l->state[i]->rank;
    }
    *arg = k;
    return k < e->nargs ? e->args[k] : NULL;
}

static void need(Printer *p, Scope *s, Node *e) {
    if (is_inline(e)) return;
    Scope *home = home_of(s, e);
    if (!map_get(&home->number, e)) vec_push(&p->work, ((Frame){.e = e, .home = home}));
}

// Prints what e needs, and e, into their scopes.
static void print_value(Printer *p, Scope *s, Node *root) {
    need(p, s, root);
    while (p->work.len) {
        Frame *f = &vec_last(&p->work);
        int arg;
        Node *e = operand(f->e, f->next++, &arg);
        if (arg >= 0 && !f->body) f->body = open_scope(p, f->home, f->e);
        if (!e) {
            Frame done = vec_pop(&p->work);
            print_node(p, done);
            continue;
        }
        if (f->e->op == OP_while && arg == f->e->u.loop->n + 1) { // the condition's values stand there now
            str_indent(&f->body->text, 2 * f->body->depth + 2);
            print_operands(&f->body->text, f->body, "test ", 1, &f->e->args[arg - 1]);
            str_putc(&f->body->text, '\n');
        }
        need(p, arg >= 0 ? f->body : f->home, e);
    }
}

// ---- functions

// An expression of scalars on one line, prefix form: extents in types.
static void print_nested(Str *out, const Node *e) {
    if (e->op == OP_lit) print_lit(out, e);
    else if (e->op == OP_input) print_name(out, e->name);
    else if (op_is_elementwise(e->op) || e->op == OP_conv) {
        str_printf(out, "(%s", op_info[e->op].name);
        if (e->op == OP_conv) str_printf(out, " %s", kind_name(e->kind));
        for (int k = 0; k < e->nargs; k++) {
            str_putc(out, ' ');
            print_nested(out, e->args[k]);
        }
        str_putc(out, ')');
    } else str_putc(out, '_');
}

static bool is_small(const Node *e, int *fuel) {
    if (e->op == OP_lit || e->op == OP_input) return true;
    if ((!op_is_elementwise(e->op) && e->op != OP_conv) || --*fuel < 0) return false;
    for (int k = 0; k < e->nargs; k++)
        if (!is_small(e->args[k], fuel)) return false;
    return true;
}

enum { MOST_STATED = 40 }; // operations in an extent that a type states

void ir_print_extent(Str *out, const Node *e) {
    int fuel = MOST_STATED;
    if (is_small(e, &fuel)) print_nested(out, e);
    else str_putc(out, '_');
}

static void print_leaf_type(Str *out, const Node *e) {
    str_puts(out, kind_name(e->kind));
    for (int k = 0; k < e->rank; k++) {
        str_puts(out, k ? ", " : "[");
        ir_print_extent(out, e->shape[k]);
    }
    if (e->rank) str_putc(out, ']');
}

static void print_sig(Str *out, const SigType *t) {
    const SigType *base = t;
    while (base->form == SIG_ARRAY) base = base->parts[0];
    if (base->form == SIG_SCALAR) str_puts(out, kind_name(base->kind));
    else {
        str_putc(out, '(');
        for (int k = 0; k < base->nparts; k++) {
            if (k) str_puts(out, ", ");
            print_sig(out, base->parts[k]);
        }
        str_putc(out, ')');
    }
    for (const SigType *a = t; a != base; a = a->parts[0]) {
        str_puts(out, a == t ? "[" : ", ");
        ir_print_extent(out, a->extent);
    }
    if (t != base) str_putc(out, ']');
}

// The version of a function for sizes of at least 1 has extents of its own, but the types of parameters are those of the other.
static bool same_extent(const Node *a, const Node *b) {
    bool same = a == b || (a->op == b->op && a->kind == b->kind &&
                           (op_is_elementwise(a->op) || a->op == OP_conv || a->op == OP_lit || a->op == OP_input));
    for (int k = 0; same && a != b && k < a->nargs; k++) same = same_extent(a->args[k], b->args[k]);
    return same && (a == b || a->nargs || a->u.num == b->u.num);
}

// Would types state the same? What a type does not state is what the value has.
static bool says_same(const Node *a, const Node *b) {
    int fuel_a = MOST_STATED, fuel_b = MOST_STATED;
    return same_extent(a, b) || (!is_small(a, &fuel_a) && !is_small(b, &fuel_b));
}

// Is t just the type of the value e?
static bool sig_is_plain(const SigType *t, const Node *e) {
    for (int k = 0; k < e->rank; k++, t = t->parts[0])
        if (t->form != SIG_ARRAY || !says_same(t->extent, e->shape[k])) return false;
    return t->form == SIG_SCALAR && t->kind == e->kind;
}

static bool params_are_plain(const Func *f) {
    if (f->nparams != f->ninputs - f->nsizes) return false;
    for (int k = 0; k < f->nparams; k++) {
        const SigParam *p = &f->params[k];
        const Node *e = f->inputs[f->nsizes + k];
        if (p->first != f->nsizes + k || p->count != 1 || strcmp(p->name, e->name) || !sig_is_plain(p->type, e)) return false;
    }
    return true;
}

static bool result_is_plain(const Func *f) {
    const SigType *t = f->result;
    if (!t) return true;
    if (f->noutputs == 1) return sig_is_plain(t, f->outputs[0]);
    if (t->form != SIG_TUPLE || t->nparts != f->noutputs) return false;
    for (int k = 0; k < f->noutputs; k++)
        if (!sig_is_plain(t->parts[k], f->outputs[k])) return false;
    return true;
}

void ir_print_signature(Str *out, const char *word, const Func *f) {
    str_printf(out, "%s ", word);
    print_name(out, f->name);
    str_putc(out, '(');
    for (int k = 0; k < f->ninputs; k++) {
        if (k) str_puts(out, ", ");
        print_name(out, f->inputs[k]->name);
        str_puts(out, ": ");
        print_leaf_type(out, f->inputs[k]);
        if (k < f->nsizes) str_puts(out, " size");
        else if (f->inputs[k]->kind == KIND_INT && f->inputs[k]->nonneg) str_puts(out, " natural");
    }
    str_putc(out, ')');
    for (int k = 0; k < f->noutputs; k++) {
        str_puts(out, k ? ", " : " -> ");
        if (f->output_names && f->output_names[k]) {
            print_name(out, f->output_names[k]);
            str_puts(out, ": ");
        }
        print_leaf_type(out, f->outputs[k]);
    }
}

// The lines on what is not seen from the signature.
static void print_types(Str *out, const Func *f) {
    if (f->doc) {
        str_puts(out, "  doc ");
        str_quoted(out, f->doc);
        str_putc(out, '\n');
    }
    if (!params_are_plain(f))
        for (int k = 0; k < f->nparams; k++) {
            str_puts(out, "  param ");
            print_name(out, f->params[k].name);
            str_puts(out, ": ");
            print_sig(out, f->params[k].type);
            str_putc(out, '\n');
        }
    if (!result_is_plain(f)) {
        str_puts(out, "  result ");
        print_sig(out, f->result);
        str_putc(out, '\n');
    }
}

static void print_check(Printer *p, Scope *s, const Check *c) {
    print_value(p, s, c->cond);
    for (int k = 0; k < c->nvalues; k++) print_value(p, s, c->values[k]);
    str_printf(&s->text, "  check %d ", c->code);
    print_operand(&s->text, s, c->cond);
    str_putc(&s->text, ' ');
    str_quoted(&s->text, c->text);
    print_operands(&s->text, s, " [", c->nvalues, c->values);
    if (c->nvalues) str_putc(&s->text, ']');
    if (p->places) place_write(p->places, &s->text, c->span);
    str_putc(&s->text, '\n');
}

// The extents of an output whose type does not state all of them.
static void print_extents(Printer *p, Scope *s, int number) {
    const Node *e = p->func->outputs[number];
    bool stated = true;
    for (int k = 0; k < e->rank; k++) {
        int fuel = MOST_STATED;
        stated &= is_small(e->shape[k], &fuel);
    }
    if (stated) return;
    for (int k = 0; k < e->rank; k++) print_value(p, s, e->shape[k]);
    str_printf(&s->text, "  extents %d ", number);
    print_list(&s->text, s, "[]", e->rank, e->shape);
    str_putc(&s->text, '\n');
}

void ir_print_facts(Str *out, const Func *f, PlaceWriter *places) {
    Printer p = {.func = f, .arena = arena_new(), .places = places};
    Scope *top = open_scope(&p, NULL, NULL);
    print_types(out, f);
    for (int k = 0; k < f->nchecks; k++) print_check(&p, top, &f->checks[k]);
    for (int k = 0; k < f->noutputs; k++) print_extents(&p, top, k);
    str_puts(out, str_text(&top->text));
    close_scope(top);
    vec_free(&p.work);
    arena_free(p.arena);
}

void ir_print(Str *out, const Func *f) {
    Printer p = {.func = f, .arena = arena_new()};
    Scope *top = open_scope(&p, NULL, NULL);
    ir_print_signature(out, "func", f);
    str_puts(out, " {\n");
    print_types(out, f);
    for (int k = 0; k < f->nchecks; k++) print_check(&p, top, &f->checks[k]);
    for (int k = 0; k < func_roots(f); k++) print_value(&p, top, f->outputs[k]);
    str_puts(out, str_text(&top->text));
    if (f->ndemands) print_operands(out, top, "  demand ", f->ndemands, f->outputs + f->noutputs), str_putc(out, '\n');
    print_operands(out, top, "  return ", f->noutputs, f->outputs);
    str_puts(out, f->noutputs ? "\n}\n" : "  return\n}\n");
    close_scope(top);
    vec_free(&p.work);
    arena_free(p.arena);
}

// ---- one line, for messages

static void brief(Str *out, const Node *e, int prec, int *fuel);

static void brief_list(Str *out, int n, Node *const *e, int *fuel) {
    for (int k = 0; k < n; k++) {
        if (k) str_puts(out, ", ");
        brief(out, e[k], 0, fuel);
    }
}

static void brief_op(Str *out, const Node *e, int prec, int *fuel) {
    const OpInfo *info = &op_info[e->op];
    if (info->form == FSM_FN) {
        str_printf(out, "%s(", info->sym);
        brief_list(out, e->nargs, e->args, fuel);
        str_putc(out, ')');
        return;
    }
    if (info->prec < prec) str_putc(out, '(');
    if (info->form == FSM_IN) {
        brief(out, e->args[0], info->prec, fuel);
        str_printf(out, " %s ", info->sym);
        brief(out, e->args[1], info->prec + 1, fuel);
    } else {
        str_puts(out, info->sym);
        brief(out, e->args[0], info->prec, fuel);
    }
    if (info->prec < prec) str_putc(out, ')');
}

static void brief_loop(Str *out, const Node *e, int *fuel) {
    const Loop *l = e->u.loop;
    str_puts(out, op_info[e->op].name);
    str_putc(out, '(');
    if (l->index) {
        str_printf(out, "%s < ", l->index->name);
        brief(out, l->index->extent, 0, fuel);
    }
    for (int k = 0; k < l->n; k++) {
        str_printf(out, "%s%s = ", k || l->index ? ", " : "", l->state[k]->name);
        brief(out, loop_init(e, k), 0, fuel);
    }
    str_puts(out, ") {");
    if (e->op == OP_while) {
        brief(out, loop_cond(e), 0, fuel);
        str_puts(out, "; ");
    }
    brief_list(out, l->n, e->args + loop_steps(e), fuel);
    if (l->nout) str_puts(out, "; ");
    brief_list(out, l->nout, e->args + loop_steps(e) + l->n, fuel);
    str_putc(out, '}');
}

static void brief(Str *out, const Node *e, int prec, int *fuel) {
    if (!e || --*fuel < 0) { // the verifier prints broken nodes too
        str_puts(out, e ? "…" : "?");
        return;
    }
    switch (e->op) {
    case OP_lit: print_lit(out, e); return;
    case OP_input: print_name(out, e->name); return;
    case OP_param: str_printf(out, "$%lld", (long long)e->u.num); return;
    case OP_var: str_printf(out, "%s.%u", e->u.var->name ? e->u.var->name : "", e->u.var->id); return;
    case OP_at:
        brief(out, e->args[0], 11, fuel);
        str_putc(out, '[');
        brief_list(out, e->nargs - 1, e->args + 1, fuel);
        str_putc(out, ']');
        return;
    case OP_gen:
    case OP_sum:
    case OP_argmin:
    case OP_argmax:
        str_printf(out, "%s(%s.%u < ", op_info[e->op].name, e->u.var->name, e->u.var->id);
        brief(out, e->u.var->extent, 0, fuel);
        str_puts(out, ") {");
        brief(out, e->args[0], 0, fuel);
        str_putc(out, '}');
        return;
    case OP_fold:
    case OP_while: brief_loop(out, e, fuel); return;
    case OP_bracket:
        if (prec > 7) str_putc(out, '(');
        str_putc(out, '[');
        brief(out, e->args[0], 0, fuel);
        str_puts(out, "] * ");
        brief(out, e->args[1], 8, fuel);
        if (prec > 7) str_putc(out, ')');
        return;
    default: break;
    }
    if (op_is_elementwise(e->op)) {
        brief_op(out, e, prec, fuel);
        return;
    }
    str_puts(out, e->op == OP_conv ? kind_name(e->kind) : e->op == OP_extern ? e->u.ext->name : op_info[e->op].name);
    str_putc(out, '(');
    if (e->op == OP_final || e->op == OP_trace) str_printf(out, "%lld, ", (long long)e->u.num);
    brief_list(out, e->nargs, e->args, fuel);
    str_putc(out, ')');
}

void ir_print_value(Str *out, Node *e) {
    int fuel = 200;
    brief(out, e, 0, &fuel);
}
