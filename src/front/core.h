// The core language: a definition after name resolution, type inference and inlining. There are no functions left;
// every expression has a type, whose variables are bound when inference of the whole definition is done.
#ifndef FRONT_CORE_H
#define FRONT_CORE_H

#include "front/ast.h"
#include "front/types.h"
#include "ir/ir.h"

typedef struct Core Core;

// One use of a named function, for "in this use of" notes; the chain leads outwards.
typedef struct Use {
    const char *name;
    Span at;
    struct Use *outer;
    int depth;
    bool reported; // an error inside the prelude was reported at this use
} Use;

// A value as the IR has it: the leaves of its type ([TL] section 5.2, struct of arrays).
typedef struct Value {
    int n;
    Node **leaf;
} Value;

// A variable bound once. Its value is set while the IR is built.
typedef struct CoreVar {
    const char *name;
    Type *type;
    Span span;
    Value value;
    bool carries; // it is used other than in `stopGradient`
} CoreVar;

// The extents written in a type, parallel to the type: parts of a tuple; for an array, its extent and element.
typedef struct SizeSpec {
    Core *extent; // NULL: any
    int nparts;
    struct SizeSpec **parts; // entries may be NULL: nothing written below
    Span span;
} SizeSpec;

typedef enum CoreKind {
    CORE_INT,     // ival: a literal of any numeric type
    CORE_REAL,    // rval
    CORE_BOOL,    // ival
    CORE_VAR,     // vars[0]
    CORE_BLOCK,   // binds, then args[0]
    CORE_BINARY,  // binop args[0] args[1]
    CORE_POWI,    // args[0] ** ival
    CORE_NEG,     // args[0]
    CORE_NOT,     // args[0]
    CORE_CALL,    // elementwise operation `op` of the table on args
    CORE_CONV,    // args[0] converted to the scalar type
    CORE_IF,      // args: condition, then, else
    CORE_TUPLE,   // args
    CORE_PROJ,    // component ival of the tuple args[0]
    CORE_ARRAY,   // an array literal
    CORE_BUILD,   // args: extent, body; vars: index
    CORE_SUM,     // args: extent, body; vars: index
    CORE_FOLD,    // args: initial state, trip count, step; vars: state, index
    CORE_WHILE,   // args: initial state, condition, step; vars: state
    CORE_INDEX,   // args[0][items]
    CORE_EXTENT,  // extent `dim` of leaf `ival` of args[0]
    CORE_BRACKET, // [args[0]] * args[1]
    CORE_ASSERT,  // args[1], an error with `text` unless args[0]
    CORE_SAME,    // args[0], an error unless the sizes args[1] and args[2] are equal
    CORE_STOP,    // args[0] without derivative
    CORE_EVALUATED, // true, once args[0] has been evaluated
    CORE_ARGMIN,  // of the array args[0]
    CORE_ARGMAX,
    CORE_SIZED,  // args[0], whose extents are checked against `spec`
    CORE_AD,     // a derivative: `ad`
    CORE_EXTERN, // the C function `ext` applied to args
    CORE_CUSTOM, // args: an argument, a function's body, the body of its derivative, which gives adjoints if ival, else
                 // tangents, and that of the other mode if it is given; vars: the argument of the function, of the derivatives,
                 // and the direction of each
    CORE_ERROR   // stands where an error was reported
} CoreKind;

typedef struct CoreItem { // of an index: one position, or a slice whose ends may be NULL
    bool slice;
    Core *at, *lo, *hi;
    Span span;
} CoreItem;

typedef struct CoreBind {
    CoreVar *var; // NULL: an assertion that guards the rest of the block
    Core *value;  // the condition of an assertion
    const char *text;
    Span span;
    Use *use;
} CoreBind;

typedef enum AdMode {
    AD_GRAD,
    AD_VALUE_GRAD,
    AD_JVP,
    AD_JVP2,
    AD_VJP,
    AD_VJP2,
    AD_JACOBIAN,
    AD_JACFWD,
    AD_JACREV,
    AD_JACSPARSE,
    AD_HESSIAN,
    AD_HVP,
    AD_DERIV // [FS] Figs. 5 and 6: (value, derivative) pairs, under the index of the variable
} AdMode;

typedef struct CoreWish {
    int64_t number; // 0: not wished
    Span at;
} CoreWish;

struct Core {
    CoreKind kind;
    Span span;
    Type *type;
    Use *use;
    Core **args;
    int nargs;
    int dim;
    bool total;            // custom: the rule may differentiate by what it captures
    bool unroll;           // build, sum, fold: as often as its trip count, a constant, says
    int64_t levels, limit; // fold, while: see Loop
    CoreWish *wish;        // build, sum, fold: attributes of its loop, WISH_COUNT of them; NULL: none
    int64_t ival;
    double rval;
    BinOp binop;
    Op op;
    AdMode ad; // CORE_AD: vars[0] is the function's argument, args: its actual value, the function's body, a direction;
               // vars[1], or NULL: the direction of the rule that it is the `total` of
    const char *text;
    const char *name; // where it is the use of a local name: that name
    CoreVar *vars[4];
    CoreBind *binds;
    int nbinds;
    CoreItem *items;
    int nitems;
    SizeSpec *spec;
    struct CoreExtern *ext;
};

typedef struct CoreParam {
    CoreVar *var;
    SizeSpec *spec; // complete: every extent is given, by a size variable or an expression
    Kind *stored;   // how each leaf comes from outside: Int may be stored as Int32
} CoreParam;

// An entry after inference.
typedef struct CoreEntry {
    const char *name, *doc;
    Span span;
    int nsizes;
    CoreVar **sizes; // in order of first appearance
    int nparams;
    CoreParam *params;
    Core *body;
    SizeSpec *result; // or NULL
    Kind *stored;     // how each leaf of the result is stored; NULL: as its kind is
    Span stored_span; // where that is written
} CoreEntry;

// A C function as one entry of the program sees it, with the signature of an entry. Its derivative is typed once, as a
// function of its arguments (a tuple if there are several) and of a direction, and may use the function itself.
typedef struct CoreExtern {
    Extern *ext;
    Span span;
    CoreEntry signature; // without a body
    Type *result;
    CoreVar *arguments, *direction;
    Core *rule; // NULL: it has none
    bool adjoint;
} CoreExtern;

typedef struct CoreProgram {
    const struct Unit *unit;
    int n;
    CoreEntry **entries;
} CoreProgram;

#endif
