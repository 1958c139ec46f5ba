// The run-time library of programs compiled by fsmc: contexts and error codes. Link with -lfsmrt -lm; C libraries
// older than glibc 2.34 want -pthread, too.
#ifndef FSMC_RUNTIME_H
#define FSMC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Version of this interface; fsm_abi_version() gives that of the linked library.
#define FSM_ABI_VERSION 2
int fsm_abi_version(void);

// What an entry returns. 0 is success; fsm_context_error() has the text for any other, which names the argument, what was
// expected and what was given.
enum {
    FSM_OK = 0,
    FSM_ERROR_NULL = 1,         // a pointer is NULL where an array has elements, or a result is to be written
    FSM_ERROR_SIZE = 2,         // sizes that do not agree
    FSM_ERROR_BOUNDS = 3,       // an array index out of range, or the extreme element of an empty array
    FSM_ERROR_ASSERT = 4,       // an `assert` of the program failed
    FSM_ERROR_DIVIDE = 5,       // Int division or remainder by zero
    FSM_ERROR_MEMORY = 6,       // memory could not be had; the text names the bytes asked for
    FSM_ERROR_OVERLAP = 7,      // an output shares memory with an argument or another output
    FSM_ERROR_CANCELLED = 8,    // fsm_context_cancel() was called
    FSM_ERROR_NAN = 9,          // --debug-nan: an operation made a NaN of operands that are none
    FSM_ERROR_NO_CONTEXT = 10,  // the context is NULL
    FSM_ERROR_BAD_CONTEXT = 11, // the context was freed, or never made by this copy of the run-time library
    FSM_ERROR_BUSY = 12,        // another call is running with this context; that call is not disturbed
    FSM_ERROR_NEGATIVE = 13,    // a negative size
    FSM_ERROR_OVERFLOW = 14,    // an array of more bytes than can be addressed
    FSM_ERROR_ALIGN = 15,       // a pointer that is no multiple of the size of its elements
    FSM_ERROR_VERSION = 16,     // the object was compiled for another version of this interface
    FSM_ERROR_RANK = 17,        // a view of the wrong number of dimensions
    FSM_ERROR_TYPE = 18,        // a view of the wrong type of elements
    FSM_ERROR_STRIDE = 19,      // an output view of which two elements are, or may be, one place of memory
    FSM_ERROR_RANGE = 20,       // a result that does not fit into its type, Int32
    FSM_ERROR_EXTERN = 21,      // a C function that the program declares by `extern` gave another status than 0
    FSM_ERROR_TAPE = 22,        // --tape-limit, #[tapeLimit]: reverse mode through a loop needs more; the text names the least
    FSM_ERROR_DEVICE = 23       // CUDA gave an error; the text has its name and what it says
};
// The name of a code, "FSM_ERROR_NULL" for 1; "an unknown code" if it is none.
const char *fsm_code_name(int code);

// A context owns the scratch memory and the last error of the calls made with it. It may be used by one thread at a
// time (any number of threads may call entries with contexts of their own); calls after the first reuse its memory. A
// call with NULL, with a context that was freed, with memory that is no context, or with one that is in use returns the
// code for that and does nothing else. (A context that gets the place of a freed one in memory cannot be told from it.)
typedef struct fsm_context fsm_context;
fsm_context *fsm_context_new(void); // NULL if out of memory
// Nothing happens if ctx is NULL or no context. The memory of a context in use is given back when that call ends.
void fsm_context_free(fsm_context *ctx);
// A context that takes all its memory from `alloc` (NULL if there is none; aligned for any type) and gives it back to
// `release`; data is handed to both.
typedef struct fsm_allocator {
    void *(*alloc)(size_t size, void *data);
    void (*release)(void *memory, void *data);
    void *data;
} fsm_allocator;
fsm_context *fsm_context_new_with(fsm_allocator allocator);
// The text of the last error on this context, "" if the last call succeeded. Valid until the next call. For NULL, what is
// no context, and a context in use, the text says that.
const char *fsm_context_error(const fsm_context *ctx);
// The most scratch memory, in bytes, that a call has needed so far.
int64_t fsm_context_peak_bytes(const fsm_context *ctx);
// Asks the call that is running with this context, or the next one if none is, to return FSM_ERROR_CANCELLED. It does so
// on entry or between iterations of its loops. May be called from any thread, while the context has not been freed.
void fsm_context_cancel(fsm_context *ctx);

// How many threads calls with this context use, for programs compiled with --threads: 0, as at first: as many as that option
// says; -1: one for each processor. Results do not depend on it, to the last bit. The threads are those of the context: they
// are started when they are first needed, wait when there is nothing for them to do, and end with the context. An allocator
// is asked from any of them, one at a time. Nothing happens if ctx is no context.
void fsm_context_set_threads(fsm_context *ctx, int threads);

// The types of array elements: uint8_t (0 or 1; anything but 0 is read as 1), int64_t, float, double, int32_t.
enum { FSM_BOOL = 0, FSM_INT = 1, FSM_FLOAT = 2, FSM_DOUBLE = 3, FSM_INT32 = 4 };

// An array anywhere in memory, for the general form of an entry (NAME_general). Element [i, j, …] is at
// data + i*strides[0] + j*strides[1] + … *bytes*, as numpy and the buffer protocol have it: column-major arrays,
// transposes, slices, fields of structures, reversed (negative strides, data at element [0, 0, …]) and repeated
// (stride 0) arrays are all views. Of an output view no two elements may be in one place.
typedef struct fsm_view {
    void *data; // arguments are only read
    int32_t type; // FSM_DOUBLE, …
    int32_t rank;
    const int64_t *shape;   // rank extents
    const int64_t *strides; // rank of them; NULL: row-major without gaps
} fsm_view;

#ifdef __cplusplus
}
#endif
#endif
