cat > $FSMC_TEST_TMP/lib.c <<'C'
#include <stdint.h>
#include <math.h>
double tst_dot(int64_t n, const double *x, const double *y) { double s = 0; for (int64_t i = 0; i < n; i++) s += x[i]*y[i]; return s; }
int tst_mv(int64_t n, int64_t m, const double *a, const double *x, double *out) {
  for (int64_t i = 0; i < n; i++) { out[i] = 0; for (int64_t j = 0; j < m; j++) out[i] += a[i*m+j]*x[j]; } return 0; }
int tst_pad(int64_t n, const float *x, int64_t k, uint8_t up, float *out) {
  if (k < 0) return 7;
  for (int64_t i = 0; i < n + k; i++) out[i] = i < n ? x[i] : up ? 1 : -1; return 0; }
int tst_root(int64_t n, const double *x, double *out) { for (int64_t i = 0; i < n; i++) out[i] = sqrt(x[i]); return 0; }
double tst_norm3(const double *v) { return sqrt(v[0]*v[0]+v[1]*v[1]+v[2]*v[2]); }
int tst_cumsum(int64_t n, const int64_t *x, const uint8_t *keep, int64_t *out) { int64_t s = 0; for (int64_t i = 0; i < n; i++) out[i] = s += keep[i] ? x[i] : 0; return 0; }
int tst_pack(int64_t x_n0, int64_t d, const double *x, const double *p, const double *q, double *out) { out[0] = x_n0 + 10 * q[0]; out[1] = d; out[2] = p[d*(d+1)/2-1]; return 0; }
int tst_taps(int64_t n, const double *x, const double *w, double *out) { for (int64_t i = 0; i < n; i++) out[i] = x[i]*(w[0]+2*w[1]+3*w[2]); return 0; }
C
cd $FSMC_TEST_TMP
cp $FSMC_ROOT/tests/cpu/extern_arrays.fsm arrays.fsm
$CC -shared -fPIC lib.c -o lib.so -lm || exit 1
for how in '' --interp --exec -O0 -O3; do
    echo "= $how"
    run() { fsmc run $how --load ./lib.so arrays.fsm "$@" 2>&1 | sed 's/\(\.[0-9]\{10\}\)[0-9]*/\1/g'; }
    run f 'a=[[1,2,3],[4,5,6]]' 'x=[1,2,3]' 'y=[1,-1]'
    run g 'x=[1,2,3]' k=2
    run g 'x=[1,2,3]' k=-2
    run h 'x=[1,2,3]'
    run c 'x=[1,2,3]' 'k=[true,false,true]'
    run bad 'x=[1,2,2]'
    run bad 'x=[1,2]'
    run bad2 'x=[1,2]' 'y=[]'
    run p 'x=[1,2]' 'p=[1,2,3]' 'q=[1,2]'
    run p 'x=[1,2]' 'p=[1,2]' 'q=[1,2]'
    run loop1 'x=[1,2]'
    run guarded 'x=[1,2]' k=1
    run linear 'x=[1,2]' 'w=[4,5,6]'
    run --debug-nan loop1 'x=[1,-4]'
    run --debug-nan loop1 'x=["NaN",-4]'
    run --debug-nan guarded 'x=["Infinity",2]' k=1
done
# What is printed says the same.
for e in fsm ir; do
    fsmc --emit=$e --entry=f arrays.fsm -o again.$e && fsmc run --load ./lib.so again.$e f 'a=[[1,2,3],[4,5,6]]' 'x=[1,2,3]' 'y=[1,-1]'
done
grep '^extern' again.fsm
fsmc --entry=f --entry=p arrays.fsm -o m.o && sed -n 2p m.h
cat > main.c <<'C'
#include "m.h"
#include <stdio.h>
int main(void) {
    fsm_context *c = fsm_context_new();
    double out[3];
    int code = p(c, 2, 3, 2, (double[]){1, 2}, (double[]){1, 2, 3}, (double[]){1, 2}, out);
    printf("%d %g %g %g\n", code, out[0], out[1], out[2]);
    code = p(c, 2, 2, 2, (double[]){1, 2}, (double[]){1, 2, 3}, (double[]){1, 2}, out);
    printf("%d %s\n", code, fsm_context_error(c));
    fsm_context_free(c);
    return 0;
}
C
$CC -I$FSMC_ROOT/include main.c m.o lib.c -o main $FSMC_BUILD/libfsmrt.a -lm && ./main
