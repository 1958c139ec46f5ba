fsmc contexts.fsm -o "$FSMC_TEST_TMP/contexts.o" &&
$CC -I"$FSMC_ROOT/include" -I"$FSMC_TEST_TMP" contexts.c "$FSMC_TEST_TMP/contexts.o" -L"$FSMC_BUILD" -lfsmrt -lm -o "$FSMC_TEST_TMP/contexts" &&
"$FSMC_TEST_TMP/contexts"
