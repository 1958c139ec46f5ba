// The table of kernels: bench.c and by_hand.c each make of a row what they need of it.
#ifndef KERNELS_H
#define KERNELS_H

#include <stdint.h>

#include <fsmc/runtime.h>

// F(name, sizes, small sizes, inputs, gradient) is a kernel whose result is a number; V(name, sizes, small sizes, inputs,
// result, gradient) one whose result is an array, by which the gradient takes one more argument of that extent. Extents are
// expressions in the sizes n, m, k, l. Inputs are U(extent): between -1 and 1; R(extent, lo, hi); I(extent, bound): integers.
#define KERNELS(F, V)                                                                                                       \
    V(axpy, (1000000), (37), (U(n), U(n)), n, (n, n))                                                                       \
    V(horner, (10000), (37), (U(n)), n, (n))                                                                                \
    V(gauss, (10000), (37), (U(n)), n, (n))                                                                                 \
    V(tanhs, (10000), (37), (U(n)), n, (n))                                                                                 \
    F(dotp, (10000), (37), (U(n), U(n)), (n, n))                                                                            \
    F(norm2, (10000), (37), (U(n)), (n))                                                                                    \
    F(abssum, (10000), (37), (U(n)), (n))                                                                                   \
    F(varianceOf, (10000), (37), (U(n)), (n))                                                                               \
    F(lse, (10000), (37), (U(n)), (n))                                                                                      \
    V(smax, (10000), (37), (U(n)), n, (n))                                                                                  \
    V(matvec, (500, 500), (13, 11), (U(n * m), U(m)), n, (n * m, m))                                                        \
    V(matmul, (200, 200, 200), (13, 11, 9), (U(n * m), U(m * k)), n * k, (n * m, m * k))                                    \
    V(piecewise, (10000), (37), (U(n)), n, (n))                                                                             \
    V(blackscholes, (10000), (37), (R(n, 80, 120), R(n, 80, 120), R(n, 0.2, 2)), n, (n, n, n))                              \
    F(sinofcos, (1), (1), (R(1, 0.5, 1)), (1))                                                                              \
    F(powers, (1000), (13), (R(1, 0.999, 1.001)), (1))                                                                      \
    F(entropy, (10000), (37), (R(n, 0.1, 1)), (n))                                                                          \
    F(cosine, (10000), (37), (R(n, -0.5, 1), R(n, -0.5, 1)), (n, n))                                                        \
    V(normalise, (10000), (37), (U(n)), n, (n))                                                                             \
    V(layernorm, (10000), (37), (U(n)), n, (n))                                                                             \
    V(cumsum, (10000), (37), (R(n, -0.5, 1)), n, (n))                                                                       \
    F(recurrence, (10000), (37), (U(n), U(n)), (n, n))                                                                      \
    V(histogram, (100000, 64), (100, 7), (I(n, m), U(n)), m, (n))                                                           \
    F(rosenbrock, (10000), (37), (U(n)), (n))                                                                               \
    V(stencil1, (10000), (37), (U(n)), n - 2, (n))                                                                          \
    V(stencil2, (500, 500), (13, 19), (U(n * m)), (n - 2) * (m - 2), (n * m))                                               \
    F(variation, (500, 500), (13, 19), (U(n * m)), (n * m))                                                                 \
    V(conv1, (10000, 15), (37, 5), (U(n), U(m)), n - m + 1, (n, m))                                                         \
    V(conv2, (200, 200, 5), (13, 19, 3), (U(n * m), U(k * k)), (n - k + 1) * (m - k + 1), (n * m, k * k))                   \
    V(heat, (1000, 100), (37, 5), (U(n)), n, (n))                                                                           \
    V(vecmat, (500, 500), (13, 11), (U(n * m), U(n)), m, (n * m, n))                                                        \
    F(bilinear, (500, 500), (13, 11), (R(n, -0.5, 1), R(n * m, -0.5, 1), R(m, -0.5, 1)), (n, n * m, m))                     \
    V(gram, (500, 100), (13, 11), (U(n * m)), m * m, (n * m))                                                               \
    V(batched, (1000), (37), (U(n * 16), U(n * 16)), n * 16, (n * 16, n * 16))                                              \
    V(distances, (300, 8, 300), (13, 3, 11), (U(n * m), U(k * m)), n * k, (n * m, k * m))                                   \
    V(sparse, (10000, 8, 10000), (37, 3, 11), (I(n * m, k), U(n * m), U(k)), n, (n * m, k))                                 \
    V(spdsolve, (100), (13), (U(n * n), U(n)), n, (n * n, n))                                                               \
    F(nbody, (300), (13), (U(n * 3), R(n, 0.5, 1)), (n * 3, n))                                                             \
    V(projection, (10000), (37), (U(n * 3), U(9), R(3, 4, 6), R(3, 0.1, 0.2)), n * 2, (n * 3, 9, 3, 3))                     \
    V(rays, (10000), (37), (U(n * 2), R(3, -0.2, 0.2)), n, (n * 2, 3))                                                      \
    F(rk4, (1000), (37), (R(4, 0.5, 1.5)), (4))                                                                             \
    F(logistic, (20, 1000), (7, 13), (U(n), U(1), U(m * n), I(m, 2)), (n, 1))                                               \
    F(perceptron, (784, 32, 10), (13, 11, 5), (U(n), I(1, k), R(m * n, -0.1, 0.1), U(m), U(k * m), U(k)),                   \
      (m * n, m, k * m, k))                                                                                                 \
    F(kmeans, (10000, 5, 10), (37, 3, 7), (U(n * m), U(k * m)), (n * m, k * m))                                             \
    F(lstm, (128, 64), (13, 7), (R(4 * n * m, -0.2, 0.2), R(4 * n * n, -0.2, 0.2),                                          \
      U(4 * n), U(m), U(n), U(n)), (4 * n * m, 4 * n * n, 4 * n, m, n, n))                                                  \
    V(attention, (128, 32, 128), (13, 7, 11), (U(n * m), U(k * m), U(k * m)), n * m, (n * m, k * m, k * m))

// A kernel of one side as bench.c calls it: sizes, inputs, results.
typedef int call(fsm_context *ctx, const int64_t *size, void *const *in, void *const *out);
struct side {
    call *primal, *gradient;
};

// ARGUMENTS(A, (x, y, z)) is `A(0), A(1), A(2)`, for any x, y, z.
#define COUNT(...) COUNT_(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)
#define COUNT_(a, b, c, d, e, f, count, ...) count
#define ARGUMENTS(A, list) ARGUMENTS_(A, COUNT list)
#define ARGUMENTS_(A, count) ARGUMENTS__(A, count)
#define ARGUMENTS__(A, count) ARGUMENTS_##count(A)
#define ARGUMENTS_1(A) A(0)
#define ARGUMENTS_2(A) ARGUMENTS_1(A), A(1)
#define ARGUMENTS_3(A) ARGUMENTS_2(A), A(2)
#define ARGUMENTS_4(A) ARGUMENTS_3(A), A(3)
#define ARGUMENTS_5(A) ARGUMENTS_4(A), A(4)
#define ARGUMENTS_6(A) ARGUMENTS_5(A), A(5)
#define SIZE_(i) size[i]
#define IN_(i) in[i]
#define OUT_(i) out[i]

// ADAPT_F and ADAPT_V define NAME_call and NAME_grad_call of type `call`, by CALL(function, arguments), and SIDE is their pair.
#define ADAPT(function, ...)                                                                                                \
    static int function##_call(fsm_context *ctx, const int64_t *size, void *const *in, void *const *out) {                  \
        (void)ctx;                                                                                                          \
        return CALL(function, __VA_ARGS__);                                                                                 \
    }
#define ADAPT_F(name, sizes, small, inputs, gradient)                                                                       \
    ADAPT(name, ARGUMENTS(SIZE_, sizes), ARGUMENTS(IN_, inputs), out[0])                                                    \
    ADAPT(name##_grad, ARGUMENTS(SIZE_, sizes), ARGUMENTS(IN_, inputs), ARGUMENTS(OUT_, gradient))
#define ADAPT_V(name, sizes, small, inputs, result, gradient)                                                               \
    ADAPT(name, ARGUMENTS(SIZE_, sizes), ARGUMENTS(IN_, inputs), out[0])                                                    \
    ADAPT(name##_grad, ARGUMENTS(SIZE_, sizes), ARGUMENTS(IN_, inputs), in[COUNT inputs], ARGUMENTS(OUT_, gradient))
#define SIDE(name, ...) {name##_call, name##_grad_call},

#endif
