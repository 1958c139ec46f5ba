fsmc --threads=1 --target-cpu=native parallel.fsm -o "$FSMC_TEST_TMP/parallel.o" &&
$CC -I "$FSMC_ROOT/include" -I "$FSMC_TEST_TMP" parallel.c "$FSMC_TEST_TMP/parallel.o" "$FSMC_BUILD/libfsmrt.a" -lm -pthread \
    -o "$FSMC_TEST_TMP/parallel" && "$FSMC_TEST_TMP/parallel"
