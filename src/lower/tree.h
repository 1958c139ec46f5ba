// The loop tree: a function as loops, buffers and scalar instructions, in the order in which they run. Lowering
// (lower/lower.c) makes it from values; the backends print it and decide nothing; lower/exec.c runs and counts it.
#ifndef LOWER_TREE_H
#define LOWER_TREE_H

#include "ir/ir.h"
#include "support/map.h"
#include "support/vec.h"

// A scalar defined exactly once (temp) or assigned several times (cell); ids are dense per tree and index Tree.temps.
typedef int32_t Temp;

typedef struct TempInfo {
    Kind kind;
    bool cell;        // mutable: declared by ST_CELL, read by ST_GET, written by ST_SET
    const char *name; // hint or NULL
    bool varies;      // differs between the lanes of the loop around it (Stmt.lanes)
    bool scanned;     // read from a cell that in each lane is another sum or product, of all iterations so far (scan.c)
    int64_t step;     // of an Int that varies: by how much from lane to lane, or STEP_ANY
} TempInfo;

#define STEP_ANY INT64_MIN

// BUF_PARAM: what calls give to a procedure.
typedef enum BufKind { BUF_INPUT, BUF_OUTPUT, BUF_TEMP, BUF_PARAM } BufKind;
typedef struct Buf {
    int id;
    BufKind where;
    int number; // of the function's input or output, or of the procedure's arrays
    Kind kind;
    int rank;
    Temp *extent; // rank Int temps, defined before the first use
    const char *name;
    const struct Block *home; // where it is new: no value is carried from one run of this block to the next
    int lanes;                // not 0: each lane of the loop around its home, whose Stmt.lanes it is, has one of its own
} Buf;

typedef enum StmtKind {
    ST_LIT,    // dst = u.real / u.num, by the kind of dst
    ST_ARG,    // dst = scalar input number u.num
    ST_OP,     // dst = op(args[0], args[1]): an elementwise operation of ops.def
    ST_EXTERN, // dst = the C function u.name of args and `in`; if it fills some of these, dst is its status, an Int
    ST_PARAM,  // dst = scalar number u.num of the procedure around: such statements begin its body
    ST_CALL,   // runs procedure number u.num, which gets args, and then `in`; it may write to the last nout of these
    ST_CONV,   // dst = conversion of args[0] to the kind of dst
    ST_SELECT, // dst = args[0] ? args[1] : args[2]
    ST_CELL,   // cell dst comes into being with value args[0]
    ST_GET,    // dst = cell args[0]
    ST_SET,    // cell dst = args[0]
    ST_NEW,    // buffer comes into being (uninitialised); lives until the end of the block
    ST_FILL,   // every element of buf = args[0]
    ST_COPY,   // every element of buf = the same element of src (same extents)
    ST_MOVE, // what is from args[0] on in dimension u.num of buf = the first args[1] of src: all else is the same, and buf is large
    ST_LOAD, // dst = buf[args…]
    ST_STORE,   // buf[args[1…]] = args[0]
    ST_ADDTO,   // buf[args[1…]] += args[0]
    ST_FETCH,   // args[0] elements from buf[args[1…]] on will be accessed soon: they should come nearer; there may be no such
                // elements
    ST_OUT,     // scalar output number u.num = args[0]
    ST_CHUNK,   // dst = how many of args[0] iterations a thread takes at a time, where one is args[1] additions' worth of work,
                // and taking some copies args[2] elements: a multiple of u.num, if that is small (fsm_chunk)
    ST_THREADS, // dst = how many threads would share a loop here; nothing that is computed may depend on it (fsm_threads)
    ST_FOR,     // for dst = args[1] (0 if there is none) … args[0]-1: body
    ST_LOOP,    // repeat body until an ST_BREAK
    ST_BREAK,   // leave the innermost ST_LOOP unless args[0]
    ST_IF,      // if args[0]: body, else: other
    ST_CHECK,   // unless args[0]: fail with u.check; args[1…] are the values of its text
    ST_PROC     // procedure number u.num: calls of it, which come later, run the body; its arrays are `in`, to the last
                // nout of which it may write, and it knows nothing else of what is around. Only in the block of the
                // whole tree
} StmtKind;

enum { CACHE_LINE = 64 }; // bytes

typedef struct Stmt Stmt;
typedef struct Block {
    VEC(Stmt *) stmts;
} Block;

typedef struct CheckInfo {
    int code;         // FSM_ERROR_…
    const char *text; // each "%d" stands for the next Int value
    Span span;
} CheckInfo;

struct Stmt {
    StmtKind kind;
    Op op;
    Temp dst; // -1 if none
    int nargs;
    Temp *args;
    Buf *buf, *src;
    int nin;         // ST_EXTERN, ST_CALL: what it gets, in order: a buffer, or NULL for the next of args
    int nout;        // ST_EXTERN, ST_CALL: the last so many of `in` are what it writes to (C fills them)
    Buf **in;        // ST_FOR with lanes: arrays that all lanes add to, the same elements at a time
    int lanes;       // ST_FOR: not 0: iterations may run as the lanes of so many vectors at once (lower/lanes.c)
    bool masked;     // ST_FOR with lanes: all iterations are done as those left over are, with a mask (lower/budget.c)
    bool threads;    // ST_FOR: each iteration may run in a thread of its own; they share only what they do not change, and parts
                     // of arrays that only one of them accesses (lower/threads.c)
    bool few;        // ST_FOR: there are a few iterations at most (lower/peel.c)
    bool outer;      // ST_FOR: loops inside have the lanes, or are the grids, which it is not (lower/tile.c, lower/groups.c)
    bool parts;      // ST_FOR: its iterations are what threads share, each a chunk; they are independent (lower/blocks.c)
    bool shifted;    // ST_FOR: only the first statement of the body, j = low + dst, uses dst (lower/shift.c)
    bool small;      // ST_FOR: the matrices that it adds to are small; of larger ones another loop makes tiles (tile.c)
    int64_t streams; // ST_FOR: not 0: what it stores of outputs goes past the caches if these have at least so many elements
                     // (lower/stream.c, lower/stage.c)
    bool kept;       // ST_OP: a product that is not to be taken in another order with what it is a factor of (lower/height.c)
    bool
        once; // ST_STORE: each time that its loops run, no other statement or iteration writes to the same elements (lower/cover.c)
    const Temp
        *own; // ST_ADDTO: the indices of loops around it, any two iterations of which add to different elements; NULL: not known
    int nown;
    bool short_rows; // ST_FOR: rows that loops inside go over once are known to be short (lower/split.c)
    bool rows;       // ST_FOR in one with lanes: copies neighbouring elements of each lane's row (lower/stage.c)
    // ST_FOR, not 0: such a loop stores elements from the given one on of rows that are stored whole, of so many elements. If rows
    // lie side by side, those of the lanes go past the caches together where `streams` says so, and wait in `src`, which has room
    // for them; otherwise the next ones are asked for. (lower/stage.c)
    int whole, from;
    bool together; // ST_FOR in one with lanes, shifted: the lanes run over j together
    struct Grid
        *grid; // ST_FOR: its iterations may be the threads of a grid; NULL: they may not, or that does not pay (lower/grid.h)
    struct Recurrence *recurrence; // ST_FOR: it is nothing but one, in the form of lower/recurrence.h; NULL: as far as is known
    const Wishes *wishes;          // ST_FOR: what attributes ask of it; NULL: nothing
    struct Stmt *opened;           // ST_FOR: the fill or copy that it is, opened to join others; NULL: none (lower/merge.c)
    Block *body, *other;
    Span span; // of the source, for line tables; {NULL, 0, 0}: nowhere
    union {
        double real;
        int64_t num;
        CheckInfo *check;
        const char *name;
    } u;
};

typedef struct Tree {
    const Func *func;
    VEC(TempInfo) temps;
    VEC(Buf *) bufs;
    Block *body;
    int prologue;           // how many statements at the start only check the arguments
    struct Tree *sizes;     // the function that gives the extents of the outputs; NULL if these are scalars
    struct Tree *otherwise; // what runs instead if a size is 0, or less than ir_least_size, or NULL: body is right for that, too
    Ir *ir;                 // that of func, which the tree owns: it was read from text; NULL: it is another's
} Tree;

// The function without assumptions: what it checks, and the shapes of its arguments, are those that users know.
static inline const Func *tree_given(const Tree *t) { return t->otherwise ? t->otherwise->func : t->func; }

// What running a tree did (src/ir/counts.def says what falls under which count).
typedef struct Counts {
    int64_t ops[COUNT_CLASSES];
    int64_t work;                      // the floating-point work of a tree, weighted by the costs in ops.def
    int64_t iterations, loads, stores; // of loops; of array elements (ST_ADDTO is one load and one store)
    int64_t bytes;                     // the most memory held by ST_NEW buffers at any moment
} Counts;

static inline Wish *stmt_wish(const Stmt *s, WishKind k) { return s->wishes ? s->wishes->of[k] : NULL; }

// A statement with a copy of its args, and one put into a block. (tree.c)
Stmt *tree_stmt(Arena *arena, StmtKind kind, Temp dst, int n, const Temp *args, Span span);
void block_insert(Block *block, int at, Stmt *s);
void block_remove(Block *block, const Stmt *s);
bool block_makes(const Block *block, Temp t);        // in one of its own statements
void block_rename(Block *block, Temp from, Temp to); // what needs one temp needs the other
int block_size(const Block *block);                  // how many statements there are in it, at any depth; NULL: none
int block_uses(const Block *block, Temp t);          // how many arguments of what is in it, at any depth, are t
// How often the statement, or what is in the block, at any depth, names the array, but for its coming into being.
// Does s itself, not what is inside of it, or does b come into being by it?
bool stmt_writes(const Stmt *s, const Buf *b);
int stmt_accesses(const Stmt *s, const Buf *b);
int block_accesses(const Block *block, const Buf *b);
// The ST_NEW of the array in the block, at any depth, or NULL; the second takes it out.
Stmt *block_find_new(const Block *block, const Buf *b);
Stmt *block_take_new(Block *block, const Buf *b);
// How often it is set there.
int stmt_sets(const Stmt *s, Temp cell);
int block_sets(const Block *block, Temp cell);
void block_note_made(Map *made, const Block *block); // for each temp and cell that is made there, t + 1 -> something
bool block_has_for(const Block *block);              // in it, or inside of what is in it
bool block_may_fail(const Block *block);             // has it checks, or calls?
// The procedure of a call, in the block of its tree. (tree.c)
Stmt *tree_proc(const Tree *t, int64_t number);
// Does the statement call a C function or a procedure, which may do much that is not seen?
static inline bool stmt_calls(const Stmt *s) { return s->kind == ST_EXTERN || s->kind == ST_CALL; }
void block_free(Block *block);                       // what is not in the arena, of blocks inside, too; NULL is allowed
// Asked by a pass right before it changes the tree at the statement, when all conditions hold: may it, as a step of --fuel? If not,
// it leaves that alone and goes on. (tree.c)
bool tree_step(const Tree *t, const Stmt *s);
// By temp: the statement of the block, or inside it, that makes it. (tree.c)
void tree_definitions(const Block *block, Stmt **def);
void tree_uses(const Block *block, int *uses);  // counts, by temp, the arguments that it is
const Temp *stmt_index(const Stmt *s);          // of the element that an ST_LOAD, ST_STORE or ST_ADDTO accesses
bool stmt_has_index(const Stmt *s, Temp index); // is it one of these by itself?

// Prints the tree as a short text for people (--emit=loops). (tree_print.c)
void tree_print(Str *out, const Tree *t);
// Prints all of it (--emit=tree; docs/ir.md): tree_read makes such a tree of that, but that temps and arrays are numbered in order
// of definition. With places: also where statements come from; without, only where checks do. (tree_print.c)
void tree_write(Str *out, const Tree *t);
void tree_write_places(Str *out, const Tree *t);
// Reads the trees of a text as tree_write prints it, one or more, which are in the arena and are to be freed. They are as the text
// says, and verified. After an error, which is reported, NULL. *n gets the number. (tree_read.c)
Tree **tree_read(Arena *arena, Diag *diag, const Source *src, int *n);
// What tree_read makes of what tree_write_places prints, to be freed; NULL, with *why, if that is not printed as the same text.
Tree *tree_reread(Arena *arena, const Tree *t, Str *why);
bool tree_round_trips(Arena *arena, const Tree *t, Str *why);
// Checks that temps are defined before use, kinds agree, buffers are in scope; fatal_bug otherwise. (tree_verify.c)
void tree_verify(const Tree *t);
// The same, but gives what is wrong, in the arena, and in *at the statement; NULL if nothing is.
const char *tree_fault(Arena *arena, const Tree *t, const Stmt **at);
// Frees what is not in the arena; the tree is empty afterwards. (tree.c)
void tree_free(Tree *t);

#endif
