// The part of CUDA that compiled programs use, on an ordinary processor: for tests on machines without a GPU.
//
// A .cu file that includes fsmc/cuda.h is C++17 that any compiler accepts, with kernels started by FSM_LAUNCH. Threads of a
// block are fibers, which are switched at barriers and shuffles alone; blocks run one after the other, and streams at once.
// What would be undefined on a device ends the program with a message: see fsmc/shim/device.h, streams.h and threads.h.
//
// The environment variable FSM_CUDA_SHIM has words that say what differs from the ordinary:
//   memory=N   the device has N bytes (at first 2 GiB)
//   reverse    threads and blocks run in the opposite order
//   blocks=S   blocks run in a random order, and threads go on after barriers in one; S is the seed
//   guard      an array of device memory ends where an unmapped page begins
//   late       what streams are asked for is done when something waits for it, and nothing else is done before
//   others     likewise, and first all that may be done of other streams
#ifndef FSMC_CUDA_SHIM_H
#define FSMC_CUDA_SHIM_H

#include "fsmc/shim/device.h"
#include "fsmc/shim/streams.h"
#include "fsmc/shim/threads.h"
#include "fsmc/shim/math.h"

#endif
