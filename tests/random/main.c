#define _POSIX_C_SOURCE 200809L
// fsmc_fuzz: a long campaign of random programs; with -b, of nested sums, for the bound of the cost, or of the programs
// in FILEs. Exit status 1: something fails, or is over the bound.
#include "random/fuzz.h"

#include <stdio.h>
#include <unistd.h>

static const char usage[] =
    "usage: fsmc_fuzz [-v] [-1] [-C] [-c] [-e] [-f] [-w] [-x] [-s SEED] [-n COUNT] [-t SECONDS] [-z SIZE]\n"
    "                 [-k SHRINKING STEPS]\n"
    "       fsmc_fuzz -b [-v] [-f] [-x] [-s SEED] [-n COUNT] [-t SECONDS] [-z SIZE] [-k SHRINKING STEPS]\n"
    "                 [-N SIZE,SIZE] [-F FACTOR] [-G GROWTH] [FILE...]\n";

static bool sizes_read(BoundOptions *b, const char *text) {
    long long small, large;
    char more;
    if (sscanf(text, "%lld,%lld%c", &small, &large, &more) != 2 || small < 1 || large <= small) return false;
    b->sizes[0] = small, b->sizes[1] = large;
    return true;
}

// False: it is none.
static bool option_read(int c, FuzzOptions *o, BoundOptions *b, bool *bound) {
    switch (c) {
    case 'v': o->verbose = true; break;
    case '1': o->level = 1; break;
    case 'b': *bound = true; break;
    case 'C': o->cpus = true; break;
    case 'c': o->worth = true; break;
    case 'e': o->ties = true; break;
    case 'f': o->fast = true; break;
    case 'w': o->written = true; break;
    case 'x': o->stop = true; break;
    case 's': o->first = strtoull(optarg, NULL, 10); break;
    case 'n': o->count = atoi(optarg); break;
    case 't': o->seconds = atoi(optarg); break;
    case 'z': o->size = atoi(optarg); break;
    case 'k': o->shrink = atoi(optarg); break;
    case 'N': return sizes_read(b, optarg);
    case 'F': b->factor = atof(optarg); break;
    case 'G': b->growth = atof(optarg); break;
    default: return false;
    }
    return true;
}

int main(int argc, char **argv) {
    FuzzOptions o = {.first = 1, .count = 1000000, .size = 30, .shrink = 400, .level = -1};
    BoundOptions b;
    bool bound = false, ok = true;
    bound_options_init(&b);
    for (int c; (c = getopt(argc, argv, "v1bCcefwxs:n:t:z:k:N:F:G:")) != -1;) ok &= option_read(c, &o, &b, &bound);
    if (!ok || (optind < argc && !bound)) return fputs(usage, stderr), 2;
    if (bound && optind < argc) {
        bool over = false;
        for (int i = optind; i < argc; i++) over |= bound_file(&o, &b, argv[i]) > 0;
        return over;
    }
    if (bound) return bound_run(&o, &b) > 0;
    FuzzResult r = fuzz_run(&o);
    printf("%d programs from seed %llu, %d of them compiled, %d failures\n", r.done, (unsigned long long)o.first,
           r.compiled, r.failures);
    return r.failures > 0;
}
