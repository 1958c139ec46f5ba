#include "driver/response.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SIZE = 1 << 26 };

static bool fail(Str *message, const char *path, const char *why) {
    str_printf(message, "@%s: %s", path, why);
    return false;
}

static bool read_text(const char *path, Str *text, Str *message) {
    FILE *f = fopen(path, "rb");
    if (!f) return fail(message, path, strerror(errno));
    char block[1 << 14];
    size_t n;
    while (text->len <= MAX_SIZE && (n = fread(block, 1, sizeof block, f)) > 0) str_write(text, block, n);
    int error = ferror(f) ? (errno ? errno : EIO) : 0;
    fclose(f);
    if (error) return fail(message, path, strerror(error));
    if (text->len > MAX_SIZE) return fail(message, path, "a response file has at most 64 MiB");
    if (text->len && memchr(text->data, 0, text->len)) return fail(message, path, "a response file is text: it has a zero byte");
    return true;
}

// The word that begins at p, without its quotes, in `word`; where it ends, or NULL if a quote is not closed.
static const char *read_word(const char *p, Str *word) {
    char quote = 0;
    for (; *p && (quote || !isspace((unsigned char)*p)); p++)
        if (*p == '\\' && quote != '\'' && p[1]) str_putc(word, *++p);
        else if (quote && *p == quote) quote = 0;
        else if (!quote && (*p == '"' || *p == '\'')) quote = *p;
        else str_putc(word, *p);
    return quote ? NULL : p;
}

static bool split(Words *out, Arena *a, const char *path, const char *p, int depth, Str *message) {
    for (;;) {
        while (isspace((unsigned char)*p)) p++;
        if (!*p) return true;
        Str word = {0};
        p = read_word(p, &word);
        vec_push(&out->list, ((Word){arena_strdup(a, str_text(&word)), depth}));
        str_free(&word);
        if (!p) return fail(message, path, "a quote is not closed");
    }
}

bool response_expand(Words *w, Arena *a, Str *message) {
    Word from = w->list.data[w->next - 1];
    const char *path = from.text + 1;
    if (!*path) return fail(message, path, "the name of a file is expected after '@'");
    if (from.depth == RESPONSE_DEPTH) {
        str_printf(message, "@%s: response files are nested more than %d deep", path, RESPONSE_DEPTH);
        return false;
    }
    Str text = {0};
    Words all = {0};
    bool ok = read_text(path, &text, message) && split(&all, a, path, str_text(&text), from.depth + 1, message);
    for (int i = w->next; ok && i < w->list.len; i++) vec_push(&all.list, w->list.data[i]);
    if (ok) {
        w->list.len = w->next - 1; // the name itself goes, too
        w->next--;
        for (int i = 0; i < all.list.len; i++) vec_push(&w->list, all.list.data[i]);
    }
    str_free(&text);
    vec_free(&all.list);
    return ok;
}
