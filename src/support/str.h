// A growable text buffer for printers.
#ifndef SUPPORT_STR_H
#define SUPPORT_STR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Str {
    char *data; // NUL-terminated once anything was written; NULL before
    size_t len, cap;
} Str;

void str_putc(Str *s, char c);
void str_puts(Str *s, const char *text);
void str_write(Str *s, const char *text, size_t n);
void str_printf(Str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// Writes n spaces.
void str_indent(Str *s, int n);
// The shortest decimal text that reads back as exactly x ("0.1", "1e-05", "inf", "nan"); always has '.', 'e', or is inf/nan.
void str_double(Str *s, double x);
// Writes the text as a string: between double quotes, with \", \\ and \n for what cannot stand there.
void str_quoted(Str *s, const char *text);
void str_free(Str *s);
// The text so far, "" if empty.
const char *str_text(const Str *s);
// A number that is seldom the same for different texts of n bytes.
uint64_t str_hash(const char *text, size_t n);

#endif
