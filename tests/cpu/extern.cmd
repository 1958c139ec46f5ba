cat > $FSMC_TEST_TMP/lib.c <<'C'
#include <stdint.h>
double tst_cube(double x) { return x * x * x; }
double tst_kinds(uint8_t b, int64_t k, float x, double y) { return (b ? 1 : -1) * (double)k + x * y; }
uint8_t tst_even(int64_t k) { return k % 2 == 0; }
int64_t tst_sum(int64_t k, int64_t x) { return k + x; }
float tst_half(float x) { return x / 2; }
C
cd $FSMC_TEST_TMP
cp $FSMC_ROOT/tests/cpu/extern.fsm .
$CC -shared -fPIC lib.c -o lib.so || exit 1
for how in '' --interp --exec -O0; do
    fsmc run $how --load ./lib.so extern.fsm library 'v=[2,0.5]' x=3
    fsmc run $how extern.fsm guarded x=0
    fsmc run $how extern.fsm bessel x=2 | sed 's/\(\.[0-9]\{10\}\)[0-9]*/\1/g'
done
fsmc --emit=fsm --entry=library extern.fsm -o again.fsm && grep -c '^extern' again.fsm && fsmc run --load ./lib.so again.fsm library 'v=[2,0.5]' x=3
fsmc --emit=ir --entry=library extern.fsm -o again.ir && fsmc run --load ./lib.so again.ir library 'v=[2,0.5]' x=3
fsmc --emit=loops --entry=guarded extern.fsm | grep -c 'extern j'
fsmc extern.fsm -o m.o && sed -n 2p m.h
cat > main.c <<'C'
#include "m.h"
#include <stdio.h>
int main(void) {
    fsm_context *c = fsm_context_new();
    double a, b;
    int code = guarded(c, 2, &a, &b);
    printf("%d %.10f %.10f\n", code, a, b);
    fsm_context_free(c);
    return 0;
}
C
$CC -I$FSMC_ROOT/include main.c m.o lib.c -o main $FSMC_BUILD/libfsmrt.a -lm && ./main
fsmc run extern.fsm library 'v=[2,0.5]' x=3
fsmc run --load ./none.so extern.fsm library 'v=[2,0.5]' x=3
