# -M and its relatives: what is wrong.
. ../errors/try.sh
cd "$FSMC_TEST_TMP" || exit 1
echo 'let g x = x * x' >g.fsm
echo 'open "g.fsm"
entry f (x: Double) = g x' >m.fsm
echo 'open "gone.fsm"
entry f (x: Double) = y' >bad.fsm
try -M bad.fsm
try -MD bad.fsm
ls -- *.d *.o 2>/dev/null
try -MT
try -MT x m.fsm
try -MP m.fsm
try -M -MD m.fsm
try -M - <g.fsm
try --emit=ir -MD m.fsm
try --emit=ir -MD -MT x m.fsm
try --emit=ir -MT x -MF - m.fsm
try -MG m.fsm
try run -M m.fsm f
try check -MD m.fsm
try -MFm.fsm m.fsm
try -MFm.h m.fsm
try -MF m.o m.fsm
try -M -MF g.fsm m.fsm
try -MF missing/m.d m.fsm
try m.fsm -o g.fsm
try --emit=ir m.fsm -o g.fsm
