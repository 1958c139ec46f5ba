#include "support/arena.h"

#include "support/diag.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Chunk {
    struct Chunk *next;
    size_t used, size;
    max_align_t data[];
} Chunk;

struct Arena {
    Chunk *chunks;
    size_t used;
};

enum { CHUNK = 256 * 1024, ALIGN = _Alignof(max_align_t) };

Arena *arena_new(void) {
    Arena *a = calloc(1, sizeof *a);
    if (!a) diag_out_of_memory();
    return a;
}

void arena_free(Arena *a) {
    if (!a) return;
    for (Chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

void *arena_alloc(Arena *a, size_t size) {
    if (size > SIZE_MAX / 2) diag_out_of_memory();
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
#ifdef FSMC_MALLOC_PER_OBJECT // every object its own block, so that memory checkers see its bounds
    size_t want = size;
#else
    size_t want = size > CHUNK ? size : CHUNK;
#endif
    Chunk *c = a->chunks;
    if (!c || c->size - c->used < size) {
        c = malloc(sizeof *c + want);
        if (!c) diag_out_of_memory();
        c->next = a->chunks, c->used = 0, c->size = want;
        a->chunks = c;
    }
    void *p = (char *)c->data + c->used;
    c->used += size;
    a->used += size;
    return memset(p, 0, size);
}

void *arena_copy(Arena *a, const void *data, size_t size) {
    void *p = arena_alloc(a, size);
    return size ? memcpy(p, data, size) : p;
}

char *arena_strndup(Arena *a, const char *s, size_t n) {
    char *p = arena_alloc(a, n + 1);
    if (n) memcpy(p, s, n);
    return p;
}

char *arena_strdup(Arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_vprintf(Arena *a, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *p = arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
    if (n >= 0) vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

char *arena_printf(Arena *a, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char *p = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return p;
}

size_t arena_used(const Arena *a) { return a->used; }
