# How often loops that run again from checkpoints call a C function: once in each iteration of the sweep, and of what runs
# again, whatever the number of states; and the results, as the interpreter has them.
cp sweeps.fsm "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" || exit
cat >lib.c <<'C'
#include <math.h>
#include <stdio.h>
static long sines, cosines;
double tst_sin(double x) { return sines++, sin(x); }
double tst_cos(double x) { return cosines++, cos(x); }
__attribute__((destructor)) static void tell(void) { printf(" %ld %ld\n", sines, cosines); }
C
$CC -shared -fPIC lib.c -o lib.so -lm || exit 1
try() { echo $(fsmc run "$@" --load ./lib.so sweeps.fsm $e n=1000 x=0.3); }
few() { sed 's/\(\.[0-9]\{9\}\)[0-9]*/\1/g'; }
for e in one_grad three_grad twelve_grad twelve_value twelve_hvp; do
  echo "$e: $(try | few)"
  echo "  $(try --interp | few | sed 's/ [0-9]* [0-9]*$//')"
done
echo 'calls of sin and cos in the text for a GPU:'
sed 's/tst_//; s/tst_//; /^extern/d' sweeps.fsm >gpu.fsm
for e in one_grad three_grad twelve_grad; do
  fsmc --emit=cuda --entry=$e gpu.fsm -o gpu.cu && echo "$e: $(grep -c '[^a-z]sin(' gpu.cu) $(grep -c '[^a-z]cos(' gpu.cu)"
done
