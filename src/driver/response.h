// The words of a command line, with response files in the place of their names.
#ifndef DRIVER_RESPONSE_H
#define DRIVER_RESPONSE_H

#include "support/arena.h"
#include "support/str.h"
#include "support/vec.h"

#include <stdbool.h>

// A word, and how many response files it came through.
typedef struct Word {
    char *text;
    int depth;
} Word;

typedef struct Words {
    VEC(Word) list;
    int next; // the word that is read next
} Words;

enum { RESPONSE_DEPTH = 8 }; // response files inside response files

// Puts the words of the file that word number next - 1 (`@file`) names in front of the next one; they live in the
// arena. White space separates words; inside "…" and '…' it does not. A backslash takes the next character as it is,
// except inside '…'. False after appending to message why the file cannot be read.
bool response_expand(Words *w, Arena *a, Str *message);

#endif
