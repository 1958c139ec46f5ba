// The lexer alone: tokens follow each other, nothing but white space and comments stands between them, and their lines
// and columns are right.
#include "fuzz/fuzz.h"

#include "front/layout.h"

#include "fsm.tab.h"

#define YYSTYPE FSM_STYPE
#define YYLTYPE FSM_LTYPE
#include "fsm.lex.h"

#include <string.h>

// The length of the comment at p, 0 if there is none. Comments nest; `(*)` opens and closes nothing.
static size_t comment(const char *p) {
    if (!strncmp(p, "//", 2)) return strcspn(p, "\n");
    if (strncmp(p, "(*", 2) || p[2] == ')') return 0;
    int depth = 1;
    const char *q = p + 2;
    while (depth && *q)
        if (!strncmp(q, "(*)", 3)) q += 3;
        else if (!strncmp(q, "(*", 2)) depth++, q += 2;
        else if (!strncmp(q, "*)", 2)) depth--, q += 2;
        else q++;
    return depth ? 0 : (size_t)(q - p);
}

static const char *skip_space(const char *text, const char *p) {
    for (;;) {
        size_t n = strspn(p, " \t\r\n");
        if (p == text && !strncmp(p, "\xEF\xBB\xBF", 3)) n = 3;
        if (!n) n = comment(p);
        if (!n) return p;
        p += n;
    }
}

typedef struct Place {
    const char *at;
    int line, column;
    bool fresh; // no token on the line yet
} Place;

static void advance(Place *p, const char *text, const char *to) {
    for (; p->at < to; p->at++) {
        p->column += ((unsigned char)*p->at & 0xC0) != 0x80;
        if (p->at == text + 2 && !strncmp(text, "\xEF\xBB\xBF", 3)) p->column = 0;
        if (*p->at == '\n') p->line++, p->column = 0, p->fresh = true;
    }
}

static void check_token(const Lexer *lx, int kind, const FSM_STYPE *value, Loc at, Place *p) {
    const char *text = lx->src->text;
    FUZZ_CHECK(at.begin < at.end && at.end <= lx->src->len);
    advance(p, text, text + at.begin);
    FUZZ_CHECK(lx->token_column == p->column);
    FUZZ_CHECK(lx->token_fresh == p->fresh);
    FUZZ_CHECK(lx->line == p->line);
    p->fresh = false;
    if (kind == NAME) FUZZ_CHECK(!strncmp(value->name, text + at.begin, at.end - at.begin));
    if (kind == NAME) FUZZ_CHECK(strlen(value->name) == at.end - at.begin);
    if (kind == STRING) FUZZ_CHECK(strlen(value->name) + 2 <= at.end - at.begin);
    if (kind == INT) FUZZ_CHECK(value->ival >= 0);
    if (kind == REAL) FUZZ_CHECK(value->rval >= 0 && value->rval * 0 == 0);
}

void fuzz_lexer(const uint8_t *data, size_t size) {
    FuzzInput in = fuzz_open("input.fsm", data, size);
    if (!parse_is_text(in.diag, in.src)) {
        FUZZ_CHECK(diag_errors(in.diag) == 1);
        fuzz_close(&in);
        return;
    }
    Lexer lx;
    yyscan_t scanner = lexer_start(&lx, in.arena, in.diag, in.src);
    const char *text = in.src->text;
    Place place = {text, 0, 0, true};
    uint32_t end = 0;
    bool unclosed = false; // the last comment; an error stands at its begin
    for (;;) {
        FSM_STYPE value = {0};
        Loc at = {0, 0};
        int kind = fsm_scan_lex(&value, &at, scanner);
        const char *next = skip_space(text, text + end);
        if (kind == FSM_EOF) {
            FUZZ_CHECK(unclosed || next == text + size);
            break;
        }
        FUZZ_CHECK(!unclosed && next == text + at.begin);
        FUZZ_CHECK(kind != FSM_error || diag_errors(in.diag) > 0);
        unclosed = kind == FSM_error && !strncmp(next, "(*", 2);
        if (!unclosed) check_token(&lx, kind, &value, at, &place);
        end = at.end;
    }
    fsm_scan_lex_destroy(scanner);
    fuzz_close(&in);
}
