// Shared by the files that print the body of a function: the ordinary one (emit.c) and loops with lanes (lanes.c).
#ifndef CPU_BODY_H
#define CPU_BODY_H

#include "cpu/emit.h"
#include "lower/idle.h"
#include "lower/tree.h"
#include "support/map.h"

enum { ALIGNMENT = 64 }; // of buffers

// What a long function is divided into: functions for runs of statements of one block (parts.c). What one of them defines and
// another one needs is in the frame, memory with 8 bytes for each.
typedef struct Part {
    const Block *block;
    int begin, end;            // the statements
    struct Part *outer, *next; // the part that calls it; the next one of the same block
    int number;                // 0: all that is in no other part
    Map seen;                  // what it needs of others
    VEC(Temp) in, back;        // temps of other parts; those that the outer one needs afterwards
    VEC(const Buf *) in_buf, back_buf;
} Part;

typedef struct Body {
    Emitter *e;
    const Tree *tree;
    const Func *func;
    const char *name;                     // of the function
    int chunks;                           // how many loops have become functions of their own
    LLVMValueRef function, context, call; // call: the context that says whether the call has been cancelled
    bool cold;                            // a version for sizes of 0
    bool quick;                           // it is so long that code is made fast rather than well
    LLVMBasicBlockRef slots;              // the entry block: stack slots only
    LLVMValueRef *temp;                   // by temp: its value; of a cell: its slot. In a loop with lanes see lanes.c
    Stmt **def;                           // by temp: the statement that makes it
    int *seen;                            // by temp: marks of the search for accumulations
    bool *accumulation;                   // by temp: is a step of a cell's accumulation
    LLVMValueRef *base;                   // by buffer: its address
    bool *on_stack;                       // by buffer
    int64_t stack;                        // bytes on the stack
    LLVMBasicBlockRef leave;              // where ST_BREAK goes
    int depth;                            // of loops
    Map *procs;                           // by number + 1: ST_PROC; by that: its function
    Map works;                            // Stmt, a loop -> Works: when it does anything (lower/idle.h)
    // Of a function that is divided:
    Part *part; // which is being emitted; NULL: it is not divided
    Map parts;  // Block -> its first part
    LLVMValueRef frame;
    int *slot, *buf_slot; // by temp, buffer: its place in the frame + 1; 0: none
    int nslots, nparts;
    const Temp *of_temp;      // by temp, a parameter of a procedure: the temp that it is in all calls, + 1 (procs.c)
    const Buf *const *of_buf; // by buffer, likewise
    // Of the loop with lanes around:
    int lanes;               // how many; 0: there is no such loop
    const Stmt *loop;        // it
    LLVMValueRef mask;       // which of them are at work, as a vector of Bool; NULL: all
    LLVMValueRef in_range;   // the mask of a vector at the end of a loop, some lanes of which are at work in nothing
    LLVMValueRef left;       // how many of its lanes are at work, or more than there are
    const Stmt *given;       // the statement whose value a loop inside has given
    LLVMValueRef zero, dump; // where the others read and store, if they must
    LLVMValueRef *sums;      // by buffer: the lanes' private copies, or NULL
    LLVMValueRef copied;     // are there such copies?
    bool *sums_cell;         // by temp: a cell from outside that the lanes add to, each for itself
    bool *scan;              // by temp: the sum up to each lane, which is made where the cell is read
    bool streams;            // stores of vectors go past the caches
    int *approximate;        // by temp: of so many vectors of a square root, or a quotient, it is approximated (roots.c)
    int approximate_of;      // of so many vectors
    LLVMValueRef *inverse;   // by temp: 1 over it, if it is such a root
    LLVMValueRef *roomy;     // by buffer that is new in each lane, but made outside: is there room for all lanes?
} Body;

LLVMBasicBlockRef body_new_block(Body *p, const char *name);
void body_go_on(Body *p, LLVMBasicBlockRef block); // further instructions go to the end of the block
Kind body_kind(const Body *p, Temp t);
LLVMValueRef body_value(Body *p, Temp t);
LLVMValueRef body_function_of(Body *p, Op op, LLVMValueRef x);       // of a scalar; NULL if it is not written here (functions.c)
LLVMValueRef body_slot(Body *p, LLVMTypeRef type, const char *name); // a stack slot
// Continues in a new block if `ok` holds; returns with the i32 made in the failing block if not. Leaves the builder there
// and returns the other one.
LLVMBasicBlockRef body_split_failure(Body *p, LLVMValueRef ok);
void body_return_code(Body *p, LLVMValueRef code);
// Fails with the check's code and text; values are those of the text, of these kinds.
void body_fail(Body *p, const CheckInfo *check, int n, const Kind *kinds, LLVMValueRef *values);

int64_t body_constant_bytes(const Body *p, const Buf *buf);        // the bytes of a buffer of constant extents, or -1
bool body_allocates(const Body *p, const Block *block, bool deep); // does it take arena memory? deep: also inside
bool body_is_long(const Body *p, const Block *block);              // may one run of it take long?
LLVMValueRef body_buffer(Body *p, const Buf *buf);                 // its address
unsigned body_alignment(Kind kind);                                // of elements
LLVMValueRef body_count(Body *p, const Buf *buf); // the number of elements of a buffer that is known to fit into memory
LLVMValueRef body_call_arena(Body *p, const char *name, LLVMTypeRef result, int n, LLVMValueRef *args);
// Arena memory for so many elements of so many bytes; what fails returns.
LLVMValueRef body_alloc(Body *p, LLVMValueRef count, int64_t size);
LLVMValueRef body_mark(Body *p);
void body_release(Body *p, LLVMValueRef mark);
LLVMValueRef body_load(Body *p, Kind kind, LLVMValueRef address);
void body_store(Body *p, Kind kind, LLVMValueRef v, LLVMValueRef address);
LLVMValueRef body_element(Body *p, const Buf *buf, const Temp *index); // the address of buf[index…]

// A counted loop from `first` to n - 1 in steps around what is emitted between the two calls.
typedef struct Counted {
    LLVMBasicBlockRef body, done;
    LLVMValueRef index, n, back; // back: the jump to the next pass
    int64_t step;
} Counted;
Counted body_begin_for(Body *p, LLVMValueRef first, LLVMValueRef n, int64_t step, const char *name);
void body_end_for(Body *p, Counted *c);
void body_poll(Body *p); // returns if the call has been cancelled

// ---- long functions (parts.c)

void parts_divide(Body *p, int first); // decides on parts; `first`: the first statement of the function's block that may be in one
void parts_frame(Body *p);             // makes the frame, if there are parts
// In a function that is divided: temp t, buffer b have their value; the address of a cell is that of its slot, if it has one.
void parts_defined(Body *p, Temp t);
void parts_new_buffer(Body *p, const Buf *b);
LLVMValueRef parts_cell(Body *p, Temp t);
LLVMValueRef parts_place(Body *p, int slot); // the address of a place in the frame, which is given + 1
void parts_emit(Body *p, Part *part); // its function, and the call
void parts_free(Body *p);
void body_emit_range(Body *p, const Block *block, int begin, int end);
// A function with the parameters of an entry, and `extra` pointers.
LLVMValueRef body_function(Emitter *e, const Tree *tree, const char *name, int extra, bool cold);
void body_declare_parameters(Body *p);
void body_mark_quick(Emitter *e, LLVMValueRef function); // QUICK_ATTRIBUTE

LLVMValueRef body_definition(Body *p, const Stmt *s); // the value of a statement that defines a temp and is no loop
void body_emit(Body *p, const Block *block);
const Works *body_works(Body *p, const Stmt *loop);                    // when the loop, an ST_FOR, does anything
LLVMValueRef body_first(Body *p, const Stmt *loop);                    // the index that a loop begins with
void body_emit_scalar_for(Body *p, const Stmt *s, LLVMValueRef first); // an ordinary loop, from iteration `first` on

// A call of a function of the run-time library; its result.
LLVMValueRef body_call(Body *p, const char *name, LLVMTypeRef result, int n, LLVMValueRef *args);
// For a function that does a part of this one's: nothing is defined yet in it.
Body *body_outlined(const Body *p, LLVMValueRef function);
// For a procedure: its temps and buffers are no others', so the tables are the same.
Body *body_of_proc(const Body *p, LLVMValueRef function);

// ---- procedures (procs.c)

void procs_emit(Body *p, const Stmt *s);          // the function
void procs_call(Body *p, const Stmt *s);          // what fails returns
void procs_capture(Body *p, int nbufs);           // decides on what is in the frame, if procedures are called seldom
// Of the procedure that is being emitted: what is in the frame; NULL: it is not.
LLVMValueRef procs_value(Body *p, Temp t);
LLVMValueRef procs_buffer(Body *p, const Buf *b);

// ---- loops in threads (threads.c)

void threads_for(Body *p, const Stmt *s);

// ---- loops with lanes (lanes.c)

// Emits a loop that may have lanes: several iterations at a time, and those that are left over one by one.
void lanes_for(Body *p, const Stmt *s);
// Of a loop whose stores may go past the caches: emits the part that does so; where the rest begins.
LLVMValueRef lanes_streams(Body *p, const Stmt *s);
// In a loop with lanes: emits s if it is not the same for all lanes, and returns true.
bool lanes_stmt(Body *p, const Stmt *s);
// Of n statements that follow one another, emits the first ones if they add sums over the lanes to elements that these share;
// how many it were. (sums.c)
int lanes_sums(Body *p, int n, Stmt *const *s);
// The first of n statements that are what stores of Ints into neighbouring elements need, and these stores; 0: there is no such
// run. They are emitted together, after the other statements of the run. (stores.c)
int stores_run(const Body *p, int n, Stmt *const *s);
void stores_emit(Body *p, int n, Stmt *const *s);
// The same of stores of numbers that are made alike, of elements of small arrays. (packs.c)
int packs_run(Body *p, int n, Stmt *const *s);
void packs_emit(Body *p, int n, Stmt *const *s);
// May the statement come before stores to b that stand before it? It is nothing that they could change.
bool stores_let_pass(const Stmt *s, const Buf *b);
bool stores_follow(const Body *p, const Stmt *a, const Stmt *b); // is the element that b stores or adds to the one after that of a?

#endif
