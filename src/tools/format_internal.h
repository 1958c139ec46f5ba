// Shared by the files of the formatter.
#ifndef TOOLS_FORMAT_INTERNAL_H
#define TOOLS_FORMAT_INTERNAL_H

#include "front/ast.h"
#include "front/tokens.h"
#include "support/doc.h"
#include "support/vec.h"

typedef VEC(const Doc *) Docs;

typedef struct Format {
    Arena *arena;
    const Source *src;
    SourceTokens tokens;
    int width;
    int next; // the token to print next
    int seen; // how many of the comments before it have been printed
} Format;

// What stands before an item of a block: comments on lines of their own, and an empty line if there is one in the
// source (before the first item only between comments).
const Doc *format_before_item(Format *f, bool first);
// The declaration that begins at the next token.
const Doc *format_decl(Format *f, const Decl *d);

#endif
