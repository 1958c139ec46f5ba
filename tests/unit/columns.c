// Pieces that go to columns: of any length, to and from any address.
#include "fsmc/runtime_internal.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 3, STEP = 512, AROUND = 128, SIZE = COLUMNS * STEP + 2 * AROUND };

static _Alignas(64) unsigned char to[SIZE], expected[SIZE], from[SIZE];

static bool is_right(int to_at, int from_at, int columns, int bytes, int from_step) {
    memset(to, 0xee, sizeof to), memset(expected, 0xee, sizeof expected);
    for (int c = 0; c < columns; c++) memcpy(expected + AROUND + to_at + c * STEP, from + from_at + c * from_step, (size_t)bytes);
    fsm_columns(to + AROUND + to_at, from + from_at, columns, bytes, STEP, from_step);
    return !memcmp(to, expected, sizeof to);
}

int main(void) {
    const int lengths[] = {0, 1, 7, 8, 24, 63, 64, 65, 72, 127, 128, 136, 192, 200, 255, 256, 257, 320, 333};
    bool ok = true;
    for (int i = 0; i < SIZE; i++) from[i] = (unsigned char)(i * 7 + i / 256);
    for (int k = 0; k < (int)(sizeof lengths / sizeof *lengths); k++)
        for (int to_at = 0; to_at < 80; to_at += to_at < 66 ? 1 : 7)
            for (int from_at = 0; from_at < 24; from_at += from_at < 9 ? 1 : 5)
                ok &= is_right(to_at, from_at, COLUMNS, lengths[k], 341) && is_right(to_at, from_at, 1, lengths[k], 0);
    ok &= is_right(5, 3, 0, 100, 341);
    puts(ok ? "ok pieces" : "not ok pieces: what is moved is not what was there, or something else is");
    return !ok;
}
