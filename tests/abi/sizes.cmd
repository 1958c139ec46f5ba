fsmc sizes.fsm -o "$FSMC_TEST_TMP/sizes.o" &&
$CC -I"$FSMC_ROOT/include" -I"$FSMC_TEST_TMP" sizes.c "$FSMC_TEST_TMP/sizes.o" -L"$FSMC_BUILD" -lfsmrt -lm -o "$FSMC_TEST_TMP/sizes" &&
"$FSMC_TEST_TMP/sizes"
