#include "support/arena.h"

#include "support/diag.h"

#include <stdbool.h>
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
    Chunk *chunks; // the one in use, and those before it
    Chunk *spare;  // one that was given back, or NULL
    Arena *inner;  // the arenas within this one
    Arena *next;   // another one within the same
    size_t used;
};

enum { CHUNK = 256 * 1024, ALIGN = _Alignof(max_align_t) };

Arena *arena_new(void) {
    Arena *a = calloc(1, sizeof *a);
    if (!a) diag_out_of_memory();
    return a;
}

Arena *arena_within(Arena *outer) {
    Arena *a = arena_new();
    a->next = outer->inner;
    return outer->inner = a;
}

void arena_free(Arena *a) {
    if (!a) return;
    for (Arena *in = a->inner, *next; in; in = next) {
        next = in->next;
        arena_free(in);
    }
    free(a->spare);
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
        bool again = a->spare && a->spare->size >= want;
        c = again ? a->spare : malloc(sizeof *c + want);
        if (!c) diag_out_of_memory();
        if (again) want = c->size, a->spare = NULL;
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

ArenaMark arena_mark(const Arena *a) { return (ArenaMark){a->chunks, a->chunks ? a->chunks->used : 0, a->used}; }

static void give_back(Arena *a, Chunk *c) {
#ifndef FSMC_MALLOC_PER_OBJECT
    if (!a->spare) {
        a->spare = c;
        return;
    }
#endif
    free(c);
}

void arena_release(Arena *a, ArenaMark mark) {
    while (a->chunks != mark.chunk) {
        Chunk *c = a->chunks;
        a->chunks = c->next;
        give_back(a, c);
    }
    if (a->chunks) a->chunks->used = mark.used;
    a->used = mark.total;
}

size_t arena_used(const Arena *a) { return a->used; }
