// The abstract syntax of F̃: what the parser builds and nothing else. Names are not resolved, types not inferred.
// All nodes live in the compilation's arena.
#ifndef FRONT_AST_H
#define FRONT_AST_H

#include "support/arena.h"
#include "support/diag.h"

#include <stdbool.h>
#include <stdint.h>

// What recursive passes may rely on: no tree the parser returns nests deeper. Only the body of an EX_LET does not
// count (a block may hold any number of `let` lines), so walk let bodies in a loop.
enum { AST_MAX_DEPTH = 10000 };

typedef struct Expr Expr;
typedef struct TypeExpr TypeExpr;
typedef struct Pattern Pattern;
typedef struct Decl Decl;

// A written type: `Double`, `Array<T>`, `T[n][m]` (extents are expressions, NULL where left out: `T[]`),
// `T1 * T2`, `T1 -> T2` (also written `=>`).
typedef enum TypeExprKind { TX_NAME, TX_ARRAY, TX_TUPLE, TX_FUN } TypeExprKind;
struct TypeExpr {
    TypeExprKind kind;
    Span span;
    const char *name; // TX_NAME: Double Float Int Index Card Int32 Bool Vector Matrix DoubleD VectorD MatrixD …
    TypeExpr **args;  // TX_ARRAY: args[0] is the element; TX_TUPLE: the parts; TX_FUN: parameters, then the result
    int nargs;
    Expr *extent; // TX_ARRAY: number of elements or NULL. `Double[n][m]` is an array of n arrays of m.
    int depth;    // levels of nesting, at most AST_MAX_DEPTH
    bool signature; // TX_NAME: in that of an entry, where Int32 may stand for Int
};

// What a `let`, a parameter or a lambda binds: a name, `_`, or a tuple of patterns; each may carry a type.
typedef enum PatternKind { PAT_NAME, PAT_WILD, PAT_TUPLE, PAT_UNIT } PatternKind;
struct Pattern {
    PatternKind kind;
    Span span;
    const char *name; // PAT_NAME
    Pattern **parts;  // PAT_TUPLE
    int nparts;
    TypeExpr *type; // annotation or NULL
    int depth;      // levels of nesting, at most AST_MAX_DEPTH
};

typedef enum BinOp {
    BIN_ADD, BIN_SUB, BIN_MUL, BIN_DIV, BIN_MOD, BIN_POW,
    BIN_EQ, BIN_NE, BIN_LT, BIN_LE, BIN_GT, BIN_GE,
    BIN_AND, BIN_OR
} BinOp;
typedef enum UnOp { UN_NEG, UN_NOT } UnOp;

// One item between the brackets of an index: `i`, or a slice `lo..hi` (inclusive; either end may be NULL), or `*`
// (everything), as in `a[i, lo..hi]`.
typedef struct IndexItem {
    bool slice;
    Expr *at;     // !slice
    Expr *lo, *hi; // slice
    Span span;
} IndexItem;

typedef enum ExprKind {
    EX_INT,     // ival
    EX_REAL,    // rval
    EX_BOOL,    // ival
    EX_STRING,  // name (unescaped text); only as an argument of `assert` and the like
    EX_UNIT,    // ()
    EX_NAME,    // name; the built-in of that name if ival is not 0
    EX_SECTION, // (+) (*) … : binop
    EX_LAMBDA,  // params, result (or NULL), args[0] = body
    EX_APP,     // args[0] applied to args[1..]
    EX_LET,     // let-bound value or function: see below; args[0] = bound expression, args[1] = body
    EX_IF,      // args: condition, then, else
    EX_TUPLE,   // args
    EX_ARRAY,   // [| args |]
    EX_INDEX,   // args[0][items…]
    EX_BRACKET, // Iverson bracket [args[0]]
    EX_BINARY,  // binop args[0] args[1]
    EX_UNARY,   // unop args[0]
    EX_ANNOT,   // (args[0] : type)
    EX_ATTR     // #[name …] args[0]
} ExprKind;

struct Expr {
    ExprKind kind;
    Span span;
    Expr **args;
    int nargs;
    int64_t ival;
    double rval;
    const char *name; // EX_NAME, EX_STRING, EX_ATTR, and EX_LET of a function
    BinOp binop;
    UnOp unop;
    Span op_span; // the operator's own place (EX_BINARY, EX_UNARY, EX_SECTION), the name's in an EX_LET of a function;
                  // `#[…]` of an EX_ATTR
    // EX_LAMBDA: its parameters. EX_LET: nparams > 0 means `let name params = …` (a local function named `name`);
    // otherwise `let pattern = …`.
    Pattern **params;
    int nparams;
    Pattern *pattern; // EX_LET of a value
    TypeExpr *type;   // EX_ANNOT; EX_LAMBDA and EX_LET of a function: the result's annotation or NULL
    IndexItem *items; // EX_INDEX
    int nitems;
    Expr **attr_args; // EX_ATTR
    int nattr_args;
    int depth; // levels of nesting, at most AST_MAX_DEPTH; the body of a `let` adds none, see below
};

typedef enum DeclKind {
    DECL_LET,   // let name params = body (nparams may be 0: a value, or a lambda as value)
    DECL_TUPLE, // let (a, b) = body
    DECL_ENTRY, // entry name params = body
    DECL_OPEN,  // open "path"
    DECL_EXTERN // extern name params : result with jvp = body (body may be NULL)
} DeclKind;

struct Decl {
    DeclKind kind;
    Span span, name_span;
    const char *name; // DECL_LET, DECL_ENTRY; DECL_OPEN: the path as written
    Pattern *pattern; // DECL_TUPLE
    Pattern **params;
    int nparams;
    TypeExpr *result; // annotation or NULL
    Expr *body;
    bool adjoint;    // DECL_EXTERN: with vjp
    const char *doc; // text of the comment lines directly above, or NULL
};

typedef struct Program {
    Decl **decls;
    int ndecls;
    const char **broken; // names that declarations with errors may define
    int nbroken;
} Program;

// Names of operators as written ("+", "&&", "-").
const char *ast_binop_name(BinOp op);
const char *ast_unop_name(UnOp op);

// The parser. Reports errors to diag and returns what it could parse (never NULL); look at diag_errors().
// src must outlive the program. (front/parse.c)
Program *parse_program(Arena *arena, Diag *diag, const Source *src);

// Prints a program in a fixed textual form (one S-expression per declaration) for tests of the parser.
void ast_print(Str *out, const Program *p);

#endif
