// A hundred and sixty random programs by every engine, and their derivatives: the same ones every time; then four
// hundred more as they are written, without passes and compiled code. build/fsmc_fuzz goes on from there.
#include "random/fuzz.h"

#include <stdio.h>

static void print(bool ok, const char *name, const char *what, int have, int all) {
    printf("%s random programs%s%s %s%d of %d\n", ok ? "ok" : "not ok", name, ok ? " #" : ":", what, have, all);
}

int main(void) {
    // From this seed on so few programs have all operations, and all kinds of values but `param`, which none has; from
    // 1 on it takes three hundred.
    FuzzOptions o = {.first = 4001, .count = 160, .size = 22, .shrink = 60, .level = 1};
    FuzzResult r = fuzz_run(&o);
    print(!r.failures, "", "failures: ", r.failures, r.done);
    if (r.failures) printf("not ok random program %llu: try build/fsmc_fuzz -s %llu -n 1 -z 22\n", (unsigned long long)r.failed, (unsigned long long)r.failed);
    print(r.compiled * 10 >= r.done * 9, " compile", "", r.compiled, r.done);
    print(r.have[0] * 100 >= r.all[0] * 95, " reach structural kinds", "", r.have[0], r.all[0]);
    print(r.have[1] * 100 >= r.all[1] * 95, " reach operations", "", r.have[1], r.all[1]);
    o.first += (uint64_t)o.count, o.count = 400, o.written = true;
    FuzzResult more = fuzz_run(&o);
    print(!more.failures, " as written", "failures: ", more.failures, more.done);
    return r.failures + more.failures > 0;
}
