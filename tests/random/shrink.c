#include "random/term.h"

#include <string.h>

// ---- printing

bool sort_same(const Sort *a, const Sort *b) {
    if (a == b) return true;
    if (a->form != b->form) return false;
    if (a->form == 'a') return !strcmp(a->extent, b->extent) && sort_same(a->part, b->part);
    return a->form != 't' || (sort_same(a->part, b->part) && sort_same(a->other, b->other));
}

static void print_extents(Str *out, const Sort *t) {
    for (; t->form == 'a'; t = t->part) str_printf(out, "[%s]", t->extent);
}

void sort_print(Str *out, const Sort *t) {
    const Sort *e = t;
    while (e->form == 'a') e = e->part;
    if (e->form == 't') {
        str_putc(out, '(');
        sort_print(out, e->part);
        str_puts(out, " * ");
        sort_print(out, e->other);
        str_putc(out, ')');
    } else {
        str_puts(out, e->form == 'r' ? "Double" : e->form == 'f' ? "Float" : e->form == 'i' ? "Int" : "Bool");
    }
    print_extents(out, t);
}

static void print_term(Str *out, const Piece *t) {
    for (const char *p = t->text; *p; p++)
        if (*p == '$') print_term(out, t->part[*++p - '0']);
        else str_putc(out, *p);
}

const char *sample_text(const Sample *s) {
    Str out = {0}, body = {0};
    print_term(&body, s->body);
    if (strstr(str_text(&body), "(j0 "))
        str_puts(&out, "extern jn (n: Int) (x: Double) : Double\n"
                       "extern j1 (x: Double) : Double with jvp = fun x dx -> 0.5 * (j0 x - jn 2 x) * dx\n"
                       "extern j0 (x: Double) : Double with jvp = fun x dx -> -(j1 x) * dx\n");
    str_puts(&out, "entry f");
    for (int k = 0; k < s->nparams; k++) {
        if (s->param[k].gone) continue;
        str_printf(&out, " (%s: ", s->param[k].name);
        if (s->param[k].spelt) str_puts(&out, s->param[k].spelt);
        else sort_print(&out, s->param[k].type);
        str_putc(&out, ')');
    }
    str_puts(&out, " =\n  ");
    str_puts(&out, str_text(&body));
    str_putc(&out, '\n');
    if (s->nests) nest_print_derivatives(&out, s);
    const char *text = arena_strdup(s->arena, str_text(&out));
    str_free(&out), str_free(&body);
    return text;
}

int piece_size(const Piece *t) {
    int n = 1;
    for (int k = 0; k < t->n; k++) n += piece_size(t->part[k]);
    return n;
}

// ---- shrinking

static Piece *leaf(Arena *a, const Sort *t, const char *text) {
    Piece *r = ARENA_NEW(a, Piece);
    *r = (Piece){.type = t, .text = text};
    return r;
}

Piece *piece_simplest(Arena *a, const Sort *t) {
    static const Sort real = {.form = 'r'};
    switch (t->form) {
    case 'r': return leaf(a, t, "0.5");
    case 'f': return leaf(a, t, "(float 0.5)");
    case 'i': return leaf(a, t, "0");
    case 'b': return leaf(a, t, "true");
    case 'a': {
        Piece *r = leaf(a, t, arena_printf(a, "(build (%s) (fun q -> $0))", t->extent));
        r->n = 1, r->part[0] = piece_simplest(a, t->part ? t->part : &real);
        return r;
    }
    default: {
        Piece *r = leaf(a, t, "($0, $1)");
        r->n = 2, r->part[0] = piece_simplest(a, t->part), r->part[1] = piece_simplest(a, t->other);
        return r;
    }
    }
}

static const Sort integer = {.form = 'i'};

typedef struct Shrink {
    Sample *s;
    bool (*fails)(void *data, const char *text);
    void *data;
    int left;
} Shrink;

static bool still_fails(Shrink *x) {
    if (x->left <= 0) return false;
    x->left--;
    return x->fails(x->data, sample_text(x->s));
}

static bool try_replace(Shrink *x, Piece **at, Piece *by) {
    Piece *old = *at;
    *at = by;
    if (still_fails(x)) return true;
    *at = old;
    return false;
}

// Replaces *at by a part of itself of the same type, the nearest first.
static bool lift_part(Shrink *x, Piece **at, const Piece *inside) {
    for (int k = 0; k < inside->n; k++)
        if (sort_same(inside->part[k]->type, (*at)->type) && try_replace(x, at, inside->part[k])) return true;
    for (int k = 0; k < inside->n; k++)
        if (inside->part[k]->n && lift_part(x, at, inside->part[k])) return true;
    return false;
}

// The term with `to` where it has a part that is written so, in which the first part of that is `from`, if not NULL.
static Piece *replaced(Arena *a, Piece *t, const char *text, Piece *to, const char *from) {
    if (!strcmp(t->text, text)) return from ? replaced(a, to, from, t->part[0], NULL) : to;
    if (!t->n) return t;
    Piece *r = arena_copy(a, t, sizeof *t);
    for (int k = 0; k < r->n; k++) r->part[k] = replaced(a, r->part[k], text, to, from);
    return r;
}

// Replaces a loop by its body, at an iteration of a loop around it.
static bool lift_body(Shrink *x, Piece **at) {
    Piece *t = *at;
    for (int k = 0; k < t->n && t->binds; k++)
        for (int i = 0; nest_indices[i] && sort_same(t->part[k]->type, t->type); i++) {
            if (!strcmp(nest_indices[i], t->binds)) break; // those inside of it come later
            Piece *index = leaf(x->s->arena, &integer, nest_indices[i]);
            if (try_replace(x, at, replaced(x->s->arena, t->part[k], t->binds, index, NULL))) return true;
        }
    return false;
}

// Writes the elements of an array in the place of its name. (That an index may mean another one there is no matter.)
static bool inline_name(Shrink *x, Piece **at) {
    Piece *t = *at;
    if (!t->named) return false;
    return try_replace(x, at, replaced(x->s->arena, t->part[1], t->named, t->part[0], t->binds));
}

// Another index alone.
static bool simpler_index(Shrink *x, Piece **at) {
    if (!x->s->nests || (*at)->type->form != 'i' || !(*at)->n) return false;
    for (int i = 0; nest_indices[i]; i++)
        if (try_replace(x, at, leaf(x->s->arena, (*at)->type, nest_indices[i]))) return true;
    return false;
}

static bool simpler(Shrink *x, Piece **at) {
    static const char *const real[] = {"0.5", "s", "x[0]"}, *const num[] = {"0", "1", "k"},
                             *const single[] = {"(float 0.5)", "(float s)", "(float x[0])"}, *const truth[] = {"true", "false"};
    Piece *t = *at;
    const char *const *by = t->type->form == 'r' ? real : t->type->form == 'f' ? single : t->type->form == 'i' ? num : truth;
    if (t->type->form == 'a' || t->type->form == 't') {
        Piece *simple = piece_simplest(x->s->arena, t->type);
        if (piece_size(simple) < piece_size(t) && try_replace(x, at, simple)) return true;
        for (int k = 0; k < x->s->nparams; k++)
            if (t->n && !x->s->param[k].gone && sort_same(x->s->param[k].type, t->type) &&
                try_replace(x, at, leaf(x->s->arena, t->type, x->s->param[k].name)))
                return true;
        return false;
    }
    for (int k = 0; k < (t->type->form == 'b' ? 2 : 3); k++) {
        if (!strcmp(t->text, by[k])) return false;
        if (try_replace(x, at, leaf(x->s->arena, t->type, by[k]))) return true;
    }
    return false;
}

static bool shrink_here(Shrink *x, Piece **at) {
    return simpler(x, at) || simpler_index(x, at) || lift_part(x, at, *at) || lift_body(x, at) || inline_name(x, at);
}

static bool shrink_term(Shrink *x, Piece **at) {
    bool any = false;
    while (shrink_here(x, at)) any = true;
    Piece *copy = arena_copy(x->s->arena, *at, sizeof **at); // terms may be shared
    *at = copy;
    for (int k = 0; k < copy->n; k++) any |= shrink_term(x, &copy->part[k]);
    return any;
}

// With n for the extents of all arrays.
static Piece *with_n(Arena *a, const Piece *t, const char *extents) {
    Piece *r = arena_copy(a, t, sizeof *t);
    Str text = {0};
    const char *p = t->text;
    for (const char *next; (next = strstr(p, extents)); p = next + strlen(extents))
        str_printf(&text, "%.*sn", (int)(next - p), p);
    str_puts(&text, p);
    r->text = arena_strdup(a, str_text(&text));
    str_free(&text);
    for (int k = 0; k < r->n; k++) r->part[k] = with_n(a, r->part[k], extents);
    return r;
}

static void respell(Shrink *x) {
    Sample *s = x->s, old = *s;
    if (!s->extents) return;
    s->body = with_n(s->arena, s->body, s->extents);
    for (int k = 0; k < s->nparams; k++) s->param[k].spelt = NULL;
    if (!still_fails(x)) *s = old;
}

void sample_shrink(Sample *s, bool (*fails)(void *data, const char *text), void *data, int limit) {
    Shrink x = {s, fails, data, limit};
    respell(&x);
    for (bool any = true; any && x.left > 0;) {
        any = lift_part(&x, &s->body, s->body);
        for (int k = 0; k < s->body->n && s->body->type->form == 't'; k++)
            if (try_replace(&x, &s->body, s->body->part[k])) any = true;
        any |= shrink_term(&x, &s->body);
        for (int k = 0; k < s->nparams; k++) {
            if (s->param[k].gone) continue;
            s->param[k].gone = true;
            if (still_fails(&x)) any = true;
            else s->param[k].gone = false;
        }
    }
}
