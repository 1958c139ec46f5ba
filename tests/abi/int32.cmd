fsmc int32.fsm -o "$FSMC_TEST_TMP/int32.o" &&
$CC -I"$FSMC_ROOT/include" -I"$FSMC_TEST_TMP" int32.c "$FSMC_TEST_TMP/int32.o" -L"$FSMC_BUILD" -lfsmrt -lm -o "$FSMC_TEST_TMP/int32" &&
"$FSMC_TEST_TMP/int32"
