// What the shim does late, and in which order: events, the legacy stream, copies; and what a capture forbids.
#include "check.h"

#include <thread>

static void put(int *x, int value) { *x = value; }
static void add(int *x, int value) { *x += value; }
static void doubles(int *x) { *x *= 2; }

static int *device() {
    int *p = nullptr;
    CHECK(!cudaMalloc(&p, sizeof *p) && !cudaMemset(p, 0, sizeof *p) && !cudaDeviceSynchronize());
    return p;
}
static int value_of(const int *x) { // without waiting
    return *x;
}
static cudaStream_t stream(unsigned flags) {
    cudaStream_t s;
    CHECK(!cudaStreamCreateWithFlags(&s, flags));
    return s;
}

static void test_late() {
    int *x = device(), *y = device(), got = 7;
    cudaStream_t a = stream(cudaStreamNonBlocking), b = stream(cudaStreamNonBlocking);
    FSM_LAUNCH(put, 1, 1, 0, a, x, 3);
    CHECK(!cudaMemcpyAsync(&got, x, sizeof got, cudaMemcpyDeviceToHost, a));
    FSM_LAUNCH(put, 1, 1, 0, b, y, 4);
    CHECK(value_of(x) == 0 && got == 7);
    CHECK(!cudaStreamSynchronize(a) && value_of(x) == 3 && got == 3);
    CHECK(value_of(y) == (fsm::shim::options().others ? 4 : 0));
    CHECK(!cudaFree(x) && value_of(y) == 4); // waits for all
    CHECK(!cudaFree(y) && !cudaStreamDestroy(a) && !cudaStreamDestroy(b));
    std::puts("ok late");
}

static void test_events() {
    int *x = device();
    cudaStream_t a = stream(cudaStreamNonBlocking), b = stream(cudaStreamNonBlocking);
    cudaEvent_t e, none;
    CHECK(!cudaEventCreate(&e) && !cudaEventCreate(&none));
    FSM_LAUNCH(put, 1, 1, 0, a, x, 3);
    CHECK(!cudaEventRecord(e, a));
    FSM_LAUNCH(add, 1, 1, 0, a, x, 100);
    CHECK(!cudaStreamWaitEvent(b, e) && !cudaStreamWaitEvent(b, none)); // one that was never recorded
    FSM_LAUNCH(doubles, 1, 1, 0, b, x);
    CHECK(!cudaStreamSynchronize(b) &&
          value_of(x) == (fsm::shim::options().others ? 206 : 6)); // what comes after the event may be earlier
    CHECK(!cudaEventQuery(e) && !cudaStreamSynchronize(a));
    FSM_LAUNCH(put, 1, 1, 0, a, x, 5);
    CHECK(!cudaEventRecord(e, a) && cudaEventQuery(e) == cudaErrorNotReady && !cudaEventQuery(e) && value_of(x) == 5);
    CHECK(!cudaEventDestroy(e) && !cudaEventDestroy(none) && !cudaStreamDestroy(a) && !cudaStreamDestroy(b) && !cudaFree(x));
    std::puts("ok events");
}

// The legacy stream comes after blocking streams, and these after it; others do as they like.
static void test_legacy() {
    int *x = device(), *y = device();
    cudaStream_t blocking = stream(cudaStreamDefault), free = stream(cudaStreamNonBlocking);
    FSM_LAUNCH(put, 1, 1, 0, blocking, x, 3);
    FSM_LAUNCH(add, 1, 1, 0, nullptr, x, 4);
    FSM_LAUNCH(doubles, 1, 1, 0, blocking, x);
    FSM_LAUNCH(put, 1, 1, 0, free, y, 1);
    CHECK(!cudaStreamSynchronize(blocking) && value_of(x) == 14);
    CHECK(value_of(y) == fsm::shim::options().others);
    FSM_LAUNCH(add, 1, 1, 0, blocking, x, 1);
    FSM_LAUNCH(put, 1, 1, 0, free, y, 2);
    int got = 0;
    CHECK(!cudaMemcpy(&got, x, sizeof got, cudaMemcpyDeviceToHost) && got == 15);
    CHECK(fsm::shim::options().others || value_of(y) == 0);
    CHECK(!cudaDeviceSynchronize() && value_of(y) == 2);
    std::thread([&] { FSM_LAUNCH(put, 1, 1, 0, cudaStreamPerThread, x, 6); }).join();
    CHECK(!cudaStreamSynchronize(cudaStreamPerThread)); // another one
    CHECK(value_of(x) == 15 && !cudaStreamSynchronize(cudaStreamLegacy) && value_of(x) == 6);
    CHECK(!cudaFree(x) && !cudaFree(y) && !cudaStreamDestroy(blocking) && !cudaStreamDestroy(free));
    std::puts("ok legacy stream");
}

// What is copied from the host has been read when cudaMemcpy returns, and need not have arrived.
static void test_copies() {
    int *x = device(), *y = device(), of_host = 5;
    CHECK(!cudaMemcpy(x, &of_host, sizeof of_host, cudaMemcpyHostToDevice) && value_of(x) == 0);
    of_host = 6;
    CHECK(!cudaMemcpy(y, x, sizeof *x, cudaMemcpyDeviceToDevice) && value_of(y) == 0);
    CHECK(!cudaMemcpy(&of_host, y, sizeof of_host, cudaMemcpyDeviceToHost) && of_host == 5);
    CHECK(!cudaFree(x) && !cudaFree(y));
    std::puts("ok copies");
}

static void test_capture() {
    int *x = device(), *y = device(), got;
    cudaStream_t s = stream(cudaStreamDefault), other = stream(cudaStreamNonBlocking);
    cudaEvent_t e;
    cudaGraph_t graph;
    CHECK(!cudaEventCreate(&e) && !cudaEventRecord(e, other));
    const auto spoils = [&](cudaStreamCaptureMode mode, cudaError_t wanted, auto what) {
        CHECK(!cudaStreamBeginCapture(s, mode));
        FSM_LAUNCH(put, 1, 1, 0, s, x, 1);
        CHECK(what() == wanted && cudaGetLastError() == wanted);
        CHECK(cudaStreamEndCapture(s, &graph) == (wanted ? cudaErrorStreamCaptureInvalidated : cudaSuccess) && !graph == !!wanted);
        cudaGetLastError();
        if (graph) CHECK(!cudaGraphDestroy(graph));
    };
    int *more = nullptr;
    spoils(
        cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureUnsupported, [&] { return cudaStreamSynchronize(s); });
    spoils(
        cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureUnsupported, [] { return cudaDeviceSynchronize(); });
    spoils(
        cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureIsolation, [&] { return cudaStreamWaitEvent(s, e); });
    spoils(
        cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureImplicit,
        [&] { return cudaMemcpy(&got, y, sizeof got, cudaMemcpyDeviceToHost); });
    spoils(
        cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureImplicit, [&] { return cudaMemsetAsync(y, 0, sizeof *y); });
    spoils(
        cudaStreamCaptureModeGlobal, cudaErrorStreamCaptureUnsupported, [&] { return cudaMalloc(&more, 8); });
    spoils(
        cudaStreamCaptureModeThreadLocal, cudaErrorStreamCaptureUnsupported, [&] { return cudaMalloc(&more, 8); });
    spoils(
        cudaStreamCaptureModeRelaxed, cudaSuccess, [&] { return cudaMalloc(&more, 8); });
    spoils(cudaStreamCaptureModeGlobal, cudaSuccess, [&] { return cudaStreamSynchronize(other); });
    CHECK(value_of(x) == 0);
    CHECK(!cudaEventDestroy(e) && !cudaStreamDestroy(s) && !cudaStreamDestroy(other) && !cudaFree(x) && !cudaFree(y) &&
          !cudaFree(more));
    std::puts("ok capture");
}

int main() {
    for (bool others : {false, true}) {
        fsm::shim::options().late = true, fsm::shim::options().others = others;
        test_late();
        test_events();
        test_legacy();
        test_copies();
        test_capture();
        fsm::shim::stop_if_left();
    }
}
