#include <stdint.h>
#include <stdio.h>

double norm2(int64_t n, const double *x);

int main(void) {
    printf("wrapped: %g\n", norm2(2, (double[]){3, 4}));
    return 0;
}
