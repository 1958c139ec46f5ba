// Calls heap.fsm, whose threads need more than the 8 MB that CUDA gives their heap. A word: bytes of the heap that the program asks
// for.
#include "heap.h"

#include "fsmc/cuda.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv) {
    if (argc > 1) cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t(std::atoll(argv[1])));
    fsm_context *ctx = fsm_context_new();
    const int64_t n = 4000, most = 320;
    std::vector<double> x(n), y(n);
    std::vector<int64_t> k(n);
    for (int64_t i = 0; i < n; i++) x[size_t(i)] = double(i), k[size_t(i)] = most - i % 7;
    for (int again = 0; again < 2; again++) {
        const int code = mixed(ctx, n, x.data(), k.data(), y.data());
        double worst = 0;
        for (int64_t i = 0; i < n && !code; i++) {
            const int64_t m = k[size_t(i)];
            double sum = 0;
            for (int64_t j = 0; j < m; j++)
                sum += std::sin(double(i + j)) * std::sin(double(i + m - 1 - j)) + std::sin(double(i + j / 2));
            worst = std::fmax(worst, std::fabs(sum - y[size_t(i)]));
        }
        std::printf("%s%s%s, %d\n", fsm_code_name(code), code ? ": " : "", fsm_context_error(ctx), worst < 1e-9);
        size_t heap = 0;
        cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
        std::printf("%zu bytes of heap\n", heap);
    }
    fsm_context_free(ctx);
    fsm::shim::stop_if_left();
}
