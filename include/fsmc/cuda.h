// What programs compiled by `fsmc --target=cuda` use: C++17, in headers alone, so that building fsmc needs no CUDA.
//
// With nvcc this is CUDA; with any other C++ compiler it is the shim that runs kernels on the processor (fsmc/cuda_shim.h).
// Link with -lfsmrt, and with -lcublas where FSM_CUDA_CUBLAS is defined.
#ifndef FSMC_CUDA_H
#define FSMC_CUDA_H

#ifdef __CUDACC__
#include <cooperative_groups.h>
#include <cuda_runtime.h>
// Starts a kernel, of at least one parameter.
#define FSM_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) kernel<<<grid, block, shared_bytes, stream>>>(__VA_ARGS__)
// The same, where all blocks run at once, and may wait for each other by fsm::cuda::sync_grid().
#define FSM_LAUNCH_GRID(kernel, grid, block, shared_bytes, stream, ...) \
    fsm::cuda::launch_grid(kernel, grid, block, shared_bytes, stream, __VA_ARGS__)
// A variable NAME of the type in the shared memory of the block.
#define FSM_SHARED(name, ...) __shared__ fsm::cuda::Itself<__VA_ARGS__> name
// Memory of the host, or, in kernels, of the heap that their threads share.
#define FSM_MALLOC(bytes) malloc(bytes)
#define FSM_FREE(memory) free(memory)
// What races to the end of the scope is meant to: for the shim.
#define FSM_RACES
// The loop's iterations are written out.
#define FSM_UNROLL _Pragma("unroll")
// NAME is the address of the shared memory that the launch asks for, aligned to 16 bytes.
#define FSM_DYNAMIC_SHARED(type, name)                                      \
    extern __shared__ __align__(16) unsigned char fsm_dynamic_shared[];     \
    type *name = reinterpret_cast<type *>(fsm_dynamic_shared)
namespace fsm::cuda {
template <class T> using Itself = T; // lets an array type stand before the name
template <class... P, class... A>
void launch_grid(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream, A... arguments) {
    cudaLaunchAttribute cooperative = {};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared, config.stream = stream;
    config.attrs = &cooperative, config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, P(arguments)...); // an error stays until it is asked for, as with FSM_LAUNCH
}
__device__ inline void sync_grid() { cooperative_groups::this_grid().sync(); }
} // namespace fsm::cuda
#else
#include "fsmc/cuda_shim.h"
#endif

#include "fsmc/cuda/call.h"
#include "fsmc/cuda/factors.h"
#include "fsmc/cuda/graph.h"
#include "fsmc/cuda/matmul.h"
#include "fsmc/cuda/reduce.h"
#include "fsmc/cuda/scan.h"
#include "fsmc/cuda/scatter.h"

#endif
