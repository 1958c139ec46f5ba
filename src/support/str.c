#include "support/str.h"

#include "support/diag.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(Str *s, size_t more) {
    if (s->len + more + 1 <= s->cap) return;
    size_t cap = s->cap ? s->cap : 64;
    while (cap < s->len + more + 1) cap *= 2;
    s->data = realloc(s->data, cap);
    if (!s->data) diag_out_of_memory();
    s->cap = cap;
}

void str_write(Str *s, const char *text, size_t n) {
    reserve(s, n);
    memcpy(s->data + s->len, text, n);
    s->len += n;
    s->data[s->len] = 0;
}

void str_putc(Str *s, char c) {
    reserve(s, 1);
    s->data[s->len++] = c;
    s->data[s->len] = 0;
}

void str_puts(Str *s, const char *text) { str_write(s, text, strlen(text)); }

void str_printf(Str *s, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t room = s->cap - s->len;
    int n = vsnprintf(room ? s->data + s->len : NULL, room, fmt, ap);
    va_end(ap);
    if (n > 0 && (size_t)n >= room) {
        reserve(s, (size_t)n);
        vsnprintf(s->data + s->len, (size_t)n + 1, fmt, again);
    }
    if (n > 0) s->len += (size_t)n;
    va_end(again);
}

void str_indent(Str *s, int n) {
    while (n-- > 0) str_putc(s, ' ');
}

void str_double(Str *s, double x) {
    char text[40];
    if (isnan(x)) {
        str_puts(s, "nan");
        return;
    }
    if (isinf(x)) {
        str_puts(s, x < 0 ? "-inf" : "inf");
        return;
    }
    // A number that fewer digits give is what 15 digits give, too.
    snprintf(text, sizeof text, "%.15g", x);
    for (int digits = strtod(text, NULL) == x ? 1 : 16; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    str_puts(s, text);
    if (!strpbrk(text, ".e")) str_puts(s, ".0");
}

void str_quoted(Str *s, const char *text) {
    str_putc(s, '"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\') str_printf(s, "\\%c", *text);
        else if (*text == '\n') str_puts(s, "\\n");
        else str_putc(s, *text);
    str_putc(s, '"');
}

void str_free(Str *s) {
    free(s->data);
    *s = (Str){0};
}

const char *str_text(const Str *s) { return s->data ? s->data : ""; }

uint64_t str_hash(const char *text, size_t n) {
    uint64_t h = 14695981039346656037u; // FNV-1a
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h ^ h >> 29;
}
