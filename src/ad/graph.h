// What both modes of differentiation share: the part of the value graph that carries derivatives, in an order fit for
// propagation, and the local derivatives of elementwise operations.
#ifndef AD_GRAPH_H
#define AD_GRAPH_H

#include "ad/ad.h"
#include "support/map.h"

// How evaluating a value can go wrong where the program does not need it (evaluation is by need, so a derivative must
// not evaluate it there either). A set: of two values, it is that of either.
typedef enum AdRisk {
    AD_SAFE = 0,     // finite for finite operands
    AD_SINGULAR = 1, // may be infinite or NaN
    AD_EMPTY = 2,    // may raise an error where a size is 0: AdGraph.filled says that none is
    AD_RAISES = 4,   // may raise an error
    AD_LONG = 8      // may take any time: a `while` loop
} AdRisk;

static inline AdRisk ad_either(AdRisk a, AdRisk b) { return (AdRisk)(a | b); }
static inline AdRisk ad_raises(AdRisk a) { return (AdRisk)(a & (AD_EMPTY | AD_RAISES)); }

// A floating-point value or loop of the graph.
typedef struct AdNode {
    Node *e;
    Node **args; // operands of e, in which variables bound by e and free in the surroundings are renamed apart
    Var *var;    // gen, sum: the bound variable of args
    Loop *loop;  // fold, while, custom: the bound variables of args
    int order;   // position in AdGraph.order
    bool is_x;   // one of the values to differentiate by
    bool active; // depends on one of them through floating-point values
    AdRisk risk;
} AdNode;

// Int values that have been evaluated wherever a part of the program is: a loop in one of them has ended.
typedef struct AdGiven {
    Node *e;
    const struct AdGiven *up; // more
} AdGiven;

// States of the loops around whose computation may fail, though it does not show as long as they are variables.
typedef struct AdStates {
    const struct AdStates *up;
    int n;
    const Var **state;
    AdRisk *risk;
} AdStates;

typedef struct AdGraph {
    Ir *m;
    const AdGiven *given;
    const AdStates *states;
    Node *filled;        // Bool: no size of what is differentiated is 0
    const VarSet *outer; // variables of the surroundings: none of them is bound by an operand list
    AdNode **order;      // operands before users
    int n, cap;
    Map nodes;     // Node -> AdNode
    Map renamed;   // Var -> Var
    Map calls;     // result 0 of a C function -> AdNode of the first of its results in the order
    AdError error; // its text is NULL if there is none
} AdGraph;

// The graph below the y's, cut at the x's; values of kind Int and Bool are not part of it. Entries live in the Ir's
// arena; ad_graph_free frees the tables.
void ad_graph_build(AdGraph *g, Ir *m, int ny, Node *const *y, int nx, Node *const *x, const VarSet *outer);
void ad_graph_free(AdGraph *g);
// Sets the risks, given those of computing the x's. (risk.c)
void ad_graph_risks(AdGraph *g, const AdGiven *given, int nx, Node *const *x, const AdRisk *risk);
// That of evaluating e, of any kind, as far as errors go: its own, and also those of states that it reads.
AdRisk ad_risk_of_failing(const Node *e);
AdRisk ad_risk_of_reading(const AdStates *states, const Node *e);
// That no size that the values mention is 0. (risk.c)
Node *ad_filled(Ir *m, int n, Node *const *e);
// Those of some of the graph's values, where more is given.
void ad_risks_given(const AdGraph *g, const AdGiven *given, int n, Node *const *e, AdRisk *risk);
// The k-th operand of a from *k on that carries derivatives, or a state of a loop; NULL after the last.
Node *ad_next_operand(const AdNode *a, int *k);
// e without the demands of derivatives in it: a derivative of e demands e as a whole, these among it. (smooth.c)
Node *ad_undemanded(Ir *m, Node *e);
// The y's without demands and in forms without kinks: what is differentiated. (smooth.c)
Node **ad_smooth_all(Ir *m, int n, Node *const *y);
// The logarithm e of a sum of exponentials, or the quotient e by one, such that it does not overflow where these do; e
// itself where there is no such sum. (shift.c)
Node *ad_shifted_log(Ir *m, Node *e);
Node *ad_shifted_quotient(Ir *m, Node *e);
// The y's with closed forms instead of loops. (elevate.c)
Node **ad_elevate(Ir *m, int n, Node *const *y);
// The entry of e, or NULL if it is not part of the graph.
AdNode *ad_graph_find(const AdGraph *g, const Node *e);
// The first in the order of the results of the call of which a, an extern, is one: it stands for the call.
AdNode *ad_graph_call(const AdGraph *g, const AdNode *a);
// How many of the results before k are floating: those that have tangents and adjoints.
int ad_extern_floats(const Extern *x, int k);

// The reverse of a part of the program: like ad_reverse, and where each value is needed.
typedef struct AdBody {
    const AdGiven *given;
    const AdStates *states;
    Node *filled;    // as in AdGraph
    int ny, nx;
    Node **y, **y_adj;
    Node **y_needed; // where y_adj matters: Bool of the shape of y, or NULL for everywhere
    Node **x;
    AdRisk *risk;    // of computing x
    Node **x_adj;    // set; NULL for zero
    Node **x_needed; // set, unless x is safe: where its adjoint matters, likewise
} AdBody;
bool ad_reverse_body(Ir *m, const AdBody *b, AdError *error);

// The reverse of a loop.
typedef struct AdReversal {
    const AdNode *loop;
    Node **result_adj;    // of its states after it, then of its outputs; NULL for zero
    Node **result_needed; // where these matter, as in AdBody
    int n;
    Node **capture;                       // active values of the surroundings that its body uses
    Node **init_adj, **init_needed;       // set: of the initial values; NULL for zero, and as in AdBody
    Node **capture_adj, **capture_needed; // set, likewise
} AdReversal;
void ad_captures(const AdGraph *g, AdReversal *r); // sets n and capture
bool ad_reverse_loop(const AdGraph *g, AdReversal *r, AdError *error);

// Where the adjoint of a loop's state matters: a state of the reverse. (needs.c)
typedef struct AdNeed {
    enum { NEED_SAFE, NEED_ALWAYS, NEED_ALIKE, NEED_COUNT } how; // not kept; everywhere; one Bool; an Int for each element
    Var *state;                                                  // of the last two
    Node *init, *step;
    Node *mark; // what the state says, Bool of the shape of the loop's state; NULL: everywhere
    int at;     // for its user
} AdNeed;
// For state s, of which `needed` says where its adjoint matters after the loop. Makes the state, and guesses the simplest
// if `how` is none of the last two.
void ad_need_open(Ir *m, AdNeed *need, const Var *s, Node *needed);
// Sets the step: the reverse of the body needs the state there. False if the guess was wrong; then `how` is another.
bool ad_need_step(Ir *m, AdNeed *need, const Var *s, Node *needed);
Node *ad_need_final(Ir *m, const AdNeed *need, const Var *s, Node *final);
// A Bool for each element of `like`. The other way round: NULL if they are not the same, or may fail.
Node *ad_need_all(Ir *m, const Node *like, Node *value);
Node *ad_need_same(Ir *m, Node *needed);
// An array of Bool as one of numbers that can be added up, and back.
Node *ad_need_counts(Ir *m, Node *needed);
Node *ad_need_counted(Ir *m, Node *counts);

// What a fold with this index adds to an array whose variables are `outer`; count is its number of iterations.
typedef struct AdAdded {
    Var *index;
    Node *count;
    const VarSet *outer;
} AdAdded;
// A part of it that need not be added in the loop: the elements of `array` are the values that `output` has in the
// iterations, where `trace` stands for these from the last iteration to the first.
typedef struct AdPiece {
    Node *output, *trace, *array;
} AdPiece;
enum { AD_PIECES = 8 };
// Takes apart e, what one iteration adds. Returns what is to be added in the loop, or NULL. (pieces.c)
Node *ad_pieces(Ir *m, const AdAdded *in, Node *e, AdPiece *piece, int *count);

// The derivative of an elementwise value by one operand: [guard] * value.
typedef struct AdFactor {
    Node *guard; // Bool, or NULL for true
    Node *value; // NULL for zero
} AdFactor;
// What the derivative of a, a custom or a result of an extern, makes of the tangents of its floating arguments or of
// the adjoints of its results, by its rule or by transposing that. Entries of `in` may be NULL for zero, not those of
// `out`. False if there is no rule, or it cannot be transposed.
bool ad_custom_tangents(Ir *m, const AdNode *a, Node *const *in, Node **out, AdError *error);
bool ad_custom_adjoints(Ir *m, const AdNode *a, Node *const *in, Node **out, AdError *error);

// By operand k; if both operands are one node, its whole derivative counts at k = 0 and nothing at k = 1.
AdFactor ad_factor(Ir *m, Node *e, int k);
// v * d, without multiplying by the literals 1 and -1.
Node *ad_times(Ir *m, Node *v, Node *d);
// a and b (evaluated in this order, by need). NULL stands for true.
Node *ad_and(Ir *m, Node *a, Node *b);

#endif
