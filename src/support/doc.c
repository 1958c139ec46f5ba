#include "support/doc.h"

#include "support/vec.h"

#include <string.h>

typedef enum DocKind { DOC_TEXT, DOC_LINE, DOC_NEWLINE, DOC_PARTS, DOC_NEST, DOC_ALIGN, DOC_GROUP } DocKind;

struct Doc {
    DocKind kind;
    bool broken; // holds a DOC_NEWLINE
    int n;       // length of the text; number of parts; columns of a nest
    const char *text;
    const Doc **part;
};

// What is left to print, innermost last.
typedef struct Item {
    const Doc *d;
    int indent;
    bool flat;
} Item;

typedef struct Items {
    Item *data;
    int len, cap;
} Items;

static const Doc *make(Arena *a, Doc d) { return arena_copy(a, &d, sizeof d); }

const Doc *doc_text(Arena *a, const char *text) {
    return make(a, (Doc){.kind = DOC_TEXT, .n = (int)strlen(text), .text = text});
}

const Doc *doc_line(Arena *a) { return make(a, (Doc){.kind = DOC_LINE}); }

const Doc *doc_newline(Arena *a) { return make(a, (Doc){.kind = DOC_NEWLINE, .broken = true}); }

const Doc *doc_cat(Arena *a, int n, const Doc *const *parts) {
    Doc d = {.kind = DOC_PARTS, .n = n, .part = arena_copy(a, parts, sizeof *parts * (size_t)n)};
    for (int i = 0; i < n; i++) d.broken |= parts[i]->broken;
    return make(a, d);
}

static const Doc *wrap(Arena *a, DocKind kind, int n, const Doc *d) {
    return make(a, (Doc){.kind = kind, .n = n, .broken = d->broken, .part = arena_copy(a, &d, sizeof d)});
}

const Doc *doc_nest(Arena *a, int n, const Doc *d) { return wrap(a, DOC_NEST, n, d); }
const Doc *doc_align(Arena *a, const Doc *d) { return wrap(a, DOC_ALIGN, 0, d); }
const Doc *doc_group(Arena *a, const Doc *d) { return wrap(a, DOC_GROUP, 0, d); }
bool doc_is_broken(const Doc *d) { return d->broken; }

static void push(Items *items, const Doc *d, int indent, bool flat) {
    vec_push(items, ((Item){d, indent, flat}));
}

static void push_parts(Items *items, const Doc *d, int indent, bool flat) {
    for (int i = d->n; i-- > 0;) push(items, d->part[i], indent, flat);
}

// Does d, on one line, fit into `room` columns together with what of `rest` stands on its last line?
static bool fits(const Doc *d, const Items *rest, int room, Items *work) {
    int next = rest->len;
    work->len = 0;
    push(work, d, 0, true);
    while (room >= 0) {
        if (!work->len) {
            if (next == 0) return true;
            Item it = rest->data[--next];
            push(work, it.d, it.indent, it.flat);
        }
        Item it = vec_pop(work);
        switch (it.d->kind) {
        case DOC_TEXT: room -= it.d->n; break;
        case DOC_LINE:
            if (!it.flat) return true;
            room--;
            break;
        case DOC_NEWLINE: return true;
        case DOC_PARTS: push_parts(work, it.d, 0, it.flat); break;
        case DOC_NEST:
        case DOC_ALIGN: push(work, it.d->part[0], 0, it.flat); break;
        case DOC_GROUP: push(work, it.d->part[0], 0, it.flat && !it.d->broken); break;
        }
    }
    return false;
}

static int newline(Str *out, int indent) {
    str_putc(out, '\n');
    str_indent(out, indent);
    return indent;
}

void doc_print(Str *out, const Doc *d, int width) {
    Items items = {0}, work = {0};
    int column = 0;
    push(&items, d, 0, false);
    while (items.len) {
        Item it = vec_pop(&items);
        switch (it.d->kind) {
        case DOC_TEXT:
            str_puts(out, it.d->text);
            column += it.d->n;
            break;
        case DOC_LINE:
            if (it.flat) str_putc(out, ' '), column++;
            else column = newline(out, it.indent);
            break;
        case DOC_NEWLINE: column = newline(out, it.indent); break;
        case DOC_PARTS: push_parts(&items, it.d, it.indent, it.flat); break;
        case DOC_NEST: push(&items, it.d->part[0], it.indent + it.d->n, it.flat); break;
        case DOC_ALIGN: push(&items, it.d->part[0], column, it.flat); break;
        case DOC_GROUP: {
            bool flat = !it.d->broken && (it.flat || fits(it.d->part[0], &items, width - column, &work));
            push(&items, it.d->part[0], it.indent, flat);
            break;
        }
        }
    }
    vec_free(&items);
    vec_free(&work);
}
