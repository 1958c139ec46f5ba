// The layout filter: blocks and brackets are nested, the real tokens are those of the lexer in their order, and however
// much of a declaration is read, the next one is found and the source ends.
#include "front/layout.h"

#include "fuzz/fuzz.h"
#include "support/vec.h"

#include "fsm.tab.h"

#define YYSTYPE FSM_STYPE
#define YYLTYPE FSM_LTYPE
#include "fsm.lex.h"

#include <limits.h>

typedef struct Stream {
    Parser parser;
    VEC(int) open; // OBLOCK and opening brackets
    VEC(Loc) real; // tokens that are in the source
    int tokens, decls;
} Stream;

static int closes(int kind) {
    switch (kind) {
    case CBLOCK: return OBLOCK;
    case RPAREN: return LPAREN;
    case RBRACK: return LBRACK;
    case RARRAY: return LARRAY;
    default: return 0;
    }
}

static int opens(int kind) {
    switch (kind) {
    case OBLOCK:
    case LPAREN:
    case LBRACK:
    case LARRAY: return kind;
    case LPAREN_CALL: return LPAREN;
    case LINDEX:
    case LATTR: return LBRACK;
    default: return 0;
    }
}

static bool is_virtual(const Stream *s, int kind) {
    LayoutState st = layout_state(s->parser.layout);
    return kind == OBLOCK || kind == CBLOCK || kind == FSM_EOF || (kind == SEP && st.cause != LAYOUT_TOKEN);
}

// Reads at most `most` tokens of a declaration, as a parser does that finds an error there.
static void read_decl(Stream *s, int most) {
    s->open.len = 0;
    s->decls++;
    for (int k = 0; k < most; k++) {
        FSM_STYPE value = {0};
        Loc at = {0, 0};
        int kind = fsm_lex(&value, &at, &s->parser);
        FUZZ_CHECK(at.begin <= at.end && at.end <= s->parser.src->len);
        FUZZ_CHECK(++s->tokens < INT_MAX);
        if (kind == FSM_error) {
            FUZZ_CHECK(diag_errors(s->parser.diag) > 0);
            return;
        }
        if (!is_virtual(s, kind)) vec_push(&s->real, at);
        if (opens(kind)) vec_push(&s->open, opens(kind));
        if (closes(kind)) FUZZ_CHECK(s->open.len && vec_pop(&s->open) == closes(kind));
        if (kind != FSM_EOF) continue;
        // What is still open at the end of a declaration are blocks of it.
        for (int i = 0; i < s->open.len; i++) FUZZ_CHECK(s->open.data[i] == OBLOCK);
        return;
    }
}

// The lexer's tokens, for comparison.
static void read_tokens(Stream *s, const FuzzInput *in) {
    Lexer lx;
    yyscan_t scanner = lexer_start(&lx, in->arena, in->diag, in->src);
    FSM_STYPE value;
    Loc at;
    while (fsm_scan_lex(&value, &at, scanner) != FSM_EOF) vec_push(&s->real, at);
    fsm_scan_lex_destroy(scanner);
}

// Reads the whole source, at most `most` tokens of each declaration.
static Stream read_all(const FuzzInput *in, int most) {
    Stream s = {.parser = {.arena = in->arena, .diag = in->diag, .src = in->src}};
    s.parser.layout = layout_new(in->arena, in->diag, in->src);
    const char *doc = NULL;
    while (layout_next_decl(s.parser.layout, &doc)) {
        read_decl(&s, most);
        FUZZ_CHECK(s.decls <= (int)in->src->len);
    }
    FUZZ_CHECK(s.tokens <= 8 * (int)in->src->len + 8);
    layout_free(s.parser.layout);
    return s;
}

static void free_stream(Stream *s) {
    vec_free(&s->open);
    vec_free(&s->real);
}

void fuzz_layout(const uint8_t *data, size_t size) {
    FuzzInput in = fuzz_open("input.fsm", data, size);
    if (parse_is_text(in.diag, in.src)) {
        Stream whole = read_all(&in, INT_MAX), lexer = {0};
        read_tokens(&lexer, &in);
        if (!diag_errors(in.diag)) {
            FUZZ_CHECK(whole.real.len == lexer.real.len);
            for (int i = 0; i < lexer.real.len; i++) FUZZ_CHECK(whole.real.data[i].begin == lexer.real.data[i].begin);
        }
        free_stream(&whole);
        free_stream(&lexer);
        for (int most = 1; most <= 9; most += 4) {
            Stream part = read_all(&in, most);
            free_stream(&part);
        }
    }
    fuzz_close(&in);
}
