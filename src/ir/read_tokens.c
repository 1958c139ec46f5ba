// Tokens of the textual form of the IR, and the names that are in scope.
#include "ir/read_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void read_error(Reader *r, Span at, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    diag_error(r->diag, at, "%s", arena_vprintf(r->m->arena, fmt, ap));
    va_end(ap);
    longjmp(*r->out, 1);
}

// ---- tokens

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '\''; }

void read_skip_space(Reader *r) {
    for (;;) {
        while (isspace((unsigned char)*r->p)) r->p++;
        if (r->p[0] != '/' || r->p[1] != '/') return;
        while (*r->p && *r->p != '\n') r->p++;
    }
}

static Span span_from(const Reader *r, const char *begin) {
    return (Span){r->src, (uint32_t)(begin - r->src->text), (uint32_t)(r->p - r->src->text)};
}

static void lex_string(Reader *r, const char *begin) {
    Str s = {0};
    for (r->p++; *r->p && *r->p != '"' && *r->p != '\n'; r->p++)
        if (*r->p != '\\' || !r->p[1]) str_putc(&s, *r->p);
        else str_putc(&s, *++r->p == 'n' ? '\n' : *r->p);
    r->text = arena_strdup(r->m->arena, str_text(&s));
    str_free(&s);
    if (*r->p != '"') read_error(r, span_from(r, begin), "this string has no end");
    r->p++;
    r->tok = T_STRING;
}

static void lex_number(Reader *r, const char *begin) {
    const char *p = r->p;
    if (*p == '-') p++;
    bool real = false;
    if (isalpha((unsigned char)*p)) { // -inf, -nan
        real = true;
        r->real = *p == 'i' ? -INFINITY : copysign(NAN, -1.0);
        r->p = p + 3;
    } else {
        while (isdigit((unsigned char)*p)) p++;
        if (*p == '.') real = true, p++;
        while (isdigit((unsigned char)*p)) p++;
        if (*p == 'e' || *p == 'E') {
            real = true, p++;
            if (*p == '-' || *p == '+') p++;
            while (isdigit((unsigned char)*p)) p++;
        }
        char *end;
        errno = 0;
        if (real) r->real = strtod(r->p, &end);
        else r->num = strtoll(r->p, &end, 10);
        bool whole = end == p;
        r->single = r->floats && real && *p == 'f';
        p += r->single;
        bool bad = !whole || is_name_char(*p) || (!real && errno == ERANGE);
        r->p = p;
        if (bad) read_error(r, span_from(r, begin), "this number cannot be read");
    }
    r->tok = real ? T_REAL : T_INTEGER;
}

static bool starts_number(const char *p) {
    if (isdigit((unsigned char)*p)) return true;
    if (*p != '-') return false;
    return isdigit((unsigned char)p[1]) || ((!strncmp(p + 1, "inf", 3) || !strncmp(p + 1, "nan", 3)) && !is_name_char(p[4]));
}

void read_next(Reader *r) {
    r->before = r->at;
    read_skip_space(r);
    const char *begin = r->p;
    char c = *begin;
    if (!c) {
        r->tok = T_END;
    } else if (starts_number(begin)) {
        lex_number(r, begin);
    } else if (c == '"') {
        lex_string(r, begin);
    } else if (c == '`') {
        const char *end = strchr(begin + 1, '`');
        if (!end) read_error(r, span_from(r, begin), "this quoted name has no end");
        r->p = end + 1, r->tok = T_QUOTED;
        r->text = arena_strndup(r->m->arena, begin + 1, (size_t)(end - begin - 1));
    } else if ((c == '%' && !(r->symbols && !is_name_char(begin[1]))) || isalpha((unsigned char)c) || c == '_') {
        for (r->p++; is_name_char(*r->p);) r->p++;
        r->tok = c == '%' ? T_VALUE : T_NAME;
        r->text = arena_strndup(r->m->arena, begin, (size_t)(r->p - begin));
        if (c == '%' && r->p == begin + 1) read_error(r, span_from(r, begin), "a name is missing after '%%'");
    } else if (c == '-' && begin[1] == '>') {
        r->p += 2, r->tok = T_PUNCT, r->punct = '>';
    } else {
        r->p++, r->tok = T_PUNCT, r->punct = c;
        if (!strchr("(){}[],:=<#", c) && !(r->symbols && strchr(r->symbols, c)))
            read_error(r, span_from(r, begin), "unexpected character");
    }
    r->at = span_from(r, begin);
}

bool read_is(const Reader *r, char c) { return r->tok == T_PUNCT && r->punct == c; }
bool read_is_word(const Reader *r, const char *word) { return r->tok == T_NAME && !strcmp(r->text, word); }

bool read_accept(Reader *r, char c) {
    if (!read_is(r, c)) return false;
    read_next(r);
    return true;
}

void read_expect(Reader *r, char c) {
    if (read_accept(r, c)) return;
    read_error(r, r->at, "expected '%c'", c);
}

bool read_accept_word(Reader *r, const char *word) {
    if (!read_is_word(r, word)) return false;
    read_next(r);
    return true;
}

const char *read_name(Reader *r, const char *what) {
    if (r->tok != T_NAME && r->tok != T_QUOTED) read_error(r, r->at, "expected %s", what);
    const char *text = r->text;
    read_next(r);
    return text;
}

int64_t read_integer(Reader *r, const char *what) {
    if (r->tok != T_INTEGER) read_error(r, r->at, "expected %s", what);
    int64_t n = r->num;
    read_next(r);
    return n;
}

const char *read_string(Reader *r) {
    if (r->tok != T_STRING) read_error(r, r->at, "expected a string");
    const char *text = r->text;
    read_next(r);
    return text;
}

bool read_place(Reader *r, Span *to) {
    if (!r->places || !read_is(r, '@')) return false;
    read_next(r);
    Span at = r->at;
    const char *file = NULL;
    if (r->tok == T_STRING) {
        file = read_string(r);
        read_expect(r, ':');
    }
    int64_t line = read_integer(r, "the number of a line");
    read_expect(r, ':');
    int64_t column = read_integer(r, "the number of a column");
    if (line < 1 || line > PLACE_LINES) read_error(r, at, "expected a number from 1 to %lld", (long long)PLACE_LINES);
    if (column < 1 || column > PLACE_COLUMNS) read_error(r, at, "expected a number from 1 to %lld", (long long)PLACE_COLUMNS);
    if (!place_read(r->places, r->m->arena, file, (int)line, (int)column, to)) read_error(r, at, "the first place names its file");
    return true;
}

// ---- names in scope

static Entry **bucket_of(Reader *r, const char *name) {
    uint32_t h = 5381;
    for (const char *p = name; *p; p++) h = h * 33 + (unsigned char)*p;
    return &r->table[h % r->buckets];
}

// A table of at least one bucket for each name.
static void grow_table(Reader *r) {
    Entry **old = r->table;
    size_t n = r->buckets;
    r->buckets = n ? 4 * n + 1 : 257;
    r->table = ARENA_ARRAY(r->m->arena, Entry *, r->buckets);
    for (size_t i = 0; i < n; i++)
        for (Entry *e = old[i], *next; e; e = next) {
            Entry **to = bucket_of(r, e->name);
            next = e->next;
            e->next = *to, *to = e;
        }
}

Entry *read_entry(Reader *r, const char *name) {
    if (r->entries == r->buckets) grow_table(r);
    Entry **e = bucket_of(r, name);
    while (*e && strcmp((*e)->name, name)) e = &(*e)->next;
    if (!*e) {
        *e = ARENA_NEW(r->m->arena, Entry);
        (*e)->name = name;
        r->entries++;
    }
    return *e;
}

void read_define(Reader *r, Span at, const char *name, Node *node) {
    Entry *e = read_entry(r, name);
    if (e->node) read_error(r, at, "'%s' is defined already", name);
    e->node = node;
    vec_push(&r->scope, e);
}

void read_leave(Reader *r, int mark) {
    while (r->scope.len > mark) vec_pop(&r->scope)->node = NULL;
}
