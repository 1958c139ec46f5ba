# -M and its relatives: what the rules say.
. ../errors/try.sh
cd "$FSMC_TEST_TMP" || exit 1
mkdir lib
echo 'let g x = x * x' >'li b$#:x.fsm'
echo 'open "h.fsm"
let k x = x + h x' >lib/k.fsm
echo 'let h x = x + 1.0' >lib/h.fsm
echo 'open "li b$#:x.fsm"
open "k.fsm"
entry f (x: Double) = k (g x)' >m.fsm
try -M -I lib m.fsm
try -M -MP -MT 'a b' -MT 'c$#' -I lib m.fsm
try -M -I lib -o build/m.o -MF m.rule m.fsm
cat m.rule
try -MD -I lib m.fsm
cat m.d
ls -- *.o *.h
try -MF - -I lib m.fsm -o y.o
try --emit=ir -MD -I lib m.fsm -o z.ir
cat z.d
try --emit=ir -MF x.d -MT x -I lib m.fsm
cat x.d
cp z.ir ..z.ir
try -M ./..z.ir
try -M -MT t - <lib/h.fsm
try -MD -MT t -o s.o - <lib/h.fsm
echo 'entry f (x: Double) = x' | try -MD -o s.o -
cat s.d
echo 'entry f (x: Double) = x' >'new
line.fsm'
try -M 'new
line.fsm'
