// The tokens and comments of a source, for tools that write programs. Only for sources that parse.
#ifndef FRONT_TOKENS_H
#define FRONT_TOKENS_H

#include "support/diag.h"

typedef enum CommentPlace {
    COMMENT_BEHIND,   // it ends the line of the token before it
    COMMENT_OWN_LINE, // it stands alone, or before a token but on several lines
    COMMENT_BEFORE    // a token follows on its line
} CommentPlace;

typedef struct Comment {
    const char *text; // without white space at the ends of lines
    int column;       // in code points, from 0
    bool blank;       // an empty line stands before it
    CommentPlace place;
} Comment;

typedef struct SourceToken {
    int kind; // as in fsm.tab.h
    uint32_t begin, end;
    int line, column; // from 0
    bool blank;       // an empty line stands before it
    int partner;      // of a bracket: the index of the one that matches, else -1
    int ncomments;    // between the token before and this one
    const Comment *comment;
} SourceToken;

typedef struct SourceTokens {
    int n; // the last is the end of the file
    const SourceToken *token;
} SourceTokens;

SourceTokens tokens_read(Arena *a, const Source *src);

#endif
