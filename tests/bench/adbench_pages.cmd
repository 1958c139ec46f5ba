# A call that is timed gets no pages from the system: the memory of results is there before, and what only the first call of a tool
# needs is no part of a sample.
. ./adbench.sh
case $CC in *-fsanitize*) echo "a shared object with sanitizers is not loaded" && exit 77 ;; esac
cat >pages.c <<'END'
#include "adbench.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
static char *own; // as a tool has results of its own that it copies from
static int calls;
static long faults(void) {
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) ? -1 : u.ru_minflt;
}
static void *prepare(const Problem *q) { return (void *)q; }
static void release(void *state) { (void)state; }
static const char *fill(double *x, int64_t n) {
    long before = faults();
    for (int64_t i = 0; i < n; i++) x[i] = 1;
    return faults() - before > 16 ? "results have no pages" : NULL;
}
static const char *objective(void *state, Results *r) { (void)state; return fill(r->value, r->values); }
static const char *derivative(void *state, Results *r) {
    (void)state;
    long before = faults();
    if (!own) own = malloc(1 << 24);
    memset(own, calls++, 1 << 24);
    if (calls > 1 && faults() - before > 16) return "a second call gets pages";
    return fill(r->derivative, r->derivatives);
}
const Tool adbench_tool = {"pages", "", prepare, objective, derivative, release};
END
$CC -O1 -I "$FSMC_ROOT/bench/adbench" -shared -fPIC pages.c -o pages.so || exit 1
$adbench generate . ba/ba1_n30_m4000_p9000
for samples in 1 3; do
    $adbench BA pages=./pages.so ba/ba1_n30_m4000_p9000.txt ./out_ 0 $samples $samples 1 && echo "$samples: no pages in a call"
done
