// What compiled code calls. Not for users: the compiler and the run-time library of one version belong together.
#ifndef FSMC_RUNTIME_INTERNAL_H
#define FSMC_RUNTIME_INTERNAL_H

#include "fsmc/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

// An array argument or an output: where it lies and how long it is (0: it has no elements; < 0: that does not fit into
// int64_t).
typedef struct fsm_array {
    const void *data;
    int64_t bytes;
} fsm_array;

// Starts a call: forgets the last error and the scratch memory of the last call, then checks the arrays (inputs first,
// then outputs; names has the name of each). Returns FSM_OK or FSM_ERROR_SIZE, _NULL, _OVERLAP or _CANCELLED.
int fsm_enter(fsm_context *ctx, int64_t ninputs, int64_t noutputs, const fsm_array *arrays, const char *const *names);
// Sets the error text to "where: text" (without "where: " if it is empty), each "%d" of text replaced by the next of
// the nvalues int64_t values and each "%g" by the double with the bits of the next, and returns code.
int fsm_fail(fsm_context *ctx, int code, const char *where, const char *text, int nvalues, ...);
// FSM_OK, or FSM_ERROR_CANCELLED once after fsm_context_cancel().
int fsm_poll(fsm_context *ctx);
// `count` elements of `size` bytes of uninitialised memory aligned to 64 bytes; count < 0 stands for a number that does
// not fit into int64_t. NULL after setting the error text if there is no memory; the caller returns FSM_ERROR_MEMORY.
void *fsm_alloc(fsm_context *ctx, int64_t count, int64_t size);
// The state of the scratch memory, and the return to a state: frees what was allocated since.
int64_t fsm_mark(fsm_context *ctx);
void fsm_release(fsm_context *ctx, int64_t mark);

#ifdef __cplusplus
}
#endif
#endif
