// What programs compiled by `fsmc --target=cuda` use: C++17, in headers alone, so that building fsmc needs no CUDA.
//
// With nvcc this is CUDA; with any other C++ compiler it is the shim that runs kernels on the processor (fsmc/cuda_shim.h).
// Link with -lfsmrt, and with -lcublas where FSM_CUDA_CUBLAS is defined.
#ifndef FSMC_CUDA_H
#define FSMC_CUDA_H

#ifdef __CUDACC__
#include <cuda_runtime.h>
// Starts a kernel, of at least one parameter.
#define FSM_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) kernel<<<grid, block, shared_bytes, stream>>>(__VA_ARGS__)
// A variable NAME of the type in the shared memory of the block.
#define FSM_SHARED(name, ...) __shared__ fsm::cuda::Itself<__VA_ARGS__> name
// NAME is the address of the shared memory that the launch asks for, aligned to 16 bytes.
#define FSM_DYNAMIC_SHARED(type, name)                                      \
    extern __shared__ __align__(16) unsigned char fsm_dynamic_shared[];     \
    type *name = reinterpret_cast<type *>(fsm_dynamic_shared)
namespace fsm::cuda {
template <class T> using Itself = T;
}
#else
#include "fsmc/cuda_shim.h"
#endif

#include "fsmc/cuda/call.h"

#endif
