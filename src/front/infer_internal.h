// Shared by the files of type inference only.
#ifndef FRONT_INFER_INTERNAL_H
#define FRONT_INFER_INTERNAL_H

#include "front/builtins.h"
#include "front/infer.h"
#include "support/map.h"
#include "support/vec.h"

typedef struct Scope Scope;
typedef struct Binding Binding;
typedef struct Fun Fun;

// Where names are looked up: the bindings of `scope` made up to `limit`, then those of the scopes around it, then the
// definitions of the module. Functions are second class, so a closure never outlives the bindings that it sees;
// bindings made after it was made are hidden by the limit.
typedef struct Env {
    Scope *scope;
    uint32_t limit;
    Module *module;
} Env;

struct Scope {
    Env parent;
};

typedef enum FunKind {
    FUN_CLOSURE,
    FUN_BUILTIN,
    FUN_OP,      // an elementwise operation
    FUN_SECTION, // (+)
    FUN_EXTERN,  // a C function: def
    FUN_TOTAL,   // the third parameter of a rule of customJvp: jvp, by what is captured, too
    FUN_UNKNOWN  // a parameter of a definition that is checked without a use
} FunKind;

struct Fun {
    FunKind kind;
    const char *name; // NULL for a lambda
    Span span;
    Pattern **params; // closure
    int nparams;
    TypeExpr *result;
    const Expr *body;
    Env env;
    Def *def; // the definition it is, or NULL
    Builtin builtin;
    Op op;
    BinOp binop;
    CoreVar *direction;   // total: that of the rule, which tells whose it is
    TypeExpr *annotation; // of the parameter that it was passed as; or NULL
};

// What an expression stands for: a value or a function.
typedef struct Val {
    Core *core;
    Fun *fun;
} Val;

struct Binding {
    const char *name;
    Binding *older; // of the same name
    Scope *scope;
    uint32_t seq;
    Val val;
};

typedef VEC(CoreBind) BindList;

typedef struct Infer {
    Unit *unit;
    Arena *arena;
    Diag *diag;
    NameMap names; // name -> its newest Binding
    VEC(Binding *) bound;
    Env env;
    uint32_t seq;
    Use *use;
    int depth, ncores;
    int rules;      // inside so many rules that tell what they bind from what they capture
    bool failed;    // an error was met in this definition (which may have been reported before)
    bool overflow;  // a limit was passed and reported
    bool generic;   // checking a definition without a use: unknown types are no errors
    BindList roots; // values of top-level definitions, for the entry as a whole
    Map memo;       // Def -> the Core that reads its value
    Map externs;    // Def -> CoreExtern
} Infer;

enum { CORE_LIMIT = 1000000 };

// ---- infer.c
Val infer(Infer *in, const Expr *e);
Core *infer_core(Infer *in, const Expr *e);
Core *infer_typed(Infer *in, const Expr *e, Type *want);
Core *infer_binary(Infer *in, BinOp op, Core *a, Core *b, Span span, Span op_span);

// ---- infer_env.c: errors, nodes, scopes
void infer_error(Infer *in, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void infer_note(Infer *in, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
Core *core_new(Infer *in, CoreKind kind, Span span, Type *type, int nargs, Core *const *args);
Core *core_error(Infer *in, Span span);
Core *core_var(Infer *in, CoreVar *v, Span span);
CoreVar *core_var_new(Infer *in, const char *name, Type *type, Span span);
Core *core_int(Infer *in, int64_t value, Type *type, Span span);
Core *core_proj(Infer *in, Core *tuple, int k, Type *type);
Core *core_extent(Infer *in, Core *value, int leaf, int dim);
// The body under the bindings, whose list is emptied.
Core *core_block(Infer *in, BindList *binds, Core *body, Span span);
// A value that the prelude computes, for who uses it: what is wrong with it is wrong with the user's expression, at the
// place `at`. What is wrong inside has its own place.
Core *core_placed(Infer *in, Core *c, Span at);
// Requires the expression to have the type; `what` names it in the message ("the condition"), or is NULL.
bool infer_expect(Infer *in, Core *c, Type *want, const char *what);
const char *infer_type_text(Infer *in, Type *t);

void env_bind(Infer *in, const char *name, Val val);
Binding *env_find(Infer *in, const char *name);
Env env_enter(Infer *in, Env parent);  // a new scope inside parent; returns the environment to go back to
void env_unbind(Infer *in, int bound); // removes all bindings but the first `bound`
// Lets the variable stand for the value in what follows, unless the value is as simple as a variable; in rules that is bound, too,
// since what they bind does not move when a variable outside does.
Core *env_let(Infer *in, BindList *binds, Core *value, const char *name);

// ---- infer_pattern.c: patterns and written types
Type *written_type(Infer *in, const TypeExpr *t);
// Binds the patterns' names to the values, checks their types, and binds and checks the sizes written in them.
void bind_patterns(Infer *in, BindList *binds, int n, Pattern *const *p, Core **values);
// Binds a parameter's pattern where the argument may be a function; returns false for one (which is then bound).
bool bind_function(Infer *in, const Pattern *p, Fun *f);
// c with the written type required of it.
Core *apply_annotation(Infer *in, Core *c, const TypeExpr *t, const char *what);
SizeSpec *size_spec(Infer *in, const TypeExpr *t);
// How each leaf of a value of the written type is stored where it is an argument or result of an entry.
Kind *stored_kinds(Infer *in, const TypeExpr *t);
// The parameters and sizes of an entry.
void bind_entry(Infer *in, CoreEntry *entry, const Decl *d);

// ---- infer_apply.c: application of closures and operations
Val infer_app(Infer *in, const Expr *e);
Core *apply(Infer *in, Fun *f, int n, const Val *args, const Span *spans, Span call);
Core *apply_cores(Infer *in, Fun *f, int n, Core *const *args, Span call);
Core *apply_op(Infer *in, Op op, int n, Core *const *args, Span call);
// The value as a function; reports an error and returns NULL if it is none.
Fun *need_fun(Infer *in, Val v, Span at);
Core *need_core(Infer *in, Val v, Span at);
// The number of parameters that the function is written with; 0 if it is none that the program writes.
int fun_params(Infer *in, Fun *f);
Val def_value(Infer *in, Def *d, Span at);

// ---- infer_extern.c
Core *apply_extern(Infer *in, Fun *f, int n, Core *const *args, Span call);
CoreExtern *infer_extern(Infer *in, Def *d);

// ---- infer_builtin.c
Core *apply_builtin(Infer *in, Builtin b, int n, const Val *args, const Span *spans, Span call);
Core *apply_total(Infer *in, Fun *f, const Val *args, const Span *spans, Span call);
Core *infer_deriv(Infer *in, const Expr *e, const Expr *x, Span call);
Core *infer_index(Infer *in, Core *array, int n, CoreItem *items, Span span);

#endif
