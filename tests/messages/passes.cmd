. ../errors/try.sh
cd "$FSMC_TEST_TMP" || exit 1
echo 'entry f (x: Double) = x' >x.fsm
try --emit=ir --passes="$(repeat simplify, 70)" x.fsm
try --emit=ir --passes=interchange x.fsm
try --emit=ir --passes=simplfy x.fsm
