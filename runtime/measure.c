// The least and the greatest of integers in the columns of an array: what compiled code looks at before it takes the
// version for usual arguments.
#include "fsmc/runtime_internal.h"

#include <stdbool.h>
#include <string.h>

// Vectors, which the C compiler divides where the processor has shorter ones.
enum { VECTOR = 32 };
typedef int32_t Ints32 __attribute__((vector_size(VECTOR)));
typedef int64_t Ints64 __attribute__((vector_size(VECTOR)));

// Notes e, of a column, whose extremes so far are out[0] and out[1].
static inline void note(int64_t *out, int64_t e) {
    out[0] = e < out[0] ? e : out[0];
    out[1] = e > out[1] ? e : out[1];
}

// Of n rows of 1, 2 or 4 columns, so that each lane of a vector is of one column. out has the first row twice.
#define MEASURE(name, Int, Ints)                                                                                       \
    static inline __attribute__((always_inline)) void name(const Int *e, int64_t n, int64_t columns, int64_t *out)     \
    {                                                                                                                  \
        enum { LANES = VECTOR / (int)sizeof(Int) };                                                                    \
        const int64_t len = n * columns;                                                                               \
        int64_t i = 0;                                                                                                 \
        if (len >= LANES) {                                                                                            \
            Ints least, greatest;                                                                                      \
            memcpy(&least, e, sizeof least);                                                                           \
            greatest = least;                                                                                          \
            for (i = LANES; i + LANES <= len; i += LANES) {                                                            \
                Ints v, less, more;                                                                                    \
                memcpy(&v, e + i, sizeof v);                                                                           \
                less = v < least, more = v > greatest;                                                                 \
                least = (less & v) | (~less & least), greatest = (more & v) | (~more & greatest);                      \
            }                                                                                                          \
            for (int k = 0; k < LANES; k++) {                                                                          \
                note(out + (k & (columns - 1)) * 2, least[k]);                                                         \
                note(out + (k & (columns - 1)) * 2, greatest[k]);                                                      \
            }                                                                                                          \
        }                                                                                                              \
        for (; i < len; i++) note(out + (i & (columns - 1)) * 2, e[i]);                                                \
    }
MEASURE(measure32, int32_t, Ints32)
MEASURE(measure64, int64_t, Ints64)

static void measure_plain(const void *e, int32_t bytes, int64_t n, int64_t columns, int64_t *out) {
    if (bytes == 8) measure64(e, n, columns, out);
    else measure32(e, n, columns, out);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define FOR(processor) __attribute__((target(processor)))

FOR("avx2") static void measure_avx2(const void *e, int32_t bytes, int64_t n, int64_t columns, int64_t *out) {
    if (bytes == 8) measure64(e, n, columns, out);
    else measure32(e, n, columns, out);
}

// Here the least and the greatest are operations for both kinds of integers.
#define WIDE(name, Int, bits)                                                                                          \
    FOR("avx512f") static void name(const Int *e, int64_t n, int64_t columns, int64_t *out)                            \
    {                                                                                                                  \
        enum { LANES = 64 / (int)sizeof(Int) };                                                                        \
        const int64_t len = n * columns;                                                                               \
        int64_t i = 0;                                                                                                 \
        Int low[LANES], high[LANES];                                                                                   \
        if (len >= 2 * LANES) {                                                                                        \
            __m512i least[2], greatest[2];                                                                             \
            for (int k = 0; k < 2; k++) least[k] = greatest[k] = _mm512_loadu_si512(e + k * LANES);                    \
            for (i = 2 * LANES; i + 2 * LANES <= len; i += 2 * LANES)                                                  \
                for (int k = 0; k < 2; k++) {                                                                          \
                    __m512i v = _mm512_loadu_si512(e + i + k * LANES);                                                 \
                    least[k] = _mm512_min_epi##bits(least[k], v);                                                      \
                    greatest[k] = _mm512_max_epi##bits(greatest[k], v);                                                \
                }                                                                                                      \
            _mm512_storeu_si512(low, _mm512_min_epi##bits(least[0], least[1]));                                        \
            _mm512_storeu_si512(high, _mm512_max_epi##bits(greatest[0], greatest[1]));                                 \
            for (int k = 0; k < LANES; k++) {                                                                          \
                note(out + (k & (columns - 1)) * 2, low[k]);                                                           \
                note(out + (k & (columns - 1)) * 2, high[k]);                                                          \
            }                                                                                                          \
        }                                                                                                              \
        for (; i < len; i++) note(out + (i & (columns - 1)) * 2, e[i]);                                                \
    }
WIDE(wide32, int32_t, 32)
WIDE(wide64, int64_t, 64)

static void measure(const void *e, int32_t bytes, int64_t n, int64_t columns, int64_t *out) {
    const bool wide = __builtin_cpu_supports("avx512f");
    if (wide && bytes == 8) wide64(e, n, columns, out);
    else if (wide) wide32(e, n, columns, out);
    else if (__builtin_cpu_supports("avx2")) measure_avx2(e, bytes, n, columns, out);
    else measure_plain(e, bytes, n, columns, out);
}
#else
#define measure measure_plain
#endif

static int64_t element(const char *e, int32_t bytes) {
    int64_t wide;
    int32_t narrow;
    if (bytes == 8) return memcpy(&wide, e, sizeof wide), wide;
    return memcpy(&narrow, e, sizeof narrow), narrow;
}

void fsm_measure(const void *data, int32_t bytes, int64_t n, int64_t step, int32_t columns, int64_t *out) {
    const char *first = data;
    for (int32_t k = 0; k < columns; k++) out[2 * k] = out[2 * k + 1] = n > 0 ? element(first + k * bytes, bytes) : 0;
    if (n <= 0) return;
    if (step == columns && (columns == 1 || columns == 2 || columns == 4)) {
        measure(data, bytes, n, columns, out);
        return;
    }
    for (int64_t i = 1; i < n; i++)
        for (int32_t k = 0; k < columns; k++) note(out + 2 * k, element(first + (i * step + k) * bytes, bytes));
}
