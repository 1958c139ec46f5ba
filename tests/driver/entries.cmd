# --entry may be repeated, for F~ and for textual IR; the order is that of the source.
. ../errors/try.sh
cd "$FSMC_TEST_TMP" || exit 1
echo 'entry f (x: Double) = x
entry g (x: Double) = x + 1.0
entry h (x: Double) = x + 2.0' >m.fsm
try --emit=fsm --entry=h --entry f m.fsm
try --emit=fsm --entry=h --entry=h m.fsm
try --emit=ir -o m.ir m.fsm
try --emit=fsm --entry=h --entry=g m.ir
try --entry=h --entry=i --entry=j m.fsm
try --entry=i --entry=h m.ir
try check --entry=g --entry=f m.fsm
try check --entry=g --entry=z m.fsm
