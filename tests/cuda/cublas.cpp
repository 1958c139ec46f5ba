// Calls products.fsm; with a header in the place of cuBLAS's, says how many products are its.
#include "products.h"

#include "fsmc/cuda.h"

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
    fsm_context *ctx = fsm_context_new();
    const int64_t h = 40, d = 35, n = 50;
    std::vector<double> w(h * d), x(n * d), dw(h * d), dx(n * d);
    for (size_t i = 0; i < w.size(); i++) w[i] = std::sin(double(i)) / 8;
    for (size_t i = 0; i < x.size(); i++) x[i] = std::cos(double(3 * i)) / 4;
    double sum = 0;
    for (int again = 0; again < 3; again++) { // the second is recorded, the third starts the graph
        if (layer_gradient(ctx, h, d, n, w.data(), x.data(), dw.data(), dx.data())) return std::puts(fsm_context_error(ctx)), 1;
        for (double v : dw) sum += v;
        for (double v : dx) sum += 2 * v;
    }
    std::printf("%.9f\n", sum);
#ifdef FSM_CUDA_CUBLAS
    std::fprintf(stderr, "%d products by cuBLAS\n", fake_blas_calls);
#endif
    fsm_context_free(ctx);
}
