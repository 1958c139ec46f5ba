// Shared by the files of elaboration only.
#ifndef FRONT_ELAB_INTERNAL_H
#define FRONT_ELAB_INTERNAL_H

#include "front/elab.h"
#include "front/module.h"
#include "front/report.h"

// Values that an open derivative differentiates by; inside the rule of a function with its own derivative, what that
// may be differentiated by later.
typedef struct Active {
    int n;
    Node **x;
    struct Active *outer;
} Active;

// A use of a local name while a function with its own derivative is built.
typedef struct NameUse {
    const Core *at;
    Value value;
    struct NameUse *before;
} NameUse;

// A leaf of a variable.
typedef struct Captured {
    CoreVar *var;
    int leaf;
    bool moved; // a `total` differentiates what depends on it
} Captured;

// A function with its own derivative that is being built, and what its rule differentiates by although it captures it.
typedef struct OpenCustom {
    const Core *c;
    int n;
    Captured *captured;
    Node **direction; // of each, while the rule is built
    struct OpenCustom *outer;
} OpenCustom;

typedef struct Elab {
    Ir *m;
    Arena *arena;
    const Unit *unit;
    int guarded; // inside this many conditions: what is certain to fail may never be evaluated
    bool failed;
    bool misshapen;      // a value stands for one that failed: its extents may be wrong
    struct Deriv *deriv; // the derivative whose function is being built, or NULL
    struct Deriv *cut;   // it and those around it do not go through what is being built, as `stopGradient` says
    Active *active;      // the innermost
    NameUse *uses;       // kept where keep_uses is set
    int keep_uses;
    OpenCustom *custom; // the innermost
    int order, greatest_order; // of derivatives around what is being built, and in the entry so far
} Elab;

enum { MAX_RANK = 12 }; // dimensions of an array

// ---- elab.c
Value elab(Elab *el, const Core *c);
Node *elab_scalar(Elab *el, const Core *c);
// Gives new nodes the place of c, or of the user's use of the prelude's function that c is part of.
void elab_at(Elab *el, const Core *c);
void elab_error(Elab *el, const Core *at, Span span, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
Value value_new(Elab *el, int n);
// A value of the type to go on with after an error.
Value value_dummy(Elab *el, Type *t);

// Warns where `from` (NULL: 1) and `to` are written as constants with nothing between.
void elab_warn_empty(Elab *el, const Core *from, const Core *to, Span at, const char *what);

// ---- elab_size.c: sizes
// An Int value of sizes as F̃ writes it, for messages.
const char *size_text(Elab *el, Node *e);
typedef enum SizeEq { SIZE_EQUAL, SIZE_DIFFERENT, SIZE_UNKNOWN } SizeEq;
SizeEq size_compare(Elab *el, Node *a, Node *b);
bool size_nonnegative(Elab *el, Node *e);
// Requires a = b for the value: reports sizes that differ for certain, and lets the value be an error where they turn
// out to differ. `what` says what they are sizes of.
void size_require(Elab *el, const Core *at, Span span, const char *what, Node *a, Node *b, int n, Node **value);
// Requires of x[k] the shape of y[k], for all leaves.
void size_same_shape(Elab *el, const Core *at, Span span, const char *what, Value x, Value y);

// ---- elab_primal.c
typedef struct Derived { // a derivative, by what it is of
    AdMode mode;
    bool forward; // of a Jacobian: in forward mode
    int nx;
    Node **x; // placeholders
    Value y;
    int ny;
    Node **y_float; // its floating leaves
} Derived;
// What has the type of the derivative, and is computed from the function alone.
Value elab_primal(Elab *el, const Derived *d);
// Numbers instead of those of `row`, an array of one dimension, likewise.
Node *elab_primal_row(Elab *el, const Derived *d, Node *row);

// ---- elab_array.c
Value elab_array(Elab *el, const Core *c);
Value elab_build(Elab *el, const Core *c);
Value elab_fold(Elab *el, const Core *c);
Value elab_while(Elab *el, const Core *c);
Value elab_index(Elab *el, const Core *c);
Value elab_arg_extreme(Elab *el, const Core *c);

// ---- elab_ad.c
Value elab_ad(Elab *el, const Core *c);
// Warns if a, whose derivative is cut by the operation c (`int`, `floor`), depends on what is differentiated by.
void elab_warn_cut(Elab *el, const Core *c, Node *a, const char *name);
// Marks the variables bound in c that carry derivatives. Others are used in `stopGradient` alone, or for their sizes.
void elab_mark_carriers(Core *c);
// Builds what no open derivative goes through.
Value elab_stopped(Elab *el, const Core *c);

// ---- elab_custom.c
Value elab_custom(Elab *el, const Core *c);
// Does a derivative reach one of the values that an open derivative is by? With `states`, what the state of a loop is
// computed from is not known yet, and counts.
bool elab_is_active(const Elab *el, int n, Node *const *e, bool states);
// ---- elab_total.c
void total_find(Elab *el, OpenCustom *o); // sets n and captured
// The values of what is captured; and others in their place.
Node **total_values(Elab *el, const OpenCustom *o);
void total_put(Elab *el, const OpenCustom *o, Node *const *e);
// The custom whose `total` the derivative c is; one that captures nothing if it is none.
const OpenCustom *total_of(Elab *el, const Core *c);
// ---- elab_extern.c
Value elab_extern(Elab *el, const Core *c);
// The floating leaves of a value.
Node **elab_float_leaves(Elab *el, Value v, int *n);

#endif
