#include "support/place.h"

// ---- writing

static const PlaceLines *lines_of(PlaceWriter *w, const Source *src) {
    for (int i = 0; i < w->sources.len; i++)
        if (w->sources.data[i].src == src) return &w->sources.data[i];
    PlaceLines l = {.src = src};
    vec_push(&l.start, 0);
    for (const char *p = src->text; (p = memchr(p, '\n', src->len - (size_t)(p - src->text))); p++)
        vec_push(&l.start, (uint32_t)(p + 1 - src->text));
    vec_push(&w->sources, l);
    return &vec_last(&w->sources);
}

void place_write(PlaceWriter *w, Str *out, Span at) {
    if (!at.src) return;
    const PlaceLines *l = lines_of(w, at.src);
    int first = 0, end = l->start.len, column = 1;
    while (end - first > 1) {
        int middle = first + (end - first) / 2;
        *(l->start.data[middle] <= at.begin ? &first : &end) = middle;
    }
    for (uint32_t i = l->start.data[first]; i < at.begin && i < at.src->len; i++)
        column += ((unsigned char)at.src->text[i] & 0xC0) != 0x80; // characters, not bytes
    if (first >= PLACE_LINES) return;
    str_puts(out, " @");
    if (!w->named || strcmp(w->named, at.src->name)) str_quoted(out, w->named = at.src->name), str_putc(out, ':');
    str_printf(out, "%d:%d", first + 1, column < PLACE_COLUMNS ? column : PLACE_COLUMNS);
}

void place_writer_free(PlaceWriter *w) {
    for (int i = 0; i < w->sources.len; i++) vec_free(&w->sources.data[i].start);
    vec_free(&w->sources);
}

// ---- reading

bool place_read(PlaceReader *r, Arena *arena, const char *file, int line, int column, Span *span) {
    if (file) {
        r->named = 0;
        while (r->named < r->files.len && strcmp(r->files.data[r->named].src->name, file)) r->named++;
        if (r->named == r->files.len) {
            Source src = {.name = file, .text = ""};
            vec_push(&r->files, ((PlaceFile){.src = arena_copy(arena, &src, sizeof src)}));
        }
    }
    if (!r->files.len) return false;
    PlaceFile *f = &r->files.data[r->named];
    if (f->lines < line) f->lines = line;
    uint32_t at = (uint32_t)(line - 1) * (PLACE_COLUMNS + 1) + (uint32_t)column - 1;
    *span = (Span){f->src, at, at + 1};
    return true;
}

void place_finish(PlaceReader *r, Arena *arena) {
    for (int i = 0; i < r->files.len; i++) {
        Source *src = r->files.data[i].src;
        src->len = (size_t)r->files.data[i].lines * (PLACE_COLUMNS + 1);
        char *text = arena_alloc(arena, src->len + 1);
        memset(text, ' ', src->len);
        for (size_t end = PLACE_COLUMNS; end < src->len; end += PLACE_COLUMNS + 1) text[end] = '\n';
        src->text = text;
    }
    vec_free(&r->files);
}
