. ./try.sh
try --emit=exe calls.fsm
try --emit
try --fp=exact calls.fsm
try --color=blue calls.fsm
try -O4 calls.fsm
try -O calls.fsm
try -Os calls.fsm
try --error-limit=-1 calls.fsm
try --error-limit=many calls.fsm
try --verify=yes calls.fsm
try --passes=simplfy calls.fsm
try --disable-pass=nothing calls.fsm | sed 's/passes are.*/passes are …/'
try --disable-pass=grids --emit=cuda calls.fsm
try --loop-passes=merg calls.fsm
try --disable-rule=add_zeroes calls.fsm
try --disable-rule=everything calls.fsm
try --disable-rule=and_true calls.fsm
try --fuel=-1 calls.fsm
try --dump-after=simplyfy calls.fsm
try --target-cpu=pdp11 calls.fsm -o "$FSMC_TEST_TMP/calls.o"
