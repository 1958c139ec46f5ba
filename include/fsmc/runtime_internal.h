// What compiled code calls. Not for users: the compiler and the run-time library of one version belong together.
#ifndef FSMC_RUNTIME_INTERNAL_H
#define FSMC_RUNTIME_INTERNAL_H

#include "fsmc/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

// An entry as its object describes it: constant data.
typedef struct fsm_array_info {
    const char *name;
    int32_t type, rank; // of outputs also 0: a scalar
} fsm_array_info;
typedef struct fsm_size_info { // a size name: the extent `dim` of argument `array` has its value
    const char *name;
    int32_t array, dim;
} fsm_size_info;
typedef struct fsm_entry_info {
    int32_t abi;                     // FSM_ABI_VERSION of the compiler
    int32_t nsizes, ninputs, noutputs; // ninputs: the arguments that are arrays
    const char *name;
    const fsm_array_info *arrays; // inputs, then outputs
    const fsm_size_info *sizes;
} fsm_entry_info;

// Starts a call: refuses a context that cannot be used, takes it, and forgets the last error and the scratch memory of
// the last call. After FSM_OK, fsm_end gives the context back.
int fsm_begin(fsm_context *ctx, const fsm_entry_info *info);
void fsm_end(fsm_context *ctx);
// Whether fsm_begin would find nothing to do: a context that no call has, no text of an error, the same version. What needs
// neither memory nor an error text of the context then runs without taking it.
int fsm_is_free(fsm_context *ctx, const fsm_entry_info *info);
// Checks the first n arrays: data has the address of each, extents those of all, one after the other (INT64_MIN: more
// than fits into int64_t). Returns FSM_OK or
// FSM_ERROR_NULL, _OVERFLOW, _ALIGN or _OVERLAP.
int fsm_check_arrays(fsm_context *ctx, const fsm_entry_info *info, void *const *data, const int64_t *extents,
                     int n);

// The general form of an entry. views[i] is the fsm_view of array i (of a scalar output: its address).
// First: checks type and rank of all views, and reads the sizes.
int fsm_view_sizes(fsm_context *ctx, const fsm_entry_info *info, const void *const *views, int64_t *sizes);
// Then: checks the shapes of the arguments; data[i] gets their addresses, or those of copies in scratch memory.
int fsm_view_inputs(fsm_context *ctx, const fsm_entry_info *info, const void *const *views, const int64_t *extents,
                    void **data);
// Then the same for the outputs, which must share no memory with anything.
int fsm_view_outputs(fsm_context *ctx, const fsm_entry_info *info, const void *const *views, const int64_t *extents,
                     void **data);
// At the end: writes outputs that were computed in scratch memory where they belong.
void fsm_view_finish(const fsm_entry_info *info, const void *const *views, void *const *data);

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

// Copies `bytes` bytes of each of so many columns, which are `step` bytes apart, past the caches where they are large. They do
// not overlap.
void fsm_columns(void *to, const void *from, int64_t columns, int64_t bytes, int64_t to_step, int64_t from_step);

// The least and the greatest, in turn, of the integers of 4 or 8 bytes in each of so many columns of n rows, from data
// on, each `step` integers after the one before; all are 0 if there are no rows.
void fsm_measure(const void *data, int32_t bytes, int64_t n, int64_t step, int32_t columns, int64_t *out);

// What a context owns for a device: data, which is no business of this library, and what frees it (NULL: nothing does) when
// the context is. Only the call that the context is in may look at it or change it.
typedef struct fsm_part {
    void *data;
    void (*release)(void *data);
} fsm_part;
fsm_part *fsm_device_part(fsm_context *ctx); // never NULL; of zeros at first

// ---- threads (runtime/threads.c)

// The least work of a chunk, in additions: some twenty microseconds; and how much there must be for each element that is copied.
enum { FSM_CHUNK_WORK = 128 * 1024, FSM_COPY_WORK = 16 };
// How many of n iterations a thread takes at a time: all of them unless there is work for more. It depends on nothing but its
// arguments, so that results do not depend on the number of threads. work: of an iteration, in additions; copied: elements
// that are copied or added up for each chunk; block: of how many iterations a chunk is best a multiple. If n is negative,
// (n + size - 1) / size is 0.
int64_t fsm_chunk(int64_t n, double work, double copied, int64_t block);
// Does chunk number c. ctx has the thread's scratch memory and error text; call is the context of the call, which says
// whether that has been cancelled.
typedef int fsm_chunk_function(fsm_context *ctx, fsm_context *call, int64_t c, const void *shared);
// Does the chunks 0 … n - 1, in threads if the context or else `threads` (0: a thread for each processor) says so. Returns
// FSM_OK, or the code of the first chunk that fails, which leaves its text in ctx.
int fsm_parallel(fsm_context *ctx, fsm_chunk_function *f, const void *shared, int64_t n, int32_t threads);

// How many threads fsm_parallel would have for many chunks: 1 in one of them.
int64_t fsm_threads(const fsm_context *ctx, int32_t threads);

// Parts of the run-time library, for itself.
typedef struct fsm_text { // appends to the error text of ctx, cut off where its room ends
    fsm_context *ctx;
    size_t len;
} fsm_text;
fsm_text fsm_text_begin(fsm_context *ctx);
void fsm_text_add(fsm_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
// "argument 'x'" or "output 'x'"; "Double[3][4]".
void fsm_text_name(fsm_text *t, const fsm_entry_info *info, int k);
void fsm_text_shape(fsm_text *t, const fsm_array_info *array, const int64_t *extents);
// The bytes of an array; 0 if it has no elements, -1 if they do not fit into int64_t.
int64_t fsm_array_bytes(const fsm_array_info *array, const int64_t *extents);
size_t fsm_type_size(int32_t type);
int fsm_fail_null(fsm_context *ctx, const fsm_entry_info *info, int k, const int64_t *extents);
int fsm_fail_overflow(fsm_context *ctx, const fsm_entry_info *info, int k, const int64_t *extents);

#ifdef __cplusplus
}
#endif
#endif
