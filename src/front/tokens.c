#include "front/tokens.h"

#include "front/layout.h"
#include "support/vec.h"

#include "fsm.tab.h"

#define YYSTYPE FSM_STYPE
#define YYLTYPE FSM_LTYPE
#include "fsm.lex.h"

#include <limits.h>

typedef VEC(Comment) Comments;

// What stands between two tokens: white space and comments.
typedef struct Gap {
    Arena *arena;
    const Source *src;
    uint32_t at, end;
    int line, column;
    bool first;
} Gap;

static bool starts(const Gap *g, const char *text) {
    size_t n = strlen(text);
    return g->end - g->at >= n && !memcmp(g->src->text + g->at, text, n);
}

static void step(Gap *g) {
    unsigned char c = (unsigned char)g->src->text[g->at++];
    if (c == '\n') g->line++, g->column = 0;
    else g->column += (c & 0xC0) != 0x80;
}

// The text [begin, end), without white space at the ends of its lines.
static const char *trimmed(const Gap *g, uint32_t begin, uint32_t end) {
    char *text = arena_strndup(g->arena, g->src->text + begin, end - begin), *to = text, *solid = text;
    for (const char *p = text; *p; p++) {
        if (*p == '\n') to = solid;
        *to++ = *p;
        if (*p != ' ' && *p != '\t' && *p != '\r') solid = to;
    }
    *solid = 0;
    return text;
}

static void skip_comment(Gap *g) {
    if (starts(g, "//")) {
        while (g->at < g->end && g->src->text[g->at] != '\n') step(g);
        return;
    }
    int depth = 0;
    do {
        bool section = starts(g, "(*)") && depth, opens = starts(g, "(*"), closes = starts(g, "*)");
        depth += section ? 0 : opens ? 1 : closes ? -1 : 0;
        for (int n = section ? 3 : opens || closes ? 2 : 1; n > 0; n--) step(g);
    } while (depth && g->at < g->end);
}

// The comments of a gap, up to the token on token_line. Returns the line where the last one ends.
static int read_gap(Gap *g, int token_line, Comments *out) {
    int previous_line = g->line, first = out->len, end_line = g->line;
    VEC(int) ends = {0};
    while (g->at < g->end) {
        if (!starts(g, "//") && !starts(g, "(*")) {
            step(g);
            continue;
        }
        Comment c = {.column = g->column, .blank = g->line > end_line + 1};
        bool behind = g->line == previous_line && !g->first;
        int line = g->line;
        uint32_t begin = g->at;
        skip_comment(g);
        c.text = trimmed(g, begin, g->at);
        c.place = behind && line == g->line ? COMMENT_BEHIND : COMMENT_OWN_LINE;
        end_line = g->line;
        vec_push(out, c);
        vec_push(&ends, line == g->line ? g->line : -1);
    }
    // one that ends on the line of the token, and those that such a one follows, stand before the token
    for (int i = out->len; i-- > first && ends.data[i - first] == token_line;) out->data[i].place = COMMENT_BEFORE;
    vec_free(&ends);
    return end_line;
}

static bool is_opening(int k) { return k == LPAREN || k == LPAREN_CALL || k == LBRACK || k == LINDEX || k == LARRAY || k == LATTR; }

static bool is_closing(int k) { return k == RPAREN || k == RBRACK || k == RARRAY; }

static void match(SourceToken *t, int n) {
    VEC(int) open = {0};
    for (int i = 0; i < n; i++) {
        t[i].partner = -1;
        if (is_opening(t[i].kind)) {
            vec_push(&open, i);
        } else if (is_closing(t[i].kind) && open.len) {
            int k = vec_pop(&open);
            t[i].partner = k, t[k].partner = i;
        }
    }
    vec_free(&open);
}

SourceTokens tokens_read(Arena *a, const Source *src) {
    Lexer lx;
    Diag *diag = diag_new(a);
    yyscan_t scanner = lexer_start(&lx, a, diag, src);
    VEC(SourceToken) tokens = {0};
    Gap g = {.arena = a, .src = src, .first = true};
    FSM_STYPE value;
    Loc at;
    int kind;
    do {
        kind = fsm_scan_lex(&value, &at, scanner);
        Comments comments = {0};
        bool end = kind == FSM_EOF;
        if (end) at.begin = at.end = (uint32_t)src->len; // the lexer gives none
        g.end = at.begin;
        int before = read_gap(&g, end ? -1 : lx.line, &comments);
        SourceToken t = {.kind = kind, .begin = at.begin, .end = at.end, .line = lx.line, .column = lx.token_column};
        if (end) t.column = tokens.len ? tokens.data[0].column : INT_MAX; // where a declaration would stand
        t.ncomments = comments.len;
        t.comment = arena_copy(a, comments.data, sizeof *comments.data * (size_t)comments.len);
        t.blank = lx.line > before + 1;
        vec_push(&tokens, t);
        vec_free(&comments);
        while (g.at < at.end) step(&g);
        g.first = false;
    } while (kind != FSM_EOF);
    fsm_scan_lex_destroy(scanner);
    diag_delete(diag);
    SourceToken *t = arena_copy(a, tokens.data, sizeof *tokens.data * (size_t)tokens.len);
    SourceTokens out = {tokens.len, t};
    match(t, tokens.len);
    vec_free(&tokens);
    return out;
}
