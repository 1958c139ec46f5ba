#define _POSIX_C_SOURCE 200809L
// fsmc_fuzz: a long campaign of random programs. usage: fsmc_fuzz [-v] [-1] [-C] [-c] [-e] [-f] [-w] [-x] [-s SEED] [-n COUNT] [-t
// SECONDS] [-z SIZE]
#include "random/fuzz.h"

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    FuzzOptions o = {.first = 1, .count = 1000000, .size = 30, .shrink = 400, .level = -1};
    int c;
    while ((c = getopt(argc, argv, "v1Ccefwxs:n:t:z:k:")) != -1) {
        switch (c) {
        case 'v': o.verbose = true; break;
        case '1': o.level = 1; break;
        case 'C': o.cpus = true; break;
        case 'c': o.worth = true; break;
        case 'e': o.ties = true; break;
        case 'f': o.fast = true; break;
        case 'w': o.written = true; break;
        case 'x': o.stop = true; break;
        case 's': o.first = strtoull(optarg, NULL, 10); break;
        case 'n': o.count = atoi(optarg); break;
        case 't': o.seconds = atoi(optarg); break;
        case 'z': o.size = atoi(optarg); break;
        case 'k': o.shrink = atoi(optarg); break;
        default:
            fprintf(
                stderr,
                "usage: fsmc_fuzz [-v] [-1] [-C] [-c] [-e] [-f] [-w] [-x] [-s SEED] [-n COUNT] [-t SECONDS] [-z SIZE] [-k SHRINKING STEPS]\n");
            return 2;
        }
    }
    FuzzResult r = fuzz_run(&o);
    printf("%d programs from seed %llu, %d of them compiled, %d failures\n", r.done, (unsigned long long)o.first, r.compiled,
           r.failures);
    return r.failures > 0;
}
