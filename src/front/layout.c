#include "front/layout.h"

#include "support/vec.h"

#include "fsm.tab.h"

#define YYSTYPE FSM_STYPE
#define YYLTYPE FSM_LTYPE
#include "fsm.lex.h"

#include <limits.h>

// What is open. Blocks have a column; markers wait for the token that opens their block.
typedef enum ContextKind {
    NO_CONTEXT,
    TOP,     // the declaration
    BINDING, // after the `=` of a `let` or an `entry`
    LAMBDA,
    THEN_PART,
    ELSE_PART,
    IN_PART,   // after the `in` of a `let` that is no item of a block
    LOOP_PART, // after the `do` of a `loop`
    BRACKET,
    LET_MARK, // waits for `=`
    FUN_MARK, // waits for `->`
    IF_MARK,  // waits for `then`
    LOOP_MARK // waits for `do`
} ContextKind;

enum { NO_COLUMN = -1 };

typedef struct Token {
    int kind;
    FSM_STYPE value;
    Loc at;
    int column, line;
    bool fresh; // the first of its line
} Token;

typedef struct Context {
    ContextKind kind;
    int column;       // of a block; NO_COLUMN in the brackets of an index or attribute, which have no items
    bool begins_line; // the block's first token is the first of its line
    int floor;        // column of the innermost block at or below that begins a line
    int bracket;      // index of the innermost BRACKET at or below, or -1
    int opener;       // BRACKET: its token
    Loc at;           // BRACKET: its place. BINDING and LET_MARK: that of the `let`
    bool item;        // a `let` or attribute that stands where an item begins
} Context;

struct Layout {
    Lexer lexer;
    yyscan_t scanner;
    VEC(Context) stack;
    int blocks, brackets; // how many are open
    Token token;          // the next real token
    bool peeked;
    bool placed;   // its column has been dealt with
    bool closed;   // its line has closed a block
    bool answered; // `else` or `in`: the block it belongs to has been closed
    bool answered_item;
    Context opening; // what the token before opens (kind NO_CONTEXT: nothing)
    bool at_item;    // an item of a block begins here
    bool after_attr; // the token before closed an attribute
    bool ended;      // the declaration was read to its end
    int column;      // of declarations; NO_COLUMN before the first
    Loc last_let;
    LayoutState state;
};

// ---- classes of tokens

static bool is_infix(int kind) {
    switch (kind) {
    case PLUS:
    case MINUS:
    case STAR:
    case SLASH:
    case PERCENT:
    case POW:
    case EQ:
    case EQEQ:
    case NE:
    case LT:
    case LE:
    case GT:
    case GE:
    case AND:
    case OR:
    case COMMA:
    case SEMI:
    case COLON:
    case ARROW:
    case FATARROW:
    case DOTDOT:
    case LINDEX: return true;
    default: return false;
    }
}

// After these the line's expression cannot be complete.
static bool expects_more(int kind) {
    return (is_infix(kind) && kind != LINDEX) || kind == IN || kind == NOT || kind == BANG || kind == PMINUS || kind == IF;
}

static bool is_opening(int kind) {
    return kind == LPAREN || kind == LPAREN_CALL || kind == LBRACK || kind == LINDEX || kind == LARRAY || kind == LATTR;
}

static bool is_closing(int kind) { return kind == RPAREN || kind == RBRACK || kind == RARRAY; }

static int closing_of(int opening) {
    return opening == LARRAY ? RARRAY : opening == LPAREN || opening == LPAREN_CALL ? RPAREN : RBRACK;
}

static bool starts_decl(int kind) { return kind == LET || kind == ENTRY || kind == EXTERN || kind == OPEN || kind == LATTR; }

// Tokens that find what they belong to by themselves.
static bool ignores_column(int kind) {
    return kind == IN || kind == THEN || kind == ELSE || kind == ELIF || kind == DO || is_closing(kind);
}

static bool is_block(const Context *c) {
    return c->kind == BINDING || c->kind == LAMBDA || c->kind == THEN_PART || c->kind == ELSE_PART || c->kind == IN_PART ||
           c->kind == LOOP_PART;
}

// ---- tokens

static Span span_of(const Layout *l, Loc at) { return (Span){l->lexer.src, at.begin, at.end}; }

static Token *peek(Layout *l) {
    Token *t = &l->token;
    if (l->peeked) return t;
    t->kind = fsm_scan_lex(&t->value, &t->at, l->scanner);
    t->column = l->lexer.token_column;
    t->line = l->lexer.line;
    t->fresh = l->lexer.token_fresh;
    if (t->kind == FSM_EOF) t->column = NO_COLUMN, t->fresh = true;
    l->peeked = true;
    l->placed = l->closed = l->answered = false;
    l->state.next = t->kind;
    l->state.next_at = t->at;
    l->state.closed_column = 0;
    return t;
}

static void drop(Layout *l) {
    l->state.before = l->token.kind;
    l->state.before_at = l->token.at;
    l->peeked = false;
}

// ---- the stack

static Context *top(Layout *l) { return &vec_last(&l->stack); }

// The innermost open bracket or NULL.
static Context *bracket(Layout *l) {
    int i = top(l)->bracket;
    return i < 0 ? NULL : &l->stack.data[i];
}

static Context *nearest_block(Layout *l) {
    Context *c = top(l);
    while (c->kind >= LET_MARK) c--;
    return c;
}

// False, with an error, beyond the limits.
static bool push(Layout *l, Context c) {
    bool is_bracket = c.kind == BRACKET;
    int *count = is_bracket ? &l->brackets : &l->blocks, limit = is_bracket ? LAYOUT_MAX_BRACKETS : LAYOUT_MAX_BLOCKS;
    if (++*count > limit) {
        diag_error(l->lexer.diag, span_of(l, l->token.at), "nesting deeper than %d %s", limit, is_bracket ? "brackets" : "levels");
        return false;
    }
    c.bracket = is_bracket ? l->stack.len : l->stack.len ? top(l)->bracket : -1;
    vec_push(&l->stack, c);
    return true;
}

static void pop(Layout *l) {
    Context c = vec_pop(&l->stack);
    (c.kind == BRACKET ? l->brackets-- : l->blocks--);
    if (c.kind == BINDING) l->last_let = c.at;
}

// Closes the innermost context: CBLOCK for a block, 0 for a marker.
static int close_one(Layout *l, LayoutCause cause) {
    bool block = is_block(top(l));
    l->state.let_at = l->last_let;
    pop(l);
    l->state.cause = cause;
    return block ? CBLOCK : 0;
}

// ---- errors

static int unclosed(Layout *l, const Context *b) {
    const Token *t = &l->token;
    diag_error(l->lexer.diag, span_of(l, b->at), "this `%.*s` is not closed", (int)(b->at.end - b->at.begin),
               l->lexer.src->text + b->at.begin);
    if (t->kind != FSM_EOF) diag_note(l->lexer.diag, span_of(l, t->at), "before this line");
    return FSM_error;
}

static int mismatched(Layout *l, const Context *b) {
    const Token *t = &l->token;
    const char *text = l->lexer.src->text;
    if (!b) {
        diag_error(l->lexer.diag, span_of(l, t->at), "`%.*s` closes nothing", (int)(t->at.end - t->at.begin), text + t->at.begin);
        return FSM_error;
    }
    diag_error(l->lexer.diag, span_of(l, t->at), "`%.*s` does not match `%.*s`", (int)(t->at.end - t->at.begin), text + t->at.begin,
               (int)(b->at.end - b->at.begin), text + b->at.begin);
    diag_note(l->lexer.diag, span_of(l, b->at), "opened here");
    return FSM_error;
}

// ---- columns

// Opens the block that the token before announced; the next token is its first.
static int open_block(Layout *l) {
    Token *t = peek(l);
    Context c = l->opening;
    l->opening.kind = NO_CONTEXT;
    int floor = top(l)->floor;
    if (c.kind == BRACKET) {
        Context *b = top(l);
        bool items = b->opener != LINDEX && b->opener != LATTR;
        b->column = items ? t->column : NO_COLUMN;
        b->begins_line = t->fresh;
        b->floor = items && t->fresh && t->kind != FSM_EOF ? t->column : floor;
        l->at_item = items && b->opener != LARRAY;
        l->placed = t->kind != FSM_EOF && !(starts_decl(t->kind) && t->fresh && t->column <= l->column);
        return 0;
    }
    bool empty = t->fresh && t->column <= floor && !ignores_column(t->kind);
    c.column = empty ? INT_MAX : t->column;
    c.begins_line = t->fresh;
    c.floor = empty ? INT_MAX : t->fresh ? t->column : floor;
    l->placed = !empty;
    l->at_item = true;
    l->state.cause = LAYOUT_TOKEN;
    return push(l, c) ? OBLOCK : FSM_error;
}

static int separate(Layout *l) {
    l->placed = true;
    l->at_item = true;
    l->state.cause = LAYOUT_OFFSIDE;
    return SEP;
}

// Whether a line at `column`, left of block c's column, still belongs to c.
static bool continues(Layout *l, const Context *c) {
    const Token *t = &l->token;
    int width = (int)(t->at.end - t->at.begin);
    if (is_infix(t->kind) && c->column != INT_MAX && t->column + width + 1 >= c->column) return true;
    if (expects_more(l->state.before) && t->column > c->floor) return true;
    if (c->kind != BINDING || c->begins_line || l->closed) return false;
    const Context *below = c - 1;
    while (below->kind >= LET_MARK) below--;
    return t->column > below->column;
}

// A declaration ends at a line at its column or left of it.
static int end_decl(Layout *l) {
    l->ended = true;
    l->state.cause = LAYOUT_OFFSIDE;
    l->state.let_at = l->last_let;
    return FSM_EOF;
}

// One step of comparing the column of the first token of a line with what is open: a virtual token, or 0.
static int offside(Layout *l) {
    const Token *t = &l->token;
    Context *c = top(l), *b = bracket(l);
    bool ends = t->kind == FSM_EOF || (starts_decl(t->kind) && t->column <= l->column);
    if (ends && b) return unclosed(l, b);
    bool joined = is_infix(t->kind) || expects_more(l->state.before) || l->after_attr;
    if (c->kind >= LET_MARK) {
        const Context *around = nearest_block(l);
        if (around->kind == BRACKET ? t->column != around->column : t->column > around->column) l->placed = true;
        else return close_one(l, LAYOUT_OFFSIDE);
    } else if (c->kind == TOP) {
        if (t->column <= c->column && (ends || !is_infix(t->kind)) && !(l->after_attr && t->column == c->column))
            return end_decl(l);
        l->placed = true;
    } else if (t->column == c->column && !joined) {
        return separate(l);
    } else if (c->kind == BRACKET) {
        l->placed = true;
        bool inner_let =
            (t->kind == LET || t->kind == ENTRY || t->kind == EXTERN || t->kind == OPEN) && t->column < c[-1].floor + 1;
        if (inner_let && (c->column == NO_COLUMN || t->column < c->column)) return unclosed(l, c);
    } else if (t->column >= c->column || (!ends && continues(l, c))) {
        l->placed = true;
    } else {
        if (!l->closed && c->column != INT_MAX) l->state.closed_column = c->column + 1;
        l->closed = true;
        return close_one(l, LAYOUT_OFFSIDE);
    }
    return 0;
}

// ---- tokens that close what stands between them and what they belong to

static bool is_open(Layout *l, ContextKind kind) {
    int from = top(l)->bracket;
    for (int i = l->stack.len - 1; i > from; i--) {
        const Context *c = &l->stack.data[i];
        if (c->kind == kind && !(kind == BINDING && l->stack.data[i - 1].kind == TOP)) return true;
    }
    return false;
}

// Closes up to and including the innermost block of this kind, which `else` or `in` belongs to, one a call.
static int answer(Layout *l, ContextKind kind) {
    if (l->answered || !is_open(l, kind)) return 0;
    if (top(l)->kind == kind) l->answered = true, l->answered_item = top(l)->item;
    return close_one(l, LAYOUT_CLOSER);
}

// Whether this token closes everything inside the innermost bracket.
static bool ends_in_bracket(const Token *t, const Context *b) {
    if (!b) return false;
    return is_closing(t->kind) || (t->kind == SEMI && b->opener == LARRAY) ||
           (b->opener == LINDEX && (t->kind == DOTDOT || t->kind == COMMA));
}

// One step of closing before the next token: a virtual token, or 0.
static int close_before(Layout *l) {
    const Token *t = &l->token;
    Context *b = bracket(l);
    if (is_closing(t->kind) && (!b || t->kind != closing_of(b->opener))) return mismatched(l, b);
    if (ends_in_bracket(t, b)) return top(l) != b ? close_one(l, LAYOUT_CLOSER) : 0;
    if (t->kind == THEN && is_open(l, IF_MARK)) return top(l)->kind != IF_MARK ? close_one(l, LAYOUT_CLOSER) : 0;
    if (t->kind == DO && is_open(l, LOOP_MARK)) return top(l)->kind != LOOP_MARK ? close_one(l, LAYOUT_CLOSER) : 0;
    if (t->kind == ELSE || t->kind == ELIF) return answer(l, THEN_PART);
    return t->kind == IN ? answer(l, BINDING) : 0;
}

// ---- real tokens

static bool mark(Layout *l, ContextKind kind, bool item) {
    Context c = {.kind = kind, .floor = top(l)->floor, .at = l->token.at, .item = item};
    return push(l, c);
}

static void announce(Layout *l, ContextKind kind, Loc at, bool item) {
    l->opening = (Context){.kind = kind, .at = at, .item = item};
}

// Takes the next token, keeping account of what it opens and closes.
static int take(Layout *l, FSM_STYPE *value, Loc *at) {
    Token t = l->token;
    Context *c = top(l);
    bool item = l->at_item, ok = true;
    *value = t.value, *at = t.at;
    l->state.cause = LAYOUT_TOKEN;
    l->state.let_at = l->last_let;
    l->at_item = l->after_attr = false;
    drop(l);
    if (is_opening(t.kind)) {
        Context b = {.kind = BRACKET, .floor = c->floor, .opener = t.kind, .at = t.at, .item = item};
        ok = push(l, b);
        announce(l, BRACKET, t.at, false);
    } else if (is_closing(t.kind)) {
        l->after_attr = c->opener == LATTR;
        l->at_item = l->after_attr && c->item;
        pop(l);
    }
    switch (t.kind) {
    case EXTERN:
    case ENTRY: ok = mark(l, LET_MARK, true); break;
    case LET:
        ok = mark(l, LET_MARK, item);
        t.kind = item ? LET : LET_OPERAND;
        break;
    case FUN: ok = mark(l, FUN_MARK, false); break;
    case ELIF:
    case IF: ok = mark(l, IF_MARK, false); break;
    case THEN:
        if (c->kind == IF_MARK) pop(l), announce(l, THEN_PART, t.at, false);
        break;
    case LOOP: ok = mark(l, LOOP_MARK, false); break;
    case DO:
        if (c->kind == LOOP_MARK) pop(l), announce(l, LOOP_PART, t.at, false);
        break;
    case ELSE: announce(l, ELSE_PART, t.at, false); break;
    case EQ:
        if (c->kind == LET_MARK) announce(l, BINDING, c->at, c->item), pop(l), t.kind = BIND;
        break;
    case ARROW:
        if (c->kind == FUN_MARK) pop(l), announce(l, LAMBDA, t.at, false);
        break;
    case IN:
        if (!l->answered) break;
        if (l->answered_item) t.kind = SEP, l->at_item = true;
        else announce(l, IN_PART, t.at, false);
        break;
    default: break;
    }
    return ok ? t.kind : FSM_error;
}

int fsm_lex(FSM_STYPE *value, FSM_LTYPE *at, Parser *p) {
    Layout *l = p->layout;
    for (;;) {
        Token *t = peek(l);
        int depth = l->stack.len, kind = l->opening.kind != NO_CONTEXT ? open_block(l) : 0;
        *at = t->at;
        if (kind) return kind;
        at->end = at->begin = l->state.before_at.end; // of what ends here, or errors
        if (t->fresh && !l->placed && !ignores_column(t->kind)) {
            kind = offside(l);
            if (kind || l->ended) return kind;
            if (!l->placed) continue;
        }
        kind = close_before(l);
        if (kind) return kind;
        if (l->stack.len != depth) continue; // closed a marker
        return take(l, value, at);
    }
}

// ---- declarations

Layout *layout_new(Arena *arena, Diag *diag, const Source *src) {
    Layout *l = ARENA_NEW(arena, Layout);
    l->scanner = lexer_start(&l->lexer, arena, diag, src);
    l->column = NO_COLUMN;
    l->ended = true;
    return l;
}

void layout_free(Layout *l) {
    vec_free(&l->stack);
    fsm_scan_lex_destroy(l->scanner);
}

LayoutState layout_state(const Layout *l) {
    LayoutState st = l->state;
    int b = l->stack.len ? l->stack.data[l->stack.len - 1].bracket : -1;
    st.bracket_at = b < 0 ? (Loc){0, 0} : l->stack.data[b].at;
    return st;
}

// The text of the `//` lines that end just above the next token, without their slashes.
static const char *doc_above(const Layout *l) {
    const Lexer *lx = &l->lexer;
    if (!lx->doc_end || lx->doc_line != l->token.line - 1) return NULL;
    const char *p = lx->src->text + lx->doc_begin, *end = lx->src->text + lx->doc_end;
    char *doc = arena_strndup(lx->arena, p, (size_t)(end - p)), *to = doc;
    while (p < end) {
        while (p < end && (*p == ' ' || *p == '\t')) p++;
        while (p < end && *p == '/') p++;
        if (p < end && *p == ' ') p++;
        while (p < end && *p != '\n' && *p != '\r') *to++ = *p++;
        while (p < end && (*p == '\n' || *p == '\r')) p++;
        if (p < end) *to++ = '\n';
    }
    *to = 0;
    return doc;
}

// After an error: drops tokens up to what surely begins a declaration.
static void skip_decl(Layout *l) {
    for (;; drop(l)) {
        const Token *t = peek(l);
        if (t->kind == FSM_EOF || (t->fresh && t->column <= l->column && starts_decl(t->kind))) return;
    }
}

bool layout_next_decl(Layout *l, const char **doc) {
    if (!l->ended) skip_decl(l);
    l->stack.len = 0;
    l->blocks = l->brackets = l->lexer.loop_heads = 0;
    l->opening.kind = NO_CONTEXT;
    l->after_attr = l->ended = false;
    l->state = (LayoutState){.next = l->state.next, .next_at = l->state.next_at};
    const Token *t = peek(l);
    if (t->kind == FSM_EOF) return false;
    if (l->column != NO_COLUMN && t->column != l->column)
        diag_error(l->lexer.diag, span_of(l, t->at), "declarations start in one column, which is %d here", l->column + 1);
    l->column = t->column;
    *doc = doc_above(l);
    Context c = {.kind = TOP, .column = t->column, .begins_line = true, .floor = t->column};
    push(l, c);
    l->placed = true;
    l->at_item = true;
    return true;
}
