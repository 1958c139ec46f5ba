. ./try.sh
try run calls.fsm sqare x=1
try cost calls.fsm sum x=1
try check --entry=sum calls.fsm
try --entry=sum --entry=plus --entry=product --emit=ir calls.fsm
echo 'let f x = x' >"$FSMC_TEST_TMP/library.fsm"
try check "$FSMC_TEST_TMP/library.fsm"
try "$FSMC_TEST_TMP/library.fsm" -o "$FSMC_TEST_TMP/library.o"
try --emit=ir "$FSMC_TEST_TMP/library.fsm"
