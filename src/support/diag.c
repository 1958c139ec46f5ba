#include "support/diag.h"

#include "support/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LIMIT = 20, LINE_WIDTH = 110, INDENT = 2, TAB_WIDTH = 4 };

const WarningInfo warning_info[WARNING_COUNT] = {
#define WARNING(id, name, on, help) {name, on, help},
#include "support/warnings.def"
};

typedef struct Message {
    DiagLevel level;
    Span at;
    const char *text;
} Message;

struct Diag {
    Arena *arena;
    VEC(Message) messages;
    int errors, limit;
    int left_out; // errors beyond the limit
    bool on[WARNING_COUNT], as_error[WARNING_COUNT];
    bool dropped; // the last error or warning was not kept, so its notes are not either
};

const char *diag_current_pass = "start";

static _Thread_local jmp_buf *boundary;

const Span nowhere = {NULL, 0, 0};

Span span_join(Span a, Span b) {
    if (!a.src) return b;
    if (!b.src || a.src != b.src) return a;
    return (Span){a.src, a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

// ---- characters

static bool continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

// The length of the well-formed UTF-8 sequence of a printable character at p, or 0.
static size_t glyph(const char *p, const char *end) {
    unsigned char c = (unsigned char)*p;
    if (c < 0x80) return c >= 0x20 && c != 0x7F;
    size_t n = c >= 0xF0 && c < 0xF5 ? 4 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xC2 && c < 0xE0 ? 2 : 0;
    if (!n || (size_t)(end - p) < n) return 0;
    for (size_t i = 1; i < n; i++)
        if (!continues(p[i])) return 0;
    unsigned char d = (unsigned char)p[1];
    if (c == 0xC2 && d < 0xA0) return 0;                                          // C1 controls
    if ((c == 0xE0 && d < 0xA0) || (c == 0xED && d >= 0xA0)) return 0;            // overlong, surrogates
    if ((c == 0xF0 && d < 0x90) || (c == 0xF4 && d >= 0x90)) return 0;            // overlong, too large
    if (c == 0xE2 && d == 0x80 && ((unsigned char)p[2] & 0xFE) == 0xA8) return 0; // line separators
    return n;
}

// The formatted text; what would not be printed as characters of one line (a message may quote any input) is `?`.
static const char *message_text(Diag *d, const char *fmt, va_list ap) {
    char *text = arena_vprintf(d->arena, fmt, ap), *end = text + strlen(text);
    for (char *p = text; p < end;) {
        size_t n = glyph(p, end);
        if (!n) *p = '?';
        p += n ? n : 1;
    }
    return text;
}

// ---- collecting

Diag *diag_new(Arena *arena) {
    Diag *d = ARENA_NEW(arena, Diag);
    d->arena = arena;
    d->limit = DEFAULT_LIMIT;
    for (int i = 0; i < WARNING_COUNT; i++) d->on[i] = warning_info[i].on;
    return d;
}

void diag_delete(Diag *d) {
    if (d) vec_free(&d->messages);
}

static bool same_place(Span a, Span b) { return a.src == b.src && a.begin == b.begin && a.end == b.end; }

static bool is_same(const Message *m, DiagLevel level, Span at, const char *text) {
    return m->level == level && same_place(m->at, at) && !strcmp(m->text, text);
}

static bool reported(const Diag *d, DiagLevel level, Span at, const char *text) {
    for (int i = 0; i < d->messages.len; i++)
        if (is_same(&d->messages.data[i], level, at, text)) return true;
    return false;
}

static void report(Diag *d, DiagLevel level, Span at, const char *text) {
    d->dropped = true;
    if (reported(d, level, at, text)) return;
    if (level == DIAG_ERROR && ++d->errors > d->limit && d->limit > 0) {
        d->left_out++;
        return;
    }
    d->dropped = false;
    Message m = {level, at, text};
    vec_push(&d->messages, m);
}

void diag_error(Diag *d, Span at, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    report(d, DIAG_ERROR, at, message_text(d, fmt, ap));
    va_end(ap);
}

void diag_warning(Diag *d, Warning w, Span at, const char *fmt, ...) {
    d->dropped = true;
    if (!d->on[w]) return;
    va_list ap;
    va_start(ap, fmt);
    const char *text = message_text(d, fmt, ap);
    va_end(ap);
    bool error = d->as_error[w];
    report(d, error ? DIAG_ERROR : DIAG_WARNING, at,
           arena_printf(d->arena, "%s [-W%s%s]", text, error ? "error=" : "", warning_info[w].name));
}

void diag_note(Diag *d, Span at, const char *fmt, ...) {
    if (d->dropped) return;
    va_list ap;
    va_start(ap, fmt);
    Message m = {DIAG_NOTE, at, message_text(d, fmt, ap)};
    va_end(ap);
    for (int i = d->messages.len; i-- > 0 && d->messages.data[i].level == DIAG_NOTE;)
        if (is_same(&d->messages.data[i], DIAG_NOTE, at, m.text)) return;
    vec_push(&d->messages, m);
}

int diag_errors(const Diag *d) { return d->errors; }

int diag_warnings(const Diag *d) {
    int n = 0;
    for (int i = 0; i < d->messages.len; i++) n += d->messages.data[i].level == DIAG_WARNING;
    return n;
}

void diag_each(const Diag *d, void (*visit)(DiagLevel level, Span at, const char *text, void *data), void *data) {
    for (int i = 0; i < d->messages.len; i++) {
        const Message *m = &d->messages.data[i];
        visit(m->level, m->at, m->text, data);
    }
}

void diag_set_limit(Diag *d, int errors) { d->limit = errors; }

bool diag_warns(const Diag *d, Warning w) { return d->on[w]; }

void diag_set_warning(Diag *d, Warning w, bool on, bool as_error) {
    d->on[w] = on;
    d->as_error[w] = as_error;
}

// ---- printing

typedef struct Place {
    int line, column;        // from 1
    const char *begin, *end; // the line without its end
} Place;

static Place locate(Span at) {
    const char *text = at.src->text, *stop = text + at.src->len;
    const char *p = text + (at.begin <= at.src->len ? at.begin : at.src->len);
    Place place = {1, 1, text, stop};
    for (const char *q = text; (q = memchr(q, '\n', (size_t)(p - q))); q++) place.line++, place.begin = q + 1;
    const char *nl = memchr(p, '\n', (size_t)(stop - p));
    if (nl) place.end = nl;
    if (place.end > place.begin && place.end[-1] == '\r' && place.end > p) place.end--;
    if (place.begin == text && place.end - text >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) place.begin += 3;
    for (const char *q = place.begin; q < p; q++) place.column += !continues(*q);
    return place;
}

const char *diag_line(Arena *arena, Span at) { return at.src ? arena_printf(arena, "%s:%d", at.src->name, locate(at).line) : ""; }

void diag_print_place(Str *out, Span at) {
    if (!at.src) return;
    Place place = locate(at);
    str_printf(out, "%s:%d:%d: ", at.src->name, place.line, place.column);
}

const char *diag_quote(Arena *arena, Span at) {
    enum { QUOTE_WIDTH = 50 };
    if (!at.src) return "";
    Str s = {0};
    const char *end = at.src->text + (at.end < at.src->len ? at.end : at.src->len);
    bool space = false;
    for (const char *p = at.src->text + at.begin; p < end; p++) {
        if (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r') {
            space = true;
            continue;
        }
        if (s.len >= QUOTE_WIDTH && !continues(*p)) {
            str_puts(&s, " …");
            break;
        }
        if (space && s.len) str_putc(&s, ' ');
        space = false;
        str_putc(&s, *p);
    }
    const char *text = arena_strdup(arena, str_text(&s));
    str_free(&s);
    return text;
}

// Columns that a terminal gives to the character at p: none for a combining one, two for a wide one of East Asia.
static int width(const char *p, size_t n) {
    uint32_t c = (unsigned char)*p;
    if (n > 1) c &= 0xFFu >> (n + 1);
    for (size_t i = 1; i < n; i++) c = c << 6 | ((unsigned char)p[i] & 0x3F);
    if ((c >= 0x300 && c < 0x370) || (c >= 0x200B && c < 0x2010) || (c >= 0x20D0 && c < 0x2100) || (c >= 0xFE00 && c < 0xFE10))
        return 0;
    bool wide = (c >= 0x1100 && c < 0x1160) || (c >= 0x2E80 && c < 0xA4D0) || (c >= 0xAC00 && c < 0xD7A4) ||
                (c >= 0xF900 && c < 0xFB00) || (c >= 0xFE30 && c < 0xFE70) || (c >= 0xFF00 && c < 0xFF61) ||
                (c >= 0xFFE0 && c < 0xFFE7) || (c >= 0x1F300 && c < 0x1FB00) || (c >= 0x20000 && c < 0x3FFFE);
    return wide ? 2 : 1;
}

// A source line (a window of it where it is long) and, below, its part from mark to stop underlined, beginning with
// `first`.
static void print_line(Str *out, const char *begin, const char *end, const char *mark, const char *stop, char first, bool color) {
    const char *from = begin, *to = end;
    if (mark > to) mark = to;
    if (mark - from > LINE_WIDTH * 2 / 3)
        for (from = mark - LINE_WIDTH / 2; from < mark && continues(*from);) from++;
    if (to - from > LINE_WIDTH)
        for (to = from + LINE_WIDTH; to > from && continues(*to);) to--;
    Str under = {0};
    str_indent(out, INDENT);
    str_indent(&under, INDENT);
    if (from > begin) str_puts(out, "…"), str_putc(&under, ' ');
    bool marked = false;
    for (const char *p = from, *next; p < to; p = next) {
        size_t n = glyph(p, to);
        int w = *p == '\t' ? TAB_WIDTH : n ? width(p, n) : 1;
        next = p + (n ? n : 1);
        if (*p == '\t') str_indent(out, TAB_WIDTH);
        else str_write(out, n ? p : "?", n ? n : 1);
        bool inside = next > mark && (!marked || p < stop);
        if (inside && !marked) str_puts(&under, color ? "\033[1;32m" : ""), str_putc(&under, first), marked = true, w--;
        if (inside)
            for (; w > 0; w--) str_putc(&under, '~');
        else if (!marked) str_indent(&under, w);
    }
    if (to < end) str_puts(out, "…");
    if (!marked) str_puts(&under, color ? "\033[1;32m" : ""), str_putc(&under, first);
    str_printf(out, "\n%s%s\n", str_text(&under), color ? "\033[0m" : "");
    str_free(&under);
}

// The lines of the span: the first, and the last if it is another one.
static void print_lines(Str *out, Span at, Place place, bool color) {
    const char *text = at.src->text, *stop = text + (at.end <= at.src->len ? at.end : at.src->len);
    print_line(out, place.begin, place.end, text + at.begin, stop, '^', color);
    while (stop > text && strchr(" \t\r\n", stop[-1])) stop--;
    if (stop <= place.end) return;
    Place last = locate((Span){at.src, (uint32_t)(stop - text), (uint32_t)(stop - text)});
    if (last.line == place.line) return;
    if (last.line > place.line + 1) str_indent(out, INDENT), str_puts(out, "...\n");
    const char *from = last.begin;
    while (from < stop && strchr(" \t", *from)) from++;
    print_line(out, last.begin, last.end, from, stop, '~', color);
}

// `before` is the message above it or NULL: a note at the same place does not show its line again.
static void print_message(Str *out, const Message *m, const Message *before, bool color) {
    static const struct {
        const char *name, *escape;
    } levels[] = {
        [DIAG_ERROR] = {"error", "\033[1;31m"}, [DIAG_WARNING] = {"warning", "\033[1;35m"}, [DIAG_NOTE] = {"note", "\033[1;36m"}};
    Place place = {0};
    if (m->at.src) {
        place = locate(m->at);
        str_printf(out, "%s%s:%d:%d: ", color ? "\033[1m" : "", m->at.src->name, place.line, place.column);
    } else if (m->level != DIAG_NOTE) {
        str_puts(out, "fsmc: ");
    }
    str_printf(out, "%s%s:%s ", color ? levels[m->level].escape : "", levels[m->level].name, color ? "\033[0m" : "");
    str_printf(out, "%s\n", m->text);
    bool shown = m->level == DIAG_NOTE && before && same_place(before->at, m->at);
    if (m->at.src && !shown) print_lines(out, m->at, place, color);
}

void diag_print(const Diag *d, Str *out, bool color) {
    for (int i = 0; i < d->messages.len; i++) {
        const Message *m = &d->messages.data[i];
        print_message(out, m, i ? m - 1 : NULL, color);
    }
    if (d->left_out) str_printf(out, "fsmc: %d more error%s not shown\n", d->left_out, d->left_out > 1 ? "s" : "");
}

// ---- broken invariants

void diag_set_boundary(jmp_buf *b) { boundary = b; }

static _Noreturn void leave(DiagExit why) {
    jmp_buf *to = boundary;
    boundary = NULL;
    if (to) longjmp(*to, why);
    exit(3);
}

void fatal_bug(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "fsmc: internal error in pass '%s': ", diag_current_pass);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    leave(DIAG_EXIT_BUG);
}

void diag_out_of_memory(void) {
    fputs("fsmc: out of memory\n", stderr);
    leave(DIAG_EXIT_MEMORY);
}
