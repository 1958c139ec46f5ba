// Shared by the files that print loops with lanes: lanes.c, lane_loop.c, rows.c, sums.c, roots.c and functions.c.
#ifndef CPU_LANES_H
#define CPU_LANES_H

#include "cpu/body.h"

// Of one vector, if a block of lanes takes several of them; not more than what the machine's functions take.
int lanes_of_vector(const Body *p);
bool lanes_own(const Buf *b);                                 // has each lane one of its own?
LLVMValueRef lanes_index(const Body *p, int lane);            // as an operand of vector instructions
LLVMTypeRef lanes_vector_type(const Body *p, LLVMTypeRef of); // of all lanes
LLVMValueRef lanes_splat(Body *p, LLVMValueRef x);            // x in all lanes
LLVMValueRef lanes_extract(Body *p, LLVMValueRef v, int lane);
bool lanes_sets_scan(const Body *p, const Stmt *set); // of a cell whose value in each iteration is a scan's (lower/scan.c)
LLVMValueRef lanes_part(Body *p, LLVMValueRef v, int first, int n);        // lanes first … first + n - 1 of a vector
LLVMValueRef lanes_joined(Body *p, LLVMValueRef a, LLVMValueRef b);        // two vectors one after the other
LLVMValueRef lanes_first_number(Body *p, const Buf *b, const Temp *index); // of the element in the first lane (or in all)
LLVMValueRef lanes_numbers(Body *p, const Buf *b, const Temp *index);      // of the elements in all lanes
// By how many elements neighbouring lanes are apart, if they are so by fixed steps.
LLVMValueRef lanes_stride(Body *p, const Buf *b, const Temp *index);
LLVMValueRef lanes_address(Body *p, const Buf *b, LLVMValueRef number);
void lanes_past_caches(Body *p, LLVMValueRef store, int bytes); // of a vector of so many bytes, at an address that they divide
unsigned lanes_aligned(Kind kind, int lanes);                   // the alignment of a vector, if buffers begin at ALIGNMENT

LLVMValueRef lanes_value(Body *p, Temp t);                            // in all lanes
LLVMValueRef lanes_reduce(Body *p, const char *name, LLVMValueRef v); // by an intrinsic

// ---- sums over lanes (sums.c)

LLVMValueRef lanes_sum(Body *p, Kind kind, LLVMValueRef v);                             // of a vector
void lanes_sum_each(Body *p, Kind kind, int n, LLVMValueRef *v);                        // of each of n vectors: several at once
LLVMValueRef lanes_plus(Body *p, Kind kind, LLVMValueRef x, LLVMValueRef y);            // of two vectors
LLVMValueRef lanes_combined(Body *p, Op op, Kind kind, LLVMValueRef x, LLVMValueRef y); // the same by any operation
LLVMValueRef lanes_folded(Body *p, Op by, Kind kind, LLVMValueRef v, int n);            // the parts of n lanes that v has, combined

// If lanes load the same element of neighbouring short rows of fixed length: sets *v. (rows.c)
bool lanes_load_apart(Body *p, const Buf *b, const Temp *index, LLVMValueRef *v);
// Emits a loop that copies rows (Stmt.rows), or says that it is an ordinary loop. (rows.c)
bool lanes_rows(Body *p, const Stmt *s);

// Which square roots and quotients in a loop with lanes are approximated. (roots.c)
void lanes_plan_roots(Body *p, const Stmt *loop);
// Of an operation that is one of these, or a division by such a root: its value; else NULL.
LLVMValueRef lanes_root(Body *p, const Stmt *s);

// A block that is seldom reached, where a lane of `far` says so: what is emitted between the two calls is in it. It makes `other`
// of the n values v, which become what they are after it. (functions.c)
typedef struct Rare {
    LLVMBasicBlockRef from, rest;
} Rare;
Rare lanes_begin_rare(Body *p, LLVMValueRef far);
void lanes_end_rare(Body *p, const Rare *r, int n, LLVMValueRef *v, LLVMValueRef *other);

// A function of a vector of doubles, or of several side by side, so that operations of one go on while those of another wait; NULL
// if it is not written here. (functions.c)
LLVMValueRef lanes_function(Body *p, Op op, LLVMValueRef x);
LLVMValueRef lanes_call(Body *p, Op op, Kind kind, int n, LLVMValueRef *args); // libmvec's function, of a vector or of its parts

#endif
