// Shared by the files of the printer of loop trees as CUDA.
#ifndef CUDA_PRINT_H
#define CUDA_PRINT_H

#include "cuda/cuda.h"
#include "lower/grid.h"
#include "support/map.h"

typedef enum CodeWhere {
    CODE_KERNEL,
    CODE_HOST, // the part of an entry that starts kernels
    CODE_ALONE // what the host does without a device: a size query
} CodeWhere;

// Additions in a grid whose places and values are listed.
enum { SHARE_LOOPS = 8, SHARE_ROWS = 4 };
typedef struct ShareSite {
    const Stmt *add;
    int nloops; // around it in the grid, from the outermost
    const Stmt *loop[SHARE_LOOPS];
    bool fixed[SHARE_LOOPS]; // the host knows the loop's length
    int rows;                // if it knows not all: the number of the others' product
} ShareSite;
typedef struct ShareRows {
    int n;
    Temp length[SHARE_LOOPS]; // of which the product differs between iterations of the grid
} ShareRows;
typedef struct Shares {
    Stmt *grid;
    int n;
    ShareSite *site;
    int nrows;
    ShareRows rows[SHARE_ROWS];
    bool *needed; // by temp: it is needed for these lengths
    bool asks;    // which what is known on the device alone decides
} Shares;

// Additions in a grid to one row for each iteration.
typedef struct Rows {
    Temp row, places; // which, and how many there are
    bool *needed;     // by temp: for the row's number
} Rows;

// A function that is being printed.
typedef struct Code {
    struct Unit *u;
    Str *out;
    int indent;
    CodeWhere where;
    const char *fail;     // of a kernel, the statement that ends a thread where a check has failed
    const char *order;    // and what orders the checks that fail
    bool fails;           // of a kernel, a check may fail
    Map atomic;           // of a kernel, arrays that threads add to at once
    VEC(Stmt *) pending;  // CODE_HOST: statements that wait to become a kernel of one thread
    int batch;            // counts such kernels
    const Shares *shares; // of a kernel, the additions that it lists; or NULL
    const bool *only;     // of a kernel, by temp: all that it computes, from elements that may be missing; or NULL
    Map step;             // buffer -> text by which places of its elements are multiplied: each thread's are apart by it
} Code;

// A tree that is being printed. What the host knows is computed there, and all else in kernels; scalars that one kernel leaves
// to another, or to the host, stand in a struct in device memory, the frame.
typedef struct Unit {
    Arena *arena;
    Diag *diag;
    const Tree *tree;
    const Func *func;
    const char *name;    // of its functions, in C
    const char **params; // names of inputs and outputs
    Stmt **def;          // by temp
    int *uses;           // by temp
    int *later;          // by temp: uses but those in checks of the prologue
    const Block **user;  // by temp: the block of the only statement that uses it
    const char **text;   // by temp: what stands for it, where that is not its name
    bool *device;        // by temp: it is known on the device only
    bool *device_buf;    // by buffer: it is not in the host's memory
    bool *frame;         // by temp: it is in the frame
    Temp *alias;         // by temp of the frame: the cell whose value it is, which stays as it is, + 1; or 0
    bool *read;          // by temp of the device: the host has read it, in an open block
    const char **first; // by temp, a cell that the next grid adds up: what it begins with, if no kernel has put that into the frame
    int *waits;         // by temp, a cell of the host: the last kernel for which a statement waits that reads it
    int *made;          // by temp: the stamp of the last region that makes it
    int *seen;          // by temp and by buffer: the stamp of the last region that was asked about it
    int *seen_buf;
    int stamp;
    bool may_fail; // some kernel has a check
    bool failing;  // one that has been printed
    bool fails;    // one has a check that the host could not make
    bool asks;     // the host has to know something of the device
    int nlaunches; // that are printed
    bool repeats;  // some of them in a loop
    bool heap;     // threads make arrays as they go
    int nkernels, nsites, first_site, nlabels;
    Str kernels, sites; // kernels, and what checks say
    Map own;            // the arrays of which each iteration of a grid has one of its own
    Stmt *walk;         // the grid whose iterations a thread does that is printed, if it is one of several loops, or NULL
} Unit;

bool unit_is_dead(const Unit *u, const Stmt *s); // does nothing need it? (module.c)

// ---- names and expressions (expr.c)

char *expr_text(Arena *a, const char *format, ...) __attribute__((format(printf, 2, 3))); // generated code
Kind unit_kind(const Unit *u, Temp t);
const char *cuda_type(Kind k);                                                                        // of a scalar
const char *cuda_element(Kind k);                                                                     // of an array element
const char *expr_temp(Unit *u, Temp t);                                                               // as an operand
static inline Temp unit_in_frame(const Unit *u, Temp t) { return u->alias[t] ? u->alias[t] - 1 : t; } // what stands for it there
const char *expr_buf(Unit *u, const Buf *b);
const char *expr_op(Arena *a, Op op, Kind kind, const char *x, const char *y); // kind: of operands
const char *expr_conv(Arena *a, Kind to, Kind from, const char *x);
const char *expr_lit(Arena *a, Kind kind, double real, int64_t num);
const char *expr_value(Unit *u, const Stmt *s);         // of a statement that defines a temp without touching memory
bool expr_mentions(const char *text, const char *word); // does the word stand in the text?
const char *expr_string(Arena *a, const char *text);    // a C literal
// The place of an element in its array.
const char *expr_place(Unit *u, const Buf *b, const Temp *index);
const char *expr_count(Unit *u, const Buf *b, const char *more); // the number of elements, times `more` unless it is NULL

// ---- statements of one thread (code.c)

void code_line(Code *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void code_block(Code *c, const Block *b);
// Up to the brace; where iterations have no effect, there are none (lower/idle.h).
void code_loop_head(Code *c, const Stmt *s);
void code_stmt(Code *c, const Stmt *s, const Block *in);
bool code_breaks(const Block *b, bool in_for);   // is there an ST_BREAK inside of a counted loop?
bool code_is_local(const Unit *u, const Buf *b); // so small that each thread has it to itself

// ---- what is known where (place.c)

void place_temps(Unit *u);
bool place_on_host(const Unit *u, const Stmt *s);  // does the host do all of it alone?
bool place_has_grid(const Unit *u, const Stmt *s); // a loop or branch with grids inside, which the host runs

// ---- kernels (kernel.c)

typedef struct Param {
    const char *type, *name, *arg; // arg: in the launch
} Param;

typedef struct Region {
    Code *host;
    Unit *u;
    int n;
    Stmt *const *stmts;
    Stmt *grid;           // NULL: one thread does them
    bool blocks;          // of a grid: each block does iterations, whose inner grids its threads do
    bool fold;            // the grid is none: one block does the iterations, one after the other
    const Shares *shares; // of a grid: what it lists in the place of copies, or NULL
    bool rows;            // of a grid: a block does iterations of one row after the other
    VEC(Temp) temps;      // from outside, and cells
    VEC(Temp) set;        // cells from outside that it sets
    VEC(int) outs;        // scalar outputs that it sets
    VEC(Buf *) bufs;      // from outside
    VEC(Buf *) own;       // of each thread, in memory that the host takes
    VEC(Buf *) local;     // of each thread, small, made outside of the loop
    Map inside;           // those that are made in it
    VEC(Buf *) made;      // likewise, in order
    bool frame;           // it uses the frame
    VEC(Param) params;
} Region;

// Prints a kernel of one thread that does these statements, and its launch.
void kernel_serial(Code *host, int n, Stmt *const *s);
void kernel_grid(Code *host, Stmt *loop);
// One of one block for a loop around grids, and its launches. grids: a list of how many iterations these have; steps: how often
// they run in an iteration of the loop, as factors.
void kernel_fold(Code *host, Stmt *loop, const char *grids, const char *steps);
const char *kernel_errors(const Unit *u); // the argument of a launch by which a kernel knows whether another has failed

bool kernel_writes(const Stmt *s, const Buf *b);
const char *kernel_trips(Unit *u, const Stmt *loop);
const char *kernel_join(Op by);
// The indices of iteration `number` of a grid, NULL: of that which `fsm_at` has come to, and what the loops around its innermost
// compute.
void kernel_iteration(Code *c, Stmt *loop, const char *number);

// ---- kernels whose blocks do iterations (block.c)

// Can blocks do those of a grid? inner: how many iterations of inner grids there are, as far as the host knows.
bool block_can(Unit *u, Stmt *loop, const char **inner);
bool block_shares(Unit *u, Stmt *loop, const Buf *b); // does a block have one of this array, or does each of its threads?
void block_code(Code *c, Stmt *loop, const Block *b);

// ---- loops by one block (fold.c)

// If a block can do the loop, which has grids inside, `if (these are small) { its launches } else {`: the loop of the host comes
// next.
bool fold_print(Code *host, Stmt *loop);

// ---- matrix products (product.c)

// If the grid is one, `if (it is large) { its call`: what comes next is its other branch.
bool product_print(Code *host, Stmt *loop);

// ---- recurrences (recurrence.c)

void recurrence_print(Code *host, const Stmt *loop); // the call of the primitive that takes the loop's place

// ---- additions as lists (share.c)

// Can a grid list all that it adds to arrays?
bool shares_find(Unit *u, Stmt *loop, Shares *out);
const char *shares_test(Unit *u, const Shares *p); // should it, in a call?
const char *shares_first(Unit *u, int rows);       // the name of an array: where the shares of iterations begin
void shares_count(Code *c, const Shares *p);       // those of an iteration
void shares_counted(Code *host, const Shares *p);
const char *shares_place(Unit *u, int site); // the names of lists
const char *shares_value(Unit *u, int site);
void shares_begin(Code *host, const Shares *p);
void shares_end(Code *host, const Shares *p);
void shares_note(Code *c, int site, const ShareSite *of, const char *place, const char *value); // what a thread adds

// ---- additions row by row (rows.c)

// Can the iterations of a grid be sorted by the row that they add to?
bool rows_find(Unit *u, Stmt *loop, Rows *out);
const char *rows_test(Unit *u, const Stmt *loop, const Rows *p, const char *inner); // should they, in a call?
const char *rows_length(Unit *u, const Buf *b);                                     // the number of elements of one

// ---- the host's part (host.c)

void host_tree(Unit *u, Str *out); // the statements of the tree
void host_read(Code *c, Temp t);   // a scalar of the device, if it is one
// Starts a kernel; shape: the number of blocks and that of threads.
void host_launch(Code *c, const char *kernel, const char *shape, const char *arguments);

// ---- the functions of an entry (entry.c)

// otherwise, sizes: of the trees of that name, or NULL.
void entry_print(Str *out, Unit *u, Unit *otherwise, Unit *sizes, const CudaOptions *opt);

// ---- modules (module.c)

// The kernels of a tree, into u->kernels, and the host's part.
void unit_print(Unit *u, Str *host);

#endif
