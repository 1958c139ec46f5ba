// Shared by rows.c, which finds what rows lanes load and store as vectors, and row_blocks.c, which moves them.
#ifndef CPU_ROWS_H
#define CPU_ROWS_H

#include "cpu/lanes.h"

// Lane l has a row of its own in memory, and a buffer holds element j of all lanes side by side.
typedef struct Rows {
    Kind kind;            // of the elements
    bool in;              // from the rows into the buffer; else back
    LLVMValueRef first;   // the address of element 0 of the first lane's row
    LLVMValueRef apart;   // elements between neighbouring rows; NULL: they lie anywhere, and …
    LLVMValueRef row[64]; // … these are the numbers of their first elements, counted from `first`
    LLVMValueRef buffer;  // the address of the first element of the first lane
    LLVMValueRef lanes;   // how many
} Rows;

// Moves elements j … j + size - 1, a power of 2 up to the elements of a vector, of a vector of lanes, of which `lane` is the first.
void rows_move(Body *p, const Rows *r, LLVMValueRef j, int lane, int size);

// Moves the first n elements of all lanes, by a call of a function that is the same for all such copies of a module.
void rows_call(Body *p, const Rows *r, LLVMValueRef n);

#endif
