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
#ifndef KERNELS_PROJECTION_GRAD_H
#define KERNELS_PROJECTION_GRAD_H

#include "fsmc/runtime.h"

#if FSM_ABI_VERSION != 2
#error "compile the program again: fsmc/runtime.h is of another version"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Sizes: n.
// p: double[n][3]
// r: double[3][3]
// t: double[3]
// c: double[3]
// dy: double[n][2]
// out0: result, double[n][3]
// out1: result, double[3][3]
// out2: result, double[3]
// out3: result, double[3]
int projection_grad(fsm_context *ctx, int64_t n, const double *p, const double *r, const double *t, const double *c, const double *dy, double *out0, double *out1, double *out2, double *out3);
int projection_grad_general(fsm_context *ctx, const fsm_view *p, const fsm_view *r, const fsm_view *t, const fsm_view *c, const fsm_view *dy, const fsm_view *out0, const fsm_view *out1, const fsm_view *out2, const fsm_view *out3);
int projection_grad_sizes(fsm_context *ctx, int64_t n, const double *p, const double *r, const double *t, const double *c, const double *dy, int64_t *out0_dim0, int64_t *out0_dim1, int64_t *out1_dim0, int64_t *out1_dim1, int64_t *out2_dim0, int64_t *out3_dim0);
int projection_grad_sizes_general(fsm_context *ctx, const fsm_view *p, const fsm_view *r, const fsm_view *t, const fsm_view *c, const fsm_view *dy, int64_t *out0_dim0, int64_t *out0_dim1, int64_t *out1_dim0, int64_t *out1_dim1, int64_t *out2_dim0, int64_t *out3_dim0);

#ifdef __cplusplus
}
#endif
#endif
