// What the files of the reference interpreter share: how it works is said in interp.c.
#ifndef IR_INTERP_INTERNAL_H
#define IR_INTERP_INTERNAL_H

#include "ir/interp.h"
#include "fsmc/runtime.h"
#include "lower/tree.h"
#include "support/vec.h"

typedef enum Status { READY, WAIT, FAIL } Status;

// Evaluates a request; leaves the calling function unless the value is there.
#define TRY(request)                                                                                                               \
    do {                                                                                                                           \
        Status status_ = (request);                                                                                                \
        if (status_ != READY) return status_;                                                                                      \
    } while (0)

typedef enum Form {
    A_INPUT, // an argument
    A_TABLE, // a gen: elements filled by need
    A_PACK,  // an array literal: its elements are nodes
    A_FULL   // the value of a loop's state (of rank 0 too), or of a sum of arrays
} Form;

typedef struct Array {
    struct Array *next; // all arrays of the interpreter
    Form form;
    Kind kind;
    int rank;
    int64_t *shape;
    int64_t count, cap;
    const Tensor *tensor; // A_INPUT
    Node *node;           // A_TABLE, A_PACK
    Scalar *data;         // A_TABLE, A_FULL
    uint32_t *mark;       // A_TABLE: the generation an element was filled in. A_FULL: 0, or 1 + the number of its failure
    uint32_t generation;
    uint32_t broken; // A_FULL: 1 + the number of the failure that left it without a shape
} Array;

// What is known of a node; vars[] are the values of its free variables when it was computed.
typedef struct Slot {
    bool valid;
    bool nil;      // bracket: its condition is false; sum: no term's condition holds
    uint64_t seen; // when it was last found valid
    Scalar value;
    Array *array;
    bool *needed;       // loops: the states that anything reads, directly or through other states
    Array **cur, **now; // loops: the states, and those of the next iteration
    bool *traced;       // loops: the outputs that anything reads
    Array **row, **log; // loops: the outputs in this iteration, and in all so far
    int64_t vars[];
} Slot;

typedef struct Binding {
    bool bound;
    int64_t key; // the index, or a number that identifies the state's value
    Array *state;
} Binding;

typedef struct Trail {
    uint32_t var;
    Binding old;
} Trail;

typedef enum FrameForm {
    F_NODE,    // computes a node
    F_ELEMENT, // fills element i of a table
    F_FORCE    // copies the value of a node into an A_FULL array; catches failures
} FrameForm;

typedef struct Frame {
    FrameForm form;
    int phase, k;
    int trail; // bindings made since are undone when the frame ends
    Node *e;
    Array *array, *source;
    int64_t i, n, best, terms;
    Scalar acc;
    bool failed; // F_FORCE: the value asked for failed
} Frame;

typedef struct Failure {
    int code;
    const char *text;
} Failure;

typedef struct Interp {
    Arena *arena; // lives as long as the interpreter
    const Func *func;
    const Tensor *inputs;
    Array **input;
    Array *arrays;
    Slot **slot;  // by node id
    Binding *var; // by variable id
    VEC(Frame) frames;
    VEC(Trail) trail;
    VEC(Failure) failures;
    Failure failure; // of the frame that just failed
    uint64_t clock;  // advances whenever a variable changes
    int64_t version; // of loop states
    InterpMode mode;
    bool doubtful; // rounding may have decided a comparison
    int64_t steps;
    Counts counts;
} Interp;

// ---- failures and limits (interp_needs.c)

// The run ends, unless a loop's state catches it, with this code and text.
Status interp_fail(Interp *m, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// The same for a part of the program, whose place goes before the text.
Status interp_fail_at(Interp *m, Span at, int code, const char *text);
// Fails as the failure with this number did; notes the failure and returns its number.
Status interp_fail_again(Interp *m, uint32_t number);
uint32_t interp_keep_failure(Interp *m);
// To be called in everything that repeats, and with the sizes of arrays.
Status interp_spend(Interp *m, int64_t steps);
// The sizes of terms, where they are asked for (ir/terms.h).
Scalar interp_with_terms(const Interp *m, const Node *e, Scalar x);
void interp_note_doubt(Interp *m, double x, double terms);

// ---- variables, cached values, frames and arrays (interp_needs.c)

void interp_set_var(Interp *m, const Var *v, int64_t key, Array *state);
void interp_bind(Interp *m, const Var *v, int64_t key, Array *state); // until interp_unbind to the trail's length
void interp_unbind(Interp *m, int mark);
Slot *interp_slot(Interp *m, const Node *e);
bool slot_is_valid(Interp *m, const Node *e, Slot *s);
void slot_set_valid(Interp *m, const Node *e, Slot *s);
Frame *interp_push(Interp *m, FrameForm form, Node *e);
Array *interp_array_new(Interp *m, Form form, Kind kind, int rank);
// Gives a shape to an array and forgets its elements.
Status interp_array_reset(Interp *m, Array *a, const int64_t *shape);

// ---- requests: READY with *out set, WAIT after pushing the frame that computes it, or FAIL (interp_needs.c)

Status need_scalar(Interp *m, Node *e, Scalar *out);
Status need_element(Interp *m, Array *a, int64_t i, Scalar *out);
Status need_array(Interp *m, Node *e, Array **out);

// ---- what nodes compute. A frame's slot is the one of its node. (interp_eval.c)

Status eval_op(Interp *m, Node *e, Scalar *out);
Status eval_operands(Interp *m, Frame *f); // all of them, arrays as a whole
Status eval_extern(Interp *m, Frame *f, Slot *s, Scalar *out);
Status eval_at(Interp *m, Node *e, Scalar *out);
Status eval_failed_assert(Interp *m, Node *e);
Status eval_bracket(Interp *m, Node *e, Slot *s, Scalar *out);
Status eval_sum(Interp *m, Frame *f, Scalar *out);
Status eval_arg(Interp *m, Frame *f, Scalar *out);
Status eval_array(Interp *m, Node *e, Slot *s);
Status eval_array_sum(Interp *m, Frame *f, Slot *s);
Status eval_element(Interp *m, Frame *f);

// ---- loops (interp_loops.c)

Status eval_force(Interp *m, Frame *f);
Status eval_loop(Interp *m, Frame *f, Slot *s);
// Marks state k, or the states that e is computed from, and those that these are computed from.
void mark_state(const Node *loop, bool *needed, int k);
void mark_states(const Node *loop, bool *needed, const Node *e);

#endif
