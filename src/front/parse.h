// What the generated parser and lexer share with the layout filter, and the functions the parser's actions call.
// Private to the front end; the parser's interface is parse_program in front/ast.h.
#ifndef FRONT_PARSE_H
#define FRONT_PARSE_H

#include "front/ast.h"

typedef struct Layout Layout;

enum { PARSE_MAX_SOURCE = 1 << 30 }; // bytes

// Bytes [begin, end) of the source being parsed.
typedef struct Loc {
    uint32_t begin, end;
} Loc;

// A list under construction, as the chain of its last node; NULL is empty. Lists live in the arena, so that an
// abandoned parse leaks nothing.
typedef struct List {
    void *item;
    struct List *prev;
    int len;
} List;

typedef struct Parser {
    Arena *arena;
    Diag *diag;
    const Source *src;
    Layout *layout;
    Decl *decl;    // the declaration just parsed
    bool too_deep; // reported for this declaration
} Parser;

// Whether the source is text at all, as the lexer needs it: UTF-8 without NUL, not too large. An error if not.
bool parse_is_text(Diag *diag, const Source *src);
Span parse_span(const Parser *p, Loc at);
List *parse_list(Parser *p, List *before, void *item);

Expr *parse_int(Parser *p, Loc at, int64_t value);
Expr *parse_real(Parser *p, Loc at, double value);
// EX_BOOL, EX_UNIT, and EX_NAME and EX_STRING with their text.
Expr *parse_leaf(Parser *p, Loc at, ExprKind kind, const char *name, int64_t value);
Expr *parse_section(Parser *p, Loc at, Loc op_at, BinOp op);
// EX_TUPLE and EX_ARRAY.
Expr *parse_exprs(Parser *p, Loc at, ExprKind kind, List *args);
Expr *parse_binary(Parser *p, Loc at, Loc op_at, BinOp op, Expr *a, Expr *b);
Expr *parse_unary(Parser *p, Loc at, Loc op_at, UnOp op, Expr *a);
Expr *parse_if(Parser *p, Loc at, Expr *cond, Expr *yes, Expr *no);
// `flatten`: f is a call `g(a)` written without a space, whose arguments go before args.
Expr *parse_apply(Parser *p, Loc at, Expr *f, List *args, bool flatten);
Expr *parse_lambda(Parser *p, Loc at, List *params, Expr *body);
Expr *parse_index(Parser *p, Loc at, Expr *array, List *items);
Expr *parse_bracket(Parser *p, Loc at, Expr *cond);
Expr *parse_annot(Parser *p, Loc at, Expr *e, TypeExpr *type);
// The attribute `#[name args]`, still without its expression; parse_attach adds that. attr may be NULL.
Expr *parse_attr(Parser *p, Loc at, const char *name, List *args);
Expr *parse_attach(Parser *p, Expr *attr, Expr *e);
// Widens e's span by its parentheses.
Expr *parse_paren(Parser *p, Loc at, Expr *e);

// One item between the brackets of an index; all NULL with slice: everything.
IndexItem *parse_item(Parser *p, Loc at, bool slice, Expr *a, Expr *b);

// The left side of a binding: a function (params is not empty) or a pattern, with the result's annotation or NULL.
typedef struct Binding {
    Loc name_at;
    const char *name;
    Pattern *pattern;
    List *params;
    TypeExpr *type;
    Expr *value; // of a loop's state
} Binding;
Binding *parse_binding_fun(Parser *p, Loc name_at, const char *name, List *params, TypeExpr *result);
Binding *parse_binding_pat(Parser *p, Pattern *pattern, TypeExpr *type);
// An EX_LET without its body; parse_block joins the lets of a block (a list, may be NULL) and its last expression.
Expr *parse_let(Parser *p, Loc at, Binding *b, Expr *bound);
Expr *parse_block(Parser *p, List *lets, Expr *last);

// `pattern = value` of a loop, and the loop over a list of these: while cond, or for index < n if index is not NULL.
Binding *parse_loop_state(Parser *p, Pattern *pattern, Expr *value);
Expr *parse_loop(Parser *p, Loc at, Loc states_at, List *states, Pattern *index, Expr *bound, Expr *body);

Pattern *parse_pattern(Parser *p, Loc at, PatternKind kind, const char *name);
Pattern *parse_pattern_typed(Parser *p, Loc at, Pattern *pattern, TypeExpr *type);
// The pattern itself if there is only one.
Pattern *parse_pattern_tuple(Parser *p, Loc at, List *parts);

TypeExpr *parse_type_name(Parser *p, Loc at, const char *name);
// `name<arg>`; only Array takes an argument.
TypeExpr *parse_type_generic(Parser *p, Loc at, Loc name_at, const char *name, TypeExpr *arg);
// `element[e1][e2]…`: extents is a list of Expr, NULL items where left out.
TypeExpr *parse_type_array(Parser *p, Loc at, TypeExpr *element, List *extents);
// The type itself if there is only one.
TypeExpr *parse_type_tuple(Parser *p, Loc at, List *parts);
// parts: parameters, then the result.
TypeExpr *parse_type_fun(Parser *p, Loc at, List *parts);

Decl *parse_decl_let(Parser *p, Loc at, Binding *b, Expr *body);
Decl *parse_decl_entry(Parser *p, Loc at, Binding *b, Expr *body);
Decl *parse_decl_extern(Parser *p, Loc at, Binding *b);
// Its derivative: word is `jvp` or `vjp`.
void parse_extern_rule(Parser *p, Decl *d, Loc word_at, const char *word, Expr *rule);
Decl *parse_decl_open(Parser *p, Loc at, Loc path_at, const char *path);

#endif
