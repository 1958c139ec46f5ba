// What fsmc/cuda/matmul.h uses of cuBLAS, on the shim: for tests of what it is asked. It refuses what cuBLAS refuses.
#ifndef TESTS_CUDA_FAKE_CUBLAS_H
#define TESTS_CUDA_FAKE_CUBLAS_H

#include <cstdint>

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7 };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
struct FakeBlas {
    cudaStream_t stream = nullptr;
    bool has_workspace = false;
};
using cublasHandle_t = FakeBlas *;
inline int fake_blas_calls = 0;

inline const char *cublasGetStatusString(cublasStatus_t s) { return s ? "CUBLAS_STATUS_INVALID_VALUE" : "CUBLAS_STATUS_SUCCESS"; }
inline cublasStatus_t cublasCreate(cublasHandle_t *h) { return *h = new FakeBlas, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasDestroy(cublasHandle_t h) { return delete h, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t h, cudaStream_t s) {
    return h->stream = s, h->has_workspace = false, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t h, void *p, size_t) { return h->has_workspace = p, CUBLAS_STATUS_SUCCESS; }

template <class T>
cublasStatus_t fake_gemm(cublasHandle_t h, cublasOperation_t p, cublasOperation_t q, int m, int n, int k, const T *alpha,
                         const T *a, int lda, int64_t sa, const T *b, int ldb, int64_t sb, const T *beta, T *c, int ldc, int64_t sc,
                         int batch) {
    const auto least = [](int x) { return x > 1 ? x : 1; };
    if (!h->has_workspace || lda < least(p ? k : m) || ldb < least(q ? n : k) || ldc < least(m)) return CUBLAS_STATUS_INVALID_VALUE;
    fake_blas_calls++;
    fsm::shim::enqueue(h->stream, [=, x = *alpha, y = *beta] {
        for (int64_t s = 0; s < batch; s++)
            for (int64_t i = 0; i < m; i++)
                for (int64_t j = 0; j < n; j++) {
                    T sum = 0;
                    for (int64_t l = 0; l < k; l++)
                        sum += a[s * sa + (p ? l + i * lda : i + l * lda)] * b[s * sb + (q ? j + l * ldb : l + j * ldb)];
                    T *to = &c[s * sc + i + j * ldc];
                    *to = y == T(0) ? x * sum : x * sum + y * *to;
                }
    });
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t h, cublasOperation_t p, cublasOperation_t q, int m, int n, int k,
                                                const double *alpha, const double *a, int lda, int64_t sa, const double *b, int ldb,
                                                int64_t sb, const double *beta, double *c, int ldc, int64_t sc, int batch) {
    return fake_gemm(h, p, q, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch);
}
inline cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t h, cublasOperation_t p, cublasOperation_t q, int m, int n, int k,
                                                const float *alpha, const float *a, int lda, int64_t sa, const float *b, int ldb,
                                                int64_t sb, const float *beta, float *c, int ldc, int64_t sc, int batch) {
    return fake_gemm(h, p, q, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch);
}

#endif
