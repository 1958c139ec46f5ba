// Documents: text with places where lines may be broken (after Wadler, "A prettier printer", and Lindig).
#ifndef SUPPORT_DOC_H
#define SUPPORT_DOC_H

#include "support/arena.h"
#include "support/str.h"

#include <stdbool.h>

// Immutable; in the arena given. Texts are not copied.
typedef struct Doc Doc;

// Text without a newline; its width is that of its code points.
const Doc *doc_text(Arena *a, const char *text);
// A space where lines are never broken; nothing at either end of a line.
const Doc *doc_space(Arena *a);
// A space, or a new line if the innermost group around it is broken.
const Doc *doc_line(Arena *a);
// The text, or a new line if the innermost group around it is broken.
const Doc *doc_line_or(Arena *a, const char *text);
// A new line; breaks all groups around it.
const Doc *doc_newline(Arena *a);
// An empty line between what stands before and behind; breaks all groups around it.
const Doc *doc_blank(Arena *a);
// A comment, after which the line ends whatever comes next. One that begins a line breaks all groups around it; another
// stands behind the text before it, takes no room, and breaks the groups that go on after it.
const Doc *doc_comment(Arena *a, const char *text, bool begins_line);
const Doc *doc_cat(Arena *a, int n, const Doc *const *parts);
#define DOC_CAT(a, ...)                                                                                                            \
    doc_cat((a), (int)(sizeof((const Doc *[]){__VA_ARGS__}) / sizeof(const Doc *)), (const Doc *[]){__VA_ARGS__})
// New lines inside are indented n columns further.
const Doc *doc_nest(Arena *a, int n, const Doc *d);
// New lines inside are indented to the column where d begins.
const Doc *doc_align(Arena *a, const Doc *d);
// On one line if it fits, else broken at all its lines (those of groups inside decide for themselves).
const Doc *doc_group(Arena *a, const Doc *d);
// Broken at all its lines.
const Doc *doc_break(Arena *a, const Doc *d);
// On one line whether it fits or not; not for what doc_is_broken.
const Doc *doc_flat(Arena *a, const Doc *d);
// `first` if that fits up to its first line break, else `second`.
const Doc *doc_choice(Arena *a, const Doc *first, const Doc *second);
// d behind what stands on the line, or on a new line n columns further in: the first that fits of d on this line; d
// whole on the next; `hug` (may be NULL) behind a space up to its first line break; d broken on the next line.
const Doc *doc_hang(Arena *a, int n, const Doc *hug, const Doc *d);
// The columns that d takes on one line.
int doc_width(const Doc *d);
// Does d hold a newline of its own?
bool doc_is_broken(const Doc *d);
// Does d end with a comment, so that its line ends there?
bool doc_ends_line(const Doc *d);

// Writes d, with lines of at most `width` columns where that can be.
void doc_print(Str *out, const Doc *d, int width);

#endif
