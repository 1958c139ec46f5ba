// The CUDA backend: loop trees printed as C++ for nvcc, which any C++ compiler takes as well (fsmc/cuda.h).
#ifndef CUDA_CUDA_H
#define CUDA_CUDA_H

#include "lower/tree.h"

typedef struct CudaOptions {
    const char *name; // of the source, for a comment
    bool callable;    // also NAME__call, as the CPU's code has it (tests)
    bool cublas;      // large products are cuBLAS's
} CudaOptions;

// One .cu of all trees, in which grid_choose has noted the grids: for each the functions that the CPU's object has, and
// NAME_device. False after reporting what a GPU cannot do.
bool cuda_print(Str *out, Arena *a, Diag *diag, int ntrees, Tree *const *trees, const CudaOptions *opt);

#endif
