fsmc errors.fsm -o "$FSMC_TEST_TMP/errors.o" &&
$CC -I"$FSMC_ROOT/include" -I"$FSMC_TEST_TMP" errors.c "$FSMC_TEST_TMP/errors.o" -L"$FSMC_BUILD" -lfsmrt -lm -o "$FSMC_TEST_TMP/errors" &&
"$FSMC_TEST_TMP/errors"
