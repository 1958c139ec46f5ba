// The form of an expression: a text that is the same for all that differ only in the names of variables bound in or around them,
// and in the order of factors.
#include "pass/trace.h"

#include <string.h>

enum { LONGEST = 1000 };

typedef struct Former {
    Str *text;
    int nw, found, nbound;
    Var *const *w, *order[PART_RANK], *bound[64]; // variables around it; these as they are found; those bound in it
    bool erased;                                  // variables have no names
    bool failed;
} Former;

static void put_bytes(Former *f, const void *bytes, size_t n) {
    if (f->text->len > LONGEST) f->failed = true;
    else str_write(f->text, bytes, n);
}

static bool is_free(const Former *f, const Node *e) {
    for (int i = 0; i < f->nw + f->nbound; i++)
        if (node_has_var(e, i < f->nw ? f->w[i] : f->bound[i - f->nw])) return false;
    return true;
}

// Variables are called by their places: those bound in it in the order in which they are, those around it as they are found.
static void put_var(Former *f, Var *v) {
    bool around = false;
    int at = 0;
    for (int i = 0; i < f->nw; i++) around |= f->w[i] == v;
    while (at < (around ? f->found : f->nbound) && (around ? f->order[at] : f->bound[at]) != v) at++;
    if (around && at == f->found) f->order[f->found++] = v;
    char name[] = {around ? 'w' : 'v', (char)at};
    put_bytes(f, f->erased ? "??" : name, sizeof name);
}

static void put(Former *f, Node *e);

// Factors stand in the order of their texts without names.
static bool is_later(Former *f, Node *a, Node *b) {
    Str text[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        Former g = *f;
        g.text = &text[i], g.erased = true;
        put(&g, i ? b : a);
        f->failed |= g.failed;
    }
    size_t n = text[0].len < text[1].len ? text[0].len : text[1].len;
    int order = n ? memcmp(text[0].data, text[1].data, n) : 0;
    bool later = order > 0 || (!order && text[0].len > text[1].len);
    str_free(&text[0]), str_free(&text[1]);
    return later;
}

static void put(Former *f, Node *e) {
    char head[] = {(char)e->op, (char)e->kind, (char)e->nargs};
    bool binds = ir_is_binder(e), known = is_free(f, e);
    if (f->failed) return;
    if (known && !binds) {
        put_bytes(f, "=", 1);
        put_bytes(f, &e->id, sizeof e->id);
    } else if (e->op == OP_var) {
        put_var(f, e->u.var);
    } else if (ir_is_loop(e) || e->op == OP_extern || e->op == OP_assert || e->op == OP_evaluated ||
               f->nbound == sizeof f->bound / sizeof *f->bound) {
        f->failed = true;
    } else {
        bool swap = e->op == OP_mul && is_later(f, e->args[0], e->args[1]);
        put_bytes(f, head, sizeof head);
        if (e->op == OP_final || e->op == OP_trace) put_bytes(f, &e->u.num, sizeof e->u.num);
        if (binds) put(f, e->u.var->extent), f->bound[f->nbound++] = e->u.var;
        for (int i = 0; i < e->nargs; i++) put(f, e->args[swap ? 1 - i : i]);
        f->nbound -= binds;
    }
}

bool form_of(Node *e, int n, Var *const *w, Form *out) {
    Former f = {.text = &out->text, .nw = n, .w = w};
    put(&f, e);
    for (int i = 0; i < f.found; i++) out->w[i] = f.order[i];
    for (int i = 0; i < f.found; i++) put(&f, f.order[i]->extent);
    return !f.failed && f.found == n;
}
