// Graphviz's form of a function. As in the textual form, a value stands in the innermost body that binds one of its free
// variables, once per body that needs it.
#include "ir/dot_print.h"

#include "support/map.h"

#include <string.h>

// A body: of a binder, or the function's own. Its text is written before that of the body around it.
typedef struct Body {
    struct Body *outer;
    const Node *binder;
    const char **names; // of the variables that it binds
    Map number;         // Node * -> the number of the value here
    Str text;
    int depth;
} Body;

typedef struct Dot {
    Arena *arena;
    Str edges;
    uintptr_t count;
    uint64_t *input; // by input: the number of its node, 0 if there is none yet
} Dot;

static int count_vars(const Node *e) { return ir_is_binder(e) ? 1 : e->u.loop->n + (e->u.loop->index != NULL); }

static Var *bound_var(const Node *e, int k) {
    if (ir_is_binder(e)) return e->u.var;
    const Loop *l = e->u.loop;
    if (l->index && k-- == 0) return l->index;
    return l->state[k];
}

static int bound_number(const Body *b, const Var *v) {
    int n = b->binder ? count_vars(b->binder) : 0;
    for (int k = 0; k < n; k++)
        if (bound_var(b->binder, k) == v) return k;
    return -1;
}

static bool is_taken(const Body *b, const char *name) {
    for (; b->binder; b = b->outer)
        for (int k = 0, n = count_vars(b->binder); k < n; k++)
            if (b->names[k] && !strcmp(b->names[k], name)) return true;
    return false;
}

static Body *open_body(Dot *d, Body *outer, const Node *binder) {
    Body *b = ARENA_NEW(d->arena, Body);
    *b = (Body){.outer = outer, .binder = binder, .depth = outer ? outer->depth + 1 : 0};
    int n = binder ? count_vars(binder) : 0;
    b->names = ARENA_ARRAY(d->arena, const char *, n + 1);
    for (int k = 0; k < n; k++) {
        const char *hint = bound_var(binder, k)->name, *name = hint ? hint : "v";
        for (int i = 2; is_taken(b, name); i++) name = arena_printf(d->arena, "%s_%d", hint ? hint : "v", i);
        b->names[k] = name;
    }
    return b;
}

static void close_body(Body *b) {
    map_free(&b->number);
    str_free(&b->text);
}

static Body *home_of(Body *b, const Node *e) {
    for (; b->binder; b = b->outer)
        for (int k = 0; k < e->fv->n; k++)
            if (bound_number(b, e->fv->v[k]) >= 0) return b;
    return b;
}

// ---- labels

// Text inside a quoted label.
static void put_text(Str *out, const char *s) {
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') str_putc(out, '\\');
        if (*s == '\n') str_puts(out, "\\\\n");
        else str_putc(out, *s);
    }
}

static void put_name(Str *out, const Body *b, const Var *v) {
    for (; b; b = b->outer) {
        int k = bound_number(b, v);
        if (k >= 0) {
            put_text(out, b->names[k]);
            return;
        }
    }
    put_text(out, v->name ? v->name : "v");
}

static void put_literal(Str *out, const Node *e) {
    if (e->kind == KIND_BOOL) str_puts(out, e->u.num ? "true" : "false");
    else if (e->kind == KIND_INT) str_printf(out, "%lld", (long long)e->u.num);
    else str_double(out, e->u.real);
}

// Is e written where it is used?
static bool is_inline(const Node *e) {
    return e->op == OP_lit || e->op == OP_var || e->op == OP_param || (e->op == OP_input && !e->rank && e->kind == KIND_INT);
}

static void put_operand(Str *out, const Body *b, const Node *e) {
    if (e->op == OP_lit) put_literal(out, e);
    else if (e->op == OP_var) put_name(out, b, e->u.var);
    else if (is_inline(e) && e->name) put_text(out, e->name);
    else str_puts(out, "·");
}

static void put_type(Str *out, const Body *b, const Node *e) {
    str_puts(out, kind_name(e->kind));
    for (int k = 0; k < e->rank; k++) {
        str_puts(out, k ? ", " : "[");
        put_operand(out, b, e->shape[k]);
    }
    if (e->rank) str_putc(out, ']');
}

// "sum i < n": a binder and the variables that it binds.
static void put_head(Str *out, const Body *outer, const Body *inner) {
    const Node *e = inner->binder;
    str_puts(out, op_info[e->op].name);
    for (int k = 0, n = count_vars(e); k < n; k++) {
        const Var *v = bound_var(e, k);
        str_puts(out, k ? ", " : " ");
        put_text(out, inner->names[k]);
        if (!v->extent) continue;
        str_puts(out, " < ");
        put_operand(out, outer, v->extent);
    }
}

static void put_label(Str *out, const Body *home, const Body *inner, const Node *e) {
    if (inner) {
        put_head(out, home, inner);
    } else if (e->op == OP_at) {
        put_operand(out, home, e->args[0]);
        for (int k = 1; k < e->nargs; k++) {
            str_puts(out, k > 1 ? ", " : "[");
            put_operand(out, home, e->args[k]);
        }
        str_putc(out, ']');
    } else {
        str_puts(out, op_info[e->op].name);
        if (e->op == OP_conv) str_printf(out, " %s", kind_name(e->kind));
        if (e->op == OP_final || e->op == OP_trace) str_printf(out, " %lld", (long long)e->u.num);
        for (int k = 0; k < e->nargs; k++) {
            str_putc(out, ' ');
            put_operand(out, home, e->args[k]);
        }
        if (e->op == OP_assert) {
            str_puts(out, "\\n");
            put_text(out, e->u.text);
        }
    }
    if (!e->rank) return;
    str_puts(out, "\\n");
    put_type(out, home, e);
}

// ---- nodes and edges

static uintptr_t place(Dot *d, Body *b, Node *e);

static void edge(Dot *d, Body *b, Node *from, uintptr_t to, const char *attributes) {
    uintptr_t n = place(d, b, from);
    if (n) str_printf(&d->edges, "  n%llu -> n%llu%s;\n", (unsigned long long)n, (unsigned long long)to, attributes);
}

static void indent(Body *b) { str_indent(&b->text, 2 * b->depth + 2); }

static uintptr_t place_input(Dot *d, Body *b, const Node *e) {
    Body *top = b;
    while (top->outer) top = top->outer;
    uint64_t *n = &d->input[e->u.num];
    if (*n) return *n;
    *n = ++d->count;
    indent(top);
    str_printf(&top->text, "n%llu [shape=ellipse, label=\"", (unsigned long long)*n);
    put_text(&top->text, e->name);
    str_puts(&top->text, "\\n");
    put_type(&top->text, top, e);
    str_puts(&top->text, "\"];\n");
    return *n;
}

// The body of binder number n, as a cluster in the text of its home.
static void put_cluster(Dot *d, Body *home, Body *inner, const Node *e, uintptr_t n) {
    int first = ir_is_loop(e) ? e->u.loop->n : 0;
    for (int k = first; k < e->nargs; k++) {
        bool test = e->op == OP_while && k == first;
        Node *result = e->args[k];
        if (!is_inline(result)) {
            edge(d, inner, result, n, test ? " [style=dotted]" : " [style=dashed]");
            continue;
        }
        uintptr_t id = ++d->count;
        indent(inner);
        str_printf(&inner->text, "n%llu [shape=plaintext, label=\"", (unsigned long long)id);
        put_operand(&inner->text, inner, result);
        str_puts(&inner->text, "\"];\n");
        str_printf(&d->edges, "  n%llu -> n%llu [style=%s];\n", (unsigned long long)id, (unsigned long long)n,
                   test ? "dotted" : "dashed");
    }
    indent(home);
    str_printf(&home->text, "subgraph cluster_%llu {\n", (unsigned long long)n);
    indent(inner);
    str_puts(&inner->text, "label=\"");
    put_head(&inner->text, home, inner);
    str_puts(&inner->text, "\";\n");
    str_puts(&home->text, str_text(&inner->text));
    indent(home);
    str_puts(&home->text, "}\n");
}

// The number of e's node, which is made if there is none yet; 0 if e is written where it is used.
static uintptr_t place(Dot *d, Body *b, Node *e) {
    if (is_inline(e)) return 0;
    if (e->op == OP_input) return place_input(d, b, e);
    Body *home = home_of(b, e);
    uintptr_t n = (uintptr_t)map_get(&home->number, e);
    if (n) return n;
    n = ++d->count;
    map_put(&home->number, e, (void *)n);
    bool binds = ir_is_binder(e) || ir_is_loop(e);
    Body *inner = binds ? open_body(d, home, e) : NULL;
    int outside = !binds ? e->nargs : ir_is_loop(e) ? e->u.loop->n : 0;
    const Var *index = !binds ? NULL : ir_is_loop(e) ? e->u.loop->index : e->u.var;
    if (index) edge(d, home, index->extent, n, "");
    for (int k = 0; k < outside; k++) edge(d, home, e->args[k], n, "");
    if (inner) put_cluster(d, home, inner, e, n);
    indent(home);
    str_printf(&home->text, "n%llu [label=\"", (unsigned long long)n);
    put_label(&home->text, home, inner, e);
    str_puts(&home->text, "\"];\n");
    if (inner) close_body(inner);
    return n;
}

static void put_output(Dot *d, Body *top, const Func *f, int k) {
    uintptr_t n = ++d->count;
    const char *name = f->output_names ? f->output_names[k] : NULL;
    indent(top);
    str_printf(&top->text, "n%llu [shape=ellipse, style=bold, label=\"", (unsigned long long)n);
    put_text(&top->text, name ? name : f->noutputs == 1 ? "result" : arena_printf(d->arena, "result %d", k));
    if (is_inline(f->outputs[k])) {
        str_puts(&top->text, " = ");
        put_operand(&top->text, top, f->outputs[k]);
    }
    str_puts(&top->text, "\"];\n");
    edge(d, top, f->outputs[k], n, "");
}

void dot_print(Str *out, const Func *f) {
    Dot d = {.arena = arena_new()};
    Body *top = open_body(&d, NULL, NULL);
    d.input = ARENA_ARRAY(d.arena, uint64_t, f->ninputs + 1);
    for (int k = 0; k < f->noutputs; k++) put_output(&d, top, f, k);
    str_puts(out, "digraph \"");
    put_text(out, f->name);
    str_puts(out, "\" {\n  label=\"");
    put_text(out, f->name);
    str_puts(out, "\"; labelloc=t; node [shape=box];\n");
    str_puts(out, str_text(&top->text));
    str_puts(out, str_text(&d.edges));
    str_puts(out, "}\n");
    close_body(top);
    str_free(&d.edges);
    arena_free(d.arena);
}
