# Options that do not go with the command.
. ./try.sh
try --interp calls.fsm
try run --emit=ir calls.fsm square
try check -o calls.o calls.fsm
try parse -O2 calls.fsm
try run --interp --exec calls.fsm square
echo 'entry f (x: Double) = x' | try -
try --emit=obj -o calls.h calls.fsm
try -o "$FSMC_TEST_TMP/calls.exe" calls.fsm
try -o "$FSMC_TEST_TMP/calls" calls.fsm
try -M -o calls.mk calls.fsm
try -o - calls.fsm
