// Python modules: the constant part (runtime/python/module.py), then a function per entry, which converts the arguments,
// finds the sizes, makes room for the results, and calls the C function.
//
// Names of the user never begin with '_' in the module (python_name); everything else does, but for the exceptions.
#include "cpu/python.h"

#include "fsmc/runtime.h"
#include "support/embedded.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

typedef struct Printer {
    Str *out;
    Arena *arena;
    Diag *diag;
    const Func *f;
    const char **names; // of the inputs, in Python
    int temporaries;
    bool asks; // the sizes of the results depend on elements of arguments: the query NAME_sizes tells them
} Printer;

// How the module writes a kind: its descriptor and converter, the letter of the C parameter, ctypes' type of a result, and
// the formats of buffers.
static const struct {
    const char *array, *scalar, *convert, *ctype;
    char letter;
    const char *formats, *wider;
} kinds[] = {
#define KIND(name, type, fsm, ir, c, c_scalar, cpp, cpp_scalar, npy, numpy, ...) {numpy, __VA_ARGS__},
#include "../runtime/elements.def"
};

// ---- names

static bool is_keyword(const char *name) {
    static const char *const words[] = {"False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
                                        "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
                                        "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
                                        "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], name)) return true;
    return false;
}

bool cpu_python_importable(const char *name) {
    bool ok = isalpha((unsigned char)*name) || *name == '_';
    for (const char *c = name; *c; c++) ok &= isalnum((unsigned char)*c) || *c == '_';
    return ok && !is_keyword(name);
}

// A name of the user: never one of the module's own, nor one that Python keeps.
static const char *python_name(Arena *a, const char *name) {
    Str s = {0};
    if (!isalpha((unsigned char)*name)) str_putc(&s, 'x');
    for (const char *c = name; *c; c++)
        if (*c == '\'') str_puts(&s, "_prime");
        else str_putc(&s, isalnum((unsigned char)*c) ? *c : '_');
    if (is_keyword(str_text(&s)) || !strcmp(str_text(&s), "Array") || !strncmp(str_text(&s), "Fsm", 3)) str_putc(&s, '_');
    const char *result = arena_strdup(a, str_text(&s));
    str_free(&s);
    return result;
}

static const char *unique_name(Printer *p, const char *hint) {
    int n = p->f->ninputs + p->f->nparams;
    const char *base = python_name(p->arena, hint), *name = base;
    if (!strcmp(base, "out")) base = name = "out_";
    for (int tries = 2;; tries++) {
        bool used = false;
        for (int i = 0; i < n && !used; i++) used = p->names[i] && !strcmp(p->names[i], name);
        if (!used) return name;
        name = arena_printf(p->arena, "%s_%d", base, tries);
    }
}

// Names of the inputs, and after them of the parameters, which come first to their own names.
static void name_inputs(Printer *p) {
    const Func *f = p->f;
    int n = f->ninputs;
    p->names = ARENA_ARRAY(p->arena, const char *, n + f->nparams + 1);
    for (int k = 0; k < f->nparams; k++) {
        const SigParam *param = &f->params[k];
        const char *hint = param->name && *param->name ? param->name : arena_printf(p->arena, "arg%d", k);
        const char *name = unique_name(p, hint);
        p->names[n + k] = name;
        if (param->count == 1 && param->type->form != SIG_TUPLE) p->names[param->first] = name;
    }
    for (int i = 0; i < n; i++) {
        const char *hint = f->inputs[i]->name;
        if (!p->names[i]) p->names[i] = unique_name(p, hint && *hint ? hint : arena_printf(p->arena, "in%d", i));
    }
}

static const char *param_name(const Printer *p, int k) { return p->names[p->f->ninputs + k]; }

// ---- sizes

static const char *size_text(Printer *p, const Node *n, int prec);

static const char *infix(Printer *p, const Node *n, int prec, int own, const char *symbol) {
    const char *x = size_text(p, n->args[0], own), *y = size_text(p, n->args[1], own + 1);
    return arena_printf(p->arena, prec > own ? "(%s %s %s)" : "%s %s %s", x, symbol, y);
}

static const char *call(Printer *p, const char *function, const Node *n) {
    const char *x = size_text(p, n->args[0], 0);
    if (n->nargs == 1) return arena_printf(p->arena, "%s(%s)", function, x);
    return arena_printf(p->arena, "%s(%s, %s)", function, x, size_text(p, n->args[1], 0));
}

static bool is_negative(const Node *n) {
    if (n->op == OP_lit) return n->u.num < 0;
    return n->op == OP_neg || (n->op == OP_mul && is_negative(n->args[0]));
}

// Sums with the negative term last, so that n - 1 is not -1 + n.
static const char *sum(Printer *p, const Node *n, int prec) {
    const Node *x = n->args[0], *y = n->args[1];
    if (is_negative(x) && !is_negative(y)) {
        x = n->args[1];
        y = n->args[0];
    }
    const char *left = size_text(p, x, 5), *right = size_text(p, y, 5);
    const char *text =
        *right == '-' ? arena_printf(p->arena, "%s - %s", left, right + 1) : arena_printf(p->arena, "%s + %s", left, right);
    return prec > 5 ? arena_printf(p->arena, "(%s)", text) : text;
}

// An Int or Bool over the inputs in Python. prec is how tightly its surroundings bind: 1 `if`, 2 `or`, 3 `and`, 4
// comparisons, 5 sums, 6 products, 7 signs. NULL is never returned; what cannot be written is "?".
static const char *size_text(Printer *p, const Node *n, int prec) {
    Arena *a = p->arena;
    if (n->rank || kind_is_float(n->kind)) return "?";
    switch (n->op) {
    case OP_lit:
        if (n->kind == KIND_BOOL) return n->u.num ? "True" : "False";
        return arena_printf(a, n->u.num < 0 && prec > 5 ? "(%" PRId64 ")" : "%" PRId64, n->u.num);
    case OP_input: return p->names[n->u.num];
    case OP_add: return sum(p, n, prec);
    case OP_sub: return infix(p, n, prec, 5, "-");
    case OP_mul: return infix(p, n, prec, 6, "*");
    case OP_idiv: return call(p, "_div", n);
    case OP_irem: return call(p, "_rem", n);
    case OP_min: return call(p, "_min", n);
    case OP_max: return call(p, "_max", n);
    case OP_abs: return call(p, "_abs", n);
    case OP_neg: return arena_printf(a, prec > 7 ? "(-%s)" : "-%s", size_text(p, n->args[0], 7));
    case OP_lt: return infix(p, n, prec, 4, "<");
    case OP_le: return infix(p, n, prec, 4, "<=");
    case OP_eq: return infix(p, n, prec, 4, "==");
    case OP_ne: return infix(p, n, prec, 4, "!=");
    case OP_and: return infix(p, n, prec, 3, "and");
    case OP_or: return infix(p, n, prec, 2, "or");
    case OP_not: return arena_printf(a, "(%s)", call(p, "not", n));
    case OP_select:
        return arena_printf(a, "(%s if %s else %s)", size_text(p, n->args[1], 2), size_text(p, n->args[0], 2),
                            size_text(p, n->args[2], 2));
    case OP_conv: return n->args[0]->kind == KIND_INT32 ? size_text(p, n->args[0], prec) : "?";
    default: return "?";
    }
}

// The shape of an array as a tuple: "(n, 3)".
static const char *shape_text(Printer *p, const Node *n) {
    Str s = {0};
    str_putc(&s, '(');
    for (int k = 0; k < n->rank; k++)
        str_printf(&s, "%s%s", size_text(p, n->shape[k], 0), k + 1 < n->rank ? ", " : n->rank == 1 ? "," : "");
    str_putc(&s, ')');
    const char *text = arena_strdup(p->arena, str_text(&s));
    str_free(&s);
    return text;
}

// The same as F̃ writes it, for messages and documentation: "[n][3]", with / and % for the divisions.
static const char *extents_text(Printer *p, const Node *n) {
    Str s = {0};
    for (int k = 0; k < n->rank; k++) {
        str_putc(&s, '[');
        cpu_print_size(&s, n->shape[k], p->names);
        str_putc(&s, ']');
    }
    const char *text = arena_strdup(p->arena, str_text(&s));
    str_free(&s);
    return text;
}

// ---- documentation

// Text inside quotes of Python.
static void quoted(Str *out, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\\' || c == '"') str_printf(out, "\\%c", c);
        else if ((c < ' ' && c != '\t') || c == 127) str_printf(out, "\\x%02x", c);
        else str_putc(out, (char)c);
    }
}

// Text inside a """ string, indented.
static void doc_text(Printer *p, const char *text) {
    while (text && *text) {
        size_t n = strcspn(text, "\n");
        if (n) str_puts(p->out, "    ");
        quoted(p->out, text, n);
        str_putc(p->out, '\n');
        text += n + (text[n] == '\n');
    }
}

// A type as F̃ writes it.
static void type_text(Printer *p, Str *out, const SigType *t, bool nested) {
    if (t->form == SIG_SCALAR) {
        str_puts(out, kind_info[t->kind].fsm);
    } else if (t->form == SIG_TUPLE) {
        bool parens = nested || !t->nparts;
        if (parens) str_putc(out, '(');
        for (int k = 0; k < t->nparts; k++) {
            if (k) str_puts(out, " * ");
            type_text(p, out, t->parts[k], true);
        }
        if (parens) str_putc(out, ')');
    } else {
        const SigType *base = t;
        while (base->form == SIG_ARRAY) base = base->parts[0];
        type_text(p, out, base, true);
        for (; t != base; t = t->parts[0]) {
            str_putc(out, '[');
            if (t->extent) cpu_print_size(out, t->extent, p->names);
            str_putc(out, ']');
        }
    }
}

// The value of a type in Python, where an array of tuples is a tuple of arrays. leaf: its first input or output; `hint`:
// as an annotation.
static Node *const *value_text(Printer *p, Str *out, const SigType *t, Node *const *leaf, bool hint) {
    while (t->form == SIG_ARRAY) t = t->parts[0];
    if (t->form == SIG_TUPLE) {
        str_puts(out, hint ? t->nparts ? "tuple[" : "tuple" : "(");
        for (int k = 0; k < t->nparts; k++) {
            if (k) str_puts(out, ", ");
            leaf = value_text(p, out, t->parts[k], leaf, hint);
        }
        if (t->nparts || !hint) str_putc(out, hint ? ']' : ')');
        return leaf;
    }
    const Node *n = *leaf;
    if (!n->rank) str_puts(out, kinds[n->kind].scalar);
    else if (hint) str_puts(out, "Array");
    else str_printf(out, "%s%s", kinds[n->kind].array, extents_text(p, n));
    return leaf + 1;
}

// What evaluating an entry may raise, beyond what its parameters already may.
typedef struct Raises {
    Arena *arena;
    bool bounds, divides, range;
    VEC(const char *) asserts;
} Raises;

static void find_raises(Node *n, void *data) {
    Raises *r = data;
    if (!n->partial) return;
    r->bounds |= n->op == OP_at || n->op == OP_argmin || n->op == OP_argmax;
    r->divides |= n->op == OP_idiv || n->op == OP_irem;
    r->range |= n->op == OP_conv && n->kind == KIND_INT32;
    if (n->op != OP_assert || ir_is_demand(n)) return;
    if (ir_assert_code(n) == FSM_ERROR_BOUNDS) r->bounds = true;
    if (ir_assert_code(n) != FSM_ERROR_ASSERT) return;
    const char *text = ir_assert_text(r->arena, n);
    for (int i = 0; i < r->asserts.len; i++)
        if (!strcmp(r->asserts.data[i], text)) return;
    vec_push(&r->asserts, text);
}

static void print_raises(Printer *p) {
    const Func *f = p->f;
    Raises r = {.arena = p->arena};
    ir_walk(func_roots(f), f->outputs, find_raises, &r);
    Str s = {0};
    if (f->ninputs > f->nsizes) str_puts(&s, "FsmTypeError: an argument has the wrong type\n");
    bool shaped = f->nchecks;
    for (int i = 0; i < f->ninputs; i++) shaped |= f->inputs[i]->rank > 0;
    if (shaped) str_puts(&s, "FsmSizeError: an argument has the wrong shape, or a size is negative\n");
    if (r.bounds) str_puts(&s, "FsmBoundsError: an index is out of range\n");
    if (r.divides) str_puts(&s, "FsmDivideError: an Int is divided by zero\n");
    if (r.range) str_puts(&s, "FsmRangeError: a result does not fit into its type\n");
    for (int i = 0; i < r.asserts.len; i++) str_printf(&s, "FsmAssertError: %s\n", r.asserts.data[i]);
    if (s.len) {
        str_puts(p->out, "\n    Raises\n    ------\n");
        doc_text(p, str_text(&s));
    }
    vec_free(&r.asserts);
    str_free(&s);
}

static bool takes_value(const SigParam *param) { return param->count > 0; }

static void print_doc(Printer *p, const SigType *result) {
    const Func *f = p->f;
    Str s = {0};
    str_puts(p->out, "    \"\"\"\n");
    if (f->doc && *f->doc) {
        doc_text(p, f->doc);
        str_putc(p->out, '\n');
    }
    str_printf(&s, "entry %s", f->name);
    for (int k = 0; k < f->nparams; k++) {
        str_printf(&s, " (%s: ", f->params[k].name && *f->params[k].name ? f->params[k].name : "_");
        type_text(p, &s, f->params[k].type, false);
        str_putc(&s, ')');
    }
    str_puts(&s, " : ");
    type_text(p, &s, result, false);
    str_puts(&s, "\n\nParameters\n----------\n");
    for (int k = 0; k < f->nparams; k++) {
        if (!takes_value(&f->params[k])) continue;
        str_printf(&s, "%s : ", param_name(p, k));
        value_text(p, &s, f->params[k].type, f->inputs + f->params[k].first, false);
        str_putc(&s, '\n');
    }
    bool arrays = false;
    for (int k = 0; k < f->noutputs; k++) arrays |= f->outputs[k]->rank > 0;
    if (arrays) str_puts(&s, "out : where to put the arrays of the result, with None for what is to be made\n");
    str_puts(&s, "\nReturns\n-------\n");
    value_text(p, &s, result, f->outputs, false);
    doc_text(p, str_text(&s));
    str_free(&s);
    print_raises(p);
    str_puts(p->out, "    \"\"\"\n");
}

// ---- arguments

// The place of a value inside a parameter or `out`, for messages: "p[0][1]".
static const char *part_path(Printer *p, const char *path, int k) { return arena_printf(p->arena, "%s[%d]", path, k); }

// Converts the value in the variable `name`, whose leaves begin at an input.
static int convert(Printer *p, const SigType *t, int input, const char *name, const char *path) {
    while (t->form == SIG_ARRAY) t = t->parts[0];
    if (t->form == SIG_SCALAR) {
        const Node *n = p->f->inputs[input];
        const char *leaf = p->names[input];
        if (n->rank)
            str_printf(p->out, "    _in_%s = _array(\"%s\", %s, _kind_%s, %d)\n", leaf, path, name, kinds[n->kind].array, n->rank);
        else str_printf(p->out, "    %s = %s(\"%s\", %s)\n", leaf, kinds[n->kind].convert, path, name);
        return input + 1;
    }
    const char **parts = ARENA_ARRAY(p->arena, const char *, t->nparts + 1);
    int first = p->temporaries;
    p->temporaries += t->nparts;
    str_puts(p->out, "    ");
    for (int k = 0; k < t->nparts; k++) {
        parts[k] = arena_printf(p->arena, "_part%d", first + k);
        str_printf(p->out, "%s%s", parts[k], k + 1 < t->nparts ? ", " : t->nparts == 1 ? ", = " : " = ");
    }
    str_printf(p->out, "_parts(\"%s\", %s, %d)\n", path, name, t->nparts);
    for (int k = 0; k < t->nparts; k++) input = convert(p, t->parts[k], input, parts[k], part_path(p, path, k));
    return input;
}

// The argument that a leaf belongs to, for messages.
static const char *leaf_param(const Printer *p, int input) {
    for (int k = 0; k < p->f->nparams; k++) {
        const SigParam *param = &p->f->params[k];
        if (input >= param->first && input < param->first + param->count) return param_name(p, k);
    }
    return p->names[input];
}

// The first array that has a size as an extent of its own; its axis in *axis.
static int size_source(const Printer *p, int size, int *axis) {
    const Func *f = p->f;
    for (int i = f->nsizes; i < f->ninputs; i++)
        for (int k = 0; k < f->inputs[i]->rank; k++)
            if (f->inputs[i]->shape[k] == f->inputs[size]) {
                *axis = k;
                return i;
            }
    return -1;
}

// Nested lists without elements do not tell their inner extents (None); then the next array does.
static void bind_size(Printer *p, int size) {
    const Func *f = p->f;
    const char *name = p->names[size];
    bool bound = false, certain = false;
    for (int i = f->nsizes; i < f->ninputs && !certain; i++)
        for (int k = 0; k < f->inputs[i]->rank && !certain; k++) {
            if (f->inputs[i]->shape[k] != f->inputs[size]) continue;
            if (bound) str_printf(p->out, "    if %s is None:\n    ", name);
            str_printf(p->out, "    %s = _in_%s[1][%d]\n", name, p->names[i], k);
            bound = true;
            certain = k == 0;
        }
    if (bound && !certain) str_printf(p->out, "    if %s is None:\n        %s = 0\n", name, name);
}

// Which other arrays the sizes in an extent of an input come from, as further arguments of _check_shape; `seen` is one
// flag a size.
static void size_origins(Printer *p, const Node *n, int input, bool *seen) {
    int axis;
    if (n->op == OP_input && n->u.num < p->f->nsizes && !seen[n->u.num]) {
        int from = size_source(p, (int)n->u.num, &axis);
        seen[n->u.num] = true;
        if (from >= 0 && from != input)
            str_printf(p->out, ", (\"%s\", %s, \"%s\")", p->names[n->u.num], p->names[n->u.num], leaf_param(p, from));
    }
    for (int i = 0; i < n->nargs; i++) size_origins(p, n->args[i], input, seen);
}

static void check_shape(Printer *p, int input, const char *path) {
    const Func *f = p->f;
    const Node *n = f->inputs[input];
    int axis;
    bool known = true; // all extents are sizes that this very array gives
    for (int k = 0; k < n->rank; k++)
        known &= n->shape[k]->op == OP_input && n->shape[k]->u.num < f->nsizes &&
                 size_source(p, (int)n->shape[k]->u.num, &axis) == input && axis == k;
    if (known) return;
    str_printf(p->out, "    _check_shape(\"%s\", _in_%s[1], %s, \"%s\"", path, p->names[input], shape_text(p, n),
               extents_text(p, n));
    bool *seen = ARENA_ARRAY(p->arena, bool, f->nsizes + 1);
    for (int k = 0; k < n->rank; k++) size_origins(p, n->shape[k], input, seen);
    str_puts(p->out, ")\n");
}

static int check_shapes(Printer *p, const SigType *t, int input, const char *path) {
    while (t->form == SIG_ARRAY) t = t->parts[0];
    if (t->form == SIG_TUPLE) {
        for (int k = 0; k < t->nparts; k++) input = check_shapes(p, t->parts[k], input, part_path(p, path, k));
        return input;
    }
    if (p->f->inputs[input]->rank) check_shape(p, input, path);
    return input + 1;
}

// ---- results

static bool is_known(Printer *p, const Node *n) {
    for (int k = 0; k < n->rank; k++)
        if (strchr(size_text(p, n->shape[k], 0), '?')) return false;
    return true;
}

// The number of extents that NAME_sizes gives: all of all arrays, in order.
static int count_extents(const Func *f) {
    int n = 0;
    for (int i = 0; i < f->noutputs; i++) n += f->outputs[i]->rank;
    return n;
}

// The shape of an output, from the sizes or from the query's answers.
static const char *output_shape(Printer *p, int output) {
    const Func *f = p->f;
    if (!p->asks) return shape_text(p, f->outputs[output]);
    int first = 0;
    for (int i = 0; i < output; i++) first += f->outputs[i]->rank;
    return arena_printf(p->arena, "_tuple(_extents_[%d:%d])", first, first + f->outputs[output]->rank);
}

// Makes room for the outputs of a result; `given` is the variable with what the caller gave, NULL if there is no `out`.
static int make_room(Printer *p, const SigType *t, int output, const char *given, const char *path) {
    while (t->form == SIG_ARRAY) t = t->parts[0];
    if (t->form == SIG_SCALAR) {
        const Node *n = p->f->outputs[output];
        if (n->rank) {
            str_printf(p->out, "    _out%d = _result(\"%s\", %s, _kind_%s, %s)\n", output, path, given, kinds[n->kind].array,
                       output_shape(p, output));
        } else {
            if (given) str_printf(p->out, "    _no_array(\"%s\", %s)\n", path, given);
            str_printf(p->out, "    _out%d = _ctypes.%s()\n", output, kinds[n->kind].ctype);
        }
        return output + 1;
    }
    const char **parts = ARENA_ARRAY(p->arena, const char *, t->nparts + 1);
    int first = p->temporaries;
    p->temporaries += t->nparts;
    if (given && t->nparts) {
        str_puts(p->out, "    ");
        for (int k = 0; k < t->nparts; k++) {
            parts[k] = arena_printf(p->arena, "_part%d", first + k);
            str_printf(p->out, "%s%s", parts[k], k + 1 < t->nparts ? ", " : t->nparts == 1 ? ", = " : " = ");
        }
        str_printf(p->out, "_given(\"%s\", %s, %d)\n", path, given, t->nparts);
    }
    for (int k = 0; k < t->nparts; k++) output = make_room(p, t->parts[k], output, parts[k], part_path(p, path, k));
    return output;
}

static int result_text(Printer *p, const SigType *t, int output) {
    while (t->form == SIG_ARRAY) t = t->parts[0];
    if (t->form == SIG_SCALAR) {
        str_printf(p->out, p->f->outputs[output]->rank ? "_out%d[1]" : "_out%d.value", output);
        return output + 1;
    }
    str_putc(p->out, '(');
    for (int k = 0; k < t->nparts; k++) {
        if (k) str_putc(p->out, ' ');
        output = result_text(p, t->parts[k], output);
        if (k + 1 < t->nparts || t->nparts == 1) str_putc(p->out, ',');
    }
    str_putc(p->out, ')');
    return output;
}

// ---- functions

// Without a recorded type: a tuple of the outputs (as in textual IR).
static const SigType *result_type(Printer *p) {
    const Func *f = p->f;
    if (f->result) return f->result;
    SigType *t = ARENA_NEW(p->arena, SigType);
    *t = (SigType){.form = SIG_TUPLE, .nparts = f->noutputs, .parts = ARENA_ARRAY(p->arena, SigType *, f->noutputs + 1)};
    for (int k = 0; k < f->noutputs; k++) {
        t->parts[k] = ARENA_NEW(p->arena, SigType);
        *t->parts[k] = (SigType){.form = SIG_SCALAR, .kind = f->outputs[k]->kind};
    }
    return f->noutputs == 1 ? t->parts[0] : t;
}

static void print_head(Printer *p, const char *name, const SigType *result, bool arrays) {
    const Func *f = p->f;
    const char *comma = "";
    str_printf(p->out, "\n\ndef %s(", name);
    for (int k = 0; k < f->nparams; k++) {
        if (!takes_value(&f->params[k])) continue;
        str_printf(p->out, "%s%s: ", comma, param_name(p, k));
        value_text(p, p->out, f->params[k].type, f->inputs + f->params[k].first, true);
        comma = ", ";
    }
    if (arrays) str_printf(p->out, "%s*, out=None", comma);
    str_puts(p->out, ") -> ");
    value_text(p, p->out, result, f->outputs, true);
    str_puts(p->out, ":\n");
}

static void print_inputs(Printer *p, const char *function) {
    const Func *f = p->f;
    str_printf(p->out, "    _code = _c_%s(_ctx", function);
    for (int i = 0; i < f->ninputs; i++) str_printf(p->out, f->inputs[i]->rank ? ", _in_%s[0]" : ", %s", p->names[i]);
}

static void print_query(Printer *p, const char *c_name) {
    int n = count_extents(p->f);
    str_printf(p->out, "    _ctx = _context()\n    _extents_ = (_ctypes.c_int64 * %d)()\n", n);
    print_inputs(p, arena_printf(p->arena, "%s_sizes", c_name));
    for (int i = 0; i < n; i++) str_printf(p->out, ", _ctypes.byref(_extents_, %d)", i * 8);
    str_puts(p->out, ")\n    if _code:\n        _fail(_ctx, _code)\n");
}

static void print_call(Printer *p, const char *c_name) {
    const Func *f = p->f;
    if (!p->asks) str_puts(p->out, "    _ctx = _context()\n");
    print_inputs(p, c_name);
    for (int k = 0; k < f->noutputs; k++) str_printf(p->out, f->outputs[k]->rank ? ", _out%d[0]" : ", _ctypes.byref(_out%d)", k);
    str_puts(p->out, ")\n    if _code:\n        _fail(_ctx, _code)\n");
}

// The variable of a C function: its name and one letter for each parameter.
static void print_entry(Printer *p, const char *c_name, int nresults) {
    const Func *f = p->f;
    str_printf(p->out, "_c_%s = _entry(\"%s\", \"", c_name, c_name);
    for (int i = 0; i < f->ninputs; i++) str_putc(p->out, f->inputs[i]->rank ? 'p' : kinds[f->inputs[i]->kind].letter);
    for (int k = 0; k < nresults; k++) str_putc(p->out, 'p');
    str_puts(p->out, "\")\n");
}

static bool check_sizes(Printer *p) {
    const Func *f = p->f;
    bool ok = true;
    for (int i = 0; i < f->ninputs; i++) ok &= is_known(p, f->inputs[i]);
    if (!ok) diag_error(p->diag, f->span, "entry `%s` has a parameter whose size Python cannot compute", f->name);
    int axis;
    for (int k = 0; k < f->nsizes; k++) {
        if (size_source(p, k, &axis) >= 0) continue;
        diag_error(p->diag, f->span, "the size `%s` of entry `%s` is not the length of any argument", p->names[k], f->name);
        ok = false;
    }
    return ok;
}

static bool print_function(Printer *p, const char *name) {
    const Func *f = p->f;
    name_inputs(p);
    if (!check_sizes(p)) return false;
    const SigType *result = result_type(p);
    const char *c_name = cpu_c_name(p->arena, f->name);
    bool arrays = false;
    for (int k = 0; k < f->noutputs; k++) arrays |= f->outputs[k]->rank > 0;
    p->asks = false;
    for (int k = 0; k < f->noutputs; k++) p->asks |= !is_known(p, f->outputs[k]);
    str_puts(p->out, "\n\n");
    print_entry(p, c_name, f->noutputs);
    if (p->asks) print_entry(p, arena_printf(p->arena, "%s_sizes", c_name), count_extents(f));
    print_head(p, name, result, arrays);
    print_doc(p, result);
    p->temporaries = 0;
    for (int k = 0; k < f->nparams; k++)
        if (takes_value(&f->params[k])) convert(p, f->params[k].type, f->params[k].first, param_name(p, k), param_name(p, k));
    for (int k = 0; k < f->nsizes; k++) bind_size(p, k);
    for (int k = 0; k < f->nparams; k++) check_shapes(p, f->params[k].type, f->params[k].first, param_name(p, k));
    if (p->asks) print_query(p, c_name);
    make_room(p, result, 0, arrays ? "out" : NULL, "out");
    print_call(p, c_name);
    str_puts(p->out, "    return ");
    result_text(p, result, 0);
    str_putc(p->out, '\n');
    return true;
}

// ---- the module

static void print_codes(Str *out) {
    static const struct {
        int code;
        const char *name;
    } errors[] = {{FSM_ERROR_NEGATIVE, "Size"}, {FSM_ERROR_OVERFLOW, "Size"},   {FSM_ERROR_SIZE, "Size"},
                  {FSM_ERROR_BOUNDS, "Bounds"}, {FSM_ERROR_ASSERT, "Assert"},   {FSM_ERROR_DIVIDE, "Divide"},
                  {FSM_ERROR_MEMORY, "Memory"}, {FSM_ERROR_OVERLAP, "Overlap"}, {FSM_ERROR_CANCELLED, "Cancelled"},
                  {FSM_ERROR_NAN, "Nan"},       {FSM_ERROR_RANGE, "Range"}};
    str_puts(out, "_codes.update({\n");
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        str_printf(out, "    %d: Fsm%sError,\n", errors[i].code, errors[i].name);
    str_puts(out, "})\nfor _code, _error in _codes.items():\n    _error.code = _code\ndel _code, _error\n");
}

static void print_kinds(Str *out) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        str_printf(out, "_kind_%s = _Kind(\"%s\", _ctypes.%s, \"%s\", \"%s\", %s)\n", kinds[i].array, kinds[i].array,
                   kinds[i].ctype, kinds[i].formats, kinds[i].wider, kinds[i].convert);
}

static void print_preamble(Str *out, const char *source, const char *library, int n, const char *const *names) {
    str_puts(out, "\"\"\"Compiled from the F̃ program ");
    quoted(out, source, strlen(source));
    str_puts(out, ".\n\n"
                  "An array argument may be a numpy array, a buffer, or nested lists; it is used in place if it is contiguous and\n"
                  "has the right type of elements. Results are numpy arrays, or memoryviews where there is no numpy. Errors are\n"
                  "exceptions of the class FsmError. Several threads may call at once.\n"
                  "\"\"\"\n\n# Written by fsmc.\n\n");
    str_puts(out, fsmc_python_files[0].text);
    str_puts(out, "\n\n# ---- the entries\n\n__all__ = [\n");
    for (int i = 0; i < n; i++) str_printf(out, "    \"%s\",\n", names[i]);
    str_puts(out, "    \"FsmError\",\n]\n\n");
    print_kinds(out);
    print_codes(out);
    str_puts(out, "_load(\"");
    quoted(out, library, strlen(library));
    str_printf(out, "\", %d)\n", FSM_ABI_VERSION);
}

bool cpu_python(Str *out, Diag *diag, const char *source, const char *library, int nfuncs, Func *const *funcs) {
    Arena *a = arena_new();
    Printer p = {.out = out, .arena = a, .diag = diag};
    const char **names = ARENA_ARRAY(a, const char *, nfuncs + 1);
    bool ok = true;
    for (int i = 0; i < nfuncs; i++) {
        names[i] = python_name(a, funcs[i]->name);
        for (int k = 0; k < i; k++) {
            if (strcmp(names[i], names[k])) continue;
            diag_error(diag, funcs[i]->span, "entries `%s` and `%s` would both be `%s` in Python", funcs[k]->name, funcs[i]->name,
                       names[i]);
            ok = false;
        }
    }
    print_preamble(out, source, library, nfuncs, names);
    for (int i = 0; i < nfuncs && ok; i++) {
        p.f = funcs[i];
        ok &= print_function(&p, names[i]);
    }
    arena_free(a);
    return ok;
}
