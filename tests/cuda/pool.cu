// The pool of a context, graphs that it keeps, and contexts in several threads.
#include "check.h"

#include <atomic>
#include <thread>
#include <vector>

using namespace fsm::cuda;

static const Check checks[] = {{FSM_ERROR_ASSERT, "t.fsm:9", "step %d"}};

// How often cudaMalloc was called; with nvcc nobody counts.
static int64_t allocations() {
#ifdef FSMC_CUDA_SHIM_H
    return fsm::shim::memory().allocations;
#else
    return 0;
#endif
}

__global__ void set_to(int64_t n, double value, double *x) {
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) x[i] = value;
}
__global__ void add_from(int64_t n, const double *x, double *y) {
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) y[i] += x[i];
}

// ---- memory

static int64_t use_memory(fsm_context *ctx, int64_t n) {
    Call call(ctx, &info, nullptr, checks);
    const int64_t before = allocations();
    double *a = call.alloc<double>(n);
    for (int round = 0; round < 3; round++) {
        Pool::Mark outer = call.mark();
        double *b = call.alloc<double>(2 * n), *c = call.alloc<double>(0);
        Pool::Mark inner = call.mark();
        double *d = call.alloc<double>(70 * n);
        CHECK(a && b && c && d && a != b && b != d);
        CHECK(reinterpret_cast<uintptr_t>(d) % 256 == 0);
        FSM_LAUNCH(set_to, blocks_for(n), BLOCK, 0, call.stream(), n, 1.0, a);
        FSM_LAUNCH(set_to, blocks_for(2 * n), BLOCK, 0, call.stream(), 2 * n, 2.0, b);
        FSM_LAUNCH(set_to, blocks_for(70 * n), BLOCK, 0, call.stream(), 70 * n, 3.0, d);
        call.release(inner);
        CHECK(call.alloc<double>(70 * n) == d);
        call.release(outer);
        CHECK(call.alloc<double>(2 * n) == b);
        call.release(outer);
    }
    CHECK(call.read(a + n - 1) == 1.0);
    CHECK(call.finish() == FSM_OK);
    return allocations() - before;
}

static void test_steady() {
    fsm_context *ctx = fsm_context_new();
    use_memory(ctx, 10000);
    CHECK(use_memory(ctx, 10000) == 0);
    CHECK(use_memory(ctx, 500) == 0);
    use_memory(ctx, 40000); // chunks are inserted
    CHECK(use_memory(ctx, 40000) == 0);
    CHECK(use_memory(ctx, 10000) == 0);
    fsm_context_free(ctx);
    std::puts("ok steady state");
}

static void test_too_large() {
    fsm_context *ctx = fsm_context_new();
    for (int64_t count : {int64_t(-1), INT64_MAX, INT64_MAX / 8, count_of(INT64_C(1) << 40, INT64_C(1) << 40), count_of(-3, 5)}) {
        Call call(ctx, &info, nullptr, checks);
        CHECK(!call.alloc<double>(count) && call.finish() == FSM_ERROR_MEMORY);
        CHECK_TEXT(fsm_context_error(ctx), "an intermediate array is too large to be addressed");
    }
    CHECK(count_of() == 1 && count_of(3, 4) == 12 && count_of(INT64_MAX, 0, INT64_MAX) == 0);
    fsm_context_free(ctx);
    std::puts("ok too large");
}

static void test_out_of_memory() {
#ifdef FSMC_CUDA_SHIM_H
    fsm_context *ctx = fsm_context_new();
    const size_t before = fsm::shim::options().memory;
    fsm::shim::options().memory = 64 << 20;
    {
        Call call(ctx, &info, nullptr, checks);
        CHECK(call.alloc(40 << 20, 1)); // a chunk twice as large would not fit
        CHECK(call.alloc(20 << 20, 1));
        CHECK(!call.alloc(20 << 20, 1) && call.code() == FSM_ERROR_MEMORY);
        CHECK(!call.alloc(1, 1) && !call.upload(&before, 1));
        CHECK(call.finish() == FSM_ERROR_MEMORY);
        const std::string text = fsm_context_error(ctx);
        CHECK_TEXT(text.substr(0, text.find(',')), "out of device memory: 20971520 bytes asked for an intermediate array");
        CHECK(text.find(" of 67108864 are free") != std::string::npos);
    }
    {
        Call call(ctx, &info, nullptr, checks); // what is not in use gives way to one that is larger
        CHECK(call.alloc(60 << 20, 1));
        CHECK(call.finish() == FSM_OK);
    }
    fsm_context_free(ctx);
    CHECK(fsm::shim::memory().used == 0);
    fsm::shim::options().memory = 16;
    ctx = fsm_context_new();
    Call call(ctx, &info, nullptr, checks);
    CHECK(call.finish() == FSM_ERROR_MEMORY);
    CHECK_TEXT(fsm_context_error(ctx), "out of device memory: 16 of 16 bytes are free");
    fsm::shim::options().memory = before;
    fsm_context_free(ctx);
#endif
    std::puts("ok out of memory");
}

// ---- graphs

__global__ void step(Errors e, int64_t index, int64_t n, int64_t fails_at, double *x) {
    if (stopped(e)) return;
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) {
        x[i] = 2 * x[i] + double(index);
        if (index >= fails_at) fail(e, (unsigned long long)i, 0, index * 1000 + i);
    }
}

static thread_local int64_t bodies;
#ifdef FSMC_CUDA_SHIM_H
static thread_local fsm::shim::Fault in_second; // from the second body on
#endif

static int loop(fsm_context *ctx, int64_t n, int64_t times, int64_t fails_at, double *out) {
    static const char site = 0;
    Call call(ctx, &info, nullptr, checks);
    double *x = call.alloc<double>(n);
    FSM_LAUNCH(set_to, blocks_for(n), BLOCK, 0, call.stream(), n, 1.0, x);
    const uint64_t key[] = {word(n), word(times), word(fails_at), word(x)};
    recorded(call, &site, key, [&] {
        bodies++;
#ifdef FSMC_CUDA_SHIM_H
        if (bodies == 2) fsm::shim::fault = in_second;
#endif
        double *y = call.alloc<double>(n); // each time the same
        for (int64_t t = 0; t < times; t++) {
            FSM_LAUNCH(step, blocks_for(n), BLOCK, 0, call.stream(), call.errors(), t, n, fails_at, x);
            FSM_LAUNCH(set_to, blocks_for(n), BLOCK, 0, call.stream(), n, 3.0, y);
            FSM_LAUNCH(add_from, blocks_for(n), BLOCK, 0, call.stream(), n, y, x);
        }
    });
    call.download(out, x, n);
    return call.finish();
}

static void test_graphs() {
    fsm_context *ctx = fsm_context_new();
    double out[50], want = 1;
    for (int64_t i = 0; i < 20; i++) want = 2 * want + double(i) + 3;
    bodies = 0;
    for (int i = 0; i < 5; i++) CHECK(loop(ctx, 50, 20, 100, out) == FSM_OK && out[0] == want && out[49] == want);
    CHECK(bodies == 2); // the second is recorded
#ifdef FSMC_CUDA_SHIM_H
    fsm::shim::counts() = {};
    CHECK(loop(ctx, 50, 20, 100, out) == FSM_OK);
    const fsm::shim::Counts c = fsm::shim::counts();
    CHECK(c.launches == 1 && c.graphs == 1 && c.copies == 1 && !c.fills && !c.allocations && c.waits == 1);
#endif
    CHECK(loop(ctx, 50, 0, 100, out) == FSM_OK && out[49] == 1);
    for (int i = 0; i < 3; i++) CHECK(loop(ctx, 50, 1, 100, out) == FSM_OK && out[49] == 5);
    CHECK(bodies == 6); // three launches are not worth it
    for (int i = 0; i < 3; i++) {
        CHECK(loop(ctx, 50, 20, 7, out) == FSM_ERROR_ASSERT); // the first of thirteen steps that fail
        CHECK_TEXT(fsm_context_error(ctx), "t.fsm:9: step 7000");
        CHECK(loop(ctx, 50, 20, 100, out) == FSM_OK && out[49] == want);
    }
    CHECK(bodies == 8);
    for (int64_t n = 1; n <= 80; n++)
        for (int i = 0; i < 2; i++) CHECK(loop(ctx, 1 + n % 50, 3, n + 100, out) == FSM_OK && out[n % 50] == 33);
    CHECK(bodies == 168); // more than are kept
    std::vector<double> large(1 << 20);
    CHECK(loop(ctx, 1 << 20, 2, 100, large.data()) == FSM_OK); // moves what follows in the pool
    for (int i = 0; i < 3; i++) CHECK(loop(ctx, 50, 20, 100, out) == FSM_OK && out[49] == want);
    fsm_context_free(ctx);
    std::puts("ok graphs");
}

// What cannot be recorded runs without.
static void test_no_graphs() {
#ifdef FSMC_CUDA_SHIM_H
    const fsm::shim::Fault faults[] = {{"cudaGraphInstantiate", cudaErrorMemoryAllocation, 1},
                                       {"cudaGraphLaunch", cudaErrorMemoryAllocation, 1},
                                       {"launch", cudaErrorNoKernelImageForDevice, 1}}; // a launch is not in the graph
    double out[50], want = 1;
    for (int64_t i = 0; i < 20; i++) want = 2 * want + double(i) + 3;
    for (const fsm::shim::Fault &fault : faults) {
        fsm_context *ctx = fsm_context_new();
        bodies = 0, in_second = fault;
        for (int i = 0; i < 4; i++) CHECK(loop(ctx, 50, 20, 100, out) == FSM_OK && out[0] == want && out[49] == want);
        CHECK(bodies == 5 && !fsm::shim::fault.times);
        fsm_context_free(ctx);
    }
    in_second = {};
#endif
    // A check of the host that fails while the body is recorded: the kernels before it have not run, of which one may fail, too.
    for (int64_t fails_at : {100, 3}) {
        fsm_context *ctx = fsm_context_new();
        for (int i = 0; i < 3; i++) {
            static const char site = 0;
            Call call(ctx, &info, nullptr, checks);
            double *x = call.alloc<double>(1);
            FSM_LAUNCH(set_to, 1, BLOCK, 0, call.stream(), int64_t(1), 1.0, x);
            const uint64_t key[] = {word(x)};
            recorded(call, &site, key, [&] {
                for (int64_t t = 0; t < 5; t++)
                    FSM_LAUNCH(step, 1, BLOCK, 0, call.stream(), call.errors(), t, int64_t(1), i ? fails_at : 100, x);
                if (i) call.fail(0, 77);
            });
            CHECK(call.finish() == (i ? FSM_ERROR_ASSERT : FSM_OK));
            CHECK_TEXT(fsm_context_error(ctx), !i ? "" : fails_at == 3 ? "t.fsm:9: step 3000" : "t.fsm:9: step 77");
        }
        fsm_context_free(ctx);
    }
    std::puts("ok no graphs");
}

// A call that is itself recorded, by the caller.
static void test_capture() {
    fsm_context *ctx = fsm_context_new(), *fresh = fsm_context_new();
    static const char site = 0;
    double *x, got = 0;
    int64_t room = 1;
    cudaStream_t stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    const auto body = [&] {
        Call call(ctx, &info, stream, checks);
        const uint64_t key[] = {word(x)};
        double *y = call.alloc<double>(room);
        recorded(call, &site, key, [&] {
            FSM_LAUNCH(set_to, 1, BLOCK, 0, call.stream(), int64_t(1), 0.0, y);
            for (int k = 0; k < 5; k++) FSM_LAUNCH(add_from, 1, BLOCK, 0, call.stream(), int64_t(1), x, x);
            FSM_LAUNCH(add_from, 1, BLOCK, 0, call.stream(), int64_t(1), y, x);
        });
        CHECK(call.finish() == FSM_OK);
    };
    CHECK(!cudaStreamCreate(&stream) && !cudaMalloc(&x, sizeof *x));
    FSM_LAUNCH(set_to, 1, BLOCK, 0, stream, int64_t(1), 1.0, x);
    for (int i = 0; i < 3; i++) body();
    for (cudaStreamCaptureMode mode :
         {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
        CHECK(!cudaStreamBeginCapture(stream, mode));
        body();
        { // what cannot be in a graph says so, and does not spoil the caller's
            Call first(fresh, &info, stream, checks);
            CHECK(first.code() == FSM_ERROR_DEVICE && first.finish() == FSM_ERROR_DEVICE);
            CHECK_TEXT(fsm_context_error(fresh), "the stream is captured: a call of the same sizes has to come before the capture");
            Call larger(ctx, &info, stream, checks);
            CHECK(!larger.alloc<double>(1 << 22) && larger.finish() == FSM_ERROR_DEVICE);
            CHECK_TEXT(fsm_context_error(ctx), "the stream is captured: a call of the same sizes has to come before the capture");
            Call fails(ctx, &info, stream, checks);
            CHECK(fails.alloc<double>(1) && (fails.errors(), fails.code()) == FSM_ERROR_DEVICE &&
                  fails.finish() == FSM_ERROR_DEVICE);
            CHECK_TEXT(fsm_context_error(ctx), "the stream is captured: this call cannot be, since the host waits for its kernels");
            Call reads(ctx, &info, stream, checks);
            CHECK(reads.read(x) == 0 && reads.finish() == FSM_ERROR_DEVICE);
        }
        CHECK(!cudaStreamEndCapture(stream, &graph) && !cudaGraphInstantiate(&exec, graph, 0));
        FSM_LAUNCH(set_to, 1, BLOCK, 0, stream, int64_t(1), 1.0, x);
        CHECK(!cudaGraphLaunch(exec, stream) && !cudaGraphLaunch(exec, stream));
        CHECK(!cudaStreamSynchronize(stream) && !cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost) && got == 1024);
        CHECK(!cudaGraphExecDestroy(exec) && !cudaGraphDestroy(graph));
    }
    CHECK(!cudaStreamDestroy(stream) && !cudaFree(x));
    fsm_context_free(ctx), fsm_context_free(fresh);
    std::puts("ok in a graph of the caller");
}

// ---- streams and threads

static void test_streams() {
    fsm_context *ctx = fsm_context_new();
    cudaStream_t s[2];
    CHECK(!cudaStreamCreate(&s[0]) && !cudaStreamCreate(&s[1]));
    double *x, got[100];
    CHECK(!cudaMalloc(&x, sizeof got));
    for (int i = 0; i < 4; i++) { // does not wait for its kernels
        Call call(ctx, &info, s[i % 2], checks);
        double *y = call.alloc<double>(100);
        FSM_LAUNCH(set_to, 1, BLOCK, 0, call.stream(), int64_t(100), double(i), y);
        if (!i) FSM_LAUNCH(set_to, 1, BLOCK, 0, call.stream(), int64_t(100), 10.0, x);
        FSM_LAUNCH(add_from, 1, BLOCK, 0, call.stream(), int64_t(100), y, x);
        CHECK(call.finish() == FSM_OK);
    }
    CHECK(!cudaStreamSynchronize(s[1]) && !cudaMemcpy(got, x, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got[0] == 16 && got[99] == 16);
    fsm_context_free(ctx);
    CHECK(!cudaFree(x) && !cudaStreamDestroy(s[0]) && !cudaStreamDestroy(s[1]));
    std::puts("ok streams");
}

// Streams that are different ones and have one handle: that of each thread, and one that is made when another is gone.
static void test_same_handles() {
    fsm_context *ctx = fsm_context_new();
    double *x, got = 0;
    CHECK(!cudaMalloc(&x, sizeof *x));
    const auto add = [&](cudaStream_t stream, bool sets) { // does not wait for its kernels
        Call call(ctx, &info, stream, checks);
        if (sets) FSM_LAUNCH(set_to, 1, BLOCK, 0, call.stream(), int64_t(1), 1.0, x);
        else FSM_LAUNCH(add_from, 1, BLOCK, 0, call.stream(), int64_t(1), x, x);
        CHECK(call.finish() == FSM_OK);
    };
    for (int i = 0; i < 4; i++) {
        cudaStream_t s;
        CHECK(!cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        add(s, !i);
        if (i == 3) CHECK(!cudaStreamSynchronize(s));
        CHECK(!cudaStreamDestroy(s));
    }
    CHECK(!cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost) && got == 8);
    add(cudaStreamPerThread, true);
    std::thread([&] {
        add(cudaStreamPerThread, false);
        CHECK(!cudaStreamSynchronize(cudaStreamPerThread));
    }).join();
    CHECK(!cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost) && got == 2);
    fsm_context_free(ctx);
    CHECK(!cudaFree(x));
    std::puts("ok streams of the same handle");
}

static void test_threads() {
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++)
        threads.emplace_back([t, &right] {
            fsm_context *ctx = fsm_context_new();
            double out[30];
            bool good = true;
            for (int i = 0; i < 20; i++) {
                good = good && loop(ctx, 30, 1 + t, 100, out) == FSM_OK && out[29] == (t == 0 ? 5 : t == 1 ? 14 : 33);
                good = good && loop(ctx, 30, 5, t, out) == FSM_ERROR_ASSERT;
                good = good && fsm_context_error(ctx) == "t.fsm:9: step " + std::to_string(t * 1000);
            }
            fsm_context_free(ctx);
            right += good;
        });
    for (std::thread &t : threads) t.join();
    CHECK(right == 3);
    std::puts("ok threads");
}

int main() {
    test_steady();
    test_too_large();
    test_out_of_memory();
    test_graphs();
    test_no_graphs();
    test_capture();
    test_streams();
    test_same_handles();
    test_threads();
#ifdef FSMC_CUDA_SHIM_H
    CHECK(fsm::shim::memory().all.empty());
#endif
}
