// What the shim finds: each program of the list runs in a process of its own, which must end with the message.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>

#define LAUNCH(kernel, threads, ...) FSM_LAUNCH(kernel, 1, threads, 0, nullptr, __VA_ARGS__)

static void ends_early(int n) {
    if (int(threadIdx.x) >= n) return;
    __syncthreads();
}
static void ends_late(int n) {
    if (int(threadIdx.x) < n) __syncthreads();
}
static void different_barriers(int n) {
    if (int(threadIdx.x) < n) __syncthreads();
    else __syncthreads();
}
static void different_kinds(int n) {
    if (int(threadIdx.x) < n) __syncthreads_or(1);
    else __syncthreads_and(1);
}
static void lane_outside(int n) { __shfl_sync((1u << n) - 1, 1.0, 0); }
static void lanes_elsewhere(int n) {
    if (int(threadIdx.x) < n) __shfl_sync(0xffffffffu, 1, 0);
    else __syncthreads();
}
static void warps_apart(int n) {
    if (int(threadIdx.x) < n) __ballot_sync(0xffffffffu, 1);
    else __any_sync(0xffffffffu, 1);
}
static void writes(double *x, int at) { x[at] = 1; }
static void shared_beyond(int n) {
    FSM_SHARED(s, double[8]);
    double *p = s;
    p[n] = 1;
}
static void shared_large(int) {
    FSM_SHARED(a, char[200 * 1024]);
    FSM_SHARED(b, char[100 * 1024]);
    a[0] = b[0] = 0;
}
static void no_grid(int) { fsm::cuda::sync_grid(); }

static double *device(size_t n) {
    double *p = nullptr;
    cudaMalloc(&p, n * sizeof *p);
    return p;
}
static double host[10];

struct Program {
    const char *name, *message;
    void (*run)();
};
static const Program programs[] = {
    {"a thread ends while others wait", "ended while others wait at __syncthreads", [] { LAUNCH(ends_early, 64, 40); }},
    {"threads wait for one that has ended", "have ended and will not come to __syncthreads",
     [] { fsm::shim::options().reverse = true; LAUNCH(ends_late, 64, 40); }},
    {"two barriers", "threads of a block wait at different places: __syncthreads at", [] { LAUNCH(different_barriers, 64, 32); }},
    {"two kinds of barriers", "different places: __syncthreads_or at", [] { LAUNCH(different_kinds, 64, 32); }},
    {"a lane that is not in its mask", "by lane 7, which is not in its mask 7f", [] { LAUNCH(lane_outside, 32, 7); }},
    {"lanes that never come", "for lanes that wait elsewhere", [] { LAUNCH(lanes_elsewhere, 32, 20); }},
    {"two votes of a warp", "different places: __ballot_sync at", [] { LAUNCH(warps_apart, 32, 16); }},
    {"a write behind an array", "wrote behind an array of 80 bytes",
     [] { double *p = device(10); LAUNCH(writes, 1, p, 10); cudaDeviceSynchronize(); }},
    {"a write before an array", "wrote before an array of 80 bytes", [] { double *p = device(10); LAUNCH(writes, 1, p, -1); cudaFree(p); }},
    {"a write behind shared memory", "behind an array of 64 bytes in shared memory", [] { LAUNCH(shared_beyond, 1, 8); }},
    {"too much shared memory", "307200 bytes of shared memory: at most 232448", [] { LAUNCH(shared_large, 1, 0); }},
    {"a write behind an array of the pool", "wrote behind an array of 80 bytes",
     [] {
         fsm_context *ctx = fsm_context_new();
         fsm::cuda::Call call(ctx, &info, nullptr, nullptr);
         LAUNCH(writes, 1, call.alloc<double>(10), 10);
         call.finish();
     }},
    {"the host's memory in a kernel", "a kernel: the argument, 0x", [] { LAUNCH(writes, 1, host, 1); }},
    {"a copy of the wrong kind", "cudaMemcpy: the destination, 0x",
     [] { cudaMemcpy(host, device(10), sizeof host, cudaMemcpyHostToDevice); }},
    {"a copy from the wrong side", "cudaMemcpy: the source is device memory where the host's is expected",
     [] { cudaMemcpy(device(10), device(10), sizeof host, cudaMemcpyHostToDevice); }},
    {"a copy that is too long", "80 bytes at offset 8 of the destination, which has 80",
     [] { cudaMemcpy(device(10) + 1, host, sizeof host, cudaMemcpyHostToDevice); }},
    {"memory freed twice", "cudaFree of 0x", [] { double *p = device(3); cudaFree(p); cudaFree(p); }},
    {"memory of the host freed as the device's", "cudaFree of 0x", [] { int *p; cudaHostAlloc(&p, 4, 0); cudaFree(p); }},
    {"memory that is left", "2 arrays of device memory were not freed, one of 24 bytes", [] { device(3), device(3); fsm::shim::stop_if_left(); }},
    {"a barrier of no grid", "was not started by FSM_LAUNCH_GRID", [] { LAUNCH(no_grid, 1, 0); }},
};

static std::string said(const Program &p) {
    int ends[2];
    CHECK(!pipe(ends));
    std::fflush(stdout);
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], 2);
        p.run();
        cudaDeviceSynchronize(); // what waits for that is done
        _exit(0);
    }
    close(ends[1]);
    std::string text;
    char buffer[512];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, size_t(n));
    close(ends[0]);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 134) return text;
    return "(no message) " + text;
}

// What goes on without a message.
static void read_fresh(const double *x, const float *y, const int *z, int *out) {
    FSM_SHARED(s, double[2]);
    out[0] = std::isnan(*x) && std::isnan(*y) && *z > 1000000000 && std::isnan(s[1]);
}
static void grid_sum(int *x, int *sums) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = int(blockIdx.x + 1);
    fsm::cuda::sync_grid();
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x * blockDim.x; i++) sum += x[i];
    fsm::cuda::sync_grid();
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
static void part_of_warp(int *out) {
    if (threadIdx.x >= 20) return; // the others go on
    out[threadIdx.x] = __popc(__ballot_sync(0xffffffffu, threadIdx.x % 2));
    if (threadIdx.x < 8) out[threadIdx.x] += __shfl_xor_sync(0xffu, int(threadIdx.x), 7);
    else out[threadIdx.x] += __shfl_sync(0xfff00u, int(threadIdx.x), 3, 8);
}

static void test_harmless() {
    fsm::cuda::Call call(nullptr, &info, nullptr, nullptr);
    int *out;
    double *fresh = device(1);
    CHECK(!cudaMalloc(&out, 64 * sizeof *out));
    LAUNCH(read_fresh, 1, fresh, reinterpret_cast<float *>(fresh), reinterpret_cast<int *>(fresh), out);
    int got[64] = {0};
    CHECK(!cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) && got[0] == 1);
    std::puts("ok fresh memory");

    FSM_LAUNCH_GRID(grid_sum, 3, 5, 0, nullptr, out, out + 32);
    CHECK(!cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) && got[32] == 30 && got[33] == 30 && got[34] == 30);
    std::puts("ok grid");

    LAUNCH(part_of_warp, 32, out);
    CHECK(!cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 20; i++) CHECK(got[i] == 10 + (i < 8 ? 7 - i : i / 8 * 8 + 3));
    std::puts("ok parts of warps");
    FSM_LAUNCH(part_of_warp, dim3(1, 70000), 32, 0, nullptr, out);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess);
    std::puts("ok launches");
    CHECK(!cudaFree(out) && !cudaFree(fresh));
    fsm::shim::stop_if_left();
}

int main() {
    test_harmless();
    for (const Program &p : programs) {
        const std::string text = said(p);
        if (text.find(p.message) == std::string::npos) std::printf("not ok %s: %s\n", p.name, text.c_str());
        else std::printf("ok %s\n", p.name);
    }
}
