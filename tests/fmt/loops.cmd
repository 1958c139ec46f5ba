fsmc fmt loops.fsm | tee "$FSMC_TEST_TMP/once.fsm"
fsmc fmt --check "$FSMC_TEST_TMP/once.fsm" && echo unchanged
