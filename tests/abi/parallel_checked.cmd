# The run-time library under the thread sanitizer.
echo 'int main(void) { return 0; }' >"$FSMC_TEST_TMP/try.c"
cc -fsanitize=thread "$FSMC_TEST_TMP/try.c" -o "$FSMC_TEST_TMP/try" 2>/dev/null && "$FSMC_TEST_TMP/try" || {
    echo "the C compiler has no thread sanitizer"
    exit 77
}
fsmc --threads=1 parallel.fsm -o "$FSMC_TEST_TMP/parallel.o" &&
cc -g -O1 -fsanitize=thread -I "$FSMC_ROOT/include" -I "$FSMC_TEST_TMP" parallel.c "$FSMC_ROOT"/runtime/*.c \
    "$FSMC_TEST_TMP/parallel.o" -lm -pthread -o "$FSMC_TEST_TMP/parallel" && "$FSMC_TEST_TMP/parallel" 20
