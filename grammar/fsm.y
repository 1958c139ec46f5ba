// The grammar of F̃, one declaration per parse. Blocks arrive bracketed by the layout filter: OBLOCK … CBLOCK, their
// items separated by SEP (which also stands for the `in` of a `let` that is an item of a block).

%define api.pure full
%define api.prefix {fsm_}
%define api.location.type {Loc}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {Parser *p}
%initial-action { (void)yynerrs; }

%code requires {
#include "front/parse.h"
}

%code provides {
// The layout filter is the parser's lexer.
int fsm_lex(FSM_STYPE *value, FSM_LTYPE *at, Parser *p);
}

%code {
#include "front/layout.h"

// The parser's stack is on the heap; this bounds it (18 bytes an entry).
#define YYMAXDEPTH 4000000

#define YYLLOC_DEFAULT(cur, rhs, n)                                                                                    \
    ((cur).begin = (n) ? YYRHSLOC(rhs, 1).begin : YYRHSLOC(rhs, 0).end,                                                \
     (cur).end = (n) ? YYRHSLOC(rhs, n).end : YYRHSLOC(rhs, 0).end)

static void fsm_error(const Loc *at, Parser *p, const char *message);
}

%union {
    int64_t ival;
    double rval;
    const char *name;
    Expr *expr;
    TypeExpr *type;
    Pattern *pattern;
    Binding *binding;
    IndexItem *item;
    List *list;
    BinOp op;
}

%token <name> NAME "a name" STRING "a string"
%token <ival> INT "an integer"
%token <rval> REAL "a number"
%token INT_MIN_MAGNITUDE "an integer too large"
%token LET "`let`" LET_OPERAND "a nested `let`" IN "`in`" FUN "`fun`"
%token IF "`if`" THEN "`then`" ELIF "`elif`" ELSE "`else`"
%token LOOP "`loop`" FOR "`for`" WHILE "`while`" DO "`do`"
%token EXTERN "`extern`" WITH "`with`" ENTRY "`entry`" OPEN "`open`" TRUE "`true`" FALSE "`false`" NOT "`not`" WILD "`_`" BANG "`!`"
%token LPAREN "`(`" LPAREN_CALL "`(` of a call" RPAREN "`)`" LBRACK "`[`" LINDEX "`[` of an index" RBRACK "`]`"
%token LARRAY "`[|`" RARRAY "`|]`" LATTR "`#[`" STAR_SECTION "`(*)`"
%token COMMA "`,`" SEMI "`;`" COLON "`:`" ARROW "`->`" FATARROW "`=>`" BIND "`=` of a binding" DOTDOT "`..`"
%token PLUS "`+`" MINUS "`-`" PMINUS "`-` of an argument" STAR "`*`" SLASH "`/`" PERCENT "`%`" POW "`**`"
%token EQ "`=`" EQEQ "`==`" NE "`<>`" LT "`<`" LE "`<=`" GT "`>`" GE "`>=`" AND "`&&`" OR "`||`"
%token OBLOCK "a block" CBLOCK "the end of the block" SEP "a next item"

%left OR
%left AND
%nonassoc EQ EQEQ NE LT LE GT GE
%left PLUS MINUS
%left STAR SLASH PERCENT

%type <expr> block seq let_item expr binary unary power if_expr else_part lambda let_operand loop attr
%type <expr> call operand arg primary atom index in_parens tuple extent
%type <list> states lets exprs args elements elements1 items params extents open_extents patterns typed_patterns types arrows
%type <item> item
%type <binding> binding entry_head
%type <pattern> pattern typed_pattern
%type <type> type type_tuple type_atom type_postfix result
%type <op> section

%%

start:
  declaration

declaration:
  LET binding BIND block              { p->decl = parse_decl_let(p, @$, $2, $4); }
| attr LET binding BIND block         { p->decl = parse_decl_let(p, @$, $3, parse_attach(p, $1, $5)); }
| ENTRY entry_head BIND block         { p->decl = parse_decl_entry(p, @$, $2, $4); }
| attr ENTRY entry_head BIND block    { p->decl = parse_decl_entry(p, @$, $3, parse_attach(p, $1, $5)); }
| EXTERN NAME params result           { p->decl = parse_decl_extern(p, @$, parse_binding_fun(p, @2, $2, $3, $4)); }
| EXTERN NAME params result WITH NAME BIND block
                                      { p->decl = parse_decl_extern(p, @$, parse_binding_fun(p, @2, $2, $3, $4));
                                        parse_extern_rule(p, p->decl, @6, $6, $8); }
| OPEN STRING                         { p->decl = parse_decl_open(p, @$, @2, $2); }

entry_head:
  NAME result                         { $$ = parse_binding_fun(p, @1, $1, NULL, $2); }
| NAME params result                  { $$ = parse_binding_fun(p, @1, $1, $2, $3); }

binding:
  NAME params result                  { $$ = parse_binding_fun(p, @1, $1, $2, $3); }
| patterns result                     { $$ = parse_binding_pat(p, parse_pattern_tuple(p, @1, $1), $2); }

result:
  %empty                              { $$ = NULL; }
| COLON type                          { $$ = $2; }

/* ---- blocks */

block:
  OBLOCK seq CBLOCK                   { $$ = $2; }

seq:
  tuple
| tuple COLON type                    { $$ = parse_annot(p, @$, $1, $3); }
| lets tuple                          { $$ = parse_block(p, $1, $2); }
| lets tuple COLON type               { Loc at = {@2.begin, @4.end};
                                        $$ = parse_block(p, $1, parse_annot(p, at, $2, $4)); }

lets:
  let_item                            { $$ = parse_list(p, NULL, $1); }
| lets let_item                       { $$ = parse_list(p, $1, $2); }

let_item:
  LET binding BIND block SEP          { Loc at = {@1.begin, @4.end}; $$ = parse_let(p, at, $2, $4); }
| attr LET binding BIND block SEP     { Loc at = {@1.begin, @5.end};
                                        $$ = parse_let(p, at, $3, parse_attach(p, $1, $5)); }

/* ---- expressions */

tuple:
  expr
| exprs COMMA expr                    { $$ = parse_exprs(p, @$, EX_TUPLE, parse_list(p, $1, $3)); }

exprs:
  expr                                { $$ = parse_list(p, NULL, $1); }
| exprs COMMA expr                    { $$ = parse_list(p, $1, $3); }

expr:
  binary
| attr expr                           { $$ = parse_attach(p, $1, $2); }

attr:
  LATTR NAME RBRACK                   { $$ = parse_attr(p, @$, $2, NULL); }
| LATTR NAME args RBRACK              { $$ = parse_attr(p, @$, $2, $3); }

binary:
  unary
| binary OR binary                    { $$ = parse_binary(p, @$, @2, BIN_OR, $1, $3); }
| binary AND binary                   { $$ = parse_binary(p, @$, @2, BIN_AND, $1, $3); }
| binary EQ binary                    { $$ = parse_binary(p, @$, @2, BIN_EQ, $1, $3); }
| binary EQEQ binary                  { $$ = parse_binary(p, @$, @2, BIN_EQ, $1, $3); }
| binary NE binary                    { $$ = parse_binary(p, @$, @2, BIN_NE, $1, $3); }
| binary LT binary                    { $$ = parse_binary(p, @$, @2, BIN_LT, $1, $3); }
| binary LE binary                    { $$ = parse_binary(p, @$, @2, BIN_LE, $1, $3); }
| binary GT binary                    { $$ = parse_binary(p, @$, @2, BIN_GT, $1, $3); }
| binary GE binary                    { $$ = parse_binary(p, @$, @2, BIN_GE, $1, $3); }
| binary PLUS binary                  { $$ = parse_binary(p, @$, @2, BIN_ADD, $1, $3); }
| binary MINUS binary                 { $$ = parse_binary(p, @$, @2, BIN_SUB, $1, $3); }
| binary STAR binary                  { $$ = parse_binary(p, @$, @2, BIN_MUL, $1, $3); }
| binary SLASH binary                 { $$ = parse_binary(p, @$, @2, BIN_DIV, $1, $3); }
| binary PERCENT binary               { $$ = parse_binary(p, @$, @2, BIN_MOD, $1, $3); }

unary:
  power
| if_expr
| lambda
| let_operand
| loop
| MINUS unary                         { $$ = parse_unary(p, @$, @1, UN_NEG, $2); }
| PMINUS unary                        { $$ = parse_unary(p, @$, @1, UN_NEG, $2); }
| MINUS INT_MIN_MAGNITUDE             { $$ = parse_int(p, @$, INT64_MIN); }
| PMINUS INT_MIN_MAGNITUDE            { $$ = parse_int(p, @$, INT64_MIN); }
| NOT unary                           { $$ = parse_unary(p, @$, @1, UN_NOT, $2); }
| BANG unary                          { $$ = parse_unary(p, @$, @1, UN_NOT, $2); }

power:
  operand
| operand POW unary                   { $$ = parse_binary(p, @$, @2, BIN_POW, $1, $3); }

if_expr:
  IF expr THEN block else_part        { $$ = parse_if(p, @$, $2, $4, $5); }

else_part:
  ELSE block                          { $$ = $2; }
| ELIF expr THEN block else_part      { $$ = parse_if(p, @$, $2, $4, $5); }

lambda:
  FUN params ARROW block              { $$ = parse_lambda(p, @$, $2, $4); }

let_operand:
  LET_OPERAND binding BIND block IN block
                                      { Loc at = {@1.begin, @4.end};
                                        $$ = parse_block(p, parse_list(p, NULL, parse_let(p, at, $2, $4)), $6); }

loop:
  LOOP lparen states RPAREN FOR pattern LT expr DO block
                                      { Loc at = {@2.begin, @4.end}; $$ = parse_loop(p, @$, at, $3, $6, $8, $10); }
| LOOP lparen states RPAREN WHILE expr DO block
                                      { Loc at = {@2.begin, @4.end}; $$ = parse_loop(p, @$, at, $3, NULL, $6, $8); }

states:
  typed_pattern EQ expr               { $$ = parse_list(p, NULL, parse_loop_state(p, $1, $3)); }
| states COMMA typed_pattern EQ expr  { $$ = parse_list(p, $1, parse_loop_state(p, $3, $5)); }

/* Application. `g(x) y` is `g x y`, but `(g x) y` applies a result. */
operand:
  primary
| atom args                           { $$ = parse_apply(p, @$, $1, $2, false); }
| index args                          { $$ = parse_apply(p, @$, $1, $2, false); }
| call args                           { $$ = parse_apply(p, @$, $1, $2, true); }

args:
  arg                                 { $$ = parse_list(p, NULL, $1); }
| args arg                            { $$ = parse_list(p, $1, $2); }

arg:
  primary
| lambda
| PMINUS primary                      { $$ = parse_unary(p, @$, @1, UN_NEG, $2); }
| PMINUS INT_MIN_MAGNITUDE            { $$ = parse_int(p, @$, INT64_MIN); }
| BANG primary                        { $$ = parse_unary(p, @$, @1, UN_NOT, $2); }

primary:
  atom
| call
| index

call:
  NAME LPAREN_CALL in_parens RPAREN   { Loc at = {@2.begin, @4.end};
                                        $$ = parse_apply(p, @$, parse_leaf(p, @1, EX_NAME, $1, 0),
                                                         parse_list(p, NULL, parse_paren(p, at, $3)), false); }

index:
  primary LINDEX items RBRACK         { $$ = parse_index(p, @$, $1, $3); }

items:
  item                                { $$ = parse_list(p, NULL, $1); }
| items COMMA item                    { $$ = parse_list(p, $1, $3); }

item:
  expr                                { $$ = parse_item(p, @$, false, $1, NULL); }
| expr DOTDOT expr                    { $$ = parse_item(p, @$, true, $1, $3); }
| expr DOTDOT                         { $$ = parse_item(p, @$, true, $1, NULL); }
| DOTDOT expr                         { $$ = parse_item(p, @$, true, NULL, $2); }
| DOTDOT                              { $$ = parse_item(p, @$, true, NULL, NULL); }
| STAR                                { $$ = parse_item(p, @$, true, NULL, NULL); }

atom:
  INT                                 { $$ = parse_int(p, @$, $1); }
| REAL                                { $$ = parse_real(p, @$, $1); }
| TRUE                                { $$ = parse_leaf(p, @$, EX_BOOL, NULL, 1); }
| FALSE                               { $$ = parse_leaf(p, @$, EX_BOOL, NULL, 0); }
| STRING                              { $$ = parse_leaf(p, @$, EX_STRING, $1, 0); }
| NAME                                { $$ = parse_leaf(p, @$, EX_NAME, $1, 0); }
| STAR_SECTION                        { Loc op = {@1.begin + 1, @1.end - 1};
                                        $$ = parse_section(p, @$, op, BIN_MUL); }
| LPAREN in_parens RPAREN             { $$ = parse_paren(p, @$, $2); }
| LBRACK seq RBRACK                   { $$ = parse_bracket(p, @$, $2); }
| LARRAY elements RARRAY              { $$ = parse_exprs(p, @$, EX_ARRAY, $2); }

in_parens:
  %empty                              { $$ = parse_leaf(p, @$, EX_UNIT, NULL, 0); }
| seq
| section                             { $$ = parse_section(p, @$, @1, $1); }

section:
  PLUS { $$ = BIN_ADD; } | MINUS { $$ = BIN_SUB; } | STAR { $$ = BIN_MUL; } | SLASH { $$ = BIN_DIV; }
| PERCENT { $$ = BIN_MOD; } | POW { $$ = BIN_POW; } | EQ { $$ = BIN_EQ; } | EQEQ { $$ = BIN_EQ; } | NE { $$ = BIN_NE; }
| LT { $$ = BIN_LT; } | LE { $$ = BIN_LE; } | GT { $$ = BIN_GT; } | GE { $$ = BIN_GE; } | AND { $$ = BIN_AND; }
| OR { $$ = BIN_OR; }

elements:
  %empty                              { $$ = NULL; }
| elements1
| elements1 separator

elements1:
  tuple                               { $$ = parse_list(p, NULL, $1); }
| elements1 separator tuple           { $$ = parse_list(p, $1, $3); }

separator: SEMI | SEP

/* ---- patterns */

params:
  pattern                             { $$ = parse_list(p, NULL, $1); }
| params pattern                      { $$ = parse_list(p, $1, $2); }

patterns:
  pattern                             { $$ = parse_list(p, NULL, $1); }
| patterns COMMA pattern              { $$ = parse_list(p, $1, $3); }

typed_patterns:
  typed_pattern                       { $$ = parse_list(p, NULL, $1); }
| typed_patterns COMMA typed_pattern  { $$ = parse_list(p, $1, $3); }

typed_pattern:
  pattern
| pattern COLON type                  { $$ = parse_pattern_typed(p, @$, $1, $3); }

pattern:
  NAME                                { $$ = parse_pattern(p, @$, PAT_NAME, $1); }
| WILD                                { $$ = parse_pattern(p, @$, PAT_WILD, NULL); }
| lparen RPAREN                       { $$ = parse_pattern(p, @$, PAT_UNIT, NULL); }
| lparen typed_patterns RPAREN        { $$ = parse_pattern_tuple(p, @$, $2); }

lparen: LPAREN | LPAREN_CALL

/* ---- types */

type:
  type_tuple
| arrows type_tuple                   { $$ = parse_type_fun(p, @$, parse_list(p, $1, $2)); }

arrows:
  type_tuple arrow                    { $$ = parse_list(p, NULL, $1); }
| arrows type_tuple arrow             { $$ = parse_list(p, $1, $2); }

arrow: ARROW | FATARROW

type_tuple:
  types                               { $$ = parse_type_tuple(p, @$, $1); }

types:
  type_postfix                        { $$ = parse_list(p, NULL, $1); }
| types STAR type_postfix             { $$ = parse_list(p, $1, $3); }

type_postfix:
  type_atom
| type_atom extents                   { $$ = parse_type_array(p, @$, $1, $2); }

extents:
  open_extents RBRACK

open_extents: /* `T[n, m]` is `T[n][m]` */
  lindex extent                       { $$ = parse_list(p, NULL, $2); }
| extents lindex extent               { $$ = parse_list(p, $1, $3); }
| open_extents COMMA extent           { $$ = parse_list(p, $1, $3); }

extent:
  %empty                              { $$ = NULL; }
| expr

lindex: LINDEX | LBRACK

type_atom:
  NAME                                { $$ = parse_type_name(p, @$, $1); }
| NAME LT type GT                     { $$ = parse_type_generic(p, @$, @1, $1, $3); }
| LPAREN type RPAREN                  { $$ = $2; }

%%

// ---- messages

// What can come next where an error is found.
typedef struct Expected {
    bool may[YYNTOKENS];
} Expected;

static Expected expected_tokens(const yypcontext_t *at) {
    yysymbol_kind_t kinds[YYNTOKENS];
    int n = yypcontext_expected_tokens(at, kinds, YYNTOKENS);
    Expected e = {{false}};
    for (int i = 0; i < n; i++) e.may[kinds[i]] = true;
    return e;
}

static bool is_comparison(yysymbol_kind_t k) {
    return k == YYSYMBOL_EQ || k == YYSYMBOL_EQEQ || k == YYSYMBOL_NE || k == YYSYMBOL_LT || k == YYSYMBOL_LE ||
           k == YYSYMBOL_GT || k == YYSYMBOL_GE;
}

// The source text at `at`, shortened, between backquotes.
static const char *quoted(const Parser *p, Loc at) {
    uint32_t n = at.end - at.begin, most = 40;
    const char *text = p->src->text + at.begin;
    if (n <= most) return arena_printf(p->arena, "`%.*s`", (int)n, text);
    while (most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80) most--;
    return arena_printf(p->arena, "`%.*s…`", (int)most, text);
}

// A phrase for what is missing: the one thing that must come if there is one, else a short list, NULL if too many
// things could.
static const char *phrase(const Parser *p, const Expected *e) {
    static const yysymbol_kind_t must[] = {YYSYMBOL_THEN,   YYSYMBOL_DO,     YYSYMBOL_ELSE, YYSYMBOL_ARROW, YYSYMBOL_IN,
                                           YYSYMBOL_RPAREN, YYSYMBOL_RBRACK, YYSYMBOL_RARRAY};
    if (e->may[YYSYMBOL_INT] && !e->may[YYSYMBOL_PLUS]) return "an expression";
    if (e->may[YYSYMBOL_BIND]) return "`=`";
    if (e->may[YYSYMBOL_FATARROW] && e->may[YYSYMBOL_GT]) return "`>`"; // after a type, where `->` may always follow
    for (size_t i = 0; i < sizeof must / sizeof *must; i++)
        if (e->may[must[i]] && !(must[i] == YYSYMBOL_ARROW && e->may[YYSYMBOL_FATARROW])) return yysymbol_name(must[i]);
    if (e->may[YYSYMBOL_PLUS]) return NULL;
    if (e->may[YYSYMBOL_WILD]) return "a name or a pattern";
    if (e->may[YYSYMBOL_NAME] && e->may[YYSYMBOL_LPAREN]) return "a type";
    const char *list = NULL;
    int n = 0;
    for (int k = 0; k < YYNTOKENS; k++) {
        if (!e->may[k] || k == YYSYMBOL_LPAREN_CALL || ++n > 4) continue;
        const char *name = yysymbol_name((yysymbol_kind_t)k);
        list = list ? arena_printf(p->arena, "%s or %s", list, name) : name;
    }
    return n <= 4 ? list : NULL;
}

// Hints that go with a message.
static void hints(const Parser *p, const Expected *e, const LayoutState *st, bool offside) {
    Span next = parse_span(p, st->next_at);
    if (e->may[YYSYMBOL_ELSE] && !(e->may[YYSYMBOL_INT] && !e->may[YYSYMBOL_PLUS]))
        diag_note(p->diag, (Span){0}, "an `if` is an expression: it has both a `then` and an `else`");
    else if (st->bracket_at.end && e->may[YYSYMBOL_PLUS] &&
             (e->may[YYSYMBOL_RPAREN] || e->may[YYSYMBOL_RBRACK] || e->may[YYSYMBOL_RARRAY]))
        diag_note(p->diag, parse_span(p, st->bracket_at), "opened here");
    else if (offside && st->next != FSM_EOF && st->next != LET && st->next != ENTRY && st->next != OPEN)
        diag_note(p->diag, next, "this line is not indented far enough to continue it");
}

// Messages for what the layout filter says rather than the text; false if there is nothing special to say.
static bool report_layout(const Parser *p, yysymbol_kind_t token, const Expected *e, const LayoutState *st) {
    bool closes = st->cause != LAYOUT_TOKEN || token == YYSYMBOL_RPAREN || token == YYSYMBOL_RBRACK;
    if (closes && token != YYSYMBOL_SEP && e->may[YYSYMBOL_SEP] && !e->may[YYSYMBOL_PLUS]) {
        diag_error(p->diag, parse_span(p, st->let_at), "this `let` has no body: a block ends with an expression");
        return true;
    }
    if (st->closed_column && st->cause == LAYOUT_TOKEN && !e->may[YYSYMBOL_PLUS] &&
        (e->may[YYSYMBOL_SEP] || e->may[YYSYMBOL_YYEOF])) {
        diag_error(p->diag, parse_span(p, st->next_at), "unexpected %s: this line continues nothing",
                   quoted(p, st->next_at));
        diag_note(p->diag, (Span){0}, "the block above it begins in column %d; to continue it, indent further",
                  st->closed_column);
        return true;
    }
    if (token == YYSYMBOL_SEP && e->may[YYSYMBOL_PLUS] && e->may[YYSYMBOL_CBLOCK]) {
        diag_error(p->diag, parse_span(p, st->next_at),
                   "unexpected %s: a new item of the block, but the item before it is an expression, not a `let`",
                   quoted(p, st->next_at));
        diag_note(p->diag, (Span){0}, "to continue the expression, indent this line further");
        return true;
    }
    return false;
}

static int yyreport_syntax_error(const yypcontext_t *at, Parser *p) {
    yysymbol_kind_t token = yypcontext_token(at);
    Expected e = expected_tokens(at);
    LayoutState st = layout_state(p->layout);
    Span next = parse_span(p, st.next_at);
    bool offside = st.cause == LAYOUT_OFFSIDE;
    const char *what = st.next == FSM_EOF ? "end of file" : quoted(p, st.next_at), *missing = phrase(p, &e);
    if (report_layout(p, token, &e, &st)) return 0;
    if (is_comparison(token) && e.may[YYSYMBOL_PLUS]) {
        diag_error(p->diag, next, "comparisons do not chain: write `a < b && b < c`");
    } else if (e.may[YYSYMBOL_LET] && e.may[YYSYMBOL_ENTRY]) {
        diag_error(p->diag, next, "unexpected %s, expected a declaration: `let`, `entry` or `open`", what);
    } else if (e.may[YYSYMBOL_YYEOF] && !e.may[YYSYMBOL_PLUS]) {
        diag_error(p->diag, next, "unexpected %s after the end of the declaration", what);
    } else if (token == YYSYMBOL_LET_OPERAND && e.may[YYSYMBOL_PLUS]) {
        diag_error(p->diag, next, "unexpected `let` inside an expression");
        diag_note(p->diag, (Span){0},
                  "put it in parentheses, or begin it in the column of the block or of the declarations");
    } else if (token == YYSYMBOL_IN) {
        diag_error(p->diag, next, "unexpected `in`: no `let` inside this expression belongs to it");
    } else if (token == YYSYMBOL_INT_MIN_MAGNITUDE) {
        diag_error(p->diag, next, "integer too large: Int has 64 bits");
    } else if (missing && st.next == EQ && e.may[YYSYMBOL_BIND]) {
        diag_error(p->diag, next, "unexpected `=`: this line is not indented further than what it belongs to");
    } else if (offside && missing) {
        diag_error(p->diag, parse_span(p, st.before_at), "expected %s after %s", missing, quoted(p, st.before_at));
        hints(p, &e, &st, true);
    } else {
        diag_error(p->diag, next, missing ? "unexpected %s, expected %s" : "unexpected %s", what, missing);
        hints(p, &e, &st, false);
    }
    return 0;
}

// Called only when the parser's stack is exhausted.
static void fsm_error(const Loc *at, Parser *p, const char *message) {
    (void)message;
    diag_error(p->diag, parse_span(p, *at), "nesting deeper than the parser can follow (%d levels)", YYMAXDEPTH);
}
