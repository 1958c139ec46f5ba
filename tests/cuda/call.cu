// Calls: memory of the device, errors of kernels and of the host, several contexts.
#include "check.h"

#include <thread>
#include <vector>

using namespace fsm::cuda;

static const Check checks[] = {{FSM_ERROR_BOUNDS, "t.fsm:3", "index %d is out of range for an array of %d elements"},
                               {FSM_ERROR_ASSERT, "t.fsm:5", "no more"},
                               {FSM_ERROR_NAN, "t.fsm:7", "a NaN, of %g"}};

__global__ void scale(int64_t n, double a, const double *x, double *y) {
    int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}

// Fails at each multiple of `every` but 0.
__global__ void fails(Errors e, int64_t n, int64_t every) {
    int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (stopped(e) || i >= n) return;
    if (i && i % every == 0) fail(e, (unsigned long long)i, 0, i, n);
}

__global__ void counts(Errors e, int *n) {
    if (stopped(e)) return;
    ++*n;
    fail(e, 0, 2, 0.5);
}

static unsigned blocks(int64_t n) { return unsigned((n + 255) / 256); }

static int doubled(fsm_context *ctx, int64_t n, const double *x, double *y) {
    Call call(ctx, &info, nullptr, checks);
    double *a = call.upload(x, n), *b = call.alloc<double>(n);
    if (call.code()) return call.finish();
    if (n) FSM_LAUNCH(scale, blocks(n), 256, 0, call.stream(), n, 2.0, a, b);
    call.download(y, b, n);
    return call.finish();
}

static void test_copies() {
    fsm_context *ctx = fsm_context_new();
    for (int64_t n : {0, 1, 31, 1000, 100000}) {
        std::vector<double> x(size_t(n) + 1), y(size_t(n) + 1, -1);
        for (int64_t i = 0; i < n; i++) x[size_t(i)] = double(i);
        CHECK(doubled(ctx, n, x.data(), y.data()) == FSM_OK);
        for (int64_t i = 0; i < n; i++) CHECK(y[size_t(i)] == 2.0 * double(i));
        CHECK(y[size_t(n)] == -1);
    }
    CHECK(doubled(nullptr, 0, nullptr, nullptr) == FSM_ERROR_NO_CONTEXT);
    fsm_context_cancel(ctx);
    CHECK(doubled(ctx, 0, nullptr, nullptr) == FSM_ERROR_CANCELLED);
    fsm_context_free(ctx);
    std::puts("ok copies");
}

static int failing(fsm_context *ctx, int64_t n, int64_t every, int64_t again, cudaStream_t stream = nullptr) {
    Call call(ctx, &info, stream, checks);
    if (call.code()) return call.finish();
    FSM_LAUNCH(fails, blocks(n), 256, 0, call.stream(), call.errors(), n, every);
    FSM_LAUNCH(fails, blocks(n), 256, 0, call.stream(), call.errors(), n, again);
    return call.finish();
}

static void test_errors() {
    fsm_context *ctx = fsm_context_new();
    CHECK(failing(ctx, 5000, 9000, 9000) == FSM_OK);
    CHECK_TEXT(fsm_context_error(ctx), "");
    CHECK(failing(ctx, 5000, 17, 3) == FSM_ERROR_BOUNDS); // the first launch, and the smallest key
    CHECK_TEXT(fsm_context_error(ctx), "t.fsm:3: index 17 is out of range for an array of 5000 elements");
    CHECK(failing(ctx, 5000, 9000, 4999) == FSM_ERROR_BOUNDS);
    CHECK_TEXT(fsm_context_error(ctx), "t.fsm:3: index 4999 is out of range for an array of 5000 elements");
    CHECK(failing(ctx, 5000, 9000, 9000) == FSM_OK);

    Call host(ctx, &info, nullptr, checks); // a kernel's failure comes before one of the host after it
    int *n = host.alloc<int>(1), got = 0;
    host.check(cudaMemsetAsync(n, 0, sizeof *n, host.stream()));
    FSM_LAUNCH(counts, 1, 1, 0, host.stream(), host.errors(), n);
    FSM_LAUNCH(counts, 1, 1, 0, host.stream(), host.errors(), n);
    CHECK(host.fail(1) == FSM_ERROR_NAN);
    CHECK(cudaMemcpy(&got, n, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess && got == 1);
    CHECK(host.finish() == FSM_ERROR_NAN);
    CHECK_TEXT(fsm_context_error(ctx), "t.fsm:7: a NaN, of 0.5");

    Call alone(ctx, &info, nullptr, checks);
    CHECK(alone.fail(1) == FSM_ERROR_ASSERT && !alone.alloc<int>(1) && alone.finish() == FSM_ERROR_ASSERT);
    CHECK_TEXT(fsm_context_error(ctx), "t.fsm:5: no more");
    Call cuda(ctx, &info, nullptr, checks);
    CHECK(cuda.check(cudaErrorInvalidValue) == FSM_ERROR_DEVICE && cuda.finish() == FSM_ERROR_DEVICE);
    CHECK_TEXT(fsm_context_error(ctx), "CUDA: invalid argument (cudaErrorInvalidValue)");
    Call launch(ctx, &info, nullptr, checks);
    FSM_LAUNCH(fails, 1, 2000, 0, launch.stream(), launch.errors(), int64_t(1), int64_t(1));
    CHECK(launch.finish() == FSM_ERROR_DEVICE);
    const std::string said = fsm_context_error(ctx); // of so large a block; CUDA 13 says the second
    CHECK(said == "CUDA: invalid configuration argument (cudaErrorInvalidConfiguration)" || said == "CUDA: invalid argument (cudaErrorInvalidValue)");
    CHECK(failing(ctx, 5000, 9000, 9000) == FSM_OK);
    fsm_context_free(ctx);
    std::puts("ok errors");
}

__global__ void sets(Errors e, double *x, double value) {
    if (!stopped(e)) *x = value;
}

// What a call has noted of its failure is gone before the next, in whatever streams they are.
static void test_after_errors() {
    fsm_context *ctx = fsm_context_new();
    cudaStream_t s[2];
    double *x, got;
    for (cudaStream_t &one : s) CHECK(!cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(!cudaMalloc(&x, sizeof *x));
    for (int i = 0; i < 3; i++) {
        CHECK(failing(ctx, 5000, 17, 3, s[0]) == FSM_ERROR_BOUNDS);
        Call call(ctx, &info, s[i % 2], checks);
        call.errors(), call.errors();
        FSM_LAUNCH(sets, 1, 1, 0, call.stream(), call.errors(), x, double(i));
        CHECK(call.finish() == FSM_OK);
        CHECK(!cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost) && got == i);
    }
    fsm_context_free(ctx);
    CHECK(!cudaFree(x));
    for (cudaStream_t one : s) CHECK(!cudaStreamDestroy(one));
    std::puts("ok after errors");
}

// Launches that fail leave nothing that the host may look at; what failed before the call is not the call's.
static void test_launches() {
    fsm_context *ctx = fsm_context_new();
    CHECK(cudaSetDevice(1000) == cudaErrorInvalidDevice && cudaPeekAtLastError() == cudaErrorInvalidDevice);
    CHECK(failing(ctx, 5000, 9000, 9000) == FSM_OK);
    CHECK(cudaGetLastError() == cudaSuccess);
    Call call(ctx, &info, nullptr, checks);
    double *x = call.alloc<double>(1);
    FSM_LAUNCH(sets, 1, 2000, 0, call.stream(), call.errors(), x, 7.0); // has too many threads
    CHECK(call.read(x) == 0 && call.code() == FSM_ERROR_DEVICE && call.finish() == FSM_ERROR_DEVICE);
    const std::string said = fsm_context_error(ctx); // of so large a block; CUDA 13 says the second
    CHECK(said == "CUDA: invalid configuration argument (cudaErrorInvalidConfiguration)" || said == "CUDA: invalid argument (cudaErrorInvalidValue)");
#ifdef FSMC_CUDA_SHIM_H
    fsm::shim::fault = {"launch", cudaErrorNoKernelImageForDevice, 2};
    Call none(ctx, &info, nullptr, checks);
    x = none.alloc<double>(1);
    FSM_LAUNCH(sets, 1, 1, 0, none.stream(), none.errors(), x, 7.0);
    FSM_LAUNCH(sets, 1, 1, 0, none.stream(), none.errors(), x, 7.0);
    CHECK(none.wait() == FSM_ERROR_DEVICE && none.finish() == FSM_ERROR_DEVICE);
    CHECK_TEXT(fsm_context_error(ctx),
               "CUDA: no kernel image is available for execution on the device (cudaErrorNoKernelImageForDevice)");
    fsm::shim::fault = {"cudaMalloc", cudaErrorNoKernelImageForDevice, 100}; // an error of what came before
    Call memory(ctx, &info, nullptr, checks);
    CHECK(!memory.alloc<double>(1 << 20) && memory.finish() == FSM_ERROR_DEVICE);
    fsm::shim::fault = {};
#endif
    CHECK(failing(ctx, 5000, 9000, 9000) == FSM_OK);
    fsm_context_free(ctx);
    std::puts("ok launches that fail");
}

int main() {
    test_copies();
    test_errors();
    test_after_errors();
    test_launches();
}
