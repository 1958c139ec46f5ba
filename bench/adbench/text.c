#define _POSIX_C_SOURCE 200809L
#include "text.h"

#include "adbench.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Noreturn void fail(int status, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fputs("fsmc-adbench: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(status);
}

void *allocate(int64_t count, size_t size) {
    void *p = count < 0 ? NULL : calloc(count ? (size_t)count : 1, size);
    if (!p) fail(STATUS_TOOL, "out of memory (%lld values of %zu bytes)", (long long)count, size);
    return p;
}

const char *text(const char *fmt, ...) {
    enum { COUNT = 16, LENGTH = 4096 };
    static char texts[COUNT][LENGTH];
    static int next;
    char *to = texts[next++ % COUNT];
    va_list ap;
    va_start(ap, fmt);
    int length = vsnprintf(to, LENGTH, fmt, ap);
    va_end(ap);
    if (length < 0 || length >= LENGTH) fail(STATUS_USAGE, "a name is too long: %s", to);
    return to;
}

bool exists(const char *file) { return access(file, F_OK) == 0; }

const char *beside(const char *name) {
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0) fail(STATUS_USAGE, "the path of this program is not known");
    own[length] = 0;
    return text("%.*s%s", (int)(strrchr(own, '/') + 1 - own), own, name);
}

void make_folders(const char *file) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", file);
    for (char *at = folder + 1; *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        if (mkdir(folder, 0777) && errno != EEXIST) fail(STATUS_FILE, "%s: %s", folder, strerror(errno));
        *at = '/';
    }
}

FILE *open_to_write(const char *file) {
    make_folders(file);
    FILE *f = fopen(file, "w");
    if (!f) fail(STATUS_FILE, "%s: %s", file, strerror(errno));
    return f;
}

void close_written(FILE *f, const char *file) {
    bool failed = fflush(f) || ferror(f);
    int error = errno;
    if (fclose(f) || failed) fail(STATUS_FILE, "%s: %s", file, strerror(error));
}

// ---- reading

Reader reader_open(const char *name) {
    FILE *f = fopen(name, "rb");
    if (!f) fail(STATUS_FILE, "%s: %s", name, strerror(errno));
    size_t size = 0, capacity = 1 << 16;
    char *text = allocate(1, capacity);
    for (size_t got; (got = fread(text + size, 1, capacity - size - 1, f)) > 0;) {
        size += got;
        if (size + 1 < capacity) continue;
        text = realloc(text, capacity *= 2);
        if (!text) fail(STATUS_TOOL, "%s: out of memory", name);
    }
    if (ferror(f)) fail(STATUS_FILE, "%s: %s", name, strerror(errno));
    fclose(f);
    text[size] = 0;
    return (Reader){.name = name, .text = text, .at = text, .end = text + size, .line = 1};
}

void reader_close(Reader *r) { free(r->text); }

static bool divides(const Reader *r, char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || (c && c == r->separator); }

size_t reader_word(Reader *r) {
    for (; r->at < r->end && divides(r, *r->at); r->at++) r->line += *r->at == '\n';
    size_t length = 0;
    while (r->at + length < r->end && !divides(r, r->at[length])) length++;
    return length;
}

bool reader_takes(Reader *r, const char *word) {
    size_t length = reader_word(r);
    if (!length || length != strlen(word) || memcmp(r->at, word, length) != 0) return false;
    r->at += length;
    return true;
}

void reader_skip_line(Reader *r) {
    while (r->at < r->end && *r->at != '\n') r->at++;
}

_Noreturn void reader_expected(Reader *r, const char *fmt, ...) {
    char what[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    size_t length = reader_word(r);
    if (!length) fail(STATUS_FILE, "%s: line %lld: expected %s, found the end of the file", r->name, (long long)r->line, what);
    fail(STATUS_FILE, "%s: line %lld: expected %s, found \"%.*s\"", r->name, (long long)r->line, what,
         length > 40 ? 40 : (int)length, r->at);
}

int64_t reader_int(Reader *r, const char *what, int64_t least, int64_t most) {
    size_t length = reader_word(r);
    char *end;
    errno = 0;
    long long value = strtoll(r->at, &end, 10);
    if (!length || errno || end != r->at + length || value < least || value > most)
        reader_expected(r, "%s, an integer from %lld to %lld", what, (long long)least, (long long)most);
    r->at = end;
    return value;
}

double reader_number(Reader *r, const char *what) {
    size_t length = reader_word(r);
    char *end;
    double value = strtod(r->at, &end);
    if (!length || end != r->at + length) reader_expected(r, "%s, a number", what);
    r->at = end;
    return value;
}

double reader_finite(Reader *r, const char *what, int64_t index, int64_t count) {
    size_t length = reader_word(r);
    char *end;
    double value = strtod(r->at, &end);
    if (!length || end != r->at + length || !isfinite(value))
        reader_expected(r, "%s %lld of %lld, a finite number", what, (long long)index + 1, (long long)count);
    r->at = end;
    return value;
}

void reader_numbers(Reader *r, const char *what, double *to, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] = reader_finite(r, what, i, count);
}

void reader_end(Reader *r, const char *after) {
    if (reader_word(r)) reader_expected(r, "the end of the file after %s", after);
}

// A number and what divides it from the next take two bytes at least.
int64_t reader_most(const Reader *r) { return (r->end - r->text) / 2 + 1; }
