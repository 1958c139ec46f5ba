// What goes to columns of a large array, piece by piece. A processor that stores into a cache first loads what was there; so
// whole lines of the cache go past it. A line that a piece begins or ends with may be part of another piece, too.
#include "fsmc/runtime_internal.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

enum { LINE = 64 };

static void copy_piece(char *to, const char *from, int64_t n) {
    int64_t head = (int64_t)(-(uintptr_t)to & (LINE - 1));
    if (head > n) head = n;
    memcpy(to, from, (size_t)head);
    to += head, from += head, n -= head;
    for (; n >= LINE; n -= LINE, to += LINE, from += LINE)
        for (int k = 0; k < LINE; k += (int)sizeof(__m128i))
            _mm_stream_si128((__m128i *)(void *)(to + k), _mm_loadu_si128((const __m128i *)(const void *)(from + k)));
    memcpy(to, from, (size_t)n);
}

static void finish(void) { _mm_sfence(); }
#else
static void copy_piece(char *to, const char *from, int64_t n) { memcpy(to, from, (size_t)n); }
static void finish(void) {}
#endif

void fsm_columns(void *to, const void *from, int64_t columns, int64_t bytes, int64_t to_step, int64_t from_step) {
    for (int64_t c = 0; c < columns && bytes > 0; c++)
        copy_piece((char *)to + c * to_step, (const char *)from + c * from_step, bytes);
    finish();
}
