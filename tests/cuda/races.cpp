// Kernels with and without races, for ThreadSanitizer: "races NUMBER" runs one of them.
#include "check.h"

using namespace fsm::cuda;

static void no_barrier(double *out) {
    FSM_SHARED(s, double[64]);
    s[threadIdx.x] = 1;
    out[threadIdx.x] = s[63 - threadIdx.x];
}
static void with_barrier(double *out) {
    FSM_SHARED(s, double[64]);
    for (int round = 0; round < 3; round++) {
        s[threadIdx.x] = round;
        __syncthreads();
        out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
        __syncthreads();
    }
}
static void one_barrier_too_few(double *out) {
    FSM_SHARED(s, double[64]);
    for (int round = 0; round < 3; round++) {
        s[threadIdx.x] = round;
        __syncthreads();
        out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
    }
}
static void shuffle_orders_nothing(double *out) {
    FSM_SHARED(s, double[32]);
    s[threadIdx.x] = 1;
    const double x = __shfl_xor_sync(ALL_LANES, 1.0, 1);
    out[threadIdx.x] = s[31 - threadIdx.x] + x;
}
static void syncwarp_orders(double *out) {
    FSM_SHARED(s, double[32]);
    s[threadIdx.x] = 1;
    __syncwarp();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
static void blocks_meet(double *out) { out[(blockIdx.x * 64 + threadIdx.x) % 100] = threadIdx.x; }
static void atomics(double *out) { atomicAdd(&out[threadIdx.x % 3], 1.0); }

int main(int, char **arguments) {
    const int which = std::atoi(arguments[1]);
    static const unsigned blocks[] = {1, 2, 1, 1, 1, 2, 2}, threads[] = {64, 64, 64, 32, 32, 64, 64};
    static void (*const kernels[])(double *) = {no_barrier,      with_barrier, one_barrier_too_few, shuffle_orders_nothing,
                                                syncwarp_orders, blocks_meet,  atomics};
    static const char *const names[] = {"no barrier",      "with barrier", "one barrier too few", "shuffle orders nothing",
                                        "syncwarp orders", "blocks meet",  "atomics"};
    double *out;
    CHECK(!cudaMalloc(&out, 128 * sizeof *out));
    for (int again = 0; again < 2; again++) FSM_LAUNCH(kernels[which], blocks[which], threads[which], 0, nullptr, out);
    CHECK(!cudaFree(out));
    std::printf("%s: ", names[which]);
}
