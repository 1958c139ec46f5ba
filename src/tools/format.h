// Programs in one style: white space, line breaks, and the `in` that they make needless. Tokens and comments stay.
#ifndef TOOLS_FORMAT_H
#define TOOLS_FORMAT_H

#include "front/ast.h"

enum { FORMAT_WIDTH = 120, FORMAT_INDENT = 2 };

// Writes the program of `src` to out, in lines of up to `width` columns where that can be. Reports syntax errors, and then writes
// nothing. A declaration that would not be the same program afterwards stays as it is written; *kept counts these. Ends in
// fatal_bug rather than write another program.
bool format_program(Arena *a, Diag *diag, const Source *src, int width, Str *out, int *kept);
// Whether two sources that parse are the same program with the same comments: equal but for the places of things.
bool format_same(Arena *a, const Source *one, const Source *other);
// The same, whatever their comments.
bool format_same_tree(Arena *a, const Source *one, const Source *other);

#endif
