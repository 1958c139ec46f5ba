// Arena allocation: everything a compilation makes lives in one arena with a named lifetime and is freed at once.
#ifndef SUPPORT_ARENA_H
#define SUPPORT_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct Arena Arena;

// A new, empty arena; never NULL (running out of memory ends in the error handler set by arena_on_oom).
Arena *arena_new(void);
// A new, empty arena that is freed with `outer`, and not before: for what is made and given back (below) among what stays.
Arena *arena_within(Arena *outer);
// Frees the arena, those within it and everything allocated from it. NULL is allowed.
void arena_free(Arena *a);
// `size` zeroed bytes aligned for any type; valid until the arena is freed, or a mark before it is released.
void *arena_alloc(Arena *a, size_t size);
// A copy of `size` bytes.
void *arena_copy(Arena *a, const void *data, size_t size);
// A NUL-terminated copy of s[0..n).
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_strdup(Arena *a, const char *s);
// A formatted string in the arena.
char *arena_printf(Arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *a, const char *fmt, va_list ap);
// Where an arena stands; arena_release gives back all that has been allocated since then. Marks are released in the reverse of the
// order in which they were taken.
typedef struct ArenaMark {
    void *chunk;
    size_t used, total;
} ArenaMark;
ArenaMark arena_mark(const Arena *a);
void arena_release(Arena *a, ArenaMark mark);
// Bytes handed out so far, without those given back.
size_t arena_used(const Arena *a);

#define ARENA_NEW(a, T)      ((T *)arena_alloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

#endif
