// Written by fsmc. Link with -lfsmrt -lm.
//
// Every function returns FSM_OK or an FSM_ERROR code, whose text fsm_context_error(ctx) has; it names the argument,
// what was expected and what was given. After an error the arguments are untouched, the results unspecified, and the
// next call works. A context serves one call at a time; threads use contexts of their own. fsm_context_cancel ends a
// call from another thread. fsmc/runtime.h has contexts, codes, allocators and views.
//
// NAME          sizes first, then the arguments, then the results. Arrays are row-major and contiguous; results must
//               not overlap anything.
// NAME_general  the same with a view for each array, which may have any strides; sizes are read off the views and
//               must agree. Contiguous arrays are used in place, others copied to and from scratch memory.
// NAME_sizes    the extents of the results for these arguments: outN_dimK, outermost first.
#ifndef MM_NN_H
#define MM_NN_H

#include "fsmc/runtime.h"

#if FSM_ABI_VERSION != 2
#error "compile the program again: fsmc/runtime.h is of another version"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Sizes: n, m, k.
// a: double[n][m]
// b: double[m][k]
// out0: result, double[n][k]
int nn(fsm_context *ctx, int64_t n, int64_t m, int64_t k, const double *a, const double *b, double *out0);
int nn_general(fsm_context *ctx, const fsm_view *a, const fsm_view *b, const fsm_view *out0);
int nn_sizes(fsm_context *ctx, int64_t n, int64_t m, int64_t k, const double *a, const double *b, int64_t *out0_dim0, int64_t *out0_dim1);
int nn_sizes_general(fsm_context *ctx, const fsm_view *a, const fsm_view *b, int64_t *out0_dim0, int64_t *out0_dim1);

#ifdef __cplusplus
}
#endif
#endif
