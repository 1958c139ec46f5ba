// The least and the greatest of integers, in any columns, beside what a loop finds.
#define fsm_measure measure_here // also what other processors than this one run
#include "../../runtime/measure.c"

#include <stdio.h>

enum { MOST = 70, MOST_STEP = 9, ROOM = MOST * MOST_STEP + 8 };

static int64_t longs[ROOM];
static int32_t ints[ROOM];

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 20;
}

// What processors without long vectors do.
static bool is_like_others(const void *from, int bytes, int n, int columns, const int64_t *expected) {
    int64_t out[2 * MOST_STEP];
    for (int c = 0; c < columns; c++) out[2 * c] = out[2 * c + 1] = element((const char *)from + c * bytes, bytes);
    measure_plain(from, bytes, n, columns, out);
    return !memcmp(out, expected, sizeof *out * 2 * (size_t)columns);
}

static bool is_right(int at, int n, int step, int columns, bool is_wide) {
    int64_t out[2 * MOST_STEP];
    bool ok = true;
    const void *from = is_wide ? (void *)(longs + at) : (void *)(ints + at);
    fsm_measure(from, is_wide ? 8 : 4, n, step, columns, out);
    if (step == columns && columns != 3 && columns <= 4 && n > 0)
        ok &= is_like_others(from, is_wide ? 8 : 4, n, columns, out);
    for (int c = 0; c < columns; c++) {
        int64_t least = 0, greatest = 0;
        for (int i = 0; i < n; i++) {
            int64_t e = is_wide ? longs[at + i * step + c] : ints[at + i * step + c];
            if (i == 0 || e < least) least = e;
            if (i == 0 || e > greatest) greatest = e;
        }
        ok &= out[2 * c] == least && out[2 * c + 1] == greatest;
    }
    return ok;
}

int main(void) {
    uint64_t state = 1;
    bool ok = true;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < ROOM; i++) {
            longs[i] = (int64_t)(next(&state) << 24 ^ next(&state)) >> (round * 15);
            ints[i] = (int32_t)longs[i];
        }
        if (round == 0) longs[3] = INT64_MIN, longs[5] = INT64_MAX, ints[3] = INT32_MIN, ints[5] = INT32_MAX;
        for (int at = 0; at < 8; at++)
            for (int n = 0; n < MOST; n++)
                for (int step = 1; step < MOST_STEP; step++)
                    for (int columns = 1; columns <= step; columns += columns < 2 ? 1 : 2)
                        ok &= is_right(at, n, step, columns, true) && is_right(at, n, step, columns, false);
    }
    puts(ok ? "ok integers" : "not ok integers: the least or the greatest is another one");
    return !ok;
}
