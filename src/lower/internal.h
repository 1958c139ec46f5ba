// Shared by the files of the lowering only.
#ifndef LOWER_INTERNAL_H
#define LOWER_INTERNAL_H

#include "ir/reach.h"
#include "lower/lower.h"
#include "pass/facts.h"
#include "support/map.h"

enum { MANY_REGISTERS = 32 }; // for vectors, as of AVX-512

struct Region;

// Something to be done in a scope for its effect: value `e` is stored into or added to an element or a part of a buffer,
// added to a cell, or (scattered) a term of a part's element at v that is zero except at computed indices is added there.
typedef enum TaskKind { TASK_STORE, TASK_ADD, TASK_ACC, TASK_SCATTER } TaskKind;
typedef struct Task {
    TaskKind kind;
    Buf *buf;
    Temp cell;
    int nidx; // leading indices of buf; e has the remaining rank
    Node **idx;
    Node *e;
    Node *shift; // added to the variable of the next loop to give the index; NULL: nothing
    Node *guard; // it is done where this holds; NULL: always
    bool done;
    Var **v; // TASK_SCATTER: the indices that follow
    int nv;
    bool negative;         // TASK_SCATTER: it is subtracted
    struct Region *region; // e is added in all of it; NULL: e is in terms of the scope
    int after;             // a task of the scope that comes before it, which fills the array; 0: none, else its number + 1
    bool first, stored;    // such a task; it has been done
    Node *place;           // TASK_SCATTER: e is a sum, each term of which is stored here (cover.c); or NULL
    const Var *over;       // what stands for the sum's variable in that; equal sums are one node, with one of theirs
    bool once;             // nothing else writes to these elements
    const Var *sum[2];     // TASK_SCATTER, TASK_ADD: of the sums that have loops by now, the last; their number
    int nsums;
    bool apart; // each of their terms is added to an element of its own
} Task;

// A value in a branch, and what the branch is known by: the value itself, or the condition under which several tasks are done.
typedef struct Arm {
    Node *e, *of;
} Arm;

// What may share a loop. Where there are thousands, most of them cannot while others are being emitted.
typedef struct Candidate {
    Node *e;
    bool done; // it has been made
    int needs; // it needs this one of Lower.busy, if that has the number
    uint32_t number;
} Candidate;

struct Scope;
typedef struct Rebound { // what a variable was bound to outside
    const Var *var;
    struct Scope *before;
} Rebound;

// An open block: the function's body, a loop's, or a branch's.
typedef struct Scope {
    struct Scope *outer;
    int depth;
    Block *block;
    bool branch;          // may not run
    bool loop;            // runs repeatedly
    bool proc;            // a procedure's: may run, wherever it is called
    struct Scope *place;  // of a procedure: the first place that calls it
    bool maybe_empty;     // a loop that may make no pass
    Node *extent;         // of a loop over an index, else NULL
    Node *fact;           // Bool known to hold inside, or NULL
    Map values;           // Node -> Temp + 1
    Map arrays;           // Node -> Buf
    Map lazy;             // Node -> Lazy
    Map made;             // Lazy: computed by now
    Map in_arm;           // Node -> an arm of a branch of this scope that may need it
    Map in_arms;          // Node: several such arms may need it
    Map common;           // of selects: what both arms need (demand.c)
    Map demanded;         // Node: evaluated whenever this scope is entered
    Map safe;             // Node: does not fail in this scope where this does not
    Map checked;          // Node: a condition that was checked
    Map holds;            // Temp + 1: the same, by what holds it
    VEC(Arm) arms;        // what may not be evaluated of branches that are
    int arms_seen;        // so many of them are in `in_arm`
    VEC(Candidate) loops; // sums and arrays whose home this is and that its tasks need: candidates for sharing a loop
    VEC(Node *) folds;    // the same for sequential loops
    VEC(Node *) scatters; // the same for arrays that are filled by adding to computed elements
    VEC(Task) tasks;      // not yet done
    Node *const *steps;   // of the states of a sequential loop whose body this is; else none
    int nsteps;
    VEC(Rebound) rebound; // by this scope
} Scope;

// The cells or buffers in the home of a value, or of the results of a loop, that hold these where a guard held, and
// once something else has needed them.
typedef struct Lazy {
    int n;
    Node **of; // the values
    Temp *value;
    Buf **buf;
    VEC(Node *) guards; // known in the home
    Temp ready;         // do they hold them? -1: where a guard held
    bool placed;        // a place has the code for them
    int proc;    // the procedure that computes it for all others; -1: none
} Lazy;

typedef struct ResultUse {
    Node *result, *user;
} ResultUse;

// A list of a loop's results.
typedef struct LoopResults {
    Node *e;
    struct LoopResults *next;
} LoopResults;

typedef struct Busy {
    Node *e;
    int outer, next; // the one before it; the next that it takes to look at: not those that need one after them. -1: none
    int covered;     // so many were left out before
    uint32_t number; // unique
} Busy;
typedef struct Covered {
    int before, i; // i would be the next of `before`
} Covered;

typedef struct Lower {
    Arena *arena;
    Ir *ir;
    Tree *tree;
    Scope *root, *scope;
    Span span;      // given to new statements
    VEC(Busy) busy; // loops, sums and arrays being emitted (busy.c)
    VEC(Covered) covered;
    VEC(Block *) procs; // the bodies of procedures, those that one calls before it
    int computing; // values by need that are being computed
    int last_busy;           // -1: none
    bool demands;            // something is evaluated for its errors alone
    Demands *demanded;       // what the function evaluates for its errors alone
    uint32_t nbusy;          // how many there have been
    Reach *reach;            // what the function's values need
    VEC(int) temp_depth;     // of each temp: the depth of the scope that defines it
    VEC(Scope *) bound;      // indexed by Var.id: the scope that binds it
    Map cost;                // Node -> cost, saturated
    Map total, not_total;    // Node -> its total value; those that have none
    Map checks;              // Node -> what it checks (total.c)
    Map copies;              // Node -> how often a branch has computed it for itself
    Map loops;               // those of the function: Node -> itself
    VEC(Node *) whiles;      // the while loops among them without array states
    Map started;             // buffers of which a state's initial value was copied: the loop may be there twice
    Map extremes;            // Node -> the argmin or argmax at which it is the body (extreme.c)
    VEC(ResultUse) uses;     // of their array results, by what; NULL: the function's result
    Map results;             // loop -> LoopResults
    Buf **inputs, **outputs; // of the function, by number; NULL for scalar inputs
    const Func *func;
    bool *read; // by output: others read it, so that it is made first, where it belongs
} Lower;

// If the access, in loops around[] inside of `loop`, is to the elements of one row of an array for each iteration of `loop`:
// the dimension whose index is that of `loop`; otherwise -1. *again: some loop comes back to the same elements. (stage.c)
int lanes_row(const Stmt *loop, int n, Stmt *const *around, const Stmt *move, bool *again);
// A store that each iteration of a loop with lanes makes, or a load: one of a run of `length` of elements one after the other.
typedef struct Run {
    Stmt *move;
    Temp root; // its last index is root + offset; -1: offset
    int64_t offset;
    int length, at; // it is number `at` of the run
} Run;
// Those to arrays in memory whose lanes are apart by fixed steps, and that could wait for the end of an iteration, run by run;
// how many. def: what makes each of the first `known` temps. (runs.c)
int lanes_runs(Arena *arena, const Tree *tree, const Stmt *loop, Stmt *const *def, int known, Run **out);
// Likewise, of loads of an input: elements of a row each, where rows lie anywhere; `at` counts from the first element that is
// loaded, and some may be missing, or there more than once. Those of the same row have the same `root`.
int lanes_row_loads(Arena *arena, const Tree *tree, const Stmt *loop, Stmt *const *def, int known, Run **out);
// A copy of a statement, with temps and buffers of its own for what is made inside. (clone.c)
Stmt *tree_clone(Arena *arena, Tree *tree, const Stmt *s);
// The same, where other temps (a key is a number + 1, and so is what it stands for) and buffers stand for some, too; what is
// made inside is added to the maps.
Stmt *tree_clone_with(Arena *arena, Tree *tree, const Stmt *s, Map *temps, Map *bufs);
// A copy of a loop, where arrays that are new in an iteration, but made outside of the loop, are others: they are made in the
// block. (clone.c)
Stmt *tree_clone_apart(Arena *arena, Tree *tree, const Stmt *loop, Block *to);
// A sum of multiples of temps, and a number.
enum { LINEAR_TERMS = 6 };
typedef struct Linear {
    int n;
    Temp t[LINEAR_TERMS];
    int64_t by[LINEAR_TERMS], plus;
    bool fails; // it is none, or too long
} Linear;
// Adds by * t; def: what makes each of the first n temps. (linear.c)
void linear_add(int n, Stmt *const *def, Temp t, int64_t by, Linear *out);
bool linear_is_number(const Linear *x); // are there no temps left?

// Folds what literals decide in a block, and takes away cells that are then set in one place only; def: what makes each of the
// first n temps; strict: x + 0.0 is not x. (tidy.c)
void lower_decide(const Tree *tree, int n, Stmt *const *def, bool strict, Block *block);
void block_delete(Block *block, int at); // the statement number `at`
void stmt_drop(Stmt *s);                 // to be taken out of its block by …
void block_sweep(Block *block);          // … this, from all blocks inside, too
// Removes what nothing needs any more: values, arrays that are not loaded, and loops and branches without anything in them.
void lower_remove_dead(Arena *arena, Tree *tree);

// ---- statements (scope.c)
Temp lower_temp(Lower *l, Kind kind, const char *name);
Temp lower_emit(Lower *l, Node *e);                                               // e in the current scope, wherever it might stand
Stmt *lower_stmt(Lower *l, StmtKind kind, Temp dst, int nargs, const Temp *args); // appended to the open block
Temp lower_int(Lower *l, int64_t value);
Temp lower_cell(Lower *l, Kind kind, Temp init);
Temp lower_get(Lower *l, Temp cell);
void lower_set(Lower *l, Temp cell, Temp value);
Buf *lower_buf(Lower *l, BufKind where, Kind kind, int rank, Temp *extent, const char *name);
Temp lower_op2(Lower *l, Op op, Temp a, Temp b); // a comparison or a logical operation
void lower_check(Lower *l, Temp cond, int code, const char *text, Span span, int nvalues, const Temp *values);

// A branch whose condition says `fact` (or NULL): opens its scope; lower_end_if closes it and appends the statement.
void lower_begin_if(Lower *l, Node *fact);
void lower_end_if(Lower *l, Temp cond);
// If e is a bracket, what it says that mentions none of the variables and is no mere condition on indices, or NULL; *inner
// is e without that. (loops.c)
Node *lower_split_guard(Lower *l, Node *e, Var *const *v, int n, Node **inner);

// The call of a C function, after which all its results are known in the scope: a scalar, or what has an array.
// (call.c)
Temp lower_extern(Lower *l, Node *e);
Buf *lower_extern_array(Lower *l, Node *e);

// --debug-nan: fails if r, made of the args, is a NaN and none of them is.
void lower_check_nan(Lower *l, const char *text, int nvalues, Temp r, int n, const Temp *args);

// Statements from now on come from where e does, if that is known. Returns where they came from before.
Span lower_at(Lower *l, const Node *e);

// ---- extremes (extreme.c)
Temp lower_arg(Lower *l, Node *e);       // argmin or argmax
Temp lower_extreme(Lower *l, Node *arg); // the body at that index
void lower_find_extremes(Lower *l, const Func *f);

// ---- values by need (need.c)
// e, which a branch at `at` needs, which is inside loops of e's home: a scalar; and is it worth a cell of its own? An array.
Temp lower_value_by_need(Lower *l, Node *e, Scope *at, Scope *home);
Buf *lower_array_by_need(Lower *l, Node *e, Scope *at, Scope *home);
int lower_fresh_cost(Lower *l, Node *e, int bound); // of evaluating e here, beyond what is known; more than bound: at least that
bool lower_keeps(Lower *l, Node *e);
// Can the extents of e be computed in the scope, or are they there?
bool lower_knows_shape(Lower *l, Scope *s, Node *e);
void lower_forget_lazy(Scope *s);

// ---- procedures (procs.c)

// Opens the scope of the code of a procedure, inside of the home of what it computes; the other one closes it and gives
// its number.
void lower_proc_begin(Lower *l, Scope *home, Scope *place);
int lower_proc_end(Lower *l);
void lower_call(Lower *l, int number); // the first statement of a branch
// Does b call a procedure? What a call is given is known only when all is lowered: until then such a block is not copied.
bool lower_calls(const Block *b);
void lower_finish_procs(Lower *l, bool cold); // after all has been lowered; cold: it seldom runs

// ---- scopes (scope.c)
Scope *scope_open(Lower *l);
Block *scope_close(Lower *l); // its block
void scope_bind(Lower *l, Scope *s, const Var *v);
bool lower_active(Lower *l, const Var *v);        // is it bound by the current scope or one around it?
Scope *scope_of_vars(Lower *l, const VarSet *fv); // the outermost scope in which all are bound
// That which binds v, or NULL; while a value is emitted further out, what is bound inside does not count.
Scope *scope_binding(Lower *l, const Var *v);
bool scope_crosses_loop(const Scope *from, const Scope *to); // from a scope out to another
bool lower_dear(Lower *l, Node *e);                          // needs loops or calls
Poly lower_difference(Ir *m, Node *a, Node *b, int64_t k);   // a - b + k
// May evaluating e in scope s fail where the scope itself would not, under the condition `where`, if that is not NULL? (place.c)
bool lower_fails(Lower *l, Scope *s, Node *e, Node *where);
bool lower_is_of_indices(const Node *p); // is p a condition on indices and sizes alone? (demand.c)
// Is p such a condition, and varies in loops inside of the scope? Then it holds in some pass of them, and what is needed
// there is needed. What does not vary in them may never hold.
bool lower_likely(Lower *l, const Node *p, const Scope *from);
bool lower_maybe_empty(Lower *l, const Var *v); // might a loop over v make no pass?
// What is being emitted, until there are `len` left; does e need some of it, or is it? (busy.c)
void lower_push_busy(Lower *l, Node *e);
void lower_pop_busy(Lower *l, int len);
bool lower_needs_busy(const Lower *l, Node *e);
bool lower_must_wait(const Lower *l, Candidate *c); // the same for a candidate
bool lower_is_outside(Lower *l, const Node *e);     // is e evaluated anyway, outside of the current scope? (demand.c)
bool lower_stays(Lower *l, Node *e);                // is e, if it is needed now, computed in the current scope for good? (place.c)
bool lower_in_arms(Lower *l, Scope *s, const Node *e);  // do several arms of branches in s need e? (demand.c)
bool lower_shared_by_arms(Lower *l, Scope *s, Node *e); // and can it be computed before them? (place.c)
// Marks e and what it always needs as evaluated in the current scope. (demand.c)
void lower_demand(Lower *l, Node *e);
// Marks cond so; e is needed where it holds, and computed with all others that are needed there.
void lower_demand_where(Lower *l, Node *cond, Node *e);
// Notes that a branch of the current scope may need e (a task that may not come to its element, too).
void lower_note_arm(Lower *l, Node *e);

// ---- values
// The scope in which e is to be emitted; *home is the one that could hold it for good. (place.c)
Scope *lower_place(Lower *l, Node *e, Scope **home);
bool lower_is_copied(Lower *l, Node *e); // has it been written out so often that it is no more?
void lower_count_copy(Lower *l, Node *e); // e is emitted further in than its home
Node *lower_nonzero(Lower *l, Node *by);  // the condition that it is
bool lower_is_true(const Node *p);        // is it known to hold?
// The value of a scalar in the current scope, emitted where it belongs unless it is there already. (place.c)
Temp lower_value(Lower *l, Node *e);
void lower_values(Lower *l, int n, Node *const *e, Temp *out);
// That value if it is there already, or -1. (place.c)
Temp lower_known_value(Lower *l, Node *e);
// The buffer that holds an array, filled. (lower.c)
Buf *lower_array(Lower *l, Node *e);
// That buffer if it is there already, or NULL. (place.c)
Buf *lower_known_array(Lower *l, Node *e);
// Emits the loop for a sum, argmin or argmax, or fills buf for an array, together with all that can share it. (loops.c)
Temp lower_reduction(Lower *l, Node *e);
Buf *lower_fill(Lower *l, Node *e);
// Does the tasks in a scope just opened. (loops.c)
void lower_tasks(Lower *l, int n, Task *tasks);
// The states after a loop, in the scope that is its home. (fold.c)
typedef struct LoopResult {
    Temp *value; // scalar states
    Buf **buf;   // array states
    int nloops;  // those that have run as one
    Node **loop;
} LoopResult;
// Collects what uses the array results of loops. (fold.c)
void lower_find_uses(Lower *l, const Func *f);
// What has come into being by giving variables of e other names: where loops become one, their bodies may use the same results.
void lower_note_uses(Lower *l, Node *e);
// A loop: fold or while; its final states become known in the scope. (fold.c)
LoopResult *lower_loop(Lower *l, Node *e);
// Is the sum of numbers known once the loops have run that are needed here anyway and add it up? Then they have. (fold.c)
bool lower_added_up(Lower *l, Node *sum);
// The array that a loop which has run has left as the value e; NULL if it is no such.
Buf *lower_left_array(Lower *l, Node *e);
// v, or a fresh variable in its place if v is bound already; *e (if not NULL) is rewritten to it. (loops.c)
Var *lower_loop_var(Lower *l, Var *v, Node **e);
// A for loop over v: opens its scope; lower_end_for closes it and appends the statement. (loops.c)
Stmt *lower_begin_for(Lower *l, Var *v);
void lower_end_for(Lower *l, Stmt *s);
void lower_task(Lower *l, Task *t); // one task, now (loops.c)
// Extent k of an array that is about to be made, checked not to be negative. (loops.c)
Temp lower_extent(Lower *l, Node *e, int k);
// A buffer for e in the current scope, its extents checked. (loops.c)
Buf *lower_new_array(Lower *l, Node *e);
// If the array of a task has terms that scatter (ir_scatters): how many tasks it is, one for the dense rest and one for each
// such term; else 0. (scatter.c)
int lower_split_scatter(Lower *l, const Task *t, Task **out);
// The extent of the sum that the array's first scattered term is; NULL if there is none.
Node *lower_scatter_extent(Lower *l, Node *e);
// If scattered terms of an array with index v come to each element of its beginning once: the tasks that store them, after
// one for the rest of the array's dense terms, and before the scattered terms that are left; else 0. (cover.c)
int lower_cover(Lower *l, const Task *t, Var *v, Node *dense, int n, const Task *terms, Task **out);
// A scattered term waits for the loop over its sum, if it is one; else it becomes an addition, or false if it is zero.
bool lower_open_scatter(Lower *l, Task *t);
void lower_zero(Lower *l, Task *t); // stores zeros everywhere in the task's place (loops.c)
// Values that the current scope is about to need: what they loop over may share loops. (loops.c)
void lower_announce(Lower *l, int n, Node *const *e);
// Computes values in the current scope, those that can share a loop in one. (loops.c)
void lower_now(Lower *l, int n, Node *const *e);

// ---- total values (total.c)

// e with zeros where it would fail; e itself if it cannot; NULL if it cannot be taken apart.
Node *lower_total(Lower *l, Node *e);
// Checks that e, which has a total value, does not fail in the current scope.
void lower_total_checks(Lower *l, Node *e);

// e without the demands around it, which are met in the current scope. (lower.c)
Node *lower_met(Lower *l, Node *e);
// Has it been checked that cond holds?
bool lower_is_checked(Lower *l, Node *cond);
// The check of an assertion, a division, or index number dim of a read, whose operands are checked; dim < 0: e is evaluated.
void lower_check_self(Lower *l, Node *e, int dim);

// ---- regions (region.c)

enum { RANK_MAX = 16 };

// The indices for which a condition holds, as loops: equalities fix an index, inequalities narrow a loop.
typedef struct Region {
    int n, nloops;
    Node *idx[RANK_MAX];       // in terms of the loops
    Var *loop[RANK_MAX];       // fresh
    Node *guard[RANK_MAX + 1]; // what else must hold: guard[k] inside of k loops
} Region;
// The region of an array, whose indices are v, where pred holds.
void lower_region(Ir *m, Var *const *v, int n, Node *pred, Region *r);
// e, a term in v, in terms of the loops.
Node *lower_region_value(Ir *m, Var *const *v, const Region *r, Node *e);
// Does n tasks everywhere in the region.
void lower_region_tasks(Lower *l, const Region *r, int n, Task *tasks);
// Does t everywhere in its region, and, in the same loops, the scope's other tasks in such a region if these and t are dear: they
// may share what they need.
void lower_region_shared(Lower *l, const Task *t);

// ---- updates in place (update.c)

typedef enum UpdateKind {
    UPDATE_NONE,  // nothing changes
    UPDATE_ADD,   // `rest` is added
    UPDATE_PARTS, // some regions, or all, get new values
    UPDATE_LOOP,  // a loop runs in the buffer
    UPDATE_IF,    // one of two updates is done
    UPDATE_COPY   // the new array is made elsewhere and copied
} UpdateKind;

typedef struct Part {
    Node *pred; // in terms of the array's indices
    Region region;
    Node *value; // in terms of the region's loops
    bool staged; // computed before anything is written
} Part;

enum { PARTS_MAX = 16, BEFORE_MAX = 64 };

typedef struct Update {
    UpdateKind how;
    struct Update *first; // done before: makes `base` in the buffer; NULL if it is there
    const Var *state;
    Node *base, *step; // the array in the buffer, and the one that takes its place
    Var *v[RANK_MAX];  // indices of an element
    int n;
    Node *rest;
    Part *part;
    int nparts;
    Node *before[BEFORE_MAX]; // evaluated before anything is written
    int nbefore;
    Node *cond; // UPDATE_IF
    struct Update *then, *other;
    Buf *next;  // UPDATE_COPY, or if it takes turns
    bool turns; // `next` is the old array in the next iteration; what parts leave out is the same in both
} Update;
// How `state` becomes `step` in the body of its loop, the current scope; in_place: nothing reads the old state later.
Update *lower_plan_update(Lower *l, Node *state, Node *step, bool in_place);
// Does every element of state k get a new value in some pass of the loop, and nothing else read it? Then it needs no
// initial value.
bool lower_overwrites(Lower *l, Node *loop, int k);
// Would the array be made anew, or computed before anything is written, cheaply and in every iteration of the loop at the same
// indices? Then two buffers may take turns at being the old one.
bool lower_may_turn(Lower *l, Node *loop, const Update *u);
// Does it, unless it is UPDATE_NONE or UPDATE_COPY.
void lower_update(Lower *l, Update *u, Buf *buf);

#endif
