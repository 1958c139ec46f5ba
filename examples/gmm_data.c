// Writes a Gaussian-mixture fitting problem in ADBench's file format: gmm_data d K n seed > file
// alphas, icf and x are N(0,1), means are U(0,1), gamma is 1 and m is 0; six decimals.
#include "random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void write_rows(Random *r, double (*draw)(Random *), long rows, long columns) {
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < columns; j++) printf("%.6f%c", draw(r), j + 1 < columns ? ' ' : '\n');
}

static long argument(const char *name, const char *text, long least, long most) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most) {
        fprintf(stderr, "gmm_data: %s: expected an integer from %ld to %ld, found \"%s\"\n", name, least, most, text);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: gmm_data d K n seed > file\n");
        return 2;
    }
    long d = argument("d", argv[1], 1, 10000), k = argument("K", argv[2], 1, 1000000);
    long n = argument("n", argv[3], 1, 1000000000), seed = argument("seed", argv[4], 0, 2147483647);
    Random r = {.state = (uint64_t)seed};
    printf("%ld %ld %ld\n", d, k, n);
    write_rows(&r, normal, k, 1);
    write_rows(&r, uniform, k, d);
    write_rows(&r, normal, k, d * (d + 1) / 2);
    write_rows(&r, normal, n, d);
    printf("1.000000 0\n");
    if (fflush(stdout) || ferror(stdout)) {
        perror("gmm_data");
        return 1;
    }
    return 0;
}
