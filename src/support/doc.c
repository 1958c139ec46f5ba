#include "support/doc.h"

#include "support/vec.h"

#include <string.h>

typedef enum DocKind {
    DOC_TEXT,
    DOC_SPACE,
    DOC_LINE,
    DOC_NEWLINE,
    DOC_BLANK,
    DOC_COMMENT,
    DOC_PARTS,
    DOC_NEST,
    DOC_ALIGN,
    DOC_GROUP,
    DOC_FLAT,
    DOC_CHOICE,
    DOC_HANG
} DocKind;

struct Doc {
    DocKind kind;
    bool broken;      // holds a new line
    bool ends_line;   // ends with a comment
    bool begins_line; // DOC_COMMENT
    bool empty;       // prints nothing but white space within a line
    int n;            // width of the text; number of parts; columns of a nest or hang
    const char *text; // DOC_LINE: what stands for it on one line
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

static int width_of(const char *text) {
    int n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static const Doc *make(Arena *a, Doc d) { return arena_copy(a, &d, sizeof d); }

const Doc *doc_text(Arena *a, const char *text) { return make(a, (Doc){.kind = DOC_TEXT, .n = width_of(text), .text = text}); }

const Doc *doc_space(Arena *a) { return make(a, (Doc){.kind = DOC_SPACE, .empty = true}); }
const Doc *doc_line(Arena *a) { return doc_line_or(a, " "); }
const Doc *doc_line_or(Arena *a, const char *text) { return make(a, (Doc){.kind = DOC_LINE, .n = width_of(text), .text = text}); }
const Doc *doc_newline(Arena *a) { return make(a, (Doc){.kind = DOC_NEWLINE, .broken = true}); }
const Doc *doc_blank(Arena *a) { return make(a, (Doc){.kind = DOC_BLANK, .broken = true}); }

const Doc *doc_comment(Arena *a, const char *text, bool begins_line) {
    return make(a, (Doc){.kind = DOC_COMMENT, .text = text, .begins_line = begins_line, .broken = begins_line, .ends_line = true});
}

const Doc *doc_cat(Arena *a, int n, const Doc *const *parts) {
    Doc d = {.kind = DOC_PARTS, .n = n, .empty = true, .part = ARENA_ARRAY(a, const Doc *, n + 1)};
    bool ended = false;
    for (int i = 0; i < n; i++) {
        d.part[i] = parts[i];
        if (parts[i]->empty) continue;
        d.empty = false;
        d.broken |= parts[i]->broken || ended;
        ended = parts[i]->ends_line;
    }
    d.ends_line = ended;
    return make(a, d);
}

static const Doc *wrap(Arena *a, DocKind kind, int n, const Doc *d) {
    return make(a, (Doc){.kind = kind,
                         .n = n,
                         .broken = d->broken,
                         .ends_line = d->ends_line,
                         .empty = d->empty,
                         .part = arena_copy(a, &d, sizeof d)});
}

const Doc *doc_nest(Arena *a, int n, const Doc *d) { return wrap(a, DOC_NEST, n, d); }
const Doc *doc_align(Arena *a, const Doc *d) { return wrap(a, DOC_ALIGN, 0, d); }
const Doc *doc_group(Arena *a, const Doc *d) { return wrap(a, DOC_GROUP, 0, d); }
const Doc *doc_break(Arena *a, const Doc *d) {
    const Doc *parts[] = {d};
    Doc b = {.kind = DOC_GROUP, .broken = true, .ends_line = d->ends_line, .part = arena_copy(a, parts, sizeof parts)};
    return make(a, b);
}
const Doc *doc_flat(Arena *a, const Doc *d) { return wrap(a, DOC_FLAT, 0, d); }
const Doc *doc_choice(Arena *a, const Doc *first, const Doc *second) {
    const Doc *both[] = {first, second};
    return make(a, (Doc){.kind = DOC_CHOICE,
                         .broken = first->broken,
                         .ends_line = first->ends_line,
                         .part = arena_copy(a, both, sizeof both)});
}

const Doc *doc_hang(Arena *a, int n, const Doc *hug, const Doc *d) {
    const Doc *first = doc_cat(a, 2, (const Doc *[]){doc_space(a), hug ? hug : d});
    const Doc *second = doc_nest(a, n, doc_cat(a, 2, (const Doc *[]){doc_newline(a), d}));
    const Doc *parts[] = {d, hug ? first : NULL, second};
    return make(
        a,
        (Doc){
            .kind = DOC_HANG, .n = n, .broken = d->broken, .ends_line = d->ends_line, .part = arena_copy(a, parts, sizeof parts)});
}

int doc_width(const Doc *d) {
    int n = 0;
    switch (d->kind) {
    case DOC_TEXT:
    case DOC_LINE: return d->n;
    case DOC_SPACE: return 1;
    case DOC_NEWLINE:
    case DOC_BLANK:
    case DOC_COMMENT: return 0;
    case DOC_PARTS:
        for (int i = 0; i < d->n; i++) n += doc_width(d->part[i]);
        return n;
    case DOC_HANG: n = 1; break;
    default: break;
    }
    return n + doc_width(d->part[0]);
}

bool doc_is_broken(const Doc *d) { return d->broken; }
bool doc_ends_line(const Doc *d) { return d->ends_line; }

static void push(Items *items, const Doc *d, int indent, bool flat) { vec_push(items, ((Item){d, indent, flat})); }

static void push_parts(Items *items, const Doc *d, int indent, bool flat) {
    for (int i = d->n; i-- > 0;) push(items, d->part[i], indent, flat);
}

// Does d, on one line if `flat`, fit into `room` columns up to its first new line, together with what of `rest` stands
// on that line?
static bool fits(const Doc *d, bool flat, const Items *rest, int room, Items *work) {
    int next = rest->len;
    work->len = 0;
    push(work, d, 0, flat);
    while (room >= 0) {
        if (!work->len) {
            if (next == 0) return true;
            Item it = rest->data[--next];
            push(work, it.d, it.indent, it.flat);
        }
        Item it = vec_pop(work);
        switch (it.d->kind) {
        case DOC_TEXT: room -= it.d->n; break;
        case DOC_SPACE: room--; break;
        case DOC_LINE:
            if (!it.flat) return true;
            room -= it.d->n;
            break;
        case DOC_COMMENT:
        case DOC_BLANK:
        case DOC_NEWLINE: return true;
        case DOC_PARTS: push_parts(work, it.d, 0, it.flat); break;
        case DOC_NEST:
        case DOC_ALIGN: push(work, it.d->part[0], 0, it.flat); break;
        case DOC_CHOICE: push(work, it.d->part[!it.flat], 0, it.flat); break;
        case DOC_FLAT: push(work, it.d->part[0], 0, true); break;
        case DOC_HANG:
            if (!it.flat) return true;
            room--;
            push(work, it.d->part[0], 0, true);
            break;
        case DOC_GROUP: push(work, it.d->part[0], 0, it.flat && !it.d->broken); break;
        }
    }
    return false;
}

// The line being written. White space is written only when text follows it.
typedef struct Writer {
    Str *out;
    int column;
    bool start, space, ended; // nothing on the line yet; a space is due; a comment has ended the line
    bool blank;               // the line before is empty
} Writer;

static void newline(Writer *w, int indent) {
    str_putc(w->out, '\n');
    w->blank = w->start;
    w->column = indent;
    w->start = true;
    w->space = w->ended = false;
}

static void write(Writer *w, const char *text, int width, int indent) {
    if (w->ended) newline(w, indent);
    if (w->start) str_indent(w->out, w->column);
    else if (w->space) str_putc(w->out, ' '), w->column++;
    str_puts(w->out, text);
    w->column += width;
    w->start = w->space = false;
}

static void comment(Writer *w, const Doc *d, int indent) {
    if (d->begins_line && !w->start) newline(w, indent);
    if (w->start) w->column = indent;
    w->space = true;
    write(w, d->text, 0, indent);
    w->ended = true;
}

// What a hang is printed as, flat or not.
static Item hang(const Item *it, const Items *rest, int column, int width, Items *work) {
    const Doc *d = it->d->part[0], *hug = it->d->part[1], *below = it->d->part[2];
    bool whole = !d->broken;
    if (it->flat || (whole && fits(d, true, rest, width - column - 1, work))) return (Item){d, it->indent, true};
    if (whole && fits(d, true, rest, width - it->indent - it->d->n, work)) return (Item){below, it->indent, false};
    if (hug && fits(hug, false, rest, width - column, work)) return (Item){hug, it->indent, false};
    return (Item){below, it->indent, false};
}

void doc_print(Str *out, const Doc *d, int width) {
    Items items = {0}, work = {0};
    Writer w = {.out = out, .start = true};
    push(&items, d, 0, false);
    while (items.len) {
        Item it = vec_pop(&items);
        int column = w.ended ? it.indent : w.column + w.space;
        switch (it.d->kind) {
        case DOC_TEXT: write(&w, it.d->text, it.d->n, it.indent); break;
        case DOC_SPACE: w.space = true; break;
        case DOC_LINE:
            if (!it.flat) newline(&w, it.indent);
            else if (it.d->n == 1) w.space = true;
            else write(&w, it.d->text, it.d->n, it.indent), w.space = false;
            break;
        case DOC_NEWLINE: newline(&w, it.indent); break;
        case DOC_BLANK:
            if (!w.start) newline(&w, it.indent);
            if (!w.blank) newline(&w, it.indent);
            break;
        case DOC_COMMENT: comment(&w, it.d, it.indent); break;
        case DOC_PARTS: push_parts(&items, it.d, it.indent, it.flat); break;
        case DOC_NEST: push(&items, it.d->part[0], it.indent + it.d->n, it.flat); break;
        case DOC_ALIGN: push(&items, it.d->part[0], column, it.flat); break;
        case DOC_FLAT: push(&items, it.d->part[0], it.indent, true); break;
        case DOC_GROUP: {
            bool flat = !it.d->broken && (it.flat || fits(it.d->part[0], true, &items, width - column, &work));
            push(&items, it.d->part[0], it.indent, flat);
            break;
        }
        case DOC_HANG: {
            Item chosen = hang(&it, &items, column, width, &work);
            if (chosen.flat) w.space = true;
            vec_push(&items, chosen);
            break;
        }
        case DOC_CHOICE: {
            bool first = it.flat || fits(it.d->part[0], false, &items, width - column, &work);
            push(&items, it.d->part[!first], it.indent, it.flat);
            break;
        }
        }
    }
    vec_free(&items);
    vec_free(&work);
}
