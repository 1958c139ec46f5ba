# Files of textual IR: every command reads them, and their errors have places.
. ./try.sh
cd "$FSMC_TEST_TMP" || exit 1
fsmc --emit=ir --entry=dot "$FSMC_ROOT/tests/errors/calls.fsm" -o dot.ir
try --emit=ir dot.ir
try run dot.ir dot 'x=[1, 2]' 'y=[3, 4]'
try run --interp dot.ir dot 'x=[1, 2]' 'y=[3, 4]'
try cost dot.ir dot 'x=[1, 2]' 'y=[3, 4]'
try run dot.ir dot 'x=[1, 2]' 'y=[3]'
try run dot.ir sum 'x=[1, 2]'
try dot.ir -o dot.o && ls dot.h dot.o
echo 'func f(x: f64) -> f64 { %1 = sine x return %1 }' >bad.ir
try check bad.ir
echo 'func' >short.ir
try check short.ir
: >empty.ir
try check empty.ir
