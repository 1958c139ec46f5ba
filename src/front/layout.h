// The layout filter: stands between lexer and parser and turns columns into blocks. It hands the parser one
// declaration at a time, so that an error in one does not hide those in the next.
//
// The rule. A block is opened by the `=` of a binding, by the `->` of a lambda, by `then`, `else` and `do`, and by an
// opening bracket; its column is that of its first token. A line at that column is the block's next item, a line further right
// continues the item, a line further left closes the block. On top of this:
//   - a bracket suspends the columns outside it, until it closes;
//   - `in`, `then`, `else`, `do`, closing brackets, `;` and `..` may stand anywhere: they close what stands between them and
//     what they belong to;
//   - a line that begins or follows an infix operator is no new item; one that begins with it may stand left of the
//     block's column by the operator's length plus one, as in F#;
//   - what a block opener opens on a new line has to be further right than the nearest enclosing block that begins
//     a line; so the body of a lambda may be undented past the place where the lambda stands;
//   - if a binding's right-hand side begins on the line of its `let`, lines further right than the `let` continue it.
#ifndef FRONT_LAYOUT_H
#define FRONT_LAYOUT_H

#include "front/parse.h"

// Stated limits; beyond them parsing a declaration ends with an error.
enum { LAYOUT_MAX_BRACKETS = 200000, LAYOUT_MAX_BLOCKS = AST_MAX_DEPTH };

// The lexer's own state (flex's yyextra).
typedef struct Lexer {
    Arena *arena;
    Diag *diag;
    const Source *src;
    uint32_t pos;     // bytes read so far
    int line, column; // of pos, from 0, in code points
    int token_column; // of the token being read
    bool fresh;       // no token on this line yet
    bool tab;         // a tab stands before the first token of this line
    bool token_fresh; // the token being read is the first of its line
    int prev_kind;    // the token before it, and where it ended
    uint32_t prev_end;
    uint32_t doc_begin, doc_end; // the latest run of `//` lines, and the line of its last
    int doc_line;
    int loop_heads; // how many `loop`s wait for their `do`
    bool externs;   // in an `extern` declaration
    int comment_depth;
    Loc comment_at;
} Lexer;

// Starts flex's scanner, to be freed by fsm_scan_lex_destroy, at the beginning of src; a byte order mark is no part of
// the text. (fsm.l)
void *lexer_start(Lexer *lx, Arena *arena, Diag *diag, const Source *src);

// Why a virtual token was made, for messages.
typedef enum LayoutCause {
    LAYOUT_TOKEN,   // the token is real
    LAYOUT_OFFSIDE, // a line began at or left of the block's column
    LAYOUT_CLOSER   // `)`, `else` and the like closed a block
} LayoutCause;

Layout *layout_new(Arena *arena, Diag *diag, const Source *src);
void layout_free(Layout *l);
// Moves to the next declaration; false at the end of the source. After an error the parser may leave a declaration half
// read: its rest is skipped. *doc is the text of the comment lines directly above, or NULL.
bool layout_next_decl(Layout *l, const char **doc);

// For the parser's messages: why the last token was made; the real token before it (kind and place) and the real token
// it is or stands before; the innermost open bracket ({0,0} if none); the last `let` whose right-hand side was closed
// before the token; the column, from 1, of the first block that the token's line closed (0: none).
typedef struct LayoutState {
    LayoutCause cause;
    int before, next;
    Loc before_at, next_at;
    Loc bracket_at, let_at;
    int closed_column;
} LayoutState;
LayoutState layout_state(const Layout *l);

#endif
