// Contexts: the scratch memory and the last error of the calls made with them.
//
// Scratch memory is a list of chunks used as a stack. Chunks stay until the context is freed, but that those of a large call become
// one when the next begins; then a call that asks for the same sizes in the same order as one before finds all in place, so it never
// reaches the allocator.
#define _DEFAULT_SOURCE // madvise
#include "context.h"
#include "registry.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { ALIGNMENT = 64, FIRST_CHUNK = 64 * 1024, HUGE_PAGE = 2 * 1024 * 1024 };

struct Chunk {
    struct Chunk *prev, *next;
    char *data;     // aligned
    int64_t size;   // of data
    int64_t before; // bytes in use in the chunks before this one; set when this one comes into use
};

// Who has a context: nobody; a call; or a call after which it is to be freed.
enum { STATE_IDLE, STATE_BUSY, STATE_DOOMED };

// Large memory lies in huge pages, if the system lets who asks have them: of small ones, programs that go through tens of megabytes
// again and again use more than the processor remembers the addresses of.
static void *default_alloc(size_t size, void *data) {
    (void)data;
#ifdef MADV_HUGEPAGE
    if (size >= 2 * (size_t)HUGE_PAGE && size <= PTRDIFF_MAX) {
        size_t whole = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        void *memory = aligned_alloc(HUGE_PAGE, whole);
        if (memory) madvise(memory, whole, MADV_HUGEPAGE);
        return memory;
    }
#endif
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
    if (!ctx) return NULL;
    memset(ctx, 0, sizeof *ctx);
    ctx->allocator = allocator;
    atomic_init(&ctx->cancelled, false);
    atomic_init(&ctx->failed, false);
    atomic_init(&ctx->state, STATE_IDLE);
    atomic_init(&ctx->threads, 0);
    if (registry_add(ctx)) return ctx;
    allocator.release(ctx, allocator.data);
    return NULL;
}

void context_give_back(fsm_context *ctx) {
    for (Chunk *c = ctx->first, *next; c; c = next) {
        next = c->next;
        ctx->allocator.release(c, ctx->allocator.data);
    }
    ctx->first = ctx->chunk = NULL;
}

static void delete_context(fsm_context *ctx) {
    fsm_allocator allocator = ctx->allocator;
    team_delete(ctx->team);
    if (ctx->device.release) ctx->device.release(ctx->device.data);
    context_give_back(ctx);
    allocator.release(ctx, allocator.data);
}

void fsm_context_free(fsm_context *ctx) {
    if (!registry_remove(ctx)) return;
    int idle = STATE_IDLE;
    if (atomic_compare_exchange_strong(&ctx->state, &idle, STATE_DOOMED) ||
        atomic_exchange(&ctx->state, STATE_DOOMED) == STATE_IDLE) // the call ended in between
        delete_context(ctx);
}

const char *fsm_context_error(const fsm_context *ctx) {
    if (!ctx) return "the context is NULL: one that fsm_context_new made is expected";
    if (!registry_has(ctx)) return "the context is not one that fsm_context_new made, or it has been freed";
    if (atomic_load_explicit(&ctx->state, memory_order_acquire) != STATE_IDLE)
        return "the context is in use by another call: one call at a time is expected";
    return ctx->error;
}

int64_t fsm_context_peak_bytes(const fsm_context *ctx) { return registry_has(ctx) ? ctx->peak : 0; }

void fsm_context_cancel(fsm_context *ctx) {
    if (registry_has(ctx)) atomic_store_explicit(&ctx->cancelled, true, memory_order_relaxed);
}

void fsm_context_set_threads(fsm_context *ctx, int threads) {
    if (registry_has(ctx)) atomic_store_explicit(&ctx->threads, threads, memory_order_relaxed);
}

fsm_part *fsm_device_part(fsm_context *ctx) { return &ctx->device; }

// ---- calls

static void join_chunks(fsm_context *ctx);

int fsm_begin(fsm_context *ctx, const fsm_entry_info *info) {
    if (!ctx) return FSM_ERROR_NO_CONTEXT;
    if (!registry_has(ctx)) return FSM_ERROR_BAD_CONTEXT;
    int idle = STATE_IDLE;
    if (!atomic_compare_exchange_strong_explicit(&ctx->state, &idle, STATE_BUSY, memory_order_acquire,
                                                 memory_order_relaxed))
        return FSM_ERROR_BUSY;
    ctx->error[0] = 0;
    if (ctx->chunk) fsm_release(ctx, 0);
    if (ctx->first && ctx->first->next && ctx->reserved >= 2 * HUGE_PAGE && !ctx->apart) join_chunks(ctx);
    int code = FSM_OK;
    if (info->abi != FSM_ABI_VERSION)
        code = fsm_fail(ctx, FSM_ERROR_VERSION, "",
                        "the object was compiled for version %d of the interface: version %d is expected", 2,
                        (int64_t)info->abi, (int64_t)FSM_ABI_VERSION);
    else if (atomic_load_explicit(&ctx->cancelled, memory_order_relaxed))
        code = fsm_poll(ctx);
    if (code) fsm_end(ctx);
    return code;
}

int fsm_is_free(fsm_context *ctx, const fsm_entry_info *info) {
    return registry_has(ctx) && atomic_load_explicit(&ctx->state, memory_order_acquire) == STATE_IDLE &&
           !atomic_load_explicit(&ctx->failed, memory_order_relaxed) &&
           !atomic_load_explicit(&ctx->cancelled, memory_order_relaxed) && info->abi == FSM_ABI_VERSION;
}

void fsm_end(fsm_context *ctx) {
    atomic_store_explicit(&ctx->failed, ctx->error[0] != 0, memory_order_relaxed);
    if (atomic_exchange_explicit(&ctx->state, STATE_IDLE, memory_order_acq_rel) == STATE_DOOMED) delete_context(ctx);
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

fsm_text fsm_text_begin(fsm_context *ctx) {
    ctx->error[0] = 0;
    return (fsm_text){ctx, 0};
}

void fsm_text_add(fsm_text *t, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int n = vsnprintf(t->ctx->error + t->len, ERROR_SIZE - t->len, format, values);
    va_end(values);
    if (n > 0) t->len = (size_t)n < ERROR_SIZE - t->len ? t->len + (size_t)n : ERROR_SIZE - 1;
}

const char *fsm_code_name(int code) {
    static const char *const names[] = {
#define CODE(name) [FSM_##name] = "FSM_" #name
        CODE(OK),          CODE(ERROR_NULL),       CODE(ERROR_SIZE),        CODE(ERROR_BOUNDS), CODE(ERROR_ASSERT),
        CODE(ERROR_DIVIDE), CODE(ERROR_MEMORY),    CODE(ERROR_OVERLAP),     CODE(ERROR_CANCELLED), CODE(ERROR_NAN),
        CODE(ERROR_NO_CONTEXT), CODE(ERROR_BAD_CONTEXT), CODE(ERROR_BUSY),  CODE(ERROR_NEGATIVE), CODE(ERROR_OVERFLOW),
        CODE(ERROR_ALIGN), CODE(ERROR_VERSION),    CODE(ERROR_RANK),        CODE(ERROR_TYPE),   CODE(ERROR_STRIDE),
        CODE(ERROR_RANGE),   CODE(ERROR_EXTERN),   CODE(ERROR_TAPE),        CODE(ERROR_DEVICE)
#undef CODE
    };
    return code >= 0 && code < (int)(sizeof names / sizeof *names) ? names[code] : "an unknown code";
}

// While threads are at work all of them are to see it; fsm_parallel forgets it then.
int fsm_poll(fsm_context *ctx) {
    fsm_context *call = ctx->call ? ctx->call : ctx;
    if (!atomic_load_explicit(&call->cancelled, memory_order_relaxed)) return FSM_OK;
    if (!call->parallel) atomic_store_explicit(&call->cancelled, false, memory_order_relaxed);
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
    Team *shared = ctx->call ? ctx->call->team : ctx->parallel ? ctx->team : NULL;
    if (shared) team_lock(shared);
    Chunk *c = ctx->allocator.alloc(sizeof *c + ALIGNMENT + (size_t)size, ctx->allocator.data);
    if (shared) team_unlock(shared);
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

// Chunks of large calls become one, of as much as was in use: of arrays that begin where chunks do, the elements at the same places
// are in each other's way in caches. If that is not to be had, they stay.
static void join_chunks(fsm_context *ctx) {
    Chunk *c = chunk_new(ctx, ctx->used);
    ctx->apart = !c;
    if (!c) return;
    context_give_back(ctx);
    c->prev = c->next = NULL;
    ctx->first = c;
    ctx->reserved = c->size;
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
    int64_t in_use = ctx->chunk->before + ctx->top;
    if (ctx->used < in_use) ctx->used = in_use;
    if (ctx->peak < in_use) ctx->peak = in_use;
    return result;
}
