// Contexts: the scratch memory and the last error of the calls made with them.
//
// Scratch memory is a list of chunks used as a stack. Chunks stay until the context is freed, and a call that asks for
// the same sizes in the same order as one before finds all of them in place, so it never reaches the allocator.
#include "fsmc/runtime.h"
#include "fsmc/runtime_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, FIRST_CHUNK = 64 * 1024, ERROR_SIZE = 1024 };

typedef struct Chunk {
    struct Chunk *prev, *next;
    char *data;     // aligned
    int64_t size;   // of data
    int64_t before; // bytes in use in the chunks before this one; set when this one comes into use
} Chunk;

struct fsm_context {
    atomic_bool cancelled; // first: compiled code reads this byte between iterations, and calls fsm_poll if it is set
    fsm_allocator allocator;
    Chunk *first, *chunk; // chunk: the one in use; NULL if there is none yet
    int64_t top;          // bytes in use in it
    int64_t reserved;     // in all chunks
    int64_t peak;
    char error[ERROR_SIZE];
};

static void *default_alloc(size_t size, void *data) {
    (void)data;
    return malloc(size);
}

static void default_release(void *memory, void *data) {
    (void)data;
    free(memory);
}

int fsm_abi_version(void) { return FSM_ABI_VERSION; }

fsm_context *fsm_context_new(void) {
    return fsm_context_new_with((fsm_allocator){default_alloc, default_release, NULL});
}

fsm_context *fsm_context_new_with(fsm_allocator allocator) {
    fsm_context *ctx = allocator.alloc(sizeof *ctx, allocator.data);
    if (ctx) {
        memset(ctx, 0, sizeof *ctx);
        ctx->allocator = allocator;
        atomic_init(&ctx->cancelled, false);
    }
    return ctx;
}

void fsm_context_free(fsm_context *ctx) {
    if (!ctx) return;
    fsm_allocator allocator = ctx->allocator;
    for (Chunk *c = ctx->first, *next; c; c = next) {
        next = c->next;
        allocator.release(c, allocator.data);
    }
    allocator.release(ctx, allocator.data);
}

const char *fsm_context_error(const fsm_context *ctx) { return ctx ? ctx->error : "the context is NULL"; }

int64_t fsm_context_peak_bytes(const fsm_context *ctx) { return ctx ? ctx->peak : 0; }

void fsm_context_cancel(fsm_context *ctx) {
    if (ctx) atomic_store_explicit(&ctx->cancelled, true, memory_order_relaxed);
}

// ---- errors

// Appends to the error text, cutting it off where the buffer ends.
static void error_append(fsm_context *ctx, size_t *len, const char *text, size_t n) {
    size_t room = ERROR_SIZE - 1 - *len;
    if (n > room) n = room;
    memcpy(ctx->error + *len, text, n);
    *len += n;
    ctx->error[*len] = 0;
}

int fsm_fail(fsm_context *ctx, int code, const char *where, const char *text, int nvalues, ...) {
    size_t len = 0;
    ctx->error[0] = 0;
    if (*where) {
        error_append(ctx, &len, where, strlen(where));
        error_append(ctx, &len, ": ", 2);
    }
    va_list values;
    va_start(values, nvalues);
    for (const char *s = text; nvalues > 0 && (s = strchr(s, '%'));) {
        if (s[1] != 'd' && s[1] != 'g') {
            s++;
            continue;
        }
        char number[32];
        int64_t value = va_arg(values, int64_t);
        double real;
        memcpy(&real, &value, sizeof real);
        if (s[1] == 'g')
            snprintf(number, sizeof number, "%g", real);
        else
            snprintf(number, sizeof number, "%" PRId64, value);
        error_append(ctx, &len, text, (size_t)(s - text));
        error_append(ctx, &len, number, strlen(number));
        text = s += 2;
        nvalues--;
    }
    va_end(values);
    error_append(ctx, &len, text, strlen(text));
    return code;
}

static int fail_named(fsm_context *ctx, int code, const char *format, const char *a, const char *b) {
    snprintf(ctx->error, sizeof ctx->error, format, a, b);
    return code;
}

// ---- the start of a call

static bool overlap(const fsm_array *a, const fsm_array *b) {
    uintptr_t p = (uintptr_t)a->data, q = (uintptr_t)b->data;
    if (a->bytes <= 0 || b->bytes <= 0) return false;
    return p <= q ? q - p < (uintptr_t)a->bytes : p - q < (uintptr_t)b->bytes;
}

int fsm_enter(fsm_context *ctx, int64_t ninputs, int64_t noutputs, const fsm_array *arrays, const char *const *names) {
    int64_t n = ninputs + noutputs;
    ctx->error[0] = 0;
    fsm_release(ctx, 0);
    for (int64_t i = 0; i < n; i++) {
        const char *what = i < ninputs ? "argument" : "output";
        if (arrays[i].bytes < 0)
            return fail_named(ctx, FSM_ERROR_SIZE, "%s '%s' is too large to be addressed", what, names[i]);
        if (!arrays[i].data && arrays[i].bytes > 0)
            return fail_named(ctx, FSM_ERROR_NULL, "%s '%s' is NULL", what, names[i]);
    }
    for (int64_t i = ninputs; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (overlap(&arrays[i], &arrays[j]))
                return fail_named(ctx, FSM_ERROR_OVERLAP,
                                  j < ninputs ? "output '%s' overlaps argument '%s'"
                                              : "output '%s' overlaps output '%s'",
                                  names[i], names[j]);
    return fsm_poll(ctx);
}

int fsm_poll(fsm_context *ctx) {
    if (!atomic_load_explicit(&ctx->cancelled, memory_order_relaxed)) return FSM_OK;
    atomic_store_explicit(&ctx->cancelled, false, memory_order_relaxed);
    return fsm_fail(ctx, FSM_ERROR_CANCELLED, "", "the call was cancelled", 0);
}

// ---- scratch memory

int64_t fsm_mark(fsm_context *ctx) { return ctx->chunk ? ctx->chunk->before + ctx->top : 0; }

void fsm_release(fsm_context *ctx, int64_t mark) {
    if (!ctx->chunk) return;
    while (ctx->chunk->before > mark) ctx->chunk = ctx->chunk->prev;
    ctx->top = mark - ctx->chunk->before;
}

static Chunk *chunk_new(fsm_context *ctx, int64_t size) {
    Chunk *c = ctx->allocator.alloc(sizeof *c + ALIGNMENT + (size_t)size, ctx->allocator.data);
    if (c) {
        uintptr_t data = ((uintptr_t)(c + 1) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
        c->data = (char *)data;
        c->size = size;
    }
    return c;
}

// Puts a chunk with room for `size` bytes into use. Chunks double the memory held, so that there are few of them; when
// that is not to be had, one of the size asked for will do.
static bool next_chunk(fsm_context *ctx, int64_t size) {
    Chunk *here = ctx->chunk, *after = here ? here->next : ctx->first, *c = after;
    if (!c || c->size < size) {
        int64_t want = ctx->reserved > FIRST_CHUNK ? ctx->reserved : FIRST_CHUNK;
        c = want > size ? chunk_new(ctx, want) : NULL;
        if (!c) c = chunk_new(ctx, size);
        if (!c) return false;
        ctx->reserved += c->size;
        c->prev = here;
        c->next = after;
        if (after) after->prev = c;
        *(here ? &here->next : &ctx->first) = c;
    }
    c->before = here ? here->before + ctx->top : 0;
    ctx->chunk = c;
    ctx->top = 0;
    return true;
}

void *fsm_alloc(fsm_context *ctx, int64_t count, int64_t size) {
    if (count < 0 || count > (INT64_MAX / 4 - ALIGNMENT) / size) {
        fsm_fail(ctx, FSM_ERROR_MEMORY, "", "an intermediate array is too large to be addressed", 0);
        return NULL;
    }
    int64_t bytes = (count * size + ALIGNMENT - 1) & ~(int64_t)(ALIGNMENT - 1);
    if (!ctx->chunk || ctx->chunk->size - ctx->top < bytes) {
        if (!next_chunk(ctx, bytes)) {
            fsm_fail(ctx, FSM_ERROR_MEMORY, "", "out of memory: %d bytes asked for an intermediate array", 1,
                     count * size);
            return NULL;
        }
    }
    void *result = ctx->chunk->data + ctx->top;
    ctx->top += bytes;
    if (ctx->peak < ctx->chunk->before + ctx->top) ctx->peak = ctx->chunk->before + ctx->top;
    return result;
}
