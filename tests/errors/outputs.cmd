# Outputs that would replace the source, and devices.
. ./try.sh
cd "$FSMC_TEST_TMP" || exit 1
echo 'entry f (x: Double) = x * 2.0' >program.fsm
ln program.fsm same.fsm
try program.fsm -o program.fsm
try program.fsm -o ./program.fsm
try program.fsm -o same.fsm
try --emit=ir program.fsm -o ./program.fsm
try run program.fsm f x=1 -o ./program.fsm
cp program.fsm program.h
try program.h -o program.o
try program.fsm -o .
try run program.fsm f x=1 -o missing/x.npy
try run program.fsm f x=1 -o .
[ -e /dev/full ] && fsmc --help >/dev/full
echo "exit $?"
[ -e /dev/full ] && fsmc --version >/dev/full
try program.fsm -o /dev/null
try run program.fsm f x=1
