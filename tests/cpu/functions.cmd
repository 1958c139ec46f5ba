for fp in contract fast; do
    fsmc --target-cpu=native --fp=$fp functions.fsm -o "$FSMC_TEST_TMP/functions.o" &&
    $CC -I"$FSMC_ROOT/include" -I"$FSMC_TEST_TMP" functions.c "$FSMC_TEST_TMP/functions.o" "$FSMC_BUILD/libfsmrt.a" -lm -pthread \
        -o "$FSMC_TEST_TMP/functions" && "$FSMC_TEST_TMP/functions" || exit
done
