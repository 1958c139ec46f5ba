// The run-time library of programs compiled by fsmc: contexts and error codes. Link with -lfsmrt -lm.
#ifndef FSMC_RUNTIME_H
#define FSMC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Version of this interface; fsm_abi_version() gives that of the linked library.
#define FSM_ABI_VERSION 1
int fsm_abi_version(void);

// What an entry returns. 0 is success; fsm_context_error() has the text for any other.
enum {
    FSM_OK = 0,
    FSM_ERROR_NULL = 1,     // a pointer argument is NULL where an array has elements
    FSM_ERROR_SIZE = 2,     // a negative size, or sizes that do not agree
    FSM_ERROR_BOUNDS = 3,   // an array index out of range, or the extreme element of an empty array
    FSM_ERROR_ASSERT = 4,   // an `assert` of the program failed
    FSM_ERROR_DIVIDE = 5,   // Int division or remainder by zero
    FSM_ERROR_MEMORY = 6,   // memory could not be had; the text names the bytes asked for
    FSM_ERROR_OVERLAP = 7,  // an output array overlaps an input or another output
    FSM_ERROR_CANCELLED = 8, // fsm_context_cancel() was called
    FSM_ERROR_NAN = 9        // --debug-nan: an operation made a NaN of operands that are none
};

// A context owns the scratch memory and the last error of the calls made with it. It may be used by one thread at a
// time; calls after the first reuse its memory. NULL is never a valid context for an entry.
typedef struct fsm_context fsm_context;
fsm_context *fsm_context_new(void); // NULL if out of memory
void fsm_context_free(fsm_context *ctx); // NULL is allowed
// A context that takes all its memory from `alloc` (NULL if there is none; aligned for any type) and gives it back to
// `release`; data is handed to both.
typedef struct fsm_allocator {
    void *(*alloc)(size_t size, void *data);
    void (*release)(void *memory, void *data);
    void *data;
} fsm_allocator;
fsm_context *fsm_context_new_with(fsm_allocator allocator);
// The text of the last error on this context, "" if the last call succeeded. Valid until the next call.
const char *fsm_context_error(const fsm_context *ctx);
// The most scratch memory, in bytes, that a call has needed so far.
int64_t fsm_context_peak_bytes(const fsm_context *ctx);
// Asks the call that is running with this context, or the next one if none is, to return FSM_ERROR_CANCELLED. It does so
// on entry or between iterations of its outermost loops. May be called from any thread.
void fsm_context_cancel(fsm_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
