// Documents: text with places where lines may be broken (after Wadler, "A prettier printer", and Lindig).
#ifndef SUPPORT_DOC_H
#define SUPPORT_DOC_H

#include "support/arena.h"
#include "support/str.h"

#include <stdbool.h>

// Immutable; in the arena given. Texts are not copied.
typedef struct Doc Doc;

const Doc *doc_text(Arena *a, const char *text);
// A space, or a new line if the innermost group around it is broken.
const Doc *doc_line(Arena *a);
// A new line; breaks all groups around it.
const Doc *doc_newline(Arena *a);
const Doc *doc_cat(Arena *a, int n, const Doc *const *parts);
#define DOC_CAT(a, ...)                                                                                                \
    doc_cat((a), (int)(sizeof((const Doc *[]){__VA_ARGS__}) / sizeof(const Doc *)), (const Doc *[]){__VA_ARGS__})
// New lines inside are indented n columns further.
const Doc *doc_nest(Arena *a, int n, const Doc *d);
// New lines inside are indented to the column where d begins.
const Doc *doc_align(Arena *a, const Doc *d);
// On one line if it fits, else broken at all its lines (those of groups inside decide for themselves).
const Doc *doc_group(Arena *a, const Doc *d);
// Does d hold a newline of its own?
bool doc_is_broken(const Doc *d);

// Writes d, with lines of at most `width` columns where that can be.
void doc_print(Str *out, const Doc *d, int width);

#endif
