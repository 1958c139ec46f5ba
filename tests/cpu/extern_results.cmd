cat > $FSMC_TEST_TMP/lib.c <<'C'
#include <stdint.h>
#include <math.h>
int tst_polar(double x, double y, double *r, double *t) { *r = sqrt(x*x + y*y), *t = atan2(y, x); return 0; }
int tst_moments(int64_t n, const double *x, double *sum, int64_t *count, double *squares) {
  *sum = 0, *count = 0;
  for (int64_t i = 0; i < n; i++) *sum += x[i], *count += x[i] > 0, squares[i] = x[i]*x[i];
  return n > 5 ? 3 : 0; }
int tst_mixed(float a, int64_t k, uint8_t b, double *d, float *f, uint8_t *even, int64_t *out) {
  *d = 2.0*(double)a, *f = a*a, *even = k % 2 == 0;
  for (int64_t i = 0; i < k; i++) out[i] = b ? i : -i; return 0; }
int tst_outer(int64_t n, const double *a, const double *b, double *y, double *z) {
  for (int64_t i = 0; i < n; i++) { y[i] = a[i]*b[i]; for (int64_t j = 0; j < n; j++) z[i*n+j] = a[i]*b[j]; } return 0; }
int tst_nan(double x, double *a, double *b) { *a = sqrt(x), *b = x; return 0; }
C
cd $FSMC_TEST_TMP
cp $FSMC_ROOT/tests/cpu/extern_results.fsm results.fsm
$CC -shared -fPIC lib.c -o lib.so -lm || exit 1
all() {
    run() { fsmc run $how --load ./lib.so $file "$@" 2>&1 | sed 's/\(\.[0-9]\{9\}\)[0-9]*/\1/g'; }
    run polar x=3 y=4
    run moments 'x=[1,2,-3]'
    run moments 'x=[1,2,-3,1,2,3]'
    run fwd 'x=[1,2,-3]' 'd=[1,1,2]'
    run mixed a=3 k=2
    run outer 'a=[1,2,3]' 'b=[3,4,5]'
    run loops 'x=[1,2,3]'
    run maps 'x=[1,2,3]'
    run cond x=2 k=1
    run one x=2
    run unused a=2 k=1
    run capture x=1 'w=[1,2]'
    run folds 'x=[1,2]'
    run inner 'x=[1,2]'
    run whiles x=2
    run mapmany 'x=[1,2,3,4,5,6,7,8,9]'
    run jac 'x=[1,2]'
    run sparse 'x=[1,2]'
    run third x=1
    run gg 'x=[1,2]'
    run vv 'x=[1,2]' 'u=[1,-1]'
    run custom x=3
    run guarded x=3 b=true
    run guarded x=3 b=false
    run intonly 'x=[1,2]'
    run intonly 'x=[]'
    run --debug-nan root x=-1
}
file=results.fsm how=--interp
all | tee interp
for how in --exec '' -O0 -O3; do
    all | cmp - interp
    fsmc run $how --load ./lib.so $file mixed a=3 k=-2
    fsmc run $how --load ./lib.so $file unused a=3 k=-2
done
# One call for all results; what is printed says the same.
fsmc --emit=tree --entry=polar results.fsm -o polar.tree && grep extern polar.tree
fsmc run --load ./lib.so polar.tree polar x=3 y=4
for e in fsm ir; do
    for f in polar moments mixed outer loops folds; do
        fsmc --emit=$e --entry=$f results.fsm -o again.$e && fsmc check again.$e
        case $f in polar) set -- x=3 y=4;; mixed) set -- a=3 k=2;; outer) set -- 'a=[1,2,3]' 'b=[3,4,5]';; *) set -- 'x=[1,2]'; esac
        for file in again.$e results.fsm; do fsmc run --interp --load ./lib.so $file $f "$@" >$f.$e; done
        fsmc run --interp --load ./lib.so again.$e $f "$@" | cmp - $f.$e
    done
done
fsmc --emit=fsm --entry=one results.fsm -o -
fsmc --emit=ir --entry=intonly results.fsm -o -
fsmc --emit=cuda --entry=one results.fsm
fsmc --entry=moments results.fsm -o m.o && sed -n 2p m.h
cat > main.c <<'C'
#include "m.h"
#include <stdio.h>
int main(void) {
    fsm_context *c = fsm_context_new();
    double sum, squares[3], grad[3], other[3];
    int64_t count;
    int code = moments(c, 3, (double[]){1, 2, -3}, &sum, &count, squares, grad, other);
    printf("%d %g %d %g %g %g\n", code, sum, (int)count, squares[2], grad[0], other[0]);
    fsm_context_free(c);
    return 0;
}
C
$CC -I$FSMC_ROOT/include main.c m.o lib.c -o main $FSMC_BUILD/libfsmrt.a -lm && ./main
