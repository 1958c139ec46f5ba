fsmc threads.fsm -o "$FSMC_TEST_TMP/threads.o" &&
$CC -I "$FSMC_ROOT/include" -I "$FSMC_TEST_TMP" threads.c "$FSMC_TEST_TMP/threads.o" "$FSMC_BUILD/libfsmrt.a" -lm -pthread \
    -o "$FSMC_TEST_TMP/threads" && "$FSMC_TEST_TMP/threads"
