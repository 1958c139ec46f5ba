// The intermediate representation: tensor SSA with brackets ([TL] section 5.3, DESIGN in docs/architecture.md).
//
// A program is a graph of immutable, interned values (Node). Every value is a scalar or a rectangular array of scalars;
// there are no pairs, functions, or mutation. Terms that are equal up to the names of bound variables and the order of
// the operands of +, *, = and <> are one node, so pointer equality is equality of terms, and interning is
// common-subexpression elimination.
//
// Canonical form, established by the builders below:
//  - elementwise operations, select, bracket, sum, argmin/argmax and assert have scalar operands; on arrays the builders
//    push them below gens;
//  - `at` is fully indexed; indexing an array partially gives a gen over the remaining indices;
//  - Int additions, subtractions and multiplications are polynomials in normal form, so that equal sizes are equal nodes;
//  - a binder's variable is never bound again inside its own body (unless Ir.planning).
// Unless Ir.raw is set, the builders also apply the cheap algebraic rules (ir/rules.c) and drop dead brackets.
#ifndef IR_IR_H
#define IR_IR_H

#include "support/arena.h"
#include "support/diag.h"
#include "support/explain.h"
#include "support/str.h"

#include <stdbool.h>
#include <stdint.h>

// 1 bit, 64-bit signed, 32-bit signed, 32- and 64-bit IEEE. Int32 is how arguments and results of entries are stored and
// no more: such values are only moved, and converted from and to Int.
typedef enum Kind {
#define KIND(name, ...) KIND_##name,
#include "../runtime/elements.def"
} Kind;
static inline bool kind_is_float(Kind k) { return k >= KIND_FLOAT; }
typedef struct KindInfo { // the columns of elements.def
    int type;             // FSM_…
    const char *fsm, *name, *c, *c_scalar, *cpp, *cpp_scalar, *npy, *numpy;
    size_t size;
} KindInfo;
extern const KindInfo kind_info[];
static inline const char *kind_name(Kind k) { return kind_info[k].name; } // in IR text: "i64"
static inline size_t kind_size(Kind k) { return kind_info[k].size; }      // bytes of an element

typedef enum Op {
#define NODE(name, doc) OP_##name,
#include "ir/kinds.def"
#define OP(name, ...) OP_##name,
#include "ir/ops.def"
    OP_COUNT, // no operation: programs have those before it
#define OP(...)
#define HELD(name, ...) OP_##name, // there while derivatives are built
#include "ir/ops.def"
    OP_ALL
} Op;

// Properties of an elementwise operation (a row of ops.def).
typedef enum OpType { T_NUM, T_FLT, T_INT, T_CMP, T_LOGIC, T_FPOWI, T_PSI } OpType;
typedef enum OpCount {
#define COUNT(id, name, what) COUNT_##id,
#include "ir/counts.def"
    COUNT_CLASSES,
    COUNT_FREE = COUNT_CLASSES // structural kinds
} OpCount;
typedef enum FsmForm { FSM_IN, FSM_PRE, FSM_FN } FsmForm;
typedef struct OpInfo {
    const char *name;
    int arity; // 0 for structural kinds
    OpType type;
    OpCount count;
    int cost;
    bool lanes;      // there is code for vectors of it
    FsmForm form;    // how F̃ writes it
    const char *sym; // symbol or function name in F̃
    int prec;        // precedence of an infix symbol
} OpInfo;
extern const OpInfo op_info[OP_ALL];
static inline bool op_is_elementwise(Op op) { return op_info[op].arity > 0; }

typedef struct Ir Ir;
typedef struct Node Node;
typedef struct Var Var;
typedef struct VarSet VarSet;

// A set of variables: sorted by id, interned (equal sets are equal pointers). NULL is never used.
struct VarSet {
    int n;
    Var *v[];
};

// What attributes of the source ask of a loop, which is an index variable. No part of a value's identity (ir/wish.c).
typedef enum WishKind {
#define WISH(name, ...) WISH_##name,
#include "ir/wishes.def"
    WISH_COUNT
} WishKind;
typedef struct WishInfo {
    const char *name;
    bool number;         // has it one?
    const char *missing; // why it is not followed where no loop is left; NULL: then there is nothing to do
} WishInfo;
extern const WishInfo wish_info[];
typedef struct Wish {
    WishKind kind;
    int64_t number;
    Span span;         // of the attribute
    struct Wish *next; // of the Ir
    struct Wish *same; // one of a loop that is one with this one's; NULL: none
    bool followed;
    const char *why; // unless followed: why not; NULL: there is nothing to say
} Wish;
// A loop that a plan or a limit asks to run again from checkpoints, but whose whole trace is kept (pass/checkpoint.c).
typedef struct WholeTrace {
    Span span;
    struct WholeTrace *next;
} WholeTrace;
typedef struct Wishes {   // of one loop
    Wish *of[WISH_COUNT]; // NULL: none
} Wishes;

// A bound variable. Index variables run over 0 … extent-1 (an empty range if extent <= 0); state variables stand for a
// loop's state at the entry of an iteration.
struct Var {
    uint32_t id; // creation order, unique
    bool is_state;
    Kind kind; // KIND_INT for index variables
    int rank;
    Node **shape;     // of a state that is an array
    Node *extent;     // of an index variable; NULL for states
    const char *name; // a hint for printing; not unique
    bool counts;      // of a state: only a hint, see ad/needs.c
    uint32_t loops;   // what binds it has at least so many Node.loops
    Node *node;       // the value that reads it
    Wishes wishes;    // of an index variable
    int entry;        // for which function it was made (Ir.entry)
};

// A loop. fold: for index = 0 … extent-1 all states step at once. while: as long as cond (of the states) holds.
// Outputs are values, in terms of the states at the entry of an iteration, of which ir_trace makes an array.
// Operands of the node: n initial values, then n steps and nout outputs (fold), or n initial values, the condition, n
// steps and nout outputs (while).
// custom has states too: the first nx stand for the arguments, the others for a direction. Operands: n values for the
// states (zeros for the direction), then ny results and the results of the rule, which is linear in the direction. It
// gives the adjoints of the arguments for adjoints of the results (`adjoint`), else the tangents of the results for
// tangents of the arguments. With `both`, the direction and the results of the rule for the other mode follow in either
// list. All of them are floating. It is there only while derivatives are built (ir_expand).
typedef struct Loop {
    Var *index; // fold; NULL for others
    int n;
    Var **state; // state[-1] is the index
    int nout;    // fold, while
    int levels;  // #[stripmine], #[tapeLimit] of it: how its trace is kept (pass/checkpoint.c); 0: nothing is said
    int64_t limit;
    bool block;         // a part of a loop that runs again from a checkpoint
    bool follows;       // the loops whose results it reads were one with it: they run whenever it does (pass/split.c)
    int nx, ny;         // custom
    bool adjoint, both; // custom
} Loop;

// A result of a C function.
typedef struct ExternResult {
    Kind kind;
    int rank;
    Node **shape; // the extents in terms of Extern.x; not in textual IR
} ExternResult;

enum { EXTERN_RESULTS = 255 }; // at most

// A C function, declared by the program: pure. Equal functions have one name and decl. A node is one of its results;
// nodes that differ in Node.result alone are results of one call.
//
// If it takes or gives arrays, or has several results, it has a signature, and the operands of the node are a Bool,
// which is true unless evaluating it fails because sizes do not agree; what C gets, first `nsizes` sizes and then the
// arguments; and the extents of all results. Else they are the arguments. Several results, and one that is an array,
// are written to memory, and the function says whether they could be made.
typedef struct Extern {
    const char *name;
    const void *decl;      // what declares it, NULL in textual IR
    const char *signature; // as F̃ declares it: `(x: Double[n]) : Double[n]`; NULL if there is one scalar of scalars
    int nsizes;
    int nresults, nextents; // the sum of the ranks
    ExternResult *results;
    // Its derivative, as values of `ir` in terms of states for the arguments and for a direction (see Loop.adjoint);
    // NULL if it has none. What has no derivative (Int, Bool) has an argument but no direction.
    Ir *ir;
    enum { RULE_NONE, RULE_BUILDING, RULE_READY } state;
    bool adjoint;
    bool transposed;  // its transpose is being built
    int n, nd, nrule; // x: the sizes and the arguments
    Node **x, **d, **rule;
} Extern;

struct Node {
    Op op;
    Kind kind;
    uint8_t rank;
    bool nonneg;                       // an Int that cannot be negative: sizes, index variables, literals
    bool bounded_above, bounded_below; // an Int that stays as small as sizes are, on that side (ir_bounded)
    bool opaque;                       // an Int product too large to be multiplied out: an atom of polynomials
    bool partial;   // may raise an error when evaluated, or contains what may: an unproven `at`, idiv/irem, assert, a
                    // while that may not end
    bool fails;     // is one itself
    bool partial_at_0, fails_at_0; // of these: only where a size is 0, for all one knows
    bool unbounded; // contains a `while` loop: how long that takes nobody knows
    uint8_t result; // extern: its number
    uint32_t id;    // creation order: operands have smaller ids
    int nargs;
    uint64_t hash;
    Node **shape;     // `rank` Int values, outermost extent first
    const VarSet *fv; // free variables, closed under the extents of index variables
    uint64_t bound;   // a Bloom filter of the variables bound inside; ir_binds() decides
    uint32_t newest;  // the id of the newest of them
    uint32_t loops;   // the most sequential loops that are each a part of the one before
    Span span;        // where it came from (not part of its identity)
    union {
        double real; // lit of a floating kind
        int64_t num; // lit of Int or Bool; final: which state; trace: which output; result: which result; input, param: its number
        Var *var;    // var; gen, sum, argmin, argmax: the bound variable
        Loop *loop;  // fold, while, custom
        const char *text; // assert: the message, with a place for each operand after the second
        Extern *ext;      // extern
    } u;
    const char *name; // input: its name
    Node *args[];
};

// Which indices are checked when compiled code runs: those that are not known to be in range, all, none.
typedef enum Bounds { BOUNDS_AUTO, BOUNDS_ALWAYS, BOUNDS_NEVER } Bounds;

enum { MOST_ASSUMED = 32, MOST_MEASURED = 8 };

// The least and the greatest of the elements of an argument that is an array of Ints, which are computed before
// anything else: as inputs of the function, after all others. (measured.c)
typedef struct Measured {
    int array, rank;   // the number of the argument
    const int64_t *at; // the index in each dimension; -1: all
    Node *least, *greatest;
} Measured;

struct Ir {
    Arena *arena;
    Arena *polys;      // the terms of polynomials, which are given back when what they were made for is done (poly.c)
    bool raw;          // build terms as written: no algebraic rules (the interpreter's oracle)
    bool planning;     // bound variables keep their names, and may be bound further out as well (pass/unify.c)
    uint32_t unifying; // if not 0: loops made after this node are one if they are equal up to the names of their variables
    bool positive;     // every size is at least 1 (lowering makes a version of a function for that case),
    int64_t *least;    // or, by the number of the input, an Int at least this (INT64_MIN: nothing is said); NULL: 1
    bool no_quotients; // proofs of poly.c do not bound quotients by what they divide
    int nassumed;      // and these Ints over the inputs are not negative
    Node *assumed[MOST_ASSUMED];
    int nmeasured;
    Measured measured[MOST_MEASURED];
    Node *slack[12];   // auxiliary unknowns of poly.c
    Node *given[8];    // what is not negative where a proof of poly.c is, ngiven of them
    int ngiven;
    bool primal;       // elaboration puts functions in the place of their derivatives (front/elab_primal.c)
    bool keep_customs; // elaboration leaves customs in entries, which family_derive differentiates
    bool whole_loops;  // while derivatives are built: loops keep states that a result does not need (see pass/prune.c)
    bool ahead;        // products with a matrix are computed for strips of iterations (pass/ahead.c)
    bool stored;       // traces have become arrays that loops fill (store.c)
    Bounds bounds;
    bool fast;                // any rule of the reals, even one that loses digits where terms cancel (--fp=fast)
    bool strict;              // keep IEEE exceptions: 0*e is not 0 (--fp=precise)
    bool debug_nan;           // an operation that makes a NaN of operands that are none is an error (--debug-nan)
    int64_t tape_limit;       // bytes for the trace of a loop (--tape-limit); 0: as much as it needs
    int64_t tape_whole;       // without a limit, a trace of at most so many bytes is kept as a whole
    bool strict_nan;          // derivatives at singular points are what the formula says, not 0 (--strict-nan)
    Explain *explain;         // where decisions are noted; NULL: nowhere
    Wish *wishes, *last_wish; // all of them, in order
    WholeTrace *whole;        // all of them, each loop once
    int entry;                // number of the function that is worked at: its wishes are not those of another
    struct Rules *rules;      // which rules apply, and what they did (ir/rule.h); NULL: all, and nobody asks
    Span span;                // given to new nodes
    struct IrTables *tables;  // interning (ir.c)
    struct Map *derived;      // results of derivatives, with what they demand, or themselves for nothing (ir_derived)
    uint32_t next_node, next_var, next_param;
};

// New nodes come from where e does, if that is known. Returns where they came from before.
static inline Span ir_from(Ir *m, const Node *e) {
    Span before = m->span;
    if (e->span.src) m->span = e->span;
    return before;
}

// The value of no variables.
extern const VarSet *const varset_empty;
bool varset_has(const VarSet *s, const Var *v);
bool varset_meets(const VarSet *a, const VarSet *b); // not disjoint
const VarSet *varset_union(Ir *m, const VarSet *a, const VarSet *b);
const VarSet *varset_remove(Ir *m, const VarSet *s, const Var *v);
const VarSet *varset_of(Ir *m, const Var *v); // it alone
static inline bool node_has_var(const Node *n, const Var *v) { return varset_has(n->fv, v); }

Ir *ir_new(Arena *arena);
void ir_delete(Ir *m); // frees the tables; nodes live in the arena

// ---- wishes (wish.c)
Wish *wish_new(Ir *m, WishKind kind, int64_t number, Span span);
void wishes_join(Wishes *to, const Wishes *from); // two loops have become one
// The work of a loop has gone to another; what is said of its value stays with the value.
void wishes_pass_on(Wishes *to, const Wishes *from);
bool wishes_agree(const Wishes *a, const Wishes *b);
bool wishes_any(const Wishes *w);
void wish_follow(Wish *w);
void wish_refuse(Wish *w, const char *why);
const char *wish_refused(const Ir *m, Wish *w); // why it was not followed; NULL: it was

// ---- leaves
Node *ir_int(Ir *m, int64_t value);
Node *ir_bool(Ir *m, bool value);
Node *ir_real(Ir *m, Kind kind, double value); // a literal of kind Float, Double (or Int, if integral)
Node *ir_zero(Ir *m, Kind kind);
Node *ir_input(Ir *m, int number, const char *name, Kind kind, int rank, Node **shape);
Node *ir_size(Ir *m, int number, const char *name);       // an Int input that is an array's extent: never negative
Node *ir_param(Ir *m, Kind kind, int rank, Node **shape); // fresh
Var *ir_index(Ir *m, const char *name, Node *extent);     // fresh index variable
Var *ir_index_like(Ir *m, const Var *v, Node *extent);    // the same, which takes v's place: with its name and wishes
Var *ir_state(Ir *m, const char *name, Kind kind, int rank, Node **shape);
static inline Node *ir_var(const Var *v) { return v->node; }

// ---- scalars
// An elementwise operation; b is NULL for arity 1. Comparison results are Bool. gt/ge are lt/le with swapped operands.
Node *ir_op(Ir *m, Op op, Node *a, Node *b);
#define OP(name, arity, ...) IR_BUILDER_##arity(name)
#define IR_BUILDER_1(name)                                                                                                         \
    static inline Node *ir_##name(Ir *m, Node *a) { return ir_op(m, OP_##name, a, NULL); }
#define IR_BUILDER_2(name)                                                                                                         \
    static inline Node *ir_##name(Ir *m, Node *a, Node *b) { return ir_op(m, OP_##name, a, b); }
#define HELD(name, arity, ...) IR_BUILDER_##arity(name)
#include "ir/ops.def"
// Int/Bool -> floating, floating -> Int (towards zero), Float <-> Double, Int32 <-> Int (an error unless it fits). Of an
// array: elementwise.
Node *ir_conv(Ir *m, Kind to, Node *a);
extern const char ir_int32_text[]; // of that error; its value is the Int
Node *ir_stop(Ir *m, Node *a);     // also of an array
// Result number `result` of a C function.
Node *ir_extern(Ir *m, Extern *ext, int result, int n, Node **args);
// Another result of the call of which e is one.
static inline Node *ir_extern_result(Ir *m, Node *e, int result) {
    return ir_extern(m, e->u.ext, result, e->nargs, e->args);
}
// The operands that C gets are those from the first to before the end; the extents of result k begin at its place.
static inline int ir_extern_first(const Node *e) { return e->u.ext->signature != NULL; }
static inline int ir_extern_end(const Node *e) { return e->nargs - e->u.ext->nextents; }
int ir_extern_extents(const Node *e, int k);
// Does C write its results to memory, and give a status?
static inline bool ir_extern_fills(const Extern *x) { return x->nextents > 0 || x->nresults > 1; }
Node *ir_select(Ir *m, Node *c, Node *a, Node *b);                 // a, b of the same kind and rank
Node *ir_bracket(Ir *m, Node *p, Node *e);                         // any numeric kind and rank
Node *ir_assert(Ir *m, Node *cond, const char *text, Node *value); // any rank
// Assertions of ir_evaluated stand around arrays as a whole. (demands in build.c)
// True, once all of e, of any kind and rank, have been evaluated: an error where one of them is one. (evaluated.c)
Node *ir_evaluated(Ir *m, int n, Node *const *e);
// Notes that e, the result of a derivative, fails only where `check`, a value of ir_evaluated, does: no more of it is checked.
void ir_derived(Ir *m, Node *e, Node *check);
// e, of any rank, once `check`, a value of ir_evaluated, has been evaluated.
Node *ir_demand(Ir *m, Node *check, Node *e);
// e, the Int or Bool that an operation of the Ints a and b (NULL: of a alone) was simplified to, once what is not in it
// any more has been evaluated: x[k] - x[k] and x[k] < x[k] + 1 fail where x[k] does. What the compiler computes
// itself, of indices that it has proved or that guards are about, needs none of this.
Node *ir_keep_errors(Ir *m, Node *e, Node *a, Node *b);
static inline bool ir_is_demand(const Node *e) { return e->op == OP_assert && e->args[0]->op == OP_evaluated; }
int ir_assert_code(const Node *e);                                 // the FSM_ERROR_ of an assertion that does not hold
extern const char ir_tape_text[]; // of the error that a trace needs more than its limit; values: its bytes, the limit
// The same with n Int values, the operands after the second: each " = %d" of the text shows the next of them.
Node *ir_assert_values(Ir *m, Node *cond, const char *text, Node *value, int n, Node *const *values);
const char *ir_assert_text(Arena *a, const Node *e); // without its values

// ---- arrays
// a[idx0, idx1, …]; n may be smaller than the rank (gives an array), n = 0 gives a.
Node *ir_at(Ir *m, Node *a, int n, Node **idx);
static inline Node *ir_at1(Ir *m, Node *a, Node *i) { return ir_at(m, a, 1, &i); }
Node *ir_gen(Ir *m, Var *v, Node *body);
Node *ir_sum(Ir *m, Var *v, Node *body);    // body scalar or array (then elementwise)
Node *ir_argmin(Ir *m, Var *v, Node *body); // Int; -1 if the range is empty
Node *ir_argmax(Ir *m, Var *v, Node *body); // NaN counts as the extreme value: the first NaN wins
// gen, sum, argmin or argmax as it stands, no rules. A sum of arrays is kept as such: the form in which the passes that
// plan loops say that the summation is to be outermost.
Node *ir_binder_plain(Ir *m, Op op, Var *v, Node *body);
// An array literal of constant extents; elems in row-major order, all scalars of `kind`.
Node *ir_pack(Ir *m, Kind kind, int rank, const int64_t *extents, Node **elems);
// The elementwise sum of two values of equal kind and rank.
Node *ir_plus(Ir *m, Node *a, Node *b);
// An array of zeros with the shape of a (or the scalar zero).
Node *ir_zeros_like(Ir *m, Node *a);

// ---- loops
// states, inits and steps have n entries; steps are written in terms of the states (and index). Result: the loop, whose
// states after the last iteration are ir_final(loop, k). Steps keep kind, rank and shape of their states.
Node *ir_fold(Ir *m, Var *index, int n, Var **states, Node **inits, Node **steps);
Node *ir_while(Ir *m, int n, Var **states, Node **inits, Node *cond, Node **steps);
Node *ir_final(Ir *m, Node *loop, int k);
// *a and *b, which do not mention s, with e = *a * s + *b; NULL for zero. False if it is not seen that there are any.
bool ir_affine(Ir *m, Node *e, const Var *s, Node **a, Node **b);
// The step of state k of a while loop in an iteration that is not the last.
Node *ir_while_going(Ir *m, Node *loop, int k);
// State k after a while loop in terms of its ir_count, where that is a closed form; else NULL.
Node *ir_while_closed(Ir *m, Node *loop, int k);
// The same with outputs, whose shapes must not depend on the loop's variables. l gives index (or NULL), n, state, nout.
Node *ir_fold_out(Ir *m, const Loop *l, Node **inits, Node **steps, Node **outputs);
Node *ir_while_out(Ir *m, const Loop *l, Node **inits, Node *cond, Node **steps, Node **outputs);
// A loop like `loop` with the variables of l, which has as many states, and with other operands, in its order.
Node *ir_loop_like(Ir *m, const Node *loop, const Loop *l, Node **args);
// The values of output k, an array with one element or row for each iteration: its first extent is ir_count.
Node *ir_trace(Ir *m, Node *loop, int k);
Node *ir_trips(Ir *m, Node *extent); // how often a loop over the extent runs: never less than 0
// Marks the states that the marked results and outputs of the loop depend on.
void ir_loop_needs(Ir *m, const Node *loop, const bool *result, const bool *out, bool *need);
// The loop with the states and outputs that the marked results and outputs depend on; at[k] and of[q] get their places.
Node *ir_loop_part(Ir *m, Node *loop, const bool *result, const bool *out, int *at, int *of);
// The number of iterations: never negative.
Node *ir_count(Ir *m, Node *loop);
// State k after a fold whose iterations keep it or replace it by a value that depends on no state: that value in the last
// iteration that replaces it, which another state remembers. NULL if it is no such state.
Node *ir_last_replaced(Ir *m, Node *loop, int k);

// ---- functions with derivatives of their own
// inits gives the loop's n states their values, bodies has the loop's ny results and those of the rule.
Node *ir_custom(Ir *m, const Loop *loop, Node **inits, Node **bodies);
Node *ir_result(Ir *m, Node *custom, int k);
// The number of results of the first rule, and of all of them.
static inline int ir_custom_rule(const Loop *l) { return l->adjoint ? l->nx : l->ny; }
static inline int ir_custom_rules(const Loop *l) { return l->both ? l->nx + l->ny : ir_custom_rule(l); }
// e without what is there only while derivatives are built: every result of a custom is replaced by its value, and
// every HELD operation by its form. (held.c)
Node *ir_expand(Ir *m, Node *e);

// ---- working with terms
// Replaces leaves (var, param, input nodes) `from[k]` by `to[k]` (same kind and rank), everywhere at once, renaming bound
// variables where they would capture; rebuilds with the builders above, so rules apply again.
Node *ir_subst(Ir *m, Node *e, int n, Node **from, Node **to);
static inline Node *ir_subst1(Ir *m, Node *e, Node *from, Node *to) { return ir_subst(m, e, 1, &from, &to); }
// Replaces the term `from`, wherever it stands, by `to`, whose variables mean what they mean there.
Node *ir_replace(Ir *m, Node *e, Node *from, Node *to);
void ir_replace_in(Ir *m, int n, Node **roots, Node *from, Node *to); // in each of the roots
// e with its operands replaced by `args` (same number): goes through the builder of its kind. Binders keep their variable.
Node *ir_rebuild(Ir *m, Node *e, Node **args);
// e with f applied to each operand; e itself if none changes.
Node *ir_map(Ir *m, Node *e, Node *(*f)(Node *e, void *data), void *data);
// e with change applied to every value in it but leaves and loops, extents included, operands first.
Node *ir_change(Ir *m, Node *e, Node *(*change)(Ir *m, Node *e, void *data), void *data);
// The same for many values one after the other: what they share is rewritten once. Ends with ir_rewriting_end.
typedef struct Rewriting Rewriting;
Rewriting *ir_substituting(Ir *m, int n, Node **from, Node **to);
Rewriting *ir_replacing(Ir *m, int n, Node **from, Node **to);
Rewriting *ir_copying(Ir *m, int n, Node **from, Node **to); // ir_copy; `from` of the other Ir, `to` of m
void ir_replacing_too(Rewriting *w, Node *from, Node *to); // also if the term has been rewritten
Rewriting *ir_changing(Ir *m, const Var *v, Node *(*change)(Ir *m, Node *e, void *data), void *data); // only what mentions v
Node *ir_rewrite(Rewriting *w, Node *e);
void ir_rewriting_end(Rewriting *w);
// The loop with an array for each output q as its state n + q, which its iterations fill.
Node *ir_loop_filled(Ir *m, Node *loop);
// A while loop without outputs, with the number of its iterations as its last state; that state after the loop.
Node *ir_loop_counted(Ir *m, Node *loop);
Node *ir_count_of(Ir *m, Node *counted);
// e with the rows of a trace in another order as an array that the loop fills in that order.
Node *ir_reordered(Ir *m, Node *e);
// e without traces and counts: loops fill arrays, and count (store.c). only: without this trace alone; NULL: without any.
Node *ir_stored(Ir *m, Node *e, Node *only);
// e rebuilt bottom-up by the builders of m with fresh bound variables; also copies from one Ir into another.
Node *ir_copy(Ir *m, Node *e);
// Structural equality up to bound names across one Ir is pointer equality; where names are kept (Ir.planning), it is this.
bool ir_equal(const Node *a, const Node *b);
bool ir_reaches(Node *e, Node *target);                    // is target e or a part of it?
bool ir_reaches_any(Node *e, int n, Node *const *targets); // one of them?
bool ir_binds(const Node *e, const Var *v);                // is v bound by a binder or loop inside e?
bool ir_is_lit(const Node *e, double value);               // a numeric literal equal to value
bool ir_is_zero(const Node *e);
bool ir_is_int_lit(const Node *e, int64_t *value);
static inline bool ir_is_binder(const Node *e) {
    return e->op == OP_gen || e->op == OP_sum || e->op == OP_argmin || e->op == OP_argmax;
}
static inline bool ir_is_loop(const Node *e) { return e->op == OP_fold || e->op == OP_while; }
static inline Loop *ir_loop(const Node *e) { return e->u.loop; }
static inline Node *loop_init(const Node *e, int k) { return e->args[k]; }
static inline Node *loop_cond(const Node *e) { return e->args[e->u.loop->n]; }             // while
static inline int loop_steps(const Node *e) { return e->u.loop->n + (e->op == OP_while); } // where the steps begin
static inline Node *loop_step(const Node *e, int k) { return e->args[loop_steps(e) + k]; }
static inline Node *loop_output(const Node *e, int k) { return e->args[loop_steps(e) + e->u.loop->n + k]; }
// Operand number k of e, where bodies of binders, extents of bound variables and shapes of inputs count as operands;
// NULL: it has no more.
Node *ir_operand(const Node *e, int k);
// Calls visit once for every node reachable from the roots, operands in the sense of ir_operand before users.
void ir_walk(int n, Node *const *roots, void (*visit)(Node *e, void *data), void *data);

// The conjuncts of p, in order; false if there are more than max.
bool ir_conjuncts(Node *p, Node **out, int *n, int max);
// If p says v = a for an Int v that a does not mention: a; otherwise NULL.
Node *ir_solve(Ir *m, Node *p, const Var *v);
// If body is [p]*e with conjuncts that bound v linearly: a variable w over the narrower range, *lo such that v = w + lo,
// and *rest, the body in terms of w without those conjuncts. NULL if nothing bounds v.
Var *ir_narrow(Ir *m, Var *v, Node *body, Node **lo, Node **rest);
// The same, also by conjuncts that bound a multiple of v, as i < 2 * v + 2 does; these stay conditions.
Var *ir_narrow_all(Ir *m, Var *v, Node *body, Node **lo, Node **rest);

// If e, a value with indices v, is zero except where some of them have values computed without any of them (sums around a
// bracket with such equalities): fixed[k] gets that value or NULL. Lowering scatters such terms.
bool ir_scatters(Ir *m, Node *e, Var *const *v, int n, Node **fixed);
// Is e a sum under a condition that says nothing of the indices v? Such conditions may stand between sums that scatter.
bool ir_guards_sums(const Node *e, Var *const *v, int n);
// The indices (at most 16) of a nest of gens and the terms of its scalar body, a number; 0 if it has none.
int ir_terms(Ir *m, Node *e, Var **v, int *n, Node ***term);
// Does the array e have terms that scatter?
bool ir_has_scatter(Ir *m, Node *e);

// ---- functions
// The structure of a parameter or result as the user wrote it; its leaves (depth first; an array of tuples is a tuple of
// arrays) are consecutive inputs or outputs of the function.
typedef struct SigType {
    enum { SIG_SCALAR, SIG_ARRAY, SIG_TUPLE } form;
    Kind kind;    // scalar
    Node *extent; // array (Int node over the function's inputs)
    int nparts;   // tuple: parts; array: 1 (the element)
    struct SigType **parts;
} SigType;
typedef struct SigParam {
    const char *name;
    SigType *type;
    int first, count; // its inputs
} SigParam;
// A condition on the arguments, checked on entry: sizes that must agree, extents that must not be negative.
typedef struct Check {
    Node *cond;       // Bool over inputs
    const char *text; // printf-like text in which each "%d" stands for the next of values
    int nvalues;
    Node **values; // Int
    int code;      // FSM_ERROR_… of fsmc/runtime.h
    Span span;
} Check;
typedef struct Func {
    const char *name, *doc;
    Ir *ir;
    int ninputs;
    Node **inputs; // all OP_input, numbered in order; sizes first
    int nsizes;    // how many of them are sizes bound by parameters' types (Int scalars, not parameters of their own)
    int nparams;
    SigParam *params;
    int noutputs, ndemands;
    Node **outputs; // and then the demands: Bools that are evaluated for the errors that they raise
    const char **output_names; // or NULL entries
    SigType *result;
    int nchecks;
    Check *checks;
    int order; // of the derivatives in the program's text; 0: there are none
    Span span;
} Func;
// The outputs and the demands: what a pass goes over.
static inline int func_roots(const Func *f) { return f->noutputs + f->ndemands; }

// ---- text (print.c, read.c, verify.c)
// A node in notes to the user: its source text in quotes, or "a value".
const char *ir_quote(Ir *m, const Node *e);
// One function as text; reads back with ir_read to the same nodes.
void ir_print(Str *out, const Func *f);
// Parts of it, for text that has something else in place of values: `word name(inputs) -> outputs`; and lines on what arguments and
// results are, among them the checks and, after `extents K`, those of an output whose type does not state them all. places: where
// checks and values that may fail come from is told.
struct PlaceWriter;
void ir_print_signature(Str *out, const char *word, const Func *f);
void ir_print_facts(Str *out, const Func *f, struct PlaceWriter *places);
void ir_print_value(Str *out, Node *e); // for debugging and error messages: on one line
// An Int value as a message shows it, in F̃: `n - 1`, `k[0]`; of sums and loops, where in the source they are. (size_text.c)
void ir_print_size(Str *out, Node *e);
void ir_print_extent(Str *out, const Node *e); // as it can be read
bool ir_size_is_plain(const Node *e); // is all of it F̃?
// Reads one or more functions; on error reports to diag and returns NULL. *count gets the number.
Func **ir_read(Ir *m, Diag *diag, const Source *src, int *count);
// Checks every invariant stated above; calls fatal_bug naming the pass in diag_current_pass if one is broken.
void ir_verify(const Func *f);

// ---- polynomials (poly.c): the normal form of Int arithmetic
typedef struct Term {
    int64_t coeff;
    int n; // degree
    Node **
        atom; // sorted by id, repeated for powers; an atom is any Int node but add, sub, neg, lit, and products that are not opaque
} Term;
typedef struct Poly {
    int n;
    Term *term; // sorted; no zero coefficients; equal polynomials have equal arrays
} Poly;
// Polynomials live in Ir.polys, until what they were made in returns: ir_op, a proof, or what marks that arena itself.
Poly poly_of(Ir *m, Node *e);
Node *poly_node(Ir *m, Poly p); // the canonical Int node
Poly poly_add(Ir *m, Poly a, Poly b);
Poly poly_scale(Ir *m, Poly a, int64_t k);
Poly poly_mul(Ir *m, Poly a, Poly b);
bool poly_const(Poly p, int64_t *value);
bool poly_huge(Poly p); // has a coefficient so large that arithmetic may overflow: no conclusions from its sign
// p = c*v + rest with v in neither c nor rest's monomials nor inside an atom; false if v occurs otherwise.
bool poly_linear(Ir *m, Poly p, const Node *v, int64_t *c, Poly *rest);
// x = q * y + r, where r is what no multiple of y can be seen in, for a literal y of at least 1, or one atom.
void poly_divide(Ir *m, Poly x, Node *y, Poly *q, Poly *r);
// p with a bound of each atom in its place that makes p less: `bound` gives the greatest value of one, or the least;
// NULL: it stays.
typedef Node *PolyBound(Ir *m, Node *atom, bool greatest, void *data);
Poly poly_with_bounds(Ir *m, Poly p, PolyBound *bound, void *data);
int64_t ir_least_size(const Ir *m, int number); // 0, or what Ir.positive and Ir.least say of a size
// What a version of a function assumes of its arguments: that an Int which is computed of them, without wrapping
// around, is within these bounds. (assumed.c)
typedef struct Assumption {
    Node *e;        // over the inputs: see ir_may_be_assumed
    Node *computed; // as e, but it never fails; other assumptions say that e does not
    int64_t least, most;
    bool says;     // more than Ir.positive does, and what proofs need
    bool measured; // it is of elements of arguments
} Assumption;
// All that f, for which Ir.positive is, assumes. Returns how many there are.
int ir_assumptions(const Func *f, Assumption **out);
bool ir_assumes_more(const Func *f); // than that no size is 0
struct Tensor;
bool ir_is_as_assumed(const Func *f, const struct Tensor *inputs);
// Is e a short Int over inputs that are Ints? Where it divides, it is assumed besides that it divides by at least 1.
bool ir_may_be_assumed(const Node *e);
// That e is not negative; there is room.
static inline void ir_assume(Ir *m, Node *e) { m->assumed[m->nassumed++] = e; }
// The numbers of inputs and of what is measured of them are less than this.
static inline int ir_argument_numbers(const Func *f) { return f->ninputs + 2 * MOST_MEASURED; }
// The elements of `array`, an argument, that have these indices (-1: all). number: of the least of them; the greatest
// has the next. natural: none is negative.
Measured ir_measured(Ir *m, int number, const Node *array, const int64_t *at, bool natural);
// Literals, then all of some dimensions, then literals: the elements lie as far from each other.
bool ir_may_be_measured(int rank, const int64_t *at);
void ir_measure(Ir *m, Measured x); // proofs may use it, and what Ir.least says of it; there is room
// The least, or the greatest, of the elements of which e is one; NULL: it is none that is measured.
Node *ir_measured_bound(const Ir *m, const Node *e, bool greatest);
// The indexing that e, an Int, is if it is an element of an argument; else NULL.
const Node *ir_argument_element(const Node *e);
// Is p >= 0 for all values of the index variables in their ranges and all sizes of at least ir_least_size, given that
// each of the facts is >= 0? False: not known.
bool poly_nonneg(Ir *m, Poly p);
bool poly_nonneg_given(Ir *m, Poly p, int nfacts, const Poly *facts);
// What the truth of condition p says about Int values, as polynomials >= 0; returns how many (at most max).
int poly_facts(Ir *m, Node *p, Poly *out, int max);
// The text of the error that an index is out of range; its values are the index and the number of elements, or none.
const char *ir_bounds_text(const Node *index, int *nvalues);
// Could e, an elementwise operation, be infinite or NaN though its operands are finite and not large?
bool ir_has_pole(const Node *e);
// Between which numbers a floating value is if it is one (range.c).
typedef struct Range {
    double low, high;
} Range;
Range ir_range(const Node *e);
// May e be infinite or NaN although the arguments and states that it mentions are finite and not large?
bool ir_may_be_infinite(const Node *e);
// Could e be a NaN though its operands are none? And the text of that error, with the number of its values: the operands.
bool ir_makes_nan(const Node *e);
const char *ir_nan_text(Ir *m, const Node *e, int *nvalues);
extern const char ir_nan_sum[]; // of a sum
// Can evaluating e not fail where the facts hold?
bool ir_safe_given(Ir *m, Node *e, int nfacts, const Poly *facts);
// Is 0 <= i < n, likewise?
// An element of an array as it is computed, where the array is said by its elements; NULL: e is something else. Not
// that the indices are in range.
Node *ir_computed(Ir *m, Node *e);
bool ir_in_range(Ir *m, Node *i, Node *n);
// The greatest value of the Int e, or the least, that it has for any values of these index variables; a bound of it
// where it is not linear in each. NULL: none is seen. (farthest.c)
Node *ir_farthest(Ir *m, Node *e, const VarSet *of, bool greatest);
// That e has a value says that the ranges of its free index variables are not empty: polynomials >= 0, at most max.
int ir_range_facts(Ir *m, const Node *e, Poly *out, int max);
// Is 0 <= idx[k] < n wherever all `count` indices have values? A variable in one of them says that its range is not
// empty: with a matrix M of n rows, M[i, 0] is in range if i runs over n.
bool ir_index_in_range(Ir *m, int count, Node *const *idx, int k, Node *n);
// The element that e reads of a gen, if computing it costs nothing; else NULL. The indices are not checked.
Node *ir_free_element(Ir *m, Node *e);

#endif
