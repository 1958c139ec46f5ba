. ./try.sh
try missing.fsm
try check missing/calls.fsm
try run . square
try parse missing.fsm
try calls.fsm -o missing/calls.o
try calls.fsm --emit=ir -o missing/calls.ir
[ -e /dev/full ] && try --emit=ir calls.fsm -o /dev/full
[ -e /dev/full ] && fsmc run calls.fsm square x=2 >/dev/full
echo 'open "nowhere.fsm"
entry f (x: Double) = x' >"$FSMC_TEST_TMP/open.fsm"
try check "$FSMC_TEST_TMP/open.fsm"
